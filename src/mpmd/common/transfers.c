/* Transfers that need not be, constants instead of them, and where they stand. */
#include "mpmd/common/passes.h"
#include "mpmd/util.h"

/* ---- round trips ---- */

/* The nearest value of o's type on the way that o's tensor came; NULL: there is none, or some of
 * the way is not in memory of the devices. */
static value *same_on_way(const op *o) {
  for (const op *t = o; t && op_is(t, mpmd_transfer); t = value_op(op_operand(t, 0))) {
    value *v = op_operand(t, 0);
    if (v->type->space && !str_is(mpmd_memory_kind(v->type), MPMD_DEVICE)) return NULL;
    if (v->type == o->results[0].type) return v;
  }
  return NULL;
}

bool pass_mpmd_remove_transfer_cycles(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    for (op *o = op_body(functions.data[i], 0)->last, *prev; o; o = prev) {
      prev = o->prev;
      value *v = op_is(o, mpmd_transfer) ? same_on_way(o) : NULL;
      if (!v) continue;
      value_replace(op_result(o, 0), v);
      op_erase(o);
    }
  return true;
}

/* ---- constants ---- */

/* The op in a fragment's body that computes v, by whatever transfers it came; NULL: none. */
static const op *computed_by(const value *v) {
  const op *o = value_op(v);
  while (o && op_is(o, mpmd_transfer)) v = op_operand(o, 0), o = value_op(v);
  return mpmd_is_fragment(o) ? value_op(op_operand(op_terminator(op_body(o, 0)), v->index)) : NULL;
}

static void copy_constants(ir_module *m, arena *a, op *o) {
  block *b = op_body(o, 0);
  for (u32 i = 0; i < b->num_args && i < o->num_operands; i++) {
    const op *by = computed_by(op_operand(o, i));
    if (!by || !op_has(by, CONSTANT) || by->num_results != 1) continue;
    op *copy = op_clone(m, by, ir_map_create(a));
    op_insert(copy, b, b->first);
    value_replace(b->args[i], op_result(copy, 0));
  }
}

bool pass_mpmd_copy_constants(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    for (op *o = op_body(functions.data[i], 0)->last; o; o = o->prev)
      if (mpmd_is_fragment(o)) copy_constants(m, scratch, o);
  return true;
}

/* ---- places ---- */

bool pass_mpmd_move_transfers_to_producer(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0}, transfers = {0};
  mpmd_distributed(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    ops_of_kind(scratch, functions.data[i], OP_mpmd_transfer, &transfers);
  for (size_t i = 0; i < transfers.len; i++) mpmd_move_to_producer(NULL, transfers.data[i]);
  return true;
}
