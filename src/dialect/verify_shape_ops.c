/* shape.*: what chlo's decompositions make for dynamic shapes. Source: MLIR's shape dialect. */
#include "dialect/verify.h"

static bool is_extents(const type *t) {
  return type_is_ranked(t) && t->dims.len == 1 && t->elem->kind == TYPE_INDEX;
}
static bool is_opaque(const type *t, const char *name) {
  return t->kind == TYPE_OPAQUE && str_is(t->text, name);
}
static bool is_shape(const type *t) { return is_extents(t) || is_opaque(t, "shape.shape"); }

static bool check_shapes(checker *k, const op *o, u32 at_least) {
  if (o->num_operands < at_least)
    return op_error(k->c, o, "required at least %u input shapes", at_least);
  for (u32 i = 0; i < o->num_operands; i++)
    if (!is_shape(in_type(o, i)))
      return op_error(k->c, o,
                      "operand #%u must be variadic of shape or extent tensor, but got '%s'", i,
                      show(k, in_type(o, i)));
  return true;
}

static bool check_extents_result(checker *k, const op *o, i64 rank) {
  const type *t = out_type(o, 0);
  if (!is_shape(t))
    return op_error(k->c, o, "result #0 must be shape or extent tensor, but got '%s'", show(k, t));
  if (!is_extents(t) || rank == DYNAMIC || t->dims.data[0] == DYNAMIC || t->dims.data[0] == rank)
    return true;
  return op_error(k->c, o, "has %lld extents as its result, but %lld in its operand",
                  (long long)t->dims.data[0], (long long)rank);
}

bool verify_shape_of(checker *k, const op *o) {
  const type *t = in_type(o, 0);
  return check_extents_result(k, o, type_is_ranked(t) ? (i64)t->dims.len : DYNAMIC);
}

bool verify_const_shape(checker *k, const op *o) {
  const dense_attr *d = attr_as(dense, op_attr(o, STR("shape")));
  if (!d || !is_extents(d->type))
    return op_error(k->c, o, "attribute 'shape' failed to satisfy constraint: index elements");
  return check_extents_result(k, o, d->type->dims.data[0]);
}

bool verify_cstr_broadcastable(checker *k, const op *o) {
  if (!check_shapes(k, o, 2)) return false;
  if (is_opaque(out_type(o, 0), "shape.witness")) return true;
  return op_error(k->c, o, "result #0 must be witness, but got '%s'", show(k, out_type(o, 0)));
}

bool verify_shape_broadcast(checker *k, const op *o) {
  return check_shapes(k, o, 0) && check_extents_result(k, o, DYNAMIC);
}

bool verify_assuming(checker *k, const op *o) {
  const block *b = op_body(o, 0);
  if (!is_opaque(in_type(o, 0), "shape.witness"))
    return op_error(k->c, o, "operand #0 must be witness, but got '%s'", show(k, in_type(o, 0)));
  if (!b || !b->last || !op_is(b->last, assuming_yield) || b->last->num_operands != o->num_results)
    return op_error(k->c, o, "must yield as many values as it has results");
  for (u32 i = 0; i < o->num_results; i++)
    if (in_type(b->last, i) != out_type(o, i))
      return op_error(k->c, o, "yields '%s' for its result #%u of type '%s'",
                      show(k, in_type(b->last, i)), i, show(k, out_type(o, i)));
  return true;
}

bool verify_assuming_yield(checker *k, const op *o) {
  const op *parent = op_parent(o);
  return (parent && op_is(parent, assuming)) ||
         op_error(k->c, o, "expects parent op 'shape.assuming'");
}
