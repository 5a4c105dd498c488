/* Parts at offsets of the run that are not copied: their slot is a view, which a step puts where
 * the part begins. So a loop over layers reads each one's weights where they lie, and what a loop
 * stacks is computed in its place of the stack. */
#include "program/parts.h"

enum { LEAST = 16 << 10, LINE = 64 }; /* bytes: what is worth it; what slots begin at */

static bool lies_together(const prog_dynamic *d) {
  u32 k = 0;
  while (k < d->rank && d->small_dims[k] == 1) k++;
  for (k++; k < d->rank; k++)
    if (d->small_dims[k] != d->big_dims[k]) return false;
  return !d->turns;
}

static u32 root_of(const program *p, u32 slot) {
  return p->slots[slot].kind == SLOT_VIEW ? p->slots[slot].index : slot;
}

/* Wherever it begins, it begins with a line, as slots do. */
static bool is_aligned(const prog_dynamic *d, u64 width) {
  u64 bytes = width;
  for (u32 k = d->rank; k-- > 0; bytes *= (u64)d->big_dims[k])
    if (d->small_dims[k] != d->big_dims[k] && bytes % LINE) return false;
  return true;
}

bool prog_lies_somewhere(const program *p, const prog_slot *s) {
  return s->kind != SLOT_VIEW || (s->index < p->num_slots && p->slots[s->index].kind != SLOT_VIEW);
}

bool prog_may_write(const program *p, u32 slot) {
  const prog_slot *s = &p->slots[slot];
  if (s->kind == SLOT_VIEW && !(s = &p->slots[s->index])->lent) return false;
  return s->kind == SLOT_WORK || s->kind == SLOT_RESULT || s->kind == SLOT_STRIP;
}

bool prog_may_slice(const prog_slot *big, const prog_slot *small, const prog_dynamic *d) {
  bool whole = d->rank == 0 && !d->update && prog_slot_bytes(big) == prog_slot_bytes(small);
  return whole || dtype_size(big->type) == dtype_size(small->type);
}

bool prog_makes_view(const program *p, const prog_dynamic *d) {
  const prog_slot *small = &p->slots[d->small];
  return !d->update && small->kind == SLOT_VIEW && small->index == root_of(p, d->big) &&
         lies_together(d) && is_aligned(d, dtype_size(small->type));
}

typedef struct made {
  prog_step step;
  struct made *next;
} made;

typedef struct viewer {
  arena *a, *out; /* out: what the steps have */
  program *p;
  const slot_life *lives;
  prog_touches touches;
  bool *taken; /* by parameter: a result is written there */
  bool *holds; /* by slot: a view lies in it */
  u32 *run;    /* by step: those of one number are done in order */
  u32 *until;  /* by slot: a view through which it is written is needed until this step */
  made **made; /* by step: what goes in front of it */
  bool *gone;  /* by step: there is nothing left to do */
} viewer;

static viewer begin_views(arena *a, program *p, const slot_life *lives) {
  return (viewer){.a = a,
                  .p = p,
                  .lives = lives,
                  .touches = prog_find_touches(a, p),
                  .holds = arena_zalloc(a, p->num_slots + 1)};
}

/* Whether a part's slot could be a view. */
static bool could_be(const viewer *v, const prog_dynamic *d) {
  const prog_slot *small = &v->p->slots[d->small];
  return small->kind == SLOT_WORK && prog_slot_bytes(small) >= LEAST && lies_together(d) &&
         is_aligned(d, dtype_size(small->type)) && !v->holds[d->small] &&
         !v->lives[d->small].read_first;
}

static void make_view(viewer *v, prog_dynamic *d) {
  u32 root = root_of(v->p, d->big);
  prog_slot *small = &v->p->slots[d->small];
  d->view = true;
  v->holds[root] = true;
  small->kind = SLOT_VIEW;
  small->index = root;
}

/* ---- parts that are read ---- */

/* Whether a slot keeps its memory, and what is there, from behind step `first` to `last`. */
static bool stays(const viewer *v, u32 slot, u32 first, u32 last) {
  const prog_slot *s = &v->p->slots[slot];
  if (s->kind == SLOT_CONST || (s->kind == SLOT_PARAM && !v->taken[s->index])) return true;
  return v->lives[slot].last > last && !prog_is_touched(&v->touches, slot, first + 1, last, true);
}

static u32 count_writes(const viewer *v, u32 slot) {
  u32 n = 0;
  for (u32 i = v->touches.begin[slot]; i < v->touches.begin[slot + 1]; i++)
    n += v->touches.list[i].use != USE_READ;
  return n;
}

