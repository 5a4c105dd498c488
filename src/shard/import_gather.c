/* sdy-explicit-gather-scatter-batching: a gather or scatter whose index vectors begin with the
 * number of their own row takes that dimension as a batching one, which shards without
 * communication. Source: openxla/shardy docs/sdy_import_passes.md. */
#include "shard/passes.h"

/* ---- is it 0, 1, 2, ... along dimension 0? ---- */

/* What all elements of a constant of integers are. */
static bool constant_int(const value *v, i64 *out) {
  const op *o = value_op(v);
  const attr *a = o && op_has(o, CONSTANT) ? op_attr(o, SLOT_NAME(value)) : NULL;
  const dense_attr *d = attr_as(dense, a);
  i64 n;
  if (!d || v->type->elem->kind != TYPE_INT || v->type->elem->width > 64) return false;
  if (!d->splat && !(type_num_elements(v->type, &n) && n == 1)) return false;
  *out = attr_dense_int(a, 0);
  return true;
}

enum { MAX_CHAIN = 64 };

/* The value that `v` repeats along dimension 0 for numbers in [0, n); NULL: `v` computes. */
static const value *seen_through(const value *v, i64 n) {
  const op *o = value_op(v);
  if (!o || !o->num_operands) return NULL;
  i64 low, high;
  if (op_is(o, clamp)) {
    bool keeps = constant_int(op_operand(o, 0), &low) && constant_int(op_operand(o, 2), &high) &&
                 low <= 0 && high >= n - 1;
    return keeps ? op_operand(o, 1) : NULL;
  }
  const value *from = op_operand(o, 0);
  if (op_is(o, reshape)) return from->type->dims.len ? from : NULL;
  if (op_is(o, broadcast_in_dim)) {
    struct broadcast_in_dim_attrs b;
    bool first = view_broadcast_in_dim(o, &b) && b.broadcast_dimensions.len &&
                 b.broadcast_dimensions.data[0] == 0;
    return first ? from : NULL;
  }
  if (!op_is(o, select)) return NULL;
  /* numbers below zero count from the end: select(x < 0, x + n, x) */
  const op *c = value_op(from);
  struct compare_attrs v2;
  bool normal = c && op_is(c, compare) && view_compare(c, &v2) &&
                str_is(attr_enum_name(&v2.comparison_direction->base), "LT") &&
                op_operand(c, 0) == op_operand(o, 2) && constant_int(op_operand(c, 1), &low) &&
                low <= 0;
  return normal ? op_operand(o, 2) : NULL;
}

/* Element [i, ...] of v is i, for i in [0, n). */
static bool counts_rows(const value *v, i64 n) {
  const type *e = v->type->elem;
  if (!e || e->kind != TYPE_INT || (e->width < 63 && n - 1 >= (i64)1 << (e->width - 1)))
    return false;
  for (int i = 0; v && i < MAX_CHAIN; i++) {
    const op *o = value_op(v);
    if (!v->type->dims.len || v->type->dims.data[0] != n) return false;
    struct iota_attrs a;
    if (o && op_is(o, iota)) return view_iota(o, &a) && a.iota_dimension == 0;
    v = seen_through(v, n);
  }
  return false;
}

/* ---- the indices without one component ---- */

typedef struct indexing {
  ir_module *m;
  op *o; /* gather or scatter */
  u32 operand;
  i64 dim; /* of the index vectors */
  size_t removed;
} indexing;

static value *indices_of(const indexing *x) { return op_operand(x->o, x->operand); }

static const type *with_size(const indexing *x, i64 size) {
  const type *t = indices_of(x)->type;
  i64 *dims = arena_copy(&x->m->arena, t->dims.data, t->dims.len * sizeof *dims);
  dims[x->dim] = size;
  return type_tensor(x->m->ctx, (i64s){dims, t->dims.len}, t->elem, t->encoding);
}

/* concatenate with one part a component, as most programs have it */
static op *parts_of(const indexing *x) {
  op *o = value_op(indices_of(x));
  struct concatenate_attrs v;
  if (!o || !op_is(o, concatenate) || !view_concatenate(o, &v) || v.dimension != x->dim)
    return NULL;
  return (i64)o->num_operands == indices_of(x)->type->dims.data[x->dim] ? o : NULL;
}

static value *concatenated(const indexing *x, value *const *parts, size_t n, i64 size) {
  if (n == 1) return parts[0];
  const type *t = with_size(x, size);
  op *c = op_create(x->m, &op_infos[OP_concatenate], x->o->loc, parts, n, &t, 1, 0);
  op_set(c, concatenate, dimension, attr_i64(x->m->ctx, x->dim));
  op_insert(c, x->o->parent, x->o);
  return op_result(c, 0);
}

