/* small_kernel.h; built once per instruction set and type. */
#include "exec/small_kernel.h"

#include "exec/lanes.h"

/* Only some lanes of a register are read or written: others have no instructions for it. */
#if defined(__AVX2__)

/* ONCE: of what is called once in a while, which is to be short. */
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#define ONCE static __attribute__((noinline, minsize))
#else
#define UNROLL _Pragma("GCC unroll 16")
#define ONCE static __attribute__((noinline, optimize("Os")))
#endif

#if REAL_BITS == 64
#define SUFFIX pd
#else
#define SUFFIX ps
#endif
#define CALL(name) PASTE(name, SUFFIX)

/* ---- some lanes of a register ---- */

#if defined(__AVX512F__)
typedef u16 lanes_mask;
INLINE lanes_mask first_lanes(u32 n) { return (lanes_mask)((1u << n) - 1); }
INLINE vec take_vec(const REAL *p, lanes_mask m) {
  return (vec)CALL(_mm512_maskz_loadu_)((__mmask16)m, p);
}
INLINE void put_vec(REAL *p, lanes_mask m, vec x) { CALL(_mm512_mask_storeu_)(p, m, x); }
/* 32 bits each. */
INLINE vec pick_vec(vec x, const i32 *at) {
  return (vec)_mm512_permutexvar_ps(_mm512_loadu_si512(at), (__m512)x);
}
#else
typedef __m256i lanes_mask;
INLINE lanes_mask first_lanes(u32 n) {
  static const i32 ones[16] = {-1, -1, -1, -1, -1, -1, -1, -1};
  return _mm256_loadu_si256((const void *)(ones + 8 - n * (REAL_BITS / 32)));
}
INLINE vec take_vec(const REAL *p, lanes_mask m) { return (vec)CALL(_mm256_maskload_)(p, m); }
INLINE void put_vec(REAL *p, lanes_mask m, vec x) { CALL(_mm256_maskstore_)(p, m, x); }
INLINE vec pick_vec(vec x, const i32 *at) {
  return (vec)_mm256_permutevar8x32_ps((__m256)x, _mm256_loadu_si256((const void *)at));
}
#endif

typedef REAL half __attribute__((vector_size(LANE_BYTES / 2)));
#if defined(__AVX512F__)
INLINE half take_half(const REAL *p, lanes_mask m) {
  return (half)CALL(_mm256_maskz_loadu_)((__mmask8)m, p);
}
INLINE void put_half(REAL *p, lanes_mask m, half x) {
  CALL(_mm256_mask_storeu_)(p, (__mmask8)m, x);
}
#else
INLINE half take_half(const REAL *p, lanes_mask m) {
  return (half)CALL(_mm_maskload_)(p, _mm256_castsi256_si128(m));
}
#endif

/* ---- rows of c ---- */

/* Rows [i, i + R) of a product: each term of theirs times the columns. */
#define ROWS(V, R)                                                                                 \
  INLINE void rows_##V##_##R(const small_call *t, const REAL *a, const REAL *b, i64 step, REAL *c, \
                             lanes_mask some) {                                                    \
    i64 row = t->a_row;                                                                            \
    V s[R] = {0};                                                                                  \
    for (u32 k = t->k; k > 0; k--, a += t->a_term, b += step) {                                    \
      V x = take_##V(b, some);                                                                     \
      UNROLL for (u32 r = 0; r < (R); r++) s[r] += a[r * row] * x;                                 \
    }                                                                                              \
    UNROLL for (u32 r = 0; r < (R); r++, c += t->c_row) put_##V(c, some, s[r]);                    \
  }

/* A square's rows become its columns; those past the last one are it again. */
#define TURN(V, L, LOW, UP)                                                                        \
  static __attribute__((noinline)) void turn_square(const REAL *from, i64 step, u32 n, u32 k,      \
                                                    REAL *to, u32 row) {                           \
    lanes_mask some = first_lanes(k);                                                              \
    V x[L], y[L];                                                                                  \
    UNROLL for (u32 j = 0; j < (L); j++) x[j] = take_##V(from + (j < n ? j : n - 1) * step, some); \
    UNROLL for (u32 round = 1; round < (L); round *= 2) {                                          \
      UNROLL for (u32 i = 0; i < (L) / 2; i++) {                                                   \
        y[2 * i] = PICK(x[i], x[i + (L) / 2], LOW);                                                \
        y[2 * i + 1] = PICK(x[i], x[i + (L) / 2], UP);                                             \
      }                                                                                            \
      UNROLL for (u32 i = 0; i < (L); i++) x[i] = y[i];                                            \
    }                                                                                              \
    UNROLL for (u32 i = 0; i < (L); i++) if (i < k) memcpy(to + i * row, &x[i], sizeof(V));        \
  }

