/* One use brought under another sharding: sums closed and opened, then resharded. */
#include "partition/export/reshards.h"

static cursor after_value(const reshards *p, value *v) {
  if (!v->is_arg) return cursor_after(&p->e, v->def.op);
  op *o = value_parent(v);
  return (cursor){&p->e, v->def.block, v->def.block->first, o->loc};
}

void reshards_close_sums(reshards *p, op *user, u32 i, const sharding *to, cursor *at) {
  value *v = op_operand(user, i);
  const sharding *from = part_sharding(&p->e, v);
  if (!from || !from->unreduced.len) return;
  arena *a = p->e.a;
  axis_list keep = to ? to->unreduced : (axis_list){0};
  if (to && !mesh_same(from->mesh, to->mesh, false)) {
    reshards_refuse(p, user, "operand and user have different meshes for unreduced axes");
    return;
  }
  axis_list axes = axes_difference(a, from->unreduced, keep);
  if (!axes.len) return;
  sharding out = *from;
  out.unreduced = axes_difference(a, from->unreduced, axes);
  if (!out.unreduced.len) out.unreduced_kind = UNREDUCED_SUM;
  op_set_operand(user, i, emit_all_reduce(at, v, from->mesh, axes, from->unreduced_kind, &out));
}

/* Axes behind those of `out` in `in`, if `out` is a strict prefix. */
static axis_list rest_of(arena *a, axis_list out, axis_list in) {
  axis_vec v = {0};
  if (out.len && !axis_eq(out.data[out.len - 1], in.data[out.len - 1])) {
    axis_ref rest;
    if (axis_suffix_without(in.data[out.len - 1], out.data[out.len - 1], &rest))
      VEC_PUSH(a, v, rest);
  }
  for (size_t i = out.len; i < in.len; i++) VEC_PUSH(a, v, in.data[i]);
  return axis_vec_list(&v);
}

typedef struct opening {
  axis_list *per_dim; /* sharded axes that become open sums */
  axis_vec sharded;
  dim_sharding *dims; /* before that */
  bool reshard;
} opening;

static void open_dims(reshards *p, const sharding *from, const sharding *to, axis_list more,
                      opening *o) {
  arena *a = p->e.a;
  o->per_dim = arena_zalloc(a, (from->rank + 1) * sizeof *o->per_dim);
  o->dims = arena_copy(a, to->dims, to->rank * sizeof *o->dims);
  for (u32 d = 0; d < from->rank && d < to->rank; d++) {
    axis_list in = from->dims[d].axes, out = to->dims[d].axes;
    axes_prefix prefix = axes_prefix_of(out, in);
    if (prefix == AXES_SAME) continue;
    axis_list rest = prefix == AXES_STRICT_PREFIX ? rest_of(a, out, in) : (axis_list){0};
    if (prefix == AXES_NOT_PREFIX || axes_difference(a, rest, more).len) {
      o->reshard = true;
      continue;
    }
    o->per_dim[d] = rest;
    o->dims[d] = from->dims[d];
    for (size_t i = 0; i < rest.len; i++) VEC_PUSH(a, o->sharded, rest.data[i]);
  }
}

static value *emit_opened(cursor *at, op_id id, value *v, const attr *axes, const sharding *out) {
  v = emit(at, id, &v, 1, v->type);
  op_set_any(v->def.op, axes, axes);
  op_set_any(v->def.op, out_sharding, part_attr(at->env, out));
  return v;
}

static const attr *axes_attr(const part_env *e, const mesh *m, axis_list l) {
  return attr_make(e->c, axis_ref_list, .axes = part_axes_attrs(e, m, l));
}

bool reshards_open_sums(reshards *p, op *user, u32 i, const sharding *to, cursor *at) {
  const part_env *e = &p->e;
  arena *a = e->a;
  value *v = op_operand(user, i);
  const sharding *from = part_sharding(e, v);
  if (!from || !to || !to->unreduced.len) return false;
  if (!mesh_same(from->mesh, to->mesh, false))
    return reshards_refuse(p, user, "operand and result have different meshes and unreduced axes");
  axis_list more = axes_difference(a, to->unreduced, from->unreduced);
  if (!more.len) return false;
  if (axes_difference(a, from->unreduced, to->unreduced).len)
    return reshards_refuse(p, user, "operand and result have different unreduced axes");
  opening o = {0};
  open_dims(p, from, to, more, &o);
  sharding mid = *from;
  mid.dims = o.dims;
  if (o.reshard) {
    v = emit(at, OP_reshard, &v, 1, v->type);
    op_set(v->def.op, reshard, sharding, part_attr(e, &mid));
  }
  axis_list whole = axes_difference(a, more, axis_vec_list(&o.sharded));
  if (whole.len) {
    mid.replicated = to->replicated;
    mid.unreduced = axes_sort_merge(a, axes_concat(a, from->unreduced, whole));
    mid.unreduced_kind = to->unreduced_kind;
    v = emit_opened(at, OP_replicated_to_unreduced, v, axes_attr(e, from->mesh, whole), &mid);
  }
  if (o.sharded.len) {
    const attr **lists = ARENA_ARRAY(a, const attr *, from->rank);
    for (u32 d = 0; d < from->rank; d++) lists[d] = axes_attr(e, from->mesh, o.per_dim[d]);
    v = emit_opened(at, OP_sharded_to_unreduced, v,
                    attr_make(e->c, axis_ref_lists, .lists = {lists, from->rank}), to);
  }
  op_set_operand(user, i, v);
  return true;
}

/* Where what is known of both says so. Open sums of nothing known are left alone. */
static bool is_there(const sharding *from, const sharding *to) {
  if (!from) return reshards_is_whole(to);
  if (sharding_is_replicated(from)) return sharding_is_replicated(to);
  return to && from->mesh == to->mesh && sharding_equivalent(from, to);
}

void reshards_move(reshards *p, op *user, u32 i, const sharding *to, bool behind_value, bool full) {
  value *v = op_operand(user, i);
  cursor at = behind_value ? after_value(p, v) : cursor_before(&p->e, user);
  at.loc = v->is_arg ? user->loc : v->def.op->loc;
  reshards_close_sums(p, user, i, to, &at);
  if (!p->ok) return;
  reshards_open_sums(p, user, i, to, &at);
  v = op_operand(user, i);
  const sharding *from = part_sharding(&p->e, v);
  if (!p->ok || !full || is_there(from, to)) return;
  value *r = emit(&at, OP_reshard, &v, 1, v->type);
  op_set(r->def.op, reshard, sharding, part_attr(&p->e, to ? to : reshards_closed_like(p, from)));
  op_set_operand(user, i, r);
}
