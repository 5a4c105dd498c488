/* Lanes of 8 or 16 bits instead of 32, and integers without what changes nothing. */
#ifndef EXEC_JIT_NARROW_H
#define EXEC_JIT_NARROW_H

#include "exec/jit_ir.h"

/* The same build, not lowered, of fewer primitives. */
jit_build jit_simplify(const jit_build *b);
/* The same in such lanes, where its target has them and all values fit: false otherwise. */
bool jit_narrow_lanes(const jit_build *b, jit_build *out);

#endif
