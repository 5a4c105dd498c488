/* The asynchronous transfer manager: buffers that are there at once and filled in pieces. */
#include "base/arena.h"
#include "device/feed.h"
#include "pjrt/shape.h"
#include "pjrt/slots.h"

typedef struct slot {
  dev_feed *feed;
  PJRT_Buffer *buffer; /* under lock; NULL: it has been retrieved */
  size_t bytes;
  dev_buffer *dev; /* what it is for */
} slot;

struct PJRT_AsyncHostToDeviceTransferManager {
  handle head;
  PJRT_Client *client;
  PJRT_Device *device;
  pthread_mutex_t lock;
  size_t count;
  slot slots[];
};
typedef PJRT_AsyncHostToDeviceTransferManager manager;

static size_t manager_size(size_t count) { return sizeof(manager) + count * sizeof(slot); }

static void destroy(manager *m) {
  for (size_t i = 0; i < m->count; i++) {
    slot *s = &m->slots[i];
    if (s->feed) dev_feed_close(s->feed);
    if (s->buffer) api_buffer_free(s->buffer);
    dev_buffer_release(s->dev);
  }
  PJRT_Client *c = m->client;
  handle_end(&m->head);
  pthread_mutex_destroy(&m->lock);
  mem_free(&mem_system, m, manager_size(m->count));
  api_client_release(c);
}

static status fill_slot(manager *m, slot *to, const api_shape *shape) {
  dev_event *ready = dev_event_create();
  if (!ready) return status_oom();
  status s = api_shape_buffer(shape, ready, NULL, &to->dev);
  if (!s) {
    to->bytes = shape->bytes;
    to->feed = dev_feed_create(to->dev, ready);
    s = to->feed ? api_buffer_wrap(m->client, dev_buffer_retain(to->dev), &to->buffer)
                 : status_oom();
  }
  dev_event_release(ready);
  return s;
}

static status fill(manager *m, const PJRT_Client_CreateBuffersForAsyncHostToDevice_Args *a) {
  for (size_t i = 0; i < m->count; i++) {
    const PJRT_ShapeSpec *spec = &a->shape_specs[i];
    RETURN_IF_ERROR(api_check_size("PJRT_ShapeSpec", spec, PJRT_ShapeSpec_END));
    if (spec->num_dims && !spec->dims) return api_missing("PJRT_ShapeSpec", "dims");
    api_shape shape;
    RETURN_IF_ERROR(api_shape_read(
        m->client,
        &(api_shape_args){a->memory, NULL, spec->element_type, spec->dims, spec->num_dims,
                          a->num_device_layouts ? a->device_layouts[i] : NULL},
        &shape));
    m->device = &m->client->devices[shape.memory->device->id];
    RETURN_IF_ERROR(fill_slot(m, &m->slots[i], &shape));
  }
  return NULL;
}

status api_client_create_buffers_for_async_host_to_device(
    PJRT_Client_CreateBuffersForAsyncHostToDevice_Args *a) {
  enum { MOST = 1 << 20 };
  a->transfer_manager = NULL;
  if (a->num_device_layouts && a->num_device_layouts != a->num_shape_specs)
    return status_make(STATUS_INVALID_ARGUMENT, "%zu layouts for %zu shapes", a->num_device_layouts,
                       a->num_shape_specs);
  if (a->num_shape_specs > MOST)
    return status_make(STATUS_INVALID_ARGUMENT, "%zu buffers at once", a->num_shape_specs);
  manager *m = mem_zalloc(&mem_system, manager_size(a->num_shape_specs));
  if (!m) return status_oom();
  m->head = handle_begin(API_TRANSFERS);
  m->client = api_client_retain(a->client);
  m->device = &a->client->devices[a->client->first_local];
  m->count = a->num_shape_specs;
  pthread_mutex_init(&m->lock, NULL);
  status s = fill(m, a);
  if (s)
    destroy(m);
  else
    a->transfer_manager = m;
  return s;
}

status api_async_host_to_device_transfer_manager_destroy(
    PJRT_AsyncHostToDeviceTransferManager_Destroy_Args *a) {
  destroy(a->transfer_manager);
  return NULL;
}

static status find_slot(manager *m, int index, slot **out) {
  *out = NULL;
  if (index < 0 || (size_t)index >= m->count)
    return status_make(STATUS_INVALID_ARGUMENT, "no buffer %d: there are %zu", index, m->count);
  *out = &m->slots[index];
  return NULL;
}

