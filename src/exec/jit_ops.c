/* What each call is in primitives: a row an operation, of f32 and of integers of up to 32 bits,
 * which lie in lanes of 32 with their sign or zeros above. Functions are vecmath.h's and, of f64,
 * vecmath64.h's. */
#include <math.h>

#include "exec/jit_divide.h"
#include "exec/jit_ops.h"
#include "exec/jit_short.h"
#include "exec/jit_wide.h"
#include "num/convert.h"

#define NUM(x) CONST(num_f32_bits(x))
/* Of the lanes at hand, of 32 or 64 bits. */
#define TOP (j->wide ? 63u : 31u)
#define SIGN (j->wide ? jit_const64(j, 1ull << 63) : CONST(1u << 31))
#define REAL(x) number(j, x)
enum { EQ = 0, LT = 1, LE = 2, UNORD = 3, NE = 4, GE = 13, GT = 14 }; /* of floats */
enum { NEAREST = 8, FLOOR = 9, CEIL = 10, TRUNCATE = 11 };            /* rounding */

static V number(J *j, double x) {
  return j->wide ? jit_const64(j, num_f64_bits(x)) : NUM((float)x);
}
/* Whether x is the same number in all lanes; and one that is normal, or infinite or NaN. */
static bool find_number(const J *j, V x, double *out) {
  u32 bits;
  u64 wide;
  if (jit_is_const64(j, x, &wide)) return *out = num_f64_from_bits(wide), true;
  return jit_is_const(j, x, &bits) ? *out = (double)num_f32_from_bits(bits), true : false;
}
static bool is_large(const J *j, double x) { return !(fabs(x) < (j->wide ? 0x1p-1022 : 0x1p-126)); }
/* The same of what is one of those, or a number that is none. */
static bool is_flushed(const J *j, V x, u32 depth) {
  const jit_node *n = &j->nodes.data[x];
  double number;
  if (find_number(j, x, &number)) return is_large(j, number);
  bool picks = n->prim == JP_pblendmd || n->prim == JP_pblendmq;
  bool extreme =
      n->prim == JP_minps || n->prim == JP_maxps || n->prim == JP_minpd || n->prim == JP_maxpd;
  if (!picks && !extreme) return jit_is_computed(j, x);
  return depth && is_flushed(j, n->arg[picks], depth - 1) &&
         is_flushed(j, n->arg[1 + picks], depth - 1);
}
static V flushed(J *j, V x) {
  enum { DEPTH = 6 };
  return is_flushed(j, x, DEPTH) ? x : OP2(addps, x, SIGN);
}
/* Instead of a mask: what constants are to one another. */
static const V ALWAYS = UINT32_MAX, NEVER = UINT32_MAX - 1;
static V pick(J *j, V k, V x, V y) {
  if (k == ALWAYS || k == NEVER) return k == ALWAYS ? x : y;
  return x == y ? x : OP3(pblendmd, k, x, y);
}
/* Constants, and no denormals, of which it is not known here whether they count as zeros. */
static bool are_const(const J *j, V x, V y, float *fx, float *fy) {
  u32 a, b;
  if (!jit_is_const(j, x, &a) || !jit_is_const(j, y, &b)) return false;
  if ((a & 0x7fffffff) - 1 < 0x7fffff || (b & 0x7fffffff) - 1 < 0x7fffff) return false;
  *fx = num_f32_from_bits(a), *fy = num_f32_from_bits(b);
  return true;
}
static V equal(J *j, V x, V y) {
  float a, b;
  if (are_const(j, x, y, &a, &b)) return a == b ? ALWAYS : NEVER;
  return IMM2(cmpps, EQ, x, y);
}
static V product(J *j, V x, V y) {
  float a, b;
  return are_const(j, x, y, &a, &b) ? NUM(a * b) : OP2(mulps, x, y);
}
static V cut_off(J *j, V x) {
  float a, b;
  return are_const(j, x, x, &a, &b) ? NUM(truncf(a)) : IMM1(rndscaleps, TRUNCATE, x);
}
static V fused(J *j, V x, V y, V z) { /* of a negative factor: in one */
  const jit_node *n = &j->nodes.data[x];
  bool turns = n->prim == JP_pxord || n->prim == JP_pxorq, is_negative = turns && n->arg[1] == SIGN;
  return is_negative ? OP3(fnmaddps, n->arg[0], y, z) : OP3(fmaddps, x, y, z);
}
static V negated(J *j, V x) { return OP2(pxord, x, SIGN); }

/* ---- f64 in two vectors ---- */

