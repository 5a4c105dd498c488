/* Quantized values as their storage: ops compute on what it stands for.
 *
 * quantize: x / scale + zero point, clamped to the range of the storage, rounded to nearest even.
 * dequantize: (storage - zero point) * scale. Both in the expressed type, as in openxla/stablehlo's
 * StablehloLegalizeQuantToMath.cpp; differences of storage as integers. An op on quantized values
 * is dequantize, the op, quantize (spec.md, dequantize_op_quantize), unless it only moves them.
 *
 * What is left after it are values of quantized types that are moved; quantized_storage says what
 * becomes of their types. */
#include "dialect/expand.h"

static const quant *quant_of(const type *t) { return type_is_ranked(t) ? t->elem->quant : NULL; }

static bool has_storage(const quant *q) {
  return q->form == QUANT_UNIFORM || q->form == QUANT_PER_AXIS;
}

const type *quantized_storage(ir_ctx *c, const type *t) {
  const quant *q = quant_of(t);
  if (!q || !has_storage(q)) return t;
  const type *elem = q->storage;
  if (elem->kind == TYPE_INT) elem = type_int(c, elem->width, q->is_signed ? SIGNLESS : UNSIGNED);
  return expand_with_elem(c, t, elem);
}

/* ---- scales and zero points ---- */

static const type *expressed(expander *e, const type *t) {
  return expand_with_elem(e->c, t, t->elem->quant->expressed);
}

/* One number for each scale. */
static value *numbers(expander *e, const quant *q, const type *elem, bool scales) {
  const type *one = expand_tensor(e, NULL, 0, elem);
  size_t n = q->scales.len, size = type_storage(elem);
  char *bytes = arena_zalloc(e->a, n * size + 1);
  for (size_t i = 0; i < n; i++) {
    number v =
        scales ? number_float(quant_double(q->scales.data[i])) : number_int(q->zero_points.data[i]);
    const dense_attr *d = attr_as(dense, expand_splat(e->c, one, v));
    if (!d || d->data.len != size) return NULL;
    memcpy(bytes + i * size, d->data.data, size);
  }
  i64 count = (i64)n;
  const type *t = expand_tensor(e, &count, 1, elem);
  value *v = op_result(expand_op(e, OP_constant, NULL, 0, &t, 1), 0);
  op_set(v->def.op, constant, value, attr_dense(e->c, t, (str){bytes, n * size}, false, false));
  return v;
}

/* The scales, or the zero points, of each element of a value of type t. NULL: they do not fit it.
 */
static value *of_each(expander *e, const type *t, const type *elem, bool scales) {
  const quant *q = t->elem->quant;
  const type *to = expand_with_elem(e->c, t, elem);
  i64 n = (i64)q->scales.len, d = q->dims.len ? q->dims.data[0] : 0;
  if (q->form == QUANT_UNIFORM)
    return expand_constant(e, to,
                           scales ? number_float(quant_double(q->scales.data[0]))
                                  : number_int(q->zero_points.data[0]));
  if (d < 0 || d >= (i64)t->dims.len || n != t->dims.data[d]) return NULL;
  value *v = numbers(e, q, elem, scales);
  return v ? expand_broadcast(e, OP_broadcast_in_dim, v, NULL, to, d) : NULL;
}

/* ---- the two conversions ---- */

static value *convert(expander *e, value *v, const type *elem) {
  return expand_1(e, OP_convert, v, expand_with_elem(e->c, v->type, elem));
}

/* The value as numbers of the expressed type. NULL: its type cannot be. */
static value *dequantize(expander *e, value *v) {
  const type *t = v->type;
  const quant *q = t->elem->quant;
  if (!has_storage(q) || !type_is_static(t)) return NULL;
  bool is_int = q->storage->kind == TYPE_INT;
  const type *wide =
      is_int ? type_int(e->c, q->storage->width > 16 ? 64 : 32, SIGNLESS) : q->expressed;
  value *zero = of_each(e, t, wide, false), *scale = of_each(e, t, q->expressed, true);
  if (!zero || !scale) return NULL;
  v = expand_1(e, OP_bitcast_convert, v, quantized_storage(e->c, t));
  v = convert(e, v, wide);
  v = expand_2(e, OP_subtract, v, zero, v->type);
  if (is_int) v = convert(e, v, q->expressed);
  return expand_2(e, OP_multiply, v, scale, v->type);
}

/* Back, as a value of quantized type t. NULL: likewise. *first: the op that takes v. */
static value *quantize(expander *e, value *v, const type *t, op **first) {
  const quant *q = t->elem->quant;
  if (!has_storage(q) || !type_is_static(t)) return NULL;
  const type *scalar = expand_tensor(e, NULL, 0, q->expressed);
  value *zero = of_each(e, t, q->expressed, false), *scale = of_each(e, t, q->expressed, true);
  value *low = expand_constant(e, scalar, number_int(q->min));
  value *high = expand_constant(e, scalar, number_int(q->max));
  if (!zero || !scale || !low || !high) return NULL;
  v = expand_2(e, OP_divide, v, scale, v->type);
  *first = v->def.op;
  v = expand_2(e, OP_add, v, zero, v->type);
  v = op_result(expand_op(e, OP_clamp, (value *[]){low, v, high}, 3, &v->type, 1), 0);
  if (q->storage->kind == TYPE_INT) v = expand_1(e, OP_round_nearest_even, v, v->type);
  v = convert(e, v, type_element(quantized_storage(e->c, t)));
  return expand_1(e, OP_bitcast_convert, v, t);
}

/* ---- ops ---- */

