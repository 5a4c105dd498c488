/* stablehlo-aggressive-simplification: what can be seen without computing anything.
 *
 * Of the peer's patterns (openxla/stablehlo StablehloAggressiveSimplificationPatterns.td) the ones
 * that meet in practice: ops that do nothing, compositions that one op does, neutral and absorbing
 * elements, constants to the right. An op with discardable attributes is left alone, so that none
 * is lost. Folding constants is another pass. */
#include "dialect/expand.h"
#include "pass/passes.h"

static bool use_value(rewriter *r, op *o, value *v) {
  if (o->num_attrs || v->type != o->results[0].type) return false;
  rewrite_replace(r, o, &v);
  return true;
}

static op *producer(const op *o, u32 i, op_id id) {
  op *def = value_op(op_operand(o, i));
  return def && op_kind(def) == id ? def : NULL;
}

/* ---- constants ---- */

static const dense_attr *splat_of(const value *v) {
  const dense_attr *d = attr_as(dense, value_constant(v));
  return d && d->splat ? d : NULL;
}

static bool is_int(const value *v) { return type_element(v->type)->kind == TYPE_INT; }

/* Zero; of floats also the negative one, which + leaves alone as well. */
static bool is_zero(const value *v) { return splat_is(value_constant(v), 0); }

static bool is_ones(const value *v) {
  const dense_attr *d = splat_of(v);
  if (!d || !is_int(v)) return false;
  if (type_element(v->type)->width == 1) return attr_dense_int(&d->base, 0) != 0;
  for (size_t i = 0; i < d->data.len; i++)
    if ((u8)d->data.data[i] != 0xff) return false;
  return true;
}

static bool constant_right(rewriter *r, op *o) {
  value *a = op_operand(o, 0), *b = op_operand(o, 1);
  if (!value_constant(a) || value_constant(b)) return false;
  op_set_operand(o, 0, b);
  op_set_operand(o, 1, a);
  rewrite_modified(r, o);
  return true;
}

static bool right_zero(rewriter *r, op *o) { /* x + 0, x - 0, x | 0 */
  return is_zero(op_operand(o, 1)) && use_value(r, o, op_operand(o, 0));
}
static bool right_one(rewriter *r, op *o) { /* of a complex infinity 1 makes NaN */
  value *b = op_operand(o, 1);
  return type_element(b->type)->kind != TYPE_COMPLEX && splat_is(value_constant(b), 1) &&
         use_value(r, o, op_operand(o, 0));
}
static bool right_ones(rewriter *r, op *o) { /* x & ~0 */
  return is_ones(op_operand(o, 1)) && use_value(r, o, op_operand(o, 0));
}
static bool absorbed_by_zero(rewriter *r, op *o) { /* x & 0, x * 0 */
  value *b = op_operand(o, 1);
  return is_int(b) && is_zero(b) && use_value(r, o, b);
}
static bool absorbed_by_ones(rewriter *r, op *o) { /* x | ~0 */
  return is_ones(op_operand(o, 1)) && use_value(r, o, op_operand(o, 1));
}

static bool equal_choices(rewriter *r, op *o) {
  value *a = op_operand(o, 1);
  return a == op_operand(o, 2) && use_value(r, o, a);
}

/* ---- shapes ---- */

static bool is_iota(i64s l) {
  for (size_t i = 0; i < l.len; i++)
    if (l.data[i] != (i64)i) return false;
  return true;
}

static bool is_sorted(i64s l) {
  for (size_t i = 1; i < l.len; i++)
    if (l.data[i - 1] > l.data[i]) return false;
  return true;
}

static bool all_zero(i64s l) {
  for (size_t i = 0; i < l.len; i++)
    if (l.data[i]) return false;
  return true;
}

static bool same_type(rewriter *r, op *o) { return use_value(r, o, op_operand(o, 0)); }

static bool same_count(const op *o) {
  i64 a, b;
  return type_num_elements(op_operand(o, 0)->type, &a) &&
         type_num_elements(o->results[0].type, &b) && a == b;
}

/* Patterns that lose attributes do not apply: see the head of the file. */
static bool replace_by(rewriter *r, op *o, op_id id, value *x, str slot, i64s list) {
  if (o->num_attrs) return false;
  const type *t = o->results[0].type;
  op *n = rewrite_create(r, o, id, o->loc, &x, 1, &t, 1);
  ir_module *m = rewriter_module(r);
  if (slot.len) op_set_named(n, slot, attr_i64_array(m->ctx, list));
  value *v = op_result(n, 0);
  rewrite_replace(r, o, &v);
  return true;
}

