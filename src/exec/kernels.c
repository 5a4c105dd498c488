/* The fast kernels. Built once per instruction set with KERNELS_ISA naming it; plain loops that
 * the compiler vectorises. See program/vm_ops.def for the operations. */
#include "exec/kernels.h"

#include "exec/denormals.h"
#include "exec/extremes.h"
#include "exec/move_kernel.h"
#include "exec/vecmath.h"
#include "num/special.h"

/* abs and sign of unsigned types compare with 0; not every loop can be vectorised */
#pragma GCC diagnostic ignored "-Wtype-limits"
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed"
#define LOOP _Pragma("clang loop vectorize(assume_safety)") for (size_t i = 0; i < n; i++)
#else
#define LOOP _Pragma("GCC ivdep") for (size_t i = 0; i < n; i++)
#endif
#define PARAMS size_t n, void *dv, const void *av, const void *bv, const void *cv
#define UNUSED (void)av, (void)bv, (void)cv

/* T, U, S, W of each integer type */
#define MAYBE __attribute__((unused))
#define TYPES_s8                                                                                   \
  MAYBE typedef i8 T;                                                                              \
  MAYBE typedef u8 U;                                                                              \
  MAYBE typedef i8 S;                                                                              \
  MAYBE typedef u32 W
#define TYPES_u8                                                                                   \
  MAYBE typedef u8 T;                                                                              \
  MAYBE typedef u8 U;                                                                              \
  MAYBE typedef i8 S;                                                                              \
  MAYBE typedef u32 W
#define TYPES_s16                                                                                  \
  MAYBE typedef i16 T;                                                                             \
  MAYBE typedef u16 U;                                                                             \
  MAYBE typedef i16 S;                                                                             \
  MAYBE typedef u32 W
#define TYPES_u16                                                                                  \
  MAYBE typedef u16 T;                                                                             \
  MAYBE typedef u16 U;                                                                             \
  MAYBE typedef i16 S;                                                                             \
  MAYBE typedef u32 W
#define TYPES_s32                                                                                  \
  MAYBE typedef i32 T;                                                                             \
  MAYBE typedef u32 U;                                                                             \
  MAYBE typedef i32 S;                                                                             \
  MAYBE typedef u32 W
#define TYPES_u32                                                                                  \
  MAYBE typedef u32 T;                                                                             \
  MAYBE typedef u32 U;                                                                             \
  MAYBE typedef i32 S;                                                                             \
  MAYBE typedef u32 W
#define TYPES_s64                                                                                  \
  MAYBE typedef i64 T;                                                                             \
  MAYBE typedef u64 U;                                                                             \
  MAYBE typedef i64 S;                                                                             \
  MAYBE typedef u64 W
#define TYPES_u64                                                                                  \
  MAYBE typedef u64 T;                                                                             \
  MAYBE typedef u64 U;                                                                             \
  MAYBE typedef i64 S;                                                                             \
  MAYBE typedef u64 W
#define TYPES_f32 typedef float T
#define TYPES_f64 typedef double T
#define TYPES_pred typedef u8 T
#define BITS (sizeof(T) * 8)
/* signed: x / 0 = -1, MIN / -1 = MIN; unsigned: all ones */
#define DIV(x, y)                                                                                  \
  ((y) == 0 ? (T)-1 : IS_MINUS_1(y) ? (T)(0 - (W)(x)) : QUOTIENT(x, (y) == 0 ? (T)1 : (y)))
#define IS_MINUS_1(y) ((T)-1 < (T)1 && (y) == (T)-1)
/* Of whole numbers up to 32 bits in floating point, for which there are vectors. Their quotient is
 * whole or 1 / y away from the next such number, far more than the product with a reciprocal is
 * wrong by; and that is rounded up by as much, so that a whole one does not fall short. */
#define QUOTIENT(x, y)                                                                             \
  (BITS <= 16   ? (T)((float)(x) * (1 / (float)(y) * (1 + 0x1p-21f)))                              \
   : BITS == 32 ? (T)((double)(x) * (1 / (double)(y) * (1 + 0x1p-50)))                             \
                : (T)((x) / (IS_MINUS_1(y) ? (T)1 : (y))))
