/* Folds and patterns of builtin, stablehlo and chlo: what their canonicalizer knows. */
#include "dialect/dialect.h"
#include "pass/rewrite.h"

typedef fold_kind fold_fn(ir_ctx *c, op *o, fold_result *out);

static bool same_types(const op *a, const op *b, bool outer) {
  if (a->num_operands != b->num_results) return false;
  for (u32 i = 0; i < a->num_operands; i++) {
    const type *t = b->results[i].type;
    if (op_operand(a, i)->type != t) return false;
    if (outer && op_operand(a, i) != op_result(b, i)) return false;
  }
  return true;
}

/* A cast to the same types, and a cast back of all that a cast gave. */
static fold_kind fold_cast(ir_ctx *c, op *o, fold_result *out) {
  (void)c;
  const op *from = o;
  if (!same_types(o, o, false)) {
    from = o->num_operands ? value_op(op_operand(o, 0)) : NULL;
    if (!from || !op_is(from, cast) || from->num_results != o->num_operands) return FOLD_NOT;
    if (!same_types(o, from, true) || !same_types(from, o, false)) return FOLD_NOT;
  }
  for (u32 i = 0; i < o->num_results; i++) out[i] = (fold_result){op_operand(from, i), NULL};
  return FOLD_REPLACED;
}

/* A splat in the shape of the operand. */
static fold_kind fold_constant_like(ir_ctx *c, op *o, fold_result *out) {
  const type *t = op_operand(o, 0)->type;
  const attr *v = op_attr(o, SLOT_NAME(value)), *k = NULL;
  if (!type_is_ranked(t) || !type_is_static(t)) return FOLD_NOT;
  const integer_attr *i = attr_as(integer, v);
  const float_attr *f = attr_as(float, v);
  size_t size = i ? type_storage(i->type) : f ? type_storage(f->type) : 0;
  if (!size || size > 8) return FOLD_NOT;
  i64 bits = i ? i->value : f->bits;
  const type *shape = type_tensor(c, t->dims, i ? i->type : f->type, NULL);
  k = attr_dense(c, shape, (str){(const char *)&bits, size}, true, false); /* little-endian */
  out[0] = (fold_result){NULL, k};
  return FOLD_REPLACED;
}

/* Constants behind the rest, both in their order. */
static fold_kind fold_commutative(ir_ctx *c, op *o, fold_result *out) {
  (void)c, (void)out;
  if (o->num_operands != 2) return FOLD_NOT;
  value *a = op_operand(o, 0), *b = op_operand(o, 1);
  if (!value_constant(a) || value_constant(b)) return FOLD_NOT;
  op_set_operand(o, 0, b);
  op_set_operand(o, 1, a);
  return FOLD_IN_PLACE;
}

/* HLO's own commutativity moves nothing; chlo has MLIR's. */
static const bool commutes[OP_COUNT] = {
    [OP_chlo_broadcast_add] = true,     [OP_chlo_broadcast_maximum] = true,
    [OP_chlo_broadcast_minimum] = true, [OP_chlo_broadcast_multiply] = true,
    [OP_chlo_broadcast_and] = true,     [OP_chlo_broadcast_or] = true,
    [OP_chlo_broadcast_xor] = true,     [OP_chlo_mulhi] = true,
};
bool op_commutes(const op *o) { return op_kind(o) < OP_COUNT && commutes[op_kind(o)]; }

static fold_fn *const fold_of[OP_COUNT] = {
    [OP_cast] = fold_cast,
    [OP_chlo_constant_like] = fold_constant_like,
};

fold_kind op_fold(ir_ctx *c, op *o, fold_result *out) {
  fold_fn *fn = op_kind(o) < OP_COUNT ? fold_of[op_kind(o)] : NULL;
  if (op_commutes(o)) return fold_commutative(c, o, out);
  return fn ? fn(c, o, out) : FOLD_NOT;
}

/* A case whose index is known: the branch moves in front of it. */
static bool known_case(rewriter *r, op *o) {
  const attr *index = value_constant(op_operand(o, 0));
  if (!attr_is(dense, index)) return false;
  i64 k = attr_dense_int(index, 0);
  if (k < 0 || k >= o->num_regions) return false;
  block *b = o->regions[k].first;
  op *end = b->last;
  for (op *i; (i = b->first);) {
    op_unlink(i);
    op_insert(i, o->parent, o);
    rewrite_inserted(r, i);
  }
  value **with = ARENA_ARRAY(rewriter_scratch(r), value *, o->num_results + 1u);
  for (u32 i = 0; i < o->num_results; i++) with[i] = op_operand(end, i);
  rewrite_replace(r, o, with);
  rewrite_erase(r, end);
  return true;
}

/* A call of a function that is known. */
static bool known_callee(rewriter *r, op *o) {
  const attr *callee = value_constant(op_operand(o, 0));
  if (!attr_is(symbol_ref, callee)) return false;
  u32 in = o->num_operands - 1u, out = o->num_results;
  arena *a = rewriter_scratch(r);
  value **v = ARENA_ARRAY(a, value *, in + out + 1u);
  const type **t = ARENA_ARRAY(a, const type *, out + 1u);
  for (u32 i = 0; i < in; i++) v[i] = op_operand(o, i + 1);
  for (u32 i = 0; i < out; i++) t[i] = o->results[i].type;
  op *call = rewrite_create(r, o, OP_call, o->loc, v, in, t, out);
  op_set(call, call, callee, callee);
  for (u32 i = 0; i < out; i++) v[i] = op_result(call, i);
  rewrite_replace(r, o, v);
  return true;
}

const rewrite_pattern rewrite_stablehlo[] = {
    {OP_call_indirect, 1, known_callee, "CallIndirectOp", NULL},
    {OP_case, 1, known_case, "FoldConstantCaseOp", NULL},
    {0},
};
