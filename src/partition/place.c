/* Values under other shardings: explicit.c and export/ ask for them, and what one user got the next
 * one takes, where it is at hand. */
#include "partition/place.h"

typedef struct placed {
  const value *from;
  const sharding *to;
  value *v;
} placed;

bool same_place(const sharding *a, const sharding *b) {
  if (!sharding_equivalent(a, b)) return false;
  return sharding_is_replicated(a) || sharding_is_replicated(b) ||
         mesh_same(a->mesh, b->mesh, false);
}

/* Mostly there is one. */
static bool one_mesh(const sharding *const *s, size_t n, const mesh **out) {
  const mesh *m = NULL;
  bool cut = false;
  for (size_t i = 0; i < n; i++) {
    if (!s[i]) continue;
    if (m && s[i]->mesh != m) return false;
    m = s[i]->mesh;
    cut = cut || !sharding_is_replicated(s[i]);
  }
  *out = cut ? m : NULL;
  return true;
}

const mesh *most_common_mesh(const sharding *const *s, size_t n) {
  const mesh *best = NULL;
  size_t most = 0;
  if (one_mesh(s, n, &best)) return best;
  for (size_t i = 0; i < n; i++) {
    if (sharding_is_replicated(s[i])) continue;
    size_t count = 0; /* up to here: the first mesh to be there so often is taken */
    for (size_t k = 0; k <= i; k++)
      count += !sharding_is_replicated(s[k]) && s[k]->mesh == s[i]->mesh;
    if (count > most) most = count, best = s[i]->mesh;
  }
  return best;
}

/* ---- what was made before ---- */

/* Shardings are interned, so that their addresses do as keys. */
static u64 placed_hash(const value *v, const sharding *s, const block *b) {
  return hash_ptr(b, hash_ptr(s, hash_ptr(v, 0)));
}

/* In a block around the user: what comes earlier there is at hand. */
static value *find_placed(placer *p, const value *v, const sharding *to, const op *user) {
  for (const op *x = user; x; x = op_parent(x)) {
    u64 h = placed_hash(v, to, x->parent);
    placed *r;
    for (size_t at = 0; (r = index_next(&p->done, h, &at));)
      if (r->from == v && r->to == to && r->v->def.op->parent == x->parent) return r->v;
    if (op_has(x, ISOLATED)) break;
  }
  return NULL;
}

static void remember(placer *p, const value *from, const sharding *to, value *v) {
  if (v->is_arg) return;
  placed *r = ARENA_NEW(p->keep, placed);
  *r = (placed){from, to, v};
  index_add(&p->done, p->keep, placed_hash(from, to, v->def.op->parent), r);
}

/* ---- making ---- */

value *emit_all_reduce(cursor *at, value *v, const mesh *m, axis_list axes, unreduced_kind kind,
                       const sharding *out) {
  const part_env *e = at->env;
  value *r = emit(at, OP_sdy_all_reduce, &v, 1, v->type);
  op *o = r->def.op;
  op_set(o, sdy_all_reduce, reduction_axes,
         attr_make(e->c, axis_ref_list, .axes = part_axes_attrs(e, m, axes)));
  op_set(o, sdy_all_reduce, out_sharding, part_attr(e, out));
  if (kind != UNREDUCED_SUM)
    op_set(o, sdy_all_reduce, reduction_op, attr_enum(e->c, ATTR_reduction_op, kind));
  return r;
}

/* Sums up what of the unreduced axes is not to stay so. */
static value *reduce(cursor *at, value *v, const sharding *from, const sharding *to) {
  const part_env *e = at->env;
  if (!from || from->unreduced.len == 0) return v;
  bool alike = from->unreduced_kind == to->unreduced_kind && mesh_same(from->mesh, to->mesh, true);
  axis_list keep = alike ? to->unreduced : (axis_list){0};
  axis_list axes = axes_difference(e->a, from->unreduced, keep);
  if (axes.len == 0) return v;
  sharding out = *from;
  out.unreduced = axes_difference(e->a, from->unreduced, axes);
  return emit_all_reduce(at, v, from->mesh, axes_sort_merge(e->a, axes), from->unreduced_kind,
                         &out);
}

bool is_made_again(const op *o) {
  if (!o || o->num_results != 1) return false;
  if (op_has(o, CONSTANT) || op_is(o, iota)) return true;
  return op_is(o, broadcast_in_dim) && op_operand(o, 0)->type->dims.len == 0;
}

static value *make_again(cursor *at, const op *o, const sharding *to) {
  op *c = op_clone(at->env->m, o, NULL);
  op_insert(c, at->b, at->before);
  part_set_sharding(at->env, c, 0, to);
  return op_result(c, 0);
}

/* In order of what it costs: nothing, what was there before, the value made once more, a
 * reshard. */
