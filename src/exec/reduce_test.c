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

static i32 as_element(bool f, i32 v) {
  float x = (float)v;
  if (f) memcpy(&v, &x, sizeof v);
  return v;
}
static double number(bool f, i32 v) {
  float x;
  memcpy(&x, &v, sizeof x);
  return f ? (double)x : v;
}

/* Rows one behind the other, each with a number of its own: reduced, and (wide) taken from it.
 * Of an even number, results of every other one come first. */
static void check_short_rows(arena *a, i64 rows, i64 n, dtype t, prog_reducer kind) {
  size_t count = (size_t)(rows * n);
  i64 two = rows % 2 ? 1 : 2, half = rows / two;
  bool f = t == DTYPE_f32;
  i32 *x = malloc(count * 4), *wide = malloc(count * 4);
  i32 *m = malloc((size_t)rows * 4), *z = malloc((size_t)rows * 4);
  u32 seed = 11;
  for (size_t i = 0; i < count; i++) x[i] = as_element(f, (i32)(noise(&seed) * 100));
  for (i64 i = 0; i < rows; i++) m[i] = as_element(f, (i32)(i % 13));
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, count), pm = prog_param(b, t, (u64)rows);
  i32 init = as_element(f, 3);
  u32 out = prog_result(b, t, (u64)rows, -1), all = prog_result(b, t, count, -1);
  u32 c = prog_const(b, t, 1, &init);
  for (int k = 0; k < 2; k++) {
    i64 lies[] = {two * n, n, 1}, turned[] = {1, half, 0};
    prog_loop *l = prog_add_loop(b, 3, (i64[]){half, two, n}, S, L);
    u32 v = vm_load(b, &l->code, t, prog_loop_in(b, l, px, 0, lies));
    u32 w = vm_load(b, &l->code, t, prog_loop_in(b, l, pm, 0, (i64[]){two, 1, 0}));
    v = vm_emit(b, &l->code, VM_sub, t, v, w, 0);
    prog_loop_out(b, l, k ? all : out, 0, k ? lies : turned, v);
    if (!k) prog_loop_reduce(b, l, 1, &c, (prog_body){.kind = kind});
  }
  CHECK(!*run(b, (void *[]){x, m}, (void *[]){z, wide}));
  int bad = 0;
  for (i64 i = 0; i < rows; i++) {
    double want = 3;
    for (i64 j = 0; j < n; j++) {
      double e = number(f, x[i * n + j]) - (double)(i % 13);
      want = kind == REDUCE_SUM ? want + e : kind == REDUCE_MAX ? fmax(want, e) : fmin(want, e);
      bad += number(f, wide[i * n + j]) != e;
    }
    bad += number(f, z[i / two + i % two * half]) != want;
  }
  CHECK(bad == 0);
  free(x), free(wide), free(m), free(z);
}

/* Sums of columns of a function that is no code. */
static void test_columns_of_calls(arena *a) {
  enum { ROWS = 4096, COLUMNS = 64 };
  static float x[ROWS * COLUMNS], z[COLUMNS];
  double want[COLUMNS] = {0};
  u32 seed = 5, init = 0;
  for (u32 i = 0; i < ROWS * COLUMNS; i++) {
    x[i] = fabsf(noise(&seed));
    want[i % COLUMNS] += tan(x[i]) * 2;
  }
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, DTYPE_f32, ROWS * COLUMNS), out = prog_result(b, DTYPE_f32, COLUMNS, -1);
  u32 c = prog_const(b, DTYPE_f32, 1, &init);
  prog_loop *l = prog_add_loop(b, 2, (i64[]){COLUMNS, ROWS}, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, p, 0, (i64[]){1, COLUMNS}));
  v = vm_emit(b, &l->code, VM_tan, DTYPE_f32, v, 0, 0);
  v = vm_emit(b, &l->code, VM_add, DTYPE_f32, v, v, 0);
  prog_loop_out(b, l, out, 0, (i64[]){1, 0}, v);
  prog_loop_reduce(b, l, 1, &c, (prog_body){.kind = REDUCE_SUM});
  CHECK(!*run(b, (void *[]){x}, (void *[]){z}));
  double most = 0;
  for (u32 i = 0; i < COLUMNS; i++) /* not by `fmax`, which gcc 12 for aarch64 fails at */
    most = most > fabs(z[i] / want[i] - 1) ? most : fabs(z[i] / want[i] - 1);
  CHECK(most < 1e-4);
}

