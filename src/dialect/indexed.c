/* Ops that take elements at places that are values, torch_index_select and real_dynamic_slice, as
 * gathers; updates at such places that a condition keeps; and sizes of dimensions that are known,
 * get_dimension_size and set_dimension_size. */
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

/* ---- several indices as one ---- */

/* What index vectors of a gather or a scatter name, and what of it matters: a dimension that is
 * gathered whole is taken from its beginning, wherever an index moves. */
typedef struct indexed {
  bool scatter;
  i64s dims, sizes, map, hidden; /* of the operand */
  i64 vector;                    /* dimension of the index vectors */
  i64 lo, hi, count;             /* the dims named that matter */
  i64 product;
} indexed;

static bool matters(const indexed *x, i64 d) {
  return x->scatter || x->sizes.data[d] != x->dims.data[d];
}

/* Whether one index into neighbouring dimensions that are taken as one says as much. */
static bool find_indexed(const op *o, indexed *x) {
  const type *t = op_operand(o, 0)->type,
             *index = op_operand(o, op_is(o, scatter) ? o->num_results : 1)->type;
  const op *made = value_op(op_operand(o, 0));
  *x = (indexed){
      .scatter = op_is(o, scatter), .dims = t->dims, .lo = INT64_MAX, .hi = -1, .product = 1};
  if (x->scatter) {
    struct scatter_attrs a;
    view_scatter(o, &a);
    x->map = a.scatter_dimension_numbers->scatter_dims_to_operand_dims;
    x->hidden = a.scatter_dimension_numbers->inserted_window_dims;
    x->vector = a.scatter_dimension_numbers->index_vector_dim;
  } else {
    struct gather_attrs a;
    view_gather(o, &a);
    x->map = a.dimension_numbers->start_index_map;
    x->hidden = a.dimension_numbers->collapsed_slice_dims;
    x->vector = a.dimension_numbers->index_vector_dim;
    x->sizes = a.slice_sizes;
  }
  if (x->map.len < 2 || !type_is_static(t) || !type_is_static(index) ||
      type_element(index)->kind != TYPE_INT || type_element(index)->width < 32 ||
      (made && op_is(made, transpose)))
    return false;
  bool apart = false; /* a dim that more than one element of is taken */
  for (size_t k = 0; k < x->map.len; k++) {
    i64 d = x->map.data[k];
    if (!matters(x, d)) continue;
    x->lo = min_i64(x->lo, d), x->hi = max_i64(x->hi, d);
    x->count++;
    apart |= !i64s_contain(x->hidden, d) || (!x->scatter && x->sizes.data[d] != 1);
    if (!checked_mul(x->product, t->dims.data[d], &x->product)) return false;
  }
  return x->count && x->count == x->hi - x->lo + 1 && x->product > 0 && x->product <= INT32_MAX &&
         (x->count == 1 || !apart);
}
bool expand_is_indexed(const op *o) {
  indexed x;
  return find_indexed(o, &x);
}

/* Component k of the index vectors. */
static value *component(expander *e, const indexed *x, value *indices, i64 k) {
  i64s in = indices->type->dims;
  const op *made = value_op(indices);
  struct concatenate_attrs a;
  if (made && op_is(made, concatenate)) {
    view_concatenate(made, &a);
    if (a.dimension == x->vector && made->num_operands == x->map.len)
      return op_operand(made, (u32)k); /* which JAX puts together */
  }
  i64 *start = arena_zalloc(e->a, in.len * sizeof(i64)), *step = ARENA_ARRAY(e->a, i64, in.len);
  i64 *limit = arena_copy(e->a, in.data, in.len * sizeof(i64));
  i64 *dims = arena_copy(e->a, in.data, in.len * sizeof(i64));
  for (size_t d = 0; d < in.len; d++) step[d] = 1;
  start[x->vector] = k, limit[x->vector] = k + 1, dims[x->vector] = 1;
  return as_slice(e, indices, (i64s){start, in.len}, (i64s){limit, in.len}, (i64s){step, in.len},
                  expand_tensor(e, dims, in.len, type_element(indices->type)));
}

/* Clamped, as gathers are; what a scatter leaves out is outside. */
static value *one_index(expander *e, const indexed *x, value *indices) {
  value *sum = NULL, *inside = NULL;
  for (size_t k = 0; k < x->map.len; k++) {
    i64 d = x->map.data[k], stride = 1;
    if (!matters(x, d)) continue;
    value *at = component(e, x, indices, (i64)k);
    if (x->count == 1) return at;
    const type *t = at->type;
    value *bounds[] = {expand_constant(e, t, number_int(0)), at,
                       expand_constant(e, t, number_int(x->dims.data[d] - 1))};
    value *near = op_result(expand_op(e, OP_clamp, bounds, 3, &t, 1), 0);
    value *same = x->scatter ? expand_compare(e, COMPARE_EQ, at, near) : NULL;
    inside = inside ? expand_2(e, OP_and, inside, same, same->type) : same;
    for (i64 i = d + 1; i <= x->hi; i++) stride *= x->dims.data[i];
    if (stride > 1)
      near = expand_2(e, OP_multiply, near, expand_constant(e, t, number_int(stride)), t);
    sum = sum ? expand_2(e, OP_add, sum, near, t) : near;
  }
  if (!inside) return sum;
  return expand_select(e, inside, sum, expand_constant(e, sum->type, number_int(x->product)));
}

