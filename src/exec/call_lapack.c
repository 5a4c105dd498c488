/* "lapack_<type><routine>_ffi": the system's LAPACK, loaded at run time, as JAX calls it on the
 * CPU. Matrices are column-major: the last two dimensions of an operand are columns and rows.
 * Parameters: the characters that LAPACK takes as mode, uplo, side, trans_x, diag, compute_left,
 * compute_right and sort, 0 where there is none, the rows low to high, and of ormqr whether it
 * multiplies from the left, by the transpose. A unit is a matrix of the batch. */
#include <math.h>
#include <stdio.h>

#include "exec/calls.h"

enum { MODE, UPLO, SIDE, TRANS, DIAG, LEFT, RIGHT, SORT, FLAGS };
enum { LOW = FLAGS, HIGH, FROM_LEFT, TRANSPOSED, LAPACK_PARAMS };
enum { MOST_OPERANDS = 4, MOST_RESULTS = 6 };

typedef void routine_fn(void); /* called as what it is */

typedef struct lapack {
  routine_fn *fn;
  char flags[FLAGS]; /* characters, as LAPACK takes them */
  int low, high;     /* rows, from 1 on */
  int rows;          /* of the reflectors of ormqr */
  u64 count;         /* matrices */
  int m, n, k, lwork, lrwork, liwork;
  u64 size; /* bytes of an element */
  bool is_complex;
  size_t rwork_at, iwork_at; /* in scratch, behind the work array */
  size_t own_at;             /* the matrix, and two more */
} lapack;

/* What a unit works on: element counts are those of one matrix. */
typedef struct piece {
  void *out[MOST_RESULTS];
  const void *in[MOST_OPERANDS]; /* those that are only read */
  void *work, *rwork;
  char *own; /* of matrices that are no result */
  int *iwork;
} piece;

typedef void run_fn(const lapack *l, const piece *p, int *info);
typedef bool plan_fn(const call_plan *plan, lapack *l, i64 *want);
typedef struct routine {
  const char *real, *complex; /* without the letter of the type */
  /* Of each operand which result begins as its copy; -: it is only read, o: none does, but it is
   * copied, p: result 1, and both are s32. */
  const char *operands;
  u32 main;               /* the operand whose last two dimensions are columns and rows */
  const char *results[2]; /* real, complex: t the type, r its real, c its complex type, i s32 */
  i64 flags;              /* a bit for each that it takes */
  plan_fn *plan;          /* elements of one matrix in each output; false: no such shape */
  run_fn *run;
} routine;

/* ---- the routines ---- */

#define P const void *
typedef void getrf_fn(P m, P n, void *a, P lda, void *ipiv, void *info);
typedef void geqrf_fn(P m, P n, void *a, P lda, void *tau, void *work, P lwork, void *info);
typedef void orgqr_fn(P m, P n, P k, void *a, P lda, P tau, void *work, P lwork, void *info);
typedef void potrf_fn(P uplo, P n, void *a, P lda, void *info, size_t len);
typedef void syevd_fn(P job, P uplo, P n, void *a, P lda, void *w, void *work, P lwork, void *iwork,
                      P liwork, void *info, size_t len1, size_t len2);
typedef void heevd_fn(P job, P uplo, P n, void *a, P lda, void *w, void *work, P lwork, void *rwork,
                      P lrwork, void *iwork, P liwork, void *info, size_t len1, size_t len2);
typedef void gesdd_fn(P job, P m, P n, void *a, P lda, void *s, void *u, P ldu, void *vt, P ldvt,
                      void *work, P lwork, void *iwork, void *info, size_t len);
typedef void gesddc_fn(P job, P m, P n, void *a, P lda, void *s, void *u, P ldu, void *vt, P ldvt,
                       void *work, P lwork, void *rwork, void *iwork, void *info, size_t len);
typedef void gesvd_fn(P jobu, P jobvt, P m, P n, void *a, P lda, void *s, void *u, P ldu, void *vt,
                      P ldvt, void *work, P lwork, void *info, size_t len1, size_t len2);