/* Sums of columns of numbers that are computed, each of its row's and its column's: exact. Rows lie
 * one behind the other, or the other way round. */
static void check_lines(arena *a, i64 rows, i64 n, dtype t, bool turned) {
  size_t count = (size_t)(rows * n), width = dtype_size(t);
  char *x = malloc(count * width), *w = malloc((size_t)rows * width),
       *c = malloc((size_t)n * width);
  char *z = malloc((size_t)n * width), init[8];
  u32 seed = 23;
  for (size_t i = 0; i < count; i++)
    num_from_f64(t, (double)floorf(noise(&seed) * 8), x + i * width);
  for (i64 i = 0; i < rows; i++) num_from_f64(t, (double)(i % 5), w + i * (i64)width);
  for (i64 i = 0; i < n; i++) num_from_f64(t, (double)(i % 7), c + i * (i64)width);
  num_from_f64(t, 3, init);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, count), pw = prog_param(b, t, (u64)rows), pc = prog_param(b, t, (u64)n);
  u32 out = prog_result(b, t, (u64)n, -1), from = prog_const(b, t, 1, init);
  prog_loop *l = prog_add_loop(b, 2, (i64[]){n, rows}, S, L);
  i64 first = turned ? (rows - 1) * n : 0;
  u32 v = vm_load(b, &l->code, t, prog_loop_in(b, l, px, first, (i64[]){1, turned ? -n : n}));
  u32 y = vm_load(b, &l->code, t, prog_loop_in(b, l, pw, 0, (i64[]){0, 1}));
  v = vm_emit(b, &l->code, VM_mul, t, v, y, 0);
  y = vm_load(b, &l->code, t, prog_loop_in(b, l, pc, 0, (i64[]){1, 0}));
  prog_loop_out(b, l, out, 0, (i64[]){1, 0}, vm_emit(b, &l->code, VM_add, t, v, y, 0));
  prog_loop_reduce(b, l, 1, &from, (prog_body){.kind = REDUCE_SUM});
  CHECK(!*run(b, (void *[]){x, w, c}, (void *[]){z}));
  int bad = 0;
  for (i64 i = 0; i < n; i++) {
    double want = 3;
    for (i64 k = 0; k < rows; k++) {
      i64 at = (turned ? rows - 1 - k : k) * n + i;
      want += num_to_f64(t, x + at * (i64)width) * (double)(k % 5) + (double)(i % 7);
    }
    bad += num_to_f64(t, z + i * (i64)width) != want;
  }
  CHECK(bad == 0);
  free(x), free(w), free(c), free(z);
}
static void test_lines(arena *a) {
  static const i64 widths[] = {1, 16, 31, 300, 1000, 1024, 1025, 2048, 2500, 5000};
  for (size_t i = 0; i < COUNT(widths); i++)
    for (i64 rows = 3; rows < 2000; rows = rows * 4 + 1)
      for (int k = 0; k < 4; k++)
        check_lines(a, rows, widths[i], k / 2 ? DTYPE_f64 : DTYPE_f32, k % 2);
}

/* Of rows of bf16 or f16, or of columns, as they are: numbers, zeros and a few NaNs. */
static void check_words(arena *a, i64 rows, i64 n, bool across, dtype t, prog_reducer kind) {
  size_t count = (size_t)(rows * n);
  i64 row = across ? 1 : n, next = across ? rows : 1;
  u16 *x = malloc(count * 2 + 2), *z = malloc((size_t)rows * 2), init;
  u32 seed = 17;
  num_from_f64(t, kind == REDUCE_MAX ? -2.5 : 2.5, &init);
  for (size_t i = 0; i < count; i++) {
    double v = (double)floorf(noise(&seed) * 6) / 2;
    bool nan = (seed >> 8) % (across ? 5000 : 500) == 0;
    num_from_f64(t, nan ? (double)NAN : v == 0 && i % 2 ? -0.0 : v, &x[i]);
    if (nan && i % 2) x[i] |= 0x8000;
  }
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, count), out = prog_result(b, t, (u64)rows, -1);
  u32 c = prog_const(b, t, 1, &init);
  prog_loop *l = prog_add_loop(b, 2, (i64[]){rows, n}, S, L);
  u32 v = vm_load(b, &l->code, t, prog_loop_in(b, l, px, 0, (i64[]){row, next}));
  prog_loop_out(b, l, out, 0, (i64[]){1, 0}, v);
  prog_loop_reduce(b, l, 1, &c, (prog_body){.kind = kind});
  CHECK(!*run(b, (void *[]){x}, (void *[]){z}));
  int bad = 0;
  for (i64 i = 0; i < rows; i++) {
    double want = num_to_f64(t, &init), got = num_to_f64(t, &z[i]);
    for (i64 j = 0; j < n && want == want; j++) {
      double e = num_to_f64(t, &x[i * row + j * next]);
      bool better = kind == REDUCE_MAX ? e > want || (e == want && signbit(want))
                                       : e < want || (e == want && signbit(e));
      if (better || e != e) want = e;
    }
    bad += want != want ? got == got : got != want || !signbit(got) != !signbit(want);
  }
  CHECK(bad == 0);
  free(x), free(z);
}

