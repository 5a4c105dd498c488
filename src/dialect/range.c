/* What integers can be, as far as constants, clamps and the counters of loops say: in
 * `while (i < n)`, an i that begins at 0 and only grows is one of 0 to n - 1. */
#include "dialect/expand.h"

enum { DEPTH = 8 };

static range find(const value *v, u32 depth);

/* Whose numbers an i64 has. */
static bool is_known(const type *t) {
  return t->kind == TYPE_INT && (t->width < 64 || (t->width == 64 && t->sign != UNSIGNED));
}

/* All that the type has. */
static range all_of(const value *v) {
  const type *t = type_element(v->type);
  if (!is_known(t) || t->width == 64) return (range){INT64_MIN, INT64_MAX};
  i64 half = (i64)1 << (t->width - 1);
  bool positive = t->sign == UNSIGNED || t->width == 1;
  return positive ? (range){0, 2 * half - 1} : (range){-half, half - 1};
}

/* That of an exact result; what wraps may be anything. */
static range exact(const value *v, bool is, range r) {
  range all = all_of(v);
  return is && r.lo >= all.lo && r.hi <= all.hi ? r : all;
}

static range part(const op *o, u32 i, u32 depth) { return find(op_operand(o, i), depth); }

/* ---- ops ---- */

static range of_constant(const op *o, u32 depth) {
  const dense_attr *d = attr_as(dense, op_attr(o, SLOT_NAME(value)));
  const value *v = op_result(o, 0);
  i64 n;
  (void)depth;
  if (!d || !type_num_elements(v->type, &n) || (n != 1 && !d->splat)) return all_of(v);
  i64 x = attr_dense_int(&d->base, 0);
  return exact(v, true, (range){x, x});
}

static range of_iota(const op *o, u32 depth) {
  const value *v = op_result(o, 0);
  struct iota_attrs a;
  (void)depth;
  bool is = view_iota(o, &a) && type_is_static(v->type);
  return exact(v, is, is ? (range){0, v->type->dims.data[a.iota_dimension] - 1} : (range){0});
}

static range of_same(const op *o, u32 depth) {
  bool is = is_known(type_element(op_operand(o, 0)->type));
  return exact(op_result(o, 0), is, part(o, 0, depth));
}

static range of_add(const op *o, u32 depth) {
  range x = part(o, 0, depth), y = part(o, 1, depth), sum;
  bool is = checked_add(x.lo, y.lo, &sum.lo) && checked_add(x.hi, y.hi, &sum.hi);
  return exact(op_result(o, 0), is, sum);
}

static range of_subtract(const op *o, u32 depth) {
  range x = part(o, 0, depth), y = part(o, 1, depth), sum;
  bool is = checked_sub(x.lo, y.hi, &sum.lo) && checked_sub(x.hi, y.lo, &sum.hi);
  return exact(op_result(o, 0), is, sum);
}

static i64 sign(i64 x) { return (x > 0) - (x < 0); }
static range of_sign(const op *o, u32 depth) {
  range x = part(o, 0, depth);
  return exact(op_result(o, 0), true, (range){sign(x.lo), sign(x.hi)});
}

/* Of what is not negative. */
static range of_multiply(const op *o, u32 depth) {
  range x = part(o, 0, depth), y = part(o, 1, depth), r = {0};
  bool is = x.lo >= 0 && y.lo >= 0 && checked_mul(x.hi, y.hi, &r.hi);
  return exact(op_result(o, 0), is, (range){is ? x.lo * y.lo : 0, r.hi});
}

static range of_divide(const op *o, u32 depth) {
  range x = part(o, 0, depth), y = part(o, 1, depth);
  if (x.lo < 0 || y.lo <= 0) return all_of(op_result(o, 0));
  return (range){x.lo / y.hi, x.hi / y.lo};
}

static range of_shift(const op *o, u32 depth) {
  range x = part(o, 0, depth), y = part(o, 1, depth);
  if (x.lo < 0 || y.lo != y.hi || y.lo < 0 || y.lo > 62) return all_of(op_result(o, 0));
  return (range){x.lo >> y.lo, x.hi >> y.lo};
}

static range of_and(const op *o, u32 depth) {
  range x = part(o, 0, depth), y = part(o, 1, depth);
  if (x.lo < 0 && y.lo < 0) return all_of(op_result(o, 0));
  return (range){0, x.lo < 0 ? y.hi : y.lo < 0 ? x.hi : min_i64(x.hi, y.hi)};
}

static range of_maximum(const op *o, u32 depth) {
  range x = part(o, 0, depth), y = part(o, 1, depth);
  return (range){max_i64(x.lo, y.lo), max_i64(x.hi, y.hi)};
}

static range of_minimum(const op *o, u32 depth) {
  range x = part(o, 0, depth), y = part(o, 1, depth);
  return (range){min_i64(x.lo, y.lo), min_i64(x.hi, y.hi)};
}

