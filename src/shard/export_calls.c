/* Export passes for calls: named computations to functions, and their shardings.
 *
 * The way back from import_flow.c: each named computation becomes a private function and a call;
 * functions that came from one and ended with the same shardings are one again (unflatten).
 * Shardings of a call's results and of its function may differ, in which case reshards are put
 * between. */
#include "shard/calls.h"
#include "shard/flow.h"
#include "shard/passes.h"

typedef struct exporting {
  ir_module *m;
  arena *a;
  op_list list; /* named computations, or calls */
  symbols symbols;
} exporting;

/* An edge is the only use of its owner where there is one. */
static void remove_edge(value *v) {
  if (!value_has_one_use(v)) return;
  op *edge = v->uses->owner;
  if (!op_is(edge, data_flow_edge)) return;
  value_replace(op_result(edge, 0), v);
  op_erase(edge);
}

/* Shardings of the edges, or the op's own where there are none; 0: neither. */
static size_t side_shardings(exporting *e, op *o, bool args, const attr **out) {
  if (edge_shardings(e->m, o, args, out)) return args ? o->num_operands : o->num_results;
  const sharding_per_value_attr *l = attr_as(
      sharding_per_value, op_attr(o, args ? SLOT_NAME(in_shardings) : SLOT_NAME(out_shardings)));
  if (!l) return 0;
  memcpy(out, l->shardings.data, l->shardings.len * sizeof *out);
  return l->shardings.len;
}

/* The body moves; func.return takes the place of sdy.return. The symbol table gives a free name. */
static op *make_func(exporting *e, op *o, const attr *const *in, size_t num_in) {
  ir_module *m = e->m;
  block *body = op_body(o, 0);
  const type **types = ARENA_ARRAY(e->a, const type *, body->num_args + o->num_results);
  for (u32 i = 0; i < body->num_args; i++) types[i] = body->args[i]->type;
  for (u32 i = 0; i < o->num_results; i++) types[body->num_args + i] = op_result(o, i)->type;
  const type *t = type_function(m->ctx, (struct types){types, body->num_args},
                                (struct types){types + body->num_args, o->num_results});
  op *f = op_create(m, &op_infos[OP_func], o->loc, NULL, 0, NULL, 0, 1);
  const attr *name = op_attr(o, SLOT_NAME(name));
  op_set(f, func, sym_name, name);
  op_set(f, func, function_type, attr_type(m->ctx, t));
  op_set(f, func, sym_visibility, attr_string(m->ctx, STR("private")));
  op_set_attr(m, f, SDY_ORIGINAL_FUNC_NAME, name);
  const attr *thread = op_discardable(o, EXECUTION_THREAD);
  if (thread) op_set_attr(m, f, EXECUTION_THREAD, thread);
  symbols_insert(&e->symbols, f, NULL);
  move_body(m, &f->regions[0], &o->regions[0], &op_infos[OP_func_return]);
  for (u32 i = 0; i < body->num_args; i++) remove_edge(body->args[i]);
  if (num_in) func_set_shardings(m, f, FUNC_ARGS, in, num_in);
  return f;
}

/* In the place of `o`, which goes. */
static op *make_call(exporting *e, op *o, const op *f) {
  ir_module *m = e->m;
  value **operands = ARENA_ARRAY(e->a, value *, o->num_operands);
  const type **types = ARENA_ARRAY(e->a, const type *, o->num_results);
  for (u32 i = 0; i < o->num_operands; i++) operands[i] = op_operand(o, i);
  for (u32 i = 0; i < o->num_results; i++) types[i] = op_result(o, i)->type;
  op *call =
      op_create(m, &op_infos[OP_call], o->loc, operands, o->num_operands, types, o->num_results, 0);
  call_set_callee(m, call, f);
  for (u32 i = 0; i < o->num_attrs; i++) {
    str name;
    if (attr_get_str(o->attrs[i].name, &name) && !str_is(name, "execution_thread"))
      op_set_attr(m, call, name, o->attrs[i].value);
  }
  op_insert(call, o->parent, o);
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_result(call, i));
  op_erase(o);
  return call;
}

