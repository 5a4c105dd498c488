/* Which function lowers each op: by the family of its row, or its own; one without does not
 * compile. */
#include "compile/coverage.h"
#include "compile/decompose.h"
#include "compile/flatten.h"
#include "compile/lower.h"
#include "compile/parallel.h"
#include "compile/plain.h"
#include "compile/steps.h"
#include "pass/refine.h"

bool lower_elementwise(lower *L, op *o) { return select_takes(L, o) && fuse_add(L, o) != NULL; }
bool lower_reduce_precision(lower *L, op *o) { return fuse_add(L, o) != NULL; }

#define LOWER_ew(id) lower_elementwise
#define LOWER_cast(id) lower_elementwise
#define LOWER_bcast(id) lower_elementwise
#define LOWER_region(id) lower_##id
#define LOWER_coll(id) lower_##id
#define LOWER_term(id) NULL
#define LOWER_own(id) lower_##id
#define LOWER_made(id) NULL
#define LOWER_later(id) NULL
lower_fn *const lower_of[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = LOWER_##family(id),
#include "ir/ops.def"
};

compile_way compile_way_of(op_id id) {
  if (lower_of[id] && lower_of[id] != lower_none) return COMPILE_RUNS;
  if (decompose_knows(id) || parallel_knows(id)) return COMPILE_RUNS;
  bool frame = (op_infos[id].traits & (SYMBOL | TERMINATOR)) != 0;
  return flatten_knows(id) || plain_knows(id) || refine_knows(id) || frame ? COMPILE_VANISHES
                                                                           : COMPILE_NO;
}
