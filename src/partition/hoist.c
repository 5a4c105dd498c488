/* terrazzo-hoist-reshards: what a loop reshards anew each time though it stays the same, once.
 *
 * In a loop, a reshard of a value that the loop only hands on, or that is from outside, goes in
 * front of the loop, and the loop reads what it gives from outside. It takes memory as long as the
 * loop runs: all of a loop together may take as much as what it carries does, or a little.
 *
 * Runs behind sdy-insert-explicit-reshards. */
#include "dialect/effects.h"
#include "partition/passes.h"
#include "partition/place.h"

enum { LITTLE = 1 << 20 }; /* bytes a device */

typedef struct hoist {
  part_env e;
  placer placer;
} hoist;

/* Of a shard. */
static i64 bytes_of(const type *t, const sharding *s) {
  i64 n;
  if (!type_is_ranked(t) || !type_num_elements(t, &n)) return 0;
  if (!checked_mul(n, (i64)type_storage(type_element(t)), &n)) return INT64_MAX;
  for (u32 d = 0; s && d < s->rank; d++) n /= sharding_dim_size(s, d);
  return n;
}

static bool is_inside(const value *v, const op *loop) {
  for (const op *p = value_parent(v); p; p = op_parent(p))
    if (p == loop) return true;
  return false;
}

/* What v, in a region of the loop, is in front of it; NULL: not always the same. */
static value *from_outside(op *loop, value *v) {
  if (!is_inside(v, loop)) return v;
  if (!v->is_arg || value_parent(v) != loop) return NULL;
  block *body = op_body(loop, 1);
  const op *end = op_terminator(body);
  u32 i = v->index;
  if (!end || i >= end->num_operands || op_operand(end, i) != body->args[i]) return NULL;
  return op_operand(loop, i);
}

static i64 room_of(const hoist *h, const op *loop) {
  i64 room = LITTLE, carried = 0;
  for (u32 i = 0; i < loop->num_results; i++) {
    const value *v = op_result(loop, i);
    if (!checked_add(carried, bytes_of(v->type, part_sharding(&h->e, v)), &carried)) return room;
  }
  return max_i64(room, carried);
}

static bool sums(const sharding *s) { return s && s->unreduced.len; }

static void hoist_one(hoist *h, op *loop, op *o, i64 *room) {
  value *v = from_outside(loop, op_operand(o, 0)), *r = op_result(o, 0);
  if (!v) return;
  const sharding *from = part_sharding(&h->e, v), *to = part_sharding(&h->e, r);
  i64 bytes = bytes_of(r->type, to);
  if (sums(from) || sums(to) || bytes < bytes_of(v->type, from) || bytes > *room) return;
  *room -= bytes;
  h->placer.loc = o->loc;
  value_replace(r, place_for(&h->placer, v, to, loop));
  op_erase(o);
}

static walk_result hoist_loop(void *user, op *loop) {
  hoist *h = user;
  if (!op_is(loop, while)) return WALK_ON;
  i64 room = room_of(h, loop);
  for (u32 r = 0; r < loop->num_regions; r++)
    for (block *b = loop->regions[r].first; b; b = b->next) {
      FOR_OPS(o, b) {
        if (op_is(o, reshard)) hoist_one(h, loop, o, &room);
      }
    }
  return WALK_ON;
}

bool part_hoist_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  hoist h = {.e = part_env_make(m, scratch)};
  h.placer = (placer){.e = &h.e, .keep = scratch};
  if (part_has_mesh(&h.e) && module_may_have(m, while)) op_walk_post(m->root, hoist_loop, &h);
  return shard_space_check(h.e.space);
}
