/* sdy-remove-all-gather-reduce-scatter-for-cmv1: a compiler behind us that overlaps a product with
 * the collective at its border finds that out by itself, from shardings that don't fit. So what
 * only a product uses is not gathered, or else, what only scatters a product's result goes. */
#include "partition/env.h"
#include "partition/passes.h"

typedef struct removal {
  part_env e;
  VEC(op *) list;
} removal;

static walk_result look_at(void *user, op *o) {
  removal *r = user;
  if (!op_is(o, dot) && !op_is(o, dot_general)) return WALK_ON;
  bool gathers = false;
  for (u32 i = 0; i < o->num_operands; i++) {
    op *def = value_op(op_operand(o, i));
    if (!def || !op_is(def, sdy_all_gather) || !value_has_one_use(op_result(def, 0))) continue;
    VEC_PUSH(r->e.a, r->list, def);
    gathers = true;
  }
  value *v = op_result(o, 0);
  if (gathers || !value_has_one_use(v) || !op_is(v->uses->owner, sdy_reduce_scatter))
    return WALK_ON;
  const sharding *own = part_sharding(&r->e, v);
  if (own && own->unreduced.len) return WALK_ON;
  op *scatter = v->uses->owner;
  part_set_sharding(&r->e, o, 0, part_sharding(&r->e, op_result(scatter, 0)));
  VEC_PUSH(r->e.a, r->list, scatter);
  return WALK_ON;
}

bool part_remove_for_matmul(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  removal r = {.e = part_env_make(m, scratch)};
  op_walk_post(m->root, look_at, &r);
  for (size_t i = 0; i < r.list.len; i++) {
    op *o = r.list.data[i];
    value_replace(op_result(o, 0), op_operand(o, 0));
    op_erase(o);
  }
  return shard_space_check(r.e.space);
}
