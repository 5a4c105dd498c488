/* Convolutions: products whose left side is read in overlapping windows. */
#include "compile/lower_product.h"
#include "compile/steps.h"

typedef struct conv {
  struct convolution_attrs a;
  const conv_attr *d;
  node *lhs, *rhs, *out;
  const node *input; /* lhs padded */
  i64 *before;       /* by dim of lhs: what was padded in front of it */
} conv;

static i64 conv_low(const conv *c, size_t s) {
  return c->a.padding ? attr_dense_int(&c->a.padding->base, 2 * s) : 0;
}

static bool has_groups(const conv *c) {
  return c->a.feature_group_count > 1 || c->a.batch_group_count > 1;
}

/* An input that is dilated is not where zeros are between its elements. Of every `apart` results in
 * a row, each meets other taps of the window with elements of the input, so that results `apart`
 * from one another are a convolution of their own, without zeros. 1: all are one. */
static i64 conv_apart(const conv *c, size_t s) {
  enum { MOST_ALONE = 4, MOST = 1 << 10, FAR = 1 << 30 };
  i64 apart = int_or(c->a.lhs_dilation, s, 1), low = conv_low(c, s);
  bool dense = int_or(c->a.window_strides, s, 1) == 1 && int_or(c->a.rhs_dilation, s, 1) == 1;
  bool near = low > -FAR && low < FAR && c->d->input_spatial_dimensions.len <= 3;
  return dense && near && apart <= (has_groups(c) ? MOST_ALONE : MOST) ? apart : 1;
}

/* Of the results `phase`, phase + apart, ... along s: how many, the window's first tap that meets
 * an element, how many do, and which element it meets for the first result. So many phases from
 * this one on read the same elements, each one by the taps before the last one's. */
typedef struct taps {
  i64 results, first, num, from, phases;
} taps;

static taps taps_alone(const conv *c, size_t s, i64 phase) {
  i64 apart = conv_apart(c, s), low = conv_low(c, s);
  i64 results = c->out->dims[c->d->output_spatial_dimensions.data[s]];
  i64 window = c->rhs->dims[c->d->kernel_spatial_dimensions.data[s]];
  if (apart == 1) return (taps){results, 0, window, 0, 1};
  i64 first = ((low - phase) % apart + apart) % apart, num = (window - first + apart - 1) / apart;
  results = (results - phase + apart - 1) / apart;
  if (num < 1) return (taps){results, 0, 0, 0, 1};
  return (taps){results, first, num, (phase + first - low) / apart, 1};
}

static taps taps_of(const conv *c, size_t s, i64 phase) {
  taps t = taps_alone(c, s, phase);
  for (i64 apart = conv_apart(c, s); phase + t.phases < apart && !has_groups(c); t.phases++) {
    taps next = taps_alone(c, s, phase + t.phases);
    if (next.results != t.results || next.num != t.num || next.from != t.from) break;
  }
  return t;
}

/* What is read of the input along s, in front of it and behind. */
static void pad_apart(const conv *c, size_t s, i64 *low, i64 *high) {
  i64 size = c->lhs->dims[c->d->input_spatial_dimensions.data[s]];
  *low = *high = 0;
  for (i64 phase = 0; phase < conv_apart(c, s); phase++) {
    taps t = taps_alone(c, s, phase);
    if (t.results < 1 || t.num < 1) continue;
    *low = max_i64(*low, -t.from);
    *high = max_i64(*high, t.from + t.results + t.num - 1 - size);
  }
}

