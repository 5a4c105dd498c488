/* Effects, from the trait of the row or from the lists here.
 *
 * MLIR's MemoryEffectOpInterface, boiled down to one question: may an op go when nobody uses its
 * results? The passes that erase, merge or move ops ask, on verified modules and in between. Most
 * rows say it with PURE; the list is of ops where the answer differs from the trait or depends on
 * what is inside. */
#include "dialect/effects.h"

typedef enum effects { EFFECTS_TRAIT, EFFECTS_NONE, EFFECTS_SOME, EFFECTS_OF_BODY } effects;
static const u8 effects_of[OP_COUNT] = {
    [OP_optimization_barrier] = EFFECTS_NONE,
    [OP_reduce] = EFFECTS_OF_BODY,
    [OP_reduce_window] = EFFECTS_OF_BODY,
    [OP_scatter] = EFFECTS_OF_BODY,
    [OP_sort] = EFFECTS_OF_BODY,
    [OP_map] = EFFECTS_OF_BODY,
    [OP_select_and_scatter] = EFFECTS_OF_BODY,
    [OP_while] = EFFECTS_OF_BODY,
    [OP_case] = EFFECTS_OF_BODY,
    [OP_if] = EFFECTS_OF_BODY,
    [OP_chlo_scan] = EFFECTS_OF_BODY,
    [OP_manual_computation] = EFFECTS_OF_BODY,
    [OP_named_computation] = EFFECTS_OF_BODY,
    [OP_mpmd_named_computation] = EFFECTS_OF_BODY,
    [OP_mpmd_fragment] = EFFECTS_OF_BODY,
    [OP_mpmd_for] = EFFECTS_OF_BODY,
    /* collectives of sdy: unused ones stay, as in Shardy */
    [OP_sdy_all_gather] = EFFECTS_SOME,
    [OP_sdy_all_slice] = EFFECTS_SOME,
    [OP_sdy_all_to_all] = EFFECTS_SOME,
    [OP_sdy_collective_permute] = EFFECTS_SOME,
    [OP_sdy_all_reduce] = EFFECTS_SOME,
    [OP_sdy_reduce_scatter] = EFFECTS_SOME,
    [OP_sharded_to_unreduced] = EFFECTS_SOME,
    [OP_replicated_to_unreduced] = EFFECTS_SOME,
};

/* has_side_effect is false by default (spec.md, custom_call). */
static bool call_is_free(const op *o) {
  struct custom_call_attrs v;
  return view_custom_call(o, &v) && !v.has_side_effect;
}

static bool body_is_free(const op *o) {
  for (size_t r = 0; r < o->num_regions; r++)
    for (const block *b = o->regions[r].first; b; b = b->next)
      for (const op *i = b->first; i; i = i->next)
        if (!op_is_effect_free(i)) return false;
  return true;
}

bool op_is_effect_free(const op *o) {
  if (op_kind(o) >= OP_COUNT)
    return op_has(o, PURE) || (op_has(o, BODY_EFFECTS) && body_is_free(o));
  if (op_is(o, custom_call)) return call_is_free(o);
  switch ((effects)effects_of[op_kind(o)]) {
  case EFFECTS_TRAIT:
    return op_has(o, PURE);
  case EFFECTS_NONE:
    return true;
  case EFFECTS_SOME:
    return false;
  case EFFECTS_OF_BODY:
    return body_is_free(o);
  }
  return false;
}

static bool is_needed(const op *o) {
  if (op_has(o, TERMINATOR) || op_has(o, SYMBOL)) return true;
  for (u32 i = 0; i < o->num_results; i++)
    if (o->results[i].uses) return true;
  return false;
}

bool op_is_dead(const op *o) { return !is_needed(o) && op_is_effect_free(o); }

/* From the end, so that users come before what they use and one walk suffices. An op that stays is
 * entered; one that goes takes its regions along. */
void ops_erase_dead(op *root, dead_policy policy) {
  for (u32 r = 0; r < root->num_regions; r++)
    for (block *b = root->regions[r].last; b; b = b->prev)
      for (op *o = b->last, *prev; o; o = prev) {
        prev = o->prev;
        if (o->num_results && !is_needed(o) &&
            (policy == DEAD_BY_ROW ? op_has(o, PURE) : op_is_effect_free(o)))
          op_erase(o);
        else
          ops_erase_dead(o, policy);
      }
}
