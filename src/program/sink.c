/* Later steps: what is large and not needed yet is made right before it is.
 *
 * Within a run of steps without a jump, from its last step to its first: a step may go down to the
 * first one that touches what it writes, or writes over what it reads. It goes there if what it
 * makes is larger than what it would keep alive until then. Neither meetings nor calls move; the
 * others keep their order among themselves where they go to one place. */
#include "program/parts.h"

enum { LEAST_SUNK = 4096 }; /* bytes; smaller ones stay where they run as one code */

typedef struct reach {
  u32 touched, written; /* the earliest place below at which it is so; PROG_NONE: not in the run */
  u32 needed;           /* the last place; 0: nowhere below */
} reach;

typedef struct sinking {
  program *p;
  u32 *place; /* by step: the step in front of which it goes; its own number: it stays */
  reach *reach;
  u32 run_begin, run_end; /* end: the step that jumps, or the first of the next run */
  u32 *seen;              /* by slot: the run of which `reach` speaks, and one more */
  u32 *born;              /* by slot: the first step that touches it */
  /* of the step at hand */
  u32 at, lowest;
  u64 made, kept;
} sinking;

static reach *reach_of(sinking *z, u32 slot) {
  slot = prog_slot_owner(z->p, slot);
  if (z->seen[slot] != z->run_begin + 1) {
    z->seen[slot] = z->run_begin + 1;
    z->reach[slot] = (reach){PROG_NONE, PROG_NONE, 0};
  }
  return &z->reach[slot];
}

static void find_lowest(void *user, u32 *slot, slot_use use) {
  sinking *z = user;
  const reach *r = reach_of(z, *slot);
  u32 limit = use == USE_READ ? r->written : r->touched;
  if (limit < z->lowest) z->lowest = limit;
}

/* Parameters and results are there anyhow. What changes a slot goes with what makes it. */
static void weigh(void *user, u32 *slot, slot_use use) {
  sinking *z = user;
  const prog_slot *s = &z->p->slots[*slot];
  bool follows = use == USE_UPDATE && s->kind == SLOT_WORK && z->born[*slot] >= z->run_begin;
  if (use == USE_WRITE || follows) z->made += prog_slot_bytes(s);
  if (use != USE_WRITE && s->kind == SLOT_WORK && reach_of(z, *slot)->needed < z->lowest)
    z->kept += prog_slot_bytes(s);
}

static void note_birth(void *user, u32 *slot, slot_use use) {
  sinking *z = user;
  (void)use;
  if (z->born[*slot] == PROG_NONE) z->born[*slot] = z->at;
}

static void note(void *user, u32 *slot, slot_use use) {
  sinking *z = user;
  reach *r = reach_of(z, *slot);
  u32 place = z->place[z->at];
  if (place < r->touched) r->touched = place;
  if (use != USE_READ && place < r->written) r->written = place;
  if (place > r->needed) r->needed = place;
}

static bool may_move(const prog_step *s) {
  return !prog_step_jump(s) && s->kind != STEP_collective && s->kind != STEP_call;
}

static bool sink_run(sinking *z) {
  bool moved = false;
  for (z->at = z->run_end; z->at-- > z->run_begin;) {
    prog_step *s = &z->p->steps[z->at];
    z->lowest = z->run_end;
    z->made = z->kept = 0;
    if (may_move(s)) {
      prog_step_slots(s, find_lowest, z);
      if (z->lowest > z->at + 1) prog_step_slots(s, weigh, z);
      if (z->made >= LEAST_SUNK && z->made > z->kept) {
        z->place[z->at] = z->lowest;
        moved = true;
      }
    }
    prog_step_slots(s, note, z);
  }
  return moved;
}

/* Those that go to one place keep their order, and stand in front of it. */
static prog_step *in_order(const sinking *z, arena *a) {
  u32 n = z->p->num_steps;
  u32 *begin = arena_zalloc(a, (n + 2) * sizeof(u32));
  prog_step *steps = ARENA_ARRAY(a, prog_step, n + 1);
  for (u32 t = 0; t < n; t++) begin[z->place[t] + 1]++;
  for (u32 t = 0; t <= n; t++) begin[t + 1] += begin[t];
  for (u32 t = 0; t < n; t++) steps[begin[z->place[t]]++] = z->p->steps[t];
  return steps;
}

prog_step *prog_sink(arena *a, program *p) {
  u32 n = p->num_steps;
  sinking z = {.p = p,
               .place = ARENA_ARRAY(a, u32, n + 1),
               .reach = ARENA_ARRAY(a, reach, p->num_slots + 1),
               .seen = arena_zalloc(a, (p->num_slots + 1) * sizeof(u32))};
  bool *begins = arena_zalloc(a, n + 1), moved = false;
  z.born = ARENA_ARRAY(a, u32, p->num_slots + 1);
  for (u32 i = 0; i < p->num_slots; i++) z.born[i] = PROG_NONE;
  for (z.at = 0; z.at < n; z.at++) prog_step_slots(&p->steps[z.at], note_birth, &z);
  for (u32 t = 0; t < n; t++) {
    const prog_jump *j = prog_step_jump(&p->steps[t]);
    for (u32 k = 0; j && k < j->n; k++) begins[j->target[k]] = true;
    begins[t + 1] |= j != NULL;
  }
  for (u32 t = 0; t < n; t++) z.place[t] = t;
  for (u32 t = 0; t < n; t = z.run_end + (z.run_end == t)) {
    z.run_begin = z.run_end = t;
    while (z.run_end < n && !prog_step_jump(&p->steps[z.run_end]) &&
           (z.run_end == t || !begins[z.run_end]))
      z.run_end++;
    moved |= sink_run(&z);
  }
  return moved ? in_order(&z, a) : NULL;
}
