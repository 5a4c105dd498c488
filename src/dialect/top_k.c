/* The first k in an order: chlo.top_k, and the calls by which XLA's users ask for it.
 *
 * Both are a sort and a slice of it. Of the calls, those that are plainly "the greatest along the
 * last dimension, with their places" become chlo.top_k, which later stages know. What
 * approximates may be exact: XLA:CPU sorts too. */
#include "dialect/dialect.h"
#include "dialect/expand.h"

expand_fn chlo_expand_top_k;

/* ---- chlo.top_k: a sort with the positions, and the first k of it ---- */

/* The sizes of v's dimensions as a tensor<rank x i64>: parts[rank] of tensor<1xi64>. */
static value *size_parts(expander *e, value *v, value **parts) {
  const type *i64t = type_i64(e->c), *scalar = expand_tensor(e, NULL, 0, i64t);
  i64 one = 1, rank = (i64)v->type->dims.len;
  for (i64 d = 0; d < rank; d++) {
    value *s;
    if (v->type->dims.data[d] == DYNAMIC) {
      s = expand_1(e, OP_get_dimension_size, v, expand_tensor(e, NULL, 0, type_i32(e->c)));
      op_set(s->def.op, get_dimension_size, dimension, attr_i64(e->c, d));
      s = expand_1(e, OP_convert, s, scalar);
    } else {
      s = expand_constant(e, scalar, number_int(v->type->dims.data[d]));
    }
    parts[d] = expand_1(e, OP_reshape, s, expand_tensor(e, &one, 1, i64t));
  }
  const type *t = expand_tensor(e, &rank, 1, i64t);
  value *all = op_result(expand_op(e, OP_concatenate, parts, (size_t)rank, &t, 1), 0);
  op_set(all->def.op, concatenate, dimension, attr_i64(e->c, 0));
  return all;
}

/* A sort whose comparator has its arguments, and nothing else yet. */
static op *begin_sort(expander *e, value *const *in, size_t n, i64 dim, const attr *is_stable) {
  const type **types = ARENA_ARRAY(e->a, const type *, n + 1);
  for (size_t i = 0; i < n; i++) types[i] = in[i]->type;
  op *sort = expand_op(e, OP_sort, in, n, types, n);
  op_set(sort, sort, dimension, attr_i64(e->c, dim));
  op_set(sort, sort, is_stable, is_stable);
  block *b = block_create(e->m);
  region_append(&sort->regions[0], b);
  for (size_t i = 0; i < 2 * n; i++)
    block_add_arg(e->m, b, expand_tensor(e, NULL, 0, type_element(types[i / 2])));
  return sort;
}

/* By the first of the values. */
static void compare_first(expander *e, op *sort, i64 direction) {
  enum { TOTALORDER = 2 };
  block *b = op_body(sort, 0);
  expander inner = expander_in(e, b);
  value *v = expand_compare(&inner, direction, b->args[0], b->args[1]);
  if (type_element(b->args[0]->type)->kind == TYPE_FLOAT)
    op_set(v->def.op, compare, compare_type, attr_enum(e->c, ATTR_comparison_type, TOTALORDER));
  expand_op(&inner, OP_return, &v, 1, NULL, 0);
}

/* v[0:limits]. */
static value *slice_first(expander *e, value *v, i64s limits, const type *t) {
  size_t rank = limits.len;
  i64 *zeros = arena_zalloc(e->a, (rank + 1) * sizeof(i64));
  i64 *ones = ARENA_ARRAY(e->a, i64, rank + 1);
  for (size_t i = 0; i < rank; i++) ones[i] = 1;
  value *s = expand_1(e, OP_slice, v, t);
  op_set(s->def.op, slice, start_indices, attr_i64_array(e->c, (i64s){zeros, rank}));
  op_set(s->def.op, slice, limit_indices, attr_i64_array(e->c, limits));
  op_set(s->def.op, slice, strides, attr_i64_array(e->c, (i64s){ones, rank}));
  return s;
}

