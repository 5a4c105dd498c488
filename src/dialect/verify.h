/* Inside the verifier: what its files share.
 *
 * Checks report with op_error and return false; the first failure of an op ends its checks. */
#ifndef DIALECT_VERIFY_H
#define DIALECT_VERIFY_H

#include "base/index.h"
#include "dialect/dialect.h"

/* Of one call of dialect_verify (or of one question, see dialect_infer), on one thread. The caches
 * answer for one key at a time, named by the pointer beside them: neither ops nor attributes change
 * while checks run. */
typedef struct checker {
  ir_module *m;
  ir_ctx *c;
  hash_index meshes;   /* of the innermost module around what is checked, by name */
  arena *scratch;      /* of what nobody needs once the checks are done */
  symbol_map *symbols; /* of the table asked last */
  const op *symbols_of;
  hash_index axes; /* of a mesh of many, by name */
  const mesh_attr *axes_of;
  hash_index dominators; /* of regions of several blocks */
  hash_index shardings;  /* few stand at many values: pairs with types that they fit where no manual
                            computation has a say, in the innermost module */
  hash_index rows;       /* ops that passed and say all by themselves */
} checker;

/* The op of that name in the table; NULL: none. */
const op *checker_symbol(checker *k, const op *table, str name);

typedef bool verify_fn(checker *k, const op *o);
/* Appends the types of the results, however many the op has. */
typedef struct inferred {
  const type **data;
  size_t len, cap;
} inferred;
typedef bool infer_fn(checker *k, const op *o, inferred *out);
extern verify_fn *const verify_of[OP_COUNT];
/* What an op says of symbols, once all ops of the symbol table have passed. */
extern verify_fn *const symbol_use_of[OP_COUNT];
extern infer_fn *const infer_of[OP_COUNT];
extern verify_fn *const traits_of[OP_COUNT]; /* in place of the row's; NULL: it has none */

/* The message alone, at the op: most checks of StableHLO speak so, traits with op_error. */
#define plain_error(k, o, ...) loc_error((k)->c, (o)->loc, __VA_ARGS__)

/* Rows that say it all, with inference. */
#define verify_addi verify_arith
#define verify_subi verify_arith
#define verify_muli verify_arith
#define verify_divsi verify_arith
#define verify_maxsi verify_arith
#define verify_addf verify_arith
#define verify_slice verify_nothing
#define verify_concatenate verify_nothing
#define verify_dynamic_slice verify_nothing
#define verify_dynamic_update_slice verify_nothing
#define verify_pad verify_nothing
#define verify_gather verify_nothing
#define verify_dynamic_gather verify_nothing
#define verify_reduce_precision verify_nothing
#define verify_optimization_barrier verify_nothing
#define verify_partition_id verify_nothing
#define verify_replica_id verify_nothing
#define verify_all_to_all verify_nothing
#define verify_case verify_nothing
#define verify_if verify_nothing
#define verify_create_token verify_nothing
#define verify_after_all verify_nothing
#define verify_outfeed verify_nothing
#define verify_send verify_nothing
#define verify_tuple verify_nothing
#define verify_get_tuple_element verify_nothing
#define verify_batch_norm_grad verify_nothing
#define verify_batch_norm_inference verify_nothing
#define verify_batch_norm_training verify_nothing
#define verify_broadcast verify_nothing
#define verify_cholesky verify_nothing
#define verify_cross_replica_sum verify_nothing
#define verify_einsum verify_nothing
#define verify_unary_einsum verify_nothing
#define verify_fft verify_nothing
#define verify_get_dimension_size verify_nothing
#define verify_set_dimension_size verify_nothing
#define verify_map verify_nothing
#define verify_triangular_solve verify_nothing
#define verify_torch_index_select verify_nothing
#define verify_rng verify_nothing
#define verify_uniform_dequantize verify_nothing
#define verify_async_start verify_nothing
#define verify_async_done verify_nothing
#define verify_composite verify_nothing

