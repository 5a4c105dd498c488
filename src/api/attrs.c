/* Attributes of the public API: making and reading.
 *
 * Attributes are unique in their context and never freed before it, so handles compare by pointer
 * and need no release. The kinds of builtin have a function each; those of dialects are made from
 * fields by name, which the tables of ir/attrs.def describe for writers of text and bytecode
 * anyway. */
#include "api/context.h"
#include "num/convert.h"
#include "text/text.h"

tz_error *tz_attr_parse(tz_context *c, const char *text, const tz_attr **out_attr) {
  if (!text || !out_attr) return bad_handle();
  *out_attr = NULL;
  ENTER(c);
  const text_parse_options o = {.allow_unregistered = c->allow_unregistered};
  *out_attr = attr_out(text_parse_attr(c->ir, str_of(text), &o));
  return leave(&entry_, *out_attr ? NULL : reported(c));
}

/* ---- from fields ---- */

/* What attributes inside others must be: later stages rely on it. */
static const struct inner {
  u16 kind;
  const char *field;
  u16 first, second; /* attribute kinds; second may be the same */
  bool optional;
} inners[] = {
    {ATTR_result_accuracy, "mode", ATTR_result_accuracy_mode, ATTR_result_accuracy_mode, false},
    {ATTR_mesh, "axes", ATTR_mesh_axis, ATTR_mesh_axis, false},
    {ATTR_dim_sharding, "axes", ATTR_axis_ref, ATTR_axis_ref, false},
    {ATTR_tensor_sharding, "mesh", ATTR_symbol_ref, ATTR_mesh, false},
    {ATTR_tensor_sharding, "dims", ATTR_dim_sharding, ATTR_dim_sharding, false},
    {ATTR_tensor_sharding, "replicated", ATTR_axis_ref, ATTR_axis_ref, false},
    {ATTR_tensor_sharding, "unreduced", ATTR_axis_ref, ATTR_axis_ref, false},
    {ATTR_tensor_sharding, "unreduced_kind", ATTR_reduction_op, ATTR_reduction_op, true},
    {ATTR_sharding_per_value, "shardings", ATTR_tensor_sharding, ATTR_tensor_sharding, false},
    {ATTR_axis_ref_list, "axes", ATTR_axis_ref, ATTR_axis_ref, false},
    {ATTR_axis_ref_lists, "lists", ATTR_axis_ref_list, ATTR_axis_ref_list, false},
    {ATTR_manual_axes, "axes", ATTR_string, ATTR_string, false},
    {ATTR_all_to_all_params, "params", ATTR_all_to_all_param, ATTR_all_to_all_param, false},
    {ATTR_tensor_mapping, "dims", ATTR_dim_mapping, ATTR_dim_mapping, false},
    {ATTR_op_sharding_rule, "operands", ATTR_tensor_mapping, ATTR_tensor_mapping, false},
    {ATTR_op_sharding_rule, "results", ATTR_tensor_mapping, ATTR_tensor_mapping, false},
    {ATTR_edge_value_ref, "type", ATTR_edge_node_type, ATTR_edge_node_type, false},
    {ATTR_axis_edge, "axis", ATTR_axis_ref, ATTR_axis_ref, false},
    {ATTR_axis_edge, "source", ATTR_edge_value_ref, ATTR_edge_value_ref, false},
    {ATTR_axis_edge, "targets", ATTR_edge_value_ref, ATTR_edge_value_ref, false},
    {ATTR_propagation_step, "entries", ATTR_axis_edge, ATTR_axis_edge, false},
    {ATTR_propagation_edges, "steps", ATTR_propagation_step, ATTR_propagation_step, false},
};

static status check_inner(const attr_info *info, const struct inner *at, const attr *a) {
  if (a ? a->id == at->first || a->id == at->second : at->optional) return NULL;
  return wrong("field '%s' of %s must be a %s", at->field, info->name, attr_infos[at->first].name);
}

/* An attribute kind whose fields hold others must be in `inners`, or it cannot be made here: what
 * is not checked would be believed. */
static status check_field(u16 id, const attr *proto, const field_info *f) {
  const attr_info *info = &attr_infos[id];
  const void *at = (const char *)proto + f->offset;
  if (f->kind == FIELD_type && !*(const type *const *)at)
    return wrong("field '%s' of %s is NULL", f->name, info->name);
  if (f->kind != FIELD_attr && f->kind != FIELD_attrs) return NULL;
  for (size_t i = 0; i < COUNT(inners); i++) {
    if (inners[i].kind != id || strcmp(inners[i].field, f->name) != 0) continue;
    if (f->kind == FIELD_attr) return check_inner(info, &inners[i], *(const attr *const *)at);
    const attrs *l = at;
    for (size_t k = 0; k < l->len; k++) RETURN_IF_ERROR(check_inner(info, &inners[i], l->data[k]));
    return NULL;
  }
  return wrong("%s cannot be made from fields; tz_attr_parse makes one", info->name);
}

