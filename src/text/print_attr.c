/* Types and builtin attributes as text, byte for byte as MLIR prints them: what stays out (the type
 * of an i64 in a list, `: i1`), when constants become hex, and where aliases stand. A table by kind
 * of attribute has the printers; dialects' attributes are in dialect_print.c and sdy_print.c. */
#include "text/float.h"
#include "text/lexer.h"
#include "text/printer.h"
#include "text/wide.h"

/* ---- types ---- */

static void put_u64(printer *w, u64 v) {
  if (v > INT64_MAX)
    buf_printf(w->out, "%llu", (unsigned long long)v);
  else
    printer_i64(w, (i64)v);
}

static void print_types(printer *w, types t) {
  for (size_t i = 0; i < t.len; i++) {
    if (i) PUT(w, ", ");
    printer_type(w, t.data[i]);
  }
}

/* One result stands without parentheses unless it is a function type, whose own arrow would be
 * ambiguous. */
void printer_function_type(printer *w, types inputs, types results) {
  put_char(w, '(');
  print_types(w, inputs);
  PUT(w, ") -> ");
  bool bare = results.len == 1 && results.data[0]->kind != TYPE_FUNCTION;
  if (!bare) put_char(w, '(');
  print_types(w, results);
  if (!bare) put_char(w, ')');
}

/* Scalable dimensions (of vectors) are bracketed; see type.scalable. */
static void print_dims(printer *w, const type *t) {
  for (size_t i = 0; i < t->dims.len; i++) {
    bool scalable = i < 32 && (t->scalable >> i & 1);
    if (scalable) put_char(w, '[');
    if (t->dims.data[i] == DYNAMIC)
      put_char(w, '?');
    else
      printer_i64(w, t->dims.data[i]);
    if (scalable) put_char(w, ']');
    put_char(w, 'x');
  }
}

static void print_shaped(printer *w, const char *name, const type *t) {
  put(w, str_of(name));
  bool unranked = t->kind == TYPE_UNRANKED || t->kind == TYPE_UNRANKED_MEMREF;
  put(w, unranked ? STR("<*x") : STR("<"));
  print_dims(w, t);
  printer_type(w, t->elem);
  const attr *more[] = {t->encoding, t->space};
  for (size_t i = 0; i < COUNT(more); i++) {
    if (!more[i]) continue;
    PUT(w, ", ");
    printer_attr(w, more[i], t->kind != TYPE_TENSOR);
  }
  put_char(w, '>');
}

void printer_type(printer *w, const type *t) {
  static const char *const signs[] = {"i", "si", "ui"};
  switch ((type_kind)t->kind) {
  case TYPE_NONE:
    PUT(w, "none");
    break;
  case TYPE_INDEX:
    PUT(w, "index");
    break;
  case TYPE_INT:
    put(w, str_of(signs[t->sign]));
    printer_i64(w, t->width);
    break;
  case TYPE_FLOAT:
    put(w, str_of(float_names[t->flt]));
    break;
  case TYPE_COMPLEX:
    PUT(w, "complex<");
    printer_type(w, t->elem);
    put_char(w, '>');
    break;
  case TYPE_TENSOR:
  case TYPE_UNRANKED:
    print_shaped(w, "tensor", t);
    break;
  case TYPE_VECTOR:
    print_shaped(w, "vector", t);
    break;
  case TYPE_MEMREF:
  case TYPE_UNRANKED_MEMREF:
    print_shaped(w, "memref", t);
    break;
  case TYPE_FUNCTION:
    printer_function_type(w, type_inputs(t), type_results(t));
    break;
  case TYPE_TUPLE:
    PUT(w, "tuple<");
    print_types(w, t->types);
    put_char(w, '>');
    break;
  case TYPE_TOKEN:
    PUT(w, "!stablehlo.token");
    break;
  case TYPE_FUTURE:
    PUT(w, "!stablehlo.future<");
    print_types(w, t->types);
    put_char(w, '>');
    break;
  case TYPE_OPAQUE:
    put_char(w, '!');
    put(w, t->text);
    break;
  case TYPE_MESH_TENSOR:
    printer_mesh_tensor(w, t);
    break;
  case TYPE_QUANT:
    printer_quant(w, t->quant);
    break;
  }
}

/* ---- numbers ---- */

