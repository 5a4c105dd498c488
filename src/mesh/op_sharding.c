/* From a sharding over axes to XLA's tiles, and the two forms in which XLA writes them.
 *
 * The order of devices follows from the axes alone: an iota over the mesh's parts, transposed so
 * that the axes of the dimensions come first and those of the subgroups after them. Subgroups stand
 * in the order in which XLA sorts them. The bytes are protobuf's: field numbers and types as in
 * xla/xla_data.proto, packed where repeated, fields of their default left out. */
#include "mesh/op_sharding.h"

#include <stdlib.h>

/* Order of devices as an iota reshaped to `dims` and transposed by `perm`, made as small as it
 * goes: dimensions of size 1 dropped, neighbours that stay neighbours merged. */
static void canonicalize(arena *a, i64 *dims, i64 *perm, size_t n, i64s *out_dims, i64s *out_perm) {
  size_t w = 0;
  i64 *number = ARENA_ARRAY(a, i64, n);
  /* drop size 1 */
  for (size_t i = 0; i < n; i++) {
    number[i] = dims[i] == 1 ? -1 : (i64)w;
    if (dims[i] != 1) dims[w++] = dims[i];
  }
  size_t k = 0;
  for (size_t i = 0; i < n; i++)
    if (number[perm[i]] >= 0) perm[k++] = number[perm[i]];
  n = w;
  /* merge runs: head[d] is the dimension that d is folded into */
  i64 *head = ARENA_ARRAY(a, i64, n);
  for (size_t i = 0; i < n; i++) head[i] = (i64)i;
  for (size_t i = 1; i < n; i++)
    if (perm[i] == perm[i - 1] + 1) head[perm[i]] = -1;
  i64 *merged = ARENA_ARRAY(a, i64, n + 1), *place = ARENA_ARRAY(a, i64, n + 1);
  w = 0;
  for (size_t i = 0; i < n; i++) {
    if (head[i] >= 0)
      merged[w] = dims[i], place[i] = (i64)w, w++;
    else
      merged[w - 1] *= dims[i];
  }
  i64 *order = ARENA_ARRAY(a, i64, n + 1);
  k = 0;
  for (size_t i = 0; i < n; i++)
    if (head[perm[i]] >= 0) order[k++] = place[perm[i]];
  if (w == 0) merged[w] = 1, order[w] = 0, w = 1;
  *out_dims = (i64s){merged, w};
  *out_perm = (i64s){order, w};
}

/* The mesh's devices in the order of `l`, which covers it. */
static void explicit_devices(arena *a, const mesh *m, axis_list l, tile_assignment *out) {
  replica_groups g;
  if (!mesh_replica_groups(a, m, l, &g)) arena_oom(a);
  out->devices = (i64s){g.ids, (size_t)m->size};
}

static void device_order(arena *a, const mesh *m, axis_list l, tile_assignment *out) {
  if (m->device_ids.len) {
    explicit_devices(a, m, l, out);
    return;
  }
  axis_list parts = axes_ordered(a, m, l);
  i64 *dims = ARENA_ARRAY(a, i64, parts.len), *perm = ARENA_ARRAY(a, i64, parts.len);
  for (size_t i = 0; i < parts.len; i++) dims[i] = parts.data[i].size;
  size_t n = 0;
  /* each listed reference is a run of parts */
  for (size_t i = 0; i < l.len; i++)
    for (size_t k = 0; k < parts.len; k++)
      if (axis_contains(l.data[i], parts.data[k])) perm[n++] = (i64)k;
  canonicalize(a, dims, perm, n, &out->reshape, &out->perm);
}

void sharding_tile(arena *a, const sharding *s, tile_assignment *out) {
  sharding_tile_manual(a, s, (axis_list){0}, out);
}

