/* Sorts, by keys and by the comparator itself. */
#include <math.h>

#include "exec/sort_words.h"
#include "num/convert.h"
#include "tests/exec.h"

static void test_sort(arena *a, i64 n, bool generic) {
  float *x = malloc((size_t)n * 4), *y = malloc((size_t)n * 4);
  i32 *ix = malloc((size_t)n * 4), *iy = malloc((size_t)n * 4);
  u32 seed = 5;
  for (i64 i = 0; i < n; i++) x[i] = floorf(noise(&seed) * 50), ix[i] = (i32)i;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 in[] = {prog_param(b, DTYPE_f32, (u64)n), prog_param(b, DTYPE_s32, (u64)n)};
  u32 out[] = {prog_result(b, DTYPE_f32, (u64)n, -1), prog_result(b, DTYPE_s32, (u64)n, -1)};
  prog_sort s = {.n = 2, .in = in, .out = out, .outer = 1, .size = n, .inner = 1, .keep = n};
  u32 l = vm_load(b, &s.less, DTYPE_f32, 0), r = vm_load(b, &s.less, DTYPE_f32, 1);
  vm_store(b, &s.less, 0, vm_emit(b, &s.less, generic ? VM_lt : VM_total_lt, DTYPE_pred, l, r, 0));
  prog_add_sort(b, &s, S, L);
  CHECK(!*run(b, (void *[]){x, ix}, (void *[]){y, iy}));
  int bad = 0;
  for (i64 i = 1; i < n; i++)
    bad += y[i - 1] > y[i] || (y[i - 1] == y[i] && iy[i - 1] >= iy[i]) || x[iy[i]] != y[i];
  CHECK(bad == 0);
  free(x), free(y), free(ix), free(iy);
}

/* By one operand, and the other one backwards where that is equal; as 8 bytes they are more than a
 * word. From some sorted runs, or anyhow. */
static void test_sort_keys(arena *a, i64 n, bool wide, i64 runs) {
  double *x = malloc((size_t)n * 8), *y = malloc((size_t)n * 8);
  i64 *ix = malloc((size_t)n * 8), *iy = malloc((size_t)n * 8);
  u32 seed = 5;
  for (i64 i = 0; i < n; i++) {
    i64 at = runs ? i % (n / runs) : (i64)floorf(noise(&seed) * 90);
    double v = (double)(at / 3);
    i64 other = runs ? -i : (i64)floorf(noise(&seed) * 7);
    if (wide)
      x[i] = v, ix[i] = other;
    else
      ((float *)x)[i] = (float)v, ((i32 *)ix)[i] = (i32)other;
  }
  dtype t[] = {wide ? DTYPE_f64 : DTYPE_f32, wide ? DTYPE_s64 : DTYPE_s32};
  prog_builder *b = prog_begin(a, 1, 1);
  u32 in[] = {prog_param(b, t[0], (u64)n), prog_param(b, t[1], (u64)n)};
  u32 out[] = {prog_result(b, t[0], (u64)n, -1), prog_result(b, t[1], (u64)n, -1)};
  prog_sort s = {.n = 2, .in = in, .out = out, .outer = 1, .size = n, .inner = 1, .keep = n};
  u32 v[4];
  for (u32 i = 0; i < 4; i++) v[i] = vm_load(b, &s.less, t[i / 2], i);
  u32 less = vm_emit(b, &s.less, VM_total_lt, DTYPE_pred, v[0], v[1], 0);
  u32 same = vm_emit(b, &s.less, VM_total_eq, DTYPE_pred, v[0], v[1], 0);
  u32 next = vm_emit(b, &s.less, VM_gt, DTYPE_pred, v[2], v[3], 0);
  next = vm_emit(b, &s.less, VM_and, DTYPE_pred, same, next, 0);
  vm_store(b, &s.less, 0, vm_emit(b, &s.less, VM_or, DTYPE_pred, less, next, 0));
  prog_add_sort(b, &s, S, L);
  CHECK(!*run(b, (void *[]){x, ix}, (void *[]){y, iy}));
  int bad = 0;
  double sum = 0, last = -INFINITY;
  i64 last_other = 0;
  for (i64 i = 0; i < n; i++) {
    double now = wide ? y[i] : (double)((float *)y)[i];
    i64 other = wide ? iy[i] : ((i32 *)iy)[i];
    bad += last > now || (last == now && last_other < other);
    sum += now - (wide ? x[i] : (double)((float *)x)[i]);
    last = now, last_other = other;
  }
  CHECK(bad == 0 && sum == 0);
  free(x), free(y), free(ix), free(iy);
}