/* the upper half of the product of twice the width */
#define MULHI(x, y)                                                                                \
  ((T)-1 < (T)1 ? (T)((__int128)(x) * (y) >> BITS) : (T)((unsigned __int128)(x) * (y) >> BITS))
#define REM(x, y) ((y) == 0 ? (x) : (T)((W)(x) - (W)DIV(x, y) * (W)(y)))

#define ZERO(T) MAYBE const T zero = (T)minus_zero

/* an integer that orders as the total order of floats */
static inline i32 total_f32(float x) {
  i32 b = (i32)f32_bits(x);
  return b ^ (i32)((u32)(b >> 31) >> 1);
}
static inline i64 total_f64(double x) {
  i64 b = (i64)num_f64_bits(x);
  return b ^ (i64)((u64)(b >> 63) >> 1);
}
static inline float magnitude_f32(float x) { return __builtin_fabsf(x); }
static inline double magnitude_f64(double x) { return __builtin_fabs(x); }
static inline float root_f32(float x) { return __builtin_sqrtf(x); }
static inline double root_f64(double x) { return __builtin_sqrt(x); }

/* 1 / sqrt(x), with a step of Newton's whose residual has no rounding; ends (0, infinity, NaN) as
 * division has them. */
#ifdef HAS_FMA
#define INV_ROOT(T, t, fma)                                                                        \
  static inline T inv_root_##t(T x) {                                                              \
    T y = 1 / root_##t(x), r = x * y, low = fma(x, y, -r);                                         \
    T e = fma(-low, y, fma(-r, y, 1)), better = fma((T)0.5 * y, e, y);                             \
    return better == better ? better : y;                                                          \
  }
INV_ROOT(float, f32, __builtin_fmaf)
INV_ROOT(double, f64, __builtin_fma)
#else
static inline float inv_root_f32(float x) { return 1 / root_f32(x); }
static inline double inv_root_f64(double x) { return 1 / root_f64(x); }
#endif
static inline float floored_f32(float x) { return __builtin_floorf(x); }
static inline double floored_f64(double x) { return __builtin_floor(x); }
static inline float nearest_f32(float x) { return __builtin_rintf(x); }
static inline double nearest_f64(double x) { return __builtin_rint(x); }
static inline float away_f32(float x) { return __builtin_roundf(x); }
static inline double away_f64(double x) { return __builtin_round(x); }

/* ---- definitions ---- */

#define ONE(op, t, D, expr, form, X, Y)                                                            \
  static void k_##op##_##t##_##form(PARAMS) {                                                      \
    TYPES_##t;                                                                                     \
    UNUSED;                                                                                        \
    D *d = dv;                                                                                     \
    const T *a = av, *b = bv;                                                                      \
    T a0 = a[0], b0 = b[0];                                                                        \
    (void)a0, (void)b0;                                                                            \
    ZERO(T);                                                                                       \
    LOOP {                                                                                         \
      T x = X, y = Y;                                                                              \
      d[i] = (D)(expr);                                                                            \
    }                                                                                              \
  }
#define ALL_FORMS(op, t, D, expr)                                                                  \
  ONE(op, t, D, expr, vv, a[i], b[i])                                                              \
  ONE(op, t, D, expr, vs, a[i], b0)                                                                \
  ONE(op, t, D, expr, sv, a0, b[i])
#define ONE_FORM(op, t, D, expr) ONE(op, t, D, expr, vv, a[i], b[i])
#define UNARY(op, t, D, expr)                                                                      \
  static void k_##op##_##t(PARAMS) {                                                               \
    TYPES_##t;                                                                                     \
    UNUSED;                                                                                        \
    D *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    ZERO(T);                                                                                       \
    LOOP {                                                                                         \
      T x = a[i];                                                                                  \
      d[i] = (D)(expr);                                                                            \
    }                                                                                              \
  }

#define INTS(FULL, SHORT, op, expr, D)                                                             \
  SHORT(op, s8, D(i8), expr)                                                                       \
  SHORT(op, s16, D(i16), expr)                                                                     \
  FULL(op, s32, D(i32), expr)                                                                      \
  FULL(op, s64, D(i64), expr)                                                                      \
  SHORT(op, u8, D(u8), expr)                                                                       \
  SHORT(op, u16, D(u16), expr)                                                                     \
  FULL(op, u32, D(u32), expr)                                                                      \
  FULL(op, u64, D(u64), expr)
