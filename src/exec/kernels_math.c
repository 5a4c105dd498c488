/* Kernels that call a function an element: libm, complex numbers, odd formats; and the choice
 * of the table. */
#include <float.h>
#include <math.h>
#include <pthread.h>
#include <stdlib.h>

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

/* What takes numbers of a middling size from one to another that is not tiny never sees a denormal
 * on the way, so that whether these are flushed does not matter: to change that takes longer than
 * most functions do. For single elements, as steps of short loops have them. */
static bool is_middling(double x) { return ((num_f64_bits(x) >> 52 & 0x7ff) - (1023 - 60)) < 120; }
static bool is_tiny(double x) { return !(fabs(x) > 0x1p-900); }

typedef double unary_fn(double x);
typedef double binary_fn(double x, double y);
/* zeros: operands are flushed where the program says so */
static void each_f64(size_t n, double *d, const double *a, unary_fn *f, bool zeros) {
  if (n == 1 && is_middling(*a)) {
    double r = f(*a);
    if (!is_tiny(r)) {
      *d = r;
      return;
    }
  }
  EXACTLY(LOOP d[i] = f(zeros && flush && fabs(a[i]) < DBL_MIN ? copysign(0, a[i]) : a[i]))
}
static void pairs_f64(size_t n, double *d, const double *a, const double *b, binary_fn *f) {
  if (n == 1 && is_middling(*a) && is_middling(*b)) {
    double r = f(*a, *b);
    if (!is_tiny(r)) {
      *d = r;
      return;
    }
  }
  EXACTLY(LOOP d[i] = f(a[i], b[i]))
}
#define EACH_F64(op, f, zeros)                                                                     \
  static void k_##op##_f64(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    each_f64(n, dv, av, f, zeros);                                                                 \
  }
#define PAIRS_F64(op, f)                                                                           \
  static void k_##op##_f64(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    pairs_f64(n, dv, av, bv, f);                                                                   \
  }

#define UNARY(op, t, T, f)                                                                         \
  static void k_##op##_##t(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av;                                                                               \
    EXACTLY(LOOP d[i] = (T)f(a[i]))                                                                \
  }
#define BINARY(op, t, T, f)                                                                        \
  static void k_##op##_##t(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    T *d = dv;                                                                                     \
    const T *a = av, *b = bv;                                                                      \
    EXACTLY(LOOP d[i] = (T)f(a[i], b[i]))                                                          \
  }
typedef num_complex complex1_fn(num_complex x);
typedef num_complex complex2_fn(num_complex x, num_complex y);
#define COMPLEX_EACH(t, T)                                                                         \
  static void each_##t(size_t n, T *d, const T *a, complex1_fn *f) {                               \
    EXACTLY(LOOP {                                                                                 \
      num_complex r = f((num_complex){a[i].re, a[i].im});                                          \
      d[i] = (T){(__typeof__(d->re))r.re, (__typeof__(d->re))r.im};                                \
    })                                                                                             \
  }                                                                                                \
  static void pairs_##t(size_t n, T *d, const T *a, const T *b, complex2_fn *f) {                  \
    EXACTLY(LOOP {                                                                                 \
      num_complex r = f((num_complex){a[i].re, a[i].im}, (num_complex){b[i].re, b[i].im});         \
      d[i] = (T){(__typeof__(d->re))r.re, (__typeof__(d->re))r.im};                                \
    })                                                                                             \
  }
COMPLEX_EACH(c64, kern_c64)
COMPLEX_EACH(c128, kern_c128)
#define COMPLEX1(op, t, f)                                                                         \
  static void k_##op##_##t(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    each_##t(n, dv, av, f);                                                                        \
  }
#define COMPLEX2(op, t, f)                                                                         \
  static void k_##op##_##t(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    pairs_##t(n, dv, av, bv, f);                                                                   \
  }

#define FUNCTION1(op, f) EACH_F64(op, f, false)
#define FUNCTION2(op, f) PAIRS_F64(op, f)
#define FUNCTION1_F32(op, f) UNARY(op, f32, float, f)
#define FUNCTION2_F32(op, f) BINARY(op, f32, float, f)

/* What a row says of floats and complex numbers, as a kind and its function; kernels.c sees to
 * expressions, and OWN kernels follow below. */
#define KIND_NO NONE, 0
#define KIND_MADE NONE, 0
#define KIND_PRED(expr) NONE, 0
#define KIND_INT(expr) NONE, 0
#define KIND_FLT(expr) NONE, 0
#define KIND_OWN OWN, 0
#define KIND_VECTOR NONE, 0
#define KIND_F32(expr, f) F64, f
#define KIND_BOTH(expr, f, ...) F64, f
#define KIND_BOTHZ(expr, f, ...) F64Z, f
#define KIND_LIBM(f) LIBM, f
#define KIND_WIDE(f, ...) LIBM, f
#define KIND_PARTLY(f, far, ...) PARTLY, (f, far)
#define KIND_PARTS(f, far, ...) PARTLY, (f, far)
#define KIND_VIA64(f) VIA64, f
#define KIND_CPX(f) CPX, f
#define EACH(does, ...) EACH_(does, __VA_ARGS__)
#define EACH_(does, kind, f, ...) does##_##kind(f, __VA_ARGS__)

