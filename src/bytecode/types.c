/* The types of builtin and VHLO, read and written: codes as in BuiltinDialectBytecode and
 * VhloBytecode.cpp. Types that a text or another builder could not make are refused here, with the
 * same functions that the text asks (bounds_problem, quant_problem). */
#include "bytecode/writer.h"
#include "text/float.h"
#include "text/text.h"

/* ---- builtin ---- */

typedef bool element_fn(const type *);

/* Dimensions and elements. */
static bool read_shape(reader *r, cursor *c, element_fn *is_element, i64s *dims,
                       const type **elem) {
  const u8 *from = c->at;
  *dims = get_ints(r, c);
  *elem = get_type(r, c);
  if (r->failed) return false;
  for (size_t i = 0; i < dims->len; i++)
    if (dims->data[i] < 0 && dims->data[i] != DYNAMIC)
      return fail_at(r, from, "expected a dimension, found %lld", (long long)dims->data[i]);
  return is_element(*elem) || fail_at(r, from, "expected a type of elements");
}

const type *read_tensor(reader *r, cursor *c, bool encoded) {
  const u8 *from = c->at;
  const attr *encoding = encoded ? get_attr(r, c) : NULL;
  i64s dims;
  const type *elem;
  if (!read_shape(r, c, type_is_element, &dims, &elem)) return NULL;
  const type *t = type_tensor(r->ctx, dims, elem, encoding);
  const char *problem = bounds_problem(r->ctx, t);
  return problem ? fail_at(r, from, "%s", problem), NULL : t;
}

/* width << 2 | signedness, as one number. */
static const type *read_int_type(reader *r, cursor *c) {
  const u8 *from = c->at;
  u64 v = get_uint(r, c);
  if (r->failed) return NULL;
  if (v >> 2 > IR_MAX_INT_WIDTH || (v & 3) == 3)
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
  if (!r->failed && !type_is_element(elem)) fail_at(r, from, "expected a type of elements");
  return r->failed ? NULL : type_unranked(r->ctx, elem);
}

static const type *read_vector_type(reader *r, cursor *c) {
  i64s dims;
  const type *elem;
  return read_shape(r, c, type_is_vector_element, &dims, &elem) ? type_vector(r->ctx, dims, elem)
                                                                : NULL;
}

/* Flags come before the shape, so the mask is read for dimensions that are not known yet;
 * read_vector_type checks the rest. */
static const type *read_scalable_vector(reader *r, cursor *c) {
  u32 mask = 0;
  size_t n = get_count(r, c);
  for (size_t i = 0; i < n; i++)
    if (get_byte(r, c) && i < 32) mask |= 1u << i;
  const type *t = read_vector_type(r, c);
  return t ? type_scalable_vector(r->ctx, t->dims, mask, t->elem) : NULL;
}

/* `(d0, d1) -> (d0, d1)` says nothing. */
static bool is_identity(const attr *layout) {
  const affine_map_attr *m = attr_as(affine_map, layout);
  if (!m || m->text.len < 6 || m->text.len % 2) return false;
  size_t n = (m->text.len - 4) / 2;
  return memcmp(m->text.data, m->text.data + n + 4, n) == 0 && !memchr(m->text.data, '[', n);
}

static bool is_layout(const attr *a) { return attr_is(affine_map, a) || attr_is(strided, a); }

static const type *read_memref_type(reader *r, cursor *c, bool space) {
  const u8 *from = c->at;
  const attr *where = space ? get_attr(r, c) : NULL;
  i64s dims;
  const type *elem;
  read_shape(r, c, type_is_memref_element, &dims, &elem);
  const attr *layout = get_attr(r, c);
  if (!r->failed && !is_layout(layout)) fail_at(r, from, "expected the layout of a memref");
  if (!r->failed && where && !attr_is_memory_space(where))
    fail_at(r, from, "expected a memory space");
  if (r->failed) return NULL;
  return type_memref(r->ctx, dims, elem, is_identity(layout) ? NULL : layout, where);
}

static const type *read_unranked_memref(reader *r, cursor *c, bool space) {
  const attr *where = space ? get_attr(r, c) : NULL;
  const type *elem = get_type(r, c);
  return r->failed ? NULL : type_unranked_memref(r->ctx, elem, where);
}

/* By code. 0 is a float kind as well, so gaps are told by ranges of codes. */
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

