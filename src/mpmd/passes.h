/* Inside mpmd only: the functions of the rows of mpmd_passes. */
#ifndef MPMD_PASSES_H
#define MPMD_PASSES_H

#include "mpmd/mpmd.h"

pass_fn pass_mpmd_copy_topology;

#endif
