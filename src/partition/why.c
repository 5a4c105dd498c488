#include "partition/why.h"

#include "shard/flow.h"
#include "shard/sharding_ir.h"
#include "text/text.h"

void why_init(why_log *w, const allocator *mem) {
  memset(w, 0, sizeof *w);
  arena_init(&w->a, mem, NULL);
}

/* ---- locations ---- */

/* No two are alike, so that a location with this metadata is nobody else's. */
static const attr *tag(why_log *w, ir_ctx *c, const attr *loc, why_tag what) {
  str name = arena_printf(&w->a, "terrazzo.why.%u", ++w->num_tags);
  const attr *tagged = loc_fuse_all(c, (attrs){&loc, 1}, attr_string(c, name));
  index_set(&w->tags, &w->a, tagged, arena_copy(&w->a, &what, sizeof what));
  return tagged;
}

static void read_tags(const why_log *w, arena *a, const attr *loc, int depth, why_tags *out) {
  const why_tag *t = index_get(&w->tags, loc);
  if (t) {
    VEC_PUSH(a, *out, *t);
    return;
  }
  if (!loc || depth == 64) return;
  const loc_fused_attr *u = attr_as(loc_fused, loc);
  const loc_callsite_attr *s = attr_as(loc_callsite, loc);
  const loc_name_attr *n = attr_as(loc_name, loc);
  for (size_t i = 0; u && i < u->locs.len; i++) read_tags(w, a, u->locs.data[i], depth + 1, out);
  if (s) read_tags(w, a, s->callee, depth + 1, out);
  if (n) read_tags(w, a, n->child, depth + 1, out);
}

why_tags why_read(const why_log *w, arena *a, const attr *loc) {
  why_tags out = {0};
  read_tags(w, a, loc, 0, &out);
  return out;
}

/* The first that its location speaks of. */
static why_tag tag_of(why_log *w, const op *o) {
  const attr *loc = o->loc;
  for (int depth = 0; loc && depth < 64; depth++) {
    const why_tag *t = index_get(&w->tags, loc);
    if (t) return *t;
    const loc_fused_attr *u = attr_as(loc_fused, loc);
    const loc_callsite_attr *s = attr_as(loc_callsite, loc);
    const loc_name_attr *n = attr_as(loc_name, loc);
    loc = n ? n->child : s ? s->callee : u && u->locs.len ? u->locs.data[0] : NULL;
  }
  return (why_tag){0};
}

static why_place place_of(why_log *w, const value *v) {
  if (!v) return (why_place){0};
  op *o = value_parent(v);
  u32 number = o ? tag_of(w, o).op : 0;
  if (!number) return (why_place){0};
  return (why_place){v->is_arg ? WHY_INSIDE : WHY_RESULT, number, v->index};
}

/* ---- the source ---- */

static str keep(why_log *w, str s) { return s.len ? arena_str(&w->a, s) : (str){0}; }

static diag_pos keep_pos(why_log *w, const attr *loc) {
  diag_pos p = loc_pos(loc);
  p.file = keep(w, p.file);
  return p;
}

static str text_of(why_log *w, const attr *a) {
  return a ? str_of(text_show_attr(&w->a, a)) : (str){0};
}

/* What the op itself says of its values. */
static str said_by(why_log *w, const op *o) {
  const attr *own = op_is(o, sharding_constraint) || op_is(o, reshard)
                        ? op_attr(o, SLOT_NAME(sharding))
                        : op_attr(o, SLOT_NAME(out_sharding));
  attrs list = op_shardings(o);
  if (op_is(o, manual_computation)) return text_of(w, op_attr(o, SLOT_NAME(in_shardings)));
  return text_of(w, own ? own : list.len ? list.data[0] : NULL);
}

/* jax.buffer_donor, or a result that is to take it over. */
static bool is_donated(const op *f, u32 i) {
  bool donor = false;
  attr_get_bool(func_named(f, FUNC_ARGS, i, STR("jax.buffer_donor")), &donor);
  return donor || func_named(f, FUNC_ARGS, i, STR("tf.aliasing_output"));
}

static void number_side(why_log *w, op *f, func_side side) {
  const block *b = op_body(f, 0);
  for (u32 i = 0; i < func_num(f, side); i++) {
    const attr *loc = side == FUNC_ARGS && b ? block_arg_loc(b, i) : f->loc;
    str name = side == FUNC_ARGS ? loc_outer_name(loc) : (str){0};
    if (side == FUNC_RESULTS) attr_get_str(func_named(f, side, i, STR("jax.result_info")), &name);
    why_border x = {.name = keep(w, name),
                    .pos = keep_pos(w, loc),
                    .sharding = text_of(w, func_sharding(f, side, i)),
                    .type = str_of(text_show_type(&w->a, func_type_of(f, side, i))),
                    .donated = side == FUNC_ARGS && is_donated(f, i)};
    if (side == FUNC_ARGS)
      VEC_PUSH(&w->a, w->args, x);
    else
      VEC_PUSH(&w->a, w->results, x);
  }
}

