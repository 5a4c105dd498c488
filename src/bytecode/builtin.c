/* The builtin dialect's attributes and types, and what VHLO's share with them. */
#include "bytecode/reader.h"

/* ---- attributes ---- */

const attr *read_string(reader *r, cursor *c) {
  str s = get_string(r, c);
  return r->failed ? NULL : attr_string(r->ctx, s);
}

const attr *read_dict(reader *r, cursor *c) {
  size_t n = get_count(r, c);
  named_attr *list = ARENA_ARRAY(r->arena, named_attr, n);
  for (size_t i = 0; i < n && !r->failed; i++) {
    const u8 *from = c->at;
    list[i].name = get_attr(r, c);
    list[i].value = get_attr(r, c);
    if (!r->failed && !attr_is(string, list[i].name)) fail_at(r, from, "expected a name");
  }
  return r->failed ? NULL : attr_dict(r->ctx, list, n);
}

static const attr *read_typed_string(reader *r, cursor *c) {
  str s = get_string(r, c);
  const type *t = get_type(r, c);
  return r->failed ? NULL : attr_make(r->ctx, string, .value = s, .type = t);
}

static const attr *read_symbol(reader *r, cursor *c) {
  const u8 *from = c->at;
  const attr *root = get_attr(r, c);
  if (!r->failed && !attr_is(string, root)) fail_at(r, from, "expected a symbol's name");
  return r->failed ? NULL : attr_symbol(r->ctx, ((const string_attr *)root)->value);
}

static const attr *read_nested_symbol(reader *r, cursor *c) {
  const u8 *from = c->at;
  const attr *root = get_attr(r, c);
  attrs nested = get_attrs(r, c);
  if (!r->failed && !attr_is(string, root)) fail_at(r, from, "expected a symbol's name");
  for (size_t i = 0; i < nested.len && !r->failed; i++)
    if (!attr_is(symbol_ref, nested.data[i])) fail_at(r, from, "expected nested symbols");
  return r->failed ? NULL
                   : attr_make(r->ctx, symbol_ref, .root = ((const string_attr *)root)->value,
                               .nested = nested);
}

const attr *read_integer(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *t = get_type(r, c);
  if (r->failed) return NULL;
  if (t->kind != TYPE_INT && t->kind != TYPE_INDEX)
    return fail_at(r, from, "expected an integer type"), NULL;
  str wide;
  i64 v = get_bits(r, c, t->kind == TYPE_INDEX ? 64 : t->width, &wide);
  return r->failed ? NULL : attr_make(r->ctx, integer, .type = t, .value = v, .wide = wide);
}

const attr *read_float(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *t = get_type(r, c);
  if (r->failed) return NULL;
  if (t->kind != TYPE_FLOAT) return fail_at(r, from, "expected a float type"), NULL;
  str wide;
  u64 v = (u64)get_bits(r, c, t->width, &wide);
  if (t->width < 64) v &= (1ull << t->width) - 1;
  return r->failed ? NULL : attr_make(r->ctx, float, .type = t, .bits = (i64)v, .wide = wide);
}

static const attr *read_file_loc(reader *r, cursor *c) {
  const u8 *from = c->at;
  const attr *file = get_attr(r, c);
  u64 line = get_uint(r, c), col = get_uint(r, c);
  if (!r->failed && !attr_is(string, file)) fail_at(r, from, "expected a file's name");
  return r->failed ? NULL
                   : attr_make(r->ctx, loc_file, .file = file, .line = (u32)line, .col = (u32)col);
}

