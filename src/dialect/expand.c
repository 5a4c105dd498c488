/* The driver of decompositions, and how they make ops.
 *
 * expand_all is called by the passes that legalize chlo, deprecated ops and composites, and by the
 * compiler for complex functions. It is MLIR's dialect conversion without types to convert: forward
 * over each block, ops replaced where they stand, and what they became looked at again, since
 * decompositions use each other (chlo.tan gives chlo ops that are decomposed in turn). That it ends
 * relies on decompositions getting nearer to StableHLO.
 *
 * Ops are made through an `expander`, which says where, so that functions for ops read like the
 * formulas they stand for. They keep the location of the op they replace. */
#include "dialect/expand.h"

#include <math.h>

#include "dialect/dialect.h"
#include "num/convert.h"

/* ---- the driver ---- */

typedef struct driver {
  ir_module *m;
  arena *a;
  expand_lookup *lookup;
  void *user;
} driver;

static bool expand_block(const driver *d, block *b);

/* The words are those of MLIR's conversion, which the peers' users see; a function that has said
 * why has said enough. */
static bool expand_one(const driver *d, op *o, expand_fn *fn) {
  expander e = expander_before(d->m, d->a, o);
  value **out = ARENA_ARRAY(d->a, value *, o->num_results + 1u);
  size_t said = ir_sink(d->m->ctx)->errors;
  if (!fn(&e, o, out))
    return ir_sink(d->m->ctx)->errors == said && loc_error(d->m->ctx, o->loc,
                                                           "failed to legalize operation '" STR_FMT
                                                           "' that was explicitly marked illegal",
                                                           STR_ARG(o->info->name));
  for (u32 i = 0; i < o->num_results; i++) value_replace(op_result(o, i), out[i]);
  op_erase(o);
  return true;
}

/* What an op became is looked at again: the walk goes on after the op that stood before it. Regions
 * are entered only of ops that stay. */
static bool expand_block(const driver *d, block *b) {
  for (op *o = b->first, *next; o; o = next) {
    op *prev = o->prev;
    expand_fn *fn = d->lookup(d->user, o);
    if (fn) {
      if (!expand_one(d, o, fn)) return false;
      next = prev ? prev->next : b->first;
      continue;
    }
    for (u32 k = 0; k < o->num_regions; k++)
      for (block *in = o->regions[k].first; in; in = in->next)
        if (!expand_block(d, in)) return false;
    next = o->next;
  }
  return true;
}

bool expand_all(ir_module *m, arena *a, op *root, expand_lookup *lookup, void *user) {
  driver d = {m, a, lookup, user};
  for (u32 k = 0; k < root->num_regions; k++)
    for (block *b = root->regions[k].first; b; b = b->next)
      if (!expand_block(&d, b)) return false;
  return true;
}

expander expander_before(ir_module *m, arena *a, op *o) {
  return (expander){.m = m, .c = m->ctx, .a = a, .block = o->parent, .at = o, .loc = o->loc};
}

expander expander_in(const expander *e, block *b) {
  expander n = *e;
  n.block = b;
  n.at = NULL;
  return n;
}

/* ---- ops ---- */

op *expand_op(expander *e, op_id id, value *const *in, size_t n, const type *const *out,
              size_t num_out) {
  const op_info *info = &op_infos[id];
  size_t regions = info->num_regions == ANY_REGIONS ? 0 : info->num_regions;
  op *o = op_create(e->m, info, e->loc, in, n, out, num_out, regions);
  op_insert(o, e->block, e->at);
  return o;
}

value *expand_1(expander *e, op_id id, value *x, const type *t) {
  return op_result(expand_op(e, id, &x, 1, &t, 1), 0);
}
static bool keeps_order(const op *o) {
  struct broadcast_in_dim_attrs a;
  if (op_is(o, reshape)) return true;
  if (!op_is(o, broadcast_in_dim) || !view_broadcast_in_dim(o, &a)) return false;
  for (size_t d = 1; d < a.broadcast_dimensions.len; d++)
    if (a.broadcast_dimensions.data[d] < a.broadcast_dimensions.data[d - 1]) return false;
  return true;
}
value *expand_reshaped(expander *e, value *x, const type *t) {
  const op *o = value_op(x);
  if (o && keeps_order(o) && op_operand(o, 0)->type == t) return op_operand(o, 0);
  return expand_1(e, OP_reshape, x, t);
}

value *expand_2(expander *e, op_id id, value *x, value *y, const type *t) {
  return op_result(expand_op(e, id, (value *[]){x, y}, 2, &t, 1), 0);
}

value *expand_select(expander *e, value *pred, value *x, value *y) {
  return op_result(expand_op(e, OP_select, (value *[]){pred, x, y}, 3, &x->type, 1), 0);
}

