/* Our own matrix product: strips of the result, some rows by some vectors, summed over
 * DOT_TERMS terms at a time. Operands whose elements lie well are read where they are; others
 * are packed, and converted to the accumulating type, into panels first. */
#include "exec/dot.h"

enum { MC = 512, NC = 512, KC = DOT_TERMS };

/* ---- packing ---- */

void dot_convert_row(const product *p, dtype from, size_t n, void *to, const void *row) {
  vm_rtype rf = vm_rtype_of(from), rt = vm_rtype_of(p->acc);
  if (p->k_->load[from] && rt == R_f32) {
    p->k_->load[from](n, to, row, NULL, NULL);
  } else if (p->k_->load[from] || p->k_->clean[from]) {
    u8 types[2] = {(u8)from, (u8)p->acc};
    p->k_->any(n, to, row, types, NULL);
  } else if (rf == rt) {
    memcpy(to, row, n * vm_rtype_size(rt));
  } else {
    p->k_->convert[rt][rf](n, to, row, NULL, NULL);
  }
}

/* Mostly 1 or n, which takes no loop of comparisons each waiting for the one before. */
static size_t run_length(const i64 *at, size_t n) {
  i64 off = 0;
  if (n > 1 && at[1] - at[0] != 1) return 1;
  for (size_t j = 0; j < n; j++) off |= (at[j] - at[0]) ^ (i64)j;
  if (!off) return n;
  size_t i = 1;
  while (i < n && at[i] - at[i - 1] == 1) i++;
  return i;
}

/* to[i * apart] = from[i], n elements. */
static void spread(char *to, size_t apart, const char *from, size_t n, size_t size) {
  if (size == 4)
    for (size_t i = 0; i < n; i++) memcpy(to + 4 * i * apart, from + 4 * i, 4);
  else if (size == 8)
    for (size_t i = 0; i < n; i++) memcpy(to + 8 * i * apart, from + 8 * i, 8);
  else
    for (size_t i = 0; i < n; i++) memcpy(to + i * apart * size, from + i * size, size);
}

/* Rows at one distance, as they are packed: a transpose for each run of k. */
static bool pack_panel(const product *p, dtype type, const char *base, const i64 *row_of, size_t n,
                       const i64 *k_of, size_t k, u32 r, char *to) {
  enum { WORTH = 8 }; /* elements of a run */
  i64 step = n > 1 ? row_of[1] - row_of[0] : 0, size = (i64)p->size;
  if (type != p->acc || size > 8 || run_length(k_of, k) < (k < WORTH ? k : WORTH)) return false;
  for (size_t i = 2; i < n; i++)
    if (row_of[i] - row_of[i - 1] != step) return false;
  for (size_t i = 0, run; i < k; i += run) {
    run = run_length(k_of + i, k - i);
    p->k_->transpose[vm_log2_width(p->size)](run, n, to + (i64)i * r * size, r * size,
                                             base + (row_of[0] + k_of[i]) * size, step * size,
                                             false);
  }
  return true;
}

/* Single elements, wherever they lie. */
static bool pack_singles(const product *p, dtype type, const char *base, const i64 *row_of,
                         size_t n, const i64 *k_of, size_t k, u32 r, char *to) {
  if (type != p->acc || p->size > 8) return false;
  if (p->size == 4) {
    const u32 *from = (const u32 *)(const void *)base;
    u32 *out = (u32 *)(void *)to;
    for (size_t i = 0; i < k; i++, out += r)
      for (size_t row = 0; row < n; row++) out[row] = from[row_of[row] + k_of[i]];
  } else {
    const u64 *from = (const u64 *)(const void *)base;
    u64 *out = (u64 *)(void *)to;
    for (size_t i = 0; i < k; i++, out += r)
      for (size_t row = 0; row < n; row++) out[row] = from[row_of[row] + k_of[i]];
  }
  return true;
}

/* Rows one by one, converted in runs. */
static void pack_rows(const product *p, dtype type, const char *base, const i64 *row_of, size_t n,
                      const i64 *k_of, size_t k, u32 r, char *to, char *line) {
  size_t from_size = dtype_size(type), size = p->size;
  for (size_t row = 0; row < n; row++) {
    const char *from = base + row_of[row] * (i64)from_size;
    for (size_t i = 0, run; i < k; i += run) {
      run = run_length(k_of + i, k - i);
      const char *at = from + k_of[i] * (i64)from_size;
      if (type != p->acc) {
        dot_convert_row(p, type, run, line, at);
        at = line;
      }
      spread(to + (i * r + row) * size, r, at, run, size);
    }
  }
}

