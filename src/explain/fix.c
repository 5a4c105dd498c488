/* Changes of annotations that would make a collective cheaper, tried by running the line again. */
#include <stdlib.h>

#include "explain/explain.h"

/* ---- what to try ---- */

typedef struct trying {
  explain_run *r;
  const why_answer *a;
  VEC(explain_edit) list;
  VEC(why_fix) fixes;
} trying;

static bool is_tried(const trying *t, const explain_edit *e) {
  for (size_t i = 0; i < t->fixes.len; i++)
    if (t->fixes.data[i].num_edits == 1 && explain_same_edit(t->fixes.data[i].edits, e))
      return true;
  return false;
}

static void propose(trying *t, explain_edit e) {
  for (size_t i = 0; i < t->list.len; i++)
    if (explain_same_edit(&t->list.data[i], &e)) return;
  VEC_PUSH(&t->r->log.a, t->list, e);
}

/* The annotation that a chain ends at. */
static void propose_root(trying *t, const why_cause *c) {
  const why_chain *chain = &c->chain;
  if (chain->kind == ROOT_CONSTRAINT) {
    why_place at = {WHY_RESULT, chain->by, 0};
    propose(t, (explain_edit){.kind = EDIT_DROP, .at = at, .axis = c->axis.axis});
    propose(t, (explain_edit){.kind = EDIT_FREE, .at = at});
  } else if (chain->kind < ROOT_CONSTRAINT) {
    propose(t, (explain_edit){.kind = EDIT_DROP, .at = chain->root, .axis = c->axis.axis});
  }
}

static const why_value *value_at(const why_log *w, why_place p) {
  for (size_t i = 0; i < w->values.len; i++) {
    const why_value *v = &w->values.data[i];
    if (v->at.at == p.at && v->at.op == p.op && v->at.index == p.index) return v;
  }
  return NULL;
}

enum { MAX_RANK = 8 };

/* Axes of each dimension as text: "x", "y". */
typedef struct dims {
  str mesh, axes[MAX_RANK];
  u32 rank;
} dims;

/* tensor<64x256xf32>: each size ends with an x, and begins behind < or x. */
static u32 rank_of(str type) {
  u32 rank = 0;
  bool size = false;
  for (size_t i = 1; i < type.len && type.data[i] != '>'; i++) {
    char c = type.data[i], before = type.data[i - 1];
    bool digit = c >= '0' && c <= '9';
    rank += c == 'x' && size;
    size = digit && (size || before == '<' || before == 'x');
  }
  return rank;
}

/* #sdy.sharding<@mesh, [{"x"}, {?}]>: the first mesh where it is empty. false: it is too much. */
static bool read_dims(const why_log *w, str sharding, str type, dims *out) {
  *out = (dims){.rank = rank_of(type)};
  if (w->meshes.len) out->mesh = w->meshes.data[0].name;
  size_t at = 0;
  for (; at < sharding.len && sharding.data[at] != '['; at++)
    if (sharding.data[at] == '@')
      out->mesh = (str){sharding.data + at + 1, 0};
    else if (out->mesh.data && sharding.data[at] == ',' && !out->mesh.len)
      out->mesh.len = (size_t)(sharding.data + at - out->mesh.data);
  for (u32 d = 0; at < sharding.len && sharding.data[at] != ']' && d < MAX_RANK; at++) {
    if (sharding.data[at] != '{') continue;
    size_t end = ++at;
    while (end < sharding.len && sharding.data[end] != '}' && sharding.data[end] != '?') end++;
    while (end > at && sharding.data[end - 1] != '"' && sharding.data[end - 1] != ')') end--;
    out->axes[d++] = (str){sharding.data + at, end - at};
  }
  return out->rank && out->rank <= MAX_RANK && out->mesh.len;
}

static str without_axis(arena *a, str axes, str name) {
  str quoted = arena_printf(a, "\"" STR_FMT "\"", STR_ARG(name)), out = {0};
  for (size_t at = 0; at < axes.len;) {
    size_t end = at;
    while (end < axes.len && axes.data[end] != ',') end++;
    str one = {axes.data + at, end - at};
    while (one.len && one.data[0] == ' ') one.data++, one.len--;
    if (one.len && !str_starts(one, quoted))
      out = arena_printf(a, STR_FMT "%s" STR_FMT, STR_ARG(out), out.len ? ", " : "", STR_ARG(one));
    at = end + 1;
  }
  return out;
}