const type *expand_with_elem(ir_ctx *c, const type *t, const type *elem) {
  return t->kind == TYPE_UNRANKED ? type_unranked(c, elem)
                                  : type_tensor(c, t->dims, elem, t->encoding);
}

const type *expand_tensor(expander *e, const i64 *dims, size_t rank, const type *elem) {
  return type_tensor(e->c, (i64s){dims, rank}, elem, NULL);
}

value *expand_compare(expander *e, i64 direction, value *x, value *y) {
  value *v = expand_2(e, OP_compare, x, y, expand_with_elem(e->c, x->type, type_i1(e->c)));
  op_set(v->def.op, compare, comparison_direction,
         attr_enum(e->c, ATTR_comparison_direction, direction));
  return v;
}

value *expand_broadcast(expander *e, op_id id, value *x, value *shape, const type *t, i64 begin) {
  size_t rank = x->type->dims.len;
  i64 *dims = ARENA_ARRAY(e->a, i64, rank + 1);
  for (size_t i = 0; i < rank; i++) dims[i] = begin + (i64)i;
  value *v = shape ? expand_2(e, id, x, shape, t) : expand_1(e, id, x, t);
  op_set_any(v->def.op, broadcast_dimensions, attr_i64_array(e->c, (i64s){dims, rank}));
  return v;
}

value *expand_iota(expander *e, const type *t, i64 d) {
  value *v = op_result(expand_op(e, OP_iota, NULL, 0, &t, 1), 0);
  op_set(v->def.op, iota, iota_dimension, attr_i64(e->c, d));
  return v;
}

value *expand_sum(expander *e, value *x, const i64 *dims, size_t n) {
  const type *t = x->type, *scalar = expand_tensor(e, NULL, 0, type_element(t));
  i64 *left = ARENA_ARRAY(e->a, i64, t->dims.len + 1);
  size_t rank = 0;
  for (size_t d = 0; d < t->dims.len; d++)
    if (!i64s_contain((i64s){dims, n}, (i64)d)) left[rank++] = t->dims.data[d];
  value *in[] = {x, expand_constant(e, scalar, number_int(0))};
  const type *out = expand_tensor(e, left, rank, type_element(t));
  op *sum = expand_op(e, OP_reduce, in, 2, &out, 1);
  op_set(sum, reduce, dimensions, attr_i64_array(e->c, (i64s){dims, n}));
  expand_adder(e, &sum->regions[0], scalar);
  return op_result(sum, 0);
}

op *expand_called(const expander *e, const op *call) {
  struct custom_call_attrs a;
  if (!view_custom_call(call, &a) || a.called_computations.len != 1) return NULL;
  op *f = symbol_find(e->m->root, symbol_of(a.called_computations.data[0]));
  return f && op_is(f, func) && op_body(f, 0) && !op_body(f, 0)->next ? f : NULL;
}

void expand_copy_body(const expander *e, op *func, block *to) {
  const block *from = op_body(func, 0);
  u32 n = from->last->num_operands;
  value **last = ARENA_ARRAY(e->a, value *, n + 1);
  ir_map *map = ir_map_create(e->a);
  for (u32 i = 0; i < from->num_args; i++) ir_map_set(map, from->args[i], to->args[i]);
  for (const op *k = from->first; k != from->last; k = k->next)
    op_insert(op_clone(e->m, k, map), to, NULL);
  for (u32 i = 0; i < n; i++) last[i] = ir_map_get(map, op_operand(from->last, i));
  expander inside = expander_in(e, to);
  expand_op(&inside, OP_return, last, n, NULL, 0);
}

void expand_adder(expander *e, region *r, const type *scalar) {
  block *b = block_create(e->m);
  region_append(r, b);
  value *x = block_add_arg(e->m, b, scalar), *y = block_add_arg(e->m, b, scalar);
  expander inner = expander_in(e, b);
  value *v = expand_2(&inner, OP_add, x, y, scalar);
  expand_op(&inner, OP_return, &v, 1, NULL, 0);
}

/* ---- constants ---- */

number number_int(i64 i) { return (number){.i = i, .is_int = true}; }
number number_float(double f) { return (number){.f = f, .f32 = (float)f}; }

/* By name, as the two enums share no numbers: "ui8", "f8E4M3FN". */
static bool dtype_of(const type *t, dtype *out) {
  char name[16] = "";
  size_t n = 0;
  if (t->kind == TYPE_FLOAT) return dtype_from_name(str_of(float_names[t->flt]), out);
  if (t->kind != TYPE_INT || t->width > 64) return false;
  if (t->sign == UNSIGNED) name[n++] = 'u';
  name[n++] = 'i';
  if (t->width >= 10) name[n++] = (char)('0' + t->width / 10);
  name[n++] = (char)('0' + t->width % 10);
  return dtype_from_name((str){name, n}, out);
}

