/* Passes that only tests run: unregistered ops that ask what the dialect says of another op.
 *
 * Source: openxla/stablehlo tests/TestUtils.td. */
#include "dialect/dialect.h"
#include "dialect/effects.h"
#include "dialect/expand.h"
#include "dialect/speculate.h"
#include "pass/passes.h"
#include "pass/reify.h"

/* A test op by its name; false: it does not hold, and the op stays. */
typedef bool ask_fn(ir_module *m, op *o);
typedef struct test_op {
  const char *name;
  ask_fn *ask;
} test_op;

typedef struct asked {
  ir_module *m;
  const test_op *tests;
} asked;

/* An answer that fails leaves the op where it is, and its errors do not count, as in the peers'
 * tests. */
static walk_result ask(void *user, op *o) {
  const asked *a = user;
  if (op_kind(o) != OP_unregistered) return WALK_ON;
  for (const test_op *t = a->tests; t->name; t++)
    if (str_is(o->info->name, t->name)) {
      u32 errors = ir_sink(a->m->ctx)->errors;
      if (!t->ask(a->m, o)) ir_sink(a->m->ctx)->errors = errors; /* said, but no failure */
      break;
    }
  return WALK_ON;
}

/* ---- speculatability ---- */

static bool expect(op *o, speculation want) {
  op *def = o->num_operands == 1 ? value_op(op_operand(o, 0)) : NULL;
  if (!def || op_speculation(def) != want) return false;
  size_t uses = 0;
  for (u32 i = 0; i < def->num_results; i++)
    for (const use *u = def->results[i].uses; u; u = u->next) uses++;
  if (uses != 1) return false;
  op_erase(o);
  op_erase(def);
  return true;
}

static bool speculatable(ir_module *m, op *o) { return (void)m, expect(o, SPECULATION_YES); }
static bool not_speculatable(ir_module *m, op *o) { return (void)m, expect(o, SPECULATION_NO); }
static bool by_regions(ir_module *m, op *o) { return (void)m, expect(o, SPECULATION_BY_REGIONS); }

static bool test_speculatability(ir_module *m, arena *scratch, const pass_args *args) {
  static const test_op tests[] = {
      {"hlo_test_speculatability.is_speculatable", speculatable},
      {"hlo_test_speculatability.is_not_speculatable", not_speculatable},
      {"hlo_test_speculatability.is_recursively_speculatable", by_regions},
      {0}};
  (void)scratch, (void)args;
  op_walk_post(m->root, ask, &(asked){m, tests});
  ops_erase_dead(m->root, DEAD_WITHOUT_EFFECTS);
  return true;
}

/* ---- inference ---- */

/* The op becomes one of another name with the inferred types as attributes. */
static bool replace_with_types(ir_module *m, op *o, const char *name, bool shape_only) {
  op *def = o->num_operands == 1 ? value_op(op_operand(o, 0)) : NULL;
  if (!def || op_kind(def) == OP_unregistered) return false;
  const type **types = ARENA_ARRAY(&m->arena, const type *, def->num_results);
  if (shape_only ? !(types[0] = dialect_infer_product(m, def)) : !dialect_infer(m, def, types))
    return false;
  value *operand = op_operand(o, 0);
  const type *t = o->num_results ? o->results[0].type : NULL;
  op *n = op_create(m, ir_op_info_unregistered(m->ctx, str_of(name)), o->loc, &operand, 1, &t,
                    o->num_results, 0);
  for (u32 i = 0; i < o->num_attrs; i++)
    op_set_attr(m, n, ((const string_attr *)o->attrs[i].name)->value, o->attrs[i].value);
  for (u32 i = 0; i < def->num_results; i++)
    op_set_attr(m, n, arena_printf(&m->arena, "types%u", i), attr_type(m->ctx, types[i]));
  op_insert(n, o->parent, o);
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_result(n, i));
  op_erase(o);
  return true;
}

static bool return_types(ir_module *m, op *o) {
  return replace_with_types(m, o, "hlo_test_infer.return_types", false);
}
/* Of products only the shape is inferred. */
static bool type_components(ir_module *m, op *o) {
  const op *def = o->num_operands == 1 ? value_op(op_operand(o, 0)) : NULL;
  bool shape_only = def && (op_is(def, dot) || op_is(def, dot_general));
  return replace_with_types(m, o, "hlo_test_infer.return_type_components", shape_only);
}

static bool reify(ir_module *m, op *o) {
  op *def = o->num_operands == 1 ? value_op(op_operand(o, 0)) : NULL;
  value *shape = def && o->num_results == 1 ? reify_shape(m, def, o) : NULL;
  if (!shape) return false;
  value_replace(op_result(o, 0), shape);
  op_erase(o);
  return true;
}

static bool test_infer(ir_module *m, arena *scratch, const pass_args *args) {
  static const test_op tests[] = {{"hlo_test_infer.get_return_types", return_types},
                                  {"hlo_test_infer.get_return_type_components", type_components},
                                  {"hlo_test_infer.reify_return_type_shapes", reify},
                                  {0}};
  (void)scratch, (void)args;
  op_walk_post(m->root, ask, &(asked){m, tests});
  ops_erase_dead(m->root, DEAD_WITHOUT_EFFECTS);
  return true;
}

/* hlo_test_broadcast: NumPy's broadcasting of the operands, in front of a custom call. */

static bool broadcast_values(ir_module *m, op *o) {
  expander at = expander_before(m, &m->arena, o), *e = &at;
  value **in = ARENA_ARRAY(e->a, value *, o->num_operands + 1u);
  const type **types = ARENA_ARRAY(e->a, const type *, o->num_results + 1u);
  u32 errors = ir_sink(e->c)->errors;
  for (u32 i = 0; i < o->num_operands; i++) {
    in[i] = op_operand(o, i);
    if (!expand_is_static_or_bounded(in[i]->type)) return false;
  }
  for (u32 i = 0; i < o->num_results; i++) types[i] = o->results[i].type;
  if (!expand_numpy(e, in, o->num_operands, in)) {
    ir_sink(e->c)->errors = errors; /* said, but the pass goes on */
    return false;
  }
  op *call = expand_op(e, OP_custom_call, in, o->num_operands, types, o->num_results);
  op_set(call, custom_call, call_target_name, attr_string(e->c, STR("numpy_broadcasted")));
  op_set(call, custom_call, has_side_effect, attr_bool(e->c, true));
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_result(call, i));
  op_erase(o);
  return true;
}

static bool test_broadcast(ir_module *m, arena *scratch, const pass_args *args) {
  static const test_op tests[] = {{"hlo_test_broadcast.numpy_broadcast", broadcast_values}, {0}};
  (void)scratch, (void)args;
  op_walk_post(m->root, ask, &(asked){m, tests});
  return true;
}

const pass_info pass_tests[] = {
    {"hlo-test-broadcast", "Answers hlo_test_broadcast ops: operands broadcast as in NumPy",
     test_broadcast, .scope = PASS_ON_FUNCS},
    {"hlo-test-infer", "Answers hlo_test_infer ops: what types an op infers", test_infer,
     .scope = PASS_ON_FUNCS},
    {"hlo-test-speculatability", "Answers hlo_test_speculatability ops", test_speculatability,
     .scope = PASS_ON_FUNCS},
    {0},
};
