/* Folds in 64 running values. Of a long block they are of its four quarters, read side by side: one
 * stream of memory is not as fast. Built once per instruction set and type (KERNELS_ISA,
 * REAL_BITS). */
#include "exec/fold_kernel.h"

#include <math.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "exec/fold_order.h"
#include "exec/lanes.h"

enum { WIDE = 16, STREAMS = 4, RUNNING = FOLD_RUNNING, PARTS = WIDE / LANES };
/* Rows of up to MOST_KNOWN vectors are folded by code for just that length; of up to UNROLLED, for
 * all rows of a square as well. Of narrower vectors there would be more code than it is worth. */
enum {
  MOST_KNOWN = REAL_BITS == 32 && LANE_BYTES > 16 ? 8
               : LANE_BYTES > 16                  ? 4
                                                  : 1,
  UNROLLED = LANES == 16 ? 3 : REAL_BITS == 32
};

#ifdef __clang__
#define UNROLL _Pragma("unroll")
#define UNROLL_ALL UNROLL
#define ROLLED _Pragma("nounroll")
#else
#define UNROLL _Pragma("GCC unroll 8")
#define UNROLL_ALL _Pragma("GCC unroll 16")
#define ROLLED _Pragma("GCC unroll 1")
#endif
#if REAL_BITS == 64
typedef i64 lane_bits;
#else
typedef i32 lane_bits;
#endif
typedef lane_bits bit_vec __attribute__((vector_size(LANE_BYTES)));

#define EACH_PART                                                                                  \
  UNROLL                                                                                           \
  for (u32 s = 0; s < STREAMS; s++) UNROLL                                                         \
  for (u32 p = 0; p < PARTS; p++)

/* Where n values are read in vectors: as long as `at` < end, WIDE values for each stream, `apart`
 * from each other. What is left over comes after them. */
typedef struct streams {
  size_t apart, step, end, done;
} streams;

static streams cut(size_t n) {
  size_t each = n / RUNNING * WIDE;
  if (n >= FOLD_LONG) return (streams){each, WIDE, each, STREAMS * each};
  return (streams){WIDE, RUNNING, STREAMS * each, STREAMS * each};
}

/* What a single stream of memory, RUNNING values, comes to a while later: it is a fifth faster. */
enum { AHEAD = 12 << 10, LINE = 64 };
INLINE void fetch_ahead(const streams *z, const REAL *a) {
  if (z->apart != WIDE) return;
  UNROLL
  for (size_t i = 0; i < RUNNING * sizeof *a; i += LINE)
    __builtin_prefetch((const char *)a + AHEAD + i);
}

/* The same for rows that are read in one go each; where they are short it does not pay. */
INLINE void fetch_row_ahead(const REAL *row, size_t n) {
  if (n * sizeof *row <= 2 * LINE || n > 2 * RUNNING) return;
  for (size_t i = 0; i < n * sizeof *row; i += LINE)
    __builtin_prefetch((const char *)row + AHEAD + i);
}

/* ---- sums ---- */

/* Each half added to the other. */
INLINE REAL sum_lanes(REAL *lane) {
  UNROLL
  for (u32 half = WIDE / 2; half > 0; half /= 2) UNROLL
  for (u32 i = 0; i < half; i++) lane[i] += lane[half + i];
  return lane[0];
}

/* The last values of rows, fewer than RUNNING, and `fill` behind them. */
#if defined(__AVX512F__) && REAL_BITS == 32
typedef u16 lane_mask;
#define LOAD_MASKED(fill, mask, p) (vec) _mm512_mask_loadu_ps((__m512)(fill), mask, p)
#elif defined(__AVX512F__)
typedef u8 lane_mask;
#define LOAD_MASKED(fill, mask, p) (vec) _mm512_mask_loadu_pd((__m512d)(fill), mask, p)
#elif defined(__AVX2__) && REAL_BITS == 32
typedef bit_vec lane_mask;
#define LOAD_MASKED(fill, mask, p)                                                                 \
  (vec) _mm256_blendv_ps((__m256)(fill), _mm256_maskload_ps(p, (__m256i)(mask)), (__m256)(mask))
#elif defined(__AVX2__)
typedef bit_vec lane_mask;
#define LOAD_MASKED(fill, mask, p)                                                                 \
  (vec) _mm256_blendv_pd((__m256d)(fill), _mm256_maskload_pd(p, (__m256i)(mask)), (__m256d)(mask))
