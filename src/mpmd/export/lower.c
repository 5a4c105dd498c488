/* Fragments become calls of functions, one for all that are alike. Source: openxla/shardy,
 * lower_to_fragment_calls.cc. */
#include "base/index.h"
#include "mpmd/export/naming.h"
#include "mpmd/export/passes.h"
#include "mpmd/export/util.h"
#include "shard/sharding_ir.h"
#include "shard/traits.h"
#include "text/text.h"

/* Fragments of one mesh, by its name and as it is, with equal bodies, and equal words about
 * arguments and results. */
typedef struct group {
  const op *first;
  size_t id;
  i64 bytes; /* the most that one of them reserves; has_bytes false: none says */
  bool has_bytes;
  call_sites sites;
  str name;
  op *func;
} group;

typedef struct lowering {
  ir_module *m;
  arena *a;
  op_list fragments;
  VEC(group *) groups, group_of; /* the latter for each fragment */
  hash_index alike;
  bool all_forward;
} lowering;

/* ---- groups ---- */

static bool are_alike(lowering *l, const op *x, const op *y) {
  str mesh = fragment_mesh(x);
  return str_eq(mesh, fragment_mesh(y)) && mpmd_mesh(x, mesh) == mpmd_mesh(y, mesh) &&
         op_discardable(x, MPMD_ARG_ATTRS) == op_discardable(y, MPMD_ARG_ATTRS) &&
         op_discardable(x, MPMD_RES_ATTRS) == op_discardable(y, MPMD_RES_ATTRS) &&
         region_same(l->a, &x->regions[0], &y->regions[0]);
}

static group *group_for(lowering *l, const op *o) {
  str mesh = fragment_mesh(o);
  u64 h = hash_ptr(op_discardable(o, MPMD_ARG_ATTRS),
                   hash_bytes(mesh.data, mesh.len, region_hash(&o->regions[0])));
  group *g;
  for (size_t at = 0; (g = index_next(&l->alike, h, &at));)
    if (are_alike(l, g->first, o)) return g;
  g = ARENA_NEW(l->a, group);
  *g = (group){.first = o, .id = l->groups.len};
  index_add(&l->alike, l->a, h, g);
  VEC_PUSH(l->a, l->groups, g);
  return g;
}

static void add_fragment(lowering *l, const op *o) {
  group *g = group_for(l, o);
  i64 bytes;
  const attr *said = op_discardable(o, MPMD_RESERVED_BYTES);
  if (said && attr_get_i64(said, &bytes)) {
    g->bytes = g->has_bytes ? max_i64(g->bytes, bytes) : bytes;
    g->has_bytes = true;
  }
  str name = name_of_fragment(l->a, o, l->all_forward);
  VEC_PUSH(l->a, g->sites, ((call_site){name, mpmd_call_counter(o)}));
  VEC_PUSH(l->a, l->group_of, g);
}

static str module_name(const lowering *l) {
  str name = symbol_name(l->m->root);
  return name.len ? name : STR("main");
}

static void name_groups(lowering *l) {
  str of = module_name(l);
  if (str_starts(of, STR("jit_"))) of = str_from(of, 4);
  for (size_t i = 0; i < l->groups.len; i++) {
    group *g = l->groups.data[i];
    str sites = name_of_sites(l->a, &g->sites);
    str name = name_cut(l->a, arena_printf(l->a, "p%zu_" STR_FMT, g->id, STR_ARG(sites)));
    g->name = arena_printf(l->a, STR_FMT "." STR_FMT, STR_ARG(name), STR_ARG(of));
  }
}

/* ---- what is told ---- */

static str show_origins(const lowering *l, const op *o) {
  static const char *const phases[] = {"(fwd)", "(bwd)"};
  attrs origins = fragment_origins(o);
  str out = {0};
  for (size_t i = 0; i < origins.len; i++) {
    const user_origin_attr *u = attr_as(user_origin, origins.data[i]);
    if (!u) continue;
    i64 n = u->transpose_count;
    str phase = l->all_forward     ? STR("")
                : n == 0 || n == 1 ? str_of(phases[n])
                                   : arena_printf(l->a, "(TransposeCount=%lld)", (long long)n);
    out = arena_printf(l->a, STR_FMT "%s" STR_FMT STR_FMT, STR_ARG(out), i ? ", " : "",
                       STR_ARG(u->name), STR_ARG(phase));
  }
  return out;
}

