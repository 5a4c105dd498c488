/* Inside mpmd only: ops with one body lose operands and results that they do not need. Source:
 * openxla/shardy, shardy/dialect/mpmd/transforms/common/simplify_region_op_base.cc. */
#ifndef MPMD_SIMPLIFY_H
#define MPMD_SIMPLIFY_H

#include "mpmd/util.h"

/* For patterns. An op of one block: equal operands, and equal results, become one; results that are
 * an operand as it came are replaced by it; operands that the body does not use go, and results
 * that nobody uses, unless an effect would go with them. false: nothing to do. A new op of the row
 * takes the body over; of attributes it has the inherent ones, and with all the others too. */
bool region_op_simplify(rewriter *r, op *o, bool all);
/* Of values that come again, for a target of the same type: what uses the target uses the first's
 * instead. again (may be NULL) gets a 1 where a value came again. r: of a pattern, or NULL. */
void values_merge_equal(rewriter *r, arena *a, const use *uses, value *const *targets, u32 n,
                        u8 *again);
value **op_result_list(arena *a, op *o);
/* Erases what is dead in the region, users first. r: of a pattern, or NULL. */
void region_erase_dead(rewriter *r, region *g);

#endif
