/* Inside mpmd only: the functions of the rows of mpmd_calls_passes. */
#ifndef MPMD_CALLS_PASSES_H
#define MPMD_CALLS_PASSES_H

#include "mpmd/mpmd.h"

#endif
