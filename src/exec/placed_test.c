/* Random steps of up to some hundred elements that are read and written at strides, backwards, or
 * one for several: elementwise code, rows and columns that are reduced, products, copies. The bits
 * are those of the same without compiled code, and nothing else of a result is written. */
#include "num/convert.h"
#include "tests/exec.h"

enum { SIZE = 1200, SMALL = 13, STEPS = 8, RESULTS = 3, MOST_RANK = 3 };

typedef struct writer {
  prog_builder *b;
  u32 seed, param, small, work, zero, result[RESULTS];
} writer;

static u32 pick(writer *w, u32 n) {
  w->seed = w->seed * 1664525 + 1013904223;
  return (w->seed >> 16) % n;
}
typedef struct shape {
  u32 rank;
  i64 dims[MOST_RANK];
} shape;
static shape any_shape(writer *w, u32 rank, u32 most) {
  shape s = {.rank = rank};
  for (u32 d = 0; d < rank; d++) s.dims[d] = 1 + pick(w, most);
  return s;
}

/* Strides of dims in any order, some of none, some backwards; and from where, of a slot that is
 * read or, where it is given, written. Each element has a place of its own there. */
static i64 any_strides(writer *w, const shape *s, bool written, i64 *stride, u32 *slot) {
  i64 next = 1 + pick(w, 2), first = 0, end = 0;
  bool done[MOST_RANK] = {false};
  for (u32 n = 0; n < s->rank; n++) {
    u32 d = pick(w, s->rank);
    while (done[d]) d = (d + 1) % s->rank;
    done[d] = true;
    stride[d] = !written && pick(w, 4) == 0 ? 0 : next;
    if (stride[d]) next *= s->dims[d] + pick(w, 2);
    if (pick(w, 6) == 0) stride[d] = -stride[d], first -= stride[d] * (s->dims[d] - 1);
    end += (stride[d] < 0 ? -stride[d] : stride[d]) * (s->dims[d] - 1);
  }
  CHECK(end < SIZE);
  bool small = !written && end < SMALL && pick(w, 2);
  if (!written) *slot = small ? w->small : pick(w, 2) ? w->param : w->work;
  return first + pick(w, (u32)((small ? SMALL : SIZE) - end));
}

static u32 add_in(writer *w, prog_loop *l, const shape *s) {
  u32 from;
  i64 stride[MOST_RANK], at = any_strides(w, s, false, stride, &from);
  return vm_load(w->b, &l->code, DTYPE_f32, prog_loop_in(w->b, l, from, at, stride));
}
static void add_out(writer *w, prog_loop *l, const shape *s, u32 to, u32 v) {
  i64 stride[MOST_RANK] = {0}, at = any_strides(w, s, true, stride, &to);
  prog_loop_out(w->b, l, to, at, stride, v);
}
static u32 add_code(writer *w, prog_loop *l, const shape *s) {
  static const vm_op ops[] = {VM_add, VM_sub, VM_mul, VM_max, VM_min};
  u32 v = add_in(w, l, s), n = pick(w, 4);
  for (u32 i = 0; i < n; i++)
    v = vm_emit(w->b, &l->code, ops[pick(w, COUNT(ops))], DTYPE_f32, v, add_in(w, l, s), 0);
  if (pick(w, 4) == 0) v = vm_emit(w->b, &l->code, VM_tanh, DTYPE_f32, v, 0, 0);
  if (pick(w, 4)) return v;
  u32 i = vm_emit(w->b, &l->code, VM_iota, DTYPE_s32, pick(w, s->rank), 0, 0);
  u32 x = vm_emit(w->b, &l->code, VM_convert, DTYPE_f32, i, 0, 0);
  return vm_emit(w->b, &l->code, VM_add, DTYPE_f32, v, x, 0);
}