/* Rows that lie together, in runs, not k. The next panel's come near in the meantime: no processor
 * foresees it where lines are a page apart. */
static void pack_across(const product *p, dtype type, const char *base, const i64 *row_of, size_t n,
                        const i64 *k_of, size_t k, u32 r, char *to) {
  enum { LINE = 64, BLOCK = 32 };
  size_t from_size = dtype_size(type), size = p->size;
  for (size_t row = 0, run; row < n; row += run) {
    run = run_length(row_of + row, n - row);
    char *line = to + row * size;
    for (size_t i = 0; i < k; i++, line += r * size) {
      const char *from = base + (row_of[row] + k_of[i]) * (i64)from_size;
      for (size_t at = 0; at < run * from_size; at += LINE)
        __builtin_prefetch(from + run * from_size + at, 0, 2);
      if (type == p->acc && run * size % BLOCK == 0)
        for (size_t at = 0; at < run * size; at += BLOCK) memcpy(line + at, from + at, BLOCK);
      else if (type == p->acc)
        memcpy(line, from, run * size);
      else
        dot_convert_row(p, type, run, line, from);
    }
  }
}

/* Rows of elements that are several terms each, `apart` bytes from one another; zeros stand beside
 * the last terms. */
static void join_rows(const product *p, bool lhs, const char *base, const i64 *row_of, size_t n,
                      const i64 *k_of, size_t k, char *to, size_t apart) {
  const dot_join *join = lhs ? p->join_a : p->join_b;
  size_t from_size = dtype_size(lhs ? p->lhs_type : p->rhs_type), size = p->size / p->each;
  size_t all = (k + p->each - 1) / p->each * p->size, first = run_length(k_of, k);
  const axis terms = {.n = k, .table = k_of};
  u16 line[KC * DOT_JOINED];
  for (size_t row = 0; row < n; row++, to += apart) {
    const char *from = base + row_of[row] * (i64)from_size;
    if (first == 1) {
      dot_bring_terms((char *)line, from, &terms, 0, k, from_size);
      join->along(k, to, line);
    }
    for (size_t i = 0, run = first; first > 1 && i < k; i += run) {
      if (i > 0) run = run_length(k_of + i, k - i);
      join->along(run, to + i * size, from + k_of[i] * (i64)from_size);
    }
    memset(to + k * size, 0, all - k * size);
  }
}

/* A panel of such elements, of rows that lie together, in runs. */
static void join_panel(const product *p, bool lhs, const char *base, const i64 *row_of, size_t n,
                       const i64 *k_of, size_t k, u32 r, u32 *to) {
  static const char zeros[2 * NC];
  const dot_join *join = lhs ? p->join_a : p->join_b;
  i64 from_size = (i64)dtype_size(lhs ? p->lhs_type : p->rhs_type);
  size_t each = p->each, elements = (k + each - 1) / each;
  for (size_t row = 0, run; row < n; row += run) {
    run = run_length(row_of + row, n - row);
    for (size_t i = 0; i < elements; i++) {
      const void *from[DOT_JOINED];
      for (size_t q = 0; q < each; q++)
        from[q] = i * each + q < k ? base + (row_of[row] + k_of[i * each + q]) * from_size : zeros;
      join->across(run, to + i * r + row, from);
    }
  }
}

/* A panel of n rows, r wide: to[k][row], zero where rows run out. row_of and k_of are offsets in
 * elements of the operand. */
