/* Attributes: the rows of attrs.def as data, and one uniquing routine that reads them.
 *
 * attr_unique hashes and compares the fields that a row lists, whatever the kind; types and
 * attributes inside are uniqued already, so they are compared as pointers and the cost of a lookup
 * does not depend on the depth. A kind gets no code here unless its constructor does something. */
#include "base/index.h"
#include "ir/ctx.h"

/* `self` gives F the struct of its row. */
#define F(kind, name) {#name, FIELD_##kind, (u32)offsetof(self, name)},
#define ATTR(id, mnemonic, fields)                                                                 \
  static const field_info *fields_##id(void) {                                                     \
    typedef id##_attr self;                                                                        \
    static const field_info list[] = {fields{NULL, FIELD_i64, sizeof(self)}};                      \
    return list;                                                                                   \
  }
#define ENUM(id, mnemonic, ...) static const char *const cases_##id[] = {__VA_ARGS__};
#include "ir/attrs.def"
#undef F

typedef struct enum_attr {
  attr base;
  i64 value;
} enum_attr;
static const field_info *fields_enum(void) {
  static const field_info list[] = {{"value", FIELD_i64, offsetof(enum_attr, value)},
                                    {NULL, FIELD_i64, sizeof(enum_attr)}};
  return list;
}