typedef void gesvdc_fn(P jobu, P jobvt, P m, P n, void *a, P lda, void *s, void *u, P ldu, void *vt,
                       P ldvt, void *work, P lwork, void *rwork, void *info, size_t len1,
                       size_t len2);
typedef void geqp3_fn(P m, P n, void *a, P lda, void *jpvt, void *tau, void *work, P lwork,
                      void *info);
typedef void geqp3c_fn(P m, P n, void *a, P lda, void *jpvt, void *tau, void *work, P lwork,
                       void *rwork, void *info);
typedef void ormqr_fn(P side, P trans, P m, P n, P k, P a, P lda, P tau, void *c, P ldc, void *work,
                      P lwork, void *info, size_t len1, size_t len2);
typedef void gtsv_fn(P n, P columns, void *dl, void *d, void *du, void *b, P ldb, void *info);
typedef void trsm_fn(P side, P uplo, P trans, P diag, P m, P n, P alpha, P a, P lda, void *b, P ldb,
                     size_t len1, size_t len2, size_t len3, size_t len4);
typedef void gehrd_fn(P n, P low, P high, void *a, P lda, void *tau, void *work, P lwork,
                      void *info);
typedef void sytrd_fn(P uplo, P n, void *a, P lda, void *d, void *e, void *tau, void *work, P lwork,
                      void *info, size_t len);
typedef void geev_fn(P left, P right, P n, void *a, P lda, void *re, void *im, void *vl, P ldvl,
                     void *vr, P ldvr, void *work, P lwork, void *info, size_t len1, size_t len2);
typedef void geevc_fn(P left, P right, P n, void *a, P lda, void *w, void *vl, P ldvl, void *vr,
                      P ldvr, void *work, P lwork, void *rwork, void *info, size_t len1,
                      size_t len2);
typedef void gees_fn(P job, P sort, P select, P n, void *a, P lda, void *sdim, void *re, void *im,
                     void *vs, P ldvs, void *work, P lwork, void *bwork, void *info, size_t len1,
                     size_t len2);
typedef void geesc_fn(P job, P sort, P select, P n, void *a, P lda, void *sdim, void *w, void *vs,
                      P ldvs, void *work, P lwork, void *rwork, void *bwork, void *info,
                      size_t len1, size_t len2);

/* As xGETRF, of a square matrix of a few real numbers. */
enum { FEW = 8 };
#define FACTOR_FEW(T)                                                                              \
  static void factor_##T(int n, T *a, int *pivots, int *info) {                                    \
    for (int k = 0; k < n; k++) {                                                                  \
      T *column = a + k * n, t;                                                                    \
      int p = k;                                                                                   \
      for (int i = k + 1; i < n; i++)                                                              \
        if (fabs(column[i]) > fabs(column[p])) p = i;                                              \
      pivots[k] = p + 1;                                                                           \
      if (column[p] == 0) {                                                                        \
        if (*info == 0) *info = k + 1;                                                             \
        continue;                                                                                  \
      }                                                                                            \
      for (int j = 0; j < n && p != k; j++)                                                        \
        t = a[j * n + k], a[j * n + k] = a[j * n + p], a[j * n + p] = t;                           \
      for (int i = k + 1; i < n; i++) column[i] /= column[k];                                      \
      for (int j = k + 1; j < n; j++)                                                              \
        for (int i = k + 1; i < n; i++) a[j * n + i] -= column[i] * a[j * n + k];                  \
    }                                                                                              \
  }
FACTOR_FEW(float)
FACTOR_FEW(double)

