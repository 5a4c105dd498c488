/* The rows of mpmd's passes: common. */
#include "mpmd/common/passes.h"

static const pass_option_info merge_inferred_options[] = {
    {"merge-any-consumer", PASS_FLAG, "false",
     "Merge with any consumer, not only with the closest one.", NULL},
    {"merge-sideways", PASS_FLAG, "false",
     "Merge with the next fragment on the mesh, be it a consumer or not.", NULL},
    {0},
};

const pass_info mpmd_common_passes[] = {
    {"mpmd-merge-inferred-fragments", "Merges inferred fragments with others that use them.",
     pass_mpmd_merge_inferred, NULL, merge_inferred_options},
    {"mpmd-merge-forward-with-backward",
     "Merges forward fragments with the backward fragments right behind them.",
     pass_mpmd_merge_forward_with_backward, NULL},
    {"mpmd-merge-user-fragments-into-scheduling-units",
     "Merges fragments of the user's that belong to one stage, call and transpose count.",
     pass_mpmd_merge_into_units, NULL},
    {0},
};
