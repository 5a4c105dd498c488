/* Transforms, factors and solves: calls of the executor's functions (exec/calls.h), with what they
 * take as parameters. */
#include "compile/steps.h"

/* ---- fft: a call for each dimension ---- */

enum { FORWARD, BACKWARD, FROM_REAL, TO_REAL }; /* fft_type, and what "fft" takes */

typedef struct transforms {
  lower *L;
  const i64 *dims; /* of the complex numbers */
  u32 rank;
} transforms;

/* Along dimension d, of n numbers: from one slot to another. */
static void add_transform(const transforms *t, i64 kind, u32 d, i64 n, prog_operand *in,
                          prog_operand *out) {
  i64 params[] = {kind, 1, n, 1};
  for (u32 i = 0; i < t->rank; i++)
    if (i != d) lower_times(&params[i < d ? 1 : 3], t->dims[i]);
  prog_call c = {.target = STR("fft"),
                 .num_in = 1,
                 .num_out = 1,
                 .in = in,
                 .out = out,
                 .params = {params, COUNT(params)}};
  prog_add_call(t->L->b, &c, lower_name(t->L), lower_loc(t->L));
}

/* The real end of a transform comes first or last, and is along the last dimension. */
bool lower_fft(lower *L, op *o) {
  struct fft_attrs a;
  if (!view_fft(o, &a)) return false;
  node *in = lower_node(L, o, 0);
  fuse_dense(L, in);
  node *out = lower_new_mem(L, o, 0);
  if (!out) return false;
  u32 kind = a.fft_type->value, n = (u32)a.fft_length.len;
  const node *complex = kind == TO_REAL ? in : out;
  transforms t = {L, complex->dims, complex->rank};
  prog_operand at = {in->slot, {in->dims, in->rank}};
  for (u32 i = 0; i < n; i++) {
    u32 back = kind == TO_REAL ? n - 1 - i : i, d = t.rank - 1 - back;
    bool real_end = back == 0 && kind >= FROM_REAL, last = i + 1 == n;
    i64 one = real_end ? kind : kind == FORWARD || kind == FROM_REAL ? FORWARD : BACKWARD;
    prog_operand to = {last ? out->slot
                            : prog_work(L->b, (dtype)complex->type, (u64)complex->count),
                       {last ? out->dims : complex->dims, t.rank}};
    add_transform(&t, one, d, a.fft_length.data[n - 1 - back], &at, &to);
    at = to;
  }
  lower_used(in);
  return true;
}

/* ---- matrices ---- */

bool lower_cholesky(lower *L, op *o) {
  struct cholesky_attrs a;
  if (!view_cholesky(o, &a)) return false;
  i64 params[] = {a.lower};
  return call_add(L, o, STR("cholesky"), (i64s){params, COUNT(params)}, (str){0}, false);
}

/* Of matrices that lie column by column. */
static i64 *turned_strides(lower *L, const node *n) {
  u32 r = n->rank;
  i64 *stride = ARENA_ARRAY(L->a, i64, r);
  memcpy(stride, lower_dense_strides(L, r, n->dims), r * sizeof *stride);
  stride[r - 2] = 1, stride[r - 1] = n->dims[r - 2];
  return stride;
}

/* Whether matrices fill a slot so: then their transposes lie there. */
static bool lies_turned(lower *L, const node *n) {
  return n->kind == NODE_MEM && !n->dense && lower_fills(n, turned_strides(L, n));
}

/* What is computed of such a one alone, as a factor that is replaced where it does not exist, lies
 * as it does, and may take its place; but many solutions at once take more time so. */
static void settle_matrix(lower *L, node *m, bool many) {
  if (!many) fuse_close_of(L, m);
  bool computed = !many && m->kind == NODE_EXPR && m->leaf && m->leaf->rank == m->rank;
  if (!computed || !lies_turned(L, m->leaf)) {
    fuse_settle(L, m);
    return;
  }
  u32 slot = lower_new_slot(L, m);
  const i64 *stride = turned_strides(L, m);
  fuse_store(L, m, slot, 0, stride);
  lower_make_dense(L, m, slot);
  m->stride = stride;
  m->dense = false;
}

enum { AS_IT_IS = 1, TRANSPOSED }; /* transpose_a, and what "triangular_solve" takes */

bool lower_triangular_solve(lower *L, op *o) {
  struct triangular_solve_attrs a;
  if (!view_triangular_solve(o, &a)) return false;
  node *m = lower_node(L, o, 0), *b = lower_node(L, o, 1);
  u32 solved = b->rank - (a.left_side ? 1 : 2);
  settle_matrix(L, m, b->dims[solved] > m->dims[m->rank - 1] / 4);
  i64 how = a.transpose_a->value;
  bool turned = how <= TRANSPOSED && lies_turned(L, m);
  if (!turned) fuse_dense(L, m);
  fuse_dense(L, b);
  node *out = lower_new_mem(L, o, 0);
  if (!out) return false;
  i64 params[] = {a.left_side, turned != a.lower, a.unit_diagonal,
                  turned ? AS_IT_IS + TRANSPOSED - how : how};
  prog_operand in[] = {{m->slot, {m->dims, m->rank}}, {b->slot, {b->dims, b->rank}}};
  prog_operand to = {out->slot, {out->dims, out->rank}};
  prog_call c = {.target = STR("triangular_solve"),
                 .num_in = COUNT(in),
                 .num_out = 1,
                 .in = in,
                 .out = &to,
                 .params = {params, COUNT(params)}};
  prog_add_call(L->b, &c, lower_name(L), lower_loc(L));
  lower_used(m);
  lower_used(b);
  return true;
}
