/* Meshes, axis references and shardings as plain values, and their algebra.
 *
 * Semantics: openxla/shardy docs/sharding_representation.md and docs/sdy_dialect.md. Nothing
 * here knows the IR; src/shard/sharding_ir.h converts from and to attributes.
 *
 * Values are immutable once made and borrow each other: a sharding points to its mesh and to
 * lists in some arena, which must outlive it. All functions are thread-safe and, apart from
 * those that say so, cost nothing in the number of devices. Inputs are valid as the sdy
 * verifier checks them (axes in range, sub-axes that divide, no overlaps); sizes stay below
 * 2^63 because mesh_make refuses larger meshes. Functions with an arena allocate there. */
#ifndef MESH_MESH_H
#define MESH_MESH_H

#include "base/arena.h"

/* ---- meshes ---- */

typedef struct mesh_axis {
  str name;
  i64 size;
} mesh_axis;

typedef struct mesh {
  str name; /* of the symbol; empty for an inlined mesh */
  const mesh_axis *axes;
  u32 num_axes;
  /* devices at the mesh's positions in row-major order of the axes; empty: position k is
   * device k. A maximal mesh has no axes and one id. */
  i64s device_ids;
  i64 size; /* product of the axis sizes; 1 without axes */
} mesh;

/* Copies everything into the arena. NULL: a size below 1 or a product over INT64_MAX. */
const mesh *mesh_make(arena *a, str name, const mesh_axis *axes, size_t num_axes, i64s device_ids);
static inline bool mesh_is_maximal(const mesh *m) {
  return m->num_axes == 0 && m->device_ids.len == 1;
}
static inline bool mesh_is_empty(const mesh *m) {
  return m->num_axes == 0 && m->device_ids.len == 0;
}
/* Same axes and, unless told to ignore them, the same device ids; names don't count. */
bool mesh_same(const mesh *a, const mesh *b, bool ignore_device_ids);
int mesh_axis_find(const mesh *m, str name); /* -1: none */

/* Device (partition index) at a row-major position. */
static inline i64 mesh_device_at(const mesh *m, i64 position) {
  return m->device_ids.len ? m->device_ids.data[position] : position;
}
/* Its inverse; -1 if the device isn't in the mesh. Linear where there is a device list. */
i64 mesh_position_of(const mesh *m, i64 device);
/* out[num_axes]: the position's coordinate on every axis. */
void mesh_coordinates(const mesh *m, i64 position, i64 *out);

/* ---- axis references ---- */

/* An axis or a part of one: with the axis viewed as [pre, size, rest], major to minor, it is
 * the middle. A whole axis is {k, 1, its size}; every reference has one form, so fields
 * compare. */
typedef struct axis_ref {
  u32 axis; /* number in the mesh */
  i64 pre, size;
} axis_ref;

typedef struct axis_list {
  const axis_ref *data;
  size_t len;
} axis_list;

typedef VEC(axis_ref) axis_vec;
static inline axis_list axis_vec_list(const axis_vec *v) { return (axis_list){v->data, v->len}; }

static inline axis_ref axis_whole(const mesh *m, u32 axis) {
  return (axis_ref){axis, 1, m->axes[axis].size};
}
static inline bool axis_is_whole(const mesh *m, axis_ref r) {
  return r.pre == 1 && r.size == m->axes[r.axis].size;
}
static inline i64 axis_next_pre(axis_ref r) { return r.pre * r.size; }
static inline bool axis_eq(axis_ref a, axis_ref b) {
  return a.axis == b.axis && a.pre == b.pre && a.size == b.size;
}
/* Mesh order: by axis, then pre-size, then size. */
int axis_cmp(axis_ref a, axis_ref b);
/* b is part of a, or equal. As in Shardy that is told by borders, which also holds of parts of
 * one axis that cannot coexist. */
bool axis_contains(axis_ref a, axis_ref b);
bool axis_prefix_of(axis_ref a, axis_ref b); /* a is a major part of b, or equal */
bool axis_suffix_of(axis_ref a, axis_ref b);
bool axis_overlaps(axis_ref a, axis_ref b);
/* Can both stand in one program, that is, is there a factorisation of the axis with both? */
bool axis_can_coexist(axis_ref a, axis_ref b);
/* The following return false where there is no such part. */
bool axis_overlap(axis_ref a, axis_ref b, axis_ref *out);
bool axis_prefix_without(axis_ref a, axis_ref b, axis_ref *out); /* a's major part beside b */
bool axis_suffix_without(axis_ref a, axis_ref b, axis_ref *out);
bool axis_common_prefix(axis_ref a, axis_ref b, axis_ref *out);
/* a directly major to b in one axis: "x":(1)2, "x":(2)2 */
bool axis_can_merge(axis_ref a, axis_ref b);
static inline axis_ref axis_merge(axis_ref a, axis_ref b) {
  return (axis_ref){a.axis, a.pre, a.size * b.size};
}

/* ---- lists of axis references, major to minor ---- */

bool axes_eq(axis_list a, axis_list b);
i64 axes_size(axis_list l);                 /* product of sizes; saturates at INT64_MAX */
bool axes_contain(axis_list l, axis_ref r); /* r itself is an element */
bool axes_overlap_ref(axis_list l, axis_ref r);
bool axes_overlap(axis_list a, axis_list b);
/* No sharding has both: they overlap, or no factorisation of an axis has the parts of both. */
bool axes_clash(axis_list a, axis_list b);
/* a is an initial part of b, where the last element may be a part: ["x", "y":(1)2] of
 * ["x", "y"]. */
