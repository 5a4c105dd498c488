/* Windows of sharded dimensions: plans as permutations, and the ops that move elements.
 *
 * An op's row says which window of an operand's dimension it needs (part_row.windows); here the
 * operand becomes its window, and the op itself is told of the shorter dimension. */
#include "partition/local.h"

/* ---- pieces of values ---- */

const type *local_resized(local *l, const type *t, u32 d, i64 size) {
  i64 *dims = arena_copy(l->e.a, t->dims.data, t->dims.len * sizeof *dims);
  dims[d] = size;
  return type_with_dims(l->e.c, t, (i64s){dims, t->dims.len});
}

value *local_cut(local *l, cursor *at, value *v, u32 d, i64 low, i64 high) {
  i64s dims = v->type->dims;
  if (low == 0 && high == dims.data[d]) return v;
  i64 *begin = arena_zalloc(l->e.a, dims.len * sizeof *begin);
  i64 *end = arena_copy(l->e.a, dims.data, dims.len * sizeof *end);
  begin[d] = low;
  end[d] = high;
  return emit_slice(at, v, begin, end);
}

value *local_join(cursor *at, value *const *list, size_t n, u32 d) {
  return n == 1 ? list[0] : emit_concatenate(at, list, n, d);
}

value *local_take(local *l, cursor *at, value *v, u32 d, value *start, i64 size) {
  size_t rank = v->type->dims.len;
  value **starts = ARENA_ARRAY(l->e.a, value *, rank), *zero = rank > 1 ? emit_int(at, 0) : NULL;
  for (size_t i = 0; i < rank; i++) starts[i] = i == d ? start : zero;
  return emit_dynamic_slice(at, v, starts, local_resized(l, v->type, d, size)->dims);
}

/* ---- rows of elements ---- */

typedef struct reader {
  local *l;
  cursor *at;
  value *in; /* the shard */
  u32 d;
  const sharding *s;
  const shard_window *w;
  window_plan plan;
} reader;

static value *zeros(const reader *r, i64 n) {
  return emit_zeros(r->at, local_resized(r->l, r->in->type, r->d, n));
}

static value *cut_own(const reader *r, i64 low, i64 high) {
  return local_cut(r->l, r->at, r->in, r->d, low, high);
}

/* NULL: nobody sends anything. */
static value *permute(const reader *r, const window_hop *h, const replica_groups *g) {
  i64 *pairs = ARENA_ARRAY(r->l->e.a, i64, 2 * g->num_groups * g->group_size), n = 0;
  for (i64 k = 0; k < g->num_groups; k++)
    for (i64 t = 0; t < g->group_size; t++) {
      i64 s = window_source(r->w, &r->plan, h, t);
      if (s < 0) continue;
      pairs[2 * n] = g->ids[k * g->group_size + s];
      pairs[2 * n++ + 1] = g->ids[k * g->group_size + t];
    }
  if (n == 0 || h->sent_low == h->sent_high) return NULL;
  ir_ctx *c = r->l->e.c;
  value *v = cut_own(r, h->sent_low, h->sent_high);
  v = emit(r->at, OP_collective_permute, &v, 1, v->type);
  op_set(v->def.op, collective_permute, source_target_pairs,
         attr_dense_i64(c, (i64s){(i64[]){n, 2}, 2}, pairs));
  op_set(v->def.op, collective_permute, channel_handle,
         attr_make(c, channel_handle, .handle = r->l->next_channel++, .type = 1));
  return v;
}

/* Between zeros, so that it takes all the room that it has. */
static value *piece(const reader *r, const window_hop *h, const replica_groups *g) {
  if (h->own) return cut_own(r, h->low, h->high);
  value *got = permute(r, h, g), *parts[3];
  if (!got) return zeros(r, h->high - h->low);
  size_t n = 0;
  if (h->sent_low > h->low) parts[n++] = zeros(r, h->sent_low - h->low);
  parts[n++] = got;
  if (h->high > h->sent_high) parts[n++] = zeros(r, h->high - h->sent_high);
  return local_join(r->at, parts, n, r->d);
}

static value *shard_index(const reader *r) {
  return local_index_of(r->l, r->s->mesh, r->s->dims[r->d].axes);
}

/* What came by the way that is this shard's. */
static value *choose_way(const reader *r, value *const *ways) {
  value *v = ways[0];
  for (i64 k = 1; k < r->plan.ways; k++) {
    value *way = emit_binary(r->at, OP_remainder, shard_index(r), emit_int(r->at, r->plan.ways));
    value *mine = emit_compare(r->at, way, emit_int(r->at, k), 0);
    v = emit(r->at, OP_select, (value *[]){mine, ways[k], v}, 3, v->type);
  }
  return v;
}

