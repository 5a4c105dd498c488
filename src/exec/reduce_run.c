/* Reductions while they run (reduce.h). */
#include "exec/reduce.h"

#include "exec/fold_order.h"

enum {
  FEW = 64,   /* rows: results of blocks that are folded at once */
  FOLDS = 9,  /* FEW ^ FOLDS is above any number of blocks */
  LEVELS = 64 /* rows: of pairs */
};

static void next_index(const plan *p, i64 *index) {
  for (u32 d = p->rank; d-- > 0;) {
    if (++index[d] < p->dims[d]) return;
    index[d] = 0;
  }
}
static void walk_offsets(const plan *p, const i64 *index, i64 *out) {
  for (u32 w = 0; w < p->num_walks; w++) {
    out[w] = 0;
    for (u32 d = 0; d < p->rank; d++) out[w] += index[d] * p->walks[w].stride[d];
  }
}
static void split_index(const plan *p, u64 at, i64 *index) {
  for (u32 d = p->rank; d-- > 0;) {
    index[d] = (i64)(at % (u64)p->dims[d]);
    at /= (u64)p->dims[d];
  }
}

typedef struct reducing {
  void **reg, **breg, **summing; /* NULL: there is no code for that */
  char *packed, *init[COMBINE_OPERANDS], *value[COMBINE_OPERANDS];
  char *acc[COMBINE_OPERANDS]; /* rows: of level 0; has the result in the end */
  char *left[COMBINE_OPERANDS], *right[COMBINE_OPERANDS];
  u64 init_mem[COMBINE_OPERANDS][2]; /* in register form */
  u64 sum;                           /* of a block, where code leaves one */
} reducing;

static void begin_reducing(const reduction *r, const exec_env *env, reducing *s) {
  const kernel *kn = &r->kn;
  s->reg = vm_begin(kn->unit, env->scratch, kn->p.max_elements);
  s->packed = env->scratch + kn->regs_bytes;
  if (kn->unit->sums == SUMS_BLOCK) s->reg[kn->num_in] = &s->sum;
  s->summing =
      kn->summing ? vm_begin(kn->summing, env->scratch + r->summing_at, kn->p.max_elements) : NULL;
  s->breg = vm_begin(r->c.unit, env->scratch + r->body_at, r->block);
  for (u32 o = 0; o < r->c.n; o++) {
    s->acc[o] = env->scratch + r->acc_at + o * r->acc_bytes;
    s->left[o] = env->scratch + r->left_at + o * r->half_bytes;
    s->right[o] = env->scratch + r->right_at + o * r->half_bytes;
    s->init[o] = (char *)s->init_mem[o];
    if (r->init)
      combine_load(&r->c, o, 1, s->init[o], env->slots[r->init[o]]);
    else
      memset(s->init[o], 0, sizeof s->init_mem[o]);
  }
}

static void run_values(const reduction *r, const exec_env *env, reducing *s, const block *b,
                       const i64 *extra, bool again) {
  loop_fetch(&r->kn, env, s->reg, s->packed, b, extra, again);
  if (r->words) {
    s->value[0] = s->reg[0];
    return;
  }
  vm_run(r->kn.unit, s->reg, b->elements);
  for (u32 o = 0; o < r->c.n; o++) s->value[o] = s->reg[r->kn.unit->outputs[o].reg];
}

static u16 infinity_of(const reduction *r) { return r->c.types[0] == DTYPE_bf16 ? 0x7f80 : 0x7c00; }

/* A block's values for result o as one, on top of what `init` has. */
static void fold_values(const reduction *r, const reducing *s, const block *b, u32 o, void *acc,
                        const void *init) {
  if (r->words) {
    u16 word, first;
    memcpy(&first, s->value[o], sizeof first);
    r->words(1, b->elements, &word, first, infinity_of(r), (const u16 *)s->value[o], r->max);
    combine_load(&r->c, o, 1, acc, &word);
    if (init) r->fold(1, acc, init, acc);
  } else if (!r->kn.unit->sums)
    r->fold(b->elements, acc, init, s->value[o]);
  else if (init)
    r->kn.k->binary[VM_add][vm_rtype_of(r->c.types[o])][FORM_VV](1, acc, init, s->value[o], NULL);
  else
    memcpy(acc, s->value[o], r->c.width[o]);
}

/* ---- rows ---- */

