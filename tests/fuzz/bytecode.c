/* Bytecode: a diagnostic or a module; one that verifies is written, and read again the same. */
#include "bytecode/bytecode.h"
#include "dialect/dialect.h"
#include "fuzz.h"
#include "text/text.h"

static void print(const ir_module *m, buf *out) {
  buf_init(out, ir_mem(m->ctx));
  FUZZ_CHECK(text_print(out, m, NULL));
}

static void check_same(ir_module *m, str code) {
  buf before, after;
  ir_sink(m->ctx)->fn = diag_to_stderr; /* it must not fail now */
  ir_module *again = bytecode_read(m->ctx, STR("again"), code);
  FUZZ_CHECK(again);
  print(m, &before);
  print(again, &after);
  if (!str_eq(buf_view(&before), buf_view(&after)))
    fprintf(stderr, "%s\n---\n%s\n", buf_cstr(&before), buf_cstr(&after));
  FUZZ_CHECK(str_eq(buf_view(&before), buf_view(&after)));
  buf_deinit(&before);
  buf_deinit(&after);
  ir_module_destroy(again);
}

static void check_portable(ir_module *m) {
  buf code;
  const bytecode_write_options options = {.target = STR(BYTECODE_TARGET)};
  buf_init(&code, ir_mem(m->ctx));
  ir_sink(m->ctx)->fn = fuzz_silent;
  if (bytecode_write(m, &options, &code)) {
    ir_sink(m->ctx)->fn = diag_to_stderr;
    ir_module *again = bytecode_read(m->ctx, STR("portable"), buf_view(&code));
    FUZZ_CHECK(again);
    ir_module_destroy(again);
  }
  buf_deinit(&code);
}

static void check_module(ir_module *m) {
  buf code;
  buf_init(&code, ir_mem(m->ctx));
  if (bytecode_write(m, NULL, &code)) check_same(m, buf_view(&code));
  check_portable(m);
  buf_deinit(&code);
}

static void check(ir_ctx *c, str input) {
  ir_module *m = bytecode_read(c, STR("input"), input);
  FUZZ_CHECK(m || ir_sink(c)->errors);
  if (m && dialect_verify(m)) check_module(m);
  ir_module_destroy(m);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size) {
  return fuzz_in_context(data, size, check);
}
