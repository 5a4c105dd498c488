/* Shapes and layouts as callers give them. */
#include "pjrt/shape.h"

#include "device/copy.h"

/* The place: `memory`, else the default memory of `device`. */
static status find_memory(PJRT_Client *c, PJRT_Memory *memory, PJRT_Device *device,
                          dev_memory **out) {
  if (!memory && device) memory = device->memories[DEV_KIND_DEVICE];
  if (!memory) memory = c->memory_list[c->first_local * DEV_KIND_COUNT];
  RETURN_IF_ERROR(api_check_memory(c, memory));
  *out = api_memory_of(memory)->dev;
  return NULL;
}

static status find_type(PJRT_Buffer_Type type, dtype *out) {
  if (dtype_from_pjrt((int)type, out)) return NULL;
  return status_make(STATUS_UNIMPLEMENTED, "element type %d", (int)type);
}

/* The size of this struct says nothing: jaxlib hands some out whose size nobody has set. */
static status check_layout(const PJRT_Buffer_MemoryLayout *l, size_t rank) {
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

status api_layout_strides(const PJRT_Buffer_MemoryLayout *l, i64s dims, size_t element,
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

status api_layout_extent(i64s dims, const i64 *strides, size_t element, size_t *out) {
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
  RETURN_IF_ERROR(api_layout_strides(l, dims, dtype_size(type), strides, &row_major));
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

status api_shape_read(PJRT_Client *c, const api_shape_args *a, api_shape *out) {
  out->dims = (i64s){a->dims, a->num_dims};
  RETURN_IF_ERROR(find_memory(c, a->memory, a->device, &out->memory));
  RETURN_IF_ERROR(find_type(a->type, &out->type));
  RETURN_IF_ERROR(device_order(a->layout, out->dims, out->type, out->order));
  return dev_dense_bytes(out->dims, dtype_size(out->type), &out->bytes)
             ? NULL
             : status_make(STATUS_INVALID_ARGUMENT, "sizes do not make sense");
}

status api_shape_buffer(const api_shape *s, dev_event *ready, dev_block *block, dev_buffer **out) {
  RETURN_IF_ERROR(dev_buffer_create(s->memory, s->type, s->dims, ready, block, out));
  dev_buffer_lay_out(*out, api_shape_order(s));
  return NULL;
}
