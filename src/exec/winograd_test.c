/* Convolutions by tiles, against sums one after the other. */
#include <math.h>

#include "program/parts.h"
#include "tests/exec.h"

enum { N, Y, X, C, K, I, J, DIMS }; /* images, results' rows and columns, features, the kernel's */

/* Sizes, and the order of dims in memory of the input, the kernel and the results. */
typedef struct shape {
  i64 size[DIMS];
  const char *in, *kernel, *out;
  bool backward; /* the kernel's taps */
} shape;

typedef struct strides {
  i64 of[3][DIMS];
  size_t count[3];
} strides;

static strides find_strides(const shape *s) {
  static const char names[] = "nyxckij";
  const char *orders[] = {s->in, s->kernel, s->out};
  strides r = {.count = {1, 1, 1}};
  for (u32 o = 0; o < 3; o++)
    for (size_t i = 4; i-- > 0;) {
      u32 d = (u32)(strchr(names, orders[o][i]) - names);
      r.of[o][d] = (i64)r.count[o];
      r.count[o] *= (size_t)(d >= I ? 3 : s->size[d] + (o == 0 && (d == Y || d == X) ? 2 : 0));
    }
  return r;
}

/* One result, as a double. */
static double result(const shape *s, const strides *t, const float *in, const float *kernel,
                     const i64 *at) {
  double sum = 0;
  const i64 *a = t->of[0], *b = t->of[1];
  for (i64 i = 0; i < 3; i++)
    for (i64 j = 0; j < 3; j++)
      for (i64 c = 0; c < s->size[C]; c++)
        sum += (double)in[at[N] * a[N] + (at[Y] + i) * a[Y] + (at[X] + j) * a[X] + c * a[C]] *
               kernel[(s->backward ? 2 - i : i) * b[I] + (s->backward ? 2 - j : j) * b[J] +
                      c * b[C] + at[K] * b[K]];
  return sum;
}

