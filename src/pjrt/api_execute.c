/* Executing a loaded executable: one call starts it on all its devices and returns at once.
 *
 * For each device (position) the arguments' blocks are held, the results' buffers are made, and
 * one event per position says when they are there; it is the ready event of that position's
 * results and the device's completion event. The launch waits for what the arguments wait for.
 *
 * Donation. The program says which result takes over which parameter's buffer (an alias); both
 * then get one pointer. If the argument is donated and nobody else uses its bytes, that is the
 * argument's own block; otherwise it is a copy of it. Every argument is in use (device/buffer.h)
 * from when it is held until the launch is in its devices' queues, so that a donation by another
 * call either comes behind this launch in the queue or copies. A donated argument is deleted
 * either way once the launch is under way, and is its caller's again if that fails; one that no
 * result takes over is not deleted, as under XLA. */
#include <stdio.h>

#include "pjrt/api.h"
#include "pjrt/log.h"
#include "pjrt/slots.h"

/* Two hold it: the call of Execute (of several, each for one device, its executable), and the
 * executor until the launch is done. */
typedef struct launch {
  atomic_int refs;
  size_t bytes; /* of this allocation */
  PJRT_Client *client;
  u32 num_positions, num_params, num_results, num_wait;
  u32 first; /* all of these count from it; 0 but for one device of several that runs by itself */
  u32 first_number;                    /* the executor's, of the first */
  executor_memory **params, **results; /* as executor_launch wants them */
  dev_block **held;                    /* by position and parameter; in use until enqueued */
  dev_block **written;                 /* by position and result */
  dev_event **ready;                   /* by position */
  dev_event **wait;                    /* retained */
  bool *donated;                       /* by position and parameter: by this call */
  bool *given;                         /* by position: it has its arguments */
  u32 num_given;
  int id;                        /* ExecuteOptions.launch_id */
  u32 *device_ids;               /* by position */
  struct launch *next;           /* of the executable's open ones */
  struct launch *before, *after; /* of the client's flights */
  ffi_run *handlers;             /* NULL: the program calls none */
  api_channels *channels;        /* NULL: the caller brought no callbacks */
} launch;

/* What one call of Execute works on until the launch is under way. */
typedef struct call {
  const PJRT_LoadedExecutable *l;
  const executable *exe;
  const PJRT_ExecuteOptions *options; /* may be NULL */
  PJRT_Device *const *devices;        /* by position */
  const u32 *device_ids;
  launch *t;
  PJRT_Buffer ***outputs; /* the caller's lists: what stands there is ours until we return */
  u32 from;               /* the position of the first of them */
  u32 first;              /* what positions count from: see launch */
} call;

/* ---- the launch's memory ---- */

/* One block. One reference is Execute's; `start` adds the executor's before it hands the launch
 * over, as `done` may come before executor_launch returns. */
static launch *launch_create(u32 n, u32 num_params, u32 num_results) {
  size_t np = (size_t)n * num_params, nr = (size_t)n * num_results;
  /* an argument waits for two events at most: its own and that of its copy */
  size_t bytes =
      sizeof(launch) + (2 * np + 2 * nr + n + 2 * np) * sizeof(void *) + n * sizeof(u32) + np + n;
  launch *t = mem_zalloc(&mem_system, bytes);
  if (!t) return NULL;
  void **p = (void **)(t + 1);
  atomic_init(&t->refs, 1);
  t->bytes = bytes;
  t->num_positions = n;
  t->num_params = num_params;
  t->num_results = num_results;
  t->params = (executor_memory **)p, p += np;
  t->results = (executor_memory **)p, p += nr;
  t->held = (dev_block **)p, p += np;
  t->written = (dev_block **)p, p += nr;
  t->ready = (dev_event **)p, p += n;
  t->wait = (dev_event **)p, p += 2 * np;
  t->device_ids = (u32 *)p;
  t->donated = (bool *)(t->device_ids + n);
  t->given = t->donated + np;
  return t;
}

