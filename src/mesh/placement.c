/* Placements: their checks, and the way to XLA's tiles and back.
 *
 * The way back is the hard one. An order of devices that axes can make is a mixed radix number: a
 * list of steps, each a size and a stride. The list is found (order_of_iota, order_of_list), cut at
 * the borders of the tile dimensions (split_order), and its steps either become the axes of a new
 * mesh, if their strides are those of one (mesh_of_factors), or are looked for in the axes of a
 * given mesh (refs_of_factor). Where no steps make the order and no mesh is asked for, the devices
 * are listed in the mesh (place_by_list). */
#include "mesh/placement.h"

#include <stdlib.h>

#define NOWHERE ((diag_pos){0})

/* ---- checks ---- */

static void print_ref(buf *out, const mesh *m, axis_ref r) {
  buf_printf(out, "\"" STR_FMT "\"", STR_ARG(m->axes[r.axis].name));
  if (!axis_is_whole(m, r)) buf_printf(out, ":(%lld)%lld", (long long)r.pre, (long long)r.size);
}

typedef struct seen {
  const mesh *mesh;
  const placement *p;
  diag_sink *sink;
} seen;

/* List number `n` of a placement: its dimensions, then replicated, unreduced, manual. */
static axis_list list_of(const placement *p, u32 n) {
  const sharding *s = p->sharding;
  if (n < s->rank) return s->dims[n].axes;
  const axis_list rest[] = {s->replicated, s->unreduced, p->manual};
  return rest[n - s->rank];
}

static bool clash(const seen *c, u32 n, axis_ref r, axis_ref other) {
  static const char *const names[] = {"replicated", "unreduced", "manual"};
  u32 rank = c->p->sharding->rank;
  buf text;
  buf_init(&text, &mem_system);
  if (n < rank)
    buf_printf(&text, "dimension %u", n);
  else
    buf_str(&text, str_of(names[n - rank]));
  BUF_LIT(&text, ": expected different axes, found ");
  print_ref(&text, c->mesh, r);
  if (!axis_eq(r, other)) {
    BUF_LIT(&text, " beside ");
    print_ref(&text, c->mesh, other);
  } else {
    BUF_LIT(&text, " again");
  }
  diag_error(c->sink, NOWHERE, STR_FMT, STR_ARG(buf_view(&text)));
  buf_deinit(&text);
  return false;
}

static bool check_ref(const seen *c, u32 n, size_t k) {
  axis_ref r = list_of(c->p, n).data[k];
  for (u32 i = 0; i <= n; i++) {
    axis_list l = list_of(c->p, i);
    for (size_t j = 0; j < (i == n ? k : l.len); j++)
      if (axis_overlaps(r, l.data[j]) || !axis_can_coexist(r, l.data[j]))
        return clash(c, n, r, l.data[j]);
  }
  return true;
}

/* Of a sharding over axes. Quadratic in the references, which are few. */
bool placement_check(const placement *p, diag_sink *sink) {
  seen c = {p->sharding->mesh, p, sink};
  for (u32 n = 0; n < p->sharding->rank + 3; n++)
    for (size_t k = 0; k < list_of(p, n).len; k++)
      if (!check_ref(&c, n, k)) return false;
  return true;
}

/* ---- orders of devices ---- */

/* Along an order of devices: `size` steps of `stride` devices. */
typedef struct factor {
  i64 size, stride;
} factor;
typedef VEC(factor) factor_vec;

typedef struct tiler {
  arena *a;
  const tile_assignment *tiles;
  factor_vec order; /* of all devices, major to minor */
  factor_vec *dims; /* of each tile dimension */
} tiler;

/* Neighbours that continue each other are one step, so that a list of steps has one form. */
static void add_factor(arena *a, factor_vec *v, factor f) {
  if (f.size == 1) return;
  factor *last = v->len ? &v->data[v->len - 1] : NULL;
  if (last && last->stride == f.stride * f.size)
    *last = (factor){last->size * f.size, f.stride};
  else
    VEC_PUSH(a, *v, f);
}

/* Strides of the row-major iota, visited in the order of the transposition. */
static void order_of_iota(tiler *t) {
  i64s shape = t->tiles->reshape, perm = t->tiles->perm;
  i64 *strides = ARENA_ARRAY(t->a, i64, shape.len), size = 1;
  for (size_t i = shape.len; i-- > 0; size *= shape.data[i]) strides[i] = size;
  for (size_t i = 0; i < perm.len; i++)
    add_factor(t->a, &t->order, (factor){shape.data[perm.data[i]], strides[perm.data[i]]});
}

