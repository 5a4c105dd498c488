/* Products of a matrix with at most eight vectors, as of a decoding step: they take as long as the
 * matrix takes to be read, so that it is read once, as it is stored (thin_kernel.h). Convolutions
 * with at most four features are such products, whose matrix are windows. */
#include "exec/dot.h"

enum { MOST = 8, ROW_TERMS = 4096, REGISTER = 16 };

/* Which of the operands is the matrix; `across` is the axis that it shares with the result. */
typedef struct thin {
  const product *p;
  thin_fn *fn;
  bool by_rows, turned;  /* turned: the matrix is the left one */
  u32 vectors, at_once;  /* with those of zeros; of a call */
  u64 run;               /* terms, or columns, that lie together: at most of a call, */
  const i64 *far;        /* or where each run of a row begins, all of which are one call's */
  u64 unit, pieces;      /* of across */
  size_t next_x, next_c; /* elements */
  size_t sums_at, total_at, line_at, at_at;
} thin;

typedef struct side {
  u32 slot;
  i64 offset;
  dtype type;
  const axis *batch, *own, *terms, *out; /* out: of own, in the result */
} side;

static side left_of(const product *p) {
  return (side){p->lhs, p->lhs_offset, p->lhs_type, &p->lhs_b, &p->lhs_m, &p->lhs_k, &p->out_m};
}
static side right_of(const product *p) {
  return (side){p->rhs, p->rhs_offset, p->rhs_type, &p->rhs_b, &p->rhs_n, &p->rhs_k, &p->out_n};
}
static side matrix_of(const thin *x) { return x->turned ? left_of(x->p) : right_of(x->p); }
static side vectors_of(const thin *x) { return x->turned ? right_of(x->p) : left_of(x->p); }

static const char *lies_at(const exec_env *env, const side *s, u64 batch, i64 element) {
  return (const char *)env->slots[s->slot] + s->offset +
         (axis_at(s->batch, batch) + element) * (i64)dtype_size(s->type);
}

/* ---- running ---- */

/* By moves of their size, which no call is. */
void dot_bring_terms(char *to, const char *from, const axis *terms, u64 k0, u64 k, size_t size) {
  const i64 *table = terms->table;
  i64 step = terms->step; /* which `to` might be, for all that a compiler knows */
#define BRING(n)                                                                                   \
  for (u64 q = 0; size == (n) && q < k; q++)                                                       \
  memcpy(to + q * (n), from + (table ? table[k0 + q] : (i64)(k0 + q) * step) * (n), n)
  BRING(1);
  BRING(2);
  BRING(4);
  BRING(8);
}

/* Terms [k0, k0 + k) of the vectors, with zeros up to a register. */
static void bring_vectors(const thin *x, const exec_env *env, u64 batch, u64 k0, u64 k) {
  const product *p = x->p;
  side s = vectors_of(x);
  char *line = env->scratch + x->line_at;
  size_t from = dtype_size(s.type);
  for (u64 i = 0; i < s.own->n; i++) {
    char *to = env->scratch + i * x->next_x * p->size;
    const char *first = lies_at(env, &s, batch, axis_at(s.own, i));
    const char *row = first + axis_at(s.terms, k0) * (i64)from;
    if (s.terms->table || (s.terms->step != 1 && k > 1)) {
      dot_bring_terms(line, first, s.terms, k0, k, from);
      row = line;
    }
    dot_convert_row(p, s.type, k, to, row);
    memset(to + k * p->size, 0, (x->next_x - k) * p->size);
  }
}

/* How many terms there are to the first one that has less than a register behind it in the matrix,
 * by eights: n columns of each. */
static size_t find_within(const i64 *at, size_t k, size_t n) {
  enum { EIGHT = 8 };
  size_t i = 0;
  while (i < k && at[i] + (i64)align_up(n, REGISTER) <= at[k - 1] + (i64)n) i++;
  return i / EIGHT * EIGHT;
}

