/* terrazzo-reduce-in-parts: what combines along a sharded dimension in ways that all-reduce cannot.
 *
 * A dimension that is cut into k shards is two dimensions, [k, rest], of which the first is cut:
 * what works along `rest` needs nothing from elsewhere, and leaves little of each shard, of which
 * all devices get all. So an argmax sends pairs, a running sum the totals of its shards, and the
 * greatest of all are among the greatest of each shard:
 *
 *   reduce(x) = reduce over k of (reduce over rest of x)
 *   running(x) = combine(running over k, shifted by one, of totals; running over rest of x)
 *   sort: columns.c; fft: fft_dims.c
 *
 * A reshape of a dimension with others, as 100x512 to 400x128, has shards where they are of whole
 * rows of both: padded to 104x512 and 416x128 there are eight, and neighbours pass on the few rows
 * by which 52 are more than 50.
 *
 * Where k does not divide the dimension, it is padded first with what changes nothing, each shard
 * in its place.
 *
 * Runs on whole types, in front of sdy-insert-explicit-reshards, which does as the shardings say.
 */
#include "dialect/expand.h"
#include "partition/columns.h"
#include "partition/fft_dims.h"
#include "partition/passes.h"
#include "partition/place.h"
#include "partition/record.h"
#include "shard/traits.h"

/* Dimensions of a tensor that become two. */
typedef struct parts {
  const part_env *e;
  const sharding *s; /* of the whole */
  i64s whole;        /* padded by pad_up so that they divide */
  bool *split;
} parts;

static i64 count_of(const parts *p, u32 d) { return sharding_dim_size(p->s, d); }

/* s without sums; NULL: nothing of that rank is cut. */
static bool parts_of(const part_env *e, const value *v, parts *p) {
  const sharding *s = part_sharding(e, v);
  if (!s || !type_is_ranked(v->type) || s->rank != v->type->dims.len || s->unreduced.len)
    return false;
  *p = (parts){e, s, v->type->dims, arena_zalloc(e->a, s->rank)};
  return true;
}

/* Shards of one element gain nothing. */
static bool may_split(const parts *p, u32 d) {
  i64 n = count_of(p, d);
  return n > 1 && p->whole.data[d] > n;
}

static i64 shard_of(const parts *p, u32 d) {
  return div_ceil_i64(p->whole.data[d], count_of(p, d));
}

static void pad_up(parts *p) {
  i64 *dims = arena_copy(p->e->a, p->whole.data, p->whole.len * sizeof *dims);
  for (u32 d = 0; d < p->s->rank; d++)
    if (p->split[d]) dims[d] = shard_of(p, d) * count_of(p, d);
  p->whole.data = dims;
}

/* Another dimension can be cut instead. */
static bool may_move(const parts *p, u32 dim) {
  bool can = false;
  for (u32 d = 0; d < p->s->rank; d++)
    can |= d != dim && p->whole.data[d] % (count_of(p, dim) * count_of(p, d)) == 0;
  return can;
}

typedef enum kept { KEPT_BOTH, KEPT_FIRST, KEPT_ONE } kept; /* of two: [k, rest], [k], [k, 1] */

/* Shape and sharding with split dimensions as two; without those that are dropped. */
typedef struct form {
  i64 *dims;
  axis_list *axes;
  u32 rank;
} form;

static void push(form *f, i64 size, axis_list axes) {
  f->dims[f->rank] = size;
  f->axes[f->rank++] = axes;
}

static form form_of(const parts *p, kept kept, i64s dropped) {
  arena *a = p->e->a;
  form f = {ARENA_ARRAY(a, i64, 2 * p->s->rank), ARENA_ARRAY(a, axis_list, 2 * p->s->rank), 0};
  for (u32 d = 0; d < p->s->rank; d++) {
    i64 n = p->split[d] ? count_of(p, d) : 1;
    if (p->split[d]) push(&f, n, p->s->dims[d].axes);
    if (p->split[d] && kept == KEPT_FIRST) continue;
    if (p->split[d])
      push(&f, kept == KEPT_ONE ? 1 : p->whole.data[d] / n, (axis_list){0});
    else if (!i64s_contain(dropped, d))
      push(&f, p->whole.data[d], p->s->dims[d].axes);
  }
  return f;
}

