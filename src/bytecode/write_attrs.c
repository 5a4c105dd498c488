/* Attributes and types of the file: each encoded once, when it is first referred to.
 *
 * Numbers in a section are in the order of first reference, and entries refer to each other by
 * number, so an entry must be encoded as a whole before it gets its own: nested ones first.
 * w->stack holds the bytes of all entries that are begun; finishing one takes its bytes off the top
 * (see "Attributes and Types" in MLIR's BytecodeFormat.md: sections 2 and 3). */
#include "bytecode/writer.h"
#include "text/text.h"

/* ---- entries ---- */

/* Takes what the stack has from `begin` for an entry: a known one with these bytes, or a new one.
 * *size: for the offset section, length << 1 | custom encoding; 0 if it is known. `alone`: not to
 * be one with others; `tail`: what was too large for the stack, such as the data of a constant. */
static u32 finish(writer *w, interner *table, rope *data, size_t begin, u32 dialect, bool custom,
                  u64 *size) {
  str bytes = {(const char *)w->stack.data + begin, w->stack.len - begin};
  bool added = false;
  u32 tag = dialect << 1 | custom, n;
  if (w->alone) {
    VEC_PUSH(w->arena, table->items, (interned){{"", 0}, 0, tag});
    n = (u32)table->items.len - 1;
    added = true;
  } else {
    n = intern_bytes(w, table, bytes, tag, &added);
  }
  *size = 0;
  if (added) {
    if (!w->alone) bytes = table->items.data[n].bytes; /* which stays */
    rope_bytes(data, bytes.data, bytes.len);
    rope_bytes(data, w->tail.data, w->tail.len);
    *size = (u64)(bytes.len + w->tail.len) << 1 | custom;
  }
  w->tail = (str){NULL, 0};
  w->alone = false;
  w->stack.len = begin;
  return n;
}

static u32 finish_attr(writer *w, size_t begin, str dialect, bool custom) {
  u64 size;
  u32 d = intern_dialect(w, dialect);
  u32 n = finish(w, &w->attrs, &w->attr_data, begin, d, custom, &size);
  if (size) VEC_PUSH(w->arena, w->attr_sizes, size);
  return n;
}

static u32 finish_type(writer *w, size_t begin, str dialect, bool custom) {
  u64 size;
  u32 d = intern_dialect(w, dialect);
  u32 n = finish(w, &w->types, &w->type_data, begin, d, custom, &size);
  if (size) VEC_PUSH(w->arena, w->type_sizes, size);
  return n;
}

u32 entry_number(writer *w, str dialect, put_entry_fn *put, const void *what) {
  size_t begin = w->stack.len;
  put(w, what);
  return finish_attr(w, begin, dialect, true);
}

/* Attributes nest by the text's choosing; recursion is bounded as the readers' is. */
static bool enter(writer *w) {
  if (w->depth >= IR_MAX_NESTING)
    return cannot_write(w, "an attribute nested more than %d deep", IR_MAX_NESTING);
  w->depth++;
  return true;
}

/* ---- attributes ---- */

static str dialect_of(const attr_info *info) {
  const char *dot = strchr(info->name, '.');
  return dot ? (str){info->name, (size_t)(dot - info->name)} : STR("builtin");
}

/* Letters are those of attr_code.fields (writer.h). */
static void put_field(writer *w, wire_field f, const void *from, wire_mode mode) {
  switch (f.how) {
  case 'i':
    put_int(w, *(const i64 *)from);
    break;
  case 'u':
  case 'e':
    put_uint(w, (u64) * (const i64 *)from);
    break;
  case 'p':
    put_flagged(w, *(const i64 *)from < 0 ? 0 : (u64) * (const i64 *)from, *(const i64 *)from >= 0);
    break;
  case 'f':
    put_bits(w, 64, *(const i64 *)from, (str){"", 0});
    break;
  case 'b':
    put_byte(w, *(const bool *)from);
    break;
  case 'I': {
    const i64s *list = from;
    put_uint(w, list->len);
    for (size_t i = 0; i < list->len; i++) put_int(w, list->data[i]);
    break;
  }
  case 's':
    put_uint(w, intern_string(w, *(const str *)from));
    break;
  case 't':
    put_type(w, *(const type *const *)from, mode);
    break;
  case 'S':
    put_attr(w, attr_string(w->ctx, *(const str *)from), mode);
    break;
  case 'a':
    put_attr(w, *(const attr *const *)from, mode);
    break;
  default: {
    const attrs *list = from;
    put_uint(w, list->len);
    for (size_t i = 0; i < list->len; i++) put_attr(w, list->data[i], mode);
  }
  }
}