static void launch_release(launch *t) {
  if (atomic_fetch_sub_explicit(&t->refs, 1, memory_order_acq_rel) != 1) return;
  size_t np = (size_t)t->num_positions * t->num_params;
  size_t nr = (size_t)t->num_positions * t->num_results;
  for (size_t i = 0; i < np; i++) dev_block_release(t->held[i]);
  for (size_t i = 0; i < nr; i++) dev_block_release(t->written[i]);
  for (u32 i = 0; i < t->num_wait; i++) dev_event_release(t->wait[i]);
  for (u32 i = 0; i < t->num_positions; i++) dev_event_release(t->ready[i]);
  ffi_run_end(t->handlers);
  api_channels_free(t->channels);
  mem_free(&mem_system, t, t->bytes);
}

static void add_wait(launch *t, dev_event *e) {
  if (dev_event_is_ready(e) && !dev_event_error(e)) return;
  for (u32 i = t->num_wait; i-- > 0 && t->num_wait - i <= 4;) /* equal ones come in runs */
    if (t->wait[i] == e) return;
  t->wait[t->num_wait++] = dev_event_retain(e);
}

/* ---- arguments ---- */

static status wrong_argument(const call *c, u32 i, u32 k, const PJRT_Buffer *b) {
  char have[128], want[128];
  const compile_tensor *p = &c->exe->params[k];
  dev_shape_text(dev_buffer_type(b->dev), dev_buffer_dims(b->dev), have, sizeof have);
  dev_shape_text(p->type, p->local_dims, want, sizeof want);
  return status_make(STATUS_INVALID_ARGUMENT,
                     "argument %u on device %u is %s: '" STR_FMT "' takes %s there", k,
                     c->device_ids[i], have, STR_ARG(c->exe->name), want);
}

/* Where a dimension's extent is 1 it does not matter where it stands. */
static bool lies_as(i64s dims, i64s order, i64s want) {
  if (!want.len) want = api_row_major(dims.len);
  for (size_t i = 0, k = 0;; i++, k++) {
    while (i < dims.len && dims.data[order.data[i]] == 1) i++;
    while (k < dims.len && dims.data[want.data[k]] == 1) k++;
    if (i == dims.len || k == dims.len) return true;
    if (order.data[i] != want.data[k]) return false;
  }
}

static status check_argument(const call *c, u32 i, u32 k, const PJRT_Buffer *b) {
  const compile_tensor *p = &c->exe->params[k];
  if (!b) return status_make(STATUS_INVALID_ARGUMENT, "argument %u is missing", k);
  if (b->head.kind != API_BUFFER)
    return status_make(STATUS_INVALID_ARGUMENT, "argument %u is not a buffer, or destroyed", k);
  if (b->client != c->l->client)
    return status_make(STATUS_INVALID_ARGUMENT, "argument %u is another client's", k);
  bool token = p->token && dev_buffer_type(b->dev) == DTYPE_token;
  if (!token &&
      (dev_buffer_type(b->dev) != p->type || !i64s_eq(dev_buffer_dims(b->dev), p->local_dims)))
    return wrong_argument(c, i, k, b);
  if (!token && (dev_buffer_is_permuted(b->dev) || p->minor_to_major.len) &&
      !lies_as(p->local_dims, dev_buffer_order(b->dev), p->minor_to_major))
    return status_make(STATUS_INVALID_ARGUMENT,
                       "argument %u lies in another layout than '" STR_FMT "' takes", k,
                       STR_ARG(c->exe->name));
  u32 at = dev_buffer_memory(b->dev)->device->id;
  if (at != c->device_ids[i])
    return status_make(STATUS_INVALID_ARGUMENT, "argument %u is on device %u, not on device %u", k,
                       at, c->device_ids[i]);
  return NULL;
}

static status hold_arguments(call *c, u32 i, PJRT_Buffer *const *args) {
  launch *t = c->t;
  for (u32 k = 0; k < t->num_params; k++) {
    size_t at = (size_t)i * t->num_params + k;
    RETURN_IF_ERROR(check_argument(c, i, k, args[k]));
    status s = dev_buffer_use(args[k]->dev, &t->held[at]);
    if (s) {
      status_free(s);
      return status_make(STATUS_INVALID_ARGUMENT, "argument %u has been deleted or donated", k);
    }
    t->params[at] = dev_block_memory(t->held[at]);
    add_wait(t, dev_buffer_ready(args[k]->dev));
  }
  return NULL;
}