static const sharding *sharding_of(const parts *p, const form *f) {
  return sharding_make_closed(p->e->a, p->s->mesh, f->axes, f->rank);
}

/* Result i takes this form. */
static value *shape(const parts *p, op *o, u32 i, const form *f) {
  value *v = op_result(o, i);
  v->type = type_with_dims(p->e->c, v->type, (i64s){f->dims, f->rank});
  part_set_sharding(p->e, o, i, sharding_of(p, f));
  return v;
}

static value *reshape(const parts *p, cursor *at, value *v, const form *f) {
  v = emit_reshape(at, v, (i64s){f->dims, f->rank});
  return shape(p, v->def.op, 0, f);
}

/* v with `fill` behind its elements, or without what is behind them. */
static value *resized(const parts *p, cursor *at, value *v, value *fill, i64s dims) {
  const part_env *e = p->e;
  i64 *none = arena_zalloc(e->a, dims.len * sizeof *none);
  i64 *more = ARENA_ARRAY(e->a, i64, dims.len);
  if (i64s_eq(v->type->dims, dims)) return v;
  for (size_t d = 0; d < dims.len; d++) more[d] = dims.data[d] - v->type->dims.data[d];
  v = fill ? emit_pad(at, v, fill, none, more, NULL) : emit_slice(at, v, none, dims.data);
  part_set_sharding(e, v->def.op, 0, p->s);
  return v;
}

static value *reshape_padded(const parts *p, cursor *at, value *v, value *fill, const form *f) {
  return reshape(p, at, resized(p, at, v, fill, p->whole), f);
}

static op *clone(cursor *at, op *o) {
  op *c = op_clone(at->env->m, o, NULL);
  op_insert(c, at->b, at->before);
  op_set_attr(at->env->m, c, SDY_SHARDING, NULL);
  return c;
}

/* ---- reductions ---- */

/* One of the two elements, so that an initial value may come in once more. */
static bool selects(const block *b, u32 i, u32 n) {
  const op *ret = op_terminator(b),
           *o = ret && i < ret->num_operands ? value_op(op_operand(ret, i)) : NULL;
  if (!o || !op_is(o, select) || b->num_args != 2 * n) return false;
  const value *x = op_operand(o, 1), *y = op_operand(o, 2);
  return (x == b->args[i] && y == b->args[n + i]) || (y == b->args[i] && x == b->args[n + i]);
}

/* Whether an initial value may come in once more; *apart: and pairs have nothing to do with each
 * other. */
static bool starts_again(const op *o, bool *apart) {
  u32 n = o->num_results;
  const block *b = op_body(o, 0);
  unreduced_kind kind;
  *apart = true;
  for (u32 i = 0; i < n; i++) {
    bool known = part_body_kind(b, i, n, &kind);
    *apart &= known;
    if (!(known ? part_starts_neutral(op_operand(o, n + i), kind) : selects(b, i, n))) return false;
  }
  return true;
}

/* What starts them may be of a wider type than they are. */
static bool starts_alike(const op *o) {
  u32 n = o->num_results;
  for (u32 i = 0; i < n; i++)
    if (!part_same_element(op_operand(o, i), op_operand(o, n + i))) return false;
  return true;
}

static bool is_input_before(const op *o, u32 i) {
  for (u32 k = 0; k < i; k++)
    if (op_operand(o, k) == op_operand(o, i)) return true;
  return false;
}

/* Results, so many times, are less than so many elements of the inputs, but for those that each
 * device makes for itself. */
static bool is_less(const op *o, i64 times, i64 elements) {
  i64 inputs = 0, results = 0;
  for (u32 i = 0; i < o->num_results; i++) {
    i64 width = (i64)type_storage(type_element(op_result(o, i)->type));
    results += width * times;
    if (!is_made_again(value_op(op_operand(o, i))) && !is_input_before(o, i)) inputs += width;
  }
  return !checked_mul(inputs, elements, &inputs) || results < inputs;
}

