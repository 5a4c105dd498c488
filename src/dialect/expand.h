/* Decompositions: ops of chlo, deprecated ops and complex arithmetic in terms of StableHLO.
 *
 * Elementwise ones are formulas (formula.c reads them); the rest are functions. The results are
 * the peers', op for op, because tools compare them. Sources: openxla/stablehlo
 * transforms/ChloLegalizeToStablehlo.cpp, ChloDecompositionPatterns*.td,
 * StablehloComplexMathExpanderPatterns.td and StablehloBroadcastLowering.cpp; the approximations
 * are of Cephes (erf, erfc, bessel_i1e, zeta), Giles (erf_inv), Lanczos (lgamma, digamma) and
 * Hull et al. (complex asin and acos). */
#ifndef DIALECT_EXPAND_H
#define DIALECT_EXPAND_H

#include "ir/op.h"

/* Where ops are made: before `at`, or at the end of `block` where that is NULL. */
typedef struct expander {
  ir_module *m;
  ir_ctx *c;
  arena *a;
  block *block;
  op *at;
  const attr *loc;
} expander;

/* Fills out[o->num_results] with what stands for the results; false: it cannot. */
typedef bool expand_fn(expander *e, op *o, value **out);

/* The function for a kind of op; NULL: the op stays. */
typedef expand_fn *expand_lookup(void *user, const op *o);
/* Replaces every op inside `root` that `lookup` has a function for. false: one could not be
 * replaced, which is reported; the module is then good for nothing but to be destroyed. */
bool expand_all(ir_module *m, arena *a, op *root, expand_lookup *lookup, void *user);

expand_fn *expand_chlo(void *user, const op *o); /* all of chlo */
/* Ops of family `made`, by what they stand for; for static shapes only. by_chlo: of any of chlo's.
 * false may be without a message. */
expand_fn expand_by_chlo, expand_arith_constant, expand_batch_norm_grad,
    expand_batch_norm_inference, expand_batch_norm_training, expand_broadcast_sizes,
    expand_cross_replica_sum, expand_einsum, expand_dynamic_broadcast_in_dim, expand_dynamic_conv,
    expand_dynamic_gather, expand_dynamic_iota, expand_dynamic_pad, expand_dynamic_reshape,
    expand_get_dimension_size, expand_map, expand_real_dynamic_slice, expand_rng,
    expand_set_dimension_size, expand_top_k_call, expand_torch_index_select;
/* A custom call that names the first k in an order: ApproxTopK and its kin. */
bool expand_is_top_k_call(const op *o);
/* A gather or a scatter whose index vectors name neighbouring dimensions that are taken as one, or
 * also ones that are taken whole: one index says as much. */
bool expand_is_indexed(const op *o);
/* A scatter of one window, at a known place inside of the operand or one that the run says, and a
 * gather of one of the latter kind. */
bool expand_is_window(const op *o);
/* A select whose condition is false, as that of indices that count from the end where negative. */
bool expand_is_settled(const op *o);
/* A reduce of a few tensors that are stacked: its body over one after the other. */
bool expand_is_stacked(const op *o);
/* A select, by one condition, of an array or the same with a part overwritten: the part alone is
 * selected then, and a loop that carries the array writes it where it lies. */
bool expand_is_kept_update(const op *o);
/* A convolution of f16 or bf16 that takes less time in f32, of which its result is rounded. */
bool expand_is_halves(const op *o);
/* A product without contracted dimensions. */
bool expand_is_outer(const op *o);
expand_fn expand_halves, expand_indexed, expand_kept_update, expand_outer, expand_stacked,
    expand_settled, expand_window;
/* A gather of rows that come several times each, at even distances, by numbers that are known, as
 * a broadcast; false: it is not such. */
expand_fn expand_repeat;
/* The integers of a constant. */
bool expand_get_ints(expander *e, const value *v, i64s *out);
/* Over whole tensors, or one element after the other? */
bool expand_map_is_elementwise(const op *o);

/* The dimension along which XLA's threefry halves what it makes: the first one of even size, else
 * the first of the largest size. */
i64 rng_halved_dim(i64s dims);

expand_fn *expand_deprecated(void *user, const op *o); /* user: bool *, map and rng are errors */
expand_fn *expand_composite(void *user, const op *o); /* user: str *, names left alone, by commas */
/* Complex log, log_plus_one, sqrt and exponential; for the greedy rewriter: false where o is none
 * of them. The results' values go to *out. */
bool expand_complex_math(expander *e, op *o, value **out);

/* In all functions: ops on quantized values become ops on what these stand for, where they do more
 * than move them. false: reported. */
