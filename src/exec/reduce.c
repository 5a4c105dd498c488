/* Reductions: which way each goes (reduce.h), and its kernels. Running them: reduce_run.c. */
#include "exec/reduce.h"

#include "exec/fold_order.h"
#include "exec/placed.h"
#include "exec/unroll.h"
#include "num/convert.h"

enum { LONG = FOLD_LONG }; /* rows: a block of values that lie as they are folded */

static bool has_short_rows(const reduction *r) {
  const kernel *kn = &r->kn;
  for (u32 i = 0; i < kn->num_in; i++)
    if (kn->p.patterns[i].mode == MODE_STRIDED) return false;
  return r->fold && !r->words && kn->p.blocks == 1 && kn->num_iota == 0 && kn->num_out == 1;
}

/* The reduced dims are the ones that the largest input is contiguous in. */
bool reduce_goes_along(const prog_loop *l) {
  u32 kept = l->rank - l->reduced;
  return prog_loop_least_stride(l, 0, kept) > prog_loop_least_stride(l, kept, l->rank);
}

/* Rows where they are contiguous and long enough to be worth a block each, which takes more where
 * blocks are not folded at once. */
static bool by_rows(const prog_loop *l, bool folds) {
  u32 kept = l->rank - l->reduced;
  u64 kept_volume = prog_volume(l->dims, kept), length = prog_volume(l->dims + kept, l->reduced);
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
  r->other.blocks = prog_volume(r->other.dims, r->other.rank);
}

