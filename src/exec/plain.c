/* The plain executor: one thread, which takes the oldest launch's first place that is ready and
 * runs it, a step at a time and whole, until it parks or is done; then the next. So a run is the
 * same each time, places meet one after the other, and a debugger sees one stack. It has no oneDNN.
 *
 * Its memories are not addresses and know their size: what the table's contract forbids, and the
 * processors' executor does not see, is INVALID_ARGUMENT here. */
#include "device/copy.h"
#include "exec/accel.h"
#include "exec/denormals.h"
#include "exec/kinds.h"
#include "exec/launch.h"

struct executor_memory {
  const executor *owner;
  size_t bytes;
  char *data;
};

struct worker {
  dev_heap *heap;
  char *scratch;
  size_t scratch_size;
  accel_thread accel; /* none */
};

typedef struct plain {
  launcher on; /* first */
  pthread_cond_t wake;
  bool closing; /* under the launcher's lock */
  pthread_t thread;
  worker only;
} plain;

static plain *plain_of(executor *x) { return (plain *)x; }
static dev_heap *heap_of(executor *x) { return plain_of(x)->on.heap; }

/* ---- memory ---- */

static executor_memory *import_memory(executor *x, u32 device, void *data, size_t bytes) {
  executor_memory *m = mem_alloc(&mem_system, sizeof *m);
  (void)device;
  if (m) *m = (executor_memory){x, bytes, data};
  return m;
}

static void forget_memory(executor *x, executor_memory *m) {
  (void)x;
  mem_free(&mem_system, m, sizeof *m);
}

static executor_memory *alloc_memory(executor *x, u32 device, size_t bytes) {
  char *data = dev_heap_alloc(heap_of(x), bytes);
  executor_memory *m = data ? import_memory(x, device, data, bytes) : NULL;
  if (!m) dev_heap_free(heap_of(x), data, bytes);
  return m;
}

static void free_memory(executor *x, executor_memory *m, size_t bytes) {
  (void)bytes;
  dev_heap_free(heap_of(x), m->data, m->bytes);
  forget_memory(x, m);
}

/* Are bytes [offset, offset + bytes) the executor's to use? */
static status check_range(const executor *x, const executor_memory *m, size_t offset,
                          size_t bytes) {
  if (m->owner != x)
    return status_make(STATUS_INVALID_ARGUMENT, "memory %p is another executor's", (const void *)m);
  if (offset <= m->bytes && bytes <= m->bytes - offset) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "%zu bytes at %zu of a memory of %zu", bytes, offset,
                     m->bytes);
}

static status check_array(const executor *x, const executor_memory *m, size_t offset,
                          const executor_array *a) {
  size_t bytes;
  if (!dev_dense_bytes(a->dims, dtype_size(a->type), &bytes))
    return status_make(STATUS_INVALID_ARGUMENT, "an array whose sizes do not make sense");
  return check_range(x, m, offset, bytes);
}

static status write_memory(executor *x, executor_memory *to, size_t offset, const executor_array *a,
                           const void *from) {
  RETURN_IF_ERROR(check_array(x, to, offset, a));
  executor_host_write(to->data + offset, a, from);
  return NULL;
}

static status read_memory(executor *x, executor_memory *from, size_t offset,
                          const executor_array *a, void *to) {
  RETURN_IF_ERROR(check_array(x, from, offset, a));
  executor_host_read(from->data + offset, a, to);
  return NULL;
}

static status copy_memory(executor *x, executor_memory *to, executor_memory *from, size_t bytes) {
  RETURN_IF_ERROR(check_range(x, to, 0, bytes));
  RETURN_IF_ERROR(check_range(x, from, 0, bytes));
  if (bytes) memcpy(to->data, from->data, bytes);
  return NULL;
}

static void *map_memory(executor *x, executor_memory *m) {
  (void)x;
  return m->data;
}

static void *address(executor_memory *m) { return m->data; }

/* ---- launches ---- */

static status check_memories(executor *x, const program *p, u32 places, u32 n, const u32 *slots,
                             executor_memory *const *memories) {
  for (u32 i = 0; i < n * places; i++)
    RETURN_IF_ERROR(check_range(x, memories[i], 0, prog_slot_bytes(&p->slots[slots[i % n]])));
  return NULL;
}

