/* Buffers: arrays on a device, dense, row-major unless laid out otherwise.
 *
 * A buffer is a handle: a type, dimensions, a memory, a ready event, and a counted block of
 * bytes. Deleting or donating drops the block, not the handle: questions about shape and place
 * are still answered. Whoever works on the bytes (a launch, a copy) holds the block, so the
 * handle may go at any time.
 *
 * Whoever looks at the bytes outside the order of the device's launches is counted in the block
 * as a use: copies to the host or to other memories while they are outstanding, external
 * references, and calls that will enqueue a launch until they have. Launches in the queue need no
 * count, since each device runs its launches in order. A launch may write into a block that is
 * donated to it only if its own use is the only one; otherwise it takes a copy. So nobody waits,
 * and nobody sees what a later launch writes. Thread-safe. */
#ifndef DEVICE_BUFFER_H
#define DEVICE_BUFFER_H

#include "device/block.h"
#include "device/event.h"

typedef struct dev_buffer dev_buffer;

/* Every creator: dims are copied; INVALID_ARGUMENT when they are negative or too many,
 * RESOURCE_EXHAUSTED when the bytes cannot be had. The buffer has one reference. */

/* Uninitialised bytes, or `block` if not NULL (retained; it must be large enough), which hold
 * the value once `ready` is set (retained). */
status dev_buffer_create(dev_memory *m, dtype type, i64s dims, dev_event *ready, dev_block *block,
                         dev_buffer **out_buffer) MUST_USE;
/* How its elements lie, by a creator before anybody else sees it: the dimensions, each once, the
 * one whose elements are neighbours first. None: row-major. */
void dev_buffer_lay_out(dev_buffer *b, i64s minor_to_major);

/* An array at the host, and what may be done with its bytes. */
typedef struct dev_host_array {
  dtype type;
  i64s dims;
  const void *data;
  const i64 *byte_strides; /* NULL: dense, row-major */
  i64s minor_to_major;     /* of the buffer; none: row-major */
  bool lasting;            /* the bytes stay as they are until `done` */
  bool shared;             /* and may be the buffer's own until then */
  bool writable;           /* and what takes the buffer over may write them */
} dev_host_array;

/* A buffer of the array's elements; of pred, what is not 0 becomes 1. Shared bytes that lie as the
 * buffer's have to and are aligned to 64 are not copied; other lasting ones are copied later if
 * they are many. The event (one reference, the caller's; out_done may be NULL) is set when the
 * bytes are needed no longer, by whoever's thread that is. */
status dev_buffer_from_array(dev_memory *m, const dev_host_array *a, dev_buffer **out_buffer,
                             dev_event **out_done) MUST_USE;
/* A copy, made before this returns, row-major. */
status dev_buffer_from_host(dev_memory *m, dtype type, i64s dims, const void *data,
                            const i64 *byte_strides, dev_buffer **out_buffer) MUST_USE;
/* Bytes that somebody else keeps until on_delete(data, arg) (may be NULL) is called; who takes the
 * buffer over writes there if they are `writable`, else to a copy. */
status dev_buffer_view(dev_memory *m, dtype type, i64s dims, void *data, bool writable,
                       void (*on_delete)(void *data, void *arg), void *arg,
                       dev_buffer **out_buffer) MUST_USE;
/* The same bytes as an array of another type, dimensions and order (none: row-major), which must be
 * as many. As long as both are there, a donation of either copies. */
status dev_buffer_bitcast(dev_buffer *b, dtype type, i64s dims, i64s minor_to_major,
                          dev_buffer **out_buffer) MUST_USE;
/* b's bytes become `from`'s, which is like it, as of a bitcast; b's event stays its own. False, and
 * nothing done: somebody has b's bytes already, or they are in another memory. */
bool dev_buffer_adopt(dev_buffer *b, dev_buffer *from);
/* Writes what the buffer is to be from when `done` (retained, set with how it went) is: an array of
 * its type and dimensions with these strides (NULL: dense, row-major), or bytes as they lie in it,
 * which stay until then. `lasting` as above. Nobody may look at these bytes meanwhile. */
status dev_buffer_write(dev_buffer *b, const void *data, const i64 *byte_strides, bool lasting,
                        dev_event *done) MUST_USE;
status dev_buffer_write_bytes(dev_buffer *b, size_t offset, size_t size, const void *data,
                              dev_event *done) MUST_USE;
/* What b had, which is deleted: ready when `ready` (retained) is. */
status dev_buffer_move(dev_buffer *b, dev_event *ready, dev_buffer **out_buffer) MUST_USE;
/* Another memory's copy, made once the source is ready; its failure becomes this one's. */
status dev_buffer_copy(dev_buffer *src, dev_memory *m, dev_buffer **out_buffer) MUST_USE;

/* src's bytes to dst, which is as large and as it is laid out, once src is ready; then `ready`
 * (dst's, retained) is set. */
status dev_buffer_copy_to(dev_buffer *src, dev_buffer *dst, dev_event *ready) MUST_USE;

dev_buffer *dev_buffer_retain(dev_buffer *b);
void dev_buffer_release(dev_buffer *b); /* NULL is fine */

dtype dev_buffer_type(const dev_buffer *b);
i64s dev_buffer_dims(const dev_buffer *b);        /* borrowed */
i64s dev_buffer_order(const dev_buffer *b);       /* minor to major, all of them; borrowed */
bool dev_buffer_is_permuted(const dev_buffer *b); /* not row-major */
size_t dev_buffer_bytes(const dev_buffer *b);
bool dev_buffer_is_like(const dev_buffer *a, const dev_buffer *b); /* shape and order */
dev_memory *dev_buffer_memory(const dev_buffer *b);
dev_event *dev_buffer_ready(const dev_buffer *b); /* borrowed */

void dev_buffer_delete(dev_buffer *b);
bool dev_buffer_is_deleted(dev_buffer *b);
/* The block, retained; INVALID_ARGUMENT when deleted or donated. */
status dev_buffer_hold(dev_buffer *b, dev_block **out_block) MUST_USE;
/* The same, and begins a use. */
status dev_buffer_use(dev_buffer *b, dev_block **out_block) MUST_USE;
/* By a caller with one use of b's block: true if that is the only one and the bytes are ours to
 * write. Then b is as good as deleted until dev_buffer_return gives it its block back, which a
 * delete in between prevents, or dev_buffer_delete makes it so for good. */
bool dev_buffer_donate(dev_buffer *b);
void dev_buffer_return(dev_buffer *b); /* after a donation of the same caller's */

/* The address of the bytes, for as long as they live: UNIMPLEMENTED where the executor cannot map
 * memory; INVALID_ARGUMENT when deleted or donated. */
status dev_buffer_map(dev_buffer *b, void **out_data) MUST_USE;

/* While there are external references the bytes stay where they are, deleted or not. */
status dev_buffer_add_external(dev_buffer *b) MUST_USE;
status dev_buffer_drop_external(dev_buffer *b) MUST_USE;

/* Copies bytes [offset, offset + size) to dst once the buffer is ready; never blocks. The event
 * (one reference, the caller's) says when, and how it went. */
status dev_buffer_read(dev_buffer *b, void *dst, size_t offset, size_t size,
                       dev_event **out_done) MUST_USE;
/* The whole array to dst with these byte strides (NULL: dense, row-major). */
status dev_buffer_to_host(dev_buffer *b, void *dst, const i64 *byte_strides,
                          dev_event **out_done) MUST_USE;

#endif
