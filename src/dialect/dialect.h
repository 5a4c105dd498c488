/* What the ops mean: verification and inference of result types.
 *
 * After dialect_verify says yes, later stages may rely on: every registered op has the operands,
 * results, regions and attributes of its row, the attributes of the kinds that views decode; ranks
 * are at most DIALECT_MAX_RANK; shapes, dimension numbers and the signatures of regions agree;
 * values dominate their uses; symbols, calls and meshes exist; shardings fit their mesh and tensor.
 * After dialect_check_runnable also on: every function has one block, tensors are ranked and of
 * numbers, their bytes fit an i64, calls do not recurse.
 *
 * Sources: openxla/stablehlo docs/spec.md (constraint labels such as dot_general_c3 in comments),
 * openxla/shardy docs/sharding_representation.md and sdy_dialect.md. */
#ifndef DIALECT_DIALECT_H
#define DIALECT_DIALECT_H

#include "ir/op.h"
#include "mesh/mesh.h"

enum { DIALECT_MAX_RANK = 64 };

/* Reports to the context's sink what is wrong, in MLIR's order: the first error of each function.
 * Ops without a row pass if their values dominate; nothing is assumed of their insides. Overwrites
 * op.num, value.num and block.num. */
bool dialect_verify(ir_module *m);
/* Only what new shardings of a module that was verified can break: those of ops, what ops of sdy
 * and functions say, and ops of others. */
bool dialect_verify_shardings(ir_module *m);
/* The same for one op alone, that has no regions and speaks of no symbols. */
bool dialect_verify_op(ir_module *m, const op *o);
/* What is valid but not implemented by propagation, partitioner and compiler, as UNIMPLEMENTED. */
bool dialect_check_runnable(ir_module *m);
/* Does it combine elements by a region, into results of the region's type? Its operands' types may
 * be narrower (the specification: promotable). */
bool dialect_combines(const op *o);
/* May calls, and composites, be inlined? Not where they are recursive, nested deeper than max_depth
 * or expand to more ops than dialect_inlined_limit. Overwrites op.num of functions. */
bool dialect_check_calls(ir_module *m, u32 max_depth);
/* How many ops a module of so many may become by inlining. */
u64 dialect_inlined_limit(u64 ops);
u64 dialect_count_ops(op *root); /* of it and what is in it */

/* The result types of an op with trait INFER_TYPES (or that of an op whose result follows from
 * its operands anyway), from operands, attributes and regions, into out[num_results]. false: an
 * error was reported, or there is no rule. */
bool dialect_infer(ir_module *m, const op *o, const type **out);
/* The same for an op that nobody has verified: checks first what inference relies on. */
bool dialect_infer_checked(ir_module *m, const op *o, const type **out);

/* Does the op fit this op_sharding_rule, this sharding_per_value of n types? For what comes from
 * foreign dialects; `what` names the values: "result". */
bool dialect_check_rule(ir_module *m, const op *o, const attr *rule);
bool dialect_check_shardings(ir_module *m, const op *o, const attr *shardings, const type *const *t,
                             size_t n, const char *what);

/* Unreduced axes of one sharding. */
typedef struct unreduced_axes {
  axis_list axes;
  unreduced_kind kind;
} unreduced_axes;

/* From the shardings of an op's operands to those of its results, all over one mesh. */
typedef struct unreduced_change {
  const mesh *mesh;
  const unreduced_axes *from;
  size_t num_from;
  const unreduced_axes *to;
  size_t num_to;
  int into, out_of; /* the kind in which axes may come and go; -1: they may not */
} unreduced_change;
/* May axes come and go so? Those that stay must keep their kind. */
bool dialect_check_unreduced(ir_ctx *c, const op *o, const unreduced_change *u);

/* What of a row there is, for `terrazzo ops`: a check of its own, inference of result types. */
bool dialect_verifies(op_id id);
bool dialect_infers(op_id id);
/* What an operand or result of a row may be, in the words of the verifier's message. */
void dialect_describe_value(buf *out, const value_info *info);

/* The shape of stablehlo.dot and dot_general, whose element type does not follow from the operands:
 * a tensor of index. NULL: an error was reported. */
const type *dialect_infer_product(ir_module *m, const op *o);

/* "tensor<2x?xf32>": for messages; lives in the context's arena. */
const char *dialect_show_type(ir_ctx *c, const type *t);

#endif