#define MULTIPLY(V, L)                                                                             \
  ROWS(V, 8)                                                                                       \
  ROWS(V, 4)                                                                                       \
  ROWS(V, 2)                                                                                       \
  ROWS(V, 1)                                                                                       \
  static __attribute__((noinline)) void multiply_##V(const small_call *t) {                        \
    lanes_mask some = first_lanes(t->n);                                                           \
    const REAL *a = t->a, *b = t->b;                                                               \
    REAL *c = t->c;                                                                                \
    for (u64 q = 0; q < t->batches; q++, a += t->a_batch, b += t->b_batch, c += t->c_batch) {      \
      const REAL *x = a, *y = t->turned ? t->line : b;                                             \
      REAL *z = c;                                                                                 \
      i64 step = t->turned ? (L) : t->b_step;                                                      \
      u64 m = t->m;                                                                                \
      if (t->turned && (q == 0 || t->b_batch)) turn(t, b);                                         \
      for (; m >= 8; m -= 8, x += 8 * t->a_row, z += 8 * t->c_row)                                 \
        rows_##V##_8(t, x, y, step, z, some);                                                      \
      if (m & 4) {                                                                                 \
        rows_##V##_4(t, x, y, step, z, some);                                                      \
        x += 4 * t->a_row, z += 4 * t->c_row;                                                      \
      }                                                                                            \
      if (m & 2) {                                                                                 \
        rows_##V##_2(t, x, y, step, z, some);                                                      \
        x += 2 * t->a_row, z += 2 * t->c_row;                                                      \
      }                                                                                            \
      if (m & 1) rows_##V##_1(t, x, y, step, z, some);                                             \
    }                                                                                              \
  }

#if defined(__AVX512F__)
#if LANES == 16
#define HALF_LOWER 0, 8, 1, 9, 2, 10, 3, 11
#define HALF_UPPER 4, 12, 5, 13, 6, 14, 7, 15
#else
#define HALF_LOWER 0, 4, 1, 5
#define HALF_UPPER 2, 6, 3, 7
#endif
enum { SQUARE = LANES / 2 };
TURN(half, SQUARE, HALF_LOWER, HALF_UPPER)
#else
enum { SQUARE = LANES };
TURN(vec, SQUARE, LOWER, UPPER)
#endif

/* Columns of b that lie along terms, to rows of as many elements. */
static __attribute__((noinline)) void turn(const small_call *t, const REAL *b) {
  REAL *to = t->line;
  u32 row = t->n <= SQUARE ? SQUARE : LANES;
  for (u32 p = 0; p < t->k; p += SQUARE)
    for (u32 j = 0; j < t->n; j += SQUARE) {
      u32 n = t->n - j < SQUARE ? t->n - j : SQUARE, k = t->k - p < SQUARE ? t->k - p : SQUARE;
      turn_square(b + j * t->b_step + p, t->b_step, n, k, to + p * row + j, row);
    }
}

MULTIPLY(vec, LANES)

/* One row, C registers of columns at a time: their sums do not wait for one another, and b is read
 * in longer runs; the others are left. */
#define ACROSS(C)                                                                                  \
  static void across_##C(small_call *t) {                                                          \
    const REAL *a = t->a, *b = t->b;                                                               \
    REAL *c = t->c;                                                                                \
    for (; t->batches >= (C); t->batches -= (C), b += (C)*LANES, c += (C)*LANES) {                 \
      vec s[C] = {0};                                                                              \
      const REAL *w = b, *x = a;                                                                   \
      for (u32 k = t->k; k > 0; k--, w += t->b_step, x += t->a_term)                               \
        UNROLL for (u32 i = 0; i < (C); i++) s[i] += *x * load_vec(w + i * LANES);                 \
      UNROLL for (u32 i = 0; i < (C); i++) store_vec(c + i * LANES, s[i]);                         \
    }                                                                                              \
    t->b = b, t->c = c;                                                                            \
  }
