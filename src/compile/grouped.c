/* Weights whose groups of rows have a scale each are a matrix only once a reshape has put groups
 * and their rows together. A product of it and a vector may as well be of what was in front of
 * that: then they are scaled where they are summed up (reduces_product), and never written. */
#include "compile/flatten.h"
#include "compile/lower.h"
#include "dialect/expand.h"

/* Dims as `dims` has them, but instead of the one at `at` those that it was put together of, from
 * `at` on in `of`, which has `more` more; false: it was not. */
static bool is_put_together(i64s dims, i64s of, i64 at, u64 more) {
  i64 all = 1;
  for (u64 d = 0; d < dims.len; d++)
    if (d != (u64)at && dims.data[d] != of.data[d + (d > (u64)at ? more : 0)]) return false;
  for (u64 d = 0; d <= more; d++)
    if (!checked_mul(all, of.data[(u64)at + d], &all)) return false;
  return all == dims.data[at];
}

static i64s run_of(arena *a, i64 first, u64 n) {
  i64 *list = ARENA_ARRAY(a, i64, n);
  for (u64 i = 0; i < n; i++) list[i] = first + (i64)i;
  return (i64s){list, n};
}

bool flatten_grouped(ir_module *m, arena *scratch, op *o) {
  struct dot_general_attrs a;
  if (!view_dot_general(o, &a)) return false;
  const dot_attr *d = a.dot_dimension_numbers;
  i64s summed[] = {d->lhs_contracting_dimensions, d->rhs_contracting_dimensions};
  if (summed[0].len != 1 || d->lhs_batching_dimensions.len) return false;
  for (u32 k = 0; k < 2; k++) {
    value *v = op_operand(o, k), *by = op_operand(o, 1 - k);
    op *r = value_op(v), *made = r && op_is(r, reshape) ? value_op(op_operand(r, 0)) : NULL;
    if (!made || !select_is_elementwise(made) || !lower_sums_up(o, v) || v->uses->next) continue;
    i64s dims = v->type->dims, of = op_operand(r, 0)->type->dims, with = by->type->dims;
    i64 at = summed[k].data[0], at_by = summed[1 - k].data[0], n = 0, out[PROG_MAX_DIMS];
    if (of.len <= dims.len || of.len + with.len > PROG_MAX_DIMS) continue;
    u64 more = of.len - dims.len;
    if (!is_put_together(dims, of, at, more)) continue;
    for (i64 i = 0; i < (i64)with.len; i++) {
      out[n++] = i == at_by ? of.data[at] : with.data[i];
      for (u64 j = 1; i == at_by && j <= more; j++) out[n++] = of.data[at + (i64)j];
    }
    expander e = expander_before(m, scratch, o);
    summed[k] = run_of(scratch, at, more + 1), summed[1 - k] = run_of(scratch, at_by, more + 1);
    op_set_operand(o, k, op_operand(r, 0));
    op_set_operand(o, 1 - k,
                   expand_1(&e, OP_reshape, by, expand_tensor(&e, out, (size_t)n, by->type->elem)));
    op_set(o, dot_general, dot_dimension_numbers,
           attr_make(e.c, dot, .lhs_contracting_dimensions = summed[0],
                     .rhs_contracting_dimensions = summed[1]));
    op_erase(r);
    return true;
  }
  return false;
}
