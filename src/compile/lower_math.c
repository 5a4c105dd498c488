/* Windows, matrix products, convolutions. */
#include "compile/lower_product.h"
#include "compile/steps.h"
#include "num/convert.h"
#include "program/parts.h"

static i64 get_or(i64s list, size_t i, i64 otherwise) {
  return i < list.len ? list.data[i] : otherwise;
}

/* n as elements of another type. */
static u32 dense_as(lower *L, node *n, dtype t) {
  if (n->type == t) return fuse_dense(L, n);
  fuse_join(L, n);
  pull p = fuse_begin(L, n->rank, n->dims, NULL);
  u32 v = vm_emit(L->b, &p.loop->code, VM_convert, t, fuse_pull(&p, n), 0, 0);
  u32 slot = prog_work(L->b, t, (u64)n->count);
  prog_loop_out(L->b, p.loop, slot, 0, lower_dense_strides(L, n->rank, n->dims), v);
  return slot;
}

/* ---- windows ---- */

static bool is_window(const prog_window *w, u32 d) {
  return w->window[d] > 1 || w->stride[d] > 1 || w->base_dilation[d] > 1 || w->pad_low[d] ||
         w->dims[d] != w->out_dims[d];
}

/* Larger windows of a known body go one dim after the other: their sizes add up then, and do not
 * multiply. (Formats that round after every step keep the order of steps.) */
static bool is_separable(prog_window *w, dtype t) {
  enum { FEW = 25 };
  u64 neutral[2], volume = 1;
  u32 count = 0;
  for (u32 d = 0; d < w->rank; d++) {
    if (w->dims[d] == 0 || w->out_dims[d] == 0) return false;
    count += is_window(w, d);
    if (!checked_mul(volume, (u64)w->window[d], &volume)) volume = UINT64_MAX;
  }
  prog_body_recognize(&w->body);
  if (w->n != 1 || count < 2 || volume <= FEW || w->body.kind == REDUCE_CODE) return false;
  bool rounds = num_is_small_float(t) && t != DTYPE_f16 && t != DTYPE_bf16;
  return !rounds && prog_reducer_neutral(w->body.kind, t, neutral);
}

/* The pass along dim d, over what the passes before left. Returns how many elements it makes. */
static u64 pass_along(const prog_window *w, u32 d, prog_window *pass) {
  u64 count = 1;
  for (u32 k = 0; k < w->rank; k++) {
    bool here = k == d;
    pass->out_dims[k] = here ? w->out_dims[k] : pass->dims[k];
    pass->window[k] = here ? w->window[k] : 1;
    pass->stride[k] = here ? w->stride[k] : 1;
    pass->base_dilation[k] = here ? w->base_dilation[k] : 1;
    pass->window_dilation[k] = here ? w->window_dilation[k] : 1;
    pass->pad_low[k] = here ? w->pad_low[k] : 0;
    count *= (u64)pass->out_dims[k];
  }
  return count;
}

/* out = init and the last pass's result, combined */
static void add_init(lower *L, const prog_window *w, u32 slot, dtype wide, const node *out) {
  static const i64 scalar[PROG_MAX_DIMS];
  dtype t = (dtype)out->type;
  vm_op op = prog_body_op(w->body.kind);
  prog_loop *l = prog_add_loop(L->b, out->rank, out->dims, lower_name(L), lower_loc(L));
  vm_code *c = &l->code;
  u32 init = vm_load(L->b, c, t, prog_loop_in(L->b, l, w->init[0], 0, scalar));
  u32 v = vm_load(L->b, c, wide, prog_loop_in(L->b, l, slot, 0, out->stride));
  if (wide != t) init = vm_emit(L->b, c, VM_convert, wide, init, 0, 0);
  v = vm_emit(L->b, c, op, wide, init, v, 0);
  if (wide != t) v = vm_emit(L->b, c, VM_convert, t, v, 0, 0);
  prog_loop_out(L->b, l, out->slot, 0, out->stride, v);
}

