/* Types and attributes: immutable, uniqued in a context, so that equality is `==`.
 *
 * Everything here lives in the context's arena and dies with it. A context is used by one
 * thread at a time. The kinds of attributes are the rows of ir/attrs.def; a row gives
 * struct <id>_attr, whose fields are read directly after a check of the id:
 *
 *   const dot_attr *d = attr_as(dot, a);   NULL if a is NULL or something else
 */
#ifndef IR_ATTR_H
#define IR_ATTR_H

#include "base/arena.h"
#include "base/diag.h"

typedef struct ir_ctx ir_ctx;
typedef struct type type;
typedef struct attr attr;

/* ---- types ---- */

typedef enum type_kind {
  TYPE_NONE,
  TYPE_INDEX,
  TYPE_INT,
  TYPE_FLOAT,
  TYPE_COMPLEX,         /* elem */
  TYPE_TENSOR,          /* dims, elem, encoding */
  TYPE_UNRANKED,        /* elem */
  TYPE_VECTOR,          /* dims, elem, scalable */
  TYPE_FUNCTION,        /* types: num_inputs inputs, then results */
  TYPE_TUPLE,           /* types */
  TYPE_TOKEN,           /* !stablehlo.token */
  TYPE_FUTURE,          /* !stablehlo.future<types> */
  TYPE_OPAQUE,          /* !text, of a dialect we have no rows for */
  TYPE_QUANT,           /* quant */
  TYPE_MEMREF,          /* dims, elem, encoding (its layout), space */
  TYPE_UNRANKED_MEMREF, /* elem, space */
  TYPE_MESH_TENSOR,     /* !mpmd.mesh_tensor: text (the mesh), types[0] (the whole tensor, whose
                           dims and elem it has too), encoding (its sharding), space (a string) */
} type_kind;

/* Types and attributes are walked by recursion, so who makes them keeps `depth` within this: text,
 * bytecode, the C API. */
enum { IR_MAX_NESTING = 512 };

enum { IR_MAX_INT_WIDTH = (1 << 24) - 1 }; /* bits, as MLIR has it */

typedef enum signedness { SIGNLESS, SIGNED, UNSIGNED } signedness;

/* F(id, "spelling", bits): the float types */
#define FLOAT_TYPES(F)                                                                             \
  F(f4E2M1FN, "f4E2M1FN", 4)                                                                       \
  F(f6E2M3FN, "f6E2M3FN", 6)                                                                       \
  F(f6E3M2FN, "f6E3M2FN", 6)                                                                       \
  F(f8E3M4, "f8E3M4", 8)                                                                           \
  F(f8E4M3, "f8E4M3", 8)                                                                           \
  F(f8E4M3B11FNUZ, "f8E4M3B11FNUZ", 8)                                                             \
  F(f8E4M3FN, "f8E4M3FN", 8)                                                                       \
  F(f8E4M3FNUZ, "f8E4M3FNUZ", 8)                                                                   \
  F(f8E5M2, "f8E5M2", 8)                                                                           \
  F(f8E5M2FNUZ, "f8E5M2FNUZ", 8)                                                                   \
  F(f8E8M0FNU, "f8E8M0FNU", 8)                                                                     \
  F(bf16, "bf16", 16)                                                                              \
  F(f16, "f16", 16)                                                                                \
  F(f32, "f32", 32)                                                                                \
  F(tf32, "tf32", 19)                                                                              \
  F(f64, "f64", 64)                                                                                \
  F(f80, "f80", 80)                                                                                \
  F(f128, "f128", 128)

typedef enum float_kind {
#define F(id, ...) FLOAT_##id,
  FLOAT_TYPES(F)
#undef F
      FLOAT_COUNT
} float_kind;
extern const char *const float_names[FLOAT_COUNT];

/* Borrowed lists; those inside a type or an attribute belong to the context. */
typedef struct types {
  const type *const *data;
  size_t len;
} types;

#define DYNAMIC INT64_MIN /* a dimension of unknown size */

