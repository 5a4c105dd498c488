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

/* Results of one type and layout on devices, in their order; all before `next` are taken. */
typedef struct alike {
  const type *t;
  const attr *layout;
  VEC(u32) results;
  size_t next;
} alike;

/* A fragment's results, and which of them have memory by now. */
typedef struct results {
  hash_index by_kind;
  bool *taken;
} results;

static alike *alike_find(const results *r, const type *t, const attr *layout) {
  alike *k;
  u64 h = hash_ptr(layout, hash_ptr(t, 0));
  for (size_t at = 0; (k = index_next(&r->by_kind, h, &at));)
    if (k->t == t && k->layout == layout) return k;
  return NULL;
}

static results results_of(arena *a, const op *o) {
  results r = {.taken = ARENA_ARRAY(a, bool, o->num_results)};
  for (u32 i = 0; i < o->num_results; i++) {
    const type *t = o->results[i].type;
    const attr *layout = mpmd_value_attr(o, MPMD_RES_ATTRS, i, MPMD_LAYOUT);
    r.taken[i] = mpmd_on_host(o, MPMD_RES_ATTRS, i);
    alike *k = alike_find(&r, t, layout);
    if (!k) {
      k = ARENA_NEW(a, alike);
      *k = (alike){.t = t, .layout = layout};
      index_add(&r.by_kind, a, hash_ptr(layout, hash_ptr(t, 0)), k);
    }
    VEC_PUSH(a, k->results, i);
  }
  return r;
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
static i64 find_taker(const aliasing *s, const op *o, size_t i, const results *r, bool *keep) {
  const value *v = op_operand(o, i);
  const attr *layout = mpmd_value_attr(o, MPMD_ARG_ATTRS, i, MPMD_LAYOUT);
  i64 to = -1;
  if (v->is_arg) {
    bool donated = false;
    const attr *donor = func_named(s->func, FUNC_ARGS, v->index, MPMD_DONOR);
    if (attr_get_bool(donor, &donated) && donated) return -1;
    const attr *alias = func_named(s->func, FUNC_ARGS, v->index, MPMD_ALIASING);
    if (!alias || !attr_get_i64(alias, &to)) return *keep = true, -1;
    to = returned_from(s, o, to);
    if (to >= 0 && !r->taken[to] && o->results[to].type == v->type &&
        mpmd_value_attr(o, MPMD_RES_ATTRS, (size_t)to, MPMD_LAYOUT) == layout)
      return to;
  }
  alike *k = alike_find(r, v->type, layout);
  while (k && k->next < k->results.len && r->taken[k->results.data[k->next]]) k->next++;
  return k && k->next < k->results.len ? (i64)k->results.data[k->next] : -1;
}

static void mark_fragment(aliasing *s, op *o) {
  ir_ctx *c = s->m->ctx;
  bool any = false;
  results r = results_of(s->a, o);
  value_dicts d;
  dicts_open(s->m, s->a, o, MPMD_ARG_ATTRS, o->num_operands, &d);
  for (u32 i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    bool is_last = index_get(&s->last, v) == &o->operands[i], keep = false;
    /* a transfer may run at the same time */
    if (!is_last || mpmd_on_host(o, MPMD_ARG_ATTRS, i) || is_transferred(v)) continue;
    i64 by = find_taker(s, o, i, &r, &keep);
    if (keep) continue;
    any = true;
    if (by >= 0) {
      r.taken[by] = true;
      dicts_put(s->m, &d, i, MPMD_ALIASING, attr_int(c, type_i32(c), by));
    } else {
      dicts_put(s->m, &d, i, MPMD_DONOR, attr_bool(c, true));
    }
  }
  if (any) dicts_close(s->m, &d);
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
