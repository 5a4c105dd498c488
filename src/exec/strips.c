/* Steps done by strips: each is lowered as a step of its own over the rows of one strip, whose
 * accesses are slots of their own; a run sets these to where the strip begins. The last strip may
 * be shorter, and then has steps of its own. How long strips are depends on shapes only. */
#include "exec/masked.h"

/* A place that a step's access begins at: in a slot, in scratch, or the index of a dim. */
typedef struct place_of {
  enum { IN_SLOT, IN_SCRATCH, AN_INDEX } kind;
  u32 slot;
  size_t at;                 /* IN_SCRATCH, AN_INDEX */
  i64 stride[PROG_MAX_DIMS]; /* IN_SLOT: bytes, of the dims up to the cut one */
} place_of;

typedef struct strips {
  u32 n, cut, last_dim; /* steps; the dim that is cut in pieces; of rows, the last */
  i64 dims[PROG_MAX_DIMS];
  u64 piece, pieces, inner; /* inner: rows of one index of that dim */
  exec_step *whole, *last;  /* over a strip; over the last, which may be shorter */
  u32 num_places;
  place_of *places;
  size_t slots_at, index_at, inner_at; /* scratch: places' addresses, indices, what steps need */
  const masked *mask;                  /* NULL: none */
  u32 even[MASKED_EVENS];              /* places of what the mask names */
  bool one_mask;                       /* for all but the cut dim */
  size_t spans_at;                     /* scratch: of all pieces */
} strips;

/* ---- running ---- */

static void set_places(const strips *s, const exec_env *env, const i64 *index, void **slots) {
  i64 *indices = (i64 *)(env->scratch + s->index_at);
  for (u32 d = 0; d <= s->cut; d++) indices[2 * d] = index[d], indices[2 * d + 1] = 0;
  for (u32 i = 0; i < s->num_places; i++) {
    const place_of *p = &s->places[i];
    if (p->kind != IN_SLOT) continue;
    i64 at = 0;
    for (u32 d = 0; d <= s->cut; d++) at += index[d] * p->stride[d];
    slots[i] = (char *)env->slots[p->slot] + at;
  }
}

static char *even_at(const strips *s, u32 k, void *const *slots) {
  const masked_even *e = &s->mask->even[k];
  return (char *)slots[s->even[k]] + e->offset * (i64)e->width;
}
static void spread(const strips *s, u32 even, void *const *slots, u64 rows, const masked_span *x) {
  for (u32 k = 0; even; k++, even >>= 1)
    if (even & 1) masked_spread(s->mask, k, even_at(s, k, slots), rows, s->last_dim, x);
}

/* What a step may leave out. What it reads whole, or as zeros that it has not, is so before. */
static void see_mask(const strips *s, u32 i, u64 narrows, u64 rows, const masked_span *x,
                     exec_env *inner) {
  const masked *m = s->mask;
  const masked_step *t = &m->steps[i];
  bool narrow = t->role >= MASKED_TERMS && narrows == m->columns && x->dead < m->columns;
  u32 zeros = t->role == MASKED_EVEN ? 0 : t->reads;
  for (u32 k = 0; narrow && k < m->num_even; k++)
    if (zeros >> k & 1)
      narrow = masked_zeros(&m->even[k], even_at(s, k, inner->slots), rows, s->last_dim, x->dead);
  if (!narrow && x->dead < m->columns) spread(s, t->reads, inner->slots, rows, x);
  inner->columns = t->role == MASKED_COLUMNS ? x->some : NULL;
  inner->terms = t->role == MASKED_TERMS ? x->some : NULL;
  inner->zeros = narrow && inner->terms && zeros;
  if (narrow && !inner->terms) inner->columns = x->wide;
}

