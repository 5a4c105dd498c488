/* The life of a launch. See device/executor.h for the contract, launch.h for who holds what. */
#include "exec/launch.h"

/* ---- queues; the lock is held ---- */

static queue *find_queue(launcher *on, u32 device) {
  assert(IS_LOCKED(on));
  u32 mask = on->cap_queues - 1;
  for (u32 i = (u32)hash_u64(device, 0) & mask;; i = (i + 1) & mask) {
    queue *q = &on->queues[i];
    if (q->device == device || q->device == PROG_NONE) return q;
  }
}

/* Makes room for n more devices; false: no memory. */
static bool reserve_queues(launcher *on, u32 n) {
  u64 wanted = 2 * ((u64)on->num_queues + n) + 16;
  if (wanted <= on->cap_queues) return true;
  u64 cap = 64;
  while (cap < wanted) cap *= 2;
  if (cap > 1u << 30) return false;
  queue *fresh = mem_alloc(on->mem, cap * sizeof(queue)), *old = on->queues;
  if (!fresh) return false;
  u32 old_cap = on->cap_queues;
  for (u64 i = 0; i < cap; i++) fresh[i] = (queue){PROG_NONE, NULL, NULL};
  on->queues = fresh;
  on->cap_queues = (u32)cap;
  for (u32 i = 0; i < old_cap; i++)
    if (old[i].device != PROG_NONE) *find_queue(on, old[i].device) = old[i];
  mem_free(on->mem, old, old_cap * sizeof(queue));
  return true;
}

static void enqueue(launcher *on, place *p) {
  queue *q = find_queue(on, p->device);
  if (q->device == PROG_NONE) {
    q->device = p->device;
    on->num_queues++;
  }
  if (q->tail)
    q->tail->next = p;
  else
    q->head = p;
  q->tail = p;
}

/* p is at the head: places leave a queue in the order of the launch calls. The next one begins
 * unless its launch still waits for events; then event_ready wakes it. */
static void dequeue(launcher *on, place *p) {
  queue *q = find_queue(on, p->device);
  assert(q->head == p);
  q->head = p->next;
  if (!q->head)
    q->tail = NULL;
  else if (q->head->l->ready)
    on->ops->wake(q->head);
}

static void list(launcher *on, launch *l) {
  l->before = on->last;
  if (l->before)
    l->before->after = l;
  else
    on->first = l;
  on->last = l;
  on->launches++;
}

static void unlist(launcher *on, launch *l) {
  *(l->before ? &l->before->after : &on->first) = l->after;
  *(l->after ? &l->after->before : &on->last) = l->before;
}

/* ---- the end of a launch ---- */

static void free_launch(launch *l) {
  const allocator *mem = l->on->mem;
  exec_image_release(l->image);
  launch_drop_messages(l);
  status_free(l->error);
  mem_free(mem, l, l->bytes);
}

void launch_wake(place *p) {
  place_list *here = p->l->here;
  assert(IS_LOCKED(p->l->on));
  if (!here) {
    p->l->on->ops->wake(p);
    return;
  }
  p->state = PLACE_READY;
  p->next_ready = NULL;
  *here->end = p;
  here->end = &p->next_ready;
}

/* Only who is parked is woken: a place that runs sees `poisoned` before its next step, one that
 * is meeting or outside is woken by who has its buffers. The transport is told without the lock,
 * as it may call back; l->error is not changed again, so that it can be read without the lock
 * too. */
void launch_fail(launch *l, status error) {
  launcher *on = l->on;
  pthread_mutex_lock(&on->lock);
  bool first = !l->error;
  if (first) {
    l->error = error;
    error = NULL;
    atomic_store(&l->poisoned, true);
    for (u32 i = 0; i < l->n; i++)
      if (l->places[i].state == PLACE_PARKED) {
        l->active++;
        launch_wake(&l->places[i]);
      }
  }
  pthread_mutex_unlock(&on->lock);
  if (first && l->transport) l->transport->ops->fail(l->transport, l->id, l->first, l->error);
  status_free(error);
}

void launch_release(launch *l) {
  launcher *on = l->on;
  pthread_mutex_lock(&on->lock);
  bool last = --l->unfinished == 0;
  if (last) unlist(on, l);
  pthread_mutex_unlock(&on->lock);
  if (!last) return;
  if (l->transport) l->transport->ops->leave(l->transport, l->id, l->first);
  if (l->done) l->done(l->user, l->error);
  free_launch(l);
  pthread_mutex_lock(&on->lock);
  on->launches--;
  if (on->launches == 0) pthread_cond_broadcast(&on->idle);
  pthread_mutex_unlock(&on->lock);
}

