/* What a program sends to who executes it, and receives from there: the callbacks of an execution,
 * and the streams that they fill.
 *
 * A callback runs on a thread of its own, while the place that sends or receives is outside of the
 * program (device/executor.h): neither a worker nor another device waits for it. A send goes on
 * when its callback has returned, a receive when its stream has all bytes, on whatever thread that
 * is; several tensors of one op come one after the other. */
#include "pjrt/api.h"
#include "pjrt/slots.h"

typedef struct endpoints {
  size_t num_send, num_recv;
  PJRT_SendCallbackInfo *send;
  PJRT_RecvCallbackInfo *recv;
} endpoints;

struct api_channels {
  ffi_threads *threads;
  u32 num_positions;
  endpoints of[];
};

static void drop_endpoints(endpoints *e) {
  mem_free(&mem_system, e->send, e->num_send * sizeof *e->send);
  mem_free(&mem_system, e->recv, e->num_recv * sizeof *e->recv);
  *e = (endpoints){0};
}

static size_t channels_size(u32 n) { return sizeof(api_channels) + n * sizeof(endpoints); }

status api_channels_create(u32 num_positions, ffi_threads *threads, api_channels **out) {
  *out = mem_zalloc(&mem_system, channels_size(num_positions));
  if (!*out) return status_oom();
  (*out)->threads = threads;
  (*out)->num_positions = num_positions;
  return NULL;
}

void api_channels_free(api_channels *c) {
  if (!c) return;
  for (u32 i = 0; i < c->num_positions; i++) drop_endpoints(&c->of[i]);
  mem_free(&mem_system, c, channels_size(c->num_positions));
}

status api_channels_set(api_channels *c, u32 position, const PJRT_SendCallbackInfo *send,
                        size_t num_send, const PJRT_RecvCallbackInfo *recv, size_t num_recv) {
  enum { MOST = 1 << 20 };
  endpoints e = {.num_send = num_send, .num_recv = num_recv};
  if (num_send > MOST || num_recv > MOST)
    return status_make(STATUS_INVALID_ARGUMENT, "%zu send and %zu receive callbacks", num_send,
                       num_recv);
  for (size_t i = 0; i < num_send; i++)
    if (!send[i].send_callback) return api_missing("PJRT_SendCallbackInfo", "send_callback");
  for (size_t i = 0; i < num_recv; i++)
    if (!recv[i].recv_callback) return api_missing("PJRT_RecvCallbackInfo", "recv_callback");
  e.send = mem_alloc(&mem_system, num_send * sizeof *send);
  e.recv = mem_alloc(&mem_system, num_recv * sizeof *recv);
  if ((num_send && !e.send) || (num_recv && !e.recv)) {
    drop_endpoints(&e);
    return status_oom();
  }
  if (num_send) memcpy(e.send, send, num_send * sizeof *send);
  if (num_recv) memcpy(e.recv, recv, num_recv * sizeof *recv);
  drop_endpoints(&c->of[position]);
  c->of[position] = e;
  return NULL;
}

/* ---- sending ---- */

/* One call of the program's, on its way to a thread. */
typedef struct message {
  ffi_task task; /* first */
  executor_call *call;
  PJRT_SendCallbackInfo send;
  PJRT_RecvCallbackInfo recv;
} message;

static size_t operand_bytes(const executor_operand *o) {
  size_t n = dtype_size(o->type);
  for (size_t i = 0; i < o->dims.len; i++) n *= (size_t)o->dims.data[i];
  return n;
}

static size_t total_bytes(const executor_operand *list, u32 n) {
  size_t all = 0;
  for (u32 i = 0; i < n; i++) all += operand_bytes(&list[i]);
  return all;
}

static void free_chunk(void *data, void *size) {
  mem_free(&mem_system, data, (size_t)(uintptr_t)size);
}

PJRT_Error *api_callback_error(PJRT_Error_Code code, const char *text, size_t size) {
  return api_error(api_status(code, text, size));
}

