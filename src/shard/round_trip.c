/* Import of programs whose shardings travel as frontend attributes and custom calls, the form in
 * which XLA carries them through HLO, and which JAX sends to plugins that do not know sdy:
 *
 *   module attribute xla.sdy.meshes, a dictionary          sdy.mesh ops
 *   xla.sdy.sharding of arguments, calls of @Sharding,     sdy.sharding
 *     @xla.sdy.FuncResultSharding, callbacks, send, recv
 *   xla.sdy.sharding_rule of custom calls                  sdy.sharding_rule
 *   @Sharding, @xla.sdy.ShardingGroup                      sdy.sharding_constraint, .sharding_group
 *   @xla.sdy.GlobalToLocalShape, a call of                 sdy.manual_computation
 *     @xla.sdy.manual_computation_body, ...LocalToGlobalShape
 *
 * The values are the attributes' text. What else has xla.sdy.sharding loses it: XLA copies
 * frontend attributes to ops of other shapes. mhlo.sharding, which says the same once more, goes.
 *
 * Source: the names and the order are those of XLA's sdy_round_trip passes. */
#include "shard/calls.h"
#include "shard/passes.h"
#include "text/text.h"

typedef struct importer {
  ir_module *m;
  ir_ctx *c;
  arena *a;
  bool failed;
} importer;

static bool fail(importer *i, const op *o, const char *what) {
  i->failed = true;
  return op_error(i->c, o, "%s", what);
}

/* ---- attributes ---- */

static const attr *without(importer *i, const attr *dict, str name) {
  const dict_attr *d = attr_as(dict, dict);
  if (!d || !attr_dict_get(dict, name)) return dict;
  named_attr *list = ARENA_ARRAY(i->a, named_attr, d->names.len);
  size_t n = 0;
  for (size_t k = 0; k < d->names.len; k++)
    if (!str_eq(((const string_attr *)d->names.data[k])->value, name))
      list[n++] = (named_attr){d->names.data[k], d->values.data[k]};
  return attr_dict(i->c, list, n);
}

static const attr *with(importer *i, const attr *dict, str name, const attr *value) {
  const dict_attr *d = attr_as(dict, dict);
  size_t n = d ? d->names.len : 0;
  named_attr *list = ARENA_ARRAY(i->a, named_attr, n + 1);
  for (size_t k = 0; k < n; k++) list[k] = (named_attr){d->names.data[k], d->values.data[k]};
  list[n] = (named_attr){attr_string(i->c, name), value};
  return attr_dict(i->c, list, n + 1);
}

/* Takes the text under `name` out of the frontend attributes in `dict` and parses it; NULL: there
 * is none, or it was reported. */
static const attr *take(importer *i, const op *o, const attr **dict, str name) {
  const attr *frontend = attr_dict_get(*dict, FRONTEND_ATTRIBUTES),
             *text = attr_dict_get(frontend, name);
  str s;
  if (!text) return NULL;
  const attr *left = without(i, frontend, name);
  *dict = without(i, *dict, FRONTEND_ATTRIBUTES);
  if (((const dict_attr *)left)->names.len) *dict = with(i, *dict, FRONTEND_ATTRIBUTES, left);
  const attr *value = attr_get_str(text, &s) ? text_parse_attr(i->c, s, NULL) : NULL;
  if (!value) fail(i, o, "has a frontend attribute that is not the text of an attribute");
  return value;
}

/* The frontend attributes of an op as a dictionary that holds them alone, for `take`. */
static const attr *frontend_of(importer *i, const op *o) {
  const attr *f = op_discardable(o, FRONTEND_ATTRIBUTES);
  return attr_is(dict, f) ? with(i, NULL, FRONTEND_ATTRIBUTES, f) : NULL;
}

static void put_back(importer *i, op *o, const attr *dict) {
  op_set_attr(i->m, o, FRONTEND_ATTRIBUTES, attr_dict_get(dict, FRONTEND_ATTRIBUTES));
}

static const attr *sharding_of(importer *i, const op *o, const attr *a) {
  const sharding_per_value_attr *s = attr_as(sharding_per_value, a);
  if (!a || attr_is(tensor_sharding, a)) return a;
  if (s && s->shardings.len == 1) return s->shardings.data[0];
  fail(i, o, "has a frontend attribute that is not a sharding");
  return NULL;
}