#endif
#if defined(__AVX512F__)
INLINE lane_mask first_lanes(size_t n) { return (lane_mask)(n >= LANES ? -1 : (1 << n) - 1); }
#elif defined(__AVX2__)
INLINE lane_mask first_lanes(size_t n) {
  bit_vec lane;
  for (u32 i = 0; i < LANES; i++) lane[i] = (lane_bits)i;
  return lane < (lane_bits)(n < LANES ? n : LANES);
}
#endif
#ifdef LOAD_MASKED
typedef struct tail {
  vec fill;
  lane_mask mask[RUNNING / LANES];
} tail;
INLINE tail find_tail(size_t n, vec fill) {
  tail t = {.fill = fill};
  UNROLL_ALL
  for (u32 k = 0; k < RUNNING / LANES; k++)
    t.mask[k] = first_lanes(n > k * LANES ? n - k * LANES : 0);
  return t;
}
INLINE void begin_tail(tail *t, const REAL *a) { (void)t, (void)a; }
INLINE vec load_tail(const tail *t, const REAL *a, u32 k) {
  return LOAD_MASKED(t->fill, t->mask[k], a + k * LANES);
}
#else
typedef struct tail {
  vec fill, last; /* the vector that is not whole */
  size_t n;
} tail;
INLINE tail find_tail(size_t n, vec fill) { return (tail){fill, fill, n}; }
static ONE_COPY void load_last(tail *t, const REAL *a) {
  memcpy(&t->last, a, t->n % LANES * sizeof *a);
}
INLINE void begin_tail(tail *t, const REAL *a) {
  if (t->n % LANES) load_last(t, a + t->n / LANES * LANES);
}
INLINE vec load_tail(const tail *t, const REAL *a, u32 k) {
  if ((k + 1) * LANES <= t->n) return load_vec(a + k * LANES);
  return k * LANES < t->n ? t->last : t->fill;
}
#endif

/* As WIDE values, of all: value i is added to running sum i modulo RUNNING. So for one row or two,
 * which then have no tail. */
INLINE void sum_streams(size_t n, streams z, u32 rows, const REAL *const *a, tail *t,
                        vec (*out)[PARTS]) {
  vec sum[2][STREAMS][PARTS];
#define EACH_ROW                                                                                   \
  UNROLL                                                                                           \
  for (u32 r = 0; r < rows; r++)
  EACH_ROW EACH_PART sum[r][s][p] = z.done ? load_vec(a[r] + s * z.apart + p * LANES) : -(vec){0};
  for (size_t i = z.step; i < z.end; i += z.step) {
    if (rows == 1) fetch_ahead(&z, a[0] + i);
    EACH_ROW EACH_PART sum[r][s][p] += load_vec(a[r] + s * z.apart + i + p * LANES);
  }
  if (rows == 1 && n > z.done) {
    begin_tail(t, a[0] + z.done);
    EACH_PART sum[0][s][p] += load_tail(t, a[0] + z.done, s * PARTS + p);
  }
  EACH_ROW UNROLL for (u32 p = 0; p < PARTS; p++) out[r][p] =
      (sum[r][0][p] + sum[r][2][p]) + (sum[r][1][p] + sum[r][3][p]);
}

INLINE REAL sum_of(size_t n, streams z, const REAL *a) {
  REAL lane[WIDE];
  vec part[1][PARTS];
  sum_streams(n, z, 1, &a, NULL, part);
  for (u32 p = 0; p < PARTS; p++) store_vec(lane + p * LANES, part[0][p]);
  return sum_lanes(lane);
}
static void sum_far(void *acc, const void *a, size_t apart) {
  streams z = cut(FOLD_LONG);
  z.apart = apart;
  *(REAL *)acc = sum_of(FOLD_LONG, z, a);
}

/* Lanes of LANES rows, each with its own half as far as that goes: rows side by side. Of two
 * vectors the lower halves of rows, and their upper ones, are brought together in turn, by moves of
 * 16 bytes or within these, which are a simple instruction each; so the rows are not paired in
 * order. */
#define JOIN_STEP(x, with, apart, rest, lower, upper)                                              \
  UNROLL_ALL                                                                                       \
  for (u32 i_ = 0; i_ < LANES; i_++)                                                               \
    if ((i_ & ~(u32)(rest)) == 0)                                                                  \
  x[i_] = with(PICK(x[i_], x[i_ + (apart)], lower), PICK(x[i_], x[i_ + (apart)], upper))
