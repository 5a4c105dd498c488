/* Rules of ops that move, cut or repeat data.
 *
 * The rules are Shardy's (shardy/dialect/sdy/transforms/propagation/op_sharding_rule_registry.cc),
 * factor for factor in its order, because rules are printed and compared. rule_table.c says which
 * function is for which op; all take a verified op and give NULL where shardings do not propagate.
 * Functions that start with extra_ are for ops that Shardy has no rule for. */
#include "shard/rule.h"

/* The added or lost innermost dimension holds the parts of one element, which stay on one
 * device. */
const rule *rule_bitcast_convert(rule_builder *b, const op *o) {
  (void)o;
  i64s in = rule_shape(b, 0), out = rule_result_shape(b, 0);
  rule_pointwise(b, in.len < out.len ? in : out);
  if (in.len < out.len)
    rule_factor_1_1(b, NO_DIM, (i64)out.len - 1, out.data[out.len - 1], FACTOR_REPLICATE);
  else if (in.len > out.len)
    rule_factor_1_1(b, (i64)in.len - 1, NO_DIM, in.data[in.len - 1], FACTOR_REPLICATE);
  return rule_end(b);
}

/* A dimension of size 1 that grows is not the one it grows to: sharding the result along it asks
 * nothing of the operand. */
static const rule *broadcast_rule(rule_builder *b, i64s dims) {
  i64s in = rule_shape(b, 0), out = rule_result_shape(b, 0);
  for (size_t d = 0; d < out.len; d++) {
    i64 from = NO_DIM;
    for (size_t i = 0; i < dims.len && i < in.len; i++)
      if (dims.data[i] == (i64)d) from = (i64)i;
    if (from != NO_DIM && in.data[from] == 1 && out.data[d] != 1) {
      rule_factor_1_1(b, from, NO_DIM, 1, FACTOR_PASS); /* expanded in place */
      from = NO_DIM;
    }
    rule_factor_1_1(b, from, (i64)d, out.data[d], FACTOR_PASS);
  }
  return rule_end(b);
}

const rule *rule_broadcast_in_dim(rule_builder *b, const op *o) {
  struct broadcast_in_dim_attrs v;
  if (!view_broadcast_in_dim(o, &v)) return NULL;
  return broadcast_rule(b, v.broadcast_dimensions);
}

const rule *extra_dynamic_broadcast_in_dim(rule_builder *b, const op *o) {
  struct dynamic_broadcast_in_dim_attrs v;
  b->num_data = 1;
  return view_dynamic_broadcast_in_dim(o, &v) ? broadcast_rule(b, v.broadcast_dimensions) : NULL;
}

const rule *rule_transpose(rule_builder *b, const op *o) {
  struct transpose_attrs v;
  if (!view_transpose(o, &v)) return NULL;
  i64s in = rule_shape(b, 0);
  for (size_t d = 0; d < v.permutation.len; d++) {
    i64 from = v.permutation.data[d];
    if ((u64)from >= in.len) return NULL;
    rule_factor_1_1(b, from, (i64)d, in.data[from], FACTOR_PASS);
  }
  return rule_end(b);
}

/* ---- reshape: both shapes cut at common borders where they have any ---- */

typedef struct side {
  i64s shape;
  size_t dim;
  i64 dims, factors; /* products of what has been entered and of what has been cut */
} side;

/* Dimensions of size 1 have a factor each and move no product. */
static bool at_one(const side *s) { return s->dim < s->shape.len && s->shape.data[s->dim] == 1; }
static void enter(side *s) {
  if (s->dim < s->shape.len && s->dims == s->factors) s->dims *= s->shape.data[s->dim];
}
static void leave(side *s) {
  if (s->dim < s->shape.len && s->dims == s->factors) s->dim++;
}

/* The next factor of the side that lags behind. */
static i64 diverged(i64 next, i64 common, i64 smaller, i64 larger) {
  if (larger % smaller == 0 && next % (larger / smaller) == 0) return larger / smaller;
  return next > common ? next / common : next;
}

/* Walks over both shapes from the major end, in step by products. Where the borders of both agree
 * so far, the greatest common divisor of what is left is a shared factor; where they do not, each
 * side is cut on its own until they agree again, and those parts are not shared. 0 elements:
 * products say nothing. */
