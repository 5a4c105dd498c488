#include "partition/whole.h"

#include "dialect/expand.h"
#include "partition/local.h"
#include "partition/partition.h"

typedef void whole_fn(const op *o, dim_set *in, dim_set *out);

static void whole_nothing(const op *o, dim_set *in, dim_set *out) { (void)o, (void)in, (void)out; }

static void whole_all(const op *o, dim_set *in, dim_set *out) {
  for (u32 i = 0; i < o->num_operands; i++) in[i] = ALL_DIMS;
  for (u32 i = 0; i < o->num_results; i++) out[i] = ALL_DIMS;
}

static void mark_all(const op *o, dim_set *in, dim_set *out, dim_set set) {
  for (u32 i = 0; i < o->num_operands; i++) in[i] |= set;
  for (u32 i = 0; i < o->num_results; i++) out[i] |= set;
}

static i64s dims_of(const value *v) { return v->type->dims; }

static bool contains(i64s list, i64 d) {
  for (size_t i = 0; i < list.len; i++)
    if (list.data[i] == d) return true;
  return false;
}

/* Dimensions in which two tensors of one rank differ. */
static dim_set differing(const value *a, const value *b) {
  dim_set set = 0;
  i64s x = dims_of(a), y = dims_of(b);
  if (x.len != y.len) return ALL_DIMS;
  for (size_t d = 0; d < x.len; d++)
    if (x.data[d] != y.data[d]) set |= dim_bit((i64)d);
  return set;
}

static void whole_bitcast_convert(const op *o, dim_set *in, dim_set *out) {
  size_t x = dims_of(op_operand(o, 0)).len, y = dims_of(op_result(o, 0)).len;
  if (x > y) in[0] = dim_bit((i64)x - 1);
  if (y > x) out[0] = dim_bit((i64)y - 1);
}

static void whole_concatenate(const op *o, dim_set *in, dim_set *out) {
  struct concatenate_attrs v;
  mark_all(o, in, out, view_concatenate(o, &v) ? dim_bit(v.dimension) : ALL_DIMS);
}

static void whole_slice(const op *o, dim_set *in, dim_set *out) {
  in[0] = out[0] = differing(op_operand(o, 0), op_result(o, 0));
}

static void whole_dynamic_slice(const op *o, dim_set *in, dim_set *out) {
  in[0] = out[0] = differing(op_operand(o, 0), op_result(o, 0));
}

static void whole_dynamic_update_slice(const op *o, dim_set *in, dim_set *out) {
  in[0] = in[1] = out[0] = differing(op_operand(o, 0), op_operand(o, 1));
}

/* Runs of dimensions with equal products correspond. A run can be sharded if at each step one
 * of the two products divides the other, as in 6x9 -> 2x27; in 3x6 -> 2x9 shards of 3 are no
 * shards of 2, though the rule has factors for both. */
static void whole_reshape(const op *o, dim_set *in, dim_set *out) {
  i64s x = dims_of(op_operand(o, 0)), y = dims_of(op_result(o, 0));
  for (size_t i = 0, j = 0; i < x.len || j < y.len;) {
    dim_set from = 0, to = 0;
    i64 left = 1, right = 1;
    bool regular = true, first = true;
    while (first || left != right) {
      bool take_left = first ? i < x.len : left < right;
      if (take_left ? i == x.len : j == y.len) break;
      from |= take_left ? dim_bit((i64)i) : 0;
      to |= take_left ? 0 : dim_bit((i64)j);
      bool fits = checked_mul(take_left ? left : right, take_left ? x.data[i] : y.data[j],
                              take_left ? &left : &right);
      *(take_left ? &i : &j) += 1;
      first = false;
      regular &= fits && left > 0 && right > 0 && (left % right == 0 || right % left == 0);
      if (!fits || left <= 0 || right <= 0) break;
    }
    if (!regular) in[0] |= from, out[0] |= to;
  }
}