/* Fewer numbers where some follow from others: none; line; line, col; line, col, end col; all. */
static const attr *read_file_range(reader *r, cursor *c) {
  const u8 *from = c->at;
  const attr *file = get_attr(r, c);
  size_t n = get_count(r, c);
  u64 v[4] = {0};
  if (!r->failed && (n > 4 || !attr_is(string, file))) fail_at(r, from, "expected a file range");
  for (size_t i = 0; i < n && i < 4; i++) v[i] = get_uint(r, c) & INT32_MAX;
  if (r->failed) return NULL;
  u32 line = (u32)v[0], col = (u32)v[1];
  u32 end_line = n == 4 ? (u32)v[2] : line, end_col = n == 4 ? (u32)v[3] : n == 3 ? (u32)v[2] : col;
  if (end_line == line && end_col == col) end_line = end_col = 0;
  return attr_make(r->ctx, loc_file, .file = file, .line = line, .col = col, .end_line = end_line,
                   .end_col = end_col);
}

static const attr *read_resource(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *t = get_type(r, c);
  u64 i = get_uint(r, c);
  if (r->failed) return NULL;
  if (t->kind != TYPE_TENSOR) return fail_at(r, from, "expected a tensor type"), NULL;
  if (i >= r->num_resources)
    return fail_at(r, from, "expected a resource below %zu, found %llu", r->num_resources,
                   (unsigned long long)i),
           NULL;
  return attr_make(r->ctx, dense_resource, .type = t, .key = r->resources[i]);
}

static const attr *read_dense_array(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *t = get_type(r, c);
  u64 n = get_uint(r, c), bytes = 0;
  str data = get_blob(r, c);
  if (r->failed) return NULL;
  bool ok = t->kind == TYPE_INT || t->kind == TYPE_FLOAT;
  ok = ok && (t->width == 1 || t->width == 8 || t->width == 16 || t->width == 32 || t->width == 64);
  if (!ok || !checked_mul(n, (u64)(t->width + 7) / 8, &bytes) || bytes != data.len)
    return fail_at(r, from, "expected the elements of an array, found %zu bytes", data.len), NULL;
  return attr_make(r->ctx, dense_array, .elem = t, .data = data);
}

/* Bits as bytes; the wire packs i1. A single 0xFF or 0 is a splat (or both, of few elements). */
static str unpack_bits(reader *r, str data, i64 n) {
  if (data.len == 1 && (u8)data.data[0] == 0xFF) return STR("\1");
  if ((i64)data.len == n || (i64)data.len != n / 8 + (n % 8 != 0)) return data;
  char *out = arena_alloc(r->arena, (size_t)n);
  for (i64 i = 0; i < n; i++) out[i] = data.data[i / 8] >> (i % 8) & 1;
  return (str){out, (size_t)n};
}

static bool all_same(str data, size_t size) {
  return data.len <= size || memcmp(data.data, data.data + size, data.len - size) == 0;
}

static bool all_bools(str data) {
  for (size_t i = 0; i < data.len; i++)
    if ((u8)data.data[i] > 1) return false;
  return true;
}

const attr *read_dense(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *t = get_type(r, c);
  str data = get_blob(r, c);
  if (r->failed) return NULL;
  i64 n = 0, bytes = 0;
  size_t size = t->kind == TYPE_TENSOR || t->kind == TYPE_VECTOR ? type_storage(t->elem) : 0;
  if (size == 0 || !type_num_elements(t, &n) || !checked_mul(n, (i64)size, &bytes))
    return fail_at(r, from, "expected a shape and a type of elements for a constant"), NULL;
  bool bits = t->elem->kind == TYPE_INT && t->elem->width == 1;
  if (bits) data = unpack_bits(r, data, n);
  bool splat = data.len == size && n > 0;
  if ((!splat && (i64)data.len != bytes) || (bits && !all_bools(data)))
    return fail_at(r, from, "expected %lld bytes of elements or one element of %zu, found %zu",
                   (long long)bytes, size, data.len),
           NULL;
  if (n > 0 && !splat && all_same(data, size)) {
    splat = true;
    data.len = size;
  }
  return attr_dense(r->ctx, t, data, splat, true);
}

