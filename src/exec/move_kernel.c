/* Built once per instruction set (KERNELS_ISA); bytes are only moved. */
#include "exec/move_kernel.h"

#define REAL_BITS 32
#include "exec/lanes.h"

/* ---- rows ---- */

typedef REAL line __attribute__((vector_size(LANE_BYTES), aligned(1), may_alias));

INLINE vec get(const char *p) { return *(const line *)p; }
INLINE void put(char *p, vec x, bool past) {
  if (past)
    stream_vec((REAL *)(void *)p, x);
  else
    *(line *)p = x;
}

/* From byte i on, of LANE_BYTES and more, past the caches or not: the last vector may move again
 * what the one before it did. */
INLINE void move_row(char *to, const char *from, size_t i, size_t n, bool past) {
  for (; i + 4 * LANE_BYTES <= n; i += 4 * LANE_BYTES) {
    vec a = get(from + i), b = get(from + i + LANE_BYTES);
    vec c = get(from + i + 2 * LANE_BYTES), d = get(from + i + 3 * LANE_BYTES);
    put(to + i, a, past), put(to + i + LANE_BYTES, b, past);
    put(to + i + 2 * LANE_BYTES, c, past), put(to + i + 3 * LANE_BYTES, d, past);
  }
  for (; i + LANE_BYTES <= n; i += LANE_BYTES) put(to + i, get(from + i), past);
  if (i < n) put(to + n - LANE_BYTES, get(from + n - LANE_BYTES), false);
}
INLINE void long_row(char *to, const char *from, size_t n) { move_row(to, from, 0, n, false); }
INLINE void aligned_row(char *to, const char *from, size_t n, bool past) {
  size_t head = -(uintptr_t)to % LANE_BYTES;
  if (n < head + LANE_BYTES) {
    memcpy(to, from, n);
    return;
  }
  if (head) put(to, get(from), false); /* what is of it beyond the head comes again */
  move_row(to, from, head, n, past);
}

/* Each from `fs` behind the one before, or (at not NULL) from where it is. */
#define EACH_ROW(...)                                                                              \
  for (size_t i = 0; i < rows; i++, to += ts) {                                                    \
    const char *row = at ? at[i] : from + (i64)i * fs;                                             \
    __VA_ARGS__                                                                                    \
  }
/* Of `half` to twice that many bytes: its first and its last ones. */
#define SHORT_ROWS(half)                                                                           \
  EACH_ROW({                                                                                       \
    char a[half], b[half];                                                                         \
    memcpy(a, row, half), memcpy(b, row + n - (half), half);                                       \
    memcpy(to, a, half), memcpy(to + n - (half), b, half);                                         \
  })

INLINE void move_rows(size_t rows, size_t n, char *to, i64 ts, const char *from, i64 fs,
                      char *const *at, bool streams) {
  enum { LONG = 1 << 12 };
  /* The ends of a row that is no whole lines stay in the caches, and so do the lines beside them:
   * what goes past the caches there waits for each. */
  bool whole = (((uintptr_t)to | (uintptr_t)ts | n) & (LANE_BYTES - 1)) == 0;
  if (streams && n >= 2 * LANE_BYTES && (whole || n >= LONG)) {
    EACH_ROW(aligned_row(to, row, n, true);)
  } else if (n >= LONG) {
    /* Not memcpy: some processors' rep movsb takes sixteen times as long where `to` lies a few
     * bytes behind `from` in its page, as what is padded or concatenated does. */
    EACH_ROW(aligned_row(to, row, n, false);)
  } else if (n > 2 * LANE_BYTES) {
    EACH_ROW(long_row(to, row, n);)
  } else if (n >= LANE_BYTES) {
    EACH_ROW({
      vec a = get(row), b = get(row + n - LANE_BYTES);
      put(to, a, false), put(to + n - LANE_BYTES, b, false);
    })
  } else if (n >= 32) {
    SHORT_ROWS(32)
  } else if (n >= 16) {
    SHORT_ROWS(16)
  } else if (n >= 8) {
    SHORT_ROWS(8)
  } else if (n >= 4) {
    SHORT_ROWS(4)
  } else if (n >= 2) {
    SHORT_ROWS(2)
  } else if (n) {
    EACH_ROW(*to = *row;)
  }
}

