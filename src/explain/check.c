/* What looks wrong in how a program is sharded, and what it costs. */
#include <inttypes.h>
#include <stdlib.h>

#include "explain/explain.h"
#include "mesh/describe.h"

typedef struct checking {
  explain_run *r;
  check_answer *out;
  u64 large;
} checking;

static arena *mem_of(checking *c) { return &c->r->log.a; }

static void add(checking *c, check_row row) { VEC_PUSH(mem_of(c), c->out->rows, row); }

static const why_op *op_at(const checking *c, why_place p) { return &c->r->log.ops.data[p.op]; }

/* ---- values ---- */

/* A row for all values of one op's name and type. */
static bool add_to_like(checking *c, check_kind kind, const why_value *v, u64 bytes) {
  for (size_t i = 0; i < c->out->rows.len; i++) {
    check_row *x = &c->out->rows.data[i];
    if (x->kind != kind || !str_eq(op_at(c, x->at)->name, op_at(c, v->at)->name) ||
        !str_eq(x->text, v->type))
      continue;
    x->bytes += bytes;
    return true;
  }
  return false;
}

static bool is_cut(const checking *c, str sharding) {
  for (size_t m = 0; m < c->r->log.meshes.len; m++)
    for (size_t i = 0; i < c->r->log.meshes.data[m].axes.len; i++)
      if (why_names(sharding, c->r->log.meshes.data[m].axes.data[i])) return true;
  return false;
}

/* Costs nothing to make again, and is seldom kept. */
static bool is_cheap(const checking *c, const why_value *v) {
  static const char *const names[] = {"stablehlo.constant", "sdy.constant", "stablehlo.iota",
                                      "stablehlo.broadcast_in_dim"};
  for (size_t i = 0; i < COUNT(names); i++)
    if (str_is(op_at(c, v->at)->name, names[i])) return true;
  return false;
}

static void check_values(checking *c) {
  const why_log *w = &c->r->log;
  u64 devices = program_num_devices(c->r->exe->prog);
  for (size_t i = 0; devices > 1 && i < w->values.len; i++) {
    const why_value *v = &w->values.data[i];
    u64 waste = v->bytes - v->bytes / devices;
    if (v->bytes >= c->large && !is_cheap(c, v) && !is_cut(c, v->sharding) &&
        !add_to_like(c, CHECK_REPLICATED, v, waste))
      add(c, (check_row){.kind = CHECK_REPLICATED, .at = v->at, .text = v->type, .bytes = waste});
    if (v->padded && !add_to_like(c, CHECK_PADDING, v, v->padded))
      add(c, (check_row){.kind = CHECK_PADDING, .at = v->at, .text = v->type, .bytes = v->padded});
  }
}

/* Of what a device has of argument i. */
static u64 argument_bytes(const checking *c, u32 i) {
  const compile_tensor *t = &c->r->exe->params[i];
  u64 bytes = dtype_size(t->type);
  for (size_t d = 0; d < t->local_dims.len; d++) bytes *= (u64)t->local_dims.data[d];
  return bytes;
}

/* Bytes of an argument, all pieces together if they are disjoint. */
static void check_arguments(checking *c) {
  const executable *e = c->r->exe;
  u32 main = 0;
  for (u32 i = 1; i < c->r->log.ops.len && !main; i++) main = c->r->log.ops.data[i].main ? i : 0;
  for (u32 i = 0; i < e->num_params && i < c->r->log.args.len; i++) {
    const compile_tensor *t = &e->params[i];
    const why_border *b = &c->r->log.args.data[i];
    u64 bytes = argument_bytes(c, i);
    why_place at = {WHY_INSIDE, main, i};
    if (e->num_partitions > 1 && bytes >= c->large && !t->slice_of)
      add(c, (check_row){.kind = CHECK_REPLICATED,
                         .at = at,
                         .text = b->type,
                         .bytes = bytes - bytes / e->num_partitions});
    if (b->donated && t->alias < 0)
      add(c, (check_row){.kind = CHECK_DONATION, .at = at, .text = b->type, .bytes = bytes});
  }
}

