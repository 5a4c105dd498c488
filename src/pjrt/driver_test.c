/* Drives the PJRT API as a framework does: client, buffers, layouts, compile, execute, callbacks,
 * errors, what is destroyed in which order, a fork, and two threads that run two programs a
 * thousand times each. Made to run under TSan and ASan too. */
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/base.h"
#include "tests/pjrt.h"

/* One argument and one result per device. */
static PJRT_Error *run(PJRT_LoadedExecutable *l, PJRT_Buffer *const *args, size_t n,
                       PJRT_Buffer **out) {
  PJRT_ExecuteOptions o = {.struct_size = PJRT_ExecuteOptions_END};
  PJRT_Event *events[8] = {0};
  PJRT_Buffer *const *arg_lists[8];
  PJRT_Buffer **out_lists[8];
  for (size_t i = 0; i < n; i++) {
    arg_lists[i] = &args[i];
    out_lists[i] = &out[i];
  }
  CALL(LoadedExecutable_Execute, a, .executable = l, .options = &o, .argument_lists = arg_lists,
       .num_devices = n, .num_args = 1, .output_lists = out_lists,
       .device_complete_events = events);
  for (size_t i = 0; i < n && !a_error; i++) destroy_event(events[i]);
  return a_error;
}

static const char add_one[] = "module @add_one {\n"
                              "  func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                              "    %one = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
                              "    %y = stablehlo.add %x, %one : tensor<4xf32>\n"
                              "    return %y : tensor<4xf32>\n"
                              "  }\n"
                              "}\n";

static const char add_one_donated[] =
    "module @add_one_donated {\n"
    "  func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {\n"
    "    %one = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
    "    %y = stablehlo.add %x, %one : tensor<4xf32>\n"
    "    return %y : tensor<4xf32>\n"
    "  }\n"
    "}\n";

static const char sharded[] =
    "module @sharded attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @mesh = <[\"x\"=2]>\n"
    "  func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>})\n"
    "      -> (tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}]>}) {\n"
    "    %one = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
    "    %y = stablehlo.add %x, %one : tensor<8xf32>\n"
    "    return %y : tensor<8xf32>\n"
    "  }\n"
    "}\n";

/* A program on the executor of this name, if there is one. */
static void test_executor(const char *name, bool is_one) {
  PJRT_NamedValue o = {.struct_size = PJRT_NamedValue_END,
                       .name = "executor",
                       .name_size = 8,
                       .type = PJRT_NamedValue_kString,
                       .string_value = name,
                       .value_size = strlen(name)};
  CALL(Client_Create, a, .create_options = &o, .num_options = 1);
  if (!is_one) {
    check_error(a_error, PJRT_Error_Code_INVALID_ARGUMENT, "no executor");
    return;
  }
  check_ok(a_error, "Client_Create");
  float in[4] = {1, 2, 3, 4}, out[4] = {0};
  PJRT_Buffer *b = put(a.client, 0, in, 4);
  get(b, out, 4);
  CHECK(memcmp(in, out, sizeof in) == 0);
  OK(Buffer_IncreaseExternalReferenceCount, more, .buffer = b);
  OK(Buffer_UnsafePointer, p, .buffer = b);
  CHECK(memcmp((void *)p.buffer_pointer, in, sizeof in) == 0);
  OK(Buffer_DecreaseExternalReferenceCount, less, .buffer = b);
  OK(Buffer_Destroy, d, .buffer = b);
  destroy_client(a.client);
}