static void run_strips(const void *data, const exec_env *env, u64 begin, u64 end) {
  const strips *s = data;
  void **slots = (void **)(env->scratch + s->slots_at);
  exec_finite finite[EXEC_FINITE] = {{0}};
  exec_env inner = {
      .scratch = env->scratch + s->inner_at, .slots = slots, .accel = env->accel, .finite = finite};
  for (u32 i = 0; i < s->num_places; i++)
    slots[i] = s->places[i].kind == IN_SLOT ? NULL : env->scratch + s->places[i].at;
  for (u64 u = begin; u < end; u++) {
    i64 index[PROG_MAX_DIMS];
    u64 rest = u / s->pieces, piece = u % s->pieces;
    index[s->cut] = (i64)(piece * s->piece);
    for (u32 d = s->cut; d-- > 0;) {
      index[d] = (i64)(rest % (u64)s->dims[d]);
      rest /= (u64)s->dims[d];
    }
    set_places(s, env, index, slots);
    const exec_step *steps = piece + 1 == s->pieces ? s->last : s->whole;
    u64 rows = (u64)(s->dims[s->cut] - index[s->cut]);
    masked_span *x = (masked_span *)(env->scratch + s->spans_at) + piece;
    if (rows > s->piece) rows = s->piece;
    if (s->mask && !(s->one_mask && u - begin >= s->pieces))
      masked_range(s->mask, env->slots[s->mask->slot], index, s->cut, rows, x);
    rows *= s->inner;
    for (u32 i = 0; i < s->n; i++) {
      if (s->mask) see_mask(s, i, steps[i].narrows, rows, x, &inner);
      if (steps[i].units) steps[i].run(steps[i].data, &inner, 0, steps[i].units);
      if (s->mask && inner.columns) spread(s, s->mask->steps[i].makes, slots, rows, x);
    }
  }
}

/* ---- slots of one strip ---- */

/* A slot that steps touch, from the first to the last of them. */
typedef struct touched {
  u32 slot, first, last;
  size_t at; /* SLOT_STRIP: where in scratch a strip's part of it lies */
} touched;
typedef struct survey {
  const program *p;
  u32 step, n;
  touched list[PROG_MAX_TOUCHES];
  bool dots, whole; /* whole: an index that is no integer; nothing may be cut */
} survey;

typedef struct lowering {
  const lower_env *e; /* whose program the steps are of */
  program inner;      /* what their strips are of */
  const prog_strips *r;
  strips *s;
  u64 rows; /* in a strip */
  VEC(place_of) places;
  VEC(prog_slot) slots;
  survey seen;
  size_t scratch;
} lowering;

static u64 part_of(const lowering *l, u32 slot) {
  u64 rows = 1;
  for (u32 d = 0; d < l->r->rank; d++) rows *= (u64)l->r->dims[d];
  return l->e->prog->slots[slot].count / rows;
}

/* A slot for one access, whose strides these are; of a strip for all. Slots of one memory are so
 * still. */
static u32 add_place(lowering *l, u32 slot, const i64 *stride) {
  prog_slot is = l->e->prog->slots[slot];
  place_of p = {.kind = IN_SLOT, .slot = slot};
  if (is.kind == SLOT_STRIP) {
    u64 count = part_of(l, slot) * l->rows;
    for (u32 i = 0; i < l->places.len; i++)
      if (l->places.data[i].kind == IN_SCRATCH && l->places.data[i].slot == slot &&
          l->slots.data[i].count == count)
        return i;
    p.kind = IN_SCRATCH;
    for (u32 i = 0; i < l->seen.n; i++)
      if (l->seen.list[i].slot == slot) p.at = l->seen.list[i].at;
    is.kind = SLOT_WORK; /* behind the workspace, so that it overlaps with nothing of it */
    is.offset = l->e->prog->workspace + p.at;
    is.count = count;
  } else {
    for (u32 d = 0; d <= l->s->cut; d++) p.stride[d] = stride[d] * (i64)dtype_size(is.type);
  }
  VEC_PUSH(l->e->a, l->places, p);
  VEC_PUSH(l->e->a, l->slots, is);
  return (u32)l->slots.len - 1;
}