static const attr *read_dense_string(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *t = get_type(r, c);
  u64 splat = get_uint(r, c);
  i64 n = 1;
  if (r->failed) return NULL;
  if (t->kind != TYPE_TENSOR || (!splat && !type_num_elements(t, &n)) || (u64)n > cursor_left(c))
    return fail_at(r, from, "expected strings for a constant"), NULL;
  const attr **list = ARENA_ARRAY(r->arena, const attr *, (size_t)n);
  for (i64 i = 0; i < n; i++) list[i] = read_string(r, c);
  return r->failed ? NULL
                   : attr_make(r->ctx, dense_string, .type = t, .elems = {list, (size_t)n},
                               .splat = splat != 0);
}

static const attr *read_unsupported(reader *r, cursor *c) {
  return fail_unimplemented(r, c->at, "sparse and distinct attributes"), NULL;
}

static const attr_code builtin_attrs[] = {
    [0] = BY_FIELDS(array, {'A', 0}),
    [1] = BY_FN(read_dict),
    [2] = BY_FN(read_string),
    [3] = BY_FN(read_typed_string),
    [4] = BY_FN(read_symbol),
    [5] = BY_FN(read_nested_symbol),
    [6] = BY_FIELDS(type_ref, {'t', 0}),
    [7] = BY_FIELDS(unit, {0, 0}),
    [8] = BY_FN(read_integer),
    [9] = BY_FN(read_float),
    [10] = BY_FIELDS(loc_callsite, {'a', WIRE_LOC}, {'a', WIRE_LOC}),
    [11] = BY_FN(read_file_loc),
    [12] = BY_FIELDS(loc_fused, {'A', WIRE_LOC}),
    [13] = BY_FIELDS(loc_fused, {'A', WIRE_LOC}, {'a', 0}),
    [14] = BY_FIELDS(loc_name, {'S', 0}, {'a', WIRE_LOC}),
    [15] = BY_FIELDS(loc_unknown, {0, 0}),
    [16] = BY_FN(read_resource),
    [17] = BY_FN(read_dense_array),
    [18] = BY_FN(read_dense),
    [19] = BY_FN(read_dense_string),
    [20] = BY_FN(read_unsupported),
    [21] = BY_FN(read_unsupported),
    [22] = BY_FN(read_file_range),
};

/* ---- types ---- */

static bool is_element(const type *t) {
  return t->kind == TYPE_INT || t->kind == TYPE_FLOAT || t->kind == TYPE_COMPLEX ||
         t->kind == TYPE_INDEX || t->kind == TYPE_OPAQUE;
}

const type *read_tensor(reader *r, cursor *c, bool encoded) {
  const u8 *from = c->at;
  const attr *encoding = encoded ? get_attr(r, c) : NULL;
  i64s dims = get_ints(r, c);
  const type *elem = get_type(r, c);
  if (r->failed) return NULL;
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] < 0 && dims.data[i] != DYNAMIC)
      return fail_at(r, from, "expected a dimension, found %lld", (long long)dims.data[i]), NULL;
  if (!is_element(elem)) return fail_at(r, from, "expected a type of elements"), NULL;
  return type_tensor(r->ctx, dims, elem, encoding);
}

static const type *read_int_type(reader *r, cursor *c) {
  const u8 *from = c->at;
  u64 v = get_uint(r, c);
  if (r->failed) return NULL;
  if (v >> 2 == 0 || v >> 2 >= 1 << 24 || (v & 3) == 3)
    return fail_at(r, from, "expected a width and sign, found %llu", (unsigned long long)v), NULL;
  return type_int(r->ctx, (u32)(v >> 2), (signedness)(v & 3));
}

static const type *read_complex_type(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *elem = get_type(r, c);
  if (r->failed) return NULL;
  if (elem->kind != TYPE_FLOAT && elem->kind != TYPE_INT)
    return fail_at(r, from, "expected a float type"), NULL;
  return type_complex(r->ctx, elem);
}

static const type *read_function_type(reader *r, cursor *c) {
  types in = get_types(r, c), out = get_types(r, c);
  return r->failed ? NULL : type_function(r->ctx, in, out);
}

