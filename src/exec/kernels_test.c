/* The vector kernels of every instruction set that this machine has: accuracy of the f32
 * functions over a sample of all bit patterns, conversions against num/convert.h. */
#include "exec/kernels.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "exec/denormals.h"
#include "exec/move_kernel.h"
#include "num/convert.h"
#include "num/special.h"
#include "tests/unit.h"

enum { BLOCK = 1024, STEP = 1021 };

static double logistic(double x) { return 1 / (1 + exp(-x)); }
static double inv_sqrt(double x) { return 1 / sqrt(x); }

/* In units of the last place of the correctly rounded result; 0 for two NaNs or equal values. */
static double ulps(float got, double want) {
  float rounded = (float)want;
  if ((isnan(got) && isnan(rounded)) || got == rounded) return 0;
  if (!isfinite(got) || !isfinite(rounded)) return 1e9;
  double unit = (double)nextafterf(fabsf(rounded), INFINITY) - (double)fabsf(rounded);
  return fabs((double)got - want) / unit;
}

static void check_function(const vm_kernels *k, vm_op op, double (*exact)(double), double most) {
  kern_fn *fn = k->unary[op][R_f32];
  double worst = 0;
  float at = 0;
  for (u64 base = 0; base < 1ull << 32; base += (u64)BLOCK * STEP) {
    float x[BLOCK], y[BLOCK];
    for (u32 i = 0; i < BLOCK; i++) x[i] = num_f32_from_bits((u32)(base + (u64)i * STEP));
    fn(BLOCK, y, x, NULL, NULL);
    for (u32 i = 0; i < BLOCK; i++) {
      double e = ulps(y[i], exact(x[i]));
      if (e > worst) worst = e, at = x[i];
    }
  }
  if (worst > most || getenv("KERNELS_TEST_REPORT"))
    fprintf(stderr, "%s %s: %.3f ulp at %a\n", k->isa, vm_op_name(op), worst, (double)at);
  CHECK(worst <= most);
}

/* Where there is fused multiply-add, results are the same bits on all processors. */
static void check_bits(const vm_kernels *k) {
  static const vm_op ops[] = {VM_exp,  VM_log,   VM_expm1,   VM_log1p, VM_tanh, VM_logistic, VM_erf,
                              VM_cbrt, VM_rsqrt, VM_erf_inv, VM_atan,  VM_sin,  VM_cos};
  u64 hash = 0;
  for (u32 o = 0; o < COUNT(ops); o++)
    for (u64 base = 0; base < 1ull << 32; base += (u64)BLOCK * STEP * 8) {
      float x[BLOCK], y[BLOCK];
      for (u32 i = 0; i < BLOCK; i++) x[i] = num_f32_from_bits((u32)(base + (u64)i * STEP * 8));
      if (ops[o] == VM_sin || ops[o] == VM_cos) /* of larger ones libm's */
        for (u32 i = 0; i < BLOCK; i++) x[i] = fabsf(x[i]) < 1e3f ? x[i] : 1;
      k->unary[ops[o]][R_f32](BLOCK, y, x, NULL, NULL);
      for (u32 i = 0; i < BLOCK; i++) y[i] = isnan(y[i]) ? 0 : y[i];
      hash = hash_bytes((const char *)y, sizeof y, hash);
    }
  bool fused = strcmp(k->isa, "base") != 0;
  CHECK(!fused || hash == 0x40433daccedb5056);
}

static void check_functions(const vm_kernels *k) {
  check_function(k, VM_exp, exp, 1.5);
  check_function(k, VM_log, log, 1.1);
  check_function(k, VM_expm1, expm1, 2.5);
  check_function(k, VM_log1p, log1p, 1.1);
  check_function(k, VM_tanh, tanh, 2.5);
  check_function(k, VM_logistic, logistic, 3);
  check_function(k, VM_erf, erf, 2.5);
  check_function(k, VM_sin, sin, 0.85);
  check_function(k, VM_cos, cos, 0.85);
  check_function(k, VM_cbrt, cbrt, 0.51);
  check_function(k, VM_lgamma, num_lgamma, 1.6);
  check_function(k, VM_sqrt, sqrt, 0.51);
  check_function(k, VM_rsqrt, inv_sqrt, 1.5);
  check_function(k, VM_floor, floor, 0);
  check_function(k, VM_ceil, ceil, 0);
  check_function(k, VM_round_even, rint, 0);
  check_function(k, VM_round_afz, round, 0);
}