const attr_info attr_infos[ATTR_COUNT] = {
#define ATTR(id, mnemonic, fields)                                                                 \
  [ATTR_##id] = {mnemonic, sizeof(id##_attr), fields_##id, NULL, 0},
#define ENUM(id, mnemonic, ...)                                                                    \
  [ATTR_##id] = {mnemonic, sizeof(id##_attr), fields_enum, cases_##id, COUNT(cases_##id)},
#include "ir/attrs.def"
};

enum { UNIQUE_BYTES = 256 }; /* longer strings of bytes are not worth a comparison */

/* Visits the fields of an attribute; at(f) is where one lies. */
#define FOR_FIELDS(f, a) for (const field_info *f = attr_infos[(a)->id].fields(); f->name; f++)
#define FIELD(a, f, ctype) ((const ctype *)((const char *)(a) + (f)->offset))

/* By field kind, not by attribute: a switch of eight cases that new rows do not touch. */
static u64 hash_field(const attr *a, const field_info *f, u64 h) {
  switch (f->kind) {
  case FIELD_i64:
    return hash_u64((u64)*FIELD(a, f, i64), h);
  case FIELD_u32:
    return hash_u64(*FIELD(a, f, u32), h);
  case FIELD_bool:
    return hash_u64(*FIELD(a, f, bool), h);
  case FIELD_str:
    return hash_bytes(FIELD(a, f, str)->data, FIELD(a, f, str)->len, h);
  case FIELD_i64s:
    return hash_bytes(FIELD(a, f, i64s)->data, FIELD(a, f, i64s)->len * sizeof(i64), h);
  case FIELD_type:
    return hash_ptr(*FIELD(a, f, type *), h);
  case FIELD_attr:
    return hash_ptr(*FIELD(a, f, attr *), h);
  case FIELD_attrs:
    return hash_bytes(FIELD(a, f, attrs)->data, FIELD(a, f, attrs)->len * sizeof(attr *), h);
  }
  return h;
}

static bool same_field(const attr *a, const attr *b, const field_info *f) {
  switch (f->kind) {
  case FIELD_i64:
    return *FIELD(a, f, i64) == *FIELD(b, f, i64);
  case FIELD_u32:
    return *FIELD(a, f, u32) == *FIELD(b, f, u32);
  case FIELD_bool:
    return *FIELD(a, f, bool) == *FIELD(b, f, bool);
  case FIELD_str:
    return str_eq(*FIELD(a, f, str), *FIELD(b, f, str));
  case FIELD_i64s:
    return i64s_eq(*FIELD(a, f, i64s), *FIELD(b, f, i64s));
  case FIELD_type:
  case FIELD_attr:
    return *FIELD(a, f, void *) == *FIELD(b, f, void *);
  case FIELD_attrs: {
    attrs x = *FIELD(a, f, attrs), y = *FIELD(b, f, attrs);
    return x.len == y.len && (!x.len || memcmp(x.data, y.data, x.len * sizeof *x.data) == 0);
  }
  }
  return false;
}

static bool same_attr(const void *entry, const void *key) {
  const attr *a = entry, *b = key;
  if (a->id != b->id) return false;
  FOR_FIELDS(f, a) if (!same_field(a, b, f)) return false;
  return true;
}

/* Gives the copy its own lists. */
static void own_fields(ir_ctx *c, attr *a) {
  FOR_FIELDS(f, a) {
    void *at = (char *)a + f->offset;
    if (f->kind == FIELD_str) {
      str *s = at;
      char *p = arena_alloc_aligned(&c->arena, s->len + 1, 8);
      if (s->len) memcpy(p, s->data, s->len);
      p[s->len] = 0;
      s->data = p;
    } else if (f->kind == FIELD_i64s) {
      i64s *s = at;
      s->data = arena_copy(&c->arena, s->data, s->len * sizeof(i64));
    } else if (f->kind == FIELD_attrs) {
      attrs *s = at;
      s->data = arena_copy(&c->arena, s->data, s->len * sizeof(attr *));
    }
  }
}

static u32 depth_of(const attr *a) {
  u32 d = 0;
  FOR_FIELDS(f, a) {
    attrs one = {0};
    const type *t = f->kind == FIELD_type ? *FIELD(a, f, type *) : NULL;
    if (t && t->depth > d) d = t->depth;
    if (f->kind == FIELD_attr) one = (attrs){FIELD(a, f, attr *), 1};
    if (f->kind == FIELD_attrs) one = *FIELD(a, f, attrs);
    for (size_t i = 0; i < one.len; i++)
      if (one.data[i] && one.data[i]->depth > d) d = one.data[i]->depth;
  }
  return d + 1;
}

/* Uniqued attributes have twins to compare with, so `==` is equality; large constants have none and
 * two equal ones may differ as pointers (attr.unique tells). */
static attr *copy_attr(ir_ctx *c, const attr *proto, u64 hash, bool unique) {
  attr *a = arena_copy(&c->arena, proto, attr_infos[proto->id].size);
  a->hash = hash;
  a->unique = unique;
  a->depth = depth_of(a);
  return a;
}

/* The builtin ones that MLIR's printer gives aliases, and sparse_tensor's, which do so through
 * their dialect's interface. */
static bool is_aliased(const attr *a) {
  const opaque_attr *o = attr_as(opaque, a);
  return attr_is(affine_map, a) || attr_is(affine_set, a) || attr_is(distinct, a) ||
         (o && str_is(o->dialect, "sparse_tensor"));
}
bool ir_has_aliased(const ir_ctx *c) { return c->aliased; }
void ir_note_aliased(ir_ctx *c) { c->aliased = true; }

/* The prototype may live on the stack, and its lists with it: own_fields copies them once it is
 * known to be new. */
const attr *attr_unique(ir_ctx *c, const attr *proto) {
  size_t slot;
  u64 h = hash_u64(proto->id, 1);
  FOR_FIELDS(f, proto) h = hash_field(proto, f, h);
  attr *a = table_find(&c->attrs, &c->arena, h, proto, same_attr, &slot);
  if (a) return a;
  a = copy_attr(c, proto, h, true);
  own_fields(c, a);
  table_put(&c->attrs, slot, h, a);
  c->aliased |= is_aliased(a);
  return a;
}

const attr *attr_unit(ir_ctx *c) {
  if (!c->unit) c->unit = attr_unique(c, &(attr){.id = ATTR_unit});
  return c->unit;
}
/* -1 for true: the value of an integer attribute is sign-extended, and i1 has one bit. */
const attr *attr_bool(ir_ctx *c, bool v) { return attr_int(c, type_i1(c), v ? -1 : 0); }
const attr *attr_int(ir_ctx *c, const type *t, i64 v) {
  return attr_make(c, integer, .type = t, .value = v);
}
const attr *attr_i64(ir_ctx *c, i64 v) { return attr_int(c, type_i64(c), v); }
/* A few names are asked for with every op. */
const attr *attr_string(ir_ctx *c, str s) {
  size_t h = s.len ? s.len * 7 + (u8)s.data[0] * 3 + (u8)s.data[s.len - 1] : 0;
  const attr **at = &c->strings[h % COUNT(c->strings)];
  if (!*at || !str_eq(attr_as(string, *at)->value, s)) *at = attr_make(c, string, .value = s);
  return *at;
}
bool ir_may_have_string(ir_ctx *c, str s) {
  size_t slot;
  const string_attr proto = {.base = {.id = ATTR_string}, .value = s};
  u64 h = hash_u64(ATTR_string, 1);
  FOR_FIELDS(f, &proto.base) h = hash_field(&proto.base, f, h);
  return table_find(&c->attrs, &c->arena, h, &proto, same_attr, &slot) != NULL;
}
const attr *attr_symbol(ir_ctx *c, str s) { return attr_make(c, symbol_ref, .root = s); }
const attr *attr_array(ir_ctx *c, attrs elems) { return attr_make(c, array, .elems = elems); }
const attr *attr_type(ir_ctx *c, const type *t) { return attr_make(c, type_ref, .type = t); }

const attr *attr_i64_array(ir_ctx *c, i64s v) {
  return attr_make(c, dense_array, .elem = type_i64(c),
                   .data = {(const char *)v.data, v.len * sizeof(i64)});
}

const attr *attr_enum(ir_ctx *c, attr_id id, i64 value) {
  return attr_unique(c, &((enum_attr){.base = {.id = (u16)id}, .value = value}).base);
}

bool attr_enum_case(attr_id id, str name, i64 *out) {
  const attr_info *info = &attr_infos[id];
  for (u32 i = 0; i < info->num_cases; i++)
    if (str_is(name, info->cases[i])) return *out = i, true;
  return false;
}

str attr_enum_name(const attr *a) {
  i64 v = ((const enum_attr *)a)->value;
  const attr_info *info = &attr_infos[a->id];
  return v >= 0 && v < info->num_cases ? str_of(info->cases[v]) : STR("");
}

const attr *attr_dense(ir_ctx *c, const type *t, str data, bool splat, bool borrow) {
  dense_attr proto = {.base = {.id = ATTR_dense}, .type = t, .data = data, .splat = splat};
  if (type_is_empty(type_element(t))) { /* a splat even of no elements, as in MLIR */
    proto.data = (str){"\0", type_storage(type_element(t))};
    proto.splat = true;
  }
  if (data.len <= UNIQUE_BYTES) return attr_unique(c, &proto.base);
  attr *a = copy_attr(c, &proto.base, 0, false);
  if (!borrow) own_fields(c, a);
  return a;
}

/* Values all alike become a splat, as MLIR's uniquing makes them; none at all is no splat. */
const attr *attr_dense_i64(ir_ctx *c, i64s dims, const i64 *values) {
  const type *t = type_tensor(c, dims, type_i64(c), NULL);
  i64 n = 0;
  type_num_elements(t, &n);
  bool splat = n > 0;
  for (i64 i = 1; splat && i < n; i++) splat = values[i] == values[0];
  return attr_dense(c, t, (str){(const char *)values, (size_t)(splat ? 1 : n) * 8}, splat, false);
}

static str name_of(const attr *a) { return ((const string_attr *)a)->value; }

const attr *attr_dict(ir_ctx *c, const named_attr *entries, size_t n) {
  arena *a = &c->arena;
  const attr **names = ARENA_ARRAY(a, const attr *, n), **values = ARENA_ARRAY(a, const attr *, n);
  size_t len = 0;
  for (size_t i = 0; i < n; i++) { /* insertion: dictionaries are short */
    size_t at = len;
    while (at > 0 && str_cmp(name_of(names[at - 1]), name_of(entries[i].name)) > 0) at--;
    if (at > 0 && names[at - 1] == entries[i].name) {
      values[at - 1] = entries[i].value;
      continue;
    }
    memmove(names + at + 1, names + at, (len - at) * sizeof *names);
    memmove(values + at + 1, values + at, (len - at) * sizeof *values);
    names[at] = entries[i].name;
    values[at] = entries[i].value;
    len++;
  }
  return attr_make(c, dict, .names = {names, len}, .values = {values, len});
}

const attr *attr_dict_get(const attr *dict, str name) {
  const dict_attr *d = attr_as(dict, dict);
  for (size_t i = 0; d && i < d->names.len; i++)
    if (str_eq(name_of(d->names.data[i]), name)) return d->values.data[i];
  return NULL;
}

bool attr_get_i64(const attr *a, i64 *out) {
  const integer_attr *i = attr_as(integer, a);
  if (!i || i->wide.len) return false;
  return *out = i->value, true;
}

bool attr_get_bool(const attr *a, bool *out) {
  const integer_attr *i = attr_as(integer, a);
  if (attr_is(unit, a)) return *out = true, true;
  if (!i || i->type->kind != TYPE_INT || i->type->width != 1) return false;
  return *out = i->value != 0, true;
}

bool attr_get_str(const attr *a, str *out) {
  const string_attr *s = attr_as(string, a);
  return s && (*out = s->value, true);
}

bool attr_get_symbol(const attr *a, str *out) {
  const symbol_ref_attr *s = attr_as(symbol_ref, a);
  return s && s->nested.len == 0 && (*out = s->root, true);
}

str symbol_of(const attr *a) {
  const symbol_ref_attr *s = attr_as(symbol_ref, a);
  return s ? s->root : STR("");
}

/* Sign- or zero-extended from the type's width; i1 is 0 or 1. Wider than 64 bits: the low ones. */
i64 attr_dense_int(const attr *dense, size_t i) {
  const dense_attr *d = (const dense_attr *)dense;
  const type *t = type_element(d->type);
  size_t size = type_storage(t);
  const char *p = d->data.data + (d->splat ? 0 : i * size);
  u64 v = 0;
  memcpy(&v, p, min_size(size, 8));
  u32 bits = t->kind == TYPE_INT ? t->width : 64;
  if (bits < 64 && bits > 1 && t->sign != UNSIGNED && (v >> (bits - 1) & 1)) v |= ~0ull << bits;
  if (bits < 64 && (bits == 1 || t->sign == UNSIGNED)) v &= (1ull << bits) - 1;
  return (i64)v;
}

const type *attr_dense_type(const attr *a) {
  const dense_attr *d = attr_as(dense, a);
  const dense_string_attr *s = attr_as(dense_string, a);
  return d ? d->type : s ? s->type : NULL;
}

const type *attr_type_of(const attr *a) {
  const integer_attr *i = attr_as(integer, a);
  const float_attr *f = attr_as(float, a);
  const string_attr *s = attr_as(string, a);
  const sparse_attr *sparse = attr_as(sparse, a);
  const dense_resource_attr *r = attr_as(dense_resource, a);
  const opaque_attr *o = attr_as(opaque, a);
  if (i) return i->type;
  if (f) return f->type;
  return s ? s->type : sparse ? sparse->type : r ? r->type : o ? o->type : attr_dense_type(a);
}

/* Strings and opaque attributes have a type though it may be none: MLIR's TypedAttr. */
bool attr_is_typed(const attr *a) {
  return attr_type_of(a) || attr_is(string, a) || attr_is(opaque, a);
}

sparse_fault attr_sparse_fault(const type *t, const attr *indices, const attr *values, i64 *at) {
  const type *it = attr_dense_type(indices), *vt = attr_dense_type(values);
  size_t rank = t->dims.len;
  if (vt->dims.len != 1) return SPARSE_VALUES;
  bool lists = it->dims.len == 2 && it->dims.data[1] == (i64)rank;
  bool flat = it->dims.len == 1 && rank == 1;
  if ((!lists && !flat) || it->dims.data[0] != vt->dims.data[0]) return SPARSE_SHAPES;
  i64 n = ((const dense_attr *)indices)->splat ? 1 : rank ? it->dims.data[0] : 0;
  for (*at = 0; *at < n; ++*at)
    for (size_t k = 0; k < rank; k++) {
      i64 v = attr_dense_int(indices, (size_t)*at * rank + k);
      if (v < 0 || v >= t->dims.data[k]) return SPARSE_INDEX;
    }
  return SPARSE_FITS;
}

/* A dense constant is unpacked element by element: it may be a splat, or of another width. */
bool attr_get_i64s(ir_ctx *c, const attr *a, i64s *out) {
  const dense_array_attr *d = attr_as(dense_array, a);
  if (d) {
    if (d->elem->kind != TYPE_INT || d->elem->width != 64) return false;
    return *out = (i64s){(const i64 *)(const void *)d->data.data, d->data.len / 8}, true;
  }
  const dense_attr *e = attr_as(dense, a);
  i64 n;
  if (!e || e->type->kind != TYPE_TENSOR || e->type->dims.len > 1 ||
      e->type->elem->kind != TYPE_INT || !type_num_elements(e->type, &n))
    return false;
  i64 *v = ARENA_ARRAY(&c->arena, i64, (size_t)n);
  for (i64 i = 0; i < n; i++) v[i] = attr_dense_int(a, (size_t)i);
  return *out = (i64s){v, (size_t)n}, true;
}

/* ---- locations ---- */

const attr *loc_unknown(ir_ctx *c) {
  if (!c->unknown_loc) c->unknown_loc = attr_unique(c, &(attr){.id = ATTR_loc_unknown});
  return c->unknown_loc;
}

/* Readers ask for a location an op, so the name is not looked up again where it is the last
 * one's. */
const attr *loc_file(ir_ctx *c, str file, u32 line, u32 col) {
  const attr *name = c->last_file; /* nearly always the same as before */
  if (!name || !str_eq(((const string_attr *)name)->value, file))
    c->last_file = name = attr_string(c, file);
  return attr_make(c, loc_file, .file = name, .line = line, .col = col);
}

/* As FusedLoc::get in MLIR: fused locations with the same metadata are opened, doubles and unknown
 * ones go, and one alone stands for itself unless there is metadata to keep. */
static const attr *fuse(ir_ctx *c, arena *scratch, attrs parts, const attr *metadata) {
  VEC(const attr *) v = {0};
  hash_index seen = {0};
  for (size_t i = 0; i < parts.len; i++) {
    const loc_fused_attr *f = attr_as(loc_fused, parts.data[i]);
    bool open = f && f->metadata == metadata;
    attrs inner = open ? f->locs : (attrs){&parts.data[i], 1};
    for (size_t k = 0; k < inner.len; k++) {
      const attr *one = inner.data[k];
      if ((!open && attr_is(loc_unknown, one)) || index_get(&seen, one)) continue;
      index_set(&seen, scratch, one, c);
      VEC_PUSH(scratch, v, one);
    }
  }
  if (v.len == 0 && metadata) VEC_PUSH(scratch, v, loc_unknown(c));
  if (v.len == 0) return loc_unknown(c);
  if (v.len == 1 && !metadata) return v.data[0];
  return attr_make(c, loc_fused, .locs = {v.data, v.len}, .metadata = metadata);
}

const attr *loc_fuse_all(ir_ctx *c, attrs parts, const attr *metadata) {
  const attr *a = fuse(c, ir_scratch_push(c), parts, metadata);
  ir_scratch_pop(c);
  return a;
}

const attr *loc_fuse(ir_ctx *c, const attr *a, const attr *b) {
  return loc_fuse_all(c, (attrs){(const attr *const[]){a, b}, 2}, NULL);
}

/* MLIR's rule for diagnostics: the child of a name, the callee of a call, the first of several.
 * Bounded, since locations may nest deeper than anybody looks. */
str loc_outer_name(const attr *loc) {
  for (int depth = 0; loc && depth < 256; depth++) {
    const loc_name_attr *n = attr_as(loc_name, loc);
    if (n) return n->name;
    const loc_callsite_attr *s = attr_as(loc_callsite, loc);
    const loc_fused_attr *u = attr_as(loc_fused, loc);
    loc = s ? s->callee : u && u->locs.len ? u->locs.data[0] : NULL;
  }
  return (str){0};
}

diag_pos loc_pos(const attr *loc) {
  for (int depth = 0; loc && depth < 256; depth++) {
    const loc_file_attr *f = attr_as(loc_file, loc);
    if (f) return (diag_pos){loc_file_name(f), f->line, f->col};
    const loc_name_attr *n = attr_as(loc_name, loc);
    const loc_callsite_attr *s = attr_as(loc_callsite, loc);
    const loc_fused_attr *u = attr_as(loc_fused, loc);
    loc = n ? n->child : s ? s->callee : u && u->locs.len ? u->locs.data[0] : NULL;
  }
  return (diag_pos){0};
}
