/* terrazzo-join-slices, what concerns windows that slide: padding in front of them is padding of
 * theirs, so that what is padded keeps even shards. Where shards are whole along what is padded,
 * they are even with padding, too, and windows without it are the faster ones. */
#include "partition/local.h"
#include "partition/pieces.h"

/* The padding of an operand, all of it constant and at least 0, of a dimension that is cut too;
 * false: it is none. */
static bool is_padded(const part_env *e, const value *v, struct pad_attrs *p, const op **out) {
  const op *o = *out = value_op(v);
  if (!o || !op_is(o, pad) || !view_pad(o, p) || op_discardable(o, SDY_SHARDING_RULE)) return false;
  const value *in = op_operand(o, 0);
  const sharding *s = part_sharding(e, in);
  bool cut = false;
  for (u32 d = 0; d < p->interior_padding.len; d++) {
    i64 low = p->edge_padding_low.data[d], high = p->edge_padding_high.data[d];
    if (low < 0 || high < 0) return false;
    bool pads = low || high || p->interior_padding.data[d];
    cut |= pads && s && sharding_dim_size(s, d) > 1;
  }
  return cut && part_scalar_constant(op_operand(o, 1));
}

static const attr *as_padding(const part_env *e, const struct pad_attrs *p,
                              const dense_attr *more) {
  size_t n = p->interior_padding.len;
  i64 *list = ARENA_ARRAY(e->a, i64, 2 * n);
  for (size_t i = 0; i < 2 * n; i++) {
    list[i] = (i % 2 ? p->edge_padding_high : p->edge_padding_low).data[i / 2];
    if (more) list[i] += attr_dense_int(&more->base, i);
  }
  return attr_dense_i64(e->c, (i64s){(i64[]){(i64)n, 2}, 2}, list);
}

static bool all_are(i64s l, i64 n) {
  for (size_t i = 0; i < l.len; i++)
    if (l.data[i] != n) return false;
  return true;
}

static bool none_padded(const dense_attr *p) {
  for (size_t i = 0; p && i < 2 * (size_t)p->type->dims.data[0]; i++)
    if (attr_dense_int(&p->base, i)) return false;
  return true;
}

/* Of the value's own elements, one of them; NULL: unknown. */
static const attr *constant_of(const part_env *e, const value *v) {
  const dense_attr *d = attr_as(dense, part_scalar_constant(v));
  const type *t = type_element(v->type);
  if (!d || type_element(d->type) != t || d->data.len != type_storage(t)) return NULL;
  return attr_dense(e->c, type_tensor(e->c, (i64s){0}, t, NULL), d->data, true, false);
}

static bool same_constant(const part_env *e, const value *x, const value *y) {
  return constant_of(e, x) && constant_of(e, x) == constant_of(e, y);
}

/* Padding takes no part in a window, nor does what a window starts from, or zero in a sum that
 * starts from zero. */
static void join_reduce_window(const part_env *e, op *o) {
  struct reduce_window_attrs w;
  struct pad_attrs p;
  const op *def;
  unreduced_kind kind;
  if (o->num_operands != 2 || !view_reduce_window(o, &w) || (w.present & 1u << 4 && !w.padding) ||
      !all_are(w.base_dilations, 1) || !is_padded(e, op_operand(o, 0), &p, &def) ||
      !part_body_kind(op_body(o, 0), 0, 1, &kind))
    return;
  const value *fill = op_operand(def, 1), *init = op_operand(o, 1);
  bool zeros = local_is_zero(fill) && local_is_zero(init);
  bool same = kind != UNREDUCED_SUM && kind != UNREDUCED_MUL && same_constant(e, fill, init);
  if (!(kind == UNREDUCED_SUM ? zeros : same)) return;
  i64 *apart = ARENA_ARRAY(e->a, i64, p.interior_padding.len);
  for (size_t d = 0; d < p.interior_padding.len; d++) apart[d] = p.interior_padding.data[d] + 1;
  op_set(o, reduce_window, base_dilations,
         attr_i64_array(e->c, (i64s){apart, p.interior_padding.len}));
  op_set(o, reduce_window, padding, as_padding(e, &p, w.present & 1u << 4 ? w.padding : NULL));
  op_set_operand(o, 0, op_operand(def, 0));
}

/* A slice of the result that leaves out what belongs to the padding. The padding may be selected,
 * as it may not where it is the op's own, so that its value is noted. */
static void join_select_and_scatter(const part_env *e, op *o) {
  op *def = value_op(op_operand(o, 0));
  struct slice_attrs s;
  struct select_and_scatter_attrs w;
  struct pad_attrs p;
  const op *padded;
  if (!def || !op_is(def, select_and_scatter) || !view_slice(o, &s) ||
      !value_has_one_use(op_operand(o, 0)) || !view_select_and_scatter(def, &w) ||
      (w.present & 4 && !w.padding) || !none_padded(w.present & 4 ? w.padding : NULL) ||
      !is_padded(e, op_operand(def, 0), &p, &padded) || !all_are(p.interior_padding, 0) ||
      !all_are(s.strides, 1) || !constant_of(e, op_operand(padded, 1)) ||
      op_operand(padded, 0)->type != op_result(o, 0)->type)
    return;
  for (size_t d = 0; d < s.strides.len; d++)
    if (s.start_indices.data[d] != p.edge_padding_low.data[d]) return;
  op_set_operand(def, 0, op_operand(padded, 0));
  op_result(def, 0)->type = op_result(o, 0)->type;
  op_set(def, select_and_scatter, padding, as_padding(e, &p, NULL));
  op_set_attr(e->m, def, STR(PIECES_FILL), constant_of(e, op_operand(padded, 1)));
  const sharding *sh = part_sharding(e, op_result(o, 0));
  if (sh) part_set_sharding(e, def, 0, sh);
  value_replace(op_result(o, 0), op_result(def, 0));
}

void pieces_join_pads(const part_env *e, op *o) {
  if (op_is(o, reduce_window)) join_reduce_window(e, o);
  if (op_is(o, slice)) join_select_and_scatter(e, o);
}
