/* Which op may run where the program might not have: a rule an op.
 *
 * MLIR's ConditionallySpeculatable and the traits of StablehloOps.td
 * (SpeculatableIfStaticDimInOutputIsStaticInInput, SpeculatableIfAllInputsStatic, ...) as
 * functions. Passes that move ops out of regions ask, on verified modules; whether an op has
 * effects is another question (effects.h). */
#include "dialect/speculate.h"
#include "dialect/verify.h"

typedef bool speculate_fn(const op *o);

static bool dynamic(const type *t, i64 d) { return t->dims.data[d] == DYNAMIC; }

/* Where the result says a size, the input must have said it: else the run checks that they agree,
 * and that check may fail (a mismatch of shapes is undefined behaviour in spec.md). */
static bool follows(const type *in, const type *out) {
  for (i64 i = 0; i < rank_of(out) && i < rank_of(in); i++)
    if (!dynamic(out, i) && dynamic(in, i)) return false;
  return true;
}

static bool always(const op *o) { return (void)o, true; }
static bool by_result(const op *o) { return follows(in_type(o, 0), out_type(o, 0)); }
static bool all_static(const op *o) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (!type_is_static(in_type(o, i))) return false;
  return true;
}

static bool is_constant(const value *v) {
  const op *o = value_op(v);
  return o && op_has(o, CONSTANT);
}

/* All static, and the last n operands constants: so the verifier has checked the shapes that they
 * say. */
static bool shaped(const op *o, u32 n) {
  for (u32 i = 0; i < n; i++)
    if (!is_constant(op_operand(o, o->num_operands - 1 - i))) return false;
  return all_static(o);
}
static bool one_shape(const op *o) { return shaped(o, 1); }
static bool three_shapes(const op *o) { return shaped(o, 3); }

/* A result that says nothing cannot be wrong. */
static bool fully_dynamic(const type *t) {
  for (i64 i = 0; i < rank_of(t); i++)
    if (!dynamic(t, i)) return false;
  return true;
}

static bool dynamic_iota(const op *o) {
  return is_constant(op_operand(o, 0)) || fully_dynamic(out_type(o, 0));
}

static bool dynamic_broadcast(const op *o) {
  i64 n;
  if (!type_is_static(in_type(o, 0)) || !type_num_elements(in_type(o, 0), &n)) return false;
  return (n == 1 && fully_dynamic(out_type(o, 0))) || is_constant(op_operand(o, 1));
}

/* Sizes that depend on the number of devices are known at run time only. */
static bool gathered(const op *o, i64 a, i64 b) {
  for (u32 k = 0; k < o->num_results; k++) {
    const type *in = in_type(o, k), *out = out_type(o, k);
    for (i64 i = 0; i < rank_of(out); i++)
      if (i == a || i == b ? !dynamic(out, i) : !dynamic(out, i) && dynamic(in, i)) return false;
  }
  return true;
}
static bool all_gather(const op *o) {
  struct all_gather_attrs a;
  return view_all_gather(o, &a) && gathered(o, a.all_gather_dim, a.all_gather_dim);
}
static bool reduce_scatter(const op *o) {
  struct reduce_scatter_attrs a;
  return view_reduce_scatter(o, &a) && gathered(o, a.scatter_dimension, a.scatter_dimension);
}
static bool all_to_all(const op *o) {
  struct all_to_all_attrs a;
  return view_all_to_all(o, &a) && gathered(o, a.split_dimension, a.concat_dimension);
}

static bool concatenate(const op *o) {
  struct concatenate_attrs a;
  if (!view_concatenate(o, &a)) return false;
  bool open = dynamic(out_type(o, 0), a.dimension);
  for (u32 k = 0; k < o->num_operands; k++)
    for (i64 i = 0; i < rank_of(in_type(o, k)); i++)
      if (dynamic(in_type(o, k), i) && !(open && i == a.dimension)) return false;
  return true;
}

