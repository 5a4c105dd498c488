/* Passes on meshes and axes: those of the import, and what undoes them. */
#include "shard/flow.h"
#include "shard/passes.h"
#include "shard/calls.h"

/* ---- every sharding of a module ---- */

typedef struct mapping {
  ir_module *m;
  arena *a;
  map_sharding_fn *fn;
  void *user;
  hash_index done; /* lists: most ops share few */
} mapping;

static const attr *map_one(const mapping *p, const attr *a) {
  const attr *b = attr_is(tensor_sharding, a) ? p->fn(p->user, a) : a;
  return b ? b : a;
}

static const attr *map_list(mapping *p, const attr *a) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, a);
  if (!l) return map_one(p, a);
  const attr *known = index_get(&p->done, a);
  if (known) return known;
  const attr **out = ARENA_ARRAY(p->a, const attr *, l->shardings.len);
  bool same = true;
  for (size_t i = 0; i < l->shardings.len; i++) {
    out[i] = map_one(p, l->shardings.data[i]);
    same &= out[i] == l->shardings.data[i];
  }
  const attr *b =
      same ? a : attr_make(p->m->ctx, sharding_per_value, .shardings = {out, l->shardings.len});
  index_set(&p->done, p->a, a, (void *)(uintptr_t)b);
  return b;
}

/* Written once a side and only if anything has changed. */
static void map_func(const mapping *p, op *func, func_side side) {
  size_t n = func_num(func, side);
  const attr **list = ARENA_ARRAY(p->a, const attr *, n);
  bool same = true;
  for (size_t i = 0; i < n; i++) {
    const attr *a = func_sharding(func, side, i);
    list[i] = a ? map_one(p, a) : NULL;
    same &= list[i] == a;
  }
  if (!same) func_set_shardings(p->m, func, side, list, n);
}

static walk_result map_op(void *user, op *o) {
  mapping *p = user;
  if (op_is(o, func)) {
    map_func(p, o, FUNC_ARGS);
    map_func(p, o, FUNC_RESULTS);
  }
  for (u32 i = 0; i < o->info->num_slots; i++)
    if (o->slots[i]) o->slots[i] = map_list(p, o->slots[i]);
  const attr *own = op_discardable(o, SDY_SHARDING), *other = own ? map_list(p, own) : NULL;
  if (other != own) op_set_attr(p->m, o, SDY_SHARDING, other);
  return WALK_ON;
}

/* Lists are remembered by address: thousands of ops share a few of them. */
void map_shardings(ir_module *m, arena *scratch, map_sharding_fn *fn, void *user) {
  mapping p = {.m = m, .a = scratch, .fn = fn, .user = user};
  op_walk(m->root, map_op, &p);
}

/* ---- sdy-lift-inlined-meshes ---- */

typedef struct lifting {
  ir_module *m;
  arena *a;
  VEC(named_attr) names; /* mesh, or reference to one that is gone -> reference to use */
  op *last;              /* new meshes go behind it */
  symbols symbols;
} lifting;

/* Linear: modules have a few meshes. */
static const attr *lifted(const lifting *l, const attr *mesh) {
  for (size_t i = 0; i < l->names.len; i++)
    if (l->names.data[i].name == mesh) return l->names.data[i].value;
  return NULL;
}

/* Meshes with equal axes and devices are one; the first by text stays. */
static void drop_twins(lifting *l) {
  FOR_OPS(o, op_body(l->m->root, 0)) {
    if (!op_is(o, sdy_mesh)) continue;
    const attr *mesh = op_attr(o, SLOT_NAME(mesh)), *ref = attr_symbol(l->m->ctx, symbol_name(o));
    const attr *first = lifted(l, mesh);
    if (first) {
      VEC_PUSH(l->a, l->names, ((named_attr){ref, first}));
      op_erase(o);
    } else {
      VEC_PUSH(l->a, l->names, ((named_attr){mesh, ref}));
      l->last = o;
    }
  }
}

