/* Copies of narrow rows by tiles (shuffle.h): what a step's pieces put where in some rows, made
 * once, and again for the rows that are left. A unit is a run of rows, or a part of it. */
#include "exec/shuffle.h"

#include "exec/step.h"

enum { MOST_BYTES = 512, MOST_VECTORS = MOST_BYTES / SHUFFLE_BYTES, CONSTANT = 0xff };

/* Where a byte of a row comes from: of piece `of` the byte at `at`, xor `with`; of CONSTANT that is
 * it. */
typedef struct origin {
  i64 at;
  u32 of;
  u8 with;
} origin;

typedef struct tile {
  u32 n; /* vectors */
  i64 rows;
  shuffle_vector *v;
} tile;

typedef struct shuffling {
  kern_shuffle_fn *run;
  bool by_blocks;
  u32 rank, n, dst, src[SHUFFLE_PIECES]; /* dims before the rows; sources; slots */
  i64 dst_at;
  i64 dims[PROG_MAX_DIMS], to[PROG_MAX_DIMS], from[SHUFFLE_PIECES][PROG_MAX_DIMS];
  i64 rows, row, step[SHUFFLE_PIECES], part, parts; /* rows; bytes; tiles of a unit, units */
  tile whole, rest;
} shuffling;

static void run_tiles(const shuffling *s, const tile *t, i64 times, char *to,
                      const char *const *from) {
  for (u32 i = 0; i < t->n; i++)
    s->run(&t->v[i], (size_t)times, to + i * SHUFFLE_BYTES, t->rows * s->row, from);
}

static void run_shuffle(const void *data, const exec_env *env, u64 begin, u64 end) {
  const shuffling *s = data;
  const char *from[SHUFFLE_PIECES];
  for (u64 u = begin; u < end; u++) {
    i64 first = (i64)(u % (u64)s->parts) * s->part, tiles = s->rows / s->whole.rows - first;
    i64 rest = (i64)(u / (u64)s->parts), row = first * s->whole.rows;
    bool last = tiles <= s->part;
    if (!last) tiles = s->part;
    char *to = (char *)env->slots[s->dst] + s->dst_at + row * s->row;
    for (u32 p = 0; p < s->n; p++) from[p] = (const char *)env->slots[s->src[p]] + row * s->step[p];
    for (u32 d = s->rank; d-- > 0; rest /= s->dims[d]) {
      to += rest % s->dims[d] * s->to[d];
      for (u32 p = 0; p < s->n; p++) from[p] += rest % s->dims[d] * s->from[p][d];
    }
    run_tiles(s, &s->whole, tiles, to, from);
    if (!last || !s->rest.rows) continue;
    i64 done = tiles * s->whole.rows;
    for (u32 p = 0; p < s->n; p++) from[p] += done * s->step[p];
    run_tiles(s, &s->rest, 1, to + done * s->row, from);
  }
}

/* ---- tiles ---- */

/* Of those that are not done, the first one of the first piece; or n. */
static u32 find_first(u32 n, const origin *in, const bool *done) {
  u32 first = n;
  for (u32 i = 0; i < n; i++)
    if (!done[i] && (first == n || in[i].of < in[first].of ||
                     (in[i].of == in[first].of && in[i].at < in[first].at)))
      first = i;
  return first;
}

/* A window over the first byte that has none yet, and over what else is in its reach. */
static bool add_window(shuffle_vector *v, u32 n, const origin *in, bool *done) {
  u32 first = find_first(n, in, done), w = v->windows;
  if (first == n || w == SHUFFLE_WINDOWS) return false;
  v->windows++;
  v->of[w] = in[first].of, v->at[w] = in[first].at;
  for (u32 i = 0; i < n; i++) {
    i64 at = in[i].at - v->at[w];
    if (done[i] || in[i].of != v->of[w] || at >= SHUFFLE_BYTES) continue;
    done[i] = true;
    v->index[w / 2][i] = (u8)(at + (w % 2) * SHUFFLE_BYTES);
    v->read[w] |= 1ull << at;
    v->moved[w / 2] |= 1ull << i;
  }
  return true;
}

