/* chlo: broadcasting ops, ragged_dot, scan, constants.
 *
 * Source: openxla/stablehlo dialect/ChloOps.td. Broadcasting is NumPy's, from the last dimension.
 */
#include "dialect/verify.h"

/* ---- broadcasting ---- */

/* What two dimensions broadcast to; false: they do not. An unknown one yields to one over 1. */
static bool broadcast_dim(i64 a, i64 b, i64 *out) {
  if (a == DYNAMIC || b == DYNAMIC)
    *out = a > 1 ? a : b > 1 ? b : a == 1 ? b : b == 1 ? a : DYNAMIC;
  else
    *out = a == 1 ? b : a;
  return a == DYNAMIC || b == DYNAMIC || a == b || a == 1 || b == 1;
}

typedef struct dim_info {
  i64 size;
  bool bounded; /* size is the bound */
} dim_info;

/* A bounded dimension counts as its bound, marked. */
static dim_info dim_of(const type *t, i64 d) {
  const bounds_attr *b = attr_as(bounds, t->encoding);
  if (!b || t->dims.data[d] != DYNAMIC) return (dim_info){t->dims.data[d], false};
  return (dim_info){b->bounds.data[d], true};
}

static bool broadcast_info(checker *k, const op *o, dim_info a, dim_info b, dim_info *out) {
  *out = a.size == 1 ? b : a;
  if (a.size == 1 || b.size == 1) return true;
  if (a.size != b.size)
    return loc_error(k->c, o->loc, "incompatible shapes for broadcasting %lld and %lld",
                     (long long)a.size, (long long)b.size);
  if (a.bounded == b.bounded) return true;
  return loc_error(k->c, o->loc, "cannot mix bounded and static dimensions in broadcast");
}

/* The shape of all operands broadcast; unranked where that is not known or not possible. */
static const type *numpy_broadcast(checker *k, const op *o, const type *elem) {
  i64 dims[DIALECT_MAX_RANK], bounds[DIALECT_MAX_RANK], rank = 0;
  bool all_bounded = true, any_bound = false;
  for (u32 i = 0; i < o->num_operands; i++) {
    const type *t = in_type(o, i);
    if (t->kind != TYPE_TENSOR || rank_of(t) > DIALECT_MAX_RANK) return type_unranked(k->c, elem);
    rank = rank_of(t) > rank ? rank_of(t) : rank;
    all_bounded &= type_is_static(t) || attr_is(bounds, t->encoding);
  }
  for (i64 d = 0; d < rank; d++) {
    dim_info all = {1, false};
    for (u32 i = 0; i < o->num_operands; i++) {
      const type *t = in_type(o, i);
      i64 at = d - (rank - rank_of(t));
      if (at < 0) continue;
      bool ok = all_bounded ? broadcast_info(k, o, all, dim_of(t, at), &all)
                            : broadcast_dim(all.size, t->dims.data[at], &all.size);
      if (!ok) return type_unranked(k->c, elem);
    }
    dims[d] = all.bounded ? DYNAMIC : all.size;
    bounds[d] = all.bounded ? all.size : DYNAMIC;
    any_bound |= all.bounded;
  }
  const attr *encoding =
      any_bound ? attr_make(k->c, bounds, .bounds = {bounds, (size_t)rank}) : NULL;
  return type_tensor(k->c, (i64s){dims, (size_t)rank}, elem, encoding);
}

/* broadcast_dimensions maps the dimensions of the operand of lower rank into the other. What does
 * not fit gives an unranked type, which agrees with anything: the expansion refuses it later. */
