/* Sharding rules: how an op's dimensions are made of factors.
 *
 * A factor is one index of the op's loop nest, as in einsum: dimensions of operands and results
 * that move together share it, a dimension may be a product of several (major first). Source:
 * openxla/shardy docs/compiler_api.md, "op sharding rule". Rules are interned in a rule_set, so
 * that equal ones are one pointer. */
#ifndef SHARD_RULE_H
#define SHARD_RULE_H

#include "base/index.h"
#include "shard/sharding_ir.h"

typedef enum factor_kind {
  FACTOR_PASS,        /* shards of the result need the same shards of the operands */
  FACTOR_REDUCTION,   /* sharded, the result is a partial one that must be reduced */
  FACTOR_REPLICATE,   /* must be replicated to compute */
  FACTOR_PERMUTATION, /* sharded, shards exchange borders */
} factor_kind;

typedef struct factor {
  i64 size;
  u8 kind;      /* factor_kind */
  bool blocked; /* shardings don't propagate along it */
} factor;

/* dims[tensor_begin[t] + d] .. dims[.. + 1] are the places in `places` of the factors of
 * dimension d of tensor t; operands come before results. */
typedef struct rule {
  u32 num_factors, num_operands, num_results;
  bool custom;
  const factor *factors;
  const u32 *tensor_begin; /* num_operands + num_results + 1 */
  const u32 *dim_begin;    /* one a dimension of all tensors, and one more */
  const u32 *places;
  u32 id; /* number in the set */
} rule;

static inline u32 rule_num_tensors(const rule *r) { return r->num_operands + r->num_results; }
static inline u32 rule_rank(const rule *r, u32 t) {
  return r->tensor_begin[t + 1] - r->tensor_begin[t];
}

typedef struct rule_set {
  ir_ctx *ctx;
  arena *a, *scratch; /* scratch: for what ends with a call; at first the same */
  hash_index index, plain;
  u32 count;
  bool conservative; /* rules without the factors that need communication */
  bool extra;        /* rules for ops that Shardy has none for */
  bool apart;        /* what a dynamic slice cuts is one factor, what it leaves another */
} rule_set;

void rule_set_init(rule_set *s, ir_ctx *ctx, arena *a, bool conservative);

/* On a custom_call: of so many leading dimensions each element is computed for itself. */
#define CALL_BATCH_DIMS STR("terrazzo.batch_dims")

/* The rule of an op: the one it carries as sdy.sharding_rule, else the one of its kind. NULL:
 * shardings don't propagate through it (or its edges do that). The op is verified. */
const rule *rule_of_op(rule_set *s, const op *o);
/* The one of its kind, whatever it carries. */
const rule *rule_of_kind(rule_set *s, const op *o);
/* Warns of the first op that should have a rule and has none. */
void rule_warn_unknown(rule_set *s, const op *o);
/* operands and one result of one type and one factor a dimension */
const rule *rule_identity(rule_set *s, const type *t, size_t num_operands);

/* Attribute forms. rule_from_attr: NULL where it doesn't fit the op's ranks. */
const attr *rule_to_attr(rule_set *s, const rule *r);
const rule *rule_from_attr(rule_set *s, const attr *a, const op *o);

/* ---- what the functions of the table use ---- */

enum { NO_DIM = -1 };

/* A factor of a dimension, in the order of all tensors. */
typedef struct place {
  u32 dim, factor;
} place;

typedef struct rule_builder {
  rule_set *set;
  arena *a;
  const op *op;
  u32 num_operands, num_results;
  u32 num_data;       /* operands in front of those that only say sizes, which have no factors */
  const type **types; /* of operands, then results */
  VEC(factor) factors;
  VEC(place) places; /* in order of adding */
  u32 *tensor_begin;
} rule_builder;

void rule_begin(rule_builder *b, rule_set *s, const op *o);
/* A factor of these dimensions (NO_DIM: not in that tensor), one entry a tensor. A factor of
 * size 1 is not added to a dimension that has one. */
void rule_factor(rule_builder *b, const i64 *operand_dims, const i64 *result_dims, i64 size,
                 factor_kind kind, bool blocked);
/* Of dimension `dim` of all operands and/or all results of rank above 0. */
void rule_factor_all(rule_builder *b, i64 operand_dim, i64 result_dim, i64 size, factor_kind kind,
                     bool blocked);
static inline void rule_factor_dim(rule_builder *b, i64 dim, i64 size, factor_kind kind,
                                   bool blocked) {
  rule_factor_all(b, dim, dim, size, kind, blocked);
}
void rule_factor_1_1(rule_builder *b, i64 operand_dim, i64 result_dim, i64 size, factor_kind kind);
void rule_factor_2_1(rule_builder *b, i64 lhs, i64 rhs, i64 result, i64 size, factor_kind kind);
/* One factor a dimension of the shape, the same in all tensors that aren't scalars. */
void rule_pointwise(rule_builder *b, i64s shape);
/* Pointwise, with factors of this kind where the shapes differ. */
void rule_mismatch(rule_builder *b, i64s in, i64s out, factor_kind kind, bool blocked);
/* Dimensions without a factor get one of size 1. */
const rule *rule_end(rule_builder *b);

static inline i64s rule_shape(const rule_builder *b, size_t tensor) {
  return b->types[tensor]->dims;
}
static inline i64s rule_result_shape(const rule_builder *b, size_t i) {
  return b->types[b->num_operands + i]->dims;
}

typedef const rule *rule_fn(rule_builder *b, const op *o);
/* by op id, in rule_table.c; NULL: none */
rule_fn *rule_fn_of(const op *o);
rule_fn *rule_extra_of(op_id id);                    /* in rules_extra.c */
rule_fn *rule_fn_in(const rule_set *s, const op *o); /* of both, as the set wants */
bool rule_fn_is_plain(rule_fn *fn);                  /* looks at the types and slots only */
rule_fn rule_all_gather, rule_all_to_all, rule_bitcast_convert, rule_broadcast_in_dim,
    rule_concatenate, rule_convolution, rule_custom_call, rule_dot_general, rule_dynamic_slice,
    rule_dynamic_update_slice, rule_gather, rule_pad, rule_reduce, rule_reduce_scatter,
    rule_reduce_window, rule_reshape, rule_reverse, rule_rng_bit_generator, rule_scatter,
    rule_slice, rule_sort, rule_transpose;
rule_fn extra_dynamic_broadcast_in_dim, extra_dynamic_conv, extra_dynamic_gather;
rule_fn rule_batch_norm_inference, rule_cholesky, rule_dot, rule_fft, rule_select_and_scatter,
    rule_triangular_solve;

#endif