/* Names as Shardy gives them: mesh, empty_mesh, maximal_mesh_N, with a number where taken. */
static const attr *name_mesh(lifting *l, const attr *mesh) {
  const mesh_attr *v = attr_as(mesh, mesh);
  str name = STR("mesh");
  if (!v->axes.len)
    name = v->device_ids.len == 1
               ? arena_printf(l->a, "maximal_mesh_%lld", (long long)v->device_ids.data[0])
               : STR("empty_mesh");
  op *o = op_create(l->m, &op_infos[OP_sdy_mesh], l->m->root->loc, NULL, 0, NULL, 0, 0);
  op_set(o, sdy_mesh, sym_name, attr_string(l->m->ctx, name));
  op_set(o, sdy_mesh, mesh, mesh);
  block *body = op_body(l->m->root, 0);
  symbols_insert(&l->symbols, o, l->last ? l->last->next : body->first);
  l->last = o;
  const attr *ref = attr_symbol(l->m->ctx, symbol_name(o));
  VEC_PUSH(l->a, l->names, ((named_attr){mesh, ref}));
  return ref;
}

static const attr *lift(void *user, const attr *a) {
  lifting *l = user;
  tensor_sharding_attr t = *attr_as(tensor_sharding, a);
  const attr *ref = lifted(l, t.mesh);
  if (!ref && !attr_is(mesh, t.mesh)) return a;
  t.mesh = ref ? ref : name_mesh(l, t.mesh);
  return attr_unique(l->m->ctx, &t.base);
}

/* The sdy form of a mesh that StableHLO spells out; NULL: device ids that are not integers. */
static const attr *mesh_of_hlo(lifting *l, const hlo_mesh_attr *h) {
  const attr **axes = ARENA_ARRAY(l->a, const attr *, h->axes.len);
  for (size_t i = 0; i < h->axes.len; i++) {
    const hlo_mesh_axis_attr *a = attr_as(hlo_mesh_axis, h->axes.data[i]);
    if (!a) return NULL;
    axes[i] = attr_make(l->m->ctx, mesh_axis, .name = a->name, .size = a->size);
  }
  i64s ids = {0};
  if (h->device_ids && !attr_get_i64s(l->m->ctx, h->device_ids, &ids)) return NULL;
  return attr_make(l->m->ctx, mesh, .axes = {axes, h->axes.len}, .device_ids = ids);
}

/* Replica groups given by axes name their mesh too. */
static walk_result lift_groups(void *user, op *o) {
  lifting *l = user;
  const replica_group_mesh_axes_attr *g =
      attr_as(replica_group_mesh_axes, op_attr(o, SLOT_NAME(replica_groups)));
  if (!g) return WALK_ON;
  const hlo_mesh_attr *h = attr_as(hlo_mesh, g->mesh);
  const attr *mesh = h ? mesh_of_hlo(l, h) : g->mesh, *ref = mesh ? lifted(l, mesh) : NULL;
  if (!ref && h && mesh) ref = name_mesh(l, mesh);
  if (!ref) return WALK_ON;
  replica_group_mesh_axes_attr next = *g;
  next.mesh = ref;
  op_set_attr(l->m, o, SLOT_NAME(replica_groups), attr_unique(l->m->ctx, &next.base));
  return WALK_ON;
}

/* NULL: those of a mesh in order. */
static const attr *device_ids_of(ir_module *m, const mesh_attr *v) {
  i64 n = (i64)v->device_ids.len;
  return n ? attr_dense_i64(m->ctx, (i64s){&n, 1}, v->device_ids.data) : NULL;
}