static u32 add_index(lowering *l, dtype type, u32 dim) {
  place_of p = {.kind = AN_INDEX, .at = l->s->index_at + dim * 2 * sizeof(i64)};
  prog_slot is = {.kind = SLOT_CONST, .type = type, .count = 1};
  VEC_PUSH(l->e->a, l->places, p);
  VEC_PUSH(l->e->a, l->slots, is);
  return (u32)l->slots.len - 1;
}

/* ---- steps of one strip ---- */

/* The dims from the cut one on, of which it has a piece. */
static void cut_dims(const lowering *l, u64 piece, const i64 *dims, u32 rank, i64 *out) {
  for (u32 d = l->s->cut; d < rank; d++) out[d - l->s->cut] = dims[d];
  out[0] = (i64)piece;
}
static prog_access cut_access(lowering *l, const prog_access *a, u32 rank) {
  prog_access out = {.slot = add_place(l, a->slot, a->stride), .offset = a->offset};
  for (u32 d = l->s->cut; d < rank; d++) out.stride[d - l->s->cut] = a->stride[d];
  return out;
}

static bool is_outer_index(const lowering *l, const vm_instr *v) {
  return v->op == VM_iota && v->a <= l->s->cut;
}

/* An index of a dim up to the cut one is where the strip begins, and what the piece adds. */
static void cut_code(lowering *l, const prog_loop *from, prog_loop *to) {
  arena *a = l->e->a;
  const vm_code *c = &from->code;
  u32 *now = ARENA_ARRAY(a, u32, c->len + 1), cut = l->s->cut;
  vm_code out = *c;
  out.instrs = ARENA_ARRAY(a, vm_instr, 3 * c->len + 1);
  out.len = 0;
  for (u32 i = 0; i < c->len; i++) {
    vm_instr v = c->instrs[i];
    const vm_op_info *op = &vm_op_infos[v.op];
    u32 *args[] = {&v.a, &v.b, &v.c};
    u32 used = v.op == VM_store ? 1 : op->operands;
    for (u32 k = 0; k < used; k++) *args[k] = now[*args[k]];
    bool outer = is_outer_index(l, &v);
    if (outer) {
      u32 slot = add_index(l, (dtype)v.type, v.a);
      to->in[to->num_in] = (prog_access){.slot = slot};
      out.instrs[out.len++] = (vm_instr){.op = VM_load, .type = v.type, .a = to->num_in++};
    }
    if (v.op == VM_iota && v.a >= cut) {
      v.a -= cut;
      out.instrs[out.len++] = v;
    } else if (!outer) {
      out.instrs[out.len++] = v;
    }
    if (outer && c->instrs[i].a == cut) {
      out.instrs[out.len] =
          (vm_instr){.op = VM_add, .type = v.type, .a = out.len - 2, .b = out.len - 1};
      out.len++;
    }
    now[i] = out.len - 1;
  }
  out.num_in = to->num_in;
  out.cap = out.len;
  to->code = out;
}

static u32 count_outer_indices(const lowering *l, const prog_loop *p) {
  u32 n = 0;
  for (u32 i = 0; i < p->code.len; i++) n += is_outer_index(l, &p->code.instrs[i]);
  return n;
}

/* The lowering of a step looks at the program for what its slots are, and for those results in
 * whose memory some of them lie, of which there may be far more in all. */
static const lower_env *with_slots(lowering *l, lower_env *e) {
  const program *p = l->e->prog;
  u32 n = (u32)l->slots.len;
  l->inner = *p;
  l->inner.slots = ARENA_ARRAY(e->a, prog_slot, 2 * n + 1);
  l->inner.result_slot = ARENA_ARRAY(e->a, u32, n + 1);
  l->inner.num_results = 0;
  memcpy(l->inner.slots, l->slots.data, n * sizeof *l->inner.slots);
  for (u32 i = 0; i < n; i++) {
    prog_slot *s = &l->inner.slots[i];
    if (s->kind != SLOT_WORK || s->alias < 0) continue;
    u32 k = l->inner.num_results++;
    l->inner.slots[n + k] = p->slots[p->result_slot[s->alias]];
    l->inner.result_slot[k] = n + k;
    s->alias = (i32)k;
  }
  l->inner.num_slots = n + l->inner.num_results;
  e->prog = &l->inner;
  return e;
}

