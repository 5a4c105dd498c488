/* Reading ops, regions, blocks, values and uses.
 *
 * Nothing here allocates or reports, so nothing is an entry: these are the functions that callers
 * have in their inner loops. A NULL handle or an index out of range gives NULL, 0 or "", so that
 * walks end by themselves; a handle of something freed is the caller's error. */
#include "api/context.h"

#define OR_NULL(h, what) ((h) ? (what) : NULL)
#define OR_ZERO(h, what) ((h) ? (what) : 0)

const char *tz_op_name(const tz_op *o) { return o ? op_of(o)->info->name.data : ""; }
bool tz_op_is_registered(const tz_op *o) {
  return o && (op_kind(op_of(o)) != OP_unregistered || op_of(o)->info->hooks);
}
const tz_attr *tz_op_loc(const tz_op *o) { return OR_NULL(o, attr_out(op_of(o)->loc)); }
tz_op *tz_op_parent(const tz_op *o) { return OR_NULL(o, op_out(op_parent(op_of(o)))); }
tz_block *tz_op_block(const tz_op *o) { return OR_NULL(o, block_out(op_of(o)->parent)); }
tz_op *tz_op_next(const tz_op *o) { return OR_NULL(o, op_out(op_of(o)->next)); }
tz_op *tz_op_prev(const tz_op *o) { return OR_NULL(o, op_out(op_of(o)->prev)); }

size_t tz_op_num_operands(const tz_op *o) { return OR_ZERO(o, op_of(o)->num_operands); }
tz_value *tz_op_operand(const tz_op *o, size_t i) {
  return i < tz_op_num_operands(o) ? value_out(op_operand(op_of(o), i)) : NULL;
}
size_t tz_op_num_results(const tz_op *o) { return OR_ZERO(o, op_of(o)->num_results); }
tz_value *tz_op_result(const tz_op *o, size_t i) {
  return i < tz_op_num_results(o) ? value_out(op_result(op_of(o), i)) : NULL;
}
size_t tz_op_num_regions(const tz_op *o) { return OR_ZERO(o, op_of(o)->num_regions); }
tz_region *tz_op_region(const tz_op *o, size_t i) {
  return i < tz_op_num_regions(o) ? (tz_region *)(void *)&op_of(o)->regions[i] : NULL;
}
size_t tz_op_num_successors(const tz_op *o) { return OR_ZERO(o, op_of(o)->num_successors); }
tz_block *tz_op_successor(const tz_op *o, size_t i) {
  return i < tz_op_num_successors(o) ? block_out(op_of(o)->successors[i]) : NULL;
}

/* Inherent attributes that are set, in the row's order, then discardable ones. */
size_t tz_op_num_attrs(const tz_op *o) {
  if (!o) return 0;
  size_t n = op_of(o)->num_attrs;
  for (u32 i = 0; i < op_of(o)->info->num_slots; i++) n += op_of(o)->slots[i] != NULL;
  return n;
}

tz_named_attr tz_op_attr_at(const tz_op *o, size_t i) {
  if (!o) return (tz_named_attr){0};
  const op *p = op_of(o);
  str name;
  for (u32 k = 0; k < p->info->num_slots; k++)
    if (p->slots[k] && i-- == 0)
      return (tz_named_attr){p->info->slots[k].name, attr_out(p->slots[k])};
  if (i >= p->num_attrs || !attr_get_str(p->attrs[i].name, &name)) return (tz_named_attr){0};
  return (tz_named_attr){name.data, attr_out(p->attrs[i].value)};
}

const tz_attr *tz_op_attr(const tz_op *o, const char *name) {
  return o && name ? attr_out(op_attr(op_of(o), str_of(name))) : NULL;
}

tz_op *tz_region_op(const tz_region *r) { return OR_NULL(r, op_out(region_op(region_of(r)))); }
tz_block *tz_region_first_block(const tz_region *r) {
  return OR_NULL(r, block_out(region_of(r)->first));
}
tz_block *tz_block_next(const tz_block *b) { return OR_NULL(b, block_out(block_of(b)->next)); }
tz_block *tz_block_prev(const tz_block *b) { return OR_NULL(b, block_out(block_of(b)->prev)); }
tz_region *tz_block_region(const tz_block *b) {
  return OR_NULL(b, (tz_region *)(void *)block_of(b)->parent);
}
size_t tz_block_num_args(const tz_block *b) { return OR_ZERO(b, block_of(b)->num_args); }
tz_value *tz_block_arg(const tz_block *b, size_t i) {
  return i < tz_block_num_args(b) ? value_out(block_of(b)->args[i]) : NULL;
}
tz_op *tz_block_first_op(const tz_block *b) { return OR_NULL(b, op_out(block_of(b)->first)); }
tz_op *tz_block_last_op(const tz_block *b) { return OR_NULL(b, op_out(block_of(b)->last)); }

const tz_type *tz_value_type(const tz_value *v) { return OR_NULL(v, type_out(value_of(v)->type)); }
bool tz_value_is_arg(const tz_value *v) { return v && value_of(v)->is_arg; }
const tz_attr *tz_value_loc(const tz_value *v) {
  if (tz_value_is_arg(v))
    return attr_out(block_arg_loc(value_of(v)->def.block, value_of(v)->index));
  return tz_op_loc(tz_value_op(v));
}
size_t tz_value_index(const tz_value *v) { return OR_ZERO(v, value_of(v)->index); }
tz_op *tz_value_op(const tz_value *v) { return OR_NULL(v, op_out(value_op(value_of(v)))); }
tz_block *tz_value_block(const tz_value *v) {
  return tz_value_is_arg(v) ? block_out(value_of(v)->def.block) : NULL;
}

static const use *use_of(const tz_use *u) { return (const use *)(const void *)u; }
static tz_use *use_out(const use *u) { return (tz_use *)(uintptr_t)u; }
tz_use *tz_op_operand_use(const tz_op *o, size_t i) {
  return i < tz_op_num_operands(o) ? use_out(&op_of(o)->operands[i]) : NULL;
}
tz_value *tz_use_value(const tz_use *u) { return OR_NULL(u, value_out(use_of(u)->value)); }
tz_use *tz_value_first_use(const tz_value *v) { return OR_NULL(v, use_out(value_of(v)->uses)); }
tz_use *tz_use_next(const tz_use *u) { return OR_NULL(u, use_out(use_of(u)->next)); }
tz_op *tz_use_op(const tz_use *u) { return OR_NULL(u, op_out(use_of(u)->owner)); }
size_t tz_use_index(const tz_use *u) {
  return OR_ZERO(u, (size_t)(use_of(u) - use_of(u)->owner->operands));
}

typedef struct walking {
  tz_walk_fn *fn;
  void *user;
} walking;

/* An answer that is none of the three stops the walk. */
static walk_result visit(void *user, op *o) {
  const walking *w = user;
  switch (w->fn(w->user, op_out(o))) {
  case TZ_WALK_ON:
    return WALK_ON;
  case TZ_WALK_SKIP:
    return WALK_SKIP;
  case TZ_WALK_STOP:
    break;
  }
  return WALK_STOP;
}

bool tz_op_walk(tz_op *o, bool post, tz_walk_fn *fn, void *user) {
  walking w = {fn, user};
  if (!o || !fn) return false;
  return post ? op_walk_post(op_of(o), visit, &w) : op_walk(op_of(o), visit, &w);
}
