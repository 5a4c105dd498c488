/* Handlers in XLA's FFI C ABI, registered and called as frameworks do: attributes of every kind,
 * layouts, aliases, state, errors, futures, blocking ones on more devices than there are workers.
 */
#include <pthread.h>

#include "tests/ffi.h"

/* ---- what handlers share ---- */

static XLA_FFI_Error *fail(XLA_FFI_CallFrame *f, const char *text) {
  return f->api->XLA_FFI_Error_Create(&(XLA_FFI_Error_Create_Args){
      .struct_size = FFI_END(XLA_FFI_Error_Create_Args, errc), .message = text, .errc = 8});
}

static void *attr_of(const XLA_FFI_Attrs *attrs, const char *name, XLA_FFI_AttrType type) {
  for (int64_t i = 0; i < attrs->size; i++)
    if (str_is((str){attrs->names[i]->ptr, attrs->names[i]->len}, name))
      return attrs->types[i] == type ? attrs->attrs[i] : NULL;
  return NULL;
}

static PJRT_Error *add_stages(const char *name, int version, XLA_FFI_Handler *instantiate,
                              XLA_FFI_Handler *prepare, XLA_FFI_Handler *initialize,
                              void *execute) {
  PJRT_Gpu_Register_Custom_Call_Args a = {
      .struct_size = PJRT_Gpu_Register_Custom_Call_Args_END,
      .function_name = name,
      .function_name_size = strlen(name),
      .api_version = version,
      .handler_instantiate = instantiate ? pointer_of(instantiate) : NULL,
      .handler_prepare = prepare ? pointer_of(prepare) : NULL,
      .handler_initialize = initialize ? pointer_of(initialize) : NULL,
      .handler_execute = execute};
  return EXTENSION(Gpu_Custom_Call)->PJRT_Gpu_Register_Custom_Call(&a);
}

/* ---- programs: from %x to %y on each device, f32[4] both ---- */

static PJRT_Error *compile_body(PJRT_Client *c, int n, const char *body,
                                PJRT_LoadedExecutable **out) {
  char text[4096];
  snprintf(text, sizeof text,
           "module @m attributes {mhlo.num_partitions = %d : i32} {\n"
           "  sdy.mesh @mesh = <[\"d\"=%d]>\n"
           "  func.func @main(%%g: tensor<%dxf32> {sdy.sharding = #sdy.sharding<@mesh, "
           "[{\"d\"}]>}) -> (tensor<%dxf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"d\"}]>}) {\n"
           "    %%0 = sdy.manual_computation(%%g) in_shardings=[<@mesh, [{\"d\"}]>] "
           "out_shardings=[<@mesh, [{\"d\"}]>] manual_axes={\"d\"} (%%x: tensor<4xf32>) {\n"
           "%s\n      sdy.return %%y : tensor<4xf32>\n"
           "    } : (tensor<%dxf32>) -> tensor<%dxf32>\n"
           "    return %%0 : tensor<%dxf32>\n  }\n}\n",
           n, n, 4 * n, 4 * n, body, 4 * n, 4 * n, 4 * n);
  return compile(c, text, out);
}

/* The error is the call's or the first event's. */
static PJRT_Error *run(PJRT_Client *c, PJRT_LoadedExecutable *l, PJRT_ExecuteContext *context,
                       int n, float *out) {
  float in[32];
  for (int i = 0; i < 32; i++) in[i] = (float)i;
  PJRT_ExecuteOptions o = {
      .struct_size = PJRT_ExecuteOptions_END, .context = context, .launch_id = 77};
  PJRT_Event *events[8] = {0};
  PJRT_Buffer *args[8], *results[8] = {0}, *const * arg_lists[8], **out_lists[8];
  for (int i = 0; i < n; i++) {
    args[i] = put(c, (size_t)i, in + 4 * i, 4);
    arg_lists[i] = &args[i];
    out_lists[i] = &results[i];
  }
  CALL(LoadedExecutable_Execute, a, .executable = l, .options = &o, .argument_lists = arg_lists,
       .num_devices = (size_t)n, .num_args = 1, .output_lists = out_lists,
       .device_complete_events = events);
  PJRT_Error *first = a_error;
  for (int i = 0; i < n; i++) {
    PJRT_Error *e = a_error ? NULL : wait_for(events[i]);
    if (!a_error && !e && out) get(results[i], out + 4 * i, 4);
    first = first_error(first, e);
    destroy_buffer(args[i]);
    if (results[i]) destroy_buffer(results[i]);
  }
  return first;
}

