/* Sorting ops, in rounds: each takes what uses nothing of the rest, in the order that it stands. */
#include "mpmd/order.h"

#include "base/index.h"

typedef struct waiting {
  const hash_index *of; /* op -> itself while it has no place yet, else NULL */
  const op *root;
} waiting;

/* Values of ops that wait, and of what is inside of those. */
static walk_result stop_at_waiting(void *user, op *o) {
  const waiting *w = user;
  for (u32 i = 0; i < o->num_operands; i++)
    for (const op *by = value_op(op_operand(o, i)); by && by != w->root; by = op_parent(by))
      if (index_get(w->of, by)) return WALK_STOP;
  return op_has(o, ISOLATED) ? WALK_SKIP : WALK_ON;
}

static bool is_ready(const hash_index *of, op *o) {
  return op_walk(o, stop_at_waiting, &(waiting){of, o});
}

bool ops_sort(arena *a, op **ops, size_t n) {
  hash_index wait = {0};
  bool ok = true;
  for (size_t i = 0; i < n; i++) index_set(&wait, a, ops[i], ops[i]);
  for (size_t next = 0, before; next < n;) {
    before = next;
    for (size_t i = next; i < n; i++) {
      op *o = ops[i];
      if (!is_ready(&wait, o)) continue;
      index_set(&wait, a, o, NULL);
      ops[i] = ops[next];
      ops[next++] = o;
    }
    if (next > before) continue;
    ok = false;
    index_set(&wait, a, ops[next++], NULL);
  }
  return ok;
}

bool block_sort(arena *a, block *b) {
  hash_index wait = {0};
  op *end = b->last && op_has(b->last, TERMINATOR) ? b->last : NULL, *next = b->first;
  bool ok = true;
  for (op *o = b->first; o != end; o = o->next) index_set(&wait, a, o, o);
  while (next != end) {
    bool some = false;
    for (op *o = next, *after; o != end; o = after) {
      after = o->next;
      if (!is_ready(&wait, o)) continue;
      index_set(&wait, a, o, NULL);
      some = true;
      if (o == next) {
        next = after;
        continue;
      }
      op_unlink(o);
      op_insert(o, b, next);
    }
    if (some) continue;
    ok = false;
    index_set(&wait, a, next, NULL);
    next = next->next;
  }
  return ok;
}

void fragment_add_control(ir_module *m, op *before, op *o) {
  if (!op_discardable(o, MPMD_CONTROL_START))
    op_set_attr(m, o, MPMD_CONTROL_START, attr_i64(m->ctx, o->num_operands));
  op_append_operand(m, o, op_result(before, 0));
}

static bool drop_control(ir_module *m, arena *a, op *o) {
  i64 start;
  const attr *at = op_discardable(o, MPMD_CONTROL_START);
  value_list kept = {0};
  if (!at) return true;
  if (!attr_get_i64(at, &start) || start < 0 || start >= o->num_operands)
    return op_error(m->ctx, o, "expected a control operand at its control_operand_start_idx");
  for (u32 i = 0; i < (u32)start; i++) VEC_PUSH(a, kept, op_operand(o, i));
  op_set_operands(m, o, kept.data, kept.len);
  op_set_attr(m, o, MPMD_CONTROL_START, NULL);
  return true;
}

bool fragments_drop_control(ir_module *m, arena *a, op *func) {
  op_list fragments = {0};
  bool ok = true;
  ops_of_kind(a, func, OP_mpmd_fragment, &fragments);
  for (size_t i = 0; i < fragments.len; i++) ok &= drop_control(m, a, fragments.data[i]);
  return ok;
}
