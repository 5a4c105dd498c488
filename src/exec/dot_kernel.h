/* The innermost loops of matrix products, per instruction set.
 *
 * A tile: c[i * nr + j] = sum over p of a[p * mr + i] * b[p * nr + j], and if `more` that is added
 * to what c held. Both operands are packed.
 *
 * A strip: rows of the result, some vectors wide, whose operands may lie where they are:
 * c[to[i] + j] = sum over p of a[row[i] + ka[p]] * b[p * kb + j], and likewise. A strip across, one
 * vector wide: c[to[i] + j] = sum over p of a[row[i] + ka[p] + j] * b[p * kb + j]. */
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
  DOT_PAIRS, /* of what is joined: two numbers of 16 bits, */
  DOT_BF16,  /* two bf16, denormals being zeros, */
  DOT_QUADS, /* four bytes, those of a without a sign */
  DOT_TYPES
} dot_type;

/* What makes an element of several terms. */
typedef enum dot_joining {
  JOIN_NONE,
  JOIN_S8, /* two, made 16 bits each */
  JOIN_U8,
  JOIN_HALVES,  /* two of 16 bits */
  JOIN_BYTES,   /* four */
  JOIN_SHIFTED, /* four, 128 added to each */
  JOININGS
} dot_joining;

enum { DOT_JOINED = 4 }; /* at most */

typedef struct dot_join {
  void (*along)(size_t n, void *to, const void *from); /* n terms that lie side by side */
  /* to[i]: terms from[0][i], from[1][i], ... */
  void (*across)(size_t n, u32 *to, const void *const *from);
} dot_join;

typedef struct dot_tile {
  dot_tile_fn *fn;
  u32 mr, nr;
} dot_tile;

enum { DOT_ROWS = 12, DOT_VECTORS = 4, DOT_WELL = 3, DOT_ACROSS = 8 };

/* Offsets count elements, in a joined ones the terms. Rows are done so many at a time as a strip
 * has, of which they are a multiple. */
typedef struct dot_strip {
  size_t k;
  u64 rows;
  const void *a, *b;
  const i64 *row, *ka; /* of a's rows and terms */
  i64 kb;
  void *c;
  const i64 *to;     /* of c's rows */
  const void *start; /* of quads: what every row's sums begin with; or NULL */
  bool more;
} dot_strip;
typedef void dot_strip_fn(const dot_strip *s);

typedef struct dot_strips {
  dot_strip_fn *fn[DOT_VECTORS][DOT_ROWS]; /* by vectors - 1 and rows - 1; NULL: of fewer vectors */
  dot_strip_fn *across[DOT_ACROSS];        /* by rows - 1; NULL: none of this type */
  u8 rows[DOT_VECTORS];                    /* most rows, by vectors - 1 */
  u32 lanes, vectors;                      /* elements of a vector; most vectors */
} dot_strips;

typedef struct dot_kernels {
  dot_tile tile[2];             /* f32, f64 */
  dot_strips strips[DOT_TYPES]; /* lanes 0: the processor has none of this type */
  dot_join joins[JOININGS];
} dot_kernels;

void dot_kernels_fill_base(dot_kernels *k);
void dot_kernels_fill_v3(dot_kernels *k);
void dot_kernels_fill_v4(dot_kernels *k);
void dot_kernels_fill_neon(dot_kernels *k);

#endif
