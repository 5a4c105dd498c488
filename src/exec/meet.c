/* Rendezvous. Of a group at one step there is at most one open meeting: nobody passes it before
 * all have come, so a count is enough and a later visit cannot mix with an earlier one. The
 * last to arrive does the work, the others are parked and made ready again by it. */
#include "exec/launch.h"

/* A meeting of which members run elsewhere, while their operands come, and are used. */
typedef struct meeting {
  executor_exchange exchange;
  coll_work work;
  size_t size; /* of this allocation */
} meeting;

/* The lock is held. The count starts anew before anyone is awake: a member may be back at this
 * very step, in the next turn of a loop, as soon as the lock is given up. p, who did the work,
 * is the caller and still runs; the others are past the step, whose work is done. */
static inline void wake_members(place *p, const exec_collective *x, u32 group) {
  launch *l = p->l;
  assert(IS_LOCKED(l->on));
  l->arrived[x->first_group + group] = 0;
  for (u32 i = x->begin[group]; i < x->begin[group + 1]; i++) {
    place *m = launch_place(l, x->members[i]);
    if (!m) continue;
    if (m == p) {
      p->state = PLACE_RUNNING;
      continue;
    }
    m->pc++;
    m->outside = WAIT_NOTHING;
    l->active++;
    launch_wake(m);
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

static coll_work work_of(const launch *l, const exec_collective *x, u32 group) {
  return (coll_work){x, group, l->first, l->n, l->numbers, l->slots, NULL, COLL_WHOLE};
}

/* Without the lock: the other members are in PLACE_MEETING, which nothing but wake_members ends, so
 * that all their slots are ours. */
static void do_work(worker *w, place *p, const exec_collective *x, u32 group) {
  launch *l = p->l;
  coll_work work = p->met ? p->met->work : work_of(l, x, group);
  exec_step s = {.run = coll_run, .data = &work, .scratch = x->scratch};
  s.units = coll_units(&work, l->prog, &s.cost);
  u64 begin = l->traced ? os_now_ns() : 0;
  if (s.units) l->work(w, &s, p->slots, l->prog->flush_denormals);
  if (begin) place_tell(p, TRACE_COLLECTIVE, (str){0}, begin);
  if (work.phase == COLL_OWN_SHARES) return; /* the rest is to come */
  atomic_fetch_add_explicit(&l->on->stat_rendezvous, 1, memory_order_relaxed);
  if (!l->image->deaths.begin) return;
  for (u32 i = x->begin[group]; i < x->begin[group + 1]; i++)
    if (launch_place(l, x->members[i])) place_poison(launch_place(l, x->members[i]));
}

/* ---- members elsewhere ---- */

/* How many arrivals complete the group on this executor. */
static u32 members_here(const launch *l, const exec_collective *x, u32 group) {
  u32 n = x->begin[group + 1] - x->begin[group], here = 0;
  if (!l->transport) return n;
  for (u32 i = 0; i < n; i++) here += launch_place(l, x->members[x->begin[group] + i]) != NULL;
  return here;
}

static executor_range needs(const executor_exchange *x, u32 from, u32 part, u32 first, u32 count) {
  return coll_needs(x->of, from, part, first, count);
}

/* What is ours is where it lies. */
static void begin_phase(const launch *l, meeting *t, coll_phase phase) {
  const exec_collective *x = t->work.x;
  const u32 *from = phase == COLL_OTHER_SHARES ? x->c->out : x->c->in;
  u32 n = t->exchange.num_members, k = x->c->n;
  t->work.phase = phase;
  t->exchange.phase = phase;
  for (u32 m = 0; m < n; m++) {
    const place *p = launch_place(l, x->members[x->begin[t->work.group] + m]);
    for (u32 i = 0; i < k; i++) t->exchange.parts[m * k + i] = p ? p->slots[from[i]] : NULL;
  }
}

/* NULL: no memory. */
static meeting *meeting_create(const launch *l, u32 step, const exec_collective *x, u32 group) {
  u32 n = x->begin[group + 1] - x->begin[group], k = x->c->n;
  const u32 *members = x->members + x->begin[group];
  size_t parts_at = align_up(sizeof(meeting), 64);
  size_t bytes_at = parts_at + (size_t)n * k * sizeof(void *);
  size_t members_at = bytes_at + k * sizeof(size_t), size = members_at + n * sizeof(u32);
  char *block = mem_alloc(l->on->mem, size);
  if (!block) return NULL;
  void **parts = (void **)(block + parts_at);
  size_t *bytes = (size_t *)(block + bytes_at);
  for (u32 i = 0; i < k; i++) bytes[i] = x->counts[i] * dtype_size(x->types[i]);
  u32 *numbers = (u32 *)(block + members_at);
  for (u32 m = 0; m < n; m++) numbers[m] = l->numbers ? l->numbers[members[m]] : members[m];
  meeting *t = (meeting *)block;
  *t = (meeting){{.launch = l->id,
                  .step = step,
                  .group = group,
                  .first = l->first,
                  .count = l->n,
                  .num_members = n,
                  .members = numbers,
                  .num_parts = k,
                  .bytes = bytes,
                  .needs = needs,
                  .of = &t->work,
                  .parts = parts},
                 work_of(l, x, group),
                 size};
  t->work.parts = parts;
  begin_phase(l, t, coll_has_shares(x) ? COLL_OWN_SHARES : COLL_WHOLE);
  return t;
}

/* From the transport, on any thread; it may come before `exchange` below has returned. */
static void exchanged(void *user, status error) {
  place_resume(user, error ? status_copy(error) : NULL);
}

/* The first phase, or the next. The lock is held and given up; p comes back through place_met. */
__attribute__((noinline)) static void exchange(place *p, const exec_collective *x, u32 group) {
  static meeting none; /* no memory for it */
  launch *l = p->l;
  assert(IS_LOCKED(l->on));
  for (u32 i = x->begin[group]; i < x->begin[group + 1]; i++)
    if (launch_place(l, x->members[i])) launch_place(l, x->members[i])->outside = WAIT_TRANSFER;
  p->state = PLACE_OUTSIDE;
  place_waits(p, p->pc);
  l->outside++;
  l->begun++;
  l->active--;
  launch_halted halted = launch_check(l);
  bool watches = l->on->ops->watch && l->transport->ops->look;
  l->unfinished += watches;
  u64 met = l->met;
  pthread_mutex_unlock(&l->on->lock);
  meeting *t = p->met ? p->met : meeting_create(l, p->pc, x, group);
  p->met = t ? t : &none;
  if (t) {
    t->exchange.done = exchanged;
    t->exchange.user = p;
    l->transport->ops->exchange(l->transport, &t->exchange);
  } else {
    place_resume(p, status_oom());
  }
  launch_halt(l, &halted);
  if (!watches) return;
  l->on->ops->watch(l, met);
  launch_release(l);
}

bool place_met(worker *w, place *p, bool failed) {
  launch *l = p->l;
  meeting *t = p->met;
  const exec_collective *x = l->image->collectives[p->pc];
  u32 group = x->group_of[p->position];
  if (!failed) do_work(w, p, x, group);
  if (t->size) l->transport->ops->release(l->transport, &t->exchange);
  if (!failed && t->work.phase == COLL_OWN_SHARES) {
    begin_phase(l, t, COLL_OTHER_SHARES);
    pthread_mutex_lock(&l->on->lock);
    exchange(p, x, group);
    return false;
  }
  p->met = NULL;
  if (t->size) mem_free(l->on->mem, t, t->size);
  pthread_mutex_lock(&l->on->lock);
  wake_members(p, x, group);
  pthread_mutex_unlock(&l->on->lock);
  p->pc++;
  return true;
}

/* ---- meeting ---- */

/* Called by run_collective, on p's worker, without the lock. Arriving, counting and parking are
 * one critical section: whoever is last sees all others parked, and nobody can be woken before
 * it has. */
bool place_meet(worker *w, place *p) {
  launch *l = p->l;
  launcher *on = l->on;
  const exec_collective *x = l->image->collectives[p->pc];
  u32 group = x->group_of[p->position];
  if (group == PROG_NONE) {
    skip(p, x);
    return true;
  }
  u32 size = x->begin[group + 1] - x->begin[group], here = members_here(l, x, group);
  pthread_mutex_lock(&on->lock);
  if (atomic_load_explicit(&l->poisoned, memory_order_relaxed)) { /* nobody would wake us */
    pthread_mutex_unlock(&on->lock);
    return true;
  }
  if (++l->arrived[x->first_group + group] < here) {
    p->state = PLACE_PARKED;
    place_waits(p, p->pc);
    l->active--;
    launch_halted halted = launch_check(l);
    pthread_mutex_unlock(&on->lock);
    /* from here on p belongs to whoever wakes it */
    launch_halt(l, &halted);
    return false;
  }
  /* their buffers are in use: should the launch fail now, they are not to be woken by that */
  for (u32 i = x->begin[group]; i < x->begin[group + 1]; i++)
    if (launch_place(l, x->members[i])) launch_place(l, x->members[i])->state = PLACE_MEETING;
  if (here < size) {
    exchange(p, x, group);
    return false;
  }
  pthread_mutex_unlock(&on->lock);
  do_work(w, p, x, group);
  pthread_mutex_lock(&on->lock);
  wake_members(p, x, group);
  pthread_mutex_unlock(&on->lock);
  p->pc++;
  return true;
}
