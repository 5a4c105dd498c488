/* The rows of mpmd's passes: calls. */
#include "mpmd/calls/passes.h"

static const pass_option_info uniquify_options[] = {
    {"use-transfer-instead-of-fragment", PASS_FLAG, "false",
     "Copy with transfers, one a result, not with a fragment a mesh"},
    {0},
};

const pass_info mpmd_calls_passes[] = {
    {"mpmd-call-inline", "Replaces each mpmd.call by the body of its function.",
     pass_mpmd_call_inline, NULL},
    {"mpmd-sink-negligible-ops-into-call-op",
     "Makes in the function what all its calls give it and has no operands.",
     pass_mpmd_sink_negligible, NULL},
    {"mpmd-from-unroll-to-call-counter", "Makes call_counter of calls of their unroll_counter.",
     pass_mpmd_unroll_to_call, .scope = PASS_ON_FUNCS},
    {"mpmd-erase-unused-callee-block-arguments",
     "Erases arguments of called functions that these only return, or do not use.",
     pass_mpmd_erase_unused, NULL},
    {"mpmd-unroll-for-loops", "Writes out all iterations of mpmd.for.", pass_mpmd_unroll,
     .scope = PASS_ON_FUNCS},
    {"mpmd-uniquify-function-inputs-outputs",
     "Copies what is returned twice, and arguments that are returned.", pass_mpmd_uniquify, NULL,
     uniquify_options, PASS_ON_FUNCS},
    {0},
};
