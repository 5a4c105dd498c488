/* The public IR: what comes back is what went in, and bad handles are errors. */
#include <stdlib.h>
#include <string.h>

#include "terrazzo/ir.h"
#include "tests/api.h"

static tz_module *parse(tz_context *c, const char *text) {
  tz_module *m = NULL;
  CHECK(fine(tz_module_parse(c, text, strlen(text), "test.mlir", &m)));
  return m;
}

static bool prints(tz_module *m, const char *want) {
  char *text;
  size_t n;
  if (!fine(tz_module_print(m, NULL, &text, &n))) return false;
  bool ok = strstr(text, want) != NULL && strlen(text) == n;
  if (!ok) fprintf(stderr, "%s", text);
  tz_free(text);
  return ok;
}

static void test_types(tz_context *c) {
  const tz_type *f32, *t, *twin, *f;
  char *text;
  CHECK(fine(tz_type_parse(c, "f32", &f32)));
  CHECK(fine(tz_type_tensor(c, (int64_t[]){2, TZ_DYNAMIC}, 2, f32, NULL, &t)));
  CHECK(fine(tz_type_parse(c, "tensor<2x?xf32>", &twin)) && t == twin);
  CHECK(tz_type_kind_of(t) == TZ_TYPE_TENSOR && tz_type_rank(t) == 2 && tz_type_dim(t, 0) == 2);
  CHECK(tz_type_dim(t, 1) == TZ_DYNAMIC && tz_type_dim(t, 2) == -1 && !tz_type_is_static(t));
  CHECK(tz_type_num_elements(t) == -1 && tz_type_element(t) == f32);
  CHECK(tz_type_element_size(t) == 4 && tz_type_width(f32) == 32);
  CHECK(fine(tz_type_function(c, &t, 1, (const tz_type *[]){f32, t}, 2, &f)));
  CHECK(tz_type_num_inputs(f) == 1 && tz_type_num_results(f) == 2 && tz_type_result(f, 1) == t);
  CHECK(fine(tz_type_print(f, &text)));
  CHECK(strcmp(text, "(tensor<2x?xf32>) -> (f32, tensor<2x?xf32>)") == 0);
  tz_free(text);
  /* what is no type */
  CHECK(refused(tz_type_parse(c, "tensor<2xx>", &t), "error:") && t == NULL);
  CHECK(refused(tz_type_tensor(c, (int64_t[]){-2}, 1, f32, NULL, &t), "dimension 0 is -2"));
  CHECK(refused(tz_type_tensor(c, NULL, 2, f32, NULL, &t), "NULL"));
  CHECK(refused(tz_type_tensor(c, NULL, 0, f, NULL, &t), "element type"));
  CHECK(refused(tz_type_complex(c, f, &t), "element type"));
  CHECK(refused(tz_type_integer(c, 1u << 30, TZ_SIGNLESS, &t), "width"));
  CHECK(refused(tz_type_function(c, &t, 1, NULL, 0, &f), "NULL"));
  CHECK(refused(tz_type_parse(NULL, "f32", &t), "NULL"));
  CHECK(tz_type_kind_of(NULL) == TZ_TYPE_INVALID && tz_type_rank(f32) == -1 &&
        !tz_type_input(f32, 0));
  CHECK(!tz_type_element(NULL) && tz_type_element_size(NULL) == 0 && !tz_type_encoding(NULL));
}

