/* chlo.ragged_dot as one dot_general a group over a masked operand, and chlo.scan as a while.
 *
 * Both write out what a kernel would do in one go, so they are for stages that have no kernel, and
 * what they make is as large as the number of groups (ragged_dot) or as the scan's body (scan). */
#include "dialect/expand.h"

expand_fn chlo_expand_ragged_dot, chlo_expand_scan;

/* ---- pieces ---- */

static const type *i64_tensor(expander *e, const i64 *dims, size_t rank) {
  return expand_tensor(e, dims, rank, type_i64(e->c));
}

static value *concat(expander *e, value **parts, size_t n) {
  i64 rank = (i64)n;
  const type *t = i64_tensor(e, &rank, 1);
  value *v = op_result(expand_op(e, OP_concatenate, parts, n, &t, 1), 0);
  op_set(v->def.op, concatenate, dimension, attr_i64(e->c, 0));
  return v;
}

/* The size of v's dimension d as a tensor<1xi64>. */
static value *size_part(expander *e, value *v, i64 d) {
  i64 one = 1;
  value *s = expand_1(e, OP_get_dimension_size, v, expand_tensor(e, NULL, 0, type_i32(e->c)));
  op_set(s->def.op, get_dimension_size, dimension, attr_i64(e->c, d));
  s = expand_1(e, OP_convert, s, i64_tensor(e, NULL, 0));
  return expand_1(e, OP_reshape, s, i64_tensor(e, &one, 1));
}

static value *shape_of(expander *e, value *v) {
  i64 rank = (i64)v->type->dims.len;
  return expand_1(e, OP_shape_of, v, expand_tensor(e, &rank, 1, type_index(e->c)));
}

/* x with its dimensions as the first ones of `like`, in the shape of that. */
static value *broadcast_like(expander *e, value *x, value *like) {
  const type *t = type_tensor(e->c, like->type->dims, type_element(x->type), NULL);
  if (type_is_static(t)) return expand_broadcast(e, OP_broadcast_in_dim, x, NULL, t, 0);
  return expand_broadcast(e, OP_dynamic_broadcast_in_dim, x, shape_of(e, like), t, 0);
}

/* v[..., at:at+1, ...] in dimension d, of a static shape. */
static value *slice_at(expander *e, value *v, i64 d, i64 at) {
  size_t rank = v->type->dims.len;
  i64 *begin = arena_zalloc(e->a, rank * sizeof(i64)), *ones = ARENA_ARRAY(e->a, i64, rank);
  i64 *end = arena_copy(e->a, v->type->dims.data, rank * sizeof(i64));
  i64 *dims = arena_copy(e->a, v->type->dims.data, rank * sizeof(i64));
  for (size_t i = 0; i < rank; i++) ones[i] = 1;
  begin[d] = at;
  end[d] = at + 1;
  dims[d] = 1;
  value *s = expand_1(e, OP_slice, v, expand_tensor(e, dims, rank, type_element(v->type)));
  op_set(s->def.op, slice, start_indices, attr_i64_array(e->c, (i64s){begin, rank}));
  op_set(s->def.op, slice, limit_indices, attr_i64_array(e->c, (i64s){end, rank}));
  op_set(s->def.op, slice, strides, attr_i64_array(e->c, (i64s){ones, rank}));
  return s;
}

/* The type without dimension d. */
static const type *without(expander *e, const type *t, i64 d) {
  size_t rank = t->dims.len, n = 0;
  i64 *dims = ARENA_ARRAY(e->a, i64, rank);
  for (size_t i = 0; i < rank; i++)
    if ((i64)i != d) dims[n++] = t->dims.data[i];
  return expand_tensor(e, dims, n, type_element(t));
}

/* ---- ragged_dot ---- */

/* What is being expanded, and `start`, which moves along the ragged dimension from group to
 * group. */
typedef struct ragged {
  value *lhs, *rhs, *sizes;
  const ragged_dot_attr *dims;
  const attr *precision;
  i64 dim; /* of lhs, the ragged one */
  i64 groups;
  value *iota, *zero;
  value *start; /* where the group at hand begins */
} ragged;

static const attr *convert_precision(expander *e, attrs list, bool present) {
  if (!present) return NULL;
  const attr **out = ARENA_ARRAY(e->a, const attr *, list.len + 1);
  for (size_t i = 0; i < list.len; i++) {
    const chlo_precision_attr *p = attr_as(chlo_precision, list.data[i]);
    out[i] = attr_enum(e->c, ATTR_precision, p ? p->value : 0);
  }
  return attr_array(e->c, (attrs){out, list.len});
}

