/* Orders of ops in blocks; order.h has it. */
#include "mpmd/order.h"

/* ---- who uses what ---- */

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

/* ---- sorting ---- */

static void take(const op_graph *g, u32 *waits, u32_list *sorted, u32 at) {
  VEC_PUSH(g->a, *sorted, at);
  for (size_t i = 0; i < g->users[at].len; i++) waits[g->users[at].data[i]]--;
}

/* waits: for how many edges from ops that are not taken. */
static bool sort(const op_graph *g, u32 *waits, u32_list *sorted) {
  u32_list left = {0};
  bool ok = true;
  for (u32 i = 0; i < g->count; i++) VEC_PUSH(g->a, left, i);
  while (left.len) {
    size_t kept = 0;
    for (size_t i = 0; i < left.len; i++) {
      if (waits[left.data[i]])
        left.data[kept++] = left.data[i];
      else
        take(g, waits, sorted, left.data[i]);
    }
    if (kept == left.len) {
      ok = false;
      take(g, waits, sorted, left.data[0]);
      memmove(left.data, left.data + 1, --kept * sizeof *left.data);
    }
    left.len = kept;
  }
  return ok;
}

bool block_sort(arena *a, block *b) {
  const op_graph *g = op_graph_build(a, b);
  u32 *waits = ARENA_ARRAY(a, u32, g->count);
  u32_list sorted = {0};
  for (u32 i = 0; i < g->count; i++) waits[i] = (u32)g->used[i].len;
  bool ok = sort(g, waits, &sorted);
  op *end = g->count ? g->ops[g->count - 1]->next : NULL;
  for (size_t i = 0; i < sorted.len; i++) {
    op *o = g->ops[sorted.data[i]];
    op_unlink(o);
    op_insert(o, b, end);
  }
  return ok;
}

/* ---- control operands ---- */

bool fragment_add_control(ir_module *m, const op *before, op *fragment) {
  if (!before->num_results)
    return loc_error(m->ctx, before->loc, "a fragment without results cannot be waited for");
  if (!op_discardable(fragment, MPMD_CONTROL_START))
    op_set_attr(m, fragment, MPMD_CONTROL_START, attr_i64(m->ctx, fragment->num_operands));
  op_append_operand(m, fragment, op_result(before, 0));
  return true;
}

void fragments_drop_control(ir_module *m, arena *a, op *func) {
  op_list fragments = {0};
  ops_of_kind(a, func, OP_mpmd_fragment, &fragments);
  for (size_t i = 0; i < fragments.len; i++) {
    op *f = fragments.data[i];
    i64 start;
    if (!attr_get_i64(op_discardable(f, MPMD_CONTROL_START), &start)) continue;
    value_list kept = {0};
    for (u32 k = 0; k < f->num_operands && k < start; k++) VEC_PUSH(a, kept, op_operand(f, k));
    op_set_operands(m, f, kept.data, kept.len);
    op_drop_attr(f, MPMD_CONTROL_START);
  }
}