static void pack(const product *p, bool lhs, const char *base, const i64 *row_of, size_t n,
                 const i64 *k_of, size_t k, u32 r, char *to, char *line) {
  enum { WORTH = 4 };
  size_t size = p->size, elements = (k + p->each - 1) / p->each;
  dtype type = lhs ? p->lhs_type : p->rhs_type;
  for (size_t i = 0; n < r && i < elements; i++) memset(to + (i * r + n) * size, 0, (r - n) * size);
  bool together = run_length(row_of, n) >= (n < WORTH ? n : WORTH) && n > 1;
  if (p->each > 1 && together) {
    join_panel(p, lhs, base, row_of, n, k_of, k, r, (u32 *)(void *)to);
  } else if (p->each > 1) {
    join_rows(p, lhs, base, row_of, n, k_of, k, line, elements * 4);
    p->k_->transpose[2](elements, n, to, (i64)r * 4, line, (i64)elements * 4, false);
  } else if (together)
    pack_across(p, type, base, row_of, n, k_of, k, r, to);
  else if (!pack_panel(p, type, base, row_of, n, k_of, k, r, to) &&
           !pack_singles(p, type, base, row_of, n, k_of, k, r, to))
    pack_rows(p, type, base, row_of, n, k_of, k, r, to, line);
}

/* ---- results ---- */

void dot_add_group(const product *p, bool first, void *total, const void *sums, size_t n) {
  if (first)
    memcpy(total, sums, n * p->size);
  else
    p->k_->binary[VM_add][vm_rtype_of(p->acc)][FORM_VV](n, total, total, sums, NULL);
}

void dot_store_row(const product *p, const axis *at, char *out, const char *row, u64 first,
                   size_t n, char *line) {
  size_t size = dtype_size(p->out_type);
  vm_rtype from = vm_rtype_of(p->acc), to = vm_rtype_of(p->out_type);
  if (p->k_->store[p->out_type]) {
    p->k_->store[p->out_type](n, line, row, NULL, NULL);
    row = line;
  } else if (from != to) {
    p->k_->convert[to][from](n, line, row, NULL, NULL);
    if (p->k_->wrap[p->out_type]) p->k_->wrap[p->out_type](n, line, line, NULL, NULL);
    row = line;
  }
  const i64 *table = at->table ? at->table + first : NULL;
  if (!table && at->step == 1)
    memcpy(out + first * size, row, n * size);
  else if (!table)
    spread(out + axis_at(at, first) * (i64)size, (size_t)at->step, row, n, size);
  else if (run_length(table, n) == 1 && size == 4)
    for (size_t j = 0; j < n; j++) memcpy(out + table[j] * 4, row + j * 4, 4);
  else
    for (size_t j = 0, run; j < n; j += run) {
      run = run_length(table + j, n - j);
      memcpy(out + table[j] * (i64)size, row + j * size, run * size);
    }
}

/* Rows whose results lie together, not those of columns. */
static bool store_across(const product *p, char *out, const char *c, size_t ldc, u64 m0, u64 mc,
                         u64 n0, u64 nc) {
  i64 size = (i64)p->size, step = p->out_n.step;
  if (p->out_type != p->acc || size > 8 || p->out_n.table || step == 1 || nc == 1) return false;
  for (u64 i = 0, run; i < mc; i += run) {
    for (run = 1; i + run < mc; run++)
      if (axis_at(&p->out_m, m0 + i + run) - axis_at(&p->out_m, m0 + i + run - 1) != 1) break;
    char *to = out + (axis_at(&p->out_m, m0 + i) + (i64)n0 * step) * size;
    p->k_->transpose[vm_log2_width(p->size)](nc, run, to, step * size, c + i * ldc * p->size,
                                             (i64)ldc * size, false);
  }
  return true;
}

/* ---- strips ---- */

void dot_rows(const dot_strips *s, u32 vectors, dot_strip t) {
  dot_strip_fn *const *fn = s->fn[vectors - 1];
  u64 most = s->rows[vectors - 1];
  for (u64 left = t.rows; left > 0; left -= t.rows) {
    u64 strips = (left + most - 1) / most, r = (left + strips - 1) / strips;
    bool even = fn[r - 1] != NULL; /* of these, and then of one less */
    if (!even) r = left < most ? r - 1 : most;
    t.rows = even ? (left - strips * (r - 1)) * r : left / r * r;
    fn[r - 1](&t);
    t.row += t.rows, t.to += t.rows;
  }
}

u32 dot_vectors(const dot_strips *s, u64 left, u32 most) {
  if (left <= s->vectors) return s->fn[left - 1][0] ? (u32)left : (u32)left - 1;
  if (most > s->vectors || !s->fn[most - 1][0]) most = s->vectors;
  u64 panels = (left + most - 1) / most, w = (left + panels - 1) / panels;
  return s->fn[w - 1][0] ? (u32)w : most;
}