/* Positions along the ragged dimension, of size 1 in the others: broadcast when they are
 * compared. */
static value *make_iota(expander *e, const ragged *r) {
  size_t rank = r->lhs->type->dims.len;
  i64 *dims = ARENA_ARRAY(e->a, i64, rank), one = 1;
  for (size_t i = 0; i < rank; i++) dims[i] = 1;
  dims[r->dim] = r->lhs->type->dims.data[r->dim];
  const type *t = i64_tensor(e, dims, rank);
  value *v;
  if (type_is_static(t)) {
    v = op_result(expand_op(e, OP_iota, NULL, 0, &t, 1), 0);
  } else {
    value **parts = ARENA_ARRAY(e->a, value *, rank);
    for (size_t i = 0; i < rank; i++)
      parts[i] = (i64)i == r->dim ? size_part(e, r->lhs, r->dim) : expand_i64s(e, &one, 1);
    v = expand_1(e, OP_dynamic_iota, concat(e, parts, rank), t);
  }
  op_set_any(v->def.op, iota_dimension, attr_i64(e->c, r->dim));
  return v;
}

/* false: the number of groups has to be static, since there is a product for each. */
static bool prepare(expander *e, op *o, ragged *r) {
  struct chlo_ragged_dot_attrs v;
  if (!view_chlo_ragged_dot(o, &v) || v.ragged_dot_dimension_numbers->lhs_ragged_dimensions.len < 1)
    return false;
  *r = (ragged){.lhs = op_operand(o, 0), .rhs = op_operand(o, 1), .sizes = op_operand(o, 2)};
  r->dims = v.ragged_dot_dimension_numbers;
  r->dim = r->dims->lhs_ragged_dimensions.data[0];
  r->precision =
      convert_precision(e, v.precision_config, op_attr(o, SLOT_NAME(precision_config)) != NULL);
  return type_is_static(r->sizes->type) && r->sizes->type->dims.len;
}

/* What all groups share. */
static void begin_groups(expander *e, ragged *r) {
  i64 last = (i64)r->sizes->type->dims.len - 1;
  const type *batch = expand_with_elem(e->c, without(e, r->sizes->type, last), type_i64(e->c));
  r->groups = r->sizes->type->dims.data[last];
  r->start = expand_constant(e, batch, number_int(0));
  r->iota = make_iota(e, r);
  const type *t = r->lhs->type;
  if (type_is_static(t)) {
    r->zero = expand_constant(e, t, number_int(0));
    return;
  }
  value *k = expand_constant(e, expand_tensor(e, NULL, 0, type_element(t)), number_int(0));
  r->zero = expand_broadcast(e, OP_dynamic_broadcast_in_dim, k, shape_of(e, r->lhs), t, 0);
}

/* lhs where the ragged dimension is in group i, else 0; the next group begins behind it. */
static value *mask_group(expander *e, ragged *r, i64 i) {
  enum { GE = 2, LT = 5 };
  i64 last = (i64)r->sizes->type->dims.len - 1;
  value *n = slice_at(e, r->sizes, last, i);
  n = expand_1(e, OP_reshape, n, without(e, n->type, last));
  if (type_element(n->type) != type_i64(e->c))
    n = expand_1(e, OP_convert, n, expand_with_elem(e->c, n->type, type_i64(e->c)));
  value *limit = expand_2(e, OP_add, r->start, n, r->start->type);
  value *begin = broadcast_like(e, r->start, r->lhs), *end = broadcast_like(e, limit, r->lhs);
  value *at = broadcast_like(e, r->iota, r->lhs);
  value *from = expand_compare(e, GE, at, begin), *to = expand_compare(e, LT, at, end);
  value *in = expand_2(e, OP_and, from, to, from->type);
  r->start = limit;
  return expand_select(e, in, r->lhs, r->zero);
}

