/* Products that sum up nothing: each element is one product, as multiply has it. */
#include "dialect/expand.h"

bool expand_is_outer(const op *o) {
  struct dot_general_attrs a;
  const type *x = op_operand(o, 0)->type, *y = op_operand(o, 1)->type, *t = o->results[0].type;
  return view_dot_general(o, &a) && !a.algorithm &&
         !a.dot_dimension_numbers->lhs_contracting_dimensions.len && x->elem == t->elem &&
         y->elem == t->elem && type_is_static(x) && type_is_static(y);
}

/* In the result's shape: batch dimensions come first there, then the others from `next` on. */
static value *spread(expander *e, value *v, i64s batch, i64 next, const type *t) {
  i64s dims = {ARENA_ARRAY(e->a, i64, v->type->dims.len + 1), v->type->dims.len};
  i64 *at = (i64 *)(uintptr_t)dims.data;
  for (size_t d = 0; d < dims.len; d++) {
    size_t k = 0;
    while (k < batch.len && batch.data[k] != (i64)d) k++;
    at[d] = k < batch.len ? (i64)k : next++;
  }
  value *wide = expand_1(e, OP_broadcast_in_dim, v, t);
  op_set(wide->def.op, broadcast_in_dim, broadcast_dimensions, attr_i64_array(e->c, dims));
  return wide;
}

bool expand_outer(expander *e, op *o, value **out) {
  struct dot_general_attrs a;
  if (!view_dot_general(o, &a)) return false;
  i64s batch[] = {a.dot_dimension_numbers->lhs_batching_dimensions,
                  a.dot_dimension_numbers->rhs_batching_dimensions};
  const type *t = o->results[0].type;
  value *x = spread(e, op_operand(o, 0), batch[0], (i64)batch[0].len, t);
  value *y = spread(e, op_operand(o, 1), batch[1], (i64)op_operand(o, 0)->type->dims.len, t);
  out[0] = expand_2(e, OP_multiply, x, y, t);
  return true;
}
