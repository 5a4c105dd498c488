/* Transposes by squares of vectors: every line that is read or written is so whole, at once. Built
 * once per instruction set and width (KERNELS_ISA, REAL_BITS); numbers are only moved. */
#include "exec/transpose_kernel.h"

#include "exec/lanes.h"

/* Rows of the result that are written side by side, from those of a line that are read. */
enum { BAND = 64, WIDTH = REAL_BITS / 8, LINE = 64 / WIDTH };

INLINE void square(char *to, i64 ts, const char *from, i64 fs, bool streams) {
  vec x[LANES];
  for (u32 j = 0; j < LANES; j++) x[j] = load_vec((const REAL *)(const void *)(from + j * fs));
  transpose_vecs(x);
  for (u32 i = 0; i < LANES; i++) {
    REAL *line = (REAL *)(void *)(to + i * ts);
    if (streams)
      stream_vec(line, x[i]);
    else
      store_vec(line, x[i]);
  }
}

/* As many as have places of their own in a first-level cache, where they are a power of two apart:
 * stores past the caches need none. */
INLINE size_t band_of(i64 ts) {
  enum { SETS = 1 << 12, ROOM = 1 << 15 };
  i64 apart = (ts | SETS) & -(ts | SETS), rows = ROOM / apart;
  return rows > BAND ? BAND : rows < LINE ? LINE : (size_t)rows;
}

/* Of lines that are longer than a vector, as many: read whole, and whole again when they are
 * written, which then need not be fetched first. */
static ONE_COPY void block(char *to, i64 ts, const char *from, i64 fs, bool streams) {
  _Alignas(64) REAL lines[LINE * LINE];
  for (u32 j = 0; j < LINE; j += LANES)
    for (u32 i = 0; i < LINE; i += LANES)
      square((char *)(lines + i * LINE + j), LINE * WIDTH, from + j * fs + i * WIDTH, fs, false);
  for (u32 i = 0; i < LINE; i++)
    for (u32 j = 0; j < LINE; j += LANES) {
      REAL *line = (REAL *)(void *)(to + i * ts) + j;
      if (streams)
        stream_vec(line, load_vec(lines + i * LINE + j));
      else
        store_vec(line, load_vec(lines + i * LINE + j));
    }
}

/* Of whole squares. */
INLINE void bands(size_t rows, size_t columns, char *to, i64 ts, const char *from, i64 fs,
                  bool streams) {
  size_t high = streams ? BAND : band_of(ts);
  for (size_t band = 0; band < rows; band += high) {
    size_t end = rows - band < high ? rows : band + high;
    for (size_t j = 0, step; j < columns; j += step) {
      step = LINE > LANES && columns - j >= LINE ? LINE : LANES;
      for (size_t i = band, n; i < end; i += n) {
        n = step == LINE && end - i >= LINE ? LINE : LANES;
        char *d = to + (i64)i * ts + (i64)(j * WIDTH);
        const char *a = from + (i64)j * fs + (i64)(i * WIDTH);
        if (LINE > LANES && n == LINE)
          block(d, ts, a, fs, streams);
        else
          for (size_t at = 0; at < step; at += LANES)
            square(d + at * WIDTH, ts, a + (i64)at * fs, fs, streams);
      }
    }
  }
}

/* A few rows or columns, as of the channels of pixels: compilers make vectors of these where the n
 * of them lie side by side, in steps of n. */
INLINE void few_columns(i64 rows, i64 n, REAL *restrict to, i64 step, const REAL *restrict from,
                        i64 apart) {
  for (i64 i = 0; i < rows; i++)
    for (i64 j = 0; j < n; j++) to[i * step + j] = from[j * apart + i];
}
INLINE void few_rows(i64 columns, i64 n, REAL *restrict to, i64 apart, const REAL *restrict from,
                     i64 step) {
  for (i64 j = 0; j < columns; j++)
    for (i64 i = 0; i < n; i++) to[i * apart + j] = from[j * step + i];
}
#define EACH_FEW(DO) DO(1) DO(2) DO(3) DO(4)
#define FEW(n)                                                                                     \
  static void columns_##n(i64 rows, REAL *to, i64 step, const REAL *from, i64 apart) {             \
    if (step == n)                                                                                 \
      few_columns(rows, n, to, n, from, apart);                                                    \
    else                                                                                           \
      few_columns(rows, n, to, step, from, apart);                                                 \
  }                                                                                                \
  static void rows_##n(i64 columns, REAL *to, i64 apart, const REAL *from, i64 step) {             \
    if (step == n)                                                                                 \
      few_rows(columns, n, to, apart, from, n);                                                    \
    else                                                                                           \
      few_rows(columns, n, to, apart, from, step);                                                 \
  }