/* Compiles and runs on n devices. */
static void check_runs(PJRT_Client *c, int n, const char *body, float *out) {
  PJRT_LoadedExecutable *l;
  check_ok(compile_body(c, n, body, &l), body);
  if (!l) return;
  check_ok(run(c, l, NULL, n, out), body);
  destroy_loaded(l);
}

static void check_fails(PJRT_Client *c, const char *body, const char *text) {
  PJRT_LoadedExecutable *l;
  check_ok(compile_body(c, 1, body, &l), body);
  if (!l) return;
  check_error(run(c, l, NULL, 1, NULL), PJRT_Error_Code_OK, text);
  destroy_loaded(l);
}

/* ---- attributes ---- */

static bool is_scalar(const XLA_FFI_Attrs *a, const char *name, int dtype, const void *value,
                      size_t size) {
  const XLA_FFI_Scalar *s = attr_of(a, name, XLA_FFI_AttrType_SCALAR);
  return s && s->dtype == dtype && !memcmp(s->value, value, size);
}
static bool is_array(const XLA_FFI_Attrs *a, const char *name, int dtype, const void *data,
                     size_t n, size_t size) {
  const XLA_FFI_Array *s = attr_of(a, name, XLA_FFI_AttrType_ARRAY);
  return s && s->dtype == dtype && s->size == n && !memcmp(s->data, data, n * size);
}
static bool is_text(const XLA_FFI_Attrs *a, const char *name, const char *text) {
  const XLA_FFI_ByteSpan *s = attr_of(a, name, XLA_FFI_AttrType_STRING);
  return s && str_is((str){s->ptr, s->len}, text);
}

static XLA_FFI_Error *see_attrs(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  const XLA_FFI_Attrs *a = &f->attrs, *inner = attr_of(a, "dict", XLA_FFI_AttrType_DICTIONARY);
  CHECK(a->size == 11);
  for (int64_t i = 1; i < a->size; i++)
    CHECK(str_cmp((str){a->names[i - 1]->ptr, a->names[i - 1]->len},
                  (str){a->names[i]->ptr, a->names[i]->len}) < 0);
  CHECK(is_scalar(a, "i32", 4, &(int32_t){-7}, 4) && is_scalar(a, "u64", 9, &(uint64_t){9}, 8));
  CHECK(is_scalar(a, "yes", XLA_FFI_DataType_PRED, &(uint8_t){1}, 1));
  CHECK(is_scalar(a, "f32", 11, &(float){1.5f}, 4) && is_scalar(a, "f64", 12, &(double){2.5}, 8));
  CHECK(is_scalar(a, "bf16", 16, &(uint16_t){0x3fc0}, 2));
  CHECK(is_text(a, "text", "a\"b"));
  CHECK(is_array(a, "list", 5, (int64_t[]){1, 2, 3}, 3, 8));
  CHECK(is_array(a, "dense", 11, (float[]){1, 2, 3, 4}, 4, 4));
  CHECK(is_array(a, "array", 4, (int32_t[]){4, 5}, 2, 4));
  CHECK(inner && inner->size == 1 && is_scalar(inner, "z", 2, &(int8_t){3}, 1));
  memcpy(ret(f, 0)->data, arg(f, 0)->data, 16);
  return NULL;
}

static void test_attrs(PJRT_Client *c) {
  float out[4] = {0};
  check_ok(add_handler("see_attrs", "terrazzo", see_attrs), "register");
  check_runs(c, 1,
             "%y = stablehlo.custom_call @see_attrs(%x) {api_version = 4 : i32, backend_config = "
             "{i32 = -7 : i32, u64 = 9 : ui64, yes = true, f32 = 1.5 : f32, f64 = 2.5 : f64, "
             "bf16 = 1.5 : bf16, text = \"a\\22b\", list = [1 : i64, 2 : i64, 3 : i64], "
             "dense = dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>, "
             "array = array<i32: 4, 5>, dict = {z = 3 : i8}}} : (tensor<4xf32>) -> tensor<4xf32>",
             out);
  CHECK(out[3] == 3);
}

/* ---- buffers: layouts, aliases, tokens, no operands, no elements ---- */

