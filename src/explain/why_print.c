/* Answers to why, for people and as JSON. */
#include <inttypes.h>

#include "explain/explain.h"
#include "explain/why_text.h"
#include "mesh/describe.h"

static const char *const kind_words[] = {
    [WHY_NOTHING] = "none",       [WHY_SUM] = "sum",
    [WHY_OPERAND] = "operand",    [WHY_RESULT_OF] = "result",
    [WHY_FLOW] = "flow",          [WHY_END] = "returned",
    [WHY_CONSTRAINT] = "reshard", [WHY_NEIGHBOURS] = "neighbours"};
static const char *const edit_words[] = {[EDIT_DROP] = "drop",
                                         [EDIT_OPEN] = "open",
                                         [EDIT_CONSTRAIN] = "constrain",
                                         [EDIT_FREE] = "remove"};
static const char *const root_words[] = {
    [ROOT_ARGUMENT] = "argument", [ROOT_RETURNED] = "result", [ROOT_CONSTRAINT] = "constraint",
    [ROOT_MANUAL] = "manual",     [ROOT_CHOSEN] = "chosen",   [ROOT_OP] = "op",
    [ROOT_UNKNOWN] = "unknown"};

/* ---- JSON ---- */

static void json_chain(buf *b, const why_log *w, const why_chain *c) {
  BUF_LIT(b, "\"steps\": [");
  for (size_t i = 0; i < c->events.len; i++) {
    const why_event *e = &w->events.data[c->events.data[i]];
    BUF_LIT(b, "{\"to\": ");
    if (i) buf_drain(b);
    explain_json_place(b, w, e->to);
    BUF_LIT(b, ", \"from\": ");
    explain_json_place(b, w, e->from);
    buf_printf(b, ", \"edge\": %s, ", e->edge ? "true" : "false");
    explain_json_op(b, w, e->op);
    buf_printf(b, ", \"priority\": %" PRId64 ", \"round\": %d}%s", e->user_priority, e->op_round,
               i + 1 < c->events.len ? ", " : "");
  }
  buf_printf(b, "], \"root\": {\"kind\": \"%s\", \"at\": ", root_words[c->kind]);
  explain_json_place(b, w, c->root);
  BUF_LIT(b, ", \"says\": ");
  json_string(b, c->says);
  if (c->by) {
    BUF_LIT(b, ", ");
    explain_json_op(b, w, c->by);
  }
  BUF_LIT(b, "}");
}

static void json_part(buf *b, const explain_run *r, const why_part *p) {
  const why_log *w = &r->log;
  const why_reason *reason = &w->reasons.data[p->tag.reason];
  BUF_LIT(b, "{");
  explain_json_op(b, w, p->tag.op);
  buf_printf(b, ", \"why\": \"%s\", \"index\": %u, \"axes\": [", kind_words[reason->kind],
             reason->index);
  for (size_t i = 0; i < p->causes.len; i++) {
    const why_axis *x = &p->causes.data[i].axis;
    BUF_LIT(b, "{\"axis\": ");
    json_string(b, x->axis);
    buf_printf(b, ", \"pre\": %" PRId64 ", \"size\": %" PRId64 ", \"from_dim\": %d, \"to_dim\": %d",
               x->pre, x->size, x->from_dim, x->to_dim);
    buf_printf(b, ", \"wanted\": %s, \"of\": ", x->wanted ? "true" : "false");
    explain_json_place(b, w, x->holder);
    BUF_LIT(b, ", ");
    json_chain(b, w, &p->causes.data[i].chain);
    buf_printf(b, "}%s", i + 1 < p->causes.len ? ", " : "");
  }
  BUF_LIT(b, "]}");
}

static void json_fixes(buf *b, const explain_run *r, const why_answer *a) {
  BUF_LIT(b, "\"tried\": [");
  for (size_t i = 0; i < a->fixes.len; i++) {
    const why_fix *f = &a->fixes.data[i];
    buf text;
    buf_init(&text, &mem_system);
    explain_put_edits(&text, &r->log, f);
    buf_printf(b, "{\"kind\": \"%s\", \"change\": ", edit_words[f->edits->kind]);
    json_string(b, buf_view(&text));
    buf_deinit(&text);
    buf_printf(b, ", \"bytes\": %" PRId64 ", \"gone\": %s}%s", (i64)f->bytes,
               f->gone ? "true" : "false", i + 1 < a->fixes.len ? ", " : "");
  }
  BUF_LIT(b, "]");
}

static void json_answer(buf *b, const explain_run *r, const why_answer *a, const topology *links) {
  const explain_collective *c = a->c;
  buf_printf(b, "{\"number\": %u, \"kind\": ", a->number);
  json_string(b, c->kind);
  BUF_LIT(b, ", \"along\": ");
  json_string(b, c->axes);
  buf_printf(b,
             ", \"devices\": %u, \"bytes\": %" PRIu64 ", \"times\": %" PRIu64
             ", \"times_known\": %s, \"asked\": %s",
             c->group, c->bytes, c->trips, c->unknown ? "false" : "true",
             c->asked ? "true" : "false");
  if (links) buf_printf(b, ", \"seconds\": %.9g", comms_seconds(links, c, NULL));
  BUF_LIT(b, ", \"for\": [");
  for (size_t i = 0; i < a->parts.len; i++) {
    json_part(b, r, &a->parts.data[i]);
    if (i + 1 < a->parts.len) BUF_LIT(b, ", ");
  }
  BUF_LIT(b, "], ");
  json_fixes(b, r, a);
  BUF_LIT(b, "}");
}

/* ---- of one value ---- */

static bool names_place(const why_log *w, const why_value *v, str name) {
  const why_op *o = &w->ops.data[v->at.op];
  return v->at.at == WHY_RESULT && (str_eq(o->what, name) || str_eq(o->name, name));
}

