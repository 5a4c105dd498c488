/* Buffers: from and to the host, copies, deletion, questions. */
#include <stdio.h>

#include "base/arena.h"
#include "device/copy.h"
#include "pjrt/api.h"
#include "pjrt/log.h"
#include "pjrt/shape.h"
#include "pjrt/slots.h"

status api_buffer_wrap(PJRT_Client *client, dev_buffer *dev, PJRT_Buffer **out) {
  PJRT_Buffer *b = *out = mem_alloc(&mem_system, sizeof *b);
  if (!b) {
    dev_buffer_release(dev);
    return status_oom();
  }
  *b = (PJRT_Buffer){handle_begin(API_BUFFER), api_client_retain(client), dev};
  return NULL;
}

void api_buffer_free(PJRT_Buffer *b) {
  PJRT_Client *c = b->client;
  dev_buffer_release(b->dev);
  handle_end(&b->head);
  mem_free(&mem_system, b, sizeof *b);
  api_client_release(c);
}

void api_buffer_note(const PJRT_Buffer *b) {
  char shape[128];
  if (!api_log_level) return;
  const dev_memory *m = dev_buffer_memory(b->dev);
  dev_shape_text(dev_buffer_type(b->dev), dev_buffer_dims(b->dev), shape, sizeof shape);
  if (m->kind == DEV_KIND_DEVICE && m->device->id == 0)
    api_note("%s -> buffer %p", shape, (const void *)b);
  else
    api_note("%s -> buffer %p on device %u %s", shape, (const void *)b, m->device->id,
             dev_kind_names[m->kind]);
}

/* There are bytes where there have to be. */
static status check_data(const void *data, const api_shape *shape) {
  if (data || shape->bytes == 0) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "%zu bytes at NULL", shape->bytes);
}

/* Takes b over. */
static status hand_out(PJRT_Client *c, dev_buffer *b, PJRT_Buffer **out) {
  RETURN_IF_ERROR(api_buffer_wrap(c, b, out));
  api_buffer_note(*out);
  return NULL;
}

status api_client_buffer_from_host_buffer(PJRT_Client_BufferFromHostBuffer_Args *a) {
  api_shape shape;
  dev_buffer *b;
  dev_event *done;
  PJRT_HostBufferSemantics how = a->host_buffer_semantics;
  a->buffer = NULL;
  a->done_with_host_buffer = NULL;
  RETURN_IF_ERROR(api_shape_read(
      a->client,
      &(api_shape_args){a->memory, a->device, a->type, a->dims, a->num_dims, a->device_layout},
      &shape));
  if (a->byte_strides && a->num_byte_strides != a->num_dims)
    return status_make(STATUS_INVALID_ARGUMENT, "%zu strides for %zu dimensions",
                       a->num_byte_strides, a->num_dims);
  if ((unsigned)how > PJRT_HostBufferSemantics_kMutableZeroCopy)
    return status_make(STATUS_INVALID_ARGUMENT, "host buffer semantics %d are unknown", (int)how);
  RETURN_IF_ERROR(check_data(a->data, &shape));
  dev_host_array from = {.type = shape.type, .dims = shape.dims, .data = a->data};
  from.byte_strides = a->byte_strides;
  from.minor_to_major = api_shape_order(&shape);
  from.lasting = how != PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
  from.writable = how == PJRT_HostBufferSemantics_kMutableZeroCopy;
  from.shared = how == PJRT_HostBufferSemantics_kImmutableZeroCopy || from.writable;
  RETURN_IF_ERROR(dev_buffer_from_array(shape.memory, &from, &b, &done));
  status s = hand_out(a->client, b, &a->buffer);
  if (s)
    dev_event_release(done);
  else
    a->done_with_host_buffer = api_event(done);
  return s;
}

/* Whose bytes are whatever they are, ready or in error. */
static status create_plain(PJRT_Client *c, const api_shape_args *args, status error,
                           PJRT_Buffer **out) {
  api_shape shape;
  dev_buffer *b;
  status s = api_shape_read(c, args, &shape);
  dev_event *ready = s ? NULL : dev_event_create();
  if (!ready) {
    status_free(error);
    return s ? s : status_oom();
  }
  dev_event_set(ready, error);
  s = api_shape_buffer(&shape, ready, NULL, &b);
  dev_event_release(ready);
  return s ? s : hand_out(c, b, out);
}

