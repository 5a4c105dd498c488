/* Registering ops from C: what is refused, and an op that is built, verified and propagated. */
#include <stdlib.h>
#include <string.h>

#include "terrazzo/dialect.h"
#include "ffi/abi.h"
#include "tests/api.h"

#define REGISTER(c, ...) tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), __VA_ARGS__})
#define LIST(...) ((const char *const[]){__VA_ARGS__, NULL})

static tz_value *same_value(void *user, tz_op *o, tz_value *v) { return (void)user, (void)o, v; }
static tz_value *no_value(void *user, tz_op *o, tz_use *u) {
  return (void)user, (void)o, (void)u, NULL;
}
static size_t nothing(void *user, tz_op *o, tz_value *v, tz_use **out, size_t room) {
  return (void)user, (void)o, (void)v, (void)out, (void)room, 0;
}
static const tz_attr *no_attr(void *user, tz_context *c, tz_op *o, bool args) {
  return (void)user, (void)c, (void)o, (void)args, NULL;
}

/* out[i, j] = in[j, i], the rule from a callback that uses the context */
static tz_error *flip_rule(void *user, tz_context *c, tz_op *o, const tz_attr **out_rule) {
  ++*(int *)user;
  (void)o;
  return tz_attr_parse(c, "#sdy.op_sharding_rule<([i, j])->([j, i]) {i=4, j=8}>", out_rule);
}
static tz_error *flip_infer(void *user, tz_context *c, tz_op *o, const tz_type **out_types) {
  const tz_type *t = tz_value_type(tz_op_operand(o, 0));
  (void)user;
  return tz_type_tensor(c, (int64_t[]){tz_type_dim(t, 1), tz_type_dim(t, 0)}, 2, tz_type_element(t),
                        NULL, out_types);
}

static void test_refused(tz_context *c) {
  tz_data_flow f = {TZ_SIZED(tz_data_flow), .arg_owner_region = -1};
  CHECK(refused(tz_register_op(c, NULL), "NULL") && refused(tz_register_op(NULL, NULL), "NULL"));
  CHECK(refused(REGISTER(c, .name = NULL), "dialect.mnemonic"));
  CHECK(refused(REGISTER(c, .name = "op"), "dialect.mnemonic"));
  CHECK(refused(REGISTER(c, .name = "stablehlo.mine"), "of Terrazzo's"));
  CHECK(refused(REGISTER(c, .name = "t.a b"), "dialect.mnemonic"));
  CHECK(refused(REGISTER(c, .name = "t.a", .form = " $nothing"), "notation of forms:  $nothing"));
  CHECK(refused(REGISTER(c, .name = "t.a", .form = "%type("), "notation of forms"));
  CHECK(refused(REGISTER(c, .name = "t.a", .regions = -2), "-2 regions"));
  CHECK(refused(REGISTER(c, .name = "t.a", .regions = 255), "255 regions"));
  CHECK(refused(REGISTER(c, .name = "t.a", .operands = LIST("a*", "b*")), "more than one list"));
  CHECK(refused(REGISTER(c, .name = "t.a", .operands = LIST("*")), "no name"));
  CHECK(refused(REGISTER(c, .name = "t.a", .attrs = LIST("a*")), "names no attribute"));
  CHECK(refused(REGISTER(c, .name = "t.a", .data_flow = &f), "lacks owner_of_target"));
  f = (tz_data_flow){TZ_SIZED(tz_data_flow), .arg_owner_region = 0, .owner_of_target = same_value,
                     .owner_of_source = no_value, .sources = nothing};
  CHECK(refused(REGISTER(c, .name = "t.a", .data_flow = &f), "arguments' shardings"));
  f.get_shardings = no_attr;
  CHECK(refused(REGISTER(c, .name = "t.a", .data_flow = &f), "only one of"));
  f.get_shardings = NULL;
  f.arg_shardings = "in";
  CHECK(refused(REGISTER(c, .name = "t.a", .data_flow = &f, .sharding_rule = flip_rule),
                "no sharding"));
  CHECK(refused(
      REGISTER(c, .name = "t.a", .collective = &(tz_collective_def){TZ_SIZED(tz_collective_def)}),
      "does not say"));
  CHECK(fine(REGISTER(c, .name = "t.a", .data_flow = &f, .regions = 1)));
  CHECK(refused(REGISTER(c, .name = "t.a"), "already"));
  CHECK(refused(tz_context_load_dialect(c, "/nothing.so"), "cannot load"));
  CHECK(refused(tz_context_load_dialect(c, NULL), "NULL"));
  CHECK(refused(tz_context_set_op_priorities(c, "t.b", 3, "p"), "p:1:1: error: there is no op"));
  CHECK(fine(tz_context_set_op_priorities(c, "t.a\nelementwise", 15, "p")));
  CHECK(fine(tz_context_set_op_priorities(c, NULL, 0, NULL)));
}

