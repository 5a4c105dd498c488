/* Loops that carry arrays of a few components, as simulations do: points as rows of three numbers,
 * say, which each step takes apart, computes on and stacks again. Where that is what mostly happens
 * to an array, the loop carries each component by itself, so that nothing is taken apart or
 * stacked, and a whole step may become one loop over what lies side by side. */
#include "compile/components.h"

#include "base/index.h"
#include "compile/lower.h"
#include "dialect/effects.h"
#include "dialect/expand.h"

enum { MOST = 8, MOST_VALUES = 512 };

/* A value that becomes as many as it has elements along `dim`, which these have no more. */
typedef struct split {
  value *v;
  i64 dim;
  value **part;
} split;

typedef struct splitter {
  ir_module *m;
  arena *a;
  op *loop;
  block *body;
  hash_index of; /* value: its split */
  VEC(split *) all;
  i32 gain; /* what need not be taken apart or stacked, less what has to be */
  bool fails;
} splitter;

/* ---- which values ---- */

static i64 size_of(const split *x) { return x->v->type->dims.data[x->dim]; }
static op *end_of(const splitter *s) { return op_terminator(s->body); }

/* The same in every trip: parts of it are read where it lies. */
static bool is_fixed(const splitter *s, const value *v) {
  if (v->is_arg) return v->def.block != s->body || op_operand(end_of(s), v->index) == v;
  return v->def.op->parent != s->body || op_is(v->def.op, constant);
}

static void add(splitter *s, value *v, i64 dim) {
  const split *known = index_get(&s->of, v);
  i64 n;
  if (is_fixed(s, v)) return;
  if (known) {
    s->fails |= known->dim != dim;
    return;
  }
  i64 size = v->type->dims.data[dim];
  s->fails |= size < 2 || size > MOST || s->all.len == MOST_VALUES ||
              !type_num_elements(v->type, &n) || n == 0;
  if (s->fails) return;
  split *x = ARENA_NEW(s->a, split);
  *x = (split){v, dim, ARENA_ARRAY(s->a, value *, (size_t)size)};
  index_set(&s->of, s->a, v, x);
  VEC_PUSH(s->a, s->all, x);
}

/* One element after the other, of operands that have its shape, or are single ones. */
static bool is_even(const op *o) {
  if (!select_is_elementwise(o) || o->num_results != 1 || o->num_regions) return false;
  i64s dims = op_result(o, 0)->type->dims;
  for (u32 i = 0; i < o->num_operands; i++) {
    const type *t = op_operand(o, i)->type;
    if (!type_is_ranked(t) || (t->dims.len && !i64s_eq(t->dims, dims))) return false;
  }
  return true;
}

/* Elements from *from on along `dim`, and all along others. */
static bool takes_along(const op *o, i64 dim, i64 *from) {
  struct slice_attrs a;
  i64s dims = op_operand(o, 0)->type->dims;
  view_slice(o, &a);
  *from = a.start_indices.data[dim];
  for (size_t d = 0; d < dims.len; d++)
    if (a.strides.data[d] != 1 ||
        ((i64)d != dim && op_result(o, 0)->type->dims.data[d] != dims.data[d]))
      return false;
  return true;
}

static i64 find_dim(i64s list, i64 dim) {
  for (size_t d = 0; d < list.len; d++)
    if (list.data[d] == dim) return (i64)d;
  return -1;
}

typedef enum how { APART, TAKEN, SUMMED, CARRIED, WHOLE } how;

/* ---- by op: how its result splits where an operand does, and the other way round ---- */

/* dim: of an operand; the result's where it is split, too (APART). */
typedef how use_fn(const op *o, i64 *dim);
/* dim: of the result; the operand's, or -1 where that is the same for all parts. False: it stays
 * whole. */
typedef bool make_fn(const op *o, u32 i, i64 *dim);
typedef value *part_fn(const splitter *s, expander *e, const split *x, const op *o, i64 k);
typedef struct rule {
  use_fn *use;
  make_fn *make;
  part_fn *part;
} rule;

