/* f32 functions as branch-free scalar code that compilers vectorise, with the reductions and
 * selections done on all lanes. Errors measured over all f32 in kernels_test.c. Included by
 * kernels.c only, once per instruction set. */
#ifndef EXEC_VECMATH_H
#define EXEC_VECMATH_H

#include <math.h>

#include "num/convert.h"

#ifdef __FMA__
#define FMA32(a, b, c) __builtin_fmaf((a), (b), (c))
#else
#define FMA32(a, b, c) ((a) * (b) + (c))
#endif

static inline float bits_f32(u32 b) { return num_f32_from_bits(b); }
static inline u32 f32_bits(float f) { return num_f32_bits(f); }

/* 2^n for -126 <= n <= 127 */
static inline float pow2_f32(i32 n) { return bits_f32((u32)(n + 127) << 23); }

/* x = n ln 2 + r, |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 p(r) */
static inline float exp_tail_f32(float r) {
  float p = 1.9875691500e-4f;
  p = FMA32(p, r, 1.3981999507e-3f);
  p = FMA32(p, r, 8.3334519073e-3f);
  p = FMA32(p, r, 4.1665795894e-2f);
  p = FMA32(p, r, 1.6666665459e-1f);
  p = FMA32(p, r, 5.0000001201e-1f);
  return p;
}
static inline float exp_f32(float x) {
  float c = x > 89.0f ? 89.0f : x;
  c = c < -104.0f ? -104.0f : c;
  float k = FMA32(c, 1.44269504088896341f, 12582912.0f); /* 1.5 * 2^23: rounds to an integer */
  i32 n = (i32)f32_bits(k) - 0x4b400000;
  k -= 12582912.0f;
  float r = FMA32(k, -0.693359375f, c);
  r = FMA32(k, 2.12194440e-4f, r);
  float y = FMA32(r * r, exp_tail_f32(r), r) + 1.0f;
  i32 half = n >> 1; /* in two steps, so that the ends of the range come out right */
  return y * pow2_f32(half) * pow2_f32(n - half); /* a NaN came through all of it */
}

/* log of a positive normal f32 as hi + lo parts joined; x = m 2^e, m in [sqrt 1/2, sqrt 2) */
static inline float log_f32(float x) {
  float scaled = x < 1.17549435e-38f ? x * 8388608.0f : x;
  float bias = x < 1.17549435e-38f ? 23.0f : 0.0f;
  u32 ix = f32_bits(scaled) - 0x3f3504f3u;
  float e = (float)((i32)ix >> 23) - bias;
  float f = bits_f32((ix & 0x7fffffu) + 0x3f3504f3u) - 1.0f;
  float p = 7.0376836292e-2f;
  p = FMA32(p, f, -1.1514610310e-1f);
  p = FMA32(p, f, 1.1676998740e-1f);
  p = FMA32(p, f, -1.2420140846e-1f);
  p = FMA32(p, f, 1.4249322787e-1f);
  p = FMA32(p, f, -1.6668057665e-1f);
  p = FMA32(p, f, 2.0000714765e-1f);
  p = FMA32(p, f, -2.4999993993e-1f);
  p = FMA32(p, f, 3.3333331174e-1f);
  float z = f * f;
  float y = p * f * z;
  y = FMA32(e, -2.12194440e-4f, y);
  y = FMA32(z, -0.5f, y);
  float r = FMA32(e, 0.693359375f, f + y);
  r = x == INFINITY ? INFINITY : r;
  r = x == 0 ? -INFINITY : r;
  return !(x >= 0) ? NAN : r;
}

static inline float expm1_f32(float x) {
  float c = x > 89.0f ? 89.0f : x;
  c = c < -20.0f ? -20.0f : c;
  float k = FMA32(c, 1.44269504088896341f, 12582912.0f);
  i32 n = (i32)f32_bits(k) - 0x4b400000;
  k -= 12582912.0f;
  float r = FMA32(k, -0.693359375f, c);
  r = FMA32(k, 2.12194440e-4f, r);
  float p = FMA32(r * r, exp_tail_f32(r), r); /* exp(r) - 1 */
  i32 half = n >> 1;
  float s1 = pow2_f32(half), s2 = pow2_f32(n - half);
  float big = (p + 1.0f) * s1 * s2 - 1.0f; /* near overflow */
  float y = n > 100 ? big : FMA32(p, s1 * s2, s1 * s2 - 1.0f);
  y = n == 0 ? p : y;
  return x == 0 ? x : y; /* keeps -0 */
}

/* u = 1 + x rounded; log(u) corrected by what the rounding lost */
static inline float log1p_f32(float x) {
  float u = 1.0f + x;
  float lost = x - (u - 1.0f);
  float y = log_f32(u) + lost / u;
  y = u == 1.0f ? x : y;
  y = x == INFINITY ? x : y;
  return x == -1.0f ? -INFINITY : y;
}

