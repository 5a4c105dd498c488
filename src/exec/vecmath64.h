/* f64 functions as branch-free code over operations on numbers, words and truth values, which
 * whoever includes this has defined: wide_kernel.c as those of vectors, jit_ops.c so that they make
 * machine code. Polynomials are fitted to the error relative to the function; what of it is left,
 * and what rounding adds, is measured in wide_test.c. */
#ifndef EXEC_VECMATH64_H
#define EXEC_VECMATH64_H

#include <math.h>

#define V_SHIFT64 v_const(0x1.8p52) /* what is added to it is rounded to an integer */

static inline v_num abs_f64(V_IN v_num x) {
  return v_of_bits(w_and(v_bits(x), w_const(0x7fffffffffffffff)));
}
/* |x| with the sign of y where x is not negative */
static inline v_num signed_f64(V_IN v_num x, v_num y) {
  return v_of_bits(w_or(v_bits(x), w_and(v_bits(y), w_const(1ull << 63))));
}
static inline v_num clamp_f64(V_IN v_num x, double low, double high) { /* a NaN stays */
  return v_greater(v_const(low), v_lesser(v_const(high), x));
}
/* 2^n for -1022 <= n <= 1023, n in the bits of V_SHIFT64 + n */
static inline v_num pow2_f64(V_IN v_num shifted) {
  return v_of_bits(w_shift_left(w_add(v_bits(shifted), w_const(1023)), 52));
}
/* x 2^n for whole n in two steps, so that the ends of the range come out right. */
static inline v_num scale_f64(V_IN v_num x, v_num n) {
  v_num half = v_fma(n, v_const(0.5), V_SHIFT64);
  v_num rest = v_add(v_sub(n, v_sub(half, V_SHIFT64)), V_SHIFT64);
  return v_mul(v_mul(x, pow2_f64(V_TO half)), pow2_f64(V_TO rest));
}
/* An exponent in the low bits as a number, less `bias`. */
static inline v_num exponent_f64(V_IN v_word e, double bias) {
  return v_sub(v_of_bits(w_or(e, w_const(0x4330000000000000))), v_const(0x1p52 + bias));
}

/* x = m 2^e, m in [sqrt(1/2), sqrt(2)). Of 0 and infinity m is 1 and e infinite; e is NaN of NaN
 * and what is below 0. */
static inline v_num split_f64(V_IN v_num x, v_num *e) {
  v_num zero = v_const(0), inf = v_const(INFINITY), one = v_const(1);
  v_word from = w_const(0x3fe6a09e00000000), bias = w_const(1024ull << 52);
  v_truth small = v_lt(x, v_const(0x1p-1022)), nothing = v_eq(x, zero), ends = v_eq(x, inf);
  v_word w = w_sub(v_bits(v_pick(small, v_mul(x, v_const(0x1p54)), x)), from);
  v_num m = v_of_bits(w_add(w_and(w, w_const(0x000fffffffffffff)), from));
  v_num n = exponent_f64(V_TO w_shift_right(w_add(w, bias), 52), 1024);
  n = v_sub(n, v_pick(small, v_const(54), zero));
  n = v_pick(nothing, v_const(-INFINITY), v_pick(ends, inf, n));
  *e = v_pick(v_ge(x, zero), n, v_const(NAN));
  return v_pick(nothing, one, v_pick(ends, one, m));
}

