/* The rows of mpmd's passes: calls. */
#include "mpmd/calls/passes.h"

const pass_info mpmd_calls_passes[] = {
    {0},
};
