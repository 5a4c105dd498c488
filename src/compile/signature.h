/* Inside compile only: parameters and results as a client sees them. */
#ifndef COMPILE_SIGNATURE_H
#define COMPILE_SIGNATURE_H

#include "compile/compile.h"
#include "ir/op.h"
#include "shard/sharding_ir.h"

/* Attributes of argument or result i of a function; NULL: none. */
const attr *signature_attrs(const op *func, bool results, size_t i);

/* One side of main's signature, in arena `out`. `global`: the types before partitioning (the
 * function now has local ones); what is beyond them somebody added to the local ones, and it is as
 * long as its shards are together. false: reported. */
bool signature_tensors(ir_ctx *c, arena *scratch, arena *out, shard_space *space, const op *func,
                       bool results, types global, u32 num_partitions, compile_tensor **out_list);

/* Which results take over which donated parameters: sets donated and alias of the parameters,
 * and alias_of[result] = parameter or -1. */
void signature_alias(const op *func, compile_tensor *params, size_t num_params,
                     const compile_tensor *results, size_t num_results, i32 *alias_of);

#endif
