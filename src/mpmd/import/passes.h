/* Inside mpmd only: the functions of the rows of mpmd_import_passes. */
#ifndef MPMD_IMPORT_PASSES_H
#define MPMD_IMPORT_PASSES_H

#include "mpmd/mpmd.h"

pass_fn pass_mpmd_copy_topology;

#endif