/* every row's own check; those of family own, region, coll and term */
#define D_ew(id)
#define D_cast(id)
#define D_bcast(id)
#define D_own(id) verify_fn verify_##id;
#define D_region(id) verify_fn verify_##id;
#define D_coll(id) verify_fn verify_##id;
#define D_term(id)
#define D_made(id) verify_fn verify_##id;
#define D_later(id) verify_fn verify_##id;
#define OP(id, name, family, ...) D_##family(id)
#include "ir/ops.def"
#undef D_ew
#undef D_cast
#undef D_bcast
#undef D_own
#undef D_region
#undef D_coll
#undef D_term
#undef D_made
#undef D_later
verify_fn verify_elements, verify_terminator, verify_nothing;
verify_fn use_call, use_composite, use_func_constant, use_groups, use_sharding_constraint,
    use_reshard, use_data_flow_edge, use_func_data_flow_edge, use_manual_computation,
    use_named_computation, use_sdy_all_gather, use_sdy_all_slice, use_sdy_all_to_all,
    use_sdy_collective_permute, use_sdy_all_reduce, use_sdy_reduce_scatter,
    use_sharded_to_unreduced, use_replicated_to_unreduced, use_mpmd_call, use_mpmd_fragment_call;

/* X(op): ops whose result types follow from what they have; infer_<op> */
/* clang-format off */
#define INFERRING(X) \
  X(abs) X(real) X(imag) X(complex) X(is_finite) X(compare) X(select) X(clamp) X(constant) \
  X(sdy_constant) X(transpose) X(concatenate) X(slice) X(dynamic_slice) X(dynamic_update_slice) \
  X(pad) X(gather) X(dynamic_gather) X(scatter) X(reduce) X(reduce_window) X(sort) X(map) \
  X(optimization_barrier) X(all_reduce) X(all_to_all) X(partition_id) X(replica_id) X(if) X(case) \
  X(while) X(broadcast) X(cholesky) X(triangular_solve) X(fft) X(rng) X(get_dimension_size) \
  X(set_dimension_size) X(batch_norm_grad) X(batch_norm_inference) X(batch_norm_training) \
  X(after_all) X(create_token) X(outfeed) X(send) X(tuple) X(get_tuple_element) \
  X(uniform_dequantize) X(select_and_scatter) X(chlo_is_inf) X(chlo_is_neg_inf) \
  X(chlo_is_pos_inf) X(add) X(collective_broadcast) X(collective_reduce) X(collective_permute) \
  X(reverse) X(async_start) X(async_done)
/* clang-format on */
#define X(id) infer_fn infer_##id;
INFERRING(X)
#undef X
infer_fn infer_same; /* the most specific of the operands' types */

infer_fn infer_chlo_broadcast, infer_chlo_broadcast_complex, infer_chlo_broadcast_compare,
    infer_chlo_broadcast_select, infer_chlo_ragged_dot, infer_chlo_constant_like, infer_chlo_top_k,
    infer_chlo_scan;

/* ---- types ---- */

static inline const type *in_type(const op *o, size_t i) { return op_operand(o, i)->type; }
static inline const type *out_type(const op *o, size_t i) { return o->results[i].type; }
/* Of operands, then results. */
static inline const type *value_type(const op *o, size_t i) {
  return i < o->num_operands ? in_type(o, i) : out_type(o, i - o->num_operands);
}
/* 0 for an unranked tensor and for what is no tensor: callers know that there is a rank, or ask
 * first. */
static inline i64 rank_of(const type *t) { return (i64)t->dims.len; }
static inline bool dims_agree(i64 a, i64 b) { return a == b || a == DYNAMIC || b == DYNAMIC; }
/* Up to dynamic dimensions; an unranked tensor agrees with all, what is no tensor with its like. */
bool shapes_agree(const type *a, const type *b);
/* Equal, or quantized in like ways. */
bool elements_agree(const type *a, const type *b);
/* Shapes within each other's bounds, and elements; what is no tensor is the same. */
bool types_agree(const type *a, const type *b);
bool is_scalar_of(const type *t, const type *elem);