static void test_attrs(tz_context *c) {
  const tz_type *i8, *i32, *t;
  const tz_attr *a, *b;
  int64_t n;
  double x;
  tz_string s;
  tz_field f;
  const int64_t *list;
  size_t len;
  CHECK(fine(tz_type_parse(c, "i8", &i8)) && fine(tz_type_parse(c, "i32", &i32)));
  CHECK(fine(tz_attr_int(c, i8, 255, &a)) && tz_attr_get_int(a, &n) && n == -1);
  CHECK(refused(tz_attr_int(c, i8, 256, &a), "256") && a == NULL);
  CHECK(fine(tz_attr_bool(c, true, &a)) && tz_attr_get_int(a, &n) && n == 1);
  CHECK(fine(tz_attr_parse(c, "1.5 : bf16", &a)) && tz_attr_get_float(a, &x) && x == 1.5);
  CHECK(!tz_attr_get_int(a, &n) && !tz_attr_get_string(a, &s) && tz_attr_num_elements(a) == 0);
  CHECK(fine(tz_type_parse(c, "bf16", &t)) && fine(tz_attr_float(c, t, 1.5009765625, &b)) &&
        fine(tz_attr_parse(c, "1.5 : bf16", &a)) && a == b);
  CHECK(refused(tz_attr_float(c, i8, 1, &a), "no float") && !a);
  CHECK(fine(tz_attr_symbol(c, "f", &a)) && tz_attr_get_string(a, &s) && strcmp(s.data, "f") == 0);
  CHECK(fine(tz_attr_ints(c, (int64_t[]){3, 4}, 2, &a)));
  CHECK(tz_attr_get_ints(a, &list, &len) && len == 2 && list[1] == 4);
  CHECK(fine(tz_attr_dict(c, (tz_named_attr[]){{"b", a}, {"a", a}}, 2, &b)));
  CHECK(tz_attr_num_entries(b) == 2 && strcmp(tz_attr_entry(b, 0).name, "a") == 0);
  CHECK(tz_attr_lookup(b, "b") == a && !tz_attr_lookup(b, "c") && !tz_attr_entry(b, 2).name);
  CHECK(fine(tz_attr_array(c, &a, 1, &b)) && tz_attr_element(b, 0) == a && !tz_attr_element(b, 1));
  /* dense */
  CHECK(fine(tz_type_tensor(c, (int64_t[]){3}, 1, i32, NULL, &t)));
  CHECK(fine(tz_attr_dense(c, t, (int32_t[]){7, -8, 9}, 12, false, &a)) && tz_attr_is_dense(a));
  CHECK(tz_dense_int(a, 1, &n) && n == -8 && !tz_dense_int(a, 3, &n) && tz_dense_type(a) == t);
  CHECK(tz_dense_float(a, 2, &x) && x == 9 && tz_dense_bytes(a).length == 12);
  CHECK(fine(tz_attr_dense(c, t, (int32_t[]){7}, 4, false, &a)) && tz_dense_is_splat(a));
  CHECK(tz_dense_int(a, 2, &n) && n == 7);
  CHECK(refused(tz_attr_dense(c, t, (int32_t[]){7, 8}, 8, false, &a), "8 bytes for 3 elements"));
  CHECK(refused(tz_attr_dense(c, i32, "", 0, false, &a), "static tensors"));
  /* by fields */
  CHECK(fine(tz_attr_parse(c, "#stablehlo<comparison_direction GE>", &a)));
  CHECK(strcmp(tz_attr_kind(a), "stablehlo.comparison_direction") == 0);
  CHECK(strcmp(tz_attr_case(a), "GE") == 0 && tz_attr_num_fields(a) == 1);
  CHECK(tz_attr_field(a, 0, &f) && f.sort == TZ_FIELD_INT && f.number == 2);
  CHECK(fine(tz_attr_make(c, tz_attr_kind(a), &f, 1, &b)) && a == b);
  f.number = 6;
  CHECK(refused(tz_attr_make(c, tz_attr_kind(a), &f, 1, &b), "no case 6"));
  CHECK(refused(tz_attr_make(c, "stablehlo.nonsense", &f, 1, &b), "no kind"));
  CHECK(refused(tz_attr_make(c, "dict", NULL, 0, &b), "no kind"));
  CHECK(refused(tz_attr_make(c, "sdy.sharding", NULL, 0, &b), "field 'mesh'"));
  f = (tz_field){.name = "axes", .sort = TZ_FIELD_ATTRS, .attrs = &a, .length = 1};
  CHECK(refused(tz_attr_make(c, "sdy.mesh", &f, 1, &b), "must be a sdy.mesh_axis"));
  f.name = "x";
  CHECK(refused(tz_attr_make(c, "sdy.mesh", &f, 1, &b), "no field 'x'"));
  CHECK(tz_attr_num_fields(NULL) == 0 && strcmp(tz_attr_kind(NULL), "") == 0);
  CHECK(refused(tz_attr_parse(c, "#stablehlo.nonsense<1>", &b), "error:"));
}

static const char program[] =
    "func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {\n"
    "  %0 = stablehlo.add %x, %y : tensor<4xf32>\n"
    "  %1 = stablehlo.multiply %0, %0 : tensor<4xf32>\n"
    "  return %1 : tensor<4xf32>\n"
    "}\n";