status api_client_create_uninitialized_buffer(PJRT_Client_CreateUninitializedBuffer_Args *a) {
  api_shape_args args = {a->memory,     a->device,         a->shape_element_type,
                         a->shape_dims, a->shape_num_dims, a->shape_layout};
  a->buffer = NULL;
  return create_plain(a->client, &args, NULL, &a->buffer);
}

status api_client_create_error_buffer(PJRT_Client_CreateErrorBuffer_Args *a) {
  api_shape_args args = {a->memory,         NULL,           a->shape_element_type, a->shape_dims,
                         a->shape_num_dims, a->shape_layout};
  status why;
  a->buffer = NULL;
  RETURN_IF_ERROR(api_status_with(a->error_code, (str){a->error_message, a->error_message_size},
                                  a->payload, a->num_payload, &why));
  return create_plain(a->client, &args, why, &a->buffer);
}

status api_client_create_view_of_device_buffer(PJRT_Client_CreateViewOfDeviceBuffer_Args *a) {
  api_shape shape;
  dev_buffer *b;
  a->buffer = NULL;
  RETURN_IF_ERROR(api_shape_read(
      a->client,
      &(api_shape_args){a->memory, a->device, a->element_type, a->dims, a->num_dims, a->layout},
      &shape));
  RETURN_IF_ERROR(check_data(a->device_buffer_ptr, &shape));
  if ((uintptr_t)a->device_buffer_ptr % 16)
    return status_make(STATUS_INVALID_ARGUMENT, "the memory is not aligned to 16 bytes");
  RETURN_IF_ERROR(dev_buffer_view(shape.memory, shape.type, shape.dims, a->device_buffer_ptr, false,
                                  a->on_delete_callback, a->on_delete_callback_arg, &b));
  dev_buffer_lay_out(b, api_shape_order(&shape));
  return hand_out(a->client, b, &a->buffer);
}

status api_buffer_destroy(PJRT_Buffer_Destroy_Args *a) {
  api_buffer_free(a->buffer);
  return NULL;
}

status api_buffer_delete(PJRT_Buffer_Delete_Args *a) {
  dev_buffer_delete(a->buffer->dev);
  return NULL;
}

/* ---- to the host ---- */

status api_buffer_to_host_buffer(PJRT_Buffer_ToHostBuffer_Args *a) {
  dev_buffer *b = a->src->dev;
  size_t element = dtype_size(dev_buffer_type(b));
  i64 strides[DEV_MAX_RANK];
  bool dense;
  size_t need;
  dev_event *done;
  a->event = NULL;
  RETURN_IF_ERROR(api_layout_strides(a->host_layout, dev_buffer_dims(b), element, strides, &dense));
  RETURN_IF_ERROR(api_layout_extent(dev_buffer_dims(b), strides, element, &need));
  if (!a->dst) { /* asks for the size */
    a->dst_size = need;
    return NULL;
  }
  if (a->dst_size < need)
    return status_make(STATUS_INVALID_ARGUMENT, "%zu bytes of room for %zu", a->dst_size, need);
  RETURN_IF_ERROR(dev_buffer_to_host(b, a->dst, dense ? NULL : strides, &done));
  a->event = api_event(done);
  api_note("%zu bytes", dev_buffer_bytes(b));
  return NULL;
}

status api_buffer_copy_raw_to_host(PJRT_Buffer_CopyRawToHost_Args *a) {
  dev_event *done;
  a->event = NULL;
  if (a->offset < 0 || a->transfer_size < 0)
    return status_make(STATUS_INVALID_ARGUMENT, "a negative offset or size");
  RETURN_IF_ERROR(
      dev_buffer_read(a->buffer->dev, a->dst, (size_t)a->offset, (size_t)a->transfer_size, &done));
  a->event = api_event(done);
  return NULL;
}

/* ---- copies ---- */

static status copy_to(PJRT_Buffer *src, PJRT_Memory *memory, PJRT_Buffer **out) {
  dev_buffer *b;
  *out = NULL;
  RETURN_IF_ERROR(api_check_memory(src->client, memory));
  RETURN_IF_ERROR(dev_buffer_copy(src->dev, api_memory_of(memory)->dev, &b));
  RETURN_IF_ERROR(api_buffer_wrap(src->client, b, out));
  api_buffer_note(*out);
  return NULL;
}