/* The first input that is cut along what is reduced says how all are. */
static bool find_reduced(const part_env *e, const op *o, i64s dims, bool apart, parts *p) {
  for (u32 i = 0; i < o->num_results; i++) {
    i64 count = 1, elements = 1;
    if (!parts_of(e, op_operand(o, i), p)) continue;
    for (size_t k = 0; k < dims.len; k++) {
      u32 d = (u32)dims.data[k];
      p->split[d] = may_split(p, d);
      i64 n = p->split[d] ? count_of(p, d) : 1;
      count *= n;
      elements *= div_ceil_i64(p->whole.data[d], n);
    }
    if (count > 1) return apart ? is_less(o, 2, elements * count) : is_less(o, 1, elements);
  }
  return false;
}

/* Each pair by itself: then all-reduces combine them. */
static void take_apart(const part_env *e, op *o) {
  cursor at = cursor_before(e, o);
  u32 n = o->num_results;
  for (u32 i = 0; i < n; i++) {
    unreduced_kind kind = UNREDUCED_SUM;
    part_body_kind(op_body(o, 0), i, n, &kind);
    value *v = op_result(o, i), *in[] = {op_operand(o, i), op_operand(o, n + i)};
    op *r = emit_op(&at, OP_reduce, in, 2, &v->type, 1, 1);
    op_set(r, reduce, dimensions, op_attr(o, SLOT_NAME(dimensions)));
    emit_reducer(&at, r, reducer_of(kind), type_element(v->type));
    const sharding *s = part_sharding(e, v);
    if (s) part_set_sharding(e, r, 0, s);
    value_replace(v, op_result(r, 0));
  }
  op_erase(o);
}

/* The op itself is left with the reduction of the parts. */
static void split_reduce(const part_env *e, op *o) {
  struct reduce_attrs v;
  unreduced_kind kind;
  bool apart;
  parts p;
  if (!view_reduce(o, &v) || o->num_operands != 2 * o->num_results) return;
  if (combines_as_body(o, &kind) || !starts_again(o, &apart) ||
      !find_reduced(e, o, v.dimensions, apart, &p))
    return;
  if (apart) {
    take_apart(e, o);
    return;
  }
  pad_up(&p);
  if (!i64s_eq(p.whole, op_operand(o, 0)->type->dims) && !starts_alike(o)) return;
  cursor at = cursor_before(e, o);
  op *inner = clone(&at, o);
  at.before = inner;
  form both = form_of(&p, KEPT_BOTH, (i64s){0}), left = form_of(&p, KEPT_FIRST, v.dimensions);
  for (u32 i = 0; i < o->num_results; i++) {
    value *fill = op_operand(o, o->num_results + i);
    op_set_operand(inner, i, reshape_padded(&p, &at, op_operand(o, i), fill, &both));
    op_set_operand(o, i, shape(&p, inner, i, &left));
  }
  i64 *within = ARENA_ARRAY(e->a, i64, p.s->rank), *across = ARENA_ARRAY(e->a, i64, p.s->rank);
  i64 num_within = 0, num_across = 0, from = 0, to = 0;
  for (u32 d = 0; d < p.s->rank; d++) {
    bool reduced = i64s_contain(v.dimensions, d);
    if (p.split[d]) across[num_across++] = to++, from++;
    if (reduced) within[num_within++] = from;
    to += !reduced;
    from++;
  }
  op_set(inner, reduce, dimensions, attr_i64_array(e->c, (i64s){within, (size_t)num_within}));
  op_set(o, reduce, dimensions, attr_i64_array(e->c, (i64s){across, (size_t)num_across}));
}

/* ---- running reductions ---- */

typedef struct running {
  parts p;
  u32 dim; /* the one that is split */
  bool back;
  u32 n;
  struct reduce_window_attrs v;
} running;

static i64 entry(i64s l, size_t i) { return i < l.len ? l.data[i] : 1; }

static i64 edge(const running *r, size_t d, int side) {
  return r->v.padding ? attr_dense_int(&r->v.padding->base, 2 * d + (size_t)side) : 0;
}