static value *sliced(const indexing *x, i64 begin, i64 end) {
  value *v = indices_of(x);
  size_t n = v->type->dims.len;
  i64 *list = ARENA_ARRAY(&x->m->arena, i64, 3 * n);
  for (size_t i = 0; i < n; i++) {
    list[i] = (i64)i == x->dim ? begin : 0;
    list[n + i] = (i64)i == x->dim ? end : v->type->dims.data[i];
    list[2 * n + i] = 1;
  }
  const type *t = with_size(x, end - begin);
  op *s = op_create(x->m, &op_infos[OP_slice], x->o->loc, &v, 1, &t, 1, 0);
  ir_ctx *c = x->m->ctx;
  op_set(s, slice, start_indices, attr_i64_array(c, (i64s){list, n}));
  op_set(s, slice, limit_indices, attr_i64_array(c, (i64s){list + n, n}));
  op_set(s, slice, strides, attr_i64_array(c, (i64s){list + 2 * n, n}));
  op_insert(s, x->o->parent, x->o);
  return op_result(s, 0);
}

/* By the parts of the concatenate where there is one, else by slices around the component. */
static value *without_component(const indexing *x) {
  i64 total = indices_of(x)->type->dims.data[x->dim];
  op *c = parts_of(x);
  value **parts = ARENA_ARRAY(&x->m->arena, value *, (size_t)total);
  size_t n = 0;
  if (c) {
    for (u32 i = 0; i < c->num_operands; i++)
      if (i != x->removed) parts[n++] = op_operand(c, i);
  } else {
    if (x->removed) parts[n++] = sliced(x, 0, (i64)x->removed);
    if ((i64)x->removed + 1 < total) parts[n++] = sliced(x, (i64)x->removed + 1, total);
  }
  return concatenated(x, parts, n, total - 1);
}

static bool find(i64s l, i64 v, size_t *at) {
  for (*at = 0; *at < l.len; ++*at)
    if (l.data[*at] == v) return true;
  return false;
}

static i64s without(const indexing *x, i64s l, size_t at) {
  i64 *out = ARENA_ARRAY(&x->m->arena, i64, l.len);
  size_t n = 0;
  for (size_t i = 0; i < l.len; i++)
    if (i != at) out[n++] = l.data[i];
  return (i64s){out, n};
}

/* Component `removed` of the index vectors is the row's own number, dimension 0 of `operand`. */
static bool is_batch(indexing *x, const value *operand, i64s map) {
  const type *t = operand->type, *indices = indices_of(x)->type;
  if (!t->dims.len || !indices->dims.len || !type_is_static(t) || !type_is_static(indices))
    return false;
  if (x->dim >= (i64)indices->dims.len || x->dim == 0 || indices->dims.data[x->dim] <= 1)
    return false;
  i64 n = t->dims.data[0];
  if (indices->dims.data[0] != n || !find(map, 0, &x->removed)) return false;
  op *c = value_op(indices_of(x));
  bool joined = c && op_is(c, concatenate);
  if (!joined) return counts_rows(indices_of(x), n);
  return parts_of(x) && counts_rows(op_operand(c, (u32)x->removed), n);
}

static void replace_indices(indexing *x) {
  op *old = value_op(indices_of(x));
  op_set_operand(x->o, x->operand, without_component(x));
  if (old && !op_result(old, 0)->uses && op_has(old, PURE)) op_erase(old);
}

static const i64 zero[1];
static const i64s just_zero = {zero, 1};

static void batch_gather(ir_module *m, op *o) {
  struct gather_attrs v;
  size_t at;
  if (!view_gather(o, &v) || v.dimension_numbers->operand_batching_dims.len) return;
  gather_dims_attr d = *v.dimension_numbers;
  indexing x = {m, o, 1, d.index_vector_dim, 0};
  if (!is_batch(&x, op_operand(o, 0), d.start_index_map) || !find(d.collapsed_slice_dims, 0, &at))
    return;
  d.collapsed_slice_dims = without(&x, d.collapsed_slice_dims, at);
  d.start_index_map = without(&x, d.start_index_map, x.removed);
  d.operand_batching_dims = d.start_indices_batching_dims = just_zero;
  replace_indices(&x);
  op_set(o, gather, dimension_numbers, attr_unique(m->ctx, &d.base));
}

static void batch_scatter(ir_module *m, op *o) {
  struct scatter_attrs v;
  size_t at;
  if (!view_scatter(o, &v) || v.scatter_dimension_numbers->input_batching_dims.len) return;
  scatter_dims_attr d = *v.scatter_dimension_numbers;
  indexing x = {m, o, o->num_operands / 2, d.index_vector_dim, 0};
  if (!is_batch(&x, op_operand(o, 0), d.scatter_dims_to_operand_dims) ||
      !find(d.inserted_window_dims, 0, &at))
    return;
  d.inserted_window_dims = without(&x, d.inserted_window_dims, at);
  d.scatter_dims_to_operand_dims = without(&x, d.scatter_dims_to_operand_dims, x.removed);
  d.input_batching_dims = d.scatter_indices_batching_dims = just_zero;
  replace_indices(&x);
  op_set(o, scatter, scatter_dimension_numbers, attr_unique(m->ctx, &d.base));
}

static walk_result batch(void *user, op *o) {
  if (op_is(o, gather)) batch_gather(user, o);
  if (op_is(o, scatter)) batch_scatter(user, o);
  return WALK_ON;
}

bool pass_gather_scatter_batching(ir_module *m, arena *scratch, const pass_args *args) {
  (void)scratch, (void)args;
  if (module_may_have(m, gather) || module_may_have(m, scatter)) op_walk_post(m->root, batch, m);
  return true;
}
