/* mpmd-optimize-pipeline: fragments in an order, and merged. The steps are Shardy's
 * (openxla/shardy, shardy/dialect/mpmd/transforms/optimize/optimize_pipeline.cc); what only its C++
 * interface can ask for are options here. */
#include "mpmd/optimize/passes.h"
#include "mpmd/steps.h"

static str text(const steps *s, const char *name) {
  return pass_option_get(s->args, str_of(name), STR(""));
}
static bool flag(const steps *s, const char *name) {
  return pass_option_flag(s->args, str_of(name), false);
}

/* Rules about merges name fragments by origins, which other merges change, so these come first.
 * What keeps the order stays until they are done, and fragments are not valid so long. */
static void order_and_merge(steps *s) {
  static const pass_option keep = {STR("remove-control-dependencies"), STR("false")};
  str order = text(s, "fragment-schedule-rules"), merge = text(s, "fragment-merge-rules");
  const pass_args *given = s->args;
  pass_tables tables = *given->tables;
  pass_args unverified = *given;
  tables.verify_each = false;
  unverified.tables = &tables;
  if (merge.len) s->args = &unverified;
  pass_option options[] = {{STR("rules"), order}, keep};
  size_t n = merge.len ? 2 : 1;
  if (!order.len) {
    str schedule = pass_option_get(s->args, STR("pipeline-schedule"), STR("1F1B"));
    options[0] = (pass_option){STR("must-happen-before"), schedule};
  }
  step_with(s, order.len ? "mpmd-rule-based-schedule" : "mpmd-pipeline-scheduler", options, n);
  s->args = given;
  if (merge.len) step_with(s, "mpmd-rule-based-merge", &(pass_option){STR("rules"), merge}, 1);
}

bool pass_mpmd_optimize_pipeline(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch;
  steps s = {m, args, true};
  order_and_merge(&s);
  /* behind the order, which says nothing of fragments that run again */
  if (flag(&s, "apply-fragment-remat"))
    step_flag(&s, "mpmd-remat-fragment", "merge-remat-fragments",
              flag(&s, "merge-remat-fragments"));
  step(&s, "mpmd-verify-stage-merging");
  if (flag(&s, "merge-after-scheduling")) {
    step_flag(&s, "mpmd-absorb-inferred-fragments", "absorb-on-entry-point-function",
              flag(&s, "absorb-on-entry-point-function"));
    step_flag(&s, "mpmd-merge-inferred-fragments", "merge-any-consumer", true);
    step_flag(&s, "mpmd-merge-inferred-fragments", "merge-sideways", true);
  }
  if (flag(&s, "merge-forward-with-backward")) step(&s, "mpmd-merge-forward-with-backward");
  return s.ok;
}
