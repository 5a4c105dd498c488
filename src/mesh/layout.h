/* MindSpore's Layout: a device matrix with named axes, and which axes split each dimension of a
 * tensor.
 *
 *   layout = Layout((2, 2, 2), ("dp", "sp", "mp"))      device_matrix, alias_name
 *   placed = layout(("dp", "sp"), "None")               an entry a dimension; a tuple: major first
 *
 * Ranks fill the matrix in row-major order, or as rank_list says. A tensor's slices are numbered
 * row-major over the grid of its strategy, so a rank's slice is found in three steps: write its
 * position as digits, an axis each (numbering); pick the digits of the axes that the tensor uses,
 * in its order (reordering); multiply each by what one step along it is worth and add (weighing).
 * The columns of the grid hold the last two. Source: MindSpore's documentation of
 * mindspore.parallel.Layout and of operator-level parallelism.
 *
 * Stricter than MindSpore: sizes are at least 1, ranks are neither negative nor repeated, "None"
 * comes last in a tuple, shapes divide evenly. Values live in the arena of their making and are
 * immutable; functions are thread-safe. Errors go to the sink, without a position, as
 * `field: expected ..., found ...`. */
#ifndef MESH_LAYOUT_H
#define MESH_LAYOUT_H

#include "base/diag.h"
#include "mesh/slices.h"

enum { LAYOUT_MAX_AXES = 1024, LAYOUT_MAX_DIMS = 1024 };

/* What splits one dimension: one name, or several in parentheses; "None" splits nothing. */
typedef struct layout_entry {
  const str *names;
  size_t num_names;
  bool tuple;
} layout_entry;

typedef struct layout_spec {
  i64s device_matrix;
  const str *alias_name;
  size_t num_alias_names;
  i64s rank_list; /* data NULL: 0, 1, 2, ... */
  const layout_entry *entries;
  size_t num_entries;
} layout_spec;

typedef struct layout {
  const sharding *sharding; /* mesh: device matrix, names, and the rank list as device ids */
  const layout_entry *entries;
  slice_grid grid;
  /* The last axis is "interleaved_parallel": its positions are pieces that one device computes in
   * turns, so that a rank is virtual and the device is rank / interleaved. 0: no such axis. */
  i64 interleaved;
} layout;

/* Checks and builds; everything is copied. NULL: said so. */
const layout *layout_make(arena *a, const layout_spec *spec, diag_sink *sink) MUST_USE;

/* A `.shard()` strategy: the device matrix is the strategy, and where it has fewer slices than
 * there are devices, an axis "rep" that no dimension uses: last (right, as MindSpore does now), or
 * first (left, as older versions and some operators do). Axes are named dN-1 ... d0. */
const layout *layout_from_strategy(arena *a, i64s strategy, i64 devices, bool repeat_left,
                                   diag_sink *sink) MUST_USE;

static inline const mesh *layout_mesh(const layout *l) { return l->sharding->mesh; }
static inline u32 layout_rank(const layout *l) { return l->sharding->rank; }
/* Axis as tensor_map counts it, from the right. */
static inline i64 layout_map_number(const layout *l, u32 axis) {
  return (i64)layout_mesh(l)->num_axes - 1 - axis;
}

/* The shape fits: a dimension an entry, none negative, all divide. */
bool layout_check_shape(const layout *l, i64s shape, diag_sink *sink) MUST_USE;

/* Slice at a position of the device matrix: O(axes). */
static inline i64 layout_slice_at(const layout *l, i64 position) {
  return slice_at(&l->grid, position);
}
/* The position of a rank; linear where there is a rank list. false: said so. */
bool layout_find_rank(const layout *l, i64 rank, i64 *position, diag_sink *sink) MUST_USE;
/* Ranks that hold a slice, in order of their positions: O(replicas * axes). false: said so. */
bool layout_slice_ranks(arena *a, const layout *l, i64 slice, i64s *out, diag_sink *sink) MUST_USE;

/* Python text: "(1, (2, 0), -1)", and what Layout.to_dict() shows. */
void layout_print_tensor_map(buf *out, const layout *l);
void layout_print_dict(buf *out, const layout *l);

#endif
