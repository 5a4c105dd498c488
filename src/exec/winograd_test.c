/* Convolutions by tiles, and their gradients by the kernel, against sums one after the other. */
#include <math.h>

#include "program/parts.h"
#include "tests/exec.h"

/* Images, results' rows and columns, features of the input and of the results, the kernel's taps.
 */
enum { N, Y, X, C, K, I, J, DIMS };
enum { IN, KERNEL, OUT, TENSORS };

/* Sizes, and the order of dims in memory. */
typedef struct shape {
  i64 size[DIMS];
  const char *order[TENSORS];
  bool backward; /* the kernel's taps */
} shape;

/* By tensor and dim; the input's rows and columns are those of taps as well. */
typedef struct strides {
  i64 of[TENSORS][DIMS];
  size_t count[TENSORS];
  i64 first; /* the kernel's first tap */
} strides;

static strides find_strides(const shape *s) {
  static const char names[] = "nyxckij";
  strides r = {.count = {1, 1, 1}};
  for (u32 o = 0; o < TENSORS; o++)
    for (size_t i = 4; i-- > 0;) {
      u32 d = (u32)(strchr(names, s->order[o][i]) - names);
      r.of[o][d] = (i64)r.count[o];
      r.count[o] *= (size_t)(s->size[d] + (o == IN && (d == Y || d == X) ? 2 : 0));
    }
  r.of[IN][I] = r.of[IN][Y], r.of[IN][J] = r.of[IN][X];
  for (u32 d = I; d <= J && s->backward; d++) {
    r.first += 2 * r.of[KERNEL][d];
    r.of[KERNEL][d] *= -1;
  }
  return r;
}

/* Adds up the tensor `result` of the other two. */
static void add_up(const shape *s, const strides *t, float *const *in, u32 result, double *sums) {
  i64 at[DIMS] = {0}, off[TENSORS] = {0, t->first, 0};
  u32 a = result == IN ? KERNEL : IN, b = result == OUT ? KERNEL : OUT;
  for (bool more = true; more;) {
    sums[off[result]] += (double)in[a][off[a]] * in[b][off[b]];
    more = false;
    for (u32 d = DIMS; d-- > 0 && !more;) {
      more = ++at[d] < s->size[d];
      for (u32 o = 0; o < TENSORS; o++) off[o] += more ? t->of[o][d] : -(at[d] - 1) * t->of[o][d];
      if (!more) at[d] = 0;
    }
  }
}

/* The program, by tiles as it is to be, through its bytes. */
static const program *make(arena *a, const shape *s, const strides *t, u32 result, bool by_tiles) {
  static const u8 forward[] = {N, Y, X, K, I, J, C}, gradient[] = {C, I, J, K, Y, X, N};
  const u8 *order = result == OUT ? forward : gradient;
  u32 from = result == OUT ? KERNEL : OUT;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 in = prog_param(b, DTYPE_f32, t->count[IN]), by = prog_param(b, DTYPE_f32, t->count[from]);
  u32 out = prog_result(b, DTYPE_f32, t->count[result], -1);
  i64 dims[DIMS], ls[DIMS], rs[DIMS], os[DIMS];
  for (u32 i = 0; i < DIMS; i++) {
    u32 d = order[i];
    dims[i] = s->size[d];
    ls[i] = t->of[IN][d], rs[i] = t->of[from][d], os[i] = t->of[result][d];
  }
  prog_dot d = {in, by, out, 0, 3, 1, 3, dims, ls, rs, os};
  *(result == OUT ? &d.rhs_offset : &d.out_offset) = t->first;
  prog_add_tiles(b, &d, S, L);
  CHECK(d.by_tiles == by_tiles);
  prog_add_dot(b, &d, S, L);
  const program *p = finish(b), *again;
  buf bytes;
  buf_init(&bytes, &mem_system);
  program_serialize(p, &bytes);
  CHECK(!program_deserialize(a, buf_view(&bytes), &again));
  buf_deinit(&bytes);
  return again;
}

static void run_on(executor *on, const program *p, float *const *m, u32 result, float *out) {
  executor_image *im = make_image(p);
  CHECK(!*run_image(on, im, (void *[]){m[IN], m[result == OUT ? KERNEL : OUT]}, (void *[]){out}));
  exec_image_release(im);
}

/* Of small whole numbers sums of any order are exact. Of every `rare` elements of the input one is
 * `other`. */
static void check(arena *a, const shape *s, u32 result, bool by_tiles, size_t rare, float other) {
  strides t = find_strides(s);
  float *m[TENSORS];
  double *sums = calloc(t.count[result], sizeof *sums);
  u32 seed = 7;
  for (u32 o = 0; o < TENSORS; o++) {
    m[o] = calloc(t.count[o], 4);
    for (size_t i = 0; i < t.count[o]; i++) m[o][i] = floorf(noise(&seed) * (o == IN ? 4 : 2));
  }
  for (size_t i = rare / 2, odd = 0; rare && i < t.count[IN]; i += rare, odd ^= 1)
    m[IN][i] = odd ? other : -other;
  add_up(s, &t, m, result, sums);
  memset(m[result], 0, t.count[result] * 4);
  run_on(pool, make(a, s, &t, result, by_tiles), m, result, m[result]);
  size_t bad = 0;
  for (size_t i = 0; i < t.count[result]; i++) {
    float got = m[result][i], want = (float)sums[i];
    bad += got != want && !(isnan(got) && isnan(want));
  }
  CHECK(bad == 0);
  free(m[IN]), free(m[KERNEL]), free(m[OUT]), free(sums);
}

/* Numbers that are not whole: about as near as sums one by one, and the same bits however many
 * threads there are. */
