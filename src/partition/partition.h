/* Partitioning: from a module whose values all have shardings to the program of one device.
 *
 * From shardings to the local program there is one line of passes, that of Shardy's export passes
 * (openxla/shardy docs/sdy_export_passes.md), and pipelines.c has all of it:
 *
 *   sdy-propagation-pipeline     imports, propagates, exports; compile gives it inline-calls and
 *                                leave-reshards and goes on with terrazzo-partition, which is
 *   terrazzo-collectives-to-reshards  what the program itself says of sdy collectives
 *   terrazzo-join-slices              rotations and the like without the slices they are made of
 *   terrazzo-drop-indivisible-axes    shardings that shards can be made by; verified then
 *   terrazzo-batch-products           one product for the many of a loop, outside of it
 *   terrazzo-drop-stacks              rows made of other rows, not kept by a loop
 *   terrazzo-reduce-in-parts          what all-reduce cannot combine: within shards, then the rest
 *   terrazzo-insert-reshards          every op can run on shards
 *   terrazzo-gather-operands          what only moves elements, and is wanted whole, on the whole
 *   terrazzo-hoist-reshards           out of loops what stays the same in them
 *   terrazzo-join-sums                adds parts before they are summed up
 *   cse                               the same twice, reshards too, once
 *   sdy-reshard-to-collectives        reshards as slices, permutations, all-to-alls, gathers
 *   terrazzo-fuse-collectives         slice of an all-reduce -> reduce-scatter, duplicates, ...
 *   sdy-convert-global-to-local       where dimensions do not divide: masks on what must not be
 *                                     combined; local types, StableHLO collectives, no sdy ops
 *   cse                               again: what it took to make ops local
 *   terrazzo-combine-collectives      one collective instead of several small ones
 *
 * What only Shardy's users need, such as resharding no more than another partitioner could not
 * make up for, is in export/.
 *
 * Before terrazzo-partition calls and named computations are inlined. After it each
 * function's arguments and results keep `sdy.sharding`, and `terrazzo.global_type` says what
 * type they had; partition p is device p of the meshes' device ids. Without meshes all of them
 * do nothing. */
#ifndef PARTITION_PARTITION_H
#define PARTITION_PARTITION_H

#include "pass/pass.h"

extern const pass_info partition_passes[]; /* ends with a NULL name */

/* Attribute of arguments and results of local functions: the global type. */
#define PARTITION_GLOBAL_TYPE "terrazzo.global_type"
/* Of sorts: of how many sorted runs, other devices' work, each line is made. */
#define PARTITION_RUNS "terrazzo.runs"

/* What becomes of an op whose dimensions are sharded, for `terrazzo ops`. */
typedef enum partition_way {
  PARTITION_WHOLE,   /* all dimensions have to be whole: resharded first */
  PARTITION_PARTLY,  /* some have to */
  PARTITION_SPLIT,   /* runs on shards, with collectives where a factor asks for them */
  PARTITION_REPLACED /* by other ops */
} partition_way;
partition_way partition_way_of(op_id id);

#endif
