/* rng_bit_generator on shards: the bits are those of the whole.
 *
 * Both algorithms count: bits come in blocks, each made of the key and a counter, one after the
 * other as the shape is filled. Where a shard is a run of whole blocks, its device counts from
 * there; where it is not, the whole is made everywhere and each device takes its part. The next
 * state is that behind the whole. */
#include "dialect/expand.h"
#include "partition/local.h"

enum { THREE_FRY = 1, PHILOX = 2 };

/* What fills a shape. */
typedef struct generator {
  bool three_fry;
  u64 per; /* elements of a block */
} generator;

/* Blocks of a shape; 0: not known. */
static i64 blocks_of(const generator *g, const type *t) {
  i64 n;
  if (!type_num_elements(t, &n)) return 0;
  if (g->three_fry && g->per == 2) { /* pairs along one dimension, the odd one alone */
    i64 d = rng_halved_dim(t->dims), size = t->dims.len ? t->dims.data[d] : 1;
    return size > 0 ? n / size * (size / 2 + size % 2) : 0;
  }
  return n / (i64)g->per + (n % (i64)g->per != 0);
}

/* The dimension along which alone it is cut, where shards lie one behind the other; -1: no such. */
static i64 leading_cut(const local *l, const value *v) {
  i64s whole = l->from[v->num]->dims;
  i64 at = -1;
  for (u32 d = 0; d < whole.len; d++) {
    if (local_parts(l, v, d) == 1) continue;
    if (at >= 0) return -1;
    for (u32 k = 0; k < d; k++)
      if (whole.data[k] != 1) return -1;
    at = d;
  }
  return at;
}

/* Blocks of a shard; 0: it is no run of whole ones. */
static i64 shard_blocks(const local *l, const generator *g, const value *v, i64 d) {
  const type *whole = l->from[v->num], *to = l->to[v->num];
  i64 parts = local_parts(l, v, (u32)d), all = blocks_of(g, whole), n = blocks_of(g, to);
  if (whole->dims.data[d] != to->dims.data[d] * parts || all == 0 || n == 0 || n * parts != all)
    return 0;
  i64 elements = 0;
  if (!g->three_fry) return type_num_elements(to, &elements) && elements % (i64)g->per ? 0 : n;
  return g->per == 1 || rng_halved_dim(whole->dims) == rng_halved_dim(to->dims) ? n : 0;
}

static value *word(cursor *at, value *state, i64 i) {
  ir_ctx *c = at->env->c;
  i64 next = i + 1, one = 1;
  value *v = emit(at, OP_slice, &state, 1, type_with_dims(c, state->type, (i64s){&one, 1}));
  op_set(v->def.op, slice, start_indices, attr_i64_array(c, (i64s){&i, 1}));
  op_set(v->def.op, slice, limit_indices, attr_i64_array(c, (i64s){&next, 1}));
  op_set(v->def.op, slice, strides, attr_i64_array(c, (i64s){&one, 1}));
  return v;
}

/* The counter, of one or two words, further by n, a tensor<i64>. */
static void count_on(cursor *at, value **low, value **high, value *n) {
  ir_ctx *c = at->env->c;
  const type *t = (*low)->type;
  n = emit(at, OP_convert, &n, 1, type_tensor(c, (i64s){0}, t->elem, NULL));
  value *sum = emit_binary(at, OP_add, *low, emit_reshape(at, n, t->dims));
  if (high) {
    value *carry = emit_compare(at, sum, *low, 5 /* LT */);
    carry = emit(at, OP_convert, &carry, 1, t);
    *high = emit_binary(at, OP_add, *high, carry);
  }
  *low = sum;
}

static value *joined(cursor *at, value *const *words, i64 n) {
  ir_ctx *c = at->env->c;
  value *v =
      emit(at, OP_concatenate, words, (size_t)n, type_with_dims(c, words[0]->type, (i64s){&n, 1}));
  op_set(v->def.op, concatenate, dimension, attr_i64(c, 0));
  return v;
}

/* Philox's counter has two words; a state of two has its key as the second, which then is no part
 * of the next state. */
static void make_part(local *l, op *o, const generator *g, i64 d, i64 blocks) {
  cursor at = cursor_before(&l->e, o);
  ir_ctx *c = l->e.c;
  value *state = op_operand(o, 0), *bits = op_result(o, 1);
  const sharding *s = local_sharding(l, bits);
  i64 words = state->type->dims.data[0];
  value *key = word(&at, state, 0), *low = word(&at, state, 1);
  value *high = words == 3 ? word(&at, state, 2) : key;
  value *next[] = {key, low, high}, *here[] = {key, low, high};
  count_on(&at, &next[1], g->three_fry ? NULL : &next[2],
           emit_int(&at, blocks_of(g, l->from[bits->num])));
  value *begin = local_offset(l, &at, s->mesh, s->dims[d].axes, blocks);
  count_on(&at, &here[1], g->three_fry ? NULL : &here[2], begin);
  value *from = joined(&at, here, g->three_fry ? 2 : 3);
  const type *types[] = {from->type, l->to[bits->num]};
  op *part = emit_op(&at, OP_rng_bit_generator, &from, 1, types, 2, 0);
  op_set(part, rng_bit_generator, rng_algorithm,
         attr_enum(c, ATTR_rng_algorithm, g->three_fry ? THREE_FRY : PHILOX));
  part_replace(op_result(o, 0), joined(&at, next, words));
  part_replace(bits, op_result(part, 1));
  op_erase(o);
}

bool local_rng(local *l, op *o) {
  struct rng_bit_generator_attrs a;
  value *state = op_operand(o, 0), *bits = op_result(o, 1);
  if (!view_rng_bit_generator(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  if (!local_is_sharded(l, bits)) return true;
  generator g = {a.rng_algorithm->value == THREE_FRY, 4};
  const type *elem = type_element(bits->type);
  u64 width = type_storage(elem);
  if (g.three_fry)
    g.per = width > 4 ? 1 : 2;
  else if (width > 4)
    g.per = 2;
  i64 d = leading_cut(l, bits), blocks = d < 0 ? 0 : shard_blocks(l, &g, bits, d);
  bool known = type_rank(state->type) == 1 && state->type->elem->kind == TYPE_INT &&
               state->type->elem->width == 64 &&
               (state->type->dims.data[0] == 2 || (state->type->dims.data[0] == 3 && !g.three_fry));
  if (known && blocks > 0) {
    make_part(l, o, &g, d, blocks);
    return true;
  }
  local_use_shard(l, o, 1);
  return true;
}
