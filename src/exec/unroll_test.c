/* Reductions and cumulative ones of a few elements, in rows, columns and between, against plain C.
 */
#include <math.h>

#include "tests/exec.h"

enum { MOST = 1 << 13 };

/* A body as JAX's argmax and argmin have it: of equal values the first one, and a NaN before all.
 */
static prog_body arg_body(prog_builder *b, dtype t, bool least) {
  prog_body body = {0};
  vm_code *c = &body.code;
  u32 x = vm_load(b, c, t, 0), i = vm_load(b, c, DTYPE_s32, 1);
  u32 y = vm_load(b, c, t, 2), k = vm_load(b, c, DTYPE_s32, 3);
  u32 more = vm_emit(b, c, least ? VM_lt : VM_gt, DTYPE_pred, x, y, 0);
  u32 first = vm_emit(b, c, VM_or, DTYPE_pred, more, vm_emit(b, c, VM_ne, DTYPE_pred, x, x, 0), 0);
  u32 equal = vm_emit(b, c, VM_eq, DTYPE_pred, x, y, 0);
  u32 before = vm_emit(b, c, VM_lt, DTYPE_pred, i, k, 0);
  u32 tie = vm_emit(b, c, VM_and, DTYPE_pred, equal, before, 0);
  u32 keep = vm_emit(b, c, VM_or, DTYPE_pred, first, tie, 0);
  vm_store(b, c, 0, vm_emit(b, c, VM_select, t, first, x, y));
  vm_store(b, c, 1, vm_emit(b, c, VM_select, DTYPE_s32, keep, i, k));
  return body;
}

typedef struct pair {
  u32 bits;
  i32 at;
} pair;
static double number(dtype t, u32 bits) {
  float f;
  memcpy(&f, &bits, 4);
  return t == DTYPE_f32 ? (double)f : (double)(i32)bits;
}
static pair arg_of(dtype t, bool least, pair a, pair b) {
  double x = number(t, a.bits), y = number(t, b.bits);
  bool first = (least ? x < y : x > y) || x != x, keep = first || (x == y && a.at < b.at);
  return (pair){first ? a.bits : b.bits, keep ? a.at : b.at};
}

/* Over the middle one of three dims; the index begins as `from`. */
static void check_arg(arena *a, i64 outer, i64 n, i64 inner, dtype t, bool least, i32 from) {
  static u32 x[MOST], best[MOST];
  static i32 at[MOST];
  static const float values[] = {0, -0.0f, 1, 1, -2, 3, NAN, INFINITY, -INFINITY, 2.5f};
  u64 m = (u64)(outer * inner);
  u32 seed = (u32)(outer * n + inner), start = t == DTYPE_f32 ? 0xff800000 : 0x80000000;
  for (u64 i = 0; i < m * (u64)n; i++) {
    float f = noise(&seed) * 100, g = values[(u32)fabsf(f) % (outer % 2 ? 6 : 10)];
    x[i] = (u32)(i32)(f / 20);
    if (t == DTYPE_f32) memcpy(&x[i], &g, 4);
  }
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, m * (u64)n);
  u32 rb = prog_result(b, t, m, -1), ra = prog_result(b, DTYPE_s32, m, -1);
  u32 init[] = {prog_const(b, t, 1, &start), prog_const(b, DTYPE_s32, 1, &from)};
  prog_loop *l = prog_add_loop(b, 3, (i64[]){outer, inner, n}, S, L);
  u32 v = vm_load(b, &l->code, t, prog_loop_in(b, l, px, 0, (i64[]){n * inner, 1, inner}));
  prog_loop_out(b, l, rb, 0, (i64[]){inner, 1, 0}, v);
  prog_loop_out(b, l, ra, 0, (i64[]){inner, 1, 0}, vm_iota(b, &l->code, DTYPE_s32, 2));
  prog_loop_reduce(b, l, 1, init, arg_body(b, t, least));
  CHECK(!*run(b, (void *[]){x}, (void *[]){best, at}));
  int bad = 0;
  for (i64 i = 0; i < (i64)m; i++) {
    pair want = {start, from};
    for (i64 k = 0; k < n; k++)
      want = arg_of(t, least, want, (pair){x[(i / inner * n + k) * inner + i % inner], (i32)k});
    bool nan = number(t, want.bits) != number(t, want.bits);
    bad +=
        at[i] != want.at || (nan ? number(t, best[i]) == number(t, best[i]) : best[i] != want.bits);
  }
  CHECK(bad == 0);
  if (bad) fprintf(stderr, "%d of %d x %d x %d\n", bad, (int)outer, (int)n, (int)inner);
}

/* What is reduced by a known body is x + index, or x where its rows lie as they are stored; rows of
 * one dim, elements of it of another. */
