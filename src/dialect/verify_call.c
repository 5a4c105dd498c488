/* Calls out of the module and into what stands for an op: custom_call, composite. */
#include "dialect/verify.h"

/* ---- composite ---- */

static bool is_letter(char c) { return (c | 32) >= 'a' && (c | 32) <= 'z'; }
static bool is_word(char c) { return is_letter(c) || (c >= '0' && c <= '9') || c == '_'; }

/* composite_c1: [a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+ */
static bool check_composite_name(checker *k, const op *o, str name) {
  size_t dots = 0, part = 0;
  bool ok = name.len && is_letter(name.data[0]);
  for (size_t i = 0; ok && i < name.len; i++) {
    char c = name.data[i];
    if (c == '.') {
      ok = i == 0 || part > 0;
      dots++;
      part = 0;
    } else {
      ok = is_word(c) || (c == '$' && dots);
      part++;
    }
  }
  if (ok && dots && part) return true;
  return plain_error(k, o,
                     "name must be a valid namespaced op name, i.e. it must match the following "
                     "regular expression: ^[a-zA-Z][a-zA-Z0-9_]*([.][a-zA-Z0-9_$]+)+$ e.g. "
                     "\"my_namespace.my_op\"");
}

bool use_composite(checker *k, const op *o) {
  struct composite_attrs a;
  struct func_attrs f;
  if (!view_composite(o, &a) || !check_composite_name(k, o, a.name)) return false;
  const op *callee = checker_symbol(k, op_module(op_parent(o)), a.decomposition);
  if (!callee || !op_is(callee, func)) /* composite_c2 */
    return plain_error(k, o, "'" STR_FMT "' does not reference a valid function",
                       STR_ARG(a.decomposition));
  if (!view_func(callee, &f) || f.function_type->kind != TYPE_FUNCTION) return true;
  types in = type_inputs(f.function_type), out = type_results(f.function_type);
  if (o->num_operands != in.len) /* composite_c3 */
    return plain_error(k, o, "has %u operand(s), but decomposition has %zu", o->num_operands,
                       in.len);
  for (u32 i = 0; i < in.len; i++)
    if (in_type(o, i) != in.data[i])
      return plain_error(k, o, "operand at index %u has type '%s', but decomposition has type '%s'",
                         i, show(k, in_type(o, i)), show(k, in.data[i]));
  if (o->num_results != out.len) /* composite_c4 */
    return plain_error(k, o, "has %u result(s), but decomposition has %zu", o->num_results,
                       out.len);
  for (u32 i = 0; i < out.len; i++)
    if (out_type(o, i) != out.data[i])
      return plain_error(k, o, "result at index %u has type '%s', but decomposition has type '%s'",
                         i, show(k, out_type(o, i)), show(k, out.data[i]));
  return true;
}

/* ---- custom_call: layouts ---- */

/* One layout for each type: a permutation of its dimensions, minor to major. */
static bool check_layouts(checker *k, const op *o, attrs layouts, types t, const char *kind) {
  for (size_t i = 0; i < layouts.len; i++) {
    const dense_attr *l = attr_as(dense, layouts.data[i]);
    if (!l || l->type->dims.len != 1 || l->type->elem->kind != TYPE_INDEX)
      return op_error(k->c, o,
                      "attribute '%s_layouts' failed to satisfy constraint: Array of layout (1D "
                      "tensor of index type) attributes",
                      kind);
  }
  if (layouts.len != t.len)
    return op_error(k->c, o, "Number of %ss must match the number of %s layouts, %zu != %zu", kind,
                    kind, t.len, layouts.len);
  for (size_t i = 0; i < t.len; i++) {
    const dense_attr *l = (const dense_attr *)layouts.data[i];
    const type *x = t.data[i];
    i64 len = l->type->dims.data[0];
    if (x->kind == TYPE_TUPLE)
      return op_error(k->c, o, "Tuple types are not fully supported with layout constraints yet");
    if (x->kind != TYPE_TENSOR && x->kind != TYPE_MEMREF) {
      if (len == 0 || x->kind == TYPE_UNRANKED) continue;
      return op_error(
          k->c, o,
          "Only tensor types can have non-empty layout: %s #%zu of type '%s' has layout %s", kind,
          i, show(k, x), show_attr(k, &l->base));
    }
    dim_set seen = 0;
    bool ok = len == rank_of(x) && len <= DIALECT_MAX_RANK;
    for (i64 d = 0; ok && d < len; d++) {
      i64 dim = attr_dense_int(&l->base, (size_t)d);
      ok = dim >= 0 && dim < len && !dim_in(seen, dim);
      if (ok) seen |= 1ull << dim;
    }
    if (!ok)
      return op_error(
          k->c, o, "incorrect layout %s for type '%s', layout must be a permutation of [0, %lld)",
          show_attr(k, &l->base), show(k, x), (long long)rank_of(x));
  }
  return true;
}

