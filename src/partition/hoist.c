/* terrazzo-hoist-reshards: what a loop reshards or sums up anew each time though it stays the same,
 * once.
 *
 * In a loop, a reshard or an all-reduce of a value that the loop only hands on, that is from
 * outside, or that is made of nothing else, goes in front of the loop with what makes it, and the
 * loop reads what it gives from outside. It takes memory as long as the loop runs: all of a loop
 * together may take as much as what it carries does, or a little.
 *
 * A sum that each round adds to what the loop carries is made behind the loop, of parts that are
 * carried instead.
 *
 * Runs behind sdy-insert-explicit-reshards. */
#include "dialect/effects.h"
#include "partition/loop.h"
#include "partition/passes.h"
#include "partition/place.h"

typedef struct hoist {
  part_env e;
  placer placer;
  bool changed;
} hoist;

enum { MAX_MADE = 32, READ_ROOM = 8 };

/* Whether v can be made in front of the loop, of at most *left ops. */
static bool can_make(op *loop, value *v, u32 *left) {
  const op *def = value_op(v);
  if (loop_from_outside(loop, v)) return true;
  if (!def || op_parent(def) != loop || !op_has(def, PURE) || def->num_regions || !*left)
    return false;
  --*left;
  for (u32 i = 0; i < def->num_operands; i++)
    if (!can_make(loop, op_operand(def, i), left)) return false;
  return true;
}

/* `made`: what stands there for values of the loop already. */
static value *make(hoist *h, op *loop, value *v, ir_map *made) {
  value *before = loop_from_outside(loop, v);
  if (before || (before = ir_map_get(made, v)) != v) return before;
  const op *def = value_op(v);
  for (u32 i = 0; i < def->num_operands; i++) {
    value *in = op_operand(def, i);
    ir_map_set(made, in, make(h, loop, in, made));
  }
  op_insert(op_clone(h->e.m, def, made), loop->parent, loop);
  return ir_map_get(made, v);
}

static bool sums(const sharding *s) { return s && s->unreduced.len; }

static bool gathers(const hoist *h, const op *o) {
  if (!op_is(o, reshard)) return false;
  const value *v = op_operand(o, 0), *r = op_result(o, 0);
  const sharding *from = part_sharding(&h->e, v), *to = part_sharding(&h->e, r);
  return !sums(from) && !sums(to) && shard_bytes(r->type, to) >= shard_bytes(v->type, from);
}

/* A sum of which only a slice is used: that. */
static op *used_of(op *o) {
  const value *r = op_result(o, 0);
  if (!op_is(o, sdy_all_reduce) || !value_has_one_use(r)) return o;
  op *user = r->uses->owner;
  return op_is(user, reshard) && user->parent == o->parent ? user : o;
}

static void hoist_one(hoist *h, op *loop, op *o, i64 *room) {
  o = used_of(o);
  value *v = op_operand(o, 0), *r = op_result(o, 0);
  const sharding *to = part_sharding(&h->e, r);
  i64 bytes = shard_bytes(r->type, to);
  u32 left = MAX_MADE;
  if (sums(to) || bytes > *room || !r->uses || !can_make(loop, v, &left)) return;
  *room -= bytes;
  h->changed = true;
  h->placer.loc = o->loc;
  ir_map *made = ir_map_create(h->e.a);
  value_replace(r, op_is(o, reshard) ? place_for(&h->placer, make(h, loop, v, made), to, loop)
                                     : make(h, loop, r, made));
}

/* A slice of what is cut is a sum, twice as dear as a gather: where rounds slice out more than half
 * of it, all of it is gathered in front of the loop. What the loop reads anyway may take more room.
 */
