/* Many products of small matrices in a call, per instruction set and type: their operands are read
 * where they lie. */
#ifndef EXEC_SMALL_KERNEL_H
#define EXEC_SMALL_KERNEL_H

#include "base/base.h"

/* c[i][j] = sum over p of a[i][p] * b[p][j], for each of the batches; at most a vector of columns
 * j, which lie side by side in c, and in b, or there terms do (`turned`). Steps count elements. */
typedef struct small_call {
  u64 batches, m;
  u32 n, k;
  bool turned;
  bool summed, by_rows; /* lanes are terms: of one row and turned columns; of rows, few columns */
  const void *a, *b;
  void *c;
  i64 a_batch, a_row, a_term, b_batch, c_batch, c_row;
  i64 b_step; /* of terms; turned: of columns */
  void *line; /* turned or summed: room for k vectors */
} small_call;

typedef struct small_kernels {
  void (*multiply)(const small_call *t); /* NULL: there is none */
  u32 lanes;
  u32 by_rows; /* most columns of by_rows */
  u32 tiny;    /* most terms that are summed one after the other although lanes could be terms */
} small_kernels;

extern const small_kernels small_base_f32, small_base_f64, small_v3_f32, small_v3_f64, small_v4_f32,
    small_v4_f64, small_neon_f32, small_neon_f64;

#endif
