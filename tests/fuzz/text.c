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

static void read_one(ir_ctx *c, diag_sink *sink, str source, bool unregistered) {
  const text_parse_options options = {.allow_unregistered = unregistered};
  sink->errors = 0;
  ir_module *m = text_parse(c, STR("input"), source, &options);
  FUZZ_CHECK(m || sink->errors);
  if (m) print_all(m);
  FUZZ_CHECK(!m || dialect_verify(m) || sink->errors);
  ir_module_destroy(m);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size) {
  fuzz_memory memory = {0, FUZZ_BASE + size * FUZZ_EACH};
  allocator mem = {fuzz_alloc, &memory};
  oom_trap trap;
  diag_sink sink = {.fn = fuzz_silent};
  ir_ctx *volatile c = ir_ctx_create(&mem, &trap, &sink);
  FUZZ_CHECK(c && !setjmp(trap.at));
  str source = {(const char *)data, size};
  read_one(c, &sink, source, false);
  if (sink.errors) read_one(c, &sink, source, true);
  ir_ctx_destroy(c);
  FUZZ_CHECK(memory.used == 0);
  return 0;
}
