/* The rows of mpmd's passes: export. */
#include "mpmd/export/passes.h"

const pass_info mpmd_export_passes[] = {
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
    {0},
};
