/* f32 functions as branch-free code, with the reductions and selections done on all lanes. Errors
 * measured over all f32 in kernels_test.c.
 *
 * They are written over operations on numbers, words and truth values. Unless whoever includes this
 * defined them otherwise (v_num is a macro then: jit_ops.c, where they make machine code), these
 * are C's on one element, which compilers vectorise: kernels.c has them so, once per instruction
 * set. */
#ifndef EXEC_VECMATH_H
#define EXEC_VECMATH_H

#include <math.h>

#include "exec/fma.h"
#include "num/convert.h"

static inline float bits_f32(u32 b) { return num_f32_from_bits(b); }
static inline u32 f32_bits(float f) { return num_f32_bits(f); }

#ifdef HAS_FMA
#define FMA32(a, b, c) __builtin_fmaf((a), (b), (c))
#define LEFT32(a, b, c) __builtin_fmaf(-(a), (b), (c))
#else
#define FMA32(a, b, c) ((a) * (b) + (c))
#define LEFT32(a, b, c) ((float)((double)(c) - (double)(a) * (b)))
#endif

#ifndef v_num
#define V_IN /* before parameters */
#define V_TO /* before arguments */
typedef float v_num;
typedef u32 v_word;
typedef bool v_truth;
#define v_const(x) (x)
#define v_add(x, y) ((x) + (y))
#define v_sub(x, y) ((x) - (y))
#define v_mul(x, y) ((x) * (y))
#define v_div(x, y) ((x) / (y))
#define v_fma(x, y, z) FMA32(x, y, z)
#define v_left(x, y, z) LEFT32(x, y, z) /* z - x y rounded once */
#define v_root(x) __builtin_sqrtf(x)
#define v_neg(x) (-(x))
#define v_lesser(x, y) ((x) < (y) ? (x) : (y)) /* y where one is NaN */
#define v_greater(x, y) ((x) > (y) ? (x) : (y))
#define v_lt(x, y) ((x) < (y))
#define v_gt(x, y) ((x) > (y))
#define v_ge(x, y) ((x) >= (y))
#define v_eq(x, y) ((x) == (y))
#define v_pick(t, x, y) ((t) ? (x) : (y))
#define v_bits(x) f32_bits(x)
#define v_of_bits(w) bits_f32(w)
#define v_of_int(w) ((float)(i32)(w))
#define w_const(x) ((u32)(x))
#define w_add(x, y) ((x) + (y))
#define w_sub(x, y) ((x) - (y))
#define w_and(x, y) ((x) & (y))
#define w_or(x, y) ((x) | (y))
#define w_shift_sign(x, n) ((u32)((i32)(x) >> (n)))
#define w_shift_left(x, n) ((x) << (n))
#define w_greater(x, y) ((i32)(x) > (i32)(y) ? (x) : (y))
#define w_xor(x, y) ((x) ^ (y))
#define w_odd(x) (((x)&1) != 0)
#define w_gt(x, y) ((i32)(x) > (i32)(y))
#define w_eq(x, y) ((x) == (y))
#define w_of_num(x) ((u32)(i32)(x)) /* cut off */
#define v_whole(x) __builtin_truncf(x)
/* f64, for what is to be rounded once in the end */
typedef double v_wide;
#define d_of(x) ((double)(x))
#define d_num(x) ((float)(x))
#define d_const(x) (x)
#define d_add(x, y) ((x) + (y))
#define d_sub(x, y) ((x) - (y))
#define d_mul(x, y) ((x) * (y))
#ifdef HAS_FMA
#define d_fma(x, y, z) __builtin_fma(x, y, z)
#else
#define d_fma(x, y, z) ((x) * (y) + (z))
#endif
#define d_lesser(x, y) ((x) < (y) ? (x) : (y)) /* y where one is NaN */
#define d_greater(x, y) ((x) > (y) ? (x) : (y))
/* x 2^n, both normal, for an integer n in bits of 1.5 * 2^52 + n */
static inline double d_scale(double x, double shifted) {
  return num_f64_from_bits(num_f64_bits(x) + (num_f64_bits(shifted) << 52));
}
#define v_scale(x, shifted) scale_f32(x, shifted)
#define v_split(x, e) split_f32(x, e)
#endif

