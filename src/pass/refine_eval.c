/* What the arithmetic of shapes comes to: integers, few at a time. */
#include "pass/refine.h"

enum { MOST = 256 };

typedef struct numbers {
  i64s in[8];
  i64 n; /* of the result */
} numbers;

typedef i64 number_fn(const op *o, i64 a, i64 b, i64 c);

static bool is_unsigned(const op *o, u32 k) {
  return type_element(op_operand(o, k)->type)->sign == UNSIGNED;
}

/* Wraps around, as the ops do. */
static i64 f_add(const op *o, i64 a, i64 b, i64 c) {
  return (void)o, (void)c, (i64)((u64)a + (u64)b);
}
static i64 f_subtract(const op *o, i64 a, i64 b, i64 c) {
  return (void)o, (void)c, (i64)((u64)a - (u64)b);
}
static i64 f_multiply(const op *o, i64 a, i64 b, i64 c) {
  return (void)o, (void)c, (i64)((u64)a * (u64)b);
}
/* By 0 as the specification's reference does: all bits; the least number by -1 wraps. */
static i64 f_divide(const op *o, i64 a, i64 b, i64 c) {
  (void)c;
  if (b == 0) return -1;
  if (is_unsigned(o, 0)) return (i64)((u64)a / (u64)b);
  return b == -1 ? (i64)(0 - (u64)a) : a / b;
}
static i64 f_remainder(const op *o, i64 a, i64 b, i64 c) {
  (void)c;
  if (b == 0) return a;
  if (is_unsigned(o, 0)) return (i64)((u64)a % (u64)b);
  return b == -1 ? 0 : a % b;
}
static bool less(const op *o, u32 k, i64 a, i64 b) {
  return is_unsigned(o, k) ? (u64)a < (u64)b : a < b;
}
static i64 f_maximum(const op *o, i64 a, i64 b, i64 c) { return (void)c, less(o, 0, a, b) ? b : a; }
static i64 f_minimum(const op *o, i64 a, i64 b, i64 c) { return (void)c, less(o, 0, b, a) ? b : a; }
static i64 f_and(const op *o, i64 a, i64 b, i64 c) { return (void)o, (void)c, a & b; }
static i64 f_or(const op *o, i64 a, i64 b, i64 c) { return (void)o, (void)c, a | b; }
static i64 f_xor(const op *o, i64 a, i64 b, i64 c) { return (void)o, (void)c, a ^ b; }
static i64 f_not(const op *o, i64 a, i64 b, i64 c) { return (void)o, (void)b, (void)c, ~a; }
static i64 f_negate(const op *o, i64 a, i64 b, i64 c) {
  return (void)o, (void)b, (void)c, (i64)(0 - (u64)a);
}
static i64 f_abs(const op *o, i64 a, i64 b, i64 c) {
  return (void)o, (void)b, (void)c, a < 0 ? (i64)(0 - (u64)a) : a;
}
static i64 f_sign(const op *o, i64 a, i64 b, i64 c) {
  return (void)o, (void)b, (void)c, (a > 0) - (a < 0);
}
static i64 f_convert(const op *o, i64 a, i64 b, i64 c) {
  (void)b, (void)c;
  return type_element(o->results[0].type)->width == 1 ? a != 0 : a;
}
static i64 f_select(const op *o, i64 a, i64 b, i64 c) { return (void)o, a & 1 ? b : c; }
static i64 f_clamp(const op *o, i64 a, i64 b, i64 c) {
  i64 low = less(o, 1, b, a) ? a : b;
  return less(o, 1, c, low) ? c : low;
}
static i64 f_compare(const op *o, i64 a, i64 b, i64 c) {
  enum { EQ, NE, GE, GT, LE, LT };
  struct compare_attrs v;
  (void)c;
  view_compare(o, &v);
  bool lt = less(o, 0, a, b), gt = less(o, 0, b, a);
  switch (v.comparison_direction->value) {
  case EQ:
    return !lt && !gt;
  case NE:
    return lt || gt;
  case GE:
    return !lt;
  case GT:
    return gt;
  case LE:
    return !gt;
  default:
    return lt;
  }
}

static number_fn *const elementwise[OP_COUNT] = {
    [OP_add] = f_add,
    [OP_subtract] = f_subtract,
    [OP_multiply] = f_multiply,
    [OP_divide] = f_divide,
    [OP_remainder] = f_remainder,
    [OP_maximum] = f_maximum,
    [OP_minimum] = f_minimum,
    [OP_and] = f_and,
    [OP_or] = f_or,
    [OP_xor] = f_xor,
    [OP_not] = f_not,
    [OP_negate] = f_negate,
    [OP_abs] = f_abs,
    [OP_sign] = f_sign,
    [OP_convert] = f_convert,
    [OP_select] = f_select,
    [OP_clamp] = f_clamp,
    [OP_compare] = f_compare,
};

/* ---- moving numbers ---- */

typedef bool move_fn(const op *o, const numbers *x, i64 *out);

static bool m_reshape(const op *o, const numbers *x, i64 *out) {
  (void)o;
  for (i64 i = 0; i < x->n; i++) out[i] = x->in[0].data[i];
  return true;
}

