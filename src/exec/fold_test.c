/* Folds and sums of rows against plain C, on the instruction set of this processor and on any's. */
#include <math.h>

#include "exec/denormals.h"
#include "exec/fold_order.h"
#include "exec/kernels.h"
#include "tests/unit.h"

static float noise(u32 *seed) {
  *seed = *seed * 1664525u + 1013904223u;
  return (float)(i32)*seed / 0x1p24f;
}
static bool same_bits(float x, float y) { return memcmp(&x, &y, 4) == 0; }

static const fold_kernels *table(u32 i) {
  return i ? vm_kernels_get()->fold_rows[R_f32] : &fold_base_f32;
}

static void check_sums(void) {
  static float x[20000];
  u32 seed = 5;
  for (size_t i = 0; i < COUNT(x); i++) x[i] = noise(&seed);
  for (size_t n = 1; n < COUNT(x); n += n < 300 ? 1 : 997) {
    double want = 3;
    for (size_t i = 0; i < n; i++) want += x[i];
    float init = 3, out[2], none;
    for (u32 t = 0; t < 2; t++) table(t)->sum(n, &out[t], &init, x);
    CHECK(same_bits(out[0], out[1]));
    CHECK(fabs(out[0] - want) <= 1e-3 * sqrt((double)n) + 1e-5 * fabs(want));
    table(0)->sum(n, &none, NULL, x);
    CHECK(fabs(none + 3 - want) <= 1e-3 * sqrt((double)n) + 1e-5 * fabs(want));
  }
}

/* Of doubles, by rows, on every instruction set the same, and nothing is read beyond a row. */
static void check_doubles(void) {
  enum { MOST = 150, ROWS = 21 };
  static double x[ROWS * (MOST + 1)];
  u32 seed = 4;
  for (size_t n = 1; n <= MOST; n++) {
    for (size_t i = 0; i < COUNT(x); i++) x[i] = i % (n + 1) < n ? noise(&seed) : NAN;
    const fold_kernels *k[] = {&fold_base_f64, vm_kernels_get()->fold_rows[R_f64]};
    double init = 3, sum[2][ROWS], most[2][ROWS], alone;
    for (u32 t = 0; t < 2; t++) {
      k[t]->sum_each(ROWS, n, n + 1, sum[t], &init, x);
      k[t]->max_each(ROWS, n, n + 1, most[t], &init, x);
      for (size_t r = 0; r < ROWS; r++) {
        double right = init;
        for (size_t i = 0; i < n; i++) right = fmax(right, x[r * (n + 1) + i]);
        k[t]->sum(n, &alone, &init, x + r * (n + 1));
        CHECK(sum[t][r] == alone && most[t][r] == right);
      }
    }
    CHECK(memcmp(sum[0], sum[1], sizeof sum[0]) == 0);
  }
}

/* One NaN anywhere wins; of zeros the sign decides. */
static void check_extremes(void) {
  static float x[700];
  u32 seed = 9;
  for (size_t n = 1; n < COUNT(x); n += n < 140 ? 1 : 37)
    for (u32 t = 0; t < 2; t++) {
      const fold_kernels *k = table(t);
      float most = -INFINITY, least = INFINITY, out;
      for (size_t i = 0; i < n; i++) {
        x[i] = noise(&seed);
        most = fmaxf(most, x[i]), least = fminf(least, x[i]);
      }
      k->max(n, &out, NULL, x);
      CHECK(same_bits(out, most));
      k->min(n, &out, NULL, x);
      CHECK(same_bits(out, least));
      float bound = 1e9f;
      k->max(n, &out, &bound, x);
      CHECK(out == bound);
      size_t at = seed % n;
      x[at] = NAN;
      k->max(n, &out, NULL, x);
      CHECK(out != out);
      k->min(n, &out, &bound, x);
      CHECK(out != out);
      for (size_t i = 0; i < n; i++) x[i] = -0.0f;
      k->max(n, &out, NULL, x);
      CHECK(out == 0 && signbit(out));
      x[at] = 0;
      k->max(n, &out, NULL, x);
      CHECK(out == 0 && !signbit(out));
      k->min(n, &out, NULL, x);
      CHECK(out == 0 && (signbit(out) || n == 1));
    }
}