static void whole_pad(const op *o, dim_set *in, dim_set *out) {
  struct pad_attrs v;
  if (!view_pad(o, &v)) {
    whole_all(o, in, out);
    return;
  }
  for (size_t d = 0; d < v.edge_padding_low.len; d++)
    if (v.edge_padding_low.data[d] || v.edge_padding_high.data[d] || v.interior_padding.data[d])
      in[0] = out[0] |= dim_bit((i64)d);
}

static void whole_reverse(const op *o, dim_set *in, dim_set *out) {
  struct reverse_attrs v;
  if (!view_reverse(o, &v)) {
    whole_all(o, in, out);
    return;
  }
  for (size_t i = 0; i < v.dimensions.len; i++) in[0] = out[0] |= dim_bit(v.dimensions.data[i]);
}

/* Window dimension k of the result (gather) or updates (scatter) belongs to the k-th dimension
 * of the array that is neither collapsed nor batching. An array's dimension may be sharded if
 * it is batching, a window takes all of it, or local_gather.c masks what is elsewhere. */
static void mark_window(i64s array, i64s window_shape, i64s window_dims, i64s collapsed,
                        i64s batching, dim_set masked, dim_set *array_set, dim_set *window_set) {
  size_t k = 0;
  for (size_t d = 0; d < array.len; d++) {
    if (contains(batching, (i64)d)) continue;
    if (contains(collapsed, (i64)d)) {
      *array_set |= dim_bit((i64)d) & ~masked;
      continue;
    }
    i64 w = k < window_dims.len ? window_dims.data[k++] : -1;
    if (w < 0 || (size_t)w >= window_shape.len) {
      *array_set = *window_set = ALL_DIMS;
    } else if (window_shape.data[w] != array.data[d]) {
      *array_set |= dim_bit((i64)d);
      *window_set |= dim_bit(w);
    }
  }
}

static void whole_gather(const op *o, dim_set *in, dim_set *out) {
  struct gather_attrs v;
  if (!view_gather(o, &v)) {
    whole_all(o, in, out);
    return;
  }
  const gather_dims_attr *g = v.dimension_numbers;
  mark_window(dims_of(op_operand(o, 0)), dims_of(op_result(o, 0)), g->offset_dims,
              g->collapsed_slice_dims, g->operand_batching_dims, local_gather_masks(o, g), &in[0],
              &out[0]);
  in[1] = dim_bit(g->index_vector_dim);
}

/* Devices that hold some of the updates only each make another array: fine if these combine,
 * otherwise whatever is neither a window nor batching is whole. */
static void whole_scatter(const op *o, dim_set *in, dim_set *out) {
  struct scatter_attrs v;
  u32 n = (o->num_operands - 1) / 2;
  if (!view_scatter(o, &v) || n == 0) {
    whole_all(o, in, out);
    return;
  }
  const scatter_dims_attr *s = v.scatter_dimension_numbers;
  i64s updates = dims_of(op_operand(o, n + 1)), indices = dims_of(op_operand(o, n));
  dim_set array_set = 0, window_set = 0;
  mark_window(dims_of(op_operand(o, 0)), updates, s->update_window_dims, s->inserted_window_dims,
              s->input_batching_dims, 0, &array_set, &window_set);
  unreduced_kind kind;
  bool combines = part_reduction(o, &kind);
  i64 batch = 0; /* the indices' dimensions but the vector, in order, are the updates' others */
  for (size_t d = 0; d < indices.len; d++) {
    if ((i64)d == s->index_vector_dim) {
      in[n] |= dim_bit((i64)d);
      continue;
    }
    while (contains(s->update_window_dims, batch)) batch++;
    if (!combines && !contains(s->scatter_indices_batching_dims, (i64)d)) {
      in[n] |= dim_bit((i64)d);
      window_set |= dim_bit(batch);
    }
    batch++;
  }
  for (u32 i = 0; i < n; i++) {
    in[i] = out[i] = array_set;
    in[n + 1 + i] = window_set;
  }
}