static void test_client(void) {
  static const int64_t bad[] = {0, -1, 65537};
  for (size_t i = 0; i < COUNT(bad); i++) {
    PJRT_NamedValue o = {.struct_size = PJRT_NamedValue_END,
                         .name = "num_devices",
                         .name_size = 11,
                         .type = PJRT_NamedValue_kInt64,
                         .int64_value = bad[i]};
    CALL(Client_Create, a, .create_options = &o, .num_options = 1);
    check_error(a_error, PJRT_Error_Code_INVALID_ARGUMENT, "expected a number from 1 to 65536");
  }
  PJRT_Client *c = make_client(8, 0);
  OK(Client_Devices, d, .client = c);
  CHECK(d.num_devices == 8);
  OK(Device_AddressableMemories, m, .device = d.devices[3]);
  CHECK(m.num_memories == 3);
  OK(Memory_Kind, k, .memory = m.memories[0]);
  CHECK(str_is((str){k.kind, k.kind_size}, "device"));
  CALL(Client_LookupDevice, l, .client = c, .id = 8);
  check_error(l_error, PJRT_Error_Code_INVALID_ARGUMENT, "no device 8");
  PJRT_Client_Devices_Args old = {.struct_size = 16, .client = c};
  check_error(GetPjrtApi()->PJRT_Client_Devices(&old), PJRT_Error_Code_INVALID_ARGUMENT,
              "ends at byte 16");
  int key, value;
  const PJRT_Memory_FunctionTable *t = m.memories[0]->vtable;
  CHECK(t->get_user_data(m.memories[0], &key) == NULL);
  t->set_user_data(m.memories[0], &key, &value, NULL);
  CHECK(t->get_user_data(m.memories[0], &key) == &value);
  destroy_client(c);
}

static void test_buffers(void) {
  PJRT_Client *c = make_client(2, 0);
  float in[4] = {1, 2, 3, 4}, out[4] = {0};
  PJRT_Buffer *b = put(c, 1, in, 4);
  get(b, out, 4);
  CHECK(memcmp(in, out, sizeof in) == 0);
  OK(Client_AddressableMemories, m, .client = c);
  OK(Buffer_CopyToMemory, copy, .buffer = b, .dst_memory = m.addressable_memories[1]);
  OK(Buffer_Delete, del, .buffer = b);
  OK(Buffer_IsDeleted, is, .buffer = b);
  CHECK(is.is_deleted);
  CALL(Buffer_ToHostBuffer, to, .src = b, .dst = out, .dst_size = sizeof out);
  check_error(to_error, PJRT_Error_Code_INVALID_ARGUMENT, "deleted or donated");
  CALL(Buffer_ToHostBuffer, small, .src = copy.dst_buffer, .dst = out, .dst_size = 8);
  check_error(small_error, PJRT_Error_Code_INVALID_ARGUMENT, "8 bytes of room for 16");
  memset(out, 0, sizeof out);
  get(copy.dst_buffer, out, 4);
  CHECK(out[3] == 4);
  destroy_buffer(b);
  destroy_buffer(copy.dst_buffer);
  destroy_client(c);
}

static void test_execute(PJRT_Client *c) {
  PJRT_LoadedExecutable *l;
  float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0};
  check_ok(compile(c, add_one, &l), "compile add_one");
  if (!l) return;
  PJRT_Buffer *x = put(c, 0, in, 4), *y = NULL, *z = NULL;
  check_ok(run(l, &x, 1, &y), "run");
  check_ok(run(l, &y, 1, &z), "run");
  destroy_buffer(y);
  get(z, out, 4);
  CHECK(out[0] == 3 && out[3] == 6);
  destroy_buffer(z);
  PJRT_Buffer *wrong = put(c, 0, in, 8), *elsewhere = put(c, 1, in, 4);
  check_error(run(l, &wrong, 1, &y), PJRT_Error_Code_INVALID_ARGUMENT,
              "argument 0 on device 0 is f32[8]");
  check_error(run(l, &elsewhere, 1, &y), PJRT_Error_Code_INVALID_ARGUMENT, "is on device 1");
  CHECK(!y);
  destroy_buffer(wrong);
  destroy_buffer(elsewhere);
  destroy_loaded(l);
  check_ok(compile(c, add_one_donated, &l), "compile add_one_donated");
  check_ok(run(l, &x, 1, &y), "run donated");
  OK(Buffer_IsDeleted, is, .buffer = x);
  CHECK(is.is_deleted);
  check_error(run(l, &x, 1, &z), PJRT_Error_Code_INVALID_ARGUMENT, "deleted or donated");
  get(y, out, 4);
  CHECK(out[0] == 2 && out[3] == 5);
  destroy_loaded(l);
  destroy_buffer(x);
  destroy_buffer(y);
}