static void gather_sliced(hoist *h, op *loop, op *sum, i64 *room) {
  const part_env *e = &h->e;
  op *slice = part_private_op(op_operand(sum, 0), sum->parent);
  struct sdy_all_reduce_attrs a;
  loop_count c;
  u32 left = MAX_MADE;
  if (!slice || !op_is(slice, dynamic_slice) || !loop_counts(loop, &c) ||
      !view_sdy_all_reduce(sum, &a) || (a.reduction_op && a.reduction_op->value != UNREDUCED_SUM))
    return;
  value *v = op_operand(slice, 0), *r = op_result(sum, 0);
  const sharding *to = part_sharding(e, r);
  i64 whole = shard_bytes(v->type, to), part = shard_bytes(r->type, to);
  if (!to || !r->uses || sums(to) || sums(part_sharding(e, v)) || whole / READ_ROOM > *room ||
      2 * (double)c.trips * (double)part <= (double)whole || !can_make(loop, v, &left))
    return;
  *room -= whole / READ_ROOM;
  h->changed = true;
  h->placer.loc = sum->loc;
  v = make(h, loop, v, ir_map_create(e->a));
  op_set_operand(slice, 0, place_for(&h->placer, v, to, loop));
  part_set_sharding(e, slice, 0, to);
  value_replace(r, op_result(slice, 0));
}

/* What a round adds to what is carried, as a sum; NULL: it does something else. */
static op *added_sum(const hoist *h, const op *loop, u32 i, op **add, u32 *k) {
  const value *r = op_result(loop, i);
  *add = loop_addition(loop, i, k);
  op *sum = *add ? part_private_op(op_operand(*add, *k), (*add)->parent) : NULL;
  struct sdy_all_reduce_attrs v;
  if (!sum || !op_is(sum, sdy_all_reduce) || !view_sdy_all_reduce(sum, &v) ||
      (v.reduction_op && v.reduction_op->value != UNREDUCED_SUM) ||
      !part_has_no_addend(type_element(r->type)))
    return NULL;
  const sharding *s = part_sharding(&h->e, op_result(sum, 0));
  return !sums(s) && same_place(s, part_sharding(&h->e, r)) ? sum : NULL;
}

/* Parts are carried, from nothing on, and summed up behind the loop, as the gradients of parts of a
 * batch. */
static void sum_behind(hoist *h, op *loop, u32 i) {
  const part_env *e = &h->e;
  op *add;
  u32 k;
  op *sum = added_sum(h, loop, i, &add, &k);
  if (!sum) return;
  value *init = op_operand(loop, i), *r = op_result(loop, i);
  const sharding *s = part_sharding(e, op_result(sum, 0));
  cursor at = cursor_before(e, loop);
  op_set_operand(loop, i, emit_sharded(e, emit_no_addend(&at, init->type), s));
  op_set_operand(add, k, op_operand(sum, 0));
  op *all = op_clone(e->m, sum, NULL);
  op_insert(all, loop->parent, loop->next);
  op_set_operand(all, 0, r);
  at = cursor_after(e, all);
  value *whole = emit_sharded(e, emit_binary(&at, OP_add, init, op_result(all, 0)), s);
  value_replace_except(r, whole, all);
  h->changed = true;
}

static walk_result hoist_loop(void *user, op *loop) {
  hoist *h = user;
  if (!op_is(loop, while)) return WALK_ON;
  i64 room = loop_room(&h->e, loop);
  for (u32 i = 0; i < loop->num_results; i++) sum_behind(h, loop, i);
  for (u32 r = 0; r < loop->num_regions; r++)
    for (block *b = loop->regions[r].first; b; b = b->next) {
      FOR_OPS(o, b) {
        if (gathers(h, o) || op_is(o, sdy_all_reduce)) hoist_one(h, loop, o, &room);
        if (op_is(o, sdy_all_reduce)) gather_sliced(h, loop, o, &room);
      }
    }
  return WALK_ON;
}

bool part_hoist_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  hoist h = {.e = part_env_make(m, scratch)};
  h.placer = (placer){.e = &h.e, .keep = scratch};
  if (part_has_mesh(&h.e) && module_may_have(m, while)) op_walk_post(m->root, hoist_loop, &h);
  if (h.changed) ops_erase_dead(m->root, DEAD_BY_ROW);
  return shard_space_check(h.e.space);
}
