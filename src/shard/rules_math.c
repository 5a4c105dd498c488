/* Rules of products, reductions, windows, sorting and the collectives of StableHLO.
 *
 * As in rules_shape.c, Shardy's rules in its order of factors. */
#include "shard/rule.h"

/* Batching, free dimensions of either side, contracting: the result's dimensions in order, then the
 * sums. */
const rule *rule_dot_general(rule_builder *b, const op *o) {
  struct dot_general_attrs v;
  if (!view_dot_general(o, &v)) return NULL;
  const dot_attr *d = v.dot_dimension_numbers;
  i64s lhs = rule_shape(b, 0), rhs = rule_shape(b, 1);
  i64s lb = d->lhs_batching_dimensions, rb = d->rhs_batching_dimensions;
  i64s lc = d->lhs_contracting_dimensions, rc = d->rhs_contracting_dimensions;
  i64 out = 0;
  for (size_t i = 0; i < lb.len && i < rb.len; i++)
    rule_factor_2_1(b, lb.data[i], rb.data[i], out++, lhs.data[lb.data[i]], FACTOR_PASS);
  for (i64 i = 0; i < (i64)lhs.len; i++)
    if (!i64s_contain(lc, i) && !i64s_contain(lb, i))
      rule_factor_2_1(b, i, NO_DIM, out++, lhs.data[i], FACTOR_PASS);
  for (i64 i = 0; i < (i64)rhs.len; i++)
    if (!i64s_contain(rc, i) && !i64s_contain(rb, i))
      rule_factor_2_1(b, NO_DIM, i, out++, rhs.data[i], FACTOR_PASS);
  for (size_t i = 0; i < lc.len && i < rc.len; i++)
    rule_factor_2_1(b, lc.data[i], rc.data[i], NO_DIM, lhs.data[lc.data[i]], FACTOR_REDUCTION);
  return rule_end(b);
}

/* A spatial dimension of the input is a walk over windows (the output's) and over the window
 * (the kernel's); the larger one is major. */
typedef struct spatial {
  i64 lhs, rhs, out, left; /* dimensions, and what is left of the input's size */
} spatial;

/* A sharded window gives partial sums; sharded windows need borders of the input from
 * neighbours. */
static void add_spatial(rule_builder *b, spatial *s, i64 size, bool window) {
  size = min_i64(s->left, size);
  if (size <= 1) return;
  rule_factor_2_1(b, s->lhs, window ? s->rhs : NO_DIM, window ? NO_DIM : s->out, size,
                  window ? FACTOR_REDUCTION : FACTOR_PERMUTATION);
  s->left /= size;
}

static void add_spatials(rule_builder *b, const conv_attr *d) {
  i64s lhs = rule_shape(b, 0), rhs = rule_shape(b, 1), out = rule_result_shape(b, 0);
  for (size_t i = 0; i < d->input_spatial_dimensions.len; i++) {
    spatial s = {d->input_spatial_dimensions.data[i], d->kernel_spatial_dimensions.data[i],
                 d->output_spatial_dimensions.data[i], 0};
    s.left = lhs.data[s.lhs];
    i64 windows = out.data[s.out], size = rhs.data[s.rhs];
    bool window_first = windows < size;
    add_spatial(b, &s, window_first ? size : windows, window_first);
    add_spatial(b, &s, window_first ? windows : size, !window_first);
  }
}

/* Group counts are factors of their own, major in the features (or batches) that they divide.
 * Without factors that need communication (conservative) spatial dimensions stay whole. */
static const rule *convolution_rule(rule_builder *b, const conv_attr *d, i64 batch_groups,
                                    i64 feature_groups) {
  i64s rhs = rule_shape(b, 1), out = rule_result_shape(b, 0);
  if (batch_groups > 1)
    rule_factor_2_1(b, d->input_batch_dimension, d->kernel_output_feature_dimension,
                    d->output_feature_dimension, batch_groups, FACTOR_PASS);
  rule_factor_2_1(b, d->input_batch_dimension, NO_DIM, d->output_batch_dimension,
                  out.data[d->output_batch_dimension], FACTOR_PASS);
  if (!b->set->conservative) add_spatials(b, d);
  if (feature_groups > 1)
    rule_factor_2_1(b, d->input_feature_dimension, d->kernel_output_feature_dimension,
                    d->output_feature_dimension, feature_groups, FACTOR_PASS);
  rule_factor_2_1(b, d->input_feature_dimension, d->kernel_input_feature_dimension, NO_DIM,
                  rhs.data[d->kernel_input_feature_dimension], FACTOR_REDUCTION);
  i64 groups = max_i64(1, batch_groups) * max_i64(1, feature_groups);
  i64 features = out.data[d->output_feature_dimension] / groups;
  if (features > 1)
    rule_factor_2_1(b, NO_DIM, d->kernel_output_feature_dimension, d->output_feature_dimension,
                    features, FACTOR_PASS);
  return rule_end(b);
}

const rule *rule_convolution(rule_builder *b, const op *o) {
  struct convolution_attrs v;
  if (!view_convolution(o, &v)) return NULL;
  return convolution_rule(b, v.dimension_numbers, v.batch_group_count, v.feature_group_count);
}

const rule *extra_dynamic_conv(rule_builder *b, const op *o) {
  struct dynamic_conv_attrs v;
  b->num_data = 2;
  /* the verifier does not look at its result */
  if (!view_dynamic_conv(o, &v) || rule_result_shape(b, 0).len != rule_shape(b, 0).len) return NULL;
  return convolution_rule(b, v.dimension_numbers, v.batch_group_count, v.feature_group_count);
}