/* To or from each element of one dimension, element by element in the others. */
static bool is_running(running *r) {
  u32 found = 0;
  for (u32 d = 0; d < r->p.s->rank; d++) {
    i64 size = r->p.whole.data[d], window = entry(r->v.window_dimensions, d);
    i64 low = edge(r, d, 0), high = edge(r, d, 1);
    if (entry(r->v.window_strides, d) != 1 || entry(r->v.base_dilations, d) != 1 ||
        entry(r->v.window_dilations, d) != 1)
      return false;
    if (window == 1 && !low && !high) continue;
    r->back = low == 0;
    if (window != size || low + high != size - 1 || (low && high)) return false;
    r->dim = d;
    found++;
  }
  return found == 1;
}

/* Where shards are short, moving there and back is less than totals. */
static bool moves_for_less(const running *r) {
  return may_move(&r->p, r->dim) && 2 * shard_of(&r->p, r->dim) < count_of(&r->p, r->dim);
}

/* As many read it as shards have elements: to gather it once is no more than all their totals. */
static bool is_read_often(const running *r, const value *v) {
  i64 left = shard_of(&r->p, r->dim);
  for (const use *u = v->uses; u; u = u->next) left -= op_is(u->owner, reduce_window);
  return left < 0;
}

/* Initial values may come in more often. Of what nobody knows, such as the logarithm of a sum of
 * exponentials, only an infinite one is believed to change nothing. */
static bool pads_again(const op *o) {
  u32 n = o->num_results;
  unreduced_kind kind;
  for (u32 i = 0; i < n; i++) {
    const value *init = op_operand(o, n + i);
    if (!(part_body_kind(op_body(o, 0), i, n, &kind)
              ? part_starts_neutral(init, kind)
              : splat_is_infinite(part_scalar_constant(init))))
      return false;
  }
  return true;
}

/* Of its arguments alone. */
static bool is_pointwise(const block *b) {
  const op *end = op_terminator(b);
  for (const op *o = b->first; o; o = o->next) {
    if (o != end && !op_has(o, CONSTANT) && !op_is_elementwise(o)) return false;
    for (u32 i = 0; i < o->num_operands; i++) {
      const value *v = op_operand(o, i);
      if (v->is_arg ? v->def.block != b : v->def.op->parent != b) return false;
    }
  }
  return end != NULL;
}

/* A body of scalars, element by element; `args` become its results. */
static void combine(const running *r, cursor *at, const block *b, value **args, const form *f) {
  const part_env *e = r->p.e;
  ir_map *map = ir_map_create(e->a);
  const op *end = op_terminator(b);
  for (u32 i = 0; i < b->num_args; i++) ir_map_set(map, b->args[i], args[i]);
  for (const op *o = b->first; o != end; o = o->next) {
    op *c = op_clone(e->m, o, map);
    op_insert(c, at->b, at->before);
    for (u32 i = 0; i < c->num_results; i++) shape(&r->p, c, i, f);
    const dense_attr *d = op_has(c, CONSTANT) ? attr_as(dense, op_attr(c, SLOT_NAME(value))) : NULL;
    if (d) op_set_any(c, value, attr_dense(e->c, op_result(c, 0)->type, d->data, true, true));
  }
  for (u32 i = 0; i < end->num_operands; i++) args[i] = ir_map_get(map, op_operand(end, i));
}

static bool find_running(const part_env *e, op *o, running *r) {
  r->n = o->num_results;
  if (!view_reduce_window(o, &r->v) || o->num_operands != 2 * r->n) return false;
  if ((r->v.present & 1u << 4) && !r->v.padding) return false; /* only the file knows */
  if (!is_pointwise(op_body(o, 0)) || !pads_again(o)) return false;
  const sharding *out = part_sharding(e, op_result(o, 0));
  if (!parts_of(e, op_operand(o, 0), &r->p) || !is_running(r) || !may_split(&r->p, r->dim))
    return false;
  return out && axes_eq(out->dims[r->dim].axes, r->p.s->dims[r->dim].axes) && !moves_for_less(r) &&
         !is_read_often(r, op_operand(o, 0));
}

