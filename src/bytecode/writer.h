/* What the parts of the bytecode writer share.
 *
 * One walk over the module fills the tables (strings, dialects, op names, attributes, types,
 * properties) and the ops' section together: an entry is encoded when it is first met, after
 * those that it refers to, so its number is known at once. Failure is sticky; the first thing
 * that the format cannot say is reported at the op that has it. */
#ifndef BYTECODE_WRITER_H
#define BYTECODE_WRITER_H

#include "bytecode/bytecode.h"
#include "bytecode/reader.h"

/* Bytes in pieces: small ones are gathered, large ones are referred to, so that a constant of a
 * gigabyte is copied once, into the output. */
typedef struct rope {
  arena *arena;
  VEC(str) pieces;
  char *chunk; /* where the small ones are */
  size_t used, cap;
  bool open; /* the last piece may grow in the chunk */
  u64 size;
} rope;

/* Different bytes, numbered as they come. The tag tells apart what is equal otherwise. */
typedef struct interned {
  str bytes;
  u64 hash;
  u32 tag;
} interned;
typedef struct interner {
  VEC(interned) items;
  u32 *slots;       /* index + 1; 0: free */
  size_t cap, used; /* slots; items that are alone have none */
} interner;

/* Numbers by address, for what is unique in the context anyway. */
typedef struct ptr_map {
  u64 *keys;
  u32 *values;
  size_t count, cap;
} ptr_map;

/* One a call of bytecode_write, on its stack; what it makes is in its scratch arena. */
struct writer {
  ir_ctx *ctx;
  arena *arena; /* scratch */
  const codec *const *codecs;
  int format; /* version of the encoding */
  u32 target; /* version of StableHLO, as V(1, 17); 0: native */
  str target_text;
  bool strict, failed;
  const op *at;                       /* being written, for messages */
  int depth, regions;                 /* of nested attributes; of nested regions */
  const u8 *codes[DIALECT_other + 1]; /* by codec: code + 1 of an attr_id; 0: none */
  interner strings, dialects, ops, attrs, types, props, resources;
  ptr_map attr_numbers[2], type_numbers[2]; /* by mode */
  VEC(u8) stack;                            /* the entries being encoded */
  str tail;   /* what ends the entry at hand, too large for the stack */
  bool alone; /* the entry at hand is not to be one with others of the same bytes */
  rope attr_data, type_data;
  VEC(u64) attr_sizes, type_sizes; /* with the flag of the dialect's own encoding */
  struct vhlo_plan **plans;        /* by op_id: for the target; NULL: not asked for yet */
};

#define WRITE_V(major, minor) ((u32)(major)*1000u + (u32)(minor))

/* ---- emit.c ---- */

void rope_bytes(rope *r, const void *data, size_t n);
void rope_append(rope *r, const rope *other);
void rope_uint(rope *r, u64 v);
void rope_section(rope *r, u8 id, const rope *contents);
void rope_flush(const rope *r, buf *out);

u32 intern_bytes(writer *w, interner *t, str bytes, u32 tag, bool *added); /* copies */
u32 intern_string(writer *w, str s);
u32 intern_dialect(writer *w, str name);
u32 intern_resource(writer *w, str key); /* of a dense_resource */
/* UINT32_MAX: not there */
u32 ptr_map_get(const ptr_map *m, u64 key);
void ptr_map_set(writer *w, ptr_map *m, u64 key, u32 value);

size_t encode_uint(u8 *to, u64 v); /* at most 9 bytes */
static inline u64 zigzag(i64 v) { return ((u64)v << 1) ^ (u64)(v >> 63); }

/* On the stack, for the entry at hand: */
void put_bytes(writer *w, const void *data, size_t n);
void put_byte(writer *w, u8 b);
void put_uint(writer *w, u64 v);
void put_int(writer *w, i64 v);
void put_flagged(writer *w, u64 v, bool flag);
void put_bits(writer *w, u32 width, i64 v, str wide); /* see get_bits */
/* Ends with the bytes, which outlive the writer; nothing may follow. */
void put_tail(writer *w, str bytes);

/* Reports that `what` has no form on the wire, at the op at hand. Always false. */
bool cannot_write(writer *w, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The same for an attribute that the op must have. */
bool lacks(writer *w, const char *attribute);

/* ---- write_attrs.c ---- */

/* The number of an attribute or type; encodes it the first time. */
u32 attr_number(writer *w, const attr *a, wire_mode mode);
u32 type_number(writer *w, const type *t, wire_mode mode);
/* A dictionary with names as builtin strings and values in a mode. */
u32 dict_number(writer *w, const named_attr *entries, size_t n, wire_mode mode);
/* Numbers what `put` leaves on the stack, as an attribute of the dialect. */
typedef void put_entry_fn(writer *w, const void *what);
u32 entry_number(writer *w, str dialect, put_entry_fn *put, const void *what);
void put_attr(writer *w, const attr *a, wire_mode mode);
void put_type(writer *w, const type *t, wire_mode mode);
/* Integer enums (of an op's properties) as the builtin integers that they are on the wire. */
const attr *native_slot_value(ir_ctx *c, const attr *a);

/* ---- write_vhlo.c ---- */

/* How ops of one kind are written for the target. */
enum { MAX_PROPS = 18 };
typedef struct vhlo_plan {
  const struct vhlo_row *row;
  str name; /* without the dialect */
  size_t count;
  prop places[MAX_PROPS];
} vhlo_plan;

/* NULL: has no row. */
const vhlo_plan *vhlo_plan_of(writer *w, const op *o);
/* The values of the row's properties, in its order. What the op's slots hold besides goes to the
 * end of `rest`, which has room for it. */
void vhlo_values(writer *w, const op *o, const vhlo_plan *p, const attr **values, named_attr *rest,
                 size_t *num_rest);
const char *vhlo_prop_name(const vhlo_plan *p, size_t i);

#endif
