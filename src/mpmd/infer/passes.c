/* The rows of mpmd's passes: infer. */
#include "mpmd/infer/passes.h"

const pass_info mpmd_infer_passes[] = {
    {"mpmd-infer-mesh-populate-use-set",
     "Notes for each value the meshes that it is assigned to later on.", pass_infer_use_sets, NULL},
    {"mpmd-infer-mesh-populate-src-set",
     "Notes for each value the meshes that it could be on without another transfer.",
     pass_infer_src_sets, NULL},
    {0},
};
