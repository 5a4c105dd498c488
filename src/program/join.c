/* Two slots that a loop moves into one another, in whichever of its branches: one does for both if
 * neither is written, but by such a move, while the other is needed. So a branch that leaves what a
 * loop carries as it is, or changes a little of it, copies nothing. */
#include "program/parts.h"

typedef struct joiner {
  const program *p;
  u32 begin, end, slot[2];
  u8 *live; /* by step from begin: which are needed before it, a bit each */
} joiner;

typedef struct probe {
  const joiner *x;
  u8 read, written;
} probe;
static void probe_slot(void *user, u32 *slot, slot_use use) {
  probe *q = user;
  for (u32 k = 0; k < 2; k++) {
    if (*slot != q->x->slot[k]) continue;
    q->read |= (u8)((use != USE_WRITE) << k);
    q->written |= (u8)((use != USE_READ) << k);
  }
}

/* Whether s, which writes some of the slot, writes all of it. */
static bool is_whole(const program *p, const prog_step *s, u32 slot) {
  const prog_loop *l = s->kind == STEP_loop ? s->u.loop_ : NULL;
  for (u32 i = 0; l && i < l->num_out; i++)
    if (l->out[i].slot == slot)
      return prog_volume(l->dims, l->rank - l->reduced) == p->slots[slot].count;
  return prog_step_is_move(p, s);
}

/* What is needed once step t is done; where the loop is left, what it carries. */
static u8 live_after(const joiner *x, u32 t) {
  const prog_step *s = &x->p->steps[t];
  const prog_jump *j = prog_step_jump(s);
  u8 live = 0;
  for (u32 k = 0; j && k < j->n; k++) {
    bool inside = j->target[k] >= x->begin && j->target[k] <= x->end;
    live |= inside ? x->live[j->target[k] - x->begin] : 2;
  }
  if (!j || s->kind == STEP_jump_unless) live |= t < x->end ? x->live[t + 1 - x->begin] : 2;
  return live;
}

/* What is needed before step t; *apart: the two cannot be one there. */
static u8 live_before(const joiner *x, u32 t, bool *apart) {
  prog_step *s = &x->p->steps[t];
  probe q = {.x = x};
  prog_step_slots(s, probe_slot, &q);
  u8 live = live_after(x, t), kept = live;
  for (u32 k = 0; k < 2; k++) {
    if (!(q.written >> k & 1)) continue;
    u8 other = (u8)(2 >> k);
    bool moved = prog_step_is_move(x->p, s) && (q.read & other);
    if (!moved && ((live | q.written) & other)) *apart = true;
    if (!moved && (q.read & other) && !prog_step_in_place(x->p, s, x->slot[!k], x->slot[k]))
      *apart = true;
    if (!(q.read >> k & 1) && is_whole(x->p, s, x->slot[k])) kept &= other;
  }
  return kept | q.read;
}

bool prog_may_join(arena *scratch, const program *p, u32 begin, u32 end, const slot_life *lives,
                   u32 r, u32 c) {
  const prog_slot *of = &p->slots[c];
  if (end == PROG_NONE || p->slots[r].kind != SLOT_WORK || lives[r].first < begin ||
      lives[r].last > end ||
      (of->kind != SLOT_WORK && (of->kind != SLOT_RESULT || lives[c].first >= begin)))
    return false;
  joiner x = {p, begin, end, {r, c}, arena_zalloc(scratch, end - begin + 1)};
  bool apart = false;
  for (bool again = true; again && !apart;) {
    again = false;
    for (u32 t = end + 1; t-- > begin;) {
      u8 live = live_before(&x, t, &apart);
      again |= live != x.live[t - begin];
      x.live[t - begin] = live;
    }
  }
  return !apart && !(x.live[0] & 1);
}
