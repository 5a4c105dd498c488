/* The rows of mpmd's passes: infer. */
#include "mpmd/infer/passes.h"

const pass_info mpmd_infer_passes[] = {
    {0},
};
