/* Arrays that should be alike. */
#include <math.h>
#include <stdlib.h>

#include "api/verify_look.h"
#include "num/convert.h"

double array_tolerance(dtype t) {
  const dtype_info *i = &dtype_infos[t];
  if (i->kind != DTYPE_CLASS_FLOAT && i->kind != DTYPE_CLASS_COMPLEX) return 0;
  if (t == DTYPE_f64 || t == DTYPE_c128) return 1e-9;
  return t == DTYPE_f32 || t == DTYPE_c64 ? 1e-3 : 6e-2;
}

/* Of two arrays, or of parts of them one after the other. */
typedef struct error_sum {
  double most; /* the largest difference */
  bool broken; /* whole numbers that differ; a NaN or an infinity that only one has */
} error_sum;

static dtype part_of(dtype t) {
  return t == DTYPE_c64 ? DTYPE_f32 : t == DTYPE_c128 ? DTYPE_f64 : t;
}

static void add_error(error_sum *e, dtype t, const void *x, const void *y, size_t bytes) {
  dtype part = part_of(t);
  size_t size = dtype_size(part);
  if (memcmp(x, y, bytes) == 0) return;
  e->broken |= dtype_infos[part].kind != DTYPE_CLASS_FLOAT;
  for (size_t i = 0; size && !e->broken && i + size <= bytes; i += size) {
    double a = num_to_f64(part, (const char *)x + i), b = num_to_f64(part, (const char *)y + i);
    if (a == b || (isnan(a) && isnan(b))) continue;
    e->broken |= !isfinite(a) || !isfinite(b);
    e->most = fmax(e->most, fabs(a - b));
  }
}

