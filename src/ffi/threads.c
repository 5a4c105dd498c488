/* Threads for what may block. There are as many as calls have been under way at a time; they stay
 * until the client ends, since a program that called back once will do so again. */
#include "ffi/inside.h"

#include "base/os.h"

enum { MAX_THREADS = 4096 };

struct ffi_threads {
  pthread_mutex_t lock;
  pthread_cond_t wake;
  ffi_task *first, **last;
  u32 idle, queued, num, forks;
  bool closing;
  pthread_t threads[MAX_THREADS];
};

ffi_threads *ffi_threads_create(void) {
  ffi_threads *t = mem_alloc(&mem_system, sizeof *t);
  if (!t) return NULL;
  t->first = NULL;
  t->last = &t->first;
  t->idle = t->queued = t->num = 0;
  t->closing = false;
  t->forks = os_forks();
  pthread_mutex_init(&t->lock, NULL); /* neither fails on Linux */
  pthread_cond_init(&t->wake, NULL);
  return t;
}

static void *thread_main(void *arg) {
  ffi_threads *t = arg;
  pthread_mutex_lock(&t->lock);
  for (;;) {
    ffi_task *task = t->first;
    if (task) {
      t->first = task->next;
      if (!t->first) t->last = &t->first;
      t->queued--;
      pthread_mutex_unlock(&t->lock);
      task->run(task);
      pthread_mutex_lock(&t->lock);
    } else if (t->closing) {
      break;
    } else {
      t->idle++;
      pthread_cond_wait(&t->wake, &t->lock);
      t->idle--;
    }
  }
  pthread_mutex_unlock(&t->lock);
  return NULL;
}

/* The lock is held. Those that are idle take what is queued before. */
static bool has_thread(ffi_threads *t, u32 most) {
  if (t->queued < t->idle) return true;
  return t->num < most && pthread_create(&t->threads[t->num], NULL, thread_main, t) == 0 &&
         ++t->num;
}

static void enqueue(ffi_threads *t, ffi_task *task) {
  task->next = NULL;
  *t->last = task;
  t->last = &task->next;
  t->queued++;
  pthread_cond_signal(&t->wake);
}

status ffi_threads_run(ffi_threads *t, ffi_task *task) {
  pthread_mutex_lock(&t->lock);
  bool ok = has_thread(t, MAX_THREADS) || t->num > 0;
  if (ok) enqueue(t, task);
  pthread_mutex_unlock(&t->lock);
  return ok ? NULL : status_make(STATUS_RESOURCE_EXHAUSTED, "no thread for a handler");
}

bool ffi_threads_try(ffi_threads *t, ffi_task *task) {
  pthread_mutex_lock(&t->lock);
  bool ok = has_thread(t, (u32)os_cpu_count());
  if (ok) enqueue(t, task);
  pthread_mutex_unlock(&t->lock);
  return ok;
}

void ffi_threads_destroy(ffi_threads *t) {
  if (!t) return;
  if (t->forks == os_forks()) {
    pthread_mutex_lock(&t->lock);
    t->closing = true;
    pthread_cond_broadcast(&t->wake);
    pthread_mutex_unlock(&t->lock);
    for (u32 i = 0; i < t->num; i++) pthread_join(t->threads[i], NULL);
  }
  pthread_mutex_destroy(&t->lock);
  pthread_cond_destroy(&t->wake);
  mem_free(&mem_system, t, sizeof *t);
}
