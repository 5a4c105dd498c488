/* check.* and interpreter.*. Source: openxla/stablehlo tests/CheckOps.td, reference/InterpreterOps.
 */
#include "dialect/verify.h"

static const type *type_of_constant(const attr *a) {
  const dense_attr *d = attr_as(dense, a);
  const dense_resource_attr *r = attr_as(dense_resource, a);
  return d ? d->type : r ? r->type : NULL;
}

static bool same_as_constant(checker *k, const op *o) {
  const type *t = type_of_constant(op_attr(o, SLOT_NAME(value)));
  return t == in_type(o, 0) ||
         op_error(k->c, o, "failed to verify that all of {lhs, value} have same type");
}

static bool same_operands(checker *k, const op *o) {
  return in_type(o, 0) == in_type(o, 1) ||
         op_error(k->c, o, "requires all operands to have the same type");
}

/* A number whose custom syntax leaves its type out. */
static bool number(checker *k, const op *o, const char *name, const type *t, const char *words) {
  const attr *a = op_attr(o, str_of(name));
  return !a || attr_type_of(a) == t ||
         op_error(k->c, o, "attribute '%s' failed to satisfy constraint: %s attribute", name,
                  words);
}

static bool tolerance(checker *k, const op *o) {
  return number(k, o, "tolerance", type_float(k->c, FLOAT_f64), "64-bit float");
}

static bool distance(checker *k, const op *o, const char *name) {
  return number(k, o, name, type_int(k->c, 64, UNSIGNED), "64-bit unsigned integer");
}

bool verify_expect_almost_eq_const(checker *k, const op *o) {
  return tolerance(k, o) && same_as_constant(k, o);
}
bool verify_expect_eq_const(checker *k, const op *o) { return same_as_constant(k, o); }
bool verify_expect_almost_eq(checker *k, const op *o) {
  return tolerance(k, o) && same_operands(k, o);
}
bool verify_expect_eq(checker *k, const op *o) { return same_operands(k, o); }
bool verify_expect_close(checker *k, const op *o) {
  if (!distance(k, o, "max_ulp_difference") || !distance(k, o, "min_ulp_difference")) return false;
  return in_type(o, 0) == in_type(o, 1) ||
         op_error(k->c, o, "failed to verify that all of {actual, expected} have same type");
}
bool verify_expect_serialized_eq(checker *k, const op *o) {
  return number(k, o, "iteration", type_int(k->c, 32, UNSIGNED), "32-bit unsigned integer");
}
bool verify_interpreter_print(checker *k, const op *o) { return (void)k, (void)o, true; }
bool verify_probe(checker *k, const op *o) {
  return in_type(o, 0) == out_type(o, 0) ||
         op_error(k->c, o, "requires the same type for all operands and results");
}

/* The type of a function of the module, or NULL after an error. */
static const type *function(checker *k, const op *o, const attr *name) {
  const op *f = checker_symbol(k, op_module((op *)o), symbol_of(name));
  const type_ref_attr *t =
      f && op_is(f, func) ? attr_as(type_ref, op_attr(f, SLOT_NAME(function_type))) : NULL;
  if (t && t->type->kind == TYPE_FUNCTION) return t->type;
  loc_error(k->c, o->loc, "Function \"" STR_FMT "\" not found", STR_ARG(symbol_of(name)));
  return NULL;
}

static bool check_infeed(checker *k, const op *o, attrs infeed) {
  if (infeed.len == 0)
    return loc_error(k->c, o->loc, "infeed attribute is optional or should not be empty");
  for (size_t i = 0; i < infeed.len; i++) {
    const type *f = function(k, o, infeed.data[i]);
    if (!f) return false;
    str name = symbol_of(infeed.data[i]);
    types results = type_results(f);
    if (results.len != 1)
      return loc_error(k->c, o->loc,
                       "Function \"" STR_FMT "\" should return 1 tensor but returns %zu",
                       STR_ARG(name), results.len);
    if (!type_is_tensor(results.data[0]))
      return loc_error(k->c, o->loc,
                       "Function \"" STR_FMT
                       "\" should return a tensor type, but instead returns '%s'",
                       STR_ARG(name), show(k, results.data[0]));
  }
  return true;
}

bool verify_run_parallel(checker *k, const op *o) {
  struct run_parallel_attrs a;
  if (!view_run_parallel(o, &a)) return false;
  size_t inputs = 0, results = 0, partitions = 0;
  for (size_t i = 0; i < a.programs.len; i++) {
    const array_attr *row = attr_as(array, a.programs.data[i]);
    if (!row)
      return op_error(k->c, o,
                      "attribute 'programs' failed to satisfy constraint: Array of "
                      "FlatSymbolRefArrayAttr");
    if (i == 0) partitions = row->elems.len;
    if (row->elems.len != partitions)
      return loc_error(k->c, o->loc,
                       "Sizes of second dimension of `programs` should all match %zu but got %zu",
                       partitions, row->elems.len);
    for (size_t j = 0; j < row->elems.len; j++) {
      const type *f = function(k, o, row->elems.data[j]);
      if (!f) return false;
      inputs += type_inputs(f).len;
      results += type_results(f).len;
    }
  }
  if (partitions == 0) return loc_error(k->c, o->loc, "`programs` attribute cannot be empty");
  if (inputs != o->num_operands)
    return loc_error(k->c, o->loc,
                     "Number of inputs (%u) should match the sum of the number of inputs of all "
                     "programs (%zu)",
                     o->num_operands, inputs);
  if (results != o->num_results)
    return loc_error(k->c, o->loc,
                     "Number of results (%u) should match the sum of the number of results of all "
                     "programs (%zu)",
                     o->num_results, results);
  return !op_attr(o, SLOT_NAME(infeed)) || check_infeed(k, o, a.infeed);
}
