/* Collectives between devices. */
#include <stdlib.h>

#include "dialect/verify.h"

/* A set of non-negative numbers, small ones as bits. */
typedef struct id_set {
  u64 *bits;
  size_t words;
} id_set;

static bool id_add(id_set *s, u64 id) { /* false: it was there */
  u64 bit = 1ull << (id % 64);
  if (s->bits[id / 64] & bit) return false;
  s->bits[id / 64] |= bit;
  return true;
}

static i64 group_rows(const dense_attr *g) { return g->type->dims.data[0]; }
static i64 group_size(const dense_attr *g) { return g->type->dims.data[1]; }

/* The ids are 0..n-1, each once; -1 fills short groups where `uneven`. all_gather_c2, c4,
 * all_reduce_c1, c3, all_to_all_c5, c7. A splat has no two different ids. */
static bool check_groups(checker *k, const op *o, const dense_attr *g, bool uneven, bool global,
                         i64 size) {
  i64 n;
  if (!type_num_elements(g->type, &n)) return op_error(k->c, o, "replica groups must be static");
  if (global && n == 0)
    return op_error(k->c, o,
                    "if `use_global_device_ids` is set, the replica groups cannot be empty");
  if (g->splat && n > 1)
    return op_error(k->c, o, "replica id #%lld seen more than once",
                    (long long)attr_dense_int(&g->base, 0));
  id_set seen = {arena_zalloc(ir_arena(k->c), ((size_t)n / 64 + 1) * 8), (size_t)n / 64 + 1};
  i64 count = 0;
  for (i64 i = 0; i < n; i++) {
    i64 id = attr_dense_int(&g->base, (size_t)i);
    if (id == -1 && uneven) continue;
    if (id < 0) return op_error(k->c, o, "Invalid replica id %lld", (long long)id);
    if (id >= n)
      return op_error(k->c, o, "replica id #%lld not seen in replica groups", (long long)count);
    if (!id_add(&seen, (u64)id))
      return op_error(k->c, o, "replica id #%lld seen more than once", (long long)id);
    count++;
  }
  for (i64 i = 0; i < count; i++)
    if (!(seen.bits[i / 64] >> (i % 64) & 1))
      return op_error(k->c, o, "replica id #%lld not seen in replica groups", (long long)i);
  if (size && (group_rows(g) == 0 || group_size(g) != size)) /* all_to_all_c8 */
    return op_error(k->c, o, "group size of replica_groups must be %lld", (long long)size);
  return true;
}

static i64 channel_of(const channel_handle_attr *c) { return c ? c->handle : 0; }

static bool check_channel(checker *k, const op *o, const channel_handle_attr *c, bool global) {
  if (!global || channel_of(c) > 0) return true; /* all_reduce_c4 */
  return op_error(k->c, o,
                  "channel_id must be positive when useGlobalDeviceIds is set but got: %lld",
                  (long long)channel_of(c));
}

/* all_gather_c1, c6: the result is the operand with dimension `d` grown by a whole factor. */
static bool check_grown(checker *k, const op *o, const type *t, const type *r, i64 d) {
  if (d >= rank_of(t)) return op_error(k->c, o, "all_gather_dim must be a valid index of operand");
  if (t->dims.data[d] == 0)
    return op_error(k->c, o, "dimension size of operand at 'all_gather_dim' cannot be zero");
  if (t->elem != r->elem || rank_of(t) != rank_of(r))
    return op_error(k->c, o, "operand and result must have the same rank");
  for (i64 i = 0; i < rank_of(t); i++)
    if (i != d && !dims_agree(t->dims.data[i], r->dims.data[i]))
      return op_error(k->c, o,
                      "operand and result should have the same shape except for the dimension size "
                      "at 'all_gather_dim'");
  i64 small = t->dims.data[d], big = r->dims.data[d];
  if (small == DYNAMIC || big == DYNAMIC || big % small == 0) return true;
  return op_error(k->c, o,
                  "result gather dimension has size %lld, expected to be a multiple of operand "
                  "gather dimension size %lld",
                  (long long)big, (long long)small);
}

