/* Worked examples of openxla/shardy's docs/propagation.md and compiler_api.md, and the corners of
 * the engine that they don't reach. Each runs passes on a module and looks for lines in it. */
#define _GNU_SOURCE
#include "shard/shard.h"
#include "tests/unit.h"
#include "text/text.h"

typedef struct example {
  const char *name, *passes, *source;
  const char *expect[6]; /* substrings that follow one another */
} example;

#define MESH "sdy.mesh @mesh = <[\"a\"=2, \"b\"=2, \"c\"=2, \"d\"=2, \"e\"=2, \"f\"=2, \"g\"=2]>\n"
#define XY "sdy.mesh @mesh = <[\"x\"=4, \"y\"=2]>\n"
#define SH(dims) "{sdy.sharding = #sdy.sharding<@mesh, " dims ">}"

static const example examples[] = {
    {"propagation.md: axes along factors, basic",
     "sdy-basic-propagate",
     MESH "func.func @main(%t0: tensor<16x16xf32> " SH(
         "[{\"a\", ?}, {\"f\", ?}]") ", "
                                     "%t1: tensor<16x16x16xf32> " SH(
                                         "[{\"a\", \"b\", ?}, {\"c\", \"d\", ?}, {\"g\", "
                                         "?}]") ") -> "
                                                "tensor<16x16xf32> {\n"
                                                "%0 = stablehlo.custom_call @foo(%t0, %t1) "
                                                "{sdy.sharding = "
                                                "#sdy.sharding_per_value<[<@mesh, "
                                                "[{?}, {\"c\", \"e\", ?}]>]>, "
                                                "sdy.sharding_rule = "
                                                "#sdy.op_sharding_rule<([i, k], [i, j, k])"
                                                "->([i, j]) {i=16, j=16, k=16}, custom>} : "
                                                "(tensor<16x16xf32>, tensor<16x16x16xf32>) "
                                                "-> "
                                                "tensor<16x16xf32>\n"
                                                "return %0 : tensor<16x16xf32>\n}\n",
     {"%arg0: tensor<16x16xf32>", "[{\"a\", \"b\", ?}, {\"f\", ?}]",
      "[{\"a\", \"b\", ?}, {\"c\", \"d\", ?}, {\"g\", ?}]",
      "[{\"a\", \"b\", ?}, {\"c\", \"e\", ?}]"}},
    {"propagation.md: a matmul passes rows and columns on",
     "sdy-basic-propagate",
     XY "func.func @main(%l: tensor<8x16xf32> " SH("[{\"x\"}, {}]") ", %r: tensor<16x8xf32> " SH(
         "[{}, {\"y\"}]") ") -> "
                          "tensor<8x8xf32> "
                          "{\n"
                          "%0 = "
                          "stablehlo.dot_"
                          "general %l, %r, "
                          "contracting_dims "
                          "= [1] x [0] : "
                          "(tensor<8x16xf32>,"
                          " "
                          "tensor<16x8xf32>) "
                          "-> "
                          "tensor<8x8xf32>\n"
                          "return %0 : "
                          "tensor<8x8xf32>\n}"
                          "\n",
     {"stablehlo.dot_general", "[{\"x\", ?}, {\"y\", ?}]"}},
    {"compound factors: a reshape splits an axis",
     "sdy-basic-propagate",
     XY "func.func @main(%a: tensor<8x4xf32> " SH(
         "[{\"x\", \"y\"}, {}]") ") -> tensor<2x16xf32> {\n"
                                 "%0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> "
                                 "tensor<2x16xf32>\n"
                                 "return %0 : tensor<2x16xf32>\n}\n",
     {"stablehlo.reshape", "[{\"x\":(1)2, ?}, {\"x\":(2)2, \"y\", ?}]"}},
    {"rules: a reshape's factors",
     "sdy-populate-op-sharding-rules",
     "func.func @main(%a: tensor<8x4xf32>) -> tensor<2x16xf32> {\n"
     "%0 = stablehlo.reshape %a : (tensor<8x4xf32>) -> tensor<2x16xf32>\n"
     "return %0 : tensor<2x16xf32>\n}\n",
     {"([ij, k])->([i, jk]) {i=2, j=4, k=4}"}},
    {"aggressive resolves what basic leaves",
     "sdy-aggressive-propagate",
     XY "func.func @main(%l: tensor<8x16xf32> " SH("[{\"x\", ?}, {}]") ", %r: tensor<16x8xf32> " SH(
         "[{}, {\"x\", ?}]") ") -> "
                             "tensor<"
                             "8x8xf32> {\n"
                             "%0 = "
                             "stablehlo."
                             "dot_general "
                             "%l, %r, "
                             "contracting_"
                             "dims = [1] "
                             "x [0] : "
                             "(tensor<"
                             "8x16xf32>, "
                             "tensor<"
                             "16x8xf32>) "
                             "-> "
                             "tensor<"
                             "8x8xf32>\n"
                             "return %0 : "
                             "tensor<"
                             "8x8xf32>\n}"
                             "\n",
     {"stablehlo.dot_general", "[{\"x\", ?}, {?}]"}},
    {"priorities: the lower number first",
     "sdy-user-priority-propagate",
     XY "func.func @main(%l: tensor<8x8xf32> " SH("[{\"x\"}p1, {}]") ", %r: tensor<8x8xf32> " SH(
         "[{}, {\"x\"}p0]") ") -> "
                            "tensor<8x8xf32>"
                            " {\n"
                            "%0 = "
                            "stablehlo.add "
                            "%l, %r : "
                            "tensor<8x8xf32>"
                            "\n"
                            "return %0 : "
                            "tensor<8x8xf32>"
                            "\n}\n",
     {"%arg0: tensor<8x8xf32>", "[{\"x\"}, {}]", "stablehlo.add", "[{?}, {\"x\", ?}]"}},
    {"a while carries shardings around",
     "sdy-add-data-flow-edges,sdy-basic-propagate",
     XY "func.func @main(%a: tensor<8xf32> " SH(
         "[{\"x\"}]") ", %i: tensor<i32>) -> tensor<8xf32> {\n"
                      "%0:2 = stablehlo.while(%p = %a, %k = %i) : tensor<8xf32>, "
                      "tensor<i32>\n"
                      "cond { %c = stablehlo.compare LT, %k, %i : (tensor<i32>, "
                      "tensor<i32>) -> tensor<i1>\n"
                      "stablehlo.return %c : tensor<i1> } do { %n = stablehlo.negate %p : "
                      "tensor<8xf32>\n"
                      "stablehlo.return %n, %k : tensor<8xf32>, tensor<i32> }\n"
                      "return %0#0 : tensor<8xf32>\n}\n",
     {"stablehlo.negate", "[{\"x\", ?}]", "sdy.data_flow_edge", "sharding=<@mesh, [{\"x\", ?}]>"}},
    {"a barrier lets shardings through one way",
     "sdy-basic-propagate",
     XY "func.func @main(%a: tensor<8xf32>, %b: tensor<8xf32> " SH(
         "[{\"x\"}]") ") -> (tensor<8xf32>, "
                      "tensor<8xf32>) {\n"
                      "%0 = sdy.propagation_barrier %a allowed_direction=BACKWARD : "
                      "tensor<8xf32>\n"
                      "%1 = stablehlo.add %0, %b : tensor<8xf32>\n"
                      "%2 = sdy.propagation_barrier %b allowed_direction=NONE : "
                      "tensor<8xf32>\n"
                      "return %1, %2 : tensor<8xf32>, tensor<8xf32>\n}\n",
     {"%arg0: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\", ?}]>}",
      "allowed_direction=NONE : tensor<8xf32>"}},
    {"groups are sharded alike without data flow",
     "sdy-basic-propagate",
     XY "func.func @main(%a: tensor<8xf32> " SH(
         "[{\"x\"}]") ", %b: tensor<8xf32>) -> (tensor<8xf32>, "
                      "tensor<8xf32>) {\n"
                      "sdy.sharding_group %a group_id=0 : tensor<8xf32>\n"
                      "sdy.sharding_group %b group_id=0 : tensor<8xf32>\n"
                      "return %a, %b : tensor<8xf32>, tensor<8xf32>\n}\n",
     {"%arg1: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}"}},
    {"a mesh of 2^40 devices costs nothing",
     "sdy-lift-inlined-meshes,sdy-user-priority-propagate,sdy-close-shardings",
     "sdy.mesh @mesh = <[\"x\"=1048576, \"y\"=1048576]>\n"
     "func.func @main(%a: tensor<1048576xf32> " SH(
         "[{\"x\"}]") ") -> tensor<1048576xf32> {\n"
                      "%0 = stablehlo.negate %a : tensor<1048576xf32>\n"
                      "return %0 : tensor<1048576xf32>\n}\n",
     {"stablehlo.negate", "[{\"x\"}]"}},
    {"each use of a constant has its own",
     "sdy-constant-or-scalar-splitter",
     "func.func @main() -> (tensor<8xf32>, tensor<8xf32>) {\n"
     "%c = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
     "%0 = stablehlo.add %c, %c : tensor<8xf32>\n"
     "return %c, %0 : tensor<8xf32>, tensor<8xf32>\n}\n",
     {"sdy.constant", "sdy.constant", "stablehlo.add %1, %1", "return %0"}},
    {"calls are imported and exported again",
     ("sdy-flatten-call-graph,sdy-import-func-calls,symbol-dce,sdy-user-priority-propagate,"
      "sdy-export-named-computations,sdy-unflatten-call-graph"),
     XY "func.func @main(%a: tensor<8xf32> " SH(
         "[{\"x\"}]") ") -> tensor<8xf32> {\n"
                      "%0 = call @f(%a) : (tensor<8xf32>) -> tensor<8xf32>\n"
                      "%1 = call @f(%0) : (tensor<8xf32>) -> tensor<8xf32>\n"
                      "return %1 : tensor<8xf32>\n}\n"
                      "func.func private @f(%a: tensor<8xf32>) -> tensor<8xf32> {\n"
                      "%0 = stablehlo.negate %a : tensor<8xf32>\n"
                      "return %0 : tensor<8xf32>\n}\n",
     {"call @f(", "call @f(", "func.func private @f(%arg0: tensor<8xf32> {sdy.sharding",
      "stablehlo.negate"}},
};

