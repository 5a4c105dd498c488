/* Building and changing, with the checks that keep a module well-formed whatever is asked.
 *
 * Every function here may be handed any mix of live handles; what it must not allow is an IR that
 * the rest of the library cannot walk: values of other modules, ops inside themselves, uses of what
 * was erased. Whether the result means anything is the verifier's question, later. Each checks
 * before it changes anything, or erases what it has made, so a failure leaves the module as it was.
 */
#include "api/context.h"
#include "dialect/dialect.h"

void touch(tz_module *m) {
  m->verified = false;
  m->edited = true;
}

/* ---- does it belong here? ---- */

/* An attached op is its root's module's; for what stands nowhere, memory tells. */
bool op_foreign(const tz_module *m, const op *o) {
  while (op_parent(o)) o = op_parent(o);
  for (const tz_module *k = m->context->modules; k; k = k->next)
    if (k->ir->root == o) return k != m;
  return !arena_owns(&m->ir->ops, o);
}
static bool block_foreign(const tz_module *m, const block *b) {
  return block_op(b) ? op_foreign(m, block_op(b)) : !arena_owns(&m->ir->arena, b);
}
bool value_foreign(const tz_module *m, const value *v) {
  return v->is_arg ? block_foreign(m, v->def.block) : op_foreign(m, v->def.op);
}

status foreign(void) { return wrong("the handle belongs to another module"); }

static status check_op(tz_module *m, const op *o) {
  if (o == m->ir->root) return wrong("the module itself stays where it is");
  return op_foreign(m, o) ? foreign() : NULL;
}

static status check_values(const tz_module *m, tz_value *const *v, size_t n) {
  if (!all_there((const void *const *)v, n)) return wrong("an operand is NULL");
  for (size_t i = 0; i < n; i++)
    if (value_foreign(m, value_of(v[i]))) return foreign();
  return NULL;
}

static status check_loc(const attr *a) {
  return !a || is_loc(a) ? NULL : wrong("an attribute that is no location is given as one");
}

/* ---- making ops ---- */

/* The last of two attributes with one name counts. */
static status set_attrs(tz_module *m, op *o, const tz_named_attr *list, size_t n) {
  if (n && !list) return wrong("attributes are NULL");
  for (size_t i = 0; i < n; i++) {
    if (!list[i].name || !list[i].name[0]) return wrong("attribute %zu has no name", i);
    if (!list[i].attr) return wrong("attribute '%s' is NULL", list[i].name);
    op_set_attr(m->ir, o, str_of(list[i].name), attr_of(list[i].attr));
  }
  return NULL;
}

/* How many results an op has whose kind infers them: those of the row if each is one, or, for a row
 * of one list (sort, while, ...), as many as its first group of operands has. */
static bool count_results(const op *o, size_t *out) {
  const op_info *info = o->info;
  size_t begin, many = 0;
  bool all_one = true;
  for (u32 i = 0; i < info->num_results; i++) all_one &= info->results[i].arity == ONE;
  *out = info->num_results;
  if (all_one) return true;
  return info->num_results == 1 && op_operand_group(o, 0, &begin, &many) && (*out = many, true);
}

/* Replaces o by a twin with results of these types: the number of results of an op is fixed when it
 * is made, and the op has to be there, with operands and attributes, for it to be counted. */
static op *with_results(ir_module *m, op *o, const type *const *t, size_t n) {
  op *twin = op_create(m, o->info, o->loc, NULL, 0, t, n, o->num_regions);
  for (u32 i = 0; i < o->num_operands; i++) op_append_operand(m, twin, op_operand(o, i));
  twin->slots = o->slots;
  twin->attrs = o->attrs;
  twin->num_attrs = o->num_attrs;
  twin->cap_attrs = o->cap_attrs;
  op_erase(o);
  return twin;
}

static bool infer(tz_module *m, op *o, const type **out) {
  u32 before = m->context->sink->errors;
  return dialect_infer_checked(m->ir, o, out) && m->context->sink->errors == before;
}

