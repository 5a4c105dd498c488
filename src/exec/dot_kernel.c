/* Register-blocked tiles and strips in GNU vectors; built once per instruction set (KERNELS_ISA).
 */
#include "exec/dot_kernel.h"

#include "exec/fma.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#if defined(__AVX512F__)
enum { BYTES = 64, ROWS = 12 };
#elif defined(__AVX2__)
enum { BYTES = 32, ROWS = 6 };
#else
enum { BYTES = 16, ROWS = 4 };
#endif

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 32")
#endif

/* Two vectors wide. With -ffp-contract=off the compiler would keep multiply and add apart; sums
 * of products are the one place where fusing them is meant. */
#ifdef HAS_FMA
#ifdef __clang__
#define CONTRACT _Pragma("clang fp contract(fast)")
#define FUSED
#else
#define CONTRACT
#define FUSED __attribute__((optimize("fp-contract=fast")))
#endif
#else
#define CONTRACT
#define FUSED
#endif

#define VECTOR_TILE(name, T)                                                                       \
  typedef T name##_v __attribute__((vector_size(BYTES)));                                          \
  typedef T name##_m __attribute__((vector_size(BYTES), aligned(sizeof(T)), may_alias));           \
  enum { name##_lanes = BYTES / sizeof(T) };                                                       \
  FUSED static void tile_##name(size_t k, const void *av, const void *bv, void *cv, bool more) {   \
    CONTRACT                                                                                       \
    const T *a = av, *b = bv;                                                                      \
    name##_m *c = cv;                                                                              \
    name##_v s[ROWS][2] = {0};                                                                     \
    for (size_t p = 0; p < k; p++, a += ROWS, b += 2 * name##_lanes) {                             \
      name##_v b0 = *(const name##_m *)b, b1 = *(const name##_m *)(b + name##_lanes);              \
      UNROLL for (int i = 0; i < ROWS; i++) {                                                      \
        s[i][0] += a[i] * b0;                                                                      \
        s[i][1] += a[i] * b1;                                                                      \
      }                                                                                            \
    }                                                                                              \
    if (more)                                                                                      \
      for (int i = 0; i < ROWS; i++) s[i][0] += c[2 * i], s[i][1] += c[2 * i + 1];                 \
    for (int i = 0; i < ROWS; i++) c[2 * i] = s[i][0], c[2 * i + 1] = s[i][1];                     \
  }
VECTOR_TILE(f32, float)
VECTOR_TILE(f64, double)

/* ---- strips ---- */

#if defined(__AVX512F__) || defined(__aarch64__) /* 32 registers */
#define STRIPS(S, T) TWELVE(S, T, 1) EIGHT(S, T, 2) EIGHT(S, T, 3) SIX(S, T, 4)
enum { MOST_1 = 12, MOST_2 = 8, MOST_3 = 8, MOST_4 = 6 };
#elif defined(__AVX2__)
#define STRIPS(S, T) EIGHT(S, T, 1) SIX(S, T, 2)
enum { MOST_1 = 8, MOST_2 = 6, MOST_3 = 0, MOST_4 = 0 };
#else
#define STRIPS(S, T) SIX(S, T, 1) FOUR(S, T, 2)
enum { MOST_1 = 6, MOST_2 = 4, MOST_3 = 0, MOST_4 = 0 };
#endif
/* Of whole numbers, whose products take longer than what is read for them: two wide. */
#if defined(__AVX512F__) || defined(__aarch64__)
#define WHOLE_STRIPS(S, T) TWELVE(S, T, 1) EIGHT(S, T, 2)
#else
#define WHOLE_STRIPS STRIPS
#endif
/* Other numbers of rows are done by two of these. */
#define FOUR(S, T, w) S(T, 1, w) S(T, 2, w) S(T, 3, w) S(T, 4, w)
#define SIX(S, T, w) FOUR(S, T, w) S(T, 5, w) S(T, 6, w)
#define EIGHT(S, T, w) SIX(S, T, w) S(T, 8, w)
#define TWELVE(S, T, w) EIGHT(S, T, w) S(T, 10, w) S(T, 12, w)
#define EACH(S, T) EIGHT(S, T, 1) S(T, 7, 1)

typedef u32 s32_t; /* modulo 2^32 */
typedef u32 s32_v __attribute__((vector_size(BYTES)));
typedef u32 s32_m __attribute__((vector_size(BYTES), aligned(4), may_alias));
enum { s32_lanes = BYTES / 4 };
typedef float f32_t;
typedef double f64_t;

