/* Launches of programs that call handlers, and each call. */
#include "ffi/program.h"

#include <pthread.h>

/* ---- execute contexts ---- */

typedef struct user_data {
  i64 type;
  void *data;
} user_data;

struct ffi_context {
  atomic_int refs;
  pthread_mutex_t lock;
  u32 num;
  user_data data[16];
};

ffi_context *ffi_context_create(void) {
  ffi_context *c = mem_zalloc(&mem_system, sizeof *c);
  if (!c) return NULL;
  atomic_init(&c->refs, 1);
  pthread_mutex_init(&c->lock, NULL);
  return c;
}
ffi_context *ffi_context_retain(ffi_context *c) {
  if (c) atomic_fetch_add_explicit(&c->refs, 1, memory_order_relaxed);
  return c;
}
void ffi_context_release(ffi_context *c) {
  if (!c || atomic_fetch_sub_explicit(&c->refs, 1, memory_order_acq_rel) != 1) return;
  pthread_mutex_destroy(&c->lock);
  mem_free(&mem_system, c, sizeof *c);
}

/* The lock is held. */
static const user_data *find_data(const ffi_context *c, i64 type) {
  for (u32 i = 0; i < c->num; i++)
    if (c->data[i].type == type) return &c->data[i];
  return NULL;
}

status ffi_context_add(ffi_context *c, i64 type, void *data) {
  pthread_mutex_lock(&c->lock);
  bool taken = find_data(c, type), full = c->num == COUNT(c->data);
  if (!taken && !full) c->data[c->num++] = (user_data){type, data};
  pthread_mutex_unlock(&c->lock);
  if (!taken && !full) return NULL;
  return taken ? status_make(STATUS_ALREADY_EXISTS, "the context has data of type %lld",
                             (long long)type)
               : status_make(STATUS_RESOURCE_EXHAUSTED, "a context has data of %zu types at most",
                             COUNT(c->data));
}

bool ffi_context_get(const ffi_context *c, i64 type, void **out) {
  if (!c) return false;
  pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&c->lock;
  pthread_mutex_lock(lock);
  const user_data *found = find_data(c, type);
  if (found) *out = found->data;
  pthread_mutex_unlock(lock);
  return found != NULL;
}

/* ---- launches ---- */

/* At one place of the program, of one device: the stages of a launch have been there, and what they
 * made. Used by that device's calls only, which come one after the other. */
typedef struct moment {
  bool begun;
  ffi_state prepared, initialized;
} moment;

struct ffi_run {
  ffi_program *program;
  ffi_threads *threads;
  ffi_context *context;
  i64 id;
  u32 num_positions;
  executor_host host; /* for what is no handler's */
  size_t bytes;       /* of this allocation */
  moment *moments;    /* [position * num_sites + site]; NULL: no handler has such stages */
  u32 devices[];
};

static void start_call(void *user, executor_call *exec);

status ffi_run_begin(const ffi_run_args *args, ffi_run **out, executor_host *host) {
  *out = NULL;
  *host = args->host;
  if (!args->program) return NULL;
  u32 n = args->num_positions, sites = args->program->keeps ? args->program->num_sites : 0;
  size_t at = align_up(sizeof(ffi_run) + n * sizeof(u32), 64);
  size_t bytes = at + (size_t)n * sites * sizeof(moment);
  ffi_run *r = mem_zalloc(&mem_system, bytes);
  if (!r) return status_oom();
  *r = (ffi_run){.program = ffi_program_retain(args->program),
                 .threads = args->threads,
                 .context = ffi_context_retain(args->context),
                 .id = args->id,
                 .num_positions = n,
                 .host = args->host,
                 .bytes = bytes,
                 .moments = sites ? (moment *)((char *)r + at) : NULL};
  memcpy(r->devices, args->devices, n * sizeof(u32));
  *out = r;
  *host = (executor_host){start_call, r};
  return NULL;
}

