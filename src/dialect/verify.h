/* Inside the verifier: what its files share.
 *
 * Checks report with op_error and return false; the first failure of an op ends its checks. */
#ifndef DIALECT_VERIFY_H
#define DIALECT_VERIFY_H

#include "dialect/dialect.h"

typedef struct named_mesh {
  str name;
  const mesh_attr *mesh;
} named_mesh;

typedef struct checker {
  ir_module *m;
  ir_ctx *c;
  const op *module;       /* the innermost around what is checked */
  VEC(named_mesh) meshes; /* its meshes, in order */
  arena *scratch;         /* while a module is verified */
  symbol_map *symbols;    /* of the table asked last */
  const op *symbols_of;
} checker;

/* The op of that name in the table; NULL: none. */
const op *checker_symbol(checker *k, const op *table, str name);

typedef bool verify_fn(checker *k, const op *o);
typedef bool infer_fn(checker *k, const op *o, const type **out);
extern verify_fn *const verify_of[OP_COUNT];
/* What an op says of symbols, once all ops of the symbol table have passed. */
extern verify_fn *const symbol_use_of[OP_COUNT];
extern infer_fn *const infer_of[OP_COUNT];
extern verify_fn *const verify_chlo_of[OP_COUNT]; /* of its family later */

/* every row's own check; those of family own, region, coll and term */
#define D_ew(id)
#define D_cast(id)
#define D_bcast(id)
#define D_own(id) verify_fn verify_##id;
#define D_region(id) verify_fn verify_##id;
#define D_coll(id) verify_fn verify_##id;
#define D_term(id)
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
#undef D_later
verify_fn verify_elements, verify_terminator;
verify_fn use_call, use_composite, use_sharding_constraint, use_reshard, use_data_flow_edge,
    use_func_data_flow_edge, use_manual_computation, use_named_computation, use_sdy_all_gather,
    use_sdy_all_slice, use_sdy_all_to_all, use_sdy_collective_permute, use_sdy_all_reduce,
    use_sdy_reduce_scatter, use_sharded_to_unreduced, use_replicated_to_unreduced;

infer_fn infer_operand, infer_abs, infer_complex, infer_real, infer_pred, infer_select, infer_clamp,
    infer_constant, infer_sdy_constant, infer_transpose, infer_concatenate, infer_slice,
    infer_dynamic_slice, infer_dynamic_update_slice, infer_pad, infer_gather, infer_scatter,
    infer_reduce, infer_reduce_window, infer_operands, infer_all_reduce, infer_all_to_all,
    infer_device_id, infer_broadcast, infer_broadcast_complex, infer_broadcast_compare,
    infer_broadcast_select, infer_ragged_dot, infer_top_k, infer_scan;

/* ---- types ---- */

static inline const type *in_type(const op *o, size_t i) { return op_operand(o, i)->type; }
static inline const type *out_type(const op *o, size_t i) { return o->results[i].type; }
static inline i64 rank_of(const type *t) { return (i64)t->dims.len; }
static inline bool dims_agree(i64 a, i64 b) { return a == b || a == DYNAMIC || b == DYNAMIC; }
bool shapes_agree(const type *a, const type *b);
/* The same up to dynamic dimensions (tensors); the same (others). */
bool types_agree(const type *a, const type *b);
/* Equal; of quantized ones storage, expressed type and granularity. */
bool elements_agree(const type *a, const type *b);
bool is_scalar_of(const type *t, const type *elem);
const char *show(checker *k, const type *t);
const char *show_dims(checker *k, i64s dims); /* "1, 2, 3" */
const char *show_types(checker *k, const type *const *t, size_t n);

/* Kinds of elements, for masks. */
enum {
  EL_BOOL = 1,
  EL_SINT = 2,
  EL_UINT = 4,
  EL_FLOAT = 8,
  EL_COMPLEX = 16,
  EL_INT = EL_SINT | EL_UINT,
  EL_ANY = 31
};
int element_kind(const type *elem);      /* 0: none that can be computed with */
bool checker_enter_module(checker *k, const op *module); /* its meshes are those that count */
bool check_row(checker *k, const op *o); /* all but what needs symbols and dominance */
/* The constraints of the row: of attributes; of operands and results. */
bool check_slots(checker *k, const op *o);
bool check_constraints(checker *k, const op *o);
bool check_operand_constraints(checker *k, const op *o);
bool constraint_holds(constraint_id id, const type *t);

typedef enum quant_kind { NOT_QUANT, QUANT_TENSOR, QUANT_AXIS } quant_kind;
/* How an element type is quantized, if it is one that StableHLO takes. */
quant_kind quant_class(const type *elem);
/* What ops say of quantized types only. */
bool check_quantized(checker *k, const op *o);
/* A per-axis element type has a scale for each position of a dimension that exists. */
bool quant_axis_fits(const type *tensor);

/* Does result i have this shape and element type? */
bool check_result(checker *k, const op *o, size_t i, i64s dims, const type *elem);

/* ---- lists of dimensions; as masks since ranks are below 64 ---- */

typedef u64 dim_set;
static inline bool dim_in(dim_set s, i64 d) { return s >> d & 1; }
/* Each in [0, bound) and none twice. `what` names the list in messages. */
bool check_dims(checker *k, const op *o, i64s dims, i64 bound, const char *what, dim_set *out);
/* The same in the words of gather and scatter; repetition is checked apart. */
bool check_bounds(checker *k, const op *o, i64s dims, i64 bound, const char *what,
                  const char *bound_name, dim_set *out);
bool check_ordered(checker *k, const op *o, i64s dims, const char *what, bool repeats);
bool check_unique(checker *k, const op *o, i64s dims, const char *what);
/* No dimension twice in both lists together. The lists are short, or refused elsewhere. */
bool check_disjoint(checker *k, const op *o, i64s a, i64s b, const char *what_a,
                    const char *what_b);

/* Dimension numbers of a product of operands 0 and 1; `used` are those not in the result twice. */
bool check_dot_dims(checker *k, const op *o, const dot_attr *d, dim_set used[2]);

/* ---- regions ---- */

/* The reducer of reduce, scatter, ...: scalars in, scalars out. */
bool check_reducer(checker *k, const op *o, const block *b, size_t n, const type *const *inputs,
                   const type *const *inits);
/* Types that the region's terminator returns. */
static inline size_t num_returned(const block *b) { return b->last->num_operands; }
static inline const type *returned(const block *b, size_t i) { return in_type(b->last, i); }

/* Sliding windows of reduce_window and convolution. */
typedef struct window {
  i64s size, strides, base_dilations, window_dilations; /* empty lists: all 1 */
  const dense_attr *padding;                            /* NULL: none */
} window;
bool check_window(checker *k, const op *o, const window *w);
/* Output size of dimension i for this input size; DYNAMIC stays. false: overflow. */
bool window_output(const window *w, size_t i, i64 input, i64 *out);

/* ---- shardings ---- */

const mesh_attr *checker_mesh(const checker *k, const attr *mesh_or_ref); /* NULL: unknown */
bool check_mesh(checker *k, const op *o, const mesh_attr *m);
/* `where`: "", "result 0 - ", ... before the message */
bool check_sharding(checker *k, const op *o, const tensor_sharding_attr *s, const type *t,
                    const char *where);
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