static bool is_donated(const call *c, u32 k) {
  const PJRT_ExecuteOptions *o = c->options;
  if (!c->exe->params[k].donated) return false;
  for (size_t i = 0; o && i < o->num_non_donatable_input_indices; i++)
    if (o->non_donatable_input_indices[i] == k) return false;
  return true;
}

/* As XLA has it, what a call gives up it cannot pass a second time. */
static status check_alone(const call *c, u32 k, PJRT_Buffer *const *args) {
  for (u32 j = 0; j < c->t->num_params; j++)
    if (j != k && args[j] == args[k])
      return status_make(STATUS_INVALID_ARGUMENT,
                         "argument %u of '" STR_FMT "' is donated and also argument %u of the call",
                         k, STR_ARG(c->exe->name), j);
  return NULL;
}

/* Argument k's block becomes one that a result may be written to. */
static status make_writable(call *c, u32 i, u32 k, PJRT_Buffer *const *args) {
  launch *t = c->t;
  PJRT_Buffer *arg = args[k];
  size_t at = (size_t)i * t->num_params + k;
  t->donated[at] = is_donated(c, k) && dev_buffer_donate(arg->dev);
  if (t->donated[at]) return NULL;
  if (is_donated(c, k)) RETURN_IF_ERROR(check_alone(c, k, args));
  dev_buffer *copy;
  dev_block *block;
  RETURN_IF_ERROR(dev_buffer_copy(arg->dev, dev_buffer_memory(arg->dev), &copy));
  status s = dev_buffer_use(copy, &block);
  if (!s) {
    dev_block_end_use(t->held[at]);
    dev_block_release(t->held[at]);
    t->held[at] = block;
    t->params[at] = dev_block_memory(block);
    add_wait(t, dev_buffer_ready(copy));
  }
  dev_buffer_release(copy);
  return s;
}

/* ---- results ---- */

/* With an alias, in the block that the parameter has by now: the argument's own, or the copy of
 * it. */
static status make_output(call *c, u32 i, u32 r) {
  const PJRT_LoadedExecutable *l = c->l;
  const compile_tensor *x = &c->exe->results[r];
  launch *t = c->t;
  dev_memory *m = &c->devices[i]->dev->memories[l->result_kind[r]];
  size_t at = (size_t)i * t->num_results + r;
  dev_block *block = NULL;
  dev_buffer *b;
  if (l->alias[r] >= 0) block = t->held[(size_t)i * t->num_params + (u32)l->alias[r]];
  RETURN_IF_ERROR(
      dev_buffer_create(m, api_tensor_type(x), api_tensor_dims(x), t->ready[i], block, &b));
  dev_buffer_lay_out(b, x->minor_to_major);
  status s = dev_buffer_hold(b, &t->written[at]);
  if (s) {
    dev_buffer_release(b);
    return s;
  }
  t->results[at] = dev_block_memory(t->written[at]);
  return api_buffer_wrap(l->client, b, &c->outputs[i - c->from][r]);
}

/* ---- callbacks ---- */

static status check_callbacks(const PJRT_ExecuteOptions *o, size_t n) {
  if (o->num_send_ops && !o->send_callbacks)
    return api_missing("PJRT_ExecuteOptions", "send_callbacks");
  if (o->num_recv_ops && !o->recv_callbacks)
    return api_missing("PJRT_ExecuteOptions", "recv_callbacks");
  for (size_t i = 0; i < n; i++)
    if ((o->num_send_ops && !o->send_callbacks[i]) || (o->num_recv_ops && !o->recv_callbacks[i]))
      return status_make(STATUS_INVALID_ARGUMENT, "the callbacks of device %zu are NULL", i);
  return NULL;
}

/* In the program, of the i-th device of the call. */
static u32 position_of(const call *c, u32 i) {
  return c->l->num_positions > 1 ? c->l->positions[c->t->first + i] : 0;
}

