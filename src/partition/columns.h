/* Inside partition only: sorts along a dimension that is cut. */
#ifndef PARTITION_COLUMNS_H
#define PARTITION_COLUMNS_H

#include "partition/env.h"

/* The sort becomes sorts of shards and what they exchange, where that costs less than to gather
 * them; or shards are sorted first, so that merging is left. */
void part_sort_in_parts(const part_env *e, op *o);

#endif
