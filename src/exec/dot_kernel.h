/* The innermost loop of a matrix product, per instruction set: a tile of mr x nr sums.
 *
 * c[i * nr + j] = sum over p of a[p * mr + i] * b[p * nr + j], and if `more` that is added to
 * what c held. */
#ifndef EXEC_DOT_KERNEL_H
#define EXEC_DOT_KERNEL_H

#include "base/base.h"

typedef void dot_tile_fn(size_t k, const void *a, const void *b, void *c, bool more);

typedef enum dot_type { DOT_F32, DOT_F64, DOT_S32, DOT_S64, DOT_C64, DOT_C128, DOT_TYPES } dot_type;

typedef struct dot_tile {
  dot_tile_fn *fn;
  u32 mr, nr;
} dot_tile;

typedef struct dot_kernels {
  dot_tile tile[DOT_TYPES];
} dot_kernels;

void dot_kernels_fill_base(dot_kernels *k);
void dot_kernels_fill_v3(dot_kernels *k);
void dot_kernels_fill_v4(dot_kernels *k);

#endif