typedef enum axes_prefix { AXES_NOT_PREFIX, AXES_STRICT_PREFIX, AXES_SAME } axes_prefix;
axes_prefix axes_prefix_of(axis_list a, axis_list b);
/* Major part of r that overlaps with no element of l. */
bool axes_prefix_without(axis_ref r, axis_list l, axis_ref *out);
axis_list axes_common_prefix(arena *a, axis_list x, axis_list y);
/* Cut at the first element that overlaps with `other`, keeping what of it doesn't. */
axis_list axes_truncate_overlaps(arena *a, axis_list l, axis_list other);
/* Parts of a's elements that no element of b covers, in a's order. Parts of an axis that cannot
 * coexist do not cover each other. */
axis_list axes_difference(arena *a, axis_list x, axis_list y);
/* Appends, merging with the last element where it can. */
void axes_add_or_merge(arena *a, axis_vec *v, axis_ref r);
/* Adjacent mergeable elements merged, order kept. */
axis_list axes_merge(arena *a, axis_list l);
axis_list axes_sort(arena *a, axis_list l); /* into mesh order */
/* Sorted into mesh order, then merged. */
axis_list axes_sort_merge(arena *a, axis_list l);
axis_list axes_concat(arena *a, axis_list x, axis_list y);
axis_list axes_copy(arena *a, axis_list l);
static inline axis_list axes_slice(axis_list l, size_t begin, size_t len) {
  return (axis_list){len ? l.data + begin : NULL, len}; /* NULL takes no offset */
}
/* Splits every axis of the mesh at the borders of the listed references: a partition of the
 * mesh, in mesh order, that each element of `l` is a run of. */
axis_list axes_ordered(arena *a, const mesh *m, axis_list l);

/* Index along the list at a position of the mesh: mixed radix, first element major. */
i64 axes_index_at(const mesh *m, axis_list l, i64 position);
/* The position that has this index along the list and is the same along all else. */
i64 axes_position_at(const mesh *m, axis_list l, i64 position, i64 index);
/* Positions from one to the next along the reference. */
i64 mesh_stride(const mesh *m, axis_ref r);

/* Groups of devices that differ in the listed axes only: in a group ordered by the list (first
 * element major), groups ordered by the rest of the mesh. ids[g * group_size + k] are device
 * ids (partition indices). Linear in the number of devices; false: it doesn't fit size_t. */
typedef struct replica_groups {
  i64 num_groups, group_size;
  const i64 *ids;
} replica_groups;
bool mesh_replica_groups(arena *a, const mesh *m, axis_list l, replica_groups *out);

/* ---- shardings ---- */

enum { PRIORITY_NONE = -1 };

typedef struct dim_sharding {
  axis_list axes;
  bool closed;
  i64 priority; /* PRIORITY_NONE: none given, which counts as 0 */
} dim_sharding;

typedef enum unreduced_kind {
  UNREDUCED_SUM,
  UNREDUCED_MAX,
  UNREDUCED_MIN,
  UNREDUCED_MUL,
  UNREDUCED_AND,
  UNREDUCED_OR
} unreduced_kind; /* in the order of #sdy.reduction_op */

typedef struct sharding {
  const mesh *mesh;
  u32 rank;
  const dim_sharding *dims;
  axis_list replicated, unreduced;
  unreduced_kind unreduced_kind;
} sharding;

bool sharding_eq(const sharding *a, const sharding *b);
/* Same placement: the axes of all dimensions and the unreduced ones agree; open, closed,
 * priorities and explicit replication don't count. NULL counts as replicated. */
bool sharding_equivalent(const sharding *a, const sharding *b);
bool sharding_is_replicated(const sharding *s); /* no axes in dims nor unreduced; NULL: yes */
bool sharding_has_no_axes(const sharding *s);   /* nor explicitly replicated ones */
/* A replicated sharding with all dimensions open or closed. */
const sharding *sharding_make_replicated(arena *a, const mesh *m, u32 rank, bool closed);
/* A closed sharding with these axes per dimension (lists are borrowed, dims copied). */
const sharding *sharding_make_closed(arena *a, const mesh *m, const axis_list *dims, u32 rank);
/* The same shards on the same devices, in the axes of another mesh over the same devices: x of
 * ["x"=8] is "a", "b" of ["a"=2, "b"=4]. Closed, without unreduced axes. NULL: the mesh has no
 * such axes, or the devices stand in another order. */
const sharding *sharding_on_mesh(arena *a, const sharding *s, const mesh *m);
/* All dimensions closed, explicit replication and priorities dropped. */
const sharding *sharding_closed_like(arena *a, const sharding *s);
static inline i64 sharding_dim_size(const sharding *s, u32 dim) {
  return axes_size(s->dims[dim].axes);
}
/* Axes of all dimensions one after the other. */
axis_list sharding_used_axes(arena *a, const sharding *s);
/* Axes (or parts) of the mesh that shard no dimension and aren't unreduced. */
axis_list sharding_unused_axes(arena *a, const sharding *s);
/* Shape of a device's shard, rounded up; false: some dimension doesn't divide evenly. A
 * negative (dynamic) dimension stays. out[rank]; may be `shape` itself. */
bool sharding_local_shape(const sharding *s, const i64 *shape, i64 *out);
/* Which shard of dimension `dim` the device at a position holds. */
i64 sharding_shard_index(const sharding *s, u32 dim, i64 position);
/* Replicated: devices that hold the same shard. */
i64 sharding_num_shards(const sharding *s);

#endif
