/* Inside pass only: the functions of the rows of pass_generic, and what they share. */
#ifndef PASS_PASSES_H
#define PASS_PASSES_H

#include "pass/pass.h"
#include "pass/rewrite.h"

pass_fn pass_canonicalize, pass_cse, pass_inline, pass_inline_all, pass_symbol_dce,
    pass_strip_debuginfo;
pass_fn pass_chlo_legalize, pass_legalize_deprecated, pass_composite_to_call, pass_complex_math,
    pass_simplify, pass_optimize;

/* Applies one set of patterns to args->root or, without it, to each function. */
void rewrite_functions(ir_module *m, arena *scratch, const pass_args *args,
                       const rewrite_pattern *set);
/* Calls fn with each symbol that the op's attributes refer to, at any depth. */
typedef void ref_fn(void *user, const symbol_ref_attr *ref);
void each_symbol_ref(const op *o, ref_fn *fn, void *user);
/* true: an op went. */
bool cse_region(arena *scratch, const region *g);
/* Erases blocks that cannot be reached, at any depth; true: there were some. */
bool regions_drop_unreached(rewriter *r, region *g);
/* Erases ops that no effect, terminator or symbol needs, and arguments of blocks but the first that
 * nothing uses, at any depth; op.num is 0 before and after. true: there were some. */
bool regions_erase_unneeded(arena *scratch, region *g);
/* A symbol that is public (also where it does not say), nested or private. */
bool symbol_is(const op *o, const char *visibility);
/* Can nothing outside of the symbol table name what is in it? */
bool symbols_are_hidden(const op *table);

#endif