/* reduce_scatter_c2, c8: the result is the operand with dimension `d` divided. */
static bool check_divided(checker *k, const op *o, const type *t, const type *r, i64 d) {
  if (rank_of(t) != rank_of(r))
    return op_error(k->c, o, "operand and result should have same rank");
  if (d >= rank_of(t))
    return op_error(k->c, o, "scatter dim should be less than operand/result rank");
  i64 big = t->dims.data[d], small = r->dims.data[d];
  if (small == 0)
    return op_error(k->c, o, "result dimension size at scatter_dimension cannot be zero");
  if (big == 0)
    return op_error(k->c, o, "operand dimension size at scatter_dimension cannot be zero");
  if (small != DYNAMIC && big != DYNAMIC && big % small)
    return op_error(k->c, o,
                    "operand scatter dimension has size %lld, expected to be a multiple of result "
                    "scatter dimension size %lld",
                    (long long)big, (long long)small);
  for (i64 i = 0; i < rank_of(t); i++)
    if (i != d && !dims_agree(t->dims.data[i], r->dims.data[i]))
      return op_error(k->c, o,
                      "non scatter dimensions should be same for operand (%lld) and result (%lld)",
                      (long long)t->dims.data[i], (long long)r->dims.data[i]);
  return true;
}

/* Is the factor the size of the groups? Groups of replicas of which every partition is a member
 * (a channel, no global ids) are larger than they look. */
static bool check_factor(checker *k, const op *o, const type *small, const type *big, i64 d,
                         const dense_attr *g, const channel_handle_attr *c, bool global) {
  i64 s = small->dims.data[d], b = big->dims.data[d], n = group_size(g);
  if (s == DYNAMIC || b == DYNAMIC || group_rows(g) == 0 || n == 0 || b / s == n) return true;
  if (channel_of(c) > 0 && !global) return true;
  return op_error(k->c, o, "sizes %lld and %lld do not match replica groups of %lld", (long long)s,
                  (long long)b, (long long)n);
}

static bool check_counts(checker *k, const op *o) {
  if (o->num_operands && o->num_operands == o->num_results) return true;
  return op_error(k->c, o,
                  "expects as many results as operands and at least one, but got %u and %u",
                  o->num_results, o->num_operands);
}

bool verify_all_gather(checker *k, const op *o) {
  struct all_gather_attrs a;
  if (!view_all_gather(o, &a) || !check_counts(k, o)) return false;
  if (!check_groups(k, o, a.replica_groups, false, a.use_global_device_ids, 0)) return false;
  if (a.use_global_device_ids && channel_of(a.channel_handle) < 0) /* all_gather_c5 */
    return op_error(k->c, o, "channel_id cannot be negative when useGlobalDeviceIds is set");
  for (u32 i = 0; i < o->num_operands; i++) /* all_gather_c1, c6 */
    if (!check_grown(k, o, in_type(o, i), out_type(o, i), a.all_gather_dim) ||
        !check_factor(k, o, in_type(o, i), out_type(o, i), a.all_gather_dim, a.replica_groups,
                      a.channel_handle, a.use_global_device_ids))
      return false;
  return true;
}

static bool check_scalar_reducer(checker *k, const op *o) {
  for (u32 i = 0; i < o->num_operands; i++) {
    const type *t = in_type(o, i), *init = type_tensor(k->c, (i64s){0}, t->elem, NULL);
    if (!check_reducer(k, o, op_body(o, 0), 1, &t, &init)) return false;
  }
  return true;
}

bool verify_all_reduce(checker *k, const op *o) {
  struct all_reduce_attrs a;
  return view_all_reduce(o, &a) && check_counts(k, o) &&
         check_groups(k, o, a.replica_groups, true, a.use_global_device_ids, 0) &&
         check_channel(k, o, a.channel_handle, a.use_global_device_ids) &&
         check_scalar_reducer(k, o);
}

bool infer_all_reduce(checker *k, const op *o, const type **out) { /* all_reduce_c6, c7 */
  for (u32 i = 0; i < o->num_results; i++)
    out[i] = type_tensor(k->c, in_type(o, i)->dims, returned(op_body(o, 0), 0)->elem, NULL);
  return true;
}

bool verify_reduce_scatter(checker *k, const op *o) {
  struct reduce_scatter_attrs a;
  if (!view_reduce_scatter(o, &a)) return false;
  const type *t = in_type(o, 0), *r = out_type(o, 0);
  if (!check_groups(k, o, a.replica_groups, false, a.use_global_device_ids, 0) ||
      !check_channel(k, o, a.channel_handle, a.use_global_device_ids) ||
      !check_scalar_reducer(k, o))
    return false;
  if (!check_divided(k, o, t, r, a.scatter_dimension)) return false;
  if (r->elem != returned(op_body(o, 0), 0)->elem) /* reduce_scatter_c9 */
    return op_error(k->c, o, "result element-type is expected to be '%s', but got '%s'",
                    show(k, returned(op_body(o, 0), 0)->elem), show(k, r->elem));
  return check_factor(k, o, r, t, a.scatter_dimension, a.replica_groups, a.channel_handle,
                      a.use_global_device_ids);
}

