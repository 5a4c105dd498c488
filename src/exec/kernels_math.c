/* Kernels that call a function an element: libm, complex numbers, odd formats; and the choice
 * of the table. */
#include <float.h>
#include <math.h>
#include <pthread.h>

#include "exec/denormals.h"
#include "exec/kernels.h"
#include "num/convert.h"
#include "num/special.h"

#define LOOP for (size_t i = 0; i < n; i++)
#define PARAMS size_t n, void *dv, const void *av, const void *bv, const void *cv
#define UNUSED (void)av, (void)bv, (void)cv

static double logistic(double x) { return 1 / (1 + exp(-x)); }
/* complex max and min compare real parts, then imaginary ones */
static bool less(num_complex x, num_complex y) {
  return x.re < y.re || (x.re == y.re && x.im < y.im);
}
static bool has_nan(num_complex x) { return isnan(x.re) || isnan(x.im); }
static num_complex larger(num_complex x, num_complex y) {
  return has_nan(x) ? x : has_nan(y) ? y : less(x, y) ? y : x;
}
static num_complex smaller(num_complex x, num_complex y) {
  return has_nan(x) ? x : has_nan(y) ? y : less(y, x) ? y : x;
}

/* libm and our own functions reckon with denormals, so they run without flushing. */
#define EXACTLY(...)                                                                               \
  {                                                                                                \
    bool flush = denormals_flushed();                                                              \
    if (flush) denormals_flush(false);                                                             \
    __VA_ARGS__;                                                                                   \
    if (flush) denormals_flush(true);                                                              \
  }

#define UNARY(op, t, T, f)                                                                         \
  static void k_##op##_##t(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    EXACTLY(LOOP d[i] = (T)f(a[i]))                                                                \
  }
/* The same of operands that are flushed where the program says so. */
#define FLUSHED(op, t, T, f)                                                                       \
  static void k_##op##_##t(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    EXACTLY(LOOP d[i] = (T)f(flush && fabs(a[i]) < DBL_MIN ? (T)copysign(0, a[i]) : a[i]))         \
  }
#define BINARY(op, t, T, f)                                                                        \
  static void k_##op##_##t(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av, *b = bv;                                                                      \
    EXACTLY(LOOP d[i] = (T)f(a[i], b[i]))                                                          \
  }
#define COMPLEX1(op, t, T, f)                                                                      \
  static void k_##op##_##t(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    EXACTLY(LOOP {                                                                                 \
      num_complex r = f((num_complex){a[i].re, a[i].im});                                          \
      d[i] = (T){(__typeof__(d->re))r.re, (__typeof__(d->re))r.im};                                \
    })                                                                                             \
  }
#define COMPLEX2(op, t, T, f)                                                                      \
  static void k_##op##_##t(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av, *b = bv;                                                                      \
    EXACTLY(LOOP {                                                                                 \
      num_complex r = f((num_complex){a[i].re, a[i].im}, (num_complex){b[i].re, b[i].im});         \
      d[i] = (T){(__typeof__(d->re))r.re, (__typeof__(d->re))r.im};                                \
    })                                                                                             \
  }

#define UN_D(op, f) UNARY(op, f64, double, f)
#define UN_DZ(op, f) FLUSHED(op, f64, double, f)
#define UN_L(op, fn) UNARY(op, f64, double, fn) UNARY(op, f32, float, fn##f)
#define UN_M(op, f) UNARY(op, f64, double, f) UNARY(op, f32, float, f)
#define BIN_L(op, fn) BINARY(op, f64, double, fn) BINARY(op, f32, float, fn##f)
#define BIN_M(op, f) BINARY(op, f64, double, f) BINARY(op, f32, float, f)
#define UN_C(op, f) COMPLEX1(op, c64, kern_c64, f) COMPLEX1(op, c128, kern_c128, f)
#define BIN_C(op, f) COMPLEX2(op, c64, kern_c64, f) COMPLEX2(op, c128, kern_c128, f)
#include "exec/kernels_math.def"
#undef UN_D
#undef UN_DZ
#undef UN_L
#undef UN_M
#undef BIN_L
#undef BIN_M
#undef UN_C
#undef BIN_C

