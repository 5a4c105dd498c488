/* Buffers that stand for others, reads and donations that wait for the caller's word, and memory
 * that the caller registers. */
#include "base/arena.h"
#include "pjrt/shape.h"
#include "pjrt/slots.h"

/* ---- alias buffers: there before what they stand for ---- */

struct PJRT_FulfillAliasBufferCallback {
  handle head;
  dev_buffer *alias;
  dev_event *ready; /* its own */
};

status api_client_create_alias_buffer(PJRT_Client_CreateAliasBuffer_Args *a) {
  api_shape shape;
  api_shape_args args = {a->memory,         NULL,           a->shape_element_type, a->shape_dims,
                         a->shape_num_dims, a->shape_layout};
  a->alias_buffer = NULL;
  a->fulfill_alias_buffer_cb = NULL;
  RETURN_IF_ERROR(api_shape_read(a->client, &args, &shape));
  PJRT_FulfillAliasBufferCallback *f = mem_zalloc(&mem_system, sizeof *f);
  dev_event *ready = f ? dev_event_create() : NULL;
  status s = ready ? api_shape_buffer(&shape, ready, NULL, &f->alias) : status_oom();
  if (!s) {
    f->head = handle_begin(API_ALIAS);
    f->ready = ready;
    s = api_buffer_wrap(a->client, dev_buffer_retain(f->alias), &a->alias_buffer);
  }
  if (!s) {
    api_buffer_note(a->alias_buffer);
    a->fulfill_alias_buffer_cb = f;
    return NULL;
  }
  if (f) dev_buffer_release(f->alias);
  dev_event_release(ready);
  mem_free(&mem_system, f, sizeof *f);
  return s;
}

static status check_alias(const dev_buffer *alias, const dev_buffer *real) {
  if (alias == real)
    return status_make(STATUS_INVALID_ARGUMENT, "a buffer cannot be its own alias");
  if (dev_buffer_is_like(alias, real)) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "the buffer is of another shape than its alias");
}

static void pass_on(void *user, status error) {
  dev_event *ready = user;
  dev_event_set(ready, status_copy(error));
  dev_event_release(ready);
}

/* An alias has memory of its own, so that launches can be enqueued on it. Where some have been,
 * that gets a copy; else it goes, and the alias has the bytes themselves. */
static status fulfill(dev_buffer *alias, dev_event *ready, dev_buffer *real) {
  if (!dev_buffer_adopt(alias, real)) return dev_buffer_copy_to(real, alias, ready);
  if (dev_event_on_ready(dev_buffer_ready(real), pass_on, dev_event_retain(ready))) return NULL;
  dev_event_release(ready);
  return status_oom();
}

/* The framework does not say whose client this is. A wrong buffer leaves the alias waiting. */
status api_client_fulfill_alias_buffer(PJRT_Client_FulfillAliasBuffer_Args *a) {
  PJRT_FulfillAliasBufferCallback *f = a->fulfill_alias_buffer_cb;
  status error = api_status(a->status_code, a->error_message, a->error_message_size);
  if (!error && !a->buffer) return api_missing("PJRT_Client_FulfillAliasBuffer", "buffer");
  if (error) {
    dev_event_set(f->ready, error);
  } else {
    RETURN_IF_ERROR(check_alias(f->alias, a->buffer->dev));
    error = fulfill(f->alias, f->ready, a->buffer->dev);
    if (error) dev_event_set(f->ready, error);
  }
  dev_buffer_release(f->alias);
  dev_event_release(f->ready);
  handle_end(&f->head);
  mem_free(&mem_system, f, sizeof *f);
  return NULL;
}

status api_buffer_bitcast(PJRT_Buffer_Bitcast_Args *a) {
  api_shape shape;
  dev_buffer *b, *of = a->buffer->dev;
  PJRT_Client *c = a->buffer->client;
  a->out_buffer = NULL;
  RETURN_IF_ERROR(
      api_shape_read(c,
                     &(api_shape_args){api_memory_handle(c, dev_buffer_memory(of)), NULL,
                                       a->element_type, a->dims, a->num_dims, a->device_layout},
                     &shape));
  RETURN_IF_ERROR(dev_buffer_bitcast(of, shape.type, shape.dims, api_shape_order(&shape), &b));
  RETURN_IF_ERROR(api_buffer_wrap(c, b, &a->out_buffer));
  api_buffer_note(a->out_buffer);
  return NULL;
}

/* ---- donation with a control dependency ---- */

/* The new buffer's event is set when both the old one's is and the caller has said so. */
typedef struct dependency {
  dev_event *old, *ready;
} dependency;

static void dependency_ready(PJRT_Buffer_DonateWithControlDependency_Callback_Args *a) {
  dependency d = *(dependency *)a->callback_data;
  status error = api_status(a->error_code, a->error_message, a->error_message_size);
  mem_free(&mem_system, a->callback_data, sizeof d);
  if (error || !dev_event_on_ready(d.old, pass_on, d.ready)) {
    dev_event_set(d.ready, error ? error : status_oom());
    dev_event_release(d.ready);
  }
  dev_event_release(d.old);
}

