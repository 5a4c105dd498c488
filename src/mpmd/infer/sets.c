/* Sets of meshes; sets.h has it. */
#include "mpmd/infer/sets.h"

static void add_origins(arena *a, origin_list *to, attrs from) {
  for (size_t i = 0; i < from.len; i++) {
    size_t k = 0;
    while (k < to->len && to->data[k] != from.data[i]) k++;
    if (k == to->len) VEC_PUSH(a, *to, from.data[i]);
  }
}

static attrs as_attrs(const origin_list *l) { return (attrs){l->data, l->len}; }

static mesh_entry *entry_of(const mesh_set *s, str mesh) {
  for (size_t i = 0; i < s->meshes.len; i++)
    if (str_eq(s->meshes.data[i].mesh, mesh)) return &s->meshes.data[i];
  return NULL;
}

bool set_has(const mesh_set *s, str mesh) { return entry_of(s, mesh) != NULL; }

void set_insert(arena *a, mesh_set *s, str mesh, attrs origins) {
  s->known = true;
  if (str_is(mesh, "*")) {
    add_origins(a, &s->any, origins);
    return;
  }
  if (!entry_of(s, mesh)) VEC_PUSH(a, s->meshes, (mesh_entry){.mesh = mesh});
  add_origins(a, &entry_of(s, mesh)->origins, origins);
}

void set_insert_named(ir_ctx *c, arena *a, mesh_set *s, str mesh, str origin) {
  const attr *o = origin.len ? attr_make(c, mesh_origin, .label = origin) : NULL;
  set_insert(a, s, mesh, (attrs){&o, o ? 1 : 0});
}

mesh_set set_of(arena *a, const attr *x) {
  const meshes_with_origins_attr *all = attr_as(meshes_with_origins, x);
  mesh_set s = {.known = all != NULL};
  for (size_t i = 0; all && i < all->meshes.len; i++) {
    const mesh_with_origins_attr *m = attr_as(mesh_with_origins, all->meshes.data[i]);
    if (m) set_insert(a, &s, m->mesh_name, m->origins);
  }
  return s;
}

const attr *set_attr(ir_ctx *c, arena *a, const mesh_set *s) {
  VEC(const attr *) all = {0};
  if (!s->known) return NULL;
  for (size_t i = 0; i < s->meshes.len; i++) {
    const mesh_entry *e = &s->meshes.data[i];
    VEC_PUSH(
        a, all,
        attr_make(c, mesh_with_origins, .mesh_name = e->mesh, .origins = as_attrs(&e->origins)));
  }
  if (s->any.len)
    VEC_PUSH(a, all,
             attr_make(c, mesh_with_origins, .mesh_name = STR("*"), .origins = as_attrs(&s->any)));
  return attr_make(c, meshes_with_origins, .meshes = {all.data, all.len});
}

mesh_set set_copy(arena *a, const mesh_set *s) {
  mesh_set out = {.known = s->known};
  for (size_t i = 0; i < s->meshes.len; i++)
    set_insert(a, &out, s->meshes.data[i].mesh, as_attrs(&s->meshes.data[i].origins));
  add_origins(a, &out.any, as_attrs(&s->any));
  return out;
}

/* As in Shardy, one that was not known does not take the mesh "*" over. */
void set_unite(arena *a, mesh_set *s, const mesh_set *with) {
  bool was_known = s->known;
  if (!with->known) return;
  s->known = true;
  for (size_t i = 0; i < with->meshes.len; i++)
    set_insert(a, s, with->meshes.data[i].mesh, as_attrs(&with->meshes.data[i].origins));
  if (was_known) add_origins(a, &s->any, as_attrs(&with->any));
}

void set_meet(arena *a, mesh_set *s, const mesh_set *with) {
  if (!with->known) return;
  if (!s->known) {
    *s = set_copy(a, with);
    return;
  }
  size_t kept = 0, had = s->meshes.len;
  for (size_t i = 0; i < had; i++) {
    mesh_entry *e = &s->meshes.data[i];
    const mesh_entry *other = entry_of(with, e->mesh);
    if (!other && !with->any.len) continue;
    add_origins(a, &e->origins, as_attrs(other ? &other->origins : &with->any));
    s->meshes.data[kept++] = *e;
  }
  s->meshes.len = kept;
  for (size_t i = 0; s->any.len && i < with->meshes.len; i++) {
    const mesh_entry *e = &with->meshes.data[i];
    if (entry_of(s, e->mesh)) continue;
    set_insert(a, s, e->mesh, as_attrs(&e->origins));
    set_insert(a, s, e->mesh, as_attrs(&s->any));
  }
  if ((s->any.len != 0) == (with->any.len != 0))
    add_origins(a, &s->any, as_attrs(&with->any));
  else
    s->any.len = 0;
}

bool set_has_all(const mesh_set *s, const mesh_set *of) {
  for (size_t i = 0; i < of->meshes.len; i++)
    if (!entry_of(s, of->meshes.data[i].mesh)) return false;
  return true;
}

bool set_same_meshes(const mesh_set *a, const mesh_set *b) {
  return a->meshes.len == b->meshes.len && (a->any.len != 0) == (b->any.len != 0) &&
         set_has_all(a, b);
}

typedef struct best {
  bool found, low;
  str mesh;
} best;

static void consider(best *b, str mesh, const origin_list *origins) {
  bool low = false;
  for (size_t i = 0; i < origins->len; i++) {
    const mesh_origin_attr *o = attr_as(mesh_origin, origins->data[i]);
    low |= o && str_eq(o->label, ORIGIN_BROADCAST_IN);
  }
  if (b->found && (low != b->low ? low : str_cmp(mesh, b->mesh) >= 0)) return;
  *b = (best){true, low, mesh};
}

bool set_pick(const mesh_set *s, const mesh_set *preferred, str *out) {
  best b = {0};
  for (size_t i = 0; preferred && i < preferred->meshes.len; i++) {
    str mesh = preferred->meshes.data[i].mesh;
    const mesh_entry *e = entry_of(s, mesh);
    if (e || s->any.len) consider(&b, mesh, e ? &e->origins : &s->any);
  }
  for (size_t i = 0, n = b.found ? 0 : s->meshes.len; i < n; i++)
    consider(&b, s->meshes.data[i].mesh, &s->meshes.data[i].origins);
  if (b.found) *out = b.mesh;
  return b.found;
}

str set_names(arena *a, const mesh_set *s) {
  VEC(char) text = {0};
  for (size_t i = 0; i < s->meshes.len; i++) {
    str mesh = s->meshes.data[i].mesh;
    if (i) VEC_PUSH(a, text, ',');
    for (size_t k = 0; k < mesh.len; k++) VEC_PUSH(a, text, mesh.data[k]);
  }
  return (str){text.data, text.len};
}
