/* The rows of mpmd's passes: export. */
#include "mpmd/export/passes.h"

const pass_info mpmd_export_passes[] = {
    {0},
};