/* `true` and `false` for i1; else signed unless the type is unsigned. */
static void print_integer(printer *w, const type *t, u64 bits) {
  u32 width = t->kind == TYPE_INDEX ? 64 : t->width;
  if (t->kind == TYPE_INT && width == 1) {
    put(w, bits & 1 ? STR("true") : STR("false"));
    return;
  }
  if (t->kind == TYPE_INT && t->sign == UNSIGNED) {
    put_u64(w, width >= 64 ? bits : bits & ((1ull << width) - 1));
    return;
  }
  if (width > 0 && width < 64) bits = (u64)((i64)(bits << (64 - width)) >> (64 - width));
  printer_i64(w, (i64)bits);
}

static void print_wide(printer *w, const type *t, const char *bytes) {
  if (t->kind == TYPE_FLOAT)
    float_wide_print(w->out, (float_kind)t->flt, bytes);
  else
    wide_int_print(w->out, t, bytes);
}

/* A constant of a gigabyte leaves through the sink number by number. */
static void print_number(printer *w, const type *t, const char *at, size_t size) {
  u64 bits = 0;
  printer_drain(w);
  if (wide_is(t)) {
    print_wide(w, t, at);
    return;
  }
  memcpy(&bits, at, min_size(size, 8));
  if (t->kind == TYPE_FLOAT && float_is_supported((float_kind)t->flt))
    float_print(w->out, (float_kind)t->flt, bits);
  else
    print_integer(w, t, bits);
}

/* ---- dense ---- */

static void print_element(printer *w, const type *elem, const char *at, size_t size) {
  if (elem->kind != TYPE_COMPLEX) {
    print_number(w, elem, at, size);
    return;
  }
  put_char(w, '(');
  print_number(w, elem->elem, at, size / 2);
  put_char(w, ',');
  print_number(w, elem->elem, at + size / 2, size / 2);
  put_char(w, ')');
}

/* The lists of dimension `level` and inwards; returns the first element not printed. */
static size_t print_nested(printer *w, const dense_attr *d, const type *elem, size_t size,
                           size_t level, size_t at) {
  if (level == d->type->dims.len) {
    print_element(w, elem, d->data.data + at * size, size);
    return at + 1;
  }
  put_char(w, '[');
  for (i64 i = 0; i < d->type->dims.data[level]; i++) {
    if (i) PUT(w, ", ");
    at = print_nested(w, d, elem, size, level + 1, at);
  }
  put_char(w, ']');
  return at;
}

/* Hex goes out in pieces: the text of a large constant is never in memory as a whole. */
enum { HEX_PIECE = 1 << 12 };
void printer_hex(printer *w, str bytes) {
  static const char hex[] = "0123456789ABCDEF";
  char text[HEX_PIECE];
  for (size_t i = 0, n = 0; i < bytes.len; i++) {
    unsigned char c = (unsigned char)bytes.data[i];
    text[n++] = hex[c >> 4];
    text[n++] = hex[c & 15];
    if (n < HEX_PIECE && i + 1 < bytes.len) continue;
    buf_bytes(w->out, text, n);
    printer_drain(w);
    n = 0;
  }
}

static void print_hex(printer *w, str bytes) {
  PUT(w, "\"0x");
  printer_hex(w, bytes);
  put_char(w, '"');
}

enum { HEX_ELEMENTS = 100 }; /* MLIR prints more than these as hex */

/* --mlir-print-elementsattrs-with-hex-if-larger: -1 is never. */
static bool as_hex(const printer *w, i64 n) {
  const print_limit *limit = &w->options.hex_elements;
  return !limit->set ? n > HEX_ELEMENTS : limit->most != -1 && n > limit->most;
}

/* --mlir-elide-elementsattrs-if-larger; splats are short however many elements they stand for. */
static bool is_elided(const printer *w, const type *t, bool splat) {
  const print_limit *limit = &w->options.elide_elements;
  i64 n = 0;
  return limit->set && !splat && type_num_elements(t, &n) && n > limit->most;
}

/* Between the angle brackets; nothing for no elements. */
static void print_dense_body(printer *w, const dense_attr *d, bool hex) {
  const type *elem = d->type->elem;
  size_t size = type_storage(elem);
  i64 n = 0;
  type_num_elements(d->type, &n);
  if (d->splat)
    print_element(w, elem, d->data.data, size);
  else if (hex && as_hex(w, n))
    print_hex(w, d->data);
  else if (n > 0)
    print_nested(w, d, elem, size, 0, 0);
}

