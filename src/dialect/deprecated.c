/* Deprecated ops as the ops that took their place, and composites as calls.
 *
 * openxla/stablehlo transforms/StablehloLegalizeDeprecatedOps.cpp and
 * StablehloLegalizeCompositeToCall.cpp: the same ops in the same order. The passes of those names
 * run expand_all with the two lookups here. */
#include "dialect/expand.h"

/* dot contracts the last dimension of the left with the first of the right, for vectors and
 * matrices alike (it has no batch dimensions). */
static bool expand_dot(expander *e, op *o, value **out) {
  value *x = op_operand(o, 0), *y = op_operand(o, 1);
  if (!type_is_ranked(x->type) || !x->type->dims.len) return false;
  i64 last = (i64)x->type->dims.len - 1, first = 0;
  out[0] = expand_2(e, OP_dot_general, x, y, o->results[0].type);
  op_set(out[0]->def.op, dot_general, dot_dimension_numbers,
         attr_make(e->c, dot, .lhs_contracting_dimensions = {&last, 1},
                   .rhs_contracting_dimensions = {&first, 1}));
  op_set(out[0]->def.op, dot_general, precision_config, op_attr(o, SLOT_NAME(precision_config)));
  return true;
}

bool expand_broadcast_sizes(expander *e, op *o, value **out) {
  const type *t = o->results[0].type;
  value *x = op_operand(o, 0);
  i64 begin = (i64)t->dims.len - (i64)x->type->dims.len;
  out[0] = expand_broadcast(e, OP_broadcast_in_dim, x, NULL, t, begin);
  return true;
}

static bool expand_create_token(expander *e, op *o, value **out) {
  out[0] = op_result(expand_op(e, OP_after_all, NULL, 0, &o->results[0].type, 1), 0);
  return true;
}

/* "ab->a" with an einsum ",ab->a" whose left is the scalar 1; the driver then sees an einsum, which
 * stays. */
static bool expand_unary_einsum(expander *e, op *o, value **out) {
  str config = {0};
  attr_get_str(op_attr(o, SLOT_NAME(einsum_config)), &config);
  value *x = op_operand(o, 0);
  value *one = expand_constant(e, expand_tensor(e, NULL, 0, type_element(x->type)), number_int(1));
  if (!one) return false;
  out[0] = expand_2(e, OP_einsum, one, x, o->results[0].type);
  str both = arena_printf(e->a, "," STR_FMT, STR_ARG(config));
  op_set(out[0]->def.op, einsum, einsum_config, attr_string(e->c, both));
  return true;
}

/* An all_reduce whose region adds, which the old op only implied. */
bool expand_cross_replica_sum(expander *e, op *o, value **out) {
  value *x = op_operand(o, 0);
  const type *t = o->results[0].type;
  op *sum = expand_op(e, OP_all_reduce, &x, 1, &t, 1);
  op_set(sum, all_reduce, replica_groups, op_attr(o, SLOT_NAME(replica_groups)));
  expand_adder(e, &sum->regions[0], expand_tensor(e, NULL, 0, type_element(t)));
  out[0] = op_result(sum, 0);
  return true;
}

/* To fail is to report that the op cannot be legalized. */
static bool refuse(expander *e, op *o, value **out) {
  (void)e, (void)o, (void)out;
  return false;
}

static expand_fn *const deprecated[OP_COUNT] = {
    [OP_dot] = expand_dot,
    [OP_broadcast] = expand_broadcast_sizes,
    [OP_create_token] = expand_create_token,
    [OP_unary_einsum] = expand_unary_einsum,
    [OP_cross_replica_sum] = expand_cross_replica_sum,
};

expand_fn *expand_deprecated(void *user, const op *o) {
  bool strict = *(const bool *)user;
  if (op_kind(o) >= OP_COUNT) return NULL;
  if (strict && (op_is(o, map) || op_is(o, rng))) return refuse;
  return deprecated[op_kind(o)];
}

/* ---- composites ---- */

static bool expand_to_call(expander *e, op *o, value **out) {
  const type **types = ARENA_ARRAY(e->a, const type *, o->num_results + 1u);
  value **in = ARENA_ARRAY(e->a, value *, o->num_operands + 1u);
  for (u32 i = 0; i < o->num_results; i++) types[i] = o->results[i].type;
  for (u32 i = 0; i < o->num_operands; i++) in[i] = op_operand(o, i);
  op *call = expand_op(e, OP_call, in, o->num_operands, types, o->num_results);
  op_set(call, call, callee, op_attr(o, SLOT_NAME(decomposition)));
  for (u32 i = 0; i < o->num_results; i++) out[i] = op_result(call, i);
  return true;
}

static bool is_listed(str list, str name) {
  if (!list.len) return false;
  for (size_t i = 0, begin = 0; i <= list.len; i++) {
    if (i < list.len && list.data[i] != ',') continue;
    if (str_eq((str){list.data + begin, i - begin}, name)) return true;
    begin = i + 1;
  }
  return false;
}

expand_fn *expand_composite(void *user, const op *o) {
  struct composite_attrs v;
  if (!op_is(o, composite) || !view_composite(o, &v)) return NULL;
  return is_listed(*(const str *)user, v.name) ? NULL : expand_to_call;
}
