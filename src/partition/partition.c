/* The table of passes, with their options. Who runs them, by name: pipelines.c, compile, and the
 * tools. */
#include "partition/partition.h"

#include "partition/passes.h"
#include "shard/pass_options.h"

static bool insert_explicit_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  bool full = pass_option_flag(args, STR("enable-full-version"), false);
  return (full ? part_insert_full_reshards : part_insert_minimal_reshards)(m, scratch, args);
}

#define REMARKS                                                                                    \
  { "remarks", PASS_FLAG, "false", "Say which ops need a dimension whole that is sharded" }
static const pass_option_info insert_options[] = {REMARKS, {0}};
static const pass_option_info partition_options[] = {
    REMARKS,
    {"unseen", PASS_FLAG, "false",
     "Nobody reads the program: groups name axes, and no types are recorded"},
    {0},
};
static const pass_option_info reshard_options[] = {
    {"enable-full-version", PASS_FLAG, "false", "Reshard wherever an op needs it"},
    {0},
};
static const pass_option_info collective_options[] = {
    {"keep-redundant-reshards", PASS_FLAG, "false", "Leave those that change nothing"},
    {"leave-none", PASS_FLAG, "false",
     "Go by way of whole tensors where sizes or meshes ask for it, and refuse what is left"},
    {0},
};
#define DEVICE_OPTIONS                                                                             \
  {"replica-count", PASS_INT, "1", "Replicas, where there is one partition"}, {                    \
    "partition-count", PASS_INT, "1", "Partitions, where there is one replica"                     \
  }
static const pass_option_info device_options[] = {DEVICE_OPTIONS, {0}};

static const pass_option_info exchange_options[] = {
    FLAG("enable-halo-exchange", "true", "Exchange shards, rather than replicate all dimensions"),
    DEVICE_OPTIONS,
    {0},
};
static const pass_option_info per_op_options[] = {
    {"filter", PASS_STRING, "",
     "Parts of names of ops, selectLow=N, selectHigh=N, with commas between; nothing: all ops"},
    FLAG("enable-halo-exchange", "true", "Exchange shards, rather than replicate all dimensions"),
    DEVICE_OPTIONS,
    {0},
};
static const pass_option_info local_option_rows[] = {
    {"per-dim-all-gather", PASS_FLAG, "false", "Gather one dimension after the other"},
    {"combine-multi-dimension-reduce-scatter", PASS_FLAG, "false",
     "Scatter several dimensions by one reduce_scatter; else reduce everywhere and slice"},
    {"enable-rgv3", PASS_FLAG, "false", "Name the axes of groups where no axis is split"},
    DEVICE_OPTIONS,
    {"by-records", PASS_FLAG, "false", "Cut ops as terrazzo-partition does, and refuse the others"},
    {"record-global-types", PASS_FLAG, "false", "Say in the signature what types it had"},
    {"drop-shardings", PASS_FLAG, "false", "Leave shardings in the signature only"},
    {"share-offsets", PASS_FLAG, "false", "Work out once where shards begin, without tables"},
    {"move-least", PASS_FLAG, "false", "Permute only what a device does not have"},
    {0},
};

#define IMPORT DEDUP, FLAG("enable-explicit-gather-scatter-batching", "false", "Run that pass too")
#define EXPORT                                                                                     \
  SAVE("dump-directory"), FLAG("avoid-export-for-partitioning", "false", "Leave out its passes"),  \
      FLAG("enable-insert-explicit-collectives", "false", "Reshard with collectives"),             \
      FLAG("remove-all-gather-reduce-scatter-for-cmv1", "false", "Run that pass too"),             \
      FLAG("enable-per-instruction-partitioning", "false", "Partition single ops alone"),          \
      {"per-instruction-partitioning-filter", PASS_STRING, "", "Which"}, DEVICE_OPTIONS,           \
      FLAG("dump-sharding-origins", "false", "Move where shardings come from to values"),          \
      FLAG("dump-propagation-edges", "false", "Move which way shardings went to values"),          \
      FLAG("update-non-divisible-input-output-shardings", "true", "Run that pass and the next"),   \
      FLAG("leave-reshards", "false", "Drop dead ops only: terrazzo-partition reshards")
OPTIONS(import, IMPORT, EXTRA, ORIGINS, EDGES, OLD_EDGES, SAVE("module-dump-directory"));
OPTIONS(propagate, IMPORT, BASIC, STRATEGY, BY_OP, EXPORT,
        FLAG("inline-meshes", "false", "Spell meshes out"),
        FLAG("inline-calls", "false", "Have what functions do in place of calls"));