/* rhs[i] along its group dimension g. */
static value *rhs_of_group(expander *e, const ragged *r, i64 g, i64 i) {
  const type *t = r->rhs->type;
  if (type_is_static(t)) {
    value *s = slice_at(e, r->rhs, g, i);
    return expand_1(e, OP_reshape, s, without(e, t, g));
  }
  size_t rank = t->dims.len, n = 0;
  value **begin = ARENA_ARRAY(e->a, value *, rank), **end = ARENA_ARRAY(e->a, value *, rank);
  i64 *ones = ARENA_ARRAY(e->a, i64, rank), next = i + 1, none = 0;
  i64 *dims = arena_copy(e->a, t->dims.data, rank * sizeof(i64));
  dims[g] = 1;
  for (size_t d = 0; d < rank; d++) {
    ones[d] = 1;
    begin[d] = expand_i64s(e, (i64)d == g ? &i : &none, 1);
    end[d] = (i64)d == g ? expand_i64s(e, &next, 1) : size_part(e, r->rhs, (i64)d);
  }
  value *from = concat(e, begin, rank), *to = concat(e, end, rank);
  value *in[4] = {r->rhs, from, to, expand_i64s(e, ones, rank)};
  const type *st = expand_tensor(e, dims, rank, type_element(t));
  value *s = op_result(expand_op(e, OP_real_dynamic_slice, in, 4, &st, 1), 0);
  for (size_t d = 0; d < rank; d++)
    if ((i64)d != g) end[n++] = end[d];
  return expand_2(e, OP_dynamic_reshape, s, concat(e, end, n), without(e, t, g));
}

/* Dimension numbers once dimension g is gone. */
static i64s shift_above(expander *e, i64s dims, i64 g) {
  i64 *out = ARENA_ARRAY(e->a, i64, dims.len + 1);
  for (size_t i = 0; i < dims.len; i++) out[i] = dims.data[i] - (dims.data[i] > g);
  return (i64s){out, dims.len};
}

/* g: rhs's group dimension, which is gone; -1: it has none. */
static value *dot(expander *e, const ragged *r, value *x, value *y, i64 g, const type *t) {
  const ragged_dot_attr *d = r->dims;
  i64s batch = d->rhs_batching_dimensions, contract = d->rhs_contracting_dimensions;
  value *v = expand_2(e, OP_dot_general, x, y, t);
  op_set(v->def.op, dot_general, dot_dimension_numbers,
         attr_make(e->c, dot, .lhs_batching_dimensions = d->lhs_batching_dimensions,
                   .rhs_batching_dimensions = g < 0 ? batch : shift_above(e, batch, g),
                   .lhs_contracting_dimensions = d->lhs_contracting_dimensions,
                   .rhs_contracting_dimensions = g < 0 ? contract : shift_above(e, contract, g)));
  op_set(v->def.op, dot_general, precision_config, r->precision);
  return v;
}

/* The ragged dimension stays: each row belongs to one group, so the products are added. */
static bool sum_of_groups(expander *e, ragged *r, const type *t, value **out) {
  if (!r->dims->rhs_group_dimensions.len) return false;
  i64 g = r->dims->rhs_group_dimensions.data[0], groups = r->rhs->type->dims.data[g];
  begin_groups(e, r);
  if (groups == DYNAMIC || groups > r->groups) return false;
  *out = NULL;
  for (i64 i = 0; i < groups; i++) {
    value *x = mask_group(e, r, i), *y = rhs_of_group(e, r, g, i);
    value *v = dot(e, r, x, y, g, t);
    *out = *out ? expand_2(e, OP_add, *out, v, t) : v;
  }
  return *out != NULL;
}

/* v with a first dimension of 1. */
static value *add_dimension(expander *e, value *v) {
  size_t rank = v->type->dims.len;
  i64 *dims = ARENA_ARRAY(e->a, i64, rank + 1), one = 1;
  dims[0] = 1;
  if (rank) memcpy(dims + 1, v->type->dims.data, rank * sizeof(i64));
  const type *t = expand_tensor(e, dims, rank + 1, type_element(v->type));
  if (type_is_static(t)) return expand_1(e, OP_reshape, v, t);
  value **parts = ARENA_ARRAY(e->a, value *, rank + 1);
  parts[0] = expand_i64s(e, &one, 1);
  for (size_t i = 0; i < rank; i++) parts[i + 1] = size_part(e, v, (i64)i);
  return expand_2(e, OP_dynamic_reshape, v, concat(e, parts, rank + 1), t);
}

/* The ragged dimension is contracted: a result a group, side by side in a new first dimension. */
static bool stack_of_groups(expander *e, ragged *r, const type *t, value **out) {
  begin_groups(e, r);
  value **list = ARENA_ARRAY(e->a, value *, (size_t)r->groups + 1);
  for (i64 i = 0; i < r->groups; i++)
    list[i] = dot(e, r, mask_group(e, r, i), r->rhs, -1, without(e, t, 0));
  for (i64 i = 0; i < r->groups; i++) list[i] = add_dimension(e, list[i]);
  *out = op_result(expand_op(e, OP_concatenate, list, (size_t)r->groups, &t, 1), 0);
  op_set((*out)->def.op, concatenate, dimension, attr_i64(e->c, 0));
  return r->groups > 0;
}

