/* terrazzo-batch-products: products that a loop makes of one row after the other, all at once.
 *
 * A loop that counts, as JAX's scan is, and takes a row of x each time, x[i], gives two kinds of
 * products work that is better done outside: a product of rows with what stays the same,
 *   p_i = x[i] w                      becomes  p = x w in front of it, and p[i] in it;
 * and a sum of products with rows,
 *   s = s + y_i x[i]                  becomes  y[i] = y_i, and s + y x behind it,
 * contracting over i too. A recurrent layer then multiplies in its loop only what depends on the
 * step before. Matrices are read once instead of once a trip, and where they are sharded what is
 * sent is sent once. Not where the rows to be kept are more than what is multiplied with them or
 * summed up, or more than memory has room for; nor sums in narrow types, which round each time.
 *
 * Runs in front of reshards, on whole shapes. */
#include "dialect/effects.h"
#include "partition/loop.h"
#include "partition/passes.h"

enum { MAX_CHAIN = 8, MAX_STACKS = 16 };

/* What the loop keeps of one value, a row a trip. */
typedef struct stack {
  const value *row, *at;
  value *all;
} stack;

typedef struct batch {
  part_env e;
  op *loop;
  block *body;
  loop_count count;
  i64 room;
  stack stacks[MAX_STACKS];
  u32 num_stacks;
  bool any; /* something changed, somewhere in the module */
} batch;

/* ---- shapes and shardings with one dimension more ---- */

static i64s with_entry(arena *a, i64s list, size_t at, i64 entry) {
  i64 *out = ARENA_ARRAY(a, i64, list.len + 1);
  memcpy(out, list.data, at * sizeof *out);
  out[at] = entry;
  memcpy(out + at + 1, list.data + at, (list.len - at) * sizeof *out);
  return (i64s){out, list.len + 1};
}

static const type *with_dim(const batch *b, const type *t, size_t at, i64 size) {
  return type_with_dims(b->e.c, t, with_entry(b->e.a, t->dims, at, size));
}

/* The new one is not sharded. */
static const sharding *with_whole_dim(const batch *b, const sharding *s, u32 at) {
  if (!s) return NULL;
  sharding out = *s;
  dim_sharding *dims = ARENA_ARRAY(b->e.a, dim_sharding, s->rank + 1);
  for (u32 d = 0; d < s->rank; d++) dims[d + (d >= at)] = s->dims[d];
  dims[at] = (dim_sharding){.closed = true, .priority = PRIORITY_NONE};
  out.dims = dims;
  out.rank++;
  return shard_intern(b->e.space, &out);
}

static bool is_whole_sum(const batch *b, const value *v) {
  const sharding *s = part_sharding(&b->e, v);
  return !s || !s->unreduced.len;
}

static i64 bytes_here(const batch *b, const value *v) {
  return shard_bytes(v->type, part_sharding(&b->e, v));
}

static bool is_each_once(const batch *b, const loop_row *r) {
  return loop_comes_once(b->loop, &b->count, r->at, r->all->type->dims.data[0]);
}

/* The sides' first dimensions are new; or, with `contract`, summed up over. turned: of the sides
 * the other way round. */
static const attr *numbers_with(const batch *b, const dot_attr *d, const bool *grown, bool contract,
                                bool turned) {
  i64s lists[] = {d->lhs_batching_dimensions, d->rhs_batching_dimensions,
                  d->lhs_contracting_dimensions, d->rhs_contracting_dimensions};
  for (int k = 0; k < 4; k++) {
    if (!grown[k % 2]) continue;
    i64 *list = arena_copy(b->e.a, lists[k].data, lists[k].len * sizeof *list);
    for (size_t i = 0; i < lists[k].len; i++) list[i]++;
    lists[k].data = list;
    if (contract && k >= 2) lists[k] = with_entry(b->e.a, lists[k], 0, 0);
  }
  return attr_make(b->e.c, dot, .lhs_batching_dimensions = lists[turned],
                   .rhs_batching_dimensions = lists[!turned],
                   .lhs_contracting_dimensions = lists[2 + turned],
                   .rhs_contracting_dimensions = lists[2 + !turned]);
}

static const dot_attr *numbers_of(const op *dot) {
  return attr_as(dot, op_attr(dot, SLOT_NAME(dot_dimension_numbers)));
}

/* Another product in its manner. */
static value *product_like(cursor *at, const op *dot, value *const *in, const attr *numbers) {
  op *o = op_clone(at->env->m, dot, NULL);
  op_insert(o, at->b, at->before);
  for (u32 i = 0; i < 2; i++) op_set_operand(o, i, in[i]);
  op_set(o, dot_general, dot_dimension_numbers, numbers);
  return op_result(o, 0);
}

