/* mpmd-export-pipeline: from fragments, whatever made them, to calls of functions that a runtime
 * may compile. The order is Shardy's (openxla/shardy, export_pipeline.cc). */
#include "mpmd/export/passes.h"
#include "mpmd/util.h"

typedef struct line {
  ir_module *m;
  const pass_args *given;
  bool ok;
} line;

/* Runs one pass, perhaps with an option or two; nothing once one failed. */
static void step_with(line *l, const char *name, const pass_option *list, size_t n) {
  if (!l->ok) return;
  const pass_info *p = pass_find(l->given->tables, str_of(name));
  pass_args args = {.options = list, .num_options = n, .tables = l->given->tables};
  l->ok = p ? pass_run(l->m, p, &args)
            : loc_error(l->m->ctx, l->m->root->loc, "there is no pass '%s'", name);
}
static void step(line *l, const char *name) { step_with(l, name, NULL, 0); }

static bool wants(const line *l, const char *name, bool otherwise) {
  return pass_option_flag(l->given, str_of(name), otherwise);
}

/* With the pipeline's own flag of the pass's name. */
static void step_flag(line *l, const char *name, const char *flag, bool otherwise) {
  str on = wants(l, flag, otherwise) ? STR("true") : STR("false");
  step_with(l, name, &(pass_option){str_of(flag), on}, 1);
}

/* Fragments become what they will be. */
static void tidy(line *l) {
  const pass_option keep = {STR("region-simplify"), STR("disabled")};
  step(l, "cse");
  if (wants(l, "copy-constants", false)) step(l, "mpmd-copy-constants");
  step_with(l, "canonicalize", &keep, 1);
  step(l, "mpmd-fragment-dedup");
  if (wants(l, "merge-transfers", false)) {
    step(l, "mpmd-merge-transfers");
    step(l, "mpmd-fragment-dedup");
    step(l, "cse");
  }
  step(l, "mpmd-fragment-dce");
  /* makes fragments that canonicalize would take away again */
  step(l, "mpmd-uniquify-function-inputs-outputs");
  step(l, "mpmd-merge-inferred-fragments");
}

/* What the runtime must know of them. */
static void mark(line *l) {
  step(l, "mpmd-mark-offloaded-input-output");
  step(l, "mpmd-mark-input-output-with-layouts");
  step(l, "mpmd-delay-inferred-fragments");
  step(l, "mpmd-delay-transfers-from-cpu");
  step(l, "mpmd-sink-create-token-into-fragments");
  step(l, "mpmd-mark-aliasing-and-donation");
  step(l, "mpmd-mark-fragment-reserved-memory");
}

static void check_transfers(line *l) {
  str fails = wants(l, "fail-on-param-transfers", false) ? STR("true") : STR("false");
  str pattern = pass_option_get(l->given, STR("param-transfer-pattern"), STR(MPMD_PARAM_PATTERN));
  const pass_option o[] = {{STR("fail-on-param-transfers"), fails},
                           {STR("param-pattern"), pattern}};
  step_with(l, "mpmd-validate-no-param-transfers", o, COUNT(o));
}

bool pipeline_mpmd_export(ir_module *m, arena *scratch, const pass_args *args) {
  line l = {m, args, true};
  (void)scratch;
  tidy(&l);
  mark(&l);
  check_transfers(&l);
  step_flag(&l, "mpmd-validate-no-inferred-fragments", "fail-on-inferred-fragments", true);
  step_flag(&l, "mpmd-lower-to-fragment-calls", "verbose-logging", false);
  step_flag(&l, "mpmd-validate-no-reshards", "fail-on-reshard-only-fragments", false);
  step_flag(&l, "mpmd-validate-no-backward-deps", "fail-on-backward-deps", false);
  return l.ok;
}
