/* What propagation and splitting ask of an op's kind. */
#ifndef SHARD_TRAITS_H
#define SHARD_TRAITS_H

#include "dialect/effects.h"

/* Counts as elementwise for priorities and ties: elementwise ops, and sdy ops that keep values. */
bool op_is_elementwise(const op *o);
/* A warning at the op's location. */
void op_warn(ir_ctx *c, const op *o, const char *fmt, ...) PRINTF_LIKE(3, 4);
void op_remark(ir_ctx *c, const op *o, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* A tensor of rank 0. */
static inline bool value_is_scalar(const value *v) {
  return type_is_ranked(v->type) && v->type->dims.len == 0;
}

#endif
