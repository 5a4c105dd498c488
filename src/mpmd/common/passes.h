/* Inside mpmd only: the functions of the rows of mpmd_common_passes. */
#ifndef MPMD_COMMON_PASSES_H
#define MPMD_COMMON_PASSES_H

#include "mpmd/mpmd.h"

#endif
