/* Proves that a plan keeps every value as long as somebody needs it.
 *
 * Which slots are needed after a step is found from the jumps alone, backwards to a fixed point
 * over runs of steps without a jump (Kildall's), so it shares nothing with the lives of plan.c.
 * Then each step is looked at: what it writes must not lie where something lies that is needed
 * later, nor, unless the step can work in place, where one of its own operands lies. What is
 * needed before the first step must be a parameter or a constant: everything else would be read
 * before it is written.
 *
 * A slot that is written piece by piece (a concatenation) counts as written by the first piece
 * if all of them together, in one run and before anyone reads it, have as many elements. */
#include <stdlib.h>

#include "program/parts.h"

typedef struct touch {
  u32 slot;
  u8 use;     /* slot_use */
  bool kills; /* what was in the slot before is not needed */
  bool via;   /* through a view of it */
} touch;

typedef struct set {
  u64 *words;
} set;

/* A set whose next and last members are found in a few steps: bit i of a level says whether word i
 * of the level below has any. */
enum { MAX_LEVELS = 6 };
typedef struct tree {
  u32 num_levels;
  size_t num_words[MAX_LEVELS];
  u64 *words[MAX_LEVELS];
} tree;

/* Where a slot lies. Only slots that may lie in others' memory have a home. */
typedef struct place {
  u32 slot, home; /* PROG_NONE: of its own, or empty */
  u32 rank;       /* of those with a home, by home, then by where they begin */
  u64 begin, end;
} place;

typedef struct flow {
  arena *a;
  const program *p;
  u32 step; /* of the walk */
  VEC(touch) touches;
  u32 begin;        /* of the step's that is looked at */
  u32 *first_touch; /* by step, and one more */
  u32 num_runs;
  u32 *run; /* first step of each, and one more */
  u32 *run_of;
  size_t num_words;
  set *live_in, *gen, *kill;   /* by run; live_in of one more: the end */
  set live, out;               /* where the walk is; when its run ends */
  place *places;               /* by slot */
  u32 *first_view, *next_view; /* by slot: of those that lie in it; by view: of the same */
  u32 *ranked;                 /* the slot of each rank */
  tree lying;                  /* ranks of live slots; these never overlap */
  status error;
  VEC(u32) dying; /* of all steps, last step first */
  u32 *num_dying; /* by step; NULL: nobody asks */
} flow;

static bool has(set s, u32 i) { return s.words[i / 64] >> (i % 64) & 1; }
static void add(set s, u32 i) { s.words[i / 64] |= 1ull << (i % 64); }
static void drop(set s, u32 i) { s.words[i / 64] &= ~(1ull << (i % 64)); }

static bool is_empty(const flow *f, u32 slot) { return prog_slot_bytes(&f->p->slots[slot]) == 0; }

/* ---- touches ---- */

static bool makes(const prog_step *s, u32 view) {
  return s->kind == STEP_dynamic && s->u.dynamic_->view && s->u.dynamic_->small == view;
}

/* A slot of which a step writes several pieces is written once. Who touches a view touches what it
 * lies in, and needs to know where that is; only the slice that makes it does not. */
static void note(void *user, u32 *slot, slot_use use) {
  flow *f = user;
  const prog_slot *s = &f->p->slots[*slot];
  if (is_empty(f, *slot) || s->kind == SLOT_STRIP) return;
  if (s->kind == SLOT_VIEW && !makes(&f->p->steps[f->step], *slot)) {
    if (use == USE_WRITE) use = USE_UPDATE;
    VEC_PUSH(f->a, f->touches, (touch){s->index, (u8)use, false, true});
  }
  for (size_t i = f->begin; i < f->touches.len && use == USE_WRITE; i++)
    if (f->touches.data[i].use == use && f->touches.data[i].slot == *slot) return;
  VEC_PUSH(f->a, f->touches, (touch){*slot, (u8)use, false, false});
}