static jit_lanes wide_const(J *j, double x) {
  V c = jit_const64(j, num_f64_bits(x));
  return (jit_lanes){{c, c}};
}
static jit_lanes halves(J *j, jit_prim prim, jit_lanes x, jit_lanes y) {
  jit_lanes r;
  for (u32 i = 0; i < 2; i++) r.half[i] = jit_add(j, prim, 0, x.half[i], y.half[i], 0);
  return r;
}
static jit_lanes wide_fma(J *j, jit_lanes x, jit_lanes y, jit_lanes z) {
  jit_lanes r;
  for (u32 i = 0; i < 2; i++) r.half[i] = OP3(fmaddpd, x.half[i], y.half[i], z.half[i]);
  return r;
}
static jit_lanes wide_scale(J *j, jit_lanes x, jit_lanes shifted) {
  jit_lanes r;
  for (u32 i = 0; i < 2; i++) r.half[i] = OP2(paddq, x.half[i], IMM1(psllq, 52, shifted.half[i]));
  return r;
}

/* ---- vecmath.h as primitives ---- */

#define V_IN jit_build *j,
#define V_TO j,
#define v_num jit_value
#define v_word jit_value
#define v_truth jit_value
#define v_const(x) REAL(x)
#define v_add(x, y) OP2(addps, x, y)
#define v_sub(x, y) OP2(subps, x, y)
#define v_mul(x, y) product(j, x, y)
#define v_div(x, y) OP2(divps, x, y)
#define v_fma(x, y, z) fused(j, x, y, z)
#define v_left(x, y, z) fused(j, negated(j, x), y, z)
#define v_root(x) OP1(sqrtps, x)
#define v_neg(x) negated(j, x)
#define v_lesser(x, y) OP2(minps, x, y)
#define v_greater(x, y) OP2(maxps, x, y)
#define v_lt(x, y) IMM2(cmpps, LT, x, y)
#define v_gt(x, y) IMM2(cmpps, GT, x, y)
#define v_ge(x, y) IMM2(cmpps, GE, x, y)
#define v_eq(x, y) equal(j, x, y)
#define v_pick(t, x, y) pick(j, t, x, y)
#define v_bits(x) (x)
#define v_of_bits(w) (w)
#define v_of_int(w) OP1(cvtdq2ps, w)
#define w_const(x) CONST(x)
#define w_add(x, y) OP2(paddd, x, y)
#define w_sub(x, y) OP2(psubd, x, y)
#define w_and(x, y) OP2(pandd, x, y)
#define w_or(x, y) OP2(pord, x, y)
#define w_shift_sign(x, n) IMM1(psrad, n, x)
#define w_shift_left(x, n) IMM1(pslld, n, x)
#define w_greater(x, y) OP2(pmaxsd, x, y)
#define w_xor(x, y) OP2(pxord, x, y)
#define w_odd(x) OP2(ptestmd, x, w_const(1))
#define w_gt(x, y) IMM2(pcmpd, I_GT, x, y)
#define w_eq(x, y) IMM2(pcmpd, I_EQ, x, y)
#define w_of_num(x) OP1(cvttps2dq, x)
#define v_whole(x) cut_off(j, x)
#define v_wide jit_lanes
#define d_of(x) jit_widen(j, x)
#define d_num(x) jit_narrow(j, x)
#define d_const(x) wide_const(j, x)
#define d_add(x, y) halves(j, JP_addpd, x, y)
#define d_sub(x, y) halves(j, JP_subpd, x, y)
#define d_mul(x, y) halves(j, JP_mulpd, x, y)
#define d_fma(x, y, z) wide_fma(j, x, y, z)
#define d_lesser(x, y) halves(j, JP_minpd, x, y)
#define d_greater(x, y) halves(j, JP_maxpd, x, y)
#define d_scale(x, shifted) wide_scale(j, x, shifted)
#define v_scale(x, shifted) scaled(j, x, shifted)
#define v_split(x, e) split(j, x, e)
static V scaled(J *j, V x, V shifted);
static V split(J *j, V x, V *e);
#include "exec/vecmath.h"

/* The processor's own ways, where it has any. 1 and 2 are scaled to normal numbers only, or
 * infinity. */
static V scaled(J *j, V x, V shifted) {
  if (jit_is_for(j, JIT_AVX512)) return OP2(scalefps, x, OP2(subps, shifted, V_SHIFT));
  bool power = x == NUM(1) || x == NUM(2);
  return power ? OP2(paddd, x, IMM1(pslld, 23, shifted)) : scale_f32(j, x, shifted);
}
static V split(J *j, V x, V *e) {
  enum { QUARTERS = 3, NAN_BELOW_0 = 12 };
  if (!jit_is_for(j, JIT_AVX512)) return split_f32(j, x, e);
  V m = IMM1(getmantps, QUARTERS | NAN_BELOW_0, x);
  *e = OP2(subps, OP1(getexpps, x), OP1(getexpps, m));
  return m;
}