/* Spatial dims of the padded and dilated input; false: they do not fit. */
static bool padded_dims(const conv *c, i64 *dims, i64 *low, i64 *interior, bool *any) {
  for (u32 d = 0; d < c->lhs->rank; d++) {
    dims[d] = c->lhs->dims[d];
    low[d] = interior[d] = 0;
  }
  for (size_t s = 0; s < c->d->input_spatial_dimensions.len; s++) {
    i64 d = c->d->input_spatial_dimensions.data[s], grown = 0;
    i64 high = c->a.padding ? attr_dense_int(&c->a.padding->base, 2 * s + 1) : 0;
    low[d] = conv_low(c, s);
    interior[d] = int_or(c->a.lhs_dilation, s, 1) - 1;
    if (conv_apart(c, s) > 1) {
      interior[d] = 0;
      pad_apart(c, s, &low[d], &high);
    }
    if (dims[d] > 0 && !checked_mul(dims[d] - 1, interior[d] + 1, &grown)) return false;
    if (dims[d] > 0) grown++;
    if (!checked_add(grown, low[d], &grown) || !checked_add(grown, high, &grown)) return false;
    *any |= low[d] || high || interior[d];
    dims[d] = grown > 0 ? grown : 0;
  }
  return true;
}

/* Whether all who read v may read it with zeros around it: they do so anyway, or go element by
 * element. */
static bool is_read_padded(const value *v) {
  for (const use *u = v->uses; u; u = u->next)
    if (!pieces_padded_by(u->owner, v) && !select_is_elementwise(u->owner)) return false;
  return true;
}

/* Whether all of the input, o's, could lie for good where low[d] zeros are in front of it along d:
 * nothing is cut, all can read it there, and it is there for all. */
static bool may_lie_padded(const lower *L, const op *o, const node *in, const i64 *dims,
                           const i64 *low) {
  for (u32 d = 0; d < in->rank; d++)
    if (low[d] < 0 || low[d] > dims[d] - in->dims[d]) return false;
  return !L->in_region && is_read_padded(op_operand(o, 0));
}

static void lie_in(node *in, const node *n, const i64 *low) {
  in->kind = NODE_MEM;
  in->slot = n->slot;
  in->slot_count = n->slot_count;
  in->offset = 0;
  for (u32 d = 0; d < n->rank; d++) in->offset += low[d] * n->stride[d];
  in->stride = n->stride;
  in->dense = false;
}

/* n is the input's place from now on: so it need not be kept twice, and the next convolution, such
 * as that of the gradient, finds it there. A parameter is kept anyway: only convolutions read it
 * from n, which need not live as long. */
static void keep_padded(lower *L, const op *o, const conv *c, node *n, const i64 *low) {
  node *in = c->lhs;
  if (in->kind != NODE_MEM || !in->dense || !may_lie_padded(L, o, in, n->dims, low)) return;
  in->padded = n;
  in->inside = low;
  if (!prog_slot_is_param(L->b, in->slot)) lie_in(in, n, low);
}

/* Bytes are multiplied in fours that lie together: features are to, where they do not. */
static bool is_apart(const conv *c) {
  return dtype_size(c->lhs->type) == 1 && c->lhs->stride[c->d->input_feature_dimension] != 1 &&
         c->rhs->dims[c->d->kernel_input_feature_dimension] > 1;
}
static void bring_features_together(lower *L, const conv *c, node *n) {
  i64 *stride = ARENA_ARRAY(L->a, i64, n->rank), f = c->d->input_feature_dimension;
  for (i64 d = n->rank - 1, step = n->dims[f]; d >= 0; step *= d == f ? 1 : n->dims[d], d--)
    stride[d] = d == f ? 1 : step;
  n->stride = stride;
  n->dense = false;
}

