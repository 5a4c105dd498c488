/* Answers through the public API: each question, as text and as JSON, and what cannot be asked. */
#include "terrazzo/explain.h"

#include <string.h>

#include "tests/api.h"

static const char model[] =
    "sdy.mesh @mesh = <[\"x\"=2]>\n"
    "func.func @main(%a: tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {\"x\"}]>},\n"
    "                %b: tensor<8x8xf32>) -> (tensor<8x8xf32> {sdy.sharding = "
    "#sdy.sharding<@mesh, [{}, {}]>}) {\n"
    "  %0 = stablehlo.dot_general %a, %b, contracting_dims = [1] x [0] : "
    "(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>\n"
    "  return %0 : tensor<8x8xf32>\n}\n";
static const char links[] = "level all all 1GB/s 1us\n";

static bool says(tz_explain_question question, tz_explain_options o, const char *what) {
  char *answer = NULL;
  o.struct_size = sizeof o;
  if (!fine(tz_explain(question, model, strlen(model), &o, &answer))) return false;
  bool found = answer && strstr(answer, what);
  if (!found) fprintf(stderr, "%s\nlacks: %s\n", answer ? answer : "nothing", what);
  tz_free(answer);
  return found;
}

static void test_answers(void) {
  CHECK(says(TZ_EXPLAIN_WHY, (tz_explain_options){0}, "\"kind\": \"all_reduce\""));
  CHECK(says(TZ_EXPLAIN_WHY, (tz_explain_options){.text = true, .file = "m.mlir"}, "at m.mlir:4:"));
  CHECK(says(TZ_EXPLAIN_WHY, (tz_explain_options){.text = true, .collective = 1, .tries = 1},
             "could drop \"x\" from argument 0"));
  CHECK(
      says(TZ_EXPLAIN_WHY, (tz_explain_options){.text = true, .value = "%arg0"}, "[{}, {\"x\"}]"));
  CHECK(says(TZ_EXPLAIN_WHY, (tz_explain_options){.topology = links}, "\"seconds\": "));
  CHECK(says(TZ_EXPLAIN_MEM, (tz_explain_options){0}, "\"arguments\": 256"));
  CHECK(
      says(TZ_EXPLAIN_COMMS, (tz_explain_options){.topology = links, .text = true}, "all_reduce"));
  CHECK(says(TZ_EXPLAIN_CHECK, (tz_explain_options){.large = 64}, "\"kind\": \"replicated\""));
  CHECK(says(TZ_EXPLAIN_DIFF,
             (tz_explain_options){.other = model, .other_length = strlen(model), .text = true},
             "no difference"));
  CHECK(says(TZ_EXPLAIN_REPORT, (tz_explain_options){.text = true}, "<!DOCTYPE html>"));
  CHECK(says(TZ_EXPLAIN_REPORT,
             (tz_explain_options){.other = model, .other_length = strlen(model), .topology = links},
             "\"diff\":{\"rows\": []"));
  CHECK(says(TZ_EXPLAIN_PLAN, (tz_explain_options){.memory = 1 << 20}, "\"claim\": \"optimal\""));
  CHECK(says(TZ_EXPLAIN_PLAN, (tz_explain_options){.devices = 4, .tries = 7, .text = true},
             "best of 7 tried"));
  CHECK(says(TZ_EXPLAIN_VERIFY, (tz_explain_options){.seed = 1}, "{\"same\": true}"));
}

static void test_refused(void) {
  char *answer = NULL;
  tz_explain_options o = {TZ_SIZED(tz_explain_options)};
  CHECK(refused(tz_explain(TZ_EXPLAIN_COMMS, model, strlen(model), NULL, &answer), "topology"));
  CHECK(refused(tz_explain(TZ_EXPLAIN_DIFF, model, strlen(model), &o, &answer), "another program"));
  CHECK(refused(tz_explain(TZ_EXPLAIN_WHY, "func.func", 9, NULL, &answer), "-:1:"));
  CHECK(refused(tz_explain((tz_explain_question)99, model, 1, NULL, &answer), "no such question"));
  CHECK(refused(tz_explain(TZ_EXPLAIN_WHY, NULL, 1, NULL, &answer), "NULL"));
  CHECK(refused(tz_explain(TZ_EXPLAIN_WHY, model, 1, NULL, NULL), "NULL"));
  o.mesh = "x";
  CHECK(refused(tz_explain(TZ_EXPLAIN_PLAN, model, strlen(model), &o, &answer), "AXIS=SIZE"));
  o.collective = 7;
  CHECK(refused(tz_explain(TZ_EXPLAIN_WHY, model, strlen(model), &o, &answer), "no number 7"));
  o.topology = "level\n";
  CHECK(refused(tz_explain(TZ_EXPLAIN_WHY, model, strlen(model), &o, &answer), "topology:1:6"));
  o.struct_size = 0;
  CHECK(refused(tz_explain(TZ_EXPLAIN_WHY, model, strlen(model), &o, &answer), "struct_size"));
  CHECK(!answer);
}

int main(void) {
  test_answers();
  test_refused();
  return UNIT_END();
}
