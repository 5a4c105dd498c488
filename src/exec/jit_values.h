/* Values of calls of any type that code knows: of up to 32 bits as jit_ops.h has them, of 64 bits
 * in halves, of the same rows; of c64 both parts (jit_complex.h), all lanes of each. */
#ifndef EXEC_JIT_VALUES_H
#define EXEC_JIT_VALUES_H

#include "exec/jit_ops.h"
#include "exec/jit_wide.h"

static inline bool jit_is_wide(vm_rtype t) { return t == R_f64 || t == R_s64 || t == R_u64; }

/* The same bits; to and from pred: not 0. */
jit_lanes jit_values_as(jit_build *j, jit_lanes x, vm_rtype from, vm_rtype to);
jit_lanes jit_values_op(jit_build *j, vm_op op, vm_rtype t, jit_lanes x, jit_lanes y);
/* Whether there is code for this conversion. */
bool jit_converts(jit_target target, vm_rtype from, vm_rtype to);
jit_lanes jit_values_convert(jit_build *j, jit_lanes x, vm_rtype from, vm_rtype to);
/* Of type t. */
jit_lanes jit_values_select(jit_build *j, jit_value p, jit_lanes x, jit_lanes y, vm_rtype t);
/* Integers narrower than a byte, brought back into their range. */
jit_value jit_wrap_narrow(jit_build *j, dtype t, jit_value x);

#endif
