/* Inside compile only: an allocator that knows all blocks it has given out.
 *
 * Out of memory jumps out of whatever was going on, past scratch arenas and half-read modules
 * that live on the stack; what they held is still in the tracker's list. */
#ifndef COMPILE_TRACKER_H
#define COMPILE_TRACKER_H

#include "base/arena.h"

typedef struct tracker_block tracker_block;
typedef struct tracker {
  const allocator *mem; /* borrowed */
  tracker_block *blocks;
} tracker;

/* What it gives out is accounted to `t`, which must stay where it is. */
allocator tracker_allocator(tracker *t);
void tracker_free_all(tracker *t);

#endif
