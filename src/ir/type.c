/* Types, uniqued by their contents.
 *
 * Each constructor fills a prototype on the stack and asks `unique` for the one like it. A type's
 * parts are uniqued already, so hash and comparison are of pointers and short lists. */
#include "ir/ctx.h"

const char *const float_names[FLOAT_COUNT] = {
#define F(id, name, bits) [FLOAT_##id] = name,
    FLOAT_TYPES(F)
#undef F
};

static const u32 float_bits[FLOAT_COUNT] = {
#define F(id, name, bits) [FLOAT_##id] = bits,
    FLOAT_TYPES(F)
#undef F
};

/* Every field that same_type compares, but not `depth`, which follows from them. */
static u64 hash_type(const type *t) {
  u64 h = hash_u64((u64)t->kind | (u64)t->sign << 8 | (u64)t->flt << 16 | (u64)t->width << 32,
                   t->num_inputs | (u64)t->scalable << 32);
  h = hash_ptr(t->elem, h);
  h = hash_ptr(t->encoding, h);
  if (t->space) h = hash_ptr(t->space, h);
  if (t->quant) h = quant_hash(t->quant, h);
  h = hash_bytes(t->dims.data, t->dims.len * sizeof(i64), h);
  h = hash_bytes(t->types.data, t->types.len * sizeof(type *), h);
  return hash_bytes(t->text.data, t->text.len, h);
}

static bool same_type(const void *entry, const void *key) {
  const type *a = entry, *b = key;
  return a->kind == b->kind && a->sign == b->sign && a->flt == b->flt && a->width == b->width &&
         a->num_inputs == b->num_inputs && a->elem == b->elem && a->encoding == b->encoding &&
         a->scalable == b->scalable && a->space == b->space && quant_same(a->quant, b->quant) &&
         i64s_eq(a->dims, b->dims) && types_eq(a->types, b->types) && str_eq(a->text, b->text);
}

/* Who walks types does so by recursion, so their makers keep this within IR_MAX_NESTING. */
static u32 depth_of(const type *t) {
  u32 d = t->elem ? t->elem->depth : 0;
  if (t->encoding && t->encoding->depth > d) d = t->encoding->depth;
  if (t->space && t->space->depth > d) d = t->space->depth;
  for (size_t i = 0; i < t->types.len; i++)
    if (t->types.data[i]->depth > d) d = t->types.data[i]->depth;
  return d + 1;
}

/* Lists are copied only when the type is new. */
static const type *unique(ir_ctx *c, type proto) {
  size_t slot;
  arena *a = &c->arena;
  proto.hash = hash_type(&proto);
  type *t = table_find(&c->types, a, proto.hash, &proto, same_type, &slot);
  if (t) return t;
  t = arena_copy(a, &proto, sizeof proto);
  t->dims.data = arena_copy(a, proto.dims.data, proto.dims.len * sizeof(i64));
  t->types.data = arena_copy(a, proto.types.data, proto.types.len * sizeof(type *));
  t->text = arena_str(a, proto.text);
  if (proto.quant) t->quant = quant_copy(a, proto.quant);
  t->depth = depth_of(t);
  table_put(&c->types, slot, proto.hash, t);
  c->type_kinds |= 1u << t->kind;
  return t;
}

bool ir_may_have_type(const ir_ctx *c, type_kind kind) { return c->type_kinds >> kind & 1; }

const type *type_none(ir_ctx *c) { return unique(c, (type){.kind = TYPE_NONE}); }
const type *type_index(ir_ctx *c) { return unique(c, (type){.kind = TYPE_INDEX}); }
const type *type_token(ir_ctx *c) { return unique(c, (type){.kind = TYPE_TOKEN}); }

const type *type_int(ir_ctx *c, u32 width, signedness sign) {
  return unique(c, (type){.kind = TYPE_INT, .sign = (u8)sign, .width = width});
}

/* The types that everybody asks for have a place in the context: no hash. */
static const type *cached(ir_ctx *c, const type **at, u32 width) {
  if (!*at) *at = type_int(c, width, SIGNLESS);
  return *at;
}
const type *type_i1(ir_ctx *c) { return cached(c, &c->i1, 1); }
const type *type_i32(ir_ctx *c) { return cached(c, &c->i32, 32); }
const type *type_i64(ir_ctx *c) { return cached(c, &c->i64, 64); }

const type *type_float(ir_ctx *c, float_kind kind) {
  return unique(c, (type){.kind = TYPE_FLOAT, .flt = (u8)kind, .width = float_bits[kind]});
}

const type *type_complex(ir_ctx *c, const type *elem) {
  return unique(c, (type){.kind = TYPE_COMPLEX, .elem = elem});
}

const type *type_tensor(ir_ctx *c, i64s dims, const type *elem, const attr *encoding) {
  return unique(c, (type){.kind = TYPE_TENSOR, .dims = dims, .elem = elem, .encoding = encoding});
}

const type *type_unranked(ir_ctx *c, const type *elem) {
  return unique(c, (type){.kind = TYPE_UNRANKED, .elem = elem});
}

const type *type_vector(ir_ctx *c, i64s dims, const type *elem) {
  return unique(c, (type){.kind = TYPE_VECTOR, .dims = dims, .elem = elem});
}

