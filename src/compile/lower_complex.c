/* Products of complex numbers. In memory a complex number is two real ones, so that rows of them
 * are rows of twice as many reals, and a product is one of reals of twice the terms, once an
 * operand has been written out with its numbers times i beside it: with columns side by side
 *
 *   re + im i of a row, by   re  im  of a column, for the result's real and imaginary part
 *                           -im  re
 *
 * whose two rows are b and i b, as complex numbers; where terms are side by side, its two columns
 * are, the conjugate of b and that of -i b. */
#include "compile/lower_product.h"

typedef struct product {
  lower *L;
  op *o;
  const dot_map *m;
  node *lhs, *rhs, *out;
  dtype type, part;
} product;

static u32 emit(product *p, vm_code *c, vm_op op, dtype t, u32 x, u32 y) {
  return vm_emit(p->L->b, c, op, t, x, y, 0);
}
static const i64 *doubled(product *p, const i64 *stride, u32 rank) {
  i64 *s = ARENA_ARRAY(p->L->a, i64, rank);
  for (u32 d = 0; d < rank; d++) s[d] = 2 * stride[d];
  return s;
}

/* Served, so that it is pulled where only this product wants it. */
static void serve(lower *L, node *n) {
  lower_used(n);
  fuse_join(L, n);
  if (n->heavy || n->pending) fuse_close_of(L, n);
}
static void serve_settled(lower *L, node *n) {
  dot_settle(L, n);
  lower_used(n);
}

/* ---- sums of a few terms, and of one row by one column: loops ---- */

static u32 load_term(product *p, prog_loop *l, const node *n, const u8 *dim, u32 absent,
                     const i64 *at) {
  const dot_map *m = p->m;
  i64 stride[PROG_MAX_DIMS] = {0}, offset = n->offset;
  for (u32 i = 0; i < m->end[DOT_COLUMNS]; i++)
    if (i < dot_begin(m, absent) || i >= m->end[absent]) stride[i] = n->stride[dim[i]];
  for (u32 i = m->end[DOT_COLUMNS]; i < m->end[DOT_SUMMED]; i++)
    offset += at[i] * n->stride[dim[i]];
  u32 in = prog_loop_in(p->L->b, l, n->slot, offset, stride);
  return vm_load(p->L->b, &l->code, p->type, in);
}

static void add_few(product *p) {
  const dot_map *m = p->m;
  i64 at[2 * PROG_MAX_DIMS] = {0}, terms = dot_volume(m, DOT_SUMMED);
  prog_loop *l = prog_add_loop(p->L->b, p->out->rank, m->size, lower_name(p->L), lower_loc(p->L));
  /* As others begin, which so are never -0. */
  u32 sum = vm_const_f64(p->L->b, &l->code, p->type, 0);
  for (i64 i = 0; i < terms; i++) {
    u32 x = load_term(p, l, p->lhs, m->lhs, DOT_COLUMNS, at);
    u32 y = load_term(p, l, p->rhs, m->rhs, DOT_ROWS, at);
    u32 v = emit(p, &l->code, VM_mul, p->type, x, y);
    sum = emit(p, &l->code, VM_add, p->type, sum, v);
    for (u32 k = m->end[DOT_SUMMED]; k-- > m->end[DOT_COLUMNS];) {
      if (++at[k] < m->size[k]) break;
      at[k] = 0;
    }
  }
  prog_loop_out(p->L->b, l, p->out->slot, 0, p->out->stride, sum);
}

/* So few terms that it is not worth to write an operand out, and rows of results that are long
 * enough for a loop. */
static bool is_few(const product *p, const i64 *stride) {
  enum { TERMS = 4, ROW = 8 };
  const dot_map *m = p->m;
  i64 terms = dot_volume(m, DOT_SUMMED), row = 1;
  for (u32 d = 0; d < p->out->rank; d++)
    if (stride[d] == 1) row *= m->size[d];
  return terms > 0 && terms <= TERMS && row >= ROW;
}

/* Whether the operands are vectors, which lie alike. */
static bool is_of_vectors(const dot_map *m) {
  if (m->end[DOT_COLUMNS] > m->end[DOT_BATCHES] || dot_volume(m, DOT_SUMMED) == 0) return false;
  return memcmp(m->lhs, m->rhs, m->end[DOT_SUMMED]) == 0;
}

static void add_sums(product *p) {
  static const u64 zero[2];
  const dot_map *m = p->m;
  u32 perm[PROG_MAX_DIMS], init = prog_const(p->L->b, p->type, 1, zero);
  i64 stride[PROG_MAX_DIMS] = {0};
  for (u32 i = 0; i < p->lhs->rank; i++) perm[i] = m->lhs[i];
  for (u32 i = 0; i < p->out->rank; i++) stride[i] = p->out->stride[i];
  serve(p->L, p->lhs);
  serve(p->L, p->rhs);
  pull q = fuse_begin(p->L, p->lhs->rank, m->size, perm);
  u32 x = fuse_pull(&q, p->lhs), y = fuse_pull(&q, p->rhs);
  prog_loop_out(p->L->b, q.loop, p->out->slot, 0, stride,
                emit(p, &q.loop->code, VM_mul, p->type, x, y));
  prog_loop_reduce(p->L->b, q.loop, p->lhs->rank - m->end[DOT_BATCHES], &init,
                   (prog_body){.kind = REDUCE_SUM});
}

