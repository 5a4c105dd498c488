/* A dialect of your own: Terrazzo reads, verifies, splits, propagates through and prints its ops.
 *
 * The propagation engine knows no dialect. Of an op it asks what this header lets you say: traits,
 * a sharding rule, data-flow edges, or that it is a collective (Shardy's three op interfaces; see
 * openxla/shardy docs/sdy_op_interfaces.md and docs/dialect_agnostic_sharding.md, whose method
 * names stand in brackets). examples/dialect is a dialect that uses all of it.
 *
 * Registered ops belong to a context; register them before it reads a program. All strings and
 * structs are copied; functions and `user` must outlive the context.
 *
 * Callbacks are called by the thread that uses the context, from within tz_module_verify,
 * tz_module_run, tz_op_create and the like. They may call everything of ir.h on that context that
 * reads ops or makes types and attributes, but change ops only where it is said. Each has
 * invariants. The verifier checks them all, before any pass runs, by asking each method and
 * comparing the answers; a wrong answer later on is caught too. Either is a diagnostic that names
 * the op and the method; never a crash. */
#ifndef TERRAZZO_DIALECT_H
#define TERRAZZO_DIALECT_H

#include "terrazzo/ir.h"

#ifdef __cplusplus
extern "C" {
#endif

enum {
  TZ_PURE = 1 << 0, /* no effect but its results: unused, it is dead */
  TZ_COMMUTATIVE = 1 << 1,
  TZ_TERMINATOR = 1 << 2, /* ends its block */
  TZ_SAME_TYPE = 1 << 3,  /* operands and results have one type; with no `infer`, it is inferred */
  TZ_SAME_SHAPE = 1 << 4,
  TZ_ISOLATED = 1 << 5,      /* its regions use no values from outside */
  TZ_SINGLE_BLOCK = 1 << 6,  /* regions have one block */
  TZ_NO_TERMINATOR = 1 << 7, /* its blocks need none */
  TZ_BODY_EFFECTS = 1 << 8,  /* has the effects of what is inside, no others */
  /* What propagation and the splitting of constants ask; the first three mean TZ_PURE as well. */
  TZ_ELEMENTWISE = 1 << 9,    /* tensors have one shape, or none are ranked above 0: in that case a
                                 scalar. Without a rule, the pointwise one is taken. */
  TZ_CONSTANT_LIKE = 1 << 10, /* a value out of nothing, like iota: each use gets its own */
  TZ_CONSTANT_FOLDABLE = 1 << 11, /* of constants it makes a constant, like slice and broadcast */
};

/* ---- shardable data flow ----
 *
 * An edge joins sources (operands of the op, or of the terminators of its regions) with targets
 * (its results, or arguments of blocks in its regions): values that must be sharded alike. One of
 * the targets is the owner and stands for the edge. Owners are results, or arguments of the first
 * block of one region. */

typedef struct tz_data_flow {
  size_t struct_size;
  /* The region whose first block's arguments may own edges; -1: only results do.
   * [getBlockArgumentEdgeOwners, getOpResultEdgeOwners] */
  int arg_owner_region;

  /* The owner of the edge that has this target, or NULL if it is on none. It is a target of this
   * op, of the same rank, and its own owner. [getEdgeOwnerFromTarget] */
  tz_value *(*owner_of_target)(void *user, tz_op *o, tz_value *target);
  /* ... that has this source, an operand of o or of a terminator in it. [getEdgeOwnerFromSource] */
  tz_value *(*owner_of_source)(void *user, tz_op *o, tz_use *source);
  /* Puts the sources of the owner's edge, in an order that stays, into out, as far as there is
   * room, and returns how many there are. Each has the owner's rank, owner_of_source of each is
   * the owner, and no source is on two edges. [getEdgeSources] */
  size_t (*sources)(void *user, tz_op *o, tz_value *owner, tz_use **out, size_t room);
  /* The same for the targets that are not the owner; owner_of_target of each is the owner, and all
   * that have this owner are there. NULL: there are none. [getNonEdgeOwnerTargets] */
  size_t (*other_targets)(void *user, tz_op *o, tz_value *owner, tz_value **out, size_t room);

  /* Where the owners' shardings are kept: attributes of the op that hold a
   * #sdy.sharding_per_value, one for each argument of the owner block, one for each result. NULL
   * for results means "sdy.sharding". */
  const char *arg_shardings, *result_shardings;
  /* Or functions, both or none. get: a #sdy.sharding_per_value of that many, or NULL: none yet.
   * set may change the op. What was set, get answers. [(get|set)BlockArgumentEdgeOwnerShardings,
   * (get|set)OpResultEdgeOwnerShardings] */
  const tz_attr *(*get_shardings)(void *user, tz_context *c, tz_op *o, bool args);
  tz_error *(*set_shardings)(void *user, tz_module *m, tz_op *o, bool args,
                             const tz_attr *shardings);
  /* The owner's sharding as its sources see it (to_sources), or theirs as the owner does: a
   * #sdy.sharding of the same rank. NULL: the same. [transformTargetSharding] */
  const tz_attr *(*transform)(void *user, tz_context *c, tz_op *o, tz_value *owner,
                              const tz_attr *sharding, bool to_sources);
  /* Owners end up with shardings that divide their dimensions.
   * [shouldKeepEdgeOwnerShardingsDivisible] */
  bool keep_divisible;
} tz_data_flow;

/* ---- collectives ----
 *
 * The first operand is the tensor, the one result what the collective makes of it [getTensor,
 * getType]. The verifier checks: the out sharding fits the result; the operand has a sharding, or
 * may lack one; both have one mesh, or may differ; both have one rank. */
typedef struct tz_collective_def {
  size_t struct_size;
  const char
      *out_sharding; /* the attribute: a #sdy.sharding [getOutSharding, setOutShardingAttr] */
  bool allow_different_meshes;
  bool allow_missing_input_sharding;
} tz_collective_def;

/* ---- partitioning ----
 *
 * Along which dimensions an op is cut its rule says, or its edges: shards along pass-through
 * factors are computed alone, shards along reduction factors make parts of the result. The rest is
 * here; what is left out is zero. An op with neither sees all of its operands.
 *
 * Threads: that which calls `local`, from within it only. */
typedef enum tz_combiner { TZ_SUM, TZ_MAX, TZ_MIN, TZ_PRODUCT, TZ_AND, TZ_OR } tz_combiner;

/* Which operands must be parts of sums for the result to be parts of the op of the sums. */
typedef enum tz_linear {
  TZ_LINEAR_NOT,
  TZ_LINEAR_ALL,   /* all, as of an addition */
  TZ_LINEAR_FIRST, /* the first, and no other */
  TZ_LINEAR_ONE,   /* any one, and no other, as of a product */
} tz_linear;

typedef struct tz_local tz_local; /* the program, on its way to that of one device */

typedef struct tz_partition_def {
  size_t struct_size;
  tz_combiner combiner; /* how parts are combined */
  tz_linear linear;
  /* Called when types have become those of shards, for an op that computes something else on shards
   * than a shard of its result: one that counts from where its shard begins, or that has sizes in
   * attributes. It may change the op, make others in front of it and right behind it, and answer
   * with a result of one of these, of the same type, that stands for its one result. A
   * constant-like op without it is made whole, and each device takes its part. A collective
   * needs it. */
  tz_error *(*make_local)(void *user, tz_module *m, tz_op *o, tz_local *l, tz_value **out_value);
} tz_partition_def;

/* Within make_local, of an operand or a result of the op. Where its shard begins in the whole along
 * a dimension: a tensor<i64>, made in front of the op; NULL: the dimension is not cut. */
TZ_API tz_error *tz_local_begin(tz_local *l, const tz_value *v, size_t dim, tz_value **out_begin);
TZ_API const tz_type *tz_local_whole_type(const tz_local *l, const tz_value *v);

/* ---- ops ----
 *
 * Threads: that of the context, one at a time. */

typedef struct tz_op_def {
  size_t struct_size;
  const char *name; /* "mine.while"; the dialect is not one of Terrazzo's */
  /* NULL-terminated lists of names; "x": one, "x?": one or none, "x*": any number, of which
   * there may be one list. NULL: anything goes. */
  const char *const *operands, *const *results;
  /* Inherent attributes, "value" or, where it may be absent, "value?"; others are welcome. */
  const char *const *attrs;
  int regions; /* -1: any number */
  uint32_t traits;
  /* The custom syntax, in the notation of src/text/form.h, as in
   * " $x, $y%attrs : %type(result)"; NULL: the generic one. */
  const char *form;
  void *user; /* for all functions */

  /* After the counts above and the traits have been checked. False after tz_op_error. */
  bool (*verify)(void *user, tz_context *c, tz_op *o);
  /* Fills out_types[tz_op_num_results(o)]; none NULL. */
  tz_error *(*infer)(void *user, tz_context *c, tz_op *o, const tz_type **out_types);
  /* An #sdy.op_sharding_rule that fits the ranks and sizes of operands and results, or NULL: no
   * propagation through this op. The same op gives the same rule. An op with data flow has none.
   * [getShardingRule] */
  tz_error *(*sharding_rule)(void *user, tz_context *c, tz_op *o, const tz_attr **out_rule);
  bool keep_results_divisible;         /* [shouldKeepOutputShardingsDivisible] */
  const tz_data_flow *data_flow;       /* NULL: none */
  const tz_collective_def *collective; /* NULL: none */
  const tz_partition_def *partition;   /* NULL: all of it zero, so parts are of a sum */
  /* The dialect's own constant: the attribute with its value, a dense constant of the result's
   * type. Import pipelines make it an sdy.constant. NULL: it is none. */
  const char *constant;

  /* The op in terms of others: makes them in front of it, and fills
   * out_values[tz_op_num_results(o)] with results of theirs, or with values that o may use as well,
   * of the types of o's results. Called when a program is compiled, once before propagation, so
   * that shardings go through what is made, and by its rules; a sharding that o has is theirs.
   * NULL: an op that runs has a handler of its name (tz_register_handler) or a make_local. */
  tz_error *(*decompose)(void *user, tz_module *m, tz_op *o, tz_value **out_values);
} tz_op_def;

/* An error says what is wrong with the definition. */
TZ_API tz_error *tz_register_op(tz_context *c, const tz_op_def *def);

/* ---- attributes and types ----
 *
 * #mine.layout<...> or !mine.layout<...>, which Terrazzo keeps as it is written and prints again,
 * also in bytecode. What is in its angle brackets only its dialect knows; brackets in it match.
 *
 * Threads: that of the context, one at a time. */
typedef struct tz_symbol_def {
  size_t struct_size;
  const char *name; /* "mine.layout" */
  bool is_type;     /* !mine.layout; else #mine.layout */
  void *user;
  /* Whenever one is read: what is wrong with what is in its angle brackets ("": nothing, or none),
   * for an error there; NULL: nothing. Left out: anything goes. */
  const char *(*wrong)(void *user, tz_context *c, tz_string body);
} tz_symbol_def;
TZ_API tz_error *tz_register_symbol(tz_context *c, const tz_symbol_def *def);

/* The parts of one: "mine", "layout", and what is in its angle brackets; no NUL ends them. False:
 * it is of no foreign dialect. */
typedef struct tz_symbol_parts {
  tz_string dialect, mnemonic, body;
} tz_symbol_parts;
TZ_API bool tz_attr_get_parts(const tz_attr *a, tz_symbol_parts *out);
TZ_API bool tz_type_get_parts(const tz_type *t, tz_symbol_parts *out);

/* "'mine.while' op MESSAGE" at the op, as an error of the call that is under way; false. */
TZ_API bool tz_op_error(tz_context *c, const tz_op *o, const char *message);

/* ---- asking ----
 *
 * What the methods above say of ops, asked of any op, also of Terrazzo's own dialects. The module
 * is verified first where it has changed since, so that an answer can be relied on; not from within
 * a callback. Answers that are not there are NULL or 0, which is no error.
 *
 * Threads: that of the context, one at a time. */

/* [getShardingRule] An #sdy.op_sharding_rule: the one that the op carries, else that of its kind.
 */
TZ_API tz_error *tz_op_sharding_rule(tz_module *m, tz_op *o, const tz_attr **out_rule);
/* [getEdgeOwnerFromTarget, getEdgeOwnerFromSource] */
TZ_API tz_error *tz_edge_of_target(tz_module *m, tz_value *target, tz_value **out_owner);
TZ_API tz_error *tz_edge_of_source(tz_module *m, tz_use *source, tz_value **out_owner);
/* [getEdgeSources, getNonEdgeOwnerTargets] As many as there is room for; how many there are. */
TZ_API tz_error *tz_edge_sources(tz_module *m, tz_value *owner, tz_use **out, size_t room,
                                 size_t *out_count);
TZ_API tz_error *tz_edge_other_targets(tz_module *m, tz_value *owner, tz_value **out, size_t room,
                                       size_t *out_count);
/* Where a value has its sharding, whoever keeps it: a function, the owner of its edge, its op, a
 * collective [getOutSharding]; and the same set, as a #sdy.sharding of the value's rank. */
TZ_API tz_error *tz_value_sharding(tz_module *m, tz_value *v, const tz_attr **out_sharding);
TZ_API tz_error *tz_value_set_sharding(tz_module *m, tz_value *v, const tz_attr *sharding);
/* Collectives of sdy and of other dialects: the first operand is the tensor [getTensor], the
 * sharding of the one result what it becomes. */
TZ_API bool tz_op_is_collective(const tz_op *o);

/* ---- priorities of ops ----
 *
 * Op-priority propagation works in rounds, each with more ops than the one before. By default
 * these are GSPMD's: ops that pass shardings through, then all. A text changes that: a line is a
 * group; a first round has the ops of the first line, the next those of the second too, and so on;
 * the last round has all ops. A line names ops ("stablehlo.dot_general", "mine.*"), or
 * "elementwise" for all that are; behind a name, ":forward" or ":backward" restricts the
 * direction in that round. `#` begins a comment. Edges of data flow are in every round.
 *
 * Text NULL: GSPMD's again. Errors name file, line and column.
 *
 * Threads: that of the context, one at a time. */
TZ_API tz_error *tz_context_set_op_priorities(tz_context *c, const char *text, size_t length,
                                              const char *file);

/* ---- dialects in shared objects ----
 *
 * Threads: that of the context, one at a time; several contexts may load one library at once. */

#define TZ_DIALECT_ABI 3 /* of this header; a shared object must have been built for the same */

/* Once in a shared object, with a function that registers all its ops:
 *
 *   static tz_error *add(tz_context *c) { return tz_register_op(c, &...); }
 *   TZ_DIALECT(add)
 *
 * It leaves tz_... to the program that loads it, or is linked with libterrazzo. */
#ifdef __cplusplus
#define TZ_DIALECT_LINKAGE extern "C"
#else
#define TZ_DIALECT_LINKAGE extern
#endif
#define TZ_DIALECT(function)                                                                       \
  TZ_DIALECT_LINKAGE TZ_API const uint32_t terrazzo_dialect_abi;                                   \
  const uint32_t terrazzo_dialect_abi = TZ_DIALECT_ABI;                                            \
  TZ_DIALECT_LINKAGE TZ_API tz_error *terrazzo_dialect_register(tz_context *c);                    \
  tz_error *terrazzo_dialect_register(tz_context *c) { return function(c); }

/* `terrazzo opt --load-dialect PATH` from C. It is never unloaded. */
TZ_API tz_error *tz_context_load_dialect(tz_context *c, const char *path);

#ifdef __cplusplus
}
#endif
#endif
