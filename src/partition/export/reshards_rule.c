/* An op with a rule: its tensors brought where they agree, and what it then leaves to sum up. */
#include "partition/common_axes.h"
#include "partition/export/reshards.h"
#include "partition/record.h"
#include "shard/traits.h"
#include "shard/transfer.h"

/* What an op's tensors are sharded by, along its rule's factors. */
typedef struct tensors {
  op *o;
  const rule *r;
  u32 n;
  const mesh *mesh;
  const sharding **was;
  const sharding **in; /* the same on one mesh, where only the orders of devices differ */
  projection *by_factor;
  bool *changed;
} tensors;

static value *tensor(const tensors *x, u32 t) {
  return t < x->o->num_operands ? op_operand(x->o, t) : op_result(x->o, t - x->o->num_operands);
}

static axis_list axes_at(const tensors *x, u32 t, u32 f) {
  return projection_get(x->by_factor, t, f).axes;
}

/* Products with this rule and these shardings were seen to stay as they are. */
static u64 dot_hash(const tensors *x) {
  return hash_ptr(x->in[2], hash_ptr(x->in[1], hash_ptr(x->in[0], hash_ptr(x->r, 0))));
}

static bool dot_known(reshards *p, const tensors *x) {
  const tensors *seen;
  for (size_t at = 0; (seen = index_next(&p->dots, dot_hash(x), &at));)
    if (seen->r == x->r && !memcmp(seen->in, x->in, 3 * sizeof *x->in)) return true;
  return false;
}

/* The mesh they have in common but for the order of devices: the order that most of those have
 * that are sharded, the first of them; of none, the plain one. NULL: there is none. */
static const mesh *common_mesh(const sharding *const *s, u32 n) {
  const mesh *m = NULL, *best = NULL;
  u32 most = 0;
  for (u32 t = 0; t < n; t++) {
    const mesh *other = s[t] ? s[t]->mesh : NULL;
    if (!other || (m && mesh_is_empty(other))) continue;
    if (m && !mesh_is_empty(m) && !mesh_same(m, other, true)) return NULL;
    if (!m || mesh_is_empty(m) || !other->device_ids.len) m = other;
  }
  for (u32 t = 0; t < n; t++) {
    u32 count = 0;
    for (u32 k = 0; k <= t && !reshards_is_whole(s[t]); k++)
      count += !reshards_is_whole(s[k]) && s[k]->mesh == s[t]->mesh;
    if (count > most) most = count, best = s[t]->mesh;
  }
  return m && mesh_is_maximal(m) ? NULL : best ? best : m;
}

static const sharding *on_mesh(reshards *p, const sharding *s, const mesh *m) {
  if (!s || s->mesh == m || !mesh_same(s->mesh, m, true)) return s;
  sharding out = *s;
  out.mesh = m;
  return shard_intern(p->e.space, &out);
}

static bool project(reshards *p, tensors *x, bool full) {
  arena *a = p->e.a;
  x->was = ARENA_ARRAY(a, const sharding *, x->n);
  x->in = ARENA_ARRAY(a, const sharding *, x->n);
  x->changed = arena_zalloc(a, x->n + 1);
  for (u32 t = 0; t < x->n; t++) x->was[t] = reshards_behind_barriers(p, tensor(x, t));
  x->mesh = common_mesh(x->was, x->n);
  if (!x->mesh) return false;
  for (u32 t = 0; t < x->n; t++) x->in[t] = on_mesh(p, x->was[t], x->mesh);
  if (x->n == 3 && !full && !p->open && op_is(x->o, dot_general) && dot_known(p, x)) return false;
  x->by_factor = projection_make(p->e.space, a, x->r, x->in);
  return x->by_factor != NULL;
}

static i64 elements(const value *v) {
  i64 n;
  return type_is_ranked(v->type) && type_num_elements(v->type, &n) ? n : 0;
}

/* ---- where all of them agree ---- */