/* The memory as it lies there, whatever the shape. */
static XLA_FFI_Error *as_it_lies(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  CHECK(arg(f, 0)->rank == 2 && arg(f, 0)->dims[0] == 2 && arg(f, 0)->dims[1] == 2);
  memcpy(ret(f, 0)->data, arg(f, 0)->data, 16);
  return NULL;
}

/* What was in the result's memory, which is the operand's, plus one. */
static XLA_FFI_Error *in_place(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  CHECK(arg(f, 0)->data == ret(f, 0)->data);
  for (int i = 0; i < 4; i++) ((float *)ret(f, 0)->data)[i] += 1;
  return NULL;
}

static XLA_FFI_Error *with_token(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  CHECK(f->args.size == 2 && arg(f, 0)->dtype == XLA_FFI_DataType_TOKEN && !arg(f, 0)->data);
  CHECK(f->rets.size == 2 && ret(f, 0)->dtype == XLA_FFI_DataType_TOKEN);
  CHECK(arg(f, 1)->dtype == 11 && ret(f, 1)->dtype == 11);
  memcpy(ret(f, 1)->data, arg(f, 1)->data, 16);
  return NULL;
}

static XLA_FFI_Error *from_nothing(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  CHECK(f->args.size == 1 && arg(f, 0)->dims[0] == 0);
  for (int i = 0; i < 4; i++) ((float *)ret(f, 0)->data)[i] = 9;
  return NULL;
}

static void test_buffers(PJRT_Client *c) {
  float out[4] = {0};
  check_ok(add_handler("as_it_lies", "cpu", as_it_lies), "register");
  check_ok(add_handler("in_place", "HOST", in_place), "register");
  check_ok(add_handler("with_token", "terrazzo", with_token), "register");
  check_ok(add_handler("from_nothing", "terrazzo", from_nothing), "register");
  check_runs(c, 1,
             "%m = stablehlo.reshape %x : (tensor<4xf32>) -> tensor<2x2xf32>\n"
             "%n = stablehlo.custom_call @as_it_lies(%m) {api_version = 4 : i32, "
             "operand_layouts = [dense<[0, 1]> : tensor<2xindex>], "
             "result_layouts = [dense<[1, 0]> : tensor<2xindex>]} : (tensor<2x2xf32>) -> "
             "tensor<2x2xf32>\n%y = stablehlo.reshape %n : (tensor<2x2xf32>) -> tensor<4xf32>",
             out);
  CHECK(out[0] == 0 && out[1] == 2 && out[2] == 1 && out[3] == 3);
  static const char alias[] =
      "%%m = stablehlo.reshape %%x : (tensor<4xf32>) -> tensor<2x2xf32>\n"
      "%%n = stablehlo.custom_call @in_place(%%m) {api_version = 4 : i32, "
      "operand_layouts = [dense<[%s]> : tensor<2xindex>], "
      "result_layouts = [dense<[%s]> : tensor<2xindex>], "
      "output_operand_aliases = [#stablehlo.output_operand_alias<output_tuple_indices = [], "
      "operand_index = 0, operand_tuple_indices = []>]} : (tensor<2x2xf32>) -> tensor<2x2xf32>\n"
      "%%k = stablehlo.add %%n, %%m : tensor<2x2xf32>\n"
      "%%y = stablehlo.reshape %%k : (tensor<2x2xf32>) -> tensor<4xf32>";
  for (int i = 0; i < 2; i++) {
    char body[sizeof alias + 16];
    snprintf(body, sizeof body, alias, i ? "0, 1" : "1, 0", i ? "0, 1" : "1, 0");
    check_runs(c, 1, body, out);
    CHECK(out[0] == 1 && out[1] == 3 && out[2] == 5 && out[3] == 7);
  }
  check_runs(c, 1,
             "%t = stablehlo.create_token : !stablehlo.token\n"
             "%u, %y = stablehlo.custom_call @with_token(%t, %x) {api_version = 4 : i32, "
             "has_side_effect = true} : (!stablehlo.token, tensor<4xf32>) -> (!stablehlo.token, "
             "tensor<4xf32>)",
             out);
  CHECK(out[3] == 3);
  check_runs(c, 1,
             "%e = stablehlo.slice %x [0:0] : (tensor<4xf32>) -> tensor<0xf32>\n"
             "%y = stablehlo.custom_call @from_nothing(%e) {api_version = 4 : i32} : "
             "(tensor<0xf32>) -> tensor<4xf32>",
             out);
  CHECK(out[0] == 9 && out[3] == 9);
}

/* ---- functions that are not typed ---- */

