/* A few sorted runs, such as those that other devices have sorted, are merged; all else goes by
 * radix. Both widths are made of one code. */
#include "exec/sort_words.h"

#define FOR_WIDTH static inline __attribute__((always_inline))

enum { MOST_RUNS = 16, FEW = 48 };

FOR_WIDTH u64 get(const void *p, size_t i, u32 width) {
  return width == 4 ? ((const u32 *)p)[i] : ((const u64 *)p)[i];
}
FOR_WIDTH void put(void *p, size_t i, u64 word, u32 width) {
  if (width == 4)
    ((u32 *)p)[i] = (u32)word;
  else
    ((u64 *)p)[i] = word;
}

/* from[x .. mid) and from[mid .. end), from both ends at once: neither waits for the other. */
FOR_WIDTH void merge_two(const void *from, void *to, size_t x, size_t mid, size_t end, u32 width) {
  size_t y = mid, first = x, x_end = mid, y_end = end, last = end;
  while (x_end - x > 1 && y_end - y > 1) {
    u64 a = get(from, x, width), b = get(from, y, width), second = b < a;
    u64 c = get(from, x_end - 1, width), d = get(from, y_end - 1, width), later = d >= c;
    put(to, first++, second ? b : a, width);
    put(to, --last, later ? d : c, width);
    x += !second, y += second;
    x_end -= !later, y_end -= later;
  }
  for (; x < x_end && y < y_end; first++) {
    u64 a = get(from, x, width), b = get(from, y, width), second = b < a;
    put(to, first, second ? b : a, width);
    x += !second, y += second;
  }
  for (; x < x_end; first++) put(to, first, get(from, x++, width), width);
  for (; y < y_end; first++) put(to, first, get(from, y++, width), width);
}

/* NULL: there are more than a few. */
FOR_WIDTH void *merge_runs(void *words, void *spare, size_t n, u32 width) {
  size_t begin[MOST_RUNS + 1] = {0}, runs = 1;
  for (size_t i = 1; i < n; i++) {
    if (get(words, i - 1, width) <= get(words, i, width)) continue;
    if (runs == MOST_RUNS) return NULL;
    begin[runs++] = i;
  }
  begin[runs] = n;
  while (runs > 1) {
    size_t left = 0;
    for (size_t i = 0; i < runs; i += 2) {
      size_t mid = begin[i + 1], end = i + 1 < runs ? begin[i + 2] : mid;
      merge_two(words, spare, begin[i], mid, end, width);
      begin[left++] = begin[i];
    }
    begin[runs = left] = n;
    void *t = words;
    words = spare, spare = t;
  }
  return words;
}

enum { SHORT_DIGIT = 8, LONG_DIGIT = 11, FROM_LONG = 1 << 12, TO_LONG = 1 << 20 };

/* Least significant digit first; digits that are the same everywhere are passed over. */
FOR_WIDTH void *radix_sort(void *words, void *spare, size_t n, u32 width, u32 bits) {
  size_t at[64 / SHORT_DIGIT][1 << LONG_DIGIT];
  u32 digits = (8 * width + bits - 1) / bits, mask = (1u << bits) - 1;
  for (u32 d = 0; d < digits; d++) memset(at[d], 0, (mask + 1) * sizeof **at);
  for (size_t i = 0; i < n; i++) {
    u64 x = get(words, i, width);
    for (u32 d = 0; d < digits; d++) at[d][x >> bits * d & mask]++;
  }
  for (u32 d = 0; d < digits; d++) {
    size_t *to = at[d], sum = 0;
    if (to[get(words, 0, width) >> bits * d & mask] == n) continue;
    for (u32 k = 0; k <= mask; k++) {
      size_t count = to[k];
      to[k] = sum;
      sum += count;
    }
    for (size_t i = 0; i < n; i++) {
      u64 x = get(words, i, width);
      put(spare, to[x >> bits * d & mask]++, x, width);
    }
    void *t = words;
    words = spare, spare = t;
  }
  return words;
}

FOR_WIDTH void *insertion_sort(void *words, size_t n, u32 width) {
  for (size_t i = 1; i < n; i++) {
    u64 x = get(words, i, width);
    size_t j = i;
    for (; j > 0 && get(words, j - 1, width) > x; j--)
      put(words, j, get(words, j - 1, width), width);
    put(words, j, x, width);
  }
  return words;
}

FOR_WIDTH void *sort_as(void *words, void *spare, size_t n, u32 width) {
  if (n <= FEW) return insertion_sort(words, n, width);
  void *merged = merge_runs(words, spare, n, width);
  if (merged) return merged;
  bool longer = n >= FROM_LONG && n <= TO_LONG; /* as caches have room for where they go */
  return longer ? radix_sort(words, spare, n, width, LONG_DIGIT)
                : radix_sort(words, spare, n, width, SHORT_DIGIT);
}

void *sort_words(void *words, void *spare, size_t n, u32 width) {
  return width == 4 ? sort_as(words, spare, n, 4) : sort_as(words, spare, n, 8);
}

/* ---- numbers as words ---- */

typedef u32 lanes __attribute__((vector_size(16), aligned(4)));
typedef i32 signs __attribute__((vector_size(16), aligned(4)));

/* Both ways: x ^ flip ^ turn, and `fold` too of what is negative, which `sign` turns around as far
 * as it is turned already. */
static void turn_all(const word_turn *t, u64 sign, u32 width, const char *from, size_t n, char *to,
                     i64 step) {
  u64 flip = t->flip ^ t->turn;
  u32 flip4 = (u32)flip, sign4 = (u32)sign, fold4 = (u32)t->fold;
  size_t i = 0;
  for (; width == 4 && step == 4 && i + 4 <= n; i += 4) {
    lanes x;
    memcpy(&x, from + 4 * i, sizeof x);
    x ^= flip4 ^ ((lanes)((signs)(x ^ sign4) >> 31) & fold4);
    memcpy(to + 4 * i, &x, sizeof x);
  }
  for (; width == 4 && i < n; i++) {
    u32 x;
    memcpy(&x, from + 4 * i, 4);
    x ^= flip4 ^ ((u32)((i32)(x ^ sign4) >> 31) & fold4);
    memcpy(to + (i64)i * step, &x, 4);
  }
  for (; i < n; i++) {
    u64 x;
    memcpy(&x, from + 8 * i, 8);
    x ^= flip ^ ((u64)((i64)(x ^ sign) >> 63) & t->fold);
    memcpy(to + (i64)i * step, &x, 8);
  }
}

void sort_to_words(const word_turn *t, u32 width, const char *from, size_t n, void *words) {
  turn_all(t, 0, width, from, n, words, width);
}

void sort_from_words(const word_turn *t, u32 width, const void *words, size_t n, char *to,
                     i64 step) {
  turn_all(t, ~t->turn, width, words, n, to, step);
}
