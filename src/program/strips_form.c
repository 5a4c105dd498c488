/* Which steps are done by strips: loops, dots, copies and gathers that have rows in common, where
 * one reads what another wrote, or both read the same, and there is too much of it for a cache.
 *
 * In the order of steps one begins a run, and those that follow join it if they may. What stands
 * between goes before the run if it needs nothing of it, else after it; so who joins must not need
 * what goes after. Jumps, their targets, collectives and calls stay where they are. The window in
 * which is looked is bounded, and so all of it linear in the number of steps. */
#include "program/parts.h"

enum {
  WINDOW = 48,               /* steps that one run may lie among, */
  IDLE = 12,                 /* and that are looked at in vain */
  MAX_STEPS = 24,            /* of strips */
  MIN_ROWS = 8,              /* or there is nothing to cut */
  MIN_BYTES = 512 << 10,     /* that need not go to memory and back */
  MIN_READ_BYTES = 32 << 20, /* that are only read, and should not be so again */
  MAX_ROW_BYTES = 256 << 10, /* of what is kept in the cache */
  MAX_RHS_BYTES = 512 << 10, /* of a dot: read for every strip, */
  MAX_THIN_BYTES = 4 << 20,  /* or of one with few columns or terms, beside which */
  THIN = 128                 /* its rows are long */
};

typedef struct marks {
  u32 *read, *written; /* by slot: the stamp */
} marks;

typedef struct former {
  arena *a, *scratch;
  program *p;
  u32 *touches; /* by slot, in the whole program */
  u32 stamp;
  marks run, after;
  VEC(prog_step) out;
} former;

/* A run of steps, as they are and as they have its rows for first dims. */
typedef struct run {
  prog_strips r;
  prog_step *plain[MAX_STEPS];
  prog_step steps[MAX_STEPS];
  strips_bytes bytes;
} run;

/* ---- dependences ---- */

typedef struct marking {
  former *f;
  marks *m;
  bool meets;
} marking;
static void mark_slot(void *user, u32 *slot, slot_use use) {
  marking *k = user;
  u32 at = prog_slot_owner(k->f->p, *slot);
  if (use != USE_WRITE) k->m->read[at] = k->f->stamp;
  if (use != USE_READ) k->m->written[at] = k->f->stamp;
}
static void mark(former *f, marks *m, prog_step *s) {
  prog_step_slots(s, mark_slot, &(marking){f, m, false});
}
static void meet_slot(void *user, u32 *slot, slot_use use) {
  marking *k = user;
  u32 at = prog_slot_owner(k->f->p, *slot), stamp = k->f->stamp;
  k->meets |= k->m->written[at] == stamp || (use != USE_READ && k->m->read[at] == stamp);
}
/* Whether s must stay behind the steps that are marked. */
static bool depends(former *f, marks *m, prog_step *s) {
  marking k = {f, m, false};
  prog_step_slots(s, meet_slot, &k);
  return k.meets;
}

/* ---- rows ---- */

/* The longest list of first dims that both have, some of them split. */
static u32 common_rows(const i64 *a, u32 na, const i64 *b, u32 nb, i64 *out) {
  u32 n = 0, i = 0, j = 0;
  i64 x = 1, y = 1;
  while (n < PROG_MAX_DIMS) {
    while (x == 1 && i < na) x = a[i++];
    while (y == 1 && j < nb) y = b[j++];
    i64 s = x < y ? x : y;
    if (s <= 1 || x % s || y % s) break;
    out[n++] = s;
    x /= s, y /= s;
  }
  return n;
}

/* How dims become others that begin with the rows: new dim d is a part of dim from[d], whose index
 * it moves by `times`. */
typedef struct reshape {
  u32 rank, from[4 * PROG_MAX_DIMS];
  i64 dims[4 * PROG_MAX_DIMS], times[4 * PROG_MAX_DIMS];
} reshape;

