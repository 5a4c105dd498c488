/* Rules of ops that Shardy has none for: on only where the option extra-rules asks for them, as
 * they change its answer. */
#include "dialect/expand.h"
#include "shard/rule.h"
#include "shard/traits.h"

static i64 place_in(i64s list, i64 x) {
  for (size_t i = 0; i < list.len; i++)
    if (list.data[i] == x) return (i64)i;
  return NO_DIM;
}

/* Each element depends on those in its place: elementwise ops, and those that broadcast. An
 * operand of lower rank has the last dimensions, or those that broadcast_dimensions lists; what is
 * stretched has no factor. */
static const rule *extra_pointwise(rule_builder *b, const op *o) {
  i64s listed = {0};
  const attr *a = op_attr(o, SLOT_NAME(broadcast_dimensions));
  if (!b->num_results || (a && !attr_get_i64s(b->set->ctx, a, &listed))) return NULL;
  i64s out = rule_result_shape(b, 0);
  u32 n = b->num_operands + b->num_results;
  i64 *dims = ARENA_ARRAY(b->a, i64, n);
  for (u32 t = 0; t < n; t++) {
    i64s shape = rule_shape(b, t);
    if (t < b->num_operands ? shape.len > out.len : !i64s_eq(shape, out)) return NULL;
  }
  for (i64 d = 0; d < (i64)out.len; d++) {
    for (u32 t = 0; t < n; t++) {
      i64s in = rule_shape(b, t);
      i64 from = d + (i64)in.len - (i64)out.len;
      if (a && in.len < out.len) from = place_in(listed, d);
      bool same = from >= 0 && from < (i64)in.len && in.data[from] == out.data[d];
      dims[t] = same ? from : NO_DIM;
    }
    rule_factor(b, dims, dims + b->num_operands, out.data[d], FACTOR_PASS, false);
  }
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
  b->num_data = 0;
  rule_pointwise(b, rule_result_shape(b, 0));
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

/* ---- ops whose sizes are operands: as those whose sizes are attributes ---- */

static const rule *extra_dynamic_reshape(rule_builder *b, const op *o) {
  b->num_data = 1;
  return rule_reshape(b, o);
}

static const rule *extra_real_dynamic_slice(rule_builder *b, const op *o) {
  b->num_data = 1;
  return rule_dynamic_slice(b, o);
}

/* A dimension that keeps its size may still lose elements at one end and get them at the other. */
static const rule *extra_dynamic_pad(rule_builder *b, const op *o) {
  (void)o;
  i64s in = rule_shape(b, 0), out = rule_result_shape(b, 0);
  b->num_data = 1;
  for (size_t d = 0; d < in.len && d < out.len; d++) {
    bool same = in.data[d] == out.data[d];
    rule_factor_dim(b, (i64)d, in.data[d], same ? FACTOR_PERMUTATION : FACTOR_REPLICATE,
                    !same || b->set->conservative);
  }
  return rule_end(b);
}

/* The size that is asked for, or set, is that of the whole. */
static const rule *extra_dimension_size(rule_builder *b, const op *o) {
  i64s in = rule_shape(b, 0);
  i64 whole = NO_DIM;
  attr_get_i64(op_attr(o, SLOT_NAME(dimension)), &whole);
  for (i64 d = 0; d < (i64)in.len; d++)
    rule_factor_dim(b, d, in.data[d], d == whole ? FACTOR_REPLICATE : FACTOR_PASS, false);
  return rule_end(b);
}

/* ---- einsum: a factor a letter ---- */

/* Dimension d of tensor t, which no tensor before had. A diagonal has no rule, and neither has
 * what is broadcast. */
static bool add_letter(rule_builder *b, i64 *const *labels, u32 n, u32 t, i64 d) {
  i64 *dims = ARENA_ARRAY(b->a, i64, n), size = rule_shape(b, t).data[d], label = labels[t][d];
  for (u32 k = 0; k < n; k++) {
    i64s shape = rule_shape(b, k);
    i64 at = dims[k] = place_in((i64s){labels[k], shape.len}, label);
    if (at == NO_DIM) continue;
    if (shape.data[at] != size) return false;
    if (place_in((i64s){labels[k] + at + 1, shape.len - (size_t)at - 1}, label) != NO_DIM)
      return false;
  }
  bool kept = dims[n - 1] != NO_DIM, used = dims[0] != NO_DIM || dims[n - 2] != NO_DIM;
  rule_factor(b, dims, dims + n - 1, size, kept ? FACTOR_PASS : FACTOR_REDUCTION, false);
  return used;
}

static const rule *extra_einsum(rule_builder *b, const op *o) {
  str text = {0};
  i64 *labels[3];
  u32 n = b->num_operands + b->num_results;
  if (!attr_get_str(op_attr(o, SLOT_NAME(einsum_config)), &text)) return NULL;
  for (u32 t = 0; t < n; t++) {
    i64s shape = rule_shape(b, t);
    labels[t] = ARENA_ARRAY(b->a, i64, shape.len + 1);
    if (!einsum_labels(&text, t + 1 == n, shape, labels[t])) return NULL;
  }
  for (u32 k = 0; k < n; k++) {
    u32 t = (k + n - 1) % n; /* the result's first */
    for (i64 d = 0; d < (i64)rule_shape(b, t).len; d++) {
      bool known = false;
      for (u32 i = 0; i < k; i++) {
        u32 before = (i + n - 1) % n;
        known |=
            place_in((i64s){labels[before], rule_shape(b, before).len}, labels[t][d]) != NO_DIM;
      }
      if (!known && !add_letter(b, labels, n, t, d)) return NULL;
    }
  }
  return rule_end(b);
}

/* ---- torch_index_select ---- */

/* Batches, then the operand's dimensions with the index's in the place of the one selected from;
 * that one is masked and summed, as in a gather. */
static const rule *extra_index_select(rule_builder *b, const op *o) {
  i64 dim = 0, batches = 0, out = 0;
  i64s in = rule_shape(b, 0), index = rule_shape(b, 1);
  attr_get_i64(op_attr(o, SLOT_NAME(dim)), &dim);
  attr_get_i64(op_attr(o, SLOT_NAME(batch_dims)), &batches);
  dim += dim < 0 ? (i64)in.len : 0;
  batches += batches < 0 ? (i64)index.len : 0;
  if (dim < 0 || dim >= (i64)in.len || batches < 0 || batches > dim || batches > (i64)index.len ||
      rule_result_shape(b, 0).len != in.len - 1 + index.len - (size_t)batches)
    return NULL;
  for (i64 d = 0; d < (i64)in.len; d++) {
    if (d != dim) {
      rule_factor_2_1(b, d, d < batches ? d : NO_DIM, out++, in.data[d], FACTOR_PASS);
      continue;
    }
    for (i64 i = batches; i < (i64)index.len; i++)
      rule_factor_2_1(b, NO_DIM, i, out++, index.data[i], FACTOR_PASS);
    rule_factor_2_1(b, d, NO_DIM, NO_DIM, in.data[d],
                    in.data[d] == 1 ? FACTOR_REPLICATE : FACTOR_REDUCTION);
  }
  return rule_end(b);
}

/* ---- ragged_dot: a dot_general with one dimension of lhs cut into groups ---- */

typedef struct ragged {
  i64 dim;    /* of lhs */
  i64 prefix; /* the next dimension of group_sizes in front of the groups; NO_DIM: none is left */
} ragged;

/* Which rows a group has depends on all rows before. */
static void add_ragged(rule_builder *b, ragged *r, i64 lhs, i64 rhs, i64 result, bool summed) {
  bool cut = lhs == r->dim;
  if (cut) r->prefix = NO_DIM;
  i64 sizes = r->prefix == NO_DIM ? NO_DIM : r->prefix++;
  factor_kind kind = cut ? FACTOR_REPLICATE : summed ? FACTOR_REDUCTION : FACTOR_PASS;
  rule_factor(b, (const i64[]){lhs, rhs, sizes}, &result, rule_shape(b, 0).data[lhs], kind, false);
}

static const rule *extra_ragged_dot(rule_builder *b, const op *o) {
  struct chlo_ragged_dot_attrs v;
  if (!view_chlo_ragged_dot(o, &v)) return NULL;
  const ragged_dot_attr *d = v.ragged_dot_dimension_numbers;
  i64s lhs = rule_shape(b, 0), rhs = rule_shape(b, 1), sizes = rule_shape(b, 2);
  i64s lb = d->lhs_batching_dimensions, rb = d->rhs_batching_dimensions;
  i64s lc = d->lhs_contracting_dimensions, rc = d->rhs_contracting_dimensions;
  ragged r = {d->lhs_ragged_dimensions.data[0], sizes.len > 1 ? 0 : NO_DIM};
  bool stacked = place_in(lc, r.dim) != NO_DIM; /* the result has a matrix for each group */
  i64 out = 0, groups = (i64)sizes.len - 1, of_rhs = NO_DIM;
  if (d->rhs_group_dimensions.len) of_rhs = d->rhs_group_dimensions.data[0];
  i64 of_result = stacked ? out++ : NO_DIM;
  rule_factor(b, (const i64[]){NO_DIM, of_rhs, groups}, &of_result, sizes.data[groups],
              FACTOR_REPLICATE, false);
  for (size_t i = 0; i < lb.len; i++) add_ragged(b, &r, lb.data[i], rb.data[i], out++, false);
  if (stacked)
    for (size_t i = 0; i < lc.len; i++) add_ragged(b, &r, lc.data[i], rc.data[i], NO_DIM, true);
  for (i64 i = 0; i < (i64)lhs.len; i++)
    if (place_in(lb, i) == NO_DIM && place_in(lc, i) == NO_DIM)
      add_ragged(b, &r, i, NO_DIM, out++, false);
  r.prefix = NO_DIM;
  if (!stacked)
    for (size_t i = 0; i < lc.len; i++) add_ragged(b, &r, lc.data[i], rc.data[i], NO_DIM, true);
  for (i64 i = 0; i < (i64)rhs.len; i++)
    if (i != of_rhs && place_in(rb, i) == NO_DIM && place_in(rc, i) == NO_DIM)
      rule_factor(b, (const i64[]){NO_DIM, i, NO_DIM}, &(i64){out++}, rhs.data[i], FACTOR_PASS,
                  false);
  return rule_end(b);
}

/* ---- scan: one factor a dimension of the slices, if the body keeps them apart ---- */

static bool has_shape(const value *v, i64s shape) {
  return type_is_ranked(v->type) && i64s_eq(v->type->dims, shape);
}

/* The body is elementwise on whole slices: then dimensions of the slices do not mix. */
static bool is_apart(const block *body, i64s shape) {
  for (u32 i = 0; i < body->num_args; i++)
    if (!has_shape(body->args[i], shape)) return false;
  for (const op *o = body->first; o != body->last; o = o->next) {
    if (!op_is_elementwise(o) && !op_has(o, CONSTANT)) return false;
    for (u32 i = 0; i < o->num_results; i++)
      if (!has_shape(&o->results[i], shape) && !value_is_scalar(&o->results[i])) return false;
  }
  return true;
}

static const rule *extra_scan(rule_builder *b, const op *o) {
  struct chlo_scan_attrs v;
  size_t begin, inputs;
  const block *body = op_body(o, 0);
  if (!view_chlo_scan(o, &v) || !op_operand_group(o, 0, &begin, &inputs) || !inputs) return NULL;
  i64s in = rule_shape(b, 0), slice = body->args[0]->type->dims;
  if (!is_apart(body, slice)) return NULL;
  u32 n = b->num_operands + b->num_results, carries = b->num_operands - (u32)inputs;
  i64 *dims = ARENA_ARRAY(b->a, i64, n);
  for (i64 d = 0; d < (i64)in.len; d++) {
    bool along = d == v.dimension;
    for (u32 t = 0; t < n; t++) {
      bool stacked = t < inputs || (t >= b->num_operands && t < n - carries);
      dims[t] = stacked ? d : along ? NO_DIM : d - (d > v.dimension);
    }
    rule_factor(b, dims, dims + b->num_operands, in.data[d], along ? FACTOR_REPLICATE : FACTOR_PASS,
                false);
  }
  return rule_end(b);
}

/* ---- the table: a line for each op of chlo, and those of other dialects that have a rule ---- */

#define extra_chlo_broadcast_add extra_pointwise
#define extra_chlo_broadcast_atan2 extra_pointwise
#define extra_chlo_broadcast_divide extra_pointwise
#define extra_chlo_broadcast_maximum extra_pointwise
#define extra_chlo_broadcast_minimum extra_pointwise
#define extra_chlo_broadcast_multiply extra_pointwise
#define extra_chlo_broadcast_next_after extra_pointwise
#define extra_chlo_broadcast_polygamma extra_pointwise
#define extra_chlo_broadcast_power extra_pointwise
#define extra_chlo_broadcast_remainder extra_pointwise
#define extra_chlo_broadcast_shift_left extra_pointwise
#define extra_chlo_broadcast_shift_right_arithmetic extra_pointwise
#define extra_chlo_broadcast_shift_right_logical extra_pointwise
#define extra_chlo_broadcast_subtract extra_pointwise
#define extra_chlo_broadcast_zeta extra_pointwise
#define extra_chlo_broadcast_and extra_pointwise
#define extra_chlo_broadcast_or extra_pointwise
#define extra_chlo_broadcast_xor extra_pointwise
#define extra_chlo_broadcast_complex extra_pointwise
#define extra_chlo_broadcast_compare extra_pointwise
#define extra_chlo_broadcast_select extra_pointwise
#define extra_chlo_asin_acos_kernel extra_pointwise
#define extra_chlo_constant_like extra_pointwise
#define extra_chlo_constant NULL
#define extra_chlo_ragged_dot extra_ragged_dot
#define extra_chlo_scan extra_scan
#define extra_chlo_top_k extra_top_k

#define E_ew(id) extra_pointwise
#define E_cast(id) extra_pointwise
#define E_own(id) extra_##id
#define E_made(id) extra_##id
static rule_fn *const table[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = E_##family(id),
#include "ir/ops/chlo.def"
    [OP_batch_norm_grad] = extra_grad,
    [OP_batch_norm_training] = extra_training,
    [OP_broadcast] = extra_pointwise,
    [OP_collective_reduce] = extra_pointwise,
    [OP_dynamic_broadcast_in_dim] = extra_dynamic_broadcast_in_dim,
    [OP_dynamic_conv] = extra_dynamic_conv,
    [OP_dynamic_gather] = extra_dynamic_gather,
    [OP_dynamic_iota] = extra_rng,
    [OP_dynamic_pad] = extra_dynamic_pad,
    [OP_dynamic_reshape] = extra_dynamic_reshape,
    [OP_einsum] = extra_einsum,
    [OP_get_dimension_size] = extra_dimension_size,
    [OP_map] = extra_pointwise,
    [OP_probe] = extra_pointwise,
    [OP_real_dynamic_slice] = extra_real_dynamic_slice,
    [OP_rng] = extra_rng,
    [OP_set_dimension_size] = extra_dimension_size,
    [OP_tensor_cast] = extra_pointwise,
    [OP_torch_index_select] = extra_index_select,
    [OP_unary_einsum] = extra_einsum,
};

/* Rules speak of sizes that are known. */
static const rule *extra(rule_builder *b, const op *o) {
  for (u32 t = 0; t < b->num_operands + b->num_results; t++)
    if (type_is_tensor(b->types[t]) && !type_is_static(b->types[t])) return NULL;
  return table[op_kind(o)](b, o);
}

rule_fn *rule_extra_of(op_id id) { return table[id] ? extra : NULL; }