static void test_short_rows(arena *a) {
  static const i64 lengths[] = {2, 3, 4, 5, 8, 15, 16, 17, 31, 32, 50, 64, 100, 128, 256, 300, 515};
  static const prog_reducer kinds[] = {REDUCE_SUM, REDUCE_MAX, REDUCE_MIN};
  for (size_t i = 0; i < COUNT(lengths); i++)
    for (size_t k = 0; k < COUNT(kinds); k++)
      for (i64 rows = 1; rows <= 1000; rows = rows * 6 + 2)
        for (int f = 0; f < 2; f++) {
          check_short_rows(a, rows, lengths[i], f ? DTYPE_f32 : DTYPE_s32, kinds[k]);
          if (k) check_words(a, rows, lengths[i], false, f ? DTYPE_bf16 : DTYPE_f16, kinds[k]);
        }
  check_words(a, 20, 4000, false, DTYPE_bf16, REDUCE_MAX);
  check_words(a, 3, 9000, false, DTYPE_bf16, REDUCE_MIN);
  for (i64 n = 8190; n < 200000; n = n * 2 + 10)
    check_words(a, 1 + n % 2, n, false, DTYPE_f16, REDUCE_MAX);
  check_words(a, 1, 3 * 8192 + 1, false, DTYPE_bf16, REDUCE_MIN);
}
/* The same by column: some of the blocks have NaNs. */
static void test_columns_of_words(arena *a) {
  static const i64 widths[] = {31, 32, 33, 63, 100, 128, 1000, 2060, 5000};
  for (size_t i = 0; i < COUNT(widths); i++)
    for (i64 rows = 2; rows < 300; rows = rows * 3 + 1)
      for (int k = 0; k < 4; k++)
        check_words(a, widths[i], rows, true, k % 2 ? DTYPE_bf16 : DTYPE_f16,
                    k / 2 ? REDUCE_MAX : REDUCE_MIN);
}

/* An even number of rows of x c, results of every other one first: the largest or the smallest; one
 * row in seven has a NaN, one in five zeros of both signs alone. */
static void check_groups(arena *a, i64 rows, i64 n, prog_reducer kind) {
  enum { MOST_ROWS = 70, MOST = 600 };
  const dtype t = DTYPE_f32;
  static float x[MOST_ROWS * MOST], c[MOST], z[MOST_ROWS];
  static const float neutral[] = {-INFINITY, INFINITY};
  u32 seed = 17, bad = 0;
  for (i64 j = 0; j < n; j++) c[j] = (float)(j % 11 + 1);
  for (i64 i = 0; i < rows * n; i++) {
    i64 row = i / n;
    x[i] = floorf(noise(&seed) * 1000);
    if (row % 5 == 4) x[i] = i % 3 ? -0.0f : 0.0f;
    if (row % 7 == 6 && i % n == (row * 37) % n) x[i] = NAN;
  }
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, (u64)(rows * n)), pc = prog_param(b, t, (u64)n);
  u32 out = prog_result(b, t, (u64)rows, -1),
      init = prog_const(b, t, 1, &neutral[kind != REDUCE_MAX]);
  prog_loop *l = prog_add_loop(b, 3, (i64[]){rows / 2, 2, n}, S, L);
  u32 v = vm_load(b, &l->code, t, prog_loop_in(b, l, px, 0, (i64[]){2 * n, n, 1}));
  u32 w = vm_load(b, &l->code, t, prog_loop_in(b, l, pc, 0, (i64[]){0, 0, 1}));
  prog_loop_out(b, l, out, 0, (i64[]){1, rows / 2, 0}, vm_emit(b, &l->code, VM_mul, t, v, w, 0));
  prog_loop_reduce(b, l, 1, &init, (prog_body){.kind = kind});
  CHECK(!*run(b, (void *[]){x, c}, (void *[]){z}));
  for (i64 i = 0; i < rows; i++) {
    float want = neutral[kind != REDUCE_MAX];
    for (i64 j = 0; j < n; j++) {
      float e = x[i * n + j] * c[j];
      bool better = kind == REDUCE_MAX ? e > want || (e == want && signbit(want))
                                       : e < want || (e == want && signbit(e));
      if (want == want && (better || e != e)) want = e;
    }
    float got = z[i / 2 + i % 2 * (rows / 2)];
    bad += want != want ? got == got : got != want || signbit(got) != signbit(want);
  }
  CHECK(bad == 0);
}

