/* Ops that pass values through regions or unchanged, seen as edges.
 *
 * An edge joins sources (operands that flow in) and targets (values they become). One target is
 * the owner: it stands for the edge, and sdy.data_flow_edge is put on it. Source: openxla/shardy
 * docs/sdy_op_interfaces.md. One flow a kind of op, in a table by op id. */
#ifndef SHARD_FLOW_H
#define SHARD_FLOW_H

#include "ir/op.h"

typedef struct flow {
  bool args_own;        /* block arguments own edges of their own, besides the results */
  bool keeps_divisible; /* shardings of its owners must divide the shapes evenly */
  /* the owner of the edge that has this target; NULL: none */
  value *(*owner_of_target)(op *o, value *target);
  /* ... that has this source: operand i of o, or of the terminator of one of its regions */
  value *(*owner_of_source)(op *o, size_t i, bool of_terminator);
  /* Operand slots that feed the owner's edge: calls fn for each in order. */
  void (*each_source)(op *o, value *owner, void (*fn)(void *user, use *source), void *user);
  void (*each_other_target)(op *o, value *owner, void (*fn)(void *user, value *v), void *user);
} flow;

/* NULL: the op has no edges. */
const flow *op_flow(const op *o);
/* The sdy.data_flow_edge of the edge with this target or source, or NULL. */
op *edge_of_target(value *target);
op *edge_of_source(use *source);

#endif