bool verify_all_to_all(checker *k, const op *o) { return check_counts(k, o); }

bool infer_all_to_all(checker *k, const op *o, const type **out) {
  struct all_to_all_attrs a;
  if (!view_all_to_all(o, &a)) return false;
  i64 s = a.split_dimension, c = a.concat_dimension, n = a.split_count;
  if (n <= 0) /* all_to_all_c4 */
    return op_error(k->c, o, "AllToAll split_count must be > 0, but got %lld", (long long)n);
  if (!check_groups(k, o, a.replica_groups, false, false, n)) return false;
  for (u32 i = 0; i < o->num_operands; i++) {
    const type *t = in_type(o, i);
    i64 rank = rank_of(t), dims[DIALECT_MAX_RANK];
    if (s < 0 || s >= rank) /* all_to_all_c1 */
      return op_error(k->c, o, "AllToAll split_dimension %lld is out-of-bounds for input rank %lld",
                      (long long)s, (long long)rank);
    if (c < 0 || c >= rank) /* all_to_all_c3 */
      return op_error(k->c, o,
                      "AllToAll concat_dimension %lld is out-of-bounds for input rank %lld",
                      (long long)c, (long long)rank);
    memcpy(dims, t->dims.data, t->dims.len * sizeof(i64));
    if (dims[s] != DYNAMIC && dims[s] % n) /* all_to_all_c2 */
      return op_error(
          k->c, o, "split dimension has size %lld, expected to be a multiple of split_count %lld",
          (long long)dims[s], (long long)n);
    if (dims[s] != DYNAMIC) dims[s] /= n;
    if (dims[c] != DYNAMIC && !checked_mul(dims[c], n, &dims[c]))
      return op_error(k->c, o, "result is too large");
    out[i] = type_tensor(k->c, (i64s){dims, t->dims.len}, t->elem, NULL);
  }
  return true;
}

static int by_value(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x > y) - (x < y);
}

/* Every step-th id from `from`: not negative, none twice. */
static bool check_distinct(checker *k, const op *o, const dense_attr *g, i64 from, i64 step,
                           const char *negative, const char *twice) {
  i64 n;
  if (!type_num_elements(g->type, &n)) return op_error(k->c, o, "groups must be static");
  if (g->splat && n > step) return op_error(k->c, o, "%s", twice);
  size_t count = 0;
  i64 *ids = ARENA_ARRAY(ir_arena(k->c), i64, (size_t)n);
  for (i64 i = from; i < n; i += step) {
    ids[count] = attr_dense_int(&g->base, (size_t)i);
    if (ids[count++] < 0) return op_error(k->c, o, "%s", negative);
  }
  qsort(ids, count, sizeof *ids, by_value);
  for (size_t i = 1; i < count; i++)
    if (ids[i - 1] == ids[i]) return op_error(k->c, o, "%s", twice);
  return true;
}

bool verify_collective_broadcast(checker *k, const op *o) { /* collective_broadcast_c1, c2 */
  struct collective_broadcast_attrs a;
  return view_collective_broadcast(o, &a) &&
         check_distinct(k, o, a.replica_groups, 0, 1, "replica_groups values must be positive",
                        "replica id seen more than once");
}

bool verify_collective_permute(checker *k, const op *o) {
  struct collective_permute_attrs a;
  if (!view_collective_permute(o, &a)) return false;
  size_t rank = a.source_target_pairs->type->dims.len; /* collective_permute_i2, c1 */
  if (rank != 2)
    return op_error(k->c, o,
                    "expect source_target_pairs attribute to be of rank 2, but got rank %zu", rank);
  if (group_size(a.source_target_pairs) != 2)
    return op_error(k->c, o, "expect source_target_pairs attribute of shape (N, 2), but got (%s)",
                    show_dims(k, a.source_target_pairs->type->dims));
  static const char negative[] = "replica ids in source_target_pairs must be >= 0.";
  return check_distinct(k, o, a.source_target_pairs, 0, 2, negative,
                        "duplicate sources not allowed.") && /* c2 to c4 */
         check_distinct(k, o, a.source_target_pairs, 1, 2, negative,
                        "duplicate targets not allowed.");
}
