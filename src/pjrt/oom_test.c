/* Fails the Nth allocation of a whole session (client, buffers, compile, run), for every N: each
 * call gives an error or a result, nothing crashes, hangs, or (under ASan) leaks. */
#include "base/base.h"
#include "pjrt/abi.h"
#include "tests/oom.h"

extern const PJRT_Api *GetPjrtApi(void);

#define CALL(function, a, ...)                                                                     \
  PJRT_##function##_Args a = {.struct_size = PJRT_##function##_Args_END, __VA_ARGS__};             \
  bool a##_ok = succeeded(GetPjrtApi()->PJRT_##function(&a))

/* Drops the error: it must say something. */
static bool succeeded(PJRT_Error *e) {
  if (!e) return true;
  PJRT_Error_Message_Args m = {.struct_size = PJRT_Error_Message_Args_END, .error = e};
  PJRT_Error_GetCode_Args c = {.struct_size = PJRT_Error_GetCode_Args_END, .error = e};
  PJRT_Error_Destroy_Args d = {.struct_size = PJRT_Error_Destroy_Args_END, .error = e};
  GetPjrtApi()->PJRT_Error_Message(&m);
  GetPjrtApi()->PJRT_Error_GetCode(&c);
  if (!m.message_size || c.code != PJRT_Error_Code_RESOURCE_EXHAUSTED) {
    CHECK(!"an error other than out of memory");
    fprintf(stderr, "code %d: %.*s\n", (int)c.code, (int)m.message_size, m.message);
  }
  GetPjrtApi()->PJRT_Error_Destroy(&d);
  return false;
}

static void drop_event(PJRT_Event *e) {
  CALL(Event_Destroy, a, .event = e);
  CHECK(a_ok);
}
static void drop_buffer(PJRT_Buffer *b) {
  CALL(Buffer_Destroy, a, .buffer = b);
  CHECK(a_ok);
}

static bool wait_for(PJRT_Event *e) {
  CALL(Event_Await, a, .event = e);
  drop_event(e);
  return a_ok;
}

static const char program[] =
    "module @f {\n"
    "  func.func @main(%x: tensor<4xf32> {tf.aliasing_output = 0 : i32}) -> tensor<4xf32> {\n"
    "    %one = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
    "    %y = stablehlo.add %x, %one : tensor<4xf32>\n"
    "    return %y : tensor<4xf32>\n"
    "  }\n"
    "}\n";

static bool read_back(PJRT_Buffer *b, float want) {
  float out[4] = {0};
  CALL(Buffer_ToHostBuffer, a, .src = b, .dst = out, .dst_size = sizeof out);
  if (!a_ok || !wait_for(a.event)) return false;
  CHECK(out[3] == want);
  return true;
}

static bool run(PJRT_LoadedExecutable *l, PJRT_Buffer *x) {
  PJRT_ExecuteOptions o = {.struct_size = PJRT_ExecuteOptions_END};
  PJRT_Event *event = NULL;
  PJRT_Buffer *y = NULL, *const *args = &x, **results = &y;
  CALL(LoadedExecutable_Execute, a, .executable = l, .options = &o, .argument_lists = &args,
       .num_devices = 1, .num_args = 1, .output_lists = &results, .device_complete_events = &event);
  CHECK(a_ok == (y != NULL));
  if (!a_ok) return false;
  bool ok = wait_for(event) && read_back(y, 5);
  drop_buffer(y);
  return ok;
}

static bool compile_and_run(PJRT_Client *c, PJRT_Buffer *x) {
  PJRT_Program p = {.struct_size = PJRT_Program_END,
                    .code = (char *)(uintptr_t)program,
                    .code_size = sizeof program - 1,
                    .format = "mlir",
                    .format_size = 4};
  CALL(Client_Compile, a, .client = c, .program = &p);
  if (!a_ok) return false;
  bool ok = run(a.executable, x);
  CALL(LoadedExecutable_Destroy, d, .executable = a.executable);
  return ok && d_ok;
}

static bool use(PJRT_Client *c) {
  float in[4] = {1, 2, 3, 4};
  int64_t n = 4;
  CALL(Client_BufferFromHostBuffer, a, .client = c, .data = in, .type = PJRT_Buffer_Type_F32,
       .dims = &n, .num_dims = 1);
  if (!a_ok) return false;
  drop_event(a.done_with_host_buffer);
  CALL(Client_AddressableMemories, m, .client = c);
  CALL(Buffer_CopyToMemory, copy, .buffer = a.buffer, .dst_memory = m.addressable_memories[1]);
  bool ok = m_ok && copy_ok && read_back(copy.dst_buffer, 4);
  if (copy_ok) drop_buffer(copy.dst_buffer);
  ok = ok && compile_and_run(c, a.buffer);
  drop_buffer(a.buffer);
  return ok;
}

/* True when all of it went well. */
static bool session(void) {
  PJRT_NamedValue option = {.struct_size = PJRT_NamedValue_END,
                            .name = "num_devices",
                            .name_size = 11,
                            .type = PJRT_NamedValue_kInt64,
                            .int64_value = 2};
  CALL(Client_Create, a, .create_options = &option, .num_options = 1);
  if (!a_ok) return false;
  bool ok = use(a.client);
  CALL(Client_Destroy, d, .client = a.client);
  return ok && d_ok;
}

int main(void) { return oom_test(session); }