/* How many elements of a slot that it writes a step writes, by kind: those that may write a piece
 * count it, the others write all. */
static u64 written_loop(const flow *f, const prog_loop *l, u32 slot) {
  u64 n = 0;
  (void)f;
  for (u32 i = 0; i < l->num_out; i++)
    if (l->out[i].slot == slot) n += prog_volume(l->dims, l->rank - l->reduced);
  return n;
}
static u64 written_copy(const flow *f, const prog_copy *c, u32 slot) {
  (void)f, (void)slot;
  return prog_volume(c->dims, c->rank);
}
static u64 written_dot(const flow *f, const prog_dot *d, u32 slot) {
  const prog_slot *s = &f->p->slots[slot];
  u64 n = prog_volume(d->dims, d->nb + d->nm + d->nn);
  return prog_dot_type(d, s) == s->type ? n : n / 2;
}
static u64 written_all(const flow *f, const void *payload, u32 slot) {
  (void)payload;
  return f->p->slots[slot].count;
}
#define written_dynamic written_all
#define written_gather written_all
#define written_sort written_all
#define written_window written_all
#define written_select_scatter written_all
#define written_rng written_all
#define written_collective written_all
#define written_jump written_all
#define written_jump_unless written_all
#define written_case written_all
#define written_partition_id written_all
#define written_replica_id written_all
#define written_call written_all

static u64 elements_written(const flow *f, const prog_step *s, u32 slot);
static u64 written_strips(const flow *f, const prog_strips *r, u32 slot) {
  u64 n = 0;
  for (u32 i = 0; i < r->n; i++)
    if (prog_step_touches(&r->steps[i], slot, true)) n += elements_written(f, &r->steps[i], slot);
  return n;
}

static u64 elements_written(const flow *f, const prog_step *s, u32 slot) {
  switch (s->kind) {
#define STEP(name, ...)                                                                            \
  case STEP_##name:                                                                                \
    return written_##name(f, s->u.name##_, slot);
    PROG_STEPS(STEP)
#undef STEP
  case STEP_COUNT_:
    break;
  }
  return 0;
}
u64 prog_step_writes(const program *p, const prog_step *s, u32 slot) {
  return elements_written(&(flow){.p = p}, s, slot);
}

/* A slot that is being written in pieces. */
typedef struct pieces {
  u32 run, first; /* touch; PROG_NONE: not begun */
  u64 elements;
} pieces;

static void find_kills(flow *f) {
  pieces *open = ARENA_ARRAY(f->a, pieces, f->p->num_slots);
  for (u32 i = 0; i < f->p->num_slots; i++) open[i] = (pieces){PROG_NONE, PROG_NONE, 0};
  for (u32 t = 0; t < f->p->num_steps; t++) {
    touch *begin = f->touches.data + f->first_touch[t];
    touch *end = f->touches.data + f->first_touch[t + 1];
    for (touch *x = begin; x < end; x++)
      if (x->use != USE_WRITE) open[x->slot].first = PROG_NONE;
    for (touch *x = begin; x < end; x++) {
      if (x->use != USE_WRITE) continue;
      pieces *o = &open[x->slot];
      if (o->first == PROG_NONE || o->run != f->run_of[t])
        *o = (pieces){f->run_of[t], (u32)(x - f->touches.data), 0};
      o->elements += elements_written(f, &f->p->steps[t], x->slot);
      if (o->elements >= f->p->slots[x->slot].count) f->touches.data[o->first].kills = true;
    }
  }
}

static void find_views(flow *f) {
  const program *p = f->p;
  f->first_view = ARENA_ARRAY(f->a, u32, p->num_slots + 1);
  f->next_view = ARENA_ARRAY(f->a, u32, p->num_slots + 1);
  for (u32 i = 0; i < p->num_slots; i++) f->first_view[i] = PROG_NONE;
  for (u32 i = 0; i < p->num_slots; i++) {
    const prog_slot *s = &p->slots[i];
    if (s->kind != SLOT_VIEW) continue;
    f->next_view[i] = f->first_view[s->index];
    f->first_view[s->index] = i;
  }
}

