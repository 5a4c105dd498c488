/* Simplifying an op by its body: what may go is marked first, a byte an operand and a result. */
#include "mpmd/simplify.h"

#include "base/index.h"
#include "dialect/effects.h"

typedef struct marks {
  rewriter *r;
  arena *a;
  u8 *operands, *results; /* 1: to be erased */
} marks;

static u64 hash_typed(const value *v, const type *t) { return hash_ptr(v, hash_ptr(t, 0)); }

void values_merge_equal(rewriter *r, arena *a, const use *uses, value *const *targets, u32 n,
                        u8 *again) {
  hash_index seen = {0};
  for (u32 i = 0; i < n; i++) {
    u64 h = hash_typed(uses[i].value, targets[i]->type);
    const use *u;
    size_t at = 0;
    while ((u = index_next(&seen, h, &at)))
      if (u->value == uses[i].value && targets[u - uses]->type == targets[i]->type) break;
    if (!u) {
      index_add(&seen, a, h, (void *)(uintptr_t)&uses[i]);
      continue;
    }
    mpmd_replace_value(r, targets[i], targets[u - uses]);
    if (again) again[i] = 1;
  }
}

value **op_result_list(arena *a, op *o) {
  value **out = ARENA_ARRAY(a, value *, o->num_results + 1u);
  for (u32 i = 0; i < o->num_results; i++) out[i] = op_result(o, i);
  return out;
}

/* What goes through unchanged; then operands that nothing but such results needs. */
static void mark_unchanged(marks *k, op *o) {
  const block *b = op_body(o, 0);
  const op *ret = op_terminator(b);
  for (u32 i = 0; i < b->num_args; i++) {
    bool needed = false;
    for (const use *u = b->args[i]->uses; u; u = u->next) {
      u32 at = (u32)(u - u->owner->operands);
      if (u->owner == ret && op_operand(o, i)->type == o->results[at].type) {
        rewrite_replace_value(k->r, op_result(o, at), op_operand(o, i));
        k->results[at] = 1;
      } else {
        needed = true;
      }
    }
    if (!needed) k->operands[i] = 1;
  }
}

/* An op keeps one result at least, as long as it has an effect. */
static void mark_unused(marks *k, op *o) {
  const op *ret = op_terminator(op_body(o, 0));
  for (u32 i = 0; i < o->num_results; i++) {
    if (o->results[i].uses) continue;
    const op *by = o->num_results == 1 ? o : value_op(op_operand(ret, i));
    if (!by || op_is_effect_free(by)) k->results[i] = 1;
  }
}

static u32 count(const u8 *marked, u32 n) {
  u32 k = 0;
  for (u32 i = 0; i < n; i++) k += marked[i];
  return k;
}

static void erase_operands(ir_module *m, arena *a, op *o, const u8 *erase) {
  value_list kept = {0};
  for (u32 i = 0; i < o->num_operands; i++)
    if (!erase[i]) VEC_PUSH(a, kept, op_operand(o, i));
  op_set_operands(m, o, kept.data, kept.len);
}

/* Shardings of what stays. */
static const attr *keep_shardings(const marks *k, const attr *list, const u8 *erase) {
  const sharding_per_value_attr *l = attr_as(sharding_per_value, list);
  VEC(const attr *) kept = {0};
  for (size_t i = 0; l && i < l->shardings.len; i++)
    if (!erase[i]) VEC_PUSH(k->a, kept, l->shardings.data[i]);
  if (!kept.len) return NULL;
  return attr_make(rewriter_module(k->r)->ctx, sharding_per_value,
                   .shardings = {kept.data, kept.len});
}

static void copy_slots(const marks *k, const op *from, op *to) {
  for (u32 i = 0; i < from->info->num_slots; i++) to->slots[i] = from->slots[i];
  if (!op_is(from, mpmd_fragment)) return;
  const attr *in = op_get(from, mpmd_fragment, in_shardings);
  const attr *out = op_get(from, mpmd_fragment, out_shardings);
  op_set(to, mpmd_fragment, in_shardings, keep_shardings(k, in, k->operands));
  op_set(to, mpmd_fragment, out_shardings, keep_shardings(k, out, k->results));
}

/* The new op in front of the old, with its body. */
static op *recreate(marks *k, op *o, bool all) {
  ir_module *m = rewriter_module(k->r);
  block *b = op_body(o, 0);
  op *ret = op_terminator(b);
  value_list operands = {0};
  type_list types = {0};
  erase_operands(m, k->a, ret, k->results);
  rewrite_modified(k->r, ret);
  for (u32 i = o->num_operands; i-- > 0;)
    if (k->operands[i]) block_erase_arg(b, i);
  for (u32 i = 0; i < o->num_operands; i++)
    if (!k->operands[i]) VEC_PUSH(k->a, operands, op_operand(o, i));
  for (u32 i = 0; i < o->num_results; i++)
    if (!k->results[i]) VEC_PUSH(k->a, types, o->results[i].type);
  op *n = op_create(m, o->info, o->loc, operands.data, operands.len, types.data, types.len, 1);
  if (all) mpmd_copy_attrs(m, o, n);
  copy_slots(k, o, n);
  op_insert(n, o->parent, o);
  rewrite_inserted(k->r, n);
  block_unlink(b);
  region_append(&n->regions[0], b);
  return n;
}

static bool simplify(marks *k, op *o, bool all) {
  const block *b = op_body(o, 0);
  const op *ret = op_terminator(b);
  values_merge_equal(k->r, k->a, ret->operands, op_result_list(k->a, o), o->num_results,
                     k->results);
  values_merge_equal(k->r, k->a, o->operands, b->args, o->num_operands, k->operands);
  if (o->num_operands) mark_unchanged(k, o);
  mark_unused(k, o);
  u32 gone = count(k->results, o->num_results);
  if (gone == o->num_results) {
    if (!op_is_effect_free(o)) return false;
    rewrite_erase(k->r, o);
    return true;
  }
  if (!gone && !count(k->operands, o->num_operands)) return false;
  op *n = recreate(k, o, all);
  region_erase_dead(k->r, &n->regions[0]);
  for (u32 i = 0, to = 0; i < o->num_results; i++)
    if (!k->results[i]) rewrite_replace_value(k->r, op_result(o, i), op_result(n, to++));
  rewrite_erase(k->r, o);
  return true;
}

bool region_op_simplify(rewriter *r, op *o, bool all) {
  const block *b = op_body(o, 0);
  if (!b || !b->last || op_terminator(b)->num_operands != o->num_results ||
      (o->num_operands && b->num_args != o->num_operands))
    return false;
  ir_ctx *c = rewriter_module(r)->ctx;
  marks k = {.r = r, .a = ir_scratch_push(c)};
  k.operands = arena_zalloc(k.a, o->num_operands + 1u);
  k.results = arena_zalloc(k.a, o->num_results + 1u);
  bool changed = simplify(&k, o, all);
  ir_scratch_pop(c);
  return changed;
}

void region_erase_dead(rewriter *r, region *g) {
  for (block *b = g->last; b; b = b->prev)
    for (op *o = b->last, *prev; o; o = prev) {
      prev = o->prev;
      if (op_is_dead(o))
        mpmd_erase(r, o);
      else
        for (u32 i = 0; i < o->num_regions; i++) region_erase_dead(r, &o->regions[i]);
    }
}
