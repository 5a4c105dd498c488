/* terrazzo-hoist-reshards: what a loop reshards anew each time though it stays the same, once.
 *
 * In a loop, a reshard of a value that the loop only hands on, or that is from outside, goes in
 * front of the loop, and the loop reads what it gives from outside. It takes memory as long as the
 * loop runs: all of a loop together may take as much as what it carries does, or a little.
 *
 * Runs behind sdy-insert-explicit-reshards. */
#include "partition/loop.h"
#include "partition/passes.h"
#include "partition/place.h"

typedef struct hoist {
  part_env e;
  placer placer;
} hoist;

static bool sums(const sharding *s) { return s && s->unreduced.len; }

static void hoist_one(hoist *h, op *loop, op *o, i64 *room) {
  value *v = loop_from_outside(loop, op_operand(o, 0)), *r = op_result(o, 0);
  if (!v) return;
  const sharding *from = part_sharding(&h->e, v), *to = part_sharding(&h->e, r);
  i64 bytes = shard_bytes(r->type, to);
  if (sums(from) || sums(to) || bytes < shard_bytes(v->type, from) || bytes > *room) return;
  *room -= bytes;
  h->placer.loc = o->loc;
  value_replace(r, place_for(&h->placer, v, to, loop));
  op_erase(o);
}

static walk_result hoist_loop(void *user, op *loop) {
  hoist *h = user;
  if (!op_is(loop, while)) return WALK_ON;
  i64 room = loop_room(&h->e, loop);
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
