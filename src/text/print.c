/* The entry points of printing: number the values, find the aliases, print.
 *
 * Aliases are found as MLIR finds them, by printing everything once into a buffer that is thrown
 * away; that is done only where something may need one. */
#include "text/names.h"
#include "text/printer.h"

static const printer_syntax syntax = {.form = printer_form, .custom = printer_custom};

static const op *root_of(const op *o) {
  for (const op *up; (up = op_parent(o)); o = up) {
  }
  return o;
}

typedef struct request {
  buf *out;
  ir_ctx *c;
  const op *o;
  const text_print_options *options;
  bool top;
  arena *scratch;
} request;

enum { DROPPED = 1 << 12 };
static bool drop(void *user, str bytes) {
  (void)user, (void)bytes;
  return true;
}

static void collect(printer *w, request *r) {
  buf *out = w->out, dropped; /* the text of a first printing */
  w->aliases = printer_aliases_begin(r->scratch);
  buf_init_sink(&dropped, ir_mem(r->c), DROPPED, drop, NULL);
  w->out = &dropped;
  printer_op(w, r->o);
  w->distinct = (hash_index){0};
  w->out = out;
  buf_deinit(&dropped);
  printer_aliases_number(w->aliases);
}

static void run(request *r) {
  printer w = {.out = r->out, .syntax = &syntax, .dialect = STR("builtin.")};
  if (r->options) w.options = *r->options;
  w.forms.a = r->scratch;
  w.unknown = loc_unknown(r->c);
  printer_number(&w, root_of(r->o));
  bool aliases = r->top && !w.options.local_scope && (w.options.debuginfo || ir_has_aliased(r->c));
  if (aliases) collect(&w, r);
  resource_keys keys = {0};
  if (r->top && !w.options.local_scope) w.resources = &keys;
  printer_aliases_print(&w, false);
  printer_op(&w, r->o);
  if (r->top) put_char(&w, '\n');
  printer_aliases_print(&w, true);
  printer_resources_print(&w, r->c);
}

static bool print(request *r) {
  r->scratch = ir_scratch_push(r->c);
  run(r);
  ir_scratch_pop(r->c);
  return buf_ok(r->out);
}

bool text_print(buf *out, const ir_module *m, const text_print_options *options) {
  request r = {.out = out, .c = m->ctx, .o = m->root, .options = options, .top = true};
  return print(&r);
}

bool text_print_op(buf *out, ir_ctx *c, const op *o, const text_print_options *options) {
  request r = {.out = out, .c = c, .o = o, .options = options};
  return print(&r);
}
