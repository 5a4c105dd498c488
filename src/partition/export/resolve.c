/* sdy-resolve-permutation-factors: ops whose shards need elements of other shards get them.
 *
 * Slices and pads exchange with their neighbours (exchange.c), a reverse turns the order of the
 * devices, reshapes have resolve_reshape.c. Whatever else has a sharded permutation factor, or asks
 * for shards from too far, has its dimensions replicated. Values of an op have one sharding by then
 * (sdy-insert-explicit-reshards).
 *
 * As Shardy has it, but where that is wrong: what comes from beyond the last device is zero, so
 * that only a pad with zeros is exchanged, and a slice with strides is replicated. */
#include "partition/export/resolve.h"

#include "partition/common_axes.h"
#include "partition/passes.h"
#include "partition/place.h"
#include "shard/transfer.h"

/* ---- replication ---- */

/* Nothing is read from another shard along dimension d. */
static bool slice_stays(const struct slice_attrs *a, const op *o, i64 parts, u32 d) {
  i64 in = op_operand(o, 0)->type->dims.data[d], out = op_result(o, 0)->type->dims.data[d];
  return a->start_indices.data[d] == 0 && a->strides.data[d] == 1 && in != DYNAMIC &&
         out != DYNAMIC && exchange_shard(in, parts) == exchange_shard(out, parts);
}

static bool pad_stays(const struct pad_attrs *a, const op *o, i64 parts, u32 d) {
  i64 size = op_operand(o, 0)->type->dims.data[d], low = a->edge_padding_low.data[d];
  if (a->interior_padding.data[d] || size == DYNAMIC || parts > EXCHANGE_MAX_DEVICES) return false;
  i64 in = exchange_shard(size, parts);
  i64 out = exchange_shard(op_result(o, 0)->type->dims.data[d], parts);
  for (i64 k = 0; k < parts; k++) {
    i64 begin;
    if (!checked_sub(k * out, low, &begin)) return false;
    i64 end = begin > size - out ? size : begin + out; /* without overflow */
    begin = max_i64(0, begin);
    if (begin < end && (begin / in != k || (end - 1) / in != k)) return false;
  }
  return true;
}

static bool stays(const op *o, const sharding *s, u32 d) {
  struct slice_attrs slice;
  struct pad_attrs pad;
  if (!op_is(o, slice) && !op_is(o, pad)) return false;
  if (!s || d >= s->rank || sharding_dim_size(s, d) == 1) return true;
  i64 parts = sharding_dim_size(s, d);
  if (op_is(o, slice)) return view_slice(o, &slice) && slice_stays(&slice, o, parts, d);
  return view_pad(o, &pad) && pad_stays(&pad, o, parts, d);
}

/* Rules call a dimension whose size stays the same passed through, whatever the op does to it. */
static bool may_keep_size(const op *o) { return op_is(o, pad) || op_is(o, slice); }

/* The tensors of an op: operands, then results. */
/* What is left of tensor t's sharding without the axes of some factors. NULL: all of it. */
static const sharding *without(resolver *r, const rule *ru, u32 t, const sharding *s,
                               const axis_list *axes, const bool *factors) {
  arena *a = r->e.a;
  sharding *out = arena_copy(a, s, sizeof(*s));
  dim_sharding *dims = arena_copy(a, s->dims, s->rank * sizeof(*dims));
  bool changed = false;
  for (u32 d = 0; d < s->rank; d++) {
    u32 at = ru->dim_begin[ru->tensor_begin[t] + d],
        end = ru->dim_begin[ru->tensor_begin[t] + d + 1];
    axis_vec v = {0};
    bool less = false;
    for (; at < end && !less; at++) {
      axis_list l = axes[(size_t)t * ru->num_factors + ru->places[at]];
      less = factors[ru->places[at]] && l.len;
      for (size_t i = 0; i < l.len && !less; i++) axes_add_or_merge(a, &v, l.data[i]);
    }
    if (less) dims[d].axes = axis_vec_list(&v);
    changed |= less;
    dims[d].priority = PRIORITY_NONE;
  }
  out->dims = dims;
  return changed ? shard_intern(r->e.space, out) : NULL;
}

