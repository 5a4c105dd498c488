/* The rows of mpmd's passes: propagation. */
#include "mpmd/propagation/passes.h"

const pass_info mpmd_propagation_passes[] = {
    {0},
};