/* ---- collectives, axes, constraints, remarks ---- */

/* The argument that a part of the answer comes from; NULL: none, or one of those before it. */
static const why_place *new_argument(const checking *c, const why_answer *a, size_t k) {
  const why_part *p = &a->parts.data[k];
  if (!p->causes.len || p->causes.data[0].chain.kind != ROOT_ARGUMENT) return NULL;
  const why_place *at = &p->causes.data[0].chain.root;
  for (size_t i = 0; i < k; i++) {
    const why_place *other = new_argument(c, a, i);
    if (other && other->index == at->index) return NULL;
  }
  return at->index < c->r->exe->num_params ? at : NULL;
}

/* One collective may gather several arguments, each its share of the bytes. */
static void check_loops(checking *c) {
  for (u32 i = 0; i < c->r->collectives.len; i++) {
    const explain_collective *x = &c->r->collectives.data[i];
    if (x->asked || !str_is(x->kind, "all_gather") || (x->trips < 2 && !x->unknown)) continue;
    why_answer a = explain_why(c->r, i + 1);
    double all = 0, sent = (double)x->bytes * (double)x->trips;
    for (size_t k = 0; k < a.parts.len; k++) {
      const why_place *at = new_argument(c, &a, k);
      if (at) all += (double)argument_bytes(c, at->index);
    }
    for (size_t k = 0; k < a.parts.len; k++) {
      const why_place *at = new_argument(c, &a, k);
      if (!at) continue;
      double share = all > 0 ? (double)argument_bytes(c, at->index) / all : 1;
      add(c, (check_row){.kind = CHECK_IN_LOOP,
                         .at = {WHY_RESULT, a.parts.data[k].tag.op, 0},
                         .other = *at,
                         .text = x->axes,
                         .bytes = (u64)(sent * share)});
    }
  }
}

static bool is_used(const why_log *w, str axis) {
  for (size_t i = 0; i < w->values.len; i++)
    if (why_names(w->values.data[i].sharding, axis)) return true;
  for (size_t i = 0; i < w->args.len; i++)
    if (why_names(w->args.data[i].sharding, axis)) return true;
  for (size_t i = 0; i < w->results.len; i++)
    if (why_names(w->results.data[i].sharding, axis)) return true;
  for (size_t i = 0; i < w->ops.len; i++)
    if (why_names(w->ops.data[i].constraint, axis)) return true;
  return false;
}

static void check_axes(checking *c) {
  const why_log *w = &c->r->log;
  for (size_t m = 0; m < w->meshes.len; m++)
    for (size_t i = 0; i < w->meshes.data[m].axes.len; i++) {
      str axis = w->meshes.data[m].axes.data[i];
      if (!is_used(w, axis))
        add(c, (check_row){.kind = CHECK_AXIS,
                           .text = arena_printf(mem_of(c), "\"" STR_FMT "\" of @" STR_FMT,
                                                STR_ARG(axis), STR_ARG(w->meshes.data[m].name))});
    }
}

static u64 bytes_at(const why_log *w, why_place p) {
  for (size_t i = 0; i < w->values.len; i++)
    if (w->values.data[i].at.op == p.op && w->values.data[i].at.index == p.index)
      return w->values.data[i].bytes;
  return 0;
}

/* Two constraints on one value that say different things. */
static void check_fights(checking *c) {
  const why_log *w = &c->r->log;
  for (u32 i = 1; i < w->ops.len; i++) {
    why_place on = w->ops.data[i].operand;
    for (u32 k = i + 1; on.at && k < w->ops.len; k++) {
      why_place other = w->ops.data[k].operand;
      if (other.at != on.at || other.op != on.op || other.index != on.index ||
          str_eq(w->ops.data[i].constraint, w->ops.data[k].constraint))
        continue;
      add(c, (check_row){.kind = CHECK_FIGHT,
                         .at = {WHY_RESULT, i, 0},
                         .other = {WHY_RESULT, k, 0},
                         .text = arena_printf(mem_of(c), STR_FMT " and " STR_FMT,
                                              STR_ARG(w->ops.data[i].constraint),
                                              STR_ARG(w->ops.data[k].constraint)),
                         .bytes = bytes_at(w, on)});
      break;
    }
  }
}

