/* What partitioning knows of an op: one record.
 *
 * A row of record_table.c says it of a kind of op; part_record_make makes of it, and of the op's
 * sharding rule, the record of the op at hand: what each factor of the rule needs when it is cut.
 * Where a row says nothing else, the rule's kinds say it. Foreign ops have rows as well, after
 * what their hooks answer. All that the passes ask of an op is read from here:
 *
 *   insert-reshards   needs: which factors are cut, and what sums up; linear: who passes sums on;
 *                     placed: where its operands have to be
 *   global-to-local   needs: whether the op may be cut as it is; local: what becomes of it
 *   terrazzo ops      partition_way_of (partition.h)
 *
 * An op of family `own` without a row does not compile. A row that contradicts itself, or the rule
 * of its op, is an error that names the op: record_test.c asks of all rows, part_record_make of the
 * op that it is given. */
#ifndef PARTITION_RECORD_H
#define PARTITION_RECORD_H

#include "partition/windows.h"
#include "shard/rule.h"

/* What a device needs to compute its shard when a factor is cut. This partitioner meets the first
 * four, and the next two where the row has windows; the others say what would have to come from
 * elsewhere, and the factor stays whole. */
typedef enum need_kind {
  NEED_FREE,    /* the same shards of its operands */
  NEED_REDUCE,  /* that the parts, which is what devices compute, are combined */
  NEED_MASK,    /* that indices are compared with its shard; then as NEED_REDUCE, by a sum */
  NEED_OWN,     /* that places are compared with its shard: it writes what is its own */
  NEED_HALO,    /* element i: those from i - low to i + high; a shift where low is -high */
  NEED_PERMUTE, /* elements from elsewhere, each of them once */
  NEED_SCAN,    /* what came out of the shards before, or behind */
  NEED_WHOLE,   /* everything */
} need_kind;

/* What the operands must hold where a shard is longer than what is left for it, so that the result
 * is right wherever there is one. */
typedef enum padding {
  PADDING_NONE,    /* nothing makes it right */
  PADDING_ANY,     /* it is not read, or only into the result's own padding */
  PADDING_ZERO,    /* in all operands that have the factor */
  PADDING_INITIAL, /* what they are combined with first, which counts any number of times */
  PADDING_NEUTRAL, /* updates: what a sum leaves as it is; other combiners take none */
} padding;

typedef struct part_need {
  u8 kind, padding;
  unreduced_kind combiner; /* NEED_REDUCE, NEED_MASK; of what windows combine otherwise */
  i64 low, high;           /* NEED_HALO; may be negative */
} part_need;

/* Where the op's operands and results have to be. */
typedef enum placed {
  PLACED_NOWHERE,    /* no such row: the value of one that was left out */
  PLACED_BY_RULE,    /* where its factors are; without a rule, whole on all devices */
  PLACED_BY_EDGES,   /* sources where the owners of their edges are */
  PLACED_AT_END,     /* of a region or function: where what they become is */
  PLACED_AS_IS,      /* it says so itself, or has no tensors */
  PLACED_MADE,       /* of nothing: anywhere */
  PLACED_ON_REQUEST, /* the program's own reshard */
  PLACED_AS_RESULT,  /* all operands where the result is */
  PLACED_WHEREVER,   /* operands where they are, each for itself; they are no parts of sums */
} placed;

/* Along which factors it may be cut. */
typedef enum cut {
  CUT_FREELY,   /* all: each is NEED_FREE, or NEED_REDUCE. Such an op needs no rule */
  CUT_AS_RULED, /* those that its record says; without a rule, none */
  CUT_NOWHERE,  /* none */
  CUT_REPLACED, /* like CUT_FREELY, but no op of this kind is left afterwards */
} cut;

/* Which operands must be parts of sums for the results to be parts of the op of the sums; where
 * the op combines by anything but a sum, none will do. */
typedef enum linear {
  LINEAR_NOT,
  LINEAR_ALL,
  LINEAR_FIRST, /* that one alone; there is one result */
  LINEAR_ONE,   /* whichever it is */
  LINEAR_RATIO, /* the first, but not of integers: 1 / 2 + 1 / 2 is 0 */
  LINEAR_TWO,   /* the first two, both; there is one result */
  LINEAR_WIDER, /* the first, of floats, where the result is of wider ones, so that none rounds */
} linear;

typedef bool local_fn(struct local *l, op *o); /* local.h */
/* How parts along reduction factors combine; false: they do not. */
typedef bool combines_fn(const op *o, unreduced_kind *out);
/* What starts a reduction may be of a wider type than what is reduced (StableHLO: promotable). */
static inline bool part_same_element(const value *x, const value *y) {
  return type_element(x->type) == type_element(y->type);
}
/* Changes what the rule's kinds made of the needs. */
typedef void needs_fn(const op *o, const rule *r, part_need *needs);

