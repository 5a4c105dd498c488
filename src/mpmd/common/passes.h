/* Inside mpmd only: the functions of the rows of mpmd_common_passes. */
#ifndef MPMD_COMMON_PASSES_H
#define MPMD_COMMON_PASSES_H

#include "mpmd/mpmd.h"

pass_fn pass_mpmd_fragment_dce, pass_mpmd_fragment_dedup;
pass_fn pass_mpmd_merge_inferred, pass_mpmd_merge_forward_with_backward, pass_mpmd_merge_into_units;
pass_fn pass_mpmd_absorb, pass_mpmd_rule_merge, pass_mpmd_merge_transfers;
pass_fn pass_mpmd_split_bwd, pass_mpmd_split_late;
pass_fn pass_mpmd_remove_transfer_cycles, pass_mpmd_copy_constants,
    pass_mpmd_move_transfers_to_producer;
pass_fn pass_mpmd_verify_stage_merging, pass_mpmd_verify_units;

#endif
