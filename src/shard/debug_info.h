/* Inside shard only: what debug-sharding-origins and debug-propagation-edge-sharding leave on the
 * module, under Shardy's names. Source: openxla/shardy docs (debugging options). */
#ifndef SHARD_DEBUG_INFO_H
#define SHARD_DEBUG_INFO_H

#include "pass/pass.h"
#include "shard/trace.h"

typedef struct debug_info debug_info;

/* NULL: neither the pass's options nor args->tables->traced ask. Notes what is sharded before the
 * pass. */
debug_info *debug_info_begin(ir_module *m, arena *a, const pass_args *args);
shard_trace *debug_info_trace(debug_info *d); /* NULL of NULL */
/* Writes the attributes, tells the trace. `d` may be NULL. */
void debug_info_end(debug_info *d);

/* sdy-sink-data-flow-edges: what the edges on one side of `o` say goes to `o`. Before its
 * shardings are set. */
void debug_info_sink(ir_module *m, op *o, bool args, bool origins, bool edges);

pass_fn pass_remove_debug_info; /* sdy-remove-propagation-debug-info */

#endif
