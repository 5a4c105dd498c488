/* The rows of mpmd's passes: common. */
#include "mpmd/common/passes.h"

static const pass_option_info merge_inferred_options[] = {
    {"merge-any-consumer", PASS_FLAG, "false",
     "Merge with any consumer, not only with the closest one.", NULL},
    {"merge-sideways", PASS_FLAG, "false",
     "Merge with the next fragment on the mesh, be it a consumer or not.", NULL},
    {0},
};

static const pass_option_info absorb_options[] = {
    {"absorb-on-entry-point-function", PASS_FLAG, "false",
     "Absorb in entry points too, not only in what mpmd.call names.", NULL},
    {0},
};
static const pass_option_info rule_merge_options[] = {
    {"rules", PASS_LIST, "",
     "FragmentMergeRule(sources=[INFO,...],target=INFO), with commas between.", NULL},
    {"remove-control-dependencies", PASS_FLAG, "true",
     "Drop operands that only keep an order, at the end.", NULL},
    {0},
};

const pass_info mpmd_common_passes[] = {
    {"mpmd-absorb-inferred-fragments",
     "Merges inferred fragments into those of the user's, and into others that are roots.",
     pass_mpmd_absorb, .options = absorb_options, .scope = PASS_ON_FUNCS},
    {"mpmd-rule-based-merge", "Merges fragments as rules of the user's say.", pass_mpmd_rule_merge,
     .options = rule_merge_options, .scope = PASS_ON_FUNCS},
    {"mpmd-merge-transfers", "Makes one transfer of many small ones from a fragment to another.",
     pass_mpmd_merge_transfers, .scope = PASS_ON_FUNCS},
    {"mpmd-split-bwd-fragments",
     "Cuts backward fragments in two: what is transferred, and the rest.", pass_mpmd_split_bwd,
     .scope = PASS_ON_FUNCS},
    {"mpmd-split-and-prioritize-transfer-independent-computations",
     "Cuts fragments in two: what needs no transfer, and the rest.", pass_mpmd_split_late,
     .scope = PASS_ON_FUNCS},
    {"mpmd-copy-constants", "Copies constants of fragments into the fragments that use them.",
     pass_mpmd_copy_constants, .scope = PASS_ON_FUNCS},
    {"mpmd-fragment-dce", "Erases operands and results of fragments, and ops, that nobody needs.",
     pass_mpmd_fragment_dce, .scope = PASS_ON_FUNCS},
    {"mpmd-fragment-dedup", "Has one use for each operand and result that a fragment has twice.",
     pass_mpmd_fragment_dedup, .scope = PASS_ON_FUNCS},
    {"mpmd-move-transfers-to-producer", "Moves transfers right behind what they transfer.",
     pass_mpmd_move_transfers_to_producer, .scope = PASS_ON_FUNCS},
    {"mpmd-remove-transfer-cycles",
     "Uses a value instead of what transfers between devices bring back of it.",
     pass_mpmd_remove_transfer_cycles, .scope = PASS_ON_FUNCS},
    {"mpmd-scheduling-units-verifier",
     "Warns where a mesh has not a forward and a backward unit for each microbatch.",
     pass_mpmd_verify_units, .scope = PASS_ON_FUNCS},
    {"mpmd-verify-stage-merging", "Checks that what belongs to one stage is one fragment.",
     pass_mpmd_verify_stage_merging, .scope = PASS_ON_FUNCS},
    {"mpmd-merge-inferred-fragments", "Merges inferred fragments with others that use them.",
     pass_mpmd_merge_inferred, .options = merge_inferred_options, .scope = PASS_ON_FUNCS},
    {"mpmd-merge-forward-with-backward",
     "Merges forward fragments with the backward fragments right behind them.",
     pass_mpmd_merge_forward_with_backward, .scope = PASS_ON_FUNCS},
    {"mpmd-merge-user-fragments-into-scheduling-units",
     "Merges fragments of the user's that belong to one stage, call and transpose count.",
     pass_mpmd_merge_into_units, .scope = PASS_ON_FUNCS},
    {0},
};