const rule *rule_reshape(rule_builder *b, const op *o) {
  i64 elements;
  if (!type_num_elements(b->types[0], &elements) || elements == 0) return NULL;
  (void)o;
  side in = {rule_shape(b, 0), 0, 1, 1}, out = {rule_result_shape(b, 0), 0, 1, 1};
  while (in.dim < in.shape.len || out.dim < out.shape.len) {
    if (at_one(&in)) {
      rule_factor_1_1(b, (i64)in.dim++, NO_DIM, 1, FACTOR_PASS);
      continue;
    }
    if (at_one(&out)) {
      rule_factor_1_1(b, NO_DIM, (i64)out.dim++, 1, FACTOR_PASS);
      continue;
    }
    enter(&in);
    enter(&out);
    i64 n = in.dims / in.factors, m = out.dims / out.factors, common = gcd_i64(n, m);
    if (in.factors == out.factors && common > 1) {
      rule_factor_1_1(b, (i64)in.dim, (i64)out.dim, common, FACTOR_PASS);
      in.factors *= common;
      out.factors *= common;
    } else if (in.factors == out.factors) {
      if (n <= 1 || m <= 1) return NULL; /* element counts differ: not verified */
      rule_factor_1_1(b, (i64)in.dim, NO_DIM, n, FACTOR_PASS);
      in.factors *= n;
      rule_factor_1_1(b, NO_DIM, (i64)out.dim, m, FACTOR_PASS);
      out.factors *= m;
    } else if (in.factors < out.factors) {
      n = diverged(n, common, in.factors, out.factors);
      rule_factor_1_1(b, (i64)in.dim, NO_DIM, n, FACTOR_PASS);
      in.factors *= n;
    } else {
      m = diverged(m, common, out.factors, in.factors);
      rule_factor_1_1(b, NO_DIM, (i64)out.dim, m, FACTOR_PASS);
      out.factors *= m;
    }
    leave(&in);
    leave(&out);
  }
  return rule_end(b);
}

/* ---- cutting ---- */

static const value *before_slice(const value *v) {
  op *o = value_op(v);
  return o && op_is(o, slice) ? op_operand(o, 0) : v;
}
static bool is_slice(const value *v) {
  op *o = value_op(v);
  return o && op_is(o, slice);
}

/* concat(slice(l), slice(r)) and concat(slice(x), x, slice(x)) are rotations and halos. */
static bool is_rotation(const op *o) {
  bool all = true, any = false, same = true;
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    all &= is_slice(v);
    any |= is_slice(v);
    same &= before_slice(v) == before_slice(op_operand(o, 0));
  }
  return all || (same && any);
}

/* Pieces meet at any place of the dimension, so whole ones are needed, but for rotations, where a
 * neighbour's border is enough. */
const rule *rule_concatenate(rule_builder *b, const op *o) {
  struct concatenate_attrs v;
  if (!view_concatenate(o, &v)) return NULL;
  i64s out = rule_result_shape(b, 0);
  for (size_t d = 0; d < out.len; d++) {
    if ((i64)d != v.dimension)
      rule_factor_dim(b, (i64)d, out.data[d], FACTOR_PASS, false);
    else if (!b->set->conservative)
      rule_factor_dim(b, (i64)d, out.data[d],
                      is_rotation(o) ? FACTOR_PERMUTATION : FACTOR_REPLICATE, false);
  }
  return rule_end(b);
}

const rule *rule_slice(rule_builder *b, const op *o) {
  (void)o;
  rule_mismatch(b, rule_shape(b, 0), rule_result_shape(b, 0), FACTOR_PERMUTATION,
                b->set->conservative);
  return rule_end(b);
}

const rule *rule_pad(rule_builder *b, const op *o) { return rule_slice(b, o); }

/* Where the slice begins is known at run time only: no partitioner can say whose data is needed. */
const rule *rule_dynamic_slice(rule_builder *b, const op *o) {
  (void)o;
  i64s in = rule_shape(b, 0), out = rule_result_shape(b, 0);
  if (!b->set->apart) {
    rule_mismatch(b, in, out, FACTOR_REPLICATE, true);
    return rule_end(b);
  }
  for (i64 d = 0; d < (i64)in.len && d < (i64)out.len; d++) {
    bool same = in.data[d] == out.data[d];
    rule_factor_all(b, d, same ? d : NO_DIM, in.data[d], same ? FACTOR_PASS : FACTOR_REPLICATE,
                    !same);
    if (!same) rule_factor_all(b, NO_DIM, d, out.data[d], FACTOR_REPLICATE, true);
  }
  return rule_end(b);
}