/* What is seen whole, as of another type, may live as long. */
static bool may_stay(const viewer *v, u32 slot, u32 first, u32 last) {
  return v->p->slots[slot].kind == SLOT_WORK &&
         !prog_is_touched(&v->touches, slot, first + 1, last, true) &&
         !prog_is_touched(&v->touches, slot, last, last, false);
}

static void look_at_slice(viewer *v, u32 t, prog_dynamic *d, slot_life *lives) {
  const slot_life *l = &lives[d->small];
  u32 root = root_of(v->p, d->big);
  if (d->update || d->view || !could_be(v, d) || l->first != t || count_writes(v, d->small) != 1)
    return;
  bool stay = stays(v, root, t, l->last);
  if (!stay && (d->rank || !may_stay(v, root, t, l->last))) return;
  if (!stay && lives[root].last < l->last) lives[root].last = l->last;
  make_view(v, d);
}

void prog_view_slices(arena *scratch, program *p, slot_life *lives) {
  viewer v = begin_views(scratch, p, lives);
  v.taken = arena_zalloc(scratch, p->num_params + 1);
  for (u32 i = 0; i < p->num_results; i++) {
    i32 alias = p->slots[p->result_slot[i]].alias;
    if (alias >= 0) v.taken[alias] = true;
  }
  for (u32 t = 0; t < p->num_steps; t++)
    if (p->steps[t].kind == STEP_dynamic) look_at_slice(&v, t, p->steps[t].u.dynamic_, lives);
}

/* ---- parts that are written ---- */

static void find_runs(viewer *v) {
  const program *p = v->p;
  bool *begins = arena_zalloc(v->a, p->num_steps + 1);
  v->run = ARENA_ARRAY(v->a, u32, p->num_steps + 1);
  for (u32 t = 0; t < p->num_steps; t++) {
    const prog_jump *j = prog_step_jump(&p->steps[t]);
    for (u32 k = 0; j && k < j->n; k++) begins[j->target[k]] = true;
    if (j) begins[t + 1] = true;
  }
  for (u32 t = 0, run = 0; t < p->num_steps; t++) v->run[t] = run += begins[t];
}

bool prog_same_part(const prog_dynamic *a, const prog_dynamic *b) {
  size_t n = a->rank;
  return a->rank == b->rank && !memcmp(a->start, b->start, n * sizeof *a->start) &&
         !memcmp(a->big_dims, b->big_dims, n * sizeof *a->big_dims) &&
         !memcmp(a->small_dims, b->small_dims, n * sizeof *a->small_dims);
}

/* Whether step t begins with what is in the part, which d writes back. */
static bool takes_part(const viewer *v, u32 t, const prog_dynamic *d) {
  const prog_step *s = &v->p->steps[t];
  const prog_dynamic *x = s->kind == STEP_dynamic ? s->u.dynamic_ : NULL;
  return x && !x->update && !x->turns && x->big == d->big && x->small == d->small &&
         prog_same_part(x, d);
}

typedef struct donor_search {
  const viewer *v;
  const prog_dynamic *d;
  u32 step, found;
  bool written; /* the step makes what d puts there */
} donor_search;
/* What was taken from the part that d writes, and could become what d puts there. */
static void find_donor(void *user, u32 *slot, slot_use use) {
  donor_search *s = user;
  const program *p = s->v->p;
  const slot_life *l = &s->v->lives[*slot];
  const prog_slot *in = &p->slots[*slot], *small = &p->slots[s->d->small];
  prog_dynamic as_taken = *s->d;
  as_taken.small = *slot;
  s->written |= use != USE_READ && *slot == s->d->small;
  if (use == USE_READ && in->kind == SLOT_WORK && in->type == small->type &&
      in->count == small->count && l->last == s->step && l->first < s->step &&
      takes_part(s->v, l->first, &as_taken) &&
      prog_step_in_place(p, &p->steps[s->step], *slot, s->d->small))
    s->found = *slot;
}

bool prog_join_parts(arena *scratch, program *p, const slot_life *lives) {
  viewer v = {.p = p, .lives = lives};
  bool *joined = arena_zalloc(scratch, p->num_slots + 1), any = false;
  for (u32 t = 0; t < p->num_steps; t++) {
    const prog_dynamic *d = p->steps[t].kind == STEP_dynamic ? p->steps[t].u.dynamic_ : NULL;
    if (!d || !d->update || p->slots[d->small].kind != SLOT_WORK) continue;
    const slot_life *l = &lives[d->small];
    donor_search s = {.v = &v, .d = d, .step = l->first, .found = PROG_NONE};
    u32 from = d->small;
    if (l->read_first || l->first >= t || prog_slot_bytes(&p->slots[from]) < LEAST) continue;
    prog_step_donors(&p->steps[l->first], from, find_donor, &s);
    if (s.found == PROG_NONE || !s.written || joined[s.found] || joined[from]) continue;
    joined[s.found] = joined[from] = any = true;
    for (u32 k = l->first; k <= l->last && k < p->num_steps; k++)
      prog_step_rename(&p->steps[k], from, s.found);
  }
  return any;
}

