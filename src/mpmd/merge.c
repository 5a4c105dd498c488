/* Merging fragments.
 *
 * The producer's ops come first, then the consumer's, where what the producer returns stands for
 * the consumer's arguments. Control operands are only there to keep an order and have no argument;
 * they follow all others. */
#include "mpmd/merge.h"

#include "base/index.h"

typedef struct merger {
  ir_module *m;
  rewriter *r;
  arena *a;
  op *producer, *consumer;
  value_list operands, args; /* of the new fragment; what stands for the consumer's arguments */
  value_list returned, kept; /* by the new body; of the producer's results */
  type_list results;
  hash_index argument; /* operand -> its argument */
} merger;

/* Where control operands begin; -1: there are none. */
static i64 control_start(const op *o) {
  i64 v;
  const attr *a = op_discardable(o, MPMD_CONTROL_START);
  return a && attr_get_i64(a, &v) ? v : -1;
}

static bool can_merge(ir_module *m, const op *producer, const op *consumer) {
  const op *both[] = {producer, consumer};
  if (!str_eq(fragment_mesh(producer), fragment_mesh(consumer)))
    return loc_error(m->ctx, consumer->loc, "Expected both fragments to be on the same mesh.");
  if (!fragment_stages_agree(producer, consumer))
    return loc_error(m->ctx, consumer->loc,
                     "Merging requires both fragments to have the same stage id.");
  for (size_t i = 0; i < COUNT(both); i++) {
    i64 start = control_start(both[i]);
    u32 args = op_body(both[i], 0)->num_args;
    if (start >= 0 ? start != args || args > both[i]->num_operands : args != both[i]->num_operands)
      return loc_error(m->ctx, both[i]->loc,
                       "Control operands should come directly after dynamic arguments operands.");
  }
  return true;
}

/* Of both; one of very many places says no more with another, and fragments that are merged over
 * and over would be told with each all of them. */
static const attr *merged_loc(const merger *g) {
  enum { ENOUGH = 512 };
  const attr *both[] = {g->producer->loc, g->consumer->loc};
  for (size_t i = 0; i < COUNT(both); i++) {
    const loc_fused_attr *f = attr_as(loc_fused, both[i]);
    if (f && f->locs.len >= ENOUGH) return both[i];
  }
  return loc_fuse(g->m->ctx, both[0], both[1]);
}

/* In front of the consumer, without a body. */
static op *create_merged(merger *g) {
  op *o = op_create(g->m, &op_infos[OP_mpmd_fragment], merged_loc(g), g->operands.data,
                    g->operands.len, g->results.data, g->results.len, 1);
  const attr *stage = fragment_stage(g->producer);
  op_set(o, mpmd_fragment, origin, fragment_origin_union(g->m, g->producer, g->consumer));
  op_set(o, mpmd_fragment, mesh_name, op_get(g->producer, mpmd_fragment, mesh_name));
  op_set(o, mpmd_fragment, stage_id, stage ? stage : fragment_stage(g->consumer));
  op_insert(o, g->consumer->parent, g->consumer);
  if (g->r) rewrite_inserted(g->r, o);
  return o;
}

static bool is_longer(const block *a, const block *b) {
  const op *x = a->first, *y = b->first;
  while (x && y) x = x->next, y = y->next;
  return x != NULL;
}

/* The ops of both in one block, under these arguments. The shorter one moves: a fragment that takes
 * in one after the other does not move with each all that it has. */
static block *join(block *first, block *second, block *args) {
  block *b = is_longer(second, first) ? second : first;
  if (b == second)
    block_move_ops(first, NULL, second, second->first);
  else
    block_splice(first, second);
  if (b != args) block_take_args(b, args);
  return b;
}

static void give_body(op *o, block *b) {
  block_unlink(b);
  region_append(&o->regions[0], b);
}

/* ---- one value from the one to the other ---- */

