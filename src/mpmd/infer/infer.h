/* Inside mpmd/infer only: on which meshes values are used, on which they could be, and how passes
 * go over a program to find out.
 *
 * The use set of a value holds the meshes that it is assigned to later on, the source set those
 * that it could be on without another transfer. Both are attributes, of ops, of arguments and
 * results of functions, and of arguments of mpmd.for. A call of a function over meshes counts as if
 * the function's body stood there, but that all calls share what is found. An op is without mesh
 * ("meshless") until it is in a fragment. Source: openxla/shardy,
 * shardy/dialect/mpmd/transforms/import/mesh_inference_utils.h. */
#ifndef MPMD_INFER_INFER_H
#define MPMD_INFER_INFER_H

#include "mpmd/infer/passes.h"
#include "mpmd/infer/sets.h"
#include "mpmd/util.h"

#define MPMD_USE_SET STR("mpmd.use_set")
#define MPMD_SRC_SET STR("mpmd.src_set")
#define MPMD_REDUCE STR("mpmd.reduce") /* the reduction across meshes that an op could be */
#define MPMD_CAN_CONVERT STR("mpmd.can_convert_to_reduce") /* ... and the user wants it to */

typedef struct infer {
  ir_module *m;
  ir_ctx *ctx;
  arena *a;            /* of the step at hand */
  arena *scratch;      /* of the pass */
  symbol_map *symbols; /* functions by name */
  op_list funcs;       /* with a topology, in their order */
  op_list entered;     /* of these, whose bodies were gone over from a call */
  bool ok;
} infer;

/* False, reported: a function has no body or no mesh, or a call is not one of functions over
 * meshes that call no others. */
bool infer_begin(infer *n, ir_module *m, arena *scratch);
op *infer_callee(const infer *n, const op *call);
/* True the first time. */
bool infer_enter(infer *n, op *func);

/* ---- what there is ---- */

bool is_meshless(const op *o);
/* mpmd.broadcast or mpmd.reduce, where sets end: what goes in and what comes out are apart. */
static inline bool is_terminal(const op *o) {
  return op_is(o, mpmd_broadcast) || op_is(o, mpmd_reduce);
}
/* Does it return what a call of the same function takes? */
bool is_in_call_chain(const op *call);
/* The stablehlo.reduce over what the concatenation o concatenates, if that is all that uses it, and
 * each operand has size 1 there; else NULL. */
op *infer_reduce_of_concat(const op *o);
const attr *value_loc(const infer *n, const value *v);
static inline size_t num_args(const op *o) { return op_body(o, 0)->num_args; }
size_t num_returned(const op *func);

/* ---- sets ---- */

/* Never unknown; o may be NULL. */
mesh_set use_of(const infer *n, const op *o);
mesh_set use_of_arg(const infer *n, const op *func, size_t i); /* or of mpmd.for */
mesh_set use_of_result(const infer *n, const op *func, size_t i);
static inline mesh_set src_of(const infer *n, const op *o) {
  return set_of(n->a, op_discardable(o, MPMD_SRC_SET));
}
mesh_set src_of_arg(const infer *n, const op *func, size_t i);
/* Through calls and loops to where it is made. */
mesh_set src_of_value(const infer *n, const value *v);

/* An empty use set is not written. */
void put_use(infer *n, op *o, const mesh_set *s);
void put_src(infer *n, op *o, const mesh_set *s);
/* Of all arguments or results at once, a set each; those of an empty use set, or not known, stay as
 * they are. */
void put_arg_sets(infer *n, op *func, str name, const mesh_set *sets);
void put_result_sets(infer *n, op *func, const mesh_set *sets);

/* True: there was something. Of functions that of arguments and results too. */
bool drop_sets(infer *n, op *o);
void drop_uses(infer *n, op *func);

/* Adds the use sets of all that uses the value, or the op's results. */
void unite_uses(const infer *n, const value *v, mesh_set *s);
void unite_uses_of(const infer *n, const op *o, mesh_set *s);
/* What mpmd.assign and mpmd.unassign say, as a set of one mesh. */
mesh_set set_of_assign(const infer *n, const op *o);
mesh_set set_of_unassign(const infer *n, const op *o);

/* ---- changes ---- */

/* Puts a copy of the op into a fragment on this mesh in front of it, with its operands and what its
 * regions see assigned to the mesh. Results are used from there where `on` is empty, or else by
 * mpmd.assign to the mesh `on`. */
void wrap_op(infer *n, op *o, str mesh, const char *pass, str on);
/* What an op needs from outside: its operands, and what its regions see, the one first or the
 * other; each once. */
void list_inputs(const infer *n, op *o, bool operands_first, value_list *out);
/* v assigned to the mesh; tokens and the like are as they are. */
value *assign_to(infer *n, op *before, const attr *loc, value *v, str mesh);
/* Where the user's name for result i is; without one, where v is made. */
const attr *result_loc(const infer *n, const op *func, size_t i, const value *v);
/* Sorted as meshes are. */
void sort_meshes(str *names, size_t n);
/* The first by its name; the function has one. */
str infer_first_mesh(const op *func);

/* Option error-limit: how many errors to report, -1 for all. False, reported: it is 0. */
bool infer_error_limit(const infer *n, const pass_args *args, i64 *limit);

#endif