/* ---- by a real product ---- */

/* The right side and i times it, in the order in which it lies: terms or columns innermost, the
 * other ones, and between them the two. */
typedef struct written {
  node at;
  i64 stride[PROG_MAX_DIMS], pair; /* in complex numbers */
  bool columns;                    /* innermost */
} written;

static i64 distance(const node *n, u32 d) {
  return n->stride[d] < 0 ? -n->stride[d] : n->stride[d];
}
static bool has_columns_inside(const product *p) {
  const node *n = p->rhs;
  u32 best = n->rank;
  for (u32 d = n->rank; d-- > 0;) {
    if (n->dims[d] == 1 || (n->kind == NODE_MEM && n->stride[d] == 0)) continue;
    if (best == n->rank || (n->kind == NODE_MEM && distance(n, d) < distance(n, best))) best = d;
  }
  for (u32 i = dot_begin(p->m, DOT_SUMMED); i < p->m->end[DOT_SUMMED]; i++)
    if (p->m->rhs[i] == best) return false;
  return true;
}

static void place_kind(const product *p, written *w, u32 kind, i64 *n) {
  for (u32 i = p->m->end[kind]; i-- > dot_begin(p->m, kind);) {
    w->stride[p->m->rhs[i]] = *n;
    lower_times(n, p->m->size[i]);
  }
}

static written write_right(product *p) {
  lower *L = p->L;
  written w = {.columns = has_columns_inside(p)};
  i64 n = 1;
  place_kind(p, &w, w.columns ? DOT_COLUMNS : DOT_SUMMED, &n);
  w.pair = n;
  lower_times(&n, 2);
  place_kind(p, &w, w.columns ? DOT_SUMMED : DOT_COLUMNS, &n);
  place_kind(p, &w, DOT_BATCHES, &n);
  serve(L, p->rhs);
  pull q = fuse_begin(L, p->rhs->rank, p->rhs->dims, NULL);
  vm_code *c = &q.loop->code;
  u32 v = fuse_pull(&q, p->rhs);
  u32 re = emit(p, c, VM_real, p->part, v, 0), im = emit(p, c, VM_imag, p->part, v, 0);
  u32 minus = emit(p, c, VM_neg, p->part, im, 0);
  u32 first = w.columns ? v : emit(p, c, VM_complex, p->type, re, minus);
  u32 second = emit(p, c, VM_complex, p->type, w.columns ? minus : im, re);
  w.at.slot = prog_work(L->b, p->type, 2 * (u64)p->rhs->count);
  prog_loop_out(L->b, q.loop, w.at.slot, 0, w.stride, first);
  prog_loop_out(L->b, q.loop, w.at.slot, w.pair, w.stride, second);
  return w;
}

static void multiply_written(product *p) {
  const dot_map *m = p->m;
  written w = write_right(p);
  serve_settled(p->L, p->lhs);
  dot_dims x = {.step.parts = true, .step.lhs_offset = p->lhs->offset};
  const i64 *lhs = doubled(p, p->lhs->stride, p->lhs->rank);
  const i64 *rhs = doubled(p, w.stride, p->rhs->rank);
  const i64 *out = doubled(p, p->out->stride, p->out->rank);
  i64 pair = 2 * w.pair;
  dot_add_kind(&x, m, DOT_BATCHES, lhs, rhs, out);
  dot_add_kind(&x, m, DOT_ROWS, lhs, rhs, out);
  dot_add_kind(&x, m, DOT_COLUMNS, lhs, rhs, out);
  dot_add_dim(&x, &x.step.nn, 2, 0, w.columns ? 1 : pair, 1);
  dot_add_kind(&x, m, DOT_SUMMED, lhs, rhs, out);
  dot_add_dim(&x, &x.step.nk, 2, 1, w.columns ? pair : 1, 0);
  dot_emit(p->L, &x, p->lhs, &w.at, p->out);
}

/* Of few rows: real and imaginary parts of the left side, each by the right side as it is; then one
 * with i times the other. */