static void test_groups(arena *a) {
  static const i64 lengths[] = {64, 65, 100, 128, 200, 512, 513, 600};
  for (size_t i = 0; i < COUNT(lengths); i++)
    for (i64 rows = 8; rows <= 70; rows += rows < 18 ? 2 : 26) {
      check_groups(a, rows, lengths[i], REDUCE_MAX);
      check_groups(a, rows, lengths[i], REDUCE_MIN);
    }
}

/* Of rows in `parts`, with one between them that is left out: (x - m) ^ 2 by column, of whole
 * numbers that are exact in whatever order. */
static void check_columns(arena *a, i64 sets, i64 parts, i64 r, i64 columns, prog_reducer kind) {
  i64 apart = (r + 1) * columns, set = parts * apart;
  size_t n = (size_t)(sets * set), m = (size_t)(sets * columns);
  float *x = malloc(n * 4), *mean = malloc((size_t)columns * 4), *z = malloc(m * 4), init = 3;
  u32 seed = 9;
  for (size_t i = 0; i < n; i++) x[i] = floorf(noise(&seed) * 8);
  for (i64 i = 0; i < columns; i++) mean[i] = (float)(i % 5);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f32, n), pm = prog_param(b, DTYPE_f32, (u64)columns);
  u32 out = prog_result(b, DTYPE_f32, m, -1), c = prog_const(b, DTYPE_f32, 1, &init);
  prog_loop *l = prog_add_loop(b, 4, (i64[]){sets, columns, parts, r}, S, L);
  u32 vx =
      vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, px, 0, (i64[]){set, 1, apart, columns}));
  u32 vm = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, pm, 0, (i64[]){0, 1, 0, 0}));
  u32 v = vm_emit(b, &l->code, VM_sub, DTYPE_f32, vx, vm, 0);
  prog_loop_out(b, l, out, 0, (i64[]){columns, 1, 0, 0},
                vm_emit(b, &l->code, VM_mul, DTYPE_f32, v, v, 0));
  prog_loop_reduce(b, l, 2, &c, (prog_body){.kind = kind});
  CHECK(!*run(b, (void *[]){x, mean}, (void *[]){z}));
  int bad = 0;
  for (size_t i = 0; i < m; i++) {
    i64 at = (i64)i % columns, first = (i64)i / columns * set + at;
    float want = init;
    for (i64 k = 0; k < parts * r; k++) {
      float e = x[first + k / r * apart + k % r * columns] - mean[at];
      want = kind == REDUCE_MAX ? fmaxf(want, e * e) : want + e * e;
    }
    bad += z[i] != want;
  }
  CHECK(bad == 0);
  free(x), free(mean), free(z);
}

