/* Sizes as MLIR's shape, tensor and arith have them: scalars of type index, and tensors of these.
 */
#include "pass/refine.h"

bool refine_known(expander *e, const value *v, i64s *out) {
  const op *o = value_op(v);
  const integer_attr *i = o && op_is(o, arith_constant) ? attr_as(integer, o->slots[0]) : NULL;
  if (!i) return expand_get_ints(e, v, out);
  if (i->wide.len) return false;
  i64 *one = ARENA_ARRAY(e->a, i64, 1);
  one[0] = i->value;
  return *out = (i64s){one, 1}, true;
}

static bool all_known(expander *e, const op *o, i64s *in, u32 most) {
  if (o->num_operands > most) return false;
  for (u32 i = 0; i < o->num_operands; i++)
    if (!refine_known(e, op_operand(o, i), &in[i])) return false;
  return true;
}

static i64s one_of(expander *e, i64 v) {
  i64 *list = ARENA_ARRAY(e->a, i64, 1);
  list[0] = v;
  return (i64s){list, 1};
}

typedef bool index_fn(expander *e, const op *o, i64s *out);

static bool x_shape_of(expander *e, const op *o, i64s *out) {
  (void)e;
  const type *t = op_operand(o, 0)->type;
  if (t->kind != TYPE_TENSOR || !type_is_static(t)) return false;
  return *out = t->dims, true;
}

static bool x_dim(expander *e, const op *o, i64s *out) {
  const type *t = op_operand(o, 0)->type;
  i64s at;
  if (t->kind != TYPE_TENSOR || !refine_known(e, op_operand(o, 1), &at) || at.data[0] < 0 ||
      at.data[0] >= (i64)t->dims.len || t->dims.data[at.data[0]] == DYNAMIC)
    return false;
  return *out = one_of(e, t->dims.data[at.data[0]]), true;
}

static bool x_from_elements(expander *e, const op *o, i64s *out) {
  i64 *list = ARENA_ARRAY(e->a, i64, o->num_operands + 1u);
  for (u32 i = 0; i < o->num_operands; i++) {
    i64s v;
    if (!refine_known(e, op_operand(o, i), &v) || v.len != 1) return false;
    list[i] = v.data[0];
  }
  return *out = (i64s){list, o->num_operands}, true;
}

static bool x_extract(expander *e, const op *o, i64s *out) {
  const type *t = op_operand(o, 0)->type;
  i64s all, at;
  i64 place = 0;
  if (!refine_known(e, op_operand(o, 0), &all) || t->dims.len + 1 != o->num_operands) return false;
  for (size_t d = 0; d < t->dims.len; d++) {
    if (!refine_known(e, op_operand(o, d + 1), &at) || at.data[0] < 0 ||
        at.data[0] >= t->dims.data[d])
      return false;
    place = place * t->dims.data[d] + at.data[0];
  }
  return place < (i64)all.len && (*out = one_of(e, all.data[place]), true);
}

/* MLIR leaves division by zero and the like open; they are not known. */
static bool arith(const op *o, i64 a, i64 b, i64 *out) {
  enum { EQ, NE, SLT, SLE, SGT, SGE };
  i64 how = -1;
  if (op_is(o, addi)) return checked_add(a, b, out);
  if (op_is(o, subi)) return b != INT64_MIN && checked_add(a, -b, out);
  if (op_is(o, muli)) return checked_mul(a, b, out);
  if (op_is(o, divsi)) return b != 0 && !(a == INT64_MIN && b == -1) && (*out = a / b, true);
  if (op_is(o, maxsi)) return *out = max_i64(a, b), true;
  if (!op_is(o, cmpi) || !attr_get_i64(op_attr(o, SLOT_NAME(predicate)), &how)) return false;
  bool is[] = {
      [EQ] = a == b, [NE] = a != b, [SLT] = a<b, [SLE] = a <= b, [SGT] = a> b, [SGE] = a >= b};
  return how >= 0 && how < (i64)COUNT(is) && (*out = is[how], true);
}

static bool x_arith(expander *e, const op *o, i64s *out) {
  i64s in[2];
  if (!all_known(e, o, in, 2) || in[0].len != in[1].len) return false;
  i64 *list = ARENA_ARRAY(e->a, i64, in[0].len + 1);
  for (size_t i = 0; i < in[0].len; i++)
    if (!arith(o, in[0].data[i], in[1].data[i], &list[i])) return false;
  return *out = (i64s){list, in[0].len}, true;
}

static bool x_select(expander *e, const op *o, i64s *out) {
  i64s in[3];
  if (!all_known(e, o, in, 3) || in[0].len != 1) return false;
  return *out = in[0].data[0] & 1 ? in[1] : in[2], true;
}

bool refine_broadcast(expander *e, const op *o, i64s *out) {
  size_t rank = 0;
  i64s *in = ARENA_ARRAY(e->a, i64s, o->num_operands + 1u);
  if (!all_known(e, o, in, o->num_operands)) return false;
  for (u32 i = 0; i < o->num_operands; i++) rank = rank < in[i].len ? in[i].len : rank;
  i64 *list = ARENA_ARRAY(e->a, i64, rank + 1);
  for (size_t d = 0; d < rank; d++) list[d] = 1;
  for (u32 i = 0; i < o->num_operands; i++)
    for (size_t d = 0; d < in[i].len; d++) {
      i64 *to = &list[rank - in[i].len + d], n = in[i].data[d];
      if (n != 1 && *to != 1 && n != *to) return false;
      if (n != 1) *to = n;
    }
  return *out = (i64s){list, rank}, true;
}

static index_fn *const index_of[OP_COUNT] = {
    [OP_shape_of] = x_shape_of,
    [OP_shape_broadcast] = refine_broadcast,
    [OP_tensor_dim] = x_dim,
    [OP_from_elements] = x_from_elements,
    [OP_tensor_extract] = x_extract,
    [OP_addi] = x_arith,
    [OP_subi] = x_arith,
    [OP_muli] = x_arith,
    [OP_divsi] = x_arith,
    [OP_maxsi] = x_arith,
    [OP_cmpi] = x_arith,
    [OP_arith_select] = x_select,
};

bool refine_index(expander *e, const op *o, i64s *out) {
  index_fn *fn = op_kind(o) < OP_COUNT ? index_of[op_kind(o)] : NULL;
  return fn && fn(e, o, out);
}
