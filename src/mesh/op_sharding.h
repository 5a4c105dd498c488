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

typedef struct tile_assignment {
  enum { TILE_REPLICATED, TILE_MAXIMAL, TILE_OTHER } kind;
  i64s dims;                  /* tiles per dimension, then the subgroup dimensions */
  u32 num_subgroups;          /* 0, 1 or 2: how many of dims are subgroup dimensions */
  bool subgroup_unreduced[2]; /* else replicated */
  i64s reshape, perm;         /* iota(reshape) transposed by perm; empty if `devices` is used */
  i64s devices;               /* explicit order; empty: iota */
} tile_assignment;

/* NULL sharding: replicated. Linear in devices only where the mesh has a device list. */
void sharding_tile(arena *a, const sharding *s, tile_assignment *out);
/* Bytes of a serialized xla.OpSharding; empty for replicated. */
void op_sharding_write(buf *out, const tile_assignment *t);
/* HLO text: {replicated}, {maximal device=3}, {devices=[4,2]<=[8]}. */
void op_sharding_print(buf *out, const tile_assignment *t);

#endif
