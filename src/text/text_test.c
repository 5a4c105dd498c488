/* Text in and out: what comes back is what went in, errors say where, memory may run out anywhere.
 */
#include <stdlib.h>

#include "tests/unit.h"
#include "text/float.h"
#include "text/text.h"

/* An allocator that fails from the nth request on and counts what is out. */
typedef struct meter {
  long left, live;
} meter;

static void *meter_fn(void *user, void *p, size_t old_size, size_t new_size) {
  meter *m = user;
  (void)old_size;
  if (new_size == 0) {
    m->live--;
    free(p);
    return NULL;
  }
  if (m->left-- <= 0) return NULL;
  void *q = realloc(p, new_size);
  if (!p && q) m->live++;
  return q;
}

typedef struct result {
  bool ok, oom;
  buf text, errors; /* owned */
} result;

static void free_result(result *r) {
  buf_deinit(&r->text);
  buf_deinit(&r->errors);
}

static void convert(result *r, const allocator *mem, oom_trap *trap, str source,
                    const text_print_options *options) {
  diag_sink sink = {diag_to_buf, &r->errors, 0, false};
  ir_ctx *volatile c = NULL;
  ir_module *volatile m = NULL;
  r->ok = r->oom = false;
  if (setjmp(trap->at)) {
    r->oom = true;
  } else {
    text_parse_options allow = {.allow_unregistered = true};
    c = ir_ctx_create(mem, trap, &sink);
    m = c ? text_parse(c, STR("t.mlir"), source, &allow) : NULL;
    if (m) r->ok = text_print(&r->text, m, options);
  }
  ir_module_destroy(m);
  ir_ctx_destroy(c);
}

static result run(str source, const text_print_options *options) {
  oom_trap trap;
  result r;
  buf_init(&r.text, &mem_system);
  buf_init(&r.errors, &mem_system);
  convert(&r, &mem_system, &trap, source, options);
  return r;
}

static bool same(const char *in, const text_print_options *options) {
  result r = run(str_of(in), options);
  bool ok = r.ok && str_eq(buf_view(&r.text), str_of(in));
  if (!ok) fprintf(stderr, "in:  %s\nout: %s\n%s\n", in, buf_cstr(&r.text), buf_cstr(&r.errors));
  free_result(&r);
  return ok;
}

static bool fails(const char *in, const char *message) {
  result r = run(str_of(in), NULL);
  bool ok = !r.ok && strstr(buf_cstr(&r.errors), message) != NULL;
  if (!ok) fprintf(stderr, "in: %s\nwant: %s\ngot: %s\n", in, message, buf_cstr(&r.errors));
  free_result(&r);
  return ok;
}

#define MODULE(body) "module {\n" body "}\n"
#define FUNC(args, body) MODULE("  func.func @f(" args ") {\n" body "    return\n  }\n")

static const char everything[] = MODULE(
    "  sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
    "  func.func private @g(tensor<4xf32> {a.b = 1 : i64}) -> (tensor<4xf32> {a})\n"
    "  func.func public @f(%arg0: tensor<4x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}, "
    "{?}p1], replicated={\"y\":(1)2}>}) -> tensor<8xf32> attributes {z = [1, 2.500000e+00, "
    "\"s\\0A\", @a::@b"
    ", array<i32: 1>, !stablehlo.token]} {\n"
    "    %cst = stablehlo.constant dense<0.000000e+00> : tensor<f32>\n"
    "    %cst_0 = stablehlo.constant dense<[[1.000000e+00, 0xFF800000]]> : tensor<1x2xf32>\n"
    "    %0 = stablehlo.reduce(%arg0 init: %cst) applies stablehlo.add across dimensions = [0] : "
    "(tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>\n"
    "    %1:2 = stablehlo.while(%iterArg = %0, %iterArg_1 = %cst) : tensor<8xf32>, tensor<f32>\n"
    "    cond {\n"
    "      %5 = \"a.b\"(%iterArg) : (tensor<8xf32>) -> tensor<i1>\n"
    "      stablehlo.return %5 : tensor<i1>\n"
    "    } do {\n"
    "      stablehlo.return %iterArg, %iterArg_1 : tensor<8xf32>, tensor<f32>\n"
    "    }\n"
    "    %2 = stablehlo.slice %1#0 [0:8:2] : (tensor<8xf32>) -> tensor<4xf32>\n"
    "    %3 = call @g(%2) : (tensor<4xf32>) -> tensor<4xf32>\n"
    "    %values, %indices = chlo.top_k(%3, k = 2) : tensor<4xf32> -> (tensor<2xf32>, "
    "tensor<2xi32>)\n"
    "    %4 = sdy.manual_computation(%3) in_shardings=[<@mesh, [{\"x\"}]>] out_shardings=[<@mesh, "
    "[{\"x\"}]>] manual_axes={\"x\"} (%arg1: tensor<2xf32>) {\n"
    "      sdy.return %arg1 : tensor<2xf32>\n"
    "    } : (tensor<4xf32>) -> tensor<4xf32>\n"
    "    return %0 : tensor<8xf32>\n"
    "  }\n");