static bool plan_reshape(const prog_strips *r, const i64 *dims, u32 rank, reshape *z) {
  u32 k = 0;
  i64 left = 1;
  z->rank = 0;
  for (u32 d = 0; d < r->rank; d++) {
    while (left == 1) left = dims[k++];
    left /= r->dims[d];
    z->dims[z->rank] = r->dims[d], z->from[z->rank] = k - 1, z->times[z->rank++] = left;
  }
  if (left > 1) z->dims[z->rank] = left, z->from[z->rank] = k - 1, z->times[z->rank++] = 1;
  for (; k < rank && z->rank < COUNT(z->dims); k++)
    z->dims[z->rank] = dims[k], z->from[z->rank] = k, z->times[z->rank++] = 1;
  return k == rank;
}

static void reshape_strides(const reshape *z, const i64 *from, i64 *to) {
  for (u32 d = 0; d < z->rank; d++) to[d] = from[z->from[d]] * z->times[d];
}
static prog_access *reshape_accesses(arena *a, const reshape *z, const prog_access *list, u32 n) {
  prog_access *out = ARENA_ARRAY(a, prog_access, n + 1);
  for (u32 i = 0; i < n; i++) {
    out[i] = (prog_access){.slot = list[i].slot, .offset = list[i].offset};
    reshape_strides(z, list[i].stride, out[i].stride);
  }
  return out;
}

/* An index is that of one dim, which is still there as it was. */
static bool reshape_iotas(arena *a, const reshape *z, const prog_loop *from, prog_loop *to) {
  to->code.instrs = arena_copy(a, from->code.instrs, from->code.len * sizeof(vm_instr));
  for (u32 i = 0; i < from->code.len; i++) {
    vm_instr *v = &to->code.instrs[i];
    if (v->op != VM_iota) continue;
    u32 d = 0;
    while (d < z->rank && z->from[d] != v->a) d++;
    if (d == z->rank || z->dims[d] != from->dims[v->a]) return false;
    v->a = d;
  }
  return true;
}

static bool reshape_loop(arena *a, const reshape *z, prog_step *s) {
  const prog_loop *from = s->u.loop_;
  if (z->rank > PROG_MAX_DIMS) return false;
  prog_loop *l = s->u.loop_ = arena_copy(a, from, sizeof *from);
  l->rank = z->rank;
  memcpy(l->dims, z->dims, z->rank * sizeof(i64));
  l->in = reshape_accesses(a, z, from->in, from->num_in);
  l->out = reshape_accesses(a, z, from->out, from->num_out);
  l->cap_in = from->num_in, l->cap_out = from->num_out;
  return reshape_iotas(a, z, from, l);
}

static i64 *reshape_list(arena *a, const reshape *z, const i64 *from) {
  i64 *to = ARENA_ARRAY(a, i64, z->rank + 1);
  reshape_strides(z, from, to);
  return to;
}
static bool reshape_dot(arena *a, const reshape *z, prog_step *s) {
  const prog_dot *from = s->u.dot_;
  prog_dot *d = s->u.dot_ = arena_copy(a, from, sizeof *from);
  d->nb = d->nm = 0;
  for (u32 k = 0; k < z->rank; k++)
    if (z->from[k] < from->nb)
      d->nb++;
    else if (z->from[k] < from->nb + from->nm)
      d->nm++;
  d->dims = arena_copy(a, z->dims, z->rank * sizeof(i64));
  d->lhs_stride = reshape_list(a, z, from->lhs_stride);
  d->rhs_stride = reshape_list(a, z, from->rhs_stride);
  d->out_stride = reshape_list(a, z, from->out_stride);
  return z->rank <= 4 * PROG_MAX_DIMS;
}

