/* mpmd-import-pipeline: from a program with names to fragments on meshes. The order is Shardy's
 * (mpmd/transforms/import/import_pipeline.cc); what only its C++ interface can ask for are options
 * here. */
#include "mpmd/import/passes.h"
#include "mpmd/steps.h"

static bool flag(const steps *s, const char *name) {
  return pass_option_flag(s->args, str_of(name), false);
}

/* Calls and loops are taken apart, constants go where they are used, and all is simplified: names
 * are on top then. */
static void prepare(steps *s) {
  step(s, "chlo-legalize-to-stablehlo");
  step(s, "inline");
  step(s, "cse");
  step(s, "canonicalize");
  step(s, "mpmd-copy-topology-from-main");
  if (flag(s, "enable-heterogeneous-meshes")) step(s, "mpmd-generate-sdy-meshes-from-topology");
  step(s, "mpmd-unroll-for-loops");
  step(s, "canonicalize");
  step(s, "stablehlo-target-independent-optimization");
  step(s, "mpmd-from-unroll-to-call-counter");
  step(s, "mpmd-sink-negligible-ops-into-call-op");
  step(s, "mpmd-insert-nameless-clone-of-negligible-ops");
  step(s, "mpmd-simplify-named-computations");
}

/* What has a mesh by the user's word. */
static void map(steps *s) {
  pass_option borders[] = {
      {STR("input-assignment"), pass_option_get(s->args, STR("input-assignment"), STR(""))},
      {STR("output-assignment"), pass_option_get(s->args, STR("output-assignment"), STR(""))}};
  step_with(s, "mpmd-map-input-output-to-mesh", borders, COUNT(borders));
  step_given(s, "mpmd-inline-nested-user-exposed-ops", "name-to-mesh-assignment", "assignment");
  step(s, "mpmd-validate-named-ops-in-mpmd-func");
  step_given(s, "mpmd-map-named-ops-to-mpmd-ops", "name-to-mesh-assignment", "assignment");
  step(s, "mpmd-introduce-transfers");
  step(s, "mpmd-erase-unused-callee-block-arguments");
}

/* What has not gets one. */
static void infer(steps *s) {
  static const char *const names[] = {"constraints", "infer-transfers",
                                      "infer-cross-mesh-reductions", "error-limit", "max-clones"};
  pass_option given[COUNT(names)];
  size_t n = 0;
  for (size_t i = 0; i < COUNT(names); i++)
    for (size_t k = 0; k < s->args->num_options; k++)
      if (str_is(s->args->options[k].name, names[i])) {
        given[n++] = s->args->options[k];
        break;
      }
  step_with(s, "mpmd-infer-mesh-pipeline", given, n);
}

/* Inferred fragments go into those that the user named. */
static void merge_inferred(steps *s) {
  step_flag(s, "mpmd-absorb-inferred-fragments", "absorb-on-entry-point-function",
            flag(s, "absorb-inferred-fragments-on-entry-point-function"));
  step_flag(s, "mpmd-merge-inferred-fragments", "merge-any-consumer", true);
  step_flag(s, "mpmd-merge-inferred-fragments", "merge-sideways", true);
}

/* Fragments become what schedules move. */
static void make_units(steps *s) {
  static const pass_option keep = {STR("region-simplify"), STR("disabled")};
  step(s, "mpmd-move-transfers-to-producer");
  step(s, "mpmd-merge-user-fragments-into-scheduling-units");
  if (flag(s, "verify-schedule-units")) step(s, "mpmd-scheduling-units-verifier");
  if (!flag(s, "split-bwd-fragments")) return;
  step(s, "mpmd-split-bwd-fragments");
  step_with(s, "canonicalize", &keep, 1);
  step(s, "mpmd-fragment-dce");
}

bool pipeline_mpmd_import(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch;
  steps s = {m, args, true};
  bool merges = !flag(&s, "merge-after-scheduling");
  prepare(&s);
  map(&s);
  infer(&s);
  if (merges) merge_inferred(&s);
  step_given(&s, "mpmd-enforce-input-output-equisharding", "constraints", "constraints");
  step(&s, "mpmd-fragment-dedup");
  step(&s, "mpmd-fragment-dce");
  step(&s, "mpmd-remove-transfer-cycles");
  step(&s, "mpmd-call-inline");
  step(&s, "symbol-dce");
  if (merges) step(&s, "mpmd-merge-inferred-fragments");
  make_units(&s);
  return s.ok;
}