/* Three modes by what the ragged dimension of lhs is, told apart by ranks (ChloOps.td): free (rhs
 * has a group dimension more), contracted (the result has one), batch (a dot_general it is
 * already). */
bool chlo_expand_ragged_dot(expander *e, op *o, value **out) {
  enum { MOST_GROUPS = 1 << 16 };
  ragged r;
  const type *t = o->results[0].type;
  if (!prepare(e, o, &r)) return false;
  size_t lhs = r.lhs->type->dims.len;
  if (r.sizes->type->dims.data[r.sizes->type->dims.len - 1] > MOST_GROUPS)
    return loc_error(e->c, o->loc, "has more groups than can be written out");
  bool stays = lhs < r.rhs->type->dims.len;
  bool none = !r.sizes->type->dims.data[r.sizes->type->dims.len - 1] && type_is_static(t);
  if (none && (stays || lhs < t->dims.len)) {
    *out = expand_constant(e, t, number_int(0));
    return *out != NULL;
  }
  if (stays) return sum_of_groups(e, &r, t, out);
  if (lhs < t->dims.len) return stack_of_groups(e, &r, t, out);
  *out = dot(e, &r, r.lhs, r.rhs, -1, t);
  return true;
}

/* ---- scan ---- */

typedef struct scan {
  op *o;
  i64 dim;
  size_t inputs, inits, outputs;
  value *size; /* of the dimension, tensor<i64> */
  bool reverse;
} scan;

static value *scalar_i64(expander *e, i64 v) {
  return expand_constant(e, expand_tensor(e, NULL, 0, type_i64(e->c)), number_int(v));
}

/* Slice number `at` of each input, without the dimension. */
static bool slice_inputs(expander *e, const scan *s, value *at, value **out) {
  for (size_t i = 0; i < s->inputs; i++) {
    value *x = op_operand(s->o, i);
    size_t rank = x->type->dims.len;
    if (!type_is_static(x->type)) return false;
    i64 *dims = arena_copy(e->a, x->type->dims.data, rank * sizeof(i64));
    dims[s->dim] = 1;
    value *zero = scalar_i64(e, 0), **in = ARENA_ARRAY(e->a, value *, rank + 1);
    in[0] = x;
    for (size_t d = 0; d < rank; d++) in[d + 1] = (i64)d == s->dim ? at : zero;
    const type *t = expand_tensor(e, dims, rank, type_element(x->type));
    value *v = op_result(expand_op(e, OP_dynamic_slice, in, rank + 1, &t, 1), 0);
    op_set(v->def.op, dynamic_slice, slice_sizes, attr_i64_array(e->c, (i64s){dims, rank}));
    out[i] = expand_1(e, OP_reshape, v, without(e, x->type, s->dim));
  }
  return true;
}

/* The slice v into position `at` of the dimension; `into` is the result so far, carried by the
 * loop. */
static value *store(expander *e, const scan *s, value *into, value *v, value *at) {
  size_t rank = into->type->dims.len;
  i64 *dims = arena_copy(e->a, into->type->dims.data, rank * sizeof(i64));
  dims[s->dim] = 1;
  const type *t = expand_tensor(e, dims, rank, type_element(into->type));
  v = expand_1(e, OP_reshape, v, t);
  value *zero = scalar_i64(e, 0), **in = ARENA_ARRAY(e->a, value *, rank + 2);
  in[0] = into;
  in[1] = v;
  for (size_t d = 0; d < rank; d++) in[d + 2] = (i64)d == s->dim ? at : zero;
  return op_result(expand_op(e, OP_dynamic_update_slice, in, rank + 2, &into->type, 1), 0);
}

/* One step: slices, the scan's body, results stored, the index moved on. */
static bool fill_body(expander *e, const scan *s, block *b) {
  value *index = b->args[0], *at = index;
  if (s->reverse) {
    value *one = scalar_i64(e, 1);
    at = expand_2(e, OP_subtract, s->size, one, one->type);
    at = expand_2(e, OP_subtract, at, index, one->type);
  }
  value **in = ARENA_ARRAY(e->a, value *, s->inputs + 1);
  if (!slice_inputs(e, s, at, in)) return false;
  const block *body = op_body(s->o, 0);
  if (body->num_args != s->inputs + s->inits || !body->last ||
      body->last->num_operands != s->outputs + s->inits)
    return false;
  ir_map *map = ir_map_create(e->a);
  for (size_t i = 0; i < s->inputs; i++) ir_map_set(map, body->args[i], in[i]);
  for (size_t i = 0; i < s->inits; i++) ir_map_set(map, body->args[s->inputs + i], b->args[1 + i]);
  for (op *i = body->first; i != body->last; i = i->next)
    op_insert(op_clone(e->m, i, map), b, NULL);
  size_t n = 1 + s->inits + s->outputs;
  value **next = ARENA_ARRAY(e->a, value *, n);
  for (size_t i = 0; i < s->inits; i++)
    next[1 + i] = ir_map_get(map, op_operand(body->last, s->outputs + i));
  for (size_t i = 0; i < s->outputs; i++)
    next[1 + s->inits + i] =
        store(e, s, b->args[1 + s->inits + i], ir_map_get(map, op_operand(body->last, i)), at);
  value *one = scalar_i64(e, 1);
  next[0] = expand_2(e, OP_add, index, one, one->type);
  expand_op(e, OP_return, next, n, NULL, 0);
  return true;
}