static int by_size(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

enum { SAMPLE = 1024, ABOVE_QUARTILE = 32 };

/* What errors are parts of: the largest magnitude, but not where that is of a few elements far from
 * all others, as the -1e9 of a mask. */
static double scale_of(dtype part, const void *data, size_t bytes) {
  size_t size = dtype_size(part), n = bytes / size, every = n / SAMPLE + 1;
  double sample[SAMPLE], most = 0;
  u32 num = 0;
  for (size_t i = 0; i < n; i++) {
    double x = fabs(num_to_f64(part, (const char *)data + i * size));
    if (!isfinite(x)) continue;
    most = fmax(most, x);
    if (i % every == 0 && x > 0) sample[num++] = x;
  }
  if (num) qsort(sample, num, sizeof *sample, by_size);
  return fmax(1e-6, num ? fmin(most, ABOVE_QUARTILE * sample[num / 4]) : most);
}

static double error_of(const error_sum *e, dtype t, const void *of, size_t bytes) {
  if (e->broken || e->most <= 0) return e->broken ? INFINITY : 0;
  return e->most / scale_of(part_of(t), of, bytes);
}

double array_error(dtype t, const void *x, const void *y, size_t bytes) {
  error_sum e = {0};
  add_error(&e, t, x, y, bytes);
  return error_of(&e, t, y, bytes);
}

/* ---- pieces ---- */

typedef struct piecing {
  const compared_pieces *p;
  size_t rows, row, width; /* of a piece: rows, elements in one; of the whole: elements in one */
  double *sum;             /* of all pieces, where they are to be added; NULL: they are not */
  double least;            /* error; INFINITY: nothing fits */
} piecing;

/* Row r of a piece begins at element *out of the whole; false: it is padding. */
static bool find_row(const piecing *s, const u32 *slice, size_t r, size_t *out) {
  const i64 *dims = s->p->whole.data, *local = s->p->local.data;
  size_t unit = s->width, rank = s->p->whole.len;
  *out = rank ? slice[rank - 1] * s->row : 0;
  for (size_t d = rank; d-- > 1; r /= (size_t)local[d - 1]) {
    i64 at = (i64)(r % (size_t)local[d - 1]) + slice[d - 1] * local[d - 1];
    if (at >= dims[d - 1]) return false;
    *out += (size_t)at * unit;
    unit *= (size_t)dims[d - 1];
  }
  return true;
}

/* fn with each row of each piece: where it is, where it belongs, how many elements. */
typedef void row_fn(piecing *s, const char *x, size_t at, size_t n, error_sum *e);
static void each_row(piecing *s, const u32 *slices, row_fn *fn, error_sum *e) {
  size_t size = dtype_size(s->p->type), rank = s->p->whole.len, at;
  const char *x = s->p->pieces;
  for (i64 i = 0; i < s->p->num; i++)
    for (size_t r = 0; r < s->rows; r++, x += s->row * size) {
      const u32 *slice = slices + (size_t)i * rank;
      size_t from = rank ? slice[rank - 1] * s->row : 0;
      size_t n = from < s->width ? s->width - from : 0;
      if (find_row(s, slice, r, &at)) fn(s, x, at, n < s->row ? n : s->row, e);
    }
}

static void compare_row(piecing *s, const char *x, size_t at, size_t n, error_sum *e) {
  size_t size = dtype_size(s->p->type);
  add_error(e, s->p->type, x, s->p->of + at * size, n * size);
}

static void add_row(piecing *s, const char *x, size_t at, size_t n, error_sum *e) {
  (void)e;
  dtype part = part_of(s->p->type);
  size_t each = dtype_size(s->p->type) / dtype_size(part), size = dtype_size(part);
  for (size_t i = 0; i < n * each; i++) s->sum[at * each + i] += num_to_f64(part, x + i * size);
}

static bool note_error(piecing *s, const error_sum *e) {
  double error = error_of(e, s->p->type, s->p->of, s->p->bytes);
  s->least = fmin(s->least, error);
  return s->least == 0;
}

static bool try_whole(void *user, const u32 *slices) {
  error_sum e = {0};
  each_row(user, slices, compare_row, &e);
  return note_error(user, &e);
}

/* How many devices have the same piece. */
static i64 count_copies(const piecing *s, const u32 *slices) {
  size_t rank = s->p->whole.len;
  i64 n = 0;
  for (i64 i = 0; i < s->p->num; i++)
    n += memcmp(slices, slices + (size_t)i * rank, rank * sizeof *slices) == 0;
  return n;
}

/* Parts of a sum: what devices have in the same place, over some axes or all, adds up to it. */
static bool try_parts(void *user, const u32 *slices) {
  piecing *s = user;
  dtype part = part_of(s->p->type);
  size_t n = s->p->bytes / dtype_size(part);
  i64 copies = count_copies(s, slices);
  memset(s->sum, 0, n * sizeof *s->sum);
  if (copies > 1) each_row(s, slices, add_row, NULL);
  for (i64 again = 1; again < copies; again++) {
    error_sum e = {0};
    if (copies % again) continue;
    for (size_t i = 0; i < n; i++) {
      double x = s->sum[i] / (double)again;
      e.most = fmax(e.most, fabs(x - num_to_f64(part, s->p->of + i * dtype_size(part))));
      e.broken |= !isfinite(x);
    }
    if (note_error(s, &e)) return true;
  }
  return false;
}

double compare_pieces(const compared_pieces *p, bool parts) {
  piecing s = {.p = p, .rows = 1, .row = 1, .width = 1, .least = INFINITY};
  dtype part = part_of(p->type);
  size_t rank = p->whole.len;
  if (rank) s.row = (size_t)p->local.data[rank - 1], s.width = (size_t)p->whole.data[rank - 1];
  for (size_t d = 0; d + 1 < rank; d++) s.rows *= (size_t)p->local.data[d];
  if (parts && dtype_infos[part].kind != DTYPE_CLASS_FLOAT) return INFINITY;
  if (parts) s.sum = mem_zalloc(&mem_system, (p->bytes / dtype_size(part) + 1) * sizeof *s.sum);
  if (parts && !s.sum) return INFINITY;
  bool fits = each_layout(p->mesh, p->whole, p->local, parts ? try_parts : try_whole, &s);
  mem_free(&mem_system, s.sum, 0);
  return fits ? s.least : -1;
}
