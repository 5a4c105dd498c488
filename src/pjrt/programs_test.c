/* What is asked of programs besides running them, and callers of other versions. */
#include <stdlib.h>

#include "base/base.h"
#include "exec/denormals.h"
#include "tests/pjrt.h"

static const char adds[] = "module @add { func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                           "  %y = stablehlo.add %x, %x : tensor<4xf32>"
                           " loc(\"jit(f)/twice\"(\"user.py\":7:3))\n"
                           "  return %y : tensor<4xf32> } }";

/* x of 8x4 over two devices along its rows: its columns' sums */
static const char sums[] =
    "module @sum attributes {mhlo.num_partitions = 2 : i32, mhlo.num_replicas = 1 : i32} {\n"
    "  sdy.mesh @m = <[\"x\"=2]>\n"
    "  func.func @main(%x: tensor<8x4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>})\n"
    "      -> (tensor<4xf32>, tensor<8x4xf32>) {\n"
    "    %zero = stablehlo.constant dense<0.0> : tensor<f32>\n"
    "    %y = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]\n"
    "        : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>\n"
    "    return %y, %x : tensor<4xf32>, tensor<8x4xf32> } }";

static PJRT_LoadedExecutable *load(PJRT_Client *c, const char *text) {
  PJRT_LoadedExecutable *l = NULL;
  check_ok(compile(c, text, &l), "compile");
  return l;
}

static PJRT_Executable *executable_of(PJRT_LoadedExecutable *l) {
  OK(LoadedExecutable_GetExecutable, a, .loaded_executable = l);
  return a.executable;
}

static void destroy_executable(PJRT_Executable *e) { OK(Executable_Destroy, a, .executable = e); }

/* ---- older callers ---- */

/* They had no kv_try_get_callback: what lies behind their struct is theirs. */
static void test_older_create(void) {
  struct {
    PJRT_Client_Create_Args a;
    uint64_t behind;
  } s;
  memset(&s, 0xab, sizeof s);
  s.a.struct_size = offsetof(PJRT_Client_Create_Args, kv_try_get_callback);
  s.a.create_options = NULL;
  s.a.num_options = 0;
  check_ok(GetPjrtApi()->PJRT_Client_Create(&s.a), "Client_Create");
  CHECK(s.a.struct_size == offsetof(PJRT_Client_Create_Args, kv_try_get_callback));
  CHECK((uintptr_t)s.a.kv_try_get_user_arg == 0xababababababababu);
  CHECK(s.behind == 0xababababababababu);
  destroy_client(s.a.client);
  s.a.struct_size -= 8; /* nobody ever had so little */
  check_error(GetPjrtApi()->PJRT_Client_Create(&s.a), PJRT_Error_Code_INVALID_ARGUMENT,
              "the caller's struct ends at byte 64");
}

static void test_older_questions(PJRT_Client *c) {
  PJRT_LoadedExecutable *l = load(c, adds);
  PJRT_Executable *e = executable_of(l);
  PJRT_Executable_GetCompiledMemoryStats_Args s = {
      .struct_size = offsetof(PJRT_Executable_GetCompiledMemoryStats_Args, peak_memory_in_bytes),
      .executable = e,
      .peak_memory_in_bytes = 77};
  check_ok(GetPjrtApi()->PJRT_Executable_GetCompiledMemoryStats(&s), "memory");
  CHECK(s.argument_size_in_bytes == 16 && s.output_size_in_bytes == 16);
  CHECK(s.peak_memory_in_bytes == 77);

  /* a size that leaves out the last field, as callers up to 0.72 give it */
  PJRT_Plugin_Attributes_Args p = {.struct_size =
                                       offsetof(PJRT_Plugin_Attributes_Args, num_attributes)};
  check_ok(GetPjrtApi()->PJRT_Plugin_Attributes(&p), "attributes");
  CHECK(p.attributes && p.num_attributes == 2);

  float in[4] = {1, 2, 3, 4}, out[4];
  PJRT_Buffer *x = put(c, 0, in, 4), *y = NULL;
  PJRT_Buffer *const *arguments = &x;
  PJRT_Buffer **results = &y;
  PJRT_ExecuteOptions o = {.struct_size = offsetof(PJRT_ExecuteOptions, context)};
  OK(LoadedExecutable_Execute, r, .executable = l, .options = &o, .argument_lists = &arguments,
     .num_devices = 1, .num_args = 1, .output_lists = &results);
  CHECK(r.options == &o && o.struct_size == offsetof(PJRT_ExecuteOptions, context));
  get(y, out, 4);
  CHECK(out[3] == 8);
  destroy_buffer(x);
  destroy_buffer(y);
  destroy_executable(e);
  destroy_loaded(l);
}