/* The windows of the dimensions as two: 1, but for dimension `at`, which has this one. */
static void set_windows(const running *r, op *o, u32 at, i64 window, i64 low, i64 high) {
  ir_ctx *c = r->p.e->c;
  i64 rank = (i64)r->p.s->rank + 1;
  i64 *ones = ARENA_ARRAY(r->p.e->a, i64, rank), *sizes = ARENA_ARRAY(r->p.e->a, i64, rank);
  i64 *edges = arena_zalloc(r->p.e->a, (size_t)(2 * rank) * sizeof *edges);
  for (i64 d = 0; d < rank; d++) ones[d] = sizes[d] = 1;
  sizes[at] = window;
  edges[2 * at + (r->back ? 1 : 0)] = low;
  edges[2 * at + (r->back ? 0 : 1)] = high;
  const attr *plain = attr_i64_array(c, (i64s){ones, (size_t)rank});
  op_set(o, reduce_window, window_dimensions, attr_i64_array(c, (i64s){sizes, (size_t)rank}));
  op_set(o, reduce_window, window_strides, plain);
  op_set(o, reduce_window, base_dilations, plain);
  op_set(o, reduce_window, window_dilations, plain);
  op_set(o, reduce_window, padding, attr_dense_i64(c, (i64s){(i64[]){rank, 2}, 2}, edges));
}

/* The last of what ran, or the first. */
static value *total(const running *r, cursor *at, value *v, const form *one) {
  u32 rank = one->rank, d = r->dim + 1;
  i64 *begin = arena_zalloc(r->p.e->a, rank * sizeof *begin);
  i64 *end = arena_copy(r->p.e->a, v->type->dims.data, rank * sizeof *end);
  i64 *step = ARENA_ARRAY(r->p.e->a, i64, rank);
  for (u32 i = 0; i < rank; i++) step[i] = 1;
  begin[d] = r->back ? 0 : end[d] - 1;
  end[d] = begin[d] + 1;
  value *t = emit(at, OP_slice, &v, 1, v->type);
  ir_ctx *c = r->p.e->c;
  op_set(t->def.op, slice, start_indices, attr_i64_array(c, (i64s){begin, rank}));
  op_set(t->def.op, slice, limit_indices, attr_i64_array(c, (i64s){end, rank}));
  op_set(t->def.op, slice, strides, attr_i64_array(c, (i64s){step, rank}));
  return shape(&r->p, t->def.op, 0, one);
}

static value *everywhere(const running *r, cursor *at, value *v, const form *whole) {
  v = emit(at, OP_reshard, &v, 1, v->type);
  op_set(v->def.op, reshard, sharding, part_attr(r->p.e, sharding_of(&r->p, whole)));
  return v;
}

static value *wide(const running *r, cursor *at, value *v, const form *both) {
  i64 *dims = ARENA_ARRAY(r->p.e->a, i64, both->rank);
  for (u32 d = 0; d < both->rank; d++) dims[d] = d;
  v = emit(at, OP_broadcast_in_dim, &v, 1, v->type);
  op_set(v->def.op, broadcast_in_dim, broadcast_dimensions,
         attr_i64_array(r->p.e->c, (i64s){dims, both->rank}));
  return shape(&r->p, v->def.op, 0, both);
}

