/* What is different between two programs, or two shardings of one. */
#include <inttypes.h>
#include <stdlib.h>

#include "explain/explain.h"
#include "mesh/describe.h"

/* ---- matching: the k-th of those that look alike in one is the k-th in the other ---- */

typedef struct item {
  u64 key;
  u32 nth, index; /* of those with this key; of the list it is from */
} item;
typedef VEC(item) items;

static int by_key(const void *a, const void *b) {
  const item *x = a, *y = b;
  if (x->key != y->key) return x->key < y->key ? -1 : 1;
  return x->index < y->index ? -1 : x->index > y->index;
}

static void number(items *l) {
  if (l->len) qsort(l->data, l->len, sizeof *l->data, by_key);
  for (size_t i = 0; i < l->len; i++)
    l->data[i].nth = i && l->data[i - 1].key == l->data[i].key ? l->data[i - 1].nth + 1 : 0;
}

typedef struct diffing {
  explain_run *run[2];
  diff_answer *out;
  arena *a;
} diffing;

/* Calls one for each that both have, or one of them: NULL there. */
typedef void pair_fn(diffing *d, const u32 *x, const u32 *y);
static void each_pair(diffing *d, items *x, items *y, pair_fn *fn) {
  number(x);
  number(y);
  for (size_t i = 0, k = 0; i < x->len || k < y->len;) {
    const item *a = i < x->len ? &x->data[i] : NULL, *b = k < y->len ? &y->data[k] : NULL;
    int way = !a                 ? 1
              : !b               ? -1
              : a->key != b->key ? (a->key < b->key ? -1 : 1)
              : a->nth == b->nth ? 0
              : a->nth < b->nth  ? -1
                                 : 1;
    fn(d, way <= 0 ? &a->index : NULL, way >= 0 ? &b->index : NULL);
    i += way <= 0;
    k += way >= 0;
  }
}

static u64 hash_of(str s, u64 seed) { return hash_bytes(s.data, s.len, seed); }

static u64 op_key(const why_log *w, u32 op) {
  const why_op *o = &w->ops.data[op < w->ops.len ? op : 0];
  return hash_of(o->what, hash_of(o->name, 0));
}

/* ---- rows ---- */

static void add(diffing *d, diff_row row) {
  for (size_t i = 0; i < d->out->rows.len; i++) {
    diff_row *x = &d->out->rows.data[i];
    bool same_op = row.kind < DIFF_COMES || op_key(&d->run[!x->of_first]->log, x->at.op) ==
                                                op_key(&d->run[!row.of_first]->log, row.at.op);
    if (x->kind != row.kind || !str_eq(x->before, row.before) || !str_eq(x->after, row.after) ||
        !same_op || (row.kind == DIFF_ANNOTATION && x->at.at != WHY_RESULT))
      continue;
    x->count += row.count;
    x->bytes += row.bytes;
    return;
  }
  VEC_PUSH(d->a, d->out->rows, row);
}

static str words(str s) { return s.len ? s : STR("nothing"); }

/* ---- values ---- */

static items list_values(diffing *d, const why_log *w) {
  items l = {0};
  for (size_t i = 0; i < w->values.len; i++) {
    const why_value *v = &w->values.data[i];
    u64 key = hash_of(v->type, op_key(w, v->at.op) + v->at.index);
    VEC_PUSH(d->a, l, ((item){key, 0, (u32)i}));
  }
  return l;
}

/* What says how values are sharded is compared as an annotation. */
static bool says(const why_log *w, const why_value *v) {
  return w->ops.data[v->at.op].operand.at != WHY_NOWHERE;
}

static void compare_values(diffing *d, const u32 *i, const u32 *k) {
  const why_log *w[2] = {&d->run[0]->log, &d->run[1]->log};
  const why_value *x = i ? &w[0]->values.data[*i] : NULL, *y = k ? &w[1]->values.data[*k] : NULL;
  if (x && y && (says(w[1], y) || str_eq(words(x->sharding), words(y->sharding)))) return;
  const why_value *v = y ? y : x;
  diff_row row = {.at = v->at, .of_first = !y, .count = 1, .bytes = v->bytes};
  if ((x && says(w[0], x)) || (y && says(w[1], y))) return;
  row.kind = x && y ? DIFF_VALUE : y ? DIFF_OP_COMES : DIFF_OP_GOES;
  if (row.kind != DIFF_VALUE && v->at.index) return;
  row.before = row.kind == DIFF_VALUE ? words(x->sharding) : w[!y ? 0 : 1]->ops.data[v->at.op].name;
  if (row.kind == DIFF_VALUE) row.after = words(y->sharding);
  add(d, row);
}

/* ---- annotations ---- */

