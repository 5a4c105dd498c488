/* Triangular factors and solves by halves: what is left over when a half is done is a product of
 * matrices, which tiles of dot_kernel.c do; up to SMALL rows go by themselves. Built once per
 * instruction set and type (KERNELS_ISA, REAL_BITS).
 *
 * Matrices are copied to scratch first, as rows of numbers; real and imaginary parts apart, so that
 * complex products are four real ones. A factor is worked out as an upper triangle, U^H U; a solve
 * as one with a lower triangle from the left: other ones are that with rows, columns or both in
 * another order. Of few columns, the triangle is read where it lies. */
#include "exec/linalg_kernel.h"

#include <math.h>

#include "exec/lanes.h"

enum { SMALL = 32, KC = 256, MC = 96, NC = 256, MOST_TILE = 12 * 32, ABREAST = 4, THIN = 4 };

#ifdef __clang__
#define ONE_COPY __attribute__((noinline))
#else
#define ONE_COPY __attribute__((noinline, noclone))
#endif

/* Element (i, j) is at i * row + j * column of re, and of im unless that is NULL. */
typedef struct grid {
  REAL *re, *im;
  u64 row, column;
} grid;

typedef struct work {
  const dot_tile *tile;
  REAL *a, *b; /* packed */
} work;

static grid part(grid g, u64 i, u64 j) {
  u64 at = i * g.row + j * g.column;
  return (grid){g.re + at, g.im ? g.im + at : NULL, g.row, g.column};
}

/* ---- products ---- */

/* Panels of r rows: to[panel][k][row], with zeros where rows run out. */
static void pack(const REAL *from, u64 row, u64 column, u64 rows, u64 k, u64 r, REAL *to) {
  for (u64 i = 0; i < rows; i += r, to += r * k) {
    u64 n = rows - i < r ? rows - i : r;
    const REAL *x = from + i * row;
    if (n < r) memset(to, 0, r * k * sizeof(REAL));
    if (row == 1)
      for (u64 p = 0; p < k; p++) memcpy(to + p * r, x + p * column, n * sizeof(REAL));
    else
      for (u64 l = 0; l < n; l++)
        for (u64 p = 0; p < k; p++) to[p * r + l] = x[l * row + p * column];
  }
}

static void add_tile(u64 rows, u64 columns, u64 nr, REAL sign, const REAL *from, REAL *c, u64 ldc) {
  for (u64 i = 0; i < rows; i++)
    for (u64 j = 0; j < columns; j++) c[i * ldc + j] += sign * from[i * nr + j];
}

/* c += sign a b, of m x k and k x n numbers; rows of b and c are contiguous. */
static void multiply_block(const work *w, u64 m, u64 n, u64 k, const REAL *a, u64 row, u64 column,
                           REAL sign, REAL *c, u64 ldc) {
  u64 mr = w->tile->mr, nr = w->tile->nr;
  _Alignas(64) REAL sums[MOST_TILE];
  pack(a, row, column, m, k, mr, w->a);
  for (u64 j = 0; j < n; j += nr)
    for (u64 i = 0; i < m; i += mr) {
      w->tile->fn(k, w->a + i * k, w->b + j * k, sums, false);
      add_tile(m - i < mr ? m - i : mr, n - j < nr ? n - j : nr, nr, sign, sums, c + i * ldc + j,
               ldc);
    }
}
static ONE_COPY void multiply_real(const work *w, u64 m, u64 n, u64 k, const REAL *a, u64 row,
                                   u64 column, const REAL *b, u64 ldb, REAL sign, REAL *c,
                                   u64 ldc) {
  for (u64 j = 0; j < n; j += NC) {
    u64 nc = n - j < NC ? n - j : NC;
    for (u64 p = 0; p < k; p += KC) {
      u64 kc = k - p < KC ? k - p : KC;
      pack(b + p * ldb + j, 1, ldb, nc, kc, w->tile->nr, w->b);
      for (u64 i = 0; i < m; i += MC)
        multiply_block(w, m - i < MC ? m - i : MC, nc, kc, a + i * row + p * column, row, column,
                       sign, c + i * ldc + j, ldc);
    }
  }
}