#define LIST(...) __VA_ARGS__
#if LANES == 16
#define JOIN_HALVES(x, with)                                                                       \
  JOIN_STEP(x, with, 4, 11, LIST(0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23),          \
            LIST(8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31));                   \
  JOIN_STEP(x, with, 8, 3, LIST(0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27),         \
            LIST(4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31));                     \
  JOIN_STEP(x, with, 1, 2, LIST(0, 1, 16, 17, 4, 5, 20, 21, 8, 9, 24, 25, 12, 13, 28, 29),         \
            LIST(2, 3, 18, 19, 6, 7, 22, 23, 10, 11, 26, 27, 14, 15, 30, 31));                     \
  JOIN_STEP(x, with, 2, 0, LIST(0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30),        \
            LIST(1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31))
#elif LANES == 8 && REAL_BITS == 32
#define JOIN_HALVES(x, with)                                                                       \
  JOIN_STEP(x, with, 4, 3, LIST(0, 1, 2, 3, 8, 9, 10, 11), LIST(4, 5, 6, 7, 12, 13, 14, 15));      \
  JOIN_STEP(x, with, 1, 2, LIST(0, 1, 8, 9, 4, 5, 12, 13), LIST(2, 3, 10, 11, 6, 7, 14, 15));      \
  JOIN_STEP(x, with, 2, 0, LIST(0, 2, 8, 10, 4, 6, 12, 14), LIST(1, 3, 9, 11, 5, 7, 13, 15))
#elif LANES == 8
#define JOIN_HALVES(x, with)                                                                       \
  JOIN_STEP(x, with, 2, 5, LIST(0, 1, 2, 3, 8, 9, 10, 11), LIST(4, 5, 6, 7, 12, 13, 14, 15));      \
  JOIN_STEP(x, with, 4, 1, LIST(0, 1, 4, 5, 8, 9, 12, 13), LIST(2, 3, 6, 7, 10, 11, 14, 15));      \
  JOIN_STEP(x, with, 1, 0, LIST(0, 8, 2, 10, 4, 12, 6, 14), LIST(1, 9, 3, 11, 5, 13, 7, 15))
#elif LANES == 4 && REAL_BITS == 32
#define JOIN_HALVES(x, with)                                                                       \
  JOIN_STEP(x, with, 1, 2, LIST(0, 1, 4, 5), LIST(2, 3, 6, 7));                                    \
  JOIN_STEP(x, with, 2, 0, LIST(0, 2, 4, 6), LIST(1, 3, 5, 7))
#elif LANES == 4
#define JOIN_HALVES(x, with)                                                                       \
  JOIN_STEP(x, with, 2, 1, LIST(0, 1, 4, 5), LIST(2, 3, 6, 7));                                    \
  JOIN_STEP(x, with, 1, 0, LIST(0, 4, 2, 6), LIST(1, 5, 3, 7))
#else
#define JOIN_HALVES(x, with) JOIN_STEP(x, with, 1, 0, LIST(0, 2), LIST(1, 3))
#endif
#define PLUS(x, y) ((x) + (y))

INLINE vec join_parts(vec *part) {
  UNROLL
  for (u32 half = PARTS / 2; half > 0; half /= 2) UNROLL
  for (u32 p = 0; p < half; p++) part[p] += part[half + p];
  return part[0];
}

/* As sum_streams, of a row of so many times WIDE values, of which the last WIDE are the tail. */
INLINE vec sum_short(const REAL *a, u32 wide, tail *t) {
  const REAL *last = a + (wide - 1) * WIDE;
  vec sum[STREAMS][PARTS];
  begin_tail(t, last);
  fetch_row_ahead(a, wide * WIDE);
  UNROLL
  for (u32 w = 0; w < wide; w++) UNROLL
  for (u32 p = 0; p < PARTS; p++) {
    vec y = w + 1 < wide ? load_vec(a + w * WIDE + p * LANES) : load_tail(t, last, p);
    sum[w % STREAMS][p] = w < STREAMS ? y : sum[w % STREAMS][p] + y;
  }
  UNROLL
  for (u32 p = 0; p < PARTS; p++) {
    if (wide > 2) sum[0][p] += sum[2][p];
    if (wide > 3) sum[1][p] += sum[3][p];
    if (wide > 1) sum[0][p] += sum[1][p];
  }
  return join_parts(sum[0]);
}

