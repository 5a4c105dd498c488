/* Slices at places that are known at run time only, of arrays that are cut along them.
 *
 * Each device clamps the start as if it had the whole, and looks how far the slice is from its
 * shard. A window of the shard, no larger than the slice, has all that they share:
 *
 *   start = clamp(0, given, size of the whole - size of the slice) - begin of the shard
 *   window = clamp(0, start, size of the shard - size of the window)
 *   shift = window - start: element j of the window is element j + shift of the slice
 *
 * What is outside of the shard falls off: cost is that of the slice, not of the shard. */
#include "partition/local.h"

/* Along one dimension. Where nothing is shared, `here` is false, or all of the slice shifted away.
 */
typedef struct window {
  bool cut;
  i64 slice, size; /* elements of the slice, of the window */
  value *shift;    /* tensor<i64> */
  value *here;     /* a slice of one element: tensor<i1>, is it in the shard? Else NULL */
} window;

typedef struct windows {
  u32 rank;
  bool any;
  window *of;
  value **starts; /* tensor<i64>; what is not cut starts where it did */
  i64s sizes;     /* of the window */
} windows;

enum { GE = 2, LT = 5 }; /* of #stablehlo<comparison_direction> */

static value *clamp(cursor *at, value *v, i64 first, i64 last) {
  return emit(at, OP_clamp, (value *[]){emit_int(at, first), v, emit_int(at, last)}, 3, v->type);
}

/* As i64; what i64 does not have is beyond the last place anyway. */
static value *start_of(cursor *at, value *v, i64 last) {
  ir_ctx *c = at->env->c;
  const type *t = type_tensor(c, (i64s){0}, type_i64(c), NULL);
  if (v->type->elem->sign == UNSIGNED && v->type->elem->width >= 64) {
    value *most = emit_int(at, last);
    most = emit(at, OP_convert, &most, 1, v->type);
    v = emit_binary(at, OP_minimum, v, most);
  }
  return v->type == t ? v : emit(at, OP_convert, &v, 1, t);
}

static void find_window(local *l, cursor *at, const value *array, u32 d, i64 whole, windows *w) {
  window *x = &w->of[d];
  const sharding *s = local_sharding(l, array);
  i64 shard = array->type->dims.data[d];
  x->cut = true;
  x->size = min_i64(x->slice, shard);
  value *start = clamp(at, w->starts[d], 0, whole - x->slice);
  value *begin = local_offset(l, at, s->mesh, s->dims[d].axes, shard);
  start = emit_binary(at, OP_subtract, start, begin);
  w->starts[d] = clamp(at, start, 0, shard - x->size);
  x->shift = emit_binary(at, OP_subtract, w->starts[d], start);
  if (x->slice == 1) x->here = emit_compare(at, x->shift, emit_int(at, 0), 0);
}

/* Of a slice of these sizes, whose starts are operands of o from `first` on. */
static windows find_windows(local *l, cursor *at, const op *o, u32 first, i64s slice) {
  const value *array = op_operand(o, 0);
  i64s whole = part_whole_type(l, array)->dims;
  u32 rank = (u32)slice.len;
  i64 *sizes = arena_copy(l->e.a, slice.data, rank * sizeof *sizes);
  windows w = {.rank = rank, .sizes = {sizes, rank}};
  w.of = arena_zalloc(l->e.a, rank * sizeof *w.of);
  w.starts = ARENA_ARRAY(l->e.a, value *, rank);
  for (u32 d = 0; d < rank; d++)
    w.any |= local_parts(l, array, d) > 1 && slice.data[d] != whole.data[d];
  for (u32 d = 0; d < rank && w.any; d++) {
    bool all = slice.data[d] == whole.data[d];
    w.starts[d] = start_of(at, op_operand(o, first + d), whole.data[d] - slice.data[d]);
    w.of[d].slice = slice.data[d];
    if (local_parts(l, array, d) > 1 && !all) find_window(l, at, array, d, whole.data[d], &w);
    sizes[d] = w.of[d].cut ? w.of[d].size : all ? array->type->dims.data[d] : slice.data[d];
  }
  return w;
}

/* v moved so that element j is what was element j + by[d]; elements from outside are `fill`. */
static value *moved(cursor *at, const windows *w, value *v, value *fill, const i64 *edge,
                    value *const *by, i64s sizes) {
  ir_ctx *c = at->env->c;
  arena *a = at->env->a;
  i64 *dims = ARENA_ARRAY(a, i64, w->rank), *none = arena_zalloc(a, w->rank * sizeof *none);
  value **starts = ARENA_ARRAY(a, value *, w->rank), *zero = emit_int(at, 0);
  bool any = false;
  for (u32 d = 0; d < w->rank; d++) {
    any |= edge[d] != 0;
    dims[d] = v->type->dims.data[d] + 2 * edge[d];
    starts[d] = edge[d] ? emit_binary(at, OP_add, by[d], emit_int(at, edge[d])) : zero;
  }
  if (!any) return v;
  const attr *edges = attr_i64_array(c, (i64s){edge, w->rank});
  value *wide =
      emit(at, OP_pad, (value *[]){v, fill}, 2, type_with_dims(c, v->type, (i64s){dims, w->rank}));
  op *o = wide->def.op;
  op_set(o, pad, edge_padding_low, edges);
  op_set(o, pad, edge_padding_high, edges);
  op_set(o, pad, interior_padding, attr_i64_array(c, (i64s){none, w->rank}));
  return emit_dynamic_slice(at, wide, starts, sizes);
}