static range of_clamp(const op *o, u32 depth) {
  range low = part(o, 0, depth), x = part(o, 1, depth), high = part(o, 2, depth);
  return (range){min_i64(max_i64(x.lo, low.lo), high.lo), min_i64(max_i64(x.hi, low.hi), high.hi)};
}

static range of_select(const op *o, u32 depth) {
  range x = part(o, 1, depth), y = part(o, 2, depth);
  return (range){min_i64(x.lo, y.lo), max_i64(x.hi, y.hi)};
}

static range of_remainder(const op *o, u32 depth) {
  range x = part(o, 0, depth), y = part(o, 1, depth);
  if (y.lo <= 0) return all_of(op_result(o, 0));
  return (range){x.lo >= 0 ? 0 : max_i64(x.lo, 1 - y.hi), max_i64(0, min_i64(x.hi, y.hi - 1))};
}

/* ---- loops ---- */

static const value *carried(const op *loop, u32 k) { return op_body(loop, 1)->args[k]; }

static const value *next_of(const op *loop, u32 k) {
  return op_operand(op_terminator(op_body(loop, 1)), k);
}

/* By how much argument k grows each round; false: by something else. */
static bool find_step(const op *loop, u32 k, i64 *step) {
  const op *o = value_op(next_of(loop, k));
  if (!o || (!op_is(o, add) && !op_is(o, subtract)) || op_operand(o, 0) != carried(loop, k))
    return false;
  const op *by = value_op(op_operand(o, 1));
  if (!by || !op_has(by, CONSTANT)) return false;
  range r = of_constant(by, 0);
  *step = op_is(o, add) ? r.lo : -r.lo;
  return r.lo == r.hi && checked_mul(r.lo, -1, &r.lo);
}

/* What a condition that holds says of argument k of a round, and of how many follow one another,
 * less one, as k or another argument counts them. */
typedef struct limits {
  const op *loop;
  u32 k;
  range of_k;
  i64 rounds;
} limits;

static void limit(limits *m, const value *truth, u32 depth) {
  const op *o = value_op(truth);
  const value *x = o && o->num_operands == 2 ? op_operand(o, 0) : NULL;
  struct compare_attrs a;
  i64 step, way;
  if (!x || !depth) return;
  for (u32 i = 0; op_is(o, and) && i < 2; i++) limit(m, op_operand(o, i), depth - 1);
  if (!op_is(o, compare) || !x->is_arg || x->def.block != op_body(m->loop, 0) ||
      !is_known(type_element(x->type)) || !view_compare(o, &a))
    return;
  range by = part(o, 1, depth), r = {INT64_MIN, INT64_MAX}, n;
  way = a.comparison_direction->value;
  if ((way == COMPARE_LT || way == COMPARE_LE) && by.hi > INT64_MIN)
    r.hi = by.hi - (way == COMPARE_LT);
  if ((way == COMPARE_GT || way == COMPARE_GE) && by.lo < INT64_MAX)
    r.lo = by.lo + (way == COMPARE_GT);
  if (x->index == m->k) m->of_k = (range){max_i64(m->of_k.lo, r.lo), min_i64(m->of_k.hi, r.hi)};
  if (!find_step(m->loop, x->index, &step) || !step) return;
  range first = part(m->loop, x->index, depth), all = all_of(x);
  if (step > 0 ? !checked_add(r.hi, step, &n.hi) || n.hi > all.hi || r.hi < first.lo
               : !checked_add(r.lo, step, &n.lo) || n.lo < all.lo || r.lo > first.hi)
    return; /* it may come around, or there is no round */
  if (step > 0 ? checked_sub(r.hi, first.lo, &n.lo) : checked_sub(r.lo, first.hi, &n.lo))
    m->rounds = min_i64(m->rounds, n.lo / step);
}

static range of_argument(const value *v, u32 depth) {
  const op *loop = block_op(v->def.block);
  range all = all_of(v), far;
  i64 step, way;
  if (!loop || !op_is(loop, while)) return all;
  range first = part(loop, v->index, depth);
  if (next_of(loop, v->index) == carried(loop, v->index)) return first;
  if (v->def.block != op_body(loop, 1)) return all;
  limits m = {loop, v->index, all, INT64_MAX};
  limit(&m, op_operand(op_terminator(op_body(loop, 0)), 0), depth);
  bool steps = find_step(loop, v->index, &step);
  if (!steps) { /* of the first round, or what the one before it left */
    range next = find(next_of(loop, v->index), depth);
    m.of_k.lo = max_i64(m.of_k.lo, min_i64(first.lo, next.lo));
    m.of_k.hi = min_i64(m.of_k.hi, max_i64(first.hi, next.hi));
  }
  if (!steps || !checked_mul(m.rounds, step, &way) ||
      !checked_add(first.lo, min_i64(way, 0), &far.lo) ||
      !checked_add(first.hi, max_i64(way, 0), &far.hi) || far.lo < all.lo || far.hi > all.hi)
    return m.of_k;
  return (range){max_i64(m.of_k.lo, far.lo), min_i64(m.of_k.hi, far.hi)};
}

