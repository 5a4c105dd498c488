/* Inside mpmd only: the functions of the rows of mpmd_infer_passes. */
#ifndef MPMD_INFER_PASSES_H
#define MPMD_INFER_PASSES_H

#include "mpmd/mpmd.h"

pass_fn pass_infer_use_sets, pass_infer_src_sets, pass_infer_constraints, pass_infer_leaves,
    pass_infer_convert_reduces, pass_infer_validate_src, pass_infer_validate_uses,
    pass_infer_rewrite, pass_infer_finalize, pipeline_infer_mesh;

#endif
