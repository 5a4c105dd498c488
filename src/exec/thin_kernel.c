/* thin_kernel.h; built once per instruction set and accumulating type, which is of 32 bits for
 * bytes: s32, modulo 2^32. */
#include "exec/thin_kernel.h"

#include "exec/lanes.h"
#include "num/convert.h"

/* Elsewhere conversions are long, and products are made as others are (dot_own.c). */
#if defined(__AVX2__) || defined(__aarch64__)

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

enum {
  TERMS = 8,   /* of a column that are added while its sum is in a register */
  STREAMS = 4, /* one stream of memory is not as fast */
  NARROW = 4,  /* registers of some columns' sums */
  SHORT = 1024 /* bytes of a row that is read alone: memory comes sooner in order */
};

#define OF_LANES(T) __attribute__((vector_size(LANES * sizeof(T)), aligned(1), may_alias))

/* ---- registers of each source ---- */

#if REAL_BITS == 64
INLINE vec take_f64(const double *p) { return load_vec(p); }
#else
typedef u32 ints __attribute__((vector_size(LANE_BYTES)));

typedef u16 halves OF_LANES(u16);

INLINE vec take_f32(const float *p) { return load_vec(p); }
INLINE vec take_bf16(const u16 *p) {
  return (vec)(__builtin_convertvector(*(const halves *)p, ints) << 16);
}
INLINE vec take_f16(const u16 *p) {
#if defined(__AVX512F__)
  return (vec)_mm512_cvtph_ps(_mm256_loadu_si256((const __m256i *)(const void *)p));
#elif defined(__F16C__)
  return (vec)_mm256_cvtph_ps(_mm_loadu_si128((const __m128i *)(const void *)p));
#else
  vec x;
  for (u32 i = 0; i < LANES; i++) x[i] = num_f16_to_f32(p[i]);
  return x;
#endif
}
#if defined(__AVX512F__)
#define WIDEN(kind, p) _mm512_cvt##kind##_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p)))
#elif defined(__AVX2__)
#define WIDEN(kind, p) _mm256_cvt##kind##_epi32(_mm_loadl_epi64((const __m128i *)(const void *)(p)))
#else
#define WIDEN(kind, p) __builtin_convertvector(*(const kind##s *)(p), ints)
typedef i8 epi8s OF_LANES(i8);
typedef u8 epu8s OF_LANES(u8);
#endif
INLINE ints take_s8(const i8 *p) { return (ints)WIDEN(epi8, p); }
INLINE ints take_u8(const u8 *p) { return (ints)WIDEN(epu8, p); }
#endif

/* ---- both forms ---- */

/* The sums of each of LANES registers, in the registers' order. */
#define FOLD(V)                                                                                    \
  static __attribute__((noinline)) V fold_##V(const V *of) {                                       \
    V s[LANES];                                                                                    \
    memcpy(s, of, sizeof s);                                                                       \
    UNROLL for (u32 m = LANES / 2; m > 0; m /= 2) UNROLL for (u32 i = 0; i < m; i++) s[i] =        \
        PICK(s[i], s[i + m], LOWER) + PICK(s[i], s[i + m], UPPER);                                 \
    return s[0];                                                                                   \
  }

/* What is left of rows to where zeros follow it: a call, as it is in the code of all. */
static __attribute__((noinline)) void copy_last(const void **row, void *to, u32 rows, size_t bytes,
                                                size_t whole) {
  memset(to, 0, rows * whole);
  for (u32 q = 0; q < rows; q++) row[q] = memcpy((char *)to + q * whole, row[q], bytes);
}

/* SOURCE's elements of type T, X vectors, at most R rows at a time; sums are of type A in registers
 * V. What is left of a row, or of some rows' columns, is done where zeros follow it. */