/* The sums of LANES rows, which are short enough for code without a loop. */
INLINE vec sum_square(size_t step, const REAL *a, u32 wide, tail *t) {
  vec x[LANES];
  UNROLL_ALL
  for (u32 r = 0; r < LANES; r++) x[r] = sum_short(a + r * step, wide, t);
  JOIN_HALVES(x, PLUS);
  return x[0];
}

/* Code of its own for each of the lengths, up to MOST_KNOWN, of `some` rows. */
#define ROWS_OF(length, is, one)                                                                   \
  if (length == (is) && (is) <= MOST_KNOWN) ROLLED                                                 \
  for (u32 r_ = 0; r_ < some; r_++) one(r_, is);
#define EACH_OF_ROWS(length, one)                                                                  \
  ROWS_OF(length, 1, one)                                                                          \
  ROWS_OF(length, 2, one)                                                                          \
  ROWS_OF(length, 3, one)                                                                          \
  ROWS_OF(length, 4, one)                                                                          \
  ROWS_OF(length, 5, one)                                                                          \
  ROWS_OF(length, 6, one)                                                                          \
  ROWS_OF(length, 7, one)                                                                          \
  ROWS_OF(length, 8, one)

#define SQUARE(w) sum_square(step, a, w, &t)
/* Long rows two at a time, as far as registers go: memory gives several streams sooner, where they
 * are not near. Of pairs of numbers, as two rows, of which each has -0 where the other has its own.
 */
static ONE_COPY void sum_all(size_t num, size_t n, size_t step, REAL *to, const REAL *init,
                             const REAL *a, bool pairs) {
  enum { FAR = 1024, HALF = LANES / 2 };
  vec from, x[LANES] = {{0}};
  bit_vec even;
  const streams z = cut(n);
  const size_t most = pairs ? HALF : LANES;
  bool far = LANE_BYTES == 64 && n >= FAR && n == z.done && !pairs;
  const size_t wide = (n + WIDE - 1) / WIDE;
  tail t = find_tail(wide <= MOST_KNOWN ? n - (wide - 1) * WIDE : n - z.done, -(vec){0});
  for (u32 i = 0; i < LANES; i++) from[i] = init[pairs ? i % 2 : 0], even[i] = -(i % 2 == 0);
  for (size_t at = 0; at < num; at += most, a += most * step, to += LANES) {
    size_t some = num - at < most ? num - at : most;
    if (wide <= UNROLLED && some == LANES) {
      store_vec(to, from + (wide == 1 ? SQUARE(1) : wide == 2 ? SQUARE(2) : SQUARE(3)));
      continue;
    }
    if (wide <= MOST_KNOWN) {
#define SUM_SHORT(r, w) x[r] = sum_short(a + (r)*step, w, &t)
      EACH_OF_ROWS(wide, SUM_SHORT)
    } else if (far && some == LANES) {
      for (u32 r = 0; r < HALF; r++) {
        const REAL *row[2] = {a + r * step, a + (r + HALF) * step};
        vec part[2][PARTS];
        sum_streams(z.done, z, 2, row, NULL, part);
        x[r] = join_parts(part[0]), x[r + HALF] = join_parts(part[1]);
      }
    } else {
      for (u32 r = 0; r < some; r++) {
        const REAL *row = a + r * step;
        vec part[1][PARTS];
        fetch_row_ahead(row, n);
        sum_streams(n, z, 1, &row, &t, part);
        x[r] = join_parts(part[0]);
      }
    }
    if (pairs)
      for (u32 r = HALF; r-- > 0;) {
        const bit_vec none = (bit_vec) - (vec){0}, y = (bit_vec)x[r];
        x[2 * r] = (vec)((y & even) | (none & ~even));
        x[2 * r + 1] = (vec)((y & ~even) | (none & even));
      }
    vec y[LANES]; /* a copy stays in registers */
    memcpy(y, x, sizeof y);
    JOIN_HALVES(y, PLUS);
    store_some(to, from + y[0], pairs ? 2 * some : some);
  }
}
static const REAL none[] = {(REAL)-0.0, (REAL)-0.0};
static void sum_each(size_t num, size_t n, size_t step, void *rows, const void *init,
                     const void *a) {
  sum_all(num, n, step, rows, init, a, false);
}
static void sum_pairs_each(size_t num, size_t n, size_t step, void *rows, const void *init,
                           const void *a) {
  sum_all(num, 2 * n, 2 * step, rows, init, a, true);
}
static void fold_sum(size_t n, void *acc, const void *init, const void *a) {
  sum_all(1, n, n, acc, init ? init : none, a, false);
}
static void fold_sum_pairs(size_t n, void *acc, const void *init, const void *a) {
  sum_all(1, 2 * n, 2 * n, acc, init ? init : none, a, true);
}