static void find_touches(flow *f) {
  const program *p = f->p;
  f->first_touch = ARENA_ARRAY(f->a, u32, p->num_steps + 1);
  for (u32 t = 0; t < p->num_steps; t++) {
    f->first_touch[t] = f->begin = (u32)f->touches.len;
    f->step = t;
    prog_step_slots(&p->steps[t], note, f);
  }
  f->first_touch[p->num_steps] = (u32)f->touches.len;
}

/* ---- runs, and what is needed between them ---- */

static void find_runs(flow *f) {
  const program *p = f->p;
  bool *begins = arena_zalloc(f->a, p->num_steps + 1);
  begins[0] = true;
  for (u32 t = 0; t < p->num_steps; t++) {
    const prog_jump *j = prog_step_jump(&p->steps[t]);
    for (u32 k = 0; j && k < j->n; k++) begins[j->target[k]] = true;
    if (j) begins[t + 1] = true;
  }
  f->run = ARENA_ARRAY(f->a, u32, p->num_steps + 2);
  f->run_of = ARENA_ARRAY(f->a, u32, p->num_steps + 1);
  for (u32 t = 0; t < p->num_steps; t++) {
    if (begins[t]) f->run[f->num_runs++] = t;
    f->run_of[t] = f->num_runs - 1;
  }
  f->run[f->num_runs] = p->num_steps;
  f->run_of[p->num_steps] = f->num_runs;
}

static set new_set(flow *f) { return (set){arena_zalloc(f->a, f->num_words * sizeof(u64))}; }

/* into = what is needed when run r ends */
static void live_out(const flow *f, u32 r, set into) {
  memset(into.words, 0, f->num_words * sizeof(u64));
  const prog_step *last = &f->p->steps[f->run[r + 1] - 1];
  const prog_jump *j = prog_step_jump(last);
  for (u32 k = 0; j && k < j->n; k++) {
    const u64 *from = f->live_in[f->run_of[j->target[k]]].words;
    for (size_t w = 0; w < f->num_words; w++) into.words[w] |= from[w];
  }
  if (!prog_step_goes_on(last)) return;
  for (size_t w = 0; w < f->num_words; w++) into.words[w] |= f->live_in[r + 1].words[w];
}

static void find_gen_and_kill(flow *f, u32 r) {
  f->gen[r] = new_set(f);
  f->kill[r] = new_set(f);
  for (u32 t = f->run[r + 1]; t-- > f->run[r];) {
    const touch *begin = f->touches.data + f->first_touch[t];
    const touch *end = f->touches.data + f->first_touch[t + 1];
    for (const touch *x = begin; x < end; x++)
      if (x->kills) drop(f->gen[r], x->slot), add(f->kill[r], x->slot);
    for (const touch *x = begin; x < end; x++)
      if (!x->kills) add(f->gen[r], x->slot);
  }
}

static void find_live(flow *f) {
  const program *p = f->p;
  f->num_words = (p->num_slots + 63) / 64;
  f->live_in = ARENA_ARRAY(f->a, set, f->num_runs + 1);
  f->gen = ARENA_ARRAY(f->a, set, f->num_runs);
  f->kill = ARENA_ARRAY(f->a, set, f->num_runs);
  for (u32 r = 0; r <= f->num_runs; r++) f->live_in[r] = new_set(f);
  for (u32 r = 0; r < f->num_runs; r++) find_gen_and_kill(f, r);
  for (u32 i = 0; i < p->num_slots; i++)
    if (p->slots[i].kind == SLOT_RESULT && !is_empty(f, i)) add(f->live_in[f->num_runs], i);
  f->live = new_set(f);
  f->out = new_set(f);
  for (bool again = true; again;) {
    again = false;
    for (u32 r = f->num_runs; r-- > 0;) {
      live_out(f, r, f->live);
      for (size_t w = 0; w < f->num_words; w++) {
        u64 in = f->gen[r].words[w] | (f->live.words[w] & ~f->kill[r].words[w]);
        again |= in != f->live_in[r].words[w];
        f->live_in[r].words[w] = in;
      }
    }
  }
}