/* Batches, output features and (as a sum) input features, if there are no groups of them. */
static void whole_convolution(const op *o, dim_set *in, dim_set *out) {
  struct convolution_attrs v;
  if (!view_convolution(o, &v) || v.feature_group_count != 1 || v.batch_group_count != 1) {
    whole_all(o, in, out);
    return;
  }
  const conv_attr *c = v.dimension_numbers;
  in[0] = ~(dim_bit(c->input_batch_dimension) | dim_bit(c->input_feature_dimension));
  in[1] =
      ~(dim_bit(c->kernel_output_feature_dimension) | dim_bit(c->kernel_input_feature_dimension));
  out[0] = ~(dim_bit(c->output_batch_dimension) | dim_bit(c->output_feature_dimension));
}

static void whole_reduce(const op *o, dim_set *in, dim_set *out) {
  struct reduce_attrs v;
  unreduced_kind kind;
  (void)out;
  if (part_reduction(o, &kind)) return;
  bool ok = view_reduce(o, &v);
  for (u32 i = 0; i < o->num_operands / 2; i++) {
    if (!ok) in[i] = ALL_DIMS;
    for (size_t k = 0; ok && k < v.dimensions.len; k++) in[i] |= dim_bit(v.dimensions.data[k]);
  }
}

static i64 at_or(i64s l, size_t i, i64 otherwise) { return i < l.len ? l.data[i] : otherwise; }

static void whole_reduce_window(const op *o, dim_set *in, dim_set *out) {
  struct reduce_window_attrs v;
  if (!view_reduce_window(o, &v)) {
    whole_all(o, in, out);
    return;
  }
  dim_set set = 0;
  for (size_t d = 0; d < v.window_dimensions.len; d++) {
    bool padded = false;
    if (v.present & 1u << 4)
      padded = !v.padding || attr_dense_int(&v.padding->base, 2 * d) ||
               attr_dense_int(&v.padding->base, 2 * d + 1);
    if (v.window_dimensions.data[d] != 1 || at_or(v.window_strides, d, 1) != 1 ||
        at_or(v.base_dilations, d, 1) != 1 || padded)
      set |= dim_bit((i64)d);
  }
  u32 n = o->num_operands / 2;
  for (u32 i = 0; i < n; i++) in[i] = out[i] = set;
}

static void whole_sort(const op *o, dim_set *in, dim_set *out) {
  struct sort_attrs v;
  i64 rank = o->num_operands ? (i64)dims_of(op_operand(o, 0)).len : 0;
  bool ok = view_sort(o, &v);
  i64 dim = ok && v.present & 1 ? v.dimension : rank - 1;
  mark_all(o, in, out, ok ? dim_bit(dim < 0 ? dim + rank : dim) : ALL_DIMS);
}

static void whole_chlo_top_k(const op *o, dim_set *in, dim_set *out) {
  mark_all(o, in, out, dim_bit((i64)dims_of(op_operand(o, 0)).len - 1));
}

/* ---- collectives of a manual computation, on its free axes ---- */

static void whole_all_gather(const op *o, dim_set *in, dim_set *out) {
  struct all_gather_attrs v;
  mark_all(o, in, out, view_all_gather(o, &v) ? dim_bit(v.all_gather_dim) : ALL_DIMS);
}

static void whole_reduce_scatter(const op *o, dim_set *in, dim_set *out) {
  struct reduce_scatter_attrs v;
  mark_all(o, in, out, view_reduce_scatter(o, &v) ? dim_bit(v.scatter_dimension) : ALL_DIMS);
}

static void whole_all_to_all(const op *o, dim_set *in, dim_set *out) {
  struct all_to_all_attrs v;
  mark_all(o, in, out,
           view_all_to_all(o, &v) ? dim_bit(v.split_dimension) | dim_bit(v.concat_dimension)
                                  : ALL_DIMS);
}

/* ---- the table ---- */

