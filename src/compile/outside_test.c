/* Custom calls that somebody else partitions: bodies and shardings of all kinds, also wrong ones;
 * what calls that inspect are told. */
#include <stdio.h>

#include "compile/compile.h"
#include "tests/unit.h"

/* %x is cut along "x" and "y"; what becomes of the call is the answer's affair. */
static const char program_text[] =
    "sdy.mesh @m = <[\"x\"=2, \"y\"=2]>\n"
    "func.func @main(%x: tensor<4x4xf32> {sdy.sharding = #sdy.sharding<@m, [{\"x\"}, {\"y\"}]>})\n"
    "    -> tensor<4x4xf32> {\n"
    "  %0 = stablehlo.custom_call @InspectSharding(%x) {has_side_effect = true,\n"
    "    backend_config = \"first\"} : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
    "  %1 = stablehlo.custom_call @mine(%x) {backend_config = \"here\",\n"
    "    sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=4, j=4}, custom>}\n"
    "    : (tensor<4x4xf32>) -> tensor<4x4xf32>\n"
    "  return %1 : tensor<4x4xf32>\n"
    "}\n";

typedef struct owner {
  const char *body;
  tile_assignment in, out;
  bool refuses;
  u32 asked, told;
  tile_assignment before; /* of the argument */
} owner;

static bool knows(void *user, str target) {
  (void)user;
  return str_is(target, "mine");
}

static status partition(void *user, arena *a, const compile_call *call, compile_answer *out) {
  owner *o = user;
  (void)a;
  o->asked++;
  CHECK(call->num_args == 1 && call->num_results == 1 && str_is(call->config, "here"));
  CHECK(call->args[0].type == DTYPE_f32 && call->args[0].dims.len == 2);
  o->before.kind = call->args[0].tiles.kind;
  CHECK(call->args[0].tiles.dims.len == 2 && call->args[0].tiles.dims.data[1] == 2);
  if (o->refuses) return status_make(STATUS_INTERNAL, "not today");
  *out = (compile_answer){str_of(o->body), &o->in, &o->out};
  return NULL;
}

static status inspect(void *user, str config, const tile_assignment *tiles) {
  owner *o = user;
  o->told++;
  CHECK(str_is(config, "first") && tiles->kind == TILE_OTHER && tiles->dims.data[0] == 2);
  return NULL;
}

/* What is said; empty: it compiled. */
static char *compiled(owner *o) {
  static char said[512];
  compile_options options = {.num_partitions = 4,
                             .knows_call = knows,
                             .partition_call = partition,
                             .inspect = inspect,
                             .calls_user = o};
  executable *e = NULL;
  status s = compile_source(str_of(program_text), &options, &e);
  CHECK(!s == (e != NULL));
  snprintf(said, sizeof said, STR_FMT, STR_ARG(s ? status_message(s) : STR("")));
  status_free(s);
  if (e) executable_release(e);
  return said;
}

static const i64 two_one[] = {2, 1}, two_one_two[] = {2, 1, 2}, two_two[] = {2, 2}, four[] = {4};
static const i64 zero[] = {0}, three_one[] = {3, 1}, mixed[] = {0, 3, 1, 2}, one[] = {1};

/* Rows along "x", columns whole: two devices have the same. */
static const tile_assignment rows = {.kind = TILE_OTHER,
                                     .dims = {two_one_two, 3},
                                     .num_subgroups = 1,
                                     .subgroups = {SUBGROUP_REPLICATED},
                                     .reshape = {four, 1},
                                     .perm = {zero, 1}};
static const tile_assignment whole = {.kind = TILE_REPLICATED};

#define BODY(in, out, text)                                                                        \
  "func.func private @twice(%x: " in ") -> " in " {\n"                                             \
  "  %0 = stablehlo.add %x, %x : " in "\n  return %0 : " in "\n}\n"                                \
  "func.func @main(%x: " in ") -> " out " {\n"                                                     \
  "  %y = func.call @twice(%x) : (" in ") -> " in "\n" text "}\n"
#define SAME(t) BODY(t, t, "  return %y : " t "\n")
#define SUM                                                                                        \
  "  %z = \"stablehlo.all_reduce\"(%y) ({\n"                                                       \
  "  ^bb0(%a: tensor<f32>, %b: tensor<f32>):\n"                                                    \
  "    %s = stablehlo.add %a, %b : tensor<f32>\n    stablehlo.return %s : tensor<f32>\n"           \
  "  }) {replica_groups = dense<[[0, 2], [1, 3]]> : tensor<2x2xi64>,\n"                            \
  "      channel_handle = #stablehlo.channel_handle<handle = 1, type = 1>,\n"                      \
  "      use_global_device_ids} : (tensor<2x4xf32>) -> tensor<2x4xf32>\n"                          \
  "  return %z : tensor<2x4xf32>\n"

static void test_bodies(void) {
  owner o = {SAME("tensor<2x4xf32>"), rows, rows};
  CHECK(!*compiled(&o) && o.asked && o.told == 1 && o.before.kind == TILE_OTHER);
  owner sums = {BODY("tensor<2x4xf32>", "tensor<2x4xf32>", SUM), rows, rows};
  CHECK(!*compiled(&sums));
  owner all = {SAME("tensor<4x4xf32>"), whole, whole};
  CHECK(!*compiled(&all));
}

static void check_refused(owner o, const char *why) {
  const char *said = compiled(&o);
  if (!strstr(said, why)) printf("'%s' is not in: %s\n", why, said);
  CHECK(strstr(said, why) && !o.told);
}

static tile_assignment tiles(const i64 *dims, size_t n, const i64 *devices) {
  return (tile_assignment){.kind = TILE_OTHER,
                           .dims = {dims, n},
                           .devices = {devices, devices ? 4 : 0},
                           .reshape = {four, devices ? 0 : 1},
                           .perm = {zero, devices ? 0 : 1}};
}

static void test_refusals(void) {
  check_refused((owner){.refuses = true}, "cannot be partitioned: not today");
  check_refused((owner){"garbage(", rows, rows}, "error");
  check_refused((owner){"", rows, rows}, "without a function @main");
  check_refused((owner){"func.func @other() { return }", rows, rows}, "without a function @main");
  check_refused((owner){SAME("tensor<4x4xf32>"), rows, rows}, "argument 0 is of another shape");
  check_refused((owner){SAME("tensor<2x4xf32>"), rows, whole}, "result 0 is of another shape");
  check_refused((owner){SAME("tensor<2x4xf64>"), rows, rows}, "argument 0 is of another shape");
  check_refused((owner){"func.func @main() { return }", rows, rows}, "a body of 0 arguments for 1");
  check_refused((owner){SAME("tensor<2x4xf32>"), tiles(three_one, 2, NULL), rows},
                "does not fit its shape");
  check_refused((owner){SAME("tensor<2x4xf32>"), tiles(one, 1, NULL), rows},
                "does not fit its shape");
  check_refused((owner){SAME("tensor<2x2xf32>"), tiles(two_two, 2, mixed), rows}, "no axes");
  check_refused((owner){SAME("tensor<2x4xf32>"), tiles(two_one, 2, NULL), rows}, "no axes");
  check_refused((owner){SAME("tensor<4x4xf32>"), {.kind = TILE_MANUAL}, whole}, "no axes");
}

int main(void) {
  test_bodies();
  test_refusals();
  return UNIT_END();
}