static const type *explicit_broadcast(checker *k, const op *o, i64s map, const type *elem) {
  const type *a = in_type(o, 0), *b = in_type(o, 1), *none = type_unranked(k->c, elem);
  i64 dims[DIALECT_MAX_RANK];
  if (a->kind != TYPE_TENSOR || b->kind != TYPE_TENSOR) return none;
  const type *large = rank_of(a) > rank_of(b) ? a : b, *small = large == a ? b : a;
  if ((i64)map.len != rank_of(small) || rank_of(large) > DIALECT_MAX_RANK) return none;
  for (i64 i = 0; i < rank_of(large); i++) dims[i] = large->dims.data[i];
  for (size_t i = 0; i < map.len; i++) {
    i64 d = map.data[i];
    if (d < 0 || d >= rank_of(large) ||
        !broadcast_dim(small->dims.data[i], large->dims.data[d], &dims[d]))
      return none;
  }
  return type_tensor(k->c, (i64s){dims, large->dims.len}, elem, NULL);
}

static bool broadcast_to(checker *k, const op *o, const type *elem, inferred *out) {
  i64s map;
  const attr *a = op_attr(o, SLOT_NAME(broadcast_dimensions));
  if (!elements_agree(in_type(o, 0)->elem, in_type(o, 1)->elem))
    return loc_error(k->c, o->loc, "mismatched operand types");
  return infer_push(k, out,
                    a && attr_get_i64s(k->c, a, &map) ? explicit_broadcast(k, o, map, elem)
                                                      : numpy_broadcast(k, o, elem));
}

bool infer_chlo_broadcast(checker *k, const op *o, inferred *out) {
  return broadcast_to(k, o, in_type(o, 0)->elem, out);
}
bool infer_chlo_broadcast_complex(checker *k, const op *o, inferred *out) {
  return broadcast_to(k, o, type_complex(k->c, in_type(o, 0)->elem), out);
}
bool infer_chlo_broadcast_compare(checker *k, const op *o, inferred *out) {
  return broadcast_to(k, o, type_i1(k->c), out);
}
bool infer_chlo_broadcast_select(checker *k, const op *o, inferred *out) {
  if (in_type(o, 1)->elem != in_type(o, 2)->elem)
    return loc_error(k->c, o->loc, "mismatched operand types");
  return infer_push(k, out, numpy_broadcast(k, o, in_type(o, 1)->elem));
}

static bool nothing(checker *k, const op *o) { return (void)k, (void)o, true; }

static bool compatible_elements(checker *k, const op *o) {
  const type *first = in_type(o, 0)->elem;
  if (elements_agree(first, in_type(o, 1)->elem) && elements_agree(first, out_type(o, 0)->elem))
    return true;
  return op_error(k->c, o, "requires compatible element types for all operands and results");
}

static bool same_elements(checker *k, const op *o) {
  const type *first = in_type(o, 0)->elem;
  if (first == in_type(o, 1)->elem && first == out_type(o, 0)->elem) return true;
  return op_error(k->c, o, "requires the same element type for all operands and results");
}

/* The traits of each op in ChloOps.td: which element types must be the same. */
#define VERIFY(check, id)                                                                          \
  bool verify_chlo_##id(checker *k, const op *o) { return check(k, o); }
VERIFY(compatible_elements, broadcast_add)
VERIFY(compatible_elements, broadcast_maximum)
VERIFY(compatible_elements, broadcast_minimum)
VERIFY(same_elements, broadcast_atan2)
VERIFY(same_elements, broadcast_divide)
VERIFY(same_elements, broadcast_multiply)
VERIFY(same_elements, broadcast_next_after)
VERIFY(same_elements, broadcast_polygamma)
VERIFY(same_elements, broadcast_power)
VERIFY(same_elements, broadcast_remainder)
VERIFY(same_elements, broadcast_shift_left)
VERIFY(same_elements, broadcast_shift_right_arithmetic)
VERIFY(same_elements, broadcast_shift_right_logical)
VERIFY(same_elements, broadcast_subtract)
VERIFY(same_elements, broadcast_zeta)
VERIFY(nothing, broadcast_and)
VERIFY(nothing, broadcast_or)
VERIFY(nothing, broadcast_xor)
VERIFY(nothing, broadcast_complex)
VERIFY(nothing, broadcast_compare)
VERIFY(nothing, broadcast_select)
VERIFY(nothing, asin_acos_kernel)
VERIFY(nothing, constant)