/* An input in pieces is put together between its zeros, where it may lie there. */
static bool pad_input(lower *L, op *o, conv *c) {
  i64 *low = c->before = ARENA_ARRAY(L->a, i64, c->lhs->rank), interior[PROG_MAX_DIMS];
  i64 *dims = ARENA_ARRAY(L->a, i64, c->lhs->rank);
  bool any = false, dilated = false;
  c->input = c->lhs;
  if (!padded_dims(c, dims, low, interior, &any))
    return op_error(L->ctx, o, "pads its input to more than memory can hold");
  for (u32 d = 0; d < c->lhs->rank; d++) dilated |= interior[d] > 0;
  bool put = any && !dilated && dtype_size(c->lhs->type) > 1;
  if (!put || !may_lie_padded(L, o, c->lhs, dims, low)) dot_settle(L, c->lhs);
  if (!any && !is_apart(c)) return true;
  size_t list = c->lhs->rank * sizeof(i64);
  const node *before = c->lhs->padded;
  if (before && !dilated && memcmp(before->dims, dims, list) == 0 &&
      memcmp(c->lhs->inside, low, list) == 0) {
    c->input = before;
    return true;
  }
  node *n = ARENA_NEW(L->a, node), *zero = ARENA_NEW(L->a, node);
  *n = (node){.type = c->lhs->type, .rank = c->lhs->rank, .dims = dims, .count = 1, .result = -1};
  for (u32 d = 0; d < n->rank; d++)
    if (!checked_mul(n->count, dims[d], &n->count) || n->count > INT64_MAX / 16)
      return op_error(L->ctx, o, "pads its input to more than memory can hold");
  static const u64 zeros[2];
  *zero = (node){.kind = NODE_CONST, .type = n->type, .count = 1, .element = zeros, .result = -1};
  lower_make_dense(L, n, lower_new_slot(L, n));
  if (is_apart(c)) bring_features_together(L, c, n);
  if (c->lhs->kind == NODE_PIECES) {
    data_surround(L, zero, n, c->lhs->dims, low, interior);
    lie_in(c->lhs, n, low);
    pieces_put(L, c->lhs);
    c->lhs->padded = n;
    c->lhs->inside = low;
  } else {
    data_pad(L, c->lhs, zero, n, low, interior);
    if (!dilated) keep_padded(L, o, c, n, low);
  }
  c->input = n;
  return true;
}

/* The kernel back to front where window_reversal says so. */
static void reverse_kernel(lower *L, conv *c) {
  i64 *stride = ARENA_ARRAY(L->a, i64, c->rhs->rank), offset = c->rhs->offset;
  bool any = false;
  memcpy(stride, c->rhs->stride, c->rhs->rank * sizeof(i64));
  for (size_t s = 0; s < c->d->kernel_spatial_dimensions.len; s++) {
    i64 d = c->d->kernel_spatial_dimensions.data[s];
    if (s >= c->a.window_reversal.len || !c->a.window_reversal.data[s]) continue;
    if (c->rhs->dims[d] > 0) offset += (c->rhs->dims[d] - 1) * stride[d];
    stride[d] = -stride[d];
    any = true;
  }
  if (!any || c->rhs->count == 0) return;
  node *n = arena_copy(L->a, c->rhs, sizeof *c->rhs);
  n->offset = offset;
  n->stride = stride;
  n->dense = false;
  n->result = -1;
  c->rhs = n;
}

/* Phases of one run are columns as features are, or where these are many products of their own. */
static void conv_phases(const conv *c, size_t s, const i64 *phase, dot_dims *x, u32 *of) {
  const conv_attr *d = c->d;
  taps t = taps_of(c, s, phase[s]);
  i64 step = t.num > 0 ? -c->rhs->stride[d->kernel_spatial_dimensions.data[s]] : 0;
  if (t.phases > 1)
    dot_add_dim(x, of, t.phases, 0, step, c->out->stride[d->output_spatial_dimensions.data[s]]);
}

