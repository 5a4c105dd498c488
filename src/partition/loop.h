/* Loops that count, and what stays the same in them. */
#ifndef PARTITION_LOOP_H
#define PARTITION_LOOP_H

#include "partition/env.h"

/* A stablehlo.while that goes on as long as its argument `arg` is below a constant. */
typedef struct loop_count {
  u32 arg;
  i64 from, step;
  u64 trips;
} loop_count;

/* false: it is no such loop, or nobody can say how often it runs. */
bool loop_counts(const op *loop, loop_count *out);
/* A value of the loop's regions: a constant, or what the loop carries unchanged from one. */
bool loop_constant(const op *loop, const value *v, i64 *out);
/* What v, seen in a region of the loop, is in front of it; NULL: not always the same. */
value *loop_from_outside(op *loop, value *v);

/* The addition, in each trip, to what the loop carries under this number, where nobody else sees
 * what it was or what it becomes; *side: which operand is added. NULL: there is none. */
op *loop_addition(const op *loop, u32 i, u32 *side);

typedef struct loop_row {
  value *all; /* from outside of the loop */
  value *at;  /* the index */
} loop_row;

/* all[at] is of type `row`; one[0] is it, as slices and updates have it. */
bool loop_is_of_rows(const type *all, const type *one, const type *row);
/* v, in the loop's body, is all[at], a whole row along the first dimension. */
bool loop_reads_row(op *loop, const value *v, loop_row *out);
/* In one trip after the other `at` is each of so many rows once, up or down. */
bool loop_comes_once(const op *loop, const loop_count *c, const value *at, i64 rows);
/* The same for a whole row that is written: what result k of the loop consists of, where nobody
 * sees it on the way. */
bool loop_stacks(const op *loop, const loop_count *c, u32 k, value **row, value **at);

/* Bytes of a shard; 0: the type has no fixed size. */
i64 shard_bytes(const type *t, const sharding *s);
/* Bytes a device that may be kept beside a loop as long as it runs, for it to have less to do: what
 * it carries, or a little. e NULL: nothing is sharded any longer. */
i64 loop_room(const part_env *e, const op *loop);

#endif