static void original(void *out, const void **in) {
  for (int i = 0; i < 4; i++) ((float *)out)[i] = 2 * ((const float *)in[0])[i];
}
static void two_results(void *out, const void **in) {
  float **results = out;
  original(results[0], in);
  original(results[1], in);
}
static void unified(void *out, const void **in, const char *opaque, size_t len, void *status) {
  CHECK(str_is((str){opaque, len}, "text"));
  original(out, in);
  if (((const float *)in[0])[3] != 3) memset(status, 1, 1);
}

static void *plain(void (*f)(void)) {
  void *p;
  memcpy(&p, &f, sizeof p);
  return p;
}

static void test_untyped(PJRT_Client *c) {
  float out[4] = {0};
  check_ok(add_stages("original", 0, NULL, NULL, NULL, plain((void (*)(void))original)),
           "register");
  check_ok(add_stages("two", 0, NULL, NULL, NULL, plain((void (*)(void))two_results)), "register");
  check_ok(add_stages("unified", 0, NULL, NULL, NULL, plain((void (*)(void))unified)), "register");
  check_runs(c, 1, "%y = stablehlo.custom_call @original(%x) : (tensor<4xf32>) -> tensor<4xf32>",
             out);
  CHECK(out[3] == 6);
  check_runs(c, 1,
             "%a, %b = stablehlo.custom_call @two(%x) : (tensor<4xf32>) -> (tensor<4xf32>, "
             "tensor<4xf32>)\n%y = stablehlo.add %a, %b : tensor<4xf32>",
             out);
  CHECK(out[3] == 12);
  static const char call[] =
      "%y = stablehlo.custom_call @unified(%x) {api_version = 3 : i32, backend_config = \"text\"} "
      ": (tensor<4xf32>) -> tensor<4xf32>";
  check_runs(c, 1, call, out);
  CHECK(out[3] == 6);
  check_fails(c,
              "%z = stablehlo.add %x, %x : tensor<4xf32>\n"
              "%y = stablehlo.custom_call @unified(%z) {api_version = 3 : i32, backend_config = "
              "\"text\"} : (tensor<4xf32>) -> tensor<4xf32>",
              "the custom call failed");
}

/* ---- state ---- */

static XLA_FFI_TypeId kept_type;
static _Atomic int made, freed, prepared;

static void free_kept(void *p) {
  (void)p;
  freed++;
}

static int marks[3] = {10, 20, 30};

static XLA_FFI_Error *set_state(XLA_FFI_CallFrame *f, XLA_FFI_ExecutionStage stage) {
  CHECK(f->stage == stage && !f->args.size && !f->rets.size && f->attrs.size == 1);
  made++;
  XLA_FFI_State_Set_Args a = {.struct_size = FFI_END(XLA_FFI_State_Set_Args, state),
                              .ctx = f->ctx,
                              .stage = stage,
                              .type_id = &kept_type,
                              .state = &marks[stage]};
  XLA_FFI_Error *e = f->api->XLA_FFI_State_Set(&a), *again = f->api->XLA_FFI_State_Set(&a);
  CHECK(again);
  f->api->XLA_FFI_Error_Destroy(&(XLA_FFI_Error_Destroy_Args){
      .struct_size = FFI_END(XLA_FFI_Error_Destroy_Args, error), .error = again});
  return e;
}
static XLA_FFI_Error *instantiate(XLA_FFI_CallFrame *f) {
  return asks_version(f) ? NULL : set_state(f, XLA_FFI_ExecutionStage_INSTANTIATE);
}
static XLA_FFI_Error *prepare(XLA_FFI_CallFrame *f) {
  prepared++;
  return set_state(f, XLA_FFI_ExecutionStage_PREPARE);
}
static XLA_FFI_Error *initialize(XLA_FFI_CallFrame *f) {
  return set_state(f, XLA_FFI_ExecutionStage_INITIALIZE);
}

