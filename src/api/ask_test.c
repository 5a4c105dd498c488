/* What dialects answer, asked from outside: of ops of ours and of one of another dialect. */
#include "terrazzo/dialect.h"
#include "tests/api.h"

static const char program[] =
    "sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n"
    "func.func @main(%a: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {\"y\"}]>},\n"
    "                %b: tensor<8x4xf32>) -> tensor<4x4xf32> {\n"
    "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0]\n"
    "      : (tensor<4x8xf32>, tensor<8x4xf32>) -> tensor<4x4xf32>\n"
    "  %i = stablehlo.constant dense<0> : tensor<i32>\n"
    "  %w:2 = stablehlo.while(%k = %i, %v = %0) : tensor<i32>, tensor<4x4xf32>\n"
    "   cond {\n"
    "    %p = stablehlo.compare LT, %k, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
    "    stablehlo.return %p : tensor<i1>\n"
    "  } do {\n"
    "    %u = stablehlo.add %v, %v : tensor<4x4xf32>\n"
    "    stablehlo.return %k, %u : tensor<i32>, tensor<4x4xf32>\n"
    "  }\n"
    "  %g = sdy.all_gather [{\"x\"}, {}] %a out_sharding=<@m, [{}, {\"y\"}]> : tensor<4x8xf32>\n"
    "  %t = \"t.flip\"(%g) : (tensor<4x8xf32>) -> tensor<8x4xf32>\n"
    "  return %w#1 : tensor<4x4xf32>\n"
    "}\n";

/* While it is asked it may not ask. */
static tz_error *flip_rule(void *user, tz_context *c, tz_op *o, const tz_attr **out_rule) {
  tz_module **m = user;
  const tz_attr *a;
  if (*m) CHECK(refused(tz_op_sharding_rule(*m, o, &a), "within a callback"));
  return tz_attr_parse(c, "#sdy.op_sharding_rule<([i, j])->([j, i]) {i=4, j=8}>", out_rule);
}

static tz_op *op_named(tz_module *m, const char *name) {
  tz_op *o = tz_block_first_op(tz_region_first_block(tz_op_region(tz_module_find(m, "main"), 0)));
  while (o && strcmp(tz_op_name(o), name) != 0) o = tz_op_next(o);
  CHECK(o);
  return o;
}

static bool shows(const tz_attr *a, const char *part) {
  char *text = NULL;
  bool ok = a && fine(tz_attr_print(a, &text)) && strstr(text, part);
  if (!ok) fprintf(stderr, "got: %s\n", text ? text : "nothing");
  tz_free(text);
  return ok;
}

static void test_rules(tz_module *m) {
  const tz_attr *a;
  CHECK(fine(tz_op_sharding_rule(m, op_named(m, "stablehlo.dot_general"), &a)));
  CHECK(shows(a, "([i, k], [k, j])->([i, j]) {i=4, j=4, k=8} reduction={k}"));
  CHECK(fine(tz_op_sharding_rule(m, op_named(m, "t.flip"), &a)));
  CHECK(shows(a, "([i, j])->([j, i])"));
  CHECK(fine(tz_op_sharding_rule(m, op_named(m, "stablehlo.while"), &a)) && !a);
  CHECK(refused(tz_op_sharding_rule(m, NULL, &a), "NULL") && !a);
  CHECK(refused(tz_op_sharding_rule(NULL, NULL, &a), "NULL"));
  CHECK(refused(tz_op_sharding_rule(m, NULL, NULL), "NULL"));
}