/* Attributes that no verifier has seen print without harm. */
static void test_odd_attrs(tz_context *c) {
  const int64_t odd[] = {-5, 3, INT64_MAX, INT64_MIN};
  const tz_attr *dim, *tensor, *rule, *axis;
  char *text;
  tz_field f[3] = {{.name = "factors", .sort = TZ_FIELD_INTS, .numbers = odd, .length = 4}};
  CHECK(fine(tz_attr_make(c, "sdy.dim_mapping", f, 1, &dim)));
  f[0] = (tz_field){.name = "dims", .sort = TZ_FIELD_ATTRS, .attrs = &dim, .length = 1};
  CHECK(fine(tz_attr_make(c, "sdy.tensor_mapping", f, 1, &tensor)));
  f[0] = (tz_field){.name = "operands", .sort = TZ_FIELD_ATTRS, .attrs = &tensor, .length = 1};
  f[1] = (tz_field){.name = "reduction", .sort = TZ_FIELD_INTS, .numbers = odd, .length = 4};
  f[2] = (tz_field){.name = "factor_sizes", .sort = TZ_FIELD_INTS, .numbers = odd, .length = 2};
  CHECK(fine(tz_attr_make(c, "sdy.op_sharding_rule", f, 3, &rule)));
  CHECK(fine(tz_attr_print(rule, &text)));
  tz_free(text);
  CHECK(fine(tz_attr_make(c, "sdy.axis_ref", NULL, 0, &axis)) && fine(tz_attr_print(axis, &text)));
  tz_free(text);
}

static void test_changes(tz_context *c) {
  tz_module *m = parse(c, program), *other = parse(c, program);
  tz_block *b = tz_region_first_block(tz_op_region(tz_module_find(m, "f"), 0));
  tz_op *add = tz_block_first_op(b), *mul = tz_op_next(add), *neg, *o, *ret = tz_block_last_op(b);
  tz_block *theirs = tz_region_first_block(tz_op_region(tz_module_find(other, "f"), 0));
  CHECK(tz_block_num_args(b) == 2 && tz_op_block(mul) == b && tz_op_prev(mul) == add);
  CHECK(strcmp(tz_op_name(mul), "stablehlo.multiply") == 0 && tz_op_is_registered(mul));
  tz_use *u = tz_value_first_use(tz_op_result(add, 0));
  CHECK(tz_use_op(u) == mul && tz_use_index(u) + tz_use_index(tz_use_next(u)) == 1);
  /* a new op in the middle takes over the uses */
  tz_value *sum = tz_op_result(add, 0);
  tz_builder at = {.module = m, .block = b, .before = mul};
  tz_op_spec spec = {TZ_SIZED(tz_op_spec), .name = "stablehlo.negate", .operands = &sum,
                     .num_operands = 1};
  CHECK(fine(tz_build(&at, &spec, &neg)) && tz_op_next(add) == neg);
  CHECK(tz_value_type(tz_op_result(neg, 0)) == tz_value_type(sum));
  CHECK(fine(tz_op_set_operand(m, mul, 1, tz_op_result(neg, 0))));
  CHECK(prints(m, "stablehlo.multiply %0, %1 : tensor<4xf32>"));
  CHECK(fine(tz_module_verify(m)));
  /* refused */
  CHECK(refused(tz_op_set_operand(m, mul, 2, sum), "no operand #2"));
  CHECK(refused(tz_op_set_operand(m, mul, 0, NULL), "NULL"));
  CHECK(refused(tz_op_set_operand(m, mul, 0, tz_block_arg(theirs, 0)), "another module"));
  CHECK(refused(tz_op_insert(m, add, theirs, NULL), "another module"));
  CHECK(refused(tz_op_insert(other, add, theirs, NULL), "another module"));
  CHECK(refused(tz_op_insert(m, add, b, tz_module_find(m, "f")), "not in the block"));
  CHECK(refused(tz_op_insert(m, tz_module_find(m, "f"), b, NULL), "into itself"));
  CHECK(refused(tz_op_erase(m, add), "still used") &&
        refused(tz_op_erase(m, tz_module_op(m)), "stays"));
  CHECK(refused(tz_block_erase_arg(m, b, 0), "still used") &&
        refused(tz_block_erase_arg(m, b, 9), "#9"));
  CHECK(refused(tz_region_append(m, tz_op_region(tz_module_find(m, "f"), 0), tz_module_body(m)),
                "stays"));
  CHECK(refused(tz_block_erase(m, tz_module_body(m)), "stays"));
  spec.name = "stablehlo.nonsense";
  CHECK(refused(tz_build(&at, &spec, &o), "no op 'stablehlo.nonsense'") && o == NULL);
  spec.name = "mine.op";
  CHECK(refused(tz_build(&at, &spec, &o), "no op 'mine.op'"));
  spec.name = "stablehlo.dot_general";
  CHECK(refused(tz_build(&at, &spec, &o), "error:"));
  CHECK(refused(tz_build(NULL, &spec, &o), "NULL") && refused(tz_op_create(m, NULL, &o), "NULL"));
  /* what does not verify still prints, in the generic form */
  CHECK(fine(tz_op_insert(m, mul, b, add)));
  CHECK(refused(tz_module_verify(m), "does not dominate") && prints(m, "\"stablehlo.add\""));
  CHECK(refused(tz_module_run(m, "symbol-dce"), "does not dominate"));
  CHECK(fine(tz_op_insert(m, mul, b, ret)) && fine(tz_module_run(m, "symbol-dce")));
  CHECK(refused(tz_module_run(m, "no-such-pass"), "no-such-pass"));
  CHECK(refused(tz_module_run(m, "cse,inline{x=1}"), ":1:12: error: no such option x"));
  /* out with it again */
  CHECK(fine(tz_value_replace(m, tz_op_result(neg, 0), sum)) && fine(tz_op_erase(m, neg)));
  CHECK(fine(tz_module_verify(m)) && prints(m, "stablehlo.multiply %0, %0"));
  CHECK(fine(tz_op_clone(m, add, &o)) && fine(tz_op_insert(m, o, b, add)));
  CHECK(fine(tz_op_remove(m, o)) && fine(tz_op_erase(m, o)) && fine(tz_module_verify(m)));
  tz_module_free(other);
  CHECK(refused(tz_module_verify(other), "freed") && !tz_module_op(other));
  tz_module_free(other);
  tz_module_free(m);
}

