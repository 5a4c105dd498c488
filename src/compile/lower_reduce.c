/* Reductions. */
#include "compile/lower_product.h"
#include "compile/steps.h"
#include "num/convert.h"
#include "program/parts.h"

enum { MAX_RECOMPUTE = 32 };

/* Before a reduction pulls its operands in: expensive ones that others want too, or that
 * depend on what others want, are computed once and for all. Uses of o are served. */
static void settle_reduced(lower *L, op *o) {
  u32 n = o->num_operands / 2;
  for (u32 i = 0; i < n; i++) lower_used(lower_node(L, o, i));
  for (u32 i = 0; i < n; i++) {
    node *in = lower_node(L, o, i);
    if (in->kind == NODE_EXPR && (in->heavy || in->cost > MAX_RECOMPUTE)) fuse_close_of(L, in);
  }
}

/* The kept dims in order, then the reduced ones. */
static u32 reduce_perm(const node *in, i64s reduced, u32 *perm) {
  bool gone[PROG_MAX_DIMS] = {false};
  u32 k = 0;
  for (size_t i = 0; i < reduced.len; i++) gone[reduced.data[i]] = true;
  for (u32 d = 0; d < in->rank; d++)
    if (!gone[d]) perm[k++] = d;
  for (u32 d = 0; d < in->rank; d++)
    if (gone[d]) perm[k++] = d;
  return in->rank - (u32)reduced.len;
}

/* Over no dims at all: an elementwise identity. */
static bool reduce_nothing(lower *L, op *o) {
  u32 n = o->num_operands / 2;
  for (u32 i = 0; i < n; i++) {
    node *in = lower_node(L, o, i);
    if (op_operand(o, i)->type != op_result(o, i)->type) return lower_none(L, o);
    lower_used(lower_node(L, o, n + i));
    lower_used(in);
    lower_bind(L, op_result(o, i), in);
  }
  return true;
}

/* They stay what they are: as indices are checked whose vectors have one component. Sums of floats
 * do not, since -0 and 0 is 0. */
static bool leaves_ones(lower *L, op *o, i64s dims, prog_reducer kind) {
  node *in = lower_node(L, o, 0), *init = lower_node(L, o, 1);
  u64 neutral[2];
  u32 kept = in->rank - (u32)dims.len;
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] < kept) return false;
  bool integer = in->type == DTYPE_pred || num_int_bits((dtype)in->type) >= 8;
  return integer && init->element && prog_reducer_neutral(kind, (dtype)in->type, neutral) &&
         memcmp(neutral, init->element, dtype_size((dtype)in->type)) == 0;
}

/* By a body that is one operation. */
static bool reduces_simply(lower *L, const op *o, prog_body *body) {
  if (o->num_operands != 2 || lower_node(L, o, 1)->type != lower_node(L, o, 0)->type ||
      op_operand(o, 0)->type->elem != op_result(o, 0)->type->elem)
    return false;
  prog_body_recognize(body);
  return body->kind != REDUCE_CODE;
}

/* How many elements are reduced to one. */
static i64 num_reduced(const node *in, i64s dims) {
  i64 n = 1;
  for (size_t i = 0; i < dims.len; i++) n *= in->dims[dims.data[i]];
  return n;
}

/* So few, and whole rows of them, that the rows are soonest combined as any others are: a sum
 * begins and ends for each row of results. What is summed in wider types is left to reductions. */
static bool reduces_few(const node *in, i64s dims) {
  enum { FEW = 8, ROW = 8 };
  i64 n = num_reduced(in, dims);
  if (n < 2 || n > FEW || in->kind != NODE_MEM || in->rank < 2) return false;
  if (num_is_small_float((dtype)in->type)) return false;
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] == in->rank - 1) return false;
  return in->stride[in->rank - 1] == 1 && in->dims[in->rank - 1] >= ROW;
}

/* The values to be reduced, one after the other, from the initial one on. */
static u32 combine_few(pull *p, prog_reducer kind, u32 init, node *in, u32 kept) {
  static const i64 none[PROG_MAX_DIMS];
  vm_op op = prog_body_op(kind);
  prog_builder *b = p->L->b;
  vm_code *code = &p->loop->code;
  u32 v = vm_load(b, code, (dtype)in->type, prog_loop_in(b, p->loop, init, 0, none));
  i64 at[PROG_MAX_DIMS] = {0}, n = 1;
  for (u32 d = kept; d < in->rank; d++) n *= in->dims[p->perm[d]];
  p->at = at;
  for (i64 i = 0; i < n; i++) {
    lower_new_stamp(p->L); /* the same nodes at another place */
    v = vm_emit(b, code, op, (dtype)in->type, v, fuse_pull(p, in), 0);
    for (u32 d = in->rank; d-- > kept;) {
      if (++at[p->perm[d]] < in->dims[p->perm[d]]) break;
      at[p->perm[d]] = 0;
    }
  }
  return v;
}

/* The operands are pulled into the loop that reduces them: what feeds a sum is not stored first.
 * The loop runs over the kept dims, then the reduced ones; outputs have stride 0 along the
 * latter. Initial values are read before and are scalars in memory. */