static const tz_field_sort sort_of[] = {
    [FIELD_i64] = TZ_FIELD_INT,    [FIELD_u32] = TZ_FIELD_INT,     [FIELD_bool] = TZ_FIELD_BOOL,
    [FIELD_str] = TZ_FIELD_STRING, [FIELD_i64s] = TZ_FIELD_INTS,   [FIELD_type] = TZ_FIELD_TYPE,
    [FIELD_attr] = TZ_FIELD_ATTR,  [FIELD_attrs] = TZ_FIELD_ATTRS,
};

/* Borrows the caller's lists; attr_unique copies what it keeps. */
static status set_field(const attr_info *info, attr *proto, const tz_field *from) {
  const field_info *f = info->fields();
  while (f->name && (!from->name || strcmp(f->name, from->name) != 0)) f++;
  if (!f->name)
    return wrong("%s has no field '%s'", info->name, from->name ? from->name : "(NULL)");
  if (sort_of[f->kind] != from->sort)
    return wrong("field '%s' of %s is of another sort", f->name, info->name);
  void *at = (char *)proto + f->offset;
  switch (f->kind) {
  case FIELD_i64:
    *(i64 *)at = from->number;
    break;
  case FIELD_u32:
    *(u32 *)at = (u32)from->number;
    break;
  case FIELD_bool:
    *(bool *)at = from->number != 0;
    break;
  case FIELD_str:
    *(str *)at = (str){from->bytes.data, from->bytes.data ? from->bytes.length : 0};
    break;
  case FIELD_i64s:
    *(i64s *)at = (i64s){from->numbers, from->numbers ? from->length : 0};
    break;
  case FIELD_type:
    *(const type **)at = type_of(from->type);
    break;
  case FIELD_attr:
    *(const attr **)at = attr_of(from->attr);
    break;
  case FIELD_attrs:
    *(attrs *)at = attrs_of(from->attrs, from->attrs ? from->length : 0);
    break;
  }
  return NULL;
}

static const attr_info *kind_named(const char *kind) {
  if (kind && strchr(kind, '.')) /* the others have functions of their own */
    for (size_t i = 0; i < ATTR_COUNT; i++)
      if (strcmp(attr_infos[i].name, kind) == 0) return &attr_infos[i];
  return NULL;
}

/* All enums have one layout, that of comparison_type_attr. */
static status make(tz_context *c, const char *kind, const tz_field *fields, size_t num_fields,
                   const tz_attr **out_attr) {
  const attr_info *info = kind_named(kind);
  if (!info) return wrong("'%s' is no kind of attribute to make from fields", kind ? kind : "");
  attr *proto = arena_zalloc(ir_arena(c->ir), info->size);
  proto->id = (u16)(info - attr_infos);
  for (size_t i = 0; i < num_fields; i++) RETURN_IF_ERROR(set_field(info, proto, &fields[i]));
  for (const field_info *f = info->fields(); f->name; f++)
    RETURN_IF_ERROR(check_field(proto->id, proto, f));
  i64 value = info->cases ? ((const comparison_type_attr *)proto)->value : 0;
  if (info->cases && (value < 0 || value >= info->num_cases))
    return wrong("%s has no case %lld", info->name, (long long)value);
  *out_attr = attr_out(attr_unique(c->ir, proto));
  return NULL;
}

tz_error *tz_attr_make(tz_context *c, const char *kind, const tz_field *fields, size_t num_fields,
                       const tz_attr **out_attr) {
  if (!out_attr || (num_fields && !fields)) return bad_handle();
  *out_attr = NULL;
  ENTER(c);
  return leave(&entry_, make(c, kind, fields, num_fields, out_attr));
}

/* ---- one function a kind ---- */

/* TZ_MAKER(tail of the name, parameters, what must hold, the attribute) */
#define TZ_MAKER(name, params, ok, made)                                                           \
  tz_error *tz_##name params {                                                                     \
    if (!out_attr || !(ok)) return bad_handle();                                                   \
    *out_attr = NULL;                                                                              \
    ENTER(c);                                                                                      \
    *out_attr = attr_out(made);                                                                    \
    return leave(&entry_, NULL);                                                                   \
  }
