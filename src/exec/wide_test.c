/* The vector kernels of f64 functions (vecmath64.h): errors beside libm's long double, special
 * values, elements that go to libm, remainders bit for bit. */
#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "exec/kernels.h"
#include "num/convert.h"
#include "num/special.h"
#include "tests/unit.h"

#include <complex.h>
#undef complex /* others have fields of that name */

enum { COUNT_OF = 1 << 16 };

static u64 state = 1;
static double unit_random(void) {
  state = state * 6364136223846793005 + 1442695040888963407;
  return (double)(state >> 11) * 0x1p-53;
}
static double between(double low, double high) { return low + (high - low) * unit_random(); }

static long double logisticl(long double x) { return 1 / (1 + expl(-x)); }

/* In units of the last place of the rounded result. */
static double units(double got, long double want) {
  double rounded = fabs((double)want);
  if (got == (double)want) return 0;
  return (double)(fabsl(got - want) / (nextafter(rounded, INFINITY) - rounded));
}

typedef long double exact_fn(long double);
static void check_error(const vm_kernels *k, vm_op op, exact_fn *exact, double low, double high,
                        double most) {
  static double x[COUNT_OF], y[COUNT_OF];
  double worst = 0, at = 0;
  for (u32 i = 0; i < COUNT_OF; i++)
    x[i] =
        i % 2 ? between(low, high) : exp2(between(-60, log2(high))) * (low < 0 && i % 4 ? -1 : 1);
  for (u32 i = 0; i < COUNT_OF; i++) x[i] = x[i] < low ? low : x[i];
  k->unary[op][R_f64](COUNT_OF, y, x, NULL, NULL);
  for (u32 i = 0; i < COUNT_OF; i++) {
    double e = units(y[i], exact(x[i]));
    if (!(e <= worst)) worst = e, at = x[i];
  }
  if (worst > most || getenv("KERNELS_TEST_REPORT"))
    fprintf(stderr, "%s %s: %.3f units at %a\n", k->isa, vm_op_name(op), worst, at);
  CHECK(worst <= most);
}

static void check_errors(const vm_kernels *k) {
  check_error(k, VM_exp, expl, -700, 709.7, 1.1);
  check_error(k, VM_exp, expl, -1, 1, 1.1);
  check_error(k, VM_expm1, expm1l, -40, 709.7, 2);
  check_error(k, VM_expm1, expm1l, -1, 1, 2);
  check_error(k, VM_log, logl, 0, 1e300, 1);
  check_error(k, VM_log, logl, 0.5, 2, 1);
  check_error(k, VM_log1p, log1pl, -0.999, 1e10, 1.4);
  check_error(k, VM_log1p, log1pl, -0.5, 1, 1.4);
  check_error(k, VM_tanh, tanhl, -3, 3, 2.7);
  check_error(k, VM_logistic, logisticl, -700, 40, 2.1);
  check_error(k, VM_sin, sinl, -10, 10, 0.8);
  check_error(k, VM_sin, sinl, -1e9, 1e9, 0.8);
  check_error(k, VM_sin, sinl, -1e15, 1e15, 0.8); /* libm's */
  check_error(k, VM_cos, cosl, -10, 10, 0.8);
  check_error(k, VM_cos, cosl, -1e9, 1e9, 0.8);
  check_error(k, VM_tan, tanl, -10, 10, 2.2);
  check_error(k, VM_tan, tanl, -1e9, 1e9, 2.2);
  check_error(k, VM_atan, atanl, -5, 5, 0.8);
  check_error(k, VM_cbrt, cbrtl, -1e3, 1e300, 0.8);
}

/* Every pair of signs, magnitudes near each other and far apart. */
static void check_angles(const vm_kernels *k) {
  static double x[COUNT_OF], y[COUNT_OF], z[COUNT_OF];
  double worst = 0;
  for (u32 i = 0; i < COUNT_OF; i++) {
    x[i] = between(-1, 1) * exp2(between(-1000, 1000));
    y[i] = between(-1, 1) * (i % 3 ? x[i] : exp2(between(-1000, 1000)));
  }
  k->binary[VM_atan2][R_f64][FORM_VV](COUNT_OF, z, y, x, NULL);
  for (u32 i = 0; i < COUNT_OF; i++) {
    long double want = atan2l(y[i], x[i]);
    if (fabsl(want) > DBL_MIN) worst = fmax(worst, units(z[i], want));
  }
  if (getenv("KERNELS_TEST_REPORT")) fprintf(stderr, "%s atan2: %.3f units\n", k->isa, worst);
  CHECK(worst <= 0.9);
}