/* ---- where they lie ---- */

static void fail(flow *f, u32 t, const char *what, u32 slot, u32 other) {
  if (f->error) return;
  const prog_step *s = &f->p->steps[t];
  f->error = status_make(STATUS_INVALID_ARGUMENT, STR_FMT ": " STR_FMT ": slot %u %s slot %u",
                         STR_ARG(s->loc), STR_ARG(s->name), slot, what, other);
}

static tree new_tree(arena *a, u32 n) {
  tree t = {0};
  do {
    n = n / 64 + 2; /* where one may look, one more */
    t.num_words[t.num_levels] = n;
    t.words[t.num_levels++] = arena_zalloc(a, n * sizeof(u64));
  } while (n > 2);
  return t;
}

static void tree_clear(tree *t) {
  for (u32 k = 0; k < t->num_levels; k++) memset(t->words[k], 0, t->num_words[k] * sizeof(u64));
}

static void tree_add(tree *t, u32 i) {
  for (u32 k = 0; k < t->num_levels; k++, i /= 64) t->words[k][i / 64] |= 1ull << (i % 64);
}

static void tree_drop(tree *t, u32 i) {
  for (u32 k = 0; k < t->num_levels; k++, i /= 64)
    if (t->words[k][i / 64] &= ~(1ull << (i % 64))) return;
}

/* The first from i on, the last before i; PROG_NONE: there is none. */
static u32 tree_from(const tree *t, u32 i) {
  for (u32 k = 0; k < t->num_levels; k++, i = i / 64 + 1) {
    u64 w = t->words[k][i / 64] >> (i % 64);
    if (!w) continue;
    i += (u32)__builtin_ctzll(w);
    while (k-- > 0) i = i * 64 + (u32)__builtin_ctzll(t->words[k][i]);
    return i;
  }
  return PROG_NONE;
}
static u32 tree_before(const tree *t, u32 i) {
  for (u32 k = 0; k < t->num_levels; k++, i /= 64) {
    u64 w = t->words[k][i / 64] & ((1ull << (i % 64)) - 1);
    if (!w) continue;
    i = i / 64 * 64 + 63 - (u32)__builtin_clzll(w);
    while (k-- > 0) i = i * 64 + 63 - (u32)__builtin_clzll(t->words[k][i]);
    return i;
  }
  return PROG_NONE;
}

static int by_place(const void *x, const void *y) {
  const place *a = x, *b = y;
  if (a->home != b->home) return a->home < b->home ? -1 : 1;
  if (a->begin != b->begin) return a->begin < b->begin ? -1 : 1;
  return a->slot < b->slot ? -1 : 1;
}

/* The workspace counts as shared, and what several slots are in. */
static void find_places(flow *f) {
  const program *p = f->p;
  size_t num_homes = (size_t)1 + p->num_params + p->num_results;
  u32 *count = arena_zalloc(f->a, num_homes * sizeof(u32)), n = 0;
  place *list = ARENA_ARRAY(f->a, place, p->num_slots);
  f->places = ARENA_ARRAY(f->a, place, p->num_slots);
  f->ranked = ARENA_ARRAY(f->a, u32, p->num_slots);
  for (u32 i = 0; i < p->num_slots; i++) {
    u64 begin = prog_slot_begin(&p->slots[i]);
    f->places[i] =
        (place){i, prog_slot_home(p, i), PROG_NONE, begin, begin + prog_slot_bytes(&p->slots[i])};
    if (f->places[i].home != PROG_NONE) count[f->places[i].home]++;
  }
  for (u32 i = 0; i < p->num_slots; i++) {
    u32 *home = &f->places[i].home;
    if (*home != PROG_NONE && ((*home && count[*home] < 2) || is_empty(f, i))) *home = PROG_NONE;
    if (*home != PROG_NONE) list[n++] = f->places[i];
  }
  if (n) qsort(list, n, sizeof *list, by_place);
  for (u32 r = 0; r < n; r++) {
    f->ranked[r] = list[r].slot;
    f->places[list[r].slot].rank = r;
  }
  f->lying = new_tree(f->a, n);
}

