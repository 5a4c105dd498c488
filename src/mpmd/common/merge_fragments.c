/* Fragments merged with those that use their results, from the last to the first.
 *
 * Passes differ in which pairs they allow. All that uses a fragment has been visited before it, so
 * a fragment is merged with one user after another and never with the users of those. op.num is
 * the place of an op in the program as it was; a merged one has the place where it stands. */
#include "dialect/effects.h"
#include "mpmd/common/passes.h"
#include "mpmd/merge.h"

typedef struct merging merging;
typedef bool allow_fn(merging *g, const op *producer, const op *consumer);

struct merging {
  ir_module *m;
  allow_fn *allow;
  bool any_consumer; /* the nearest that is allowed, not just the nearest */
  bool sideways;     /* the next on the mesh, whether it uses anything or not */
  bool failed;
};

static bool fail(merging *g, const op *o, const char *message) {
  g->failed = true;
  return loc_error(g->m->ctx, o->loc, "%s", message);
}

/* ---- with whom ---- */

static op *next_on_mesh(const op *o) {
  for (op *i = o->next; i; i = i->next)
    if (mpmd_is_fragment(i) && str_eq(fragment_mesh(i), fragment_mesh(o))) return i;
  return NULL;
}

/* The first in the program that uses o; of all, or of those that are allowed. */
static op *nearest_consumer(merging *g, const op *o) {
  op *best = NULL;
  for (u32 i = 0; i < o->num_results; i++)
    for (const use *u = o->results[i].uses; u; u = u->next) {
      if (u->owner->parent != o->parent)
        return fail(g, o, "Expected all users of the producer op to be in the same block"), NULL;
      if (!mpmd_is_fragment(u->owner) || (best && best->num <= u->owner->num)) continue;
      if (!g->any_consumer || g->allow(g, o, u->owner)) best = u->owner;
      if (g->failed) return NULL;
    }
  return best;
}

/* NULL: with nobody. */
static op *candidate(merging *g, const op *o) {
  op *c = g->sideways ? next_on_mesh(o) : nearest_consumer(g, o);
  return c && (g->any_consumer || g->allow(g, o, c)) ? c : NULL;
}

/* ---- where ---- */

static bool used_before(const op *producer, const op *consumer) {
  for (u32 i = 0; i < producer->num_results; i++)
    for (const use *u = producer->results[i].uses; u; u = u->next)
      if (u->owner->num < consumer->num) return true;
  return false;
}

static bool can_move_to(const op *producer, const op *consumer) {
  for (u32 i = 0; i < consumer->num_operands; i++) {
    const op *by = value_op(op_operand(consumer, i));
    if (by && by != producer && by->num >= producer->num) return false;
  }
  return true;
}

/* In the consumer's place or, where something before it uses the producer, in the producer's. NULL:
 * not merged. */
static op *merge_once(merging *g, op *producer) {
  op *consumer = candidate(g, producer);
  if (!consumer) return NULL;
  u32 place = consumer->num;
  if (used_before(producer, consumer)) {
    if (!can_move_to(producer, consumer)) return NULL;
    place = producer->num;
    op_unlink(consumer);
    op_insert(consumer, producer->parent, producer->next);
  }
  merged_attrs a = fragments_merged_attrs(g->m, producer, consumer);
  op *o = fragments_merge(g->m, NULL, producer, consumer);
  g->failed = !o;
  if (!o) return NULL;
  fragment_set_merged(g->m, o, a);
  o->num = place;
  return o;
}

static void merge_in(merging *g, block *b) {
  for (op *o = b->last, *prev; o && !g->failed; o = prev) {
    prev = o->prev;
    if (op_is(o, mpmd_for)) merge_in(g, op_body(o, 0));
    if (!mpmd_is_fragment(o)) continue;
    if (op_is_dead(o)) {
      op_erase(o);
      continue;
    }
    while (o) o = merge_once(g, o);
  }
}

static walk_result number(void *user, op *o) {
  o->num = ++*(u32 *)user;
  return mpmd_is_fragment(o) ? WALK_SKIP : WALK_ON;
}

static bool merge_all(merging *g, arena *scratch) {
  op_list functions = {0};
  mpmd_distributed(scratch, g->m, &functions);
  for (size_t i = 0; i < functions.len && !g->failed; i++) {
    u32 n = 0;
    op_walk(functions.data[i], number, &n);
    for (block *b = op_body(functions.data[i], 0); b; b = b->next) merge_in(g, b);
  }
  return !g->failed;
}

/* ---- which ---- */

static bool allow_inferred(merging *g, const op *producer, const op *consumer) {
  (void)g;
  if (fragment_is_user(producer) && fragment_is_user(consumer)) return false;
  return !op_discardable(producer, MPMD_SPLIT_KEEP) || !op_discardable(consumer, MPMD_SPLIT_DROP);
}

bool pass_mpmd_merge_inferred(ir_module *m, arena *scratch, const pass_args *args) {
  merging g = {.m = m, .allow = allow_inferred};
  g.any_consumer = pass_option_flag(args, STR("merge-any-consumer"), false);
  g.sideways = pass_option_flag(args, STR("merge-sideways"), false);
  if (g.any_consumer && g.sideways)
    return loc_error(m->ctx, NULL, "merge-sideways cannot be used with merge-any-consumer");
  return merge_all(&g, scratch);
}

static bool allow_turn(merging *g, const op *producer, const op *consumer) {
  (void)g;
  return fragment_directly_after(producer, consumer) && fragment_is_forward(producer) &&
         fragment_is_backward(consumer);
}

bool pass_mpmd_merge_forward_with_backward(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  return merge_all(&(merging){.m = m, .allow = allow_turn}, scratch);
}

static bool allow_unit(merging *g, const op *producer, const op *consumer) {
  if (!fragment_is_user(producer) || !fragment_is_user(consumer)) return false;
  i64 a = fragment_transpose_count(producer), b = fragment_transpose_count(consumer);
  if (a < 0)
    return fail(g, producer,
                "Expected one and only one transpose count for a user-defined producer op.");
  if (b < 0)
    return fail(g, consumer,
                "Expected one and only one transpose count for a user-defined consumer op.");
  i64 i = mpmd_call_counter(producer), k = mpmd_call_counter(consumer);
  return a == b && (i < 0 || k < 0 || i == k) && fragment_stages_agree(producer, consumer);
}

bool pass_mpmd_merge_into_units(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  return merge_all(&(merging){.m = m, .allow = allow_unit}, scratch);
}
