/* Many small transfers from one fragment to another become one: what is sent is concatenated by the
 * producer and sliced by the consumer. The transfers that carried it stay, without a use there. */
#include "mpmd/common/passes.h"
#include "mpmd/util.h"

enum { MOST_ELEMENTS = 1 }; /* of what is worth it */
#define CONCAT_TRANSFER STR("concat_transfer")

typedef VEC(u32) numbers;
/* What goes to one consumer under one type, by numbers of results. */
typedef struct group {
  const type *type;
  op *consumer;
  numbers results;
} group;
typedef VEC(group) groups;

typedef struct joiner {
  ir_module *m;
  arena *a;
  op *producer;
  const group *g;
} joiner;

/* ---- what belongs together ---- */

static bool is_cut(const type *t) {
  const tensor_sharding_attr *s = attr_as(tensor_sharding, t->encoding);
  for (size_t d = 0; s && d < s->dims.len; d++)
    if (((const dim_sharding_attr *)s->dims.data[d])->axes.len) return true;
  return false;
}

static bool is_small(const type *t) {
  i64 n;
  return type_is_mesh_tensor(t) && !str_is(mpmd_memory_kind(t), MPMD_PINNED_HOST) && !is_cut(t) &&
         type_num_elements(mpmd_whole(t), &n) && n <= MOST_ELEMENTS;
}

static bool is_plain_transfer(const op *o) {
  return op_is(o, mpmd_transfer) && !op_discardable(o, CONCAT_TRANSFER);
}

static void add_result(arena *a, groups *all, const type *t, op *consumer, u32 result) {
  size_t i = 0;
  while (i < all->len && (all->data[i].type != t || all->data[i].consumer != consumer)) i++;
  if (i == all->len) VEC_PUSH(a, *all, ((group){t, consumer, {0}}));
  VEC_PUSH(a, all->data[i].results, result);
}

/* Each fragment once that uses the transfer. */
static void add_consumers(arena *a, groups *all, const op *transfer, u32 result) {
  const value *v = &transfer->results[0];
  for (const use *u = v->uses; u; u = u->next) {
    const use *before = v->uses;
    while (before->owner != u->owner) before = before->next;
    if (before == u && mpmd_is_fragment(u->owner))
      add_result(a, all, mpmd_whole(op_operand(transfer, 0)->type), u->owner, result);
  }
}

static groups find_groups(arena *a, const op *producer) {
  groups all = {0};
  for (u32 i = 0; i < producer->num_results; i++) {
    if (!is_small(producer->results[i].type)) continue;
    for (const use *u = producer->results[i].uses; u; u = u->next)
      if (is_plain_transfer(u->owner)) add_consumers(a, &all, u->owner, i);
  }
  return all;
}

/* ---- the producer ---- */

/* The dimensions of n elements of t one after the other. */
static const type *stacked(const joiner *j, const type *t, i64 n) {
  size_t rank = t->dims.len;
  i64 *dims = ARENA_ARRAY(j->a, i64, rank + 1);
  dims[0] = n;
  for (size_t d = 0; d < rank; d++) dims[d + 1] = t->dims.data[d];
  return type_with_dims(j->m->ctx, t, (i64s){dims, rank + 1});
}

static value *concatenate(const joiner *j) {
  op *ret = op_terminator(op_body(j->producer, 0));
  const type *one = stacked(j, j->g->type, 1);
  value_list parts = {0};
  for (size_t i = 0; i < j->g->results.len; i++) {
    value *v = op_operand(ret, j->g->results.data[i]);
    op *o = mpmd_emit(j->m, ret, OP_reshape, j->producer->loc, &v, 1, &one, 1);
    VEC_PUSH(j->a, parts, op_result(o, 0));
  }
  const type *all = stacked(j, j->g->type, (i64)parts.len);
  op *o = mpmd_emit(j->m, ret, OP_concatenate, j->producer->loc, parts.data, parts.len, &all, 1);
  op_set(o, concatenate, dimension, attr_i64(j->m->ctx, 0));
  return op_result(o, 0);
}

/* The new fragment gives v too, last. */
static void add_to_results(joiner *j, value *v) {
  op *o = j->producer;
  block *b = op_body(o, 0);
  value_list in = {0};
  type_list types = {0};
  for (u32 i = 0; i < o->num_operands; i++) VEC_PUSH(j->a, in, op_operand(o, i));
  for (u32 i = 0; i < o->num_results; i++) VEC_PUSH(j->a, types, o->results[i].type);
  VEC_PUSH(j->a, types, type_mesh_tensor(j->m->ctx, fragment_mesh(o), v->type, NULL, NULL));
  op *n = op_create(j->m, o->info, o->loc, in.data, in.len, types.data, types.len, 1);
  mpmd_copy_attrs(j->m, o, n);
  op_append_operand(j->m, op_terminator(b), v);
  op_insert(n, o->parent, o);
  block_unlink(b);
  region_append(&n->regions[0], b);
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), op_result(n, i));
  op_erase(o);
  j->producer = n;
}

