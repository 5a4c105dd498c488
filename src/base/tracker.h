/* An allocator that knows all blocks it has given out.
 *
 * Out of memory jumps out of whatever was going on, past scratch arenas, buffers and half-read
 * modules that are known on the stack only; what they held is still in the tracker's list. Large
 * blocks that are freed are kept, up to a bound, for who next asks for one of their size: the
 * system zeroes pages that it gives out, which costs more than most passes. Not for several threads
 * at once. */
#ifndef BASE_TRACKER_H
#define BASE_TRACKER_H

#include "base/arena.h"

typedef struct tracker_block tracker_block;
typedef struct tracker {
  const allocator *mem; /* borrowed */
  tracker_block *blocks;
  tracker_block *spare; /* freed, latest first */
  size_t spare_bytes;
} tracker;

/* What it gives out is accounted to `t`, which must stay where it is. */
allocator tracker_allocator(tracker *t);
/* Frees every block that is still out, and what is kept; pointers into them are dead after it. */
void tracker_free_all(tracker *t);

#endif
