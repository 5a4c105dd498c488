/* Shardings at the border of a manual computation: outside they name manual and free axes, in
 * the body the free ones only. In a dimension manual axes come first. */
#include "shard/sharding_ir.h"

typedef struct border {
  ir_ctx *c;
  attrs manual; /* strings */
} border;

static bool is_manual(const border *b, const attr *axis) {
  const axis_ref_attr *r = attr_as(axis_ref, axis);
  str name;
  for (size_t i = 0; r && i < b->manual.len; i++)
    if (attr_get_str(b->manual.data[i], &name) && str_eq(name, r->name)) return true;
  return false;
}

static attrs free_of(const border *b, attrs list) {
  const attr **out = ARENA_ARRAY(ir_arena(b->c), const attr *, list.len);
  size_t n = 0;
  for (size_t i = 0; i < list.len; i++)
    if (!is_manual(b, list.data[i])) out[n++] = list.data[i];
  return (attrs){out, n};
}

/* How many axes come before the first free one. By halves, as in Shardy: a sharding that a group
 * brought may have a free axis before a manual one, and then the way of the search decides. */
static size_t num_manual(const border *b, attrs axes) {
  size_t from = 0;
  for (size_t len = axes.len; len;) {
    size_t half = len / 2;
    bool manual = is_manual(b, axes.data[from + half]);
    if (manual) from += half + 1;
    len = manual ? len - half - 1 : half;
  }
  return from;
}

static border border_of(ir_ctx *c, const attr *manual_axes) {
  const manual_axes_attr *m = attr_as(manual_axes, manual_axes);
  return (border){c, m ? m->axes : (attrs){0}};
}

const attr *manual_inner_sharding(ir_ctx *c, const attr *outer, const attr *manual_axes) {
  const tensor_sharding_attr *t = attr_as(tensor_sharding, outer);
  border b = border_of(c, manual_axes);
  if (!t || !b.manual.len) return outer;
  const attr **dims = ARENA_ARRAY(ir_arena(c), const attr *, t->dims.len);
  for (size_t i = 0; i < t->dims.len; i++) {
    const dim_sharding_attr *d = attr_as(dim_sharding, t->dims.data[i]);
    size_t n = num_manual(&b, d->axes);
    dims[i] =
        attr_make(c, dim_sharding, .axes = {n ? d->axes.data + n : d->axes.data, d->axes.len - n},
                  .closed = d->closed, .priority = d->priority);
  }
  return attr_make(c, tensor_sharding, .mesh = t->mesh, .dims = {dims, t->dims.len},
                   .replicated = free_of(&b, t->replicated), .unreduced = free_of(&b, t->unreduced),
                   .unreduced_kind = t->unreduced_kind);
}

const attr *manual_outer_sharding(ir_ctx *c, const attr *outer, const attr *inner,
                                  const attr *manual_axes) {
  const tensor_sharding_attr *o = attr_as(tensor_sharding, outer);
  const tensor_sharding_attr *t = attr_as(tensor_sharding, inner);
  if (!o || !t || o->dims.len != t->dims.len) return inner;
  border b = border_of(c, manual_axes);
  const attr **dims = ARENA_ARRAY(ir_arena(c), const attr *, o->dims.len);
  for (size_t i = 0; i < o->dims.len; i++) {
    const dim_sharding_attr *od = attr_as(dim_sharding, o->dims.data[i]);
    const dim_sharding_attr *td = attr_as(dim_sharding, t->dims.data[i]);
    size_t n = num_manual(&b, od->axes);
    const attr **axes = ARENA_ARRAY(ir_arena(c), const attr *, n + td->axes.len);
    if (n) memcpy(axes, od->axes.data, n * sizeof *axes);
    if (td->axes.len) memcpy(axes + n, td->axes.data, td->axes.len * sizeof *axes);
    dims[i] = attr_make(c, dim_sharding, .axes = {axes, n + td->axes.len}, .closed = td->closed,
                        .priority = td->priority);
  }
  return attr_make(c, tensor_sharding, .mesh = t->mesh, .dims = {dims, o->dims.len},
                   .replicated = o->replicated, .unreduced = o->unreduced);
}