#define DEFINE_NONE(...)
#define DEFINE_OWN(...)
#define DEFINE_F64(f, op, operands) FUNCTION##operands(op, f)
#define DEFINE_F64Z(f, op, operands) EACH_F64(op, f, true)
#define DEFINE_LIBM(fn, op, operands) FUNCTION##operands(op, fn) FUNCTION##operands##_F32(op, fn##f)
#define DEFINE_VIA64(f, op, operands) FUNCTION##operands(op, f) FUNCTION##operands##_F32(op, f)
#define DEFINE_PARTLY(both, op, operands) PARTLY_WITH(op, PARTLY_LIST both)
#define PARTLY_LIST(...) __VA_ARGS__
#define PARTLY_WITH(...) PARTLY_OF(__VA_ARGS__)
#define PARTLY_OF(op, f, far) EACH_F64(op, f, false) UNARY(op, f32, float, far)
#define DEFINE_CPX(f, op, operands) COMPLEX##operands(op, c64, f) COMPLEX##operands(op, c128, f)
#define VM(id, operands, how, result, traits, p, i, f, c, meaning)                                 \
  EACH(DEFINE, KIND_##f, id, operands) EACH(DEFINE, KIND_##c, id, operands)
#include "program/vm_ops.def"
#undef VM

/* ---- OWN: k_<op>_<type of the operand> ---- */

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

/* imag of real numbers */
#define ZEROS(t, T)                                                                                \
  static void k_imag_##t(PARAMS) {                                                                 \
    UNUSED;                                                                                        \
    memset(dv, 0, n * sizeof(T));                                                                  \
  }
ZEROS(f32, float)
ZEROS(f64, double)

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
  S(f8e4m3b11fnuz)                                                                                 \
  S(f8e5m2fnuz) S(f8e4m3fnuz) S(f8e4m3) S(f8e3m4) S(f8e8m0fnu) S(f4e2m1fn) S(f6e2m3fn) S(f6e3m2fn)
#define SMALL_FLOAT(name)                                                                          \
  static float values_##name[256];                                                                 \
  static void load_##name(PARAMS) {                                                                \
    UNUSED;                                                                                        \
    float *d = dv;                                                                                 \
    const u8 *a = av;                                                                              \
    LOOP d[i] = values_##name[a[i]];                                                               \
  }                                                                                                \
  static void store_##name(PARAMS) {                                                               \
    UNUSED;                                                                                        \
    store_small(DTYPE_##name, n, dv, av);                                                          \
  }
/* The least f8e8m0fnu is a denormal of f32, and stays itself. */
static void store_small(dtype t, size_t n, u8 *d, const float *a) {
  EXACTLY(LOOP d[i] = (u8)num_encode_small_f32(t, a[i]))
}
static void decode_all(dtype t, float *d) {
  EXACTLY(for (u32 i = 0; i < 256; i++) d[i] = (float)num_decode_small(t, i))
}
SMALL(SMALL_FLOAT)

/* Denormals are values here, flushed or not. c: a dtype, of the values in f32 registers */
static void k_next_after_f32(PARAMS) {
  float *d = dv;
  const float *a = av, *b = bv;
  dtype t = *(const dtype *)cv;
  EXACTLY(LOOP d[i] = t == DTYPE_f32 ? num_next_after_f32(a[i], b[i])
                                     : (float)num_next_after_small(t, a[i], b[i]))
}
static void k_next_after_f64(PARAMS) {
  (void)cv;
  double *d = dv;
  const double *a = av, *b = bv;
  EXACTLY(LOOP d[i] = num_next_after_f64(a[i], b[i]))
}