static node write_left(product *p, i64 *stride, i64 *pair) {
  lower *L = p->L;
  node at = {.kind = NODE_MEM};
  const dot_map *m = p->m;
  i64 n = 1;
  u8 batch[PROG_MAX_DIMS] = {0};
  for (u32 i = 0; i < m->end[DOT_BATCHES]; i++) batch[m->lhs[i]] = 1;
  for (u32 outer = 0; outer < 2; outer++) {
    for (u32 d = p->lhs->rank; d-- > 0;) {
      if (batch[d] != outer) continue;
      stride[d] = n;
      lower_times(&n, p->lhs->dims[d]);
    }
    if (!outer) *pair = n, lower_times(&n, 2);
  }
  serve(L, p->lhs);
  pull q = fuse_begin(L, p->lhs->rank, p->lhs->dims, NULL);
  u32 v = fuse_pull(&q, p->lhs);
  at.slot = prog_work(L->b, p->part, 2 * (u64)p->lhs->count);
  prog_loop_out(L->b, q.loop, at.slot, 0, stride, emit(p, &q.loop->code, VM_real, p->part, v, 0));
  prog_loop_out(L->b, q.loop, at.slot, *pair, stride,
                emit(p, &q.loop->code, VM_imag, p->part, v, 0));
  return at;
}

/* to: two of the result, one for each part of the left side. */
static void join_parts(product *p, const node *to, const i64 *stride, i64 pair) {
  prog_builder *b = p->L->b;
  prog_loop *l = prog_add_loop(b, p->out->rank, p->out->dims, lower_name(p->L), lower_loc(p->L));
  u32 v[2], part[4];
  for (u32 i = 0; i < 2; i++) {
    v[i] = vm_load(b, &l->code, p->type, prog_loop_in(b, l, to->slot, i * pair, stride));
    part[2 * i] = emit(p, &l->code, VM_real, p->part, v[i], 0);
    part[2 * i + 1] = emit(p, &l->code, VM_imag, p->part, v[i], 0);
  }
  u32 re = emit(p, &l->code, VM_sub, p->part, part[0], part[3]);
  u32 im = emit(p, &l->code, VM_add, p->part, part[1], part[2]);
  prog_loop_out(b, l, p->out->slot, 0, p->out->stride,
                emit(p, &l->code, VM_complex, p->type, re, im));
}

static void multiply_parts(product *p) {
  const dot_map *m = p->m;
  i64 left[PROG_MAX_DIMS], stride[PROG_MAX_DIMS], pair = 0, apart = 0, n = 1;
  node from = write_left(p, left, &pair);
  node to = {.kind = NODE_MEM, .slot = prog_work(p->L->b, p->type, 2 * (u64)p->out->count)};
  for (u32 d = p->out->rank; d-- > 0;) {
    if (d + 1 == m->end[DOT_BATCHES]) apart = n, lower_times(&n, 2);
    stride[d] = n;
    lower_times(&n, p->out->dims[d]);
  }
  if (m->end[DOT_BATCHES] == 0) apart = n;
  serve_settled(p->L, p->rhs);
  dot_dims x = {.step.parts = true, .step.rhs_offset = p->rhs->offset};
  const i64 *rhs = doubled(p, p->rhs->stride, p->rhs->rank);
  const i64 *out = doubled(p, stride, p->out->rank);
  dot_add_kind(&x, m, DOT_BATCHES, left, rhs, out);
  dot_add_dim(&x, &x.step.nm, 2, pair, 0, 2 * apart);
  dot_add_kind(&x, m, DOT_ROWS, left, rhs, out);
  dot_add_kind(&x, m, DOT_COLUMNS, left, rhs, out);
  dot_add_dim(&x, &x.step.nn, 2, 0, 1, 1);
  dot_add_kind(&x, m, DOT_SUMMED, left, rhs, out);
  dot_emit(p->L, &x, &from, p->rhs, &to);
  join_parts(p, &to, stride, apart);
}

/* Elements that are read and written beside those of the product itself. */
static bool has_few_rows(const dot_map *m) {
  i64 rows = dot_volume(m, DOT_ROWS), columns = dot_volume(m, DOT_COLUMNS),
      terms = dot_volume(m, DOT_SUMMED);
  return rows * (terms + 2 * columns) < 2 * columns * terms;
}

bool complex_product(lower *L, op *o, const dot_map *m) {
  product p = {L, o, m, lower_node(L, o, 0), lower_node(L, o, 1)};
  p.type = (dtype)p.lhs->type;
  p.part = p.type == DTYPE_c64 ? DTYPE_f32 : DTYPE_f64;
  node *out = p.out = lower_new_mem(L, o, 0);
  if (!out) return false;
  const i64 *stride = dot_strides_by_uses(L, o, out);
  if (!stride) stride = out->stride;
  if (is_few(&p, stride)) {
    out->dense = stride == out->stride;
    out->stride = stride;
    serve_settled(L, p.lhs);
    serve_settled(L, p.rhs);
    add_few(&p);
  } else if (is_of_vectors(m)) {
    add_sums(&p);
  } else if (has_few_rows(m)) {
    multiply_parts(&p);
  } else {
    multiply_written(&p);
  }
  return true;
}