#define HAS_RUNS(SOURCE, X) (REAL_BITS == 32 && (X) >= THIN_RUNS && THIN_##SOURCE == THIN_f32)
#define THIN_ROWS(SOURCE, T, A, V, X, R)                                                           \
  INLINE void some_rows_##SOURCE##_##X(const thin_call *t, u32 rows) {                             \
    size_t whole = t->k / LANES * LANES, rest = t->k - whole;                                      \
    for (size_t j = 0; j < t->n; j += LANES) {                                                     \
      V sums[X][LANES];                                                                            \
      for (u32 r = 0; r < LANES; r += rows) {                                                      \
        V s[R][X] = {0};                                                                           \
        const T *row[R];                                                                           \
        const A *x = t->x;                                                                         \
        T last[R][LANES];                                                                          \
        UNROLL for (u32 q = 0; q < rows; q++) row[q] =                                             \
            (const T *)t->w + t->at[j + r + q < t->n ? j + r + q : t->n - 1];                      \
        size_t runs = HAS_RUNS(SOURCE, X) ? t->runs : 0, run = 0;                                  \
        for (size_t n = whole, more = rest; n > 0 || more > 0; n = more ? LANES : 0, more = 0) {   \
          do {                                                                                     \
            i64 far = HAS_RUNS(SOURCE, X) && runs ? t->far[run] : 0;                               \
            for (size_t p = 0; p < n; p += LANES) UNROLL for (u32 q = 0; q < rows; q++) {          \
                V y = take_##SOURCE(row[q] + far + p);                                             \
                UNROLL for (u32 i = 0; i < (X); i++) s[q][i] +=                                    \
                    y * *(const V##_any *)(x + i * t->next_x + p);                                 \
              }                                                                                    \
            if (++run < runs) x += n;                                                              \
          } while (run < runs);                                                                    \
          if (more == 0) break;                                                                    \
          memset(last, 0, rows * sizeof *last);                                                    \
          for (u32 q = 0; q < rows; q++)                                                           \
            row[q] = memcpy(last[q], row[q] + whole, rest * sizeof(T));                            \
          x += whole;                                                                              \
        }                                                                                          \
        UNROLL for (u32 q = 0; q < rows; q++) UNROLL for (u32 i = 0; i < (X); i++)                 \
            sums[i][r + q] = s[q][i];                                                              \
      }                                                                                            \
      for (u32 i = 0; i < (X); i++)                                                                \
        *(V##_any *)((A *)t->c + i * t->next_c + j) = fold_##V(sums[i]);                           \
    }                                                                                              \
  }                                                                                                \
  static void rows_##SOURCE##_##X(const thin_call *t) {                                            \
    bool overlap = t->n > 1 && t->at[1] - t->at[0] < (i64)t->k; /* and come from a cache */        \
    if ((X) != 3 && t->k * sizeof(T) <= SHORT && !overlap)                                         \
      some_rows_##SOURCE##_##X(t, 1);                                                              \
    else                                                                                           \
      some_rows_##SOURCE##_##X(t, R);                                                              \
  }
/* Factors that a compiler sees no sum written over, and so reads once: for f32 it is worth its
 * code. */