static void tell_fragment(const lowering *l, const op *o, const group *g) {
  str origins = show_origins(l, o), stage = {0}, call = {0};
  i64 n;
  if (attr_get_i64(fragment_stage(o), &n))
    stage = arena_printf(l->a, ", stage id %lld", (long long)n);
  if (mpmd_call_counter(o) >= 0)
    call = arena_printf(l->a, ", call counter %lld", (long long)mpmd_call_counter(o));
  op_remark(l->m->ctx, o,
            "- " STR_FMT " from program with origins [" STR_FMT "]" STR_FMT STR_FMT ".",
            STR_ARG(g->name), STR_ARG(origins), STR_ARG(stage), STR_ARG(call));
}

/* Which programs each mesh of @main runs, in their order. */
static void tell(const lowering *l) {
  const op *f = symbol_find(l->m->root, STR("main"));
  const topology_attr *t = f && op_is(f, func) ? mpmd_topology(f) : NULL;
  str name = module_name(l);
  for (size_t i = 0; t && i < t->meshes.len; i++) {
    str mesh = ((const named_mesh_attr *)t->meshes.data[i])->name;
    op_remark(l->m->ctx, l->m->root,
              "Module " STR_FMT " on mesh " STR_FMT " will execute the following XLA programs:",
              STR_ARG(name), STR_ARG(mesh));
    for (size_t k = 0; k < l->fragments.len; k++)
      if (str_eq(fragment_mesh(l->fragments.data[k]), mesh))
        tell_fragment(l, l->fragments.data[k], l->group_of.data[k]);
  }
}

/* ---- functions ---- */

static bool set_side(lowering *l, op *f, func_side side, const op *o, str list) {
  const array_attr *said = attr_as(array, op_discardable(o, list));
  size_t n = func_num(f, side);
  if (said && said->elems.len != n)
    return op_error(l->m->ctx, o, "has %zu dictionaries in '" STR_FMT "', but needs %zu",
                    said->elems.len, STR_ARG(list), n);
  for (size_t i = 0; said && i < n; i++)
    if (!attr_is(dict, said->elems.data[i]))
      return op_error(l->m->ctx, o, "'" STR_FMT "' must have dictionaries only", STR_ARG(list));
  if (said) op_set_attr(l->m, f, list, &said->base);
  for (size_t i = 0; i < n; i++) {
    const value *v = side == FUNC_ARGS ? op_operand(o, i) : op_result(o, i);
    if (type_is_mesh_tensor(v->type) && v->type->encoding)
      func_set_sharding(l->m, f, side, i, v->type->encoding);
  }
  return true;
}

static const type *body_type(lowering *l, const block *b) {
  type_list in = {0}, out = {0};
  const op *ret = op_terminator(b);
  for (u32 i = 0; i < b->num_args; i++) VEC_PUSH(l->a, in, b->args[i]->type);
  for (u32 i = 0; i < ret->num_operands; i++) VEC_PUSH(l->a, out, op_operand(ret, i)->type);
  return type_function(l->m->ctx, (types){in.data, in.len}, (types){out.data, out.len});
}

/* The fragment's body as the function's, with an end of its own. */
static void take_body(lowering *l, op *o, op *f) {
  block *b = op_body(o, 0);
  op *ret = op_terminator(b);
  value_list out = {0};
  for (u32 i = 0; i < ret->num_operands; i++) VEC_PUSH(l->a, out, op_operand(ret, i));
  op_insert(op_create(l->m, &op_infos[OP_func_return], ret->loc, out.data, out.len, NULL, 0, 0), b,
            NULL);
  op_erase(ret);
  block_unlink(b);
  region_append(&f->regions[0], b);
}

/* ---- manual computations inside name the fragment's mesh ---- */

typedef struct renaming {
  ir_module *m;
  str mesh;
  const attr *shape;
  bool ok;
} renaming;

/* The module's mesh of that name, made where there is none. */
static void need_mesh(renaming *r, const op *at) {
  const op *o = symbol_find(r->m->root, r->mesh);
  if (o && op_is(o, sdy_mesh)) return;
  if (o) {
    r->ok = op_error(r->m->ctx, at, "needs a mesh '" STR_FMT "', which is something else",
                     STR_ARG(r->mesh));
    return;
  }
  op *n = op_create(r->m, &op_infos[OP_sdy_mesh], r->m->root->loc, NULL, 0, NULL, 0, 0);
  op_set(n, sdy_mesh, sym_name, attr_string(r->m->ctx, r->mesh));
  op_set(n, sdy_mesh, mesh, r->shape);
  block *b = op_body(r->m->root, 0);
  op_insert(n, b, b->first);
}