/* Axes that shard nothing replicate: a subgroup dimension of their size, unless it is 1. */
void sharding_tile_manual(arena *a, const sharding *s, axis_list manual, tile_assignment *out) {
  *out = (tile_assignment){.kind = TILE_REPLICATED};
  if (s && mesh_is_maximal(s->mesh)) {
    out->kind = TILE_MAXIMAL;
    out->devices = s->mesh->device_ids;
    return;
  }
  if (sharding_is_replicated(s) && manual.len == 0) return;
  out->kind = TILE_OTHER;
  i64 *dims = ARENA_ARRAY(a, i64, s->rank + SUBGROUP_KINDS);
  for (u32 i = 0; i < s->rank; i++) dims[i] = sharding_dim_size(s, i);
  size_t n = s->rank;
  axis_list rest = axes_difference(a, sharding_unused_axes(a, s), manual);
  const axis_list groups[SUBGROUP_KINDS] = {manual, s->unreduced, rest};
  axis_list order = sharding_used_axes(a, s);
  for (int k = 0; k < SUBGROUP_KINDS; k++) {
    i64 size = axes_size(groups[k]);
    order = axes_concat(a, order, groups[k]);
    if (size == 1) continue;
    dims[n++] = size;
    out->subgroups[out->num_subgroups++] = (subgroup_kind)k;
  }
  out->dims = (i64s){dims, n};
  device_order(a, s->mesh, order, out);
}

/* Counts through the transposed iota as an odometer: no division a device. */
void tile_list_devices(arena *a, tile_assignment *t) {
  if (t->kind != TILE_OTHER || t->devices.len) return;
  size_t n = t->reshape.len;
  i64 *strides = ARENA_ARRAY(a, i64, n), *digits = arena_zalloc(a, n * sizeof(i64)), size = 1;
  for (size_t i = n; i-- > 0;) {
    strides[i] = size;
    if (!checked_mul(size, t->reshape.data[i], &size)) arena_oom(a);
  }
  i64 *devices = ARENA_ARRAY(a, i64, (size_t)size), device = 0;
  for (i64 k = 0; k < size; k++) {
    devices[k] = device;
    for (size_t i = n; i-- > 0;) {
      i64 d = t->perm.data[i];
      device += strides[d];
      if (++digits[i] < t->reshape.data[d]) break;
      device -= digits[i] * strides[d];
      digits[i] = 0;
    }
  }
  t->devices = (i64s){devices, (size_t)size};
  t->reshape = t->perm = (i64s){0};
}

static int compare_i64(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x > y) - (x < y);
}

/* Which replica comes first does not matter to what a device holds, so the order is normalised. */
void tile_sort_replicas(arena *a, tile_assignment *t) {
  if (!t->num_subgroups || t->subgroups[t->num_subgroups - 1] != SUBGROUP_REPLICATED) return;
  if (t->devices.len == 0) return;
  size_t group = (size_t)t->dims.data[t->dims.len - 1];
  i64 *sorted = arena_copy(a, t->devices.data, t->devices.len * sizeof *sorted);
  for (size_t i = 0; i + group <= t->devices.len; i += group)
    qsort(sorted + i, group, sizeof *sorted, compare_i64);
  t->devices.data = sorted;
}

/* ---- the serialized message ---- */

/* xla.OpSharding.Type */
enum { KIND_REPLICATED = 0, KIND_MAXIMAL = 1, KIND_OTHER = 3, KIND_MANUAL = 4, KIND_UNREDUCED = 6 };
static const struct {
  const char *name;
  i64 type;
} subgroup_infos[SUBGROUP_KINDS] = {[SUBGROUP_MANUAL] = {"manual", KIND_MANUAL},
                                    [SUBGROUP_UNREDUCED] = {"unreduced", KIND_UNREDUCED},
                                    [SUBGROUP_REPLICATED] = {"replicated", KIND_REPLICATED}};

static bool only_replicated(const tile_assignment *t) {
  return t->num_subgroups == 1 && t->subgroups[0] == SUBGROUP_REPLICATED;
}

enum {
  FIELD_TYPE = 1,
  FIELD_DIMS = 3,
  FIELD_DEVICES = 4,
  FIELD_REPLICATE_LAST = 6,
  FIELD_LAST_TILE_DIMS = 8,
  FIELD_RESHAPE = 9,
  FIELD_PERM = 10
};

/* Base 128, least significant group first, the top bit says that more follow. */
static void put_varint(buf *b, u64 v) {
  for (; v >= 128; v >>= 7) buf_char(b, (char)(v | 128));
  buf_char(b, (char)v);
}