/* {axes = [{name, size}], device_ids = dense}: the mesh for readers that know no sdy */
static const attr *mesh_dict(ir_module *m, const mesh_attr *v) {
  ir_ctx *c = m->ctx;
  const attr **axes = ARENA_ARRAY(&m->arena, const attr *, v->axes.len);
  for (size_t i = 0; i < v->axes.len; i++) {
    const mesh_axis_attr *ax = attr_as(mesh_axis, v->axes.data[i]);
    named_attr d[] = {{attr_string(c, STR("name")), attr_string(c, ax->name)},
                      {attr_string(c, STR("size")), attr_i64(c, ax->size)}};
    axes[i] = attr_dict(c, d, 2);
  }
  named_attr d[2] = {{attr_string(c, STR("axes")), attr_array(c, (attrs){axes, v->axes.len})}};
  const attr *ids = device_ids_of(m, v);
  if (ids) d[1] = (named_attr){attr_string(c, STR("device_ids")), ids};
  return attr_dict(c, d, ids ? 2 : 1);
}

bool pass_lift_inlined_meshes(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  lifting l = {.m = m, .a = scratch};
  drop_twins(&l);
  symbols_init(&l.symbols, m, scratch);
  map_shardings(m, scratch, lift, &l);
  if (module_may_have(m, all_gather) || module_may_have(m, all_reduce) ||
      module_may_have(m, reduce_scatter) || module_may_have(m, all_to_all))
    op_walk(m->root, lift_groups, &l);
  FOR_OPS(o, op_body(m->root, 0)) {
    struct sdy_mesh_attrs v;
    if (!op_is(o, sdy_mesh) || op_discardable(o, STABLEHLO_MESH)) continue;
    if (!view_sdy_mesh(o, &v)) return op_error(m->ctx, o, "has no mesh");
    op_set_attr(m, o, STABLEHLO_MESH, mesh_dict(m, v.mesh));
  }
  return true;
}

/* ---- sdy-inline-meshes, sdy-drop-sharding-and-mesh ---- */

static void erase_meshes(ir_module *m) {
  FOR_OPS(o, op_body(m->root, 0))
  if (op_is(o, sdy_mesh)) op_erase(o);
}

/* NULL where `ref` is no name of a mesh. */
static const attr *mesh_named(const symbols *t, const attr *ref) {
  const op *o = attr_is(symbol_ref, ref) ? symbols_find(t, symbol_of(ref)) : NULL;
  return o && op_is(o, sdy_mesh) ? op_attr(o, SLOT_NAME(mesh)) : NULL;
}

static const attr *inline_mesh(void *user, const attr *a) {
  const symbols *t = user;
  tensor_sharding_attr out = *attr_as(tensor_sharding, a);
  const attr *mesh = mesh_named(t, out.mesh);
  if (!mesh) return a;
  out.mesh = mesh;
  return attr_unique(t->m->ctx, &out.base);
}

/* A mesh as StableHLO spells it out. */
static const attr *hlo_of_mesh(ir_module *m, const mesh_attr *v) {
  const attr **axes = ARENA_ARRAY(&m->arena, const attr *, v->axes.len);
  for (size_t i = 0; i < v->axes.len; i++) {
    const mesh_axis_attr *a = attr_as(mesh_axis, v->axes.data[i]);
    axes[i] = attr_make(m->ctx, hlo_mesh_axis, .name = a->name, .size = a->size);
  }
  return attr_make(m->ctx, hlo_mesh, .axes = {axes, v->axes.len},
                   .device_ids = device_ids_of(m, v));
}

static walk_result inline_groups(void *user, op *o) {
  symbols *t = user;
  const replica_group_mesh_axes_attr *g =
      attr_as(replica_group_mesh_axes, op_attr(o, SLOT_NAME(replica_groups)));
  const mesh_attr *mesh = g ? attr_as(mesh, mesh_named(t, g->mesh)) : NULL;
  if (!mesh) return WALK_ON;
  replica_group_mesh_axes_attr out = *g;
  out.mesh = hlo_of_mesh(t->m, mesh);
  op_set_attr(t->m, o, SLOT_NAME(replica_groups), attr_unique(t->m->ctx, &out.base));
  return WALK_ON;
}

