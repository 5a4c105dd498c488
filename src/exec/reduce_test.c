/* Reductions and windows, against plain C. */
#include <math.h>

#include "num/convert.h"
#include "tests/exec.h"

static void check_reduce(arena *a, i64 k0, i64 r, i64 k1, prog_reducer kind) {
  size_t n = (size_t)(k0 * r * k1), m = (size_t)(k0 * k1);
  float *x = malloc((n + 1) * 4), *z = malloc((m + 1) * 4), init = kind == REDUCE_MAX ? -9 : 0.5f;
  u32 seed = 7;
  for (size_t i = 0; i < n; i++) x[i] = noise(&seed);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f32, n), out = prog_result(b, DTYPE_f32, m, -1);
  u32 c = prog_const(b, DTYPE_f32, 1, &init);
  prog_loop *l = prog_add_loop(b, 3, (i64[]){k0, k1, r}, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, px, 0, (i64[]){r * k1, 1, k1}));
  v = vm_emit(b, &l->code, VM_mul, DTYPE_f32, v, v, 0);
  prog_loop_out(b, l, out, 0, (i64[]){k1, 1, 0}, v);
  prog_loop_reduce(b, l, 1, &c, (prog_body){.kind = kind});
  CHECK(!*run(b, (void *[]){x}, (void *[]){z}));
  int bad = 0;
  for (i64 i = 0; i < k0; i++)
    for (i64 j = 0; j < k1; j++) {
      double want = init;
      for (i64 q = 0; q < r; q++) {
        float e = x[(i * r + q) * k1 + j];
        want = kind == REDUCE_MAX ? fmax(want, e * e) : want + e * e;
      }
      bad += fabs(z[i * k1 + j] - want) > 1e-5 * fabs(want) + 1e-6;
    }
  CHECK(bad == 0);
  free(x);
  free(z);
}

/* argmax: two operands, a body in code */
static void check_argmax(arena *a, i64 rows, i64 n) {
  float *x = malloc((size_t)(rows * n) * 4), *best = malloc((size_t)rows * 4), low = -INFINITY;
  i32 *at = malloc((size_t)rows * 4), zero = 0;
  u32 seed = 3;
  for (i64 i = 0; i < rows * n; i++) x[i] = floorf(noise(&seed) * 40);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f32, (u64)(rows * n));
  u32 rb = prog_result(b, DTYPE_f32, (u64)rows, -1), ra = prog_result(b, DTYPE_s32, (u64)rows, -1);
  u32 init[] = {prog_const(b, DTYPE_f32, 1, &low), prog_const(b, DTYPE_s32, 1, &zero)};
  prog_loop *l = prog_add_loop(b, 2, (i64[]){rows, n}, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, px, 0, (i64[]){n, 1}));
  prog_loop_out(b, l, rb, 0, (i64[]){1, 0}, v);
  prog_loop_out(b, l, ra, 0, (i64[]){1, 0}, vm_iota(b, &l->code, DTYPE_s32, 1));
  prog_body body = {0};
  vm_code *c = &body.code;
  u32 lv = vm_load(b, c, DTYPE_f32, 0), li = vm_load(b, c, DTYPE_s32, 1);
  u32 rv = vm_load(b, c, DTYPE_f32, 2), ri = vm_load(b, c, DTYPE_s32, 3);
  u32 gt = vm_emit(b, c, VM_gt, DTYPE_pred, lv, rv, 0),
      eq = vm_emit(b, c, VM_eq, DTYPE_pred, lv, rv, 0);
  u32 lower = vm_emit(b, c, VM_lt, DTYPE_pred, li, ri, 0);
  u32 left =
      vm_emit(b, c, VM_or, DTYPE_pred, gt, vm_emit(b, c, VM_and, DTYPE_pred, eq, lower, 0), 0);
  vm_store(b, c, 0, vm_emit(b, c, VM_select, DTYPE_f32, gt, lv, rv));
  vm_store(b, c, 1, vm_emit(b, c, VM_select, DTYPE_s32, left, li, ri));
  prog_loop_reduce(b, l, 1, init, body);
  CHECK(!*run(b, (void *[]){x}, (void *[]){best, at}));
  int bad = 0;
  for (i64 i = 0; i < rows; i++) {
    i32 want = 0;
    for (i64 j = 1; j < n; j++)
      if (x[i * n + j] > x[i * n + want]) want = (i32)j;
    bad += at[i] != want || best[i] != x[i * n + want];
  }
  CHECK(bad == 0);
  free(x);
  free(best);
  free(at);
}

