#include "partition/partition.h"

#include "partition/passes.h"

static const char *const pipeline[] = {"terrazzo-drop-indivisible-axes",
                                       "sdy-insert-explicit-reshards",
                                       "sdy-reshard-to-collectives",
                                       "terrazzo-fuse-collectives",
                                       "sdy-convert-global-to-local",
                                       "terrazzo-combine-collectives",
                                       NULL};

const pass_info partition_passes[] = {
    {"terrazzo-drop-indivisible-axes", "Keeps only axes that divide the dimensions they shard",
     part_drop_indivisible_axes, NULL},
    {"sdy-insert-explicit-reshards", "Reshards operands and results so that ops fit their shards",
     part_insert_explicit_reshards, NULL},
    {"sdy-reshard-to-collectives", "Turns reshards into collectives", part_reshard_to_collectives,
     NULL},
    {"terrazzo-fuse-collectives", "Joins collectives, such as all-reduce and all-slice",
     part_fuse_collectives, NULL},
    {"sdy-convert-global-to-local", "Turns the program into the one that each device runs",
     part_global_to_local, NULL},
    {"terrazzo-combine-collectives", "Joins all-reduces that do not depend on each other",
     part_combine_collectives, NULL},
    {"terrazzo-partition", "From shardings on all values to the program of one device", NULL,
     pipeline},
    {NULL, NULL, NULL, NULL},
};
