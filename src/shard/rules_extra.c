/* Rules of ops that Shardy has none for: on only where the option extra-rules asks for them, as
 * they change its answer. */
#include "shard/rule.h"

/* chlo's elementwise ops, map: one factor a dimension of the result; operands of another rank
 * would be broadcast, and have no factor. */
static const rule *extra_pointwise(rule_builder *b, const op *o) {
  if (o->num_results != 1 || !type_is_tensor(o->results[0].type)) return NULL;
  i64s out = rule_result_shape(b, 0);
  for (u32 t = 0; t < b->num_operands; t++) {
    size_t rank = type_rank(b->types[t]);
    if (rank && !i64s_eq(rule_shape(b, t), out)) return NULL;
  }
  rule_pointwise(b, out);
  return rule_end(b);
}

/* The last dimension is searched as a whole. */
static const rule *extra_top_k(rule_builder *b, const op *o) {
  i64s in = rule_shape(b, 0), out = rule_result_shape(b, 0);
  if (o->num_results != 2 || !in.len || in.len != out.len) return NULL;
  i64 last = (i64)in.len - 1;
  for (i64 d = 0; d < last; d++) rule_factor_dim(b, d, in.data[d], FACTOR_PASS, false);
  rule_factor_dim(b, last, in.data[last], FACTOR_REPLICATE, true);
  return rule_end(b);
}

/* Numbers depend on their place only. */
static const rule *extra_rng(rule_builder *b, const op *o) {
  (void)o;
  i64s out = rule_result_shape(b, 0);
  for (i64 d = 0; d < (i64)out.len; d++)
    rule_factor_all(b, NO_DIM, d, out.data[d], FACTOR_PASS, false);
  return rule_end(b);
}

/* New dimensions come first. */
static const rule *extra_broadcast(rule_builder *b, const op *o) {
  (void)o;
  i64s in = rule_shape(b, 0), out = rule_result_shape(b, 0);
  if (in.len > out.len) return NULL;
  i64 added = (i64)(out.len - in.len);
  for (i64 d = 0; d < (i64)out.len; d++)
    rule_factor_1_1(b, d < added ? NO_DIM : d - added, d, out.data[d], FACTOR_PASS);
  return rule_end(b);
}

/* Statistics of each feature over all the rest, which therefore stays whole: tensors of the
 * operand's shape, and some with one dimension of features. */
static const rule *by_feature(rule_builder *b, i64 feature) {
  i64s in = rule_shape(b, 0);
  u32 n = b->num_operands + b->num_results;
  if (feature < 0 || feature >= (i64)in.len) return NULL;
  i64 *dims = ARENA_ARRAY(b->a, i64, n);
  for (i64 d = 0; d < (i64)in.len; d++) {
    for (u32 t = 0; t < n; t++) {
      bool vector = type_rank(b->types[t]) == 1 && in.len > 1;
      dims[t] = !vector ? d : d == feature ? 0 : NO_DIM;
    }
    rule_factor(b, dims, dims + b->num_operands, in.data[d],
                d == feature ? FACTOR_PASS : FACTOR_REPLICATE, d != feature);
  }
  return rule_end(b);
}

static const rule *extra_training(rule_builder *b, const op *o) {
  struct batch_norm_training_attrs v;
  return view_batch_norm_training(o, &v) ? by_feature(b, v.feature_index) : NULL;
}

static const rule *extra_grad(rule_builder *b, const op *o) {
  struct batch_norm_grad_attrs v;
  return view_batch_norm_grad(o, &v) ? by_feature(b, v.feature_index) : NULL;
}

#define E_ew(id) extra_pointwise
#define E_cast(id) extra_pointwise
#define E_bcast(id) extra_pointwise
#define E_region(id) NULL
#define E_coll(id) NULL
#define E_term(id) NULL
#define E_own(id) extra_##id
#define extra_chlo_top_k extra_top_k
#define E_later(id) NULL
static rule_fn *const table[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = E_##family(id),
#include "ir/ops/chlo.def"
    [OP_map] = extra_pointwise,
    [OP_rng] = extra_rng,
    [OP_broadcast] = extra_broadcast,
    [OP_batch_norm_training] = extra_training,
    [OP_batch_norm_grad] = extra_grad,
};

rule_fn *rule_extra_of(const op *o) { return op_kind(o) < OP_COUNT ? table[op_kind(o)] : NULL; }