static status hold_callbacks(call *c, u32 i) {
  const PJRT_ExecuteOptions *o = c->options;
  launch *t = c->t;
  if (!o || !(o->num_send_ops || o->num_recv_ops)) return NULL;
  if (!t->channels)
    RETURN_IF_ERROR(api_channels_create(c->l->num_positions, t->client->handlers, &t->channels));
  u32 at = i - c->from;
  return api_channels_set(t->channels, position_of(c, i),
                          o->num_send_ops ? o->send_callbacks[at] : NULL, o->num_send_ops,
                          o->num_recv_ops ? o->recv_callbacks[at] : NULL, o->num_recv_ops);
}

/* The order matters: all arguments are held before one is donated, so that a buffer that is
 * passed twice is seen to be in use twice; results come last, as they take over arguments'
 * blocks. */
static status prepare(call *c, u32 i, PJRT_Buffer *const *args) {
  launch *t = c->t;
  t->ready[i] = dev_event_create();
  if (!t->ready[i]) return status_oom();
  RETURN_IF_ERROR(hold_callbacks(c, i));
  RETURN_IF_ERROR(hold_arguments(c, i, args));
  for (u32 k = 0; k < t->num_params; k++)
    if (c->l->result_of[k] >= 0) RETURN_IF_ERROR(make_writable(c, i, k, args));
  for (u32 r = 0; r < t->num_results; r++) RETURN_IF_ERROR(make_output(c, i, r));
  return NULL;
}

static void drop_outputs(call *c, u32 n) {
  for (u32 i = 0; i < n; i++)
    for (u32 r = 0; r < c->t->num_results; r++) {
      PJRT_Buffer *b = c->outputs[i][r];
      c->outputs[i][r] = NULL;
      if (b) api_buffer_free(b);
    }
}

/* ---- the launch ---- */

/* Whoever waits may drop its results and launch again at once: their memory is to be free then. */
static void device_done(void *user, u32 position, status error) {
  launch *t = user;
  u32 i = position - t->first_number;
  for (size_t at = (size_t)i * t->num_results, r = 0; !error && r < t->num_results; r++, at++) {
    dev_block_release(t->written[at]);
    t->written[at] = NULL;
  }
  dev_event_set(t->ready[i], status_copy(error));
}

static void list_flight(launch *t) {
  PJRT_Client *client = t->client;
  pthread_mutex_lock(&client->lock);
  t->after = client->flights;
  if (t->after) t->after->before = t;
  client->flights = t;
  pthread_mutex_unlock(&client->lock);
}

static void unlist_flight(launch *t) {
  PJRT_Client *client = t->client;
  pthread_mutex_lock(&client->lock);
  *(t->before ? &t->before->after : &client->flights) = t->after;
  if (t->after) t->after->before = t->before;
  pthread_mutex_unlock(&client->lock);
}

static void done(void *user, status error) {
  launch *t = user;
  PJRT_Client *client = t->client;
  (void)error; /* every position has been told */
  unlist_flight(t);
  launch_release(t);
  api_client_land(client);
}

/* What the launch brings for the handlers that its program calls. */
static status bring_handlers(const call *c, executor_host *host) {
  const PJRT_ExecuteOptions *o = c->options;
  ffi_run_args args = {.program = c->l->handlers,
                       .threads = c->l->client->handlers,
                       .context = o && o->context ? o->context->data : NULL,
                       .id = o ? o->launch_id : 0,
                       .num_positions = c->l->num_positions,
                       .devices = c->l->num_positions > 1 ? c->l->all_ids : c->device_ids,
                       .host = {api_channels_call, c->t->channels}};
  return ffi_run_begin(&args, &c->t->handlers, host);
}