/* Ops of no block, of another module, and ops that are erased. */
static void test_strays(tz_context *c) {
  tz_module *m = parse(c, program), *other = parse(c, program);
  tz_block *b = tz_region_first_block(tz_op_region(tz_module_find(m, "f"), 0)), *theirs;
  tz_op *add = tz_block_first_op(b), *stray, *o, *ret = tz_block_last_op(b);
  tz_value *arg = tz_block_arg(b, 0);
  const tz_attr *no_loc;
  tz_op_spec spec = {TZ_SIZED(tz_op_spec), .name = "stablehlo.negate", .operands = &arg,
                     .num_operands = 1};
  CHECK(fine(tz_op_create(m, &spec, &stray)));
  CHECK(fine(tz_block_create(other, &theirs)));
  spec.operands = (tz_value *[]){tz_op_result(stray, 0)};
  CHECK(refused(tz_op_create(other, &spec, &o), "another module"));
  CHECK(refused(tz_op_insert(other, stray, theirs, NULL), "another module"));
  CHECK(refused(tz_op_insert(m, stray, theirs, NULL), "another module"));
  CHECK(refused(tz_block_erase(m, theirs), "another module"));
  /* an erased op has lost its operands, and those inside it too */
  CHECK(fine(tz_op_insert(m, stray, b, add)) && fine(tz_op_erase(m, stray)));
  CHECK(fine(tz_op_erase(m, stray)) && tz_op_num_operands(stray) == 0 && !tz_op_operand(stray, 0));
  CHECK(fine(tz_op_insert(m, stray, b, add)) && prints(m, "\"stablehlo.negate\"() :"));
  CHECK(refused(tz_module_verify(m), "a single operand") && fine(tz_op_erase(m, stray)));
  /* what uses the result of an op that stands nowhere */
  CHECK(fine(tz_op_remove(m, add)) && prints(m, "(<<UNKNOWN SSA VALUE>>, <<UNKNOWN SSA VALUE>>)"));
  CHECK(refused(tz_module_verify(m), "operand #0 is a value that stands nowhere"));
  CHECK(fine(tz_op_insert(m, add, b, tz_block_first_op(b))) && fine(tz_module_verify(m)));
  /* what stands nowhere does not count among the users that passes and bytecode see */
  char *bytes;
  size_t length;
  spec.operands = (tz_value *[]){arg, arg};
  spec.num_operands = 2, spec.name = "stablehlo.add";
  for (int run = 0; run < 2; run++) {
    CHECK(fine(tz_op_create(m, &spec, &stray)) && tz_op_num_operands(stray) == 2);
    if (run) CHECK(fine(tz_module_run(m, "sdy-basic-propagate")));
    if (!run) CHECK(fine(tz_module_write_bytecode(m, NULL, &bytes, &length)));
    CHECK(tz_op_num_operands(stray) == 0);
  }
  CHECK(fine(tz_module_parse(c, bytes, length, "again", &other)));
  tz_free(bytes);
  spec.num_operands = 1, spec.name = "stablehlo.negate";
  /* an argument that is gone */
  tz_value *gone;
  CHECK(fine(tz_block_add_arg(m, b, tz_value_type(arg), NULL, &gone)));
  CHECK(fine(tz_block_erase_arg(m, b, 2)) && tz_value_block(gone) != b);
  CHECK(fine(tz_op_set_operand(m, add, 1, gone)) && prints(m, "(%arg0, <<UNKNOWN SSA VALUE>>)"));
  CHECK(fine(tz_op_set_operand(m, add, 1, arg)));
  /* a location is one */
  CHECK(fine(tz_attr_parse(c, "1 : i32", &no_loc)));
  spec.operands = &arg;
  spec.loc = no_loc;
  CHECK(refused(tz_op_create(m, &spec, &o), "no location") && !o);
  CHECK(refused(tz_op_set_loc(m, ret, no_loc), "no location"));
  CHECK(refused(tz_block_add_arg(m, b, tz_value_type(arg), no_loc, &arg), "no location"));
  CHECK(fine(tz_module_verify(m)));
  tz_module_free(m);
  tz_module_free(other);
}