static str write_dims(arena *a, const dims *d) {
  str out = arena_printf(a, "#sdy.sharding<@" STR_FMT ", [", STR_ARG(d->mesh));
  for (u32 i = 0; i < d->rank; i++)
    out = arena_printf(a, STR_FMT "%s{" STR_FMT "}", STR_ARG(out), i ? ", " : "",
                       STR_ARG(d->axes[i]));
  return arena_printf(a, STR_FMT "]>", STR_ARG(out));
}

/* With the axis along each dimension, and along none. */
static void propose_moves(trying *t, why_place at, str sharding, str type, str axis, bool none) {
  arena *a = &t->r->log.a;
  dims d;
  if (!read_dims(&t->r->log, sharding, type, &d)) return;
  for (u32 to = 0; to < d.rank + none; to++) {
    dims moved = d;
    for (u32 i = 0; i < d.rank; i++) moved.axes[i] = without_axis(a, d.axes[i], axis);
    if (to < d.rank)
      moved.axes[to] = arena_printf(a, STR_FMT "%s\"" STR_FMT "\"", STR_ARG(moved.axes[to]),
                                    moved.axes[to].len ? ", " : "", STR_ARG(axis));
    str text = write_dims(a, &moved);
    if (!str_eq(text, sharding))
      propose(t, (explain_edit){.kind = EDIT_CONSTRAIN, .at = at, .sharding = text});
  }
}

/* Two dimensions of an annotation the other way round. */
static void propose_swaps(trying *t, why_place at, str sharding, str type) {
  dims d;
  if (!read_dims(&t->r->log, sharding, type, &d)) return;
  for (u32 i = 0; i < d.rank; i++)
    for (u32 k = i + 1; k < d.rank; k++) {
      dims other = d;
      other.axes[i] = d.axes[k];
      other.axes[k] = d.axes[i];
      if (!str_eq(d.axes[i], d.axes[k]))
        propose(t, (explain_edit){.kind = EDIT_CONSTRAIN,
                                  .at = at,
                                  .sharding = write_dims(&t->r->log.a, &other)});
    }
}

static const why_border *border_at(const why_log *w, why_place p) {
  if (p.op >= w->ops.len || !w->ops.data[p.op].main || p.at < WHY_INSIDE) return NULL;
  if (p.at == WHY_INSIDE) return p.index < w->args.len ? &w->args.data[p.index] : NULL;
  return p.index < w->results.len ? &w->results.data[p.index] : NULL;
}

/* What the op makes, under another sharding; then the annotations at the ends of its chains; then
 * what it works on. */
static void propose_there(trying *t, const why_part *p) {
  const why_log *w = &t->r->log;
  const why_value *v = value_at(w, (why_place){WHY_RESULT, p->tag.op, 0});
  for (size_t i = 0; v && i < p->causes.len; i++)
    propose_moves(t, v->at, v->sharding, v->type, p->causes.data[i].axis.axis, true);
  for (size_t i = 0; i < p->causes.len; i++) {
    const why_cause *c = &p->causes.data[i];
    const why_border *b = border_at(w, c->chain.root);
    if (b) propose_swaps(t, c->chain.root, b->sharding, b->type);
    if (b) propose_moves(t, c->chain.root, b->sharding, b->type, c->axis.axis, false);
    const why_value *at = value_at(w, (why_place){WHY_RESULT, c->chain.by, 0});
    if (at && c->chain.kind == ROOT_CONSTRAINT) {
      propose_swaps(t, at->at, c->chain.says, at->type);
      propose_moves(t, at->at, c->chain.says, at->type, c->axis.axis, false);
    }
  }
  for (size_t i = 0; i < p->causes.len; i++) {
    v = value_at(w, p->causes.data[i].axis.holder);
    if (v) propose_moves(t, v->at, v->sharding, v->type, p->causes.data[i].axis.axis, true);
  }
}

/* What @main returns, as it is computed. */
static void propose_returned(trying *t, const why_part *p) {
  const why_log *w = &t->r->log;
  const why_reason *r = &w->reasons.data[p->tag.reason];
  u32 main = w->ops.data[p->tag.op].parent;
  if (r->kind != WHY_END || !w->ops.data[main].main || !p->causes.len) return;
  const why_value *v = value_at(w, p->causes.data[0].axis.holder);
  why_place at = {WHY_RETURNED, main, r->index};
  const why_border *b = border_at(w, at);
  if (v && b && v->sharding.len && str_eq(v->type, b->type))
    propose(t, (explain_edit){.kind = EDIT_CONSTRAIN, .at = at, .sharding = v->sharding});
  for (size_t i = 0; b && i < p->causes.len; i++)
    propose_moves(t, at, b->sharding, b->type, p->causes.data[i].axis.axis, true);
}