static void note_mesh(why_log *w, const op *o) {
  struct sdy_mesh_attrs v;
  why_mesh m = {keep(w, symbol_name(o))};
  if (!view_sdy_mesh(o, &v)) return;
  for (size_t i = 0; i < v.mesh->axes.len; i++) {
    const mesh_axis_attr *a = attr_as(mesh_axis, v.mesh->axes.data[i]);
    if (!a || a->size <= 1) continue;
    VEC_PUSH(&w->a, m.axes, keep(w, a->name));
    VEC_PUSH(&w->a, m.sizes, a->size);
  }
  VEC_PUSH(&w->a, w->meshes, m);
}

/* A name over a line of a file is that of a function; others name the op. */
static str frames_of(why_log *w, const attr *loc, int depth) {
  const str *known = loc ? index_get(&w->frames, loc) : NULL;
  if (known || !loc || depth == 64) return known ? *known : (str){0};
  const loc_callsite_attr *s = attr_as(loc_callsite, loc);
  const loc_name_attr *n = attr_as(loc_name, loc);
  const loc_fused_attr *u = attr_as(loc_fused, loc);
  str out = {0};
  if (s) {
    str outer = frames_of(w, s->caller, depth + 1), inner = frames_of(w, s->callee, depth + 1);
    out = !outer.len   ? inner
          : !inner.len ? outer
                       : arena_printf(&w->a, STR_FMT "/" STR_FMT, STR_ARG(outer), STR_ARG(inner));
  } else if (n) {
    out = attr_as(loc_file, n->child) ? keep(w, n->name) : frames_of(w, n->child, depth + 1);
  } else if (u && u->locs.len) {
    out = frames_of(w, u->locs.data[0], depth + 1);
  }
  index_set(&w->frames, &w->a, loc, arena_copy(&w->a, &out, sizeof out));
  return out;
}

static void number_op(why_log *w, op *o, u32 parent) {
  str symbol = op_has(o, SYMBOL) ? symbol_name(o) : (str){0};
  struct call_attrs v;
  if (op_is(o, call) && view_call(o, &v)) symbol = v.callee;
  why_op x = {.name = keep(w, o->info->name),
              .what = keep(w, loc_outer_name(o->loc)),
              .pos = keep_pos(w, o->loc),
              .parent = parent,
              .main = op_is(o, func) && str_is(symbol, "main"),
              .constraint = said_by(w, o),
              .symbol = keep(w, symbol),
              .frames = frames_of(w, o->loc, 0),
              .operands = w->operands.len,
              .num_operands = o->num_operands};
  for (u32 i = 0; i < o->num_operands; i++)
    VEC_PUSH(&w->a, w->operands, place_of(w, op_operand(o, i)));
  if (op_is(o, sharding_constraint)) x.operand = place_of(w, op_operand(o, 0));
  VEC_PUSH(&w->a, w->ops, x);
}

static void number_block(why_log *w, ir_ctx *c, block *b, u32 parent) {
  for (op *o = b->first; o; o = o->next) {
    u32 number = (u32)w->ops.len;
    number_op(w, o, parent);
    bool main = w->ops.data[number].main;
    if (op_is(o, sdy_mesh)) note_mesh(w, o);
    if (main) number_side(w, o, FUNC_ARGS), number_side(w, o, FUNC_RESULTS);
    o->loc = tag(w, c, o->loc, (why_tag){number, 0});
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next) number_block(w, c, in, number);
  }
}

void why_begin(why_log *w, ir_module *m) {
  w->c = m->ctx;
  w->ops.len = w->operands.len = w->args.len = w->results.len = w->meshes.len = 0;
  VEC_PUSH(&w->a, w->ops, ((why_op){.name = STR("builtin.module")}));
  number_block(w, m->ctx, op_body(m->root, 0), 0);
  why_again(w, m, false);
}

/* A constraint of ours has the location of the op that it is about. */
static walk_result note_choice(void *user, op *o) {
  why_log *w = user;
  u32 number = op_is(o, sharding_constraint) ? tag_of(w, o).op : 0;
  if (number && !str_eq(w->ops.data[number].name, o->info->name)) w->ops.data[number].chosen = true;
  return WALK_ON;
}

