/* Moving dense and strided arrays on the host. */
#ifndef DEVICE_COPY_H
#define DEVICE_COPY_H

#include "base/base.h"

enum { DEV_MAX_RANK = 64 };

/* bytes of a dense array; false when it does not fit or a dimension is negative */
bool dev_dense_bytes(i64s dims, size_t element, size_t *out_bytes) MUST_USE;

/* Row-major byte strides of a dense array. `out` has room for dims.len. */
void dev_dense_strides(i64s dims, size_t element, i64 *out);

/* dst[i] = src[i] over all index tuples; strides in bytes, any sign, one per dimension.
 * dims.len <= DEV_MAX_RANK. The arrays must not overlap. */
void dev_copy_strided(void *dst, const i64 *dst_strides, const void *src, const i64 *src_strides,
                      i64s dims, size_t element);

#endif
