/* shape.*, tensor.*, arith.*: what shapes at run time are made of. Source: MLIR's dialects. */
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
  const dense_attr *d = attr_as(dense, op_attr(o, SLOT_NAME(shape)));
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

/* ---- tensor, arith ---- */

bool verify_tensor_dim(checker *k, const op *o) {
  const type *t = in_type(o, 0);
  return t->kind == TYPE_UNRANKED || (t->kind == TYPE_TENSOR && t->dims.len) ||
         op_error(k->c, o, "operand #0 must be non-0-ranked or unranked tensor, but got '%s'",
                  show(k, t));
}

bool verify_from_elements(checker *k, const op *o) {
  const type *t = out_type(o, 0);
  i64 n;
  bool ok = type_num_elements(t, &n) && n == (i64)o->num_operands;
  for (u32 i = 0; ok && i < o->num_operands; i++) ok = in_type(o, i) == t->elem;
  return ok || op_error(k->c, o, "failed to verify that operand types match result element type");
}

bool verify_tensor_extract(checker *k, const op *o) {
  const type *t = in_type(o, 0);
  if (out_type(o, 0) != t->elem)
    return op_error(k->c, o, "failed to verify that result type matches element type of tensor");
  return t->dims.len == o->num_operands - 1 ||
         op_error(k->c, o, "incorrect number of indices for extract_element");
}

/* Sets of flags are kept as text. */
static bool check_flags(checker *k, const op *o) {
  const attr *flags = o->info->num_slots ? o->slots[0] : NULL;
  const opaque_attr *a = attr_as(opaque, flags);
  bool fast = op_is(o, addf);
  if (!flags || attr_is(unit, flags)) return true;
  if (a && str_is(a->dialect, "arith") &&
      str_starts(a->text, fast ? STR("fastmath<") : STR("overflow<")))
    return true;
  return op_error(k->c, o, "attribute '%s' failed to satisfy constraint: %s",
                  o->info->slots[0].name,
                  fast ? "Floating point fast math flags" : "Integer overflow arith flags");
}

bool verify_arith(checker *k, const op *o) {
  const type *t = in_type(o, 0);
  if (!check_flags(k, o)) return false;
  return (types_agree(t, in_type(o, 1)) && types_agree(t, out_type(o, 0))) ||
         op_error(k->c, o, "requires the same type for all operands and results");
}

bool verify_cmpi(checker *k, const op *o) {
  const type *t = in_type(o, 0), *flags = out_type(o, 0);
  i64 which;
  if (t != in_type(o, 1)) return op_error(k->c, o, "requires all operands to have the same type");
  if (!attr_get_i64(o->slots[0], &which) || which < 0 || which > 9)
    return op_error(k->c, o,
                    "attribute 'predicate' failed to satisfy constraint: allowed 64-bit signless "
                    "integer cases: 0, 1, 2, 3, 4, 5, 6, 7, 8, 9");
  return (t->kind == flags->kind && i64s_eq(t->dims, flags->dims)) ||
         (t->kind == TYPE_INDEX && flags->kind == TYPE_INT) ||
         op_error(k->c, o,
                  "failed to verify that result type has i1 element type and same shape as "
                  "operands");
}

bool verify_arith_select(checker *k, const op *o) {
  const type *flag = in_type(o, 0), *t = out_type(o, 0);
  if (in_type(o, 1) != t || in_type(o, 2) != t)
    return op_error(k->c, o,
                    "failed to verify that all of {true_value, false_value, result} have same "
                    "type");
  if (flag->kind == TYPE_INT || (flag->kind == t->kind && i64s_eq(flag->dims, t->dims)))
    return true;
  return op_error(k->c, o, "failed to verify that condition is signless i1 or has matching shape");
}