static void run_getrf(const lapack *l, const piece *p, int *info) {
  if (l->m == l->n && l->n <= FEW && !l->is_complex) {
    if (l->size == sizeof(float))
      factor_float(l->n, p->out[0], p->out[1], info);
    else
      factor_double(l->n, p->out[0], p->out[1], info);
    return;
  }
  ((getrf_fn *)l->fn)(&l->m, &l->n, p->out[0], &l->m, p->out[1], info);
}
static void run_geqrf(const lapack *l, const piece *p, int *info) {
  ((geqrf_fn *)l->fn)(&l->m, &l->n, p->out[0], &l->m, p->out[1], p->work, &l->lwork, info);
}
static void run_orgqr(const lapack *l, const piece *p, int *info) {
  ((orgqr_fn *)l->fn)(&l->m, &l->n, &l->k, p->out[0], &l->m, p->in[1], p->work, &l->lwork, info);
}
static void run_potrf(const lapack *l, const piece *p, int *info) {
  ((potrf_fn *)l->fn)(&l->flags[UPLO], &l->n, p->out[0], &l->n, info, 1);
}
static void run_syevd(const lapack *l, const piece *p, int *info) {
  const char *job = &l->flags[MODE], *uplo = &l->flags[UPLO];
  if (l->is_complex)
    ((heevd_fn *)l->fn)(job, uplo, &l->n, p->out[0], &l->n, p->out[1], p->work, &l->lwork, p->rwork,
                        &l->lrwork, p->iwork, &l->liwork, info, 1, 1);
  else
    ((syevd_fn *)l->fn)(job, uplo, &l->n, p->out[0], &l->n, p->out[1], p->work, &l->lwork, p->iwork,
                        &l->liwork, info, 1, 1);
}
static void run_gesdd(const lapack *l, const piece *p, int *info) {
  int rows = l->flags[MODE] == 'A' ? l->n : l->k;
  if (l->is_complex)
    ((gesddc_fn *)l->fn)(&l->flags[MODE], &l->m, &l->n, p->out[0], &l->m, p->out[1], p->out[2],
                         &l->m, p->out[3], &rows, p->work, &l->lwork, p->rwork, p->iwork, info, 1);
  else
    ((gesdd_fn *)l->fn)(&l->flags[MODE], &l->m, &l->n, p->out[0], &l->m, p->out[1], p->out[2],
                        &l->m, p->out[3], &rows, p->work, &l->lwork, p->iwork, info, 1);
}
static void run_gesvd(const lapack *l, const piece *p, int *info) {
  const char *mode = &l->flags[MODE];
  int rows = *mode == 'A' ? l->n : l->k;
  if (l->is_complex)
    ((gesvdc_fn *)l->fn)(mode, mode, &l->m, &l->n, p->out[0], &l->m, p->out[1], p->out[2], &l->m,
                         p->out[3], &rows, p->work, &l->lwork, p->rwork, info, 1, 1);
  else
    ((gesvd_fn *)l->fn)(mode, mode, &l->m, &l->n, p->out[0], &l->m, p->out[1], p->out[2], &l->m,
                        p->out[3], &rows, p->work, &l->lwork, info, 1, 1);
}
static void run_geqp3(const lapack *l, const piece *p, int *info) {
  if (l->is_complex)
    ((geqp3c_fn *)l->fn)(&l->m, &l->n, p->out[0], &l->m, p->out[1], p->out[2], p->work, &l->lwork,
                         p->rwork, info);
  else
    ((geqp3_fn *)l->fn)(&l->m, &l->n, p->out[0], &l->m, p->out[1], p->out[2], p->work, &l->lwork,
                        info);
}
static void run_ormqr(const lapack *l, const piece *p, int *info) {
  ((ormqr_fn *)l->fn)(&l->flags[SIDE], &l->flags[TRANS], &l->m, &l->n, &l->k, p->in[0], &l->rows,
                      p->in[1], p->out[0], &l->m, p->work, &l->lwork, info, 1, 1);
}
/* Row i of the diagonal below is of the matrix's row i, so that its first number is none. */
static void run_gtsv(const lapack *l, const piece *p, int *info) {
  ((gtsv_fn *)l->fn)(&l->m, &l->n, (char *)p->out[0] + l->size, p->out[1], p->out[2], p->out[3],
                     &l->m, info);
}
static void run_trsm(const lapack *l, const piece *p, int *info) {
  const double one[2] = {1, 0};
  const float one_f32[2] = {1, 0};
  bool wide = l->size == (l->is_complex ? 16 : 8);
  ((trsm_fn *)l->fn)(&l->flags[SIDE], &l->flags[UPLO], &l->flags[TRANS], &l->flags[DIAG], &l->m,
                     &l->n, wide ? (const void *)one : one_f32, p->in[0], &l->k, p->out[0], &l->m,
                     1, 1, 1, 1);
  *info = 0;
}
static void run_gehrd(const lapack *l, const piece *p, int *info) {
  ((gehrd_fn *)l->fn)(&l->n, &l->low, &l->high, p->out[0], &l->n, p->out[1], p->work, &l->lwork,
                      info);
}
static void run_sytrd(const lapack *l, const piece *p, int *info) {
  ((sytrd_fn *)l->fn)(&l->flags[UPLO], &l->n, p->out[0], &l->n, p->out[1], p->out[2], p->out[3],
                      p->work, &l->lwork, info, 1);
}

