/* Inside mpmd only: ops in an order that their operands allow, and operands that only keep an
 * order. Source: MLIR's TopologicalSortUtils.cpp; openxla/shardy,
 * shardy/dialect/mpmd/transforms/optimize/utils.cc. */
#ifndef MPMD_ORDER_H
#define MPMD_ORDER_H

#include "mpmd/util.h"

/* Ops behind those of the list that they use, else as they are: MLIR's order. false: there is a
 * circle; the order is one all the same. */
bool ops_sort(arena *a, op **ops, size_t n);
/* The same for a block up to its terminator. */
bool block_sort(arena *a, block *b);

/* `before` runs before `o`, a fragment: its first result becomes an operand without an argument,
 * behind all others. */
void fragment_add_control(ir_module *m, op *before, op *o);
/* Drops those operands from all fragments of the function. false: reported. */
bool fragments_drop_control(ir_module *m, arena *a, op *func);

#endif
