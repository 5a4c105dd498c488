/* Drives the PJRT API as a framework does: client, buffers, compile, execute, errors, and two
 * threads that run two programs a thousand times each. Made to run under TSan and ASan too. */
#include <pthread.h>
#include <stdlib.h>

#include "base/base.h"
#include "pjrt/abi.h"
#include "tests/unit.h"

extern const PJRT_Api *GetPjrtApi(void);

/* CALL(api, Client_Create, a, .field = value...) declares the arguments `a` and makes the call. */
#define CALL(function, a, ...)                                                                     \
  PJRT_##function##_Args a = {.struct_size = PJRT_##function##_Args_END, __VA_ARGS__};             \
  PJRT_Error *a##_error = GetPjrtApi()->PJRT_##function(&a)
#define OK(function, a, ...)                                                                       \
  CALL(function, a, __VA_ARGS__);                                                                  \
  check_ok(a##_error, #function)

static PJRT_Error_Code code_of(PJRT_Error *e) {
  PJRT_Error_GetCode_Args a = {.struct_size = PJRT_Error_GetCode_Args_END, .error = e};
  CHECK(!GetPjrtApi()->PJRT_Error_GetCode(&a));
  return a.code;
}

static void drop(PJRT_Error *e) {
  PJRT_Error_Destroy_Args a = {.struct_size = PJRT_Error_Destroy_Args_END, .error = e};
  GetPjrtApi()->PJRT_Error_Destroy(&a);
}

static bool message_has(PJRT_Error *e, const char *text) {
  PJRT_Error_Message_Args a = {.struct_size = PJRT_Error_Message_Args_END, .error = e};
  GetPjrtApi()->PJRT_Error_Message(&a);
  bool has = e && a.message_size && strstr(a.message, text);
  if (!has) fprintf(stderr, "message: %.*s\n", (int)a.message_size, a.message);
  return has;
}

static void check_ok(PJRT_Error *e, const char *what) {
  CHECK(!e);
  if (!e) return;
  fprintf(stderr, "%s: ", what);
  message_has(e, "\n");
  drop(e);
}

static void check_error(PJRT_Error *e, PJRT_Error_Code code, const char *text) {
  CHECK(e && code_of(e) == code && message_has(e, text));
  drop(e);
}

static PJRT_Client *make_client(int64_t num_devices) {
  PJRT_NamedValue option = {.struct_size = PJRT_NamedValue_END,
                            .name = "num_devices",
                            .name_size = 11,
                            .type = PJRT_NamedValue_kInt64,
                            .int64_value = num_devices,
                            .value_size = 1};
  OK(Client_Create, a, .create_options = &option, .num_options = 1);
  return a.client;
}

static void destroy_event(PJRT_Event *e) { OK(Event_Destroy, a, .event = e); }

static void destroy_buffer(PJRT_Buffer *b) { OK(Buffer_Destroy, a, .buffer = b); }

static PJRT_Buffer *put(PJRT_Client *c, size_t device, const float *data, int64_t n) {
  OK(Client_Devices, d, .client = c);
  OK(Client_BufferFromHostBuffer, a, .client = c, .data = data, .type = PJRT_Buffer_Type_F32,
     .dims = &n, .num_dims = 1, .host_buffer_semantics = 2, .device = d.devices[device]);
  destroy_event(a.done_with_host_buffer);
  return a.buffer;
}

/* Waits, and destroys the event while its callback is outstanding, as the framework does. */
typedef struct waiter {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  bool done;
  PJRT_Error *error;
} waiter;

static void wake(PJRT_Error *error, void *user) {
  waiter *w = user;
  pthread_mutex_lock(&w->lock);
  w->done = true;
  w->error = error;
  pthread_cond_signal(&w->changed);
  pthread_mutex_unlock(&w->lock);
}

static PJRT_Error *wait_for(PJRT_Event *e) {
  waiter w = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};
  OK(Event_OnReady, a, .event = e, .callback = wake, .user_arg = &w);
  destroy_event(e);
  pthread_mutex_lock(&w.lock);
  while (!w.done) pthread_cond_wait(&w.changed, &w.lock);
  pthread_mutex_unlock(&w.lock);
  return w.error;
}

static void get(PJRT_Buffer *b, float *out, size_t n) {
  OK(Buffer_ToHostBuffer, a, .src = b, .dst = out, .dst_size = n * sizeof *out);
  PJRT_Error *e = wait_for(a.event);
  check_ok(e, "ToHostBuffer's event");
}

static PJRT_Error *compile(PJRT_Client *c, const char *text, PJRT_LoadedExecutable **out) {
  PJRT_Program p = {.struct_size = PJRT_Program_END,
                    .code = (char *)(uintptr_t)text,
                    .code_size = strlen(text),
                    .format = "mlir",
                    .format_size = 4};
  CALL(Client_Compile, a, .client = c, .program = &p);
  *out = a.executable;
  return a_error;
}

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

static void destroy_loaded(PJRT_LoadedExecutable *l) {
  OK(LoadedExecutable_Destroy, a, .executable = l);
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
  PJRT_Client *c = make_client(8);
  OK(Client_Devices, d, .client = c);
  CHECK(d.num_devices == 8);
  OK(Device_AddressableMemories, m, .device = d.devices[3]);
  CHECK(m.num_memories == 3);
  OK(Memory_Kind, k, .memory = m.memories[0]);
  CHECK(str_is((str){k.kind, k.kind_size}, "device"));
  CALL(Client_LookupDevice, l, .client = c, .id = 8);
  check_error(l_error, PJRT_Error_Code_INVALID_ARGUMENT, "no device 8");
  CALL(Client_DmaMap, dma, .client = c);
  check_error(dma_error, PJRT_Error_Code_UNIMPLEMENTED, "PJRT_Client_DmaMap");
  PJRT_Client_Devices_Args old = {.struct_size = 16, .client = c};
  check_error(GetPjrtApi()->PJRT_Client_Devices(&old), PJRT_Error_Code_INVALID_ARGUMENT,
              "ends at byte 16");
  int key, value;
  const PJRT_Memory_FunctionTable *t = m.memories[0]->vtable;
  CHECK(t->get_user_data(m.memories[0], &key) == NULL);
  t->set_user_data(m.memories[0], &key, &value, NULL);
  CHECK(t->get_user_data(m.memories[0], &key) == &value);
  OK(Client_Destroy, x, .client = c);
}

static void test_buffers(void) {
  PJRT_Client *c = make_client(2);
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
  OK(Client_Destroy, x, .client = c);
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

int main(void) {
  unsetenv("TERRAZZO_NUM_DEVICES");
  test_client();
  test_buffers();
  PJRT_Client *c = make_client(2);
  test_execute(c);
  test_sharded(c);
  test_bad_programs(c);
  test_two_threads(c);
  OK(Client_Destroy, x, .client = c);
  return UNIT_END();
}
