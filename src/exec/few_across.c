#include "exec/move_kernel.h"

#if defined(__AVX2__)
#include <immintrin.h>

enum { MOST = 8, HALF = 16 };
typedef struct few_side {
  i64 vector, half, step; /* bytes: to the next vector, to its upper half, to the next vectors */
} few_side;
typedef u8 few_masks[MOST][MOST][HALF];

static inline __m128i get(const void *p) { return _mm_loadu_si128(p); }

/* Of n vectors that are read each gives some bytes to each that is written. fixed: `kept` is known
 * here, and all masks stay in registers. */
static inline __attribute__((always_inline)) void mix(u32 n, u32 kept, bool fixed, size_t times,
                                                      char *to, few_side out, const char *from,
                                                      few_side in, few_masks mask) {
  __m256i m[3][3];
  for (u32 i = 0; fixed && i < kept; i++)
    for (u32 k = 0; k < n; k++) m[i][k] = _mm256_broadcastsi128_si256(get(mask[i][k]));
  for (; times-- > 0; to += out.step, from += in.step) {
    __m256i x[MOST];
    for (u32 k = 0; k < n; k++) {
      const char *at = from + k * in.vector;
      x[k] = _mm256_set_m128i(get(at + in.half), get(at));
    }
    for (u32 i = 0; i < kept; i++) {
      __m256i y = _mm256_setzero_si256();
      char *at = to + i * out.vector;
      for (u32 k = 0; k < n; k++)
        y |= _mm256_shuffle_epi8(x[k],
                                 fixed ? m[i][k] : _mm256_broadcastsi128_si256(get(mask[i][k])));
      _mm256_storeu2_m128i((void *)(at + out.half), (void *)at, y);
    }
  }
}
typedef void mix_fn(size_t kept, size_t times, char *to, few_side out, const char *from,
                    few_side in, few_masks mask);
#define MIX(n)                                                                                     \
  static void mix_##n(size_t kept, size_t times, char *to, few_side out, const char *from,         \
                      few_side in, few_masks mask) {                                               \
    if ((n) == 3 && kept == 3) /* as most often */                                                 \
      mix(3, 3, true, times, to, out, from, in, mask);                                             \
    else if ((n) == 3 && kept == 1)                                                                \
      mix(3, 1, true, times, to, out, from, in, mask);                                             \
    else                                                                                           \
      mix(n, (u32)kept, false, times, to, out, from, in, mask);                                    \
  }
MIX(2)
MIX(3)
MIX(4)

/* Eight vectors: within each the parts of a row's two bytes meet, or come apart, by the first mask
 * or the last one, and pairs of bytes are as in a transpose of eight by eight. */
static void mix_8(size_t kept, size_t times, char *to, few_side out, const char *from, few_side in,
                  few_masks mask) {
  __m256i first = _mm256_broadcastsi128_si256(get(mask[0][0]));
  __m256i last = _mm256_broadcastsi128_si256(get(mask[0][1]));
  for (; times-- > 0; to += out.step, from += in.step) {
    __m256i x[MOST], y[MOST];
    for (u32 k = 0; k < MOST; k++) {
      const char *at = from + k * in.vector;
      x[k] = _mm256_shuffle_epi8(_mm256_set_m128i(get(at + in.half), get(at)), first);
    }
    for (u32 round = 0; round < 3; round++) {
      for (u32 i = 0; i < MOST / 2; i++) {
        y[2 * i] = _mm256_unpacklo_epi16(x[i], x[i + MOST / 2]);
        y[2 * i + 1] = _mm256_unpackhi_epi16(x[i], x[i + MOST / 2]);
      }
      for (u32 i = 0; i < MOST; i++) x[i] = y[i];
    }
    for (u32 i = 0; i < kept; i++) {
      char *at = to + i * out.vector;
      __m256i z = _mm256_shuffle_epi8(x[i], last);
      _mm256_storeu2_m128i((void *)(at + out.half), (void *)at, z);
    }
  }
}
static mix_fn *const by_few[MOST + 1] = {[2] = mix_2, [3] = mix_3, [4] = mix_4, [8] = mix_8};

/* Byte p of n vectors that lie together is one of element e = p / width, which is the (e / n)-th of
 * row e % n. A mask's byte says which byte comes there; 0 does where its uppermost bit is set. */
