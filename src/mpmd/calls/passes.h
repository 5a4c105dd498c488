/* Inside mpmd only: the functions of the rows of mpmd_calls_passes. */
#ifndef MPMD_CALLS_PASSES_H
#define MPMD_CALLS_PASSES_H

#include "mpmd/mpmd.h"

pass_fn pass_mpmd_call_inline, pass_mpmd_erase_unused, pass_mpmd_sink_negligible,
    pass_mpmd_unroll_to_call, pass_mpmd_unroll, pass_mpmd_uniquify;

#endif