/* NULL without a report: no such code, which the caller reports with the dialect's name. */
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
  case 10:
  case 11:
    return read_memref_type(r, c, code == 11);
  case 16:
  case 17:
    return read_unranked_memref(r, c, code == 17);
  case 18:
    return read_unranked_type(r, c);
  case 19:
    return read_vector_type(r, c);
  case 20:
    return read_scalable_vector(r, c);
  default:
    return NULL;
  }
}

/* ---- quantized types: of the quant dialect, and the same two in VHLO ---- */

enum { QUANT_FLAG_signed = 1 };

static i64 get_double(reader *r, cursor *c) {
  str wide;
  return get_bits(r, c, 64, &wide);
}

static i64s get_doubles(reader *r, cursor *c) {
  size_t n = get_count(r, c);
  i64 *list = ARENA_ARRAY(r->arena, i64, n);
  for (size_t i = 0; i < n; i++) list[i] = get_double(r, c);
  return (i64s){list, r->failed ? 0 : n};
}

/* What all begin with. u_spelling is no part of the wire: it is how the text would say unsigned
 * storage that is signless. */
static quant quant_start(reader *r, cursor *c, quant_form form, bool expressed) {
  quant q = {.form = form};
  q.is_signed = get_uint(r, c) & QUANT_FLAG_signed;
  q.storage = get_type(r, c);
  if (expressed) q.expressed = get_type(r, c);
  q.u_spelling = q.storage && !q.is_signed && q.storage->sign == SIGNLESS;
  return q;
}

static void quant_range(reader *r, cursor *c, quant *q) {
  q->min = get_int(r, c);
  q->max = get_int(r, c);
}

/* Scales that the expressed type has; the text form asks for that, too. */
static bool scales_fit(const quant *q) {
  double least, most;
  if (q->form == QUANT_ANY || q->form == QUANT_CALIBRATED || q->expressed->kind != TYPE_FLOAT)
    return true;
  float_range((float_kind)q->expressed->flt, &least, &most);
  for (size_t i = 0; i < q->scales.len; i++) {
    double scale = quant_double(q->scales.data[i]);
    if (!(scale >= least && scale <= most)) return false;
  }
  return true;
}

static const type *quant_finish(reader *r, const u8 *from, const quant *q) {
  if (r->failed) return NULL;
  const char *problem = quant_problem(r->ctx, q);
  if (!problem && !scales_fit(q)) problem = "scale out of expressed type range";
  if (problem) return fail_at(r, from, "%s", problem), NULL;
  return type_quant(r->ctx, q);
}

static const type *read_any_quant(reader *r, cursor *c, bool expressed) {
  const u8 *from = c->at;
  quant q = quant_start(r, c, QUANT_ANY, expressed);
  quant_range(r, c, &q);
  return quant_finish(r, from, &q);
}

static const type *read_calibrated(reader *r, cursor *c) {
  const u8 *from = c->at;
  quant q = {.form = QUANT_CALIBRATED};
  q.expressed = get_type(r, c);
  i64 range[2] = {get_double(r, c), get_double(r, c)};
  q.scales = (i64s){range, 2};
  return quant_finish(r, from, &q);
}

static const type *read_uniform(reader *r, cursor *c) {
  const u8 *from = c->at;
  quant q = quant_start(r, c, QUANT_UNIFORM, true);
  i64 scale = get_double(r, c), zero = get_int(r, c);
  q.scales = (i64s){&scale, 1};
  q.zero_points = (i64s){&zero, 1};
  quant_range(r, c, &q);
  return quant_finish(r, from, &q);
}

static const type *read_per_axis(reader *r, cursor *c) {
  const u8 *from = c->at;
  quant q = quant_start(r, c, QUANT_PER_AXIS, true);
  i64 dim = (i64)(get_uint(r, c) & INT32_MAX);
  q.dims = (i64s){&dim, 1};
  quant_range(r, c, &q);
  q.scales = get_doubles(r, c);
  q.zero_points = get_ints(r, c);
  return quant_finish(r, from, &q);
}

/* The elements of a constant as 64-bit integers; of floats, f64 bits. */
static bool block_values(reader *r, const attr *a, i64s *out) {
  const dense_attr *d = attr_as(dense, a);
  i64 n;
  if (!d || !type_num_elements(d->type, &n) || (u64)n > r->bytes.len) return false;
  i64 *list = ARENA_ARRAY(r->arena, i64, n);
  for (i64 i = 0; i < n; i++) {
    if (d->type->elem->kind == TYPE_INT) {
      list[i] = attr_dense_int(a, (size_t)i);
      continue;
    }
    double v;
    float f;
    if (d->type->elem->flt == FLOAT_f64) {
      memcpy(&v, d->data.data + (d->splat ? 0 : 8 * i), 8);
    } else if (d->type->elem->flt == FLOAT_f32) {
      memcpy(&f, d->data.data + (d->splat ? 0 : 4 * i), 4);
      v = f;
    } else {
      return false;
    }
    memcpy(&list[i], &v, 8);
  }
  *out = (i64s){list, (size_t)n};
  return true;
}

