/* terrazzo-join-slices, what concerns scatter: one window at a known place, as u.at[1:-1].add(v)
 * has it. If that is most of the array, it is the update padded to all of it and combined with it
 * where the window is, of which shards need what their neighbours have at most; else a slice that
 * is updated and written back. A scatter's windows would be whole. */
#include "dialect/expand.h"
#include "partition/pieces.h"
#include "partition/record.h"

enum { GE = 2, LT = 5 }; /* of #stablehlo<comparison_direction> */

typedef struct known_place {
  const sharding *s; /* of the array */
  i64 *low, *high;   /* elements before and behind the window */
  bool most;         /* half of each dimension or more */
} known_place;

/* Not all of a dimension that is cut is written, nothing outside of the array. */
static bool find_place(const part_env *e, const op *o, known_place *p) {
  struct scatter_attrs v;
  if (o->num_operands != 3 || !view_scatter(o, &v) || op_discardable(o, SDY_SHARDING_RULE))
    return false;
  const scatter_dims_attr *d = v.scatter_dimension_numbers;
  const type *t = op_operand(o, 0)->type, *update = op_operand(o, 2)->type;
  p->s = part_sharding(e, op_operand(o, 0));
  if (!p->s || p->s->unreduced.len || d->inserted_window_dims.len || d->input_batching_dims.len ||
      d->update_window_dims.len != t->dims.len || update->dims.len != t->dims.len)
    return false;
  u32 rank = (u32)t->dims.len;
  bool cut = false;
  p->most = true;
  p->low = arena_zalloc(e->a, rank * sizeof *p->low);
  p->high = arena_zalloc(e->a, rank * sizeof *p->high);
  if (!scatter_low(o, p->low)) return false;
  for (u32 k = 0; k < rank; k++) {
    i64 size = t->dims.data[k], window = update->dims.data[k];
    if (p->low[k] < 0 || p->low[k] > size - window || size > INT32_MAX) return false;
    p->high[k] = size - window - p->low[k];
    cut |= window < size && sharding_dim_size(p->s, k) > 1;
    p->most &= window >= size / 2;
  }
  return cut;
}

static value *updated(const part_env *e, cursor *at, const op *o, value *old, value *update,
                      const sharding *s) {
  value *v = scatter_updated(e->m, at->b, at->before, o, old, update);
  return v && v != update ? emit_sharded(e, v, s) : v;
}

/* Which elements are in the window. */
static value *window_mask(const part_env *e, cursor *at, const type *t, const known_place *p) {
  const type *number = type_tensor(e->c, t->dims, type_i32(e->c), NULL);
  value *mask = NULL;
  for (u32 d = 0; d < t->dims.len; d++) {
    if (!p->low[d] && !p->high[d]) continue;
    value *place = emit(at, OP_iota, NULL, 0, number);
    op_set(place->def.op, iota, iota_dimension, attr_i64(e->c, d));
    emit_sharded(e, place, p->s);
    for (u32 k = 0; k < 2; k++) {
      i32 limit = (i32)(k ? t->dims.data[d] - p->high[d] : p->low[d]);
      value *bound = emit_sharded(e, emit_splat(at, number, (const char *)&limit), p->s);
      value *in = emit_sharded(e, emit_compare(at, place, bound, k ? LT : GE), p->s);
      mask = mask ? emit_sharded(e, emit_binary(at, OP_and, mask, in), p->s) : in;
    }
  }
  return mask;
}

static value *write_most(const part_env *e, cursor *at, const op *o, const known_place *p) {
  value *old = op_operand(o, 0);
  value *zero = emit_zeros(at, type_with_dims(e->c, old->type, (i64s){0}));
  value *v = emit_sharded(e, emit_pad(at, op_operand(o, 2), zero, p->low, p->high, NULL), p->s);
  v = updated(e, at, o, old, v, p->s);
  value *in[] = {window_mask(e, at, old->type, p), v, old};
  return v ? emit_sharded(e, emit(at, OP_select, in, 3, old->type), p->s) : NULL;
}

static value *write_some(const part_env *e, cursor *at, const op *o, const known_place *p) {
  value *old = op_operand(o, 0), *update = op_operand(o, 2);
  u32 rank = p->s->rank;
  axis_list *axes = arena_zalloc(e->a, rank * sizeof *axes);
  value **in = ARENA_ARRAY(e->a, value *, rank + 2);
  for (u32 d = 0; d < rank; d++) {
    if (!p->low[d] && !p->high[d]) axes[d] = p->s->dims[d].axes;
    in[d + 2] = emit_int(at, p->low[d]);
  }
  const sharding *s = sharding_make_closed(e->a, p->s->mesh, axes, rank);
  value *slice = emit_sharded(e, emit_dynamic_slice(at, old, in + 2, update->type->dims), s);
  in[0] = old;
  in[1] = updated(e, at, o, slice, update, s);
  if (!in[1]) return NULL;
  return emit_sharded(e, emit(at, OP_dynamic_update_slice, in, rank + 2, old->type), p->s);
}

void pieces_join_scatter(const part_env *e, op *o) {
  known_place p;
  if (!op_is(o, scatter) || !find_place(e, o, &p)) return;
  cursor at = cursor_before(e, o);
  value *v = p.most ? write_most(e, &at, o, &p) : write_some(e, &at, o, &p);
  if (!v) return; /* what was made is not used */
  const sharding *to = part_sharding(e, op_result(o, 0));
  value_replace(op_result(o, 0), to && to != p.s ? emit_reshard(&at, v, to) : v);
  op_erase(o);
}