/* Elements [first, first + n) of the axis across: sums over some terms, and so their sums. */
static const char *sum_piece(const thin *x, const exec_env *env, u64 batch, u64 first, u64 n) {
  const product *p = x->p;
  side w = matrix_of(x);
  i64 *at = (i64 *)(void *)(env->scratch + x->at_at);
  char *sums = env->scratch + x->sums_at, *total = env->scratch + x->total_at;
  u64 terms = x->far ? p->k : x->by_rows ? x->run : DOT_TERMS;
  u64 run = x->by_rows || x->run > n ? n : x->run;
  thin_call t = {.next_x = x->next_x, .n = run, .next_c = x->next_c, .at = at};
  if (x->far) t.far = x->far, t.runs = p->k / x->run;
  if (x->by_rows) axis_list(w.own, first, n, at);
  for (u64 k = 0; k < p->k; k += terms) {
    u64 in = k % ROW_TERMS, left = p->k - k;
    if (in == 0) bring_vectors(x, env, batch, k, left < ROW_TERMS ? left : ROW_TERMS);
    t.k = x->far ? x->run : left < terms ? left : terms;
    if (!x->by_rows) axis_list(w.terms, k, t.k, at);
    if (!x->by_rows && run % REGISTER) t.within = find_within(at, t.k, run);
    for (u64 j = 0; j < n; j += run) {
      const axis *along = x->by_rows ? w.terms : w.own;
      t.w = lies_at(env, &w, batch, axis_at(along, x->by_rows ? k : first + j));
      for (u32 i = 0; i < x->vectors; i += x->at_once) {
        t.x = env->scratch + (i * x->next_x + in) * p->size;
        t.c = sums + (i * x->next_c + j) * p->size;
        x->fn(&t);
      }
    }
    if (p->k > terms) dot_add_group(p, k == 0, total, sums, x->vectors * x->next_c);
  }
  return p->k > terms ? total : sums;
}

static void run_thin(const void *data, const exec_env *env, u64 begin, u64 end) {
  const thin *x = data;
  const product *p = x->p;
  side w = matrix_of(x), v = vectors_of(x);
  size_t size = dtype_size(p->out_type), row = x->next_x * p->size;
  memset(env->scratch + v.own->n * row, 0, (x->vectors - v.own->n) * row);
  for (u64 u = begin; u < end; u++) {
    u64 batch = u / x->pieces, first = u % x->pieces * x->unit;
    u64 n = w.own->n - first < x->unit ? w.own->n - first : x->unit;
    const char *sums = sum_piece(x, env, batch, first, n);
    for (u64 i = 0; i < v.own->n; i++) {
      i64 at = axis_at(&p->out_b, batch) + axis_at(v.out, i);
      dot_store_row(p, w.out, dot_result(p, env) + at * (i64)size, sums + i * x->next_c * p->size,
                    first, n, env->scratch + x->line_at);
    }
  }
}

/* ---- lowering ---- */

static bool find_source(dtype type, dtype acc, thin_source *out) {
  static const struct {
    u8 type, acc, source;
  } rows[] = {{DTYPE_f32, DTYPE_f32, THIN_f32}, {DTYPE_bf16, DTYPE_f32, THIN_bf16},
              {DTYPE_f16, DTYPE_f32, THIN_f16}, {DTYPE_f64, DTYPE_f64, THIN_f64},
              {DTYPE_s8, DTYPE_s32, THIN_s8},   {DTYPE_u8, DTYPE_s32, THIN_u8}};
  for (size_t i = 0; i < COUNT(rows); i++) {
    *out = (thin_source)rows[i].source;
    if (rows[i].type == type && rows[i].acc == acc) return true;
  }
  return false;
}

/* About 512 KiB of a matrix by rows, of which windows have most in common. By columns long runs of
 * memory are faster, as long as the sums stay in a core's first cache; there is something to do for
 * two. */
static void choose_unit(thin *x, u64 across, size_t size) {
  enum { BYTES = 1 << 19, LEAST = 256, COLUMNS = 1024 };
  u64 terms = x->run < ROW_TERMS ? x->run : x->p->k;
  u64 unit = x->by_rows ? BYTES / (terms * size) : x->p->batches > 1 ? COLUMNS : across / 2;
  if (unit > COLUMNS) unit = COLUMNS;
  if (unit < LEAST && !x->by_rows) unit = LEAST;
  u64 step = !x->by_rows && x->run < across ? x->run : 64;
  unit = (unit + step - 1) / step * step;
  x->unit = unit == 0 ? 64 : unit < across ? unit : across;
  x->pieces = (across + x->unit - 1) / x->unit;
}

static void place_scratch(thin *x, exec_step *out) {
  const product *p = x->p;
  x->next_c = align_up(x->unit, 16);
  size_t sums = align_up(x->vectors * x->next_c * p->size, 64);
  u64 list = x->unit > DOT_TERMS ? x->unit : DOT_TERMS;
  u64 line = x->unit > ROW_TERMS ? x->unit : ROW_TERMS;
  x->sums_at = align_up(x->vectors * x->next_x * p->size, 64);
  x->total_at = x->sums_at + sums;
  x->at_at = x->total_at + sums;
  x->line_at = x->at_at + align_up(list * sizeof(i64), 64);
  out->scratch = x->line_at + line * 16;
}

