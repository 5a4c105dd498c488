/* Parts with zeros around them that are added up, as the gradients of a value's slices are: what
 * lies side by side is put together instead, and a sum along another dimension is one of each part.
 */
#include "compile/flatten.h"
#include "compile/lower.h"
#include "dialect/expand.h"
#include "pass/passes.h"

enum { MOST = 8 }; /* components; larger parts are read as boxes (pieces.c) */

/* Elements [begin, end) of `dim` are v's, and others 0. */
typedef struct part {
  value *v;
  i64 dim, begin, end;
} part;

/* 0, and not -0 */
static bool is_plain_zero(const ir_module *m, const value *v) {
  const attr *is = value_constant(v);
  return is && is == expand_splat(m->ctx, v->type, number_int(0));
}

static bool find_part(const ir_module *m, value *padded, part *out) {
  struct pad_attrs a;
  const op *o = value_op(padded);
  if (!o || !op_is(o, pad) || !view_pad(o, &a) || !value_has_one_use(padded) ||
      !type_is_static(padded->type) || !is_plain_zero(m, op_operand(o, 1)))
    return false;
  *out = (part){op_operand(o, 0), -1, 0, 0};
  i64s dims = out->v->type->dims;
  for (size_t d = 0; d < dims.len; d++) {
    i64 low = a.edge_padding_low.data[d], high = a.edge_padding_high.data[d];
    if (low < 0 || high < 0 || a.interior_padding.data[d] || !dims.data[d]) return false;
    if (!low && !high) continue;
    if (out->dim >= 0) return false;
    out->dim = (i64)d, out->begin = low, out->end = low + dims.data[d];
    if (padded->type->dims.data[d] > MOST) return false;
  }
  return out->dim >= 0;
}

static const type *with_size(expander *e, const type *t, i64 dim, i64 size) {
  i64 *dims = arena_copy(e->a, t->dims.data, t->dims.len * sizeof(i64));
  dims[dim] = size;
  return expand_tensor(e, dims, t->dims.len, type_element(t));
}

static value *join(expander *e, value *const *in, size_t n, const type *t, i64 dim) {
  op *o = expand_op(e, OP_concatenate, in, n, &t, 1);
  op_set(o, concatenate, dimension, attr_i64(e->c, dim));
  return op_result(o, 0);
}

/* Zeros where parts that were put together before had none. */
static value *pad_to(expander *e, value *v, const part *p, const type *t) {
  i64 size = t->dims.data[p->dim];
  if (p->begin == 0 && p->end == size) return v;
  i64 *low = arena_zalloc(e->a, t->dims.len * sizeof(i64));
  i64 *high = arena_zalloc(e->a, t->dims.len * sizeof(i64));
  i64 *none = arena_zalloc(e->a, t->dims.len * sizeof(i64));
  low[p->dim] = p->begin, high[p->dim] = size - p->end;
  value *zero = expand_constant(e, expand_tensor(e, NULL, 0, type_element(t)), number_int(0));
  v = expand_2(e, OP_pad, v, zero, t);
  op_set(v->def.op, pad, edge_padding_low, attr_i64_array(e->c, ((i64s){low, t->dims.len})));
  op_set(v->def.op, pad, edge_padding_high, attr_i64_array(e->c, ((i64s){high, t->dims.len})));
  op_set(v->def.op, pad, interior_padding, attr_i64_array(e->c, ((i64s){none, t->dims.len})));
  return v;
}

/* The parts of v, put together along *dim, to which 0 may have been added. */
static u32 find_parts(const ir_module *m, value *v, value **out, i64 *dim, u32 num, u32 depth) {
  struct concatenate_attrs c;
  const op *o = value_op(v);
  while (o && op_is(o, add) && value_has_one_use(v) && is_plain_zero(m, op_operand(o, 1)))
    o = value_op(v = op_operand(o, 0));
  if (!o || depth == MOST || !op_is(o, concatenate) || !value_has_one_use(v) ||
      !view_concatenate(o, &c) || (*dim >= 0 && *dim != c.dimension)) {
    if (num < MOST) out[num] = v;
    return num + 1;
  }
  *dim = c.dimension;
  for (u32 i = 0; i < o->num_operands && num <= MOST; i++)
    num = find_parts(m, op_operand(o, i), out, dim, num, depth + 1);
  return num;
}

bool flatten_padded(ir_module *m, arena *scratch, op *o) {
  part a, b;
  if (!find_part(m, op_operand(o, 0), &a) || !find_part(m, op_operand(o, 1), &b)) return false;
  if (a.dim != b.dim || (a.end != b.begin && b.end != a.begin)) return false;
  if (b.end == a.begin) {
    part first = b;
    b = a, a = first;
  }
  expander e = expander_before(m, scratch, o);
  const type *whole = op_result(o, 0)->type;
  const type *t = with_size(&e, whole, a.dim, b.end - a.begin);
  value *parts[MOST];
  u32 num = find_parts(m, a.v, parts, &a.dim, 0, 0);
  num = find_parts(m, b.v, parts, &a.dim, num, 0);
  if (num > MOST) parts[0] = a.v, parts[1] = b.v, num = 2; /* some without elements */
  value *both = join(&e, parts, num, t, a.dim);
  both = expand_2(&e, OP_add, both, expand_constant(&e, t, number_int(0)), t); /* -0 + 0 */
  a.end = b.end;
  value_replace(op_result(o, 0), pad_to(&e, both, &a, whole));
  return true;
}

bool flatten_parts(ir_module *m, arena *scratch, op *o) {
  struct reduce_attrs r;
  value *parts[MOST];
  const op *added = o->num_operands == 2 ? value_op(op_operand(o, 0)) : NULL;
  i64 dim = -1;
  if (!added || !op_is(added, add) || !view_reduce(o, &r) || !flatten_is_sum(o)) return false;
  u32 num = find_parts(m, op_operand(o, 0), parts, &dim, 0, 0);
  if (num < 2 || num > MOST) return false;
  i64 to = dim;
  for (size_t k = 0; k < r.dimensions.len; k++) {
    if (r.dimensions.data[k] == dim) return false;
    to -= r.dimensions.data[k] < dim;
  }
  expander e = expander_before(m, scratch, o);
  for (u32 i = 0; i < num; i++)
    parts[i] = expand_sum(&e, parts[i], r.dimensions.data, r.dimensions.len);
  value_replace(op_result(o, 0), join(&e, parts, num, op_result(o, 0)->type, to));
  return true;
}
