/* What factors of an op need when they are cut, where its rule's kinds do not say it. */
#include "partition/common_axes.h"
#include "partition/local.h"

static i64s dims_of(const value *v) { return v->type->dims; }

/* All factors of dimension d of tensor t. */
static void mark(const rule *r, part_need *needs, u32 t, i64 d, part_need need) {
  if (d < 0 || d >= (i64)rule_rank(r, t)) return;
  u32 at = r->tensor_begin[t] + (u32)d;
  for (u32 k = r->dim_begin[at]; k < r->dim_begin[at + 1]; k++) needs[r->places[k]] = need;
}

static const part_need whole = {.kind = NEED_WHOLE};

static i64 at_or(i64s l, size_t i, i64 otherwise) { return i < l.len ? l.data[i] : otherwise; }

static part_need halo(i64 low, i64 high) {
  return (part_need){.kind = NEED_HALO, .low = low, .high = high};
}

/* ---- cutting and moving ---- */

/* Strides take elements from farther and farther away. */
void needs_slice(const op *o, const rule *r, part_need *needs) {
  struct slice_attrs v;
  if (!view_slice(o, &v)) return;
  for (u32 d = 0; d < rule_rank(r, 0); d++)
    if (needs[r->places[r->dim_begin[d]]].kind == NEED_PERMUTE && v.strides.data[d] == 1)
      mark(r, needs, 0, d, halo(-v.start_indices.data[d], v.start_indices.data[d]));
}

/* Each device has what of the slice is in its shard, and zeros for the rest. That is less than to
 * gather the whole where it is twice as long. */
void needs_dynamic_slice(const op *o, const rule *r, part_need *needs) {
  i64s in = dims_of(op_operand(o, 0)), out = dims_of(op_result(o, 0));
  bool zeros = part_has_no_addend(type_element(op_result(o, 0)->type));
  u32 result = r->num_operands;
  for (u32 d = 0; d < in.len; d++) {
    if (in.data[d] == out.data[d]) continue;
    u32 at = r->dim_begin[r->tensor_begin[0] + d];
    bool own = zeros && out.data[d] <= in.data[d] / 2 && !rule_has_factor(r, result, r->places[at]);
    mark(r, needs, 0, d, own ? (part_need){.kind = NEED_MASK, .padding = PADDING_ANY} : whole);
    mark(r, needs, result, d, whole);
  }
}

/* The update lies somewhere: all devices have it, and write what of it is in their shards. */
void needs_dynamic_update_slice(const op *o, const rule *r, part_need *needs) {
  i64s array = dims_of(op_operand(o, 0)), update = dims_of(op_operand(o, 1));
  for (size_t d = 0; d < array.len; d++) {
    if (array.data[d] == update.data[d]) continue;
    mark(r, needs, 0, (i64)d, (part_need){.kind = NEED_OWN, .padding = PADDING_ANY});
    mark(r, needs, 1, (i64)d, whole);
  }
}

/* Runs of dimensions with equal products correspond. A run can be cut if at each step one of the
 * two products divides the other, as in 6x9 -> 2x27; in 3x6 -> 2x9 shards of 3 are no shards of
 * 2, though the rule has factors for both. */
void needs_reshape(const op *o, const rule *r, part_need *needs) {
  i64s x = dims_of(op_operand(o, 0)), y = dims_of(op_result(o, 0));
  for (size_t i = 0, j = 0; i < x.len || j < y.len;) {
    size_t from = i, to = j;
    i64 left = 1, right = 1;
    bool regular = true, first = true;
    while (first || left != right) {
      bool take_left = first ? i < x.len : left < right;
      if (take_left ? i == x.len : j == y.len) break;
      bool fits = checked_mul(take_left ? left : right, take_left ? x.data[i] : y.data[j],
                              take_left ? &left : &right);
      *(take_left ? &i : &j) += 1;
      first = false;
      regular &= fits && left > 0 && right > 0 && (left % right == 0 || right % left == 0);
      if (!fits || left <= 0 || right <= 0) break;
    }
    for (; from < i && !regular; from++) mark(r, needs, 0, (i64)from, whole);
    for (; to < j && !regular; to++) mark(r, needs, 1, (i64)to, whole);
  }
}

