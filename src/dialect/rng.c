/* rng by rng_bit_generator with a state of its own, a constant: what it gives is the same in every
 * run of the program. */
#include "dialect/expand.h"

i64 rng_halved_dim(i64s dims) {
  i64 largest = 0;
  for (size_t d = 0; d < dims.len; d++) {
    if (dims.data[d] % 2 == 0) return (i64)d;
    if (dims.data[d] > dims.data[largest]) largest = (i64)d;
  }
  return largest;
}

/* Of the rng ops that are left, of which those that were expanded are none. */
static walk_result count_one(void *user, op *o) {
  if (op_is(o, rng)) ++*(i64 *)user;
  return WALK_ON;
}

static value *random_bits(expander *e, const type *shape, u32 width) {
  enum { THREE_FRY = 1 };
  i64 two = 2, seed[2] = {0x7e22a220, 0};
  op_walk(e->m->root, count_one, &seed[1]);
  const type *state = expand_tensor(e, &two, 1, type_int(e->c, 64, UNSIGNED));
  value *s = op_result(expand_op(e, OP_constant, NULL, 0, &state, 1), 0);
  op_set(s->def.op, constant, value,
         attr_dense(e->c, state, (str){(const char *)seed, sizeof seed}, false, false));
  const type *t[] = {state, expand_with_elem(e->c, shape, type_int(e->c, width, UNSIGNED))};
  op *g = expand_op(e, OP_rng_bit_generator, &s, 1, t, 2);
  op_set(g, rng_bit_generator, rng_algorithm, attr_enum(e->c, ATTR_rng_algorithm, THREE_FRY));
  return op_result(g, 1);
}

static value *convert(expander *e, value *v, const type *elem) {
  if (type_element(v->type) == elem) return v;
  return expand_1(e, OP_convert, v, expand_with_elem(e->c, v->type, elem));
}

/* From 0 on, below 1; every number of 23 bits, or 52. */
#define UNIT_32 "u = sub(unbits(or(shr(bits, 9), 1065353216), a), 1~a); "
#define UNIT_64 "u = sub(unbits(or(shr(bits, 12), 4607182418800017408), a), 1~a); "
/* Half a step to the right, so that neither end is infinitely far away. */
#define NORMAL "add(a, mul(b, mul(1.4142135623730951~a, erf_inv(add(u, "
static const char uniform_32[] = UNIT_32 "add(a, mul(u, sub(b, a)))";
static const char uniform_64[] = UNIT_64 "add(a, mul(u, sub(b, a)))";
static const char normal_32[] = UNIT_32 NORMAL "sub(u, 0.99999988079071044921875~a))))))";
static const char normal_64[] = UNIT_64 NORMAL "sub(u, 0.9999999999999997779554~a))))))";

/* a and b in the result's shape. Rounding may reach b. */
static value *of_floats(expander *e, value *a, value *b, bool normal) {
  const type *elem = type_element(a->type), *f32 = type_float(e->c, FLOAT_f32);
  bool is_double = elem->width > 32;
  const type *in = is_double ? elem : f32;
  value *args[] = {random_bits(e, a->type, is_double ? 64 : 32), convert(e, a, in),
                   convert(e, b, in)};
  const char *text =
      normal ? (is_double ? normal_64 : normal_32) : (is_double ? uniform_64 : uniform_32);
  value *v = formula_expand(e, text, "bits a b", args);
  if (!v) return NULL;
  v = convert(e, v, elem);
  return normal ? v : expand_select(e, expand_compare(e, COMPARE_LT, v, b), v, a);
}

static value *bits_as(expander *e, value *v, const type *elem) {
  if (type_element(v->type) == elem) return v;
  return expand_1(e, OP_bitcast_convert, v, expand_with_elem(e->c, v->type, elem));
}

/* a + 64 bits modulo b - a, in the unsigned integers. */
static value *of_integers(expander *e, value *a, value *b) {
  const type *elem = type_element(a->type), *u64t = type_int(e->c, 64, UNSIGNED);
  const type *u = elem->width == 1 ? elem : type_int(e->c, elem->width, UNSIGNED);
  value *bits = random_bits(e, a->type, 64);
  if (elem->width == 1) {
    value *one = expand_constant(e, bits->type, number_int(1));
    value *any = convert(e, expand_2(e, OP_and, bits, one, bits->type), elem);
    return expand_select(e, expand_compare(e, COMPARE_EQ, a, b), a, any);
  }
  value *x = bits_as(e, a, u), *y = bits_as(e, b, u);
  value *range = convert(e, expand_2(e, OP_subtract, y, x, x->type), u64t);
  value *far = convert(e, expand_2(e, OP_remainder, bits, range, bits->type), u);
  return bits_as(e, expand_2(e, OP_add, x, far, x->type), elem);
}

bool expand_rng(expander *e, op *o, value **out) {
  enum { NORMAL_DISTRIBUTION = 2 };
  struct rng_attrs v;
  const type *t = o->results[0].type;
  if (!view_rng(o, &v) || !type_is_static(t)) return false;
  bool normal = v.rng_distribution->value == NORMAL_DISTRIBUTION,
       floats = t->elem->kind == TYPE_FLOAT;
  if (!floats && (normal || t->elem->kind != TYPE_INT)) return false;
  value *ends[2];
  for (u32 i = 0; i < 2; i++) {
    if (type_element(op_operand(o, i)->type) != t->elem) return false;
    ends[i] = expand_broadcast(e, OP_broadcast_in_dim, op_operand(o, i), NULL, t, 0);
  }
  out[0] = floats ? of_floats(e, ends[0], ends[1], normal) : of_integers(e, ends[0], ends[1]);
  return out[0] != NULL;
}