/* With the code in front, by the fields or by the code's own function. */
static void put_coded(writer *w, const attr *a, const attr_code *how, u64 code, wire_mode mode) {
  if (how->put) {
    how->put(w, a, code, mode);
    return;
  }
  put_uint(w, code);
  const field_info *f = attr_infos[a->id].cases ? NULL : attr_infos[a->id].fields();
  if (!f) {
    put_uint(w, (u64)((const precision_attr *)a)->value);
    return;
  }
  for (const wire_field *field = how->fields; field->how && f->name; field++, f++)
    put_field(w, *field, (const char *)a + f->offset, mode);
}

static dialect_kind kind_of(str dialect) {
  static const char *const names[] = {"builtin", "sdy", "vhlo", "stablehlo", "chlo", "quant"};
  for (size_t i = 0; i < COUNT(names); i++)
    if (str_is(dialect, names[i])) return (dialect_kind)i;
  return DIALECT_other;
}

/* As the dialect's text, where it has no encoding of its own; it ends at a zero. */
static void put_text(writer *w, const attr *a, const type *t) {
  buf text;
  buf_init(&text, ir_mem(w->ctx));
  if (a)
    text_print_attr(&text, a);
  else
    text_print_type(&text, t);
  bool ok = buf_ok(&text);
  if (ok && text.len && memchr(text.data, 0, text.len))
    cannot_write(w, "%s with a zero byte in its text", a ? "an attribute" : "a type");
  if (ok) put_bytes(w, text.data, text.len);
  buf_deinit(&text);
  if (!ok) arena_oom(w->arena);
  put_byte(w, 0);
}

/* An attribute of a dialect without an encoding here is its text, with the dialect that it belongs
 * to, as MLIR's writer does for dialects without a bytecode interface. */
static u32 encode_native(writer *w, const attr *a) {
  size_t begin = w->stack.len;
  const attr_info *info = &attr_infos[a->id];
  const opaque_attr *o = attr_as(opaque, a);
  str dialect = o ? o->dialect : dialect_of(info);
  dialect_kind kind = o ? DIALECT_other : kind_of(dialect);
  u32 code = kind == DIALECT_other ? 0 : w->codes[kind][a->id];
  if (code)
    put_coded(w, a, &w->codecs[kind]->attrs[code - 1], code - 1, MODE_native);
  else
    put_text(w, a, NULL);
  return finish_attr(w, begin, dialect, code != 0);
}

/* In VHLO; what it has no word for stays as it is, if that may be. */
static u32 encode_vhlo(writer *w, const attr *a) {
  static const struct {
    u8 code;
    u32 since;
  } since[] = {{19, WRITE_V(1, 9)},  {20, WRITE_V(1, 9)},  {21, WRITE_V(1, 16)},
               {22, WRITE_V(1, 16)}, {23, WRITE_V(1, 16)}, {24, WRITE_V(1, 16)},
               {25, WRITE_V(1, 16)}};
  size_t begin = w->stack.len;
  u32 code = w->codes[DIALECT_vhlo][a->id];
  const attr_code *how = code ? &w->codecs[DIALECT_vhlo]->attrs[code - 1] : NULL;
  bool ours = str_is(dialect_of(&attr_infos[a->id]), "stablehlo");
  if (!how || (how->takes && !how->takes(a))) {
    if (!ours && !w->strict) return attr_number(w, a, MODE_native);
    cannot_write(w, "attribute '%s'", attr_infos[a->id].name);
    return 0;
  }
  for (size_t i = 0; i < COUNT(since); i++)
    if (since[i].code == code - 1 && w->target < since[i].since)
      cannot_write(w, "attribute '%s'", attr_infos[a->id].name);
  put_coded(w, a, how, code - 1, MODE_vhlo);
  return finish_attr(w, begin, STR("vhlo"), true);
}

