/* A pending event is a lock, a condition and a list of callbacks; a set one is just `error`.
 * `ready` is written once, with release order, after `error`; readers that see it need no lock.
 * The first callback of an event needs no memory: almost every event has one. */
#include "device/event.h"

#include <pthread.h>
#include <stdatomic.h>

#include "base/arena.h"
#include "base/handle.h"

typedef struct waiter {
  struct waiter *next;
  dev_event_fn *fn;
  void *user;
} waiter;

struct dev_event {
  handle head;
  atomic_int refs;
  atomic_bool ready;
  atomic_bool open; /* dev_event_try_set may set it, which closes it */
  status error;     /* written before ready */
  pthread_mutex_t lock;
  pthread_cond_t changed;
  waiter *first, **last; /* under lock, in order of registration */
  waiter spare;          /* the first callback; fn NULL: unused */
};

dev_event *dev_event_create(void) {
  dev_event *e = mem_zalloc(&mem_system, sizeof *e);
  if (!e) return NULL;
  if (pthread_mutex_init(&e->lock, NULL)) goto no_lock;
  if (pthread_cond_init(&e->changed, NULL)) goto no_cond;
  atomic_init(&e->refs, 1);
  e->head = handle_begin(DEV_EVENT_KIND);
  e->last = &e->first;
  return e;
no_cond:
  pthread_mutex_destroy(&e->lock);
no_lock:
  mem_free(&mem_system, e, sizeof *e);
  return NULL;
}

dev_event *dev_event_create_open(void) {
  dev_event *e = dev_event_create();
  if (e) atomic_store_explicit(&e->open, true, memory_order_relaxed);
  return e;
}

dev_event *dev_event_retain(dev_event *e) {
  atomic_fetch_add_explicit(&e->refs, 1, memory_order_relaxed);
  return e;
}

/* Without the lock, as a callback may do anything to the event. A waiter is freed before its
 * callback. */
static void run_waiters(dev_event *e, waiter *w, status error) {
  while (w) {
    waiter *next = w->next, copy = *w;
    if (w != &e->spare) mem_free(&mem_system, w, sizeof *w);
    copy.fn(copy.user, error);
    w = next;
  }
}

void dev_event_release(dev_event *e) {
  if (!e || atomic_fetch_sub_explicit(&e->refs, 1, memory_order_acq_rel) != 1) return;
  if (e->first) { /* nobody is left to set it: whoever waits must still hear */
    status lost = status_make(STATUS_CANCELLED, "the event was dropped before it was set");
    run_waiters(e, e->first, lost);
    status_free(lost);
  }
  status_free(e->error);
  handle_end(&e->head);
  pthread_cond_destroy(&e->changed);
  pthread_mutex_destroy(&e->lock);
  mem_free(&mem_system, e, sizeof *e);
}

/* `ready` is written under the lock, so that nobody who is about to wait, or to register, misses
 * it. */
void dev_event_set(dev_event *e, status error) {
  dev_event_retain(e); /* a callback may drop the caller's reference */
  pthread_mutex_lock(&e->lock);
  e->error = error;
  atomic_store_explicit(&e->ready, true, memory_order_release);
  waiter *waiters = e->first;
  e->first = NULL;
  e->last = &e->first;
  pthread_cond_broadcast(&e->changed);
  pthread_mutex_unlock(&e->lock);
  run_waiters(e, waiters, error);
  dev_event_release(e);
}

/* Of several who try at once the first sets it. */
status dev_event_try_set(dev_event *e, status error) {
  if (atomic_exchange(&e->open, false)) {
    dev_event_set(e, error);
    return NULL;
  }
  status_free(error);
  return status_make(STATUS_FAILED_PRECONDITION, "the event is not the caller's to set, or is set");
}

bool dev_event_is_ready(const dev_event *e) {
  return atomic_load_explicit(&e->ready, memory_order_acquire);
}

status dev_event_error(const dev_event *e) { return dev_event_is_ready(e) ? e->error : NULL; }

status dev_event_await(dev_event *e) {
  if (!dev_event_is_ready(e)) {
    pthread_mutex_lock(&e->lock);
    while (!dev_event_is_ready(e)) pthread_cond_wait(&e->changed, &e->lock);
    pthread_mutex_unlock(&e->lock);
  }
  return e->error;
}

/* Looks again under the lock: a callback that came to the list after it was run would never be
 * called. */
bool dev_event_on_ready(dev_event *e, dev_event_fn *fn, void *user) {
  if (!dev_event_is_ready(e)) {
    pthread_mutex_lock(&e->lock);
    if (!dev_event_is_ready(e)) {
      waiter *w = e->spare.fn ? mem_alloc(&mem_system, sizeof *w) : &e->spare;
      if (w) {
        *w = (waiter){NULL, fn, user};
        *e->last = w;
        e->last = &w->next;
      }
      pthread_mutex_unlock(&e->lock);
      return w != NULL;
    }
    pthread_mutex_unlock(&e->lock);
  }
  fn(user, e->error);
  return true;
}