static how use_even(const op *o, i64 *dim) {
  (void)o, (void)dim;
  return APART;
}
static bool make_even(const op *o, u32 i, i64 *dim) {
  if (!op_operand(o, i)->type->dims.len) *dim = -1;
  return true;
}

static how use_concatenate(const op *o, i64 *dim) {
  return op_result(o, 0)->type->dims.data[*dim] > MOST ? WHOLE : APART;
}
static bool make_concatenate(const op *o, u32 i, i64 *dim) {
  struct concatenate_attrs a;
  view_concatenate(o, &a);
  if (a.dimension == *dim && op_operand(o, i)->type->dims.data[*dim] == 1) *dim = -1;
  return true;
}

static how use_slice(const op *o, i64 *dim) {
  i64 from;
  if (!takes_along(o, *dim, &from)) return WHOLE;
  return op_result(o, 0)->type->dims.data[*dim] == 1 ? TAKEN : APART;
}
static bool make_slice(const op *o, u32 i, i64 *dim) {
  (void)i;
  i64 from;
  return takes_along(o, *dim, &from);
}

static how use_transpose(const op *o, i64 *dim) {
  struct transpose_attrs a;
  view_transpose(o, &a);
  *dim = find_dim(a.permutation, *dim);
  return APART;
}
static bool make_transpose(const op *o, u32 i, i64 *dim) {
  (void)i;
  struct transpose_attrs a;
  view_transpose(o, &a);
  *dim = a.permutation.data[*dim];
  return true;
}

static how use_broadcast(const op *o, i64 *dim) {
  struct broadcast_in_dim_attrs a;
  view_broadcast_in_dim(o, &a);
  *dim = a.broadcast_dimensions.data[*dim];
  return APART;
}
static bool make_broadcast(const op *o, u32 i, i64 *dim) {
  struct broadcast_in_dim_attrs a;
  view_broadcast_in_dim(o, &a);
  *dim = find_dim(a.broadcast_dimensions, *dim);
  if (*dim >= 0 && op_operand(o, i)->type->dims.data[*dim] == 1) *dim = -1;
  return true;
}

static part_fn part_even, part_concatenate, part_slice, part_transpose, part_broadcast;
static const rule even = {use_even, make_even, part_even};
static const rule rules[OP_COUNT] = {
    [OP_concatenate] = {use_concatenate, make_concatenate, part_concatenate},
    [OP_slice] = {use_slice, make_slice, part_slice},
    [OP_transpose] = {use_transpose, make_transpose, part_transpose},
    [OP_broadcast_in_dim] = {use_broadcast, make_broadcast, part_broadcast},
};

/* NULL: nothing is known of the op. */
static const rule *rule_of(const op *o) {
  if (is_even(o)) return &even;
  return op_kind(o) < OP_COUNT && rules[op_kind(o)].use ? &rules[op_kind(o)] : NULL;
}

/* ---- products ---- */

/* A product along the dim that its larger side is split along, and no other, whose other side has
 * no dims of its own: sums of products of parts, in that side's order. */
typedef struct product {
  const dot_attr *d;
  u32 large;
  i64s dim, batch[2]; /* contracted, by side; batching */
} product;