bool launcher_fail(executor *x, void *user, status error) {
  launcher *on = (launcher *)x;
  if (!launcher_is_here(on)) {
    status_free(error);
    return false;
  }
  pthread_mutex_lock(&on->lock);
  launch *l = on->first;
  while (l && l->user != user) l = l->after;
  bool alive = false;
  for (u32 i = 0; l && !l->error && i < l->n; i++) alive |= l->places[i].state != PLACE_DONE;
  if (alive) l->unfinished++;
  pthread_mutex_unlock(&on->lock);
  if (!alive) {
    status_free(error);
    return false;
  }
  launch_fail(l, error);
  launch_release(l);
  return true;
}

/* By the transport, about a launch of which nothing moves while it asks. */
static void describe_standstill(const void *user, buf *out) {
  const launch *l = user;
  pthread_mutex_lock(&l->on->lock);
  launch_describe(l, out);
  pthread_mutex_unlock(&l->on->lock);
}

void launch_end_halt(launch *l, const launch_halted *h) {
  if (h->deadlock)
    launch_fail(l, h->deadlock);
  else
    l->transport->ops->stand(l->transport, l->id, l->first,
                             &(executor_standstill){h->begun, h->met, describe_standstill, l});
  launch_release(l);
}

/* The next launch on the device may begin before the callback has heard of this one. */
void place_finish(place *p) {
  launch *l = p->l;
  launcher *on = l->on;
  dev_heap_free(on->heap, p->workspace, l->prog->workspace);
  p->workspace = NULL;
  if (p->began) place_tell(p, TRACE_PROGRAM, l->name, p->began);
  bool failed = atomic_load(&l->poisoned);
  pthread_mutex_lock(&on->lock);
  p->state = PLACE_DONE;
  dequeue(on, p);
  l->active--;
  launch_halted halted = launch_check(l);
  pthread_mutex_unlock(&on->lock);
  launch_halt(l, &halted);
  if (l->device_done)
    l->device_done(l->user, l->first + (u32)(p - l->places), failed ? l->error : NULL);
  launch_release(l);
}

/* ---- the beginning ---- */

/* An event is there, or the launch call is through with its part. */
static void event_ready(void *user, status error) {
  launch *l = user;
  launcher *on = l->on;
  if (error) launch_fail(l, status_copy(error));
  pthread_mutex_lock(&on->lock);
  if (--l->outside == 0) {
    l->ready = true;
    for (u32 i = 0; i < l->n; i++)
      if (find_queue(on, l->places[i].device)->head == &l->places[i]) on->ops->wake(&l->places[i]);
  }
  pthread_mutex_unlock(&on->lock);
}

static void take_memories(const launcher *on, size_t n, executor_memory *const *from, void **to) {
  if (n && !on->ops->address) memcpy(to, from, n * sizeof(void *));
  for (size_t i = 0; on->ops->address && i < n; i++) to[i] = on->ops->address(from[i]);
}

/* `slots`: of all places, one after the other. */
static void make_places(launch *l, const executor_launch_args *args, void **slots) {
  u32 num_slots = l->prog->num_slots;
  for (u32 i = 0; i < l->n; i++, slots += num_slots + 1) {
    l->slots[i] = slots;
    l->places[i] = (place){.l = l,
                           .position = args->first + i,
                           .device = args->devices[i],
                           .left = SLICE,
                           .slots = slots};
    l->places[i].slots[num_slots] = &l->places[i];
    place_waits(&l->places[i], PROG_NONE);
  }
  for (u32 p = 0; l->numbers && p < program_num_devices(l->prog); p++)
    if (launch_place(l, p)) launch_place(l, p)->position = p;
}

