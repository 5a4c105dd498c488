/* MindSpore's Layout: checks, construction and its own printed forms.
 *
 * layout_make checks everything before it builds, in the order of Layout's parameters, so that the
 * message is about the first wrong one. What it builds is an ordinary sharding over whole axes; the
 * entries are kept beside it only because a tuple of one name and a name print differently. Called
 * by api/layout.c, by the reader of the notation and by the tests. */
#include "mesh/layout.h"

#include <stdlib.h>

#define INTERLEAVED "interleaved_parallel"
#define NOWHERE ((diag_pos){0})

/* ---- checks ---- */

/* The product is checked here, so that sizes and strides cannot overflow later. */
static bool check_matrix(const layout_spec *s, diag_sink *sink) {
  size_t n = s->device_matrix.len;
  if (n == 0)
    return diag_error(sink, NOWHERE, "device_matrix: expected at least one size, found none");
  if (n > LAYOUT_MAX_AXES)
    return diag_error(sink, NOWHERE, "device_matrix: expected at most %d sizes, found %zu",
                      LAYOUT_MAX_AXES, n);
  if (n != s->num_alias_names)
    return diag_error(sink, NOWHERE,
                      "alias_name: expected %zu names, one for each size of "
                      "device_matrix, found %zu",
                      n, s->num_alias_names);
  i64 size = 1;
  for (size_t i = 0; i < n; i++) {
    i64 d = s->device_matrix.data[i];
    if (d < 1)
      return diag_error(sink, NOWHERE,
                        "device_matrix[%zu]: expected a size of at least 1, found %lld", i,
                        (long long)d);
    if (!checked_mul(size, d, &size))
      return diag_error(sink, NOWHERE,
                        "device_matrix: expected fewer than 2^63 devices, found more");
  }
  return true;
}

static bool check_names(const layout_spec *s, diag_sink *sink) {
  for (size_t i = 0; i < s->num_alias_names; i++) {
    str name = s->alias_name[i];
    if (name.len == 0)
      return diag_error(sink, NOWHERE, "alias_name[%zu]: expected a name, found an empty one", i);
    if (str_is(name, "None"))
      return diag_error(sink, NOWHERE,
                        "alias_name[%zu]: expected a name, found \"None\", which "
                        "means that a dimension is not split",
                        i);
    for (size_t k = 0; k < i; k++)
      if (str_eq(name, s->alias_name[k]))
        return diag_error(sink, NOWHERE,
                          "alias_name[%zu]: expected different names, found \"" STR_FMT
                          "\" at %zu as well",
                          i, STR_ARG(name), k);
    if (str_is(name, INTERLEAVED) && i + 1 != s->num_alias_names)
      return diag_error(sink, NOWHERE,
                        "alias_name[%zu]: expected \"" INTERLEAVED
                        "\" as the last name, found %zu after it",
                        i, s->num_alias_names - 1 - i);
  }
  return true;
}

static int compare_i64(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x > y) - (x < y);
}

/* Ranks may be any different numbers of at least 0: a layout can be over a part of a cluster. */
static bool check_rank_list(arena *a, const layout_spec *s, i64 devices, diag_sink *sink) {
  i64s list = s->rank_list;
  if (!list.data) return true;
  if ((u64)devices != list.len)
    return diag_error(sink, NOWHERE,
                      "rank_list: expected %lld ranks, one for each device of "
                      "device_matrix, found %zu",
                      (long long)devices, list.len);
  for (size_t i = 0; i < list.len; i++)
    if (list.data[i] < 0)
      return diag_error(sink, NOWHERE, "rank_list[%zu]: expected a rank of at least 0, found %lld",
                        i, (long long)list.data[i]);
  i64 *sorted = ARENA_ARRAY(a, i64, list.len);
  memcpy(sorted, list.data, list.len * sizeof *sorted);
  qsort(sorted, list.len, sizeof *sorted, compare_i64);
  for (size_t i = 1; i < list.len; i++)
    if (sorted[i] == sorted[i - 1])
      return diag_error(sink, NOWHERE, "rank_list: expected different ranks, found %lld twice",
                        (long long)sorted[i]);
  return true;
}

/* Axes of one entry, "None" left out. used[axis] marks what some entry has. */
static bool resolve_entry(arena *a, const mesh *m, const layout_entry *e, size_t dim, bool *used,
                          axis_list *out, diag_sink *sink) {
  axis_vec axes = {0};
  bool none = false;
  if (!e->tuple && e->num_names != 1)
    return diag_error(sink, NOWHERE, "entries[%zu]: expected one name, found %zu", dim,
                      e->num_names);
  for (size_t i = 0; i < e->num_names; i++) {
    str name = e->names[i];
    if (str_is(name, "None")) {
      none = true;
      continue;
    }
    int axis = mesh_axis_find(m, name);
    if (axis < 0)
      return diag_error(sink, NOWHERE,
                        "entries[%zu]: expected a name of alias_name or \"None\", "
                        "found \"" STR_FMT "\"",
                        dim, STR_ARG(name));
    if (none)
      return diag_error(sink, NOWHERE,
                        "entries[%zu]: expected \"None\" last in the tuple, found \"" STR_FMT
                        "\" after it",
                        dim, STR_ARG(name));
    if (used[axis])
      return diag_error(sink, NOWHERE,
                        "entries[%zu]: expected each axis once, found \"" STR_FMT "\" again", dim,
                        STR_ARG(name));
    used[axis] = true;
    VEC_PUSH(a, axes, axis_whole(m, (u32)axis));
  }
  *out = axis_vec_list(&axes);
  return true;
}

