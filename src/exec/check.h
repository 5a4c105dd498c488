/* Comparing tensors as checks do, also for who checks at the host. */
#ifndef EXEC_CHECK_H
#define EXEC_CHECK_H

#include "base/status.h"
#include "num/dtype.h"

/* NULL where all elements are equal as numbers are: zeros of either sign, and NaN never. Else
 * FAILED_PRECONDITION with the first that is not. */
status check_equal(dtype type, i64s dims, const void *actual, const void *expected) MUST_USE;

#endif
