/* sdy-constant-or-scalar-splitter: every use of a constant gets a constant of its own, so that
 * one use's sharding does not become another's. Scalars stay shared, as they aren't sharded;
 * broadcasts of scalars are split like constants. */
#include "shard/calls.h"
#include "base/index.h"
#include "shard/passes.h"
#include "shard/traits.h"

/* op->num of the ops of the region at hand */
enum { PLAIN, CONSTANT_EXPRESSION, SCALAR_BROADCAST };

typedef struct splitter {
  ir_module *m;
  arena *a, *one;  /* one: of the expression at hand */
  op *func;        /* at hand */
  op *impure_func; /* the last one noted as such */
  VEC(op *) constants;
  VEC(op *) expansions;
  /* names of functions and named computations that do more than make constants */
  hash_index impure, impure_computations;
  symbols symbols;
} splitter;

/* Its results are constant if its operands are. */
static bool preserves(const splitter *s, const op *o) {
  if (op_is(o, call)) {
    op *f = call_callee(&s->symbols, o);
    return f && !index_get(&s->impure, func_original_name(f));
  }
  if (op_is(o, named_computation))
    return !index_get(&s->impure_computations, op_attr(o, SLOT_NAME(name)));
  if (!op_has(o, PURE)) return false;
  return op_has(o, FOLDABLE) || op_is(o, broadcast_in_dim) || op_is(o, reshape) ||
         op_is(o, slice) || op_is_elementwise(o);
}

static bool is_constant(const splitter *s, const op *o) {
  if (op_is(o, sdy_constant) || op_is(o, iota)) return true;
  if (o->info->hooks && op_has(o, CONSTANT)) return true;
  if (!preserves(s, o)) return false;
  for (u32 i = 0; i < o->num_operands; i++) {
    const op *def = value_op(op_operand(o, i));
    if (!def || def->num != CONSTANT_EXPRESSION) return false;
  }
  return true;
}

/* ---- copying a constant expression ---- */

static bool to_copy(const ir_map *map, const value *v) {
  return !v->is_arg && !value_is_scalar(v) && ir_map_get(map, v) == v;
}

/* A copy is in the groups of its original. */
static void copy_groups(splitter *s, value *v, ir_map *map, op *before) {
  if (!module_may_have(s->m, sharding_group)) return; /* v may have very many uses */
  for (use *u = v->uses; u; u = u->next)
    if (op_is(u->owner, sharding_group))
      op_insert(op_clone(s->m, u->owner, map), before->parent, before);
}

static void copy_op(splitter *s, value *v, ir_map *map) {
  op *o = value_op(v);
  op *copy = op_clone(s->m, o, map);
  op_insert(copy, o->parent, o);
  if (op_is(copy, call)) {
    op *f = call_callee(&s->symbols, copy);
    if (f) call_set_callee(s->m, copy, func_clone_deep(&s->symbols, f));
  }
  copy_groups(s, v, map, o);
}

/* Operands before users, with a stack of our own: expressions may be long. */
static value *copy_expression(splitter *s, value *root) {
  if (value_is_scalar(root)) return root;
  arena_reset(s->one);
  ir_map *map = ir_map_create(s->one);
  struct {
    value **data;
    size_t len, cap;
  } stack = {0};
  VEC_PUSH(s->one, stack, root);
  while (stack.len) {
    value *v = stack.data[stack.len - 1];
    if (!to_copy(map, v)) {
      stack.len--;
      continue;
    }
    op *o = value_op(v);
    size_t before = stack.len;
    for (u32 i = o->num_operands; i-- > 0;)
      if (to_copy(map, op_operand(o, i))) VEC_PUSH(s->one, stack, op_operand(o, i));
    if (stack.len > before) continue;
    copy_op(s, v, map);
    stack.len--;
  }
  return ir_map_get(map, root);
}

static void copy_operands(splitter *s, op *o) {
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    const op *def = value_op(v);
    if (def && def->num != PLAIN) op_set_operand(o, i, copy_expression(s, v));
  }
}

/* ---- the walk ---- */