bool pass_export_named_computations(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  exporting e = {.m = m, .a = scratch};
  if (!module_may_have(m, named_computation)) return true;
  symbols_init(&e.symbols, m, scratch);
  ops_of_kind(scratch, m->root, OP_named_computation, &e.list);
  for (size_t i = 0; i < e.list.len; i++) {
    op *o = e.list.data[i];
    size_t n = o->num_operands + o->num_results;
    const attr **in = ARENA_ARRAY(scratch, const attr *, n);
    const attr **out = ARENA_ARRAY(scratch, const attr *, n);
    size_t num_in = side_shardings(&e, o, true, in), num_out = side_shardings(&e, o, false, out);
    op *call = make_call(&e, o, make_func(&e, o, in, num_in));
    if (num_out) op_set_shardings(m, call, out, num_out);
    e.list.data[i] = call;
  }
  for (size_t i = 0; i < e.list.len; i++)
    for (u32 k = 0; k < e.list.data[i]->num_results; k++) remove_edge(op_result(e.list.data[i], k));
  return true;
}

/* sdy-inline-named-computations: their bodies in their place. Runs when shardings are settled:
 * what the borders said differs at most where a reshard would do nothing but follow an edge. */
bool pass_inline_named_computations(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  exporting e = {.m = m, .a = scratch};
  if (!module_may_have(m, named_computation)) return true;
  ops_of_kind(scratch, m->root, OP_named_computation, &e.list);
  for (size_t i = 0; i < e.list.len; i++) {
    op *o = e.list.data[i];
    block *body = op_body(o, 0);
    op *ret = op_terminator(body);
    for (u32 k = 0; k < body->num_args; k++) value_replace(body->args[k], op_operand(o, k));
    for (u32 k = 0; k < o->num_results; k++) value_replace(op_result(o, k), op_operand(ret, k));
    block_move_ops(body, ret, o->parent, o);
    op_erase(o);
  }
  return true;
}

/* ---- sdy-propagate-to-func-results ---- */

bool pass_propagate_to_func_results(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op *main = module_main(m);
  FOR_OPS(f, op_body(m->root, 0)) {
    block *b = op_is(f, func) && f != main ? op_body(f, 0) : NULL;
    op *ret = b ? op_terminator(b) : NULL;
    if (!ret || !op_is(ret, func_return)) continue;
    const attr **list = ARENA_ARRAY(scratch, const attr *, ret->num_operands);
    for (u32 i = 0; i < ret->num_operands; i++)
      list[i] = value_sharding(m->ctx, op_operand(ret, i));
    func_set_shardings(m, f, FUNC_RESULTS, list, ret->num_operands);
  }
  return true;
}

/* ---- sdy-unflatten-call-graph ---- */

/* What two functions must have in common for one to stand for both: shardings are NULL where the
 * function has none, or where they are not looked at. */
typedef struct likeness {
  op *func; /* the one that stands for all */
  const attr *name, *manual;
  const attr **shardings[2];
  size_t calls;
} likeness;

static likeness likeness_of(shard_space *s, op *f, bool look) {
  likeness k = {
      .func = f, .name = func_original_name(f), .manual = op_discardable(f, SDY_FUNC_MANUAL_AXES)};
  for (int side = FUNC_ARGS; side <= FUNC_RESULTS && look; side++) {
    const attr **list = ARENA_ARRAY(shard_space_arena(s), const attr *, func_num(f, side));
    if (func_all_shardings(s, f, side, list)) k.shardings[side] = list;
  }
  return k;
}

static u64 likeness_hash(const likeness *k) {
  u64 h = hash_ptr(k->manual, hash_ptr(k->name, 0));
  for (int side = FUNC_ARGS; side <= FUNC_RESULTS; side++)
    for (size_t i = 0; k->shardings[side] && i < func_num(k->func, side); i++)
      h = hash_ptr(k->shardings[side][i], h);
  return h;
}

static bool alike(const likeness *x, const likeness *y) {
  if (x->name != y->name || x->manual != y->manual) return false;
  for (int side = FUNC_ARGS; side <= FUNC_RESULTS; side++) {
    const attr **a = x->shardings[side], **b = y->shardings[side];
    size_t n = func_num(x->func, side);
    if (n != func_num(y->func, side) || !a != !b) return false;
    if (a && n && memcmp(a, b, n * sizeof *a)) return false;
  }
  return true;
}

