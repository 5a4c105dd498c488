/* The rows of mpmd's passes: optimize. */
#include "mpmd/optimize/passes.h"

const pass_info mpmd_optimize_passes[] = {
    {0},
};
