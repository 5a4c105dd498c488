/* Complex numbers, built once per instruction set (KERNELS_ISA): plain loops that the compiler
 * vectorises. Functions of c64 are worked out in f64, where nothing overflows that does not in the
 * result, and rounded; elements that are not plain numbers go to num/special.h one by one. */
#include <math.h>
#include <string.h>

#include "exec/denormals.h"
#include "exec/fma.h"
#include "exec/kernels.h"
#include "num/convert.h"
#include "num/special.h"

#ifdef __clang__
#define LOOP _Pragma("clang loop vectorize(assume_safety)") for (size_t i = 0; i < n; i++)
#pragma clang diagnostic ignored "-Wpass-failed"
#else
#define LOOP _Pragma("GCC ivdep") for (size_t i = 0; i < n; i++)
#endif
#define PARAMS size_t n, void *dv, const void *av, const void *bv, const void *cv
#define UNUSED (void)av, (void)bv, (void)cv

/* GCC makes one instruction of products that are added and subtracted by turns, which rounds once,
 * whatever -ffp-contract says. */
#if defined(__has_builtin) && !defined(__clang__)
#if __has_builtin(__builtin_assoc_barrier)
#define ROUNDED(x) __builtin_assoc_barrier(x)
#endif
#endif
#ifndef ROUNDED
#define ROUNDED(x) (x)
#endif

/* ---- arithmetic, in the numbers' own precision ---- */

#define KERNEL(name, D, A, B, ...)                                                                 \
  static void k_##name(PARAMS) {                                                                   \
    UNUSED;                                                                                        \
    D *d = dv;                                                                                     \
    const A *a = av;                                                                               \
    const B *b = bv;                                                                               \
    (void)b;                                                                                       \
    LOOP { __VA_ARGS__; }                                                                          \
  }
/* One by one, by a loop that compilers leave so: bytes of pairs take them kilobytes of shuffles. */
#define COMPARED(name, T, e)                                                                       \
  static void k_##name(PARAMS) {                                                                   \
    UNUSED;                                                                                        \
    volatile u8 *d = dv;                                                                           \
    const T *a = av, *b = bv;                                                                      \
    for (size_t i = 0; i < n; i++) d[i] = e;                                                       \
  }
