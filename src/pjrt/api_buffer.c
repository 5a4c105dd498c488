/* Buffers: from and to the host, copies, deletion, questions. */
#include <stdio.h>

#include "base/arena.h"
#include "device/copy.h"
#include "pjrt/api.h"
#include "pjrt/log.h"
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

/* For the call log. */
static void note_new(const PJRT_Buffer *b) {
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

/* The place: `memory`, else the default memory of `device`. */
static status find_memory(PJRT_Client *c, PJRT_Memory *memory, PJRT_Device *device,
                          dev_memory **out) {
  if (!memory && device) memory = device->memories[DEV_KIND_DEVICE];
  if (!memory) memory = c->memory_list[0];
  RETURN_IF_ERROR(api_check_memory(c, memory));
  *out = api_memory_of(memory)->dev;
  return NULL;
}

static status find_type(PJRT_Buffer_Type type, dtype *out) {
  if (dtype_from_pjrt((int)type, out)) return NULL;
  return status_make(STATUS_UNIMPLEMENTED, "element type %d", (int)type);
}

static status check_layout(const PJRT_Buffer_MemoryLayout *l, size_t rank) {
  RETURN_IF_ERROR(api_check_size("PJRT_Buffer_MemoryLayout", l, PJRT_Buffer_MemoryLayout_END));
  if (l->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    if (l->strides.num_byte_strides != rank)
      return status_make(STATUS_INVALID_ARGUMENT, "layout: %zu strides for %zu dimensions",
                         l->strides.num_byte_strides, rank);
    return rank && !l->strides.byte_strides ? api_missing("layout", "byte_strides") : NULL;
  }
  if (l->type != PJRT_Buffer_MemoryLayout_Type_Tiled)
    return status_make(STATUS_INVALID_ARGUMENT, "layout: type %d is unknown", (int)l->type);
  if (l->tiled.num_tiles)
    return status_make(STATUS_UNIMPLEMENTED, "layout: tiles are not supported");
  if (l->tiled.minor_to_major_size != rank)
    return status_make(STATUS_INVALID_ARGUMENT, "layout: %zu dimensions, the array has %zu",
                       l->tiled.minor_to_major_size, rank);
  return rank && !l->tiled.minor_to_major ? api_missing("layout", "minor_to_major") : NULL;
}

/* Byte strides that a layout asks for; *out_dense when they are the dense row-major ones. */
static status layout_strides(const PJRT_Buffer_MemoryLayout *l, i64s dims, size_t element,
                             i64 *strides, bool *out_dense) {
  i64 dense[DEV_MAX_RANK];
  if (dims.len > DEV_MAX_RANK) return status_make(STATUS_INVALID_ARGUMENT, "too many dimensions");
  dev_dense_strides(dims, element, dense);
  memcpy(strides, dense, dims.len * sizeof(i64));
  *out_dense = true;
  if (!l) return NULL;
  RETURN_IF_ERROR(check_layout(l, dims.len));
  if (l->type == PJRT_Buffer_MemoryLayout_Type_Strides) {
    if (dims.len) memcpy(strides, l->strides.byte_strides, dims.len * sizeof(i64));
  } else {
    u64 stride = element, seen = 0;
    for (size_t i = 0; i < dims.len; i++) {
      i64 d = l->tiled.minor_to_major[i];
      if (d < 0 || (size_t)d >= dims.len || seen >> d & 1)
        return status_make(STATUS_INVALID_ARGUMENT, "layout: not a permutation");
      seen |= (u64)1 << d;
      strides[d] = (i64)stride;
      stride *= (u64)dims.data[d];
    }
  }
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] > 1 && strides[i] != dense[i]) *out_dense = false;
  return NULL;
}

