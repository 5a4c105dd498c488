/* Builtin attributes, dictionaries, aliases, resources.
 *
 * parser_attr dispatches on the first token, as MLIR's grammar of attribute values does; types are
 * attributes too, so a word that begins no attribute is tried as a type. `expected` is the type
 * that a number without one has. */
#include <stdlib.h>

#include "text/float.h"
#include "text/parser.h"
#include "text/wide.h"

/* ---- numbers ---- */

static u64 low_bits(u64 v, u32 width) { return width >= 64 ? v : v & ((1ull << width) - 1); }

/* Bits as wide as the type. Signless types take what either reading of the bits can say, signed
 * ones and index a positive number only below the sign bit. false: out of range. */
bool parser_int_bits(str literal, bool minus, const type *t, u64 *bits) {
  u64 v;
  u32 width = t->kind == TYPE_INDEX ? 64 : t->width;
  bool is_signed = t->kind == TYPE_INDEX || t->sign == SIGNED;
  if (!parser_u64(literal, &v) || low_bits(v, width) != v) return false;
  if (width == 0) return !minus && (*bits = 0, true);
  u64 top = width > 64 ? 0 : 1ull << (width - 1);
  if (minus) {
    v = low_bits(0 - v, width);
    if (width > 64 || !(v & top)) return false; /* -0 too, as in MLIR */
  } else if (is_signed && (v & top)) {
    return false;
  }
  *bits = v;
  return true;
}

/* An integer literal that is to be the bits of a float. */
static bool is_hex_float(parser *p, const token *literal, bool minus) {
  if (!(literal->text.len > 2 && literal->text.data[1] == 'x'))
    return parser_error(p, literal,
                        "unexpected decimal integer literal for a floating point value");
  if (minus)
    return parser_error(p, literal, "hexadecimal float literal should not have a leading minus");
  return true;
}

bool parser_float_bits(parser *p, const token *literal, bool minus, const type *t, u64 *bits) {
  float_kind kind = (float_kind)t->flt;
  if (literal->kind == TOK_FLOAT) {
    *bits = float_from_literal(kind, literal->text, minus);
    return true;
  }
  if (!is_hex_float(p, literal, minus)) return false;
  u64 v;
  if (!parser_u64(literal->text, &v) || low_bits(v, t->width) != v)
    return parser_error(p, literal, "hexadecimal float constant out of range for type");
  *bits = v;
  return true;
}

/* For types of more than 64 bits, into out[type_storage(t)]; `of` is for the message. */
bool parser_wide_number(parser *p, const token *literal, bool minus, const type *t, const char *of,
                        char *out) {
  if (t->kind == TYPE_INT)
    return wide_int_from_literal(p->scratch, literal->text, minus, t, out) ||
           parser_error(p, literal, "integer constant out of range for %s", of);
  if (literal->kind == TOK_FLOAT)
    return float_wide_from_literal((float_kind)t->flt, literal->text, minus, out), true;
  if (!is_hex_float(p, literal, minus)) return false;
  return wide_bits_from_hex(literal->text, type_storage(t), out) ||
         parser_error(p, literal, "hexadecimal float constant out of range for type");
}

/* Integer attributes hold their value sign-extended, however it was written. */
static i64 extend(u64 bits, const type *t) {
  u32 width = t->kind == TYPE_INDEX ? 64 : t->width;
  if (width == 0 || width >= 64 || (t->kind == TYPE_INT && t->sign == UNSIGNED)) return (i64)bits;
  return (i64)(bits << (64 - width)) >> (64 - width);
}

