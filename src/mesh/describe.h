/* A sharding's grid for people and programs: JSON, and pictures of which device holds which
 * piece. What is drawn is written to a buf; memory is the arena's; thread-safe. */
#ifndef MESH_DESCRIBE_H
#define MESH_DESCRIBE_H

#include "mesh/layout.h"
#include "mesh/placement.h"
#include "mesh/redistribute.h"

/* What is asked for: everything, or some positions of the mesh and the slices that they hold. */
typedef struct grid_view {
  const slice_grid *grid;
  const layout *layout; /* NULL: none; its entries as they were written */
  bool has_shape;
  i64s shape;     /* of the tensor; as many dimensions as the sharding */
  i64s positions; /* data NULL: all */
  i64s slices;    /* likewise */
} grid_view;

static inline const mesh *view_mesh(const grid_view *v) { return v->grid->sharding->mesh; }
static inline i64 view_num_positions(const grid_view *v) {
  return v->positions.data ? (i64)v->positions.len : view_mesh(v)->size;
}
static inline i64 view_position(const grid_view *v, i64 i) {
  return v->positions.data ? v->positions.data[i] : i;
}

/* An object with device_matrix alias_name rank_list interleaved_parallel tensor_map (null where a
 * dimension has a part of an axis) strategy slice_shape num_slices replicas replica_groups
 * ranks[rank slice ranges]. */
void describe_layout_json(arena *a, buf *out, const layout *l, const grid_view *v);
/* kind mesh device_ids rank dims replicated unreduced manual, then the same keys from tensor_map
 * on, where devices are at most 2^20; for a tuple, elements. */
void describe_placement_json(arena *a, buf *out, const placement *p, const i64s *shape);
/* steps[op dim to_dim groups] and receives[rank bytes pieces[from ranges]], slices before and
 * after. Bytes are elements that the rank lacks times element_size. */
void describe_move_json(arena *a, buf *out, const redistribution *r, i64s shape, i64 element_size);
extern const char *const redistribute_names[]; /* by redistribute_op */
/* Elements that the rank must receive from others. */
i64 redistribute_received(const redistribute_pieces *p, i64 rank);

void json_string(buf *out, str s);
void json_numbers(buf *out, const i64 *data, size_t n);

/* Box drawing: the last two split dimensions as rows and columns, one sheet for each piece of the
 * others. false: too large to draw. `color`: with terminal colours, one a slice. */
bool picture_text(arena *a, buf *out, const slice_grid *g, const char *device, bool color);
/* A whole SVG file. false: too large to draw. */
bool picture_svg(arena *a, buf *out, const slice_grid *g, const char *device, str title);

#endif
