/* Functions in f64 as vectors have them (vecmath64.h), and those of f32 that are the same, rounded
 * once. Built once per instruction set that multiplies and adds in one (KERNELS_ISA). */
#include "exec/denormals.h"
#include "exec/extremes.h"
#include "exec/kernels.h"
#include "num/special.h"

#if defined(__AVX512F__)
#include <immintrin.h>
enum { LANES = 8 };
typedef __m512d v_num;
typedef __m512i v_word;
typedef __mmask8 v_truth;
#define v_const(x) _mm512_set1_pd(x)
#define v_fma(x, y, z) _mm512_fmadd_pd(x, y, z)
#define v_left(x, y, z) _mm512_fnmadd_pd(x, y, z) /* z - x y */
#define v_lesser(x, y) _mm512_min_pd(x, y)        /* y where one is NaN */
#define v_greater(x, y) _mm512_max_pd(x, y)
#define v_lt(x, y) _mm512_cmp_pd_mask(x, y, _CMP_LT_OQ)
#define v_ge(x, y) _mm512_cmp_pd_mask(x, y, _CMP_GE_OQ)
#define v_eq(x, y) _mm512_cmp_pd_mask(x, y, _CMP_EQ_OQ)
#define v_pick(t, x, y) _mm512_mask_blend_pd(t, y, x)
#define v_bits(x) _mm512_castpd_si512(x)
#define v_of_bits(w) _mm512_castsi512_pd(w)
#define v_whole(x) _mm512_roundscale_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define v_scale_by(x, n) _mm512_scalef_pd(x, n)
#define v_root(x) _mm512_sqrt_pd(x)
#define v_evens(x, y) _mm512_unpacklo_pd(x, y) /* of pairs, within 16 bytes */
#define v_odds(x, y) _mm512_unpackhi_pd(x, y)
#define w_const(x) _mm512_set1_epi64((long long)(x))
#define w_add(x, y) _mm512_add_epi64(x, y)
#define w_sub(x, y) _mm512_sub_epi64(x, y)
#define w_and(x, y) _mm512_and_si512(x, y)
#define w_or(x, y) _mm512_or_si512(x, y)
#define w_xor(x, y) _mm512_xor_si512(x, y)
#define w_shift_left(x, n) _mm512_slli_epi64(x, n)
#define w_shift_right(x, n) _mm512_srli_epi64(x, n)
#define w_odd(x) _mm512_test_epi64_mask(x, w_const(1))
#define t_and(x, y) ((v_truth)((x) & (y)))
#define t_or(x, y) ((v_truth)((x) | (y)))
#define t_lanes(t) ((u32)(t))
#define LOAD_f64(p) _mm512_loadu_pd(p)
#define STORE_f64(p, x) _mm512_storeu_pd(p, x)
#define LOAD_f32(p) _mm512_cvtps_pd(_mm256_loadu_ps(p))
#define STORE_f32(p, x) _mm256_storeu_ps(p, _mm512_cvtpd_ps(x))
/* n elements, and the first one in other lanes */
#define FIRST_OF(n) ((__mmask8)((1u << (n)) - 1))
#define FETCH_f64(n, p) _mm512_mask_loadu_pd(v_const(*(p)), FIRST_OF(n), p)
#define FETCH_f32(n, p) _mm512_cvtps_pd(_mm256_mask_loadu_ps(_mm256_set1_ps(*(p)), FIRST_OF(n), p))
#define PUT_f64(n, p, x) _mm512_mask_storeu_pd(p, FIRST_OF(n), x)
#define PUT_f32(n, p, x) _mm256_mask_storeu_ps(p, FIRST_OF(n), _mm512_cvtpd_ps(x))
#elif defined(__AVX2__)
#include <immintrin.h>
enum { LANES = 4 };
typedef __m256d v_num, v_truth;
typedef __m256i v_word;
#define v_const(x) _mm256_set1_pd(x)
#define v_fma(x, y, z) _mm256_fmadd_pd(x, y, z)
#define v_left(x, y, z) _mm256_fnmadd_pd(x, y, z)
#define v_lesser(x, y) _mm256_min_pd(x, y)
#define v_greater(x, y) _mm256_max_pd(x, y)
#define v_lt(x, y) _mm256_cmp_pd(x, y, _CMP_LT_OQ)
#define v_ge(x, y) _mm256_cmp_pd(x, y, _CMP_GE_OQ)
#define v_eq(x, y) _mm256_cmp_pd(x, y, _CMP_EQ_OQ)
#define v_pick(t, x, y) _mm256_blendv_pd(y, x, t)
#define v_bits(x) _mm256_castpd_si256(x)
#define v_of_bits(w) _mm256_castsi256_pd(w)
#define v_whole(x) _mm256_round_pd(x, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC)
#define v_root(x) _mm256_sqrt_pd(x)
#define v_evens(x, y) _mm256_unpacklo_pd(x, y)
#define v_odds(x, y) _mm256_unpackhi_pd(x, y)
#define w_const(x) _mm256_set1_epi64x((long long)(x))
#define w_add(x, y) _mm256_add_epi64(x, y)
#define w_sub(x, y) _mm256_sub_epi64(x, y)
#define w_and(x, y) _mm256_and_si256(x, y)
#define w_or(x, y) _mm256_or_si256(x, y)
#define w_xor(x, y) _mm256_xor_si256(x, y)
#define w_shift_left(x, n) _mm256_slli_epi64(x, n)
#define w_shift_right(x, n) _mm256_srli_epi64(x, n)
#define w_odd(x) v_of_bits(w_shift_left(x, 63)) /* signs are what is picked by */
#define t_and(x, y) _mm256_and_pd(x, y)
#define t_or(x, y) _mm256_or_pd(x, y)
#define t_lanes(t) ((u32)_mm256_movemask_pd(t))
#define LOAD_f64(p) _mm256_loadu_pd(p)
#define STORE_f64(p, x) _mm256_storeu_pd(p, x)
#define LOAD_f32(p) _mm256_cvtps_pd(_mm_loadu_ps(p))
#define STORE_f32(p, x) _mm_storeu_ps(p, _mm256_cvtpd_ps(x))
#else
#include <arm_neon.h>
enum { LANES = 2 };
typedef float64x2_t v_num;
typedef uint64x2_t v_word, v_truth;
#define v_const(x) vdupq_n_f64(x)
#define v_fma(x, y, z) vfmaq_f64(z, x, y)
#define v_left(x, y, z) vfmsq_f64(z, x, y)
#define v_lesser(x, y) v_pick(v_lt(x, y), x, y)
#define v_greater(x, y) v_pick(v_gt(x, y), x, y)
#define v_lt(x, y) vcltq_f64(x, y)
#define v_ge(x, y) vcgeq_f64(x, y)
#define v_eq(x, y) vceqq_f64(x, y)
#define v_pick(t, x, y) vbslq_f64(t, x, y)
#define v_bits(x) vreinterpretq_u64_f64(x)
#define v_of_bits(w) vreinterpretq_f64_u64(w)
#define v_whole(x) vrndq_f64(x)
#define v_root(x) vsqrtq_f64(x)
#define v_evens(x, y) vtrn1q_f64(x, y)
#define v_odds(x, y) vtrn2q_f64(x, y)
#define w_const(x) vdupq_n_u64(x)
#define w_add(x, y) vaddq_u64(x, y)
#define w_sub(x, y) vsubq_u64(x, y)
#define w_and(x, y) vandq_u64(x, y)
#define w_or(x, y) vorrq_u64(x, y)
#define w_xor(x, y) veorq_u64(x, y)
#define w_shift_left(x, n) vshlq_n_u64(x, n)
#define w_shift_right(x, n) vshrq_n_u64(x, n)
#define w_odd(x) vtstq_u64(x, w_const(1))
#define t_and(x, y) vandq_u64(x, y)
#define t_or(x, y) vorrq_u64(x, y)
#define t_lanes(t) ((u32)((vgetq_lane_u64(t, 0) & 1) | (vgetq_lane_u64(t, 1) & 2)))
#define LOAD_f64(p) vld1q_f64(p)
#define STORE_f64(p, x) vst1q_f64(p, x)
#define LOAD_f32(p) vcvt_f64_f32(vld1_f32(p))
#define STORE_f32(p, x) vst1_f32(p, vcvt_f32_f64(x))
#endif
#define v_add(x, y) ((x) + (y))
#define v_sub(x, y) ((x) - (y))
#define v_mul(x, y) ((x) * (y))
#define v_div(x, y) ((x) / (y))
#define v_neg(x) (-(x))
#define v_gt(x, y) v_lt(y, x)
#define t_all ((1u << LANES) - 1)
#ifndef v_scale_by
#define v_scale_by(x, n) scale_f64(x, n)
#endif
#define V_IN
#define V_TO
#include "exec/vecmath64.h"

