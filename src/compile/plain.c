/* Tuples, futures, tokens, functions and quantized values: before anything is propagated, since
 * shardings, steps and buffers are of tensors.
 *
 * Bundles (tuples and futures) go in two walks. First everything that makes one (an op, a block)
 * makes its leaves, and an op `tuple` behind it puts them together for whoever uses it; then every
 * user takes the leaves from that op. What was between is dead. */
#include "compile/plain.h"

#include "dialect/expand.h"

typedef VEC(const type *) type_list;
typedef VEC(value *) value_list;

typedef struct plain {
  ir_module *m;
  ir_ctx *c;
  arena *a;
  const type *(*becomes)(ir_ctx *, const type *);
} plain;

static bool is_bundle(const type *t) { return t->kind == TYPE_TUPLE || t->kind == TYPE_FUTURE; }

/* Recursion is bounded by what the readers allow. */
static void add_leaves(const plain *p, const type *t, type_list *out) {
  if (!is_bundle(t)) {
    VEC_PUSH(p->a, *out, t);
    return;
  }
  for (size_t i = 0; i < t->types.len; i++) add_leaves(p, t->types.data[i], out);
}

/* ---- calls of functions that are values ---- */

typedef struct indirect {
  ir_module *m;
  op *left;
} indirect;

static walk_result call_directly(void *user, op *o) {
  indirect *s = user;
  if (!op_is(o, call_indirect)) return WALK_ON;
  op *f = value_op(op_operand(o, 0));
  if (!f || !op_is(f, func_constant)) {
    s->left = o;
    return WALK_ON;
  }
  arena *a = ir_scratch_push(s->m->ctx);
  expander e = expander_before(s->m, a, o);
  u32 n = o->num_operands - 1;
  value **in = ARENA_ARRAY(a, value *, n + 1);
  const type **out = ARENA_ARRAY(a, const type *, o->num_results + 1u);
  for (u32 i = 0; i < n; i++) in[i] = op_operand(o, i + 1);
  for (u32 i = 0; i < o->num_results; i++) out[i] = op_result(o, i)->type;
  op *call = expand_op(&e, OP_call, in, n, out, o->num_results);
  op_set(call, call, callee, op_attr(f, SLOT_NAME(value)));
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_result(call, i));
  op_erase(o);
  if (!op_result(f, 0)->uses) op_erase(f);
  ir_scratch_pop(s->m->ctx);
  return WALK_ON;
}

void plain_calls(ir_module *m, op **left) {
  indirect s = {.m = m};
  if (module_may_have(m, call_indirect)) op_walk_post(m->root, call_directly, &s);
  *left = s.left;
}

/* ---- what makes bundles ---- */

/* The bundle of type t from its leaves, which *next moves over. */
static value *bundle(expander *e, const type *t, value *const **next) {
  if (!is_bundle(t)) return *(*next)++;
  value **parts = ARENA_ARRAY(e->a, value *, t->types.len + 1);
  for (size_t i = 0; i < t->types.len; i++) parts[i] = bundle(e, t->types.data[i], next);
  return op_result(expand_op(e, OP_tuple, parts, t->types.len, &t, 1), 0);
}

static bool any_bundle(types t) {
  for (size_t i = 0; i < t.len; i++)
    if (is_bundle(t.data[i])) return true;
  return false;
}

static types arg_types(const plain *p, const block *b) {
  type_list all = {0};
  for (u32 i = 0; i < b->num_args; i++) VEC_PUSH(p->a, all, b->args[i]->type);
  return (types){all.data, all.len};
}

static void unbundle_args(plain *p, block *b) {
  u32 old = b->num_args;
  if (!any_bundle(arg_types(p, b))) return;
  expander e = {.m = p->m, .c = p->c, .a = p->a, .block = b, .at = b->first, .loc = b->first->loc};
  for (u32 i = 0; i < old; i++) {
    type_list leaves = {0};
    value_list made = {0};
    add_leaves(p, b->args[i]->type, &leaves);
    for (size_t k = 0; k < leaves.len; k++)
      VEC_PUSH(p->a, made, block_add_arg(p->m, b, leaves.data[k]));
    value *const *next = made.data;
    value_replace(b->args[i], bundle(&e, b->args[i]->type, &next));
  }
  for (u32 i = 0; i < old; i++) block_erase_arg(b, 0);
}

static op *with_results(plain *p, op *o, types out) {
  value **in = ARENA_ARRAY(p->a, value *, o->num_operands + 1u);
  for (u32 i = 0; i < o->num_operands; i++) in[i] = op_operand(o, i);
  op *n = op_create(p->m, o->info, o->loc, in, o->num_operands, out.data, out.len, o->num_regions);
  for (u32 i = 0; i < o->info->num_slots; i++) n->slots[i] = o->slots[i];
  for (u32 i = 0; i < o->num_attrs; i++)
    op_set_attr(p->m, n, ((const string_attr *)o->attrs[i].name)->value, o->attrs[i].value);
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b; (b = o->regions[r].first);) {
      block_unlink(b);
      region_append(&n->regions[r], b);
    }
  op_insert(n, o->parent, o);
  return n;
}