bool pass_inline_meshes(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  symbols t;
  symbols_init(&t, m, scratch);
  map_shardings(m, scratch, inline_mesh, &t);
  op_walk(m->root, inline_groups, &t);
  erase_meshes(m);
  return true;
}

static walk_result drop_sharding(void *user, op *o) {
  ir_module *m = user;
  op_set_attr(m, o, SDY_SHARDING, NULL);
  for (int side = FUNC_ARGS; op_is(o, func) && side <= FUNC_RESULTS; side++) {
    size_t n = func_num(o, side);
    func_set_shardings(m, o, side, arena_zalloc(&m->arena, n * sizeof(attr *)), n);
  }
  return WALK_ON;
}

bool pass_drop_sharding_and_mesh(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  op_walk(m->root, drop_sharding, m);
  erase_meshes(m);
  return true;
}

/* ---- sdy-remove-size-one-axes ---- */

static axis_list without_ones(arena *a, axis_list l) {
  axis_vec v = {0};
  for (size_t i = 0; i < l.len; i++)
    if (l.data[i].size != 1) VEC_PUSH(a, v, l.data[i]);
  return axis_vec_list(&v);
}

/* An axis of size 1 shards nothing. A closed dimension without axes cannot have a priority. */
static const attr *remove_ones(void *user, const attr *attr_in) {
  shard_space *s = user;
  arena *a = shard_space_arena(s);
  const sharding *from = shard_read(s, attr_in);
  if (!from) return attr_in;
  sharding out = *from;
  dim_sharding *dims = arena_copy(a, from->dims, from->rank * sizeof *dims);
  for (u32 d = 0; d < from->rank; d++) {
    dims[d].axes = without_ones(a, dims[d].axes);
    if (!dims[d].axes.len && dims[d].closed) dims[d].priority = PRIORITY_NONE;
  }
  out.dims = dims;
  out.replicated = without_ones(a, from->replicated);
  out.unreduced = without_ones(a, from->unreduced);
  const sharding *interned = shard_intern(s, &out);
  return interned == from ? attr_in : shard_write(s, interned);
}

/* Looks at the meshes first: most have no such axis, and then nothing is walked. */
bool pass_remove_size_one_axes(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  shard_space *s = shard_space_create(m, scratch);
  bool any = false;
  FOR_OPS(o, op_body(m->root, 0)) {
    const mesh *me = op_is(o, sdy_mesh) ? shard_mesh_named(s, symbol_name(o)) : NULL;
    for (u32 i = 0; me && i < me->num_axes; i++) any |= me->axes[i].size == 1;
  }
  if (any) map_shardings(m, scratch, remove_ones, s);
  return shard_space_check(s);
}

/* ---- sdy-manual-axes-cleanup ---- */

typedef struct cleanup {
  ir_module *m;
  shard_space *s;
  bool ok;
} cleanup;

static attrs side_list(const op *o, str slot) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, op_attr(o, slot));
  return l ? l->shardings : (attrs){0};
}

/* The mesh by which the op's shardings name their axes. */
static const mesh *border_mesh(cleanup *c, const op *o) {
  const mesh *m = NULL;
  const str slots[] = {SLOT_NAME(in_shardings), SLOT_NAME(out_shardings)};
  for (int k = 0; k < 2; k++) {
    attrs l = side_list(o, slots[k]);
    for (size_t i = 0; i < l.len; i++) {
      const sharding *s = shard_read(c->s, l.data[i]);
      if (!s || (m && (!mesh_is_empty(m) || mesh_is_empty(s->mesh)))) continue;
      m = s->mesh;
    }
  }
  return m;
}

static axis_list all_axes(arena *a, const sharding *s) {
  return axes_concat(a, axes_concat(a, sharding_used_axes(a, s), s->replicated), s->unreduced);
}