/* Arguments and results by name, where they have one; else as they are counted. */
static items list_border(diffing *d, const why_border *list, size_t n) {
  items l = {0};
  for (size_t i = 0; i < n; i++)
    VEC_PUSH(d->a, l,
             ((item){list[i].name.len ? hash_of(list[i].name, 1) : hash_u64(i, 2), 0, (u32)i}));
  return l;
}

static void compare_border(diffing *d, const why_border *x, const why_border *y, why_place at) {
  if (str_eq(x->sharding, y->sharding)) return;
  add(d, (diff_row){.kind = DIFF_ANNOTATION,
                    .at = at,
                    .before = words(x->sharding),
                    .after = words(y->sharding),
                    .count = 1});
}

static u32 main_of(const why_log *w) {
  for (u32 i = 1; i < w->ops.len; i++)
    if (w->ops.data[i].main) return i;
  return 0;
}

static void compare_arguments(diffing *d, const u32 *i, const u32 *k) {
  const why_log *w[2] = {&d->run[0]->log, &d->run[1]->log};
  if (i && k)
    compare_border(d, &w[0]->args.data[*i], &w[1]->args.data[*k],
                   (why_place){WHY_INSIDE, main_of(w[1]), *k});
}

static void compare_results(diffing *d, const u32 *i, const u32 *k) {
  const why_log *w[2] = {&d->run[0]->log, &d->run[1]->log};
  if (i && k)
    compare_border(d, &w[0]->results.data[*i], &w[1]->results.data[*k],
                   (why_place){WHY_RETURNED, main_of(w[1]), *k});
}

static items list_constraints(diffing *d, const why_log *w) {
  items l = {0};
  for (u32 i = 1; i < w->ops.len; i++)
    if (w->ops.data[i].operand.at) VEC_PUSH(d->a, l, ((item){op_key(w, i), 0, i}));
  return l;
}

static void compare_constraints(diffing *d, const u32 *i, const u32 *k) {
  str x = i ? d->run[0]->log.ops.data[*i].constraint : (str){0};
  str y = k ? d->run[1]->log.ops.data[*k].constraint : (str){0};
  if (i && k && str_eq(x, y)) return;
  add(d, (diff_row){.kind = DIFF_ANNOTATION,
                    .at = {WHY_RESULT, k ? *k : *i, 0},
                    .of_first = !k,
                    .before = words(x),
                    .after = words(y),
                    .count = 1});
}

/* ---- collectives ---- */

static items list_collectives(diffing *d, const explain_run *r) {
  items l = {0};
  for (size_t i = 0; i < r->collectives.len; i++) {
    const explain_collective *c = &r->collectives.data[i];
    u64 key = hash_of(c->axes, hash_of(c->kind, c->bytes));
    if (c->tags.len) key = hash_u64(op_key(&r->log, c->tags.data[0].op), key);
    VEC_PUSH(d->a, l, ((item){key, 0, (u32)i}));
  }
  return l;
}

static void compare_collectives(diffing *d, const u32 *i, const u32 *k) {
  if (i && k) return;
  const explain_run *r = d->run[k != NULL];
  const explain_collective *c = &r->collectives.data[k ? *k : *i];
  u32 op = c->tags.len ? c->tags.data[0].op : 0;
  add(d, (diff_row){.kind = k ? DIFF_COMES : DIFF_GOES,
                    .at = {WHY_RESULT, op, 0},
                    .of_first = !k,
                    .before = c->kind,
                    .after = c->axes,
                    .count = 1,
                    .bytes = c->bytes * c->trips});
}

/* ---- the answer ---- */

static int by_kind(const void *a, const void *b) {
  const diff_row *x = a, *y = b;
  if (x->kind != y->kind) return (int)x->kind - (int)y->kind;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  if (x->at.op != y->at.op) return x->at.op < y->at.op ? -1 : 1;
  return x->at.index < y->at.index ? -1 : x->at.index > y->at.index;
}

diff_answer explain_diff(explain_run *a, explain_run *b) {
  diff_answer out = {0};
  diffing d = {{a, b}, &out, &b->log.a};
  items x, y;
  x = list_border(&d, a->log.args.data, a->log.args.len);
  y = list_border(&d, b->log.args.data, b->log.args.len);
  each_pair(&d, &x, &y, compare_arguments);
  x = list_border(&d, a->log.results.data, a->log.results.len);
  y = list_border(&d, b->log.results.data, b->log.results.len);
  each_pair(&d, &x, &y, compare_results);
  x = list_constraints(&d, &a->log), y = list_constraints(&d, &b->log);
  each_pair(&d, &x, &y, compare_constraints);
  x = list_values(&d, &a->log), y = list_values(&d, &b->log);
  each_pair(&d, &x, &y, compare_values);
  x = list_collectives(&d, a), y = list_collectives(&d, b);
  each_pair(&d, &x, &y, compare_collectives);
  if (out.rows.len) qsort(out.rows.data, out.rows.len, sizeof *out.rows.data, by_kind);
  for (int k = 0; k < 2; k++) {
    program_cost cost;
    program_find_cost(d.run[k]->exe->prog, &cost);
    out.flops[k] = cost.flops;
    out.bytes[k] = d.run[k]->bytes;
    out.collectives[k] = d.run[k]->collectives.len;
    out.memory[k] = explain_mem(d.run[k]).total;
  }
  return out;
}