/* x 2^n for an integer n in bits of 1.5 * 2^23 + n: in two steps, so that the ends of the range
 * come out right; their exponents, from 127 on, are two halves of n + 254. */
static inline v_num scale_f32(V_IN v_num x, v_num shifted) {
  v_word n = w_sub(v_bits(shifted), w_const(0x4b400000 - 254)), half = w_shift_sign(n, 1);
  v_num y = v_mul(x, v_of_bits(w_shift_left(half, 23)));
  return v_mul(y, v_of_bits(w_shift_left(w_sub(n, half), 23)));
}
/* x = m 2^e, m in [3/4, 3/2). Of 0 and infinity m is 1 and e infinite; NaN of NaN and what is
 * below 0. */
static inline v_num split_f32(V_IN v_num x, v_num *e) {
  v_num zero = v_const(0.0f), inf = v_const(INFINITY), none = v_const(NAN);
  v_truth small = v_lt(x, v_const(1.17549435e-38f));
  v_num scaled = v_pick(small, v_mul(x, v_const(8388608.0f)), x);
  v_word w = w_sub(v_bits(scaled), w_const(0x3f400000));
  v_num m = v_of_bits(w_add(w_and(w, w_const(0x7fffff)), w_const(0x3f400000)));
  *e = v_sub(v_of_int(w_shift_sign(w, 23)), v_pick(small, v_const(23.0f), zero));
  *e = v_pick(v_eq(x, zero), v_const(-INFINITY), v_pick(v_eq(x, inf), inf, *e));
  m = v_pick(v_eq(x, zero), v_const(1.0f), v_pick(v_eq(x, inf), v_const(1.0f), m));
  *e = v_pick(v_ge(x, zero), *e, none);
  return v_pick(v_ge(x, zero), m, none);
}

/* x = n ln 2 + r, |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 p(r), where p, fitted so that r + r^2 p(r)
 * is as exact as can be, leaves less than a quarter of a unit of it. */
static inline v_num exp_tail_f32(V_IN v_num r) {
  v_num p = v_const(1.3869948452e-3f);
  p = v_fma(p, r, v_const(8.3662532270e-3f));
  p = v_fma(p, r, v_const(4.1667442769e-2f));
  p = v_fma(p, r, v_const(1.6666546464e-1f));
  return v_fma(p, r, v_const(4.9999997020e-1f));
}
#define V_SHIFT                                                                                    \
  v_const(12582912.0f) /* 1.5 * 2^23: what is added to it is rounded to an integer                 \
                        */
/* exp(c) - 1 less what n does to it, which comes in the bits of *shifted. */
static inline v_num exp_rest_f32(V_IN v_num c, v_num *shifted) {
  *shifted = v_fma(c, v_const(1.44269504088896341f), V_SHIFT);
  v_num k = v_sub(*shifted, V_SHIFT);
  v_num r = v_fma(k, v_const(-0.693359375f), c);
  r = v_fma(k, v_const(2.12194440e-4f), r);
  return v_fma(v_mul(r, r), exp_tail_f32(V_TO r), r);
}
/* The same for those that need less of exp(c) the farther c is from 0: ln 2 as one number. */
static inline v_num exp_near_f32(V_IN v_num c, v_num *shifted) {
  *shifted = v_fma(c, v_const(1.44269504088896341f), V_SHIFT);
  v_num r = v_fma(v_sub(*shifted, V_SHIFT), v_const(-0.69314718055994531f), c);
  return v_fma(v_mul(r, r), exp_tail_f32(V_TO r), r);
}
static inline v_num exp_f32(V_IN v_num x) {
  v_num c = v_greater(v_const(-104.0f), v_lesser(v_const(89.0f), x)), shifted;
  v_num y = v_add(exp_rest_f32(V_TO c, &shifted), v_const(1.0f));
  return v_scale(y, shifted); /* a NaN came through all of it */
}

