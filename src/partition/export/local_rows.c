/* sdy-convert-global-to-local as Shardy has it, where that is not what rows of records say: ops
 * that are checked otherwise, or become other ops (openxla/shardy, convert_global_to_local.cc). An
 * op that is not in the table is taken as it stands, as there. */
#include "partition/export/local_rows.h"

static axis_list axes_of(const sharding *s, i64 d) {
  return s && d >= 0 && d < (i64)s->rank ? s->dims[d].axes : (axis_list){0};
}

/* Axes of dimensions; sums do not count. */
static bool is_whole(const sharding *s) {
  for (u32 d = 0; s && d < s->rank; d++)
    if (s->dims[d].axes.len) return false;
  return true;
}

static bool refuse(local *l, const op *o) {
  str name = o->info->name;
  loc_error(l->e.c, o->loc,
            "failed to legalize operation '" STR_FMT "' that was explicitly marked illegal",
            STR_ARG(name));
  return false;
}

static bool mismatch(local *l, const op *o, u32 d) {
  op_error(l->e.c, o,
           "dimension %u has mismatched sharding axes. This requires a reshard which should have "
           "been handled by previous passes.",
           d);
  return refuse(l, o);
}

/* ---- concatenate, slice ---- */

static bool export_concatenate(local *l, op *o) {
  struct concatenate_attrs a;
  if (!view_concatenate(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  const sharding *out = local_sharding(l, op_result(o, 0));
  long long at = (long long)a.dimension;
  if (axes_of(out, a.dimension).len) {
    op_error(l->e.c, o, "dimension %lld is sharded but the concatenation is on this dimension.",
             at);
    return refuse(l, o);
  }
  for (u32 i = 0; i < o->num_operands; i++) {
    const sharding *in = local_sharding(l, op_operand(o, i));
    if (is_whole(in)) continue;
    if (axes_of(in, a.dimension).len) {
      op_error(l->e.c, o,
               "operand %u is sharded on concatenation dimension %lld. This is not supported.", i,
               at);
      return refuse(l, o);
    }
    for (u32 d = 0; d < in->rank; d++)
      if (!axes_eq(axes_of(in, d), axes_of(out, d))) return mismatch(l, o, d);
  }
  return local_types(l, o);
}

/* The same number of elements at the beginning of each shard is what the result has. */
static bool slices_in_place(const local *l, const struct slice_attrs *a, const value *in,
                            const value *out, u32 d) {
  i64 parts = local_parts(l, in, d), size = l->from[in->num]->dims.data[d];
  i64 left = l->from[out->num]->dims.data[d];
  if (parts <= 1) return true;
  return a->strides.data[d] == 1 && (size + parts - 1) / parts == (left + parts - 1) / parts;
}

static bool export_slice(local *l, op *o) {
  struct slice_attrs a;
  if (!view_slice(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  const value *v = op_operand(o, 0), *r = op_result(o, 0);
  const sharding *in = local_sharding(l, v), *out = local_sharding(l, r);
  if (is_whole(in) && is_whole(out)) return local_types(l, o);
  i64s limits = {arena_copy(l->e.a, a.limit_indices.data, a.limit_indices.len * sizeof(i64)),
                 a.limit_indices.len};
  for (u32 d = 0; d < limits.len; d++) {
    if (!axes_eq(axes_of(in, d), axes_of(out, d))) return mismatch(l, o, d);
    if (!axes_of(in, d).len) continue;
    bool full = a.limit_indices.data[d] == l->from[v->num]->dims.data[d];
    bool apart = v->type->dims.data[d] % a.strides.data[d] != 0; /* shards begin elsewhere */
    if (a.start_indices.data[d] || (full && apart) || (!full && !slices_in_place(l, &a, v, r, d))) {
      op_error(l->e.c, o,
               "dimension %u is sharded but the slice is not a full slice and requires device "
               "communication.",
               d);
      return refuse(l, o);
    }
    ((i64 *)limits.data)[d] = (full ? v->type : l->to[r->num])->dims.data[d];
  }
  op_set(o, slice, limit_indices, attr_i64_array(l->e.c, limits));
  o->num_attrs = 0;
  return local_types(l, o);
}

/* ---- products ---- */

bool export_check_summed(local *l, op *o, axis_list axes) {
  struct sdy_all_reduce_attrs a;
  value *v = op_result(o, 0);
  if (!axes.len) return true;
  const op *user = value_has_one_use(v) ? v->uses->owner : NULL;
  if (user && op_is(user, sdy_all_reduce) && view_sdy_all_reduce(user, &a)) {
    const mesh *m = part_sharding(&l->e, op_result(user, 0))->mesh;
    axis_list summed = part_read_axes(&l->e, m, a.reduction_axes->axes);
    if (axes_eq(axes_sort_merge(l->e.a, summed), axes_sort_merge(l->e.a, axes))) return true;
  }
  return op_error(l->e.c, o, "is sharded along what it sums up, and no sdy.all_reduce follows");
}

static bool export_product(local *l, op *o, i64s contracted) {
  const sharding *lhs = local_sharding(l, op_operand(o, 0));
  axis_list axes = {0};
  for (size_t i = 0; lhs && i < contracted.len; i++)
    axes = axes_concat(l->e.a, axes, axes_of(lhs, contracted.data[i]));
  return export_check_summed(l, o, axes) && local_types(l, o);
}

static bool export_dot(local *l, op *o) {
  i64 last = (i64)op_operand(o, 0)->type->dims.len - 1;
  return export_product(l, o, (i64s){&last, 1});
}

static bool export_dot_general(local *l, op *o) {
  struct dot_general_attrs a;
  if (!view_dot_general(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  return export_product(l, o, a.dot_dimension_numbers->lhs_contracting_dimensions);
}

/* Groups as this device has them; false: they cannot be divided among these axes. */
static bool local_groups(i64 *groups, axis_list axes) {
  i64 parts = axes_size(axes);
  if (*groups <= 1 || !axes.len) return true;
  if (parts > *groups) parts = *groups;
  if (*groups % parts) return false;
  *groups /= parts;
  return true;
}

static bool export_convolution(local *l, op *o) {
  struct convolution_attrs a;
  if (!view_convolution(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  const sharding *lhs = local_sharding(l, op_operand(o, 0));
  const sharding *rhs = local_sharding(l, op_operand(o, 1));
  if (is_whole(lhs) && is_whole(rhs) && is_whole(local_sharding(l, op_result(o, 0))))
    return local_types(l, o);
  const conv_attr *n = a.dimension_numbers;
  axis_list sums = axes_of(rhs, n->kernel_input_feature_dimension);
  for (size_t i = 0; i < n->kernel_spatial_dimensions.len; i++)
    sums = axes_concat(l->e.a, sums, axes_of(rhs, n->kernel_spatial_dimensions.data[i]));
  if (!export_check_summed(l, o, sums)) return false;
  i64 features = a.feature_group_count, batches = a.batch_group_count;
  if (!local_groups(&features, axes_of(rhs, n->kernel_output_feature_dimension)) ||
      !local_groups(&batches, axes_of(lhs, n->input_batch_dimension)))
    return op_error(l->e.c, o, "has groups that its sharding does not divide");
  op_set(o, convolution, feature_group_count, attr_i64(l->e.c, features));
  op_set(o, convolution, batch_group_count, attr_i64(l->e.c, batches));
  o->num_attrs = 0;
  return local_types(l, o);
}

/* ---- windows ---- */

static i64 at_or(i64s list, u32 d, i64 otherwise) {
  return d < list.len ? list.data[d] : otherwise;
}

/* No window crosses the border of a shard: they lie apart, and begin where shards do. */
static bool check_windows(local *l, op *o, i64s sizes, i64s strides, const dense_attr *padding) {
  const sharding *in = local_sharding(l, op_operand(o, 0));
  for (u32 d = 0; in && d < in->rank; d++) {
    if (sharding_dim_size(in, d) == 1) continue;
    i64 size = at_or(sizes, d, 1), stride = at_or(strides, d, 1);
    bool padded = padding && (attr_dense_int(&padding->base, 2 * (size_t)d) ||
                              attr_dense_int(&padding->base, 2 * (size_t)d + 1));
    if (padded || stride < size || op_operand(o, 0)->type->dims.data[d] % stride)
      return op_error(l->e.c, o, "dimension %u is sharded but is not a pass-through dimension.", d);
  }
  return local_types(l, o);
}

static bool export_reduce_window(local *l, op *o) {
  struct reduce_window_attrs a;
  if (!view_reduce_window(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  return check_windows(l, o, a.window_dimensions, a.window_strides, a.padding);
}

static bool export_select_and_scatter(local *l, op *o) {
  struct select_and_scatter_attrs a;
  if (!view_select_and_scatter(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  return check_windows(l, o, a.window_dimensions, a.window_strides, a.padding);
}

/* ---- iota ---- */

/* Numbers of the whole are exact in the element type: the sum of two is, then. */
static bool holds_sizes(const type *elem, i64 size) {
  if (elem->kind == TYPE_INT) return true;
  return size <= (elem->width >= 32 ? 1 << 24 : elem->width >= 16 ? 1 << 8 : 1 << 2);
}

static bool export_iota(local *l, op *o) {
  struct iota_attrs a;
  ir_ctx *c = l->e.c;
  value *v = op_result(o, 0);
  const sharding *s = local_sharding(l, v);
  const type *to = l->to[v->num];
  if (!view_iota(o, &a) || is_whole(s)) return true;
  if (!axes_of(s, a.iota_dimension).len) {
    o->num_attrs = 0;
    return local_types(l, o);
  }
  if (!holds_sizes(to->elem, v->type->dims.data[a.iota_dimension])) return local_iota(l, o);
  cursor at = cursor_before(&l->e, o);
  value *r = emit(&at, OP_iota, NULL, 0, to);
  op_set(r->def.op, iota, iota_dimension, attr_i64(c, a.iota_dimension));
  value *begin =
      local_offset(l, &at, s->mesh, axes_of(s, a.iota_dimension), to->dims.data[a.iota_dimension]);
  begin = emit(&at, OP_convert, &begin, 1, type_tensor(c, (i64s){0}, to->elem, NULL));
  begin = emit(&at, OP_broadcast_in_dim, &begin, 1, to);
  op_set(begin->def.op, broadcast_in_dim, broadcast_dimensions, attr_i64_array(c, (i64s){0}));
  part_replace(v, emit_binary(&at, OP_add, r, begin));
  op_erase(o);
  return true;
}

/* ---- pad ---- */

/* Where a shard's elements begin in the shard of the result, for one dimension. */
typedef struct shift {
  const sharding *s;
  u32 d;
  i64 in, out, step, low; /* sizes of shards; from element to element; in front of all */
  i64 most, least, base;
} shift;

static i64 shift_at(const shift *s, i64 position) {
  i64 k = axes_index_at(s->s->mesh, s->s->dims[s->d].axes, position);
  return k * s->in * s->step + s->low - k * s->out;
}

static i64 start_at(const void *user, i64 position) {
  const shift *s = user;
  return s->base - shift_at(s, position);
}

/* The elements that end up in the device's shard of the result are in its shard. */
static bool has_elements(const shift *s, i64 whole, i64 position) {
  i64 k = axes_index_at(s->s->mesh, s->s->dims[s->d].axes, position);
  i64 before = k * s->out - s->low, behind = before + s->out - 1;
  i64 first = before > 0 ? (before + s->step - 1) / s->step : 0;
  i64 last = behind < 0 ? -1 : behind / s->step < whole ? behind / s->step : whole - 1;
  return first > last || (first / s->in == k && last / s->in == k);
}

static i64 spread_size(const shift *s) { return s->in ? (s->in - 1) * s->step + 1 : 0; }

static bool find_shifts(local *l, op *o, const struct pad_attrs *a, shift *shifts) {
  const value *v = op_operand(o, 0), *r = op_result(o, 0);
  const sharding *in = local_sharding(l, v), *out = local_sharding(l, r);
  for (u32 d = 0; d < in->rank; d++) {
    if (!axes_eq(axes_of(in, d), axes_of(out, d))) return mismatch(l, o, d);
    shift *s = &shifts[d];
    i64 whole = l->from[v->num]->dims.data[d], size;
    *s = (shift){in, d, v->type->dims.data[d], l->to[r->num]->dims.data[d], 0, 0, 0, 0, 0};
    s->low = a->edge_padding_low.data[d];
    if (!checked_add(a->interior_padding.data[d], 1, &s->step) ||
        !checked_mul(s->step, whole, &size))
      return op_error(l->e.c, o, "is too large");
    for (i64 i = 0; i < in->mesh->size; i++) {
      i64 at = shift_at(s, i);
      if (!has_elements(s, whole, i))
        return op_error(l->e.c, o, "dimension %u is padded by what requires device communication",
                        d);
      if (!i || at > s->most) s->most = at;
      if (!i || at < s->least) s->least = at;
    }
  }
  return true;
}

/* As much as any device needs on either side; each takes its part of that. */
static value *pad_and_slice(local *l, cursor *at, op *o, shift *shifts, const i64 *inside,
                            const type *to) {
  u32 rank = (u32)to->dims.len;
  i64 *low = ARENA_ARRAY(l->e.a, i64, rank), *high = ARENA_ARRAY(l->e.a, i64, rank);
  const mesh *m = shifts[0].s->mesh;
  for (u32 d = 0; d < rank; d++) {
    low[d] = shifts[d].base = max_i64(0, shifts[d].most);
    high[d] = max_i64(0, shifts[d].out - shifts[d].least - spread_size(&shifts[d]));
  }
  value *v = emit_pad(at, op_operand(o, 0), op_operand(o, 1), low, high, inside);
  value **starts = ARENA_ARRAY(l->e.a, value *, rank);
  value *device = emit_device_id(at, l->o.device_id);
  for (u32 d = 0; d < rank; d++) {
    if (shifts[d].most == shifts[d].least)
      starts[d] = emit_int(at, start_at(&shifts[d], 0));
    else
      starts[d] = emit_reshape(
          at, local_look_up(l, at, device, m, type_i64(l->e.c), start_at, &shifts[d]), (i64s){0});
  }
  return emit_dynamic_slice(at, v, starts, to->dims);
}

static bool export_pad(local *l, op *o) {
  struct pad_attrs a;
  value *r = op_result(o, 0);
  const sharding *in = local_sharding(l, op_operand(o, 0));
  if (!view_pad(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  if (is_whole(in) && is_whole(local_sharding(l, r))) return local_types(l, o);
  if (is_whole(in)) return mismatch(l, o, 0);
  u32 rank = in->rank;
  shift *shifts = ARENA_ARRAY(l->e.a, shift, rank);
  i64 *low = ARENA_ARRAY(l->e.a, i64, rank), *high = ARENA_ARRAY(l->e.a, i64, rank);
  if (!find_shifts(l, o, &a, shifts)) return false;
  bool alike = true;
  for (u32 d = 0; d < rank; d++) {
    alike &= shifts[d].most == shifts[d].least;
    low[d] = shifts[d].most;
    high[d] = shifts[d].out - spread_size(&shifts[d]) - low[d];
  }
  cursor at = cursor_before(&l->e, o);
  const i64 *inside = a.interior_padding.data;
  part_replace(r, alike ? emit_pad(&at, op_operand(o, 0), op_operand(o, 1), low, high, inside)
                        : pad_and_slice(l, &at, o, shifts, inside, l->to[r->num]));
  op_erase(o);
  return true;
}

/* ---- the table ---- */

static bool export_call(local *l, op *o) {
  o->num_attrs = 0;
  return local_types(l, o);
}

/* Ops of tests are left as they are; what a reversal takes from elsewhere has been moved before. */
static local_fn *const rows[OP_COUNT] = {
    [OP_concatenate] = export_concatenate,
    [OP_slice] = export_slice,
    [OP_dot] = export_dot,
    [OP_dot_general] = export_dot_general,
    [OP_convolution] = export_convolution,
    [OP_reduce_window] = export_reduce_window,
    [OP_select_and_scatter] = export_select_and_scatter,
    [OP_iota] = export_iota,
    [OP_pad] = export_pad,
    [OP_gather] = export_gather,
    [OP_scatter] = export_scatter,
    [OP_reverse] = local_types,
    [OP_call] = export_call,
    [OP_interpreter_print] = local_types,
    [OP_probe] = local_types,
};

local_fn *local_export(const op *o) { return op_kind(o) < OP_COUNT ? rows[op_kind(o)] : NULL; }
