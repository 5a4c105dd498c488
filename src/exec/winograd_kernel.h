/* Transforms of Winograd's F(2x2, 3x3) (program/tiles.c), features side by side; per instruction
 * set. The 16 numbers that a tile becomes lie `next` elements apart. */
#ifndef EXEC_WINOGRAD_KERNEL_H
#define EXEC_WINOGRAD_KERNEL_H

#include "base/base.h"

enum { WINOGRAD_LANES = 16 }; /* features are a multiple */

typedef struct winograd_kernels {
  /* A tile, whose pixels these are, row by row. */
  void (*take)(size_t features, const float *const *pixel, float *to, i64 next);
  /* The tile's results, those of its first row first. Where one of them is no finite number, so
   * becomes an element of `wrong`, of which there are WINOGRAD_LANES. */
  void (*give)(size_t features, const float *from, i64 next, float *const *to, float *wrong);
} winograd_kernels;

extern const winograd_kernels winograd_base_f32, winograd_v3_f32, winograd_v4_f32,
    winograd_neon_f32;

#endif