static void test_round_trip(void) {
  CHECK(same(everything, NULL));
  CHECK(same(MODULE("  \"a.b\"() ({\n"
                    "  ^bb0(%arg0: i32):\n"
                    "    \"a.c\"()[^bb1] : () -> ()\n"
                    "  ^bb1:  // 2 preds: ^bb0, ^bb1\n"
                    "    \"a.c\"()[^bb1] : () -> ()\n"
                    "  }) : () -> ()\n"),
             NULL));
  CHECK(same("#loc2 = loc(\"a\")\n"
             "module {\n"
             "  func.func @f(%arg0: i32 loc(\"a\")) {\n"
             "    return loc(#loc3)\n"
             "  } loc(#loc1)\n"
             "} loc(#loc)\n"
             "#loc = loc(unknown)\n"
             "#loc1 = loc(\"f.py\":1:2 to :9)\n"
             "#loc3 = loc(callsite(#loc2 at #loc1))\n",
             &(text_print_options){.debuginfo = true}));
}

static bool element(const char *type, const char *value) {
  buf b;
  buf_init(&b, &mem_system);
  buf_printf(&b,
             MODULE("  %%0 = \"a.b\"() {value = dense<%s> : tensor<2x%s>} : () -> tensor<2x%s>\n"),
             value, type, type);
  bool ok = same(buf_cstr(&b), NULL);
  buf_deinit(&b);
  return ok;
}

static void test_elements(void) {
  CHECK(element("i1", "[true, false]") && element("i8", "-128") && element("ui8", "255"));
  CHECK(element("i64", "[-9223372036854775808, 9223372036854775807]") && element("i4", "[-8, 7]"));
  CHECK(element("ui64", "18446744073709551615") && element("index", "[1, 2]"));
  CHECK(element("complex<f32>", "[(1.000000e+00,-2.500000e-01), (0.000000e+00,0x7FC00000)]"));
  CHECK(element("f32", "[0.699999988, 1.000000e-01]") && element("f32", "9.99999974E-5"));
  CHECK(element("f64", "[4.940660e-324, 1.7976931348623157E+308]"));
  CHECK(element("bf16", "[3.140630e+00, 0xFF80]") && element("f16", "6.550400e+04"));
  CHECK(element("f8E4M3FN", "[4.480000e+02, 0x7F]") && element("f8E5M2FNUZ", "0x80"));
  CHECK(element("f4E2M1FN", "[6.000000e+00, -5.000000e-01]") && element("f8E8M0FNU", "0xFF"));
}

static void test_floats(void) {
  CHECK(float_from_literal(FLOAT_f64, STR("0.1"), false) == 0x3FB999999999999A);
  CHECK(float_from_literal(FLOAT_f32, STR("16777217.0"), false) == 0x4B800000);
  CHECK(float_from_literal(FLOAT_f32, STR("1.0e400"), true) == 0xFF800000);
  CHECK(float_from_literal(FLOAT_f64, STR("2.2250738585072011e-308"), false) == 0xFFFFFFFFFFFFF);
  CHECK(float_from_literal(FLOAT_f64, STR("9007199254740993.0"), false) == 0x4340000000000000);
  CHECK(float_from_literal(FLOAT_f64, STR("1.0e-9999999999"), false) == 0);
  CHECK(float_from_literal(FLOAT_f16, STR("65520.0"), false) == 0x7C00);
  CHECK(float_from_literal(FLOAT_bf16, STR("1.00390625"), false) == 0x3F80);
}