static prog_loop *cut_loop(lowering *l, const prog_loop *p, u64 piece) {
  static const i64 none[PROG_MAX_DIMS];
  arena *a = l->e->a;
  prog_loop *c = arena_copy(a, p, sizeof *p);
  c->rank = p->rank - l->s->cut;
  cut_dims(l, piece, p->dims, p->rank, c->dims);
  c->in = ARENA_ARRAY(a, prog_access, p->num_in + count_outer_indices(l, p) + 1);
  c->out = ARENA_ARRAY(a, prog_access, p->num_out + 1);
  for (u32 i = 0; i < p->num_in; i++) c->in[i] = cut_access(l, &p->in[i], p->rank);
  for (u32 i = 0; i < p->num_out; i++) c->out[i] = cut_access(l, &p->out[i], p->rank);
  if (p->reduced) {
    c->init = ARENA_ARRAY(a, u32, p->num_out + 1);
    for (u32 i = 0; i < p->num_out; i++) c->init[i] = add_place(l, p->init[i], none);
  }
  cut_code(l, p, c);
  return c;
}

static void cut_dot(lowering *l, lower_env *e, const prog_dot *p, u64 piece, exec_step *out) {
  u32 cut = l->s->cut, rank = p->nb + p->nm + p->nn + p->nk, batches = cut < p->nb ? cut : p->nb;
  prog_dot c = *p;
  c.by_tiles = false;
  c.nb -= batches;
  c.nm -= cut - batches;
  c.dims = ARENA_ARRAY(e->a, i64, rank);
  cut_dims(l, piece, p->dims, rank, c.dims);
  c.lhs = add_place(l, p->lhs, p->lhs_stride);
  c.rhs = add_place(l, p->rhs, p->rhs_stride);
  c.out = add_place(l, p->out, p->out_stride);
  c.lhs_stride += cut, c.rhs_stride += cut, c.out_stride += cut;
  dot_lower(with_slots(l, e), &c, out);
}

static prog_copy *cut_copy(lowering *l, const prog_copy *p, u64 piece) {
  prog_copy *c = arena_copy(l->e->a, p, sizeof *p);
  c->rank = p->rank - l->s->cut;
  cut_dims(l, piece, p->dims, p->rank, c->dims);
  c->src = cut_access(l, &p->src, p->rank);
  c->dst = cut_access(l, &p->dst, p->rank);
  return c;
}

static i64s cut_list(const lowering *l, u64 piece, i64s dims) {
  i64 *out = ARENA_ARRAY(l->e->a, i64, dims.len + 1);
  cut_dims(l, piece, dims.data, (u32)dims.len, out);
  return (i64s){out, dims.len - l->s->cut};
}
static u32 *add_dense(lowering *l, u32 slot, i64s dims) {
  i64 stride[PROG_MAX_DIMS], n = 1;
  for (size_t d = dims.len; d-- > 0; n *= dims.data[d]) stride[d] = n;
  u32 *out = ARENA_NEW(l->e->a, u32);
  *out = add_place(l, slot, stride);
  return out;
}
/* Rows of the operand's own are where a strip begins up to the cut one: then its dim is one that
 * nobody walks. */