static range (*const of[OP_COUNT])(const op *, u32) = {
    [OP_constant] = of_constant,
    [OP_iota] = of_iota,
    [OP_convert] = of_same,
    [OP_reshape] = of_same,
    [OP_broadcast_in_dim] = of_same,
    [OP_add] = of_add,
    [OP_subtract] = of_subtract,
    [OP_maximum] = of_maximum,
    [OP_minimum] = of_minimum,
    [OP_clamp] = of_clamp,
    [OP_select] = of_select,
    [OP_remainder] = of_remainder,
    [OP_sign] = of_sign,
    [OP_multiply] = of_multiply,
    [OP_divide] = of_divide,
    [OP_shift_right_logical] = of_shift,
    [OP_shift_right_arithmetic] = of_shift,
    [OP_and] = of_and,
};

/* Of a reduction that chooses, as that of an argmax, one that is there, or the first value. */
static range of_reduce(const value *v, u32 depth) {
  const op *o = value_op(v);
  u32 n = o->num_operands / 2, k = (u32)(v - o->results);
  const block *b = op_body(o, 0);
  const op *chosen = value_op(op_operand(op_terminator(b), k));
  if (!chosen || !op_is(chosen, select) || op_operand(chosen, 1) != b->args[k] ||
      op_operand(chosen, 2) != b->args[n + k])
    return all_of(v);
  range x = part(o, k, depth), y = part(o, n + k, depth);
  return (range){min_i64(x.lo, y.lo), max_i64(x.hi, y.hi)};
}

static range find(const value *v, u32 depth) {
  const op *o = value_op(v);
  if (!depth || !is_known(type_element(v->type))) return all_of(v);
  if (v->is_arg) return of_argument(v, depth - 1);
  if (op_is(o, reduce)) return of_reduce(v, depth - 1);
  return op_kind(o) < OP_COUNT && of[op_kind(o)] ? of[op_kind(o)](o, depth - 1) : all_of(v);
}

range expand_range(const value *v) { return find(v, DEPTH); }

/* ---- what is decided ---- */

static bool is_false(const value *truth, u32 depth);

/* x of x != y, and y; truth values that differ from false are themselves. NULL: it is none. */
static const value *unequal(const value *truth, const value **y) {
  const op *o = value_op(truth);
  struct compare_attrs a;
  if (o && op_is(o, convert)) return unequal(op_operand(o, 0), y);
  if (!o || !op_is(o, compare) || !view_compare(o, &a)) return NULL;
  if (a.comparison_direction->value != COMPARE_NE) return NULL;
  *y = op_operand(o, 1);
  bool truths = type_element((*y)->type)->width == 1;
  return truths && expand_range(*y).hi == 0 ? unequal(op_operand(o, 0), y) : op_operand(o, 0);
}

/* sign(x) != 1 and x % n != 0, where x is not negative: what puts together a quotient of Python. */
static bool exclude(const value *truth, const value *other) {
  const value *y, *zero, *x = unequal(truth, &y), *rest = unequal(other, &zero);
  const op *s = x ? value_op(x) : NULL, *r = rest ? value_op(rest) : NULL;
  if (!s || !r || !op_is(s, sign) || !op_is(r, remainder)) return false;
  range one = expand_range(y), none = expand_range(zero);
  return op_operand(s, 0) == op_operand(r, 0) && one.lo == 1 && one.hi == 1 && none.lo == 0 &&
         none.hi == 0 && expand_range(op_operand(s, 0)).lo >= 0;
}

/* Whether this is never true, as `i < 0` of what counts, and with it what puts together the
 * remainder of Python. */
static bool is_false(const value *truth, u32 depth) {
  const op *o = value_op(truth);
  struct compare_attrs a;
  if (!o || !depth) return false;
  const value *x = o->num_operands == 2 ? op_operand(o, 0) : NULL;
  if (op_is(o, and)) {
    const value *other = op_operand(o, 1);
    return is_false(x, depth - 1) || is_false(other, depth - 1) || exclude(x, other);
  }
  if (!op_is(o, compare) || !view_compare(o, &a) || !is_known(type_element(x->type))) return false;
  const value *y = op_operand(o, 1);
  if (a.comparison_direction->value == COMPARE_NE && type_element(x->type)->width == 1)
    return is_false(x, depth - 1) && is_false(y, depth - 1);
  return a.comparison_direction->value == COMPARE_LT && expand_range(x).lo >= expand_range(y).hi;
}

bool expand_is_settled(const op *o) { return is_false(op_operand(o, 0), DEPTH); }

bool expand_settled(expander *e, op *o, value **out) {
  (void)e;
  out[0] = op_operand(o, 2);
  return true;
}