static bool reshape_copy(arena *a, const reshape *z, prog_step *s) {
  const prog_copy *from = s->u.copy_;
  if (z->rank > PROG_MAX_DIMS) return false;
  prog_copy *c = s->u.copy_ = arena_copy(a, from, sizeof *from);
  c->rank = z->rank;
  memcpy(c->dims, z->dims, z->rank * sizeof(i64));
  reshape_strides(z, from->src.stride, c->src.stride);
  reshape_strides(z, from->dst.stride, c->dst.stride);
  return true;
}

/* Dims of size 1 may be gone, and rows parts of what they were: but not rows that the operand has
 * too. */
static bool reshape_gather(arena *a, const reshape *z, prog_step *s) {
  const prog_gather *from = s->u.gather_;
  u32 rows = prog_step_row_dims(s, NULL), now = 0, dims = 0;
  u32 *place = arena_zalloc(a, (from->other_dims.len + 1) * sizeof(u32));
  if (z->rank > PROG_MAX_DIMS) return false;
  for (u32 k = z->rank; k-- > 0;) place[z->from[k]] = k;
  while (now < z->rank && z->from[now] < rows) now++;
  size_t rank = now + from->indices_dims.len - rows;
  if (rank > PROG_MAX_DIMS) return false;
  prog_gather *g = s->u.gather_ = arena_copy(a, from, sizeof *from);
  i64 *other = arena_copy(a, z->dims, z->rank * sizeof(i64)),
      *indices = ARENA_ARRAY(a, i64, rank + 1);
  i64 *offsets = ARENA_ARRAY(a, i64, from->offset_dims.len + 1);
  i64 *batching = ARENA_ARRAY(a, i64, from->indices_batching.len + 1);
  for (; dims < now; dims++) indices[dims] = z->dims[dims];
  for (size_t d = rows; d < from->indices_dims.len; d++)
    indices[dims++] = from->indices_dims.data[d];
  for (size_t i = 0; i < from->offset_dims.len; i++) offsets[i] = place[from->offset_dims.data[i]];
  for (size_t i = 0; i < from->indices_batching.len; i++) {
    i64 d = from->indices_batching.data[i];
    batching[i] = d < rows ? place[d] : d - rows + now;
    if (indices[batching[i]] != from->indices_dims.data[d]) return false;
  }
  g->other_dims = (i64s){other, z->rank};
  g->indices_dims = (i64s){indices, rank};
  g->offset_dims = (i64s){offsets, from->offset_dims.len};
  g->indices_batching = (i64s){batching, from->indices_batching.len};
  g->index_vector_dim += (i64)now - rows;
  return true;
}

static u32 all_dims(const prog_step *s) {
  if (s->kind == STEP_gather) return (u32)s->u.gather_->other_dims.len;
  if (s->kind == STEP_loop) return s->u.loop_->rank;
  if (s->kind == STEP_copy) return s->u.copy_->rank;
  return s->u.dot_->nb + s->u.dot_->nm + s->u.dot_->nn + s->u.dot_->nk;
}

/* *to is s with the rows as first dims. */
static bool give_rows(arena *a, const prog_strips *r, prog_step *s, prog_step *to) {
  const i64 *dims;
  reshape z;
  *to = *s;
  if (prog_step_row_dims(s, &dims) >= r->rank && memcmp(dims, r->dims, r->rank * sizeof(i64)) == 0)
    return true;
  if (!plan_reshape(r, dims, all_dims(s), &z)) return false;
  if (s->kind == STEP_loop) return reshape_loop(a, &z, to);
  if (s->kind == STEP_gather) return reshape_gather(a, &z, to);
  return s->kind == STEP_dot ? reshape_dot(a, &z, to) : reshape_copy(a, &z, to);
}

/* ---- rows in the order of memory ---- */

/* How the first n dims come in the order of these strides, those of size 1 first. False: they do.
 */
