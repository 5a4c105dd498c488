/* mpmd-infer-mesh-populate-use-set: where values are used, from mpmd.assign back to what makes
 * them. Source: openxla/shardy, infer_mesh_assignment.cc. */
#include "mpmd/infer/infer.h"

/* A call whose results go into another call of the same function makes its use sets grow until
 * they are those of both; so often at most. */
enum { MAX_ROUNDS = 10 };

static void walk_back(infer *n, op *o);

static mesh_set *read_args(const infer *n, const op *func) {
  mesh_set *sets = ARENA_ARRAY(n->a, mesh_set, num_args(func));
  for (size_t i = 0; i < num_args(func); i++) sets[i] = use_of_arg(n, func, i);
  return sets;
}

static void fill_args(infer *n, op *func) {
  mesh_set *sets = read_args(n, func);
  for (size_t i = 0; i < num_args(func); i++) unite_uses(n, op_body(func, 0)->args[i], &sets[i]);
  put_arg_sets(n, func, MPMD_USE_SET, sets);
}

/* ---- calls ---- */

static bool has_use_sets(const op *func) {
  for (size_t i = 0; i < num_args(func); i++)
    if (mpmd_value_attr(func, MPMD_ARG_ATTRS, i, MPMD_USE_SET)) return true;
  return false;
}

static void walk_body(infer *n, op *func) {
  for (op *o = op_body(func, 0)->last, *prev; o; o = prev) {
    prev = o->prev;
    walk_back(n, o);
  }
  fill_args(n, func);
}

/* What the results of the call are used for, and so what is in the function. A body that was gone
 * over with the same results has nothing new. True: there was something new. */
static bool fill_callee(infer *n, op *call, op *f) {
  size_t count = num_returned(f);
  mesh_set *sets = ARENA_ARRAY(n->a, mesh_set, count);
  bool changed = false;
  for (size_t i = 0; i < count; i++) {
    sets[i] = use_of_result(n, f, i);
    size_t had = sets[i].meshes.len;
    if (i < call->num_results) unite_uses(n, op_result(call, i), &sets[i]);
    if (sets[i].meshes.len == had)
      sets[i].known = false;
    else
      changed = true;
  }
  put_result_sets(n, f, sets);
  bool first = !has_use_sets(f) && infer_enter(n, f);
  if (!changed && !first) return false;
  walk_body(n, f);
  return true;
}

static void fill_call(infer *n, op *call) {
  op *f = infer_callee(n, call);
  bool changed = fill_callee(n, call, f), chain = is_in_call_chain(call);
  for (int i = 0; chain && changed && i < MAX_ROUNDS; i++) changed = fill_callee(n, call, f);
}

/* ---- loops ---- */

static void add_result_use(infer *n, op *call, size_t i, const value *used) {
  op *f = infer_callee(n, call);
  mesh_set *sets = arena_zalloc(n->a, num_returned(f) * sizeof *sets);
  if (i >= num_returned(f)) return;
  sets[i] = use_of_result(n, f, i);
  unite_uses(n, used, &sets[i]);
  put_result_sets(n, f, sets);
}

/* What a loop returns is used for what its results are. */
static void fill_returned(infer *n, op *ret) {
  op *loop = op_parent(ret);
  for (u32 i = 0; op_is(loop, mpmd_for) && i < ret->num_operands; i++) {
    op *o = value_op(op_operand(ret, i));
    if (o && op_is(o, mpmd_call)) {
      add_result_use(n, o, op_operand(ret, i)->index, op_result(loop, i));
    } else if (o) {
      mesh_set s = use_of(n, o);
      unite_uses(n, op_result(loop, i), &s);
      put_use(n, o, &s);
    }
  }
}

/* ---- ops ---- */

static void fill_op(infer *n, op *o) {
  if (op_is(o, mpmd_assign)) {
    mesh_set s = set_of_assign(n, o);
    put_use(n, o, &s);
  } else if (op_is(o, func) || op_is(o, mpmd_for)) {
    fill_args(n, o);
  } else if (op_is(o, mpmd_call)) {
    fill_call(n, o);
  } else if (op_is(o, mpmd_return)) {
    fill_returned(n, o);
  } else if (is_meshless(o) || is_terminal(o) || op_is(o, mpmd_unassign)) {
    mesh_set s = use_of(n, o);
    unite_uses_of(n, o, &s);
    put_use(n, o, &s);
  }
}

/* Users before what they use, what is inside an op before it; not into fragments, which are
 * where they are. */
static void walk_back(infer *n, op *o) {
  if (op_is(o, mpmd_fragment)) return;
  for (size_t r = o->num_regions; r-- > 0;)
    for (block *b = o->regions[r].last; b; b = b->prev)
      for (op *i = b->last, *prev; i; i = prev) {
        prev = i->prev;
        walk_back(n, i);
      }
  arena *outer = n->a;
  n->a = ir_scratch_push(n->ctx);
  fill_op(n, o);
  ir_scratch_pop(n->ctx);
  n->a = outer;
}

bool pass_infer_use_sets(ir_module *m, arena *scratch, const pass_args *args) {
  infer n;
  (void)args;
  if (!infer_begin(&n, m, scratch)) return false;
  for (size_t i = 0; i < n.funcs.len; i++)
    if (mpmd_is_entry_point(n.funcs.data[i])) walk_back(&n, n.funcs.data[i]);
  return true;
}