static inline __m256i all_of(u32 x) { return _mm256_set1_epi16((short)x); }
static inline __m256i first_bytes(void) {
  return _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
}
static inline __m128i bytes_of(__m256i x) {
  return _mm_packus_epi16(_mm256_castsi256_si128(x), _mm256_extracti128_si256(x, 1));
}
/* Where those are of the elements `of` whose parts these bytes are. */
static inline __m256i byte_at(__m256i of, u32 width, __m256i p) {
  return _mm256_add_epi16(_mm256_slli_epi16(of, (int)width - 1), p & all_of(width - 1));
}
static void part_masks(u32 n, u32 kept, u32 width, few_masks mask) {
  __m256i p = first_bytes(), e = _mm256_srli_epi16(p, (int)width - 1);
  __m128i first = bytes_of(byte_at(_mm256_mullo_epi16(e, all_of(n)), width, p));
  for (u32 i = 0; i < kept; i++)
    for (u32 k = 0; k < n; k++) {
      __m128i at = _mm_add_epi8(first, _mm_set1_epi8((char)(i * width - k * HALF)));
      _mm_storeu_si128((void *)mask[i][k], _mm_adds_epu8(at, _mm_set1_epi8(0x80 - HALF)));
    }
}
static void join_masks(u32 n, u32 width, few_masks mask) {
  __m256i reciprocal = all_of(0x10000 / n + 1);
  for (u32 v = 0; v < n; v++) {
    __m256i p = _mm256_add_epi16(first_bytes(), all_of(v * HALF));
    __m256i e = _mm256_srli_epi16(p, (int)width - 1), place = _mm256_mulhi_epu16(e, reciprocal);
    __m256i row = _mm256_sub_epi16(e, _mm256_mullo_epi16(place, all_of(n)));
    place = byte_at(place, width, p);
    for (u32 k = 0; k < n; k++) {
      __m256i x = _mm256_blendv_epi8(all_of(0x80), place, _mm256_cmpeq_epi16(row, all_of(k)));
      _mm_storeu_si128((void *)mask[v][k], bytes_of(x));
    }
  }
}

/* Of mix_8: bytes i and i + 8 side by side, and the other way round; or all where they are. */
static void eight_masks(bool parts, u32 width, few_masks mask) {
  static const u8 meet[HALF] = {0, 8, 1, 9, 2, 10, 3, 11, 4, 12, 5, 13, 6, 14, 7, 15};
  static const u8 part[HALF] = {0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15};
  static const u8 same[HALF] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  memcpy(mask[0][0], width == 1 && parts ? meet : same, HALF);
  memcpy(mask[0][1], width == 1 && !parts ? part : same, HALF);
}

size_t few_across(size_t rows, size_t columns, u32 width, char *to, i64 ts, const char *from,
                  i64 fs) {
  bool parts = rows < columns;
  i64 bytes = parts ? fs : ts;
  u32 n = bytes > 0 && bytes <= MOST * (i64)width ? (u32)bytes / width : 0;
  size_t few = parts ? rows : columns, many = parts ? columns - (few < n) : rows;
  size_t times = many * width / (2 * HALF);
  if (!by_few[n] || few > n || (!parts && few < n) || times < 4) return 0;
  few_side apart = {parts ? ts : fs, HALF, 2 * HALF}, together = {HALF, n * HALF, 2 * n * HALF};
  few_side in = parts ? together : apart, out = parts ? apart : together;
  few_masks mask;
  if (n == MOST)
    eight_masks(parts, width, mask);
  else if (parts)
    part_masks(n, (u32)few, width, mask);
  else
    join_masks(n, width, mask);
  by_few[n](few, times, to, out, from, in, mask);
  i64 last = (i64)(many - 2 * HALF / width); /* the last ones: some of them come again */
  to += last * (parts ? (i64)width : ts), from += last * (parts ? fs : (i64)width);
  by_few[n](few, 1, to, out, from, in, mask);
  return many;
}
#else
size_t few_across(size_t rows, size_t columns, u32 width, char *to, i64 ts, const char *from,
                  i64 fs) {
  (void)rows, (void)columns, (void)width, (void)to, (void)ts, (void)from, (void)fs;
  return 0;
}
#endif