/* What f is like: the entry of the first such function, which may be itself. */
static likeness *like(shard_space *s, hash_index *seen, op *f, bool look) {
  likeness k = likeness_of(s, f, look), *other;
  u64 h = likeness_hash(&k);
  for (size_t at = 0; (other = index_next(seen, h, &at));)
    if (alike(other, &k)) return other;
  arena *a = shard_space_arena(s);
  other = arena_copy(a, &k, sizeof k);
  index_add(seen, a, h, other);
  return other;
}

/* Where shardings don't count, the function stands for all whose shardings are called most often;
 * of several, those that reach that number first. */
bool pass_unflatten_call_graph(ir_module *m, arena *scratch, const pass_args *args) {
  exporting e = {.m = m, .a = scratch};
  shard_space *s = shard_space_create(m, scratch);
  bool fully = pass_option_flag(args, STR("dedup-functions-fully"), false);
  hash_index kept = {0}, exact = {0};
  symbols_init(&e.symbols, m, scratch);
  if (module_may_have(m, call)) ops_of_kind(scratch, m->root, OP_call, &e.list);
  likeness **of = ARENA_ARRAY(scratch, likeness *, e.list.len);
  for (size_t i = 0; i < e.list.len; i++) {
    op *f = call_callee(&e.symbols, e.list.data[i]);
    if (!f) return op_error(m->ctx, e.list.data[i], "calls a function that does not exist");
    of[i] = like(s, &kept, f, !fully);
    if (!fully) continue;
    likeness *own = like(s, &exact, f, true);
    own->calls++;
    if (own->calls > like(s, &exact, of[i]->func, true)->calls) of[i]->func = f;
  }
  for (size_t i = 0; i < e.list.len; i++) call_set_callee(m, e.list.data[i], of[i]->func);
  FOR_OPS(f, op_body(m->root, 0)) {
    if (!op_is(f, func)) continue;
    op_set_attr(m, f, SDY_ORIGINAL_FUNC_NAME, NULL);
    op_set_attr(m, f, SDY_FUNC_MANUAL_AXES, NULL);
  }
  return shard_space_check(s);
}

/* ---- sdy-insert-func-call-reshards ---- */

static const attr *closed_like(ir_ctx *c, const attr *a) {
  const tensor_sharding_attr *t = attr_as(tensor_sharding, a);
  return shard_attr_replicated(c, t->mesh, t->dims.len, true);
}

static void reshard_result(ir_module *m, value *v, const attr *func_says) {
  const attr *call_says = value_sharding(m->ctx, v);
  if (shard_attr_equivalent(func_says, call_says)) return;
  op *call = value_op(v);
  op *r = op_create(m, &op_infos[OP_reshard], call->loc, &v, 1, &v->type, 1, 0);
  op_set(r, reshard, sharding, call_says ? call_says : closed_like(m->ctx, func_says));
  op_insert(r, call->parent, call->next);
  value_replace_except(v, op_result(r, 0), r);
}

bool pass_insert_func_call_reshards(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  exporting e = {.m = m, .a = scratch};
  shard_space *s = shard_space_create(m, scratch);
  symbols_init(&e.symbols, m, scratch);
  if (module_may_have(m, call)) ops_of_kind(scratch, m->root, OP_call, &e.list);
  for (size_t i = 0; i < e.list.len; i++) {
    op *call = e.list.data[i], *f = call_callee(&e.symbols, call);
    if (!f) return op_error(m->ctx, call, "calls a function that does not exist");
    size_t n = call->num_results;
    attrs own = op_shardings(call);
    const attr **list = ARENA_ARRAY(scratch, const attr *, n);
    if (n != func_num(f, FUNC_RESULTS)) continue;
    if (!func_all_shardings(s, f, FUNC_RESULTS, list)) {
      if (own.len != n) continue;
      for (size_t k = 0; k < n; k++) list[k] = closed_like(m->ctx, own.data[k]);
    }
    for (u32 k = 0; k < n; k++) reshard_result(m, op_result(call, k), list[k]);
    op_set_shardings(m, call, list, n);
  }
  return shard_space_check(s);
}
