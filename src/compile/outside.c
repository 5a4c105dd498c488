/* JAX's custom_partitioning and inspect_array_sharding: see compile.h, compile_call. */
#include "compile/outside.h"

#include "bytecode/bytecode.h"
#include "compile/decompose.h"
#include "compile/flatten.h"
#include "compile/lower.h"
#include "dialect/dialect.h"
#include "mesh/placement.h"
#include "pass/pass.h"
#include "shard/rule.h"
#include "shard/shard.h"
#include "shard/sharding_ir.h"
#include "text/text.h"

typedef struct outside {
  ir_module *m;
  ir_ctx *c;
  arena *a;
  const compile_options *opt;
  shard_space *space;
  outside_list *seen;
  op *at; /* the call under way */
} outside;

/* ---- what is said of a call ---- */

/* Axes along which the code around v is written for each device. */
static attrs manual_around(const value *v) {
  struct manual_computation_attrs a;
  for (op *o = value_parent(v); o; o = op_parent(o))
    if (op_is(o, manual_computation) && o != value_op(v) && view_manual_computation(o, &a))
      return a.manual_axes->axes;
  return (attrs){0};
}

/* Inside of a manual computation over all axes XLA says only that. */
static void tiles_of(const outside *x, value *v, tile_assignment *out) {
  const sharding *s = shard_read(x->space, value_sharding(x->c, v));
  attrs names = manual_around(v);
  if (!names.len) {
    sharding_tile(x->a, s, out);
    return;
  }
  axis_ref *refs = ARENA_ARRAY(x->a, axis_ref, names.len);
  for (size_t i = 0; s && i < names.len; i++) {
    const string_attr *name = attr_as(string, names.data[i]);
    int axis = name ? mesh_axis_find(s->mesh, name->value) : -1;
    if (axis < 0) s = NULL;
    if (s) refs[i] = axis_whole(s->mesh, (u32)axis);
  }
  if (!s || axes_size((axis_list){refs, names.len}) == s->mesh->size)
    *out = (tile_assignment){.kind = TILE_MANUAL};
  else
    sharding_tile_manual(x->a, s, (axis_list){refs, names.len}, out);
}

static bool describe(const outside *x, value *v, compile_part *out) {
  const type *t = v->type;
  if (!type_is_ranked(t) || !type_is_static(t) || !lower_dtype(t->elem, &out->type))
    return op_unimplemented(x->c, x->at, "of a type that cannot be run");
  out->dims = t->dims;
  tiles_of(x, v, &out->tiles);
  return true;
}

/* ---- what is answered ---- */

/* A mesh that the call's values are sharded over; else the module's first. */
static const mesh *mesh_of_call(const outside *x) {
  for (u32 i = 0; i < x->at->num_operands + x->at->num_results; i++) {
    value *v =
        i < x->at->num_operands ? op_operand(x->at, i) : op_result(x->at, i - x->at->num_operands);
    const sharding *s = shard_read(x->space, value_sharding(x->c, v));
    if (s && !mesh_is_maximal(s->mesh)) return s->mesh;
  }
  for (op *o = op_body(x->m->root, 0)->first; o; o = o->next)
    if (op_is(o, sdy_mesh)) return shard_mesh_named(x->space, symbol_name(o));
  return NULL;
}

/* What a device has of a value of this type, by these tiles. NULL: reported. */
static const type *local_type(const outside *x, const type *t, const tile_assignment *tiles) {
  if (tiles->kind != TILE_OTHER) return t;
  i64 *dims = ARENA_ARRAY(x->a, i64, t->dims.len);
  bool ok = tiles->dims.len == t->dims.len + tiles->num_subgroups;
  for (size_t i = 0; ok && i < t->dims.len; i++) {
    ok = tiles->dims.data[i] > 0 && t->dims.data[i] % tiles->dims.data[i] == 0;
    if (ok) dims[i] = t->dims.data[i] / tiles->dims.data[i];
  }
  if (ok) return type_tensor(x->c, (i64s){dims, t->dims.len}, t->elem, t->encoding);
  op_error(x->c, x->at, "is given a sharding that does not fit its shape");
  return NULL;
}

