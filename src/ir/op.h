/* Ops, values, blocks, regions; what the rows say of ops.
 *
 * A module owns its ops; all their memory is in its arena. An op holds uniqued attribute
 * handles as they were read, right or wrong: the inherent ones in the slots that its row
 * declares, the discardable ones (sdy.sharding, ...) in a list sorted by name; an op without a
 * row has the list only. view_<op> decodes the slots; it fails on what the verifier would
 * refuse, so stages after the verifier may rely on it. */
#ifndef IR_OP_H
#define IR_OP_H

#include <assert.h>
#include <stddef.h>

#include "ir/attr.h"

typedef enum op_id {
#define OP(id, ...) OP_##id,
#include "ir/ops.def"
  OP_COUNT,
  OP_unregistered = OP_COUNT, /* read and printed in generic form; no stage runs it */
} op_id;

typedef enum op_family {
#define FAMILY(id) FAMILY_##id,
#include "ir/families.def"
  FAMILY_COUNT
} op_family;

/* traits */
enum {
  PURE = 1u << 0,       /* no side effect: dead when unused */
  COMMUTES = 1u << 1,   /* commutative */
  TERMINATOR = 1u << 2, /* ends its block */
  SAME_TYPE = 1u << 3,  /* operands and results are of one type (shape and element) */
  SAME_SHAPE = 1u << 4, /* operands and results are of one shape */
  SYMBOL = 1u << 5,     /* slot sym_name names it */
  SYMBOL_TABLE = 1u << 6,
  ISOLATED = 1u << 7,       /* regions see no values from above */
  SAME_SEGMENTS = 1u << 8,  /* several V operands, all of one length */
  CONSTANT = 1u << 9,       /* constant-like */
  NO_TERMINATOR = 1u << 10, /* its blocks need none */
  INFER_TYPES = 1u << 11,   /* result types follow from the operands */
  SINGLE_BLOCK = 1u << 12,  /* each region has at most one block */
  NAMES_RESULT = 1u << 13,  /* its one result is called as its row says: %dim */
  /* of ops of foreign dialects only; for the others tables say it */
  ELEMENTWISE = 1u << 28,
  FOLDABLE = 1u << 29,     /* of constants it makes constants: splits with them */
  BODY_EFFECTS = 1u << 30, /* has the effects of what is in its regions, no others */
};

/* flags; NATURAL and POSITIVE: of integers */
typedef enum attr_need { OPTIONAL, REQUIRED = 1, NATURAL = 2, POSITIVE = 4 } attr_need;
typedef enum arity { ONE, MAYBE, MANY } arity;

/* What a slot may hold. AV(kind, C type of the decoded value): av_<kind> in views. */
#define ATTR_KINDS(AV)                                                                             \
  AV(any, const attr *)                                                                            \
  AV(typed, const attr *) /* of those that have a type, see attr_is_typed */                       \
  AV(i64, i64)                                                                                     \
  AV(i32, i64)                                                                                     \
  AV(ui32, i64)                                                                                    \
  AV(f32, const attr *)                                                                            \
  AV(bool, bool)                                                                                   \
  AV(unit, bool) /* present or not */                                                              \
  AV(str, str)                                                                                     \
  AV(sym, str) /* flat symbol reference */                                                         \
  AV(function_type, const type *)                                                                  \
  AV(i64s, i64s)                       /* array<i64> */                                            \
  AV(bools, str)                       /* array<i1>: a byte each */                                \
  AV(elements, const dense_attr *)     /* dense; NULL for dense_resource, see the slot */          \
  AV(i64_elements, const dense_attr *) /* dense of i64 */                                          \
  AV(groups, const dense_attr *)       /* dense<..> : tensor<GxNxi64> */                           \
  AV(array, attrs)                                                                                 \
  AV(precisions, attrs) /* of precision */                                                         \
  AV(origins, attrs)    /* of user_origin */                                                       \
  AV(dict, const attr *)                                                                           \
  AV(dicts, attrs)
/* and every attr_id by its own name, decoded as const <id>_attr *: A(dot, ...) */

typedef enum slot_kind {
#define AV(kind, ctype) SLOT_##kind,
  ATTR_KINDS(AV)
#undef AV
#define ATTR(id, ...) SLOTA_##id,
#define ENUM(id, ...) SLOTA_##id,
#include "ir/attrs.def"
} slot_kind;