void ffi_run_end(ffi_run *r) {
  if (!r) return;
  for (size_t i = 0; r->moments && i < (size_t)r->num_positions * r->program->num_sites; i++) {
    ffi_state_end(&r->moments[i].prepared);
    ffi_state_end(&r->moments[i].initialized);
  }
  ffi_program_release(r->program);
  ffi_context_release(r->context);
  mem_free(&mem_system, r, r->bytes);
}

/* ---- calls ---- */

/* One block: the call and all that its frame points to. */
typedef struct call {
  ffi_task task; /* first */
  ffi_run *run;
  ffi_call_site *site;
  executor_call *exec;
  XLA_FFI_ExecutionContext ctx;
  XLA_FFI_CallFrame frame;
  u32 num_in, num_out;
  XLA_FFI_Buffer *buffers; /* of operands, then of results */
  size_t bytes;            /* of this allocation */
} call;

static void end_call(call *c, status s) {
  executor_call *exec = c->exec;
  mem_free(&mem_system, c, c->bytes);
  exec->done(exec, s);
}

/* Operands, and behind them results. */
static void fill_buffers(call *c) {
  const executor_call *x = c->exec;
  for (u32 i = 0; i < c->num_in + c->num_out; i++) {
    const executor_operand *o = i < c->num_in ? &x->in[i] : &x->out[i - c->num_in];
    c->buffers[i] = (XLA_FFI_Buffer){.struct_size = FFI_END(XLA_FFI_Buffer, dims),
                                     .dtype = ffi_data_type(o->type),
                                     .data = o->data,
                                     .rank = (i64)o->dims.len,
                                     .dims = (i64 *)(uintptr_t)o->dims.data};
  }
  for (u32 k = 0; k < c->site->num_tokens; k++)
    if (c->site->tokens[k] < c->num_in + c->num_out) {
      c->buffers[c->site->tokens[k]].dtype = XLA_FFI_DataType_TOKEN;
      c->buffers[c->site->tokens[k]].data = NULL;
      c->buffers[c->site->tokens[k]].rank = 0;
    }
}

static call *make_call(ffi_run *r, ffi_call_site *site, executor_call *exec) {
  u32 n = exec->num_in, m = exec->num_out;
  size_t buffers = align_up(sizeof(call), 64),
         pointers = buffers + (n + m) * sizeof(XLA_FFI_Buffer);
  size_t types = pointers + (n + m) * sizeof(void *), bytes = types + (n + m) * sizeof(u32);
  char *block = mem_zalloc(&mem_system, bytes);
  if (!block) return NULL;
  call *c = (call *)block;
  XLA_FFI_Buffer *all = (XLA_FFI_Buffer *)(block + buffers);
  void **list = (void **)(block + pointers);
  u32 *kinds = (u32 *)(block + types);
  *c = (call){.run = r,
              .site = site,
              .exec = exec,
              .num_in = n,
              .num_out = m,
              .buffers = all,
              .bytes = bytes};
  fill_buffers(c);
  for (u32 i = 0; i < n + m; i++) {
    list[i] = &all[i];
    kinds[i] = i < n ? (u32)XLA_FFI_ArgType_BUFFER : (u32)XLA_FFI_RetType_BUFFER;
  }
  c->frame = (XLA_FFI_CallFrame){
      .struct_size = FFI_END(XLA_FFI_CallFrame, attrs),
      .api = ffi_api(),
      .ctx = &c->ctx,
      .stage = XLA_FFI_ExecutionStage_EXECUTE,
      .args = {FFI_END(XLA_FFI_Args, args), NULL, n, (XLA_FFI_ArgType *)kinds, list},
      .rets = {FFI_END(XLA_FFI_Rets, rets), NULL, m, (XLA_FFI_RetType *)(kinds + n), list + n},
      .attrs = site->attrs};
  return c;
}