static inline float tanh_f32(float x) {
  float a = bits_f32(f32_bits(x) & 0x7fffffffu);
  float z = x * x;
  float p = -5.70498872745e-3f;
  p = FMA32(p, z, 2.06390887954e-2f);
  p = FMA32(p, z, -5.37397155531e-2f);
  p = FMA32(p, z, 1.33314422036e-1f);
  p = FMA32(p, z, -3.33332819422e-1f);
  float near = FMA32(p * z, x, x);
  float far = 1.0f - 2.0f / (exp_f32(a + a) + 1.0f);
  far = bits_f32(f32_bits(far) | (f32_bits(x) & 0x80000000u));
  float y = a < 0.625f ? near : far;
  return x == 0 ? x : y; /* keeps -0 */
}

static inline float logistic_f32(float x) {
  float e = exp_f32(bits_f32(f32_bits(x) | 0x80000000u)); /* of -|x|: cannot overflow */
  return (x < 0 ? e : 1.0f) / (1.0f + e);
}

/* Below 1 an odd polynomial; above, erfc(x) = exp(-p(x)) with p fitted to -log erfc on [1, 4]
 * (both Chebyshev fits in f64). */
static inline float erf_f32(float x) {
  float a = bits_f32(f32_bits(x) & 0x7fffffffu), c = a > 4.0f ? 4.0f : a, z = x * x;
  float near = -9.673591193859465e-06f;
  near = FMA32(near, z, 0.00011268253729213029f);
  near = FMA32(near, z, -0.0008484396385028958f);
  near = FMA32(near, z, 0.005221053492277861f);
  near = FMA32(near, z, -0.026865437626838684f);
  near = FMA32(near, z, 0.11283782869577408f);
  near = FMA32(near, z, -0.37612637877464294f);
  near = FMA32(near, z, 0.128379225730896f); /* 2 / sqrt(pi) - 1 */
  near = FMA32(near, x, x);
#ifndef __FMA__
  near = a < 0x1p-60f ? x * 1.12837917f : near; /* the product alone may be a denormal */
#endif
  float p = -1.6140616025950294e-06f;
  p = FMA32(p, c, 4.559062290354632e-05f);
  p = FMA32(p, c, -0.0005927695310674608f);
  p = FMA32(p, c, 0.004740222357213497f);
  p = FMA32(p, c, -0.02636471763253212f);
  p = FMA32(p, c, 0.10997824370861053f);
  p = FMA32(p, c, 0.6319370865821838f);
  p = FMA32(p, c, 1.1301666498184204f);
  p = FMA32(p, c, -0.0003032129898201674f);
  float far = bits_f32(f32_bits(1.0f - exp_f32(-p)) | (f32_bits(x) & 0x80000000u));
  float y = a < 1.0f ? near : far;
  return x == 0 ? x : y;
}

#ifdef __FMA__
/* Sine of x + quarters * pi/2 for |x| < 2^27: the multiple of pi/2 is taken off in f64, where a
 * fused multiply-add loses nothing; then polynomials (Cephes' sinf and cosf) in f32, whose last
 * sums have what rounding took from their terms. */
static inline float sine_f32(float x, i64 quarters) {
  double wide = x, k = __builtin_fma(wide, 0.63661977236758134308, 6755399441055744.0);
  i64 n;
  memcpy(&n, &k, 8);
  n += quarters;
  k -= 6755399441055744.0; /* 1.5 * 2^52: rounded to an integer */
  double rest = __builtin_fma(k, -1.57079632679489655800, wide);
  rest = __builtin_fma(k, -6.12323399573676603587e-17, rest);
  float r = (float)rest, low = (float)(rest - (double)r), z = r * r;
  float s = -1.9515295891e-4f;
  s = FMA32(s, z, 8.3321608736e-3f);
  s = FMA32(s, z, -1.6666654611e-1f);
  s = FMA32(s * z, r, low) + r;
  float c = 2.443315711809948e-5f;
  c = FMA32(c, z, -1.388731625493765e-3f);
  c = FMA32(c, z, 4.166664568298827e-2f);
  float most = FMA32(z, -0.5f, 1.0f), lost = FMA32(z, -0.5f, 1.0f - most);
  c = FMA32(c * z, z, FMA32(r, -low, lost)) + most;
  float y = n & 1 ? c : s;
  y = bits_f32(f32_bits(y) ^ ((u32)(n & 2) << 30));
  return y;
}
#endif

/* M. Giles, "Approximating the erfinv function", single precision */
static inline float erf_inv_f32(float x) {
  float w = -log1p_f32(-x * x);
  bool near = w < 5.0f;
  float root = __builtin_sqrtf(w);
  float t = near ? w - 2.5f : root - 3.0f;
  float p = near ? 2.81022636e-08f : -0.000200214257f;
  p = (near ? 3.43273939e-07f : 0.000100950558f) + p * t;
  p = (near ? -3.5233877e-06f : 0.00134934322f) + p * t;
  p = (near ? -4.39150654e-06f : -0.00367342844f) + p * t;
  p = (near ? 0.00021858087f : 0.00573950773f) + p * t;
  p = (near ? -0.00125372503f : -0.0076224613f) + p * t;
  p = (near ? -0.00417768164f : 0.00943887047f) + p * t;
  p = (near ? 0.246640727f : 1.00167406f) + p * t;
  p = (near ? 1.50140941f : 2.83297682f) + p * t;
  float a = bits_f32(f32_bits(x) & 0x7fffffffu);
  float ends = bits_f32(0x7f800000u | (f32_bits(x) & 0x80000000u));
  return a == 1.0f ? ends : p * x;
}

#endif
