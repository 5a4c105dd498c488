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

/* The value that an op works on, under another sharding. */
static void propose_there(trying *t, const why_part *p) {
  const why_log *w = &t->r->log;
  const why_value *v = value_at(w, (why_place){WHY_RESULT, p->tag.op, 0});
  for (size_t i = 0; v && v->sharding.len && i < p->causes.len; i++) {
    const why_value *held = value_at(w, p->causes.data[i].axis.holder);
    if (!held || !held->sharding.len) continue;
    if (str_eq(held->type, v->type))
      propose(t, (explain_edit){EDIT_CONSTRAIN, v->at, .sharding = held->sharding});
  }
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
static status drop_all(trying *t) {
  explain_edit edits[MAX_TOGETHER + 1];
  u32 left = explain_root_edit(t->a, NULL, 0, &edits[0]);
  for (size_t n = 1; left && n <= MAX_TOGETHER; n++) {
    t->fixes.len = 0;
    RETURN_IF_ERROR(try_edits(t, edits, n, &left, &edits[n]));
  }
  return NULL;
}

status explain_fix(explain_run *r, why_answer *a, u32 limit) {
  trying t = {.r = r, .a = a};
  u32 left;
  for (size_t i = 0; i < a->parts.len; i++) {
    const why_part *p = &a->parts.data[i];
    for (size_t k = 0; k < p->causes.len; k++) propose_root(&t, &p->causes.data[k]);
    propose_there(&t, p);
  }
  propose_open(&t);
  RETURN_IF_ERROR(drop_all(&t));
  for (size_t i = 0; i < t.list.len && t.fixes.len < limit; i++)
    if (!is_tried(&t, &t.list.data[i]))
      RETURN_IF_ERROR(try_edits(&t, &t.list.data[i], 1, &left, NULL));
  for (size_t i = 0; i < t.fixes.len; i++) VEC_PUSH(&r->log.a, a->fixes, t.fixes.data[i]);
  if (a->fixes.len) qsort(a->fixes.data, a->fixes.len, sizeof *a->fixes.data, by_bytes);
  return NULL;
}
