/* Which function makes an op's rule: families share one, ops of their own have theirs. */
#include "dialect/mpmd.h"
#include "shard/flow.h"
#include "shard/rule.h"
#include "shard/shard.h"
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

/* Between meshes that differ a sharding of the one says nothing of the other. */
static const rule *transfer(rule_builder *b, const op *o) {
  const type *from = b->types[0], *to = b->types[1];
  if (mpmd_mesh(o, from->text) != mpmd_mesh(o, to->text)) return NULL;
  rule_pointwise(b, to->dims);
  return rule_end(b);
}

/* chlo ops have none, as in Shardy; rules_extra.c has */
#define R_ew(id) pointwise
#define R_cast(id) pointwise
#define R_bcast(id) pointwise
#define R_region(id) NULL
#define R_coll(id) rule_##id
#define R_term(id) NULL
#define R_own(id) rule_##id
#define R_made(id) rule_##id
#define R_later(id) rule_##id

#define rule_module NULL
#define rule_arith_constant NULL
#define rule_tensor_cast NULL
#define rule_cast NULL
#define rule_func NULL
#define rule_call NULL
#define rule_call_indirect NULL
#define rule_func_constant NULL
#define rule_sdy_mesh NULL
#define rule_sdy_constant NULL
#define rule_sharding_constraint pointwise
#define rule_reshard NULL
#define rule_sharding_group NULL
#define rule_data_flow_edge NULL
#define rule_func_data_flow_edge NULL
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
#define rule_dynamic_iota NULL
#define rule_create_token NULL
#define rule_infeed NULL
#define rule_outfeed NULL
#define rule_send NULL
#define rule_recv NULL
#define rule_after_all NULL
#define rule_get_tuple_element NULL
#define rule_tuple NULL
#define rule_batch_norm_grad NULL
#define rule_batch_norm_training NULL
#define rule_broadcast NULL
#define rule_cross_replica_sum pointwise
#define rule_einsum NULL
#define rule_unary_einsum NULL
#define rule_get_dimension_size NULL
#define rule_set_dimension_size NULL
#define rule_map NULL
#define rule_dynamic_reshape NULL
#define rule_torch_index_select NULL
#define rule_rng NULL
#define rule_uniform_quantize pointwise
#define rule_uniform_dequantize pointwise
#define rule_real_dynamic_slice NULL
#define rule_dynamic_pad NULL
#define rule_dynamic_gather NULL
#define rule_dynamic_broadcast_in_dim NULL
#define rule_dynamic_conv NULL
#define rule_collective_reduce NULL
#define rule_async_start NULL
#define rule_async_done NULL

static rule_fn *const table[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = R_##family(id),
#include "ir/ops/builtin.def"
#include "ir/ops/func.def"
#include "ir/ops/sdy.def"
#include "ir/ops/stablehlo.def"
    [OP_mpmd_transfer] = transfer,
};

/* What a foreign dialect says; its hook has checked that it fits. */
static const rule *rule_foreign(rule_builder *b, const op *o) {
  const attr *a = o->info->hooks->rule(b->set->ctx, (op *)(uintptr_t)o);
  return a ? rule_from_attr(b->set, a, o) : NULL;
}

rule_fn *rule_fn_of(const op *o) {
  if (op_kind(o) < OP_COUNT) return table[op_kind(o)];
  if (o->info->hooks && o->info->hooks->rule) return rule_foreign;
  return op_has(o, ELEMENTWISE) ? pointwise : NULL;
}

/* Ops that need no rule; so do those with edges and terminators. */
static const bool silent[OP_COUNT] = {
    [OP_module] = true,
    [OP_func] = true,
    [OP_call] = true,
    [OP_sdy_mesh] = true,
    [OP_sdy_constant] = true,
    [OP_data_flow_edge] = true,
    [OP_constant] = true,
    [OP_arith_constant] = true,
    [OP_sharding_group] = true,
    [OP_propagation_barrier] = true,
    [OP_iota] = true,
    [OP_partition_id] = true,
    [OP_reshard] = true,
    [OP_after_all] = true,
    [OP_create_token] = true,
    [OP_get_tuple_element] = true,
    [OP_infeed] = true,
    [OP_outfeed] = true,
    [OP_recv] = true,
    [OP_send] = true,
    [OP_func_data_flow_edge] = true,
};