/* ---- the program as text, and what it costs ---- */

static bool text_has(const PJRT_Program *p, const char *what) {
  size_t n = strlen(what);
  for (size_t i = 0; i + n <= p->code_size; i++)
    if (memcmp(p->code + i, what, n) == 0) return true;
  return false;
}

static PJRT_Program text_of(PJRT_Executable *e) {
  PJRT_Program p = {.struct_size = PJRT_Program_END};
  OK(Executable_OptimizedProgram, a, .executable = e, .program = &p);
  p.code = malloc(p.code_size);
  OK(Executable_OptimizedProgram, b, .executable = e, .program = &p);
  return p;
}

/* Callers before 0.91 read the shardings of results from the module, and need no more of it; who
 * knows the Shardings extension gets the program of one device. */
static void test_text(PJRT_Client *c) {
  PJRT_LoadedExecutable *l = load(c, sums);
  PJRT_Executable *e = executable_of(l);
  PJRT_Program p = text_of(e);
  CHECK(text_has(&p, "mhlo.spmd_parameters_shardings = [\"\\08\\03\\1A\\02\\02\\01"));
  CHECK(text_has(&p, "mhlo.spmd_output_sharding = \"\\08\\02*"));
  CHECK(text_has(&p, "(%arg0: tensor<4x4xf32>) -> (tensor<4xf32>, tensor<4x4xf32>)"));
  CHECK(!text_has(&p, "stablehlo.all_reduce"));
  free(p.code);
  PJRT_Shardings_PJRT_Executable_OutputShardings_Args s = {
      .struct_size = PJRT_Shardings_PJRT_Executable_OutputShardings_Args_END, .executable = e};
  check_ok(EXTENSION(Shardings)->PJRT_Shardings_PJRT_Executable_OutputShardings(&s), "shardings");
  p = text_of(e);
  CHECK(text_has(&p, "stablehlo.all_reduce") && text_has(&p, "loc(") &&
        text_has(&p, "mhlo.spmd_output_sharding = "));
  free(p.code);
  destroy_executable(e);
  destroy_loaded(l);
}

static double property(const PJRT_Executable_GetCostAnalysis_Args *a, const char *name) {
  for (size_t i = 0; i < a->num_properties; i++)
    if (a->properties[i].name_size == strlen(name) &&
        memcmp(a->properties[i].name, name, strlen(name)) == 0)
      return (double)a->properties[i].float_value;
  return -1;
}

/* Of one device: of its half of x three sums of four columns, and those of both. */
static void test_cost(PJRT_Client *c) {
  PJRT_LoadedExecutable *l = load(c, sums);
  PJRT_Executable *e = executable_of(l);
  OK(Executable_GetCostAnalysis, a, .executable = e);
  CHECK(property(&a, "flops") == 12 + 4 && property(&a, "transcendentals") == 0);
  CHECK(property(&a, "bytes accessed") >= 4 * (16 + 4 + 4 + 16 + 16));
  OK(Executable_GetCompiledMemoryStats, m, .executable = e);
  CHECK(m.argument_size_in_bytes == 64 && m.output_size_in_bytes == 16 + 64);
  CHECK(m.temp_size_in_bytes > 0 && m.total_size_in_bytes == 64 + 80 + m.temp_size_in_bytes);
  destroy_executable(e);
  destroy_loaded(l);
}

/* ---- without devices ---- */

static PJRT_TopologyDescription *topology(const char *name) {
  OK(TopologyDescription_Create, a, .topology_name = name, .topology_name_size = strlen(name));
  return a.topology;
}

static size_t count(PJRT_TopologyDescription *t) {
  OK(TopologyDescription_GetDeviceDescriptions, a, .topology = t);
  for (size_t i = 0; i < a.num_descriptions; i++) {
    OK(DeviceDescription_Id, d, .device_description = a.descriptions[i]);
    CHECK(d.id == (int)i);
  }
  return a.num_descriptions;
}

