/* Compiling and running, and layouts, from C: what is right, and what a caller gets wrong. */
#include "terrazzo/layout.h"

#include "api/api.h"
#include "api/images.h"
#include "tests/api.h"

static const char source[] =
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
  CHECK(fine(tz_compile(source, sizeof source - 1, NULL, &p)));
  CHECK(fine(tz_runtime_create_on(executor, 1, &r)));
  CHECK(tz_program_devices(p) == 2 && tz_program_num_params(p) == 2);
  tz_tensor t = api_param(p, 0);
  CHECK(strcmp(t.type, "f32") == 0 && t.dims[0] == 4 && t.local_dims[0] == 2 && t.bytes == 16);
  CHECK(fine(tz_run(r, p, (const void *[]){x, NULL}, (void *[]){y})) && y[0] == 2 && y[3] == 8);
  /* wrong */
  CHECK(refused(tz_run(r, p, (const void *[]){NULL, NULL}, (void *[]){y}), "input 0 is NULL"));
  CHECK(refused(tz_run(r, p, (const void *[]){x, NULL}, (void *[]){NULL}), "output 0 is NULL"));
  CHECK(refused(tz_run(r, p, NULL, (void *[]){y}), "inputs are NULL"));
  CHECK(refused(tz_run(NULL, p, NULL, NULL), "NULL") && refused(tz_run(r, NULL, NULL, NULL), ""));
  t = api_param(p, 2);
  CHECK(strcmp(t.type, "") == 0 && strcmp(t.sharding, "") == 0 && t.bytes == 0);
  CHECK(api_result(p, 1).rank == 0 && api_result(NULL, 0).rank == 0);
  tz_program_free(p);
  tz_runtime_free(r);
  CHECK(refused(tz_compile("module {", 8, NULL, &p), "error:") && !p);
  CHECK(refused(tz_compile(NULL, 8, NULL, &p), "NULL") &&
        refused(tz_compile("", 0, NULL, NULL), ""));
  CHECK(refused(tz_runtime_create(1, NULL), "NULL"));
  CHECK(refused(tz_runtime_create_on("gpu", 1, &r), "no executor 'gpu'") && !r);
  CHECK(tz_program_devices(NULL) == 0 && api_stats(NULL).steps == 0 && !tz_program_text(NULL) &&
        tz_program_num_results(NULL) == 0);
  CHECK(tz_error_code(NULL) == 0 && strcmp(tz_error_message(NULL), "") == 0);
}

/* Twice its operand; knows no question about its version, so that it is taken for an old one. */
static XLA_FFI_Error *twice(XLA_FFI_CallFrame *f) {
  if (f->extension_start) return NULL;
  const XLA_FFI_Buffer *in = f->args.args[0], *out = f->rets.rets[0];
  for (int64_t i = 0; i < in->dims[0]; i++) ((float *)out->data)[i] = 2 * ((float *)in->data)[i];
  return NULL;
}

static void test_handler(const char *executor) {
  static const char calls[] =
      "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
      "  %y = stablehlo.custom_call @api_twice(%x) {api_version = 4 : i32} : (tensor<4xf32>) -> "
      "tensor<4xf32>\n  return %y : tensor<4xf32>\n}\n";
  tz_program *p;
  tz_runtime *r;
  XLA_FFI_Handler *function = twice;
  const float x[4] = {1, 2, 3, 4};
  float y[4] = {0};
  void *handler;
  memcpy(&handler, &function, sizeof handler);
  CHECK(fine(tz_compile(calls, sizeof calls - 1, NULL, &p)));
  CHECK(fine(tz_runtime_create_on(executor, 1, &r)));
  if (strcmp(executor, "cpu") == 0)
    CHECK(refused(tz_run(r, p, (const void *[]){x}, (void *[]){y}), "calls 'api_twice'"));
  CHECK(refused(tz_register_handler("api_twice", NULL), "no function"));
  CHECK(refused(tz_register_handler(NULL, handler), "NULL"));
  CHECK(fine(tz_register_handler("api_twice", handler)));
  CHECK(fine(tz_run(r, p, (const void *[]){x}, (void *[]){y})) && y[0] == 2 && y[3] == 8);
  tz_program_free(p);
  tz_runtime_free(r);
}

typedef struct runner {
  pthread_t thread;
  tz_runtime *r;
  tz_program *p;
} runner;

static void *run_thrice(void *user) {
  runner *n = user;
  for (int i = 0; i < 3; i++) {
    const float x[4] = {1, 2, 3, 4};
    float y[4] = {0};
    CHECK(fine(tz_run(n->r, n->p, (const void *[]){x, NULL}, (void *[]){y})) && y[2] == 6);
  }
  return NULL;
}

static void run_on_threads(runner *n, u32 count) {
  for (u32 i = 0; i < count; i++) pthread_create(&n[i].thread, NULL, run_thrice, &n[i]);
  for (u32 i = 0; i < count; i++) pthread_join(n[i].thread, NULL);
}

static u64 images_made(tz_runtime *r) {
  executor_stats s;
  executor_get_stats(r->on, &s);
  return s.images;
}

/* One image a program and runtime, however often and on whatever threads it runs; who has images
 * may go in any order. */
static void test_images(void) {
  enum { P = 5 };
  tz_runtime *r[2];
  tz_program *p[P];
  for (int i = 0; i < 2; i++) CHECK(fine(tz_runtime_create(2, &r[i])));
  for (int i = 0; i < P; i++) CHECK(fine(tz_compile(source, sizeof source - 1, NULL, &p[i])));
  run_on_threads((runner[]){{.r = r[0], .p = p[0]},
                            {.r = r[0], .p = p[0]},
                            {.r = r[0], .p = p[0]},
                            {.r = r[0], .p = p[1]},
                            {.r = r[1], .p = p[0]},
                            {.r = r[1], .p = p[0]}},
                 6);
  CHECK(images_made(r[0]) == 2 && images_made(r[1]) == 1);
  tz_program_free(p[0]);
  for (int i = 1; i < P; i++) run_thrice(&(runner){.r = r[0], .p = p[i]});
  CHECK(images_made(r[0]) == 2 + P - 2 && r[0]->images.len < P);
  tz_runtime_free(r[0]);
  for (int i = 1; i < P; i++) run_thrice(&(runner){.r = r[1], .p = p[i]});
  CHECK(images_made(r[1]) == P);
  for (int i = 1; i < P; i++) tz_program_free(p[i]);
  tz_runtime_free(r[1]);
  tz_runtime_free(NULL);
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
  tz_layout_spec spec = {TZ_SIZED(tz_layout_spec), .num_axes = 2};
  CHECK(refused(tz_layout_create(&spec, &l), "NULL") && !l);
  CHECK(fine(tz_layout_from_strategy((int64_t[]){2, 1}, 2, 4, false, &l)));
  CHECK(fine(tz_redistribution_create(l, l, (int64_t[]){4, 4}, 2, &d)));
  size_t steps = tz_redistribution_num_steps(d);
  tz_redistribution_step last = {TZ_SIZED(tz_redistribution_step)};
  CHECK(!tz_redistribution_get_step(d, steps, &last) && strcmp(last.op, "") == 0);
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
  test_handler("cpu");
  test_handler("plain");
  test_images();
  test_layouts();
  return UNIT_END();
}