/* Dims lo to hi as one, in a list of dims, or (`sizes`) of something for each. */
static i64s joined(expander *e, const indexed *x, i64s list, const i64 *size) {
  i64 *to = ARENA_ARRAY(e->a, i64, list.len), gone = x->hi - x->lo;
  size_t n = 0;
  for (size_t i = 0; i < list.len; i++) {
    i64 d = size ? (i64)i : list.data[i];
    if (d > x->lo && d <= x->hi) continue;
    to[n++] = size ? d == x->lo ? *size : list.data[i] : d > x->hi ? d - gone : d;
  }
  return (i64s){to, n};
}

bool expand_indexed(expander *e, op *o, value **out) {
  indexed x;
  if (!find_indexed(o, &x)) return false;
  u32 n = x.scatter ? o->num_results : 1;
  value *index = one_index(e, &x, op_operand(o, n));
  op *copy = op_clone(e->m, o, NULL);
  op_insert(copy, e->block, e->at);
  expander before = expander_before(e->m, e->a, copy);
  op_set_operand(copy, n, index);
  for (u32 i = 0; i < n && x.count > 1; i++) {
    value *v = op_operand(o, i);
    const type *t = type_with_dims(e->c, v->type, joined(e, &x, v->type->dims, &x.product));
    op_set_operand(copy, i, expand_1(&before, OP_reshape, v, t));
    if (x.scatter) copy->results[i].type = t;
  }
  if (x.scatter) {
    struct scatter_attrs a;
    view_scatter(o, &a);
    scatter_dims_attr now = *a.scatter_dimension_numbers;
    now.inserted_window_dims = joined(e, &x, now.inserted_window_dims, NULL);
    now.input_batching_dims = joined(e, &x, now.input_batching_dims, NULL);
    now.scatter_dims_to_operand_dims = (i64s){&x.lo, 1};
    op_set(copy, scatter, scatter_dimension_numbers, attr_unique(e->c, &now.base));
  } else {
    struct gather_attrs a;
    i64 one = 1;
    view_gather(o, &a);
    gather_dims_attr now = *a.dimension_numbers;
    now.collapsed_slice_dims = joined(e, &x, now.collapsed_slice_dims, NULL);
    now.operand_batching_dims = joined(e, &x, now.operand_batching_dims, NULL);
    now.start_index_map = (i64s){&x.lo, 1};
    op_set(copy, gather, dimension_numbers, attr_unique(e->c, &now.base));
    if (x.count > 1)
      op_set(copy, gather, slice_sizes, attr_i64_array(e->c, joined(e, &x, a.slice_sizes, &one)));
  }
  for (u32 i = 0; i < o->num_results; i++)
    out[i] = x.scatter && x.count > 1
                 ? expand_1(e, OP_reshape, op_result(copy, i), o->results[i].type)
                 : op_result(copy, i);
  return true;
}

/* ---- updates under a condition ---- */

/* The one truth value that decides for all elements; NULL: there are more. */
static value *only_condition(const op *o) {
  value *v = op_operand(o, 0);
  const op *def = value_op(v);
  if (v->type->dims.len && def && op_is(def, broadcast_in_dim)) v = op_operand(def, 0);
  return v->type->dims.len ? NULL : v;
}

/* The operand that is the update of the other one; 0: none is. */
static u32 find_update(const op *o) {
  for (u32 i = 1; i <= 2; i++) {
    const op *def = value_op(op_operand(o, i));
    if (def && op_is(def, dynamic_update_slice) && op_operand(def, 0) == op_operand(o, 3 - i) &&
        value_has_one_use(op_operand(o, i)))
      return i;
  }
  return 0;
}

bool expand_is_kept_update(const op *o) {
  u32 i = find_update(o);
  i64 part, all;
  return i && only_condition(o) && type_num_elements(o->results[0].type, &all) &&
         type_num_elements(op_operand(value_op(op_operand(o, i)), 1)->type, &part) &&
         part <= all / 2;
}

bool expand_kept_update(expander *e, op *o, value **out) {
  u32 i = find_update(o);
  const op *update = value_op(op_operand(o, i));
  u32 n = update->num_operands;
  value **in = ARENA_ARRAY(e->a, value *, n), *part[2];
  for (u32 k = 0; k < n; k++) in[k] = op_operand(update, k);
  part[i - 1] = in[1];
  const type *t = in[1]->type, *all = in[0]->type;
  in[1] = in[0]; /* and the starts follow */
  part[2 - i] = op_result(expand_op(e, OP_dynamic_slice, in + 1, n - 1, &t, 1), 0);
  op_set(part[2 - i]->def.op, dynamic_slice, slice_sizes, attr_i64_array(e->c, t->dims));
  in[1] = expand_select(e, only_condition(o), part[0], part[1]);
  out[0] = op_result(expand_op(e, OP_dynamic_update_slice, in, n, &all, 1), 0);
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
