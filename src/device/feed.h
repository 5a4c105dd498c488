/* A buffer that is filled from the host in pieces. Counted; thread-safe. */
#ifndef DEVICE_FEED_H
#define DEVICE_FEED_H

#include "device/buffer.h"

typedef struct dev_feed dev_feed;

/* The buffer (retained) is ready when `ready` (its own, pending, retained) is, which is the feed's
 * to set. NULL: no memory. */
dev_feed *dev_feed_create(dev_buffer *b, dev_event *ready);
/* Pieces that are under way are copied to the end. A buffer that never saw its last piece is in
 * error then. */
void dev_feed_close(dev_feed *f);

/* Bytes to [offset, offset + size) of the buffer, as they lie there; they stay until *out_done (one
 * reference, the caller's). After the last piece the buffer is ready, once all are copied.
 * FAILED_PRECONDITION: there was a last one, or an error. */
status dev_feed_bytes(dev_feed *f, const void *data, size_t offset, size_t size, bool last,
                      dev_event **out_done) MUST_USE;
/* All of it, as an array with these byte strides, as the last piece. */
status dev_feed_array(dev_feed *f, const void *data, const i64 *byte_strides,
                      dev_event **out_done) MUST_USE;
/* The buffer is in error (taken over). FAILED_PRECONDITION as above. */
status dev_feed_fail(dev_feed *f, status error) MUST_USE;

#endif