/* A declared attribute: its name as in generic text, and what it may hold. */
typedef struct slot_info {
  const char *name;
  slot_kind kind; /* SLOT_x, or SLOTA_<attr id> */
  int attr_id;    /* for SLOTA_*; -1 otherwise */
  attr_need need;
} slot_info;

/* What an operand or a result may be. */
typedef enum constraint_id {
#define TENSORS(id, ...) IS_##id,
#define CHOICE(id, ...) IS_##id,
#define KIND(id, ...) IS_##id,
#define LIKE(id, ...) IS_##id,
#include "ir/constraints.def"
  IS_COUNT,
  IS_ = IS_ranked /* of T(name) */
} constraint_id;

typedef struct value_info {
  const char *name;
  arity arity;
  constraint_id is;
} value_info;

/* One per row, static; or made for a name that no row has, in the context; or a foreign dialect's
 * own. */
typedef struct op_info {
  str name; /* "stablehlo.add" */
  op_id id;
  op_family family;
  u32 traits;
  u32 num_slots, num_operands, num_results; /* lengths of the lists below */
  u32 num_regions;                          /* of every op of the kind; ANY_REGIONS: free */
  const slot_info *slots;
  const value_info *operands, *results;
  const char *form;              /* the custom syntax, see text/; NULL: generic only */
  const char *section, *meaning; /* where it is specified, what it does; NULL without a row */
  const struct op_hooks *hooks;  /* of an op of a foreign dialect; its id is OP_unregistered */
} op_info;
enum { ANY_REGIONS = 255 };

extern const op_info op_infos[OP_COUNT];

typedef struct ir_module ir_module;
typedef struct op op;
typedef struct value value;
typedef struct block block;
typedef struct region region;

/* An operand: element i of its owner's `operands`, and a link in the list of what uses the value.
 * link is what points here (the value or the use before), so that leaving the list is no search. */
typedef struct use {
  value *value;
  op *owner;
  struct use *next, **link; /* the value's uses, latest first */
} use;

/* A value lives as long as its module. Results stand in one array of their op, so their numbers are
 * also offsets; arguments are single. */
struct value {
  const type *type;
  use *uses; /* latest first, as in MLIR */
  union {
    op *op;       /* its result number `index` */
    block *block; /* its argument number `index` */
  } def;
  u32 index : 31;
  u32 is_arg : 1;
  u32 num; /* scratch: a pass may number values to keep side tables */
};

/* Argument locations are kept apart, as most passes have no use for them. */
struct block {
  ir_module *module;
  region *parent;
  block *prev, *next;
  op *first, *last;
  value **args;
  const attr **arg_locs; /* as many as cap_args, or NULL where none is known */
  u32 num_args, cap_args;
  u32 num; /* scratch */
};

struct region {
  op *parent;
  block *first, *last;
};

/* Slots and discardable attributes are apart: reading a slot is an index, and MLIR prints them
 * apart in generic form. What a walk reads comes first, in one line of the cache. */
struct op {
  const op_info *info;
  op *next, *prev;
  block *parent;
  u16 num_regions, num_successors;
  u32 num_results, num_operands;
  u32 num; /* scratch */
  value *results;
  use *operands;
  region *regions;
  const attr **slots; /* info->num_slots handles, NULL where absent */
  named_attr *attrs;  /* discardable, sorted by name */
  const attr *loc;
  block **successors;
  u32 num_attrs, cap_attrs, cap_operands;
  bool erased;
};

/* One thread at a time, with its context. Destroyed before the context, or with it. */
struct ir_module {
  ir_ctx *ctx;
  arena arena, ops;               /* ops apart, so that walks read memory in a row */
  op *root;                       /* builtin.module */
  u32 live[OP_COUNT], live_other; /* of each kind, how many were made, less those erased;
                                     other: without a row */
  u32 tables;                     /* ops made that are symbol tables */
};

/* False: the module has no op of this kind, and passes that look for one need not. */
#define module_may_have(m, id_) ((m)->live[OP_##id_] != 0)

struct local; /* partition/local.h */

/* What a dialect of someone else's, registered in a context, says of an op of its besides its
 * op_info. What does not apply is NULL. The functions report what is wrong by themselves. */