/* Powers near 1 and far from it, whole ones too. */
static void check_powers(const vm_kernels *k) {
  double worst = 0;
  u32 state = 1;
  for (u32 round = 0; round < 400; round++) {
    float x[BLOCK], y[BLOCK], z[BLOCK];
    for (u32 i = 0; i < BLOCK; i++) {
      state = state * 1664525 + 1013904223;
      x[i] = num_f32_from_bits(round % 2 ? state >> 1 : 0x3f000000 + (state >> 8));
      state = state * 1664525 + 1013904223;
      y[i] = ldexpf((float)(state >> 8) - 0x1p23f, (int)(round % 40) - 26);
      if (round % 5 == 0) y[i] = rintf(y[i]), x[i] = -x[i];
    }
    k->binary[VM_pow][R_f32][FORM_VV](BLOCK, z, x, y, NULL);
    for (u32 i = 0; i < BLOCK; i++) worst = fmax(worst, ulps(z[i], pow(x[i], y[i])));
  }
  if (getenv("KERNELS_TEST_REPORT")) fprintf(stderr, "%s pow: %.3f ulp\n", k->isa, worst);
  CHECK(worst <= 0.6);
}

static void check_special_values(const vm_kernels *k) {
  float x[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 1e-40f}, y[8];
  k->unary[VM_tanh][R_f32](8, y, x, NULL, NULL);
  CHECK(signbit(y[1]) && y[2] == 1 && y[3] == -1 && isnan(y[4]));
  k->unary[VM_expm1][R_f32](8, y, x, NULL, NULL);
  CHECK(signbit(y[1]) && y[2] == INFINITY && y[3] == -1 && isnan(y[4]));
  k->unary[VM_log1p][R_f32](8, y, x, NULL, NULL);
  CHECK(signbit(y[1]) && y[2] == INFINITY && isnan(y[3]) && y[6] == -INFINITY);
  k->unary[VM_sign][R_f32](8, y, x, NULL, NULL);
  CHECK(signbit(y[1]) && y[2] == 1 && isnan(y[4]) && y[7] == 1);
  float zero[] = {-0.0f, 0.0f, NAN, 1, 1, NAN, 2, 3};
  k->binary[VM_max][R_f32][FORM_VV](8, y, x, zero, NULL);
  CHECK(!signbit(y[0]) && !signbit(y[1]) && isnan(y[2]) && isnan(y[4]) && isnan(y[5]) && y[6] == 2);
  k->binary[VM_min][R_f32][FORM_VV](8, y, x, zero, NULL);
  CHECK(signbit(y[0]) && signbit(y[1]) && isnan(y[2]) && isnan(y[5]) && y[6] == -1);
}

/* What an element gives does not depend on those beside it. */
static void check_neighbours(const vm_kernels *k) {
  static const vm_op ops[] = {VM_sin, VM_cos, VM_exp, VM_log, VM_tanh, VM_erf, VM_log1p, VM_lgamma};
  float x[BLOCK], alone[BLOCK], y[BLOCK];
  for (size_t o = 0; o < COUNT(ops); o++) {
    kern_fn *fn = k->unary[ops[o]][R_f32];
    for (u32 i = 0; i < BLOCK; i++) x[i] = 0.01f * (float)i;
    fn(BLOCK, alone, x, NULL, NULL);
    x[7] = INFINITY, x[8] = NAN, x[900] = 1e30f;
    fn(BLOCK, y, x, NULL, NULL);
    y[7] = alone[7], y[8] = alone[8], y[900] = alone[900];
    CHECK(memcmp(y, alone, sizeof y) == 0);
    fn(3, y, x + 20, NULL, NULL);
    CHECK(memcmp(y, alone + 20, 3 * sizeof *y) == 0);
  }
}