/* x + what the stages kept + what the execute context has + the device's number */
static XLA_FFI_Error *with_state(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  float sum = 0;
  for (int stage = 0; stage < 3; stage++) {
    XLA_FFI_State_Get_Args a = {.struct_size = FFI_END(XLA_FFI_State_Get_Args, state),
                                .ctx = f->ctx,
                                .stage = (XLA_FFI_ExecutionStage)stage,
                                .type_id = &kept_type};
    CHECK(!f->api->XLA_FFI_State_Get(&a));
    sum += (float)*(int *)a.state;
  }
  XLA_FFI_ExecutionContext_Get_Args data = {.struct_size =
                                                FFI_END(XLA_FFI_ExecutionContext_Get_Args, data),
                                            .ctx = f->ctx,
                                            .type_id = &kept_type};
  XLA_FFI_Error *e = f->api->XLA_FFI_ExecutionContext_Get(&data);
  if (e) return e;
  XLA_FFI_RunId_Get_Args run_id = {.struct_size = FFI_END(XLA_FFI_RunId_Get_Args, run_id),
                                   .ctx = f->ctx};
  XLA_FFI_DeviceOrdinal_Get_Args at = {
      .struct_size = FFI_END(XLA_FFI_DeviceOrdinal_Get_Args, device_ordinal), .ctx = f->ctx};
  CHECK(!f->api->XLA_FFI_RunId_Get(&run_id) && run_id.run_id == 77);
  CHECK(!f->api->XLA_FFI_DeviceOrdinal_Get(&at));
  sum += (float)*(int *)data.data + (float)at.device_ordinal;
  for (int i = 0; i < 4; i++) ((float *)ret(f, 0)->data)[i] = ((float *)arg(f, 0)->data)[i] + sum;
  return NULL;
}

static void test_state(PJRT_Client *c) {
  PJRT_LoadedExecutable *l;
  float out[8] = {0};
  int extra = 100;
  PJRT_FFI_Type_Info info = {.deleter = free_kept};
  PJRT_FFI_Type_Register_Args type = {.struct_size = PJRT_FFI_Type_Register_Args_END,
                                      .type_name = "kept",
                                      .type_name_size = 4,
                                      .type_info = &info};
  check_ok(EXTENSION(FFI)->PJRT_FFI_Type_Register(&type), "register type");
  CHECK(type.type_id > 0);
  kept_type.type_id = type.type_id;
  type.type_id++;
  check_error(EXTENSION(FFI)->PJRT_FFI_Type_Register(&type), PJRT_Error_Code_ALREADY_EXISTS,
              "'kept'");
  check_ok(add_stages("with_state", 1, instantiate, prepare, initialize, pointer_of(with_state)),
           "register");
  check_ok(compile_body(c, 2,
                        "%z = stablehlo.custom_call @with_state(%x) {api_version = 4 : i32, "
                        "backend_config = {a = 1 : i32}} : (tensor<4xf32>) -> tensor<4xf32>\n"
                        "%y = stablehlo.custom_call @with_state(%z) {api_version = 4 : i32, "
                        "backend_config = {a = 2 : i32}} : (tensor<4xf32>) -> tensor<4xf32>",
                        &l),
           "compile");
  CHECK(made == 2 && freed == 0);
  OK(ExecuteContext_Create, x);
  PJRT_FFI_UserData_Add_Args add = {.struct_size = PJRT_FFI_UserData_Add_Args_END,
                                    .context = x.context,
                                    .user_data = {kept_type.type_id, &extra}};
  check_ok(EXTENSION(FFI)->PJRT_FFI_UserData_Add(&add), "user data");
  check_error(EXTENSION(FFI)->PJRT_FFI_UserData_Add(&add), PJRT_Error_Code_ALREADY_EXISTS,
              "of type");
  for (int i = 0; i < 2; i++) {
    check_ok(run(c, l, x.context, 2, out), "run");
    CHECK(out[0] == 320 && out[3] == 323 && out[4] == 4 + 322);
  }
  check_error(run(c, l, NULL, 2, out), PJRT_Error_Code_NOT_FOUND, "has no data of type");
  OK(ExecuteContext_Destroy, d, .context = x.context);
  CHECK(prepared >= 9);
  destroy_loaded(l);
  destroy_client(c);
  CHECK(made == freed);
}

/* ---- errors, and what is not there ---- */

static XLA_FFI_Error *fails(XLA_FFI_CallFrame *f) {
  return asks_version(f) ? NULL : fail(f, "it is the wrong day");
}
static XLA_FFI_Error *old_version(XLA_FFI_CallFrame *f) {
  if (asks_version(f))
    ((XLA_FFI_Metadata_Extension *)f->extension_start)->metadata->api_version.major_version = 7;
  return NULL;
}

