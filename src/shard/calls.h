/* Functions and calls as the passes use them. */
#ifndef SHARD_CALLS_H
#define SHARD_CALLS_H

#include "base/index.h"
#include "shard/sharding_ir.h"

/* The function that is the program: the only one, or the one called main; NULL: none. */
op *module_main(ir_module *m);

/* The symbols of a module by name, for one pass: ops that come or go otherwise are not noticed. */
typedef struct symbols {
  ir_module *m;
  arena *a;
  hash_index by_name;
  u32 counter; /* of new names, which goes on from one to the next */
} symbols;

void symbols_init(symbols *t, ir_module *m, arena *a);
op *symbols_find(const symbols *t, str name); /* NULL: none */
/* Inserts an op with a symbol before `before` (NULL: at the end), under NAME_k if its own name is
 * taken. */
void symbols_insert(symbols *t, op *o, op *before);

/* The callee of a call; NULL: no such function. */
op *call_callee(const symbols *t, const op *call);
enum { MAX_CALL_DEPTH = 1000 };
/* Functions in call-graph order, callers first or callees first; *out in the arena. False: calls
 * are recursive, which is reported. */
bool funcs_in_order(const symbols *t, bool callers_first, op ***out, size_t *n);
/* Name of the function that this one was cloned from, or its own. */
const attr *func_original_name(const op *func);
/* Sets the callee of a call. */
void call_set_callee(ir_module *m, op *call, const op *func);

/* A copy of the function, in the module under a free name, with copies of all that it calls. */
op *func_clone_deep(symbols *t, op *func);

/* Shardings of one side of a function, open ones where it has none, on the mesh of the first that
 * isn't maximal. False: there is none. */
bool func_all_shardings(shard_space *s, const op *func, func_side side, const attr **out);

#endif