#define POWERS(P)                                                                                  \
  P(s8, i8, num_ipow_s64)                                                                          \
  P(s16, i16, num_ipow_s64)                                                                        \
  P(s32, i32, num_ipow_s64)                                                                        \
  P(s64, i64, num_ipow_s64)                                                                        \
  P(u8, u8, num_ipow_u64)                                                                          \
  P(u16, u16, num_ipow_u64)                                                                        \
  P(u32, u32, num_ipow_u64)                                                                        \
  P(u64, u64, num_ipow_u64)
#define POWER(t, T, f)                                                                             \
  static void k_pow_##t(PARAMS) {                                                                  \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av, *b = bv;                                                                      \
    LOOP d[i] = (T)f(a[i], b[i]);                                                                  \
  }
POWERS(POWER)

/* complex arithmetic in its own precision */
#define COMPLEX(t, T, E)                                                                           \
  static void k_add_##t(PARAMS) {                                                                  \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av, *b = bv;                                                                      \
    LOOP d[i] = (T){a[i].re + b[i].re, a[i].im + b[i].im};                                         \
  }                                                                                                \
  static void k_sub_##t(PARAMS) {                                                                  \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av, *b = bv;                                                                      \
    LOOP d[i] = (T){a[i].re - b[i].re, a[i].im - b[i].im};                                         \
  }                                                                                                \
  static void k_mul_##t(PARAMS) {                                                                  \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av, *b = bv;                                                                      \
    LOOP {                                                                                         \
      T x = a[i], y = b[i];                                                                        \
      d[i] = (T){x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};                            \
    }                                                                                              \
  }                                                                                                \
  static void k_neg_##t(PARAMS) {                                                                  \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    LOOP d[i] = (T){-a[i].re, -a[i].im};                                                           \
  }                                                                                                \
  static void k_eq_##t(PARAMS) {                                                                   \
    UNUSED;                                                                                        \
    u8 *d = dv;                                                                                    \
    const T *a = av, *b = bv;                                                                      \
    LOOP d[i] = a[i].re == b[i].re && a[i].im == b[i].im;                                          \
  }                                                                                                \
  static void k_ne_##t(PARAMS) {                                                                   \
    UNUSED;                                                                                        \
    u8 *d = dv;                                                                                    \
    const T *a = av, *b = bv;                                                                      \
    LOOP d[i] = !(a[i].re == b[i].re && a[i].im == b[i].im);                                       \
  }                                                                                                \
  static void k_complex_##t(PARAMS) {                                                              \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const E *a = av, *b = bv;                                                                      \
    LOOP d[i] = (T){a[i], b[i]};                                                                   \
  }                                                                                                \
  static void k_real_##t(PARAMS) {                                                                 \
    UNUSED;                                                                                        \
    E *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    LOOP d[i] = a[i].re;                                                                           \
  }                                                                                                \
  static void k_imag_##t(PARAMS) {                                                                 \
    UNUSED;                                                                                        \
    E *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    LOOP d[i] = a[i].im;                                                                           \
  }                                                                                                \
  static void k_abs_##t(PARAMS) {                                                                  \
    UNUSED;                                                                                        \
    E *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    EXACTLY(LOOP d[i] = (E)hypot(a[i].re, a[i].im))                                                \
  }                                                                                                \
  static void to_##t##_from_##E(PARAMS) {                                                          \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const E *a = av;                                                                               \
    LOOP d[i] = (T){a[i], 0};                                                                      \
  }
COMPLEX(c64, kern_c64, float)
COMPLEX(c128, kern_c128, double)

/* real and imag of real numbers */
#define REAL(t, T)                                                                                 \
  static void k_real_##t(PARAMS) {                                                                 \
    UNUSED;                                                                                        \
    if (dv != av) memcpy(dv, av, n * sizeof(T));                                                   \
  }                                                                                                \
  static void k_imag_##t(PARAMS) {                                                                 \
    UNUSED;                                                                                        \
    memset(dv, 0, n * sizeof(T));                                                                  \
  }
REAL(f32, float)
REAL(f64, double)

