/* Which windows ops need of dimensions that are cut (record.h, windows_fn). */
#include "partition/windows.h"

#include "dialect/expand.h"
#include "partition/pieces.h"
#include "partition/record.h"

enum { FAR = 1 << 30 };

/* Numbers as far out as no array reaches come from a file alone, and need not be served. */
static bool is_near(i64 x) { return x > -((i64)FAR << 10) && x < (i64)FAR << 10; }

bool window_is_near(const shard_window *w) {
  i64 most;
  return is_near(w->begin) && is_near(w->length) && is_near(w->size) &&
         checked_mul(w->step, w->parts, &most) && is_near(most) && is_near(w->divisor);
}

static i64 size_of(const type *const *types, u32 t, u32 d) { return types[t]->dims.data[d]; }

shard_window window_own(i64 size, i64 parts) {
  return (shard_window){
      .size = size, .shard = div_ceil_i64(size, parts), .parts = parts, .divisor = 1, .last = size};
}

bool windows_slice(const op *o, const type *const *types, u32 t, u32 d, i64 parts,
                   shard_window *w) {
  struct slice_attrs v;
  if (!view_slice(o, &v)) return false;
  i64 out = size_of(types, 1, d), by = v.strides.data[d];
  *w = window_own(size_of(types, t, d), parts);
  if (w->size == out) return true;
  i64 shard = div_ceil_i64(out, parts);
  w->step = shard * by;
  w->begin = w->first = v.start_indices.data[d];
  w->length = (shard - 1) * by + 1;
  w->last = v.limit_indices.data[d]; /* what is behind is padding of the result */
  return window_is_near(w);
}

bool windows_reverse(const op *o, const type *const *types, u32 t, u32 d, i64 parts,
                     shard_window *w) {
  struct reverse_attrs v;
  if (!view_reverse(o, &v)) return false;
  *w = window_own(size_of(types, t, d), parts);
  if (!i64s_contain(v.dimensions, d)) return true;
  w->step = -w->shard;
  w->begin = w->size - w->shard;
  w->length = w->shard;
  return true;
}

/* ---- between elements, others ---- */

/* A shard of the result reads `length` places in a row, from t * step - low on, of a dimension
 * whose elements are `apart` places from each other, from place 0 on. `may_shift`: it may read
 * some more, and leave out what it makes of them. */
static bool spread_read(i64 size, i64 parts, i64 apart, i64 step, i64 low, i64 length,
                        bool may_shift, padded_read *r) {
  r->w = window_own(size, parts);
  r->more = step % apart ? apart - 1 : 0; /* the first element is elsewhere in each shard */
  if (r->more && !may_shift) return false;
  r->w.divisor = r->more ? apart : 1;
  r->w.step = r->more ? step : step / apart;
  r->w.begin = r->more ? -low : div_ceil_i64(-low, apart);
  r->low = r->more ? 0 : r->w.begin * apart + low;
  length += r->more;
  r->w.length = r->low < length ? (length - 1 - r->low) / apart + 1 : 0;
  r->high = length - r->low - ((r->w.length - 1) * apart + 1);
  return r->w.length > 0 && window_is_near(&r->w);
}

bool pad_read(const op *o, const type *const *types, u32 d, i64 parts, padded_read *r) {
  struct pad_attrs v;
  if (!view_pad(o, &v)) return false;
  i64 shard = div_ceil_i64(size_of(types, 2, d), parts);
  return spread_read(size_of(types, 0, d), parts, v.interior_padding.data[d] + 1, shard,
                     v.edge_padding_low.data[d], shard, false, r);
}

bool windows_pad(const op *o, const type *const *types, u32 t, u32 d, i64 parts, shard_window *w) {
  struct pad_attrs v;
  padded_read r;
  if (t || !view_pad(o, &v)) return false;
  *w = window_own(size_of(types, 0, d), parts);
  if (!v.edge_padding_low.data[d] && !v.edge_padding_high.data[d] && !v.interior_padding.data[d])
    return true;
  if (!pad_read(o, types, d, parts, &r)) return false;
  *w = r.w;
  return true;
}

