/* Planning a reshard: which collectives turn one sharding of a tensor into another.
 *
 * Pure values in, pure values out; collectives.c makes ops of the plan. The method
 * is Shardy's (openxla/shardy, sdy-reshard-to-collectives): first slice what no device needs
 * any more, then one permutation of equal shards, then all-to-alls between dimensions, and
 * gather last. Where a search finds a plan that sends less, it is that one. */
#ifndef PARTITION_RESHARD_H
#define PARTITION_RESHARD_H

#include "mesh/mesh.h"

typedef enum step_kind { STEP_ALL_SLICE, STEP_PERMUTE, STEP_ALL_TO_ALL, STEP_ALL_GATHER } step_kind;

/* From the end of dimension `src` to the end of `dst`. */
typedef struct reshard_move {
  axis_list axes;
  u32 src, dst;
} reshard_move;

typedef struct reshard_step {
  step_kind kind;
  const axis_list *dim_axes; /* slice, gather: the axes per dimension, major to minor */
  const reshard_move *moves; /* all-to-all: by source; no dimension is in two of them */
  u32 num_moves;
  const sharding *out; /* closed; what the step makes */
} reshard_step;

typedef VEC(reshard_step) reshard_steps;

/* Appends the steps from `in` to `out`, which have one rank, meshes that differ at most in
 * their device ids, and equal unreduced axes. Where they do not divide `shape`, shards are as long
 * as the first, and the last are padded; sharding_steps holds for each step then. Equivalent
 * shardings need no step. others: on the way there may be axes that neither of both has, along
 * which all have the same (not where a manual computation is around: part_axes_are_free).
 * Everything is allocated in the arena. */
void reshard_plan(arena *a, const sharding *in, const sharding *out, const i64 *shape, bool others,
                  reshard_steps *steps);
/* As Shardy plans it, be the shape divided or not; what is replicated has to change to another
 * order of devices as well. */
void reshard_plan_anyhow(arena *a, const sharding *in, const sharding *out, const i64 *shape,
                         reshard_steps *steps);

/* Elements that a device sends, in a ring (wire.h). */
double reshard_sent(const sharding *in, const i64 *shape, const reshard_steps *steps);
/* Elements of a device's shard, padding included. */
double sharding_elements(const sharding *s, const i64 *shape);
/* *steps becomes a plan that sends less than `limit` elements, and as few as any unless it takes
 * too long to tell, between shardings of one mesh; false: none was found. */
bool reshard_plan_least(arena *a, const sharding *in, const sharding *out, const i64 *shape,
                        bool others, double limit, reshard_steps *steps);

/* May a dimension of n elements, cut into some parts, be joined or cut to other parts? */
bool reshard_dim_steps(i64 n, i64 from, i64 to);
/* Whether the shards under one are joined or cut to make those under the other, in each dimension
 * of `shape`: padding is at the end of the whole, before and after. from NULL: replicated. */
bool sharding_steps(const sharding *from, const sharding *to, const i64 *shape);

#endif