static float f8(float x) {
  return (float)num_decode_small(DTYPE_f8e5m2, num_encode_small(DTYPE_f8e5m2, x));
}

/* f8 rounds after every addition: over columns in order, over a row in whatever order. */
static void check_rounding(arena *a, i64 r, i64 kept) {
  u8 x[40 * 32], z[32], init;
  float first = 0.125f, most = 0;
  u32 seed = 5;
  num_from_f64(DTYPE_f8e5m2, (double)first, &init);
  for (i64 i = 0; i < r * kept; i++)
    num_from_f64(DTYPE_f8e5m2, kept == 1 ? (i ? 0.125 : 1) : (double)noise(&seed), &x[i]);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f8e5m2, (u64)(r * kept));
  u32 out = prog_result(b, DTYPE_f8e5m2, (u64)kept, -1), c = prog_const(b, DTYPE_f8e5m2, 1, &init);
  prog_loop *l = prog_add_loop(b, 2, (i64[]){kept, r}, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_f8e5m2, prog_loop_in(b, l, px, 0, (i64[]){1, kept}));
  prog_loop_out(b, l, out, 0, (i64[]){1, 0}, v);
  prog_loop_reduce(b, l, 1, &c, (prog_body){.kind = REDUCE_SUM});
  CHECK(!*run(b, (void *[]){x}, (void *[]){z}));
  for (i64 k = 0; k < kept; k++) {
    float want = first;
    for (i64 i = 0; i < r; i++)
      want = f8(want + (float)num_decode_small(DTYPE_f8e5m2, x[i * kept + k]));
    most = fmaxf(most, fabsf((float)num_decode_small(DTYPE_f8e5m2, z[k]) - want));
  }
  CHECK(most == 0);
}

static void test_reduce(arena *a) {
  static const i64 shapes[][3] = {{1, 1, 1},    {1, 100000, 1}, {5, 3000, 1}, {1000, 7, 1},
                                  {4, 33, 129}, {1, 64, 64},    {3, 5000, 3}, {7, 0, 2},
                                  {0, 5, 2},    {64, 64, 1}};
  for (size_t i = 0; i < COUNT(shapes); i++) {
    check_reduce(a, shapes[i][0], shapes[i][1], shapes[i][2], REDUCE_SUM);
    check_reduce(a, shapes[i][0], shapes[i][1], shapes[i][2], REDUCE_MAX);
  }
  check_argmax(a, 3, 10000);
  check_argmax(a, 5000, 10);
  check_argmax(a, 1, 1);
  check_argmax(a, 40, 70);
  check_rounding(a, 2, 1);
  check_rounding(a, 40, 32);
}

static void run_tests(arena *a, u32 threads) {
  exec_pool_options o = {.threads = threads};
  status s = exec_pool_create(&o, &pool);
  CHECK(!s);
  test_reduce(a);
  exec_pool_destroy(pool);
}

int main(void) {
  arena a;
  if (setjmp(trap.at)) return 1;
  arena_init(&a, &mem_system, &trap);
  run_tests(&a, 2);
  setenv("TERRAZZO_ONEDNN", "0", 1);
  run_tests(&a, 1);
  arena_deinit(&a);
  return UNIT_END();
}
