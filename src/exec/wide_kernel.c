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
  __attribute__((noinline)) static v_num far_##op##_##t(u32 taken, v_num x, v_num y, v_num r) {    \
    (void)x, (void)y;                                                                              \
    EXACTLY(for (u32 i = 0; i < LANES; i++) if (!(taken >> i & 1)) r[i] = FAR_##operands(f, T);)   \
    return r;                                                                                      \
  }                                                                                                \
  static v_num near_##op##_##t(v_num x, v_num y) {                                                 \
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

/* Powers of c64, exp(b log a): f64 has places enough for what an exponent makes of an error, and
 * squares of all sizes. Ends go to num_cpow. */
static void pow_c64(size_t n, kern_c64 *d, const kern_c64 *a, const kern_c64 *b) {
  double part[4][LANES];
  for (size_t i = 0; i < LANES; i++) {
    const kern_c64 *x = a + (i < n ? i : 0), *y = b + (i < n ? i : 0);
    part[0][i] = (double)x->re, part[1][i] = (double)x->im;
    part[2][i] = (double)y->re, part[3][i] = (double)y->im;
  }
  v_num v[4], half = v_const(0.5);
  memcpy(v, part, sizeof v);
  v_num square = v_fma(v[0], v[0], v_mul(v[1], v[1])), angle = atan2_f64(v[1], v[0]);
  v_num log = v_mul(half, log_f64(square));
  v_num size = v_left(v[3], angle, v_mul(v[2], log)), turn = v_fma(v[3], log, v_mul(v[2], angle));
  v_truth sizes = t_and(v_gt(square, v_const(0)), v_lt(abs_f64(size), v_const(700)));
  u32 taken = t_lanes(t_and(sizes, sine_takes_f64(turn)));
  size = exp_f64(size);
  v[0] = v_mul(size, sine_f64(turn, 1)), v[1] = v_mul(size, sine_f64(turn, 0));
  memcpy(part, v, 2 * sizeof *v);
  for (size_t i = 0; i < n; i++) {
    if (!(taken >> i & 1)) {
      num_complex r;
      EXACTLY(r = num_cpow((num_complex){(double)a[i].re, (double)a[i].im},
                           (num_complex){(double)b[i].re, (double)b[i].im});)
      part[0][i] = r.re, part[1][i] = r.im;
    }
    d[i] = (kern_c64){(float)part[0][i], (float)part[1][i]};
  }
}
static void k_pow_c64(PARAMS) {
  (void)cv;
  for (size_t i = 0; i < n; i += LANES)
    pow_c64(n - i < LANES ? n - i : LANES, (kern_c64 *)dv + i, (const kern_c64 *)av + i,
            (const kern_c64 *)bv + i);
}

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
  k->binary[VM_pow][R_c64][FORM_VV] = k_pow_c64;
}