static void print_dense(printer *w, const attr *a, bool bare) {
  const dense_attr *d = (const dense_attr *)a;
  if (is_elided(w, d->type, d->splat)) {
    PUT(w, "dense_resource<__elided__>");
  } else {
    PUT(w, "dense<");
    print_dense_body(w, d, true);
    put_char(w, '>');
  }
  if (bare) return;
  PUT(w, " : ");
  printer_type(w, d->type);
}

static size_t print_string_list(printer *w, const dense_string_attr *d, size_t level, size_t at) {
  if (level == d->type->dims.len) {
    printer_attr(w, d->elems.data[at], false);
    return at + 1;
  }
  put_char(w, '[');
  for (i64 i = 0; i < d->type->dims.data[level]; i++) {
    if (i) PUT(w, ", ");
    at = print_string_list(w, d, level + 1, at);
  }
  put_char(w, ']');
  return at;
}

static void print_strings(printer *w, const dense_string_attr *d) {
  if (d->splat)
    printer_attr(w, d->elems.data[0], false);
  else if (d->elems.len)
    print_string_list(w, d, 0, 0);
}

static void print_dense_array(printer *w, const dense_array_attr *d, bool bare) {
  size_t size = type_storage(d->elem), n = size ? d->data.len / size : 0;
  if (bare)
    put_char(w, '[');
  else {
    PUT(w, "array<");
    printer_type(w, d->elem);
    if (n) PUT(w, ": ");
  }
  for (size_t i = 0; i < n; i++) {
    if (i) PUT(w, ", ");
    print_number(w, d->elem, d->data.data + i * size, size);
  }
  put_char(w, bare ? ']' : '>');
}

/* ---- others, by kind: level of type elision in `how` ---- */

/* How much of an attribute's type is printed. FULL: what is needed to read it alone. ELIDE, in
 * lists: i64 and f64 are understood. BARE: in forms that say the type elsewhere. */
typedef enum how { FULL, ELIDE, BARE } how;
typedef void attr_printer(printer *w, const attr *a, how h);

static void attr_unit_(printer *w, const attr *a, how h) {
  (void)a, (void)h;
  PUT(w, "unit");
}

static void typed(printer *w, const type *t) {
  PUT(w, " : ");
  printer_type(w, t);
}

static void attr_integer(printer *w, const attr *a, how h) {
  const integer_attr *i = (const integer_attr *)a;
  const type *t = i->type;
  if (i->wide.len)
    print_wide(w, t, i->wide.data);
  else
    print_integer(w, t, (u64)i->value);
  if (t->kind == TYPE_INT && t->width == 1 && t->sign == SIGNLESS) return;
  if (h == BARE || (h == ELIDE && t->kind == TYPE_INT && t->width == 64 && t->sign == SIGNLESS))
    return;
  typed(w, t);
}

/* f64 in hex keeps its type: without it the digits would be read as an integer. */
static void attr_float(printer *w, const attr *a, how h) {
  const float_attr *f = (const float_attr *)a;
  size_t begin = w->out->len;
  if (f->wide.len)
    print_wide(w, f->type, f->wide.data);
  else
    float_print(w->out, (float_kind)f->type->flt, (u64)f->bits);
  bool hex = !w->out->failed && w->out->len > begin + 1 && w->out->data[begin + 1] == 'x';
  if (h == BARE || (h == ELIDE && f->type->flt == FLOAT_f64 && !hex)) return;
  typed(w, f->type);
}

static void attr_string_(printer *w, const attr *a, how h) {
  const string_attr *s = (const string_attr *)a;
  printer_quoted(w, s->value);
  if (s->type && h != BARE) typed(w, s->type);
}

static void attr_symbol_ref(printer *w, const attr *a, how h) {
  const symbol_ref_attr *s = (const symbol_ref_attr *)a;
  (void)h;
  printer_symbol(w, s->root);
  for (size_t i = 0; i < s->nested.len; i++) {
    PUT(w, "::");
    printer_attr(w, s->nested.data[i], false);
  }
}

static void attr_type_ref(printer *w, const attr *a, how h) {
  (void)h;
  printer_type(w, ((const type_ref_attr *)a)->type);
}

static void attr_array_(printer *w, const attr *a, how h) {
  attrs v = ((const array_attr *)a)->elems;
  (void)h;
  put_char(w, '[');
  for (size_t i = 0; i < v.len; i++) {
    if (i) PUT(w, ", ");
    printer_attr(w, v.data[i], true);
  }
  put_char(w, ']');
}

