/* Inside mpmd only: the functions of the rows of mpmd_optimize_passes. */
#ifndef MPMD_OPTIMIZE_PASSES_H
#define MPMD_OPTIMIZE_PASSES_H

#include "mpmd/mpmd.h"

pass_fn pass_mpmd_pipeline_scheduler, pass_mpmd_remat_fragment, pass_mpmd_rule_based_schedule,
    pass_mpmd_optimize_pipeline;

#endif
