/* Which axes an op computes under: one list of axes per factor of its rule. */
#ifndef PARTITION_COMMON_AXES_H
#define PARTITION_COMMON_AXES_H

#include "shard/rule.h"

typedef enum axes_policy {
  AXES_THAT_FIT,  /* what shards can compute under, see common_axes */
  AXES_AS_SHARDY, /* what Shardy takes, to the last tie, see common_axes */
} axes_policy;

typedef struct axes_problem {
  const rule *rule;
  const mesh *mesh;
  const i64 *sizes; /* elements of each tensor: operands, then results */
  axes_policy policy;
  /* AXES_THAT_FIT */
  const u8 *kinds;                /* factor_kind by factor, stricter than the rule's; NULL: those */
  const sharding *const *tensors; /* NULL: any will do */
  const type *const *types;
  const bool *pads;    /* by factor: axes need not divide it; NULL: none may be such */
  axis_list unreduced; /* of the results: only reduction factors may have these */
  /* AXES_AS_SHARDY */
  const axis_list *factors; /* [tensor][factor]: what the tensor has */
  const bool *present;      /* [tensor][factor]: whether it is there; NULL: as the rule says */
} axes_problem;

/* out[num_factors]. If all tensors agree that is the answer. Otherwise each (factor, axes) that
 * some tensor has is a candidate that saves resharding those tensors; the largest goes first, what
 * overlaps with it is trimmed, until none is left. With two tensors only, one decides: the larger
 * one, of those that have a sharding (for Shardy, that are not sharded along a permutation).
 *
 * AXES_THAT_FIT: factors that must be replicated get none; others never overlap, divide the
 * dimensions they are in, unless they may be padded, and shard a minor factor of a dimension only
 * where the major ones are sharded to the end, so that every tensor's shards are contiguous.
 *
 * Source: openxla/shardy, sdy-insert-explicit-reshards. Deterministic. */
void common_axes(arena *a, const axes_problem *p, axis_list *out);

/* The sharding of tensor t under these axes: closed, nothing unreduced. */
const sharding *common_sharding(arena *a, const axes_problem *p, u32 t, const axis_list *axes);

bool rule_has_factor(const rule *r, u32 t, u32 f);

#endif