/* The same for a quarter, of n bytes: a block that begins there. */
static bool add_block(shuffle_block *b, u32 n, const origin *in, bool *done) {
  u32 first = find_first(n, in, done);
  if (first == n) return false;
  *b = (shuffle_block){.of = in[first].of, .at = in[first].at};
  memset(b->pick, 0x80, sizeof b->pick);
  for (u32 i = 0; i < n; i++) {
    i64 at = in[i].at - b->at;
    if (done[i] || in[i].of != b->of || at >= SHUFFLE_BLOCK) continue;
    done[i] = true;
    b->pick[i] = (u8)at;
    if (b->bytes <= at) b->bytes = (u32)at + 1;
  }
  return true;
}
static bool add_blocks(arena *a, shuffle_vector *v, u32 n, const origin *in, bool *done) {
  shuffle_block *b = v->all = ARENA_ARRAY(a, shuffle_block, SHUFFLE_QUARTERS * SHUFFLE_BLOCKS + 1);
  for (u32 q = 0, i = 0; i < n; q++, i += SHUFFLE_BLOCK) {
    u32 bytes = n - i < SHUFFLE_BLOCK ? n - i : SHUFFLE_BLOCK, k = 0;
    while (k <= SHUFFLE_BLOCKS && add_block(&b[k], bytes, in + i, done + i)) k++;
    if (k > SHUFFLE_BLOCKS) return false;
    v->blocks[q] = k;
    v->windows += k;
    b += k;
  }
  return true;
}

static bool make_vector(arena *a, bool by_blocks, shuffle_vector *v, u32 n, const origin *in) {
  bool done[SHUFFLE_BYTES] = {false};
  *v = (shuffle_vector){.written = n < 64 ? (1ull << n) - 1 : ~0ull};
  for (u32 i = 0; i < n; i++) v->constant[i] = in[i].with, done[i] = in[i].of == CONSTANT;
  if (by_blocks) return add_blocks(a, v, n, in, done);
  while (add_window(v, n, in, done)) continue;
  for (u32 i = 0; i < n; i++)
    if (!done[i]) return false;
  return true;
}

const shuffle_vector *shuffle_every(const lower_env *e, i64 stride, u32 width) {
  enum { MOST = 4 }; /* windows reach no further */
  if (width > 2 || e->k->by_blocks) return NULL;
  origin in[SHUFFLE_BYTES];
  if (!e->k->shuffle || stride < -MOST || stride > MOST || stride >> 1 == 0) return NULL;
  for (u32 i = 0; i < SHUFFLE_BYTES; i++)
    in[i] = (origin){.at = i / width * stride * (i64)width + i % width};
  shuffle_vector *v = ARENA_NEW(e->a, shuffle_vector);
  if (!make_vector(e->a, false, v, SHUFFLE_BYTES, in)) return NULL;
  for (u32 w = 0; w < v->windows; w++) v->step[w] = stride * SHUFFLE_BYTES;
  return v;
}

static void step_on(shuffle_vector *v, i64 rows, const shuffling *s) {
  for (u32 w = 0; w < v->windows && !s->by_blocks; w++) v->step[w] = rows * s->step[v->of[w]];
  for (u32 i = 0; i < v->windows && s->by_blocks; i++) /* those of all quarters */
    v->all[i].step = rows * s->step[v->all[i].of];
}

