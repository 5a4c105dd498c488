/* Windows that slide over a tensor, a piece of a row of them at a time: for reduce_window and
 * select_and_scatter.
 *
 * Dims at either end along which windows are single elements are merged: the first ones, `lead`,
 * are independent of each other; the last ones, `inner`, lie together. What is between, one dim at
 * least, is walked; its last dim is a row's. So a row is windows side by side, each with `inner`
 * lanes, and its windows' k-th elements are a strided piece of memory. */
#ifndef EXEC_ROWS_H
#define EXEC_ROWS_H

#include "exec/step.h"

enum { ROW_LANES = 1024 }; /* of a block, at most */

typedef struct row_windows {
  u32 rank;
  i64 dims[PROG_MAX_DIMS], out_dims[PROG_MAX_DIMS], window[PROG_MAX_DIMS], step[PROG_MAX_DIMS];
  i64 dilation[PROG_MAX_DIMS], base[PROG_MAX_DIMS], low[PROG_MAX_DIMS];
  i64 stride[PROG_MAX_DIMS]; /* of the operand, in elements */
  i64 lead, inner;
  i64 plane, out_plane, volume; /* elements: of operand and result between; of a window */
  i64 piece, pieces;            /* lanes of a block's windows; how many pieces inner has */
  i64 row, blocks;              /* windows of a block; blocks of a row */
} row_windows;

typedef struct row_shape {
  u32 rank;
  const i64 *dims, *out_dims, *window, *step, *dilation, *base, *low; /* dilations: NULL is 1 */
} row_shape;

/* `most`: lanes of a piece. */
void rows_find(const row_shape *s, i64 most, row_windows *out);

/* Where the row of the operand begins that the windows at `at` have as their part `in`, whatever
 * `in` says of the last dim; false: it is outside. */
bool rows_outer(const row_windows *r, const i64 *at, const i64 *in, i64 *off);

/* Of windows [*first, *end) of the row at `at`, those whose element `in` is inside the operand;
 * false: none. Window i's lies at *off + i * step * inner of the last dim. The last dim has no base
 * dilation. */
bool rows_inside(const row_windows *r, const i64 *at, const i64 *in, i64 *first, i64 *end,
                 i64 *off);

/* To the next element of a window. */
static inline void rows_next(const row_windows *r, i64 *in) {
  for (u32 d = r->rank; d-- > 0;) {
    if (++in[d] < r->window[d]) return;
    in[d] = 0;
  }
}

/* The outer index of row `row`. */
static inline void rows_at(const row_windows *r, i64 row, i64 *at) {
  for (u32 d = r->rank - 1; d-- > 0; row /= r->out_dims[d]) at[d] = row % r->out_dims[d];
}

/* n runs of `length` elements, `apart` from each other, as registers: where they are, or in `to`.
 * `raw` has room for them as they are stored. */
const void *rows_fetch(const vm_kernels *k, dtype t, char *raw, char *to, const char *from, i64 n,
                       i64 length, i64 apart);

#endif
