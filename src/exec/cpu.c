/* The table of the processors' executor: a pool, its heap, and memory that is the host's own, so
 * that a handle is an address. */
#include <sched.h>

#include "exec/kinds.h"
#include "exec/pool.h"

static exec_pool *pool_of(executor *x) { return (exec_pool *)x; }

/* ---- memory ---- */

static executor_memory *handle_of(void *p) { return p; }
static char *address_of(executor_memory *m) { return (char *)m; }

static executor_memory *alloc_memory(executor *x, u32 device, size_t bytes) {
  (void)device;
  return handle_of(dev_heap_alloc(pool_of(x)->on.heap, bytes));
}

static void free_memory(executor *x, executor_memory *m, size_t bytes) {
  dev_heap_free(pool_of(x)->on.heap, m, bytes);
}

static executor_memory *import_memory(executor *x, u32 device, void *data, size_t bytes) {
  (void)x, (void)device, (void)bytes;
  return handle_of(data);
}

static void forget_memory(executor *x, executor_memory *m) { (void)x, (void)m; }

static status write_memory(executor *x, executor_memory *to, size_t offset, const executor_array *a,
                           const void *from) {
  (void)x;
  executor_host_write(address_of(to) + offset, a, from);
  return NULL;
}

static status read_memory(executor *x, executor_memory *from, size_t offset,
                          const executor_array *a, void *to) {
  (void)x;
  executor_host_read(address_of(from) + offset, a, to);
  return NULL;
}

static status copy_memory(executor *x, executor_memory *to, executor_memory *from, size_t bytes) {
  (void)x;
  if (bytes) memcpy(address_of(to), address_of(from), bytes);
  return NULL;
}

static void *map_memory(executor *x, executor_memory *m) {
  (void)x;
  return address_of(m);
}

/* ---- the executor ---- */

/* Also of a pool of which only the first few could be started. */
static void join_workers(exec_pool *pool, u32 started) {
  pthread_mutex_lock(&pool->on.lock);
  pool->closing = true;
  pthread_cond_broadcast(&pool->wake);
  pthread_mutex_unlock(&pool->on.lock);
  for (u32 i = 0; i < started; i++) {
    pthread_join(pool->workers[i].thread, NULL);
    dev_heap_free(pool->on.heap, pool->workers[i].scratch, pool->workers[i].scratch_size);
  }
}

static void stop(executor *x) {
  exec_pool *pool = pool_of(x);
  if (!launcher_is_here(&pool->on)) return; /* a lock may be held for ever */
  if (!launcher_close(&pool->on)) return;
  join_workers(pool, pool->num_workers);
  while (worker_come(&pool->on) == NULL) sched_yield(); /* it has left its launch already */
  dev_heap_free(pool->on.heap, pool->guest.scratch, pool->guest.scratch_size);
}

static void free_pool(exec_pool *pool) {
  const allocator *mem = pool->on.mem;
  pthread_cond_destroy(&pool->wake);
  accel_deinit(&pool->accel);
  mem_free(mem, pool->workers, pool->num_workers * sizeof(worker));
  launcher_end(&pool->on);
  mem_free(mem, pool, sizeof *pool);
}

static void destroy(executor *x) {
  if (launcher_is_here(&pool_of(x)->on)) free_pool(pool_of(x));
}

static const executor_ops cpu_ops = {
    .name = "cpu",
    .stop = stop,
    .destroy = destroy,
    .alloc = alloc_memory,
    .free = free_memory,
    .import = import_memory,
    .forget = forget_memory,
    .write = write_memory,
    .read = read_memory,
    .copy = copy_memory,
    .map = map_memory,
    LAUNCHER_ROWS,
};

static const launcher_ops cpu_places = {
    .wake = pool_push_ready,
    .reserve = worker_reserve,
    .watch = pool_watch,
    .work = worker_do,
    .rest = worker_rest,
    .come = worker_come,
    .leave = worker_leave,
};

/* A worker may run before the next one is made: the pool is complete by now but for its threads. */
static status start_workers(exec_pool *pool) {
  pool->guest = (worker){.pool = pool, .accel.lib = &pool->accel};
  for (u32 i = 0; i < pool->num_workers; i++) {
    worker *w = &pool->workers[i];
    w->pool = pool;
    w->accel.lib = &pool->accel;
    if (pthread_create(&w->thread, NULL, worker_main, w) == 0) continue;
    join_workers(pool, i);
    return status_make(STATUS_RESOURCE_EXHAUSTED, "cannot start worker thread %u", i);
  }
  return NULL;
}

/* Nanoseconds. A single worker has no processor of its own, mostly: what it did meanwhile, the
 * thread that launches would wait for. So it is with meetings, which it begins at once. */
enum { BRIEF = 24000, BRIEF_ALONE = 400000, MEETINGS = 400000 };

status cpu_create(const exec_options *options, executor **out_executor) {
  const allocator *mem = options->mem;
  u32 threads = options->threads;
  *out_executor = NULL;
  exec_pool *pool = mem_zalloc(mem, sizeof *pool);
  if (!pool) return status_oom();
  bool begun = launcher_begin(&pool->on, &cpu_ops, &cpu_places, mem);
  pool->num_workers = threads;
  pool->on.brief = threads == 1 ? BRIEF_ALONE : BRIEF;
  pool->on.meetings = MEETINGS;
  pool->ready_end = &pool->ready;
  pthread_cond_init(&pool->wake, NULL);
  accel_init(&pool->accel);
  pool->poisons = dev_poison_wanted() != 0;
  pool->workers = mem_zalloc(mem, threads * sizeof(worker));
  status s = begun && pool->workers ? start_workers(pool) : status_oom();
  if (s)
    free_pool(pool);
  else
    *out_executor = &pool->on.base;
  return s;
}
