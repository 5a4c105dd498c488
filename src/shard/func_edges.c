/* sdy.func_data_flow_edge: where it belongs, what it joins, and how it goes again. */
#include "shard/func_edges.h"

#include "shard/passes.h"

/* ---- calls by function ---- */

static void collect_region(call_map *c, region *r);

/* Ops of the region first, then those nested in it, the last region first. */
static void collect_nested(call_map *c, block *b) {
  for (op *o = b->last; o; o = o->prev)
    for (size_t i = o->num_regions; i-- > 0;) collect_region(c, &o->regions[i]);
}

static void collect_region(call_map *c, region *r) {
  for (block *b = r->first; b; b = b->next)
    for (op *o = b->first; o; o = o->next) {
      op *f = op_is(o, call) ? call_callee(&c->symbols, o) : NULL;
      if (!f) continue;
      call_list *list = index_get(&c->of, f);
      if (!list) index_set(&c->of, c->symbols.a, f, list = ARENA_NEW(c->symbols.a, call_list));
      VEC_PUSH(c->symbols.a, *list, o);
    }
  for (block *b = r->last; b; b = b->prev) collect_nested(c, b);
}

/* Recursion is refused first, so that an edge never feeds itself through calls. */
call_map *call_map_build(ir_module *m, arena *a) {
  call_map *c = arena_zalloc(a, sizeof *c);
  op **funcs;
  size_t n;
  symbols_init(&c->symbols, m, a);
  if (!funcs_in_order(&c->symbols, false, &funcs, &n)) return NULL;
  FOR_OPS(o, op_body(m->root, 0))
  for (size_t i = o->num_regions; i-- > 0;) collect_region(c, &o->regions[i]);
  return c;
}

const call_list *call_map_callers(const call_map *c, const op *func) {
  return index_get(&c->of, func);
}

/* Sources are uses, not values: which call it was is in the use. */
void func_edge_sources(const call_map *c, op *edge, void (*fn)(void *user, use *source),
                       void *user) {
  value *v = op_operand(edge, 0);
  op *o = value_parent(v);
  if (v->is_arg) {
    const call_list *calls = op_is(o, func) ? call_map_callers(c, o) : NULL;
    for (size_t i = 0; calls && i < calls->len; i++)
      if (v->index < calls->data[i]->num_operands) fn(user, &calls->data[i]->operands[v->index]);
    return;
  }
  op *f = op_is(o, call) ? call_callee(&c->symbols, o) : NULL;
  block *body = f ? op_body(f, 0) : NULL;
  op *ret = body ? op_terminator(body) : NULL;
  if (ret && op_is(ret, func_return) && v->index < ret->num_operands)
    fn(user, &ret->operands[v->index]);
}

/* ---- sdy-add-func-data-flow-edges ---- */

static void add_edge(ir_module *m, value *v, block *b, op *before) {
  if (!type_is_ranked(v->type) || !type_is_static(v->type)) return;
  const attr *sharding = value_sharding(m->ctx, v);
  op *edge =
      op_create(m, &op_infos[OP_func_data_flow_edge], value_parent(v)->loc, &v, 1, &v->type, 1, 0);
  if (sharding) op_set_shardings(m, edge, &sharding, 1);
  op_insert(edge, b, before);
  value_replace_except(v, op_result(edge, 0), edge);
}

static walk_result add_call_edges(void *user, op *o) {
  if (!op_is(o, call)) return WALK_ON;
  op *before = o->next;
  for (u32 i = 0; i < o->num_results; i++) add_edge(user, op_result(o, i), o->parent, before);
  return WALK_ON;
}

bool pass_add_func_data_flow_edges(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  op *main = module_main(m);
  FOR_OPS(f, op_body(m->root, 0)) {
    block *b = op_is(f, func) && f != main ? op_body(f, 0) : NULL;
    op *before = b ? b->first : NULL;
    for (u32 i = 0; b && i < b->num_args; i++) add_edge(m, b->args[i], b, before);
  }
  if (module_may_have(m, call)) op_walk_post(m->root, add_call_edges, m);
  return true;
}

/* ---- sdy-sink-func-data-flow-edges ---- */

/* What the edge found becomes the value's; where it found nothing the value's own becomes open, as
 * in Shardy. */
static walk_result sink_edge(void *user, op *o) {
  ir_module *m = user;
  if (!op_is(o, func_data_flow_edge)) return WALK_ON;
  value *v = op_operand(o, 0);
  const attr *edge = value_sharding(m->ctx, op_result(o, 0)), *old = value_sharding(m->ctx, v);
  if (edge)
    value_set_sharding(m, v, edge);
  else if (old)
    value_set_sharding(m, v, shard_attr_open_like(m->ctx, old, type_rank(v->type)));
  value_replace(op_result(o, 0), v);
  op_erase(o);
  return WALK_ON;
}

bool pass_sink_func_data_flow_edges(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  if (module_may_have(m, func_data_flow_edge)) op_walk_post(m->root, sink_edge, m);
  return true;
}