/* The steps that make a list, from the minor end: each run is as long as it goes. */
static bool order_of_list(tiler *t, i64s list) {
  factor_vec minor_first = {0};
  i64 n = (i64)list.len;
  if (n == 0 || list.data[0] != 0) return false;
  for (i64 done = 1; done < n;) {
    i64 stride = list.data[done], run = 1;
    while (run * done < n && list.data[run * done] == run * stride) run++;
    if (stride < 1 || n % (run * done)) return false;
    VEC_PUSH(t->a, minor_first, (factor){run, stride});
    done *= run;
  }
  for (i64 i = 0; i < n; i++) {
    i64 rest = i, value = 0;
    for (size_t k = 0; k < minor_first.len; k++) {
      value += rest % minor_first.data[k].size * minor_first.data[k].stride;
      rest /= minor_first.data[k].size;
    }
    if (value != list.data[i]) return false;
  }
  for (size_t k = minor_first.len; k-- > 0;) add_factor(t->a, &t->order, minor_first.data[k]);
  return true;
}

/* Cuts the order at the borders of the tile dimensions; false: some border falls inside a step. */
static bool split_order(tiler *t) {
  size_t at = 0;
  factor left = {1, 1};
  for (size_t d = 0; d < t->tiles->dims.len; d++) {
    for (i64 want = t->tiles->dims.data[d]; want > 1;) {
      if (left.size == 1) left = t->order.data[at++];
      i64 part = gcd_i64(want, left.size);
      if (part != want && part != left.size) return false;
      left.size /= part;
      add_factor(t->a, &t->dims[d], (factor){part, left.stride * left.size});
      want /= part;
    }
  }
  return true;
}

static int compare_strides(const void *a, const void *b) {
  const factor *x = a, *y = b;
  return (x->stride < y->stride) - (x->stride > y->stride);
}

/* Axes for the factors of all tile dimensions; false: they aren't the steps of one mesh. */
static const mesh *mesh_of_factors(tiler *t) {
  factor_vec all = {0};
  for (size_t d = 0; d < t->tiles->dims.len; d++)
    for (size_t k = 0; k < t->dims[d].len; k++) VEC_PUSH(t->a, all, t->dims[d].data[k]);
  if (all.len) qsort(all.data, all.len, sizeof *all.data, compare_strides);
  mesh_axis *axes = ARENA_ARRAY(t->a, mesh_axis, all.len);
  i64 stride = 1;
  for (size_t k = all.len; k-- > 0; stride *= all.data[k].size) {
    if (all.data[k].stride != stride) return NULL;
    axes[k] = (mesh_axis){arena_printf(t->a, "_axis_%zu", k), all.data[k].size};
  }
  return mesh_make(t->a, STR(""), axes, all.len, (i64s){0});
}

/* ---- to tiles ---- */

static bool covers(const mesh *m, axis_list l) { return axes_size(l) == m->size && m->size > 1; }

/* An iota instead of the list of devices, if there is one. */
static void find_iota(arena *a, tile_assignment *tiles) {
  tiler t = {.a = a, .tiles = tiles};
  i64 stride = 1;
  if (!order_of_list(&t, tiles->devices)) return;
  size_t n = t.order.len;
  i64 *reshape = ARENA_ARRAY(a, i64, n), *perm = ARENA_ARRAY(a, i64, n);
  factor *sorted = arena_copy(a, t.order.data, n * sizeof *sorted);
  if (n) qsort(sorted, n, sizeof *sorted, compare_strides);
  for (size_t k = n; k-- > 0; stride *= sorted[k].size) {
    if (sorted[k].stride != stride) return;
    reshape[k] = sorted[k].size;
    for (size_t i = 0; i < n; i++)
      if (t.order.data[i].stride == stride) perm[i] = (i64)k;
  }
  tiles->reshape = (i64s){reshape, n};
  tiles->perm = (i64s){perm, n};
  tiles->devices = (i64s){0};
}