#define PARAMS(...) (tz_context * c, __VA_ARGS__ const tz_attr **out_attr)
#define WITH(...) __VA_ARGS__,

TZ_MAKER(attr_unit, PARAMS(), true, attr_unit(c->ir))
TZ_MAKER(attr_bool, PARAMS(WITH(bool value)), true, attr_bool(c->ir, value))
TZ_MAKER(attr_string, PARAMS(WITH(const char *data, size_t length)), data || !length,
         attr_string(c->ir, data_of(data, length)))
TZ_MAKER(attr_symbol, PARAMS(WITH(const char *name)), name, attr_symbol(c->ir, str_of(name)))
TZ_MAKER(attr_type, PARAMS(WITH(const tz_type *type)), type, attr_type(c->ir, type_of(type)))
TZ_MAKER(attr_ints, PARAMS(WITH(const int64_t *values, size_t n)), values || !n,
         attr_i64_array(c->ir, ints_of(values, n)))
TZ_MAKER(attr_array, PARAMS(WITH(const tz_attr *const *elements, size_t n)),
         all_there((const void *const *)elements, n), attr_array(c->ir, attrs_of(elements, n)))
TZ_MAKER(loc_unknown, PARAMS(), true, loc_unknown(c->ir))
TZ_MAKER(loc_file, PARAMS(WITH(const char *file, uint32_t line, uint32_t column)), file,
         loc_file(c->ir, str_of(file), line, column))

TZ_MAKER(loc_name, PARAMS(WITH(const char *name, const tz_attr *child)),
         name && (!child || is_loc(attr_of(child))),
         attr_make(c->ir, loc_name, .name = str_of(name),
                   .child = child ? attr_of(child) : loc_unknown(c->ir)))

/* The signless types take what either reading of their bits can say: i8 is -128 to 255. */
static bool fits(const type *t, i64 v) {
  if (t->kind == TYPE_INDEX || (t->kind == TYPE_INT && t->width == 64)) return true;
  if (t->kind != TYPE_INT || t->width > 64) return false;
  if (t->width == 0) return v == 0;
  i64 least = t->sign == UNSIGNED ? 0 : -(i64)(1ull << (t->width - 1));
  i64 most = (i64)(t->sign == SIGNED ? (1ull << (t->width - 1)) - 1 : (1ull << t->width) - 1);
  return v >= least && v <= most;
}

/* Values are kept sign-extended. */
static i64 extended(const type *t, i64 v) {
  if (t->kind != TYPE_INT || t->width == 0 || t->width >= 64 || t->sign == UNSIGNED) return v;
  u32 shift = 64 - t->width;
  return (i64)((u64)v << shift) >> shift;
}

tz_error *tz_attr_int(tz_context *c, const tz_type *type, int64_t value, const tz_attr **out_attr) {
  if (!out_attr || !type) return bad_handle();
  *out_attr = NULL;
  ENTER(c);
  if (!fits(type_of(type), value))
    return leave(&entry_, wrong("%lld is no value of the type", (long long)value));
  *out_attr = attr_out(attr_int(c->ir, type_of(type), extended(type_of(type), value)));
  return leave(&entry_, NULL);
}

/* By the type's name in text, which the dtypes share. */
static bool dtype_of(const type *t, dtype *out) {
  char name[48];
  buf b;
  if (t->kind == TYPE_INDEX) return *out = DTYPE_s64, true;
  buf_init(&b, &mem_system);
  text_print_type(&b, t);
  bool ok = buf_ok(&b) && b.len < sizeof name;
  if (ok) memcpy(name, b.data, b.len), name[b.len] = 0;
  buf_deinit(&b);
  for (int i = 0; ok && i < DTYPE_COUNT; i++)
    if (strcmp(dtype_infos[i].name, name) == 0) return *out = (dtype)i, dtype_size(*out) > 0;
  return false;
}

tz_error *tz_attr_float(tz_context *c, const tz_type *type, double value,
                        const tz_attr **out_attr) {
  dtype d;
  i64 bits = 0;
  if (!out_attr || !type) return bad_handle();
  *out_attr = NULL;
  ENTER(c);
  if (type_of(type)->kind != TYPE_FLOAT || !dtype_of(type_of(type), &d))
    return leave(&entry_, wrong("the type is no float of at most 64 bits"));
  num_from_f64(d, value, &bits);
  *out_attr = attr_out(attr_make(c->ir, float, .type = type_of(type), .bits = bits));
  return leave(&entry_, NULL);
}