/* ---- constants ---- */

bool verify_chlo_constant_like(checker *k, const op *o) {
  struct chlo_constant_like_attrs a;
  if (!view_chlo_constant_like(o, &a)) return false;
  const type *t = attr_type_of(a.value), *elem = out_type(o, 0)->elem;
  const opaque_attr *opaque = attr_as(opaque, a.value);
  bool complex = opaque && str_is(opaque->dialect, "complex") && elem->kind == TYPE_COMPLEX;
  return t == elem || complex || /* whose numbers are not typed here */
         op_error(k->c, o, "value's type doesn't match element return type");
}

bool infer_chlo_constant_like(checker *k, const op *o, inferred *out) {
  struct chlo_constant_like_attrs a;
  const type *t = in_type(o, 0);
  if (!view_chlo_constant_like(o, &a)) return false;
  const type *elem = attr_type_of(a.value);
  if (!elem) elem = out_type(o, 0)->elem; /* complex numbers are not typed here */
  infer_push(k, out,
             t->kind == TYPE_TENSOR ? type_tensor(k->c, t->dims, elem, t->encoding)
                                    : type_unranked(k->c, elem));
  return true;
}

/* ---- ragged_dot ---- */

/* Sizes that group_sizes has before the number of groups. */
static i64s group_prefix(const type *lhs, const ragged_dot_attr *d, i64 *room) {
  i64 ragged = d->lhs_ragged_dimensions.data[0];
  i64s batch = d->lhs_batching_dimensions, contract = d->lhs_contracting_dimensions;
  size_t n = 0;
  for (size_t i = 0; i < batch.len && batch.data[i] != ragged; i++)
    room[n++] = lhs->dims.data[batch.data[i]];
  if (contains(batch, ragged)) return (i64s){room, n};
  if (contains(contract, ragged)) {
    for (size_t i = 0; contract.data[i] != ragged; i++)
      room[n++] = lhs->dims.data[contract.data[i]];
    return (i64s){room, n};
  }
  for (i64 i = 0; i < ragged; i++)
    if (!contains(batch, i) && !contains(contract, i)) room[n++] = lhs->dims.data[i];
  return (i64s){room, n};
}

static bool check_dim(checker *k, const op *o, i64 d, i64 bound, const char *what,
                      const char *bound_name) {
  return (d >= 0 && d < bound) ||
         plain_error(k, o, "Expects %s to be in range [0, %s) i.e. [0, %lld). got: %lld.", what,
                     bound_name, (long long)bound, (long long)d);
}

static bool check_group_sizes(checker *k, const op *o, const ragged_dot_attr *d) {
  const type *t = in_type(o, 2);
  i64 room[2 * DIALECT_MAX_RANK];
  i64s want = group_prefix(in_type(o, 0), d, room);
  if (rank_of(t) == 1) return true;
  if (t->dims.len != want.len + 1)
    return plain_error(k, o, "expected group_sizes to have rank %zu, got %zu", want.len + 1,
                       t->dims.len);
  if (i64s_eq(want, (i64s){t->dims.data, want.len})) return true;
  room[want.len] = t->dims.data[want.len];
  return plain_error(k, o, "group_sizes is expected to have shape [%s], got [%s]",
                     show_dims(k, (i64s){room, want.len + 1}), show_dims(k, t->dims));
}

/* rhs has a group dimension exactly where the ragged dimension of lhs is neither batch nor
 * contracting: then each group multiplies with a part of rhs of its own. */
