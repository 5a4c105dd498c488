/* What a program's collectives cost on given links. */
#include <inttypes.h>
#include <stdlib.h>

#include "explain/explain.h"
#include "mesh/describe.h"

/* ---- one collective ---- */

/* All devices of each group have one number divided by the level's size. */
static bool holds(const comms_link *l, const explain_collective *c) {
  for (size_t i = 0; i < c->devices.len && l->size != UINT64_MAX; i++) {
    i64 first = c->devices.data[i - i % c->row], id = c->devices.data[i];
    if (id >= 0 && first >= 0 && (u64)id / l->size != (u64)first / l->size) return false;
  }
  return true;
}

/* Along one axis alone: "x", or a part of it. */
static bool is_along(const comms_link *l, str axes) {
  size_t n = l->name.len;
  if (axes.len < n + 2 || axes.data[0] != '"' || axes.data[n + 1] != '"' ||
      memcmp(axes.data + 1, l->name.data, n) != 0)
    return false;
  for (size_t i = n + 2; i < axes.len; i++)
    if (axes.data[i] == ',') return false;
  return true;
}

/* The axis, else the innermost level that has them all. */
static const comms_link *link_of(const topology *t, const explain_collective *c) {
  for (size_t i = 0; i < t->links.len; i++)
    if (t->links.data[i].axis && is_along(&t->links.data[i], c->axes)) return &t->links.data[i];
  for (size_t i = 0; i < t->links.len; i++)
    if (!t->links.data[i].axis && holds(&t->links.data[i], c)) return &t->links.data[i];
  return &t->links.data[t->links.len - 1];
}

/* In a ring, as the bytes are counted: so many messages one after the other. */
static double messages(const explain_collective *c) {
  if (!c->bytes) return 0;
  if (str_is(c->kind, "all_reduce")) return 2.0 * (c->group - 1);
  bool once = str_is(c->kind, "collective_permute") || str_is(c->kind, "collective_broadcast");
  return once ? 1 : c->group - 1;
}

double comms_seconds(const topology *t, const explain_collective *c, str *out_link) {
  const comms_link *l = link_of(t, c);
  if (out_link) *out_link = l->name;
  return messages(c) * l->latency + (double)c->bytes / l->bandwidth;
}

/* ---- all of them ---- */

static comms_row *row_for(explain_run *r, comms_answer *a, const explain_collective *c, str link) {
  for (size_t i = 0; i < a->rows.len; i++) {
    comms_row *x = &a->rows.data[i];
    if (str_eq(x->kind, c->kind) && str_eq(x->axes, c->axes) && str_eq(x->link, link)) return x;
  }
  VEC_PUSH(&r->log.a, a->rows, ((comms_row){.kind = c->kind, .axes = c->axes, .link = link}));
  return &a->rows.data[a->rows.len - 1];
}

static void add(comms_row *x, const explain_collective *c, double seconds, double hidden) {
  x->count++;
  x->calls += c->trips;
  x->bytes += c->bytes * c->trips;
  x->seconds += seconds * (double)c->trips;
  x->hidden += hidden * (double)c->trips;
}

static int longest_first(const void *a, const void *b) {
  double x = ((const comms_row *)a)->seconds, y = ((const comms_row *)b)->seconds;
  return x < y ? 1 : x > y ? -1 : 0;
}

comms_answer explain_comms(explain_run *r, const topology *t) {
  comms_answer a = {.sum = {.kind = STR("all"), .axes = STR(""), .link = STR("")}};
  for (size_t i = 0; i < r->collectives.len; i++) {
    const explain_collective *c = &r->collectives.data[i];
    str link;
    double seconds = comms_seconds(t, c, &link);
    double beside = t->flops > 0 ? 2 * c->beside / t->flops : 0;
    double hidden = beside < seconds ? beside : seconds;
    add(row_for(r, &a, c, link), c, seconds, hidden);
    add(&a.sum, c, seconds, hidden);
  }
  if (a.rows.len) qsort(a.rows.data, a.rows.len, sizeof *a.rows.data, longest_first);
  return a;
}

/* ---- printing ---- */

static void put_time(buf *b, double seconds) {
  size_t begin = b->len;
  explain_put_seconds(b, seconds);
  while (b->len < begin + 10 && buf_ok(b)) BUF_LIT(b, " ");
}

static void put_row(buf *b, const comms_row *x) {
  buf_printf(b, "%-18.*s %-22.*s %-10.*s %6" PRIu64 " %8" PRIu64 "  ", (int)x->kind.len,
             x->kind.data, (int)x->axes.len, x->axes.data, (int)x->link.len, x->link.data, x->count,
             x->calls);
  size_t begin = b->len;
  explain_put_bytes(b, x->bytes);
  while (b->len < begin + 10 && buf_ok(b)) BUF_LIT(b, " ");
  put_time(b, x->seconds);
  put_time(b, x->hidden);
  BUF_LIT(b, "\n");
}

static void json_row(buf *b, const comms_row *x) {
  BUF_LIT(b, "{\"kind\": ");
  json_string(b, x->kind);
  BUF_LIT(b, ", \"axes\": ");
  json_string(b, x->axes);
  BUF_LIT(b, ", \"link\": ");
  json_string(b, x->link);
  buf_printf(b,
             ", \"count\": %" PRIu64 ", \"times\": %" PRIu64 ", \"bytes\": %" PRIu64
             ", \"seconds\": %.9g, \"hidden\": %.9g}",
             x->count, x->calls, x->bytes, x->seconds, x->hidden);
}

void explain_comms_print(const comms_answer *c, bool json, buf *out) {
  if (json) BUF_LIT(out, "{\"rows\": [");
  if (!json)
    buf_printf(out, "%-18s %-22s %-10s %6s %8s  %-10s%-10s%s\n", "collective", "axes", "link",
               "count", "times", "bytes", "time", "hidden");
  for (size_t i = 0; i < c->rows.len; i++) {
    if (json && i) BUF_LIT(out, ",\n");
    (json ? json_row : put_row)(out, &c->rows.data[i]);
  }
  if (json) BUF_LIT(out, "],\n\"sum\": ");
  (json ? json_row : put_row)(out, &c->sum);
  if (json) BUF_LIT(out, "}\n");
}
