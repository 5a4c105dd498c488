/* The window of a sharded dimension: what each shard of a result needs of a dimension that is cut
 * into shards, and how it gets there.
 *
 * Shard t needs `length` elements in a row, from floor((t * step + begin) / divisor) on. They lie
 * in shards around its anchor: that is shard t itself or, where windows move over the dimension at
 * another speed than shards do, the one in which its window begins. A plan says, for each distance
 * from the anchor, which elements of that shard go into a row of elements that has one length for
 * all shards, and has the window of shard t at window_row_start. What one shard would have to send
 * to several takes as many ways. Pure values in, pure values out: local_window.c makes ops of a
 * plan. */
#ifndef PARTITION_WINDOW_H
#define PARTITION_WINDOW_H

#include "base/arena.h"

typedef struct shard_window {
  i64 size, shard, parts;   /* elements of the dimension and of a shard; parts * shard >= size */
  i64 step, begin, divisor; /* divisor: at least 1 */
  i64 length;               /* at least 1 */
  i64 first, last;          /* of the elements, those that matter: from first up to last */
  bool wraps;               /* behind the last element comes the first again; shards are full */
} shard_window;

/* Part of a row. Hops are in the order of `from`, then of `way`. */
typedef struct window_hop {
  i64 from;      /* shard t gets elements of the shard that is so far from its anchor */
  i64 way;       /* if t modulo the plan's ways is this */
  i64 low, high; /* the row has room for [low, high) of its elements, the same for all ways */
  i64 sent_low, sent_high; /* these are needed; equal: nothing is */
  bool own;                /* by no other shard than the one that has them */
} window_hop;

typedef struct window_plan {
  const window_hop *hops;
  u32 num_hops;
  i64 ways;
  bool anchored; /* where the window begins */
  bool varies;   /* the window is elsewhere in the row of each shard */
  bool zeros;    /* what lies outside of the dimension is zero in the window */
  i64 base;      /* element 0 of the row is element base of the anchor's shard */
  i64 length;    /* of the row */
  i64 moved;     /* elements that come to a device from others */
} window_plan;

/* false: it would take as much as gathering the whole dimension, or too many steps. */
bool window_make_plan(arena *a, const shard_window *w, window_plan *out);
i64 window_start(const shard_window *w, i64 t);
i64 window_row_start(const shard_window *w, const window_plan *p, i64 t);
/* The shard whose elements shard t gets by the hop, perhaps its own; -1: it needs none of them. */
i64 window_source(const shard_window *w, const window_plan *p, const window_hop *h, i64 t);
/* Whether any shard's window has elements that do not matter. */
bool window_reaches_out(const shard_window *w);

#endif
