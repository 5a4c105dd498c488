/* Why a partitioned program has its collectives: what is kept on the way, where somebody asks.
 *
 * A log numbers the ops of the source and ties the numbers to locations, which every later op
 * inherits: from a collective, or a step of the program, the location leads back to the op that it
 * serves. What propagation tells (shard/trace.h) becomes events between values of the source. Where
 * a pass moves a value or sums up parts, the location of what it makes has a reason besides: which
 * axes went, and which event gave them. Nobody pays for it where there is no log.
 *
 * Everything in it is plain and in its arena, so that it outlives the module; values and ops are
 * named by place (op number from 1, in pre-order, and index). */
#ifndef PARTITION_WHY_H
#define PARTITION_WHY_H

#include "base/diag.h"
#include "base/index.h"
#include "partition/common_axes.h"
#include "partition/env.h"
#include "shard/trace.h"

#define WHY_NO_EVENT SIZE_MAX

/* A value of the source. */
typedef enum why_at {
  WHY_NOWHERE, /* passes made it */
  WHY_RESULT,  /* of op */
  WHY_INSIDE,  /* an argument of op's regions; of @main: its argument */
  WHY_RETURNED /* of function op: its result */
} why_at;
typedef struct why_place {
  why_at at;
  u32 op, index;
} why_place;

typedef struct why_op {
  str name; /* "stablehlo.add" */
  str what; /* what the source calls it: "jit(f)/dot_general"; empty: nothing */
  diag_pos pos;
  u32 parent; /* 0: the module */
  bool main;
  bool chosen;       /* its result was given a sharding that costs less (choose.h) */
  str constraint;    /* of an op that says how values are to be sharded: the sharding, as text */
  why_place operand; /* of such an op: what it is about */
  str symbol;        /* its own name, or that of the function it calls; empty: none */
  str frames;        /* functions of the source, outermost first: "step/loss/block" */
  size_t operands;   /* the first of them in the log's */
  u32 num_operands;
} why_op;

/* As trace_event, between places. */
typedef struct why_event {
  str mesh, axis;
  i64 pre, size;
  why_place from, to;
  u32 op; /* whose rule or edge carried it; 0: a group did */
  bool edge;
  i64 user_priority;
  int op_round;
  size_t cause; /* the event that gave `from` the axis; WHY_NO_EVENT: it had it */
  size_t earlier;
} why_event;

typedef enum why_kind {
  WHY_NOTHING,
  WHY_SUM,        /* a factor that the op sums over is cut: the devices have parts */
  WHY_OPERAND,    /* operand `index` is not where the op computes */
  WHY_RESULT_OF,  /* result `index` is not to be where the op computes it */
  WHY_FLOW,       /* operand `index` goes into a region or call, which has it elsewhere */
  WHY_END,        /* what is returned is to be elsewhere */
  WHY_CONSTRAINT, /* the program says so there */
  WHY_NEIGHBOURS, /* a factor along which the op needs elements of other shards is cut */
} why_kind;

typedef struct why_axis {
  str mesh, axis;
  i64 pre, size, whole; /* whole: size of the axis */
  int from_dim, to_dim; /* of the value that moves; -1: it is along none */
  bool wanted;          /* where it is to be has it; else where it was */
  why_place holder;     /* the value that brought it */
  size_t event;         /* that gave it the axis; WHY_NO_EVENT: it had it before */
} why_axis;

typedef struct why_reason {
  why_kind kind;
  u32 op, index;
  VEC(why_axis) axes;
} why_reason;

typedef struct why_tag {
  u32 op, reason; /* reason 0: none */
} why_tag;
typedef VEC(why_tag) why_tags;

typedef struct why_value {
  why_place at;
  str sharding, type;
  u64 bytes;  /* of the whole */
  u64 padded; /* that padding adds to all shards together */
} why_value;

/* An argument or a result of @main. */
typedef struct why_border {
  str name; /* what the source calls it; empty: nothing */
  diag_pos pos;
  str sharding, type; /* as the source has it; sharding empty: it says nothing */
  bool donated;       /* an argument that the program may write over */
} why_border;

typedef struct why_mesh {
  str name;
  VEC(str) axes; /* those of more than one device */
  VEC(i64) sizes;
} why_mesh;

typedef struct why_log {
  arena a;
  ir_ctx *c;       /* while the line runs */
  VEC(why_op) ops; /* [0] stands for the module */
  VEC(why_place) operands;
  VEC(why_border) args, results;
  VEC(why_mesh) meshes;
  VEC(why_event) events;
  size_t num_before;       /* of these are of an earlier propagation; see why_again */
  VEC(why_reason) reasons; /* [0] is none */
  VEC(why_value) values;   /* after propagation, in order of the source */
  hash_index tags, last;   /* by location; number of the latest event by holder, and 1 */
  hash_index frames;       /* of a location of the source, as a str */
  u32 num_tags;
} why_log;

/* All that is there is zero; ends with arena_deinit. */
void why_init(why_log *w, const allocator *mem);

/* ---- for the line ---- */

/* Numbers the module's ops and ties the numbers to their locations. */
void why_begin(why_log *w, ir_module *m);
/* Another propagation of a copy of the source. What was told of the one before is forgotten; kept:
 * it stays, below num_before, and says where @main's own shardings come from. */
void why_again(why_log *w, ir_module *m, bool kept);
void why_traced(why_log *w, const shard_trace *t);
/* What shardings its values have now. */
void why_values(why_log *w, ir_module *m);

/* ---- for passes; all of these do nothing without a log ---- */

static inline why_log *why_of(const pass_args *args) {
  return args && args->tables ? args->tables->why : NULL;
}

/* What an op with a rule computes under. */
typedef struct why_rule {
  const op *o;
  const rule *rule;
  const u8 *kinds;
  const axis_list *axes;          /* by factor */
  const sharding *const *tensors; /* as they came */
} why_rule;

/* The location of what moves v, tensor `index` of o's operands or results: o's, with the reason.
 * r NULL: there is no rule. Without a log o's own. */
const attr *why_move(why_log *w, const part_env *e, const op *o, why_kind kind, u32 index, value *v,
                     const sharding *from, const sharding *to, const why_rule *r);
/* The location of what sums up parts along these axes, or brings neighbours' elements. */
const attr *why_factors(why_log *w, const part_env *e, const why_rule *r, why_kind kind,
                        axis_list axes);
/* Of one op in place of several. */
const attr *why_join(why_log *w, ir_ctx *c, const attr *a, const attr *b);

/* ---- for who asks ---- */

/* Which ops and reasons a location speaks of. In the arena. */
why_tags why_read(const why_log *w, arena *a, const attr *loc);
/* Does the text of a sharding name the axis? */
bool why_names(str sharding, str axis);
/* "x" or "x":(1)2 */
str why_axis_text(arena *a, str axis, i64 pre, i64 size, i64 whole);

#endif
