/* A place runs: steps in order until it must wait. */
#include "exec/launch.h"

void place_poison(place *p) {
  const launch *l = p->l;
  const prog_deaths *d = &l->image->deaths;
  for (u32 i = d->begin[p->pc]; i < d->begin[p->pc + 1]; i++)
    dev_heap_poison(l->on->heap, p->slots[d->slots[i]],
                    prog_slot_bytes(&l->prog->slots[d->slots[i]]));
}

/* ---- traces ---- */

/* Apart, as are the next: what is off costs nothing. */
__attribute__((noinline)) void place_tell(const place *p, trace_kind kind, str name, u64 begin) {
  const program *prog = p->l->prog;
  str loc = {0}, op_name = {0};
  u32 at = kind == TRACE_WAIT ? p->waits_at : p->pc;
  if (!name.len && at < prog->num_steps) {
    name = prog->steps[at].name;
    loc = prog->steps[at].loc;
    op_name = prog->steps[at].op_name;
  }
  trace_tell(&(trace_span){kind, p->device, name, loc, begin, os_now_ns(), op_name});
}

/* p runs again, or for the first time. */
__attribute__((noinline)) static void tell_wait(place *p) {
  if (p->waits)
    place_tell(p, TRACE_WAIT, p->waits_at == PROG_NONE ? STR("start") : (str){0}, p->waits);
  p->waits = 0;
  if (!p->began) p->began = os_now_ns();
}

__attribute__((noinline)) static void tell_work(worker *w, const place *p, const exec_step *x) {
  const launch *l = p->l;
  u64 begin = os_now_ns();
  l->work(w, x, p->slots, l->prog->flush_denormals);
  place_tell(p, TRACE_STEP, (str){0}, begin);
}

/* ---- what is outside ---- */

/* Until it is there nobody wakes the place: its buffers are in use. Apart, so that what most steps
 * do not need costs them nothing. */
__attribute__((noinline)) static bool go_outside(worker *w, place *p, const exec_step *x) {
  launch *l = p->l;
  launcher *on = l->on;
  pthread_mutex_lock(&on->lock);
  p->state = PLACE_OUTSIDE;
  p->outside = WAIT_CALLBACK;
  place_waits(p, p->pc);
  l->outside++;
  l->active--;
  pthread_mutex_unlock(&on->lock);
  on->ops->rest(w);
  x->start(x->data, p->slots, p); /* from here on p belongs to whoever resumes it */
  return false;
}

void place_resume(place *p, status error) {
  launch *l = p->l;
  launcher *on = l->on;
  bool called = p->outside == WAIT_CALLBACK;
  if (error) launch_fail(l, error);
  if (called && l->image->deaths.begin) place_poison(p);
  pthread_mutex_lock(&on->lock);
  if (called) p->pc++;
  if (p->outside == WAIT_TRANSFER) l->met++;
  p->outside = WAIT_NOTHING;
  l->outside--;
  l->active++;
  on->ops->wake(p);
  pthread_mutex_unlock(&on->lock);
}

/* ---- run_<kind>: a step of each kind of program/program.h; false: the place parked ---- */

static bool run_work(worker *w, place *p, const void *payload) {
  const launch *l = p->l;
  const exec_step *x = &l->image->steps[p->pc];
  (void)payload;
  if (x->start) return go_outside(w, p, x);
  if (x->units) {
    if (l->traced)
      tell_work(w, p, x);
    else
      l->work(w, x, p->slots, l->prog->flush_denormals);
  }
  if (l->image->deaths.begin) place_poison(p);
  p->pc++;
  return true;
}
#define run_loop run_work
#define run_dot run_work
#define run_copy run_work
#define run_dynamic run_work
#define run_gather run_work
#define run_sort run_work
#define run_window run_work
#define run_select_scatter run_work
#define run_rng run_work
#define run_call run_work
#define run_strips run_work

static bool run_collective(worker *w, place *p, const prog_collective *c) {
  (void)c;
  return place_meet(w, p);
}

static bool go_to(place *p, u32 step) {
  u32 end = p->l->prog->num_steps;
  if (step <= p->pc) p->left -= step_ticks(p->l->image->steps[p->pc].cost);
  p->pc = step > end ? end : step;
  return true;
}
static bool run_jump(worker *w, place *p, const prog_jump *j) {
  (void)w;
  return go_to(p, j->target[0]);
}
static bool run_jump_unless(worker *w, place *p, const prog_jump *j) {
  (void)w;
  return go_to(p, *(const u8 *)p->slots[j->slot] == 0 ? j->target[0] : p->pc + 1);
}
static bool run_case(worker *w, place *p, const prog_jump *j) {
  (void)w;
  i32 which;
  memcpy(&which, p->slots[j->slot], 4);
  u32 last = j->n - 1;
  return go_to(p, j->target[which < 0 || (u32)which > last ? last : (u32)which]);
}