static bool find_product(const splitter *s, const op *o, product *p) {
  struct dot_general_attrs a;
  if (!op_is(o, dot_general) || !view_dot_general(o, &a)) return false;
  const dot_attr *d = a.dot_dimension_numbers;
  const type *t = op_result(o, 0)->type;
  const i64s along[] = {d->lhs_contracting_dimensions, d->rhs_contracting_dimensions};
  *p = (product){.d = d, .batch = {d->lhs_batching_dimensions, d->rhs_batching_dimensions}};
  if (along[0].len != 1 || index_get(&s->of, op_result(o, 0))) return false;
  i64 *dims = ARENA_ARRAY(s->a, i64, 2);
  for (u32 i = 0; i < 2; i++) {
    const value *v = op_operand(o, i);
    const split *x = index_get(&s->of, v);
    dims[i] = along[i].data[0];
    if (v->type->elem != t->elem || (x && x->dim != dims[i])) return false;
  }
  p->dim = (i64s){dims, 2};
  size_t batches = p->batch[0].len;
  p->large =
      op_operand(o, 0)->type->dims.len == batches + 1 &&
      (op_operand(o, 1)->type->dims.len > batches + 1 || index_get(&s->of, op_operand(o, 1)));
  dtype of;
  return lower_dtype(t->elem, &of) && (of == DTYPE_f32 || of == DTYPE_f64) &&
         index_get(&s->of, op_operand(o, p->large)) &&
         op_operand(o, !p->large)->type->dims.len == batches + 1;
}

/* ---- what follows from one split ---- */

/* How a value that is split is used; APART: the user's result is split, too, along *dim. */
static how used(const splitter *s, const split *x, const use *u, i64 *dim) {
  const op *o = u->owner;
  const rule *r = rule_of(o);
  *dim = x->dim;
  if (o->parent != s->body) return WHOLE;
  if (o == end_of(s)) return CARRIED;
  product p;
  if (find_product(s, o, &p)) return SUMMED;
  return r ? r->use(o, dim) : WHOLE;
}

/* An operand of who makes x, and along which dim it is split; -1: it is not. False: x is computed
 * whole. */
static bool made_of(const op *o, u32 i, i64 dim, i64 *out) {
  const rule *r = rule_of(o);
  *out = dim;
  return r && r->make(o, i, out);
}

static void add_maker(splitter *s, const split *x) {
  const op *o = value_op(x->v);
  i64 dim;
  if (!o) {
    add(s, op_operand(end_of(s), x->v->index), x->dim);
    return;
  }
  struct concatenate_attrs a;
  s->fails |= o->num_results != 1;
  if (op_is(o, concatenate) && view_concatenate(o, &a)) s->gain += a.dimension == x->dim;
  for (u32 i = 0; i < o->num_operands && !s->fails; i++) {
    if (!made_of(o, i, x->dim, &dim)) {
      s->gain--;
      return;
    }
    if (dim >= 0) add(s, op_operand(o, i), dim);
  }
}

static void add_users(splitter *s, const split *x) {
  bool whole = false;
  for (const use *u = x->v->uses; u && !s->fails; u = u->next) {
    i64 dim;
    how h = used(s, x, u, &dim);
    if (h == APART)
      add(s, op_result(u->owner, 0), dim);
    else if (h == CARRIED)
      add(s, s->body->args[u - u->owner->operands], dim);
    s->gain += h == TAKEN || h == SUMMED;
    whole |= h == WHOLE;
  }
  s->gain -= whole;
  if (x->v->is_arg) s->fails |= op_body(s->loop, 0)->args[x->v->index]->uses != NULL;
}

/* What is split where v is. */
static bool find_splits(splitter *s, value *v, i64 dim) {
  s->all.len = 0;
  s->of = (hash_index){0};
  s->gain = 0;
  s->fails = false;
  add(s, v, dim);
  for (size_t i = 0; i < s->all.len && !s->fails; i++) {
    add_maker(s, s->all.data[i]);
    add_users(s, s->all.data[i]);
  }
  return !s->fails && s->gain > 0;
}

/* ---- parts ---- */

static i64s without(const splitter *s, i64s dims, i64 dim) {
  i64 *out = ARENA_ARRAY(s->a, i64, dims.len + 1);
  for (size_t d = 0, k = 0; d < dims.len; d++)
    if ((i64)d != dim) out[k++] = dims.data[d];
  return (i64s){out, dims.len - 1};
}
/* The same of a list of dims, where those behind `dim` come one earlier. */
static const attr *earlier(const splitter *s, i64s list, i64 dim) {
  i64 *out = ARENA_ARRAY(s->a, i64, list.len + 1);
  size_t n = 0;
  for (size_t d = 0; d < list.len; d++)
    if (list.data[d] != dim) out[n++] = list.data[d] - (list.data[d] > dim);
  return attr_i64_array(s->m->ctx, (i64s){out, n});
}
static const type *part_type(const splitter *s, expander *e, const value *v, i64 dim) {
  i64s dims = without(s, v->type->dims, dim);
  return expand_tensor(e, dims.data, dims.len, type_element(v->type));
}