/* Of two that are not empty. */
static bool overlap(const flow *f, u32 a, u32 b) {
  const place *x = &f->places[a], *y = &f->places[b];
  return x->home != PROG_NONE && x->home == y->home && x->begin < y->end && y->begin < x->end;
}

/* A needed slot that lies where `slot` does; PROG_NONE: none. As those do not overlap, only the
 * last that begins before it can reach into it. */
static u32 lies_over(const flow *f, u32 slot) {
  u32 rank = f->places[slot].rank;
  if (rank == PROG_NONE) return PROG_NONE;
  u32 near[] = {tree_before(&f->lying, rank), tree_from(&f->lying, rank + 1)};
  for (u32 i = 0; i < COUNT(near); i++)
    if (near[i] != PROG_NONE && overlap(f, slot, f->ranked[near[i]])) return f->ranked[near[i]];
  return PROG_NONE;
}

static void begin_living(flow *f, u32 t, u32 slot) {
  if (has(f->live, slot)) return;
  u32 other = lies_over(f, slot);
  if (other != PROG_NONE) {
    fail(f, t, "is needed at the same time and place as", slot, other);
    return;
  }
  add(f->live, slot);
  if (f->places[slot].rank != PROG_NONE) tree_add(&f->lying, f->places[slot].rank);
}

static void end_living(flow *f, u32 slot) {
  if (!has(f->live, slot)) return;
  drop(f->live, slot);
  if (f->places[slot].rank != PROG_NONE) tree_drop(&f->lying, f->places[slot].rank);
}

/* ---- the steps of a run, last first ---- */

/* What a step writes of a slot that others lie in: by itself none of these may be needed, nor
 * touched; through a view, no other one, nor the slot itself. */
static void check_views(flow *f, u32 t, const touch *x) {
  const touch *begin = f->touches.data + f->first_touch[t];
  const touch *end = f->touches.data + f->first_touch[t + 1];
  u32 written = PROG_NONE;
  if (f->first_view[x->slot] == PROG_NONE) return;
  for (const touch *y = begin; y < end && x->via; y++) {
    const prog_slot *s = &f->p->slots[y->slot];
    if (y->slot == x->slot && !y->via)
      fail(f, t, "is written through a view beside", x->slot, x->slot);
    if (s->kind == SLOT_VIEW && s->index == x->slot && y->use != USE_READ) written = y->slot;
  }
  for (u32 v = f->first_view[x->slot]; v != PROG_NONE; v = f->next_view[v])
    if (v != written && has(f->live, v))
      fail(f, t, "is written over, while there lies", x->slot, v);
  for (const touch *y = begin; y < end; y++)
    if (y->slot != written && f->p->slots[y->slot].kind == SLOT_VIEW &&
        f->p->slots[y->slot].index == x->slot)
      fail(f, t, "is written beside its view", x->slot, y->slot);
}

/* What step t writes with x, beside all else that it touches. */
static void check_write(flow *f, u32 t, const touch *x) {
  const prog_step *s = &f->p->steps[t];
  u32 other = lies_over(f, x->slot);
  if (other != PROG_NONE) fail(f, t, "is written over, while needed,", x->slot, other);
  check_views(f, t, x);
  for (u32 i = f->first_touch[t]; i < f->first_touch[t + 1]; i++) {
    const touch *y = &f->touches.data[i];
    if (y->slot == x->slot || !overlap(f, x->slot, y->slot)) continue;
    const prog_slot *a = &f->p->slots[x->slot], *b = &f->p->slots[y->slot];
    bool same =
        dtype_size(a->type) == dtype_size(b->type) && prog_slot_begin(a) == prog_slot_begin(b);
    bool itself = prog_step_is_move(f->p, s),
         in_place = prog_step_in_place(f->p, s, y->slot, x->slot);
    if (x->via || y->use != USE_READ || !same || (!itself && !in_place))
      fail(f, t, "is written in the place of", x->slot, y->slot);
  }
}

