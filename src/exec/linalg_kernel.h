/* Triangular factors and systems of equations, per instruction set and type of number.
 *
 * A matrix lies in memory by strides, in elements; a complex element is two numbers. Scratch of the
 * caller's, aligned to 64, is as large as the functions below say. What comes out depends on the
 * sizes and the instruction set only. */
#ifndef EXEC_LINALG_KERNEL_H
#define EXEC_LINALG_KERNEL_H

#include "exec/dot_kernel.h"

typedef struct strided {
  void *data;
  i64 row, column;
} strided;

typedef struct triangle {
  u64 n;
  bool complex, lower, unit; /* unit: ones are on the diagonal, whatever is stored there */
  bool transposed, conjugated;
} triangle;

typedef struct linalg_kernels {
  /* The factor L of a = L L^H, of `lower`; or U of U^H U. Reads and writes one triangle only; out
   * may be a. 0, or the order of the first leading minor that is not positive: then what is written
   * is of no use. */
  u64 (*factor)(const dot_tile *tile, const triangle *t, strided a, strided out, char *scratch);
  /* x = op(a)^-1 b, for n x columns matrices b and x, which may be one. */
  void (*solve)(const dot_tile *tile, const triangle *t, u64 columns, strided a, strided b,
                strided x, char *scratch);
  /* Bytes of scratch; columns 0: for `factor`. False: more than can be counted. */
  bool (*scratch)(const triangle *t, u64 columns, u64 *bytes);
} linalg_kernels;

extern const linalg_kernels linalg_base_f32, linalg_base_f64, linalg_v3_f32, linalg_v3_f64,
    linalg_v4_f32, linalg_v4_f64, linalg_neon_f32, linalg_neon_f64;

#endif
