/* Scatters of one window, as u.at[1:-1].add(v) and x.at[i].set(v) have it: a slice that is updated
 * and written back. Where a scatter leaves out a window that is not inside, an update moves it in:
 * it writes then what is there, but for indices of which is known that they are inside. */
#include "dialect/expand.h"

/* Element i of a constant, a broadcast one, or several one after the other. */
static bool int_at(const value *v, i64 i, i64 *out) {
  const op *def = value_op(v);
  if (!def || i < 0) return false;
  if (op_is(def, broadcast_in_dim)) {
    const value *in = op_operand(def, 0);
    return type_is_static(in->type) && in->type->dims.len == 0 && int_at(in, 0, out);
  }
  for (u32 k = 0; op_is(def, concatenate) && k < def->num_operands; k++) {
    const value *in = op_operand(def, k);
    if (!type_is_static(in->type) || in->type->dims.len != 1) return false;
    if (i < in->type->dims.data[0]) return int_at(in, i, out);
    i -= in->type->dims.data[0];
  }
  const dense_attr *d =
      op_has(def, CONSTANT) ? attr_as(dense, op_attr(def, SLOT_NAME(value))) : NULL;
  i64 n;
  if (!d || d->type->elem->kind != TYPE_INT || !type_num_elements(d->type, &n) || i >= n)
    return false;
  *out = attr_dense_int(&d->base, (size_t)i);
  return true;
}

/* Places without a number have no elements, and may be many. */
static bool is_one(i64s dims, i64 vector) {
  for (size_t d = 0; d < dims.len; d++)
    if ((i64)d != vector && dims.data[d] != 1) return false;
  return true;
}

bool scatter_low(const op *o, i64 *low) {
  struct scatter_attrs a;
  const value *indices = op_operand(o, 1);
  if (!view_scatter(o, &a) || !type_is_static(indices->type)) return false;
  i64s map = a.scatter_dimension_numbers->scatter_dims_to_operand_dims;
  if (!is_one(indices->type->dims, a.scatter_dimension_numbers->index_vector_dim)) return false;
  for (size_t i = 0; i < map.len; i++)
    if (!int_at(indices, (i64)i, &low[map.data[i]])) return false;
  return true;
}

/* The one op of its body; NULL: it does more, or (*sets) gives back the update. */
static op *combiner(const op *o, bool *sets) {
  const block *b = op_body(o, 0);
  const op *end = op_terminator(b);
  op *last = end ? value_op(op_operand(end, 0)) : NULL;
  *sets = end && op_operand(end, 0) == b->args[1];
  bool is = last && b->first == last && last->next == end && last->num_operands == 2 &&
            last->num_results == 1 && last->info->family == FAMILY_ew;
  return is && op_operand(last, 0)->is_arg && op_operand(last, 1)->is_arg ? last : NULL;
}

value *scatter_updated(ir_module *m, block *b, op *before, const op *o, value *old, value *update) {
  bool sets;
  op *last = combiner(o, &sets);
  if (!last) return sets ? update : NULL;
  op *c = op_clone(m, last, NULL);
  op_insert(c, b, before);
  for (u32 i = 0; i < 2; i++)
    op_set_operand(c, i, op_operand(last, i) == op_body(o, 0)->args[0] ? old : update);
  op_result(c, 0)->type = old->type;
  return op_result(c, 0);
}

enum { MOST = 8 };

/* Where in the operand it begins and ends; where the run says that, only its sizes, and which
 * dims the indices name. */
typedef struct window {
  bool known;
  i64 low[MOST], high[MOST], size[MOST];
  i64s map;
} window;

static bool is_plain(const op *o) {
  const type *t = op_operand(o, 0)->type, *at = op_operand(o, 1)->type;
  return type_is_static(t) && type_is_static(at) && t->dims.len <= MOST &&
         type_element(at)->kind == TYPE_INT;
}

/* Component k of the one index vector, if some value is just that. */
static value *component(value *v, i64 k) {
  const op *made = value_op(v);
  i64 n, joined;
  if (!type_num_elements(v->type, &n) || n == 1) return v;
  bool each = made && op_is(made, concatenate) && (i64)made->num_operands == n;
  v = each ? op_operand(made, (u32)k) : NULL;
  return v && type_num_elements(v->type, &joined) && joined == 1 ? v : NULL;
}

static bool is_inside(const value *at, i64 last) {
  range r = at ? expand_range(at) : (range){INT64_MIN, INT64_MAX};
  return r.lo >= 0 && r.hi <= last;
}

