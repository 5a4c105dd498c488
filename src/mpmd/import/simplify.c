/* mpmd-simplify-named-computations: named computations without operands and results that say
 * nothing. */
#include "mpmd/import/passes.h"
#include "mpmd/simplify.h"
#include "mpmd/util.h"

static bool is_passed_on(const op *o, u32 i) {
  const value *out = op_result(o, i);
  return op_operand(o, i)->is_arg && value_has_one_use(out) && op_is(out->uses->owner, mpmd_return);
}

/* A barrier has no effect on what a computation only passes on; JAX leaves such ones behind when it
 * computes again (jax.remat), with all that happened to be around. */
static bool simplify_barrier(rewriter *r, op *o) {
  const op *around = op_parent(o);
  arena *a = rewriter_scratch(r);
  value_list operands = {0};
  type_list types = {0};
  VEC(u32) kept = {0};
  if (!around || !op_is(around, mpmd_named_computation)) return false;
  for (u32 i = 0; i < o->num_operands; i++) {
    if (is_passed_on(o, i)) {
      rewrite_replace_value(r, op_result(o, i), op_operand(o, i));
      continue;
    }
    VEC_PUSH(a, operands, op_operand(o, i));
    VEC_PUSH(a, types, o->results[i].type);
    VEC_PUSH(a, kept, i);
  }
  if (kept.len == o->num_operands) return false;
  op *n = rewrite_create(r, o, OP_optimization_barrier, o->loc, operands.data, operands.len,
                         types.data, types.len);
  for (size_t k = 0; k < kept.len; k++)
    rewrite_replace_value(r, op_result(o, kept.data[k]), op_result(n, k));
  rewrite_erase(r, o);
  return true;
}

static bool simplify_computation(rewriter *r, op *o) { return region_op_simplify(r, o, false); }

static const rewrite_pattern barriers[] = {
    {OP_optimization_barrier, 1, simplify_barrier, "mpmd-simplify-barrier", "mpmd"},
    {0},
};
static const rewrite_pattern computations[] = {
    {OP_mpmd_named_computation, 1, simplify_computation, "mpmd-simplify-computation", "mpmd"},
    {0},
};

bool pass_mpmd_simplify_named(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_distributed(scratch, m, &functions);
  const rewrite_pattern *first[] = {barriers}, *second[] = {computations};
  rewrite_config config = {.sets = first,
                           .num_sets = 1,
                           .only_patterns = true,
                           .keep_regions = true,
                           .bottom_up = true,
                           REWRITE_DEFAULTS};
  for (size_t i = 0; i < functions.len; i++) {
    config.sets = first;
    config.keep_regions = true;
    rewrite_greedily(m, scratch, functions.data[i], &config, NULL);
    config.sets = second;
    config.keep_regions = false;
    rewrite_greedily(m, scratch, functions.data[i], &config, NULL);
  }
  return true;
}