static void propose_open(trying *t) {
  const why_log *w = &t->r->log;
  for (size_t i = 0; i < t->a->parts.len; i++)
    for (size_t k = 0; k < t->a->parts.data[i].causes.len; k++) {
      const why_chain *c = &t->a->parts.data[i].causes.data[k].chain;
      if (c->kind == ROOT_CONSTRAINT)
        propose(t, (explain_edit){.kind = EDIT_OPEN, .at = {WHY_RESULT, c->by, 0}});
      else if (c->kind < ROOT_CONSTRAINT && c->root.op < w->ops.len)
        propose(t, (explain_edit){.kind = EDIT_OPEN, .at = c->root});
    }
}

/* ---- trying ---- */

/* How many there are of a collective's kind, along its axes, for the op that it serves; *number: of
 * the first. */
static size_t count_like(const explain_run *r, const explain_collective *c, u32 *number) {
  size_t n = 0;
  u32 op = c->tags.len ? c->tags.data[0].op : 0;
  for (size_t i = r->collectives.len; i-- > 0;) {
    const explain_collective *x = &r->collectives.data[i];
    bool serves = !op;
    for (size_t k = 0; k < x->tags.len; k++) serves |= x->tags.data[k].op == op;
    if (!serves || !str_eq(x->kind, c->kind) || !str_eq(x->axes, c->axes) || x->bytes < c->bytes)
      continue;
    n++;
    *number = (u32)i + 1;
  }
  return n;
}

static int by_bytes(const void *a, const void *b) {
  u64 x = ((const why_fix *)a)->bytes, y = ((const why_fix *)b)->bytes;
  return x < y ? -1 : x > y;
}

/* *left: what is left of the collective then (0: less than before), with why in *next. */
static status try_edits(trying *t, const explain_edit *edits, size_t n, u32 *left,
                        explain_edit *next) {
  explain_run *r = t->r, again;
  status s = explain_line(r->source, edits, n, false, &again);
  if (s && status_get_code(s) == STATUS_RESOURCE_EXHAUSTED) return explain_end(&again), s;
  u32 number = 0;
  why_fix f = {arena_copy(&r->log.a, edits, n * sizeof *edits), n, s ? UINT64_MAX : again.bytes};
  f.gone = !s && count_like(&again, t->a->c, &number) < count_like(r, t->a->c, left);
  *left = s || f.gone ? 0 : number;
  if (*left && next) {
    why_answer a = explain_why(&again, number);
    *left = explain_root_edit(&a, edits, n, next);
    next->axis = arena_str(&r->log.a, next->axis);
  }
  explain_end(&again);
  status_free(s);
  VEC_PUSH(&r->log.a, t->fixes, f);
  return NULL;
}

enum { MAX_TOGETHER = 12 };

/* One annotation after the other, until it is gone: several may ask for the same. */
static status drop_all(trying *t, u32 most) {
  explain_edit edits[MAX_TOGETHER + 1];
  u32 left = explain_root_edit(t->a, NULL, 0, &edits[0]);
  for (size_t n = 1; left && n <= MAX_TOGETHER && n <= most; n++) {
    t->fixes.len = 0;
    RETURN_IF_ERROR(try_edits(t, edits, n, &left, &edits[n]));
  }
  return NULL;
}

/* So many runs of the line take a second or so. */
static u32 runs_of(const explain_run *r) {
  size_t n = 16000 / (r->log.ops.len + 1);
  return n < 3 ? 3 : n > MAX_TOGETHER ? MAX_TOGETHER : (u32)n;
}

status explain_fix(explain_run *r, why_answer *a, u32 limit) {
  trying t = {.r = r, .a = a};
  u32 together = limit == EXPLAIN_SOME ? runs_of(r) : MAX_TOGETHER;
  if (limit == EXPLAIN_SOME) limit = together > 8 ? 8 : together - 2;
  u32 left;
  for (size_t i = 0; i < a->parts.len; i++) {
    const why_part *p = &a->parts.data[i];
    for (size_t k = 0; k < p->causes.len; k++) propose_root(&t, &p->causes.data[k]);
    propose_returned(&t, p);
    propose_there(&t, p);
  }
  propose_open(&t);
  RETURN_IF_ERROR(drop_all(&t, together));
  for (size_t i = 0; i < t.list.len && t.fixes.len < limit; i++)
    if (!is_tried(&t, &t.list.data[i]))
      RETURN_IF_ERROR(try_edits(&t, &t.list.data[i], 1, &left, NULL));
  for (size_t i = 0; i < t.fixes.len; i++) VEC_PUSH(&r->log.a, a->fixes, t.fixes.data[i]);
  if (a->fixes.len) qsort(a->fixes.data, a->fixes.len, sizeof *a->fixes.data, by_bytes);
  return NULL;
}