static void unbundle_results(plain *p, op *o) {
  type_list all = {0}, leaves = {0};
  for (u32 i = 0; i < o->num_results; i++) VEC_PUSH(p->a, all, op_result(o, i)->type);
  if (!any_bundle((types){all.data, all.len})) return;
  for (u32 i = 0; i < o->num_results; i++) add_leaves(p, all.data[i], &leaves);
  op *n = with_results(p, o, (types){leaves.data, leaves.len});
  expander e = expander_before(p->m, p->a, o);
  value_list made = {0};
  for (u32 i = 0; i < n->num_results; i++) VEC_PUSH(p->a, made, op_result(n, i));
  value *const *next = made.data;
  for (u32 i = 0; i < o->num_results; i++)
    value_replace(op_result(o, i), bundle(&e, all.data[i], &next));
  op_erase(o);
}

/* The body in the place of async_start; the future is of what it returns. */
static void run_at_once(plain *p, op *o) {
  block *b = op_body(o, 0);
  op *end = op_terminator(b);
  for (u32 i = 0; i < b->num_args; i++) value_replace(b->args[i], op_operand(o, i));
  value_list out = {0};
  for (u32 i = 0; i < end->num_operands; i++) VEC_PUSH(p->a, out, op_operand(end, i));
  block_move_ops(b, end, o->parent, o);
  expander e = expander_before(p->m, p->a, o);
  value *const *next = out.data;
  value_replace(op_result(o, 0), bundle(&e, op_result(o, 0)->type, &next));
  op_erase(o);
}

static void unbundle_block(plain *p, block *b) {
  unbundle_args(p, b);
  FOR_OPS(o, b) {
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next) unbundle_block(p, in);
    if (op_is(o, async_start))
      run_at_once(p, o);
    else if (!op_is(o, tuple) && !op_is(o, get_tuple_element) && !op_is(o, async_done))
      unbundle_results(p, o);
  }
}

/* ---- what uses them ---- */

/* false: it comes from nowhere that is known. */
static bool add_values(const plain *p, value *v, value_list *out) {
  if (!is_bundle(v->type)) {
    VEC_PUSH(p->a, *out, v);
    return true;
  }
  op *o = value_op(v);
  if (!o || !op_is(o, tuple)) return false;
  for (u32 i = 0; i < o->num_operands; i++)
    if (!add_values(p, op_operand(o, i), out)) return false;
  return true;
}

static bool use_leaves(plain *p, op *o) {
  bool any = false;
  value_list in = {0};
  for (u32 i = 0; i < o->num_operands; i++) {
    any |= is_bundle(op_operand(o, i)->type);
    if (!add_values(p, op_operand(o, i), &in))
      return op_unimplemented(p->c, o, "with a tuple that nothing made");
  }
  if (any) op_set_operands(p->m, o, in.data, in.len);
  return true;
}

static bool take_element(plain *p, op *o) {
  i64 i = 0;
  op *from = value_op(op_operand(o, 0));
  attr_get_i64(op_attr(o, SLOT_NAME(index)), &i);
  if (!from || !op_is(from, tuple) || i < 0 || i >= (i64)from->num_operands)
    return op_unimplemented(p->c, o, "of a tuple that nothing made");
  value_replace(op_result(o, 0), op_operand(from, (size_t)i));
  op_erase(o);
  return true;
}

static bool resolve_block(plain *p, block *b) {
  FOR_OPS(o, b) {
    if (op_is(o, get_tuple_element) || op_is(o, async_done)) {
      if (!take_element(p, o)) return false;
      continue;
    }
    if (!op_is(o, tuple) && !use_leaves(p, o)) return false;
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next)
        if (!resolve_block(p, in)) return false;
  }
  return true;
}

/* From the end, as tuples hold tuples. */
static void drop_tuples(block *b) {
  for (op *o = b->last, *before; o; o = before) {
    before = o->prev;
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next) drop_tuples(in);
    if (op_is(o, tuple) && !op_result(o, 0)->uses) op_erase(o);
  }
}

/* ---- types ---- */

/* A token has no bytes; JAX gives pred[0] where a program takes one. */
static const type *without_token(ir_ctx *c, const type *t) {
  static const i64 none = 0;
  return t->kind == TYPE_TOKEN ? type_tensor(c, (i64s){&none, 1}, type_i1(c), NULL) : t;
}