static void test_errors(void) {
  CHECK(fails(FUNC("%a: f32", "    return %b : f32\n"),
              "t.mlir:3:12: error: use of undeclared SSA value name"));
  CHECK(fails(FUNC("%a: f32, %a: f32", ""), "region entry argument '%a' is already in use"));
  CHECK(fails(FUNC("%a: f32", "    \"x.y\"(%a) : (f64) -> ()\n"),
              "use of value '%a' expects different type than prior uses: 'f64' vs 'f32'"));
  CHECK(fails(FUNC("", "    %0 = \"x.y\"() : () -> i32\n    %0 = \"x.y\"() : () -> i32\n"),
              "redefinition of SSA value '%0'"));
  CHECK(fails(FUNC("", "    \"x.y\"(%0) : (i32) -> ()\n    %0 = \"x.y\"() : () -> i64\n"),
              "definition of SSA value '%0#0' has type 'i64'"));
  CHECK(fails(FUNC("", "    stablehlo.nothing\n"), "custom op 'stablehlo.nothing' is unknown"));
  CHECK(fails(FUNC("", "    \"x.y\"()[^bb7] : () -> ()\n"), "undefined block '^bb7'"));
  CHECK(fails(FUNC("%a: tensor<9223372036854775808xf32>", ""), "invalid dimension"));
  CHECK(fails(FUNC("", "    %0 = stablehlo.constant dense<[1, 2]> : tensor<3xi8>\n"),
              "inferred shape of elements literal ([2]) does not match type ([3])"));
  CHECK(fails(FUNC("", "    %0 = stablehlo.constant dense<[1, [2]]> : tensor<2xi8>\n"),
              "ranks are not consistent between elements"));
  CHECK(fails(FUNC("", "    %0 = stablehlo.constant dense<256> : tensor<2xi8>\n"),
              "integer constant out of range for type"));
  CHECK(fails(FUNC("", "    %0 = stablehlo.constant dense<\"0x00\"> : tensor<2xi32>\n"),
              "elements hex data size is invalid"));
  CHECK(fails("module attributes {a, a} {}", "duplicate key 'a' in dictionary attribute"));
  CHECK(fails("module {", "expected"));
  CHECK(fails("module { \"a", "expected '\"' in string literal"));
  CHECK(fails("\"a.b\"() : () -> () loc(#l)", "operation location alias was never defined"));
}

/* Nesting as deep as memory allows must end in a message. */
static bool too_deep(const char *open, const char *before) {
  buf b;
  buf_init(&b, &mem_system);
  buf_str(&b, str_of(before));
  for (int i = 0; i < 200000; i++) buf_str(&b, str_of(open));
  result r = run(buf_view(&b), NULL);
  bool ok = !r.ok && strstr(buf_cstr(&r.errors), "nested more than") != NULL;
  free_result(&r);
  buf_deinit(&b);
  return ok;
}

static void test_depth(void) {
  CHECK(too_deep("[", "module attributes {a = "));
  CHECK(too_deep("{a = ", "module attributes "));
  CHECK(too_deep("(", "module attributes {a = "));
  CHECK(too_deep("complex<", "module attributes {a = "));
  CHECK(too_deep("tensor<", "module attributes {a = "));
  CHECK(too_deep("\"a.b\"() ({", ""));
  CHECK(too_deep("module {", ""));
  CHECK(too_deep("callsite(", "\"a.b\"() : () -> () loc("));
  CHECK(too_deep("#sdy.sharding_per_value<[<mesh<[]>, [], replicated={", "#a = "));
}