static u32 *cut_batching(lowering *l, const prog_gather *p, prog_gather *c) {
  arena *a = l->e->a;
  i64 stride[PROG_MAX_DIMS] = {0}, n = 1, of[PROG_MAX_DIMS];
  size_t rank = p->operand_dims.len, left = 0, gone = p->collapsed.len;
  i64 *collapsed = ARENA_ARRAY(a, i64, rank + 1), *operand = ARENA_ARRAY(a, i64, rank + 1);
  i64 *indices = ARENA_ARRAY(a, i64, rank + 1);
  for (size_t d = rank; d-- > 0; n *= p->operand_dims.data[d]) of[d] = n;
  memcpy(collapsed, p->collapsed.data, gone * sizeof(i64));
  for (size_t i = 0; i < p->operand_batching.len; i++) {
    i64 d = p->indices_batching.data[i], o = p->operand_batching.data[i];
    if (d <= l->s->cut) stride[d] = of[o];
    if (d < l->s->cut)
      collapsed[gone++] = o;
    else
      operand[left] = o, indices[left++] = d - l->s->cut;
  }
  c->collapsed = (i64s){collapsed, gone};
  c->operand_batching = (i64s){operand, left};
  c->indices_batching = (i64s){indices, left};
  u32 *out = ARENA_NEW(a, u32);
  *out = add_place(l, p->operand[0], stride);
  return out;
}
static void cut_gather(lowering *l, lower_env *e, const prog_gather *p, u64 piece, exec_step *out) {
  prog_gather *c = arena_copy(e->a, p, sizeof *p);
  i64 *offsets = ARENA_ARRAY(e->a, i64, p->offset_dims.len + 1);
  for (size_t i = 0; i < p->offset_dims.len; i++) offsets[i] = p->offset_dims.data[i] - l->s->cut;
  c->operand = cut_batching(l, p, c);
  c->indices = *add_dense(l, p->indices, p->indices_dims);
  c->other = add_dense(l, p->other[0], p->other_dims);
  c->indices_dims = cut_list(l, piece, p->indices_dims);
  c->other_dims = cut_list(l, piece, p->other_dims);
  c->offset_dims = (i64s){offsets, p->offset_dims.len};
  c->index_vector_dim -= l->s->cut;
  gather_lower(with_slots(l, e), c, out);
}

static void lower_cut(lowering *l, const prog_step *p, const prog_step *cut, u64 piece,
                      exec_step *out) {
  lower_env e = *l->e;
  if (p->kind == STEP_loop) loop_lower(with_slots(l, &e), cut->u.loop_, out);
  if (p->kind == STEP_copy) copy_lower(with_slots(l, &e), cut->u.copy_, out);
  if (p->kind == STEP_dot) cut_dot(l, &e, p->u.dot_, piece, out);
  if (p->kind == STEP_gather) cut_gather(l, &e, p->u.gather_, piece, out);
}

/* All steps over a strip of that many pieces of the cut dim. Those that only move elements, one
 * behind the other, may be done as one. */
static exec_step *cut_steps(lowering *l, u64 piece) {
  u32 n = l->r->n;
  const prog_step *p = l->r->steps;
  exec_step *steps = arena_zalloc(l->e->a, (n + 1) * sizeof *steps);
  prog_step *cut = ARENA_ARRAY(l->e->a, prog_step, n + 1);
  l->rows = piece;
  for (u32 d = l->s->cut + 1; d < l->r->rank; d++) l->rows *= (u64)l->r->dims[d];
  for (u32 i = 0; i < n; i++) {
    cut[i] = p[i];
    if (p[i].kind == STEP_loop) cut[i].u.loop_ = cut_loop(l, p[i].u.loop_, piece);
    if (p[i].kind == STEP_copy) cut[i].u.copy_ = cut_copy(l, p[i].u.copy_, piece);
  }
  for (u32 i = 0, moved; i < n; i += moved ? moved : 1) {
    lower_env e = *l->e;
    moved = l->s->mask ? 0 : shuffle_steps(with_slots(l, &e), &cut[i], n - i, &steps[i]);
    if (!moved) lower_cut(l, &p[i], &cut[i], piece, &steps[i]);
  }
  return steps;
}

/* ---- how long strips are, and what lies in scratch ---- */

/* Whether a slot of strips that a step is the last to touch is written over by what it makes. */
static bool is_over(const prog_strips *r, const survey *v, const touched *in, const touched *out) {
  const prog_slot *x = &v->p->slots[in->slot], *y = &v->p->slots[out->slot];
  return in->last == out->first && x->kind == SLOT_STRIP && y->kind == SLOT_STRIP &&
         x->count == y->count && dtype_size(x->type) == dtype_size(y->type) &&
         prog_step_in_place(v->p, &r->steps[out->first], in->slot, out->slot);
}