/* When it succeeds the executor holds the launch, and tells each position's event. */
static status start(call *c) {
  launch *t = c->t;
  executor_host host;
  u64 id = 0;
  executor_transport *job = c->l->numbers && c->l->meets ? t->client->job : NULL;
  if (job) RETURN_IF_ERROR(api_processes_next_launch(t->client, c->l->key, &id));
  RETURN_IF_ERROR(bring_handlers(c, &host));
  RETURN_IF_ERROR(api_client_take_off(t->client));
  atomic_store_explicit(&t->refs, 2, memory_order_relaxed);
  list_flight(t);
  status s = executor_launch(c->l->client->on, &(executor_launch_args){
                                                   .image = c->l->image,
                                                   .name = c->exe->name,
                                                   .first = t->first_number,
                                                   .count = t->num_positions,
                                                   .numbers = c->l->numbers,
                                                   .transport = job,
                                                   .id = id,
                                                   .devices = c->device_ids,
                                                   .params = t->params,
                                                   .results = t->results,
                                                   .wait_for = t->wait,
                                                   .num_wait = t->num_wait,
                                                   .host = host,
                                                   .device_done = device_done,
                                                   .done = done,
                                                   .user = t,
                                               });
  if (!s) return NULL;
  unlist_flight(t);
  atomic_fetch_sub_explicit(&t->refs, 1, memory_order_relaxed); /* who poisons it may hold it */
  api_client_land(t->client);
  return s;
}

/* Donations of a position's arguments hold, or are undone. */
static void settle(call *c, u32 i, PJRT_Buffer *const *args, bool started) {
  launch *t = c->t;
  for (u32 k = 0; k < t->num_params; k++) {
    size_t at = (size_t)i * t->num_params + k;
    if (!t->held[at]) continue;
    if (started && is_donated(c, k))
      dev_buffer_delete(args[k]->dev);
    else if (t->donated[at])
      dev_buffer_return(args[k]->dev);
  }
}

/* The launch is in its queues, or will never be. */
static void end_uses(launch *t) {
  for (size_t at = 0; at < (size_t)t->num_positions * t->num_params; at++)
    if (t->held[at]) dev_block_end_use(t->held[at]);
}

static launch *begin(call *c, u32 n) {
  launch *t = launch_create(n, c->exe->num_params, c->exe->num_results);
  if (!t) return NULL;
  t->client = c->l->client;
  t->id = c->options ? c->options->launch_id : 0;
  t->first = c->first;
  t->first_number = c->l->first_number + c->first;
  memcpy(t->device_ids, c->device_ids, n * sizeof(u32));
  return t;
}

/* Whatever fails, all that was made or held so far is given back here: outputs, donations, uses. */
static status execute(call *c, PJRT_LoadedExecutable_Execute_Args *a) {
  u32 n = (u32)a->num_devices;
  launch *t = c->t = begin(c, n);
  if (!t) return status_oom();
  for (u32 i = 0; i < n; i++)
    if (c->t->num_results) memset(c->outputs[i], 0, c->t->num_results * sizeof(PJRT_Buffer *));
  status s = NULL;
  for (u32 i = 0; i < n && !s; i++)
    s = prepare(c, i, c->t->num_params ? a->argument_lists[i] : NULL);
  if (!s) s = start(c);
  if (s) drop_outputs(c, n);
  for (u32 i = 0; i < n; i++) settle(c, i, t->num_params ? a->argument_lists[i] : NULL, !s);
  for (u32 i = 0; i < n && !s && a->device_complete_events; i++)
    a->device_complete_events[i] = api_event(dev_event_retain(t->ready[i]));
  end_uses(t);
  launch_release(t);
  return s;
}

/* ---- one device of several ----
 * Where devices wait for each other, each is given its arguments by a call of its own, and its
 * results and its event at once. The launch begins when all have theirs; calls belong together by
 * launch_id, and are in order for each device. */

/* l's lock is held. The first launch that waits for this position; NULL: none. */
static launch *find_open(const PJRT_LoadedExecutable *l, u32 position, int id) {
  launch *t = l->open;
  while (t && (t->id != id || t->given[position])) t = t->next;
  return t;
}

static void close_open(PJRT_LoadedExecutable *l, const launch *t) {
  for (launch **at = &l->open; *at; at = &(*at)->next)
    if (*at == t) {
      *at = t->next;
      return;
    }
}