/* Dims that shrink go first. Partial sums of f16 and bf16 are f32. */
static void add_separated(lower *L, const prog_window *w, node *in, const node *out) {
  dtype t = (dtype)in->type, wide = t;
  if ((t == DTYPE_f16 || t == DTYPE_bf16) &&
      (w->body.kind == REDUCE_SUM || w->body.kind == REDUCE_PROD))
    wide = DTYPE_f32;
  u64 neutral[2];
  prog_reducer_neutral(w->body.kind, wide, neutral);
  u32 slot = wide == t ? w->in[0] : dense_as(L, in, wide), to;
  u32 none = prog_const(L->b, wide, 1, neutral);
  prog_window pass = {
      .n = 1, .rank = w->rank, .in = &slot, .init = &none, .out = &to, .body = w->body};
  memcpy(pass.dims, w->dims, sizeof pass.dims);
  for (u32 i = 0; i < 2 * w->rank; i++) {
    u32 d = i % w->rank;
    bool grows = w->out_dims[d] > w->dims[d];
    if (!is_window(w, d) || grows != (i >= w->rank)) continue;
    to = prog_work(L->b, wide, pass_along(w, d, &pass));
    prog_add_window(L->b, &pass, lower_name(L), lower_loc(L));
    slot = to;
    pass.dims[d] = pass.out_dims[d];
  }
  add_init(L, w, slot, wide, out);
}

/* Small windows that are inside of their operand, of rows that are single elements to them: a loop
 * over results, whose elements are combined as any others are. (Sums of smaller floats round
 * otherwise.) */
static bool is_inside(const prog_window *w, dtype t) {
  enum { MOST = 16 };
  u32 last = w->rank - 1;
  i64 volume = 1;
  if (w->n != 1 || w->rank < 2 || is_window(w, last) || w->body.kind == REDUCE_CODE) return false;
  if (w->dims[last] < MOST) return false;
  if (num_is_small_float(t) && w->body.kind != REDUCE_MAX && w->body.kind != REDUCE_MIN)
    return false;
  for (u32 d = 0; d < w->rank; d++) {
    if (w->window[d] > MOST || (volume *= w->window[d]) > MOST || w->out_dims[d] == 0) return false;
    i64 end = (w->out_dims[d] - 1) * w->stride[d] + (w->window[d] - 1) * w->window_dilation[d];
    if (w->pad_low[d] || w->base_dilation[d] != 1 || end >= w->dims[d]) return false;
  }
  return true;
}
static void add_inside(lower *L, const prog_window *w, const node *out) {
  static const i64 scalar[PROG_MAX_DIMS];
  dtype t = (dtype)out->type;
  vm_op op = prog_body_op(w->body.kind);
  prog_loop *l = prog_add_loop(L->b, out->rank, out->dims, lower_name(L), lower_loc(L));
  u32 v = vm_load(L->b, &l->code, t, prog_loop_in(L->b, l, w->init[0], 0, scalar)), d;
  i64 in[PROG_MAX_DIMS] = {0}, steps[PROG_MAX_DIMS], far[PROG_MAX_DIMS], at = 0, row = 1;
  for (d = w->rank; d-- > 0; row *= w->dims[d])
    steps[d] = row * w->stride[d], far[d] = row * w->window_dilation[d];
  do {
    u32 x = vm_load(L->b, &l->code, t, prog_loop_in(L->b, l, w->in[0], at, steps));
    v = vm_emit(L->b, &l->code, op, t, v, x, 0);
    for (d = w->rank; d-- > 0; in[d] = 0) {
      at += far[d];
      if (++in[d] < w->window[d]) break;
      at -= in[d] * far[d];
    }
  } while (d < w->rank);
  prog_loop_out(L->b, l, out->slot, 0, out->stride, v);
}

/* Windows overlap, so that operands are stored: pulled in, each would be computed once a window. */
bool lower_reduce_window(lower *L, op *o) {
  struct reduce_window_attrs a;
  view_reduce_window(o, &a);
  u32 n = o->num_operands / 2;
  const node *first = lower_node(L, o, 0);
  prog_window step = {.n = n, .rank = first->rank};
  step.in = ARENA_ARRAY(L->a, u32, n);
  step.init = ARENA_ARRAY(L->a, u32, n);
  step.out = ARENA_ARRAY(L->a, u32, n);
  for (u32 i = 0; i < n; i++) {
    step.in[i] = fuse_dense(L, lower_node(L, o, i));
    step.init[i] = fuse_dense(L, lower_node(L, o, n + i));
  }
  for (u32 i = 0; i < 2 * n; i++) lower_used(lower_node(L, o, i));
  for (u32 i = 0; i < n; i++) {
    node *out = lower_new_mem(L, o, i);
    if (!out) return false;
    step.out[i] = out->slot;
    if (out->rank) memcpy(step.out_dims, out->dims, out->rank * sizeof(i64));
  }
  for (u32 d = 0; d < first->rank; d++) {
    step.dims[d] = first->dims[d];
    step.window[d] = a.window_dimensions.data[d];
    step.stride[d] = get_or(a.window_strides, d, 1);
    step.base_dilation[d] = get_or(a.base_dilations, d, 1);
    step.window_dilation[d] = get_or(a.window_dilations, d, 1);
    step.pad_low[d] = a.padding ? attr_dense_int(&a.padding->base, 2 * d) : 0;
  }
  if (!select_body(L, o, op_body(o, 0), &step.body)) return false;
  if (is_separable(&step, (dtype)first->type))
    add_separated(L, &step, lower_node(L, o, 0), L->node_of[op_result(o, 0)->num]);
  else if (is_inside(&step, (dtype)first->type))
    add_inside(L, &step, L->node_of[op_result(o, 0)->num]);
  else
    prog_add_window(L->b, &step, lower_name(L), lower_loc(L));
  return true;
}

