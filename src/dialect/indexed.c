/* Ops that take elements at places that are values, torch_index_select and real_dynamic_slice, as
 * gathers; and sizes of dimensions that are known, get_dimension_size and set_dimension_size. */
#include "dialect/expand.h"

/* x with the elements of `index` in the place of dimension d; the first `batches` dimensions of
 * both go together. Indices out of range are moved into it. */
static value *take(expander *e, value *x, value *index, i64 d, i64 batches, const type *t) {
  i64s in = x->type->dims, at = index->type->dims;
  i64 *sizes = ARENA_ARRAY(e->a, i64, in.len), *offsets = ARENA_ARRAY(e->a, i64, in.len);
  i64 *batch = ARENA_ARRAY(e->a, i64, in.len);
  size_t n = 0;
  for (i64 i = 0; i < (i64)in.len; i++) {
    bool whole = i >= batches && i != d;
    sizes[i] = whole ? in.data[i] : min_i64(in.data[i], 1);
    batch[i] = i;
    if (whole) offsets[n++] = i < d ? i : i + (i64)at.len - batches - 1;
  }
  value *v = expand_2(e, OP_gather, x, index, t);
  op_set(v->def.op, gather, slice_sizes, attr_i64_array(e->c, (i64s){sizes, in.len}));
  op_set(v->def.op, gather, dimension_numbers,
         attr_make(e->c, gather_dims, .offset_dims = {offsets, n}, .collapsed_slice_dims = {&d, 1},
                   .operand_batching_dims = {batch, (size_t)batches},
                   .start_indices_batching_dims = {batch, (size_t)batches},
                   .start_index_map = {&d, 1}, .index_vector_dim = (i64)at.len));
  return v;
}

/* What the result's shape must be, since nothing has checked it. */
static bool is_selected(i64s in, i64s index, i64s out, i64 d, i64 batches) {
  if (d < 0 || d >= (i64)in.len || batches < 0 || batches > d || batches > (i64)index.len ||
      out.len != in.len - 1 + index.len - (size_t)batches)
    return false;
  i64 k = 0;
  for (i64 i = 0; i < (i64)in.len; i++) {
    if (i < batches && in.data[i] != index.data[i]) return false;
    if (i != d && in.data[i] != out.data[k++]) return false;
    for (i64 j = batches; i == d && j < (i64)index.len; j++)
      if (index.data[j] != out.data[k++]) return false;
  }
  return in.data[d] > 0;
}

bool expand_torch_index_select(expander *e, op *o, value **out) {
  i64 d = 0, batches = 0;
  value *x = op_operand(o, 0), *index = op_operand(o, 1);
  const type *t = o->results[0].type;
  attr_get_i64(op_attr(o, SLOT_NAME(dim)), &d);
  attr_get_i64(op_attr(o, SLOT_NAME(batch_dims)), &batches);
  if (!type_is_static(x->type) || !type_is_static(index->type) || !type_is_static(t)) return false;
  d += d < 0 ? (i64)x->type->dims.len : 0;
  batches += batches < 0 ? (i64)index->type->dims.len : 0;
  if (!is_selected(x->type->dims, index->type->dims, t->dims, d, batches) ||
      type_element(index->type)->kind != TYPE_INT || type_element(x->type) != type_element(t))
    return op_error(e->c, o, "has a result that its operands do not make");
  out[0] = take(e, x, index, d, batches, t);
  return true;
}

/* ---- real_dynamic_slice ---- */

/* v[d] of a vector, as tensor<1>. */
static value *part_at(expander *e, value *v, i64 d) {
  i64 end = d + 1, one = 1;
  value *s = expand_1(e, OP_slice, v, expand_tensor(e, &one, 1, type_element(v->type)));
  op_set(s->def.op, slice, start_indices, attr_i64_array(e->c, (i64s){&d, 1}));
  op_set(s->def.op, slice, limit_indices, attr_i64_array(e->c, (i64s){&end, 1}));
  op_set(s->def.op, slice, strides, attr_i64_array(e->c, (i64s){&one, 1}));
  return s;
}