/* Replicates the factors marked, before and after the op. */
static void replicate(resolver *r, op *o, const rule *ru, const sharding **s, const bool *factors) {
  axis_list *axes;
  if (!transfer_factors(r->e.space, r->e.a, ru, (transfer_mode){0}, s, &axes, NULL)) return;
  cursor after = cursor_after(&r->e, o);
  for (u32 t = 0; t < rule_num_tensors(ru); t++) {
    value *v = op_tensor(o, t);
    const sharding *to = s[t] ? without(r, ru, t, s[t], axes, factors) : NULL;
    const sharding *now = part_sharding(&r->e, v);
    if (!to && (!now || same_place(now, s[t]))) continue;
    if (!to) to = s[t];
    cursor before = cursor_before(&r->e, o);
    cursor *at = t < o->num_operands ? &before : &after;
    if (!v->is_arg) at->loc = v->def.op->loc;
    if (t < o->num_operands) {
      op_set_operand(o, t, emit_reshard(at, v, to));
    } else {
      part_set_sharding(&r->e, o, t - o->num_operands, to);
      value *m = emit_reshard(at, v, now);
      value_replace_except(v, m, m->def.op);
    }
  }
}

/* The mesh that all shardings are on, but for the order of its devices; NULL: there is none. */
static const mesh *mesh_of_all(const sharding *const *s, u32 n) {
  const mesh *m = NULL;
  for (u32 t = 0; t < n; t++) {
    if (!s[t]) continue;
    const mesh *other = s[t]->mesh;
    if (!m || mesh_is_empty(m))
      m = other;
    else if (!mesh_is_empty(other) && !mesh_same(m, other, true))
      return NULL;
    else if (!mesh_is_empty(other) && !other->device_ids.len)
      m = other;
  }
  return m && !mesh_is_maximal(m) ? m : NULL;
}

static void resolve_by_replication(resolver *r, op *o, const rule *ru) {
  u32 n = rule_num_tensors(ru);
  const sharding **s = ARENA_ARRAY(r->e.a, const sharding *, n);
  for (u32 t = 0; t < n; t++) s[t] = part_sharding(&r->e, op_tensor(o, t));
  const mesh *m = mesh_of_all(s, n);
  if (!m) return;
  for (u32 t = 0; t < n; t++) {
    if (!s[t] || s[t]->mesh == m) continue;
    sharding there = *s[t];
    there.mesh = m;
    s[t] = shard_intern(r->e.space, &there);
  }
  bool *factors = ARENA_ARRAY(r->e.a, bool, ru->num_factors), any = false;
  for (u32 f = 0; f < ru->num_factors; f++) {
    bool moves = ru->factors[f].kind == FACTOR_PERMUTATION || may_keep_size(o);
    factors[f] = moves && !stays(o, s[0], f);
    any |= factors[f];
  }
  if (any) replicate(r, o, ru, s, factors);
}

/* ---- slice and pad ---- */

typedef struct window {
  i64s low, high, inside; /* as of a pad; inside may be empty: none */
  bool pads;              /* else it slices */
} window;

/* Dimensions that are not sharded are done on every shard alike. */
static value *finish_window(const void *user, cursor *at, const exchange *x, value *v,
                            value *fill) {
  const part_env *e = at->env;
  const window *w = user;
  u32 rank = x->from->rank;
  i64 *low = arena_zalloc(e->a, (rank + 1) * sizeof(i64)),
      *high = arena_zalloc(e->a, (rank + 1) * sizeof(i64));
  i64 *inside = arena_zalloc(e->a, (rank + 1) * sizeof(i64));
  bool any = false;
  for (u32 d = 0; d < rank; d++) {
    if (sharding_dim_size(x->from, d) > 1) continue;
    low[d] = w->low.data[d];
    high[d] = w->high.data[d];
    inside[d] = w->inside.len ? w->inside.data[d] : 0;
    any |= low[d] || high[d] || inside[d];
  }
  if (!any) return v;
  const sharding *s = exchange_inside(e->a, x, x->from);
  if (w->pads) return emit_sharded(e, emit_pad(at, v, fill, low, high, inside), s);
  for (u32 d = 0; d < rank; d++) {
    low[d] = -low[d];
    high[d] += v->type->dims.data[d];
  }
  return emit_sharded(e, emit_slice(at, v, low, high), s);
}