EACH_FEW(FEW)
#define COLUMNS(n) columns_##n,
#define ROWS(n) rows_##n,
typedef void few_fn(i64 many, REAL *to, i64 to_step, const REAL *from, i64 from_step);
static few_fn *const by_columns[] = {EACH_FEW(COLUMNS)};
static few_fn *const by_rows[] = {EACH_FEW(ROWS)};

/* Between n columns of their own and rows of n that lie one behind the other, n vectors at a time:
 * as often as halving takes, every second element of two vectors and the others part, or meet. */
#define PARTED(n)                                                                                  \
  INLINE size_t parted_##n(size_t rows, char *to, i64 ts, const REAL *from) {                      \
    size_t j = 0;                                                                                  \
    for (; j + LANES <= rows; j += LANES, from += (n)*LANES) {                                     \
      vec x[n];                                                                                    \
      for (u32 i = 0; i < (n); i++) x[i] = load_vec(from + i * LANES);                             \
      for (u32 round = 1; round < (n); round *= 2) {                                               \
        vec y[n];                                                                                  \
        for (u32 i = 0; i < (n) / 2; i++) {                                                        \
          y[i] = PICK(x[2 * i], x[2 * i + 1], EVEN);                                               \
          y[i + (n) / 2] = PICK(x[2 * i], x[2 * i + 1], ODD);                                      \
        }                                                                                          \
        for (u32 i = 0; i < (n); i++) x[i] = y[i];                                                 \
      }                                                                                            \
      for (u32 i = 0; i < (n); i++) store_vec((REAL *)(void *)(to + i * ts) + j, x[i]);            \
    }                                                                                              \
    return j;                                                                                      \
  }                                                                                                \
  INLINE size_t joined_##n(size_t rows, REAL *to, const char *from, i64 fs) {                      \
    size_t j = 0;                                                                                  \
    for (; j + LANES <= rows; j += LANES, to += (n)*LANES) {                                       \
      vec x[n];                                                                                    \
      for (u32 i = 0; i < (n); i++)                                                                \
        x[i] = load_vec((const REAL *)(const void *)(from + i * fs) + j);                          \
      for (u32 round = 1; round < (n); round *= 2) {                                               \
        vec y[n];                                                                                  \
        for (u32 i = 0; i < (n) / 2; i++) {                                                        \
          y[2 * i] = PICK(x[i], x[i + (n) / 2], LOWER);                                            \
          y[2 * i + 1] = PICK(x[i], x[i + (n) / 2], UPPER);                                        \
        }                                                                                          \
        for (u32 i = 0; i < (n); i++) x[i] = y[i];                                                 \
      }                                                                                            \
      for (u32 i = 0; i < (n); i++) store_vec(to + i * LANES, x[i]);                               \
    }                                                                                              \
    return j;                                                                                      \
  }
PARTED(4)
PARTED(8)
/* How many rows of so few elements are done so. */
static size_t part_rows(size_t rows, size_t n, char *to, i64 ts, const char *from, i64 fs) {
  const REAL *a = (const REAL *)(const void *)from;
  if (LANES < 8 || fs != (i64)(n * WIDTH)) return 0;
  return n == 4 ? parted_4(rows, to, ts, a) : n == 8 ? parted_8(rows, to, ts, a) : 0;
}
static size_t join_rows(size_t rows, size_t n, char *to, i64 ts, const char *from, i64 fs) {
  REAL *d = (REAL *)(void *)to;
  if (LANES < 8 || ts != (i64)(n * WIDTH)) return 0;
  return n == 4 ? joined_4(rows, d, from, fs) : n == 8 ? joined_8(rows, d, from, fs) : 0;
}

/* Five rows and more, but less than a square has: of columns that lie apart squares are read with
 * what is behind each, and of such a square only those are written; or where that many columns of
 * the result lie one behind the other, what is written behind each is written over by the next. How
 * many columns, or rows, are done. */
static size_t part_of_squares(size_t rows, size_t columns, char *to, i64 ts, const char *from,
                              i64 fs) {
  bool parts = rows < columns;
  size_t few = parts ? rows : columns, many = parts ? columns : rows, j = 0;
  i64 row = (i64)(few * WIDTH);
  if (LANES != 8 || few < 5 || few >= LANES || (parts ? fs < row : ts != row)) return 0;
  for (; j + LANES < many; j += LANES) {
    vec x[LANES] = {{0}};
    const char *a = from + (parts ? (i64)j * fs : (i64)j * WIDTH);
    char *d = to + (parts ? (i64)j * WIDTH : (i64)j * ts);
    for (u32 i = 0; i < LANES; i++)
      if (parts || i < few) x[i] = load_vec((const REAL *)(const void *)(a + i * fs));
    transpose_vecs(x);
    for (u32 i = 0; i < LANES; i++)
      if (!parts || i < few) store_vec((REAL *)(void *)(d + i * ts), x[i]);
  }
  return j;
}

