/* Builds a program from nothing: a matrix product, a bias, sharded over a 2x4 mesh. Verifies it,
 * lets Shardy's pipeline propagate the shardings, prints what came out, compiles it and runs it on
 * eight devices.
 *
 *   cc build.c $(pkg-config --cflags --libs terrazzo) */
#include <stdio.h>
#include <terrazzo/ir.h>

#define TRY(call)                                                                                  \
  do {                                                                                             \
    tz_error *try_e = (call);                                                                      \
    if (try_e) return try_e;                                                                       \
  } while (0)

static tz_error *parse(tz_context *c, const char *text, const tz_attr **out_attr) {
  return tz_attr_parse(c, text, out_attr);
}

/* sdy.mesh @mesh = <["x"=2, "y"=4]>; the attribute from its fields, as no text is needed. */
static tz_error *build_mesh(tz_context *c, const tz_builder *b) {
  const tz_attr *axes[2], *mesh, *name;
  static const struct {
    const char *name;
    int64_t size;
  } sizes[] = {{"x", 2}, {"y", 4}};
  for (int i = 0; i < 2; i++) {
    tz_field f[] = {{.name = "name", .sort = TZ_FIELD_STRING, .bytes = {sizes[i].name, 1}},
                    {.name = "size", .sort = TZ_FIELD_INT, .number = sizes[i].size}};
    TRY(tz_attr_make(c, "sdy.mesh_axis", f, 2, &axes[i]));
  }
  tz_field f = {.name = "axes", .sort = TZ_FIELD_ATTRS, .attrs = axes, .length = 2};
  TRY(tz_attr_make(c, "sdy.mesh", &f, 1, &mesh));
  TRY(tz_attr_string(c, "mesh", 4, &name));
  tz_named_attr attrs[] = {{"sym_name", name}, {"mesh", mesh}};
  tz_op *o;
  return tz_build(
      b, &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "sdy.mesh", .attrs = attrs, .num_attrs = 2},
      &o);
}

/* %r = dot_general(%x, %w); %z = add(%r, %b): result types are inferred where they can be. */
static tz_error *build_body(tz_context *c, const tz_builder *b, const tz_type *product) {
  tz_op *dot, *add, *ret;
  const tz_attr *dims;
  TRY(parse(c, "#stablehlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [0]>",
            &dims));
  tz_value *x[] = {tz_block_arg(b->block, 0), tz_block_arg(b->block, 1)};
  TRY(tz_build(b,
               &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "stablehlo.dot_general", .operands = x,
                             .num_operands = 2, .results = &product, .num_results = 1,
                             .attrs = &(tz_named_attr){"dot_dimension_numbers", dims},
                             .num_attrs = 1},
               &dot));
  tz_value *y[] = {tz_op_result(dot, 0), tz_block_arg(b->block, 2)};
  TRY(tz_build(b,
               &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "stablehlo.add", .operands = y,
                             .num_operands = 2},
               &add));
  tz_value *z = tz_op_result(add, 0);
  return tz_build(
      b,
      &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "func.return", .operands = &z, .num_operands = 1},
      &ret);
}

static tz_error *build_func(tz_context *c, tz_module *m, const tz_builder *at) {
  const tz_type *in[3], *out, *signature;
  const tz_attr *name, *type, *arg_attrs;
  tz_op *func;
  tz_block *body;
  tz_value *arg;
  TRY(tz_type_parse(c, "tensor<8x16xf32>", &in[0]));
  TRY(tz_type_parse(c, "tensor<16x32xf32>", &in[1]));
  TRY(tz_type_parse(c, "tensor<8x32xf32>", &in[2]));
  out = in[2];
  TRY(tz_type_function(c, in, 3, &out, 1, &signature));
  TRY(tz_attr_string(c, "main", 4, &name));
  TRY(tz_attr_type(c, signature, &type));
  TRY(parse(c,
            "[{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, {}]>},"
            " {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"y\"}]>}, {}]",
            &arg_attrs));
  tz_named_attr attrs[] = {{"sym_name", name}, {"function_type", type}, {"arg_attrs", arg_attrs}};
  TRY(tz_build(at,
               &(tz_op_spec){TZ_SIZED(tz_op_spec), .name = "func.func", .attrs = attrs,
                             .num_attrs = 3, .num_regions = 1},
               &func));
  TRY(tz_block_create(m, &body));
  TRY(tz_region_append(m, tz_op_region(func, 0), body));
  for (int i = 0; i < 3; i++) TRY(tz_block_add_arg(m, body, in[i], NULL, &arg));
  return build_body(c, &(tz_builder){.module = m, .block = body}, out);
}

/* Ones times twos, plus three. */
static tz_error *run(const tz_program *p, tz_runtime *r) {
  static float x[8 * 16], w[16 * 32], b[8 * 32], y[8 * 32];
  const void *in[] = {x, w, b};
  void *out[] = {y};
  for (int i = 0; i < 8 * 16; i++) x[i] = 1;
  for (int i = 0; i < 16 * 32; i++) w[i] = 2;
  for (int i = 0; i < 8 * 32; i++) b[i] = 3;
  TRY(tz_run(r, p, in, out));
  printf("on %u devices: %g ... %g\n", tz_program_devices(p), (double)y[0], (double)y[8 * 32 - 1]);
  return NULL;
}

static tz_error *compile_and_run(tz_module *m) {
  tz_program *p;
  tz_runtime *r = NULL;
  TRY(tz_compile_module(m, NULL, &p));
  tz_error *e = tz_runtime_create(0, &r);
  if (!e) e = run(p, r);
  tz_runtime_free(r);
  tz_program_free(p);
  return e;
}

static tz_error *build_and_run(tz_context *c) {
  tz_module *m;
  char *text;
  size_t length;
  TRY(tz_module_create(c, &m));
  tz_builder at = {.module = m, .block = tz_module_body(m)};
  TRY(build_mesh(c, &at));
  TRY(build_func(c, m, &at));
  TRY(tz_module_verify(m));
  TRY(tz_module_run(m, "sdy-propagation-pipeline"));
  TRY(tz_module_print(m, NULL, &text, &length));
  fwrite(text, 1, length, stdout);
  tz_free(text);
  return compile_and_run(m);
}

int main(void) {
  tz_context *c = NULL;
  tz_error *e = tz_context_create(NULL, &c);
  if (!e) e = build_and_run(c);
  if (e) fprintf(stderr, "%s\n", tz_error_message(e));
  int status = e != NULL;
  tz_error_free(e);
  tz_context_free(c);
  return status;
}