/* start + i * stride for each i of n. */
static value *places(expander *e, value *start, value *stride, i64 d, i64 n) {
  const type *t = expand_tensor(e, &n, 1, type_i64(e->c));
  value *at[] = {part_at(e, start, d), part_at(e, stride, d)};
  for (int i = 0; i < 2; i++) {
    at[i] = expand_1(e, OP_convert, at[i], expand_with_elem(e->c, at[i]->type, type_i64(e->c)));
    at[i] = expand_broadcast(e, OP_broadcast_in_dim, at[i], NULL, t, 0);
  }
  value *far = expand_2(e, OP_multiply, expand_iota(e, t, 0), at[1], t);
  return expand_2(e, OP_add, at[0], far, t);
}

static value *as_slice(expander *e, value *x, i64s start, i64s limit, i64s strides, const type *t) {
  value *s = expand_1(e, OP_slice, x, t);
  op_set(s->def.op, slice, start_indices, attr_i64_array(e->c, start));
  op_set(s->def.op, slice, limit_indices, attr_i64_array(e->c, limit));
  op_set(s->def.op, slice, strides, attr_i64_array(e->c, strides));
  return s;
}

/* Are these a slice of the operand with this result? */
static bool is_slice(i64s in, const i64s *bounds, i64s out) {
  i64s begin = bounds[0], end = bounds[1], step = bounds[2];
  for (size_t d = 0; d < in.len; d++) {
    if (begin.data[d] < 0 || end.data[d] < begin.data[d] || end.data[d] > in.data[d] ||
        step.data[d] < 1)
      return false;
    i64 n = end.data[d] - begin.data[d];
    if (n / step.data[d] + (n % step.data[d] != 0) != out.data[d]) return false;
  }
  return true;
}

/* One gather a dimension that is not taken whole, or a slice where all is known. The result's type
 * says how many elements there are. */
bool expand_real_dynamic_slice(expander *e, op *o, value **out) {
  value *x = op_operand(o, 0);
  const type *want = o->results[0].type;
  if (!type_is_static(x->type) || !type_is_static(want)) return false;
  size_t rank = want->dims.len;
  i64s bounds[3];
  bool known = rank == x->type->dims.len;
  for (u32 i = 0; i < 3 && known; i++)
    known = expand_get_ints(e, op_operand(o, i + 1), &bounds[i]) && bounds[i].len == rank;
  if (known && is_slice(x->type->dims, bounds, want->dims)) {
    out[0] = as_slice(e, x, bounds[0], bounds[1], bounds[2], want);
    return true;
  }
  if (rank != x->type->dims.len || type_element(x->type) != type_element(want)) return false;
  for (size_t d = 0; d < rank; d++) {
    i64 *dims = arena_copy(e->a, x->type->dims.data, rank * sizeof(i64));
    if (dims[d] == 0 && want->dims.data[d] != 0) return false;
    dims[d] = want->dims.data[d];
    value *index = places(e, op_operand(o, 1), op_operand(o, 3), (i64)d, dims[d]);
    x = take(e, x, index, (i64)d, 0, expand_tensor(e, dims, rank, type_element(want)));
  }
  out[0] = x;
  return true;
}

/* ---- sizes ---- */

bool expand_get_dimension_size(expander *e, op *o, value **out) {
  const type *t = op_operand(o, 0)->type;
  i64 d = -1;
  attr_get_i64(op_attr(o, SLOT_NAME(dimension)), &d);
  if (!type_is_ranked(t) || d < 0 || d >= (i64)t->dims.len || t->dims.data[d] == DYNAMIC)
    return false;
  out[0] = expand_constant(e, o->results[0].type, number_int(t->dims.data[d]));
  return true;
}

/* Of a size that is the dimension's already. */
bool expand_set_dimension_size(expander *e, op *o, value **out) {
  (void)e;
  const type *t = op_operand(o, 0)->type;
  i64 d = -1;
  i64s size;
  attr_get_i64(op_attr(o, SLOT_NAME(dimension)), &d);
  if (!type_is_static(t) || d < 0 || d >= (i64)t->dims.len) return false;
  bool same = o->results[0].type == t;
  if (!same && (!expand_get_ints(e, op_operand(o, 1), &size) || size.data[0] != t->dims.data[d] ||
                type_element(o->results[0].type) != type_element(t)))
    return false;
  out[0] = op_operand(o, 0);
  return true;
}
