/* Partitioning: from a module whose values all have shardings to the program of one device.
 *
 * Passes, in the order in which `terrazzo-partition` runs them (Shardy's names where Shardy has
 * the pass; see openxla/shardy docs/sdy_export_passes.md):
 *
 *   terrazzo-collectives-to-reshards  what the program itself says of sdy collectives
 *   terrazzo-drop-indivisible-axes  shardings only of what divides evenly
 *   terrazzo-insert-reshards        every op can run on shards; differences are sdy.reshard
 *   sdy-reshard-to-collectives      reshards as slices, permutations, all-to-alls, gathers
 *   terrazzo-fuse-collectives       slice of an all-reduce -> reduce-scatter, duplicates, ...
 *   sdy-convert-global-to-local     local types, StableHLO collectives, no sdy ops
 *   terrazzo-combine-collectives    one all-reduce instead of several small ones
 *
 * Before: import and propagation passes, calls and named computations inlined. After: each
 * function's arguments and results keep `sdy.sharding`, and `terrazzo.global_type` says what
 * type they had; partition p is device p of the meshes' device ids. Without meshes all of them
 * do nothing. */
#ifndef PARTITION_PARTITION_H
#define PARTITION_PARTITION_H

#include "pass/pass.h"

extern const pass_info partition_passes[]; /* ends with a NULL name */

/* Attribute of arguments and results of local functions: the global type. */
#define PARTITION_GLOBAL_TYPE "terrazzo.global_type"

/* What becomes of an op whose dimensions are sharded, for `terrazzo ops`. */
typedef enum partition_way {
  PARTITION_WHOLE,   /* all dimensions have to be whole: resharded first */
  PARTITION_PARTLY,  /* some have to */
  PARTITION_SPLIT,   /* runs on shards, with collectives where a factor asks for them */
  PARTITION_REPLACED /* by other ops */
} partition_way;
partition_way partition_way_of(op_id id);

#endif
