/* The builtin dialect's attributes and types, and what VHLO's share with them.
 *
 * Codes are those of MLIR's BuiltinDialectBytecode.td and of StableHLO's VhloBytecode.cpp; the
 * tables at the end of each half map a code to a reader, a writer or a list of fields (attr_code in
 * reader.h). A reader checks that parts are of the kind that the attribute needs, because nobody
 * does later: attributes are believed once they exist. */
#include "bytecode/writer.h"

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

/* The width says how the value is on the wire: a byte, a zigzag number, or words of 64 bits
 * (BytecodeFormat.md, "APInt"). */
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

/* Without an end, which 0 says. */
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

/* A number into the resources' section, which was read before. */
static const attr *read_resource(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *t = get_type(r, c);
  u64 i = get_uint(r, c);
  if (r->failed) return NULL;
  if (!type_is_shaped(t)) return fail_at(r, from, "expected a shaped type"), NULL;
  if (i >= r->num_resources)
    return fail_at(r, from, "expected a resource below %zu, found %llu", r->num_resources,
                   (unsigned long long)i),
           NULL;
  return attr_make(r->ctx, dense_resource, .type = t, .key = r->resources[i]);
}

/* Elements of a type without bits, each of which takes memory nonetheless. */
enum { MAX_EMPTY = 1 << 20 };

/* The bytes stay in the file where they can; i1 takes a byte an element here and there. */
static const attr *read_dense_array(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *t = get_type(r, c);
  u64 n = get_uint(r, c), bytes = 0;
  str data = get_blob(r, c);
  if (r->failed) return NULL;
  bool ok = t->kind == TYPE_INT || t->kind == TYPE_FLOAT;
  ok = ok && (t->width == 1 || t->width % 8 == 0);
  if (!ok || !checked_mul(n, (u64)(t->width + 7) / 8, &bytes) || bytes != data.len)
    return fail_at(r, from, "expected the elements of an array, found %zu bytes", data.len), NULL;
  if (!t->width) { /* nothing in the file bounds how many they are */
    if (n > MAX_EMPTY) return fail_at(r, from, "too many elements without bits"), NULL;
    data = (str){arena_zalloc(ir_arena(r->ctx), n), n};
  }
  return attr_make(r->ctx, dense_array, .elem = t, .data = data);
}

/* Bits as bytes; the wire packs i1. A single 0xFF or 0 is a splat (or both, of few elements). */
static str unpack_bits(reader *r, str data, i64 n) {
  if (data.len == 1 && (u8)data.data[0] == 0xFF) return STR("\1");
  if ((i64)data.len == n || (i64)data.len != n / 8 + (n % 8 != 0)) return data;
  char *out = arena_alloc(ir_arena(r->ctx), (size_t)n); /* which is borrowed */
  for (i64 i = 0; i < n; i++) out[i] = data.data[i / 8] >> (i % 8) & 1;
  return (str){out, (size_t)n};
}

static bool all_same(str data, size_t size) {
  return data.len <= size || memcmp(data.data, data.data + size, data.len - size) == 0;
}

/* A byte of 2 would be neither true nor false. */
static bool all_bools(str data) {
  for (size_t i = 0; i < data.len; i++)
    if ((u8)data.data[i] > 1) return false;
  return true;
}

/* Borrowed from the file: bytecode_read's caller keeps it as long as the context. The copy is made
 * only where the wire packs what we keep in bytes. */