/* The minus has been read. A type behind the number counts only if none is expected. */
const attr *parser_number(parser *p, const type *t, bool minus) {
  token lit = p->tok;
  u64 bits;
  if (!at(p, TOK_INT) && !at(p, TOK_FLOAT))
    return parser_expect(p, TOK_INT, "expected constant integer or floating point value"), NULL;
  parser_next(p);
  if (!t && parser_accept(p, ':')) {
    t = parser_type(p);
    if (!t) return NULL;
  }
  if (!t) t = lit.kind == TOK_INT ? type_i64(p->ctx) : type_float(p->ctx, FLOAT_f64);
  if (t->kind == TYPE_FLOAT && !wide_is(t)) {
    if (!parser_float_bits(p, &lit, minus, t, &bits)) return NULL;
    return attr_make(p->ctx, float, .type = t, .bits = (i64)bits);
  }
  bool is_float = t->kind == TYPE_FLOAT;
  if (!is_float && (lit.kind == TOK_FLOAT || (t->kind != TYPE_INT && t->kind != TYPE_INDEX))) {
    parser_error(p, &lit,
                 lit.kind == TOK_FLOAT ? "floating point value not valid for specified type"
                                       : "integer literal not valid for specified type");
    return NULL;
  }
  if (minus && t->kind == TYPE_INT && t->sign == UNSIGNED)
    return parser_error(p, &lit, "negative integer literal not valid for unsigned integer type"),
           NULL;
  if (wide_is(t)) {
    str wide = {arena_alloc(p->scratch, type_storage(t)), type_storage(t)};
    if (!parser_wide_number(p, &lit, minus, t, "attribute", (char *)wide.data)) return NULL;
    return is_float ? attr_make(p->ctx, float, .type = t, .wide = wide)
                    : attr_make(p->ctx, integer, .type = t, .wide = wide);
  }
  if (!parser_int_bits(lit.text, minus, t, &bits))
    return parser_error(p, &lit, "integer constant out of range for attribute"), NULL;
  return attr_int(p->ctx, t, extend(bits, t));
}

/* ---- lists ---- */

static bool attr_item(parser *p, void *user) {
  attr_vec *v = user;
  const attr *a = parser_attr(p, NULL);
  if (!a) return false;
  VEC_PUSH(p->scratch, *v, a);
  return true;
}

static const attr *array(parser *p) {
  attr_vec v = {0};
  parser_next(p);
  if (!at(p, ']')) do {
      if (!attr_item(p, &v)) return NULL;
    } while (parser_accept(p, ','));
  if (!parser_expect(p, ']', "expected ',' or ']'")) return NULL;
  return attr_array(p->ctx, (attrs){v.data, v.len});
}

/* The entries of a dictionary; a table of the keys once there are many. */
typedef struct entries {
  VEC(named_attr) v;
  name_map keys;
} entries;

static str key_of(const named_attr *n) { return ((const string_attr *)n->name)->value; }

/* Names are unique attributes, so a few are compared by pointer; for many there is a table, or a
 * dictionary of n entries would take n^2. */
static bool is_there(parser *p, entries *e, const attr *key) {
  enum { FEW = 16 };
  if (e->v.len < FEW) {
    for (size_t i = 0; i < e->v.len; i++)
      if (e->v.data[i].name == key) return true;
    return false;
  }
  if (e->v.len == FEW && e->keys.count == 0)
    for (size_t i = 0; i < FEW; i++) *name_map_at(&e->keys, p->scratch, key_of(&e->v.data[i])) = e;
  void **place = name_map_at(&e->keys, p->scratch, ((const string_attr *)key)->value);
  bool there = *place != NULL;
  *place = e;
  return there;
}

/* name, name = attribute, "name" = attribute */
static bool entry_item(parser *p, void *user) {
  entries *e = user;
  str name;
  token where = p->tok;
  if (!at(p, TOK_ID) && !at(p, TOK_STRING))
    return parser_expect(p, TOK_ID, "expected attribute name");
  if (!parser_word_or_string(p, &name)) return false;
  if (name.len == 0) return parser_error(p, &where, "expected valid attribute name");
  const attr *key = attr_string(p->ctx, name);
  if (is_there(p, e, key))
    return parser_error(p, &where, "duplicate key '" STR_FMT "' in dictionary attribute",
                        STR_ARG(name));
  const attr *value = parser_accept(p, '=') ? parser_attr(p, NULL) : attr_unit(p->ctx);
  if (!value) return false;
  VEC_PUSH(p->scratch, e->v, (named_attr){key, value});
  return true;
}