/* log(m) + e ln 2 for f = m - 1 in [-1/4, 1/2]: f - f^2 / 2 and the rest, fitted to 2^-26 of it. */
static inline v_num log_parts_f32(V_IN v_num f, v_num e) {
  v_num p = v_const(-0.04507477954030037f);
  p = v_fma(p, f, v_const(0.10463016480207443f));
  p = v_fma(p, f, v_const(-0.1316118985414505f));
  p = v_fma(p, f, v_const(0.14478394389152527f));
  p = v_fma(p, f, v_const(-0.1664731204509735f));
  p = v_fma(p, f, v_const(0.19990861415863037f));
  p = v_fma(p, f, v_const(-0.2500009536743164f));
  p = v_fma(p, f, v_const(0.33333447575569153f));
  p = v_fma(p, f, v_const(-0.5f));
  return v_fma(e, v_const(0.69314718055994531f), v_fma(v_mul(f, f), p, f));
}
static inline v_num log_f32(V_IN v_num x) {
  v_num e, m = v_split(x, &e);
  return log_parts_f32(V_TO v_sub(m, v_const(1.0f)), e);
}

static inline v_num expm1_f32(V_IN v_num x) {
  v_num c = v_greater(v_const(-20.0f), v_lesser(v_const(89.0f), x)), shifted;
  v_num p = exp_rest_f32(V_TO c, &shifted), power = v_scale(v_const(1.0f), shifted);
  v_num big = v_sub(v_scale(v_add(p, v_const(1.0f)), shifted), v_const(1.0f)); /* near overflow */
  v_num y = v_fma(p, power, v_sub(power, v_const(1.0f)));
  y = v_pick(w_gt(v_bits(shifted), w_const(0x4b400064)), big, y); /* n > 100 */
  y = v_pick(w_eq(v_bits(shifted), w_const(0x4b400000)), p, y);   /* n = 0 */
  return v_pick(v_eq(x, v_const(0.0f)), x, y);                    /* keeps -0 */
}

static inline v_num abs_f32(V_IN v_num x) {
  return v_of_bits(w_and(v_bits(x), w_const(0x7fffffff)));
}
/* |x| with the sign of y where x is not negative */
static inline v_num signed_f32(V_IN v_num x, v_num y) {
  return v_of_bits(w_or(v_bits(x), w_and(v_bits(y), w_const(0x80000000))));
}

/* 1 + x = m 2^e, but for what rounding takes from the sum, which comes to m as a multiple of 2^-e;
 * that is NaN for infinity. */
static inline v_num log1p_f32(V_IN v_num x) {
  v_num one = v_const(1.0f), u = v_add(one, x), lost = v_sub(x, v_sub(u, one)), e;
  v_num m = v_split(u, &e);
  v_word power = w_add(w_sub(v_bits(one), v_bits(u)), v_bits(m));
  v_num f = v_fma(lost, v_of_bits(w_greater(power, w_const(0))), v_sub(m, one));
  return signed_f32(V_TO log_parts_f32(V_TO v_lesser(f, one), e), x);
}

/* (exp(2|x|) - 1) / (exp(2|x|) + 1), with x's sign; above 10 it is 1. With |x| = n ln 2 / 2 + r,
 * exp(2 r) - 1 is 2 p = 2 (r + r^2 (...)), fitted as exp_tail. Loops wait for this: the sum is by
 * halves. */
static inline v_num tanh_f32(V_IN v_num x) {
  v_num c = v_lesser(v_const(10.0f), abs_f32(V_TO x));
  v_num shifted = v_fma(c, v_const(2.88539008177792681f), V_SHIFT);
  v_num r = v_fma(v_sub(shifted, V_SHIFT), v_const(-0.34657359027997264f), c), z = v_mul(r, r);
  v_num low = v_fma(v_const(0x1.5554b4p-1f), r, v_const(0x1.fffffep-1f));
  v_num high = v_fma(v_const(0x1.122538p-3f), r, v_const(0x1.5556f6p-2f));
  high = v_fma(v_const(0x1.6b97a6p-5f), z, high);
  v_num p = v_fma(z, v_fma(high, z, low), r), twice = v_scale(v_const(2.0f), shifted);
  v_num top = v_fma(p, twice, v_fma(twice, v_const(0.5f), v_const(-1.0f)));
  return signed_f32(V_TO v_div(top, v_add(top, v_const(2.0f))), x);
}

static inline v_num logistic_f32(V_IN v_num x) {
  v_num e = exp_f32(V_TO v_of_bits(w_or(v_bits(x), w_const(0x80000000)))); /* cannot overflow */
  v_num top = v_pick(v_lt(x, v_const(0.0f)), e, v_const(1.0f));
  return v_div(top, v_add(v_const(1.0f), e));
}

