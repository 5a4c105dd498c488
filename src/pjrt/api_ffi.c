/* Handlers: the FFI extension, the one that GPU plugins have for handlers with several stages and
 * for those that are not typed, and execute contexts. */
#include "pjrt/api.h"
#include "pjrt/slots.h"

/* A pointer to a function that came as a plain one. */
static XLA_FFI_Handler *handler_of(void *p) {
  XLA_FFI_Handler *h;
  memcpy(&h, &p, sizeof h);
  return h;
}

status api_ffi_type_register(PJRT_FFI_Type_Register_Args *a) {
  return ffi_register_type((str){a->type_name, a->type_name_size}, &a->type_id,
                           a->type_info ? a->type_info->deleter : NULL);
}

status api_ffi_register_handler(PJRT_FFI_Register_Handler_Args *a) {
  XLA_FFI_Handler_Bundle b = {.execute = handler_of(a->handler)};
  return ffi_register((str){a->target_name, a->target_name_size},
                      (str){a->platform_name, a->platform_name_size}, &b);
}

status api_gpu_register_custom_call(PJRT_Gpu_Register_Custom_Call_Args *a) {
  str name = {a->function_name, a->function_name_size}, platform = STR(API_PLATFORM_NAME);
  XLA_FFI_Handler_Bundle b = {handler_of(a->handler_instantiate), handler_of(a->handler_prepare),
                              handler_of(a->handler_initialize), handler_of(a->handler_execute)};
  if (a->api_version == 0) return ffi_register_untyped(name, platform, a->handler_execute);
  if (a->api_version == 1) return ffi_register(name, platform, &b);
  return status_make(STATUS_UNIMPLEMENTED, "API version %d of custom calls: 0 and 1 are known",
                     a->api_version);
}

status api_execute_context_create(PJRT_ExecuteContext_Create_Args *a) {
  a->context = mem_alloc(&mem_system, sizeof *a->context);
  ffi_context *data = a->context ? ffi_context_create() : NULL;
  if (!data) {
    mem_free(&mem_system, a->context, sizeof *a->context);
    a->context = NULL;
    return status_oom();
  }
  *a->context = (PJRT_ExecuteContext){handle_begin(API_CONTEXT), data};
  return NULL;
}

/* Executions under way keep the data. */
status api_execute_context_destroy(PJRT_ExecuteContext_Destroy_Args *a) {
  handle_end(&a->context->head);
  ffi_context_release(a->context->data);
  mem_free(&mem_system, a->context, sizeof *a->context);
  return NULL;
}

status api_ffi_user_data_add(PJRT_FFI_UserData_Add_Args *a) {
  return ffi_context_add(a->context->data, a->user_data.type_id, a->user_data.data);
}
