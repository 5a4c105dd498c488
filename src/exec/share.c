/* A step on one worker, or shared out among those that have nothing else to do. */
#include "exec/pool.h"

#include "exec/denormals.h"

static void set_flush(worker *w, bool on) {
  if (w->flushing == on) return;
  w->flushing = on;
  denormals_flush(on);
}

void worker_rest(worker *w) { set_flush(w, false); }

/* One at a time: another goes the usual way. */
worker *worker_come(launcher *on) {
  exec_pool *pool = (exec_pool *)on;
  return atomic_exchange_explicit(&pool->has_guest, true, memory_order_acquire) ? NULL
                                                                                : &pool->guest;
}

void worker_leave(launcher *on, worker *w) {
  accel_end(&w->accel);
  atomic_store_explicit(&((exec_pool *)on)->has_guest, false, memory_order_release);
}

bool worker_reserve(worker *w, size_t bytes) {
  return dev_heap_reserve(w->pool->on.heap, &w->scratch, &w->scratch_size, bytes);
}

/* ---- sharing a step ---- */

/* Takes pieces until none is left; which ones is chance, and does not matter (step.h). */
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
  assert(IS_LOCKED(&pool->on));
  for (job **at = &pool->jobs; *at; at = &(*at)->next_job)
    if (*at == j) {
      *at = j->next_job;
      atomic_fetch_sub_explicit(&pool->num_jobs, 1, memory_order_relaxed);
      return;
    }
}

/* The job is its owner's, on its stack: counted as a helper before the lock is given up, so that
 * the owner waits. A helper without memory for scratch leaves the units to others; the owner has
 * its own. */
bool worker_help(worker *w) {
  exec_pool *pool = w->pool;
  job *j = pool->jobs;
  if (!j) return false;
  atomic_fetch_add_explicit(&j->helpers, 1, memory_order_relaxed);
  pthread_mutex_unlock(&pool->on.lock);
  set_flush(w, j->flush);
  if (worker_reserve(w, j->scratch)) {
    dev_heap_poison(pool->on.heap, w->scratch, j->scratch);
    work_on(j, w);
  }
  pthread_mutex_lock(&pool->on.lock);
  /* no more units: nobody else need come */
  close_job(pool, j);
  if (atomic_fetch_sub_explicit(&j->helpers, 1, memory_order_relaxed) == 1)
    pthread_cond_broadcast(&pool->on.idle);
  return true;
}

/* A helper has a piece or none left: mostly it leaves before one could have slept. */
static void spin_for(job *j) {
  for (u64 until = os_now_ns() + SPIN_BUSY; os_now_ns() < until;)
    for (u32 i = 0; i < 16; i++, cpu_pause())
      if (!atomic_load_explicit(&j->helpers, memory_order_relaxed)) return;
}

/* Returns when the last helper has left, hence all units are done. With the owner, who need not be
 * a worker, no more are awake than there are workers: one more would take its processor. */
static void share(worker *w, job *j) {
  exec_pool *pool = w->pool;
  u32 awake = 1;
  pthread_mutex_lock(&pool->on.lock);
  j->next_job = pool->jobs;
  pool->jobs = j;
  atomic_fetch_add_explicit(&pool->num_jobs, 1, memory_order_relaxed);
  awake += atomic_load(&pool->unemployed) - atomic_load(&pool->sleeping);
  for (; awake < pool->num_workers; awake++) pthread_cond_signal(&pool->wake);
  pthread_mutex_unlock(&pool->on.lock);
  work_on(j, w);
  pthread_mutex_lock(&pool->on.lock);
  close_job(pool, j);
  if (j->helpers) {
    pthread_mutex_unlock(&pool->on.lock);
    spin_for(j);
    pthread_mutex_lock(&pool->on.lock);
  }
  while (j->helpers) pthread_cond_wait(&pool->on.idle, &pool->on.lock);
  pthread_mutex_unlock(&pool->on.lock);
}

/* In tests: pieces from the last to the first, scratch anew for each, since it must not matter how
 * a step is cut and who does what. */
static void run_backwards(worker *w, const exec_step *s, const exec_env *env) {
  enum { PIECES = 12 };
  u64 chunk = (s->units + PIECES - 1) / PIECES;
  for (u64 end = s->units; end > 0;) {
    u64 begin = (end - 1) / chunk * chunk;
    dev_heap_poison(w->pool->on.heap, w->scratch, s->scratch);
    s->run(s->data, env, begin, end);
    end = begin;
  }
}

/* Apart, so that what most steps do not need costs them nothing. */
__attribute__((noinline)) static void share_out(worker *w, const exec_step *s, const exec_env *env,
                                                bool flush) {
  u64 least = 1 + 10000 / s->cost, chunk = s->units / (4 * w->pool->num_workers);
  job j = {.run = s->run,
           .data = s->data,
           .env = *env,
           .scratch = s->scratch,
           .units = s->units,
           .chunk = chunk > least ? chunk : least,
           .flush = flush};
  share(w, &j);
}

/* Shared only if it takes longer than waking somebody, somebody is idle, and no place waits for
 * a worker: devices side by side are better than one device's step in pieces. */
void worker_do(worker *w, const exec_step *s, void *const *slots, bool flush) {
  enum { WORTH_SHARING = 24000 }; /* ns in all */
  exec_pool *pool = w->pool;
  exec_env env = {.scratch = w->scratch, .slots = slots, .accel = &w->accel};
  set_flush(w, flush);
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
  share_out(w, s, &env, flush);
}
