/* Products of a matrix with few vectors, as fast as memory gives the matrix: its elements are read
 * once, where they lie and as they are stored, and made the accumulating type in registers; per
 * instruction set and accumulating type.
 *
 * By rows: c[i][j] = sum over p of w[at[j] + p] * x[i][p], an element of c for each row of w.
 * By columns: c[i][j] = sum over p of w[at[p] + j] * x[i][p]. */
#ifndef EXEC_THIN_KERNEL_H
#define EXEC_THIN_KERNEL_H

#include "base/base.h"

typedef enum thin_source { THIN_f32, THIN_bf16, THIN_f16, THIN_s8, THIN_u8, THIN_f64 } thin_source;
enum { THIN_SOURCES = THIN_f64 + 1, THIN_COUNTS = 3, THIN_RUNS = 3 };

/* Offsets count elements. There are 1, 2 or 4 vectors x, and of c; or 3. */
typedef struct thin_call {
  size_t n, k; /* elements of each c; terms */
  const void *w;
  const i64 *at;
  /* By rows, of f32 and THIN_RUNS x at least: runs of k terms, whole registers, of which each row
   * has so many, or 0: one; and where they begin behind the first one. */
  size_t runs;
  const i64 *far;
  size_t within; /* by columns: of so many terms, by eights, elements are read past the last one */
  const void *x; /* by rows: zeros follow its k terms up to a whole register */
  size_t next_x;
  void *c; /* written up to a whole register */
  size_t next_c;
} thin_call;
typedef void thin_fn(const thin_call *t);

typedef struct thin_kernels {
  thin_fn *rows[THIN_SOURCES][THIN_COUNTS];    /* by the logarithm of the number of x; NULL: not */
  thin_fn *columns[THIN_SOURCES][THIN_COUNTS]; /* of this accumulating type */
  thin_fn *rows_by_three;                      /* of f32: an image's features */
} thin_kernels;

extern const thin_kernels thin_base_f32, thin_base_f64, thin_v3_f32, thin_v3_f64, thin_v4_f32,
    thin_v4_f64, thin_neon_f32, thin_neon_f64;

#endif