/* With n = -|x|: erfc(|x|) = exp(n + n h(n)), h fitted to log(erfc(-n)) / n - 1 on [-4, 0] so that
 * 1 - exp is as exact as can be; of small n nothing is lost, as exp_rest is exp - 1 there. */
static inline v_num erf_f32(V_IN v_num x) {
  v_num n = v_greater(v_const(-4.0f), v_of_bits(w_or(v_bits(x), w_const(0x80000000)))), shifted;
  v_num h = v_const(-9.256265002477448e-06f);
  h = v_fma(h, n, v_const(-0.00011764126975322142f));
  h = v_fma(h, n, v_const(-0.000632836832664907f));
  h = v_fma(h, n, v_const(-0.00166702747810632f));
  h = v_fma(h, n, v_const(-0.00016039606998674572f));
  h = v_fma(h, n, v_const(0.019153064116835594f));
  h = v_fma(h, n, v_const(0.10277783125638962f));
  h = v_fma(h, n, v_const(-0.6366193890571594f));
  h = v_fma(h, n, v_const(0.12837916612625122f));
  v_num p = exp_near_f32(V_TO v_fma(h, n, n), &shifted), power = v_scale(v_const(1.0f), shifted);
  v_num y = v_fma(v_neg(p), power, v_sub(v_const(1.0f), power));
#if !defined(HAS_FMA) && !defined(v_num) /* h n alone may be a denormal */
  y = v_pick(v_gt(n, v_const(-0x1p-60f)), v_mul(n, v_const(-1.12837917f)), y);
#endif
  return signed_f32(V_TO y, x);
}

#if defined(HAS_FMA) || defined(v_num)
/* Sine of x + quarters * pi/2 for |x| < 2^18. pi/2 is taken off as three numbers: what is left of
 * the first is exact, that of the second a sum of two. Then with z = r^2 either r + r z p(z) or
 * 1 - z / 2 + z^2 p(z), with what rounding takes from the first terms, and from z. */
#define SINE_TAKES(x) ((f32_bits(x) & 0x7fffffffu) < 0x48800000u)
static inline v_num sine_f32(V_IN v_num x, u32 quarters) {
  v_num shift = v_const(12582912.0f), second = v_const(-0x1.777a5cp-25f), half = v_const(-0.5f);
  v_num shifted = v_fma(x, v_const(0.636619772f), shift), k = v_sub(shifted, shift);
  v_num most = v_fma(k, v_const(-0x1.921fb6p+0f), x), h = v_mul(k, second);
  v_num r = v_sub(most, h), third = v_left(k, second, h), z = v_mul(r, r);
  third = v_fma(k, v_const(0x1.ee59dap-50f), third);
  v_truth less = v_lt(abs_f32(V_TO most), abs_f32(V_TO h));
  v_num lost = v_pick(less, v_sub(most, v_add(r, h)), v_sub(v_sub(most, r), h));
  v_num low = v_add(lost, third);
  v_word n = w_add(v_bits(shifted), w_const(quarters));
  v_truth odd = w_odd(n);
  v_num p = v_pick(odd, v_const(0x1.990574p-16f), v_const(-0x1.9953f6p-13f));
  p = v_fma(p, z, v_pick(odd, v_const(-0x1.6c08e4p-10f), v_const(0x1.110778p-7f)));
  p = v_fma(p, z, v_pick(odd, v_const(0x1.555544p-5f), v_const(-0x1.555546p-3f)));
  v_num one = v_fma(z, half, v_const(1.0f));
  v_num rest = v_fma(z, half, v_sub(v_const(1.0f), one));
  rest = v_fma(v_fma(r, r, v_neg(z)), half, rest);
  v_num more = v_fma(p, v_mul(z, v_pick(odd, z, r)), v_pick(odd, v_left(low, r, rest), low));
  v_num y = v_add(more, v_pick(odd, one, r));
  return v_of_bits(w_xor(v_bits(y), w_shift_left(w_and(n, w_const(2)), 30)));
}
static inline v_num sine_zero_f32(V_IN v_num x, u32 quarters) {
  v_num y = sine_f32(V_TO x, quarters);
  return quarters ? y : v_pick(v_eq(x, v_const(0.0f)), x, y);
}
#endif