/* Of f64: each half of the lanes by itself. */
#undef w_const
#define w_const(x) jit_const64(j, x)
#undef w_odd
#define w_odd(x) odd_wide(j, x)
static V odd_wide(J *j, V x);
#define w_shift_right(x, n) IMM1(psrld, n, x)
#define t_and(x, y) OP2(kandq, x, y)
#define t_or(x, y) OP2(korq, x, y)
#define v_scale_by(x, n) scaled_by(j, x, n)
static V scaled_by(J *j, V x, V n);
#include "exec/vecmath64.h"

/* A mask of AVX2 has all 64 bits. */
static V odd_wide(J *j, V x) {
  V one = jit_const64(j, 1);
  if (jit_is_for(j, JIT_AVX512)) return OP2(ptestmd, x, one);
  return IMM2(pcmpd, I_EQ, OP2(pandd, x, one), one);
}
static V scaled_by(J *j, V x, V n) {
  return jit_is_for(j, JIT_AVX512) ? OP2(scalefpd, x, n) : scale_f64(j, x, n);
}

/* ---- f32 and f64 ---- */

#define DIRECT(name, prim)                                                                         \
  static V name(J *j, vm_rtype t, V x, V y) {                                                      \
    (void)t, (void)y;                                                                              \
    return OP2(prim, x, y);                                                                        \
  }
#define DIRECT1(name, expr)                                                                        \
  static V name(J *j, vm_rtype t, V x, V y) {                                                      \
    (void)t, (void)y;                                                                              \
    return expr;                                                                                   \
  }
DIRECT(f_add, addps)
DIRECT(f_sub, subps)
DIRECT(f_mul, mulps)
/* Whether whole numbers up to 255 times 1 / by, in f32, are quotients; corrected: once what is left
 * times 1 / by has been added. */
static bool is_quotient(float by, bool corrected) {
  float inverse = 1 / by;
  for (u32 i = 0; i < 256; i++) {
    float x = (float)i, q = x * inverse;
    if (corrected) q = fmaf(fmaf(-q, by, x), inverse, q);
    if (num_f32_bits(q) != num_f32_bits(x / by)) return false;
  }
  return true;
}
/* Of numbers that were of 8 bits in memory, as those of images. */
static bool divide_bytes(J *j, V x, float by, V *out) {
  const jit_node *n = &j->nodes.data[x], *of = &j->nodes.data[n->arg[0]];
  if (n->prim != JP_cvtdq2ps || (of->prim != JP_load8 && of->prim != JP_load8s)) return false;
  if (!(fabsf(by) > 0x1p-40f && fabsf(by) < 0x1p40f)) return false;
  V inverse = REAL(1 / by), q = OP2(mulps, x, inverse);
  bool at_once = is_quotient(by, false);
  if (!at_once && !is_quotient(by, true)) return false;
  *out = at_once ? q : OP3(fmaddps, OP3(fnmaddps, q, REAL(by), x), inverse, q);
  return true;
}
/* By a power of two: the product with its inverse, where that is a normal number too, is the same.
 */
