/* Inside mpmd only: two fragments of a mesh become one. Source: openxla/shardy,
 * shardy/dialect/mpmd/transforms/common/utils.cc. */
#ifndef MPMD_MERGE_H
#define MPMD_MERGE_H

#include "mpmd/util.h"

/* One of the two has no stage, or both have the same. */
static inline bool fragment_stages_agree(const op *a, const op *b) {
  return !fragment_stage(a) || !fragment_stage(b) || fragment_stage(a) == fragment_stage(b);
}

/* One fragment in the place of the consumer, which runs the producer's body, then the consumer's
 * (that may use nothing of the producer's); both are gone. It gives what others than the consumer
 * use of the producer, then what the consumer gives, has no operand twice, and keeps control
 * operands but those between the two. Of attributes it has origins, mesh and stage only. All uses
 * of the producer come behind the consumer. r: the rewriter of a pattern, or NULL. NULL: reported.
 */
op *fragments_merge(ir_module *m, rewriter *r, op *producer, op *consumer);

/* What a fragment of two says besides, asked before they are merged: its call counter, and of an
 * inferred one by which passes. */
typedef struct merged_attrs {
  const attr *call_counter, *inferred_by; /* NULL: it says nothing */
} merged_attrs;
merged_attrs fragments_merged_attrs(ir_module *m, const op *producer, const op *consumer);
void fragment_set_merged(ir_module *m, op *fragment, merged_attrs a);
/* What passes both were inferred by, each once; NULL: none. */
const attr *fragments_inferred_by(ir_module *m, const op *a, const op *b);

#endif
