/* Ops that pass values through regions or unchanged, seen as edges.
 *
 * An edge joins sources (operands that flow in) and targets (values they become). One target is
 * the owner: it stands for the edge, and sdy.data_flow_edge is put on it. Source: openxla/shardy
 * docs/sdy_op_interfaces.md. One flow a kind of op, in a table by op id. */
#ifndef SHARD_FLOW_H
#define SHARD_FLOW_H

#include "ir/op.h"

typedef struct flow {
  bool args_own;        /* block arguments own edges of their own, besides the results: */
  u8 owner_region;      /* those of the first block of this region */
  bool keeps_divisible; /* shardings of its owners must divide the shapes evenly */
  /* the owner of the edge that has this target; NULL: none */
  value *(*owner_of_target)(op *o, value *target);
  /* ... that has this source: an operand of o, or of the terminator of one of its regions */
  value *(*owner_of_source)(op *o, use *source, bool of_terminator);
  /* Operand slots that feed the owner's edge: calls fn for each in order. */
  void (*each_source)(op *o, value *owner, void (*fn)(void *user, use *source), void *user);
  void (*each_other_target)(op *o, value *owner, void (*fn)(void *user, value *v), void *user);
  /* Foreign dialects; NULL: as holders.c has it. All owners on one side; none: empty. */
  attrs (*get_shardings)(op *o, bool args);
  void (*set_shardings)(ir_module *m, op *o, bool args, attrs shardings);
  /* NULL: the sharding as it is. Of an owner: as its sources see it (outwards), and back. */
  const attr *(*transform)(ir_ctx *c, op *o, value *owner, const attr *sharding, bool outwards);
} flow;

/* Of a row: has it edges? */
bool flow_known(op_id id);
/* NULL: the op has no edges. */
const flow *op_flow(const op *o);
bool module_may_flow(const ir_module *m); /* false: no op of it has edges */
/* The block whose arguments own edges; NULL: none does. */
block *flow_owner_block(const op *o);
/* The sdy.data_flow_edge of the edge with this target or source, or NULL. */
op *edge_of_target(value *target);
op *edge_of_source(use *source);

#endif