/* Which fields count is said by the kind, above; the others are zero, so that all of them may be
 * hashed and compared. */
struct type {
  u8 kind;   /* type_kind */
  u8 sign;   /* signedness, of integers */
  u8 flt;    /* float_kind */
  u32 width; /* bits, of integers and floats */
  u32 num_inputs;
  u32 scalable; /* mask of dimensions */
  u32 depth;    /* of nesting; 1: no types or attributes inside */
  u64 hash;
  const type *elem;
  const attr *encoding; /* NULL: none */
  const attr *space;    /* NULL: none */
  i64s dims;
  types types;
  str text;
  const struct quant *quant; /* of TYPE_QUANT; NULL otherwise */
};

/* ---- quantized types: integers that stand for (v - zero_point) * scale ---- */

typedef enum quant_form {
  QUANT_ANY,         /* storage, perhaps expressed; no scales */
  QUANT_UNIFORM,     /* one scale and zero point */
  QUANT_PER_AXIS,    /* those of each position along dims[0] */
  QUANT_SUB_CHANNEL, /* those of each block: dims and block_sizes, one a quantized dimension */
  QUANT_CALIBRATED,  /* expressed; scales are the least and the greatest value */
} quant_form;

typedef struct quant {
  quant_form form;
  bool is_signed;        /* of the storage; i8 is signed, ui8 and u8 are not */
  bool u_spelling;       /* unsigned, but storage is signless: printed u8 */
  const type *storage;   /* an integer, or a float of at most 8 bits; NULL if calibrated */
  const type *expressed; /* a float; NULL is for QUANT_ANY */
  i64 min, max;          /* range of the storage */
  i64s scales;           /* as bit patterns of f64, whatever expressed is */
  i64s zero_points;      /* as many */
  i64s dims, block_sizes;
  i64s shape; /* QUANT_SUB_CHANNEL: of scales, row-major */
} quant;

/* Copies; the caller has asked quant_problem. */
const type *type_quant(ir_ctx *c, const quant *q);
/* What is wrong with it, in the context's arena; NULL: nothing. */
const char *quant_problem(ir_ctx *c, const quant *q);
/* The range of a storage type without a narrower one; false: it cannot store. */
bool quant_default_range(const type *storage, bool is_signed, i64 *min, i64 *max);
double quant_double(i64 bits); /* a scale */

/* These return the one type with the contents, made on first use. Lists are copied. They check
 * nothing: text, bytecode and the C API refuse what MLIR refuses before they ask. */
/* False: no such string was made in the context, so that nothing has an attribute of this name. */
bool ir_may_have_string(ir_ctx *c, str s);
/* False: no type of this kind was made in the context, so that nothing can have one. */
bool ir_may_have_type(const ir_ctx *c, type_kind kind);
const type *type_none(ir_ctx *c);
const type *type_index(ir_ctx *c);
const type *type_int(ir_ctx *c, u32 width, signedness sign);
const type *type_i1(ir_ctx *c);
const type *type_i32(ir_ctx *c);
const type *type_i64(ir_ctx *c);
const type *type_float(ir_ctx *c, float_kind kind);
const type *type_complex(ir_ctx *c, const type *elem);
const type *type_tensor(ir_ctx *c, i64s dims, const type *elem, const attr *encoding);
const type *type_unranked(ir_ctx *c, const type *elem);
const type *type_vector(ir_ctx *c, i64s dims, const type *elem);
const type *type_function(ir_ctx *c, types inputs, types results);
const type *type_tuple(ir_ctx *c, types elems);
const type *type_token(ir_ctx *c);
const type *type_future(ir_ctx *c, types elems); /* tensors */
const type *type_opaque(ir_ctx *c, str text);    /* without the `!` */
/* layout and space may be NULL: row-major, the default space. */
const type *type_memref(ir_ctx *c, i64s dims, const type *elem, const attr *layout,
                        const attr *space);
/* A ranked tensor on the mesh of that name; its sharding there and its memory kind may be NULL. */
const type *type_mesh_tensor(ir_ctx *c, str mesh, const type *tensor, const attr *sharding,
                             const attr *memory_kind);