#if LANES == 16
ACROSS(16)
#endif
ACROSS(8)
ACROSS(4)

static void multiply_across(const small_call *of) {
  small_call t = *of;
#if LANES == 16
  across_16(&t);
#endif
  across_8(&t);
  across_4(&t);
  if (t.batches) multiply_vec(&t);
}

/* ---- sums of lanes ---- */

/* Neighbours are added, of registers in their order, until one register has all sums. */
#define FOLD(s, count)                                                                             \
  UNROLL for (u32 m = (count) / 2; m > 0; m /= 2) UNROLL for (u32 i = 0; i < m; i++) s[i] =        \
      PICK(s[2 * i], s[2 * i + 1], EVEN) + PICK(s[2 * i], s[2 * i + 1], ODD)

#if LANES == 4
#define BOTH 0, 1, 2, 3
#elif LANES == 8
#define BOTH 0, 1, 2, 3, 4, 5, 6, 7
#else
#define BOTH 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
#endif
enum { PAIRS = LANES / 2 };

INLINE half take_terms(const REAL *p, lanes_mask some, bool whole) {
  half x;
  if (!whole) return take_half(p, some);
  memcpy(&x, p, sizeof x);
  return x;
}

/* PAIRS terms of one row, half a register for each column, which lie along terms: by fours, the
 * last of which may have some that another has. `from`: of the columns of four. */
INLINE void add_columns(vec s[PAIRS], const REAL *a, const REAL *b, const small_call *t,
                        const i64 from[4], lanes_mask some, bool whole) {
  half one = take_terms(a, some, whole);
  vec x = PICK(one, one, BOTH);
  UNROLL for (u32 g = 0; g < LANES; g += 4) if (g < t->n) {
    const REAL *w = b + (g + 4 <= t->n || g == 0 ? g : t->n - 4) * t->b_step;
    UNROLL for (u32 j = 0; j < 4; j += 2) {
      half y = take_terms(w + from[j], some, whole), z = take_terms(w + from[j + 1], some, whole);
      s[(g + j) / 2] += x * PICK(y, z, BOTH);
    }
  }
}

static void sum_columns(const small_call *t) {
  const REAL *a = t->a, *b = t->b;
  REAL *c = t->c;
  u32 n = t->n, k = t->k / PAIRS * PAIRS, fours = n < 4 ? n : n / 4 * 4;
  lanes_mask rest = first_lanes(t->k - k), first = first_lanes(fours);
  lanes_mask last = first_lanes(fours + (n > fours ? 4 : 0)) ^ first;
  i64 from[4];
  for (u32 j = 0; j < 4; j++) from[j] = (j < n ? j : n - 1) * t->b_step;
  for (u64 q = 0; q < t->batches; q++, a += t->a_batch, b += t->b_batch, c += t->c_batch) {
    vec s[PAIRS] = {0};
    for (u32 p = 0; p < k; p += PAIRS) add_columns(s, a + p, b + p, t, from, rest, true);
    if (k < t->k) add_columns(s, a + k, b + k, t, from, rest, false);
    FOLD(s, PAIRS);
    put_vec(c, first, s[0]);
    if (n > fours) put_vec(c + n - 4 - fours, last, s[0]);
  }
}

/* A register for each of as many columns as it has lanes. */
static void sum_all(const small_call *t) {
  const REAL *a = t->a, *b = t->b;
  REAL *c = t->c;
  u32 k = t->k / LANES * LANES;
  lanes_mask rest = first_lanes(t->k - k);
  for (u64 q = 0; q < t->batches; q++, a += t->a_batch, b += t->b_batch, c += t->c_batch) {
    vec s[LANES] = {0};
    for (u32 p = 0; p < k; p += LANES) {
      vec x = load_vec(a + p);
      UNROLL for (u32 j = 0; j < LANES; j++) s[j] += x * load_vec(b + p + j * t->b_step);
    }
    if (k < t->k) {
      vec x = take_vec(a + k, rest);
      UNROLL for (u32 j = 0; j < LANES; j++) s[j] += x * take_vec(b + k + j * t->b_step, rest);
    }
    FOLD(s, LANES);
    store_vec(c, s[0]);
  }
}