/* The first of each of several lines, in the middle dimension, and their places. */
static void test_sort_few(arena *a, i64 n, i64 keep, bool generic) {
  enum { OUTER = 2, INNER = 3 };
  i64 in = OUTER * n * INNER, few = OUTER * keep * INNER;
  float *x = malloc((size_t)in * 4), *y = malloc((size_t)few * 4);
  i32 *at = malloc((size_t)few * 4);
  u32 seed = 9;
  for (i64 i = 0; i < in; i++) x[i] = floorf(noise(&seed) * 90);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 from[] = {prog_param(b, DTYPE_f32, (u64)in), PROG_NONE};
  u32 to[] = {prog_result(b, DTYPE_f32, (u64)few, -1), prog_result(b, DTYPE_s32, (u64)few, -1)};
  prog_sort s = {.n = 2, .in = from, .out = to, .outer = OUTER, .size = n, .inner = INNER};
  s.keep = keep;
  u32 l = vm_load(b, &s.less, DTYPE_f32, 0), r = vm_load(b, &s.less, DTYPE_f32, 1);
  vm_store(b, &s.less, 0, vm_emit(b, &s.less, generic ? VM_gt : VM_total_gt, DTYPE_pred, l, r, 0));
  prog_add_sort(b, &s, S, L);
  CHECK(!*run(b, (void *[]){x}, (void *[]){y, at}));
  int bad = 0;
  for (i64 line = 0; line < OUTER * INNER; line++) {
    const float *xs = x + line / INNER * n * INNER + line % INNER;
    i64 begin = line / INNER * keep * INNER + line % INNER;
    for (i64 k = 0; k < keep; k++) {
      i64 here = begin + k * INNER, before = 0;
      for (i64 i = 0; i < n; i++)
        before += xs[i * INNER] > y[here] || (xs[i * INNER] == y[here] && i < at[here]);
      bad += before != k || xs[at[here] * INNER] != y[here];
    }
  }
  CHECK(bad == 0);
  free(x), free(y), free(at);
}

/* The one operand is all there is, by itself or by its size, -0 with 0 and x with -x, in the middle
 * dimension; `odd` of a thousand elements are not what their integer stands for. */
static void test_sort_alone(arena *a, dtype t, i64 n, i64 inner, bool down, bool size, i64 odd) {
  size_t w = dtype_size(t);
  char *x = calloc((size_t)(n * inner), w), *y = calloc((size_t)(n * inner), w);
  u32 seed = 3;
  for (i64 i = 0; i < n * inner; i++) {
    float v = floorf(noise(&seed) * 40000);
    if (size && i % 1000 < odd) v = -v;
    num_from_f64(t, v, x + (size_t)i * w);
  }
  prog_builder *b = prog_begin(a, 1, 1);
  u32 in = prog_param(b, t, (u64)(n * inner)), out = prog_result(b, t, (u64)(n * inner), -1);
  prog_sort s = {.n = 1, .in = &in, .out = &out, .outer = 1, .size = n, .inner = inner, .keep = n};
  u32 v[2];
  for (u32 i = 0; i < 2; i++) {
    v[i] = vm_load(b, &s.less, t, i);
    if (size) v[i] = vm_emit(b, &s.less, VM_abs, t, v[i], 0, 0);
  }
  vm_op less = dtype_infos[t].kind != DTYPE_CLASS_FLOAT ? down ? VM_gt : VM_lt
               : down                                   ? VM_total_gt
                                                        : VM_total_lt;
  vm_store(b, &s.less, 0, vm_emit(b, &s.less, less, DTYPE_pred, v[0], v[1], 0));
  prog_add_sort(b, &s, S, L);
  CHECK(!*run(b, (void *[]){x}, (void *[]){y}));
  int bad = 0;
  for (i64 k = 0; k < inner; k++) { /* by insertion, which is stable */
    double *want = malloc((size_t)n * sizeof *want);
    for (i64 i = 0, j; i < n; i++) {
      double e = num_to_f64(t, x + (size_t)(i * inner + k) * w), f = size ? fabs(e) : e;
      for (j = i; j > 0; j--) {
        double g = size ? fabs(want[j - 1]) : want[j - 1];
        if (down ? g >= f : g <= f) break;
        want[j] = want[j - 1];
      }
      want[j] = e;
    }
    for (i64 i = 0; i < n; i++) {
      char bytes[8];
      num_from_f64(t, want[i], bytes);
      bad += memcmp(bytes, y + (size_t)(i * inner + k) * w, w) != 0;
    }
    free(want);
  }
  CHECK(bad == 0);
  free(x), free(y);
}