#define ARITHMETIC(t, T, E)                                                                        \
  KERNEL(add_##t, T, T, T, d[i] = (T){a[i].re + b[i].re, a[i].im + b[i].im})                       \
  KERNEL(sub_##t, T, T, T, d[i] = (T){a[i].re - b[i].re, a[i].im - b[i].im})                       \
  KERNEL(mul_##t, T, T, T, T x = a[i]; T y = b[i];                                                 \
         d[i] = (T){ROUNDED(x.re * y.re) - ROUNDED(x.im * y.im),                                   \
                    ROUNDED(x.re * y.im) + ROUNDED(x.im * y.re)})                                  \
  KERNEL(neg_##t, T, T, T, d[i] = (T){-a[i].re, -a[i].im})                                         \
  COMPARED(eq_##t, T, a[i].re == b[i].re && a[i].im == b[i].im)                                    \
  COMPARED(ne_##t, T, !(a[i].re == b[i].re && a[i].im == b[i].im))                                 \
  KERNEL(real_##t, E, T, T, d[i] = a[i].re)                                                        \
  KERNEL(imag_##t, E, T, T, d[i] = a[i].im)                                                        \
  KERNEL(to_##t, T, E, E, d[i] = (T){a[i], 0})
ARITHMETIC(c64, kern_c64, float)
ARITHMETIC(c128, kern_c128, double)
KERNEL(complex_f32, kern_c64, float, float, d[i] = (kern_c64){a[i], b[i]})
KERNEL(complex_f64, kern_c128, double, double, d[i] = (kern_c128){a[i], b[i]})

/* ---- functions ---- */

typedef num_complex wide;
static inline wide widened(kern_c64 x) { return (wide){x.re, x.im}; }
static inline kern_c64 narrowed(wide x) { return (kern_c64){(float)x.re, (float)x.im}; }
static inline wide wide_of(kern_c128 x) { return (wide){x.re, x.im}; }
static inline double real_of(wide x) { return x.re; }
static inline float real_as_f32(wide x) { return (float)x.re; }

/* f of elements that are plain, otherwise exact. What the others give does not depend on them. What
 * is left of chunks is filled up with copies of its first element, so that loops have one length
 * and no code for ends; exact is given copies, too, since results may lie where operands do. */
enum { CHUNK = 64 };
#ifdef __clang__
#define CHUNK_LOOP _Pragma("clang loop vectorize(assume_safety)") for (size_t i = 0; i < CHUNK; i++)
#else
#define CHUNK_LOOP _Pragma("GCC ivdep") _Pragma("GCC unroll 1") for (size_t i = 0; i < CHUNK; i++)
#endif
#define FUNCTION(name, f, is_plain, exact, second)                                                 \
  FUNCTION_OF(name##_c64, kern_c64, kern_c64, widened, narrowed, f, is_plain, exact, second)
#define FUNCTION_OF(name, T, D, in, out, f, is_plain, exact, second)                               \
  static void k_##name(PARAMS) {                                                                   \
    UNUSED;                                                                                        \
    EXACTLY(for (size_t at = 0, now; at < n; at += now) {                                          \
      T x[CHUNK], y[CHUNK];                                                                        \
      D last[CHUNK], *d = (D *)dv + at;                                                            \
      const T *a = (const T *)av + at, *b = (const T *)second + at;                                \
      u32 odd = 0;                                                                                 \
      now = n - at < CHUNK ? n - at : CHUNK;                                                       \
      if (now < CHUNK) {                                                                           \
        for (size_t i = 0; i < CHUNK; i++) x[i] = a[i < now ? i : 0], y[i] = b[i < now ? i : 0];   \
        a = x, b = y, d = last;                                                                    \
      }                                                                                            \
      CHUNK_LOOP odd |= !is_plain(a[i], b[i]);                                                     \
      if (odd && a != x) a = memcpy(x, a, sizeof x), b = memcpy(y, b, sizeof y);                   \
      CHUNK_LOOP d[i] = out(f(in(a[i]), in(b[i])));                                                \
      for (size_t i = 0; odd && i < now; i++)                                                      \
        if (!is_plain(a[i], b[i])) d[i] = out(exact(in(a[i]), in(b[i])));                          \
      if (d == last) memcpy((D *)dv + at, d, now * sizeof(D));                                     \
    })                                                                                             \
  }

/* Neither infinite, NaN nor near what is. Truths are numbers, which are joined without jumps. */
static inline u32 is_finite(kern_c64 x) {
  return (__builtin_fabsf(x.re) < INFINITY) & (__builtin_fabsf(x.im) < INFINITY);
}
static inline wide size_of(wide x, wide unused) {
  (void)unused;
  return (wide){__builtin_sqrt(x.re * x.re + x.im * x.im), 0};
}
static inline wide exact_size(wide x, wide unused) {
  (void)unused;
  return (wide){hypot(x.re, x.im), 0};
}
static inline u32 is_finite_alone(kern_c64 x, kern_c64 unused) {
  (void)unused;
  return is_finite(x);
}
FUNCTION_OF(abs_c64, kern_c64, float, widened, real_as_f32, size_of, is_finite_alone, exact_size,
            av)

static inline u32 divides(kern_c64 x, kern_c64 y) {
  return is_finite(x) & is_finite(y) & ((y.re != 0) | (y.im != 0));
}
/* As num_cdiv, which has to scale. */
static inline wide divided(wide x, wide y) {
  double by = 1 / (y.re * y.re + y.im * y.im);
  return (wide){(ROUNDED(x.re * y.re) + ROUNDED(x.im * y.im)) * by,
                (ROUNDED(x.im * y.re) - ROUNDED(x.re * y.im)) * by};
}
FUNCTION(div, divided, divides, num_cdiv, bv)

/* Of f64: where neither squares nor products leave what is normal. */
static inline u32 is_mid(double x) {
  double size = fabs(x);
  return (x == 0) | ((size >= 0x1p-250) & (size <= 0x1p250));
}
static inline u32 are_mid(kern_c128 x) { return is_mid(x.re) & is_mid(x.im); }
static inline u32 has_size(kern_c128 x, kern_c128 unused) {
  (void)unused;
  return are_mid(x);
}
FUNCTION_OF(abs_c128, kern_c128, double, wide_of, real_of, size_of, has_size, exact_size, av)
#ifdef HAS_FMA /* not of the oldest processors, to have less code */
static inline kern_c128 as_wide(wide x) { return (kern_c128){x.re, x.im}; }
static inline u32 divides_wide(kern_c128 x, kern_c128 y) {
  return are_mid(x) & are_mid(y) & ((y.re != 0) | (y.im != 0));
}
FUNCTION_OF(div_c128, kern_c128, kern_c128, wide_of, as_wide, divided, divides_wide, num_cdiv, bv)
#endif

#ifdef HAS_FMA
#define FMA(x, y, z) __builtin_fma(x, y, z)
#define SHIFT 6755399441055744.0 /* 1.5 * 2^52: what is added to it is rounded to an integer */

/* e^x for |x| <= 400, to 32 bits: x = k ln 2 + r, and Taylor's series of r. */
static inline double power_of_e(double x) {
  double shifted = FMA(x, 1.4426950408889634, SHIFT), k = shifted - SHIFT;
  double r = FMA(k, -5.497923018708371e-14, FMA(k, -0.69314718055989033, x));
  double p = FMA(r, 1. / 40320, 1. / 5040);
  p = FMA(p, r, 1. / 720);
  p = FMA(p, r, 1. / 120);
  p = FMA(p, r, 1. / 24);
  p = FMA(p, r, 1. / 6);
  p = FMA(p, r, 0.5);
  p = FMA(p, r, 1.0);
  p = FMA(p, r, 1.0);
  return p * num_f64_from_bits((num_f64_bits(shifted) + 1023) << 52);
}

/* Cosine and sine of y for |y| < 2^27, to 33 bits: a multiple of pi/2 is taken off, then Taylor's
 * series. */
static inline wide turned(double y) {
  double shifted = FMA(y, 0.63661977236758134308, SHIFT), k = shifted - SHIFT;
  double r = FMA(k, -6.12323399573676603587e-17, FMA(k, -1.57079632679489655800, y)), z = r * r;
  double s = FMA(z, -1. / 39916800, 1. / 362880);
  s = FMA(s, z, -1. / 5040);
  s = FMA(s, z, 1. / 120);
  s = FMA(s, z, -1. / 6);
  s = r * FMA(s, z, 1.0);
  double c = FMA(z, -1. / 3628800, 1. / 40320);
  c = FMA(c, z, -1. / 720);
  c = FMA(c, z, 1. / 24);
  c = FMA(c, z, -0.5);
  c = FMA(c, z, 1.0);
  u64 n = num_f64_bits(shifted);
  double re = n & 1 ? s : c, im = n & 1 ? c : s;
  return (wide){num_f64_from_bits(num_f64_bits(re) ^ (((n + 1) & 2) << 62)),
                num_f64_from_bits(num_f64_bits(im) ^ ((n & 2) << 62))};
}

static inline u32 turns(kern_c64 x, kern_c64 unused) {
  (void)unused;
  return (__builtin_fabsf(x.re) < INFINITY) & (__builtin_fabsf(x.im) < 0x1p27f);
}
/* Where the clamps bite, the result is 0 or infinite, but for the sine of 0. */
static inline wide power_of_e_turned(wide x, wide unused) {
  (void)unused;
  double re = x.re < -400 ? -400 : x.re;
  double e = power_of_e(re > 400 ? 400 : re);
  wide t = turned(x.im);
  return (wide){e * t.re, e * t.im};
}
static inline wide exact_exp(wide x, wide unused) {
  (void)unused;
  return num_cexp(x);
}
FUNCTION(exp, power_of_e_turned, turns, exact_exp, av)
#endif

/* ---- the table ---- */

/* What a row says of floats and complex numbers: only this kind is ours. */
#define KIND_NO NONE
#define KIND_MADE NONE
#define KIND_OWN NONE
#define KIND_FLT(expr) NONE
#define KIND_F32(expr, f) NONE
#define KIND_BOTH(...) NONE
#define KIND_BOTHZ(...) NONE
#define KIND_LIBM(f) NONE
#define KIND_WIDE(...) NONE
#define KIND_PARTLY(...) NONE
#define KIND_PARTS(...) NONE
#define KIND_VIA64(f) NONE
#define KIND_CPX(f) NONE
#define KIND_VECTOR VECTOR
#define EACH(kind, ...) EACH_(kind, __VA_ARGS__)
#define EACH_(kind, ...) SET_##kind(__VA_ARGS__)
#define SET_NONE(...)
#define SET_VECTOR(op, operands, s, t) SET_##operands(op, s) SET_##operands(op, t)
#define SET_1(op, t) k->unary[VM_##op][R_##t] = k_##op##_##t;
#define SET_2(op, t) k->binary[VM_##op][R_##t][FORM_VV] = k_##op##_##t;

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
void PASTE(complex_kernels_fill_, KERNELS_ISA)(vm_kernels *k) {
#define VM(id, operands, how, result, traits, p, i, f, c, meaning)                                 \
  EACH(KIND_##f, id, operands, f32, f64) EACH(KIND_##c, id, operands, c64, c128)
#include "program/vm_ops.def"
#undef VM
  k->convert[R_c64][R_f32] = k_to_c64;
  k->convert[R_c128][R_f64] = k_to_c128;
  SET_2(div, c64)
#ifdef HAS_FMA
  SET_2(div, c128)
  SET_1(exp, c64)
#endif
}
