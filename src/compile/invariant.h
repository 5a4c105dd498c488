/* Inside compile only: what a loop computes anew each time though it stays the same. */
#ifndef COMPILE_INVARIANT_H
#define COMPILE_INVARIANT_H

#include "ir/op.h"

/* Out of all loops inside `root`, which is flat, from the inside out. Linear in the ops, but for
 * those that leave several loops. */
void invariant_hoist(ir_module *m, arena *scratch, op *root);

#endif