/* The attribute for one value; NULL: reported. */
static const attr *read_tiles(const outside *x, const mesh *m, const type *t,
                              const tile_assignment *tiles) {
  if (tiles->kind == TILE_REPLICATED)
    return shard_attr_replicated(x->c, shard_mesh_ref(x->space, m), t->dims.len, true);
  const placement *p = NULL;
  if (tiles->kind == TILE_OTHER) p = placement_from_tiles(x->a, tiles, m, ir_sink(x->c));
  if (p && p->kind == PLACED_BY_AXES && p->sharding->mesh == m && !p->manual.len)
    return shard_write(x->space, shard_intern(x->space, p->sharding));
  op_unimplemented(x->c, x->at, "is given a sharding that no axes of the mesh give");
  return NULL;
}

/* All of one side; the body's values must be of the local types. */
static const attr *read_side(const outside *x, const mesh *m, bool results,
                             const tile_assignment *tiles, types body) {
  size_t n = results ? x->at->num_results : x->at->num_operands;
  if (body.len != n) {
    op_error(x->c, x->at, "is given a body of %zu %s for %zu", body.len,
             results ? "results" : "arguments", n);
    return NULL;
  }
  const attr **list = ARENA_ARRAY(x->a, const attr *, n + 1);
  for (size_t i = 0; i < n; i++) {
    const type *t = (results ? op_result(x->at, i) : op_operand(x->at, i))->type;
    const type *local = local_type(x, t, &tiles[i]);
    list[i] = local ? read_tiles(x, m, t, &tiles[i]) : NULL;
    if (!list[i]) return NULL;
    if (local != body.data[i]) {
      op_error(x->c, x->at, "is given a body whose %s %zu is of another shape than a device has",
               results ? "result" : "argument", i);
      return NULL;
    }
  }
  return attr_make(x->c, sharding_per_value, .shardings = {list, n});
}

/* Calls, composites and the like go as they went from the program around. */
static op *read_body(const outside *x, str source) {
  static const pass_info *const tables[] = {pass_generic, shard_passes};
  pass_tables t = {.tables = tables, .count = COUNT(tables)};
  pass_args args = {.tables = &t};
  flatten_options o = {.shardings = true};
  str file = STR("the body of a custom call");
  ir_module *m = bytecode_is(source) ? bytecode_read(x->c, file, source)
                                     : text_parse(x->c, file, source, NULL);
  if (!m || !dialect_verify(m)) return NULL;
  op *main = symbol_find(m->root, STR("main"));
  if (!main || !op_is(main, func) || !op_body(main, 0)) {
    op_error(x->c, x->at, "is given a body without a function @main");
    return NULL;
  }
  if (!decompose_calls(m, x->a)) return NULL;
  if (!pass_run(m, pass_find(&t, STR("terrazzo-inline-all")), &args)) return NULL;
  return flatten_module(m, x->a, &o) && decompose_module(m, x->a, false) ? main : NULL;
}

static const attr *all_axes(const outside *x, const mesh *m) {
  const attr **names = ARENA_ARRAY(x->a, const attr *, m->num_axes);
  for (u32 i = 0; i < m->num_axes; i++) names[i] = attr_string(x->c, m->axes[i].name);
  return attr_make(x->c, manual_axes, .axes = {names, m->num_axes});
}

static void copy_body(const outside *x, op *to, const op *main) {
  ir_map *map = ir_map_create(x->a);
  block *from = op_body(main, 0), *b = block_create(x->m);
  region_append(&to->regions[0], b);
  for (u32 i = 0; i < from->num_args; i++)
    ir_map_set(map, from->args[i], block_add_arg(x->m, b, from->args[i]->type));
  op *end = op_terminator(from);
  for (op *o = from->first; o != end; o = o->next) op_insert(op_clone(x->m, o, map), b, NULL);
  value **out = ARENA_ARRAY(x->a, value *, end->num_operands + 1);
  for (u32 i = 0; i < end->num_operands; i++) out[i] = ir_map_get(map, op_operand(end, i));
  op *ret = op_create(x->m, &op_infos[OP_sdy_return], end->loc, out, end->num_operands, NULL, 0, 0);
  op_insert(ret, b, NULL);
}

