/* Workers and launches. See device/executor.h for the contract, pool.h for who holds what. */
#include "exec/pool.h"

#include <sched.h>

#include "base/os.h"

/* ---- ready list and queues; the lock is held ---- */

void pool_push_ready(exec_pool *pool, place *p) {
  p->state = PLACE_READY;
  p->next_ready = NULL;
  *pool->ready_end = p;
  pool->ready_end = &p->next_ready;
  atomic_fetch_add_explicit(&pool->num_ready, 1, memory_order_relaxed);
  if (atomic_load_explicit(&pool->sleeping, memory_order_relaxed)) pthread_cond_signal(&pool->wake);
}

static place *pop_ready(exec_pool *pool) {
  place *p = pool->ready;
  if (!p) return NULL;
  pool->ready = p->next_ready;
  if (!pool->ready) pool->ready_end = &pool->ready;
  atomic_fetch_sub_explicit(&pool->num_ready, 1, memory_order_relaxed);
  p->state = PLACE_RUNNING;
  return p;
}

static queue *find_queue(exec_pool *pool, u32 device) {
  u32 mask = pool->cap_queues - 1;
  for (u32 i = (u32)hash_u64(device, 0) & mask;; i = (i + 1) & mask) {
    queue *q = &pool->queues[i];
    if (q->device == device || q->device == PROG_NONE) return q;
  }
}

/* Makes room for n more devices; false: no memory. */
static bool reserve_queues(exec_pool *pool, u32 n) {
  u64 wanted = 2 * ((u64)pool->num_queues + n) + 16;
  if (wanted <= pool->cap_queues) return true;
  u64 cap = 64;
  while (cap < wanted) cap *= 2;
  if (cap > 1u << 30) return false;
  queue *fresh = mem_alloc(pool->mem, cap * sizeof(queue)), *old = pool->queues;
  if (!fresh) return false;
  u32 old_cap = pool->cap_queues;
  for (u64 i = 0; i < cap; i++) fresh[i] = (queue){PROG_NONE, NULL, NULL};
  pool->queues = fresh;
  pool->cap_queues = (u32)cap;
  for (u32 i = 0; i < old_cap; i++)
    if (old[i].device != PROG_NONE) *find_queue(pool, old[i].device) = old[i];
  mem_free(pool->mem, old, old_cap * sizeof(queue));
  return true;
}

static void enqueue(exec_pool *pool, place *p) {
  queue *q = find_queue(pool, p->device);
  if (q->device == PROG_NONE) {
    q->device = p->device;
    pool->num_queues++;
  }
  if (q->tail)
    q->tail->next = p;
  else
    q->head = p;
  q->tail = p;
}

static void dequeue(exec_pool *pool, place *p) {
  queue *q = find_queue(pool, p->device);
  q->head = p->next;
  if (!q->head)
    q->tail = NULL;
  else if (q->head->l->ready)
    pool_push_ready(pool, q->head);
}

/* ---- launches ---- */

static void free_launch(launch *l) {
  const allocator *mem = l->pool->mem;
  exec_image_release(l->image);
  status_free(l->error);
  mem_free(mem, l, l->bytes);
}

void launch_fail(launch *l, status error) {
  exec_pool *pool = l->pool;
  pthread_mutex_lock(&pool->lock);
  if (!l->error) {
    l->error = error;
    error = NULL;
    atomic_store(&l->poisoned, true);
    for (u32 i = 0; i < l->n; i++)
      if (l->places[i].state == PLACE_PARKED) {
        l->active++;
        pool_push_ready(pool, &l->places[i]);
      }
  }
  pthread_mutex_unlock(&pool->lock);
  status_free(error);
}

/* One of those that keep the launch is through; the last ends it. */
static void launch_release(launch *l) {
  exec_pool *pool = l->pool;
  pthread_mutex_lock(&pool->lock);
  bool last = --l->unfinished == 0;
  pthread_mutex_unlock(&pool->lock);
  if (!last) return;
  if (l->done) l->done(l->user, l->error);
  free_launch(l);
  pthread_mutex_lock(&pool->lock);
  pool->launches--;
  if (pool->launches == 0) pthread_cond_broadcast(&pool->idle);
  pthread_mutex_unlock(&pool->lock);
}

void launch_deadlocked(launch *l, status error) {
  launch_fail(l, error);
  launch_release(l);
}

/* The next launch on the device may begin before the callback has heard of this one. */
void place_finish(place *p) {
  launch *l = p->l;
  exec_pool *pool = l->pool;
  dev_heap_free(pool->heap, p->workspace, l->prog->workspace);
  p->workspace = NULL;
  bool failed = atomic_load(&l->poisoned);
  pthread_mutex_lock(&pool->lock);
  p->state = PLACE_DONE;
  dequeue(pool, p);
  status deadlock = --l->active == 0 && !l->error ? launch_deadlock(l) : NULL;
  pthread_mutex_unlock(&pool->lock);
  if (deadlock) launch_fail(l, deadlock);
  if (l->device_done) l->device_done(l->user, p->position, failed ? l->error : NULL);
  launch_release(l);
}

/* An event is there, or the launch call is through with its part. */
static void event_ready(void *user, status error) {
  launch *l = user;
  exec_pool *pool = l->pool;
  if (error) launch_fail(l, status_copy(error));
  pthread_mutex_lock(&pool->lock);
  if (--l->events_left == 0) {
    l->ready = true;
    for (u32 i = 0; i < l->n; i++)
      if (find_queue(pool, l->places[i].device)->head == &l->places[i])
        pool_push_ready(pool, &l->places[i]);
  }
  pthread_mutex_unlock(&pool->lock);
}