static bool order_rows(reshape *z, const i64 *dims, u32 n, u32 rank, const i64 *stride) {
  bool moved = false;
  z->rank = rank;
  for (u32 d = 0; d < rank; d++) {
    u32 k = d;
    while (d < n && k > 0 && dims[z->from[k - 1]] > 1 &&
           (dims[d] == 1 || stride[d] > stride[z->from[k - 1]])) {
      moved |= dims[d] > 1;
      z->from[k] = z->from[k - 1], k--;
    }
    z->from[k] = d;
  }
  for (u32 d = 0; d < rank; d++) z->dims[d] = dims[z->from[d]], z->times[d] = 1;
  return moved;
}

/* A slot of dims that lie densely, and how they are to lie. */
typedef struct relaying {
  u32 slot, rank, seen;
  const i64 *dims;
  i64 stride[PROG_MAX_DIMS], to[PROG_MAX_DIMS];
  bool refused, move;
} relaying;
/* Each of an access's dims is to be another one of the slot's. */
static void relay_access(void *user, const step_access *a) {
  relaying *r = user;
  if (a->slot != r->slot) return;
  u32 used = 0;
  r->seen++;
  r->refused |= a->offset != 0;
  for (u32 d = 0; d < a->rank && !r->refused; d++) {
    u32 k = 0;
    if (a->stride[d] == 0 || a->dims[d] == 1) continue;
    while (k < r->rank && (r->stride[k] != a->stride[d] || r->dims[k] != a->dims[d])) k++;
    r->refused = k == r->rank || (used >> k & 1);
    if (!r->refused && r->move) ((i64 *)(uintptr_t)a->stride)[d] = r->to[k];
    used |= 1u << k;
  }
}

/* Whether all who touch the slot, within a window, do so by its dims; if `move`, that is changed.
 */
static bool relay(former *f, prog_step *steps, u32 n, bool loops, relaying *r) {
  r->seen = 0;
  for (u32 i = 0; i < n && r->seen < f->touches[r->slot] && !r->refused; i++)
    if (loops ? steps[i].kind == STEP_loop
              : steps[i].kind != STEP_gather && prog_step_row_dims(&steps[i], NULL))
      prog_step_accesses(&steps[i], relay_access, r);
  return !r->refused && r->seen == f->touches[r->slot];
}

/* A loop that goes through its rows in another order than what it reads lies in, as over groups of
 * queries, goes as that lies; and so lies what it writes. The elements of rows stay where they are,
 * but of what is small and read by loops only. */
static void order_loop(former *f, prog_step *s, u32 n) {
  const prog_loop *l = s->u.loop_;
  reshape z;
  relaying r = {.slot = l->out[0].slot, .rank = l->rank - l->reduced, .dims = l->dims};
  if (l->rank < 3 || l->num_out != 1 || l->num_in == 0) return;
  const prog_slot *out = &f->p->slots[r.slot];
  const i64 *in = l->in[prog_loop_largest(l)].stride;
  bool all = in[l->rank - 1] != 1;
  u32 rows = l->reduced || all ? r.rank : l->rank - 1;
  if (out->kind != SLOT_WORK || (all && (l->reduced || prog_slot_bytes(out) > MIN_BYTES / 2)))
    return;
  for (u32 d = 0; d < rows; d++)
    if (in[d] <= 0) return;
  if (!order_rows(&z, l->dims, rows, l->rank, in)) return;
  i64 from = 1, to = 1;
  for (u32 d = r.rank; d-- > 0; from *= l->dims[d], to *= z.dims[d]) {
    r.stride[d] = from, r.to[z.from[d]] = to;
    if (l->dims[d] > 1 && l->out[0].stride[d] != from) return;
  }
  if (!relay(f, s, n, all, &r)) return;
  r.move = true;
  relay(f, s, n, all, &r);
  reshape_loop(f->a, &z, s);
}

/* ---- what pays ---- */

typedef struct survey {
  former *f;
  const run *z;
  bool joins, crosses, large;
} survey;