/* A dimension may keep its size and still lose elements at one end and get some at the other. */
void needs_pad(const op *o, const rule *r, part_need *needs) {
  struct pad_attrs v;
  if (!view_pad(o, &v)) return;
  for (u32 d = 0; d < rule_rank(r, 0); d++) {
    i64 low = v.edge_padding_low.data[d], inside = v.interior_padding.data[d];
    if (low || v.edge_padding_high.data[d] || inside)
      mark(r, needs, 0, d, inside ? (part_need){.kind = NEED_PERMUTE} : halo(low, -low));
  }
}

/* ---- gather and scatter ---- */

/* Window dimension k of the result (gather) or updates (scatter) belongs to the k-th dimension of
 * the array that is neither collapsed nor batching; whole where a window takes less than all of
 * it. Of the collapsed dimensions some may be masked. */
typedef struct windows {
  u32 array, slices; /* tensors */
  i64s array_shape, slices_shape, dims, collapsed, batching;
  dim_set masked; /* dimensions along which each device has what is in its shard */
  u8 need;        /* of these */
} windows;

static void mark_windows(const rule *r, part_need *needs, const windows *w) {
  size_t k = 0;
  for (size_t d = 0; d < w->array_shape.len; d++) {
    if (i64s_contain(w->batching, (i64)d)) continue;
    bool masked = (w->masked & dim_bit((i64)d)) != 0;
    part_need need = masked ? (part_need){.kind = w->need, .padding = PADDING_ANY} : whole;
    if (i64s_contain(w->collapsed, (i64)d)) {
      if (!masked || w->array_shape.data[d] > 1) mark(r, needs, w->array, (i64)d, need);
      continue;
    }
    i64 s = at_or(w->dims, k++, -1);
    if (s >= 0 && s < (i64)w->slices_shape.len && w->slices_shape.data[s] == w->array_shape.data[d])
      continue;
    mark(r, needs, w->array, (i64)d, need);
    mark(r, needs, w->slices, s, whole);
  }
}

/* An index vector is used as one, so that it stays whole; batches of indices may be cut. */
void needs_gather(const op *o, const rule *r, part_need *needs) {
  struct gather_attrs v;
  if (!view_gather(o, &v)) return;
  const gather_dims_attr *g = v.dimension_numbers;
  const windows w = {.array = 0,
                     .slices = 2,
                     .array_shape = dims_of(op_operand(o, 0)),
                     .slices_shape = dims_of(op_result(o, 0)),
                     .dims = g->offset_dims,
                     .collapsed = g->collapsed_slice_dims,
                     .batching = g->operand_batching_dims,
                     .masked = local_gather_masks(o, &v),
                     .need = NEED_MASK};
  mark_windows(r, needs, &w);
  mark(r, needs, 1, g->index_vector_dim, whole);
}

/* Updates that lie on several devices make several arrays: fine where these combine, which is
 * what the rule's reduction factors say. A device writes those that fall into its shard. */
void needs_scatter(const op *o, const rule *r, part_need *needs) {
  struct scatter_attrs v;
  u32 n = (o->num_operands - 1) / 2;
  if (!view_scatter(o, &v) || n == 0) return;
  const scatter_dims_attr *s = v.scatter_dimension_numbers;
  const windows w = {.array = 0,
                     .slices = n + 1,
                     .array_shape = dims_of(op_operand(o, 0)),
                     .slices_shape = dims_of(op_operand(o, n + 1)),
                     .dims = s->update_window_dims,
                     .collapsed = s->inserted_window_dims,
                     .batching = s->input_batching_dims,
                     .masked = local_scatter_masks(&v),
                     .need = NEED_OWN};
  mark_windows(r, needs, &w);
  mark(r, needs, n, s->index_vector_dim, whole);
}

/* ---- calls ---- */

/* Dimension d of all tensors is this factor, and nothing else. */
static bool leads(const rule *r, u32 f, u32 d) {
  for (u32 t = 0; t < rule_num_tensors(r); t++) {
    u32 at = r->tensor_begin[t] + d;
    if (d >= rule_rank(r, t) || r->dim_begin[at + 1] != r->dim_begin[at] + 1 ||
        r->places[r->dim_begin[at]] != f)
      return false;
  }
  return true;
}

/* Nobody knows what a call does, but for those that say how much of them is a batch, and LAPACK's,
 * each of which is of a batch of matrices, the first operand. The rule may be JAX's own: it is
 * believed only where all tensors have the batch. */