void why_again(why_log *w, ir_module *m, bool kept) {
  w->num_before = kept ? w->events.len : 0;
  if (!kept) w->events.len = 0;
  w->reasons.len = w->values.len = 0;
  w->last = (hash_index){0};
  VEC_PUSH(&w->a, w->reasons, ((why_reason){0}));
  for (size_t i = 0; i < w->ops.len; i++) w->ops.data[i].chosen = false;
  op_walk(m->root, note_choice, w);
}

/* ---- propagation ---- */

static size_t find_event(const why_log *w, const value *v, bool returned, str mesh, str axis,
                         i64 pre, i64 size) {
  size_t i = (size_t)(uintptr_t)index_get(&w->last, trace_key(v, returned)) - 1;
  for (; i != WHY_NO_EVENT; i = w->events.data[i].earlier) {
    const why_event *e = &w->events.data[i];
    if (str_eq(e->axis, axis) && str_eq(e->mesh, mesh) &&
        axis_overlaps((axis_ref){0, e->pre, e->size}, (axis_ref){0, pre, size}))
      return i;
  }
  return WHY_NO_EVENT;
}

/* What is returned is the function's result: one that is said to have the axis, where a value is
 * several of them. */
static why_place node_place(why_log *w, const trace_event *e, const value *v, bool returned) {
  if (!returned) return place_of(w, v);
  const op *end = op_terminator(op_body(e->op, 0));
  why_place p = {WHY_NOWHERE, tag_of(w, e->op).op, 0};
  str name = e->mesh->axes[e->axis.axis].name;
  for (u32 i = 0; i < end->num_operands && i < w->results.len; i++) {
    if (trace_owner(value_shardable(op_operand(end, i))) != v) continue;
    bool said = why_names(w->results.data[i].sharding, name);
    if (!p.at || said) p = (why_place){WHY_RETURNED, p.op, i};
    if (said) return p;
  }
  return p;
}

static void push_event(why_log *w, why_event out, const void *key) {
  out.earlier = (size_t)(uintptr_t)index_get(&w->last, key) - 1;
  VEC_PUSH(&w->a, w->events, out);
  index_set(&w->last, &w->a, key, (void *)(uintptr_t)w->events.len);
}

static void add_event(why_log *w, const trace_event *e) {
  trace_ends x = trace_ends_of(e);
  why_event out = {.mesh = keep(w, e->mesh->name),
                   .axis = keep(w, e->mesh->axes[e->axis.axis].name),
                   .pre = e->axis.pre,
                   .size = e->axis.size,
                   .from = node_place(w, e, x.from, x.from_returned),
                   .to = node_place(w, e, x.to, x.to_returned),
                   .op = x.carrier ? tag_of(w, x.carrier).op : 0,
                   .edge = x.edge,
                   .user_priority = e->user_priority,
                   .op_round = e->op_round};
  out.cause = find_event(w, x.from, x.from_returned, out.mesh, out.axis, out.pre, out.size);
  push_event(w, out, trace_key(x.to, x.to_returned));
}

void why_traced(why_log *w, const shard_trace *t) {
  for (size_t i = 0; i < t->events.len; i++) add_event(w, &t->events.data[i]);
}

typedef struct noting {
  why_log *w;
  shard_space *space;
} noting;

/* Bytes that shards have beyond the whole. */
static u64 padding_of(noting *n, const attr *sharding, const type *t) {
  const struct sharding *s = shard_read(n->space, sharding);
  i64 whole = 1, all = 1, bytes = (i64)type_storage(type_element(t));
  for (u32 d = 0; s && d < s->rank && d < t->dims.len; d++) {
    i64 parts = sharding_dim_size(s, d), size = t->dims.data[d];
    if (size < 0 || !checked_mul(whole, size, &whole) ||
        !checked_mul(all, (size / parts + (size % parts != 0)) * parts, &all))
      return 0;
  }
  return all > whole && checked_mul(all - whole, bytes, &all) ? (u64)all : 0;
}

static walk_result note_values(void *user, op *o) {
  noting *n = user;
  why_log *w = n->w;
  for (u32 i = 0; i < o->num_results; i++) {
    value *v = op_result(o, i);
    why_place at = place_of(w, v);
    if (!at.at || !type_is_ranked(v->type)) continue;
    const attr *s = value_sharding(w->c, v);
    VEC_PUSH(&w->a, w->values,
             ((why_value){at, text_of(w, s), str_of(text_show_type(&w->a, v->type)),
                          type_num_bytes(v->type), padding_of(n, s, v->type)}));
  }
  return WALK_ON;
}