/* exp(r) - 1 = r + r^2 (even(r^2) + r odd(r^2)) for |r| <= ln 2 / 2 */
static inline v_num exp_tail_f64(V_IN v_num r) {
  v_num z = v_mul(r, r);
  v_num p = v_fma(v_const(0x1.1f83ff9739d3cp-29), z, v_const(0x1.27e4d13619b8cp-22));
  v_num q = v_fma(v_const(0x1.af5f6ad3a7740p-26), z, v_const(0x1.71ddf7f1c52dap-19));
  p = v_fma(p, z, v_const(0x1.a01a01ab17f19p-16));
  q = v_fma(q, z, v_const(0x1.a01a01b00c4eap-13));
  p = v_fma(p, z, v_const(0x1.6c16c16c15777p-10));
  q = v_fma(q, z, v_const(0x1.111111110f648p-7));
  p = v_fma(p, z, v_const(0x1.5555555555557p-5));
  q = v_fma(q, z, v_const(0x1.5555555555559p-3));
  return v_fma(z, v_fma(q, r, v_fma(p, z, v_const(0.5))), r);
}
/* exp(c) - 1 less what n does to it, which comes in the bits of *shifted. */
static inline v_num exp_rest_f64(V_IN v_num c, v_num *shifted) {
  *shifted = v_fma(c, v_const(0x1.71547652b82fep+0), V_SHIFT64);
  v_num k = v_sub(*shifted, V_SHIFT64), r = v_left(k, v_const(0x1.62e42fefap-1), c);
  return exp_tail_f64(V_TO v_left(k, v_const(0x1.cf79abc9e3b3ap-40), r));
}
static inline v_num exp_f64(V_IN v_num x) {
  v_num shifted, p = exp_rest_f64(V_TO clamp_f64(V_TO x, -746, 710), &shifted);
  return v_scale_by(v_add(p, v_const(1)), v_sub(shifted, V_SHIFT64));
}
/* exp(c) - 1; half of it first, as the whole power of two may be infinite */
static inline v_num expm1_f64(V_IN v_num x) {
  v_num shifted, p = exp_rest_f64(V_TO clamp_f64(V_TO x, -40, 710), &shifted);
  v_num half = pow2_f64(V_TO v_sub(shifted, v_const(1)));
  v_num y = v_fma(p, half, v_sub(half, v_const(0.5)));
  return v_pick(v_lt(abs_f64(V_TO x), v_const(0x1p-60)), x,
                v_add(y, y)); /* or halves of denormals */
}
/* (exp(2|x|) - 1) / (exp(2|x|) + 1), with x's sign; above 22 it is 1. */
static inline v_num tanh_f64(V_IN v_num x) {
  v_num a = abs_f64(V_TO x), shifted,
        p = exp_rest_f64(V_TO v_lesser(v_const(44), v_add(a, a)), &shifted);
  v_num power = pow2_f64(V_TO shifted), y = v_fma(p, power, v_sub(power, v_const(1)));
  return signed_f64(V_TO v_div(y, v_add(y, v_const(2))), x);
}
static inline v_num logistic_f64(V_IN v_num x) {
  v_num e = exp_f64(V_TO v_of_bits(w_or(v_bits(x), w_const(1ull << 63)))), one = v_const(1);
  return v_div(v_pick(v_lt(x, v_const(0)), e, one), v_add(one, e));
}

/* log(m) + e ln 2 for f = m - 1: f - f^2 / 2 and s (f^2 / 2 + r), s = f / (2 + f). */
static inline v_num log_parts_f64(V_IN v_num f, v_num e) {
  v_num s = v_div(f, v_add(f, v_const(2))), z = v_mul(s, s),
        half = v_mul(v_mul(f, v_const(0.5)), f), z2 = v_mul(z, z);
  v_num r = v_fma(v_const(0x1.39b166121e22ap-3), z, v_const(0x1.7465960b135c0p-3));
  v_num q = v_fma(v_const(0x1.c71c559572b8dp-3), z, v_const(0x1.2492493d04285p-2));
  r = v_fma(v_fma(v_const(0x1.2e725e2471a97p-3), z2, r), z2, q);
  r = v_fma(r, z2, v_fma(v_const(0x1.99999999865d7p-2), z, v_const(0x1.555555555557ap-1)));
  v_num low = v_fma(s, v_fma(r, z, half), v_mul(e, v_const(0x1.cf79abc9e3b3ap-40)));
  return v_fma(e, v_const(0x1.62e42fefap-1), v_sub(f, v_sub(half, low)));
}
static inline v_num log_f64(V_IN v_num x) {
  v_num e, m = split_f64(V_TO x, &e);
  return log_parts_f64(V_TO v_sub(m, v_const(1)), e);
}
/* 1 + x = m 2^e, but for what rounding takes from the sum. */
static inline v_num log1p_f64(V_IN v_num x) {
  v_num one = v_const(1), zero = v_const(0), u = v_add(x, one), e, m = split_f64(V_TO u, &e);
  v_num big = v_greater(one, x), lost = v_sub(v_lesser(one, x), v_sub(u, big));
  v_truth loses = v_lt(u, v_const(0x1p60));
  v_num power = v_of_bits(w_add(w_sub(v_bits(m), v_bits(u)), v_bits(one)));
  v_num f = v_fma(v_pick(loses, lost, zero), v_pick(loses, power, zero), v_sub(m, one));
  return signed_f64(V_TO log_parts_f64(V_TO f, e), x);
}

/* x less a multiple of pi/2, in [-pi/4, pi/4], and what rounding took from it, for |x| < 2^30. pi/2
 * is taken off as three numbers: what is left of the first is exact, that of the second a sum of
 * two. */