/* The stages of a launch, at the first call of the device's. */
static status begin_moment(call *c, moment *m) {
  if (m->begun) return NULL;
  m->begun = true;
  RETURN_IF_ERROR(ffi_stage(c->site, XLA_FFI_ExecutionStage_PREPARE, &c->ctx));
  return ffi_stage(c->site, XLA_FFI_ExecutionStage_INITIALIZE, &c->ctx);
}

static void future_ready(void *user, status error) { end_call(user, status_copy(error)); }

static void run_typed(call *c) {
  const ffi_run *r = c->run;
  moment *m = NULL;
  if (r->moments) {
    size_t site = (size_t)(c->site - r->program->sites);
    m = &r->moments[c->exec->position * (size_t)r->program->num_sites + site];
  }
  c->ctx = (XLA_FFI_ExecutionContext){
      .states = {&c->site->state, m ? &m->prepared : NULL, m ? &m->initialized : NULL},
      .context = r->context,
      .threads = r->threads,
      .run_id = r->id,
      .device = (i32)r->devices[c->exec->position]};
  status s = m ? begin_moment(c, m) : NULL;
  if (!s) s = ffi_status(c->site->handler.bundle.execute(&c->frame));
  dev_event *future = (dev_event *)c->frame.future;
  if (s || !future) {
    dev_event_release(future);
    end_call(c, s);
    return;
  }
  if (!dev_event_on_ready(future, future_ready, c)) future_ready(c, dev_event_await(future));
  dev_event_release(future);
}

/* XlaCustomCallStatus is a message that may be there, in C++; a success leaves all of it zero. */
typedef struct untyped_status {
  u64 words[16];
} untyped_status;

static bool is_success(const untyped_status *s) {
  for (size_t i = 0; i < COUNT(s->words); i++)
    if (s->words[i]) return false;
  return true;
}

static void run_untyped(call *c) {
  typedef void original_fn(void *out, const void **in);
  typedef void status_fn(void *out, const void **in, untyped_status *s);
  typedef void unified_fn(void *out, const void **in, const char *opaque, size_t len,
                          untyped_status *s);
  const ffi_call_site *site = c->site;
  void **list = c->frame.args.args; /* of buffers so far, from here on of addresses */
  for (u32 i = 0; i < c->num_in + c->num_out; i++) list[i] = c->buffers[i].data;
  void *out = c->num_out == 1 ? c->buffers[c->num_in].data : (void *)(list + c->num_in);
  const void **in = (const void **)list;
  untyped_status s = {0};
  void *f = site->handler.untyped;
  if (site->api_version == FFI_API_ORIGINAL)
    ((original_fn *)(uintptr_t)f)(out, in);
  else if (site->api_version == FFI_API_STATUS)
    ((status_fn *)(uintptr_t)f)(out, in, &s);
  else
    ((unified_fn *)(uintptr_t)f)(out, in, site->opaque.data, site->opaque.len, &s);
  end_call(c, is_success(&s) ? NULL : status_make(STATUS_INTERNAL, "the custom call failed"));
}

static void run_call(ffi_task *task) {
  call *c = (call *)task;
  if (c->site->api_version == FFI_API_TYPED)
    run_typed(c);
  else
    run_untyped(c);
}

/* On a worker, with whatever the program asks of the host. */
static void start_call(void *user, executor_call *exec) {
  ffi_run *r = user;
  if (!ffi_is_site(exec->config)) {
    if (r->host.call)
      r->host.call(r->host.user, exec);
    else
      exec->done(exec, status_make(STATUS_UNIMPLEMENTED, "is a call of the host, which has none"));
    return;
  }
  ffi_call_site *site = &r->program->sites[exec->params.data[0]];
  if (site->devices && exec->position % site->devices != site->device) {
    exec->done(exec, NULL); /* the results come from the one that makes the call */
    return;
  }
  call *c = make_call(r, site, exec);
  status s = c ? NULL : status_oom();
  if (c) {
    c->task.run = run_call;
    s = ffi_threads_run(r->threads, &c->task);
  }
  if (s && c)
    end_call(c, s);
  else if (s)
    exec->done(exec, s);
}
