/* Conversions and special functions at the points where they are easy to get wrong; all 16-bit
 * patterns round trip. (Agreement with ml_dtypes over all inputs is a Python test.) */
#include <float.h>
#include <math.h>

#include "num/convert.h"
#include "num/special.h"
#include "tests/unit.h"

static double through(dtype t, double x) {
  u64 bits[2] = {0, 0};
  num_from_f64(t, x, bits);
  return num_to_f64(t, bits);
}

static void test_small_floats(void) {
  CHECK(through(DTYPE_bf16, 1.0 + 0x1p-8) == 1.0);                 /* tie to even */
  CHECK(through(DTYPE_bf16, 1.0 + 0x1p-8 + 0x1p-40) == 1.0078125); /* not rounded twice */
  CHECK(through(DTYPE_f16, 65519.0) == 65504.0 && isinf(through(DTYPE_f16, 65520.0)));
  CHECK(through(DTYPE_f16, 0x1p-25) == 0 && through(DTYPE_f16, 0x1.8p-25) == 0x1p-24);
  CHECK(through(DTYPE_f8e4m3fn, 448) == 448 && isnan(through(DTYPE_f8e4m3fn, 500)));
  CHECK(isinf(through(DTYPE_f8e5m2, 1e9)) && isnan(through(DTYPE_f8e4m3fnuz, 1e9)));
  CHECK(!signbit(through(DTYPE_f8e4m3fnuz, -0.0)) && signbit(through(DTYPE_f8e4m3, -0.0)));
  CHECK(through(DTYPE_f4e2m1fn, 100) == 6 && through(DTYPE_f4e2m1fn, -2.4) == -2);
  CHECK(through(DTYPE_f6e2m3fn, 100) == 7.5 && through(DTYPE_f6e2m3fn, -0.3) == -0.25);
  CHECK(through(DTYPE_f6e3m2fn, -100) == -28 && through(DTYPE_f6e3m2fn, 0.09) == 0.0625);
  CHECK(num_decode_small(DTYPE_f6e3m2fn, 0xdf) == 28 && num_small_bits(DTYPE_f6e2m3fn) == 6);
  CHECK(through(DTYPE_f8e8m0fnu, 3) == 4 && isnan(through(DTYPE_f8e8m0fnu, -1)));
  int bad = 0;
  for (u32 i = 0; i < 65536; i++) {
    double h = num_decode_small(DTYPE_f16, i), b = num_decode_small(DTYPE_bf16, i);
    float fh = num_f16_to_f32((u16)i), fb = num_bf16_to_f32((u16)i);
    if (!isnan(h)) bad += fh != h || num_encode_small(DTYPE_f16, h) != i || num_f32_to_f16(fh) != i;
    if (!isnan(b))
      bad += fb != b || num_encode_small(DTYPE_bf16, b) != i || num_f32_to_bf16(fb) != i;
    bad += isnan(h) != isnan(fh) || isnan(b) != isnan(fb);
  }
  CHECK(bad == 0);
}

/* From f32 as from f64: every 10009th number, and ends of formats. */
static void test_encoding(void) {
  for (u32 t = 0; t < DTYPE_COUNT; t++) {
    int bad = 0;
    if (!num_small_bits((dtype)t)) continue;
    for (u64 i = 0; i < 1ull << 32; i += 10009) {
      u32 ends = (u32)i & 0xfffc0000, words[] = {(u32)i, ends, ends + 1, ends - 1};
      for (u32 k = 0; k < COUNT(words); k++) {
        float x = num_f32_from_bits(words[k]);
        bad += num_encode_small_f32((dtype)t, x) != num_encode_small((dtype)t, (double)x);
      }
    }
    CHECK(bad == 0);
  }
}

/* Every NaN of f8e4m3 is another one, in order, behind infinity. */
static void test_nans(void) {
  for (u32 code = 0x79; code < 0x7f; code++) {
    double x = num_decode_small(DTYPE_f8e4m3, code), y = num_decode_small(DTYPE_f8e4m3, code + 1);
    u32 low = num_f32_bits((float)x), high = num_f32_bits((float)y);
    CHECK(isnan(x) && isnan(y) && low > 0x7f800000 && low < high);
    CHECK(signbit(num_decode_small(DTYPE_f8e4m3, code | 0x80)));
  }
  u8 p = 9;
  float minus_zero_and_two[2] = {-0.0f, 2};
  num_convert(DTYPE_c64, minus_zero_and_two, DTYPE_pred, &p);
  CHECK(p == 0);
}

