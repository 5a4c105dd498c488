/* The shape of an op's result as ops that compute it, from the operands' shapes.
 *
 * Source: reifyReturnTypeShapes of openxla/stablehlo dialect/StablehloOps.cpp and ChloOps.cpp. */
#include "pass/reify.h"
#include "dialect/dialect.h"
#include "text/text.h"

typedef struct maker {
  ir_module *m;
  op *before;
  const op *of; /* the op asked about */
} maker;

typedef VEC(value *) values;

static value *make(maker *k, op_id id, value *const *in, size_t n, const type *t) {
  op *o = op_create(k->m, &op_infos[id], k->of->loc, in, n, &t, 1, 0);
  op_insert(o, k->before->parent, k->before);
  return op_result(o, 0);
}

static const type *index_of(maker *k) { return type_index(k->m->ctx); }

static bool is_known(const value *v, i64 *out) {
  const op *o = value_op(v);
  return o && op_is(o, arith_constant) && attr_get_i64(op_attr(o, SLOT_NAME(value)), out);
}

/* At the front of the block, each value once. */
static value *constant(maker *k, i64 v) {
  i64 other;
  block *b = k->before->parent;
  for (op *o = b->first; o; o = o->next)
    if (op_is(o, arith_constant) && is_known(op_result(o, 0), &other) && other == v)
      return op_result(o, 0);
  const type *t = index_of(k);
  op *o = op_create(k->m, &op_infos[OP_arith_constant], k->of->loc, NULL, 0, &t, 1, 0);
  op_set(o, arith_constant, value, attr_int(k->m->ctx, t, v));
  op_insert(o, b, b->first);
  return op_result(o, 0);
}

static value *dim(maker *k, value *v, i64 d) {
  if (v->type->dims.data[d] != DYNAMIC) return constant(k, v->type->dims.data[d]);
  value *in[] = {v, constant(k, d)};
  return make(k, OP_tensor_dim, in, 2, index_of(k));
}

static value *binary(maker *k, op_id id, value *a, value *b) {
  i64 x, y, sum;
  if (id == OP_addi && is_known(b, &y) && y == 0) return a;
  if (id == OP_addi && is_known(a, &x) && is_known(b, &y) && checked_add(x, y, &sum))
    return constant(k, sum);
  value *in[] = {a, b};
  return make(k, id, in, 2, a->type);
}

static value *extract(maker *k, value *v, i64 i) {
  value *in[] = {v, constant(k, i)};
  return make(k, OP_tensor_extract, in, 2, v->type->elem);
}

static value *pack(maker *k, const values *v) {
  i64 n = (i64)v->len;
  const type *elem = v->len ? v->data[0]->type : index_of(k);
  return make(k, OP_from_elements, v->data, v->len,
              type_tensor(k->m->ctx, (i64s){&n, 1}, elem, NULL));
}

static value *in(maker *k, u32 i) { return op_operand(k->of, i); }
static i64 rank(maker *k, u32 i) { return (i64)in(k, i)->type->dims.len; }
#define ADD(k, list, v) VEC_PUSH(&(k)->m->arena, list, v)

typedef value *reify_fn(maker *k); /* NULL: not known */

/* An extent tensor of as many sizes as the rank is; of dynamic length for unranked ones. */
static value *shape_of(maker *k, value *v) {
  i64 n = v->type->kind == TYPE_TENSOR ? (i64)v->type->dims.len : DYNAMIC;
  return make(k, OP_shape_of, &v, 1, type_tensor(k->m->ctx, (i64s){&n, 1}, index_of(k), NULL));
}

static value *as_operand(maker *k) { return shape_of(k, in(k, 0)); }
static value *last_operand(maker *k) { return in(k, k->of->num_operands - 1); }

static value *select(maker *k) { return shape_of(k, in(k, 1)); }

static value *reduce(maker *k) {
  struct reduce_attrs a;
  values v = {0};
  if (!view_reduce(k->of, &a)) return NULL;
  for (i64 i = 0; i < rank(k, 0); i++)
    if (!i64s_contain(a.dimensions, i)) ADD(k, v, dim(k, in(k, 0), i));
  return pack(k, &v);
}

static value *transpose(maker *k) {
  struct transpose_attrs a;
  values v = {0}, dims = {0};
  if (!view_transpose(k->of, &a)) return NULL;
  for (i64 i = 0; i < rank(k, 0); i++) ADD(k, dims, dim(k, in(k, 0), i));
  for (i64 i = 0; i < rank(k, 0); i++) ADD(k, v, dims.data[a.permutation.data[i]]);
  return pack(k, &v);
}