bool lower_reduce(lower *L, op *o) {
  struct reduce_attrs a;
  view_reduce(o, &a);
  if (a.dimensions.len == 0) return reduce_nothing(L, o);
  u32 n = o->num_operands / 2, perm[PROG_MAX_DIMS];
  i64 dims[PROG_MAX_DIMS], stride[PROG_MAX_DIMS] = {0};
  u32 *init = ARENA_ARRAY(L->a, u32, n), *value = ARENA_ARRAY(L->a, u32, n);
  prog_body body;
  if (!select_body(L, o, op_body(o, 0), &body)) return false;
  settle_reduced(L, o);
  bool simple = reduces_simply(L, o, &body);
  node *in = lower_node(L, o, 0);
  bool ones = simple && num_reduced(in, a.dimensions) == 1;
  bool few = ones || (simple && reduces_few(in, a.dimensions));
  if (ones && leaves_ones(L, o, a.dimensions, body.kind)) {
    node *out = lower_new_node(L, o, op_result(o, 0));
    if (!out) return false;
    if (fuse_without_ones(L, in, out)) {
      lower_used(lower_node(L, o, 1));
      return true;
    }
  }
  for (u32 i = 0; i < n; i++) {
    init[i] = fuse_dense(L, lower_node(L, o, n + i));
    lower_used(lower_node(L, o, n + i));
  }
  for (u32 i = 0; i < n; i++) fuse_join(L, lower_node(L, o, i));
  u32 kept = reduce_perm(in, a.dimensions, perm);
  for (u32 d = 0; d < in->rank; d++) dims[d] = in->dims[perm[d]];
  pull p = fuse_begin(L, few ? kept : in->rank, dims, perm);
  if (few)
    value[0] = combine_few(&p, body.kind, init[0], in, kept);
  else
    for (u32 i = 0; i < n; i++) value[i] = fuse_pull(&p, lower_node(L, o, i));
  for (u32 i = 0; i < n; i++) {
    node *out = lower_new_mem(L, o, i);
    if (!out) return false;
    if (out->type != lower_node(L, o, i)->type)
      value[i] = vm_emit(L->b, &p.loop->code, VM_convert, (dtype)out->type, value[i], 0, 0);
    if (kept) memcpy(stride, out->stride, kept * sizeof(i64));
    prog_loop_out(L->b, p.loop, out->slot, 0, stride, value[i]);
  }
  if (!few) prog_loop_reduce(L->b, p.loop, in->rank - kept, init, body);
  return true;
}

/* ---- a vector by a matrix that is computed ---- */

/* Large, and nothing that the product's own kernels should rather read from memory. */
static bool is_computed(const node *n) {
  enum { LARGE = 1 << 16 };
  return n->kind == NODE_EXPR && n->pending == 1 && n->count >= LARGE && !n->uniform && !n->heavy &&
         n->cost <= MAX_RECOMPUTE;
}

/* Sums of `in` times `by`, which is in memory; `kind`: the dims of `in` that are not summed up, of
 * which the map has which dim of either each is. */
static bool sum_products(lower *L, op *o, const dot_map *m, node *in, node *by, u32 kind) {
  static const u64 zero[2];
  const u8 *of = kind == DOT_ROWS ? m->lhs : m->rhs, *of_by = kind == DOT_ROWS ? m->rhs : m->lhs;
  u32 perm[PROG_MAX_DIMS], n = 0, init = prog_const(L->b, (dtype)in->type, 1, zero);
  i64 dims[PROG_MAX_DIMS], stride[PROG_MAX_DIMS] = {0}, spread[PROG_MAX_DIMS] = {0};
  node *out = lower_new_mem(L, o, 0), with = *by;
  if (!out) return false;
  for (u32 i = dot_begin(m, kind); i < m->end[kind]; i++) {
    perm[n] = of[i], stride[n] = out->stride[i], dims[n++] = m->size[i];
  }
  for (u32 i = dot_begin(m, DOT_SUMMED); i < m->end[DOT_SUMMED]; i++) {
    spread[of[i]] = by->stride[of_by[i]];
    perm[n] = of[i], dims[n++] = m->size[i];
  }
  with.rank = in->rank, with.dims = in->dims, with.stride = spread, with.stamp = 0;
  lower_used(in);
  fuse_join(L, in);
  pull p = fuse_begin(L, n, dims, perm);
  u32 x = fuse_pull(&p, &with), y = fuse_pull(&p, in);
  u32 v = vm_emit(L->b, &p.loop->code, VM_mul, (dtype)in->type, x, y, 0);
  prog_loop_out(L->b, p.loop, out->slot, 0, stride, v);
  prog_loop_reduce(L->b, p.loop, m->end[DOT_SUMMED] - m->end[DOT_COLUMNS], &init,
                   (prog_body){.kind = REDUCE_SUM});
  lower_used(by);
  return true;
}

bool reduces_product(lower *L, op *o, const dot_map *m, bool *out_ok) {
  node *in[] = {lower_node(L, o, 0), lower_node(L, o, 1)};
  for (u32 k = 0; k < 2; k++) {
    u32 kind = k ? DOT_COLUMNS : DOT_ROWS, other = k ? DOT_ROWS : DOT_COLUMNS;
    bool real = in[k]->type == DTYPE_f32 || in[k]->type == DTYPE_f64;
    if (!real || in[!k]->type != in[k]->type || m->end[DOT_BATCHES]) continue;
    if (dot_volume(m, other) != 1 || op_operand(o, k)->type->elem != op_result(o, 0)->type->elem)
      continue;
    dot_settle(L, in[!k]);
    if (!is_computed(in[k])) continue;
    *out_ok = sum_products(L, o, m, in[k], in[!k], kind);
    return true;
  }
  return false;
}
