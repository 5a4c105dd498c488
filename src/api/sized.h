/* Inside api only: structs that begin with struct_size, between callers and a library whose
 * versions may differ (terrazzo/version.h). */
#ifndef API_SIZED_H
#define API_SIZED_H

#include "base/status.h"

/* The caller's struct in our size; fields that it lacks are zero. An error where its size is not
 * set, or it has set fields that we do not know. `type` is for messages. */
status sized_read(const void *from, size_t size, const char *type, void *out) MUST_USE;
#define SIZED_READ(type, from, out) sized_read((from), sizeof(type), #type, (out))

/* Ours into the caller's, as far as it goes; what it has beyond is zero. `ours` NULL: all zero, but
 * the size. false: its size is not set, and it is not touched. */
bool sized_write(void *to, const void *ours, size_t size);

#endif