/* Exactly what fmod gives: quotients of any size, whole ones, ends. */
static void check_remainders(const vm_kernels *k) {
  static double x[COUNT_OF], y[COUNT_OF], z[COUNT_OF];
  static float fx[COUNT_OF], fy[COUNT_OF], fz[COUNT_OF];
  const double ends[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, DBL_MIN, 0x1p-1074, DBL_MAX, 3};
  u64 wrong = 0;
  for (u32 i = 0; i < COUNT_OF; i++) {
    y[i] = between(-1, 1) * exp2(between(-20, 20));
    x[i] = between(-1, 1) * exp2(between(-20, i % 8 ? 20 : 600));
    if (i % 5 == 0) x[i] = rint(between(-1e3, 1e3)) * y[i];
    if (i % 7 == 0) x[i] = ends[i / 7 % COUNT(ends)];
    if (i % 11 == 0) y[i] = ends[i / 11 % COUNT(ends)];
    fx[i] = (float)x[i], fy[i] = (float)y[i];
  }
  k->binary[VM_rem][R_f64][FORM_VV](COUNT_OF, z, x, y, NULL);
  k->binary[VM_rem][R_f32][FORM_VV](COUNT_OF, fz, fx, fy, NULL);
  for (u32 i = 0; i < COUNT_OF; i++) {
    double want = fmod(x[i], y[i]);
    float narrow = fmodf(fx[i], fy[i]);
    bool same = isnan(want) ? isnan(z[i]) : num_f64_bits(want) == num_f64_bits(z[i]);
    bool so = isnan(narrow) ? isnan(fz[i]) : num_f32_bits(narrow) == num_f32_bits(fz[i]);
    if (!same || !so) fprintf(stderr, "%a rem %a: %a, %a\n", x[i], y[i], z[i], (double)fz[i]);
    wrong += !same || !so;
  }
  CHECK(wrong == 0);
}

/* As many operands as there are functions, of which each ends up where libm's is. */
static void check_ends(const vm_kernels *k) {
  static const struct {
    vm_op op;
    double (*exact)(double);
  } of[] = {{VM_exp, exp}, {VM_expm1, expm1}, {VM_log, log}, {VM_log1p, log1p}, {VM_tanh, tanh},
            {VM_sin, sin}, {VM_cos, cos},     {VM_tan, tan}, {VM_atan, atan},   {VM_cbrt, cbrt}};
  const double x[] = {0,    -0.0,      INFINITY, -INFINITY, NAN,     1,
                      -1,   0x1p-1074, DBL_MAX,  -DBL_MAX,  710,     709.9,
                      -746, -0x1p-60,  -2,       DBL_MIN,   0x1p1000};
  for (size_t f = 0; f < COUNT(of); f++) {
    double y[COUNT(x)], in_place[COUNT(x)];
    memcpy(in_place, x, sizeof x);
    k->unary[of[f].op][R_f64](COUNT(x), y, x, NULL, NULL);
    k->unary[of[f].op][R_f64](COUNT(x), in_place, in_place, NULL, NULL);
    for (size_t i = 0; i < COUNT(x); i++) {
      double want = of[f].exact(x[i]), alone;
      k->unary[of[f].op][R_f64](1, &alone, x + i, NULL, NULL);
      bool same = isnan(want)                ? isnan(y[i])
                  : want == 0 || isinf(want) ? num_f64_bits(y[i]) == num_f64_bits(want)
                                             : fabs(y[i] - want) <= 4e-16 * fabs(want);
      if (!same) fprintf(stderr, "%s %s(%a): %a\n", k->isa, vm_op_name(of[f].op), x[i], y[i]);
      CHECK(same);
      CHECK(isnan(y[i]) ? isnan(alone) : num_f64_bits(alone) == num_f64_bits(y[i]));
      CHECK(isnan(y[i]) ? isnan(in_place[i]) : num_f64_bits(in_place[i]) == num_f64_bits(y[i]));
    }
  }
}

