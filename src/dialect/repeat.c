/* Gathers of rows by numbers that are counted, each several times: as images are resized to the
 * nearest pixel. What reads a row several times where it lies need not be written first. */
#include <math.h>

#include "dialect/expand.h"

enum { DEPTH = 16, MOST = 1 << 13 };

/* Element i of a line, or of what is one number; false: it is not known. */
static bool find(const value *v, i64 i, u32 depth, double *out);

typedef struct numbers {
  double x[3];
} numbers;

static double of_two(const op *o, const numbers *n, bool *known) {
  double x = n->x[0], y = n->x[1];
  if (op_is(o, add)) return x + y;
  if (op_is(o, subtract)) return x - y;
  if (op_is(o, multiply)) return x * y;
  if (op_is(o, maximum)) return x > y ? x : y;
  if (op_is(o, minimum)) return x < y ? x : y;
  struct compare_attrs c;
  bool is_less =
      op_is(o, compare) && view_compare(o, &c) && c.comparison_direction->value == COMPARE_LT;
  if (is_less) return x < y;
  *known = op_is(o, divide) && y != 0;
  x /= *known ? y : 1;
  return type_element(o->results[0].type)->kind == TYPE_INT ? trunc(x) : x;
}

static double of_all(const op *o, const numbers *n, bool *known) {
  *known = true;
  if (op_is(o, floor)) return floor(n->x[0]);
  if (op_is(o, convert))
    return type_element(o->results[0].type)->kind == TYPE_INT ? trunc(n->x[0]) : n->x[0];
  if (op_is(o, broadcast_in_dim) || op_is(o, reshape)) return n->x[0];
  if (op_is(o, select)) return n->x[0] != 0 ? n->x[1] : n->x[2];
  if (op_is(o, clamp)) return fmin(fmax(n->x[0], n->x[1]), n->x[2]);
  if (o->num_operands == 2) return of_two(o, n, known);
  return *known = false;
}

/* Numbers so small that integers do not wrap; floats are rounded to their type. */
static bool settle(const type *t, double *x) {
  if (t->kind == TYPE_INT) return fabs(*x) <= 127 || (t->width >= 32 && fabs(*x) < (1 << 24));
  if (t->kind != TYPE_FLOAT || t->width < 32) return false;
  if (t->width == 32) *x = (double)(float)*x;
  return isfinite(*x);
}

static bool find(const value *v, i64 i, u32 depth, double *out) {
  const op *o = value_op(v);
  i64 count, line;
  struct iota_attrs a;
  if (!o || !depth || op_kind(o) >= OP_COUNT || !type_num_elements(v->type, &count)) return false;
  if (count == 1) i = 0;
  if (op_is(o, constant)) return expand_number(op_attr(o, SLOT_NAME(value)), i, out);
  if (op_is(o, iota)) {
    line = view_iota(o, &a) ? v->type->dims.data[a.iota_dimension] : 0;
    *out = line == count ? (double)i : 0;
    return line == count || line == 1;
  }
  numbers n = {{0}};
  if (!o->num_operands || o->num_operands > COUNT(n.x) || o->num_results != 1) return false;
  for (u32 k = 0; k < o->num_operands; k++) {
    const value *x = op_operand(o, k);
    if (!type_num_elements(x->type, &line) || (line != 1 && line != count) ||
        !find(x, i, depth - 1, &n.x[k]))
      return false;
  }
  bool known;
  *out = of_all(o, &n, &known);
  return known && settle(type_element(v->type), out);
}

/* Row i of the result is row base + i / times * step of dimension d. */
typedef struct repeat {
  i64 d, n, base, times, step;
} repeat;

static bool find_repeat(const op *o, repeat *r) {
  struct gather_attrs a;
  double x;
  if (!view_gather(o, &a)) return false;
  const gather_dims_attr *g = a.dimension_numbers;
  const value *index = op_operand(o, 1);
  const type *from = op_operand(o, 0)->type, *to = o->results[0].type;
  if (!type_is_static(from) || !type_is_static(to) || g->start_index_map.len != 1 ||
      g->collapsed_slice_dims.len != 1 || g->operand_batching_dims.len ||
      g->offset_dims.len + 1 != to->dims.len)
    return false;
  *r = (repeat){.d = g->start_index_map.data[0]};
  if (g->collapsed_slice_dims.data[0] != r->d || a.slice_sizes.data[r->d] != 1) return false;
  r->n = to->dims.data[r->d];
  for (i64 d = 0; d < (i64)to->dims.len; d++)
    if (d == r->d ? i64s_contain(g->offset_dims, d) : to->dims.data[d] != from->dims.data[d])
      return false;
  i64 i = 1, rows = from->dims.data[r->d];
  if (r->n < 2 || r->n > MOST || !find(index, 0, DEPTH, &x)) return false;
  r->base = (i64)x;
  for (; i < r->n && find(index, i, DEPTH, &x) && (i64)x == r->base;) i++;
  r->times = i;
  r->step = i < r->n ? (i64)x - r->base : 1;
  for (; i < r->n; i++)
    if (!find(index, i, DEPTH, &x) || (i64)x != r->base + i / r->times * r->step) return false;
  return r->times > 1 && r->n % r->times == 0 && r->base >= 0 && r->step > 0 &&
         r->base + (r->n / r->times - 1) * r->step < rows;
}

bool expand_repeat(expander *e, op *o, value **out) {
  repeat r;
  if (!find_repeat(o, &r)) return false;
  value *v = op_operand(o, 0);
  const type *t = v->type;
  size_t rank = t->dims.len;
  i64 rows = r.n / r.times, *list[5]; /* begins, ends, steps; dims of rows; which these become */
  for (size_t i = 0; i < COUNT(list); i++) list[i] = ARENA_ARRAY(e->a, i64, rank + 1);
  for (size_t d = 0; d < rank; d++) {
    list[0][d] = 0, list[1][d] = t->dims.data[d], list[2][d] = 1;
    list[4][d] = (i64)d + ((i64)d > r.d);
    list[3][list[4][d]] = t->dims.data[d];
  }
  list[0][r.d] = r.base, list[1][r.d] = r.base + (rows - 1) * r.step + 1, list[2][r.d] = r.step;
  list[3][r.d] = rows, list[3][r.d + 1] = r.times;
  if (rows != t->dims.data[r.d]) {
    i64 *dims = arena_copy(e->a, t->dims.data, rank * sizeof *dims);
    dims[r.d] = rows;
    v = expand_1(e, OP_slice, v, expand_tensor(e, dims, rank, type_element(t)));
    op_set(v->def.op, slice, start_indices, attr_i64_array(e->c, (i64s){list[0], rank}));
    op_set(v->def.op, slice, limit_indices, attr_i64_array(e->c, (i64s){list[1], rank}));
    op_set(v->def.op, slice, strides, attr_i64_array(e->c, (i64s){list[2], rank}));
  }
  v = expand_1(e, OP_broadcast_in_dim, v, expand_tensor(e, list[3], rank + 1, type_element(t)));
  op_set(v->def.op, broadcast_in_dim, broadcast_dimensions,
         attr_i64_array(e->c, (i64s){list[4], rank}));
  out[0] = expand_1(e, OP_reshape, v, o->results[0].type);
  return true;
}
