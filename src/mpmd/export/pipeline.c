/* mpmd-export-pipeline: from fragments, whatever made them, to calls of functions that a runtime
 * may compile. The order is Shardy's (openxla/shardy, export_pipeline.cc). */
#include "mpmd/export/passes.h"
#include "mpmd/steps.h"
#include "mpmd/util.h"

static bool wants(const steps *s, const char *name, bool otherwise) {
  return pass_option_flag(s->args, str_of(name), otherwise);
}

/* With the pipeline's own flag of the pass's name. */
static void step_own(steps *s, const char *name, const char *flag, bool otherwise) {
  step_flag(s, name, flag, wants(s, flag, otherwise));
}

/* Fragments become what they will be. */
static void tidy(steps *s) {
  const pass_option keep = {STR("region-simplify"), STR("disabled")};
  step(s, "cse");
  if (wants(s, "copy-constants", false)) step(s, "mpmd-copy-constants");
  step_with(s, "canonicalize", &keep, 1);
  step(s, "mpmd-fragment-dedup");
  if (wants(s, "merge-transfers", false)) {
    step(s, "mpmd-merge-transfers");
    step(s, "mpmd-fragment-dedup");
    step(s, "cse");
  }
  step(s, "mpmd-fragment-dce");
  /* makes fragments that canonicalize would take away again */
  step(s, "mpmd-uniquify-function-inputs-outputs");
  step(s, "mpmd-merge-inferred-fragments");
}

/* What the runtime must know of them. */
static void mark(steps *s) {
  step(s, "mpmd-mark-offloaded-input-output");
  step(s, "mpmd-mark-input-output-with-layouts");
  step(s, "mpmd-delay-inferred-fragments");
  step(s, "mpmd-delay-transfers-from-cpu");
  step(s, "mpmd-sink-create-token-into-fragments");
  step(s, "mpmd-mark-aliasing-and-donation");
  step(s, "mpmd-mark-fragment-reserved-memory");
}

static void check_transfers(steps *s) {
  str fails = wants(s, "fail-on-param-transfers", false) ? STR("true") : STR("false");
  str pattern = pass_option_get(s->args, STR("param-transfer-pattern"), STR(MPMD_PARAM_PATTERN));
  const pass_option o[] = {{STR("fail-on-param-transfers"), fails},
                           {STR("param-pattern"), pattern}};
  step_with(s, "mpmd-validate-no-param-transfers", o, COUNT(o));
}

bool pipeline_mpmd_export(ir_module *m, arena *scratch, const pass_args *args) {
  steps s = {m, args, true};
  (void)scratch;
  tidy(&s);
  mark(&s);
  check_transfers(&s);
  step_own(&s, "mpmd-validate-no-inferred-fragments", "fail-on-inferred-fragments", true);
  step_own(&s, "mpmd-lower-to-fragment-calls", "verbose-logging", false);
  step_own(&s, "mpmd-validate-no-reshards", "fail-on-reshard-only-fragments", false);
  step_own(&s, "mpmd-validate-no-backward-deps", "fail-on-backward-deps", false);
  return s.ok;
}
