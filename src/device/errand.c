/* A list under a lock and one thread, which holds a reference to both. */
#include "device/errand.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "base/arena.h"
#include "base/os.h"
#include "device/executor.h"

enum { LATER_SECONDS = 1 };

typedef struct errand {
  struct errand *next;
  dev_errand_fn *fn;
  void *user;
} errand;

struct dev_errands {
  atomic_int refs;
  u32 forks; /* os_forks() where it was made */
  dev_errand_fn *idle;
  void *user;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  pthread_t thread;
  bool started, closing; /* under lock, as what follows */
  bool later;
  struct timespec when; /* idle is to be called */
  errand *first, **last;
};

dev_errands *dev_errands_create(dev_errand_fn *idle, void *user) {
  dev_errands *e = mem_zalloc(&mem_system, sizeof *e);
  pthread_condattr_t attr;
  if (!e) return NULL;
  atomic_init(&e->refs, 1);
  e->forks = os_forks();
  e->idle = idle;
  e->user = user;
  e->last = &e->first;
  pthread_mutex_init(&e->lock, NULL); /* none of these fails on Linux */
  pthread_condattr_init(&attr);
  pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
  pthread_cond_init(&e->changed, &attr);
  pthread_condattr_destroy(&attr);
  return e;
}

void dev_errands_release(dev_errands *e) {
  if (!e || atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) != 1) return;
  pthread_cond_destroy(&e->changed);
  pthread_mutex_destroy(&e->lock);
  mem_free(&mem_system, e, sizeof *e);
}

/* The lock is held but for the calls. */
static void run_first(dev_errands *e) {
  errand *at = e->first;
  e->first = at->next;
  if (!e->first) e->last = &e->first;
  pthread_mutex_unlock(&e->lock);
  dev_errand_fn *fn = at->fn;
  void *user = at->user;
  mem_free(&mem_system, at, sizeof *at);
  fn(user);
  pthread_mutex_lock(&e->lock);
}

static void wait_for_idle(dev_errands *e) {
  if (pthread_cond_timedwait(&e->changed, &e->lock, &e->when) != ETIMEDOUT) return;
  e->later = false;
  pthread_mutex_unlock(&e->lock);
  e->idle(e->user);
  pthread_mutex_lock(&e->lock);
}

static void *thread_main(void *arg) {
  dev_errands *e = arg;
  executor_set_worker(true);
  pthread_mutex_lock(&e->lock);
  while (e->first || !e->closing) {
    if (e->first)
      run_first(e);
    else if (e->later)
      wait_for_idle(e);
    else
      pthread_cond_wait(&e->changed, &e->lock);
  }
  pthread_mutex_unlock(&e->lock);
  dev_errands_release(e);
  return NULL;
}

/* The lock is held. */
static bool is_running(dev_errands *e) {
  if (e->closing) return false;
  if (e->started) return true;
  atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
  e->started = pthread_create(&e->thread, NULL, thread_main, e) == 0;
  if (!e->started) atomic_fetch_sub_explicit(&e->refs, 1, memory_order_relaxed);
  return e->started;
}

bool dev_errand_run(dev_errands *e, dev_errand_fn *fn, void *user) {
  errand *at = e->forks == os_forks() ? mem_alloc(&mem_system, sizeof *at) : NULL;
  if (!at) return false;
  *at = (errand){NULL, fn, user};
  pthread_mutex_lock(&e->lock);
  bool ok = is_running(e);
  if (ok) {
    *e->last = at;
    e->last = &at->next;
    pthread_cond_signal(&e->changed);
  }
  pthread_mutex_unlock(&e->lock);
  if (!ok) mem_free(&mem_system, at, sizeof *at);
  return ok;
}

void dev_errand_later(dev_errands *e) {
  if (e->forks != os_forks()) return;
  pthread_mutex_lock(&e->lock);
  if (!e->later && is_running(e)) {
    clock_gettime(CLOCK_MONOTONIC, &e->when);
    e->when.tv_sec += LATER_SECONDS;
    e->later = true;
    pthread_cond_signal(&e->changed);
  }
  pthread_mutex_unlock(&e->lock);
}

void dev_errands_stop(dev_errands *e) {
  if (e->forks != os_forks()) return;
  pthread_mutex_lock(&e->lock);
  bool mine = e->started && !e->closing;
  e->closing = true;
  pthread_cond_signal(&e->changed);
  pthread_mutex_unlock(&e->lock);
  if (!mine) return;
  if (pthread_equal(e->thread, pthread_self()))
    pthread_detach(e->thread);
  else
    pthread_join(e->thread, NULL);
}
