/* sdy-insert-explicit-reshards{enable-full-version=false}: only what nobody else could make up for.
 *
 * Sums that are left open where a user wants them closed, and the reverse; calls and
 * concatenations whose operands are elsewhere; the one product whose result is better moved than
 * its operands. Everything else is left to the partitioner that comes after.
 * Source: openxla/shardy, sdy-insert-explicit-reshards. */
#include "partition/common_axes.h"
#include "partition/passes.h"
#include "partition/place.h"
#include "shard/calls.h"
#include "shard/flow.h"
#include "shard/transfer.h"

typedef struct minimal {
  part_env e;
  rule_set rules;
  symbols symbols;
  VEC(op *) ops;
  hash_index closed; /* lists of shardings without open sums */
  hash_index dots;   /* products that stay as they are */
  bool open;         /* the function at hand may have some */
  bool ok;
} minimal;

static bool refuse(minimal *p, op *o, const char *what) {
  p->ok = op_error(p->e.c, o, "%s", what);
  return false;
}

/* ---- one use ---- */

static cursor after_value(const minimal *p, value *v) {
  if (!v->is_arg) return cursor_after(&p->e, v->def.op);
  op *o = value_parent(v);
  return (cursor){&p->e, v->def.block, v->def.block->first, o->loc};
}

