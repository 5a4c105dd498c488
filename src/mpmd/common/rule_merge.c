/* Fragments merged as the user's rules say: all that a rule lists, on one mesh. */
#include "base/index.h"
#include "mpmd/common/passes.h"
#include "mpmd/merge.h"
#include "mpmd/order.h"
#include "mpmd/rules.h"

typedef struct source {
  const fragment_info *info;
  const fragment_rule *rule;
} source;

typedef struct rule_merger {
  ir_module *m;
  arena *a;
  hash_index sources; /* of rules, by their infos */
  bool failed;
} rule_merger;

static const fragment_rule *rule_of(const rule_merger *g, const fragment_info *i) {
  const source *s;
  for (size_t at = 0; (s = index_next(&g->sources, fragment_info_hash(i), &at));)
    if (fragment_info_eq(s->info, i)) return s->rule;
  return NULL;
}

static const fragment_rule *rule_for(const rule_merger *g, const op *o) {
  arena *a = ir_scratch_push(g->m->ctx);
  fragment_info i = fragment_info_of(a, o);
  const fragment_rule *r = rule_of(g, &i);
  ir_scratch_pop(g->m->ctx);
  return r;
}

static bool is_taken(const rule_merger *g, const fragment_info *i) {
  buf b;
  buf_init(&b, ir_mem(g->m->ctx));
  fragment_info_print(&b, i);
  loc_error(g->m->ctx, NULL, "Fragment " STR_FMT " is already part of another merge rule.",
            STR_ARG(buf_view(&b)));
  buf_deinit(&b);
  return false;
}

static bool add_sources(rule_merger *g, const fragment_rules *rules) {
  for (size_t i = 0; i < rules->len; i++) {
    const fragment_rule *r = &rules->data[i];
    for (size_t k = 0; k < r->infos.len; k++) {
      const fragment_info *info = &r->infos.data[k];
      if (rule_of(g, info)) return is_taken(g, info);
      source *s = ARENA_NEW(g->a, source);
      *s = (source){info, r};
      index_add(&g->sources, g->a, fragment_info_hash(info), s);
    }
  }
  return true;
}

/* All others of the function under o's rule, then o. */
static op_list find_group(const rule_merger *g, op *o, const fragment_rule *rule) {
  op_list all = {0};
  for (op *i = op_body(mpmd_func(o), 0)->first; i; i = i->next)
    if (i != o && mpmd_is_fragment(i) && str_eq(fragment_mesh(i), fragment_mesh(o)) &&
        rule_for(g, i) == rule)
      VEC_PUSH(g->a, all, i);
  VEC_PUSH(g->a, all, o);
  return all;
}

/* Behind the first of them. What stands between may then stand wrong: the block is sorted at the
 * end. */
static bool merge_by_rule(rewriter *r, op *o) {
  rule_merger *g = rewriter_user(r);
  const fragment_rule *rule = g->failed ? NULL : rule_for(g, o);
  if (!rule) return false;
  op_list all = find_group(g, o, rule);
  if (all.len < 2 || !ops_sort(g->a, all.data, all.len)) return false;
  op *merged = all.data[0], *to = merged->next;
  for (size_t i = 1; i < all.len; i++) {
    while (to == all.data[i] || to == merged) to = to->next;
    merged = fragments_merge(g->m, r, merged, all.data[i]);
    if (!merged) return g->failed = true, false;
  }
  fragment_set_info(g->m, merged, &rule->target);
  if (to != merged) {
    op_unlink(merged);
    op_insert(merged, to->parent, to);
  }
  rewrite_inserted(r, merged);
  return true;
}

static const rewrite_pattern patterns[] = {
    {OP_mpmd_fragment, 1, merge_by_rule, "mpmd-rule-based-merge", NULL},
    {0},
};

static bool merge_in(rule_merger *g, op *f, bool drop_control) {
  const rewrite_pattern *const set = patterns;
  rewrite_config c = {.sets = &set, .num_sets = 1, REWRITE_DEFAULTS};
  bool converged;
  c.user = g;
  c.bottom_up = c.keep_regions = c.only_patterns = true;
  rewrite_greedily(g->m, g->a, f, &c, &converged);
  if (g->failed) return false;
  if (!converged) return op_error(g->m->ctx, f, "fragments are still to be merged");
  if (!block_sort(g->a, op_body(f, 0)))
    return loc_error(g->m->ctx, f->loc,
                     "Cycle detected in the program, not all fragments could be properly merged.");
  return !drop_control || fragments_drop_control(g->m, g->a, f);
}

bool pass_mpmd_rule_merge(ir_module *m, arena *scratch, const pass_args *args) {
  rule_merger g = {.m = m, .a = scratch};
  fragment_rules rules;
  op_list functions = {0};
  bool drop_control = pass_option_flag(args, STR("remove-control-dependencies"), true);
  str text = pass_option_get(args, STR("rules"), STR(""));
  if (!merge_rules_read(m->ctx, scratch, "rules", text, &rules) || !add_sources(&g, &rules))
    return false;
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    if (!merge_in(&g, functions.data[i], drop_control)) return false;
  return true;
}
