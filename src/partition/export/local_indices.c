/* Gather and scatter of arrays that are sharded along indexed dimensions, as Shardy makes them
 * local (openxla/shardy, sdy-convert-global-to-local).
 *
 * Indices become those of the shard. A gather takes zeros where that leaves the shard, and so the
 * sdy.all_reduce behind it puts the pieces together; a scatter drops what leaves the shard by
 * itself. Dimensions that no index names begin at zero: the first shard has that. */
#include "partition/export/local_rows.h"

/* What a gather and a scatter have in common. */
typedef struct indexed {
  local *l;
  cursor at;
  const value *array;
  const sharding *s;
  value *indices;
  const type *type;  /* of the indices */
  i64s map;          /* dimension by component of an index */
  i64 vector;        /* the dimension of components */
  const bool *local; /* by dimension: cut, and of slices with one element there */
  bool masks;        /* the op is a gather */
} indexed;

static i64 whole_size(const indexed *x, i64 d) { return x->l->from[x->array->num]->dims.data[d]; }
static i64 shard_size(const indexed *x, i64 d) { return x->array->type->dims.data[d]; }

/* ---- integers of the indices' element type ---- */

static const type *like(const indexed *x, i64s dims) {
  return type_tensor(x->l->e.c, dims, x->type->elem, NULL);
}

static value *ints(indexed *x, const type *t, const i64 *v, size_t n) {
  size_t width = type_storage(t->elem);
  char *data = ARENA_ARRAY(x->l->e.a, char, n *width);
  bool splat = true;
  for (size_t i = 0; i < n; i++) {
    memcpy(data + i * width, &v[i], width); /* little-endian */
    splat &= v[i] == v[0];
  }
  value *r = emit(&x->at, OP_constant, NULL, 0, t);
  op_set(r->def.op, constant, value,
         attr_dense(x->l->e.c, t, (str){data, splat ? width : n * width}, splat, false));
  return r;
}

static value *scalar(indexed *x, i64 v) { return ints(x, like(x, (i64s){0}), &v, 1); }

static value *broadcast(indexed *x, value *v, const type *t, i64s dims) {
  v = emit(&x->at, OP_broadcast_in_dim, &v, 1, t);
  op_set(v->def.op, broadcast_in_dim, broadcast_dimensions, attr_i64_array(x->l->e.c, dims));
  return v;
}

/* A scalar a component, over the shape of the indices. */
static value *over_indices(indexed *x, value **v) {
  size_t n = x->map.len;
  bool vectors = x->vector < (i64)x->type->dims.len && x->type->dims.data[x->vector] != 1;
  if (!vectors) return broadcast(x, v[0], x->type, (i64s){0});
  for (size_t i = 0; i < n; i++) v[i] = emit_reshape(&x->at, v[i], (i64s){(i64[]){1}, 1});
  value *all = emit(&x->at, OP_concatenate, v, n, like(x, (i64s){(i64[]){(i64)n}, 1}));
  op_set(all->def.op, concatenate, dimension, attr_i64(x->l->e.c, 0));
  return broadcast(x, all, x->type, (i64s){&x->vector, 1});
}

/* ---- indices of the shard ---- */

/* Indices of few bits may not hold the sizes that they are compared with. */
static void widen(indexed *x) {
  if (x->type->elem->kind == TYPE_INT && x->type->elem->width >= 32) return;
  const type *t = type_tensor(x->l->e.c, x->type->dims, type_i64(x->l->e.c), NULL);
  x->indices = emit(&x->at, OP_convert, &x->indices, 1, t);
  x->type = t;
}

/* A gather's indices are brought into the array. */
static value *clamp(indexed *x) {
  size_t n = x->map.len;
  i64 *last = ARENA_ARRAY(x->l->e.a, i64, n), first = 0;
  for (size_t i = 0; i < n; i++) last[i] = whole_size(x, x->map.data[i]) - 1;
  value *low = ints(x, x->type, &first, 1), *high;
  if (x->vector < (i64)x->type->dims.len && n > 1)
    high = broadcast(x, ints(x, like(x, (i64s){(i64[]){(i64)n}, 1}), last, n), x->type,
                     (i64s){&x->vector, 1});
  else
    high = ints(x, x->type, last, 1);
  return emit(&x->at, OP_clamp, (value *[]){low, x->indices, high}, 3, x->type);
}

/* Where the shard begins along dimension d: tensor<i64>. */
static value *begin_of(indexed *x, i64 d) {
  return local_offset(x->l, &x->at, x->s->mesh, x->s->dims[d].axes, shard_size(x, d));
}