static bool check_ragged(checker *k, const op *o, const ragged_dot_attr *d) {
  const type *lhs = in_type(o, 0), *rhs = in_type(o, 1), *sizes = in_type(o, 2);
  i64s group = d->rhs_group_dimensions;
  if (d->lhs_ragged_dimensions.len != 1)
    return plain_error(k, o, "There must be exactly one ragged dimension in the lhs.");
  i64 ragged = d->lhs_ragged_dimensions.data[0];
  if (!check_dim(k, o, ragged, rank_of(lhs), "lhs_ragged_dim", "lhs_rank")) return false;
  if (sizes->dims.len == 0) return plain_error(k, o, "expected group_sizes to have rank 1, got 0");
  if (!check_group_sizes(k, o, d)) return false;
  for (size_t i = 0; i < group.len; i++)
    if (!check_dim(k, o, group.data[i], rank_of(rhs), "rhs_group_dim", "rhs_rank")) return false;
  if (!check_disjoint(k, o, group, d->rhs_batching_dimensions, "rhs_group_dimensions",
                      "rhs_batching_dimensions") ||
      !check_disjoint(k, o, group, d->rhs_contracting_dimensions, "rhs_group_dimensions",
                      "rhs_contracting_dimensions"))
    return false;
  if (contains(d->lhs_batching_dimensions, ragged) ||
      contains(d->lhs_contracting_dimensions, ragged))
    return group.len == 0 ||
           plain_error(
               k, o,
               "There must be zero group dimensions in the rhs when the ragged dimension is "
               "batch or contracting.");
  if (group.len != 1)
    return plain_error(k, o,
                       "There must be exactly one group dimension in the rhs when the lhs ragged "
                       "dimension is non-contracting.");
  i64 groups = sizes->dims.data[sizes->dims.len - 1], size = rhs->dims.data[group.data[0]];
  return dims_agree(groups, size) ||
         plain_error(k, o, "rhs group dimension is expected to have size=%lld, got %lld",
                     (long long)groups, (long long)size);
}

/* As dot_general, with a dimension of groups in front where the ragged one is contracted. */
bool infer_chlo_ragged_dot(checker *k, const op *o, inferred *out) {
  struct chlo_ragged_dot_attrs a;
  if (!view_chlo_ragged_dot(o, &a)) return false;
  const ragged_dot_attr *d = a.ragged_dot_dimension_numbers;
  const type *lhs = in_type(o, 0), *rhs = in_type(o, 1), *sizes = in_type(o, 2);
  i64 dims[2 * DIALECT_MAX_RANK + 1];
  size_t n = 0;
  if (contains(d->lhs_contracting_dimensions, d->lhs_ragged_dimensions.data[0]))
    dims[n++] = sizes->dims.data[sizes->dims.len - 1];
  for (size_t i = 0; i < d->lhs_batching_dimensions.len; i++)
    dims[n++] = lhs->dims.data[d->lhs_batching_dimensions.data[i]];
  for (i64 i = 0; i < rank_of(lhs); i++)
    if (!contains(d->lhs_batching_dimensions, i) && !contains(d->lhs_contracting_dimensions, i))
      dims[n++] = lhs->dims.data[i];
  for (i64 i = 0; i < rank_of(rhs); i++)
    if (!contains(d->rhs_batching_dimensions, i) && !contains(d->rhs_contracting_dimensions, i) &&
        !contains(d->rhs_group_dimensions, i))
      dims[n++] = rhs->dims.data[i];
  return infer_push(k, out, type_tensor(k->c, (i64s){dims, n}, out_type(o, 0)->elem, NULL));
}

bool verify_chlo_ragged_dot(checker *k, const op *o) {
  struct chlo_ragged_dot_attrs a;
  inferred all = {0};
  if (!view_chlo_ragged_dot(o, &a)) return false;
  const ragged_dot_attr *d = a.ragged_dot_dimension_numbers;
  const dot_attr dot = {.lhs_batching_dimensions = d->lhs_batching_dimensions,
                        .rhs_batching_dimensions = d->rhs_batching_dimensions,
                        .lhs_contracting_dimensions = d->lhs_contracting_dimensions,
                        .rhs_contracting_dimensions = d->rhs_contracting_dimensions};
  for (u32 i = 0; i < 3; i++)
    if (in_type(o, i)->kind != TYPE_TENSOR)
      return op_unimplemented(k->c, o, "operand #%u of '%s'", i, show(k, in_type(o, i)));
  if (!check_precision(k, o, a.precision_config) || !check_dot_dims(k, o, &dot) ||
      !check_ragged(k, o, d))
    return false;
  if (!infer_chlo_ragged_dot(k, o, &all)) return false;
  const type *want = all.data[0];
  return (out_type(o, 0)->kind == TYPE_TENSOR && shapes_agree(want, out_type(o, 0))) ||
         plain_error(k, o,
                     "inferred shape '[%s]' is incompatible with return type of operation '%s'",
                     show_dims(k, want->dims), show(k, out_type(o, 0)));
}