/* Nor on how many there are: single ones go other ways where denormals are flushed. */
static void check_single(const vm_kernels *k, vm_op op, vm_rtype t) {
  static const double numbers[] = {0, 1e-310, 1e-300, 3e-20, 1e-19, .3, 1, 2.5, 30, 745, 1e19};
  enum { N = 2 * COUNT(numbers) };
  double wide[N], all[N], one;
  float narrow[N];
  u32 size = vm_rtype_size(t);
  kern_fn *f = k->unary[op][t] ? k->unary[op][t] : k->binary[op][t][FORM_VV];
  for (u32 i = 0; i < N; i++) {
    wide[i] = numbers[i / 2] * (i % 2 ? -1 : 1);
    narrow[i] = (float)wide[i];
  }
  const char *x = size == 8 ? (const char *)wide : (const char *)narrow;
  denormals_flush(true);
  f(N, all, x, x, NULL);
  for (u32 i = 0; i < N; i++) {
    f(1, &one, x + i * size, x + i * size, NULL);
    CHECK(memcmp(&one, (const char *)all + i * size, size) == 0);
  }
  denormals_flush(false);
}
static void check_singles(const vm_kernels *k) {
  static const vm_op ops[] = {VM_sin,  VM_cos,  VM_exp,   VM_log,   VM_log1p, VM_expm1,
                              VM_tanh, VM_sqrt, VM_atan2, VM_tan,   VM_pow,   VM_erfc,
                              VM_sinh, VM_rem,  VM_erf,   VM_acosh, VM_lgamma};
  for (size_t i = 0; i < COUNT(ops); i++)
    check_single(k, ops[i], R_f64), check_single(k, ops[i], R_f32);
}

static void check_ints(const vm_kernels *k) {
  i32 x[] = {7, -7, INT32_MIN, INT32_MIN, 5, -1, 1, 3}, y[] = {0, 0, -1, 2, -3, 40, 31, -1}, z[8];
  k->binary[VM_div][R_s32][FORM_VV](8, z, x, y, NULL);
  CHECK(z[0] == -1 && z[1] == -1 && z[2] == INT32_MIN && z[4] == -1);
  k->binary[VM_rem][R_s32][FORM_VV](8, z, x, y, NULL);
  CHECK(z[0] == 7 && z[1] == -7 && z[2] == 0 && z[4] == 2);
  k->binary[VM_shl][R_s32][FORM_VV](8, z, x, y, NULL);
  CHECK(z[5] == 0 && z[6] == INT32_MIN && z[7] == 0 && z[3] == 0);
  k->binary[VM_shr_arith][R_s32][FORM_VV](8, z, x, y, NULL);
  CHECK(z[5] == -1 && z[6] == 0 && z[2] == -1);
  k->binary[VM_pow][R_s32][FORM_VV](8, z, x, y, NULL);
  CHECK(z[0] == 1 && z[4] == 0 && z[5] == 1 && z[6] == 1 && z[7] == 0);
  k->unary[VM_clz][R_s32](8, z, x, NULL, NULL);
  CHECK(z[0] == 29 && z[1] == 0 && z[6] == 31);
}

/* bf16 and f16 to and from f32: all patterns */
static void check_halves(const vm_kernels *k) {
  static const dtype types[] = {DTYPE_bf16, DTYPE_f16};
  for (size_t t = 0; t < COUNT(types); t++) {
    int bad = 0;
    for (u32 base = 0; base < 65536; base += BLOCK) {
      u16 in[BLOCK], back[BLOCK];
      float f[BLOCK];
      for (u32 i = 0; i < BLOCK; i++) in[i] = (u16)(base + i);
      k->load[types[t]](BLOCK, f, in, NULL, NULL);
      k->store[types[t]](BLOCK, back, f, NULL, NULL);
      for (u32 i = 0; i < BLOCK; i++) {
        double want = num_decode_small(types[t], in[i]);
        bad += isnan(want) ? !isnan(f[i]) : f[i] != want || back[i] != in[i];
      }
    }
    for (u64 x = 0; x < 1ull << 32; x += 3001) { /* rounding */
      float f = num_f32_from_bits((u32)x);
      u16 got;
      k->store[types[t]](1, &got, &f, NULL, NULL);
      bad += !isnan(f) && got != num_encode_small(types[t], f);
    }
    CHECK(bad == 0);
  }
}

/* ---- denormals, zeros, infinities and NaN ---- */

typedef double fn1(double x);
typedef double fn2(double x, double y);
typedef struct meaning {
  vm_op op;
  double ulps;
  fn1 *f;
  fn2 *g;
} meaning;