/* How many neighbours of the axis lie together, everywhere as many; or 1. */
static u64 even_run(const axis *x) {
  u64 run = 1;
  if (!x->table) return x->step == 1 ? x->n : 1;
  while (run < x->n && x->table[run] - x->table[run - 1] == 1) run++;
  for (u64 i = 1; i < x->n; i++)
    if (i % run > 0 && x->table[i] - x->table[i - 1] != 1) return 1;
  return x->n % run > 0 ? 1 : run;
}

/* Whether the matrix is read by columns, or by rows. Where these lie in runs, as in windows of an
 * image whose channels lie together, a call has one run, or all of few terms. */
static bool choose_form(thin *x, const side *w, u64 vectors) {
  enum { LEAST = 32 };
  u64 across = even_run(w->own), terms = even_run(w->terms);
  x->by_rows = across < w->own->n && (terms == x->p->k || across % REGISTER > 0);
  x->run = x->by_rows ? terms : across;
  if (x->run == (x->by_rows ? x->p->k : w->own->n)) {
    if (x->by_rows) x->run = ROW_TERMS;
    return x->p->k > 1 || !x->by_rows;
  }
  /* Behind a run that ends within a register lie the next one's vectors, maybe infinite ones. */
  bool well = terms >= LEAST && terms % REGISTER == 0 && x->p->k <= ROW_TERMS;
  return vectors <= MOST / 2 && (!x->by_rows || well);
}

static const i64 *list_runs(arena *a, const axis *terms, u64 run) {
  i64 *far = ARENA_ARRAY(a, i64, terms->n / run);
  for (u64 i = 0; i < terms->n; i += run) far[i / run] = axis_at(terms, i) - axis_at(terms, 0);
  return far;
}

bool dot_thin_lower(arena *a, const product *p, exec_step *out) {
  enum { SMALL = 1 << 10, NEAR = 1 << 19, SHORT = 64, FIRST_CACHE = 6 << 10 };
  thin *x = ARENA_NEW(a, thin);
  thin_source source;
  *x = (thin){.p = p, .turned = p->m > p->n};
  side w = matrix_of(x), v = vectors_of(x);
  u64 work;
  if (v.own->n > MOST || !find_source(w.type, p->acc, &source)) return false;
  if (!checked_mul(w.own->n, p->k, &work) || work < SMALL) return false;
  if (w.type == DTYPE_f32 && v.own->n > MOST / 2 && work < NEAR) return false;
  if (!choose_form(x, &w, v.own->n)) return false;
  /* Of bytes a processor adds several products in one, which is sooner for more than some. */
  if (p->acc == DTYPE_s32 && p->each > 1 && v.own->n > MOST / (x->by_rows ? 2 : p->each))
    return false;
  /* Summing up each row's lanes would take longer than its products. */
  if (x->by_rows && x->turned && w.type == DTYPE_f32 && v.own->n > MOST / 2 && p->k <= SHORT)
    return false;
  u32 log = 0;
  while (log + 1 < THIN_COUNTS && 1u << log < v.own->n) log++;
  x->at_once = 1u << log;
  x->vectors = (u32)align_up(v.own->n, x->at_once);
  const thin_kernels *k = p->k_->thin[p->acc == DTYPE_f64];
  x->fn = (x->by_rows ? k->rows : k->columns)[source][log];
  if (x->by_rows && source == THIN_f32 && v.own->n == 3 && k->rows_by_three) {
    x->fn = k->rows_by_three;
    x->at_once = x->vectors = 3;
  }
  if (!x->fn) return false;
  bool runs = x->by_rows && source == THIN_f32 && x->at_once >= THIN_RUNS;
  if (runs && x->run < p->k && p->k * x->vectors <= FIRST_CACHE)
    x->far = list_runs(a, w.terms, x->run);
  x->next_x = align_up(p->k < ROW_TERMS ? p->k : ROW_TERMS, 16);
  choose_unit(x, w.own->n, dtype_size(w.type));
  place_scratch(x, out);
  out->run = run_thin;
  out->data = x;
  out->units = p->batches * x->pieces;
  out->cost = 100 + x->unit * p->k * (dtype_size(w.type) + x->vectors) / 32;
  return true;
}