/* ---- meshes ---- */

static void import_meshes(importer *i) {
  op *root = i->m->root;
  const attr *frontend = frontend_of(i, root);
  const dict_attr *meshes = attr_as(dict, take(i, root, &frontend, STR("xla.sdy.meshes")));
  block *body = op_body(root, 0);
  op *before = body->first;
  for (size_t k = 0; meshes && k < meshes->names.len; k++) {
    if (!attr_is(mesh, meshes->values.data[k])) {
      fail(i, root, "has xla.sdy.meshes that are not meshes");
      return;
    }
    op *o = op_create(i->m, &op_infos[OP_sdy_mesh], root->loc, NULL, 0, NULL, 0, 0);
    op_set(o, sdy_mesh, sym_name, meshes->names.data[k]);
    op_set(o, sdy_mesh, mesh, meshes->values.data[k]);
    op_insert(o, body, before);
  }
  if (frontend) put_back(i, root, frontend);
}

/* ---- functions ---- */

static bool is_call_of(const op *o, const char *target) {
  str s;
  return o && op_is(o, custom_call) && attr_get_str(op_attr(o, SLOT_NAME(call_target_name)), &s) &&
         str_is(s, target);
}

static const attr *import_dict(importer *i, const op *f, const attr *dict) {
  dict = without(i, dict, MHLO_SHARDING);
  const attr *s = sharding_of(i, f, take(i, f, &dict, STR("xla.sdy.sharding")));
  return s ? with(i, dict, SDY_SHARDING, s) : dict;
}

static void import_signature(importer *i, op *f, str slot) {
  const array_attr *list = attr_as(array, op_attr(f, slot));
  if (!list) return;
  const attr **out = ARENA_ARRAY(i->a, const attr *, list->elems.len);
  for (size_t k = 0; k < list->elems.len; k++) out[k] = import_dict(i, f, list->elems.data[k]);
  op_set_named(f, slot, attr_array(i->c, (attrs){out, list->elems.len}));
}

/* The shardings of results are on custom calls before the return. */
static void import_results(importer *i, op *f) {
  op *end = op_terminator(op_body(f, 0));
  const array_attr *old = attr_as(array, op_attr(f, SLOT_NAME(res_attrs)));
  const attr **out = ARENA_ARRAY(i->a, const attr *, end->num_operands);
  bool any = false;
  for (u32 k = 0; k < end->num_operands && !i->failed; k++) {
    op *o = value_op(op_operand(end, k));
    out[k] = old && k < old->elems.len ? old->elems.data[k] : attr_dict(i->c, NULL, 0);
    if (!is_call_of(o, "xla.sdy.FuncResultSharding") || o->num_operands != 1 || o->num_results != 1)
      continue;
    const attr *frontend = frontend_of(i, o);
    const attr *s = sharding_of(i, o, take(i, o, &frontend, STR("xla.sdy.sharding")));
    if (!s) continue;
    any = true;
    out[k] = with(i, out[k], SDY_SHARDING, s);
    op_set_operand(end, k, op_operand(o, 0));
    if (!op_result(o, 0)->uses) op_erase(o);
  }
  if (any && (!old || old->elems.len == end->num_operands))
    op_set(f, func, res_attrs, attr_array(i->c, (attrs){out, end->num_operands}));
}

static bool keeps_sharding(const op *o) {
  static const char *const callbacks[] = {
      "xla_python_cpu_callback",     "xla_python_gpu_callback",
      "xla_ffi_python_cpu_callback", "xla_ffi_partitioned_python_cpu_callback",
      "xla_ffi_python_gpu_callback", "xla_ffi_partitioned_python_gpu_callback"};
  if (op_is(o, send) || op_is(o, recv)) return true;
  for (size_t k = 0; k < COUNT(callbacks); k++)
    if (is_call_of(o, callbacks[k])) return true;
  return is_call_of(o, "Sharding") || is_call_of(o, "xla.sdy.FuncResultSharding");
}

