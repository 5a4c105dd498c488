/* Planning a reshard: which collectives turn one sharding of a tensor into another.
 *
 * Pure values in, pure values out; collectives.c makes ops of the plan. The method
 * is Shardy's (openxla/shardy, sdy-reshard-to-collectives): first slice what no device needs
 * any more, then one permutation of equal shards, then all-to-alls between dimensions, and
 * gather last, so that what crosses the wire is as small as it can be. */
#ifndef PARTITION_RESHARD_H
#define PARTITION_RESHARD_H

#include "mesh/mesh.h"

typedef enum step_kind { STEP_ALL_SLICE, STEP_PERMUTE, STEP_ALL_TO_ALL, STEP_ALL_GATHER } step_kind;

typedef struct reshard_step {
  step_kind kind;
  const axis_list *dim_axes; /* slice, gather: the axes per dimension, major to minor */
  axis_list axes;            /* all-to-all: moved from the end of `src` to the end of `dst` */
  u32 src, dst;
  const sharding *out; /* closed; what the step makes */
} reshard_step;

typedef VEC(reshard_step) reshard_steps;

/* Appends the steps from `in` to `out`, which have one rank, meshes that differ at most in
 * their device ids, and equal unreduced axes. Where they do not divide `shape`, shards are as long
 * as the first, and the last are padded; sharding_steps holds for each step then. Equivalent
 * shardings need no step. Everything is allocated in the arena. */
void reshard_plan(arena *a, const sharding *in, const sharding *out, const i64 *shape,
                  reshard_steps *steps);
/* As Shardy plans it, be the shape divided or not; what is replicated has to change to another
 * order of devices as well. */
void reshard_plan_anyhow(arena *a, const sharding *in, const sharding *out, const i64 *shape,
                         reshard_steps *steps);

/* Whether the shards under one are joined or cut to make those under the other, in each dimension
 * of `shape`: padding is at the end of the whole, before and after. from NULL: replicated. */
bool sharding_steps(const sharding *from, const sharding *to, const i64 *shape);

#endif
