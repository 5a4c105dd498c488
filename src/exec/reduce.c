/* Reductions: blocks of values (loop.h), combined in order (combine.h).
 *
 * It goes one of three ways. Rows: the reduced dims make the blocks of each output element. Where a
 * kernel folds the known bodies, which commute, it folds a block at once, and so the blocks'
 * results; any other body combines neighbours, again and again. Columns: blocks over the kept
 * dims, whose accumulators take the reduced dims one by one. Few columns, of known bodies: blocks
 * of many rows of them, which accumulators take as one, and halves of what these have in the end.
 * Which way, and in which order, depends on shapes only. The initial value comes first, and once.
 */
#include "exec/combine.h"
#include "exec/loop.h"
#include "exec/unroll.h"
#include "num/convert.h"

enum {
  LONG = 8192, /* rows: a block of values that lie as they are folded */
  FEW = 64,    /* rows: results of blocks that are folded at once */
  FOLDS = 9,   /* FEW ^ FOLDS is above any number of blocks */
  LEVELS = 64  /* rows: of pairs */
};

typedef struct reduction {
  kernel kn;  /* rows: over the reduced dims; columns: over the kept ones */
  plan other; /* the other dims, walked one element at a time */
  combiner c;
  kern_fold_fn *fold; /* rows only; NULL: pairs */
  kern_each_fn *each; /* blocks of rows only; NULL: `fold` for one after the other */
  walk results;       /* of blocks of rows */
  /* columns: several rows that lie as they are added, at once; NULL: one after the other */
  void (*sum_rows)(size_t n, void *acc, const void *const *rows, bool fresh);
  input *out;  /* with their walks among those of the kept dims */
  u32 *init;   /* slots; NULL: zeros */
  u64 block;   /* the most elements that the body is run on */
  u64 columns; /* few of them: how many */
  u64 room;    /* rows: elements of a level */
  u32 levels;
  size_t body_at, acc_at, acc_bytes, left_at, right_at, half_bytes;
} reduction;

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
  void **reg, **breg;
  char *packed, *init[COMBINE_OPERANDS], *value[COMBINE_OPERANDS];
  char *acc[COMBINE_OPERANDS]; /* rows: of level 0; has the result in the end */
  char *left[COMBINE_OPERANDS], *right[COMBINE_OPERANDS];
  u64 init_mem[COMBINE_OPERANDS][2]; /* in register form */
} reducing;

static void begin_reducing(const reduction *r, const exec_env *env, reducing *s) {
  const kernel *kn = &r->kn;
  s->reg = vm_begin(kn->unit, env->scratch, kn->p.max_elements);
  s->packed = env->scratch + kn->regs_bytes;
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
  vm_run(r->kn.unit, s->reg, b->elements);
  for (u32 o = 0; o < r->c.n; o++) s->value[o] = s->reg[r->kn.unit->outputs[o].reg];
}