/* Many lines, sorted several at once: of the numbers by themselves, or with their places and a
 * payload; by their size, -x is odd. */
static void test_sort_lines(arena *a, dtype t, dtype p, const i64 *shape, bool alone, bool size) {
  i64 outer = shape[0], n = shape[1], inner = shape[2], keep = shape[3];
  i64 all = outer * n * inner, kept = outer * keep * inner;
  size_t w = dtype_size(t);
  char *x = calloc((size_t)all, w), *y = calloc((size_t)kept, w);
  size_t wide = dtype_size(p);
  char *load = calloc((size_t)all, wide), *got = calloc((size_t)kept, wide);
  i32 *at = malloc((size_t)kept * sizeof *at);
  u32 seed = 7;
  for (i64 i = 0; i < all; i++) {
    num_from_f64(t, floorf(noise(&seed) * 20) * (noise(&seed) < 0 ? -1 : 1), x + (size_t)i * w);
    load[(size_t)(i + 1) * wide - 1] = (char)(i * 7 / inner);
  }
  prog_builder *b = prog_begin(a, 1, 1);
  u32 in[] = {prog_param(b, t, (u64)all), PROG_NONE, PROG_NONE};
  u32 out[] = {prog_result(b, t, (u64)kept, -1), PROG_NONE, PROG_NONE};
  if (!alone) {
    in[2] = prog_param(b, p, (u64)all);
    out[1] = prog_result(b, DTYPE_s32, (u64)kept, -1);
    out[2] = prog_result(b, p, (u64)kept, -1);
  }
  prog_sort s = {.n = alone ? 1 : 3, .in = in, .out = out, .outer = outer, .size = n};
  s.inner = inner, s.keep = keep;
  u32 v[2];
  for (u32 i = 0; i < 2; i++) {
    v[i] = vm_load(b, &s.less, t, i);
    if (size) v[i] = vm_emit(b, &s.less, VM_abs, t, v[i], 0, 0);
  }
  vm_op less = dtype_infos[t].kind == DTYPE_CLASS_FLOAT ? VM_total_gt : VM_gt;
  vm_store(b, &s.less, 0, vm_emit(b, &s.less, less, DTYPE_pred, v[0], v[1], 0));
  prog_add_sort(b, &s, S, L);
  CHECK(!*run(b, (void *[]){x, load}, (void *[]){y, at, got}));
  int bad = 0;
  i64 *want = malloc((size_t)n * sizeof *want);
  for (i64 line = 0; line < outer * inner; line++) {
    i64 from = line / inner * n * inner + line % inner, to = line / inner * keep * inner;
    for (i64 i = 0, j; i < n; i++) { /* by insertion, which is stable */
      double f = num_to_f64(t, x + (size_t)(from + i * inner) * w);
      for (j = i; j > 0; j--) {
        double g = num_to_f64(t, x + (size_t)(from + want[j - 1] * inner) * w);
        if (size ? fabs(g) >= fabs(f) : g > f || (g == f && signbit(g) <= signbit(f))) break;
        want[j] = want[j - 1];
      }
      want[j] = i;
    }
    for (i64 i = 0; i < keep; i++) {
      i64 here = to + line % inner + i * inner, there = from + want[i] * inner;
      bad += memcmp(y + (size_t)here * w, x + (size_t)there * w, w) != 0;
      bad += !alone && (at[here] != want[i] ||
                        memcmp(got + (size_t)here * wide, load + (size_t)there * wide, wide) != 0);
    }
  }
  CHECK(bad == 0);
  free(want), free(x), free(y), free(load), free(got), free(at);
}

