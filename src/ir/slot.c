/* What the slots of the rows may hold, in the words of ODS.
 *
 * Two questions about an attribute: does it satisfy the constraint (slot_problem, for the verifier
 * and custom forms), and could MLIR's storage class hold it at all (slot_stores, for properties in
 * generic form, where MLIR converts before it verifies). The words are those of MLIR's
 * diagnostics. */
#include "ir/op.h"

typedef bool kind_fn(const attr *a);
static bool is_int(const attr *a, u32 width) {
  const integer_attr *i = attr_as(integer, a);
  return i && i->type->kind == TYPE_INT && i->type->width == width && i->type->sign == SIGNLESS;
}
static bool is_any(const attr *a) { return a != NULL; }
static bool is_typed(const attr *a) { return attr_is_typed(a); }
static bool is_i64(const attr *a) { return is_int(a, 64); }
static bool is_i32(const attr *a) { return is_int(a, 32); }
static bool is_ui32(const attr *a) {
  const integer_attr *i = attr_as(integer, a);
  return i && i->type->kind == TYPE_INT && i->type->width == 32 && i->type->sign == UNSIGNED;
}
static bool is_f32(const attr *a) {
  const float_attr *f = attr_as(float, a);
  return f && f->type->kind == TYPE_FLOAT && f->type->flt == FLOAT_f32;
}
static bool is_bool(const attr *a) { return is_int(a, 1); }
static bool is_unit(const attr *a) { return attr_is(unit, a); }
static bool is_str(const attr *a) { return attr_is(string, a); }
static bool is_sym(const attr *a) {
  str s;
  return attr_get_symbol(a, &s);
}
static bool is_function_type(const attr *a) {
  const type_ref_attr *t = attr_as(type_ref, a);
  return t && t->type->kind == TYPE_FUNCTION;
}
static bool is_packed(const attr *a, u32 width, size_t bytes) {
  const dense_array_attr *d = attr_as(dense_array, a);
  return d && d->elem->kind == TYPE_INT && d->elem->width == width && d->data.len % bytes == 0;
}
static bool is_i64s(const attr *a) { return is_packed(a, 64, 8); }
static bool is_bools(const attr *a) { return is_packed(a, 1, 1); }
static bool is_elements(const attr *a) {
  return attr_is(dense, a) || attr_is(dense_resource, a) || attr_is(dense_string, a) ||
         attr_is(sparse, a);
}
static bool is_i64_elements(const attr *a) {
  const dense_attr *d = attr_as(dense, a);
  const type *e = d ? type_element(d->type) : NULL;
  return e && e->kind == TYPE_INT && e->width == 64 && e->sign == SIGNLESS;
}
static bool is_groups(const attr *a) {
  return is_i64_elements(a) || attr_is(replica_group_mesh_axes, a);
}
static bool is_array(const attr *a) { return attr_is(array, a); }
static bool is_array_of(attr_id id, const attr *a) {
  const array_attr *l = attr_as(array, a);
  for (size_t i = 0; l && i < l->elems.len; i++)
    if (l->elems.data[i]->id != id) return false;
  return l != NULL;
}
static bool is_precisions(const attr *a) { return is_array_of(ATTR_precision, a); }
static bool is_origins(const attr *a) { return is_array_of(ATTR_user_origin, a); }
static bool is_dict(const attr *a) { return attr_is(dict, a); }
static bool is_dicts(const attr *a) { return is_array_of(ATTR_dict, a); }

/* By slot kind; ATTR_KINDS names a function is_<kind> for each. */
static kind_fn *const kind_of[] = {
#define AV(kind, ctype) [SLOT_##kind] = is_##kind,
    ATTR_KINDS(AV)
#undef AV
};

static bool is_integer(const attr *a) { return attr_is(integer, a); }
static bool is_float(const attr *a) { return attr_is(float, a); }
static bool is_type(const attr *a) { return attr_is(type_ref, a); }
static bool is_int_elements(const attr *a) {
  const dense_attr *d = attr_as(dense, a);
  const type *e = d ? type_element(d->type) : NULL;
  return e && (e->kind == TYPE_INT || e->kind == TYPE_INDEX);
}
/* MLIR's storage, where it takes more than the slot does; else the kind itself */
static kind_fn *const stored_as[COUNT(kind_of)] = {
    [SLOT_i64] = is_integer,
    [SLOT_i32] = is_integer,
    [SLOT_ui32] = is_integer,
    [SLOT_f32] = is_float,
    [SLOT_function_type] = is_type,
    [SLOT_i64_elements] = is_int_elements,
    [SLOT_groups] = is_any,
    [SLOT_precisions] = is_array,
    [SLOT_origins] = is_array,
    [SLOT_dicts] = is_array,
};

/* MLIR's properties convert before verification: what the storage class takes but the slot does not
 * is an error of the verifier, the rest one of the parser. */