#define whole_module whole_nothing
#define whole_func whole_nothing
#define whole_sdy_mesh whole_nothing
#define whole_sdy_constant whole_nothing
#define whole_sharding_constraint whole_nothing
#define whole_reshard whole_nothing
#define whole_sharding_group whole_nothing
#define whole_data_flow_edge whole_nothing
#define whole_func_data_flow_edge whole_nothing
#define whole_propagation_barrier whole_nothing
#define whole_sdy_all_gather whole_nothing
#define whole_sdy_all_slice whole_nothing
#define whole_sdy_all_to_all whole_nothing
#define whole_sdy_collective_permute whole_nothing
#define whole_sdy_all_reduce whole_nothing
#define whole_sdy_reduce_scatter whole_nothing
#define whole_sharded_to_unreduced whole_nothing
#define whole_replicated_to_unreduced whole_nothing
#define whole_reduce_precision whole_nothing
#define whole_constant whole_nothing
#define whole_iota whole_nothing
#define whole_broadcast_in_dim whole_nothing
#define whole_transpose whole_nothing
#define whole_dot_general whole_nothing
#define whole_dot whole_nothing
#define whole_optimization_barrier whole_nothing
#define whole_partition_id whole_nothing
#define whole_replica_id whole_nothing
/* its bits depend on the place in the whole */
#define whole_rng_bit_generator whole_all
/* nobody knows what they do */
#define whole_cast whole_all
#define whole_call whole_all
#define whole_custom_call whole_all
#define whole_composite whole_all
/* collectives that treat all elements alike */
#define whole_all_reduce whole_nothing
#define whole_collective_broadcast whole_nothing
#define whole_collective_permute whole_nothing

#define WHOLE_ew(id) whole_nothing
#define WHOLE_cast(id) whole_nothing
#define WHOLE_bcast(id) whole_nothing
#define WHOLE_region(id) whole_nothing
#define WHOLE_term(id) whole_nothing
#define WHOLE_coll(id) whole_##id
#define WHOLE_own(id) whole_##id
#define WHOLE_later(id) whole_all
static whole_fn *const whole_of[OP_COUNT] = {
#define OP(id, name, family, ...) [OP_##id] = WHOLE_##family(id),
#include "ir/ops.def"
};

partition_way partition_way_of(op_id id) {
  if (local_is_replaced(id)) return PARTITION_REPLACED;
  if (whole_of[id] == whole_all) return PARTITION_WHOLE;
  return whole_of[id] == whole_nothing ? PARTITION_SPLIT : PARTITION_PARTLY;
}

/* A foreign op that has a rule or edges computes on shards what they say, and the end of a region
 * computes nothing. */
static bool shards_as_it_says(const op *o) {
  const op_hooks *h = o->info->hooks;
  if (op_has(o, TERMINATOR)) return true;
  if (!h || h->out_sharding || op_has(o, CONSTANT)) return false;
  return h->rule || h->flow || op_has(o, ELEMENTWISE);
}

void part_whole_dims(const op *o, dim_set *operands, dim_set *results) {
  memset(operands, 0, o->num_operands * sizeof(*operands));
  memset(results, 0, o->num_results * sizeof(*results));
  if (op_kind(o) < OP_COUNT)
    whole_of[op_kind(o)](o, operands, results);
  else if (!shards_as_it_says(o))
    whole_all(o, operands, results);
}

/* ---- reductions ---- */

static const struct {
  op_id op;
  unreduced_kind kind;
} reducers[] = {{OP_add, UNREDUCED_SUM},     {OP_maximum, UNREDUCED_MAX},
                {OP_minimum, UNREDUCED_MIN}, {OP_multiply, UNREDUCED_MUL},
                {OP_and, UNREDUCED_AND},     {OP_or, UNREDUCED_OR}};

bool part_body_kind(const block *b, u32 i, u32 n, unreduced_kind *out) {
  const op *ret = op_terminator(b);
  if (!ret || ret->num_operands != n || b->num_args != 2 * n) return false;
  const op *o = value_op(op_operand(ret, i));
  if (!o || o->num_operands != 2) return false;
  const value *x = op_operand(o, 0), *y = op_operand(o, 1);
  if (!(x == b->args[i] && y == b->args[n + i]) && !(y == b->args[i] && x == b->args[n + i]))
    return false;
  for (size_t k = 0; k < COUNT(reducers); k++)
    if (op_kind(o) == reducers[k].op) return *out = reducers[k].kind, true;
  return false;
}