static int by_key(const void *a, const void *b) { return str_cmp(key_of(a), key_of(b)); }

/* In the order of the keys, which is how they are kept. */
static bool parse_entries(parser *p, entries *e) {
  if (!parser_list_in(p, '{', '}', entry_item, e, " in attribute dictionary")) return false;
  if (e->v.len > 1) qsort(e->v.data, e->v.len, sizeof *e->v.data, by_key);
  return true;
}

const attr *parser_dict(parser *p) {
  entries e = {0};
  return parse_entries(p, &e) ? attr_dict(p->ctx, e.v.data, e.v.len) : NULL;
}

/* Some enums are plain i32 integers in MLIR's attributes, but enums in ir. */
static bool is_integer_enum(int id) {
  return id == ATTR_custom_call_api_version || id == ATTR_propagation_direction ||
         id == ATTR_reduction_op;
}

static const attr *to_slot(parser *p, const slot_info *slot, const attr *a) {
  i64 v;
  const integer_attr *n = attr_as(integer, a);
  if (is_integer_enum(slot->attr_id) && n && n->type == type_i32(p->ctx) && attr_get_i64(a, &v) &&
      v >= 0 && v < attr_infos[slot->attr_id].num_cases)
    return attr_enum(p->ctx, (attr_id)slot->attr_id, v);
  return a;
}

void parser_set_attr(parser *p, op_state *st, str name, const attr *a) {
  int slot = op_slot(st->info, name);
  if (slot >= 0)
    st->slots[slot] = to_slot(p, &st->info->slots[slot], a);
  else
    VEC_PUSH(p->scratch, st->attrs, (named_attr){attr_string(p->ctx, name), a});
}

/* One name may come from the properties and from this dictionary: what is read last stays. */
static bool op_entries(parser *p, op_state *st) {
  entries e = {0};
  if (!parse_entries(p, &e)) return false;
  for (size_t i = 0; i < e.v.len; i++)
    parser_set_attr(p, st, key_of(&e.v.data[i]), e.v.data[i].value);
  return true;
}

bool parser_optional_dict(parser *p, op_state *st) { return !at(p, '{') || op_entries(p, st); }

/* ---- keywords ---- */

static const attr *word_true(parser *p) { return attr_bool(p->ctx, true); }
static const attr *word_false(parser *p) { return attr_bool(p->ctx, false); }
static const attr *word_unit(parser *p) { return attr_unit(p->ctx); }

static const attr *affine_map(parser *p) { return parser_affine(p, false); }
static const attr *affine_set(parser *p) { return parser_affine(p, true); }

/* distinct[1]<attribute> */
static const attr *distinct(parser *p) {
  i64 id;
  if (!parser_expect(p, '[', "expected '[' after 'distinct'") || !parser_i64(p, &id) ||
      !parser_expect(p, ']', "expected ']' to close distinct ID") ||
      !parser_expect(p, '<', "expected '<' after distinct ID"))
    return NULL;
  const attr *a = at(p, '>') ? attr_unit(p->ctx) : parser_attr(p, NULL);
  if (!a || !parser_expect(p, '>', "expected '>' to close distinct attribute")) return NULL;
  return attr_make(p->ctx, distinct, .id = id, .value = a);
}

static bool stride(parser *p, void *user) {
  i64_vec *v = user;
  i64 x = DYNAMIC;
  if (!parser_accept(p, '?') && !parser_i64(p, &x)) return false;
  VEC_PUSH(p->scratch, *v, x);
  return true;
}