/* Ops that put values elsewhere, or hand them to a region, and need not know what they stand for.
 */
static bool only_moves(const op *o) {
  static const bool moves[OP_COUNT] = {
      [OP_all_gather] = true,
      [OP_all_reduce] = true,
      [OP_all_to_all] = true,
      [OP_bitcast_convert] = true,
      [OP_broadcast] = true,
      [OP_broadcast_in_dim] = true,
      [OP_call] = true,
      [OP_case] = true,
      [OP_collective_broadcast] = true,
      [OP_collective_permute] = true,
      [OP_collective_reduce] = true,
      [OP_composite] = true,
      [OP_concatenate] = true,
      [OP_constant] = true,
      [OP_custom_call] = true,
      [OP_dynamic_broadcast_in_dim] = true,
      [OP_dynamic_gather] = true,
      [OP_dynamic_pad] = true,
      [OP_dynamic_reshape] = true,
      [OP_dynamic_slice] = true,
      [OP_dynamic_update_slice] = true,
      [OP_func_return] = true,
      [OP_gather] = true,
      [OP_get_dimension_size] = true,
      [OP_get_tuple_element] = true,
      [OP_if] = true,
      [OP_infeed] = true,
      [OP_map] = true,
      [OP_optimization_barrier] = true,
      [OP_outfeed] = true,
      [OP_pad] = true,
      [OP_real_dynamic_slice] = true,
      [OP_recv] = true,
      [OP_reduce] = true,
      [OP_reduce_scatter] = true,
      [OP_reduce_window] = true,
      [OP_reshape] = true,
      [OP_return] = true,
      [OP_reverse] = true,
      [OP_scatter] = true,
      [OP_select] = true,
      [OP_select_and_scatter] = true,
      [OP_send] = true,
      [OP_set_dimension_size] = true,
      [OP_slice] = true,
      [OP_sort] = true,
      [OP_torch_index_select] = true,
      [OP_transpose] = true,
      [OP_tuple] = true,
      [OP_while] = true,
  };
  return op_kind(o) >= OP_COUNT || moves[op_kind(o)] || str_starts(o->info->name, STR("sdy.")) ||
         o->num_regions;
}

/* Of one scale each, they are all of one type: nothing is to be converted. Of several, the verifier
 * has asked that they go along. A reduction may have values of one scale and a region of others. */
static bool is_alike(const op *o) {
  const type *seen = NULL;
  if (o->num_regions || op_is(o, bitcast_convert) || op_is(o, constant)) return true;
  for (u32 i = 0; i < o->num_operands + o->num_results; i++) {
    const type *t =
        i < o->num_operands ? op_operand(o, i)->type : op_result(o, i - o->num_operands)->type;
    const quant *q = quant_of(t);
    if (!q || q->form != QUANT_UNIFORM) continue;
    if (seen && seen != t->elem && !op_has(o, TERMINATOR) && !op_is(o, call) && !op_is(o, tuple))
      return false;
    seen = t->elem;
  }
  return true;
}

static bool refuse(expander *e, const op *o) {
  return op_unimplemented(e->c, o, "of this quantized type");
}

/* Operands become numbers before the op, results quantized again behind it. */
static bool compute(ir_module *m, arena *a, op *o) {
  expander e = expander_before(m, a, o);
  for (u32 i = 0; i < o->num_operands; i++) {
    value *x = op_operand(o, i);
    if (!quant_of(x->type)) continue;
    value *v = dequantize(&e, x);
    if (!v) return refuse(&e, o);
    op_set_operand(o, i, v);
  }
  e.at = o->next;
  for (u32 i = 0; i < o->num_results; i++) {
    value *r = op_result(o, i);
    const type *t = r->type;
    if (!quant_of(t)) continue;
    if (!has_storage(t->elem->quant)) return refuse(&e, o);
    r->type = expressed(&e, t);
    op *first;
    value *to = quantize(&e, r, t, &first);
    if (!to) return refuse(&e, o);
    value_replace_except(r, to, first);
  }
  return true;
}

/* uniform_quantize and uniform_dequantize are what compute makes of no op at all. */
static bool pass_through(ir_module *m, arena *a, op *o) {
  expander e = expander_before(m, a, o);
  value *v = op_operand(o, 0);
  const type *to = op_result(o, 0)->type;
  op *first;
  if (quant_of(v->type)) v = dequantize(&e, v);
  if (v && quant_of(to)) v = quantize(&e, v, to, &first);
  if (!v) return refuse(&e, o);
  value_replace(op_result(o, 0), v);
  op_erase(o);
  return true;
}

static bool is_quantized(const op *o) {
  for (u32 i = 0; i < o->num_operands; i++)
    if (quant_of(op_operand(o, i)->type)) return true;
  for (u32 i = 0; i < o->num_results; i++)
    if (quant_of(op_result(o, i)->type)) return true;
  return false;
}

static bool expand_block(ir_module *m, arena *a, block *b) {
  FOR_OPS(o, b) {
    for (u32 r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next)
        if (!expand_block(m, a, in)) return false;
    if (op_is(o, uniform_quantize) || op_is(o, uniform_dequantize)) {
      if (!pass_through(m, a, o)) return false;
    } else if (is_quantized(o) && !(only_moves(o) && is_alike(o)) && !compute(m, a, o)) {
      return false;
    }
  }
  return true;
}

bool expand_quantized(ir_module *m, arena *a) {
  for (op *o = op_body(m->root, 0)->first; o; o = o->next)
    if (op_is(o, func) && op_body(o, 0) && !expand_block(m, a, op_body(o, 0))) return false;
  return true;
}