/* Sums up axes that the target doesn't leave open. */
static void close_sums(minimal *p, op *user, u32 i, const sharding *to, cursor *at) {
  value *v = op_operand(user, i);
  const sharding *from = part_sharding(&p->e, v);
  if (!from || !from->unreduced.len) return;
  arena *a = p->e.a;
  axis_list keep = to ? to->unreduced : (axis_list){0};
  if (to && !mesh_same(from->mesh, to->mesh, false)) {
    refuse(p, user, "operand and user have different meshes for unreduced axes");
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

static void open_dims(minimal *p, const sharding *from, const sharding *to, axis_list more,
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

/* Opens sums that the target has and the operand has not. True: it did. */
static bool open_sums(minimal *p, op *user, u32 i, const sharding *to, cursor *at) {
  const part_env *e = &p->e;
  arena *a = e->a;
  value *v = op_operand(user, i);
  const sharding *from = part_sharding(e, v);
  if (!from || !to || !to->unreduced.len) return false;
  if (!mesh_same(from->mesh, to->mesh, false))
    return refuse(p, user, "operand and result have different meshes and unreduced axes");
  axis_list more = axes_difference(a, to->unreduced, from->unreduced);
  if (!more.len) return false;
  if (axes_difference(a, from->unreduced, to->unreduced).len)
    return refuse(p, user, "operand and result have different unreduced axes");
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

static const sharding *closed_like(minimal *p, const sharding *s) {
  return sharding_make_replicated(p->e.a, s->mesh, s->rank, true);
}

/* No dimension is sharded. */
static bool is_whole(const sharding *s) {
  for (u32 d = 0; d < s->rank; d++)
    if (s->dims[d].axes.len) return false;
  return true;
}

static void move_to(minimal *p, op *user, u32 i, const sharding *to, bool behind_value, bool full) {
  value *v = op_operand(user, i);
  cursor at = behind_value ? after_value(p, v) : cursor_before(&p->e, user);
  at.loc = v->is_arg ? user->loc : v->def.op->loc;
  close_sums(p, user, i, to, &at);
  if (!p->ok) return;
  open_sums(p, user, i, to, &at);
  v = op_operand(user, i);
  const sharding *from = part_sharding(&p->e, v);
  if (!p->ok || !full || same_place(from, to)) return;
  if (!from && is_whole(to)) return; /* open sums of nothing known are left alone */
  value *r = emit(&at, OP_reshard, &v, 1, v->type);
  op_set(r->def.op, reshard, sharding, part_attr(&p->e, to ? to : closed_like(p, from)));
  op_set_operand(user, i, r);
}

/* ---- regions, calls, returns ---- */

typedef struct source_visit {
  minimal *p;
  const sharding *to;
} source_visit;

static void move_source(void *user, use *u) {
  source_visit *s = user;
  move_to(s->p, u->owner, (u32)(u - u->owner->operands), s->to, true, false);
}

static void move_to_owner(minimal *p, op *o, const flow *f, value *owner) {
  source_visit s = {p, part_at_sources(&p->e, o, owner)};
  f->each_source(o, owner, move_source, &s);
}

static void fix_flow(minimal *p, op *o, const flow *f) {
  for (u32 i = 0; i < o->num_results && p->ok; i++) move_to_owner(p, o, f, op_result(o, i));
  block *b = flow_owner_block(o);
  for (u32 i = 0; b && i < b->num_args && p->ok; i++) move_to_owner(p, o, f, b->args[i]);
}

static void fix_call(minimal *p, op *o) {
  op *f = call_callee(&p->symbols, o);
  if (!f) {
    refuse(p, o, "calls a function that does not exist");
    return;
  }
  const attr **list = ARENA_ARRAY(p->e.a, const attr *, o->num_operands);
  if (func_num(f, FUNC_ARGS) != o->num_operands) return;
  const sharding *some = NULL;
  bool says = func_all_shardings(p->e.space, f, FUNC_ARGS, list);
  for (u32 i = 0; !says && !some && i < o->num_operands; i++) {
    const sharding *s = part_sharding(&p->e, op_operand(o, i));
    if (s && !mesh_is_maximal(s->mesh)) some = s;
  }
  if (!says && !some) return;
  for (u32 i = 0; i < o->num_operands && p->ok; i++) {
    u32 rank = (u32)type_rank(op_operand(o, i)->type);
    const sharding *to = says ? shard_read(p->e.space, list[i])
                              : sharding_make_replicated(p->e.a, some->mesh, rank, true);
    move_to(p, o, i, to, true, true);
  }
}

static void fix_return(minimal *p, op *f) {
  block *b = op_body(f, 0);
  op *ret = b ? op_terminator(b) : NULL;
  for (u32 i = 0; ret && op_is(ret, func_return) && i < ret->num_operands && p->ok; i++)
    move_to(p, ret, i, shard_read(p->e.space, func_sharding(f, FUNC_RESULTS, i)), false, false);
}

/* A reshard that opens sums is done once it did. */
static bool fix_reshard(minimal *p, op *o) {
  cursor at = cursor_before(&p->e, o);
  if (!open_sums(p, o, 0, part_sharding(&p->e, op_result(o, 0)), &at)) return false;
  value_replace(op_result(o, 0), op_operand(o, 0));
  op_erase(o);
  return true;
}

/* ---- ops with a rule ---- */

/* What an op's tensors are sharded by, along its rule's factors. */
typedef struct tensors {
  op *o;
  const rule *r;
  const sharding **was;
  const sharding **in; /* the same on one mesh, where only the orders of devices differ */
  axis_list *factors;  /* [tensor][factor] */
} tensors;

static axis_list axes_at(const tensors *x, u32 t, u32 f) {
  return x->factors[(size_t)t * x->r->num_factors + f];
}

static const sharding *behind_barriers(minimal *p, value *v) {
  for (op *def; (def = value_op(v)) && op_is(def, propagation_barrier);) v = op_operand(def, 0);
  return part_sharding(&p->e, v);
}

/* Products with this rule and these shardings were seen to stay as they are. */
static u64 dot_hash(const tensors *x) {
  return hash_ptr(x->in[2], hash_ptr(x->in[1], hash_ptr(x->in[0], hash_ptr(x->r, 0))));
}

static bool dot_known(minimal *p, const tensors *x) {
  const tensors *seen;
  for (size_t at = 0; (seen = index_next(&p->dots, dot_hash(x), &at));)
    if (seen->r == x->r && !memcmp(seen->in, x->in, 3 * sizeof *x->in)) return true;
  return false;
}

static const sharding *on_mesh(minimal *p, const sharding *s, const mesh *m) {
  if (!s || !m || s->mesh == m || !mesh_same(s->mesh, m, true)) return s;
  sharding out = *s;
  out.mesh = m;
  return shard_intern(p->e.space, &out);
}

static bool project(minimal *p, op *o, const rule *r, tensors *x) {
  u32 n = rule_num_tensors(r);
  const sharding **was = ARENA_ARRAY(p->e.a, const sharding *, n);
  for (u32 t = 0; t < n; t++)
    was[t] = behind_barriers(p, t < r->num_operands ? op_operand(o, t)
                                                    : op_result(o, t - r->num_operands));
  *x = (tensors){o, r, was, ARENA_ARRAY(p->e.a, const sharding *, n), NULL};
  const mesh *m = most_common_mesh(was, n);
  for (u32 t = 0; t < n; t++) x->in[t] = on_mesh(p, was[t], m);
  if (n == 3 && !p->open && op_is(o, dot_general) && dot_known(p, x)) return false;
  return transfer_factors(p->e.space, p->e.a, r, (transfer_mode){0}, x->in, &x->factors, NULL);
}

/* The sharding that tensor t has, but for other axes along factor f. Rules with one factor a
 * dimension only. */
static const sharding *with_axes(minimal *p, const tensors *x, u32 t, const axis_list *axes) {
  const rule *r = x->r;
  u32 rank = rule_rank(r, t);
  const sharding *old = x->in[t];
  sharding s = {.mesh = shardings_common_mesh(x->in, rule_num_tensors(r)), .rank = rank};
  if (old) s = *old;
  dim_sharding *dims = ARENA_ARRAY(p->e.a, dim_sharding, rank);
  for (u32 d = 0; d < rank; d++) {
    u32 f = r->places[r->dim_begin[r->tensor_begin[t] + d]];
    dims[d] = (dim_sharding){
        .axes = axes[f], .closed = !old || old->dims[d].closed, .priority = PRIORITY_NONE};
  }
  s.dims = dims;
  return shard_intern(p->e.space, &s);
}

static i64 elements(const value *v) {
  i64 n;
  return type_is_ranked(v->type) && type_num_elements(v->type, &n) ? n : 0;
}

/* The result's sharding along one factor is that of the contracted dimensions, while the operands
 * agree on another: the product may as well have theirs, and the result, which is no larger, is
 * moved. Finds the factor. */
static bool dot_conflict(minimal *p, const tensors *x, u32 *conflict) {
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

static void fix_dot(minimal *p, tensors *x) {
  u32 f;
  const sharding *old = x->was[2];
  if (!old) return;
  if (!dot_conflict(p, x, &f)) {
    index_add(&p->dots, p->e.a, dot_hash(x), arena_copy(p->e.a, x, sizeof *x));
    return;
  }
  axis_list *result = &x->factors[2 * (size_t)x->r->num_factors];
  result[f] = axes_at(x, rule_has_factor(x->r, 0, f) ? 0 : 1, f);
  part_set_sharding(&p->e, x->o, 0, with_axes(p, x, 2, result));
  cursor at = cursor_after(&p->e, x->o);
  value *v = op_result(x->o, 0), *r = emit(&at, OP_reshard, &v, 1, v->type);
  op_set(r->def.op, reshard, sharding, part_attr(&p->e, old));
  value_replace_except(v, r, r->def.op);
}

/* Some operand is not where the result is, open sums included. */
static bool parts_differ(minimal *p, op *o) {
  for (u32 t = 0; t < o->num_operands; t++)
    if (part_sharding(&p->e, op_operand(o, t)) != part_sharding(&p->e, op_result(o, 0)))
      return true;
  return false;
}

static void fix_concatenate(minimal *p, tensors *x) {
  op *o = x->o;
  arena *a = p->e.a;
  const rule *r = x->r;
  u32 n = rule_num_tensors(r);
  i64 *sizes = ARENA_ARRAY(a, i64, n);
  for (u32 t = 0; t < n; t++)
    sizes[t] = elements(t < r->num_operands ? op_operand(o, t) : op_result(o, 0));
  axes_problem prob = {.rule = r,
                       .mesh = shardings_common_mesh(x->in, n),
                       .sizes = sizes,
                       .policy = AXES_AS_SHARDY,
                       .factors = x->factors};
  axis_list *axes = ARENA_ARRAY(a, axis_list, r->num_factors);
  common_axes(a, &prob, axes);
  for (u32 t = 0; t < n; t++) {
    bool same = x->was[t] == x->in[t] || sharding_is_replicated(x->was[t]);
    for (u32 f = 0; f < r->num_factors; f++)
      same &= !rule_has_factor(r, t, f) || axes_eq(axes_at(x, t, f), axes[f]);
    if (same) continue;
    bool result = t >= r->num_operands;
    value *v = result ? op_result(o, 0) : op_operand(o, t);
    cursor at = result ? cursor_after(&p->e, o) : cursor_before(&p->e, o);
    at.loc = v->is_arg ? o->loc : v->def.op->loc;
    const sharding *to = with_axes(p, x, t, axes), *old = x->was[t];
    if (result) part_set_sharding(&p->e, o, 0, to);
    value *moved = emit(&at, OP_reshard, &v, 1, v->type);
    if (result) to = old ? old : closed_like(p, to);
    op_set(moved->def.op, reshard, sharding, part_attr(&p->e, to));
    if (result)
      value_replace_except(v, moved, moved->def.op);
    else
      op_set_operand(o, t, moved);
  }
}

/* A result with open sums must not hide those that the op itself makes: they are closed. */
static void reduce_results(minimal *p, const tensors *x) {
  op *o = x->o;
  arena *a = p->e.a;
  const sharding *first = part_sharding(&p->e, op_result(o, 0));
  if (!first || !first->unreduced.len) return;
  axis_vec made = {0};
  for (u32 f = 0; f < x->r->num_factors; f++) {
    if (x->r->factors[f].kind != FACTOR_REDUCTION) continue;
    const axis_list *common = NULL;
    for (u32 t = 0; t < rule_num_tensors(x->r); t++) {
      if (!rule_has_factor(x->r, t, f)) continue;
      const axis_list *l = &x->factors[(size_t)t * x->r->num_factors + f];
      if (common && !axes_eq(*common, *l)) {
        refuse(p, o,
               "has unreduced axes in its result and operands that disagree along a "
               "reduced dimension");
        return;
      }
      common = l;
    }
    for (size_t i = 0; common && i < common->len; i++) VEC_PUSH(a, made, common->data[i]);
  }
  axis_list axes = axes_difference(a, axis_vec_list(&made), first->unreduced);
  if (!axes.len) return;
  axes = axes_sort_merge(a, axes);
  cursor at = cursor_after(&p->e, o);
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(o, i);
    const sharding *s = part_sharding(&p->e, v);
    if (!s) s = sharding_make_replicated(a, first->mesh, (u32)type_rank(v->type), true);
    value *r = emit_all_reduce(&at, v, first->mesh, axes, s->unreduced_kind, s);
    value_replace_except(v, r, r->def.op);
  }
}

/* Operands' sums that the results don't leave open are closed in front of the op. */
static void close_operands(minimal *p, op *o) {
  if (!o->num_results) {
    for (u32 i = 0; i < o->num_operands && p->ok; i++) {
      const sharding *s = part_sharding(&p->e, op_operand(o, i));
      if (s && s->unreduced.len) refuse(p, o, "has an operand with unreduced axes and no results");
    }
    return;
  }
  const sharding *first = part_sharding(&p->e, op_result(o, 0));
  axis_list unreduced = first ? first->unreduced : (axis_list){0};
  for (u32 i = 1; i < o->num_results; i++) {
    const sharding *s = part_sharding(&p->e, op_result(o, i));
    if (!axes_eq(unreduced, s ? s->unreduced : (axis_list){0})) {
      refuse(p, o, "has results with different unreduced axes");
      return;
    }
  }
  cursor at = cursor_before(&p->e, o);
  for (u32 i = 0; i < o->num_operands && p->ok; i++) {
    value *v = op_operand(o, i);
    at.loc = v->is_arg ? o->loc : v->def.op->loc;
    close_sums(p, o, i, first, &at);
  }
}

static bool open_at(minimal *p, value *v) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, value_sharding(p->e.c, v));
  return s && s->unreduced.len;
}

static bool any_open(minimal *p, op *o) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (open_at(p, op_operand(o, i))) return true;
  for (u32 i = 0; i < o->num_results; i++)
    if (open_at(p, op_result(o, i))) return true;
  return false;
}

/* Most ops have no open sums and are not of the few kinds that are moved. */
static void fix_op(minimal *p, op *o) {
  bool open = any_open(p, o);
  bool dot_like = op_is(o, dot_general) || op_is(o, dot);
  bool parts = op_is(o, concatenate) && parts_differ(p, o);
  if (!open && !dot_like && !parts) return;
  if (open) close_operands(p, o);
  if (!p->ok) return;
  const rule *r = rule_of_op(&p->rules, o);
  tensors x;
  if (!r || r->custom || !project(p, o, r, &x)) return;
  if (dot_like) fix_dot(p, &x);
  if (parts) fix_concatenate(p, &x);
  if (o->num_results) reduce_results(p, &x);
}

/* ---- the pass ---- */

/* Some sharding in a list has open sums. Most ops share few lists. */
static bool list_open(minimal *p, const attr *a) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, a);
  if (!l || index_get(&p->closed, a)) return false;
  for (size_t i = 0; i < l->shardings.len; i++) {
    const tensor_sharding_attr *s = attr_as(tensor_sharding, l->shardings.data[i]);
    if (s && s->unreduced.len) return true;
  }
  index_set(&p->closed, p->e.a, a, p);
  return false;
}

