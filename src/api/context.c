/* Contexts: memory, the trap, diagnostics on their way out.
 *
 * Each entry of the API (ENTER .. leave, see context.h) sets the trap and gathers what the compiler
 * reports. At the end of the outermost one the log becomes the message of the tz_error and, if the
 * user asked for them, each diagnostic is told with its notes. A context and all that is in it are
 * for one thread at a time. */
#include "api/context.h"

#include "api/api.h"

/* ---- diagnostics ---- */

/* An offset, as the buffer may move while more comes. */
static size_t keep_string(buf *b, str s) {
  size_t at = b->len;
  buf_str(b, s);
  buf_char(b, 0);
  return at;
}

/* A diag_sink's fn. Nothing here jumps: the buffers drop what does not fit, and buf_ok says so
 * later. Warnings and remarks are told but are no part of an error's message; a note is if it
 * follows an error. */
static void collect(void *user, diag_kind kind, diag_pos pos, str text) {
  tz_context *c = user;
  if (kind == DIAG_ERROR || (kind == DIAG_NOTE && c->log.len))
    diag_to_buf(&c->log, kind, pos, text);
  if (!c->diagnostics) return;
  pending p = {.kind = kind, .line = pos.line, .col = pos.col};
  p.file = keep_string(&c->strings, pos.file);
  p.text = keep_string(&c->strings, text);
  if (buf_ok(&c->strings)) buf_bytes(&c->queue, &p, sizeof p);
}

static tz_diagnostic told(const buf *strings, const pending *p) {
  static const tz_severity severity[] = {[DIAG_ERROR] = TZ_ERROR,
                                         [DIAG_WARNING] = TZ_WARNING,
                                         [DIAG_REMARK] = TZ_REMARK,
                                         [DIAG_NOTE] = TZ_NOTE};
  return (tz_diagnostic){TZ_SIZED(tz_diagnostic),
                         .severity = severity[p->kind],
                         .file = strings->data + p->file,
                         .line = p->line,
                         .column = p->col,
                         .message = strings->data + p->text};
}

static void empty(buf *b) {
  b->len = 0;
  b->failed = false;
}

/* The buffer's contents; it begins anew. */
static buf take(buf *b) {
  buf taken = *b;
  buf_init(b, &mem_system);
  return taken;
}

/* After the trap has been restored. The user's function should leave the context alone (ir.h); if
 * it does not, what that reports is told before the rest of this. */
static void tell(tz_context *c) {
  enum { MAX_NOTES = 16 }; /* more are told as diagnostics of their own */
  if (!c->queue.len) {
    empty(&c->queue);
    empty(&c->strings);
    return;
  }
  buf queue = take(&c->queue), strings = take(&c->strings);
  const pending *p = (const pending *)(const void *)queue.data;
  size_t n = queue.len / sizeof *p;
  for (size_t i = 0; i < n;) {
    tz_diagnostic notes[MAX_NOTES], d = told(&strings, &p[i++]);
    const tz_diagnostic *list[MAX_NOTES];
    for (; i < n && p[i].kind == DIAG_NOTE && d.num_notes < MAX_NOTES; i++) {
      notes[d.num_notes] = told(&strings, &p[i]);
      list[d.num_notes] = &notes[d.num_notes];
      d.num_notes++;
    }
    d.notes = list;
    c->diagnostics(c->diagnostics_user, &d);
  }
  buf_deinit(&queue);
  buf_deinit(&strings);
}

/* ---- entries ---- */

/* The trap and the scratch stack are as the caller has them; leave puts them back however the entry
 * ends. What an outermost entry reports is apart from what earlier ones did. */
void entry_begin(entry *e, tz_context *c) {
  e->c = c;
  e->outer = *c->trap;
  if (c->depth++ == 0) {
    empty(&c->log);
    c->own_sink.errors = 0;
    c->own_sink.unimplemented = false;
  }
  e->scratch = ir_scratch_top(c->ir);
}

tz_error *leave(entry *e, status s) {
  tz_context *c = e->c;
  *c->trap = e->outer;
  c->own_sink.fn = collect;
  ir_scratch_unwind(c->ir, e->scratch);
  if (--c->depth == 0 && c->diagnostics) tell(c);
  return error_out(s);
}

