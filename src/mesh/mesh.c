/* Meshes and shardings as values: construction, equality, groups of devices, local shapes. */
#include "mesh/mesh.h"

/* The one place where sizes are checked; the rest of the module multiplies freely. */
const mesh *mesh_make(arena *a, str name, const mesh_axis *axes, size_t num_axes, i64s device_ids) {
  i64 size = 1;
  if (num_axes > UINT32_MAX) return NULL;
  for (size_t i = 0; i < num_axes; i++)
    if (axes[i].size < 1 || !checked_mul(size, axes[i].size, &size)) return NULL;
  mesh *m = ARENA_NEW(a, mesh);
  mesh_axis *copy = ARENA_ARRAY(a, mesh_axis, num_axes);
  for (size_t i = 0; i < num_axes; i++)
    copy[i] = (mesh_axis){arena_str(a, axes[i].name), axes[i].size};
  m->name = arena_str(a, name);
  m->axes = copy;
  m->num_axes = (u32)num_axes;
  if (device_ids.len) {
    i64 *ids = ARENA_ARRAY(a, i64, device_ids.len);
    memcpy(ids, device_ids.data, device_ids.len * sizeof(*ids));
    m->device_ids = (i64s){ids, device_ids.len};
  }
  m->size = size;
  return m;
}

/* Maximal and empty meshes have no axes either; without ids they would look the same. */
bool mesh_same(const mesh *a, const mesh *b, bool ignore_device_ids) {
  if (a == b) return true;
  if (a->num_axes != b->num_axes) return false;
  for (u32 i = 0; i < a->num_axes; i++)
    if (a->axes[i].size != b->axes[i].size || !str_eq(a->axes[i].name, b->axes[i].name))
      return false;
  if (ignore_device_ids) return mesh_is_maximal(a) == mesh_is_maximal(b);
  return i64s_eq(a->device_ids, b->device_ids);
}

int mesh_axis_find(const mesh *m, str name) {
  for (u32 i = 0; i < m->num_axes; i++)
    if (str_eq(m->axes[i].name, name)) return (int)i;
  return -1;
}

/* -1: not in the mesh. Linear where ids are listed. */
i64 mesh_position_of(const mesh *m, i64 device) {
  if (m->device_ids.len == 0) return device >= 0 && device < m->size ? device : -1;
  for (size_t i = 0; i < m->device_ids.len; i++)
    if (m->device_ids.data[i] == device) return (i64)i;
  return -1;
}

/* The last axis is the minor one. */
void mesh_coordinates(const mesh *m, i64 position, i64 *out) {
  for (u32 i = m->num_axes; i-- > 0; position /= m->axes[i].size)
    out[i] = position % m->axes[i].size;
}

/* Where positions begin that differ in these axes only, the first axis major. */
static const i64 *positions_along(arena *a, const mesh *m, axis_list l) {
  i64 *out = ARENA_ARRAY(a, i64, (size_t)axes_size(l));
  out[0] = 0;
  for (i64 n = 1, i = 0; i < (i64)l.len; n *= l.data[i++].size) {
    i64 size = l.data[i].size, stride = mesh_stride(m, l.data[i]);
    for (i64 k = n; k-- > 0;)
      for (i64 x = size, base = out[k]; x-- > 0;) out[k * size + x] = base + x * stride;
  }
  return out;
}

/* Each group begins where the axes that are not listed, in mesh order, say. */
bool mesh_replica_groups(arena *a, const mesh *m, axis_list l, replica_groups *out) {
  i64 size = axes_size(l), bytes;
  if (size <= 0 || m->size % size || !checked_mul(m->size, (i64)sizeof(i64), &bytes)) return false;
  axis_list rest = axes_difference(a, axes_ordered(a, m, l), l);
  const i64 *outer = positions_along(a, m, rest), *inner = positions_along(a, m, l);
  i64 *ids = ARENA_ARRAY(a, i64, (size_t)m->size), num = m->size / size;
  for (i64 g = 0; g < num; g++)
    for (i64 k = 0; k < size; k++) ids[g * size + k] = outer[g] + inner[k];
  for (i64 i = 0; m->device_ids.len && i < m->size; i++) ids[i] = m->device_ids.data[ids[i]];
  *out = (replica_groups){num, size, ids};
  return true;
}

static bool dim_eq(const dim_sharding *a, const dim_sharding *b) {
  return a->closed == b->closed && a->priority == b->priority && axes_eq(a->axes, b->axes);
}

bool sharding_eq(const sharding *a, const sharding *b) {
  if (a == b) return true;
  if (!a || !b || a->rank != b->rank || a->unreduced_kind != b->unreduced_kind) return false;
  if (a->mesh != b->mesh && !mesh_same(a->mesh, b->mesh, false)) return false;
  for (u32 i = 0; i < a->rank; i++)
    if (!dim_eq(&a->dims[i], &b->dims[i])) return false;
  return axes_eq(a->replicated, b->replicated) && axes_eq(a->unreduced, b->unreduced);
}

bool sharding_is_replicated(const sharding *s) {
  if (!s) return true;
  for (u32 i = 0; i < s->rank; i++)
    if (s->dims[i].axes.len) return false;
  return s->unreduced.len == 0;
}

bool sharding_has_no_axes(const sharding *s) {
  return sharding_is_replicated(s) && (!s || s->replicated.len == 0);
}