status api_async_host_to_device_transfer_manager_transfer_data(
    PJRT_AsyncHostToDeviceTransferManager_TransferData_Args *a) {
  slot *to;
  dev_event *done;
  a->done_with_h2d_transfer = NULL;
  RETURN_IF_ERROR(find_slot(a->transfer_manager, a->buffer_index, &to));
  if (a->offset < 0 || a->transfer_size < 0)
    return status_make(STATUS_INVALID_ARGUMENT, "a negative offset or size");
  RETURN_IF_ERROR(dev_feed_bytes(to->feed, a->data, (size_t)a->offset, (size_t)a->transfer_size,
                                 a->is_last_transfer, &done));
  a->done_with_h2d_transfer = api_event(done);
  return NULL;
}

status api_async_host_to_device_transfer_manager_transfer_literal(
    PJRT_AsyncHostToDeviceTransferManager_TransferLiteral_Args *a) {
  slot *to;
  dev_event *done;
  bool dense;
  i64 strides[DEV_MAX_RANK];
  i64s dims = {a->shape_dims, a->shape_num_dims};
  a->done_with_h2d_transfer = NULL;
  RETURN_IF_ERROR(find_slot(a->transfer_manager, a->buffer_index, &to));
  dtype type = dev_buffer_type(to->dev);
  if ((int)a->shape_element_type != dtype_infos[type].pjrt ||
      !i64s_eq(dims, dev_buffer_dims(to->dev)))
    return status_make(STATUS_INVALID_ARGUMENT, "a literal of another shape than buffer %d",
                       a->buffer_index);
  if (to->bytes && !a->data) return api_missing("TransferLiteral", "data");
  RETURN_IF_ERROR(api_layout_strides(a->shape_layout, dims, dtype_size(type), strides, &dense));
  RETURN_IF_ERROR(dev_feed_array(to->feed, a->data, strides, &done));
  a->done_with_h2d_transfer = api_event(done);
  return NULL;
}

status api_async_host_to_device_transfer_manager_retrieve_buffer(
    PJRT_AsyncHostToDeviceTransferManager_RetrieveBuffer_Args *a) {
  slot *from;
  a->buffer_out = NULL;
  RETURN_IF_ERROR(find_slot(a->transfer_manager, a->buffer_index, &from));
  pthread_mutex_lock(&a->transfer_manager->lock);
  a->buffer_out = from->buffer;
  from->buffer = NULL;
  pthread_mutex_unlock(&a->transfer_manager->lock);
  if (!a->buffer_out)
    return status_make(STATUS_FAILED_PRECONDITION, "buffer %d has been retrieved before",
                       a->buffer_index);
  api_buffer_note(a->buffer_out);
  return NULL;
}

status api_async_host_to_device_transfer_manager_device(
    PJRT_AsyncHostToDeviceTransferManager_Device_Args *a) {
  a->device_out = a->transfer_manager->device;
  return NULL;
}

status api_async_host_to_device_transfer_manager_buffer_count(
    PJRT_AsyncHostToDeviceTransferManager_BufferCount_Args *a) {
  a->buffer_count = a->transfer_manager->count;
  return NULL;
}

status api_async_host_to_device_transfer_manager_buffer_size(
    PJRT_AsyncHostToDeviceTransferManager_BufferSize_Args *a) {
  slot *of;
  RETURN_IF_ERROR(find_slot(a->transfer_manager, a->buffer_index, &of));
  a->buffer_size = of->bytes;
  return NULL;
}

status api_async_host_to_device_transfer_manager_set_buffer_error(
    PJRT_AsyncHostToDeviceTransferManager_SetBufferError_Args *a) {
  slot *of;
  RETURN_IF_ERROR(find_slot(a->transfer_manager, a->buffer_index, &of));
  status error = api_status(a->error_code, a->error_message, a->error_message_size);
  if (!error) return status_make(STATUS_INVALID_ARGUMENT, "an error of code OK");
  return dev_feed_fail(of->feed, error);
}

/* What is known of a transfer changes nothing about it. */
status api_async_host_to_device_transfer_manager_add_metadata(
    PJRT_AsyncHostToDeviceTransferManager_AddMetadata_Args *a) {
  (void)a;
  return NULL;
}
