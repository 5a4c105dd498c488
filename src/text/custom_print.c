/* Ops whose custom syntax no form can say; custom_parse.c reads them.
 *
 * Called for any op that has such syntax, verified or not: a function that cannot say all of an op
 * gives false, and print_op.c takes back what it wrote and prints the generic form. */
#include "text/lexer.h"
#include "text/printer.h"

/* false: this op must be printed in generic form */
typedef bool custom_fn(printer *w, const op *o);

static const attr *get(const op *o, const char *name) { return op_attr(o, str_of(name)); }

/* The slot as a bit, for what printer_attr_dict hides; 0: the row has no such slot. */
static u64 bit(const op *o, const char *name) {
  int slot = op_slot(o->info, str_of(name));
  return slot < 0 ? 0 : 1ull << slot;
}

/* ---- builtin.module, func.func ---- */

static bool print_module(printer *w, const op *o) {
  const string_attr *name = attr_as(string, get(o, "sym_name"));
  if (name) {
    put_char(w, ' ');
    printer_symbol(w, name->value);
  }
  printer_attr_dict(w, o, bit(o, "sym_name"), true);
  put_char(w, ' ');
  printer_region(w, &o->regions[0], false, false);
  return true;
}

/* The dictionary at i of an array attribute, if it is not empty; else NULL */
static const attr *dict_at(const attr *array, size_t i) {
  const array_attr *a = attr_as(array, array);
  const dict_attr *d = a && i < a->elems.len ? attr_as(dict, a->elems.data[i]) : NULL;
  return d && d->names.len ? &d->base : NULL;
}

static void print_with_dict(printer *w, const type *t, const attr *dict) {
  printer_type(w, t);
  if (!dict) return;
  put_char(w, ' ');
  printer_attr(w, dict, false);
}

/* From the function's type where there is no body to name them. */
static void print_arguments(printer *w, const op *o, const type *f) {
  const block *b = o->regions[0].first;
  const attr *dicts = get(o, "arg_attrs");
  types in = type_inputs(f);
  put_char(w, '(');
  for (size_t i = 0; i < in.len; i++) {
    if (i) PUT(w, ", ");
    if (b && i < b->num_args)
      printer_region_arg(w, b->args[i], dict_at(dicts, i));
    else
      print_with_dict(w, in.data[i], dict_at(dicts, i));
  }
  put_char(w, ')');
}

static void print_func_results(printer *w, const op *o, const type *f) {
  const attr *dicts = get(o, "res_attrs");
  types out = type_results(f);
  if (out.len == 0) return;
  PUT(w, " -> ");
  bool bare = out.len == 1 && out.data[0]->kind != TYPE_FUNCTION && !dict_at(dicts, 0);
  if (!bare) put_char(w, '(');
  for (size_t i = 0; i < out.len; i++) {
    if (i) PUT(w, ", ");
    print_with_dict(w, out.data[i], dict_at(dicts, i));
  }
  if (!bare) put_char(w, ')');
}

static bool print_func(printer *w, const op *o) {
  const string_attr *name = attr_as(string, get(o, "sym_name"));
  const string_attr *visibility = attr_as(string, get(o, "sym_visibility"));
  const type_ref_attr *t = attr_as(type_ref, get(o, "function_type"));
  if (!name || !t || t->type->kind != TYPE_FUNCTION || o->num_regions != 1) return false;
  put_char(w, ' ');
  if (visibility) {
    put(w, visibility->value);
    put_char(w, ' ');
  }
  printer_symbol(w, name->value);
  print_arguments(w, o, t->type);
  print_func_results(w, o, t->type);
  printer_attr_dict(w, o,
                    bit(o, "sym_name") | bit(o, "sym_visibility") | bit(o, "function_type") |
                        bit(o, "arg_attrs") | bit(o, "res_attrs"),
                    true);
  if (!o->regions[0].first) return true;
  put_char(w, ' ');
  printer_region(w, &o->regions[0], false, false);
  return true;
}

/* ---- constants ---- */

/* A value of another type (quantized results) takes the generic form behind the custom name. */
static bool print_constant(printer *w, const op *o) {
  const attr *value = get(o, "value");
  if (o->num_results != 1 || !value) return false;
  bool hlo = op_is(o, constant) || op_is(o, sdy_constant);
  if (hlo && attr_type_of(value) != o->results[0].type) {
    printer_generic(w, o, false);
    return true;
  }
  printer_attr_dict(w, o, bit(o, "value"), false);
  put_char(w, ' ');
  printer_attr(w, value, false);
  return true;
}

/* ---- stablehlo.reduce ---- */

/* The op that the region applies to its two arguments and returns, if that is all it does and the
 * short form can say it. */
static const op *only_op(const op *o) {
  const block *b = o->regions[0].first;
  const op *inner = b ? b->first : NULL, *ret = inner ? inner->next : NULL;
  if (!ret || ret->next || b->next || b->num_args != 2 || o->num_operands == 0) return NULL;
  if (!op_has(inner, COMMUTES) || inner->num_operands != 2 || inner->num_results != 1 ||
      !str_starts(inner->info->name, STR("stablehlo.")) || inner->num_regions)
    return NULL;
  const type *t = inner->results[0].type;
  bool scalar = t->kind == TYPE_TENSOR && t->dims.len == 0 && !t->encoding &&
                t->elem == type_element(op_operand(o, 0)->type);
  for (u32 i = 0; i < 2; i++)
    if (op_operand(inner, i) != b->args[i] || b->args[i]->type != t) return NULL;
  bool returned =
      op_is(ret, return ) && ret->num_operands == 1 && op_operand(ret, 0) == op_result(inner, 0);
  return scalar && returned ? inner : NULL;
}