/* strided<[1, ?], offset: 3> */
static const attr *strided(parser *p) {
  i64_vec strides = {0}, offset = {0};
  if (!parser_expect(p, '<', "expected '<'") || !parser_list(p, '[', ']', stride, &strides))
    return NULL;
  if (parser_accept(p, ',') && (!parser_expect_word(p, "offset") ||
                                !parser_expect(p, ':', "expected ':'") || !stride(p, &offset)))
    return NULL;
  if (!parser_expect(p, '>', "expected '>'")) return NULL;
  return attr_make(p->ctx, strided, .strides = {strides.data, strides.len},
                   .offset = offset.len ? offset.data[0] : 0);
}

static const attr *dense_resource(parser *p) {
  str key;
  if (!parser_expect(p, '<', "expected '<' after 'dense_resource'")) return NULL;
  if (!parser_word_or_string(p, &key)) return NULL;
  if (!parser_expect(p, '>', "expected '>'") || !parser_expect(p, ':', "expected ':'")) return NULL;
  token where = p->tok;
  const type *t = parser_type(p);
  if (t && !type_is_shaped(t))
    return parser_error(p, &where, "`dense_resource` expected a shaped type"), NULL;
  return t ? attr_make(p->ctx, dense_resource, .type = t, .key = key) : NULL;
}

typedef struct attr_word {
  const char *word;
  const attr *(*parse)(parser *p); /* after the word */
} attr_word;
static const attr_word attr_words[] = {
    {"true", word_true},
    {"false", word_false},
    {"unit", word_unit},
    {"array", parser_dense_array},
    {"affine_map", affine_map},
    {"affine_set", affine_set},
    {"dense_resource", dense_resource},
    {"strided", strided},
    {"distinct", distinct},
};

/* Words of builtin attributes are not reserved, so `dense` and the others are recognised here
 * only. */
static const attr *keyword(parser *p, const type *expected) {
  if (at_word(p, "dense")) return parser_dense(p, expected);
  if (at_word(p, "sparse")) return parser_sparse(p, expected);
  if (at_word(p, "loc")) return ir_note_aliased(p->ctx), parser_loc(p);
  for (size_t i = 0; i < COUNT(attr_words); i++)
    if (at_word(p, attr_words[i].word)) return parser_next(p), attr_words[i].parse(p);
  bool bad;
  const type *t = parser_optional_type(p, &bad);
  if (t) return attr_type(p->ctx, t);
  token where = p->tok;
  if (!bad) parser_missing(p, "expected attribute value"), parser_hint_token(p, &where);
  return NULL;
}

static const attr *string(parser *p) {
  str s = parser_string(p, &p->tok);
  const type *t = NULL;
  parser_next(p);
  if (parser_accept(p, ':')) {
    t = parser_type(p);
    if (!t) return NULL;
    if (t->kind == TYPE_NONE) t = NULL;
  }
  return attr_make(p->ctx, string, .value = s, .type = t);
}

/* By the first token; the rest of the grammar is words. */
static const attr *value_at(parser *p, const type *expected) {
  switch (p->tok.kind) {
  case TOK_AT:
    return parser_symbol(p);
  case TOK_STRING:
    return string(p);
  case TOK_HASH:
    return p->syntax->dialect_attr(p);
  case '[':
    return array(p);
  case '{':
    return parser_dict(p);
  case TOK_INT:
  case TOK_FLOAT:
    return parser_number(p, expected, false);
  case '-':
    return parser_next(p), parser_number(p, expected, true);
  default:
    return keyword(p, expected);
  }
}

bool parser_attr_begins(const parser *p) {
  static const u8 kinds[] = {TOK_AT, TOK_STRING, TOK_HASH, TOK_INT, TOK_FLOAT, TOK_EXCLAIM,
                             TOK_ID, '[',        '{',      '-',     '('};
  return memchr(kinds, p->tok.kind, sizeof kinds) != NULL;
}

const attr *parser_attr(parser *p, const type *expected) {
  str outer = p->custom_op;
  if (!parser_enter(p)) return NULL;
  p->custom_op = STR(""); /* no more the op's own code that reads */
  const attr *a = value_at(p, expected);
  p->custom_op = outer;
  parser_leave(p);
  return a;
}