static void destroy_topology(PJRT_TopologyDescription *t) {
  OK(TopologyDescription_Destroy, a, .topology = t);
}

static void test_topology_names(void) {
  static const struct {
    const char *name;
    size_t devices;
  } good[] = {{"", 1}, {"7", 7}, {"4x2", 8}, {"2x2x2", 8}};
  for (size_t i = 0; i < COUNT(good); i++) {
    PJRT_TopologyDescription *t = topology(good[i].name);
    CHECK(count(t) == good[i].devices);
    destroy_topology(t);
  }
  static const char *const bad[] = {"0", "x", "4x", "x4", "-1", "v5e", "99999999999", "65536x2"};
  for (size_t i = 0; i < COUNT(bad); i++) {
    CALL(TopologyDescription_Create, a, .topology_name = bad[i],
         .topology_name_size = strlen(bad[i]));
    check_error(a_error, PJRT_Error_Code_INVALID_ARGUMENT, "expected a number of devices");
  }
}

static void test_topology_bytes(void) {
  PJRT_TopologyDescription *t = topology("4x2");
  OK(TopologyDescription_Serialize, s, .topology = t);
  OK(TopologyDescription_Deserialize, d, .serialized_topology = s.serialized_bytes,
     .serialized_topology_size = s.serialized_bytes_size);
  CHECK(count(d.topology) == 8);
  OK(TopologyDescription_Fingerprint, f, .topology = t);
  OK(TopologyDescription_Fingerprint, g, .topology = d.topology);
  CHECK(f.fingerprint == g.fingerprint);
  CALL(TopologyDescription_Deserialize, cut, .serialized_topology = s.serialized_bytes,
       .serialized_topology_size = s.serialized_bytes_size - 1);
  check_error(cut_error, PJRT_Error_Code_INVALID_ARGUMENT, "not a topology");
  s.serialized_topology_deleter(s.serialized_topology);
  destroy_topology(t);
  destroy_topology(d.topology);
}

static void test_topology_shapes(void) {
  PJRT_TopologyDescription *t = topology("2");
  OK(TopologyDescription_GetMemorySpaceKindIds, k, .topology = t);
  CHECK(k.num_memory_space_kind_ids == 3 && k.memory_space_kind_ids[2] == 2);
  int64_t dims[] = {3, 5};
  OK(TopologyDescription_MakeCanonicalShapeForMemorySpace, s, .topology = t, .dims = dims,
     .num_dims = 2, .element_type = PJRT_Buffer_Type_F32, .memory_space_kind_id = 1);
  /* f32 { 3, 5 } layout { { 1, 0 }, memory space 1 } */
  static const char want[] = "\x10\x0b\x1a\x02\x03\x05\x2a\x06\x0a\x02\x01\x00\x40\x01";
  CHECK(s.serialized_shape_size == sizeof want - 1);
  CHECK(memcmp(s.serialized_shape, want, sizeof want - 1) == 0);
  s.serialized_shape_deleter(s.serialized_shape);
  CALL(TopologyDescription_MakeCanonicalShapeForMemorySpace, bad, .topology = t,
       .element_type = PJRT_Buffer_Type_F32, .memory_space_kind_id = 9);
  check_error(bad_error, PJRT_Error_Code_INVALID_ARGUMENT, "no kind of memory");
  destroy_topology(t);
}

static PJRT_Executable *compile_for(PJRT_TopologyDescription *t, const char *text) {
  PJRT_Program p = {.struct_size = PJRT_Program_END, .format = "mlir", .format_size = 4};
  p.code = (char *)(uintptr_t)text;
  p.code_size = strlen(text);
  OK(Compile, a, .topology = t, .program = &p);
  return a.executable;
}