/* So much that its parts are read in streams: whole numbers, of which each place has its own. */
static void check_streams(arena *a, i64 n, dtype t) {
  size_t size = dtype_size(t);
  char *x = malloc((size_t)n * size), zero[8] = {0}, z[8];
  double want = 0;
  for (i64 i = 0; i < n; i++) {
    double v = (double)(i * 7 % 61 - 30);
    num_from_f64(t, v, x + (size_t)i * size);
    want += v;
  }
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, (u64)n), out = prog_result(b, t, 1, -1);
  u32 c = prog_const(b, t, 1, zero);
  prog_loop *l = prog_add_loop(b, 1, &n, S, L);
  u32 v = vm_load(b, &l->code, t, prog_loop_in(b, l, px, 0, (i64[]){1}));
  prog_loop_out(b, l, out, 0, (i64[]){0}, v);
  prog_loop_reduce(b, l, 1, &c, (prog_body){.kind = REDUCE_SUM});
  CHECK(!*run(b, (void *[]){x}, (void *[]){z}));
  CHECK(num_to_f64(t, z) == want);
  free(x);
}

/* What (k0, r, k1) leaves of x, of x * x and of x - 1, which are done together: whole numbers. */
static void check_together(arena *a, i64 k0, i64 r, i64 k1, dtype t, prog_reducer kind) {
  size_t n = (size_t)(k0 * r * k1), m = (size_t)(k0 * k1);
  bool f = t == DTYPE_f32;
  i32 *x = malloc(n * 4), *z[3], first[3], one = as_element(f, 1);
  u32 seed = 13;
  for (size_t i = 0; i < n; i++) x[i] = as_element(f, (i32)(noise(&seed) * 5));
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, n);
  for (i32 o = 0; o < 3; o++) {
    first[o] = as_element(f, o + 1), z[o] = malloc(m * 4);
    u32 out = prog_result(b, t, m, -1), init = prog_const(b, t, 1, &first[o]);
    prog_loop *l = prog_add_loop(b, 3, (i64[]){k0, k1, r}, S, L);
    u32 v = vm_load(b, &l->code, t, prog_loop_in(b, l, px, 0, (i64[]){r * k1, 1, k1}));
    if (o == 1) v = vm_emit(b, &l->code, VM_mul, t, v, v, 0);
    if (o == 2) v = vm_emit(b, &l->code, VM_sub, t, v, vm_const_bits(b, &l->code, t, &one), 0);
    prog_loop_out(b, l, out, 0, (i64[]){k1, 1, 0}, v);
    prog_loop_reduce(b, l, 1, &init, (prog_body){.kind = kind});
  }
  CHECK(!*run(b, (void *[]){x}, (void *[]){z[0], z[1], z[2]}));
  int bad = 0;
  for (size_t i = 0; i < m; i++) {
    double want[] = {1, 2, 3};
    for (i64 q = 0; q < r; q++) {
      double e = number(f, x[((i64)i / k1 * r + q) * k1 + (i64)i % k1]), of[] = {e, e * e, e - 1};
      for (u32 o = 0; o < 3; o++)
        want[o] = kind == REDUCE_SUM ? want[o] + of[o] : fmax(want[o], of[o]);
    }
    for (u32 o = 0; o < 3; o++) bad += number(f, z[o][i]) != want[o];
  }
  CHECK(bad == 0);
  free(x);
  for (u32 o = 0; o < 3; o++) free(z[o]);
}

/* The last of them are cut in parts. */
static void test_together(arena *a) {
  static const i64 shapes[][3] = {{1, 3000, 1},   {1, 100000, 1}, {5, 3000, 1},   {1000, 7, 1},
                                  {300, 64, 1},   {90, 200, 1},   {1, 640, 16},   {3, 400, 64},
                                  {2, 90, 300},   {1, 40, 700},   {4, 33, 129},   {1, 16, 16},
                                  {1, 600000, 1}, {2, 40000, 16}, {1, 20000, 64}, {1, 2000, 300},
                                  {1, 300, 2000}, {4, 131072, 1}, {1, 262147, 1}, {1, 5000, 100}};
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (u32 k = 0; k < 4; k++)
      check_together(a, shapes[i][0], shapes[i][1], shapes[i][2], k % 2 ? DTYPE_f32 : DTYPE_s32,
                     k / 2 ? REDUCE_SUM : REDUCE_MAX);
}

