/* Windows that slide over sharded dimensions: convolution and its like. What is left of their
 * padding once a window was read lies between its elements. */
#include "partition/local.h"
#include "partition/pieces.h"

static const attr *padding_attr(local *l, const i64 *padding, size_t n) {
  return attr_dense_i64(l->e.c, (i64s){(i64[]){(i64)n, 2}, 2}, padding);
}

static i64 *given_padding(local *l, const dense_attr *p, size_t n) {
  i64 *padding = arena_zalloc(l->e.a, 2 * n * sizeof *padding);
  for (size_t i = 0; p && i < 2 * n; i++) padding[i] = attr_dense_int(&p->base, i);
  return padding;
}

/* By dimension of the results: what is computed besides a shard, and where in that it begins. */
typedef struct surplus {
  bool any;
  i64 *more;
  value **start;
} surplus;

static surplus no_surplus(local *l, size_t rank) {
  return (surplus){.more = arena_zalloc(l->e.a, rank * sizeof(i64)),
                   .start = arena_zalloc(l->e.a, rank * sizeof(value *))};
}

/* Of result dimension `to` what dimension d of operand 0 is read for. */
static void add_surplus(local *l, op *o, u32 d, const padded_read *r, i64 to, surplus *x) {
  if (!r->more) return;
  cursor at = cursor_before(&l->e, o);
  const sharding *s = local_sharding(l, op_operand(o, 0));
  shard_window places = r->w;
  places.divisor = 1;
  value *first = local_window_start(l, &at, s, d, &r->w);
  first = emit_binary(&at, OP_multiply, first, emit_int(&at, r->w.divisor));
  value *wanted = local_window_start(l, &at, s, d, &places);
  x->start[to] = emit_binary(&at, OP_subtract, wanted, first);
  x->more[to] = r->more;
  x->any = true;
}

static const type *with_surplus(local *l, const type *t, const surplus *x) {
  i64 *dims = arena_copy(l->e.a, t->dims.data, t->dims.len * sizeof *dims);
  for (size_t d = 0; d < t->dims.len; d++) dims[d] += x->more[d];
  return type_with_dims(l->e.c, t, (i64s){dims, t->dims.len});
}

static value *without_surplus(local *l, cursor *at, value *v, const type *t, const surplus *x) {
  for (u32 d = 0; d < t->dims.len; d++)
    if (x->more[d]) v = local_take(l, at, v, d, x->start[d], t->dims.data[d]);
  return v;
}

static op *clone_at(local *l, cursor *at, const op *o) {
  op *c = op_clone(l->e.m, o, NULL);
  op_insert(c, at->b, at->before);
  for (u32 i = 0; i < c->num_results; i++) op_result(c, i)->num = UINT32_MAX;
  return c;
}

static bool finish(local *l, op *o, const surplus *x) {
  if (!x->any) return local_types(l, o);
  cursor at = cursor_before(&l->e, o);
  op *c = clone_at(l, &at, o);
  for (u32 i = 0; i < o->num_results; i++) {
    const type *t = l->to[op_result(o, i)->num];
    op_result(c, i)->type = with_surplus(l, t, x);
    part_replace(op_result(o, i), without_surplus(l, &at, op_result(c, i), t, x));
  }
  op_erase(o);
  return true;
}

/* ---- convolution ---- */

/* Shards of a kernel that does not divide: of a few all elements are kernel, then of one perhaps
 * so many, of the rest none. What is not takes no part, as it may meet infinities. */
typedef struct short_kernel {
  u32 dim; /* of the input's sharding */
  u32 spatial;
  i64 full, rest, shard, apart;
} short_kernel;

typedef struct short_kernels {
  const short_kernel *of;
  u32 len, ways; /* 3 to the power of len */
} short_kernels;

