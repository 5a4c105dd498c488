/* A sum along one of two dimensions of what is 0 but where their indices are the same, as
 * einsum("bii->bi") becomes, reads every element; what it is is the diagonal. */
#include "compile/flatten.h"
#include "compile/lower.h"
#include "dialect/expand.h"
#include "pass/passes.h"

static bool is_zero(const value *v) {
  const op *o = value_op(v);
  if (o && op_is(o, broadcast_in_dim)) v = op_operand(o, 0);
  return splat_is(value_constant(v), 0);
}

bool flatten_is_sum(const op *o) {
  const block *body = op_body(o, 0);
  const op *add = body->first, *end = op_terminator(body);
  return body->num_args == 2 && add != end && op_is(add, add) && add->next == end &&
         op_operand(add, 0) != op_operand(add, 1) && op_operand(add, 0)->is_arg &&
         op_operand(add, 1)->is_arg && op_operand(end, 0) == op_result(add, 0) &&
         is_zero(op_operand(o, 1)) &&
         type_element(op_operand(o, 0)->type) == type_element(op_result(o, 0)->type);
}

/* Which dimension's index v is, that is not only one. */
static bool find_iota(const value *v, i64 *dim) {
  struct iota_attrs a;
  const op *o = value_op(v);
  if (!o || !op_is(o, iota) || !type_is_static(v->type) || !view_iota(o, &a)) return false;
  const type *t = type_element(v->type);
  i64 n = v->type->dims.data[ *dim = a.iota_dimension];
  return t->kind == TYPE_INT && n > 1 && (t->width >= 32 || n < 1 << (t->width - 1));
}

/* The two dimensions, the first one first, whose indices are the same where v is true. */
static bool find_same(const value *v, i64 *dims) {
  struct broadcast_in_dim_attrs b;
  struct compare_attrs c;
  const op *o = value_op(v);
  if (o && op_is(o, broadcast_in_dim) && view_broadcast_in_dim(o, &b)) {
    if (!find_same(op_operand(o, 0), dims)) return false;
    for (u32 i = 0; i < 2; i++) dims[i] = b.broadcast_dimensions.data[dims[i]];
  } else if (!o || !op_is(o, compare) || !view_compare(o, &c) ||
             c.comparison_direction->value != COMPARE_EQ ||
             !find_iota(op_operand(o, 0), &dims[0]) || !find_iota(op_operand(o, 1), &dims[1])) {
    return false;
  }
  if (dims[0] > dims[1]) {
    i64 t = dims[0];
    dims[0] = dims[1], dims[1] = t;
  }
  return true;
}

/* What is computed had better be computed for the sum. */
static bool is_there(const value *v) {
  const op *o = value_op(v);
  return type_is_static(v->type) && (!o || !select_is_elementwise(o));
}

bool flatten_diagonal(ir_module *m, arena *scratch, op *o) {
  struct reduce_attrs r;
  i64 same[2], all;
  const op *chosen = o->num_operands == 2 ? value_op(op_operand(o, 0)) : NULL;
  if (!chosen || !op_is(chosen, select) || !view_reduce(o, &r) || r.dimensions.len != 1 ||
      !flatten_is_sum(o) || !is_zero(op_operand(chosen, 2)) ||
      !find_same(op_operand(chosen, 0), same))
    return false;
  value *x = op_operand(chosen, 1);
  i64 d = same[0], n = x->type->dims.data[d];
  if (same[1] != d + 1 || (r.dimensions.data[0] != d && r.dimensions.data[0] != d + 1) ||
      x->type->dims.data[d + 1] != n || n < 2 || !is_there(x) || !checked_mul(n, n, &all))
    return false;
  /* [.., n, n, ..] -> [.., n * n, ..] -> each (n + 1)-th */
  expander e = expander_before(m, scratch, o);
  const type *t = op_result(o, 0)->type;
  u64 rank = t->dims.len;
  i64 *dims = arena_copy(scratch, t->dims.data, rank * sizeof(i64));
  i64 *end = arena_copy(scratch, t->dims.data, rank * sizeof(i64));
  i64 *begin = arena_zalloc(scratch, rank * sizeof(i64)), *step = ARENA_ARRAY(scratch, i64, rank);
  for (u64 k = 0; k < rank; k++) step[k] = 1;
  dims[d] = end[d] = all, step[d] = n + 1;
  value *flat = expand_1(&e, OP_reshape, x, expand_tensor(&e, dims, rank, type_element(t)));
  value *line = expand_1(&e, OP_slice, flat, t);
  op *cut = line->def.op;
  op_set(cut, slice, start_indices, attr_i64_array(e.c, ((i64s){begin, rank})));
  op_set(cut, slice, limit_indices, attr_i64_array(e.c, ((i64s){end, rank})));
  op_set(cut, slice, strides, attr_i64_array(e.c, ((i64s){step, rank})));
  value *zero = expand_constant(&e, t, number_int(0)); /* of a sum that begins there, -0 is 0 */
  value_replace(op_result(o, 0), expand_2(&e, OP_add, line, zero, t));
  return true;
}