static void test_integers(void) {
  CHECK(through(DTYPE_s8, 300) == 127 && through(DTYPE_s8, -300) == -128);
  CHECK(through(DTYPE_u8, -1) == 0 && through(DTYPE_u32, NAN) == 0);
  CHECK(through(DTYPE_s4, 9) == 7 && through(DTYPE_s4, -9.5) == -8 && through(DTYPE_u2, 5) == 3);
  CHECK(through(DTYPE_s32, -1.9) == -1 && through(DTYPE_pred, 0.25) == 1);
  i64 big = (1ll << 53) + 1, out;
  num_convert(DTYPE_s64, &big, DTYPE_s64, &out);
  CHECK(out == big);
  u16 half;
  i64 odd = (1ll << 60) + (1ll << 52) + 1; /* just above a tie of bf16, lost in f64 */
  num_convert(DTYPE_s64, &odd, DTYPE_bf16, &half);
  CHECK(num_bf16_to_f32(half) == 0x1.02p60f);
  i32 wide = 0x12345;
  i16 narrow;
  num_convert(DTYPE_s32, &wide, DTYPE_s16, &narrow);
  CHECK(narrow == 0x2345);
  CHECK(num_ipow_s64(-1, -3) == -1 && num_ipow_s64(2, -1) == 0 && num_ipow_s64(3, 4) == 81);
}

static bool near(double got, double want) { return fabs(got - want) <= 4e-15 * fabs(want); }

static void test_special(void) {
  CHECK(near(num_erf_inv(0.5), 0.47693627620446987) && isinf(num_erf_inv(1)));
  CHECK(near(erf(num_erf_inv(-0.999)), -0.999) && isnan(num_erf_inv(1.5)));
  CHECK(near(num_digamma(1), -0.57721566490153286) && isnan(num_digamma(-2)));
  CHECK(near(num_digamma(1.4616321449683622), -9.2412655217294275e-17));
  CHECK(near(num_digamma(1.5), 0.03648997397857652) &&
        near(num_digamma(1.4), -0.06138454458511615));
  CHECK(near(num_digamma(-0x1p-10), num_digamma(1 - 0x1p-10) + 1024));
  CHECK(near(num_lgamma(10), 12.801827480081469) && isinf(num_lgamma(-1)));
  CHECK(near(num_zeta(2, 1), 1.6449340668482264) && isinf(num_zeta(1, 1)));
  CHECK(isinf(num_zeta(0, -2)) && isnan(num_zeta(0, 2)) && isnan(num_zeta(3, -2)));
  CHECK(near(num_polygamma(1, 1), 1.6449340668482264));
  CHECK(near(num_polygamma(2, -70.125), 1022.2941904089652) &&
        near(num_polygamma(3, -294.75), 1558.5454564663323));
  CHECK(near(num_zeta(2, -4e15 - 0.5), 9.869604401089358) &&
        near(num_zeta(3, -1e6 - 0.25), -62.01255336059914));
  CHECK(near(num_bessel_i1e(1), 0.20791041534970845) && num_bessel_i1e(-1) < 0);
  CHECK(near(num_bessel_i1e(0x1p1023) * 0x1p512, 0.56418958354775628));
  num_complex big = num_cexpm1((num_complex){1e10, -0.0});
  CHECK(big.re == INFINITY && big.im == 0 && signbit(big.im));
  big = num_clog1p((num_complex){-DBL_MAX, DBL_MAX});
  CHECK(near(big.re, 710.12928648366394) && near(big.im, 2.3561944901923448));
  num_complex z = num_clog1p((num_complex){1e-10, 1e-10}), w = num_cexpm1(z);
  CHECK(near(w.re, 1e-10) && near(w.im, 1e-10));
}

/* Powers that are 1, 0 or infinite whatever NaNs a product of infinities and zeros makes. */
static void test_complex_powers(void) {
  const double ends[] = {0, -0.0, 1, -1, INFINITY, -INFINITY, NAN, 2.5};
  for (u32 i = 0; i < COUNT(ends) * COUNT(ends); i++) {
    num_complex z = {ends[i % COUNT(ends)], ends[i / COUNT(ends)]};
    num_complex p = num_cpow(z, (num_complex){i % 3 ? 0 : -0.0, i % 2 ? 0 : -0.0});
    CHECK(p.re == 1 && p.im == 0);
    p = num_cpow((num_complex){1, i % 2 ? 0 : -0.0}, z);
    CHECK(p.re == 1 && p.im == 0);
    p = num_cpow((num_complex){INFINITY, i % 2 ? 0 : -0.0}, (num_complex){z.re, 0});
    if (z.re > 0) CHECK(isinf(p.re) && p.re > 0 && p.im == 0);
    p = num_cpow((num_complex){-0.0, 0}, z);
    if (z.re > 0) CHECK(p.re == 0 && p.im == 0);
  }
}
static bool both_nan(num_complex z) { return isnan(z.re) && isnan(z.im); }
static void test_complex_angles(void) {
  static const double angles[] = {INFINITY, -INFINITY, NAN}, others[] = {0, 2, INFINITY, -INFINITY};
  for (size_t i = 0; i < 3; i++) {
    double angle = angles[i];
    for (size_t k = 0; k < 4; k++) {
      num_complex z = {others[k], angle};
      CHECK(both_nan(num_cexp(z)) && both_nan(num_csinh(z)) && both_nan(num_ccosh(z)));
    }
    CHECK(both_nan(num_ctan((num_complex){angle, 0})));
    CHECK(both_nan(num_ctanh((num_complex){0, angle})));
  }
  num_complex far = num_ctanh((num_complex){-INFINITY, INFINITY});
  CHECK(far.re == -1 && far.im == 0);
}

