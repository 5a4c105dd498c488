/* terrazzo-drop-stacks: what a loop keeps of each trip though it is cheap to make of what it keeps
 * anyway.
 *
 * JAX's gradient of a scan has a forward loop that writes a row a trip of everything that the
 * backward loop wants, f and f (1 - f) as well:
 *   forward:  r[i] = f_i, s[i] = f_i (1 - f_i)
 *   backward: reads r[n - 1 - i] and s[n - 1 - i]
 * The backward loop then computes f (1 - f) itself from the row of r, bit for bit the same, and s
 * takes neither memory nor the time to write and read it. Only where all who read s read whole
 * rows, and of a few cheap elementwise ops.
 *
 * Runs in front of reshards, on whole shapes, and once more when manual computations are gone, of
 * which one may have the forward loop and another the backward loop. */
#include "dialect/effects.h"
#include "partition/loop.h"
#include "partition/passes.h"

enum { MAX_OPS = 4, MAX_READS = 64, MAX_DEPTH = 8 };

/* Cheaper than a row of memory to read. */
static const bool is_cheap[OP_COUNT] = {
    [OP_add] = true,     [OP_subtract] = true, [OP_multiply] = true, [OP_negate] = true,
    [OP_abs] = true,     [OP_maximum] = true,  [OP_minimum] = true,  [OP_and] = true,
    [OP_or] = true,      [OP_not] = true,      [OP_select] = true,   [OP_compare] = true,
    [OP_convert] = true,
};

typedef struct stack {
  value *row, *at; /* NULL: the result is none, or no more */
} stack;

typedef struct dropper {
  part_env e;
  op *loop;
  stack *stacks; /* one a result of the loop */
  op *reads[MAX_READS];
  u32 num_reads;
  bool any;
} dropper;

/* ---- of what a row can be made ---- */

/* Another stack whose row it is, sharded as stack k is. */
static bool find_kept(const dropper *d, u32 k, const value *row, u32 *out) {
  const part_env *e = &d->e;
  const sharding *s = part_sharding(e, op_result(d->loop, k));
  for (u32 j = 0; j < d->loop->num_results; j++) {
    const stack *other = &d->stacks[j];
    if (j == k || other->row != row || other->at != d->stacks[k].at ||
        part_sharding(e, op_result(d->loop, j)) != s)
      continue;
    *out = j;
    return true;
  }
  return false;
}

static bool is_filled(op *loop, const op *o) {
  if (!op_is(o, broadcast_in_dim) || op_operand(o, 0)->type->dims.len) return false;
  const op *with = value_op(op_operand(o, 0));
  return (with && op_has(with, CONSTANT)) || loop_from_outside(loop, op_operand(o, 0));
}

static bool can_make(const dropper *d, u32 k, const value *v, u32 *left) {
  u32 j;
  if (find_kept(d, k, v, &j)) return true;
  const op *o = value_op(v);
  if (!o || o->parent != op_body(d->loop, 1)) return false;
  if (op_has(o, CONSTANT) || is_filled(d->loop, o)) return true;
  if (op_kind(o) >= OP_COUNT || !is_cheap[op_kind(o)] || !*left) return false;
  --*left;
  for (u32 i = 0; i < o->num_operands; i++)
    if (!can_make(d, k, op_operand(o, i), left)) return false;
  return true;
}

/* ---- who reads ---- */

/* A slice of one row that becomes a row of this type and place. */
static bool reads_row(const dropper *d, const op *slice, const value *row) {
  const type *one = op_result(slice, 0)->type, *all = op_operand(slice, 0)->type;
  if (!loop_is_of_rows(all, one, row->type)) return false;
  for (const use *u = op_result(slice, 0)->uses; u; u = u->next) {
    if (!op_is(u->owner, reshape)) return false;
    const value *r = op_result(u->owner, 0);
    if (r->type != row->type || part_sharding(&d->e, r) != part_sharding(&d->e, row)) return false;
  }
  return true;
}

/* Whether all who see v, a stack, take rows of it; those go into d->reads. */
static bool find_reads(dropper *d, value *v, const value *row, int depth) {
  for (const use *u = v->uses; u; u = u->next) {
    op *o = u->owner;
    u32 i = (u32)(u - o->operands);
    if (op_is(o, dynamic_slice) && i == 0) {
      if (d->num_reads == MAX_READS || !reads_row(d, o, row)) return false;
      d->reads[d->num_reads++] = o;
      continue;
    }
    if (v->is_arg && o == op_terminator(v->def.block) && i == v->index) continue;
    if (!op_is(o, while) || depth == MAX_DEPTH || op_result(o, i)->uses ||
        op_body(o, 0)->args[i]->uses)
      return false;
    value *arg = op_body(o, 1)->args[i];
    if (op_operand(op_terminator(op_body(o, 1)), i) != arg || !find_reads(d, arg, row, depth + 1))
      return false;
  }
  return true;
}

