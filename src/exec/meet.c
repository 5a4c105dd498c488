/* Rendezvous. Of a group at one step there is at most one open meeting: nobody passes it before
 * all have come, so a count is enough and a later visit cannot mix with an earlier one. The
 * last to arrive does the work, the others are parked and made ready again by it. */
#include "exec/pool.h"

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
    pool_push_ready(l->pool, m);
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
  if (s.units) worker_do(w, &s, p->slots, l->prog->flush_denormals);
  if (!l->image->deaths.begin) return;
  for (u32 i = x->begin[group]; i < x->begin[group + 1]; i++)
    place_poison(&l->places[x->members[i]]);
}

bool place_meet(worker *w, place *p) {
  launch *l = p->l;
  exec_pool *pool = l->pool;
  const exec_collective *x = l->image->collectives[p->pc];
  u32 group = x->group_of[p->position];
  if (group == PROG_NONE) {
    skip(p, x);
    return true;
  }
  u32 size = x->begin[group + 1] - x->begin[group];
  pthread_mutex_lock(&pool->lock);
  if (atomic_load_explicit(&l->poisoned, memory_order_relaxed)) { /* nobody would wake us */
    pthread_mutex_unlock(&pool->lock);
    return true;
  }
  bool last = ++l->arrived[x->first_group + group] == size;
  /* their buffers are in use: should the launch fail now, they are not to be woken by that */
  for (u32 i = x->begin[group]; last && i < x->begin[group + 1]; i++)
    l->places[x->members[i]].state = PLACE_MEETING;
  if (!last) {
    p->state = PLACE_PARKED;
    status deadlock = --l->active == 0 ? launch_deadlock(l) : NULL;
    if (deadlock) l->unfinished++; /* keeps the launch alive until it has failed */
    pthread_mutex_unlock(&pool->lock);
    /* from here on p belongs to whoever wakes it */
    if (deadlock) launch_deadlocked(l, deadlock);
    return false;
  }
  pthread_mutex_unlock(&pool->lock);
  do_work(w, p, x, group);
  atomic_fetch_add_explicit(&pool->stat_rendezvous, 1, memory_order_relaxed);
  pthread_mutex_lock(&pool->lock);
  wake_members(p, x, group);
  pthread_mutex_unlock(&pool->lock);
  p->pc++;
  return true;
}

/* ---- deadlock ---- */

enum { MOST_LINES = 64 };

static void describe_group(buf *b, const launch *l, const exec_collective *x, u32 group) {
  u32 shown = 0;
  BUF_LIT(b, "; not there:");
  for (u32 i = x->begin[group]; i < x->begin[group + 1]; i++) {
    const place *m = &l->places[x->members[i]];
    bool here = m->state == PLACE_PARKED && l->image->collectives[m->pc] == x;
    if (here) continue;
    if (++shown <= 8)
      buf_printf(b, " %u%s", m->position, m->state == PLACE_DONE ? " (finished)" : "");
  }
  if (shown > 8) buf_printf(b, " and %u more", shown - 8);
}

status launch_deadlock(launch *l) {
  buf b;
  buf_init(&b, l->pool->mem);
  u32 lines = 0, parked = 0;
  for (u32 i = 0; i < l->n; i++) {
    const place *p = &l->places[i];
    if (p->state != PLACE_PARKED) continue;
    parked++;
    if (lines++ >= MOST_LINES) continue;
    const prog_step *s = &l->prog->steps[p->pc];
    const exec_collective *x = l->image->collectives[p->pc];
    buf_printf(&b, "\n  device %u waits at %s \"" STR_FMT "\" (" STR_FMT ")", p->position,
               prog_collective_name(x->c->kind), STR_ARG(s->name), STR_ARG(s->loc));
    describe_group(&b, l, x, x->group_of[p->position]);
  }
  if (parked == 0) { /* all are done */
    buf_deinit(&b);
    return NULL;
  }
  if (lines > MOST_LINES) buf_printf(&b, "\n  and %u devices more", lines - MOST_LINES);
  status s = status_make(STATUS_INTERNAL, "deadlock: every device that is not finished waits:%s",
                         buf_ok(&b) ? buf_cstr(&b) : "");
  buf_deinit(&b);
  return s;
}