/* ---- printing ---- */

static const char *const kind_words[] = {"annotation", "sharded", "comes",
                                         "goes",       "new op",  "op gone"};

static void put_row(buf *b, const why_log *w, const diff_row *x) {
  buf_printf(b, "%-10s ", kind_words[x->kind]);
  if (x->kind >= DIFF_OP_COMES) {
    buf_printf(b, STR_FMT, STR_ARG(x->before));
  } else if (x->kind >= DIFF_COMES) {
    buf_printf(b, STR_FMT " along " STR_FMT " for ", STR_ARG(x->before), STR_ARG(x->after));
    explain_put_op(b, w, x->at.op);
  } else {
    explain_put_place(b, w, x->at);
    BUF_LIT(b, ": ");
    explain_put_sharding(b, w, x->before);
    BUF_LIT(b, " -> ");
    explain_put_sharding(b, w, x->after);
  }
  if (x->count > 1) buf_printf(b, ", %" PRIu64 " alike", x->count);
  if (x->bytes) {
    BUF_LIT(b, ", ");
    explain_put_bytes(b, x->bytes);
  }
  BUF_LIT(b, "\n");
}

static void put_change(buf *b, const char *what, const u64 *v, bool bytes) {
  buf_printf(b, "%-12s", what);
  for (int k = 0; k < 2; k++) {
    if (k) BUF_LIT(b, " -> ");
    if (bytes)
      explain_put_bytes(b, v[k]);
    else
      buf_printf(b, "%" PRIu64, v[k]);
  }
  BUF_LIT(b, "\n");
}

static void put_text(explain_run *a, explain_run *b, const diff_answer *d, u32 most, buf *out) {
  u32 shown = 0;
  for (size_t i = 0; i < d->rows.len; i++) {
    const diff_row *x = &d->rows.data[i];
    shown = i && d->rows.data[i - 1].kind == x->kind ? shown + 1 : 1;
    if (shown <= most) put_row(out, x->of_first ? &a->log : &b->log, x);
    bool last = i + 1 == d->rows.len || d->rows.data[i + 1].kind != x->kind;
    if (last && shown > most) buf_printf(out, "           and %u more such\n", shown - most);
  }
  if (!d->rows.len) BUF_LIT(out, "no difference\n");
  put_change(out, "collectives", d->collectives, false);
  put_change(out, "sent", d->bytes, true);
  put_change(out, "memory", d->memory, true);
  buf_printf(out, "%-12s%.4g -> %.4g\n", "flops", d->flops[0], d->flops[1]);
}

static void json_row(buf *b, const why_log *w, const diff_row *x) {
  buf_printf(b, "{\"kind\": \"%s\", \"at\": ", kind_words[x->kind]);
  explain_json_place(b, w, x->at);
  BUF_LIT(b, ", \"before\": ");
  json_string(b, x->before);
  BUF_LIT(b, ", \"after\": ");
  json_string(b, x->after);
  buf_printf(b, ", \"count\": %" PRIu64 ", \"bytes\": %" PRIu64 "}", x->count, x->bytes);
}

void explain_diff_print(explain_run *a, explain_run *b, const diff_answer *d, bool json, u32 most,
                        buf *out) {
  if (!json) {
    put_text(a, b, d, most, out);
    return;
  }
  BUF_LIT(out, "{\"rows\": [");
  for (size_t i = 0; i < d->rows.len; i++) {
    if (i) BUF_LIT(out, ",\n");
    json_row(out, d->rows.data[i].of_first ? &a->log : &b->log, &d->rows.data[i]);
  }
  buf_printf(out,
             "],\n\"collectives\": [%" PRIu64 ", %" PRIu64 "], \"bytes\": [%" PRIu64 ", %" PRIu64
             "], \"memory\": [%" PRIu64 ", %" PRIu64 "], \"flops\": [%.9g, %.9g]}\n",
             d->collectives[0], d->collectives[1], d->bytes[0], d->bytes[1], d->memory[0],
             d->memory[1], d->flops[0], d->flops[1]);
}
