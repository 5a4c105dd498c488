/* Passes that take arguments away from functions that mpmd.call names: what they only return or do
 * not use, and what they can make by themselves. Source: openxla/shardy,
 * shardy/dialect/mpmd/transforms/common/call_rewrites.cc. */
#include "mpmd/calls/passes.h"
#include "mpmd/util.h"
#include "pass/passes.h"

/* ---- what is gone ---- */

/* Of a list with an entry for each of n, those that stay; another list as it is. */
static const attr *kept_entries(ir_module *m, arena *a, const attr *list, const bool *gone,
                                size_t n) {
  const array_attr *old = attr_as(array, list);
  if (!old || old->elems.len != n) return list;
  VEC(const attr *) out = {0};
  for (size_t i = 0; i < n; i++)
    if (!gone[i]) VEC_PUSH(a, out, old->elems.data[i]);
  return attr_array(m->ctx, (attrs){out.data, out.len});
}

static void keep_operands(ir_module *m, arena *a, op *o, const bool *gone) {
  value_list kept = {0};
  for (u32 i = 0; i < o->num_operands; i++)
    if (!gone[i]) VEC_PUSH(a, kept, op_operand(o, i));
  op_set_operands(m, o, kept.data, kept.len);
}

static void erase_args(ir_module *m, arena *a, op *f, const bool *gone) {
  block *b = op_body(f, 0);
  op_set(f, func, arg_attrs, kept_entries(m, a, op_get(f, func, arg_attrs), gone, b->num_args));
  for (u32 i = b->num_args; i-- > 0;)
    if (gone[i]) block_erase_arg(b, i);
}

static void erase_results(ir_module *m, arena *a, op *f, const bool *gone) {
  op *ret = op_terminator(op_body(f, 0));
  const attr *kept = kept_entries(m, a, op_get(f, func, res_attrs), gone, ret->num_operands);
  op_set(f, func, res_attrs, kept);
  keep_operands(m, a, ret, gone);
}

static bool *flags(arena *a, size_t n) { return memset(ARENA_ARRAY(a, bool, n), 0, n); }

static bool any(const bool *set, size_t n) {
  for (size_t i = 0; i < n; i++)
    if (set[i]) return true;
  return false;
}

/* Calls of f that are used. false: one does not fit f, which the verifier lets pass. */
static bool find_calls(ir_module *m, arena *a, const op *f, op_list *calls) {
  const block *b = op_body(f, 0);
  mpmd_calls_of(a, m, f, calls);
  for (size_t i = 0; b && i < calls->len; i++) {
    const op *c = calls->data[i], *ret = op_terminator(b);
    if (c->num_operands == b->num_args && c->num_results == ret->num_operands) continue;
    return op_error(m->ctx, c,
                    "expected %u operands and %u results, as its function has, but found %u and %u",
                    b->num_args, ret->num_operands, c->num_operands, c->num_results);
  }
  return true;
}

/* ---- mpmd-erase-unused-callee-block-arguments ---- */

typedef struct unused {
  ir_module *m;
  arena *a;
  op *f;
  bool *args, *results; /* gone */
  u32 *from;            /* of a result that is gone, the argument that it was */
  u32 num_results;
} unused;

static void find_unused(unused *u) {
  const block *b = op_body(u->f, 0);
  const op *ret = op_terminator(b);
  for (u32 i = 0; i < b->num_args; i++) {
    if (mpmd_used_besides(b->args[i], ret)) continue;
    u->args[i] = true;
    for (const use *v = b->args[i]->uses; v; v = v->next) {
      size_t k = (size_t)(v - ret->operands);
      u->results[k] = true;
      u->from[k] = i;
    }
  }
}