tz_error *bad_handle(void) {
  return error_out(status_make(STATUS_INVALID_ARGUMENT, "a handle is NULL or was freed"));
}

status wrong(const char *fmt, ...) {
  buf b;
  va_list ap;
  buf_init(&b, &mem_system);
  va_start(ap, fmt);
  buf_vprintf(&b, fmt, ap);
  va_end(ap);
  status s = buf_ok(&b) ? status_make(STATUS_INVALID_ARGUMENT, STR_FMT, STR_ARG(buf_view(&b)))
                        : status_oom();
  buf_deinit(&b);
  return s;
}

/* A context over somebody else's sink (api_context_of) has no log: the message was told there. */
status reported(tz_context *c) {
  status_code code = c->sink->unimplemented ? STATUS_UNIMPLEMENTED : STATUS_INVALID_ARGUMENT;
  if (!buf_ok(&c->log)) return status_oom();
  str text = buf_view(&c->log);
  while (text.len && text.data[text.len - 1] == '\n') text.len--;
  if (!text.len && c->sink != &c->own_sink) return status_make(code, "see the diagnostics");
  if (!text.len) return status_make(STATUS_INTERNAL, "failed without a diagnostic");
  return status_make(code, STR_FMT, STR_ARG(text));
}

bool all_there(const void *const *list, size_t n) {
  if (n && !list) return false;
  for (size_t i = 0; i < n; i++)
    if (!list[i]) return false;
  return true;
}

status give_text(buf *b, char **out_text, size_t *out_length) {
  char *copy = buf_ok(b) ? mem_alloc(&mem_system, b->len + 1) : NULL;
  if (copy) {
    if (b->len) memcpy(copy, b->data, b->len);
    copy[b->len] = 0;
    *out_text = copy;
    if (out_length) *out_length = b->len;
  }
  buf_deinit(b);
  return copy ? NULL : status_oom();
}

/* ---- contexts ---- */

/* Everything is freed with the context, modules and handles too; so nothing is freed one by one but
 * what can be large. */
tz_error *tz_context_create(const tz_context_options *options, tz_context **out_context) {
  if (!out_context) return bad_handle();
  *out_context = NULL;
  tz_context_options own = {0};
  status bad = options ? SIZED_READ(tz_context_options, options, &own) : NULL;
  if (bad) return error_out(bad);
  tz_context *c = mem_zalloc(&mem_system, sizeof *c);
  if (!c) return error_out(status_oom());
  c->trap = &c->own_trap;
  c->own_sink = (diag_sink){.fn = collect, .user = c};
  c->sink = &c->own_sink;
  buf_init(&c->log, &mem_system);
  buf_init(&c->queue, &mem_system);
  buf_init(&c->strings, &mem_system);
  c->allow_unregistered = own.allow_unregistered;
  c->diagnostics = own.diagnostics;
  c->diagnostics_user = own.diagnostics_user;
  c->ir = ir_ctx_create(&mem_system, c->trap, c->sink);
  if (!c->ir) {
    tz_context_free(c);
    return error_out(status_oom());
  }
  *out_context = c;
  return NULL;
}

void tz_context_free(tz_context *c) {
  if (!c) return;
  ir_ctx_destroy(c->ir); /* modules too, and what jumps left behind */
  buf_deinit(&c->log);
  buf_deinit(&c->queue);
  buf_deinit(&c->strings);
  mem_free(&mem_system, c, sizeof *c);
}

tz_context *api_context_of(ir_ctx *ir) {
  tz_context *c = ARENA_NEW(ir_arena(ir), tz_context);
  c->trap = ir_trap(ir);
  c->sink = ir_sink(ir);
  c->ir = ir;
  return c;
}

bool api_report(ir_ctx *ir, tz_error *e) { return api_report_of(ir, "", e); }

bool api_report_of(ir_ctx *ir, const char *option, tz_error *e) {
  if (!e) return true;
  loc_error(ir, NULL, "%s%s", option, tz_error_message(e));
  tz_error_free(e);
  return false;
}
