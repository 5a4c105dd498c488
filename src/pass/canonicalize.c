/* canonicalize: the greedy rewriter with the patterns of all dialects; and with one set of them. */
#include "pass/passes.h"

bool pass_canonicalize(ir_module *m, arena *scratch, const pass_args *args) {
  const pass_tables *t = args->tables;
  size_t n = t ? t->num_patterns : 0;
  const rewrite_pattern **sets = ARENA_ARRAY(scratch, const rewrite_pattern *, n + 1);
  sets[0] = rewrite_stablehlo;
  for (size_t i = 0; i < n; i++) sets[i + 1] = t->patterns[i];
  rewrite_config c = {
      .sets = sets,
      .num_sets = n + 1,
      .enabled = pass_option_get(args, STR("enable-patterns"), STR("")),
      .disabled = pass_option_get(args, STR("disable-patterns"), STR("")),
      .dialects = pass_option_get(args, STR("filter-dialects"), STR("")),
      .bottom_up = !pass_option_flag(args, STR("top-down"), true),
      .keep_regions = str_is(pass_option_get(args, STR("region-simplify"), STR("")), "disabled"),
      .cse = pass_option_flag(args, STR("cse-between-iterations"), false),
      .max_iterations = pass_option_int(args, STR("max-iterations"), 10),
      .max_rewrites = pass_option_int(args, STR("max-num-rewrites"), -1),
  };
  bool converged;
  op *root = pass_root(m, args);
  rewrite_greedily(m, scratch, root, &c, &converged);
  if (converged || !pass_option_flag(args, STR("test-convergence"), false)) return true;
  return loc_error(m->ctx, root->loc, "canonicalize did not converge");
}

void rewrite_functions(ir_module *m, arena *scratch, const pass_args *args,
                       const rewrite_pattern *set) {
  rewrite_config c = {.sets = &set, .num_sets = 1, REWRITE_DEFAULTS};
  if (args->root) {
    rewrite_greedily(m, scratch, args->root, &c, NULL);
    return;
  }
  for (op *o = op_body(m->root, 0)->first; o; o = o->next)
    if (op_is(o, func)) rewrite_greedily(m, scratch, o, &c, NULL);
}
