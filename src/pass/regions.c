/* What canonicalization does to regions as such: blocks that nothing leads to go, and so does what
 * nothing that stays needs.
 *
 * Source: eraseUnreachableBlocks and runRegionDCE of MLIR's RegionUtils.cpp. */
#include "dialect/effects.h"
#include "pass/passes.h"

/* ---- blocks ---- */

/* block.num: is it reached? */
static void find_reached(arena *a, region *g) {
  VEC(block *) work = {0};
  for (block *b = g->first; b; b = b->next) b->num = 0;
  g->first->num = 1;
  VEC_PUSH(a, work, g->first);
  while (work.len) {
    const op *end = work.data[--work.len]->last;
    for (u16 i = 0; end && i < end->num_successors; i++) {
      block *to = end->successors[i];
      if (to->num || to->parent != g) continue;
      to->num = 1;
      VEC_PUSH(a, work, to);
    }
  }
}

bool regions_drop_unreached(rewriter *r, region *g) {
  bool changed = false;
  if (g->first && g->first->next) {
    find_reached(rewriter_scratch(r), g);
    for (block *b = g->first, *next; b; b = next) {
      next = b->next;
      if (b->num) continue;
      while (b->last) rewrite_erase(r, b->last);
      block_unlink(b);
      changed = true;
    }
  }
  for (block *b = g->first; b; b = b->next)
    for (op *o = b->first; o; o = o->next)
      for (u32 k = 0; k < o->num_regions; k++) changed |= regions_drop_unreached(r, &o->regions[k]);
  return changed;
}

/* ---- what is needed: op.num ---- */

typedef struct needs {
  arena *a;
  VEC(op *) work;
} needs;

static void need(needs *n, op *o) {
  if (!o || o->num) return;
  o->num = 1;
  VEC_PUSH(n->a, n->work, o);
}

/* Terminators too, and so what feeds them, even inside of ops that are not needed. */
static walk_result find_needed(void *user, op *o) {
  if (op_has(o, TERMINATOR) || op_has(o, SYMBOL) || !op_is_effect_free(o)) need(user, o);
  return WALK_ON;
}

static bool erase_unmarked(region *g) {
  bool changed = false;
  for (block *b = g->last; b; b = b->prev) {
    for (op *o = b->last, *prev; o; o = prev) {
      prev = o->prev;
      for (u32 k = 0; o->num && k < o->num_regions; k++) changed |= erase_unmarked(&o->regions[k]);
      changed |= !o->num;
      if (!o->num) op_erase(o);
    }
    for (u32 i = b == g->first ? 0 : b->num_args; i-- > 0;) {
      if (b->args[i]->uses) continue;
      block_erase_arg(b, i);
      changed = true;
    }
  }
  return changed;
}

static walk_result unmark(void *user, op *o) {
  (void)user;
  o->num = 0;
  return WALK_ON;
}

bool regions_erase_unneeded(arena *a, region *g) {
  needs n = {.a = a};
  for (block *b = g->first; b; b = b->next)
    for (op *o = b->first; o; o = o->next) op_walk(o, find_needed, &n);
  while (n.work.len) {
    const op *o = n.work.data[--n.work.len];
    for (u32 i = 0; i < o->num_operands; i++) need(&n, value_op(op_operand(o, i)));
  }
  bool changed = erase_unmarked(g);
  for (block *b = g->first; b; b = b->next)
    for (op *o = b->first; o; o = o->next) op_walk(o, unmark, NULL);
  return changed;
}
