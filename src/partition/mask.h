/* Inside partition only: values of which the end of a dimension does not count. */
#ifndef PARTITION_MASK_H
#define PARTITION_MASK_H

#include "partition/env.h"

/* v where the index along each marked dimension (at least one is) is below its size, elsewhere the
 * scalar `fill`. As v is sharded. */
value *emit_masked(cursor *at, value *v, const i64 *sizes, const bool *dims, value *fill);

/* In front of all ops that would combine padding, while types are global. false: reported. */
bool mask_padding(ir_module *m, arena *scratch);

#endif