/* The loop's second value: an operand, what the body returns, the result, two arguments. */
static void test_edges(tz_module *m) {
  tz_op *w = op_named(m, "stablehlo.while");
  tz_value *result = tz_op_result(w, 1), *owner, *targets[4];
  tz_block *body = tz_region_first_block(tz_op_region(w, 1));
  tz_use *sources[4], *back = tz_op_operand_use(tz_block_last_op(body), 1);
  size_t n;
  CHECK(fine(tz_edge_of_target(m, tz_block_arg(body, 1), &owner)) && owner == result);
  CHECK(fine(tz_edge_of_source(m, back, &owner)) && owner == result);
  CHECK(fine(tz_edge_of_source(m, tz_op_operand_use(w, 1), &owner)) && owner == result);
  CHECK(fine(tz_edge_sources(m, result, sources, 4, &n)) && n == 2);
  CHECK(sources[0] == tz_op_operand_use(w, 1) && sources[1] == back);
  CHECK(fine(tz_edge_sources(m, result, sources, 1, &n)) && n == 2);
  CHECK(fine(tz_edge_sources(m, result, NULL, 0, &n)) && n == 2);
  CHECK(fine(tz_edge_other_targets(m, result, targets, 4, &n)) && n == 2);
  CHECK(refused(tz_edge_sources(m, tz_block_arg(body, 1), sources, 4, &n), "no edge") && n == 0);
  tz_value *product = tz_op_result(op_named(m, "stablehlo.dot_general"), 0);
  CHECK(fine(tz_edge_of_target(m, product, &owner)) && !owner);
  CHECK(refused(tz_edge_sources(m, product, sources, 4, &n), "no edge"));
  CHECK(refused(tz_edge_of_target(m, NULL, &owner), "NULL"));
  CHECK(refused(tz_edge_of_source(m, NULL, &owner), "NULL"));
}

static void test_shardings(tz_context *c, tz_module *m) {
  tz_op *gather = op_named(m, "sdy.all_gather"), *dot = op_named(m, "stablehlo.dot_general");
  tz_value *a = tz_op_operand(dot, 0), *product = tz_op_result(dot, 0);
  const tz_attr *s;
  CHECK(tz_op_is_collective(gather) && !tz_op_is_collective(dot) && !tz_op_is_collective(NULL));
  CHECK(fine(tz_value_sharding(m, a, &s)) && shows(s, "[{\"x\"}, {\"y\"}]"));
  CHECK(fine(tz_value_sharding(m, tz_op_result(gather, 0), &s)) && shows(s, "[{}, {\"y\"}]"));
  CHECK(fine(tz_value_sharding(m, product, &s)) && !s);
  CHECK(fine(tz_attr_parse(c, "#sdy.sharding<@m, [{}, {\"x\"}]>", &s)));
  CHECK(fine(tz_value_set_sharding(m, product, s)));
  CHECK(fine(tz_value_sharding(m, product, &s)) && shows(s, "[{}, {\"x\"}]"));
  CHECK(fine(tz_attr_parse(c, "#sdy.sharding<@m, [{}]>", &s)));
  CHECK(refused(tz_value_set_sharding(m, product, s), "another rank"));
  CHECK(refused(tz_value_set_sharding(m, product, NULL), "#sdy.sharding"));
  CHECK(refused(tz_value_set_sharding(m, NULL, s), "NULL"));
}

/* A module that does not verify is not asked. */
static void test_wrong(tz_context *c, tz_module *m) {
  tz_op *dot = op_named(m, "stablehlo.dot_general");
  const tz_attr *rule, *bad;
  tz_module *other;
  CHECK(fine(tz_module_create(c, &other)));
  CHECK(refused(tz_op_sharding_rule(other, dot, &rule), "another module"));
  CHECK(fine(tz_attr_parse(c, "#sdy.sharding<@none, [{}, {}]>", &bad)));
  CHECK(fine(tz_value_set_sharding(m, tz_op_result(dot, 0), bad)));
  CHECK(refused(tz_op_sharding_rule(m, dot, &rule), "error") && !rule);
}

/* ---- attributes and types of a dialect's own ---- */

static const char *wrong_size(void *user, tz_context *c, tz_string body) {
  (void)c;
  ++*(int *)user;
  return body.length == 1 && body.data[0] == '4' ? NULL : "there is no size but 4";
}