bool expand_quantized(ir_module *m, arena *a);
/* The type of a quantized tensor's storage; others as they are. */
const type *quantized_storage(ir_ctx *c, const type *t);

/* What an integer can be, the bounds among it; where nothing is known, all that its type has. */
typedef struct range {
  i64 lo, hi;
} range;
range expand_range(const value *v);

/* Where the one window of a scatter begins in the operand's dims that its indices name; the others
 * stay as they are. false: more than one, or not known. */
bool scatter_low(const op *o, i64 *low);
/* What the body makes of a window, made there; NULL: it is not the update or one op. */
value *scatter_updated(ir_module *m, block *b, op *before, const op *o, value *old, value *update);

/* ---- making ops ---- */

expander expander_before(ir_module *m, arena *a, op *o);
expander expander_in(const expander *e, block *b); /* at the end of a block */

/* With as many empty regions as the row has; attributes are the caller's to set. Types of operands
 * are not checked. */
op *expand_op(expander *e, op_id id, value *const *in, size_t n, const type *const *out,
              size_t num_out);
/* One result. */
value *expand_1(expander *e, op_id id, value *x, const type *t);
/* x, which has as many elements, or what it is a reshape of, if that is of type t already. */
value *expand_reshaped(expander *e, value *x, const type *t);
value *expand_2(expander *e, op_id id, value *x, value *y, const type *t);
value *expand_select(expander *e, value *pred, value *x, value *y);
enum { COMPARE_EQ, COMPARE_NE, COMPARE_GE, COMPARE_GT, COMPARE_LE, COMPARE_LT };
value *expand_compare(expander *e, int64_t direction, value *x, value *y);
/* With broadcast_dimensions = begin, begin + 1, ...: as many as the operand has dimensions. */
value *expand_broadcast(expander *e, op_id id, value *x, value *shape, const type *t, i64 begin);

value *expand_iota(expander *e, const type *t, i64 d);
/* The function of one block that is a custom call's one called computation; NULL: there is none. */
op *expand_called(const expander *e, const op *call);
/* What such a function does, at the end of a block that has its arguments. */
void expand_copy_body(const expander *e, op *func, block *to);
/* The body of a sum of scalars. */
void expand_adder(expander *e, region *r, const type *scalar);
/* The sum over some dimensions, in their order; of truth values whether one is true. */
value *expand_sum(expander *e, value *x, const i64 *dims, size_t n);

/* A scalar of any element type. Only one of the three is looked at: f32 keeps decimals from
 * being rounded twice, `i` large integers. */
typedef struct number {
  double f;
  float f32;
  i64 i;
  bool is_int;
} number;
number number_int(i64 i);
number number_float(double f);
/* dense<n> of a static tensor type; complex: (n, 0). */
const attr *expand_splat(ir_ctx *c, const type *t, number n);
/* Element i of a constant of real numbers. */
bool expand_number(const attr *constant, i64 i, double *out);
/* Is every element of a constant this number? Of any element type; -0 is 0; complex: (n, 0). */
bool splat_is(const attr *constant, i64 n);
bool splat_is_infinite(const attr *constant); /* either end */
/* dense<[...]> : tensor<N x i64> as a constant. */
value *expand_i64s(expander *e, const i64 *v, size_t n);
value *expand_constant(expander *e, const type *t, number n);
/* The number in the shape of `like`, of its element type or of `elem` if given; for a dynamic
 * shape it is broadcast. */
value *expand_constant_like(expander *e, number n, value *like, const type *elem);

const type *expand_with_elem(ir_ctx *c, const type *t, const type *elem);
const type *expand_tensor(expander *e, const i64 *dims, size_t rank, const type *elem);

/* NumPy's broadcasting of all values to one shape, of static and bounded dimensions only. false:
 * they do not fit, which is reported. */
bool expand_numpy(expander *e, value *const *in, size_t n, value **out);
bool expand_is_static_or_bounded(const type *t);

/* ---- einsum ---- */

/* The labels of one operand, or of the result (`last`), from the front of the equation, which moves
 * on: one a dimension. false: it does not fit the shape. */
bool einsum_labels(str *text, bool last, i64s shape, i64 *labels);

/* ---- formulas ---- */

/* Evaluates a formula, making its ops; formula.c says how one is written. `params` names the
 * values, with spaces between. NULL: a bug in the formula, or a type that it does not fit. */
value *formula_expand(expander *e, const char *formula, const char *params, value *const *args);
/* chlo's formula of that name ("lgamma") for these values, calculated in f32 at least; NULL:
 * none. */
value *chlo_formula(expander *e, str name, value *const *args, size_t n);

#endif