void printer_named(printer *w, str name, const attr *a) {
  printer_word_or_string(w, name);
  if (attr_is(unit, a)) return;
  PUT(w, " = ");
  printer_attr(w, a, false);
}

static void attr_dict_(printer *w, const attr *a, how h) {
  const dict_attr *d = (const dict_attr *)a;
  (void)h;
  put_char(w, '{');
  for (size_t i = 0; i < d->names.len; i++) {
    if (i) PUT(w, ", ");
    printer_named(w, ((const string_attr *)d->names.data[i])->value, d->values.data[i]);
  }
  put_char(w, '}');
}

static void attr_dense_array(printer *w, const attr *a, how h) {
  print_dense_array(w, (const dense_array_attr *)a, h == BARE);
}

static void attr_dense_(printer *w, const attr *a, how h) { print_dense(w, a, h == BARE); }

static void attr_dense_string(printer *w, const attr *a, how h) {
  const dense_string_attr *d = (const dense_string_attr *)a;
  if (is_elided(w, d->type, d->splat)) {
    PUT(w, "dense_resource<__elided__>");
  } else {
    PUT(w, "dense<");
    print_strings(w, d);
    put_char(w, '>');
  }
  if (h != BARE) typed(w, d->type);
}

/* Rows that are all alike are written out: what one number stands for is one row. */
static void print_indices(printer *w, const dense_attr *d) {
  i64 rows = d->type->dims.data[0], rank = d->type->dims.len > 1 ? d->type->dims.data[1] : 0;
  if (!d->splat || rows < 2) {
    print_dense_body(w, d, false);
    return;
  }
  put_char(w, '[');
  for (i64 r = 0; r < rows; r++) {
    if (r) PUT(w, ", ");
    put_char(w, '[');
    for (i64 k = 0; k < rank; k++) {
      if (k) PUT(w, ", ");
      print_element(w, d->type->elem, d->data.data, type_storage(d->type->elem));
    }
    put_char(w, ']');
  }
  put_char(w, ']');
}

static void attr_sparse(printer *w, const attr *a, how h) {
  const sparse_attr *s = (const sparse_attr *)a;
  const dense_attr *indices = (const dense_attr *)s->indices;
  const dense_attr *values = attr_as(dense, s->values);
  const dense_string_attr *strings = attr_as(dense_string, s->values);
  i64 n = 0;
  type_num_elements(indices->type, &n);
  if (is_elided(w, indices->type, indices->splat) ||
      (values ? is_elided(w, values->type, values->splat)
              : is_elided(w, strings->type, strings->splat))) {
    PUT(w, "dense_resource<__elided__>");
  } else {
    PUT(w, "sparse<");
    if (n > 0) {
      print_indices(w, indices);
      PUT(w, ", ");
      if (values)
        print_dense_body(w, values, true);
      else
        print_strings(w, strings);
    }
    put_char(w, '>');
  }
  if (h != BARE) typed(w, s->type);
}

static void attr_dense_resource(printer *w, const attr *a, how h) {
  const dense_resource_attr *d = (const dense_resource_attr *)a;
  printer_note_resource(w, d->key);
  PUT(w, "dense_resource<");
  printer_word_or_string(w, d->key);
  put_char(w, '>');
  if (h != BARE) typed(w, d->type);
}

/* #dialect.text where the text can stand so, else #dialect<text>. */
static void attr_opaque(printer *w, const attr *a, how h) {
  const opaque_attr *o = (const opaque_attr *)a;
  bool pretty = str_is_pretty_symbol(o->text);
  put_char(w, '#');
  put(w, o->dialect);
  put_char(w, pretty ? '.' : '<');
  put(w, o->text);
  if (!pretty) put_char(w, '>');
  if (o->type && h != BARE) typed(w, o->type);
}

static void attr_affine_map(printer *w, const attr *a, how h) {
  (void)h;
  PUT(w, "affine_map<");
  put(w, ((const affine_map_attr *)a)->text);
  put_char(w, '>');
}

static void attr_affine_set(printer *w, const attr *a, how h) {
  (void)h;
  PUT(w, "affine_set<");
  put(w, ((const affine_set_attr *)a)->text);
  put_char(w, '>');
}

