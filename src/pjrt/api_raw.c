/* The RawBuffer extension: the bytes of a buffer, whatever array they are, for those who move them
 * themselves. Who writes sees to it that nobody reads meanwhile. */
#include "pjrt/api.h"
#include "pjrt/slots.h"

typedef struct api_raw {
  PJRT_RawBuffer base; /* the vtable, first */
  handle head;
  atomic_int refs;
  PJRT_Client *client;
  dev_buffer *dev; /* an alias of the buffer that it was made of */
} api_raw;

static api_raw *raw_of(const PJRT_RawBuffer *b) { return (api_raw *)(uintptr_t)b; }

static void retain(PJRT_RawBuffer *b) {
  atomic_fetch_add_explicit(&raw_of(b)->refs, 1, memory_order_relaxed);
}

static void release(PJRT_RawBuffer *b) {
  api_raw *r = raw_of(b);
  if (atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) != 1) return;
  handle_end(&r->head);
  dev_buffer_release(r->dev);
  api_client_release(r->client);
  mem_free(&mem_system, r, sizeof *r);
}

static size_t raw_size(const PJRT_RawBuffer *b) { return dev_buffer_bytes(raw_of(b)->dev); }

static PJRT_Memory *raw_memory(const PJRT_RawBuffer *b) {
  return api_memory_handle(raw_of(b)->client, dev_buffer_memory(raw_of(b)->dev));
}

static void *raw_pointer(const PJRT_RawBuffer *b) {
  void *data = NULL;
  status_free(dev_buffer_map(raw_of(b)->dev, &data));
  return data;
}

/* Their events are XLA's own; whoever knows us by PJRT asks the extension's functions. */
static PJRT_Error *no_device_events(void) {
  return api_error(status_make(STATUS_UNIMPLEMENTED, "events of XLA's own for raw buffers"));
}
static PJRT_Error *write_with(PJRT_RawBuffer *b, const void *src, int64_t offset, int64_t size,
                              PJRT_DeviceEvent *e) {
  (void)b, (void)src, (void)offset, (void)size, (void)e;
  return no_device_events();
}
static PJRT_Error *read_with(PJRT_RawBuffer *b, void *dst, int64_t offset, int64_t size,
                             PJRT_DeviceEvent *e) {
  (void)b, (void)dst, (void)offset, (void)size, (void)e;
  return no_device_events();
}

static const PJRT_RawBuffer_FunctionTable vtable = {
    .struct_size = PJRT_RawBuffer_FunctionTable_END,
    .instance_size = sizeof(api_raw),
    .inc_ref = retain,
    .dec_ref = release,
    .get_on_device_size_in_bytes = raw_size,
    .get_memory_space = raw_memory,
    .get_host_pointer = raw_pointer,
    .copy_raw_host_to_device_and_return_event = write_with,
    .copy_raw_device_to_host_and_return_event = read_with,
    .opaque_device_memory_data_pointer = raw_pointer,
};

status api_raw_buffer_create_raw_alias_of_buffer(PJRT_RawBuffer_CreateRawAliasOfBuffer_Args *a) {
  dev_buffer *of = a->buffer->dev, *alias;
  a->raw_buffer = NULL;
  RETURN_IF_ERROR(dev_buffer_bitcast(of, dev_buffer_type(of), dev_buffer_dims(of),
                                     dev_buffer_order(of), &alias));
  api_raw *r = mem_zalloc(&mem_system, sizeof *r);
  if (!r) {
    dev_buffer_release(alias);
    return status_oom();
  }
  r->base.vtable = &vtable;
  r->head = handle_begin(API_RAW);
  atomic_init(&r->refs, 1);
  r->client = api_client_retain(a->buffer->client);
  r->dev = alias;
  a->raw_buffer = &r->base;
  return NULL;
}

status api_raw_buffer_destroy(PJRT_RawBuffer_Destroy_Args *a) {
  release(a->buffer);
  return NULL;
}

status api_raw_buffer_get_on_device_size_in_bytes(PJRT_RawBuffer_GetOnDeviceSizeInBytes_Args *a) {
  a->on_device_size_in_bytes = raw_size(a->buffer);
  return NULL;
}

status api_raw_buffer_get_memory_space(PJRT_RawBuffer_GetMemorySpace_Args *a) {
  a->memory_space = raw_memory(a->buffer);
  return NULL;
}

status api_raw_buffer_get_host_pointer(PJRT_RawBuffer_GetHostPointer_Args *a) {
  a->host_pointer = NULL;
  return dev_buffer_map(raw_of(a->buffer)->dev, &a->host_pointer);
}

static status check_range(const api_raw *r, int64_t offset, int64_t size, const void *host) {
  size_t have = dev_buffer_bytes(r->dev);
  if (size && !host) return api_missing("PJRT_RawBuffer", "the host's pointer");
  if (offset >= 0 && size >= 0 && (size_t)offset <= have && (size_t)size <= have - (size_t)offset)
    return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "%lld bytes at %lld of a buffer of %zu bytes",
                     (long long)size, (long long)offset, have);
}

status api_raw_buffer_copy_raw_device_to_host(PJRT_RawBuffer_CopyRawDeviceToHost_Args *a) {
  api_raw *r = raw_of(a->buffer);
  dev_event *done;
  a->event = NULL;
  RETURN_IF_ERROR(check_range(r, a->offset, a->transfer_size, a->dst));
  RETURN_IF_ERROR(
      dev_buffer_read(r->dev, a->dst, (size_t)a->offset, (size_t)a->transfer_size, &done));
  a->event = api_event(done);
  return NULL;
}

/* Memory that a buffer shares with its maker is not ours to write. */
static status check_own(dev_buffer *b) {
  dev_block *block;
  RETURN_IF_ERROR(dev_buffer_hold(b, &block));
  bool shared = !dev_block_is_writable(block);
  dev_block_release(block);
  return shared ? status_make(STATUS_FAILED_PRECONDITION,
                              "the buffer's memory belongs to who made it from there")
                : NULL;
}

status api_raw_buffer_copy_raw_host_to_device(PJRT_RawBuffer_CopyRawHostToDevice_Args *a) {
  api_raw *r = raw_of(a->buffer);
  a->event = NULL;
  RETURN_IF_ERROR(check_range(r, a->offset, a->transfer_size, a->src));
  RETURN_IF_ERROR(check_own(r->dev));
  dev_event *done = dev_event_create();
  if (!done) return status_oom();
  status s =
      dev_buffer_write_bytes(r->dev, (size_t)a->offset, (size_t)a->transfer_size, a->src, done);
  if (s)
    dev_event_release(done);
  else
    a->event = api_event(done);
  return s;
}