typedef struct part_row {
  u8 placed, cut, linear, padding; /* padding: along reduction factors */
  needs_fn *needs;                 /* NULL: as the rule says; CUT_AS_RULED only */
  combines_fn *combines;           /* NULL: parts do not combine */
  local_fn *local;                 /* makes it an op on shards */
  windows_fn *windows;             /* NULL: its factors need no elements of other shards */
  rule_fn *rule;                   /* NULL: the one by which shardings propagate */
} part_row;

extern const part_row part_rows[OP_COUNT];
extern const part_row part_pieces_row; /* of the calls in pieces.h */
extern const part_row part_apart_row;  /* of those that each device makes with its shards */
/* Of foreign ops too: op_hooks.record. Never NULL. */
const part_row *part_row_of(const op *o);
/* The row of a foreign op, from its traits and other hooks; for whoever registers it. */
part_row part_row_of_hooks(const op_info *info);
/* For a hook's make_local, of an operand or a result of the op: where its shard begins in the whole
 * along dimension d, a tensor<i64> made in front of the op (NULL: it is not cut); and the type of
 * the whole. */
value *part_shard_begin(struct local *l, op *o, const value *v, u32 d);
const type *part_whole_type(const struct local *l, const value *v);
static inline bool part_cuts_freely(const part_row *row) {
  return row->cut == CUT_FREELY || row->cut == CUT_REPLACED;
}
/* "'stablehlo.x' has a partition record that ...": what contradicts itself in a row. Empty: nothing
 * does. In the arena. */
str part_row_problem(arena *a, const op_info *info, const part_row *row);

/* The record of an op. Lives as long as what it was made in. */
typedef struct part_record {
  const part_row *row;
  const rule *rule;       /* NULL: it has none */
  const part_need *needs; /* by factor of the rule */
  bool combines;
  unreduced_kind combiner; /* UNREDUCED_SUM where it does not combine */
} part_record;

/* `rules`: neither conservative nor without extra rules. false: the row does not fit the rule, and
 * an error was reported. */
bool part_record_make(arena *a, rule_set *rules, const op *o, part_record *out);
/* The same with a row that may be another than the op's own. */
bool part_record_of_row(arena *a, rule_set *rules, const op *o, const part_row *row,
                        part_record *out);

/* Factor f as common_axes.h wants it: FACTOR_REPLICATE for what the partitioner cannot meet. */
factor_kind part_factor_kind(const part_record *r, u32 f);
/* Whether shards along factor f may be padded, where it does not divide: the op's padding rules
 * say so, and it is all there is to the dimensions that it is in. */
bool part_may_pad(const part_record *r, const op *o, u32 f);
/* May dimension d of tensor t (operands, then results) be cut in so many parts for the op to run on
 * shards? Asks more than the row where that is CUT_AS_RULED only. */
bool part_may_cut(const part_record *r, const op *o, u32 t, u32 d, i64 parts);
/* Whether the windows that the op needs when factor f is cut in so many parts can be had for less
 * than whole dimensions, or than axes on others. `types` and `now`, where they are (NULL: whole):
 * of operands, then results. Also true where it needs none. */
bool part_windows_pay(arena *a, const part_record *r, const op *o, const type *const *types,
                      const sharding *const *now, u32 f, i64 parts);
/* Whether, if the operands marked (`count` of them) are parts of a sum, the results are parts of
 * the op of the sums. */
bool part_passes_sums(const part_record *r, const op *o, const bool *marked, u32 count);

/* ---- what rows are made of ---- */

/* Result i of a reduction body of n pairs is op(argument i, argument n + i), in any order. */
bool part_body_kind(const block *b, u32 i, u32 n, unreduced_kind *out);
/* The initial value may count more than once. */
bool part_starts_neutral(const value *init, unreduced_kind kind);

/* The constant behind a scalar or splat, through ops that keep zero and one what they are; or NULL.
 */
const attr *part_scalar_constant(const value *v);

combines_fn combines_as_sum, combines_as_body, combines_as_update; /* parts.c */
needs_fn needs_convolution, needs_custom_call, needs_dynamic_slice, needs_dynamic_update_slice,
    needs_gather, needs_pad, needs_reduce_window, needs_reshape, needs_scatter, needs_slice,
    needs_triangular_solve; /* needs.c */

/* A bit per dimension; of dimensions from 64 on, all. */
typedef u64 dim_set;
#define ALL_DIMS UINT64_MAX
static inline dim_set dim_bit(i64 d) { return d >= 0 && d < 64 ? (dim_set)1 << d : ALL_DIMS; }

#endif