static bool is_constant(const value *v) {
  op *o = value_op(v);
  return o && op_has(o, CONSTANT);
}

const rule *rule_dynamic_update_slice(rule_builder *b, const op *o) {
  i64s whole = rule_shape(b, 0), part = rule_shape(b, 1);
  bool fixed = true;
  for (u32 i = 2; i < o->num_operands; i++) fixed &= is_constant(op_operand(o, i));
  i64 *dims = ARENA_ARRAY(b->a, i64, o->num_operands);
  for (size_t d = 0; d < whole.len; d++) {
    if (whole.data[d] == part.data[d]) {
      rule_factor_dim(b, (i64)d, whole.data[d], FACTOR_PASS, false);
      continue;
    }
    /* the update is replicated along a dimension that it covers in part */
    for (u32 i = 0; i < o->num_operands; i++) dims[i] = NO_DIM;
    dims[0] = (i64)d;
    rule_factor(b, dims, &dims[0], whole.data[d], FACTOR_PASS, false);
    dims[0] = NO_DIM;
    dims[1] = (i64)d;
    rule_factor(b, dims, &dims[0], part.data[d], fixed ? FACTOR_PASS : FACTOR_REPLICATE, false);
  }
  return rule_end(b);
}

const rule *rule_reverse(rule_builder *b, const op *o) {
  struct reverse_attrs v;
  if (!view_reverse(o, &v)) return NULL;
  i64s out = rule_result_shape(b, 0);
  for (size_t d = 0; d < out.len; d++)
    rule_factor_dim(b, (i64)d, out.data[d],
                    i64s_contain(v.dimensions, (i64)d) ? FACTOR_PERMUTATION : FACTOR_PASS, false);
  return rule_end(b);
}

/* ---- gather and scatter ---- */

/* Gather and scatter in the terms of gather: input, indices, slices. A scatter's updates are the
 * slices, and its several inputs, which have one shape, are alike. */
typedef struct gather_form {
  i64s input, slices, indices; /* shapes */
  i64 index_vector_dim;
  i64s offset, collapsed, input_batching, indices_batching;
  bool scatter, combines; /* combines: by one reduction that partitioners know */
  u32 inputs;             /* scatter: how many arrays */
} gather_form;

/* The dimension that a factor has in each of the three, for as many inputs as there are. */
static void add_gather_factor(rule_builder *b, const gather_form *g, i64 input, i64 indices,
                              i64 slices, i64 size, factor_kind kind, bool blocked) {
  if (!g->scatter) {
    rule_factor(b, (const i64[]){input, indices}, &slices, size, kind, blocked);
    return;
  }
  i64 *dims = ARENA_ARRAY(b->a, i64, 2u * g->inputs + 1);
  i64 *results = ARENA_ARRAY(b->a, i64, g->inputs);
  for (u32 i = 0; i < g->inputs; i++) {
    dims[i] = results[i] = input;
    dims[g->inputs + 1 + i] = slices;
  }
  dims[g->inputs] = indices;
  rule_factor(b, dims, results, size, kind, blocked);
}

/* A dimension of the slices that is a window into `input`. */
static void add_window(rule_builder *b, const gather_form *g, i64 input, i64 slices) {
  i64 whole = g->input.data[input], part = g->slices.data[slices];
  if (whole == part) {
    add_gather_factor(b, g, input, NO_DIM, slices, whole, FACTOR_PASS, false);
  } else if (!g->scatter && part != 1) {
    add_gather_factor(b, g, input, NO_DIM, slices, whole, FACTOR_REPLICATE, true);
  } else {
    add_gather_factor(b, g, input, NO_DIM, NO_DIM, whole,
                      g->scatter ? FACTOR_REPLICATE : FACTOR_REDUCTION, false);
    add_gather_factor(b, g, NO_DIM, NO_DIM, slices, part, FACTOR_REPLICATE, false);
  }
}

/* A dimension of the slices that counts positions in the indices. It goes on to the input only
 * where it is a batching dimension of both. Scattered along it, different updates may meet in one
 * element, so shards of the result have to be combined. */