/* Each value and the next one combined; how many are left. `to` may be `from`. */
static size_t combine_pairs(const reduction *r, reducing *s, char *const *to, char *const *from,
                            size_t n) {
  size_t half = n / 2;
  for (u32 o = 0; o < r->c.n; o++) {
    r->kn.k->unzip[vm_log2_width(r->c.width[o])](half, s->left[o], s->right[o], from[o]);
    if (n % 2)
      memcpy(s->left[o] + half * r->c.width[o], from[o] + (n - 1) * r->c.width[o], r->c.width[o]);
  }
  combine(&r->c, s->breg, to, s->left, s->right, half);
  for (u32 o = 0; o < r->c.n && n % 2; o++)
    memcpy(to[o] + half * r->c.width[o], s->left[o] + half * r->c.width[o], r->c.width[o]);
  return n - half;
}

/* A level of pairs, from element `at` on. */
static void find_level(const reduction *r, const reducing *s, u32 level, size_t at, char **out) {
  for (u32 o = 0; o < r->c.n; o++)
    out[o] = s->acc[o] + level * r->c.n * r->acc_bytes + at * r->c.width[o];
}

/* Pairs of n values behind those that a level has. One that is full passes pairs of its own on to
 * the next, whose values come before. */
static void add_pairs(const reduction *r, reducing *s, size_t *len, u32 level, char *const *from,
                      size_t n) {
  char *to[COMBINE_OPERANDS];
  if (len[level] + n - n / 2 > r->room) {
    find_level(r, s, level, 0, to);
    add_pairs(r, s, len, level + 1, to, len[level]);
    len[level] = 0;
  }
  find_level(r, s, level, len[level], to);
  len[level] += combine_pairs(r, s, to, from, n);
}

/* All that the levels have, in order, to one value of level 0. */
static void join_pairs(const reduction *r, reducing *s, size_t *len) {
  char *from[COMBINE_OPERANDS];
  u32 top = r->levels - 1;
  while (!len[top]) top--;
  for (u32 l = 0; l < top; l++) {
    find_level(r, s, l, 0, from);
    if (len[l]) add_pairs(r, s, len, l + 1, from, len[l]);
    while (len[top + 1]) top++;
  }
  find_level(r, s, top, 0, from);
  for (size_t n = len[top]; n > 1;) n = combine_pairs(r, s, from, from, n);
  combine_copy(&r->c, s->acc, from, top > 0);
}

static void reduce_pairs(const reduction *r, const exec_env *env, reducing *s, const i64 *extra) {
  size_t len[LEVELS];
  memset(len, 0, (r->levels + 1) * sizeof *len);
  for (u64 i = 0; i < r->kn.p.blocks; i++) {
    block b;
    loop_find_block(&r->kn.p, i, &b);
    run_values(r, env, s, &b, extra, i > 0);
    add_pairs(r, s, len, 0, s->value, b.elements);
  }
  if (r->kn.p.blocks == 0) {
    combine_copy(&r->c, s->acc, s->init, 1);
    return;
  }
  join_pairs(r, s, len);
  combine(&r->c, s->breg, s->acc, s->init, s->acc, 1);
}

/* Results of FEW blocks, of FEW times FEW and so on, that wait to be folded. */
typedef struct folds {
  const reduction *r;
  size_t n[FOLDS];
  u64 value[FOLDS][FEW][2];
} folds;

static char *next_fold(folds *f, u32 level) {
  return (char *)f->value[level] + f->n[level]++ * f->r->c.width[0];
}
static void fold_few(folds *f) {
  for (u32 l = 0; f->n[l] == FEW && l + 1 < FOLDS; l++) {
    f->r->fold(FEW, next_fold(f, l + 1), NULL, f->value[l]);
    f->n[l] = 0;
  }
}

/* One value on top of what was folded of it before. */
static void join_folds(folds *f, u32 o, reducing *s) {
  const reduction *r = f->r;
  char *init = s->init[o];
  for (u32 l = FOLDS; l-- > 0;) {
    if (f->n[l] == 0) continue;
    r->fold(f->n[l], s->acc[o], init, f->value[l]);
    init = s->acc[o];
  }
  if (init != s->acc[o]) memcpy(s->acc[o], init, r->c.width[o]);
}

/* Blocks of a piece of each of the row's quarters: memory gives several streams that are far from
 * each other sooner than one. */