/* Vectors of a real matrix: those of a pair of values are x + iy and x - iy, of which v has x and
 * y. */
#define PAIRS(T)                                                                                   \
  static void pairs_##T(size_t n, const T *im, const T *v, T *out) {                               \
    for (size_t k = 0; k < n; k++) {                                                               \
      bool second = k > 0 && im[k] < 0, pair = im[k] != 0 && (second || k + 1 < n);                \
      const T *x = v + (second ? k - 1 : k) * n, *y = x + n;                                       \
      for (size_t i = 0; i < n; i++) {                                                             \
        out[2 * (k * n + i)] = x[i];                                                               \
        out[2 * (k * n + i) + 1] = !pair ? 0 : second ? -y[i] : y[i];                              \
      }                                                                                            \
    }                                                                                              \
  }
PAIRS(float)
PAIRS(double)

/* What is not finite cannot be balanced: newer xGEBAL ends the process over it. jaxlib's handlers
 * answer the same. Asked how much work there is, it has no numbers yet. */
enum { NOT_FINITE = -4 };
static bool can_balance(const lapack *l, const void *a, int *info) {
  size_t n = (size_t)l->n * (size_t)l->n * (l->is_complex ? 2 : 1);
  bool wide = l->size == (l->is_complex ? 16 : 8), fine = true;
  if (l->lwork < 0) return true;
  for (size_t i = 0; i < n && fine; i++)
    fine = wide ? isfinite(((const double *)a)[i]) : isfinite(((const float *)a)[i]);
  if (!fine) *info = NOT_FINITE;
  return fine;
}

static void run_geev(const lapack *l, const piece *p, int *info) {
  const char *left = &l->flags[LEFT], *right = &l->flags[RIGHT];
  size_t n = (size_t)l->n, bytes = n * n * l->size;
  if (!can_balance(l, p->own, info)) return;
  if (l->is_complex) {
    ((geevc_fn *)l->fn)(left, right, &l->n, p->own, &l->n, p->out[0], p->out[1], &l->n, p->out[2],
                        &l->n, p->work, &l->lwork, p->rwork, info, 1, 1);
    return;
  }
  char *v[] = {p->own + bytes, p->own + 2 * bytes};
  ((geev_fn *)l->fn)(left, right, &l->n, p->own, &l->n, p->out[0], p->out[1], v[0], &l->n, v[1],
                     &l->n, p->work, &l->lwork, info, 1, 1);
  for (int i = 0; i < 2; i++) {
    if (l->lwork < 0 || l->flags[LEFT + i] != 'V') continue;
    if (l->size == sizeof(float))
      pairs_float(n, p->out[1], (const float *)v[i], p->out[2 + i]);
    else
      pairs_double(n, p->out[1], (const double *)v[i], p->out[2 + i]);
  }
}
static void run_gees(const lapack *l, const piece *p, int *info) {
  const char *job = &l->flags[MODE], *sort = &l->flags[SORT];
  if (!can_balance(l, p->out[0], info)) return;
  if (l->is_complex)
    ((geesc_fn *)l->fn)(job, sort, NULL, &l->n, p->out[0], &l->n, p->out[3], p->out[2], p->out[1],
                        &l->n, p->work, &l->lwork, p->rwork, NULL, info, 1, 1);
  else
    ((gees_fn *)l->fn)(job, sort, NULL, &l->n, p->out[0], &l->n, p->out[4], p->out[2], p->out[3],
                       p->out[1], &l->n, p->work, &l->lwork, NULL, info, 1, 1);
}

