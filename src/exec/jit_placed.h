/* From a vector of a loop to all vectors of a step, whose elements' places are known. */
#ifndef EXEC_JIT_PLACED_H
#define EXEC_JIT_PLACED_H

#include "exec/jit.h"
#include "exec/jit_ir.h"

/* False: what it reads or writes is not of 32 bits, or it is too much. */
bool jit_place_lanes(const jit_build *b, const jit_places *s, jit_build *out);

#endif