/* b: two u8, the dtypes from and to, of the elements as they lie in the registers */
static void convert_any(PARAMS) {
  (void)cv;
  const u8 *types = bv;
  dtype from = (dtype)types[0], to = (dtype)types[1];
  size_t from_size = dtype_size(from), to_size = dtype_size(to);
  LOOP {
    u64 element[2];
    num_convert(from, (const char *)av + i * from_size, to, element);
    memcpy((char *)dv + i * to_size, element, to_size);
  }
}
#define CONVERT_ANY(from, to)                                                                      \
  static void to_##to##_from_##from(PARAMS) {                                                      \
    (void)bv;                                                                                      \
    convert_any(n, dv, av, (const u8[2]){DTYPE_##from, DTYPE_##to}, cv);                           \
  }
/* clang-format off */
#define COMPLEX_PAIRS(P) \
  P(pred, c64) P(s8, c64) P(s16, c64) P(s32, c64) P(s64, c64) P(u8, c64) P(u16, c64) P(u32, c64) \
  P(u64, c64) P(f64, c64) P(c64, c64) P(c128, c64) P(c64, pred) P(c64, s8) P(c64, s16) \
  P(c64, s32) P(c64, s64) P(c64, u8) P(c64, u16) P(c64, u32) P(c64, u64) P(c64, f32) P(c64, f64) \
  P(pred, c128) P(s8, c128) P(s16, c128) P(s32, c128) P(s64, c128) P(u8, c128) P(u16, c128) \
  P(u32, c128) P(u64, c128) P(f32, c128) P(c64, c128) P(c128, c128) P(c128, pred) P(c128, s8) \
  P(c128, s16) P(c128, s32) P(c128, s64) P(c128, u8) P(c128, u16) P(c128, u32) P(c128, u64) \
  P(c128, f32) P(c128, f64)
/* clang-format on */
COMPLEX_PAIRS(CONVERT_ANY)

#define SMALL(S)                                                                                   \
  S(f8e5m2)                                                                                        \
  S(f8e4m3fn)                                                                                      \
  S(f8e4m3b11fnuz) S(f8e5m2fnuz) S(f8e4m3fnuz) S(f8e4m3) S(f8e3m4) S(f8e8m0fnu) S(f4e2m1fn)
/* The least f8e8m0fnu is a denormal of f32, and stays itself. */
#define SMALL_FLOAT(name)                                                                          \
  static void load_##name(PARAMS) {                                                                \
    UNUSED;                                                                                        \
    float *d = dv;                                                                                 \
    const u8 *a = av;                                                                              \
    EXACTLY(LOOP d[i] = (float)num_decode_small(DTYPE_##name, a[i]))                               \
  }                                                                                                \
  static void store_##name(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    u8 *d = dv;                                                                                    \
    const float *a = av;                                                                           \
    EXACTLY(LOOP d[i] = (u8)num_encode_small(DTYPE_##name, (double)a[i]))                          \
  }
SMALL(SMALL_FLOAT)

/* Denormals are values here, flushed or not. c: a dtype, of the values in f32 registers */
static void next_after_f32(PARAMS) {
  float *d = dv;
  const float *a = av, *b = bv;
  dtype t = *(const dtype *)cv;
  EXACTLY(LOOP d[i] = t == DTYPE_f32 ? num_next_after_f32(a[i], b[i])
                                     : (float)num_next_after_small(t, a[i], b[i]))
}
static void next_after_f64(PARAMS) {
  (void)cv;
  double *d = dv;
  const double *a = av, *b = bv;
  EXACTLY(LOOP d[i] = num_next_after_f64(a[i], b[i]))
}

/* b: exponent bits, mantissa bits, dtype */
static void reduce_precision_f32(PARAMS) {
  (void)cv;
  float *d = dv;
  const float *a = av;
  const u32 *bits = bv;
  dtype t = (dtype)bits[2];
  if (t == DTYPE_f32) {
    LOOP d[i] = num_reduce_precision_f32(a[i], bits[0], bits[1]);
    return;
  }
  EXACTLY(LOOP d[i] = (float)num_reduce_precision_small(t, a[i], bits[0], bits[1]))
}
static void reduce_precision_f64(PARAMS) {
  (void)cv;
  double *d = dv;
  const double *a = av;
  const u32 *bits = bv;
  LOOP d[i] = num_reduce_precision_f64(a[i], bits[0], bits[1]);
}

#define SET_UN(op, t) k->unary[VM_##op][R_##t] = k_##op##_##t;
#define SET_BIN(op, t) k->binary[VM_##op][R_##t][FORM_VV] = k_##op##_##t;

static void set_functions(vm_kernels *k) {
#define UN_D(op, f) SET_UN(op, f64)
#define UN_DZ(op, f) SET_UN(op, f64)
#define UN_L(op, f) SET_UN(op, f64) SET_UN(op, f32)
#define UN_M(op, f) SET_UN(op, f64) SET_UN(op, f32)
#define BIN_L(op, f) SET_BIN(op, f64) SET_BIN(op, f32)
#define BIN_M(op, f) SET_BIN(op, f64) SET_BIN(op, f32)
#define UN_C(op, f) SET_UN(op, c64) SET_UN(op, c128)
#define BIN_C(op, f) SET_BIN(op, c64) SET_BIN(op, c128)
#include "exec/kernels_math.def"
}

void vm_kernels_add_math(vm_kernels *k) {
  set_functions(k);
#define SET_POWER(t, T, f) SET_BIN(pow, t)
  POWERS(SET_POWER)
#define SET_COMPLEX(t, e, E)                                                                       \
  SET_BIN(add, t)                                                                                  \
  SET_BIN(sub, t)                                                                                  \
  SET_BIN(mul, t)                                                                                  \
  SET_BIN(eq, t)                                                                                   \
  SET_BIN(ne, t)                                                                                   \
  SET_UN(neg, t)                                                                                   \
  SET_UN(real, t)                                                                                  \
  SET_UN(imag, t)                                                                                  \
  SET_UN(abs, t)                                                                                   \
  k->convert[R_##t][R_##e] = to_##t##_from_##E;                                                    \
  k->binary[VM_complex][R_##e][FORM_VV] = k_complex_##t;
  SET_COMPLEX(c64, f32, float)
  SET_COMPLEX(c128, f64, double)
  SET_UN(real, f32)
  SET_UN(imag, f32)
  SET_UN(real, f64)
  SET_UN(imag, f64)
#define SET_ANY(from, to) k->convert[R_##to][R_##from] = to_##to##_from_##from;
  COMPLEX_PAIRS(SET_ANY)
#define SET_SMALL(name)                                                                            \
  k->load[DTYPE_##name] = load_##name;                                                             \
  k->store[DTYPE_##name] = store_##name;
  SMALL(SET_SMALL)
  k->binary[VM_next_after][R_f32][FORM_VV] = next_after_f32;
  k->binary[VM_next_after][R_f64][FORM_VV] = next_after_f64;
  k->unary[VM_reduce_precision][R_f32] = reduce_precision_f32;
  k->unary[VM_reduce_precision][R_f64] = reduce_precision_f64;
  k->any = convert_any;
}

void vm_load_elements(const vm_kernels *k, dtype t, size_t n, void *to, const void *from) {
  kern_fn *fn = k->load[t] ? k->load[t] : k->clean[t];
  if (fn)
    fn(n, to, from, NULL, NULL);
  else
    memcpy(to, from, n * dtype_size(t));
}
void vm_store_elements(const vm_kernels *k, dtype t, size_t n, void *to, const void *from) {
  if (k->store[t])
    k->store[t](n, to, from, NULL, NULL);
  else
    memcpy(to, from, n * dtype_size(t));
}

/* Filled by whoever comes first; all would write the same, so losing the race only waits. */
static vm_kernels chosen;
static pthread_once_t chosen_once = PTHREAD_ONCE_INIT;

static void fill_base(vm_kernels *k) {
  vm_kernels_add_math(k);
  vm_kernels_fill_base(k);
  dot_kernels_fill_base(&k->dot);
}
#if defined(__x86_64__)
static void fill_v3(vm_kernels *k) {
  vm_kernels_add_math(k);
  vm_kernels_fill_v3(k);
  dot_kernels_fill_v3(&k->dot);
}
static void fill_v4(vm_kernels *k) {
  vm_kernels_add_math(k);
  vm_kernels_fill_v4(k);
  dot_kernels_fill_v4(&k->dot);
}
#endif

static void choose(void) {
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
    fill_v4(&chosen);
  else if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
           __builtin_cpu_supports("bmi2"))
    fill_v3(&chosen);
  else
#endif
    fill_base(&chosen);
}

const vm_kernels *vm_kernels_get(void) {
  pthread_once(&chosen_once, choose);
  return &chosen;
}
