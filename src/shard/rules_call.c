/* Rules of custom calls, by target name.
 *
 * A custom call may do anything, so only targets that XLA and JAX are known to use have rules:
 * Shardy's list. A name that is not in it is warned of once a sink, since the user may have
 * expected shardings to pass. */
#include "shard/rule.h"
#include "shard/traits.h"

/* Operands of lower rank have the first dimensions. */
static const rule *call_pointwise(rule_builder *b, const op *o) {
  if (!o->num_results || !type_is_ranked(o->results[0].type)) return NULL;
  i64s shape = rule_result_shape(b, 0);
  for (u32 t = 0; t < b->num_operands + b->num_results; t++)
    if (type_rank(b->types[t]) > shape.len) return NULL;
  for (size_t d = 0; d < shape.len; d++) {
    i64 *dims = ARENA_ARRAY(b->a, i64, b->num_operands + b->num_results);
    for (u32 t = 0; t < b->num_operands + b->num_results; t++)
      dims[t] = d < type_rank(b->types[t]) ? (i64)d : NO_DIM;
    rule_factor(b, dims, dims + b->num_operands, shape.data[d], FACTOR_PASS, false);
  }
  return rule_end(b);
}

static bool arity_is(const op *o, u32 operands, u32 results) {
  return o->num_operands == operands && o->num_results == results;
}

/* Batch dimensions, then the last two of a matrix. */
static i64 batch_dims(rule_builder *b) {
  i64s in = rule_shape(b, 0);
  if (in.len < 2) return -1;
  rule_pointwise(b, (i64s){in.data, in.len - 2});
  return (i64)in.len - 2;
}

static const rule *call_eigh(rule_builder *b, const op *o) {
  i64 d;
  if (!arity_is(o, 1, 2) || (d = batch_dims(b)) < 0) return NULL;
  i64s in = rule_shape(b, 0);
  i64 e = d + 1;
  rule_factor(b, &d, (const i64[]){d, NO_DIM}, in.data[d], FACTOR_PASS, false);
  rule_factor(b, &e, (const i64[]){e, d}, in.data[e], FACTOR_PASS, false);
  return rule_end(b);
}

static const rule *call_qr(rule_builder *b, const op *o) {
  i64 d, none = NO_DIM;
  if (!arity_is(o, 1, 2) || (d = batch_dims(b)) < 0) return NULL;
  i64s in = rule_shape(b, 0), taus = rule_result_shape(b, 1);
  if (taus.len != in.len - 1) return NULL;
  i64 e = d + 1;
  rule_factor(b, &d, (const i64[]){d, NO_DIM}, in.data[d], FACTOR_REPLICATE, false);
  rule_factor(b, &e, (const i64[]){e, NO_DIM}, in.data[e], FACTOR_REPLICATE, false);
  rule_factor(b, &none, (const i64[]){NO_DIM, d}, taus.data[d], FACTOR_REPLICATE, false);
  return rule_end(b);
}

static const rule *call_householder(rule_builder *b, const op *o) {
  i64 d;
  if (!arity_is(o, 2, 1) || (d = batch_dims(b)) < 0) return NULL;
  i64s in = rule_shape(b, 0), taus = rule_shape(b, 1);
  if (taus.len != in.len - 1) return NULL;
  rule_factor_2_1(b, d, NO_DIM, d, in.data[d], FACTOR_REPLICATE);
  rule_factor_2_1(b, d + 1, NO_DIM, d + 1, in.data[d + 1], FACTOR_REPLICATE);
  rule_factor_2_1(b, NO_DIM, d, NO_DIM, taus.data[d], FACTOR_REPLICATE);
  return rule_end(b);
}

static const rule *call_top_k(rule_builder *b, const op *o) {
  if (!arity_is(o, 1, 2)) return NULL;
  rule_mismatch(b, rule_shape(b, 0), rule_result_shape(b, 0), FACTOR_REPLICATE, true);
  return rule_end(b);
}

static const rule *call_approx_top_k(rule_builder *b, const op *o) {
  if (!arity_is(o, 4, 2)) return NULL;
  i64s in = rule_shape(b, 0), out = rule_result_shape(b, 0);
  for (i64 d = 0; d < (i64)in.len && d < (i64)out.len; d++) {
    if (in.data[d] == out.data[d]) {
      rule_factor_dim(b, d, in.data[d], FACTOR_PASS, false);
      continue;
    }
    const i64 none[4] = {NO_DIM, NO_DIM, NO_DIM, NO_DIM};
    rule_factor(b, (const i64[]){d, d, NO_DIM, NO_DIM}, none, in.data[d], FACTOR_PASS, false);
    rule_factor(b, none, (const i64[]){d, d}, out.data[d], FACTOR_REPLICATE, true);
  }
  return rule_end(b);
}