/* Numbered in the order of printing. */
static void attr_distinct(printer *w, const attr *a, how h) {
  (void)h;
  ptr_pair *known = index_pair(&w->distinct, a);
  size_t number = known ? (uintptr_t)known->value : w->distinct.count;
  if (!known && w->forms.a) index_set(&w->distinct, w->forms.a, a, (void *)(uintptr_t)number);
  PUT(w, "distinct[");
  printer_i64(w, (i64)number);
  PUT(w, "]<");
  const attr *value = ((const distinct_attr *)a)->value;
  if (!attr_is(unit, value)) printer_attr(w, value, false);
  put_char(w, '>');
}

static void put_or_any(printer *w, i64 v) {
  if (v == DYNAMIC)
    put_char(w, '?');
  else
    printer_i64(w, v);
}

static void attr_strided(printer *w, const attr *a, how h) {
  const strided_attr *s = (const strided_attr *)a;
  (void)h;
  PUT(w, "strided<[");
  for (size_t i = 0; i < s->strides.len; i++) {
    if (i) PUT(w, ", ");
    put_or_any(w, s->strides.data[i]);
  }
  put_char(w, ']');
  if (s->offset) {
    PUT(w, ", offset: ");
    put_or_any(w, s->offset);
  }
  put_char(w, '>');
}

static void attr_loc(printer *w, const attr *a, how h) {
  (void)h;
  printer_loc(w, a);
}

/* Enums that MLIR holds as plain integers; parse_attr.c knows them too. */
static void attr_integer_enum(printer *w, const attr *a, how h) {
  printer_i64(w, ((const custom_call_api_version_attr *)a)->value);
  if (h != BARE) PUT(w, " : i32");
}

static attr_printer *const printer_of[ATTR_COUNT] = {
    [ATTR_unit] = attr_unit_,
    [ATTR_integer] = attr_integer,
    [ATTR_float] = attr_float,
    [ATTR_string] = attr_string_,
    [ATTR_symbol_ref] = attr_symbol_ref,
    [ATTR_type_ref] = attr_type_ref,
    [ATTR_array] = attr_array_,
    [ATTR_dict] = attr_dict_,
    [ATTR_dense_array] = attr_dense_array,
    [ATTR_dense] = attr_dense_,
    [ATTR_dense_string] = attr_dense_string,
    [ATTR_sparse] = attr_sparse,
    [ATTR_dense_resource] = attr_dense_resource,
    [ATTR_opaque] = attr_opaque,
    [ATTR_affine_map] = attr_affine_map,
    [ATTR_affine_set] = attr_affine_set,
    [ATTR_strided] = attr_strided,
    [ATTR_distinct] = attr_distinct,
    [ATTR_loc_unknown] = attr_loc,
    [ATTR_loc_file] = attr_loc,
    [ATTR_loc_name] = attr_loc,
    [ATTR_loc_callsite] = attr_loc,
    [ATTR_loc_fused] = attr_loc,
    [ATTR_custom_call_api_version] = attr_integer_enum,
    [ATTR_propagation_direction] = attr_integer_enum,
    [ATTR_reduction_op] = attr_integer_enum,
};

/* Aliases first: an attribute that has one is named wherever it stands. */
static void print(printer *w, const attr *a, how h) {
  if (printer_alias(w, a)) return;
  if (printer_of[a->id])
    printer_of[a->id](w, a, h);
  else
    printer_dialect_attr(w, a);
}

void printer_attr_itself(printer *w, const attr *a) { printer_of[a->id](w, a, FULL); }
void printer_attr(printer *w, const attr *a, bool elide) { print(w, a, elide ? ELIDE : FULL); }
void printer_attr_bare(printer *w, const attr *a) { print(w, a, BARE); }

/* A printer without a module: no aliases, no names of values. */
void text_print_attr(buf *out, const attr *a) {
  printer w = {.out = out};
  printer_attr(&w, a, false);
}

void text_print_type(buf *out, const type *t) {
  printer w = {.out = out};
  printer_type(&w, t);
}

const char *text_show_attr(arena *to, const attr *a) {
  buf b;
  buf_init(&b, to->mem);
  text_print_attr(&b, a);
  return buf_take(&b, to).data;
}

const char *text_show_type(arena *to, const type *t) {
  buf b;
  buf_init(&b, to->mem);
  text_print_type(&b, t);
  return buf_take(&b, to).data;
}

const char *text_show_i64s(arena *to, i64s v) {
  buf b;
  buf_init(&b, to->mem);
  printer w = {.out = &b};
  printer_i64s(&w, v, false);
  return buf_take(&b, to).data;
}