static value *transfer_last(const joiner *j) {
  op *o = j->producer;
  value *v = op_result(o, o->num_results - 1);
  const type *t =
      type_mesh_tensor(j->m->ctx, fragment_mesh(j->g->consumer), mpmd_whole(v->type), NULL, NULL);
  value *out = mpmd_emit_transfer(j->m, o->next, o->loc, v, t);
  op_set_attr(j->m, value_op(out), CONCAT_TRANSFER, attr_unit(j->m->ctx));
  return out;
}

/* ---- the consumer ---- */

/* Element i of what is stacked. */
static value *take_element(const joiner *j, op *before, value *v, const type *t, i64 i) {
  ir_ctx *c = j->m->ctx;
  const type *one = stacked(j, t, 1);
  size_t rank = one->dims.len;
  i64 *begin = arena_zalloc(j->a, rank * sizeof(i64)), *end = ARENA_ARRAY(j->a, i64, rank);
  i64 *ones = ARENA_ARRAY(j->a, i64, rank);
  for (size_t d = 0; d < rank; d++) end[d] = one->dims.data[d], ones[d] = 1;
  begin[0] = i, end[0] = i + 1;
  op *o = mpmd_emit(j->m, before, OP_slice, j->producer->loc, &v, 1, &one, 1);
  op_set(o, slice, start_indices, attr_i64_array(c, (i64s){begin, rank}));
  op_set(o, slice, limit_indices, attr_i64_array(c, (i64s){end, rank}));
  op_set(o, slice, strides, attr_i64_array(c, (i64s){ones, rank}));
  value *slice = op_result(o, 0);
  return op_result(mpmd_emit(j->m, before, OP_reshape, j->g->consumer->loc, &slice, 1, &t, 1), 0);
}

typedef struct replaced {
  value *arg;
  i64 element;
} replaced;
typedef VEC(replaced) replaced_list;

/* Arguments that came by the transfers; of one that came more than once the last. */
static void find_arguments(const joiner *j, u32 result, i64 element, replaced_list *out) {
  const block *b = op_body(j->g->consumer, 0);
  for (const use *u = j->producer->results[result].uses; u; u = u->next) {
    if (!is_plain_transfer(u->owner)) continue;
    for (const use *w = u->owner->results[0].uses; w; w = w->next) {
      size_t at = (size_t)(w - w->owner->operands), i = 0;
      if (w->owner != j->g->consumer || at >= b->num_args) continue;
      while (i < out->len && out->data[i].arg != b->args[at]) i++;
      if (i == out->len) VEC_PUSH(j->a, *out, ((replaced){b->args[at], 0}));
      out->data[i].element = element;
    }
  }
}

static void slice_on_consumer(const joiner *j, value *transferred) {
  op *o = j->g->consumer;
  block *b = op_body(o, 0);
  op *before = b->first;
  replaced_list list = {0};
  for (size_t i = 0; i < j->g->results.len; i++)
    find_arguments(j, j->g->results.data[i], (i64)i, &list);
  op_append_operand(j->m, o, transferred);
  value *all = block_add_arg(j->m, b, mpmd_whole(transferred->type));
  for (size_t i = 0; i < list.len; i++) {
    value *arg = list.data[i].arg;
    value_replace(arg, take_element(j, before, all, arg->type, list.data[i].element));
  }
}

/* Groups are found first: what they say stays true of the fragment that takes the producer's
 * place, and consumers stay. */
static void merge_from(ir_module *m, arena *a, op *producer) {
  joiner j = {m, a, producer, NULL};
  groups all = find_groups(a, producer);
  for (size_t i = 0; i < all.len; i++) {
    if (all.data[i].results.len < 2) continue;
    j.g = &all.data[i];
    add_to_results(&j, concatenate(&j));
    slice_on_consumer(&j, transfer_last(&j));
  }
}

bool pass_mpmd_merge_transfers(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  op_list functions = {0}, fragments = {0};
  mpmd_functions(scratch, m, &functions);
  for (size_t i = 0; i < functions.len; i++)
    for (op *o = op_body(functions.data[i], 0)->first; o; o = o->next)
      if (mpmd_is_fragment(o)) VEC_PUSH(scratch, fragments, o);
  for (size_t i = 0; i < fragments.len; i++) merge_from(m, scratch, fragments.data[i]);
  return true;
}