bool lower_select_and_scatter(lower *L, op *o) {
  struct select_and_scatter_attrs a;
  view_select_and_scatter(o, &a);
  node *in = lower_node(L, o, 0), *from = lower_node(L, o, 1), *init = lower_node(L, o, 2);
  dtype t;
  if (!lower_dtype(type_element(op_result(o, 0)->type), &t)) return lower_none(L, o);
  prog_select_scatter step = {.rank = in->rank, .operand = fuse_dense(L, in)};
  fuse_settle(L, from);
  fuse_settle(L, init);
  step.source = dense_as(L, from, t);
  step.init = dense_as(L, init, t);
  for (u32 i = 0; i < 3; i++) lower_used(lower_node(L, o, i));
  node *out = lower_new_mem(L, o, 0);
  if (!out) return false;
  step.out = out->slot;
  for (u32 d = 0; d < in->rank; d++) {
    step.dims[d] = in->dims[d];
    step.source_dims[d] = from->dims[d];
    step.window[d] = a.window_dimensions.data[d];
    step.stride[d] = get_or(a.window_strides, d, 1);
    step.pad_low[d] = a.padding ? attr_dense_int(&a.padding->base, 2 * d) : 0;
  }
  if (!select_code(L, o, op_body(o, 0), &step.select) ||
      !select_body(L, o, op_body(o, 1), &step.scatter))
    return false;
  prog_add_select_scatter(L->b, &step, lower_name(L), lower_loc(L));
  return true;
}

/* ---- dot_general ---- */

void dot_settle(lower *L, node *n) {
  fuse_settle(L, n);
  if (n->kind != NODE_MEM) fuse_dense(L, n);
}

void dot_emit(lower *L, dot_dims *x, const node *lhs, const node *rhs, const node *out) {
  x->step.lhs = lhs->slot;
  x->step.lhs_offset += lhs->offset;
  x->step.rhs = rhs->slot;
  x->step.rhs_offset += rhs->offset;
  x->step.out = out->slot;
  x->step.out_offset += out->offset;
  x->step.dims = x->dims;
  x->step.lhs_stride = x->lhs;
  x->step.rhs_stride = x->rhs;
  x->step.out_stride = x->out;
  if (x->may_tile) prog_add_tiles(L->b, &x->step, lower_name(L), lower_loc(L));
  prog_add_dot(L->b, &x->step, lower_name(L), lower_loc(L));
}

static void map_kind(dot_map *m, u32 kind, const node *n, const i64 *lhs, const i64 *rhs,
                     size_t num) {
  u32 at = dot_begin(m, kind);
  for (size_t i = 0; i < num; i++, at++) {
    m->size[at] = n->dims[(lhs ? lhs : rhs)[i]];
    m->lhs[at] = lhs ? (u8)lhs[i] : 0;
    m->rhs[at] = rhs ? (u8)rhs[i] : 0;
  }
  m->end[kind] = at;
}
/* The dims of n that are in neither list, in order. */
static u32 find_free(const node *n, i64s batch, i64s summed, i64 *out) {
  u32 num = 0;
  for (u32 d = 0; d < n->rank; d++)
    if (!i64s_contain(batch, d) && !i64s_contain(summed, d)) out[num++] = d;
  return num;
}