typedef struct op_hooks {
  const void *user;
  bool (*verify)(ir_module *m, op *o); /* after what the op_info says */
  /* result types into out[num_results]; false: reported */
  bool (*infer)(ir_module *m, op *o, const type **out);
  const attr *(*rule)(ir_ctx *c, op *o); /* an op_sharding_rule that the op fits; NULL: none */
  const struct flow *flow;               /* its edges, see shard/flow.h */
  const char *out_sharding; /* collectives: the attribute with the sharding of the result */
  bool any_mesh, may_lack;  /* of theirs: the operand's mesh may differ; it may have no sharding */
  bool keeps_divisible;     /* shardings of results must divide the shapes evenly */
  const char *constant;     /* the attribute that sdy.constant takes over; NULL: stays itself */
  const struct part_row
      *record;         /* how it is cut, see partition/record.h, and from what it is made: */
  u8 combiner, linear; /* unreduced_kind of parts; enum linear */
  /* After its types have become those of shards. *out: what stands for its one result; NULL: that
   * itself. */
  bool (*make_local)(struct local *l, ir_module *m, op *o, value **out);
  /* What stands for its results, made in front of it; NULL: it stays. */
  bool (*decompose)(ir_module *m, op *o, value **out);
} op_hooks;

static inline op_id op_kind(const op *o) { return o->info->id; }
#define op_is(o, id_) ((o)->info->id == OP_##id_)
static inline bool op_has(const op *o, u32 trait) { return (o->info->traits & trait) != 0; }
static inline value *op_operand(const op *o, size_t i) { return o->operands[i].value; }
static inline value *op_result(const op *o, size_t i) { return &o->results[i]; }
/* Operands, then results: tensor t of its sharding rule. */
static inline value *op_tensor(const op *o, u32 t) {
  return t < o->num_operands ? op_operand(o, t) : op_result(o, t - o->num_operands);
}
static inline op *value_op(const value *v) { return v->is_arg ? NULL : v->def.op; }
static inline op *region_op(const region *r) { return r->parent; }
static inline op *block_op(const block *b) { return b->parent ? b->parent->parent : NULL; }
static inline op *op_parent(const op *o) { return o->parent ? block_op(o->parent) : NULL; }
static inline block *region_block(const region *r) { return r->first; }
static inline block *op_body(const op *o, size_t r) { return o->regions[r].first; }
op *value_parent(const value *v); /* op that defines it or owns its block */
bool value_has_one_use(const value *v);
/* Once `besides` is gone, at most one op uses it. */
bool value_is_nearly_unused(const value *v, const op *besides);

/* Row by name ("stablehlo.add"); NULL: none. */
const op_info *op_info_find(str name);
/* "dialect" or "dialect.anything": a dialect that rows belong to, so that its ops are all known. */
bool op_dialect_known(str name);

/* What the slot wants ("64-bit signless integer attribute whose value is positive") where `a` is
 * not it; NULL: it is. In the context's arena. */
const char *slot_problem(ir_ctx *c, const slot_info *s, const attr *a);
/* Of the attributes that are there and not what their slots want, the first by name, with its
 * problem; NULL: all are fine. */
const slot_info *slot_first_problem(ir_ctx *c, const op_info *info, const attr *const *slots,
                                    const char **problem);
/* Whether the slot could hold the attribute at all, be its value wrong. */
bool slot_stores(const slot_info *s, const attr *a);

/* ---- making and changing ---- */

ir_module *ir_module_create(ir_ctx *c); /* with an empty builtin.module */
void ir_module_destroy(ir_module *m);
/* A copy with memory of its own. Numbers the values of `from`. */
ir_module *ir_module_clone(ir_module *from);

/* A detached op. `info` from op_infos or ir_op_info_unregistered. Operands and types are
 * copied; slots and attributes start empty; each of the regions starts without blocks. */
op *op_create(ir_module *m, const op_info *info, const attr *loc, value *const *operands,
              size_t num_operands, const type *const *result_types, size_t num_results,
              size_t num_regions);
const op_info *ir_op_info_unregistered(ir_ctx *c, str name);
/* Is it such an op? What stands in <> is the attribute in its only slot, which has no name. */
bool op_is_plain(const op *o);
/* Foreign dialects: makes ops of this name be of this kind; info (id OP_unregistered, hooks not
 * NULL) must live as long as the context. False: the name is taken. Ops made before stay
 * unregistered. */
bool ir_op_info_register(ir_ctx *c, const op_info *info);
/* All that were registered, latest first: each(user, info). */
void ir_foreign_ops(const ir_ctx *c, void (*each)(void *user, const op_info *info), void *user);
/* A row, or what was registered in the context; NULL: neither. */
const op_info *ir_op_info_find(ir_ctx *c, str name);

