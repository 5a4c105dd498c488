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

/* ---- rows ---- */

bool loop_is_of_rows(const type *all, const type *one, const type *row) {
  if (!type_is_ranked(all) || all->dims.len != row->dims.len + 1) return false;
  size_t rest = row->dims.len * sizeof(i64);
  return all->dims.data[0] >= 1 && one->dims.data[0] == 1 &&
         (!rest || (!memcmp(all->dims.data + 1, one->dims.data + 1, rest) &&
                    !memcmp(all->dims.data + 1, row->dims.data, rest)));
}

bool loop_reads_row(op *loop, const value *v, loop_row *out) {
  const op *shape = value_op(v), *slice;
  if (!shape || !op_is(shape, reshape)) return false;
  slice = value_op(op_operand(shape, 0));
  if (!slice || !op_is(slice, dynamic_slice) || slice->parent != op_body(loop, 1)) return false;
  *out = (loop_row){loop_from_outside(loop, op_operand(slice, 0)), op_operand(slice, 1)};
  return out->all && loop_is_of_rows(out->all->type, op_result(slice, 0)->type, v->type);
}

/* v = a i + b in trip i. */
static bool is_linear(const op *loop, const loop_count *c, const value *v, int depth, i64 *factor,
                      i64 *addend) {
  enum { MAX_TERMS = 8 };
  i64 f[2], a[2];
  if (v == op_body(loop, 1)->args[c->arg]) {
    *factor = c->step;
    *addend = c->from;
    return true;
  }
  *factor = 0;
  if (loop_constant(loop, v, addend)) return true;
  const op *o = value_op(v);
  if (!o || depth == MAX_TERMS || (!op_is(o, add) && !op_is(o, subtract))) return false;
  for (u32 i = 0; i < 2; i++)
    if (!is_linear(loop, c, op_operand(o, i), depth + 1, &f[i], &a[i])) return false;
  return op_is(o, add) ? checked_add(f[0], f[1], factor) && checked_add(a[0], a[1], addend)
                       : checked_sub(f[0], f[1], factor) && checked_sub(a[0], a[1], addend);
}

bool loop_comes_once(const op *loop, const loop_count *c, const value *at, i64 rows) {
  i64 factor, addend;
  if ((u64)rows != c->trips || !is_linear(loop, c, at, 0, &factor, &addend)) return false;
  return (factor == 1 && addend == 0) || (factor == -1 && addend == rows - 1);
}

/* The row that stands in `one` alone. */
static value *only_row(const value *one) {
  struct broadcast_in_dim_attrs b;
  const op *o = value_op(one);
  if (!o || (!op_is(o, reshape) && !op_is(o, broadcast_in_dim))) return NULL;
  if (op_is(o, broadcast_in_dim)) {
    if (!view_broadcast_in_dim(o, &b)) return NULL;
    for (size_t i = 0; i < b.broadcast_dimensions.len; i++)
      if (b.broadcast_dimensions.data[i] != (i64)i + 1) return NULL;
  }
  return op_operand(o, 0);
}

bool loop_stacks(const op *loop, const loop_count *c, u32 k, value **row, value **at) {
  const block *body = op_body(loop, 1);
  const value *arg = body->args[k];
  const op *o = part_private_op(op_operand(op_terminator(body), k), body);
  if (!o || !op_is(o, dynamic_update_slice) || op_operand(o, 0) != arg || !value_has_one_use(arg) ||
      op_body(loop, 0)->args[k]->uses)
    return false;
  *row = only_row(op_operand(o, 1));
  *at = op_operand(o, 2);
  return *row && loop_is_of_rows(arg->type, op_operand(o, 1)->type, (*row)->type) &&
         loop_comes_once(loop, c, *at, arg->type->dims.data[0]);
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
    if (!checked_add(carried, shard_bytes(v->type, e ? part_sharding(e, v) : NULL), &carried))
      return room;
  }
  return max_i64(room, carried);
}