#define PARAMS size_t n, void *dv, const void *av, const void *bv, const void *cv
#define MAYBE __attribute__((unused))
#define APART __attribute__((noinline)) /* calls cost less than its code at each */

/* A vector of results of vectors of operands; x is the second one where there is none. A function
 * of its own, of which single numbers and long rows are called: they stay in registers. */
typedef v_num near_fn(v_num x, v_num y);

#ifndef FETCH_f64
#define FETCH_f64(n, p) fetch_f64(n, p)
#define FETCH_f32(n, p) fetch_f32(n, p)
#define PUT_f64(n, p, x) put_f64(n, p, x)
#define PUT_f32(n, p, x) put_f32(n, p, x)
#define MOVE(t, T)                                                                                 \
  static v_num fetch_##t(size_t n, const T *from) {                                                \
    T all[LANES];                                                                                  \
    memcpy(all, from, n * sizeof *all);                                                            \
    for (; n < LANES; n++) all[n] = all[0];                                                        \
    return LOAD_##t(all);                                                                          \
  }                                                                                                \
  static void put_##t(size_t n, T *to, v_num x) {                                                  \
    T all[LANES];                                                                                  \
    STORE_##t(all, x);                                                                             \
    memcpy(to, all, n * sizeof *all);                                                              \
  }