static void test_reduce(arena *a) {
  static const i64 shapes[][3] = {{1, 1, 1},    {1, 100000, 1}, {5, 3000, 1}, {1000, 7, 1},
                                  {4, 33, 129}, {1, 64, 64},    {3, 5000, 3}, {7, 0, 2},
                                  {0, 5, 2},    {64, 64, 1},    {3, 26, 156}, {2, 50, 1000},
                                  {1, 8, 1024}, {1, 300, 1025}};
  for (size_t i = 0; i < COUNT(shapes); i++) {
    check_reduce(a, shapes[i][0], shapes[i][1], shapes[i][2], REDUCE_SUM);
    check_reduce(a, shapes[i][0], shapes[i][1], shapes[i][2], REDUCE_MAX);
  }
  static const i64 columns[][4] = {{1, 1, 9000, 16}, {3, 2, 700, 24},  {2, 300, 3, 64},
                                   {1, 2, 999, 7},   {5, 1, 400, 300}, {1, 3, 333, 512},
                                   {2, 1, 8, 129},   {1, 5, 101, 2}};
  for (size_t i = 0; i < COUNT(columns); i++) {
    const i64 *k = columns[i];
    check_columns(a, k[0], k[1], k[2], k[3], REDUCE_SUM);
    check_columns(a, k[0], k[1], k[2], k[3], REDUCE_MAX);
  }
  check_argmax(a, 3, 10000);
  check_argmax(a, 5000, 10);
  check_argmax(a, 1, 1);
  check_argmax(a, 40, 70);
  check_argmax(a, 40, 10);
  check_argmax(a, 9, 16);
  check_rounding(a, 2, 1);
  check_rounding(a, 40, 32);
}

/* x -> a x + b, and then c x + d: x -> ca x + (cb + d). It does not commute. */
static prog_body affine(prog_builder *b) {
  prog_body body = {0};
  vm_code *code = &body.code;
  u32 v[4];
  for (u32 i = 0; i < 4; i++) v[i] = vm_load(b, code, DTYPE_u32, i);
  u32 scaled = vm_emit(b, code, VM_mul, DTYPE_u32, v[2], v[1], 0);
  vm_store(b, code, 0, vm_emit(b, code, VM_mul, DTYPE_u32, v[2], v[0], 0));
  vm_store(b, code, 1, vm_emit(b, code, VM_add, DTYPE_u32, scaled, v[3], 0));
  return body;
}
typedef struct map {
  u32 a, b;
} map;
static map then(map x, map y) { return (map){y.a * x.a, y.a * x.b + y.b}; }
static map map_at(i64 i) { return (map){2 * (u32)i + 3, (u32)(i * i) + 1}; }
/* map_at of elements 0..n */
static void fill_maps(i64 n, u32 *x, u32 *y) {
  for (i64 i = 0; i < n; i++) x[i] = map_at(i).a, y[i] = map_at(i).b;
}

/* Maps of shape dims over those dims that are named, first to last, after an initial one. */
static void check_order(arena *a, const i64 *dims, const bool *reduced) {
  size_t n = (size_t)(dims[0] * dims[1] * dims[2]), kept = 0, m = 1;
  i64 order[3], in[3], out[3] = {0}, stride[3] = {dims[1] * dims[2], dims[2], 1};
  u32 at = 0;
  for (u32 pass = 0; pass < 2; pass++)
    for (u32 d = 0; d < 3; d++)
      if (reduced[d] == pass) order[at] = dims[d], in[at++] = stride[d], kept += !pass;
  for (size_t d = kept; d-- > 0; m *= (size_t)order[d]) out[d] = (i64)m;
  u32 *x[2], *z[2], init[2] = {5, 7};
  for (u32 i = 0; i < 2; i++) x[i] = malloc(n * 4), z[i] = malloc(m * 4);
  fill_maps((i64)n, x[0], x[1]);
  prog_builder *b = prog_begin(a, 1, 1);
  prog_loop *l = prog_add_loop(b, 3, order, S, L);
  u32 zero[2];
  for (u32 i = 0; i < 2; i++) {
    u32 load = prog_loop_in(b, l, prog_param(b, DTYPE_u32, n), 0, in);
    u32 v = vm_load(b, &l->code, DTYPE_u32, load);
    prog_loop_out(b, l, prog_result(b, DTYPE_u32, m, -1), 0, out, v);
    zero[i] = prog_const(b, DTYPE_u32, 1, &init[i]);
  }
  prog_loop_reduce(b, l, 3 - (u32)kept, zero, affine(b));
  CHECK(!*run(b, (void *[]){x[0], x[1]}, (void *[]){z[0], z[1]}));
  map *want = malloc(m * sizeof *want);
  for (size_t i = 0; i < m; i++) want[i] = (map){init[0], init[1]};
  for (i64 i = 0; i < (i64)n; i++) {
    i64 index[3] = {i / stride[0], i / stride[1] % dims[1], i % dims[2]};
    size_t to = 0, q = 0;
    for (u32 d = 0; d < 3; d++)
      if (!reduced[d]) to += (size_t)(index[d] * out[q++]);
    want[to] = then(want[to], map_at(i));
  }
  int bad = 0;
  for (size_t i = 0; i < m; i++) bad += z[0][i] != want[i].a || z[1][i] != want[i].b;
  CHECK(bad == 0);
  for (u32 i = 0; i < 2; i++) free(x[i]), free(z[i]);
  free(want);
}