/* ---- building ---- */

/* A rank list that is 0, 1, 2, ... is dropped, so that looking up a rank stays a formula. */
static const mesh *make_mesh(arena *a, const layout_spec *s) {
  size_t n = s->device_matrix.len;
  mesh_axis *axes = ARENA_ARRAY(a, mesh_axis, n);
  for (size_t i = 0; i < n; i++) axes[i] = (mesh_axis){s->alias_name[i], s->device_matrix.data[i]};
  i64s ids = s->rank_list;
  bool plain = true;
  for (size_t i = 0; i < ids.len && plain; i++) plain = ids.data[i] == (i64)i;
  return mesh_make(a, STR(""), axes, n, plain ? (i64s){0} : ids);
}

/* Names as they were given, "None" included. */
static const layout_entry *copy_entries(arena *a, const layout_spec *s) {
  layout_entry *out = ARENA_ARRAY(a, layout_entry, s->num_entries);
  for (size_t i = 0; i < s->num_entries; i++) {
    const layout_entry *e = &s->entries[i];
    str *names = ARENA_ARRAY(a, str, e->num_names);
    for (size_t k = 0; k < e->num_names; k++) names[k] = arena_str(a, e->names[k]);
    out[i] = (layout_entry){names, e->num_names, e->tuple};
  }
  return out;
}

const layout *layout_make(arena *a, const layout_spec *s, diag_sink *sink) {
  if (!check_matrix(s, sink) || !check_names(s, sink)) return NULL;
  const mesh *m = make_mesh(a, s);
  if (!m || !check_rank_list(a, s, m->size, sink)) return NULL;
  if (s->num_entries == 0 || s->num_entries > LAYOUT_MAX_DIMS) {
    diag_error(sink, NOWHERE,
               "entries: expected one for each dimension of the tensor, 1 to %d, "
               "found %zu",
               LAYOUT_MAX_DIMS, s->num_entries);
    return NULL;
  }
  bool *used = arena_zalloc(a, m->num_axes);
  axis_list *dims = ARENA_ARRAY(a, axis_list, s->num_entries);
  for (size_t i = 0; i < s->num_entries; i++)
    if (!resolve_entry(a, m, &s->entries[i], i, used, &dims[i], sink)) return NULL;
  layout *l = ARENA_NEW(a, layout);
  l->sharding = sharding_make_closed(a, m, dims, (u32)s->num_entries);
  l->entries = copy_entries(a, s);
  const mesh_axis *last = &m->axes[m->num_axes - 1];
  if (str_is(last->name, INTERLEAVED)) l->interleaved = last->size;
  slice_grid_make(a, l->sharding, &l->grid);
  return l;
}

/* Names dN-1 ... d0, so that axis di has number i from the right unless "rep" is last. */
const layout *layout_from_strategy(arena *a, i64s strategy, i64 devices, bool repeat_left,
                                   diag_sink *sink) {
  size_t n = strategy.len;
  i64 slices = 1;
  if (n == 0 || n > LAYOUT_MAX_DIMS) {
    diag_error(sink, NOWHERE, "strategy: expected a number for each dimension, 1 to %d, found %zu",
               LAYOUT_MAX_DIMS, n);
    return NULL;
  }
  for (size_t i = 0; i < n; i++)
    if (strategy.data[i] < 1 || !checked_mul(slices, strategy.data[i], &slices)) {
      diag_error(sink, NOWHERE,
                 "strategy[%zu]: expected at least 1 and fewer than 2^63 slices, "
                 "found %lld",
                 i, (long long)strategy.data[i]);
      return NULL;
    }
  if (devices < 1 || devices % slices) {
    diag_error(sink, NOWHERE,
               "devices: expected a multiple of the strategy's %lld slices, found "
               "%lld",
               (long long)slices, (long long)devices);
    return NULL;
  }
  bool repeat = devices != slices;
  size_t first = repeat && repeat_left;
  i64 *matrix = ARENA_ARRAY(a, i64, n + 1);
  str *names = ARENA_ARRAY(a, str, n + 1);
  layout_entry *entries = ARENA_ARRAY(a, layout_entry, n);
  for (size_t i = 0; i < n; i++) {
    matrix[first + i] = strategy.data[i];
    names[first + i] = arena_printf(a, "d%zu", n - 1 - i);
    entries[i] = (layout_entry){&names[first + i], 1, false};
  }
  if (repeat) {
    matrix[first ? 0 : n] = devices / slices;
    names[first ? 0 : n] = STR("rep");
  }
  layout_spec spec = {.device_matrix = {matrix, n + repeat},
                      .alias_name = names,
                      .num_alias_names = n + repeat,
                      .entries = entries,
                      .num_entries = n};
  return layout_make(a, &spec, sink);
}

