/* Shardings as attributes and as values: each direction is done once and remembered.
 *
 * An interned sharding (node) keeps the attribute that it was read from or written to, so that
 * reading and writing back gives the same pointer and nothing is printed differently for having
 * been looked at. A mesh or axis that does not exist makes the space `bad`: the pass goes on with
 * NULL and reports once, at its end. */
#include "shard/sharding_ir.h"

#include "shard/flow.h"
#include "base/index.h"

/* An interned sharding; `sharding` comes first so that pointers convert. */
typedef struct node {
  sharding s;
  const attr *attr;
} node;

typedef struct mesh_entry {
  const attr *ref;
  const mesh *mesh;
} mesh_entry;

struct shard_space {
  ir_module *m;
  arena *a;
  symbol_map *symbols;  /* NULL: no mesh was asked by name yet */
  hash_index meshes;    /* mesh_entry by its attr, and by its mesh */
  hash_index from_attr; /* attr -> node */
  struct {
    const attr *a;
    node *n;
  } recent[32]; /* of those, by address */
  hash_index nodes;
  bool bad;
};

shard_space *shard_space_create(ir_module *m, arena *a) {
  shard_space *s = ARENA_NEW(a, shard_space);
  s->m = m;
  s->a = a;
  return s;
}

arena *shard_space_arena(shard_space *s) { return s->a; }
ir_module *shard_space_module(shard_space *s) { return s->m; }
bool shard_space_ok(const shard_space *s) { return !s->bad; }

bool shard_space_check(shard_space *s) {
  if (s->bad)
    loc_error(s->m->ctx, s->m->root->loc, "a sharding names a mesh or axis that does not exist");
  return !s->bad;
}

/* ---- meshes ---- */

static const mesh *read_mesh(shard_space *s, str name, const mesh_attr *m) {
  if (!m) return NULL;
  mesh_axis *axes = ARENA_ARRAY(s->a, mesh_axis, m->axes.len);
  for (size_t i = 0; i < m->axes.len; i++) {
    const mesh_axis_attr *ax = attr_as(mesh_axis, m->axes.data[i]);
    if (!ax) return NULL;
    axes[i] = (mesh_axis){ax->name, ax->size};
  }
  return mesh_make(s->a, name, axes, m->axes.len, m->device_ids);
}

static const mesh *find_mesh(shard_space *s, const attr *ref) {
  str name;
  if (!attr_get_symbol(ref, &name)) return read_mesh(s, (str){0}, attr_as(mesh, ref));
  if (!s->symbols) s->symbols = symbol_map_build(s->m->root, s->a);
  op *o = symbol_map_find(s->symbols, name);
  if (!o) o = symbol_find(s->m->root, name); /* made since */
  struct sdy_mesh_attrs v;
  return o && op_is(o, sdy_mesh) && view_sdy_mesh(o, &v) ? read_mesh(s, name, v.mesh) : NULL;
}

const mesh *shard_mesh(shard_space *s, const attr *ref) {
  mesh_entry *e = index_get(&s->meshes, ref);
  if (e) return e->mesh;
  e = ARENA_NEW(s->a, mesh_entry);
  *e = (mesh_entry){ref, find_mesh(s, ref)};
  index_set(&s->meshes, s->a, ref, e);
  if (e->mesh)
    index_set(&s->meshes, s->a, e->mesh, e);
  else
    s->bad = true;
  return e->mesh;
}

const mesh *shard_mesh_named(shard_space *s, str name) {
  return shard_mesh(s, attr_symbol(s->m->ctx, name));
}

const attr *shard_mesh_ref(shard_space *s, const mesh *m) {
  mesh_entry *e = index_get(&s->meshes, m);
  return e ? e->ref : NULL;
}

/* ---- reading ---- */

/* Parts must divide their axis; the verifier has said so, but passes may run without it. */
static bool read_axes(shard_space *s, const mesh *m, attrs list, axis_list *out) {
  axis_ref *refs = ARENA_ARRAY(s->a, axis_ref, list.len);
  for (size_t i = 0; i < list.len; i++) {
    const axis_ref_attr *r = attr_as(axis_ref, list.data[i]);
    int k = r ? mesh_axis_find(m, r->name) : -1;
    if (k < 0) return false;
    refs[i] = axis_whole(m, (u32)k);
    if (!r->size) continue;
    i64 next;
    if (r->pre_size < 1 || r->size < 1 || !checked_mul(r->pre_size, r->size, &next) ||
        refs[i].size % next)
      return false;
    refs[i].pre = r->pre_size;
    refs[i].size = r->size;
  }
  *out = (axis_list){refs, list.len};
  return true;
}

