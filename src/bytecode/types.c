/* The types of builtin and VHLO, read and written. */
#include "bytecode/writer.h"

/* ---- builtin ---- */

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

static const u8 builtin_floats[] = {
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

/* The memref types (10, 11, 16, 17) and scalable vectors (20) have no use here. */
const type *read_builtin_type(reader *r, cursor *c, u64 code) {
  if ((code >= 3 && code <= 8) || (code >= 21 && code < COUNT(builtin_floats)))
    return type_float(r->ctx, builtin_floats[code]);
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

const type *read_vhlo_type(reader *r, cursor *c, u64 code) {
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

/* ---- written ---- */

enum { CODE_none = 255 };

/* The codes above, by kind; tensors with an encoding have the next one. */
static const u8 shape_codes[][2] = {
    [TYPE_NONE] = {12, 33},         [TYPE_INDEX] = {1, 9},
    [TYPE_INT] = {0, CODE_none},    [TYPE_FLOAT] = {CODE_none, CODE_none},
    [TYPE_COMPLEX] = {9, 1},        [TYPE_TENSOR] = {13, 20},
    [TYPE_UNRANKED] = {18, 25},     [TYPE_VECTOR] = {19, CODE_none},
    [TYPE_FUNCTION] = {2, 8},       [TYPE_TUPLE] = {15, 23},
    [TYPE_TOKEN] = {CODE_none, 22},
};

/* Types of VHLO that came after its first version; see the comment in vhlo.def. */
static const struct {
  u8 code;
  u32 since;
} vhlo_since[] = {
    {27, WRITE_V(0, 10)}, {28, WRITE_V(0, 10)}, {29, WRITE_V(0, 11)}, {30, WRITE_V(0, 18)},
    {31, WRITE_V(1, 2)},  {32, WRITE_V(1, 2)},  {33, WRITE_V(1, 6)},  {34, WRITE_V(1, 6)},
    {35, WRITE_V(1, 7)},  {36, WRITE_V(1, 7)},  {37, WRITE_V(1, 8)},  {38, WRITE_V(1, 8)},
    {39, WRITE_V(1, 8)},  {40, WRITE_V(1, 8)},  {41, WRITE_V(1, 13)}, {42, WRITE_V(1, 15)},
};

static u32 builtin_code(const type *t) {
  for (u32 i = 0; t->kind == TYPE_FLOAT && i < COUNT(builtin_floats); i++)
    if (builtin_floats[i] == t->flt && (i < 9 ? i >= 3 && i <= 8 : i >= 21)) return i;
  return t->kind < COUNT(shape_codes) ? shape_codes[t->kind][MODE_native] : CODE_none;
}

static u32 vhlo_code(const type *t) {
  for (u32 i = 0; i < COUNT(vhlo_scalars); i++) {
    const scalar_code *s = &vhlo_scalars[i];
    bool same = t->kind == TYPE_INT ? s->width == t->width && s->sign == t->sign : s->flt == t->flt;
    if (s->kind == t->kind && s->kind && same) return i;
  }
  return t->kind < COUNT(shape_codes) ? shape_codes[t->kind][MODE_vhlo] : CODE_none;
}

static void put_types(writer *w, types list, wire_mode mode) {
  put_uint(w, list.len);
  for (size_t i = 0; i < list.len; i++) put_type(w, list.data[i], mode);
}

static void put_shape(writer *w, const type *t, wire_mode mode) {
  put_uint(w, t->dims.len);
  for (size_t i = 0; i < t->dims.len; i++) put_int(w, t->dims.data[i]);
  put_type(w, t->elem, mode);
}

static void put_type_body(writer *w, const type *t, wire_mode mode) {
  switch ((type_kind)t->kind) {
  case TYPE_INT:
    if (mode == MODE_native) put_uint(w, (u64)t->width << 2 | t->sign);
    break;
  case TYPE_COMPLEX:
  case TYPE_UNRANKED:
    put_type(w, t->elem, mode);
    break;
  case TYPE_TENSOR:
    if (t->encoding) put_attr(w, t->encoding, mode);
    put_shape(w, t, mode);
    break;
  case TYPE_VECTOR:
    put_shape(w, t, mode);
    break;
  case TYPE_FUNCTION:
    put_types(w, type_inputs(t), mode);
    put_types(w, type_results(t), mode);
    break;
  case TYPE_TUPLE:
    put_types(w, t->types, mode);
    break;
  default:
    break;
  }
}

bool put_builtin_type(writer *w, const type *t) {
  u32 code = builtin_code(t);
  if (code == CODE_none) return false;
  put_uint(w, code + (t->kind == TYPE_TENSOR && t->encoding));
  put_type_body(w, t, MODE_native);
  return true;
}

bool put_vhlo_type(writer *w, const type *t) {
  u32 code = vhlo_code(t);
  if (code == CODE_none || (t->encoding && !attr_is(bounds, t->encoding))) return false;
  for (size_t i = 0; i < COUNT(vhlo_since); i++)
    if (vhlo_since[i].code == code && w->target < vhlo_since[i].since) return false;
  put_uint(w, code + (t->kind == TYPE_TENSOR && t->encoding));
  put_type_body(w, t, MODE_vhlo);
  return true;
}