/* the element of a result */
#define OF_SAME(T) T
#define OF_REAL(T) T
#define OF_PRED(T) u8

#ifdef HAS_FMA
/* Functions that vectors do of some numbers only: the others go to one of libm or num. What each
 * gives does not depend on those beside it. */
#define PARTLY_OF(op, takes, near, far)                                                            \
  static void part_##op(size_t n, float *d, const float *a) {                                      \
    enum { PART = 256 };                                                                           \
    float from[PART];                                                                              \
    u32 all = 1;                                                                                   \
    memcpy(from, a, n * sizeof *a);                                                                \
    LOOP {                                                                                         \
      float x = from[i];                                                                           \
      all &= takes;                                                                                \
      d[i] = near;                                                                                 \
    }                                                                                              \
    if (all) return;                                                                               \
    EXACTLY(for (size_t i = 0; i < n; i++) {                                                       \
      float x = from[i];                                                                           \
      if (!(takes)) d[i] = (float)far(x);                                                          \
    })                                                                                             \
  }                                                                                                \
  static void k_##op##_f32(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    enum { PART = 256 };                                                                           \
    if (n == 1) {                                                                                  \
      float x = *(const float *)av;                                                                \
      if (takes) {                                                                                 \
        *(float *)dv = near;                                                                       \
        return;                                                                                    \
      }                                                                                            \
    }                                                                                              \
    for (size_t i = 0; i < n; i += PART)                                                           \
      part_##op(n - i < PART ? n - i : PART, (float *)dv + i, (const float *)av + i);              \
  }
#define PARTLY_SET(op) SET_1(op, f32)
#else
#define PARTLY_OF(op, takes, near, far)
#define PARTLY_SET(op)
#endif

/* What a row says of a class, as a kind and its expression; other files see to the other kinds. */
#define KIND_NO NONE, ()
#define KIND_MADE NONE, ()
#define KIND_OWN NONE, ()
#define KIND_VECTOR NONE, ()
#define KIND_LIBM(f) NONE, ()
#define KIND_VIA64(f) NONE, ()
#define KIND_PRED(expr) PRED, (expr)
#define KIND_INT(expr) INT, (expr)
#define KIND_FLT(expr) FLT, (expr)
#define KIND_F32(expr, f) F32, (expr)
#define KIND_BOTH(expr, ...) F32, (expr)
#define KIND_BOTHZ(expr, ...) F32, (expr)
#define KIND_WIDE(...) NONE, ()
#define KIND_PARTLY(f, far, takes, near, ...) PARTLY, (takes, near, far)
#define KIND_PARTS KIND_PARTLY
#define EACH(does, ...) EACH_(does, __VA_ARGS__)
#define EACH_(does, kind, expr, ...) does##_##kind(expr, __VA_ARGS__)

#define DEFINE_1(op, t, D, expr) UNARY(op, t, D, expr)
#define DEFINE_2(op, t, D, expr) ALL_FORMS(op, t, D, expr)
#define INTS_1(op, expr, D) INTS(UNARY, UNARY, op, expr, D)
#define INTS_2(op, expr, D) INTS(ALL_FORMS, ONE_FORM, op, expr, D)
#define PRED_1(op, expr) UNARY(op, pred, u8, expr)
#define PRED_2(op, expr) ONE_FORM(op, pred, u8, expr)

#define DEFINE_NONE(...)
#define DEFINE_PRED(expr, op, operands, result) PRED_##operands(op, expr)
#define DEFINE_INT(expr, op, operands, result) INTS_##operands(op, expr, OF_##result)
/* Of two operands in one form: with one that is the same everywhere, compilers find conditions
 * that are so too, and no vectors. */