static void prod_each(size_t num, size_t n, size_t step, void *rows, const void *init,
                      const void *av) {
#define TIMES(x, y) ((x) * (y))
#define EACH_HELD                                                                                  \
  UNROLL                                                                                           \
  for (u32 h = 0; h < HELD; h++)
  enum { HELD = RUNNING / LANES };
  REAL *to = rows, first = *(const REAL *)init;
  const REAL *a = av;
  vec x[LANES] = {{0}};
  tail t = find_tail(n % RUNNING, 1 + (vec){0});
  for (size_t at = 0; at < num; at += LANES, to += LANES) {
    size_t some = num - at < LANES ? num - at : LANES;
    for (u32 r = 0; r < some; r++, a += step) {
      vec held[HELD];
      size_t i = n < RUNNING ? 0 : RUNNING;
      EACH_HELD held[h] = i ? load_vec(a + h * LANES) : 1 + (vec){0};
      for (; i + RUNNING <= n; i += RUNNING) EACH_HELD held[h] *= load_vec(a + i + h * LANES);
      if (i < n) {
        begin_tail(&t, a + i);
        EACH_HELD held[h] *= load_tail(&t, a + i, h);
      }
      UNROLL
      for (u32 half = HELD / 2; half > 0; half /= 2) UNROLL
      for (u32 h = 0; h < half; h++) held[h] *= held[half + h];
      x[r] = held[0];
    }
    JOIN_HALVES(x, TIMES);
    store_some(to, first * x[0], some);
  }
}
static void fold_prod(size_t n, void *acc, const void *init, const void *a) {
  static const REAL one = 1;
  prod_each(1, n, n, acc, init ? init : &one, a);
}

static void sum_rows(size_t n, void *acc, const void *const *rows, bool fresh, size_t groups,
                     i64 next) {
  REAL *to = acc;
  const REAL *r[FOLD_ROWS];
  for (u32 k = 0; k < FOLD_ROWS; k++) r[k] = rows[k];
#define SUM(at, i)                                                                                 \
  (((at(r[0] + i) + at(r[1] + i)) + (at(r[2] + i) + at(r[3] + i))) +                               \
   ((at(r[4] + i) + at(r[5] + i)) + (at(r[6] + i) + at(r[7] + i))))
#define ONE(p) (*(p))
  for (size_t g = 0; g < groups; g++, fresh = false) {
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) {
      vec x = SUM(load_vec, i);
      store_vec(to + i, fresh ? x : load_vec(to + i) + x);
    }
    for (; i < n; i++) {
      REAL x = SUM(ONE, i);
      to[i] = fresh ? x : to[i] + x;
    }
    for (u32 k = 0; k < FOLD_ROWS; k++) r[k] += next;
  }
}

#define ADD_PART(lanes)                                                                            \
  if (n - i >= (lanes)) {                                                                          \
    typedef REAL part                                                                              \
        __attribute__((vector_size(REAL_BITS / 8 * (lanes)), aligned(REAL_BITS / 8), may_alias));  \
    *(part *)(to + i) += *(const part *)(a + i);                                                   \
    i += (lanes);                                                                                  \
  }
INLINE void add_rows_of(size_t num, size_t n, void *const *rows, const REAL *a, i64 step) {
  for (size_t r = 0; r < num; r++, a += step) {
    REAL *to = rows[r];
    if (!to) continue;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES) store_vec(to + i, load_vec(to + i) + load_vec(a + i));
    if (LANES > 8) ADD_PART(8)
    if (LANES > 4) ADD_PART(4)
    if (LANES > 2) ADD_PART(2)
    for (; i < n; i++) to[i] += a[i];
  }
}
/* Of the lengths that most have, with code of their own. */
static void add_rows(size_t num, size_t n, void *const *rows, const void *a, i64 step) {
  if (n == 2)
    add_rows_of(num, 2, rows, a, step);
  else if (n == 4)
    add_rows_of(num, 4, rows, a, step);
  else if (n == 8)
    add_rows_of(num, 8, rows, a, step);
  else if (n == 16)
    add_rows_of(num, 16, rows, a, step);
  else
    add_rows_of(num, n, rows, a, step);
}

/* ---- the largest or the smallest ---- */