void why_values(why_log *w, ir_module *m) {
  noting n = {w, shard_space_create(m, &w->a)};
  op_walk(m->root, note_values, &n);
}

/* ---- reasons ---- */

/* What passes put between a value and who uses it: no step of its own. */
static bool is_move(why_log *w, const op *o) {
  bool moves = o->num_operands == 1 && o->num_results == 1 &&
               (op_is(o, reshard) || op_is(o, convert) || op_is(o, sdy_all_reduce) ||
                op_is(o, propagation_barrier) || op_is(o, sharded_to_unreduced) ||
                op_is(o, replicated_to_unreduced));
  why_kind kind = w->reasons.data[moves ? tag_of(w, o).reason : 0].kind;
  return kind && kind != WHY_CONSTRAINT;
}

static bool has_axis(const part_env *e, const value *v, axis_ref a, str mesh) {
  const sharding *s = type_is_ranked(v->type) ? part_sharding(e, v) : NULL;
  if (!s || !str_eq(s->mesh->name, mesh)) return false;
  bool any = axes_overlap_ref(s->unreduced, a);
  for (u32 d = 0; d < s->rank; d++) any |= axes_overlap_ref(s->dims[d].axes, a);
  return any;
}

enum { MAX_STEPS = 32 };

/* Of a move that brings an axis: who wanted it there. */
static size_t wanted_by(const why_log *w, u32 reason, const why_axis *x, why_place *holder) {
  const why_reason *r = &w->reasons.data[reason];
  for (size_t i = 0; i < r->axes.len; i++)
    if (str_eq(r->axes.data[i].axis, x->axis) && r->axes.data[i].wanted) {
      *holder = r->axes.data[i].holder;
      return r->axes.data[i].event;
    }
  return WHY_NO_EVENT;
}

/* The event that gave v the axis. Where propagation did not, but the op is computed so because its
 * operands are, that is a step as well, which is added. *holder: where the axis is said to be. */
static size_t event_of(why_log *w, const part_env *e, value *v, const why_axis *x, axis_ref a,
                       int depth, why_place *holder) {
  value *at = trace_owner(value_shardable(v));
  why_place place = at ? place_of(w, at) : (why_place){0};
  size_t found = at ? find_event(w, at, false, x->mesh, x->axis, a.pre, a.size) : WHY_NO_EVENT;
  op *o = value_op(v);
  bool moved = o && is_move(w, o);
  if (!moved && place.at) *holder = place;
  if (found != WHY_NO_EVENT || !o || depth == MAX_STEPS) return found;
  bool said = !moved && place.at && w->ops.data[place.op].constraint.len;
  for (u32 i = 0; !said && i < o->num_operands; i++) {
    value *from = op_operand(o, i);
    if (!has_axis(e, from, a, x->mesh)) continue;
    if (moved) return event_of(w, e, from, x, a, depth + 1, holder);
    why_event out = {.mesh = x->mesh,
                     .axis = x->axis,
                     .pre = a.pre,
                     .size = a.size,
                     .to = place,
                     .op = place.op,
                     .op_round = -1};
    out.cause = event_of(w, e, from, x, a, depth + 1, &out.from);
    push_event(w, out, trace_key(at ? at : v, false));
    return w->events.len - 1;
  }
  return moved ? wanted_by(w, tag_of(w, o).reason, x, holder) : WHY_NO_EVENT;
}

static void add_axis(why_log *w, const part_env *e, why_reason *r, value *v, const mesh *m,
                     axis_ref a, int from_dim, int to_dim, bool wanted) {
  why_axis x = {.mesh = keep(w, m->name),
                .axis = keep(w, m->axes[a.axis].name),
                .pre = a.pre,
                .size = a.size,
                .whole = m->axes[a.axis].size,
                .from_dim = from_dim,
                .to_dim = to_dim,
                .wanted = wanted};
  x.event = event_of(w, e, v, &x, a, 0, &x.holder);
  VEC_PUSH(&w->a, r->axes, x);
}

static const attr *add_reason(why_log *w, ir_ctx *c, const op *o, why_reason r) {
  VEC_PUSH(&w->a, w->reasons, r);
  return tag(w, c, o->loc, (why_tag){r.op, (u32)w->reasons.len - 1});
}

static bool has_along(const rule *r, u32 t, u32 d, u32 f) {
  u32 at = r->tensor_begin[t] + d;
  for (u32 k = r->dim_begin[at]; k < r->dim_begin[at + 1]; k++)
    if (r->places[k] == f) return true;
  return false;
}

