/* What a mask says of a strip's columns. Scores that a select throws away need not be multiplied,
 * and of a product with their probabilities those terms are mostly zeros. */
#ifndef EXEC_MASKED_H
#define EXEC_MASKED_H

#include "exec/step.h"

typedef struct masked {
  u32 slot; /* of i1, before the strips; its elements' strides, of the rows; one a column */
  i64 offset, stride[PROG_MAX_DIMS];
  u64 columns;
  u8 dead; /* where it is this, its columns do not matter */
  enum { MASKED_NOT, MASKED_COLUMNS, MASKED_TERMS } * role; /* of each step */
} masked;

/* NULL: no select by a mask that is there before, or no product it says anything of. */
masked *masked_find(arena *a, const program *p, const prog_strips *r);
/* From the first to behind the last column that matters to any of so many rows of dim `cut`, the
 * first of which is at `index`. */
void masked_range(const masked *m, const void *mask, const i64 *index, u32 cut, u64 rows, u64 *out);

#endif