/* ---- in front ---- */

static value *slice_row(const batch *b, op *before, value *all, u32 dim, value *at, value *like) {
  const part_env *e = &b->e;
  cursor c = cursor_before(e, before);
  const sharding *s = part_sharding(e, like);
  u32 rank = (u32)all->type->dims.len;
  value **starts = ARENA_ARRAY(e->a, value *, rank), *zero = emit_zeros(&c, at->type);
  for (u32 d = 0; d < rank; d++) starts[d] = d == dim ? at : zero;
  value *v = emit_dynamic_slice(&c, all, starts, with_entry(e->a, like->type->dims, dim, 1));
  emit_sharded(e, v, with_whole_dim(b, s, dim));
  return emit_sharded(e, emit_reshape(&c, v, like->type->dims), s);
}

/* Rows that are whole on the right had better be on the left, or those of the result would not lie
 * together. */
static bool is_turned(const op *dot, const dot_attr *d, u32 side) {
  const type *left = op_operand(dot, 0)->type, *right = op_operand(dot, 1)->type;
  u64 rank = d->rhs_batching_dimensions.len + d->rhs_contracting_dimensions.len;
  return side == 1 && right->dims.len == rank && type_element(left) == type_element(right);
}

static void multiply_in_front(batch *b, op *dot) {
  const dot_attr *d = numbers_of(dot);
  value *r = op_result(dot, 0), *in[2];
  loop_row of;
  u32 side = 0;
  for (; side < 2; side++) {
    in[1 - side] = loop_from_outside(b->loop, op_operand(dot, 1 - side));
    if (in[1 - side] && loop_reads_row(b->loop, op_operand(dot, side), &of)) break;
  }
  if (side == 2 || (u64)of.all->type->dims.data[0] > b->count.trips || !is_whole_sum(b, r)) return;
  bool turned = is_turned(dot, d, side), grown[] = {side == 0, side == 1};
  value *sides[] = {side == 0 ? of.all : in[0], side == 1 ? of.all : in[1]};
  u32 dim = (u32)d->lhs_batching_dimensions.len;
  if (side == 1 && !turned)
    dim = (u32)(op_operand(dot, 0)->type->dims.len - d->lhs_contracting_dimensions.len);
  const type *t = with_dim(b, r->type, dim, of.all->type->dims.data[0]);
  const sharding *s = with_whole_dim(b, part_sharding(&b->e, r), dim);
  i64 bytes = shard_bytes(t, s);
  if (!bytes || bytes > b->room || bytes_here(b, r) > bytes_here(b, in[1 - side])) return;
  b->room -= bytes;
  cursor c = cursor_before(&b->e, b->loop);
  in[turned] = sides[0], in[!turned] = sides[1];
  value *p = product_like(&c, dot, in, numbers_with(b, d, grown, false, turned));
  p->type = t;
  emit_sharded(&b->e, p, s);
  value_replace(r, slice_row(b, dot, p, dim, of.at, r));
  op_erase(dot);
  b->any = true;
}

/* ---- behind ---- */

/* carried = carried + chain(product) */
typedef struct sum {
  op *add, *dot;
  u32 added;                  /* the operand that is not what is carried */
  const op *chain[MAX_CHAIN]; /* from the back to the front */
  u32 len;
  u32 side; /* of the rows, in the product */
  loop_row of;
} sum;

static bool is_wide(const type *t) {
  const type *e = type_element(t);
  if (e->kind == TYPE_COMPLEX) e = e->elem;
  return e->kind == TYPE_INT || (e->kind == TYPE_FLOAT && e->width >= 32);
}

static bool is_sum(const batch *b, u32 k, sum *out) {
  const value *arg = b->body->args[k];
  *out = (sum){0};
  out->add = loop_addition(b->loop, k, &out->added);
  if (!out->add || !is_wide(arg->type)) return false;
  op *o = part_private_op(op_operand(out->add, out->added), b->body);
  for (; o && (op_is(o, transpose) || op_is(o, reshape)) && out->len < MAX_CHAIN;
       o = part_private_op(op_operand(o, 0), b->body))
    out->chain[out->len++] = o;
  out->dot = o;
  if (!o || !op_is(o, dot_general) || !is_whole_sum(b, op_result(o, 0)) || !is_whole_sum(b, arg))
    return false;
  for (out->side = 0; out->side < 2; out->side++)
    if (loop_reads_row(b->loop, op_operand(o, out->side), &out->of) && is_each_once(b, &out->of))
      return true;
  return false;
}

static value *find_stack(const batch *b, const value *row, const value *at) {
  for (u32 i = 0; i < b->num_stacks; i++)
    if (b->stacks[i].row == row && b->stacks[i].at == at) return b->stacks[i].all;
  return NULL;
}