MOVE(f64, double)
MOVE(f32, float)
#endif

#define RUN(t, T)                                                                                  \
  static void run_##t(size_t n, T *d, const T *a, const T *b, near_fn *near) {                     \
    size_t i = 0;                                                                                  \
    if (n == 1) {                                                                                  \
      v_num x = v_const((double)*a), y = near(x, b ? v_const((double)*b) : x);                     \
      *d = (T)y[0];                                                                                \
      return;                                                                                      \
    }                                                                                              \
    for (; i + LANES <= n; i += LANES) {                                                           \
      v_num x = LOAD_##t(a + i), y = near(x, b ? LOAD_##t(b + i) : x);                             \
      STORE_##t(d + i, y);                                                                         \
    }                                                                                              \
    if (i == n) return;                                                                            \
    v_num x = FETCH_##t(n - i, a + i), y = near(x, b ? FETCH_##t(n - i, b + i) : x);               \
    PUT_##t(n - i, d + i, y);                                                                      \
  }
RUN(f64, double)
RUN(f32, float)

#define FAR_1(f, T) f((T)x[i])
#define FAR_2(f, T) f((T)x[i], (T)y[i])
#define BEHIND_1 NULL
#define BEHIND_2 bv
/* Lanes that a function does not take go to `f`, one by one. */
#define DEFINE_ONE(op, operands, t, T, f, takes, near)                                             \
  APART static v_num far_##op##_##t(u32 taken, v_num x, v_num y, v_num r) {                        \
    (void)x, (void)y;                                                                              \
    EXACTLY(for (u32 i = 0; i < LANES; i++) if (!(taken >> i & 1)) r[i] = FAR_##operands(f, T);)   \
    return r;                                                                                      \
  }                                                                                                \
  APART static v_num near_##op##_##t(v_num x, v_num y) {                                           \
    MAYBE const v_num zero = v_const(minus_zero);                                                  \
    (void)y;                                                                                       \
    u32 taken = takes;                                                                             \
    v_num r = near;                                                                                \
    return taken == t_all ? r : far_##op##_##t(taken, x, y, r);                                    \
  }                                                                                                \
  static void k_##op##_##t(PARAMS) {                                                               \
    (void)bv, (void)cv;                                                                            \
    run_##t(n, dv, av, BEHIND_##operands, near_##op##_##t);                                        \
  }