const type *type_unranked_memref(ir_ctx *c, const type *elem, const attr *space);
/* scalable: bit i is dimension i, of the first 32 */
const type *type_scalable_vector(ir_ctx *c, i64s dims, u32 scalable, const type *elem);

static inline bool type_is_ranked(const type *t) { return t->kind == TYPE_TENSOR; }
static inline bool type_is_tensor(const type *t) {
  return t->kind == TYPE_TENSOR || t->kind == TYPE_UNRANKED;
}
static inline bool type_is_mesh_tensor(const type *t) { return t->kind == TYPE_MESH_TENSOR; }
/* Can it be that of a tensor, a vector, a memref? */
bool type_is_element(const type *t);
bool type_is_vector_element(const type *t);
bool type_is_memref_element(const type *t);
bool attr_is_memory_space(const attr *a);
/* Of the kinds that dense and sparse constants may have. */
static inline bool type_is_shaped(const type *t) {
  return type_is_tensor(t) || t->kind == TYPE_VECTOR || t->kind == TYPE_MEMREF ||
         t->kind == TYPE_UNRANKED_MEMREF;
}
/* Of one of these kinds, and of a shape that is known. */
bool type_is_static_shape(const type *t);
/* element type of tensors and vectors, the type itself otherwise */
const type *type_element(const type *t);
bool type_is_static(const type *t); /* a ranked tensor without DYNAMIC dimensions */
/* Product of the dimensions; false if dynamic or over INT64_MAX. */
bool type_num_elements(const type *t, i64 *out);
/* What its elements take; 0: it has no static shape, or they are too many. */
u64 type_num_bytes(const type *t);
/* Bytes of one element as `dense` stores it; 0: has no such form (index counts as 8). */
size_t type_storage(const type *element);
/* i0, or complex of it: no bits; stored as zeros, which neither hex digits nor bytecode have. */
bool type_is_empty(const type *element);
static inline types type_inputs(const type *f) { return (types){f->types.data, f->num_inputs}; }
static inline types type_results(const type *f) {
  return (types){f->types.data + f->num_inputs, f->types.len - f->num_inputs};
}
static inline bool types_eq(types a, types b) {
  return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len * sizeof(*a.data)) == 0);
}
/* The same tensor with other dims. */
const type *type_with_dims(ir_ctx *c, const type *tensor, i64s dims);

/* ---- attributes ---- */

typedef struct attrs {
  const attr *const *data;
  size_t len;
} attrs;

typedef enum attr_id {
#define ATTR(id, ...) ATTR_##id,
#define ENUM(id, ...) ATTR_##id,
#include "ir/attrs.def"
  ATTR_COUNT
} attr_id;

/* What every struct <id>_attr begins with. `hash` is that of the fields; 0 where not unique. */
struct attr {
  u16 id;      /* attr_id */
  bool unique; /* false: a large constant, which has no twin to compare with */
  u32 depth;   /* of nesting; 1: no types or attributes inside */
  u64 hash;
};

typedef enum field_kind {
  FIELD_i64,
  FIELD_u32,
  FIELD_bool,
  FIELD_str,
  FIELD_i64s,
  FIELD_type,
  FIELD_attr,
  FIELD_attrs
} field_kind;

/* struct dot_attr { attr base; i64s lhs_batching_dimensions; ... }; enums: { base; i64 value; } */
typedef i64 field_i64;
typedef u32 field_u32;
typedef bool field_bool;
typedef str field_str;
typedef i64s field_i64s;
typedef const type *field_type;
typedef const attr *field_attr;
typedef attrs field_attrs;
#define F(kind, name) field_##kind name;
#define ATTR(id, mnemonic, fields)                                                                 \
  typedef struct id##_attr {                                                                       \
    attr base;                                                                                     \
    fields                                                                                         \
  } id##_attr;
#define ENUM(id, ...)                                                                              \
  typedef struct id##_attr {                                                                       \
    attr base;                                                                                     \
    i64 value;                                                                                     \
  } id##_attr;
