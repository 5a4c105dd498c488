/* Memory for buffers and workspaces: a cache over the system's allocator.
 *
 * A train step frees and asks for the same sizes over and over; fresh pages cost more than the
 * arithmetic on them. Freed blocks go to a list by size class (four classes per power of two)
 * and come back from there. With what is live they are no more bytes than were live at once a
 * second or two ago, and some to spare; the oldest go first, so that sizes that nobody asks for
 * make room for others, and none is kept that nobody has asked for in about sixteen seconds: the
 * process does not grow with each peak that is a little higher. Big blocks ask for huge pages.
 * Thread-safe.
 *
 * For tests, TERRAZZO_POISON=N (a number, not 0) in the environment has every block filled with
 * rubbish when it is handed out and when it comes back, another one each time and for each N: what
 * reads memory before it is written, or after it is freed, then computes something else each time.
 * Under MemorySanitizer such a block also counts as not written, and is reported with its place. */
#ifndef DEVICE_HEAP_H
#define DEVICE_HEAP_H

#include "base/base.h"

typedef struct dev_heap dev_heap;

dev_heap *dev_heap_create(void);           /* one reference; NULL: no memory */
dev_heap *dev_heap_retain(dev_heap *heap); /* returns heap */
void dev_heap_release(dev_heap *heap);     /* all blocks must have been given back */

/* At least `bytes` bytes (0 is fine), aligned to 64, not cleared. NULL: no memory. */
void *dev_heap_alloc(dev_heap *heap, size_t bytes);
void dev_heap_free(dev_heap *heap, void *p, size_t bytes); /* p from alloc(bytes), or NULL */
/* When nothing has been asked for in a second: gives back what is cached beyond what is live and
 * was live before that. true: there is more to give back after another second. */
bool dev_heap_trim(dev_heap *heap);
size_t dev_heap_cached(dev_heap *heap); /* bytes, just now */
/* Makes *p, of *size bytes, `bytes` long at least; what was in it is lost. false: no memory, and *p
 * is NULL. */
bool dev_heap_reserve(dev_heap *heap, char **p, size_t *size, size_t bytes);

/* TERRAZZO_POISON; 0: no. */
u64 dev_poison_wanted(void);
/* Fills a part of a block with rubbish, if that is what this heap does. */
void dev_heap_poison(dev_heap *heap, void *p, size_t bytes);

#endif
