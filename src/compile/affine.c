/* Indices that are known: a number, and so much for each step along a dimension. What a gather
 * takes by them, as windows that slide, diagonals and rows at even distances, is its operand seen
 * through other strides. */
#include "compile/steps.h"
#include "dialect/expand.h"
#include "pass/rewrite.h"

typedef struct affine {
  i64 base, step[PROG_MAX_DIMS], lo, hi; /* lo, hi: the least and the largest of them */
} affine;

/* How long a chain of ops is looked at. */
enum { DEPTH = 10 };
static bool find(const value *v, u32 depth, affine *a);

static bool of_iota(const op *o, u32 depth, affine *a) {
  struct iota_attrs i;
  (void)depth;
  if (!view_iota(o, &i)) return false;
  a->step[i.iota_dimension] = 1;
  return true;
}

static bool of_constant(const op *o, u32 depth, affine *a) {
  const dense_attr *dense = attr_as(dense, value_constant(op_result(o, 0)));
  i64s dims = op_result(o, 0)->type->dims;
  i64 at[PROG_MAX_DIMS] = {0}, apart = 1, next;
  (void)depth;
  if (!dense) return false;
  const attr *c = &dense->base;
  next = a->base = attr_dense_int(c, 0);
  if (dense->splat) return true;
  for (size_t d = dims.len; d-- > 0; apart *= dims.data[d])
    if (dims.data[d] > 1 && !checked_sub(attr_dense_int(c, (size_t)apart), a->base, &a->step[d]))
      return false;
  for (i64 i = 0; i < apart; i++) {
    if (attr_dense_int(c, (size_t)i) != next) return false;
    for (size_t d = dims.len; d-- > 0;) { /* may wrap: find_range refuses that then */
      next = (i64)((u64)next + (u64)a->step[d]);
      if (++at[d] < dims.data[d]) break;
      next = (i64)((u64)next - (u64)a->step[d] * (u64)at[d]);
      at[d] = 0;
    }
  }
  return true;
}

static bool of_broadcast(const op *o, u32 depth, affine *a) {
  struct broadcast_in_dim_attrs b;
  const value *v = op_operand(o, 0);
  affine x;
  if (!view_broadcast_in_dim(o, &b) || !find(v, depth, &x)) return false;
  a->base = x.base;
  for (size_t d = 0; d < v->type->dims.len; d++)
    a->step[b.broadcast_dimensions.data[d]] = x.step[d];
  return true;
}

/* Dimensions of 1 come and go. */
static bool of_reshape(const op *o, u32 depth, affine *a) {
  i64s from = op_operand(o, 0)->type->dims, to = op_result(o, 0)->type->dims;
  affine x;
  if (!find(op_operand(o, 0), depth, &x)) return false;
  a->base = x.base;
  for (size_t d = 0, k = 0; d < to.len; d++) {
    if (to.data[d] == 1) continue;
    while (k < from.len && from.data[k] == 1) k++;
    if (k == from.len || from.data[k] != to.data[d]) return false;
    a->step[d] = x.step[k++];
  }
  return true;
}

static bool of_convert(const op *o, u32 depth, affine *a) {
  return find(op_operand(o, 0), depth, a);
}

/* Their numbers are so small that nothing here is too much. */
static bool of_sum(const op *o, u32 depth, affine *a) {
  affine x, y;
  i64 sign = op_is(o, subtract) ? -1 : 1;
  if (!find(op_operand(o, 0), depth, &x) || !find(op_operand(o, 1), depth, &y)) return false;
  a->base = x.base + sign * y.base;
  for (u32 d = 0; d < PROG_MAX_DIMS; d++) a->step[d] = x.step[d] + sign * y.step[d];
  return true;
}

static bool of_product(const op *o, u32 depth, affine *a) {
  affine x, y;
  if (!find(op_operand(o, 0), depth, &x) || !find(op_operand(o, 1), depth, &y)) return false;
  bool first = x.lo == x.hi;
  if (!first && y.lo != y.hi) return false;
  i64 by = first ? x.base : y.base;
  a->base = x.base * y.base;
  for (u32 d = 0; d < PROG_MAX_DIMS; d++) a->step[d] = by * (first ? y : x).step[d];
  return true;
}

