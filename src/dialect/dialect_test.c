/* The tables of the verifier are complete, and what damaged files become is refused or sound. */
#include <stdlib.h>

#include "base/os.h"
#include "bytecode/bytecode.h"
#include "dialect/verify.h"
#include "tests/unit.h"
#include "text/text.h"

static void test_tables(void) {
  for (int i = 0; i < OP_COUNT; i++) {
    const op_info *info = &op_infos[i];
    CHECK(verify_of[i] != NULL);
    bool inferred = (info->traits & INFER_TYPES) && !(info->traits & SAME_TYPE);
    if (!inferred || infer_of[i]) continue;
    fprintf(stderr, STR_FMT " has no inference\n", STR_ARG(info->name));
    CHECK(false);
  }
}

/* Parses and verifies; the messages go to `log`. */
static bool verifies(const char *text, buf *log) {
  oom_trap trap;
  diag_sink sink = {.fn = diag_to_buf, .user = log};
  ir_ctx *volatile c = ir_ctx_create(&mem_system, &trap, &sink);
  if (!c || setjmp(trap.at)) abort();
  ir_module *m = text_parse(c, STR("test"), str_of(text), NULL);
  bool ok = m && dialect_verify(m) && dialect_check_runnable(m);
  CHECK(ok == (sink.errors == 0));
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  return ok;
}

static void check_message(const char *text, const char *message) {
  buf log;
  buf_init(&log, &mem_system);
  CHECK(!verifies(text, &log));
  bool found = log.len && strstr(buf_cstr(&log), message);
  CHECK(found);
  if (!found) fprintf(stderr, "expected '%s', found:\n%s", message, log.len ? buf_cstr(&log) : "");
  buf_deinit(&log);
}

static void test_messages(void) {
  buf log;
  buf_init(&log, &mem_system);
  CHECK(verifies("func.func @f(%a: tensor<2xf32>) -> tensor<2xf32> {\n"
                 "  %0 = stablehlo.add %a, %a : tensor<2xf32>\n  return %0 : tensor<2xf32>\n}\n",
                 &log));
  buf_deinit(&log);
  check_message(
      "func.func @f(%a: tensor<2xf32>) -> tensor<3xf32> {\n  return %a : tensor<2xf32>\n}\n",
      "test:2:3: error: type of return operand 0");
  check_message(
      "func.func @f() {\n  %0 = \"stablehlo.add\"(%1, %1) : (tensor<f32>, tensor<f32>) -> "
      "tensor<f32>\n  %1 = stablehlo.constant dense<1.0> : tensor<f32>\n  return\n}\n",
      "does not dominate this use");
}

/* A function that calls the next one twice, and so on: 2^n ops once inlined. */
static void test_call_bomb(void) {
  buf text;
  buf_init(&text, &mem_system);
  for (int i = 0; i < 40; i++)
    buf_printf(
        &text,
        "func.func @f%d() {\n  call @f%d() : () -> ()\n  call @f%d() : () -> ()\n  return\n}\n", i,
        i + 1, i + 1);
  BUF_LIT(&text, "func.func @f40() {\n  return\n}\n");
  check_message(buf_cstr(&text), "once calls are inlined");
  buf_deinit(&text);
}

static void infer_all(ir_module *m) {
  op *f = symbol_find(m->root, STR("main"));
  for (op *o = f ? op_body(f, 0)->first : NULL; o; o = o->next) {
    const type *out[8];
    if (op_kind(o) >= OP_COUNT || !op_has(o, INFER_TYPES) || o->num_results > 8) continue;
    CHECK(dialect_infer(m, o, out));
    for (u32 i = 0; i < o->num_results; i++) CHECK(types_agree(out[i], o->results[i].type));
  }
}

static void ignore(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)user, (void)kind, (void)pos, (void)text;
}

static bool read_and_verify(str bytes) {
  oom_trap trap;
  diag_sink sink = {.fn = ignore};
  ir_ctx *volatile c = ir_ctx_create(&mem_system, &trap, &sink);
  if (!c || setjmp(trap.at)) {
    ir_ctx_destroy(c);
    return false;
  }
  ir_module *m = bytecode_read(c, STR("sample"), bytes);
  bool ok = m && dialect_verify(m) && dialect_check_runnable(m);
  CHECK(ok == (sink.errors == 0));
  if (ok) infer_all(m);
  ir_module_destroy(m);
  ir_ctx_destroy(c);
  return ok;
}

static void test_damage(void) {
  static const char sample[] = "/../../tests/data/shard_map_shardy.mlirbc";
  char path[512];
  os_file f;
  const char *slash = strrchr(__FILE__, '/');
  snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - __FILE__) : 1, slash ? __FILE__ : ".",
           sample);
  status s = os_file_open(path, &f);
  CHECK(!s);
  if (s) {
    status_free(s);
    return;
  }
  CHECK(read_and_verify(f.bytes));
  char *damaged = malloc(f.bytes.len);
  for (size_t i = 0; i < f.bytes.len; i++)
    for (int bit = 0; bit < 8; bit++) {
      memcpy(damaged, f.bytes.data, f.bytes.len);
      damaged[i] = (char)(damaged[i] ^ (1 << bit));
      read_and_verify((str){damaged, f.bytes.len});
    }
  free(damaged);
  os_file_close(&f);
}

int main(void) {
  test_tables();
  test_messages();
  test_call_bomb();
  test_damage();
  return UNIT_END();
}