static __attribute__((noinline)) vec fold_all(const vec *of) {
  vec s[LANES];
  UNROLL for (u32 i = 0; i < LANES; i++) s[i] = of[i];
  FOLD(s, LANES);
  return s[0];
}

/* One column at a time: a first cache does not have all of long ones, and the next one gives what
 * is in order sooner. */
static void sum_each(const small_call *t) {
  const REAL *a = t->a, *b = t->b;
  REAL *c = t->c;
  size_t k = t->k / LANES * LANES;
  lanes_mask rest = first_lanes(t->k - (u32)k);
  for (u64 q = 0; q < t->batches; q++, a += t->a_batch, b += t->b_batch, c += t->c_batch) {
    const REAL *w = b;
    vec s[LANES];
    for (u32 j = 0; j < LANES; j++, w += t->b_step) {
      vec x = {0}, y = {0};
      size_t p = 0;
      for (; p + 2 * LANES <= k; p += 2 * LANES) {
        x += load_vec(w + p) * load_vec(a + p);
        y += load_vec(w + p + LANES) * load_vec(a + p + LANES);
      }
      if (p < k) x += load_vec(w + p) * load_vec(a + p);
      if (k < t->k) y += take_vec(w + k, rest) * take_vec(a + k, rest);
      s[j] = x + y;
    }
    store_vec(c, fold_all(s));
  }
}

static void sum_lanes(const small_call *t) {
  enum { LONG = 512 / sizeof(REAL) };
  if (t->n < LANES || t->k < LANES)
    sum_columns(t);
  else if (t->k < LONG)
    sum_all(t);
  else
    sum_each(t);
}

#if defined(__AVX512F__) && REAL_BITS == 32
#define BY_ROWS 4
ONCE void put_rows(const small_call *t, REAL *to, vec from, u32 rows, u32 row) {
  for (u32 i = 0; i < rows; i++)
    for (u32 j = 0; j < t->n; j++) to[i * t->c_row + j] = from[i * row + j];
}

/* A register for each element of some rows and at most C columns, `apart` from one another. The
 * last rows may have some again; too few are done one by one. */
#define SUM_ROWS(C)                                                                                \
  static void sum_rows_##C(const small_call *t, const REAL *a, const REAL *b, i64 apart,           \
                           REAL *c) {                                                              \
    bool few = t->m < LANES / (C);                                                                 \
    u32 n = t->n, each = few ? 1 : LANES / (C);                                                    \
    lanes_mask made = first_lanes(each * (C));                                                     \
    i64 from[C], row = few ? 0 : t->a_row;                                                         \
    for (u32 j = 0; j < (C); j++) from[j] = (j < n ? j : n - 1) * apart;                           \
    for (u64 i = 0; i < t->m; i += each) {                                                         \
      u64 first = i + each <= t->m ? i : t->m - each;                                              \
      REAL *z = c + first * t->c_row;                                                              \
      vec s[LANES] = {0}, y[C];                                                                    \
      for (u32 p = 0; p < t->k; p += LANES) {                                                      \
        const REAL *x = a + first * t->a_row + p, *w = b + p;                                      \
        lanes_mask some = first_lanes(t->k - p < LANES ? t->k - p : LANES);                        \
        UNROLL for (u32 j = 0; j < (C); j++) y[j] = take_vec(w + from[j], some);                   \
        UNROLL for (u32 r = 0; r < LANES / (C); r++) {                                             \
          vec v = take_vec(x + r * row, some);                                                     \
          UNROLL for (u32 j = 0; j < (C); j++) s[r * (C) + j] += v * y[j];                         \
        }                                                                                          \
      }                                                                                            \
      FOLD(s, LANES);                                                                              \
      if (n == (C) && t->c_row == (C))                                                             \
        put_vec(z, made, s[0]);                                                                    \
      else                                                                                         \
        put_rows(t, z, s[0], each, (C));                                                           \
    }                                                                                              \
  }
SUM_ROWS(2)
SUM_ROWS(4)

/* Columns that lie along terms, from those that lie side by side. */
ONCE const REAL *turn_back(const small_call *t, const REAL *b) {
  REAL *to = t->line;
  for (u32 j = 0; j < t->n; j++)
    for (u32 k = 0; k < t->k; k++) to[j * t->k + k] = b[k * t->b_step + j];
  return to;
}

