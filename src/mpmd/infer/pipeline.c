/* mpmd-infer-mesh-pipeline: from named parts on meshes to every op on one. The order is Shardy's
 * (openxla/shardy, infer_mesh_assignment.cc). */
#include "mpmd/infer/passes.h"
#include "mpmd/steps.h"

/* Options of the pipeline's own; a step takes some of them. */
enum { OPT_TRANSFERS, OPT_REDUCTIONS, OPT_LIMIT, OPT_CLONES, OPT_CONSTRAINTS, OPT_COUNT };

static str flag_text(bool on) { return on ? STR("true") : STR("false"); }

bool pipeline_infer_mesh(ir_module *m, arena *scratch, const pass_args *args) {
  steps s = {m, args, true};
  bool transfers = pass_option_flag(args, STR("infer-transfers"), false);
  bool reductions = transfers || pass_option_flag(args, STR("infer-cross-mesh-reductions"), false);
  pass_option o[OPT_COUNT] = {
      {STR("infer-transfers"), flag_text(transfers)},
      {STR("infer-cross-mesh-reductions"), flag_text(reductions)},
      {STR("error-limit"), pass_option_get(args, STR("error-limit"), STR("5"))},
      {STR("max-clones"), pass_option_get(args, STR("max-clones"), STR("1"))},
      {STR("constraints"), pass_option_get(args, STR("constraints"), STR(""))},
  };
  const pass_option leaves[] = {o[OPT_TRANSFERS], o[OPT_LIMIT]};
  (void)scratch;
  step(&s, "mpmd-infer-mesh-populate-use-set");
  step(&s, "mpmd-infer-mesh-populate-src-set");
  if (o[OPT_CONSTRAINTS].value.len)
    step_with(&s, "mpmd-infer-mesh-assign-using-input-output-constraints", &o[OPT_CONSTRAINTS], 1);
  step_with(&s, "mpmd-infer-mesh-convert-reduce-ops", &o[OPT_REDUCTIONS], 1);
  if (!transfers) step_with(&s, "mpmd-infer-mesh-validate-src-set-not-empty", &o[OPT_LIMIT], 1);
  step_with(&s, "mpmd-infer-mesh-assign-mesh-func-leaves", leaves, COUNT(leaves));
  step(&s, "mpmd-infer-mesh-populate-use-set");
  if (!transfers)
    step_with(&s, "mpmd-infer-mesh-validate-no-additional-transfers-needed", &o[OPT_LIMIT], 1);
  step_with(&s, "mpmd-infer-mesh-rewrite-using-analysis", &o[OPT_CLONES], 1);
  step_with(&s, "mpmd-infer-mesh-finalize", &o[OPT_TRANSFERS], 1);
  return s.ok;
}