static void test_sharded(PJRT_Client *c) {
  PJRT_LoadedExecutable *l;
  float in[8] = {1, 2, 3, 4, 5, 6, 7, 8}, out[8] = {0};
  check_ok(compile(c, sharded, &l), "compile sharded");
  if (!l) return;
  PJRT_Buffer *x[2] = {put(c, 0, in, 4), put(c, 1, in + 4, 4)}, *y[2] = {0};
  check_ok(run(l, x, 2, y), "run sharded");
  check_error(run(l, x, 1, y), PJRT_Error_Code_INVALID_ARGUMENT, "runs on 2 devices, not on 1");
  get(y[1], out, 8);
  CHECK(out[0] == 2 && out[7] == 9);
  for (int i = 0; i < 2; i++) {
    destroy_buffer(x[i]);
    destroy_buffer(y[i]);
  }
  OK(LoadedExecutable_GetExecutable, g, .loaded_executable = l);
  OK(Executable_Serialize, s, .executable = g.executable);
  OK(Executable_DeserializeAndLoad, d, .client = c, .serialized_executable = s.serialized_bytes,
     .serialized_executable_size = s.serialized_bytes_size);
  const int32_t origin[] = {0, 0};
  PJRT_LoadOptions place = {.struct_size = PJRT_LoadOptions_END, .computation_origin = origin};
  OK(Executable_DeserializeAndLoad, plain, .client = c, .serialized_executable = s.serialized_bytes,
     .serialized_executable_size = s.serialized_bytes_size, .load_options = &place);
  destroy_loaded(plain.loaded_executable);
  place.computation_origin_size = 2;
  CALL(Executable_DeserializeAndLoad, far, .client = c, .serialized_executable = s.serialized_bytes,
       .serialized_executable_size = s.serialized_bytes_size, .load_options = &place);
  check_error(far_error, PJRT_Error_Code_INVALID_ARGUMENT, "devices have none");
  place.struct_size = 8;
  CALL(Executable_DeserializeAndLoad, small, .client = c,
       .serialized_executable = s.serialized_bytes,
       .serialized_executable_size = s.serialized_bytes_size, .load_options = &place);
  check_error(small_error, PJRT_Error_Code_INVALID_ARGUMENT, "PJRT_LoadOptions");
  CALL(Executable_DeserializeAndLoad, cut, .client = c, .serialized_executable = s.serialized_bytes,
       .serialized_executable_size = s.serialized_bytes_size - 1);
  check_error(cut_error, PJRT_Error_Code_DATA_LOSS, "damaged");
  PJRT_Buffer *again[2] = {put(c, 0, in, 4), put(c, 1, in + 4, 4)};
  check_ok(run(d.loaded_executable, again, 2, y), "run deserialized");
  get(y[1], out, 8);
  CHECK(out[0] == 2 && out[7] == 9);
  for (int i = 0; i < 2; i++) {
    destroy_buffer(again[i]);
    destroy_buffer(y[i]);
  }
  s.serialized_executable_deleter(s.serialized_executable);
  OK(Executable_Destroy, e, .executable = g.executable);
  destroy_loaded(d.loaded_executable);
  destroy_loaded(l);
}

static void test_bad_programs(PJRT_Client *c) {
  PJRT_LoadedExecutable *l;
  PJRT_Error *e = compile(c, "module { func.func @main() { return", &l);
  CHECK(e && !l && code_of(e) == PJRT_Error_Code_INVALID_ARGUMENT && message_has(e, "error: "));
  drop(e);
  PJRT_Program p = {.struct_size = PJRT_Program_END, .format = "hlo", .format_size = 3};
  CALL(Client_Compile, a, .client = c, .program = &p);
  check_error(a_error, PJRT_Error_Code_UNIMPLEMENTED, "only 'mlir'");
  p = (PJRT_Program){.struct_size = PJRT_Program_END, .format = "mlir", .format_size = 4};
  p.code = (char *)(uintptr_t)add_one;
  p.code_size = sizeof add_one - 1;
  CALL(Client_Compile, o, .client = c, .program = &p, .compile_options = "\x1a\x7f",
       .compile_options_size = 2);
  check_error(o_error, PJRT_Error_Code_INVALID_ARGUMENT, "CompileOptionsProto");
}