/* What speaks of an argument speaks of the parts of a tuple only if it has one. */
static const attr *spread_attrs(const plain *p, const attr *list, types of) {
  const array_attr *old = attr_as(array, list);
  if (!old || old->elems.len != of.len) return list;
  VEC(const attr *) out = {0};
  for (size_t i = 0; i < of.len; i++) {
    type_list leaves = {0};
    add_leaves(p, of.data[i], &leaves);
    const attr *none = attr_dict(p->c, NULL, 0);
    for (size_t k = 0; k < leaves.len; k++)
      VEC_PUSH(p->a, out, leaves.len == 1 ? old->elems.data[i] : none);
  }
  return attr_array(p->c, (attrs){out.data, out.len});
}

static types plain_types(const plain *p, types t) {
  type_list out = {0};
  for (size_t i = 0; i < t.len; i++) add_leaves(p, t.data[i], &out);
  for (size_t i = 0; i < out.len; i++) out.data[i] = p->becomes(p->c, out.data[i]);
  return (types){out.data, out.len};
}

static void plain_signature(plain *p, op *f) {
  struct func_attrs v;
  if (!view_func(f, &v) || v.function_type->kind != TYPE_FUNCTION) return;
  types in = type_inputs(v.function_type), out = type_results(v.function_type);
  const type *t = type_function(p->c, plain_types(p, in), plain_types(p, out));
  op_set(f, func, function_type, attr_type(p->c, t));
  op_set(f, func, arg_attrs, spread_attrs(p, op_attr(f, SLOT_NAME(arg_attrs)), in));
  op_set(f, func, res_attrs, spread_attrs(p, op_attr(f, SLOT_NAME(res_attrs)), out));
}

/* The bytes are those of the storage already. */
static void plain_constant(const plain *p, op *o) {
  const dense_attr *d = attr_as(dense, op_attr(o, SLOT_NAME(value)));
  const type *t = op_result(o, 0)->type;
  if (!d || d->type == t || type_element(t)->quant) return;
  op_set(o, constant, value, attr_dense(p->c, t, d->data, d->splat, false));
}

/* Tokens and quantized values change their types where they are; tokens need no maker. */
static walk_result plain_op(void *user, op *o) {
  plain *p = user;
  for (u32 i = 0; i < o->num_results; i++)
    o->results[i].type = p->becomes(p->c, o->results[i].type);
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++) b->args[i]->type = p->becomes(p->c, b->args[i]->type);
  if (op_is(o, func)) plain_signature(p, o);
  if (op_is(o, constant)) plain_constant(p, o);
  if (!op_is(o, create_token) && !op_is(o, after_all)) return WALK_ON;
  expander e = expander_before(p->m, p->a, o);
  const type *t = op_result(o, 0)->type;
  value *v = op_result(expand_op(&e, OP_constant, NULL, 0, &t, 1), 0);
  op_set(v->def.op, constant, value, expand_splat(p->c, t, number_int(1)));
  value_replace(op_result(o, 0), v);
  op_erase(o);
  return WALK_ON;
}

bool plain_bundles(ir_module *m, arena *scratch) {
  plain p = {m, m->ctx, scratch, without_token};
  bool ok = true;
  if (!ir_may_have_type(m->ctx, TYPE_TUPLE) && !ir_may_have_type(m->ctx, TYPE_FUTURE) &&
      !ir_may_have_type(m->ctx, TYPE_TOKEN))
    return true;
  for (op *o = op_body(m->root, 0)->first; o; o = o->next)
    if (op_is(o, func) && op_body(o, 0)) unbundle_block(&p, op_body(o, 0));
  for (op *o = op_body(m->root, 0)->first; o && ok; o = o->next)
    if (op_is(o, func) && op_body(o, 0)) ok = resolve_block(&p, op_body(o, 0));
  if (!ok) return false;
  drop_tuples(op_body(m->root, 0));
  tokens_widen(m, scratch);
  op_walk_post(m->root, plain_op, &p);
  return true;
}

bool plain_quantized(ir_module *m, arena *scratch) {
  plain p = {m, m->ctx, scratch, quantized_storage};
  if (!ir_may_have_type(m->ctx, TYPE_QUANT)) return true;
  if (!expand_quantized(m, scratch)) return false;
  op_walk_post(m->root, plain_op, &p);
  return true;
}

bool plain_knows(op_id id) {
  static const bool known[OP_COUNT] = {
      [OP_after_all] = true,          [OP_async_done] = true,   [OP_async_start] = true,
      [OP_call_indirect] = true,      [OP_create_token] = true, [OP_func_constant] = true,
      [OP_get_tuple_element] = true,  [OP_tuple] = true,        [OP_uniform_quantize] = true,
      [OP_uniform_dequantize] = true,
  };
  return known[id];
}