/* A copy's branches go to its own blocks, and its ops use its own values, wherever they stand. */
static void test_clone(void) {
  static const char text[] = "\"t.f\"() ({\n"
                             "  \"t.use\"(%x) : (i32) -> ()\n"
                             "  %x = \"t.make\"() : () -> i32\n"
                             "  \"t.br\"()[^bb2] : () -> ()\n"
                             "^bb1:\n"
                             "  \"t.end\"() : () -> ()\n"
                             "^bb2:\n"
                             "  \"t.br\"()[^bb1, ^bb2] : () -> ()\n"
                             "}) : () -> ()\n";
  tz_context *c;
  tz_op *twin;
  CHECK(fine(tz_context_create(
      &(tz_context_options){TZ_SIZED(tz_context_options), .allow_unregistered = true}, &c)));
  tz_module *m = parse(c, text);
  CHECK(fine(tz_op_clone(m, tz_block_first_op(tz_module_body(m)), &twin)));
  tz_block *entry = tz_region_first_block(tz_op_region(twin, 0)), *last = tz_block_next(entry);
  last = tz_block_next(last);
  CHECK(tz_op_num_successors(tz_block_last_op(entry)) == 1);
  CHECK(tz_op_successor(tz_block_last_op(entry), 0) == last);
  CHECK(tz_op_successor(tz_block_last_op(last), 0) == tz_block_next(entry));
  CHECK(tz_op_successor(tz_block_last_op(last), 1) == last);
  tz_op *use = tz_block_first_op(entry);
  CHECK(tz_op_operand(use, 0) == tz_op_result(tz_op_next(use), 0));
  tz_context_free(c);
}