/* Rows that lie side by side in memory would be fetched again for every strip. */
static void survey_access(void *user, const step_access *a) {
  survey *s = user;
  const prog_slot *slot = &s->f->p->slots[a->slot];
  u32 at = prog_slot_owner(s->f->p, a->slot), stamp = s->f->stamp;
  i64 rows = INT64_MAX, inside = INT64_MAX;
  for (u32 d = 0; d < a->rank; d++) {
    i64 stride = abs_i64(a->stride[d]);
    i64 *least = d < s->z->r.rank ? &rows : &inside;
    if (stride && a->dims[d] > 1 && stride < *least) *least = stride;
  }
  s->crosses |= inside != INT64_MAX && rows < inside;
  bool much = prog_slot_bytes(slot) >= MIN_BYTES / 2;
  s->large |= much;
  s->joins |= s->f->run.written[at] == stamp || (!a->write && much && s->f->run.read[at] == stamp);
}

/* Of a dot per batch the other operand must be small: it is read again for every strip. */
static bool dot_pays(const program *p, const prog_dot *d) {
  u64 bytes = dtype_size(p->slots[d->rhs].type), m = 1;
  for (u32 k = 0; k < d->nm; k++) m *= (u64)d->dims[d->nb + k];
  u64 columns = prog_volume(d->dims + d->nb + d->nm, d->nn);
  u64 terms = prog_volume(d->dims + d->nb + d->nm + d->nn, d->nk);
  for (u32 k = 0; k < d->nn + d->nk; k++) bytes *= (u64)d->dims[d->nb + d->nm + k];
  bool thin = columns <= THIN || terms <= THIN;
  return d->nb > 0 && m >= 64 && bytes <= (thin ? MAX_THIN_BYTES : MAX_RHS_BYTES);
}

static u64 num_rows(const prog_strips *r) {
  u64 n = 1;
  for (u32 d = 0; d < r->rank; d++) n *= (u64)r->dims[d];
  return n;
}

/* ---- runs ---- */

static bool begins(former *f, prog_step *s, run *z) {
  const i64 *dims;
  u32 n = prog_step_row_dims(s, &dims);
  i64 rows[PROG_MAX_DIMS];
  if (s->kind == STEP_dot && !dot_pays(f->p, s->u.dot_)) return false;
  z->r.rank = common_rows(dims, n, dims, n, rows);
  memcpy(z->r.dims, rows, sizeof rows);
  z->r.steps = z->steps;
  z->r.n = 1;
  z->plain[0] = s;
  if (z->r.rank == 0 || num_rows(&z->r) < MIN_ROWS) return false;
  survey v = {.f = f, .z = z};
  if (!give_rows(f->a, &z->r, s, &z->steps[0])) return false;
  prog_step_accesses(&z->steps[0], survey_access, &v);
  return v.large && !prog_strips_check(f->p, &z->r, &z->bytes);
}

/* Of a product the rows are those of lhs: what the run wrote becomes that. */
static prog_step *rows_first(former *f, prog_step *s) {
  const prog_dot *d = s->kind == STEP_dot ? s->u.dot_ : NULL;
  if (!d || d->by_tiles || d->parts) return s;
  const u32 *written = f->run.written;
  if (written[prog_slot_owner(f->p, d->rhs)] != f->stamp ||
      written[prog_slot_owner(f->p, d->lhs)] == f->stamp)
    return s;
  prog_step *t = arena_copy(f->a, s, sizeof *s);
  t->u.dot_ = ARENA_NEW(f->a, prog_dot);
  *t->u.dot_ = prog_dot_turned(f->a, d);
  return t;
}

/* Its rows in the order in which what the run wrote of them lies: those of a batch need not come
 * before others that are the same for rhs. */