/* The other side's rows, where they are kept already. */
static value *rows_kept(const batch *b, const value *row, const value *at) {
  loop_row of;
  bool is = loop_reads_row(b->loop, row, &of) && of.at == at && is_each_once(b, &of);
  return is ? of.all : find_stack(b, row, at);
}

/* Whether it pays to keep them. */
static bool has_room(batch *b, const value *row, const value *instead) {
  i64 one = bytes_here(b, row), bytes;
  if (!one || one > bytes_here(b, instead) || b->num_stacks == MAX_STACKS ||
      !checked_mul(one, (i64)b->count.trips, &bytes) || bytes > b->room)
    return false;
  b->room -= bytes;
  return true;
}

/* What the loop carried under this number becomes the row of each trip. */
static void stack_up(batch *b, u32 k, value *row, value *at) {
  const part_env *e = &b->e;
  value *all = b->body->args[k], *result = op_result(b->loop, k);
  const type *t = with_dim(b, row->type, 0, (i64)b->count.trips);
  const sharding *s = with_whole_dim(b, part_sharding(e, row), 0), *was = part_sharding(e, result);
  u32 rank = (u32)t->dims.len;
  cursor front = cursor_before(e, b->loop), c = cursor_before(e, b->body->last);
  op_set_operand(b->loop, k, emit_sharded(e, emit_zeros(&front, t), s));
  result->type = all->type = op_body(b->loop, 0)->args[k]->type = t;
  if (!s && was) s = sharding_make_replicated(e->a, was->mesh, rank, true);
  if (s) part_set_sharding(e, b->loop, k, s);
  value **in = ARENA_ARRAY(e->a, value *, rank + 2), *zero = emit_zeros(&c, at->type);
  in[0] = all;
  in[1] = emit_sharded(e, emit_reshape(&c, row, with_entry(e->a, row->type->dims, 0, 1)), s);
  in[2] = at;
  for (u32 d = 1; d < rank; d++) in[2 + d] = zero;
  value *next = emit_sharded(e, emit(&c, OP_dynamic_update_slice, in, rank + 2, t), s);
  op_set_operand(b->body->last, k, next);
  b->stacks[b->num_stacks++] = (stack){row, at, result};
}

static value *clone_with(cursor *at, const op *like, u32 k, value *v) {
  op *o = op_clone(at->env->m, like, NULL);
  op_insert(o, at->b, at->before);
  op_set_operand(o, k, v);
  return op_result(o, 0);
}

static void multiply_behind(batch *b, u32 k) {
  sum s;
  if (!is_sum(b, k, &s)) return;
  value *carried = b->body->args[k], *result = op_result(b->loop, k);
  value *row = op_operand(s.dot, 1 - s.side), *all = rows_kept(b, row, s.of.at), *in[2];
  if (loop_from_outside(b->loop, row) || !is_whole_sum(b, row) ||
      (!all && !has_room(b, row, carried)))
    return;
  in[s.side] = s.of.all;
  in[1 - s.side] = all ? all : result;
  cursor c = cursor_after(&b->e, b->loop);
  const attr *numbers = numbers_with(b, numbers_of(s.dot), (bool[]){true, true}, true, false);
  value *p = product_like(&c, s.dot, in, numbers), *v = p;
  while (s.len) v = clone_with(&c, s.chain[--s.len], 0, v);
  v = clone_with(&c, s.add, s.added, v);
  op_set_operand(value_op(v), !s.added, op_operand(b->loop, k));
  value_replace_except(result, v, value_op(p));
  if (all)
    op_set_operand(b->body->last, k, carried);
  else
    stack_up(b, k, row, s.of.at);
  b->any = true;
}

/* ---- all loops ---- */

static walk_result visit(void *user, op *loop) {
  batch *b = user;
  if (!loop_counts(loop, &b->count)) return WALK_ON;
  b->loop = loop;
  b->body = op_body(loop, 1);
  b->num_stacks = 0;
  b->room = loop_room(&b->e, loop);
  for (u32 k = 0; k < loop->num_results; k++) multiply_behind(b, k);
  FOR_OPS(o, b->body) {
    if (op_is(o, dot_general)) multiply_in_front(b, o);
  }
  return WALK_ON;
}

bool part_batch_products(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  batch b = {.e = part_env_make(m, scratch)};
  if (!module_may_have(m, while) || !module_may_have(m, dot_general)) return true;
  op_walk_post(m->root, visit, &b);
  if (b.any) ops_erase_dead(m->root, DEAD_WITHOUT_EFFECTS);
  return shard_space_check(b.e.space);
}
