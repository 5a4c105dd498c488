/* Inside mpmd only: which ops of a block have to run before which others. Source: openxla/shardy,
 * shardy/dialect/mpmd/transforms/optimize/utils.cc. */
#ifndef MPMD_OPTIMIZE_GRAPH_H
#define MPMD_OPTIMIZE_GRAPH_H

#include "mpmd/util.h"

typedef VEC(u32) u32_list;

/* The ops of a block but its terminator, by their place, which is op.num - 1 too; which of them use
 * what each gives, and what each uses, also inside of it. Of an arena. */
typedef struct op_graph {
  arena *a;
  op **ops;
  u32 count;
  u32_list *users, *used;
} op_graph;

op_graph *op_graph_build(arena *a, block *b);
void op_graph_add(op_graph *g, u32 from, u32 user); /* an edge more */
/* Does op `to` need what op `from` gives, by way of ops that stand in front of `to`? An op needs
 * itself. */
bool op_graph_reaches(const op_graph *g, u32 from, u32 to);

/* Makes a fragment wait for another one of the block, here and by a control operand, which
 * fragments_drop_control takes away again. false: reported. */
bool op_graph_order(op_graph *g, ir_module *m, u32 before, u32 fragment);

#endif