/* A block of the result. */
typedef struct block {
  const product *p;
  const char *a, *b;
  char *pa, *pb, *line; /* packed */
  u64 m0, mc, n0, nc;
  char *c; /* its sums */
  const i64 *to;
  u32 start[DOT_VECTORS * 16];
} block;

/* Offsets from *base on, which moves to the first of them. */
static const i64 *offsets(const axis *x, u64 first, size_t size, const char **base) {
  if (x->table) return x->table + first;
  *base += (i64)first * x->step * (i64)size;
  return x->steps;
}

/* Packs columns [j, j + n) for terms k0 and on, unless they can be read where they are. */
static const char *panel(const block *x, u64 j, size_t n, u64 k0, size_t kc, u32 width, i64 *kb) {
  const product *p = x->p;
  size_t size = dtype_size(p->rhs_type);
  const char *from = x->b;
  if (p->direct_b && n == width) {
    *kb = p->rhs_k.step;
    return from + (axis_at(&p->rhs_n, x->n0 + j) + axis_at(&p->rhs_k, k0)) * (i64)size;
  }
  const i64 *columns = offsets(&p->rhs_n, x->n0 + j, size, &from);
  const i64 *terms = offsets(&p->rhs_k, k0, size, &from);
  pack(p, false, from, columns, n, terms, kc, width, x->pb, x->line);
  *kb = width;
  return x->pb;
}

/* The first element that rows and terms of lhs read; *n: how many there are up to the last one. */
static i64 reach(const product *p, u64 m0, u64 m, u64 k0, u64 k, u64 *n) {
  const axis *of[] = {&p->lhs_m, &p->lhs_k};
  u64 from[] = {m0, k0}, num[] = {m, k};
  i64 first = 0, last = 0;
  for (u32 d = 0; d < 2; d++) {
    i64 least = axis_at(of[d], from[d]), most = least;
    for (u64 i = 1; i < num[d]; i++) {
      i64 at = axis_at(of[d], from[d] + i);
      least = at < least ? at : least;
      most = at > most ? at : most;
    }
    first += least;
    last += most;
  }
  *n = (u64)(last - first) + 1;
  return first;
}

/* Rows for terms k0 and on: of single terms these lie side by side, of joined ones rows may. */
static void bring_rows(const block *x, u64 k0, size_t kc, dot_strip *t) {
  const product *p = x->p;
  const char *from = x->a;
  size_t size = dtype_size(p->lhs_type);
  const i64 *rows = offsets(&p->lhs_m, x->m0, size, &from);
  const i64 *terms = offsets(&p->lhs_k, k0, size, &from), *each = terms;
  bool joined = p->each > 1;
  if (joined) each = p->joined_k.table ? p->joined_k.table + k0 / p->each : p->joined_k.steps;
  bool in_place = p->direct_a || p->once;
  t->a = p->direct_a ? from : x->pa;
  t->row = in_place ? rows : p->packed_m.steps;
  t->ka = in_place ? each : p->packed_k.steps;
  if (p->once) {
    u64 n;
    i64 first = reach(p, x->m0, x->mc, k0, kc, &n), moved = (from - x->a) / (i64)size;
    p->join_a->along(n, x->pa, x->a + first * (i64)size);
    t->a = x->pa + (moved - first) * (i64)(p->size / p->each);
  }
  if (in_place) return;
  if (p->across_a)
    join_panel(p, true, from, rows, x->mc, terms, kc, (u32)p->mc, (u32 *)(void *)x->pa);
  else if (joined)
    join_rows(p, true, from, rows, x->mc, terms, kc, x->pa,
              (size_t)p->packed_m.step * p->size / p->each);
  else
    pack(p, true, from, terms, kc, rows, x->mc, KC, x->pa, x->line);
}

/* What 128 times the columns of a panel are too many. */
static const u32 *less_shift(block *x, const dot_strip *t, u32 w) {
  static const u32 shift = 0x80808080;
  static const i64 same[KC];
  u32 *start = x->start, n = w * x->p->strips->lanes;
  x->p->strips->fn[w - 1][0](&(dot_strip){.k = t->k,
                                          .rows = 1,
                                          .a = &shift,
                                          .row = same,
                                          .ka = same,
                                          .b = t->b,
                                          .kb = t->kb,
                                          .c = start,
                                          .to = same});
  for (u32 i = 0; i < n; i++) start[i] = -start[i];
  return start;
}