static V f_div(J *j, vm_rtype t, V x, V y) {
  double by;
  int exponent, most = j->wide ? 1020 : 124;
  V q;
  (void)t;
  bool is_known = find_number(j, y, &by) && is_large(j, by);
  bool is_power = is_known && fabs(frexp(by, &exponent)) == 0.5;
  is_power = is_power && exponent >= -most && exponent <= most;
  if (is_known && !is_power && !j->wide && divide_bytes(j, x, (float)by, &q)) return q;
  return is_power ? OP2(mulps, x, REAL(1 / by)) : OP2(divps, x, y);
}
DIRECT1(f_neg, negated(j, x))
DIRECT1(f_abs, j->wide ? abs_f64(j, x) : abs_f32(j, x))
DIRECT1(f_sqrt, OP1(sqrtps, x))
DIRECT1(f_floor, IMM1(rndscaleps, FLOOR, flushed(j, x)))
DIRECT1(f_ceil, IMM1(rndscaleps, CEIL, flushed(j, x)))
DIRECT1(f_round_even, IMM1(rndscaleps, NEAREST, flushed(j, x)))
DIRECT1(f_exp, j->wide ? exp_f64(j, x) : exp_f32(j, x))
DIRECT1(f_expm1, j->wide ? expm1_f64(j, x) : expm1_f32(j, x))
DIRECT1(f_log, j->wide ? log_f64(j, flushed(j, x)) : log_f32(j, x))
DIRECT1(f_log1p, j->wide ? log1p_f64(j, flushed(j, x)) : log1p_f32(j, x))
DIRECT1(f_logistic, j->wide ? logistic_f64(j, x) : logistic_f32(j, x))
DIRECT1(f_tanh, j->wide ? tanh_f64(j, x) : tanh_f32(j, x))
DIRECT1(f_erf, erf_f32(j, flushed(j, x)))
DIRECT1(f_erf_inv, erf_inv_f32(j, x))
DIRECT1(f_atan, j->wide ? atan2_f64(j, x, REAL(1)) : atan2_f32(j, x, NUM(1)))
DIRECT1(f_atan2, j->wide ? atan2_f64(j, x, y) : atan2_f32(j, x, y))
DIRECT1(f_cbrt, j->wide ? cbrt_f64(j, x) : cbrt_f32(j, x))
DIRECT1(f_pow, pow_f32(j, x, y))
DIRECT1(f_sin, j->wide ? sine_f64(j, x, 0) : sine_zero_f32(j, x, 0))
DIRECT1(f_cos, j->wide ? sine_f64(j, x, 1) : sine_zero_f32(j, x, 1))
/* Of single numbers: in f64. */
static V in_wide(J *j, V f(J *j, V x, V y), V x, V y) {
  if (j->wide) return f(j, x, y);
  V a = jit_widen(j, x).half[0], b = jit_widen(j, y).half[0];
  j->wide = true;
  a = f(j, a, b);
  j->wide = false;
  return jit_narrow(j, (jit_lanes){{a, a}});
}
static V tan_wide(J *j, V x, V y) {
  (void)y;
  return tan_f64(j, x);
}
DIRECT1(f_tan, in_wide(j, tan_wide, x, x))
DIRECT1(f_rem, in_wide(j, rem_f64, x, y))
DIRECT1(f_imag, ((void)x, CONST(0)))
DIRECT1(f_is_finite, IMM2(cmpps, LT, f_abs(j, t, x, x), REAL(INFINITY)))
DIRECT1(f_is_inf, IMM2(cmpps, EQ, f_abs(j, t, x, x), REAL(INFINITY)))
DIRECT1(f_is_pos_inf, IMM2(cmpps, EQ, x, REAL(INFINITY)))
DIRECT1(f_is_neg_inf, IMM2(cmpps, EQ, x, REAL(-INFINITY)))

static bool is_plain(const J *j, V x) {
  double number;
  return find_number(j, x, &number) && is_large(j, number) && fabs(number) < INFINITY;
}
/* As kernels.c has them: NaN wins, -0 < +0. With a constant but 0 that is no NaN, equal is the
 * same, and the instruction's answer to NaN is its second operand, as it is to equals: with +0 that
 * is the lesser one, and becomes the greater one by a sum with it. */
static V extreme(J *j, bool least, V x, V y) {
  enum { OF_BOTH_SIGNS = 4 };
  double to;
  jit_prim prim = least ? JP_minps : JP_maxps;
  if (jit_is_for(j, JIT_NEON)) /* it has just these */
    return jit_add(j, least ? JP_fminps : JP_fmaxps, 0, x, y, 0);
  if (is_plain(j, x)) return flushed(j, jit_add(j, prim, 0, x, y, 0));
  if (x == CONST(0)) return OP2(addps, jit_add(j, prim, 0, x, y, 0), least ? SIGN : x);
  if (find_number(j, y, &to) && !find_number(j, x, &to)) return extreme(j, least, y, x);
  V k = IMM2(cmpps, UNORD, x, y);
  if (jit_is_for(j, JIT_AVX512)) /* which prefers numbers to NaN */
    return pick(j, k, OP2(addps, x, y), IMM2(rangeps, OF_BOTH_SIGNS | !least, x, y));
  V same = jit_add(j, least ? JP_pord : JP_pandd, 0, x, y, 0), r = jit_add(j, prim, 0, x, y, 0);
  r = pick(j, IMM2(cmpps, EQ, x, y), same, r);
  return pick(j, IMM2(cmpps, UNORD, x, x), x, flushed(j, r));
}
DIRECT1(f_max, extreme(j, false, x, y))
DIRECT1(f_min, extreme(j, true, x, y))

/* x + half with its sign, cut off; the greatest number below a half, or what lies next to a half
 * would be rounded up. */
static V f_round_afz(J *j, vm_rtype t, V x, V y) {
  (void)t, (void)y;
  V below = j->wide ? REAL(0x1.fffffffffffffp-2) : NUM(0x1.fffffep-2f);
  V f = flushed(j, x), half = OP2(pord, OP2(pandd, f, SIGN), below);
  return IMM1(rndscaleps, TRUNCATE, OP2(addps, f, half));
}
static V f_sign(J *j, vm_rtype t, V x, V y) {
  (void)t, (void)y;
  V r = pick(j, IMM2(cmpps, LT, x, CONST(0)), REAL(-1), flushed(j, x));
  return pick(j, IMM2(cmpps, GT, x, CONST(0)), REAL(1), r);
}
/* INV_ROOT of kernels.c, but where there is one, the processor's guess and one more step of
 * Newton's, of f64 two, instead of a root and a division. The last step begins at an odd number, so
 * that it does not end halfway between two, and gives the same bits. */