/* A part that was not accepted is as if it had never come. */
static void take_back(launch *t, u32 i, u32 num_wait) {
  while (t->num_wait > num_wait) dev_event_release(t->wait[--t->num_wait]);
  for (size_t at = (size_t)i * t->num_params, k = 0; k < t->num_params; k++, at++) {
    if (t->held[at]) dev_block_end_use(t->held[at]);
    dev_block_release(t->held[at]);
    t->held[at] = NULL;
    t->donated[at] = false;
  }
  for (size_t at = (size_t)i * t->num_results, r = 0; r < t->num_results; r++, at++) {
    dev_block_release(t->written[at]);
    t->written[at] = NULL;
  }
  dev_event_release(t->ready[i]);
  t->ready[i] = NULL;
}

/* All devices have their part, or never will (takes `why`), which who has one hears from its
 * event. */
static void end_open(launch *t, status why) {
  for (u32 i = 0; why && i < t->num_positions; i++)
    if (t->given[i]) dev_event_set(t->ready[i], status_copy(why));
  status_free(why);
  end_uses(t);
  launch_release(t);
}

/* l's lock is held. *out_full: a launch to be started, or of which nothing is left. */
static status give_part(call *c, PJRT_LoadedExecutable *l, u32 i,
                        PJRT_LoadedExecutable_Execute_Args *a, launch **out_full) {
  int id = a->options ? a->options->launch_id : 0;
  launch *t = c->t = find_open(l, i, id), **end = &l->open;
  if (!t) {
    t = c->t = begin(c, (u32)l->num_devices);
    if (!t) return status_oom();
    while (*end) end = &(*end)->next;
    *end = t;
  }
  PJRT_Buffer *const *args = t->num_params ? a->argument_lists[0] : NULL;
  u32 num_wait = t->num_wait;
  if (t->num_results) memset(c->outputs[0], 0, t->num_results * sizeof(PJRT_Buffer *));
  status s = prepare(c, i, args);
  if (s) drop_outputs(c, 1);
  settle(c, i, args, !s);
  if (s) take_back(t, i, num_wait);
  t->given[i] = !s;
  t->num_given += !s;
  if (!s && a->device_complete_events)
    a->device_complete_events[0] = api_event(dev_event_retain(t->ready[i]));
  if (t->num_given && t->num_given < t->num_positions) return s;
  close_open(l, t);
  *out_full = t;
  return s;
}

/* Starting may wait for other launches, so without the lock. */
static status execute_part(call *c, PJRT_LoadedExecutable *l, u32 i,
                           PJRT_LoadedExecutable_Execute_Args *a) {
  launch *full = NULL;
  pthread_mutex_lock(&l->lock);
  status s = give_part(c, l, i, a, &full);
  pthread_mutex_unlock(&l->lock);
  if (full) end_open(full, full->num_given ? start(c) : NULL);
  return s;
}

void api_drop_open(PJRT_LoadedExecutable *l) {
  for (launch *t = l->open, *next; t; t = next) {
    next = t->next;
    end_open(t, status_make(STATUS_CANCELLED, "the executable was destroyed before each device had "
                                              "been given its part"));
  }
  l->open = NULL;
}

/* ---- failing what is under way ---- */

status api_device_poison_execution(PJRT_Device_PoisonExecution_Args *a) {
  PJRT_Client *client = a->device->client;
  u32 device = (u32)a->device->description.id;
  status why;
  a->poisoned = false;
  RETURN_IF_ERROR(api_status_with(a->error_code, (str){a->error_message, a->error_message_size},
                                  a->payload, a->num_payload, &why));
  if (!why)
    return status_make(STATUS_INVALID_ARGUMENT, "PJRT_Device_PoisonExecution: OK is no error");
  pthread_mutex_lock(&client->lock);
  launch *t = client->flights;
  for (bool found = false; t && !found;) {
    for (u32 i = 0; i < t->num_positions && t->id == a->launch_id; i++)
      found |= t->device_ids[i] == device;
    if (!found) t = t->after;
  }
  if (t) atomic_fetch_add_explicit(&t->refs, 1, memory_order_relaxed);
  pthread_mutex_unlock(&client->lock);
  if (t) {
    a->poisoned = executor_fail(client->on, t, why);
    launch_release(t);
  } else {
    status_free(why);
  }
  return NULL;
}