static void add_batch(rule_builder *b, const gather_form *g, i64 position, i64 slices) {
  i64 indices = position < g->index_vector_dim ? position : position + 1, input = NO_DIM;
  for (size_t i = 0; i < g->indices_batching.len && i < g->input_batching.len; i++)
    if (g->indices_batching.data[i] == indices) input = g->input_batching.data[i];
  factor_kind kind = FACTOR_PASS;
  if (g->scatter && input == NO_DIM) kind = g->combines ? FACTOR_REDUCTION : FACTOR_REPLICATE;
  add_gather_factor(b, g, input, indices, slices, g->slices.data[slices], kind, false);
}

/* Slices' dimensions in order: batch ones by their number among batches, windows by the next
 * dimension of the input that is neither collapsed nor batching. */
static const rule *gather_rule(rule_builder *b, const gather_form *g) {
  i64 input = 0, batch = 0;
  for (size_t d = 0; d < g->slices.len; d++) {
    if (!i64s_contain(g->offset, (i64)d)) {
      add_batch(b, g, batch++, (i64)d);
      continue;
    }
    while (i64s_contain(g->collapsed, input) || i64s_contain(g->input_batching, input)) input++;
    if ((size_t)input >= g->input.len) return NULL;
    add_window(b, g, input++, (i64)d);
  }
  for (size_t i = 0; i < g->collapsed.len; i++) {
    i64 d = g->collapsed.data[i];
    if ((u64)d >= g->input.len) return NULL;
    factor_kind kind = g->scatter              ? FACTOR_PASS
                       : g->input.data[d] == 1 ? FACTOR_REPLICATE
                                               : FACTOR_REDUCTION;
    add_gather_factor(b, g, d, NO_DIM, NO_DIM, g->input.data[d], kind, false);
  }
  if (g->index_vector_dim < (i64)g->indices.len)
    add_gather_factor(b, g, NO_DIM, g->index_vector_dim, NO_DIM,
                      g->indices.data[g->index_vector_dim], FACTOR_REPLICATE, false);
  return rule_end(b);
}

static const rule *rule_of_gather(rule_builder *b, const gather_dims_attr *d) {
  gather_form g = {.input = rule_shape(b, 0),
                   .indices = rule_shape(b, 1),
                   .slices = rule_result_shape(b, 0),
                   .index_vector_dim = d->index_vector_dim,
                   .offset = d->offset_dims,
                   .collapsed = d->collapsed_slice_dims,
                   .input_batching = d->operand_batching_dims,
                   .indices_batching = d->start_indices_batching_dims};
  return gather_rule(b, &g);
}

const rule *rule_gather(rule_builder *b, const op *o) {
  struct gather_attrs v;
  return view_gather(o, &v) ? rule_of_gather(b, v.dimension_numbers) : NULL;
}

const rule *extra_dynamic_gather(rule_builder *b, const op *o) {
  struct dynamic_gather_attrs v;
  b->num_data = 2;
  return view_dynamic_gather(o, &v) ? rule_of_gather(b, v.dimension_numbers) : NULL;
}

/* The body combines by one of the reductions that an all-reduce has. */
static bool scatter_combines(const op *o) {
  static const bool known[OP_COUNT] = {
      [OP_add] = true,      [OP_maximum] = true, [OP_minimum] = true,
      [OP_multiply] = true, [OP_and] = true,     [OP_or] = true,
  };
  const op *t = op_body(o, 0) ? op_terminator(op_body(o, 0)) : NULL;
  op_id first = OP_COUNT;
  for (u32 i = 0; t && i < t->num_operands; i++) {
    const op *r = value_op(op_operand(t, i));
    if (!r || op_kind(r) >= OP_COUNT || !known[op_kind(r)]) return false;
    if (i && op_kind(r) != first) return false;
    first = op_kind(r);
  }
  return first != OP_COUNT;
}

const rule *rule_scatter(rule_builder *b, const op *o) {
  struct scatter_attrs v;
  if (!view_scatter(o, &v) || o->num_operands % 2 == 0) return NULL;
  const scatter_dims_attr *d = v.scatter_dimension_numbers;
  u32 n = o->num_operands / 2;
  gather_form g = {.input = rule_shape(b, 0),
                   .indices = rule_shape(b, n),
                   .slices = rule_shape(b, n + 1),
                   .index_vector_dim = d->index_vector_dim,
                   .offset = d->update_window_dims,
                   .collapsed = d->inserted_window_dims,
                   .input_batching = d->input_batching_dims,
                   .indices_batching = d->scatter_indices_batching_dims,
                   .scatter = true,
                   .combines = scatter_combines(o),
                   .inputs = n};
  return gather_rule(b, &g);
}