/* What a row says of floats (program/vm_ops.def); other files see to the other kinds. */
#define KIND_NO NONE, ()
#define KIND_MADE NONE, ()
#define KIND_OWN NONE, ()
#define KIND_VECTOR NONE, ()
#define KIND_PRED(expr) NONE, ()
#define KIND_INT(expr) NONE, ()
#define KIND_FLT(expr) NONE, ()
#define KIND_F32(expr, f) NONE, ()
#define KIND_LIBM(f) NONE, ()
#define KIND_VIA64(f) NONE, ()
#define KIND_PARTLY(f, far, takes, near) NONE, ()
#define KIND_BOTH(expr, f, near) F64, (NEVER, t_all, near)
#define KIND_BOTHZ(expr, f, near) F64, (NEVER, t_all, near)
#define KIND_PARTS(f, far, takes32, near32, takes, near) F64, (f, t_lanes(takes), near)
#define KIND_WIDE(fn, takes, near) ALL, (fn, fn##f, t_lanes(takes), near)
#define NEVER(...) 0
#define EACH(does, ...) EACH_(does, __VA_ARGS__)
#define EACH_(does, kind, how, ...) does##_##kind(how, __VA_ARGS__)
#define WITH(...) WITH_(__VA_ARGS__)
#define WITH_(how, ...) how(__VA_ARGS__)
#define LIST(...) __VA_ARGS__

#define DEFINE_NONE(...)
#define DEFINE_F64(how, op, operands) WITH(DEFINE_ONE, op, operands, f64, double, LIST how)
#define DEFINE_ALL(how, op, operands) WITH(DEFINE_TWO, op, operands, LIST how)
#define DEFINE_TWO(op, operands, f, g, takes, near)                                                \
  DEFINE_ONE(op, operands, f64, double, f, takes, near)                                            \
  DEFINE_ONE(op, operands, f32, float, g, takes, near)
#define VM(id, operands, how, result, traits, p, i, f, c, meaning)                                 \
  EACH(DEFINE, KIND_##f, id, operands)
#include "program/vm_ops.def"
#undef VM

/* ---- complex numbers ---- */

/* LANES of them, in an order that is the same for all, and which of them were taken. */
typedef struct pairs {
  v_num re, im;
  u32 taken;
} pairs;
typedef pairs pairs_fn(const pairs *x, const pairs *y);
typedef num_complex exact_fn(num_complex x, num_complex y);

APART static void put_exact(pairs *r, const pairs *x, const pairs *y, exact_fn *exact) {
  for (u32 i = 0; i < LANES; i++) {
    num_complex z = {x->re[i], x->im[i]}, by = {y->re[i], y->im[i]};
    if (r->taken >> i & 1) continue;
    EXACTLY(z = exact(z, by);)
    r->re[i] = z.re, r->im[i] = z.im;
  }
}
/* Parts lie in turn. What is left is filled up with copies of the first number. */
#define PAIRS(t, T, part)                                                                          \
  static pairs read_##t(size_t n, const T *from) {                                                 \
    T all[2 * LANES];                                                                              \
    for (size_t i = 0; n < LANES && i < 2 * LANES; i++) all[i] = from[i < 2 * n ? i : i % 2];      \
    if (n < LANES) from = all;                                                                     \
    v_num x = LOAD_##part(from), y = LOAD_##part(from + LANES);                                    \
    return (pairs){v_evens(x, y), v_odds(x, y), 0};                                                \
  }                                                                                                \
  static void map_##t(size_t n, T *d, const T *a, const T *b, pairs_fn *near, exact_fn *exact) {   \
    T all[2 * LANES];                                                                              \
    for (size_t i = 0; i < 2 * n; i += 2 * LANES) {                                                \
      size_t now = n - i / 2 < LANES ? n - i / 2 : LANES;                                          \
      pairs x = read_##t(now, a + i), y = read_##t(now, b + i), r = near(&x, &y);                  \
      if (r.taken != t_all) put_exact(&r, &x, &y, exact);                                          \
      T *to = now < LANES ? all : d + i;                                                           \
      STORE_##part(to, v_evens(r.re, r.im));                                                       \
      STORE_##part(to + LANES, v_odds(r.re, r.im));                                                \
      if (now < LANES) memcpy(d + i, all, 2 * now * sizeof *d);                                    \
    }                                                                                              \
  }