static const attr *on_mesh(renaming *r, const op *at, const attr *list) {
  const sharding_per_value_attr *s = attr_as(sharding_per_value, list);
  if (!s) return list;
  arena *a = ir_scratch_push(r->m->ctx);
  const attr **out = ARENA_ARRAY(a, const attr *, s->shardings.len);
  for (size_t i = 0; i < s->shardings.len; i++) {
    const tensor_sharding_attr *t = attr_as(tensor_sharding, s->shardings.data[i]);
    str name;
    out[i] = s->shardings.data[i];
    if (!t || !attr_get_symbol(t->mesh, &name) || str_eq(name, r->mesh)) continue;
    need_mesh(r, at);
    tensor_sharding_attr renamed = *t;
    renamed.mesh = attr_symbol(r->m->ctx, r->mesh);
    out[i] = attr_unique(r->m->ctx, &renamed.base);
  }
  list = attr_make(r->m->ctx, sharding_per_value, .shardings = {out, s->shardings.len});
  ir_scratch_pop(r->m->ctx);
  return list;
}

static walk_result rename_meshes(void *user, op *o) {
  renaming *r = user;
  if (!op_is(o, manual_computation)) return WALK_ON;
  const attr *in = op_get(o, manual_computation, in_shardings);
  const attr *out = op_get(o, manual_computation, out_shardings);
  op_set(o, manual_computation, in_shardings, on_mesh(r, o, in));
  op_set(o, manual_computation, out_shardings, on_mesh(r, o, out));
  return r->ok ? WALK_ON : WALK_STOP;
}

/* Makes the group's function of its first fragment. */
static bool extract(lowering *l, op *o, group *g) {
  const mesh_attr *mesh = mpmd_mesh(o, fragment_mesh(o));
  if (!mesh) return op_error(l->m->ctx, o, "is on a mesh that the topology does not have");
  if (symbol_find(l->m->root, g->name))
    return op_error(l->m->ctx, o, "would become @" STR_FMT ", which there is already",
                    STR_ARG(g->name));
  const type *t = body_type(l, op_body(o, 0));
  op *f = op_create(l->m, &op_infos[OP_func], o->loc, NULL, 0, NULL, 0, 1);
  op_set(f, func, sym_name, attr_string(l->m->ctx, g->name));
  op_set(f, func, function_type, attr_type(l->m->ctx, t));
  op_set_attr(l->m, f, MPMD_MESH_SHAPE, &mesh->base);
  if (g->has_bytes) op_set_attr(l->m, f, MPMD_RESERVED_BYTES, attr_i64(l->m->ctx, g->bytes));
  op_insert(f, op_body(l->m->root, 0), NULL);
  if (!set_side(l, f, FUNC_ARGS, o, MPMD_ARG_ATTRS) ||
      !set_side(l, f, FUNC_RESULTS, o, MPMD_RES_ATTRS))
    return false;
  take_body(l, o, f);
  renaming r = {l->m, fragment_mesh(o), &mesh->base, true};
  op_walk(f, rename_meshes, &r);
  g->func = f;
  return r.ok;
}

static void call_instead(lowering *l, op *o, const group *g) {
  value_list in = {0};
  type_list out = {0};
  for (u32 i = 0; i < o->num_operands; i++) VEC_PUSH(l->a, in, op_operand(o, i));
  for (u32 i = 0; i < o->num_results; i++) VEC_PUSH(l->a, out, o->results[i].type);
  op *n = mpmd_emit(l->m, o, OP_mpmd_fragment_call, o->loc, in.data, in.len, out.data, out.len);
  op_set(n, mpmd_fragment_call, origin, op_get(o, mpmd_fragment, origin));
  op_set(n, mpmd_fragment_call, mesh_name, op_get(o, mpmd_fragment, mesh_name));
  op_set(n, mpmd_fragment_call, callee, attr_symbol(l->m->ctx, g->name));
  if (op_discardable(o, MPMD_REMAT)) op_set_attr(l->m, n, MPMD_REMAT, attr_unit(l->m->ctx));
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_result(n, i));
  op_erase(o);
}

bool pass_mpmd_lower_fragments(ir_module *m, arena *scratch, const pass_args *args) {
  lowering l = {.m = m, .a = scratch};
  ops_of_kind(scratch, m->root, OP_mpmd_fragment, &l.fragments);
  l.all_forward = mpmd_all_forward(l.fragments);
  for (size_t i = 0; i < l.fragments.len; i++) add_fragment(&l, l.fragments.data[i]);
  name_groups(&l);
  if (pass_option_flag(args, STR("verbose-logging"), false)) tell(&l);
  for (size_t i = 0; i < l.fragments.len; i++) {
    op *o = l.fragments.data[i];
    group *g = l.group_of.data[i];
    if (!g->func && !extract(&l, o, g)) return false;
    call_instead(&l, o, g);
  }
  return true;
}
