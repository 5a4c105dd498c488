/* Vectors of 64 bytes, of which each quarter is made of up to four blocks of 16 (shuffle.h). */
#include "exec/shuffle.h"

#if defined(__AVX2__)
#include <immintrin.h>

#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 4")
#endif

static inline __m128i get(const void *p) { return _mm_loadu_si128((const __m128i *)p); }

/* Moves n <= 16 bytes. */
static inline void move_some(u8 *to, const u8 *from, u32 n) {
  if (n & 16) memcpy(to, from, 16);
  if (n & 8) memcpy(to, from, 8);
  to += n & 8, from += n & 8;
  if (n & 4) memcpy(to, from, 4);
  to += n & 4, from += n & 4;
  if (n & 2) memcpy(to, from, 2);
  if (n & 1) to[n & 2] = from[n & 2];
}

static __attribute__((noinline)) __m128i get_some(const char *p, u32 n) {
  u8 x[SHUFFLE_BLOCK] = {0};
  move_some(x, (const u8 *)p, n);
  return get(x);
}
/* Of how many tiles blocks may be read whole: what is behind them lies in the next one, but of the
 * last; or in the one before, but of the first, which is done before all others then. */
static size_t count_whole(u32 n, const shuffle_block *b, size_t times, bool *out_first) {
  bool last = false;
  *out_first = false;
  for (u32 w = 0; w < n; w++) {
    if (b[w].bytes == SHUFFLE_BLOCK) continue;
    if (b[w].step < SHUFFLE_BLOCK && b[w].step > -SHUFFLE_BLOCK) return 0;
    if (b[w].step < 0)
      *out_first = true;
    else
      last = true;
  }
  size_t some = last + (size_t)*out_first;
  return times > some ? times - some : 0;
}

typedef struct walk {
  const char *at[SHUFFLE_BLOCKS];
  char *to;
  i64 step;
} walk;

/* A quarter of so many tiles, with care; written: bytes. */
static __attribute__((noinline)) void some_tiles(u32 n, const shuffle_block *b, __m128i same,
                                                 u32 written, bool all, size_t times, walk *k) {
  for (; times-- > 0; k->to += k->step) {
    __m128i y = same;
    for (u32 w = 0; w < n; k->at[w] += b[w].step, w++)
      y ^= _mm_shuffle_epi8(all ? get(k->at[w]) : get_some(k->at[w], b[w].bytes), get(b[w].pick));
    move_some((u8 *)k->to, (const u8 *)&y, written);
  }
}
/* All 16 bytes of it. */
static inline __attribute__((always_inline)) void all_tiles(u32 n, const shuffle_block *b,
                                                            __m128i same, size_t times, walk *k) {
  i64 next[SHUFFLE_BLOCKS];
  __m128i pick[SHUFFLE_BLOCKS];
  walk x = *k;
  UNROLL for (u32 w = 0; w < n; w++) next[w] = b[w].step, pick[w] = get(b[w].pick);
  for (; times-- > 0; x.to += x.step) {
    __m128i y = same;
    UNROLL for (u32 w = 0; w < n; w++, x.at[w - 1] += next[w - 1]) y ^=
        _mm_shuffle_epi8(get(x.at[w]), pick[w]);
    _mm_storeu_si128((__m128i *)(void *)x.to, y);
  }
  *k = x;
}
static void middle_tiles(u32 n, const shuffle_block *b, __m128i same, size_t times, walk *k) {
  if (n == 1) all_tiles(1, b, same, times, k);
  if (n == 2) all_tiles(2, b, same, times, k);
  if (n == 3) all_tiles(3, b, same, times, k);
  if (n == 4) all_tiles(4, b, same, times, k);
}

void shuffle_blocks(const shuffle_vector *v, size_t times, char *to, i64 step,
                    const char *const *from) {
  const shuffle_block *b = v->all;
  u32 bytes = (u32)__builtin_popcountll(v->written);
  for (u32 at = 0, n; at < bytes; at += SHUFFLE_BLOCK, b += n) {
    u32 written = bytes - at < SHUFFLE_BLOCK ? bytes - at : SHUFFLE_BLOCK;
    n = v->blocks[at / SHUFFLE_BLOCK];
    __m128i same = get(v->constant + at);
    walk k = {.to = to + at, .step = step};
    for (u32 w = 0; w < n; w++) k.at[w] = from[b[w].of] + b[w].at;
    bool first;
    size_t middle = count_whole(n, b, times, &first), before = middle ? first : times;
    some_tiles(n, b, same, written, false, before, &k);
    if (written == SHUFFLE_BLOCK && n > 0)
      middle_tiles(n, b, same, middle, &k);
    else
      some_tiles(n, b, same, written, true, middle, &k);
    some_tiles(n, b, same, written, false, times - before - middle, &k);
  }
}
#endif