static prog_step *rows_in_order(former *f, prog_step *s) {
  const prog_dot *d = s->kind == STEP_dot ? s->u.dot_ : NULL;
  u32 n = d ? d->nb + d->nm : 0;
  reshape z;
  if (n < 2 || d->by_tiles || d->parts || n + d->nn + d->nk > COUNT(z.from)) return s;
  if (f->run.written[prog_slot_owner(f->p, d->lhs)] != f->stamp) return s;
  if (!order_rows(&z, d->dims, n, n + d->nn + d->nk, d->lhs_stride)) return s;
  prog_step *t = arena_copy(f->a, s, sizeof *s);
  reshape_dot(f->a, &z, t);
  u32 nb = n;
  while (nb > 0 && z.from[nb - 1] >= d->nb) nb--;
  t->u.dot_->nb = nb, t->u.dot_->nm = n - nb;
  return t;
}

/* All steps of the run and s with what rows they have in common. */
static bool extend(former *f, run *z, prog_step *s) {
  const i64 *dims;
  u32 n = prog_step_row_dims(s, &dims);
  if (n == 0 || z->r.n == MAX_STEPS || (s->kind == STEP_dot && !dot_pays(f->p, s->u.dot_)))
    return false;
  survey v = {.f = f, .z = z};
  prog_step_accesses(s, survey_access, &v);
  if (!v.joins) return false;
  run old = *z;
  z->r.rank = common_rows(old.r.dims, old.r.rank, dims, n, z->r.dims);
  z->plain[z->r.n++] = s;
  bool ok = z->r.rank > 0 && num_rows(&z->r) >= MIN_ROWS;
  v = (survey){.f = f, .z = z};
  bool same =
      z->r.rank == old.r.rank && memcmp(z->r.dims, old.r.dims, z->r.rank * sizeof(i64)) == 0;
  for (u32 i = same ? z->r.n - 1 : 0; ok && i < z->r.n; i++) {
    ok = give_rows(f->a, &z->r, z->plain[i], &z->steps[i]);
    if (ok && z->steps[i].kind != STEP_dot) prog_step_accesses(&z->steps[i], survey_access, &v);
  }
  ok = ok && !v.crosses && !prog_strips_check(f->p, &z->r, &z->bytes) &&
       z->bytes.all / num_rows(&z->r) <= MAX_ROW_BYTES;
  if (!ok) *z = old;
  return ok;
}

/* As it is, or else with its rows in another order. */
static bool join(former *f, run *z, prog_step *s) {
  prog_step *as = rows_first(f, s);
  if (extend(f, z, as)) return true;
  prog_step *turned = rows_in_order(f, as);
  return turned != as && extend(f, z, turned);
}

typedef struct count {
  u32 *n;
} count;
static void count_slot(void *user, u32 *slot, slot_use use) {
  (void)use;
  ((count *)user)->n[*slot]++;
}

typedef struct locals {
  former *f;
  run *z;
} locals;
static void make_local(void *user, const step_access *a) {
  locals *l = user;
  prog_slot *slot = &l->f->p->slots[a->slot];
  u32 inside = 0;
  if (!a->write || slot->kind != SLOT_WORK) return;
  for (u32 i = 0; i < l->z->r.n; i++)
    inside += prog_step_touches(&l->z->steps[i], a->slot, false) +
              prog_step_touches(&l->z->steps[i], a->slot, true);
  if (inside < 2 || inside != l->f->touches[a->slot]) return;
  slot->kind = SLOT_STRIP;
  if (prog_strips_check(l->f->p, &l->z->r, NULL)) slot->kind = SLOT_WORK;
}

static void emit_run(former *f, run *z) {
  prog_strips *r = arena_copy(f->a, &z->r, sizeof z->r);
  r->steps = arena_copy(f->a, z->steps, r->n * sizeof(prog_step));
  for (u32 i = 0; i < r->n; i++) prog_step_accesses(&r->steps[i], make_local, &(locals){f, z});
  prog_step step = r->steps[r->n - 1];
  step.kind = STEP_strips;
  step.u.strips_ = r;
  VEC_PUSH(f->scratch, f->out, step);
}

/* What goes before and after a run. */
typedef struct aside {
  prog_step *before[WINDOW], *after[WINDOW];
  u32 num_before, num_after;
} aside;