/* Inference looks at operands, attributes and regions only; the results are of type none until it
 * has said what they are. */
static status add_inferred(tz_module *m, op **o) {
  size_t n;
  ir_ctx *c = m->context->ir;
  if (op_kind(*o) == OP_unregistered && !(*o)->info->hooks) return NULL;
  if (!count_results(*o, &n))
    return wrong("the results of '%s' cannot be counted; give their types", (*o)->info->name.data);
  if (n == 0) return NULL;
  const type **t = ARENA_ARRAY(ir_arena(c), const type *, n);
  for (size_t i = 0; i < n; i++) t[i] = type_none(c);
  *o = with_results(m->ir, *o, t, n);
  if (!infer(m, *o, t)) {
    if (m->context->log.len) return reported(m->context);
    return wrong("the result types of '%s' cannot be inferred; give them", (*o)->info->name.data);
  }
  for (size_t i = 0; i < n; i++) (*o)->results[i].type = t[i];
  return NULL;
}

/* loc_if_none: of an op whose spec has none. */
static status create(tz_module *m, const tz_op_spec *spec, const tz_attr *loc_if_none,
                     tz_op **out_op) {
  tz_context *c = m->context;
  tz_op_spec own, *s = &own;
  RETURN_IF_ERROR(SIZED_READ(tz_op_spec, spec, &own));
  if (!s->loc) s->loc = loc_if_none;
  if (!s->name) return wrong("an op has no name");
  const op_info *info = ir_op_info_find(c->ir, str_of(s->name));
  if (!info && (!c->allow_unregistered || !strchr(s->name, '.')))
    return wrong("there is no op '%s'", s->name);
  if (!info) info = ir_op_info_unregistered(c->ir, str_of(s->name));
  RETURN_IF_ERROR(check_values(m, s->operands, s->num_operands));
  if (!all_there((const void *const *)s->results, s->num_results))
    return wrong("a result type is NULL");
  RETURN_IF_ERROR(check_loc(attr_of(s->loc)));
  if (s->num_regions > UINT16_MAX || s->num_operands > INT32_MAX || s->num_results > INT32_MAX)
    return wrong("an op with so many operands, results or regions is out of the question");
  const attr *loc = s->loc ? attr_of(s->loc) : loc_unknown(c->ir);
  touch(m);
  op *o = op_create(m->ir, info, loc, (value *const *)(const void *)s->operands, s->num_operands,
                    types_of(s->results, s->num_results).data, s->num_results, s->num_regions);
  status bad = set_attrs(m, o, s->attrs, s->num_attrs);
  if (!bad && !s->num_results && !s->no_infer) bad = add_inferred(m, &o);
  if (bad)
    op_erase(o); /* no use stays behind */
  else
    *out_op = op_out(o);
  return bad;
}

tz_error *tz_op_create(tz_module *m, const tz_op_spec *spec, tz_op **out_op) {
  if (!spec || !out_op) return bad_handle();
  *out_op = NULL;
  ENTER(live(m));
  return leave(&entry_, create(m, spec, NULL, out_op));
}

static status infer_types(tz_module *m, op *o, const tz_type **out_types) {
  if (op_foreign(m, o)) return foreign();
  const type **t = ARENA_ARRAY(ir_arena(m->context->ir), const type *, o->num_results);
  if (!infer(m, o, t)) {
    if (m->context->log.len) return reported(m->context);
    return wrong("the result types of '%s' do not follow from the rest", o->info->name.data);
  }
  for (u32 i = 0; i < o->num_results; i++) out_types[i] = type_out(t[i]);
  return NULL;
}

tz_error *tz_op_infer_types(tz_module *m, tz_op *o, const tz_type **out_types) {
  if (!o || (!out_types && tz_op_num_results(o))) return bad_handle();
  ENTER(live(m));
  return leave(&entry_, infer_types(m, op_of(o), out_types));
}

