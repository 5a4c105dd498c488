/* Changes of annotations, on a source whose ops are numbered. */
#include "explain/explain.h"

#include "shard/sharding_ir.h"
#include "text/text.h"

typedef struct editing {
  why_log *w;
  ir_module *m;
  u32 number;
  op *found;
} editing;

static walk_result find(void *user, op *o) {
  editing *e = user;
  const why_tag *t = index_get(&e->w->tags, o->loc);
  if (!t || t->op != e->number) return WALK_ON;
  e->found = o;
  return WALK_STOP;
}

static op *find_op(why_log *w, ir_module *m, u32 number) {
  editing e = {.w = w, .m = m, .number = number};
  op_walk(m->root, find, &e);
  return e.found;
}

/* ---- of one sharding ---- */

static attrs without(why_log *w, attrs axes, str name) {
  const attr **list = ARENA_ARRAY(&w->a, const attr *, axes.len + 1);
  size_t n = 0;
  for (size_t i = 0; i < axes.len; i++) {
    const axis_ref_attr *r = attr_as(axis_ref, axes.data[i]);
    if (!r || !str_eq(r->name, name)) list[n++] = axes.data[i];
  }
  return (attrs){list, n};
}

/* A dimension that is open and has no axes has no priority either. */
static const attr *changed_dim(why_log *w, ir_ctx *c, const dim_sharding_attr *d,
                               const explain_edit *e) {
  attrs axes = e->kind == EDIT_DROP ? without(w, d->axes, e->axis) : d->axes;
  bool closed = d->closed && e->kind != EDIT_OPEN;
  i64 priority = axes.len || closed ? d->priority : PRIORITY_NONE;
  return attr_make(c, dim_sharding, .axes = axes, .closed = closed, .priority = priority);
}

static const attr *changed(why_log *w, ir_ctx *c, const attr *a, const explain_edit *e) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, a);
  if (!s) return a;
  const attr **dims = ARENA_ARRAY(&w->a, const attr *, s->dims.len + 1);
  for (size_t d = 0; d < s->dims.len; d++)
    dims[d] = changed_dim(w, c, attr_as(dim_sharding, s->dims.data[d]), e);
  tensor_sharding_attr out = *s;
  out.dims = (attrs){dims, s->dims.len};
  if (e->kind == EDIT_DROP) out.unreduced = without(w, s->unreduced, e->axis);
  return attr_unique(c, &out.base);
}

/* ---- of a place ---- */

static void change_op(why_log *w, ir_module *m, op *o, const explain_edit *e) {
  if (op_is(o, sharding_constraint) || op_is(o, reshard)) {
    op_set_any(o, sharding, changed(w, m->ctx, op_attr(o, SLOT_NAME(sharding)), e));
    return;
  }
  attrs old = op_shardings(o);
  const attr **list = ARENA_ARRAY(&w->a, const attr *, old.len + 1);
  for (size_t i = 0; i < old.len; i++) list[i] = changed(w, m->ctx, old.data[i], e);
  if (old.len) op_set_shardings(m, o, list, old.len);
}

static void change_signature(why_log *w, ir_module *m, op *f, const explain_edit *e) {
  func_side side = e->at.at == WHY_RETURNED ? FUNC_RESULTS : FUNC_ARGS;
  if (e->at.index >= func_num(f, side)) return;
  const attr *a = func_sharding(f, side, e->at.index);
  const attr *other = e->kind == EDIT_CONSTRAIN ? text_parse_attr(m->ctx, e->sharding, NULL) : NULL;
  if (other) func_set_sharding(m, f, side, e->at.index, other);
  if (a && !other) func_set_sharding(m, f, side, e->at.index, changed(w, m->ctx, a, e));
}

static bool constrain(ir_module *m, op *o, const explain_edit *e) {
  bool operand = e->at.at == WHY_INSIDE;
  if (e->at.index >= (operand ? o->num_operands : o->num_results)) return true;
  const attr *s = text_parse_attr(m->ctx, e->sharding, NULL);
  if (!s) return false;
  if (op_is(o, sharding_constraint) && !operand) {
    op_set(o, sharding_constraint, sharding, s);
    return true;
  }
  value *v = operand ? op_operand(o, e->at.index) : op_result(o, e->at.index);
  op *x = op_create(m, &op_infos[OP_sharding_constraint], o->loc, &v, 1, &v->type, 1, 0);
  op_set(x, sharding_constraint, sharding, s);
  op_insert(x, o->parent, operand ? o : o->next);
  if (operand)
    op_set_operand(o, e->at.index, op_result(x, 0));
  else
    value_replace_except(v, op_result(x, 0), x);
  return true;
}

static void free_of(op *o) {
  if (!op_is(o, sharding_constraint)) return;
  value_replace(op_result(o, 0), op_operand(o, 0));
  op_erase(o);
}

bool explain_apply(why_log *w, ir_module *m, const explain_edit *list, size_t n) {
  for (size_t i = 0; i < n; i++) {
    const explain_edit *e = &list[i];
    op *o = find_op(w, m, e->at.op);
    if (!o) continue;
    if (e->kind == EDIT_CONSTRAIN && !op_is(o, func)) {
      if (!constrain(m, o, e)) return false;
    } else if (e->kind == EDIT_FREE) {
      free_of(o);
    } else if (op_is(o, func)) {
      change_signature(w, m, o, e);
    } else {
      change_op(w, m, o, e);
    }
  }
  return true;
}
