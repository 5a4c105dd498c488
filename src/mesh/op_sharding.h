/* Shardings in XLA's form: tile dimensions and an order of the devices.
 *
 * XLA writes `{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}`: tiles per dimension, then
 * groups of devices that hold the same tile; the device order is an iota reshaped and
 * transposed, or a list where the mesh has one. Sources: xla/xla_data.proto (OpSharding) and
 * xla/hlo/ir/tile_assignment.h. */
#ifndef MESH_OP_SHARDING_H
#define MESH_OP_SHARDING_H

#include "base/buf.h"
#include "mesh/mesh.h"

/* What devices of one tile are to each other, in the order in which XLA sorts them. */
typedef enum subgroup_kind {
  SUBGROUP_MANUAL,
  SUBGROUP_UNREDUCED,
  SUBGROUP_REPLICATED
} subgroup_kind;
enum { SUBGROUP_KINDS = SUBGROUP_REPLICATED + 1 };

typedef struct tile_assignment {
  enum { TILE_REPLICATED, TILE_MAXIMAL, TILE_OTHER, TILE_MANUAL, TILE_UNREDUCED } kind;
  i64s dims;         /* tiles per dimension, then the subgroup dimensions */
  u32 num_subgroups; /* how many of dims are subgroup dimensions */
  subgroup_kind subgroups[SUBGROUP_KINDS];
  i64s reshape, perm; /* iota(reshape) transposed by perm; empty if `devices` is used */
  i64s devices;       /* explicit order; empty: iota */
} tile_assignment;

/* NULL sharding: replicated. Linear in devices only where the mesh has a device list. */
void sharding_tile(arena *a, const sharding *s, tile_assignment *out);
/* The same with manual axes. */
void sharding_tile_manual(arena *a, const sharding *s, axis_list manual, tile_assignment *out);
/* The order as a list, for a reader that knows no iota: linear in devices. */
void tile_list_devices(arena *a, tile_assignment *t);
/* Where devices are listed: those that hold the same, in rising order, as XLA prints them. */
void tile_sort_replicas(arena *a, tile_assignment *t);
/* Bytes of a serialized xla.OpSharding; empty for replicated. */
void op_sharding_write(buf *out, const tile_assignment *t);
/* HLO text: {replicated}, {maximal device=3}, {devices=[4,2]<=[8]}. */
void op_sharding_print(buf *out, const tile_assignment *t);

#endif