dot_map dot_map_dims(const node *lhs, const node *rhs, const dot_attr *d) {
  dot_map m;
  i64s lb = d->lhs_batching_dimensions, rb = d->rhs_batching_dimensions;
  i64s lk = d->lhs_contracting_dimensions, rk = d->rhs_contracting_dimensions;
  i64 rows[PROG_MAX_DIMS], columns[PROG_MAX_DIMS];
  map_kind(&m, DOT_BATCHES, lhs, lb.data, rb.data, lb.len);
  map_kind(&m, DOT_ROWS, lhs, rows, NULL, find_free(lhs, lb, lk, rows));
  map_kind(&m, DOT_COLUMNS, rhs, NULL, columns, find_free(rhs, rb, rk, columns));
  map_kind(&m, DOT_SUMMED, lhs, lk.data, rk.data, lk.len);
  return m;
}

i64 dot_volume(const dot_map *m, u32 kind) {
  i64 n = 1;
  for (u32 i = dot_begin(m, kind); i < m->end[kind]; i++) lower_times(&n, m->size[i]);
  return n;
}

void dot_add_dim(dot_dims *x, u32 *of, i64 size, i64 lhs, i64 rhs, i64 out) {
  x->dims[x->n] = size;
  x->lhs[x->n] = lhs;
  x->rhs[x->n] = rhs;
  x->out[x->n] = out;
  x->n++;
  ++*of;
}

void dot_add_kind(dot_dims *x, const dot_map *m, u32 kind, const i64 *lhs, const i64 *rhs,
                  const i64 *out) {
  u32 *of[] = {&x->step.nb, &x->step.nm, &x->step.nn, &x->step.nk};
  for (u32 i = dot_begin(m, kind); i < m->end[kind]; i++)
    dot_add_dim(x, of[kind], m->size[i], kind == DOT_COLUMNS ? 0 : lhs[m->lhs[i]],
                kind == DOT_ROWS ? 0 : rhs[m->rhs[i]], kind == DOT_SUMMED ? 0 : out[i]);
}

/* What becomes of v where it is only summed up over devices, which no order matters to: the sum. */
static const value *after_sums(const value *v) {
  while (v->uses && !v->uses->next && op_is(v->uses->owner, all_reduce)) {
    const op *o = v->uses->owner;
    u32 i = 0;
    while (op_operand(o, i) != v) i++;
    v = op_result(o, i);
  }
  return v;
}

/* How all who use v transpose it; data NULL: they do not, or not alike. */
static i64s transposed_by_uses(const value *v) {
  i64s by = {0};
  for (const use *u = v->uses; u; u = u->next) {
    struct transpose_attrs a;
    if (!op_is(u->owner, transpose) || !view_transpose(u->owner, &a)) return (i64s){0};
    if (by.data && memcmp(by.data, a.permutation.data, by.len * sizeof(i64)) != 0) return (i64s){0};
    by = a.permutation;
  }
  return by;
}

/* In which order v, or its sum, is used: as gradients of what was transposed, they are transposed
 * back. data NULL: in its own. */
static i64s order_by_uses(lower *L, const value *v) {
  i64s order = {0}, by = transposed_by_uses(v = after_sums(v));
  bool moved = false;
  while (by.data) {
    i64 *dims = ARENA_ARRAY(L->a, i64, by.len + 1);
    moved = false;
    for (size_t i = 0; i < by.len; i++) {
      dims[i] = order.data ? order.data[by.data[i]] : by.data[i];
      moved |= dims[i] != (i64)i;
    }
    order = (i64s){dims, by.len};
    if (v->uses->next) break;
    v = after_sums(op_result(v->uses->owner, 0));
    by = transposed_by_uses(v);
  }
  return moved ? order : (i64s){0};
}

/* Whether these dims of n step through memory as one does; `sorted`: in the order of strides. */
static bool is_one_stride(const node *n, u32 first, u32 num, bool sorted) {
  i64 least = INT64_MAX, end = 0, count = 1, before = INT64_MAX;
  for (u32 d = first; d < first + num; d++) {
    if (n->dims[d] == 1) continue;
    if (!sorted && n->stride[d] > before) return false;
    before = n->stride[d];
    least = before < least ? before : least;
    end += (n->dims[d] - 1) * before;
    count *= n->dims[d];
  }
  return count == 1 || end == (count - 1) * least;
}

const i64 *dot_strides_by_uses(lower *L, op *o, const node *n) {
  i64s order = order_by_uses(L, op_result(o, 0));
  if (!order.data || !n->count) return NULL;
  i64 *dims = ARENA_ARRAY(L->a, i64, n->rank), *stride = ARENA_ARRAY(L->a, i64, n->rank);
  for (u32 i = 0; i < n->rank; i++) dims[i] = n->dims[order.data[i]];
  const i64 *dense = lower_dense_strides(L, n->rank, dims);
  for (u32 i = 0; i < n->rank; i++) stride[order.data[i]] = dense[i];
  return stride;
}

