/* Inside mpmd only: the functions of the rows of mpmd_optimize_passes. */
#ifndef MPMD_OPTIMIZE_PASSES_H
#define MPMD_OPTIMIZE_PASSES_H

#include "mpmd/mpmd.h"

#endif
