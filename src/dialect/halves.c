/* Convolutions of f16 and bf16 whose windows are brought together from far: of copies in f32, whose
 * windows are read where they lie, they take less time. */
#include "dialect/expand.h"

static bool is_ones(i64s list) {
  for (u64 i = 0; i < list.len; i++)
    if (list.data[i] != 1) return false;
  return true;
}

/* Whether what is summed up lies side by side: one pixel's features, or of bf16, which processors
 * multiply in pairs, an even number of them, those of a pixel or of a row of a window. */
static bool is_together(const op *o, bool pairs) {
  enum { FEWEST = 8 };
  struct convolution_attrs a;
  view_convolution(o, &a);
  const conv_attr *d = a.dimension_numbers;
  i64s in = op_operand(o, 0)->type->dims, window = op_operand(o, 1)->type->dims;
  u64 spatial = d->kernel_spatial_dimensions.len, last = in.len - 1;
  i64 run = window.data[d->kernel_input_feature_dimension];
  if (d->input_feature_dimension != (i64)last) return false;
  bool one = true,
       dense = run == in.data[last] && is_ones(a.rhs_dilation) && is_ones(a.lhs_dilation);
  for (u64 s = 0; s < spatial; s++) one &= window.data[d->kernel_spatial_dimensions.data[s]] == 1;
  if (dense && spatial && d->input_spatial_dimensions.data[spatial - 1] == (i64)last - 1)
    run *= window.data[d->kernel_spatial_dimensions.data[spatial - 1]];
  return one || (pairs && run % 2 == 0 && run >= FEWEST);
}

static bool is_half(const type *t) {
  return t->kind == TYPE_FLOAT && (t->flt == FLOAT_f16 || t->flt == FLOAT_bf16);
}

bool expand_is_halves(const op *o) {
  const type *of[] = {op_operand(o, 0)->type, op_operand(o, 1)->type, o->results[0].type};
  for (u32 i = 0; i < COUNT(of); i++)
    if (!type_is_static(of[i])) return false;
  const type *t = of[0]->elem, *out = of[2]->elem;
  bool known = is_half(t) && of[1]->elem == t &&
               (out == t || (out->kind == TYPE_FLOAT && out->flt == FLOAT_f32));
  return known && !is_together(o, t->flt == FLOAT_bf16);
}

bool expand_halves(expander *e, op *o, value **out) {
  const type *f32 = type_float(e->c, FLOAT_f32), *t = o->results[0].type;
  const type *wide = expand_with_elem(e->c, t, f32);
  value *in[2];
  for (u32 i = 0; i < 2; i++) {
    value *v = op_operand(o, i);
    in[i] = expand_1(e, OP_convert, v, expand_with_elem(e->c, v->type, f32));
  }
  op *n = expand_op(e, OP_convolution, in, 2, &wide, 1);
  memcpy(n->slots, o->slots, o->info->num_slots * sizeof *o->slots);
  out[0] = op_result(n, 0);
  if (t != wide) out[0] = expand_1(e, OP_convert, out[0], t);
  return true;
}