/* f32 is taken as it was read, not from the double: the decimal would be rounded twice. Integers
 * take the number itself, which beyond 2^53 a double would not hold. */
static bool write_number(const type *t, number n, char *out) {
  dtype d;
  if (!dtype_of(t, &d)) /* of other formats, zero, which has no bits */
    return t->kind == TYPE_FLOAT && !n.f && !n.i;
  bool fits = n.f > -0x1p63 && n.f < 0x1p63;
  i64 i = n.is_int ? n.i : fits ? (i64)n.f : 0;
  if (t->kind == TYPE_INT && !n.is_int && !fits) return false;
  float f32 = n.is_int ? (float)n.i : n.f32;
  if (t->kind == TYPE_INT)
    memcpy(out, &i, type_storage(t)); /* little-endian */
  else if (d == DTYPE_f32)
    memcpy(out, &f32, 4);
  else
    num_from_f64(d, n.is_int ? (double)n.i : n.f, out);
  return true;
}

const attr *expand_splat(ir_ctx *c, const type *t, number n) {
  char bytes[32] = {0};
  const type *elem = type_element(t);
  const type *part = elem->kind == TYPE_COMPLEX ? elem->elem : elem;
  if (!write_number(part, n, bytes)) return NULL;
  return attr_dense(c, type_tensor(c, t->dims, elem, NULL), (str){bytes, type_storage(elem)}, true,
                    false);
}

value *expand_constant(expander *e, const type *t, number n) {
  const attr *a = expand_splat(e->c, t, n);
  if (!a) return NULL;
  value *v = op_result(expand_op(e, OP_constant, NULL, 0, &t, 1), 0);
  op_set(v->def.op, constant, value, a);
  return v;
}

static bool read_splat(const attr *constant, double *re, double *im) {
  const dense_attr *d = attr_as(dense, constant);
  if (!d) return false;
  const type *t = type_element(d->type), *part = t->kind == TYPE_COMPLEX ? t->elem : t;
  size_t size = type_storage(part);
  dtype type;
  if (size == 0 || d->data.len != type_storage(t) || !dtype_of(part, &type)) return false;
  *re = num_to_f64(type, d->data.data);
  *im = part == t ? 0 : num_to_f64(type, d->data.data + size);
  return true;
}

bool expand_number(const attr *constant, i64 i, double *out) {
  const dense_attr *d = attr_as(dense, constant);
  const type *t = d ? type_element(d->type) : NULL;
  dtype type;
  if (!d || t->kind == TYPE_COMPLEX || !type_storage(t) || !dtype_of(t, &type)) return false;
  *out = num_to_f64(type, d->data.data + (d->splat ? 0 : (size_t)i * type_storage(t)));
  return true;
}

bool splat_is(const attr *constant, i64 n) {
  double re, im;
  return read_splat(constant, &re, &im) && re == (double)n && im == 0;
}

bool splat_is_infinite(const attr *constant) {
  double re, im;
  return read_splat(constant, &re, &im) && isinf(re) && im == 0;
}

value *expand_i64s(expander *e, const i64 *list, size_t n) {
  i64 dim = (i64)n;
  const attr *a = attr_dense_i64(e->c, (i64s){&dim, 1}, list);
  const type *t = attr_as(dense, a)->type;
  value *v = op_result(expand_op(e, OP_constant, NULL, 0, &t, 1), 0);
  op_set(v->def.op, constant, value, a);
  return v;
}

/* The bound of dimension d, or DYNAMIC. */
static i64 bound_of(const type *t, size_t d) {
  const bounds_attr *b = t->encoding ? attr_as(bounds, t->encoding) : NULL;
  return b && d < b->bounds.len ? b->bounds.data[d] : DYNAMIC;
}

bool expand_is_static_or_bounded(const type *t) {
  if (!type_is_ranked(t)) return false;
  for (size_t i = 0; i < t->dims.len; i++)
    if (t->dims.data[i] == DYNAMIC && bound_of(t, i) == DYNAMIC) return false;
  return true;
}

/* Three ways by what is known of the shape, each with as few ops as it takes: static: a constant;
 * bounded: a broadcast that sets the sizes of the dynamic dimensions; dynamic: shape_of and
 * dynamic_broadcast_in_dim, as in the peers' decomposition. */
