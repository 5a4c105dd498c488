/* What the parts of the bytecode reader share: cursors, tables, primitives.
 *
 * Failure is sticky: the first bad byte is reported and sets `failed`; from then on the
 * primitives return zeros and NULLs, so that callers check once, before they make something.
 * Counts are checked against the bytes that are left, so a small file cannot ask for much. */
#ifndef BYTECODE_READER_H
#define BYTECODE_READER_H

#include "ir/op.h"

typedef struct cursor {
  const u8 *at, *end;
} cursor;

/* An attribute or type of the file; decoded when first asked for. */
typedef struct entry {
  cursor bytes;
  u32 dialect;
  bool custom; /* the dialect's own encoding; else text */
  bool busy;   /* being decoded: a reference to it now is a cycle */
  u64 size;    /* with all inside, as often as they are referred to */
  const void *value;
} entry;

/* Which codec reads a dialect's attributes and types. */
typedef enum dialect_kind {
  DIALECT_builtin,
  DIALECT_sdy,
  DIALECT_vhlo,
  DIALECT_stablehlo,
  DIALECT_chlo,
  DIALECT_quant,
  DIALECT_other
} dialect_kind;

typedef struct dialect {
  str name;
  dialect_kind kind;
} dialect;

/* Where a property of the wire goes; see vhlo.c. */
typedef struct prop {
  int slot;                /* of the op's row; -1: an attribute by name */
  const field_info *field; /* a part of the slot's attribute; NULL: all of it */
} prop;

typedef struct op_name {
  str name; /* without the dialect */
  u32 dialect;
  bool registered;
  const op_info *info;         /* NULL until first used */
  const struct vhlo_row *vhlo; /* NULL: not an op of VHLO that we know */
  prop *props;                 /* VHLO: a place for each attribute of its row */
  u8 *order;                   /* other ops with a row: slots sorted by name */
} op_name;

/* The order of a value's uses where it is not the natural one, last use first: place `indices[k]`
 * for the k-th of that order, or pairs (k, place) of those that are elsewhere. */
typedef struct use_order {
  value *value;
  u64 place; /* of the value among those of its op or block */
  cursor indices;
  u64 count;
  bool pairs;
  const u8 *from;
} use_order;

/* What properties make of an op of this name: its slots. */
typedef struct known_props {
  const op_name *name; /* NULL: not known */
  const op_info *info;
  const attr **slots;
} known_props;

/* One a call of bytecode_read, on its stack; the tables are in its scratch arena. */
typedef struct reader {
  ir_ctx *ctx;
  ir_module *module;
  const struct codec *const *codecs; /* by dialect_kind */
  arena *arena;                      /* scratch */
  str file, bytes;
  u64 version;
  bool failed;
  bool has_casts; /* between VHLO and others, which are left out */
  int depth;      /* of nested attributes and types */
  u64 tree;       /* the size of the one at hand, were it written out */
  u64 attrs_given;
  i64 last_distinct;
  VEC(use_order) orders;
  i64 *lists[8]; /* see dense_ints */
  u32 next_list;
  str *strings;
  dialect *dialects;
  op_name *ops;
  entry *attrs, *types;
  str *resources; /* keys */
  cursor *props;
  known_props *known; /* by properties: of the op of VHLO that had them first */
  size_t num_strings, num_dialects, num_ops, num_attrs, num_types, num_resources, num_props;
} reader;

enum {
  VERSION_DIALECTS = 1,
  VERSION_SECTIONS = 2,
  VERSION_USES = 3,
  VERSION_ARG_LOCS = 4,
  VERSION_PROPERTIES = 5,
  VERSION_NEWEST = 6
};

/* ---- cursor.c ---- */