/* Of one element along `dim`: without it. */
static value *single(const splitter *s, expander *e, value *v, i64 dim) {
  return expand_reshaped(e, v, part_type(s, e, v, dim));
}

static value *cut_part(const splitter *s, expander *e, value *v, i64 dim, i64 k) {
  size_t n = v->type->dims.len;
  i64 *from = arena_zalloc(s->a, n * sizeof *from), *ones = ARENA_ARRAY(s->a, i64, n);
  i64 *to = arena_copy(s->a, v->type->dims.data, n * sizeof *to);
  i64 *dims = arena_copy(s->a, v->type->dims.data, n * sizeof *dims);
  for (size_t d = 0; d < n; d++) ones[d] = 1;
  from[dim] = k, to[dim] = k + 1, dims[dim] = 1;
  value *part = expand_1(e, OP_slice, v, expand_tensor(e, dims, n, type_element(v->type)));
  op_set(part->def.op, slice, start_indices, attr_i64_array(e->c, (i64s){from, n}));
  op_set(part->def.op, slice, limit_indices, attr_i64_array(e->c, (i64s){to, n}));
  op_set(part->def.op, slice, strides, attr_i64_array(e->c, (i64s){ones, n}));
  return single(s, e, part, dim);
}
static value *part_of(const splitter *s, expander *e, value *v, i64 dim, i64 k) {
  const split *x = index_get(&s->of, v);
  return x ? x->part[k] : cut_part(s, e, v, dim, k);
}

/* The op again, of part k of its operands. */
static value *clone_part(const splitter *s, expander *e, const split *x, const op *o, i64 k) {
  ir_map *map = ir_map_create(s->a);
  for (u32 i = 0; i < o->num_operands; i++) {
    value *in = op_operand(o, i);
    i64 dim;
    made_of(o, i, x->dim, &dim);
    if (dim >= 0) ir_map_set(map, in, part_of(s, e, in, dim, k));
  }
  op *c = op_clone(s->m, o, map);
  value *r = op_result(c, 0);
  r->type = part_type(s, e, x->v, x->dim);
  op_insert(c, e->block, e->at);
  return r;
}

static value *part_even(const splitter *s, expander *e, const split *x, const op *o, i64 k) {
  return clone_part(s, e, x, o, k);
}

static value *part_concatenate(const splitter *s, expander *e, const split *x, const op *o, i64 k) {
  struct concatenate_attrs a;
  view_concatenate(o, &a);
  if (a.dimension == x->dim) {
    u32 i = 0;
    i64 n;
    for (; k >= (n = op_operand(o, i)->type->dims.data[x->dim]); i++) k -= n;
    value *in = op_operand(o, i);
    return n == 1 ? single(s, e, in, x->dim) : part_of(s, e, in, x->dim, k);
  }
  value *r = clone_part(s, e, x, o, k);
  op_set(value_op(r), concatenate, dimension,
         attr_i64(s->m->ctx, a.dimension - (a.dimension > x->dim)));
  return r;
}

static value *part_slice(const splitter *s, expander *e, const split *x, const op *o, i64 k) {
  i64 from;
  takes_along(o, x->dim, &from);
  return part_of(s, e, op_operand(o, 0), x->dim, from + k);
}

static value *part_transpose(const splitter *s, expander *e, const split *x, const op *o, i64 k) {
  struct transpose_attrs a;
  view_transpose(o, &a);
  i64 dim = a.permutation.data[x->dim];
  if (x->v->type->dims.len < 3) return part_of(s, e, op_operand(o, 0), dim, k);
  value *r = clone_part(s, e, x, o, k);
  op_set(value_op(r), transpose, permutation, earlier(s, a.permutation, dim));
  return r;
}