/* Compiled for devices that are not there, loaded on those that are, or refused. */
static void test_ahead_of_time(PJRT_Client *two) {
  PJRT_TopologyDescription *t = topology("2");
  PJRT_Executable *e = compile_for(t, sums);
  destroy_topology(t);
  OK(Client_Load, l, .client = two, .executable = e);
  float in[16], out[4];
  for (int i = 0; i < 16; i++) in[i] = (float)i;
  OK(Client_Devices, d, .client = two);
  PJRT_Buffer *x[2], *y[2][2], *const *lists[2] = {&x[0], &x[1]}, **results[2] = {y[0], y[1]};
  int64_t dims[] = {4, 4};
  for (int i = 0; i < 2; i++) {
    OK(Client_BufferFromHostBuffer, a, .client = two, .data = in, .type = PJRT_Buffer_Type_F32,
       .dims = dims, .num_dims = 2, .host_buffer_semantics = 2, .device = d.devices[i]);
    destroy_event(a.done_with_host_buffer);
    x[i] = a.buffer;
  }
  PJRT_ExecuteOptions o = {.struct_size = PJRT_ExecuteOptions_END};
  OK(LoadedExecutable_Execute, r, .executable = l.loaded_executable, .options = &o,
     .argument_lists = lists, .num_devices = 2, .num_args = 1, .output_lists = results);
  get(y[1][0], out, 4);
  CHECK(out[0] == 48 && out[3] == 72);
  for (int i = 0; i < 2; i++) {
    destroy_buffer(x[i]);
    destroy_buffer(y[i][0]);
    destroy_buffer(y[i][1]);
  }
  destroy_loaded(l.loaded_executable);
  PJRT_Client *one = make_client(1, 0);
  CALL(Client_Load, bad, .client = one, .executable = e);
  check_error(bad_error, PJRT_Error_Code_INVALID_ARGUMENT, "no device 1");
  destroy_client(one);
  destroy_executable(e);
}

/* A serialized one as well, by the options that come with it. */
static void test_load_elsewhere(PJRT_Client *two) {
  PJRT_TopologyDescription *t = topology("1");
  PJRT_Executable *e = compile_for(t, adds);
  /* build options { replicas 1, partitions 1, assignment { 1, 1, { 1 } } } */
  static const char options[] = "\x1a\x0f\x20\x01\x28\x01\x4a\x09\x08\x01\x10\x01\x1a\x03\x0a"
                                "\x01\x01";
  OK(Client_Load, l, .client = two, .executable = e, .compile_options = options,
     .compile_options_size = sizeof options - 1);
  OK(LoadedExecutable_AddressableDevices, d, .executable = l.loaded_executable);
  OK(Client_Devices, all, .client = two);
  CHECK(d.num_addressable_devices == 1 && d.addressable_devices[0] == all.devices[1]);
  destroy_loaded(l.loaded_executable);
  CALL(Client_Load, bad, .client = two, .executable = e, .compile_options = "\x1a\x02\x28\x02",
       .compile_options_size = 4);
  check_error(bad_error, PJRT_Error_Code_INVALID_ARGUMENT, "for a program of 1 and 1");
  destroy_executable(e);
  destroy_topology(t);
}

/* ---- traces ---- */

static const PLUGIN_Profiler_Api *profiler_api(void) {
  const PJRT_Profiler_Extension *e = EXTENSION(Profiler);
  CHECK(e && e->base.struct_size == PJRT_Profiler_Extension_END);
  return e ? e->profiler_api : NULL;
}

static bool bytes_have(const uint8_t *bytes, size_t size, const char *what) {
  PJRT_Program p = {.code = (char *)(uintptr_t)bytes, .code_size = size};
  return text_has(&p, what);
}

static void refuse(const PLUGIN_Profiler_Api *p, PLUGIN_Profiler_Error *e, const char *text) {
  PLUGIN_Profiler_Error_GetCode_Args c = {.error = e};
  PLUGIN_Profiler_Error_Message_Args m = {.error = e};
  PLUGIN_Profiler_Error_Destroy_Args d = {.error = e};
  CHECK(e && !p->error_get_code(&c) && c.code != 0);
  p->error_message(&m);
  CHECK(bytes_have((const uint8_t *)m.message, m.message_size, text));
  p->error_destroy(&d);
}