#if defined(HAS_FMA) && !defined(v_num)
/* log |gamma(x)| for normal x below 2^121. With u = x or x - 1, in [0, 3/2):
 * log gamma(1 + u) = u (u - 1) p(u), less log(x) where that is of x + 1; above, Stirling's formula
 * (x - 1/2) (log(x) - 1) + g(1 / x). log(x) comes as a sum of two numbers. */
#define LGAMMA_TAKES(x) (f32_bits(x) - 0x00800000u < 0x7c000000u - 0x00800000u)
static inline float lgamma_f32(float x) {
  u32 ix = f32_bits(x) - 0x3f400000;
  float e = (float)((i32)ix >> 23), f = bits_f32((ix & 0x7fffff) + 0x3f400000) - 1;
  float p = -0.04507477954030037f;
  p = FMA32(p, f, 0.10463016480207443f);
  p = FMA32(p, f, -0.1316118985414505f);
  p = FMA32(p, f, 0.14478394389152527f);
  p = FMA32(p, f, -0.1664731204509735f);
  p = FMA32(p, f, 0.19990861415863037f);
  p = FMA32(p, f, -0.2500009536743164f);
  p = FMA32(p, f, 0.33333447575569153f);
  float z = f * f, a = FMA32(z, -0.5f, f), whole = e * 0.693145751953125f, high = whole + a;
  float low = FMA32(z, -0.5f, f - a) - 0.5f * FMA32(f, f, -z) + (a - (high - whole));
  low = FMA32(e, 1.4286068202862268e-06f, FMA32(z * f, p, low));

  float b = x - 0.5f, c = high - 1, most = b * c, w = 1 / x, g = 0.0007434861036017537f;
  g = FMA32(g, w, -0.0030833345372229815f);
  g = FMA32(g, w, 6.320344982668757e-05f);
  g = FMA32(g, w, 0.08332709223031998f);
  float k = 0.4189387559890747f, sum = most + k, back = sum - most;
  float lost = (most - (sum - back)) + (k - back);
  float far = sum + FMA32(g, w, FMA32(b, low, FMA32(b, c, -most)) + lost);

  float u = x < 1 ? x : x - 1, v = u - 0.75f, r = -0.0001373367995256558f;
  r = FMA32(r, v, 0.00024741064407862723f);
  r = FMA32(r, v, -0.0002368377463426441f);
  r = FMA32(r, v, 0.00047543522669002414f);
  r = FMA32(r, v, -0.0010771402157843113f);
  r = FMA32(r, v, 0.002116883173584938f);
  r = FMA32(r, v, -0.004223374649882317f);
  r = FMA32(r, v, 0.00877346470952034f);
  r = FMA32(r, v, -0.01905416138470173f);
  r = FMA32(r, v, 0.04452059045433998f);
  r = FMA32(r, v, -0.11948158591985703f);
  r = FMA32(r, v, -0.04986068606376648f); /* p less 1/2 */
  float m = u * (u - 1), near = FMA32(m, r, 0.5f * m);
  near = x < 1 ? near - low - high : near;
  return x < 2.5f ? near : far;
}
#endif

/* The angle of the point (x, y), which is that of a ratio q in [-tan(pi/8), tan(pi/8)] and a
 * multiple of pi/4. With z = q^2: atan(q) = q + q z p(z), p fitted so that the error relative to
 * atan(q) is even. What rounding took from q, and from its sum with the multiple, is added last. */