static bool m_concatenate(const op *o, const numbers *x, i64 *out) {
  struct concatenate_attrs a;
  size_t at = 0, outer = 1;
  if (!view_concatenate(o, &a)) return false;
  for (i64 d = 0; d < a.dimension; d++) outer *= (size_t)o->results[0].type->dims.data[d];
  for (size_t row = 0; row < outer; row++)
    for (u32 k = 0; k < o->num_operands; k++) {
      size_t n = x->in[k].len / outer;
      for (size_t i = 0; i < n; i++) out[at++] = x->in[k].data[row * n + i];
    }
  return true;
}

static bool m_slice(const op *o, const numbers *x, i64 *out) {
  struct slice_attrs a;
  if (o->results[0].type->dims.len != 1 || !view_slice(o, &a)) return false;
  for (i64 i = 0; i < x->n; i++)
    out[i] = x->in[0].data[a.start_indices.data[0] + i * a.strides.data[0]];
  return true;
}

/* Of one number to any shape. */
static bool m_broadcast(const op *o, const numbers *x, i64 *out) {
  (void)o;
  if (x->in[0].len != 1) return false;
  for (i64 i = 0; i < x->n; i++) out[i] = x->in[0].data[0];
  return true;
}

static bool m_iota(const op *o, const numbers *x, i64 *out) {
  if (o->results[0].type->dims.len != 1) return false;
  for (i64 i = 0; i < x->n; i++) out[i] = i;
  return true;
}

static move_fn *const moving[OP_COUNT] = {
    [OP_reshape] = m_reshape,
    [OP_dynamic_reshape] = m_reshape,
    [OP_concatenate] = m_concatenate,
    [OP_slice] = m_slice,
    [OP_broadcast_in_dim] = m_broadcast,
    [OP_dynamic_broadcast_in_dim] = m_broadcast,
    [OP_iota] = m_iota,
};

/* ---- the entry ---- */

static i64 cut(const type *elem, i64 v) {
  u32 w = elem->width;
  if (w == 1) return v & 1;
  if (w >= 64) return v;
  u64 low = (u64)v & ((1ull << w) - 1);
  return elem->sign == UNSIGNED ? (i64)low : (i64)(low << (64 - w)) >> (64 - w);
}

bool refine_number(const op *o, const i64 *in, i64 *out) {
  number_fn *f = op_kind(o) < OP_COUNT ? elementwise[op_kind(o)] : NULL;
  const type *t = type_element(o->results[0].type);
  i64 v[3] = {0};
  /* a sum of bits is one of them */
  if (!f || o->num_operands > COUNT(v) || t->kind != TYPE_INT || t->width > 64 ||
      (op_is(o, add) && t->width == 1))
    return false;
  for (u32 k = 0; k < o->num_operands; k++) {
    const type *from = type_element(op_operand(o, k)->type);
    if (from->kind != TYPE_INT || from->width > 64) return false;
    v[k] = cut(from, in[k]);
  }
  *out = cut(t, f(o, v[0], v[1], v[2]));
  return true;
}

static bool size_of_dimension(const op *o, i64 *out) {
  struct get_dimension_size_attrs a;
  if (!view_get_dimension_size(o, &a)) return false;
  const type *t = op_operand(o, 0)->type;
  if (t->kind != TYPE_TENSOR || t->dims.data[a.dimension] == DYNAMIC) return false;
  return *out = t->dims.data[a.dimension], true;
}

bool refine_eval(expander *e, const op *o, i64s *out) {
  numbers x = {.n = 0};
  if (op_kind(o) >= OP_COUNT || o->num_results != 1) return false;
  const type *t = o->results[0].type;
  if (t->kind != TYPE_TENSOR || t->elem->kind != TYPE_INT || t->elem->width > 64 ||
      !type_num_elements(t, &x.n) || x.n > MOST)
    return false;
  i64 *to = ARENA_ARRAY(e->a, i64, x.n + 1);
  *out = (i64s){to, (size_t)x.n};
  if (op_is(o, get_dimension_size)) return size_of_dimension(o, to);
  number_fn *f = elementwise[op_kind(o)];
  move_fn *move = moving[op_kind(o)];
  if ((!f && !move) || o->num_operands > COUNT(x.in)) return false;
  for (u32 k = 0; k < o->num_operands; k++) {
    const type *in = type_element(op_operand(o, k)->type);
    if (in->kind != TYPE_INT || !expand_get_ints(e, op_operand(o, k), &x.in[k])) return false;
    i64 *clean = ARENA_ARRAY(e->a, i64, x.in[k].len + 1);
    for (size_t i = 0; i < x.in[k].len; i++) clean[i] = cut(in, x.in[k].data[i]);
    x.in[k].data = clean;
  }
  if (move && !move(o, &x, to)) return false;
  for (i64 i = 0; f && i < x.n; i++) {
    i64 v[3] = {0};
    for (u32 k = 0; k < o->num_operands && k < 3; k++)
      v[k] = x.in[k].data[x.in[k].len == 1 ? 0 : i];
    to[i] = f(o, v[0], v[1], v[2]);
  }
  for (i64 i = 0; i < x.n; i++) to[i] = cut(t->elem, to[i]);
  return true;
}