static void sum_far_blocks(const reduction *r, const exec_env *env, reducing *s, const i64 *extra) {
  folds f;
  block b;
  f.r = r;
  memset(f.n, 0, sizeof f.n);
  loop_find_block(&r->kn.p, 0, &b);
  run_values(r, env, s, &b, extra, false);
  for (u64 i = 0; i < r->kn.p.blocks; i++) {
    r->sum_far(next_fold(&f, 0), s->value[0] + i * (FOLD_LONG / 4) * r->c.width[0], r->apart);
    if (f.n[0] == FEW) fold_few(&f);
  }
  join_folds(&f, 0, s);
}

static void fold_blocks(const reduction *r, const exec_env *env, reducing *s, const i64 *extra) {
  folds f[REDUCE_FOLDED];
  for (u32 o = 0; o < r->c.n; o++) {
    f[o].r = r;
    memset(f[o].n, 0, sizeof f[o].n);
  }
  for (u64 i = 0; i < r->kn.p.blocks; i++) {
    block b;
    loop_find_block(&r->kn.p, i, &b);
    run_values(r, env, s, &b, extra, i > 0);
    for (u32 o = 0; o < r->c.n; o++) {
      fold_values(r, s, &b, o, next_fold(&f[o], 0), NULL);
      if (f[o].n[0] == FEW) fold_few(&f[o]);
    }
  }
  for (u32 o = 0; o < r->c.n; o++) join_folds(&f[o], o, s);
}

static void fold_block(const reduction *r, const exec_env *env, reducing *s, const i64 *extra) {
  block b;
  loop_find_block(&r->kn.p, 0, &b);
  run_values(r, env, s, &b, extra, false);
  for (u32 o = 0; o < r->c.n; o++) fold_values(r, s, &b, o, s->acc[o], s->init[o]);
}

void reduce_run_rows(const void *data, const exec_env *env, u64 begin, u64 end) {
  const reduction *r = data;
  reducing s;
  i64 index[PROG_MAX_DIMS], extra[160];
  void (*reduce)(const reduction *, const exec_env *, reducing *, const i64 *) =
      !r->fold              ? reduce_pairs
      : r->apart            ? sum_far_blocks
      : r->kn.p.blocks == 1 ? fold_block
                            : fold_blocks;
  begin_reducing(r, env, &s);
  split_index(&r->other, begin, index);
  for (u64 i = begin; i < end; i++, next_index(&r->other, index)) {
    walk_offsets(&r->other, index, extra);
    reduce(r, env, &s, extra);
    for (u32 o = 0; o < r->c.n; o++) {
      i64 at = r->out[o].offset + extra[r->kn.num_in + o];
      combine_store(&r->c, o, 1, (char *)env->slots[r->out[o].slot] + at * (i64)r->out[o].width,
                    s.acc[o]);
    }
  }
}

/* Rows of values that are folded side by side. */
static u64 fold_group(const reduction *r, const exec_env *env, reducing *s, size_t n, u64 rows) {
  const kernel *kn = &r->kn;
  char *values = env->scratch + r->lines_at;
  if (rows > REDUCE_SIDE) rows = REDUCE_SIDE;
  for (u64 i = 0; i < rows; i++) {
    vm_run(kn->unit, s->reg, n);
    memcpy(values + i * n * r->c.width[0], s->reg[kn->unit->outputs[0].reg], n * r->c.width[0]);
    for (u32 k = 0; k < kn->num_in; k++) s->reg[k] = (char *)s->reg[k] + r->steps[k];
  }
  r->each(rows, n, n, s->acc[0], s->init[0], values);
  return rows;
}

