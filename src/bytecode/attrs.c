/* Attributes and types by index: decoded on demand, each once, by the codec of its dialect.
 *
 * Most attributes are lists of fields, which a codec's row describes (wire_field) and reader and
 * writer interpret; the others have functions. An attribute refers to others by index, so decoding
 * recurses; cycles, depth and the size written out are checked here, in one place (resolve), as a
 * few bytes of a file can claim all three. */
#include "bytecode/reader.h"
#include "text/text.h"

/* Attributes may share parts, so that a few bytes are much when written out; how much more than
 * there are bytes in the file. */
enum { MAX_TREE = 64, ATTRS_A_BYTE = 16, SMALL_FILE = 1024 };

/* ---- lists ---- */

const attr *get_attr(reader *r, cursor *c) {
  const u8 *from = c->at;
  return attr_at(r, from, get_uint(r, c));
}

const attr *get_attr_or_null(reader *r, cursor *c) {
  const u8 *from = c->at;
  u64 i;
  return get_flagged(r, c, &i) ? attr_at(r, from, i) : NULL;
}

const type *get_type(reader *r, cursor *c) {
  const u8 *from = c->at;
  return type_at(r, from, get_uint(r, c));
}

bool is_loc(const attr *a) { return a && a->id >= ATTR_loc_unknown && a->id <= ATTR_loc_fused; }

const attr *get_loc(reader *r, cursor *c) {
  const u8 *from = c->at;
  const attr *a = get_attr(r, c);
  if (!r->failed && !is_loc(a)) fail_at(r, from, "expected a location");
  return r->failed ? loc_unknown(r->ctx) : a;
}

attrs get_attrs(reader *r, cursor *c) {
  size_t n = get_count(r, c);
  const attr **list = ARENA_ARRAY(r->arena, const attr *, n);
  for (size_t i = 0; i < n; i++) list[i] = get_attr(r, c);
  return (attrs){list, r->failed ? 0 : n};
}

types get_types(reader *r, cursor *c) {
  size_t n = get_count(r, c);
  const type **list = ARENA_ARRAY(r->arena, const type *, n);
  for (size_t i = 0; i < n; i++) list[i] = get_type(r, c);
  return (types){list, r->failed ? 0 : n};
}

i64s get_ints(reader *r, cursor *c) {
  size_t n = get_count(r, c);
  i64 *list = ARENA_ARRAY(r->arena, i64, n);
  for (size_t i = 0; i < n; i++) list[i] = get_int(r, c);
  return (i64s){list, r->failed ? 0 : n};
}

/* Ops may share a dictionary, but each gets its attributes: that must stay in proportion. */
static bool count_attrs(reader *r, const u8 *from, size_t n) {
  r->attrs_given += n;
  return r->attrs_given / ATTRS_A_BYTE <= r->bytes.len + SMALL_FILE ||
         fail_at(r, from, "the ops have too many attributes for the size of the file");
}

const dict_attr *attributes_of_op(reader *r, const u8 *from, const attr *a) {
  const dict_attr *d = attr_as(dict, a);
  if (r->failed) return NULL;
  if (!d) return fail_at(r, from, "expected a dictionary of attributes"), NULL;
  return count_attrs(r, from, d->names.len) ? d : NULL;
}

/* ---- attributes that are lists of fields ---- */

static bool of_kind(const attr *a, int kind) {
  return kind == 0 || (kind == WIRE_LOC ? is_loc(a) : a && a->id + 1 == kind);
}

static void check_kind(reader *r, const u8 *from, const attr *a, int kind) {
  if (r->failed || of_kind(a, kind)) return;
  fail_at(r, from, "expected %s attribute, found %s",
          kind == WIRE_LOC ? "a location" : attr_infos[kind - 1].name,
          a ? attr_infos[a->id].name : "none");
}

static void read_field(reader *r, cursor *c, wire_field w, u16 id, void *to) {
  const u8 *from = c->at;
  u64 n;
  str wide;
  switch (w.how) {
  case 'i':
    *(i64 *)to = get_int(r, c);
    break;
  case 'u':
    *(i64 *)to = (i64)(get_uint(r, c) & INT64_MAX);
    break;
  case 'p':
    *(i64 *)to = get_flagged(r, c, &n) ? (i64)n : -1;
    break;
  case 'f':
    *(i64 *)to = get_bits(r, c, 64, &wide);
    break;
  case 'b':
    *(bool *)to = get_byte(r, c) != 0;
    break;
  case 'I':
    *(i64s *)to = get_ints(r, c);
    break;
  case 's':
    *(str *)to = get_string(r, c);
    break;
  case 't':
    *(const type **)to = get_type(r, c);
    break;
  case 'S': {
    const attr *a = get_attr(r, c);
    check_kind(r, from, a, WIRE(string));
    if (!r->failed) *(str *)to = ((const string_attr *)a)->value;
    break;
  }
  case 'a': {
    const attr *a = get_attr(r, c);
    check_kind(r, from, a, w.kind);
    *(const attr **)to = a;
    break;
  }
  case 'A': {
    attrs list = get_attrs(r, c);
    for (size_t i = 0; i < list.len; i++) check_kind(r, from, list.data[i], w.kind);
    *(attrs *)to = list;
    break;
  }
  default:
    n = get_uint(r, c);
    if (!r->failed && n >= attr_infos[id].num_cases)
      fail_at(r, from, "expected a case of %s, found %llu", attr_infos[id].name,
              (unsigned long long)n);
    *(i64 *)to = (i64)n;
  }
}