/* ---- shapes: what each output has of one matrix ---- */

static i64 last_dim(const prog_operand *o) {
  return o->dims.len ? o->dims.data[o->dims.len - 1] : 0;
}

static bool plan_getrf(const call_plan *plan, lapack *l, i64 *want) {
  (void)plan;
  want[1] = l->k;
  want[2] = 1;
  return true;
}
static bool plan_geqrf(const call_plan *plan, lapack *l, i64 *want) {
  (void)plan;
  want[1] = l->k;
  return true;
}
static bool plan_orgqr(const call_plan *plan, lapack *l, i64 *want) {
  (void)want;
  i64 k = last_dim(&plan->c->in[1]);
  if (l->n > l->m || k > l->n || call_in_count(plan, 1) != l->count * (u64)k) return false;
  l->k = (int)k;
  return true;
}
static bool plan_square(const call_plan *plan, lapack *l, i64 *want) {
  if (l->flags[MODE] == 'A' || l->flags[MODE] == 'S') return false;
  if (plan->c->num_out == 3) want[1] = l->n; /* values */
  want[plan->c->num_out - 1] = 1;
  return l->m == l->n;
}
static bool plan_gesdd(const call_plan *plan, lapack *l, i64 *want) {
  (void)plan;
  bool all = l->flags[MODE] == 'A';
  want[1] = l->k;
  want[2] = (i64)l->m * (all ? l->m : l->k);
  want[3] = (i64)l->n * (all ? l->n : l->k);
  if (l->flags[MODE] == 'N') want[2] = want[3] = -1; /* not written */
  want[4] = 1;
  return all || l->flags[MODE] == 'S' || l->flags[MODE] == 'N';
}
static bool plan_gehrd(const call_plan *plan, lapack *l, i64 *want) {
  (void)plan;
  want[1] = l->n > 0 ? l->n - 1 : 0;
  want[2] = 1;
  return l->m == l->n && l->low >= 1 && l->low <= l->high && l->high <= l->n;
}
static bool plan_sytrd(const call_plan *plan, lapack *l, i64 *want) {
  (void)plan;
  want[1] = l->n;
  want[2] = want[3] = l->n > 0 ? l->n - 1 : 0;
  want[4] = 1;
  return l->m == l->n;
}
static bool plan_geev(const call_plan *plan, lapack *l, i64 *want) {
  u32 left = plan->c->num_out - 3;
  want[0] = want[left - 1] = l->n;
  for (u32 i = 0; i < 2; i++) want[left + i] = l->flags[LEFT + i] == 'V' ? (i64)l->n * l->n : -1;
  want[left + 2] = 1;
  return l->m == l->n;
}
static bool plan_gees(const call_plan *plan, lapack *l, i64 *want) {
  u32 end = plan->c->num_out;
  want[1] = l->flags[MODE] == 'V' ? (i64)l->n * l->n : -1;
  want[2] = want[end - 3] = l->n;
  want[end - 2] = want[end - 1] = 1;
  return l->m == l->n && (l->flags[MODE] == 'V' || l->flags[MODE] == 'N');
}
static bool plan_geqp3(const call_plan *plan, lapack *l, i64 *want) {
  (void)plan;
  want[1] = l->n;
  want[2] = l->k;
  return true;
}
static bool plan_ormqr(const call_plan *plan, lapack *l, i64 *want) {
  (void)want;
  i64s d = plan->c->in[0].dims;
  bool left = plan->c->params.data[FROM_LEFT] != 0;
  i64 k = last_dim(&plan->c->in[1]), rows = left ? l->m : l->n;
  if (d.len < 2 || d.data[d.len - 1] != rows || d.data[d.len - 2] < k || k > rows) return false;
  l->flags[SIDE] = left ? 'L' : 'R';
  l->flags[TRANS] = !plan->c->params.data[TRANSPOSED] ? 'N' : l->is_complex ? 'C' : 'T';
  l->k = (int)k;
  l->rows = (int)rows;
  return call_in_count(plan, 0) == l->count * (u64)(rows * d.data[d.len - 2]) &&
         call_in_count(plan, 1) == l->count * (u64)k;
}
static bool plan_gtsv(const call_plan *plan, lapack *l, i64 *want) {
  (void)plan;
  for (u32 i = 0; i < 3; i++) want[i] = l->m;
  want[3] = (i64)l->m * l->n;
  want[4] = 1;
  return true;
}
/* m and n are of the second operand */
static bool plan_trsm(const call_plan *plan, lapack *l, i64 *want) {
  i64s d = plan->c->in[1].dims;
  if (l->m != l->n || d.len < 2) return false;
  l->k = l->m;
  i64 m = d.data[d.len - 1], n = d.data[d.len - 2];
  if (m > INT32_MAX || n > INT32_MAX || l->k != (l->flags[SIDE] == 'L' ? m : n)) return false;
  l->m = (int)m;
  l->n = (int)n;
  want[0] = m * n;
  return true;
}