/* tan of f32 is f64's, rounded. */
static void check_narrow(const vm_kernels *k) {
  enum { MANY = 1000 };
  float x[MANY], y[MANY];
  for (u32 i = 0; i < MANY; i++) x[i] = (float)between(-1e6, 1e6);
  k->unary[VM_tan][R_f32](MANY, y, x, NULL, NULL);
  for (u32 i = 0; i < MANY; i++) CHECK(y[i] == (float)tan((double)x[i]));
}

/* Beside num's, whose sums are of long double; zeros, infinities and NaNs are its own. */
static void check_complex_powers(const vm_kernels *k) {
  enum { MANY = 4096 };
  static kern_c64 a[MANY], b[MANY], c[MANY];
  const float ends[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 1e38f, 1e-42f, -2};
  double worst = 0;
  for (u32 i = 0; i < MANY; i++) {
    double size = exp2(between(-30, 30));
    a[i] = (kern_c64){(float)(size * between(-1, 1)), (float)(size * between(-1, 1))};
    b[i] = (kern_c64){(float)between(-4, 4), (float)(i % 3 ? between(-4, 4) : 0)};
    if (i % 5 == 0) a[i].im = i % 2 ? 0 : -0.0f;
    if (i % 7 == 0) a[i].re = ends[i / 7 % COUNT(ends)];
    if (i % 11 == 0) b[i].re = ends[i / 11 % COUNT(ends)];
  }
  k->binary[VM_pow][R_c64][FORM_VV](MANY, c, a, b, NULL);
  for (u32 i = 0; i < MANY; i++) {
    num_complex w = num_cpow((num_complex){(double)a[i].re, (double)a[i].im},
                             (num_complex){(double)b[i].re, (double)b[i].im});
    double size = hypot(w.re, w.im), off = hypot((double)c[i].re - w.re, (double)c[i].im - w.im);
    bool plain = size < 1e38 && size > 1e-30;
    if (plain) worst = fmax(worst, off / size);
    float re = (float)w.re, im = (float)w.im;
    bool same = isnan(re) ? isnan(c[i].re) : plain || !isfinite(re) == !isfinite(c[i].re);
    CHECK(same && (isnan(im) ? isnan(c[i].im) : plain || !isfinite(im) == !isfinite(c[i].im)));
  }
  CHECK(worst < 0x1p-24);
}