/* Rows of one block, all of which is read where it lies: how many are done, as results in acc. */
static u64 fold_rows(const reduction *r, const exec_env *env, reducing *s, size_t elements,
                     u64 most) {
  const vm_unit *u = r->kn.unit;
  block b = {.elements = elements};
  if (r->lines) return fold_group(r, env, s, elements, most);
  if (!u->rows || !u->sums) {
    vm_run(u, s->reg, b.elements);
    s->value[0] = s->reg[u->outputs[0].reg];
    fold_values(r, s, &b, 0, s->acc[0], s->init[0]);
    return 1;
  }
  if (most > r->block) most = r->block;
  s->reg[r->kn.num_in] = s->acc[0];
  u->rows(b.elements, s->reg, most, r->steps);
  kern_fn *add = r->kn.k->binary[VM_add][vm_rtype_of(r->c.types[0])][FORM_SV];
  add(most, s->acc[0], s->init[0], s->acc[0], NULL);
  return most;
}
void reduce_run_short_rows(const void *data, const exec_env *env, u64 begin, u64 end) {
  const reduction *r = data;
  const input *in = r->kn.in, *out = &r->out[0];
  const plan *p = &r->other;
  u32 num_in = r->kn.num_in, last = p->rank - 1;
  u64 first = env->columns ? env->columns[0] : 0;
  size_t elements = (env->columns ? env->columns[1] : r->kn.p.max_elements) - first;
  char *to = (char *)env->slots[out->slot] + out->offset * (i64)out->width;
  reducing s;
  i64 index[PROG_MAX_DIMS], at[160];
  begin_reducing(r, env, &s);
  split_index(p, begin, index);
  for (u64 row = begin, n; row < end; row += n) {
    walk_offsets(p, index, at);
    for (u32 i = 0; i < num_in; i++)
      s.reg[i] =
          (char *)env->slots[in[i].slot] +
          (in[i].offset + at[i] + (i64)first * r->kn.p.walks[i].stride[0]) * (i64)in[i].width;
    u64 most = (u64)(p->dims[last] - index[last]);
    n = fold_rows(r, env, &s, elements, most < end - row ? most : end - row);
    i64 apart = p->walks[num_in].stride[last];
    for (u64 i = 0, some = apart == 1 ? n : 1; i < n; i += some)
      combine_store(&r->c, 0, some, to + (at[num_in] + (i64)i * apart) * (i64)out->width,
                    s.acc[0] + i * r->c.width[0]);
    index[last] += (i64)n - 1;
    next_index(p, index);
  }
}

/* ---- short rows ---- */

static i64 row_length(const plan *p) { return p->dims[p->rank - 1]; }

static void fold_each(const reduction *r, const reducing *s, u32 o, size_t rows, const u64 *some) {
  size_t n = (size_t)row_length(&r->kn.p), width = r->c.width[o];
  size_t first = some ? some[0] : 0, length = some ? some[1] - first : n;
  if (r->each)
    r->each(rows, r->kn.unit->sums ? 16 : length, n, s->acc[o], s->init[o],
            s->value[o] + first * width);
  for (size_t i = 0; !r->each && i < rows; i++)
    r->fold(n, s->acc[o] + i * width, s->init[o], s->value[o] + i * n * width);
}

/* Blocks of rows that are combined as they are stored. */
void reduce_run_words(const void *data, const exec_env *env, u64 begin, u64 end) {
  const reduction *r = data;
  const input *in = &r->kn.in[0], *out = &r->out[0];
  const plan *p = &r->kn.p;
  u16 infinity = infinity_of(r), init;
  memcpy(&init, env->slots[r->init[0]], sizeof init);
  for (u64 i = begin; i < end; i++) {
    block b;
    i64 at = out->offset;
    loop_find_block(p, i, &b);
    for (u32 d = 0; d <= p->cut; d++) at += b.index[d] * r->results.stride[d];
    r->words(b.elements / (size_t)row_length(p), (size_t)row_length(p),
             (u16 *)env->slots[out->slot] + at, init, infinity,
             (const u16 *)env->slots[in->slot] + in->offset + loop_block_offset(p, &b, 0), r->max);
  }
}

/* Each block is so many rows. */
void reduce_run_blocks_of_rows(const void *data, const exec_env *env, u64 begin, u64 end) {
  const reduction *r = data;
  reducing s;
  begin_reducing(r, env, &s);
  for (u64 i = begin; i < end; i++) {
    block b;
    i64 at = 0;
    loop_find_block(&r->kn.p, i, &b);
    run_values(r, env, &s, &b, NULL, i > begin);
    size_t rows = b.elements / (size_t)row_length(&r->kn.p);
    for (u32 d = 0; d <= r->kn.p.cut; d++) at += b.index[d] * r->results.stride[d];
    for (u32 o = 0; o < r->c.n; o++) {
      const input *out = &r->out[o];
      fold_each(r, &s, o, rows, env->columns);
      combine_store(&r->c, o, rows,
                    (char *)env->slots[out->slot] + (out->offset + at) * (i64)out->width, s.acc[o]);
    }
  }
}

/* ---- columns ---- */