/* Reports once, with the offset of `at`. Always false. */
bool fail_at(reader *r, const u8 *at, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* The same for what is right but not supported. */
bool fail_unimplemented(reader *r, const u8 *at, const char *fmt, ...) PRINTF_LIKE(3, 4);

static inline size_t cursor_left(const cursor *c) { return (size_t)(c->end - c->at); }
u8 get_byte(reader *r, cursor *c);
u64 get_uint(reader *r, cursor *c);               /* varint */
i64 get_int(reader *r, cursor *c);                /* zigzag varint */
bool get_flagged(reader *r, cursor *c, u64 *out); /* varint with a flag in its low bit */
size_t get_count(reader *r, cursor *c);           /* of things that take a byte each at least */
str get_bytes(reader *r, cursor *c, u64 n);
str get_blob(reader *r, cursor *c);   /* length and bytes */
str get_string(reader *r, cursor *c); /* index into the strings */
/* n-bit integer as MLIR writes it, sign-extended; over 64 bits *wide gets its bytes. */
i64 get_bits(reader *r, cursor *c, u32 width, str *wide);
/* A section's contents; its id in *id. */
cursor get_section(reader *r, cursor *c, u8 *id);

/* ---- attrs.c ---- */

const attr *attr_at(reader *r, const u8 *from, u64 index);
const type *type_at(reader *r, const u8 *from, u64 index);
const attr *get_attr(reader *r, cursor *c);
const attr *get_attr_or_null(reader *r, cursor *c); /* index with a flag: present */
const attr *get_loc(reader *r, cursor *c);
const type *get_type(reader *r, cursor *c);
attrs get_attrs(reader *r, cursor *c);
types get_types(reader *r, cursor *c);
i64s get_ints(reader *r, cursor *c);
/* The dictionary that an op gets its attributes from; NULL: it is none, or the ops of the file have
 * too many for its size, reported. */
const dict_attr *attributes_of_op(reader *r, const u8 *from, const attr *a);

/* An attribute that is a list of fields on the wire, in the order of its row in attrs.def. */
enum { MAX_WIRE = 9 };
typedef struct wire_field {
  char how; /* i signed, u unsigned, I signed list, s string, S string attribute, a attribute,
               A attributes, t type, b byte, f 64-bit float, e enum case, p flagged or -1 */
  int kind; /* of attributes: the attr_id + 1 they must be of; 0 any; WIRE_LOC a location */
} wire_field;
enum { WIRE_LOC = -1 };
#define WIRE(kind) (ATTR_##kind + 1)
typedef const attr *attr_fn(reader *, cursor *);
typedef struct writer writer;
typedef enum wire_mode { MODE_native, MODE_vhlo } wire_mode; /* what the parts are written as */
typedef void put_fn(writer *, const attr *, u64 code, wire_mode);
typedef struct attr_code {
  attr_fn *fn;                 /* NULL: by the fields */
  put_fn *put;                 /* writes the code and what follows; NULL: by the fields */
  bool (*takes)(const attr *); /* which ones it can write; NULL: all of the id */
  bool known;
  u16 id;
  wire_field fields[MAX_WIRE + 1];
} attr_code;
#define BY_FIELDS(id_, ...)                                                                        \
  {                                                                                                \
    .known = true, .id = ATTR_##id_, .fields = { __VA_ARGS__ }                                     \
  }
/* Read by a function, and not what the writer would choose; BOTH: written by one, too. */
#define READ_ONLY UINT16_MAX
#define BY_FN(read)                                                                                \
  { .fn = read, .known = true, .id = READ_ONLY }
#define BOTH(read, id_, write)                                                                     \
  { .fn = read, .put = write, .known = true, .id = ATTR_##id_ }

typedef const type *type_fn(reader *, cursor *, u64 code);
typedef bool put_type_fn(writer *, const type *); /* code and contents; false: has no encoding */
typedef struct codec {
  const attr_code *attrs;
  type_fn *type; /* NULL: has no types */
  size_t num_attrs;
  put_type_fn *put_type; /* NULL: the dialect's types go as text */
} codec;
extern const codec codec_builtin, codec_sdy, codec_vhlo, codec_stablehlo, codec_chlo, codec_quant;
extern const codec *const codecs[DIALECT_other + 1]; /* codecs.c; NULL: has none */

/* Shared by the codecs. */
const attr *read_dense(reader *r, cursor *c);
const attr *read_integer(reader *r, cursor *c);
const attr *read_float(reader *r, cursor *c);
const attr *read_dict(reader *r, cursor *c);
const attr *read_string(reader *r, cursor *c);
type_fn read_builtin_type, read_vhlo_type, read_quant_type;
put_type_fn put_builtin_type, put_vhlo_type, put_stablehlo_type;
const type *read_future_type(reader *r, cursor *c);
bool is_loc(const attr *a);
attr_fn read_hlo_axis_ref, read_hlo_mesh, read_hlo_groups, read_vhlo_axis_ref, read_vhlo_mesh,
    read_vhlo_groups;
put_fn put_hlo_axis_ref, put_hlo_mesh, put_hlo_groups;

/* ---- uses.c ---- */

/* Of num_values values, which are set later: appends to r->orders. */
void read_use_orders(reader *r, cursor *c, size_t num_values);
/* When all ops are there, numbered in the order of the file. */
void apply_use_orders(reader *r);

/* ---- read_ops.c ---- */

/* Reads the section of the ops into r->module. */
void read_ops(reader *r, cursor c);

/* operandSegmentSizes and resultSegmentSizes, which are not attributes on the wire but lists of
 * numbers behind them; before format 6 they are as others. */
static inline bool is_segments(const slot_info *s) {
  return strcmp(s->name, "operandSegmentSizes") == 0 || strcmp(s->name, "resultSegmentSizes") == 0;
}
enum { VERSION_SEGMENTS = 6, MAX_SEGMENTS = 16 };

/* ---- vhlo.c ---- */

/* The row of "name_vN"; NULL: none. */
const struct vhlo_row *vhlo_find(str name);
/* Sets name->info and props; `name` has a row. */
void vhlo_resolve(reader *r, op_name *name);
/* Reads the properties of an op and sets what they become. */
void vhlo_properties(reader *r, cursor *c, const op_name *name, op *o);
/* The same from a dictionary (before format version 5); other attributes are discardable ones. */
void vhlo_attributes(reader *r, const u8 *from, const op_name *name, const attr *dict, op *o);

#endif
