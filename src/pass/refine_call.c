/* Custom calls that JAX writes in place of ops where their sizes are operands, and the shapes of
 * results that any custom call may have among its operands. The names are JAX's
 * (jax/_src/interpreters/mlir.py, lax.py, ann.py); openxla/stablehlo
 * transforms/StablehloCanonicalizeDynamism.cpp has the same purpose. */
#include "dialect/dialect.h"
#include "pass/refine.h"

#define SHAPE_OPERANDS STR("indices_of_shape_operands")
#define RNG_ALGORITHM STR("rng_algorithm")
#define BACKEND_CONFIG STR("mhlo.backend_config")

/* What takes the call's place, with as many results; NULL: sizes are missing, or it is not of the
 * form. */
typedef op *call_fn(expander *e, op *o);

/* Inputs, initial values, then five numbers a dimension: window, strides, dilations of base and
 * window, padding. */
static op *dynamic_reduce_window(expander *e, op *o) {
  size_t n = o->num_results, rank;
  i64s v[5];
  op *f = expand_called(e, o);
  if (!n || o->num_operands != 2 * n + COUNT(v) || !f) return NULL;
  rank = op_operand(o, 0)->type->dims.len;
  for (size_t i = 0; i < COUNT(v); i++)
    if (!refine_known(e, op_operand(o, (u32)(2 * n + i)), &v[i]) ||
        v[i].len != (i == 4 ? 2 * rank : rank))
      return NULL;
  const type **out = ARENA_ARRAY(e->a, const type *, n);
  value **in = ARENA_ARRAY(e->a, value *, 2 * n);
  for (size_t i = 0; i < n; i++) out[i] = o->results[i].type;
  for (u32 i = 0; i < 2 * n; i++) in[i] = op_operand(o, i);
  op *w = expand_op(e, OP_reduce_window, in, 2 * n, out, n);
  op_set(w, reduce_window, window_dimensions, attr_i64_array(e->c, v[0]));
  op_set(w, reduce_window, window_strides, attr_i64_array(e->c, v[1]));
  op_set(w, reduce_window, base_dilations, attr_i64_array(e->c, v[2]));
  op_set(w, reduce_window, window_dilations, attr_i64_array(e->c, v[3]));
  op_set(w, reduce_window, padding,
         attr_dense_i64(e->c, (i64s){(i64[]){(i64)rank, 2}, 2}, v[4].data));
  block *to = block_create(e->m);
  region_append(&w->regions[0], to);
  for (u32 i = 0; i < op_body(f, 0)->num_args; i++)
    block_add_arg(e->m, to, op_body(f, 0)->args[i]->type);
  expand_copy_body(e, f, to);
  return w;
}

/* The state, and the shape of the bits. */
static op *dynamic_rng(expander *e, op *o) {
  const attr *algorithm = op_discardable(o, RNG_ALGORITHM);
  i64s dims;
  if (o->num_operands != 2 || o->num_results != 2 || !attr_is(rng_algorithm, algorithm) ||
      !refine_known(e, op_operand(o, 1), &dims))
    return NULL;
  const type *out[] = {o->results[0].type,
                       type_tensor(e->c, dims, type_element(o->results[1].type), NULL)};
  op *r = expand_op(e, OP_rng_bit_generator, (value *[]){op_operand(o, 0)}, 1, out, 2);
  op_set(r, rng_bit_generator, rng_algorithm, algorithm);
  return r;
}

/* With `k` along the last dimension of results that are like the operand. */
static void top_types(expander *e, const op *o, i64 k, const type **out) {
  for (u32 i = 0; i < 2; i++) {
    i64s in = op_operand(o, 0)->type->dims;
    i64 *dims = arena_copy(e->a, in.data, in.len * sizeof *dims);
    dims[in.len - 1] = k;
    out[i] = type_tensor(e->c, (i64s){dims, in.len}, type_element(o->results[i].type), NULL);
  }
}

static op *dynamic_top_k(expander *e, op *o) {
  const type *out[2];
  i64s k;
  if (o->num_operands != 2 || o->num_results != 2 || !op_operand(o, 0)->type->dims.len ||
      !refine_known(e, op_operand(o, 1), &k) || k.len != 1 || k.data[0] < 0)
    return NULL;
  top_types(e, o, k.data[0], out);
  op *t = expand_op(e, OP_chlo_top_k, (value *[]){op_operand(o, 0)}, 1, out, 2);
  op_set(t, chlo_top_k, k, attr_int(e->c, type_int(e->c, 64, SIGNLESS), k.data[0]));
  return t;
}

