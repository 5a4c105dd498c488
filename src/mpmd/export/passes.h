/* Inside mpmd only: the functions of the rows of mpmd_export_passes. */
#ifndef MPMD_EXPORT_PASSES_H
#define MPMD_EXPORT_PASSES_H

#include "mpmd/mpmd.h"

#endif