/* ---- layouts on the host, views, what is NULL or another client's ---- */

static PJRT_Buffer *put_matrix(PJRT_Client *c, const float *data, int64_t rows, int64_t columns,
                               const int64_t *byte_strides) {
  int64_t dims[2] = {rows, columns};
  OK(Client_BufferFromHostBuffer, a, .client = c, .data = data, .type = PJRT_Buffer_Type_F32,
     .dims = dims, .num_dims = 2, .byte_strides = byte_strides,
     .num_byte_strides = byte_strides ? 2 : 0);
  destroy_event(a.done_with_host_buffer);
  return a.buffer;
}

static PJRT_Buffer_MemoryLayout strided(const int64_t *byte_strides, size_t n) {
  PJRT_Buffer_MemoryLayout l = {.struct_size = PJRT_Buffer_MemoryLayout_END,
                                .type = PJRT_Buffer_MemoryLayout_Type_Strides};
  l.strides =
      (PJRT_Buffer_MemoryLayout_Strides){.struct_size = PJRT_Buffer_MemoryLayout_Strides_END,
                                         .byte_strides = byte_strides,
                                         .num_byte_strides = n};
  return l;
}

/* Asks for the size, refuses a byte less, and fills exactly that much. out has room for it. */
static void get_layout(PJRT_Buffer *b, PJRT_Buffer_MemoryLayout l, float *out, size_t bytes) {
  OK(Buffer_ToHostBuffer, ask, .src = b, .host_layout = &l);
  CHECK(ask.dst_size == bytes && !ask.event);
  char *exact = malloc(bytes); /* ASan sees what goes beyond */
  CALL(Buffer_ToHostBuffer, small, .src = b, .host_layout = &l, .dst = exact,
       .dst_size = bytes - 1);
  check_error(small_error, PJRT_Error_Code_INVALID_ARGUMENT, "bytes of room for");
  memset(exact, 0, bytes);
  OK(Buffer_ToHostBuffer, a, .src = b, .host_layout = &l, .dst = exact, .dst_size = bytes);
  PJRT_Error *e = wait_for(a.event);
  check_ok(e, "ToHostBuffer's event");
  memcpy(out, exact, bytes);
  free(exact);
}

static void refuse_layout(PJRT_Buffer *b, PJRT_Buffer_MemoryLayout l, const char *why) {
  float out[64];
  CALL(Buffer_ToHostBuffer, a, .src = b, .host_layout = &l, .dst = out, .dst_size = sizeof out);
  check_error(a_error, PJRT_Error_Code_INVALID_ARGUMENT, why);
  CHECK(!a.event);
}