static kern_each_fn *find_each(const vm_kernels *k, prog_reducer kind, vm_rtype t) {
  const fold_kernels *f = k->fold_rows[t];
  if (kind == REDUCE_SUM && t == R_c64) return k->fold_rows[R_f32]->pairs_each;
  if (kind == REDUCE_SUM && t == R_c128) return k->fold_rows[R_f64]->pairs_each;
  if (!f) return NULL;
  return kind == REDUCE_SUM    ? f->sum_each
         : kind == REDUCE_PROD ? f->prod_each
         : kind == REDUCE_MAX  ? f->max_each
         : kind == REDUCE_MIN  ? f->min_each
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

/* Results are no part of a block. False: they do not lie alike. */
static bool leave_results(plan *p, const prog_loop *l) {
  walk *out = &p->walks[l->num_in];
  for (u32 o = 1; o < l->num_out; o++)
    if (memcmp(out[o].stride, out->stride, p->rank * sizeof(i64)) != 0) return false;
  memset(out, 0, l->num_out * sizeof *out);
  return true;
}

static bool is_half(const reduction *r) {
  return r->c.types[0] == DTYPE_bf16 || r->c.types[0] == DTYPE_f16;
}
/* The largest or the smallest of what one input has is wanted. */
static bool wants_most(const prog_loop *l) {
  bool most = l->body.kind == REDUCE_MAX || l->body.kind == REDUCE_MIN;
  return most && l->init && l->num_in == 1 && l->code.len == 2;
}

/* Rows of bf16 or f16 whose largest or smallest is wanted, as it is: long ones, for short ones are
 * sooner done side by side, as f32. */
static kern_words_fn *find_words(const reduction *r, const prog_loop *l, const fold_kernels *f) {
  enum { FEWEST = 32 };
  u32 kept = l->rank - l->reduced;
  bool is_long = prog_volume(l->dims + kept, l->reduced) >= FEWEST;
  return is_half(r) && f && is_long && wants_most(l) ? f->most_words : NULL;
}
/* The same of columns. */
static void find_most(reduction *r, const prog_loop *l, const fold_kernels *f) {
  r->words = NULL;
  if (!is_half(r) || !f || !wants_most(l)) return;
  r->most = f->most_rows, r->most_end = f->most_end;
}

/* Columns of bytes: any pred but 0 is true. */
static kern_groups_fn *find_bytes(const lower_env *e, const reduction *r, const prog_loop *l) {
  const fold_kernels *f = e->k->fold_rows[R_f32];
  prog_reducer kind = l->body.kind;
  bool pred = r->c.types[0] == DTYPE_pred, lies = l->init && l->num_in == 1 && l->code.len == 2;
  if (!lies || !(pred || r->c.types[0] == DTYPE_u8)) return NULL;
  return kind == REDUCE_MAX || (pred && kind == REDUCE_OR)    ? f->max_bytes
         : kind == REDUCE_MIN || (pred && kind == REDUCE_AND) ? f->min_bytes
                                                              : NULL;
}

static bool sums_floats(const reduction *r, const prog_loop *l) {
  vm_rtype t = vm_rtype_of(r->c.types[0]);
  return r->fold && l->body.kind == REDUCE_SUM && (t == R_f32 || t == R_f64);
}

/* Whether inputs are brought together in scratch memory, of which long blocks take too much. */
static bool gathers(const plan *p, u32 num_in) {
  bool any = false;
  for (u32 i = 0; i < num_in; i++) any |= p->patterns[i].mode == MODE_STRIDED;
  return any;
}

/* Of a block of rows. */
static u64 row_results(const plan *p) { return p->max_elements / (u64)p->dims[p->rank - 1]; }

/* Rows of a few values, one behind the other, whose results are so too: one block has many. Inputs
 * that are not so would have to be walked by rows. */
static bool lower_blocks_of_rows(const lower_env *e, reduction *r, const prog_loop *l) {
  /* longer: a call */
  enum { FEWEST = 4, MOST_WORDS = LONG / 2, MOST = 1024, MOST_CODE = 256, ROWS = 16 };
  u32 kept = l->rank - l->reduced;
  bool as_it_is = l->code.len == 2;
  u64 target = as_it_is ? LONG : LOOP_BLOCK;
  kernel kn = {.num_out = l->num_out};
  plan *p = &kn.p;
  i64 length = (i64)prog_volume(l->dims + kept, l->reduced);
  bool many = as_it_is || l->num_out > 1 || vm_rtype_of(r->c.types[0]) == R_f64;
  i64 most = r->words ? MOST_WORDS : as_it_is ? LONG : many ? MOST : MOST_CODE;
  if (!r->fold || length < FEWEST || length > most) return false;
  if (2 * (u64)length > target) target = 2 * LONG; /* or it would be a piece of a row */
  loop_make_walks(e, &kn, l, 0, l->rank);
  loop_collapse(p);
  walk *out = &p->walks[l->num_in];
  u32 last = p->rank - 1;
  if (!last || p->dims[last] != length || out->stride[last - 1] != 1 || out->stride[last] != 0)
    return false;
  r->results = *out;
  if (!leave_results(p, l)) return false;
  loop_cut(e->a, p, target);
  if (!has_rows(p, &r->results)) return false; /* before there is code for it */
  if (sums_floats(r, l) && length >= 16 && !as_it_is) kn.sums = SUMS_ROWS, kn.length = (u32)length;
  loop_lower_unit(e, &kn, l, true, target);
  bool lies = l->num_in == 1 && p->patterns[0].mode == MODE_CONTIGUOUS && !kn.unit->num_calls;
  if (!has_rows(p, &r->results) || (!lies && !r->words && length > MOST)) return false;
  if (lies && length * ROWS > LONG) loop_set_piece(p, (u64)length * ROWS);
  if (kn.unit->sums && !gathers(p, l->num_in)) loop_set_piece(p, 2 * LOOP_BLOCK);
  loop_lower_inputs(e, &kn, l);
  if (p->patterns[0].mode != MODE_CONTIGUOUS) r->words = NULL;
  r->kn = kn;
  return true;
}

/* Of the last kept dims, those whose elements the largest input has nearer together than any of the
 * reduced ones: the first of them. */
static u32 first_near(const prog_loop *l) {
  u32 kept = l->rank - l->reduced, d = kept;
  const prog_access *in = &l->in[prog_loop_largest(l)];
  i64 least = prog_loop_least_stride(l, kept, l->rank);
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

/* Where a block of columns would be short, and there are many rows of them: those are a block. Of
 * several inputs what is one element a row, or one row for all, is laid out for it, which sums of
 * longer rows do without (prepare_lines). */
static bool lower_few_columns(const lower_env *e, reduction *r, const prog_loop *l,
                              const fold_kernels *of_rows) {
  enum { MOST = 1024, MOST_AS_IT_IS = 128, MOST_LAID_OUT = 127, FEWEST_ROWS = 8, FEWEST = 1024 };
  u32 kept = l->rank - l->reduced;
  bool as_it_is = l->code.len == 2;
  kernel kn = {.num_out = l->num_out, .p.several = true}, other = {.num_out = l->num_out};
  plan *p = &kn.p;
  if (!r->fold || l->num_in == 0) return false;
  u32 near = first_near(l);
  u64 rows = prog_volume(l->dims + kept, l->reduced);
  r->columns = prog_volume(l->dims + near, kept - near);
  bool sums = sums_floats(r, l) && of_rows;
  u64 most = !sums ? MOST : as_it_is ? MOST_AS_IT_IS : l->num_in > 1 ? MOST_LAID_OUT : MOST;
  if (r->most) most = FOLD_MOST - 1;
  if (r->sum_rows) most = FOLD_BYTES - 1;
  if (r->columns < 2 || r->columns > most || rows < FEWEST_ROWS || rows * r->columns < FEWEST)
    return false;
  loop_make_walks(e, &kn, l, near, l->rank - near);
  loop_sort_dims(p, prog_loop_largest(l));
  loop_collapse(p);
  u32 first = dims_before_columns(p, &p->walks[l->num_in]);
  if (first == 0 || !leave_results(p, l)) return false;
  u64 whole = FOLD_ROWS * r->columns;
  if (sums) kn.sums = SUMS_COLUMNS;
  u64 target = whole > LOOP_BLOCK ? LOOP_BLOCK : LOOP_BLOCK / whole * whole;
  loop_lower_unit(e, &kn, l, true, kn.sums && whole > LOOP_BLOCK ? whole : target);
  if (p->cut >= first || p->max_elements < 2 * r->columns) return false;
  loop_lower_inputs(e, &kn, l);
  bool at_once = l->body.kind == REDUCE_SUM && of_rows && p->max_elements % whole == 0;
  r->sum_rows = at_once ? of_rows->sum_rows : NULL;
  if (!r->sum_rows) kn.summing = NULL;
  loop_make_walks(e, &other, l, 0, near);
  loop_collapse(&other.p);
  r->kn = kn;
  r->other = other.p;
  r->other.blocks = prog_volume(r->other.dims, r->other.rank);
  return true;
}

/* Behind what the values need: the body's, accumulators, which take so many values each, and halves
 * of pairs. */
static size_t lower_scratch(reduction *r, u64 elements, bool rows, u64 taken) {
  u32 widest = 1;
  for (u32 o = 0; o < r->c.n; o++) widest = r->c.width[o] > widest ? r->c.width[o] : widest;
  r->block = elements ? elements : 1;
  r->room = r->block + 2; /* twice what pairs of a block are, odd or not */
  r->acc_bytes = align_up(r->room * widest, 64);
  r->half_bytes = align_up((r->room / 2 + 1) * widest, 64);
  r->summing_at = align_up(r->kn.scratch, 64);
  r->body_at = r->summing_at;
  if (r->kn.summing) r->body_at += align_up(vm_scratch_bytes(r->kn.summing, r->block), 64);
  r->acc_at = align_up(r->body_at + vm_scratch_bytes(r->c.unit, r->block), 64);
  r->lines_at = r->acc_at;
  if (r->lines || r->most) r->acc_at += r->c.n * (rows ? REDUCE_SIDE : FOLD_ROWS) * r->acc_bytes;
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
static kern_fold_fn *find_fold(const vm_kernels *k, prog_reducer kind, u32 n, const dtype *types) {
  dtype t = types[0];
  for (u32 o = 1; o < n; o++)
    if (types[o] != t) return NULL;
  bool settles = k->wrap[t] || (num_is_small_float(t) && !vm_reduces_wide(t));
  if (n > REDUCE_FOLDED || kind == REDUCE_CODE ||
      (settles && kind != REDUCE_MAX && kind != REDUCE_MIN))
    return NULL;
  return k->fold[kind][vm_rtype_of(t)];
}

/* Of sums of rows and their farthest: blocks of one contiguous run, if that is not too short,
 * rather than of several. */
static u64 contiguous_target(const plan *p) {
  enum { SHORT = 32 };
  i64 run = p->dims[p->rank - 1];
  bool lies = p->rank > 1 && p->walks[0].stride[p->rank - 1] == 1;
  return lies && run >= SHORT && run < LOOP_BLOCK / 2 ? 2 * (u64)run - 1 : LOOP_BLOCK;
}

static i64 *find_steps(arena *a, const reduction *r) {
  const kernel *kn = &r->kn;
  i64 *steps = ARENA_ARRAY(a, i64, kn->num_in + 1);
  for (u32 i = 0; i < kn->num_in; i++)
    steps[i] = r->other.walks[i].stride[r->other.rank - 1] * (i64)kn->in[i].width;
  steps[kn->num_in] = r->c.width[0];
  return steps;
}

/* Sums of columns of what is computed: FOLD_ROWS rows at once, by code where they are as far apart
 * as it can say. */
static void prepare_lines(arena *a, reduction *r, u32 num_in) {
  enum { FAR = 1 << 24 };
  const plan *p = &r->other;
  r->lines = true;
  r->kn.sums = SUMS_COLUMNS;
  u32 *pitch = ARENA_ARRAY(a, u32, num_in + 1), last = p->rank - 1;
  for (u32 i = 0; i < num_in; i++) {
    i64 s = p->walks[i].stride[last];
    pitch[i] = s < 0 || s > FAR ? FAR : (u32)s;
    if (pitch[i] == FAR || p->dims[last] < FOLD_ROWS) r->kn.sums = SUMS_NONE;
  }
  r->kn.pitch = pitch;
}

/* Short rows, whose largest or smallest is wanted: several side by side. */
static bool folds_groups(const reduction *r, prog_reducer kind) {
  enum { MOST = 512 }; /* longer: not worth the memory */
  bool most = kind == REDUCE_MAX || kind == REDUCE_MIN;
  return most && r->each && r->kn.p.max_elements >= REDUCE_SIDE && r->kn.p.max_elements <= MOST;
}

/* Long rows of blocks that are whole, of what lies in one piece. */
static void lower_far(reduction *r, const fold_kernels *of_rows) {
  enum { FEWEST = 32 };
  const plan *p = &r->kn.p;
  bool whole = r->fold && p->rank == 1 && p->max_elements == FOLD_LONG;
  if (!whole || r->kn.unit->num_calls || r->kn.num_iota || r->kn.num_in != 1) return;
  if (p->patterns[0].mode != MODE_CONTIGUOUS) return;
  if (p->blocks < FEWEST || (u64)p->dims[0] != p->blocks * FOLD_LONG) return;
  r->apart = (u64)p->dims[0] / 4;
  r->sum_far = of_rows->sum_far;
}

static reduction *begin_lowering(const lower_env *e, const prog_loop *l) {
  reduction *r = ARENA_NEW(e->a, reduction);
  dtype *types = ARENA_ARRAY(e->a, dtype, l->num_out);
  r->out = ARENA_ARRAY(e->a, input, l->num_out);
  if (l->init) r->init = arena_copy(e->a, l->init, l->num_out * sizeof(u32));
  for (u32 o = 0; o < l->num_out; o++) {
    types[o] = e->prog->slots[l->out[o].slot].type;
    r->out[o] = loop_input(e, &l->out[o]);
  }
  r->fold = find_fold(e->k, l->body.kind, l->num_out, types);
  combine_lower(e, &l->body, l->num_out, types, false, &r->c);
  r->each = find_each(e->k, l->body.kind, vm_rtype_of(types[0]));
  r->max = l->body.kind == REDUCE_MAX;
  return r;
}

/* How many columns a row has, of which it may fold some only: of f32 as it lies. */
static u64 narrows(const reduction *r) {
  const plan *p = &r->kn.p;
  u64 columns = (u64)p->dims[p->rank - 1];
  return !r->words && r->each && !r->kn.unit->num_calls && columns < LONG ? columns : 0;
}

static void lower(const lower_env *e, const prog_loop *l, exec_step *out) {
  if (unroll_reduce(e, l, false, out)) return;
  reduction *r = begin_lowering(e, l);
  const fold_kernels *of_rows = e->k->fold_rows[vm_rtype_of(r->c.types[0])];
  r->words = find_words(r, l, of_rows);
  if (reduce_goes_along(l) && lower_blocks_of_rows(e, r, l)) {
    *out = (exec_step){.run = r->words ? reduce_run_words : reduce_run_blocks_of_rows,
                       .data = r,
                       .units = r->kn.p.blocks,
                       .cost = loop_cost(&r->kn, r->kn.p.max_elements) * 2,
                       .narrows = narrows(r),
                       .scratch = lower_scratch(r, row_results(&r->kn.p), true, 0)};
    return;
  }
  bool rows = by_rows(l, r->fold != NULL); /* by code a few values in order beat pairs of them */
  if (!rows) find_most(r, l, of_rows);
  if (!rows) r->sum_rows = find_bytes(e, r, l);
  if ((!rows || !r->fold) && unroll_reduce(e, l, true, out)) return;
  if (!rows && lower_few_columns(e, r, l, of_rows)) {
    u64 blocks = r->kn.p.blocks;
    *out = (exec_step){.run = reduce_run_few_columns,
                       .data = r,
                       .units = r->other.blocks,
                       .cost = loop_cost(&r->kn, r->kn.p.max_elements) * 2 * (blocks + 1),
                       .scratch = lower_scratch(r, r->kn.p.max_elements, false, blocks)};
    return;
  }
  split_plans(e, r, l, rows);
  if (rows && r->fold && l->num_out == 1 && sums_floats(r, l)) r->kn.sums = SUMS_BLOCK;
  bool as_it_is = l->code.len == 2;
  if (!rows && !as_it_is && sums_floats(r, l) && of_rows && r->other.blocks >= FOLD_ROWS)
    prepare_lines(e->a, r, l->num_in);
  bool sums_rows = !rows && as_it_is && l->body.kind == REDUCE_SUM && of_rows;
  loop_lower_unit(e, &r->kn, l, true,
                  rows && r->words                      ? 4 * LONG
                  : rows && r->fold && as_it_is         ? LONG
                  : sums_rows || r->most || r->sum_rows ? contiguous_target(&r->kn.p)
                                                        : LOOP_BLOCK);
  loop_lower_inputs(e, &r->kn, l);
  const vm_unit *unit = r->kn.unit;
  if (rows && as_it_is && l->body.kind == REDUCE_SUM && of_rows) lower_far(r, of_rows);
  if (r->kn.p.patterns[0].mode != MODE_CONTIGUOUS) r->most = NULL, r->sum_rows = NULL;
  if (sums_rows && unit->num_calls == 0 && unit->outputs[0].reg == 0 &&
      r->kn.p.patterns[0].mode == MODE_CONTIGUOUS)
    r->sum_rows = of_rows->sum_rows;
  if (r->lines) r->sum_rows = of_rows->sum_rows;
  if (has_short_rows(r)) r->steps = find_steps(e->a, r);
  if (rows && has_short_rows(r)) r->lines = folds_groups(r, l->body.kind);
  u64 block_cost = loop_cost(&r->kn, r->kn.p.max_elements);
  *out = (exec_step){.run = !rows               ? reduce_run_columns
                            : has_short_rows(r) ? reduce_run_short_rows
                                                : reduce_run_rows,
                     .data = r,
                     .units = rows ? r->other.blocks : r->kn.p.blocks,
                     .cost = block_cost * ((rows ? r->kn.p.blocks : r->other.blocks) + 1),
                     .narrows = rows && has_short_rows(r) ? r->kn.p.max_elements : 0,
                     .scratch = lower_scratch(r, r->kn.p.max_elements, rows, r->other.blocks)};
}

/* What one row's sum is does not depend on the way, and of what else is folded any order. */
static bool is_folded(const lower_env *e, const prog_loop *l, const exec_step *x) {
  dtype t = e->prog->slots[l->out[0].slot].type;
  bool rows = x->run == reduce_run_rows || x->run == reduce_run_short_rows ||
              x->run == reduce_run_blocks_of_rows;
  bool most = l->body.kind == REDUCE_MAX || l->body.kind == REDUCE_MIN;
  bool exact = t == DTYPE_s32 || t == DTYPE_u32 || (t == DTYPE_f32 && most);
  return rows && (exact || (t == DTYPE_f32 && l->body.kind == REDUCE_SUM));
}

void reduce_lower(const lower_env *e, const prog_loop *l, exec_step *out) {
  prog_loop unrolled;
  lower(e, l, out);
  if (!out->direct && is_folded(e, l, out) && unroll_rows(e, l, &unrolled))
    placed_loop(e, &unrolled, out);
}