/* c -= a b; `conjugated`: of a's conjugate. */
static void subtract_product(const work *w, u64 m, u64 n, u64 k, grid a, bool conjugated, grid b,
                             grid c) {
  multiply_real(w, m, n, k, a.re, a.row, a.column, b.re, b.row, -1, c.re, c.row);
  if (!c.im) return;
  REAL s = conjugated ? -1 : 1;
  multiply_real(w, m, n, k, a.im, a.row, a.column, b.im, b.row, s, c.re, c.row);
  multiply_real(w, m, n, k, a.re, a.row, a.column, b.im, b.row, -1, c.im, c.row);
  multiply_real(w, m, n, k, a.im, a.row, a.column, b.re, b.row, -s, c.im, c.row);
}

/* ---- solves ---- */

typedef struct complex_number {
  REAL re, im;
} complex_number;

/* 1 / x, where the square of x need not fit. */
static complex_number reciprocal(REAL re, REAL im) {
  if ((re < 0 ? -re : re) >= (im < 0 ? -im : im)) {
    REAL r = im / re, d = re + im * r;
    return (complex_number){1 / d, -r / d};
  }
  REAL r = re / im, d = re * r + im;
  return (complex_number){r / d, -1 / d};
}

/* Of the rows of x, vectors at..at + count. */
INLINE void solve_vecs(u32 count, u64 n, grid l, bool unit, grid x, u64 at) {
  for (u64 i = 0; i < n; i++) {
    REAL *row = x.re + i * x.row + at;
    vec s[ABREAST];
    for (u32 v = 0; v < count; v++) s[v] = load_vec(row + v * LANES);
    for (u64 k = 0; k < i; k++) {
      REAL f = l.re[i * l.row + k * l.column];
      for (u32 v = 0; v < count; v++) s[v] -= f * load_vec(x.re + k * x.row + at + v * LANES);
    }
    REAL d = unit ? 1 : l.re[i * l.row + i * l.column];
    for (u32 v = 0; v < count; v++) store_vec(row + v * LANES, unit ? s[v] : s[v] / d);
  }
}
static void solve_complex_vecs(u64 n, grid l, bool conjugated, bool unit, grid x, u64 at) {
  REAL sign = conjugated ? -1 : 1;
  for (u64 i = 0; i < n; i++) {
    REAL *row_re = x.re + i * x.row + at, *row_im = x.im + i * x.row + at;
    vec re = load_vec(row_re), im = load_vec(row_im);
    for (u64 k = 0; k < i; k++) {
      u64 f = i * l.row + k * l.column;
      vec xr = load_vec(x.re + k * x.row + at), xi = load_vec(x.im + k * x.row + at);
      re -= l.re[f] * xr - sign * l.im[f] * xi;
      im -= l.re[f] * xi + sign * l.im[f] * xr;
    }
    u64 f = i * l.row + i * l.column;
    complex_number d = {1, 0};
    if (!unit) d = reciprocal(l.re[f], sign * l.im[f]);
    store_vec(row_re, unit ? re : re * d.re - im * d.im);
    store_vec(row_im, unit ? im : re * d.im + im * d.re);
  }
}
static void solve_small(u64 n, u64 columns, grid l, bool conjugated, bool unit, grid x) {
  u64 at = 0;
  for (; !x.im && at + ABREAST * LANES <= columns; at += ABREAST * LANES)
    solve_vecs(ABREAST, n, l, unit, x, at);
  for (; at < columns; at += LANES)
    if (x.im)
      solve_complex_vecs(n, l, conjugated, unit, x, at);
    else
      solve_vecs(1, n, l, unit, x, at);
}