/* The result of a product. Where all who use it transpose it, as they do with gradients of weights,
 * it is written in their order, if rows and columns still are one stride each and one of them is
 * contiguous. Dims of either may change places, as groups of queries do, where neighbours would be
 * read from afar else: they may cost the operand its one stride. */
static node *product_mem(lower *L, op *o, const dot_map *m) {
  node *n = lower_new_mem(L, o, 0);
  const i64 *stride = n ? dot_strides_by_uses(L, o, n) : NULL;
  if (!stride) return n;
  u32 nb = m->end[DOT_BATCHES], rows = m->end[DOT_ROWS], last = nb;
  for (u32 d = 0; d < n->rank; d++)
    if (n->dims[d] > 1 && stride[d] == 1) last = d;
  node turned = *n;
  turned.stride = stride;
  bool afar = last < n->rank && n->stride[last] != 1;
  bool any_row = afar && last >= rows, any_column = afar && last < rows;
  if (last < nb || !(any_row || is_one_stride(&turned, nb, rows - nb, afar)) ||
      !(any_column || is_one_stride(&turned, rows, n->rank - rows, afar)))
    return n;
  n->stride = stride;
  n->dense = false;
  return n;
}

static bool lower_product(lower *L, op *o, const dot_attr *d) {
  node *lhs = lower_node(L, o, 0), *rhs = lower_node(L, o, 1);
  dot_map m = dot_map_dims(lhs, rhs, d);
  bool is_complex = dtype_infos[lhs->type].kind == DTYPE_CLASS_COMPLEX;
  if (is_complex && lhs->type == rhs->type &&
      op_operand(o, 0)->type->elem == op_result(o, 0)->type->elem)
    return complex_product(L, o, &m);
  bool ok;
  if (reduces_product(L, o, &m, &ok)) return ok;
  dot_settle(L, lhs);
  dot_settle(L, rhs);
  node *out = product_mem(L, o, &m);
  if (!out) return false;
  dot_dims x = {.n = 0};
  for (u32 kind = 0; kind < DOT_KINDS; kind++)
    dot_add_kind(&x, &m, kind, lhs->stride, rhs->stride, out->stride);
  dot_emit(L, &x, lhs, rhs, out);
  lower_used(lhs);
  lower_used(rhs);
  return true;
}

bool lower_dot_general(lower *L, op *o) {
  struct dot_general_attrs a;
  view_dot_general(o, &a);
  return lower_product(L, o, a.dot_dimension_numbers);
}

/* The last dimension of the left side with the first of the right. */
bool lower_dot(lower *L, op *o) {
  i64 last = (i64)op_operand(o, 0)->type->dims.len - 1, first = 0;
  dot_attr d = {.lhs_contracting_dimensions = {&last, 1},
                .rhs_contracting_dimensions = {&first, 1}};
  return lower_product(L, o, &d);
}

/* ---- convolution: a dot whose left side is read in overlapping windows ---- */

typedef struct conv {
  struct convolution_attrs a;
  const conv_attr *d;
  node *lhs, *rhs, *out;
  const node *input; /* lhs padded */
  i64 *before;       /* by dim of lhs: what was padded in front of it */
} conv;

static i64 conv_low(const conv *c, size_t s) {
  return c->a.padding ? attr_dense_int(&c->a.padding->base, 2 * s) : 0;
}

static bool has_groups(const conv *c) {
  return c->a.feature_group_count > 1 || c->a.batch_group_count > 1;
}

/* An input that is dilated is not where zeros are between its elements. Of every `apart` results in
 * a row, each meets other taps of the window with elements of the input, so that results `apart`
 * from one another are a convolution of their own, without zeros. 1: all are one. */
static i64 conv_apart(const conv *c, size_t s) {
  enum { MOST_ALONE = 4, MOST = 1 << 10, FAR = 1 << 30 };
  i64 apart = get_or(c->a.lhs_dilation, s, 1), low = conv_low(c, s);
  bool dense = get_or(c->a.window_strides, s, 1) == 1 && get_or(c->a.rhs_dilation, s, 1) == 1;
  bool near = low > -FAR && low < FAR && c->d->input_spatial_dimensions.len <= 3;
  return dense && near && apart <= (has_groups(c) ? MOST_ALONE : MOST) ? apart : 1;
}

/* Of the results `phase`, phase + apart, ... along s: how many, the window's first tap that meets
 * an element, how many do, and which element it meets for the first result. So many phases from
 * this one on read the same elements, each one by the taps before the last one's. */