static V f_rsqrt(J *j, vm_rtype t, V x, V unused) {
  (void)t, (void)unused;
  V one = REAL(1), half = REAL(0.5);
  bool has_guess = jit_is_for(j, JIT_AVX512);
  V guess = has_guess ? OP1(rsqrt14ps, x) : OP2(divps, one, OP1(sqrtps, x)), y = guess, e;
  for (u32 i = 0; has_guess && i <= j->wide; i++) {
    e = OP3(fnmaddps, OP2(mulps, x, y), y, one);
    y = OP3(fmaddps, OP2(mulps, half, y), e, y);
  }
  if (has_guess) y = OP2(pord, y, CONST(1));
  V r = OP2(mulps, x, y), low = OP3(fmsubps, x, y, r);
  e = OP3(fnmaddps, low, y, OP3(fnmaddps, r, y, one));
  y = OP3(fmaddps, OP2(mulps, half, y), e, y);
  return pick(j, IMM2(cmpps, UNORD, y, y), guess, y);
}

#define COMPARE(name, f, i)                                                                        \
  static V f_##name(J *j, vm_rtype t, V x, V y) {                                                  \
    (void)t;                                                                                       \
    return IMM2(cmpps, f, x, y);                                                                   \
  }                                                                                                \
  static V i_##name(J *j, vm_rtype t, V x, V y) {                                                  \
    return t == R_u32 || t == R_u64 ? IMM2(pcmpud, i, x, y) : IMM2(pcmpd, i, x, y);                \
  }                                                                                                \
  static V f_total_##name(J *j, vm_rtype t, V x, V y) {                                            \
    (void)t;                                                                                       \
    return IMM2(pcmpd, i, total_order(j, x), total_order(j, y));                                   \
  }
static V total_order(J *j, V x) { return OP2(pxord, x, IMM1(psrld, 1, IMM1(psrad, TOP, x))); }
COMPARE(eq, EQ, I_EQ)
COMPARE(ne, NE, I_NE)
COMPARE(lt, LT, I_LT)
COMPARE(le, LE, I_LE)
COMPARE(gt, GT, I_GT)
COMPARE(ge, GE, I_GE)

/* ---- integers; what leaves the type's range is wrapped after it ---- */

static V i_add(J *j, vm_rtype t, V x, V y);
DIRECT(i_sub, psubd)
DIRECT(i_mul, pmulld)
DIRECT(i_and, pandd)
DIRECT(i_xor_plain, pxord)
DIRECT1(i_neg, OP2(psubd, CONST(0), x))
DIRECT1(i_not, OP2(pxord, x, CONST(-1)))

static bool is_signed(vm_rtype t) { return t >= R_s8 && t <= R_s64; }
static u32 bits_of(vm_rtype t) { return 8 * vm_rtype_size(t); }

/* Shifts both ways, by constants that make 32, of one value are a rotation. */
static bool find_rotation(J *j, V x, V y, V *out) {
  const jit_node *a = &j->nodes.data[x], *b = &j->nodes.data[y];
  if (a->prim == JP_psrld) a = b, b = &j->nodes.data[x];
  if (a->prim != JP_pslld || b->prim != JP_psrld || a->arg[0] != b->arg[0]) return false;
  if (a->imm + b->imm != 32) return false;
  *out = IMM1(prold, a->imm, a->arg[0]);
  return true;
}
static V i_or(J *j, vm_rtype t, V x, V y) {
  V r;
  return t >= R_s32 && find_rotation(j, x, y, &r) ? r : OP2(pord, x, y);
}
static V i_xor(J *j, vm_rtype t, V x, V y) {
  V r;
  return t >= R_s32 && find_rotation(j, x, y, &r) ? r : i_xor_plain(j, t, x, y);
}
static V i_add(J *j, vm_rtype t, V x, V y) {
  V r;
  return t >= R_s32 && find_rotation(j, x, y, &r) ? r : OP2(paddd, x, y);
}
static V i_max(J *j, vm_rtype t, V x, V y) {
  return t == R_u32 || t == R_u64 ? OP2(pmaxud, x, y) : OP2(pmaxsd, x, y);
}
static V i_min(J *j, vm_rtype t, V x, V y) {
  return t == R_u32 || t == R_u64 ? OP2(pminud, x, y) : OP2(pminsd, x, y);
}
static V i_abs(J *j, vm_rtype t, V x, V y) {
  (void)y;
  if (j->wide && is_signed(t)) return i_max(j, t, x, i_neg(j, t, x, x));
  return is_signed(t) ? OP1(pabsd, x) : x;
}
static V i_sign(J *j, vm_rtype t, V x, V y) {
  (void)y;
  V least = i_min(j, t, x, CONST(1));
  return is_signed(t) ? i_max(j, t, least, CONST(-1)) : least;
}
static V i_clz(J *j, vm_rtype t, V x, V y) {
  (void)y;
  V bare = jit_as(j, x, t, jit_unsigned(t));
  return OP2(psubd, OP1(plzcntd, bare), CONST(32 - bits_of(t)));
}
/* Lanes of 8 or 16 bits have room for all of it. */
static V i_popcnt(J *j, vm_rtype t, V x, V y) {
  u32 bits = bits_of(t), all = UINT32_MAX >> (32 - bits);
  (void)y;
  x = jit_as(j, x, t, jit_unsigned(t));
  for (u32 by = 1; by <= 2; by *= 2) {
    V with = CONST((by == 1 ? 0x55555555 : 0x33333333) & all);
    x = OP2(paddd, OP2(pandd, x, with), OP2(pandd, IMM1(psrld, by, x), with));
  }
  x = OP2(pandd, OP2(paddd, x, IMM1(psrld, 4, x)), CONST(0x0f0f0f0f & all));
  if (bits == 16) return OP2(pandd, OP2(paddd, x, IMM1(psrld, 8, x)), CONST(31));
  return bits == 8 ? x : IMM1(psrld, 24, OP2(pmulld, x, CONST(0x01010101)));
}
static V i_mulhi(J *j, vm_rtype t, V x, V y) {
  if (bits_of(t) == 32) return jit_high(j, is_signed(t), x, y);
  V p = OP2(pmulld, x, y);
  return is_signed(t) ? IMM1(psrad, bits_of(t), p) : IMM1(psrld, bits_of(t), p);
}