tz_error *tz_attr_dict(tz_context *c, const tz_named_attr *entries, size_t n,
                       const tz_attr **out_attr) {
  if (!out_attr || (n && !entries)) return bad_handle();
  *out_attr = NULL;
  for (size_t i = 0; i < n; i++)
    if (!entries[i].name || !entries[i].attr) return bad_handle();
  ENTER(c);
  named_attr *list = ARENA_ARRAY(ir_arena(c->ir), named_attr, n);
  for (size_t i = 0; i < n; i++)
    list[i] = (named_attr){attr_string(c->ir, str_of(entries[i].name)), attr_of(entries[i].attr)};
  *out_attr = attr_out(attr_dict(c->ir, list, n));
  return leave(&entry_, NULL);
}

/* As many bytes as one element are a splat, unless there are none. */
static status dense(tz_context *c, const type *t, str data, bool borrow, const tz_attr **out_attr) {
  i64 n, bytes;
  size_t size = t->kind == TYPE_TENSOR ? type_storage(t->elem) : 0;
  if (!size || !type_num_elements(t, &n) || !checked_mul(n, (i64)size, &bytes))
    return wrong("dense constants are of static tensors of numbers");
  bool splat = data.len == size && n > 0;
  if (!splat && data.len != (u64)bytes)
    return wrong("%zu bytes for %lld elements of %zu bytes", data.len, (long long)n, size);
  *out_attr = attr_out(attr_dense(c->ir, t, data, splat, borrow));
  return NULL;
}

tz_error *tz_attr_dense(tz_context *c, const tz_type *tensor, const void *data, size_t bytes,
                        bool borrow, const tz_attr **out_attr) {
  if (!out_attr || !tensor || (bytes && !data)) return bad_handle();
  *out_attr = NULL;
  ENTER(c);
  return leave(&entry_, dense(c, type_of(tensor), data_of(data, bytes), borrow, out_attr));
}

/* ---- reading ---- */

const char *tz_attr_kind(const tz_attr *a) { return a ? attr_infos[attr_of(a)->id].name : ""; }

tz_error *tz_attr_print(const tz_attr *a, char **out_text) {
  if (!a || !out_text) return bad_handle();
  buf b;
  buf_init(&b, &mem_system);
  text_print_attr(&b, attr_of(a));
  *out_text = NULL;
  return error_out(give_text(&b, out_text, NULL));
}

size_t tz_attr_num_fields(const tz_attr *a) {
  size_t n = 0;
  if (a)
    for (const field_info *f = attr_infos[attr_of(a)->id].fields(); f->name; f++) n++;
  return n;
}

static tz_string string_out(str s) {
  return s.len ? (tz_string){s.data, s.len} : (tz_string){"", 0};
}

bool tz_attr_field(const tz_attr *a, size_t i, tz_field *out_field) {
  if (i >= tz_attr_num_fields(a) || !out_field) return false;
  const field_info *f = &attr_infos[attr_of(a)->id].fields()[i];
  const void *at = (const char *)(const void *)a + f->offset;
  *out_field = (tz_field){.name = f->name, .sort = sort_of[f->kind], .bytes = {"", 0}};
  switch (f->kind) {
  case FIELD_i64:
    out_field->number = *(const i64 *)at;
    break;
  case FIELD_u32:
    out_field->number = *(const u32 *)at;
    break;
  case FIELD_bool:
    out_field->number = *(const bool *)at;
    break;
  case FIELD_str:
    out_field->bytes = string_out(*(const str *)at);
    break;
  case FIELD_i64s:
    out_field->numbers = ((const i64s *)at)->data;
    out_field->length = ((const i64s *)at)->len;
    break;
  case FIELD_type:
    out_field->type = type_out(*(const type *const *)at);
    break;
  case FIELD_attr:
    out_field->attr = attr_out(*(const attr *const *)at);
    break;
  case FIELD_attrs:
    out_field->attrs = (const tz_attr *const *)(const void *)((const attrs *)at)->data;
    out_field->length = ((const attrs *)at)->len;
    break;
  }
  return true;
}

const char *tz_attr_case(const tz_attr *a) {
  if (!a || !attr_infos[attr_of(a)->id].cases) return "";
  str s = attr_enum_name(attr_of(a));
  return s.len ? s.data : "";
}

bool tz_attr_get_int(const tz_attr *a, int64_t *out_value) {
  const integer_attr *i = attr_as(integer, attr_of(a));
  if (!i || !out_value || !attr_get_i64(attr_of(a), out_value)) return false;
  if (i->type && i->type->kind == TYPE_INT && i->type->width == 1) *out_value &= 1;
  return true;
}