/* The chunk is the callback's, which may keep it for longer than the program keeps the tensor. */
static status send_chunk(const PJRT_SendCallbackInfo *to, const executor_operand *o, size_t total,
                         bool last) {
  PJRT_CallbackError make_error = api_callback_error;
  size_t n = operand_bytes(o), room = n ? n : 1;
  PJRT_Chunk chunk = {mem_alloc(&mem_system, room), n, free_chunk, (void *)(uintptr_t)room};
  if (!chunk.data) return status_oom();
  if (n) memcpy(chunk.data, o->data, n);
  return api_error_take(to->send_callback(&chunk, &make_error, total, last, to->user_arg));
}

static void run_send(ffi_task *task) {
  message m = *(message *)task;
  mem_free(&mem_system, task, sizeof m);
  executor_call *c = m.call;
  size_t total = total_bytes(c->in, c->num_in);
  status s = NULL;
  for (u32 i = 0; i < c->num_in && !s; i++)
    s = send_chunk(&m.send, &c->in[i], total, i + 1 == c->num_in);
  c->done(c, s);
}

/* ---- receiving ---- */

struct PJRT_CopyToDeviceStream {
  handle head;
  pthread_mutex_t lock;
  executor_call *call; /* under lock; NULL: it has all */
  size_t at, total;    /* at: under lock */
};

/* Bytes of pred are 0 or 1 everywhere. */
static void settle_pred(const executor_call *c) {
  for (u32 i = 0; i < c->num_out; i++) {
    u8 *data = c->out[i].data;
    for (size_t k = c->out[i].type == DTYPE_pred ? operand_bytes(&c->out[i]) : 0; k-- > 0;)
      data[k] = data[k] != 0;
  }
}

static void write_outputs(const executor_call *c, size_t at, const void *data, size_t size) {
  const char *from = data;
  for (u32 i = 0; i < c->num_out && size; i++) {
    size_t n = operand_bytes(&c->out[i]);
    if (at < n) {
      size_t part = min_size(n - at, size);
      memcpy((char *)c->out[i].data + at, from, part);
      from += part, size -= part, at = 0;
    } else {
      at -= n;
    }
  }
}

static void run_recv(ffi_task *task) {
  message m = *(message *)task;
  mem_free(&mem_system, task, sizeof m);
  PJRT_CopyToDeviceStream *s = mem_zalloc(&mem_system, sizeof *s);
  if (!s) {
    m.call->done(m.call, status_oom());
    return;
  }
  s->head = handle_begin(API_STREAM);
  pthread_mutex_init(&s->lock, NULL);
  s->call = m.call;
  s->total = total_bytes(m.call->out, m.call->num_out);
  m.recv.recv_callback(s, m.recv.user_arg);
}

/* Who has all bytes, or will not get more, takes the call. */
static status stopped(const PJRT_CopyToDeviceStream *s) {
  if (s->at == s->total) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT,
                     "the stream was destroyed after %zu of the %zu bytes that are received", s->at,
                     s->total);
}

static void end_receive(executor_call *call, status s) {
  if (!s) settle_pred(call);
  call->done(call, s);
}

status api_copy_to_device_stream_destroy(PJRT_CopyToDeviceStream_Destroy_Args *a) {
  PJRT_CopyToDeviceStream *s = a->stream;
  if (s->call) end_receive(s->call, stopped(s));
  handle_end(&s->head);
  pthread_mutex_destroy(&s->lock);
  mem_free(&mem_system, s, sizeof *s);
  return NULL;
}

static void drop_chunk(PJRT_Chunk *chunk) {
  if (chunk->deleter) chunk->deleter(chunk->data, chunk->deleter_arg);
  *chunk = (PJRT_Chunk){0};
}