static const type *read_tuple_type(reader *r, cursor *c) {
  types elems = get_types(r, c);
  return r->failed ? NULL : type_tuple(r->ctx, elems);
}

static const type *read_unranked_type(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *elem = get_type(r, c);
  if (!r->failed && !is_element(elem)) fail_at(r, from, "expected a type of elements");
  return r->failed ? NULL : type_unranked(r->ctx, elem);
}

static const type *read_vector_type(reader *r, cursor *c) {
  const type *t = read_tensor(r, c, false);
  return t ? type_vector(r->ctx, t->dims, t->elem) : NULL;
}

/* The memref types (10, 11, 16, 17) and scalable vectors (20) have no use here. */
static const type *builtin_type(reader *r, cursor *c, u64 code) {
  static const u8 floats[] = {
      [3] = FLOAT_bf16,
      [4] = FLOAT_f16,
      [5] = FLOAT_f32,
      [6] = FLOAT_f64,
      [7] = FLOAT_f80,
      [8] = FLOAT_f128,
      [21] = FLOAT_tf32,
      [22] = FLOAT_f8E5M2,
      [23] = FLOAT_f8E4M3,
      [24] = FLOAT_f8E4M3FN,
      [25] = FLOAT_f8E5M2FNUZ,
      [26] = FLOAT_f8E4M3FNUZ,
      [27] = FLOAT_f8E4M3B11FNUZ,
      [28] = FLOAT_f8E3M4,
      [29] = FLOAT_f4E2M1FN,
      [30] = FLOAT_f6E2M3FN,
      [31] = FLOAT_f6E3M2FN,
      [32] = FLOAT_f8E8M0FNU,
  };
  if ((code >= 3 && code <= 8) || (code >= 21 && code < COUNT(floats)))
    return type_float(r->ctx, floats[code]);
  switch (code) {
  case 0:
    return read_int_type(r, c);
  case 1:
    return type_index(r->ctx);
  case 2:
    return read_function_type(r, c);
  case 9:
    return read_complex_type(r, c);
  case 12:
    return type_none(r->ctx);
  case 13:
    return read_tensor(r, c, false);
  case 14:
    return read_tensor(r, c, true);
  case 15:
    return read_tuple_type(r, c);
  case 18:
    return read_unranked_type(r, c);
  case 19:
    return read_vector_type(r, c);
  default:
    return NULL;
  }
}

const codec codec_builtin = {builtin_attrs, builtin_type, COUNT(builtin_attrs)};

/* ---- VHLO: the same types, all versioned ---- */

typedef struct scalar_code {
  u8 kind; /* type_kind */
  u8 width, sign, flt;
} scalar_code;
#define INT(width, sign)                                                                           \
  { TYPE_INT, width, sign, 0 }
