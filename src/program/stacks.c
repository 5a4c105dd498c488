/* What a loop stacks lies where what it reads row by row lay: each row is read before the one that
 * takes its place is written. So the caches of a loop over layers, donated, are updated in place,
 * and gradients lie where the values were. */
#include "program/parts.h"

typedef struct stacker {
  program *p;
  const slot_life *lives;
  prog_touches touches;
} stacker;

typedef struct stack {
  u32 slot, start, update; /* it has nothing in it from step `start` on; where it gets a row */
  u32 begin, end;          /* of the loop */
  u32 move;                /* a last one of it all to a result; PROG_NONE: it does not end so */
} stack;

static bool is_undefined(const prog_step *s) {
  return s->kind == STEP_call && !s->u.call_->host && str_is(s->u.call_->target, "undefined");
}

/* A whole row at the index that d->start[0] has. Then it is another one in each turn of the loop:
 * what is undefined at first gets each of its rows in one. */
static bool is_row(const program *p, const prog_dynamic *d) {
  for (u32 k = 1; k < d->rank; k++)
    if (d->small_dims[k] != d->big_dims[k]) return false;
  return d->rank > 0 && d->small_dims[0] == 1 && !d->turns && !d->view &&
         p->slots[d->small].kind == SLOT_WORK;
}

static bool find_loop(const program *p, stack *k) {
  for (k->end = k->update; k->end < p->num_steps; k->end++) {
    const prog_jump *j = prog_step_jump(&p->steps[k->end]);
    for (u32 i = 0; j && i < j->n; i++)
      if ((k->begin = j->target[i]) <= k->update) return true;
  }
  return false;
}

/* Of what nobody but the loop's one update touches before its end. */
static bool find_stack(const stacker *x, u32 t, stack *k) {
  const program *p = x->p;
  u32 slot = p->steps[t].u.call_->out[0].slot;
  const prog_touch *list = x->touches.list + x->touches.begin[slot];
  u32 n = x->touches.begin[slot + 1] - x->touches.begin[slot];
  *k = (stack){.slot = slot, .start = t, .move = PROG_NONE};
  const prog_slot *of = &p->slots[slot];
  bool ends = of->kind == SLOT_RESULT && of->alias < 0;
  if ((of->kind != SLOT_WORK && !ends) || n < 2 || list[0].step != t) return false;
  const prog_step *s = &p->steps[k->update = list[1].step], *last = &p->steps[list[n - 1].step];
  if (list[1].use != USE_UPDATE || s->kind != STEP_dynamic || !is_row(p, s->u.dynamic_) ||
      !find_loop(p, k) || k->begin <= t)
    return false;
  if (prog_step_is_move(p, last) && last->u.copy_->src.slot == slot) k->move = list[n - 1].step;
  return n == 2 || list[2].step > k->end;
}

/* Whether the stack goes back to `from` when the loop is over, as an outer loop carries it. */
static bool comes_back(const stacker *x, const stack *k, u32 from) {
  return k->move != PROG_NONE && x->p->steps[k->move].u.copy_->dst.slot == from;
}

/* Whether `from` is read in the loop by rows only, each before the stack's own one is written, and
 * needed by nobody later; *last: who touches it last in front of the loop. */
static bool may_lend(const stacker *x, const stack *k, u32 from, u32 *last) {
  const program *p = x->p;
  const prog_dynamic *d = p->steps[k->update].u.dynamic_;
  bool back = comes_back(x, k, from);
  u32 read = PROG_NONE, owner = prog_slot_owner(p, from);
  *last = 0;
  if (!back && x->lives[from].last > k->end) return false;
  for (u32 i = x->touches.begin[owner]; i < x->touches.begin[owner + 1]; i++) {
    u32 t = x->touches.list[i].step;
    const prog_step *s = &p->steps[t];
    if (t == k->move || (back && t > k->move)) continue; /* or as the result that takes it over */
    if (t < k->begin) {
      *last = t;
      if (back && t > k->start && x->touches.list[i].use != USE_READ) return false;
    } else if (t > k->end || s->kind != STEP_dynamic || s->u.dynamic_->update ||
               s->u.dynamic_->big != from || !prog_same_part(s->u.dynamic_, d) || t >= k->update) {
      return false;
    } else if (read == PROG_NONE) {
      read = t;
    }
  }
  return read != PROG_NONE && !prog_is_touched(&x->touches, d->start[0], read, k->update, true);
}