static void see_slot(void *user, u32 *slot, slot_use use) {
  survey *v = user;
  u32 i = 0;
  (void)use;
  while (i < v->n && v->list[i].slot != *slot) i++;
  if (i == COUNT(v->list)) return;
  if (i == v->n) v->list[v->n++] = (touched){.slot = *slot, .first = v->step};
  v->list[i].last = v->step;
}

static void look_at(const lower_env *e, const prog_strips *r, survey *v) {
  *v = (survey){.p = e->prog};
  for (u32 i = 0; i < r->n; i++) {
    const prog_step *s = &r->steps[i];
    v->step = i;
    prog_step_slots((prog_step *)(uintptr_t)s, see_slot, v);
    v->dots |= s->kind == STEP_dot;
    for (u32 k = 0; s->kind == STEP_loop && k < s->u.loop_->code.len; k++) {
      const vm_instr *x = &s->u.loop_->code.instrs[k];
      dtype_class class = dtype_infos[x->type].kind;
      v->whole |= x->op == VM_iota && x->a < r->rank && class != DTYPE_CLASS_SINT &&
                  class != DTYPE_CLASS_UINT;
    }
  }
}

static bool takes_place(const prog_strips *r, const survey *v, const touched *out) {
  u32 i = 0;
  while (i < v->n && !is_over(r, v, &v->list[i], out)) i++;
  return i < v->n;
}

/* What is needed at once of all rows: what any step touches, and what waits meanwhile. */
static u64 most_bytes(const prog_strips *r, const survey *v) {
  u64 most = 0;
  for (u32 step = 0; step < r->n; step++) {
    u64 bytes = 0;
    for (u32 i = 0; i < v->n; i++)
      if (v->list[i].first <= step && step <= v->list[i].last &&
          !(v->list[i].first == step && takes_place(r, v, &v->list[i])))
        bytes += prog_slot_bytes(&v->p->slots[v->list[i].slot]);
    if (bytes > most) most = bytes;
  }
  return most;
}

/* As many rows as the cache has room for, in pieces of nearly equal length: of products, as many
 * as these do at once; under a mask few, so that each strip leaves out much. */
static void find_cut(const prog_strips *r, const survey *v, strips *s) {
  enum { BYTES = 128 << 10, BYTES_OF_DOTS = 512 << 10, LEAST = 48, MASKED = 64, AT_ONCE = 8 };
  u64 rows = 1, inner = 1, bytes = 0;
  for (u32 d = 0; d < r->rank; d++) rows *= (u64)r->dims[d];
  for (u32 i = 0; i < v->n; i++) bytes += prog_slot_bytes(&v->p->slots[v->list[i].slot]);
  if (v->dots) bytes = most_bytes(r, v);
  u64 row = bytes / rows + 1, most = (v->dots ? BYTES_OF_DOTS : BYTES) / row + 1;
  if (v->dots && most < LEAST) most = LEAST;
  if (s->mask && most > MASKED) most = MASKED;
  if (v->whole) most = rows;
  s->cut = r->rank - 1;
  while (s->cut > 0 && inner * (u64)r->dims[s->cut] <= most) inner *= (u64)r->dims[s->cut--];
  u64 n = (u64)r->dims[s->cut], piece = most / inner;
  piece = piece < 1 ? 1 : piece > n ? n : piece;
  s->pieces = (n + piece - 1) / piece;
  s->piece = (n + s->pieces - 1) / s->pieces;
  if (v->dots && s->piece > AT_ONCE) s->piece = align_up(s->piece, AT_ONCE);
  s->pieces = (n + s->piece - 1) / s->piece;
}

static bool is_left(const lowering *l, const touched *by, const touched *to) {
  return by->last < to->first || is_over(l->r, &l->seen, by, to);
}

