/* mpmd-optimize-pipeline: fragments in an order, and merged. The steps are Shardy's
 * (openxla/shardy, shardy/dialect/mpmd/transforms/optimize/optimize_pipeline.cc); what only its C++
 * interface can ask for are options here. */
#include "mpmd/optimize/passes.h"

typedef struct line {
  ir_module *m;
  const pass_args *given;
  const pass_tables *tables;
  bool ok;
} line;

static void step_with(line *l, const char *name, const pass_option *list, size_t n) {
  if (!l->ok) return;
  const pass_info *p = pass_find(l->tables, str_of(name));
  pass_args args = {.options = list, .num_options = n, .tables = l->tables};
  l->ok = p ? pass_run(l->m, p, &args)
            : loc_error(l->m->ctx, l->m->root->loc, "there is no pass '%s'", name);
}
static void step(line *l, const char *name) { step_with(l, name, NULL, 0); }
static void step_flag(line *l, const char *name, const char *flag, bool on) {
  step_with(l, name, &(pass_option){str_of(flag), on ? STR("true") : STR("false")}, 1);
}

static str text(const line *l, const char *name) {
  return pass_option_get(l->given, str_of(name), STR(""));
}
static bool flag(const line *l, const char *name) {
  return pass_option_flag(l->given, str_of(name), false);
}

/* Rules about merges name fragments by origins, which other merges change, so these come first.
 * What keeps the order stays until they are done, and fragments are not valid so long. */
static void order_and_merge(line *l) {
  static const pass_option keep = {STR("remove-control-dependencies"), STR("false")};
  str order = text(l, "fragment-schedule-rules"), merge = text(l, "fragment-merge-rules");
  const pass_tables *tables = l->tables;
  pass_tables unverified = *tables;
  unverified.verify_each = false;
  if (merge.len) l->tables = &unverified;
  pass_option options[] = {{STR("rules"), order}, keep};
  size_t n = merge.len ? 2 : 1;
  if (!order.len) {
    str schedule = pass_option_get(l->given, STR("pipeline-schedule"), STR("1F1B"));
    options[0] = (pass_option){STR("must-happen-before"), schedule};
  }
  step_with(l, order.len ? "mpmd-rule-based-schedule" : "mpmd-pipeline-scheduler", options, n);
  l->tables = tables;
  if (merge.len) step_with(l, "mpmd-rule-based-merge", &(pass_option){STR("rules"), merge}, 1);
}

bool pass_mpmd_optimize_pipeline(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch;
  line l = {m, args, args->tables, true};
  order_and_merge(&l);
  /* behind the order, which says nothing of fragments that run again */
  if (flag(&l, "apply-fragment-remat"))
    step_flag(&l, "mpmd-remat-fragment", "merge-remat-fragments",
              flag(&l, "merge-remat-fragments"));
  step(&l, "mpmd-verify-stage-merging");
  if (flag(&l, "merge-after-scheduling")) {
    step_flag(&l, "mpmd-absorb-inferred-fragments", "absorb-on-entry-point-function",
              flag(&l, "absorb-on-entry-point-function"));
    step_flag(&l, "mpmd-merge-inferred-fragments", "merge-any-consumer", true);
    step_flag(&l, "mpmd-merge-inferred-fragments", "merge-sideways", true);
  }
  if (flag(&l, "merge-forward-with-backward")) step(&l, "mpmd-merge-forward-with-backward");
  return l.ok;
}
