/* Inside export only: what local_rows.c and local_indices.c share. */
#ifndef PARTITION_EXPORT_LOCAL_ROWS_H
#define PARTITION_EXPORT_LOCAL_ROWS_H

#include "partition/local.h"

local_fn export_gather, export_scatter; /* local_indices.c */

/* Parts of the op's result along these axes are summed up next, and by nothing else; if not, that
 * is reported. */
bool export_check_summed(local *l, op *o, axis_list axes);

#endif