static const type *read_sub_channel(reader *r, cursor *c) {
  const u8 *from = c->at;
  quant q = quant_start(r, c, QUANT_SUB_CHANNEL, true);
  quant_range(r, c, &q);
  q.dims = get_ints(r, c);
  q.block_sizes = get_ints(r, c);
  const attr *scales = get_attr(r, c), *zeros = get_attr(r, c);
  if (r->failed) return NULL;
  if (!block_values(r, scales, &q.scales) || !block_values(r, zeros, &q.zero_points) ||
      q.scales.len != q.zero_points.len)
    return fail_at(r, from, "expected scales and zero points"), NULL;
  q.shape = ((const dense_attr *)scales)->type->dims;
  return quant_finish(r, from, &q);
}

const type *read_quant_type(reader *r, cursor *c, u64 code) {
  switch (code) {
  case 1:
  case 2:
    return read_any_quant(r, c, code == 2);
  case 3:
    return read_calibrated(r, c);
  case 4:
    return read_uniform(r, c);
  case 5:
    return read_per_axis(r, c);
  case 6:
    return read_sub_channel(r, c);
  default:
    return NULL;
  }
}

const type *read_future_type(reader *r, cursor *c) {
  types elems = get_types(r, c);
  return r->failed ? NULL : type_future(r->ctx, elems);
}

static const type *read_vhlo_buffer(reader *r, cursor *c) {
  const type *t = read_tensor(r, c, false);
  return t ? type_memref(r->ctx, t->dims, t->elem, NULL, NULL) : NULL;
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

/* By code, those of one number only; kind 0 is no such type. */
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
    return read_uniform(r, c);
  case 30:
    return read_per_axis(r, c);
  case 41:
    return read_vhlo_buffer(r, c);
  case 42:
    return read_future_type(r, c);
  default:
    return NULL;
  }
}

/* ---- written ---- */

enum { CODE_none = 255 };