static value *broadcast(maker *k) {
  struct broadcast_attrs a;
  values v = {0};
  if (!view_broadcast(k->of, &a)) return NULL;
  for (size_t i = 0; i < a.broadcast_sizes.len; i++)
    ADD(k, v, constant(k, a.broadcast_sizes.data[i]));
  for (i64 i = 0; i < rank(k, 0); i++) ADD(k, v, dim(k, in(k, 0), i));
  return pack(k, &v);
}

static value *concatenate(maker *k) {
  struct concatenate_attrs a;
  values v = {0}, more = {0};
  if (!view_concatenate(k->of, &a)) return NULL;
  for (i64 i = 0; i < rank(k, 0); i++) ADD(k, v, dim(k, in(k, 0), i));
  for (u32 j = 1; j < k->of->num_operands; j++) ADD(k, more, dim(k, in(k, j), a.dimension));
  for (size_t j = 0; j < more.len; j++)
    v.data[a.dimension] = binary(k, OP_addi, v.data[a.dimension], more.data[j]);
  return pack(k, &v);
}

static value *dot_general(maker *k) {
  struct dot_general_attrs a;
  values v = {0};
  if (!view_dot_general(k->of, &a)) return NULL;
  const dot_attr *d = a.dot_dimension_numbers;
  for (size_t i = 0; i < d->lhs_batching_dimensions.len; i++)
    ADD(k, v, dim(k, in(k, 0), d->lhs_batching_dimensions.data[i]));
  for (i64 i = 0; i < rank(k, 0); i++)
    if (!i64s_contain(d->lhs_batching_dimensions, i) &&
        !i64s_contain(d->lhs_contracting_dimensions, i))
      ADD(k, v, dim(k, in(k, 0), i));
  for (i64 i = 0; i < rank(k, 1); i++)
    if (!i64s_contain(d->rhs_batching_dimensions, i) &&
        !i64s_contain(d->rhs_contracting_dimensions, i))
      ADD(k, v, dim(k, in(k, 1), i));
  return pack(k, &v);
}

static value *gather(maker *k) {
  struct gather_attrs a;
  values v = {0};
  if (!view_gather(k->of, &a)) return NULL;
  const gather_dims_attr *d = a.dimension_numbers;
  i64 at = 0, window = 0, n = (i64)k->of->results[0].type->dims.len;
  for (i64 i = 0; i < n; i++) {
    if (i64s_contain(d->offset_dims, i)) {
      while (i64s_contain(d->collapsed_slice_dims, window) ||
             i64s_contain(d->operand_batching_dims, window))
        window++;
      ADD(k, v, constant(k, a.slice_sizes.data[window++]));
    } else {
      if (at == d->index_vector_dim) at++;
      ADD(k, v, dim(k, in(k, 1), at++));
    }
  }
  return pack(k, &v);
}

/* low + high + d + max(d - 1, 0) * interior, as ops on index. */
static value *pad(maker *k) {
  struct pad_attrs a;
  values v = {0};
  if (!view_pad(k->of, &a)) return NULL;
  for (i64 i = 0; i < rank(k, 0); i++) {
    i64 edge;
    value *d = dim(k, in(k, 0), i);
    if (!checked_add(a.edge_padding_low.data[i], a.edge_padding_high.data[i], &edge)) return NULL;
    if (a.interior_padding.data[i] > 0) {
      value *inner = binary(k, OP_subi, d, constant(k, 1));
      inner = binary(k, OP_maxsi, inner, constant(k, 0));
      inner = binary(k, OP_muli, inner, constant(k, a.interior_padding.data[i]));
      d = binary(k, OP_addi, d, inner);
    }
    ADD(k, v, binary(k, OP_addi, d, constant(k, edge)));
  }
  return pack(k, &v);
}

static value *real_dynamic_slice(maker *k) {
  values v = {0};
  if (in(k, 1)->type->elem != index_of(k)) return NULL;
  for (i64 i = 0; i < rank(k, 0); i++) {
    value *start = extract(k, in(k, 1), i), *limit = extract(k, in(k, 2), i);
    value *stride = extract(k, in(k, 3), i);
    value *size = binary(k, OP_addi, stride, binary(k, OP_subi, limit, start));
    ADD(k, v, binary(k, OP_divsi, binary(k, OP_subi, size, constant(k, 1)), stride));
  }
  return pack(k, &v);
}

static value *less(maker *k, value *a, value *b) {
  value *both[] = {a, b}, *v = make(k, OP_cmpi, both, 2, type_i1(k->m->ctx));
  op_set(value_op(v), cmpi, predicate, attr_i64(k->m->ctx, 2)); /* slt */
  return v;
}

