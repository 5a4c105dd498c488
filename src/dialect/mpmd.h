/* What MPMD programs say of their meshes: asked by the verifier, by propagation and by src/mpmd.
 *
 * A function with a topology is an MPMD function; its meshes have names, and values of mesh_tensor
 * types lie on one of them. Source: openxla/shardy, shardy/dialect/mpmd/ir/utils.h. */
#ifndef DIALECT_MPMD_H
#define DIALECT_MPMD_H

#include "ir/op.h"

#define MPMD_TOPOLOGY STR("topology")            /* of a function: its meshes */
#define MPMD_MESH_SHAPE STR("mesh_shape")        /* of a function that is all on one mesh */
#define MPMD_MEMORY_KIND STR("mhlo.memory_kind") /* of arguments and results */
#define MPMD_ARG_ATTRS STR("arg_attrs")          /* of ops: a dictionary an operand */
#define MPMD_RES_ATTRS STR("res_attrs")          /* a dictionary a result */
#define MPMD_CALL_COUNTER STR("call_counter")
#define MPMD_PINNED_HOST "pinned_host"
#define MPMD_DEVICE "device"

/* The innermost func.func around o, or o itself; NULL: none. */
op *mpmd_func(const op *o);
/* Of a function; NULL: it has none. */
const topology_attr *mpmd_topology(const op *func);
static inline bool mpmd_is_function(const op *func) { return mpmd_topology(func) != NULL; }
/* With a topology or a mesh, and public. */
bool mpmd_is_entry_point(const op *func);
/* The mesh of that name in the topology around o (or of o, a function); NULL: there is none. */
const mesh_attr *mpmd_mesh(const op *o, str name);
/* Of a mesh tensor the whole tensor; other types as they are. */
static inline const type *mpmd_whole(const type *t) {
  return type_is_mesh_tensor(t) ? t->types.data[0] : t;
}
/* Memory kind of a mesh tensor; empty: none is said. */
static inline str mpmd_memory_kind(const type *t) {
  const string_attr *s = attr_as(string, t->space);
  return s ? s->value : STR("");
}
/* A transfer that stays on its mesh and in its memory. */
bool mpmd_is_intra_mesh(const op *transfer);
/* Entry `name` of dictionary i in the array attribute `list` (arg_attrs, res_attrs); NULL: none. */
const attr *mpmd_value_attr(const op *o, str list, size_t i, str name);

#endif
