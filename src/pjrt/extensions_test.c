/* Extensions, called as frameworks do: raw buffers, the host's memory, streams, callbacks, and
 * buffers that go from device to device by keys. */
#include "tests/pjrt.h"

/* CALL of an extension's function. */
#define CALLX(extension, function, a, ...)                                                         \
  PJRT_##function##_Args a = {.struct_size = PJRT_##function##_Args_END, __VA_ARGS__};             \
  PJRT_Error *a##_error = EXTENSION(extension)->PJRT_##function(&a)
#define OKX(extension, function, a, ...)                                                           \
  CALLX(extension, function, a, __VA_ARGS__);                                                      \
  check_ok(a##_error, #function)

static const float numbers[] = {1, 2, 3, 4, 5, 6, 7, 8};

static bool holds(PJRT_Buffer *b, const float *want, size_t n) {
  float have[8];
  get(b, have, n);
  return memcmp(have, want, n * sizeof *have) == 0;
}

static PJRT_Device *device_of(PJRT_Client *c, size_t i) {
  OK(Client_Devices, d, .client = c);
  return d.devices[i];
}

/* ---- RawBuffer ---- */

static PJRT_Buffer *fresh(PJRT_Client *c, size_t device) {
  int64_t n = 8;
  OK(Client_CreateUninitializedBuffer, a, .client = c, .shape_dims = &n, .shape_num_dims = 1,
     .shape_element_type = PJRT_Buffer_Type_F32, .device = device_of(c, device));
  return a.buffer;
}

static void test_raw(PJRT_Client *c) {
  PJRT_Buffer *b = fresh(c, 1);
  float part[3] = {0};
  OKX(RawBuffer, RawBuffer_CreateRawAliasOfBuffer, r, .buffer = b);
  OKX(RawBuffer, RawBuffer_GetOnDeviceSizeInBytes, size, .buffer = r.raw_buffer);
  OKX(RawBuffer, RawBuffer_GetMemorySpace, m, .buffer = r.raw_buffer);
  OKX(RawBuffer, RawBuffer_GetHostPointer, p, .buffer = r.raw_buffer);
  OK(Buffer_Memory, own, .buffer = b);
  OK(Buffer_UnsafePointer, at, .buffer = b);
  CHECK(size.on_device_size_in_bytes == 32 && m.memory_space == own.memory);
  CHECK((uintptr_t)p.host_pointer == at.buffer_pointer);
  OKX(RawBuffer, RawBuffer_CopyRawHostToDevice, w, .buffer = r.raw_buffer, .src = numbers,
      .transfer_size = 32);
  check_ok(wait_for(w.event), "written");
  CHECK(holds(b, numbers, 8));
  destroy_buffer(b); /* the bytes stay */
  OKX(RawBuffer, RawBuffer_CopyRawDeviceToHost, d, .buffer = r.raw_buffer, .dst = part, .offset = 8,
      .transfer_size = 12);
  check_ok(wait_for(d.event), "read");
  CHECK(memcmp(part, numbers + 2, 12) == 0);
  const PJRT_RawBuffer_FunctionTable *f = r.raw_buffer->vtable;
  f->inc_ref(r.raw_buffer);
  f->dec_ref(r.raw_buffer);
  CHECK(f->get_on_device_size_in_bytes(r.raw_buffer) == 32 &&
        f->get_memory_space(r.raw_buffer) == own.memory &&
        f->get_host_pointer(r.raw_buffer) == p.host_pointer &&
        f->opaque_device_memory_data_pointer(r.raw_buffer) == p.host_pointer);
  check_error(f->copy_raw_device_to_host_and_return_event(r.raw_buffer, part, 0, 4, NULL),
              PJRT_Error_Code_UNIMPLEMENTED, "events of XLA's own");
  static const int64_t bad[][2] = {{-1, 4}, {0, 33}, {29, 4}, {0, -1}, {INT64_MAX, INT64_MAX}};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    CALLX(RawBuffer, RawBuffer_CopyRawDeviceToHost, e, .buffer = r.raw_buffer, .dst = part,
          .offset = bad[i][0], .transfer_size = bad[i][1]);
    check_error(e_error, PJRT_Error_Code_INVALID_ARGUMENT, "of a buffer of 32 bytes");
  }
  CALLX(RawBuffer, RawBuffer_CopyRawHostToDevice, none, .buffer = r.raw_buffer, .transfer_size = 4);
  check_error(none_error, PJRT_Error_Code_INVALID_ARGUMENT, "NULL");
  OKX(RawBuffer, RawBuffer_Destroy, end, .buffer = r.raw_buffer);
}