/* Tensors that are elsewhere, or in another order of devices, get a reshard. */
static void apply(reshards *p, const tensors *x) {
  op *o = x->o;
  cursor before = cursor_before(&p->e, o), after = cursor_after(&p->e, o);
  for (u32 t = 0; t < x->n; t++) {
    const sharding *old = x->was[t];
    bool turned = !reshards_is_whole(old) && !mesh_same(old->mesh, x->mesh, false);
    if (!x->changed[t] && !turned) continue;
    value *v = tensor(x, t);
    const sharding *to = projection_sharding(x->by_factor, t);
    bool result = t >= o->num_operands;
    cursor *at = result ? &after : &before;
    at->loc = v->is_arg ? o->loc : v->def.op->loc;
    value *moved = emit(at, OP_reshard, &v, 1, v->type);
    if (!result) {
      op_set(moved->def.op, reshard, sharding, part_attr(&p->e, to));
      op_set_operand(o, t, moved);
      continue;
    }
    const sharding *had = part_sharding(&p->e, v);
    op_set(moved->def.op, reshard, sharding,
           part_attr(&p->e, had ? had : reshards_closed_like(p, to)));
    value_set_sharding(p->e.m, v, part_attr(&p->e, to));
    value_replace_except(v, moved, moved->def.op);
  }
}

static void agree(reshards *p, tensors *x) {
  arena *a = p->e.a;
  u32 num_factors = x->r->num_factors;
  i64 *sizes = ARENA_ARRAY(a, i64, x->n);
  axis_list *factors = ARENA_ARRAY(a, axis_list, (size_t)x->n * num_factors + 1);
  bool *present = arena_zalloc(a, (size_t)x->n * num_factors + 1);
  for (u32 t = 0; t < x->n; t++) {
    sizes[t] = elements(tensor(x, t));
    for (u32 f = 0; f < num_factors; f++) {
      projected c = projection_get(x->by_factor, t, f);
      factors[(size_t)t * num_factors + f] = c.axes;
      present[(size_t)t * num_factors + f] = c.present;
    }
  }
  axes_problem prob = {.rule = x->r,
                       .mesh = x->mesh,
                       .sizes = sizes,
                       .policy = AXES_AS_SHARDY,
                       .factors = factors,
                       .present = present};
  axis_list *axes = ARENA_ARRAY(a, axis_list, num_factors + 1);
  common_axes(a, &prob, axes);
  for (u32 t = 0; t < x->n; t++)
    for (u32 f = 0; f < num_factors; f++)
      x->changed[t] |= projection_set(x->by_factor, t, f, axes[f], (axis_list){0});
  apply(p, x);
}

/* ---- reshapes with axes that do not divide a factor ---- */

static bool overflows(const tensors *x) {
  for (u32 t = 0; t < x->n; t++)
    for (u32 f = 0; f < x->r->num_factors; f++)
      if (projection_get(x->by_factor, t, f).overflow.len) return true;
  return false;
}

/* All axes of a tensor, by factor. */
static axis_list axes_of(reshards *p, const tensors *x, u32 t) {
  axis_list l = {0};
  for (u32 f = 0; f < x->r->num_factors; f++) {
    projected c = projection_get(x->by_factor, t, f);
    l = axes_concat(p->e.a, l, axes_concat(p->e.a, c.axes, c.overflow));
  }
  return l;
}

/* One deal of an axis to the factors of a tensor, in the order of its dimensions. */
typedef struct deal {
  u32 num;
  const u32 *factors;
  i64 *room;
  axis_vec *axes;
} deal;

/* Gives each factor with room the largest part it can take; false: none can take any of what is
 * left of *axis. */
static bool deal_axis(arena *a, deal *d, axis_ref *axis) {
  bool used = false;
  for (u32 i = 0; i < d->num; i++) {
    if (d->room[i] <= 1) continue;
    i64 g = gcd_i64(d->room[i], axis->size);
    if (g == 1 && axis->size != 1) continue;
    used = true;
    axes_add_or_merge(a, &d->axes[i], (axis_ref){axis->axis, axis->pre, g});
    d->room[i] /= g;
    axis->pre *= g;
    axis->size /= g;
    if (axis->size == 1) return true;
  }
  return used;
}