/* Bytes from the first element to the end of the last. */
static status layout_extent(i64s dims, const i64 *strides, size_t element, size_t *out) {
  i64 end = (i64)element, step;
  bool empty = false, fits = true, negative = false;
  for (size_t i = 0; i < dims.len; i++) {
    empty |= dims.data[i] == 0;
    if (dims.data[i] < 2) continue;
    negative |= strides[i] < 0;
    fits = fits && checked_mul(dims.data[i] - 1, strides[i], &step) && checked_add(end, step, &end);
  }
  *out = empty ? 0 : (size_t)end;
  if (empty || (fits && !negative)) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "layout: its strides lead outside the memory");
}

/* The order of dimensions, minor to major, that a device's layout asks for; it has to be dense. */
static status device_order(const PJRT_Buffer_MemoryLayout *l, i64s dims, dtype type, i64 *order) {
  size_t bytes;
  i64 strides[DEV_MAX_RANK], dense = (i64)dtype_size(type);
  bool row_major;
  if (dims.len > DEV_MAX_RANK || !dev_dense_bytes(dims, dtype_size(type), &bytes))
    return status_make(STATUS_INVALID_ARGUMENT, "sizes do not make sense");
  RETURN_IF_ERROR(layout_strides(l, dims, dtype_size(type), strides, &row_major));
  if (dims.len) memcpy(order, api_row_major(dims.len).data, dims.len * sizeof *order);
  if (!l) return NULL;
  if (l->type == PJRT_Buffer_MemoryLayout_Type_Tiled) {
    if (dims.len) memcpy(order, l->tiled.minor_to_major, dims.len * sizeof *order);
    return NULL;
  }
  for (size_t i = 1; i < dims.len; i++) /* by strides, which are equal only next to extents of 1 */
    for (size_t k = i; k > 0 && strides[order[k]] < strides[order[k - 1]]; k--) {
      i64 t = order[k];
      order[k] = order[k - 1];
      order[k - 1] = t;
    }
  for (size_t i = 0; i < dims.len && bytes; i++) {
    i64 extent = dims.data[order[i]];
    if (extent > 1 && strides[order[i]] != dense)
      return status_make(STATUS_UNIMPLEMENTED, "device layouts with gaps");
    dense *= extent;
  }
  return NULL;
}

static status check_data(const void *data, i64s dims, dtype type) {
  size_t bytes;
  if (data || !dev_dense_bytes(dims, dtype_size(type), &bytes) || bytes == 0) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "%zu bytes at NULL", bytes);
}

status api_client_buffer_from_host_buffer(PJRT_Client_BufferFromHostBuffer_Args *a) {
  i64s dims = {a->dims, a->num_dims};
  i64 order[DEV_MAX_RANK];
  dev_memory *m;
  dtype type;
  dev_buffer *b;
  dev_event *done;
  a->buffer = NULL;
  a->done_with_host_buffer = NULL;
  RETURN_IF_ERROR(find_memory(a->client, a->memory, a->device, &m));
  RETURN_IF_ERROR(find_type(a->type, &type));
  RETURN_IF_ERROR(device_order(a->device_layout, dims, type, order));
  if (a->byte_strides && a->num_byte_strides != a->num_dims)
    return status_make(STATUS_INVALID_ARGUMENT, "%zu strides for %zu dimensions",
                       a->num_byte_strides, a->num_dims);
  if ((unsigned)a->host_buffer_semantics > PJRT_HostBufferSemantics_kMutableZeroCopy)
    return status_make(STATUS_INVALID_ARGUMENT, "host buffer semantics %d are unknown",
                       (int)a->host_buffer_semantics);
  RETURN_IF_ERROR(check_data(a->data, dims, type));
  dev_host_array from = {.type = type, .dims = dims, .data = a->data};
  from.byte_strides = a->byte_strides;
  from.minor_to_major = (i64s){order, dims.len};
  from.lasting = a->host_buffer_semantics != PJRT_HostBufferSemantics_kImmutableOnlyDuringCall;
  from.shared = a->host_buffer_semantics == PJRT_HostBufferSemantics_kImmutableZeroCopy ||
                a->host_buffer_semantics == PJRT_HostBufferSemantics_kMutableZeroCopy;
  RETURN_IF_ERROR(dev_buffer_from_array(m, &from, &b, &done));
  status s = api_buffer_wrap(a->client, b, &a->buffer);
  if (s) {
    dev_event_release(done);
    return s;
  }
  a->done_with_host_buffer = api_event(done);
  note_new(a->buffer);
  return NULL;
}