static void test_raw_refuses(PJRT_Client *c) {
  static _Alignas(64) float shared[16];
  int64_t n = 16;
  OK(Client_BufferFromHostBuffer, a, .client = c, .data = shared, .type = PJRT_Buffer_Type_F32,
     .dims = &n, .num_dims = 1, .device = device_of(c, 0),
     .host_buffer_semantics = PJRT_HostBufferSemantics_kImmutableZeroCopy);
  OKX(RawBuffer, RawBuffer_CreateRawAliasOfBuffer, r, .buffer = a.buffer);
  CALLX(RawBuffer, RawBuffer_CopyRawHostToDevice, w, .buffer = r.raw_buffer, .src = numbers,
        .transfer_size = 32);
  check_error(w_error, PJRT_Error_Code_FAILED_PRECONDITION, "belongs to who made it");
  OKX(RawBuffer, RawBuffer_Destroy, end, .buffer = r.raw_buffer);
  OK(Buffer_Delete, d, .buffer = a.buffer);
  CALLX(RawBuffer, RawBuffer_CreateRawAliasOfBuffer, gone, .buffer = a.buffer);
  check_error(gone_error, PJRT_Error_Code_INVALID_ARGUMENT, "deleted");
  destroy_buffer(a.buffer);
  check_ok(wait_for(a.done_with_host_buffer), "done");
  CALLX(RawBuffer, RawBuffer_GetMemorySpace, wrong, .buffer = (PJRT_RawBuffer *)c);
  check_error(wrong_error, PJRT_Error_Code_INVALID_ARGUMENT, "buffer is not of its type");
  CALLX(RawBuffer, RawBuffer_GetMemorySpace, null, .buffer = NULL);
  check_error(null_error, PJRT_Error_Code_INVALID_ARGUMENT, "buffer is NULL");
}

/* ---- the host's ---- */

static void test_host(PJRT_Client *c) {
  OKX(HostAllocator, HostAllocator_GetPreferredAlignment, p, .client = c);
  CHECK(p.preferred_alignment == 64);
  static const size_t alignments[] = {0, 1, 64, 4096};
  for (size_t i = 0; i < 4; i++) {
    OKX(HostAllocator, HostAllocator_Allocate, a, .client = c, .size = 1000,
        .alignment = alignments[i]);
    CHECK(a.ptr && (uintptr_t)a.ptr % (alignments[i] ? alignments[i] : 64) == 0);
    if (a.ptr) memset(a.ptr, 1, 1000);
    OKX(HostAllocator, HostAllocator_Free, f, .client = c, .ptr = a.ptr);
  }
  CALLX(HostAllocator, HostAllocator_Allocate, odd, .client = c, .size = 8, .alignment = 48);
  check_error(odd_error, PJRT_Error_Code_INVALID_ARGUMENT, "alignment of 48");
  CALLX(HostAllocator, HostAllocator_Allocate, huge, .client = c, .size = SIZE_MAX / 2);
  check_error(huge_error, PJRT_Error_Code_RESOURCE_EXHAUSTED, "bytes of host memory");
  OKX(HostMemoryAllocator, HostMemoryAllocator_Allocate, m, .client = c, .size = 100);
  CHECK(m.ptr && (uintptr_t)m.ptr % 64 == 0);
  m.deleter(m.ptr, m.deleter_arg);
  CALLX(HostMemoryAllocator, HostMemoryAllocator_Allocate, none, .client = NULL);
  check_error(none_error, PJRT_Error_Code_INVALID_ARGUMENT, "client is NULL");
}

static void test_stream(PJRT_Client *c) {
  PJRT_Buffer *b = put(c, 0, numbers, 8);
  OKX(Stream, Get_Stream_For_External_Ready_Events, s, .device = device_of(c, 0));
  OKX(Stream, Wait_Until_Buffer_Ready_On_Stream, w, .stream = s.stream, .buffer = b);
  CALLX(Stream, Wait_Until_Buffer_Ready_On_Stream, other, .stream = 7, .buffer = b);
  check_error(other_error, PJRT_Error_Code_INVALID_ARGUMENT, "no such stream");
  CALLX(Stream, Wait_Until_Buffer_Ready_On_Stream, none, .stream = 0);
  check_error(none_error, PJRT_Error_Code_INVALID_ARGUMENT, "buffer is NULL");
  destroy_buffer(b);
  int64_t n = 1;
  OK(Client_CreateErrorBuffer, e, .client = c, .error_code = PJRT_Error_Code_ABORTED,
     .error_message = "broken", .error_message_size = 6, .shape_dims = &n, .shape_num_dims = 1,
     .shape_element_type = PJRT_Buffer_Type_F32);
  CALLX(Stream, Wait_Until_Buffer_Ready_On_Stream, bad, .buffer = e.buffer);
  check_error(bad_error, PJRT_Error_Code_ABORTED, "broken");
  destroy_buffer(e.buffer);
}

