/* The rows of mpmd's passes: export. */
#include "mpmd/export/passes.h"

#define FLAG(name, value, help)                                                                    \
  { name, PASS_FLAG, value, help }
#define ERRORS(name, value) FLAG(name, value, "What is found is an error, not a warning")
static const pass_option_info lower_options[] = {
    FLAG("verbose-logging", "false", "Say which functions each mesh will run"), {0}};
static const pass_option_info reshards_options[] = {
    ERRORS("fail-on-reshard-only-fragments", "false"), {0}};
static const pass_option_info backward_options[] = {ERRORS("fail-on-backward-deps", "false"), {0}};
static const pass_option_info inferred_options[] = {ERRORS("fail-on-inferred-fragments", "true"),
                                                    {0}};
static const pass_option_info param_options[] = {
    ERRORS("fail-on-param-transfers", "false"),
    {"param-pattern", PASS_STRING, MPMD_PARAM_PATTERN, "What the names of parameters have in them"},
    {0}};
static const pass_option_info pipeline_options[] = {
    ERRORS("fail-on-reshard-only-fragments", "false"),
    ERRORS("fail-on-backward-deps", "false"),
    ERRORS("fail-on-inferred-fragments", "true"),
    ERRORS("fail-on-param-transfers", "false"),
    {"param-transfer-pattern", PASS_STRING, MPMD_PARAM_PATTERN,
     "What the names of parameters have in them"},
    FLAG("copy-constants", "false", "Make constants where they are used"),
    FLAG("merge-transfers", "false", "Transfer as one what goes from one fragment to another"),
    FLAG("verbose-logging", "false", "Say which functions each mesh will run"),
    {0}};

const pass_info mpmd_export_passes[] = {
    {"mpmd-lower-to-fragment-calls",
     "Makes functions of fragments, one of those that are alike, and calls of them.",
     pass_mpmd_lower_fragments, .options = lower_options},
    {"mpmd-mark-aliasing-and-donation",
     "Marks arguments of fragments whose memory a result may take.", pass_mpmd_mark_aliasing,
     .scope = PASS_ON_FUNCS},
    {"mpmd-mark-fragment-reserved-memory",
     "Marks fragments with the memory that others have while they run.", pass_mpmd_mark_memory,
     .scope = PASS_ON_FUNCS},
    {"mpmd-mark-input-output-with-layouts",
     "Gives fragments the layouts of the function's arguments and results.", pass_mpmd_mark_layouts,
     .scope = PASS_ON_FUNCS},
    {"mpmd-mark-offloaded-input-output",
     "Marks arguments and results of fragments that are in the memory of the host.",
     pass_mpmd_mark_offloaded, .scope = PASS_ON_FUNCS},
    {"mpmd-delay-inferred-fragments",
     "Moves inferred fragments in front of the first that uses them.", pass_mpmd_delay_inferred,
     .scope = PASS_ON_FUNCS},
    {"mpmd-delay-transfers-from-cpu",
     "Moves transfers from the host in front of the first that uses them.",
     pass_mpmd_delay_from_cpu, .scope = PASS_ON_FUNCS},
    {"mpmd-sink-create-token-into-fragments",
     "Has each fragment make its own tokens, and take and give none.", pass_mpmd_sink_tokens,
     .scope = PASS_ON_FUNCS},
    {"mpmd-validate-no-reshards", "Looks for fragments that only reshard.", pass_mpmd_no_reshards,
     .options = reshards_options, .scope = PASS_ON_FUNCS},
    {"mpmd-validate-no-backward-deps",
     "Looks for values of later meshes on earlier ones, in programs without gradients.",
     pass_mpmd_no_backward_deps, .options = backward_options, .scope = PASS_ON_FUNCS},
    {"mpmd-validate-no-inferred-fragments", "Looks for fragments that nobody named.",
     pass_mpmd_no_inferred_fragments, .options = inferred_options, .scope = PASS_ON_FUNCS},
    {"mpmd-validate-no-param-transfers", "Looks for parameters that go from one mesh to another.",
     pass_mpmd_no_param_transfers, .options = param_options, .scope = PASS_ON_FUNCS},
    {"mpmd-export-pipeline", "From fragments to calls of functions that a runtime compiles.",
     pipeline_mpmd_export, .options = pipeline_options, .of_passes = true},
    {0},
};