/* One block: the launch, its places, and all that is copied from the arguments. */
static launch *make_launch(launcher *on, const executor_launch_args *args) {
  const executor_image *im = args->image;
  const program *prog = im->prog;
  size_t n = args->count ? args->count : program_num_devices(prog),
         bytes = align_up(sizeof(launch), 64), num_slots = prog->num_slots + 1; /* and the place */
  size_t num_numbers = args->numbers ? program_num_devices(prog) : 0;
  size_t places_at = bytes, slots_at, params_at, results_at, arrived_at, table_at, numbers_at;
  bytes += align_up(n * sizeof(place), 64);
  slots_at = bytes;
  bytes += align_up(n * num_slots * sizeof(void *), 64);
  params_at = bytes;
  bytes += align_up(n * prog->num_params * sizeof(void *), 64);
  results_at = bytes;
  bytes += align_up(n * prog->num_results * sizeof(void *), 64);
  arrived_at = bytes;
  bytes += align_up(im->num_groups * sizeof(u32), 64);
  table_at = bytes;
  bytes += n * sizeof(void *);
  numbers_at = bytes;
  bytes += num_numbers * sizeof(u32);
  char *block = mem_alloc(on->mem, bytes);
  if (!block) return NULL;
  launch *l = (launch *)block;
  *l = (launch){.on = on,
                .work = on->ops->work,
                .image = args->image,
                .prog = prog,
                .first = args->first,
                .n = (u32)n,
                .transport = args->transport,
                .id = args->id,
                .host = args->host,
                .places = (place *)(block + places_at),
                .params = (void **)(block + params_at),
                .results = (void **)(block + results_at),
                .arrived = (u32 *)(block + arrived_at),
                .slots = (void *const **)(block + table_at),
                .active = (u32)n,
                .unfinished = (u32)n,
                .outside = args->num_wait + 1,
                .device_done = args->device_done,
                .done = args->done,
                .user = args->user,
                .bytes = bytes};
  take_memories(on, n * prog->num_params, args->params, l->params);
  take_memories(on, n * prog->num_results, args->results, l->results);
  memset(l->arrived, 0, im->num_groups * sizeof(u32));
  void **slots = (void **)(block + slots_at);
  l->traced = trace_on();
  l->name = args->name;
  u32 *numbers = (u32 *)(block + numbers_at);
  if (num_numbers) l->numbers = memcpy(numbers, args->numbers, num_numbers * sizeof *numbers);
  make_places(l, args, slots);
  return l;
}

/* All that can be refused before anything is taken: no callback is called for such a launch. */
static status cannot_launch(launcher *on, const executor_launch_args *args) {
  if (!launcher_is_here(on))
    return status_make(STATUS_FAILED_PRECONDITION,
                       "the workers stayed with the process that this one was forked from");
  u32 all = program_num_devices(args->image->prog), n = args->count ? args->count : all;
  bool alone = n < all && !args->transport && program_meets(args->image->prog);
  if (n > all || args->first > all - n || alone)
    return status_make(STATUS_INVALID_ARGUMENT, "positions %u to %u of %u%s", args->first,
                       args->first + n - 1, all, alone ? ", and no transport" : "");
  for (u32 i = 0; i < n; i++)
    if (args->devices[i] == PROG_NONE)
      return status_make(STATUS_INVALID_ARGUMENT, "device number out of range");
  return on->ops->check ? on->ops->check(on, args) : NULL;
}

/* A program that is done sooner than somebody could be woken runs on the thread that launches it,
 * one position after the other, each until it parks: nothing is to be waited for, and no call is
 * the host's, who may hold what the thread that answers wants (such steps cost no one knows what).
 * Its meetings may take longer, since whoever is woken meanwhile helps with their work.
 * From a callback it does not, as launches there could nest without end. What jumps back is tried
 * there until once it was not done in that time, or a little more: it then went on elsewhere. */
static worker *come(launcher *on, const executor_launch_args *args, u32 n) {
  const executor_image *im = args->image;
  if (args->transport || args->num_wait || im->cost > on->brief / n ||
      im->meetings > on->meetings / n || !on->ops->come ||
      atomic_load_explicit(&im->lasts, memory_order_relaxed) || executor_on_worker())
    return NULL;
  return on->ops->come(on);
}

/* The lock is held. Nothing is ahead of the launch's places, which nobody else runs from then on.
 */
static bool take_off(launcher *on, launch *l, place_list *here) {
  for (u32 i = 0; i < l->n; i++)
    if (find_queue(on, l->places[i].device)->head != &l->places[i]) return false;
  l->ready = true;
  l->outside = 0;
  l->here = here;
  for (u32 i = 0; i < l->n; i++) {
    l->places[i].state = PLACE_RUNNING;
    l->places[i].left = step_ticks(on->brief / 3 * 4 / l->n);
  }
  return true;
}

/* NULL: nobody is ready, though not all have finished; who is woken then goes the usual way. */
static place *next_here(launch *l, place_list *here) {
  launcher *on = l->on; /* l goes with its last place */
  pthread_mutex_lock(&on->lock);
  place *p = here->first, *next;
  if (p && !l->lasts) {
    p->state = PLACE_RUNNING;
    here->first = p->next_ready;
    if (!here->first) here->end = &here->first;
  } else {
    l->here = NULL;
    for (; p; p = next) next = p->next_ready, on->ops->wake(p);
  }
  pthread_mutex_unlock(&on->lock);
  return p;
}

/* In the queue, so that whatever is launched meanwhile comes behind it. The launch goes with its
 * last place. Who hears of a place from here must no more wait than on another worker, as the other
 * places run here, too. */
