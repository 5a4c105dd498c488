/* Broadcasting of values to their common shape. */
#ifndef PASS_NUMPY_H
#define PASS_NUMPY_H

#include "ir/op.h"

/* Replaces the n tensors by tensors of one shape, made before `before` where they are not of that
 * shape already. An open dimension with a bound stays so: what is broadcast to it is padded to the
 * bound and then given its size. false: they do not broadcast, which was reported. */
bool numpy_broadcast(ir_module *m, op *before, value **values, size_t n);

#endif