rule_fn *rule_fn_in(const rule_set *s, const op *o) {
  rule_fn *fn = rule_fn_of(o);
  return fn || !s->extra || op_kind(o) >= OP_COUNT ? fn : rule_extra_of(op_kind(o));
}

bool rule_fn_is_plain(rule_fn *fn) {
  return fn == pointwise || fn == rule_dot_general || fn == rule_reduce || fn == rule_transpose ||
         fn == rule_reshape || fn == rule_broadcast_in_dim;
}

/* Once a sink, as in Shardy, which warns of the first op only. */
void rule_warn_unknown(rule_set *s, const op *o) {
  bool known = op_kind(o) < OP_COUNT ? silent[op_kind(o)] : op_has(o, CONSTANT);
  if (known || rule_fn_in(s, o) || op_flow(o) || op_has(o, TERMINATOR)) return;
  if (op_discardable(o, SDY_SHARDING_RULE)) return;
  if (!diag_first(ir_sink(s->ctx), ONCE_UNKNOWN_OP)) return;
  op_warn(s->ctx, o, "op '" STR_FMT "' is unknown to SDY sharding rule registry",
          STR_ARG(o->info->name));
}

shard_way shard_way_of(op_id id) {
  if (flow_known(id)) return SHARD_BY_EDGES;
  if (table[id]) return SHARD_BY_RULE;
  if (silent[id] || (op_infos[id].traits & TERMINATOR)) return SHARD_NEEDS_NONE;
  return rule_extra_of(id) || id == OP_if ? SHARD_ON_DEMAND : SHARD_NO_WAY;
}

/* ---- the rule of an op ---- */

/* Rules by all that they were made from. */
typedef struct plain_entry {
  const rule *rule;
  rule_fn *fn;
  u32 num_operands, n;
  const void *made_from[]; /* types, then slots */
} plain_entry;

static const void *made_from(const op *o, u32 i) {
  if (i < o->num_operands) return op_operand(o, i)->type;
  i -= o->num_operands;
  return i < o->num_results ? (const void *)o->results[i].type : o->slots[i - o->num_results];
}

/* Rules that follow from types and slots alone are looked up by those: building one costs more than
 * all else that an op costs. */
static const rule *plain_of_op(rule_set *s, const op *o, rule_fn *fn) {
  u32 n = o->num_operands + o->num_results + o->info->num_slots;
  u64 h = hash_u64((u64)(uintptr_t)fn, o->num_operands);
  for (u32 i = 0; i < n; i++) h = hash_ptr(made_from(o, i), h);
  plain_entry *e;
  for (size_t at = 0; (e = index_next(&s->plain, h, &at));) {
    u32 i = 0;
    if (e->fn != fn || e->n != n || e->num_operands != o->num_operands) continue;
    while (i < n && e->made_from[i] == made_from(o, i)) i++;
    if (i == n) return e->rule;
  }
  rule_builder b;
  rule_begin(&b, s, o);
  e = arena_zalloc(s->a, sizeof *e + n * sizeof *e->made_from);
  *e = (plain_entry){.fn = fn, .num_operands = o->num_operands, .n = n};
  for (u32 i = 0; i < n; i++) e->made_from[i] = made_from(o, i);
  e->rule = fn(&b, o);
  index_add(&s->plain, s->a, h, e);
  return e->rule;
}

const rule *rule_of_kind(rule_set *s, const op *o) {
  rule_fn *fn = rule_fn_in(s, o);
  if (!fn) return NULL;
  if (rule_fn_is_plain(fn)) return plain_of_op(s, o, fn);
  rule_builder b;
  rule_begin(&b, s, o);
  return fn(&b, o);
}

/* What the op carries goes first: the user's (custom), or one left by
 * populate-op-sharding-rules. */
const rule *rule_of_op(rule_set *s, const op *o) {
  const attr *own = op_discardable(o, SDY_SHARDING_RULE);
  return own ? rule_from_attr(s, own, o) : rule_of_kind(s, o);
}