static void check_known(arena *a, i64 outer, i64 n, i64 inner, dtype t, prog_reducer kind) {
  static u32 x[MOST], z[MOST], small[MOST];
  u64 m = (u64)(outer * inner);
  u32 seed = (u32)(m + (u64)n), init = 0, width = t == DTYPE_u8 ? 1 : 4;
  for (u64 i = 0; i < m * (u64)n; i++) {
    float f = floorf(noise(&seed) * 3);
    x[i] = (u32)(i32)f;
    if (t == DTYPE_f32) memcpy(&x[i], &f, 4);
    memcpy((char *)small + i * width, &x[i], width);
  }
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, m * (u64)n), rz = prog_result(b, t, m, -1);
  u32 c = prog_const(b, t, 1, &init);
  prog_loop *l = prog_add_loop(b, 3, (i64[]){outer, inner, n}, S, L);
  u32 v = vm_load(b, &l->code, t, prog_loop_in(b, l, px, 0, (i64[]){n * inner, 1, inner}));
  bool as_it_is = inner == 1 && outer % 2 == 0;
  if (!as_it_is) v = vm_emit(b, &l->code, VM_add, t, v, vm_iota(b, &l->code, t, 2), 0);
  prog_loop_out(b, l, rz, 0, (i64[]){inner, 1, 0}, v);
  prog_loop_reduce(b, l, 1, &c, (prog_body){.kind = kind});
  CHECK(!*run(b, (void *[]){small}, (void *[]){z}));
  int bad = 0;
  for (i64 i = 0; i < (i64)m; i++) {
    double want = 0;
    for (i64 k = 0; k < n; k++) {
      double y = number(t, x[(i / inner * n + k) * inner + i % inner]) + (as_it_is ? 0 : (double)k);
      if (t == DTYPE_u8) y = (u8)(i64)y;
      want = kind == REDUCE_SUM ? want + y : want > y ? want : y;
    }
    u32 got = 0;
    memcpy(&got, (char *)z + (u64)i * width, width);
    bad += t == DTYPE_u8 ? (u8)got != (u8)(i64)want : number(t, got) != want;
  }
  CHECK(bad == 0);
  if (bad) fprintf(stderr, "%d of %d x %d x %d\n", bad, (int)outer, (int)n, (int)inner);
}

/* Along the middle one of three dims; of known bodies sums, of others, to the end only, 3x + y. */
static void check_scan(arena *a, i64 outer, i64 n, i64 inner, dtype t, bool backward, bool known) {
  static u32 x[MOST], z[MOST], small[MOST];
  u64 m = (u64)(outer * n * inner);
  u32 seed = (u32)m, init = 0, width = t == DTYPE_u8 ? 1 : 4;
  float half = 0.5f;
  if (t == DTYPE_f32)
    memcpy(&init, &half, 4);
  else
    init = 5;
  for (u64 i = 0; i < m; i++) {
    float f = floorf(noise(&seed) * 50); /* whose sums are exact */
    x[i] = (u32)(i32)f;
    if (t == DTYPE_f32) memcpy(&x[i], &f, 4);
    memcpy((char *)small + i * width, &x[i], width);
  }
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, m), rz = prog_result(b, t, m, -1), c = prog_const(b, t, 1, &init);
  prog_body body = {.kind = REDUCE_SUM};
  if (!known) {
    body.kind = REDUCE_CODE;
    u32 l = vm_load(b, &body.code, t, 0), r = vm_load(b, &body.code, t, 1);
    l = vm_emit(b, &body.code, VM_mul, t, l, vm_const_f64(b, &body.code, t, 3), 0);
    vm_store(b, &body.code, 0, vm_emit(b, &body.code, VM_add, t, l, r, 0));
  }
  prog_window w = {.n = 1, .rank = 3, .in = &px, .init = &c, .out = &rz, .body = body};
  i64 dims[] = {outer, n, inner};
  for (u32 d = 0; d < 3; d++) {
    w.dims[d] = w.out_dims[d] = dims[d];
    w.window[d] = w.stride[d] = w.base_dilation[d] = w.window_dilation[d] = 1;
  }
  w.window[1] = n;
  w.pad_low[1] = backward ? 0 : n - 1;
  prog_add_window(b, &w, S, L);
  CHECK(!*run(b, (void *[]){small}, (void *[]){z}));
  int bad = 0;
  for (i64 i = 0; i < outer * inner; i++)
    for (i64 k = 0; k < n; k++) {
      i64 first = i / inner * n * inner + i % inner, from = backward ? k : 0,
          to = backward ? n - 1 : k;
      double acc = number(t, x[first + from * inner]), start = number(t, init);
      for (i64 q = from + 1; q <= to; q++)
        acc = (known ? 1 : 3) * acc + number(t, x[first + q * inner]);
      acc = (known ? 1 : 3) * start + acc;
      u32 got = 0;
      memcpy(&got, (char *)z + (first + k * inner) * width, width);
      bad += t == DTYPE_u8 ? (u8)got != (u8)(i64)acc : number(t, got) != acc;
    }
  CHECK(bad == 0);
  if (bad) fprintf(stderr, "%d of %d x %d x %d\n", bad, (int)outer, (int)n, (int)inner);
}

static void run_tests(arena *a, const exec_options *options) {
  static const i64 others[][2] = {{1, 67}, {67, 1}, {300, 1}, {9, 11}, {5, 70}, {3, 2}};
  static const dtype types[] = {DTYPE_f32, DTYPE_s32, DTYPE_u8};
  status s = exec_create(options, &pool);
  CHECK(!s);
  for (i64 n = 1; n <= 18; n++)
    for (u32 i = 0; i < COUNT(others); i++)
      for (u32 k = 0; k < 4; k++) {
        check_arg(a, others[i][0], n, others[i][1], k & 2 ? DTYPE_f32 : DTYPE_s32, k & 1, 0);
        if (n < 17) check_arg(a, others[i][0], n, others[i][1], DTYPE_f32, k & 1, (i32)k - 1);
        for (u32 t = 0; t < COUNT(types) && n < 8 && k != 2; t++)
          check_scan(a, others[i][0], n, others[i][1], types[t], k & 2, k & 1);
        check_scan(a, others[i][0], n, others[i][1], DTYPE_s32, k & 2, true);
        for (u32 t = 0; t < COUNT(types) && k < 2; t++)
          check_known(a, others[i][0], n, others[i][1], types[t], k ? REDUCE_SUM : REDUCE_MAX);
      }
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