/* ---- top_k ---- */

bool verify_chlo_top_k(checker *k, const op *o) { return nothing(k, o); }

bool infer_chlo_top_k(checker *k, const op *o, inferred *out) {
  struct chlo_top_k_attrs a;
  const type *t = in_type(o, 0), *elems[] = {t->elem, type_i32(k->c)};
  i64 dims[DIALECT_MAX_RANK], bounds[DIALECT_MAX_RANK], rank = rank_of(t);
  if (!view_chlo_top_k(o, &a)) return false;
  if (t->kind != TYPE_TENSOR) {
    for (int i = 0; i < 2; i++) infer_push(k, out, type_unranked(k->c, elems[i]));
    return true;
  }
  if (rank < 1) return loc_error(k->c, o->loc, "operand's rank must be at least 1");
  i64 last = t->dims.data[rank - 1];
  if (a.k < 0 || (last != DYNAMIC && last < a.k))
    return loc_error(k->c, o->loc, "operand's last dimension must be at least %lld",
                     (long long)a.k);
  const bounds_attr *b = attr_as(bounds, t->encoding);
  bool any = false;
  for (i64 i = 0; i < rank; i++) {
    dims[i] = i == rank - 1 ? a.k : t->dims.data[i];
    bounds[i] = b && i < rank - 1 ? b->bounds.data[i] : DYNAMIC;
    any |= bounds[i] != DYNAMIC;
  }
  const attr *encoding = any ? attr_make(k->c, bounds, .bounds = {bounds, (size_t)rank}) : NULL;
  for (int i = 0; i < 2; i++)
    infer_push(k, out, type_tensor(k->c, (i64s){dims, (size_t)rank}, elems[i], encoding));
  return true;
}

/* ---- scan ---- */

/* All inputs are as long in the dimension that is scanned; what is not static is left to the
 * run. */
static bool check_scan_inputs(checker *k, const op *o, const struct chlo_scan_attrs *a, size_t n) {
  i64 size = op_attr(o, SLOT_NAME(scan_dim_size)) ? a->scan_dim_size : DYNAMIC;
  for (u32 i = 0; i < n; i++) {
    const type *t = in_type(o, i);
    if (t->kind != TYPE_TENSOR) return op_error(k->c, o, "operand %u is not ranked", i);
    if (a->dimension >= rank_of(t))
      return op_error(k->c, o, "scan dimension of operand %u is out of bounds", i);
    i64 here = t->dims.data[a->dimension];
    if (!dims_agree(size, here))
      return op_error(k->c, o, "invalid scan dimension size of operand %u", i);
    if (here != DYNAMIC) size = here;
  }
  return true;
}

static const type *without_dim(checker *k, const type *t, i64 d) {
  i64 dims[DIALECT_MAX_RANK];
  for (i64 i = 0; i + 1 < rank_of(t); i++) dims[i] = t->dims.data[i + (i >= d)];
  return type_tensor(k->c, (i64s){dims, t->dims.len - 1}, t->elem, NULL);
}

