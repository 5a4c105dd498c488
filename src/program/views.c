/* Slices at offsets of the run that are not copied: the slot is a view, which the step puts where
 * the slice begins. So a loop over layers reads each one's weights where they lie. */
#include "program/parts.h"

enum { LEAST = 16 << 10, LINE = 64 }; /* bytes: what is worth it; what slots begin at */

static bool lies_together(const prog_dynamic *d) {
  u32 k = 0;
  while (k < d->rank && d->small_dims[k] == 1) k++;
  for (k++; k < d->rank; k++)
    if (d->small_dims[k] != d->big_dims[k]) return false;
  return !d->update && !d->turns;
}

bool prog_makes_view(const program *p, const prog_dynamic *d) {
  return d->small < p->num_slots && p->slots[d->small].kind == SLOT_VIEW && lies_together(d);
}

/* Wherever it begins, it begins with a line, as slots do. */
static bool is_aligned(const prog_dynamic *d, u64 width) {
  u64 bytes = width;
  for (u32 k = d->rank; k-- > 0; bytes *= (u64)d->big_dims[k])
    if (d->small_dims[k] != d->big_dims[k] && bytes % LINE) return false;
  return true;
}

typedef struct viewer {
  program *p;
  const slot_life *lives;
  u32 *writes; /* by slot: how often */
  bool *taken; /* by parameter: a result is written there */
  u32 slot;
  bool written;
} viewer;

static void count_write(void *user, u32 *slot, slot_use use) {
  viewer *v = user;
  v->writes[*slot] += use != USE_READ;
}
static void note_write(void *user, u32 *slot, slot_use use) {
  viewer *v = user;
  v->written |= use != USE_READ && *slot == v->slot;
}

/* Whether a slot keeps its memory, and what is there, from behind step `first` to `last`. */
static bool stays(viewer *v, u32 slot, u32 first, u32 last) {
  const prog_slot *s = &v->p->slots[slot];
  if (s->kind == SLOT_CONST || (s->kind == SLOT_PARAM && !v->taken[s->index])) return true;
  if (v->lives[slot].last <= last) return false;
  v->slot = slot, v->written = false;
  for (u32 t = first + 1; t <= last && v->writes[slot] && !v->written; t++)
    prog_step_slots(&v->p->steps[t], note_write, v);
  return !v->written;
}

static void look_at(viewer *v, u32 t, const prog_dynamic *d) {
  prog_slot *small = &v->p->slots[d->small];
  const slot_life *l = &v->lives[d->small];
  if (!lies_together(d) || !is_aligned(d, dtype_size(small->type)) || small->kind != SLOT_WORK ||
      prog_slot_bytes(small) < LEAST || v->writes[d->small] != 1 || l->first != t ||
      l->read_first || !stays(v, d->big, t, l->last))
    return;
  small->kind = SLOT_VIEW;
}

void prog_view_slices(arena *scratch, program *p, const slot_life *lives) {
  viewer v = {.p = p,
              .lives = lives,
              .writes = arena_zalloc(scratch, (p->num_slots + 1) * sizeof(u32)),
              .taken = arena_zalloc(scratch, p->num_params + 1)};
  for (u32 i = 0; i < p->num_results; i++) {
    i32 alias = p->slots[p->result_slot[i]].alias;
    if (alias >= 0) v.taken[alias] = true;
  }
  for (u32 t = 0; t < p->num_steps; t++) prog_step_slots(&p->steps[t], count_write, &v);
  for (u32 t = 0; t < p->num_steps; t++)
    if (p->steps[t].kind == STEP_dynamic) look_at(&v, t, p->steps[t].u.dynamic_);
}
