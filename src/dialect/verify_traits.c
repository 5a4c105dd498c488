/* The traits that the peers give an op beside those of its row, in the words of each.
 *
 * ODS has several traits for "the same type" that differ in what counts as the same and in the
 * message: SameOperandsAndResultElementType, HLO_CompatibleOperandsAndResultElementType,
 * AllElementTypesMatch<[...]>, AllShapesMatch. verify.c looks here after constraints have passed
 * and before the op's own check. */
#include "dialect/verify.h"

/* SameOperandsAndResultElementType */
static bool same_elements(checker *k, const op *o) {
  if (!o->num_operands) return op_error(k->c, o, "expected 1 or more operands, but found 0");
  const type *e = type_element(value_type(o, 0));
  for (u32 i = 1; i < o->num_operands + o->num_results; i++)
    if (type_element(value_type(o, i)) != e)
      return op_error(k->c, o, "requires the same element type for all operands and results");
  return true;
}

static bool compatible_elements(checker *k, const op *o) {
  const type *e = type_element(value_type(o, 0));
  for (u32 i = 1; i < o->num_operands + o->num_results; i++)
    if (!elements_agree(type_element(value_type(o, i)), e))
      return op_error(k->c, o, "requires compatible element types for all operands and results");
  return true;
}

/* AllElementTypesMatch: `names` is what its list says. */
static bool equal_elements(checker *k, const op *o, const type *a, const type *b,
                           const char *names) {
  if (a->elem == b->elem) return true;
  return op_error(k->c, o, "failed to verify that all of {%s} have same element type", names);
}

static bool equal_sizes(checker *k, const op *o, i64s a, i64s b, i64s c, const char *names) {
  if (a.len == b.len && b.len == c.len) return true;
  return op_error(k->c, o, "failed to verify that all of {%s} have same size", names);
}

static bool equal_types(checker *k, const op *o, u32 from, const char *names) {
  if (in_type(o, from) == in_type(o, from + 1) && in_type(o, from) == in_type(o, from + 2))
    return true;
  return op_error(k->c, o, "failed to verify that all of {%s} have same type", names);
}

/* For ops whose rows say SAME_TYPE to others (speculation, propagation) but that the verifier
 * checks in other ways. */
static bool no_traits(checker *k, const op *o) { return (void)k, (void)o, true; }

static bool elementwise_types(checker *k, const op *o) {
  return check_elementwise(k, o) && check_same_type(k, o);
}

static bool compare_traits(checker *k, const op *o) { /* compare_c1 */
  if (!check_elementwise(k, o)) return false;
  if (!elements_agree(in_type(o, 0)->elem, in_type(o, 1)->elem))
    return op_error(k->c, o, "requires compatible element types for all operands");
  return check_same_shape(k, o);
}

static bool complex_traits(checker *k, const op *o) { /* complex_c1 */
  if (in_type(o, 0)->elem != in_type(o, 1)->elem)
    return op_error(k->c, o, "requires the same element type for all operands");
  return check_same_shape(k, o);
}

static bool slice_traits(checker *k, const op *o) {
  struct slice_attrs a;
  return same_elements(k, o) && view_slice(o, &a) &&
         equal_sizes(k, o, a.start_indices, a.limit_indices, a.strides,
                     "start_indices, limit_indices, strides");
}

static bool pad_traits(checker *k, const op *o) {
  struct pad_attrs a;
  return same_elements(k, o) && view_pad(o, &a) &&
         equal_sizes(k, o, a.edge_padding_low, a.edge_padding_high, a.interior_padding,
                     "edge_padding_low, edge_padding_high, interior_padding");
}

static bool operand_result(checker *k, const op *o) {
  return equal_elements(k, o, in_type(o, 0), out_type(o, 0), "operand, result");
}

static bool update_traits(checker *k, const op *o) { /* dynamic_update_slice_c1, c2 */
  static const char names[] = "operand, update, result";
  return equal_elements(k, o, in_type(o, 0), in_type(o, 1), names) &&
         equal_elements(k, o, in_type(o, 0), out_type(o, 0), names);
}

static bool rng_traits(checker *k, const op *o) {
  return equal_elements(k, o, in_type(o, 0), in_type(o, 1), "a, b, result") &&
         equal_elements(k, o, in_type(o, 0), out_type(o, 0), "a, b, result");
}

static bool real_dynamic_slice_traits(checker *k, const op *o) {
  return operand_result(k, o) && equal_types(k, o, 1, "start_indices, limit_indices, strides");
}

