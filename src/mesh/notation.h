/* Shardings in the notations of other tools, read into one form and written from it.
 *
 *   sdy       Shardy:     #sdy.sharding<mesh<["x"=2, "y"=4]>, [{"x"}, {"y":(1)2, ?}p1]>
 *   xla       XLA:        {devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}
 *   xla-v1    XLA:        {devices=[2,1,2]0,2,1,3 last_tile_dim_replicate}
 *   pspec     JAX:        P('x', ('y', 'z'), None, unreduced={'w'})
 *   named     JAX:        NamedSharding(mesh=Mesh('x': 2, 'y': 4), spec=PartitionSpec('x', None))
 *   dtensor   PyTorch:    [Shard(0), _StridedShard(1, split_factor=2), Partial('max')]
 *   layout    MindSpore:  Layout((2, 4), ("x", "y"))("x", ("y", "None"))
 *   shard     MLIR:       shard.grid @grid(shape = 2x4)
 *                         shard.sharding @grid split_axes = [[0], [1]] : !shard.sharding
 *
 * Text that a notation has no words for is an error, "not expressible: ...", that names the axis
 * or dimension. Values are in the arena; functions are thread-safe. Sources: openxla/shardy
 * docs/sharding_representation.md; xla/hlo/parser and hlo_sharding.h; jax/sharding_impls;
 * torch/distributed/tensor/placement_types.py; MindSpore's mindspore.parallel.Layout; MLIR's
 * ShardBase.td and ShardOps.td. */
#ifndef MESH_NOTATION_H
#define MESH_NOTATION_H

#include "mesh/placement.h"

/* What is known beside the text. */
typedef struct notation_context {
  const mesh *mesh; /* NULL: none; a text that has one of its own must then agree */
  i64 rank;         /* dimensions of the tensor; NOTATION_ANY_RANK: as the text says */
} notation_context;
enum { NOTATION_ANY_RANK = -1, NOTATION_MAX_RANK = 1024, NOTATION_MAX_LISTED = 1 << 20 };

typedef struct reader reader;
typedef struct writer writer;

typedef struct notation {
  const char *name;
  const char *tool;
  const char *example;
  bool needs_mesh; /* the text names axes of a mesh, or counts them, and does not carry it */
  const placement *(*read)(reader *r);          /* NULL: said so */
  bool (*write)(writer *w, const placement *p); /* false: said so */
} notation;

extern const notation notations[];
extern const size_t num_notations;
const notation *notation_find(str name); /* NULL: none */

/* NULL or false: said so. */
const placement *notation_read(arena *a, const notation *n, str text, const notation_context *c,
                               diag_sink *sink) MUST_USE;
bool notation_write(arena *a, buf *out, const notation *n, const placement *p,
                    diag_sink *sink) MUST_USE;

/* The same tensor's pieces over another mesh of the same devices. NULL: said so. */
const placement *notation_over_mesh(arena *a, const placement *p, const mesh *m,
                                    diag_sink *sink) MUST_USE;
/* Without what only propagation reads: open dimensions become closed, priorities and explicit
 * replication go. */
const placement *notation_closed(arena *a, const placement *p);

/* x=2,y=4 or x=2,y=4 device_ids=[...], or as Shardy writes it: <["x"=2, "y"=4]>. NULL: said so. */
const mesh *notation_read_mesh(arena *a, str text, diag_sink *sink) MUST_USE;
void notation_write_mesh(buf *out, const mesh *m); /* what notation_read_mesh reads */

#endif