/* A shape being inferred. */
typedef struct shape {
  size_t n;
  i64 size[DIALECT_MAX_RANK], bound[DIALECT_MAX_RANK];
  bool bounded;
  const attr *encoding; /* kept where there are no bounds */
} shape;
/* A dimension: its size or DYNAMIC, and its bound or DYNAMIC. */
typedef struct extent {
  i64 size, bound;
} extent;
i64s bounds_of(const type *t);
i64 bound_at(const type *t, size_t d); /* DYNAMIC: none */
shape shape_of(const type *t);
/* Appends a dimension. false: DIALECT_MAX_RANK is reached, which is reported. */
bool shape_push(checker *k, const op *o, shape *s, i64 size, i64 bound);
/* A tensor type of it, with an encoding where a bound says something. */
const type *shape_type(checker *k, const shape *s, const type *elem);
bool infer_push(checker *k, inferred *out, const type *t); /* true */
/* The most that both say of dimension i. */
bool infer_extent(checker *k, const op *o, size_t i, extent a, extent b, extent *out);
/* Into *out the one type that stands for n >= 1 that agree. `least`: what holds of every one of
 * them (results of branches); otherwise all that is known of any (operands of one type). false:
 * they contradict each other, which is reported. */
bool merge_types(checker *k, const op *o, const type *const *t, size_t n, bool least,
                 const type **out);
bool check_same_shape(checker *k, const op *o);
/* Whether gathers and scatters grow by what their groups are; the verifier does not ask. */
bool check_gathered_sizes(checker *k, const op *o);
bool check_same_type(checker *k, const op *o);
bool check_elementwise(checker *k, const op *o); /* of one shape, or all without a rank */

/* As in the text, for messages; in the checker's scratch. */
const char *show(checker *k, const type *t);
const char *show_dims(checker *k, i64s dims); /* "1, 2, 3" */
const char *show_ints(checker *k, i64s list); /* the same with DYNAMIC as it is */
const char *show_types(checker *k, const type *const *t, size_t n);
const char *show_operands(checker *k, const op *o);
const char *show_results(checker *k, const op *o);
const char *show_attr(checker *k, const attr *a);
const char *show_args(checker *k, const block *b);
/* The integers that constants hold; false: the value is no constant. In the context's arena. */
bool constant_ints(checker *k, const value *v, i64s *out);

/* Checks its meshes, so that shardings can rely on them; they are those that count now. */
bool checker_enter_module(checker *k, const op *module);
/* All but what needs symbols and dominance: before the ops inside, and after them. */
bool check_row(checker *k, const op *o);
bool check_row_end(checker *k, const op *o);
/* The constraints of the row: of attributes; of operands and results. */
bool check_slots(checker *k, const op *o);
bool check_constraints(checker *k, const op *o);
bool check_operand_constraints(checker *k, const op *o);
bool constraint_holds(constraint_id id, const type *t);

typedef enum quant_kind { NOT_QUANT, QUANT_TENSOR, QUANT_AXIS } quant_kind;
/* How an element type is quantized, if it is one that StableHLO takes. */
quant_kind quant_class(const type *elem);
/* A per-axis element type has a scale for each position of a dimension that exists. */
bool quant_axis_fits(const type *tensor);

/* Does result i have this shape and element type? */
bool check_result(checker *k, const op *o, size_t i, i64s dims, const type *elem);

/* ---- lists of dimensions; as masks since ranks are at most 64 ---- */

typedef u64 dim_set;
static inline bool dim_in(dim_set s, i64 d) { return d >= 0 && d < 64 && (s >> d & 1); }
bool is_sorted(i64s dims);
/* Copies and sorts: O(n log n), for lists from the text of any length. */
bool is_unique(checker *k, i64s dims);
bool contains(i64s dims, i64 d);
/* Each in [0, bound). `what` names the list in messages; the second in the words of gather. */
bool check_range(checker *k, const op *o, i64s dims, i64 bound, const char *what);
bool check_bounds(checker *k, const op *o, i64s dims, i64 bound, const char *what,
                  const char *bound_name);
/* No dimension twice in both lists together. */
bool check_disjoint(checker *k, const op *o, i64s a, i64s b, const char *what_a,
                    const char *what_b);

/* ---- regions ---- */