/* Manual axes that a border's sharding does not mention would be free for propagation outside,
 * which the body cannot see: they are replicated there, said explicitly. */
static void reserve_unused(cleanup *c, op *o, str slot, const mesh *m, axis_list manual,
                           bool results) {
  attrs l = side_list(o, slot);
  arena *a = shard_space_arena(c->s);
  const attr **out = ARENA_ARRAY(a, const attr *, l.len);
  for (size_t i = 0; i < l.len; i++) {
    out[i] = l.data[i];
    const type *t = results ? (i < o->num_results ? op_result(o, i)->type : NULL)
                            : (i < o->num_operands ? op_operand(o, i)->type : NULL);
    const sharding *s = shard_read(c->s, l.data[i]);
    if (!s || !t || !type_is_tensor(t)) continue;
    axis_list unused = axes_difference(a, manual, all_axes(a, s));
    if (!unused.len) continue;
    sharding next = *s;
    next.mesh = m;
    next.replicated = axes_sort_merge(a, axes_concat(a, s->replicated, unused));
    out[i] = shard_write(c->s, shard_intern(c->s, &next));
  }
  op_set_named(o, slot, attr_make(c->m->ctx, sharding_per_value, .shardings = {out, l.len}));
}

/* The manual axes in mesh order; false: one isn't in the mesh. */
static bool sort_manual(cleanup *c, op *o, const mesh *m, axis_list *out) {
  struct manual_computation_attrs v;
  if (!view_manual_computation(o, &v)) return false;
  arena *a = shard_space_arena(c->s);
  axis_vec axes = {0};
  for (size_t i = 0; i < v.manual_axes->axes.len; i++) {
    str name;
    int k = attr_get_str(v.manual_axes->axes.data[i], &name) ? mesh_axis_find(m, name) : -1;
    if (k < 0) return false;
    VEC_PUSH(a, axes, axis_whole(m, (u32)k));
  }
  *out = axes_sort(a, axis_vec_list(&axes));
  const attr **names = ARENA_ARRAY(a, const attr *, out->len);
  for (size_t i = 0; i < out->len; i++)
    names[i] = attr_string(c->m->ctx, m->axes[out->data[i].axis].name);
  op_set(o, manual_computation, manual_axes,
         attr_make(c->m->ctx, manual_axes, .axes = {names, out->len}));
  return true;
}

static walk_result clean_manual(void *user, op *o) {
  cleanup *c = user;
  if (!op_is(o, manual_computation)) return WALK_ON;
  struct manual_computation_attrs v;
  bool plain =
      !side_list(o, SLOT_NAME(in_shardings)).len && !side_list(o, SLOT_NAME(out_shardings)).len;
  if (plain) {
    const block *b = op_body(o, 0);
    c->ok = !view_manual_computation(o, &v) || !v.manual_axes->axes.len ||
            (b && b->first == b->last) ||
            op_error(c->m->ctx, o,
                     "op has manual_axes when there are no in/out shardings and the body is not "
                     "empty");
    return c->ok ? WALK_ON : WALK_STOP;
  }
  const mesh *m = border_mesh(c, o);
  axis_list manual;
  c->ok = m && sort_manual(c, o, m, &manual);
  if (!c->ok) {
    op_error(c->m->ctx, o, "has shardings or manual axes without a common mesh");
    return WALK_STOP;
  }
  reserve_unused(c, o, SLOT_NAME(in_shardings), m, manual, false);
  reserve_unused(c, o, SLOT_NAME(out_shardings), m, manual, true);
  return WALK_ON;
}

bool pass_manual_axes_cleanup(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  if (!module_may_have(m, manual_computation)) return true;
  cleanup c = {m, shard_space_create(m, scratch), true};
  op_walk_post(m->root, clean_manual, &c);
  return c.ok && shard_space_check(c.s);
}