static void test_layouts(PJRT_Client *c) {
  static const int64_t row_major[] = {1, 0}, transposed[] = {0, 1}, twice[] = {1, 1};
  static const int64_t gaps[] = {32, 8}, mirrored[] = {-12, 4}, far[] = {INT64_MAX, 4};
  static const float in[6] = {1, 2, 3, 4, 5, 6}, by_columns[6] = {1, 4, 2, 5, 3, 6};
  float out[64];
  PJRT_Buffer *b = put_matrix(c, in, 2, 3, NULL);
  get_layout(b, tiled(row_major, 2), out, 24);
  CHECK(memcmp(out, in, 24) == 0);
  get_layout(b, tiled(transposed, 2), out, 24);
  CHECK(memcmp(out, by_columns, 24) == 0);
  get_layout(b, strided(gaps, 2), out, 32 + 2 * 8 + 4);
  CHECK(out[0] == 1 && out[1] == 0 && out[2] == 2 && out[8] == 4 && out[12] == 6);
  refuse_layout(b, tiled(twice, 2), "not a permutation");
  refuse_layout(b, tiled(row_major, 1), "1 dimensions, the array has 2");
  refuse_layout(b, tiled(NULL, 2), "minor_to_major is NULL");
  refuse_layout(b, strided(gaps, 3), "3 strides for 2 dimensions");
  refuse_layout(b, strided(NULL, 2), "byte_strides is NULL");
  refuse_layout(b, strided(mirrored, 2), "lead outside");
  refuse_layout(b, strided(far, 2), "lead outside");
  refuse_layout(b, (PJRT_Buffer_MemoryLayout){.struct_size = 8}, "layout");
  PJRT_Buffer_MemoryLayout odd = tiled(row_major, 2);
  odd.type = 7;
  refuse_layout(b, odd, "type 7");
  destroy_buffer(b);
  static const int64_t columns_first[] = {4, 8}, backwards[] = {-12, 4};
  b = put_matrix(c, by_columns, 2, 3, columns_first);
  get(b, out, 6);
  CHECK(memcmp(out, in, 24) == 0);
  destroy_buffer(b);
  b = put_matrix(c, in + 3, 2, 3, backwards);
  get(b, out, 6);
  CHECK(out[0] == 4 && out[5] == 3);
  destroy_buffer(b);
  b = put_matrix(c, NULL, 0, 3, NULL); /* nothing lies anywhere */
  OK(Buffer_ToHostBuffer, none, .src = b, .dst = out, .dst_size = 0);
  PJRT_Error *e = wait_for(none.event);
  check_ok(e, "an empty array");
  destroy_buffer(b);
}

static void count_deleted(void *data, void *arg) {
  (void)data;
  ++*(int *)arg;
}

static void test_views(PJRT_Client *c) {
  static const int64_t four = 4, none = 0, negative = -4;
  _Alignas(64) float data[5] = {1, 2, 3, 4};
  int deleted = 0;
  CALL(Client_CreateViewOfDeviceBuffer, null, .client = c, .dims = &four, .num_dims = 1,
       .element_type = PJRT_Buffer_Type_F32);
  check_error(null_error, PJRT_Error_Code_INVALID_ARGUMENT, "16 bytes at NULL");
  CALL(Client_CreateViewOfDeviceBuffer, minus, .client = c, .device_buffer_ptr = data,
       .dims = &negative, .num_dims = 1, .element_type = PJRT_Buffer_Type_F32);
  check_error(minus_error, PJRT_Error_Code_INVALID_ARGUMENT, "do not make sense");
  CALL(Client_CreateViewOfDeviceBuffer, odd, .client = c, .device_buffer_ptr = data + 1,
       .dims = &four, .num_dims = 1, .element_type = PJRT_Buffer_Type_F32);
  check_error(odd_error, PJRT_Error_Code_INVALID_ARGUMENT, "not aligned");
  OK(Client_CreateViewOfDeviceBuffer, empty, .client = c, .dims = &none, .num_dims = 1,
     .element_type = PJRT_Buffer_Type_F32);
  destroy_buffer(empty.buffer);
  OK(Client_CreateViewOfDeviceBuffer, a, .client = c, .device_buffer_ptr = data, .dims = &four,
     .num_dims = 1, .element_type = PJRT_Buffer_Type_F32, .on_delete_callback = count_deleted,
     .on_delete_callback_arg = &deleted);
  PJRT_LoadedExecutable *l;
  PJRT_Buffer *y = NULL;
  float out[4];
  check_ok(compile(c, add_one_donated, &l), "compile add_one_donated");
  check_ok(run(l, &a.buffer, 1, &y), "donate a view"); /* its memory stays as it is */
  get(y, out, 4);
  CHECK(out[3] == 5 && data[3] == 4);
  destroy_buffer(y);
  destroy_buffer(a.buffer);
  CHECK(deleted == 1);
  destroy_loaded(l);
}

