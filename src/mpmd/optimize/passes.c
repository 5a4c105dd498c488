/* The rows of mpmd's passes: optimize. */
#include "mpmd/optimize/passes.h"

#define DROP_CONTROL                                                                               \
  {                                                                                                \
    "remove-control-dependencies", PASS_FLAG, "true",                                              \
        "Leave nothing behind that keeps the order for passes to come"                             \
  }
static const pass_option_info scheduler_options[] = {
    {"must-happen-before", PASS_STRING, "1F1B", "The schedule"}, DROP_CONTROL, {0}};
static const pass_option_info rules_options[] = {
    {"rules", PASS_STRING, "", "What runs in which order"}, DROP_CONTROL, {0}};
static const pass_option_info remat_options[] = {
    {"merge-remat-fragments", PASS_FLAG, "false",
     "Merge what runs once more with what it is needed for"},
    {0}};

static const pass_option_info pipeline_options[] = {
    {"merge-after-scheduling", PASS_FLAG, "false", "Merge inferred fragments here"},
    {"pipeline-schedule", PASS_STRING, "1F1B", "The schedule", "none,1F1B,Circular"},
    {"fragment-schedule-rules", PASS_STRING, "", "Rules in the place of a schedule"},
    {"fragment-merge-rules", PASS_STRING, "", "What to merge first"},
    {"apply-fragment-remat", PASS_FLAG, "false", "Run forward fragments once more"},
    {"merge-remat-fragments", PASS_FLAG, "false", "Merge these with what needs them"},
    {"merge-forward-with-backward", PASS_FLAG, "false", "Merge what runs right behind another"},
    {"absorb-on-entry-point-function", PASS_FLAG, "false",
     "Absorb inferred fragments in the main function, too"},
    {0}};

const pass_info mpmd_optimize_passes[] = {
    {"mpmd-pipeline-scheduler", "Puts the fragments of each mesh into the order of a schedule.",
     pass_mpmd_pipeline_scheduler, NULL, scheduler_options, PASS_ON_FUNCS},
    {"mpmd-remat-fragment", "Runs forward fragments once more in front of backward ones.",
     pass_mpmd_remat_fragment, NULL, remat_options, PASS_ON_FUNCS},
    {"mpmd-rule-based-schedule", "Puts fragments into the order that rules say.",
     pass_mpmd_rule_based_schedule, NULL, rules_options, PASS_ON_FUNCS},
    {"mpmd-optimize-pipeline", "Orders and merges fragments.", pass_mpmd_optimize_pipeline, NULL,
     pipeline_options, .of_passes = true},
    {0},
};