/* Words for all devices ({manual}, {unreduced}) come last: they replace tiles that say the same. */
void placement_tile(arena *a, const placement *p, tile_assignment *out) {
  const sharding *s = p->sharding;
  bool plain = sharding_num_shards(s) == 1 && axes_size(s->unreduced) == 1 &&
               axes_size(p->manual) == 1 && !mesh_is_maximal(s->mesh);
  sharding_tile_manual(a, plain ? NULL : s, plain ? (axis_list){0} : p->manual, out);
  if (out->kind != TILE_OTHER) return;
  tile_sort_replicas(a, out);
  if (out->devices.len) find_iota(a, out);
  if (covers(s->mesh, p->manual)) *out = (tile_assignment){.kind = TILE_MANUAL};
  if (covers(s->mesh, s->unreduced)) *out = (tile_assignment){.kind = TILE_UNREDUCED};
}

/* ---- from tiles ---- */

/* The part of the mesh that makes these steps of its positions; false: no axes do. *bad: the axis
 * that would be cut. */
static bool refs_of_factor(arena *a, const mesh *m, factor f, axis_vec *out, u32 *bad) {
  i64 top = m->size, end = f.stride * f.size;
  for (u32 k = 0; k < m->num_axes; k++) {
    i64 bottom = top / m->axes[k].size;
    i64 high = min_i64(end, top), low = max_i64(f.stride, bottom);
    if (low < high) {
      *bad = k;
      if (high % low || top % high || low % bottom) return false;
      axes_add_or_merge(a, out, (axis_ref){k, top / high, high / low});
    }
    top = bottom;
  }
  return true;
}

/* Axes of a subgroup are a set, so they are sorted; those of a dimension keep their order. */
static const placement *make_placement(tiler *t, const mesh *m, diag_sink *sink) {
  const tile_assignment *tiles = t->tiles;
  u32 rank = (u32)tiles->dims.len - tiles->num_subgroups, bad = 0;
  axis_list *lists = ARENA_ARRAY(t->a, axis_list, tiles->dims.len);
  for (size_t d = 0; d < tiles->dims.len; d++) {
    axis_vec refs = {0};
    for (size_t k = 0; k < t->dims[d].len; k++)
      if (!refs_of_factor(t->a, m, t->dims[d].data[k], &refs, &bad)) {
        diag_error(
            sink, NOWHERE,
            "not expressible: dimension %zu has tiles that end inside a part of axis \"" STR_FMT
            "\"",
            d, STR_ARG(m->axes[bad].name));
        return NULL;
      }
    lists[d] = axis_vec_list(&refs);
  }
  sharding *s = ARENA_NEW(t->a, sharding);
  *s = *sharding_make_closed(t->a, m, lists, rank);
  placement *p = ARENA_NEW(t->a, placement);
  p->sharding = s;
  for (u32 k = 0; k < tiles->num_subgroups; k++) {
    axis_list l = axes_sort_merge(t->a, lists[rank + k]);
    if (tiles->subgroups[k] == SUBGROUP_UNREDUCED) s->unreduced = l;
    if (tiles->subgroups[k] == SUBGROUP_MANUAL) p->manual = l;
  }
  return p;
}

/* An axis a tile dimension, over the devices as listed. */
static const placement *place_by_list(tiler *t) {
  const tile_assignment *tiles = t->tiles;
  mesh_axis *axes = ARENA_ARRAY(t->a, mesh_axis, tiles->dims.len);
  u32 n = 0, rank = (u32)tiles->dims.len - tiles->num_subgroups;
  axis_ref *refs = ARENA_ARRAY(t->a, axis_ref, tiles->dims.len);
  axis_list *lists = ARENA_ARRAY(t->a, axis_list, tiles->dims.len);
  for (size_t d = 0; d < tiles->dims.len; d++) {
    i64 size = tiles->dims.data[d];
    lists[d] = (axis_list){0};
    if (size == 1) continue;
    axes[n] = (mesh_axis){arena_printf(t->a, "_axis_%u", n), size};
    refs[d] = (axis_ref){n++, 1, size};
    lists[d] = (axis_list){&refs[d], 1};
  }
  const mesh *m = mesh_make(t->a, STR(""), axes, n, tiles->devices);
  if (!m) arena_oom(t->a);
  sharding *s = ARENA_NEW(t->a, sharding);
  *s = *sharding_make_closed(t->a, m, lists, rank);
  placement *p = ARENA_NEW(t->a, placement);
  p->sharding = s;
  for (u32 k = 0; k < tiles->num_subgroups; k++) {
    if (tiles->subgroups[k] == SUBGROUP_UNREDUCED) s->unreduced = lists[rank + k];
    if (tiles->subgroups[k] == SUBGROUP_MANUAL) p->manual = lists[rank + k];
  }
  return p;
}