status api_buffer_donate_with_control_dependency(PJRT_Buffer_DonateWithControlDependency_Args *a) {
  dev_buffer *b = NULL;
  a->out_buffer = NULL;
  a->callback_data = NULL;
  a->dependency_ready_callback = NULL;
  dependency *d = mem_alloc(&mem_system, sizeof *d);
  dev_event *ready = d ? dev_event_create() : NULL;
  status s = ready ? dev_buffer_move(a->buffer->dev, ready, &b) : status_oom();
  if (!s) s = api_buffer_wrap(a->buffer->client, b, &a->out_buffer);
  if (s) {
    dev_event_release(ready);
    mem_free(&mem_system, d, sizeof *d);
    return s;
  }
  *d = (dependency){dev_event_retain(dev_buffer_ready(a->buffer->dev)), ready};
  a->callback_data = d;
  a->dependency_ready_callback = dependency_ready;
  api_buffer_note(a->out_buffer);
  return NULL;
}

/* ---- reads whose destination comes later ---- */

typedef struct future {
  dev_buffer *from; /* the bytes as they were then, whatever becomes of the buffer */
  dev_event *done;
  size_t offset, size;
} future;

static void future_ready(PJRT_Buffer_CopyRawToHostFuture_Callback_Args *a) {
  future f = *(future *)a->callback_data;
  dev_event *read;
  mem_free(&mem_system, a->callback_data, sizeof f);
  status s = api_status(a->error_code, a->error_message, a->error_message_size);
  if (!s && f.size && !a->dst) s = api_missing("PJRT_Buffer_CopyRawToHostFuture", "dst");
  if (!s) s = dev_buffer_read(f.from, a->dst, f.offset, f.size, &read);
  if (!s) {
    if (!dev_event_on_ready(read, pass_on, f.done)) {
      (void)dev_event_await(read); /* dst is being written to */
      pass_on(f.done, status_oom());
    }
    dev_event_release(read);
  } else {
    pass_on(f.done, s);
    status_free(s);
  }
  dev_buffer_release(f.from);
}

status api_buffer_copy_raw_to_host_future(PJRT_Buffer_CopyRawToHostFuture_Args *a) {
  dev_buffer *from = a->buffer->dev;
  size_t have = dev_buffer_bytes(from);
  a->event = NULL;
  a->callback_data = NULL;
  a->future_ready_callback = NULL;
  if (a->offset < 0 || a->transfer_size < 0 || (size_t)a->offset > have ||
      (size_t)a->transfer_size > have - (size_t)a->offset)
    return status_make(STATUS_INVALID_ARGUMENT, "%lld bytes at %lld of a buffer of %zu bytes",
                       (long long)a->transfer_size, (long long)a->offset, have);
  future *f = mem_alloc(&mem_system, sizeof *f);
  dev_event *done = f ? dev_event_create() : NULL;
  status s = done ? dev_buffer_bitcast(from, dev_buffer_type(from), dev_buffer_dims(from),
                                       dev_buffer_order(from), &from)
                  : status_oom();
  if (s) {
    dev_event_release(done);
    mem_free(&mem_system, f, sizeof *f);
    return s;
  }
  *f = (future){from, done, (size_t)a->offset, (size_t)a->transfer_size};
  a->event = api_event(dev_event_retain(done));
  a->callback_data = f;
  a->future_ready_callback = future_ready;
  return NULL;
}

/* ---- memory for transfers ---- */

/* All of the host's memory will do for any transfer: what is registered is only remembered, so that
 * what was not cannot be taken back. */
struct api_mapped {
  api_mapped *next;
  const void *data;
  size_t size;
};

static api_mapped **find_mapped(PJRT_Client *c, const void *data) {
  api_mapped **at = &c->mapped;
  while (*at && (*at)->data != data) at = &(*at)->next;
  return at;
}

status api_client_dma_map(PJRT_Client_DmaMap_Args *a) {
  api_mapped *m = mem_alloc(&mem_system, sizeof *m);
  if (!m) return status_oom();
  pthread_mutex_lock(&a->client->lock);
  bool known = *find_mapped(a->client, a->data) != NULL;
  if (!known) {
    *m = (api_mapped){a->client->mapped, a->data, a->size};
    a->client->mapped = m;
  }
  pthread_mutex_unlock(&a->client->lock);
  if (!known) return NULL;
  mem_free(&mem_system, m, sizeof *m);
  return status_make(STATUS_ALREADY_EXISTS, "the memory at %p is mapped already", a->data);
}

status api_client_dma_unmap(PJRT_Client_DmaUnmap_Args *a) {
  pthread_mutex_lock(&a->client->lock);
  api_mapped **at = find_mapped(a->client, a->data), *m = *at;
  if (m) *at = m->next;
  pthread_mutex_unlock(&a->client->lock);
  mem_free(&mem_system, m, sizeof *m);
  return m ? NULL : status_make(STATUS_NOT_FOUND, "the memory at %p is not mapped", a->data);
}

void api_client_forget_mapped(PJRT_Client *c) {
  for (api_mapped *m = c->mapped, *next; m; m = next) {
    next = m->next;
    mem_free(&mem_system, m, sizeof *m);
  }
}