/* A module as a whole, a function of another module, the body of an op that is replaced. */
static void test_copies(tz_context *c) {
  static const char nested[] = "module @in {\n"
                               "  func.func @g(%x: i32) -> i32 { return %x : i32 }\n"
                               "  func.func private @h()\n"
                               "}\n"
                               "func.func private @k()\n";
  tz_module *m = parse(c, program), *other = parse(c, nested), *twin;
  tz_op *in = tz_module_find(other, "in"), *g = tz_op_find(in, "g"), *o;
  CHECK(in && g && !tz_module_find(other, "g") && !tz_op_find(in, "f") && !tz_op_find(NULL, "g"));
  CHECK(fine(tz_module_clone(m, &twin)));
  CHECK(fine(tz_op_clone(twin, g, &o)));
  CHECK(fine(tz_op_insert(twin, o, tz_module_body(twin), NULL)) && fine(tz_module_verify(twin)));
  CHECK(prints(twin, "func.func @g(%arg0: i32) -> i32") && prints(twin, "func.func @f("));
  CHECK(!tz_module_find(m, "g") && tz_module_find(m, "f") != tz_module_find(twin, "f"));
  tz_block *body = tz_region_first_block(tz_op_region(tz_module_find(m, "f"), 0));
  CHECK(refused(tz_op_clone(twin, tz_block_first_op(body), &o), "from outside") && !o);
  CHECK(refused(tz_module_clone(NULL, &twin), "NULL") && !twin);
  tz_op *add = tz_block_first_op(body);
  CHECK(fine(tz_op_remove(m, add)));
  CHECK(refused(tz_module_clone(m, &twin), "from outside") && !twin);
  /* operands of a copy are its own, wherever they stand */
  CHECK(fine(tz_op_insert(m, add, body, tz_block_last_op(body))));
  CHECK(fine(tz_module_clone(m, &twin)));
  tz_block *copy = tz_region_first_block(tz_op_region(tz_module_find(twin, "f"), 0));
  CHECK(tz_op_operand(tz_block_first_op(copy), 0) ==
        tz_op_result(tz_op_next(tz_block_first_op(copy)), 0));
  /* @h gets the body of @g, and its type */
  tz_op *h = tz_op_find(in, "h");
  body = tz_region_first_block(tz_op_region(g, 0));
  CHECK(tz_value_loc(tz_block_arg(body, 0)) && !tz_value_loc(NULL));
  CHECK(fine(tz_region_append(other, tz_op_region(h, 0), body)));
  CHECK(fine(tz_op_set_attr(other, h, "function_type", tz_op_attr(g, "function_type"))));
  CHECK(fine(tz_op_erase(other, g)) && fine(tz_module_verify(other)));
  CHECK(prints(other, "func.func private @h(%arg0: i32) -> i32 {"));
  tz_module_free(m);
  tz_module_free(other);
}

static const char program_is[] = "%1 = stablehlo.multiply %0, %0 : tensor<4xf32>";

static void test_bytecode(tz_context *c) {
  tz_module *m = parse(c, program), *again;
  char *bytes, *text;
  size_t n, length;
  for (int portable = 0; portable < 2; portable++) {
    CHECK(fine(tz_module_write_bytecode(m, portable ? "1.17.0" : NULL, &bytes, &n)));
    CHECK(n > 20 && fine(tz_module_parse(c, bytes, n, "again", &again)));
    CHECK(fine(tz_module_print(m, NULL, &text, &length)) && prints(again, text));
    tz_free(text);
    tz_module_free(again);
    CHECK(fine(tz_module_parse_borrowed(c, bytes, n, "again", &again)) &&
          prints(again, program_is));
    tz_module_free(again);
    tz_free(bytes);
  }
  CHECK(refused(tz_module_write_bytecode(m, "0.0.1", &bytes, &n), "0.0.1") && !bytes);
  tz_module_free(m);
}