static bool fft(const op *o) {
  struct fft_attrs a;
  if (!view_fft(o, &a)) return false;
  const type *in = in_type(o, 0);
  i64 fixed = a.fft_type->value >= 2 ? (i64)a.fft_length.len : 0; /* of RFFT and IRFFT */
  for (i64 i = rank_of(in) - fixed; i < rank_of(in); i++)
    if (dynamic(in, i)) return false;
  return by_result(o);
}

static bool gather(const op *o) {
  struct gather_attrs a;
  return view_gather(o, &a) && !a.indices_are_sorted && all_static(o);
}
static bool scatter(const op *o) {
  struct scatter_attrs a;
  return view_scatter(o, &a) && !a.indices_are_sorted && !a.unique_indices && all_static(o);
}
static bool triangular_solve(const op *o) {
  struct triangular_solve_attrs a;
  return view_triangular_solve(o, &a) && !a.unit_diagonal && all_static(o);
}

static bool set_dimension_size(const op *o) {
  struct set_dimension_size_attrs a;
  const type *in = in_type(o, 0), *out = out_type(o, 0);
  if (!view_set_dimension_size(o, &a)) return false;
  if (!is_constant(op_operand(o, 1)) && !dynamic(out, a.dimension)) return false;
  for (i64 i = 0; i < rank_of(out); i++)
    if (i != a.dimension && !dynamic(out, i) && dynamic(in, i)) return false;
  return true;
}

static bool transpose(const op *o) {
  struct transpose_attrs a;
  if (!view_transpose(o, &a)) return false;
  for (i64 i = 0; i < rank_of(out_type(o, 0)); i++)
    if (!dynamic(out_type(o, 0), i) && dynamic(in_type(o, 0), a.permutation.data[i])) return false;
  return true;
}

static bool dot_general(const op *o) {
  struct dot_general_attrs a;
  if (!view_dot_general(o, &a)) return false;
  const dot_attr *d = a.dot_dimension_numbers;
  const i64s batch[] = {d->lhs_batching_dimensions, d->rhs_batching_dimensions};
  const i64s contract[] = {d->lhs_contracting_dimensions, d->rhs_contracting_dimensions};
  i64 at = (i64)batch[0].len;
  for (u32 s = 0; s < 2; s++)
    for (i64 i = 0; i < rank_of(in_type(o, s)); i++) {
      bool open = dynamic(in_type(o, s), i);
      bool shared = contains(batch[s], i) || contains(contract[s], i);
      if (open && (shared || !dynamic(out_type(o, 0), at))) return false;
      if (!shared) at++;
    }
  return true;
}

static bool convolution(const op *o) {
  struct convolution_attrs a;
  if (!view_convolution(o, &a)) return false;
  const conv_attr *d = a.dimension_numbers;
  const type *in = in_type(o, 0), *ker = in_type(o, 1), *out = out_type(o, 0);
  bool batches = a.batch_group_count > 1, features = a.feature_group_count > 1;
  if (dynamic(in, d->input_feature_dimension) || dynamic(ker, d->kernel_input_feature_dimension))
    return false; /* convolution_c14 */
  if (dynamic(in, d->input_batch_dimension) &&
      (batches || !dynamic(out, d->output_batch_dimension))) /* c10, c25 */
    return false;
  if (dynamic(ker, d->kernel_output_feature_dimension) &&
      (batches || features || !dynamic(out, d->output_feature_dimension))) /* c15, c16, c25 */
    return false;
  for (size_t i = 0; i < d->input_spatial_dimensions.len; i++)
    if (!dynamic(out, d->output_spatial_dimensions.data[i]) &&
        (dynamic(in, d->input_spatial_dimensions.data[i]) ||
         dynamic(ker, d->kernel_spatial_dimensions.data[i])))
      return false;
  return true;
}

