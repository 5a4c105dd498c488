/* What the ops mean: verification and inference of result types.
 *
 * After dialect_verify says yes, later stages may rely on: every registered op has the operands,
 * results, regions and attributes of its row, the attributes of the kinds that views decode; all
 * tensors are ranked, of at most DIALECT_MAX_RANK dimensions, and their bytes fit an i64; shapes,
 * dimension numbers and the signatures of regions agree; values dominate their uses; symbols,
 * calls and meshes exist; calls do not recurse; shardings fit their mesh and tensor.
 *
 * Sources: openxla/stablehlo docs/spec.md (constraint labels such as dot_general_c3 in comments),
 * openxla/shardy docs/sharding_representation.md and sdy_dialect.md. */
#ifndef DIALECT_DIALECT_H
#define DIALECT_DIALECT_H

#include "ir/op.h"

enum { DIALECT_MAX_RANK = 64 };

/* Reports every op that is wrong, each once, to the context's sink. Ops without a row pass if
 * their values dominate; nothing is assumed of their insides. Overwrites op.num and value.num. */
bool dialect_verify(ir_module *m);

/* The result types of an op with trait INFER_TYPES (or that of an op whose result follows from
 * its operands anyway), from operands, attributes and regions, into out[num_results]. false: an
 * error was reported, or there is no rule. */
bool dialect_infer(ir_module *m, const op *o, const type **out);
/* The same for an op that nobody has verified: checks first what inference relies on. */
bool dialect_infer_checked(ir_module *m, const op *o, const type **out);

/* Does the op fit this op_sharding_rule, this sharding_per_value of n types? For what comes from
 * foreign dialects; `what` names the values: "result". */
bool dialect_check_rule(ir_module *m, const op *o, const attr *rule);
bool dialect_check_shardings(ir_module *m, const op *o, const attr *shardings,
                             const type *const *t, size_t n, const char *what);

/* "tensor<2x?xf32>": for messages; lives in the context's arena. */
const char *dialect_show_type(ir_ctx *c, const type *t);

#endif