/* Rows side by side are what each is alone. */
static void check_each(void) {
  enum { MOST = 140, ROWS = 37 };
  static float x[ROWS * (MOST + 1)], out[ROWS + 1];
  static const float odd[] = {0, -0.0f, NAN, INFINITY, -INFINITY};
  u32 seed = 7;
  for (size_t n = 1; n <= MOST; n++)
    for (u32 t = 0; t < 4; t++) {
      const fold_kernels *k = table(t % 2);
      float init = t < 2 ? -INFINITY : -1, want;
      for (size_t i = 0; i < COUNT(x); i++) {
        x[i] = noise(&seed);
        if ((seed >> 20) % 64 == 0 || i / n % 5 == 1) x[i] = odd[(seed >> 8) % (i / n % 2 ? 5 : 2)];
      }
      kern_each_fn *each[] = {k->sum_each, k->max_each, k->min_each};
      kern_fold_fn *fold[] = {k->sum, k->max, k->min};
      for (u32 f = 0; f < COUNT(each); f++) {
        out[ROWS] = 5;
        each[f](ROWS, n, n + t % 2, out, &init, x);
        for (size_t r = 0; r < ROWS; r++) {
          fold[f](n, &want, &init, x + r * (n + t % 2));
          CHECK(same_bits(out[r], want) || (out[r] != out[r] && want != want));
        }
        CHECK(out[ROWS] == 5);
      }
    }
}

/* Products and sums of complex numbers: the same bits on every instruction set, alone and as rows;
 * of numbers that are exact in any order those that are right. */
static void check_pairs(void) {
  enum { MOST = 300, ROWS = 19 };
  static float x[2 * ROWS * (MOST + 1)], factor[COUNT(x)];
  u32 seed = 3;
  for (size_t i = 0; i < COUNT(x); i++) {
    x[i] = (float)((i32)(noise(&seed) * 8) % 100);
    factor[i] = x[i] < -20 ? -2.0f : x[i] > 20 ? .5f : 1.0f;
  }
  for (size_t n = 1; n <= MOST; n += n < 140 ? 1 : 37) {
    for (u32 t = 0; t < 2; t++) {
      const fold_kernels *k = table(t);
      float sums[2 * ROWS + 1], products[ROWS + 1], init[] = {3, 5}, sum[2], product;
      sums[2 * ROWS] = products[ROWS] = 7;
      k->pairs_each(ROWS, n, n + 1, sums, init, x);
      k->prod_each(ROWS, n, n + 1, products, init, factor);
      for (size_t r = 0; r < ROWS; r++) {
        float re = 3, im = 5, all = 3;
        for (size_t i = 0; i < n; i++) {
          re += x[2 * (r * (n + 1) + i)], im += x[2 * (r * (n + 1) + i) + 1];
          all *= factor[r * (n + 1) + i];
        }
        k->sum_pairs(n, sum, init, x + 2 * r * (n + 1));
        k->prod(n, &product, init, factor + r * (n + 1));
        CHECK(sums[2 * r] == re && sums[2 * r + 1] == im && products[r] == all);
        CHECK(sum[0] == re && sum[1] == im && product == all);
      }
      CHECK(sums[2 * ROWS] == 7 && products[ROWS] == 7);
    }
    float of[2][3] = {{0}}, z[2 * MOST];
    for (size_t i = 0; i < 2 * n; i++) z[i] = 1 + noise(&seed) * 0x1p-10f;
    for (u32 t = 0; t < 2; t++) {
      table(t)->sum_pairs(n, of[t], NULL, z);
      table(t)->prod(n, &of[t][2], NULL, z);
    }
    CHECK(memcmp(of[0], of[1], sizeof of[0]) == 0);
  }
}

/* So are long ones, of which two are read at once. */
static void check_long(void) {
  enum { MOST = 1088, ROWS = 21 };
  static const size_t lengths[] = {128, 200, 1024, 1030, MOST};
  static float x[ROWS * MOST], out[ROWS];
  u32 seed = 9;
  for (size_t i = 0; i < COUNT(x); i++) x[i] = noise(&seed);
  x[3 * 1024] = NAN;
  for (u32 t = 0; t < 2 * COUNT(lengths); t++) {
    const fold_kernels *k = table(t % 2);
    float init = 1, want;
    size_t n = lengths[t / 2];
    kern_each_fn *each[] = {k->sum_each, k->max_each, k->min_each};
    kern_fold_fn *fold[] = {k->sum, k->max, k->min};
    for (u32 f = 0; f < COUNT(each); f++) {
      each[f](ROWS, n, n, out, &init, x);
      for (size_t r = 0; r < ROWS; r++) {
        fold[f](n, &want, &init, x + r * n);
        CHECK(same_bits(out[r], want) || (out[r] != out[r] && want != want));
      }
    }
  }
}

