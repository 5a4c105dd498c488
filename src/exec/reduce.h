/* Reductions: blocks of values (loop.h), combined in order (combine.h).
 *
 * It goes one of three ways. Rows: the reduced dims make the blocks of each output element. Where a
 * kernel folds the known bodies, which commute, it folds a block at once, and so the blocks'
 * results; any other body combines neighbours, again and again. Columns: blocks over the kept
 * dims, whose accumulators take the reduced dims one by one. Few columns, of known bodies: blocks
 * of many rows of them, which accumulators take as one, and halves of what these have in the end.
 * Which way, and in which order, depends on shapes only. The initial value comes first, and once.
 * Several results of a known body are each reduced by itself, of values that are made together. */
#ifndef EXEC_REDUCE_H
#define EXEC_REDUCE_H

#include "exec/combine.h"
#include "exec/loop.h"

enum {
  REDUCE_FOLDED = 4, /* results whose values are folded, at most */
  REDUCE_SIDE = 16   /* short rows of values that are folded side by side */
};

typedef struct reduction {
  kernel kn;  /* rows: over the reduced dims; columns: over the kept ones */
  plan other; /* the other dims, walked one element at a time */
  combiner c;
  kern_fold_fn *fold; /* of results of one type; NULL: pairs */
  kern_each_fn *each; /* blocks of rows, groups of short ones; NULL: `fold` one after the other */
  bool max;           /* of words, or the smallest */
  walk results;       /* of blocks of rows */
  i64 *steps;         /* short rows: bytes from one to the next, of inputs and a sum */
  u64 apart; /* long rows of what is summed up as it is: of a block's quarters; 0: side by side */
  void (*sum_far)(void *acc, const void *a, size_t apart);
  kern_words_fn *words; /* of rows of one input, floats of 16 bits, as they are; NULL: not so */
  /* columns: several rows that lie as they are added, at once; NULL: one after the other */
  kern_groups_fn *sum_rows;
  bool lines;  /* the same of what is computed; short rows: groups of them */
  kern_most_fn *most; /* the same of `words`, whose farthest are wanted; NULL: no such */
  kern_most_end_fn *most_end;
  input *out;  /* with their walks among those of the kept dims */
  u32 *init;   /* slots; NULL: zeros */
  u64 block;   /* the most elements that the body is run on */
  u64 columns; /* few of them: how many */
  u64 room;    /* rows: elements of a level */
  u32 levels;
  size_t summing_at, body_at, lines_at, acc_at, acc_bytes, left_at, right_at, half_bytes;
} reduction;

/* The ways; `data` is a reduction. Short rows: of one block, all of which is read where it lies. */
step_fn reduce_run_rows, reduce_run_short_rows, reduce_run_blocks_of_rows, reduce_run_words,
    reduce_run_columns, reduce_run_few_columns;

#endif