static void test_errors(PJRT_Client *c) {
  PJRT_LoadedExecutable *l;
  check_ok(add_handler("fails", "terrazzo", fails), "register");
  check_ok(add_handler("fails", "cpu", fails), "the same again");
  check_error(add_handler("fails", "terrazzo", see_attrs), PJRT_Error_Code_ALREADY_EXISTS, "fails");
  check_error(add_handler("other", "CUDA", fails), PJRT_Error_Code_INVALID_ARGUMENT, "'CUDA'");
  check_error(add_handler("", "cpu", fails), PJRT_Error_Code_INVALID_ARGUMENT, "without a name");
  check_error(add_handler("old", "cpu", old_version), PJRT_Error_Code_UNIMPLEMENTED, "7.3");
  check_error(add_handler("null", "cpu", NULL), PJRT_Error_Code_INVALID_ARGUMENT, "handler");
  check_error(add_stages("two_versions", 2, NULL, NULL, NULL, pointer_of(fails)),
              PJRT_Error_Code_UNIMPLEMENTED, "API version 2");
  check_fails(c,
              "%y = stablehlo.custom_call @fails(%x) {api_version = 4 : i32} : (tensor<4xf32>) -> "
              "tensor<4xf32>",
              "it is the wrong day");
  check_error(compile_body(c, 1,
                           "%y = stablehlo.custom_call @nobody(%x) {api_version = 4 : i32} : "
                           "(tensor<4xf32>) -> tensor<4xf32>",
                           &l),
              PJRT_Error_Code_NOT_FOUND, "calls 'nobody', and there is no function of that name");
  check_error(compile_body(c, 1,
                           "%y = stablehlo.custom_call @fails(%x) : (tensor<4xf32>) -> "
                           "tensor<4xf32>",
                           &l),
              PJRT_Error_Code_INVALID_ARGUMENT, "the handler of that name is typed");
  check_error(compile_body(c, 1,
                           "%y = stablehlo.custom_call @fails(%x) {api_version = 4 : i32, "
                           "backend_config = {t = tensor<f32>}} : (tensor<4xf32>) -> tensor<4xf32>",
                           &l),
              PJRT_Error_Code_UNIMPLEMENTED, "gives its handler 't'");
}

/* ---- misuse ---- */