/* ApproxTopK whose k is the last operand. */
static op *dynamic_approx_top_k(expander *e, op *o) {
  const attr *config = op_discardable(o, BACKEND_CONFIG);
  const dict_attr *d = attr_as(dict, config);
  i64s k;
  if (!o->num_operands || !d || op_discardable(o, SHAPE_OPERANDS) ||
      !refine_known(e, op_operand(o, o->num_operands - 1u), &k) || k.len != 1)
    return NULL;
  size_t n = d->names.len;
  named_attr *entries = ARENA_ARRAY(e->a, named_attr, n + 1);
  for (size_t i = 0; i < n; i++) entries[i] = (named_attr){d->names.data[i], d->values.data[i]};
  entries[n] = (named_attr){attr_string(e->c, STR("top_k")),
                            attr_int(e->c, type_int(e->c, 64, SIGNLESS), k.data[0])};
  op_set(o, custom_call, call_target_name, attr_string(e->c, STR("ApproxTopK")));
  op_set_attr(e->m, o, BACKEND_CONFIG, attr_dict(e->c, entries, n + 1));
  value **in = ARENA_ARRAY(e->a, value *, o->num_operands);
  for (u32 i = 0; i + 1 < o->num_operands; i++) in[i] = op_operand(o, i);
  op_set_operands(e->m, o, in, o->num_operands - 1u);
  return o;
}

static const struct {
  const char *target;
  call_fn *make;
} calls[] = {
    {"stablehlo.dynamic_reduce_window", dynamic_reduce_window},
    {"stablehlo.dynamic_rng_bit_generator", dynamic_rng},
    {"stablehlo.dynamic_top_k", dynamic_top_k},
    {"stablehlo.dynamic_approx_top_k", dynamic_approx_top_k},
};

/* Results take their shapes from operands, the last ones, which then go; so do their layouts. */
static void settle_results(expander *e, op *o, const struct custom_call_attrs *a) {
  const attr *at = op_discardable(o, SHAPE_OPERANDS);
  i64s places, dims;
  if (!at || !attr_get_i64s(e->c, at, &places) || places.len != o->num_results) return;
  size_t first = o->num_operands - places.len;
  const type **types = ARENA_ARRAY(e->a, const type *, places.len + 1);
  for (size_t i = 0; i < places.len; i++) {
    if (places.len > o->num_operands || places.data[i] != (i64)(first + i) ||
        !refine_known(e, op_operand(o, (u32)(first + i)), &dims) ||
        o->results[i].type->kind != TYPE_TENSOR || o->results[i].type->dims.len != dims.len)
      return;
    for (size_t d = 0; d < dims.len; d++)
      if (dims.data[d] < 0) return;
    types[i] = type_tensor(e->c, dims, type_element(o->results[i].type), NULL);
  }
  value **in = ARENA_ARRAY(e->a, value *, first + 1);
  for (u32 i = 0; i < first; i++) in[i] = op_operand(o, i);
  for (size_t i = 0; i < places.len; i++) o->results[i].type = types[i];
  op_set_operands(e->m, o, in, first);
  op_set_attr(e->m, o, SHAPE_OPERANDS, NULL);
  if (a->operand_layouts.len > first)
    op_set(o, custom_call, operand_layouts,
           attr_array(e->c, (attrs){a->operand_layouts.data, first}));
}

op *refine_call(expander *e, op *o) {
  struct custom_call_attrs a;
  if (!op_is(o, custom_call) || !view_custom_call(o, &a)) return o;
  settle_results(e, o, &a);
  for (size_t i = 0; i < COUNT(calls); i++) {
    if (!str_is(a.call_target_name, calls[i].target)) continue;
    op *made = calls[i].make(e, o);
    if (!made || made == o) return o;
    for (u32 k = 0; k < o->num_results; k++) value_replace(op_result(o, k), op_result(made, k));
    op_erase(o);
    return made;
  }
  return o;
}