/* tensor<i1>, or of the window's shape: which of its elements are in the slice. */
static value *mask_of(cursor *at, const windows *w) {
  ir_ctx *c = at->env->c;
  const type *t = type_tensor(c, w->sizes, type_i64(c), NULL);
  const type *bits = type_tensor(c, w->sizes, type_i1(c), NULL);
  value *here = NULL, *inside = NULL;
  for (u32 d = 0; d < w->rank; d++) {
    const window *x = &w->of[d];
    if (!x->cut) continue;
    if (x->here) {
      here = here ? emit_binary(at, OP_and, here, x->here) : x->here;
      continue;
    }
    value *j = emit(at, OP_iota, NULL, 0, t);
    op_set(j->def.op, iota, iota_dimension, attr_i64(c, d));
    j = emit_binary(at, OP_add, j, emit_broadcast(at, x->shift, w->sizes));
    value *ge = emit_compare(at, j, emit_broadcast(at, emit_int(at, 0), w->sizes), GE);
    value *lt = emit_compare(at, j, emit_broadcast(at, emit_int(at, x->slice), w->sizes), LT);
    value *both = emit_binary(at, OP_and, ge, lt);
    inside = inside ? emit_binary(at, OP_and, inside, both) : both;
  }
  if (here && inside)
    here = emit(at, OP_and, (value *[]){emit_broadcast(at, here, w->sizes), inside}, 2, bits);
  return here ? here : inside;
}

/* The window as it was, but for what the update has of it, goes back to where it was. */
bool local_dynamic_update_slice(local *l, op *o) {
  cursor at = cursor_before(&l->e, o);
  value *array = op_operand(o, 0), *update = op_operand(o, 1);
  windows w = find_windows(l, &at, o, 2, part_whole_type(l, update)->dims);
  local_types(l, o);
  if (!w.any) return true;
  i64 *edge = arena_zalloc(l->e.a, w.rank * sizeof *edge);
  value **by = arena_zalloc(l->e.a, w.rank * sizeof *by);
  for (u32 d = 0; d < w.rank; d++) {
    by[d] = w.of[d].shift;
    edge[d] = w.of[d].cut && !w.of[d].here ? w.of[d].size : 0;
  }
  const type *scalar = type_with_dims(l->e.c, array->type, (i64s){0});
  value *old = emit_dynamic_slice(&at, array, w.starts, w.sizes);
  value *new = moved(&at, &w, update, emit_zeros(&at, scalar), edge, by, w.sizes);
  value *r = emit(&at, OP_select, (value *[]){mask_of(&at, &w), new, old}, 3, old->type);
  op_set_operand(o, 1, r);
  for (u32 d = 0; d < w.rank; d++) op_set_operand(o, 2 + d, w.starts[d]);
  return true;
}

/* What of the slice is in the shard; what is not adds nothing to a sum. */
static bool slice_shard(local *l, op *o, cursor *at, const windows *w, i64s slice) {
  value *v = op_result(o, 0), *here = NULL;
  i64 *edge = arena_zalloc(l->e.a, w->rank * sizeof *edge);
  i64 *sizes = arena_copy(l->e.a, w->sizes.data, w->rank * sizeof *sizes);
  value **by = arena_zalloc(l->e.a, w->rank * sizeof *by);
  for (u32 d = 0; d < w->rank; d++) {
    const window *x = &w->of[d];
    if (!x->cut) continue;
    sizes[d] = slice.data[d];
    if (x->here) {
      here = here ? emit_binary(at, OP_and, here, x->here) : x->here;
      continue;
    }
    edge[d] = x->slice;
    by[d] = emit(at, OP_negate, &x->shift, 1, x->shift->type);
  }
  value *r = emit_dynamic_slice(at, op_operand(o, 0), w->starts, w->sizes);
  r = moved(at, w, r, emit_no_addend(at, type_with_dims(l->e.c, v->type, (i64s){0})), edge, by,
            (i64s){sizes, w->rank});
  if (here) r = emit(at, OP_select, (value *[]){here, r, emit_no_addend(at, r->type)}, 3, r->type);
  part_replace(v, r);
  op_erase(o);
  return true;
}

bool local_dynamic_slice(local *l, op *o) {
  struct dynamic_slice_attrs a;
  if (!view_dynamic_slice(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  cursor at = cursor_before(&l->e, o);
  windows w = find_windows(l, &at, o, 1, a.slice_sizes);
  if (w.any) return slice_shard(l, o, &at, &w, a.slice_sizes);
  i64s sizes = local_sizes(l, op_operand(o, 0), a.slice_sizes);
  op_set(o, dynamic_slice, slice_sizes, attr_i64_array(l->e.c, sizes));
  return local_types(l, o);
}