static value *make_row(const reader *r, const replica_groups *g) {
  const window_plan *p = &r->plan;
  size_t n = p->num_hops / (size_t)p->ways;
  value **row = ARENA_ARRAY(r->l->e.a, value *, n);
  value **ways = ARENA_ARRAY(r->l->e.a, value *, (size_t)p->ways);
  for (size_t i = 0; i < n; i++) {
    for (i64 k = 0; k < p->ways; k++)
      ways[k] = piece(r, &p->hops[i * (size_t)p->ways + (size_t)k], g);
    row[i] = choose_way(r, ways);
  }
  return local_join(r->at, row, n, r->d);
}

/* ---- places in it ---- */

static value *offset(const reader *r, value *v, i64 n) {
  return n ? emit_binary(r->at, OP_add, v, emit_int(r->at, n)) : v;
}

static value *times(const reader *r, value *v, i64 n) {
  return n == 1 ? v : emit_binary(r->at, OP_multiply, v, emit_int(r->at, n));
}

/* Where the window of this shard starts, and `up` elements more, which makes it no less than 0. */
static value *start_from(const reader *r, i64 *up) {
  const shard_window *w = r->w;
  i64 least = min_i64(window_start(w, 0), window_start(w, w->parts - 1));
  *up = least < 0 ? (-least / w->shard + 1) * w->shard : 0;
  value *v = offset(r, times(r, shard_index(r), w->step), w->begin + *up * w->divisor);
  return w->divisor == 1 ? v : emit_binary(r->at, OP_divide, v, emit_int(r->at, w->divisor));
}

static value *take_window(const reader *r, value *row) {
  const window_plan *p = &r->plan;
  const shard_window *w = r->w;
  if (!p->varies) return row;
  i64 up;
  value *start = start_from(r, &up);
  if (p->anchored) {
    start = emit_binary(r->at, OP_remainder, start, emit_int(r->at, w->shard));
    start = offset(r, start, -p->base);
  } else {
    value *shard = times(r, shard_index(r), w->shard);
    start = offset(r, emit_binary(r->at, OP_subtract, start, shard), -p->base - up);
  }
  return local_take(r->l, r->at, row, r->d, start, w->length);
}

static value *spread(cursor *at, value *v, const type *t, i64s dims) {
  value *x = emit(at, OP_broadcast_in_dim, &v, 1,
                  type_tensor(at->env->c, t->dims, type_element(v->type), NULL));
  op_set(x->def.op, broadcast_in_dim, broadcast_dimensions, attr_i64_array(at->env->c, dims));
  return x;
}

/* tensor<length x i1>: whether the place of each of the elements from `start` on, a tensor<i64>, is
 * at least `first` and less than `last`. */
value *local_places_within(cursor *at, value *start, i64 length, i64 first, i64 last) {
  ir_ctx *c = at->env->c;
  const type *t = type_tensor(c, (i64s){&length, 1}, type_i64(c), NULL);
  value *place = emit(at, OP_iota, NULL, 0, t);
  op_set(place->def.op, iota, iota_dimension, attr_i64(c, 0));
  place = emit_binary(at, OP_add, place, spread(at, start, t, (i64s){0}));
  enum { GE = 2, LT = 5 };
  value *low = emit_compare(at, place, spread(at, emit_int(at, first), t, (i64s){0}), GE);
  value *high = emit_compare(at, place, spread(at, emit_int(at, last), t, (i64s){0}), LT);
  return emit_binary(at, OP_and, low, high);
}

value *local_select_along(cursor *at, u32 d, value *within, value *x, value *y) {
  i64s dims = {(i64[]){d}, 1};
  if (type_rank(y->type) == 0 && type_rank(x->type)) y = spread(at, y, x->type, (i64s){0});
  within = spread(at, within, x->type, dims);
  return emit(at, OP_select, (value *[]){within, x, y}, 3, x->type);
}

/* ---- */

/* A scalar whose bits are all zero, as far as one can see. */
bool local_is_zero(const value *v) {
  const dense_attr *d = attr_as(dense, part_scalar_constant(v));
  for (size_t i = 0; d && i < d->data.len; i++)
    if (d->data.data[i]) return false;
  return d != NULL;
}

value *local_window_start(local *l, cursor *at, const sharding *s, u32 d, const shard_window *w) {
  const reader r = {.l = l, .at = at, .d = d, .s = s, .w = w};
  i64 up;
  value *start = start_from(&r, &up);
  return offset(&r, start, -up);
}