/* The op has these; false: its dimensions must be replicated. */
static bool resolve_window(resolver *r, op *o, const window *w, value *fill) {
  const part_env *e = &r->e;
  value *v = op_operand(o, 0);
  const sharding *s = part_sharding(e, v);
  if (sharding_is_replicated(s) || mesh_is_maximal(s->mesh)) return true;
  const type *t = op_result(o, 0)->type;
  if (!type_is_static(v->type) || !type_is_static(t) || s->rank != t->dims.len) return false;
  exchange x = exchange_of_window(e->a, s, v->type->dims, t->dims, w->low.data,
                                  w->inside.len ? w->inside.data : NULL);
  if (!x.moves) return true;
  if (!x.near) return false;
  cursor at = cursor_before(e, o);
  v = emit_padded(&at, v, x.shape, s, fill);
  if (!fill) fill = emit_zeros(&at, type_tensor(e->c, (i64s){0}, v->type->elem, NULL));
  value *result = emit_exchange(r, &at, &x, v, fill, finish_window, w);
  value_replace(op_result(o, 0), emit_cut(&at, result, t->dims, s));
  op_erase(o);
  return true;
}

static bool is_zero(const value *v) {
  const op *o = value_op(v);
  const dense_attr *d =
      o && op_is(o, constant) ? attr_as(dense, op_attr(o, SLOT_NAME(value))) : NULL;
  for (size_t i = 0; d && i < d->data.len; i++)
    if (d->data.data[i]) return false;
  return d != NULL;
}

static bool resolve_pad(resolver *r, op *o) {
  struct pad_attrs a;
  if (!view_pad(o, &a)) return true;
  const window w = {a.edge_padding_low, a.edge_padding_high, a.interior_padding, true};
  if (!is_zero(op_operand(o, 1))) return false;
  return resolve_window(r, o, &w, op_operand(o, 1));
}

static bool resolve_slice(resolver *r, op *o) {
  struct slice_attrs a;
  if (!view_slice(o, &a)) return true;
  u32 rank = (u32)a.start_indices.len;
  i64 *low = ARENA_ARRAY(r->e.a, i64, rank), *high = ARENA_ARRAY(r->e.a, i64, rank);
  for (u32 d = 0; d < rank; d++) {
    if (a.strides.data[d] != 1) return false;
    low[d] = -a.start_indices.data[d];
    high[d] = a.limit_indices.data[d] - op_operand(o, 0)->type->dims.data[d];
  }
  const window w = {{low, rank}, {high, rank}, {0}, false};
  return resolve_window(r, o, &w, NULL);
}

/* ---- reverse ---- */

/* The mesh on which a device has the shard of the one across from it along the axes. */
static const mesh *reversed_mesh(resolver *r, const mesh *m, axis_list axes) {
  const part_env *e = &r->e;
  i64 *ids = ARENA_ARRAY(e->a, i64, (size_t)m->size);
  for (i64 p = 0; p < m->size; p++) {
    i64 q = p;
    for (size_t i = 0; i < axes.len; i++) {
      axis_list one = axes_slice(axes, i, 1);
      q = axes_position_at(m, one, q, axes.data[i].size - 1 - axes_index_at(m, one, p));
    }
    ids[p] = mesh_device_at(m, q);
  }
  mesh turned = *m;
  turned.device_ids = (i64s){ids, (size_t)m->size};
  str name = arena_printf(e->a, "%.*s_reversed", (int)m->name.len, m->name.data);
  return part_name_mesh(e, &r->symbols, &turned, name);
}

/* Which dimensions are turned, by how much they are padded, along which axes. */
static exchange exchange_of_reverse(arena *a, const sharding *s, i64s dims, i64s turned, i64 *by,
                                    axis_list *axes) {
  exchange x = {.from = s, .to = s, .manual = arena_zalloc(a, s->mesh->num_axes)};
  i64 *shape = arena_copy(a, dims.data, dims.len * sizeof(*shape));
  for (u32 d = 0; d < s->rank; d++) {
    i64 parts = sharding_dim_size(s, d);
    if (parts == 1 || !i64s_contain(turned, d)) continue;
    *axes = axes_concat(a, *axes, s->dims[d].axes);
    shape[d] = exchange_shard(dims.data[d], parts) * parts;
    by[d] = shape[d] - dims.data[d];
    for (size_t i = 0; by[d] && i < s->dims[d].axes.len; i++) {
      x.manual[s->dims[d].axes.data[i].axis] = true;
      x.moves = true;
    }
  }
  x.shape = x.result = (i64s){shape, dims.len};
  return x;
}