typedef struct taps {
  i64 results, first, num, from, phases;
} taps;

static taps taps_alone(const conv *c, size_t s, i64 phase) {
  i64 apart = conv_apart(c, s), low = conv_low(c, s);
  i64 results = c->out->dims[c->d->output_spatial_dimensions.data[s]];
  i64 window = c->rhs->dims[c->d->kernel_spatial_dimensions.data[s]];
  if (apart == 1) return (taps){results, 0, window, 0, 1};
  i64 first = ((low - phase) % apart + apart) % apart, num = (window - first + apart - 1) / apart;
  results = (results - phase + apart - 1) / apart;
  if (num < 1) return (taps){results, 0, 0, 0, 1};
  return (taps){results, first, num, (phase + first - low) / apart, 1};
}

static taps taps_of(const conv *c, size_t s, i64 phase) {
  taps t = taps_alone(c, s, phase);
  for (i64 apart = conv_apart(c, s); phase + t.phases < apart && !has_groups(c); t.phases++) {
    taps next = taps_alone(c, s, phase + t.phases);
    if (next.results != t.results || next.num != t.num || next.from != t.from) break;
  }
  return t;
}

/* What is read of the input along s, in front of it and behind. */
static void pad_apart(const conv *c, size_t s, i64 *low, i64 *high) {
  i64 size = c->lhs->dims[c->d->input_spatial_dimensions.data[s]];
  *low = *high = 0;
  for (i64 phase = 0; phase < conv_apart(c, s); phase++) {
    taps t = taps_alone(c, s, phase);
    if (t.results < 1 || t.num < 1) continue;
    *low = max_i64(*low, -t.from);
    *high = max_i64(*high, t.from + t.results + t.num - 1 - size);
  }
}

/* Spatial dims of the padded and dilated input; false: they do not fit. */
static bool padded_dims(const conv *c, i64 *dims, i64 *low, i64 *interior, bool *any) {
  for (u32 d = 0; d < c->lhs->rank; d++) {
    dims[d] = c->lhs->dims[d];
    low[d] = interior[d] = 0;
  }
  for (size_t s = 0; s < c->d->input_spatial_dimensions.len; s++) {
    i64 d = c->d->input_spatial_dimensions.data[s], grown = 0;
    i64 high = c->a.padding ? attr_dense_int(&c->a.padding->base, 2 * s + 1) : 0;
    low[d] = conv_low(c, s);
    interior[d] = get_or(c->a.lhs_dilation, s, 1) - 1;
    if (conv_apart(c, s) > 1) {
      interior[d] = 0;
      pad_apart(c, s, &low[d], &high);
    }
    if (dims[d] > 0 && !checked_mul(dims[d] - 1, interior[d] + 1, &grown)) return false;
    if (dims[d] > 0) grown++;
    if (!checked_add(grown, low[d], &grown) || !checked_add(grown, high, &grown)) return false;
    *any |= low[d] || high || interior[d];
    dims[d] = grown > 0 ? grown : 0;
  }
  return true;
}

static bool pads(const op *o) {
  struct convolution_attrs a;
  view_convolution(o, &a);
  for (size_t s = 0; a.padding && s < 2 * a.dimension_numbers->input_spatial_dimensions.len; s++)
    if (attr_dense_int(&a.padding->base, s)) return true;
  return false;
}

/* Whether all who read v may read it with zeros around it: they do so anyway, or go element by
 * element. */
static bool is_read_padded(const value *v) {
  for (const use *u = v->uses; u; u = u->next) {
    const op *o = u->owner;
    bool input = op_is(o, convolution) && op_operand(o, 0) == v && op_operand(o, 1) != v;
    if (input ? !pads(o) : !select_is_elementwise(o)) return false;
  }
  return true;
}

/* n, with low[d] zeros in front of the input along d, is its place from now on: so it need not be
 * kept twice, and the next convolution, such as that of the gradient, finds it there. A parameter
 * is kept anyway: only convolutions read it from n, which need not live as long. */
static void keep_padded(lower *L, const op *o, const conv *c, node *n, const i64 *low) {
  node *in = c->lhs;
  i64 offset = 0;
  bool whole = in->kind == NODE_MEM && in->dense && !L->in_region;
  for (u32 d = 0; d < n->rank; d++) {
    whole = whole && low[d] >= 0 && low[d] <= n->dims[d] - in->dims[d];
    offset += low[d] * n->stride[d];
  }
  if (!whole || !is_read_padded(op_operand(o, 0))) return;
  in->padded = n;
  in->inside = low;
  if (prog_slot_is_param(L->b, in->slot)) return;
  in->slot = n->slot;
  in->slot_count = n->slot_count;
  in->offset = offset;
  in->stride = n->stride;
  in->dense = false;
}

