/* Text: a diagnostic or a module; whatever was read is printed in every form. */
#include "dialect/dialect.h"
#include "fuzz.h"
#include "text/text.h"

static const text_print_options forms[] = {
    {0}, {.generic = true}, {.debuginfo = true}, {.debuginfo = true, .local_scope = true}};

static void print_all(const ir_module *m) {
  for (size_t i = 0; i < COUNT(forms); i++) {
    buf out;
    buf_init(&out, ir_mem(m->ctx));
    FUZZ_CHECK(text_print(&out, m, &forms[i]));
    buf_deinit(&out);
  }
}

static void read_one(ir_ctx *c, str source, bool unregistered) {
  const text_parse_options options = {.allow_unregistered = unregistered};
  diag_sink *sink = ir_sink(c);
  sink->errors = 0;
  ir_module *m = text_parse(c, STR("input"), source, &options);
  FUZZ_CHECK(m || sink->errors);
  if (m) print_all(m);
  FUZZ_CHECK(!m || dialect_verify(m) || sink->errors);
  ir_module_destroy(m);
}

static void check(ir_ctx *c, str input) {
  read_one(c, input, false);
  if (ir_sink(c)->errors) read_one(c, input, true);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size) {
  return fuzz_in_context(data, size, check);
}