/* What runs between start and stop is there, with its names; ours or the caller's buffer. */
static void test_profiler(PJRT_Client *client) {
  const PLUGIN_Profiler_Api *p = profiler_api();
  PLUGIN_Profiler_Create_Args c = {0};
  CHECK(!p->create(&c));
  PLUGIN_Profiler_Start_Args start = {.profiler = c.profiler};
  PLUGIN_Profiler_Stop_Args stop = {.profiler = c.profiler};
  PLUGIN_Profiler_CollectData_Args d = {.profiler = c.profiler};
  PLUGIN_Profiler_Destroy_Args end = {.profiler = c.profiler};
  CHECK(!p->start(&start) && !p->start(&start));
  refuse(p, p->collect_data(&d), "the profiler is running");
  PJRT_LoadedExecutable *l = load(client, adds);
  float in[4] = {1, 2, 3, 4}, out[4];
  PJRT_Buffer *x = put(client, 0, in, 4), *y = NULL, *const *arguments = &x, **results = &y;
  OK(LoadedExecutable_Execute, r, .executable = l, .argument_lists = &arguments, .num_devices = 1,
     .num_args = 1, .output_lists = &results);
  get(y, out, 4);
  CHECK(!p->stop(&stop) && !p->stop(&stop) && !p->collect_data(&d));
  CHECK(bytes_have(d.buffer, d.buffer_size_in_bytes, "/device:CUSTOM:terrazzo:0"));
  CHECK(bytes_have(d.buffer, d.buffer_size_in_bytes, "XLA Ops"));
  CHECK(bytes_have(d.buffer, d.buffer_size_in_bytes, "stablehlo.add"));
  CHECK(bytes_have(d.buffer, d.buffer_size_in_bytes, "jit(f)/twice"));
  CHECK(bytes_have(d.buffer, d.buffer_size_in_bytes, "user.py:7:3"));
  CHECK(!bytes_have(d.buffer, d.buffer_size_in_bytes, "/device:CUSTOM:terrazzo:1"));
  uint8_t *mine = malloc(d.buffer_size_in_bytes), *theirs = d.buffer;
  d.buffer = mine;
  CHECK(!p->collect_data(&d) && d.buffer == mine);
  CHECK(memcmp(mine, theirs, d.buffer_size_in_bytes) == 0);
  free(mine);
  CHECK(!p->destroy(&end));
  start.profiler = NULL;
  refuse(p, p->start(&start), "profiler is NULL");
  destroy_buffer(x);
  destroy_buffer(y);
  destroy_loaded(l);
}

/* jaxlib compiles on threads that flush denormals, and runs programs from such: a constant is what
 * the program says all the same. */
static void test_denormal_constants(PJRT_Client *c) {
  u64 arithmetic = denormals_word();
  denormals_flush(true);
  PJRT_LoadedExecutable *l =
      load(c, "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
              "%h = stablehlo.convert %x : (tensor<4xf32>) -> tensor<4xbf16>\n"
              "%one = stablehlo.constant dense<1.0> : tensor<4xbf16>\n"
              "%least = stablehlo.constant dense<0x0001> : tensor<4xbf16>\n"
              "%p = stablehlo.compare EQ, %h, %one, FLOAT : (tensor<4xbf16>, tensor<4xbf16>) -> "
              "tensor<4xi1>\n"
              "%s = stablehlo.select %p, %h, %least : tensor<4xi1>, tensor<4xbf16>\n"
              "%b = stablehlo.bitcast_convert %s : (tensor<4xbf16>) -> tensor<4xi16>\n"
              "%y = stablehlo.convert %b : (tensor<4xi16>) -> tensor<4xf32>\n"
              "return %y : tensor<4xf32> }");
  CHECK(denormals_flushed());
  denormals_set_word(arithmetic);
  const float in[] = {1, 2, 3, 4};
  float out[4];
  PJRT_Buffer *x = put(c, 0, in, 4), *y = NULL, *const *args = &x, **outs = &y;
  PJRT_ExecuteOptions o = {.struct_size = PJRT_ExecuteOptions_END};
  OK(LoadedExecutable_Execute, a, .executable = l, .options = &o, .argument_lists = &args,
     .num_devices = 1, .num_args = 1, .output_lists = &outs);
  get(y, out, 4);
  CHECK(out[0] == 0x3f80 && out[1] == 1 && out[3] == 1);
  destroy_buffer(x);
  destroy_buffer(y);
  destroy_loaded(l);
}

static void test_all(void) {
  test_topology_names();
  test_topology_bytes();
  test_topology_shapes();
  PJRT_Client *c = make_client(2, 0);
  test_older_questions(c);
  test_text(c);
  test_cost(c);
  test_denormal_constants(c);
  test_ahead_of_time(c);
  test_load_elsewhere(c);
  test_profiler(c);
  destroy_client(c);
}

int main(void) {
  unsetenv("TERRAZZO_NUM_DEVICES");
  unsetenv("XLA_FLAGS");
  test_older_create();
  test_all();
  pjrt_newer_by = 64;
  test_all();
  return UNIT_END();
}