/* The constant behind a scalar or splat, through ops that keep zero and one what they are. */
static const attr *scalar_constant(const value *v) {
  for (int depth = 0; depth < 8; depth++) {
    const op *o = value_op(v);
    if (!o) return NULL;
    if (op_has(o, CONSTANT)) return op_attr(o, STR("value"));
    if (!op_is(o, convert) && !op_is(o, reshape) && !op_is(o, broadcast_in_dim)) return NULL;
    v = op_operand(o, 0);
  }
  return NULL;
}

/* Every device starts from the initial value; that must not count more than once. */
static bool init_is_neutral(const value *init, unreduced_kind kind) {
  if (kind != UNREDUCED_SUM && kind != UNREDUCED_MUL) return true;
  return splat_is(scalar_constant(init), kind == UNREDUCED_MUL);
}

/* n pairs combine in one way, and start from the operands from `init` on. */
static bool combining(const op *o, u32 n, u32 init, unreduced_kind *out) {
  const block *b = o->num_regions ? op_body(o, 0) : NULL;
  if (n == 0 || !b) return false;
  for (u32 i = 0; i < n; i++) {
    unreduced_kind kind;
    if (!part_body_kind(b, i, n, &kind) || (i && kind != *out)) return false;
    *out = kind;
    if (!init_is_neutral(op_operand(o, init + i), kind)) return false;
  }
  return true;
}

bool part_reduction(const op *o, unreduced_kind *out) {
  if (op_is(o, reduce))
    return o->num_operands % 2 == 0 && combining(o, o->num_operands / 2, o->num_operands / 2, out);
  if (op_is(o, scatter)) return o->num_operands % 2 && combining(o, o->num_operands / 2, 0, out);
  *out = UNREDUCED_SUM;
  if (op_kind(o) >= OP_COUNT) return o->info->hooks && o->info->hooks->rule;
  return op_is(o, dot_general) || op_is(o, dot) || op_is(o, convolution) || op_is(o, gather);
}

/* Which operands must be sums for the result to be one; ops not named here are not linear. */
typedef enum linear { LINEAR_NOT, LINEAR_ALL, LINEAR_FIRST, LINEAR_ONE } linear;
static const u8 linear_of[OP_COUNT] = {
    [OP_add] = LINEAR_ALL,         [OP_subtract] = LINEAR_ALL,
    [OP_negate] = LINEAR_ALL,      [OP_real] = LINEAR_ALL,
    [OP_imag] = LINEAR_ALL,        [OP_transpose] = LINEAR_ALL,
    [OP_reshape] = LINEAR_ALL,     [OP_broadcast_in_dim] = LINEAR_ALL,
    [OP_slice] = LINEAR_ALL,       [OP_reverse] = LINEAR_ALL,
    [OP_concatenate] = LINEAR_ALL, [OP_dynamic_slice] = LINEAR_FIRST,
    [OP_gather] = LINEAR_FIRST,    [OP_divide] = LINEAR_FIRST,
    [OP_reduce] = LINEAR_FIRST,    [OP_multiply] = LINEAR_ONE,
    [OP_dot_general] = LINEAR_ONE, [OP_convolution] = LINEAR_ONE,
    [OP_dot] = LINEAR_ONE,
};

bool part_passes_sums(const op *o, const bool *marked, u32 count) {
  unreduced_kind kind;
  linear how = op_kind(o) < OP_COUNT ? linear_of[op_kind(o)] : LINEAR_NOT;
  const type *t = o->num_results ? type_element(op_result(o, 0)->type) : NULL;
  if (op_is(o, divide) && t->kind == TYPE_INT) return false; /* 1 / 2 + 1 / 2 is 0 */
  if (op_is(o, reduce))                                      /* of one array, by a sum */
    return o->num_operands == 2 && marked[0] && part_reduction(o, &kind) && kind == UNREDUCED_SUM;
  return (how == LINEAR_ALL && count == o->num_operands) ||
         (how == LINEAR_FIRST && count == 1 && marked[0]) || (how == LINEAR_ONE && count == 1);
}