#include "ir/attrs.def"
#undef F

typedef struct field_info {
  const char *name;
  field_kind kind;
  u32 offset;
} field_info;

typedef struct attr_info {
  const char *name; /* "stablehlo.dot" */
  u32 size;
  const field_info *(*fields)(void); /* ends with a NULL name */
  const char *const *cases;          /* enums; NULL otherwise */
  u32 num_cases;
} attr_info;
extern const attr_info attr_infos[ATTR_COUNT];

#define attr_is(kind, a) ((a) && (a)->id == ATTR_##kind)
#define attr_as(kind, a) ((const kind##_attr *)attr_as_id((a), ATTR_##kind))
static inline const void *attr_as_id(const attr *a, attr_id id) {
  return a && a->id == id ? a : NULL;
}
/* The uniqued attribute with these fields: attr_make(c, dot, .lhs_batching_dimensions = ...).
 * Fields are copied. */
#define attr_make(c, kind, ...)                                                                    \
  attr_unique((c), &((kind##_attr){.base = {.id = ATTR_##kind}, __VA_ARGS__}).base)
/* The one with the fields of `proto`, whose id is set; lists are copied on first use. */
const attr *attr_unique(ir_ctx *c, const attr *proto);

/* Printing gives maps, sets and their like a name (#map), for which it has to look twice; false
 * if no such attribute has been made, nor ir_note_aliased called (for locations as attributes). */
bool ir_has_aliased(const ir_ctx *c);
void ir_note_aliased(ir_ctx *c);

const attr *attr_unit(ir_ctx *c);
const attr *attr_bool(ir_ctx *c, bool v); /* integer of type i1 */
const attr *attr_int(ir_ctx *c, const type *t, i64 v);
const attr *attr_i64(ir_ctx *c, i64 v);
const attr *attr_string(ir_ctx *c, str s);
const attr *attr_symbol(ir_ctx *c, str s); /* flat */
const attr *attr_array(ir_ctx *c, attrs elems);
const attr *attr_type(ir_ctx *c, const type *t);
const attr *attr_i64_array(ir_ctx *c, i64s v); /* array<i64: ...> */
const attr *attr_enum(ir_ctx *c, attr_id id, i64 value);
/* false: no such case */
bool attr_enum_case(attr_id id, str name, i64 *out);
str attr_enum_name(const attr *a);
/* `data` holds all elements, or one if splat, as attr `dense` says. Over 256 bytes it is not
 * uniqued, and `borrow` (data outlives the context) saves the copy. */
const attr *attr_dense(ir_ctx *c, const type *t, str data, bool splat, bool borrow);
const attr *attr_dense_i64(ir_ctx *c, i64s dims, const i64 *values); /* tensor<dims x i64> */
/* A dictionary; sorts; a name twice keeps the later one. */
typedef struct named_attr {
  const attr *name; /* string */
  const attr *value;
} named_attr;
const attr *attr_dict(ir_ctx *c, const named_attr *entries, size_t n);
const attr *attr_dict_get(const attr *dict, str name); /* NULL: absent, or dict is NULL */

/* Reading, false if it is something else: */
bool attr_get_i64(const attr *a, i64 *out);    /* integer */
bool attr_get_bool(const attr *a, bool *out);  /* integer i1, or unit */
bool attr_get_str(const attr *a, str *out);    /* string */
bool attr_get_symbol(const attr *a, str *out); /* flat symbol_ref */
/* dense_array of i64, or dense integers of rank 1 (i64): a view without a copy where the
 * storage allows; the arena takes a copy otherwise. */
bool attr_get_i64s(ir_ctx *c, const attr *a, i64s *out);
/* Integer value of element i of a dense attribute of integers or i1 (sign from the type). */
i64 attr_dense_int(const attr *dense, size_t i);
/* What is wrong with dense indices (i64) and values as a sparse constant of static type t; *at: an
 * index out of bounds. */
typedef enum sparse_fault { SPARSE_FITS, SPARSE_VALUES, SPARSE_SHAPES, SPARSE_INDEX } sparse_fault;
sparse_fault attr_sparse_fault(const type *t, const attr *indices, const attr *values, i64 *at);
/* Of a dense or dense_string attribute; else NULL. */
const type *attr_dense_type(const attr *a);
/* What stands behind its colon: of numbers, strings, elements and those of unknown dialects. NULL:
 * it has none, which of the typed ones means type_none. */
const type *attr_type_of(const attr *a);
bool attr_is_typed(const attr *a);
str symbol_of(const attr *a); /* root of a symbol_ref, or empty */

/* ---- locations ---- */
const attr *loc_unknown(ir_ctx *c);
const attr *loc_file(ir_ctx *c, str file, u32 line, u32 col);
static inline str loc_file_name(const loc_file_attr *f) {
  return ((const string_attr *)f->file)->value;
}
static inline bool attr_is_loc(const attr *a) {
  return a && a->id >= ATTR_loc_unknown && a->id <= ATTR_loc_fused;
}
/* One for all, as MLIR fuses: parts of those with this metadata (NULL: none) in their place, equal
 * ones once, unknown ones not at all. */
const attr *loc_fuse_all(ir_ctx *c, attrs parts, const attr *metadata);
const attr *loc_fuse(ir_ctx *c, const attr *a, const attr *b);
/* The first file position inside a location; empty file if none. */
diag_pos loc_pos(const attr *loc);
/* The outermost name, as JAX calls the op: "jit(f)/layer1/dot_general"; empty: none. */
str loc_outer_name(const attr *loc);

/* ---- context ---- */
/* `sink` is borrowed and may be changed. The trap serves all arenas of the context. Destroying the
 * context frees what it, its modules and all users of ir_mem still hold: after a jump to the trap
 * nothing else needs releasing. */
ir_ctx *ir_ctx_create(const allocator *mem, oom_trap *trap, diag_sink *sink); /* NULL: no memory */
void ir_ctx_destroy(ir_ctx *c);
arena *ir_arena(ir_ctx *c); /* lives as long as the context */
diag_sink *ir_sink(ir_ctx *c);
const allocator *ir_mem(ir_ctx *c);
oom_trap *ir_trap(ir_ctx *c);

/* An attribute or type of a foreign dialect, which is kept as text. */
typedef struct ir_symbol {
  struct ir_symbol *next; /* the context's */
  str name;               /* "mine.layout" */
  bool is_type;
  /* Of what stands in its angle brackets. False: `why` says what is wrong. NULL: anything goes. */
  bool (*check)(void *user, str body, buf *why);
  void *user;
} ir_symbol;
/* Borrowed. False: there is one of that name and sort. */
bool ir_symbol_register(ir_ctx *c, ir_symbol *s);
const ir_symbol *ir_symbol_find(const ir_ctx *c, bool is_type, str dialect, str mnemonic);
/* A text behind the dialect's name, "layout<4>", in two: "layout" and "4". */
void ir_symbol_cut(str text, str *out_mnemonic, str *out_body);

/* Kept for shard/op_priorities.h. */
void ir_set_op_priorities(ir_ctx *c, const void *list);
const void *ir_op_priorities(const ir_ctx *c);

/* A scratch arena until the matching pop. Strictly nested. */
arena *ir_scratch_push(ir_ctx *c);
void ir_scratch_pop(ir_ctx *c);
/* The latest, or NULL; and pops what came after it, when a jump has ended in between. */
const arena *ir_scratch_top(const ir_ctx *c);
void ir_scratch_unwind(ir_ctx *c, const arena *top);

/* dense_resource blobs of the file: key -> bytes (borrowed for the context's life). */
void ir_resource_set(ir_ctx *c, str key, str bytes);
bool ir_resource_get(ir_ctx *c, str key, str *out);
/* The alignment that the file asks for, which only printing needs; 0: not said. */
void ir_resource_set_align(ir_ctx *c, str key, u32 align);
u32 ir_resource_align(ir_ctx *c, str key);

#endif
