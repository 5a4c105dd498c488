/* Public traces: where axes came from, across loops, groups, constraints, functions' results. */
#include "terrazzo/trace.h"
#include "tests/api.h"

#define MESH "sdy.mesh @mesh = <[\"x\"=2, \"y\"=4]>\n"
#define X "{sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>}"

static tz_module *parse(tz_context *c, const char *text) {
  tz_module *m = NULL;
  CHECK(fine(tz_module_parse(c, text, strlen(text), "test.mlir", &m)));
  return m;
}

static const tz_trace *run(tz_module *m, const char *pipeline) {
  const tz_trace *t = NULL;
  CHECK(fine(tz_module_run_traced(m, pipeline, &t)) && t);
  return t;
}

static tz_block *body_of(tz_op *o, size_t region) {
  return tz_region_first_block(tz_op_region(o, region));
}
static tz_block *main_of(tz_module *m) { return body_of(tz_module_find(m, "main"), 0); }
static tz_op *op_named(tz_block *b, const char *name) {
  tz_op *o = tz_block_first_op(b);
  while (o && strcmp(tz_op_name(o), name) != 0) o = tz_op_next(o);
  return o;
}

/* The event that gave v the axis; all zero: there is none. */
static tz_trace_event origin(const tz_trace *t, const tz_value *v, const char *axis) {
  tz_trace_event e = {TZ_SIZED(tz_trace_event)};
  tz_trace_event_at(t, tz_trace_find(t, v, axis, 0, 0), &e);
  return e;
}

static const char loop[] =
    MESH "func.func @main(%x: tensor<8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}p1]>},\n"
         "                %n: tensor<i32>) -> tensor<8xf32> {\n"
         "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
         "  %1:2 = stablehlo.while(%i = %n, %a = %0) : tensor<i32>, tensor<8xf32>\n"
         "    cond {\n"
         "      %2 = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>\n"
         "      stablehlo.return %2 : tensor<i1>\n"
         "    } do {\n"
         "      %3 = stablehlo.abs %a : tensor<8xf32>\n"
         "      stablehlo.return %i, %3 : tensor<i32>, tensor<8xf32>\n"
         "    }\n"
         "  return %1#1 : tensor<8xf32>\n"
         "}\n";

static void check_loop(tz_module *m, const tz_trace *t) {
  tz_op *neg = op_named(main_of(m), "stablehlo.negate");
  tz_op *loop_op = op_named(main_of(m), "stablehlo.while");
  tz_value *arg = tz_block_arg(main_of(m), 0), *inside = tz_block_arg(body_of(loop_op, 1), 1);
  tz_trace_event e = origin(t, tz_op_result(loop_op, 1), "x"), same = origin(t, inside, "x");
  CHECK(e.to == tz_op_result(loop_op, 1) && e.from == tz_op_result(neg, 0));
  CHECK(e.op == loop_op && e.edge && e.user_priority == 1 && e.op_round >= 0);
  CHECK(e.pre == 1 && e.size == 2 && strcmp(e.axis, "x") == 0 && strcmp(e.mesh, "mesh") == 0);
  CHECK(same.to == e.to && same.from == e.from && same.step == e.step);
  CHECK(tz_trace_event_at(t, e.cause, &e) && e.to == tz_op_result(neg, 0) && e.from == arg);
  CHECK(e.op == neg && !e.edge && e.cause == TZ_NO_EVENT);
  e = origin(t, tz_op_result(op_named(body_of(loop_op, 1), "stablehlo.abs"), 0), "x");
  CHECK(e.op == loop_op && e.edge && e.from == tz_op_result(neg, 0)); /* one edge, two sources */
  CHECK(tz_trace_find(t, arg, "x", 0, 0) == TZ_NO_EVENT);             /* it had it before */
  CHECK(tz_trace_find(t, tz_op_result(neg, 0), "y", 0, 0) == TZ_NO_EVENT);
}

static void test_loop(tz_context *c) {
  tz_module *m = parse(c, loop);
  check_loop(m, run(m, "sdy-propagation-pipeline"));
  m = parse(c, loop); /* step by step, while the edges are ops */
  CHECK(fine(tz_module_run(m, "sdy-import-pipeline")));
  check_loop(m, run(m, "sdy-user-priority-propagate"));
  const tz_trace *t = run(m, "sdy-sink-data-flow-edges"); /* brings nothing */
  CHECK(tz_trace_num_events(t) == 0);
}

static void test_parts(tz_context *c) {
  tz_module *m =
      parse(c, MESH "func.func @main(%x: tensor<2x2xf32> {sdy.sharding = #sdy.sharding<@mesh, "
                    "[{\"y\":(1)2}, {}]>}) -> tensor<2x2xf32> {\n"
                    "  %0 = stablehlo.negate %x : tensor<2x2xf32>\n"
                    "  return %0 : tensor<2x2xf32>\n}\n");
  const tz_trace *t = run(m, "sdy-basic-propagate");
  tz_value *v = tz_op_result(op_named(main_of(m), "stablehlo.negate"), 0);
  tz_trace_event e = origin(t, v, "y");
  CHECK(e.pre == 1 && e.size == 2 && e.op_round == -1 && e.user_priority == 0);
  CHECK(tz_trace_find(t, v, "y", 1, 4) != TZ_NO_EVENT);
  CHECK(tz_trace_find(t, v, "y", 2, 2) == TZ_NO_EVENT); /* the other half */
}

