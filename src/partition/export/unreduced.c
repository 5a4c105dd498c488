/* sdy-verify-unreduced-axes: a value that is parts of a sum (or of another reduction) becomes whole
 * where a reshard, a constraint or a reduction across devices says so, and nowhere else. An op may
 * make such parts, as a product does of shards along its contracting dimension.
 *
 * No pipeline runs it: much that propagation accepts does not pass. */
#include "dialect/dialect.h"
#include "partition/env.h"
#include "partition/passes.h"
#include "partition/record.h"
#include "shard/calls.h"

enum { NONE = -1 }; /* instead of a kind */

typedef struct unreduced {
  part_env e;
  symbols symbols;
} unreduced;

static value *behind_barriers(value *v) {
  while (value_op(v) && op_is(value_op(v), propagation_barrier)) v = op_operand(value_op(v), 0);
  return v;
}

static const sharding *sharding_behind(const unreduced *u, value *v) {
  return shard_read(u->e.space, value_sharding(u->e.c, behind_barriers(v)));
}

/* What resharded the value answers for its axes. */
static bool is_resharded(value *v) {
  const op *o = value_op(behind_barriers(v));
  return o && (op_is(o, reshard) || op_is(o, sharding_constraint));
}

/* ---- through ops ---- */

typedef struct side {
  VEC(unreduced_axes) list;
  const mesh *mesh;
  bool mixed, any; /* several meshes, some axes */
} side;

static void add_sharding(const unreduced *u, side *k, const sharding *s) {
  if (!s) return;
  if (k->mesh && !mesh_same(k->mesh, s->mesh, false)) k->mixed = true;
  k->mesh = s->mesh;
  k->any |= s->unreduced.len > 0;
  for (size_t i = 0; i < k->list.len; i++)
    if (k->list.data[i].kind == s->unreduced_kind && axes_eq(k->list.data[i].axes, s->unreduced))
      return;
  VEC_PUSH(u->e.a, k->list, ((unreduced_axes){s->unreduced, s->unreduced_kind}));
}

/* From the first n operands to the results. Nothing is said of axes of different meshes. */
static bool check_change(const unreduced *u, const op *o, u32 n, bool resharded, int into,
                         int out_of) {
  side from = {0}, to = {0};
  for (u32 i = 0; i < n; i++)
    if (resharded || !is_resharded(op_operand(o, i)))
      add_sharding(u, &from, sharding_behind(u, op_operand(o, i)));
  for (u32 i = 0; i < o->num_results; i++)
    add_sharding(u, &to, sharding_behind(u, op_result(o, i)));
  if (from.mixed || to.mixed || !(from.any || to.any)) return true;
  if (from.mesh && to.mesh && !mesh_same(from.mesh, to.mesh, false)) return true;
  unreduced_change c = {from.mesh ? from.mesh : to.mesh,
                        from.list.data,
                        from.list.len,
                        to.list.data,
                        to.list.len,
                        into,
                        out_of};
  return dialect_check_unreduced(u->e.c, o, &c);
}

static bool check_any(const unreduced *u, op *o) {
  return op_has(o, TERMINATOR) || check_change(u, o, o->num_operands, false, UNREDUCED_SUM, NONE);
}

static bool check_reshard(const unreduced *u, op *o) {
  const sharding *from = sharding_behind(u, op_operand(o, 0));
  return !from || check_change(u, o, 1, true, UNREDUCED_SUM, from->unreduced_kind);
}

/* In which way the op combines its n pairs, if it is one way. */
static int combining(const op *o, u32 n) {
  const block *b = op_body(o, 0);
  unreduced_kind kind = UNREDUCED_SUM, first = UNREDUCED_SUM;
  for (u32 i = 0; i < n; i++, first = kind)
    if (!b || !part_body_kind(b, i, n, &kind) || (i && kind != first)) return NONE;
  return n ? (int)kind : NONE;
}

static bool check_reduce(const unreduced *u, op *o) {
  u32 n = o->num_operands / 2;
  return check_change(u, o, n, false, combining(o, n), NONE);
}

static bool check_across(const unreduced *u, op *o) {
  return check_change(u, o, o->num_operands, true, NONE, combining(o, 1));
}

static bool check_sdy_across(const unreduced *u, op *o) {
  const reduction_op_attr *kind = attr_as(reduction_op, op_attr(o, SLOT_NAME(reduction_op)));
  if (!sharding_behind(u, op_operand(o, 0))) return op_error(u->e.c, o, "operand must be sharded.");
  return check_change(u, o, 1, true, NONE, kind ? (int)kind->value : UNREDUCED_SUM);
}

/* ---- across borders ---- */