static void copy_rows(size_t rows, size_t n, char *to, i64 ts, const char *from, i64 fs,
                      bool streams) {
  move_rows(rows, n, to, ts, from, fs, NULL, streams);
}

static void pick_rows(size_t rows, size_t n, char *to, i64 ts, char *const *at) {
  move_rows(rows, n, to, ts, NULL, 0, at, false);
}

/* ---- single elements ---- */

/* BLOCK elements whose indices are inside: those of a register or a vector at once, as processors
 * wait for what is read no longer than they have room for what is written. */
#define TAKE_BLOCK(I, UI, T)                                                                       \
  INLINE void block_##I##_##T(T *out, const T *in, const I *at) {                                  \
    for (size_t k = 0; k < BLOCK; k += 8 / sizeof(T)) {                                            \
      u64 x = in[(UI)at[k]];                                                                       \
      for (size_t i = 1; i < 8 / sizeof(T); i++)                                                   \
        x |= (u64)in[(UI)at[k + i]] << (8 * sizeof(T) * i % 64);                                   \
      memcpy(out + k, &x, 8); /* little endian */                                                  \
    }                                                                                              \
  }
/* Four are a vector: a quarter of the stores, and half of the loads of indices. */
typedef u32 four __attribute__((vector_size(16)));
#define TAKE_FOURS(I)                                                                              \
  INLINE void block_##I##_u32(u32 *out, const u32 *in, const I *at) {                              \
    for (size_t k = 0; k < BLOCK; k += 4) {                                                        \
      u64 a, b;                                                                                    \
      memcpy(&a, at + k, 8), memcpy(&b, at + k + 2, 8);                                            \
      four x = {in[(u32)a], in[a >> 32], in[(u32)b], in[b >> 32]};                                 \
      memcpy(out + k, &x, 16);                                                                     \
    }                                                                                              \
  }

/* Blocks are looked over in vectors: where all indices are inside, as nearly always, elements are
 * taken without another look; else they are wrapped, and looked over again. NULL: some are outside.
 */
#define INSIDE(I, UI)                                                                              \
  INLINE bool inside_##I(const I *at, I most) {                                                    \
    UI outside = 0;                                                                                \
    for (size_t k = 0; k < BLOCK; k++) outside |= (UI)at[k] > (UI)most;                            \
    return !outside;                                                                               \
  }                                                                                                \
  static __attribute__((noinline)) const I *places_##I(const I *at, I *wrapped, I most, i64 by) {  \
    if (inside_##I(at, most)) return at;                                                           \
    if (!by) return NULL;                                                                          \
    for (size_t k = 0; k < BLOCK; k++)                                                             \
      wrapped[k] = (I)((UI)at[k] + ((i64)at[k] < 0 ? (UI)by : 0));                                 \
    return inside_##I(wrapped, most) ? wrapped : NULL;                                             \
  }
#define TAKE(I, UI, MOST, T)                                                                       \
  static void take_##I##_##T(size_t n, void *to, const void *from, const void *at,                 \
                             const take_rule *r) {                                                 \
    I end = r->most > (i64)(MOST) ? MOST : (I)r->most, wrapped[BLOCK];                             \
    const T *in = from;                                                                            \
    for (size_t i = 0; i < n; i += BLOCK) {                                                        \
      const I *index = (const I *)at + i, *places = NULL;                                          \
      T *out = (T *)to + i;                                                                        \
      if (n - i >= BLOCK) places = places_##I(index, wrapped, end, r->wrap);                       \
      if (places) {                                                                                \
        block_##I##_##T(out, in, places);                                                          \
        continue;                                                                                  \
      }                                                                                            \
      for (size_t k = 0; k < BLOCK && i + k < n; k++) {                                            \
        i64 place = take_wrapped(r, (i64)index[k]), near = take_clamped(r, place);                 \
        memcpy(&out[k], near == place || !r->fill ? &in[near] : r->fill, sizeof(T));               \
      }                                                                                            \
    }                                                                                              \
  }