const attr *read_dense(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *t = get_type(r, c);
  str data = get_blob(r, c);
  if (r->failed) return NULL;
  i64 n = 0, bytes = 0;
  size_t size = type_is_static_shape(t) ? type_storage(t->elem) : 0;
  if (size == 0 || !type_num_elements(t, &n))
    return fail_at(r, from, "expected a shape and a type of elements for a constant"), NULL;
  if (!checked_mul(n, (i64)size, &bytes)) bytes = -1; /* one number for all of them it may be */
  bool bits = t->elem->kind == TYPE_INT && t->elem->width == 1;
  if (bits) data = unpack_bits(r, data, n);
  if (type_is_empty(t->elem) && !data.len) data = (str){"\0", size};
  bool splat = data.len == size; /* of no elements as well */
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

static const attr *read_sparse(reader *r, cursor *c) {
  const u8 *from = c->at;
  const type *t = get_type(r, c);
  const attr *indices = get_attr(r, c), *values = get_attr(r, c);
  i64 n;
  if (r->failed) return NULL;
  const type *it = attr_dense_type(indices), *vt = attr_dense_type(values);
  bool ok = type_is_static_shape(t) && type_num_elements(t, &n);
  ok = ok && attr_is(dense, indices) && it->elem == type_i64(r->ctx) && vt && vt->elem == t->elem;
  if (!ok || attr_sparse_fault(t, indices, values, &n) != SPARSE_FITS)
    return fail_at(r, from, "expected a shape with indices and values inside"), NULL;
  return attr_make(r->ctx, sparse, .type = t, .indices = indices, .values = values);
}

/* An attribute of its own for each entry of the file; texts give ids from 0 on. */
static const attr *read_distinct(reader *r, cursor *c) {
  const attr *value = get_attr(r, c);
  return r->failed ? NULL : attr_make(r->ctx, distinct, .id = --r->last_distinct, .value = value);
}

/* ---- written ---- */

/* Also the property dictionary of native ops (dict_number), so the code is given. */
static void put_dict(writer *w, const attr *a, u64 code, wire_mode mode) {
  const dict_attr *d = (const dict_attr *)a;
  put_uint(w, code);
  put_uint(w, d->names.len);
  for (size_t i = 0; i < d->names.len; i++) {
    put_attr(w, d->names.data[i], mode);
    put_attr(w, d->values.data[i], mode);
  }
}

/* Untyped and typed have different codes, one after the other; so have symbols without and with
 * nested ones. */
static void put_string(writer *w, const attr *a, u64 code, wire_mode mode) {
  const string_attr *s = (const string_attr *)a;
  bool typed = s->type && s->type->kind != TYPE_NONE;
  put_uint(w, code + typed);
  put_uint(w, intern_string(w, s->value));
  if (typed) put_type(w, s->type, mode);
}

static void put_symbol(writer *w, const attr *a, u64 code, wire_mode mode) {
  const symbol_ref_attr *s = (const symbol_ref_attr *)a;
  put_uint(w, code + (s->nested.len > 0));
  put_attr(w, attr_string(w->ctx, s->root), mode);
  if (s->nested.len) put_uint(w, s->nested.len);
  for (size_t i = 0; i < s->nested.len; i++) put_attr(w, s->nested.data[i], mode);
}

static void put_integer(writer *w, const attr *a, u64 code, wire_mode mode) {
  const integer_attr *n = (const integer_attr *)a;
  put_uint(w, code);
  put_type(w, n->type, mode);
  put_bits(w, n->type->kind == TYPE_INDEX ? 64 : n->type->width, n->value, n->wide);
}

static void put_float(writer *w, const attr *a, u64 code, wire_mode mode) {
  const float_attr *f = (const float_attr *)a;
  put_uint(w, code);
  put_type(w, f->type, mode);
  put_bits(w, f->type->width, f->bits, f->wide);
}

/* Positions have a form of their own; ranges leave out what follows. */
static void put_file_loc(writer *w, const attr *a, u64 code, wire_mode mode) {
  const loc_file_attr *l = (const loc_file_attr *)a;
  bool range = l->end_line || l->end_col;
  put_uint(w, range ? 22 : code);
  put_attr(w, l->file, mode);
  if (range) put_uint(w, l->end_line == l->line ? 3 : 4);
  put_uint(w, (u64)l->line);
  put_uint(w, (u64)l->col);
  if (range && l->end_line != l->line) put_uint(w, (u64)l->end_line);
  if (range) put_uint(w, (u64)l->end_col);
}

static void put_fused(writer *w, const attr *a, u64 code, wire_mode mode) {
  const loc_fused_attr *l = (const loc_fused_attr *)a;
  put_uint(w, code + (l->metadata != NULL));
  put_uint(w, l->locs.len);
  for (size_t i = 0; i < l->locs.len; i++) put_attr(w, l->locs.data[i], mode);
  if (l->metadata) put_attr(w, l->metadata, mode);
}

static void put_resource(writer *w, const attr *a, u64 code, wire_mode mode) {
  const dense_resource_attr *d = (const dense_resource_attr *)a;
  put_uint(w, code);
  put_type(w, d->type, mode);
  put_uint(w, intern_resource(w, d->key));
}

/* The tail is large and ends the entry, so it is not copied to the stack. */
static void put_dense_array(writer *w, const attr *a, u64 code, wire_mode mode) {
  const dense_array_attr *d = (const dense_array_attr *)a;
  put_uint(w, code);
  put_type(w, d->elem, mode);
  put_uint(w, d->data.len / type_storage(d->elem));
  str data = type_is_empty(d->elem) ? STR("") : d->data;
  put_uint(w, data.len);
  put_tail(w, data);
}

/* A bit each; of a splat 0xFF or 0, which no packed bits are taken for. */
static str pack_bits(writer *w, str data, i64 n) {
  if (data.len == 1 && n > 1) return data.data[0] ? STR("\xFF") : data;
  char *out = arena_zalloc(w->arena, data.len / 8 + 1);
  for (size_t i = 0; i < data.len; i++) out[i / 8] |= (char)((data.data[i] != 0) << (i % 8));
  return (str){out, data.len / 8 + (data.len % 8 != 0)};
}

static void put_elements(writer *w, const type *t, str data, i64 n) {
  if (t->elem->kind == TYPE_INT && t->elem->width == 1) data = pack_bits(w, data, n);
  if (type_is_empty(t->elem)) data = STR("");
  put_uint(w, data.len);
  put_tail(w, data);
}

static void put_dense(writer *w, const attr *a, u64 code, wire_mode mode) {
  const dense_attr *d = (const dense_attr *)a;
  i64 n = 0;
  put_uint(w, code);
  put_type(w, d->type, mode);
  type_num_elements(d->type, &n);
  put_elements(w, d->type, d->data, n);
}

static void put_dense_string(writer *w, const attr *a, u64 code, wire_mode mode) {
  const dense_string_attr *d = (const dense_string_attr *)a;
  put_uint(w, code);
  put_type(w, d->type, mode);
  put_uint(w, d->splat);
  for (size_t i = 0; i < d->elems.len; i++)
    put_uint(w, intern_string(w, ((const string_attr *)d->elems.data[i])->value));
}

static void put_distinct(writer *w, const attr *a, u64 code, wire_mode mode) {
  put_uint(w, code);
  put_attr(w, ((const distinct_attr *)a)->value, mode);
  w->alone = true;
}

static const attr_code builtin_attrs[] = {
    [0] = BY_FIELDS(array, {'A', 0}),
    [1] = BOTH(read_dict, dict, put_dict),
    [2] = BOTH(read_string, string, put_string),
    [3] = BY_FN(read_typed_string),
    [4] = BOTH(read_symbol, symbol_ref, put_symbol),
    [5] = BY_FN(read_nested_symbol),
    [6] = BY_FIELDS(type_ref, {'t', 0}),
    [7] = BY_FIELDS(unit, {0, 0}),
    [8] = BOTH(read_integer, integer, put_integer),
    [9] = BOTH(read_float, float, put_float),
    [10] = BY_FIELDS(loc_callsite, {'a', WIRE_LOC}, {'a', WIRE_LOC}),
    [11] = BOTH(read_file_loc, loc_file, put_file_loc),
    [12] = {.put = put_fused, .known = true, .id = ATTR_loc_fused, .fields = {{'A', WIRE_LOC}}},
    [13] = BY_FIELDS(loc_fused, {'A', WIRE_LOC}, {'a', 0}),
    [14] = BY_FIELDS(loc_name, {'S', 0}, {'a', WIRE_LOC}),
    [15] = BY_FIELDS(loc_unknown, {0, 0}),
    [16] = BOTH(read_resource, dense_resource, put_resource),
    [17] = BOTH(read_dense_array, dense_array, put_dense_array),
    [18] = BOTH(read_dense, dense, put_dense),
    [19] = BOTH(read_dense_string, dense_string, put_dense_string),
    [20] = {.fn = read_sparse,
            .known = true,
            .id = ATTR_sparse,
            .fields = {{'t', 0}, {'a', 0}, {'a', 0}}},
    [21] = BOTH(read_distinct, distinct, put_distinct),
    [22] = BY_FN(read_file_range),
};

const codec codec_builtin = {builtin_attrs, read_builtin_type, COUNT(builtin_attrs),
                             put_builtin_type};

/* ---- VHLO: much the same, all versioned ---- */

static const attr *read_bool(reader *r, cursor *c) {
  const u8 *from = c->at;
  u64 v = get_uint(r, c);
  if (!r->failed && v > 1)
    fail_at(r, from, "expected a boolean, found %llu", (unsigned long long)v);
  return r->failed ? NULL : attr_bool(r->ctx, v);
}

/* Booleans are a kind of their own in VHLO (code 2). */
static void put_vhlo_integer(writer *w, const attr *a, u64 code, wire_mode mode) {
  const integer_attr *n = (const integer_attr *)a;
  bool is_bool = n->type->kind == TYPE_INT && n->type->width == 1;
  if (!is_bool) {
    put_integer(w, a, code, mode);
    return;
  }
  put_uint(w, 2);
  put_uint(w, n->value != 0);
}

/* Names of functions are strings, too. */
static void put_vhlo_string(writer *w, const attr *a, u64 code, wire_mode mode) {
  const symbol_ref_attr *s = attr_as(symbol_ref, a);
  (void)mode;
  put_uint(w, code);
  put_uint(w, intern_string(w, s ? s->root : ((const string_attr *)a)->value));
}

/* What VHLO's strings cannot say stays builtin: nested symbols, typed strings. */
static bool takes_string(const attr *a) {
  const symbol_ref_attr *s = attr_as(symbol_ref, a);
  const string_attr *t = attr_as(string, a);
  return s ? s->nested.len == 0 : t && (!t->type || t->type->kind == TYPE_NONE);
}

/* Lists of integers or flags are tensors. */
static void put_vhlo_tensor(writer *w, const attr *a, u64 code, wire_mode mode) {
  const dense_array_attr *l = attr_as(dense_array, a);
  const dense_attr *d = attr_as(dense, a);
  i64 any;
  if (d && d->splat && d->type->elem == type_i1(w->ctx) && type_num_elements(d->type, &any) && !any)
    a = attr_dense(w->ctx, d->type, (str){NULL, 0}, false, false); /* as VHLO drops the splat */
  if (!l) {
    put_dense(w, a, code, mode);
    return;
  }
  i64 n = (i64)(l->data.len / ((l->elem->width + 7) / 8));
  const type *t = type_tensor(w->ctx, (i64s){&n, 1}, l->elem, NULL);
  size_t size = type_storage(l->elem);
  str data = l->data;
  if (n > 1 && !memcmp(data.data, data.data + size, data.len - size)) data.len = size;
  put_uint(w, code);
  put_type(w, t, mode);
  put_elements(w, t, data, n);
}

static bool takes_tensor(const attr *a) {
  const dense_array_attr *l = attr_as(dense_array, a);
  return !l || (l->elem->kind == TYPE_INT && (l->elem->width == 64 || l->elem->width == 1));
}

static const attr_code vhlo_attrs[] = {
    [1] = BY_FIELDS(array, {'A', 0}),
    [2] = BY_FN(read_bool),
    [3] = BY_FIELDS(comparison_direction, {'e', 0}),
    [4] = BY_FIELDS(comparison_type, {'e', 0}),
    [5] = BY_FIELDS(custom_call_api_version, {'e', 0}),
    [6] = BOTH(read_dict, dict, put_dict),
    [7] = BY_FIELDS(fft_type, {'e', 0}),
    [8] = BOTH(read_float, float, put_float),
    [9] = BOTH(read_integer, integer, put_vhlo_integer),
    [10] = BY_FIELDS(output_operand_alias, {'I', 0}, {'i', 0}, {'I', 0}),
    [11] = BY_FIELDS(precision, {'e', 0}),
    [12] = BY_FIELDS(rng_algorithm, {'e', 0}),
    [13] = BY_FIELDS(rng_distribution, {'e', 0}),
    [14] = {read_string, put_vhlo_string, takes_string, true, ATTR_string, {{0, 0}}},
    [15] = {read_dense, put_vhlo_tensor, takes_tensor, true, ATTR_dense, {{0, 0}}},
    [16] = BY_FIELDS(transpose_kind, {'e', 0}),
    [17] = BY_FIELDS(type_ref, {'t', 0}),
    [18] = BY_FIELDS(bounds, {'I', 0}),
    [19] = BY_FIELDS(result_accuracy_mode, {'e', 0}),
    [20] =
        BY_FIELDS(result_accuracy, {'f', 0}, {'f', 0}, {'i', 0}, {'a', WIRE(result_accuracy_mode)}),
    [21] = BY_FIELDS(hlo_sub_axis, {'i', 0}, {'i', 0}),
    [22] = BOTH(read_vhlo_axis_ref, hlo_axis_ref, put_hlo_axis_ref),
    [23] = BOTH(read_vhlo_groups, replica_group_mesh_axes, put_hlo_groups),
    [24] = BY_FIELDS(hlo_mesh_axis, {'S', 0}, {'i', 0}),
    [25] = BOTH(read_vhlo_mesh, hlo_mesh, put_hlo_mesh),
};

const codec codec_vhlo = {vhlo_attrs, read_vhlo_type, COUNT(vhlo_attrs), put_vhlo_type};