/* Programs over several meshes: types and attributes as text, and through bytecode. */
static void test_meshes(tz_context *c) {
  static const char source[] =
      "func.func @main(%a: !mpmd.mesh_tensor<\"m\", tensor<4xf32>>) attributes {topology = "
      "#mpmd.topology<<\"m\" : <[\"x\"=2]>>>} {\n"
      "  %0 = mpmd.fragment<mesh=\"m\", origin=[\"f\"(1)]> (%a) (%x: tensor<4xf32>) {\n"
      "    mpmd.return %x : tensor<4xf32>\n"
      "  } : (!mpmd.mesh_tensor<\"m\", tensor<4xf32>>) -> !mpmd.mesh_tensor<\"m\", tensor<4xf32>>\n"
      "  return\n}\n";
  const tz_type *t;
  const tz_attr *a, *b;
  char *bytes, *text;
  size_t n;
  CHECK(fine(tz_type_parse(c, "!mpmd.mesh_tensor<\"m\", tensor<4xf32>>", &t)));
  CHECK(tz_type_kind_of(t) == TZ_TYPE_OTHER && tz_type_rank(t) == -1 && !tz_type_element(t));
  CHECK(refused(tz_type_parse(c, "!mpmd.mesh_tensor<\"m\", f32>", &t), "error:") && !t);
  CHECK(fine(tz_attr_parse(c, "#mpmd.user_origin<\"f\"(1)>", &a)));
  const tz_field f[] = {
      {.name = "name", .sort = TZ_FIELD_STRING, .bytes = {"f", 1}},
      {.name = "transpose_count", .sort = TZ_FIELD_INT, .number = 1},
      {.name = "meshes", .sort = TZ_FIELD_ATTRS, .attrs = &a, .length = 1},
  };
  CHECK(fine(tz_attr_make(c, "mpmd.user_origin", f, 2, &b)) && a == b);
  CHECK(refused(tz_attr_make(c, "mpmd.topology", f + 2, 1, &b), "tz_attr_parse makes one"));
  tz_module *m = parse(c, source), *again;
  CHECK(m && fine(tz_module_verify(m)));
  CHECK(fine(tz_module_print(m, NULL, &text, &n)));
  CHECK(fine(tz_module_write_bytecode(m, NULL, &bytes, &n)));
  CHECK(fine(tz_module_parse(c, bytes, n, "again", &again)) && prints(again, text));
  tz_module_free(again);
  tz_free(bytes);
  CHECK(refused(tz_module_write_bytecode(m, "1.17.0", &bytes, &n), "cannot be expressed"));
  tz_free(text);
  tz_module_free(m);
}

typedef struct collected {
  char bytes[1 << 12];
  size_t length, calls;
  bool enough;
} collected;

static bool collect(void *user, const char *bytes, size_t length) {
  collected *c = user;
  c->calls++;
  if (c->enough || length > sizeof c->bytes - c->length) return false;
  memcpy(c->bytes + c->length, bytes, length);
  c->length += length;
  return true;
}

static bool prints_with(tz_module *m, const tz_print_options *o, const char *want) {
  char *text;
  size_t n;
  if (!fine(tz_module_print(m, o, &text, &n))) return false;
  bool ok = strstr(text, want) != NULL;
  if (!ok) fprintf(stderr, "%s", text);
  tz_free(text);
  return ok;
}

static void test_print_options(tz_context *c) {
  static const char text[] = "%0 = stablehlo.constant dense<[1, 2, 3]> : tensor<3xi32> loc(\"x\")\n"
                             "func.func @f(%a: i32) { return }\n";
  tz_module *m = parse(c, text);
  typedef tz_print_options with;
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .generic = true}, "\"builtin.module\"() ({"));
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .locations = true}, " loc(#loc1)\n"));
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .locations = true, .local_scope = true},
                    " loc(\"x\")\n"));
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .elide_elements = 2}, "dense_resource<__elided__>"));
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .elide_elements = 3}, "dense<[1, 2, 3]>"));
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .hex_elements = 2},
                    "dense<\"0x010000000200000003000000\">"));
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .hex_elements = -1}, "dense<[1, 2, 3]>"));
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .skip_regions = true}, "{...}"));
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .users = true}, "// unused"));
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .location_names = true}, "%x = stablehlo.constant"));
  CHECK(prints_with(m, &(with){TZ_SIZED(with), .unique_names = true}, "%arg0"));
  tz_module_free(m);
}

static void test_print_to(tz_context *c) {
  tz_module *m = parse(c, program);
  collected got = {.length = 0}, none = {.enough = true};
  char *text;
  size_t n;
  CHECK(fine(tz_module_print(m, NULL, &text, &n)) &&
        fine(tz_module_print_to(m, NULL, collect, &got)));
  CHECK(got.length == n && memcmp(got.bytes, text, n) == 0);
  tz_free(text);
  CHECK(refused(tz_module_print_to(m, NULL, collect, &none), "no more text") && none.calls == 1);
  CHECK(refused(tz_module_print_to(m, NULL, NULL, NULL), "NULL"));
  CHECK(refused(tz_module_print_to(NULL, NULL, collect, &got), "NULL"));
  tz_module_free(m);
}

