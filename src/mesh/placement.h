/* The one form that every notation is read into and written from: where the pieces of a tensor
 * are, exactly. A sharding over axes says nearly all of it; what it cannot say is here: manual
 * axes, tuples, and the words that XLA has for a sharding over devices it doesn't name.
 *
 * Values are immutable and borrow the arena of their making. All functions are thread-safe. */
#ifndef MESH_PLACEMENT_H
#define MESH_PLACEMENT_H

#include "base/diag.h"
#include "mesh/op_sharding.h"

typedef enum placement_kind {
  PLACED_BY_AXES,   /* `sharding`; a maximal mesh: all of it on one device */
  PLACED_MANUAL,    /* XLA's {manual}, over devices that nothing names */
  PLACED_UNREDUCED, /* {unreduced}, likewise */
  PLACED_UNKNOWN,   /* {unknown} */
  PLACED_TUPLE      /* `elements` */
} placement_kind;

typedef struct placement {
  placement_kind kind;
  const sharding *sharding; /* PLACED_BY_AXES only */
  axis_list manual;         /* axes along which each device's value is its own affair */
  /* The mesh's last axis numbers pieces that one device computes in turns (MindSpore). */
  bool interleaved;
  const struct placement *const *elements;
  size_t num_elements;
} placement;

/* Are the axes of dimensions, replicated, unreduced and manual ones different parts of the mesh,
 * which fit each other? false: said so, naming the dimension or the list. */
bool placement_check(const placement *p, diag_sink *sink) MUST_USE;

/* As XLA's tiles. The kind is PLACED_BY_AXES; open dimensions, priorities and explicit
 * replication are left out. */
void placement_tile(arena *a, const placement *p, tile_assignment *out);

/* The same tiles over the axes of `m`, whole or in parts. NULL mesh: over axes `_axis_0`, ... of
 * its own making, as few as it takes; where no product of axes has that order of devices, an axis
 * a tile dimension with the devices listed. NULL: said so, naming the dimension. */
const placement *placement_from_tiles(arena *a, const tile_assignment *t, const mesh *m,
                                      diag_sink *sink) MUST_USE;

/* Where the reader of a mesh stops listing devices one by one. */
enum { PLACEMENT_MAX_LISTED = 1 << 20 };

#endif
