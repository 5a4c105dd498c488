/* Inside mpmd only: the functions of the rows of mpmd_common_passes. */
#ifndef MPMD_COMMON_PASSES_H
#define MPMD_COMMON_PASSES_H

#include "mpmd/mpmd.h"

pass_fn pass_mpmd_merge_inferred, pass_mpmd_merge_forward_with_backward, pass_mpmd_merge_into_units;

#endif