static const char program[] =
    "sdy.mesh @m = <[\"x\"=2]>\n"
    "func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {}]>}) {\n"
    "  return\n"
    "}\n";

static void test_op(tz_context *c) {
  int asked = 0;
  tz_module *m;
  tz_op *o, *before;
  CHECK(fine(REGISTER(c, .name = "t.flip", .operands = LIST("x"), .results = LIST("y"),
                      .form = " $x%attrs : %fn", .user = &asked, .infer = flip_infer,
                      .sharding_rule = flip_rule)));
  CHECK(fine(tz_module_parse(c, program, sizeof program - 1, NULL, &m)));
  tz_block *b = tz_region_first_block(tz_op_region(tz_module_find(m, "main"), 0));
  before = tz_block_last_op(b);
  tz_value *x = tz_block_arg(b, 0);
  tz_builder at = {.module = m, .block = b, .before = before};
  tz_op_spec spec = {TZ_SIZED(tz_op_spec), .name = "t.flip", .operands = &x, .num_operands = 1};
  CHECK(fine(tz_build(&at, &spec, &o)) && tz_op_is_registered(o));
  CHECK(tz_type_dim(tz_value_type(tz_op_result(o, 0)), 0) == 8);
  CHECK(fine(tz_module_verify(m)) && asked > 0);
  CHECK(fine(tz_module_run(m, "sdy-aggressive-propagate")));
  char *text;
  size_t n;
  CHECK(fine(tz_op_print(m, o, NULL, &text, &n)));
  CHECK(text && strstr(text, "t.flip %arg0 {sdy.sharding = "
                             "#sdy.sharding_per_value<[<@m, [{?}, {\"x\", ?}]>]>} : "
                             "(tensor<4x8xf32>) -> tensor<8x4xf32>"));
  tz_free(text);
  /* traits that speak of operands, and no operands */
  CHECK(fine(REGISTER(c, .name = "t.none", .traits = TZ_SAME_TYPE | TZ_SAME_SHAPE | TZ_PURE)));
  CHECK(fine(
      tz_build(&at, &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "t.none", .no_infer = true}, &o)));
  CHECK(refused(tz_module_verify(m), "'t.none' op expected 1 or more operands"));
  CHECK(fine(tz_op_erase(m, o)) && fine(tz_module_verify(m)));
  spec.num_operands = 0;
  CHECK(refused(tz_build(&at, &spec, &o), "'t.flip' op requires a single operand"));
}

/* The greatest of each row: parts of it are combined by maximum. */
static tz_error *most_rule(void *user, tz_context *c, tz_op *o, const tz_attr **out_rule) {
  (void)user, (void)o;
  return tz_attr_parse(c, "#sdy.op_sharding_rule<([i, j])->([i]) {i=4, j=8} reduction={j}>",
                       out_rule);
}

