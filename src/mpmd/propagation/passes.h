/* Inside mpmd only: the functions of the rows of mpmd_propagation_passes. */
#ifndef MPMD_PROPAGATION_PASSES_H
#define MPMD_PROPAGATION_PASSES_H

#include "mpmd/mpmd.h"

#endif
