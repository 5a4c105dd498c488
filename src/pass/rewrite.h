/* Greedy rewriting: patterns and folds applied until none applies.
 *
 * The visible result is MLIR's, so the order is MLIR's: its greedy pattern rewrite driver
 * (GreedyPatternRewriteDriver.cpp) with top-down traversal. An iteration moves constants to the
 * front of the region that is isolated from above and merges equal ones, then pops ops off a stack
 * with membership, first op on top: a dead op is erased, an op that folds is replaced, else the
 * first pattern that matches wins; what nothing needs then goes from all regions. Iterations go on
 * while something changed, at most ten.
 *
 * A pattern changes the program through the functions here only, so that the driver hears of it.
 * op.num is the driver's while it runs. */
#ifndef PASS_REWRITE_H
#define PASS_REWRITE_H

#include "ir/op.h"

typedef struct rewriter rewriter;

/* true: the program changed, or the op was replaced or erased. */
typedef bool rewrite_fn(rewriter *r, op *o);

/* A row: ops of kind `op` may be rewritten by fn. Higher benefits are tried first, equal ones in
 * the order of the rows. */
typedef struct rewrite_pattern {
  op_id op;
  int benefit; /* as a rule the number of ops that the pattern looks at */
  rewrite_fn *fn;
  const char *name, *label; /* by either of them patterns are switched on and off */
} rewrite_pattern;

typedef struct rewrite_config {
  const rewrite_pattern *const *sets; /* each ends with a NULL fn */
  size_t num_sets;
  str enabled, disabled; /* names or labels, with commas between; empty enabled: all */
  str dialects;          /* of the only ops whose patterns count, likewise; empty: all */
  bool bottom_up, keep_regions;
  bool only_patterns;               /* nothing is folded, and constants stay */
  bool no_folds;                    /* nothing is folded */
  bool cse;                         /* behind each iteration */
  i64 max_iterations, max_rewrites; /* of patterns, in one iteration; -1: no limit */
  void *user;                       /* for patterns that know more than the op */
} rewrite_config;
#define REWRITE_DEFAULTS .max_iterations = 10, .max_rewrites = -1

/* Rewrites everything inside `root`, region by region. *converged (may be NULL) says whether it
 * came to an end. Memory that is used once is of `scratch`. */
void rewrite_greedily(ir_module *m, arena *scratch, op *root, const rewrite_config *config,
                      bool *converged);

/* ---- for patterns ---- */

ir_module *rewriter_module(const rewriter *r);
arena *rewriter_scratch(const rewriter *r);
void *rewriter_user(const rewriter *r);
op *rewriter_symbol(rewriter *r, const attr *ref); /* of the module; cheap; NULL: none */
/* A new op before `before`, of the row `id`, without attributes yet. */
op *rewrite_create(rewriter *r, op *before, op_id id, const attr *loc, value *const *operands,
                   size_t num_operands, const type *const *results, size_t num_results);
void rewrite_inserted(rewriter *r, op *o); /* after op_insert of an op made otherwise */
void rewrite_modified(rewriter *r, op *o); /* after operands or attributes changed */
void rewrite_replace_value(rewriter *r, value *from, value *to);
void rewrite_replace(rewriter *r, op *o, value *const *with); /* all results, then erases it */
void rewrite_erase(rewriter *r, op *o);
/* Is a before b, in one block? Cheap, also in a block of many ops. */
bool rewrite_is_before(rewriter *r, const op *a, const op *b);
/* The constant that defines v, of whatever dialect; NULL: something else does. */
const attr *value_constant(const value *v);

/* ---- equality of attributes, also where a large constant has no unique handle ---- */

bool attr_same(const attr *a, const attr *b);
u64 attr_hash(const attr *a);
/* Of regions that see nothing of what is around: the same ops on the same values in the same order,
 * wherever they come from (cse.c). */
bool region_same(arena *a, const region *x, const region *y);
u64 region_hash(const region *g);

/* ---- folds (fold.c) ---- */

/* Operands may be exchanged, as MLIR's trait says; HLO's own commutativity is not that. */
bool op_commutes(const op *o);

/* A value or, where that is NULL, an attribute to make a constant of. */
typedef struct fold_result {
  value *value;
  const attr *attr;
} fold_result;
typedef enum fold_kind { FOLD_NOT, FOLD_IN_PLACE, FOLD_REPLACED } fold_kind;
/* out[o->num_results] */
fold_kind op_fold(ir_ctx *c, op *o, fold_result *out);
/* Patterns of stablehlo's canonicalizer. */
extern const rewrite_pattern rewrite_stablehlo[];

#endif