static void test_foreign(PJRT_Client *c) {
  static const float in[4] = {1, 2, 3, 4};
  static const int64_t four = 4;
  PJRT_Client *other = make_client(2, 0);
  OK(Client_Devices, d, .client = other);
  OK(Device_DefaultMemory, m, .device = d.devices[0]);
  CALL(Client_BufferFromHostBuffer, a, .client = c, .data = in, .type = PJRT_Buffer_Type_F32,
       .dims = &four, .num_dims = 1, .device = d.devices[0]);
  check_error(a_error, PJRT_Error_Code_INVALID_ARGUMENT, "another client's");
  PJRT_Buffer *mine = put(c, 0, in, 4), *its = put(other, 0, in, 4), *y = NULL;
  CALL(Buffer_CopyToMemory, copy, .buffer = mine, .dst_memory = m.memory);
  check_error(copy_error, PJRT_Error_Code_INVALID_ARGUMENT, "another client's");
  CALL(Buffer_CopyToDevice, copy2, .buffer = mine, .dst_device = d.devices[0]);
  check_error(copy2_error, PJRT_Error_Code_INVALID_ARGUMENT, "another client's");
  PJRT_LoadedExecutable *l;
  check_ok(compile(c, add_one, &l), "compile add_one");
  check_error(run(l, &its, 1, &y), PJRT_Error_Code_INVALID_ARGUMENT, "another client's");
  PJRT_Buffer *const *args = &mine, **results = &y;
  CALL(LoadedExecutable_Execute, x, .executable = l, .argument_lists = &args, .num_devices = 1,
       .num_args = 1, .output_lists = &results, .execute_device = d.devices[0]);
  check_error(x_error, PJRT_Error_Code_INVALID_ARGUMENT, "another client's");
  CHECK(!y);
  destroy_buffer(mine);
  destroy_buffer(its);
  destroy_loaded(l);
  destroy_client(other);
}

static void end_event(void *e) { destroy_event(e); }
static void end_context(void *x) { OK(ExecuteContext_Destroy, a, .context = x); }

/* Every function, as the table has them; extensions_test.c has those of extensions. */
static void test_every_function(PJRT_Client *c) {
  OK(Client_Devices, d, .client = c);
  OK(Device_GetDescription, t, .device = d.devices[0]);
  void *const handles[] = {t.device_description, d.devices[0]};
  const char *api = (const char *)GetPjrtApi();
  for (size_t at = offsetof(PJRT_Api, PJRT_Error_GetCode); at < sizeof(PJRT_Api); at += 8) {
    if (at == offsetof(PJRT_Api, PJRT_Error_GetCode) ||
        at == offsetof(PJRT_Api, PJRT_Error_ForEachPayload) ||
        at == offsetof(PJRT_Api, PJRT_Client_Create) ||
        at == offsetof(PJRT_Api, PJRT_TopologyDescription_Create) ||
        at == offsetof(PJRT_Api, PJRT_Device_CreateAsyncTrackingEvent))
      continue; /* their first field is not a handle, or they make one */
    call_badly(api + at, handles,
               at == offsetof(PJRT_Api, PJRT_Event_Create)            ? end_event
               : at == offsetof(PJRT_Api, PJRT_ExecuteContext_Create) ? end_context
                                                                      : NULL);
  }
}

/* ---- callbacks, and the end of things ---- */

typedef struct chain {
  PJRT_LoadedExecutable *l;
  PJRT_Buffer *x;
  pthread_mutex_t lock;
  pthread_cond_t changed;
  int left, failures;
} chain;

static void run_again(PJRT_Error *error, void *user) {
  chain *k = user;
  PJRT_Buffer *y = NULL;
  PJRT_Error *e = run(k->l, &k->x, 1, &y);
  bool ok = !e && !error;
  drop(e);
  drop(error);
  if (y) destroy_buffer(y);
  pthread_mutex_lock(&k->lock);
  k->failures += !ok;
  k->left--;
  pthread_cond_signal(&k->changed);
  pthread_mutex_unlock(&k->lock);
}

