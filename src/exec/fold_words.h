/* The largest and the smallest of words that are bf16 or f16, as they lie: of fold_kernel.c. */
#ifndef EXEC_FOLD_WORDS_H
#define EXEC_FOLD_WORDS_H

#include "exec/fold_kernel.h"
#include "exec/lanes.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifdef __clang__
#define UNROLL_FOUR _Pragma("unroll 4")
#define UNROLL_EIGHT _Pragma("unroll 8")
#else
#define UNROLL_FOUR _Pragma("GCC unroll 4")
#define UNROLL_EIGHT _Pragma("GCC unroll 8")
#endif

static const volatile float denormal = 0x1p-149f;

typedef i16 words __attribute__((vector_size(LANE_BYTES)));
typedef i16 words_anywhere __attribute__((vector_size(LANE_BYTES), aligned(2), may_alias));

/* One instruction where there is one; compilers do not make it of comparisons. */
#if defined(__AVX512BW__)
#define MOST_WORDS(x, y) (words) _mm512_max_epi16((__m512i)(x), (__m512i)(y))
#define LEAST_WORDS(x, y) (words) _mm512_min_epi16((__m512i)(x), (__m512i)(y))
#define FARTHEST_WORDS(x, y) (words) _mm512_max_epu16((__m512i)(x), (__m512i)(y))
#elif defined(__AVX2__)
#define MOST_WORDS(x, y) (words) _mm256_max_epi16((__m256i)(x), (__m256i)(y))
#define LEAST_WORDS(x, y) (words) _mm256_min_epi16((__m256i)(x), (__m256i)(y))
#define FARTHEST_WORDS(x, y) (words) _mm256_max_epu16((__m256i)(x), (__m256i)(y))
#else
#define MOST_WORDS(x, y) ((x & (x > y)) | (y & ~(x > y)))
#define LEAST_WORDS(x, y) ((x & (x < y)) | (y & ~(x < y)))
#define FARTHEST_WORDS(x, y) (MOST_WORDS((x ^ INT16_MIN), (y ^ INT16_MIN)) ^ INT16_MIN)
#endif

enum { PER = LANE_BYTES / 2 };

/* The largest of all. */
INLINE i16 most_lane(words x) {
#if defined(__AVX2__)
#if LANE_BYTES == 64
  __m256i half = _mm256_max_epi16(_mm512_castsi512_si256((__m512i)x),
                                  _mm512_extracti64x4_epi64((__m512i)x, 1));
#else
  __m256i half = (__m256i)x;
#endif
  __m128i few = _mm_max_epi16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
  few = _mm_minpos_epu16(_mm_xor_si128(few, _mm_set1_epi16(INT16_MAX)));
  return (i16)(_mm_cvtsi128_si32(few) ^ INT16_MAX);
#else
  i16 most = x[0];
  for (u32 i = 1; i < PER; i++) most = x[i] > most ? x[i] : most;
  return most;
#endif
}

static u16 first_nan(size_t n, const u16 *a, u16 init, u16 infinity) {
  for (size_t i = 0; (init & 0x7fff) <= infinity && i < n; i++)
    init = (a[i] & 0x7fff) > infinity ? a[i] : init;
  return init;
}

/* As numbers with a sign, positive floats are in order, negative ones the other way round, and NaNs
 * beyond the infinities of their signs: so the farthest without a sign is the most negative. The
 * last vector comes again, where it is not whole. */
static void most_words(size_t num, size_t n, u16 *rows, u16 init, u16 infinity, const u16 *a,
                       bool max) {
  bool flushes = infinity == 0x7f80 && denormal + denormal == 0;
  const words first = (words){0} + (i16)init;
  words some = first, all_most = first, all_farthest = first;
  for (size_t r = 0; r < num; r++) {
    words most = first, least = first, farthest = first;
    const u16 *row = a + r * n;
    if (n < PER) memcpy(&some, row, n * sizeof *row), row = (u16 *)&some;
    size_t end = n < PER ? PER : n;
    for (size_t j = 0; j < end; j += PER) {
      words x = *(const words_anywhere *)(row + (j + PER <= end ? j : end - PER));
      most = MOST_WORDS(x, most);
      least = LEAST_WORDS(x, least);
      farthest = FARTHEST_WORDS(x, farthest);
    }
    all_most = MOST_WORDS(most, all_most);
    all_farthest = FARTHEST_WORDS(farthest, all_farthest);
    const words other = (max ? most : farthest) >> 15;
    words x = max ? (other & least) | (~other & most) : (other & farthest) | (~other & least);
    if (!max) x ^= INT16_MIN;
    i16 m = most_lane(x ^ (x >> 15 & INT16_MAX));
    m ^= m >> 15 & INT16_MAX;
    u16 bits = (u16)(max ? m : m ^ INT16_MIN);
    rows[r] = flushes && !(bits & infinity) ? bits & 0x8000 : bits;
  }
  if (most_lane(all_most) <= (i16)infinity &&
      (u16)(most_lane(all_farthest ^ INT16_MIN) ^ INT16_MIN) <= (infinity | 0x8000))
    return;
  for (size_t r = 0; r < num; r++) {
    u16 x = first_nan(n, a + r * n, init, infinity);
    if ((x & 0x7fff) > infinity) rows[r] = x | (infinity & -infinity) >> 1; /* a quiet one */
  }
}

