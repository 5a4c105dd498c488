/* Collectives between devices.
 *
 * Groups of replicas or devices are dense attributes of ids, a row a group. How many devices a
 * module runs on is not known here, so ids are checked among themselves: as many as there are, each
 * once. Sizes of results against sizes of groups are asked later (check_gathered_sizes), because
 * the peers' verifier lets them pass. */
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
 * all_reduce_c1, c3, all_to_all_c5, c7. Groups given as axes of a mesh pass. */
static bool check_groups(checker *k, const op *o, const dense_attr *g, bool uneven, bool global,
                         i64 size) {
  i64 n;
  if (!g) return true;
  if (g->type->dims.len != 2) /* all_gather_i3, all_to_all_i5 */
    return plain_error(k, o, "replica groups should be a rank 2 tensor");
  if (!type_num_elements(g->type, &n)) return plain_error(k, o, "replica groups must be static");
  if (global && n == 0)
    return plain_error(k, o,
                       "if `use_global_device_ids` is set, the replica groups cannot be empty");
  id_set seen = {arena_zalloc(k->scratch, ((size_t)n / 64 + 1) * 8), (size_t)n / 64 + 1};
  i64 count = 0;
  for (i64 i = 0; i < n; i++) {
    i64 id = attr_dense_int(&g->base, (size_t)i);
    if (id == -1 && uneven) continue;
    if (id == -1) return plain_error(k, o, "Invalid replica id -1");
    /* ids that cannot be right are not kept apart: one of them is told below all the same */
    bool in = id >= 0 && id < n;
    if (in && !id_add(&seen, (u64)id))
      return plain_error(k, o, "replica id #%lld seen more than once", (long long)id);
    if (!in && g->splat && i > 0)
      return plain_error(k, o, "replica id #%lld seen more than once", (long long)id);
    count++;
  }
  for (i64 i = 0; i < count; i++)
    if (!(seen.bits[i / 64] >> (i % 64) & 1))
      return plain_error(k, o, "replica id #%lld not seen in replica groups", (long long)i);
  if (size && (group_rows(g) == 0 || group_size(g) != size)) /* all_to_all_c8 */
    return plain_error(k, o, "group size of replica_groups must be %lld", (long long)size);
  return true;
}

static i64 channel_of(const channel_handle_attr *c) { return c ? c->handle : 0; }

/* Global device ids are only for collectives over a channel, that is, across partitions. */
static bool check_channel(checker *k, const op *o, const channel_handle_attr *c, bool global) {
  if (!global || channel_of(c) > 0) return true; /* all_reduce_c4 */
  return plain_error(k, o,
                     "channel_id must be positive when useGlobalDeviceIds is set but got: %lld",
                     (long long)channel_of(c));
}

/* all_gather_c1, c6: the result is the operand with dimension `d` grown by a whole factor. */
static bool check_grown(checker *k, const op *o, const type *t, const type *r, i64 d) {
  if (d >= rank_of(t)) return plain_error(k, o, "all_gather_dim must be a valid index of operand");
  if (t->dims.data[d] == 0)
    return plain_error(k, o, "dimension size of operand at 'all_gather_dim' cannot be zero");
  if (rank_of(t) != rank_of(r))
    return plain_error(k, o, "operand and result must have the same rank");
  for (i64 i = 0; i < rank_of(t); i++)
    if (i != d && !dims_agree(t->dims.data[i], r->dims.data[i]))
      return plain_error(
          k, o,
          "operand and result should have the same shape except for the dimension size "
          "at 'all_gather_dim'");
  i64 small = t->dims.data[d], big = r->dims.data[d];
  if (small == DYNAMIC || big == DYNAMIC || big % small == 0) return true;
  return plain_error(k, o,
                     "result gather dimension has size %lld, expected to be a multiple of operand "
                     "gather dimension size %lld",
                     (long long)big, (long long)small);
}

/* reduce_scatter_c8: the result is the operand with dimension `d` divided. */
static bool check_divided(checker *k, const op *o, const type *t, const type *r, i64 d) {
  i64 big = t->dims.data[d], small = r->dims.data[d];
  if (big == DYNAMIC || small == DYNAMIC) return true;
  if (small == 0)
    return plain_error(k, o, "result dimension size at scatter_dimension cannot be zero");
  if (big == 0)
    return plain_error(k, o, "operand dimension size at scatter_dimension cannot be zero");
  if (big % small)
    return plain_error(k, o,
                       "operand scatter dimension has size %lld, expected to be a multiple of "
                       "result scatter dimension size %lld",
                       (long long)big, (long long)small);
  for (i64 i = 0; i < rank_of(t); i++)
    if (i != d && !dims_agree(t->dims.data[i], r->dims.data[i]))
      return plain_error(
          k, o, "non scatter dimensions should be same for operand (%lld) and result (%lld)",
          (long long)t->dims.data[i], (long long)r->dims.data[i]);
  return true;
}

