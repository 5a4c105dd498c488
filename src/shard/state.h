/* Inside shard only: the engine's tables. */
#ifndef SHARD_STATE_H
#define SHARD_STATE_H

#include "shard/engine.h"
#include "shard/func_edges.h"

/* what an op is to the engine, by op number */
enum {
  KIND_RULE = 1u << 0, /* may have a rule */
  KIND_EDGE = 1u << 1,
  KIND_BARRIER = 1u << 2,
  KIND_ELEMENTWISE = 1u << 3,
  KIND_PASS_THROUGH = 1u << 4, /* first in op priorities */
  KIND_DYNAMIC = 1u << 5,      /* dynamic (update) slice: forward first */
  KIND_BROADCAST = 1u << 6,
};

typedef VEC(value *) value_vec;
/* What sdy.sharding_group ops of one id hold together. */
typedef struct value_group {
  i64 id;
  value_vec members;
} value_group;

typedef struct directions {
  u8 pass, other;
} directions;

typedef struct engine {
  ir_module *m;
  arena *a;
  arena *scratch; /* reset now and then */
  shard_space *space;
  rule_set rules;
  const engine_options *options;
  op *main;
  call_map *calls; /* NULL: no edge crosses the border of a function */

  /* by value number */
  const sharding **of; /* for holders */
  value **holder;      /* NULL: none */
  bool *changed;
  u32 *group; /* number + 1 */
  /* by op number */
  op **ops; /* in pre-order; NULL once erased */
  const rule **rule;
  bool *rule_known;
  u8 *kind;
  u8 *settled;               /* the mode of the last visit since when nothing changed; 0: none */
  u32 *place;                /* in the stack + 1 */
  const sharding ***results; /* of functions: shardings of their results */
  const rule **returned;     /* between those of main and what it returns; NULL: not known yet */
  u32 num_ops, num_values;

  VEC(value_group) groups; /* by id */
  hash_index memo;
  hash_index lists; /* sharding -> the attribute of an op whose one result has it */

  op **stack;
  u32 depth;
  op *current;
  int round;
  int modes_of; /* the round of which this is known, by KIND_PASS_THROUGH and those above: */
  directions modes[8];
  bool aggressive, notify;
  const sharding **in;
  size_t cap_in;
  value_vec sources;
} engine;

/* NULL: reported. */
engine *state_load(ir_module *m, arena *a, arena *scratch, const engine_options *options);
bool state_store(engine *e);
void state_fill_stack(engine *e); /* all live ops, the first on top */

static inline value *state_holder(const engine *e, const value *v) { return e->holder[v->num]; }
static inline const sharding *state_get(const engine *e, const value *v) {
  const value *h = e->holder[v->num];
  return h ? e->of[h->num] : NULL;
}
void state_set(engine *e, value *holder, const sharding *s);
value_group *state_group(engine *e, const value *holder); /* NULL: in none */
const sharding **state_results(engine *e, const op *func);

const rule *state_rule(engine *e, const op *o);
/* The identity over the type of o's result with n operands. */
const rule *state_identity(engine *e, const op *o, size_t n);
/* transfer, memoized; *out holds until the next call */
bool state_transfer(engine *e, const rule *r, transfer_mode mode, const sharding *const *in,
                    const sharding ***out);

/* The sharding of an edge as its sources see it, and back: they differ at the border of manual
 * computations. */
const sharding *state_outside(engine *e, value *owner, const sharding *edge);
const sharding *state_inside(engine *e, value *owner, const sharding *outside);

/* User priorities: dimensions of priority above 0 start closed and empty, their axes reserved;
 * round k gives those of the k-th priority back. */
typedef struct priority_plan {
  struct priority_round *rounds;
  size_t count;
} priority_plan;
priority_plan *state_plan_priorities(engine *e);
i64 state_priority(const priority_plan *p, size_t round);
void state_raise_priority(engine *e, const priority_plan *p, size_t round);

#endif