PAIRS(c64, float, f32)
PAIRS(c128, double, f64)

#define PAIRS_FN static pairs
static v_num sin_of(v_num x) { return near_sin_f64(x, x); }
static v_num cos_of(v_num x) { return near_cos_f64(x, x); }
static v_num exp_of(v_num x) { return near_exp_f64(x, x); }
static v_num expm1_of(v_num x) { return near_expm1_f64(x, x); }
static u32 within(v_num x, double limit) { return t_lanes(v_lt(abs_f64(x), v_const(limit))); }
/* The square of a number's size, where it is far from what is not normal. */
static v_num square_of(const pairs *x, u32 *taken) {
  v_num r = v_fma(x->re, x->re, v_mul(x->im, x->im));
  *taken = t_lanes(t_and(v_gt(r, v_const(0x1p-900)), v_lt(r, v_const(0x1p900))));
  return r;
}
APART static v_num hyperbolic(v_num x, v_num *cosh) { /* its sine, of |x| < 700 */
  v_num one = v_const(1), half = v_const(0.5), e = expm1_of(abs_f64(x));
  v_num power = v_add(e, one), by = v_div(one, power);
  *cosh = v_mul(half, v_add(power, by));
  return signed_f64(v_mul(half, v_fma(e, by, e)), x);
}