static value *reshard(cursor *at, value *v, const sharding *to) {
  const part_env *e = at->env;
  if (same_place(part_sharding(e, v), to)) return v;
  const op *def = value_op(v);
  if (def && op_is(def, reshard)) { /* there and back */
    value *before = op_operand(def, 0);
    if (same_place(part_sharding(e, before), to)) return before;
  }
  if (is_made_again(def) && to->unreduced.len == 0) return make_again(at, def, to);
  value *r = emit(at, OP_reshard, &v, 1, v->type);
  op_set(r->def.op, reshard, sharding, part_attr(e, to));
  return r;
}

/* The axes among `some` by which v is cut and which divide what `to` leaves of the dimension. */
static axis_list axes_to_leave(const part_env *e, const value *v, u32 d, const sharding *to,
                               axis_list some) {
  const sharding *from = part_sharding(e, v);
  axis_vec left = {0};
  i64 size = v->type->dims.data[d], parts = sharding_dim_size(to, d);
  for (size_t i = 0; from && i < from->dims[d].axes.len; i++) {
    axis_list one = {&from->dims[d].axes.data[i], 1};
    if (axes_difference(e->a, one, some).len || size % (parts * axes_size(one))) continue;
    parts *= axes_size(one);
    VEC_PUSH(e->a, left, *one.data);
  }
  return axis_vec_list(&left);
}

/* Of axes that are to be left as a sum, v goes along those that it is cut by already: each device
 * has its shard where it was, and zeros elsewhere. *more: the axes left over. */
static value *leave_shards(cursor *at, value *v, const sharding *to, sharding *mid,
                           axis_list *more) {
  const part_env *e = at->env;
  const sharding *from = part_sharding(e, v);
  if (!from || !mesh_same(from->mesh, to->mesh, true) || to->unreduced_kind != UNREDUCED_SUM)
    return reshard(at, v, shard_intern(e->space, mid));
  axis_list *lists = ARENA_ARRAY(e->a, axis_list, to->rank), cut = {0};
  dim_sharding *dims = arena_copy(e->a, to->dims, to->rank * sizeof *dims);
  for (u32 d = 0; d < to->rank; d++) {
    lists[d] = axes_to_leave(e, v, d, to, *more);
    dims[d].axes = axes_concat(e->a, dims[d].axes, lists[d]);
    cut = axes_concat(e->a, cut, lists[d]);
  }
  sharding begin = *mid;
  begin.dims = dims;
  v = reshard(at, v, shard_intern(e->space, cut.len ? &begin : mid));
  if (!cut.len) return v;
  *more = axes_difference(e->a, *more, cut);
  mid->unreduced = axes_sort_merge(e->a, axes_concat(e->a, mid->unreduced, cut));
  v = emit_on_mesh(at, v, to->mesh);
  v = emit(at, OP_sharded_to_unreduced, &v, 1, v->type);
  op_set(v->def.op, sharded_to_unreduced, axes, part_lists_attr(e, to->mesh, lists, to->rank));
  op_set(v->def.op, sharded_to_unreduced, out_sharding, part_attr(e, shard_intern(e->space, mid)));
  return v;
}

/* Sum first, then move, then parts of a sum: collectives.c plans between equal unreduced axes only.
 */
value *place_at(placer *p, cursor *at, value *v, const sharding *to) {
  const part_env *e = p->e;
  const sharding *from = part_sharding(e, v);
  if (!to) {
    if (sharding_is_replicated(from)) return v;
    to = sharding_make_replicated(e->a, from->mesh, from->rank, true);
  }
  if (!to->unreduced.len && (!from || !from->unreduced.len)) return reshard(at, v, to);
  v = reduce(at, v, from, to);
  from = part_sharding(e, v);
  sharding mid = *to;
  mid.unreduced = from ? from->unreduced : (axis_list){0};
  axis_list more = axes_difference(e->a, to->unreduced, mid.unreduced);
  v = leave_shards(at, v, to, &mid, &more);
  if (more.len == 0) return v;
  v = emit_on_mesh(at, v, to->mesh);
  v = emit(at, OP_replicated_to_unreduced, &v, 1, v->type);
  op_set(v->def.op, replicated_to_unreduced, axes,
         attr_make(e->c, axis_ref_list, .axes = part_axes_attrs(e, to->mesh, more)));
  op_set(v->def.op, replicated_to_unreduced, out_sharding, part_attr(e, to));
  return v;
}

value *place_for(placer *p, value *v, const sharding *to, op *user) {
  const sharding *key = to ? shard_intern(p->e->space, to) : NULL;
  value *r = find_placed(p, v, key, user);
  if (r) return r;
  cursor at = cursor_before(p->e, user);
  if (p->loc) at.loc = p->loc;
  r = place_at(p, &at, v, key);
  if (r != v) remember(p, v, key, r);
  return r;
}