/* ---- custom_call: aliases ---- */

static types operand_types(checker *k, const op *o) {
  const type **t = ARENA_ARRAY(k->scratch, const type *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) t[i] = in_type(o, i);
  return (types){t, o->num_operands};
}

static types result_types(checker *k, const op *o) {
  const type **t = ARENA_ARRAY(k->scratch, const type *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) t[i] = out_type(o, i);
  return (types){t, o->num_results};
}

/* The part of a type that indices of nested tuples name; NULL: out of bounds. */
static const type *tuple_part(const type *t, i64s indices) {
  for (size_t i = 0; i < indices.len; i++) {
    i64 n = indices.data[i];
    if (t->kind != TYPE_TUPLE || n < 0 || n >= (i64)t->types.len) return NULL;
    t = t->types.data[n];
  }
  return t;
}

static const type *all_results(checker *k, const op *o) {
  return o->num_results == 1 ? out_type(o, 0) : type_tuple(k->c, result_types(k, o));
}

static bool check_alias(checker *k, const op *o, const attr *alias) {
  const output_operand_alias_attr *x = attr_as(output_operand_alias, alias);
  if (!x)
    return op_error(k->c, o,
                    "attribute 'output_operand_aliases' failed to satisfy constraint: Aliasing "
                    "attribute for outputs and operands of CustomCall");
  if (x->operand_index < 0 || x->operand_index >= o->num_operands)
    return op_error(k->c, o,
                    "expects operandIndex in the output_operand_alias attribute to be in range [0, "
                    "%u); got: %lld.",
                    o->num_operands, (long long)x->operand_index);
  const type *in = tuple_part(in_type(o, (size_t)x->operand_index), x->operand_tuple_indices);
  const type *out = tuple_part(all_results(k, o), x->output_tuple_indices);
  if (!in || !out)
    return op_error(k->c, o, "%s in the output_operand_alias attribute out of bounds",
                    in ? "output_tuple_indices" : "operand_tuple_indices");
  if (in == out) return true;
  return op_error(k->c, o,
                  "shapes mismatch in the output_operand_alias attribute: operand part has type "
                  "'%s' and output part has type '%s'",
                  show(k, in), show(k, out));
}

/* ---- custom_call: buffers ---- */

/* Pin and Unpin: between a tensor and the buffer of it. */
static bool check_pin(checker *k, const op *o, const char *name, bool pin) {
  const char *in = pin ? "tensor" : "memref", *out = pin ? "memref" : "tensor";
  if (o->num_operands != 1) return op_error(k->c, o, "%s custom_call should have one input", name);
  const type *t = in_type(o, 0);
  if (pin ? !type_is_tensor(t) : t->kind != TYPE_MEMREF)
    return op_error(k->c, o, "%s custom_call should have a %s input", name, in);
  if (o->num_results != 1) return op_error(k->c, o, "%s custom_call should have one output", name);
  const type *r = out_type(o, 0);
  if (pin ? r->kind != TYPE_MEMREF : !type_is_tensor(r))
    return op_error(k->c, o, "%s custom_call should have a %s output", name, out);
  if (shapes_agree(t, r) && t->elem == r->elem) return true;
  return op_error(k->c, o, "%s custom_call should have compatible input and output types", name);
}

static bool check_create(checker *k, const op *o) {
  if (o->num_operands)
    return op_error(k->c, o, "CreateBuffer custom_call shouldn't have any inputs");
  if (o->num_results != 1)
    return op_error(k->c, o, "CreateBuffer custom_call should have one result");
  if (out_type(o, 0)->kind == TYPE_MEMREF) return true;
  return op_error(k->c, o, "CreateBuffer custom_call should have a memref result");
}