/* Stops at what uses a value or block from outside of an op: such a copy would refer to the module
 * that it was copied from. */
static walk_result leans_out(void *user, op *o) {
  for (u32 i = 0; i < o->num_operands; i++) {
    const op *from = value_parent(op_operand(o, i));
    if (!from || !op_is_inside(from, user)) return WALK_STOP;
  }
  for (u16 i = 0; i < o->num_successors; i++) {
    const op *to = block_op(o->successors[i]);
    if (!to || !op_is_inside(to, user)) return WALK_STOP;
  }
  return WALK_ON;
}

static walk_result map_operands(void *map, op *o) {
  for (u32 i = 0; i < o->num_operands; i++) op_set_operand(o, i, ir_map_get(map, op_operand(o, i)));
  return WALK_ON;
}

/* Operands are mapped once more after the clone, for uses that come before definitions in the text
 * (graph regions): those were cloned as they are. */
static status copy(ir_module *m, op *o, bool foreign, op **out_op) {
  if (foreign && !op_walk(o, leans_out, o))
    return wrong("what is to be copied uses values or blocks from outside");
  ir_map *map = ir_map_create(&m->arena);
  *out_op = op_clone(m, o, map);
  op_walk(*out_op, map_operands, map); /* in case that values stand behind their users */
  return NULL;
}

static status clone(tz_module *m, op *o, tz_op **out_op) {
  const tz_module *from = m;
  op *twin = NULL;
  if (op_foreign(m, o))
    for (from = m->context->modules; from && op_foreign(from, o);) from = from->next;
  if (!from) return foreign();
  touch(m);
  RETURN_IF_ERROR(copy(m->ir, o, from != m, &twin));
  *out_op = op_out(twin);
  return NULL;
}

tz_error *tz_op_clone(tz_module *m, const tz_op *o, tz_op **out_op) {
  if (!o || !out_op) return bad_handle();
  *out_op = NULL;
  ENTER(live(m));
  return leave(&entry_, clone(m, op_of(o), out_op));
}

static status clone_module(const tz_module *m, tz_module **out_module) {
  ir_module *twin = ir_module_create(m->context->ir);
  status bad = copy(twin, m->ir->root, true, &twin->root);
  if (bad)
    ir_module_destroy(twin);
  else
    *out_module = module_adopt(m->context, twin);
  return bad;
}

tz_error *tz_module_clone(const tz_module *m, tz_module **out_module) {
  if (!out_module) return bad_handle();
  *out_module = NULL;
  ENTER(live(m));
  return leave(&entry_, clone_module(m, out_module));
}

/* ---- placing ops ---- */

static status insert(tz_module *m, op *o, block *b, op *before) {
  RETURN_IF_ERROR(check_op(m, o));
  if (block_foreign(m, b)) return foreign();
  if (before && before->parent != b) return wrong("the place to insert at is not in the block");
  if (block_op(b) && op_is_inside(block_op(b), o)) return wrong("an op cannot go into itself");
  if (before == o) return NULL;
  touch(m);
  op_unlink(o);
  op_insert(o, b, before);
  return NULL;
}

tz_error *tz_op_insert(tz_module *m, tz_op *o, tz_block *b, tz_op *before) {
  if (!o || !b) return bad_handle();
  ENTER(live(m));
  return leave(&entry_, insert(m, op_of(o), block_of(b), op_of(before)));
}

tz_error *tz_build(const tz_builder *b, const tz_op_spec *spec, tz_op **out_op) {
  if (!b || !spec || !out_op || !b->block) return bad_handle();
  *out_op = NULL;
  ENTER(live(b->module));
  tz_op *o = NULL;
  status bad = create(b->module, spec, b->loc, &o);
  if (!bad) bad = insert(b->module, op_of(o), block_of(b->block), op_of(b->before));
  if (bad && o) op_erase(op_of(o));
  if (!bad) *out_op = o;
  return leave(&entry_, bad);
}