/* Quarters that are not side by side. */
static void check_far(void) {
  enum { QUARTER = FOLD_LONG / 4, APART = QUARTER + 37 };
  static float x[4 * APART], beside[FOLD_LONG];
  float got, want;
  u32 seed = 8;
  for (size_t i = 0; i < COUNT(x); i++) x[i] = noise(&seed);
  for (size_t i = 0; i < FOLD_LONG; i++) beside[i] = x[i / QUARTER * APART + i % QUARTER];
  for (u32 t = 0; t < 2; t++) {
    table(t)->sum_far(&got, x, APART);
    table(0)->sum(FOLD_LONG, &want, NULL, beside);
    CHECK(same_bits(got, want));
  }
}

/* The place of a number among floats of 16 bits. */
static int place_of(u16 x) { return x >> 15 ? -1 - (x & 0x7fff) : x; }

static void check_words(void) {
  enum { MOST = 140, ROWS = 9 };
  static u16 x[ROWS * MOST], out[ROWS + 1];
  u32 seed = 3;
  for (size_t n = 1; n <= MOST; n++)
    for (u32 t = 0; t < 16; t++) {
      u16 infinity = t & 1 ? 0x7f80 : 0x7c00, quiet = t & 1 ? 0x40 : 0x200,
          init = t & 2 ? 0x8000 : 0;
      bool max = t & 4, flushes = t & 8;
      for (size_t i = 0; i < COUNT(x); i++) {
        noise(&seed);
        u16 sign = i / n % 3 ? 0x8000 : 0, few = (u16)(seed >> 27);
        x[i] = (u16)(sign | (seed >> 8 & (i / n % 4 == 3 ? 0x83 : 0x7fff)));
        if ((x[i] & 0x7fff) > infinity && few) x[i] = sign;
      }
      const fold_kernels *k = table(t % 2);
      out[ROWS] = 5;
      if (flushes) denormals_flush(true);
      k->most_words(ROWS, n, out, init, infinity, x, max);
      if (flushes) denormals_flush(false);
      for (size_t r = 0; r < ROWS; r++) {
        u16 want = init;
        for (size_t i = 0; i < n && (want & 0x7fff) <= infinity; i++) {
          u16 y = x[r * n + i];
          bool nan = (y & 0x7fff) > infinity;
          bool better = max ? place_of(y) > place_of(want) : place_of(y) < place_of(want);
          if (nan || better) want = nan ? y | quiet : y;
        }
        if (flushes && infinity == 0x7f80 && !(want & infinity)) want &= 0x8000;
        CHECK(out[r] == want);
      }
      CHECK(out[ROWS] == 5);
    }
}

static void check_rows(void) {
  static float x[2 * FOLD_ROWS][101], acc[101], other[101];
  const void *rows[FOLD_ROWS];
  u32 seed = 1;
  for (u32 r = 0; r < 2 * FOLD_ROWS; r++)
    for (u32 i = 0; i < 101; i++) x[r][i] = noise(&seed);
  for (u32 r = 0; r < FOLD_ROWS; r++) rows[r] = x[r];
  table(0)->sum_rows(101, acc, rows, true, 1, 0);
  table(1)->sum_rows(101, other, rows, true, 1, 0);
  table(1)->sum_rows(101, other, rows, false, 1, 0);
  for (u32 i = 0; i < 101; i++) {
    double want = 0;
    for (u32 r = 0; r < FOLD_ROWS; r++) want += x[r][i];
    CHECK(fabs(acc[i] - want) < 1e-3);
    CHECK(same_bits(other[i], 2 * acc[i]));
  }
  table(1)->sum_rows(101, other, rows, true, 2, FOLD_ROWS * 101);
  for (u32 r = 0; r < FOLD_ROWS; r++) rows[r] = x[FOLD_ROWS + r];
  table(0)->sum_rows(101, acc, rows, false, 1, 0);
  CHECK(memcmp(acc, other, sizeof acc) == 0);
}

/* The largest and the smallest byte of each column, on top of others or not, also where the last
 * vector is not whole. */