/* Of two that are equal, or not numbers, the second. One instruction where there is one; compilers
 * do not make it of comparisons. `odd` is not zero where x or y is no number. */
#if defined(__AVX512F__) && REAL_BITS == 64
#define LARGER(x, y) (vec) _mm512_max_pd((__m512d)(x), (__m512d)(y))
#define SMALLER(x, y) (vec) _mm512_min_pd((__m512d)(x), (__m512d)(y))
typedef u8 odd;
INLINE odd unordered(vec x, vec y) { return _mm512_cmp_pd_mask((__m512d)x, (__m512d)y, 3); }
INLINE odd equal(vec x, vec y) { return _mm512_cmp_pd_mask((__m512d)x, (__m512d)y, 0); }
INLINE vec choose(odd m, vec x, vec y) {
  return (vec)_mm512_mask_mov_pd((__m512d)y, m, (__m512d)x);
}
INLINE bool any_odd(odd o) { return o != 0; }
#elif defined(__AVX512F__)
#define LARGER(x, y) (vec) _mm512_max_ps((__m512)(x), (__m512)(y))
#define SMALLER(x, y) (vec) _mm512_min_ps((__m512)(x), (__m512)(y))
typedef u16 odd; /* as masks are: gcc 12 stores 16 bits of a mask, and would read 32 */
INLINE odd unordered(vec x, vec y) { return _mm512_cmp_ps_mask((__m512)x, (__m512)y, 3); }
INLINE odd equal(vec x, vec y) { return _mm512_cmp_ps_mask((__m512)x, (__m512)y, 0); }
INLINE vec choose(odd m, vec x, vec y) { return (vec)_mm512_mask_mov_ps((__m512)y, m, (__m512)x); }
INLINE bool any_odd(odd o) { return o != 0; }
#else
typedef bit_vec odd;
INLINE odd unordered(vec x, vec y) { return (x != x) | (y != y); }
INLINE odd equal(vec x, vec y) { return x == y; }
INLINE vec choose(odd m, vec x, vec y) { return (vec)(((odd)x & m) | ((odd)y & ~m)); }
INLINE bool any_odd(odd o) {
  lane_bits all = 0;
  for (u32 i = 0; i < LANES; i++) all |= o[i];
  return all != 0;
}
#if defined(__AVX2__) && REAL_BITS == 64
#define LARGER(x, y) (vec) _mm256_max_pd((__m256d)(x), (__m256d)(y))
#define SMALLER(x, y) (vec) _mm256_min_pd((__m256d)(x), (__m256d)(y))
#elif defined(__AVX2__)
#define LARGER(x, y) (vec) _mm256_max_ps((__m256)(x), (__m256)(y))
#define SMALLER(x, y) (vec) _mm256_min_ps((__m256)(x), (__m256)(y))
#else
#define LARGER(x, y) choose((x) > (y), x, y)
#define SMALLER(x, y) choose((x) < (y), x, y)
#endif
#endif

#define EACH_STREAM                                                                                \
  UNROLL                                                                                           \
  for (u32 s = 0; s < STREAMS; s++)

static REAL not_a_number(size_t n, const REAL *a, REAL init) {
  for (size_t i = 0; init == init && i < n; i++) init = a[i] == a[i] ? init : a[i];
  return init;
}

/* Zeros are equal to each other, and flushed denormals to them: of those the sign decides. */
static REAL zero_of(size_t n, const REAL *a, REAL init, bool max) {
  bool negative = signbit(init) != 0;
  for (size_t i = 0; i < n; i++)
    negative = max ? negative && signbit(a[i]) : negative || signbit(a[i]);
  return negative ? (REAL)-0.0 : (REAL)0.0;
}

INLINE REAL most_of(REAL x, REAL y, bool max) { return (max ? x > y : x < y) ? x : y; }