static void store_column(const reduction *r, const exec_env *env, char *const *acc,
                         const block *b) {
  const kernel *kn = &r->kn;
  for (u32 o = 0; o < r->c.n; o++) {
    const pattern *pt = &kn->p.patterns[kn->num_in + o];
    i64 at = r->out[o].offset + loop_block_offset(&kn->p, b, kn->num_in + o);
    char *to = (char *)env->slots[r->out[o].slot] + at * (i64)r->out[o].width;
    if (pt->mode == MODE_CONTIGUOUS) {
      combine_store(&r->c, o, b->elements, to, acc[o]);
      continue;
    }
    /* narrowing in place: elements only move to lower addresses */
    for (size_t i = 0; kn->k->store[r->c.types[o]] && i < b->elements; i++)
      combine_store(&r->c, o, 1, acc[o] + i * r->out[o].width, acc[o] + i * 4);
    loop_scatter(kn->k, pt, b->count, r->out[o].width, to, acc[o], false);
  }
}

/* FOLD_ROWS values of the block from `index` on, or the n that there are, and again the first for
 * the others. How many groups of these there are, up to `most`, which follow at the same distance:
 * a call each would keep the processor from reading ahead. */
static u64 find_rows(const reduction *r, const exec_env *env, const block *b, i64 *index, u64 n,
                     u64 most, const void **rows) {
  const plan *other = &r->other;
  u32 last = other->rank - 1;
  u64 groups = 1;
  const input *in = &r->kn.in[0];
  const char *base = (const char *)env->slots[in->slot] +
                     (in->offset + loop_block_offset(&r->kn.p, b, 0)) * (i64)in->width;
  for (u32 k = 0; k < FOLD_ROWS; k++) {
    i64 at = 0;
    for (u32 d = 0; d < other->rank; d++) at += index[d] * other->walks[0].stride[d];
    rows[k] = k < n ? base + at * (i64)in->width : rows[0];
    if (k < n) next_index(other, index);
  }
  if (index[last] >= FOLD_ROWS && n >= FOLD_ROWS) { /* those were of one run */
    u64 more = (u64)(other->dims[last] - index[last]) / FOLD_ROWS;
    groups = more < most ? more + 1 : most;
    index[last] += FOLD_ROWS * (i64)(groups - 1) - 1;
    next_index(other, index);
  }
  return groups;
}
static i64 next_group(const reduction *r) {
  return FOLD_ROWS * r->other.walks[0].stride[r->other.rank - 1];
}

/* These as one that the accumulators take; how many values they are. */
static u64 add_rows(const reduction *r, const exec_env *env, const block *b, i64 *index,
                    accumulators *a) {
  const void *rows[FOLD_ROWS];
  i64 next = next_group(r);
  u64 groups = find_rows(r, env, b, index, FOLD_ROWS, COMBINE_RUN - a->taken[0], rows);
  r->sum_rows(b->elements, a->acc[0], rows, a->taken[0] == 0, groups, next);
  kern_fn *clean = r->kn.k->clean[r->c.types[0]];
  if (clean) clean(b->elements, a->acc[0], a->acc[0], NULL, NULL);
  a->taken[0] += groups;
  if (a->taken[0] >= COMBINE_RUN) accumulators_pass_on(a, b->elements);
  return groups * FOLD_ROWS;
}

/* The farthest of all the block's columns, as values of register type; `mem`: scratch. NULL: there
 * are NaNs, or the block is short. */
static char *find_most(const reduction *r, const exec_env *env, const block *b, char *mem) {
  i64 index[PROG_MAX_DIMS] = {0};
  size_t n = b->elements;
  i16 sign = r->max ? 0 : INT16_MIN, first, *acc = (i16 *)(void *)mem;
  const void *rows[FOLD_ROWS];
  char *values = mem + (n + 2 * FOLD_MOST) * sizeof *acc;
  if (n < FOLD_MOST) return NULL;
  memcpy(&first, env->slots[r->init[0]], sizeof first);
  first ^= sign;
  first ^= first >> 15 & INT16_MAX;
  for (size_t i = 0; i < n + 2 * FOLD_MOST; i++) acc[i] = first;
  for (u64 k = 0, left = r->other.blocks, groups; k < left; k += groups * FOLD_ROWS) {
    groups = find_rows(r, env, b, index, left - k, (left - k) / FOLD_ROWS, rows);
    r->most(n, acc, rows, sign, groups, next_group(r));
  }
  if (!r->most_end(n, acc, sign, (i16)infinity_of(r))) return NULL;
  combine_load(&r->c, 0, n, values, acc + FOLD_MOST);
  return values;
}