static void print_reducer(printer *w, const op *o) {
  const block *b = o->regions[0].first;
  printer_newline(w);
  PUT(w, " reducer");
  for (u32 i = 0; b && i < b->num_args / 2; i++) {
    put_char(w, '(');
    printer_region_arg(w, b->args[i], NULL);
    PUT(w, ", ");
    printer_region_arg(w, b->args[i + b->num_args / 2], NULL);
    PUT(w, ") ");
  }
  put_char(w, ' ');
  printer_region(w, &o->regions[0], false, false);
}

static bool print_reduce(printer *w, const op *o) {
  if (o->num_regions != 1 || o->num_operands % 2) return false;
  const op *inner = only_op(o);
  const dense_array_attr *dims = attr_as(dense_array, get(o, "dimensions"));
  u32 half = o->num_operands / 2;
  if (!dims) return false;
  for (u32 i = 0; i < half; i++) {
    put(w, i ? STR(", (") : STR("("));
    printer_value(w, op_operand(o, i));
    PUT(w, " init: ");
    printer_value(w, op_operand(o, i + half));
    put_char(w, ')');
  }
  if (inner) {
    PUT(w, " applies ");
    printer_word_or_string(w, inner->info->name);
  }
  PUT(w, " across dimensions = ");
  printer_attr_bare(w, &dims->base);
  printer_attr_dict(w, o, bit(o, "dimensions"), false);
  PUT(w, " : ");
  printer_fn(w, o);
  if (!inner) print_reducer(w, o);
  return true;
}

/* ---- stablehlo.while ---- */

/* The body's arguments stand for both regions': siblings get the same names (names.c). */
static bool print_while(printer *w, const op *o) {
  const block *body = o->num_regions == 2 ? o->regions[1].first : NULL;
  if (!body || body->num_args != o->num_operands) return false;
  put_char(w, '(');
  for (u32 i = 0; i < o->num_operands; i++) {
    if (i) PUT(w, ", ");
    printer_value(w, body->args[i]);
    PUT(w, " = ");
    printer_value(w, op_operand(o, i));
  }
  put_char(w, ')');
  if (o->num_operands) {
    PUT(w, " : ");
    printer_types(w, o, 0, o->num_operands);
  }
  printer_attr_dict(w, o, 0, true);
  printer_newline(w);
  PUT(w, "cond ");
  printer_region(w, &o->regions[0], false, false);
  PUT(w, " do ");
  printer_region(w, &o->regions[1], false, false);
  return true;
}

/* ---- chlo.scan ---- */

static bool print_scan(printer *w, const op *o) {
  size_t begin, inputs;
  i64 dimension;
  if (o->num_regions != 1 || !op_operand_group(o, 0, &begin, &inputs) ||
      !attr_get_i64(get(o, "dimension"), &dimension))
    return false;
  put_char(w, '(');
  printer_operands(w, o, 0, inputs);
  PUT(w, ") inits (");
  printer_operands(w, o, inputs, o->num_operands - inputs);
  PUT(w, ") dimension=");
  printer_i64(w, dimension);
  put_char(w, ' ');
  printer_attr_dict(
      w, o, bit(o, "dimension") | bit(o, "operandSegmentSizes") | bit(o, "resultSegmentSizes"),
      true);
  put_char(w, ' ');
  printer_region(w, &o->regions[0], true, false);
  PUT(w, " : ");
  printer_fn(w, o);
  return true;
}

/* ---- by op ---- */

static custom_fn *const custom_of[OP_COUNT] = {
    [OP_module] = print_module,
    [OP_func] = print_func,
    [OP_constant] = print_constant,
    [OP_sdy_constant] = print_constant,
    [OP_tensor_dim] = printer_tensor_op,
    [OP_from_elements] = printer_tensor_op,
    [OP_tensor_extract] = printer_tensor_op,
    [OP_cmpi] = printer_tensor_op,
    [OP_arith_select] = printer_tensor_op,
    [OP_arith_constant] = print_constant,
    [OP_reduce] = print_reduce,
    [OP_while] = print_while,
    [OP_chlo_constant] = print_constant,
    [OP_chlo_scan] = print_scan,
    [OP_const_shape] = printer_shape,
    [OP_cstr_broadcastable] = printer_shape,
    [OP_assuming] = printer_shape,
    [OP_expect_almost_eq_const] = printer_check,
    [OP_expect_almost_eq] = printer_check,
    [OP_expect_eq_const] = printer_check,
    [OP_expect_eq] = printer_check,
    [OP_expect_close] = printer_check,
    [OP_expect_serialized_eq] = printer_check,
};

bool printer_custom(printer *w, const op *o) {
  return custom_of[op_kind(o)] && custom_of[op_kind(o)](w, o);
}