/* One block: the launch, its places, and all that is copied from the arguments. */
static launch *make_launch(exec_pool *pool, const executor_launch_args *args) {
  const executor_image *im = args->image;
  const program *prog = im->prog;
  size_t n = program_num_devices(prog), bytes = align_up(sizeof(launch), 64);
  size_t places_at = bytes, slots_at, params_at, results_at, arrived_at, table_at;
  bytes += align_up(n * sizeof(place), 64);
  slots_at = bytes;
  bytes += align_up(n * prog->num_slots * sizeof(void *), 64);
  params_at = bytes;
  bytes += align_up(n * prog->num_params * sizeof(void *), 64);
  results_at = bytes;
  bytes += align_up(n * prog->num_results * sizeof(void *), 64);
  arrived_at = bytes;
  bytes += align_up(im->num_groups * sizeof(u32), 64);
  table_at = bytes;
  bytes += n * sizeof(void *);
  char *block = mem_alloc(pool->mem, bytes);
  if (!block) return NULL;
  launch *l = (launch *)block;
  *l = (launch){.pool = pool,
                .image = args->image,
                .prog = prog,
                .n = (u32)n,
                .places = (place *)(block + places_at),
                .params = (void **)(block + params_at),
                .results = (void **)(block + results_at),
                .arrived = (u32 *)(block + arrived_at),
                .slots = (void *const **)(block + table_at),
                .active = (u32)n,
                .unfinished = (u32)n,
                .events_left = args->num_wait + 1,
                .device_done = args->device_done,
                .done = args->done,
                .user = args->user,
                .bytes = bytes};
  if (prog->num_params) memcpy(l->params, args->params, n * prog->num_params * sizeof(void *));
  if (prog->num_results) memcpy(l->results, args->results, n * prog->num_results * sizeof(void *));
  memset(l->arrived, 0, im->num_groups * sizeof(u32));
  void **slots = (void **)(block + slots_at);
  for (size_t i = 0; i < n; i++) {
    l->slots[i] = slots + i * prog->num_slots;
    l->places[i] = (place){.l = l,
                           .position = (u32)i,
                           .device = args->devices[i],
                           .slots = slots + i * prog->num_slots};
  }
  return l;
}

status pool_launch(executor *x, const executor_launch_args *args) {
  exec_pool *pool = (exec_pool *)x;
  for (u32 i = 0; i < program_num_devices(args->image->prog); i++)
    if (args->devices[i] == PROG_NONE)
      return status_make(STATUS_INVALID_ARGUMENT, "device number out of range");
  if (pool->forks != os_forks())
    return status_make(STATUS_FAILED_PRECONDITION,
                       "the workers stayed with the process that this one was forked from");
  launch *l = make_launch(pool, args);
  if (!l) return status_oom();
  pthread_mutex_lock(&pool->lock);
  bool stopping = pool->stopping, ok = !stopping && reserve_queues(pool, l->n);
  if (ok) {
    exec_image_retain(l->image);
    pool->launches++;
    for (u32 i = 0; i < l->n; i++) enqueue(pool, &l->places[i]);
  }
  pthread_mutex_unlock(&pool->lock);
  if (!ok) {
    mem_free(pool->mem, l, l->bytes);
    return stopping ? status_make(STATUS_FAILED_PRECONDITION, "the executor has been stopped")
                    : status_oom();
  }
  atomic_fetch_add_explicit(&pool->stat_launches, 1, memory_order_relaxed);
  for (u32 i = 0; i < args->num_wait; i++)
    if (!dev_event_on_ready(args->wait_for[i], event_ready, l)) event_ready(l, status_oom());
  event_ready(l, NULL);
  return NULL;
}

/* ---- workers ---- */

/* With more than one processor it pays to look again for a while before sleeping. */
static void spin(exec_pool *pool) {
  for (int i = 0; i < 300; i++) {
    if (atomic_load_explicit(&pool->num_ready, memory_order_relaxed) ||
        atomic_load_explicit(&pool->num_jobs, memory_order_relaxed))
      return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#endif
  }
}

void *worker_main(void *arg) {
  worker *w = arg;
  exec_pool *pool = w->pool;
  executor_worker_begin();
  pthread_mutex_lock(&pool->lock);
  for (bool spun = pool->num_workers == 1;;) {
    place *p = pop_ready(pool);
    if (p) {
      pthread_mutex_unlock(&pool->lock);
      place_run(w, p);
      pthread_mutex_lock(&pool->lock);
      spun = pool->num_workers == 1;
    } else if (worker_help(w)) {
      spun = pool->num_workers == 1;
    } else if (pool->closing) {
      break;
    } else if (!spun) {
      atomic_fetch_add(&pool->unemployed, 1);
      pthread_mutex_unlock(&pool->lock);
      spin(pool);
      pthread_mutex_lock(&pool->lock);
      atomic_fetch_sub(&pool->unemployed, 1);
      spun = true;
    } else {
      atomic_fetch_add(&pool->unemployed, 1);
      atomic_fetch_add(&pool->sleeping, 1);
      pthread_cond_wait(&pool->wake, &pool->lock);
      atomic_fetch_sub(&pool->sleeping, 1);
      atomic_fetch_sub(&pool->unemployed, 1);
      spun = pool->num_workers == 1;
    }
  }
  pthread_mutex_unlock(&pool->lock);
  return NULL;
}