/* What is wrong with the call as such; arguments are looked at one by one when they are held. */
static status check_call(const PJRT_LoadedExecutable_Execute_Args *a) {
  const PJRT_LoadedExecutable *l = a->executable;
  const executable *x = l->executable->exe;
  const PJRT_ExecuteOptions *o = a->options;
  if (o) RETURN_IF_ERROR(api_check_size("PJRT_ExecuteOptions", o, PJRT_ExecuteOptions_END));
  if (o && o->context)
    RETURN_IF_ERROR(api_check_handle("PJRT_ExecuteOptions", "context", o->context, API_CONTEXT));
  if (o && o->num_non_donatable_input_indices && !o->non_donatable_input_indices)
    return api_missing("PJRT_ExecuteOptions", "non_donatable_input_indices");
  if (atomic_load(&l->deleted))
    return status_make(STATUS_INVALID_ARGUMENT, "'" STR_FMT "' has been deleted", STR_ARG(x->name));
  size_t num_devices = a->execute_device ? 1 : l->num_devices;
  if (a->num_devices != num_devices)
    return status_make(STATUS_INVALID_ARGUMENT, "'" STR_FMT "' runs on %zu devices, not on %zu",
                       STR_ARG(x->name), num_devices, a->num_devices);
  if (a->num_args != x->num_params)
    return status_make(STATUS_INVALID_ARGUMENT, "'" STR_FMT "' takes %u arguments, not %zu",
                       STR_ARG(x->name), x->num_params, a->num_args);
  if (a->execute_device && a->execute_device->client != l->client)
    return status_make(STATUS_INVALID_ARGUMENT, "execute_device is another client's");
  if (o) RETURN_IF_ERROR(check_callbacks(o, num_devices));
  if (x->num_results && !a->output_lists)
    return api_missing("PJRT_LoadedExecutable_Execute", "output_lists");
  for (size_t i = 0; i < num_devices; i++)
    if ((x->num_params && !a->argument_lists[i]) || (x->num_results && !a->output_lists[i]))
      return status_make(STATUS_INVALID_ARGUMENT, "a list of device %zu is NULL", i);
  return NULL;
}

status api_loaded_executable_execute(PJRT_LoadedExecutable_Execute_Args *a) {
  PJRT_LoadedExecutable *l = a->executable;
  if (!l->num_devices && !a->num_devices) return NULL; /* all are other processes' */
  RETURN_IF_ERROR(check_call(a));
  call c = {.l = l, .exe = l->executable->exe, .options = a->options};
  u32 one = a->execute_device ? (u32)a->execute_device->description.id : 0;
  bool portable = a->execute_device && l->num_positions == 1; /* runs on whatever device */
  c.devices = portable ? &a->execute_device : l->devices;
  c.device_ids = portable ? &one : l->device_ids;
  c.outputs = (PJRT_Buffer ***)(uintptr_t)a->output_lists; /* the lists are ours to fill */
  while (a->execute_device && !portable && c.from < l->num_devices && l->device_ids[c.from] != one)
    c.from++;
  if (c.from && c.from == l->num_devices)
    return status_make(STATUS_INVALID_ARGUMENT, "'" STR_FMT "' does not run on device %u",
                       STR_ARG(c.exe->name), one);
  bool part = a->execute_device && !portable;
  if (part && !l->meets) { /* it need not wait for the others */
    c.first = c.from;
    c.devices += c.first;
    c.device_ids += c.first;
    c.from = 0;
    part = false;
  }
  status s = part ? execute_part(&c, l, c.from, a) : execute(&c, a);
  if (!s)
    api_note(STR_FMT ": %zu arguments, %zu devices -> %u results, first buffer %p",
             STR_ARG(c.exe->name), a->num_args, a->num_devices, c.exe->num_results,
             c.exe->num_results ? (void *)a->output_lists[0][0] : NULL);
  return s;
}
