/* Values of 64 bits a lane are two vectors: of the lower half of the lanes and of the upper one. Of
 * one element (jit_build.scalar) there is no upper half, and the lower one stands for it. */
#ifndef EXEC_JIT_WIDE_H
#define EXEC_JIT_WIDE_H

#include "exec/jit_ir.h"

/* Of other values the first vector alone is all of it. */
typedef struct jit_lanes {
  jit_value half[2];
} jit_lanes;

/* Half of a vector's lanes of 32 bits, as the lower ones; and two of these as one. */
jit_value jit_half(jit_build *j, jit_value x, u32 i);
jit_value jit_join(jit_build *j, jit_value low, jit_value high);
/* The same of masks, which for halves are as those of lanes of 64 bits. */
jit_value jit_half_mask(jit_build *j, jit_value k, u32 i);
jit_value jit_join_masks(jit_build *j, jit_value low, jit_value high);
bool jit_has_half_masks(const jit_build *j, jit_value k); /* it was joined of such */

/* Between f32 and f64; of lanes of 64 bits what is in their lower 32. */
jit_lanes jit_widen(jit_build *j, jit_value x);
jit_value jit_narrow(jit_build *j, jit_lanes x);
jit_value jit_lower_words(jit_build *j, jit_lanes x);

#endif
