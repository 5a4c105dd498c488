/* Fails the Nth allocation of a session with the public IR, for every N: each call gives an error
 * or a result, nothing crashes or (under ASan) leaks. */
#include <string.h>

#include "terrazzo/dialect.h"
#include "terrazzo/trace.h"
#include "tests/api.h"
#include "tests/oom.h"

static void listen(void *user, const tz_diagnostic *d) { *(size_t *)user += strlen(d->message); }

static const char program[] =
    "sdy.mesh @mesh = <[\"x\"=2]>\n"
    "func.func @main(%x: tensor<4xf32> {sdy.sharding = #sdy.sharding<@mesh, [{\"x\"}]>})\n"
    "    -> tensor<4xf32> {\n"
    "  %one = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
    "  %y = stablehlo.add %x, %one : tensor<4xf32>\n"
    "  return %y : tensor<4xf32>\n"
    "}\n";

static bool change(tz_module *m) {
  tz_block *b = tz_region_first_block(tz_op_region(tz_module_find(m, "main"), 0));
  tz_op *ret = tz_block_last_op(b), *o;
  tz_value *v = tz_op_operand(ret, 0);
  tz_builder at = {.module = m, .block = b, .before = ret};
  tz_op_spec spec = {TZ_SIZED(tz_op_spec), .name = "stablehlo.negate", .operands = &v,
                     .num_operands = 1};
  return had_memory(tz_build(&at, &spec, &o)) &&
         had_memory(tz_op_set_operand(m, ret, 0, tz_op_result(o, 0)));
}

static tz_error *rule(void *user, tz_context *c, tz_op *o, const tz_attr **out_rule) {
  (void)user, (void)o;
  return tz_attr_parse(c, "#sdy.op_sharding_rule<([i])->([i]) {i=4}>", out_rule);
}

/* An op of another dialect, whose callback allocates within an entry that does. A callback that
 * fails is a diagnostic, and so another code than out of memory. */
static bool foreign(tz_context *c) {
  static const char *const one[] = {"x", NULL};
  static const char text[] = "%0 = stablehlo.constant dense<1.0> : tensor<4xf32>\n"
                             "%1 = t.id %0 : (tensor<4xf32>) -> tensor<4xf32>\n";
  tz_op_def d = {TZ_SIZED(tz_op_def),       .name = "t.id",       .operands = one, .results = one,
                 .form = " $x%attrs : %fn", .sharding_rule = rule};
  tz_module *m;
  if (!had_memory(tz_register_op(c, &d))) return false;
  if (!had_memory(tz_module_parse(c, text, sizeof text - 1, "y", &m))) return false;
  tz_error *e = tz_module_verify(m);
  bool ok = e == NULL;
  CHECK(ok || tz_error_code(e) == 8 || strstr(tz_error_message(e), "out of memory"));
  tz_error_free(e);
  return ok;
}

static bool add_length(void *user, const char *bytes, size_t length) {
  (void)bytes;
  *(size_t *)user += length;
  return true;
}

static bool use(tz_context *c) {
  tz_module *m;
  char *text;
  size_t n;
  tz_module *whole;
  if (!had_memory(tz_module_parse(c, program, sizeof program - 1, "x", &whole))) return false;
  if (!had_memory(tz_module_clone(whole, &m))) return false;
  const tz_trace *t;
  if (!change(m) || !had_memory(tz_module_run_traced(m, "sdy-propagation-pipeline", &t)))
    return false;
  CHECK(tz_trace_num_events(t));
  if (!had_memory(tz_module_print(m, NULL, &text, &n))) return false;
  CHECK(strstr(text, "stablehlo.negate %1 {sdy.sharding"));
  tz_free(text);
  size_t length = 0;
  if (!had_memory(tz_module_print_to(m, NULL, add_length, &length))) return false;
  CHECK(length == n);
  if (!had_memory(tz_module_write_bytecode(m, "1.17.0", &text, &n))) return false;
  tz_module *again;
  bool ok =
      had_memory(tz_module_parse(c, text, n, "x", &again)) && had_memory(tz_module_verify(again));
  tz_free(text);
  return ok && foreign(c);
}

static bool session(void) {
  tz_context *c;
  size_t heard = 0;
  tz_context_options o = {TZ_SIZED(tz_context_options), .diagnostics = listen,
                          .diagnostics_user = &heard};
  bool ok = had_memory(tz_context_create(&o, &c)) && use(c);
  if (ok) { /* a context goes on after an error */
    tz_module *m;
    tz_error *e = tz_module_parse(c, "module {", 8, "x", &m);
    CHECK(e && !m);
    ok = tz_error_code(e) != 8;
    tz_error_free(e);
  }
  tz_context_free(c);
  return ok;
}

int main(void) { return oom_test(session); }
