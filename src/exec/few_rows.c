#include "exec/few_rows.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

enum { BLOCK = 64 };

/* The rows that indices i and on name; -1: there is none. */
static __attribute__((noinline)) const i32 *find_places(const few_rows *z, u64 i, u64 n, bool takes,
                                                        i32 *places) {
  const i32 *at = z->at + i;
  u32 most = (u32)z->rule.most, outside = n < BLOCK;
  for (u32 k = 0; k < BLOCK && n == BLOCK; k++) outside |= (u32)at[k] > most;
  if (!outside) return at;
  for (u64 k = 0; k < n; k++) {
    i64 place = take_wrapped(&z->rule, at[k]), near = take_clamped(&z->rule, place);
    places[k] = takes || near == place ? (i32)near : -1;
  }
  return places;
}

#define FEW_ROWS(name, N, join, takes, from, to)                                                   \
  static void name##_##N(const few_rows *few, u64 n) {                                             \
    const few_rows z = *few;                                                                       \
    char *other = z.other;                                                                         \
    i32 places[BLOCK];                                                                             \
    for (u64 i = 0, m; i < n; i += m) {                                                            \
      m = n - i < BLOCK ? n - i : BLOCK;                                                           \
      const i32 *at = find_places(few, i, m, takes, places);                                       \
      for (u64 k = 0; k < m; k++, other += (N)) {                                                  \
        char *row = z.operand + (u64)(u32)at[k] * (N);                                             \
        if (takes || at[k] >= 0) join##_##N(to, from);                                             \
      }                                                                                            \
    }                                                                                              \
  }
/* Of a row that is longer than a register of any processor. */
#define TWICE(name, N, HALF)                                                                       \
  static inline void name##_##N(char *to, const char *from) {                                      \
    name##_##HALF(to, from);                                                                       \
    name##_##HALF(to + (HALF), from + (HALF));                                                     \
  }
#define MOVE(N)                                                                                    \
  static inline void move_##N(char *to, const char *from) { memcpy(to, from, N); }
#define SUM(name, T, N)                                                                            \
  static inline void name##_##N(char *to, const char *from) {                                      \
    T __attribute__((vector_size(N))) x, y;                                                        \
    memcpy(&x, to, N), memcpy(&y, from, N);                                                        \
    x += y;                                                                                        \
    memcpy(to, &x, N);                                                                             \
  }
MOVE(3)
MOVE(4)
MOVE(8)
MOVE(12)
MOVE(16)
TWICE(move, 32, 16)
TWICE(move, 64, 32)
SUM(sum_f32, float, 8)
SUM(sum_f32, float, 16)
SUM(sum_f32, float, 32)
TWICE(sum_f32, 64, 32)
SUM(sum_u32, u32, 8)
SUM(sum_u32, u32, 16)
SUM(sum_u32, u32, 32)
TWICE(sum_u32, 64, 32)

/* num_f32_to_bf16 of sums as f32. */
typedef u32 words __attribute__((vector_size(32)));
typedef float floats __attribute__((vector_size(32)));
typedef u16 halves __attribute__((vector_size(16)));
/* Compilers take many more instructions. */
#if defined(__AVX2__)
static inline words widened(halves x) { return (words)_mm256_cvtepu16_epi32((__m128i)x); }
static inline halves narrowed(words x) {
  __m256i y = (__m256i)x;
  return (halves)_mm_packus_epi32(_mm256_castsi256_si128(y), _mm256_extracti128_si256(y, 1));
}
#else
static inline words widened(halves x) { return __builtin_convertvector(x, words); }
static inline halves narrowed(words x) { return __builtin_convertvector(x, halves); }
#endif
static inline halves bf16_sums(halves x, halves y) {
  floats f = (floats)(widened(x) << 16) + (floats)(widened(y) << 16);
  words w = (words)f, nan = (words)(f != f), odd = w >> 16 & 1;
  words r = (nan & (w | 0x400000)) | (~nan & (w + 0x7fff + odd));
  return narrowed(r >> 16);
}
/* As many as are in one integer, whose register they are in. */
#define BF16_SUM(N, T)                                                                             \
  static inline void sum_bf16_##N(char *to, const char *from) {                                    \
    typedef T whole __attribute__((vector_size(16)));                                              \
    T x, y;                                                                                        \
    memcpy(&x, to, N), memcpy(&y, from, N);                                                        \
    x = ((whole)bf16_sums((halves)(whole){x}, (halves)(whole){y}))[0];                             \
    memcpy(to, &x, N);                                                                             \
  }
BF16_SUM(4, u32)
BF16_SUM(8, u64)
static inline void sum_bf16_16(char *to, const char *from) {
  halves x, y;
  memcpy(&x, to, 16), memcpy(&y, from, 16);
  x = bf16_sums(x, y);
  memcpy(to, &x, 16);
}
TWICE(sum_bf16, 32, 16)

#define TAKE(N) FEW_ROWS(take, N, move, true, row, other)
#define PUT(N) FEW_ROWS(put, N, move, false, other, row)
#define ADD_F32(N) FEW_ROWS(add_f32, N, sum_f32, false, other, row)
#define ADD_U32(N) FEW_ROWS(add_u32, N, sum_u32, false, other, row)
#define ADD_BF16(N) FEW_ROWS(add_bf16, N, sum_bf16, false, other, row)
#define SIZES(DO) DO(8) DO(16) DO(32)
TAKE(3)
TAKE(4)
TAKE(12)
SIZES(TAKE)
TAKE(64)
PUT(4)
SIZES(PUT)
PUT(64)
SIZES(ADD_F32)
ADD_F32(64)
SIZES(ADD_U32) ADD_U32(64) ADD_BF16(4) SIZES(ADD_BF16)

    few_rows_fn *few_rows_find(few_how how, dtype t, size_t bytes) {
  static few_rows_fn *const takes[] = {take_4, take_8, take_16, take_32, take_64};
  static few_rows_fn *const puts[] = {put_4, put_8, put_16, put_32, put_64};
  static few_rows_fn *const floats[] = {NULL, add_f32_8, add_f32_16, add_f32_32, add_f32_64};
  static few_rows_fn *const integers[] = {NULL, add_u32_8, add_u32_16, add_u32_32, add_u32_64};
  static few_rows_fn *const bf16s[] = {add_bf16_4, add_bf16_8, add_bf16_16, add_bf16_32, NULL};
  few_rows_fn *const *by = how == FEW_TAKE                    ? takes
                           : how == FEW_PUT                   ? puts
                           : t == DTYPE_f32                   ? floats
                           : t == DTYPE_bf16                  ? bf16s
                           : t == DTYPE_s32 || t == DTYPE_u32 ? integers
                                                              : NULL;
  for (u32 i = 0; by && i < COUNT(takes); i++)
    if (bytes == 4u << i) return by[i];
  if (how == FEW_TAKE) /* pixels of three channels */
    return bytes == 3 ? take_3 : bytes == 12 ? take_12 : NULL;
  return NULL;
}