/* Beside long double's, part by part; ends are num's. */
typedef long double _Complex wide_fn(long double _Complex z);
static long double _Complex exact_sign(long double _Complex z) { return z / cabsl(z); }
static long double _Complex exact_expm1(long double _Complex z) {
  long double x = creall(z), y = cimagl(z), s = sinl(y / 2);
  return __builtin_complex(expm1l(x) * cosl(y) - 2 * s * s, expl(x) * sinl(y));
}
static double off_by(double x, long double want, double size) {
  return (double)(fabsl((long double)x - want) / fmaxl(fabsl(want), (long double)size));
}
static void check_complex_function(const vm_kernels *k, vm_op op, wide_fn *exact,
                                   num_complex (*end)(num_complex), bool cancels) {
  enum { MANY = 4099 };
  static kern_c128 a[MANY], c[MANY];
  static kern_c64 narrow[MANY], rounded[MANY];
  const float ends[] = {0, -0.0f, INFINITY, -INFINITY, NAN, 1e38f, 1e-42f, 800, -301};
  double worst = 0, worst_narrow = 0;
  for (u32 i = 0; i < MANY; i++) {
    double scale = i % 2 ? 1 : 20;
    float re = (float)(scale * between(-1, 1)), im = (float)(scale * between(-1, 1));
    if (i % 13 == 0) re = ends[i / 13 % COUNT(ends)];
    if (i % 17 == 0) im = ends[i / 17 % COUNT(ends)];
    narrow[i] = (kern_c64){re, im};
    a[i] = (kern_c128){(double)re, (double)im};
  }
  bool both = op != VM_exp; /* c64's is in another file */
  if (both) k->unary[op][R_c64](MANY, rounded, narrow, NULL, NULL);
  k->unary[op][R_c128](MANY, c, a, NULL, NULL);
  for (u32 i = 0; i < MANY; i++) {
    num_complex from = {a[i].re, a[i].im}, w = end(from);
    bool plain = i % 13 && i % 17;
    long double _Complex z = exact(__builtin_complex((long double)from.re, (long double)from.im));
    double size = cancels ? (double)cabsl(z) : 0;
    worst =
        fmax(worst,
             !plain ? 0 : fmax(off_by(c[i].re, creall(z), size), off_by(c[i].im, cimagl(z), size)));
    double off = plain && both ? fmax(off_by((double)rounded[i].re, creall(z), size),
                                      off_by((double)rounded[i].im, cimagl(z), size))
                               : 0;
    worst_narrow = fmax(worst_narrow, off);
    bool same = isnan(w.re) == isnan(c[i].re) && isnan(w.im) == isnan(c[i].im) &&
                isinf(w.re) == isinf(c[i].re) && isinf(w.im) == isinf(c[i].im) &&
                (w.re != 0 || num_f64_bits(w.re) == num_f64_bits(c[i].re)) &&
                (w.im != 0 || num_f64_bits(w.im) == num_f64_bits(c[i].im));
    if (!same)
      fprintf(stderr, "%s(%a, %a): (%a, %a), not (%a, %a)\n", vm_op_name(op), from.re, from.im,
              c[i].re, c[i].im, w.re, w.im);
    CHECK(same);
  }
  if (getenv("WIDE_TEST_TELLS"))
    printf("%s of c128: %.2f, of c64: %.2f\n", vm_op_name(op), worst * 0x1p53,
           worst_narrow * 0x1p24);
  CHECK(worst < 0x1p-49 && worst_narrow < 0x1.1p-24);
}
static void check_complex_functions(const vm_kernels *k) {
  check_complex_function(k, VM_exp, cexpl, num_cexp, false);
  check_complex_function(k, VM_sinh, csinhl, num_csinh, false);
  check_complex_function(k, VM_cosh, ccoshl, num_ccosh, false);
  check_complex_function(k, VM_tanh, ctanhl, num_ctanh, false);
  check_complex_function(k, VM_tan, ctanl, num_ctan, false);
  check_complex_function(k, VM_expm1, exact_expm1, num_cexpm1, true);
  check_complex_function(k, VM_sign, exact_sign, num_csign, false);
}
/* As num's, whose are of long double. */
static void check_wide_powers(const vm_kernels *k) {
  enum { MANY = 4099 };
  static kern_c128 a[MANY], b[MANY], c[MANY];
  const double ends[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e200, 1e-200, -2};
  double worst = 0;
  for (u32 i = 0; i < MANY; i++) {
    double size = exp2(between(-30, 30));
    a[i] = (kern_c128){size * between(-1, 1), size * between(-1, 1)};
    b[i] = (kern_c128){between(-4, 4), i % 3 ? between(-4, 4) : 0};
    if (i % 7 == 0) a[i].re = ends[i / 7 % COUNT(ends)];
    if (i % 11 == 0) b[i].re = ends[i / 11 % COUNT(ends)];
  }
  k->binary[VM_pow][R_c128][FORM_VV](MANY, c, a, b, NULL);
  for (u32 i = 0; i < MANY; i++) {
    num_complex w = num_cpow((num_complex){a[i].re, a[i].im}, (num_complex){b[i].re, b[i].im});
    double size = hypot(w.re, w.im), off = hypot(c[i].re - w.re, c[i].im - w.im);
    if (size > 0 && size < INFINITY) worst = fmax(worst, off / size);
    CHECK(isnan(w.re) == isnan(c[i].re) && isinf(w.im) == isinf(c[i].im));
  }
  if (getenv("WIDE_TEST_TELLS")) printf("powers of c128: %.2f\n", worst * 0x1p53);
  CHECK(worst < 0x1p-48);
}

static void check_table(void (*fill)(vm_kernels *)) {
  static vm_kernels k;
  k = (vm_kernels){.isa = "f64"};
  vm_kernels_add_math(&k);
  fill(&k);
  check_errors(&k);
  check_angles(&k);
  check_remainders(&k);
  check_ends(&k);
  check_narrow(&k);
  check_complex_powers(&k);
  check_wide_powers(&k);
  check_complex_functions(&k);
}

int main(void) {
  static vm_kernels base = {.isa = "base"};
  vm_kernels_add_math(&base);
  check_ends(&base);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    check_table(wide_kernels_fill_v3);
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    check_table(wide_kernels_fill_v4);
#elif defined(__aarch64__)
  check_table(wide_kernels_fill_neon);
#endif
  return UNIT_END();
}