static bool replace(const outside *x, const compile_answer *answer) {
  op *o = x->at, *main = read_body(x, answer->module);
  struct func_attrs f;
  const mesh *m = mesh_of_call(x);
  if (!main) return false;
  if (!m) return op_unimplemented(x->c, o, "without a mesh");
  view_func(main, &f);
  const attr *in = read_side(x, m, false, answer->args, type_inputs(f.function_type));
  const attr *out = in ? read_side(x, m, true, answer->results, type_results(f.function_type)) : in;
  if (!out) return false;
  value **operands = ARENA_ARRAY(x->a, value *, o->num_operands + 1);
  const type **results = ARENA_ARRAY(x->a, const type *, o->num_results + 1);
  for (u32 i = 0; i < o->num_operands; i++) operands[i] = op_operand(o, i);
  for (u32 i = 0; i < o->num_results; i++) results[i] = op_result(o, i)->type;
  op *mc = op_create(x->m, &op_infos[OP_manual_computation], o->loc, operands, o->num_operands,
                     results, o->num_results, 1);
  op_set(mc, manual_computation, in_shardings, in);
  op_set(mc, manual_computation, out_shardings, out);
  op_set(mc, manual_computation, manual_axes, all_axes(x, m));
  op_insert(mc, o->parent, o);
  copy_body(x, mc, main);
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_result(mc, i));
  op_erase(o);
  return true;
}

static str config_of(const struct custom_call_attrs *a) {
  const string_attr *s = attr_as(string, a->backend_config);
  return s ? s->value : (str){"", 0};
}

static bool ask(const outside *x, const struct custom_call_attrs *a) {
  op *o = x->at;
  compile_part *parts = arena_zalloc(x->a, (o->num_operands + o->num_results + 1) * sizeof *parts);
  compile_call call = {a->call_target_name,     config_of(a),    parts,
                       parts + o->num_operands, o->num_operands, o->num_results};
  compile_answer answer = {0};
  for (u32 i = 0; i < o->num_operands; i++)
    if (!describe(x, op_operand(o, i), &parts[i])) return false;
  for (u32 i = 0; i < o->num_results; i++)
    if (!describe(x, op_result(o, i), &parts[o->num_operands + i])) return false;
  status s = x->opt->partition_call(x->opt->calls_user, x->a, &call, &answer);
  if (!s) return replace(x, &answer);
  op_error(x->c, o, "cannot be partitioned: " STR_FMT, STR_ARG(status_message(s)));
  status_free(s);
  return false;
}

static void inspect(const outside *x, const struct custom_call_attrs *a) {
  op *o = x->at;
  outside_seen seen = {.config = config_of(a)};
  tiles_of(x, op_operand(o, 0), &seen.tiles);
  VEC_PUSH(x->a, *x->seen, seen);
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_operand(o, 0));
  op_erase(o);
}

/* ---- batches ---- */

/* What XLA calls num_batch_dims, a text; 0: nothing is said. */
static i64 batch_dims(const op *o) {
  str text;
  i64 n = 0;
  if (!attr_get_str(attr_dict_get(op_discardable(o, FRONTEND_ATTRIBUTES), STR("num_batch_dims")),
                    &text))
    return 0;
  for (size_t i = 0; i < text.len; i++) {
    if (text.data[i] < '0' || text.data[i] > '9' || n > 64) return 0;
    n = 10 * n + (text.data[i] - '0');
  }
  return n;
}

void outside_batches(ir_module *m, arena *scratch, const compile_options *options) {
  op_list calls = {0};
  if (options->batches_call) ops_of_kind(scratch, m->root, OP_custom_call, &calls);
  for (size_t i = 0; i < calls.len; i++) {
    struct custom_call_attrs v;
    op *o = calls.data[i];
    i64 n = batch_dims(o);
    if (n && view_custom_call(o, &v) &&
        options->batches_call(options->calls_user, v.call_target_name))
      op_set_attr(m, o, CALL_BATCH_DIMS, attr_i64(m->ctx, n));
  }
}

/* ---- all calls of a module ---- */

bool outside_partition(ir_module *m, arena *scratch, const compile_options *options,
                       outside_list *out) {
  if (!options->knows_call) return true;
  op_list calls = {0};
  ops_of_kind(scratch, m->root, OP_custom_call, &calls);
  outside x = {m, m->ctx, scratch, options, NULL, out, NULL};
  for (size_t i = 0; i < calls.len; i++) {
    struct custom_call_attrs a;
    x.at = calls.data[i];
    if (!view_custom_call(x.at, &a)) continue;
    bool inspects = str_is(a.call_target_name, "InspectSharding") && x.at->num_operands == 1 &&
                    (!x.at->num_results || op_result(x.at, 0)->type == op_operand(x.at, 0)->type);
    if (!inspects && !options->knows_call(options->calls_user, a.call_target_name)) continue;
    if (!x.space) x.space = shard_space_create(m, scratch);
    if (inspects)
      inspect(&x, &a);
    else if (manual_around(op_result(x.at, 0)).len)
      return op_unimplemented(x.c, x.at, "is partitioned inside of a manual computation");
    else if (!ask(&x, &a))
      return false;
  }
  return true;
}