void needs_custom_call(const op *o, const rule *r, part_need *needs) {
  struct custom_call_attrs v;
  if (!view_custom_call(o, &v)) return;
  i64 dims = 0;
  if (str_starts(v.call_target_name, STR("lapack_")) && r->num_operands && rule_rank(r, 0) > 2)
    dims = (i64)rule_rank(r, 0) - 2;
  attr_get_i64(op_discardable(o, CALL_BATCH_DIMS), &dims);
  for (u32 f = 0; f < r->num_factors; f++) {
    bool batch = false;
    for (u32 d = 0; d < dims && !batch; d++) batch = leads(r, f, d);
    if (!batch) needs[f] = whole;
  }
}

/* ---- windows ---- */

static i64 padding_at(const dense_attr *p, size_t d, int side) {
  return p ? attr_dense_int(&p->base, 2 * d + (size_t)side) : 0;
}

/* Groups of features and batches are the major factors of theirs, so that shards are of whole
 * groups, or lie in one. Of a spatial dimension that is cut along the kernel, as where a kernel's
 * gradient is computed, each device has a part of the sum: if that is not read backwards. */
void needs_convolution(const op *o, const rule *r, part_need *needs) {
  struct convolution_attrs v;
  bool ok = view_convolution(o, &v);
  for (u32 f = 0; f < r->num_factors && !ok; f++) needs[f] = whole;
  if (!ok) return;
  const conv_attr *c = v.dimension_numbers;
  bool unknown = v.present & 2 && !v.padding;
  i64s kernel = dims_of(op_operand(o, 1)), out = dims_of(op_result(o, 0));
  for (size_t i = 0; i < c->input_spatial_dimensions.len; i++) {
    i64 k = c->kernel_spatial_dimensions.data[i], to = c->output_spatial_dimensions.data[i];
    i64 low = padding_at(v.present & 2 ? v.padding : NULL, i, 0), size = kernel.data[k];
    part_need need = halo(low, (size - 1) * at_or(v.rhs_dilation, i, 1) - low);
    need.padding = PADDING_ZERO;
    bool by_kernel = out.data[to] < size;
    bool turned = i < v.window_reversal.len && v.window_reversal.data[i];
    mark(r, needs, 0, c->input_spatial_dimensions.data[i], unknown ? whole : need);
    mark(r, needs, by_kernel ? 2 : 1, by_kernel ? to : k, whole);
    if (by_kernel) need.kind = NEED_REDUCE;
    mark(r, needs, by_kernel ? 1 : 2, by_kernel ? k : to,
         unknown || (by_kernel && turned) ? whole : need);
  }
}

/* A window that reaches from one end to each element is a running reduction. */
void needs_reduce_window(const op *o, const rule *r, part_need *needs) {
  struct reduce_window_attrs v;
  if (!view_reduce_window(o, &v)) return;
  const dense_attr *pad = v.present & 1u << 4 ? v.padding : NULL;
  bool padded = v.present & 1u << 4 && !v.padding; /* by values that only the file knows */
  for (u32 d = 0; d < rule_rank(r, 0); d++) {
    i64 window = v.window_dimensions.data[d], size = dims_of(op_operand(o, 0)).data[d];
    i64 low = padding_at(pad, d, 0), back = padding_at(pad, d, 1);
    bool even = at_or(v.window_strides, d, 1) == 1 && at_or(v.base_dilations, d, 1) == 1;
    if (window == 1 && even && !low && !back && !padded) continue;
    part_need need = halo(low, (window - 1) * at_or(v.window_dilations, d, 1) - low);
    if (window == size && ((low == size - 1 && !back) || (back == size - 1 && !low)))
      need.kind = NEED_SCAN;
    if (part_body_kind(op_body(o, 0), 0, o->num_operands / 2, &need.combiner))
      need.padding = PADDING_NEUTRAL;
    mark(r, needs, 0, d, padded ? whole : need);
  }
}

/* ---- matrices ---- */

/* What the triangle does not multiply is solved for alone. */
void needs_triangular_solve(const op *o, const rule *r, part_need *needs) {
  struct triangular_solve_attrs v;
  if (!view_triangular_solve(o, &v)) return;
  u32 rank = rule_rank(r, 1);
  mark(r, needs, 1, (i64)rank - (v.left_side ? 1 : 2), (part_need){.padding = PADDING_ANY});
}