#define F32_1(op, expr) UNARY(op, f32, float, expr)
#define F32_2(op, expr) ONE_FORM(op, f32, float, expr)
#define DEFINE_F32(expr, op, operands, result) F32_##operands(op, expr)
#define DEFINE_FLT(expr, op, operands, result) DEFINE_##operands(op, f32, OF_##result(float), expr)
#define DEFINE_PARTLY(how, op, operands, result) PARTLY_AS(op, how)
#define PARTLY_AS(op, how) PARTLY_WITH(op, PARTLY_LIST how)
#define PARTLY_LIST(...) __VA_ARGS__
#define PARTLY_WITH(...) PARTLY_OF(__VA_ARGS__)
#define F(name) name##_f32
#define VM(id, operands, how, result, traits, p, i, f, c, meaning)                                 \
  EACH(DEFINE, KIND_##p, id, operands, result)                                                     \
  EACH(DEFINE, KIND_##i, id, operands, result)                                                     \
  EACH(DEFINE, KIND_##f, id, operands, result)
#include "program/vm_ops.def"
#undef VM
#undef F

#define F64_NONE(...)
#define F64_F32(...)
#define F64_PARTLY(...)
#define F64_FLT(expr, op, operands, result) DEFINE_##operands(op, f64, OF_##result(double), expr)
#define F(name) name##_f64
#define VM(id, operands, how, result, traits, p, i, f, c, meaning)                                 \
  EACH(F64, KIND_##f, id, operands, result)
#include "program/vm_ops.def"
#undef VM

/* ---- one element a row, many times ---- */

/* Whole vectors, not much longer than a row, reach into rows that are written later. */
#define SPREAD_BY(w, T, bytes)                                                                     \
  typedef T wide_##w##_##bytes __attribute__((vector_size(bytes), aligned(sizeof(T)), may_alias)); \
  static void spread_##w##_##bytes(size_t rows, size_t n, T *d, const T *a, i64 step) {            \
    enum { WIDE = (bytes) / sizeof(T) };                                                           \
    T *row = d, *end = row + rows * n;                                                             \
    for (size_t r = 0; r < rows; r++, row += n) {                                                  \
      T x = a[(i64)r * step], *to = row;                                                           \
      for (; to < row + n && end - to >= WIDE; to += WIDE)                                         \
        *(wide_##w##_##bytes *)to = x + (wide_##w##_##bytes){0};                                   \
      for (; to < row + n; to++) *to = x;                                                          \
    }                                                                                              \
  }
#define SPREAD(w, T)                                                                               \
  static void spread_##w(size_t rows, size_t n, void *d, const void *a, i64 step) {                \
    if (n * sizeof(T) <= 16)                                                                       \
      spread_##w##_16(rows, n, d, a, step);                                                        \
    else if (n * sizeof(T) <= 32)                                                                  \
      spread_##w##_32(rows, n, d, a, step);                                                        \
    else                                                                                           \
      spread_##w##_64(rows, n, d, a, step);                                                        \
  }
#define SPREADS(w, T) SPREAD_BY(w, T, 16) SPREAD_BY(w, T, 32) SPREAD_BY(w, T, 64) SPREAD(w, T)
SPREADS(0, u8)
SPREADS(1, u16)
SPREADS(2, u32)
SPREADS(3, u64)

/* ---- by width: select, splat, strided ---- */

#if defined(__AVX2__)
#define TAKE_FEW(width) few_across(1, n, width, dv, 0, av, step *(width))
#else
#define TAKE_FEW(width) 0
#endif

typedef struct w16 {
  u64 lo, hi;
} w16;
#define SELECT(w, T, form, X, Y)                                                                   \
  static void select_##w##_##form(PARAMS) {                                                        \
    T *d = dv;                                                                                     \
    const u8 *p = av;                                                                              \
    const T *a = bv, *b = cv;                                                                      \
    T a0 = a[0], b0 = b[0];                                                                        \
    (void)a0, (void)b0;                                                                            \
    LOOP {                                                                                         \
      T x = X, y = Y;                                                                              \
      d[i] = p[i] ? x : y;                                                                         \
    }                                                                                              \
  }
#define BY_WIDTH(w, T)                                                                             \
  SELECT(w, T, vv, a[i], b[i])                                                                     \
  SELECT(w, T, vs, a[i], b0)                                                                       \
  SELECT(w, T, sv, a0, b[i])                                                                       \
  SELECT(w, T, ss, a0, b0)                                                                         \
  static void splat_##w(PARAMS) {                                                                  \
    UNUSED;                                                                                        \
    T *d = dv, x = *(const T *)av;                                                                 \
    LOOP d[i] = x;                                                                                 \
  }                                                                                                \
  static void stride_##w(PARAMS) {                                                                 \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    i64 step = *(const i64 *)bv;                                                                   \
    if (step == -1) /* compilers make vectors of these */                                          \
      LOOP d[i] = *(a - i);                                                                        \
    else if (step == 2)                                                                            \
      LOOP d[i] = a[2 * i];                                                                        \
    else if ((w) == 2 && step == 3)                                                                \
      LOOP d[i] = a[3 * i];                                                                        \
    else if ((w) == 2 && step == 4)                                                                \
      LOOP d[i] = a[4 * i];                                                                        \
    else                                                                                           \
      for (size_t i = (w) < 2 ? TAKE_FEW(1 << (w)) : 0; i < n; i++) d[i] = a[(i64)i * step];       \
  }                                                                                                \
  static void scatter_##w(PARAMS) {                                                                \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    i64 step = *(const i64 *)bv;                                                                   \
    LOOP d[(i64)i * step] = a[i];                                                                  \
  }                                                                                                \
  static void unzip_##w(size_t n, void *first, void *second, const void *pairs) {                  \
    T *d = first, *e = second;                                                                     \
    const T *a = pairs;                                                                            \
    LOOP {                                                                                         \
      d[i] = a[2 * i];                                                                             \
      e[i] = a[2 * i + 1];                                                                         \
    }                                                                                              \
  }                                                                                                \
  static void zip_##w(size_t n, void *pairs, const void *first, const void *second) {              \
    const T *a = first, *b = second;                                                               \
    T *d = pairs;                                                                                  \
    LOOP {                                                                                         \
      d[2 * i] = a[i];                                                                             \
      d[2 * i + 1] = b[i];                                                                         \
    }                                                                                              \
  }
