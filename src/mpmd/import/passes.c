/* The rows of mpmd's passes: import. */
#include "mpmd/import/passes.h"

const pass_info mpmd_import_passes[] = {
    {"mpmd-copy-topology-from-main", "Gives functions that mpmd.call names the topology of @main.",
     pass_mpmd_copy_topology, NULL},
    {0},
};