/* Bytes are multiplied in fours that lie together: features are to, where they do not. */
static bool is_apart(const conv *c) {
  return dtype_size(c->lhs->type) == 1 && c->lhs->stride[c->d->input_feature_dimension] != 1 &&
         c->rhs->dims[c->d->kernel_input_feature_dimension] > 1;
}
static void bring_features_together(lower *L, const conv *c, node *n) {
  i64 *stride = ARENA_ARRAY(L->a, i64, n->rank), f = c->d->input_feature_dimension;
  for (i64 d = n->rank - 1, step = n->dims[f]; d >= 0; step *= d == f ? 1 : n->dims[d], d--)
    stride[d] = d == f ? 1 : step;
  n->stride = stride;
  n->dense = false;
}

static bool pad_input(lower *L, op *o, conv *c) {
  i64 *low = c->before = ARENA_ARRAY(L->a, i64, c->lhs->rank), interior[PROG_MAX_DIMS];
  i64 *dims = ARENA_ARRAY(L->a, i64, c->lhs->rank);
  bool any = is_apart(c);
  c->input = c->lhs;
  if (!padded_dims(c, dims, low, interior, &any))
    return op_error(L->ctx, o, "pads its input to more than memory can hold");
  if (!any) return true;
  size_t list = c->lhs->rank * sizeof(i64);
  const node *before = c->lhs->padded;
  bool dilated = false;
  for (u32 d = 0; d < c->lhs->rank; d++) dilated |= interior[d] > 0;
  if (before && !dilated && memcmp(before->dims, dims, list) == 0 &&
      memcmp(c->lhs->inside, low, list) == 0) {
    c->input = before;
    return true;
  }
  node *n = ARENA_NEW(L->a, node), *zero = ARENA_NEW(L->a, node);
  *n = (node){.type = c->lhs->type, .rank = c->lhs->rank, .dims = dims, .count = 1, .result = -1};
  for (u32 d = 0; d < n->rank; d++)
    if (!checked_mul(n->count, dims[d], &n->count) || n->count > INT64_MAX / 16)
      return op_error(L->ctx, o, "pads its input to more than memory can hold");
  static const u64 zeros[2];
  *zero = (node){.kind = NODE_CONST, .type = n->type, .count = 1, .element = zeros, .result = -1};
  lower_make_dense(L, n, lower_new_slot(L, n));
  if (is_apart(c)) bring_features_together(L, c, n);
  data_pad(L, c->lhs, zero, n, low, interior);
  if (!dilated) keep_padded(L, o, c, n, low);
  c->input = n;
  return true;
}

/* The kernel back to front where window_reversal says so. */
static void reverse_kernel(lower *L, conv *c) {
  i64 *stride = ARENA_ARRAY(L->a, i64, c->rhs->rank), offset = c->rhs->offset;
  bool any = false;
  memcpy(stride, c->rhs->stride, c->rhs->rank * sizeof(i64));
  for (size_t s = 0; s < c->d->kernel_spatial_dimensions.len; s++) {
    i64 d = c->d->kernel_spatial_dimensions.data[s];
    if (s >= c->a.window_reversal.len || !c->a.window_reversal.data[s]) continue;
    if (c->rhs->dims[d] > 0) offset += (c->rhs->dims[d] - 1) * stride[d];
    stride[d] = -stride[d];
    any = true;
  }
  if (!any || c->rhs->count == 0) return;
  node *n = arena_copy(L->a, c->rhs, sizeof *c->rhs);
  n->offset = offset;
  n->stride = stride;
  n->dense = false;
  n->result = -1;
  c->rhs = n;
}

/* Phases of one run are columns as features are, or where these are many products of their own. */
static void conv_phases(const conv *c, size_t s, const i64 *phase, dot_dims *x, u32 *of) {
  const conv_attr *d = c->d;
  taps t = taps_of(c, s, phase[s]);
  i64 step = t.num > 0 ? -c->rhs->stride[d->kernel_spatial_dimensions.data[s]] : 0;
  if (t.phases > 1)
    dot_add_dim(x, of, t.phases, 0, step, c->out->stride[d->output_spatial_dimensions.data[s]]);
}

