/* The Layouts extension. All our arrays are dense and row-major: a layout is a rank, and its
 * serialized form is the text `{1,0}` that XLA's parser reads. */
#include "pjrt/api.h"
#include "pjrt/slots.h"

static status make_layout(size_t rank, PJRT_Layouts_MemoryLayout **out) {
  *out = NULL;
  if (rank > UINT32_MAX) return status_make(STATUS_INVALID_ARGUMENT, "too many dimensions");
  *out = mem_alloc(&mem_system, sizeof **out);
  if (!*out) return status_oom();
  **out = (PJRT_Layouts_MemoryLayout){.head = handle_begin(API_LAYOUT), .rank = (u32)rank};
  return NULL;
}

status api_layouts_memory_layout_destroy(PJRT_Layouts_MemoryLayout_Destroy_Args *a) {
  if (a->layout->lent) return NULL;
  handle_end(&a->layout->head);
  mem_free(&mem_system, a->layout, sizeof *a->layout);
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
  for (u32 i = a->layout->rank; i-- > 0;) buf_printf(b, i ? "%u," : "%u", i);
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
  return make_layout(a->num_dims, &a->layout);
}

status
api_layouts_topology_get_default_layout(PJRT_Layouts_PJRT_Topology_GetDefaultLayout_Args *a) {
  return make_layout(a->num_dims, &a->layout);
}

status api_layouts_buffer_memory_layout(PJRT_Layouts_PJRT_Buffer_MemoryLayout_Args *a) {
  return make_layout(dev_buffer_dims(a->buffer->dev).len, &a->layout);
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