/* Terms [k0, k0 + kc), added to what is there if `more`. */
static void add_terms(block *x, u64 k0, size_t kc, bool more) {
  const product *p = x->p;
  const dot_strips *s = p->strips;
  dot_strip t = {.k = (kc + p->each - 1) / p->each, .rows = x->mc, .to = x->to, .more = more};
  bring_rows(x, k0, kc, &t);
  for (u64 j = 0, n; j < x->nc; j += n) {
    n = x->nc - j;
    u32 w = dot_vectors(s, (n + s->lanes - 1) / s->lanes, p->most);
    if (n > w * s->lanes) n = w * s->lanes;
    t.b = panel(x, j, n, k0, kc, w * s->lanes, &t.kb);
    t.c = x->c + j * p->size;
    if (p->shifted) t.start = less_shift(x, &t, w);
    dot_rows(s, w, t);
  }
}

static const char *term_of(const block *x, u64 row, u64 term) {
  const product *p = x->p;
  return x->a + (axis_at(&p->lhs_m, x->m0 + row) + (i64)term) * (i64)dtype_size(p->lhs_type);
}
static void write_zeros(const block *x, u64 first, u64 end, u64 rows) {
  for (u64 i = 0; i < rows; i++)
    memset((char *)(uintptr_t)term_of(x, i, first), 0, (end - first) * dtype_size(x->p->lhs_type));
}

/* Whether terms [first, end) add nothing to any row: zeros by what is finite, as the first row's
 * sums say, which would be NaN. Of zeros that are not
 * written the first row's are. */
static bool adds_nothing(const block *x, u64 first, u64 end, bool written) {
  static const char zeros[KC * 8];
  static const i64 none[1];
  const product *p = x->p;
  size_t size = dtype_size(p->lhs_type);
  char sums[NC * 8];
  if (first == end) return true;
  if (!written) write_zeros(x, first, end, 1);
  for (u64 i = 0; written && i < x->mc; i++)
    if (memcmp(term_of(x, i, first), zeros, (end - first) * size)) return false;
  block one = *x;
  one.mc = 1, one.c = sums, one.to = none;
  add_terms(&one, first, end - first, false);
  for (u64 i = 0; i < x->nc * p->size; i += sizeof zeros)
    if (memcmp(sums + i, zeros,
               x->nc * p->size - i < sizeof zeros ? x->nc * p->size - i : sizeof zeros))
      return false;
  return true;
}

enum { STEP = 32 };
bool dot_own_cuts_terms(const product *p) {
  return p->k % STEP == 0 && !p->lhs_k.table && p->lhs_k.step == 1 && p->acc == DTYPE_f32;
}

/* Of terms [*k0, *k0 + *kc) those that are left without such at both ends; always some. */
static void cut_terms(const block *x, const exec_env *env, u64 *k0, size_t *kc) {
  const product *p = x->p;
  u64 begin = *k0, end = begin + *kc, first = env->terms[0] / STEP * STEP;
  u64 last = align_up(env->terms[1], STEP);
  if (first < begin) first = begin;
  if (first > end - STEP) first = end - STEP;
  if (last > end) last = end;
  if (last < first + STEP) last = first + STEP;
  bool written = !env->zeros;
  exec_finite *known = &env->finite[begin / KC % EXEC_FINITE];
  if (!written && (first >= env->terms[1] || last <= env->terms[0]))
    write_zeros(x, first, last, x->mc);
  const char *of = x->b + axis_at(&p->rhs_n, x->n0) * (i64)dtype_size(p->rhs_type);
  bool is_known =
      !written && begin == first && known->of == of && known->first <= last && end == known->end;
  if (is_known || (adds_nothing(x, begin, first, written) && adds_nothing(x, last, end, written))) {
    *k0 = first, *kc = last - first;
    if (!written && !is_known) *known = (exec_finite){of, last, end};
  } else if (!written) {
    write_zeros(x, begin, first, x->mc);
    write_zeros(x, last, end, x->mc);
  }
}