BY_WIDTH(0, u8)
BY_WIDTH(1, u16)
BY_WIDTH(2, u32)
BY_WIDTH(3, u64)
BY_WIDTH(4, w16)

/* ---- conversions ---- */

/* float to integer: towards zero, saturating, NaN is 0. `end` is 2^bits of the positive range,
 * exact in either float type. */
#define FLOAT_TO_INT(to, TO, from, FROM, LOW, END, MIN, MAX)                                       \
  static void to_##to##_from_##from(PARAMS) {                                                      \
    UNUSED;                                                                                        \
    TO *d = dv;                                                                                    \
    const FROM *a = av;                                                                            \
    LOOP {                                                                                         \
      FROM x = a[i];                                                                               \
      FROM safe = x > (FROM)(LOW) && x < (FROM)(END) ? x : (FROM)0;                                \
      TO r = (TO)safe;                                                                             \
      r = x >= (FROM)(END) ? (TO)(MAX) : r;                                                        \
      d[i] = x <= (FROM)(LOW) ? (TO)(MIN) : r;                                                     \
    }                                                                                              \
  }
#define TO_INT(to, TO, LOW, END, MIN, MAX)                                                         \
  FLOAT_TO_INT(to, TO, f32, float, LOW, END, MIN, MAX)                                             \
  FLOAT_TO_INT(to, TO, f64, double, LOW, END, MIN, MAX)
TO_INT(s8, i8, -128.0, 128.0, INT8_MIN, INT8_MAX)
TO_INT(s16, i16, -32768.0, 32768.0, INT16_MIN, INT16_MAX)
TO_INT(s32, i32, -2147483648.0, 2147483648.0, INT32_MIN, INT32_MAX)
TO_INT(s64, i64, -9223372036854775808.0, 9223372036854775808.0, INT64_MIN, INT64_MAX)
TO_INT(u8, u8, 0.0, 256.0, 0, UINT8_MAX)
TO_INT(u16, u16, 0.0, 65536.0, 0, UINT16_MAX)
TO_INT(u32, u32, 0.0, 4294967296.0, 0, UINT32_MAX)
TO_INT(u64, u64, 0.0, 18446744073709551616.0, 0, UINT64_MAX)

#define CAST(to, TO, from, FROM, expr)                                                             \
  static void to_##to##_from_##from(PARAMS) {                                                      \
    UNUSED;                                                                                        \
    TO *d = dv;                                                                                    \
    const FROM *a = av;                                                                            \
    LOOP {                                                                                         \
      FROM x = a[i];                                                                               \
      d[i] = expr;                                                                                 \
    }                                                                                              \
  }