/* outer[inner[i]] */
static i64s compose(rewriter *r, i64s outer, i64s inner) {
  i64 *out = ARENA_ARRAY(rewriter_scratch(r), i64, inner.len + 1);
  for (size_t i = 0; i < inner.len; i++) out[i] = outer.data[inner.data[i]];
  return (i64s){out, inner.len};
}

static bool broadcast_of_nothing(rewriter *r, op *o) {
  struct broadcast_in_dim_attrs v;
  return view_broadcast_in_dim(o, &v) && is_iota(v.broadcast_dimensions) && same_type(r, o);
}

static bool broadcast_is_reshape(rewriter *r, op *o) {
  struct broadcast_in_dim_attrs v;
  return view_broadcast_in_dim(o, &v) && is_sorted(v.broadcast_dimensions) && same_count(o) &&
         replace_by(r, o, OP_reshape, op_operand(o, 0), (str){0}, (i64s){0});
}

static bool broadcast_of_broadcast(rewriter *r, op *o) {
  op *in = producer(o, 0, OP_broadcast_in_dim);
  struct broadcast_in_dim_attrs a, b;
  if (!in || !view_broadcast_in_dim(o, &a) || !view_broadcast_in_dim(in, &b)) return false;
  if (is_sorted(b.broadcast_dimensions) && same_count(in)) return false;
  return replace_by(r, o, OP_broadcast_in_dim, op_operand(in, 0), SLOT_NAME(broadcast_dimensions),
                    compose(r, a.broadcast_dimensions, b.broadcast_dimensions));
}

static bool reshape_of_reshape(rewriter *r, op *o) {
  op *in = producer(o, 0, OP_reshape);
  return in && replace_by(r, o, OP_reshape, op_operand(in, 0), (str){0}, (i64s){0});
}

static bool transpose_of_nothing(rewriter *r, op *o) {
  struct transpose_attrs v;
  return view_transpose(o, &v) && is_iota(v.permutation) && same_type(r, o);
}

static bool transpose_of_transpose(rewriter *r, op *o) {
  op *in = producer(o, 0, OP_transpose);
  struct transpose_attrs a, b;
  return in && view_transpose(o, &a) && view_transpose(in, &b) &&
         replace_by(r, o, OP_transpose, op_operand(in, 0), SLOT_NAME(permutation),
                    compose(r, b.permutation, a.permutation));
}

static bool reverse_of_nothing(rewriter *r, op *o) {
  struct reverse_attrs v;
  return view_reverse(o, &v) && !v.dimensions.len && same_type(r, o);
}

static bool pad_of_nothing(rewriter *r, op *o) {
  struct pad_attrs v;
  return view_pad(o, &v) && all_zero(v.edge_padding_low) && all_zero(v.edge_padding_high) &&
         all_zero(v.interior_padding) && same_type(r, o);
}

/* All of a static operand: what of it has the same type can only be that, from 0 by 1. */
static bool slice_of_all(rewriter *r, op *o) {
  return type_is_static(o->results[0].type) && same_type(r, o);
}

static bool single_concatenate(rewriter *r, op *o) {
  return o->num_operands == 1 && same_type(r, o);
}

static bool broadcast_to_own_shape(rewriter *r, op *o) {
  struct dynamic_broadcast_in_dim_attrs v;
  op *shape = producer(o, 1, OP_shape_of);
  return shape && op_operand(shape, 0) == op_operand(o, 0) &&
         view_dynamic_broadcast_in_dim(o, &v) && is_iota(v.broadcast_dimensions) && same_type(r, o);
}

/* ---- complex numbers ---- */

static bool part_of_complex(rewriter *r, op *o) {
  op *in = producer(o, 0, OP_complex);
  return in && use_value(r, o, op_operand(in, op_is(o, imag) ? 1 : 0));
}

static bool complex_of_parts(rewriter *r, op *o) {
  op *re = producer(o, 0, OP_real), *im = producer(o, 1, OP_imag);
  return re && im && op_operand(re, 0) == op_operand(im, 0) && use_value(r, o, op_operand(re, 0));
}