value *local_window(local *l, cursor *at, value *v, const sharding *s, u32 d, const shard_window *w,
                    value *fill) {
  reader r = {.l = l, .at = at, .in = v, .d = d, .s = s, .w = w};
  replica_groups g;
  if (!window_make_plan(l->e.a, w, &r.plan) ||
      !mesh_replica_groups(l->e.a, s->mesh, s->dims[d].axes, &g))
    return NULL;
  value *x = take_window(&r, make_row(&r, &g));
  bool masked = fill && window_reaches_out(w) && !(r.plan.zeros && local_is_zero(fill));
  if (!masked) return x;
  value *start = local_window_start(l, at, s, d, w);
  value *within = local_places_within(at, start, w->length, w->first, w->last);
  return local_select_along(at, d, within, x, fill);
}

/* ---- what an op reads ---- */

const type **local_whole_types(const local *l, const op *o) {
  u32 n = o->num_operands + o->num_results;
  const type **types = ARENA_ARRAY(l->e.a, const type *, n);
  for (u32 t = 0; t < n; t++) {
    const value *v = op_tensor(o, t);
    types[t] = local_whole_type(l, v);
  }
  return types;
}

bool local_read(local *l, op *o, const type *const *types, windows_fn *windows, u32 t,
                value *fill) {
  value *v = op_operand(o, t), *x = v;
  const sharding *s = local_sharding(l, v);
  cursor at = cursor_before(&l->e, o);
  for (u32 d = 0; s && d < s->rank; d++) {
    shard_window w;
    i64 parts = sharding_dim_size(s, d);
    if (parts == 1) continue;
    bool ok = windows(o, types, t, d, parts, &w);
    if (ok && !w.length) continue;
    x = ok ? local_window(l, &at, x, s, d, &w, fill) : NULL;
    if (!x)
      return op_unimplemented(l->e.c, o,
                              "cannot be partitioned along dimension %u of its operand %u", d, t);
  }
  if (x != v) op_set_operand(o, t, x);
  return true;
}

/* ---- slice, pad, reverse ---- */

static const attr *with_entries(local *l, i64s list, const i64 *entries, const bool *set) {
  i64 *out = arena_copy(l->e.a, list.data, list.len * sizeof(*out));
  for (size_t d = 0; d < list.len; d++)
    if (set[d]) out[d] = entries[d];
  return attr_i64_array(l->e.c, (i64s){out, list.len});
}

/* `same`: what was read may be the result already. */
static bool finish(local *l, op *o, bool same) {
  value *v = op_operand(o, 0), *r = op_result(o, 0);
  if (!same || v->num != UINT32_MAX || v->type != l->to[r->num]) return local_types(l, o);
  part_replace(r, v);
  op_erase(o);
  return true;
}

/* Dimensions that are not cut keep their limits; of cut ones all that was read is left. */
bool local_slice_op(local *l, op *o) {
  struct slice_attrs a;
  if (!view_slice(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  const value *in = op_operand(o, 0);
  size_t rank = a.strides.len;
  bool *cut_at = ARENA_ARRAY(l->e.a, bool, rank);
  for (size_t d = 0; d < rank; d++) cut_at[d] = local_parts(l, in, (u32)d) > 1;
  if (!local_read(l, o, local_whole_types(l, o), windows_slice, 0, NULL)) return false;
  i64 *none = arena_zalloc(l->e.a, rank * sizeof *none);
  op_set(o, slice, start_indices, with_entries(l, a.start_indices, none, cut_at));
  op_set(o, slice, limit_indices,
         with_entries(l, a.limit_indices, op_operand(o, 0)->type->dims.data, cut_at));
  return finish(l, o, true);
}

bool local_pad(local *l, op *o) {
  struct pad_attrs a;
  if (!view_pad(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  const value *in = op_operand(o, 0);
  size_t rank = a.interior_padding.len;
  bool *cut_at = ARENA_ARRAY(l->e.a, bool, rank);
  i64 *low = ARENA_ARRAY(l->e.a, i64, rank), *high = ARENA_ARRAY(l->e.a, i64, rank);
  const type **types = local_whole_types(l, o);
  i64 moved = 0; /* along dimensions that are not cut */
  for (u32 d = 0; d < rank; d++) {
    padded_read r;
    i64 parts = local_parts(l, in, d);
    cut_at[d] = parts > 1 && pad_read(o, types, d, parts, &r);
    if (!cut_at[d]) moved |= a.edge_padding_low.data[d] | a.interior_padding.data[d];
    if (!cut_at[d]) continue;
    low[d] = r.low;
    high[d] = r.high;
  }
  if (!local_read(l, o, types, windows_pad, 0, op_operand(o, 1))) return false;
  op_set(o, pad, edge_padding_low, with_entries(l, a.edge_padding_low, low, cut_at));
  op_set(o, pad, edge_padding_high, with_entries(l, a.edge_padding_high, high, cut_at));
  return finish(l, o, moved == 0);
}

/* What comes is in its own order: it is reversed in place. */
bool local_reverse(local *l, op *o) {
  return local_read(l, o, local_whole_types(l, o), windows_reverse, 0, NULL) && local_types(l, o);
}
