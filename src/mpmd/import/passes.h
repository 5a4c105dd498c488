/* Inside mpmd only: the functions of the rows of mpmd_import_passes. */
#ifndef MPMD_IMPORT_PASSES_H
#define MPMD_IMPORT_PASSES_H

#include "mpmd/mpmd.h"

pass_fn pass_mpmd_copy_topology, pass_mpmd_enforce_equisharding, pass_mpmd_map_named,
    pass_mpmd_map_input_output, pass_mpmd_inline_nested, pass_mpmd_introduce_transfers,
    pass_mpmd_clone_negligible, pass_mpmd_simplify_named, pass_mpmd_validate_named,
    pass_mpmd_generate_meshes, pipeline_mpmd_import;

#endif