/* The program, by tiles as it is to be, through its bytes. */
static const program *convolution(arena *a, const shape *s, const strides *t, bool by_tiles) {
  prog_builder *b = prog_begin(a, 1, 1);
  u32 in = prog_param(b, DTYPE_f32, t->count[0]), kernel = prog_param(b, DTYPE_f32, t->count[1]);
  u32 out = prog_result(b, DTYPE_f32, t->count[2], -1);
  const i64 *x = t->of[0], *w = t->of[1], *y = t->of[2], *n = s->size;
  i64 sign = s->backward ? -1 : 1;
  i64 dims[] = {n[N], n[Y], n[X], n[K], 3, 3, n[C]};
  i64 ls[] = {x[N], x[Y], x[X], 0, x[Y], x[X], x[C]};
  i64 rs[] = {0, 0, 0, w[K], sign * w[I], sign * w[J], w[C]},
      os[] = {y[N], y[Y], y[X], y[K], 0, 0, 0};
  prog_dot d = {in, kernel, out, 0, 3, 1, 3, dims, ls, rs, os};
  d.rhs_offset = s->backward ? 2 * w[I] + 2 * w[J] : 0;
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

static void run_on(executor *on, const program *p, const float *in, const float *kernel,
                   float *out) {
  executor_image *im = make_image(p);
  CHECK(!*run_image(on, im, (void *[]){(void *)(uintptr_t)in, (void *)(uintptr_t)kernel},
                    (void *[]){out}));
  exec_image_release(im);
}

/* Of small whole numbers sums of any order are exact. Of every `rare` elements one is `other`. */
static void check(arena *a, const shape *s, bool by_tiles, size_t rare, float other) {
  strides t = find_strides(s);
  float *x = calloc(t.count[0], 4), *w = calloc(t.count[1], 4), *y = calloc(t.count[2], 4);
  u32 seed = 7;
  for (size_t i = 0; i < t.count[0]; i++) x[i] = floorf(noise(&seed) * 4);
  for (size_t i = 0; i < t.count[1]; i++) w[i] = floorf(noise(&seed) * 2);
  for (size_t i = rare / 2; rare && i < t.count[0]; i += rare) x[i] = i / rare % 2 ? other : -other;
  run_on(pool, convolution(a, s, &t, by_tiles), x, w, y);
  size_t bad = 0;
  i64 at[DIMS] = {0};
  const i64 *o = t.of[2];
  for (at[N] = 0; at[N] < s->size[N]; at[N]++)
    for (at[Y] = 0; at[Y] < s->size[Y]; at[Y]++)
      for (at[X] = 0; at[X] < s->size[X]; at[X]++)
        for (at[K] = 0; at[K] < s->size[K]; at[K]++) {
          float got = y[at[N] * o[N] + at[Y] * o[Y] + at[X] * o[X] + at[K] * o[K]];
          float want = (float)result(s, &t, x, w, at);
          bad += got != want && !(isnan(got) && isnan(want));
        }
  CHECK(bad == 0);
  free(x), free(w), free(y);
}

/* Numbers that are not whole: about as near as sums one by one, and the same bits however many
 * threads there are. */
static void check_bits(arena *a, const shape *s) {
  strides t = find_strides(s);
  float *x = calloc(t.count[0], 4), *w = calloc(t.count[1], 4);
  float *y[] = {calloc(t.count[2], 4), calloc(t.count[2], 4)};
  u32 seed = 5;
  for (size_t i = 0; i < t.count[0]; i++) x[i] = noise(&seed);
  for (size_t i = 0; i < t.count[1]; i++) w[i] = noise(&seed);
  const program *p = convolution(a, s, &t, true);
  for (u32 i = 0; i < 2; i++) {
    executor *on;
    CHECK(!exec_create(&(exec_options){.kind = "cpu", .threads = 1 + 4 * i}, &on));
    run_on(on, p, x, w, y[i]);
    executor_release(on);
  }
  CHECK(memcmp(y[0], y[1], t.count[2] * 4) == 0);
  i64 at[DIMS] = {0, 1, 2};
  for (at[K] = 0; at[K] < s->size[K]; at[K]++) {
    float got = y[0][t.of[2][Y] + 2 * t.of[2][X] + at[K] * t.of[2][K]];
    CHECK(fabs(got - result(s, &t, x, w, at)) < 1e-6 * sqrt(9 * (double)s->size[C]));
  }
  free(x), free(w), free(y[0]), free(y[1]);
}

static void test_shapes(arena *a) {
  static const shape shapes[] = {
      {{1, 10, 10, 16, 16}, "nyxc", "ijck", "nyxk", false},
      {{2, 9, 7, 32, 64}, "nyxc", "ijkc", "nyxk", true},
      {{3, 5, 13, 16, 48}, "ncyx", "kcij", "nkyx", false},
      {{1, 2, 211, 48, 80}, "ncyx", "ijck", "nyxk", false},
      {{1, 3, 120, 16, 128}, "nyxc", "ckij", "nkyx", true},
      {{7, 4, 4, 304, 96}, "nyxc", "ijck", "nyxk", false},
      {{2, 14, 14, 272, 16}, "ncyx", "kcij", "nkyx", true},
      {{2, 12, 9, 32, 32}, "cnyx", "jick", "nyxk", false},
  };
  for (size_t i = 0; i < COUNT(shapes); i++) {
    check(a, &shapes[i], true, 0, 0);
    check_bits(a, &shapes[i]);
  }
  check(a, &(shape){{1, 10, 10, 24, 16}, "nyxc", "ijck", "nyxk", false}, false, 0, 0);
  check(a, &(shape){{1, 6, 6, 16, 16}, "nyxc", "ijck", "nyxk", false}, false, 0, 0);
  check(a, &(shape){{1, 10, 10, 16, 16}, "nyxc", "ijck", "nxyk", false}, false, 0, 0);
  check(a, &(shape){{1, 10, 10, 16, 16}, "ycnx", "ijck", "ynxk", false}, true, 0, 0);
  check(a, &(shape){{2, 10, 10, 16, 16}, "ycnx", "ijck", "ynxk", false}, false, 0, 0);
}

/* Infinities and NaNs are where they belong, and what is finite stays so. */
static void test_extremes(arena *a) {
  static const shape shapes[] = {{{2, 21, 16, 16, 32}, "nyxc", "ijck", "nyxk", false},
                                 {{1, 9, 110, 32, 16}, "ncyx", "kcij", "nkyx", false}};
  static const float others[] = {INFINITY, NAN, 3e38f, 1e38f};
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (size_t o = 0; o < COUNT(others); o++) check(a, &shapes[i], true, 4801, others[o]);
}

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  test_shapes(a);
  test_extremes(a);
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