static void test_order(arena *a) {
  static const i64 dims[][3] = {{1, 20, 20},   {2, 32, 7},    {1, 31, 600},   {1, 1, 1},
                                {1, 1, 100},   {1, 3, 2047},  {1, 1, 100001}, {5, 7, 11},
                                {65, 3, 1000}, {3, 1000, 5},  {2, 2049, 3},   {300, 4, 4},
                                {1, 300, 257}, {1, 1, 6},     {20000, 1, 3},  {3, 16, 20},
                                {8, 5, 64},    {4, 33000, 2}, {2, 3, 4099}};
  for (size_t i = 0; i < COUNT(dims); i++)
    for (u32 set = 1; set < 8; set++) check_order(a, dims[i], (bool[]){set & 1, set & 2, set & 4});
}

/* Maps over windows of (outer, n, inner) along n: all before an element or all after it, or the
 * `size` from it on. */
static void check_windows(arena *a, i64 outer, i64 n, i64 inner, i64 size, bool backward) {
  size_t total = (size_t)(outer * n * inner);
  i64 window = size ? size : n, count = size ? n - size + 1 : n;
  u32 *x[2], *z[2], in[2], out[2], init[2], first[2] = {3, 5};
  prog_builder *b = prog_begin(a, 1, 1);
  for (u32 i = 0; i < 2; i++) {
    x[i] = malloc(total * 4), z[i] = malloc(total * 4);
    in[i] = prog_param(b, DTYPE_u32, total);
    out[i] = prog_result(b, DTYPE_u32, (u64)(outer * count * inner), -1);
    init[i] = prog_const(b, DTYPE_u32, 1, &first[i]);
  }
  fill_maps((i64)total, x[0], x[1]);
  prog_window w = {.n = 2,
                   .rank = 3,
                   .in = in,
                   .init = init,
                   .out = out,
                   .dims = {outer, n, inner},
                   .out_dims = {outer, count, inner},
                   .window = {1, window, 1},
                   .stride = {1, 1, 1},
                   .base_dilation = {1, 1, 1},
                   .window_dilation = {1, 1, 1},
                   .pad_low = {0, size || backward ? 0 : n - 1, 0},
                   .body = affine(b)};
  prog_add_window(b, &w, S, L);
  CHECK(!*run(b, (void *[]){x[0], x[1]}, (void *[]){z[0], z[1]}));
  int bad = 0;
  for (i64 o = 0; o < outer; o++)
    for (i64 j = 0; j < inner; j++) {
      map begin = {first[0], first[1]}, sofar = {1, 0};
      for (i64 k = 0; k < count; k++) {
        i64 at = backward ? n - 1 - k : k;
        map m = map_at((o * n + at) * inner + j);
        sofar = size ? (map){1, 0} : backward ? then(m, sofar) : then(sofar, m);
        for (i64 q = 0; q < size; q++) sofar = then(sofar, map_at((o * n + at + q) * inner + j));
        i64 to = (o * count + at) * inner + j;
        map want = then(begin, sofar);
        bad += z[0][to] != want.a || z[1][to] != want.b;
      }
    }
  CHECK(bad == 0);
  for (u32 i = 0; i < 2; i++) free(x[i]), free(z[i]);
}

