/* Inside mpmd only: the order of the ops in a block, and what has to come before what. Source:
 * openxla/shardy, shardy/dialect/mpmd/transforms/optimize/utils.cc; the order is that of MLIR's
 * topological sort (TopologicalSortUtils.cpp). */
#ifndef MPMD_ORDER_H
#define MPMD_ORDER_H

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

/* Moves each op behind what it uses: goes over those left as often as needed, and takes what is
 * ready in their order. false: ops need each other; the first of those left is taken then. */
bool block_sort(arena *a, block *b);

/* Makes a fragment wait for another, by a last operand that no argument stands for: until it is
 * dropped, the fragment is not valid. false: reported. */
bool fragment_add_control(ir_module *m, const op *before, op *fragment);
/* Of all fragments in the function. */
void fragments_drop_control(ir_module *m, arena *a, op *func);

#endif