static void check_bits(arena *a, const shape *s, u32 result) {
  strides t = find_strides(s);
  float *m[TENSORS], *second = calloc(t.count[result], 4);
  double *sums = calloc(t.count[result], sizeof *sums);
  u32 seed = 5;
  for (u32 o = 0; o < TENSORS; o++) {
    m[o] = calloc(t.count[o], 4);
    for (size_t i = 0; i < t.count[o]; i++) m[o][i] = noise(&seed);
  }
  add_up(s, &t, m, result, sums);
  const program *p = make(a, s, &t, result, true);
  for (u32 i = 0; i < 2; i++) {
    executor *on;
    CHECK(!exec_create(&(exec_options){.kind = "cpu", .threads = 1 + 4 * i}, &on));
    run_on(on, p, m, result, i ? second : m[result]);
    executor_release(on);
  }
  CHECK(memcmp(m[result], second, t.count[result] * 4) == 0);
  const i64 *n = s->size;
  double terms = (double)(result == OUT ? 9 * n[C] : n[N] * n[Y] * n[X]), most = 0;
  for (size_t i = 0; i < t.count[result]; i++) most = fmax(most, fabs(second[i] - sums[i]));
  CHECK(most < 2e-6 * sqrt(terms));
  free(m[IN]), free(m[KERNEL]), free(m[OUT]), free(sums), free(second);
}

static void test_shapes(arena *a, bool bits) {
  static const shape shapes[] = {{{1, 10, 10, 16, 16, 3, 3}, {"nyxc", "ijck", "nyxk"}, false},
                                 {{2, 9, 7, 32, 64, 3, 3}, {"nyxc", "ijkc", "nyxk"}, true},
                                 {{3, 5, 13, 16, 48, 3, 3}, {"ncyx", "kcij", "nkyx"}, false},
                                 {{1, 2, 211, 48, 80, 3, 3}, {"ncyx", "ijck", "nyxk"}, false},
                                 {{1, 3, 120, 16, 128, 3, 3}, {"nyxc", "ckij", "nkyx"}, true},
                                 {{7, 4, 4, 304, 96, 3, 3}, {"nyxc", "ijck", "nyxk"}, false},
                                 {{2, 14, 14, 272, 16, 3, 3}, {"ncyx", "kcij", "nkyx"}, true},
                                 {{2, 12, 9, 32, 32, 3, 3}, {"cnyx", "jick", "nyxk"}, false},
                                 {{1, 10, 10, 16, 16, 3, 3}, {"ycnx", "ijck", "ynxk"}, false}};
  static const shape sums[] = {{{1, 16, 16, 16, 16, 3, 3}, {"nyxc", "ijck", "nyxk"}, false},
                               {{3, 13, 9, 32, 48, 3, 3}, {"nyxc", "ckij", "nyxk"}, true},
                               {{2, 11, 15, 64, 128, 3, 3}, {"ncyx", "kcij", "nkyx"}, false},
                               {{2, 3, 130, 48, 16, 3, 3}, {"ncyx", "jick", "nyxk"}, false},
                               {{1, 112, 111, 16, 16, 3, 3}, {"nyxc", "ckij", "nkyx"}, false},
                               {{1, 16, 16, 128, 128, 3, 3}, {"nyxc", "ijkc", "nyxk"}, true}};
  for (size_t i = 0; i < COUNT(shapes); i++) {
    check(a, &shapes[i], OUT, true, 0, 0);
    if (bits) check_bits(a, &shapes[i], OUT);
  }
  for (size_t i = 0; i < COUNT(sums); i++) {
    check(a, &sums[i], KERNEL, true, 0, 0);
    if (bits) check_bits(a, &sums[i], KERNEL);
  }
}

/* Not enough features or tiles, or they lie otherwise. */
static void test_others(arena *a) {
  static const shape shapes[] = {{{1, 10, 10, 24, 16, 3, 3}, {"nyxc", "ijck", "nyxk"}, false},
                                 {{1, 6, 6, 16, 16, 3, 3}, {"nyxc", "ijck", "nyxk"}, false},
                                 {{1, 10, 10, 16, 16, 3, 2}, {"nyxc", "ijck", "nyxk"}, false},
                                 {{1, 10, 10, 16, 16, 3, 3}, {"nycx", "ickj", "nxyk"}, false},
                                 {{2, 10, 10, 16, 16, 3, 3}, {"ycnx", "ickj", "ynxk"}, false}};
  for (size_t i = 0; i < COUNT(shapes); i++) {
    check(a, &shapes[i], OUT, false, 0, 0);
    check(a, &shapes[i], KERNEL, false, 0, 0);
  }
}

/* Infinities and NaNs are where they belong, and what is finite stays so. */
static void test_extremes(arena *a) {
  static const shape shapes[] = {{{2, 21, 16, 16, 32, 3, 3}, {"nyxc", "ijck", "nyxk"}, false},
                                 {{1, 9, 110, 32, 16, 3, 3}, {"ncyx", "kcij", "nkyx"}, false},
                                 {{1, 14, 30, 48, 64, 3, 3}, {"nyxc", "ckij", "nyxk"}, false}};
  static const float others[] = {INFINITY, NAN, 1e38f};
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (size_t o = 0; o < COUNT(others); o++) {
      check(a, &shapes[i], OUT, true, 4801, others[o]);
      check(a, &shapes[i], KERNEL, true, 1801, others[o]);
    }
  check(a, &shapes[0], OUT, true, 14401, 3e38f);
}

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  test_shapes(a, options->threads == 2); /* which has executors of its own */
  test_others(a);
  test_extremes(a);
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