static inline v_num atan2_f32(V_IN v_num y, v_num x) {
  v_num zero = v_const(0.0f), one = v_const(1.0f), inf = v_const(INFINITY);
  v_num a = abs_f32(V_TO y), b = abs_f32(V_TO x), least = v_lesser(a, b), most = v_greater(a, b);
  /* or sums are infinite, or rests are lost */
  v_num scale = v_pick(v_lt(most, v_const(0x1p-60f)), v_const(0x1p64f), one);
  scale = v_pick(v_gt(most, v_const(0x1p100f)), v_const(0x1p-64f), scale);
  v_truth ends = v_eq(most, inf);
  least = v_pick(ends, v_pick(v_eq(least, inf), one, zero), v_mul(least, scale));
  most = v_pick(ends, one, v_pick(v_eq(most, zero), one, v_mul(most, scale)));
  v_truth inner = v_gt(least, v_mul(most, v_const(0.414213562f)));
  v_num top = v_pick(inner, v_sub(least, most), least);
  v_num under = v_pick(inner, v_add(least, most), most);
  v_num top_low = v_pick(inner, v_sub(least, v_add(top, most)), zero);
  v_num under_low = v_pick(inner, v_sub(least, v_sub(under, most)), zero);
  v_num q = v_div(top, under), z = v_mul(q, q);
  v_num rest = v_add(v_left(q, under, top), v_left(q, under_low, top_low));
  v_num p = v_const(-0.0607798286f);
  p = v_fma(p, z, v_const(0.105937235f));
  p = v_fma(p, z, v_const(-0.142435223f));
  p = v_fma(p, z, v_const(0.199984714f));
  p = v_fma(p, z, v_const(-0.333333164f));
  v_num low = v_fma(v_mul(q, z), p, v_div(rest, under));
  v_truth steep = v_gt(a, b), left = w_gt(w_const(0), v_bits(x));
  v_num turn = v_pick(left, v_const(-1.0f), one);
  turn = v_pick(steep, v_neg(turn), turn);
  v_num eighths = v_pick(steep, v_const(2.0f), v_pick(left, v_const(4.0f), zero));
  eighths = v_add(eighths, v_pick(inner, turn, zero));
  v_num pi4 = v_const(0x1.921fb6p-1f), from = v_mul(eighths, pi4);
  low = v_fma(low, turn,
              v_fma(eighths, v_const(-0x1.777a5cp-26f), v_neg(v_left(eighths, pi4, from))));
  q = v_mul(q, turn);
  v_num sum = v_add(from, q), lost = v_add(v_sub(from, sum), q);
  v_num r = signed_f32(V_TO v_add(sum, v_add(lost, low)), y), none = v_add(a, b);
  return v_pick(v_ge(none, zero), r, none);
}

/* p f^4 + a f^3 + b f^2 + c f + d, z = f^2: one waits for p alone */
#define V_QUAD(p, f, z, a, b, c, d)                                                                \
  d_fma(p, d_mul(z, z),                                                                            \
        d_fma(d_fma(d_const(a), f, d_const(b)), z, d_fma(d_const(c), f, d_const(d))))
/* log2(1 + f) and 2^r for |r| <= 1/2, fitted to 2^-35 and 2^-29 of them */
static inline v_wide log2_wide(V_IN v_wide f, v_wide e) {
  v_wide z = d_mul(f, f), p = d_const(0x1.37346aae5a7bcp-5);
  p = V_QUAD(p, f, z, -0x1.a1f474227172dp-4, 0x1.1c3f760ba3343p-3, -0x1.319420a79ecd3p-3,
             0x1.48b5de500bb7cp-3);
  p = V_QUAD(p, f, z, -0x1.70a5bf056fb0cp-3, 0x1.a601229becb9bp-3, -0x1.ec75768727f5ep-3,
             0x1.2777245a66ac6p-2);
  p = V_QUAD(p, f, z, -0x1.71546f28a6204p-2, 0x1.ec709ccd8f952p-2, -0x1.715476560b1f6p-1,
             0x1.71547652d004ap+0);
  return d_fma(p, f, e);
}
static inline v_wide exp2_wide(V_IN v_wide r) {
  v_wide z = d_mul(r, r), p = d_const(0.0013399931177239738);
  p = d_fma(p, r, d_const(0.009618488956331182));
  p = d_fma(d_const(0.00015345812161311629), z, p);
  return V_QUAD(p, r, z, 0.05550328777105325, 0.24022646890645522, 0.6931472057371958,
                1.0000000005541647);
}