static status check_launch(launcher *on, const executor_launch_args *args) {
  executor *x = &on->base;
  const program *p = args->image->prog;
  u32 n = args->count ? args->count : program_num_devices(p);
  RETURN_IF_ERROR(check_memories(x, p, n, p->num_params, p->param_slot, args->params));
  return check_memories(x, p, n, p->num_results, p->result_slot, args->results);
}

/* The lock is held, and the thread looks for itself which place is first. */
static void wake(place *p) {
  assert(IS_LOCKED(p->l->on));
  p->state = PLACE_READY;
  pthread_cond_signal(&((plain *)p->l->on)->wake);
}

static bool reserve(worker *w, size_t bytes) {
  return dev_heap_reserve(w->heap, &w->scratch, &w->scratch_size, bytes);
}

static void work(worker *w, const exec_step *s, void *const *slots, bool flush) {
  exec_env env = {.scratch = w->scratch, .slots = slots, .accel = &w->accel};
  dev_heap_poison(w->heap, w->scratch, s->scratch);
  if (flush) denormals_flush(true);
  s->run(s->data, &env, 0, s->units);
  if (flush) denormals_flush(false);
}

static void rest(worker *w) { (void)w; }

static place *first_ready(const launcher *on) {
  for (launch *l = on->first; l; l = l->after)
    for (u32 i = 0; i < l->n; i++)
      if (l->places[i].state == PLACE_READY) return &l->places[i];
  return NULL;
}

/* The lock is held but for place_run. */
static void *thread_main(void *arg) {
  plain *x = arg;
  executor_set_worker(true);
  pthread_mutex_lock(&x->on.lock);
  for (;;) {
    place *p = first_ready(&x->on);
    if (p) {
      p->state = PLACE_RUNNING;
      pthread_mutex_unlock(&x->on.lock);
      place_run(&x->only, p);
      pthread_mutex_lock(&x->on.lock);
    } else if (x->closing) {
      break;
    } else {
      pthread_cond_wait(&x->wake, &x->on.lock);
    }
  }
  pthread_mutex_unlock(&x->on.lock);
  return NULL;
}

/* ---- the executor ---- */

/* Waits for the launches first: the thread ends only when nothing is ready any more. */
static void stop(executor *e) {
  plain *x = plain_of(e);
  if (!launcher_is_here(&x->on) || !launcher_close(&x->on)) return;
  pthread_mutex_lock(&x->on.lock);
  x->closing = true;
  pthread_cond_signal(&x->wake);
  pthread_mutex_unlock(&x->on.lock);
  pthread_join(x->thread, NULL);
  dev_heap_free(x->on.heap, x->only.scratch, x->only.scratch_size);
}

static void end(plain *x) {
  const allocator *mem = x->on.mem;
  pthread_cond_destroy(&x->wake);
  launcher_end(&x->on);
  mem_free(mem, x, sizeof *x);
}

static void destroy(executor *e) {
  if (launcher_is_here(&plain_of(e)->on)) end(plain_of(e));
}

static const executor_ops plain_ops = {
    .name = "plain",
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

static const launcher_ops plain_places = {
    .check = check_launch,
    .address = address,
    .wake = wake,
    .reserve = reserve,
    .work = work,
    .rest = rest,
};

status plain_create(const exec_options *options, executor **out_executor) {
  const allocator *mem = options->mem;
  *out_executor = NULL;
  plain *x = mem_zalloc(mem, sizeof *x);
  if (!x) return status_oom();
  bool begun = launcher_begin(&x->on, &plain_ops, &plain_places, mem);
  pthread_cond_init(&x->wake, NULL);
  x->only.heap = x->on.heap;
  if (begun && pthread_create(&x->thread, NULL, thread_main, x) == 0) {
    *out_executor = &x->on.base;
    return NULL;
  }
  end(x);
  return begun ? status_make(STATUS_RESOURCE_EXHAUSTED, "cannot start the executor's thread")
               : status_oom();
}
