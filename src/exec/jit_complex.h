/* Complex numbers in compiled code: c64, whose parts are two values of f32; and the parts of c128
 * in memory, which are values of f64. */
#ifndef EXEC_JIT_COMPLEX_H
#define EXEC_JIT_COMPLEX_H

#include "exec/jit_wide.h"
#include "program/program.h"

typedef struct jit_pair {
  jit_value re, im;
} jit_pair;

/* Whether there is code for pairs at all, and for this operation on them. */
bool jit_has_pairs(void);
bool jit_has_pair_op(vm_op op);
/* What it gives: `re` alone, where that is real or a truth. */
jit_pair jit_pair_op(jit_build *j, vm_op op, jit_pair x, jit_pair y);

/* Of halves of elements of 64 bits, as they lie in memory; and back. */
jit_pair jit_pair_of(jit_build *j, jit_lanes x);
jit_lanes jit_halves_of(jit_build *j, jit_pair x);

/* A part of the c128 in register `reg` in memory; both to there. */
jit_lanes jit_read_part(jit_build *j, u32 reg, bool imaginary);
void jit_write_parts(jit_build *j, u32 reg, jit_lanes re, jit_lanes im);

#endif