static void sum_rows(const small_call *t) {
  const REAL *a = t->a, *b = t->b;
  REAL *c = t->c;
  i64 apart = t->turned ? t->b_step : t->k;
  for (u64 q = 0; q < t->batches; q++, a += t->a_batch, b += t->b_batch, c += t->c_batch) {
    const REAL *columns = t->turned ? b : turn_back(t, b);
    if (t->n <= 2)
      sum_rows_2(t, a, columns, apart, c);
    else
      sum_rows_4(t, a, columns, apart, c);
  }
}
#else
#define BY_ROWS 0
#endif

/* Word w of a register whose element is one of another. */
INLINE void set_element(i32 *words, u32 lane, u32 from) {
  enum { WORDS = REAL_BITS / 32 };
  for (u32 w = 0; w < WORDS; w++) words[lane * WORDS + w] = (i32)(from * WORDS + w);
}

/* Half a register for each column, which lie side by side; as many products as registers have room
 * for. */
typedef struct pairs {
  u32 height;             /* registers of a product */
  bool dense;             /* b's registers are as they lie */
  lanes_mask some[PAIRS]; /* by register: what is read of b, */
  i64 from[PAIRS];        /* where, */
  u32 of[PAIRS];          /* and which product's it is */
  i32 in[LANE_BYTES / 4], across[LANE_BYTES / 4], out[LANE_BYTES / 4];
} pairs;

ONCE void set_pairs(const small_call *t, pairs *x, u32 products) {
  u32 k = t->k;
  for (u32 r = 0; r < PAIRS; r++) {
    u32 product = r / x->height, first = r % x->height * 2;
    u32 columns = product >= products ? 0 : t->n - first < 2 ? 1 : 2;
    x->some[r] = first_lanes(columns * k);
    x->of[r] = columns ? product : 0;
    x->from[r] = columns ? product * t->b_batch + first * k : 0;
  }
  x->dense = k == PAIRS && t->n == 2 * x->height && products * x->height == PAIRS &&
             (products == 1 || t->b_batch == t->n * k);
  for (u32 l = 0; l < LANES; l++) {
    u32 part = l / PAIRS, term = l % PAIRS; /* of lanes without one: the last, a zero */
    set_element(x->in, l, term < k ? part * k + term : LANES - 1);
    set_element(x->across, l, term < k ? term : LANES - 1);
    set_element(x->out, l, l / t->n * x->height * 2 + l % t->n);
  }
}

static void sum_pairs(const small_call *t) {
  const REAL *a = t->a, *b = t->b;
  REAL *c = t->c;
  pairs x = {.height = (t->n + 1) / 2};
  lanes_mask terms = first_lanes(t->k);
  u32 n = t->c_batch == t->n ? PAIRS / x.height : 1;
  for (u64 left = t->batches; left > 0;) {
    if (n > left) n = (u32)left;
    set_pairs(t, &x, n);
    lanes_mask made = first_lanes(n * t->n);
    for (; left >= n; left -= n, b += n * t->b_batch, c += n * t->c_batch) {
      vec s[PAIRS], y[PAIRS];
      for (u32 i = 0; i < n; i++, a += t->a_batch) y[i] = pick_vec(take_vec(a, terms), x.across);
      if (x.dense) {
        UNROLL for (u32 r = 0; r < PAIRS; r++) s[r] = load_vec(b + r * LANES) * y[x.of[r]];
      } else {
        UNROLL for (u32 r = 0; r < PAIRS; r++) s[r] =
            pick_vec(take_vec(b + x.from[r], x.some[r]), x.in) * y[x.of[r]];
      }
      FOLD(s, PAIRS);
      put_vec(c, made, pick_vec(s[0], x.out));
    }
  }
}

/* ---- tiny ones ---- */

#if defined(__AVX512F__)
/* A register has all of the result, of several products if there is room; for each term a lane
 * takes what it needs of two registers of each operand. */
ONCE bool fills(i64 step, u64 n, i64 inner_step, u64 inner) {
  return (n == 1 || step == (i64)inner) && (inner == 1 || inner_step == 1);
}

/* How many; 0: they are multiplied as others are. Whether lanes are summed up does not depend on
 * what a call has of the batches. */