/* The processor shifts everything out where the amount is 32, or the lane's bits, or more. */
static V shift(J *j, jit_prim by_imm, jit_prim by_lane, V x, V y) {
  u32 few = 0;
  u64 n = 0;
  if (!jit_is_const(j, y, &few) && !jit_is_const64(j, y, &n))
    return jit_add(j, by_lane, 0, x, y, 0);
  n = j->wide ? n : few;
  if (n <= TOP) return n == 0 ? x : jit_add(j, by_imm, (u32)n, x, 0, 0);
  return by_imm == JP_psrad ? IMM1(psrad, TOP, x) : CONST(0);
}
static V i_shl(J *j, vm_rtype t, V x, V y) {
  return shift(j, JP_pslld, JP_psllvd, x, jit_as(j, y, t, jit_unsigned(t)));
}
static V i_shr_logic(J *j, vm_rtype t, V x, V y) {
  vm_rtype u = jit_unsigned(t);
  return shift(j, JP_psrld, JP_psrlvd, jit_as(j, x, t, u), jit_as(j, y, t, u));
}
static V i_shr_arith(J *j, vm_rtype t, V x, V y) {
  vm_rtype s = is_signed(t) ? t : (vm_rtype)(t - R_u8 + R_s8);
  return shift(j, JP_psrad, JP_psravd, jit_as(j, x, t, s), jit_as(j, y, t, jit_unsigned(t)));
}

/* ---- pred ---- */

DIRECT(p_and, kandq)
DIRECT(p_or, korq)
static V p_xor(J *j, vm_rtype t, V x, V y) {
  const jit_node *n = &j->nodes.data[y];
  u32 bits;
  (void)t;
  bool is_false = n->prim == JP_ptestmd && jit_is_const(j, n->arg[0], &bits) && bits == 0;
  return is_false ? x : OP2(kxorq, x, y);
}
DIRECT(p_eq, kxnorq)
DIRECT(p_lt, kandnq) /* not x and y */
DIRECT1(p_gt, OP2(kandnq, y, x))
DIRECT1(p_not, OP1(knotq, x))
DIRECT1(p_le, OP2(korq, OP1(knotq, x), y))
DIRECT1(p_ge, OP2(korq, x, OP1(knotq, y)))

/* ---- a row an operation ---- */