/* l x = what x has, in place. Rows of x may be read and written up to a whole vector. */
static ONE_COPY void solve_lower(const work *w, u64 n, u64 columns, grid l, bool conjugated,
                                 bool unit, grid x) {
  if (n <= SMALL) {
    solve_small(n, columns, l, conjugated, unit, x);
    return;
  }
  u64 half = align_up(n / 2, SMALL);
  if (half >= n) half = SMALL;
  solve_lower(w, half, columns, l, conjugated, unit, x);
  subtract_product(w, n - half, columns, half, part(l, half, 0), conjugated, x, part(x, half, 0));
  solve_lower(w, n - half, columns, part(l, half, half), conjugated, unit, part(x, half, 0));
}

/* ---- factors ---- */

static void factor_row(u64 k, u64 n, grid u, REAL d) {
  REAL *row = u.re + k * u.row, *im = u.im ? u.im + k * u.row : NULL;
  row[k] = d;
  for (u64 j = k + 1; j < n; j++) row[j] /= d;
  if (!im) return;
  im[k] = 0;
  for (u64 j = k + 1; j < n; j++) im[j] /= d;
}

static u64 factor_small(u64 n, grid u) {
  for (u64 k = 0; k < n; k++) {
    REAL d = u.re[k * u.row + k];
    if (!(d > 0)) return k + 1;
    factor_row(k, n, u, REAL_BITS == 64 ? (REAL)sqrt(d) : (REAL)sqrtf((float)d));
    const REAL *re = u.re + k * u.row, *im = u.im ? u.im + k * u.row : NULL;
    for (u64 i = k + 1; i < n; i++) {
      REAL *to = u.re + i * u.row, *to_im = im ? u.im + i * u.row : NULL;
      for (u64 j = i; j < n; j++) to[j] -= re[i] * re[j];
      if (!im) continue;
      for (u64 j = i; j < n; j++) to[j] -= im[i] * im[j];
      for (u64 j = i; j < n; j++) to_im[j] -= re[i] * im[j] - im[i] * re[j];
    }
  }
  return 0;
}

/* The upper triangle of c -= u^H u, u of k rows; what is below may be overwritten. */
static void subtract_square(const work *w, u64 n, u64 k, grid u, grid c) {
  grid flipped = {u.re, u.im, u.column, u.row};
  if (n <= MC) {
    subtract_product(w, n, n, k, flipped, true, u, c);
    return;
  }
  u64 half = align_up(n / 2, SMALL);
  subtract_square(w, half, k, u, c);
  subtract_product(w, half, n - half, k, flipped, true, part(u, 0, half), part(c, 0, half));
  subtract_square(w, n - half, k, part(u, 0, half), part(c, half, half));
}

static u64 factor_upper(const work *w, u64 n, grid u) {
  if (n <= SMALL) return factor_small(n, u);
  u64 half = align_up(n / 2, SMALL);
  if (half >= n) half = SMALL;
  u64 bad = factor_upper(w, half, u);
  if (bad) return bad;
  grid right = part(u, 0, half), rest = part(u, half, half);
  solve_lower(w, half, n - half, (grid){u.re, u.im, u.column, u.row}, true, false, right);
  subtract_square(w, n - half, half, right, rest);
  bad = factor_upper(w, n - half, rest);
  return bad ? half + bad : 0;
}

/* ---- from memory, and back ---- */

/* Rows go by blocks, whose lines stay in the cache where memory has columns, one after another. */
enum { BLOCK = 16 };
typedef struct cells {
  u64 first, end;
} cells;

/* Of line `at` of a triangle, or all: those on one side of the diagonal. */
static cells cells_of(u64 first, u64 end, u64 at, bool from_diagonal, bool to_diagonal) {
  if (from_diagonal && first < at) first = at;
  if (to_diagonal && end > at + 1) end = at + 1;
  return (cells){first, end};
}

INLINE void load_cell(REAL sign, const strided *from, const grid *to, u64 i, u64 j) {
  const REAL *x =
      (const REAL *)from->data + ((i64)i * from->row + (i64)j * from->column) * (to->im ? 2 : 1);
  to->re[i * to->row + j] = x[0];
  if (to->im) to->im[i * to->row + j] = sign * x[1];
}
INLINE void store_cell(REAL sign, const grid *from, const strided *to, u64 i, u64 j) {
  REAL *x = (REAL *)to->data + ((i64)i * to->row + (i64)j * to->column) * (from->im ? 2 : 1);
  x[0] = from->re[i * from->row + j];
  if (from->im) x[1] = sign * from->im[i * from->row + j];
}

