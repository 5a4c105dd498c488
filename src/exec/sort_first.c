#include "exec/sort_first.h"

enum { LANES = 4, STEP = 16, VECTORS = STEP / LANES };
typedef i32 lanes __attribute__((vector_size(4 * LANES), aligned(4), may_alias));

static lanes pick(lanes mask, lanes x, lanes y) { return (x & mask) | (y & ~mask); }

/* From numbers to signed words. */
typedef struct signed_turn {
  i32 fold, turn;
} signed_turn;
static inline i32 make_word(signed_turn t, const char *from) {
  i32 x;
  memcpy(&x, from, 4);
  return (x ^ ((x >> 31) & t.fold)) ^ t.turn;
}
static signed_turn turn_of(const word_turn *t) {
  return (signed_turn){(i32)(u32)t->fold, (i32)(u32)(t->turn ^ t->flip) ^ INT32_MIN};
}
/* The last step is filled with what comes behind everything. */
static size_t make_words(signed_turn t, const char *from, size_t n, i32 *words) {
  size_t whole = n / LANES * LANES, end = align_up(n, STEP);
  for (size_t i = 0; i < whole; i += LANES) {
    lanes x = *(const lanes *)(from + 4 * i);
    *(lanes *)(words + i) = (x ^ ((x >> 31) & t.fold)) ^ t.turn;
  }
  for (size_t i = whole; i < n; i++) words[i] = make_word(t, from + 4 * i);
  for (size_t i = n; i < end; i++) words[i] = INT32_MAX;
  return end;
}

/* No less than the keep-th: that of the least of every sixteenth. */
static i32 bound(const i32 *words, size_t n, size_t keep) {
  lanes least[VECTORS], rank[VECTORS] = {{0}};
#pragma GCC unroll 4
  for (size_t k = 0; k < VECTORS; k++) least[k] = *(const lanes *)(words + k * LANES);
  for (size_t i = STEP; i < n; i += STEP) {
#pragma GCC unroll 4
    for (size_t k = 0; k < VECTORS; k++) {
      lanes x = *(const lanes *)(words + i + k * LANES);
      least[k] = pick(x < least[k], x, least[k]);
    }
  }
  i32 most = INT32_MIN;
#pragma GCC unroll 16
  for (size_t k = 0; k < STEP; k++)
#pragma GCC unroll 4
    for (size_t j = 0; j < VECTORS; j++) rank[j] -= least[k / LANES][k % LANES] < least[j];
  for (size_t k = 0; k < STEP; k++) {
    i32 x = least[k / LANES][k % LANES];
    if (rank[k / LANES][k % LANES] < (i32)keep && x > most) most = x;
  }
  return most;
}

static u64 key_of(i32 word, size_t at) { return (u64)((u32)word ^ 0x80000000u) << 32 | at; }

static inline __attribute__((always_inline)) void insert(u64 *held, size_t keep, u64 key) {
#pragma GCC unroll 8
  for (size_t k = 0; k < keep; k++) { /* nobody could foresee where it goes */
    u64 less = key < held[k] ? key : held[k];
    key = key < held[k] ? held[k] : key;
    held[k] = less;
  }
}

/* Few of a short line, held in their order. */
static inline __attribute__((always_inline)) void select_short(signed_turn t, const char *from,
                                                               size_t n, size_t keep, u32 *perm) {
  i32 keys[SORT_SHORT_KEEP];
  for (size_t i = 0, held = 0; i < n; i++) {
    i32 x = make_word(t, from + 4 * i);
    if (held == keep && x >= keys[keep - 1]) continue;
    size_t k = held < keep ? held++ : keep - 1;
    for (; k > 0 && keys[k - 1] > x; k--) keys[k] = keys[k - 1], perm[k] = perm[k - 1];
    keys[k] = x, perm[k] = (u32)i;
  }
}
void sort_short(const word_turn *t, const char *from, size_t n, size_t keep, u32 *perm) {
  select_short(turn_of(t), from, n, keep, perm);
}

static inline __attribute__((always_inline)) void take(const i32 *words, size_t n, size_t begin,
                                                       size_t keep, u64 *held) {
  u64 h[SORT_FIRST_MOST];
  for (size_t k = 0; k < keep; k++) h[k] = held[k];
  for (size_t i = 0; i < n; i += STEP) {
    i32 last = (i32)((u32)(h[keep - 1] >> 32) ^ 0x80000000u);
    lanes any = {0};
#pragma GCC unroll 4
    for (size_t k = 0; k < VECTORS; k++) any |= *(const lanes *)(words + i + k * LANES) <= last;
    if (!(any[0] | any[1] | any[2] | any[3])) continue;
    for (size_t k = i; k < i + STEP; k++)
      if (words[k] <= last) insert(h, keep, key_of(words[k], begin + k));
  }
  for (size_t k = 0; k < keep; k++) held[k] = h[k];
}

void sort_first(const word_turn *t, const char *from, size_t n, size_t begin, size_t keep,
                i32 *words, u64 held[SORT_FIRST_MOST]) {
  size_t end = make_words(turn_of(t), from, n, words);
  if (begin == 0 && n >= STEP) held[keep - 1] = key_of(bound(words, end, keep), UINT32_MAX);
  if (keep == 1)
    take(words, end, begin, 1, held);
  else if (keep == 2)
    take(words, end, begin, 2, held);
  else if (keep <= 4)
    take(words, end, begin, 4, held);
  else
    take(words, end, begin, 8, held);
}