/* What no factor takes is left to the last one, which it overflows. */
static void deal_all(reshards *p, const tensors *x, u32 t, axis_list l) {
  arena *a = p->e.a;
  const rule *r = x->r;
  u32 begin = r->dim_begin[r->tensor_begin[t]], end = r->dim_begin[r->tensor_begin[t + 1]];
  u32 *factors = ARENA_ARRAY(a, u32, end - begin + 1);
  deal d = {0, factors, ARENA_ARRAY(a, i64, end - begin + 1),
            arena_zalloc(a, (end - begin + 1) * sizeof *d.axes)};
  for (u32 k = begin; k < end; k++) {
    if (!projection_get(x->by_factor, t, r->places[k]).present) continue;
    d.room[d.num] = r->factors[r->places[k]].size;
    factors[d.num++] = r->places[k];
  }
  axis_vec left = {0};
  for (size_t i = 0; d.num && i < l.len; i++) {
    axis_ref axis = l.data[i];
    bool used = left.len == 0;
    while (used && (used = deal_axis(a, &d, &axis)) && axis.size > 1) continue;
    if (!used) axes_add_or_merge(a, &left, axis);
  }
  for (u32 i = 0; i < d.num; i++)
    projection_set(x->by_factor, t, factors[i], axis_vec_list(&d.axes[i]),
                   i + 1 == d.num ? axis_vec_list(&left) : (axis_list){0});
}

/* The axes of the tensor that is sharded more are dealt anew on both sides; what both then have in
 * common is what the reshape has. */
static void agree_on_reshape(reshards *p, tensors *x) {
  arena *a = p->e.a;
  axis_list in = axes_of(p, x, 0), out = axes_of(p, x, 1);
  axis_list all = axes_size(in) >= axes_size(out) ? in : out;
  const sharding *dealt[2];
  for (u32 t = 0; t < 2; t++) {
    deal_all(p, x, t, all);
    dealt[t] = projection_sharding(x->by_factor, t);
  }
  projection *legal = projection_make(p->e.space, a, x->r, dealt);
  if (!legal) return;
  for (u32 f = 0; f < x->r->num_factors; f++) {
    projected k = projection_get(legal, 0, f), m = projection_get(legal, 1, f);
    axis_list axes = !k.present   ? m.axes
                     : !m.present ? k.axes
                                  : axes_common_prefix(a, k.axes, m.axes);
    for (u32 t = 0; t < 2; t++) projection_set(x->by_factor, t, f, axes, (axis_list){0});
  }
  for (u32 t = 0; t < 2; t++)
    x->changed[t] = !sharding_equivalent(x->was[t], projection_sharding(x->by_factor, t));
  apply(p, x);
}

/* ---- products ---- */

/* The result's sharding along one factor is that of the contracted dimensions, while the operands
 * agree on another: the product may as well have theirs, and the result, which is no larger, is
 * moved. Finds the factor. */
static bool dot_conflict(reshards *p, const tensors *x, u32 *conflict) {
  i64 lhs = elements(op_operand(x->o, 0)), rhs = elements(op_operand(x->o, 1));
  i64 result = elements(op_result(x->o, 0));
  axis_vec reduced = {0}, alone = {0};
  bool found = false;
  for (u32 f = 0; f < x->r->num_factors; f++) {
    bool in_lhs = rule_has_factor(x->r, 0, f), in_rhs = rule_has_factor(x->r, 1, f);
    axis_list axes = axes_at(x, in_lhs ? 0 : 1, f);
    i64 size = in_lhs ? lhs : rhs;
    if (in_lhs && in_rhs) {
      if (!axes_eq(axes, axes_at(x, 1, f))) return false;
      size = max_i64(lhs, rhs);
      if (x->r->factors[f].kind == FACTOR_REDUCTION) {
        for (size_t i = 0; i < axes.len; i++) VEC_PUSH(p->e.a, reduced, axes.data[i]);
        continue;
      }
    } else {
      for (size_t i = 0; i < axes.len; i++) {
        if (axes_overlap_ref(axis_vec_list(&alone), axes.data[i])) return false;
        VEC_PUSH(p->e.a, alone, axes.data[i]);
      }
    }
    if (axes_eq(axes_at(x, 2, f), axes)) continue;
    if (!axes.len || found || result > size) return false;
    *conflict = f;
    found = true;
  }
  if (!found) return false;
  axis_list now = axes_at(x, 2, *conflict);
  return now.len && axes_eq(now, axis_vec_list(&reduced));
}