static int calls[2];
static void first_call(void *args, void *user) {
  CHECK(calls[1] == calls[0] && *(int *)args == 5);
  calls[*(int *)user]++;
}
static void second_call(void *args, void *user) {
  CHECK(calls[1] == calls[0] - 1 && *(int *)args == 5);
  calls[*(int *)user]++;
}

static void test_callbacks(PJRT_Client *c) {
  static int which[] = {0, 1};
  int five = 5;
  OKX(Callback, Callback_InvokeCallback, none, .client = c, .type = PJRT_Callback_Type_Prefatal);
  OKX(Callback, Callback_RegisterCallback, a, .client = c, .type = PJRT_Callback_Type_Prefatal,
      .callback = first_call, .user_arg = &which[0]);
  OKX(Callback, Callback_RegisterCallback, b, .client = c, .type = PJRT_Callback_Type_Prefatal,
      .callback = second_call, .user_arg = &which[1]);
  for (int i = 0; i < 3; i++) {
    OKX(Callback, Callback_InvokeCallback, k, .client = c, .type = PJRT_Callback_Type_Prefatal,
        .args = &five);
  }
  CHECK(calls[0] == 3 && calls[1] == 3);
  CALLX(Callback, Callback_RegisterCallback, tpu, .client = c,
        .type = PJRT_Callback_Type_Tpu_SliceBuilder, .callback = first_call);
  check_error(tpu_error, PJRT_Error_Code_UNIMPLEMENTED, "callbacks of type 1");
  CALLX(Callback, Callback_RegisterCallback, null, .client = c,
        .type = PJRT_Callback_Type_Prefatal);
  check_error(null_error, PJRT_Error_Code_INVALID_ARGUMENT, "callback is NULL");
}

/* ---- from device to device ---- */

static PJRT_Event *send(PJRT_Client *c, PJRT_Buffer *b, int32_t device, int64_t key) {
  PJRT_Event *sent = NULL;
  OKX(CrossHostTransfers, Transfers_PJRT_Client_CrossHostSendBuffers, a, .client = c,
      .num_buffers = 1, .buffers = &b, .dst_global_device_ids = &device, .transfer_keys = &key,
      .send_events = &sent);
  CHECK(sent != NULL);
  return sent;
}

static PJRT_Error *receive(PJRT_Client *c, size_t device, int64_t n, int64_t key,
                           PJRT_Buffer **out) {
  const int64_t *dims = &n;
  size_t rank = 1;
  PJRT_Buffer_Type type = PJRT_Buffer_Type_F32;
  CALLX(CrossHostTransfers, Transfers_PJRT_Client_CrossHostReceiveBuffers, a, .client = c,
        .num_shapes = 1, .shape_num_dims = &rank, .num_dims = &dims, .element_types = &type,
        .device = device_of(c, device), .transfer_keys = &key, .buffers = out);
  return a_error;
}

static PJRT_Error *ready(PJRT_Buffer *b) {
  OK(Buffer_ReadyEvent, r, .buffer = b);
  return wait_for(r.event);
}

static bool is_ready(PJRT_Event *e) {
  OK(Event_IsReady, r, .event = e);
  return r.is_ready;
}

static void test_keys(PJRT_Client *c) {
  PJRT_Buffer *b = put(c, 0, numbers, 8), *first, *second;
  PJRT_Event *sent = send(c, b, 2, 11);
  CHECK(!is_ready(sent));
  destroy_buffer(b); /* what is under way stays */
  check_ok(receive(c, 1, 8, 11, &second), "another device's");
  check_ok(receive(c, 2, 8, 11, &first), "receive");
  check_ok(wait_for(sent), "sent");
  CHECK(holds(first, numbers, 8));
  OK(Buffer_Device, at, .buffer = first);
  CHECK(at.device == device_of(c, 2));
  check_ok(wait_for(send(c, first, 1, 11)), "sent after it was asked for");
  CHECK(holds(second, numbers, 8));
  destroy_buffer(second);
  check_ok(receive(c, 1, 4, 12, &second), "receive");
  check_error(wait_for(send(c, first, 1, 12)), PJRT_Error_Code_INVALID_ARGUMENT,
              "in another shape");
  check_error(ready(second), PJRT_Error_Code_INVALID_ARGUMENT, "in another shape");
  destroy_buffer(second);
  check_error(wait_for(send(c, first, 9, 12)), PJRT_Error_Code_INVALID_ARGUMENT, "no device 9");
  check_error(wait_for(send(c, (PJRT_Buffer *)c, 1, 12)), PJRT_Error_Code_INVALID_ARGUMENT,
              "a buffer is not of its type");
  check_error(receive(c, 1, -4, 12, &second), PJRT_Error_Code_INVALID_ARGUMENT, "");
  CHECK(!second);
  destroy_buffer(first);
}