#define FROM_INTS(M, to, TO)                                                                       \
  M(to, TO, pred, u8)                                                                              \
  M(to, TO, s8, i8)                                                                                \
  M(to, TO, s16, i16)                                                                              \
  M(to, TO, s32, i32)                                                                              \
  M(to, TO, s64, i64)                                                                              \
  M(to, TO, u8, u8)                                                                                \
  M(to, TO, u16, u16)                                                                              \
  M(to, TO, u32, u32)                                                                              \
  M(to, TO, u64, u64)
#define PLAIN(to, TO, from, FROM) CAST(to, TO, from, FROM, (TO)x)
#define NONZERO(to, TO, from, FROM) CAST(to, TO, from, FROM, x != 0)
#define TO_ALL(M)                                                                                  \
  M(s8, i8)                                                                                        \
  M(s16, i16)                                                                                      \
  M(s32, i32)                                                                                      \
  M(s64, i64)                                                                                      \
  M(u8, u8)                                                                                        \
  M(u16, u16)                                                                                      \
  M(u32, u32)                                                                                      \
  M(u64, u64)                                                                                      \
  M(f32, float)                                                                                    \
  M(f64, double)
#define DEFINE_CASTS(to, TO) FROM_INTS(PLAIN, to, TO)
TO_ALL(DEFINE_CASTS)
FROM_INTS(NONZERO, pred, u8)
NONZERO(pred, u8, f32, float)
NONZERO(pred, u8, f64, double)
PLAIN(f32, float, f64, double)
PLAIN(f64, double, f32, float)
PLAIN(f32, float, f32, float)
PLAIN(f64, double, f64, double)

#define IOTA(to, TO)                                                                               \
  static void iota_##to(PARAMS) {                                                                  \
    UNUSED;                                                                                        \
    TO *d = dv;                                                                                    \
    i64 first = *(const i64 *)av, step = *(const i64 *)bv;                                         \
    LOOP d[i] = (TO)(first + (i64)i * step);                                                       \
  }
TO_ALL(IOTA)

/* x: an element of the source */
#define HALF(name, D, S, expr)                                                                     \
  static void name(PARAMS) {                                                                       \
    UNUSED;                                                                                        \
    D *d = dv;                                                                                     \
    const S *a = av;                                                                               \
    LOOP {                                                                                         \
      S x = a[i];                                                                                  \
      d[i] = (expr);                                                                               \
    }                                                                                              \
  }
HALF(load_bf16, float, u16, num_bf16_to_f32(x))
HALF(store_bf16, u16, float, num_f32_to_bf16(x))
HALF(round_bf16, float, float, num_bf16_to_f32(num_f32_to_bf16(x)))
HALF(load_f16, float, u16, num_f16_to_f32(x))
HALF(store_f16, u16, float, num_f32_to_f16(x))
HALF(round_f16, float, float, num_f16_to_f32(num_f32_to_f16(x)))
#define WRAP(name, T, bits)                                                                        \
  static void wrap_##name(PARAMS) {                                                                \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    LOOP d[i] = (T)((T)((u8)a[i] << (8 - bits)) >> (8 - bits));                                    \
  }
HALF(clean_pred, u8, u8, x != 0)
WRAP(s4, i8, 4)
WRAP(u4, u8, 4)
WRAP(s2, i8, 2)
WRAP(u2, u8, 2)

/* ---- folds: 64 running values, then a tree; the same order on every instruction set ---- */

enum { LANES = 64 };
#define FOLD(op, t, T, expr)                                                                       \
  static void fold_##op##_##t(size_t n, void *acc, const void *init, const void *av) {             \
    const T *a = av;                                                                               \
    T lane[LANES];                                                                                 \
    size_t width = n < LANES ? n : LANES, k = width;                                               \
    if (width == LANES)                                                                            \
      memcpy(lane, a, sizeof lane);                                                                \
    else                                                                                           \
      for (size_t i = 0; i < width; i++) lane[i] = a[i];                                           \
    for (; k + LANES <= n; k += LANES)                                                             \
      for (size_t i = 0; i < LANES; i++) {                                                         \
        T x = lane[i], y = a[k + i];                                                               \
        lane[i] = expr;                                                                            \
      }                                                                                            \
    for (size_t i = 0; k < n; i++, k++) {                                                          \
      T x = lane[i], y = a[k];                                                                     \
      lane[i] = expr;                                                                              \
    }                                                                                              \
    while (width > 1) {                                                                            \
      size_t half = (width + 1) / 2;                                                               \
      for (size_t i = 0; i < width - half; i++) {                                                  \
        T x = lane[i], y = lane[half + i];                                                         \
        lane[i] = expr;                                                                            \
      }                                                                                            \
      width = half;                                                                                \
    }                                                                                              \
    T y = lane[0], x = init ? *(const T *)init : y;                                                \
    *(T *)acc = init ? expr : y;                                                                   \
  }