static bool write_id(place *p, const prog_id *k, u32 id) {
  memcpy(p->slots[k->out], &id, 4);
  p->pc++;
  return true;
}
static bool run_partition_id(worker *w, place *p, const prog_id *k) {
  (void)w;
  return write_id(p, k, p->position % p->l->prog->num_partitions);
}
static bool run_replica_id(worker *w, place *p, const prog_id *k) {
  (void)w;
  return write_id(p, k, p->position / p->l->prog->num_partitions);
}

/* The steps over single elements from here on; those of a launch that is traced go one by one. */
static bool run_scalars(worker *w, place *p) {
  const launch *l = p->l;
  const exec_step *x = l->image->scalars ? &l->image->scalars[p->pc] : NULL;
  if (!x || !x->run || l->traced) return false;
  l->work(w, x, p->slots, l->prog->flush_denormals);
  return true;
}

/* PROG_STEPS makes the cases, so that a kind of step without a run_<kind> does not compile.
 * (Steps are no ops: these few kinds are what ops become.) */
static bool run_step(worker *w, place *p) {
  const prog_step *s = &p->l->prog->steps[p->pc];
  switch (s->kind) {
#define STEP(name, ...)                                                                            \
  case STEP_##name:                                                                                \
    return run_##name(w, p, s->u.name##_);
    PROG_STEPS(STEP)
#undef STEP
  case STEP_COUNT_:
    break; /* no image has one */
  }
  return true;
}

/* On the place's first run, when its turn in the queue has come: launches that wait hold no
 * workspace. Constants lie in the program, and are only read. */
static status begin_place(place *p) {
  launch *l = p->l;
  const program *prog = l->prog;
  size_t at = (size_t)(p - l->places);
  p->workspace = dev_heap_alloc(l->on->heap, prog->workspace);
  if (!p->workspace)
    return status_make(STATUS_RESOURCE_EXHAUSTED,
                       "no memory for the workspace of a program (%llu bytes) on device %u",
                       (unsigned long long)prog->workspace, p->device);
  for (u32 i = 0; i < prog->num_slots; i++) {
    const prog_slot *s = &prog->slots[i];
    switch (s->kind) {
    case SLOT_PARAM:
      p->slots[i] = l->params[at * prog->num_params + s->index];
      break;
    case SLOT_RESULT:
      p->slots[i] = l->results[at * prog->num_results + s->index];
      break;
    case SLOT_WORK:
      p->slots[i] = (char *)(s->alias < 0 ? p->workspace
                                          : l->results[at * prog->num_results + (u32)s->alias]) +
                    s->offset;
      break;
    case SLOT_CONST:
      p->slots[i] = (void *)(uintptr_t)s->data;
      break;
    case SLOT_STRIP:
    case SLOT_VIEW: /* until it is made */
      p->slots[i] = NULL;
      break;
    }
  }
  return NULL;
}

/* Memory to work with; the error, if there is none. */
static status make_room(worker *w, place *p) {
  size_t scratch = p->l->image->scratch;
  if (!p->l->on->ops->reserve(w, scratch))
    return status_make(STATUS_RESOURCE_EXHAUSTED,
                       "no memory for the steps of a program (%zu bytes)", scratch);
  return p->workspace ? NULL : begin_place(p);
}

/* p has had its time: the next slice, unless it is on the thread that launched it. */
static bool take_slice(place *p) {
  launch *l = p->l;
  launcher *on = l->on;
  p->left = SLICE;
  if (!l->here) return true;
  atomic_store_explicit(&l->image->lasts, true, memory_order_relaxed);
  pthread_mutex_lock(&on->lock);
  l->lasts = true;
  launch_wake(p);
  pthread_mutex_unlock(&on->lock);
  return false;
}

/* Called by the executor for a place that `wake` was told of, once each time, in PLACE_RUNNING,
 * without the lock. When a step says that the place parked, p may already run on another worker:
 * nothing of it or its launch may be touched from then on. A launch that has failed ends at the
 * next step, by way of place_finish like any other. True: p has finished, and may be gone. */
bool place_run(worker *w, place *p) {
  launch *l = p->l;
  launcher *on = l->on;
  u32 num_steps = l->prog->num_steps;
  u64 steps = 0;
  if (l->traced) tell_wait(p);
  if (!atomic_load_explicit(&l->poisoned, memory_order_relaxed)) {
    status s = make_room(w, p);
    if (s) launch_fail(l, s);
  }
  if (p->met && !place_met(w, p, atomic_load_explicit(&l->poisoned, memory_order_relaxed)))
    return false;
  while (p->pc < num_steps && !atomic_load_explicit(&l->poisoned, memory_order_relaxed)) {
    steps++;
    if (p->left < 0 ? !take_slice(p) : !run_scalars(w, p) && !run_step(w, p)) {
      atomic_fetch_add_explicit(&on->stat_steps, steps, memory_order_relaxed);
      return false;
    }
  }
  atomic_fetch_add_explicit(&on->stat_steps, steps, memory_order_relaxed);
  on->ops->rest(w);
  place_finish(p);
  return true;
}
