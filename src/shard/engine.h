/* The propagation engine: shardings of a whole module in a side table, to a fixed point.
 *
 * Order decides conflicts, so it is that of Shardy's patterns under MLIR's greedy driver
 * (GreedyPatternRewriteDriver, top-down, folding and constant CSE off, one iteration): a stack
 * of ops, all of them in pre-order at first with the first on top; an op already in the stack
 * keeps its place; unused ops without effects are erased when they come up. Steps are functions
 * of interned values and memoized, so repeated layers cost a look-up. */
#ifndef SHARD_ENGINE_H
#define SHARD_ENGINE_H

#include "shard/rule.h"
#include "shard/trace.h"
#include "shard/transfer.h"

typedef enum strategy {
  STRATEGY_BASIC,
  STRATEGY_AGGRESSIVE,
  STRATEGY_BASIC_THEN_AGGRESSIVE
} strategy;

typedef struct engine_options {
  strategy strategy;
  bool op_priorities;   /* in five rounds, pass-through ops first */
  bool user_priorities; /* one run for each priority that shardings name */
  bool conservative;
  bool keep_rules;    /* leave sdy.sharding_rule on every op that was visited */
  bool extra_rules;   /* also for ops that Shardy has no rules for */
  shard_trace *trace; /* filled; NULL: nobody asks */
  /* Called between user priorities, the module being up to date; NULL: nothing is. */
  bool (*after_priority)(void *user, i64 priority);
  void *user;
} engine_options;

/* Propagates through all functions of an imported module and writes the shardings back. False:
 * reported. */
bool engine_run(ir_module *m, arena *a, const engine_options *options);

#endif