/* A callback cannot wait, nor destroy a client, which is to wait too: its thread is needed. */
static void wait_in_callback(PJRT_Error *error, void *user) {
  PJRT_Client **c = user;
  drop(error);
  OK(Event_Create, never, .event = NULL);
  CALL(Event_Await, w, .event = never.event);
  check_error(w_error, PJRT_Error_Code_FAILED_PRECONDITION, "a callback cannot");
  destroy_event(never.event);
  CALL(Client_Destroy, a, .client = *c);
  check_error(a_error, PJRT_Error_Code_FAILED_PRECONDITION, "a callback cannot");
  *c = NULL;
}

/* One worker, and more launches than may be in flight, each of which starts another one. */
static void test_callbacks(void) {
  enum { N = 100, SIZE = 2000000 };
  static const char slow[] = "module @slow {\n"
                             "  func.func @main(%x: tensor<2000000xf32>) -> tensor<2000000xf32> {\n"
                             "    %y = stablehlo.tan %x : tensor<2000000xf32>\n"
                             "    return %y : tensor<2000000xf32>\n"
                             "  }\n"
                             "}\n";
  static float in[SIZE];
  PJRT_Client *c = make_client(1, 1), *gone = c;
  chain k = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER, .left = N};
  check_ok(compile(c, slow, &k.l), "compile slow");
  k.x = put(c, 0, in, SIZE);
  PJRT_Buffer *y = NULL, *const *args = &k.x, **results = &y;
  PJRT_Event *event = NULL;
  for (int i = 0; i < N; i++) {
    OK(LoadedExecutable_Execute, a, .executable = k.l, .argument_lists = &args, .num_devices = 1,
       .num_args = 1, .output_lists = &results, .device_complete_events = &event);
    OK(Event_OnReady, r, .event = event, .callback = run_again, .user_arg = &k);
    destroy_event(event);
    destroy_buffer(y);
  }
  pthread_mutex_lock(&k.lock);
  while (k.left) pthread_cond_wait(&k.changed, &k.lock);
  pthread_mutex_unlock(&k.lock);
  CHECK(k.failures == 0);
  OK(LoadedExecutable_Execute, a, .executable = k.l, .argument_lists = &args, .num_devices = 1,
     .num_args = 1, .output_lists = &results, .device_complete_events = &event);
  OK(Event_OnReady, r, .event = event, .callback = wait_in_callback, .user_arg = &gone);
  destroy_event(event);
  destroy_buffer(y);
  destroy_buffer(k.x);
  destroy_loaded(k.l);
  destroy_client(c); /* waits for the callback too */
  CHECK(!gone);
}

/* The client first, while its launches run, and then what it made, in two orders. */
static void test_destruction(bool events_first) {
  static const float in[4] = {1, 2, 3, 4};
  float out[4];
  PJRT_Client *c = make_client(2, 0);
  PJRT_LoadedExecutable *l;
  check_ok(compile(c, add_one, &l), "compile add_one");
  PJRT_Buffer *x = put(c, 0, in, 4), *y = NULL, *z = NULL;
  for (int i = 0; i < 50; i++) {
    check_ok(run(l, &x, 1, &y), "run");
    destroy_buffer(x);
    x = y;
  }
  OK(Buffer_ReadyEvent, r, .buffer = x);
  OK(LoadedExecutable_GetExecutable, g, .loaded_executable = l);
  OK(Client_Devices, d, .client = c);
  destroy_client(c);
  CALL(Client_Devices, again, .client = c);
  check_error(again_error, PJRT_Error_Code_INVALID_ARGUMENT, "has been destroyed");
  check_error(run(l, &x, 1, &z), PJRT_Error_Code_FAILED_PRECONDITION, "has been destroyed");
  OK(Device_LocalHardwareId, id, .device = d.devices[1]);
  CHECK(!z && id.local_hardware_id == 1);
  get(x, out, 4);
  CHECK(out[3] == 54);
  OK(Buffer_Memory, m, .buffer = x);
  OK(Buffer_CopyToMemory, copy, .buffer = x, .dst_memory = m.memory);
  if (events_first) destroy_event(r.event);
  destroy_loaded(l);
  OK(Executable_Name, n, .executable = g.executable);
  CHECK(str_is((str){n.executable_name, n.executable_name_size}, "add_one"));
  destroy_buffer(x);
  OK(Executable_Destroy, e, .executable = g.executable);
  get(copy.dst_buffer, out, 4);
  CHECK(out[0] == 51);
  destroy_buffer(copy.dst_buffer);
  if (!events_first) {
    OK(Event_Await, w, .event = r.event);
    destroy_event(r.event);
  }
}