bool chlo_expand_top_k(expander *e, op *o, value **out) {
  value *x = op_operand(o, 0);
  const type *t = x->type, *i32 = type_i32(e->c), *i64t = type_i64(e->c);
  struct chlo_top_k_attrs v;
  if (!type_is_ranked(t) || !t->dims.len || !view_chlo_top_k(o, &v)) return false;
  size_t rank = t->dims.len;
  i64 last = (i64)rank - 1, have = t->dims.data[last];
  i64 k = have == DYNAMIC ? v.k : min_i64(v.k, have), one = 1;
  bool dynamic = !type_is_static(t);
  value *shape = NULL, *limit = NULL;
  if (dynamic) {
    value **parts = ARENA_ARRAY(e->a, value *, rank);
    shape = size_parts(e, x, parts);
    value *n = expand_constant(e, expand_tensor(e, NULL, 0, i64t), number_int(k));
    parts[last] = expand_1(e, OP_reshape, n, expand_tensor(e, &one, 1, i64t));
    limit = op_result(expand_op(e, OP_concatenate, parts, rank, &shape->type, 1), 0);
    op_set(limit->def.op, concatenate, dimension, attr_i64(e->c, 0));
  }
  const type *positions = type_tensor(e->c, t->dims, i32, NULL);
  value *iota = dynamic ? expand_1(e, OP_dynamic_iota, shape, positions)
                        : op_result(expand_op(e, OP_iota, NULL, 0, &positions, 1), 0);
  op_set_any(iota->def.op, iota_dimension, attr_i64(e->c, last));
  const attr *stable = op_attr(o, SLOT_NAME(is_stable));
  if (!stable) stable = attr_bool(e->c, true);
  op *sort = begin_sort(e, (value *[]){x, iota}, 2, last, stable);
  compare_first(e, sort, COMPARE_GT);
  i64 *limits = arena_copy(e->a, t->dims.data, rank * sizeof(i64));
  limits[last] = k;
  value *begin = NULL, *strides = NULL;
  if (dynamic) {
    i64 *list = arena_zalloc(e->a, rank * sizeof(i64));
    begin = expand_i64s(e, list, rank);
    for (size_t i = 0; i < rank; i++) list[i] = 1;
    strides = expand_i64s(e, list, rank);
  }
  for (u32 i = 0; i < 2; i++) {
    const type *r = o->results[i].type;
    value *s = op_result(sort, i);
    out[i] = dynamic ? op_result(expand_op(e, OP_real_dynamic_slice,
                                           (value *[]){s, begin, limit, strides}, 4, &r, 1),
                                 0)
                     : slice_first(e, s, (i64s){limits, rank}, r);
  }
  return true;
}

/* ---- calls ---- */

typedef struct top_call {
  value **in; /* what is sorted, n of them */
  u32 n;
  i64 dim;
  int direction; /* COMPARE_GT or COMPARE_LT of the first; -1: as `order` says */
  op *order;     /* NULL: none is named */
  bool places;   /* in[1] is where in[0]'s elements are along dim */
} top_call;

/* How the targets are called: one tensor, or `pairs` and as many initial values. */
static const struct {
  const char *target;
  bool pairs;
} targets[] = {
    {"mhlo.topk", false}, {"TopK", false}, {"ApproxTopK", true}, {"PartialReduce", true}};

static int target_of(const op *o) {
  struct custom_call_attrs a;
  if (!view_custom_call(o, &a)) return -1;
  for (size_t i = 0; i < COUNT(targets); i++)
    if (str_is(a.call_target_name, targets[i].target)) return (int)i;
  return -1;
}

bool expand_is_top_k_call(const op *o) { return op_is(o, custom_call) && target_of(o) >= 0; }

/* COMPARE_GT or COMPARE_LT where the function compares its first two arguments and does no more. */
static int direction_of(const op *f) {
  const block *b = op_body(f, 0);
  struct compare_attrs a;
  const op *o = b->first;
  if (!op_is(o, compare) || o->next != b->last || b->num_args < 2 || !view_compare(o, &a))
    return -1;
  i64 d = a.comparison_direction->value;
  if (b->last->num_operands != 1 || op_operand(b->last, 0) != op_result(o, 0)) return -1;
  if (d != COMPARE_GT && d != COMPARE_LT) return -1;
  bool forth = op_operand(o, 0) == b->args[0] && op_operand(o, 1) == b->args[1];
  bool back = op_operand(o, 0) == b->args[1] && op_operand(o, 1) == b->args[0];
  if (!forth && !back) return -1;
  return (d == COMPARE_GT) == forth ? COMPARE_GT : COMPARE_LT;
}

/* Does the function compare pairs of these elements? */
static bool order_fits(const top_call *t) {
  const block *b = op_body(t->order, 0);
  if (b->num_args != 2 * t->n || b->last->num_operands != 1) return false;
  for (u32 i = 0; i < b->num_args; i++) {
    const type *a = b->args[i]->type;
    if (!type_is_ranked(a) || a->dims.len || type_element(a) != type_element(t->in[i / 2]->type))
      return false;
  }
  return true;
}

/* The dimension of which the result has less; where none has, what the call says. */
static i64 dim_of(const op *o, const attr *config) {
  i64s in = op_operand(o, 0)->type->dims, out = o->results[0].type->dims;
  i64 dim = (i64)in.len - 1;
  if (attr_get_i64(attr_dict_get(config, STR("reduction_dim")), &dim) && dim < 0)
    dim += (i64)in.len;
  for (size_t d = 0; d < in.len; d++)
    if (in.data[d] != out.data[d]) return (i64)d;
  return dim;
}