/* Families first: elementwise ops with one operand follow the result, others need all static. */
static speculate_fn *const rule_of[OP_COUNT] = {
    [OP_constant] = always,
    [OP_iota] = always,
    [OP_create_token] = always,
    [OP_replica_id] = always,
    [OP_partition_id] = always,
    [OP_after_all] = always,
    [OP_get_tuple_element] = always,
    [OP_tuple] = always,
    [OP_dynamic_slice] = always,
    [OP_dynamic_update_slice] = always,
    [OP_broadcast] = always,
    [OP_cross_replica_sum] = always,
    [OP_dot] = always,
    [OP_einsum] = always,
    [OP_unary_einsum] = always,
    [OP_get_dimension_size] = always,
    [OP_torch_index_select] = always,
    [OP_optimization_barrier] = always,
    [OP_if] = always,
    [OP_case] = always,
    [OP_while] = always,
    [OP_dynamic_iota] = dynamic_iota,
    [OP_all_gather] = all_gather,
    [OP_all_reduce] = by_result,
    [OP_reduce_scatter] = reduce_scatter,
    [OP_all_to_all] = all_to_all,
    [OP_reduce] = all_static,
    [OP_compare] = all_static,
    [OP_batch_norm_grad] = all_static,
    [OP_batch_norm_inference] = all_static,
    [OP_batch_norm_training] = all_static,
    [OP_bitcast_convert] = by_result,
    [OP_broadcast_in_dim] = all_static,
    [OP_dynamic_broadcast_in_dim] = dynamic_broadcast,
    [OP_clamp] = all_static,
    [OP_concatenate] = concatenate,
    [OP_collective_broadcast] = by_result,
    [OP_collective_permute] = by_result,
    [OP_convolution] = convolution,
    [OP_dot_general] = dot_general,
    [OP_fft] = fft,
    [OP_gather] = gather,
    [OP_map] = all_static,
    [OP_reshape] = all_static,
    [OP_dynamic_reshape] = one_shape,
    [OP_scatter] = scatter,
    [OP_select] = all_static,
    [OP_select_and_scatter] = by_result,
    [OP_set_dimension_size] = set_dimension_size,
    [OP_sort] = all_static,
    [OP_reverse] = by_result,
    [OP_pad] = by_result,
    [OP_slice] = by_result,
    [OP_transpose] = transpose,
    [OP_triangular_solve] = triangular_solve,
    [OP_reduce_window] = all_static,
    [OP_rng_bit_generator] = by_result,
    [OP_uniform_quantize] = by_result,
    [OP_uniform_dequantize] = by_result,
    [OP_reduce_precision] = by_result,
    [OP_real_dynamic_slice] = three_shapes,
    [OP_dynamic_pad] = three_shapes,
    [OP_dynamic_gather] = one_shape,
    [OP_dynamic_conv] = one_shape,
};

/* Of what is in their regions */
static const bool by_regions[OP_COUNT] = {
    [OP_if] = true,   [OP_case] = true,    [OP_while] = true,
    [OP_map] = true,  [OP_reduce] = true,  [OP_reduce_window] = true,
    [OP_sort] = true, [OP_scatter] = true, [OP_select_and_scatter] = true,
};

/* A rule of its own, else one for elementwise ops of StableHLO, else the trait. Pure alone is not
 * enough for elementwise ops, whose operands may differ in shape at run time. */
speculation op_speculation(const op *o) {
  if (op_kind(o) >= OP_COUNT) return SPECULATION_UNKNOWN;
  speculate_fn *fn = rule_of[op_kind(o)];
  bool elementwise = o->info->family == FAMILY_ew || o->info->family == FAMILY_cast;
  if (!fn && elementwise && str_starts(o->info->name, STR("stablehlo.")))
    fn = o->num_operands == 1 ? by_result : all_static;
  if (!fn) return op_has(o, PURE) && !elementwise ? SPECULATION_YES : SPECULATION_UNKNOWN;
  if (!fn(o)) return SPECULATION_NO;
  return by_regions[op_kind(o)] ? SPECULATION_BY_REGIONS : SPECULATION_YES;
}
