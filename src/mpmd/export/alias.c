/* Which of a fragment's arguments give their memory to a result. Those that nothing uses later do,
 * and of a function's own arguments only those that the user gave away. Source: openxla/shardy,
 * mark_aliasing_and_donation.cc. */
#include "base/index.h"
#include "mpmd/export/passes.h"
#include "mpmd/export/util.h"
#include "shard/sharding_ir.h"

typedef struct aliasing {
  ir_module *m;
  arena *a;
  const op *func;
  const op *ret;   /* of func; NULL: it ends otherwise */
  hash_index last; /* value -> its last use by an op of func's block */
} aliasing;

static void find_last_uses(aliasing *s) {
  for (op *o = op_body(s->func, 0)->first; o; o = o->next)
    for (u32 i = 0; i < o->num_operands; i++)
      index_set(&s->last, s->a, op_operand(o, i), &o->operands[i]);
}

static bool is_transferred(const value *v) {
  for (const use *u = v->uses; u; u = u->next)
    if (op_is(u->owner, mpmd_transfer)) return true;
  return false;
}

static bool can_alias(const op *o, size_t in, size_t out, const bool *taken) {
  return !taken[out] && o->results[out].type == op_operand(o, in)->type &&
         !mpmd_on_host(o, MPMD_RES_ATTRS, out) &&
         mpmd_value_attr(o, MPMD_ARG_ATTRS, in, MPMD_LAYOUT) ==
             mpmd_value_attr(o, MPMD_RES_ATTRS, out, MPMD_LAYOUT);
}

/* The result of fragment o that the function returns as its result `to`, perhaps by way of ops of
 * one operand; -1: none. */
static i64 returned_from(const aliasing *s, const op *o, i64 to) {
  if (!s->ret || to < 0 || to >= s->ret->num_operands) return -1;
  const value *v = op_operand(s->ret, (size_t)to);
  const op *by = value_op(v);
  for (; by && !op_is(by, mpmd_fragment); by = value_op(v)) {
    if (by->num_operands != 1) return -1;
    v = op_operand(by, 0);
  }
  return by == o ? (i64)v->index : -1;
}

/* The result that takes over argument i; -1: some other may. *keep: the user has not given the
 * argument away. */
static i64 find_taker(const aliasing *s, const op *o, size_t i, const bool *taken, bool *keep) {
  const value *v = op_operand(o, i);
  i64 to = -1, best = -1;
  if (v->is_arg) {
    bool donated = false;
    const attr *donor = func_named(s->func, FUNC_ARGS, v->index, MPMD_DONOR);
    if (attr_get_bool(donor, &donated) && donated) return -1;
    const attr *alias = func_named(s->func, FUNC_ARGS, v->index, MPMD_ALIASING);
    if (!alias || !attr_get_i64(alias, &to)) return *keep = true, -1;
    best = returned_from(s, o, to);
    if (best >= 0 && can_alias(o, i, (size_t)best, taken)) return best;
  }
  for (u32 k = 0; k < o->num_results; k++)
    if (can_alias(o, i, k, taken)) return k;
  return -1;
}

static void mark_fragment(aliasing *s, op *o) {
  bool *taken = ARENA_ARRAY(s->a, bool, o->num_results);
  memset(taken, 0, o->num_results * sizeof *taken);
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    bool is_last = index_get(&s->last, v) == &o->operands[i], keep = false;
    /* a transfer may run at the same time */
    if (!is_last || mpmd_on_host(o, MPMD_ARG_ATTRS, i) || is_transferred(v)) continue;
    i64 by = find_taker(s, o, i, taken, &keep);
    if (keep) continue;
    if (by >= 0) taken[by] = true;
    mpmd_set_value_attr(
        s->m, o, MPMD_ARG_ATTRS, o->num_operands, i, by >= 0 ? MPMD_ALIASING : MPMD_DONOR,
        by >= 0 ? attr_int(s->m->ctx, type_i32(s->m->ctx), by) : attr_bool(s->m->ctx, true));
  }
}

bool pass_mpmd_mark_aliasing(ir_module *m, arena *scratch, const pass_args *args) {
  op_list functions = {0};
  (void)args;
  mpmd_with_bodies(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    const op *f = functions.data[i];
    aliasing s = {.m = m, .a = scratch, .func = f, .ret = mpmd_func_return(f)};
    find_last_uses(&s);
    for (op *o = op_body(f, 0)->first; o; o = o->next)
      if (op_is(o, mpmd_fragment)) mark_fragment(&s, o);
  }
  return true;
}