/* A tensor besides `not` that came with the axis along factor f. */
static int tensor_along(const why_rule *r, u32 f, axis_ref a, u32 not ) {
  for (u32 t = 0; t < rule_num_tensors(r->rule); t++)
    for (u32 d = 0; t != not &&r->tensors[t] && d < rule_rank(r->rule, t); d++)
      if (has_along(r->rule, t, d, f) && axes_overlap_ref(r->tensors[t]->dims[d].axes, a))
        return (int)t;
  return -1;
}

/* Who else brought the axis that the op computes with along dimension d of tensor t; v: nobody. */
static value *who_brought(const why_rule *r, u32 t, u32 d, axis_ref a, value *v) {
  for (u32 f = 0; r && f < r->rule->num_factors; f++) {
    int other = has_along(r->rule, t, d, f) ? tensor_along(r, f, a, t) : -1;
    if (other >= 0) return op_tensor(r->o, (u32)other);
  }
  return v;
}

static int dim_with(const sharding *s, axis_ref a) {
  for (u32 d = 0; s && d < s->rank; d++)
    if (axes_overlap_ref(s->dims[d].axes, a)) return (int)d;
  return -1;
}

/* Along each dimension what `one` has from the first place on where it differs from `other`. */
static void compare_dims(why_log *w, const part_env *e, why_reason *out, value *v, u32 t,
                         const sharding *one, const sharding *other, bool wanted, bool brought,
                         const why_rule *r) {
  for (u32 d = 0; one && d < one->rank; d++) {
    axis_list l = one->dims[d].axes, x = other ? other->dims[d].axes : (axis_list){0};
    size_t same = 0;
    while (same < l.len && same < x.len && axis_eq(l.data[same], x.data[same])) same++;
    for (size_t i = same; i < l.len; i++) {
      int there = dim_with(other, l.data[i]);
      value *who = brought ? who_brought(r, t, d, l.data[i], v) : v;
      add_axis(w, e, out, who, one->mesh, l.data[i], wanted ? there : (int)d,
               wanted ? (int)d : there, wanted);
    }
  }
}

const attr *why_move(why_log *w, const part_env *e, const op *o, why_kind kind, u32 index, value *v,
                     const sharding *from, const sharding *to, const why_rule *r) {
  if (!w) return o->loc;
  bool result = kind == WHY_RESULT_OF;
  u32 t = result ? o->num_operands + index : index;
  why_reason out = {.kind = kind, .op = tag_of(w, o).op, .index = index};
  axis_list sums = from ? from->unreduced : (axis_list){0};
  for (size_t i = 0; i < sums.len; i++) {
    int there = dim_with(to, sums.data[i]);
    add_axis(w, e, &out, v, from->mesh, sums.data[i], -1, there, false);
  }
  compare_dims(w, e, &out, v, t, from, to, false, result, r);
  compare_dims(w, e, &out, v, t, to, from, true, !result, r);
  return add_reason(w, e->c, o, out);
}

const attr *why_factors(why_log *w, const part_env *e, const why_rule *r, why_kind kind,
                        axis_list axes) {
  if (!w) return r->o->loc;
  u32 n = rule_num_tensors(r->rule);
  why_reason out = {.kind = kind, .op = tag_of(w, r->o).op};
  for (u32 f = 0; f < r->rule->num_factors; f++)
    for (size_t i = 0; i < r->axes[f].len; i++) {
      axis_ref a = r->axes[f].data[i];
      int t = axes_overlap_ref(axes, a) ? tensor_along(r, f, a, n) : -1;
      if (t < 0) continue;
      value *v = op_tensor(r->o, (u32)t);
      out.index = (u32)t;
      add_axis(w, e, &out, v, r->tensors[t]->mesh, a, dim_with(r->tensors[t], a), -1, false);
    }
  return add_reason(w, e->c, r->o, out);
}

const attr *why_join(why_log *w, ir_ctx *c, const attr *a, const attr *b) {
  return w ? loc_fuse(c, a, b) : a;
}

bool why_names(str sharding, str axis) {
  for (size_t i = 0; i + axis.len + 2 <= sharding.len; i++)
    if (sharding.data[i] == '"' && sharding.data[i + axis.len + 1] == '"' &&
        memcmp(sharding.data + i + 1, axis.data, axis.len) == 0)
      return true;
  return false;
}

str why_axis_text(arena *a, str axis, i64 pre, i64 size, i64 whole) {
  if (pre == 1 && size == whole) return arena_printf(a, "\"" STR_FMT "\"", STR_ARG(axis));
  return arena_printf(a, "\"" STR_FMT "\":(%lld)%lld", STR_ARG(axis), (long long)pre,
                      (long long)size);
}