/* ---- windows that slide ---- */

static i64 at_or(i64s l, size_t i, i64 otherwise) { return i < l.len ? l.data[i] : otherwise; }

static i64 low_padding(const dense_attr *p, size_t d) {
  return p ? attr_dense_int(&p->base, 2 * d) : 0;
}

/* Shards of the output slide over the input by their windows; shards of the kernel are each a
 * window that slides over all of the output. */
bool convolution_read(const op *o, const type *const *types, u32 i, i64 parts, padded_read *r) {
  struct convolution_attrs v;
  if (!view_convolution(o, &v)) return false;
  const conv_attr *c = v.dimension_numbers;
  i64 size = size_of(types, 0, (u32)c->input_spatial_dimensions.data[i]);
  i64 kernel = size_of(types, 1, (u32)c->kernel_spatial_dimensions.data[i]);
  i64 out = size_of(types, 2, (u32)c->output_spatial_dimensions.data[i]);
  i64 stride = at_or(v.window_strides, i, 1), apart = at_or(v.rhs_dilation, i, 1), step;
  bool by_kernel = out < kernel;
  if (by_kernel)
    kernel = div_ceil_i64(kernel, parts), step = kernel * apart;
  else
    out = div_ceil_i64(out, parts), step = out * stride;
  return spread_read(size, parts, at_or(v.lhs_dilation, i, 1), step,
                     low_padding(v.present & 2 ? v.padding : NULL, i),
                     (out - 1) * stride + (kernel - 1) * apart + 1, stride == 1 && !by_kernel, r);
}

bool windows_convolution(const op *o, const type *const *types, u32 t, u32 d, i64 parts,
                         shard_window *w) {
  struct convolution_attrs v;
  padded_read r;
  *w = window_own(size_of(types, t, d), parts);
  if (!view_convolution(o, &v)) return false;
  i64s spatial = v.dimension_numbers->input_spatial_dimensions;
  for (u32 i = 0; i < spatial.len && t == 0; i++) {
    if (spatial.data[i] != d) continue;
    if (!convolution_read(o, types, i, parts, &r)) return false;
    *w = r.w;
  }
  return true;
}

bool reduce_window_read(const op *o, const type *const *types, u32 d, i64 parts, padded_read *r) {
  struct reduce_window_attrs v;
  if (!view_reduce_window(o, &v)) return false;
  i64 out = div_ceil_i64(size_of(types, o->num_operands, d), parts);
  i64 stride = at_or(v.window_strides, d, 1);
  i64 reach = (v.window_dimensions.data[d] - 1) * at_or(v.window_dilations, d, 1);
  return spread_read(size_of(types, 0, d), parts, at_or(v.base_dilations, d, 1), out * stride,
                     low_padding(v.present & 1u << 4 ? v.padding : NULL, d),
                     (out - 1) * stride + reach + 1, stride == 1, r);
}

/* Padding takes no part in a window. What is read for it must not either: zeros in a sum, and what
 * the window starts from where once or often is the same. */
static bool may_reach_out(const op *o, u32 t) {
  u32 n = o->num_operands / 2;
  unreduced_kind kind;
  if (!part_body_kind(op_body(o, 0), t, n, &kind)) return false;
  if (kind != UNREDUCED_SUM && !part_same_element(op_operand(o, t), op_operand(o, n + t)))
    return false; /* there may be no such element */
  return kind != UNREDUCED_MUL || splat_is(part_scalar_constant(op_operand(o, n + t)), 1);
}

bool windows_reduce_window(const op *o, const type *const *types, u32 t, u32 d, i64 parts,
                           shard_window *w) {
  padded_read r;
  if (t >= o->num_operands / 2) return false;
  if (!reduce_window_read(o, types, d, parts, &r)) return false;
  *w = r.w;
  return !window_reaches_out(w) || may_reach_out(o, t);
}

