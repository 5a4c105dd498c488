/* The table that handlers call. Futures are device events, which may be set once, by whoever has
 * them: one reference is the handler's and ends when it sets the future, one the call's. */
#include "base/os.h"
#include "ffi/inside.h"

/* ---- errors ---- */

struct XLA_FFI_Error {
  status s; /* NULL: of a code that is OK */
};

XLA_FFI_Error *ffi_error(status s) {
  static XLA_FFI_Error oom;
  if (!s) return NULL;
  XLA_FFI_Error *e = mem_alloc(&mem_system, sizeof *e);
  if (!e) {
    status_free(s);
    return &oom;
  }
  e->s = s;
  return e;
}

static void destroy_error(XLA_FFI_Error *e) {
  if (e->s) mem_free(&mem_system, e, sizeof *e); /* the other one is static */
}

status ffi_status(XLA_FFI_Error *e) {
  if (!e) return NULL;
  status s = e->s ? e->s : status_oom();
  destroy_error(e);
  return s;
}

static XLA_FFI_Error *bad_call(const char *function) {
  return ffi_error(status_make(STATUS_INVALID_ARGUMENT,
                               "%s: struct_size is too small, or something is NULL", function));
}
/* Returns unless the arguments are as long as we read, and `cond` holds. */
#define NEED(name, last, cond)                                                                     \
  if (!a || a->struct_size < FFI_END(XLA_FFI_##name##_Args, last) || !(cond))                      \
  return bad_call("XLA_FFI_" #name)

static XLA_FFI_Error *error_create(XLA_FFI_Error_Create_Args *a) {
  NEED(Error_Create, errc, true);
  bool known = a->errc > STATUS_OK && a->errc <= STATUS_UNAUTHENTICATED;
  return ffi_error(status_make(known ? (status_code)a->errc : STATUS_UNKNOWN, "%s",
                               a->message ? a->message : ""));
}
static void error_get_message(XLA_FFI_Error_GetMessage_Args *a) {
  if (!a || a->struct_size < FFI_END(XLA_FFI_Error_GetMessage_Args, message)) return;
  a->message = a->error && a->error->s ? status_message(a->error->s).data : "out of memory";
}
static void error_destroy(XLA_FFI_Error_Destroy_Args *a) {
  if (!a || a->struct_size < FFI_END(XLA_FFI_Error_Destroy_Args, error) || !a->error) return;
  status_free(ffi_status(a->error));
}

/* ---- registering ---- */

static str span(XLA_FFI_ByteSpan s) { return (str){s.ptr, s.len}; }

static XLA_FFI_Error *handler_register(XLA_FFI_Handler_Register_Args *a) {
  NEED(Handler_Register, bundle, a->name.ptr && a->platform.ptr);
  return ffi_error(ffi_register(span(a->name), span(a->platform), &a->bundle));
}
static XLA_FFI_Error *type_register(XLA_FFI_Type_Register_Args *a) {
  NEED(Type_Register, type_id, a->name.ptr && a->type_id);
  return ffi_error(ffi_register_type(span(a->name), &a->type_id->type_id,
                                     a->type_info ? a->type_info->deleter : NULL));
}

/* ---- what a call is told ---- */

static XLA_FFI_Error *stream_get(XLA_FFI_Stream_Get_Args *a) {
  (void)a;
  return ffi_error(status_make(STATUS_UNIMPLEMENTED, "devices of this platform have no streams"));
}
static XLA_FFI_Error *context_get(XLA_FFI_ExecutionContext_Get_Args *a) {
  NEED(ExecutionContext_Get, data, a->ctx && a->type_id);
  if (ffi_context_get(a->ctx->context, a->type_id->type_id, &a->data)) return NULL;
  return ffi_error(status_make(STATUS_NOT_FOUND, "the execute context has no data of type %lld",
                               (long long)a->type_id->type_id));
}
static XLA_FFI_Error *run_id_get(XLA_FFI_RunId_Get_Args *a) {
  NEED(RunId_Get, run_id, a->ctx);
  a->run_id = a->ctx->run_id;
  return NULL;
}
static XLA_FFI_Error *device_ordinal_get(XLA_FFI_DeviceOrdinal_Get_Args *a) {
  NEED(DeviceOrdinal_Get, device_ordinal, a->ctx);
  a->device_ordinal = a->ctx->device;
  return NULL;
}

/* ---- state ---- */

static ffi_state *state_of(const XLA_FFI_ExecutionContext *ctx, XLA_FFI_ExecutionStage stage) {
  return (u32)stage < COUNT(ctx->states) ? ctx->states[stage] : NULL;
}
static XLA_FFI_Error *state_set(XLA_FFI_State_Set_Args *a) {
  NEED(State_Set, state, a->ctx && a->type_id);
  ffi_state *s = state_of(a->ctx, a->stage), fresh = {a->type_id->type_id, a->state, NULL, true};
  if (!s || s->set)
    return ffi_error(status_make(STATUS_FAILED_PRECONDITION,
                                 s ? "the stage has set its state" : "this stage keeps no state"));
  if (!ffi_type_deleter(fresh.type, &fresh.deleter))
    return ffi_error(
        status_make(STATUS_NOT_FOUND, "no type %lld is registered", (long long)fresh.type));
  *s = fresh;
  return NULL;
}
static XLA_FFI_Error *state_get(XLA_FFI_State_Get_Args *a) {
  NEED(State_Get, state, a->ctx && a->type_id);
  const ffi_state *s = state_of(a->ctx, a->stage);
  if (!s || !s->set)
    return ffi_error(status_make(STATUS_NOT_FOUND, "the stage has not set a state"));
  if (s->type != a->type_id->type_id)
    return ffi_error(status_make(STATUS_INVALID_ARGUMENT, "the state is of type %lld, not %lld",
                                 (long long)s->type, (long long)a->type_id->type_id));
  a->state = s->object;
  return NULL;
}
void ffi_state_end(ffi_state *s) {
  if (s->set && s->deleter) s->deleter(s->object);
  *s = (ffi_state){0};
}

/* ---- memory: the devices' is the host's ---- */

static XLA_FFI_Error *memory_allocate(XLA_FFI_DeviceMemory_Allocate_Args *a) {
  NEED(DeviceMemory_Allocate, data, a->ctx);
  enum { ALIGN = 64 };
  if (a->alignment > ALIGN)
    return ffi_error(status_make(STATUS_INVALID_ARGUMENT, "memory is aligned to %d", ALIGN));
  size_t bytes;
  if (!checked_add(a->size, (size_t)2 * ALIGN, &bytes)) return ffi_error(status_oom());
  char *block = mem_alloc(&mem_system, bytes);
  if (!block) return ffi_error(status_oom());
  char *data = (char *)align_up((uintptr_t)block + sizeof(void *), ALIGN);
  memcpy(data - sizeof(void *), &block, sizeof(void *));
  a->data = data;
  return NULL;
}
static XLA_FFI_Error *memory_free(XLA_FFI_DeviceMemory_Free_Args *a) {
  NEED(DeviceMemory_Free, data, a->ctx);
  if (!a->data) return NULL;
  void *block;
  memcpy(&block, (char *)a->data - sizeof(void *), sizeof(void *));
  mem_free(&mem_system, block, a->size + 128);
  return NULL;
}

/* ---- threads ---- */

typedef struct scheduled {
  ffi_task task; /* first */
  XLA_FFI_Task *run;
  void *data;
} scheduled;

static void run_scheduled(ffi_task *task) {
  scheduled s = *(scheduled *)task;
  mem_free(&mem_system, task, sizeof s);
  s.run(s.data);
}

/* Who finds no thread idle runs it here: a handler may wait for what it has scheduled. */
static XLA_FFI_Error *pool_schedule(XLA_FFI_ThreadPool_Schedule_Args *a) {
  NEED(ThreadPool_Schedule, data, a->ctx && a->task);
  scheduled *s = a->ctx->threads ? mem_alloc(&mem_system, sizeof *s) : NULL;
  if (s) *s = (scheduled){{run_scheduled, NULL}, a->task, a->data};
  if (s && ffi_threads_try(a->ctx->threads, &s->task)) return NULL;
  mem_free(&mem_system, s, sizeof *s);
  a->task(a->data);
  return NULL;
}
static XLA_FFI_Error *pool_num_threads(XLA_FFI_ThreadPool_NumThreads_Args *a) {
  NEED(ThreadPool_NumThreads, num_threads, a->ctx && a->num_threads);
  *a->num_threads = os_cpu_count();
  return NULL;
}

/* ---- futures ---- */

static XLA_FFI_Error *future_create(XLA_FFI_Future_Create_Args *a) {
  if (!a || a->struct_size < FFI_END(XLA_FFI_Future_Create_Args, extension_start))
    return bad_call("XLA_FFI_Future_Create");
  dev_event *e = dev_event_create_open();
  a->future = (XLA_FFI_Future *)(e ? dev_event_retain(e) : NULL);
  return e ? NULL : ffi_error(status_oom());
}
static XLA_FFI_Error *future_set(XLA_FFI_Future *f, status s) {
  dev_event *e = (dev_event *)f;
  status_free(dev_event_try_set(e, s));
  dev_event_release(e);
  return NULL;
}
static XLA_FFI_Error *future_set_available(XLA_FFI_Future_SetAvailable_Args *a) {
  NEED(Future_SetAvailable, future, a->future);
  return future_set(a->future, NULL);
}
static XLA_FFI_Error *future_set_error(XLA_FFI_Future_SetError_Args *a) {
  NEED(Future_SetError, error, a->future);
  return future_set(a->future, ffi_status(a->error));
}

/* ---- the table ---- */

static const XLA_FFI_Api table = {
    .struct_size = FFI_END(XLA_FFI_Api, XLA_FFI_DeviceOrdinal_Get),
    .api_version = {FFI_END(XLA_FFI_Api_Version, minor_version), NULL, XLA_FFI_API_MAJOR,
                    XLA_FFI_API_MINOR},
    .XLA_FFI_Error_Create = error_create,
    .XLA_FFI_Error_GetMessage = error_get_message,
    .XLA_FFI_Error_Destroy = error_destroy,
    .XLA_FFI_Handler_Register = handler_register,
    .XLA_FFI_Stream_Get = stream_get,
    .XLA_FFI_Type_Register = type_register,
    .XLA_FFI_ExecutionContext_Get = context_get,
    .XLA_FFI_State_Set = state_set,
    .XLA_FFI_State_Get = state_get,
    .XLA_FFI_DeviceMemory_Allocate = memory_allocate,
    .XLA_FFI_DeviceMemory_Free = memory_free,
    .XLA_FFI_ThreadPool_Schedule = pool_schedule,
    .XLA_FFI_ThreadPool_NumThreads = pool_num_threads,
    .XLA_FFI_Future_Create = future_create,
    .XLA_FFI_Future_SetAvailable = future_set_available,
    .XLA_FFI_Future_SetError = future_set_error,
    .XLA_FFI_RunId_Get = run_id_get,
    .XLA_FFI_DeviceOrdinal_Get = device_ordinal_get,
};
const XLA_FFI_Api *ffi_api(void) { return &table; }

/* Offsets that handlers which other compilers made rely on. */
_Static_assert(sizeof(XLA_FFI_Extension_Base) == 24 && sizeof(XLA_FFI_Api_Version) == 24, "head");
_Static_assert(sizeof(XLA_FFI_Buffer) == 48 && offsetof(XLA_FFI_Buffer, data) == 24, "buffer");
_Static_assert(sizeof(XLA_FFI_Args) == 40 && sizeof(XLA_FFI_Attrs) == 48, "lists");
_Static_assert(offsetof(XLA_FFI_CallFrame, stage) == 32 &&
                   offsetof(XLA_FFI_CallFrame, args) == 40 &&
                   offsetof(XLA_FFI_CallFrame, attrs) == 120 &&
                   offsetof(XLA_FFI_CallFrame, future) == 168,
               "frame");
_Static_assert(offsetof(XLA_FFI_Api, internal_api) == 40 && sizeof(XLA_FFI_Api) == 192, "table");
_Static_assert(sizeof(XLA_FFI_State_Set_Args) == 48 && sizeof(XLA_FFI_Metadata) == 48, "arguments");