/* Of so many rows, of which `row` is one. */
static bool make_tile(arena *a, const shuffling *s, const origin *row, i64 rows, tile *t) {
  origin in[MOST_BYTES];
  u32 n = 0, bytes = (u32)(rows * s->row);
  for (i64 r = 0; r < rows; r++)
    for (i64 i = 0; i < s->row; i++, n++) {
      in[n] = row[i];
      if (in[n].of != CONSTANT) in[n].at += r * s->step[in[n].of];
    }
  *t = (tile){.n = (bytes + SHUFFLE_BYTES - 1) / SHUFFLE_BYTES, .rows = rows};
  t->v = ARENA_ARRAY(a, shuffle_vector, t->n + 1);
  for (u32 i = 0; i < t->n; i++) {
    u32 at = i * SHUFFLE_BYTES;
    u32 of_vector = bytes - at < SHUFFLE_BYTES ? bytes - at : SHUFFLE_BYTES;
    if (!make_vector(a, s->by_blocks, &t->v[i], of_vector, &in[at])) return false;
    step_on(&t->v[i], rows, s);
  }
  return true;
}

/* What a tile takes: what it reads, as much again and more to bring it together, and less where all
 * that is written are whole lines, or blocks. */
static u32 cost_of(const tile *t, bool by_blocks) {
  u32 cost = 0;
  for (u32 i = 0; i < t->n; i++) cost += 4 + (by_blocks ? 1 : 2) * t->v[i].windows;
  u64 last = t->n ? t->v[t->n - 1].written : 0;
  if (by_blocks ? __builtin_popcountll(last) % SHUFFLE_BLOCK : ~last != 0) cost += t->n;
  return cost;
}

/* Those of one to eight vectors are tried, or a single row. By the cost of all rows, and of calls.
 */
static u64 choose_tile(arena *a, shuffling *s, const origin *row) {
  enum { TRIED = MOST_VECTORS, CALL = 16 };
  u64 best = UINT64_MAX;
  for (i64 n = 1; n <= TRIED; n++) {
    i64 rows = min_i64(max_i64(n * SHUFFLE_BYTES / s->row, 1), s->rows);
    tile whole, rest = {0};
    if (!make_tile(a, s, row, rows, &whole)) continue;
    if (s->rows % rows && !make_tile(a, s, row, s->rows % rows, &rest)) continue;
    u64 cost = (u64)(s->rows / rows) * cost_of(&whole, s->by_blocks) +
               cost_of(&rest, s->by_blocks) + CALL * (whole.n + rest.n);
    if (cost < best) best = cost, s->whole = whole, s->rest = rest;
  }
  return best;
}

/* ---- rows ---- */

/* What a step puts into each row: elements of a slot, or one value. Strides in bytes. */
typedef struct piece {
  u32 rank, width, slot;
  u8 with; /* xor the last byte of each: its sign, where elements are negated */
  i64 to_at, from_at;
  i64 dims[PROG_MAX_DIMS], to[PROG_MAX_DIMS], from[PROG_MAX_DIMS];
  const void *value; /* NULL: there are elements */
} piece;

/* The source that has these places, which many pieces may have. */
static bool find_source(shuffling *s, const piece *p, u32 *of) {
  u32 k = 0;
  for (; k < s->n; k++)
    if (s->src[k] == p->slot && !memcmp(s->from[k], p->from, s->rank * sizeof(i64))) break;
  if (k == SHUFFLE_PIECES) return false;
  memcpy(s->from[k], p->from, s->rank * sizeof(i64));
  s->src[k] = p->slot, *of = k;
  if (k == s->n) s->n++;
  return true;
}

/* Notes in `row` where bytes come from; later pieces write over earlier ones. */
static bool put_piece(shuffling *s, const piece *p, origin *row) {
  i64 at[PROG_MAX_DIMS] = {0}, to = p->to_at - s->dst_at, from = p->from_at;
  u32 of = CONSTANT;
  if (!p->value && !find_source(s, p, &of)) return false;
  for (;;) {
    if (to < 0 || to + p->width > s->row) return false;
    for (u32 i = 0; i < p->width; i++)
      row[to + i] =
          p->value ? (origin){0, of, ((const u8 *)p->value)[i]} : (origin){from + i, of, 0};
    row[to + p->width - 1].with ^= p->with;
    u32 d = p->rank;
    for (; d-- > s->rank; at[d] = 0) {
      to += p->to[d], from += p->from[d];
      if (++at[d] < p->dims[d]) break;
      to -= at[d] * p->to[d], from -= at[d] * p->from[d];
    }
    if (d < s->rank) return true;
  }
}

