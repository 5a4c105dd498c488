/* Elements that are moved a few bytes each, whole vectors of the destination at a time.
 *
 * Rows of the destination lie one behind the other and are of a few bytes, as pixels are, small
 * matrices, or what is concatenated of narrow pieces. Some of them are a tile, whose bytes are
 * known by where each comes from: each vector of 64 is what windows of 64 bytes give it, by their
 * indices, and the next tile is the same at another place. Processors that have permutations of 16
 * bytes only make each quarter of a vector of blocks of so many. */
#ifndef EXEC_SHUFFLE_H
#define EXEC_SHUFFLE_H

#include "base/base.h"

enum {
  SHUFFLE_BYTES = 64,
  SHUFFLE_WINDOWS = 8,
  SHUFFLE_PIECES = 8,
  SHUFFLE_BLOCK = 16,
  SHUFFLE_QUARTERS = SHUFFLE_BYTES / SHUFFLE_BLOCK,
  SHUFFLE_BLOCKS = 4 /* of a quarter */
};

/* Of the first `bytes` of 16, byte i is the one at pick[i]; from 128 on it is 0. */
typedef struct shuffle_block {
  u8 pick[SHUFFLE_BLOCK];
  i64 at, step;
  u32 of, bytes;
} shuffle_block;

/* Byte i is constant[i], of moved[k] xor the one at index[k][i] of windows 2k and 2k + 1: from 64
 * on it is the second's. Nothing is read or written but `read` and `written`. */
typedef struct shuffle_vector {
  u8 index[SHUFFLE_WINDOWS / 2][SHUFFLE_BYTES], constant[SHUFFLE_BYTES];
  u64 moved[SHUFFLE_WINDOWS / 2], written, read[SHUFFLE_WINDOWS];
  i64 at[SHUFFLE_WINDOWS], step[SHUFFLE_WINDOWS]; /* in its piece; to the next tile's */
  u32 of[SHUFFLE_WINDOWS];                        /* piece */
  u32 windows;
  shuffle_block *all; /* instead of windows: those of each quarter, one after the other */
  u32 blocks[SHUFFLE_QUARTERS];
} shuffle_vector;

/* One vector of so many tiles: in `to`, and then `step` bytes behind it. */
typedef void kern_shuffle_fn(const shuffle_vector *v, size_t times, char *to, i64 step,
                             const char *const *from);

/* For processors with AVX-512 and its permutations of bytes (avx512vbmi). */
void shuffle_vectors(const shuffle_vector *v, size_t times, char *to, i64 step,
                     const char *const *from);
/* The same of blocks, for those with AVX2. */
void shuffle_blocks(const shuffle_vector *v, size_t times, char *to, i64 step,
                    const char *const *from);

#endif