bool shard_read_groups(shard_space *s, const attr *groups, const mesh **m, axis_list *axes) {
  const replica_group_mesh_axes_attr *g = attr_as(replica_group_mesh_axes, groups);
  const array_attr *list = g ? attr_as(array, g->axes) : NULL;
  if (!list || !(*m = shard_mesh(s, g->mesh))) return false;
  axis_ref *refs = ARENA_ARRAY(s->a, axis_ref, list->elems.len);
  for (size_t i = 0; i < list->elems.len; i++) {
    const hlo_axis_ref_attr *r = attr_as(hlo_axis_ref, list->elems.data[i]);
    int k = r && !r->sub_axis_info ? mesh_axis_find(*m, r->name) : -1;
    if (k < 0) return false;
    refs[i] = axis_whole(*m, (u32)k);
  }
  *axes = (axis_list){refs, list->elems.len};
  return true;
}

static bool read_sharding(shard_space *s, const tensor_sharding_attr *t, sharding *out) {
  const mesh *m = shard_mesh(s, t->mesh);
  if (!m) return false;
  dim_sharding *dims = ARENA_ARRAY(s->a, dim_sharding, t->dims.len);
  for (size_t i = 0; i < t->dims.len; i++) {
    const dim_sharding_attr *d = attr_as(dim_sharding, t->dims.data[i]);
    if (!d || !read_axes(s, m, d->axes, &dims[i].axes)) return false;
    dims[i].closed = d->closed;
    dims[i].priority = d->priority;
  }
  *out = (sharding){.mesh = m, .rank = (u32)t->dims.len, .dims = dims};
  const reduction_op_attr *kind = attr_as(reduction_op, t->unreduced_kind);
  if (kind) out->unreduced_kind = (unreduced_kind)kind->value;
  return read_axes(s, m, t->replicated, &out->replicated) &&
         read_axes(s, m, t->unreduced, &out->unreduced);
}

static u64 hash_axes(axis_list l, u64 h) {
  h = hash_u64(l.len, h);
  for (size_t i = 0; i < l.len; i++)
    h = hash_u64(l.data[i].axis ^ (u64)l.data[i].pre << 16 ^ (u64)l.data[i].size << 40, h);
  return h;
}

static u64 hash_sharding(const sharding *s) {
  u64 h = hash_ptr(s->mesh, s->rank);
  for (u32 i = 0; i < s->rank; i++) {
    h = hash_axes(s->dims[i].axes, h);
    h = hash_u64((u64)s->dims[i].priority * 2 + s->dims[i].closed, h);
  }
  if (s->replicated.len) h = hash_axes(s->replicated, h + 1);
  if (s->unreduced.len) h = hash_axes(s->unreduced, h + 2);
  return h + s->unreduced_kind;
}

/* The lists are copied only for a sharding that is new. */
const sharding *shard_intern(shard_space *s, const sharding *proto) {
  u64 h = hash_sharding(proto);
  node *n;
  for (size_t at = 0; (n = index_next(&s->nodes, h, &at));)
    if (n->s.mesh == proto->mesh && sharding_eq(&n->s, proto)) return &n->s;
  n = ARENA_NEW(s->a, node);
  n->s = *proto;
  dim_sharding *dims = ARENA_ARRAY(s->a, dim_sharding, proto->rank);
  for (u32 i = 0; i < proto->rank; i++) {
    dims[i] = proto->dims[i];
    dims[i].axes = axes_copy(s->a, dims[i].axes);
  }
  n->s.dims = dims;
  n->s.replicated = axes_copy(s->a, proto->replicated);
  n->s.unreduced = axes_copy(s->a, proto->unreduced);
  index_add(&s->nodes, s->a, h, n);
  return &n->s;
}

static const sharding *read_anew(shard_space *s, const attr *a) {
  sharding sh;
  const tensor_sharding_attr *t = attr_as(tensor_sharding, a);
  if (!t || !read_sharding(s, t, &sh)) {
    s->bad = true;
    return NULL;
  }
  node *n = (node *)(void *)shard_intern(s, &sh);
  if (!n->attr) n->attr = a;
  index_set(&s->from_attr, s->a, a, n);
  return &n->s;
}

