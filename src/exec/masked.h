/* What a mask says of a strip's columns. Scores that a select throws away need not be multiplied,
 * and of a product with their probabilities those terms are mostly zeros. */
#ifndef EXEC_MASKED_H
#define EXEC_MASKED_H

#include "exec/step.h"

/* Values of whose dead columns a row's are the same, so that one of them is enough, until somebody
 * wants all. */
typedef struct masked_even {
  u32 slot, width;
  i64 offset, stride[PROG_MAX_DIMS]; /* of rows, in elements; one a column */
} masked_even;

typedef struct masked_step {
  enum {
    MASKED_NOT,
    MASKED_COLUMNS, /* a product, of which dead columns do not matter */
    MASKED_TERMS,   /* a product of what is mostly zeros there */
    MASKED_EVEN,    /* a loop that may leave out dead columns but for one */
    MASKED_SUMS     /* the same, if these are zeros */
  } role;
  u32 reads, makes; /* bits: of `even`, what it reads; what it makes of others' memory */
} masked_step;

enum { MASKED_EVENS = 8 };
typedef struct masked {
  u32 slot; /* of i1, before the strips; its elements' strides, of the rows; one a column */
  i64 offset, stride[PROG_MAX_DIMS];
  u64 columns;
  u8 dead; /* where it is this, its columns do not matter */
  u32 num_even;
  masked_even even[MASKED_EVENS];
  masked_step *steps;
} masked;

/* From the first to behind the last column that matters to any of so many rows; the same with one
 * more beside them that does not, which is `dead`; that is `columns` where all matter. */
typedef struct masked_span {
  u64 some[2], wide[2], dead;
} masked_span;

/* NULL: no select by a mask that is there before, or no product it says anything of. */
masked *masked_find(arena *a, const program *p, const prog_strips *r);
/* Of so many rows of dim `cut`, the first of which is at `index`. */
void masked_range(const masked *m, const void *mask, const i64 *index, u32 cut, u64 rows,
                  masked_span *out);
/* Whether the dead column is zeros, of so many rows as dim `dim` steps; `at` is the first one's
 * first element. */
bool masked_zeros(const masked_even *e, const char *at, u64 rows, u32 dim, u64 dead);
/* All columns that are not in `wide` become what the dead one is. */
void masked_spread(const masked *m, u32 even, char *at, u64 rows, u32 dim, const masked_span *x);

#endif
