/* Elements in another order, a vector at a time; per instruction set and width of element. */
#ifndef EXEC_TRANSPOSE_KERNEL_H
#define EXEC_TRANSPOSE_KERNEL_H

#include "base/base.h"

/* to[i][j] = from[j][i] for rows x columns; strides in bytes between rows of each, their
 * elements are contiguous. streams: whole lines go past the caches. */
typedef void kern_transpose_fn(size_t rows, size_t columns, char *to, i64 to_stride,
                               const char *from, i64 from_stride, bool streams);

/* Each of some elements for a row of n, 3 to 7, of 4 bytes each; of how many, from the first on. */
typedef size_t kern_spread_few_fn(size_t rows, size_t n, char *to, const char *from);

typedef struct transpose_kernels {
  kern_transpose_fn *transpose;
  kern_spread_few_fn *spread; /* NULL: there is none */
} transpose_kernels;

extern const transpose_kernels transpose_base_f32, transpose_base_f64, transpose_v3_f32,
    transpose_v3_f64, transpose_v4_f32, transpose_v4_f64, transpose_neon_f32, transpose_neon_f64;

#endif