static void load_cells(REAL sign, const strided *from, const grid *to, u64 i, cells c) {
  if (!to->im && from->column == 1 && c.first < c.end)
    memcpy(to->re + i * to->row + c.first, (const REAL *)from->data + (i64)i * from->row + c.first,
           (c.end - c.first) * sizeof(REAL));
  else
    for (u64 j = c.first; j < c.end; j++) load_cell(sign, from, to, i, j);
}
static void store_cells(REAL sign, const grid *from, const strided *to, u64 i, cells c) {
  if (!from->im && to->column == 1 && c.first < c.end)
    memcpy((REAL *)to->data + (i64)i * to->row + c.first, from->re + i * from->row + c.first,
           (c.end - c.first) * sizeof(REAL));
  else
    for (u64 j = c.first; j < c.end; j++) store_cell(sign, from, to, i, j);
}

/* cell: of rows [at, end) and columns, or a triangle of these, each. */
#define EACH_CELL(cell, sign, from, to, along_rows)                                                \
  for (u64 at = 0, end; at < rows; at = end) {                                                     \
    end = rows - at < BLOCK ? rows : at + BLOCK;                                                   \
    for (u64 j = 0; (along_rows) && j < columns; j++) {                                            \
      cells c = cells_of(at, end, j, lower_only, upper_only);                                      \
      for (u64 i = c.first; i < c.end; i++) cell(sign, from, to, i, j);                            \
    }                                                                                              \
    for (u64 i = at; !(along_rows) && i < end; i++) {                                              \
      cells c = cells_of(0, columns, i, upper_only, lower_only);                                   \
      cell##s(sign, from, to, i, c);                                                               \
    }                                                                                              \
  }

/* To scratch, with zeros behind each row. */
static void load(u64 rows, u64 columns, bool upper_only, bool lower_only, REAL sign,
                 const strided *from, const grid *to) {
  EACH_CELL(load_cell, sign, from, to, from->row == 1)
  u64 row = to->row, rest = (row - columns) * sizeof(REAL);
  for (u64 at = columns; at < rows * row; at += row) {
    memset(to->re + at, 0, rest);
    if (to->im) memset(to->im + at, 0, rest);
  }
}
static void store(u64 rows, u64 columns, bool upper_only, REAL sign, const grid *from,
                  const strided *to) {
  const bool lower_only = false;
  EACH_CELL(store_cell, sign, from, to, to->row == 1)
}

static strided flip(strided s) { return (strided){s.data, s.column, s.row}; }
/* The rows, or the rows and columns, in the opposite order. */
static strided reversed(strided s, u64 n, bool columns, bool complex) {
  i64 size = (complex ? 2 : 1) * (i64)sizeof(REAL), last = (i64)n - 1;
  char *at = (char *)s.data + (last * s.row + (columns ? last * s.column : 0)) * size;
  return (strided){at, -s.row, columns ? -s.column : s.column};
}

static u64 row_of(u64 columns) { return align_up(columns + LANES, LANES); }

static grid take_grid(bool complex, u64 rows, u64 columns, REAL **at) {
  grid g = {.re = *at, .row = row_of(columns), .column = 1};
  *at += rows * g.row;
  if (complex) {
    g.im = *at;
    *at += rows * g.row;
  }
  return g;
}
static work take_work(const dot_tile *tile, REAL **at) {
  work w = {tile, *at, *at + MC * KC + 16 * KC};
  *at = w.b + NC * KC;
  return w;
}

static u64 factor(const dot_tile *tile, const triangle *t, strided a, strided out, char *scratch) {
  REAL *at = (REAL *)scratch;
  work w = take_work(tile, &at);
  grid u = take_grid(t->complex, t->n, t->n, &at);
  REAL sign = t->lower ? -1 : 1; /* L is U^H */
  if (t->lower) a = flip(a), out = flip(out);
  load(t->n, t->n, true, false, sign, &a, &u);
  u64 bad = factor_upper(&w, t->n, u);
  store(t->n, t->n, true, sign, &u, &out);
  return bad;
}