/* A call of what is left of the function. */
static void shrink_call(const unused *u, op *call) {
  ir_module *m = u->m;
  value_list in = {0};
  type_list types = {0};
  for (u32 i = 0; i < call->num_operands; i++)
    if (!u->args[i]) VEC_PUSH(u->a, in, op_operand(call, i));
  for (u32 i = 0; i < u->num_results; i++)
    if (!u->results[i]) VEC_PUSH(u->a, types, op_result(call, i)->type);
  op *n = mpmd_emit(m, call, OP_mpmd_call, call->loc, in.data, in.len, types.data, types.len);
  mpmd_copy_attrs(m, call, n);
  for (u32 i = 0, k = 0; i < u->num_results; i++)
    if (!u->results[i]) value_replace(op_result(call, i), op_result(n, k++));
  op_erase(call);
}

static bool erase_unused(ir_module *m, arena *a, op *f) {
  op_list calls = {0};
  if (!find_calls(m, a, f, &calls)) return false;
  if (!calls.len || !op_body(f, 0)) return true;
  const block *b = op_body(f, 0);
  u32 n = op_terminator(b)->num_operands, args = b->num_args;
  unused u = {m, a, f, flags(a, args), flags(a, n), ARENA_ARRAY(a, u32, n), n};
  find_unused(&u);
  if (!any(u.args, args)) return true;
  u32 gone = 0;
  for (size_t c = 0; c < calls.len; c++)
    for (u32 i = gone = 0; i < n; i++) {
      gone += u.results[i];
      if (!u.results[i]) continue;
      value_replace(op_result(calls.data[c], i), op_operand(calls.data[c], u.from[i]));
    }
  if (gone < n) {
    erase_results(m, a, f, u.results);
    erase_args(m, a, f, u.args);
    mpmd_update_type(m, f);
  }
  for (size_t c = 0; c < calls.len; c++) {
    if (gone < n)
      shrink_call(&u, calls.data[c]);
    else
      op_erase(calls.data[c]);
  }
  if (gone == n) op_erase(f);
  return true;
}

bool pass_mpmd_erase_unused(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    if (!mpmd_is_entry_point(functions.data[i]) && !erase_unused(m, scratch, functions.data[i]))
      return false;
  return true;
}

/* ---- mpmd-sink-negligible-ops-into-call-op ---- */

/* What all calls have as operand i, if an op without operands makes it; it is taken to cost
 * nothing, as it may be made more often then. */
static const op *sinks(const op_list *calls, u32 i) {
  const value *v = op_operand(calls->data[0], i);
  for (size_t c = 1; c < calls->len; c++)
    if (op_operand(calls->data[c], i) != v) return NULL;
  const op *o = value_op(v);
  return o && !o->num_operands && o->num_results == 1 ? o : NULL;
}

static walk_result unnumber(void *user, op *o) {
  (void)user;
  o->num = 0;
  return WALK_ON;
}

static bool sink_into(ir_module *m, arena *a, op *f) {
  op_list calls = {0};
  if (!find_calls(m, a, f, &calls)) return false;
  if (!calls.len || !op_body(f, 0)) return true;
  block *b = op_body(f, 0);
  bool *gone = flags(a, b->num_args);
  op *first = b->first;
  for (u32 i = 0; i < b->num_args; i++) {
    const op *o = sinks(&calls, i);
    if (!o) continue;
    op *copy = op_clone(m, o, NULL);
    op_insert(copy, b, first);
    value_replace(b->args[i], op_result(copy, 0));
    gone[i] = true;
  }
  if (!any(gone, b->num_args)) return true;
  for (size_t c = 0; c < calls.len; c++) keep_operands(m, a, calls.data[c], gone);
  erase_args(m, a, f, gone);
  mpmd_update_type(m, f);
  for (size_t c = 0; c < calls.len; c++) {
    op *caller = mpmd_func(calls.data[c]);
    if (c && caller == mpmd_func(calls.data[c - 1])) continue;
    op_walk(caller, unnumber, NULL);
    regions_erase_unneeded(a, &caller->regions[0]);
  }
  return true;
}

bool pass_mpmd_sink_negligible(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    if (!sink_into(m, scratch, functions.data[i])) return false;
  return true;
}
