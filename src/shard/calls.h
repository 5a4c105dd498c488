/* Functions and calls as the passes use them. */
#ifndef SHARD_CALLS_H
#define SHARD_CALLS_H

#include "shard/sharding_ir.h"

/* The function that is the program: the only one, or the one called main; NULL: none. */
op *module_main(ir_module *m);
/* The callee of a call; NULL: no such function. */
op *call_callee(ir_module *m, const op *call);

/* Functions in call-graph order, callers first or callees first; *out in the arena. False: calls
 * are recursive, which is reported. */
bool funcs_in_order(ir_module *m, arena *a, bool callers_first, op ***out, size_t *n);
/* Name of the function that this one was cloned from, or its own. */
const attr *func_original_name(const op *func);
/* Sets the callee of a call. */
void call_set_callee(ir_module *m, op *call, const op *func);

/* A copy of the function, in the module under a free name, with copies of all that it calls. */
op *func_clone_deep(ir_module *m, op *func, arena *scratch, u32 *counter);
/* Inserts an op with a symbol before `before` (NULL: at the end), under NAME_k if its own name is
 * taken, with k from the pass's counter, which goes on from one to the next. */
void module_insert_symbol(ir_module *m, op *o, op *before, u32 *counter);

/* Shardings of one side of a function, open ones where it has none, on the mesh of the first that
 * isn't maximal. False: there is none. */
bool func_all_shardings(shard_space *s, const op *func, func_side side, const attr **out);

#endif
