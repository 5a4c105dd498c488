/* mpmd-sharding-propagation-pipeline, and the clean-up at its end. The order is Shardy's
 * (mpmd/transforms/sharding_propagation/sharding_propagation_pipeline.cc). */
#include "mpmd/propagation/passes.h"
#include "mpmd/simplify.h"
#include "mpmd/steps.h"

/* ---- mpmd-simplify-program ---- */

static bool simplify_fragment(rewriter *r, op *o) { return region_op_simplify(r, o, true); }

static const rewrite_pattern fragments[] = {
    {OP_mpmd_fragment, 1, simplify_fragment, "mpmd-simplify-fragment", "mpmd"},
    {0},
};

bool pass_mpmd_simplify_program(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  const rewrite_pattern *sets[] = {fragments};
  rewrite_config config = {.sets = sets, .num_sets = 1, .bottom_up = true, REWRITE_DEFAULTS};
  FOR_OPS(o, op_body(m->root, 0))
  if (op_is(o, func)) rewrite_greedily(m, scratch, o, &config, NULL);
  return true;
}

/* ---- the pipeline ---- */

bool pipeline_mpmd_propagation(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch;
  steps s = {m, args, true};
  /* what is returned twice may have a sharding each time */
  step_flag(&s, "mpmd-uniquify-function-inputs-outputs", "use-transfer-instead-of-fragment", true);
  step_flag(&s, "sdy-propagation-pipeline", "avoid-export-for-partitioning", true);
  step(&s, "mpmd-populate-unreduced-out-sharding");
  step(&s, "mpmd-enforce-user-shardings");
  step(&s, "mpmd-extract-reshards-from-inter-mesh-transfers");
  step(&s, "mpmd-convert-sdy-shardings-to-mpmd-types");
  step(&s, "mpmd-convert-sdy-constants");
  /* fewer tensors go from fragment to fragment */
  step(&s, "stablehlo-target-independent-optimization");
  step(&s, "mpmd-simplify-program");
  return s.ok;
}