static bool is_part(tz_string s, const char *text) {
  return s.length == strlen(text) && memcmp(s.data, text, s.length) == 0;
}

static void test_parts(tz_context *c) {
  const tz_attr *a;
  const tz_type *t;
  tz_symbol_parts p;
  CHECK(fine(tz_attr_parse(c, "#t.size<4>", &a)) && tz_attr_get_parts(a, &p));
  CHECK(is_part(p.dialect, "t") && is_part(p.mnemonic, "size") && is_part(p.body, "4"));
  CHECK(fine(tz_type_parse(c, "!t.box<f32, <2>>", &t)) && tz_type_get_parts(t, &p));
  CHECK(is_part(p.dialect, "t") && is_part(p.mnemonic, "box") && is_part(p.body, "f32, <2>"));
  CHECK(fine(tz_type_parse(c, "!t.box", &t)) && tz_type_get_parts(t, &p) && !p.body.length);
  CHECK(fine(tz_type_parse(c, "f32", &t)) && !tz_type_get_parts(t, &p));
  CHECK(!tz_type_get_parts(NULL, &p) && !tz_attr_get_parts(NULL, &p) &&
        !tz_attr_get_parts(a, NULL));
}

static void test_symbols(void) {
  static const char text[] = "%0 = \"t.make\"() {s = #t.size<4>} : () -> !t.box<f32>\n";
  int asked = 0;
  tz_context *c;
  tz_module *m;
  char *out;
  size_t n;
  CHECK(fine(tz_context_create(NULL, &c)));
  tz_symbol_def size = {TZ_SIZED(tz_symbol_def), .name = "t.size", .user = &asked,
                        .wrong = wrong_size};
  tz_symbol_def box = {TZ_SIZED(tz_symbol_def), .name = "t.box", .is_type = true};
  CHECK(fine(tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "t.make"})));
  CHECK(refused(tz_module_parse(c, text, sizeof text - 1, "p", &m), "unregistered dialect"));
  CHECK(fine(tz_register_symbol(c, &size)) && fine(tz_register_symbol(c, &box)));
  CHECK(refused(tz_register_symbol(c, &size), "already"));
  CHECK(refused(tz_register_symbol(c, NULL), "NULL"));
  box.name = "sdy.mine";
  CHECK(refused(tz_register_symbol(c, &box), "of Terrazzo's"));
  test_parts(c);
  const tz_attr *a;
  CHECK(refused(tz_attr_parse(c, "#t.size<5>", &a), "attribute 't.size': there is no size but 4"));
  CHECK(refused(tz_attr_parse(c, "#t.other<5>", &a), "unregistered dialect"));
  CHECK(asked >= 2 && fine(tz_module_parse(c, text, sizeof text - 1, "p", &m)));
  CHECK(fine(tz_module_print(m, NULL, &out, &n)));
  CHECK(strstr(out, "#t.size<4>") && strstr(out, "!t.box<f32>"));
  tz_free(out);
  CHECK(fine(tz_module_write_bytecode(m, NULL, &out, &n)));
  CHECK(fine(tz_module_parse(c, out, n, "p", &m)) && fine(tz_module_verify(m)));
  tz_free(out);
  tz_context_free(c);
}

int main(void) {
  test_symbols();
  tz_context *c;
  tz_module *m = NULL;
  CHECK(fine(tz_context_create(NULL, &c)));
  CHECK(fine(tz_register_op(c, &(tz_op_def){TZ_SIZED(tz_op_def), .name = "t.flip", .user = &m,
                                            .traits = TZ_PURE, .sharding_rule = flip_rule})));
  CHECK(fine(tz_module_parse(c, program, sizeof program - 1, "p.mlir", &m)));
  test_rules(m);
  test_edges(m);
  test_shardings(c, m);
  test_wrong(c, m);
  tz_context_free(c);
  return UNIT_END();
}
