/* Inside partition only: the passes, by file. */
#ifndef PARTITION_PASSES_H
#define PARTITION_PASSES_H

#include "pass/pass.h"

pass_fn pipeline_import, pipeline_propagate, pipeline_export, pipeline_partition; /* pipelines.c */
pass_fn part_collectives_to_reshards;  /* collectives.c */
pass_fn part_join_slices;              /* pieces.c */
pass_fn part_drop_indivisible_axes;    /* divisible.c */
pass_fn part_batch_products;           /* batch.c */
pass_fn part_drop_stacks;              /* stacks.c */
pass_fn part_reduce_in_parts;          /* in_parts.c */
pass_fn part_insert_explicit_reshards; /* explicit.c */
pass_fn part_gather_operands;          /* gather_before.c */
pass_fn part_hoist_reshards;           /* hoist.c */
pass_fn part_join_sums;                /* sums.c */
pass_fn part_reshard_to_collectives;   /* collectives.c */
pass_fn part_fuse_collectives;         /* fuse.c */
pass_fn part_global_to_local;          /* local.c */
pass_fn part_combine_collectives;      /* combine.c */

/* Only for those who run Shardy's passes: no part of the way to the local program. */
pass_fn part_insert_full_reshards;    /* export/reshards.c */
pass_fn part_insert_minimal_reshards; /* export/reshards.c */
pass_fn part_verify_unreduced;        /* export/unreduced.c */
pass_fn part_pad_for_divisibility;    /* export/pad.c */
pass_fn part_remove_for_matmul;       /* export/matmul.c */
pass_fn part_per_instruction;         /* export/per_op.c */
pass_fn part_resolve_permutations;    /* export/resolve.c */
pass_fn part_resolve_single_device;   /* export/single_device.c */

#endif