static i64 volume(const i64 *sizes, size_t n) {
  i64 all = 1;
  for (size_t k = 0; k < n; k++)
    if (!checked_mul(all, sizes[k], &all)) return INT64_MAX;
  return all;
}

/* In a loop, where a jump over all that is done with them takes less than to choose each. One that
 * is chosen, or else what it was, is chosen by elements (indexed.c). */
static bool may_jump(const op *o) {
  const op *around = o;
  while (around && !op_is(around, while)) around = op_parent(around);
  for (const use *u = o->results[0].uses; u; u = u->next)
    if (op_is(u->owner, select)) return false;
  return around != NULL;
}

/* Of places that the run says: no more than is sooner sliced and written back than scattered, and
 * where it may lie outside, so that what is there is read, a few elements. */
static bool is_small(const op *o, const window *w, bool moves) {
  enum { PART = 2, FEW = 64 };
  i64s dims = op_operand(o, 0)->type->dims;
  i64 all = volume(dims.data, dims.len), some = volume(w->size, dims.len);
  for (size_t k = 0; k < dims.len; k++)
    if (dims.data[k] > INT32_MAX) return false;
  for (size_t i = 0; i < w->map.len && some > FEW && !moves && !may_jump(o); i++) {
    i64 d = w->map.data[i];
    if (!is_inside(component(op_operand(o, 1), (i64)i), dims.data[d] - w->size[d])) return false;
  }
  return some > 0 && some <= all / PART && all < INT64_MAX;
}

static bool find_window(const op *o, window *w) {
  struct scatter_attrs a;
  bool sets;
  if (o->num_operands != 3 || !view_scatter(o, &a) || !is_plain(o)) return false;
  const scatter_dims_attr *d = a.scatter_dimension_numbers;
  const type *t = op_operand(o, 0)->type, *update = op_operand(o, 2)->type;
  *w = (window){.map = d->scatter_dims_to_operand_dims};
  if (!type_is_static(update) || d->input_batching_dims.len || (!combiner(o, &sets) && !sets) ||
      !is_one(op_operand(o, 1)->type->dims, d->index_vector_dim))
    return false;
  w->known = scatter_low(o, w->low);
  size_t next = 0;
  for (size_t k = 0; k < t->dims.len; k++) {
    bool one = i64s_contain(d->inserted_window_dims, (i64)k);
    w->size[k] = one ? 1 : update->dims.data[d->update_window_dims.data[next++]];
    if (w->known && (w->low[k] < 0 || w->low[k] > t->dims.data[k] - w->size[k])) return false;
    w->high[k] = w->low[k] + w->size[k];
  }
  return w->known || is_small(o, w, false);
}

/* A gather's, which is moved inside, as that of a dynamic slice. */
static bool find_taken(const op *o, window *w) {
  struct gather_attrs a;
  i64 at;
  if (!op_is(o, gather) || !view_gather(o, &a) || !is_plain(o)) return false;
  const gather_dims_attr *d = a.dimension_numbers;
  *w = (window){.map = d->start_index_map};
  if (d->operand_batching_dims.len || !w->map.len || int_at(op_operand(o, 1), 0, &at) ||
      !is_one(op_operand(o, 1)->type->dims, d->index_vector_dim))
    return false;
  memcpy(w->size, a.slice_sizes.data, a.slice_sizes.len * sizeof(i64));
  return is_small(o, w, true);
}
bool expand_is_window(const op *o) {
  window w;
  return op_is(o, scatter) ? find_window(o, &w) : find_taken(o, &w);
}

/* Component k as a number, of 32 bits at least, which the bounds of any dim fit. */
static value *number_at(expander *e, value *v, i64 k) {
  const type *t = expand_tensor(e, NULL, 0, type_element(v->type));
  value *alone = component(v, k);
  i64 n, end = k + 1, one = 1;
  if (!alone && type_num_elements(v->type, &n)) {
    v = expand_reshaped(e, v, expand_tensor(e, &n, 1, type_element(t)));
    alone = expand_1(e, OP_slice, v, expand_tensor(e, &one, 1, type_element(t)));
    op_set(alone->def.op, slice, start_indices, attr_i64_array(e->c, (i64s){&k, 1}));
    op_set(alone->def.op, slice, limit_indices, attr_i64_array(e->c, (i64s){&end, 1}));
    op_set(alone->def.op, slice, strides, attr_i64_array(e->c, (i64s){&one, 1}));
  }
  v = alone;
  v = expand_reshaped(e, v, t);
  if (type_element(t)->width >= 32) return v;
  return expand_1(e, OP_convert, v, expand_with_elem(e->c, t, type_i32(e->c)));
}