static void check_remarks(checking *c) {
  str s = c->r->remarks;
  for (size_t at = 0, end; at < s.len; at = end + 1) {
    for (end = at; end < s.len && s.data[end] != '\n';) end++;
    if (end > at) add(c, (check_row){.kind = CHECK_WHOLE, .text = {s.data + at, end - at}});
  }
}

static int by_bytes(const void *a, const void *b) {
  const check_row *x = a, *y = b;
  if (x->bytes != y->bytes) return x->bytes < y->bytes ? 1 : -1;
  if (x->kind != y->kind) return (int)x->kind - (int)y->kind;
  return x->at.op < y->at.op ? -1 : x->at.op > y->at.op;
}

check_answer explain_check(explain_run *r, u64 large) {
  check_answer out = {0};
  checking c = {r, &out, large};
  check_values(&c);
  check_arguments(&c);
  check_loops(&c);
  check_axes(&c);
  check_fights(&c);
  check_remarks(&c);
  if (out.rows.len) qsort(out.rows.data, out.rows.len, sizeof *out.rows.data, by_bytes);
  return out;
}

/* ---- printing ---- */

static const char *const kind_words[] = {"replicated", "whole",       "gather in a loop",
                                         "padding",    "unused axis", "constraints that differ",
                                         "donation"};

static void put_row(buf *b, const why_log *w, const check_row *x) {
  static const char *const says[] = {
      [CHECK_REPLICATED] = "is whole on every device",
      [CHECK_IN_LOOP] = "needs an argument gathered each time the loop runs",
      [CHECK_PADDING] = "is cut into pieces that its sizes do not divide into",
      [CHECK_FIGHT] = "differs from the constraint",
      [CHECK_DONATION] = "is donated, but no result takes it over"};
  buf_printf(b, "%s: ", kind_words[x->kind]);
  if (x->kind == CHECK_WHOLE || x->kind == CHECK_AXIS) {
    buf_str(b, x->text);
  } else {
    explain_put_place(b, w, x->at);
    buf_printf(b, " %s", says[x->kind]);
    if (x->other.at) {
      buf_printf(b, x->kind == CHECK_FIGHT ? " " : ", ");
      explain_put_place(b, w, x->other);
    }
    buf_printf(b, " (" STR_FMT ")", STR_ARG(x->text));
  }
  if (x->bytes) {
    BUF_LIT(b, ": ");
    explain_put_bytes(b, x->bytes);
  }
  BUF_LIT(b, "\n");
}

static void json_row(buf *b, const why_log *w, const check_row *x) {
  buf_printf(b, "{\"kind\": \"%s\", \"at\": ", kind_words[x->kind]);
  explain_json_place(b, w, x->at);
  BUF_LIT(b, ", \"other\": ");
  explain_json_place(b, w, x->other);
  BUF_LIT(b, ", \"text\": ");
  json_string(b, x->text);
  buf_printf(b, ", \"bytes\": %" PRIu64 "}", x->bytes);
}

void explain_check_print(explain_run *r, const check_answer *c, bool json, u32 most, buf *out) {
  if (json) BUF_LIT(out, "[");
  for (size_t i = 0; i < c->rows.len && (json || i < most); i++) {
    if (json && i) BUF_LIT(out, ",\n");
    (json ? json_row : put_row)(out, &r->log, &c->rows.data[i]);
  }
  if (json) BUF_LIT(out, "]\n");
  if (!json && c->rows.len > most) buf_printf(out, "and %zu more\n", c->rows.len - most);
  if (!json && !c->rows.len) BUF_LIT(out, "nothing looks wrong\n");
}