static inline v_truth sine_takes_f64(V_IN v_num x) {
  return v_lt(abs_f64(V_TO x), v_const(0x1p30));
}
static inline v_num quarter_f64(V_IN v_num x, v_num *low, v_word *n) {
  v_num second = v_const(0x1.1a62633145c07p-54);
  v_num shifted = v_fma(x, v_const(0x1.45f306dc9c883p-1), V_SHIFT64), k = v_sub(shifted, V_SHIFT64);
  v_num most = v_left(k, v_const(0x1.921fb54442d18p+0), x), h = v_mul(k, second);
  v_num r = v_sub(most, h), third = v_left(k, second, h);
  third = v_fma(k, v_const(0x1.f1976b7ed8fbcp-110), third);
  v_truth less = v_lt(abs_f64(V_TO most), abs_f64(V_TO h));
  v_num lost = v_pick(less, v_sub(most, v_add(r, h)), v_sub(v_sub(most, r), h));
  *low = v_add(lost, third);
  *n = v_bits(shifted);
  return r;
}
static inline v_num sin_parts_f64(V_IN v_num r, v_num low) {
  v_num z = v_mul(r, r), z2 = v_mul(z, z),
        p = v_fma(v_const(0x1.5d93892ba761ep-33), z, v_const(-0x1.ae5e684f4dce1p-26));
  v_num q = v_fma(v_const(0x1.71de357acb530p-19), z, v_const(-0x1.a01a019c15d95p-13));
  p = v_fma(v_fma(p, z2, q), z2,
            v_fma(v_const(0x1.111111110f8a5p-7), z, v_const(-0x1.5555555555549p-3)));
  return v_add(r, v_fma(v_mul(z, r), p, v_fma(v_mul(z, v_const(-0.5)), low, low)));
}
static inline v_num cos_parts_f64(V_IN v_num r, v_num low) {
  v_num z = v_mul(r, r), z2 = v_mul(z, z),
        p = v_fma(v_const(-0x1.8fc0c4fd4aedcp-37), z, v_const(0x1.1eea11f3ffce0p-29));
  v_num q = v_fma(v_const(-0x1.27e4f84760d62p-22), z, v_const(0x1.a01a019d10962p-16));
  p = v_fma(v_fma(p, z2, q), z2,
            v_fma(v_const(-0x1.6c16c16c155d1p-10), z, v_const(0x1.555555555554ep-5)));
  v_num half = v_const(0.5), first = v_left(z, half, v_const(1));
  v_num rest = v_left(z, half, v_sub(v_const(1), first));
  return v_add(first, v_fma(z2, p, v_left(r, low, rest)));
}
/* Sine of x + quarters pi/2 */
static inline v_num sine_f64(V_IN v_num x, u64 quarters) {
  v_word n;
  v_num low, r = quarter_f64(V_TO x, &low, &n), s = sin_parts_f64(V_TO r, low),
             c = cos_parts_f64(V_TO r, low);
  n = w_add(n, w_const(quarters));
  v_word sign = w_shift_left(w_and(n, w_const(2)), 62);
  v_num y = v_of_bits(w_xor(v_bits(v_pick(w_odd(n), c, s)), sign));
  return quarters ? y : v_pick(v_eq(x, v_const(0)), x, y);
}
static inline v_num tan_f64(V_IN v_num x) {
  v_word n;
  v_num low, r = quarter_f64(V_TO x, &low, &n), s = sin_parts_f64(V_TO r, low),
             c = cos_parts_f64(V_TO r, low);
  v_truth odd = w_odd(n);
  v_num y = v_div(v_pick(odd, v_neg(c), s), v_pick(odd, s, c));
  return v_pick(v_eq(x, v_const(0)), x, y);
}

/* The angle of the point (x, y), as atan2_f32 of vecmath.h finds it. */
static inline v_num atan2_f64(V_IN v_num y, v_num x) {
  v_num zero = v_const(0), one = v_const(1), two = v_const(2), inf = v_const(INFINITY);
  v_num a = abs_f64(V_TO y), b = abs_f64(V_TO x), least = v_lesser(a, b), most = v_greater(a, b);
  v_num scale = v_pick(v_lt(most, v_const(0x1p-500)), v_const(0x1p520), one);
  scale = v_pick(v_gt(most, v_const(0x1p900)), v_const(0x1p-520), scale);
  v_truth ends = v_eq(most, inf);
  least = v_pick(ends, v_pick(v_eq(least, inf), one, zero), v_mul(least, scale));
  most = v_pick(ends, one, v_pick(v_eq(most, zero), one, v_mul(most, scale)));
  v_truth inner = v_gt(least, v_mul(most, v_const(0.41421356237309503)));
  v_num top = v_pick(inner, v_sub(least, most), least);
  v_num under = v_pick(inner, v_add(least, most), most);
  v_num top_low = v_pick(inner, v_sub(least, v_add(top, most)), zero);
  v_num under_low = v_pick(inner, v_sub(least, v_sub(under, most)), zero);
  v_num q = v_div(top, under), z = v_mul(q, q);
  v_num rest = v_add(v_left(q, under, top), v_left(q, under_low, top_low));
  v_num p = v_fma(v_const(-0x1.26d243050be7cp-6), z, v_const(0x1.3884ee4bca25ep-5));
  p = v_fma(p, z, v_const(-0x1.9d1cc5c7ed1cbp-5));
  p = v_fma(p, z, v_const(0x1.df210d60df523p-5));
  p = v_fma(p, z, v_const(-0x1.10ed0ce20f061p-4));
  p = v_fma(p, z, v_const(0x1.3b113a23af783p-4));
  p = v_fma(p, z, v_const(-0x1.745cfaefc6cbbp-4));
  p = v_fma(p, z, v_const(0x1.c71c70fb1aff7p-4));
  p = v_fma(p, z, v_const(-0x1.24924922ec5c7p-3));
  p = v_fma(p, z, v_const(0x1.9999999996495p-3));
  p = v_fma(p, z, v_const(-0x1.5555555555544p-2));
  v_num low = v_fma(v_mul(q, z), p, v_div(rest, under));
  v_truth steep = v_gt(a, b);
  v_num right = signed_f64(V_TO one, x), turn = v_pick(steep, v_neg(right), right);
  v_num eighths = v_pick(steep, two, v_left(two, right, two));
  eighths = v_add(eighths, v_pick(inner, turn, zero));
  v_num eighth = v_const(0x1.921fb54442d18p-1), from = v_mul(eighths, eighth);
  v_num more = v_fma(eighths, eighth, v_neg(from));
  low = v_fma(low, turn, v_fma(eighths, v_const(0x1.1a62633145c07p-55), more));
  q = v_mul(q, turn);
  v_num sum = v_add(from, q), lost = v_add(v_sub(from, sum), q);
  v_num r = signed_f64(V_TO v_add(sum, v_add(lost, low)), y), none = v_add(a, b);
  return v_pick(v_ge(none, zero), r, none);
}