#define BIT(flag) (1 << (flag))
static const routine routines[] = {
    {"getrf", "getrf", "0", 0, {"tii", "tii"}, 0, plan_getrf, run_getrf},
    {"geqrf", "geqrf", "0", 0, {"tt", "tt"}, 0, plan_geqrf, run_geqrf},
    {"geqp3", "geqp3", "0p", 0, {"tit", "tit"}, 0, plan_geqp3, run_geqp3},
    {"orgqr", "ungqr", "0-", 0, {"t", "t"}, 0, plan_orgqr, run_orgqr},
    {"ormqr", "unmqr", "--0", 2, {"t", "t"}, 0, plan_ormqr, run_ormqr},
    {"potrf", "potrf", "0", 0, {"ti", "ti"}, BIT(UPLO), plan_square, run_potrf},
    {"syevd", "heevd", "0", 0, {"tri", "tri"}, BIT(MODE) | BIT(UPLO), plan_square, run_syevd},
    {"gesdd", "gesdd", "0", 0, {"trtti", "trtti"}, BIT(MODE), plan_gesdd, run_gesdd},
    {"gesvd", "gesvd", "0", 0, {"trtti", "trtti"}, BIT(MODE), plan_gesdd, run_gesvd},
    {"gehrd", "gehrd", "0", 0, {"tti", "tti"}, 0, plan_gehrd, run_gehrd},
    {"sytrd", "hetrd", "0", 0, {"trrti", "trrti"}, BIT(UPLO), plan_sytrd, run_sytrd},
    {"geev", "geev", "o", 0, {"rrcci", "ttti"}, BIT(LEFT) | BIT(RIGHT), plan_geev, run_geev},
    {"gees", "gees", "0", 0, {"ttrrii", "tttii"}, BIT(MODE) | BIT(SORT), plan_gees, run_gees},
    {"gtsv", "gtsv", "0123", 3, {"tttti", "tttti"}, 0, plan_gtsv, run_gtsv},
    {"trsm",
     "trsm",
     "-0",
     0,
     {"t", "t"},
     BIT(UPLO) | BIT(SIDE) | BIT(TRANS) | BIT(DIAG),
     plan_trsm,
     run_trsm},
};

typedef struct prepared {
  lapack l;
  const routine *r;
  const char *results;
  i64 want[MOST_RESULTS];
} prepared;

/* ---- preparing ---- */

static const dtype letters[] = {
    ['s'] = DTYPE_f32, ['d'] = DTYPE_f64, ['c'] = DTYPE_c64, ['z'] = DTYPE_c128};

static const routine *find_routine(str target, char *letter) {
  char name[32];
  for (size_t i = 0; i < COUNT(routines); i++)
    for (const char *t = "sdcz"; *t; t++) {
      bool complex = *t == 'c' || *t == 'z';
      snprintf(name, sizeof name, "lapack_%c%s_ffi", *t,
               complex ? routines[i].complex : routines[i].real);
      *letter = *t;
      if (str_is(target, name)) return &routines[i];
    }
  return NULL;
}

