/* Inside mpmd only: the functions of the rows of mpmd_export_passes. */
#ifndef MPMD_EXPORT_PASSES_H
#define MPMD_EXPORT_PASSES_H

#include "mpmd/mpmd.h"

/* In names of values that are parameters, as JAX calls them. */
#define MPMD_PARAM_PATTERN "params['transformer"

pass_fn pass_mpmd_lower_fragments, pass_mpmd_mark_aliasing, pass_mpmd_mark_memory,
    pass_mpmd_mark_layouts, pass_mpmd_mark_offloaded, pass_mpmd_delay_inferred,
    pass_mpmd_delay_from_cpu, pass_mpmd_sink_tokens, pass_mpmd_no_backward_deps,
    pass_mpmd_no_param_transfers, pass_mpmd_no_reshards, pass_mpmd_no_inferred_fragments,
    pipeline_mpmd_export;

#endif