typedef V build_fn(J *j, vm_rtype t, V x, V y);
enum { REALS = 1, LONGS = 2, BOTH = 3, NEAR = 4 };
typedef struct op_row {
  build_fn *f32, *integer, *pred;
  u8 wide; /* the same of 64 bits; NEAR: of some numbers only */
} op_row;
static const op_row rows[VM_OP_COUNT] = {
    [VM_eq] = {f_eq, i_eq, p_eq, BOTH},
    [VM_ne] = {f_ne, i_ne, p_xor, BOTH},
    [VM_lt] = {f_lt, i_lt, p_lt, BOTH},
    [VM_le] = {f_le, i_le, p_le, BOTH},
    [VM_gt] = {f_gt, i_gt, p_gt, BOTH},
    [VM_ge] = {f_ge, i_ge, p_ge, BOTH},
    [VM_total_eq] = {f_total_eq, NULL, NULL, REALS},
    [VM_total_ne] = {f_total_ne, NULL, NULL, REALS},
    [VM_total_lt] = {f_total_lt, NULL, NULL, REALS},
    [VM_total_le] = {f_total_le, NULL, NULL, REALS},
    [VM_total_gt] = {f_total_gt, NULL, NULL, REALS},
    [VM_total_ge] = {f_total_ge, NULL, NULL, REALS},
    [VM_add] = {f_add, i_add, p_or, BOTH},
    [VM_sub] = {f_sub, i_sub, NULL, BOTH},
    [VM_mul] = {f_mul, i_mul, p_and, BOTH},
    [VM_mulhi] = {NULL, i_mulhi, NULL, 0},
    [VM_div] = {f_div, jit_divide, NULL, BOTH},
    [VM_rem] = {f_rem, jit_remainder, NULL, BOTH | NEAR},
    [VM_max] = {f_max, i_max, p_or, BOTH},
    [VM_min] = {f_min, i_min, p_and, BOTH},
    [VM_and] = {NULL, i_and, p_and, LONGS},
    [VM_or] = {NULL, i_or, p_or, LONGS},
    [VM_xor] = {NULL, i_xor, p_xor, LONGS},
    [VM_shl] = {NULL, i_shl, NULL, LONGS},
    [VM_shr_arith] = {NULL, i_shr_arith, NULL, LONGS},
    [VM_shr_logic] = {NULL, i_shr_logic, NULL, LONGS},
    [VM_imag] = {f_imag, NULL, NULL, REALS},
    [VM_abs] = {f_abs, i_abs, NULL, BOTH},
    [VM_neg] = {f_neg, i_neg, NULL, BOTH},
    [VM_sign] = {f_sign, i_sign, NULL, BOTH},
    [VM_not] = {NULL, i_not, p_not, LONGS},
    [VM_clz] = {NULL, i_clz, NULL, 0},
    [VM_popcnt] = {NULL, i_popcnt, NULL, 0},
    [VM_is_finite] = {f_is_finite, NULL, NULL, REALS},
    [VM_is_inf] = {f_is_inf, NULL, NULL, REALS},
    [VM_is_pos_inf] = {f_is_pos_inf, NULL, NULL, REALS},
    [VM_is_neg_inf] = {f_is_neg_inf, NULL, NULL, REALS},
    [VM_floor] = {f_floor, NULL, NULL, REALS},
    [VM_ceil] = {f_ceil, NULL, NULL, REALS},
    [VM_round_even] = {f_round_even, NULL, NULL, REALS},
    [VM_round_afz] = {f_round_afz, NULL, NULL, REALS},
    [VM_sqrt] = {f_sqrt, NULL, NULL, REALS},
    [VM_rsqrt] = {f_rsqrt, NULL, NULL, REALS},
    [VM_exp] = {f_exp, NULL, NULL, REALS},
    [VM_expm1] = {f_expm1, NULL, NULL, REALS},
    [VM_log] = {f_log, NULL, NULL, REALS},
    [VM_log1p] = {f_log1p, NULL, NULL, REALS},
    [VM_logistic] = {f_logistic, NULL, NULL, REALS},
    [VM_tanh] = {f_tanh, NULL, NULL, REALS},
    [VM_erf] = {f_erf, NULL, NULL, 0},
    [VM_erf_inv] = {f_erf_inv, NULL, NULL, 0},
    [VM_atan] = {f_atan, NULL, NULL, REALS},
    [VM_atan2] = {f_atan2, NULL, NULL, REALS},
    [VM_cbrt] = {f_cbrt, NULL, NULL, REALS},
    [VM_pow] = {f_pow, NULL, NULL, 0},
    [VM_sin] = {f_sin, NULL, NULL, REALS | NEAR},
    [VM_cos] = {f_cos, NULL, NULL, REALS | NEAR},
    [VM_tan] = {f_tan, NULL, NULL, REALS | NEAR},
};

static build_fn *row_of(vm_op op, vm_rtype t) {
  const op_row *r = &rows[op];
  if (!jit_has_type(t)) return NULL;
  if (t == R_f64) return r->wide & REALS ? r->f32 : NULL;
  if (vm_rtype_size(t) == 8 && !(r->wide & LONGS)) return NULL;
  return t == R_f32 ? r->f32 : t == R_pred ? r->pred : r->integer;
}
bool jit_has_op(vm_op op, vm_rtype t) {
  bool real = t == R_f32 || t == R_f64;
  return row_of(op, t) && !(real && rows[op].wide & NEAR);
}
bool jit_has_near(vm_op op, vm_rtype t) { return row_of(op, t) != NULL; }
/* 2^18, or where it is done in f64, 2^30; divisors from 2^-20 on. */
jit_range jit_near(vm_op op, vm_rtype t, u32 operand) {
  jit_range none = {0, 0}, divisor = {0x35800000, 0x7f800000},
            wide_divisor = {0x3eb00000, 0x7ff00000};
  if (!(rows[op].wide & NEAR) || (t != R_f32 && t != R_f64)) return none;
  if (operand) return t == R_f32 ? divisor : wide_divisor;
  u32 end = t == R_f64 ? 0x41d00000 : op == VM_sin || op == VM_cos ? 0x48800000 : 0x4e800000;
  return (jit_range){0, end};
}