static status load(const call_plan *plan, char letter, const routine *r, lapack *l) {
  char name[16];
  snprintf(name, sizeof name, "%c%s_", letter, l->is_complex ? r->complex : r->real);
  void *symbol = lapack_symbol(name);
  if (!symbol)
    return status_make(STATUS_UNIMPLEMENTED,
                       "calls '" STR_FMT "', which LAPACK of the system would serve",
                       STR_ARG(plan->c->target));
  memcpy(&l->fn, &symbol, sizeof symbol);
  return NULL;
}

static bool split(const call_plan *plan, const routine *r, lapack *l) {
  i64s d = plan->c->in[r->main].dims;
  if (d.len < 2) return false;
  l->count = 1;
  for (size_t i = 0; i + 2 < d.len; i++) l->count *= (u64)d.data[i]; /* divides the slot's */
  i64 m = d.data[d.len - 1], n = d.data[d.len - 2];
  if (m > LAPACK_MAX_DIM || n > LAPACK_MAX_DIM) return false;
  l->m = (int)m, l->n = (int)n;
  l->k = m < n ? l->m : l->n;
  return true;
}

static bool types_fit(const call_plan *plan, const prepared *p, dtype t) {
  const prog_call *c = plan->c;
  bool wide = t == DTYPE_f64 || t == DTYPE_c128;
  dtype real = wide ? DTYPE_f64 : DTYPE_f32, complex = wide ? DTYPE_c128 : DTYPE_c64;
  for (u32 i = 0; i < c->num_in; i++) {
    char to = p->r->operands[i];
    if (call_in_type(plan, i) != (to == 'p' ? DTYPE_s32 : t)) return false;
    u64 copied = to == 'p'                ? call_out_count(plan, 1)
                 : to >= '0' && to <= '3' ? call_out_count(plan, (u32)(to - '0'))
                                          : call_in_count(plan, i);
    if (call_in_count(plan, i) != copied) return false;
  }
  for (u32 i = 0; i < c->num_out; i++) {
    char of = p->results[i];
    dtype want = of == 'i' ? DTYPE_s32 : of == 'r' ? real : of == 'c' ? complex : t;
    if (call_out_type(plan, i) != want) return false;
    if (p->want[i] >= 0 && call_out_count(plan, i) != p->l.count * (u64)p->want[i]) return false;
  }
  return true;
}

/* Asks for the sizes of work arrays, where there are any. */
static void ask_work(prepared *p) {
  lapack *l = &p->l;
  u64 most = (u64)(l->m > l->n ? l->m : l->n), least = (u64)l->k;
  double first[2] = {0}, rfirst = 0;
  int ifirst = 0, info = 0;
  l->lwork = l->lrwork = l->liwork = -1;
  piece ask = {.out = {first, first, first, first, first, first},
               .own = (char *)first,
               .in = {first, first, first, first},
               .work = first,
               .rwork = &rfirst,
               .iwork = &ifirst};
  bool asks = p->r->run != run_getrf && p->r->run != run_potrf && p->r->run != run_trsm &&
              p->r->run != run_gtsv;
  if (asks) p->r->run(l, &ask, &info);
  bool wide = l->size == (l->is_complex ? 16 : 8);
  float narrow, rnarrow;
  memcpy(&narrow, first, 4);
  memcpy(&rnarrow, &rfirst, 4);
  l->lwork = asks ? (int)(wide ? first[0] : (double)narrow) + 1 : 1;
  l->lrwork = p->r->run == run_syevd ? (int)(wide ? rfirst : (double)rnarrow) + 1 : 1;
  l->liwork = ifirst > 0 ? ifirst : 1;
  u64 rwork = p->r->run == run_gesdd   ? 5 * least * least + 2 * most * least + 7 * least + 1
              : p->r->run == run_syevd ? (u64)l->lrwork
                                       : 5 * most;
  u64 iwork = p->r->run == run_gesdd ? 8 * least + 1 : (u64)l->liwork;
  l->rwork_at = align_up((u64)l->lwork * l->size, 64);
  l->iwork_at = l->rwork_at + align_up(rwork * 8, 64);
  l->liwork = (int)iwork;
}