static void fix_dot(reshards *p, tensors *x) {
  u32 f;
  const sharding *old = x->was[2];
  if (!old) return;
  if (!dot_conflict(p, x, &f)) {
    index_add(&p->dots, p->e.a, dot_hash(x), arena_copy(p->e.a, x, sizeof *x));
    return;
  }
  projection_set(x->by_factor, 2, f, axes_at(x, rule_has_factor(x->r, 0, f) ? 0 : 1, f),
                 (axis_list){0});
  value_set_sharding(p->e.m, op_result(x->o, 0),
                     part_attr(&p->e, projection_sharding(x->by_factor, 2)));
  cursor at = cursor_after(&p->e, x->o);
  value *v = op_result(x->o, 0), *r = emit(&at, OP_reshard, &v, 1, v->type);
  op_set(r->def.op, reshard, sharding, part_attr(&p->e, old));
  value_replace_except(v, r, r->def.op);
}

/* ---- what is left to sum up ---- */

/* What all tensors with factor f have along it; false: they do not agree. */
static bool along(const tensors *x, u32 f, axis_list *out) {
  bool any = false;
  *out = (axis_list){0};
  for (u32 t = 0; t < x->n; t++) {
    projected c = projection_get(x->by_factor, t, f);
    if (!c.present) continue;
    if (any && !axes_eq(*out, c.axes)) return false;
    *out = c.axes;
    any = true;
  }
  return true;
}

/* Shardy sums up where the sharding does not say otherwise, whatever the op does. */
static void warn_of_sum(reshards *p, const op *o) {
  static const char *const names[] = {"sum", "max", "min", "mul", "and", "or"};
  unreduced_kind kind = UNREDUCED_SUM;
  const part_row *row = part_row_of(o);
  if (row->combines && row->combines(o, &kind) && kind != UNREDUCED_SUM)
    op_warn(p->e.c, o,
            "'" STR_FMT "' op is reduced across devices by a sum, but combines its parts by %s",
            STR_ARG(o->info->name), names[kind]);
}

/* A result with open sums must not hide those that the op itself makes: they are closed. If `full`,
 * those of any result are. */
static void reduce_results(reshards *p, const tensors *x, bool full) {
  op *o = x->o;
  arena *a = p->e.a;
  const sharding *first = part_sharding(&p->e, op_result(o, 0));
  axis_list open = first ? first->unreduced : (axis_list){0}, made = {0};
  if (!full && !open.len) return;
  for (u32 f = 0; f < x->r->num_factors; f++) {
    axis_list axes;
    if (x->r->factors[f].kind != FACTOR_REDUCTION) continue;
    if (!along(x, f, &axes)) {
      reshards_refuse(p, o,
                      "has unreduced axes in its result and operands that disagree along a "
                      "reduced dimension");
      return;
    }
    made = axes_concat(a, made, axes);
  }
  axis_list axes = axes_difference(a, made, open);
  if (!axes.len) return;
  axes = axes_sort_merge(a, axes);
  cursor at = cursor_after(&p->e, o);
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(o, i);
    const sharding *s = part_sharding(&p->e, v);
    if (!s) s = sharding_make_replicated(a, x->mesh, (u32)type_rank(v->type), true);
    if (i == 0 && s->unreduced_kind == UNREDUCED_SUM) warn_of_sum(p, o);
    value *r = emit_all_reduce(&at, v, x->mesh, axes, s->unreduced_kind, s);
    value_replace_except(v, r, r->def.op);
  }
}

void reshards_by_rule(reshards *p, op *o, const rule *r, bool full) {
  tensors x = {.o = o, .r = r, .n = rule_num_tensors(r)};
  if (x.n != o->num_operands + o->num_results || !project(p, &x, full)) return;
  if (!full && (op_is(o, dot_general) || op_is(o, dot)))
    fix_dot(p, &x);
  else if (full && op_is(o, reshape) && overflows(&x))
    agree_on_reshape(p, &x);
  else if (full)
    agree(p, &x);
  if (o->num_results) reduce_results(p, &x, full);
}