/* Along each spatial dimension the results of one run of phases. */
static void conv_dims(const conv *c, const i64 *phase, dot_dims *x) {
  enum { WELL = 48 };
  const conv_attr *d = c->d;
  const node *in = c->input, *w = c->rhs, *out = c->out;
  i64 groups = max_i64(c->a.feature_group_count, 1), splits = max_i64(c->a.batch_group_count, 1);
  i64 ib = d->input_batch_dimension, of = d->output_feature_dimension;
  i64 kf = d->kernel_output_feature_dimension, ki = d->kernel_input_feature_dimension;
  i64 inf = d->input_feature_dimension;
  size_t num = d->input_spatial_dimensions.len;
  i64 features = w->dims[kf] / (groups * splits), batch = in->dims[ib] / splits;
  bool many = features >= WELL;
  if (groups > 1)
    dot_add_dim(x, &x->step.nb, groups, w->dims[ki] * in->stride[inf], features * w->stride[kf],
                features * out->stride[of]);
  if (splits > 1)
    dot_add_dim(x, &x->step.nb, splits, batch * in->stride[ib], features * w->stride[kf],
                features * out->stride[of]);
  for (size_t s = 0; s < num && many; s++) conv_phases(c, s, phase, x, &x->step.nb);
  dot_add_dim(x, &x->step.nm, batch, in->stride[ib], 0, out->stride[d->output_batch_dimension]);
  for (size_t s = 0; s < num; s++) {
    i64 i = d->input_spatial_dimensions.data[s], k = d->output_spatial_dimensions.data[s];
    i64 apart = conv_apart(c, s);
    taps t = taps_of(c, s, phase[s]);
    dot_add_dim(x, &x->step.nm, t.results, in->stride[i] * int_or(c->a.window_strides, s, 1), 0,
                apart * out->stride[k]);
    x->step.out_offset += phase[s] * out->stride[k];
    if (apart > 1) x->step.lhs_offset += (t.from + c->before[i]) * in->stride[i];
  }
  dot_add_dim(x, &x->step.nn, features, 0, w->stride[kf], out->stride[of]);
  for (size_t s = 0; s < num && !many; s++) conv_phases(c, s, phase, x, &x->step.nn);
  for (size_t s = 0; s < num; s++) {
    i64 i = d->input_spatial_dimensions.data[s], k = d->kernel_spatial_dimensions.data[s];
    taps t = taps_of(c, s, phase[s]);
    dot_add_dim(x, &x->step.nk, t.num, in->stride[i] * int_or(c->a.rhs_dilation, s, 1),
                conv_apart(c, s) * w->stride[k], 0);
    x->step.rhs_offset += t.first * w->stride[k];
  }
  dot_add_dim(x, &x->step.nk, w->dims[ki], in->stride[inf], w->stride[ki], 0);
}

/* The next choice of a run along each spatial dimension; false: that was the last. */
static bool next_phase(const conv *c, i64 *phase) {
  for (size_t s = 0; s < c->d->input_spatial_dimensions.len; s++) {
    i64 results = c->out->dims[c->d->output_spatial_dimensions.data[s]];
    phase[s] += taps_of(c, s, phase[s]).phases;
    if (phase[s] < min_i64(conv_apart(c, s), results)) return true;
    phase[s] = 0;
  }
  return false;
}

/* Whether sums are to be more precise than they need be. */
static bool wants_more(attrs config) {
  for (size_t i = 0; i < config.len; i++)
    if (attr_as(precision, config.data[i])->value) return true;
  return false;
}

/* Strides and dilations of the window become strides of the dot; padding of the input needs a copy
 * of it. */
bool lower_convolution(lower *L, op *o) {
  conv c = {.lhs = lower_node(L, o, 0), .rhs = lower_node(L, o, 1)};
  view_convolution(o, &c.a);
  c.d = c.a.dimension_numbers;
  if (c.lhs->kind != NODE_PIECES) dot_settle(L, c.lhs);
  dot_settle(L, c.rhs);
  reverse_kernel(L, &c);
  c.out = lower_new_mem(L, o, 0);
  if (!c.out || !pad_input(L, o, &c)) return false;
  i64 phase[PROG_MAX_DIMS] = {0};
  do {
    dot_dims x = {.may_tile = !wants_more(c.a.precision_config)};
    conv_dims(&c, phase, &x);
    dot_emit(L, &x, c.input, c.rhs, c.out);
  } while (next_phase(&c, phase));
  lower_used(lower_node(L, o, 0));
  lower_used(lower_node(L, o, 1));
  return true;
}