static void test_groups(tz_context *c) {
  tz_module *m = parse(c, MESH "func.func @main(%x: tensor<8xf32>, %y: tensor<8xf32> " X
                               ") -> tensor<8xf32> {\n"
                               "  %0 = stablehlo.negate %y : tensor<8xf32>\n"
                               "  sdy.sharding_group %x group_id=0 : tensor<8xf32>\n"
                               "  sdy.sharding_group %0 group_id=0 : tensor<8xf32>\n"
                               "  return %x : tensor<8xf32>\n}\n");
  const tz_trace *t = run(m, "sdy-propagation-pipeline");
  tz_trace_event e = origin(t, tz_block_arg(main_of(m), 0), "x");
  CHECK(e.to == tz_block_arg(main_of(m), 0) && !e.op);
}

/* What a function's results say goes to what it returns; a constraint says something to its input;
 * what is gone at the end is NULL. */
static void test_results(tz_context *c) {
  tz_module *m =
      parse(c, MESH "func.func @main(%x: tensor<8xf32>) -> (tensor<8xf32> " X ", tensor<8xf32>) {\n"
                    "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
                    "  %1 = stablehlo.abs %x : tensor<8xf32>\n"
                    "  %2 = stablehlo.abs %0 : tensor<8xf32>\n"
                    "  return %0, %1 : tensor<8xf32>, tensor<8xf32>\n}\n");
  const tz_trace *t = run(m, "sdy-propagation-pipeline");
  tz_op *main_op = tz_module_find(m, "main");
  tz_value *neg = tz_op_result(op_named(main_of(m), "stablehlo.negate"), 0);
  tz_value *abs_ = tz_op_result(op_named(main_of(m), "stablehlo.abs"), 0);
  tz_trace_event e = origin(t, neg, "x");
  CHECK(e.from == neg && e.from_returned && !e.to_returned && e.op == main_op);
  CHECK(e.cause == TZ_NO_EVENT);
  e = origin(t, abs_, "x");
  CHECK(e.from == tz_block_arg(main_of(m), 0) && e.cause != TZ_NO_EVENT);
  bool returned = false;
  for (size_t i = 0; tz_trace_event_at(t, i, &e); i++) {
    CHECK(e.cause == TZ_NO_EVENT || e.cause < i);
    returned |= e.to == abs_ && e.to_returned && e.from == abs_ && !e.from_returned;
  }
  CHECK(returned);
}

static void test_constraint(tz_context *c) {
  tz_module *m = parse(c, MESH "func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {\n"
                               "  %0 = stablehlo.negate %x : tensor<8xf32>\n"
                               "  %1 = sdy.sharding_constraint %0 <@mesh, [{\"x\"}]> : "
                               "tensor<8xf32>\n"
                               "  return %1 : tensor<8xf32>\n}\n");
  const tz_trace *t = run(m, "sdy-propagation-pipeline");
  tz_op *at = op_named(main_of(m), "sdy.reshard");
  tz_trace_event e = origin(t, tz_block_arg(main_of(m), 0), "x");
  CHECK(e.op && strcmp(tz_op_name(e.op), "stablehlo.negate") == 0);
  CHECK(at && tz_trace_event_at(t, e.cause, &e) && e.op == at && e.from == tz_op_result(at, 0));
}

static void test_gone(tz_context *c) {
  tz_module *m = parse(c, MESH "func.func @main(%x: tensor<8xf32> " X ") -> tensor<8xf32> {\n"
                               "  %0 = stablehlo.constant dense<1.0> : tensor<8xf32>\n"
                               "  %1 = stablehlo.add %x, %0 : tensor<8xf32>\n"
                               "  %2 = stablehlo.add %x, %0 : tensor<8xf32>\n"
                               "  %3 = stablehlo.add %1, %2 : tensor<8xf32>\n"
                               "  return %3 : tensor<8xf32>\n}\n");
  const tz_trace *t = run(m, "sdy-propagation-pipeline"); /* which splits and merges constants */
  tz_trace_event e = {TZ_SIZED(tz_trace_event)};
  size_t gone = 0;
  for (size_t i = 0; tz_trace_event_at(t, i, &e); i++) gone += !e.to;
  CHECK(gone == 1);
}

static void test_refusals(tz_context *c) {
  tz_module *m = parse(c, loop);
  const tz_trace *t = (const tz_trace *)(const void *)m;
  tz_trace_event e = {TZ_SIZED(tz_trace_event), .step = 7};
  CHECK(refused(tz_module_run_traced(m, "no-such-pass", &t), "no-such-pass") && !t);
  CHECK(refused(tz_module_run_traced(NULL, "canonicalize", &t), "NULL") && !t);
  CHECK(refused(tz_module_run_traced(m, NULL, &t), "NULL"));
  CHECK(refused(tz_module_run_traced(m, "canonicalize", NULL), "NULL"));
  CHECK(tz_trace_num_events(NULL) == 0 && !tz_trace_event_at(NULL, 0, &e) && e.step == 0);
  CHECK(tz_trace_find(NULL, tz_block_arg(main_of(m), 0), "x", 0, 0) == TZ_NO_EVENT);
  m = parse(c, loop);
  t = run(m, "sdy-propagation-pipeline");
  CHECK(!tz_trace_event_at(t, tz_trace_num_events(t), &e) && tz_trace_event_at(t, 0, NULL));
  CHECK(tz_trace_find(t, NULL, "x", 0, 0) == TZ_NO_EVENT);
  CHECK(tz_trace_find(t, tz_block_arg(main_of(m), 0), NULL, 0, 0) == TZ_NO_EVENT);
}

int main(void) {
  tz_context *c;
  if (!fine(tz_context_create(NULL, &c))) return 1;
  test_loop(c);
  test_parts(c);
  test_groups(c);
  test_results(c);
  test_constraint(c);
  test_gone(c);
  test_refusals(c);
  tz_context_free(c);
  return UNIT_END();
}
