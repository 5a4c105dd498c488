/* Locations as text, and the aliases that stand for them. */
#include "text/printer.h"

static void body(printer *w, const attr *loc);

static void file(printer *w, const loc_file_attr *f) {
  printer_quoted(w, f->file);
  put_char(w, ':');
  printer_i64(w, f->line);
  put_char(w, ':');
  printer_i64(w, f->col);
  if (f->end_line == 0 || (f->end_line == f->line && f->end_col == f->col)) return;
  PUT(w, " to ");
  if (f->end_line != f->line) printer_i64(w, f->end_line);
  put_char(w, ':');
  printer_i64(w, f->end_col);
}

static void fused(printer *w, const loc_fused_attr *f) {
  PUT(w, "fused");
  if (f->metadata) {
    put_char(w, '<');
    printer_attr(w, f->metadata, false);
    put_char(w, '>');
  }
  put_char(w, '[');
  for (size_t i = 0; i < f->locs.len; i++) {
    if (i) PUT(w, ", ");
    body(w, f->locs.data[i]);
  }
  put_char(w, ']');
}

static void body(printer *w, const attr *loc) {
  const loc_file_attr *f = attr_as(loc_file, loc);
  const loc_name_attr *n = attr_as(loc_name, loc);
  const loc_callsite_attr *s = attr_as(loc_callsite, loc);
  const loc_fused_attr *u = attr_as(loc_fused, loc);
  if (f)
    file(w, f);
  else if (u)
    fused(w, u);
  else if (n) {
    printer_quoted(w, n->name);
    if (attr_is(loc_unknown, n->child)) return;
    put_char(w, '(');
    body(w, n->child);
    put_char(w, ')');
  } else if (s) {
    PUT(w, "callsite(");
    body(w, s->callee);
    PUT(w, " at ");
    body(w, s->caller);
    put_char(w, ')');
  } else
    PUT(w, "unknown");
}

void printer_loc(printer *w, const attr *loc) {
  PUT(w, "loc(");
  body(w, loc);
  put_char(w, ')');
}

void printer_trailing_loc(printer *w, const attr *loc) {
  if (!w->options.debuginfo) return;
  put_char(w, ' ');
  printer_loc(w, loc);
}