/* Where every order gives the same, compilers find one for a few. */
#define FOLD_EXACTLY(op, t, T, expr)                                                               \
  FOLD(LONG_##op, t, T, expr)                                                                      \
  static void fold_##op##_##t(size_t n, void *acc, const void *init, const void *av) {             \
    const T *a = av;                                                                               \
    if (n >= 4 * LANES) {                                                                          \
      fold_LONG_##op##_##t(n, acc, init, av);                                                      \
      return;                                                                                      \
    }                                                                                              \
    T x = init ? *(const T *)init : a[0];                                                          \
    for (size_t i = !init; i < n; i++) {                                                           \
      T y = a[i];                                                                                  \
      x = expr;                                                                                    \
    }                                                                                              \
    *(T *)acc = x;                                                                                 \
  }
#define ORDER_FOLDS(F_, t, T)                                                                      \
  F_(MAX, t, T, x > y ? x : y)                                                                     \
  F_(MIN, t, T, x < y ? x : y)
#define INT_FOLDS(F_, s, S, u, U) /* signs matter to the order only */                             \
  F_(SUM, u, U, (U)(x + y))                                                                        \
  F_(PROD, u, U, (U)(1u * x * y))                                                                  \
  F_(AND, u, U, x &y)                                                                              \
  F_(OR, u, U, x | y)                                                                              \
  F_(XOR, u, U, x ^ y)                                                                             \
  ORDER_FOLDS(F_, s, S)                                                                            \
  ORDER_FOLDS(F_, u, U)
#define FOLDS(E_)                                                                                  \
  INT_FOLDS(E_, s8, i8, u8, u8)                                                                    \
  INT_FOLDS(E_, s16, i16, u16, u16)                                                                \
  INT_FOLDS(E_, s32, i32, u32, u32)                                                                \
  INT_FOLDS(E_, s64, i64, u64, u64)                                                                \
  E_(AND, pred, u8, x &y)                                                                          \
  E_(OR, pred, u8, x | y)                                                                          \
  E_(XOR, pred, u8, x ^ y)                                                                         \
  E_(SUM, pred, u8, x | y)                                                                         \
  E_(PROD, pred, u8, x &y)                                                                         \
  E_(MAX, pred, u8, x | y)                                                                         \
  E_(MIN, pred, u8, x &y)
FOLDS(FOLD_EXACTLY)

/* ---- the table ---- */