/* Steps first to last, which are done in order. */
static bool is_straight(const program *p, u32 first, u32 last) {
  for (u32 t = 0; t < p->num_steps; t++) {
    const prog_jump *j = prog_step_jump(&p->steps[t]);
    if (j && t >= first && t < last) return false;
    for (u32 k = 0; j && k < j->n; k++)
      if (j->target[k] > first && j->target[k] <= last) return false;
  }
  return true;
}

/* Workspace, or a parameter whose memory the stack goes to in the end, or what it goes back to. */
static bool is_free(const stacker *x, const stack *k, u32 from) {
  const program *p = x->p;
  const prog_slot *s = &p->slots[from], *of = &p->slots[k->slot];
  if (s->type != of->type || s->count != of->count || from == k->slot) return false;
  if (comes_back(x, k, from)) return of->kind == SLOT_WORK && is_straight(p, k->end + 1, k->move);
  if (s->kind != SLOT_PARAM || k->move == PROG_NONE) return s->kind == SLOT_WORK;
  u32 to = p->steps[k->move].u.copy_->dst.slot;
  return p->slots[to].kind == SLOT_RESULT && p->slots[to].alias == (i32)s->index &&
         x->lives[to].first == k->move;
}

/* The stack begins as a copy of `from`, made behind step `last`, which the planner makes one. */
static void begin_as(arena *a, program *p, const stack *k, u32 from, u32 last) {
  prog_copy *c = ARENA_NEW(a, prog_copy);
  prog_step move = p->steps[k->start];
  c->rank = 1;
  c->dims[0] = (i64)p->slots[from].count;
  c->src = (prog_access){.slot = from, .stride = {1}};
  c->dst = (prog_access){.slot = k->slot, .stride = {1}};
  move.kind = STEP_copy;
  move.u.copy_ = c;
  u32 at = last > k->start ? last : k->start;
  memmove(&p->steps[k->start], &p->steps[k->start + 1], (at - k->start) * sizeof move);
  p->steps[at] = move;
  for (u32 t = k->begin; t < k->update; t++) prog_step_rename(&p->steps[t], from, k->slot);
}

/* The stack is what it goes back to. */
static void be_same(program *p, const stack *k, u32 from) {
  p->steps[k->start] = p->steps[k->move]; /* which becomes idle, too */
  for (u32 t = k->start + 1; t <= k->move; t++) prog_step_rename(&p->steps[t], k->slot, from);
}

bool prog_join_stacks(arena *a, arena *scratch, program *p, const slot_life *lives) {
  stacker x = {.p = p, .lives = lives};
  stack k;
  for (u32 t = 0; t < p->num_steps; t++) {
    if (!is_undefined(&p->steps[t])) continue;
    if (!x.touches.list) x.touches = prog_find_touches(scratch, p);
    if (!find_stack(&x, t, &k)) continue;
    for (u32 i = k.begin; i < k.update; i++) {
      const prog_step *s = &p->steps[i];
      u32 from = s->kind == STEP_dynamic ? s->u.dynamic_->big : k.slot, last;
      if (!is_free(&x, &k, from) || !may_lend(&x, &k, from, &last)) continue;
      bool back = comes_back(&x, &k, from);
      if (!back && last > t && !is_straight(p, t, last)) continue;
      if (back)
        be_same(p, &k, from);
      else
        begin_as(a, p, &k, from, last);
      return true;
    }
  }
  return false;
}
