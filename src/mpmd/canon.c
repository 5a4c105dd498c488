/* Patterns of `canonicalize` for ops of mpmd. Source: openxla/shardy,
 * shardy/dialect/mpmd/ir/canonicalization.td and dialect.cc. */
#include "dialect/mpmd.h"
#include "mpmd/mpmd.h"
#include "shard/canon.h"

/* The op that defines operand 0, if it is of this kind; else NULL. */
static op *defined_by(const op *o, op_id id) {
  op *by = value_op(op_operand(o, 0));
  return by && op_kind(by) == id ? by : NULL;
}

static bool identity_transfer(rewriter *r, op *o) {
  value *v = op_operand(o, 0);
  if (v->type != o->results[0].type) return false;
  rewrite_replace(r, o, &v);
  return true;
}

/* Two on one mesh are one from the first's operand to the second's result. */
static bool transfer_of_transfer(rewriter *r, op *o) {
  op *inner = defined_by(o, OP_mpmd_transfer);
  if (!inner) return false;
  value *v = op_operand(inner, 0), *mid = op_result(inner, 0);
  const type *to = o->results[0].type;
  if (!str_eq(v->type->text, mid->type->text) || !str_eq(mid->type->text, to->text)) return false;
  op *n = rewrite_create(r, o, OP_mpmd_transfer, o->loc, &v, 1, &to, 1);
  value *out = op_result(n, 0);
  rewrite_replace(r, o, &out);
  return true;
}

static bool broadcast_of_broadcast(rewriter *r, op *o) {
  op *inner = defined_by(o, OP_mpmd_broadcast);
  if (!inner) return false;
  op_set_operand(o, 0, op_operand(inner, 0));
  rewrite_modified(r, o);
  return true;
}

static i64 reduction_of(const op *o) {
  const mpmd_reduction_attr *a = attr_as(mpmd_reduction, op_get(o, mpmd_reduce, reduction));
  return a ? a->value : 0;
}

/* Of what is already reduced in the same way, or without a reduction of its own. */
static bool reduce_of_reduce(rewriter *r, op *o) {
  op *inner = o->num_operands ? defined_by(o, OP_mpmd_reduce) : NULL;
  if (!inner || !o->results[0].uses) return false;
  if (reduction_of(o) && reduction_of(o) != reduction_of(inner)) return false;
  rewrite_replace_value(r, op_result(o, 0), op_result(inner, 0));
  return true;
}

/* What goes through a fragment unchanged is used from where it came. */
static bool pass_through(rewriter *r, op *o) {
  const block *b = op_body(o, 0);
  const op *ret = op_terminator(b);
  bool changed = false;
  for (u32 i = 0; i < b->num_args; i++) {
    const use *u = b->args[i]->uses;
    while (u && u->owner != ret) u = u->next;
    if (!u) continue;
    value *out = op_result(o, (size_t)(u - ret->operands));
    if (!out->uses || op_operand(o, i)->type != out->type) continue;
    rewrite_replace_value(r, out, op_operand(o, i));
    changed = true;
  }
  return changed;
}

static const rewrite_pattern canon_mpmd[] = {
    {OP_mpmd_transfer, 1, identity_transfer, "mpmd-identity-transfer", "mpmd"},
    {OP_mpmd_transfer, 2, transfer_of_transfer, "mpmd-intra-mesh-transfer-of-transfer", "mpmd"},
    {OP_mpmd_broadcast, 2, broadcast_of_broadcast, "mpmd-broadcast-of-broadcast", "mpmd"},
    {OP_mpmd_reduce, 1, reduce_of_reduce, "mpmd-reduce-of-reduce", "mpmd"},
    {OP_mpmd_fragment, 1, pass_through, "mpmd-fragment-pass-through", "mpmd"},
    {0},
};

const rewrite_pattern *const mpmd_patterns[MPMD_PATTERNS] = {canon_collectives, canon_regions,
                                                             canon_mpmd};