OPTIONS(export, EXPORT, KEEP_RULES, ORIGINS, EDGES, OLD_EDGES, SAVE("module-dump-directory"),
        FLAG("inline-meshes", "true", "Spell meshes out"));

const pass_info partition_passes[] = {
    {"terrazzo-collectives-to-reshards", "Turns the program's own sdy collectives into reshards",
     part_collectives_to_reshards, NULL},
    {"terrazzo-join-slices", "Has concatenations take slices themselves, along sharded dimensions",
     part_join_slices, NULL},
    {"terrazzo-drop-indivisible-axes", "Keeps only axes by which shards can be made",
     part_drop_indivisible_axes, NULL},
    {"sdy-verify-unreduced-axes",
     "Fails where an op drops unreduced axes that no reshard or reduction accounts for",
     part_verify_unreduced, .scope = PASS_ON_FUNCS, .any_module = true},
    {"terrazzo-insert-reshards",
     "Reshards operands and results so that ops can be computed on shards, and sums up parts",
     part_insert_explicit_reshards, .options = insert_options, .scope = PASS_ON_FUNCS},
    {"sdy-insert-explicit-reshards",
     "Reshards operands and results so that ops fit their shards if enable-full-version; else only "
     "what a later partitioner could not make up for",
     insert_explicit_reshards, NULL, reshard_options, PASS_ON_FUNCS},
    {"terrazzo-reduce-in-parts",
     "Reduces what all-reduce cannot combine within shards first, and then what that leaves",
     part_reduce_in_parts, NULL},
    {"terrazzo-batch-products", "Multiplies outside of loops what they multiply row by row",
     part_batch_products, .any_module = true},
    {"terrazzo-drop-stacks", "Makes rows that a loop keeps of others that it keeps, where cheap",
     part_drop_stacks, .any_module = true},
    {"terrazzo-gather-operands", "Gathers what elements are moved of, instead of what is moved",
     part_gather_operands, NULL},
    {"terrazzo-hoist-reshards", "Reshards in front of a loop what stays the same in it",
     part_hoist_reshards, NULL},
    {"terrazzo-join-sums", "Adds parts before they are summed up, where only sums are added",
     part_join_sums, NULL},
    {"sdy-resolve-permutation-factors",
     "Gives shards the elements of other shards that their ops need", part_resolve_permutations,
     .options = exchange_options},
    {"sdy-per-instruction-partitioning",
     "Makes manual computations of what a device runs of single ops", part_per_instruction,
     .options = per_op_options, .of_passes = true},
    {"sdy-reshard-to-collectives", "Turns reshards into collectives", part_reshard_to_collectives,
     .options = collective_options, .scope = PASS_ON_FUNCS},
    {"terrazzo-fuse-collectives", "Joins collectives, such as all-reduce and all-slice",
     part_fuse_collectives, NULL},
    {"sdy-remove-all-gather-reduce-scatter-for-cmv1",
     "Leaves collectives at the border of a product to what fuses them with it",
     part_remove_for_matmul, .scope = PASS_ON_FUNCS, .any_module = true},
    {"sdy-pad-for-divisibility", "Pads what its sharding does not divide until it does",
     part_pad_for_divisibility, .scope = PASS_ON_FUNCS},
    {"sdy-resolve-single-device-sharding",
     "Makes ops on one device branches, whose results all devices get", part_resolve_single_device,
     .options = device_options, .any_module = true},
    {"sdy-convert-global-to-local", "Turns the program into the one that each device runs",
     part_global_to_local, .options = local_option_rows},
    {"terrazzo-combine-collectives", "Joins collectives that do not depend on each other",
     part_combine_collectives, NULL},
    {"sdy-import-pipeline", "The passes before propagation.", pipeline_import,
     .options = import_options, .of_passes = true},
    {"sdy-propagation-pipeline", "Imports, propagates, and exports.", pipeline_propagate,
     .options = propagate_options, .of_passes = true},
    {"sdy-export-pipeline", "The passes after propagation.", pipeline_export,
     .options = export_options, .of_passes = true},
    {"terrazzo-partition", "From shardings on all values to the program of one device",
     pipeline_partition, .options = partition_options, .of_passes = true},
    {0},
};
