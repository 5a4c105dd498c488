/* Inside compile only: loops whose arrays are carried component by component. */
#ifndef COMPILE_COMPONENTS_H
#define COMPILE_COMPONENTS_H

#include "ir/op.h"

/* In all loops inside `root`, which is flat. What is computed is the same, element by element. */
void components_split(ir_module *m, arena *scratch, op *root);

#endif