static value *part_broadcast(const splitter *s, expander *e, const split *x, const op *o, i64 k) {
  struct broadcast_in_dim_attrs a;
  view_broadcast_in_dim(o, &a);
  i64 d = find_dim(a.broadcast_dimensions, x->dim);
  value *in = op_operand(o, 0), *same = NULL; /* for all parts */
  if (d >= 0 && in->type->dims.data[d] == 1) same = single(s, e, in, d);
  value *r = clone_part(s, e, x, o, k);
  if (same) op_set_operand(value_op(r), 0, same);
  op_set(value_op(r), broadcast_in_dim, broadcast_dimensions,
         earlier(s, a.broadcast_dimensions, x->dim));
  return r;
}

/* False: it stays whole, and so does what uses it whole. */
static bool make_parts(const splitter *s, const split *x) {
  op *o = value_op(x->v);
  expander e = expander_before(s->m, s->a, o);
  i64 dim;
  bool known = o->num_operands && made_of(o, 0, x->dim, &dim);
  if (!known) e.at = o->next;
  for (i64 k = 0; k < size_of(x); k++)
    x->part[k] = known ? rule_of(o)->part(s, &e, x, o, k) : cut_part(s, &e, x->v, x->dim, k);
  return known;
}

/* ---- whole again ---- */

static value *stack(const splitter *s, expander *e, const type *t, i64 dim, value *const *part) {
  i64 n = t->dims.data[dim];
  value **one = ARENA_ARRAY(s->a, value *, (size_t)n);
  i64 *dims = arena_copy(s->a, t->dims.data, t->dims.len * sizeof *dims);
  dims[dim] = 1;
  const type *of_one = expand_tensor(e, dims, t->dims.len, type_element(t));
  for (i64 k = 0; k < n; k++) one[k] = expand_1(e, OP_reshape, part[k], of_one);
  op *o = expand_op(e, OP_concatenate, one, (size_t)n, &t, 1);
  op_set(o, concatenate, dimension, attr_i64(e->c, dim));
  return op_result(o, 0);
}

/* A slice of one component is that one; who reshapes it to just that need not. */
static void take(const splitter *s, const split *x, op *o) {
  i64 k;
  takes_along(o, x->dim, &k);
  value *part = x->part[k];
  for (use *u = op_result(o, 0)->uses, *next; u; u = next) {
    next = u->next;
    value *same = u->owner->num_results == 1 ? op_result(u->owner, 0) : NULL;
    if (op_is(u->owner, reshape) && same->type == part->type) value_replace(same, part);
  }
  expander e = expander_before(s->m, s->a, o);
  value_replace(op_result(o, 0), expand_1(&e, OP_reshape, part, op_result(o, 0)->type));
}

/* Users that want all of x get it in front of `at`; what takes parts gets these. */
static void serve(const splitter *s, const split *x, op *at) {
  VEC(use *) whole = {0};
  VEC(op *) taken = {0};
  i64 dim;
  for (use *u = x->v->uses; u; u = u->next) {
    how h = used(s, x, u, &dim);
    if (h == WHOLE) VEC_PUSH(s->a, whole, u);
    if (h == TAKEN) VEC_PUSH(s->a, taken, u->owner);
  }
  for (size_t i = 0; i < taken.len; i++) take(s, x, taken.data[i]);
  if (!whole.len) return;
  expander e = {s->m, s->m->ctx, s->a, s->body, at, s->loop->loc};
  value *all = stack(s, &e, x->v->type, x->dim, x->part);
  for (size_t i = 0; i < whole.len; i++) {
    op *o = whole.data[i]->owner;
    op_set_operand(o, (size_t)(whole.data[i] - o->operands), all);
  }
}

