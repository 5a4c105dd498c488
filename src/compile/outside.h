/* Inside compile only: custom calls of which somebody outside says how they are partitioned, and
 * those that ask how something is sharded. */
#ifndef COMPILE_OUTSIDE_H
#define COMPILE_OUTSIDE_H

#include "compile/compile.h"
#include "ir/op.h"

/* What the calls @InspectSharding are to be told; from them they are in the order of the program.
 */
typedef struct outside_seen {
  str config;
  tile_assignment tiles;
} outside_seen;
typedef VEC(outside_seen) outside_list;

/* Between propagation and partitioning. A call that options->partition_call knows becomes a
 * sdy.manual_computation over all axes of what it says; a call that inspects is gone, and added to
 * *out. false: reported. */
/* Before propagation: calls that options->batches_call knows get CALL_BATCH_DIMS (shard/rule.h). */
void outside_batches(ir_module *m, arena *scratch, const compile_options *options);
bool outside_partition(ir_module *m, arena *scratch, const compile_options *options,
                       outside_list *out);

#endif
