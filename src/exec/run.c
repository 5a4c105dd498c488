/* One worker running one device: steps in order until it must wait. */
#include "exec/pool.h"

#include "exec/denormals.h"

void worker_set_flush(worker *w, bool on) {
  if (w->flushing == on) return;
  w->flushing = on;
  denormals_flush(on);
}

bool worker_reserve(worker *w, size_t bytes) {
  if (bytes <= w->scratch_size) return true;
  dev_heap_free(w->pool->heap, w->scratch, w->scratch_size);
  w->scratch = dev_heap_alloc(w->pool->heap, bytes);
  w->scratch_size = w->scratch ? bytes : 0;
  return w->scratch != NULL;
}

/* ---- sharing a step ---- */

static void work_on(job *j, worker *w) {
  exec_env env = j->env;
  env.scratch = w->scratch;
  env.accel = &w->accel;
  for (;;) {
    u64 begin = atomic_fetch_add_explicit(&j->next, j->chunk, memory_order_relaxed);
    if (begin >= j->units) return;
    u64 end = j->units - begin < j->chunk ? j->units : begin + j->chunk;
    j->run(j->data, &env, begin, end);
  }
}

/* The lock is held; either may be first to see that there is nothing left. */
static void close_job(exec_pool *pool, job *j) {
  for (job **at = &pool->jobs; *at; at = &(*at)->next_job)
    if (*at == j) {
      *at = j->next_job;
      atomic_fetch_sub_explicit(&pool->num_jobs, 1, memory_order_relaxed);
      return;
    }
}

bool worker_help(worker *w) {
  exec_pool *pool = w->pool;
  job *j = pool->jobs;
  if (!j) return false;
  j->helpers++;
  pthread_mutex_unlock(&pool->lock);
  worker_set_flush(w, j->flush);
  if (worker_reserve(w, j->scratch)) {
    dev_heap_poison(pool->heap, w->scratch, j->scratch);
    work_on(j, w);
  }
  pthread_mutex_lock(&pool->lock);
  /* no more units: nobody else need come */
  close_job(pool, j);
  if (--j->helpers == 0) pthread_cond_broadcast(&pool->idle);
  return true;
}

static void share(worker *w, job *j) {
  exec_pool *pool = w->pool;
  pthread_mutex_lock(&pool->lock);
  j->next_job = pool->jobs;
  pool->jobs = j;
  atomic_fetch_add_explicit(&pool->num_jobs, 1, memory_order_relaxed);
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->lock);
  work_on(j, w);
  pthread_mutex_lock(&pool->lock);
  close_job(pool, j);
  while (j->helpers) pthread_cond_wait(&pool->idle, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
}

/* In tests: pieces from the last to the first, scratch anew for each, since it must not matter how
 * a step is cut and who does what. */
static void run_backwards(worker *w, const exec_step *s, const exec_env *env) {
  enum { PIECES = 12 };
  u64 chunk = (s->units + PIECES - 1) / PIECES;
  for (u64 end = s->units; end > 0;) {
    u64 begin = (end - 1) / chunk * chunk;
    dev_heap_poison(w->pool->heap, w->scratch, s->scratch);
    s->run(s->data, env, begin, end);
    end = begin;
  }
}

void worker_do(worker *w, const exec_step *s, void *const *slots, bool flush) {
  enum { WORTH_SHARING = 40000 }; /* ns in all */
  exec_pool *pool = w->pool;
  exec_env env = {.scratch = w->scratch, .slots = slots, .accel = &w->accel};
  worker_set_flush(w, flush);
  bool shared = s->units > 1 && s->cost * s->units > WORTH_SHARING &&
                atomic_load_explicit(&pool->unemployed, memory_order_relaxed) > 0 &&
                atomic_load_explicit(&pool->num_ready, memory_order_relaxed) == 0;
  if (!shared) {
    if (pool->poisons)
      run_backwards(w, s, &env);
    else
      s->run(s->data, &env, 0, s->units);
    return;
  }
  u64 least = 1 + 10000 / s->cost, chunk = s->units / (4 * pool->num_workers);
  job j = {.run = s->run,
           .data = s->data,
           .env = env,
           .scratch = s->scratch,
           .units = s->units,
           .chunk = chunk > least ? chunk : least,
           .flush = flush};
  share(w, &j);
}

/* ---- steps ---- */

void place_poison(place *p) {
  const launch *l = p->l;
  const prog_deaths *d = &l->image->deaths;
  for (u32 i = d->begin ? d->begin[p->pc] : 0; d->begin && i < d->begin[p->pc + 1]; i++)
    dev_heap_poison(l->pool->heap, p->slots[d->slots[i]],
                    prog_slot_bytes(&l->prog->slots[d->slots[i]]));
}

/* ---- run_<kind>: a step of each kind of program/program.h; false: the place parked ---- */

static bool run_work(worker *w, place *p, const void *payload) {
  const launch *l = p->l;
  const exec_step *x = &l->image->steps[p->pc];
  (void)payload;
  if (x->units) worker_do(w, x, p->slots, l->prog->flush_denormals);
  place_poison(p);
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
#define run_rng run_work

static bool run_collective(worker *w, place *p, const prog_collective *c) {
  (void)c;
  return place_meet(w, p);
}

static bool go_to(place *p, u32 step) {
  u32 end = p->l->prog->num_steps;
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

static bool begin_place(worker *w, place *p) {
  launch *l = p->l;
  const program *prog = l->prog;
  p->workspace = dev_heap_alloc(w->pool->heap, prog->workspace);
  if (!p->workspace) return false;
  for (u32 i = 0; i < prog->num_slots; i++) {
    const prog_slot *s = &prog->slots[i];
    switch (s->kind) {
    case SLOT_PARAM:
      p->slots[i] = l->params[(size_t)p->position * prog->num_params + s->index];
      break;
    case SLOT_RESULT:
      p->slots[i] = l->results[(size_t)p->position * prog->num_results + s->index];
      break;
    case SLOT_WORK:
      p->slots[i] = (char *)p->workspace + s->offset;
      break;
    case SLOT_CONST:
      p->slots[i] = (void *)(uintptr_t)s->data;
      break;
    }
  }
  return true;
}

void place_run(worker *w, place *p) {
  launch *l = p->l;
  u32 num_steps = l->prog->num_steps;
  u64 steps = 0;
  if (!atomic_load_explicit(&l->poisoned, memory_order_relaxed) &&
      (!worker_reserve(w, l->image->scratch) || (!p->workspace && !begin_place(w, p))))
    launch_fail(l, status_oom());
  while (p->pc < num_steps && !atomic_load_explicit(&l->poisoned, memory_order_relaxed)) {
    steps++;
    if (!run_step(w, p)) {
      atomic_fetch_add_explicit(&w->pool->stat_steps, steps, memory_order_relaxed);
      return;
    }
  }
  atomic_fetch_add_explicit(&w->pool->stat_steps, steps, memory_order_relaxed);
  worker_set_flush(w, false); /* callbacks are not ours */
  place_finish(p);
}
