#include "partition/loop.h"

/* ---- trips ---- */

static bool constant_int(const value *v, i64 *out) {
  const op *def = value_op(v);
  if (!def || !op_has(def, CONSTANT)) return false; /* sdy.constant, too */
  const dense_attr *d = attr_as(dense, op_attr(def, SLOT_NAME(value)));
  if (!d || d->type->elem->kind != TYPE_INT || d->type->dims.len) return false;
  *out = attr_dense_int(&d->base, 0);
  return true;
}

bool loop_constant(const op *loop, const value *v, i64 *out) {
  if (!v->is_arg) return constant_int(v, out);
  const block *body = op_body(loop, 1);
  u32 i = v->index;
  return value_parent(v) == loop && op_operand(body->last, i) == body->args[i] &&
         constant_int(op_operand(loop, i), out);
}

enum { LESS_OR_EQUAL = 4, LESS = 5 }; /* comparison_direction */

bool loop_counts(const op *loop, loop_count *out) {
  if (!op_is(loop, while)) return false;
  const block *cond = op_body(loop, 0), *body = op_body(loop, 1);
  const op *test = value_op(op_operand(cond->last, 0));
  struct compare_attrs c;
  i64 limit, from, step, way;
  if (!test || !op_is(test, compare) || !view_compare(test, &c)) return false;
  i64 direction = c.comparison_direction->value;
  const value *count = op_operand(test, 0);
  if ((direction != LESS && direction != LESS_OR_EQUAL) || !count->is_arg ||
      count->def.block != cond || !loop_constant(loop, op_operand(test, 1), &limit) ||
      !constant_int(op_operand(loop, count->index), &from))
    return false;
  const value *arg = body->args[count->index];
  const op *next = value_op(op_operand(body->last, count->index));
  if (!next || !op_is(next, add)) return false;
  bool first = op_operand(next, 0) == arg;
  if ((!first && op_operand(next, 1) != arg) ||
      !loop_constant(loop, op_operand(next, first), &step) || step <= 0 ||
      !checked_sub(limit, from, &way) || !checked_add(way, direction == LESS_OR_EQUAL, &way))
    return false;
  *out = (loop_count){count->index, from, step, way <= 0 ? 0 : ((u64)way - 1) / (u64)step + 1};
  return true;
}

/* ---- what stays the same ---- */

static bool is_inside(const value *v, const op *loop) {
  for (const op *p = value_parent(v); p; p = op_parent(p))
    if (p == loop) return true;
  return false;
}

value *loop_from_outside(op *loop, value *v) {
  if (!is_inside(v, loop)) return v;
  if (!v->is_arg || value_parent(v) != loop) return NULL;
  block *body = op_body(loop, 1);
  const op *end = op_terminator(body);
  u32 i = v->index;
  if (!end || i >= end->num_operands || op_operand(end, i) != body->args[i]) return NULL;
  return op_operand(loop, i);
}

op *loop_addition(const op *loop, u32 i, u32 *side) {
  const block *body = op_body(loop, 1);
  const value *arg = body->args[i];
  op *o = part_private_op(op_operand(op_terminator(body), i), body);
  if (!o || !op_is(o, add) || op_body(loop, 0)->args[i]->uses || !value_has_one_use(arg) ||
      arg->uses->owner != o)
    return NULL;
  *side = op_operand(o, 0) == arg;
  return o;
}

/* ---- memory ---- */

i64 shard_bytes(const type *t, const sharding *s) {
  i64 n;
  if (!type_is_ranked(t) || !type_num_elements(t, &n)) return 0;
  if (!checked_mul(n, (i64)type_storage(type_element(t)), &n)) return INT64_MAX;
  for (u32 d = 0; s && d < s->rank; d++) n /= sharding_dim_size(s, d);
  return n;
}

i64 loop_room(const part_env *e, const op *loop) {
  enum { LITTLE = 1 << 20 };
  i64 room = LITTLE, carried = 0;
  for (u32 i = 0; i < loop->num_results; i++) {
    const value *v = op_result(loop, i);
    if (!checked_add(carried, shard_bytes(v->type, part_sharding(e, v)), &carried)) return room;
  }
  return max_i64(room, carried);
}