static bool has_axis(const sharding *s, str name, axis_ref r) {
  for (size_t i = 0; s && i < s->unreduced.len; i++) {
    axis_ref q = s->unreduced.data[i];
    if (q.pre == r.pre && q.size == r.size && str_eq(s->mesh->axes[q.axis].name, name)) return true;
  }
  return false;
}

typedef struct names {
  VEC(str) list; /* sorted, each once */
} names;

static void add_missing(const unreduced *u, names *n, const sharding *s, const sharding *other) {
  for (size_t i = 0; s && i < s->unreduced.len; i++) {
    str name = s->mesh->axes[s->unreduced.data[i].axis].name;
    if (has_axis(other, name, s->unreduced.data[i])) continue;
    size_t at = 0;
    while (at < n->list.len && str_cmp(n->list.data[at], name) < 0) at++;
    if (at < n->list.len && str_eq(n->list.data[at], name)) continue;
    VEC_PUSH(u->e.a, n->list, name);
    for (size_t k = n->list.len - 1; k > at; k--) n->list.data[k] = n->list.data[k - 1];
    n->list.data[at] = name;
  }
}

/* The same unreduced axes on both sides. */
static bool check_same(const unreduced *u, const op *o, const sharding *a, const sharding *b,
                       const char *where, u32 index, const char *more) {
  names n = {0};
  add_missing(u, &n, a, b);
  add_missing(u, &n, b, a);
  if (!n.list.len) return true;
  str all = n.list.data[0];
  for (size_t i = 1; i < n.list.len; i++)
    all = arena_printf(u->e.a, STR_FMT ", " STR_FMT, STR_ARG(all), STR_ARG(n.list.data[i]));
  return op_error(u->e.c, o, "has unreduced axes mismatch for '" STR_FMT "' at %s %u%s.",
                  STR_ARG(all), where, index, more);
}

static const sharding *func_says(const unreduced *u, const op *f, func_side side, u32 i) {
  return i < func_num(f, side) ? shard_read(u->e.space, func_sharding(f, side, i)) : NULL;
}

static bool check_call(const unreduced *u, op *o) {
  const op *f = call_callee(&u->symbols, o);
  for (u32 i = 0; f && i < o->num_operands; i++)
    if (!is_resharded(op_operand(o, i)) &&
        !check_same(u, o, sharding_behind(u, op_operand(o, i)), func_says(u, f, FUNC_ARGS, i),
                    "call argument", i, ""))
      return false;
  for (u32 i = 0; f && i < o->num_results; i++)
    if (!check_same(u, o, func_says(u, f, FUNC_RESULTS, i), sharding_behind(u, op_result(o, i)),
                    "call result", i, ""))
      return false;
  return true;
}

/* What the op around says of its result i, as it is seen inside. */
static const sharding *result_says(const unreduced *u, op *o, u32 i) {
  if (op_is(o, func)) return func_says(u, o, FUNC_RESULTS, i);
  const sharding *s = i < o->num_results ? sharding_behind(u, op_result(o, i)) : NULL;
  return op_is(o, manual_computation) ? part_inside_manual(&u->e, o, s) : s;
}

static bool check_return(const unreduced *u, op *o) {
  for (u32 i = 0; i < o->num_operands; i++) {
    const sharding *s = result_says(u, op_parent(o), i);
    if (s && !is_resharded(op_operand(o, i)) &&
        !check_same(u, o, sharding_behind(u, op_operand(o, i)), s, "return value", i,
                    " without a blessed operation (e.g., sdy.reshard). This is an invalid "
                    "transition from unreduced to reduced"))
      return false;
  }
  return true;
}

/* ---- the pass ---- */

typedef bool check_fn(const unreduced *u, op *o);
static check_fn *const check_of[OP_COUNT] = {
    /* the others: check_any */
    [OP_reshard] = check_reshard,
    [OP_sharding_constraint] = check_reshard,
    [OP_reduce] = check_reduce,
    [OP_all_reduce] = check_across,
    [OP_reduce_scatter] = check_across,
    [OP_sdy_all_reduce] = check_sdy_across,
    [OP_sdy_reduce_scatter] = check_sdy_across,
    [OP_call] = check_call,
    [OP_func_return] = check_return,
    [OP_sdy_return] = check_return,
};

static walk_result check_op(void *user, op *o) {
  check_fn *own = op_kind(o) < OP_COUNT ? check_of[op_kind(o)] : NULL;
  return (own ? own : check_any)(user, o) ? WALK_ON : WALK_STOP;
}

bool part_verify_unreduced(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  unreduced u = {.e = part_env_make(m, scratch)};
  symbols_init(&u.symbols, m, scratch);
  bool ok = true;
  FOR_OPS(f, op_body(m->root, 0)) {
    if (!op_walk_post(f, check_op, &u)) ok = false; /* the first error of each function */
  }
  return ok && shard_space_check(u.e.space);
}
