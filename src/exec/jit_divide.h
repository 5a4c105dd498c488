/* Quotients and remainders of integers of up to 32 bits, in lanes of 32 with their sign or zeros
 * above; what leaves the type's range is for the caller to wrap. Of 64 bits, in a wide build, by
 * constants only that jit_divides_wide takes. By constants they are products:
 * "Division by Invariant Integers using Multiplication" (Granlund, Montgomery). */
#ifndef EXEC_JIT_DIVIDE_H
#define EXEC_JIT_DIVIDE_H

#include "exec/jit_ir.h"
#include "exec/kernels.h"

/* Upper halves of products of 32 bits. */
jit_value jit_high(jit_build *j, bool is_signed, jit_value x, jit_value y);

static inline bool jit_divides_wide(vm_rtype t, u64 by) {
  return by >= 2 && (t == R_u64 || by <= INT64_MAX);
}
jit_value jit_divide(jit_build *j, vm_rtype t, jit_value x, jit_value y);
jit_value jit_remainder(jit_build *j, vm_rtype t, jit_value x, jit_value y);
/* Where p ? x : y makes of such a quotient or remainder the one that is rounded down, as Python has
 * it, that one: it takes less. */
bool jit_find_floor(jit_build *j, jit_value p, jit_value x, jit_value y, jit_value *out);

#endif