#define STRIP(T, R, W)                                                                             \
  FUSED static void strip_##T##_##R##_##W(const dot_strip *t) {                                    \
    CONTRACT                                                                                       \
    const i64 *row = t->row, *to = t->to;                                                          \
    for (u64 rows = t->rows; rows > 0; rows -= (R), row += (R), to += (R)) {                       \
      const i64 *ka = t->ka;                                                                       \
      const T##_t *b = t->b, *a[R];                                                                \
      T##_t *c = t->c;                                                                             \
      i64 kb = t->kb;                                                                              \
      T##_v s[(R) * (W)], x[W];                                                                    \
      UNROLL for (int i = 0; i < (R); i++) a[i] = (const T##_t *)t->a + row[i];                    \
      UNROLL for (int i = 0; i < (R) * (W); i++) s[i] = (T##_v){0};                                \
      if ((W) == 4) { /* what is written at the end is on its way */                               \
        UNROLL for (int i = 0; i < (R) * (W); i++)                                                 \
            __builtin_prefetch((T##_m *)(c + to[i / (W)]) + i % (W), 1);                           \
      }                                                                                            \
      for (size_t k = t->k; k > 0; k--, b += kb) {                                                 \
        i64 at = *ka++;                                                                            \
        UNROLL for (int j = 0; j < (W); j++) x[j] = ((const T##_m *)b)[j];                         \
        UNROLL for (int i = 0; i < (R) * (W); i++) s[i] += a[i / (W)][at] * x[i % (W)];            \
      }                                                                                            \
      if (t->more) {                                                                               \
        UNROLL for (int i = 0; i < (R) * (W); i++) s[i] += ((T##_m *)(c + to[i / (W)]))[i % (W)];  \
      }                                                                                            \
      UNROLL for (int i = 0; i < (R) * (W); i++)((T##_m *)(c + to[i / (W)]))[i % (W)] = s[i];      \
    }                                                                                              \
  }
STRIPS(STRIP, f32)
STRIPS(STRIP, f64)
WHOLE_STRIPS(STRIP, s32)

/* Products of vectors with vectors; ROWS of each. */
#define LANE_STRIP(T, R, W)                                                                        \
  FUSED static void lanes_##T##_##R(const dot_strip *t) {                                          \
    CONTRACT                                                                                       \
    const i64 *ka = t->ka;                                                                         \
    const T##_t *b = t->b, *a[R];                                                                  \
    i64 kb = t->kb;                                                                                \
    T##_v s[R];                                                                                    \
    UNROLL for (int i = 0; i < (R); i++) a[i] = (const T##_t *)t->a + t->row[i];                   \
    UNROLL for (int i = 0; i < (R); i++) s[i] = (T##_v){0};                                        \
    for (size_t k = t->k; k > 0; k--, b += kb) {                                                   \
      i64 at = *ka++;                                                                              \
      T##_v x = *(const T##_m *)b;                                                                 \
      UNROLL for (int i = 0; i < (R); i++) s[i] += *(const T##_m *)(a[i] + at) * x;                \
    }                                                                                              \
    UNROLL for (int i = 0; i < (R); i++) {                                                         \
      T##_m *c = (T##_m *)((T##_t *)t->c + t->to[i]);                                              \
      if (t->more) s[i] += *c;                                                                     \
      *c = s[i];                                                                                   \
    }                                                                                              \
  }
EACH(LANE_STRIP, f32)
EACH(LANE_STRIP, f64)
EACH(LANE_STRIP, s32)

/* Of elements that are several terms each (dot_join), and begin at any of them. */
typedef u32 joined __attribute__((aligned(1), may_alias));
#define JOINED_STRIP(K, R, W)                                                                      \
  TARGET_##K static void strip_##K##_##R##_##W(const dot_strip *t) {                               \
    const i64 *row = t->row, *to = t->to;                                                          \
    for (u64 rows = t->rows; rows > 0; rows -= (R), row += (R), to += (R)) {                       \
      const i64 *ka = t->ka;                                                                       \
      const TERM_##K *a[R];                                                                        \
      const u32 *b = t->b;                                                                         \
      u32 *c = t->c;                                                                               \
      i64 kb = t->kb;                                                                              \
      K##_v s[(R) * (W)];                                                                          \
      s32_v x[W];                                                                                  \
      UNROLL for (int i = 0; i < (R); i++) a[i] = (const TERM_##K *)t->a + row[i];                 \
      UNROLL for (int i = 0; i < (R) * (W); i++) s[i] = (K##_v){0};                                \
      if (HAS_START_##K && t->start) {                                                             \
        UNROLL for (int i = 0; i < (R) * (W); i++) s[i] = ((const K##_m *)t->start)[i % (W)];      \
      }                                                                                            \
      for (size_t k = t->k; k > 0; k--, b += kb) {                                                 \
        i64 at = *ka++;                                                                            \
        UNROLL for (int j = 0; j < (W); j++) x[j] = ((const s32_m *)b)[j];                         \
        UNROLL for (int i = 0; i < (R) * (W); i++) s[i] =                                          \
            ADD_##K(s[i], *(const joined *)(a[i / (W)] + at), x[i % (W)]);                         \
      }                                                                                            \
      if (t->more) {                                                                               \
        UNROLL for (int i = 0; i < (R) * (W); i++) s[i] += ((K##_m *)(c + to[i / (W)]))[i % (W)];  \
      }                                                                                            \
      UNROLL for (int i = 0; i < (R) * (W); i++)((K##_m *)(c + to[i / (W)]))[i % (W)] = s[i];      \
    }                                                                                              \
  }
#if defined(__SSE2__)
#if defined(__AVX512F__)
#define ADD_pairs(s, a, b)                                                                         \
  (s32_v)                                                                                          \
      _mm512_add_epi32((__m512i)(s), _mm512_madd_epi16(_mm512_set1_epi32((int)(a)), (__m512i)(b)))
#elif defined(__AVX2__)
#define ADD_pairs(s, a, b)                                                                         \
  (s32_v)                                                                                          \
      _mm256_add_epi32((__m256i)(s), _mm256_madd_epi16(_mm256_set1_epi32((int)(a)), (__m256i)(b)))
#else
#define ADD_pairs(s, a, b)                                                                         \
  (s32_v) _mm_add_epi32((__m128i)(s), _mm_madd_epi16(_mm_set1_epi32((int)(a)), (__m128i)(b)))
#endif
#define TARGET_pairs
#define HAS_START_pairs 0
#define TERM_pairs i16
typedef s32_v pairs_v;
typedef s32_m pairs_m;
WHOLE_STRIPS(JOINED_STRIP, pairs)
#endif

#if defined(__AVX512F__)
#define SOME_STRIPS(S, T) TWELVE(S, T, 1) EIGHT(S, T, 2) SIX(S, T, 4)

#define ADD_bf16(s, a, b)                                                                          \
  (f32_v) _mm512_dpbf16_ps((__m512)(s), (__m512bh)_mm512_set1_epi32((int)(a)), (__m512bh)(b))
#define TARGET_bf16 __attribute__((target("avx512bf16")))
#define HAS_START_bf16 0
#define TERM_bf16 i16
typedef f32_v bf16_v;
typedef f32_m bf16_m;
SOME_STRIPS(JOINED_STRIP, bf16)

#define ADD_quads(s, a, b)                                                                         \
  (s32_v) _mm512_dpbusd_epi32((__m512i)(s), _mm512_set1_epi32((int)(a)), (__m512i)(b))
#define TARGET_quads __attribute__((target("avx512vnni")))
#define HAS_START_quads 1
#define TERM_quads i8
typedef s32_v quads_v;
typedef s32_m quads_m;
SOME_STRIPS(JOINED_STRIP, quads)
#endif

#define JOIN_PAIR(name, T)                                                                         \
  static void along_##name(size_t n, void *to, const void *from) {                                 \
    i16 *d = to;                                                                                   \
    const T *x = from;                                                                             \
    for (size_t i = 0; i < n; i++) d[i] = x[i];                                                    \
  }                                                                                                \
  static void across_##name(size_t n, u32 *to, const void *const *from) {                          \
    const T *x = from[0], *y = from[1];                                                            \
    for (size_t i = 0; i < n; i++) to[i] = (u16)(i16)x[i] | (u32)(u16)(i16)y[i] << 16;             \
  }
JOIN_PAIR(s8, i8)
JOIN_PAIR(u8, u8)
JOIN_PAIR(halves, i16)

#define JOIN_QUAD(name, FLIP)                                                                      \
  static void along_##name(size_t n, void *to, const void *from) {                                 \
    u8 *d = to;                                                                                    \
    const u8 *x = from;                                                                            \
    for (size_t i = 0; i < n; i++) d[i] = x[i] ^ ((FLIP)&0xff);                                    \
  }                                                                                                \
  static void across_##name(size_t n, u32 *to, const void *const *from) {                          \
    const u8 *x = from[0], *y = from[1], *z = from[2], *w = from[3];                               \
    for (size_t i = 0; i < n; i++)                                                                 \
      to[i] = (x[i] | (u32)y[i] << 8 | (u32)z[i] << 16 | (u32)w[i] << 24) ^ (FLIP);                \
  }
JOIN_QUAD(bytes, 0)
JOIN_QUAD(shifted, 0x80808080)

enum { SMALL = 4 };
static void strip_s64(const dot_strip *t) {
  for (u64 i = 0; i < t->rows; i++) {
    const u64 *a = (const u64 *)t->a + t->row[i], *b = t->b;
    u64 *c = (u64 *)t->c + t->to[i], s[SMALL] = {0};
    for (size_t k = 0; k < t->k; k++, b += t->kb)
      UNROLL for (int j = 0; j < SMALL; j++) s[j] += a[t->ka[k]] * b[j];
    UNROLL for (int j = 0; j < SMALL; j++) c[j] = t->more ? c[j] + s[j] : s[j];
  }
}
#define COMPLEX_STRIP(name, T)                                                                     \
  static void strip_##name(const dot_strip *t) {                                                   \
    for (u64 i = 0; i < t->rows; i++) {                                                            \
      const T *a = (const T *)t->a + 2 * t->row[i], *b = t->b;                                     \
      T *c = (T *)t->c + 2 * t->to[i], re[SMALL] = {0}, im[SMALL] = {0};                           \
      for (size_t k = 0; k < t->k; k++, b += 2 * t->kb) {                                          \
        const T *x = a + 2 * t->ka[k];                                                             \
        UNROLL for (int j = 0; j < SMALL; j++) {                                                   \
          re[j] += x[0] * b[2 * j] - x[1] * b[2 * j + 1];                                          \
          im[j] += x[0] * b[2 * j + 1] + x[1] * b[2 * j];                                          \
        }                                                                                          \
      }                                                                                            \
      UNROLL for (int j = 0; j < SMALL; j++) {                                                     \
        c[2 * j] = t->more ? c[2 * j] + re[j] : re[j];                                             \
        c[2 * j + 1] = t->more ? c[2 * j + 1] + im[j] : im[j];                                     \
      }                                                                                            \
    }                                                                                              \
  }
COMPLEX_STRIP(c64, float)
COMPLEX_STRIP(c128, double)

#define ROW(T, R, W) d->fn[(W)-1][(R)-1] = strip_##T##_##R##_##W;
#define LANE_ROW(T, R, W) d->across[(R)-1] = lanes_##T##_##R;
#define VECTOR_STRIPS(T, OF, WIDE)                                                                 \
  static void fill_##T(dot_strips *d) {                                                            \
    OF(ROW, T)                                                                                     \
    EACH(LANE_ROW, T)                                                                              \
    const u8 most[] = {MOST_1, MOST_2, MOST_3, MOST_4};                                            \
    memcpy(d->rows, most, sizeof most);                                                            \
    d->lanes = T##_lanes;                                                                          \
    d->vectors = WIDE;                                                                             \
  }
VECTOR_STRIPS(f32, STRIPS, MOST_4 ? 4 : 2)
VECTOR_STRIPS(f64, STRIPS, MOST_4 ? 4 : 2)
VECTOR_STRIPS(s32, WHOLE_STRIPS, 2)
#define JOINED_ROW(K, R, W) d->fn[(W)-1][(R)-1] = strip_##K##_##R##_##W;
static void fill_joined(dot_kernels *k) {
  const dot_join joins[JOININGS] = {[JOIN_S8] = {along_s8, across_s8},
                                    [JOIN_U8] = {along_u8, across_u8},
                                    [JOIN_HALVES] = {along_halves, across_halves},
                                    [JOIN_BYTES] = {along_bytes, across_bytes},
                                    [JOIN_SHIFTED] = {along_shifted, across_shifted}};
  memcpy(k->joins, joins, sizeof joins);
#if defined(__SSE2__)
  dot_strips *d = &k->strips[DOT_PAIRS];
  *d = k->strips[DOT_S32];
  WHOLE_STRIPS(JOINED_ROW, pairs)
#endif
#if defined(__AVX512F__)
  const dot_strips some = {
      .rows = {MOST_1, MOST_2, MOST_2, MOST_4}, .lanes = s32_lanes, .vectors = 4};
  if (__builtin_cpu_supports("avx512bf16")) {
    *(d = &k->strips[DOT_BF16]) = some;
    SOME_STRIPS(JOINED_ROW, bf16)
  }
  if (__builtin_cpu_supports("avx512vnni")) {
    *(d = &k->strips[DOT_QUADS]) = some;
    SOME_STRIPS(JOINED_ROW, quads)
  }
#endif
}
#define SMALL_STRIPS(T)                                                                            \
  (dot_strips) { .fn = {{strip_##T}}, .rows = {1}, .lanes = SMALL, .vectors = 1 }

#define PASTE_(a, b) a##b
#define PASTE(a, b) PASTE_(a, b)
void PASTE(dot_kernels_fill_, KERNELS_ISA)(dot_kernels *k) {
  k->tile[DOT_F32] = (dot_tile){tile_f32, ROWS, 2 * f32_lanes};
  k->tile[DOT_F64] = (dot_tile){tile_f64, ROWS, 2 * f64_lanes};
  fill_f32(&k->strips[DOT_F32]);
  fill_f64(&k->strips[DOT_F64]);
  fill_s32(&k->strips[DOT_S32]);
  fill_joined(k);
  k->strips[DOT_S64] = SMALL_STRIPS(s64);
  k->strips[DOT_C64] = SMALL_STRIPS(c64);
  k->strips[DOT_C128] = SMALL_STRIPS(c128);
}
