/* Operands and results that say nothing; simplify_region.h says which. */
#include "mpmd/simplify_region.h"

#include "base/index.h"
#include "dialect/effects.h"
#include "dialect/speculate.h"
#include "mpmd/util.h"

typedef struct dropped {
  bool *operands, *results;
} dropped;

static walk_result may_run(void *user, op *o) {
  (void)user;
  speculation s = op_speculation(o);
  bool by_body = o->num_regions && s == SPECULATION_UNKNOWN; /* of a row that says nothing */
  return s == SPECULATION_NO || (s == SPECULATION_UNKNOWN && !by_body) ? WALK_STOP : WALK_ON;
}

/* No effects, and no harm in running it or not. */
static bool is_pure(op *o) { return op_is_effect_free(o) && op_walk(o, may_run, NULL); }

typedef struct first_of {
  const value *source;
  value *target;
} first_of;

/* Where the source came before for a target of this type, that one stands for the target. */
static bool is_second(rewriter *r, hash_index *seen, const value *source, value *target) {
  u64 h = hash_ptr(source, hash_ptr(target->type, 0));
  first_of *e;
  for (size_t at = 0; (e = index_next(seen, h, &at));)
    if (e->source == source && e->target->type == target->type) {
      rewrite_replace_value(r, target, e->target);
      return true;
    }
  e = ARENA_NEW(rewriter_scratch(r), first_of);
  *e = (first_of){source, target};
  index_add(seen, rewriter_scratch(r), h, e);
  return false;
}

/* Results that are an operand are that; an argument that nothing else uses needs no operand. */
static void drop_passed(rewriter *r, op *o, const op *ret, dropped *d) {
  const block *b = op_body(o, 0);
  for (u32 i = 0; i < b->num_args; i++) {
    value *operand = op_operand(o, i);
    bool needed = false;
    for (const use *u = b->args[i]->uses; u; u = u->next) {
      size_t k = (size_t)(u - u->owner->operands);
      if (u->owner == ret && operand->type == o->results[k].type) {
        rewrite_replace_value(r, op_result(o, k), operand);
        d->results[k] = true;
      } else {
        needed = true;
      }
    }
    d->operands[i] |= !needed;
  }
}

/* The last result may go only with the op. */
static void drop_unused(op *o, const op *ret, dropped *d) {
  for (u32 i = 0; i < o->num_results; i++) {
    if (o->results[i].uses) continue;
    op *by = value_op(op_operand(ret, i));
    d->results[i] |= o->num_results == 1 ? is_pure(o) : !by || is_pure(by);
  }
}

static bool any(const bool *list, size_t n) {
  while (n)
    if (list[--n]) return true;
  return false;
}

static bool all(const bool *list, size_t n) {
  while (n)
    if (!list[--n]) return false;
  return true;
}

static void keep_operands(ir_module *m, arena *a, op *o, const bool *drop) {
  value_list kept = {0};
  for (u32 i = 0; i < o->num_operands; i++)
    if (!drop[i]) VEC_PUSH(a, kept, op_operand(o, i));
  op_set_operands(m, o, kept.data, kept.len);
}

/* Its body's dead ops go, users first. */
static void erase_dead(rewriter *r, block *b) {
  for (op *o = b->last, *prev; o; o = prev) {
    prev = o->prev;
    if (op_is_dead(o)) rewrite_erase(r, o);
  }
}

static op *create_smaller(rewriter *r, op *o, const dropped *d, bool keep_attrs) {
  arena *a = rewriter_scratch(r);
  value_list operands = {0};
  type_list types = {0};
  for (u32 i = 0; i < o->num_operands; i++)
    if (!d->operands[i]) VEC_PUSH(a, operands, op_operand(o, i));
  for (u32 i = 0; i < o->num_results; i++)
    if (!d->results[i]) VEC_PUSH(a, types, o->results[i].type);
  op *n =
      rewrite_create(r, o, op_kind(o), o->loc, operands.data, operands.len, types.data, types.len);
  for (u32 i = 0; i < o->info->num_slots; i++) n->slots[i] = o->slots[i];
  if (keep_attrs) mpmd_copy_attrs(rewriter_module(r), o, n);
  return n;
}

static void replace_smaller(rewriter *r, op *o, op *ret, const dropped *d, bool keep_attrs) {
  block *b = op_body(o, 0);
  keep_operands(rewriter_module(r), rewriter_scratch(r), ret, d->results);
  for (u32 i = b->num_args; i-- > 0;)
    if (d->operands[i]) block_erase_arg(b, i);
  op *n = create_smaller(r, o, d, keep_attrs);
  mpmd_take_body(n, o);
  erase_dead(r, b);
  for (u32 i = 0, k = 0; i < o->num_results; i++)
    if (!d->results[i]) rewrite_replace_value(r, op_result(o, i), op_result(n, k++));
  rewrite_erase(r, o);
}

bool simplify_region_op(rewriter *r, op *o, bool keep_attrs) {
  arena *a = rewriter_scratch(r);
  block *b = op_body(o, 0);
  op *ret = op_terminator(b);
  dropped d = {arena_zalloc(a, o->num_operands + 1u), arena_zalloc(a, o->num_results + 1u)};
  hash_index results = {0}, operands = {0};
  for (u32 i = 0; i < o->num_results; i++)
    d.results[i] = is_second(r, &results, op_operand(ret, i), op_result(o, i));
  for (u32 i = 0; i < o->num_operands; i++)
    d.operands[i] = is_second(r, &operands, op_operand(o, i), b->args[i]);
  if (o->num_operands) drop_passed(r, o, ret, &d);
  drop_unused(o, ret, &d);
  if (all(d.results, o->num_results)) {
    if (!is_pure(o)) return false;
    rewrite_erase(r, o);
    return true;
  }
  if (!any(d.operands, o->num_operands) && !any(d.results, o->num_results)) return false;
  replace_smaller(r, o, ret, &d, keep_attrs);
  return true;
}