/* b: exponent bits, mantissa bits, dtype */
static void k_reduce_precision_f32(PARAMS) {
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
static void k_reduce_precision_f64(PARAMS) {
  (void)cv;
  double *d = dv;
  const double *a = av;
  const u32 *bits = bv;
  LOOP d[i] = num_reduce_precision_f64(a[i], bits[0], bits[1]);
}

#define SET_1(op, t) k->unary[VM_##op][R_##t] = k_##op##_##t;
#define SET_2(op, t) k->binary[VM_##op][R_##t][FORM_VV] = k_##op##_##t;
#define INTS_OF(S, op)                                                                             \
  S(op, s8) S(op, s16) S(op, s32) S(op, s64) S(op, u8) S(op, u16) S(op, u32) S(op, u64)
#define FLOATS_OF(S, op) S(op, f32) S(op, f64)
#define COMPLEXES_OF(S, op) S(op, c64) S(op, c128)

static void set_operations(vm_kernels *k) {
#define SET_NONE(...)
#define SET_F64(fn, all, op, operands) SET_##operands(op, f64)
#define SET_F64Z(fn, all, op, operands) SET_##operands(op, f64)
#define SET_LIBM(fn, all, op, operands) FLOATS_OF(SET_##operands, op)
#define SET_PARTLY(both, all, op, operands) FLOATS_OF(SET_##operands, op)
#define SET_VIA64(fn, all, op, operands) FLOATS_OF(SET_##operands, op)
#define SET_CPX(fn, all, op, operands) COMPLEXES_OF(SET_##operands, op)
#define SET_OWN(fn, all, op, operands) all(SET_##operands, op)
#define VM(id, operands, how, result, traits, p, i, f, c, meaning)                                 \
  EACH(SET, KIND_##i, INTS_OF, id, operands)                                                       \
  EACH(SET, KIND_##f, FLOATS_OF, id, operands)                                                     \
  EACH(SET, KIND_##c, COMPLEXES_OF, id, operands)
#include "program/vm_ops.def"
#undef VM
}

void vm_kernels_add_math(vm_kernels *k) {
  set_operations(k);
#define SET_ANY(from, to) k->convert[R_##to][R_##from] = to_##to##_from_##from;
  COMPLEX_PAIRS(SET_ANY)
#define SET_SMALL(name)                                                                            \
  decode_all(DTYPE_##name, values_##name);                                                         \
  k->load[DTYPE_##name] = load_##name;                                                             \
  k->store[DTYPE_##name] = store_##name;
  SMALL(SET_SMALL)
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

static void set_folds(vm_kernels *k, vm_rtype t, vm_rtype pairs, const fold_kernels *f) {
  k->fold_rows[t] = f;
  k->fold[REDUCE_SUM][t] = f->sum;
  k->fold[REDUCE_SUM][pairs] = f->sum_pairs;
  k->fold[REDUCE_PROD][t] = f->prod;
  k->fold[REDUCE_MAX][t] = f->max;
  k->fold[REDUCE_MIN][t] = f->min;
}

static void set_transposes(vm_kernels *k, u32 log2_width, const transpose_kernels *t) {
  k->transpose[log2_width] = t->transpose;
  if (log2_width == 2) k->spread_few = t->spread;
}

#define FILL(name, wide)                                                                           \
  static void fill_##name(vm_kernels *k) {                                                         \
    vm_kernels_add_math(k);                                                                        \
    vm_kernels_fill_##name(k);                                                                     \
    dot_kernels_fill_##name(&k->dot);                                                              \
    set_folds(k, R_f32, R_c64, &fold_##name##_f32);                                                \
    set_folds(k, R_f64, R_c128, &fold_##name##_f64);                                               \
    set_transposes(k, 2, &transpose_##name##_f32);                                                 \
    set_transposes(k, 3, &transpose_##name##_f64);                                                 \
    k->fft[0] = fft_plan_##name##_f32, k->fft[1] = fft_plan_##name##_f64;                          \
    k->linalg[0] = &linalg_##name##_f32, k->linalg[1] = &linalg_##name##_f64;                      \
    k->winograd = &winograd_##name##_f32;                                                          \
    k->thin[0] = &thin_##name##_f32, k->thin[1] = &thin_##name##_f64;                              \
    k->small[0] = &small_##name##_f32, k->small[1] = &small_##name##_f64;                          \
    k->move = &move_##name;                                                                        \
    k->transpose[0] = move_##name.bytes;                                                           \
    k->transpose[1] = move_##name.words;                                                           \
    wide(k);                                                                                       \
  }
#define NO_WIDE(k) (void)(k)
FILL(base, NO_WIDE)
#if defined(__x86_64__)
FILL(v3, wide_kernels_fill_v3)
FILL(v4, wide_kernels_fill_v4)
#elif defined(__aarch64__)
FILL(neon, wide_kernels_fill_neon)
#endif

#if defined(__x86_64__)
static void shuffle_by_blocks(bool by_blocks) {
  chosen.by_blocks = by_blocks;
  chosen.shuffle = by_blocks ? shuffle_blocks : shuffle_vectors;
}
#endif

/* TERRAZZO_KERNELS: base, those of any processor, which round each product of a sum; v3 (AVX2) or
 * v4 (AVX-512), where the processor has it; else the best that it has. */
static void choose(void) {
  const char *want = getenv("TERRAZZO_KERNELS");
  bool base = want && strcmp(want, "base") == 0;
#if defined(__x86_64__)
  bool v3_at_most = want && strcmp(want, "v3") == 0;
  __builtin_cpu_init();
  if (!base && !v3_at_most && __builtin_cpu_supports("avx512f") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    fill_v4(&chosen);
    shuffle_by_blocks(!__builtin_cpu_supports("avx512vbmi"));
    return;
  }
  if (!base && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
      __builtin_cpu_supports("bmi2")) {
    fill_v3(&chosen);
    shuffle_by_blocks(true);
    return;
  }
#elif defined(__aarch64__)
  if (!base) {
    fill_neon(&chosen);
    return;
  }
#endif
  (void)base;
  fill_base(&chosen);
}

const vm_kernels *vm_kernels_get(void) {
  pthread_once(&chosen_once, choose);
  return &chosen;
}