static short_kernels find_short(local *l, const op *o, const struct convolution_attrs *a) {
  const conv_attr *c = a->dimension_numbers;
  short_kernel *list = ARENA_ARRAY(l->e.a, short_kernel, c->kernel_spatial_dimensions.len);
  short_kernels k = {list, 0, 1};
  const value *v = op_operand(o, 1);
  for (u32 i = 0; i < c->kernel_spatial_dimensions.len; i++) {
    u32 d = (u32)c->kernel_spatial_dimensions.data[i];
    i64 size = local_whole_type(l, v)->dims.data[d], shard = v->type->dims.data[d];
    i64 apart = i < a->rhs_dilation.len ? a->rhs_dilation.data[i] : 1;
    if (local_parts(l, v, d) == 1 || size % local_parts(l, v, d) == 0) continue;
    list[k.len++] = (short_kernel){d, i, size / shard, size % shard, shard, apart};
    k.ways *= 3;
  }
  return k;
}

/* tensor<i32>: in base 3 a digit a dimension: 0 all, 1 some, 2 none of the shard is kernel. */
static value *which_short(local *l, cursor *at, const op *o, const short_kernels *k) {
  const sharding *s = local_sharding(l, op_operand(o, 1));
  value *number = emit_int(at, 0);
  for (u32 i = 0; i < k->len; i++) {
    const short_kernel *x = &k->of[i];
    value *index = local_index_of(l, s->mesh, s->dims[x->dim].axes);
    value *behind = emit_binary(at, OP_subtract, index, emit_int(at, x->full - 1));
    if (!x->rest) behind = emit_binary(at, OP_multiply, behind, emit_int(at, 2));
    value *bounds[] = {emit_int(at, 0), behind, emit_int(at, 2)};
    value *digit = emit(at, OP_clamp, bounds, 3, behind->type);
    number = emit_binary(at, OP_multiply, number, emit_int(at, 3));
    number = emit_binary(at, OP_add, number, digit);
  }
  const type *t = type_tensor(l->e.c, (i64s){0}, type_i32(l->e.c), NULL);
  return emit(at, OP_convert, &number, 1, t);
}

/* The op with the part of its kernel that is some, which ends before what the padding says. */
static value *convolve_short(local *l, cursor *at, const op *o, const short_kernels *k, u32 way,
                             const i64 *padding, size_t spatial, const type *t) {
  i64 *less = arena_copy(l->e.a, padding, 2 * spatial * sizeof *less);
  value *kernel = op_operand(o, 1);
  for (u32 i = k->len; i-- > 0; way /= 3) {
    const short_kernel *x = &k->of[i];
    if (way % 3 == 2) return emit_zeros(at, t);
    if (way % 3 == 0) continue;
    kernel = local_cut(l, at, kernel, x->dim, 0, x->rest);
    less[2 * x->spatial + 1] -= (x->shard - x->rest) * x->apart;
  }
  op *c = clone_at(l, at, o);
  op_set_operand(c, 1, kernel);
  op_set(c, convolution, padding, padding_attr(l, less, spatial));
  op_result(c, 0)->type = t;
  return op_result(c, 0);
}

static bool convolve_by_way(local *l, op *o, const short_kernels *k, const i64 *padding,
                            size_t spatial, const surplus *x) {
  cursor at = cursor_before(&l->e, o);
  value *old = op_result(o, 0), *way = which_short(l, &at, o, k);
  const type *t = with_surplus(l, l->to[old->num], x);
  op *c = emit_op(&at, OP_case, &way, 1, &t, 1, k->ways);
  for (u32 i = 0; i < k->ways; i++) {
    block *b = block_create(l->e.m);
    region_append(&c->regions[i], b);
    cursor in = {&l->e, b, NULL, o->loc};
    value *r = convolve_short(l, &in, o, k, i, padding, spatial, t);
    emit_op(&in, OP_return, &r, 1, NULL, 0, 0);
  }
  part_replace(old, without_surplus(l, &at, op_result(c, 0), l->to[old->num], x));
  op_erase(o);
  return true;
}

/* As many as a shard has: groups are cut before what is in them. */
static void set_groups(local *l, op *o, const conv_attr *c) {
  i64s in = op_operand(o, 0)->type->dims, kernel = op_operand(o, 1)->type->dims;
  i64s out = l->to[op_result(o, 0)->num]->dims;
  op_set(o, convolution, feature_group_count,
         attr_i64(l->e.c, in.data[c->input_feature_dimension] /
                              kernel.data[c->kernel_input_feature_dimension]));
  op_set(o, convolution, batch_group_count,
         attr_i64(l->e.c, in.data[c->input_batch_dimension] / out.data[c->output_batch_dimension]));
}

