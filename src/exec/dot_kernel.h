/* The innermost loops of matrix products, per instruction set.
 *
 * A tile: c[i * nr + j] = sum over p of a[p * mr + i] * b[p * nr + j], and if `more` that is added
 * to what c held. Both operands are packed.
 *
 * A strip: rows of the result, some vectors wide, whose operands may lie where they are:
 * c[i][j] = sum over p of a[i][ka[p]] * b[p * kb + j], and likewise. A strip across, one vector
 * wide: c[i][j] = sum over p of a[i][ka[p] + j] * b[p * kb + j]. */
#ifndef EXEC_DOT_KERNEL_H
#define EXEC_DOT_KERNEL_H

#include "base/base.h"

typedef void dot_tile_fn(size_t k, const void *a, const void *b, void *c, bool more);

typedef enum dot_type {
  DOT_F32,
  DOT_F64,
  DOT_S32,
  DOT_S64,
  DOT_C64,
  DOT_C128,
  DOT_PAIRS,
  DOT_TYPES
} dot_type;

typedef struct dot_tile {
  dot_tile_fn *fn;
  u32 mr, nr;
} dot_tile;

enum { DOT_ROWS = 12, DOT_VECTORS = 4, DOT_ACROSS = 8 };

/* Offsets count elements. */
typedef struct dot_strip {
  size_t k;
  const void *const *a; /* by row */
  const i64 *ka;
  const void *b;
  i64 kb;
  void *const *c; /* by row */
  bool more;
} dot_strip;
typedef void dot_strip_fn(const dot_strip *s);

typedef struct dot_strips {
  dot_strip_fn *fn[DOT_VECTORS][DOT_ROWS]; /* by vectors - 1 and rows - 1 */
  dot_strip_fn *across[DOT_ACROSS];        /* by rows - 1; NULL: none of this type */
  u8 rows[DOT_VECTORS];                    /* most rows, by vectors - 1 */
  u32 lanes, vectors;                      /* elements of a vector; most vectors */
} dot_strips;

typedef struct dot_kernels {
  dot_tile tile[2];             /* f32, f64 */
  dot_strips strips[DOT_TYPES]; /* of pairs: lanes 0 where there are none */
  /* to[i] = low[i] and, in its upper half, high[i], both made 16 bits; bytes */
  void (*pair_s8)(size_t n, u32 *to, const void *low, const void *high);
  void (*pair_u8)(size_t n, u32 *to, const void *low, const void *high);
} dot_kernels;

void dot_kernels_fill_base(dot_kernels *k);
void dot_kernels_fill_v3(dot_kernels *k);
void dot_kernels_fill_v4(dot_kernels *k);

#endif