/* As indices that are negative get a dimension's size added, where none is, or all are. */
static bool of_select(const op *o, u32 depth, affine *a) {
  struct compare_attrs c;
  const op *by = value_op(op_operand(o, 0));
  affine x, y;
  if (!by || !op_is(by, compare) || !view_compare(by, &c) ||
      c.comparison_direction->value != COMPARE_LT || !find(op_operand(by, 0), depth, &x) ||
      !find(op_operand(by, 1), depth, &y))
    return false;
  if (x.lo >= y.hi) return find(op_operand(o, 2), depth, a);
  return x.hi < y.lo && find(op_operand(o, 1), depth, a);
}

static bool of_clamp(const op *o, u32 depth, affine *a) {
  affine least, most;
  return find(op_operand(o, 0), depth, &least) && find(op_operand(o, 2), depth, &most) &&
         find(op_operand(o, 1), depth, a) && least.hi <= a->lo && a->hi <= most.lo;
}

static const struct known {
  op_id id;
  bool (*find)(const op *o, u32 depth, affine *a);
} all[] = {
    {OP_iota, of_iota},       {OP_constant, of_constant}, {OP_broadcast_in_dim, of_broadcast},
    {OP_reshape, of_reshape}, {OP_convert, of_convert},   {OP_add, of_sum},
    {OP_subtract, of_sum},    {OP_multiply, of_product},  {OP_select, of_select},
    {OP_clamp, of_clamp}};

/* The least and the largest, of which the type must have both. */
static bool find_range(const type *t, affine *a) {
  const type *e = type_element(t);
  i64 top = e->width > 30 ? 1 << 30 : (1 << (e->width - 1)) - 1;
  a->lo = a->hi = a->base;
  for (size_t d = 0; d < t->dims.len; d++) {
    i64 far;
    if (t->dims.data[d] == 1) a->step[d] = 0;
    if (!checked_mul(a->step[d], t->dims.data[d] - 1, &far)) return false;
    i64 *end = far < 0 ? &a->lo : &a->hi;
    if (!checked_add(*end, far, end)) return false;
  }
  return a->lo >= (e->sign == UNSIGNED ? 0 : -top) && a->hi <= top;
}

static bool find(const value *v, u32 depth, affine *a) {
  const op *o = value_op(v);
  i64 count;
  *a = (affine){0};
  if (!o || !depth || type_element(v->type)->kind != TYPE_INT ||
      v->type->dims.len > PROG_MAX_DIMS || !type_num_elements(v->type, &count) || count == 0)
    return false;
  for (size_t i = 0; i < COUNT(all); i++)
    if (all[i].id == o->info->id) return all[i].find(o, depth - 1, a) && find_range(v->type, a);
  return false;
}

bool affine_gather(const op *o, u32 *first, i64 *start, u32 *of, i64 *step) {
  struct gather_attrs a;
  const value *v = op_operand(o, 1);
  affine at;
  if (!view_gather(o, &a)) return false;
  const gather_dims_attr *g = a.dimension_numbers;
  if (g->start_index_map.len != 1 || g->operand_batching_dims.len || !find(v, DEPTH, &at))
    return false;
  i64 d = g->start_index_map.data[0], all_of_it = op_operand(o, 0)->type->dims.data[d];
  if (at.lo < 0 || at.hi > all_of_it - a.slice_sizes.data[d]) return false;
  i64s dims = op_result(o, 0)->type->dims;
  u32 index = 0, window = 0;
  *first = (u32)d, *start = at.base;
  for (u32 i = 0; i < dims.len; i++) {
    if (i64s_contain(g->offset_dims, i)) {
      while (i64s_contain(g->collapsed_slice_dims, window)) window++;
      of[i] = window++, step[i] = 1;
    } else {
      if (index == g->index_vector_dim) index++;
      of[i] = (u32)d, step[i] = at.step[index++];
    }
  }
  return true;
}