/* By address first, by bytes then: attributes that are not unique in the context may still be one
 * on the wire. */
u32 attr_number(writer *w, const attr *a, wire_mode mode) {
  u64 key = (u64)(uintptr_t)a;
  u32 n = ptr_map_get(&w->attr_numbers[mode], key);
  if (n != UINT32_MAX || w->failed || !enter(w)) return n;
  n = mode == MODE_vhlo ? encode_vhlo(w, a) : encode_native(w, a);
  w->depth--;
  if (!w->failed) ptr_map_set(w, &w->attr_numbers[mode], key, n);
  return n;
}

/* The code of builtin's DictionaryAttr, from entries that are in no attribute. */
u32 dict_number(writer *w, const named_attr *entries, size_t n, wire_mode mode) {
  size_t begin = w->stack.len;
  put_uint(w, 1);
  put_uint(w, n);
  for (size_t i = 0; i < n && !w->failed; i++) {
    put_attr(w, entries[i].name, MODE_native);
    put_attr(w, entries[i].value, mode);
  }
  return finish_attr(w, begin, STR("builtin"), true);
}

void put_attr(writer *w, const attr *a, wire_mode mode) { put_uint(w, attr_number(w, a, mode)); }

/* Enums that MLIR holds as i32 in properties. */
const attr *native_slot_value(ir_ctx *c, const attr *a) {
  bool is_number = attr_is(custom_call_api_version, a) || attr_is(propagation_direction, a) ||
                   attr_is(reduction_op, a);
  return is_number ? attr_int(c, type_i32(c), ((const precision_attr *)a)->value) : a;
}

/* ---- types ---- */

/* Builtin, then stablehlo's tokens and futures, then text. */
static u32 encode_native_type(writer *w, const type *t) {
  size_t begin = w->stack.len;
  if (w->codecs[DIALECT_builtin]->put_type(w, t))
    return finish_type(w, begin, STR("builtin"), true);
  if (w->codecs[DIALECT_stablehlo]->put_type(w, t))
    return finish_type(w, begin, STR("stablehlo"), true);
  str dialect = t->kind == TYPE_QUANT         ? STR("quant")
                : t->kind == TYPE_MESH_TENSOR ? STR("mpmd")
                                              : (str){t->text.data, 0};
  if (t->kind == TYPE_OPAQUE)
    while (dialect.len < t->text.len && !strchr(".<", dialect.data[dialect.len])) dialect.len++;
  put_text(w, NULL, t);
  return finish_type(w, begin, dialect, false);
}

static u32 encode_vhlo_type(writer *w, const type *t) {
  size_t begin = w->stack.len;
  if (w->codecs[DIALECT_vhlo]->put_type(w, t)) return finish_type(w, begin, STR("vhlo"), true);
  buf text;
  buf_init(&text, ir_mem(w->ctx));
  text_print_type(&text, t);
  cannot_write(w, "type %s", buf_cstr(&text));
  buf_deinit(&text);
  return 0;
}

u32 type_number(writer *w, const type *t, wire_mode mode) {
  u64 key = (u64)(uintptr_t)t;
  u32 n = ptr_map_get(&w->type_numbers[mode], key);
  if (n != UINT32_MAX || w->failed || !enter(w)) return n;
  n = mode == MODE_vhlo ? encode_vhlo_type(w, t) : encode_native_type(w, t);
  w->depth--;
  if (!w->failed) ptr_map_set(w, &w->type_numbers[mode], key, n);
  return n;
}

void put_type(writer *w, const type *t, wire_mode mode) { put_uint(w, type_number(w, t, mode)); }