/* Rows [m0, m0 + mc) x columns [n0, n0 + nc), all of k. */
static void multiply_block(const product *p, const exec_env *env, block *x, char *out) {
  size_t ldc = p->out_row.step, size = p->size, to_size = dtype_size(p->out_type);
  char *c = env->scratch + p->c_at, *total = p->groups ? env->scratch + p->total_at : c;
  x->c = c, x->to = p->out_row.steps;
  if (p->direct_c) {
    const char *first = out + x->n0 * size;
    x->to = offsets(&p->out_m, x->m0, size, &first);
    x->c = (char *)(uintptr_t)first;
  }
  for (u64 k0 = 0, done = 0; k0 < p->k; k0 += p->kc, done++) {
    size_t kc = p->k - k0 < p->kc ? p->k - k0 : p->kc, terms = kc;
    u64 from = k0;
    if (env->terms && dot_own_cuts_terms(p)) cut_terms(x, env, &from, &terms);
    add_terms(x, from, terms, done % DOT_GROUP > 0);
    if (p->groups && (done % DOT_GROUP == DOT_GROUP - 1 || k0 + kc == p->k))
      dot_add_group(p, done < DOT_GROUP, total, c, x->mc * ldc);
  }
  if (p->k == 0)
    for (u64 i = 0; i < x->mc; i++) memset(x->c + x->to[i] * (i64)size, 0, x->nc * size);
  if (p->direct_c || store_across(p, out, total, ldc, x->m0, x->mc, x->n0, x->nc)) return;
  for (u64 i = 0; i < x->mc; i++)
    dot_store_row(p, &p->out_n, out + axis_at(&p->out_m, x->m0 + i) * (i64)to_size,
                  total + i * ldc * size, x->n0, x->nc, x->line);
}

void dot_own(const product *p, const exec_env *env, const char *a, const char *b, char *out, u64 m0,
             u64 m, u64 n0, u64 n) {
  block x;
  x.p = p;
  x.a = a;
  x.b = b;
  x.pa = env->scratch + p->a_at;
  x.pb = env->scratch + p->b_at;
  x.line = env->scratch + p->row_at;
  for (u64 j = 0; j < n; j += p->nc)
    for (u64 i = 0; i < m; i += p->mc) {
      x.m0 = m0 + i;
      x.n0 = n0 + j;
      x.mc = m - i < p->mc ? m - i : p->mc;
      x.nc = n - j < p->nc ? n - j : p->nc;
      multiply_block(p, env, &x, out);
    }
}

/* ---- lowering ---- */

/* Whether neighbours of the axis, the first ones at least, lie together. */
static bool is_together(const axis *x) {
  return x->n > 1 && (x->table ? x->table[1] - x->table[0] == 1 : x->step == 1);
}

/* The lines of a strip's rows, or of its terms, are in the cache until all of each has been used:
 * not where they are a power of two apart. */
static bool lies_well(const product *p, const axis *apart) {
  enum { ALIAS = 2048 };
  return apart->n <= 8 || apart->table || apart->step * (i64)p->size % ALIAS != 0;
}

/* Offsets of the first elements. */
static void list_steps(const lower_env *e, axis *x, u64 most) {
  if (x->table) return;
  i64 n = (i64)(x->n < most ? x->n : most);
  x->steps = dot_table(e, &n, &x->step, 1);
}
static axis steps_of(const lower_env *e, u64 n, u64 step) {
  axis x = {.n = n, .step = (i64)step};
  list_steps(e, &x, n);
  return x;
}

/* Of terms that are read as they are joined the first of each. */
static void list_joined(const lower_env *e, product *p, u64 elements) {
  const axis *k = &p->lhs_k;
  p->joined_k = steps_of(e, elements, k->table ? 0 : p->each);
  if (!k->table) return;
  i64 *at = ARENA_ARRAY(e->a, i64, k->n / p->each);
  for (u64 i = 0; i < k->n; i += p->each) at[i / p->each] = k->table[i];
  p->joined_k.table = at;
}