#define TAKES(I, UI, MOST)                                                                         \
  TAKE(I, UI, MOST, u8) TAKE(I, UI, MOST, u16) TAKE(I, UI, MOST, u32) TAKE(I, UI, MOST, u64)
#define BLOCKS(I, UI) TAKE_BLOCK(I, UI, u8) TAKE_BLOCK(I, UI, u16) TAKE_BLOCK(I, UI, u64)
enum { BLOCK = 64 };
INSIDE(i32, u32)
INSIDE(u32, u32)
INSIDE(i64, u64)
TAKE_FOURS(i32)
TAKE_FOURS(u32)
TAKE_BLOCK(i64, u64, u32)
BLOCKS(i32, u32)
BLOCKS(u32, u32)
BLOCKS(i64, u64)
TAKES(i32, u32, INT32_MAX)
TAKES(u32, u32, UINT32_MAX)
TAKES(i64, u64, INT64_MAX)

/* ---- places ---- */

INLINE void add_places(size_t n, i32 *places, const i32 *at, const place_rule *rule, i64 step) {
  i32 most = (i32)rule->most, stride = (i32)rule->stride, wrap = (i32)rule->wrap;
  i32 keep = rule->clamp ? 0 : INT32_MIN;
  for (i64 i = 0; i < (i64)n; i++) {
    i32 x = at[i * step], y = x < 0 ? x + wrap : x;
    i32 low = y < 0 ? 0 : y, near = low > most ? most : low;
    places[i] = (places[i] + near * stride) | (near == y ? 0 : keep);
  }
}
static const i32 *next_places(size_t n, i32 *places, const i32 *at, const place_rule *rule,
                              bool alone) {
  u32 most = (u32)rule->most, outside = 0;
  if (alone && rule->stride == 1 && rule->step == 1) {
    for (size_t i = 0; i < n; i++) outside |= (u32)at[i] > most;
    if (!outside) return at;
  }
  if (alone) memset(places, 0, n * sizeof *places);
  if (rule->step == 1) /* compilers make vectors of it */
    add_places(n, places, at, rule, 1);
  else
    add_places(n, places, at, rule, rule->step);
  return places;
}

/* ---- bytes and words across ---- */

#if LANE_BYTES == 64 /* which no vectors of these are */
static void across_bytes(size_t rows, size_t columns, char *to, i64 ts, const char *from, i64 fs,
                         bool streams) {
  move_v3.bytes(rows, columns, to, ts, from, fs, streams);
}
static void across_words(size_t rows, size_t columns, char *to, i64 ts, const char *from, i64 fs,
                         bool streams) {
  move_v3.words(rows, columns, to, ts, from, fs, streams);
}
#else
enum { SQUARE = 16 };
typedef u16 words __attribute__((vector_size(2 * SQUARE), aligned(2), may_alias));

