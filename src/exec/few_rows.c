#include "exec/few_rows.h"

#include "exec/extremes.h"

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

void few_rows_run(few_rows_fn *f, const few_rows *z, u64 n) {
  char *other = z->other;
  i32 places[BLOCK];
  for (u64 i = 0, m; i < n; i += m, other += m * z->bytes) {
    m = n - i < BLOCK ? n - i : BLOCK;
    f(find_places(z, i, m, z->takes, places), m, z->operand, other, z->bytes, (i32)z->rule.most);
  }
}

#define FEW_ROWS(name, N, join, takes, from, to)                                                   \
  EACH_ROW(name##_##N, N, takes, (void)bytes, join##_##N(to, from))
#define EACH_ROW(name, N, takes, begin, ...)                                                       \
  static __attribute__((noinline)) void name(const i32 *at, u64 n, char *operand, char *other,     \
                                             size_t bytes, i32 last) {                             \
    (void)last;                                                                                    \
    begin;                                                                                         \
    for (u64 k = 0; k < n; k++, other += (N)) {                                                    \
      char *row = operand + (u64)(u32)at[k] * (N);                                                 \
      if (takes || at[k] >= 0) {                                                                   \
        __VA_ARGS__;                                                                               \
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

/* Of HALF to twice that many bytes: the first ones and the last ones, which may be the same. */
#define ENDS(HALF, T)                                                                              \
  static inline void ends_##HALF(char *to, const char *from, size_t bytes) {                       \
    T first, last;                                                                                 \
    memcpy(&first, from, HALF), memcpy(&last, from + bytes - (HALF), HALF);                        \
    memcpy(to, &first, HALF), memcpy(to + bytes - (HALF), &last, HALF);                            \
  }                                                                                                \
  EACH_ROW(take_ends_##HALF, bytes, true, , ends_##HALF(other, row, bytes))                        \
  EACH_ROW(put_ends_##HALF, bytes, false, , ends_##HALF(row, other, bytes))
#define VECTORS(N)                                                                                 \
  typedef float floats_##N __attribute__((vector_size(N)));                                        \
  typedef i32 words_##N __attribute__((vector_size(N)));                                           \
  typedef u32 naturals_##N __attribute__((vector_size(N)));
VECTORS(16)
VECTORS(32)
ENDS(4, u32)
ENDS(8, u64)
ENDS(16, words_16)
ENDS(32, words_32)

/* As maximum_f32: of those that are equal both bits, or either's; what is no number wins. */
#if defined(__AVX2__)
#define EXTREME(name, N, by, of, mm, instruction)                                                  \
  static inline floats_##N name##_f32_##N(floats_##N x, floats_##N y, float zero) {                \
    words_##N both = (words_##N)mm##_##instruction(x, y) of(words_##N) mm##_##instruction(y, x);   \
    return mm##_blendv_ps((floats_##N)both, x + y, mm##_cmp_ps(x, y, _CMP_UNORD_Q)) + zero;        \
  }
#else
#define EXTREME(name, N, by, of, mm, instruction)                                                  \
  static inline floats_##N name##_f32_##N(floats_##N x, floats_##N y, float zero) {                \
    words_##N a = x by y, b = y by x, same = x == y, odd = ~(a | b | same);                        \
    words_##N equal = (words_##N)x of(words_##N) y, sum = (words_##N)(x + y);                      \
    a = ((words_##N)x & a) | ((words_##N)y & b) | (equal & same) | (sum & odd);                    \
    return (floats_##N)a + zero;                                                                   \
  }
#endif
#define EXTREMES(N, mm)                                                                            \
  EXTREME(max, N, >, &, mm, max_ps)                                                                \
  EXTREME(min, N, <, |, mm, min_ps)
EXTREMES(16, _mm)
EXTREMES(32, _mm256)
#define JOINED(name, V, N, expr)                                                                   \
  static inline V##_##N name##_##N(V##_##N x, V##_##N y, float zero) {                             \
    (void)zero;                                                                                    \
    return expr;                                                                                   \
  }
#define JOINED_BOTH(name, V, expr) JOINED(name, V, 16, expr) JOINED(name, V, 32, expr)
JOINED_BOTH(join_f32, floats, x + y)
JOINED_BOTH(join_s32, naturals, x + y) /* of any sign */
JOINED_BOTH(max_s32, words, (x & (x > y)) | (y & ~(x > y)))
JOINED_BOTH(min_s32, words, (x & (x < y)) | (y & ~(x < y)))

/* So many bytes in a register of their own: what is read again soon was written in one piece, as
 * it takes long to read what is still on its way in two. */
#define ZERO                                                                                       \
  const float zero = (float)minus_zero;                                                            \
  (void)bytes
#define WHOLE(x) (x)
#define LOW_8(x) ((longs_16){x})
#define LOW_4(x) ((words_16){(i32)(x)})
typedef u64 longs_16 __attribute__((vector_size(16)));
#define PIECE(name, V, N, T, in)                                                                   \
  {                                                                                                \
    T x, y;                                                                                        \
    memcpy(&x, to, N), memcpy(&y, from, N);                                                        \
    V both = name((V)in(x), (V)in(y), zero);                                                       \
    memcpy(to, &both, N);                                                                          \
    to += (N), from += (N);                                                                        \
  }
#define PIECES(name, V)                                                                            \
  static inline void name(char *to, const char *from, size_t bytes, float zero) {                  \
    for (; bytes >= 32; bytes -= 32) PIECE(name##_32, V##_32, 32, V##_32, WHOLE)                   \
    if (bytes & 16) PIECE(name##_16, V##_16, 16, V##_16, WHOLE)                                    \
    if (bytes & 8) PIECE(name##_16, V##_16, 8, u64, LOW_8)                                         \
    if (bytes & 4) PIECE(name##_16, V##_16, 4, u32, LOW_4)                                         \
  }                                                                                                \
  EACH_ROW(name##_rows, bytes, false, ZERO, name(row, other, bytes, zero))
PIECES(join_f32, floats)
PIECES(join_s32, naturals)
PIECES(max_f32, floats)
PIECES(min_f32, floats)
/* What is less than a register of N is one with what is behind it, which stays as it is. Not of the
 * last rows, which nothing is behind, nor behind a row that is still on its way to memory. */
#define RARELY(x) __builtin_expect(x, 0)
#define WIDE(name, N, T)                                                                           \
  static void name##_wide_##N(const i32 *at, u64 n, char *operand, char *other, size_t bytes,      \
                              i32 last) {                                                          \
    ZERO;                                                                                          \
    const words_##N kept = T < (i32)bytes;                                                         \
    i32 before = -2;                                                                               \
    for (u64 k = 0; k < n; before = at[k++], other += bytes) {                                     \
      char *to = operand + (u64)(u32)at[k] * bytes;                                                \
      if (RARELY((u32)at[k] >= (u32)last || k + 1 == n || at[k] - before == 1)) {                  \
        name##_rows(&at[k], 1, operand, other, bytes, last);                                       \
        continue;                                                                                  \
      }                                                                                            \
      floats_##N x, y;                                                                             \
      memcpy(&x, to, N), memcpy(&y, other, N);                                                     \
      words_##N both = (words_##N)name##_##N(x, y, zero);                                          \
      both = (both & kept) | ((words_##N)x & ~kept);                                               \
      memcpy(to, &both, N);                                                                        \
    }                                                                                              \
  }
#define FLOATS_OF(name)                                                                            \
  WIDE(name, 16, ((words_16){0, 4, 8, 12}))                                                        \
  WIDE(name, 32, ((words_32){0, 4, 8, 12, 16, 20, 24, 28}))
FLOATS_OF(join_f32)
FLOATS_OF(max_f32)
FLOATS_OF(min_f32)
#define EXTREMES_OF(N)                                                                             \
  EACH_ROW(max_f32_row_##N, N, false, ZERO, max_f32(row, other, N, zero))                          \
  EACH_ROW(min_f32_row_##N, N, false, ZERO, min_f32(row, other, N, zero))
EXTREMES_OF(16)
EXTREMES_OF(32)
EXTREMES_OF(64)
PIECES(max_s32, words)
PIECES(min_s32, words)

/* Rows of any bf16. */
#define LOW_2(x) ((halves){x})
#define EXTREME_HALVES(name)                                                                       \
  static inline halves name##_halves(halves x, halves y, float zero) {                             \
    floats_32 a = (floats_32)(widened(x) << 16), b = (floats_32)(widened(y) << 16);                \
    return narrowed((words)name##_f32_32(a, b, zero) >> 16);                                       \
  }
static inline halves sum_halves(halves x, halves y, float zero) {
  (void)zero;
  return bf16_sums(x, y);
}
EXTREME_HALVES(max)
EXTREME_HALVES(min)
#define HALVES_OF(name)                                                                            \
  static inline void name##_bf16(char *to, const char *from, size_t bytes, float zero) {           \
    for (; bytes >= 16; bytes -= 16) PIECE(name##_halves, halves, 16, halves, WHOLE)               \
    if (bytes & 8) PIECE(name##_halves, halves, 8, u64, LOW_8)                                     \
    if (bytes & 4) PIECE(name##_halves, halves, 4, u32, LOW_4)                                     \
    if (bytes & 2) PIECE(name##_halves, halves, 2, u16, LOW_2)                                     \
  }                                                                                                \
  EACH_ROW(name##_bf16_rows, bytes, false, ZERO, name##_bf16(row, other, bytes, zero))
HALVES_OF(sum)
HALVES_OF(max)
HALVES_OF(min)

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
SIZES(ADD_U32)
ADD_U32(64)
ADD_BF16(4)
SIZES(ADD_BF16)

few_rows_fn *few_rows_find(few_how how, dtype t, size_t bytes) {
  enum { EXACT = 5, FLOATS = 0, WORDS, HALVES, MOST = 256 };
  /* of 4, 8, ... 64 bytes, and then of any elements of four */
  static few_rows_fn *const of[][HALVES + 1][EXACT + 1] = {
      [FEW_TAKE] = {{take_4, take_8, take_16, take_32, take_64}},
      [FEW_PUT] = {{put_4, put_8, put_16, put_32, put_64}},
      [FEW_ADD] = {{NULL, add_f32_8, add_f32_16, add_f32_32, add_f32_64, join_f32_rows},
                   {NULL, add_u32_8, add_u32_16, add_u32_32, add_u32_64, join_s32_rows},
                   {add_bf16_4, add_bf16_8, add_bf16_16, add_bf16_32, NULL, sum_bf16_rows}},
      [FEW_MAX] = {{[2] = max_f32_row_16, max_f32_row_32, max_f32_row_64, max_f32_rows},
                   {[EXACT] = max_s32_rows},
                   {[EXACT] = max_bf16_rows}},
      [FEW_MIN] = {{[2] = min_f32_row_16, min_f32_row_32, min_f32_row_64, min_f32_rows},
                   {[EXACT] = min_s32_rows},
                   {[EXACT] = min_bf16_rows}},
  };
  static few_rows_fn *const ends[][4] = {
      [FEW_TAKE] = {take_ends_4, take_ends_8, take_ends_16, take_ends_32},
      [FEW_PUT] = {put_ends_4, put_ends_8, put_ends_16, put_ends_32},
  };
  static few_rows_fn *const wide[][2] = {[FEW_ADD] = {join_f32_wide_16, join_f32_wide_32},
                                         [FEW_MAX] = {max_f32_wide_16, max_f32_wide_32},
                                         [FEW_MIN] = {min_f32_wide_16, min_f32_wide_32}};
  bool moves = how <= FEW_PUT, words = t == DTYPE_s32 || (t == DTYPE_u32 && how == FEW_ADD);
  if (!moves && !words && t != DTYPE_f32 && t != DTYPE_bf16) return NULL;
  few_rows_fn *const *by = of[how][moves || t == DTYPE_f32 ? FLOATS : words ? WORDS : HALVES];
  for (u32 i = 0; i < EXACT; i++)
    if (bytes == 4u << i && by[i]) return by[i];
  if (how == FEW_TAKE && (bytes == 3 || bytes == 12)) /* pixels of three channels */
    return bytes == 3 ? take_3 : take_12;
  if (!moves && t == DTYPE_f32 && bytes > 8 && bytes < 32) return wide[how][bytes > 16];
  for (u32 i = 0; moves && i < COUNT(ends[0]); i++)
    if (bytes > 4u << i && bytes < 8u << i) return ends[how][i];
  return bytes <= MOST ? by[EXACT] : NULL;
}