/* ---- types ---- */

bool jit_has_type(vm_rtype t) {
#if defined(__aarch64__)
  return vm_rtype_size(t) <= 4;
#else
  return t != R_c64 && vm_rtype_size(t) <= 8;
#endif
}
vm_rtype jit_unsigned(vm_rtype t) { return is_signed(t) ? (vm_rtype)(t - R_s8 + R_u8) : t; }

/* The low bits that a type has, as a lane has them. */
static V wrapped(J *j, V x, vm_rtype t) {
  u32 unused = 32 - bits_of(t), bits;
  if (bits_of(t) >= 32 || t == R_pred) return x;
  if (jit_is_const(j, x, &bits))
    return CONST(is_signed(t) ? (i32)(bits << unused) >> unused : (i32)(bits << unused >> unused));
  if (is_signed(t)) return IMM1(psrad, unused, IMM1(pslld, unused, x));
  return OP2(pandd, x, CONST(UINT32_MAX >> unused));
}
/* Truth as a number and back. */
static V from_pred(J *j, V k, u32 one) { return pick(j, k, CONST(one), CONST(0)); }
static V to_pred(J *j, V x) { return OP2(ptestmd, x, x); }

V jit_as(J *j, V x, vm_rtype from, vm_rtype to) {
  if (from == to || (from != R_pred && vm_rtype_size(to) >= 4)) return x;
  if (from == R_pred) return from_pred(j, x, 1);
  if (to == R_pred) return to_pred(j, x);
  return wrapped(j, x, to);
}

V jit_op(J *j, vm_op op, vm_rtype t, V x, V y) {
  V r = row_of(op, t)(j, t, x, y);
  bool is_pred = vm_op_infos[op].result == VM_PRED;
  return t == R_f32 || is_pred ? r : wrapped(j, r, t);
}

/* The same where instructions have it so for 32 bits. */
static V saturated(J *j, V x, vm_rtype to) {
  u32 above = 32 - bits_of(to);
  if (!is_signed(to)) {
    V r = OP1(cvttps2udq, x);
    return above ? OP2(pminud, r, CONST(UINT32_MAX >> above)) : r;
  }
  V r = OP1(cvttps2dq, x);
  if (!above) return r;
  return OP2(pmaxsd, OP2(pminsd, r, CONST(INT32_MAX >> above)), CONST(INT32_MIN >> above));
}
/* Of floats: beyond the range to its ends, NaN to 0. */
static V float_to_int(J *j, V x, vm_rtype to) {
  bool is_sign = is_signed(to);
  u32 bits = bits_of(to);
  if (jit_is_for(j, JIT_NEON)) return saturated(j, x, to);
  if (!is_sign) {
    V above = OP2(maxps, x, CONST(0));
    if (bits == 32) return OP1(cvttps2udq, above);
    return OP1(cvttps2dq, OP2(minps, NUM((float)((1u << bits) - 1)), above));
  }
  if (bits < 32) { /* NaN stays, becomes the least number of 32 bits, and is wrapped to 0 */
    float most = (float)((1u << (bits - 1)) - 1);
    V in = OP2(maxps, NUM(-most - 1), OP2(minps, NUM(most), x));
    return wrapped(j, OP1(cvttps2dq, in), to);
  }
  V r = pick(j, IMM2(cmpps, GE, x, NUM(0x1p31f)), CONST(INT32_MAX), OP1(cvttps2dq, x));
  return pick(j, IMM2(cmpps, UNORD, x, x), CONST(0), r);
}

V jit_convert(J *j, V x, vm_rtype from, vm_rtype to) {
  if (from == to) return x;
  if (to == R_pred) return from == R_f32 ? IMM2(cmpps, NE, x, CONST(0)) : to_pred(j, x);
  if (from == R_pred) return from_pred(j, x, to == R_f32 ? num_f32_bits(1) : 1);
  if (from == R_f32) return float_to_int(j, x, to);
  if (to != R_f32) return wrapped(j, x, to);
  return from == R_u32 ? OP1(cvtudq2ps, x) : OP1(cvtdq2ps, x);
}

V jit_select(J *j, V p, V x, V y, bool masks) {
  V r;
  if (!masks) return jit_find_floor(j, p, x, y, &r) ? r : pick(j, p, x, y);
  return OP2(korq, OP2(kandq, p, x), OP2(kandnq, p, y));
}
