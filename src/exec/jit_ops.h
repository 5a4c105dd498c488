/* Calls as primitives: values of f32, of integers of up to 32 bits in lanes of 32, with their sign
 * or zeros above, and of pred as masks; and halves of values of 64 bits (jit_values.h). */
#ifndef EXEC_JIT_OPS_H
#define EXEC_JIT_OPS_H

#include "exec/jit_ir.h"
#include "exec/kernels.h"
#include "program/parts.h"

bool jit_has_type(vm_rtype t);
vm_rtype jit_unsigned(vm_rtype t);
/* The same bits as another type of the same width; to and from pred: not 0. */
jit_value jit_as(jit_build *j, jit_value x, vm_rtype from, vm_rtype to);

/* Of types of 64 bits the build is to be wide. */
bool jit_has_op(vm_op op, vm_rtype t);
/* The same of single numbers; of those whose upper 32 bits but the sign are in a range, by operand,
 * or, where it ends at 0, of all. */
typedef struct jit_range {
  u32 least, end;
} jit_range;
bool jit_has_near(vm_op op, vm_rtype t);
jit_range jit_near(vm_op op, vm_rtype t, u32 operand);
jit_value jit_op(jit_build *j, vm_op op, vm_rtype t, jit_value x, jit_value y);
jit_value jit_convert(jit_build *j, jit_value x, vm_rtype from, vm_rtype to);
/* masks: x and y are pred */
jit_value jit_select(jit_build *j, jit_value p, jit_value x, jit_value y, bool masks);

/* Formats of 4 to 16 bits: between u8 or u16 and f32; f32 rounded to those of 16. */
bool jit_has_small(dtype t);
jit_value jit_load_small(jit_build *j, dtype t, jit_value x);
jit_value jit_store_small(jit_build *j, dtype t, jit_value x);
jit_value jit_round_small(jit_build *j, dtype t, jit_value x);
/* Computed, so that it is no denormal where these are flushed. */
bool jit_is_computed(const jit_build *j, jit_value x);

#endif
