/* What a custom call tells its handler (ffi/site.h), from its attributes. */
#include <stdio.h>

#include "compile/plain.h"
#include "compile/steps.h"
#include "ffi/site.h"

typedef struct config {
  lower *L;
  const op *o;
  str name; /* of the attribute at hand, for people */
} config;

static bool convert(config *c, const attr *a, ffi_attr *out);

static bool refuse(config *c) {
  return op_unimplemented(c->L->ctx, c->o,
                          "gives its handler '" STR_FMT "', which is no number, "
                          "text, array or dictionary of them",
                          STR_ARG(c->name));
}

static str copy(const config *c, const void *data, size_t n) {
  return (str){arena_copy(c->L->a, data, n ? n : 1), n};
}

/* An index is 64 bits; what has no element type of ours is refused. */
static bool element_type(const type *t, dtype *out) {
  if (t->kind != TYPE_INDEX) return lower_dtype(t, out);
  *out = DTYPE_s64;
  return true;
}

static bool convert_number(config *c, const type *t, u64 bits, ffi_attr *out) {
  dtype dt;
  if (!element_type(t, &dt) || dtype_size(dt) > sizeof bits) return refuse(c);
  if (dt == DTYPE_pred) bits &= 1;
  out->kind = FFI_ATTR_SCALAR;
  out->type = dt;
  out->bytes = copy(c, &bits, dtype_size(dt)); /* little-endian, as all of this is */
  return true;
}

static bool convert_elements(config *c, const type *t, str data, u64 times, ffi_attr *out) {
  dtype dt;
  size_t bytes;
  if (!element_type(t, &dt) || !checked_mul(data.len, (size_t)times, &bytes)) return refuse(c);
  char *all = arena_alloc(c->L->a, bytes + 1);
  for (u64 i = 0; i < times && data.len; i++) memcpy(all + i * data.len, data.data, data.len);
  out->kind = FFI_ATTR_ARRAY;
  out->type = dt;
  out->bytes = (str){all, bytes};
  return true;
}

static bool convert_dense(config *c, const dense_attr *d, ffi_attr *out) {
  i64 n;
  if (!type_num_elements(d->type, &n)) return refuse(c);
  size_t size = type_storage(d->type->elem);
  if (d->splat) return convert_elements(c, d->type->elem, (str){d->data.data, size}, (u64)n, out);
  return convert_elements(c, d->type->elem, d->data, 1, out);
}

static bool convert_dict(config *c, const dict_attr *d, ffi_attr *out) {
  out->kind = FFI_ATTR_DICT;
  out->num_entries = d ? (u32)d->names.len : 0;
  out->entries = ARENA_ARRAY(c->L->a, ffi_attr, out->num_entries + 1);
  for (u32 i = 0; i < out->num_entries; i++) {
    str name = {0};
    attr_get_str(d->names.data[i], &name);
    c->name = name;
    out->entries[i] = (ffi_attr){.name = name};
    if (!convert(c, d->values.data[i], &out->entries[i])) return false;
  }
  return true;
}

/* Numbers of one type are an array; anything else a dictionary whose names are places. */
static bool convert_list(config *c, attrs list, ffi_attr *out) {
  ffi_attr *all = ARENA_ARRAY(c->L->a, ffi_attr, list.len + 1);
  bool alike = list.len > 0;
  for (size_t i = 0; i < list.len; i++) {
    char place[24];
    int len = snprintf(place, sizeof place, "%zu", i);
    all[i] = (ffi_attr){.name = copy(c, place, (size_t)len)};
    if (!convert(c, list.data[i], &all[i])) return false;
    alike &= all[i].kind == FFI_ATTR_SCALAR && all[i].type == all[0].type;
  }
  *out = (ffi_attr){
      .name = out->name, .kind = FFI_ATTR_DICT, .num_entries = (u32)list.len, .entries = all};
  if (!alike) return true;
  size_t size = dtype_size((dtype)all[0].type);
  char *bytes = arena_alloc(c->L->a, list.len * size);
  for (size_t i = 0; i < list.len; i++) memcpy(bytes + i * size, all[i].bytes.data, size);
  *out = (ffi_attr){.name = out->name,
                    .kind = FFI_ATTR_ARRAY,
                    .type = all[0].type,
                    .bytes = {bytes, list.len * size}};
  return true;
}

static bool convert(config *c, const attr *a, ffi_attr *out) {
  const integer_attr *i = attr_as(integer, a);
  const float_attr *f = attr_as(float, a);
  const dense_array_attr *array = attr_as(dense_array, a);
  if (i) return convert_number(c, i->type, (u64)i->value, out);
  if (f) return convert_number(c, f->type, (u64)f->bits, out);
  if (array) return convert_elements(c, array->elem, array->data, 1, out);
  if (attr_is(dense, a)) return convert_dense(c, (const dense_attr *)a, out);
  if (attr_is(dict, a)) return convert_dict(c, (const dict_attr *)a, out);
  if (attr_is(array, a)) return convert_list(c, ((const array_attr *)a)->elems, out);
  if (!attr_get_str(a, &out->bytes)) return refuse(c);
  out->kind = FFI_ATTR_STRING;
  return true;
}

/* JAX writes a typed call's dictionary beside an empty backend_config, and leaves the version out.
 */
bool config_of_handler(lower *L, const op *o, const attr *given, i64 device, str *out) {
  struct custom_call_attrs v = {0};
  ffi_site site = {.api_version = FFI_API_ORIGINAL};
  config c = {.L = L, .o = o};
  if (op_is(o, custom_call) && !view_custom_call(o, &v)) return false;
  if (v.api_version && v.api_version->value) site.api_version = (u32)v.api_version->value;
  if (attr_is(dict, given)) site.api_version = FFI_API_TYPED;
  attr_get_str(given, &site.opaque);
  if (!convert_dict(&c, attr_as(dict, given), &site.attrs)) return false;
  i64s tokens = {0};
  attr_get_i64s(L->ctx, op_discardable(o, CALL_TOKENS), &tokens);
  site.num_tokens = (u32)tokens.len;
  site.tokens = ARENA_ARRAY(L->a, u32, tokens.len + 1);
  for (size_t i = 0; i < tokens.len; i++) site.tokens[i] = (u32)tokens.data[i];
  if (device >= 0) {
    site.device = (u32)device;
    site.devices = L->num_partitions;
  }
  buf b;
  buf_init(&b, &mem_system);
  bool shallow = ffi_site_write(&site, &b);
  *out = buf_take(&b, L->a);
  return shallow || op_unimplemented(L->ctx, o, "gives its handler a dictionary this deep");
}
