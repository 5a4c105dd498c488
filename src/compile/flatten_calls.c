/* Checks, and what speaks to the host, become custom calls with side effects: `check.expect_eq`,
 * `interpreter.print`, ... What they say besides their operands is the call's backend_config. */
#include "compile/flatten.h"
#include "dialect/expand.h"
#include "text/text.h"

enum { API_TYPED_FFI = 4 }; /* whose configuration is a dictionary */

/* Makes the call before op o; `in` are its operands, config a dictionary of these entries. */
static void make_call(expander *e, const op *o, str target, value *const *in, size_t n,
                      const named_attr *config, size_t num_config) {
  op *call = expand_op(e, OP_custom_call, in, n, NULL, 0);
  op_set(call, custom_call, call_target_name, attr_string(e->c, target));
  op_set(call, custom_call, has_side_effect, attr_bool(e->c, true));
  op_set(call, custom_call, backend_config, attr_dict(e->c, config, num_config));
  op_set(call, custom_call, api_version,
         attr_enum(e->c, ATTR_custom_call_api_version, API_TYPED_FFI));
  call->loc = o->loc;
}

/* "check.expect_eq_const" is a check.expect_eq of a constant. */
static str without_const(str name) {
  str tail = STR("_const");
  if (name.len > tail.len && str_eq(str_from(name, name.len - tail.len), tail))
    name.len -= tail.len;
  return name;
}

/* What the checks allow that do not say; calls of the same name allow more. */
static named_attr usual_tolerance(ir_ctx *c) {
  return (named_attr){
      attr_string(c, SLOT_NAME(tolerance)),
      attr_make(c, float, .type = type_float(c, FLOAT_f64), .bits = 0x3F1A36E2EB1C432D) /* 1e-4 */};
}

/* All attributes but the constant go along. */
static void check_call(expander *e, op *o) {
  value *in[2];
  named_attr config[8];
  size_t n = o->num_operands, num_config = 0;
  for (size_t i = 0; i < n; i++) in[i] = op_operand(o, i);
  for (u32 s = 0; s < o->info->num_slots; s++) {
    str name = str_of(o->info->slots[s].name);
    if (!o->slots[s] && str_eq(name, SLOT_NAME(tolerance)))
      config[num_config++] = usual_tolerance(e->c);
    if (!o->slots[s]) continue;
    if (str_eq(name, SLOT_NAME(value))) {
      op *c = expand_op(e, OP_constant, NULL, 0, &in[0]->type, 1);
      op_set(c, constant, value, o->slots[s]);
      in[n++] = op_result(c, 0);
    } else {
      config[num_config++] = (named_attr){attr_string(e->c, name), o->slots[s]};
    }
  }
  make_call(e, o, without_const(o->info->name), in, n, config, num_config);
}

/* The operand is told with the name that it had in the source (flatten_name_prints). */
static void print_call(expander *e, op *o) {
  const attr *name = op_discardable(o, PRINTED_NAME);
  value *in[] = {op_operand(o, 0)};
  named_attr config = {attr_string(e->c, STR("name")), name};
  make_call(e, o, o->info->name, in, 1, &config, name != NULL);
}

static void probe_call(expander *e, op *o) {
  value *in[] = {op_operand(o, 0)};
  named_attr config = {attr_string(e->c, SLOT_NAME(probe_id)), op_attr(o, SLOT_NAME(probe_id))};
  make_call(e, o, o->info->name, in, 1, &config, 1);
  value_replace(op_result(o, 0), in[0]);
}

typedef void call_fn(expander *e, op *o);
static call_fn *const call_of[OP_COUNT] = {
    [OP_expect_eq] = check_call,         [OP_expect_eq_const] = check_call,
    [OP_expect_almost_eq] = check_call,  [OP_expect_almost_eq_const] = check_call,
    [OP_expect_close] = check_call,      [OP_expect_serialized_eq] = check_call,
    [OP_interpreter_print] = print_call, [OP_probe] = probe_call,
};

bool flatten_is_call(op_id id) { return id < OP_COUNT && call_of[id]; }

void flatten_into_call(ir_module *m, arena *scratch, op *o) {
  expander e = expander_before(m, scratch, o);
  call_of[op_kind(o)](&e, o);
}

/* check.eq also tells that all is well. */
static void check_eq(ir_module *m, arena *scratch, op *o) {
  expander e = expander_before(m, scratch, o);
  value *in[] = {op_operand(o, 0), op_operand(o, 1)};
  bool exact = type_element(in[1]->type)->kind == TYPE_INT;
  named_attr tolerance = usual_tolerance(e.c);
  make_call(&e, o, exact ? STR("check.expect_eq") : STR("check.expect_almost_eq"), in, 2,
            &tolerance, !exact);
  for (u32 i = 0; i < o->num_results; i++)
    value_replace(op_result(o, i), expand_constant(&e, op_result(o, i)->type, number_int(1)));
}

bool flatten_check_eq(ir_module *m, arena *scratch, op *o) {
  struct custom_call_attrs a;
  if (!view_custom_call(o, &a) || !str_is(a.call_target_name, "check.eq") || o->num_operands != 2)
    return false;
  check_eq(m, scratch, o);
  return true;
}

/* ---- names ---- */

/* As the peer has it: what stands before the = of the op that makes the operand. */
static walk_result name_print(void *user, op *o) {
  ir_module *m = user;
  if (!op_is(o, interpreter_print) || op_operand(o, 0)->is_arg) return WALK_ON;
  buf b;
  buf_init(&b, &mem_system);
  text_print_op(&b, m->ctx, value_op(op_operand(o, 0)),
                &(text_print_options){.skip_regions = true});
  const char *end = buf_ok(&b) && b.len ? memchr(b.data, '=', b.len) : NULL;
  const attr *name = end ? attr_string(m->ctx, (str){b.data, (size_t)(end - b.data) + 2}) : NULL;
  buf_deinit(&b);
  op_set_attr(m, o, PRINTED_NAME, name);
  return WALK_ON;
}

void flatten_name_prints(ir_module *m) {
  if (module_may_have(m, interpreter_print)) op_walk(m->root, name_print, m);
}
