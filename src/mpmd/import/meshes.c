/* mpmd-generate-sdy-meshes-from-topology: shardings come to name the meshes of the topology.
 *
 * Axes are called after their mesh, with the first '_' between: tpu_x is of the mesh tpu. So the
 * axes of a sharding say which mesh it is on, and one without axes is on the empty mesh. */
#include "mpmd/import/passes.h"
#include "mpmd/util.h"
#include "shard/sharding_ir.h"

#define EMPTY_MESH STR("empty_mesh")

typedef struct meshes {
  ir_module *m;
  op *f; /* whose topology counts */
  op_list old;
  const attr *empty; /* reference to the empty mesh, once it is needed */
  bool ok;
} meshes;

static bool fail(meshes *w, const char *what, str name) {
  w->ok = loc_error(w->m->ctx, w->f->loc, "%s: '" STR_FMT "'", what, STR_ARG(name));
  return false;
}

/* Without axes: on no device, or on one. */
static bool has_axes(const op *mesh) {
  const mesh_attr *a = attr_as(mesh, op_get(mesh, sdy_mesh, mesh));
  return a && a->axes.len;
}

static void add_mesh(ir_module *m, op *before, str name, const attr *mesh) {
  op *o = op_create(m, &op_infos[OP_sdy_mesh], m->root->loc, NULL, 0, NULL, 0, 0);
  op_set(o, sdy_mesh, sym_name, attr_string(m->ctx, name));
  op_set(o, sdy_mesh, mesh, mesh);
  op_insert(o, op_body(m->root, 0), before);
}

/* The topology knows it too. */
static void add_to_topology(meshes *w, const attr *mesh) {
  ir_ctx *c = w->m->ctx;
  const topology_attr *t = mpmd_topology(w->f);
  const attr **all = ARENA_ARRAY(ir_arena(c), const attr *, t->meshes.len + 1);
  for (size_t i = 0; i < t->meshes.len; i++) all[i] = t->meshes.data[i];
  all[t->meshes.len] = attr_make(c, named_mesh, .name = EMPTY_MESH, .mesh = mesh);
  const attr *more = attr_make(c, topology, .meshes = {all, t->meshes.len + 1});
  op_set_attr(w->m, w->f, MPMD_TOPOLOGY, more);
}

static const attr *empty_mesh(meshes *w) {
  if (w->empty) return w->empty;
  op *o = symbol_find(w->m->root, EMPTY_MESH);
  if (o && (!op_is(o, sdy_mesh) || has_axes(o))) {
    fail(w, "there is a mesh of this name that is not empty", EMPTY_MESH);
    return NULL;
  }
  if (!o) {
    const attr *mesh = attr_make(w->m->ctx, mesh, .axes = {0});
    add_mesh(w->m, op_body(w->m->root, 0)->first, EMPTY_MESH, mesh);
    add_to_topology(w, mesh);
  }
  return w->empty = attr_symbol(w->m->ctx, EMPTY_MESH);
}

/* The one mesh that the axes are of, in *name; false: reported. */
static bool mesh_of_axes(meshes *w, attrs axes, str *name) {
  for (size_t i = 0; i < axes.len; i++) {
    str axis = ((const axis_ref_attr *)axes.data[i])->name;
    const char *at = memchr(axis.data, '_', axis.len);
    size_t n = at ? (size_t)(at - axis.data) : axis.len;
    if (n + 1 >= axis.len) return fail(w, "Axis name does not contain '_'", axis);
    str mesh = {axis.data, n};
    if (name->len && !str_eq(*name, mesh)) return fail(w, "Mesh name mismatch", axis);
    *name = mesh;
  }
  return true;
}

static const attr *with_mesh(meshes *w, const tensor_sharding_attr *s, const attr *mesh) {
  return attr_make(w->m->ctx, tensor_sharding, .mesh = mesh, .dims = s->dims,
                   .replicated = s->replicated, .unreduced = s->unreduced,
                   .unreduced_kind = s->unreduced_kind);
}

static bool is_replicated(const tensor_sharding_attr *s) {
  for (size_t i = 0; i < s->dims.len; i++)
    if (((const dim_sharding_attr *)s->dims.data[i])->axes.len) return false;
  return !s->unreduced.len;
}

static const attr *move(void *user, const attr *a) {
  meshes *w = user;
  const tensor_sharding_attr *s = attr_as(tensor_sharding, a);
  if (!s || !w->ok) return a;
  if (is_replicated(s)) {
    const op *o = symbol_find(w->m->root, symbol_of(s->mesh));
    if (o && op_is(o, sdy_mesh) && !has_axes(o)) return a;
    const attr *empty = empty_mesh(w);
    return empty ? with_mesh(w, s, empty) : a;
  }
  str name = {0};
  for (size_t i = 0; i < s->dims.len; i++)
    if (!mesh_of_axes(w, ((const dim_sharding_attr *)s->dims.data[i])->axes, &name)) return a;
  if (!mesh_of_axes(w, s->replicated, &name) || !mesh_of_axes(w, s->unreduced, &name)) return a;
  return with_mesh(w, s, attr_symbol(w->m->ctx, name));
}

static bool add_meshes(meshes *w, const topology_attr *t) {
  op *first = op_body(w->m->root, 0)->first;
  for (size_t i = 0; i < t->meshes.len; i++) {
    const named_mesh_attr *n = (const named_mesh_attr *)t->meshes.data[i];
    if (symbol_find(w->m->root, n->name)) return fail(w, "Invalid mesh name", n->name);
    add_mesh(w->m, first, n->name, n->mesh);
  }
  return true;
}

bool pass_mpmd_generate_meshes(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0};
  mpmd_functions(scratch, m, &functions);
  if (!functions.len) return loc_error(m->ctx, m->root->loc, "No topology attribute found");
  meshes w = {.m = m, .f = functions.data[0], .ok = true};
  FOR_OPS(o, op_body(m->root, 0)) if (op_is(o, sdy_mesh)) VEC_PUSH(scratch, w.old, o);
  if (!add_meshes(&w, mpmd_topology(w.f))) return false;
  map_shardings(m, scratch, move, &w);
  for (size_t i = 0; w.ok && i < w.old.len; i++)
    if (has_axes(w.old.data[i])) op_erase(w.old.data[i]);
  return w.ok;
}
