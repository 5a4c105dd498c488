/* Products of small matrices, many of them or of many rows or columns: read where they lie, a call
 * for many (small_kernel.h). */
#include "exec/dot.h"

/* `rows` and `columns` of the result: the operand that has them, and its terms. */
typedef struct side {
  u32 slot;
  i64 offset;
  const axis *batch, *own, *terms, *out; /* out: of own, in the result */
} side;

typedef enum cut { CUT_BATCHES, CUT_ROWS, CUT_COLUMNS } cut;

typedef struct small {
  const product *p;
  const small_kernels *kernels;
  side rows, columns;
  small_call call; /* its steps */
  bool even;       /* batches are at one distance */
  cut cut;         /* what units are parts of, */
  u64 unit;        /* each so many */
} small;

/* A range of batches, rows and columns. */
typedef struct part {
  u64 first[3], n[3];
} part;

static const char *lies_at(const small *x, const exec_env *env, const side *s, u64 batch, u64 own) {
  return (const char *)env->slots[s->slot] + s->offset +
         (axis_at(s->batch, batch) + axis_at(s->own, own)) * (i64)x->p->size;
}

/* Some columns of some batches; or of one, as many columns each time. */
static void multiply(const small *x, const exec_env *env, const part *of, u64 batch, u64 batches,
                     u64 column, u64 n, u64 times) {
  const product *p = x->p;
  small_call t = x->call;
  t.m = of->n[CUT_ROWS];
  t.n = (u32)n;
  t.batches = batches * times;
  t.a = lies_at(x, env, &x->rows, batch, of->first[CUT_ROWS]);
  t.b = lies_at(x, env, &x->columns, batch, column);
  t.c = dot_result(p, env) +
        (axis_at(&p->out_b, batch) + (i64)column + axis_at(x->rows.out, of->first[CUT_ROWS])) *
            (i64)p->size;
  t.line = env->scratch;
  if (batches == 1) {
    t.a_batch = 0;
    t.b_batch = (i64)n * x->columns.own->step;
    t.c_batch = (i64)n;
  }
  x->kernels->multiply(&t);
}

static void multiply_part(const small *x, const exec_env *env, const part *of) {
  u64 lanes = x->kernels->lanes, end = of->first[CUT_COLUMNS] + of->n[CUT_COLUMNS];
  u64 last = of->first[CUT_BATCHES] + of->n[CUT_BATCHES],
      at_once = x->even ? of->n[CUT_BATCHES] : 1;
  for (u64 i = of->first[CUT_BATCHES]; i < last; i += at_once)
    for (u64 j = of->first[CUT_COLUMNS], n, times; j < end; j += n * times) {
      n = end - j < lanes ? end - j : lanes;
      times = at_once == 1 ? (end - j) / n : 1;
      multiply(x, env, of, i, at_once, j, n, times);
    }
}

static void run_small(const void *data, const exec_env *env, u64 begin, u64 end) {
  const small *x = data;
  part of = {{0}, {x->p->batches, x->rows.own->n, x->columns.own->n}};
  u64 all = of.n[x->cut], first = begin * x->unit, last = end * x->unit;
  of.first[x->cut] = first;
  of.n[x->cut] = (last < all ? last : all) - first;
  multiply_part(x, env, &of);
}

/* All in one call of the kernel, of which only the operands' places are not known before. */
static void run_once(const void *data, const exec_env *env, u64 begin, u64 end) {
  const small *x = data;
  small_call t = x->call;
  (void)begin, (void)end;
  t.a = (const char *)env->slots[x->rows.slot] + x->rows.offset;
  t.b = (const char *)env->slots[x->columns.slot] + x->columns.offset;
  t.c = dot_result(x->p, env);
  t.line = env->scratch;
  x->kernels->multiply(&t);
}

/* ---- lowering ---- */

static bool is_step(const axis *x, i64 step) { return !x->table && (x->n <= 1 || x->step == step); }

/* Rows of a result whose columns lie side by side, and so do those of the operand, or its terms. */
static bool choose_sides(small *x) {
  const product *p = x->p;
  side sides[] = {{p->lhs, p->lhs_offset, &p->lhs_b, &p->lhs_m, &p->lhs_k, &p->out_m},
                  {p->rhs, p->rhs_offset, &p->rhs_b, &p->rhs_n, &p->rhs_k, &p->out_n}};
  bool turned = !is_step(&p->out_n, 1) || (p->n == 1 && is_step(&p->out_m, 1));
  x->rows = sides[turned], x->columns = sides[!turned];
  const side *r = &x->rows, *c = &x->columns;
  if (!is_step(c->out, 1) || r->out->table || r->own->table || r->terms->table) return false;
  if (is_step(c->own, 1) && !c->terms->table)
    x->call = (small_call){.b_step = c->terms->step};
  else if (is_step(c->terms, 1) && !c->own->table)
    x->call = (small_call){.b_step = c->own->step, .turned = true};
  else
    return false;
  return true;
}