static bool is_chain(const op *producer, const op *consumer) {
  return producer->num_results == 1 && producer->num_operands == 1 &&
         value_has_one_use(op_result(producer, 0)) &&
         producer->results[0].uses->owner == consumer && control_start(producer) < 0 &&
         control_start(consumer) < 0;
}

/* The consumer keeps its operands, in their order, but for the producer's in the place of what the
 * producer gave. */
static op *merge_chain(merger *g) {
  const use *u = g->producer->results[0].uses;
  size_t at = (size_t)(u - g->consumer->operands);
  for (u32 i = 0; i < g->consumer->num_operands; i++)
    VEC_PUSH(g->a, g->operands, op_operand(g->consumer, i));
  for (u32 i = 0; i < g->consumer->num_results; i++)
    VEC_PUSH(g->a, g->results, g->consumer->results[i].type);
  op *o = create_merged(g);
  op_set_operand(o, at, op_operand(g->producer, 0));
  block *from = op_body(g->producer, 0), *body = op_body(g->consumer, 0);
  op *ret = op_terminator(from);
  value *arg = body->args[at];
  mpmd_replace_value(g->r, arg, op_operand(ret, 0));
  arg->type = from->args[0]->type;
  mpmd_replace_value(g->r, from->args[0], arg);
  mpmd_erase(g->r, ret);
  give_body(o, join(from, body, body));
  for (u32 i = 0; i < o->num_results; i++)
    mpmd_replace_value(g->r, op_result(g->consumer, i), op_result(o, i));
  mpmd_erase(g->r, g->consumer);
  mpmd_erase(g->r, g->producer);
  return o;
}

/* ---- any two ---- */

/* An operand that comes again has the argument that it had first. */
static void take_operands(merger *g) {
  block *b = op_body(g->producer, 0);
  u32 n = b->num_args, kept = 0;
  for (u32 i = 0; i < n; i++) {
    value *v = op_operand(g->producer, i), *arg = b->args[kept];
    value *first = index_get(&g->argument, v);
    if (first) {
      mpmd_replace_value(g->r, arg, first);
      block_erase_arg(b, kept);
      continue;
    }
    VEC_PUSH(g->a, g->operands, v);
    index_set(&g->argument, g->a, v, arg);
    kept++;
  }
}

static void add_operands(merger *g) {
  block *into = op_body(g->producer, 0);
  const block *b = op_body(g->consumer, 0);
  const op *ret = op_terminator(into);
  for (u32 i = 0; i < b->num_args; i++) {
    value *v = op_operand(g->consumer, i);
    value *arg = index_get(&g->argument, v);
    if (value_op(v) == g->producer) {
      arg = op_operand(ret, v->index);
    } else if (!arg) {
      arg = block_add_arg(g->m, into, b->args[i]->type);
      VEC_PUSH(g->a, g->operands, v);
      index_set(&g->argument, g->a, v, arg);
    }
    VEC_PUSH(g->a, g->args, arg);
  }
}

static void add_control(merger *g, const op *of, const op *other) {
  i64 start = control_start(of);
  for (u32 i = start < 0 ? of->num_operands : (u32)start; i < of->num_operands; i++)
    if (value_op(op_operand(of, i)) != other) VEC_PUSH(g->a, g->operands, op_operand(of, i));
}

/* One body, and what it returns. */
static block *join_bodies(merger *g) {
  block *into = op_body(g->producer, 0), *from = op_body(g->consumer, 0);
  op *first = op_terminator(into);
  for (u32 i = 0; i < from->num_args; i++) mpmd_replace_value(g->r, from->args[i], g->args.data[i]);
  for (u32 i = 0; i < g->producer->num_results; i++) {
    value *v = op_result(g->producer, i);
    if (!mpmd_used_besides(v, g->consumer)) continue;
    VEC_PUSH(g->a, g->kept, v);
    VEC_PUSH(g->a, g->results, v->type);
    VEC_PUSH(g->a, g->returned, op_operand(first, i));
  }
  mpmd_erase(g->r, first);
  block *b = join(into, from, into);
  op *ret = op_terminator(b);
  for (u32 i = 0; i < g->consumer->num_results; i++) {
    VEC_PUSH(g->a, g->results, g->consumer->results[i].type);
    VEC_PUSH(g->a, g->returned, op_operand(ret, i));
  }
  op_set_operands(g->m, ret, g->returned.data, g->returned.len);
  if (g->r) rewrite_modified(g->r, ret);
  return b;
}

