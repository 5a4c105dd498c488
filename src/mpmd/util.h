/* Inside mpmd only: what its passes ask of fragments, functions and values, and how they make new
 * ones. Source: openxla/shardy, shardy/dialect/mpmd/ir/utils.h and transforms/common/utils.h. */
#ifndef MPMD_UTIL_H
#define MPMD_UTIL_H

#include "dialect/mpmd.h"
#include "mpmd/mpmd.h"

#define MPMD_REMAT STR("remat")
#define MPMD_INFERRED_BY                                                                           \
  STR("mpmd.inferred_by") /* names of passes, of a fragment that they made                         \
                           */
#define MPMD_UNROLL_COUNTER STR("unroll_counter")
#define MPMD_SPLIT_KEEP STR("split_keep_transferred")
#define MPMD_SPLIT_DROP STR("split_drop_transferred")
#define MPMD_CONTROL_START STR("mpmd.control_operand_start_idx")
#define MPMD_RESULT_INFO STR("jax.result_info")

typedef VEC(value *) value_list;
typedef VEC(const type *) type_list;

/* ---- functions ---- */

/* Functions with a topology, in their order. */
void mpmd_functions(arena *a, const ir_module *m, op_list *out);
/* Functions with a topology or a mesh_shape: what most passes go over. */
void mpmd_distributed(arena *a, const ir_module *m, op_list *out);
bool mpmd_is_main(const op *func);                   /* called "main" */
op *mpmd_callee(const ir_module *m, const op *call); /* of mpmd.call, mpmd.fragment_call; or NULL */
/* mpmd.calls of a function whose results are used, in functions with a topology and in mpmd.for. */
void mpmd_calls_of(arena *a, const ir_module *m, const op *func, op_list *out);
/* Makes the function's type that of its arguments and of what it returns. */
void mpmd_update_type(ir_module *m, op *func);
/* All meshes of its topology are alike but for axes of size 1. */
bool mpmd_is_homogeneous(const op *func);
/* By the numbers that both names end in; else by their bytes. */
bool mpmd_mesh_before(str a, str b);
/* Not one of CPUs beside another: "m/cpu". */
static inline bool mpmd_is_schedulable(str mesh) {
  return mesh.len < 4 || !str_is(str_from(mesh, mesh.len - 4), "/cpu");
}
/* "m#pinned_host" in two; *kind empty: there is none. */
str mpmd_split_mesh(str name, str *kind);

/* ---- fragments ---- */

static inline str fragment_mesh(const op *o) {
  str s = {0};
  attr_get_str(op_get(o, mpmd_fragment, mesh_name), &s);
  return s;
}
static inline attrs fragment_origins(const op *o) {
  const array_attr *a = attr_as(array, op_get(o, mpmd_fragment, origin));
  return a ? a->elems : (attrs){0};
}
/* Of something that the user named. */
static inline bool fragment_is_user(const op *o) { return fragment_origins(o).len != 0; }
i64 mpmd_call_counter(const op *o); /* of call_counter; -1: none */
/* NULL: it has none. */
static inline const attr *fragment_stage(const op *o) { return op_get(o, mpmd_fragment, stage_id); }
/* The one transpose count of all origins; -1: none, or they differ. */
i64 fragment_transpose_count(const op *o);
i64 fragment_max_transpose_count(const op *o); /* -1: none */
/* The one, or of what is computed again and merged the greatest; -1: neither. */
i64 fragment_any_transpose_count(const op *o);
/* Origins of a, then those of b that a has not. */
const attr *fragment_origin_union(ir_module *m, const op *a, const op *b);
/* Is b the next fragment on a's mesh behind a? */
bool fragment_directly_after(const op *a, const op *b);
/* Of one count: 0, what the user wrote; 1, its transpose. */
static inline bool fragment_is_forward(const op *o) { return fragment_transpose_count(o) == 0; }
static inline bool fragment_is_backward(const op *o) { return fragment_transpose_count(o) == 1; }
/* Of the user's, of one call, forward or backward: what schedules move. */
static inline bool fragment_is_unit(const op *o) {
  return fragment_is_user(o) && mpmd_call_counter(o) >= 0 &&
         (fragment_is_forward(o) || fragment_is_backward(o));
}
static inline bool mpmd_is_fragment(const op *o) { return o && op_is(o, mpmd_fragment); }

/* A fragment in front of `before`, with one block whose arguments are the operands' whole tensors
 * (tokens as they are), and no terminator yet. stage may be NULL. */
op *fragment_create(ir_module *m, op *before, const attr *loc, const attr *origins, str mesh,
                    const attr *stage, value *const *operands, size_t num_operands,
                    const type *const *results, size_t num_results);
/* Its mpmd.return. */
void fragment_return(ir_module *m, op *fragment, value *const *values, size_t n);
void mpmd_set_inferred_by(ir_module *m, op *o, const char *pass);

/* ---- ops and values ---- */

/* A new op of the row `id` in front of `before`. */
op *mpmd_emit(ir_module *m, op *before, op_id id, const attr *loc, value *const *operands,
              size_t num_operands, const type *const *results, size_t num_results);
value *mpmd_emit_transfer(ir_module *m, op *before, const attr *loc, value *v, const type *to);
/* With an origin where that is not empty. */
value *mpmd_emit_assign(ir_module *m, op *before, const attr *loc, value *v, str mesh, str origin);
value *mpmd_emit_unassign(ir_module *m, op *before, const attr *loc, value *v, str origin);
/* A mesh tensor type with another sharding. */
const type *mpmd_with_sharding(ir_module *m, const type *t, const attr *sharding);
/* Is v used outside of user and what is in it? */
bool mpmd_used_besides(const value *v, const op *user);
/* The op around o (or o) that stands in the block; NULL: none. */
op *mpmd_ancestor_in(const block *b, op *o);
/* Sets entry `name` of dictionary i in the array attribute `list`, which is made with n empty ones
 * where there is none; a NULL removes. */
void mpmd_set_value_attr(ir_module *m, op *o, str list, size_t n, size_t i, str name,
                         const attr *a);
/* Sets entry `name` of all n dictionaries, each to its own of `values`; a NULL removes. Without any
 * entry left, the list goes. */
void mpmd_set_value_attrs(ir_module *m, op *o, str list, size_t n, str name,
                          const attr *const *values);
/* Copies all but operands, results and regions: inherent attributes of one row, discardable ones
 * of any. */
void mpmd_copy_attrs(ir_module *m, const op *from, op *to);
/* stablehlo.add and the like as a reduction (add, max, min, mul, or, and); 0: it is none. */
i64 mpmd_reduction_of(const op *o);
/* A warning there. */
void mpmd_warn(ir_ctx *c, const attr *loc, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The blocks of region 0 become those of `to`, which has none. */
void mpmd_take_body(op *to, op *from);
/* The op of such a reduction; OP_COUNT of none. */
op_id mpmd_reduction_op(i64 reduction);
/* Changes that may be those of a pattern: r is its rewriter, or NULL. */
void mpmd_erase(rewriter *r, op *o);
void mpmd_replace_value(rewriter *r, value *from, value *to);
/* An op of one operand right behind what defines that, or to the front of its block. */
void mpmd_move_to_producer(rewriter *r, op *o);
/* Of a reducer's body, if it does one and the same to all pairs; 0: it does not. */
i64 mpmd_reduction_of_body(const block *b);

#endif