/* Dims that all walk as one become one. */
static void merge_dims(shuffling *s) {
  for (u32 d = s->rank - 1; d-- > 0;) {
    bool one = s->to[d] == s->to[d + 1] * s->dims[d + 1];
    for (u32 p = 0; p < s->n; p++) one &= s->from[p][d] == s->from[p][d + 1] * s->dims[d + 1];
    if (!one) continue;
    s->dims[d + 1] *= s->dims[d];
    s->rank--;
    for (u32 k = d; k < s->rank; k++) {
      s->dims[k] = s->dims[k + 1], s->to[k] = s->to[k + 1];
      for (u32 p = 0; p < s->n; p++) s->from[p][k] = s->from[p][k + 1];
    }
  }
}

/* Pieces whose first `shared` dims are the same rows. What it costs; UINT64_MAX: it cannot be. */
static u64 plan(arena *a, shuffling *s, u32 shared, u32 n, const piece *p) {
  origin row[MOST_BYTES];
  s->rank = shared, s->n = 0, s->dst_at = p->to_at;
  for (u32 i = 1; i < n; i++) s->dst_at = min_i64(s->dst_at, p[i].to_at);
  memcpy(s->dims, p->dims, shared * sizeof(i64));
  memcpy(s->to, p->to, shared * sizeof(i64));
  s->row = p->to[shared - 1];
  if (s->row <= 0 || s->row > MOST_BYTES) return UINT64_MAX;
  for (i64 i = 0; i < s->row; i++) row[i] = (origin){0, SHUFFLE_PIECES, 0};
  for (u32 i = 0; i < n; i++)
    if (p[i].rank < shared || memcmp(p[i].dims, s->dims, shared * sizeof(i64)) ||
        memcmp(p[i].to, s->to, shared * sizeof(i64)) || !put_piece(s, &p[i], row))
      return UINT64_MAX;
  for (i64 i = 0; i < s->row; i++)
    if (row[i].of == SHUFFLE_PIECES || s->n == 0) return UINT64_MAX;
  merge_dims(s);
  s->rank--;
  s->rows = s->dims[s->rank];
  for (u32 k = 0; k < s->n; k++) s->step[k] = s->from[k][s->rank];
  u64 cost = choose_tile(a, s, row);
  for (u32 d = 0; d < s->rank && cost < UINT64_MAX; d++) cost *= (u64)s->dims[d];
  return cost;
}

static void finish(const lower_env *e, shuffling *s, exec_step *out) {
  enum { PART = 1 << 13, A_NANOSECOND = 48 };
  i64 bytes = s->whole.rows * s->row, tiles = s->rows / s->whole.rows;
  s->run = e->k->shuffle;
  s->part = max_i64((s->by_blocks ? 2 * PART : PART) / bytes, 1);
  s->parts = (tiles + s->part - 1) / s->part;
  *out = (exec_step){.run = run_shuffle,
                     .data = s,
                     .units = (u64)s->parts * (u64)prog_volume(s->dims, s->rank),
                     .cost = 10 + (u64)(min_i64(tiles, s->part) * bytes) / A_NANOSECOND};
}

/* ---- what pays ---- */

/* What a copy of its own takes, in the same measure: rows that lie together in both are moved one
 * by one, planes whose source lies across are transposed, and all else goes by elements. */
