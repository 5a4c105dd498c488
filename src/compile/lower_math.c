/* Windows and matrix products. */
#include "compile/lower_product.h"
#include "compile/steps.h"
#include "num/convert.h"
#include "program/parts.h"

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
    step.stride[d] = int_or(a.window_strides, d, 1);
    step.base_dilation[d] = int_or(a.base_dilations, d, 1);
    step.window_dilation[d] = int_or(a.window_dilations, d, 1);
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
    step.stride[d] = int_or(a.window_strides, d, 1);
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