/* Tensors of one shape, and of one element type or both of floats. */
bool same_but_precision(const type *a, const type *b);
/* The reducer of reduce, scatter, ...: n accumulators and n inputs in, n out. Its arguments may
 * have the `allowed` dimensions, in this order. */
bool check_reducer(checker *k, const op *o, const block *b, size_t n, const type *const *inputs,
                   const type *const *inits, i64s allowed);
bool check_reduction(checker *k, const op *o, const block *b, size_t n, i64s allowed);
/* The element type of what the region returns; NULL: an error was reported. */
const type *accumulator(checker *k, const op *o, const block *b, size_t i);
/* Types that the region's terminator returns. */
static inline size_t num_returned(const block *b) { return b->last->num_operands; }
static inline const type *returned(const block *b, size_t i) { return in_type(b->last, i); }

/* Dimension numbers of a product of operands 0 and 1. */
bool check_dot_dims(checker *k, const op *o, const dot_attr *d);
bool check_precision(checker *k, const op *o, attrs config);
bool check_shape(checker *k, const op *o, const shape *s); /* of the result */

/* ---- quantized elements, see verify_quant.c: true where there are none ---- */

bool check_quant_sum(checker *k, const op *o, const type *l, const type *r, const type *t);
/* Per-tensor: of one scale and zero point. */
bool check_quant_same(checker *k, const op *o, const type *a, const type *b);
bool check_quant_reshape(checker *k, const op *o, const type *a, const type *b);
bool check_quant_transpose(checker *k, const op *o, i64s permutation);
bool check_quant_broadcast(checker *k, const op *o, i64s dims);
bool check_quant_dot(checker *k, const op *o, i64s contracting);
bool check_quant_conv(checker *k, const op *o, const conv_attr *d);

/* ---- shardings ---- */

const mesh_attr *checker_mesh(const checker *k, const attr *mesh_or_ref); /* NULL: unknown */
bool check_mesh(checker *k, const op *o, const mesh_attr *m);
/* `where`: "", "result 0 - ", ... before the message */
bool check_sharding(checker *k, const op *o, const tensor_sharding_attr *s, const type *t,
                    const char *where);
/* The same where the mesh is known, whatever the sharding calls it. */
bool check_sharding_on(checker *k, const op *o, const mesh_attr *m, const tensor_sharding_attr *s,
                       const type *t, const char *where);
bool check_shardings(checker *k, const op *o, const sharding_per_value_attr *s,
                     const type *const *t, size_t n, const char *what);
bool check_sharding_rule(checker *k, const op *o, const op_sharding_rule_attr *rule);
/* An op of a foreign dialect that says it is a collective. */
bool check_foreign_collective(checker *k, const op *o);

/* As the op that makes the value says; NULL: it doesn't. *known is false where that is not decided
 * here: arguments of regions follow their op's sharding in more than one way. */
const tensor_sharding_attr *sharding_of_value(const value *v, bool *known);

/* ---- axis references ---- */

/* What of the mesh a list of references takes, to find overlaps: parts in the order read. */
typedef struct axis_part {
  size_t axis;
  i64 pre, size; /* a whole axis: 1, its size */
  bool whole;
  const axis_ref_attr *ref;
} axis_part;

typedef struct axis_use {
  const mesh_attr *mesh;
  const char *where;
  VEC(axis_part) parts;
  hash_index seen; /* the parts, once they are many: numbers from 1 */
} axis_use;

const char *show_axis(checker *k, const axis_ref_attr *a);
/* A list of references, major to minor; remembers them in `u`. */
bool check_axes(checker *k, const op *o, axis_use *u, attrs list);
/* Sizes of sub-axes and overlaps, of all lists together. */
bool check_sub_axes(checker *k, const op *o, const axis_use *u);
/* The same as check_axes, in the order of the mesh. */
bool check_sorted_axes(checker *k, const op *o, axis_use *u, attrs list, const char *what);
/* From the operand's sharding to this one: unreduced axes come and go as a sum only, and those
 * that stay keep their kind. */
bool check_reshard(checker *k, const op *o, const tensor_sharding_attr *to);

bool check_discardable(checker *k, const op *o);

#endif