/* Dims of the larger side, but the one that is split, to the result's dims. */
static void order_of(const op *o, const product *p, i64 *to) {
  i64s batch = p->batch[p->large];
  i64 next = (i64)batch.len;
  size_t n = op_operand(o, p->large)->type->dims.len;
  for (size_t d = 0, k = 0; d < n; d++) {
    i64 b = find_dim(batch, (i64)d);
    if ((i64)d != p->dim.data[p->large]) to[k++] = b >= 0 ? b : next++;
  }
}

/* A part of the smaller side, for each element of the larger side's. */
static value *spread(const splitter *s, expander *e, const product *p, value *part, const type *t,
                     const i64 *order) {
  i64s batch = p->batch[!p->large];
  i64 *to = ARENA_ARRAY(s->a, i64, batch.len + 1), dim = p->dim.data[!p->large];
  bool same = batch.len == t->dims.len;
  for (size_t b = 0; b < batch.len; b++) {
    i64 from = batch.data[b] - (batch.data[b] > dim), at = 0;
    while (order[at] != (i64)b) at++;
    to[from] = at;
    same &= from == at;
  }
  if (same) return part;
  value *r = expand_1(e, OP_broadcast_in_dim, part, t);
  op_set(r->def.op, broadcast_in_dim, broadcast_dimensions,
         attr_i64_array(e->c, (i64s){to, batch.len}));
  return r;
}

/* Sums begin at 0 (docs/semantics.md). */
static void sum_up(const splitter *s, op *o, const product *p) {
  expander e = expander_before(s->m, s->a, o);
  value *side[2] = {op_operand(o, 0), op_operand(o, 1)}, *part[2];
  i64s dims = side[p->large]->type->dims;
  const type *t = part_type(s, &e, side[p->large], p->dim.data[p->large]);
  i64 *order = ARENA_ARRAY(s->a, i64, dims.len), *back = ARENA_ARRAY(s->a, i64, dims.len);
  bool same = true;
  order_of(o, p, order);
  for (size_t d = 0; d < t->dims.len; d++) back[order[d]] = (i64)d, same &= order[d] == (i64)d;
  value *sum = expand_constant(&e, t, number_float(0));
  for (i64 k = 0; k < dims.data[p->dim.data[p->large]]; k++) {
    for (u32 i = 0; i < 2; i++) part[i] = part_of(s, &e, side[i], p->dim.data[i], k);
    part[!p->large] = spread(s, &e, p, part[!p->large], t, order);
    sum = expand_2(&e, OP_add, sum, expand_2(&e, OP_multiply, part[0], part[1], t), t);
  }
  if (!same) {
    sum = expand_1(&e, OP_transpose, sum, op_result(o, 0)->type);
    op_set(sum->def.op, transpose, permutation, attr_i64_array(e.c, (i64s){back, t->dims.len}));
  }
  value_replace(op_result(o, 0), sum);
  op_erase(o);
}

/* ---- the loop ---- */

static void split_body(const splitter *s) {
  op *first = s->body->first;
  for (u32 i = 0, n = s->body->num_args; i < n; i++) {
    const split *x = index_get(&s->of, s->body->args[i]);
    if (!x) continue;
    expander e = expander_before(s->m, s->a, first);
    for (i64 k = 0; k < size_of(x); k++) {
      const type *t = part_type(s, &e, x->v, x->dim);
      x->part[k] = block_add_arg(s->m, s->body, t);
      block_add_arg(s->m, op_body(s->loop, 0), t);
    }
    serve(s, x, first);
  }
  for (op *o = first, *next; o != end_of(s); o = next) {
    next = o->next;
    const split *x = o->num_results == 1 ? index_get(&s->of, op_result(o, 0)) : NULL;
    product p;
    if (find_product(s, o, &p)) sum_up(s, o, &p);
    if (!x) continue;
    if (make_parts(s, x)) serve(s, x, next);
  }
}