const sharding *shard_read(shard_space *s, const attr *a) {
  if (!a) return NULL;
  size_t at = ((uintptr_t)a >> 4) % COUNT(s->recent);
  if (s->recent[at].a == a) return &s->recent[at].n->s;
  node *n = index_get(&s->from_attr, a);
  if (!n) return read_anew(s, a);
  s->recent[at].a = a;
  s->recent[at].n = n;
  return &n->s;
}

/* ---- writing ---- */

attrs shard_write_axes(ir_ctx *c, arena *a, const mesh *m, axis_list l) {
  const attr **out = ARENA_ARRAY(a, const attr *, l.len);
  for (size_t i = 0; i < l.len; i++) {
    bool whole = axis_is_whole(m, l.data[i]);
    out[i] = attr_make(c, axis_ref, .name = m->axes[l.data[i].axis].name,
                       .pre_size = whole ? 0 : l.data[i].pre, .size = whole ? 0 : l.data[i].size);
  }
  return (attrs){out, l.len};
}

const attr *shard_write(shard_space *s, const sharding *sh) {
  if (!sh) return NULL;
  node *n = (node *)(void *)sh;
  if (n->attr) return n->attr;
  ir_ctx *c = s->m->ctx;
  const attr **dims = ARENA_ARRAY(s->a, const attr *, sh->rank);
  for (u32 i = 0; i < sh->rank; i++)
    dims[i] =
        attr_make(c, dim_sharding, .axes = shard_write_axes(c, s->a, sh->mesh, sh->dims[i].axes),
                  .closed = sh->dims[i].closed, .priority = sh->dims[i].priority);
  const attr *kind =
      sh->unreduced_kind ? attr_enum(c, ATTR_reduction_op, sh->unreduced_kind) : NULL;
  n->attr = attr_make(
      c, tensor_sharding, .mesh = shard_mesh_ref(s, sh->mesh), .dims = {dims, sh->rank},
      .replicated = shard_write_axes(c, s->a, sh->mesh, sh->replicated),
      .unreduced = shard_write_axes(c, s->a, sh->mesh, sh->unreduced), .unreduced_kind = kind);
  index_set(&s->from_attr, s->a, n->attr, n);
  return n->attr;
}

const attr *shard_attr_replicated(ir_ctx *c, const attr *mesh_or_ref, size_t rank, bool closed) {
  const attr *dim = attr_make(c, dim_sharding, .closed = closed, .priority = PRIORITY_NONE);
  const attr *few[16];
  const attr **dims = rank <= COUNT(few) ? few : ARENA_ARRAY(ir_arena(c), const attr *, rank);
  for (size_t i = 0; i < rank; i++) dims[i] = dim;
  return attr_make(c, tensor_sharding, .mesh = mesh_or_ref, .dims = {dims, rank});
}

const attr *shard_attr_open_like(ir_ctx *c, const attr *a, size_t rank) {
  return shard_attr_replicated(c, attr_as(tensor_sharding, a)->mesh, rank, false);
}

static bool dims_have_axes(const tensor_sharding_attr *t) {
  for (size_t i = 0; i < t->dims.len; i++)
    if (attr_as(dim_sharding, t->dims.data[i])->axes.len) return true;
  return false;
}

bool shard_attr_no_axes(const attr *a) {
  const tensor_sharding_attr *t = attr_as(tensor_sharding, a);
  return !t || (!dims_have_axes(t) && !t->replicated.len && !t->unreduced.len);
}

static bool attrs_same(attrs a, attrs b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len * sizeof *a.data) == 0);
}

bool shard_attr_equivalent(const attr *x, const attr *y) {
  const tensor_sharding_attr *a = attr_as(tensor_sharding, x), *b = attr_as(tensor_sharding, y);
  bool plain_a = !a || !dims_have_axes(a), plain_b = !b || !dims_have_axes(b);
  if (plain_a || plain_b) return plain_a && plain_b;
  if (a->mesh != b->mesh || a->dims.len != b->dims.len) return false;
  for (size_t i = 0; i < a->dims.len; i++)
    if (!attrs_same(attr_as(dim_sharding, a->dims.data[i])->axes,
                    attr_as(dim_sharding, b->dims.data[i])->axes))
      return false;
  return true;
}

size_t type_rank(const type *t) {
  return type_is_ranked(t) || type_is_mesh_tensor(t) ? t->dims.len : 0;
}

bool type_is_shardable(const type *t) {
  return type_is_static(type_is_mesh_tensor(t) ? t->types.data[0] : t);
}
