/* Which axes an op computes under: one list of axes per factor of its rule. */
#ifndef PARTITION_COMMON_AXES_H
#define PARTITION_COMMON_AXES_H

#include "shard/rule.h"

typedef struct axes_problem {
  const rule *rule;
  const u8 *kinds; /* factor_kind by factor: the rule's, or stricter */
  const mesh *mesh;
  const sharding *const *tensors; /* operands, then results; NULL: any will do */
  const i64 *sizes;               /* elements of each tensor */
  const type *const *types;
  axis_list unreduced; /* of the results: only reduction factors may have these */
} axes_problem;

/* out[num_factors]. Factors that must be replicated get none; others never overlap, divide the
 * dimensions they are in, and shard a minor factor of a dimension only where the major ones
 * are sharded to the end, so that every tensor's shards are contiguous.
 *
 * If all tensors agree that is the answer. Otherwise each (factor, axes) that some tensor has
 * is a candidate that saves resharding those tensors; the largest goes first, what overlaps
 * with it is trimmed, until none is left. With two tensors only, one decides: the larger one
 * that has a sharding.
 * Source: openxla/shardy, sdy-insert-explicit-reshards. Deterministic. */
void common_axes(arena *a, const axes_problem *p, axis_list *out);

/* The sharding of tensor t under these axes: closed, nothing unreduced. */
const sharding *common_sharding(arena *a, const axes_problem *p, u32 t, const axis_list *axes);

/* Moves the first of `from` behind those of `to`, a factor of this size, while they divide it. */
void axes_fill(arena *a, axis_list *to, i64 size, axis_list *from);

/* Of two candidates that save as much: passed through before reduced, permuted, replicated. */
int factor_precedence(u8 kind);

#endif
