/* Blocks: the bytes of buffers, counted by whoever needs them. See device/buffer.h. Thread-safe. */
#ifndef DEVICE_BLOCK_H
#define DEVICE_BLOCK_H

#include "device/client.h"
#include "num/dtype.h"

typedef struct dev_block dev_block;

/* What a block is made for; the type and dimensions are what errors and logs say of it. */
typedef struct dev_block_for {
  dev_memory *memory;
  dtype type;
  i64s dims;
  size_t bytes;
} dev_block_for;

/* Uninitialised. RESOURCE_EXHAUSTED says what is free and names the largest blocks that live. Bytes
 * in host memories count as the client's, not as the device's. */
status dev_block_create(const dev_block_for *what, dev_block **out_block) MUST_USE;
/* Bytes that somebody else keeps until on_delete(data, arg) (may be NULL) is called. `data` is
 * aligned to 16. NULL: no memory, or the executor cannot use it. */
dev_block *dev_block_view(const dev_block_for *what, void *data,
                          void (*on_delete)(void *data, void *arg), void *arg);

executor *dev_block_executor(const dev_block *b);      /* borrowed */
executor_memory *dev_block_memory(const dev_block *b); /* of the client's executor; borrowed */
/* The bytes of a view are only for reading, unless whoever they are of lets them be written. */
bool dev_block_is_writable(const dev_block *b);
void dev_block_let_write(dev_block *b); /* before others see it */
dev_block *dev_block_retain(dev_block *b);
void dev_block_release(dev_block *b); /* NULL is fine */

/* A use holds the block; ending it does not let it go. */
dev_block *dev_block_use(dev_block *b); /* returns b, retained */
void dev_block_end_use(dev_block *b);
u32 dev_block_uses(const dev_block *b);      /* just now */
bool dev_block_is_alone(const dev_block *b); /* just now: one reference, which is the caller's */

/* "f32[2,4]" into out, cut to fit; returns out. For logs and messages. */
char *dev_shape_text(dtype type, i64s dims, char *out, size_t size);

#endif