/* The lock is held. */
static status add_chunk(PJRT_CopyToDeviceStream *s, const PJRT_Chunk *chunk, executor_call **full) {
  if (chunk->size && !chunk->data) return api_missing("PJRT_Chunk", "data");
  if (chunk->size > s->total - s->at)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "a chunk of %zu bytes for a stream that has %zu of %zu", chunk->size, s->at,
                       s->total);
  if (!s->call) return NULL; /* nothing is left to add */
  write_outputs(s->call, s->at, chunk->data, chunk->size);
  s->at += chunk->size;
  if (s->at < s->total) return NULL;
  *full = s->call;
  s->call = NULL;
  return NULL;
}

/* The chunk is ours, whether it is right or not. */
status api_copy_to_device_stream_add_chunk(PJRT_CopyToDeviceStream_AddChunk_Args *a) {
  PJRT_CopyToDeviceStream *s = a->stream;
  executor_call *full = NULL;
  dev_event *done = dev_event_create();
  a->transfer_complete = NULL;
  pthread_mutex_lock(&s->lock);
  status wrong = done ? add_chunk(s, a->chunk, &full) : status_oom();
  pthread_mutex_unlock(&s->lock);
  drop_chunk(a->chunk);
  if (full) end_receive(full, NULL);
  if (wrong) {
    dev_event_release(done);
    return wrong;
  }
  dev_event_set(done, NULL);
  a->transfer_complete = api_event(done);
  return NULL;
}

status api_copy_to_device_stream_total_bytes(PJRT_CopyToDeviceStream_TotalBytes_Args *a) {
  a->total_bytes = (int64_t)a->stream->total;
  return NULL;
}

/* Chunks may be cut anywhere. */
status api_copy_to_device_stream_granule_size(PJRT_CopyToDeviceStream_GranuleSize_Args *a) {
  a->granule_size_in_bytes = 1;
  return NULL;
}

status api_copy_to_device_stream_current_bytes(PJRT_CopyToDeviceStream_CurrentBytes_Args *a) {
  pthread_mutex_lock(&a->stream->lock);
  a->current_bytes = (int64_t)a->stream->at;
  pthread_mutex_unlock(&a->stream->lock);
  return NULL;
}

/* ---- calls ---- */

static bool find_send(const endpoints *e, i64 channel, PJRT_SendCallbackInfo *out) {
  for (size_t i = 0; e && i < e->num_send; i++)
    if (e->send[i].channel_id == channel) return *out = e->send[i], true;
  return false;
}

static bool find_recv(const endpoints *e, i64 channel, PJRT_RecvCallbackInfo *out) {
  for (size_t i = 0; e && i < e->num_recv; i++)
    if (e->recv[i].channel_id == channel) return *out = e->recv[i], true;
  return false;
}

static status start(api_channels *c, executor_call *call, bool sends) {
  const endpoints *e = c ? &c->of[call->position] : NULL;
  i64 channel = call->params.data[0];
  message m = {.task.run = sends ? run_send : run_recv, .call = call};
  if (!(sends ? find_send(e, channel, &m.send) : find_recv(e, channel, &m.recv)))
    return status_make(STATUS_INVALID_ARGUMENT,
                       "%s channel %lld, for which this execution was given no callback",
                       sends ? "sends to" : "receives from", (long long)channel);
  message *own = mem_alloc(&mem_system, sizeof *own);
  if (!own) return status_oom();
  *own = m;
  status s = ffi_threads_run(c->threads, &own->task);
  if (s) mem_free(&mem_system, own, sizeof *own);
  return s;
}

/* compile/ writes the params: channel, partition that makes the call (-1: each), partitions. */
void api_channels_call(void *c, executor_call *call) {
  bool sends = str_is(call->target, "stablehlo.send");
  if ((!sends && !str_is(call->target, "stablehlo.recv")) || call->params.len != 3) {
    call->done(call, status_make(STATUS_UNIMPLEMENTED, "is a call of the host, which has none"));
    return;
  }
  i64 device = call->params.data[1], partitions = call->params.data[2];
  if (device >= 0 && call->position % (u64)partitions != (u64)device) {
    call->done(call, NULL); /* what is received comes from the one that receives */
    return;
  }
  status s = start(c, call, sends);
  if (s) call->done(call, s);
}