/* All tensors of one static shape, results too but along dim, where they have no more. */
static bool shapes_fit(const op *o, const top_call *t) {
  i64s in = t->in[0]->type->dims;
  if (t->dim < 0 || t->dim >= (i64)in.len) return false;
  for (u32 i = 0; i < t->n; i++) {
    const type *r = o->results[i].type, *x = t->in[i]->type;
    if (!type_is_ranked(x) || !type_is_static(x) || !i64s_eq(x->dims, in)) return false;
    if (!type_is_ranked(r) || !type_is_static(r) || r->dims.len != in.len) return false;
    if (type_element(r) != type_element(x)) return false;
    for (size_t d = 0; d < in.len; d++)
      if ((i64)d == t->dim ? r->dims.data[d] > in.data[d] : r->dims.data[d] != in.data[d])
        return false;
  }
  return true;
}

static bool is_iota(const value *v, i64 dim) {
  struct iota_attrs a;
  return !v->is_arg && op_is(v->def.op, iota) && type_element(v->type)->width == 32 &&
         view_iota(v->def.op, &a) && a.iota_dimension == dim;
}

/* Of one tensor: the greatest, unless the call says otherwise, and where they were. */
static bool read_single(expander *e, op *o, top_call *t) {
  bool largest = true;
  if (o->num_operands != 1 || o->num_results != 2) return false;
  attr_get_bool(attr_dict_get(op_attr(o, MHLO_ATTRIBUTES), STR("largest")), &largest);
  if (t->order) t->direction = direction_of(t->order);
  if (!t->order) t->direction = largest ? COMPARE_GT : COMPARE_LT;
  const type *x = op_operand(o, 0)->type;
  if (t->direction < 0 || !type_is_ranked(x) || !x->dims.len || !type_is_static(x)) return false;
  t->n = 2;
  t->dim = (i64)x->dims.len - 1;
  t->in[0] = op_operand(o, 0);
  t->in[1] = expand_iota(e, expand_with_elem(e->c, x, type_element(o->results[1].type)), t->dim);
  t->places = type_element(o->results[1].type) == type_i32(e->c);
  return true;
}

static bool read_pairs(op *o, top_call *t) {
  const attr *config = op_attr(o, MHLO_BACKEND_CONFIG);
  if (!config) config = op_attr(o, SLOT_NAME(backend_config));
  t->n = o->num_results;
  if (!t->n || o->num_operands != 2 * t->n || !t->order) return false;
  for (u32 i = 0; i < t->n; i++) t->in[i] = op_operand(o, i);
  if (!order_fits(t)) return false;
  if (!type_is_ranked(t->in[0]->type) || !type_is_ranked(o->results[0].type)) return false;
  if (t->in[0]->type->dims.len != o->results[0].type->dims.len) return false;
  t->dim = dim_of(o, attr_is(dict, config) ? config : NULL);
  t->direction = direction_of(t->order);
  t->places = t->n == 2 && is_iota(t->in[1], t->dim);
  return true;
}

bool expand_top_k_call(expander *e, op *o, value **out) {
  int target = target_of(o);
  if (target < 0) return false;
  top_call t = {.direction = -1, .order = expand_called(e, o)};
  t.in = ARENA_ARRAY(e->a, value *, (size_t)o->num_operands + o->num_results + 1);
  if (!(targets[target].pairs ? read_pairs(o, &t) : read_single(e, o, &t)) || !shapes_fit(o, &t))
    return false;
  i64s dims = t.in[0]->type->dims;
  if (t.places && t.direction == COMPARE_GT && t.dim == (i64)dims.len - 1) {
    const type *types[] = {o->results[0].type, o->results[1].type};
    op *k = expand_op(e, OP_chlo_top_k, t.in, 1, types, 2);
    op_set(k, chlo_top_k, k, attr_i64(e->c, types[0]->dims.data[t.dim]));
    for (u32 i = 0; i < 2; i++) out[i] = op_result(k, i);
    return dialect_verify_op(e->m, k);
  }
  op *sort = begin_sort(e, t.in, t.n, t.dim, attr_bool(e->c, true));
  if (t.direction >= 0)
    compare_first(e, sort, t.direction);
  else
    expand_copy_body(e, t.order, op_body(sort, 0));
  if (!dialect_verify_op(e->m, sort)) return false;
  for (u32 i = 0; i < t.n; i++)
    out[i] = slice_first(e, op_result(sort, i), o->results[i].type->dims, o->results[i].type);
  return true;
}