/* The codes above, by kind; tensors with an encoding have the next one. */
static const u8 shape_codes[][2] = {
    [TYPE_NONE] = {12, 33},
    [TYPE_INDEX] = {1, 9},
    [TYPE_INT] = {0, CODE_none},
    [TYPE_FLOAT] = {CODE_none, CODE_none},
    [TYPE_COMPLEX] = {9, 1},
    [TYPE_TENSOR] = {13, 20},
    [TYPE_UNRANKED] = {18, 25},
    [TYPE_VECTOR] = {19, CODE_none},
    [TYPE_FUNCTION] = {2, 8},
    [TYPE_TUPLE] = {15, 23},
    [TYPE_TOKEN] = {CODE_none, 22},
    [TYPE_FUTURE] = {CODE_none, 42},
    [TYPE_OPAQUE] = {CODE_none, CODE_none},
    [TYPE_QUANT] = {CODE_none, 24},
    [TYPE_MEMREF] = {10, 41},
    [TYPE_UNRANKED_MEMREF] = {16, CODE_none},
    [TYPE_MESH_TENSOR] = {CODE_none, CODE_none},
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

/* With the parts that have a code of their own. */
static u32 builtin_code(const type *t) {
  for (u32 i = 0; t->kind == TYPE_FLOAT && i < COUNT(builtin_floats); i++)
    if (builtin_floats[i] == t->flt && (i < 9 ? i >= 3 && i <= 8 : i >= 21)) return i;
  u32 code = shape_codes[t->kind][MODE_native];
  if (t->kind == TYPE_TENSOR) return code + (t->encoding != NULL);
  if (t->kind == TYPE_VECTOR) return code + (t->scalable != 0);
  if (t->kind == TYPE_MEMREF || t->kind == TYPE_UNRANKED_MEMREF) return code + (t->space != NULL);
  return code;
}

/* CODE_none where VHLO has no word for it: the writer then fails or keeps the builtin type, as its
 * caller says. */
static u32 vhlo_code(const type *t) {
  for (u32 i = 0; i < COUNT(vhlo_scalars); i++) {
    const scalar_code *s = &vhlo_scalars[i];
    bool same = t->kind == TYPE_INT ? s->width == t->width && s->sign == t->sign : s->flt == t->flt;
    if (s->kind == t->kind && s->kind && same) return i;
  }
  u32 code = shape_codes[t->kind][MODE_vhlo];
  if (t->kind == TYPE_TENSOR && t->encoding)
    return attr_is(bounds, t->encoding) ? code + 1 : CODE_none;
  if (t->kind == TYPE_MEMREF && (t->encoding || t->space)) return CODE_none;
  if (t->kind == TYPE_QUANT)
    return t->quant->form == QUANT_UNIFORM ? 24 : t->quant->form == QUANT_PER_AXIS ? 30 : CODE_none;
  return code;
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

static void put_ints(writer *w, i64s list) {
  put_uint(w, list.len);
  for (size_t i = 0; i < list.len; i++) put_int(w, list.data[i]);
}

static void put_range(writer *w, const quant *q) {
  put_int(w, q->min);
  put_int(w, q->max);
}

/* In VHLO. In the quant dialect they are text, which readers without the dialect take as well. */
static void put_quant(writer *w, const quant *q) {
  bool per_axis = q->form == QUANT_PER_AXIS;
  put_uint(w, q->is_signed ? QUANT_FLAG_signed : 0);
  put_type(w, q->storage, MODE_vhlo);
  put_type(w, q->expressed, MODE_vhlo);
  if (per_axis) {
    put_uint(w, (u64)q->dims.data[0]);
    put_range(w, q);
    put_ints(w, q->scales);
    put_ints(w, q->zero_points);
  } else {
    put_int(w, q->scales.data[0]);
    put_int(w, q->zero_points.data[0]);
    put_range(w, q);
  }
}

/* The layout is always on the wire, an identity as a map of as many dimensions; in the IR it is
 * NULL. */
static void put_memref(writer *w, const type *t, wire_mode mode) {
  if (t->space) put_attr(w, t->space, mode);
  if (t->kind == TYPE_UNRANKED_MEMREF) {
    put_type(w, t->elem, mode);
    return;
  }
  put_shape(w, t, mode);
  if (mode == MODE_vhlo) return;
  buf text;
  const attr *layout = t->encoding;
  if (!layout) { /* the identity */
    buf_init(&text, ir_mem(w->ctx));
    for (int part = 0; part < 2; part++) {
      BUF_LIT(&text, "(");
      for (size_t i = 0; i < t->dims.len; i++) buf_printf(&text, i ? ", d%zu" : "d%zu", i);
      buf_printf(&text, part ? ")" : ") -> ");
    }
    layout = attr_make(w->ctx, affine_map, .text = buf_view(&text));
    buf_deinit(&text);
  }
  put_attr(w, layout, mode);
}

static void put_scalable(writer *w, const type *t) {
  if (!t->scalable) return;
  put_uint(w, t->dims.len);
  for (size_t i = 0; i < t->dims.len; i++) put_byte(w, i < 32 && (t->scalable >> i & 1));
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
    put_scalable(w, t);
    put_shape(w, t, mode);
    break;
  case TYPE_MEMREF:
  case TYPE_UNRANKED_MEMREF:
    put_memref(w, t, mode);
    break;
  case TYPE_QUANT:
    put_quant(w, t->quant);
    break;
  case TYPE_FUNCTION:
    put_types(w, type_inputs(t), mode);
    put_types(w, type_results(t), mode);
    break;
  case TYPE_TUPLE:
  case TYPE_FUTURE:
    put_types(w, t->types, mode);
    break;
  default:
    break;
  }
}

bool put_builtin_type(writer *w, const type *t) {
  u32 code = builtin_code(t);
  if (code == CODE_none) return false;
  put_uint(w, code);
  put_type_body(w, t, MODE_native);
  return true;
}

bool put_stablehlo_type(writer *w, const type *t) {
  if (t->kind != TYPE_TOKEN && t->kind != TYPE_FUTURE) return false;
  put_uint(w, t->kind == TYPE_FUTURE);
  put_type_body(w, t, MODE_native);
  return true;
}

bool put_vhlo_type(writer *w, const type *t) {
  u32 code = vhlo_code(t);
  if (code == CODE_none) return false;
  for (size_t i = 0; i < COUNT(vhlo_since); i++)
    if (vhlo_since[i].code == code && w->target < vhlo_since[i].since) return false;
  put_uint(w, code);
  put_type_body(w, t, MODE_vhlo);
  return true;
}
