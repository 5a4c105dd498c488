/* terrazzo-drop-indivisible-axes: shardings of what divides evenly, and no others.
 *
 * A dimension keeps the axes, major first, whose sizes divide it; the rest of the devices hold
 * copies. Padding would keep more devices busy, at the price of masks in every op; JAX itself
 * refuses inputs and outputs that do not divide.
 *
 * Neighbouring parts of an axis become one: propagation, as Shardy's, may leave them apart, and the
 * verifier refuses that. */
#include "partition/env.h"
#include "partition/passes.h"

static axis_list dividing(axis_list l, i64 n) {
  i64 parts = 1;
  for (size_t i = 0; i < l.len; i++)
    if (!checked_mul(parts, l.data[i].size, &parts) || n % parts) return axes_slice(l, 0, i);
  return l;
}

/* NULL: it is fine as it is. */
static const attr *divisible(const part_env *e, const attr *a, const type *t) {
  const sharding *s = shard_read(e->space, a);
  if (!s || !type_is_ranked(t) || s->rank != t->dims.len) return NULL;
  bool same = true;
  dim_sharding *dims = arena_copy(e->a, s->dims, s->rank * sizeof(*dims));
  for (u32 d = 0; d < s->rank; d++) {
    i64 n = t->dims.data[d];
    axis_list keep = n > 0 ? axes_merge(e->a, dividing(dims[d].axes, n)) : (axis_list){0};
    same = same && keep.len == dims[d].axes.len;
    dims[d].axes = keep;
  }
  if (same) return NULL;
  sharding cut = *s;
  cut.dims = dims;
  return part_attr(e, &cut);
}

static void cut_func(const part_env *e, op *f, func_side side) {
  for (size_t i = 0; i < func_num(f, side); i++) {
    const attr *a = divisible(e, func_sharding(f, side, i), func_type_of(f, side, i));
    if (a) func_set_sharding(e->m, f, side, i, a);
  }
}

static walk_result cut_op(void *user, op *o) {
  const part_env *e = user;
  if (op_is(o, func)) {
    cut_func(e, o, FUNC_ARGS);
    cut_func(e, o, FUNC_RESULTS);
  }
  if (op_is(o, reshard) || op_is(o, sharding_constraint)) {
    const attr *a = divisible(e, op_attr(o, SLOT_NAME(sharding)), op_result(o, 0)->type);
    if (a) op_set_any(o, sharding, a);
    return WALK_ON;
  }
  attrs list = op_shardings(o);
  for (u32 i = 0; i < o->num_results && i < list.len; i++) {
    const attr *a = divisible(e, list.data[i], op_result(o, i)->type);
    if (a) part_set_sharding(e, o, i, shard_read(e->space, a));
  }
  return WALK_ON;
}

bool part_drop_indivisible_axes(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  part_env e = part_env_make(m, scratch);
  if (part_has_mesh(&e)) op_walk(m->root, cut_op, &e);
  return shard_space_check(e.space);
}