/* Slots of a strip, one behind the other; who is last touched before another one begins, or
 * as that one is made element by element, gives its place to it if that is large enough. */
static void lay_out(lowering *l) {
  typedef struct room {
    size_t at, bytes;
    const touched *by; /* last */
  } room;
  VEC(room) rooms = {0};
  for (u32 i = 0; i < l->seen.n; i++) {
    touched *t = &l->seen.list[i];
    const prog_slot *slot = &l->e->prog->slots[t->slot];
    if (slot->kind != SLOT_STRIP) continue;
    size_t bytes = align_up(part_of(l, t->slot) * l->rows * dtype_size(slot->type), 64) + 64;
    size_t k = 0;
    while (k < rooms.len && (rooms.data[k].bytes < bytes || !is_left(l, rooms.data[k].by, t))) k++;
    if (k == rooms.len) {
      VEC_PUSH(l->e->a, rooms, (room){l->scratch, bytes, t});
      l->scratch += bytes;
    }
    rooms.data[k].by = t;
    t->at = rooms.data[k].at;
  }
}

/* Whether all rows of an index of the cut dim have one mask, and lie at equal distances. */
static bool is_even(const strips *s, const prog_strips *r) {
  for (u32 d = s->cut + 1; d < r->rank; d++) {
    if (s->mask->stride[d]) return false;
    for (u32 k = 0; k < s->mask->num_even; k++) {
      const i64 *stride = s->mask->even[k].stride;
      if (stride[d - 1] != stride[d] * r->dims[d]) return false;
    }
  }
  return true;
}

void strips_lower(const lower_env *e, const prog_strips *r, exec_step *out) {
  if (shuffle_steps(e, r->steps, r->n, out) == r->n) return;
  strips *s = ARENA_NEW(e->a, strips);
  lowering l = {.e = e, .r = r, .s = s};
  look_at(e, r, &l.seen);
  s->n = r->n;
  memcpy(s->dims, r->dims, sizeof s->dims);
  s->mask = masked_find(e->a, e->prog, r);
  find_cut(r, &l.seen, s);
  if (s->mask && !is_even(s, r)) s->mask = NULL;
  u64 units = s->pieces, n = (u64)r->dims[s->cut], tail = n - (s->pieces - 1) * s->piece;
  for (u32 d = 0; d < s->cut; d++) units *= (u64)r->dims[d];
  s->inner = prog_volume(r->dims + s->cut + 1, r->rank - s->cut - 1);
  s->last_dim = r->rank - 1;
  l.rows = s->piece * s->inner;
  lay_out(&l);
  s->index_at = l.scratch;
  s->whole = s->last = cut_steps(&l, s->piece);
  if (tail != s->piece) s->last = cut_steps(&l, tail);
  for (u32 k = 0; s->mask && k < s->mask->num_even; k++)
    s->even[k] = add_place(&l, s->mask->even[k].slot, s->mask->even[k].stride);
  s->num_places = (u32)l.places.len;
  s->places = l.places.data;
  s->slots_at = s->index_at + PROG_MAX_DIMS * 2 * sizeof(i64); /* of any type */
  s->spans_at = s->slots_at + s->num_places * sizeof(void *);
  s->inner_at = align_up(s->spans_at + (s->mask ? s->pieces * sizeof(masked_span) : 0), 64);
  s->one_mask = s->mask != NULL;
  for (u32 d = 0; s->mask && d < s->cut; d++) s->one_mask &= s->mask->stride[d] == 0;
  size_t scratch = 0;
  u64 cost = 50;
  for (u32 i = 0; i < s->n; i++) {
    const exec_step *steps[] = {&s->whole[i], &s->last[i]};
    for (u32 k = 0; k < 2; k++)
      if (steps[k]->scratch > scratch) scratch = steps[k]->scratch;
    cost += steps[0]->units * steps[0]->cost;
  }
  *out = (exec_step){
      .run = run_strips, .data = s, .units = units, .cost = cost, .scratch = s->inner_at + scratch};
}