/* Is the factor the size of the groups? Groups of replicas of which every partition is a member
 * (a channel, no global ids) are larger than they look. */
static bool check_factor(checker *k, const op *o, const type *small, const type *big, i64 d,
                         const dense_attr *g, const channel_handle_attr *c, bool global) {
  if (!g) return true;
  i64 s = small->dims.data[d], b = big->dims.data[d], n = group_size(g);
  if (s == DYNAMIC || b == DYNAMIC || group_rows(g) == 0 || n == 0 || b / s == n) return true;
  if (channel_of(c) > 0 && !global) return true;
  return plain_error(k, o, "sizes %lld and %lld do not match replica groups of %lld", (long long)s,
                     (long long)b, (long long)n);
}

bool verify_all_gather(checker *k, const op *o) {
  struct all_gather_attrs a;
  if (!view_all_gather(o, &a)) return false;
  if (!check_groups(k, o, a.replica_groups, false, a.use_global_device_ids, 0)) return false;
  if (a.use_global_device_ids && channel_of(a.channel_handle) < 0) /* all_gather_c5 */
    return plain_error(k, o, "channel_id cannot be negative when useGlobalDeviceIds is set");
  for (u32 i = 0; i < o->num_operands; i++) /* all_gather_c1, c6 */
    if (!check_grown(k, o, in_type(o, i), out_type(o, i), a.all_gather_dim)) return false;
  return true;
}

/* The region works on elements, whatever the operands' shapes: one check an operand. */
static bool check_scalar_reducer(checker *k, const op *o, u32 n) {
  for (u32 i = 0; i < n; i++) {
    const type *t = in_type(o, i), *init = type_tensor(k->c, (i64s){0}, t->elem, NULL);
    if (!check_reducer(k, o, op_body(o, 0), 1, &t, &init, (i64s){0})) return false;
  }
  return true;
}

bool verify_all_reduce(checker *k, const op *o) {
  struct all_reduce_attrs a;
  return view_all_reduce(o, &a) &&
         check_groups(k, o, a.replica_groups, true, a.use_global_device_ids, 0) &&
         check_channel(k, o, a.channel_handle, a.use_global_device_ids) &&
         check_scalar_reducer(k, o, o->num_operands);
}

static bool infer_reduced(checker *k, const op *o, u32 n, inferred *out) {
  for (u32 i = 0; i < n; i++) {
    const type *t = in_type(o, i), *elem = accumulator(k, o, op_body(o, 0), 0);
    if (!elem) return false;
    infer_push(k, out, type_tensor(k->c, t->dims, elem, t->encoding));
  }
  return true;
}

bool infer_all_reduce(checker *k, const op *o, inferred *out) { /* all_reduce_c6, c7 */
  return infer_reduced(k, o, o->num_operands, out);
}

/* The root of a broadcast or a reduction that is known at run time only: the last operand. */
static bool check_root(checker *k, const op *o, const char *name, bool dynamic) {
  u32 n = o->num_operands;
  if (!dynamic) return n || plain_error(k, o, "%s requires at least one data operand", name);
  if (n < 2)
    return plain_error(
        k, o, "%s with has_dynamic_root=true requires at least two operands (data + root)", name);
  const type *t = in_type(o, n - 1);
  if (t->elem != type_i32(k->c) || rank_of(t) != 1)
    return plain_error(k, o,
                       "last operand of %s with has_dynamic_root=true must be a rank-1 i32 tensor, "
                       "but got '%s'",
                       name, show(k, t));
  if (t->dims.data[0] == n - 1) return true;
  return plain_error(k, o,
                     "last operand of %s with has_dynamic_root=true must have the same number of "
                     "elements as data operands (%u), but got %lld",
                     name, n - 1, (long long)t->dims.data[0]);
}

/* Operands without the dynamic root. */
static u32 num_data(const op *o, bool dynamic) {
  return o->num_operands - (dynamic && o->num_operands);
}