static void test_windows(arena *a) {
  static const i64 dims[][3] = {{1, 2, 1},    {1, 16, 1},    {1, 17, 1},    {3, 4096, 1},
                                {2, 4097, 1}, {1, 9001, 1},  {2, 300, 5},   {1, 5000, 3},
                                {2, 70, 16},  {1, 300, 700}, {1, 70000, 1}, {1, 5000, 17}};
  for (size_t i = 0; i < COUNT(dims); i++)
    for (int backward = 0; backward < 2; backward++)
      check_windows(a, dims[i][0], dims[i][1], dims[i][2], 0, backward);
  check_windows(a, 2, 1000, 2, 3, false);
  check_windows(a, 1, 40, 1, 39, false);
  check_windows(a, 1, 40000, 1, 39990, false);
}

/* Running sums of `length` numbers stay as near as sums of a tree do. */
static void check_running(arena *a, i64 length, i64 inner, dtype t) {
  size_t n = (size_t)(length * inner), size = dtype_size(t);
  char *x = malloc(n * size), *z = malloc(n * size);
  u32 seed = 5, zero[2] = {0, 0};
  for (size_t i = 0; i < n; i++) num_from_f64(t, fabs(noise(&seed)), x + i * size);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, t, n), out = prog_result(b, t, n, -1), init = prog_const(b, t, 1, zero);
  prog_window w = {.n = 1,
                   .rank = 2,
                   .in = &p,
                   .init = &init,
                   .out = &out,
                   .dims = {length, inner},
                   .out_dims = {length, inner},
                   .window = {length, 1},
                   .stride = {1, 1},
                   .base_dilation = {1, 1},
                   .window_dilation = {1, 1},
                   .pad_low = {length - 1, 0},
                   .body = {.kind = REDUCE_SUM}};
  prog_add_window(b, &w, S, L);
  CHECK(!*run(b, (void *[]){x}, (void *[]){z}));
  double most = 0;
  for (i64 j = 0; j < inner; j++) {
    double want = 0;
    for (i64 i = 0; i < length; i++) {
      size_t at = (size_t)(i * inner + j) * size;
      want += num_to_f64(t, x + at);
      double error = fabs(num_to_f64(t, z + at) - want) / want;
      most = error > most ? error : most;
    }
  }
  CHECK(most < (t == DTYPE_f32 ? 1e-6 : 4e-3));
  free(x), free(z);
}

/* Sums of more ones than an f32 counts, in rows and in columns. */
static void check_ones(arena *a, i64 columns, i64 length, dtype t) {
  size_t size = dtype_size(t), parts = t == DTYPE_c64 || t == DTYPE_c128 ? 2 : 1;
  char one[16], zero[16] = {0}, *z = malloc((size_t)columns * size);
  dtype part = size / parts == 8 ? DTYPE_f64 : DTYPE_f32;
  for (size_t i = 0; i < parts; i++) num_from_f64(part, 1, one + i * size / parts);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, t, 1), out = prog_result(b, t, (u64)columns, -1);
  u32 init = prog_const(b, t, 1, zero);
  prog_loop *l = prog_add_loop(b, 2, (i64[]){columns, length}, S, L);
  u32 v = vm_load(b, &l->code, t, prog_loop_in(b, l, p, 0, (i64[]){0, 0}));
  prog_loop_out(b, l, out, 0, (i64[]){1, 0}, v);
  prog_loop_reduce(b, l, 1, &init, (prog_body){.kind = REDUCE_SUM});
  CHECK(!*run(b, (void *[]){one}, (void *[]){z}));
  int bad = 0;
  for (size_t i = 0; i < (size_t)columns * parts; i++)
    bad += num_to_f64(part, z + i * size / parts) != (double)length;
  CHECK(bad == 0);
  free(z);
}

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  test_reduce(a);
  test_together(a);
  check_streams(a, 1 << 22, DTYPE_f32);
  check_streams(a, 1 << 22, DTYPE_f64);
  check_streams(a, 33 << 13, DTYPE_f32);
  test_short_rows(a);
  test_groups(a);
  test_columns_of_words(a);
  test_lines(a);
  test_columns_of_calls(a);
  test_order(a);
  test_windows(a);
  check_running(a, 3000000, 1, DTYPE_f32);
  check_running(a, 100000, 20, DTYPE_f32);
  check_running(a, 100000, 1, DTYPE_bf16);
  check_ones(a, 1, 100000000, DTYPE_f32);
  check_ones(a, 1, 50000000, DTYPE_c64);
  check_ones(a, 1, 300000, DTYPE_c128);
  check_ones(a, 17, 20000000, DTYPE_f32);
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