status api_buffer_copy_to_memory(PJRT_Buffer_CopyToMemory_Args *a) {
  return copy_to(a->buffer, a->dst_memory, &a->dst_buffer);
}

status api_buffer_copy_to_device(PJRT_Buffer_CopyToDevice_Args *a) {
  a->dst_buffer = NULL;
  return copy_to(a->buffer, a->dst_device->memories[DEV_KIND_DEVICE], &a->dst_buffer);
}

/* ---- questions ---- */

status api_buffer_element_type(PJRT_Buffer_ElementType_Args *a) {
  a->type = (PJRT_Buffer_Type)dtype_infos[dev_buffer_type(a->buffer->dev)].pjrt;
  return NULL;
}

status api_buffer_dimensions(PJRT_Buffer_Dimensions_Args *a) {
  i64s dims = dev_buffer_dims(a->buffer->dev);
  a->dims = dims.data;
  a->num_dims = dims.len;
  return NULL;
}

status api_buffer_unpadded_dimensions(PJRT_Buffer_UnpaddedDimensions_Args *a) {
  i64s dims = dev_buffer_dims(a->buffer->dev);
  a->unpadded_dims = dims.data;
  a->num_dims = dims.len;
  return NULL;
}

status api_buffer_dynamic_dimension_indices(PJRT_Buffer_DynamicDimensionIndices_Args *a) {
  a->dynamic_dim_indices = NULL;
  a->num_dynamic_dims = 0;
  return NULL;
}

status api_buffer_get_memory_layout(PJRT_Buffer_GetMemoryLayout_Args *a) {
  i64s order = dev_buffer_order(a->buffer->dev);
  a->layout = (PJRT_Buffer_MemoryLayout){
      .struct_size = PJRT_Buffer_MemoryLayout_END,
      .type = PJRT_Buffer_MemoryLayout_Type_Tiled,
      .tiled = {.struct_size = PJRT_Buffer_MemoryLayout_Tiled_END,
                .minor_to_major = order.data,
                .minor_to_major_size = order.len},
  };
  return NULL;
}

status api_buffer_on_device_size_in_bytes(PJRT_Buffer_OnDeviceSizeInBytes_Args *a) {
  a->on_device_size_in_bytes = dev_buffer_bytes(a->buffer->dev);
  return NULL;
}

status api_buffer_device(PJRT_Buffer_Device_Args *a) {
  a->device = &a->buffer->client->devices[dev_buffer_memory(a->buffer->dev)->device->id];
  return NULL;
}

status api_buffer_memory(PJRT_Buffer_Memory_Args *a) {
  a->memory = api_memory_handle(a->buffer->client, dev_buffer_memory(a->buffer->dev));
  return NULL;
}

status api_buffer_is_deleted(PJRT_Buffer_IsDeleted_Args *a) {
  a->is_deleted = dev_buffer_is_deleted(a->buffer->dev);
  return NULL;
}

/* The framework then reads the bytes where they are, once they are ready and while it holds an
 * external reference; NumPy sees them without a copy. */
status api_buffer_is_on_cpu(PJRT_Buffer_IsOnCpu_Args *a) {
  a->is_on_cpu = executor_can_map(a->buffer->client->on);
  return NULL;
}

status api_buffer_ready_event(PJRT_Buffer_ReadyEvent_Args *a) {
  a->event = api_event(dev_event_retain(dev_buffer_ready(a->buffer->dev)));
  return NULL;
}

/* ---- addresses ---- */

status api_buffer_unsafe_pointer(PJRT_Buffer_UnsafePointer_Args *a) {
  void *p;
  RETURN_IF_ERROR(dev_buffer_map(a->buffer->dev, &p));
  a->buffer_pointer = (uintptr_t)p;
  return NULL;
}

status
api_buffer_opaque_device_memory_data_pointer(PJRT_Buffer_OpaqueDeviceMemoryDataPointer_Args *a) {
  return dev_buffer_map(a->buffer->dev, &a->device_memory_ptr);
}

status
api_buffer_increase_external_reference_count(PJRT_Buffer_IncreaseExternalReferenceCount_Args *a) {
  return dev_buffer_add_external(a->buffer->dev);
}

status
api_buffer_decrease_external_reference_count(PJRT_Buffer_DecreaseExternalReferenceCount_Args *a) {
  return dev_buffer_drop_external(a->buffer->dev);
}