/* Who writes it is done before the next step begins, and meets nobody. */
static bool may_write(const viewer *v, u32 slot) {
  for (u32 i = v->touches.begin[slot]; i < v->touches.begin[slot + 1]; i++) {
    const prog_step *s = &v->p->steps[v->touches.list[i].step];
    if (v->touches.list[i].use == USE_READ) continue;
    if (s->kind == STEP_collective || (s->kind == STEP_call && s->u.call_->host)) return false;
  }
  return true;
}

/* Whether step t may write its part of `big` from step `first` on, as nobody would see it, nor
 * change where that is; until step `last` the part stays. */
static bool is_unseen(const viewer *v, u32 t, const prog_dynamic *d, u32 first, u32 last) {
  u32 owner = prog_slot_owner(v->p, d->big), from = first + takes_part(v, first, d);
  const prog_touches *x = &v->touches;
  if (v->run[first] != v->run[last] || prog_is_touched(x, owner, from, t - 1, false) ||
      prog_is_touched(x, owner, t + 1, last, true) ||
      prog_is_touched(x, d->small, t + 1, last, true) || first < v->until[owner])
    return false;
  for (u32 k = 0; k < d->rank; k++)
    if (prog_is_touched(x, d->start[k], first, t - 1, true)) return false;
  return true;
}

static bool look_at_update(viewer *v, u32 t) {
  program *p = v->p;
  const prog_step *s = &p->steps[t];
  const prog_dynamic *d = s->u.dynamic_;
  const slot_life *l = &v->lives[d->small];
  prog_slot *big = &p->slots[d->big];
  if (!d->update || (big->kind != SLOT_WORK && big->kind != SLOT_RESULT) || !could_be(v, d) ||
      l->first >= t || v->lives[d->big].last <= l->last || !is_unseen(v, t, d, l->first, l->last) ||
      !may_write(v, d->small))
    return false;
  v->until[prog_slot_owner(p, d->big)] = l->last + 1;
  v->gone[t] = true;
  big->lent = true;
  if (takes_part(v, l->first, d)) {
    make_view(v, p->steps[l->first].u.dynamic_);
    return true;
  }
  prog_dynamic *view = arena_copy(v->out, d, sizeof *d);
  view->update = false;
  make_view(v, view);
  made *m = ARENA_NEW(v->a, made);
  *m = (made){*s, v->made[l->first]};
  m->step.u.dynamic_ = view;
  v->made[l->first] = m;
  return true;
}

static void put_in(viewer *v) {
  program *p = v->p; /* as much goes in front of steps as is gone, or less */
  prog_step *steps = ARENA_ARRAY(v->a, prog_step, p->num_steps + 1);
  u32 *now = ARENA_ARRAY(v->a, u32, p->num_steps + 1), n = 0;
  for (u32 t = 0; t < p->num_steps; t++) {
    now[t] = n;
    for (const made *m = v->made[t]; m; m = m->next) steps[n++] = m->step;
    if (!v->gone[t]) steps[n++] = p->steps[t];
  }
  now[p->num_steps] = n;
  prog_set_steps(p, steps, n, now);
}

bool prog_view_updates(arena *a, arena *scratch, program *p, const slot_life *lives) {
  bool any = false;
  for (u32 t = 0; t < p->num_steps && !any; t++)
    any = p->steps[t].kind == STEP_dynamic && p->steps[t].u.dynamic_->update;
  if (!any) return false;
  viewer v = begin_views(scratch, p, lives);
  v.out = a;
  v.until = arena_zalloc(scratch, (p->num_slots + 1) * sizeof(u32));
  v.made = arena_zalloc(scratch, (p->num_steps + 1) * sizeof(made *));
  v.gone = arena_zalloc(scratch, p->num_steps + 1);
  find_runs(&v);
  any = false;
  for (u32 t = 0; t < p->num_steps; t++)
    if (p->steps[t].kind == STEP_dynamic) any |= look_at_update(&v, t);
  if (any) put_in(&v);
  return any;
}