/* Fails at the nth request for every n until it works; nothing may be left behind. */
static void test_memory(void) {
  bool done = false;
  for (long n = 0; n < 10000 && !done; n++) {
    meter m = {n, 0};
    allocator mem = {meter_fn, &m};
    oom_trap trap;
    result r;
    buf_init(&r.text, &mem);
    buf_init(&r.errors, &mem_system);
    convert(&r, &mem, &trap, str_of(everything), &(text_print_options){.debuginfo = true});
    done = r.ok;
    free_result(&r);
    if (m.live != 0) CHECK(!"memory is left");
  }
  CHECK(done);
}

/* ---- a sink: the same text, whatever the pieces ---- */

typedef struct pieces {
  buf whole;
  size_t left; /* how many it takes */
} pieces;

static bool take(void *user, str piece) {
  pieces *p = user;
  if (p->left == 0) return false;
  p->left--;
  buf_str(&p->whole, piece);
  return true;
}

static bool print_through(const ir_module *m, const text_print_options *options, size_t chunk,
                          pieces *p) {
  buf b;
  buf_init(&p->whole, &mem_system);
  buf_init_sink(&b, &mem_system, chunk, take, p);
  bool printed = text_print(&b, m, options), ok = buf_flush(&b) && printed;
  buf_deinit(&b);
  return ok;
}

static bool same_through(const ir_module *m, const text_print_options *options, size_t chunk) {
  pieces p = {.left = SIZE_MAX};
  buf want;
  buf_init(&want, &mem_system);
  CHECK(text_print(&want, m, options) && print_through(m, options, chunk, &p));
  bool ok = str_eq(buf_view(&want), buf_view(&p.whole)) && SIZE_MAX - p.left >= want.len / 40000;
  buf_deinit(&want);
  buf_deinit(&p.whole);
  return ok;
}

static void add_hex(buf *b, size_t elements) {
  BUF_LIT(b, "dense<\"0x");
  for (size_t i = 0; i < elements; i++) buf_printf(b, "%016llX", (unsigned long long)i << 32);
  buf_printf(b, "\"> : tensor<%zuxi64>", elements);
}

/* Has a constant of many digits, one within an attribute whose text is changed when it is there, a
 * list of many numbers, and an op whose own form does not fit. */
static void add_large(buf *b) {
  buf_str(b, str_of(everything));
  b->len -= strlen("}\n");
  BUF_LIT(b, "  \"a.b\"() {a = array<i64: 0");
  for (int i = 0; i < 500; i++) BUF_LIT(b, ", -1");
  BUF_LIT(b, ">, b = #stablehlo.mesh<axes=[], device_ids=");
  add_hex(b, 1000);
  BUF_LIT(b, ">, c = ");
  add_hex(b, 10000);
  BUF_LIT(b, "} : () -> ()\n"
             "  %a = \"arith.cmpi\"() {predicate = 77} : () -> i1\n}\n");
}

static void test_sink(void) {
  static const text_print_options all[] = {{0}, {.debuginfo = true}, {.generic = true}};
  static const size_t chunks[] = {1, 100, 1 << 14};
  text_parse_options allow = {.allow_unregistered = true};
  oom_trap trap;
  diag_sink sink = {.fn = diag_to_stderr};
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, &sink);
  buf source;
  if (setjmp(trap.at)) abort();
  buf_init(&source, &mem_system);
  add_large(&source);
  ir_module *m = text_parse(c, STR("t.mlir"), buf_view(&source), &allow);
  CHECK(m);
  for (size_t i = 0; m && i < COUNT(all) * COUNT(chunks); i++)
    CHECK(same_through(m, &all[i / COUNT(chunks)], chunks[i % COUNT(chunks)]));
  for (size_t n = 0; m && n < 20; n++) { /* refuses the nth piece, and is not asked again */
    pieces p = {.left = n};
    CHECK(!print_through(m, NULL, 1000, &p) && p.left == 0);
    buf_deinit(&p.whole);
  }
  buf_deinit(&source);
  ir_module_destroy(m);
  ir_ctx_destroy(c);
}

int main(void) {
  test_sink();
  test_round_trip();
  test_elements();
  test_floats();
  test_errors();
  test_depth();
  test_memory();
  return UNIT_END();
}
