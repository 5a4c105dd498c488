/* The Layouts extension. Arrays are dense, and a layout is the order of their dimensions; its
 * serialized form is the text `{1,0}` that XLA's parser reads. */
#include "device/copy.h"
#include "pjrt/api.h"
#include "pjrt/slots.h"

/* The last `rank` of these are rank's row-major layout. */
i64s api_row_major(size_t rank) {
  static const int64_t order[DEV_MAX_RANK] = {
      63, 62, 61, 60, 59, 58, 57, 56, 55, 54, 53, 52, 51, 50, 49, 48, 47, 46, 45, 44, 43, 42,
      41, 40, 39, 38, 37, 36, 35, 34, 33, 32, 31, 30, 29, 28, 27, 26, 25, 24, 23, 22, 21, 20,
      19, 18, 17, 16, 15, 14, 13, 12, 11, 10, 9,  8,  7,  6,  5,  4,  3,  2,  1,  0};
  return (i64s){order + DEV_MAX_RANK - rank, rank};
}

static size_t layout_size(size_t rank) {
  return sizeof(PJRT_Layouts_MemoryLayout) + rank * sizeof(i64);
}

static status make_layout(i64s order, PJRT_Layouts_MemoryLayout **out) {
  PJRT_Layouts_MemoryLayout *l = *out = mem_alloc(&mem_system, layout_size(order.len));
  if (!l) return status_oom();
  i64 *own = (i64 *)(l + 1);
  *l = (PJRT_Layouts_MemoryLayout){.head = handle_begin(API_LAYOUT), .order = {own, order.len}};
  if (order.len) memcpy(own, order.data, order.len * sizeof *own);
  return NULL;
}

static status make_default(size_t rank, PJRT_Layouts_MemoryLayout **out) {
  *out = NULL;
  if (rank > DEV_MAX_RANK) return status_make(STATUS_INVALID_ARGUMENT, "too many dimensions");
  return make_layout(api_row_major(rank), out);
}

status api_layouts_memory_layout_destroy(PJRT_Layouts_MemoryLayout_Destroy_Args *a) {
  if (a->layout->lent) return NULL;
  handle_end(&a->layout->head);
  mem_free(&mem_system, a->layout, layout_size(a->layout->order.len));
  return NULL;
}

static void free_text(PJRT_Layouts_SerializedLayout *p) {
  buf *b = (buf *)p;
  buf_deinit(b);
  mem_free(&mem_system, b, sizeof *b);
}

status api_layouts_memory_layout_serialize(PJRT_Layouts_MemoryLayout_Serialize_Args *a) {
  buf *b = mem_alloc(&mem_system, sizeof *b);
  if (!b) return status_oom();
  buf_init(b, &mem_system);
  buf_char(b, '{');
  for (size_t i = 0; i < a->layout->order.len; i++)
    buf_printf(b, i ? ",%lld" : "%lld", (long long)a->layout->order.data[i]);
  buf_char(b, '}');
  if (!buf_ok(b)) {
    free_text((PJRT_Layouts_SerializedLayout *)b);
    return status_oom();
  }
  a->serialized_bytes = b->data;
  a->serialized_bytes_size = b->len;
  a->serialized_layout = (PJRT_Layouts_SerializedLayout *)b;
  a->serialized_layout_deleter = free_text;
  return NULL;
}

status api_layouts_client_get_default_layout(PJRT_Layouts_PJRT_Client_GetDefaultLayout_Args *a) {
  return make_default(a->num_dims, &a->layout);
}

status
api_layouts_topology_get_default_layout(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args *a) {
  return make_default(a->num_dims, &a->layout);
}

status api_layouts_buffer_memory_layout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args *a) {
  return make_layout(dev_buffer_order(a->buffer->dev), &a->layout);
}

status
api_layouts_executable_get_output_layouts(PJRT_Layouts_PJRT_Executable_GetOutputLayouts_Args *a) {
  a->num_outputs = a->executable->results.count;
  a->layouts = a->executable->results.layout_list;
  return NULL;
}

status api_layouts_executable_get_parameter_layouts(
    PJRT_Layouts_PJRT_Executable_GetParameterLayouts_Args *a) {
  a->num_parameters = a->executable->params.count;
  a->layouts = a->executable->params.layout_list;
  return NULL;
}
