/* Shapes known only at run time, as ops. */
#ifndef PASS_REIFY_H
#define PASS_REIFY_H

#include "ir/op.h"

/* A tensor of the sizes of o's first result, computed by ops (of shape, tensor, arith) made before
 * `before`, constants at the front of its block. NULL: no rule for such an op. */
value *reify_shape(ir_module *m, const op *o, op *before);

#endif