/* What runs within shards; what runs over their totals, none of its own; both. */
static void split_running(const part_env *e, op *o) {
  running r = {0};
  if (!find_running(e, o, &r)) return;
  r.p.split[r.dim] = true;
  i64 count = count_of(&r.p, r.dim), size = shard_of(&r.p, r.dim);
  pad_up(&r.p);
  if (!i64s_eq(r.p.whole, op_operand(o, 0)->type->dims) && !starts_alike(o)) return;
  form both = form_of(&r.p, KEPT_BOTH, (i64s){0}), one = form_of(&r.p, KEPT_ONE, (i64s){0});
  form whole = form_of(&r.p, KEPT_ONE, (i64s){0});
  whole.axes[r.dim] = (axis_list){0};
  cursor at = cursor_before(e, o);
  op *within = clone(&at, o);
  op *across = clone(&at, o);
  set_windows(&r, within, r.dim + 1, size, size - 1, 0);
  set_windows(&r, across, r.dim, count, count, -1);
  /* in their order: what is behind comes second */
  value **args = ARENA_ARRAY(e->a, value *, 2 * r.n), **own = args + (r.back ? 0 : r.n),
        **others = args + (r.back ? r.n : 0);
  for (u32 i = 0; i < r.n; i++) {
    at.before = within;
    value *fill = op_operand(o, r.n + i);
    op_set_operand(within, i, reshape_padded(&r.p, &at, op_operand(o, i), fill, &both));
    value *v = own[i] = shape(&r.p, within, i, &both);
    at.before = across;
    op_set_operand(across, i, everywhere(&r, &at, total(&r, &at, v, &one), &whole));
    at.before = o;
    others[i] = wide(&r, &at, shape(&r.p, across, i, &whole), &both);
  }
  combine(&r, &at, op_body(o, 0), args, &both);
  for (u32 i = 0; i < r.n; i++) {
    value *out = emit_reshape(&at, args[i], r.p.whole);
    part_set_sharding(e, out->def.op, 0, r.p.s);
    out = resized(&r.p, &at, out, NULL, op_result(o, i)->type->dims);
    const sharding *s = part_sharding(e, op_result(o, i));
    if (s) part_set_sharding(e, out->def.op, 0, s);
    value_replace(op_result(o, i), out);
  }
  op_erase(o);
}

/* ---- the greatest ---- */

/* What no element goes behind, in the order of all bits; false: nobody wrote it down. It stands
 * behind all others, and of equal ones the first counts. */
static bool least_of(const type *t, char *element) {
  bool known = t->kind == TYPE_FLOAT && (t->flt == FLOAT_f16 || t->flt == FLOAT_bf16 ||
                                         t->flt == FLOAT_f32 || t->flt == FLOAT_f64);
  memset(element, known ? 0xff : 0, 8);
  if (known) return true;
  if (t->kind != TYPE_INT || t->width < 8 || t->width > 64) return false;
  if (t->sign != UNSIGNED) element[t->width / 8 - 1] = (char)0x80;
  return true;
}

/* What shards have to offer, with two numbers each, is less than what they have. */
static bool find_greatest(const part_env *e, const op *o, i64 k, parts *p) {
  char least[8];
  const value *v = op_operand(o, 0);
  if (!parts_of(e, v, p) || p->s->rank == 0) return false;
  u32 last = p->s->rank - 1;
  if (!may_split(p, last) || type_element(op_result(o, 1)->type) != type_i32(e->c)) return false;
  i64 n = count_of(p, last), shard = shard_of(p, last);
  if (n * shard != p->whole.data[last] && !least_of(type_element(v->type), least)) return false;
  i64 width = (i64)type_storage(type_element(v->type)), offered = min_i64(k, shard) * (width + 4);
  p->split[last] = true;
  return offered * (may_move(p, last) ? n : 1) < shard * width;
}

static op *greatest(cursor *at, op *o, value *v, i64 k) {
  ir_ctx *c = at->env->c;
  i64s in = v->type->dims;
  i64 *dims = arena_copy(at->env->a, in.data, in.len * sizeof *dims);
  dims[in.len - 1] = k;
  const type *t[2];
  for (int i = 0; i < 2; i++) t[i] = type_with_dims(c, op_result(o, i)->type, (i64s){dims, in.len});
  op *r = emit_op(at, OP_chlo_top_k, &v, 1, t, 2, 0);
  op_set(r, chlo_top_k, k, attr_i64(c, k));
  op_set(r, chlo_top_k, is_stable, op_attr(o, SLOT_NAME(is_stable)));
  return r;
}