/* A forked child gets errors, may destroy what it has of its parent, and ends. */
static void test_fork(PJRT_Client *c) {
  static const float in[4] = {1, 2, 3, 4};
  PJRT_LoadedExecutable *l;
  check_ok(compile(c, add_one, &l), "compile add_one");
  PJRT_Buffer *x = put(c, 0, in, 4), *y = NULL;
  OK(Buffer_ReadyEvent, r, .buffer = x);
  int ended = -1;
  pid_t child = fork();
  if (child == 0) {
    alarm(60);
    unit_failed = 0;
    check_error(run(l, &x, 1, &y), PJRT_Error_Code_FAILED_PRECONDITION, "forked");
    CALL(Event_Await, w, .event = r.event);
    check_error(w_error, PJRT_Error_Code_FAILED_PRECONDITION, "forked");
    destroy_event(r.event);
    destroy_loaded(l);
    destroy_client(c);
    destroy_buffer(x);
    _exit(unit_failed ? 1 : 0);
  }
  CHECK(waitpid(child, &ended, 0) == child && WIFEXITED(ended) && WEXITSTATUS(ended) == 0);
  destroy_event(r.event);
  check_ok(run(l, &x, 1, &y), "run in the parent");
  destroy_buffer(x);
  destroy_buffer(y);
  destroy_loaded(l);
}

typedef struct worker {
  PJRT_Client *client;
  const char *program;
  size_t n; /* devices, and elements on each: 4 */
  int failures;
} worker;

/* A thousand launches, each on what the one before made, without waiting in between. */
static void *work(void *user) {
  worker *w = user;
  PJRT_LoadedExecutable *l;
  float in[4] = {0}, out[4] = {0};
  if (compile(w->client, w->program, &l)) return w->failures++, NULL;
  PJRT_Buffer *x = put(w->client, 0, in, 4);
  for (int i = 0; i < 1000; i++) {
    PJRT_Buffer *y = NULL;
    PJRT_Error *e = run(l, &x, 1, &y);
    w->failures += e != NULL;
    drop(e);
    destroy_buffer(x);
    x = y;
    if (i % 100 == 0) get(x, out, 4);
  }
  get(x, out, 4);
  w->failures += out[0] != 1000 || out[3] != 1000;
  destroy_buffer(x);
  destroy_loaded(l);
  return NULL;
}

static void test_two_threads(PJRT_Client *c) {
  worker w[2] = {{.client = c, .program = add_one}, {.client = c, .program = add_one_donated}};
  pthread_t t[2];
  for (int i = 0; i < 2; i++) pthread_create(&t[i], NULL, work, &w[i]);
  for (int i = 0; i < 2; i++) pthread_join(t[i], NULL);
  CHECK(w[0].failures == 0 && w[1].failures == 0);
}

static void test_all(void) {
  test_client();
  test_buffers();
  test_callbacks();
  test_destruction(true);
  test_destruction(false);
  PJRT_Client *c = make_client(2, 0);
  test_execute(c);
  test_sharded(c);
  test_bad_programs(c);
  test_layouts(c);
  test_views(c);
  test_foreign(c);
  test_every_function(c);
  test_fork(c);
  test_two_threads(c);
  destroy_client(c);
}

int main(void) {
  unsetenv("TERRAZZO_NUM_DEVICES");
  test_executor("cpu", true);
  test_executor("plain", true);
  test_executor("gpu", false);
  test_executor("an executor of a long name", false);
  test_all();
  pjrt_newer_by = 64;
  test_all();
  return UNIT_END();
}