static status prepare_lapack(call_plan *plan) {
  const prog_call *c = plan->c;
  char letter = 0;
  prepared *p = ARENA_NEW(plan->a, prepared);
  p->r = find_routine(c->target, &letter);
  status refused = status_make(STATUS_INVALID_ARGUMENT, "calls '" STR_FMT "' with other operands",
                               STR_ARG(c->target));
  lapack *l = &p->l;
  dtype t = letters[(int)letter];
  l->is_complex = t == DTYPE_c64 || t == DTYPE_c128;
  p->results = p->r ? p->r->results[l->is_complex] : "";
  if (!p->r || c->num_in != strlen(p->r->operands) || c->num_out != strlen(p->results) ||
      c->params.len != LAPACK_PARAMS || !split(plan, p->r, l))
    return refused;
  l->low = (int)c->params.data[LOW], l->high = (int)c->params.data[HIGH];
  /* LAPACK ends the process at others */
  static const char *const may_be[FLAGS] = {"VNAS", "UL", "LR", "NTC", "UN", "VN", "VN", "N"};
  for (int i = 0; i < FLAGS; i++) {
    i64 flag = c->params.data[i];
    bool known = flag > 0 && flag < 128 && strchr(may_be[i], (int)flag);
    if ((p->r->flags & BIT(i)) && !known) return refused;
    l->flags[i] = known ? (char)c->params.data[i] : 0;
  }
  l->size = dtype_size(t);
  p->want[0] = (i64)l->m * l->n;
  if (!p->r->plan(plan, l, p->want) || !types_fit(plan, p, t)) return refused;
  status_free(refused);
  RETURN_IF_ERROR(load(plan, letter, p->r, l));
  if (l->m == 0 || l->n == 0 || l->count == 0) l->k = 0;
  plan->data = p;
  plan->units = l->count;
  if (l->m && l->n && l->k) {
    ask_work(p);
    l->own_at = l->iwork_at + align_up((u64)l->liwork * sizeof(int), 64);
    plan->scratch = l->own_at;
    if (p->r->run == run_geev) plan->scratch += 3 * (u64)p->want[0] * (u64)l->n * l->size;
  }
  plan->cost = 1000 + (u64)l->m * (u64)l->n * (u64)l->k;
  return NULL;
}

/* ---- running ---- */

static void run_lapack(const call_plan *plan, const exec_env *env, u64 begin, u64 end) {
  const prepared *p = plan->data;
  const lapack *l = &p->l;
  const prog_call *c = plan->c;
  bool says = p->results[c->num_out - 1] == 'i';
  for (u64 u = begin; u < end; u++) {
    piece x = {.work = env->scratch,
               .rwork = env->scratch + l->rwork_at,
               .iwork = (int *)(env->scratch + l->iwork_at),
               .own = (char *)env->scratch + l->own_at};
    for (u32 i = 0; i < c->num_out; i++) {
      u64 each = call_out_count(plan, i) / l->count * dtype_size(call_out_type(plan, i));
      x.out[i] = (char *)call_out(plan, env->slots, i) + u * each;
    }
    for (u32 i = 0; i < c->num_in; i++) {
      u64 each = call_in_count(plan, i) / l->count * dtype_size(call_in_type(plan, i));
      char how = p->r->operands[i];
      x.in[i] = (const char *)call_in(plan, env->slots, i) + u * each;
      void *to = how == 'o' ? x.own : x.out[how == 'p' ? 1 : how == '-' ? 0 : how - '0'];
      if (how != '-' && to != x.in[i] && plan->scratch) memcpy(to, x.in[i], each);
    }
    int info = 0;
    if (plan->scratch) p->r->run(l, &x, &info);
    if (says) *(int *)x.out[c->num_out - 1] = info;
  }
}

#define ROW(name, letter, routine)                                                                 \
  const call_row name = {.target = "lapack_" #letter #routine "_ffi",                              \
                         .doc = "LAPACK's " #letter #routine,                                      \
                         .prepare = prepare_lapack,                                                \
                         .run = run_lapack};
#define X(letter, routine, ...) ROW(call_lapack_##letter##routine, letter, routine)
LAPACK_CALLS(X)