/* Detached. Blocks and arguments live as long as the module, erased or not. */
block *block_create(ir_module *m);
value *block_add_arg(ir_module *m, block *b, const type *t);
void block_erase_arg(block *b, size_t i); /* it has no uses */
/* The arguments of `from` become those of `to`; what `to` had has no uses, and is gone. */
void block_take_args(block *to, block *from);
void block_set_arg_loc(ir_module *m, block *b, size_t i, const attr *loc);
const attr *block_arg_loc(const block *b, size_t i); /* NULL: not known */
/* At the end; the block must be in no region. */
void region_append(region *r, block *b);
void block_unlink(block *b);

/* Makes of an op one of another row, which has the same slots. */
void op_become(ir_module *m, op *o, op_id id);
/* before NULL: at the end */
void op_insert(op *o, block *b, op *before);
void op_unlink(op *o); /* out of its block; still alive */
/* The ops of a block up to `end` (NULL: all), in their order, to another, as op_insert. */
void block_move_ops(block *from, op *end, block *to, op *before);
void op_erase(op *o); /* unlink, drop operands and regions; results must be unused */
/* Operands may be any values of the module: that they dominate is for the verifier. */
void op_set_operand(op *o, size_t i, value *v);
void op_reset_operands(op *o); /* the same ones; these uses come first in the values' lists then */
void op_set_operands(ir_module *m, op *o, value *const *v, size_t n);
void op_append_operand(ir_module *m, op *o, value *v);
/* Linear in the uses; each moves to the front of the list of `to`. */
void value_replace(value *from, value *to); /* all uses */
void value_replace_except(value *from, value *to, const op *except);
/* Deep copy, detached. `map` (may be NULL) gives and takes the values that stand for others. */
typedef struct ir_map ir_map;
ir_map *ir_map_create(arena *a);
void ir_map_set(ir_map *m, const value *from, value *to);
value *ir_map_get(const ir_map *m, const value *from); /* `from` itself (cast) if absent */
op *op_clone(ir_module *m, const op *o, ir_map *map);
/* Moves all ops of `from` to the end of `to`. */
void block_splice(block *to, block *from);

/* inherent or discardable by name; NULL: absent */
const attr *op_attr(const op *o, str name);
void op_set_attr(ir_module *m, op *o, str name, const attr *a); /* a NULL removes */
void op_drop_attr(op *o, str name);                             /* a discardable one */
int op_slot(const op_info *info, str name);                     /* -1: none */
const attr *op_discardable(const op *o, str name);

/* Setting an inherent attribute that the code names. `op_set(o, slice, strides, a)` compiles where
 * the row of stablehlo.slice has the slot; for ops of several kinds, `op_set_any(o, sharding, a)`
 * and names to look up, `SLOT_NAME(sharding)`, compile where some row has it. That `o` is such an
 * op is asserted. op_set_attr is for names from input and for discardable ones. */
#define op_set(o, id, slot, a) op_set_slot((o), OP_##id, offsetof(struct id##_slots, slot), (a))
#define op_get(o, id, slot) ((o)->slots[offsetof(struct id##_slots, slot)])
#define op_set_any(o, slot, a) op_set_named((o), SLOT_NAME(slot), (a))
#define SLOT_NAME(slot) ((str){#slot, sizeof #slot - sizeof(slot_named_##slot)})
#define SLOT_TEXT(slot) (&#slot[0 * sizeof(slot_named_##slot)]) /* for tables */
static inline void op_set_slot(op *o, op_id id, size_t slot, const attr *a) {
  assert(o->info->id == id && slot < o->info->num_slots);
  (void)id;
  o->slots[slot] = a;
}
void op_set_named(op *o, str name, const attr *a);

/* slot k of a row is the k-th byte of its <id>_slots */
#define A(kind, slot, need) char slot;
#define S(kind, slot, need) char slot;
#define ATTRS(...) __VA_ARGS__
#define OP(id, name, family, traits, operands, attributes, ...)                                    \
  struct id##_slots {                                                                              \
    attributes char end_of_slots;                                                                  \
  };
#include "ir/ops.def"
#undef A
#undef S
#define A(kind, slot, need) typedef char slot_named_##slot;
#define S(kind, slot, need) typedef char slot_named_##slot;
#define OP(id, name, family, traits, operands, attributes, ...) attributes
#include "ir/ops.def"
#undef A
#undef S
#undef ATTRS