static u64 cost_alone(const piece *p) {
  enum { ROW = 2, PLANE = 60, CALL = 12, LINE = 64, ACROSS = 8, NARROW = 40 };
  u32 last = p->rank - 1;
  while (last > 0 && p->dims[last] == 1) last--;
  i64 width = p->width, to = p->to[last], from = p->from[last];
  u64 n = prog_volume(p->dims, p->rank), lines = n * p->width / LINE, row = (u64)p->dims[last];
  if (n == 0) return 0;
  if (last == 0) return n * ROW;
  if (to == width && (p->value || from == width)) return n / row * ROW + lines * 3;
  if (to == width && from == 0) return lines * (width >= 4 ? 5 : 8);
  if (to == width && p->from[last - 1] == width) {
    bool narrow = width < 4 && row > 4 && row < 8; /* others have code of their own (few_across) */
    u64 line = narrow ? (u64)(NARROW / width) : ACROSS;
    return n / row / (u64)p->dims[last - 1] * PLANE + lines * line;
  }
  return n / row * CALL + (to == width && from == -width ? lines * 4 : n * ROW);
}

/* The best of all dims that could be rows; NULL: none is as cheap as the pieces alone, each of
 * which takes `more` than a copy. */
static shuffling *best_plan(const lower_env *e, u32 n, const piece *p, u64 more) {
  enum { LEAST = 512 };
  shuffling *best = NULL;
  u32 most = p->rank;
  u64 least = n * more, bytes = 0;
  for (u32 i = 0; i < n; i++) {
    least += cost_alone(&p[i]);
    bytes += prog_volume(p[i].dims, p[i].rank) * p[i].width;
  }
  if (bytes < LEAST) return NULL;
  for (u32 shared = 1; shared <= most; shared++) {
    shuffling *s = ARENA_NEW(e->a, shuffling);
    s->by_blocks = e->k->by_blocks;
    u64 cost = plan(e->a, s, shared, n, p);
    if (cost < least) least = cost, best = s;
  }
  return best;
}

/* ---- lowering ---- */

bool shuffle_copy(const lower_env *e, const step_shape *shape, u32 dst, i64 dst_at, u32 src,
                  i64 src_at, exec_step *out) {
  piece p = {.rank = shape->rank, .width = shape->width, .slot = src};
  p.to_at = dst_at, p.from_at = src_at;
  memcpy(p.dims, shape->dims, p.rank * sizeof(i64));
  memcpy(p.to, shape->to, p.rank * sizeof(i64));
  memcpy(p.from, shape->from, p.rank * sizeof(i64));
  shuffling *s = e->k->shuffle && p.rank > 1 ? best_plan(e, 1, &p, 0) : NULL;
  if (!s) return false;
  s->dst = dst;
  finish(e, s, out);
  return true;
}

bool shuffle_rows(const lower_env *e, const step_shape *shape, u32 width, const prog_gather *g,
                  u32 n, const i64 *to, const i64 *from, exec_step *out) {
  enum { MOST = 64, LOOKED_UP = 5 };
  piece p[MOST];
  if (!e->k->shuffle || n > MOST || shape->rank == 0) return false;
  for (u32 i = 0; i < n; i++) {
    p[i] = (piece){.rank = shape->rank, .width = width, .slot = g->operand[0]};
    p[i].to_at = to[i] * width, p[i].from_at = from[i] * width;
    for (u32 d = 0; d < shape->rank; d++) {
      p[i].dims[d] = shape->dims[d];
      p[i].to[d] = shape->to[d] * width, p[i].from[d] = shape->from[d] * width;
    }
  }
  shuffling *s = best_plan(e, n, p, LOOKED_UP * prog_volume(shape->dims, shape->rank - 1));
  if (!s) return false;
  s->dst = g->other[0];
  finish(e, s, out);
  return true;
}

typedef struct gathering {
  const lower_env *e;
  u32 n, dst; /* pieces; of which slot */
  piece p[SHUFFLE_PIECES];
} gathering;