/* Initial values are scalars, so they have no dimensions to map. */
const rule *rule_reduce(rule_builder *b, const op *o) {
  struct reduce_attrs v;
  if (!view_reduce(o, &v) || !o->num_operands) return NULL;
  u32 n = o->num_operands / 2;
  i64s in = rule_shape(b, 0);
  i64 *operands = ARENA_ARRAY(b->a, i64, o->num_operands), out = 0;
  i64 *results = ARENA_ARRAY(b->a, i64, n);
  for (u32 i = 0; i < o->num_operands; i++) operands[i] = NO_DIM;
  for (i64 d = 0; d < (i64)in.len; d++) {
    bool reduced = i64s_contain(v.dimensions, d);
    for (u32 i = 0; i < n; i++) {
      operands[i] = d;
      results[i] = reduced ? NO_DIM : out;
    }
    out += !reduced;
    rule_factor(b, operands, results, in.data[d], reduced ? FACTOR_REDUCTION : FACTOR_PASS, false);
  }
  return rule_end(b);
}

/* One window at each element: window 1, stride 1, no padding. */
static bool is_plain_window(i64s window, i64s strides, const dense_attr *padding, size_t d) {
  if (padding &&
      (attr_dense_int(&padding->base, 2 * d) || attr_dense_int(&padding->base, 2 * d + 1)))
    return false;
  return (!strides.len || strides.data[d] == 1) && (!window.len || window.data[d] == 1);
}

const rule *rule_reduce_window(rule_builder *b, const op *o) {
  struct reduce_window_attrs v;
  if (!view_reduce_window(o, &v)) return NULL;
  i64s out = rule_result_shape(b, 0);
  for (size_t d = 0; d < out.len; d++) {
    bool plain = is_plain_window(v.window_dimensions, v.window_strides, v.padding, d);
    rule_factor_dim(b, (i64)d, out.data[d], plain ? FACTOR_PASS : FACTOR_PERMUTATION,
                    !plain && b->set->conservative);
  }
  return rule_end(b);
}

/* Sorting needs the whole of its dimension. If there is no other to shard, propagation along it is
 * blocked as well: it would only bring a gather. */
const rule *rule_sort(rule_builder *b, const op *o) {
  struct sort_attrs v;
  if (!view_sort(o, &v) || !o->num_operands) return NULL;
  i64s shape = rule_shape(b, 0);
  i64 dim = v.present & 1 ? v.dimension : -1;
  if (dim < 0) dim += (i64)shape.len;
  bool only = true; /* nothing but the sorted dimension to shard */
  for (i64 d = 0; d < (i64)shape.len; d++) only &= d == dim || shape.data[d] == 1;
  for (i64 d = 0; d < (i64)shape.len; d++)
    rule_factor_dim(b, d, shape.data[d], d == dim ? FACTOR_REPLICATE : FACTOR_PASS,
                    d == dim && only);
  return rule_end(b);
}

/* Every device has the whole state and makes its own part of the output. */
const rule *rule_rng_bit_generator(rule_builder *b, const op *o) {
  (void)o;
  i64s state = rule_shape(b, 0), out = rule_result_shape(b, 1);
  for (i64 d = 0; d < (i64)state.len; d++)
    rule_factor(b, &d, (const i64[]){d, NO_DIM}, state.data[d], FACTOR_REPLICATE, true);
  i64 none = NO_DIM;
  for (i64 d = 0; d < (i64)out.len; d++)
    rule_factor(b, &none, (const i64[]){NO_DIM, d}, out.data[d], FACTOR_PASS, false);
  return rule_end(b);
}

/* ---- collectives ---- */

/* Before and after the collective the dimension means different parts of the data, so each side has
 * a factor. */
static void add_both(rule_builder *b, i64 dim) {
  rule_factor_all(b, dim, NO_DIM, rule_shape(b, 0).data[dim], FACTOR_REPLICATE, false);
  rule_factor_all(b, NO_DIM, dim, rule_result_shape(b, 0).data[dim], FACTOR_REPLICATE, false);
}

static void add_others(rule_builder *b, i64 except, i64 or_except) {
  i64s shape = rule_shape(b, 0);
  for (i64 d = 0; d < (i64)shape.len; d++)
    if (d != except && d != or_except) rule_factor_dim(b, d, shape.data[d], FACTOR_PASS, false);
}

const rule *rule_all_gather(rule_builder *b, const op *o) {
  struct all_gather_attrs v;
  if (!view_all_gather(o, &v) || (u64)v.all_gather_dim >= rule_shape(b, 0).len) return NULL;
  add_others(b, v.all_gather_dim, NO_DIM);
  add_both(b, v.all_gather_dim);
  return rule_end(b);
}

const rule *rule_reduce_scatter(rule_builder *b, const op *o) {
  struct reduce_scatter_attrs v;
  if (!view_reduce_scatter(o, &v) || (u64)v.scatter_dimension >= rule_shape(b, 0).len) return NULL;
  add_others(b, v.scatter_dimension, NO_DIM);
  add_both(b, v.scatter_dimension);
  return rule_end(b);
}

const rule *rule_all_to_all(rule_builder *b, const op *o) {
  struct all_to_all_attrs v;
  size_t rank = rule_shape(b, 0).len;
  if (!view_all_to_all(o, &v) || (u64)v.split_dimension >= rank || (u64)v.concat_dimension >= rank)
    return NULL;
  add_others(b, v.split_dimension, v.concat_dimension);
  add_both(b, v.split_dimension);
  if (v.split_dimension != v.concat_dimension) add_both(b, v.concat_dimension);
  return rule_end(b);
}