static void choose_units(small *x, exec_step *out) {
  enum { WORK = 1 << 16 };
  const product *p = x->p;
  u64 lanes = x->kernels->lanes, m = x->rows.own->n, n = x->columns.own->n, all;
  x->cut = p->batches > 1 ? CUT_BATCHES : m > n ? CUT_ROWS : CUT_COLUMNS;
  all = x->cut == CUT_BATCHES ? p->batches : x->cut == CUT_ROWS ? m : n;
  u64 each = p->batches * m * n / all * p->k;
  x->unit = align_up(each < WORK ? WORK / each : 1, x->cut == CUT_BATCHES ? 1 : 4 * lanes);
  out->units = (all + x->unit - 1) / x->unit;
  out->cost = 100 + x->unit * each / 16;
}

/* Steps between columns' vectors where one call does all of them; false: it takes more. */
static bool is_once(small *x) {
  u64 lanes = x->kernels->lanes, n = x->columns.own->n, each = n < lanes ? n : lanes;
  if (x->p->batches > 1 || n % each) return false;
  x->call.m = x->rows.own->n;
  x->call.n = (u32)each;
  x->call.batches = n / each;
  x->call.a_batch = 0;
  x->call.b_batch = (i64)each * x->columns.own->step;
  x->call.c_batch = (i64)each;
  return true;
}

/* Strips of some vectors read each row once for all of them. */
static bool is_for_strips(const small *x) {
  enum { ROWS = 6, WORK = 1 << 14 };
  u64 lanes = x->kernels->lanes, m = x->rows.own->n, n = x->columns.own->n;
  return x->rows.own == &x->p->lhs_m && m >= ROWS && n >= 2 * lanes && n % lanes == 0 &&
         m * n * x->p->k >= WORK;
}

/* What lies in a core's cache whole, so that nothing needs to be packed; and long ones of which a
 * vector has all columns, or all rows are added at once. */
static bool is_worth(small *x) {
  enum { EDGE = 64, ROWS = 8, FEW = 4, TERMS = 32, MORE = 128, ONCE = 256 };
  u64 m = x->rows.own->n, n = x->columns.own->n, k = x->p->k;
  bool along = is_step(x->rows.terms, 1), many = x->p->batches > 1 || (n * k >= ONCE && k >= ROWS);
  bool one = many && m == 1 && x->call.turned && along && x->even; /* few.c knows others */
  bool tall = m >= EDGE && n <= x->kernels->lanes && (along || n > ROWS);
  bool wide = n >= EDGE && m <= ROWS && k <= (m <= FEW ? TERMS : x->call.turned ? MORE : DOT_TERMS);
  wide |= m == 1 && !x->call.turned && n % (4 * x->kernels->lanes) == 0 && n <= ONCE;
  x->call.by_rows = tall && along && n <= x->kernels->by_rows && k >= TERMS;
  x->call.summed = one || x->call.by_rows;
  if (is_for_strips(x)) return false;
  return one || tall || wide || (m <= EDGE && n <= EDGE && k <= EDGE);
}

bool dot_small_is_in_order(const exec_step *x) {
  if (x->run != run_small && x->run != run_once) return false;
  const small *s = x->data;
  const small_call *t = &s->call;
  u64 n = s->columns.own->n;
  bool tiny = t->k <= s->kernels->tiny && (n == 1 || t->b_step == (i64)t->k) &&
              n <= s->kernels->lanes && n * t->k <= 2 * s->kernels->lanes;
  return !t->summed || (tiny && !t->by_rows);
}

bool dot_small_lower(arena *a, const product *p, exec_step *out) {
  const small_kernels *k = p->k_->small[p->acc == DTYPE_f64];
  u64 work;
  if ((p->acc != DTYPE_f32 && p->acc != DTYPE_f64) || !k->multiply) return false;
  if (p->lhs_type != p->acc || p->rhs_type != p->acc || p->out_type != p->acc) return false;
  if (p->k == 0 || p->k > DOT_TERMS || (p->m == 1 && p->n == 1)) return false;
  if (!checked_mul(p->m, p->n, &work) || !checked_mul(work, p->batches, &work) ||
      !checked_mul(work, p->k, &work))
    return false;
  small *x = ARENA_NEW(a, small);
  *x = (small){.p = p, .kernels = k};
  x->even = !p->lhs_b.table && !p->rhs_b.table && !p->out_b.table;
  if (!choose_sides(x) || !is_worth(x)) return false;
  x->call.k = (u32)p->k;
  x->call.a_batch = x->rows.batch->step, x->call.b_batch = x->columns.batch->step;
  x->call.c_batch = p->out_b.step;
  x->call.a_row = x->rows.own->step, x->call.a_term = x->rows.terms->step;
  x->call.c_row = x->rows.out->step;
  *out = (exec_step){.run = run_small, .data = x};
  if (x->call.turned || x->call.summed) out->scratch = p->k * k->lanes * p->size;
  choose_units(x, out);
  if (out->units == 1 && is_once(x)) out->run = run_once;
  return true;
}