/* All uses but the consumer's, which is about to go. */
static void replace_besides(merger *g, value *from, value *to) {
  for (use *u = from->uses; g->r && u; u = u->next)
    if (u->owner != g->consumer) rewrite_modified(g->r, u->owner);
  value_replace_except(from, to, g->consumer);
}

static op *merge_any(merger *g) {
  take_operands(g);
  add_operands(g);
  size_t control = g->operands.len;
  add_control(g, g->producer, g->consumer);
  add_control(g, g->consumer, g->producer);
  block *b = join_bodies(g);
  op *o = create_merged(g);
  if (g->operands.len > control)
    op_set_attr(g->m, o, MPMD_CONTROL_START, attr_i64(g->m->ctx, (i64)control));
  give_body(o, b);
  for (size_t i = 0; i < g->kept.len; i++) replace_besides(g, g->kept.data[i], op_result(o, i));
  for (u32 i = 0; i < g->consumer->num_results; i++)
    mpmd_replace_value(g->r, op_result(g->consumer, i), op_result(o, g->kept.len + i));
  mpmd_erase(g->r, g->consumer);
  mpmd_erase(g->r, g->producer);
  return o;
}

op *fragments_merge(ir_module *m, rewriter *r, op *producer, op *consumer) {
  if (!can_merge(m, producer, consumer)) return NULL;
  merger g = {.m = m, .r = r, .producer = producer, .consumer = consumer};
  g.a = ir_scratch_push(m->ctx);
  op *o = is_chain(producer, consumer) ? merge_chain(&g) : merge_any(&g);
  ir_scratch_pop(m->ctx);
  return o;
}

/* ---- attributes ---- */

/* The user's counts where only one of the two is of something that the user named. */
static const attr *merged_counter(const op *a, const op *b) {
  const attr *x = op_discardable(a, MPMD_CALL_COUNTER), *y = op_discardable(b, MPMD_CALL_COUNTER);
  if (!x || !y || x == y) return x ? x : y;
  if (fragment_is_user(a) == fragment_is_user(b)) return NULL;
  return fragment_is_user(a) ? x : y;
}

const attr *fragments_inferred_by(ir_module *m, const op *a, const op *b) {
  const op *both[] = {a, b};
  arena *s = ir_scratch_push(m->ctx);
  VEC(const attr *) all = {0};
  for (size_t k = 0; k < COUNT(both); k++) {
    const array_attr *by = attr_as(array, op_discardable(both[k], MPMD_INFERRED_BY));
    for (size_t i = 0; by && i < by->elems.len; i++) {
      size_t at = 0;
      while (at < all.len && all.data[at] != by->elems.data[i]) at++;
      if (at == all.len) VEC_PUSH(s, all, by->elems.data[i]);
    }
  }
  bool some = op_discardable(a, MPMD_INFERRED_BY) || op_discardable(b, MPMD_INFERRED_BY);
  const attr *out = some ? attr_array(m->ctx, (attrs){all.data, all.len}) : NULL;
  ir_scratch_pop(m->ctx);
  return out;
}

merged_attrs fragments_merged_attrs(ir_module *m, const op *producer, const op *consumer) {
  merged_attrs a = {merged_counter(producer, consumer), NULL};
  if (!fragment_is_user(producer) && !fragment_is_user(consumer))
    a.inferred_by = fragments_inferred_by(m, producer, consumer);
  return a;
}

void fragment_set_merged(ir_module *m, op *fragment, merged_attrs a) {
  op_set_attr(m, fragment, MPMD_CALL_COUNTER, a.call_counter);
  op_set_attr(m, fragment, MPMD_INFERRED_BY, a.inferred_by);
}
