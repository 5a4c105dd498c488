/* Questions about MPMD programs; mpmd.h has them. */
#include "dialect/mpmd.h"

op *mpmd_func(const op *o) {
  while (o && !op_is(o, func)) o = op_parent(o);
  return (op *)(uintptr_t)o;
}

const topology_attr *mpmd_topology(const op *func) {
  return func ? attr_as(topology, op_discardable(func, MPMD_TOPOLOGY)) : NULL;
}

bool mpmd_is_entry_point(const op *func) {
  const string_attr *v = attr_as(string, op_get(func, func, sym_visibility));
  bool distributed = mpmd_is_function(func) || op_discardable(func, MPMD_MESH_SHAPE);
  return distributed && (!v || str_is(v->value, "public"));
}

const mesh_attr *mpmd_mesh(const op *o, str name) {
  const topology_attr *t = mpmd_topology(mpmd_func(o));
  for (size_t i = 0; t && i < t->meshes.len; i++) {
    const named_mesh_attr *m = (const named_mesh_attr *)t->meshes.data[i];
    if (str_eq(m->name, name)) return attr_as(mesh, m->mesh);
  }
  return NULL;
}

bool mpmd_is_intra_mesh(const op *transfer) {
  const type *from = op_operand(transfer, 0)->type, *to = transfer->results[0].type;
  return str_eq(from->text, to->text) && from->space == to->space;
}

const attr *mpmd_value_attr(const op *o, str list, size_t i, str name) {
  const array_attr *a = attr_as(array, op_attr(o, list));
  return a && i < a->elems.len ? attr_dict_get(a->elems.data[i], name) : NULL;
}