bool tz_attr_get_float(const tz_attr *a, double *out_value) {
  const float_attr *f = attr_as(float, attr_of(a));
  dtype d;
  if (!f || !out_value || f->wide.len || !dtype_of(f->type, &d)) return false;
  return *out_value = num_to_f64(d, &f->bits), true;
}

bool tz_attr_get_string(const tz_attr *a, tz_string *out_value) {
  str s;
  if (!out_value) return false;
  if (attr_is(symbol_ref, attr_of(a)))
    s = symbol_of(attr_of(a));
  else if (!attr_get_str(attr_of(a), &s))
    return false;
  return *out_value = string_out(s), true;
}

bool tz_attr_get_type(const tz_attr *a, const tz_type **out_type) {
  const type_ref_attr *t = attr_as(type_ref, attr_of(a));
  return t && out_type && (*out_type = type_out(t->type), true);
}

bool tz_attr_get_ints(const tz_attr *a, const int64_t **out_values, size_t *out_n) {
  const dense_array_attr *d = attr_as(dense_array, attr_of(a));
  if (!d || !out_values || !out_n || d->elem->kind != TYPE_INT || d->elem->width != 64)
    return false;
  *out_values = (const i64 *)(const void *)d->data.data;
  return *out_n = d->data.len / 8, true;
}

size_t tz_attr_num_elements(const tz_attr *a) {
  const array_attr *l = attr_as(array, attr_of(a));
  return l ? l->elems.len : 0;
}
const tz_attr *tz_attr_element(const tz_attr *a, size_t i) {
  return i < tz_attr_num_elements(a) ? attr_out(attr_as(array, attr_of(a))->elems.data[i]) : NULL;
}

size_t tz_attr_num_entries(const tz_attr *a) {
  const dict_attr *d = attr_as(dict, attr_of(a));
  return d ? d->names.len : 0;
}
tz_named_attr tz_attr_entry(const tz_attr *a, size_t i) {
  str name;
  if (i >= tz_attr_num_entries(a)) return (tz_named_attr){0};
  const dict_attr *d = attr_as(dict, attr_of(a));
  if (!attr_get_str(d->names.data[i], &name)) return (tz_named_attr){0};
  return (tz_named_attr){name.data, attr_out(d->values.data[i])};
}
const tz_attr *tz_attr_lookup(const tz_attr *a, const char *name) {
  return name ? attr_out(attr_dict_get(attr_of(a), str_of(name))) : NULL;
}

/* ---- dense constants ---- */

bool tz_attr_is_dense(const tz_attr *a) { return attr_is(dense, attr_of(a)); }
const tz_type *tz_dense_type(const tz_attr *a) {
  const dense_attr *d = attr_as(dense, attr_of(a));
  return d ? type_out(d->type) : NULL;
}
bool tz_dense_is_splat(const tz_attr *a) {
  const dense_attr *d = attr_as(dense, attr_of(a));
  return d && d->splat;
}
tz_string tz_dense_bytes(const tz_attr *a) {
  const dense_attr *d = attr_as(dense, attr_of(a));
  return d ? string_out(d->data) : (tz_string){"", 0};
}

/* Where element i lies; NULL: nowhere. */
static const void *element(const tz_attr *a, size_t i, const type **out_type) {
  const dense_attr *d = attr_as(dense, attr_of(a));
  i64 n;
  if (!d || !type_num_elements(d->type, &n) || i >= (u64)n) return NULL;
  *out_type = type_element(d->type);
  size_t size = type_storage(*out_type), at = d->splat ? 0 : i * size;
  return size && at + size <= d->data.len ? d->data.data + at : NULL;
}

bool tz_dense_int(const tz_attr *a, size_t i, int64_t *out_value) {
  const type *t;
  if (!out_value || !element(a, i, &t) || (t->kind != TYPE_INT && t->kind != TYPE_INDEX) ||
      (t->kind == TYPE_INT && t->width > 64))
    return false;
  return *out_value = attr_dense_int(attr_of(a), i), true;
}

bool tz_dense_float(const tz_attr *a, size_t i, double *out_value) {
  const type *t;
  dtype d;
  const void *p = element(a, i, &t);
  if (!out_value || !p || !dtype_of(t, &d)) return false;
  return *out_value = num_to_f64(d, p), true;
}

bool tz_loc_position(const tz_attr *loc, tz_string *out_file, uint32_t *out_line,
                     uint32_t *out_column) {
  if (!loc || !out_file || !out_line || !out_column) return false;
  diag_pos p = loc_pos(attr_of(loc));
  *out_file = string_out(p.file);
  *out_line = p.line;
  *out_column = p.col;
  return p.file.len > 0;
}