/* ---- making rows ---- */

static bool is_same_stack(value *v, const value *stack) {
  for (op *o; v != stack; v = op_operand(o, v->index)) {
    o = v->is_arg ? value_parent(v) : NULL;
    if (!o || !op_is(o, while) || v->def.block != op_body(o, 1) ||
        op_operand(op_terminator(v->def.block), v->index) != v)
      return false;
  }
  return true;
}

/* Whether o reads from `all` the row that `slice` reads of its stack. */
static bool reads_like(const dropper *d, const op *o, const op *slice, const value *all,
                       const value *row) {
  return op_is(o, dynamic_slice) && op_operand(o, 1) == op_operand(slice, 1) &&
         is_same_stack(op_operand(o, 0), all) && reads_row(d, o, row);
}

/* The same row of another stack, read in front of `slice`; whoever reads it behind takes it from
 * there. */
static value *read_like(dropper *d, op *slice, u32 j, const value *row) {
  const part_env *e = &d->e;
  value *all = op_result(d->loop, j), *one = NULL;
  u32 rank = (u32)all->type->dims.len;
  cursor at = cursor_before(e, slice);
  for (op *o = slice->parent->first; o != slice && !one; o = o->next)
    if (reads_like(d, o, slice, all, row)) one = op_result(o, 0);
  if (!one) {
    value **starts = ARENA_ARRAY(e->a, value *, rank);
    for (u32 i = 0; i < rank; i++) starts[i] = op_operand(slice, 1 + i);
    one = emit_dynamic_slice(&at, all, starts, op_result(slice, 0)->type->dims);
    emit_sharded(e, one, part_sharding(e, op_result(slice, 0)));
    for (op *o = slice->next, *next; o; o = next) {
      next = o->next;
      if (!reads_like(d, o, slice, all, row)) continue;
      value_replace(op_result(o, 0), one);
      op_erase(o);
    }
  }
  return emit_sharded(e, emit_reshape(&at, one, row->type->dims), part_sharding(e, row));
}

static value *make(dropper *d, u32 k, op *slice, value *v, ir_map *made) {
  u32 j;
  value *is = ir_map_get(made, v);
  if (is != v) return is;
  if (find_kept(d, k, v, &j)) {
    ir_map_set(made, v, is = read_like(d, slice, j, v));
    return is;
  }
  const op *o = value_op(v);
  for (u32 i = 0; i < o->num_operands; i++) {
    value *in = op_operand(o, i), *outside = loop_from_outside(d->loop, in);
    ir_map_set(made, in, outside ? outside : make(d, k, slice, in, made));
  }
  op_insert(op_clone(d->e.m, o, made), slice->parent, slice);
  return ir_map_get(made, v);
}

static void drop(dropper *d, u32 k) {
  op *end = op_terminator(op_body(d->loop, 1));
  value *row = d->stacks[k].row;
  for (u32 i = 0; i < d->num_reads; i++) {
    op *slice = d->reads[i];
    value *v = make(d, k, slice, row, ir_map_create(d->e.a));
    while (op_result(slice, 0)->uses) {
      op *shape = op_result(slice, 0)->uses->owner;
      value_replace(op_result(shape, 0), v);
      op_erase(shape);
    }
    op_erase(slice);
  }
  op_set_operand(end, k, op_body(d->loop, 1)->args[k]);
  d->stacks[k] = (stack){0};
  d->any = true;
}

/* ---- all loops ---- */

static walk_result visit(void *user, op *loop) {
  dropper *d = user;
  loop_count count;
  if (!loop_counts(loop, &count)) return WALK_ON;
  d->loop = loop;
  d->stacks = arena_zalloc(d->e.a, loop->num_results * sizeof *d->stacks);
  for (u32 k = 0; k < loop->num_results; k++) {
    stack s;
    if (loop_stacks(loop, &count, k, &s.row, &s.at)) d->stacks[k] = s;
  }
  for (u32 k = 0; k < loop->num_results; k++) {
    u32 left = MAX_OPS;
    d->num_reads = 0;
    if (d->stacks[k].row && can_make(d, k, d->stacks[k].row, &left) &&
        find_reads(d, op_result(loop, k), d->stacks[k].row, 0) && d->num_reads)
      drop(d, k);
  }
  return WALK_ON;
}

bool part_drop_stacks(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  dropper d = {.e = part_env_make(m, scratch)};
  if (!module_may_have(m, while) || !module_may_have(m, dynamic_slice)) return true;
  op_walk_post(m->root, visit, &d);
  if (d.any) ops_erase_dead(m->root, DEAD_WITHOUT_EFFECTS);
  return shard_space_check(d.e.space);
}