/* The first step of `list` and those that join it. What goes after is moved to where the run ends.
 * How many steps are done with; 0: there is no run. */
static u32 take_run(former *f, prog_step **list, u32 n, run *z, aside *x) {
  u32 window = n < WINDOW ? n : WINDOW, end = 1, num_before = 0, num_after = 0;
  if (!begins(f, list[0], z)) return 0;
  f->stamp++;
  mark(f, &f->run, list[0]);
  *x = (aside){.num_before = 0};
  for (u32 at = 1; at < window && at < end + IDLE; at++) {
    prog_step *s = list[at];
    bool late = depends(f, &f->after, s);
    if (!late && join(f, z, s)) {
      mark(f, &f->run, s);
      end = at + 1, x->num_before = num_before, x->num_after = num_after;
    } else if (!late && !depends(f, &f->run, s)) {
      x->before[num_before++] = s;
    } else {
      x->after[num_after++] = s;
      mark(f, &f->after, s);
    }
  }
  if (z->r.n < 2 ||
      z->bytes.written + (z->bytes.largest >= MIN_READ_BYTES ? z->bytes.largest : 0) < MIN_BYTES)
    return 0;
  memcpy(list + end - x->num_after, x->after, x->num_after * sizeof *list);
  return end - x->num_after;
}

/* What is tried is made in one place: most of it comes to nothing, and a run is copied. */
static void form(former *f, prog_step **list, u32 n) {
  run *z = n > 1 ? ARENA_NEW(f->scratch, run) : NULL;
  aside *x = n > 1 ? ARENA_NEW(f->scratch, aside) : NULL;
  while (n) {
    u32 done = n > 1 ? take_run(f, list, n, z, x) : 0;
    if (done) {
      form(f, x->before, x->num_before);
      emit_run(f, z);
    } else {
      VEC_PUSH(f->scratch, f->out, **list);
      done = 1;
    }
    list += done;
    n -= done;
  }
}

static bool stays(const prog_step *s) {
  return prog_step_jump(s) || s->kind == STEP_collective || s->kind == STEP_call;
}

bool prog_form_strips(arena *a, arena *scratch, program *p) {
  former f = {.a = a, .scratch = scratch, .p = p};
  u32 **tables[] = {&f.touches, &f.run.read, &f.run.written, &f.after.read, &f.after.written};
  for (size_t i = 0; i < COUNT(tables); i++)
    *tables[i] = arena_zalloc(scratch, (p->num_slots + 1) * sizeof(u32));
  bool *target = arena_zalloc(scratch, p->num_steps + 1);
  u32 *now = ARENA_ARRAY(scratch, u32, p->num_steps + 1);
  prog_step **list = ARENA_ARRAY(scratch, prog_step *, p->num_steps + 1);
  for (u32 t = 0; t < p->num_steps; t++) {
    const prog_jump *j = prog_step_jump(&p->steps[t]);
    for (u32 k = 0; j && k < j->n; k++) target[j->target[k]] = true;
    prog_step_slots(&p->steps[t], count_slot, &(count){f.touches});
  }
  for (u32 t = 0; t < p->num_steps; t++)
    if (p->steps[t].kind == STEP_loop)
      order_loop(&f, &p->steps[t], p->num_steps - t < WINDOW ? p->num_steps - t : WINDOW);
  for (u32 t = 0; t < p->num_steps;) {
    u32 n = 0;
    now[t] = (u32)f.out.len;
    do list[n] = &p->steps[t + n], n++;
    while (t + n < p->num_steps && !target[t + n] && !stays(list[n - 1]) &&
           !stays(&p->steps[t + n]));
    form(&f, list, n);
    t += n;
  }
  now[p->num_steps] = (u32)f.out.len;
  if (f.out.len == p->num_steps) return false;
  prog_set_steps(p, f.out.data, (u32)f.out.len, now);
  return true;
}