static bool follows(str text, const char *const *expect) {
  for (size_t i = 0; i < 6 && expect[i]; i++) {
    str want = str_of(expect[i]);
    const char *at = memmem(text.data, text.len, want.data, want.len);
    if (!at) {
      fprintf(stderr, "no '%s'\n", expect[i]);
      return false;
    }
    text = str_from(text, (size_t)(at - text.data) + want.len);
  }
  return true;
}

static bool run(const example *x) {
  oom_trap trap;
  diag_sink sink = {.fn = diag_to_stderr};
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, &sink);
  if (!c || setjmp(trap.at)) return false;
  static const pass_info *const tables[] = {pass_generic, shard_passes};
  pass_tables t = {.tables = tables, .count = COUNT(tables)};
  buf out;
  buf_init(&out, &mem_system);
  ir_module *m = text_parse(c, str_of(x->name), str_of(x->source), NULL);
  bool ok = m && pass_run_text(m, str_of(x->passes), &t) && text_print(&out, m, NULL);
  ok = ok && follows(buf_view(&out), x->expect);
  if (!ok) fprintf(stderr, "%s\n%s\n", x->name, buf_cstr(&out));
  buf_deinit(&out);
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  return ok;
}

static void ignore(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)user, (void)kind, (void)pos, (void)text;
}