tz_error *tz_op_remove(tz_module *m, tz_op *o) {
  if (!o) return bad_handle();
  ENTER(live(m));
  status bad = check_op(m, op_of(o));
  if (!bad) touch(m), op_unlink(op_of(o));
  return leave(&entry_, bad);
}

/* ---- erasing ---- */

static bool used_outside_op(const value *v, const op *o) {
  for (const use *u = v->uses; u; u = u->next)
    if (!op_is_inside(u->owner, o)) return true;
  return false;
}

static bool inside_block(const op *o, const block *b) {
  for (; o; o = op_parent(o))
    if (o->parent == b) return true;
  return false;
}
static bool used_outside_block(const value *v, const block *b) {
  for (const use *u = v->uses; u; u = u->next)
    if (!inside_block(u->owner, b)) return true;
  return false;
}

static status erase(tz_module *m, op *o) {
  RETURN_IF_ERROR(check_op(m, o));
  for (u32 i = 0; i < o->num_results; i++)
    if (used_outside_op(&o->results[i], o)) return wrong("result #%u is still used", i);
  touch(m);
  op_erase(o);
  return NULL;
}

tz_error *tz_op_erase(tz_module *m, tz_op *o) {
  if (!o) return bad_handle();
  ENTER(live(m));
  return leave(&entry_, erase(m, op_of(o)));
}

/* Ops go from the last to the first, so that users go before what they use. */
static status erase_block(tz_module *m, block *b) {
  if (block_foreign(m, b)) return foreign();
  if (b == op_body(m->ir->root, 0)) return wrong("the module's block stays");
  for (u32 i = 0; i < b->num_args; i++)
    if (used_outside_block(b->args[i], b)) return wrong("argument #%u is still used", i);
  for (const op *o = b->first; o; o = o->next)
    for (u32 i = 0; i < o->num_results; i++)
      if (used_outside_block(&o->results[i], b))
        return wrong("a result of '%s' is still used", o->info->name.data);
  touch(m);
  while (b->last) op_erase(b->last);
  if (b->parent) block_unlink(b);
  return NULL;
}

tz_error *tz_block_erase(tz_module *m, tz_block *b) {
  if (!b) return bad_handle();
  ENTER(live(m));
  return leave(&entry_, erase_block(m, block_of(b)));
}

/* The handle of the argument stays valid memory; its value is moved to a block of its own, so that
 * what asks where it stands finds it nowhere. */
static status erase_arg(tz_module *m, block *b, size_t i) {
  if (block_foreign(m, b)) return foreign();
  if (i >= b->num_args) return wrong("the block has no argument #%zu", i);
  if (b->args[i]->uses) return wrong("argument #%zu is still used", i);
  touch(m);
  value *v = b->args[i];
  block_erase_arg(b, i);
  v->def.block = block_create(m->ir); /* one that stands nowhere */
  return NULL;
}

tz_error *tz_block_erase_arg(tz_module *m, tz_block *b, size_t i) {
  if (!b) return bad_handle();
  ENTER(live(m));
  return leave(&entry_, erase_arg(m, block_of(b), i));
}

/* ---- changing ---- */

static status set_operand(tz_module *m, op *o, size_t i, tz_value *v) {
  RETURN_IF_ERROR(check_op(m, o));
  RETURN_IF_ERROR(check_values(m, &v, 1));
  if (i >= o->num_operands) return wrong("the op has no operand #%zu", i);
  touch(m);
  op_set_operand(o, i, value_of(v));
  return NULL;
}

tz_error *tz_op_set_operand(tz_module *m, tz_op *o, size_t i, tz_value *v) {
  if (!o) return bad_handle();
  ENTER(live(m));
  return leave(&entry_, set_operand(m, op_of(o), i, v));
}

static status set_operands(tz_module *m, op *o, tz_value *const *v, size_t n) {
  RETURN_IF_ERROR(check_op(m, o));
  RETURN_IF_ERROR(check_values(m, v, n));
  if (n > INT32_MAX) return wrong("so many operands are out of the question");
  touch(m);
  op_set_operands(m->ir, o, (value *const *)(const void *)v, n);
  return NULL;
}