/* Rows of a block, or where they are apart, that are summed up by one code as accumulators take
 * them: n columns. */
static void sum_block(const reduction *r, const exec_env *env, reducing *s, const block *b,
                      const i64 *extra, accumulators *a, bool again, size_t n) {
  static const float minus_zero = -0.0f; /* changes nothing */
  static const double wide_zero = -0.0;
  const kernel *kn = &r->kn;
  loop_fetch(kn, env, s->reg, s->packed, b, extra, again);
  for (u32 i = 0; i < kn->num_in; i++) s->summing[i] = s->reg[i];
  for (u32 o = 0; o < r->c.n; o++) {
    bool wide = r->c.width[o] == sizeof wide_zero;
    const void *zero = wide ? (const void *)&wide_zero : &minus_zero;
    s->summing[kn->num_in + o] = a->acc[o];
    if (a->taken[0] == 0) kn->k->splat[wide ? 3 : 2](n, a->acc[o], zero, NULL, NULL);
  }
  vm_run(kn->summing, s->summing, n);
  if (++a->taken[0] >= COMBINE_RUN) accumulators_pass_on(a, n);
}

/* The same of FOLD_ROWS rows of computed values from `index` on, which moves behind them. */
static void add_lines(const reduction *r, const exec_env *env, reducing *s, const block *b,
                      i64 *index, accumulators *a) {
  const plan *other = &r->other;
  u32 last = other->rank - 1;
  i64 extra[160];
  const void *rows[COMBINE_OPERANDS][FOLD_ROWS];
  if (r->kn.summing && index[last] + FOLD_ROWS <= other->dims[last]) {
    walk_offsets(other, index, extra);
    sum_block(r, env, s, b, extra, a, false, b->elements);
    index[last] += FOLD_ROWS - 1;
    next_index(other, index);
    return;
  }
  for (u32 k = 0; k < FOLD_ROWS; k++, next_index(other, index)) {
    walk_offsets(other, index, extra);
    run_values(r, env, s, b, extra, false);
    for (u32 o = 0; o < r->c.n; o++)
      rows[o][k] = memcpy(env->scratch + r->lines_at + (o * FOLD_ROWS + k) * r->acc_bytes,
                          s->value[o], b->elements * r->c.width[o]);
  }
  for (u32 o = 0; o < r->c.n; o++)
    r->sum_rows(b->elements, a->acc[o], rows[o], a->taken[0] == 0, 1, 0);
  if (++a->taken[0] >= COMBINE_RUN) accumulators_pass_on(a, b->elements);
}

void reduce_run_columns(const void *data, const exec_env *env, u64 begin, u64 end) {
  const reduction *r = data;
  const plan *p = &r->kn.p;
  reducing s;
  i64 extra[160];
  char *acc[COMBINE_OPERANDS];
  begin_reducing(r, env, &s);
  for (u64 i = begin; i < end; i++) {
    block b;
    i64 index[PROG_MAX_DIMS] = {0};
    accumulators a;
    loop_find_block(p, i, &b);
    accumulators_begin(&a, &r->c, s.breg, env->scratch + r->acc_at, r->levels, r->block);
    for (u32 o = 0; o < r->c.n; o++)
      r->kn.k->splat[vm_log2_width(r->c.width[o])](b.elements, a.acc[o], s.init[o], NULL, NULL);
    a.taken[0] = 1;
    u64 k = 0;
    if (r->most && (s.value[0] = find_most(r, env, &b, env->scratch + r->lines_at))) {
      accumulators_take(&a, s.value, b.elements);
      k = r->other.blocks;
    }
    for (; r->lines && k + FOLD_ROWS <= r->other.blocks; k += FOLD_ROWS)
      add_lines(r, env, &s, &b, index, &a);
    bool at_once = r->sum_rows && (r->c.width[0] > 1 || b.elements >= FOLD_BYTES);
    while (at_once && k + FOLD_ROWS <= r->other.blocks) k += add_rows(r, env, &b, index, &a);
    for (; k < r->other.blocks; k++, next_index(&r->other, index)) {
      walk_offsets(&r->other, index, extra);
      run_values(r, env, &s, &b, extra, false);
      accumulators_take(&a, s.value, b.elements);
    }
    accumulators_join(&a, b.elements, acc);
    store_column(r, env, acc, &b);
  }
}

