/* A runtime that is one of several processes: which devices are its own, and how all of them get
 * the results of all. */
#ifndef API_PARTS_H
#define API_PARTS_H

#include "compile/compile.h"
#include "device/executor.h"

/* Process `rank` of `size` runs positions [*first, *first + *count) of `all`, as even a share as
 * there can be. INVALID_ARGUMENT where a process would have none. */
status parts_find(u32 rank, u32 size, u32 all, u32 *out_first, u32 *out_count) MUST_USE;

/* After a launch. */
typedef struct parts_results {
  executor *on;
  executor_transport *job;
  u64 id; /* of a launch, for what is sent */
  const executable *exe;
  u32 size, positions, first, count; /* processes; positions of all, and ours */
  /* [position * num_results + k]; of our own positions */
  executor_memory *const *results;
} parts_results;

/* Where partition p's piece of a global array begins, in bytes, and how it lies there: local sizes
 * at the strides of the whole, which are written to `strides` (DEV_MAX_RANK of them). */
size_t parts_piece(const compile_tensor *t, u32 p, i64 *strides, executor_array *out);

/* Puts every piece into the global arrays, those of the other processes too, which call it as well
 * at the same time. NULL outputs are left out. */
status parts_join_outputs(const parts_results *r, void *const *outputs) MUST_USE;

#endif