static void test_null(tz_context *c) {
  size_t n;
  char *text;
  tz_module *m;
  CHECK(refused(tz_context_create(NULL, NULL), "NULL"));
  CHECK(refused(tz_module_parse(c, NULL, 3, NULL, &m), "NULL") &&
        refused(tz_module_create(c, NULL), ""));
  CHECK(refused(tz_module_print(NULL, NULL, &text, &n), "NULL") && text == NULL);
  CHECK(refused(tz_module_verify(NULL), "NULL") && refused(tz_module_run(NULL, ""), "NULL"));
  CHECK(!tz_op_parent(NULL) && !tz_op_operand(NULL, 0) && !tz_op_region(NULL, 0));
  CHECK(strcmp(tz_op_name(NULL), "") == 0 && !tz_op_attr(NULL, "x") &&
        !tz_op_attr_at(NULL, 0).name);
  CHECK(!tz_region_first_block(NULL) && !tz_block_arg(NULL, 0) && !tz_block_next(NULL));
  CHECK(!tz_value_type(NULL) && !tz_value_op(NULL) && !tz_value_first_use(NULL) &&
        !tz_use_op(NULL));
  CHECK(!tz_op_walk(NULL, false, NULL, NULL) && !tz_module_find(NULL, "x"));
  tz_module_free(NULL);
  tz_context_free(NULL);
  tz_error_free(NULL);
  CHECK(tz_num_passes() > 20 && tz_pass_at(0).name && !tz_pass_at(tz_num_passes()).name);
}

typedef struct heard {
  int diagnostics, notes;
} heard;
static void hear(void *user, const tz_diagnostic *d) {
  heard *h = user;
  h->diagnostics++;
  h->notes += (int)d->num_notes;
  CHECK(d->severity == TZ_ERROR && d->line == 2 && strcmp(d->file, "x.mlir") == 0);
}

static void test_diagnostics(void) {
  static const char twice[] = "func.func @f() { return }\nfunc.func @f() { return }\n";
  heard h = {0};
  tz_context *c;
  tz_module *m;
  CHECK(fine(tz_context_create(&(tz_context_options){TZ_SIZED(tz_context_options),
                                                     .diagnostics = hear, .diagnostics_user = &h},
                               &c)));
  tz_error *e = tz_module_parse(c, twice, sizeof twice - 1, "x.mlir", &m);
  if (!e) e = tz_module_verify(m);
  CHECK(refused(e, "x.mlir:2:1: error: redefinition of symbol named 'f'\nx.mlir:1:1: note: see"));
  CHECK(h.diagnostics == 1 && h.notes == 1);
  tz_context_free(c);
}

/* What it should not: it parses while it is told, and hears of that in between. */
typedef struct meddler {
  tz_context *c;
  int depth;
  char heard[64];
} meddler;
static void meddle(void *user, const tz_diagnostic *d) {
  static const char wrong[] = "func.func @g() { return }\nfunc.func @g() { return }\n";
  meddler *m = user;
  tz_module *other;
  char line[32];
  if (m->depth++ == 0) {
    tz_error *e = tz_module_parse(m->c, wrong, sizeof wrong - 1, "y.mlir", &other);
    if (!e) e = tz_module_verify(other);
    CHECK(refused(e, "y.mlir:2:1: error: redefinition of symbol named 'g'"));
  }
  snprintf(line, sizeof line, "%s:%u %s;", d->file, d->line, strstr(d->message, "named"));
  strncat(m->heard, line, sizeof m->heard - strlen(m->heard) - 1);
}
static void test_meddler(void) {
  static const char twice[] = "func.func @f() { return }\nfunc.func @f() { return }\n";
  meddler h = {0};
  tz_module *m;
  CHECK(fine(tz_context_create(&(tz_context_options){TZ_SIZED(tz_context_options),
                                                     .diagnostics = meddle, .diagnostics_user = &h},
                               &h.c)));
  tz_error *e = tz_module_parse(h.c, twice, sizeof twice - 1, "x.mlir", &m);
  if (!e) e = tz_module_verify(m);
  CHECK(refused(e, "redefinition of symbol named 'f'") && h.depth == 2);
  CHECK(strcmp(h.heard, "y.mlir:2 named 'g';x.mlir:2 named 'f';") == 0);
  tz_context_free(h.c);
}

int main(void) {
  tz_context *c;
  CHECK(fine(tz_context_create(NULL, &c)));
  test_types(c);
  test_attrs(c);
  test_odd_attrs(c);
  test_changes(c);
  test_strays(c);
  test_copies(c);
  test_clone();
  test_bytecode(c);
  test_meshes(c);
  test_print_options(c);
  test_print_to(c);
  test_null(c);
  tz_context_free(c);
  test_diagnostics();
  test_meddler();
  return UNIT_END();
}