/* An argument by number or name. */
static bool find_argument(const why_log *w, arena *a, str name, why_place *out) {
  u32 main = 0;
  for (u32 i = 1; i < w->ops.len && !main; i++) main = w->ops.data[i].main ? i : 0;
  for (u32 i = 0; i < w->args.len; i++) {
    str number = arena_printf(a, "%%arg%u", i);
    if (!str_eq(name, number) && !str_eq(name, w->args.data[i].name)) continue;
    *out = (why_place){WHY_INSIDE, main, i};
    return true;
  }
  return false;
}

/* Each axis that the value got, with the chain of the latest event that gave it. */
static void put_value(buf *b, explain_run *r, why_place at, str sharding) {
  const why_log *w = &r->log;
  explain_put_place(b, w, at);
  BUF_LIT(b, ": ");
  explain_put_sharding(b, w, sharding.len ? sharding : STR("replicated"));
  BUF_LIT(b, "\n");
  for (size_t i = w->events.len; i-- > w->num_before;) {
    const why_event *e = &w->events.data[i];
    if (e->to.at != at.at || e->to.op != at.op || e->to.index != at.index) continue;
    why_cause c = {.axis = {.mesh = e->mesh,
                            .axis = e->axis,
                            .pre = e->pre,
                            .size = e->size,
                            .whole = e->size,
                            .from_dim = -1,
                            .to_dim = -1,
                            .holder = at}};
    explain_chain(r, i, at, e->axis, &c.chain);
    why_put_cause(b, r, &c, EXPLAIN_SHOWN);
  }
}

static bool put_values(buf *b, explain_run *r, str name) {
  why_log *w = &r->log;
  why_place at;
  bool any = find_argument(w, &w->a, name, &at);
  if (any) put_value(b, r, at, w->args.data[at.index].sharding);
  for (size_t i = 0; i < w->values.len; i++)
    if (names_place(w, &w->values.data[i], name)) {
      put_value(b, r, w->values.data[i].at, w->values.data[i].sharding);
      any = true;
    }
  return any;
}

/* ---- the question ---- */

static bool serves_line(const why_log *w, const explain_collective *c, u32 line) {
  for (size_t i = 0; i < c->tags.len; i++)
    if (w->ops.data[c->tags.data[i].op].pos.line == line) return true;
  return false;
}

static void put_total(buf *b, const explain_run *r) {
  size_t n = r->collectives.len;
  buf_printf(b, "%zu collective%s; a device sends ", n, n == 1 ? "" : "s");
  explain_put_bytes(b, r->bytes);
  BUF_LIT(b, "\n");
}

/* Of what was tried for several collectives what leaves least to be sent. */
static void put_best(buf *b, const explain_run *r, const why_fix *best, bool json) {
  if (!best->edits || best->bytes >= r->bytes) return;
  if (!json) BUF_LIT(b, "best: ");
  buf text;
  buf_init(&text, &mem_system);
  explain_put_edits(&text, &r->log, best);
  if (json) BUF_LIT(b, ",\n\"best\": {\"change\": ");
  if (json)
    json_string(b, buf_view(&text));
  else
    buf_str(b, buf_view(&text));
  buf_deinit(&text);
  if (json) {
    buf_printf(b, ", \"bytes\": %" PRIu64 "}", best->bytes);
    return;
  }
  BUF_LIT(b, ": ");
  explain_put_bytes(b, r->bytes);
  BUF_LIT(b, " -> ");
  explain_put_bytes(b, best->bytes);
  BUF_LIT(b, " in all\n");
}

static bool is_better(const why_fix *a, const why_fix *b) {
  return !b->edits || a->bytes < b->bytes || (a->bytes == b->bytes && a->num_edits < b->num_edits);
}

static status print_all(explain_run *r, const why_question *q, buf *out) {
  size_t n = r->collectives.len, shown = 0;
  why_fix best = {0};
  if (!q->json && !q->number && !q->line && !q->tries) {
    why_put_groups(out, r, q->links, q->most);
    put_total(out, r);
    return NULL;
  }
  if (q->json) buf_printf(out, "{\"bytes\": %" PRIu64 ", \"collectives\": [", r->bytes);
  for (u32 i = 1; i <= n; i++) {
    if (q->number && i != q->number) continue;
    if (q->line && !serves_line(&r->log, &r->collectives.data[i - 1], q->line)) continue;
    why_answer a = explain_why(r, i);
    if (q->tries) RETURN_IF_ERROR(explain_fix(r, &a, q->tries));
    if (a.fixes.len && is_better(a.fixes.data, &best)) best = a.fixes.data[0];
    if (q->json && shown) BUF_LIT(out, ",\n");
    if (q->json)
      json_answer(out, r, &a, q->links);
    else
      why_put_answer(out, r, &a, q->links);
    shown++;
  }
  if (q->json) BUF_LIT(out, "]");
  put_best(out, r, &best, q->json);
  if (q->json)
    BUF_LIT(out, "}\n");
  else if (!q->number && !q->line)
    put_total(out, r);
  if (q->line && !shown)
    return status_make(STATUS_INVALID_ARGUMENT, "line: no collective serves an op of line %u",
                       q->line);
  return NULL;
}

status explain_why_print(explain_run *r, const why_question *q, buf *out) {
  if (q->number > r->collectives.len)
    return status_make(STATUS_INVALID_ARGUMENT,
                       "collective: there are %zu collectives, and no number %u",
                       r->collectives.len, q->number);
  if (!q->value.len) return print_all(r, q, out);
  if (put_values(out, r, q->value)) return NULL;
  return status_make(STATUS_INVALID_ARGUMENT, "value: there is no value '" STR_FMT "'",
                     STR_ARG(q->value));
}