INLINE void fold_most(size_t n, void *acc, const void *init, const void *av, bool max) {
  const REAL *a = av;
  REAL first = init ? *(const REAL *)init : a[0], most = first, lane[LANES];
  streams z = cut(n);
  bool nan = first != first;
  if (n >= LANES) {
    vec best[STREAMS];
    odd bad[STREAMS / 2] = {0};
    UNROLL
    for (u32 s = 0; s < STREAMS; s++) best[s] = load_vec(a + (z.done ? s * z.apart : 0));
    for (size_t at = 0; at < z.end; at += z.step) {
      fetch_ahead(&z, a + at);
      for (u32 p = 0; p < PARTS; p++) {
        UNROLL
        for (u32 s = 0; s < STREAMS; s += 2) {
          const REAL *from = a + s * z.apart + at + p * LANES;
          vec x = load_vec(from), y = load_vec(from + z.apart);
          best[s] = max ? LARGER(x, best[s]) : SMALLER(x, best[s]);
          best[s + 1] = max ? LARGER(y, best[s + 1]) : SMALLER(y, best[s + 1]);
          bad[s / 2] |= unordered(x, y);
        }
      }
    }
    for (size_t i = z.done; i < n; i += LANES) { /* the last vector again, where it is not whole */
      vec x = load_vec(a + (i + LANES <= n ? i : n - LANES));
      best[0] = max ? LARGER(x, best[0]) : SMALLER(x, best[0]);
      bad[0] |= unordered(x, x);
    }
    UNROLL
    for (u32 s = 1; s < STREAMS; s++)
      best[0] = max ? LARGER(best[s], best[0]) : SMALLER(best[s], best[0]);
    nan |= any_odd(bad[0] | bad[1]);
    store_vec(lane, best[0]);
    UNROLL
    for (u32 half = LANES / 2; half > 0; half /= 2) UNROLL
    for (u32 i = 0; i < half; i++) lane[i] = most_of(lane[half + i], lane[i], max);
    most = most_of(lane[0], most, max);
  }
  for (size_t i = 0; n < LANES && i < n; i++) {
    nan |= a[i] != a[i];
    most = most_of(a[i], most, max);
  }
  if (nan)
    most = not_a_number(n, a, first);
  else if (most == 0)
    most = zero_of(n, a, first, max);
  memcpy(acc, &most, sizeof most);
}

static void fold_max(size_t n, void *acc, const void *init, const void *a) {
  fold_most(n, acc, init, a, true);
}
static void fold_min(size_t n, void *acc, const void *init, const void *a) {
  fold_most(n, acc, init, a, false);
}

#define SIGNED(x) ((vec)((bit_vec)(x) ^ sign))
/* Of a row of so many vectors, the last one, where it is not whole, once more from where it is. */
INLINE vec most_short(size_t n, const REAL *a, u32 vecs, tail *t, bit_vec sign, vec *all) {
  vec most, sum;
  if (vecs == 1) begin_tail(t, a);
  UNROLL
  for (u32 v = 0; v < vecs; v++) {
    vec y = vecs == 1      ? load_tail(t, a, 0)
            : v + 1 < vecs ? load_vec(a + v * LANES)
                           : load_vec(a + n - LANES);
    y = SIGNED(y);
    most = v ? LARGER(y, most) : y, sum = v ? sum + y : y;
  }
  *all += sum;
  return most;
}

/* As many rows as a vector has lanes, whose halves are combined side by side. Where there are NaNs,
 * or a zero comes out, one by one, by `fold`. The smallest are the largest with the other sign.
 * A sum of all is no number where one of them is none, and for one addition a vector; where it is
 * none for other reasons, `fold` is right as well. Vectors that overlap do no harm. */
static void most_each(size_t num, size_t n, size_t step, REAL *to, const REAL *init, const REAL *a,
                      kern_fold_fn *fold) {
  const bit_vec sign = (bit_vec)(fold == fold_min ? -(vec){0} : (vec){0});
  const vec from = SIGNED(*init - (vec){0});
  const streams linear = {.apart = WIDE};
  const size_t vecs = (n + LANES - 1) / LANES;
  tail t = find_tail(n, *init - (vec){0});
  for (size_t at = 0; at < num; at += LANES, a += LANES * step) {
    size_t some = num - at < LANES ? num - at : LANES;
    vec x[LANES], all = from;
#define MOST_SHORT(r, v) x[r] = most_short(n, a + (r)*step, v, &t, sign, &all)
    EACH_OF_ROWS(vecs, MOST_SHORT)
    for (u32 r = 0; vecs > MOST_KNOWN && r < some; r++) {
      const REAL *row = a + r * step;
      vec y = SIGNED(load_vec(row)), sum = {0};
      vec best[STREAMS] = {y, y, y, y}, w[STREAMS];
      size_t i = 0;
      fetch_row_ahead(row, n);
      for (; i + STREAMS * LANES <= n; i += STREAMS * LANES) {
        if (n >= 2 * RUNNING && i % RUNNING == 0) fetch_ahead(&linear, row + i);
        EACH_STREAM w[s] = SIGNED(load_vec(row + i + s * LANES));
        EACH_STREAM best[s] = LARGER(w[s], best[s]);
        sum += (w[0] + w[1]) + (w[2] + w[3]);
      }
      for (; i < n; i += LANES) {
        y = SIGNED(load_vec(row + (i + LANES <= n ? i : n - LANES)));
        best[0] = LARGER(y, best[0]), sum += y;
      }
      x[r] = LARGER(LARGER(best[0], best[1]), LARGER(best[2], best[3])), all += sum;
    }
    for (u32 r = (u32)some; r < LANES; r++) x[r] = from;
    vec y[LANES];
    memcpy(y, x, sizeof y);
    JOIN_HALVES(y, LARGER);
    y[0] = LARGER(y[0], from);
    store_some(to + at, SIGNED(y[0]), some);
    bool bad = any_odd(unordered(all, all));
    if (!bad && !any_odd(equal(y[0], (vec){0}))) continue;
    for (u32 r = 0; r < some; r++)
      if (to[at + r] == 0 || bad) fold(n, to + at + r, init, a + r * step);
  }
}