typedef struct announced {
  int times;
  char text[2][64];
  size_t size[2];
  char *at[2];
  PJRT_Transfers_CrossHostSendCancelNotifier cancel;
  void *cancel_user;
} announced;

static void on_announce(PJRT_Error *error, const char **texts, size_t *sizes, size_t n, void *user,
                        PJRT_Transfers_CrossHostSendCancelNotifier cancel, void *cancel_user) {
  announced *a = user;
  CHECK(!error && n == 2);
  for (size_t i = 0; i < n && sizes[i] < sizeof a->text[i]; i++) {
    memcpy(a->text[i], texts[i], sizes[i]);
    a->size[i] = sizes[i];
    a->at[i] = a->text[i];
  }
  a->cancel = cancel;
  a->cancel_user = cancel_user;
  a->times++;
}

typedef struct outcome {
  int times;
  bool enqueued;
  PJRT_Error_Code code;
} outcome;

static void on_done(PJRT_Error *error, bool enqueued, void *user) {
  outcome *o = user;
  *o = (outcome){o->times + 1, enqueued, error ? code_of(error) : PJRT_Error_Code_OK};
}

static void on_canceled(PJRT_Error *error, void *user) { on_done(error, false, user); }

static int freed;
static void free_descriptor(char **text, size_t *size) {
  CHECK(*text && *size);
  freed++;
}

static void send_to(PJRT_Buffer *b, PJRT_Event *when, announced *a, int i, outcome *o) {
  PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice_Args args = {
      .struct_size = PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice_Args_END,
      .buffer = b,
      .event = when,
      .serialized_descriptor = &a->at[i],
      .serialized_descriptor_size = &a->size[i],
      .on_done = {o, on_done},
      .descriptor_destructor = free_descriptor};
  EXTENSION(CrossHostTransfers)->PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice(&args);
}

static void test_descriptors(PJRT_Client *c) {
  int64_t n = 8;
  const int64_t *dims[] = {&n, &n};
  size_t ranks[] = {1, 1};
  PJRT_Buffer_Type types[] = {PJRT_Buffer_Type_F32, PJRT_Buffer_Type_F32};
  PJRT_Buffer *b = put(c, 0, numbers, 8), *to[2];
  announced a = {0};
  outcome o = {0};
  OKX(CrossHostTransfers, Transfers_PJRT_Client_MakeCrossHostReceiveBuffers, m, .client = c,
      .num_shapes = 2, .shape_num_dims = ranks, .num_dims = dims, .element_types = types,
      .device = device_of(c, 1), .notifier = {&a, on_announce}, .buffers = to);
  CHECK(m.num_buffers == 2 && a.times == 1);
  OK(Event_Create, when, .event = NULL);
  send_to(b, when.event, &a, 0, &o);
  CHECK(o.times == 0 && freed == 0);
  OK(Event_Set, set, .event = when.event);
  check_ok(ready(to[0]), "received");
  CHECK(o.times == 1 && o.enqueued && o.code == PJRT_Error_Code_OK && freed == 1);
  CHECK(holds(to[0], numbers, 8));
  destroy_event(when.event);
  outcome gone = {0};
  for (int i = 0; i < 2; i++)
    a.cancel(a.text[1], a.size[1], PJRT_Error_Code_ABORTED, "no", 2, on_canceled, &gone,
             a.cancel_user);
  CHECK(gone.times == 2 && gone.code == PJRT_Error_Code_NOT_FOUND);
  check_error(ready(to[1]), PJRT_Error_Code_ABORTED, "no");
  a.text[0][0] = 'T';
  send_to(b, NULL, &a, 0, &o);
  CHECK(o.times == 2 && !o.enqueued && o.code == PJRT_Error_Code_INVALID_ARGUMENT);
  send_to(NULL, NULL, &a, 0, &o);
  CHECK(o.times == 3 && !o.enqueued && o.code == PJRT_Error_Code_INVALID_ARGUMENT);
  for (int i = 0; i < 2; i++) destroy_buffer(to[i]);
  destroy_buffer(b);
}