ONCE u32 tiny_at_once(const small_call *t) {
  enum { WORTH = 8 };
  u32 m = t->m < 2 * LANES ? (u32)t->m : 2 * LANES, made = m * t->n, k = t->k;
  bool b = t->turned ? fills(t->b_step, t->n, 1, k) : fills(t->b_step, k, 1, t->n);
  bool a = fills(t->a_row, m, t->a_term, k) || fills(t->a_term, k, t->a_row, m);
  if (t->summed ? t->by_rows || k > PAIRS / 2 : t->batches < WORTH) return 0;
  if (!a || !b || (m > 1 && t->c_row != t->n) || made > LANES || m * k > 2 * LANES ||
      t->n * k > 2 * LANES)
    return 0;
  u32 n = LANES / made, na = 2 * LANES / (m * k), nb = 2 * LANES / (t->n * k);
  if (t->c_batch != made || t->a_batch != m * k || t->b_batch != t->n * k) n = 1;
  n = n < na ? n : na;
  n = n < nb ? n : nb;
  return !t->summed && n * made * 2 < LANES ? 0 : n;
}

typedef struct tiny {
  i32 a[2 * LANES][LANE_BYTES / 4], b[2 * LANES][LANE_BYTES / 4]; /* by term */
} tiny;

ONCE void set_tiny(const small_call *t, tiny *x) {
  u32 made = (u32)t->m * t->n, steps = t->turned ? 1 : t->n, across = t->turned ? t->k : 1;
  for (u32 k = 0; k < t->k; k++)
    for (u32 l = 0; l < LANES; l++) {
      u32 product = l / made, i = l % made / t->n, j = l % t->n;
      set_element(x->a[k], l, product * (u32)t->a_batch + i * (u32)t->a_row + k * (u32)t->a_term);
      set_element(x->b[k], l, product * (u32)t->b_batch + k * steps + j * across);
    }
}

INLINE vec pick_of_two(vec x, vec y, const i32 *at) {
  return (vec)_mm512_permutex2var_ps((__m512)x, _mm512_loadu_si512(at), (__m512)y);
}

static void multiply_tiny(const small_call *t, u32 n) {
  const REAL *a = t->a, *b = t->b;
  REAL *c = t->c;
  tiny x;
  set_tiny(t, &x);
  for (u64 left = t->batches; left > 0;) {
    if (n > left) n = (u32)left;
    u32 m = n * (u32)t->m, na = m * t->k, nb = n * t->n * t->k;
    lanes_mask a0 = first_lanes(na < LANES ? na : LANES), b0 = first_lanes(nb < LANES ? nb : LANES);
    lanes_mask a1 = first_lanes(na < LANES ? 0 : na - LANES), made = first_lanes(m * t->n);
    lanes_mask b1 = first_lanes(nb < LANES ? 0 : nb - LANES);
    for (; left >= n; left -= n, a += n * t->a_batch, b += n * t->b_batch, c += n * t->c_batch) {
      vec ax = take_vec(a, a0), ay = take_vec(a + LANES, a1), s = {0};
      vec bx = take_vec(b, b0), by = take_vec(b + LANES, b1);
      for (u32 k = 0; k < t->k; k++) s += pick_of_two(ax, ay, x.a[k]) * pick_of_two(bx, by, x.b[k]);
      put_vec(c, made, s);
    }
  }
}

MULTIPLY(half, LANES / 2)
#define TINY (PAIRS / 2)
#else
#define TINY 0
#endif

static void multiply(const small_call *t) {
#if defined(__AVX512F__)
  u32 tiny = tiny_at_once(t);
  if (tiny > 0) {
    multiply_tiny(t, tiny);
    return;
  }
#endif
  if (t->summed && !t->by_rows && t->k <= PAIRS && t->b_step == t->k) {
    sum_pairs(t);
  } else if (t->summed && !t->by_rows) {
    sum_lanes(t);
#if BY_ROWS
  } else if (t->summed) {
    sum_rows(t);
#endif
#if defined(__AVX512F__)
  } else if (t->n <= LANES / 2) {
    multiply_half(t);
#endif
  } else if (t->m == 1 && !t->turned && t->batches >= 4 && !t->a_batch && t->b_batch == LANES &&
             t->c_batch == LANES) {
    multiply_across(t);
  } else {
    multiply_vec(t);
  }
}

const small_kernels FOR_LANES(small_) = {multiply, LANES, BY_ROWS, TINY};
#else
const small_kernels FOR_LANES(small_) = {NULL, 0, 0, 0};
#endif
