/* A module that verifies is printed, read again and printed the same; so it is through bytecode. */
#include "bytecode/bytecode.h"
#include "dialect/dialect.h"
#include "fuzz.h"
#include "text/text.h"

static const text_print_options forms[] = {{0}, {.generic = true}, {.debuginfo = true}};

static void print(const ir_module *m, const text_print_options *form, buf *out) {
  buf_init(out, ir_mem(m->ctx));
  FUZZ_CHECK(text_print(out, m, form));
}

/* Sums of affine maps are simplified when they are read, as in MLIR, and the next time further. */
static bool settles(buf *text) { return strstr(buf_cstr(text), "affine_") != NULL; }

static void check_same(ir_module *again, const text_print_options *form, const buf *first) {
  buf second;
  if (!again) fprintf(stderr, "not read:\n%.*s\n", (int)first->len, first->data);
  FUZZ_CHECK(again);
  print(again, form, &second);
  bool same = str_eq(buf_view(first), buf_view(&second));
  if (!same && settles(&second))
    check_same(text_parse(again->ctx, STR("settled"), buf_view(&second), NULL), form, &second);
  else if (!same)
    fprintf(stderr, STR_FMT "\n---\n" STR_FMT "\n", STR_ARG(buf_view(first)),
            STR_ARG(buf_view(&second)));
  FUZZ_CHECK(same || settles(&second));
  buf_deinit(&second);
  ir_module_destroy(again);
}

static void check_text(ir_module *m, const text_print_options *form) {
  buf first;
  print(m, form, &first);
  check_same(text_parse(m->ctx, STR("again"), buf_view(&first), NULL), form, &first);
  buf_deinit(&first);
}

static void check_bytecode(ir_module *m) {
  const text_print_options *form = &forms[2];
  buf first, code;
  print(m, form, &first);
  buf_init(&code, ir_mem(m->ctx));
  if (bytecode_write(m, NULL, &code))
    check_same(bytecode_read(m->ctx, STR("again"), buf_view(&code)), form, &first);
  buf_deinit(&code);
  buf_deinit(&first);
}

static void check(ir_ctx *c, str input) {
  ir_module *m = text_parse(c, STR("input"), input, NULL);
  if (m && dialect_verify(m)) {
    for (size_t i = 0; i < COUNT(forms); i++) check_text(m, &forms[i]);
    check_bytecode(m);
  }
  ir_module_destroy(m);
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size) {
  return fuzz_in_context(data, size, check);
}