/* sinh(x + iy) = sinh x cos y + i cosh x sin y; turned: of cosh. */
APART static pairs products(const pairs *x, bool turned) {
  v_num cosh, sinh = hyperbolic(x->re, &cosh);
  return (pairs){v_mul(turned ? cosh : sinh, cos_of(x->im)),
                 v_mul(turned ? sinh : cosh, sin_of(x->im)),
                 within(x->re, 700) & within(x->im, INFINITY)};
}
PAIRS_FN pairs_sinh(const pairs *x, const pairs *unused) {
  (void)unused;
  return products(x, false);
}
PAIRS_FN pairs_cosh(const pairs *x, const pairs *unused) {
  (void)unused;
  return products(x, true);
}
/* Of sinh cosh of one part and sin cos of the other, by sinh^2 + cos^2: nothing cancels. */
PAIRS_FN pairs_tanh(const pairs *x, const pairs *unused) {
  v_num cosh, sinh = hyperbolic(x->re, &cosh), c = cos_of(x->im);
  v_num under = v_fma(sinh, sinh, v_mul(c, c));
  (void)unused;
  return (pairs){v_div(v_mul(sinh, cosh), under), v_div(v_mul(sin_of(x->im), c), under),
                 within(x->re, 300) & within(x->im, INFINITY)};
}
PAIRS_FN pairs_tan(const pairs *x, const pairs *unused) {
  pairs turned = {x->im, x->re, 0}, r = pairs_tanh(&turned, unused);
  return (pairs){r.im, r.re, r.taken};
}
/* As num_cexpm1 has it. */
PAIRS_FN pairs_expm1(const pairs *x, const pairs *unused) {
  v_num half = sin_of(v_mul(x->im, v_const(0.5))), square = v_mul(half, half);
  (void)unused;
  return (pairs){v_fma(expm1_of(x->re), cos_of(x->im), v_neg(v_add(square, square))),
                 v_mul(exp_of(x->re), sin_of(x->im)), within(x->re, 700) & within(x->im, INFINITY)};
}
PAIRS_FN pairs_exp(const pairs *x, const pairs *unused) {
  v_num size = exp_of(x->re);
  (void)unused;
  return (pairs){v_mul(size, cos_of(x->im)), v_mul(size, sin_of(x->im)),
                 within(x->re, 700) & within(x->im, INFINITY)};
}
PAIRS_FN pairs_sign(const pairs *x, const pairs *unused) {
  pairs r;
  v_num by = v_div(v_const(1), v_root(square_of(x, &r.taken)));
  (void)unused;
  r.re = v_mul(x->re, by), r.im = v_mul(x->im, by);
  return r;
}
/* exp(b log a), whose error is as large as that exponent and that angle. */
APART static pairs power(const pairs *x, const pairs *y, double most) {
  pairs r;
  v_num log = v_mul(v_const(0.5), near_log_f64(square_of(x, &r.taken), x->re));
  v_num angle = near_atan2_f64(x->im, x->re);
  v_num size = v_left(y->im, angle, v_mul(y->re, log));
  v_num turn = v_fma(y->im, log, v_mul(y->re, angle));
  r.taken &= within(size, most) & within(turn, most);
  size = exp_of(size);
  r.re = v_mul(size, cos_of(turn)), r.im = v_mul(size, sin_of(turn));
  return r;
}
/* f64 has places enough for c64. */
PAIRS_FN power_c64(const pairs *x, const pairs *y) { return power(x, y, 700); }
PAIRS_FN power_c128(const pairs *x, const pairs *y) { return power(x, y, 16); }

#define COMPLEX_OF(op, t, T, b, near, exact)                                                       \
  static void k_##op##_##t(PARAMS) {                                                               \
    (void)bv, (void)cv;                                                                            \
    map_##t(n, (T *)dv, (const T *)av, (const T *)b, near, exact);                                 \
  }
#define EXACT(op)                                                                                  \
  static num_complex exact_##op(num_complex x, num_complex y) {                                    \
    (void)y;                                                                                       \
    return num_c##op(x);                                                                           \
  }                                                                                                \
  COMPLEX_OF(op, c128, double, av, pairs_##op, exact_##op)
#define COMPLEX(op) EXACT(op) COMPLEX_OF(op, c64, float, av, pairs_##op, exact_##op)
#define COMPLEX_FUNCTIONS(DO) DO(sinh) DO(cosh) DO(tanh) DO(tan) DO(expm1) DO(sign)
COMPLEX_FUNCTIONS(COMPLEX)
EXACT(exp) /* complex_kernel.c has c64's */
COMPLEX_OF(pow, c64, float, bv, power_c64, num_cpow)
COMPLEX_OF(pow, c128, double, bv, power_c128, num_cpow)

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
void PASTE(wide_kernels_fill_, KERNELS_ISA)(vm_kernels *k) {
#define SET_1(op, t) k->unary[VM_##op][R_##t] = k_##op##_##t;
#define SET_2(op, t) k->binary[VM_##op][R_##t][FORM_VV] = k_##op##_##t;
#define SET_NONE(...)
#define SET_F64(how, op, operands) SET_##operands(op, f64)
#define SET_ALL(how, op, operands) SET_##operands(op, f64) SET_##operands(op, f32)
#define VM(id, operands, how, result, traits, p, i, f, c, meaning) EACH(SET, KIND_##f, id, operands)
#include "program/vm_ops.def"
#undef VM
#define SET_COMPLEX(op) SET_1(op, c64) SET_1(op, c128)
  COMPLEX_FUNCTIONS(SET_COMPLEX)
  SET_1(exp, c128)
  SET_2(pow, c64)
  SET_2(pow, c128)
  PASTE(sort_kernels_fill_, KERNELS_ISA)(k);
}