static double flush(double x, double least) { return fabs(x) < least ? copysign(0, x) : x; }
static double sign(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static double negative(double x) { return -x; }
static double plus(double x, double y) { return x + y; }
static double minus(double x, double y) { return x - y; }
static double times(double x, double y) { return x * y; }
static double over(double x, double y) { return x / y; }
static double largest(double x, double y) {
  if (isnan(x) || isnan(y)) return NAN;
  return x == y ? (signbit(x) ? y : x) : fmax(x, y);
}
static double smallest(double x, double y) { return -largest(-x, -y); }
static double equal(double x, double y) { return x == y; }
static double below(double x, double y) { return x < y; }

static const meaning meanings[] = {
    {VM_add, 0, NULL, plus},
    {VM_sub, 0, NULL, minus},
    {VM_mul, 0, NULL, times},
    {VM_div, 0, NULL, over},
    {VM_max, 0, NULL, largest},
    {VM_min, 0, NULL, smallest},
    {VM_rem, 0, NULL, fmod},
    {VM_pow, 2, NULL, pow},
    {VM_atan2, 2, NULL, atan2},
    {VM_eq, 0, NULL, equal},
    {VM_lt, 0, NULL, below},
    {VM_neg, 0, negative, NULL},
    {VM_abs, 0, fabs, NULL},
    {VM_sign, 0, sign, NULL},
    {VM_sqrt, 1, sqrt, NULL},
    {VM_rsqrt, 2, inv_sqrt, NULL},
    {VM_floor, 0, floor, NULL},
    {VM_ceil, 0, ceil, NULL},
    {VM_round_even, 0, rint, NULL},
    {VM_round_afz, 0, round, NULL},
    {VM_cbrt, 2, cbrt, NULL},
    {VM_exp, 2, exp, NULL},
    {VM_expm1, 2, expm1, NULL},
    {VM_log, 2, log, NULL},
    {VM_log1p, 2, log1p, NULL},
    {VM_tanh, 2, tanh, NULL},
    {VM_logistic, 2, logistic, NULL},
    {VM_sin, 2, sin, NULL},
    {VM_cos, 2, cos, NULL},
    {VM_tan, 2, tan, NULL},
    {VM_asin, 2, asin, NULL},
    {VM_atan, 2, atan, NULL},
    {VM_sinh, 2, sinh, NULL},
    {VM_asinh, 2, asinh, NULL},
    {VM_atanh, 2, atanh, NULL},
    {VM_erf, 2, erf, NULL},
    {VM_erf_inv, 2, num_erf_inv, NULL},
};

/* Equal but for a few units of the last place; zeros of the same sign. */
static bool agrees(bool wide, double got, double want, double most) {
  if (!wide) want = (float)want;
  if (isnan(got) || isnan(want)) return isnan(got) && isnan(want);
  if (got == want) return got != 0 || signbit(got) == signbit(want);
  if (!isfinite(got) || !isfinite(want) || want == 0) return false;
  double a = fabs(want),
         unit = wide ? nextafter(a, INFINITY) - a : (double)nextafterf((float)a, INFINITY) - a;
  return fabs(got - want) <= most * unit;
}

/* A kernel over one pair, with flushing or without. */
static double call_kernel(const vm_kernels *k, const meaning *m, bool wide, bool flushing, double x,
                          double y) {
  vm_rtype r = wide ? R_f64 : R_f32;
  double xw = x, yw = y, dw = 0;
  float xf = (float)x, yf = (float)y, df = 0;
  u8 p = 0;
  bool is_pred = m->op == VM_eq || m->op == VM_lt;
  void *d = is_pred ? (void *)&p : wide ? (void *)&dw : &df;
  kern_fn *fn = m->f ? k->unary[m->op][r] : k->binary[m->op][r][FORM_VV];
  denormals_flush(flushing);
  fn(1, d, wide ? (void *)&xw : &xf, wide ? (void *)&yw : &yf, NULL);
  denormals_flush(false);
  return is_pred ? p : wide ? dw : (double)df;
}

/* Without flushing the exact result; with it, of operands and results either may be flushed. */
static bool check_special_pair(const vm_kernels *k, const meaning *m, bool wide, double x,
                               double y) {
  double least = wide ? DBL_MIN : FLT_MIN, zx = flush(x, least), zy = flush(y, least);
  double kept = m->f ? m->f(x) : m->g(x, y), gone = m->f ? m->f(zx) : m->g(zx, zy);
  if (!wide) kept = (float)kept, gone = (float)gone;
  double exact = call_kernel(k, m, wide, false, x, y), got = call_kernel(k, m, wide, true, x, y);
  bool fine = agrees(wide, got, kept, m->ulps) || agrees(wide, got, gone, m->ulps) ||
              agrees(wide, got, flush(kept, least), 0) || agrees(wide, got, flush(gone, least), 0);
  if (!fine || !agrees(wide, exact, kept, m->ulps))
    fprintf(stderr, "%s %s f%d of %a, %a: %a, flushing %a; want %a or %a\n", k->isa,
            vm_op_name(m->op), wide ? 64 : 32, x, y, exact, got, kept, gone);
  return fine && agrees(wide, exact, kept, m->ulps);
}

static void check_special_pairs(const vm_kernels *k, bool wide) {
  double d = wide ? 0x1p-1074 : 0x1p-149, n = wide ? DBL_MIN : FLT_MIN;
  double x[] = {0, d, 3 * d, 5 * d, n - d, n / 2, n, 3 * n, 0.375, 1, 2, 40, 1 / n, INFINITY, NAN};
  for (size_t m = 0; m < COUNT(meanings); m++) {
    int bad = 0;
    for (size_t i = 0; i < 2 * COUNT(x); i++)
      for (size_t j = 0; j < (meanings[m].g ? 2 * COUNT(x) : 1); j++)
        bad += !check_special_pair(k, &meanings[m], wide, i % 2 ? -x[i / 2] : x[i / 2],
                                   j % 2 ? -x[j / 2] : x[j / 2]);
    CHECK(bad == 0);
  }
}

/* ---- complex functions: as num/special.h's, which work in f64 ---- */

static num_complex wide_abs(num_complex x, num_complex y) {
  (void)y;
  return (num_complex){hypot(x.re, x.im), 0};
}
static num_complex wide_exp(num_complex x, num_complex y) {
  (void)y;
  return num_cexp(x);
}

static bool same_part(float got, double want, double size) {
  float rounded = (float)want;
  if (isnan(got) || isnan(rounded)) return isnan(got) && isnan(rounded);
  if (!isfinite(got) || !isfinite(rounded)) return got == rounded;
  if (got == 0 && rounded == 0) return signbit(got) == signbit(rounded);
  float most = fabsf((float)size);
  double unit = isfinite(most) ? (double)nextafterf(most, INFINITY) - (double)most : 0x1p104;
  return fabs((double)got - want) <= 0.51 * unit;
}

enum { COMPLEX = 300 };
/* Each product is rounded before it is added: of large numbers one is infinite, or both are. */
static void check_complex_products(const vm_kernels *k) {
  static const float parts[] = {-3.4028235e38f, 255, 4.0847004e10f, -1.9396727e37f, 0.1f, 1.7f, 1};
  kern_c64 x[COMPLEX], y[COMPLEX], z[COMPLEX];
  int bad = 0;
  for (u32 i = 0; i < COMPLEX; i++) {
    x[i] = (kern_c64){parts[i % 7], parts[(i + 1) % 7]};
    y[i] = (kern_c64){parts[(i + 2 + i / 7) % 7], parts[(i + 3) % 7]};
  }
  k->binary[VM_mul][R_c64][FORM_VV](COMPLEX, z, x, y, NULL);
  for (u32 i = 0; i < COMPLEX; i++) {
    volatile float p[] = {x[i].re * y[i].re, x[i].im * y[i].im, x[i].re * y[i].im,
                          x[i].im * y[i].re};
    float re = p[0] - p[1], im = p[2] + p[3];
    bad += !(z[i].re == re || (isnan(re) && isnan(z[i].re))) ||
           !(z[i].im == im || (isnan(im) && isnan(z[i].im)));
  }
  CHECK(bad == 0);
}

static void check_complex(const vm_kernels *k, const char *name, kern_fn *fn, bool is_real,
                          num_complex (*exact)(num_complex, num_complex)) {
  static const float parts[] = {0,       -0.0f,     1,       -2.5f,       1e-40f,
                                -3e-45f, 88.7f,     95,      -105,        1e30f,
                                -3e38f,  1e-30f,    0x1p27f, -0x1.8p26f,  INFINITY,
                                NAN,     -INFINITY, 170,     3.14159274f, 1.57079637f};
  kern_c64 x[COMPLEX], y[COMPLEX], z[COMPLEX];
  float *reals = (float *)z;
  int bad = 0;
  u32 state = 1;
  for (u32 round = 0; round < 200; round++) {
    for (u32 i = 0; i < COMPLEX; i++) {
      float p[4];
      for (u32 j = 0; j < 4; j++) {
        state = state * 1664525 + 1013904223;
        bool odd = round % 2 && state >> 28 == 0; /* else all are plain numbers, side by side */
        float near = ((float)(state >> 8) - 0x1p23f) * 0x1p-21f;
        p[j] =
            odd || round == 0 ? parts[(state >> 10) % COUNT(parts)] : near * (round % 7 ? 1 : 40);
      }
      x[i] = (kern_c64){p[0], p[1]}, y[i] = (kern_c64){p[2], p[3]};
    }
    fn(COMPLEX, z, x, y, NULL);
    for (u32 i = 0; i < COMPLEX; i++) {
      num_complex want = exact((num_complex){x[i].re, x[i].im}, (num_complex){y[i].re, y[i].im});
      double size = hypot(want.re, want.im);
      bool fine = same_part(is_real ? reals[i] : z[i].re, want.re, size) &&
                  (is_real || same_part(z[i].im, want.im, size));
      if (!fine && bad++ < 3)
        fprintf(stderr, "%s %s of %a %a, %a %a: %a %a, want %a %a\n", k->isa, name, (double)x[i].re,
                (double)x[i].im, (double)y[i].re, (double)y[i].im,
                (double)(is_real ? reals[i] : z[i].re), (double)z[i].im, want.re, want.im);
    }
  }
  CHECK(bad == 0);
}

/* Of f64, where those of libm are as near as they are; of any size. */
static void check_wide(kern_fn *fn, bool is_real, num_complex (*exact)(num_complex, num_complex)) {
  static const double parts[] = {0,      -0.0,   1,      -2.5,    1e-320,   0x1p-250, -0x1p250,
                                 1e-300, -1e308, 3e-200, 7.25e99, INFINITY, NAN,      -0x1p-251};
  kern_c128 x[COMPLEX], y[COMPLEX], z[COMPLEX];
  double *reals = (double *)z;
  u32 state = 7, bad = 0;
  for (u32 round = 0; round < 100; round++) {
    u32 n = 1 + round * 37 % COMPLEX;
    for (u32 i = 0; i < n; i++) {
      double p[4];
      for (u32 j = 0; j < 4; j++) {
        state = state * 1664525 + 1013904223;
        bool odd = round == 0 || (round % 2 && state >> 28 == 0);
        p[j] = odd ? parts[(state >> 10) % COUNT(parts)] : (double)(state >> 8) - 0x1p23;
      }
      x[i] = (kern_c128){p[0], p[1]}, y[i] = (kern_c128){p[2], p[3]};
    }
    fn(n, z, x, y, NULL);
    for (u32 i = 0; i < n; i++) {
      num_complex want = exact((num_complex){x[i].re, x[i].im}, (num_complex){y[i].re, y[i].im});
      double got[] = {is_real ? reals[i] : z[i].re, is_real ? 0 : z[i].im};
      double parts_of[] = {want.re, want.im}, size = hypot(want.re, want.im);
      for (u32 j = 0; j < 2; j++) {
        double w = parts_of[j], most = isfinite(size) ? size * 0x1p-50 + 0x1p-1074 : 0;
        bool same = isnan(w) ? isnan(got[j]) : got[j] == w || fabs(got[j] - w) <= most;
        if (same && w == 0 && got[j] == 0) same = signbit(w) == signbit(got[j]);
        bad += !same;
      }
    }
  }
  CHECK(bad == 0);
}

/* What is divided by itself has no imaginary part, since all products are rounded. */
static void check_quotients(kern_fn *fn) {
  kern_c128 x[COMPLEX], z[COMPLEX];
  int bad = 0;
  for (u32 i = 0; i < COMPLEX; i++) x[i] = (kern_c128){0.1 * i + 0.3, 1 / (i + 0.7)};
  fn(COMPLEX, z, x, x, NULL);
  for (u32 i = 0; i < COMPLEX; i++) bad += z[i].im != 0 || fabs(z[i].re - 1) > 0x1p-51;
  CHECK(bad == 0);
}

/* Small elements of n rows and one after the other, both ways, and every n-th one: nothing else is
 * read or written. */
static void check_across(kern_transpose_fn *fn, kern_fn *stride, u32 width, size_t n, size_t many) {
  size_t bytes = n * many * width, row = many * width, less = (many - 1) * n * width + width;
  u8 *x = malloc(bytes), *apart = malloc(bytes), *back = malloc(bytes), *first = malloc(less);
  for (size_t i = 0; i < bytes; i++) x[i] = (u8)(i * 7 + i / 251);
  memcpy(first, x + bytes - less, less);
  fn(n, many, (char *)apart, (i64)row, (const char *)x, (i64)(n * width), false);
  fn(many, n, (char *)back, (i64)(n * width), (const char *)apart, (i64)row, false);
  int bad = memcmp(x, back, bytes) != 0;
  for (size_t i = 0; i < n; i++)
    for (size_t j = 0; j < many * width; j++)
      bad += apart[i * row + j] != x[(j / width * n + i) * width + j % width];
  i64 step = (i64)n;
  stride(many, back, first, &step, NULL);
  bad += memcmp(back, apart + (n - 1) * row, row) != 0;
  CHECK(bad == 0);
  free(x), free(apart), free(back), free(first);
}

/* Of squares, of blocks of a line each way and of what is left: within the caches and past them. */
static void check_squares(kern_transpose_fn *fn, u32 width, size_t n, size_t many, bool streams) {
  enum { APART = 64, ROOM = 1 << 18, BESIDE = 0xa5 };
  size_t row = align_up(many * width, APART) + APART, step = n * width;
  static _Alignas(64) u8 x[ROOM], to[ROOM];
  for (size_t i = 0; i < ROOM; i++) x[i] = (u8)(i * 7 + i / 251), to[i] = BESIDE;
  fn(n, many, (char *)to, (i64)row, (const char *)x, (i64)step, streams);
  int bad = 0;
  for (size_t i = 0; i < n; i++) {
    for (size_t j = 0; j < many * width; j++)
      bad += to[i * row + j] != x[j / width * step + i * width + j % width];
    for (size_t j = many * width; j < row; j++) bad += to[i * row + j] != BESIDE;
  }
  CHECK(bad == 0);
}
static void check_transposes(const transpose_kernels *words, const transpose_kernels *longs) {
  for (size_t n = 5; n <= 99; n += 1 + n / 5)
    for (size_t many = 5; many <= 99; many += 1 + many / 4)
      for (u32 streams = 0; streams < 2; streams++) {
        check_squares(words->transpose, 4, n, many, streams);
        check_squares(longs->transpose, 8, n, many, streams);
      }
}

static void check_table(void (*fill)(vm_kernels *), const move_kernels *move) {
  static vm_kernels k;
  k = (vm_kernels){0};
  vm_kernels_add_math(&k);
  fill(&k);
  for (size_t n = 1; n <= 9; n++)
    for (size_t many = 1; many < 200; many += 1 + many / 9) {
      check_across(move->bytes, k.stride[0], 1, n, many);
      check_across(move->words, k.stride[1], 2, n, many);
    }
  check_functions(&k);
  check_bits(&k);
  check_neighbours(&k);
  check_singles(&k);
  check_powers(&k);
  check_special_values(&k);
  check_ints(&k);
  check_halves(&k);
  check_special_pairs(&k, false);
  check_special_pairs(&k, true);
  check_complex_products(&k);
  check_complex(&k, "abs", k.unary[VM_abs][R_c64], true, wide_abs);
  check_complex(&k, "exp", k.unary[VM_exp][R_c64], false, wide_exp);
  check_complex(&k, "div", k.binary[VM_div][R_c64][FORM_VV], false, num_cdiv);
  check_wide(k.unary[VM_abs][R_c128], true, wide_abs);
  check_quotients(k.binary[VM_div][R_c128][FORM_VV]);
  check_wide(k.binary[VM_div][R_c128][FORM_VV], false, num_cdiv);
}

int main(void) {
  check_table(vm_kernels_fill_base, &move_base);
  check_transposes(&transpose_base_f32, &transpose_base_f64);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    check_table(vm_kernels_fill_v3, &move_v3);
    check_transposes(&transpose_v3_f32, &transpose_v3_f64);
  }
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq")) {
    check_table(vm_kernels_fill_v4, &move_v4);
    check_transposes(&transpose_v4_f32, &transpose_v4_f64);
  }
#elif defined(__aarch64__)
  check_table(vm_kernels_fill_neon, &move_neon);
  check_transposes(&transpose_neon_f32, &transpose_neon_f64);
#endif
  return UNIT_END();
}