static value *dynamic_pad(maker *k) {
  values v = {0};
  if (in(k, 2)->type->elem != index_of(k)) return NULL;
  for (i64 i = 0; i < rank(k, 0); i++) {
    value *zero = constant(k, 0), *one = constant(k, 1), *d = dim(k, in(k, 0), i);
    value *low = extract(k, in(k, 2), i), *high = extract(k, in(k, 3), i);
    value *inner = extract(k, in(k, 4), i), *choice[] = {less(k, d, one), zero, NULL};
    choice[2] = binary(k, OP_subi, d, one);
    value *gaps = make(k, OP_arith_select, choice, 3, index_of(k));
    d = binary(k, OP_addi, binary(k, OP_muli, inner, gaps), d);
    ADD(k, v, binary(k, OP_addi, binary(k, OP_addi, d, low), high));
  }
  return pack(k, &v);
}

static void warn(ir_ctx *c, const op *o, const char *fmt, ...) PRINTF_LIKE(3, 4);
static void warn(ir_ctx *c, const op *o, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_emit(ir_sink(c), DIAG_WARNING, loc_pos(o->loc), fmt, ap);
  va_end(ap);
}

/* Dimensions that only prepend: what NumPy does as well. */
static bool prepends(maker *k) {
  i64s map;
  const attr *a = op_attr(k->of, SLOT_NAME(broadcast_dimensions));
  if (!a || !attr_get_i64s(k->m->ctx, a, &map)) return true;
  if (in(k, 0)->type->kind != TYPE_TENSOR || in(k, 1)->type->kind != TYPE_TENSOR) return false;
  i64 x = rank(k, 0), y = rank(k, 1), large = x > y ? x : y, small = x > y ? y : x;
  if (x == y) return true;
  if ((i64)map.len != small) return false;
  for (i64 i = 0; i < small; i++)
    if (map.data[i] != large - small + i) return false;
  return true;
}

static value *broadcasting(maker *k) {
  values v = {0};
  i64 n = 0;
  if (!prepends(k)) {
    buf shown;
    buf_init(&shown, ir_mem(k->m->ctx));
    text_print_attr(&shown, op_attr(k->of, SLOT_NAME(broadcast_dimensions)));
    warn(k->m->ctx, k->of, "unsupported non prefix-padded dynamic rank broadcast_dimensions = %s",
         buf_cstr(&shown));
    buf_deinit(&shown);
    return NULL;
  }
  for (u32 i = 0; i < k->of->num_operands; i++) {
    ADD(k, v, shape_of(k, in(k, i)));
    i64 r = in(k, i)->type->kind == TYPE_TENSOR ? rank(k, i) : DYNAMIC;
    n = n == DYNAMIC || r == DYNAMIC ? DYNAMIC : n > r ? n : r;
  }
  return make(k, OP_shape_broadcast, v.data, v.len,
              type_tensor(k->m->ctx, (i64s){&n, 1}, index_of(k), NULL));
}

static reify_fn *const rule_of[OP_COUNT] = {
    [OP_compare] = as_operand,
    [OP_reverse] = as_operand,
    [OP_map] = as_operand,
    [OP_bitcast_convert] = as_operand,
    [OP_clamp] = select,
    [OP_select] = select,
    [OP_dynamic_iota] = last_operand,
    [OP_dynamic_reshape] = last_operand,
    [OP_dynamic_broadcast_in_dim] = last_operand,
    [OP_rng] = last_operand,
    [OP_reduce] = reduce,
    [OP_transpose] = transpose,
    [OP_broadcast] = broadcast,
    [OP_concatenate] = concatenate,
    [OP_dot_general] = dot_general,
    [OP_gather] = gather,
    [OP_pad] = pad,
    [OP_real_dynamic_slice] = real_dynamic_slice,
    [OP_dynamic_pad] = dynamic_pad,
    [OP_chlo_constant_like] = as_operand,
};

/* The ops are those that StableHLO's reifyReturnTypeShapes makes, since tests compare them. */
value *reify_shape(ir_module *m, const op *o, op *before) {
  maker k = {m, before, o};
  if (op_kind(o) >= OP_COUNT || o->num_results == 0) return NULL;
  reify_fn *fn = rule_of[op_kind(o)];
  if (!fn && str_starts(o->info->name, STR("chlo.broadcast_"))) fn = broadcasting;
  bool elementwise = o->info->family == FAMILY_ew || o->info->family == FAMILY_cast;
  if (!fn && elementwise && o->num_operands) fn = as_operand;
  return fn ? fn(&k) : NULL;
}