/* What is left of squares at the edges goes to the next shorter vectors. */
#if REAL_BITS == 32
#define OF_WIDTH(isa) transpose_##isa##_f32.transpose
#else
#define OF_WIDTH(isa) transpose_##isa##_f64.transpose
#endif
#if LANE_BYTES == 64
#define SHORTER OF_WIDTH(v3)
#else
#define SHORTER OF_WIDTH(base)
#endif

static void transpose(size_t rows, size_t columns, char *to, i64 ts, const char *from, i64 fs,
                      bool streams) {
  enum { FEW = COUNT(by_rows) };
  size_t parted = part_rows(columns, rows, to, ts, from, fs);
  to += parted * WIDTH, from += (i64)parted * fs, columns -= parted;
  size_t joined = join_rows(rows, columns, to, ts, from, fs);
  to += (i64)joined * ts, from += joined * WIDTH, rows -= joined;
  REAL *d = (REAL *)(void *)to;
  const REAL *a = (const REAL *)(const void *)from;
  if (rows == 0 || columns == 0) return;
  if (columns <= FEW) {
    by_columns[columns - 1]((i64)rows, d, ts / WIDTH, a, fs / WIDTH);
    return;
  }
  if (rows <= FEW) {
    by_rows[rows - 1]((i64)columns, d, ts / WIDTH, a, fs / WIDTH);
    return;
  }
  size_t some = part_of_squares(rows, columns, to, ts, from, fs);
  if (some) {
    bool parts = rows < columns;
    transpose(parts ? rows : rows - some, parts ? columns - some : columns,
              to + (parts ? (i64)some * WIDTH : (i64)some * ts), ts,
              from + (parts ? (i64)some * fs : (i64)some * WIDTH), fs, false);
    return;
  }
  size_t r = rows - rows % LANES, c = columns - columns % LANES;
  if (streams && (uintptr_t)to % LANE_BYTES == 0 && ts % LANE_BYTES == 0) {
    bands(r, c, to, ts, from, fs, true);
    lanes_fence();
  } else {
    bands(r, c, to, ts, from, fs, false);
  }
  SHORTER(rows, columns - c, to + (i64)(c * WIDTH), ts, from + (i64)c * fs, fs, false);
  SHORTER(rows - r, c, to + (i64)r * ts, ts, from + (i64)(r * WIDTH), fs, false);
}

/* Vectors of a vector's elements, each for a row of n: lane i of vector v has element (v * LANES +
 * i) / n. */
#if LANES == 16
#define WHERE(n, v) LINE_OF(n, 16 * (v)), LINE_OF(n, 16 * (v) + 8)
#else
#define WHERE(n, v) LINE_OF(n, 8 * (v))
#endif
#define LINE_OF(n, i)                                                                              \
  (i) / (n), ((i) + 1) / (n), ((i) + 2) / (n), ((i) + 3) / (n), ((i) + 4) / (n), ((i) + 5) / (n),  \
      ((i) + 6) / (n), ((i) + 7) / (n)
#define PUT(n, v) store_vec(d + (v)*LANES, PICK(x, x, WHERE(n, v)));
#define PUT_3(n) PUT(n, 0) PUT(n, 1) PUT(n, 2)
#define PUT_5(n) PUT_3(n) PUT(n, 3) PUT(n, 4)
#define PUT_6(n) PUT_5(n) PUT(n, 5)
#define PUT_7(n) PUT_6(n) PUT(n, 6)
#define SPREAD(n)                                                                                  \
  INLINE size_t spread_##n(size_t rows, REAL *d, const REAL *a) {                                  \
    size_t i = 0;                                                                                  \
    for (; i + LANES <= rows; i += LANES, d += (n)*LANES) {                                        \
      vec x = load_vec(a + i);                                                                     \
      PUT_##n(n)                                                                                   \
    }                                                                                              \
    return i;                                                                                      \
  }
#if LANES >= 8 && REAL_BITS == 32
SPREAD(3)
SPREAD(5)
SPREAD(6)
SPREAD(7)
static size_t spread(size_t rows, size_t n, char *to, const char *from) {
  REAL *d = (REAL *)(void *)to;
  const REAL *a = (const REAL *)(const void *)from;
  return n == 3   ? spread_3(rows, d, a)
         : n == 5 ? spread_5(rows, d, a)
         : n == 6 ? spread_6(rows, d, a)
         : n == 7 ? spread_7(rows, d, a)
                  : 0;
}
#else
#define spread NULL
#endif

const transpose_kernels FOR_LANES(transpose_) = {transpose, spread};