/* Indices in the shards as those in the whole: index + number of the shard * its size. */
static value *from_begin(const parts *p, cursor *at, value *index, const form *f, i64 size) {
  ir_ctx *c = at->env->c;
  value *n = emit(at, OP_iota, NULL, 0, index->type);
  op_set(n->def.op, iota, iota_dimension, attr_i64(c, f->rank - 2));
  n = shape(p, n->def.op, 0, f);
  value *by = emit(at, OP_constant, NULL, 0, index->type);
  i32 bytes = (i32)size;
  op_set(by->def.op, constant, value,
         attr_dense(c, index->type, (str){(const char *)&bytes, sizeof bytes}, true, false));
  by = shape(p, by->def.op, 0, f);
  n = emit_binary(at, OP_multiply, n, by);
  n = shape(p, n->def.op, 0, f);
  n = emit_binary(at, OP_add, index, n);
  return shape(p, n->def.op, 0, f);
}

/* v[..., at[..., i]] */
static value *picked(cursor *at, value *v, value *places) {
  ir_ctx *c = at->env->c;
  i64 rank = (i64)v->type->dims.len, last = rank - 1;
  i64 *dims = ARENA_ARRAY(at->env->a, i64, rank), *ones = ARENA_ARRAY(at->env->a, i64, rank);
  for (i64 d = 0; d < rank; d++) dims[d] = d, ones[d] = 1;
  i64s batch = {dims, (size_t)last};
  value *r = emit(at, OP_gather, (value *[]){v, places}, 2,
                  type_with_dims(c, v->type, places->type->dims));
  op *o = r->def.op;
  op_set(o, gather, dimension_numbers,
         attr_make(c, gather_dims, .collapsed_slice_dims = {&last, 1},
                   .operand_batching_dims = batch, .start_indices_batching_dims = batch,
                   .start_index_map = {&last, 1}, .index_vector_dim = rank));
  op_set(o, gather, slice_sizes, attr_i64_array(c, (i64s){ones, (size_t)rank}));
  return r;
}

/* Of the greatest of each shard, in their order, the greatest. */
static void split_greatest(const part_env *e, op *o) {
  struct chlo_top_k_attrs v;
  parts p;
  if (!view_chlo_top_k(o, &v) || !find_greatest(e, o, v.k, &p)) return;
  u32 last = p.s->rank - 1;
  i64 n = count_of(&p, last), size = shard_of(&p, last), k = min_i64(v.k, size);
  cursor at = cursor_before(e, o);
  char least[8];
  value *in = op_operand(o, 0), *fill = NULL;
  pad_up(&p);
  if (!i64s_eq(p.whole, in->type->dims) && least_of(type_element(in->type), least))
    fill = emit_splat(&at, type_with_dims(e->c, in->type, (i64s){0}), least);
  form both = form_of(&p, KEPT_BOTH, (i64s){0}), most = form_of(&p, KEPT_BOTH, (i64s){0});
  form flat = form_of(&p, KEPT_FIRST, (i64s){0});
  most.dims[last + 1] = k;
  flat.dims[last] = n * k;
  op *inner = greatest(&at, o, reshape_padded(&p, &at, in, fill, &both), k);
  value *offered = shape(&p, inner, 0, &most), *index = shape(&p, inner, 1, &most);
  index = from_begin(&p, &at, index, &most, size);
  op *outer = greatest(&at, o, reshape(&p, &at, offered, &flat), v.k);
  value *r[] = {op_result(outer, 0),
                picked(&at, reshape(&p, &at, index, &flat), op_result(outer, 1))};
  for (u32 i = 0; i < 2; i++) {
    const sharding *s = part_sharding(e, op_result(o, i));
    if (s) part_set_sharding(e, r[i]->def.op, r[i]->index, s);
    value_replace(op_result(o, i), r[i]);
  }
  op_erase(o);
}

/* ---- reshapes ---- */

/* A reshape of dimension i of the operand, which is cut, to j of the result. */
typedef struct regrouped {
  const sharding *in, *out;
  u32 i, j;
} regrouped;

/* With as much before them, one a multiple of the other, which does not divide. Both are cut alike,
 * or the longer result by fewer axes, of which shards are some of those. Short shards would go to
 * several neighbours. */