/* As transpose_vecs of lanes.h does it. */
static __attribute__((noinline)) void word_square(char *to, i64 ts, const char *from, i64 fs) {
  words x[SQUARE], y[SQUARE];
  for (i64 j = 0; j < SQUARE; j++) x[j] = *(const words *)(from + j * fs);
  for (u32 round = 1; round < SQUARE; round *= 2) {
    for (u32 i = 0; i < SQUARE / 2; i++) {
      y[2 * i] = PICK(x[i], x[i + 8], 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
      y[2 * i + 1] =
          PICK(x[i], x[i + 8], 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
    }
    for (u32 i = 0; i < SQUARE; i++) x[i] = y[i];
  }
  for (i64 i = 0; i < SQUARE; i++) *(words *)(to + i * ts) = x[i];
}
INLINE void word_edge(size_t rows, size_t columns, char *to, i64 ts, const char *from, i64 fs) {
  for (i64 r = 0; r < (i64)rows; r++)
    for (i64 c = 0; c < (i64)columns; c++) memcpy(to + r * ts + 2 * c, from + c * fs + 2 * r, 2);
}
static void transpose_words(size_t rows, size_t columns, char *to, i64 ts, const char *from,
                            i64 fs) {
  for (size_t j = 0; j < columns; j += SQUARE)
    for (size_t i = 0; i < rows; i += SQUARE) {
      size_t r = rows - i < SQUARE ? rows - i : SQUARE,
             c = columns - j < SQUARE ? columns - j : SQUARE;
      char *d = to + (i64)i * ts + (i64)(2 * j);
      const char *a = from + (i64)j * fs + (i64)(2 * i);
      if (r == SQUARE && c == SQUARE)
        word_square(d, ts, a, fs);
      else
        word_edge(r, c, d, ts, a, fs);
    }
}

/* ---- bytes across ---- */

typedef u8 bytes_16 __attribute__((vector_size(16)));
typedef u64 words_2 __attribute__((vector_size(16)));
#define MEET(x, y, at)                                                                             \
  __builtin_shufflevector(x, y, at, at + 16, at + 1, at + 17, at + 2, at + 18, at + 3, at + 19,    \
                          at + 4, at + 20, at + 5, at + 21, at + 6, at + 22, at + 7, at + 23)

/* Up to 8 rows of 16 columns, of which all 8 may be read: the bytes of column i and i + 8 meet, and
 * so on as often as halving takes. */
static void byte_block(size_t rows, char *to, i64 ts, const char *from, i64 fs) {
  bytes_16 x[8], y[8];
  for (u32 i = 0; i < 8; i++) {
    u64 a[2] = {0}, b[2] = {0};
    memcpy(a, from + i * fs, 8);
    memcpy(b, from + (i + 8) * fs, 8);
    x[i] = MEET((bytes_16)(words_2){a[0]}, (bytes_16)(words_2){b[0]}, 0);
  }
  for (u32 round = 0; round < 3; round++) {
    for (u32 i = 0; i < 4; i++) {
      y[2 * i] = MEET(x[i], x[i + 4], 0);
      y[2 * i + 1] = MEET(x[i], x[i + 4], 8);
    }
    memcpy(x, y, sizeof x);
  }
  for (size_t i = 0; i < rows; i++) memcpy(to + (i64)i * ts, &x[i], 16);
}

static void transpose_bytes(size_t rows, size_t columns, char *to, i64 ts, const char *from,
                            i64 fs) {
  enum { HIGH = 8, WIDE = 16 };
  for (size_t j = 0; j < columns; j += WIDE)
    for (size_t i = 0; i < rows; i += HIGH) {
      size_t r = rows - i < HIGH ? rows - i : HIGH, c = columns - j < WIDE ? columns - j : WIDE;
      char *d = to + (i64)i * ts + (i64)j;
      const char *a = from + (i64)j * fs + (i64)i;
      i64 behind = (i64)(rows - i) + (fs > 0 ? (i64)(columns - j - c) * fs : 0);
      if (c == WIDE && behind >= HIGH) {
        byte_block(r, d, ts, a, fs);
        continue;
      }
      for (size_t k = 0; k < r; k++)
        for (size_t m = 0; m < c; m++) d[(i64)k * ts + (i64)m] = a[(i64)m * fs + (i64)k];
    }
}

/* ---- few rows, or few columns ---- */

#define ACROSS(name, width)                                                                        \
  static void across_##name(size_t rows, size_t columns, char *to, i64 ts, const char *from,       \
                            i64 fs, bool streams) {                                                \
    i64 done = LANE_BYTES < 32 ? 0 : (i64)few_across(rows, columns, width, to, ts, from, fs);      \
    (void)streams;                                                                                 \
    if (rows < columns)                                                                            \
      transpose_##name(rows, columns - (size_t)done, to + done * (width), ts, from + done * fs,    \
                       fs);                                                                        \
    else                                                                                           \
      transpose_##name(rows - (size_t)done, columns, to + done * ts, ts, from + done * (width),    \
                       fs);                                                                        \
  }
ACROSS(bytes, 1)
ACROSS(words, 2)
#endif

#define TAKES_OF(I)                                                                                \
  { take_##I##_u8, take_##I##_u16, take_##I##_u32, take_##I##_u64 }
const move_kernels PASTE(move_, KERNELS_ISA) = {
    copy_rows,    pick_rows,    {TAKES_OF(i32), TAKES_OF(u32), TAKES_OF(i64)},
    across_bytes, across_words, next_places};