static bool says_open(minimal *p, op *o) {
  if (list_open(p, op_discardable(o, SDY_SHARDING))) return true;
  for (u32 i = 0; i < o->info->num_slots; i++) {
    const tensor_sharding_attr *s = attr_as(tensor_sharding, o->slots[i]);
    if ((s && s->unreduced.len) || list_open(p, o->slots[i])) return true;
  }
  return op_kind(o) >= OP_COUNT;
}

/* Ops that are looked at whatever the shardings; notes whether all must be. */
static walk_result collect_few(void *user, op *o) {
  minimal *p = user;
  p->open = p->open || says_open(p, o);
  if (op_is(o, call) || op_is(o, dot) || op_is(o, dot_general) || op_is(o, concatenate))
    VEC_PUSH(p->e.a, p->ops, o);
  return WALK_ON;
}

static walk_result collect_all(void *user, op *o) {
  minimal *p = user;
  if (!op_has(o, TERMINATOR) && !op_is(o, func)) VEC_PUSH(p->e.a, p->ops, o);
  return WALK_ON;
}

static void collect(minimal *p, op *f) {
  p->ops.len = 0;
  p->open = false;
  for (int side = FUNC_ARGS; side <= FUNC_RESULTS; side++)
    for (size_t i = 0; i < func_num(f, side); i++) {
      const tensor_sharding_attr *s = attr_as(tensor_sharding, func_sharding(f, side, i));
      p->open = p->open || (s && s->unreduced.len);
    }
  if (!p->open) op_walk_post(f, collect_few, p);
  if (!p->open) return;
  p->ops.len = 0;
  op_walk_post(f, collect_all, p);
}

static void fix(minimal *p, op *o) {
  const flow *f = op_flow(o);
  if (f)
    fix_flow(p, o, f);
  else if (op_is(o, call))
    fix_call(p, o);
  else if (!op_is(o, reshard) || !fix_reshard(p, o))
    fix_op(p, o);
}

bool part_insert_minimal_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  minimal p = {.e = part_env_make(m, scratch), .ok = true};
  rule_set_init(&p.rules, m->ctx, scratch, false);
  symbols_init(&p.symbols, m, scratch);
  FOR_OPS(f, op_body(m->root, 0)) {
    if (!op_is(f, func)) continue;
    collect(&p, f);
    for (size_t i = 0; i < p.ops.len && p.ok; i++) fix(&p, p.ops.data[i]);
    if (p.ok && p.open) fix_return(&p, f);
    if (!p.ok) return false;
  }
  return shard_space_check(p.e.space);
}