/* The index, the carried values, and outputs full of zeros. */
static bool initial_values(expander *e, const scan *s, value **out) {
  out[0] = scalar_i64(e, 0);
  for (size_t i = 0; i < s->inits; i++) out[1 + i] = op_operand(s->o, s->inputs + i);
  for (size_t i = 0; i < s->outputs; i++) {
    const type *t = s->o->results[i].type;
    if (!type_is_static(t)) return false;
    value *z = expand_constant(e, expand_tensor(e, NULL, 0, type_element(t)), number_int(0));
    if (!z) return false;
    out[1 + s->inits + i] = expand_broadcast(e, OP_broadcast_in_dim, z, NULL, t, 0);
  }
  return true;
}

/* Results are outputs, then carries; operands are inputs, then initial carries. */
static bool read_scan(op *o, scan *s) {
  struct chlo_scan_attrs v;
  size_t begin;
  if (!view_chlo_scan(o, &v) || !op_operand_group(o, 0, &begin, &s->inputs)) return false;
  s->o = o;
  s->dim = v.dimension;
  s->inits = o->num_operands - s->inputs;
  if (s->inits > o->num_results || !s->inputs) return false;
  s->outputs = o->num_results - s->inits;
  s->reverse = v.is_reverse;
  return true;
}

/* Slices of a dimension of size 0 would be none. */
static bool expand_no_steps(expander *e, const scan *s, value **out) {
  value **init = ARENA_ARRAY(e->a, value *, 1 + s->inits + s->outputs);
  if (!initial_values(e, s, init)) return false;
  for (size_t i = 0; i < s->outputs; i++) out[i] = init[1 + s->inits + i];
  for (size_t i = 0; i < s->inits; i++) out[s->outputs + i] = init[1 + i];
  return true;
}

bool chlo_expand_scan(expander *e, op *o, value **out) {
  enum { LT = 5 };
  scan s = {0};
  if (!read_scan(o, &s)) return false;
  const type *t = op_operand(o, 0)->type;
  if (s.dim < (i64)t->dims.len && t->dims.data[s.dim] == 0) return expand_no_steps(e, &s, out);
  s.size = expand_1(e, OP_get_dimension_size, op_operand(o, 0),
                    expand_tensor(e, NULL, 0, type_i32(e->c)));
  op_set(s.size->def.op, get_dimension_size, dimension, attr_i64(e->c, s.dim));
  s.size = expand_1(e, OP_convert, s.size, expand_tensor(e, NULL, 0, type_i64(e->c)));
  size_t n = 1 + s.inits + s.outputs;
  value **init = ARENA_ARRAY(e->a, value *, n);
  if (!initial_values(e, &s, init)) return false;
  const type **types = ARENA_ARRAY(e->a, const type *, n);
  for (size_t i = 0; i < n; i++) types[i] = init[i]->type;
  op *loop = expand_op(e, OP_while, init, n, types, n);
  for (int k = 0; k < 2; k++) {
    block *b = block_create(e->m);
    region_append(&loop->regions[k], b);
    for (size_t i = 0; i < n; i++) block_add_arg(e->m, b, types[i]);
    expander inner = expander_in(e, b);
    if (k == 1) {
      if (!fill_body(&inner, &s, b)) return false;
      continue;
    }
    value *go = expand_compare(&inner, LT, b->args[0], s.size);
    expand_op(&inner, OP_return, &go, 1, NULL, 0);
  }
  for (size_t i = 0; i < s.outputs; i++) out[i] = op_result(loop, 1 + s.inits + i);
  for (size_t i = 0; i < s.inits; i++) out[s.outputs + i] = op_result(loop, 1 + i);
  return true;
}