/* Padding goes to the front first, so that it is at the end again once all is turned; each device
 * turns its shard, and is across from where it was. */
static bool resolve_reverse(resolver *r, op *o) {
  const part_env *e = &r->e;
  struct reverse_attrs a;
  value *v = op_operand(o, 0), *result = op_result(o, 0);
  const sharding *s = part_sharding(e, v), *to = part_sharding(e, result);
  if (!view_reverse(o, &a) || sharding_is_replicated(s) || mesh_is_maximal(s->mesh)) return true;
  if (!type_is_static(v->type) || s->rank != v->type->dims.len) return false;
  if (s->mesh->size > EXCHANGE_MAX_DEVICES) return false;
  axis_list axes = {0};
  i64s dims = v->type->dims;
  i64 *by = arena_zalloc(e->a, (s->rank + 1) * sizeof(*by));
  exchange x = exchange_of_reverse(e->a, s, dims, a.dimensions, by, &axes);
  if (!axes.len) return true;
  cursor at = cursor_before(e, o);
  if (x.moves) {
    v = emit_padded(&at, v, x.shape, s, NULL);
    v = emit_shift(r, &at, &x, v, by);
    op_set_operand(o, 0, v);
    result->type = v->type;
  }
  sharding there = *s;
  there.mesh = reversed_mesh(r, s->mesh, axes);
  part_set_sharding(e, o, 0, &there);
  cursor after = cursor_after(e, o);
  value *back = emit_reshard(&after, result, to ? to : s);
  value_replace_except(result, emit_cut(&after, back, dims, s), back->def.op);
  return true;
}

/* ---- the pass ---- */

/* False: the op's dimensions must be replicated. */
typedef bool resolve_fn(resolver *r, op *o);
static resolve_fn *const resolve_of[OP_COUNT] = {
    [OP_pad] = resolve_pad, [OP_reverse] = resolve_reverse, [OP_slice] = resolve_slice};

static bool permutes(const rule *ru) {
  for (u32 f = 0; f < ru->num_factors; f++)
    if (ru->factors[f].kind == FACTOR_PERMUTATION) return true;
  return false;
}

static void resolve(resolver *r, op *o) {
  if (op_is(o, reshape)) {
    r->ok = resolve_reshape(r, o);
    return;
  }
  const rule *ru = rule_of_op(&r->rules, o);
  if (!ru || ru->custom || (!permutes(ru) && !may_keep_size(o))) return;
  resolve_fn *fn = r->exchanges && op_kind(o) < OP_COUNT ? resolve_of[op_kind(o)] : NULL;
  if (!fn || !fn(r, o)) resolve_by_replication(r, o, ru);
}

typedef struct found {
  resolver *r;
  VEC(op *) ops;
} found;

static walk_result find(void *user, op *o) {
  found *f = user;
  if (!op_has(o, TERMINATOR) && str_starts(o->info->name, STR("stablehlo.")))
    VEC_PUSH(f->r->e.a, f->ops, o);
  return WALK_ON;
}

bool part_resolve_permutations(ir_module *m, arena *scratch, const pass_args *args) {
  resolver r = {.e = part_env_make(m, scratch), .next_channel = part_next_channel(m), .ok = true};
  r.exchanges = pass_option_flag(args, STR("enable-halo-exchange"), true);
  if (!part_device_id(m, args, &r.device_id)) return false;
  rule_set_init(&r.rules, m->ctx, scratch, false);
  symbols_init(&r.symbols, m, scratch);
  found f = {.r = &r};
  op_walk_post(m->root, find, &f);
  for (size_t i = 0; i < f.ops.len && r.ok; i++) resolve(&r, f.ops.data[i]);
  return r.ok && shard_space_check(r.e.space);
}