enum { EQ = 0, GE = 2, LE = 4 }; /* of #stablehlo<comparison_direction> */

/* Makes x->indices those of the shard; a gather's mask, in the shape of the indices. */
static value *localize(indexed *x) {
  size_t n = x->map.len;
  value **low = ARENA_ARRAY(x->l->e.a, value *, n), **high = ARENA_ARRAY(x->l->e.a, value *, n);
  widen(x);
  value *base = x->masks ? clamp(x) : x->indices;
  for (size_t i = 0; i < n; i++) {
    i64 d = x->map.data[i];
    if (!x->local[d]) {
      low[i] = scalar(x, 0);
      if (x->masks) high[i] = scalar(x, whole_size(x, d) - 1);
      continue;
    }
    value *begin = begin_of(x, d);
    low[i] = emit(&x->at, OP_convert, &begin, 1, like(x, (i64s){0}));
    if (x->masks) high[i] = emit_binary(&x->at, OP_add, low[i], scalar(x, shard_size(x, d) - 1));
  }
  value *first = over_indices(x, low), *last = x->masks ? over_indices(x, high) : NULL;
  x->indices = emit_binary(&x->at, OP_subtract, base, first);
  if (!x->masks) return NULL;
  value *ge = emit_compare(&x->at, base, first, GE), *le = emit_compare(&x->at, base, last, LE);
  return emit_binary(&x->at, OP_and, ge, le);
}

/* Dimensions that no index names: the device has the first shard of all of them. */
static value *has_first(indexed *x) {
  value *mask = NULL;
  for (u32 d = 0; d < x->s->rank; d++) {
    if (!x->local[d] || i64s_contain(x->map, d)) continue;
    value *begin = begin_of(x, d);
    value *here = emit_compare(&x->at, begin, emit_int(&x->at, 0), EQ);
    mask = mask ? emit_binary(&x->at, OP_and, mask, here) : here;
  }
  return mask;
}

static bool any_mapped(const indexed *x) {
  for (size_t i = 0; i < x->map.len; i++)
    if (x->local[x->map.data[i]]) return true;
  return false;
}

static value *find_mask(indexed *x) {
  value *mask = any_mapped(x) ? localize(x) : NULL, *first = has_first(x);
  if (!mask || !first) return mask ? mask : first;
  first = broadcast(x, first, mask->type, (i64s){0});
  return emit_binary(&x->at, OP_and, mask, first);
}

/* ---- gather ---- */

/* All components of an index are here. */
static value *and_components(indexed *x, value *mask) {
  ir_ctx *c = x->l->e.c;
  i64s dims = mask->type->dims;
  if (x->vector >= (i64)dims.len) return mask;
  const type *i1 = type_i1(c), *none = type_tensor(c, (i64s){0}, i1, NULL);
  value *yes = emit(&x->at, OP_constant, NULL, 0, none);
  op_set(yes->def.op, constant, value, attr_dense(c, none, STR("\1"), true, true));
  i64 *rest = ARENA_ARRAY(x->l->e.a, i64, dims.len);
  size_t n = 0;
  for (size_t d = 0; d < dims.len; d++)
    if ((i64)d != x->vector) rest[n++] = dims.data[d];
  const type *t = type_tensor(c, (i64s){rest, n}, i1, NULL);
  op *o = emit_op(&x->at, OP_reduce, (value *[]){mask, yes}, 2, &t, 1, 1);
  op_set(o, reduce, dimensions, attr_i64_array(c, (i64s){&x->vector, 1}));
  emit_reducer(&x->at, o, OP_and, i1);
  return op_result(o, 0);
}

static void mask_result(indexed *x, op *o, value *mask, i64s offset_dims) {
  value *v = op_result(o, 0);
  const type *t = v->type;
  x->at = cursor_after(&x->l->e, o);
  mask = and_components(x, mask);
  i64 *batch = ARENA_ARRAY(x->l->e.a, i64, t->dims.len);
  size_t n = 0;
  for (size_t d = 0; mask->type->dims.len && d < t->dims.len; d++)
    if (!i64s_contain(offset_dims, (i64)d)) batch[n++] = (i64)d;
  mask = broadcast(x, mask, type_tensor(x->l->e.c, t->dims, type_i1(x->l->e.c), NULL),
                   (i64s){batch, n});
  value *zero = emit_zeros(&x->at, t);
  value *r = emit(&x->at, OP_select, (value *[]){mask, v, zero}, 3, t);
  r->num = v->num;
  value_replace_except(v, r, r->def.op);
}

