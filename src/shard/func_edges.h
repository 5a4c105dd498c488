/* Edges across the borders of functions: what a func.func's argument, or a call's result, joins.
 *
 * sdy.func_data_flow_edge sits on each. On an argument its sources are that operand of every
 * call; on a call's result, what the callee returns. Source: openxla/shardy
 * docs/sdy_import_passes.md (sdy-add-func-data-flow-edges). */
#ifndef SHARD_FUNC_EDGES_H
#define SHARD_FUNC_EDGES_H

#include "shard/calls.h"

typedef VEC(op *) call_list;

typedef struct call_map {
  symbols symbols;
  hash_index of; /* func -> call_list */
} call_map;

/* The calls of each function. NULL: calls are recursive, which is reported. Sets op->num of
 * functions. */
call_map *call_map_build(ir_module *m, arena *a);
/* In the order in which Shardy sees them: by function, those in regions last. NULL: none. */
const call_list *call_map_callers(const call_map *c, const op *func);

/* Calls fn for each source of the edge op in order. */
void func_edge_sources(const call_map *c, op *edge, void (*fn)(void *user, use *source),
                       void *user);

#endif