static walk_result import_op(void *user, op *o) {
  importer *i = user;
  if (op_is(o, module) || op_is(o, func)) return WALK_ON;
  op_set_attr(i->m, o, MHLO_SHARDING, NULL);
  const attr *frontend = frontend_of(i, o);
  if (!frontend) return WALK_ON;
  const attr *s = take(i, o, &frontend, STR("xla.sdy.sharding"));
  const attr *rule = take(i, o, &frontend, STR("xla.sdy.sharding_rule"));
  if (s && keeps_sharding(o)) {
    if (attr_is(tensor_sharding, s)) s = attr_make(i->c, sharding_per_value, .shardings = {&s, 1});
    op_set_attr(i->m, o, SDY_SHARDING, s);
  }
  if (rule && op_is(o, custom_call)) op_set_attr(i->m, o, SDY_SHARDING_RULE, rule);
  put_back(i, o, frontend);
  return i->failed ? WALK_STOP : WALK_ON;
}

bool pass_round_trip_attrs(ir_module *m, arena *scratch, const pass_args *args) {
  importer i = {.m = m, .c = m->ctx, .a = scratch};
  (void)args;
  import_meshes(&i);
  for (op *f = op_body(m->root, 0)->first; f && !i.failed; f = f->next) {
    if (!op_is(f, func)) continue;
    import_signature(&i, f, SLOT_NAME(arg_attrs));
    import_signature(&i, f, SLOT_NAME(res_attrs));
    if (op_body(f, 0)) import_results(&i, f);
  }
  if (!i.failed) op_walk(m->root, import_op, &i);
  return !i.failed;
}

/* ---- custom calls of sdy ---- */

static walk_result import_call(void *user, op *o) {
  importer *i = user;
  if (is_call_of(o, "Sharding") && o->num_operands == 1 && o->num_results == 1) {
    const attr *s = sharding_of(i, o, op_discardable(o, SDY_SHARDING));
    if (!s) return WALK_ON; /* one of GSPMD alone */
    const type *t = op_result(o, 0)->type;
    op *to = op_create(i->m, &op_infos[OP_sharding_constraint], o->loc,
                       &(value *){op_operand(o, 0)}, 1, &t, 1, 0);
    op_set(to, sharding_constraint, sharding, s);
    op_insert(to, o->parent, o);
    value_replace(op_result(o, 0), op_result(to, 0));
    op_erase(o);
  } else if (is_call_of(o, "xla.sdy.ShardingGroup") && o->num_operands == 1) {
    const attr *frontend = frontend_of(i, o);
    const attr *id = take(i, o, &frontend, STR("xla.sdy.sharding_group_id"));
    i64 n;
    if (!attr_get_i64(id, &n)) {
      if (!i->failed) fail(i, o, "has no xla.sdy.sharding_group_id");
      return WALK_STOP;
    }
    op *to = op_create(i->m, &op_infos[OP_sharding_group], o->loc, &(value *){op_operand(o, 0)}, 1,
                       NULL, 0, 0);
    op_set(to, sharding_group, group_id, attr_i64(i->c, n));
    op_insert(to, o->parent, o);
    if (!o->num_results || !op_result(o, 0)->uses) op_erase(o);
  }
  return i->failed ? WALK_STOP : WALK_ON;
}

bool pass_import_sdy_custom_calls(ir_module *m, arena *scratch, const pass_args *args) {
  importer i = {.m = m, .c = m->ctx, .a = scratch};
  (void)args;
  op_walk_post(m->root, import_call, &i);
  return !i.failed;
}

/* ---- manual computations ---- */

#define BODY STR("xla.sdy.manual_computation_body")

static str callee_of(const op *o) {
  str s;
  return op_is(o, call) && attr_get_symbol(op_attr(o, SLOT_NAME(callee)), &s) ? s : (str){"", 0};
}

/* The op behind all of the values; NULL: not one. */
static op *single_user(const op *o) {
  op *user = NULL;
  for (u32 k = 0; k < o->num_results; k++) {
    const use *u = op_result(o, k)->uses;
    if (!u || u->next || (user && u->owner != user)) return NULL;
    user = u->owner;
  }
  return user && user->num_operands == o->num_results ? user : NULL;
}