#define FLT(kind)                                                                                  \
  { TYPE_FLOAT, 0, 0, FLOAT_##kind }

static const scalar_code vhlo_scalars[] = {
    [0] = INT(1, SIGNLESS),   [2] = FLT(bf16),
    [3] = FLT(f16),           [4] = FLT(f32),
    [5] = FLT(f64),           [6] = FLT(f8E4M3FN),
    [7] = FLT(f8E5M2),        [10] = INT(4, SIGNLESS),
    [11] = INT(8, SIGNLESS),  [12] = INT(16, SIGNLESS),
    [13] = INT(32, SIGNLESS), [14] = INT(64, SIGNLESS),
    [15] = INT(4, UNSIGNED),  [16] = INT(8, UNSIGNED),
    [17] = INT(16, UNSIGNED), [18] = INT(32, UNSIGNED),
    [19] = INT(64, UNSIGNED), [27] = FLT(f8E4M3FNUZ),
    [28] = FLT(f8E5M2FNUZ),   [29] = FLT(f8E4M3B11FNUZ),
    [31] = INT(2, SIGNLESS),  [32] = INT(2, UNSIGNED),
    [34] = FLT(tf32),         [35] = FLT(f8E4M3),
    [36] = FLT(f8E3M4),       [37] = FLT(f4E2M1FN),
    [38] = FLT(f6E2M3FN),     [39] = FLT(f6E3M2FN),
    [40] = FLT(f8E8M0FNU),
};

static const type *vhlo_type(reader *r, cursor *c, u64 code) {
  if (code < COUNT(vhlo_scalars) && vhlo_scalars[code].kind == TYPE_INT)
    return type_int(r->ctx, vhlo_scalars[code].width, vhlo_scalars[code].sign);
  if (code < COUNT(vhlo_scalars) && vhlo_scalars[code].kind == TYPE_FLOAT)
    return type_float(r->ctx, vhlo_scalars[code].flt);
  switch (code) {
  case 1:
    return read_complex_type(r, c);
  case 8:
    return read_function_type(r, c);
  case 9:
    return type_index(r->ctx);
  case 20:
    return read_tensor(r, c, false);
  case 21:
    return read_tensor(r, c, true);
  case 22:
    return type_token(r->ctx);
  case 23:
    return read_tuple_type(r, c);
  case 25:
    return read_unranked_type(r, c);
  case 26:
    return type_opaque(r->ctx, STR("shape.witness"));
  case 33:
    return type_none(r->ctx);
  case 24:
  case 30:
    return fail_unimplemented(r, c->at, "quantized types"), NULL;
  case 41:
    return fail_unimplemented(r, c->at, "buffer types"), NULL;
  case 42:
    return fail_unimplemented(r, c->at, "futures"), NULL;
  default:
    return NULL;
  }
}

static const attr *read_bool(reader *r, cursor *c) {
  const u8 *from = c->at;
  u64 v = get_uint(r, c);
  if (!r->failed && v > 1)
    fail_at(r, from, "expected a boolean, found %llu", (unsigned long long)v);
  return r->failed ? NULL : attr_bool(r->ctx, v);
}

static const attr *read_mesh_axes(reader *r, cursor *c) {
  return fail_unimplemented(r, c->at, "replica groups by mesh axes"), NULL;
}

static const attr_code vhlo_attrs[] = {
    [1] = BY_FIELDS(array, {'A', 0}),
    [2] = BY_FN(read_bool),
    [3] = BY_FIELDS(comparison_direction, {'e', 0}),
    [4] = BY_FIELDS(comparison_type, {'e', 0}),
    [5] = BY_FIELDS(custom_call_api_version, {'e', 0}),
    [6] = BY_FN(read_dict),
    [7] = BY_FIELDS(fft_type, {'e', 0}),
    [8] = BY_FN(read_float),
    [9] = BY_FN(read_integer),
    [10] = BY_FIELDS(output_operand_alias, {'I', 0}, {'i', 0}, {'I', 0}),
    [11] = BY_FIELDS(precision, {'e', 0}),
    [12] = BY_FIELDS(rng_algorithm, {'e', 0}),
    [13] = BY_FIELDS(rng_distribution, {'e', 0}),
    [14] = BY_FN(read_string),
    [15] = BY_FN(read_dense),
    [16] = BY_FIELDS(transpose_kind, {'e', 0}),
    [17] = BY_FIELDS(type_ref, {'t', 0}),
    [18] = BY_FIELDS(bounds, {'I', 0}),
    [19] = BY_FIELDS(result_accuracy_mode, {'e', 0}),
    [20] =
        BY_FIELDS(result_accuracy, {'f', 0}, {'f', 0}, {'i', 0}, {'a', WIRE(result_accuracy_mode)}),
    [21] = BY_FN(read_mesh_axes),
    [22] = BY_FN(read_mesh_axes),
    [23] = BY_FN(read_mesh_axes),
    [24] = BY_FN(read_mesh_axes),
    [25] = BY_FN(read_mesh_axes),
};

const codec codec_vhlo = {vhlo_attrs, vhlo_type, COUNT(vhlo_attrs)};