/* ---- the top of the file ---- */

/* #name = attribute, !name = type: at the top level of the file, before the first use (but for
 * locations). */
bool parser_alias(parser *p) {
  token t = p->tok;
  bool is_attr = at(p, TOK_HASH);
  str name = str_from(t.text, 1);
  void **at = name_map_at(is_attr ? &p->attr_aliases : &p->type_aliases, p->scratch, name);
  if (*at)
    return parser_error(p, &t, "redefinition of %s alias id '" STR_FMT "'",
                        is_attr ? "attribute" : "type", STR_ARG(name));
  if (memchr(name.data, '.', name.len))
    return parser_error(p, &t, "%s names with a '.' are reserved for dialect-defined names",
                        is_attr ? "attribute" : "type");
  parser_next(p);
  if (!parser_expect(p, '=',
                     is_attr ? "expected '=' in attribute alias definition"
                             : "expected '=' in type alias definition"))
    return false;
  const void *v = is_attr ? (const void *)parser_attr(p, NULL) : parser_type(p);
  if (!v) return false;
  /* The table may have grown meanwhile. */
  *name_map_at(is_attr ? &p->attr_aliases : &p->type_aliases, p->scratch, name) = (void *)v;
  return true;
}

/* key: "0x" alignment (4 bytes) data; of resources that nobody here knows, any word, number or
 * string */
static bool resource_item(parser *p, void *user) {
  bool known = *(bool *)user;
  str key, bytes;
  if (!parser_word_or_string(p, &key) || !parser_expect(p, ':', "expected ':'")) return false;
  token t = p->tok;
  parser_next(p);
  if (!known) return true;
  if (t.kind != TOK_STRING || !parser_hex(p, &t, &bytes, true))
    return parser_error(p, &t, "expected hex string blob for key '" STR_FMT "'", STR_ARG(key));
  if (bytes.len < 4)
    return parser_error(p, &t,
                        "expected hex string blob for key '" STR_FMT
                        "' to encode alignment in first 4 bytes",
                        STR_ARG(key));
  u32 align;
  memcpy(&align, bytes.data, sizeof align);
  if (align & (align - 1))
    return parser_error(p, &t,
                        "expected hex string blob for key '" STR_FMT
                        "' to encode alignment in first 4 bytes, but got non-power-of-2 value: %u",
                        STR_ARG(key), align);
  ir_resource_set(p->ctx, key, str_from(bytes, 4));
  ir_resource_set_align(p->ctx, key, align);
  return true;
}

/* `word :`, the word a key of what `in` says. */
static bool resource_key(parser *p, const char *in, token *out) {
  *out = p->tok;
  if (!at(p, TOK_ID)) return parser_error(p, out, "expected identifier key %s", in);
  return parser_next(p) && parser_expect(p, ':', "expected ':'");
}

static bool resource_group(parser *p, void *user) {
  token t;
  return resource_key(p, "for 'resource' entry", &t) &&
         parser_list(p, '{', '}', resource_item, user);
}

/* {-# dialect_resources: {...}, external_resources: {...} #-} */
bool parser_resources(parser *p) {
  parser_next(p);
  if (parser_accept(p, TOK_META_END)) return true;
  do {
    token kind;
    if (!resource_key(p, "in file metadata dictionary", &kind)) return false;
    bool known = str_is(kind.text, "dialect_resources");
    if (!known && !str_is(kind.text, "external_resources"))
      return parser_error(p, &kind, "unknown key '" STR_FMT "' in file metadata dictionary",
                          STR_ARG(kind.text));
    if (!parser_list(p, '{', '}', resource_group, &known)) return false;
  } while (parser_accept(p, ','));
  return parser_accept(p, TOK_META_END) || parser_missing(p, "expected ',' or '#-}'");
}
