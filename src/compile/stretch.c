/* Values that are repeated along one dimension and then along another, as images are enlarged: a
 * reshape between the two, which only puts dimensions together, may as well come behind both, and
 * what is repeated is written once. */
#include "compile/flatten.h"
#include "dialect/expand.h"
#include "program/program.h"

/* Whether v is repeated, and reshapes are all that look at o's result. */
static bool is_between(const op *o, const value *v) {
  const op *by = value_op(v);
  if (!by || !op_is(by, broadcast_in_dim) || !op_result(o, 0)->uses) return false;
  for (const use *u = op_result(o, 0)->uses; u; u = u->next)
    if (!op_is(u->owner, reshape)) return false;
  return true;
}

/* Whether that dim of a broadcast's result is one of its operand's. */
static bool goes_on(const op *o, u64 dim) {
  struct broadcast_in_dim_attrs b;
  view_broadcast_in_dim(o, &b);
  i64s of = op_operand(o, 0)->type->dims, to = op_result(o, 0)->type->dims;
  for (u64 d = 0; d < of.len; d++)
    if (b.broadcast_dimensions.data[d] == (i64)dim) return of.data[d] == to.data[dim];
  return false;
}

/* The result's dims with those of `inner` instead of each that they were put together to, and where
 * these are. False: they were not only put together. */
static bool spread_dims(i64s inner, i64s outer, i64s result, i64s at, i64 *dims, u64 *rank,
                        i64 *places) {
  u64 i = 0, next = 0;
  *rank = 0;
  for (u64 c = 0; c < result.len; c++) {
    bool is_new = next == at.len || at.data[next] != (i64)c;
    if (*rank + inner.len > PROG_MAX_DIMS) return false;
    if (is_new) {
      dims[(*rank)++] = result.data[c];
      continue;
    }
    i64 all = 1, size = outer.data[next++];
    if (size < 2 || size != result.data[c]) return false;
    for (; all < size && i < inner.len; all *= inner.data[i++]) {
      if (inner.data[i] < 1) return false;
      places[i] = (i64)*rank;
      dims[(*rank)++] = inner.data[i];
    }
    if (all != size) return false;
  }
  return next == at.len && i == inner.len;
}

bool flatten_stretch(ir_module *m, arena *scratch, op *o) {
  struct broadcast_in_dim_attrs b;
  op *between = value_op(op_operand(o, 0));
  if (!between || !op_is(between, reshape) || !view_broadcast_in_dim(o, &b)) return false;
  value *v = op_operand(between, 0);
  const type *t = op_result(o, 0)->type, *of = v->type, *put = op_operand(o, 0)->type;
  i64 dims[PROG_MAX_DIMS], places[PROG_MAX_DIMS];
  u64 rank;
  if (!type_is_static(t) || !type_is_static(of) || of->dims.len > PROG_MAX_DIMS ||
      !is_between(o, v) ||
      !spread_dims(of->dims, put->dims, t->dims, b.broadcast_dimensions, dims, &rank, places))
    return false;
  u64 last = of->dims.len - 1; /* single elements had better be repeated first */
  if (of->dims.len == 0 || places[last] != (i64)rank - 1 || !goes_on(value_op(v), last))
    return false;
  expander e = expander_before(m, scratch, o);
  value *all = expand_1(&e, OP_broadcast_in_dim, v, expand_tensor(&e, dims, rank, t->elem));
  op_set(all->def.op, broadcast_in_dim, broadcast_dimensions,
         attr_i64_array(e.c, ((i64s){places, of->dims.len})));
  for (const use *u = op_result(o, 0)->uses, *next; u; u = next) {
    next = u->next;
    op_set_operand(u->owner, 0, all);
  }
  return true;
}
