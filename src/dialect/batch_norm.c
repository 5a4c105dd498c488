/* Batch normalization by the formulas of spec.md: batch_norm_inference, _training, _grad.
 *
 * Elements of less than 32 bits are computed in f32: the number of elements a feature and sums over
 * them do not fit f16. */
#include "dialect/expand.h"

typedef struct norm {
  const type *elem;   /* of the operands */
  const type *type;   /* of the whole, in the element type that is computed in */
  i64 feature, *rest; /* dimensions: that of features, all others */
  size_t num_rest;
  value *epsilon, *count; /* in the shape of the whole; elements a feature */
} norm;

static value *as(expander *e, value *v, const type *elem) {
  if (type_element(v->type) == elem) return v;
  return expand_1(e, OP_convert, v, expand_with_elem(e->c, v->type, elem));
}

/* A value of a feature each, in the shape of the whole. */
static value *spread(expander *e, const norm *n, value *v) {
  value *b = expand_1(e, OP_broadcast_in_dim, v, n->type);
  op_set(b->def.op, broadcast_in_dim, broadcast_dimensions,
         attr_i64_array(e->c, (i64s){&n->feature, 1}));
  return b;
}

static value *sum(expander *e, const norm *n, value *v) {
  return expand_sum(e, v, n->rest, n->num_rest);
}

static value *mean_of(expander *e, const norm *n, value *v) {
  value *in[] = {sum(e, n, v)};
  i64 all = 1;
  for (size_t i = 0; i < n->num_rest; i++) all *= n->type->dims.data[n->rest[i]];
  value *count = expand_constant(e, in[0]->type, number_float((double)all));
  return expand_2(e, OP_divide, in[0], count, in[0]->type);
}

static bool begin(expander *e, op *o, norm *n) {
  const type *t = op_operand(o, 0)->type, *f32 = type_float(e->c, FLOAT_f32);
  const float_attr *epsilon = attr_as(float, op_attr(o, SLOT_NAME(epsilon)));
  if (!type_is_static(t) || t->elem->kind != TYPE_FLOAT || !epsilon ||
      !attr_get_i64(op_attr(o, SLOT_NAME(feature_index)), &n->feature) || n->feature < 0 ||
      n->feature >= (i64)t->dims.len)
    return false;
  n->elem = t->elem;
  n->type = expand_with_elem(e->c, t, t->elem->width < 32 ? f32 : t->elem);
  n->rest = ARENA_ARRAY(e->a, i64, t->dims.len);
  for (i64 d = 0; d < (i64)t->dims.len; d++)
    if (d != n->feature) n->rest[n->num_rest++] = d;
  float f;
  u32 bits = (u32)epsilon->bits;
  memcpy(&f, &bits, sizeof f);
  n->epsilon = expand_constant(e, n->type, number_float((double)f));
  i64 all = 1;
  for (size_t i = 0; i < n->num_rest; i++) all *= t->dims.data[n->rest[i]];
  n->count = expand_constant(e, n->type, number_float((double)all));
  return n->epsilon && n->count;
}

static value *normalize(expander *e, const norm *n, value *x, value *scale, value *offset,
                        value *mean, value *variance) {
  value *in[] = {x,
                 spread(e, n, scale),
                 spread(e, n, offset),
                 spread(e, n, mean),
                 spread(e, n, variance),
                 n->epsilon};
  return formula_expand(e, "add(mul(s, div(sub(x, m), sqrt(add(v, e)))), o)", "x s o m v e", in);
}

bool expand_batch_norm_inference(expander *e, op *o, value **out) {
  norm n = {0};
  value *in[5];
  if (!begin(e, o, &n)) return false;
  for (u32 i = 0; i < COUNT(in); i++) in[i] = as(e, op_operand(o, i), n.type->elem);
  value *y = normalize(e, &n, in[0], in[1], in[2], in[3], in[4]);
  out[0] = y ? as(e, y, n.elem) : NULL;
  return y != NULL;
}

bool expand_batch_norm_training(expander *e, op *o, value **out) {
  norm n = {0};
  value *in[3];
  if (!begin(e, o, &n)) return false;
  for (u32 i = 0; i < COUNT(in); i++) in[i] = as(e, op_operand(o, i), n.type->elem);
  value *mean = mean_of(e, &n, in[0]);
  value *off = expand_2(e, OP_subtract, in[0], spread(e, &n, mean), n.type);
  value *variance = mean_of(e, &n, expand_2(e, OP_multiply, off, off, n.type));
  value *all[] = {normalize(e, &n, in[0], in[1], in[2], mean, variance), mean, variance};
  for (u32 i = 0; i < COUNT(all); i++) out[i] = all[i] ? as(e, all[i], n.elem) : NULL;
  return out[0] != NULL;
}

bool expand_batch_norm_grad(expander *e, op *o, value **out) {
  enum { X, SCALE, MEAN, VARIANCE, GRAD, INPUTS };
  norm n = {0};
  value *in[INPUTS];
  if (!begin(e, o, &n)) return false;
  for (u32 i = 0; i < INPUTS; i++) in[i] = as(e, op_operand(o, i), n.type->elem);
  value *off = expand_2(e, OP_subtract, in[X], spread(e, &n, in[MEAN]), n.type);
  value *variance = expand_2(e, OP_add, spread(e, &n, in[VARIANCE]), n.epsilon, n.type);
  value *deviation = expand_1(e, OP_sqrt, variance, n.type);
  value *grad_sum = sum(e, &n, in[GRAD]);
  value *product = sum(e, &n, expand_2(e, OP_multiply, in[GRAD], off, n.type));
  value *args[] = {in[GRAD], n.count,   spread(e, &n, grad_sum), spread(e, &n, product), off,
                   variance, deviation, spread(e, &n, in[SCALE])};
  value *grad = formula_expand(e,
                               "mul(div(div(scale, dev), n), "
                               "sub(sub(mul(g, n), gs), div(mul(p, off), var)))",
                               "g n gs p off var dev scale", args);
  value *by = expand_2(e, OP_divide, off, deviation, n.type);
  value *grad_scale = sum(e, &n, expand_2(e, OP_multiply, in[GRAD], by, n.type));
  value *all[] = {grad, grad_scale, grad_sum};
  for (u32 i = 0; i < COUNT(all); i++) out[i] = all[i] ? as(e, all[i], n.elem) : NULL;
  return grad != NULL;
}