/* Wrong modules end in a message, not in a crash. */
static bool fails(const char *passes, const char *source) {
  oom_trap trap;
  diag_sink sink = {.fn = ignore};
  ir_ctx *c = ir_ctx_create(&mem_system, &trap, &sink);
  if (!c || setjmp(trap.at)) return false;
  static const pass_info *const tables[] = {pass_generic, shard_passes};
  pass_tables t = {.tables = tables, .count = COUNT(tables)};
  ir_module *m = text_parse(c, STR("wrong"), str_of(source), NULL);
  bool failed = !m || !pass_run_text(m, str_of(passes), &t);
  bool told = sink.errors > 0;
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  return failed && told;
}

int main(void) {
  for (size_t i = 0; i < COUNT(examples); i++) CHECK(run(&examples[i]));
  CHECK(fails("sdy-basic-propagate",
              "func.func @main(%a: tensor<8xf32> " SH("[{\"x\"}]") ") { return }\n"));
  CHECK(fails("sdy-flatten-call-graph", "func.func @main() { call @main() : () -> ()\nreturn }\n"));
  CHECK(fails("sdy-flatten-call-graph", "func.func @main() { call @g() : () -> ()\nreturn }\n"));
  CHECK(fails("sdy-basic-propagate",
              XY "func.func @main(%a: tensor<8xf32> " SH("[{\"z\"}]") ") { return }\n"));
  CHECK(fails("sdy-aggressive-propagate{propagation-strategy=odd}",
              "func.func @main() { return }\n"));
  return UNIT_END();
}