static void note_dying(flow *f, u32 t) {
  for (u32 i = f->first_touch[t]; i < f->first_touch[t + 1]; i++) {
    u32 slot = f->touches.data[i].slot;
    if (f->p->slots[slot].kind != SLOT_WORK || has(f->live, slot)) continue;
    if (lies_over(f, slot) != PROG_NONE) continue;
    VEC_PUSH(f->a, f->dying, slot);
    f->num_dying[t]++;
  }
}

/* Backwards: what the step writes is looked at while what is needed after it lives, then what it
 * makes ends and what it reads begins. */
static void check_step(flow *f, u32 t) {
  const touch *begin = f->touches.data + f->first_touch[t];
  const touch *end = f->touches.data + f->first_touch[t + 1];
  if (f->num_dying) note_dying(f, t);
  for (const touch *x = begin; x < end; x++)
    if (x->use != USE_READ) check_write(f, t, x);
  for (const touch *x = begin; x < end; x++)
    if (x->kills) end_living(f, x->slot);
  for (const touch *x = begin; x < end; x++)
    if (!x->kills) begin_living(f, t, x->slot);
}

static void check_run(flow *f, u32 r) {
  u32 last = f->run[r + 1] - 1;
  live_out(f, r, f->out);
  memset(f->live.words, 0, f->num_words * sizeof(u64));
  tree_clear(&f->lying);
  for (u32 i = 0; i < f->p->num_slots; i++)
    if (has(f->out, i)) begin_living(f, last, i);
  for (u32 t = f->run[r + 1]; t-- > f->run[r] && !f->error;) check_step(f, t);
}

/* What would be needed before the first step. */
static void check_begin(flow *f) {
  for (u32 i = 0; i < f->p->num_slots && !f->error; i++) {
    prog_slot_kind kind = f->p->slots[i].kind;
    if (!has(f->live_in[0], i) || kind == SLOT_PARAM || kind == SLOT_CONST) continue;
    f->error = status_make(STATUS_INVALID_ARGUMENT, "slot %u may be read before it is written", i);
  }
}

/* Touches, then runs, as kills are looked for within a run, then liveness; then each run is
 * walked once. */
static void follow(flow *f) {
  find_views(f);
  find_touches(f);
  find_places(f);
  find_runs(f);
  find_kills(f);
  find_live(f);
  check_begin(f);
  for (u32 r = f->num_runs; r-- > 0 && !f->error;) check_run(f, r);
}

status prog_check_flow(arena *a, const program *p) {
  flow f = {.a = a, .p = p};
  follow(&f);
  return f.error;
}

/* For programs that were proved: an error cannot be. Deaths were noted last step first, and are
 * turned. */
prog_deaths prog_find_deaths(arena *a, const program *p) {
  flow f = {.a = a, .p = p, .num_dying = arena_zalloc(a, (p->num_steps + 1) * sizeof(u32))};
  follow(&f);
  status_free(f.error);
  prog_deaths d = {ARENA_ARRAY(a, u32, p->num_steps + 1), ARENA_ARRAY(a, u32, f.dying.len)};
  u32 at = (u32)f.dying.len;
  for (u32 t = 0, n = 0; t < p->num_steps; t++) {
    d.begin[t] = n;
    at -= f.num_dying[t];
    for (u32 i = 0; i < f.num_dying[t]; i++) d.slots[n++] = f.dying.data[at + i];
  }
  d.begin[p->num_steps] = (u32)f.dying.len;
  return d;
}