/* Of so many sorted runs, the last one short, as words of both widths. */
static void test_sort_words(size_t runs) {
  enum { N = 3000 };
  for (u32 width = 4; width <= 8; width += 4) {
    u64 *x = calloc(N, 8), *spare = calloc(N, 8), sum = 0, got = 0, bad = 0;
    for (size_t i = 0; i < N; i++) {
      u64 k = i % (N / runs + 7), v = k * k * (width == 4 ? 1 : 1ull << 33);
      sum += v;
      memcpy((char *)x + i * width, &v, width);
    }
    const char *y = sort_words(x, spare, N, width);
    for (u64 i = 0, v = 0, last = 0; i < N; i++, last = v) {
      v = 0;
      memcpy(&v, y + i * width, width);
      got += v, bad += v < last;
    }
    CHECK(bad == 0 && got == sum);
    free(x), free(spare);
  }
}

int main(void) {
  arena a;
  if (setjmp(trap.at)) return 1;
  arena_init(&a, &mem_system, &trap);
  status s = exec_create(&(exec_options){.kind = "cpu", .threads = 2}, &pool);
  CHECK(!s);
  for (int generic = 0; generic < 2; generic++) {
    test_sort(&a, 1000, generic);
    test_sort(&a, 20, generic);
    test_sort_few(&a, 500, 7, generic);
    test_sort_few(&a, 5000, 5, generic); /* in several blocks */
    test_sort_few(&a, 40, 8, generic);
    test_sort_few(&a, 17, 3, generic);
    test_sort_few(&a, 1030, 2, generic);
    test_sort_few(&a, 100, 1, generic);
    test_sort_few(&a, 9, 2, generic);
    test_sort_few(&a, 8, 1, generic);
    test_sort_few(&a, 64, 4, generic);
    test_sort_few(&a, 9, 6, generic);
    test_sort_few(&a, 4000, 300, generic);
  }
  for (i64 runs = 0; runs <= 24; runs += 6) {
    test_sort_keys(&a, 1000, false, runs);
    test_sort_keys(&a, 1000, true, runs);
  }
  static const dtype alone[] = {DTYPE_f32, DTYPE_f64, DTYPE_s32, DTYPE_s64, DTYPE_u32, DTYPE_u64};
  for (size_t i = 0; i < COUNT(alone); i++)
    for (i64 n = 30; n < 4000; n = n * 9 + 7)
      for (int down = 0; down < 2; down++) {
        test_sort_alone(&a, alone[i], n, 1, down, false, 0);
        test_sort_alone(&a, alone[i], n, 3, down, false, 0);
      }
  for (i64 odd = 0; odd <= 1000; odd = odd * 10 + 1)
    for (int down = 0; down < 2; down++) {
      test_sort_alone(&a, DTYPE_f32, 2500, 1, down, true, odd);
      test_sort_alone(&a, DTYPE_f64, 2500, 2, down, true, odd);
    }
  static const i64 shapes[][4] = {{37, 20, 1, 20}, {2, 33, 21, 33}, {3, 70, 6, 40},
                                  {1, 2, 40, 2},   {18, 1, 1, 1},   {9, 12, 1, 5},
                                  {5, 100, 3, 9},  {1, 300, 17, 20}};
  static const dtype types[] = {DTYPE_f32, DTYPE_bf16, DTYPE_s32, DTYPE_f64, DTYPE_s8};
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (size_t k = 0; k < COUNT(types); k++)
      for (int how = 0; how < 4; how++)
        test_sort_lines(&a, types[k], k ? DTYPE_u8 : DTYPE_c128, shapes[i], how % 2, how / 2);
  for (size_t runs = 1; runs < 30; runs += 3) test_sort_words(runs);
  executor_release(pool);
  arena_deinit(&a);
  return UNIT_END();
}