/* Whose negative numbers are beyond any bound. */
static value *as_unsigned(expander *e, value *v) {
  const type *t = type_element(v->type);
  if (t->sign == UNSIGNED) return v;
  t = type_int(e->c, t->width, UNSIGNED);
  return expand_1(e, OP_bitcast_convert, v, expand_with_elem(e->c, v->type, t));
}

/* Where it begins, a number a dim, which slices and updates move inside; returns whether it is
 * there, NULL: it is, or (`moves`) nobody asks. */
static value *starts(expander *e, const op *o, const window *w, bool moves, value **in) {
  i64s dims = op_operand(o, 0)->type->dims;
  value *inside = NULL;
  const type *number = expand_tensor(e, NULL, 0, type_i32(e->c));
  for (size_t k = 0; k < dims.len; k++) in[k] = NULL;
  for (size_t i = 0; i < w->map.len; i++)
    in[w->map.data[i]] = number_at(e, op_operand(o, 1), (i64)i);
  for (size_t k = 0; k < dims.len; k++) {
    i64 last = dims.data[k] - w->size[k];
    value *at = in[k];
    if (!at) in[k] = expand_constant(e, number, number_int(0));
    if (moves || !at || is_inside(at, last)) continue;
    at = as_unsigned(e, at);
    value *here = expand_compare(e, COMPARE_LE, at, expand_constant(e, at->type, number_int(last)));
    inside = inside ? expand_2(e, OP_and, inside, here, here->type) : here;
  }
  return inside;
}

/* in: the array, and the starts. */
static value *take(expander *e, value *const *in, i64s sizes, const type *t) {
  value *v = op_result(expand_op(e, OP_dynamic_slice, in, sizes.len + 1, &t, 1), 0);
  op_set(v->def.op, dynamic_slice, slice_sizes, attr_i64_array(e->c, sizes));
  return v;
}

/* The operand with the update in it. in: the operand twice, and the starts. */
static value *put(expander *e, const op *o, const window *w, value **in, value *inside) {
  value *x = in[0], *update = op_operand(o, 2), *old;
  size_t rank = x->type->dims.len;
  const type *t = type_with_dims(e->c, x->type, (i64s){w->size, rank});
  if (w->known) {
    i64 ones[MOST];
    for (size_t k = 0; k < rank; k++) ones[k] = 1;
    old = expand_1(e, OP_slice, x, t);
    op_set(old->def.op, slice, start_indices, attr_i64_array(e->c, (i64s){w->low, rank}));
    op_set(old->def.op, slice, limit_indices, attr_i64_array(e->c, (i64s){w->high, rank}));
    op_set(old->def.op, slice, strides, attr_i64_array(e->c, (i64s){ones, rank}));
  } else {
    old = take(e, in + 1, (i64s){w->size, rank}, t);
  }
  if (update->type != t) update = expand_reshaped(e, update, t);
  update = scatter_updated(e->m, e->block, e->at, o, old, update);
  in[1] = inside ? expand_select(e, inside, update, old) : update;
  return op_result(expand_op(e, OP_dynamic_update_slice, in, rank + 2, &x->type, 1), 0);
}

/* The same where it is inside, as a branch. */
static value *put_inside(expander *e, const op *o, const window *w, value **in, value *inside) {
  op *branch = expand_op(e, OP_if, &inside, 1, &in[0]->type, 1);
  for (u32 k = 0; k < 2; k++) {
    block *b = block_create(e->m);
    region_append(&branch->regions[k], b);
    expander there = expander_in(e, b);
    value *v = k ? in[0] : put(&there, o, w, in, NULL);
    expand_op(&there, OP_return, &v, 1, NULL, 0);
  }
  return op_result(branch, 0);
}

bool expand_window(expander *e, op *o, value **out) {
  window w;
  bool gather = op_is(o, gather);
  if (gather ? !find_taken(o, &w) : !find_window(o, &w)) return false;
  value *x = op_operand(o, 0), *in[MOST + 2] = {x, x}, *inside = NULL;
  size_t rank = x->type->dims.len;
  const type *number = expand_tensor(e, NULL, 0, type_i64(e->c));
  for (size_t k = 0; k < rank && w.known; k++)
    in[k + 2] = expand_constant(e, number, number_int(w.low[k]));
  if (!w.known) inside = starts(e, o, &w, gather, in + 2);
  if (gather) {
    const type *t = type_with_dims(e->c, x->type, (i64s){w.size, rank});
    out[0] = expand_reshaped(e, take(e, in + 1, (i64s){w.size, rank}, t), o->results[0].type);
    return true;
  }
  out[0] = (inside && may_jump(o) ? put_inside : put)(e, o, &w, in, inside);
  return true;
}