#define SET_VV(op, t) k->binary[VM_##op][R_##t][FORM_VV] = k_##op##_##t##_vv;
#define SET_2(op, t)                                                                               \
  SET_VV(op, t)                                                                                    \
  k->binary[VM_##op][R_##t][FORM_VS] = k_##op##_##t##_vs;                                          \
  k->binary[VM_##op][R_##t][FORM_SV] = k_##op##_##t##_sv;
#define SET_1(op, t) k->unary[VM_##op][R_##t] = k_##op##_##t;
#define SET_INTS(FULL, SHORT, op)                                                                  \
  SHORT(op, s8)                                                                                    \
  SHORT(op, s16)                                                                                   \
  FULL(op, s32)                                                                                    \
  FULL(op, s64)                                                                                    \
  SHORT(op, u8)                                                                                    \
  SHORT(op, u16)                                                                                   \
  FULL(op, u32)                                                                                    \
  FULL(op, u64)
#define SET_INTS_1(op) SET_INTS(SET_1, SET_1, op)
#define SET_INTS_2(op) SET_INTS(SET_2, SET_VV, op)
#define SET_PRED_1(op) SET_1(op, pred)
#define SET_PRED_2(op) SET_VV(op, pred)

static void set_operations(vm_kernels *k) {
#define SET_NONE(...)
#define SET_PRED(expr, op, operands, result) SET_PRED_##operands(op)
#define SET_INT(expr, op, operands, result) SET_INTS_##operands(op)
#define SET_F32_1(op) SET_1(op, f32)
#define SET_F32_2(op) SET_VV(op, f32)
#define SET_F32(expr, op, operands, result) SET_F32_##operands(op)
#define SET_FLT(expr, op, operands, result) SET_##operands(op, f32) SET_##operands(op, f64)
#define SET_PARTLY(how, op, operands, result) PARTLY_SET(op)
#define VM(id, operands, how, result, traits, p, i, f, c, meaning)                                 \
  EACH(SET, KIND_##p, id, operands, result)                                                        \
  EACH(SET, KIND_##i, id, operands, result)                                                        \
  EACH(SET, KIND_##f, id, operands, result)
#include "program/vm_ops.def"
#undef VM
}

static void set_conversions(vm_kernels *k) {
#define SET_CAST(to, TO, from, FROM) k->convert[R_##to][R_##from] = to_##to##_from_##from;
#define SET_CASTS(to, TO) FROM_INTS(SET_CAST, to, TO)
  TO_ALL(SET_CASTS)
  FROM_INTS(SET_CAST, pred, u8)
#define SET_FLOATS(to, TO) SET_CAST(to, TO, f32, float) SET_CAST(to, TO, f64, double)
  TO_ALL(SET_FLOATS)
  SET_FLOATS(pred, u8)
#define SET_IOTA(to, TO) k->iota[R_##to] = iota_##to;
  TO_ALL(SET_IOTA)
  k->load[DTYPE_bf16] = load_bf16;
  k->store[DTYPE_bf16] = store_bf16;
  k->load[DTYPE_f16] = load_f16;
  k->store[DTYPE_f16] = store_f16;
  k->round[DTYPE_bf16] = round_bf16;
  k->round[DTYPE_f16] = round_f16;
  k->wrap[DTYPE_s4] = k->clean[DTYPE_s4] = wrap_s4;
  k->wrap[DTYPE_u4] = k->clean[DTYPE_u4] = wrap_u4;
  k->wrap[DTYPE_s2] = k->clean[DTYPE_s2] = wrap_s2;
  k->wrap[DTYPE_u2] = k->clean[DTYPE_u2] = wrap_u2;
  k->clean[DTYPE_pred] = clean_pred;
}

static void set_widths(vm_kernels *k) {
#define SET_WIDTH(w)                                                                               \
  k->select[w][0] = select_##w##_vv;                                                               \
  k->select[w][1] = select_##w##_vs;                                                               \
  k->select[w][2] = select_##w##_sv;                                                               \
  k->select[w][3] = select_##w##_ss;                                                               \
  k->splat[w] = splat_##w;                                                                         \
  k->stride[w] = stride_##w;                                                                       \
  k->unzip[w] = unzip_##w;                                                                         \
  k->zip[w] = zip_##w;                                                                             \
  k->scatter[w] = scatter_##w;
  SET_WIDTH(0)
  SET_WIDTH(1)
  SET_WIDTH(2)
  SET_WIDTH(3)
  SET_WIDTH(4)
  k->spread[0] = spread_0;
  k->spread[1] = spread_1;
  k->spread[2] = spread_2;
  k->spread[3] = spread_3;
#define SET_FOLD(op, t, T, expr) k->fold[REDUCE_##op][R_##t] = fold_##op##_##t;
  FOLDS(SET_FOLD)
  static const prog_reducer same[] = {REDUCE_SUM, REDUCE_PROD, REDUCE_AND, REDUCE_OR, REDUCE_XOR};
  for (size_t i = 0; i < COUNT(same); i++)
    for (u32 w = 0; w < 4; w++) k->fold[same[i]][R_s8 + w] = k->fold[same[i]][R_u8 + w];
}

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
void PASTE(vm_kernels_fill_, KERNELS_ISA)(vm_kernels *k) {
#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
  k->isa = TEXT(KERNELS_ISA);
  set_operations(k);
  set_conversions(k);
  set_widths(k);
  PASTE(complex_kernels_fill_, KERNELS_ISA)(k);
}