static void list_offsets(const lower_env *e, product *p, size_t ldc) {
  u64 each = p->each, elements = p->kc / each;
  list_steps(e, &p->lhs_m, MC);
  list_steps(e, &p->out_m, MC);
  list_steps(e, &p->lhs_k, p->kc);
  list_steps(e, &p->rhs_k, p->kc);
  list_steps(e, &p->rhs_n, DOT_VECTORS * p->strips->lanes);
  p->out_row = steps_of(e, p->mc, ldc);
  if (p->direct_a || p->once) {
    if (each > 1) list_joined(e, p, elements);
    return;
  }
  p->packed_m = steps_of(e, p->mc, each * (p->across_a ? 1 : elements));
  p->packed_k = steps_of(e, elements, each * (p->across_a ? p->mc : 1));
}

/* Terms that lie as they are joined. */
static bool is_joined(const product *p) {
  const axis *k = &p->lhs_k;
  if (k->n % p->each != 0) return false;
  for (u64 i = 1; k->table && i < k->n; i++)
    if (i % p->each && k->table[i] != k->table[i - 1] + 1) return false;
  return k->table || k->step == 1;
}

/* Whether all that windows of blocks read is half of what they have at most, and has room. */
static bool is_overlapping(const product *p) {
  u64 read = 0;
  if (p->each == 1 || p->direct_a || !is_joined(p)) return false;
  for (u64 k = 0; k < p->k; k += p->kc)
    for (u64 i = 0, m, n; i < p->m; i += m) {
      u64 kc = p->k - k < p->kc ? p->k - k : p->kc;
      u64 left = p->unit_m - i % p->unit_m < p->m - i ? p->unit_m - i % p->unit_m : p->m - i;
      m = left < p->mc ? left : p->mc;
      reach(p, i, m, k, kc, &n);
      if (n > p->mc * p->kc / 2) return false;
      read += n;
    }
  return read <= p->m * p->k / 2;
}

size_t dot_own_prepare(const lower_env *e, product *p) {
  enum { FEW = 4, NEAR = 512, NARROW = 128, SHORT = 64, PAGE = 4096, LINE = 64 };
  const dot_strips *s = p->strips;
  u64 wide = s->vectors * s->lanes, panels = (p->n + wide - 1) / wide;
  u64 most = p->n <= NARROW ? MC : MC / 2, blocks = (p->unit_m + most - 1) / most;
  p->mc = (p->unit_m + blocks - 1) / blocks;
  p->nc = p->unit_n < NC ? p->unit_n : NC;
  p->across_a = p->each > 1 && !is_together(&p->lhs_k) && is_together(&p->lhs_m);
  p->direct_a = p->each > 1
                    ? p->as_it_is && is_joined(p)
                    : p->lhs_type == p->acc &&
                          (is_together(&p->lhs_k) || p->m == 1 ||
                           (panels <= FEW && is_together(&p->lhs_m) && lies_well(p, &p->lhs_k)));
  p->once = is_overlapping(p);
  p->direct_c = p->out_type == p->acc && !p->groups && !p->out_n.table && p->out_n.step == 1 &&
                p->n % s->lanes == 0;
  /* Lines a page apart have one place in the first cache: not for one line's sums at a time. */
  bool alone = wide * p->size <= LINE && p->rhs_k.step * (i64)p->size % PAGE == 0;
  bool near = p->rhs_k.step <= NEAR && !alone;
  p->direct_b = p->rhs_type == p->acc && !p->rhs_n.table && p->rhs_n.step == 1 && !p->rhs_k.table &&
                (near || p->unit_m <= FEW * s->rows[0]);
  bool evenly = p->k <= SHORT && p->n % (DOT_VECTORS * s->lanes) == 0;
  p->most = (p->direct_b && !near) || evenly ? DOT_VECTORS : DOT_WELL;
  size_t nc = align_up(p->nc, s->lanes), c = p->direct_c ? 0 : p->mc * nc * p->size;
  p->b_at = p->a_at + (p->direct_a ? 0 : align_up((p->mc + DOT_ROWS) * KC * p->size, 64));
  p->c_at = p->b_at + align_up(wide * KC * p->size, 64);
  p->total_at = p->c_at + align_up(c, 64);
  list_offsets(e, p, nc);
  p->row_at = p->total_at + (p->groups ? align_up(c, 64) : 0);
  return align_up(KC * 32 + NC * 16, 64) + (p->each > 1 ? align_up(wide * KC * p->size, 64) : 0);
}