status api_client_create_uninitialized_buffer(PJRT_Client_CreateUninitializedBuffer_Args *a) {
  i64s dims = {a->shape_dims, a->shape_num_dims};
  i64 order[DEV_MAX_RANK];
  dev_memory *m;
  dtype type;
  dev_buffer *b;
  a->buffer = NULL;
  RETURN_IF_ERROR(find_memory(a->client, a->memory, a->device, &m));
  RETURN_IF_ERROR(find_type(a->shape_element_type, &type));
  RETURN_IF_ERROR(device_order(a->shape_layout, dims, type, order));
  dev_event *ready = dev_event_create();
  if (!ready) return status_oom();
  dev_event_set(ready, NULL);
  status s = dev_buffer_create(m, type, dims, ready, NULL, &b);
  dev_event_release(ready);
  if (!s) dev_buffer_lay_out(b, (i64s){order, dims.len});
  if (!s) s = api_buffer_wrap(a->client, b, &a->buffer);
  if (!s) note_new(a->buffer);
  return s;
}

status api_client_create_error_buffer(PJRT_Client_CreateErrorBuffer_Args *a) {
  i64s dims = {a->shape_dims, a->shape_num_dims};
  dev_memory *m;
  dtype type;
  dev_buffer *b;
  a->buffer = NULL;
  RETURN_IF_ERROR(find_memory(a->client, a->memory, NULL, &m));
  RETURN_IF_ERROR(find_type(a->shape_element_type, &type));
  dev_event *ready = dev_event_create();
  if (!ready) return status_oom();
  dev_event_set(ready, api_status(a->error_code, a->error_message, a->error_message_size));
  status s = dev_buffer_create(m, type, dims, ready, NULL, &b);
  dev_event_release(ready);
  if (!s) s = api_buffer_wrap(a->client, b, &a->buffer);
  if (!s) note_new(a->buffer);
  return s;
}

status api_client_create_view_of_device_buffer(PJRT_Client_CreateViewOfDeviceBuffer_Args *a) {
  i64s dims = {a->dims, a->num_dims};
  i64 order[DEV_MAX_RANK];
  dev_memory *m;
  dtype type;
  dev_buffer *b;
  a->buffer = NULL;
  RETURN_IF_ERROR(find_memory(a->client, a->memory, a->device, &m));
  RETURN_IF_ERROR(find_type(a->element_type, &type));
  RETURN_IF_ERROR(device_order(a->layout, dims, type, order));
  RETURN_IF_ERROR(check_data(a->device_buffer_ptr, dims, type));
  if ((uintptr_t)a->device_buffer_ptr % 16)
    return status_make(STATUS_INVALID_ARGUMENT, "the memory is not aligned to 16 bytes");
  RETURN_IF_ERROR(dev_buffer_view(m, type, dims, a->device_buffer_ptr, a->on_delete_callback,
                                  a->on_delete_callback_arg, &b));
  dev_buffer_lay_out(b, (i64s){order, dims.len});
  RETURN_IF_ERROR(api_buffer_wrap(a->client, b, &a->buffer));
  note_new(a->buffer);
  return NULL;
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
  RETURN_IF_ERROR(layout_strides(a->host_layout, dev_buffer_dims(b), element, strides, &dense));
  RETURN_IF_ERROR(layout_extent(dev_buffer_dims(b), strides, element, &need));
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
  note_new(*out);
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