/* Discardable attributes that stages know. */
#define SDY_SHARDING STR("sdy.sharding")
#define SDY_SHARDING_RULE STR("sdy.sharding_rule")
#define SDY_ORIGINAL_FUNC_NAME STR("sdy.original_func_name")
#define SDY_FUNC_MANUAL_AXES STR("sdy.func_manual_axes")
#define STABLEHLO_MESH STR("stablehlo.mesh")
#define MHLO_SHARDING STR("mhlo.sharding")
#define MHLO_BACKEND_CONFIG STR("mhlo.backend_config")
#define MHLO_ATTRIBUTES STR("mhlo.attributes")
#define FRONTEND_ATTRIBUTES STR("mhlo.frontend_attributes")
#define EXECUTION_THREAD STR("execution_thread")

/* ---- reading ---- */

/* Operands of group g of the row: *begin and the count, from arity and SAME_SEGMENTS (or, for
 * several optional groups, operandSegmentSizes); false: the count fits no reading. What lists of
 * one length leave over belongs to none. */
bool op_operand_group(const op *o, size_t g, size_t *begin, size_t *count);

/* WALK_SKIP: not into the op's regions (pre-order only). WALK_STOP: nowhere any more. */
typedef enum walk_result { WALK_ON, WALK_SKIP, WALK_STOP } walk_result;
typedef walk_result walk_fn(void *user, op *o);
/* Pre-order or post-order over o and all ops inside. In post-order fn may erase the op. */
bool op_walk(op *o, walk_fn *fn, void *user); /* false: stopped */
bool op_walk_post(op *o, walk_fn *fn, void *user);
typedef VEC(op *) op_list;
/* All ops of a kind in o, in post-order, behind what the list has. */
void ops_of_kind(arena *a, op *o, op_id id, op_list *list);
/* For loops over a block that may erase the op at hand. */
#define FOR_OPS(o, b)                                                                              \
  for (op *o = (b)->first, *o##_next; o && (o##_next = o->next, 1); o = o##_next)

op *symbol_find(const op *table, str name); /* op in the table's body; NULL: none */
/* The same for many names: a snapshot of the table, by name. The first of a name counts. */
typedef struct symbol_map symbol_map;
symbol_map *symbol_map_build(const op *table, arena *a);
op *symbol_map_find(const symbol_map *m, str name);
str symbol_name(const op *o);                       /* its sym_name; empty: none */
op *op_module(op *o);                               /* innermost op with SYMBOL_TABLE around it */
bool op_is_inside(const op *o, const op *ancestor); /* o itself counts */
op *op_terminator(const block *b);                  /* last op */
bool op_before(const op *a, const op *b);           /* same block */
u32 module_number(ir_module *m); /* values and ops in pre-order: value.num, op.num;
                                    returns the number of values */
u32 module_number_all(ir_module *m, u32 *num_ops); /* and how many ops there are */

/* "'stablehlo.add' op MESSAGE" at the op's location; false. */
bool op_error(ir_ctx *c, const op *o, const char *fmt, ...) PRINTF_LIKE(3, 4);
/* "UNIMPLEMENTED: ..." the same, and marks the sink. */
bool op_unimplemented(ir_ctx *c, const op *o, const char *fmt, ...) PRINTF_LIKE(3, 4);
bool loc_error(ir_ctx *c, const attr *loc, const char *fmt, ...) PRINTF_LIKE(3, 4);
void loc_note(ir_ctx *c, const attr *loc, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* ---- typed views: struct slice_attrs, bool view_slice(const op *, struct slice_attrs *) ---- */

#define AV(kind, ctype) typedef ctype av_##kind;
ATTR_KINDS(AV)
#undef AV
#define ATTR(id, ...) typedef const id##_attr *avs_##id;
#define ENUM(id, ...) typedef const id##_attr *avs_##id;
#include "ir/attrs.def"

/* A(kind, name, need) for AV kinds, S(attr id, name, need) for a row of attrs.def. Absent
 * optional ones decode as zero; present tells (bit k: slot k). */
#define A(kind, field, need) av_##kind field;
#define S(kind, field, need) avs_##kind field;
#define ATTRS(...) __VA_ARGS__
#define OP(id, name, family, traits, operands, attributes, ...)                                    \
  struct id##_attrs {                                                                              \
    u32 present;                                                                                   \
    attributes                                                                                     \
  };                                                                                               \
  bool view_##id(const op *o, struct id##_attrs *out);
#include "ir/ops.def"
#undef A
#undef S
#undef ATTRS

#endif
