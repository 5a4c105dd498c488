/* Elements moved as they are: rows from one place to another, and single ones taken by an index.
 * Per instruction set. */
#ifndef EXEC_MOVE_KERNEL_H
#define EXEC_MOVE_KERNEL_H

#include "exec/transpose_kernel.h"

/* Rows of `bytes`, which do not overlap those written; strides in bytes. streams: past the caches,
 * of which more is written than they hold; others see it after step_fence. */
typedef void kern_rows_fn(size_t rows, size_t bytes, char *to, i64 to_stride, const char *from,
                          i64 from_stride, bool streams);
/* to[i] = from[place of at[i]]; n elements, all contiguous. A negative place has `wrap` added to
 * it; if it is then not in 0 .. most, the element is *fill, or (NULL) the nearest one that there
 * is. */
typedef struct take_rule {
  i64 most, wrap;
  const void *fill;
} take_rule;
typedef void kern_take_fn(size_t n, void *to, const void *from, const void *at, const take_rule *r);
static inline i64 take_wrapped(const take_rule *r, i64 at) { return at < 0 ? at + r->wrap : at; }
static inline i64 take_clamped(const take_rule *r, i64 at) {
  return at < 0 ? 0 : at > r->most ? r->most : at;
}

typedef enum take_index { TAKE_S32, TAKE_U32, TAKE_S64, TAKE_INDICES } take_index;

/* Rows of `bytes` from where they are, one after the other. */
typedef void kern_pick_fn(size_t rows, size_t bytes, char *to, i64 to_stride, char *const *from);

/* Where one component of index vectors, `step` elements from each other, says that elements are:
 * `stride` times what is added to their places so far; clamped to 0 .. most, or negative where that
 * is outside, and from then on. */
typedef struct place_rule {
  i64 most, wrap, stride, step;
  bool clamp;
} place_rule;
static inline i32 place_next(const place_rule *r, i32 place, i64 at) {
  i64 wrapped = at < 0 ? at + r->wrap : at;
  i64 low = wrapped < 0 ? 0 : wrapped, near = low > r->most ? r->most : low;
  i32 outside = r->clamp || near == wrapped ? 0 : INT32_MIN;
  return (place + (i32)(near * r->stride)) | outside;
}
/* All of them, of less than INT32_MAX elements. `alone`: there have been none before; where indices
 * are the places, it gives back those. */
typedef const i32 *kern_places_fn(size_t n, i32 *places, const i32 *at, const place_rule *r,
                                  bool alone);

typedef struct move_kernels {
  kern_rows_fn *rows;
  kern_pick_fn *pick;
  kern_take_fn *take[TAKE_INDICES][4]; /* [log2 width] */
  kern_transpose_fn *bytes, *words;    /* of one byte, of two */
  kern_places_fn *places;
} move_kernels;

/* A transpose of elements of 1 or 2 bytes between 2, 3, 4 or 8 side by side, as of the channels of
 * pixels, and as many rows, or columns; or to fewer rows than elements are side by side. How many
 * of the columns, or rows, of which there are many, are done, from the first on. For processors
 * with AVX2. */
size_t few_across(size_t rows, size_t columns, u32 width, char *to, i64 to_stride, const char *from,
                  i64 from_stride);

extern const move_kernels move_base, move_v3, move_v4, move_neon;

#endif
