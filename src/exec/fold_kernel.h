/* Many floats combined to one, or rows of them to a row, as fast as memory gives them; per
 * instruction set and type of number. In which order depends on the numbers' count only, and is the
 * same on every instruction set. */
#ifndef EXEC_FOLD_KERNEL_H
#define EXEC_FOLD_KERNEL_H

#include "base/base.h"

/* *acc = *init (NULL: none) and n > 0 values combined, in an order that depends on n alone. */
typedef void kern_fold_fn(size_t n, void *acc, const void *init, const void *a);

/* d[i] = *init combined with lines[0][i], then lines[1][i] and so on, for n of them. */
typedef void kern_lines_fn(size_t n, void *d, const void *init, const void *const *lines,
                           size_t num_lines);

/* rows[i] = *init combined with the n values behind i * step, as kern_fold_fn does it, bit for bit.
 */
typedef void kern_each_fn(size_t num, size_t n, size_t step, void *rows, const void *init,
                          const void *a);

/* Adds rows of n to where rows[i] says, in order; NULL: that one to nowhere. From one row to the
 * next there are `step`. */
typedef void kern_add_fn(size_t num, size_t n, void *const *rows, const void *a, i64 step);

/* rows[i] = the largest, or the smallest, of *init and the n words behind i * n, which are floats
 * of 16 bits with this infinity: bf16 or f16. NaN wins, -0 < +0; of bf16 a denormal that comes out
 * is a zero where f32's are flushed. */
typedef void kern_words_fn(size_t num, size_t n, u16 *rows, u16 init, u16 infinity, const u16 *a,
                           bool max);

enum { FOLD_ROWS = 8 };

/* acc[i] += rows[0][i] + ... + rows[FOLD_ROWS - 1][i], for n of them; fresh: acc begins there. Then
 * the same of the rows that are `next` elements behind those, `groups` times in all. */
typedef void kern_groups_fn(size_t n, void *acc, const void *const *rows, bool fresh, size_t groups,
                            i64 next);

/* The greatest of n columns of floats of 16 bits, as words that are in the same order. Where the
 * smallest are wanted, `sign` is INT16_MIN, which changes the signs of all; else 0. acc has
 * FOLD_MOST of the least of all that came before, then the greatest by column, and room for as many
 * again. To those come FOLD_ROWS rows, and the rows that are `next` elements behind them, `groups`
 * times in all. n is at least FOLD_MOST. */
typedef void kern_most_fn(size_t n, i16 *acc, const void *const *rows, i16 sign, size_t groups,
                          i64 next);
/* Makes floats of these words again. False: there were NaNs, which are beyond infinity. */
typedef bool kern_most_end_fn(size_t n, i16 *acc, i16 sign, i16 infinity);
enum { FOLD_MOST = 32, FOLD_BYTES = 64 };

typedef struct fold_kernels {
  kern_fold_fn *sum, *max, *min;  /* NaN wins, -0 < +0 */
  kern_fold_fn *prod, *sum_pairs; /* pairs: complex numbers */
  kern_groups_fn *sum_rows;
  kern_each_fn *sum_each, *max_each, *min_each, *prod_each, *pairs_each;
  kern_add_fn *add_rows;
  kern_lines_fn *sum_lines, *max_lines, *min_lines; /* the bits that one after the other gives */
  kern_words_fn *most_words; /* NULL: not among f64's */
  /* *acc = the sum of FOLD_LONG values (fold_order.h), of which each quarter is `apart` behind the
   * one before: in sum's order. */
  void (*sum_far)(void *acc, const void *a, size_t apart);
  kern_most_fn *most_rows; /* NULL: not among f64's */
  kern_most_end_fn *most_end;
  /* The largest or the smallest byte of each of n columns, FOLD_BYTES and more, in place of their
   * sum; NULL: among f64's. */
  kern_groups_fn *max_bytes, *min_bytes;
} fold_kernels;

extern const fold_kernels fold_base_f32, fold_base_f64, fold_v3_f32, fold_v3_f64, fold_v4_f32,
    fold_v4_f64, fold_neon_f32, fold_neon_f64;

#endif