bool export_gather(local *l, op *o) {
  struct gather_attrs a;
  if (!view_gather(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  const gather_dims_attr *g = a.dimension_numbers;
  value *array = op_operand(o, 0);
  const sharding *s = local_sharding(l, array);
  if (!s) return local_types(l, o);
  i64 *sizes = arena_copy(l->e.a, a.slice_sizes.data, a.slice_sizes.len * sizeof(*sizes));
  bool *local = arena_zalloc(l->e.a, s->rank), any = false;
  axis_list axes = {0};
  for (u32 d = 0; d < s->rank; d++) {
    i64 parts = sharding_dim_size(s, d);
    if (parts == 1 || i64s_contain(g->operand_batching_dims, d)) continue;
    if (sizes[d] == 1) {
      any = local[d] = true;
      axes = axes_concat(l->e.a, axes, s->dims[d].axes);
    } else if (sizes[d] != l->from[array->num]->dims.data[d]) {
      return op_error(l->e.c, o, "takes parts of dimension %u, which is sharded", d);
    } else {
      sizes[d] /= parts;
    }
  }
  if (!export_check_summed(l, o, axes)) return false;
  op_set(o, gather, slice_sizes, attr_i64_array(l->e.c, (i64s){sizes, s->rank}));
  local_types(l, o);
  if (!any) return true;
  value *indices = op_operand(o, 1);
  indexed x = {l,
               cursor_before(&l->e, o),
               array,
               s,
               indices,
               indices->type,
               g->start_index_map,
               g->index_vector_dim,
               local,
               true};
  value *mask = find_mask(&x);
  op_set_operand(o, 1, x.indices);
  mask_result(&x, o, mask, g->offset_dims);
  return true;
}

/* ---- scatter ---- */

/* The dimension of the updates with the windows' elements along dimension d; -1: there is none. */
static i64 window_dim(const scatter_dims_attr *g, i64 d) {
  size_t k = 0;
  for (i64 i = 0; i <= d; i++) {
    bool none = i64s_contain(g->inserted_window_dims, i) || i64s_contain(g->input_batching_dims, i);
    if (i == d) return none || k >= g->update_window_dims.len ? -1 : g->update_window_dims.data[k];
    k += !none;
  }
  return -1;
}

/* Axes of the updates that are no windows' and not the array's either: parts of it are updated on
 * several devices. */
static axis_list shared_axes(local *l, const scatter_dims_attr *g, const sharding *in,
                             const sharding *updates) {
  axis_vec v = {0};
  for (u32 d = 0; updates && d < updates->rank; d++) {
    if (i64s_contain(g->update_window_dims, d)) continue;
    axis_list axes = updates->dims[d].axes;
    for (size_t i = 0; i < axes.len; i++) {
      bool in_array = false;
      for (u32 k = 0; in && k < in->rank; k++)
        in_array |= axes_contain(in->dims[k].axes, axes.data[i]);
      if (!in_array) VEC_PUSH(l->e.a, v, axes.data[i]);
    }
  }
  return axis_vec_list(&v);
}

typedef struct leader {
  const mesh *m;
  axis_list axes;
} leader;

static i64 leads(const void *user, i64 position) {
  const leader *x = user;
  return axes_index_at(x->m, x->axes, position) == 0;
}

/* One, and infinity or else the largest number; the format has a sign in front. */
typedef struct float_bits {
  u64 one, top;
} float_bits;
static const float_bits floats[FLOAT_COUNT] = {
    [FLOAT_f64] = {0x3ff0000000000000, 0x7ff0000000000000},
    [FLOAT_f32] = {0x3f800000, 0x7f800000},
    [FLOAT_f16] = {0x3c00, 0x7c00},
    [FLOAT_bf16] = {0x3f80, 0x7f80},
    [FLOAT_f8E5M2] = {0x3c, 0x7c},
    [FLOAT_f8E5M2FNUZ] = {0x40, 0x7f},
    [FLOAT_f8E4M3] = {0x38, 0x78},
    [FLOAT_f8E4M3FN] = {0x38, 0x7e},
    [FLOAT_f8E4M3FNUZ] = {0x40, 0x7f},
    [FLOAT_f8E4M3B11FNUZ] = {0x58, 0x7f},
    [FLOAT_f8E3M4] = {0x30, 0x70},
    [FLOAT_f6E2M3FN] = {0x08, 0x1f},
    [FLOAT_f6E3M2FN] = {0x0c, 0x1f},
    [FLOAT_f4E2M1FN] = {0x2, 0x7},
};

/* The bits of what a reduction of one element type leaves as it is; false: they are not known. */
static bool neutral_bits(const type *t, unreduced_kind kind, u64 *out) {
  if (t->width > 64) return false;
  u64 sign = 1ull << (t->width - 1), ones = sign | (sign - 1);
  if (t->kind == TYPE_INT) {
    u64 low = t->sign == UNSIGNED || t->width == 1 ? 0 : sign;
    const u64 bits[] = {0, low, ones ^ low, 1, ones, 0};
    return *out = bits[kind], true;
  }
  const float_bits *f = &floats[t->kind == TYPE_FLOAT ? t->flt : 0];
  if (t->kind != TYPE_FLOAT || !f->one || kind > UNREDUCED_MUL) return false;
  const u64 bits[] = {0, sign | f->top, f->top, f->one};
  return *out = bits[kind], true;
}

static bool combines_as_pairs(const op *o, u32 n, unreduced_kind *out) {
  for (u32 i = 0; i < n; i++) {
    unreduced_kind kind;
    if (!part_body_kind(op_body(o, 0), i, n, &kind) || (i && kind != *out)) return false;
    *out = kind;
  }
  return true;
}

/* One device of those that update the same starts from what the array holds, the others from what
 * changes nothing. */
static bool share_arrays(local *l, op *o, const mesh *m, axis_list axes) {
  cursor at = cursor_before(&l->e, o);
  u32 n = o->num_operands / 2;
  unreduced_kind kind = UNREDUCED_SUM;
  u64 bits;
  const leader x = {m, axes};
  const type *t = op_operand(o, 0)->type;
  if (!combines_as_pairs(o, n, &kind) || !neutral_bits(t->elem, kind, &bits))
    return op_error(l->e.c, o, "failed to get scatter reduction identity.");
  indexed e = {.l = l, .at = at};
  value *neutral =
      emit_splat(&e.at, type_tensor(l->e.c, (i64s){0}, t->elem, NULL), (const char *)&bits);
  value *mine = local_look_up(l, &e.at, NULL, m, type_i1(l->e.c), leads, &x);
  mine = broadcast(&e, mine, type_tensor(l->e.c, t->dims, type_i1(l->e.c), NULL),
                   (i64s){(i64[]){0}, 1});
  neutral = broadcast(&e, neutral, t, (i64s){0});
  for (u32 i = 0; i < n; i++) {
    value *v = op_operand(o, i);
    if (v->type != t) return op_unimplemented(l->e.c, o, "of arrays of several types");
    op_set_operand(o, i, emit(&e.at, OP_select, (value *[]){mine, v, neutral}, 3, t));
  }
  return true;
}

/* By dimension of the array: is it cut, and do indices go to its elements? */
static bool find_indexed(local *l, op *o, const scatter_dims_attr *g, bool *out, bool *any) {
  const value *v = op_operand(o, 0), *updates = op_operand(o, o->num_operands - 1);
  const sharding *s = local_sharding(l, v);
  for (u32 d = 0; s && d < s->rank; d++) {
    i64 w = window_dim(g, d);
    if (sharding_dim_size(s, d) == 1 || i64s_contain(g->input_batching_dims, d)) continue;
    if (!i64s_contain(g->scatter_dims_to_operand_dims, d)) {
      if (w < 0)
        return op_error(l->e.c, o,
                        "sharding operand dimension %u that is not indexed but in inserted window "
                        "dimension is not supported.",
                        d);
      continue;
    }
    if (w >= 0 && local_parts(l, updates, (u32)w) > 1) continue; /* windows are whole */
    if (w >= 0 && updates->type->dims.data[w] != 1)
      return op_error(l->e.c, o, "has windows across shards of dimension %u", d);
    *any = out[d] = true;
  }
  return true;
}

bool export_scatter(local *l, op *o) {
  struct scatter_attrs a;
  if (!view_scatter(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  const scatter_dims_attr *g = a.scatter_dimension_numbers;
  u32 n = o->num_operands / 2;
  value *array = op_operand(o, 0), *indices = op_operand(o, n);
  const sharding *s = local_sharding(l, array);
  const sharding *updates = local_sharding(l, op_operand(o, n + 1));
  bool *cut = arena_zalloc(l->e.a, array->type->dims.len), any = false;
  axis_list axes = shared_axes(l, g, s, updates);
  if (!find_indexed(l, o, g, cut, &any)) return false;
  if (axes.len && !share_arrays(l, o, updates->mesh, axes)) return false;
  if (any) {
    indexed x = {l,
                 cursor_before(&l->e, o),
                 array,
                 s,
                 indices,
                 indices->type,
                 g->scatter_dims_to_operand_dims,
                 g->index_vector_dim,
                 cut,
                 false};
    localize(&x);
    op_set_operand(o, n, x.indices);
  }
  return local_types(l, o);
}
