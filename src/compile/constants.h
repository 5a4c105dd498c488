/* Inside compile only: what is made of constants alone. */
#ifndef COMPILE_CONSTANTS_H
#define COMPILE_CONSTANTS_H

#include "compile/compile.h"
#include "ir/op.h"

/* In @main, whose calls are inlined: becomes constants, by compile_options.evaluate. What cannot be
 * evaluated stays. Linear in the ops. */
void constants_fold(ir_module *m, arena *scratch, op *main, const compile_options *options);

#endif