/* Of t = |x| 2^(-3k) in [1, 8): a polynomial of its mantissa times a root of 1, 2 or 4, and one
 * step of Halley's, which takes the error to its third power. */
static inline v_num cbrt_f64(V_IN v_num x) {
  v_num one = v_const(1), zero = v_const(0), a = abs_f64(V_TO x);
  v_truth small = v_lt(a, v_const(0x1p-1022));
  v_word w = v_bits(v_pick(small, v_mul(a, v_const(0x1p54)), a));
  v_num m = v_of_bits(w_or(w_and(w, w_const(0x000fffffffffffff)), v_bits(one)));
  v_num e = exponent_f64(V_TO w_shift_right(w, 52), 1023);
  e = v_sub(e, v_pick(small, v_const(54), zero));
  v_num shifted = v_add(v_fma(e, v_const(0x1.5555555555555p-2), v_const(-0.375)), V_SHIFT64);
  v_num left = v_left(v_sub(shifted, V_SHIFT64), v_const(3), e);
  v_truth first = v_eq(left, zero), second = v_eq(left, one);
  v_num t = v_mul(m, v_pick(first, one, v_pick(second, v_const(2), v_const(4))));
  v_num y = v_fma(v_const(0.005072953325277491), m, v_const(-0.04831832068166114));
  y = v_fma(y, m, v_const(0.19665479701360078));
  y = v_fma(y, m, v_const(-0.4602977267696209));
  y = v_fma(y, m, v_const(0.8317431442479309));
  y = v_fma(y, m, v_const(0.47514693623890253));
  v_num root = v_pick(second, v_const(1.2599210498948732), v_const(1.5874010519681994));
  y = v_mul(y, v_pick(first, one, root));
  v_num square = v_mul(y, y), error = v_fma(square, y, v_neg(t));
  y = v_sub(y, v_div(v_mul(y, error), v_fma(v_add(square, square), y, t)));
  y = signed_f64(V_TO v_mul(y, pow2_f64(V_TO shifted)), x);
  y = v_pick(v_eq(x, x), y, x);
  return v_pick(v_eq(v_mul(x, v_const(0.5)), x), v_add(x, x), y);
}

/* x rem y of magnitudes whose quotient is below 2^51: that rounds to a whole number which may be
 * one too large, and what is left of x is exact. */
static inline v_truth rem_takes_f64(V_IN v_num x, v_num y) {
  v_num a = abs_f64(V_TO x), b = abs_f64(V_TO y), least = v_const(0x1p-900);
  v_truth plain = t_or(v_gt(a, least), v_eq(a, v_const(0)));
  v_truth finite = t_and(v_gt(b, least), v_lt(b, v_const(INFINITY)));
  return t_and(plain, t_and(finite, v_lt(a, v_mul(b, v_const(0x1p51)))));
}
static inline v_num rem_f64(V_IN v_num x, v_num y) {
  v_num a = abs_f64(V_TO x), b = abs_f64(V_TO y), r = v_left(v_whole(v_div(a, b)), b, a);
  r = v_pick(v_lt(r, v_const(0)), v_add(r, b), r);
  return signed_f64(V_TO v_pick(v_ge(r, b), v_sub(r, b), r), x);
}

#endif