#define KEEPS(SOURCE) (REAL_BITS == 32 && THIN_##SOURCE == THIN_f32)
#define THIN_COLUMNS(SOURCE, T, A, V, X)                                                           \
  INLINE void terms_##SOURCE##_##X(const thin_call *t, size_t p, u32 terms) {                      \
    const T *w[TERMS];                                                                             \
    T last[TERMS][LANES];                                                                          \
    const A *x = (const A *)t->x + p;                                                              \
    A *c = t->c, own[X][TERMS];                                                                    \
    UNROLL for (u32 i = 0; i < (X); i++) UNROLL for (u32 q = 0; q < terms && KEEPS(SOURCE); q++)   \
        own[i][q] = x[i * t->next_x + q];                                                          \
    size_t whole = t->n / LANES * LANES, rest = t->n - whole;                                      \
    for (u32 q = 0; q < terms; q++) w[q] = (const T *)t->w + t->at[p + q];                         \
    for (size_t n = whole, more = rest; n > 0 || more > 0; n = more ? LANES : 0, more = 0) {       \
      for (size_t j = 0; j < n; j += LANES) {                                                      \
        V y[TERMS];                                                                                \
        UNROLL for (u32 q = 0; q < terms; q++) y[q] = take_##SOURCE(w[q] + j);                     \
        UNROLL for (u32 i = 0; i < (X); i++) {                                                     \
          V##_any *at = (V##_any *)(c + i * t->next_c + j);                                        \
          V s = {0};                                                                               \
          if (p > 0) s = *at;                                                                      \
          UNROLL for (u32 q = 0; q < terms; q++) s +=                                              \
              y[q] * (KEEPS(SOURCE) ? own[i][q] : x[i * t->next_x + q]);                           \
          *at = s;                                                                                 \
        }                                                                                          \
      }                                                                                            \
      if (more == 0) break;                                                                        \
      const void *row[TERMS];                                                                      \
      UNROLL for (u32 q = 0; q < terms; q++) row[q] = w[q] += whole;                               \
      if (p >= t->within) copy_last(row, last, terms, rest * sizeof(T), sizeof *last);             \
      UNROLL for (u32 q = 0; q < terms; q++) w[q] = row[q];                                        \
      c += whole;                                                                                  \
    }                                                                                              \
  }                                                                                                \
  INLINE void narrow_terms_##SOURCE##_##X(V s[NARROW][X], const thin_call *t, size_t p,            \
                                          size_t j) {                                              \
    const T *w = (const T *)t->w + t->at[p] + j;                                                   \
    UNROLL for (u32 v = 0; v < NARROW; v++) {                                                      \
      V y = take_##SOURCE(w + v * LANES);                                                          \
      UNROLL for (u32 i = 0; i < (X); i++) s[v][i] += y * ((const A *)t->x)[i * t->next_x + p];    \
    }                                                                                              \
  }                                                                                                \
  /* Few columns, whose sums stay in registers; STREAMS parts of the rows side by side. */         \
  static void narrow_##SOURCE##_##X(const thin_call *t) {                                          \
    size_t part = t->k / STREAMS;                                                                  \
    for (size_t j = 0; j < t->n; j += NARROW * LANES) {                                            \
      V s[NARROW][X] = {0};                                                                        \
      for (size_t p = 0; p < part; p++)                                                            \
        UNROLL for (u32 q = 0; q < STREAMS; q++)                                                   \
            narrow_terms_##SOURCE##_##X(s, t, q *part + p, j);                                     \
      for (size_t p = STREAMS * part; p < t->k; p++) narrow_terms_##SOURCE##_##X(s, t, p, j);      \
      UNROLL for (u32 v = 0; v < NARROW; v++) UNROLL for (u32 i = 0; i < (X); i++) *               \
          (V##_any *)((A *)t->c + i * t->next_c + j + v * LANES) = s[v][i];                        \
    }                                                                                              \
  }                                                                                                \
  static void columns_##SOURCE##_##X(const thin_call *t) {                                         \
    size_t p = 0;                                                                                  \
    if (t->n % (NARROW * LANES) == 0 && t->n * sizeof(T) <= SHORT / 2) {                           \
      narrow_##SOURCE##_##X(t);                                                                    \
      return;                                                                                      \
    }                                                                                              \
    for (; p + TERMS <= t->k; p += TERMS) terms_##SOURCE##_##X(t, p, TERMS);                       \
    for (; p < t->k; p++) terms_##SOURCE##_##X(t, p, 1);                                           \
  }
#define AT_MOST(n) (LANES < (n) ? LANES : (n))
#define THIN(SOURCE, T, A, V, X, R)                                                                \
  THIN_ROWS(SOURCE, T, A, V, X, R)                                                                 \
  THIN_COLUMNS(SOURCE, T, A, V, X)
/* Rows by four vectors: their sums stay in registers. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define MANY_ROWS AT_MOST(4)
#else
#define MANY_ROWS 2
#endif
#define THINS(SOURCE, T, A, V)                                                                     \
  THIN(SOURCE, T, A, V, 1, AT_MOST(8))                                                             \
  THIN(SOURCE, T, A, V, 2, AT_MOST(4))                                                             \
  THIN(SOURCE, T, A, V, 4, MANY_ROWS)
#define FORM(form, S) [THIN_##S] = {form##_##S##_1, form##_##S##_2, form##_##S##_4}

typedef vec_anywhere vec_any;
FOLD(vec)
#if REAL_BITS == 64
THINS(f64, double, double, vec)
const thin_kernels FOR_LANES(thin_) = {{FORM(rows, f64)}, {FORM(columns, f64)}};
#else
typedef u32 ints_any __attribute__((vector_size(LANE_BYTES), aligned(4), may_alias));
FOLD(ints)
THINS(f32, float, float, vec)
THIN_ROWS(f32, float, float, vec, 3, AT_MOST(4))
THINS(bf16, u16, float, vec)
THINS(f16, u16, float, vec)
THINS(s8, i8, u32, ints)
THINS(u8, u8, u32, ints)
#define FORMS(f)                                                                                   \
  { FORM(f, f32), FORM(f, bf16), FORM(f, f16), FORM(f, s8), FORM(f, u8) }
const thin_kernels FOR_LANES(thin_) = {FORMS(rows), FORMS(columns), rows_f32_3};
#endif

#else
const thin_kernels FOR_LANES(thin_) = {{{NULL}}, {{NULL}}};
#endif