/* Along each spatial dimension the results of one run of phases. */
static void conv_dims(const conv *c, const i64 *phase, dot_dims *x) {
  enum { WELL = 48 };
  const conv_attr *d = c->d;
  const node *in = c->input, *w = c->rhs, *out = c->out;
  i64 groups = max_i64(c->a.feature_group_count, 1), splits = max_i64(c->a.batch_group_count, 1);
  i64 ib = d->input_batch_dimension, of = d->output_feature_dimension;
  i64 kf = d->kernel_output_feature_dimension, ki = d->kernel_input_feature_dimension;
  i64 inf = d->input_feature_dimension;
  size_t num = d->input_spatial_dimensions.len;
  i64 features = w->dims[kf] / (groups * splits), batch = in->dims[ib] / splits;
  bool many = features >= WELL;
  if (groups > 1)
    dot_add_dim(x, &x->step.nb, groups, w->dims[ki] * in->stride[inf], features * w->stride[kf],
                features * out->stride[of]);
  if (splits > 1)
    dot_add_dim(x, &x->step.nb, splits, batch * in->stride[ib], features * w->stride[kf],
                features * out->stride[of]);
  for (size_t s = 0; s < num && many; s++) conv_phases(c, s, phase, x, &x->step.nb);
  dot_add_dim(x, &x->step.nm, batch, in->stride[ib], 0, out->stride[d->output_batch_dimension]);
  for (size_t s = 0; s < num; s++) {
    i64 i = d->input_spatial_dimensions.data[s], k = d->output_spatial_dimensions.data[s];
    i64 apart = conv_apart(c, s);
    taps t = taps_of(c, s, phase[s]);
    dot_add_dim(x, &x->step.nm, t.results, in->stride[i] * get_or(c->a.window_strides, s, 1), 0,
                apart * out->stride[k]);
    x->step.out_offset += phase[s] * out->stride[k];
    if (apart > 1) x->step.lhs_offset += (t.from + c->before[i]) * in->stride[i];
  }
  dot_add_dim(x, &x->step.nn, features, 0, w->stride[kf], out->stride[of]);
  for (size_t s = 0; s < num && !many; s++) conv_phases(c, s, phase, x, &x->step.nn);
  for (size_t s = 0; s < num; s++) {
    i64 i = d->input_spatial_dimensions.data[s], k = d->kernel_spatial_dimensions.data[s];
    taps t = taps_of(c, s, phase[s]);
    dot_add_dim(x, &x->step.nk, t.num, in->stride[i] * get_or(c->a.rhs_dilation, s, 1),
                conv_apart(c, s) * w->stride[k], 0);
    x->step.rhs_offset += t.first * w->stride[k];
  }
  dot_add_dim(x, &x->step.nk, w->dims[ki], in->stride[inf], w->stride[ki], 0);
}

/* The next choice of a run along each spatial dimension; false: that was the last. */
static bool next_phase(const conv *c, i64 *phase) {
  for (size_t s = 0; s < c->d->input_spatial_dimensions.len; s++) {
    i64 results = c->out->dims[c->d->output_spatial_dimensions.data[s]];
    phase[s] += taps_of(c, s, phase[s]).phases;
    if (phase[s] < min_i64(conv_apart(c, s), results)) return true;
    phase[s] = 0;
  }
  return false;
}

/* Whether sums are to be more precise than they need be. */
static bool wants_more(attrs config) {
  for (size_t i = 0; i < config.len; i++)
    if (attr_as(precision, config.data[i])->value) return true;
  return false;
}

/* Strides and dilations of the window become strides of the dot; padding of the input needs a copy
 * of it. */
bool lower_convolution(lower *L, op *o) {
  conv c = {.lhs = lower_node(L, o, 0), .rhs = lower_node(L, o, 1)};
  view_convolution(o, &c.a);
  c.d = c.a.dimension_numbers;
  dot_settle(L, c.lhs);
  dot_settle(L, c.rhs);
  reverse_kernel(L, &c);
  c.out = lower_new_mem(L, o, 0);
  if (!c.out || !pad_input(L, o, &c)) return false;
  i64 phase[PROG_MAX_DIMS] = {0};
  do {
    dot_dims x = {.may_tile = !wants_more(c.a.precision_config)};
    conv_dims(&c, phase, &x);
    dot_emit(L, &x, c.input, c.rhs, c.out);
  } while (next_phase(&c, phase));
  lower_used(lower_node(L, o, 0));
  lower_used(lower_node(L, o, 1));
  return true;
}