static size_t varint_size(u64 v) {
  size_t n = 1;
  while (v >>= 7) n++;
  return n;
}

static void put_int(buf *b, u32 field, i64 v) {
  put_varint(b, field << 3);
  put_varint(b, (u64)v);
}

static void put_packed(buf *b, u32 field, i64s v) {
  if (v.len == 0) return;
  size_t n = 0;
  for (size_t i = 0; i < v.len; i++) n += varint_size((u64)v.data[i]);
  put_varint(b, field << 3 | 2);
  put_varint(b, n);
  for (size_t i = 0; i < v.len; i++) put_varint(b, (u64)v.data[i]);
}

/* Identity orders are written as iota over one dimension, as XLA does. */
static bool is_plain_iota(const tile_assignment *t) {
  return t->devices.len == 0 && t->reshape.len == 1;
}

void op_sharding_write(buf *out, const tile_assignment *t) {
  if (t->kind == TILE_REPLICATED) return;
  if (t->kind == TILE_MAXIMAL) {
    put_int(out, FIELD_TYPE, KIND_MAXIMAL);
    put_packed(out, FIELD_DIMS, (i64s){(const i64[]){1}, 1});
    put_packed(out, FIELD_DEVICES, t->devices);
    return;
  }
  if (t->kind != TILE_OTHER) {
    put_int(out, FIELD_TYPE, t->kind == TILE_MANUAL ? KIND_MANUAL : KIND_UNREDUCED);
    return;
  }
  put_int(out, FIELD_TYPE, KIND_OTHER);
  put_packed(out, FIELD_DIMS, t->dims);
  put_packed(out, FIELD_DEVICES, t->devices);
  if (only_replicated(t)) put_int(out, FIELD_REPLICATE_LAST, 1);
  if (t->num_subgroups && !only_replicated(t)) {
    i64 kinds[SUBGROUP_KINDS];
    for (u32 i = 0; i < t->num_subgroups; i++) kinds[i] = subgroup_infos[t->subgroups[i]].type;
    put_packed(out, FIELD_LAST_TILE_DIMS, (i64s){kinds, t->num_subgroups});
  }
  put_packed(out, FIELD_RESHAPE, t->reshape);
  put_packed(out, FIELD_PERM, t->perm);
}

/* As in HLO text, without spaces. */
static void print_list(buf *out, i64s v) {
  for (size_t i = 0; i < v.len; i++) buf_printf(out, "%s%lld", i ? "," : "", (long long)v.data[i]);
}

void op_sharding_print(buf *out, const tile_assignment *t) {
  static const char *const words[] = {[TILE_REPLICATED] = "{replicated}",
                                      [TILE_MANUAL] = "{manual}",
                                      [TILE_UNREDUCED] = "{unreduced}"};
  if (t->kind != TILE_MAXIMAL && t->kind != TILE_OTHER) {
    buf_str(out, str_of(words[t->kind]));
    return;
  }
  if (t->kind == TILE_MAXIMAL) {
    buf_printf(out, "{maximal device=%lld}", (long long)t->devices.data[0]);
    return;
  }
  BUF_LIT(out, "{devices=[");
  print_list(out, t->dims);
  BUF_LIT(out, "]");
  if (t->devices.len) {
    print_list(out, t->devices);
  } else {
    BUF_LIT(out, "<=[");
    print_list(out, t->reshape);
    BUF_LIT(out, "]");
    if (!is_plain_iota(t)) {
      BUF_LIT(out, "T(");
      print_list(out, t->perm);
      BUF_LIT(out, ")");
    }
  }
  if (only_replicated(t)) {
    BUF_LIT(out, " last_tile_dim_replicate");
  } else if (t->num_subgroups) {
    BUF_LIT(out, " last_tile_dims={");
    for (u32 i = 0; i < t->num_subgroups; i++)
      buf_printf(out, "%s%s", i ? ", " : "", subgroup_infos[t->subgroups[i]].name);
    BUF_LIT(out, "}");
  }
  BUF_LIT(out, "}");
}
