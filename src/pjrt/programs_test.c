/* What is asked of programs besides running them, and callers of other versions. */
#include <stdlib.h>

#include "tests/pjrt.h"

static const char adds[] = "module @add { func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                           "  %y = stablehlo.add %x, %x : tensor<4xf32>\n"
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

/* Callers before 0.91 read the shardings of results from the module. */
static void test_text(PJRT_Client *c) {
  PJRT_LoadedExecutable *l = load(c, sums);
  PJRT_Executable *e = executable_of(l);
  PJRT_Program p = {.struct_size = PJRT_Program_END};
  OK(Executable_OptimizedProgram, a, .executable = e, .program = &p);
  p.code = malloc(p.code_size);
  OK(Executable_OptimizedProgram, b, .executable = e, .program = &p);
  CHECK(text_has(&p, "mhlo.spmd_parameters_shardings = [\"\\08\\03\\1A\\02\\02\\01"));
  CHECK(text_has(&p, "mhlo.spmd_output_sharding = \"\\08\\02*"));
  CHECK(text_has(&p, "stablehlo.all_reduce"));
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

int main(void) {
  unsetenv("TERRAZZO_NUM_DEVICES");
  test_older_create();
  PJRT_Client *c = make_client(2, 0);
  test_older_questions(c);
  test_text(c);
  test_cost(c);
  destroy_client(c);
  return UNIT_END();
}
