/* What need not run yet runs later. Source: openxla/shardy, reschedule_ops.cc. */
#include "mpmd/export/passes.h"
#include "mpmd/export/util.h"

/* Of the ops in o's block behind it, the first that uses a result, itself or in a region of its;
 * NULL: there is none. No op.num has `mark` yet. */
static op *first_user(const op *o, u32 mark) {
  for (u32 i = 0; i < o->num_results; i++)
    for (const use *u = o->results[i].uses; u; u = u->next) {
      op *user = mpmd_ancestor_in(o->parent, u->owner);
      if (user) user->num = mark;
    }
  for (op *x = o->next; x; x = x->next)
    if (x->num == mark) return x;
  return NULL;
}

typedef bool picks(const op *o);

/* Moves those picked in front of their first users; backwards, those that feed them go along. */
static void delay(arena *a, const op *func, picks *pick, bool backwards) {
  block *b = op_body(func, 0);
  op_list list = {0};
  for (op *o = b->first; o; o = o->next) {
    o->num = 0;
    if (pick(o)) VEC_PUSH(a, list, o);
  }
  for (size_t i = 0; i < list.len; i++) {
    op *o = list.data[backwards ? list.len - 1 - i : i], *user = first_user(o, (u32)i + 1);
    if (!user) continue;
    op_unlink(o);
    op_insert(o, b, user);
  }
}

static bool delay_in(ir_module *m, arena *a, picks *pick, bool backwards) {
  op_list functions = {0};
  mpmd_with_bodies(a, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    if (mpmd_is_entry_point(functions.data[i])) delay(a, functions.data[i], pick, backwards);
  return true;
}

static bool is_inferred(const op *o) { return op_is(o, mpmd_fragment) && !fragment_is_user(o); }

bool pass_mpmd_delay_inferred(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  return delay_in(m, scratch, is_inferred, true);
}

static bool comes_from_cpu(const op *o) {
  if (!op_is(o, mpmd_transfer)) return false;
  const type *t = op_operand(o, 0)->type;
  return mpmd_is_cpu_mesh(t->text) || str_is(mpmd_memory_kind(t), MPMD_PINNED_HOST);
}

bool pass_mpmd_delay_from_cpu(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  return delay_in(m, scratch, comes_from_cpu, false);
}