/* A dim of one element may have any stride. */
static void set_strides(const gathering *g, const prog_access *a, const piece *x, i64 *at,
                        i64 *stride) {
  i64 width = (i64)dtype_size(g->e->prog->slots[a->slot].type);
  *at = a->offset * width;
  for (u32 d = 0; d < x->rank; d++) stride[d] = x->dims[d] > 1 ? a->stride[d] * width : 0;
}

/* Whether two steps are such that one writes where the other reads. */
static bool share_memory(const program *p, u32 a, u32 b) {
  const prog_slot *x = &p->slots[a], *y = &p->slots[b];
  if (x->kind != SLOT_WORK || y->kind != SLOT_WORK || x->alias != y->alias)
    return prog_slot_owner(p, a) == prog_slot_owner(p, b);
  return x->offset < y->offset + prog_slot_bytes(y) && y->offset < x->offset + prog_slot_bytes(x);
}

/* from: NULL, all have this value. */
static bool add_piece(gathering *g, u32 rank, const i64 *dims, const prog_access *to,
                      const prog_access *from, const void *value) {
  const program *p = g->e->prog;
  const prog_slot *dst = &p->slots[to->slot];
  if (g->n == SHUFFLE_PIECES || dst->kind == SLOT_STRIP || rank == 0 || !prog_volume(dims, rank) ||
      (g->n && to->slot != g->dst))
    return false;
  piece *x = &g->p[g->n++];
  *x = (piece){.rank = rank, .width = (u32)dtype_size(dst->type), .value = value};
  g->dst = to->slot;
  memcpy(x->dims, dims, rank * sizeof(i64));
  set_strides(g, to, x, &x->to_at, x->to);
  if (!from) return true;
  const prog_slot *src = &p->slots[from->slot];
  x->slot = from->slot;
  set_strides(g, from, x, &x->from_at, x->from);
  return src->kind != SLOT_STRIP && src->type == dst->type &&
         !share_memory(p, from->slot, to->slot);
}

static bool negates(const vm_instr *v) {
  return v->op == VM_neg && (v->type == DTYPE_f32 || v->type == DTYPE_f64);
}
/* A loop that only moves, what needs not be cleaned, or negates what it moves. */
static bool add_loop(gathering *g, const prog_loop *l) {
  if (l->reduced) return false;
  for (u32 i = 0; i < l->code.len; i++) {
    const vm_instr *v = &l->code.instrs[i], *x = &l->code.instrs[v->a];
    if (v->op == VM_load || v->op == VM_constant || negates(v)) continue;
    if (v->op != VM_store || g->e->k->clean[v->type]) return false;
    bool with = negates(x);
    if (with) x = &l->code.instrs[x->a];
    const prog_access *from = x->op == VM_load ? &l->in[x->a] : NULL;
    const void *value = from ? NULL : &l->code.consts[x->a];
    if (x->type != v->type || (x->op != VM_load && (with || x->op != VM_constant)) ||
        !add_piece(g, l->rank, l->dims, &l->out[v->b], from, value))
      return false;
    g->p[g->n - 1].with = with ? 0x80 : 0;
  }
  return true;
}

static bool add_step(gathering *g, const prog_step *s) {
  const prog_copy *c = s->u.copy_;
  if (s->kind == STEP_copy) return add_piece(g, c->rank, c->dims, &c->dst, &c->src, NULL);
  return s->kind == STEP_loop && add_loop(g, s->u.loop_);
}

u32 shuffle_steps(const lower_env *e, const prog_step *steps, u32 most, exec_step *out) {
  gathering g = {.e = e};
  u32 n = 0, pieces = 0;
  if (!e->k->shuffle) return 0;
  for (; n < most && add_step(&g, &steps[n]); n++) pieces = g.n;
  shuffling *s = n > 1 ? best_plan(e, pieces, g.p, 0) : NULL;
  if (!s) return 0;
  s->dst = g.dst;
  finish(e, s, out);
  return n;
}
