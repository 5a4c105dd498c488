/* terrazzo-drop-indivisible-axes: shardings that shards can be made by.
 *
 * Where a dimension does not divide, its last shards are padded (mask.c says what that takes), as
 * long as more than half of the padded size is elements. Signatures, borders of manual computations
 * and ops of foreign dialects have even shards only: JAX itself refuses others at the first two,
 * and the third know of no padding. The axes of a dimension that go too far are dropped, the last
 * first; the devices along them hold copies.
 *
 * Neighbouring parts of an axis become one: propagation, as Shardy's, may leave them apart, and the
 * verifier refuses that. */
#include "partition/env.h"
#include "partition/passes.h"

static axis_list fitting(axis_list l, i64 n, bool even) {
  i64 parts = 1;
  for (size_t i = 0; i < l.len; i++)
    if (!checked_mul(parts, l.data[i].size, &parts) ||
        (even ? n < 0 || n % parts != 0 : parts / 2 >= n))
      return axes_slice(l, 0, i);
  return l;
}

/* It fits, and nothing in it is to be merged: most are so, and cost no memory. */
static bool stays(axis_list l, i64 n, bool even) {
  for (size_t i = 0; i + 1 < l.len; i++)
    if (axis_can_merge(l.data[i], l.data[i + 1])) return false;
  return !l.len || fitting(l, n, even).len == l.len;
}

/* NULL: it is fine as it is. */
static const sharding *cut(const part_env *e, const sharding *s, const type *t, bool even) {
  if (!s || !type_is_ranked(t) || s->rank != t->dims.len) return NULL;
  bool same = true;
  for (u32 d = 0; d < s->rank; d++) same &= stays(s->dims[d].axes, t->dims.data[d], even);
  if (same) return NULL;
  dim_sharding *dims = arena_copy(e->a, s->dims, s->rank * sizeof(*dims));
  for (u32 d = 0; d < s->rank; d++) {
    dims[d].axes = axes_merge(e->a, fitting(dims[d].axes, t->dims.data[d], even));
  }
  sharding r = *s;
  r.dims = dims;
  return shard_intern(e->space, &r);
}

typedef struct cutter {
  part_env e;
  hash_index stay; /* pairs of what stands at an op and its type */
} cutter;

static void cut_func(const part_env *e, op *f, func_side side) {
  for (size_t i = 0; i < func_num(f, side); i++) {
    const sharding *s = shard_read(e->space, func_sharding(f, side, i));
    s = cut(e, s, func_type_of(f, side, i), true);
    if (s) func_set_sharding(e->m, f, side, i, part_attr(e, s));
  }
}

static void cut_border(const part_env *e, value *v) {
  const sharding *s = cut(e, shard_read(e->space, value_sharding(e->c, v)), v->type, true);
  if (s) value_set_sharding(e->m, v, part_attr(e, s));
}

static void cut_results(cutter *c, op *o) {
  const attr *all = NULL;
  for (u32 i = 0; i < o->num_attrs; i++)
    if (o->attrs[i].name == c->e.sharding_name) all = o->attrs[i].value;
  const type *t = o->num_results == 1 ? op_result(o, 0)->type : NULL;
  if (!all || (t && pairs_have(&c->stay, all, t))) return;
  attrs list = op_shardings(o);
  bool stays = true;
  for (u32 i = 0; i < o->num_results && i < list.len; i++) {
    const sharding *s =
        cut(&c->e, shard_read(c->e.space, list.data[i]), op_result(o, i)->type, false);
    if (s) part_set_sharding(&c->e, o, i, s);
    stays &= !s;
  }
  if (t && stays) pairs_add(&c->stay, c->e.a, all, t);
}

static walk_result cut_op(void *user, op *o) {
  cutter *c = user;
  const part_env *e = &c->e;
  if (op_is(o, func)) {
    cut_func(e, o, FUNC_ARGS);
    cut_func(e, o, FUNC_RESULTS);
    return WALK_ON;
  }
  if (op_is(o, manual_computation) || op_kind(o) >= OP_COUNT) {
    for (u32 i = 0; i < o->num_results; i++) cut_border(e, op_result(o, i));
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *b = o->regions[r].first; b; b = b->next)
        for (u32 i = 0; i < b->num_args; i++) cut_border(e, b->args[i]);
    return WALK_ON;
  }
  if (op_is(o, reshard) || op_is(o, sharding_constraint)) {
    const sharding *s = cut(e, part_sharding(e, op_result(o, 0)), op_result(o, 0)->type, false);
    if (s) op_set_any(o, sharding, part_attr(e, s));
    return WALK_ON;
  }
  cut_results(c, o);
  return WALK_ON;
}

bool part_drop_indivisible_axes(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  cutter c = {.e = part_env_make(m, scratch)};
  if (part_has_mesh(&c.e)) op_walk(m->root, cut_op, &c);
  return shard_space_check(c.e.space);
}
