/* Scatters of one window at a known place, as u.at[1:-1].add(v) has it: a slice that is updated and
 * written back. */
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

bool scatter_low(const op *o, i64 *low) {
  struct scatter_attrs a;
  const value *indices = op_operand(o, 1);
  const type *t = indices->type;
  if (!view_scatter(o, &a) || !type_is_static(t)) return false;
  i64s map = a.scatter_dimension_numbers->scatter_dims_to_operand_dims;
  for (size_t d = 0; d < t->dims.len; d++) /* places without a number have no elements */
    if ((i64)d != a.scatter_dimension_numbers->index_vector_dim && t->dims.data[d] != 1)
      return false;
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

/* Where in the operand it begins and ends. */
typedef struct window {
  i64 low[MOST], high[MOST], size[MOST];
} window;

static bool find_window(const op *o, window *w) {
  struct scatter_attrs a;
  bool sets;
  if (o->num_operands != 3 || !view_scatter(o, &a)) return false;
  const scatter_dims_attr *d = a.scatter_dimension_numbers;
  const type *t = op_operand(o, 0)->type, *update = op_operand(o, 2)->type;
  *w = (window){0};
  if (!type_is_static(t) || !type_is_static(update) || t->dims.len > MOST ||
      d->input_batching_dims.len || !scatter_low(o, w->low) || (!combiner(o, &sets) && !sets))
    return false;
  size_t next = 0;
  for (size_t k = 0; k < t->dims.len; k++) {
    bool one = i64s_contain(d->inserted_window_dims, (i64)k);
    w->size[k] = one ? 1 : update->dims.data[d->update_window_dims.data[next++]];
    if (w->low[k] < 0 || w->low[k] > t->dims.data[k] - w->size[k]) return false;
    w->high[k] = w->low[k] + w->size[k];
  }
  return true;
}
bool expand_is_window(const op *o) {
  window w;
  return find_window(o, &w);
}

bool expand_window(expander *e, op *o, value **out) {
  window w;
  if (!find_window(o, &w)) return false;
  value *x = op_operand(o, 0), *in[MOST + 2] = {x};
  size_t rank = x->type->dims.len;
  const type *t = type_with_dims(e->c, x->type, (i64s){w.size, rank});
  const type *number = type_tensor(e->c, (i64s){0}, type_i64(e->c), NULL);
  i64 ones[MOST];
  for (size_t k = 0; k < rank; k++) {
    ones[k] = 1;
    in[k + 2] = expand_constant(e, number, number_int(w.low[k]));
  }
  value *old = expand_1(e, OP_slice, x, t), *update = op_operand(o, 2);
  if (update->type != t) update = expand_1(e, OP_reshape, update, t);
  op_set(old->def.op, slice, start_indices, attr_i64_array(e->c, (i64s){w.low, rank}));
  op_set(old->def.op, slice, limit_indices, attr_i64_array(e->c, (i64s){w.high, rank}));
  op_set(old->def.op, slice, strides, attr_i64_array(e->c, (i64s){ones, rank}));
  in[1] = scatter_updated(e->m, e->block, e->at, o, old, update);
  out[0] = op_result(expand_op(e, OP_dynamic_update_slice, in, rank + 2, &x->type, 1), 0);
  return true;
}