bool slot_stores(const slot_info *s, const attr *a) {
  if (s->attr_id >= 0) return a->id == s->attr_id;
  return (stored_as[s->kind] ? stored_as[s->kind] : kind_of[s->kind])(a);
}
static const char *const kind_words[] = {
    [SLOT_any] = "any attribute",
    [SLOT_typed] = "TypedAttr instance",
    [SLOT_i64] = "64-bit signless integer attribute",
    [SLOT_i32] = "32-bit signless integer attribute",
    [SLOT_ui32] = "32-bit unsigned integer attribute",
    [SLOT_f32] = "32-bit float attribute",
    [SLOT_bool] = "bool attribute",
    [SLOT_unit] = "unit attribute",
    [SLOT_str] = "string attribute",
    [SLOT_sym] = "flat symbol reference attribute",
    [SLOT_function_type] = "type attribute of function type",
    [SLOT_i64s] = "i64 dense array attribute",
    [SLOT_bools] = "i1 dense array attribute",
    [SLOT_elements] = "constant vector/tensor attribute",
    [SLOT_i64_elements] = "64-bit signless integer elements attribute",
    [SLOT_groups] = ("64-bit signless integer elements attribute or mesh and axes based replica "
                     "groups representation."),
    [SLOT_array] = "array attribute",
    [SLOT_precisions] = "Precision Config attribute",
    [SLOT_origins] = "array of origin infos",
    [SLOT_dict] = "dictionary of named attribute values",
    [SLOT_dicts] = "Array of dictionary attributes",
};

/* As the attributes describe themselves; others by their names. */
static const char *const summaries[ATTR_COUNT] = {
    [ATTR_dot] = "Attribute that models the dimension information for dot.",
    [ATTR_dot_algorithm] =
        "Attribute that models the algorithm constraints to use for computing dot.",
    [ATTR_gather_dims] = "Attribute that models the dimension information for gather",
    [ATTR_scatter_dims] = "Attribute that models the dimension information for scatter",
    [ATTR_conv] = "Structure of dimension information for conv op",
    [ATTR_channel_handle] = "two 64-bit integers 'handle' and 'type'",
    [ATTR_result_accuracy] = "The requested accuracy for transcendental unary ops.",
    [ATTR_comparison_direction] = "Which comparison operation to perform.",
    [ATTR_comparison_type] = "Which comparison type to use.",
    [ATTR_fft_type] = "XLA fast fourier transform type.",
    [ATTR_rng_algorithm] = "XLA PRNG algorithm to be used.",
    [ATTR_rng_distribution] = "XLA PRNG distribution to be used.",
    [ATTR_transpose_kind] = "Transpose options",
    [ATTR_custom_call_api_version] = "Custom call API version",
    [ATTR_chlo_comparison_direction] = "Which comparison operation to perform.",
    [ATTR_chlo_comparison_type] = "Which comparison type to use.",
    [ATTR_ragged_dot] = "Attribute that models the dimension information for ragged dot.",
    [ATTR_propagation_direction] = "propagation direction enum",
    [ATTR_mesh] = "Mesh of axes and a list of devices",
    [ATTR_tensor_sharding] = "Tensor sharding",
    [ATTR_sharding_per_value] = "Tensor sharding per operand/result of an op",
    [ATTR_axis_ref_list] = "List of axis refs",
    [ATTR_axis_ref_lists] = "List of axis ref lists",
    [ATTR_manual_axes] = "A list of axes that a ManualComputationOp is manual on",
    [ATTR_all_to_all_params] = "List of all-to-all parameters",
    [ATTR_user_origin] = "Origin of user-specified computation.",
    [ATTR_mpmd_reduction] = "Denotes a reduction.",
};

/* NULL: none. Non-negative and positive come with kinds of integers only. */
const char *slot_problem(ir_ctx *c, const slot_info *s, const attr *a) {
  bool ok = s->attr_id >= 0 ? a->id == s->attr_id : kind_of[s->kind](a);
  const char *more = "";
  i64 v;
  if (s->need & NATURAL) more = " whose value is non-negative";
  if (s->need & POSITIVE) more = " whose value is positive";
  if (ok && *more) ok = attr_get_i64(a, &v) && v >= (s->need & POSITIVE ? 1 : 0);
  if (ok) return NULL;
  const char *words = s->attr_id < 0 ? kind_words[s->kind] : summaries[s->attr_id];
  if (!words) words = attr_infos[s->attr_id].name;
  return arena_printf(ir_arena(c), "%s%s", words, more).data;
}

/* The first by name, since ODS's checks go over a sorted dictionary. */
const slot_info *slot_first_problem(ir_ctx *c, const op_info *info, const attr *const *slots,
                                    const char **problem) {
  const slot_info *found = NULL;
  for (u32 i = 0; i < info->num_slots; i++) {
    const slot_info *s = &info->slots[i];
    const char *p = slots[i] ? slot_problem(c, s, slots[i]) : NULL;
    if (!p || (found && strcmp(s->name, found->name) > 0)) continue;
    found = s;
    *problem = p;
  }
  return found;
}
