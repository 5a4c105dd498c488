/* Shardings as the notations of other tools, each over a mesh that is given beside it.
 *
 *   pspec     JAX:        P('x', ('y', 'z'), None)
 *   dtensor   PyTorch:    [Shard(0), Replicate(), Partial()]     an entry a mesh axis
 *   layout    MindSpore:  ("x", ("y", "z"), "None")
 *   sdy       Shardy:     <["x"=2, "y"=4]>, [{"x"}, {"y":(1)2}, {}], unreduced={"z"}
 *   xla       XLA:        {devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}
 *
 * pspec, dtensor and layout are read; all five are written. Text that the notation has no words
 * for is an error that names the axis or dimension. In the arena; thread-safe. */
#ifndef MESH_NOTATION_H
#define MESH_NOTATION_H

#include "base/diag.h"
#include "mesh/mesh.h"

typedef struct notation {
  const char *name;
  /* The tensor has at least min_rank dimensions. NULL: said so; fn NULL: not read. */
  const sharding *(*read)(arena *a, const mesh *m, str text, u32 min_rank, diag_sink *sink);
  bool (*write)(arena *a, buf *out, const sharding *s, diag_sink *sink); /* false: said so */
} notation;

extern const notation notations[];
extern const size_t num_notations;
const notation *notation_find(str name); /* NULL: none */

/* "x=2,y=4" */
const mesh *notation_read_mesh(arena *a, str text, diag_sink *sink);

#endif
