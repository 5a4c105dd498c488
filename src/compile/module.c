/* Meshes and numbers of devices, looked at and changed in the module as it was read. pipeline.c
 * asks before anything is propagated, so that no stage after it sees a mesh of another size than
 * there are devices. */
#include "compile/module.h"

#include <stdio.h>

#include "compile/signature.h"

/* ---- mesh overrides ---- */

static bool bad_override(ir_module *m, const char *said, const char *text) {
  return loc_error(m->ctx, m->root->loc, "%s: expected MESH=AXIS=SIZE,AXIS=SIZE..., found '%s'",
                   said, text);
}

static bool parse_size(str s, i64 *out) {
  i64 v = 0;
  for (size_t i = 0; i < s.len; i++) {
    if (s.data[i] < '0' || s.data[i] > '9' || !checked_mul(v, (i64)10, &v)) return false;
    if (!checked_add(v, (i64)(s.data[i] - '0'), &v)) return false;
  }
  *out = v;
  return s.len > 0 && v > 0;
}

/* Cuts off what is before the first `c`; false: there is none. */
static bool cut(str *rest, char c, str *out) {
  const char *at = rest->len ? memchr(rest->data, c, rest->len) : NULL;
  if (!at) return false;
  *out = (str){rest->data, (size_t)(at - rest->data)};
  *rest = str_from(*rest, out->len + 1);
  return true;
}

static const attr *parse_axes(ir_module *m, str text) {
  VEC(const attr *) axes = {0};
  while (text.len) {
    str item, name;
    i64 size;
    if (!cut(&text, ',', &item)) {
      item = text;
      text.len = 0;
    }
    if (!cut(&item, '=', &name) || !name.len || !parse_size(item, &size)) return NULL;
    for (size_t i = 0; i < axes.len; i++)
      if (str_eq(attr_as(mesh_axis, axes.data[i])->name, name)) return NULL;
    VEC_PUSH(&m->arena, axes, attr_make(m->ctx, mesh_axis, .name = name, .size = size));
  }
  return attr_make(m->ctx, mesh, .axes = {axes.data, axes.len});
}

typedef struct mesh_search {
  const attr *ref;
  op *found;
} mesh_search;

static bool names_mesh(const attr *shardings, const attr *ref) {
  const sharding_per_value_attr *s = attr_as(sharding_per_value, shardings);
  for (size_t i = 0; s && i < s->shardings.len; i++) {
    const tensor_sharding_attr *t = attr_as(tensor_sharding, s->shardings.data[i]);
    if (t && t->mesh == ref) return true;
  }
  return false;
}

static walk_result find_manual(void *user, op *o) {
  mesh_search *s = user;
  if (!op_is(o, manual_computation)) return WALK_ON;
  if (!names_mesh(op_attr(o, SLOT_NAME(in_shardings)), s->ref) &&
      !names_mesh(op_attr(o, SLOT_NAME(out_shardings)), s->ref))
    return WALK_ON;
  s->found = o;
  return WALK_STOP;
}

static bool override_mesh(ir_module *m, const char *said, const char *text) {
  str rest = str_of(text), name;
  if (!cut(&rest, '=', &name)) return bad_override(m, said, text);
  op *mesh = symbol_find(m->root, name);
  if (!mesh || !op_is(mesh, sdy_mesh))
    return loc_error(m->ctx, m->root->loc, "%s: '%s': there is no mesh @" STR_FMT, said, text,
                     STR_ARG(name));
  const attr *axes = parse_axes(m, rest);
  if (!axes) return bad_override(m, said, text);
  mesh_search s = {.ref = attr_symbol(m->ctx, name)};
  op_walk(m->root, find_manual, &s);
  if (s.found)
    return op_error(m->ctx, s.found,
                    "is written for the sizes of mesh @" STR_FMT
                    ", which cannot be replaced (%s: '%s')",
                    STR_ARG(name), said, text);
  op_set(mesh, sdy_mesh, mesh, axes);
  op_set_attr(m, mesh, STABLEHLO_MESH, NULL);
  return true;
}

bool module_override_meshes(ir_module *m, const char *said, const char *const *overrides) {
  for (; overrides && *overrides; overrides++)
    if (!override_mesh(m, said ? said : "meshes", *overrides)) return false;
  return true;
}

/* ---- devices ---- */

enum { MAX_DEVICES = 1 << 20 };

/* Product of the axes; -1: too many for anything. */
static i64 mesh_devices(const op *o) {
  struct sdy_mesh_attrs v;
  i64 n = 1;
  if (!view_sdy_mesh(o, &v)) return -1;
  for (size_t i = 0; i < v.mesh->axes.len; i++) {
    const mesh_axis_attr *a = attr_as(mesh_axis, v.mesh->axes.data[i]);
    if (!a || !checked_mul(n, a->size, &n) || n > INT32_MAX) return -1;
  }
  return n;
}

static u32 said(const op *root, str name) {
  i64 n;
  return attr_get_i64(op_attr(root, name), &n) && n > 0 && n <= MAX_DEVICES ? (u32)n : 0;
}