/* The attribute is put together in scratch and then uniqued, so a failure leaves nothing behind. */
static const attr *read_by_fields(reader *r, cursor *c, const attr_code *code) {
  const attr_info *info = &attr_infos[code->id];
  attr *proto = arena_zalloc(r->arena, info->size);
  proto->id = code->id;
  const field_info *f = info->fields();
  for (const wire_field *w = code->fields; w->how && f->name; w++, f++)
    read_field(r, c, *w, code->id, (char *)proto + f->offset);
  return r->failed ? NULL : attr_unique(r->ctx, proto);
}

/* ---- the table ---- */

static const void *decode_attr(reader *r, entry *e, cursor *c, const codec *k) {
  const u8 *from = c->at;
  u64 code = get_uint(r, c);
  if (r->failed) return NULL;
  const char *dialect = r->dialects[e->dialect].name.data;
  if (code >= k->num_attrs || !k->attrs[code].known) {
    fail_at(r, from, "expected an attribute of dialect %.*s, found code %llu",
            (int)r->dialects[e->dialect].name.len, dialect, (unsigned long long)code);
    return NULL;
  }
  const attr_code *a = &k->attrs[code];
  return a->fn ? a->fn(r, c) : read_by_fields(r, c, a);
}

static const void *decode_type(reader *r, entry *e, cursor *c, const codec *k) {
  const u8 *from = c->at;
  u64 code = get_uint(r, c);
  const type *t = r->failed || !k->type ? NULL : k->type(r, c, code);
  if (!t && !r->failed)
    fail_at(r, from, "expected a type of dialect " STR_FMT ", found code %llu",
            STR_ARG(r->dialects[e->dialect].name), (unsigned long long)code);
  return t;
}

/* The dialect left it to its text, with a NUL at the end. */
static const void *decode_text(reader *r, cursor *c, bool is_type) {
  const u8 *from = c->at;
  const u8 *nul = memchr(c->at, 0, cursor_left(c));
  if (!nul) return fail_at(r, from, "expected the text of an attribute or type"), NULL;
  str text = {(const char *)from, (size_t)(nul - from)};
  c->at = nul + 1;
  const text_parse_options options = {.allow_unregistered = true};
  const void *v = is_type ? (const void *)text_parse_type(r->ctx, text, &options)
                          : (const void *)text_parse_attr(r->ctx, text, &options);
  if (!v) fail_at(r, from, "expected the text of %s", is_type ? "a type" : "an attribute");
  return v;
}

/* `tree` counts what the entry would be if it were written out, with shared parts as often as they
 * are referred to: passes and printers walk attributes as trees. */
static const void *resolve(reader *r, entry *e, bool is_type) {
  cursor c = e->bytes;
  const codec *k = r->codecs[r->dialects[e->dialect].kind];
  const char *what = is_type ? "type" : "attribute";
  if (e->busy) return fail_at(r, c.at, "%s refers to itself", what), NULL;
  if (r->depth >= IR_MAX_NESTING)
    return fail_at(r, c.at, "%s nested more than %d deep", what, IR_MAX_NESTING), NULL;
  if (e->custom && !k)
    return fail_unimplemented(r, c.at, "%s of dialect " STR_FMT, what,
                              STR_ARG(r->dialects[e->dialect].name)),
           NULL;
  u64 outer = r->tree;
  r->tree = 1;
  e->busy = true;
  r->depth++;
  const void *v = !e->custom ? decode_text(r, &c, is_type)
                  : is_type  ? decode_type(r, e, &c, k)
                             : decode_attr(r, e, &c, k);
  r->depth--;
  e->busy = false;
  u32 depth = r->failed ? 0 : is_type ? ((const type *)v)->depth : ((const attr *)v)->depth;
  if (depth > IR_MAX_NESTING) fail_at(r, c.at, "%s nested more than %d deep", what, IR_MAX_NESTING);
  e->size = r->tree;
  r->tree = outer;
  if (!r->failed && e->size / MAX_TREE > r->bytes.len + SMALL_FILE)
    fail_at(r, e->bytes.at, "%s that is written out to %llu parts, too many for the file", what,
            (unsigned long long)e->size);
  if (!r->failed && c.at != c.end)
    fail_at(r, c.at, "expected the end of the %s, found %zu more bytes", what, cursor_left(&c));
  return r->failed ? NULL : v;
}

const attr *attr_at(reader *r, const u8 *from, u64 index) {
  if (r->failed) return NULL;
  if (index >= r->num_attrs)
    return fail_at(r, from, "expected an attribute below %zu, found %llu", r->num_attrs,
                   (unsigned long long)index),
           NULL;
  entry *e = &r->attrs[index];
  if (!e->value) e->value = resolve(r, e, false);
  r->tree += e->size;
  return e->value;
}

const type *type_at(reader *r, const u8 *from, u64 index) {
  if (r->failed) return NULL;
  if (index >= r->num_types)
    return fail_at(r, from, "expected a type below %zu, found %llu", r->num_types,
                   (unsigned long long)index),
           NULL;
  entry *e = &r->types[index];
  if (!e->value) e->value = resolve(r, e, true);
  r->tree += e->size;
  return e->value;
}