bool verify_collective_reduce(checker *k, const op *o) {
  struct collective_reduce_attrs a;
  return view_collective_reduce(o, &a) &&
         check_groups(k, o, a.replica_groups, true, a.use_global_device_ids, 0) &&
         check_channel(k, o, a.channel_handle, a.use_global_device_ids) &&
         check_root(k, o, "collective_reduce", a.has_dynamic_root) &&
         check_scalar_reducer(k, o, num_data(o, a.has_dynamic_root));
}

bool infer_collective_reduce(checker *k, const op *o, inferred *out) {
  struct collective_reduce_attrs a;
  return view_collective_reduce(o, &a) && infer_reduced(k, o, num_data(o, a.has_dynamic_root), out);
}

bool verify_reduce_scatter(checker *k, const op *o) {
  struct reduce_scatter_attrs a;
  if (!view_reduce_scatter(o, &a)) return false;
  const type *t = in_type(o, 0), *r = out_type(o, 0);
  if (!check_groups(k, o, a.replica_groups, false, a.use_global_device_ids, 0) ||
      !check_scalar_reducer(k, o, 1))
    return false;
  if (rank_of(t) != rank_of(r)) /* reduce_scatter_c8 */
    return plain_error(k, o, "operand and result should have same rank");
  if (a.scatter_dimension >= rank_of(t)) /* reduce_scatter_c2 */
    return plain_error(k, o, "scatter dim should be less than operand/result rank");
  if (!check_channel(k, o, a.channel_handle, a.use_global_device_ids) || /* reduce_scatter_c6 */
      !check_divided(k, o, t, r, a.scatter_dimension))
    return false;
  const type *elem = returned(op_body(o, 0), 0)->elem;
  if (r->elem != elem) /* reduce_scatter_c9 */
    return plain_error(k, o, "result element-type is expected to be '%s', but got '%s'",
                       show(k, elem), show(k, r->elem));
  return true;
}

bool check_gathered_sizes(checker *k, const op *o) {
  if (op_is(o, reduce_scatter)) {
    struct reduce_scatter_attrs a;
    return !view_reduce_scatter(o, &a) ||
           check_factor(k, o, out_type(o, 0), in_type(o, 0), a.scatter_dimension, a.replica_groups,
                        a.channel_handle, a.use_global_device_ids);
  }
  struct all_gather_attrs a;
  if (!op_is(o, all_gather) || !view_all_gather(o, &a)) return true;
  for (u32 i = 0; i < o->num_operands; i++)
    if (!check_factor(k, o, in_type(o, i), out_type(o, i), a.all_gather_dim, a.replica_groups,
                      a.channel_handle, a.use_global_device_ids))
      return false;
  return true;
}

/* A dimension is split and another grows by the same count; bounds go along with sizes. */
bool infer_all_to_all(checker *k, const op *o, inferred *out) {
  struct all_to_all_attrs a;
  if (!view_all_to_all(o, &a)) return false;
  i64 s = a.split_dimension, c = a.concat_dimension, n = a.split_count;
  if (!check_groups(k, o, a.replica_groups, false, false, n)) return false;
  for (u32 i = 0; i < o->num_operands; i++) {
    const type *t = in_type(o, i);
    i64 rank = rank_of(t);
    if (s >= rank) /* all_to_all_c1 */
      return plain_error(k, o, "AllToAll split_dimension %lld is out-of-bounds for input rank %lld",
                         (long long)s, (long long)rank);
    if (c >= rank) /* all_to_all_c3 */
      return plain_error(k, o,
                         "AllToAll concat_dimension %lld is out-of-bounds for input rank %lld",
                         (long long)c, (long long)rank);
    shape r = shape_of(t);
    if (r.size[s] != DYNAMIC && r.size[s] % n) /* all_to_all_c2 */
      return plain_error(
          k, o, "split dimension has size %lld, expected to be a multiple of split_count %lld",
          (long long)r.size[s], (long long)n);
    if (r.size[s] != DYNAMIC) r.size[s] /= n;
    if (r.bound[s] != DYNAMIC) r.bound[s] /= n;
    if ((r.size[c] != DYNAMIC && !checked_mul(r.size[c], n, &r.size[c])) ||
        (r.bound[c] != DYNAMIC && !checked_mul(r.bound[c], n, &r.bound[c])))
      return plain_error(k, o, "result is too large");
    infer_push(k, out, shape_type(k, &r, t->elem));
  }
  return true;
}

