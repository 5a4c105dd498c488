/* Which function makes an op's rule: families share one, ops of their own have theirs. */
#include "shard/flow.h"
#include "shard/rule.h"
#include "shard/traits.h"

/* All results have the shape of the first; types that aren't tensors have no rule. */
static const rule *pointwise(rule_builder *b, const op *o) {
  if (!o->num_results || !type_is_tensor(o->results[0].type)) return NULL;
  i64s shape = rule_result_shape(b, 0);
  /* one factor a dimension of each tensor, whatever its rank */
  for (size_t d = 0; d < shape.len; d++) {
    for (u32 t = 0; t < b->num_operands + b->num_results; t++) {
      size_t rank = type_rank(b->types[t]);
      if (rank && rank != shape.len) return NULL;
    }
    rule_factor_dim(b, (i64)d, shape.data[d], FACTOR_PASS, false);
  }
  return rule_end(b);
}

/* chlo ops have none, as in Shardy */
#define R_ew(id) pointwise
#define R_cast(id) pointwise
#define R_bcast(id) pointwise
#define R_region(id) NULL
#define R_coll(id) rule_##id
#define R_term(id) NULL
#define R_own(id) rule_##id

#define rule_module NULL
#define rule_cast NULL
#define rule_func NULL
#define rule_call NULL
#define rule_sdy_mesh NULL
#define rule_sdy_constant NULL
#define rule_sharding_constraint pointwise
#define rule_reshard NULL
#define rule_sharding_group NULL
#define rule_data_flow_edge NULL
#define rule_propagation_barrier NULL
#define rule_sdy_all_gather NULL
#define rule_sdy_all_slice NULL
#define rule_sdy_all_to_all NULL
#define rule_sdy_collective_permute NULL
#define rule_sdy_all_reduce NULL
#define rule_sdy_reduce_scatter NULL
#define rule_sharded_to_unreduced NULL
#define rule_replicated_to_unreduced NULL
#define rule_reduce_precision pointwise
#define rule_constant NULL
#define rule_iota NULL
#define rule_optimization_barrier NULL
#define rule_composite NULL
#define rule_partition_id NULL
#define rule_replica_id NULL
#define rule_all_reduce pointwise
#define rule_collective_broadcast pointwise
#define rule_collective_permute pointwise
#define rule_chlo_top_k NULL

static rule_fn *const table[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = R_##family(id),
#include "ir/ops/builtin.def"
#include "ir/ops/func.def"
#include "ir/ops/sdy.def"
#include "ir/ops/stablehlo.def"
};

/* Ops that have no id yet (ir/ops/later.def): they are propagated through all the same. A row that
 * moves to its dialect's file finds its function by the name in the table above. */
static const struct {
  const char *name;
  rule_fn *fn;
} later[] = {
    {"stablehlo.batch_norm_inference", rule_batch_norm_inference},
    {"stablehlo.cholesky", rule_cholesky},
    {"stablehlo.cross-replica-sum", pointwise},
    {"stablehlo.dot", rule_dot},
    {"stablehlo.fft", rule_fft},
    {"stablehlo.select_and_scatter", rule_select_and_scatter},
    {"stablehlo.triangular_solve", rule_triangular_solve},
};

rule_fn *rule_fn_of(const op *o) {
  if (op_kind(o) < OP_COUNT) return table[op_kind(o)];
  for (size_t i = 0; i < COUNT(later); i++)
    if (str_is(o->info->name, later[i].name)) return later[i].fn;
  return NULL;
}

/* Ops that need no rule; so do those with edges and terminators. */
static const bool silent[OP_COUNT] = {
    [OP_module] = true,   [OP_func] = true,           [OP_call] = true,
    [OP_sdy_mesh] = true, [OP_sdy_constant] = true,   [OP_data_flow_edge] = true,
    [OP_constant] = true, [OP_sharding_group] = true, [OP_propagation_barrier] = true,
    [OP_iota] = true,     [OP_partition_id] = true,   [OP_reshard] = true,
};

static const char *const silent_later[] = {
    "stablehlo.after_all", "stablehlo.create_token", "stablehlo.get_tuple_element",
    "stablehlo.infeed",    "stablehlo.outfeed",      "stablehlo.recv",
    "stablehlo.send",
};

static bool is_silent(const op *o) {
  if (op_kind(o) < OP_COUNT) return silent[op_kind(o)];
  for (size_t i = 0; i < COUNT(silent_later); i++)
    if (str_is(o->info->name, silent_later[i])) return true;
  return false;
}

void rule_warn_unknown(rule_set *s, const op *o) {
  bool known = is_silent(o);
  if (s->warned_op || known || rule_fn_of(o) || op_flow(o) || op_has(o, TERMINATOR)) return;
  if (op_discardable(o, STR("sdy.sharding_rule"))) return;
  s->warned_op = true;
  op_warn(s->ctx, o, "op '" STR_FMT "' is unknown to SDY sharding rule registry",
          STR_ARG(o->info->name));
}