bool sharding_equivalent(const sharding *a, const sharding *b) {
  if (sharding_is_replicated(a)) return sharding_is_replicated(b);
  if (!b || a->rank != b->rank || !mesh_same(a->mesh, b->mesh, false)) return false;
  for (u32 i = 0; i < a->rank; i++)
    if (!axes_eq(a->dims[i].axes, b->dims[i].axes)) return false;
  return axes_eq(a->unreduced, b->unreduced);
}

const sharding *sharding_make_replicated(arena *a, const mesh *m, u32 rank, bool closed) {
  sharding *s = ARENA_NEW(a, sharding);
  dim_sharding *dims = ARENA_ARRAY(a, dim_sharding, rank);
  for (u32 i = 0; i < rank; i++)
    dims[i] = (dim_sharding){.closed = closed, .priority = PRIORITY_NONE};
  s->mesh = m;
  s->rank = rank;
  s->dims = dims;
  return s;
}

const sharding *sharding_make_closed(arena *a, const mesh *m, const axis_list *lists, u32 rank) {
  sharding *s = ARENA_NEW(a, sharding);
  dim_sharding *dims = ARENA_ARRAY(a, dim_sharding, rank);
  for (u32 i = 0; i < rank; i++) dims[i] = (dim_sharding){lists[i], true, PRIORITY_NONE};
  s->mesh = m;
  s->rank = rank;
  s->dims = dims;
  return s;
}

/* How many positions apart two neighbours along the axis are. */
static i64 axis_stride(const mesh *m, u32 axis) {
  i64 stride = 1;
  for (u32 k = axis + 1; k < m->num_axes; k++) stride *= m->axes[k].size;
  return stride;
}

/* A reference is the digits of a position from `low` to `high`, both products of sizes; here they
 * are cut where the axes of the other mesh are. */
static bool add_on_mesh(arena *a, const mesh *from, axis_ref r, const mesh *m, axis_vec *out) {
  i64 size = from->axes[r.axis].size;
  i64 low = axis_stride(from, r.axis) * (size / (r.pre * r.size)), high = low * r.size;
  for (u32 k = 0; k < m->num_axes && low < high; k++) {
    i64 begin = axis_stride(m, k), end = begin * m->axes[k].size;
    if (end <= low || begin >= high || begin == end) continue;
    i64 from_here = begin > low ? begin : low, to_here = end < high ? end : high;
    if (from_here % begin || to_here % from_here || end % to_here || to_here != high) return false;
    if (to_here > from_here)
      axes_add_or_merge(a, out, (axis_ref){k, end / to_here, to_here / from_here});
    high = from_here;
  }
  return low == high;
}

const sharding *sharding_on_mesh(arena *a, const sharding *s, const mesh *m) {
  if (s->unreduced.len || s->mesh->size != m->size || !i64s_eq(s->mesh->device_ids, m->device_ids))
    return NULL;
  axis_list *dims = ARENA_ARRAY(a, axis_list, s->rank);
  for (u32 d = 0; d < s->rank; d++) {
    axis_vec v = {0};
    for (size_t i = 0; i < s->dims[d].axes.len; i++)
      if (!add_on_mesh(a, s->mesh, s->dims[d].axes.data[i], m, &v)) return NULL;
    dims[d] = axis_vec_list(&v);
  }
  return sharding_make_closed(a, m, dims, s->rank);
}

const sharding *sharding_closed_like(arena *a, const sharding *from) {
  sharding *s = ARENA_NEW(a, sharding);
  dim_sharding *dims = ARENA_ARRAY(a, dim_sharding, from->rank);
  *s = *from;
  for (u32 i = 0; i < s->rank; i++)
    dims[i] = (dim_sharding){from->dims[i].axes, true, PRIORITY_NONE};
  s->dims = dims;
  s->replicated = (axis_list){0};
  return s;
}

axis_list sharding_used_axes(arena *a, const sharding *s) {
  axis_vec v = {0};
  for (u32 i = 0; i < s->rank; i++)
    for (size_t k = 0; k < s->dims[i].axes.len; k++) VEC_PUSH(a, v, s->dims[i].axes.data[k]);
  return axis_vec_list(&v);
}

/* Whole axes minus what is used: parts come out in mesh order. */
axis_list sharding_unused_axes(arena *a, const sharding *s) {
  axis_vec all = {0};
  for (u32 k = 0; k < s->mesh->num_axes; k++) VEC_PUSH(a, all, axis_whole(s->mesh, k));
  axis_list used = axes_concat(a, sharding_used_axes(a, s), s->unreduced);
  return axes_difference(a, axis_vec_list(&all), used);
}

/* Rounded up as the partitioner pads; a caller that cannot pad looks at the result. */
bool sharding_local_shape(const sharding *s, const i64 *shape, i64 *out) {
  bool even = true;
  for (u32 i = 0; i < s->rank; i++) {
    i64 n = sharding_dim_size(s, i), d = shape[i];
    if (d < 0) {
      out[i] = d;
      continue;
    }
    even &= d % n == 0;
    out[i] = d / n + (d % n != 0);
  }
  return even;
}

i64 sharding_shard_index(const sharding *s, u32 dim, i64 position) {
  return axes_index_at(s->mesh, s->dims[dim].axes, position);
}

i64 sharding_num_shards(const sharding *s) {
  i64 n = 1;
  for (u32 i = 0; i < s->rank; i++)
    if (!checked_mul(n, sharding_dim_size(s, i), &n)) return INT64_MAX;
  return n;
}
