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

static bool is_truth(const node *n, bool value) {
  return n->type == DTYPE_pred && n->element && *(const u8 *)n->element == value;
}

/* One operand where the other says nothing: x and true, x or false, of masks that are put
 * together. */
static bool becomes_operand(lower *L, op *o) {
  if (!op_is(o, and) && !op_is(o, or)) return false;
  node *a = lower_node(L, o, 0), *b = lower_node(L, o, 1);
  node *n = is_truth(a, op_is(o, and)) ? b : is_truth(b, op_is(o, and)) ? a : NULL;
  if (!n) return false;
  lower_bind(L, op_result(o, 0), n);
  lower_used(a), lower_used(b);
  return true;
}

bool lower_elementwise(lower *L, op *o) {
  return select_takes(L, o) && (becomes_operand(L, o) || fuse_add(L, o) != NULL);
}
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
