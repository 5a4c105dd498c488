/* Ops, values and sizes in words, and as JSON. */
#include <stdio.h>

#include "explain/explain.h"
#include "mesh/describe.h"

void explain_put_bytes(buf *b, u64 bytes) {
  static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double v = (double)bytes;
  size_t u = 0;
  while (v >= 1024 && u + 1 < COUNT(units)) v /= 1024, u++;
  buf_printf(b, u ? "%.1f %s" : "%.0f %s", v, units[u]);
}

void explain_put_seconds(buf *b, double s) {
  static const struct {
    double from;
    const char *unit;
  } units[] = {{1, "s"}, {1e-3, "ms"}, {1e-6, "us"}, {0, "ns"}};
  size_t u = 0;
  while (s < units[u].from) u++;
  double scale = units[u].from > 0 ? units[u].from : 1e-9;
  buf_printf(b, "%.4g %s", s / scale, units[u].unit);
}

void explain_put_sharding(buf *b, const why_log *w, str sharding) {
  str begin = STR("#sdy.sharding<@");
  size_t at = begin.len;
  bool known = w->meshes.len < 2 && str_starts(sharding, begin);
  while (known && at < sharding.len && sharding.data[at] != ' ') at++;
  if (known && at < sharding.len) sharding = (str){sharding.data + at + 1, sharding.len - at - 2};
  buf_str(b, sharding);
}

void explain_put_op(buf *b, const why_log *w, u32 op) {
  const why_op *o = &w->ops.data[op < w->ops.len ? op : 0];
  str dialect = STR("stablehlo.");
  buf_str(b, str_starts(o->name, dialect) ? str_from(o->name, dialect.len) : o->name);
  if (o->what.len) buf_printf(b, " '" STR_FMT "'", STR_ARG(o->what));
  if (o->pos.file.len)
    buf_printf(b, " at " STR_FMT ":%u:%u", STR_ARG(o->pos.file), o->pos.line, o->pos.col);
}

static bool is_main(const why_log *w, u32 op) { return op < w->ops.len && w->ops.data[op].main; }

static const why_border *border_of(const why_log *w, why_place p) {
  if (!is_main(w, p.op) || p.at < WHY_INSIDE) return NULL;
  bool back = p.at == WHY_RETURNED;
  if (p.index >= (back ? w->results.len : w->args.len)) return NULL;
  return back ? &w->results.data[p.index] : &w->args.data[p.index];
}

void explain_put_place(buf *b, const why_log *w, why_place p) {
  static const char *const words[] = {
      [WHY_RESULT] = "result", [WHY_INSIDE] = "argument", [WHY_RETURNED] = "result"};
  const why_border *border = border_of(w, p);
  if (p.at == WHY_NOWHERE) {
    BUF_LIT(b, "a value that partitioning made");
  } else if (border) {
    buf_printf(b, "%s %u", words[p.at], p.index);
    if (border->name.len) buf_printf(b, " '" STR_FMT "'", STR_ARG(border->name));
  } else {
    if (p.index || p.at != WHY_RESULT) buf_printf(b, "%s %u of ", words[p.at], p.index);
    explain_put_op(b, w, p.op);
  }
}

void explain_put_edit(buf *b, const why_log *w, const explain_edit *e) {
  bool border = border_of(w, e->at) != NULL;
  bool operand = e->kind == EDIT_CONSTRAIN && e->at.at == WHY_INSIDE && !border;
  if (e->kind == EDIT_DROP) buf_printf(b, "drop \"" STR_FMT "\" from ", STR_ARG(e->axis));
  if (e->kind == EDIT_OPEN) BUF_LIT(b, "open all dimensions of ");
  if (e->kind == EDIT_FREE) BUF_LIT(b, "remove ");
  if (e->kind == EDIT_CONSTRAIN) buf_printf(b, border ? "annotate " : "constrain ");
  if (operand) {
    buf_printf(b, "operand %u of ", e->at.index);
    explain_put_op(b, w, e->at.op);
  } else {
    explain_put_place(b, w, e->at);
  }
  if (e->kind != EDIT_CONSTRAIN) return;
  buf_printf(b, border ? " with " : " to ");
  explain_put_sharding(b, w, e->sharding);
}

void explain_json_op(buf *b, const why_log *w, u32 op) {
  const why_op *o = &w->ops.data[op < w->ops.len ? op : 0];
  buf_printf(b, "\"id\": %u, \"op\": ", op);
  json_string(b, o->name);
  BUF_LIT(b, ", \"name\": ");
  json_string(b, o->what);
  BUF_LIT(b, ", \"file\": ");
  json_string(b, o->pos.file);
  buf_printf(b, ", \"line\": %u, \"column\": %u", o->pos.line, o->pos.col);
}

void explain_json_place(buf *b, const why_log *w, why_place p) {
  static const char *const words[] = {"none", "result", "argument", "returned"};
  const why_border *border = border_of(w, p);
  buf_printf(b, "{\"value\": \"%s\", \"index\": %u", words[p.at], p.index);
  if (border) {
    BUF_LIT(b, ", \"name\": ");
    json_string(b, border->name);
  } else if (p.at) {
    BUF_LIT(b, ", ");
    explain_json_op(b, w, p.op);
  }
  BUF_LIT(b, "}");
}
