/* Inside mpmd only: fragments and named computations without operands and results that say nothing.
 * Source: openxla/shardy, mpmd/transforms/common/simplify_region_op_base.cc. */
#ifndef MPMD_SIMPLIFY_REGION_H
#define MPMD_SIMPLIFY_REGION_H

#include "pass/rewrite.h"

/* Of an op with one region of one block, whose arguments are its operands and whose terminator has
 * its results: each operand and result once, results that are operands or unused dropped, operands
 * that nothing needs too. keep_attrs: discardable attributes stay. For patterns; false: all was
 * simple. */
bool simplify_region_op(rewriter *r, op *o, bool keep_attrs);

#endif