static bool dynamic_pad_traits(checker *k, const op *o) {
  static const char names[] = "operand, padding_value, result";
  if (!equal_elements(k, o, in_type(o, 0), in_type(o, 1), names) ||
      !equal_elements(k, o, in_type(o, 0), out_type(o, 0), names) ||
      !equal_types(k, o, 2, "edge_padding_low, edge_padding_high, interior_padding"))
    return false;
  if (rank_of(in_type(o, 0)) == rank_of(out_type(o, 0))) return true;
  return op_error(k->c, o, "failed to verify that all of {operand, result} have same rank");
}

static bool pairwise(checker *k, const op *o, bool whole) {
  if (o->num_operands != o->num_results)
    return op_error(k->c, o, "requires the same number of operands and results");
  for (u32 i = 0; i < o->num_operands; i++)
    if (whole ? in_type(o, i) != out_type(o, i)
              : type_element(in_type(o, i)) != type_element(out_type(o, i)))
      return op_error(k->c, o, "requires the same %s for operand and result at index %u",
                      whole ? "type" : "element type", i);
  return true;
}
static bool pairwise_types(checker *k, const op *o) { return pairwise(k, o, true); }
static bool pairwise_elements(checker *k, const op *o) { return pairwise(k, o, false); }

static bool some_same_elements(checker *k, const op *o) {
  if (o->num_operands == 0) return op_error(k->c, o, "expected 1 or more operands, but found 0");
  return same_elements(k, o);
}

/* SameOperandsAndResultType: bounds as well */
static bool same_encoding(checker *k, const op *o) {
  if (!check_same_type(k, o)) return false;
  for (u32 i = 1; i < o->num_operands + o->num_results; i++)
    if (value_type(o, i)->encoding != value_type(o, 0)->encoding)
      return op_error(k->c, o, "requires the same encoding for all operands and results");
  return true;
}

verify_fn *const traits_of[OP_COUNT] = {
    [OP_sharding_constraint] = same_encoding,
    [OP_reshard] = same_encoding,
    [OP_data_flow_edge] = same_encoding,
    [OP_func_data_flow_edge] = same_encoding,
    [OP_propagation_barrier] = same_encoding,
    [OP_sdy_all_gather] = same_encoding,
    [OP_sdy_all_slice] = same_encoding,
    [OP_sdy_all_to_all] = same_encoding,
    [OP_sdy_collective_permute] = same_encoding,
    [OP_sdy_all_reduce] = same_encoding,
    [OP_sdy_reduce_scatter] = same_encoding,
    [OP_sharded_to_unreduced] = same_encoding,
    [OP_replicated_to_unreduced] = same_encoding,
    [OP_add] = no_traits,
    [OP_collective_broadcast] = no_traits,
    [OP_compare] = compare_traits,
    [OP_abs] = check_elementwise,
    [OP_cross_replica_sum] = check_same_type,
    [OP_chlo_is_inf] = check_elementwise,
    [OP_chlo_is_neg_inf] = check_elementwise,
    [OP_chlo_is_pos_inf] = check_elementwise,
    [OP_real] = check_elementwise,
    [OP_imag] = check_elementwise,
    [OP_is_finite] = check_elementwise,
    [OP_uniform_quantize] = check_elementwise,
    [OP_uniform_dequantize] = check_elementwise,
    [OP_reduce_precision] = elementwise_types,
    [OP_complex] = complex_traits,
    [OP_transpose] = compatible_elements,
    [OP_reshape] = compatible_elements,
    [OP_broadcast_in_dim] = compatible_elements,
    [OP_batch_norm_grad] = compatible_elements,
    [OP_batch_norm_inference] = compatible_elements,
    [OP_batch_norm_training] = compatible_elements,
    [OP_cholesky] = compatible_elements,
    [OP_clamp] = compatible_elements,
    [OP_triangular_solve] = compatible_elements,
    [OP_slice] = slice_traits,
    [OP_pad] = pad_traits,
    [OP_concatenate] = some_same_elements,
    [OP_reverse] = same_elements,
    [OP_broadcast] = same_elements,
    [OP_collective_permute] = same_elements,
    [OP_gather] = operand_result,
    [OP_dynamic_slice] = operand_result,
    [OP_dynamic_update_slice] = update_traits,
    [OP_rng] = rng_traits,
    [OP_real_dynamic_slice] = real_dynamic_slice_traits,
    [OP_dynamic_pad] = dynamic_pad_traits,
    [OP_all_gather] = pairwise_elements,
    [OP_all_to_all] = pairwise_elements,
    [OP_optimization_barrier] = pairwise_types,
    [OP_sort] = check_same_shape,
    [OP_map] = check_same_shape,
};