static void test_complex(void) {
  num_complex big = {0x1p1023, -0x1p1023}, q = num_cdiv(big, (num_complex){-0x1p-290, 0x1p-715});
  CHECK(q.re == -INFINITY && q.im == INFINITY);
  q = num_cdiv((num_complex){-3, INFINITY}, (num_complex){0x1p-557, -0x1p658});
  CHECK(q.re == -INFINITY && isnan(q.im));
  q = num_cdiv((num_complex){0x1.8p1023, 0}, (num_complex){0x1.8p480, 0x1p100});
  CHECK(q.re == 0x1p543);
  q = num_cdiv((num_complex){1, 2}, (num_complex){0, 0});
  CHECK(q.re == INFINITY && q.im == INFINITY);
  q = num_cdiv((num_complex){5, 10}, (num_complex){3, 4});
  CHECK(near(q.re, 2.2) && near(q.im, 0.4));
  q = num_cdiv((num_complex){1, 1}, (num_complex){INFINITY, 1});
  CHECK(q.re == 0 && q.im == 0);
}

static void test_reduce_precision(void) {
  CHECK(num_reduce_precision_f32(1.0009765625f, 5, 9) == 1.0f);
  CHECK(isinf(num_reduce_precision_f32(70000.0f, 5, 10)));
  CHECK(num_reduce_precision_f32(1e-6f, 5, 10) == 0);
  CHECK(num_reduce_precision_f64(M_PI, 11, 52) == M_PI &&
        num_reduce_precision_f64(M_PI, 8, 7) == 3.140625);
  CHECK(num_reduce_precision_f32(-NAN, 5, 0) == INFINITY &&
        num_reduce_precision_f32(-INFINITY, 5, 0) == -INFINITY &&
        isnan(num_reduce_precision_f32(NAN, 5, 1)));
  CHECK(num_reduce_precision_f64(-NAN, 11, 0) == INFINITY);
  CHECK(num_reduce_precision_small(DTYPE_bf16, -NAN, 8, 0) == INFINITY);
  CHECK(isnan(num_reduce_precision_small(DTYPE_f8e8m0fnu, NAN, 8, 0)));
  CHECK(num_reduce_precision_f32(70000.0f, 5, 30) == INFINITY); /* more mantissa than there is */
  /* denormals of the operand's own format lose bits where they lie */
  CHECK(num_reduce_precision_small(DTYPE_f16, 0x1p-24, 5, 10) == 0x1p-24);
  CHECK(num_reduce_precision_small(DTYPE_f16, 0x1p-24, 8, 7) == 0);
  CHECK(num_reduce_precision_small(DTYPE_f16, -0x1.8p-17, 5, 2) == -0x1p-16);
  CHECK(num_reduce_precision_small(DTYPE_f16, 0x1p-14, 4, 10) == 0);
  CHECK(isinf(num_reduce_precision_small(DTYPE_f16, 300, 4, 10)));
  CHECK(num_reduce_precision_small(DTYPE_f8e4m3fn, 416, 5, 2) == 384); /* its top exponent is one */
  CHECK(isnan(num_reduce_precision_small(DTYPE_f8e4m3fn, 448, 5, 1)));
  CHECK(num_reduce_precision_small(DTYPE_bf16, 0x1p-128, 8, 2) == 0x1p-128);
  CHECK(num_reduce_precision_small(DTYPE_f8e4m3b11fnuz, 0x1p-13, 4, 11) == 0x1p-13);
  CHECK(num_reduce_precision_small(DTYPE_f8e4m3b11fnuz, 0x1p-13, 4, 2) == 0);
  /* above a smaller range of exponents, in formats without infinity */
  CHECK(isnan(num_reduce_precision_small(DTYPE_f8e4m3fn, 2, 1, 1)));
  CHECK(num_reduce_precision_small(DTYPE_f4e2m1fn, -2, 1, 1) == -6);
  CHECK(num_reduce_precision_small(DTYPE_f4e2m1fn, 1.5, 2, 1) == 1.5);
}

static void test_next_after(void) {
  CHECK(num_next_after_small(DTYPE_f16, 0, 1) == 0x1p-24);
  CHECK(num_next_after_small(DTYPE_f16, 65504, INFINITY) == INFINITY);
  CHECK(num_next_after_small(DTYPE_bf16, -1, -2) == -1.0078125);
  CHECK(num_next_after_small(DTYPE_f8e4m3fnuz, -0x1p-10, 1) == 0); /* it has no -0 */
  CHECK(isnan(num_next_after_small(DTYPE_f8e4m3fn, 448, 1000)));
  CHECK(num_next_after_small(DTYPE_f4e2m1fn, 6, INFINITY) == 6);
  CHECK(num_next_after_small(DTYPE_f4e2m1fn, 0, -1) == -0.5);
  CHECK(num_next_after_small(DTYPE_f8e8m0fnu, 0x1p-127, 0) == 0x1p-127);
}

int main(void) {
  test_small_floats();
  test_encoding();
  test_nans();
  test_integers();
  test_special();
  test_complex();
  test_complex_powers();
  test_complex_angles();
  test_reduce_precision();
  test_next_after();
  return UNIT_END();
}