/* ---- questions ---- */

/* In MindSpore shapes divide evenly: a slice is never padded. */
bool layout_check_shape(const layout *l, i64s shape, diag_sink *sink) {
  if (shape.len != layout_rank(l))
    return diag_error(sink, NOWHERE,
                      "tensor: expected %u dimensions, one for each entry, found %zu",
                      layout_rank(l), shape.len);
  for (size_t i = 0; i < shape.len; i++) {
    long long d = shape.data[i], pieces = l->grid.strategy[i];
    if (l->entries[i].num_names == 0)
      return diag_error(sink, NOWHERE,
                        "entries[%zu]: expected a name or \"None\", found an empty tuple", i);
    if (d < 0)
      return diag_error(sink, NOWHERE, "tensor[%zu]: expected a size of at least 0, found %lld", i,
                        d);
    if (d % pieces)
      return diag_error(sink, NOWHERE,
                        "tensor[%zu]: expected a multiple of its %lld slices, found "
                        "%lld",
                        i, pieces, d);
  }
  return true;
}

bool layout_find_rank(const layout *l, i64 rank, i64 *position, diag_sink *sink) {
  const mesh *m = layout_mesh(l);
  *position = mesh_position_of(m, rank);
  if (*position >= 0) return true;
  if (m->device_ids.len)
    return diag_error(sink, NOWHERE, "rank: expected one of rank_list, found %lld",
                      (long long)rank);
  return diag_error(sink, NOWHERE, "rank: expected 0 to %lld, found %lld", (long long)m->size - 1,
                    (long long)rank);
}

/* In the order of positions in the device matrix. */
bool layout_slice_ranks(arena *a, const layout *l, i64 slice, i64s *out, diag_sink *sink) {
  const mesh *m = layout_mesh(l);
  if (slice < 0 || slice >= l->grid.num_slices)
    return diag_error(sink, NOWHERE, "slice: expected 0 to %lld, found %lld",
                      (long long)l->grid.num_slices - 1, (long long)slice);
  i64s positions = slice_positions(a, &l->grid, slice);
  i64 *ranks = ARENA_ARRAY(a, i64, positions.len);
  for (size_t i = 0; i < positions.len; i++) ranks[i] = mesh_device_at(m, positions.data[i]);
  *out = (i64s){ranks, positions.len};
  return true;
}

/* ---- text ---- */

/* As Python writes a tuple. */
static void print_tuple_end(buf *out, size_t n) { buf_printf(out, n == 1 ? ",)" : ")"); }

static void print_map_number(buf *out, const layout *l, str name) {
  int axis = mesh_axis_find(layout_mesh(l), name);
  buf_printf(out, "%lld", axis < 0 ? -1LL : (long long)layout_map_number(l, (u32)axis));
}

void layout_print_tensor_map(buf *out, const layout *l) {
  buf_char(out, '(');
  for (u32 d = 0; d < layout_rank(l); d++) {
    const layout_entry *e = &l->entries[d];
    if (d) BUF_LIT(out, ", ");
    if (e->tuple) buf_char(out, '(');
    for (size_t i = 0; i < e->num_names; i++) {
      if (i) BUF_LIT(out, ", ");
      print_map_number(out, l, e->names[i]);
    }
    if (e->tuple) print_tuple_end(out, e->num_names);
  }
  print_tuple_end(out, layout_rank(l));
}

void layout_print_dict(buf *out, const layout *l) {
  const mesh *m = layout_mesh(l);
  BUF_LIT(out, "{'device_matrix': (");
  for (u32 i = 0; i < m->num_axes; i++)
    buf_printf(out, "%s%lld", i ? ", " : "", (long long)m->axes[i].size);
  print_tuple_end(out, m->num_axes);
  BUF_LIT(out, ", 'tensor_map': ");
  layout_print_tensor_map(out, l);
  buf_printf(out, ", 'interleaved_parallel': %s, 'alias_name': (",
             l->interleaved ? "True" : "False");
  for (u32 i = 0; i < m->num_axes; i++)
    buf_printf(out, "%s'" STR_FMT "'", i ? ", " : "", STR_ARG(m->axes[i].name));
  print_tuple_end(out, m->num_axes);
  BUF_LIT(out, ", 'rank_list': [");
  for (i64 i = 0; i < m->size && buf_ok(out); i++)
    buf_printf(out, "%s%lld", i ? ", " : "", (long long)mesh_device_at(m, i));
  BUF_LIT(out, "]}");
}
