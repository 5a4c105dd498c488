/* Inside ir only: the context, its tables of uniqued things. */
#ifndef IR_CTX_H
#define IR_CTX_H

#include "base/tracker.h"
#include "ir/op.h"

/* Open addressing by hash, power-of-two size; never shrinks. */
typedef struct table {
  void **slots;
  u64 *hashes;
  size_t count, cap;
} table;

typedef bool table_same(const void *entry, const void *key);
/* The entry that equals `key`, or NULL with *out_slot the place for table_put. */
void *table_find(table *t, arena *a, u64 hash, const void *key, table_same *same, size_t *out_slot);
void table_put(table *t, size_t slot, u64 hash, void *entry);

/* Scratch arenas that passes hold, latest first. */
typedef struct scratch_arena {
  struct scratch_arena *next;
  arena arena;
} scratch_arena;

/* Ops of foreign dialects in the order of registration, latest first; they are in `infos` as well,
 * under their names. */
typedef struct foreign_op {
  struct foreign_op *next;
  const op_info *info;
} foreign_op;

/* One thread at a time; nothing in it is locked. */
struct ir_ctx {
  const allocator *owner; /* what the creator gave */
  tracker tracker;        /* all memory of the context and its modules: a jump leaves none behind */
  allocator mem;
  oom_trap *trap;
  diag_sink *sink;
  arena arena;
  scratch_arena *scratch;
  foreign_op *foreign;
  ir_symbol *symbols; /* of foreign dialects, latest first */
  const void *op_priorities;
  table types, attrs, infos, resources;
  /* the ones asked for most */
  const type *i1, *i32, *i64;
  const attr *unknown_loc, *unit, *last_file;
  const attr *strings[64]; /* asked for lately, by length and ends */
  u32 type_kinds;          /* a bit for each of which a type was made */
  bool aliased;            /* some attribute was made that printing gives a name, locations apart */
};

/* quant.c */
u64 quant_hash(const quant *q, u64 seed);
bool quant_same(const quant *a, const quant *b); /* either may be NULL */
const quant *quant_copy(arena *a, const quant *q);

#endif
