/* Rules of decompositions, transforms and other ops that a program seldom has. Attributes are read
 * by name, as not all of these ops have typed views yet. */
#include "shard/rule.h"

static i64s list_attr(const rule_builder *b, const op *o, const char *name) {
  i64s out = {0};
  const attr *a = op_attr(o, str_of(name));
  if (a) attr_get_i64s(b->set->ctx, a, &out);
  return out;
}

static bool flag_attr(const op *o, const char *name) {
  bool v = false;
  return attr_get_bool(op_attr(o, str_of(name)), &v) && v;
}

const rule *rule_cholesky(rule_builder *b, const op *o) {
  (void)o;
  i64s shape = rule_shape(b, 0);
  for (size_t d = 0; d < shape.len; d++)
    rule_factor_dim(b, (i64)d, shape.data[d], d + 2 < shape.len ? FACTOR_PASS : FACTOR_REPLICATE,
                    false);
  return rule_end(b);
}

/* op(a) * result = b, or result * op(a) = b */
const rule *rule_triangular_solve(rule_builder *b, const op *o) {
  i64s a = rule_shape(b, 0), rhs = rule_shape(b, 1);
  if (a.len < 2 || rhs.len != a.len) return NULL;
  const transpose_kind_attr *t = attr_as(transpose_kind, op_attr(o, SLOT_NAME(transpose_a)));
  bool transposed = t && t->value >= 2, left = flag_attr(o, "left_side");
  rule_pointwise(b, (i64s){a.data, a.len - 2});
  i64 row = (i64)a.len - 2, column = row + 1;
  bool rows_kept = left != transposed; /* is a's row the dimension that stays? */
  i64 kept = rows_kept ? row : column, summed = rows_kept ? column : row;
  if (left) {
    rule_factor_2_1(b, kept, row, NO_DIM, a.data[kept], FACTOR_REPLICATE);
    rule_factor_2_1(b, NO_DIM, column, column, rhs.data[column], FACTOR_REPLICATE);
    rule_factor_2_1(b, summed, NO_DIM, row, a.data[summed], FACTOR_REPLICATE);
  } else {
    rule_factor_2_1(b, NO_DIM, row, row, rhs.data[row], FACTOR_REPLICATE);
    rule_factor_2_1(b, kept, column, NO_DIM, a.data[kept], FACTOR_REPLICATE);
    rule_factor_2_1(b, summed, NO_DIM, column, a.data[summed], FACTOR_REPLICATE);
  }
  return rule_end(b);
}

/* The last dimension is blocked where a real transform changes its size. */
const rule *rule_fft(rule_builder *b, const op *o) {
  i64s in = rule_shape(b, 0), out = rule_result_shape(b, 0);
  size_t n = list_attr(b, o, "fft_length").len;
  if (!in.len || n > in.len || out.len != in.len) return NULL;
  for (size_t d = 0; d < in.len; d++) {
    bool last = d + 1 == in.len, transformed = d >= in.len - n;
    rule_factor_dim(b, (i64)d, in.data[d], transformed ? FACTOR_REPLICATE : FACTOR_PASS,
                    transformed && last && in.data[d] != out.data[d]);
  }
  return rule_end(b);
}

const rule *rule_dot(rule_builder *b, const op *o) {
  (void)o;
  i64s lhs = rule_shape(b, 0), rhs = rule_shape(b, 1);
  if (!lhs.len || !rhs.len) return NULL;
  bool left = lhs.len == 2, right = rhs.len == 2;
  if (left) rule_factor_2_1(b, 0, NO_DIM, 0, lhs.data[0], FACTOR_PASS);
  if (right) rule_factor_2_1(b, NO_DIM, 1, left, rhs.data[1], FACTOR_PASS);
  rule_factor_2_1(b, left, 0, NO_DIM, rhs.data[0], FACTOR_REDUCTION);
  return rule_end(b);
}

/* Scale, offset, mean and variance have one dimension, the feature. */
const rule *rule_batch_norm_inference(rule_builder *b, const op *o) {
  i64s shape = rule_shape(b, 0);
  i64 feature = -1;
  attr_get_i64(op_attr(o, SLOT_NAME(feature_index)), &feature);
  i64 *dims = ARENA_ARRAY(b->a, i64, o->num_operands);
  for (i64 d = 0; d < (i64)shape.len; d++) {
    for (u32 i = 0; i < o->num_operands; i++) dims[i] = d == feature ? 0 : NO_DIM;
    dims[0] = d;
    rule_factor(b, dims, &d, shape.data[d], FACTOR_PASS, false);
  }
  return rule_end(b);
}

static bool plain_window(const rule_builder *b, const op *o, size_t d) {
  const attr *padding = op_attr(o, SLOT_NAME(padding));
  if (padding && (attr_dense_int(padding, 2 * d) || attr_dense_int(padding, 2 * d + 1)))
    return false;
  i64s window = list_attr(b, o, "window_dimensions"), strides = list_attr(b, o, "window_strides");
  return (d >= strides.len || strides.data[d] == 1) && (d >= window.len || window.data[d] == 1);
}

/* As a window that slides over the operand, whose size is not the source's: two factors a
 * dimension. */
const rule *rule_select_and_scatter(rule_builder *b, const op *o) {
  if (o->num_operands != 3) return NULL;
  i64s out = rule_result_shape(b, 0), source = rule_shape(b, 1);
  const i64 none = NO_DIM;
  for (i64 d = 0; d < (i64)out.len; d++) {
    if (plain_window(b, o, (size_t)d)) {
      rule_factor_dim(b, d, out.data[d], FACTOR_PASS, false);
      continue;
    }
    rule_factor(b, (const i64[]){NO_DIM, d, NO_DIM}, &none, source.data[d], FACTOR_REPLICATE,
                b->set->conservative);
    rule_factor(b, (const i64[]){d, NO_DIM, NO_DIM}, &d, out.data[d], FACTOR_PERMUTATION,
                b->set->conservative);
  }
  return rule_end(b);
}
