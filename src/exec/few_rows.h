/* Rows of a few bytes that s32 indices name: taken, put, added or compared without a list of where
 * they are. All lie one behind the other, the indices too. */
#ifndef EXEC_FEW_ROWS_H
#define EXEC_FEW_ROWS_H

#include "exec/move_kernel.h"
#include "num/dtype.h"

typedef struct few_rows {
  const i32 *at;
  char *operand, *other;
  size_t bytes;   /* of a row */
  bool takes;     /* rows of the operand; else it takes those of `other` */
  take_rule rule; /* no fill; of all that is inside INT32_MAX */
} few_rows;
/* The rows that some indices name, none of which is outside, from 0 to `last`; negative: nothing is
 * put there. */
typedef void few_rows_fn(const i32 *at, u64 n, char *operand, char *other, size_t bytes, i32 last);
/* n rows, in order. Of indices that are outside the nearest row is taken; nothing is put there. */
void few_rows_run(few_rows_fn *f, const few_rows *z, u64 n);

typedef enum few_how { FEW_TAKE, FEW_PUT, FEW_ADD, FEW_MAX, FEW_MIN } few_how;
/* NULL: there is none for rows of so many bytes, or for the type. For processors whose kernels are
 * not those of any (vm_kernels.isa is not "base"). */
few_rows_fn *few_rows_find(few_how how, dtype t, size_t bytes);

#endif
