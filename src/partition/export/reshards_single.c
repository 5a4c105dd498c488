/* Values on one device: a maximal mesh. */
#include "partition/export/reshards.h"

static const char *const func_side_names[] = {[FUNC_ARGS] = "argument", [FUNC_RESULTS] = "result"};

bool reshards_check_func(reshards *p, op *f) {
  for (int side = FUNC_ARGS; side <= FUNC_RESULTS; side++)
    for (size_t i = 0; i < func_num(f, side); i++) {
      const sharding *s = shard_read(p->e.space, func_sharding(f, side, i));
      if (s && mesh_is_maximal(s->mesh))
        return p->ok = op_error(p->e.c, f,
                                "function %s %zu cannot have a single-device (maximal) sharding "
                                "attribute",
                                func_side_names[side], i);
    }
  return true;
}

/* Where the op's results are that are on one device. NULL: none is. */
static const mesh *one_device(reshards *p, op *o) {
  const mesh *m = NULL;
  for (u32 i = 0; i < o->num_results; i++) {
    const sharding *s = reshards_behind_barriers(p, op_result(o, i));
    if (!s || !mesh_is_maximal(s->mesh)) continue;
    if (m && m->device_ids.data[0] != s->mesh->device_ids.data[0])
      reshards_refuse(p, o, "has conflicting single-device result shardings");
    m = s->mesh;
  }
  return m;
}

static const sharding *everywhere(reshards *p, const value *v) {
  sharding s = *sharding_make_replicated(p->e.a, p->all, (u32)type_rank(v->type), true);
  return shard_intern(p->e.space, &s);
}

/* Through all devices; what all of them have needs no step. */
static void bring_operand(reshards *p, op *o, u32 i, const sharding *there) {
  value *v = op_operand(o, i);
  if (!type_is_ranked(v->type)) return;
  const sharding *from = part_sharding(&p->e, v);
  if (!from) from = everywhere(p, v);
  if (from->mesh == there->mesh && sharding_equivalent(from, there)) return;
  cursor at = cursor_before(&p->e, o);
  at.loc = v->is_arg ? o->loc : v->def.op->loc;
  if (!reshards_is_whole(from) || from->mesh != p->all) v = emit_reshard(&at, v, everywhere(p, v));
  op_set_operand(o, i, emit_reshard(&at, v, there));
}

static void spread_result(reshards *p, cursor *at, value *v) {
  const sharding *to = reshards_behind_barriers(p, v), *all = everywhere(p, v);
  value *r = emit_reshard(at, v, all);
  value_replace_except(v, r, r->def.op);
  if (!to || mesh_is_maximal(to->mesh) || to == all) return;
  value *moved = emit_reshard(at, r, to);
  value_replace_except(r, moved, moved->def.op);
}

bool reshards_on_one_device(reshards *p, op *o) {
  const mesh *m = one_device(p, o);
  if (!m || !p->ok || !p->all) return m != NULL;
  const sharding *there = sharding_make_replicated(p->e.a, m, 0, true);
  for (u32 i = 0; i < o->num_operands; i++) bring_operand(p, o, i, there);
  cursor at = cursor_after(&p->e, o);
  const attr **list = ARENA_ARRAY(p->e.a, const attr *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(o, i);
    bool tensor = type_is_ranked(v->type);
    if (tensor) spread_result(p, &at, v);
    list[i] = part_attr(&p->e, tensor ? there : everywhere(p, v));
  }
  op_set_shardings(p->e.m, o, list, o->num_results);
  return true;
}