bool local_convolution(local *l, op *o) {
  struct convolution_attrs a;
  if (!view_convolution(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  bool grouped = a.feature_group_count > 1 || a.batch_group_count > 1;
  if (grouped) set_groups(l, o, a.dimension_numbers);
  i64s spatial = a.dimension_numbers->input_spatial_dimensions;
  const type **types = local_whole_types(l, o);
  i64 *padding = given_padding(l, a.present & 2 ? a.padding : NULL, spatial.len);
  surplus x = no_surplus(l, spatial.len + 2);
  bool cut = false;
  for (u32 i = 0; i < spatial.len; i++) {
    padded_read r;
    i64 parts = local_parts(l, op_operand(o, 0), (u32)spatial.data[i]);
    if (parts == 1 || !convolution_read(o, types, i, parts, &r)) continue;
    padding[2 * i] = r.low;
    padding[2 * i + 1] = r.high;
    add_surplus(l, o, (u32)spatial.data[i], &r,
                a.dimension_numbers->output_spatial_dimensions.data[i], &x);
    cut = true;
  }
  if (!cut) return local_types(l, o);
  cursor at = cursor_before(&l->e, o);
  const type *element = type_element(op_operand(o, 0)->type);
  value *zero = emit_zeros(&at, type_tensor(l->e.c, (i64s){0}, element, NULL));
  if (!local_read(l, o, types, windows_convolution, 0, zero)) return false;
  op_set(o, convolution, padding, padding_attr(l, padding, spatial.len));
  short_kernels k = find_short(l, o, &a);
  return k.len ? convolve_by_way(l, o, &k, padding, spatial.len, &x) : finish(l, o, &x);
}

static value *no_addend_of(cursor *at, const value *v) {
  return emit_no_addend(at, type_tensor(at->env->c, (i64s){0}, type_element(v->type), NULL));
}

/* What takes no part in windows that start from `init` (windows.c). */
static value *no_part(cursor *at, const op *o, u32 i) {
  value *init = op_operand(o, o->num_operands / 2 + i);
  unreduced_kind kind;
  bool sum = part_body_kind(op_body(o, 0), i, o->num_operands / 2, &kind) && kind == UNREDUCED_SUM;
  bool other = !part_same_element(op_operand(o, i), init);
  return sum && (other || !local_is_zero(init)) ? no_addend_of(at, op_operand(o, i)) : init;
}

bool local_reduce_window(local *l, op *o) {
  struct reduce_window_attrs a;
  if (!view_reduce_window(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  u32 rank = (u32)a.window_dimensions.len, n = o->num_operands / 2;
  const type **types = local_whole_types(l, o);
  i64 *padding = given_padding(l, a.present & 1u << 4 ? a.padding : NULL, rank);
  surplus x = no_surplus(l, rank);
  bool cut = false;
  for (u32 d = 0; d < rank; d++) {
    padded_read r;
    i64 parts = local_parts(l, op_operand(o, 0), d);
    if (parts == 1 || !reduce_window_read(o, types, d, parts, &r)) continue;
    padding[2 * d] = r.low;
    padding[2 * d + 1] = r.high;
    add_surplus(l, o, d, &r, d, &x);
    cut = true;
  }
  if (!cut) return local_types(l, o);
  cursor at = cursor_before(&l->e, o);
  for (u32 i = 0; i < n; i++)
    if (!local_read(l, o, types, windows_reduce_window, i, no_part(&at, o, i))) return false;
  op_set(o, reduce_window, padding, padding_attr(l, padding, rank));
  return finish(l, o, &x);
}

/* ---- select_and_scatter ---- */

/* Padding that may be selected, and along dimensions that are not cut, as what it is. */
static void pad_whole(local *l, op *o, const value *of, value *fill, const i64 *padding) {
  value *v = op_operand(o, 0);
  size_t n = v->type->dims.len;
  i64 *low = arena_zalloc(l->e.a, n * sizeof *low), *high = arena_zalloc(l->e.a, n * sizeof *high);
  i64 *none = arena_zalloc(l->e.a, n * sizeof *none);
  i64 *dims = arena_copy(l->e.a, v->type->dims.data, n * sizeof *dims);
  for (u32 d = 0; d < n; d++) {
    if (local_parts(l, of, d) > 1) continue;
    low[d] = padding[2 * d];
    high[d] = padding[2 * d + 1];
    dims[d] += low[d] + high[d];
  }
  cursor at = cursor_before(&l->e, o);
  v = emit(&at, OP_pad, (value *[]){v, fill}, 2, type_with_dims(l->e.c, v->type, (i64s){dims, n}));
  op_set(v->def.op, pad, edge_padding_low, attr_i64_array(l->e.c, (i64s){low, n}));
  op_set(v->def.op, pad, edge_padding_high, attr_i64_array(l->e.c, (i64s){high, n}));
  op_set(v->def.op, pad, interior_padding, attr_i64_array(l->e.c, (i64s){none, n}));
  op_set_operand(o, 0, v);
}

/* The shard out of what was scattered into: from `begin` on. The last one's may end before. */
static value *take_shard(local *l, cursor *at, value *v, i64s to, const i64 *begin) {
  for (u32 d = 0; d < to.len; d++) {
    i64 end = begin[d] + to.data[d], all = v->type->dims.data[d];
    v = local_cut(l, at, v, d, begin[d], end < all ? end : all);
  }
  return emit_resized(at, v, to);
}

/* What is alike in the ways in which shards scatter: along each dimension the first and the last
 * may have padding of their own, as `low` and `high` say. */
typedef struct scattering {
  const i64 *begin, *low, *high, *padding;
  const sharding *s;
} scattering;

/* tensor<i32>: a number in base 3, a digit a dimension: 1 for the first shard, 2 for the last. */
static value *which_border(local *l, cursor *at, const scattering *x, u32 rank) {
  value *number = NULL;
  for (u32 d = 0; d < rank; d++) {
    if (!x->low[d] && !x->high[d]) continue;
    i64 parts = sharding_dim_size(x->s, d);
    value *index = local_index_of(l, x->s->mesh, x->s->dims[d].axes), *digit = emit_int(at, 0);
    for (i64 k = 1; k <= 2; k++) {
      value *is = emit_compare(at, index, emit_int(at, k == 1 ? 0 : parts - 1), 0);
      digit = emit(at, OP_select, (value *[]){is, emit_int(at, k), digit}, 3, digit->type);
    }
    if (number) number = emit_binary(at, OP_multiply, number, emit_int(at, 3));
    number = number ? emit_binary(at, OP_add, number, digit) : digit;
  }
  const type *t = type_tensor(l->e.c, (i64s){0}, type_i32(l->e.c), NULL);
  return emit(at, OP_convert, &number, 1, t);
}

/* Windows that begin in the padding select nothing: those of a last shard that ends before others.
 * *high without them. */
static value *used_source(local *l, cursor *at, value *source, const op *o, u32 d, i64 elements,
                          i64 *high) {
  struct select_and_scatter_attrs a;
  view_select_and_scatter(o, &a);
  i64 stride = d < a.window_strides.len ? a.window_strides.data[d] : 1;
  i64 all = source->type->dims.data[d], used = div_ceil_i64(elements, stride);
  if (used >= all) return source;
  *high = max_i64(0, *high - (all - used) * stride);
  return local_cut(l, at, source, d, 0, used);
}

/* The op as the shards of one border have it. */
static value *scatter_at(local *l, cursor *at, const op *o, const scattering *x, u32 border) {
  value *v = op_operand(o, 0), *source = op_operand(o, 1);
  u32 rank = (u32)v->type->dims.len;
  i64 *padding = arena_copy(l->e.a, x->padding, 2 * rank * sizeof *padding);
  i64 *begin = arena_copy(l->e.a, x->begin, rank * sizeof *begin);
  for (u32 d = rank; d-- > 0;) {
    if (!x->low[d] && !x->high[d]) continue;
    i64 low = border % 3 == 1 ? x->low[d] : 0, high = border % 3 == 2 ? x->high[d] : 0;
    border /= 3;
    v = local_cut(l, at, v, d, low, v->type->dims.data[d] - high);
    source = used_source(l, at, source, o, d, low + v->type->dims.data[d], &high);
    padding[2 * d] = low;
    padding[2 * d + 1] = high;
    begin[d] -= low;
  }
  op *c = clone_at(l, at, o);
  op_set_operand(c, 0, v);
  op_set_operand(c, 1, source);
  op_set(c, select_and_scatter, padding, padding_attr(l, padding, rank));
  value *r = op_result(c, 0);
  r->type = v->type;
  return take_shard(l, at, r, l->to[op_result(o, 0)->num]->dims, begin);
}

/* Padding of its own may not be selected, which no value can say: shards at the ends go their own
 * ways. */
static void scatter(local *l, op *o, const scattering *x) {
  u32 rank = (u32)op_operand(o, 0)->type->dims.len, ways = 1;
  for (u32 d = 0; d < rank; d++) ways *= x->low[d] || x->high[d] ? 3 : 1;
  cursor at = cursor_before(&l->e, o);
  value *old = op_result(o, 0), *v;
  if (ways == 1) {
    v = scatter_at(l, &at, o, x, 0);
  } else {
    value *border = which_border(l, &at, x, rank);
    const type *t = l->to[old->num];
    op *c = emit_op(&at, OP_case, &border, 1, &t, 1, ways);
    for (u32 i = 0; i < ways; i++) {
      block *b = block_create(l->e.m);
      region_append(&c->regions[i], b);
      cursor in = {&l->e, b, NULL, o->loc};
      value *r = scatter_at(l, &in, o, x, i);
      emit_op(&in, OP_return, &r, 1, NULL, 0, 0);
    }
    v = op_result(c, 0);
  }
  part_replace(old, v);
  op_erase(o);
}

bool local_select_and_scatter(local *l, op *o) {
  struct select_and_scatter_attrs a;
  if (!view_select_and_scatter(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  const value *in = op_operand(o, 0);
  size_t rank = in->type->dims.len;
  const type **types = local_whole_types(l, o);
  const attr *given = op_discardable(o, STR(PIECES_FILL));
  i64 *padding = given_padding(l, a.present & 4 ? a.padding : NULL, rank);
  i64 *begin = arena_zalloc(l->e.a, rank * sizeof *begin);
  i64 *low = arena_zalloc(l->e.a, rank * sizeof *low);
  i64 *high = arena_zalloc(l->e.a, rank * sizeof *high);
  const sharding *s = local_sharding(l, in);
  bool cut = false;
  for (u32 d = 0; d < rank; d++) {
    scatter_windows r;
    shard_window w;
    i64 parts = local_parts(l, in, d);
    if (given) begin[d] = padding[2 * d];
    if (parts == 1 || !windows_scatter(o, types, 0, d, parts, &w) || !w.length ||
        !scatter_read(o, types, d, parts, &r))
      continue;
    begin[d] = r.at;
    low[d] = r.low;
    high[d] = r.high;
    cut = true;
  }
  if (!cut && !given) return local_types(l, o);
  cursor at = cursor_before(&l->e, o);
  value *init = op_operand(o, 2), *fill = NULL;
  value *nothing = local_is_zero(init) ? init : emit_no_addend(&at, init->type);
  if (given) {
    fill = emit(&at, OP_constant, NULL, 0, init->type);
    op_set(fill->def.op, constant, value, given);
  }
  if (!local_read(l, o, types, windows_scatter, 0, fill) ||
      !local_read(l, o, types, windows_scatter, 1, nothing))
    return false;
  if (given) pad_whole(l, o, in, fill, padding);
  for (u32 d = 0; d < rank; d++)
    if (given || local_parts(l, in, d) > 1) padding[2 * d] = padding[2 * d + 1] = 0;
  op_set_attr(l->e.m, o, STR(PIECES_FILL), NULL);
  const scattering x = {.begin = begin, .low = low, .high = high, .padding = padding, .s = s};
  scatter(l, o, &x);
  return true;
}