static void add_loop(writer *w, u32 to) {
  shape s = any_shape(w, 1 + pick(w, MOST_RANK), 7);
  prog_loop *l = prog_add_loop(w->b, s.rank, s.dims, S, L);
  add_out(w, l, &s, to, add_code(w, l, &s));
}
static void add_reduction(writer *w, u32 to) {
  static const prog_reducer kinds[] = {REDUCE_SUM, REDUCE_SUM, REDUCE_MAX, REDUCE_MIN};
  shape s = any_shape(w, 2 + pick(w, MOST_RANK - 1), 7), kept = s;
  prog_loop *l = prog_add_loop(w->b, s.rank, s.dims, S, L);
  u32 v = add_code(w, l, &s);
  kept.rank--;
  add_out(w, l, &kept, to, v);
  prog_body body = {.kind = kinds[pick(w, COUNT(kinds))]};
  prog_loop_reduce(w->b, l, 1, &w->zero, body);
}
static void add_product(writer *w, u32 to) {
  i64 m = 1 + pick(w, 9), n = 1 + pick(w, 9), k = 1 + pick(w, 9);
  i64 dims[] = {m, n, k}, lhs[] = {k, 0, 1}, rhs[] = {0, 1, n}, out[] = {n, 1, 0};
  if (pick(w, 2)) lhs[0] = 1, lhs[2] = m;
  if (pick(w, 2)) rhs[1] = k, rhs[2] = 1;
  prog_add_dot(w->b,
               &(prog_dot){.lhs = w->param,
                           .rhs = w->work,
                           .out = to,
                           .nm = 1,
                           .nn = 1,
                           .nk = 1,
                           .dims = dims,
                           .lhs_stride = lhs,
                           .rhs_stride = rhs,
                           .out_stride = out,
                           .lhs_offset = pick(w, 100)},
               S, L);
}
static void add_copy(writer *w, u32 to) {
  shape s = any_shape(w, 1 + pick(w, MOST_RANK), 7);
  u32 source;
  i64 from[MOST_RANK], dst[MOST_RANK], at = any_strides(w, &s, false, from, &source);
  i64 to_at = any_strides(w, &s, true, dst, &to);
  prog_add_copy(w->b, s.rank, s.dims, source, at, from, to, to_at, dst, S, L);
}

static void run_steps(arena *a, u32 seed, float (*out)[SIZE]) {
  static void (*const adds[])(writer *, u32) = {add_loop, add_reduction, add_product, add_copy};
  writer w = {.b = prog_begin(a, 1, 1), .seed = seed};
  float in[SIZE], zero = 0;
  void *results[RESULTS];
  for (u32 i = 0; i < SIZE; i++) in[i] = (float)pick(&w, 1000) / 300 - 1;
  w.param = prog_param(w.b, DTYPE_f32, SIZE);
  w.small = prog_param(w.b, DTYPE_f32, SMALL);
  w.work = prog_work(w.b, DTYPE_f32, SIZE);
  w.zero = prog_const(w.b, DTYPE_f32, 1, &zero);
  prog_add_move(w.b, w.param, w.work, S, L);
  for (u32 i = 0; i < RESULTS; i++) {
    w.result[i] = prog_result(w.b, DTYPE_f32, SIZE, -1);
    prog_add_fill(w.b, w.result[i], &zero, S, L);
    results[i] = out[i];
  }
  for (u32 i = 0; i < STEPS; i++) {
    adds[pick(&w, COUNT(adds))](&w, w.result[pick(&w, RESULTS)]);
    prog_add_move(w.b, w.result[pick(&w, RESULTS)], w.work, S, L);
  }
  CHECK(!*run(w.b, (void *[]){in, in}, results));
}

static float compiled[RESULTS][SIZE], plain[RESULTS][SIZE];

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  for (u32 seed = 0; seed < 1500; seed++) {
    run_steps(a, seed, compiled);
    setenv("TERRAZZO_JIT", "0", 1);
    run_steps(a, seed, plain);
    unsetenv("TERRAZZO_JIT");
    CHECK(memcmp(compiled, plain, sizeof plain) == 0);
  }
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
