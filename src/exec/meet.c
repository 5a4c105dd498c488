/* Rendezvous. Of a group at one step there is at most one open meeting: nobody passes it before
 * all have come, so a count is enough and a later visit cannot mix with an earlier one. The
 * last to arrive does the work, the others are parked and made ready again by it. */
#include "exec/launch.h"

static void wake_members(place *p, const exec_collective *x, u32 group) {
  launch *l = p->l;
  l->arrived[x->first_group + group] = 0;
  for (u32 i = x->begin[group]; i < x->begin[group + 1]; i++) {
    place *m = &l->places[x->members[i]];
    if (m == p) {
      p->state = PLACE_RUNNING;
      continue;
    }
    m->pc++;
    l->active++;
    l->on->ops->wake(m);
  }
}

/* A device in no group: its results are zero, as StableHLO has it for permute and broadcast. */
static void skip(place *p, const exec_collective *x) {
  const prog_collective *c = x->c;
  const program *prog = p->l->prog;
  for (u32 i = 0; i < c->n; i++)
    memset(p->slots[c->out[i]], 0, prog_slot_bytes(&prog->slots[c->out[i]]));
  p->pc++;
}

static void do_work(worker *w, place *p, const exec_collective *x, u32 group) {
  launch *l = p->l;
  coll_work work = {.x = x, .group = group, .slots = l->slots};
  exec_step s = {.run = coll_run, .data = &work, .scratch = x->scratch};
  s.units = coll_units(x, group, l->prog, &s.cost);
  if (s.units) l->on->ops->work(w, &s, p->slots, l->prog->flush_denormals);
  if (!l->image->deaths.begin) return;
  for (u32 i = x->begin[group]; i < x->begin[group + 1]; i++)
    place_poison(&l->places[x->members[i]]);
}

bool place_meet(worker *w, place *p) {
  launch *l = p->l;
  launcher *on = l->on;
  const exec_collective *x = l->image->collectives[p->pc];
  u32 group = x->group_of[p->position];
  if (group == PROG_NONE) {
    skip(p, x);
    return true;
  }
  u32 size = x->begin[group + 1] - x->begin[group];
  pthread_mutex_lock(&on->lock);
  if (atomic_load_explicit(&l->poisoned, memory_order_relaxed)) { /* nobody would wake us */
    pthread_mutex_unlock(&on->lock);
    return true;
  }
  bool last = ++l->arrived[x->first_group + group] == size;
  /* their buffers are in use: should the launch fail now, they are not to be woken by that */
  for (u32 i = x->begin[group]; last && i < x->begin[group + 1]; i++)
    l->places[x->members[i]].state = PLACE_MEETING;
  if (!last) {
    p->state = PLACE_PARKED;
    l->active--;
    status deadlock = launch_deadlock(l);
    if (deadlock) l->unfinished++; /* keeps the launch alive until it has failed */
    pthread_mutex_unlock(&on->lock);
    /* from here on p belongs to whoever wakes it */
    if (deadlock) launch_deadlocked(l, deadlock);
    return false;
  }
  pthread_mutex_unlock(&on->lock);
  do_work(w, p, x, group);
  atomic_fetch_add_explicit(&on->stat_rendezvous, 1, memory_order_relaxed);
  pthread_mutex_lock(&on->lock);
  wake_members(p, x, group);
  pthread_mutex_unlock(&on->lock);
  p->pc++;
  return true;
}