static void run_here(launcher *on, launch *l, place_list *here, worker *w) {
  u32 n = l->n, left = n;
  executor_set_worker(true);
  atomic_fetch_add_explicit(&on->stat_launches, 1, memory_order_relaxed);
  for (u32 i = 0; i < n; i++) left -= place_run(w, &l->places[i]);
  for (place *p; left && (p = next_here(l, here));) left -= place_run(w, p);
  on->ops->rest(w);
  on->ops->leave(on, w);
  executor_set_worker(false);
}

/* All places are queued in one critical section: two launches over the same devices are in the
 * same order in all of their queues, or each could wait for the other. `outside` begins at one
 * for this call, so that an event that comes at once cannot start the launch before all are
 * counted; when the last event_ready below returns, the launch may be over and freed. */
status launcher_launch(executor *x, const executor_launch_args *args) {
  launcher *on = (launcher *)x;
  RETURN_IF_ERROR(cannot_launch(on, args));
  launch *l = make_launch(on, args);
  if (!l) return status_oom();
  status s = NULL;
  if (l->transport)
    s = l->transport->ops->join(l->transport, l->id, l->first, l->n, program_num_devices(l->prog));
  if (s) {
    mem_free(on->mem, l, l->bytes);
    return s;
  }
  worker *guest = come(on, args, l->n);
  pthread_mutex_lock(&on->lock);
  bool stopping = on->stopping, ok = !stopping && reserve_queues(on, l->n);
  if (ok) {
    exec_image_retain(l->image);
    list(on, l);
    for (u32 i = 0; i < l->n; i++) enqueue(on, &l->places[i]);
  }
  place_list here = {.end = &here.first};
  bool taken = ok && guest && take_off(on, l, &here);
  pthread_mutex_unlock(&on->lock);
  if (taken) {
    run_here(on, l, &here, guest);
    return NULL;
  }
  if (guest) on->ops->leave(on, guest);
  if (!ok) {
    s = stopping ? status_make(STATUS_FAILED_PRECONDITION, "the executor has been stopped")
                 : status_oom();
    if (l->transport) {
      l->transport->ops->fail(l->transport, l->id, l->first, s);
      l->transport->ops->leave(l->transport, l->id, l->first);
    }
    mem_free(on->mem, l, l->bytes);
    return s;
  }
  atomic_fetch_add_explicit(&on->stat_launches, 1, memory_order_relaxed);
  for (u32 i = 0; i < args->num_wait; i++)
    if (!dev_event_on_ready(args->wait_for[i], event_ready, l)) event_ready(l, status_oom());
  event_ready(l, NULL);
  return NULL;
}

/* ---- the rest of the table ---- */

/* What is begun is ended by launcher_end even where this returns false. */
bool launcher_begin(launcher *on, const executor_ops *table, const launcher_ops *ops,
                    const allocator *mem) {
  executor_begin(&on->base, table);
  on->ops = ops;
  on->mem = mem;
  on->forks = os_forks();
  pthread_mutex_init(&on->lock, NULL); /* neither fails on Linux */
  pthread_cond_init(&on->idle, NULL);
  on->heap = dev_heap_create();
  return on->heap != NULL;
}

bool launcher_trim(executor *x) { return dev_heap_trim(((launcher *)x)->heap); }

void launcher_end(launcher *on) {
  pthread_mutex_destroy(&on->lock);
  pthread_cond_destroy(&on->idle);
  mem_free(on->mem, on->queues, on->cap_queues * sizeof(queue));
  dev_heap_release(on->heap);
}

bool launcher_is_here(const launcher *on) { return on->forks == os_forks(); }

/* The caller then ends its threads: no place is left that they could run. */
bool launcher_close(launcher *on) {
  pthread_mutex_lock(&on->lock);
  bool first = !on->stopping;
  on->stopping = true;
  while (on->launches) pthread_cond_wait(&on->idle, &on->lock);
  pthread_mutex_unlock(&on->lock);
  return first;
}

void launcher_get_stats(executor *x, executor_stats *out_stats) {
  launcher *on = (launcher *)x;
  *out_stats = (executor_stats){.images = atomic_load(&on->stat_images),
                                .launches = atomic_load(&on->stat_launches),
                                .steps = atomic_load(&on->stat_steps),
                                .rendezvous = atomic_load(&on->stat_rendezvous)};
}

status launcher_image_create(executor *x, const program *prog, void (*release)(void *user),
                             void *user, executor_image **out_image) {
  launcher *on = (launcher *)x;
  RETURN_IF_ERROR(exec_image_create(on->mem, prog, release, user, out_image));
  atomic_fetch_add_explicit(&on->stat_images, 1, memory_order_relaxed);
  return NULL;
}
executor_image *launcher_image_retain(executor *x, executor_image *image) {
  (void)x;
  return exec_image_retain(image);
}
void launcher_image_release(executor *x, executor_image *image) {
  (void)x;
  exec_image_release(image);
}