static bool needs_padding(const regrouped *r, i64 x, i64 y) {
  axis_list in = r->in->dims[r->i].axes, out = r->out->dims[r->j].axes;
  i64 n = axes_size(in), less = min_i64(x, y);
  if (n <= 1 || less <= 0 || x == y || x % less || y % less || less % n == 0 ||
      div_ceil_i64(less, n) < n)
    return false;
  return axes_eq(in, out) || (out.len && y % n == 0 && axes_prefix_of(out, in) != AXES_NOT_PREFIX);
}

/* The result's, with the operand's axes in dimension j; NULL: others have them. */
static const sharding *cut_as_operand(const part_env *e, const regrouped *r) {
  sharding s = *r->out;
  dim_sharding *dims = arena_copy(e->a, s.dims, s.rank * sizeof *dims);
  s.dims = dims;
  dims[r->j].axes = (axis_list){0};
  if (axes_clash(sharding_used_axes(e->a, &s), r->in->dims[r->i].axes)) return NULL;
  dims[r->j].axes = r->in->dims[r->i].axes;
  return shard_intern(e->space, &s);
}

static void pad_reshape(const part_env *e, op *o, const regrouped *r) {
  value *v = op_operand(o, 0);
  i64s from = v->type->dims, to = op_result(o, 0)->type->dims;
  i64 *padded_from = arena_copy(e->a, from.data, from.len * sizeof(i64));
  i64 *padded_to = arena_copy(e->a, to.data, to.len * sizeof(i64));
  i64 less = min_i64(from.data[r->i], to.data[r->j]), n = sharding_dim_size(r->in, r->i);
  i64 more = div_ceil_i64(less, n) * n;
  const sharding *out = cut_as_operand(e, r);
  if (!out) return;
  padded_from[r->i] = from.data[r->i] / less * more;
  padded_to[r->j] = to.data[r->j] / less * more;
  cursor at = cursor_before(e, o);
  v = emit_sharded(e, emit_resized(&at, v, (i64s){padded_from, from.len}), r->in);
  v = emit_sharded(e, emit_reshape(&at, v, (i64s){padded_to, to.len}), out);
  v = emit_sharded(e, emit_resized(&at, v, to), out);
  if (out != r->out) v = emit_reshard(&at, v, r->out);
  value_replace(op_result(o, 0), v);
  op_erase(o);
}

static void split_reshape(const part_env *e, op *o) {
  regrouped r = {part_sharding(e, op_operand(o, 0)), part_sharding(e, op_result(o, 0)), 0, 0};
  if (!r.in || !r.out || r.in->unreduced.len || r.out->unreduced.len ||
      !mesh_same(r.in->mesh, r.out->mesh, true) || op_discardable(o, SDY_SHARDING_RULE))
    return;
  i64s from = op_operand(o, 0)->type->dims, to = op_result(o, 0)->type->dims;
  i64 before_i = 1, before_j = 1;
  while (r.i < from.len && r.j < to.len) {
    if (before_i > before_j || (before_i == before_j && to.data[r.j] == 1)) {
      before_j *= to.data[r.j++];
    } else if (before_i == before_j && needs_padding(&r, from.data[r.i], to.data[r.j])) {
      pad_reshape(e, o, &r);
      return;
    } else {
      before_i *= from.data[r.i++];
    }
  }
}

/* ---- the pass ---- */

static walk_result split(void *user, op *o) {
  const part_env *e = user;
  if (op_is(o, reduce)) split_reduce(e, o);
  if (op_is(o, reduce_window)) split_running(e, o);
  if (op_is(o, chlo_top_k)) split_greatest(e, o);
  if (op_is(o, sort)) part_sort_in_parts(e, o);
  if (op_is(o, reshape)) split_reshape(e, o);
  if (op_is(o, fft)) part_split_fft(e, o);
  return WALK_ON;
}

bool part_reduce_in_parts(ir_module *m, arena *scratch, const pass_args *args) {
  (void)args;
  part_env e = part_env_make(m, scratch);
  if (part_has_mesh(&e) && (module_may_have(m, reduce) || module_may_have(m, reduce_window) ||
                            module_may_have(m, chlo_top_k) || module_may_have(m, sort) ||
                            module_may_have(m, reshape) || module_may_have(m, fft)))
    op_walk_post(m->root, split, &e);
  return shard_space_check(e.space);
}