/* Of an option that was given, messages begin with its name. */
static bool check_meshes(ir_module *m, bool asked, u32 partitions) {
  for (op *o = op_body(m->root, 0)->first; o; o = o->next) {
    if (!op_is(o, sdy_mesh)) continue;
    i64 n = mesh_devices(o);
    if (n == 1 || n == (i64)partitions) continue;
    str name = symbol_name(o);
    return loc_error(m->ctx, o->loc, "%smesh @" STR_FMT " has %lld devices, the program is for %u",
                     asked ? "devices: " : "", STR_ARG(name), (long long)n, partitions);
  }
  return true;
}

bool module_count_devices(ir_module *m, module_devices asked, bool meshes_count,
                          module_devices *out) {
  i64 largest = 1;
  for (op *o = op_body(m->root, 0)->first; o; o = o->next)
    if (op_is(o, sdy_mesh)) largest = max_i64(largest, mesh_devices(o));
  u32 in_module = meshes_count ? 0 : said(m->root, STR("mhlo.num_partitions"));
  out->replicas = asked.replicas ? asked.replicas : said(m->root, STR("mhlo.num_replicas"));
  if (!out->replicas) out->replicas = 1;
  out->partitions = asked.partitions ? asked.partitions : in_module;
  if (!out->partitions) out->partitions = (u32)min_i64(largest, INT32_MAX);
  if ((u64)out->partitions * out->replicas > MAX_DEVICES)
    return loc_error(m->ctx, m->root->loc, "a program runs on %d devices at most", MAX_DEVICES);
  return check_meshes(m, asked.partitions, out->partitions);
}

/* ---- custom calls of ops ---- */

/* JAX up to 0.9.0 sends chlo's ops of one operand as calls of @mhlo.NAME. */
static walk_result name_call(void *user, op *o) {
  ir_module *m = user;
  static const char mhlo[] = "mhlo.";
  str target;
  char name[32];
  if (!op_is(o, custom_call) || o->num_operands != 1 || o->num_results != 1) return WALK_ON;
  if (!attr_get_str(op_attr(o, SLOT_NAME(call_target_name)), &target) ||
      !str_starts(target, (str){mhlo, sizeof mhlo - 1}))
    return WALK_ON;
  str rest = str_from(target, sizeof mhlo - 1);
  int n = snprintf(name, sizeof name, "chlo." STR_FMT, STR_ARG(rest));
  if (n < 0 || (size_t)n >= sizeof name) return WALK_ON;
  const op_info *info = op_info_find((str){name, (size_t)n});
  if (!info || info->num_operands != 1 || info->num_slots || !(info->traits & SAME_TYPE))
    return WALK_ON;
  const type *t = op_result(o, 0)->type;
  op *to = op_create(m, info, o->loc, &(value *){op_operand(o, 0)}, 1, &t, 1, 0);
  op_insert(to, o->parent, o);
  value_replace(op_result(o, 0), op_result(to, 0));
  op_erase(o);
  return WALK_ON;
}

void module_name_calls(ir_module *m) { op_walk_post(m->root, name_call, m); }

/* ---- GSPMD ---- */

static bool is_replicated(const attr *sharding) {
  str s;
  return !sharding || (attr_get_str(sharding, &s) && (s.len == 0 || str_is(s, "{replicated}")));
}

static walk_result find_gspmd(void *user, op *o) {
  bool bad = !is_replicated(op_attr(o, MHLO_SHARDING));
  bad |= attr_dict_get(op_attr(o, FRONTEND_ATTRIBUTES), STR("xla.sdy.meshes")) != NULL;
  if (op_is(o, custom_call)) {
    struct custom_call_attrs a;
    if (view_custom_call(o, &a))
      bad |= str_is(a.call_target_name, "SPMDFullToShardShape") ||
             str_is(a.call_target_name, "SPMDShardToFullShape");
  }
  for (int side = 0; op_is(o, func) && side < 2; side++) {
    const array_attr *list =
        attr_as(array, op_attr(o, side ? SLOT_NAME(res_attrs) : SLOT_NAME(arg_attrs)));
    for (size_t i = 0; list && i < list->elems.len; i++)
      bad |= !is_replicated(attr_dict_get(list->elems.data[i], MHLO_SHARDING));
  }
  *(op **)user = o;
  return bad ? WALK_STOP : WALK_ON;
}

bool module_check_gspmd(ir_module *m) {
  op *found = NULL;
  if (!ir_may_have_string(m->ctx, MHLO_SHARDING) &&
      !ir_may_have_string(m->ctx, FRONTEND_ATTRIBUTES) && !module_may_have(m, custom_call))
    return true;
  if (op_walk(m->root, find_gspmd, &found)) return true;
  return op_unimplemented(m->ctx, found,
                          "a sharding in GSPMD's form (set jax_use_shardy_partitioner)");
}

static bool is_mpmd(const op_info *info) { return str_starts(info->name, STR("mpmd.")); }

static walk_result find_mpmd(void *user, op *o) {
  op **found = user;
  if (!is_mpmd(o->info)) return WALK_ON;
  *found = o;
  return WALK_STOP;
}

bool module_check_one_mesh(ir_module *m) {
  op *found = NULL;
  bool may_have = false;
  for (size_t i = 0; i < OP_COUNT; i++) may_have |= m->live[i] && is_mpmd(&op_infos[i]);
  if (!may_have || op_walk(m->root, find_mpmd, &found)) return true;
  return op_unimplemented(m->ctx, found,
                          "it is of a program over several meshes, and only what mpmd_opt makes "
                          "for each of them can run");
}
