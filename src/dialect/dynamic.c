/* Ops whose shapes are values, where these are known: the ops of the same meaning that have them as
 * attributes. What the result's type says need not be said by a constant. */
#include "dialect/expand.h"
#include "dialect/verify.h"

bool expand_get_ints(expander *e, const value *v, i64s *out) {
  checker k = {.m = e->m, .c = e->c, .scratch = e->a};
  return constant_ints(&k, v, out);
}

/* Attributes of the same names go along. */
static value *become(expander *e, const op *o, op_id id, u32 operands) {
  value *in[2];
  for (u32 i = 0; i < operands; i++) in[i] = op_operand(o, i);
  op *n = expand_op(e, id, in, operands, &o->results[0].type, 1);
  for (u32 i = 0; i < o->info->num_slots; i++) {
    int slot = op_slot(n->info, str_of(o->info->slots[i].name));
    if (slot >= 0) n->slots[slot] = o->slots[i];
  }
  return op_result(n, 0);
}

/* Are all shapes known by their types? */
static bool is_static(const op *o) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (!type_is_static(op_operand(o, i)->type)) return false;
  return type_is_static(o->results[0].type);
}

bool expand_dynamic_reshape(expander *e, op *o, value **out) {
  if (!is_static(o)) return false;
  out[0] = become(e, o, OP_reshape, 1);
  return true;
}

/* The verifier takes truth values, of which iota makes none: all but the first are true. */
bool expand_dynamic_iota(expander *e, op *o, value **out) {
  const type *t = o->results[0].type, *i1 = type_i1(e->c);
  if (!is_static(o)) return false;
  if (t->elem == i1) o->results[0].type = expand_with_elem(e->c, t, type_i64(e->c));
  out[0] = become(e, o, OP_iota, 0);
  if (t->elem == i1) out[0] = expand_1(e, OP_convert, out[0], t);
  o->results[0].type = t;
  return true;
}

bool expand_dynamic_broadcast_in_dim(expander *e, op *o, value **out) {
  if (!is_static(o)) return false;
  out[0] = become(e, o, OP_broadcast_in_dim, 1);
  return true;
}

bool expand_dynamic_pad(expander *e, op *o, value **out) {
  i64s low, high, interior;
  if (!is_static(o)) return false;
  if (!expand_get_ints(e, op_operand(o, 2), &low) || !expand_get_ints(e, op_operand(o, 3), &high) ||
      !expand_get_ints(e, op_operand(o, 4), &interior))
    return op_error(e->c, o, "pads by numbers that are not known before it runs");
  out[0] = become(e, o, OP_pad, 2);
  op_set(value_op(out[0]), pad, edge_padding_low, attr_i64_array(e->c, low));
  op_set(value_op(out[0]), pad, edge_padding_high, attr_i64_array(e->c, high));
  op_set(value_op(out[0]), pad, interior_padding, attr_i64_array(e->c, interior));
  return true;
}

static bool has(i64s list, i64 v) {
  for (size_t i = 0; i < list.len; i++)
    if (list.data[i] == v) return true;
  return false;
}

/* One element along dimensions that the result lacks; the result's sizes along the others. */
static i64s sizes_of_result(expander *e, const op *o, const gather_dims_attr *dims) {
  size_t rank = op_operand(o, 0)->type->dims.len, next = 0;
  i64 *sizes = ARENA_ARRAY(e->a, i64, rank + 1);
  for (size_t d = 0; d < rank; d++) {
    bool gone = has(dims->collapsed_slice_dims, (i64)d) || has(dims->operand_batching_dims, (i64)d);
    sizes[d] = gone || next >= dims->offset_dims.len
                   ? 1
                   : o->results[0].type->dims.data[dims->offset_dims.data[next++]];
  }
  return (i64s){sizes, rank};
}

bool expand_dynamic_gather(expander *e, op *o, value **out) {
  struct dynamic_gather_attrs a;
  if (!is_static(o) || !view_dynamic_gather(o, &a)) return false;
  i64s sizes;
  if (!expand_get_ints(e, op_operand(o, 2), &sizes))
    sizes = sizes_of_result(e, o, a.dimension_numbers);
  out[0] = become(e, o, OP_gather, 2);
  op_set(value_op(out[0]), gather, slice_sizes, attr_i64_array(e->c, sizes));
  return true;
}

bool expand_dynamic_conv(expander *e, op *o, value **out) {
  i64s padding;
  if (!is_static(o)) return false;
  if (!expand_get_ints(e, op_operand(o, 2), &padding))
    return op_error(e->c, o, "pads by numbers that are not known before it runs");
  i64 dims[] = {(i64)padding.len / 2, 2};
  out[0] = become(e, o, OP_convolution, 2);
  op_set(value_op(out[0]), convolution, padding,
         attr_dense_i64(e->c, (i64s){dims, 2}, padding.data));
  return true;
}

bool expand_arith_constant(expander *e, op *o, value **out) {
  const type *t = o->results[0].type;
  if (t->kind != TYPE_TENSOR) return false;
  out[0] = op_result(expand_op(e, OP_constant, NULL, 0, &t, 1), 0);
  op_set(value_op(out[0]), constant, value, op_attr(o, SLOT_NAME(value)));
  return true;
}
