/* What uses what in a block; graph.h has it. */
#include "mpmd/optimize/graph.h"

#include "mpmd/order.h"

typedef struct builder {
  op_graph *g;
  const block *b;
  u32 at;
} builder;

static walk_result add_uses(void *user, op *o) {
  const builder *r = user;
  for (u32 i = 0; i < o->num_operands; i++) {
    const op *by = mpmd_ancestor_in(r->b, value_op(op_operand(o, i)));
    if (by && by->num != r->at + 1) op_graph_add(r->g, by->num - 1, r->at);
  }
  return op_has(o, ISOLATED) ? WALK_SKIP : WALK_ON;
}

op_graph *op_graph_build(arena *a, block *b) {
  op_graph *g = ARENA_NEW(a, op_graph);
  VEC(op *) ops = {0};
  const op *end = op_terminator(b);
  if (end && !op_has(end, TERMINATOR)) end = NULL;
  for (op *o = b->first; o && o != end; o = o->next) {
    VEC_PUSH(a, ops, o);
    o->num = (u32)ops.len;
  }
  size_t bytes = ops.len * sizeof(u32_list);
  *g = (op_graph){a, ops.data, (u32)ops.len, arena_zalloc(a, bytes), arena_zalloc(a, bytes)};
  for (builder r = {g, b, 0}; r.at < g->count; r.at++) op_walk(g->ops[r.at], add_uses, &r);
  return g;
}

void op_graph_add(op_graph *g, u32 from, u32 user) {
  VEC_PUSH(g->a, g->users[from], user);
  VEC_PUSH(g->a, g->used[user], from);
}

bool op_graph_reaches(const op_graph *g, u32 from, u32 to) {
  if (from >= to) return from == to;
  u8 *seen = arena_zalloc(g->a, g->count);
  u32_list work = {0};
  VEC_PUSH(g->a, work, from);
  while (work.len && !seen[to]) {
    const u32_list *next = &g->users[work.data[--work.len]];
    for (size_t i = 0; i < next->len; i++) {
      if (next->data[i] > to || seen[next->data[i]]) continue;
      seen[next->data[i]] = 1;
      VEC_PUSH(g->a, work, next->data[i]);
    }
  }
  return seen[to];
}

bool op_graph_order(op_graph *g, ir_module *m, u32 before, u32 fragment) {
  op *o = g->ops[before];
  if (!o->num_results)
    return loc_error(m->ctx, o->loc, "a fragment without results cannot be waited for");
  op_graph_add(g, before, fragment);
  fragment_add_control(m, o, g->ops[fragment]);
  return true;
}