static const attr *border_attr(importer *i, op *o, str name, const attr *otherwise) {
  const attr *frontend = o ? frontend_of(i, o) : NULL;
  const attr *a = take(i, o, &frontend, name);
  return a || i->failed ? a : otherwise;
}

/* in, call, out: any of the outer two may be missing where there are no values */
static void make_manual(importer *i, op *in, op *call, op *out, op *f) {
  const type **types = ARENA_ARRAY(i->a, const type *, out ? out->num_results : 0);
  value **operands = ARENA_ARRAY(i->a, value *, in ? in->num_operands : 0);
  for (u32 k = 0; out && k < out->num_results; k++) types[k] = op_result(out, k)->type;
  for (u32 k = 0; in && k < in->num_operands; k++) operands[k] = op_operand(in, k);
  const attr *none = attr_make(i->c, sharding_per_value, .shardings = {NULL, 0});
  const attr *ins = border_attr(i, in, STR("xla.sdy.in_shardings"), none);
  const attr *outs = border_attr(i, out, STR("xla.sdy.out_shardings"), none);
  const attr *axes =
      border_attr(i, in, STR("xla.sdy.manual_axes"),
                  border_attr(i, out, STR("xla.sdy.manual_axes"),
                              border_attr(i, call, STR("xla.sdy.manual_axes"), NULL)));
  if (!i->failed && (!attr_is(sharding_per_value, ins) || !attr_is(sharding_per_value, outs) ||
                     !attr_is(manual_axes, axes)))
    fail(i, call, "is a manual computation without shardings and axes");
  if (i->failed) return;
  op *mc = op_create(i->m, &op_infos[OP_manual_computation], call->loc, operands,
                     in ? in->num_operands : 0, types, out ? out->num_results : 0, 1);
  op_set(mc, manual_computation, in_shardings, ins);
  op_set(mc, manual_computation, out_shardings, outs);
  op_set(mc, manual_computation, manual_axes, axes);
  op_insert(mc, call->parent, call);
  move_body(i->m, &mc->regions[0], &f->regions[0], &op_infos[OP_sdy_return]);
  for (u32 k = 0; out && k < out->num_results; k++)
    value_replace(op_result(out, k), op_result(mc, k));
  if (out) op_erase(out);
  op_erase(call);
  if (in) op_erase(in); /* whose results were the call's operands, and nothing else's */
}

static void import_manual(importer *i, symbols *s, op *call) {
  op *f = symbols_find(s, callee_of(call));
  op *in = call->num_operands ? value_op(op_operand(call, 0)) : NULL;
  op *out = call->num_results ? single_user(call) : NULL;
  if (!f || !op_is(f, func) || !op_body(f, 0)) {
    fail(i, call, "is a manual computation whose body is not there, or that is called twice");
    return;
  }
  bool ok = !call->num_operands ||
            (is_call_of(in, "xla.sdy.GlobalToLocalShape") && in->num_results == call->num_operands);
  ok = ok && (!call->num_results || is_call_of(out, "xla.sdy.LocalToGlobalShape"));
  for (u32 k = 0; ok && k < call->num_operands; k++)
    ok = op_operand(call, k) == op_result(in, k) && !op_result(in, k)->uses->next;
  if (!ok) {
    fail(i, call,
         "is a manual computation that is not between GlobalToLocalShape and "
         "LocalToGlobalShape");
  } else if (op_is_inside(call, f)) {
    fail(i, call, "is a manual computation that contains itself");
  } else {
    make_manual(i, in, call, out, f);
  }
}

bool pass_shard_map_import(ir_module *m, arena *scratch, const pass_args *args) {
  importer i = {.m = m, .c = m->ctx, .a = scratch};
  op_list calls = {0};
  symbols s;
  (void)args;
  symbols_init(&s, m, scratch);
  ops_of_kind(scratch, m->root, OP_call, &calls);
  for (size_t k = 0; k < calls.len && !i.failed; k++)
    if (str_starts(callee_of(calls.data[k]), BODY)) import_manual(&i, &s, calls.data[k]);
  if (i.failed) return false;
  FOR_OPS(o, op_body(m->root, 0)) {
    if (op_is(o, func) && str_starts(symbol_name(o), BODY) && !op_body(o, 0)) op_erase(o);
  }
  return true;
}
