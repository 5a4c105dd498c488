/* What runs before a schedule: transfers right behind what they transfer, and a warning where a
 * mesh does not have the fragments that schedules order. Source: openxla/shardy,
 * shardy/dialect/mpmd/transforms/common/scheduler_preprocess.cc. */
#include "mpmd/optimize/passes.h"
#include "mpmd/optimize/schedule.h"
#include "shard/traits.h"

bool pass_mpmd_move_transfers(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0}, transfers = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    ops_of_kind(scratch, functions.data[i], OP_mpmd_transfer, &transfers);
  for (size_t i = 0; i < transfers.len; i++) {
    op *o = transfers.data[i];
    const value *v = op_operand(o, 0);
    const op *by = value_op(v);
    block *b = by ? by->parent : v->def.block;
    op *before = by ? by->next : b->first;
    if (before == o) continue;
    op_unlink(o);
    op_insert(o, b, before);
  }
  return true;
}

/* Counted from 0 or from 1. */
static i64 count_calls(arena *a, op *func) {
  op_list fragments = {0};
  i64 most = 0;
  bool from_zero = false;
  ops_of_kind(a, func, OP_mpmd_fragment, &fragments);
  for (size_t i = 0; i < fragments.len; i++) {
    i64 n = mpmd_call_counter(fragments.data[i]);
    from_zero |= n == 0;
    if (n > most) most = n;
  }
  return most + from_zero;
}

static void check_mesh(ir_module *m, const op *func, str mesh, i64 calls) {
  static const char *const names[] = {"forward", "backward"};
  i64 count[2] = {0};
  for (const op *o = op_body(func, 0)->first; o; o = o->next)
    if (op_is(o, mpmd_fragment) && fragment_is_unit(o) && str_eq(fragment_mesh(o), mesh))
      count[fragment_is_backward(o)]++;
  for (int i = 0; i < 2; i++)
    if (count[i] != calls)
      op_warn(m->ctx, func,
              "Number of %s scheduling units in mesh " STR_FMT
              " does not match expected number for %lld microbatches. Got %lld.",
              names[i], STR_ARG(mesh), (long long)calls, (long long)count[i]);
}

/* Functions that no call counter is in, as those that only initialize, are not asked. */
bool pass_mpmd_verify_units(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++) {
    op *f = functions.data[i];
    i64 calls = op_body(f, 0) ? count_calls(scratch, f) : 0;
    mesh_list meshes = mpmd_scheduled_meshes(scratch, f);
    for (size_t k = 0; calls && k < meshes.len; k++) check_mesh(m, f, meshes.data[k], calls);
  }
  return true;
}