static int by_value(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x > y) - (x < y);
}

/* Every step-th id from `from`: none twice, none negative; i of the first that is wrong. */
static i64 find_twice(checker *k, const dense_attr *g, i64 n, i64 from, i64 step) {
  i64 *ids = ARENA_ARRAY(k->scratch, i64, (size_t)n);
  size_t count = 0;
  if (g->splat) return n > from + step ? from + step : n;
  for (i64 i = from; i < n; i += step) ids[count++] = attr_dense_int(&g->base, (size_t)i);
  qsort(ids, count, sizeof *ids, by_value);
  bool twice = false;
  for (size_t i = 1; i < count && !twice; i++) twice = ids[i - 1] == ids[i];
  if (!twice) return n;
  for (i64 i = from; i < n; i += step) /* rare, and so slow */
    for (i64 j = from; j < i; j += step)
      if (attr_dense_int(&g->base, (size_t)i) == attr_dense_int(&g->base, (size_t)j)) return i;
  return n;
}

static i64 find_negative(const dense_attr *g, i64 n) {
  for (i64 i = 0; i < n; i++)
    if (attr_dense_int(&g->base, (size_t)i) < 0) return i;
  return n;
}

bool infer_collective_broadcast(checker *k, const op *o, inferred *out) {
  struct collective_broadcast_attrs a;
  if (!view_collective_broadcast(o, &a)) return false;
  for (u32 i = 0; i < num_data(o, a.has_dynamic_root); i++) infer_push(k, out, in_type(o, i));
  return true;
}

bool verify_collective_broadcast(checker *k, const op *o) { /* collective_broadcast_c1, c2 */
  struct collective_broadcast_attrs a;
  if (!view_collective_broadcast(o, &a)) return false;
  const dense_attr *g = a.replica_groups;
  i64 n = 0;
  if (g && g->type->dims.len != 2)
    return plain_error(k, o,
                       "replica groups should be a rank 2 tensor,but instead it is of rank %zu",
                       g->type->dims.len);
  if (g && type_num_elements(g->type, &n)) {
    i64 twice = find_twice(k, g, n, 0, 1), negative = find_negative(g, n);
    if (negative < n && negative <= twice)
      return plain_error(k, o, "replica_groups values must be positive, but was given %lld",
                         (long long)attr_dense_int(&g->base, (size_t)negative));
    if (twice < n)
      return plain_error(k, o, "replica id #%lld seen more than once",
                         (long long)attr_dense_int(&g->base, (size_t)twice));
  }
  return check_root(k, o, "collective_broadcast", a.has_dynamic_root);
}

bool infer_collective_permute(checker *k, const op *o, inferred *out) {
  return infer_push(k, out, in_type(o, 0));
}

bool verify_collective_permute(checker *k, const op *o) {
  struct collective_permute_attrs a;
  if (!view_collective_permute(o, &a)) return false;
  const dense_attr *g = a.source_target_pairs;
  i64s dims = g->type->dims;
  i64 n;
  if (dims.len != 2) /* collective_permute_i2 */
    return plain_error(
        k, o, "expect source_target_pairs attribute to be of rank 2, but got rank %zu", dims.len);
  if (dims.data[1] != 2 || !type_num_elements(g->type, &n)) /* collective_permute_c1 */
    return plain_error(k, o, "expect source_target_pairs attribute of shape (N, 2), but got (%s)",
                       show_ints(k, dims));
  i64 negative = find_negative(g, n); /* c2 to c4 */
  i64 source = find_twice(k, g, n, 0, 2), target = find_twice(k, g, n, 1, 2);
  if (negative < n && negative <= source && negative <= target)
    return plain_error(k, o, "replica ids in source_target_pairs must be >= 0.");
  if (source < n && source < target) return plain_error(k, o, "duplicate sources not allowed.");
  return target == n || plain_error(k, o, "duplicate targets not allowed.");
}

/* Groups as axes of a mesh that a symbol names. */
bool use_groups(checker *k, const op *o) {
  const attr *a = op_attr(o, SLOT_NAME(replica_groups));
  const replica_group_mesh_axes_attr *g = attr_as(replica_group_mesh_axes, a);
  str name = g ? symbol_of(g->mesh) : (str){0};
  if (!name.len || checker_symbol(k, k->m->root, name)) return true;
  return op_error(k->c, o, "replica_groups: mesh symbol '" STR_FMT "' not found", STR_ARG(name));
}