typedef VEC(value *) value_list;
/* Operands of the loop, or of the end of its body, with parts behind those that stay. */
static value_list with_parts(const splitter *s, op *o, op *at) {
  value_list out = {0};
  expander e = expander_before(s->m, s->a, at);
  for (u32 parts = 0; parts < 2; parts++)
    for (u32 i = 0; i < o->num_operands; i++) {
      const split *x = index_get(&s->of, s->body->args[i]);
      value *v = op_operand(o, i);
      if (!x && !parts) VEC_PUSH(s->a, out, v);
      for (i64 k = 0; x && parts && k < size_of(x); k++)
        VEC_PUSH(s->a, out, part_of(s, &e, v, x->dim, k));
    }
  return out;
}

static op *split_loop(const splitter *s) {
  op *o = s->loop, *end = end_of(s);
  value_list in = with_parts(s, o, o);
  split_body(s);
  value_list out = with_parts(s, end, end);
  const type **types = ARENA_ARRAY(s->a, const type *, in.len + 1);
  for (size_t i = 0; i < in.len; i++) types[i] = in.data[i]->type;
  op *n = op_create(s->m, o->info, o->loc, in.data, in.len, types, in.len, o->num_regions);
  for (u32 i = 0; i < o->num_attrs; i++)
    op_set_attr(s->m, n, ((const string_attr *)o->attrs[i].name)->value, o->attrs[i].value);
  op_insert(n, o->parent, o);
  expander e = expander_before(s->m, s->a, o);
  u32 stays = 0, at = 0;
  for (u32 i = 0; i < o->num_results; i++) stays += !index_get(&s->of, s->body->args[i]);
  for (u32 i = 0, part = stays; i < o->num_results; i++) {
    const split *x = index_get(&s->of, s->body->args[i]);
    value *r = op_result(n, x ? part : at++);
    if (x) {
      value **all = ARENA_ARRAY(s->a, value *, (size_t)size_of(x));
      for (i64 k = 0; k < size_of(x); k++) all[k] = op_result(n, part++);
      r = stack(s, &e, x->v->type, x->dim, all);
    }
    value_replace(op_result(o, i), r);
  }
  op_set_operands(s->m, end, out.data, out.len);
  ops_erase_dead(o, DEAD_WITHOUT_EFFECTS);
  for (u32 i = o->num_results; i-- > 0;)
    if (index_get(&s->of, s->body->args[i])) {
      block_erase_arg(s->body, i);
      block_erase_arg(op_body(o, 0), i);
    }
  for (u32 r = 0; r < o->num_regions; r++)
    for (block *b; (b = o->regions[r].first);) {
      block_unlink(b);
      region_append(&n->regions[r], b);
    }
  op_erase(o);
  return n;
}

static bool find_carried(splitter *s) {
  for (u32 i = 0; i < s->body->num_args; i++) {
    value *v = s->body->args[i];
    if (!type_is_ranked(v->type) || is_fixed(s, v)) continue;
    for (size_t d = v->type->dims.len; d-- > 0;)
      if (find_splits(s, v, (i64)d)) return true;
  }
  return false;
}

/* What is stacked for a product. */
static bool find_stacked(splitter *s) {
  for (op *o = s->body->first; o; o = o->next) {
    struct concatenate_attrs a;
    if (!op_is(o, concatenate) || !view_concatenate(o, &a)) continue;
    value *v = op_result(o, 0);
    bool wanted = v->type->dims.data[a.dimension] == o->num_operands;
    for (const use *u = v->uses; u && wanted; u = u->next) {
      if (!op_is(u->owner, dot_general) && !op_is(u->owner, slice)) continue;
      if (find_splits(s, v, a.dimension)) return true;
      break;
    }
  }
  return false;
}

void components_split(ir_module *m, arena *scratch, op *root) {
  op_list loops = {0};
  ops_of_kind(scratch, root, OP_while, &loops);
  for (size_t i = 0; i < loops.len; i++) {
    splitter s = {.m = m, .a = scratch, .loop = loops.data[i]};
    s.body = op_body(s.loop, 1);
    while (find_carried(&s) || find_stacked(&s)) s.loop = split_loop(&s);
  }
}