/* A state of a random generator is not resharded as 64-bit integers. */
static const rule *call_x64_combine(rule_builder *b, const op *o) {
  bool state = false;
  for (const use *u = o->num_results ? o->results[0].uses : NULL; u; u = u->next)
    state |= op_is(u->owner, rng_bit_generator);
  if (!state || !type_rank(o->results[0].type)) return call_pointwise(b, o);
  rule_factor_dim(b, 0, rule_result_shape(b, 0).data[0], FACTOR_REPLICATE, true);
  return rule_end(b);
}

/* All tensors have the batch, as far as their sizes say so. */
static const rule *call_batch(rule_builder *b, i64 batch) {
  for (i64 d = 0; d < batch; d++) {
    i64 size = -1;
    for (u32 t = 0; t < b->num_operands + b->num_results; t++) {
      if ((i64)type_rank(b->types[t]) <= d) return rule_end(b);
      i64 here = b->types[t]->dims.data[d];
      if (size >= 0 && here != size) return rule_end(b);
      size = here;
    }
    rule_factor_dim(b, d, size, FACTOR_PASS, false);
  }
  return rule_end(b);
}

static const struct {
  const char *target;
  rule_fn *fn;
} targets[] = {
    {"annotate_device_placement", call_pointwise},
    {"Cholesky", call_pointwise},
    {"CompactWyHelper", call_pointwise},
    {"InspectSharding", call_pointwise},
    {"InvertDiagBlocksLowerTriangular", call_pointwise},
    {"InvertDiagBlocksUpperTriangular", call_pointwise},
    {"LayoutConstraint", call_pointwise},
    {"mhlo.erf", call_pointwise},
    {"MoveToDevice", call_pointwise},
    {"MoveToHost", call_pointwise},
    {"X64SplitHigh", call_pointwise},
    {"X64SplitLow", call_pointwise},
    {"xla.megascale.provide_metadata", call_pointwise},
    {"_SPMDInternalOp_MultiPad", call_pointwise},
    {"_SPMDInternalOp_RotateRight", call_pointwise},
    {"_SPMDInternalOp_MultiRotate", call_pointwise},
    {"_SPMDInternalOp_MultiSlice", call_pointwise},
    {"_SPMDInternalOp_Wrap", call_pointwise},
    {"Eigh", call_eigh},
    {"Qr", call_qr},
    {"QrDecompositionBlock", call_qr},
    {"ProductOfElementaryHouseholderReflectors", call_householder},
    {"mhlo.topk", call_top_k},
    {"ApproxTopK", call_approx_top_k},
    {"PartialReduce", call_approx_top_k},
    {"X64Combine", call_x64_combine},
};

/* Known to have no rule. */
static const char *const silent[] = {
    "sdy_testonly",
    "tpu_custom_call",
    "xla_python_cpu_callback",
    "xla_python_gpu_callback",
    "xla_ffi_python_cpu_callback",
    "xla_ffi_python_gpu_callback",
    "xla_ffi_partitioned_python_cpu_callback",
    "xla_ffi_partitioned_python_gpu_callback",
    "xla.debug.Log",
};

const rule *rule_custom_call(rule_builder *b, const op *o) {
  struct custom_call_attrs v;
  if (!view_custom_call(o, &v)) return NULL;
  for (size_t i = 0; i < COUNT(targets); i++)
    if (str_is(v.call_target_name, targets[i].target)) return targets[i].fn(b, o);
  i64 batch = 0;
  if (attr_get_i64(op_discardable(o, CALL_BATCH_DIMS), &batch)) return call_batch(b, batch);
  bool known = false;
  for (size_t i = 0; i < COUNT(silent); i++) known |= str_is(v.call_target_name, silent[i]);
  if (known || !diag_first(ir_sink(b->set->ctx), ONCE_UNKNOWN_CALL)) return NULL;
  op_warn(b->set->ctx, o, "custom call @" STR_FMT " is unknown to SDY sharding rule registry",
          STR_ARG(v.call_target_name));
  return NULL;
}
