/* The rows of mpmd's passes: optimize. */
#include "mpmd/optimize/passes.h"

#define DROP_CONTROL                                                                               \
  {                                                                                                \
    "remove-control-dependencies", PASS_FLAG, "true",                                              \
        "Leave nothing behind that keeps the order for passes to come"                             \
  }
static const pass_option_info scheduler_options[] = {
    {"must-happen-before", PASS_STRING, "1F1B", "The schedule"}, DROP_CONTROL, {0}};
static const pass_option_info remat_options[] = {
    {"merge-remat-fragments", PASS_FLAG, "false",
     "Merge what runs once more with what it is needed for"},
    {0}};

const pass_info mpmd_optimize_passes[] = {
    {"mpmd-move-transfers-to-producer", "Moves transfers right behind what they transfer.",
     pass_mpmd_move_transfers, .scope = PASS_ON_FUNCS},
    {"mpmd-scheduling-units-verifier", "Warns where a mesh lacks fragments that schedules order.",
     pass_mpmd_verify_units, .scope = PASS_ON_FUNCS},
    {"mpmd-pipeline-scheduler", "Puts the fragments of each mesh into the order of a schedule.",
     pass_mpmd_pipeline_scheduler, NULL, scheduler_options, PASS_ON_FUNCS},
    {"mpmd-remat-fragment", "Runs forward fragments once more in front of backward ones.",
     pass_mpmd_remat_fragment, NULL, remat_options, PASS_ON_FUNCS},
    {0},
};