tz_error *tz_op_set_operands(tz_module *m, tz_op *o, tz_value *const *v, size_t n) {
  if (!o) return bad_handle();
  ENTER(live(m));
  return leave(&entry_, set_operands(m, op_of(o), v, n));
}

tz_error *tz_op_set_attr(tz_module *m, tz_op *o, const char *name, const tz_attr *a) {
  if (!o || !name || !name[0]) return bad_handle();
  ENTER(live(m));
  status bad = op_foreign(m, op_of(o)) ? foreign() : NULL;
  if (!bad) touch(m), op_set_attr(m->ir, op_of(o), str_of(name), attr_of(a));
  return leave(&entry_, bad);
}

tz_error *tz_op_set_loc(tz_module *m, tz_op *o, const tz_attr *loc) {
  if (!o || !loc) return bad_handle();
  ENTER(live(m));
  status bad = op_foreign(m, op_of(o)) ? foreign() : check_loc(attr_of(loc));
  if (!bad) op_of(o)->loc = attr_of(loc);
  return leave(&entry_, bad);
}

tz_error *tz_value_set_type(tz_module *m, tz_value *v, const tz_type *t) {
  if (!v || !t) return bad_handle();
  ENTER(live(m));
  status bad = value_foreign(m, value_of(v)) ? foreign() : NULL;
  if (!bad) touch(m), value_of(v)->type = type_of(t);
  return leave(&entry_, bad);
}

tz_error *tz_value_replace(tz_module *m, tz_value *from, tz_value *to) {
  if (!from || !to) return bad_handle();
  ENTER(live(m));
  status bad =
      value_foreign(m, value_of(from)) || value_foreign(m, value_of(to)) ? foreign() : NULL;
  if (!bad) touch(m), value_replace(value_of(from), value_of(to));
  return leave(&entry_, bad);
}

/* ---- blocks ---- */

tz_error *tz_block_create(tz_module *m, tz_block **out_block) {
  if (!out_block) return bad_handle();
  *out_block = NULL;
  ENTER(live(m));
  *out_block = block_out(block_create(m->ir));
  return leave(&entry_, NULL);
}

static status add_arg(tz_module *m, block *b, const type *t, const attr *loc, tz_value **out_arg) {
  if (block_foreign(m, b)) return foreign();
  RETURN_IF_ERROR(check_loc(loc));
  if (b->num_args >= INT32_MAX) return wrong("so many arguments are out of the question");
  touch(m);
  value *v = block_add_arg(m->ir, b, t);
  block_set_arg_loc(m->ir, b, v->index, loc);
  *out_arg = value_out(v);
  return NULL;
}

tz_error *tz_block_add_arg(tz_module *m, tz_block *b, const tz_type *t, const tz_attr *loc,
                           tz_value **out_arg) {
  if (!b || !t || !out_arg) return bad_handle();
  *out_arg = NULL;
  ENTER(live(m));
  return leave(&entry_, add_arg(m, block_of(b), type_of(t), attr_of(loc), out_arg));
}

static status append(tz_module *m, region *r, block *b) {
  if (op_foreign(m, r->parent) || block_foreign(m, b)) return foreign();
  if (b == op_body(m->ir->root, 0)) return wrong("the module's block stays");
  for (const op *o = r->parent; o; o = op_parent(o))
    if (o->parent == b) return wrong("a block cannot go into itself");
  if (r->parent == m->ir->root && r->first) return wrong("a module has one block");
  touch(m);
  if (b->parent) block_unlink(b);
  region_append(r, b);
  return NULL;
}

tz_error *tz_region_append(tz_module *m, tz_region *r, tz_block *b) {
  if (!r || !b) return bad_handle();
  ENTER(live(m));
  return leave(&entry_, append(m, region_of(r), block_of(b)));
}