static void max_each(size_t num, size_t n, size_t step, void *rows, const void *init,
                     const void *a) {
  most_each(num, n, step, rows, init, a, fold_max);
}
static void min_each(size_t num, size_t n, size_t step, void *rows, const void *init,
                     const void *a) {
  most_each(num, n, step, rows, init, a, fold_min);
}

/* ---- lines ---- */

typedef enum how { ADD, MOST, LEAST } how;

/* -0 changes no value but a denormal, and only where denormals are flushed. Volatile, or compilers
 * would leave the addition out. */
static const volatile REAL minus_zero = (REAL)-0.0;

/* As the operations of the block VM: NaN wins, the first one of two, and -0 < +0. */
INLINE vec with(vec x, vec y, vec zero, how h) {
  if (h == ADD) return x + y;
  bit_vec both = h == MOST ? (bit_vec)x & (bit_vec)y : (bit_vec)x | (bit_vec)y;
  vec r = h == MOST ? LARGER(x, y) : SMALLER(x, y);
  r = choose(equal(x, y), (vec)both, r) + zero;
  return choose(unordered(x, x), x, r);
}

INLINE void fold_lines(size_t n, void *d, const void *init, const void *const *lines,
                       size_t num_lines, how h) {
  enum { SIDE = 4 };
  REAL *to = d, zero_ = minus_zero;
  vec first, zero;
  for (u32 i = 0; i < LANES; i++) first[i] = *(const REAL *)init, zero[i] = zero_;
  size_t at = 0;
  for (; at + SIDE * LANES <= n; at += SIDE * LANES) {
    vec x[SIDE];
    UNROLL
    for (u32 p = 0; p < SIDE; p++) x[p] = first;
    for (size_t k = 0; k < num_lines; k++) {
      const REAL *line = (const REAL *)lines[k] + at;
      UNROLL
      for (u32 p = 0; p < SIDE; p++) x[p] = with(x[p], load_vec(line + p * LANES), zero, h);
    }
    UNROLL
    for (u32 p = 0; p < SIDE; p++) store_vec(to + at + p * LANES, x[p]);
  }
  for (; at < n; at += LANES) {
    vec x = first;
    for (size_t k = 0; k < num_lines; k++)
      x = with(x, load_some((const REAL *)lines[k] + at, n - at), zero, h);
    store_some(to + at, x, n - at);
  }
}

static void sum_lines(size_t n, void *d, const void *init, const void *const *lines, size_t k) {
  fold_lines(n, d, init, lines, k, ADD);
}
static void max_lines(size_t n, void *d, const void *init, const void *const *lines, size_t k) {
  fold_lines(n, d, init, lines, k, MOST);
}
static void min_lines(size_t n, void *d, const void *init, const void *const *lines, size_t k) {
  fold_lines(n, d, init, lines, k, LEAST);
}

#if REAL_BITS == 32
#include "exec/fold_words.h"
#else
#define most_words NULL
#define most_rows NULL
#define most_end NULL
#define max_bytes NULL
#define min_bytes NULL
#endif

const fold_kernels FOR_LANES(fold_) = {
    fold_sum,  fold_max,   fold_min,  fold_prod,      fold_sum_pairs, sum_rows,  sum_each,
    max_each,  min_each,   prod_each, sum_pairs_each, add_rows,       sum_lines, max_lines,
    min_lines, most_words, sum_far,   most_rows,      most_end,       max_bytes, min_bytes};