/* What the table's functions say to arguments that are too short, or NULL. */
static XLA_FFI_Error *misuses(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  const XLA_FFI_Api *api = f->api;
  XLA_FFI_TypeId none = {12345};
#define REFUSED(name, last, ...)                                                                   \
  do {                                                                                             \
    XLA_FFI_##name##_Args a = {.struct_size = FFI_END(XLA_FFI_##name##_Args, last), __VA_ARGS__};  \
    XLA_FFI_##name##_Args cut = a;                                                                 \
    cut.struct_size = 8;                                                                           \
    XLA_FFI_Error *errors[] = {api->XLA_FFI_##name(&a), api->XLA_FFI_##name(&cut),                 \
                               api->XLA_FFI_##name(NULL)};                                         \
    for (size_t i = 0; i < COUNT(errors); i++) {                                                   \
      XLA_FFI_Error_GetMessage_Args m = {                                                          \
          .struct_size = FFI_END(XLA_FFI_Error_GetMessage_Args, message), .error = errors[i]};     \
      XLA_FFI_Error_Destroy_Args d = {.struct_size = FFI_END(XLA_FFI_Error_Destroy_Args, error),   \
                                      .error = errors[i]};                                         \
      api->XLA_FFI_Error_GetMessage(&m);                                                           \
      CHECK(errors[i] && m.message[0]);                                                            \
      api->XLA_FFI_Error_Destroy(&d);                                                              \
    }                                                                                              \
  } while (0)
  REFUSED(Handler_Register, traits, .name = {NULL, 3});
  REFUSED(Type_Register, type_id, .name = {"x", 1});
  REFUSED(ExecutionContext_Get, data, .ctx = f->ctx, .type_id = &none);
  REFUSED(State_Set, state, .ctx = f->ctx, .type_id = &none);
  REFUSED(State_Set, state, .ctx = f->ctx, .stage = 7, .type_id = &none);
  REFUSED(State_Get, state, .ctx = f->ctx, .type_id = &none);
  REFUSED(DeviceMemory_Allocate, data, .ctx = f->ctx, .size = 8, .alignment = 4096);
  REFUSED(DeviceMemory_Allocate, data, .ctx = f->ctx, .size = SIZE_MAX - 8, .alignment = 8);
  REFUSED(DeviceMemory_Free, data, .size = 8);
  REFUSED(ThreadPool_Schedule, data, .ctx = f->ctx);
  REFUSED(ThreadPool_NumThreads, num_threads, .ctx = f->ctx);
  REFUSED(Future_SetAvailable, future, .future = NULL);
  REFUSED(Future_SetError, error, .future = NULL);
  REFUSED(RunId_Get, run_id, .ctx = NULL);
  REFUSED(DeviceOrdinal_Get, device_ordinal, .ctx = NULL);
#undef REFUSED
  api->XLA_FFI_Error_Destroy(NULL);
  api->XLA_FFI_Error_GetMessage(NULL);
  memcpy(ret(f, 0)->data, arg(f, 0)->data, 16);
  return NULL;
}

static void test_misuse(PJRT_Client *c) {
  const PJRT_FFI_Extension *ffi = EXTENSION(FFI);
  float out[4] = {0};
  check_ok(add_handler("misuses", "terrazzo", misuses), "register");
  check_runs(c, 1,
             "%y = stablehlo.custom_call @misuses(%x) {api_version = 4 : i32} : (tensor<4xf32>) "
             "-> tensor<4xf32>",
             out);
  CHECK(out[3] == 3);
  PJRT_FFI_UserData_Add_Args add = {.struct_size = PJRT_FFI_UserData_Add_Args_END};
  check_error(ffi->PJRT_FFI_UserData_Add(&add), PJRT_Error_Code_INVALID_ARGUMENT, "context");
  add.context = (PJRT_ExecuteContext *)c;
  check_error(ffi->PJRT_FFI_UserData_Add(&add), PJRT_Error_Code_INVALID_ARGUMENT, "context");
  add.struct_size = 16;
  check_error(ffi->PJRT_FFI_UserData_Add(&add), PJRT_Error_Code_INVALID_ARGUMENT, "byte 16");
  PJRT_FFI_Register_Handler_Args h = {.struct_size = PJRT_FFI_Register_Handler_Args_END,
                                      .target_name_size = 4};
  check_error(ffi->PJRT_FFI_Register_Handler(&h), PJRT_Error_Code_INVALID_ARGUMENT, "target_name");
  PJRT_FFI_Type_Register_Args t = {.struct_size = PJRT_FFI_Type_Register_Args_END,
                                   .type_name_size = 4};
  check_error(ffi->PJRT_FFI_Type_Register(&t), PJRT_Error_Code_INVALID_ARGUMENT, "type_name");
  PJRT_LoadedExecutable *l;
  check_ok(compile_body(c, 1, "%y = stablehlo.add %x, %x : tensor<4xf32>", &l), "compile");
  check_error(run(c, l, (PJRT_ExecuteContext *)c, 1, out), PJRT_Error_Code_INVALID_ARGUMENT,
              "context");
  destroy_loaded(l);
}

/* ---- handlers that block, and those that answer later ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t opened = PTHREAD_COND_INITIALIZER;
static int arrived;

/* Nobody leaves before all eight have come. */
static XLA_FFI_Error *meets(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  pthread_mutex_lock(&gate);
  int turn = arrived / 8;
  if (++arrived % 8 == 0) pthread_cond_broadcast(&opened);
  while (arrived / 8 == turn) pthread_cond_wait(&opened, &gate);
  pthread_mutex_unlock(&gate);
  memcpy(ret(f, 0)->data, arg(f, 0)->data, 16);
  return NULL;
}

typedef struct later {
  const XLA_FFI_Api *api;
  XLA_FFI_Future *future;
  float *to;
  const float *from;
} later;

static void *answer(void *arg) {
  later l = *(later *)arg;
  memcpy(l.to, l.from, 16);
  if (l.from[0] == 0)
    l.api->XLA_FFI_Future_SetAvailable(&(XLA_FFI_Future_SetAvailable_Args){
        .struct_size = FFI_END(XLA_FFI_Future_SetAvailable_Args, future), .future = l.future});
  else
    l.api->XLA_FFI_Future_SetError(&(XLA_FFI_Future_SetError_Args){
        .struct_size = FFI_END(XLA_FFI_Future_SetError_Args, error),
        .future = l.future,
        .error = l.api->XLA_FFI_Error_Create(
            &(XLA_FFI_Error_Create_Args){.struct_size = FFI_END(XLA_FFI_Error_Create_Args, errc),
                                         .message = "came to nothing",
                                         .errc = 10})});
  return NULL;
}

static later pending;
static pthread_t answerer;

static XLA_FFI_Error *answers_later(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  XLA_FFI_Future_Create_Args a = {.struct_size =
                                      FFI_END(XLA_FFI_Future_Create_Args, extension_start)};
  CHECK(!f->api->XLA_FFI_Future_Create(&a));
  pending = (later){f->api, a.future, ret(f, 0)->data, arg(f, 0)->data};
  f->future = a.future;
  pthread_create(&answerer, NULL, answer, &pending);
  return NULL;
}

typedef struct shared_sum {
  _Atomic int left;
  float *at;
} shared_sum;

static void add_one(void *data) {
  shared_sum *s = data;
  pthread_mutex_lock(&gate);
  *s->at += 1;
  s->left--;
  pthread_cond_broadcast(&opened);
  pthread_mutex_unlock(&gate);
}

/* Tasks that the handler waits for, and memory of the device's. */
static XLA_FFI_Error *in_parts(XLA_FFI_CallFrame *f) {
  if (asks_version(f)) return NULL;
  XLA_FFI_DeviceMemory_Allocate_Args m = {.struct_size =
                                              FFI_END(XLA_FFI_DeviceMemory_Allocate_Args, data),
                                          .ctx = f->ctx,
                                          .size = 16,
                                          .alignment = 64};
  CHECK(!f->api->XLA_FFI_DeviceMemory_Allocate(&m) && (uintptr_t)m.data % 64 == 0);
  memset(m.data, 0, 16);
  int64_t threads = 0;
  XLA_FFI_ThreadPool_NumThreads_Args num = {
      .struct_size = FFI_END(XLA_FFI_ThreadPool_NumThreads_Args, num_threads),
      .ctx = f->ctx,
      .num_threads = &threads};
  CHECK(!f->api->XLA_FFI_ThreadPool_NumThreads(&num) && threads > 0);
  shared_sum s = {100, m.data};
  for (int i = 0; i < 100; i++)
    CHECK(!f->api->XLA_FFI_ThreadPool_Schedule(&(XLA_FFI_ThreadPool_Schedule_Args){
        .struct_size = FFI_END(XLA_FFI_ThreadPool_Schedule_Args, data),
        .ctx = f->ctx,
        .task = add_one,
        .data = &s}));
  pthread_mutex_lock(&gate);
  while (s.left) pthread_cond_wait(&opened, &gate);
  pthread_mutex_unlock(&gate);
  memcpy(ret(f, 0)->data, m.data, 16);
  XLA_FFI_DeviceMemory_Free_Args free = {.struct_size =
                                             FFI_END(XLA_FFI_DeviceMemory_Free_Args, data),
                                         .ctx = f->ctx,
                                         .size = 16,
                                         .data = m.data};
  CHECK(!f->api->XLA_FFI_DeviceMemory_Free(&free));
  return NULL;
}

#define CALLS(name)                                                                                \
  "%y = stablehlo.custom_call @" name "(%x) {api_version = 4 : i32} : (tensor<4xf32>) -> "         \
  "tensor<4xf32>"

static void test_blocking(PJRT_Client *c) {
  float out[32] = {0};
  check_ok(add_handler("meets", "terrazzo", meets), "register");
  check_ok(add_handler("answers_later", "terrazzo", answers_later), "register");
  check_ok(add_handler("in_parts", "terrazzo", in_parts), "register");
  for (int i = 0; i < 20; i++) check_runs(c, 8, CALLS("meets"), out);
  CHECK(out[0] == 0 && out[31] == 31);
  memset(out, 0, sizeof out);
  check_runs(c, 1, CALLS("answers_later"), out);
  pthread_join(answerer, NULL);
  CHECK(out[3] == 3);
  check_fails(c,
              "%o = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
              "%z = stablehlo.add %x, %o : tensor<4xf32>\n"
              "%y = stablehlo.custom_call @answers_later(%z) {api_version = 4 : i32} : "
              "(tensor<4xf32>) -> tensor<4xf32>",
              "came to nothing");
  pthread_join(answerer, NULL);
  check_runs(c, 8, CALLS("in_parts"), out);
  CHECK(out[0] == 100 && out[28] == 100);
}

int main(void) {
  PJRT_Client *c = make_client(8, 2);
  test_attrs(c);
  test_buffers(c);
  test_untyped(c);
  test_errors(c);
  test_misuse(c);
  test_blocking(c);
  test_state(c); /* destroys it */
  return UNIT_END();
}