static const rewrite_pattern patterns[] = {
    {OP_add, 2, constant_right, "AddOp_CanonicalizeConstantToRhs", NULL},
    {OP_add, 2, right_zero, "AddOp_RemoveNoop", NULL},
    {OP_and, 2, constant_right, "AndOp_CanonicalizeConstantToRhs", NULL},
    {OP_and, 2, absorbed_by_zero, "AndOp_FoldToZero", NULL},
    {OP_and, 2, right_ones, "AndOp_RemoveNoop", NULL},
    {OP_or, 2, constant_right, "OrOp_CanonicalizeConstantToRhs", NULL},
    {OP_or, 2, absorbed_by_ones, "OrOp_FoldToOne", NULL},
    {OP_or, 2, right_zero, "OrOp_RemoveNoop", NULL},
    {OP_xor, 2, constant_right, "XorOp_CanonicalizeConstantToRhs", NULL},
    {OP_maximum, 2, constant_right, "MaxOp_CanonicalizeConstantToRhs", NULL},
    {OP_minimum, 2, constant_right, "MinOp_CanonicalizeConstantToRhs", NULL},
    {OP_multiply, 2, constant_right, "MulOp_CanonicalizeConstantToRhs", NULL},
    {OP_multiply, 2, absorbed_by_zero, "MulOp_FoldToZero", NULL},
    {OP_multiply, 2, right_one, "MulOp_RemoveNoop", NULL},
    {OP_subtract, 2, right_zero, "SubtractOp_RemoveNoop", NULL},
    {OP_select, 1, equal_choices, "SelectOp_SameChoices", NULL},
    {OP_convert, 1, same_type, "ConvertOp_RemoveNoop", NULL},
    {OP_broadcast_in_dim, 1, broadcast_of_nothing, "BroadcastInDimOp_RemoveNoop", NULL},
    {OP_broadcast_in_dim, 2, broadcast_of_broadcast, "BroadcastInDimOp_MergeComposition", NULL},
    {OP_broadcast_in_dim, 2, broadcast_is_reshape, "BroadcastInDimOp_ReplaceWithReshape", NULL},
    {OP_reshape, 1, same_type, "ReshapeOp_RemoveNoop", NULL},
    {OP_reshape, 2, reshape_of_reshape, "ReshapeOp_MergeComposition", NULL},
    {OP_transpose, 1, transpose_of_nothing, "TransposeOp_RemoveNoop", NULL},
    {OP_transpose, 2, transpose_of_transpose, "TransposeOp_MergeComposition", NULL},
    {OP_reverse, 1, reverse_of_nothing, "ReverseOp_EmptyDim", NULL},
    {OP_pad, 1, pad_of_nothing, "PadOp_RemoveNoop", NULL},
    {OP_slice, 1, slice_of_all, "SliceOp_RemoveNoop", NULL},
    {OP_concatenate, 1, single_concatenate, "ConcatenateOp_RemoveNoop", NULL},
    {OP_dynamic_broadcast_in_dim, 2, broadcast_to_own_shape, "DynamicBroadcastInDimOp_RemoveNoop",
     NULL},
    {OP_real, 2, part_of_complex, "RealOp_CancelOutComposedOps", NULL},
    {OP_imag, 2, part_of_complex, "ImagOp_CancelOutComposedOps", NULL},
    {OP_complex, 3, complex_of_parts, "ComplexOp_CancelOutComposedOps", NULL},
    {0},
};

/* ---- stablehlo-target-independent-optimization: folds as well ---- */

static bool constant_choice(rewriter *r, op *o) {
  const dense_attr *d = splat_of(op_operand(o, 0));
  return d && use_value(r, o, op_operand(o, attr_dense_int(&d->base, 0) ? 1 : 2));
}

static const rewrite_pattern folds[] = {
    {OP_select, 1, constant_choice, "FoldSelectOpPattern", NULL},
    {0},
};

bool pass_optimize(ir_module *m, arena *scratch, const pass_args *args) {
  rewrite_pattern both[COUNT(patterns) + COUNT(folds) - 1];
  memcpy(both, folds, sizeof folds);
  memcpy(both + COUNT(folds) - 1, patterns, sizeof patterns);
  rewrite_functions(m, scratch, args, both);
  return true;
}

bool pass_simplify(ir_module *m, arena *scratch, const pass_args *args) {
  rewrite_functions(m, scratch, args, patterns);
  return true;
}