/* 2^(y log2 |x|), and what IEEE 754 says of signs and ends. */
static inline v_num pow_f32(V_IN v_num x, v_num y) {
  v_num zero = v_const(0.0f), one = v_const(1.0f), inf = v_const(INFINITY), half, e;
  v_num a = abs_f32(V_TO x), f = v_sub(v_split(a, &e), one);
  v_wide w = d_mul(d_of(y), log2_wide(V_TO d_of(f), d_of(e)));
  w = d_lesser(d_greater(w, d_const(-200.0)), d_const(200.0));
  v_wide shift = d_const(0x1.8p52), shifted = d_add(w, shift); /* rounds to an integer */
  v_num r = d_num(d_scale(exp2_wide(V_TO d_sub(w, d_sub(shifted, shift))), shifted));
  r = v_pick(v_eq(a, one), one, r);
  half = v_mul(y, v_const(0.5f));
  v_truth even = v_eq(v_whole(half), half), whole = v_eq(v_whole(y), y);
  r = v_pick(even, r, v_pick(whole, signed_f32(V_TO r, x), r));
  v_truth negative = v_lt(v_pick(v_lt(a, inf), x, zero), zero);
  r = v_pick(negative, v_pick(whole, r, v_const(NAN)), r);
  r = v_pick(v_eq(y, y), r, y);
  r = v_pick(v_eq(x, x), r, x);
  r = v_pick(v_eq(x, one), one, r);
  return v_pick(v_eq(y, zero), one, r);
}

/* A guess at 1 / cbrt(|x|) from the bits, and two steps that take the error to about its fourth and
 * third power, the last one in f64. */
static inline v_num cbrt_f32(V_IN v_num x) {
  v_num one = v_const(1.0f), a = abs_f32(V_TO x);
  v_truth small = v_lt(a, v_const(1.17549435e-38f));
  v_num scaled = v_pick(small, v_mul(a, v_const(0x1p24f)), a);
  v_num bits = v_fma(v_of_int(v_bits(scaled)), v_const(-1.0f / 3), v_const(1420098188.0f));
  v_num r = v_of_bits(w_of_num(bits));
  v_num error = v_left(v_mul(v_mul(scaled, r), r), r, one);
  v_num step =
      v_fma(v_fma(v_const(14.0f / 81), error, v_const(2.0f / 9)), error, v_const(1.0f / 3));
  r = v_fma(v_mul(r, error), step, r);
  v_wide root = d_of(r), y = d_mul(d_of(scaled), d_mul(root, root));
  v_wide rest = d_sub(d_const(1.0), d_mul(y, root));
  rest = d_mul(rest, d_fma(rest, d_const(5.0 / 9), d_const(2.0 / 3)));
  v_num c = v_mul(d_num(d_fma(y, rest, y)), v_pick(small, v_const(0x1p-8f), one));
  c = signed_f32(V_TO c, x);
  v_truth ends = v_eq(v_mul(x, v_const(0.5f)), x);
  return v_pick(ends, v_add(x, x), v_pick(v_eq(x, x), c, x));
}

/* M. Giles, "Approximating the erfinv function", with polynomials of a degree more, and 1 - x^2
 * from its factors: near 1 all bits of the result are in what is left of it. */
static inline v_num erf_inv_f32(V_IN v_num x) {
  static const float near_of[] = {-5.5499223e-09f, 1.504115e-07f,   -1.3380312e-06f, 8.865368e-07f,
                                  5.3265332e-05f,  -0.00014173039f, -0.0023213122f,  0.011542798f,
                                  0.23201482f,     0.8862269f};
  static const float far_of[] = {0.00012170844f, -0.0003120473f, -6.808753e-05f, 0.0014877854f,
                                 -0.0035897929f, 0.0056863753f,  -0.0076393266f, 0.009445199f,
                                 1.0016751f,     2.8329768f};
  v_num one = v_const(1.0f);
  v_num w = v_neg(log_f32(V_TO v_mul(v_sub(one, x), v_add(one, x))));
  v_truth near = v_lt(w, v_const(5.0f));
  v_num t = v_pick(near, w, v_sub(v_root(w), v_const(3.0f)));
  v_num p = v_pick(near, v_const(near_of[0]), v_const(far_of[0]));
#pragma GCC unroll 9
  for (u32 i = 1; i < 10; i++)
    p = v_fma(p, t, v_pick(near, v_const(near_of[i]), v_const(far_of[i])));
  v_num ends = v_of_bits(w_or(w_const(0x7f800000), w_and(v_bits(x), w_const(0x80000000))));
  return v_pick(v_eq(abs_f32(V_TO x), one), ends, v_mul(p, x));
}

#endif
