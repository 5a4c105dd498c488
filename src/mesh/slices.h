/* Which slice of a tensor is where, under a sharding over axes.
 *
 * Slices are numbered row-major over the grid of pieces, a dimension each. A position's number is
 * the sum of its digits along the axes that split the tensor, each times what one step along the
 * axis is worth. Values borrow the sharding and the arena; all functions are thread-safe. */
#ifndef MESH_SLICES_H
#define MESH_SLICES_H

#include "mesh/mesh.h"

/* One axis, or part of one, that splits dimension `dim`. */
typedef struct slice_column {
  u32 axis, dim;
  i64 size;
  i64 stride; /* positions between neighbours along it */
  i64 weight; /* slices between neighbours along it */
} slice_column;

typedef struct slice_grid {
  const sharding *sharding;
  const slice_column *columns; /* major to minor */
  size_t num_columns;
  const i64 *strategy; /* pieces of each dimension */
  i64 num_slices, replicas;
} slice_grid;

/* [begin, end) along one dimension. */
typedef struct index_range {
  i64 begin, end;
} index_range;

/* The sharding is valid: its axes are different parts of the mesh. */
void slice_grid_make(arena *a, const sharding *s, slice_grid *out);

/* Slice at a position of the mesh: O(axes). */
static inline i64 slice_at(const slice_grid *g, i64 position) {
  i64 slice = 0;
  for (size_t i = 0; i < g->num_columns; i++) {
    const slice_column *c = &g->columns[i];
    slice += position / c->stride % c->size * c->weight;
  }
  return slice;
}
/* out[mesh size]: the slices of all positions, a few instructions each. */
void slice_fill(arena *a, const slice_grid *g, i64 *out);

/* The pieces of each dimension are as even as they go: all but the last ones are of the size
 * rounded up, as in XLA. */
void slice_shape(const slice_grid *g, i64s shape, i64 *out);
void slice_ranges(const slice_grid *g, i64s shape, i64 slice, index_range *out);
/* Positions that hold a slice, in their order: O(replicas * axes). */
i64s slice_positions(arena *a, const slice_grid *g, i64 slice);
/* out[mesh size]: positions by slice; those of slice s are at s * replicas. Linear in devices. */
void slice_groups(arena *a, const slice_grid *g, i64 *out);

#endif
