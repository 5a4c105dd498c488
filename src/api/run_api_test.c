/* Compiling and running, and layouts, from C: what is right, and what a caller gets wrong. */
#include "terrazzo/layout.h"
#include "tests/api.h"

static const char program[] =
    "sdy.mesh @mesh = <[\"x\"=2]>\n"
    "func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>},\n"
    "    %none: tensor<0xf32>) -> tensor<4xf32> {\n"
    "  %y = stablehlo.add %x, %x : tensor<4xf32>\n"
    "  return %y : tensor<4xf32>\n"
    "}\n";

static void test_run(const char *executor) {
  tz_program *p;
  tz_runtime *r;
  const float x[4] = {1, 2, 3, 4};
  float y[4] = {0};
  CHECK(fine(tz_compile(program, sizeof program - 1, NULL, &p)));
  CHECK(fine(tz_runtime_create_on(executor, 1, &r)));
  CHECK(tz_program_devices(p) == 2 && tz_program_num_params(p) == 2);
  tz_tensor t = tz_program_param(p, 0);
  CHECK(strcmp(t.type, "f32") == 0 && t.dims[0] == 4 && t.local_dims[0] == 2 && t.bytes == 16);
  CHECK(fine(tz_run(r, p, (const void *[]){x, NULL}, (void *[]){y})) && y[0] == 2 && y[3] == 8);
  /* wrong */
  CHECK(refused(tz_run(r, p, (const void *[]){NULL, NULL}, (void *[]){y}), "input 0 is NULL"));
  CHECK(refused(tz_run(r, p, (const void *[]){x, NULL}, (void *[]){NULL}), "output 0 is NULL"));
  CHECK(refused(tz_run(r, p, NULL, (void *[]){y}), "inputs are NULL"));
  CHECK(refused(tz_run(NULL, p, NULL, NULL), "NULL") && refused(tz_run(r, NULL, NULL, NULL), ""));
  t = tz_program_param(p, 2);
  CHECK(strcmp(t.type, "") == 0 && strcmp(t.sharding, "") == 0 && t.bytes == 0);
  CHECK(tz_program_result(p, 1).rank == 0 && tz_program_result(NULL, 0).rank == 0);
  tz_program_free(p);
  tz_runtime_free(r);
  CHECK(refused(tz_compile("module {", 8, NULL, &p), "error:") && !p);
  CHECK(refused(tz_compile(NULL, 8, NULL, &p), "NULL") &&
        refused(tz_compile("", 0, NULL, NULL), ""));
  CHECK(refused(tz_runtime_create(1, NULL), "NULL"));
  CHECK(refused(tz_runtime_create_on("gpu", 1, &r), "no executor 'gpu'") && !r);
  CHECK(tz_program_devices(NULL) == 0 && tz_program_stats(NULL).steps == 0 &&
        !tz_program_text(NULL) && tz_program_num_results(NULL) == 0);
  CHECK(tz_error_code(NULL) == 0 && strcmp(tz_error_message(NULL), "") == 0);
}

static void test_layouts(void) {
  tz_sharding *s, *none;
  tz_layout *l;
  tz_redistribution *d;
  char *text;
  CHECK(fine(tz_sharding_read("pspec", "P('x', None)", "x=2,y=4", TZ_ANY_RANK, &s)));
  CHECK(tz_sharding_slice_at(s, 7) == 1 && tz_sharding_device_at(s, 7) == 7);
  CHECK(tz_sharding_slice_at(s, 8) == -1 && tz_sharding_device_at(s, -1) == -1);
  CHECK(refused(tz_sharding_write(s, "nothing", &text), "found 'nothing'") && !text);
  CHECK(refused(tz_sharding_write(NULL, "xla", &text), "NULL") && !text);
  CHECK(refused(tz_sharding_read(NULL, "", NULL, 1, &none), "NULL") && !none);
  CHECK(refused(tz_sharding_read("sdy", "", NULL, 1, NULL), "NULL"));
  CHECK(refused(tz_sharding_over_mesh(s, NULL, &none), "NULL") && !none);
  tz_layout_spec spec = {.num_axes = 2};
  CHECK(refused(tz_layout_create(&spec, &l), "NULL") && !l);
  CHECK(fine(tz_layout_from_strategy((int64_t[]){2, 1}, 2, 4, false, &l)));
  CHECK(fine(tz_redistribution_create(l, l, (int64_t[]){4, 4}, 2, &d)));
  size_t steps = tz_redistribution_num_steps(d);
  CHECK(strcmp(tz_redistribution_get_step(d, steps).op, "") == 0);
  tz_redistribution_free(d);
  CHECK(refused(tz_layout_ranges(l, NULL, 0, (int64_t[4]){0}), "NULL"));
  CHECK(refused(tz_redistribution_create(l, NULL, NULL, 0, &d), "NULL") && !d);
  CHECK(tz_layout_rank(NULL) == 0 && tz_sharding_rank(NULL) == 0 && !tz_layout_strategy(NULL) &&
        strcmp(tz_sharding_mesh(NULL), "") == 0 && tz_redistribution_num_ranks(NULL) == 0);
  tz_sharding_free(s);
  tz_layout_free(l);
}

int main(void) {
  test_run(NULL);
  test_run("cpu");
  test_run("plain");
  test_layouts();
  return UNIT_END();
}