static void most_rows(size_t n, i16 *acc, const void *const *rows, i16 sign, size_t groups,
                      i64 next) {
  const i16 *r[FOLD_ROWS];
  for (u32 k = 0; k < FOLD_ROWS; k++) r[k] = rows[k];
  words least = *(words_anywhere *)acc;
  for (size_t g = 0; g < groups; g++) {
    for (size_t j = 0; j < n; j += PER) { /* the last vector again, where it is not whole */
      size_t i = j + PER <= n ? j : n - PER;
      words_anywhere *to = (words_anywhere *)(acc + FOLD_MOST + i);
      words most = *to;
      UNROLL_FOUR
      for (u32 k = 0; k < FOLD_ROWS; k++) {
        words x = *(const words_anywhere *)(r[k] + i) ^ sign;
        x ^= x >> 15 & INT16_MAX;
        most = MOST_WORDS(x, most);
        least = LEAST_WORDS(x, least);
      }
      *to = most;
    }
    for (u32 k = 0; k < FOLD_ROWS; k++) r[k] += next;
  }
  *(words_anywhere *)acc = least;
}

static bool most_end(size_t n, i16 *acc, i16 sign, i16 infinity) {
  words_anywhere *at = (words_anywhere *)acc;
  words odd = *at < (words){0} + (i16)~infinity;
  u64 any[LANE_BYTES / 8], all = 0;
  for (at += FOLD_MOST * 2 / LANE_BYTES; (i16 *)at < acc + FOLD_MOST + n; at++) {
    odd |= *at > infinity;
    *at ^= (*at >> 15 & INT16_MAX) ^ sign;
  }
  memcpy(any, &odd, sizeof any);
  for (u32 i = 0; i < COUNT(any); i++) all |= any[i];
  return !all;
}

/* ---- bytes ---- */

typedef u8 bytes __attribute__((vector_size(LANE_BYTES), aligned(1), may_alias));
#if defined(__AVX512BW__)
#define MOST_BYTES(x, y) (bytes) _mm512_max_epu8((__m512i)(x), (__m512i)(y))
#define LEAST_BYTES(x, y) (bytes) _mm512_min_epu8((__m512i)(x), (__m512i)(y))
#elif defined(__AVX2__)
#define MOST_BYTES(x, y) (bytes) _mm256_max_epu8((__m256i)(x), (__m256i)(y))
#define LEAST_BYTES(x, y) (bytes) _mm256_min_epu8((__m256i)(x), (__m256i)(y))
#elif defined(__SSE2__)
#define MOST_BYTES(x, y) (bytes) _mm_max_epu8((__m128i)(x), (__m128i)(y))
#define LEAST_BYTES(x, y) (bytes) _mm_min_epu8((__m128i)(x), (__m128i)(y))
#else
#define MOST_BYTES(x, y) (((x) & ((x) > (y))) | ((y) & ~((x) > (y))))
#define LEAST_BYTES(x, y) (((x) & ((x) < (y))) | ((y) & ~((x) < (y))))
#endif

#define BYTE_ROWS(name, OF)                                                                        \
  static void name(size_t n, void *acc, const void *const *rows, bool fresh, size_t groups,        \
                   i64 next) {                                                                     \
    const u8 *r[FOLD_ROWS];                                                                        \
    for (u32 k = 0; k < FOLD_ROWS; k++) r[k] = rows[k];                                            \
    for (size_t g = 0; g < groups; g++, fresh = false) {                                           \
      for (size_t j = 0; j < n; j += LANE_BYTES) { /* the last vector again, as above */           \
        size_t i = j + LANE_BYTES <= n ? j : n - LANE_BYTES;                                       \
        u8 *to = (u8 *)acc + i;                                                                    \
        bytes x = *(const bytes *)(fresh ? r[0] + i : to);                                         \
        UNROLL_EIGHT                                                                               \
        for (u32 k = 0; k < FOLD_ROWS; k++) x = OF(x, *(const bytes *)(r[k] + i));                 \
        *(bytes *)to = x;                                                                          \
      }                                                                                            \
      for (u32 k = 0; k < FOLD_ROWS; k++) r[k] += next;                                            \
    }                                                                                              \
  }
BYTE_ROWS(max_bytes, MOST_BYTES)
BYTE_ROWS(min_bytes, LEAST_BYTES)

#endif