/* Every buffer among the results is one alias's. */
static bool check_outputs(checker *k, const op *o, attrs aliases, const type *t, i64 *at,
                          size_t depth) {
  enum { MAX_DEPTH = 64 };
  if (t->kind == TYPE_TUPLE && depth < MAX_DEPTH) {
    for (size_t i = 0; i < t->types.len; i++) {
      at[depth] = (i64)i;
      if (!check_outputs(k, o, aliases, t->types.data[i], at, depth + 1)) return false;
    }
    return true;
  }
  bool used = t->kind != TYPE_MEMREF;
  for (size_t i = 0; i < aliases.len && !used; i++)
    used = i64s_eq(((const output_operand_alias_attr *)aliases.data[i])->output_tuple_indices,
                   (i64s){at, depth});
  return used || op_error(k->c, o, "buffer output [%s] is not used in output_operand_alias",
                          show_ints(k, (i64s){at, depth}));
}

static bool check_buffers(checker *k, const op *o, attrs aliases) {
  i64 at[64];
  bool ok = true;
  for (size_t i = 0; i < aliases.len; i++) {
    const output_operand_alias_attr *x = (const output_operand_alias_attr *)aliases.data[i];
    const type *t = tuple_part(in_type(o, (size_t)x->operand_index), x->operand_tuple_indices);
    bool out_again = false, in_again = false;
    for (size_t j = 0; j < i && t->kind == TYPE_MEMREF; j++) {
      const output_operand_alias_attr *y = (const output_operand_alias_attr *)aliases.data[j];
      out_again |= i64s_eq(x->output_tuple_indices, y->output_tuple_indices);
      in_again |= x->operand_index == y->operand_index &&
                  i64s_eq(x->operand_tuple_indices, y->operand_tuple_indices);
    }
    if (out_again)
      ok = op_error(k->c, o, "buffer output [%s] is used in output_operand_alias more than once",
                    show_ints(k, x->output_tuple_indices));
    if (in_again)
      ok = op_error(k->c, o,
                    "buffer operand %lld[%s] is used in output_operand_alias more than once",
                    (long long)x->operand_index, show_ints(k, x->operand_tuple_indices));
  }
  return ok && check_outputs(k, o, aliases, all_results(k, o), at, 0);
}

/* ---- custom_call ---- */

enum { API_ORIGINAL = 1, API_TYPED_FFI = 4 };

static bool check_config(checker *k, const op *o, const custom_call_api_version_attr *version,
                         const attr *config) {
  i64 v = version ? version->value : API_ORIGINAL;
  bool dict = v == API_TYPED_FFI;
  if (!config || (dict ? attr_is(dict, config) : attr_is(string, config))) return true;
  return op_error(k->c, o, "backend_config for api_version %s must be a %s attribute.",
                  attr_infos[ATTR_custom_call_api_version].cases[v],
                  dict ? "dictionary" : "string");
}

bool verify_custom_call(checker *k, const op *o) {
  struct custom_call_attrs a;
  if (!view_custom_call(o, &a)) return false;
  int in = op_slot(o->info, SLOT_NAME(operand_layouts)),
      out = op_slot(o->info, SLOT_NAME(result_layouts));
  if (!o->slots[in] != !o->slots[out])
    return op_error(k->c, o,
                    "Layout attributes should be specified for either both operands and results or "
                    "none.");
  if (o->slots[in]) {
    types t = result_types(k, o);
    if (t.len == 1 && t.data[0]->kind == TYPE_TUPLE) t = t.data[0]->types;
    if (!check_layouts(k, o, a.operand_layouts, operand_types(k, o), "operand") ||
        !check_layouts(k, o, a.result_layouts, t, "result"))
      return false;
  }
  for (size_t i = 0; i < a.output_operand_aliases.len; i++)
    if (!check_alias(k, o, a.output_operand_aliases.data[i])) return false;
  if (!check_config(k, o, a.api_version, a.backend_config)) return false;
  if (str_is(a.call_target_name, "CreateBuffer")) return check_create(k, o);
  if (str_is(a.call_target_name, "Pin")) return check_pin(k, o, "Pin", true);
  if (str_is(a.call_target_name, "Unpin")) return check_pin(k, o, "Unpin", false);
  return check_buffers(k, o, a.output_operand_aliases);
}
