/* Which steps touch a slot: lists by slot, in the order of steps. */
#include "program/parts.h"

typedef struct walk {
  const program *p;
  u32 step, *begin;
  prog_touch *list; /* NULL: they are only counted */
} walk;

static void note(void *user, u32 *slot, slot_use use) {
  walk *w = user;
  u32 owner = prog_slot_owner(w->p, *slot);
  if (w->list)
    w->list[w->begin[owner + 1]++] = (prog_touch){w->step, use};
  else
    w->begin[owner + 2]++;
}

/* While lists are made, slot i's goes on at begin[i + 1], which in the end is where it ends. */
prog_touches prog_find_touches(arena *a, const program *p) {
  walk w = {.p = p, .begin = arena_zalloc(a, ((size_t)p->num_slots + 2) * sizeof(u32))};
  for (u32 t = 0; t < p->num_steps; t++) prog_step_slots(&p->steps[t], note, &w);
  for (u32 i = 0; i <= p->num_slots; i++) w.begin[i + 1] += w.begin[i];
  w.list = ARENA_ARRAY(a, prog_touch, w.begin[p->num_slots + 1] + 1);
  for (w.step = 0; w.step < p->num_steps; w.step++) prog_step_slots(&p->steps[w.step], note, &w);
  return (prog_touches){p, w.begin, w.list};
}

/* As counted, `end` is the first touch of the next slot. */
static const prog_touch *first_from(const prog_touches *x, u32 owner, u32 step) {
  u32 low = x->begin[owner], high = x->begin[owner + 1];
  while (low < high) {
    u32 mid = low + (high - low) / 2;
    if (x->list[mid].step < step)
      low = mid + 1;
    else
      high = mid;
  }
  return &x->list[low];
}

bool prog_is_touched(const prog_touches *x, u32 slot, u32 first, u32 last, bool written) {
  u32 owner = prog_slot_owner(x->p, slot);
  const prog_touch *end = x->list + x->begin[owner + 1];
  prog_slot_kind kind = x->p->slots[owner].kind;
  if (written && kind == SLOT_CONST) return false;
  for (const prog_touch *t = first_from(x, owner, first); t < end && t->step <= last; t++)
    if (!written || t->use != USE_READ) return true;
  return false;
}