/* By the original name: copies of a function are as pure as it is. */
static void note_impure(splitter *s, const op *o) {
  const op *p = module_may_have(s->m, named_computation) ? op_parent(o) : NULL;
  while (p && !op_is(p, named_computation)) p = op_parent(p);
  if (p) index_set(&s->impure_computations, s->a, op_attr(p, SLOT_NAME(name)), s->func);
  if (s->impure_func == s->func) return;
  s->impure_func = s->func;
  index_set(&s->impure, s->a, func_original_name(s->func), s->func);
}

static void split_op(splitter *s, op *o) {
  if (op_is(o, func) || op_is(o, sharding_group)) return;
  if (is_constant(s, o)) {
    o->num = CONSTANT_EXPRESSION;
    VEC_PUSH(s->a, s->constants, o);
    return;
  }
  if (!preserves(s, o) && !op_has(o, TERMINATOR)) note_impure(s, o);
  if (op_is(o, broadcast_in_dim) && value_is_scalar(op_operand(o, 0))) {
    o->num = SCALAR_BROADCAST;
    VEC_PUSH(s->a, s->expansions, o);
    return;
  }
  copy_operands(s, o);
}

static walk_result split_inside(void *user, op *o) {
  split_op(user, o);
  return op_is(o, named_computation) ? WALK_SKIP : WALK_ON;
}

static void erase_unused(op *o) {
  for (u32 i = 0; i < o->num_results; i++)
    for (use *u = o->results[i].uses; u; u = u->next)
      if (!op_is(u->owner, sharding_group)) return;
  for (u32 i = 0; i < o->num_results; i++)
    while (o->results[i].uses) op_erase(o->results[i].uses->owner);
  op_erase(o);
}

/* Copies stand in front of their originals, which go at the end if nothing uses them any more. */
static void split_region(splitter *s, region *r) {
  s->constants.len = s->expansions.len = 0;
  for (block *b = r->first; b; b = b->next) FOR_OPS(o, b) op_walk(o, split_inside, s);
  for (size_t i = 0; i < s->expansions.len; i++) erase_unused(s->expansions.data[i]);
  for (size_t i = s->constants.len; i-- > 0;) erase_unused(s->constants.data[i]);
}

static walk_result split_computation(void *user, op *o) {
  if (op_is(o, named_computation)) split_region(user, &o->regions[0]);
  return WALK_ON;
}

/* A foreign dialect's constant; its verifier has seen that it fits. */
static void replace_constant(ir_module *m, op *o, const char *value_name) {
  op *c = op_create(m, &op_infos[OP_sdy_constant], o->loc, NULL, 0, &o->results[0].type, 1, 0);
  op_set(c, sdy_constant, value, op_attr(o, str_of(value_name)));
  for (u32 i = 0; i < o->num_attrs; i++) {
    str name;
    if (attr_get_str(o->attrs[i].name, &name) && !str_is(name, value_name))
      op_set_attr(m, c, name, o->attrs[i].value);
  }
  op_insert(c, o->parent, o);
  value_replace(op_result(o, 0), op_result(c, 0));
  op_erase(o);
}

static walk_result to_sdy_constant(void *user, op *o) {
  const op_hooks *h = o->info->hooks;
  o->num = PLAIN;
  if (op_is(o, constant)) op_become(user, o, OP_sdy_constant);
  if (h && h->constant) replace_constant(user, o, h->constant);
  return WALK_ON;
}

/* Shardy converts its constants in a way that sets the operands of all other ops anew, so that the
 * latest user in the text comes first; the order of uses decides what propagates first. */
static walk_result reset_uses(void *user, op *o) {
  (void)user;
  op_reset_operands(o);
  return WALK_ON;
}

bool pass_constant_splitter(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_walk_post(m->root, to_sdy_constant, m);
  op_walk(m->root, reset_uses, NULL);
  splitter s = {.m = m, .a = scratch};
  op **funcs;
  size_t n;
  symbols_init(&s.symbols, m, scratch);
  if (!funcs_in_order(&s.symbols, false, &funcs, &n)) return false;
  s.one = ir_scratch_push(m->ctx);
  for (size_t i = 0; i < n; i++) {
    s.func = funcs[i];
    if (module_may_have(m, named_computation)) op_walk_post(funcs[i], split_computation, &s);
    split_region(&s, &funcs[i]->regions[0]);
  }
  ir_scratch_pop(m->ctx);
  return true;
}
