/* The rows of mpmd's passes: common. */
#include "mpmd/common/passes.h"

const pass_info mpmd_common_passes[] = {
    {0},
};
