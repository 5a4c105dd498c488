/* Workers, and who is ready. See pool.h for who holds what. */
#include "exec/pool.h"

#include <sched.h>

void pool_push_ready(place *p) {
  exec_pool *pool = (exec_pool *)p->l->on;
  assert(IS_LOCKED(&pool->on));
  p->state = PLACE_READY;
  p->next_ready = NULL;
  *pool->ready_end = p;
  pool->ready_end = &p->next_ready;
  u32 ready = 1 + atomic_fetch_add_explicit(&pool->num_ready, 1, memory_order_relaxed);
  if (atomic_load_explicit(&pool->sleeping, memory_order_relaxed) &&
      ready > atomic_load_explicit(&pool->watching, memory_order_relaxed))
    pthread_cond_signal(&pool->wake);
}

/* The lock is held. First come, first served: who has waited longest goes on. */
static place *pop_ready(exec_pool *pool) {
  assert(IS_LOCKED(&pool->on));
  place *p = pool->ready;
  if (!p) return NULL;
  pool->ready = p->next_ready;
  if (!pool->ready) pool->ready_end = &pool->ready;
  atomic_fetch_sub_explicit(&pool->num_ready, 1, memory_order_relaxed);
  p->state = PLACE_RUNNING;
  return p;
}

static bool has_work(const exec_pool *pool) {
  return atomic_load_explicit(&pool->num_ready, memory_order_relaxed) ||
         atomic_load_explicit(&pool->num_jobs, memory_order_relaxed);
}

/* With more than one processor it pays to look again for a while before sleeping; longer for who
 * has just helped with a step, since the next one is often to be shared as well. */
static void spin(exec_pool *pool, u64 ns) {
  for (u64 until = os_now_ns() + ns; os_now_ns() < until;)
    for (u32 i = 0; i < 16; i++, cpu_pause())
      if (has_work(pool)) return;
}

/* As long as somebody takes to wake us who has got something. Whoever wants the processor gets it.
 */
void pool_watch(launch *l, u64 met) {
  exec_pool *pool = (exec_pool *)l->on;
  executor_transport *t = l->transport;
  if (has_work(pool) || atomic_load_explicit(&l->met, memory_order_relaxed) != met) return;
  atomic_fetch_add(&pool->watching, 1);
  t->ops->listen(t, true);
  u64 begin = os_now_ns(), now = begin;
  while (!has_work(pool) && atomic_load_explicit(&l->met, memory_order_relaxed) == met &&
         now - begin < SPIN_BUSY) {
    t->ops->look(t);
    cpu_pause();
    now = os_now_ns();
    if (now - begin > SPIN_IDLE) sched_yield();
  }
  t->ops->listen(t, false);
  atomic_fetch_sub(&pool->watching, 1);
}

/* Places first, then jobs of others, then a short spin, then sleep. A worker that is closing
 * goes only when nothing is left to do. The lock is held except while working, spinning and
 * sleeping. */
void *worker_main(void *arg) {
  worker *w = arg;
  exec_pool *pool = w->pool;
  executor_set_worker(true);
  pthread_mutex_lock(&pool->on.lock);
  bool alone = os_cpu_count() == 1;
  for (u64 patience = alone ? 0 : SPIN_IDLE;;) {
    place *p = pop_ready(pool);
    if (p) {
      pthread_mutex_unlock(&pool->on.lock);
      place_run(w, p);
      pthread_mutex_lock(&pool->on.lock);
      patience = alone ? 0 : SPIN_IDLE;
    } else if (worker_help(w)) {
      patience = SPIN_BUSY;
    } else if (pool->closing) {
      break;
    } else if (patience) {
      atomic_fetch_add(&pool->unemployed, 1);
      pthread_mutex_unlock(&pool->on.lock);
      spin(pool, patience);
      pthread_mutex_lock(&pool->on.lock);
      atomic_fetch_sub(&pool->unemployed, 1);
      patience = 0;
    } else {
      atomic_fetch_add(&pool->unemployed, 1);
      atomic_fetch_add(&pool->sleeping, 1);
      pthread_cond_wait(&pool->wake, &pool->on.lock);
      atomic_fetch_sub(&pool->sleeping, 1);
      atomic_fetch_sub(&pool->unemployed, 1);
      patience = alone ? 0 : SPIN_IDLE;
    }
  }
  pthread_mutex_unlock(&pool->on.lock);
  return NULL;
}