static void test_partition(tz_context *c) {
  static const char most[] =
      "sdy.mesh @m = <[\"x\"=2]>\n"
      "func.func @main(%x: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{}, {\"x\"}]>}) -> "
      "tensor<4xf32> {\n"
      "  %0 = \"t.most\"(%x) : (tensor<4x8xf32>) -> tensor<4xf32>\n"
      "  return %0 : tensor<4xf32>\n"
      "}\n";
  tz_partition_def p = {TZ_SIZED(tz_partition_def), .combiner = (tz_combiner)(TZ_OR + 1)};
  CHECK(refused(REGISTER(c, .name = "t.most", .partition = &p), "means nothing"));
  p = (tz_partition_def){TZ_SIZED(tz_partition_def), .combiner = TZ_MAX};
  CHECK(fine(REGISTER(c, .name = "t.most", .operands = LIST("x"), .results = LIST("y"),
                      .sharding_rule = most_rule, .partition = &p)));
  p.combiner = TZ_MIN; /* was copied */
  tz_module *m;
  char *text;
  size_t n;
  CHECK(fine(tz_module_parse(c, most, sizeof most - 1, NULL, &m)));
  CHECK(fine(tz_module_run(m, "terrazzo-insert-reshards")));
  CHECK(fine(tz_op_print(m, tz_module_op(m), NULL, &text, &n)));
  CHECK(text && strstr(text, "sdy.all_reduce max {\"x\"} %0 out_sharding=<@m, [{}]>"));
  tz_free(text);
}

/* An op with a kernel, registered by the program itself, in a module that is never text. */
static XLA_FFI_Error *twice(XLA_FFI_CallFrame *f) {
  if (f->extension_start) return NULL;
  const XLA_FFI_Buffer *in = f->args.args[0], *out = f->rets.rets[0];
  for (int64_t i = 0; i < in->dims[0]; i++)
    ((float *)out->data)[i] = 2 * ((const float *)in->data)[i];
  return NULL;
}

static void test_compile_module(void) {
  static const char source[] =
      "sdy.mesh @m = <[\"x\"=2]>\n"
      "func.func @main(%a: tensor<4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}]>})\n"
      "    -> tensor<4xf32> {\n"
      "  %0 = \"t.twice\"(%a) : (tensor<4xf32>) -> tensor<4xf32>\n"
      "  return %0 : tensor<4xf32>\n}\n";
  XLA_FFI_Error *(*function)(XLA_FFI_CallFrame *) = twice;
  const char *operands[] = {"x", NULL}, *results[] = {"y", NULL};
  void *handler;
  tz_context *c = NULL;
  tz_module *m = NULL;
  tz_program *p = NULL;
  tz_runtime *r = NULL;
  memcpy(&handler, &function, sizeof handler);
  CHECK(fine(tz_register_handler("t.twice", handler)) && fine(tz_context_create(NULL, &c)));
  CHECK(fine(REGISTER(c, .name = "t.twice", .operands = operands, .results = results,
                      .traits = TZ_ELEMENTWISE | TZ_SAME_TYPE)));
  operands[0] = results[0] = NULL; /* they were copied */
  CHECK(fine(tz_module_parse(c, source, strlen(source), "twice.mlir", &m)));
  CHECK(refused(tz_compile_module(NULL, NULL, &p), "NULL") && !p);
  CHECK(fine(tz_compile_module(m, NULL, &p)) && tz_program_devices(p) == 2);
  tz_context_free(c);
  float in[] = {1, 2, 3, 4}, out[4];
  CHECK(fine(tz_runtime_create(1, &r)));
  CHECK(fine(tz_run(r, p, (const void *const[]){in}, (void *const[]){out})));
  CHECK(out[0] == 2 && out[3] == 8);
  tz_program_free(p);
  tz_runtime_free(r);
}

int main(void) {
  test_compile_module();
  tz_context *c;
  CHECK(fine(tz_context_create(NULL, &c)));
  test_refused(c);
  test_op(c);
  test_partition(c);
  tz_context_free(c);
  return UNIT_END();
}