static void check_bytes(void) {
  enum { GROUPS = 3, MOST = 3 * FOLD_BYTES + 1 };
  static u8 x[GROUPS * FOLD_ROWS][MOST], out[MOST + 1], want[MOST + 1];
  const void *rows[FOLD_ROWS];
  u32 seed = 9;
  for (u32 r = 0; r < COUNT(x); r++) {
    for (u32 i = 0; i < MOST; i++) x[r][i] = (u8)(noise(&seed) > 0 ? seed >> 24 : seed >> 30);
    if (r < FOLD_ROWS) rows[r] = x[r];
  }
  for (size_t n = FOLD_BYTES; n <= MOST; n++)
    for (u32 t = 0; t < 8; t++) {
      bool max = t & 1, fresh = t & 2;
      for (u32 i = 0; i <= MOST; i++) out[i] = want[i] = (u8)(i * 77);
      for (u32 r = 0; r < COUNT(x); r++)
        for (u32 i = 0; i < n; i++) {
          bool takes = (fresh && r == 0) || (max ? x[r][i] > want[i] : x[r][i] < want[i]);
          if (takes) want[i] = x[r][i];
        }
      const fold_kernels *f = table(t / 4);
      (max ? f->max_bytes : f->min_bytes)(n, out, rows, fresh, GROUPS, FOLD_ROWS * MOST);
      CHECK(memcmp(out, want, sizeof out) == 0);
    }
}

/* Rows are added one after the other, also where they name the same one, or none. */
static void check_add(void) {
  enum { ROWS = 30, PLACES = 5, MOST = 40 };
  static float x[ROWS * (MOST + 3)], out[PLACES * MOST + 1], want[PLACES * MOST + 1];
  void *rows[ROWS];
  u32 seed = 5;
  for (size_t i = 0; i < COUNT(x); i++) x[i] = noise(&seed);
  for (size_t n = 1; n <= MOST; n++)
    for (u32 t = 0; t < 2; t++) {
      for (size_t i = 0; i < COUNT(out); i++) out[i] = want[i] = (float)i;
      for (size_t r = 0; r < ROWS; r++) {
        size_t place = (r * 7 + n) % (PLACES + 1);
        rows[r] = place == PLACES ? NULL : out + place * n;
        for (size_t i = 0; i < n && rows[r]; i++) want[place * n + i] += x[r * (n + 3) + i];
      }
      table(t)->add_rows(ROWS, n, rows, x, (i64)n + 3);
      CHECK(memcmp(out, want, sizeof out) == 0);
    }
}

/* The bits that the block machine's kernels give, one line after the other. */
static void check_lines(void) {
  enum { N = 200, LINES_ = 5 };
  static float x[LINES_][N], out[N], want[N];
  static const float odd[] = {0, -0.0f, NAN, INFINITY, -INFINITY, 1e-40f, -1e-40f, 1};
  const vm_kernels *k = vm_kernels_get();
  const void *lines[LINES_];
  u32 seed = 3;
  for (u32 r = 0; r < LINES_; r++) {
    lines[r] = x[r];
    for (u32 i = 0; i < N; i++) x[r][i] = noise(&seed) > 0 ? odd[seed >> 20 & 7] : noise(&seed);
  }
  for (size_t n = 0; n <= N; n++)
    for (u32 t = 0; t < 6; t++) {
      static const vm_op ops[] = {VM_add, VM_max, VM_min};
      const fold_kernels *f = table(t % 2);
      kern_lines_fn *fn[] = {f->sum_lines, f->max_lines, f->min_lines};
      size_t num = n % (LINES_ + 1);
      float init = odd[n & 7];
      for (u32 i = 0; i < N; i++) want[i] = i < n ? init : -5, out[i] = -5;
      for (u32 r = 0; r < num && n; r++)
        k->binary[ops[t / 2]][R_f32][FORM_VV](n, want, want, x[r], NULL);
      fn[t / 2](n, out, &init, lines, num);
      for (u32 i = 0; i < N; i++)
        CHECK(same_bits(out[i], want[i]) || (out[i] != out[i] && want[i] != want[i]));
    }
}

int main(void) {
  check_sums();
  check_doubles();
  check_lines();
  check_extremes();
  check_each();
  check_pairs();
  check_long();
  check_words();
  check_far();
  check_add();
  check_bytes();
  check_rows();
  return UNIT_END();
}