/* A block's values as one, on top of what `init` has. */
static void fold_values(const reduction *r, const reducing *s, const block *b, void *acc,
                        const void *init) {
  float sum, from;
  if (!r->kn.unit->sums) {
    r->fold(b->elements, acc, init, s->value[0]);
    return;
  }
  memcpy(&sum, s->value[0], sizeof sum);
  if (init) {
    memcpy(&from, init, sizeof from);
    sum = from + sum;
  }
  memcpy(acc, &sum, sizeof sum);
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

static void fold_blocks(const reduction *r, const exec_env *env, reducing *s, const i64 *extra) {
  folds f;
  char *init = s->init[0];
  f.r = r;
  memset(f.n, 0, sizeof f.n);
  for (u64 i = 0; i < r->kn.p.blocks; i++) {
    block b;
    loop_find_block(&r->kn.p, i, &b);
    run_values(r, env, s, &b, extra, i > 0);
    fold_values(r, s, &b, next_fold(&f, 0), NULL);
    if (f.n[0] == FEW) fold_few(&f);
  }
  for (u32 l = FOLDS; l-- > 0;) {
    if (f.n[l] == 0) continue;
    r->fold(f.n[l], s->acc[0], init, f.value[l]);
    init = s->acc[0];
  }
  if (init != s->acc[0]) memcpy(s->acc[0], init, r->c.width[0]);
}

static void fold_block(const reduction *r, const exec_env *env, reducing *s, const i64 *extra) {
  block b;
  loop_find_block(&r->kn.p, 0, &b);
  run_values(r, env, s, &b, extra, false);
  fold_values(r, s, &b, s->acc[0], s->init[0]);
}

static void run_rows(const void *data, const exec_env *env, u64 begin, u64 end) {
  const reduction *r = data;
  reducing s;
  i64 index[PROG_MAX_DIMS], extra[160];
  void (*reduce)(const reduction *, const exec_env *, reducing *, const i64 *) =
      !r->fold              ? reduce_pairs
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

/* Rows of one block, all of which is read where it lies. */
static void run_short_rows(const void *data, const exec_env *env, u64 begin, u64 end) {
  const reduction *r = data;
  const vm_unit *u = r->kn.unit;
  const input *in = r->kn.in, *out = &r->out[0];
  u32 num_in = r->kn.num_in;
  char *from[160], *to = (char *)env->slots[out->slot] + out->offset * (i64)out->width;
  block b = {.elements = r->kn.p.max_elements};
  reducing s;
  i64 index[PROG_MAX_DIMS], at[160];
  begin_reducing(r, env, &s);
  for (u32 i = 0; i < num_in; i++)
    from[i] = (char *)env->slots[in[i].slot] + in[i].offset * (i64)in[i].width;
  split_index(&r->other, begin, index);
  for (u64 row = begin; row < end; row++, next_index(&r->other, index)) {
    walk_offsets(&r->other, index, at);
    for (u32 i = 0; i < num_in; i++) s.reg[i] = from[i] + at[i] * (i64)in[i].width;
    vm_run(u, s.reg, b.elements);
    s.value[0] = s.reg[u->outputs[0].reg];
    fold_values(r, &s, &b, s.acc[0], s.init[0]);
    combine_store(&r->c, 0, 1, to + at[num_in] * (i64)out->width, s.acc[0]);
  }
}
static bool has_short_rows(const reduction *r) {
  const kernel *kn = &r->kn;
  for (u32 i = 0; i < kn->num_in; i++)
    if (kn->p.patterns[i].mode == MODE_STRIDED) return false;
  return r->fold && kn->p.blocks == 1 && kn->num_iota == 0;
}

/* ---- short rows ---- */

static i64 row_length(const plan *p) { return p->dims[p->rank - 1]; }

static void fold_each(const reduction *r, const reducing *s, size_t rows) {
  size_t n = (size_t)row_length(&r->kn.p), width = r->c.width[0];
  if (r->each) {
    r->each(rows, n, s->acc[0], s->init[0], s->value[0]);
    return;
  }
  for (size_t i = 0; i < rows; i++)
    r->fold(n, s->acc[0] + i * width, s->init[0], s->value[0] + i * n * width);
}

/* Each block is so many rows. */
static void run_blocks_of_rows(const void *data, const exec_env *env, u64 begin, u64 end) {
  const reduction *r = data;
  const input *out = &r->out[0];
  reducing s;
  begin_reducing(r, env, &s);
  for (u64 i = begin; i < end; i++) {
    block b;
    loop_find_block(&r->kn.p, i, &b);
    run_values(r, env, &s, &b, NULL, i > begin);
    size_t rows = b.elements / (size_t)row_length(&r->kn.p);
    fold_each(r, &s, rows);
    i64 at = 0;
    for (u32 d = 0; d <= r->kn.p.cut; d++) at += b.index[d] * r->results.stride[d];
    combine_store(&r->c, 0, rows,
                  (char *)env->slots[out->slot] + (out->offset + at) * (i64)out->width, s.acc[0]);
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

/* FOLD_ROWS values of the block at once, as one that the accumulators take. */
static void add_rows(const reduction *r, const exec_env *env, const block *b, i64 *index,
                     accumulators *a) {
  const input *in = &r->kn.in[0];
  const char *base = (const char *)env->slots[in->slot] +
                     (in->offset + loop_block_offset(&r->kn.p, b, 0)) * (i64)in->width;
  const void *rows[FOLD_ROWS];
  for (u32 k = 0; k < FOLD_ROWS; k++, next_index(&r->other, index)) {
    i64 at = 0;
    for (u32 d = 0; d < r->other.rank; d++) at += index[d] * r->other.walks[0].stride[d];
    rows[k] = base + at * (i64)in->width;
  }
  r->sum_rows(b->elements, a->acc[0], rows, a->taken[0] == 0);
  if (++a->taken[0] >= COMBINE_RUN) accumulators_pass_on(a, b->elements);
}

static void run_columns(const void *data, const exec_env *env, u64 begin, u64 end) {
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
    for (; r->sum_rows && k + FOLD_ROWS <= r->other.blocks; k += FOLD_ROWS)
      add_rows(r, env, &b, index, &a);
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
static void take_rows(const reduction *r, const reducing *s, accumulators *a, size_t elements) {
  size_t n = taken_at_once(r), width = r->c.width[0];
  const void *rows[FOLD_ROWS];
  if (elements < r->kn.p.max_elements) {
    for (size_t at = 0; at < elements; at += n) {
      char *value = s->value[0] + at * width;
      accumulators_take_short(a, &value, elements - at < n ? elements - at : n);
    }
    return;
  }
  if (!r->sum_rows) {
    accumulators_take(a, s->value, n);
    return;
  }
  for (u32 k = 0; k < FOLD_ROWS; k++) rows[k] = s->value[0] + k * n * width;
  r->sum_rows(n, a->acc[0], rows, a->taken[0] == 0);
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
    run_values(r, env, s, &b, extra, i > 0);
    take_rows(r, s, a, b.elements);
  }
}

static void run_few_columns(const void *data, const exec_env *env, u64 begin, u64 end) {
  const reduction *r = data;
  const input *out = &r->out[0];
  u64 width = r->c.width[0], columns = r->columns;
  reducing s;
  i64 index[PROG_MAX_DIMS], extra[160];
  begin_reducing(r, env, &s);
  split_index(&r->other, begin, index);
  for (u64 i = begin; i < end; i++, next_index(&r->other, index)) {
    accumulators a;
    char *acc, *more;
    walk_offsets(&r->other, index, extra);
    take_blocks(r, env, &s, extra, &a);
    accumulators_join(&a, taken_at_once(r), &acc);
    for (u64 rows = taken_at_once(r) / columns, half; rows > 1; rows -= half) {
      half = rows / 2;
      more = acc + (rows - half) * columns * width;
      combine(&r->c, s.breg, &acc, &acc, &more, half * columns);
    }
    more = acc + columns * width;
    r->kn.k->splat[vm_log2_width((u32)width)](columns, more, s.init[0], NULL, NULL);
    combine(&r->c, s.breg, &acc, &more, &acc, columns);
    i64 at = out->offset + extra[r->kn.num_in];
    combine_store(&r->c, 0, columns, (char *)env->slots[out->slot] + at * (i64)out->width, acc);
  }
}

/* ---- lowering ---- */

static u64 dims_volume(const i64 *dims, u32 rank) {
  u64 v = 1;
  for (u32 d = 0; d < rank; d++) v *= (u64)dims[d];
  return v;
}

static u64 footprint(const prog_loop *l, const prog_access *a) {
  u64 v = 1;
  for (u32 d = 0; d < l->rank; d++)
    if (a->stride[d]) v *= (u64)l->dims[d];
  return v;
}

static u32 largest_input(const prog_loop *l) {
  u32 largest = 0;
  for (u32 i = 1; i < l->num_in; i++)
    if (footprint(l, &l->in[i]) > footprint(l, &l->in[largest])) largest = i;
  return largest;
}

/* Of the largest input, in dims [first, end); INT64_MAX: it has none there, or there is no input.
 */
static i64 least_stride(const prog_loop *l, u32 first, u32 end) {
  const prog_access *in = l->num_in ? &l->in[largest_input(l)] : NULL;
  i64 least = INT64_MAX;
  for (u32 d = first; in && d < end; d++) {
    i64 s = loop_magnitude(in->stride[d]);
    if (s != 0 && l->dims[d] != 1 && s < least) least = s;
  }
  return least;
}

/* The reduced dims are the ones that the largest input is contiguous in. */
bool reduce_goes_along(const prog_loop *l) {
  u32 kept = l->rank - l->reduced;
  return least_stride(l, 0, kept) > least_stride(l, kept, l->rank);
}

/* Rows where they are contiguous and long enough to be worth a block each, which takes more where
 * blocks are not folded at once. */
static bool by_rows(const prog_loop *l, bool folds) {
  u32 kept = l->rank - l->reduced;
  u64 kept_volume = dims_volume(l->dims, kept), length = dims_volume(l->dims + kept, l->reduced);
  if (kept_volume == 1) return true;
  if (!reduce_goes_along(l)) return kept_volume < 16 && length > 4096;
  return length > (folds ? 63 : 256) || kept_volume < 8;
}

/* The kept and the reduced dims as two plans over the same walks. */
static void split_plans(const lower_env *e, reduction *r, const prog_loop *l, bool rows) {
  u32 kept = l->rank - l->reduced;
  kernel other = {.num_out = l->num_out};
  r->kn.num_out = l->num_out;
  loop_make_walks(e, &r->kn, l, rows ? kept : 0, rows ? l->reduced : kept);
  loop_make_walks(e, &other, l, rows ? 0 : kept, rows ? kept : l->reduced);
  if (!rows) loop_sort_dims(&r->kn.p, l->num_in);
  r->other = other.p;
  loop_collapse(&r->kn.p);
  loop_collapse(&r->other);
  r->other.blocks = dims_volume(r->other.dims, r->other.rank);
}

static kern_each_fn *find_each(const fold_kernels *f, prog_reducer kind) {
  if (!f) return NULL;
  return kind == REDUCE_SUM   ? f->sum_each
         : kind == REDUCE_MAX ? f->max_each
         : kind == REDUCE_MIN ? f->min_each
                              : NULL;
}

/* Whether a block is whole rows, whose results are one behind the other. */
static bool has_rows(const plan *p, const walk *results) {
  u32 last = p->rank - 1;
  i64 next = 1;
  if (p->cut >= last) return false;
  for (u32 d = last; d > p->cut; next *= p->dims[--d])
    if (results->stride[d - 1] != next) return false;
  return true;
}

/* Rows of a few values, one behind the other, whose results are so too: one block has many. Inputs
 * that are not so would have to be walked by rows. */
static bool lower_blocks_of_rows(const lower_env *e, reduction *r, const prog_loop *l) {
  enum { FEWEST = 4, MOST = 1024, MOST_CODE = 256 }; /* longer rows are worth a call */
  u32 kept = l->rank - l->reduced;
  bool as_it_is = l->code.len == 2;
  u64 target = as_it_is ? LONG : LOOP_BLOCK;
  kernel kn = {.num_out = 1};
  plan *p = &kn.p;
  i64 length = (i64)dims_volume(l->dims + kept, l->reduced);
  if (!r->fold || l->num_out > 1 || length < FEWEST || length > (as_it_is ? MOST : MOST_CODE))
    return false;
  loop_make_walks(e, &kn, l, 0, l->rank);
  loop_collapse(p);
  walk *out = &p->walks[l->num_in];
  u32 last = p->rank - 1;
  if (!last || p->dims[last] != length || out->stride[last - 1] != 1 || out->stride[last] != 0)
    return false;
  r->results = *out;
  *out = (walk){0}; /* they are no part of a block */
  loop_cut(e->a, p, target);
  if (!has_rows(p, &r->results)) return false; /* before there is code for it */
  loop_lower_unit(e, &kn, l, true, target);
  if (!has_rows(p, &r->results)) return false;
  loop_lower_inputs(e, &kn, l);
  r->kn = kn;
  return true;
}

/* Of the last kept dims, those whose elements the largest input has nearer together than any of the
 * reduced ones: the first of them. */
static u32 first_near(const prog_loop *l) {
  u32 kept = l->rank - l->reduced, d = kept;
  const prog_access *in = &l->in[largest_input(l)];
  i64 least = least_stride(l, kept, l->rank);
  while (d > 0 && (l->dims[d - 1] == 1 || loop_magnitude(in->stride[d - 1]) < least)) d--;
  return d;
}

/* How many dims of the plan come before its columns, which results have side by side; 0: not so. */
static u32 dims_before_columns(const plan *p, const walk *out) {
  u32 first = 0;
  i64 next = 1;
  while (first < p->rank && out->stride[first] == 0) first++;
  for (u32 d = p->rank; d > first; next *= p->dims[--d])
    if (out->stride[d - 1] != next) return 0;
  return first;
}

/* Where a block of columns would be short, and there are many rows of them: those are a block. */
static bool lower_few_columns(const lower_env *e, reduction *r, const prog_loop *l,
                              const fold_kernels *of_rows) {
  enum { MOST = 512, MOST_AS_IT_IS = 128, FEWEST_ROWS = 8, FEWEST = 1024 };
  u32 kept = l->rank - l->reduced;
  bool as_it_is = l->code.len == 2;
  kernel kn = {.num_out = 1, .p.several = true}, other = {.num_out = 1};
  plan *p = &kn.p;
  if (!r->fold || l->num_out > 1 || l->num_in == 0) return false;
  u32 near = first_near(l);
  u64 rows = dims_volume(l->dims + kept, l->reduced);
  r->columns = dims_volume(l->dims + near, kept - near);
  if (r->columns < 2 || r->columns > (as_it_is ? MOST_AS_IT_IS : MOST) || rows < FEWEST_ROWS ||
      rows * r->columns < FEWEST)
    return false;
  loop_make_walks(e, &kn, l, near, l->rank - near);
  loop_sort_dims(p, largest_input(l));
  loop_collapse(p);
  u32 first = dims_before_columns(p, &p->walks[l->num_in]);
  if (first == 0) return false;
  p->walks[l->num_in] = (walk){0}; /* results are no part of a block */
  u64 whole = FOLD_ROWS * r->columns;
  loop_lower_unit(e, &kn, l, true, whole > LOOP_BLOCK ? LOOP_BLOCK : LOOP_BLOCK / whole * whole);
  if (p->cut >= first || p->max_elements < 2 * r->columns) return false;
  loop_lower_inputs(e, &kn, l);
  if (l->body.kind == REDUCE_SUM && of_rows && p->max_elements % whole == 0)
    r->sum_rows = of_rows->sum_rows;
  loop_make_walks(e, &other, l, 0, near);
  loop_collapse(&other.p);
  r->kn = kn;
  r->other = other.p;
  r->other.blocks = dims_volume(r->other.dims, r->other.rank);
  return true;
}

/* Behind what the values need: the body's, accumulators, which take so many values each, and halves
 * of pairs. */
static size_t lower_scratch(reduction *r, bool rows, u64 taken) {
  u32 widest = 1;
  for (u32 o = 0; o < r->c.n; o++) widest = r->c.width[o] > widest ? r->c.width[o] : widest;
  r->block = r->kn.p.max_elements ? r->kn.p.max_elements : 1;
  r->room = r->block + 2; /* twice what pairs of a block are, odd or not */
  r->acc_bytes = align_up(r->room * widest, 64);
  r->half_bytes = align_up((r->room / 2 + 1) * widest, 64);
  r->body_at = r->kn.scratch;
  r->acc_at = align_up(r->body_at + vm_scratch_bytes(r->c.unit, r->block), 64);
  if (!rows) {
    r->levels = accumulators_levels(taken);
    return r->acc_at + accumulators_bytes(&r->c, r->levels, r->block);
  }
  r->levels = 1;
  for (u64 blocks = r->kn.p.blocks; blocks > 0 && !r->fold; blocks /= 2) r->levels++;
  r->left_at = r->acc_at + r->levels * r->c.n * r->acc_bytes;
  r->right_at = r->left_at + r->c.n * r->half_bytes;
  return r->right_at + r->c.n * r->half_bytes;
}

/* Sub-byte integers wrap after every step, or the smaller floats round. */
static kern_fold_fn *find_fold(const vm_kernels *k, prog_reducer kind, dtype t) {
  bool settles = k->wrap[t] || (num_is_small_float(t) && !vm_reduces_wide(t));
  if (kind == REDUCE_CODE || (settles && kind != REDUCE_MAX && kind != REDUCE_MIN)) return NULL;
  return k->fold[kind][vm_rtype_of(t)];
}

/* Of sums of rows: blocks of one contiguous run, if that is not too short, rather than of several.
 */
static u64 contiguous_target(const plan *p) {
  enum { SHORT = 32 };
  i64 run = p->dims[p->rank - 1];
  bool lies = p->rank > 1 && p->walks[0].stride[p->rank - 1] == 1;
  return lies && run >= SHORT && run < LOOP_BLOCK / 2 ? 2 * (u64)run - 1 : LOOP_BLOCK;
}

void reduce_lower(const lower_env *e, const prog_loop *l, exec_step *out) {
  if (unroll_reduce(e, l, out)) return;
  reduction *r = ARENA_NEW(e->a, reduction);
  dtype *types = ARENA_ARRAY(e->a, dtype, l->num_out);
  r->out = ARENA_ARRAY(e->a, input, l->num_out);
  if (l->init) r->init = arena_copy(e->a, l->init, l->num_out * sizeof(u32));
  for (u32 o = 0; o < l->num_out; o++) {
    types[o] = e->prog->slots[l->out[o].slot].type;
    r->out[o] = loop_input(e, &l->out[o]);
  }
  r->fold = find_fold(e->k, l->body.kind, types[0]);
  const fold_kernels *of_rows = e->k->fold_rows[vm_rtype_of(types[0])];
  combine_lower(e, &l->body, l->num_out, types, false, &r->c);
  r->each = find_each(of_rows, l->body.kind);
  if (reduce_goes_along(l) && lower_blocks_of_rows(e, r, l)) {
    *out = (exec_step){.run = run_blocks_of_rows,
                       .data = r,
                       .units = r->kn.p.blocks,
                       .cost = loop_cost(&r->kn, r->kn.p.max_elements) * 2,
                       .scratch = lower_scratch(r, true, 0)};
    return;
  }
  bool rows = by_rows(l, r->fold != NULL);
  if (!rows && reduce_lower_unrolled(e, l, out)) return;
  if (!rows && lower_few_columns(e, r, l, of_rows)) {
    u64 blocks = r->kn.p.blocks;
    *out = (exec_step){.run = run_few_columns,
                       .data = r,
                       .units = r->other.blocks,
                       .cost = loop_cost(&r->kn, r->kn.p.max_elements) * 2 * (blocks + 1),
                       .scratch = lower_scratch(r, false, blocks)};
    return;
  }
  split_plans(e, r, l, rows);
  r->kn.sums = rows && r->fold && l->body.kind == REDUCE_SUM && vm_rtype_of(types[0]) == R_f32;
  bool as_it_is = l->code.len == 2;
  bool sums_rows = !rows && as_it_is && l->body.kind == REDUCE_SUM && of_rows;
  loop_lower_unit(e, &r->kn, l, true,
                  rows && r->fold && as_it_is ? LONG
                  : sums_rows                 ? contiguous_target(&r->kn.p)
                                              : LOOP_BLOCK);
  loop_lower_inputs(e, &r->kn, l);
  const vm_unit *unit = r->kn.unit;
  if (!rows && l->body.kind == REDUCE_SUM && of_rows && unit->num_calls == 0 &&
      unit->outputs[0].reg == 0 && r->kn.p.patterns[0].mode == MODE_CONTIGUOUS)
    r->sum_rows = of_rows->sum_rows;
  u64 block_cost = loop_cost(&r->kn, r->kn.p.max_elements);
  *out = (exec_step){.run = !rows               ? run_columns
                            : has_short_rows(r) ? run_short_rows
                                                : run_rows,
                     .data = r,
                     .units = rows ? r->other.blocks : r->kn.p.blocks,
                     .cost = block_cost * ((rows ? r->kn.p.blocks : r->other.blocks) + 1),
                     .scratch = lower_scratch(r, rows, r->other.blocks)};
}