/* ---- few columns: one after another, from the triangle where it lies ---- */

static void subtract_times(u64 n, REAL f, const REAL *restrict l, REAL *restrict y) {
  for (u64 i = 0; i < n; i++) y[i] -= f * l[i];
}
static REAL sum_products(u64 n, const REAL *l, const REAL *y) {
  vec s = {0};
  REAL rest = 0;
  u64 i = 0;
  for (; i + LANES <= n; i += LANES) s += load_vec(l + i) * load_vec(y + i);
  for (; i < n; i++) rest += l[i] * y[i];
  for (u32 k = 1; k < LANES; k *= 2) s = PICK(s, s, EVEN) + PICK(s, s, ODD);
  return rest + s[0];
}

/* Of l, the rows or the columns are contiguous. */
static void solve_thin(const triangle *t, strided l, bool backward, REAL *y) {
  u64 n = t->n;
  const REAL *from = l.data;
  for (u64 done = 0; done < n; done++) {
    u64 i = backward ? n - 1 - done : done;
    const REAL *row = from + (i64)i * l.row, *column = from + (i64)i * l.column;
    if (l.row != 1) {
      u64 at = backward ? i + 1 : 0;
      y[i] -= sum_products(done, row + at, y + at);
    }
    if (!t->unit) y[i] /= row[(i64)i * l.column];
    if (l.row == 1) {
      u64 at = backward ? 0 : i + 1;
      subtract_times(n - 1 - done, y[i], column + at, y + at);
    }
  }
}
static ONE_COPY void solve_columns(const triangle *t, u64 columns, strided a, strided b, strided x,
                                   REAL *y) {
  for (u64 j = 0; j < columns; j++) {
    const REAL *from = (const REAL *)b.data + (i64)j * b.column;
    REAL *to = (REAL *)x.data + (i64)j * x.column;
    for (u64 i = 0; i < t->n; i++) y[i] = from[(i64)i * b.row];
    solve_thin(t, a, t->lower == t->transposed, y);
    for (u64 i = 0; i < t->n; i++) to[(i64)i * x.row] = y[i];
  }
}

static void solve(const dot_tile *tile, const triangle *t, u64 columns, strided a, strided b,
                  strided x, char *scratch) {
  REAL *at = (REAL *)scratch;
  work w = take_work(tile, &at);
  grid l = take_grid(t->complex, t->n, t->n, &at), y = take_grid(t->complex, t->n, columns, &at);
  bool backward = t->lower == t->transposed;
  if (t->transposed) a = flip(a);
  if (columns <= THIN && !t->complex && (a.row == 1 || a.column == 1)) {
    solve_columns(t, columns, a, b, x, (REAL *)scratch);
    return;
  }
  if (backward) {
    a = reversed(a, t->n, true, t->complex);
    b = reversed(b, t->n, false, t->complex);
    x = reversed(x, t->n, false, t->complex);
  }
  load(t->n, t->n, false, true, t->conjugated ? -1 : 1, &a, &l);
  load(t->n, columns, false, false, 1, &b, &y);
  solve_lower(&w, t->n, columns, l, false, t->unit, y);
  store(t->n, columns, false, 1, &y, &x);
}

static bool count_scratch(const triangle *t, u64 columns, u64 *bytes) {
  u64 a, b, parts = (t->complex ? 2 : 1) * sizeof(REAL);
  if (t->n >> 32 || columns >> 40 || !checked_mul(t->n, row_of(t->n) * parts, &a) ||
      !checked_mul(t->n, row_of(columns) * parts, &b) || !checked_add(a, b, bytes))
    return false;
  return checked_add(*bytes, (MC + 16 + NC) * KC * sizeof(REAL) + 64, bytes);
}

const linalg_kernels FOR_LANES(linalg_) = {factor, solve, count_scratch};