typedef struct numbered {
  i64 device, position;
} numbered;

static int compare_devices(const void *a, const void *b) {
  i64 x = ((const numbered *)a)->device, y = ((const numbered *)b)->device;
  return (x > y) - (x < y);
}

/* The devices, which are different, as positions of the mesh; false: said so. */
static bool to_positions(arena *a, const mesh *m, i64s devices, i64s *out, diag_sink *sink) {
  numbered *sorted = ARENA_ARRAY(a, numbered, (size_t)m->size);
  for (i64 i = 0; i < m->size; i++) sorted[i] = (numbered){mesh_device_at(m, i), i};
  qsort(sorted, (size_t)m->size, sizeof *sorted, compare_devices);
  i64 *list = ARENA_ARRAY(a, i64, devices.len);
  for (size_t i = 0; i < devices.len; i++) {
    numbered key = {devices.data[i], 0};
    const numbered *at = bsearch(&key, sorted, (size_t)m->size, sizeof *sorted, compare_devices);
    if (!at)
      return diag_error(sink, NOWHERE, "devices: expected devices of the mesh, found %lld",
                        (long long)key.device);
    list[i] = at->position;
  }
  *out = (i64s){list, devices.len};
  return true;
}

static i64 num_devices(const tile_assignment *t) {
  i64 n = 1;
  for (size_t i = 0; i < t->dims.len; i++) n *= t->dims.data[i];
  return n;
}

/* Without lists on either side nothing here is linear in the devices. */
static const placement *place_over(tiler *t, const mesh *m, diag_sink *sink) {
  i64 n = num_devices(t->tiles);
  if (n != m->size) {
    diag_error(sink, NOWHERE, "mesh: expected %lld devices, as many as there are tiles, found %lld",
               (long long)n, (long long)m->size);
    return NULL;
  }
  if (m->device_ids.len == 0 && t->tiles->devices.len == 0) {
    order_of_iota(t);
  } else {
    tile_assignment listed = *t->tiles;
    i64s list;
    if (n > PLACEMENT_MAX_LISTED) {
      diag_error(sink, NOWHERE, "device_ids: expected at most %d devices, found %lld",
                 PLACEMENT_MAX_LISTED, (long long)n);
      return NULL;
    }
    tile_list_devices(t->a, &listed);
    if (!to_positions(t->a, m, listed.devices, &listed.devices, sink)) return NULL;
    tile_sort_replicas(t->a, &listed);
    list = listed.devices;
    if (!order_of_list(t, list)) {
      diag_error(sink, NOWHERE,
                 "not expressible: no order of the mesh's axes gives the listed devices");
      return NULL;
    }
  }
  if (split_order(t)) return make_placement(t, m, sink);
  diag_error(sink, NOWHERE, "not expressible: the tiles end inside a part of the mesh's axes");
  return NULL;
}

const placement *placement_from_tiles(arena *a, const tile_assignment *tiles, const mesh *m,
                                      diag_sink *sink) {
  tile_assignment sorted = *tiles;
  tiler t = {.a = a, .tiles = &sorted};
  t.dims = arena_zalloc(a, (tiles->dims.len + 1) * sizeof *t.dims);
  if (m) return place_over(&t, m, sink);
  bool ordered = true;
  tile_sort_replicas(a, &sorted);
  tiles = &sorted;
  if (tiles->devices.len)
    ordered = order_of_list(&t, tiles->devices);
  else
    order_of_iota(&t);
  const mesh *own = ordered && split_order(&t) ? mesh_of_factors(&t) : NULL;
  if (own) return make_placement(&t, own, sink);
  if (num_devices(tiles) > PLACEMENT_MAX_LISTED) {
    diag_error(sink, NOWHERE, "devices: expected at most %d to list, found %lld",
               PLACEMENT_MAX_LISTED, (long long)num_devices(tiles));
    return NULL;
  }
  tile_assignment listed = *tiles;
  tile_list_devices(a, &listed);
  t.tiles = &listed;
  return place_by_list(&t);
}