value *expand_constant_like(expander *e, number n, value *like, const type *elem) {
  const type *t = like->type, *want = elem ? elem : type_element(t);
  if (!type_is_ranked(t)) return NULL;
  if (type_is_static(t)) return expand_constant(e, type_tensor(e->c, t->dims, want, NULL), n);
  value *k = expand_constant(e, type_tensor(e->c, (i64s){0}, want, NULL), n);
  if (!k) return NULL;
  if (expand_is_static_or_bounded(t)) {
    value *in[2] = {k, like}, *out[2]; /* like has the shape: nothing is made for it */
    return expand_numpy(e, in, 2, out) ? out[0] : NULL;
  }
  i64 rank = (i64)t->dims.len;
  value *shape =
      expand_1(e, OP_shape_of, like, type_tensor(e->c, (i64s){&rank, 1}, type_index(e->c), NULL));
  return expand_broadcast(e, OP_dynamic_broadcast_in_dim, k, shape, expand_with_elem(e->c, t, want),
                          0);
}

/* ---- NumPy's broadcasting ---- */

/* A dimension of the result: its size, or its bound and the value that knows the size. */
typedef struct extent {
  i64 size;
  value *bound_by; /* NULL: static */
  i64 dim;
} extent;

static extent extent_of(value *v, size_t d) {
  i64 n = v->type->dims.data[d];
  if (n != DYNAMIC) return (extent){.size = n};
  return (extent){.size = bound_of(v->type, d), .bound_by = v, .dim = (i64)d};
}

static const type *extents_type(expander *e, const extent *x, size_t rank, const type *elem) {
  i64 *dims = ARENA_ARRAY(e->a, i64, rank + 1), *bounds = ARENA_ARRAY(e->a, i64, rank + 1);
  bool any = false;
  for (size_t i = 0; i < rank; i++) {
    dims[i] = x[i].bound_by ? DYNAMIC : x[i].size;
    bounds[i] = x[i].bound_by ? x[i].size : DYNAMIC;
    any |= x[i].bound_by != NULL;
  }
  const attr *enc = any ? attr_make(e->c, bounds, .bounds = {bounds, rank}) : NULL;
  return type_tensor(e->c, (i64s){dims, rank}, elem, enc);
}

/* a := a broadcast with the extents of v, from the last dimension on. A bounded dimension goes with
 * one of the same bound (and is taken to have the same size), never with a static one. */
static bool join_extents(expander *e, extent *a, size_t rank, value *v) {
  size_t n = v->type->dims.len;
  for (size_t i = 1; i <= n; i++) {
    extent *x = &a[rank - i], y = extent_of(v, n - i);
    if (x->size == 1)
      *x = y;
    else if (y.size != 1 && x->size != y.size)
      return loc_error(e->c, e->loc, "incompatible shapes for broadcasting %lld and %lld",
                       (long long)x->size, (long long)y.size);
    else if (y.size != 1 && !x->bound_by != !y.bound_by)
      return loc_error(e->c, e->loc, "cannot mix bounded and static dimensions in broadcast");
  }
  return true;
}

/* broadcast_in_dim makes static dimensions only; those that are dynamic in the result but not in v
 * are broadcast to their bound, then cut to size by set_dimension_size with the size of the value
 * that has it. */
static value *broadcast_to(expander *e, value *v, const extent *to, size_t rank) {
  const type *elem = type_element(v->type), *want = extents_type(e, to, rank, elem);
  if (v->type == want) return v;
  size_t missing = rank - v->type->dims.len;
  extent *padded = arena_copy(e->a, to, rank * sizeof *to);
  for (size_t i = 0; i < rank; i++)
    if (i < missing || v->type->dims.data[i - missing] != DYNAMIC) padded[i].bound_by = NULL;
  value *b = expand_broadcast(e, OP_broadcast_in_dim, v, NULL, extents_type(e, padded, rank, elem),
                              (i64)missing);
  const type *i32 = type_tensor(e->c, (i64s){0}, type_i32(e->c), NULL);
  for (size_t i = 0; i < rank; i++) {
    if (padded[i].bound_by || !to[i].bound_by) continue;
    value *size = expand_1(e, OP_get_dimension_size, to[i].bound_by, i32);
    op_set(size->def.op, get_dimension_size, dimension, attr_i64(e->c, to[i].dim));
    padded[i] = to[i];
    b = expand_2(e, OP_set_dimension_size, b, size, extents_type(e, padded, rank, elem));
    op_set(b->def.op, set_dimension_size, dimension, attr_i64(e->c, (i64)i));
  }
  return b;
}

bool expand_numpy(expander *e, value *const *in, size_t n, value **out) {
  size_t rank = 0;
  for (size_t i = 0; i < n; i++) rank = max_size(rank, in[i]->type->dims.len);
  extent *to = ARENA_ARRAY(e->a, extent, rank + 1);
  for (size_t i = 0; i <= rank; i++) to[i] = (extent){.size = 1};
  for (size_t i = 0; i < n; i++)
    if (!join_extents(e, to, rank, in[i])) return false;
  for (size_t i = 0; i < n; i++) out[i] = broadcast_to(e, in[i], to, rank);
  return true;
}