/* A launch that waits for what nobody sends ends with the client. */
static void test_client_ends(PJRT_Client *c) {
  PJRT_LoadedExecutable *l;
  PJRT_Buffer *b, *out = NULL, *const *args = &b, **outs = &out;
  PJRT_Event *done;
  check_ok(receive(c, 0, 8, 99, &b), "receive");
  check_ok(compile(c,
                   "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
                   "%y = stablehlo.add %x, %x : tensor<8xf32>\nreturn %y : tensor<8xf32> }",
                   &l),
           "compile");
  PJRT_ExecuteOptions o = {.struct_size = PJRT_ExecuteOptions_END};
  OK(LoadedExecutable_Execute, run, .executable = l, .options = &o, .argument_lists = &args,
     .num_devices = 1, .num_args = 1, .output_lists = &outs, .device_complete_events = &done);
  destroy_client(c);
  check_error(wait_for(done), PJRT_Error_Code_CANCELLED, "the client has been destroyed");
  destroy_buffer(b);
  destroy_buffer(out);
  destroy_loaded(l);
}

/* ---- ExecutableMetadata: its structs have no size ---- */

static void test_metadata(PJRT_Client *c) {
  static const char want[] = {0x10, 32, 0x18, 32}; /* argument and output: fields 2 and 3 */
  PJRT_LoadedExecutable *l;
  check_ok(compile(c,
                   "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
                   "%y = stablehlo.add %x, %x : tensor<8xf32>\nreturn %y : tensor<8xf32> }",
                   &l),
           "compile");
  OK(LoadedExecutable_GetExecutable, e, .loaded_executable = l);
  const PJRT_ExecutableMetadata_Extension *x = EXTENSION(ExecutableMetadata);
  PJRT_ExecutableMetadata_GetExecutableMetadata_Args a = {.executable = e.executable};
  check_ok(x->PJRT_ExecutableMetadata_GetExecutableMetadata(&a), "GetExecutableMetadata");
  const PJRT_ExecutableMetadata *m = a.metadata;
  CHECK(m && m->serialized_metadata_size > 6 && m->serialized_metadata[0] == 0x0a &&
        (size_t)m->serialized_metadata[1] == m->serialized_metadata_size - 2 &&
        memcmp(m->serialized_metadata + 2, want, sizeof want) == 0);
  PJRT_ExecutableMetadata_DestroySerializedMetadata_Args end = {a.metadata};
  x->PJRT_ExecutableMetadata_DestroySerializedMetadata(&end);
  x->PJRT_ExecutableMetadata_DestroySerializedMetadata(NULL);
  a.executable = (PJRT_Executable *)c;
  check_error(x->PJRT_ExecutableMetadata_GetExecutableMetadata(&a),
              PJRT_Error_Code_INVALID_ARGUMENT, "executable is not of its type");
  check_error(x->PJRT_ExecutableMetadata_GetExecutableMetadata(NULL),
              PJRT_Error_Code_INVALID_ARGUMENT, "args is NULL");
  OK(Executable_Destroy, gone, .executable = e.executable);
  destroy_loaded(l);
}

/* driver_test.c has the functions of the API itself. The profiler's are a table of their own. */
static void test_every_function(PJRT_Client *c) {
  OK(Device_GetDescription, t, .device = device_of(c, 0));
  void *const handles[] = {t.device_description, device_of(c, 0)};
  int num_functions = 0;
  for (const PJRT_Extension_Base *e = GetPjrtApi()->extension_start; e; e = e->next) {
    if (e->type == PJRT_Extension_Type_Profiler ||
        e->type == PJRT_Extension_Type_ExecutableMetadata)
      continue;
    for (size_t at = sizeof *e; at < e->struct_size; at += 8, num_functions++)
      if (e->type != PJRT_Extension_Type_CrossHostTransfers ||
          at != offsetof(PJRT_CrossHostTransfers_Extension,
                         PJRT_Transfers_PJRT_Buffer_CopyToRemoteDevice)) /* gives back nothing */
        call_badly((const char *)e + at, handles, NULL);
  }
  CHECK(num_functions > 30);
}

int main(void) {
  PJRT_Client *c = make_client(4, 2);
  test_raw(c);
  test_raw_refuses(c);
  test_host(c);
  test_stream(c);
  test_callbacks(c);
  test_keys(c);
  test_descriptors(c);
  test_metadata(c);
  test_every_function(c);
  test_client_ends(c); /* destroys it */
  return UNIT_END();
}