/* ---- windows that select ---- */

static bool scatter_moves(const struct select_and_scatter_attrs *v, u32 d) {
  const dense_attr *p = v->present & 4 ? v->padding : NULL;
  return at_or(v->window_dimensions, d, 1) != 1 || at_or(v->window_strides, d, 1) != 1 ||
         low_padding(p, d) || (p && attr_dense_int(&p->base, 2 * d + 1));
}

/* One factor a dimension in the operand and the source: shards of both go together. */
const rule *rule_windows_scatter(rule_builder *b, const op *o) {
  struct select_and_scatter_attrs v;
  if (!view_select_and_scatter(o, &v)) return NULL;
  i64s in = rule_shape(b, 0), source = rule_shape(b, 1);
  for (i64 d = 0; d < (i64)in.len; d++)
    rule_factor(b, (const i64[]){d, d, NO_DIM}, &d, source.data[d],
                scatter_moves(&v, (u32)d) ? FACTOR_PERMUTATION : FACTOR_PASS, false);
  return rule_end(b);
}

/* The windows that have elements of the shard are those whose source it needs, and all of what they
 * select from. Windows beyond the ends add nothing, if adding is what is done. */
bool scatter_read(const op *o, const type *const *types, u32 d, i64 parts, scatter_windows *r) {
  struct select_and_scatter_attrs v;
  if (!view_select_and_scatter(o, &v)) return false;
  i64 window = at_or(v.window_dimensions, d, 1), stride = at_or(v.window_strides, d, 1);
  i64 low = low_padding(v.present & 4 ? v.padding : NULL, d);
  r->operand = window_own(size_of(types, 0, d), parts);
  r->source = window_own(size_of(types, 1, d), parts);
  i64 shard = r->operand.shard;
  if (shard % stride) return false; /* windows would begin elsewhere in each shard */
  if (r->operand.size <= (parts - 1) * shard) return false; /* not only the last one has an end */
  i64 first = div_ceil_i64(low - window + 1, stride);
  i64 count = div_floor_i64(shard - 1 + low, stride) - first + 1;
  r->at = low - first * stride;
  r->source.step = shard / stride;
  r->source.begin = first;
  r->source.length = count;
  r->operand.step = shard;
  r->operand.begin = -r->at;
  r->operand.length = max_i64((count - 1) * stride + window, r->at + shard);
  const dense_attr *p = v.present & 4 ? v.padding : NULL;
  bool own =
      !op_discardable(o, STR(PIECES_FILL)) && (low || (p && attr_dense_int(&p->base, 2 * d + 1)));
  i64 over = r->operand.length - r->at - (r->operand.size - (parts - 1) * shard);
  r->low = own ? r->at : 0;
  r->high = own ? max_i64(0, over) : 0;
  return count > 0 && r->at >= 0 && window_is_near(&r->source) && window_is_near(&r->operand);
}

bool windows_scatter(const op *o, const type *const *types, u32 t, u32 d, i64 parts,
                     shard_window *w) {
  struct select_and_scatter_attrs v;
  scatter_windows r;
  unreduced_kind kind;
  if (t > 1 || !view_select_and_scatter(o, &v) || (v.present & 4 && !v.padding)) return false;
  *w = window_own(size_of(types, t, d), parts);
  if (!scatter_moves(&v, d)) return true;
  if (!part_same_element(op_operand(o, 0), op_operand(o, 2)) ||
      !part_same_element(op_operand(o, 1), op_operand(o, 2)))
    return false; /* what lies outside is of all three types */
  if (!scatter_read(o, types, d, parts, &r)) return false;
  *w = t ? r.source : r.operand;
  if (r.low > r.operand.shard || r.high > r.operand.shard) return false;
  return !window_reaches_out(&r.source) ||
         (part_body_kind(op_body(o, 1), 0, 1, &kind) && kind == UNREDUCED_SUM);
}