/* ---- few columns ---- */

/* What accumulators take of a block at once: all of it, or the sum of its FOLD_ROWS parts. */
static size_t taken_at_once(const reduction *r) {
  return r->kn.p.max_elements / (r->sum_rows ? FOLD_ROWS : 1);
}

/* A block's rows, if not all of them; accumulators have taken whole ones before. */
static void take_short(const reduction *r, const reducing *s, accumulators *a, size_t elements) {
  size_t n = taken_at_once(r), width = r->c.width[0];
  char *value[COMBINE_OPERANDS];
  for (size_t at = 0; at < elements; at += n) {
    for (u32 o = 0; o < r->c.n; o++) value[o] = s->value[o] + at * width;
    accumulators_take_short(a, value, elements - at < n ? elements - at : n);
  }
}

static void take_rows(const reduction *r, const reducing *s, accumulators *a) {
  size_t n = taken_at_once(r), width = r->c.width[0];
  const void *rows[FOLD_ROWS];
  if (!r->sum_rows) {
    accumulators_take(a, s->value, n);
    return;
  }
  for (u32 o = 0; o < r->c.n; o++) {
    for (u32 k = 0; k < FOLD_ROWS; k++) rows[k] = s->value[o] + k * n * width;
    r->sum_rows(n, a->acc[o], rows, a->taken[0] == 0, 1, 0);
  }
  if (++a->taken[0] >= COMBINE_RUN) accumulators_pass_on(a, n);
}

/* Rows in blocks of the same number each, but for the last ones. */
static void take_blocks(const reduction *r, const exec_env *env, reducing *s, const i64 *extra,
                        accumulators *a) {
  const plan *p = &r->kn.p;
  accumulators_begin(a, &r->c, s->breg, env->scratch + r->acc_at, r->levels, p->max_elements);
  for (u64 i = 0; i < p->blocks; i++) {
    block b;
    loop_find_block(p, i, &b);
    if (r->kn.summing && b.elements == p->max_elements) {
      sum_block(r, env, s, &b, extra, a, i > 0, taken_at_once(r));
      continue;
    }
    run_values(r, env, s, &b, extra, i > 0);
    if (b.elements < p->max_elements)
      take_short(r, s, a, b.elements);
    else
      take_rows(r, s, a);
  }
}

/* So many rows of values, one behind the other, as one row on top of the initial values. */
static void join_rows(const reduction *r, reducing *s, char *const *acc, u64 rows) {
  u64 width = r->c.width[0], columns = r->columns, half;
  char *more[COMBINE_OPERANDS];
  for (; rows > 1; rows -= half) {
    half = rows / 2;
    for (u32 o = 0; o < r->c.n; o++) more[o] = acc[o] + (rows - half) * columns * width;
    combine(&r->c, s->breg, acc, acc, more, half * columns);
  }
  for (u32 o = 0; o < r->c.n; o++) {
    more[o] = acc[o] + columns * width;
    r->kn.k->splat[vm_log2_width((u32)width)](columns, more[o], s->init[o], NULL, NULL);
  }
  combine(&r->c, s->breg, acc, more, acc, columns);
}

void reduce_run_few_columns(const void *data, const exec_env *env, u64 begin, u64 end) {
  const reduction *r = data;
  reducing s;
  i64 index[PROG_MAX_DIMS], extra[160];
  begin_reducing(r, env, &s);
  split_index(&r->other, begin, index);
  for (u64 i = begin; i < end; i++, next_index(&r->other, index)) {
    accumulators a;
    char *acc[COMBINE_OPERANDS];
    walk_offsets(&r->other, index, extra);
    take_blocks(r, env, &s, extra, &a);
    accumulators_join(&a, taken_at_once(r), acc);
    join_rows(r, &s, acc, taken_at_once(r) / r->columns);
    for (u32 o = 0; o < r->c.n; o++) {
      const input *out = &r->out[o];
      i64 at = out->offset + extra[r->kn.num_in + o];
      combine_store(&r->c, o, r->columns, (char *)env->slots[out->slot] + at * (i64)out->width,
                    acc[o]);
    }
  }
}