/* How many of an op's values are in each of its two lists of them. */
static bool check_two_lists(checker *k, const op *o, const char *name, const char *what, u32 n) {
  const dense_array_attr *l = attr_as(dense_array, op_attr(o, str_of(name)));
  i32 sizes[2];
  if (!l || l->elem != type_i32(k->c) || l->data.len != sizeof sizes)
    return op_error(k->c, o, "attribute '%s' has to be an i32 array of 2 elements", name);
  memcpy(sizes, l->data.data, sizeof sizes);
  if (sizes[0] < 0 || sizes[1] < 0)
    return op_error(k->c, o, "'%s' attribute cannot have negative elements", name);
  i64 sum = (i64)sizes[0] + sizes[1];
  return sum == n || op_error(k->c, o,
                              "%s count (%u) does not match with the total size (%lld) specified "
                              "in attribute '%s'",
                              what, n, (long long)sum, name);
}

bool verify_chlo_scan(checker *k, const op *o) {
  struct chlo_scan_attrs a;
  size_t begin, inputs;
  if (!check_two_lists(k, o, "operandSegmentSizes", "operand", o->num_operands) ||
      !check_two_lists(k, o, "resultSegmentSizes", "result", o->num_results))
    return false;
  if (!view_chlo_scan(o, &a) || !op_operand_group(o, 0, &begin, &inputs)) return false;
  if (o->num_operands == 0 && o->num_results == 0)
    return op_error(k->c, o, "at least one of inputs or outputs must be present");
  if (a.dimension < 0)
    return op_error(k->c, o,
                    "attribute 'dimension' failed to satisfy constraint: 64-bit signless integer "
                    "attribute whose value is non-negative");
  if (!check_scan_inputs(k, o, &a, inputs)) return false;
  const block *b = op_body(o, 0);
  if (!b || !b->last) return loc_error(k->c, o->loc, "ScanOp region is empty");
  if (b->num_args != o->num_operands)
    return op_error(k->c, o, "expects %u arguments in the body, but got %u", o->num_operands,
                    b->num_args);
  for (u32 i = 0; i < o->num_operands; i++) {
    const type *t = in_type(o, i);
    if (t->kind != TYPE_TENSOR) return op_error(k->c, o, "operand %u is not ranked", i);
    if (i < inputs) t = without_dim(k, t, a.dimension);
    if (!types_agree(t, b->args[i]->type))
      return op_error(k->c, o, "operand and body argument %u are incompatible", i);
  }
  return true;
}

/* The body returns outputs without the dimension, which is put back, then carries as they are. */
bool infer_chlo_scan(checker *k, const op *o, inferred *out) {
  struct chlo_scan_attrs a;
  size_t begin, inputs;
  if (!view_chlo_scan(o, &a) || !op_operand_group(o, 0, &begin, &inputs)) return false;
  const op *ret = op_body(o, 0)->last;
  size_t carries = o->num_operands - inputs;
  i64 size = op_attr(o, SLOT_NAME(scan_dim_size)) ? a.scan_dim_size : DYNAMIC;
  for (u32 i = 0; i < inputs && size == DYNAMIC; i++) size = in_type(o, i)->dims.data[a.dimension];
  if (ret->num_operands < carries)
    return loc_error(k->c, o->loc, "ScanOp body must return at least %zu values (carries)",
                     carries);
  if (ret->num_operands != o->num_results)
    return loc_error(k->c, o->loc, "ScanOp body returns %u values for %u results",
                     ret->num_operands, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) {
    const type *t = in_type(ret, i);
    i64 dims[DIALECT_MAX_RANK + 1], n = 0;
    if (t->kind != TYPE_TENSOR || a.dimension > rank_of(t))
      return loc_error(k->c, o->loc, "terminator operand %u is not ranked", i);
    bool grown = i < ret->num_operands - carries;
    for (i64 d = 0; d <= rank_of(t); d++) {
      if (grown && d == a.dimension) dims[n++] = size;
      if (d < rank_of(t)) dims[n++] = t->dims.data[d];
    }
    infer_push(k, out, type_tensor(k->c, (i64s){dims, (size_t)n}, t->elem, NULL));
  }
  return true;
}