/* One list of both, with the number of inputs. */
const type *type_function(ir_ctx *c, types inputs, types results) {
  size_t n = inputs.len + results.len;
  const type **all = ARENA_ARRAY(&c->arena, const type *, n);
  if (inputs.len) memcpy(all, inputs.data, inputs.len * sizeof *all);
  if (results.len) memcpy(all + inputs.len, results.data, results.len * sizeof *all);
  return unique(c, (type){.kind = TYPE_FUNCTION, .num_inputs = (u32)inputs.len, .types = {all, n}});
}

const type *type_future(ir_ctx *c, types elems) {
  return unique(c, (type){.kind = TYPE_FUTURE, .types = elems});
}
const type *type_tuple(ir_ctx *c, types elems) {
  return unique(c, (type){.kind = TYPE_TUPLE, .types = elems});
}

const type *type_opaque(ir_ctx *c, str text) {
  return unique(c, (type){.kind = TYPE_OPAQUE, .text = text});
}

const type *type_scalable_vector(ir_ctx *c, i64s dims, u32 scalable, const type *elem) {
  return unique(c, (type){.kind = TYPE_VECTOR, .dims = dims, .elem = elem, .scalable = scalable});
}

const type *type_memref(ir_ctx *c, i64s dims, const type *elem, const attr *layout,
                        const attr *space) {
  return unique(
      c,
      (type){.kind = TYPE_MEMREF, .dims = dims, .elem = elem, .encoding = layout, .space = space});
}

const type *type_unranked_memref(ir_ctx *c, const type *elem, const attr *space) {
  return unique(c, (type){.kind = TYPE_UNRANKED_MEMREF, .elem = elem, .space = space});
}

const type *type_mesh_tensor(ir_ctx *c, str mesh, const type *tensor, const attr *sharding,
                             const attr *memory_kind) {
  return unique(c, (type){.kind = TYPE_MESH_TENSOR,
                          .text = mesh,
                          .types = {&tensor, 1},
                          .dims = tensor->dims,
                          .elem = tensor->elem,
                          .encoding = sharding,
                          .space = memory_kind});
}

const type *type_quant(ir_ctx *c, const quant *q) {
  return unique(c, (type){.kind = TYPE_QUANT, .quant = q});
}

const type *type_with_dims(ir_ctx *c, const type *tensor, i64s dims) {
  return type_tensor(c, dims, tensor->elem, tensor->encoding);
}

/* MLIR's TensorType::isValidElementType: builtin scalars and what dialects offer. */
bool type_is_element(const type *t) {
  return type_is_vector_element(t) || t->kind == TYPE_COMPLEX || t->kind == TYPE_VECTOR ||
         t->kind == TYPE_QUANT || t->kind == TYPE_OPAQUE || t->kind == TYPE_TOKEN ||
         t->kind == TYPE_FUTURE;
}

const type *type_element(const type *t) {
  return type_is_tensor(t) || t->kind == TYPE_VECTOR ? t->elem : t;
}

bool type_is_vector_element(const type *t) {
  return t->kind == TYPE_INT || t->kind == TYPE_FLOAT || t->kind == TYPE_INDEX;
}

bool type_is_memref_element(const type *t) {
  return type_is_vector_element(t) || t->kind == TYPE_COMPLEX || t->kind == TYPE_VECTOR ||
         t->kind == TYPE_MEMREF || t->kind == TYPE_UNRANKED_MEMREF;
}

/* Integers, strings, dictionaries, and what other dialects have. */
bool attr_is_memory_space(const attr *a) {
  return attr_is(integer, a) || attr_is(string, a) || attr_is(dict, a) ||
         strchr(attr_infos[a->id].name, '.');
}

bool type_is_static_shape(const type *t) {
  if (!type_is_shaped(t) || t->kind == TYPE_UNRANKED || t->kind == TYPE_UNRANKED_MEMREF)
    return false;
  for (size_t i = 0; i < t->dims.len; i++)
    if (t->dims.data[i] < 0) return false;
  return true;
}

bool type_is_static(const type *t) { return t->kind == TYPE_TENSOR && type_is_static_shape(t); }

/* false: dynamic, or more than an i64 counts. */
bool type_num_elements(const type *t, i64 *out) {
  i64 n = 1;
  for (size_t i = 0; i < t->dims.len; i++)
    if (t->dims.data[i] < 0 || !checked_mul(n, t->dims.data[i], &n)) return false;
  *out = n;
  return true;
}

/* Sub-byte types take a byte an element, as in the `dense` row of attrs.def; i0 takes one as
 * well. */
size_t type_storage(const type *t) {
  switch ((type_kind)t->kind) {
  case TYPE_INDEX:
    return 8;
  case TYPE_INT:
  case TYPE_FLOAT:
    return t->width ? (t->width + 7) / 8 : 1;
  case TYPE_COMPLEX:
    return 2 * type_storage(t->elem);
  default:
    return 0;
  }
}

u64 type_num_bytes(const type *t) {
  i64 n, bytes;
  bool known = type_is_ranked(t) && type_num_elements(t, &n) &&
               checked_mul(n, (i64)type_storage(t->elem), &bytes);
  return known ? (u64)bytes : 0;
}

bool type_is_empty(const type *t) {
  return t->kind == TYPE_COMPLEX ? type_is_empty(t->elem) : t->kind == TYPE_INT && t->width == 0;
}
