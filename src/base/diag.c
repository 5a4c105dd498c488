/* Messages on their way to a sink: made on the heap, not in an arena, as they also say that an
 * arena's memory is out. */
#include "base/diag.h"

#include <stdio.h>

static const char *const kind_names[] = {"error", "warning", "remark", "note"};

/* The text lives for the call of the sink only. */
void diag_emit(diag_sink *sink, diag_kind kind, diag_pos pos, const char *fmt, va_list ap) {
  buf b;
  buf_init(&b, &mem_system);
  buf_vprintf(&b, fmt, ap);
  if (kind == DIAG_ERROR) sink->errors++;
  if (sink->fn) sink->fn(sink->user, kind, pos, buf_ok(&b) ? buf_view(&b) : STR("out of memory"));
  buf_deinit(&b);
}

bool diag_error(diag_sink *sink, diag_pos pos, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_emit(sink, DIAG_ERROR, pos, fmt, ap);
  va_end(ap);
  return false;
}

void diag_note(diag_sink *sink, diag_pos pos, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_emit(sink, DIAG_NOTE, pos, fmt, ap);
  va_end(ap);
}

void diag_to_buf(void *user, diag_kind kind, diag_pos pos, str text) {
  buf *b = user;
  buf_str(b, pos.file.len ? pos.file : STR("-"));
  if (pos.line) buf_printf(b, ":%u:%u", pos.line, pos.col);
  buf_printf(b, ": %s: ", kind_names[kind]);
  buf_str(b, text);
  buf_char(b, '\n');
}

void diag_to_stderr(void *user, diag_kind kind, diag_pos pos, str text) {
  buf b;
  (void)user;
  buf_init(&b, &mem_system);
  diag_to_buf(&b, kind, pos, text);
  fwrite(b.data, 1, b.len, stderr);
  buf_deinit(&b);
}
