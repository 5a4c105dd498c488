/* JSON of layouts, placements and moves for `terrazzo layout` and `terrazzo convert`, by hand: the
 * keys come in the order that describe.h lists. Output stops early where the buffer has failed, as
 * lists may have a million entries. */
#include "mesh/describe.h"

const char *const redistribute_names[] = {[REDISTRIBUTE_SLICE] = "slice",
                                          [REDISTRIBUTE_ALL_GATHER] = "all_gather",
                                          [REDISTRIBUTE_ALL_TO_ALL] = "all_to_all",
                                          [REDISTRIBUTE_PERMUTE] = "collective_permute"};

enum { MAX_LISTED = 1 << 20 };

/* ---- values ---- */

void json_numbers(buf *out, const i64 *data, size_t n) {
  buf_char(out, '[');
  for (size_t i = 0; i < n && buf_ok(out); i++)
    buf_printf(out, "%s%lld", i ? ", " : "", (long long)data[i]);
  buf_char(out, ']');
}

/* Bytes from 0x20 on stand as they are: names are UTF-8 or the caller's own problem. */
void json_string(buf *out, str s) {
  buf_char(out, '"');
  for (size_t i = 0; i < s.len; i++) {
    u8 c = (u8)s.data[i];
    if (c == '"' || c == '\\')
      buf_printf(out, "\\%c", c);
    else if (c < 0x20)
      buf_printf(out, "\\u%04x", c);
    else
      buf_char(out, (char)c);
  }
  buf_char(out, '"');
}

static void json_ranges(buf *out, const index_range *r, size_t n) {
  buf_char(out, '[');
  for (size_t d = 0; d < n; d++)
    buf_printf(out, "%s[%lld, %lld]", d ? ", " : "", (long long)r[d].begin, (long long)r[d].end);
  buf_char(out, ']');
}

/* Axes as tensor_map counts them, from the right. */
static i64 map_number(const mesh *m, u32 axis) { return (i64)m->num_axes - 1 - axis; }

/* From the entries as they were written: "None" and names that split nothing stand there as -1. */
static void layout_map(buf *out, const layout *l) {
  for (u32 d = 0; d < layout_rank(l); d++) {
    const layout_entry *e = &l->entries[d];
    if (d) BUF_LIT(out, ", ");
    if (e->tuple) buf_char(out, '[');
    for (size_t i = 0; i < e->num_names; i++) {
      int axis = mesh_axis_find(layout_mesh(l), e->names[i]);
      buf_printf(out, "%s%lld", i ? ", " : "",
                 axis < 0 ? -1LL : (long long)layout_map_number(l, (u32)axis));
    }
    if (e->tuple) buf_char(out, ']');
  }
}

static void sharding_map(buf *out, const sharding *s) {
  for (u32 d = 0; d < s->rank; d++) {
    axis_list l = s->dims[d].axes;
    if (d) BUF_LIT(out, ", ");
    if (l.len == 0) BUF_LIT(out, "-1");
    if (l.len > 1) buf_char(out, '[');
    for (size_t i = 0; i < l.len; i++)
      buf_printf(out, "%s%lld", i ? ", " : "", (long long)map_number(s->mesh, l.data[i].axis));
    if (l.len > 1) buf_char(out, ']');
  }
}

/* tensor_map numbers whole axes; with a part of one there is no such number, and the map is
 * null. */
static bool has_parts(const sharding *s) {
  for (u32 d = 0; d < s->rank; d++)
    for (size_t i = 0; i < s->dims[d].axes.len; i++)
      if (!axis_is_whole(s->mesh, s->dims[d].axes.data[i])) return true;
  return false;
}

/* ---- a grid ---- */

/* All slices at once are one pass over the devices; a few are found one by one. */
static void json_groups(arena *a, buf *out, const grid_view *v) {
  const slice_grid *g = v->grid;
  const mesh *m = view_mesh(v);
  i64 *positions = NULL;
  size_t groups = v->slices.data ? v->slices.len : (size_t)g->num_slices;
  if (!v->slices.data) {
    positions = ARENA_ARRAY(a, i64, (size_t)m->size);
    slice_groups(a, g, positions);
  }
  buf_char(out, '[');
  for (size_t i = 0; i < groups && buf_ok(out); i++) {
    i64 replicas = g->replicas;
    const i64 *group = v->slices.data ? slice_positions(a, g, v->slices.data[i]).data
                                      : positions + (i64)i * replicas;
    i64 *ranks = ARENA_ARRAY(a, i64, (size_t)replicas);
    for (i64 k = 0; k < replicas; k++) ranks[k] = mesh_device_at(m, group[k]);
    if (i) BUF_LIT(out, ", ");
    json_numbers(out, ranks, (size_t)replicas);
  }
  buf_char(out, ']');
}

/* An entry a device, or those that the view asks for. */
static void json_ranks(arena *a, buf *out, const grid_view *v) {
  index_range *ranges = ARENA_ARRAY(a, index_range, v->shape.len);
  BUF_LIT(out, "[\n");
  for (i64 i = 0, n = view_num_positions(v); i < n && buf_ok(out); i++) {
    i64 position = view_position(v, i), slice = slice_at(v->grid, position);
    buf_printf(out, "    {\"rank\": %lld, \"slice\": %lld",
               (long long)mesh_device_at(view_mesh(v), position), (long long)slice);
    if (v->has_shape) {
      slice_ranges(v->grid, v->shape, slice, ranges);
      BUF_LIT(out, ", \"ranges\": ");
      json_ranges(out, ranges, v->shape.len);
    }
    buf_str(out, i + 1 < n ? STR("},\n") : STR("}\n"));
  }
  BUF_LIT(out, "  ]");
}

/* From tensor_map on, without the braces. */
static void json_grid(arena *a, buf *out, const grid_view *v) {
  const slice_grid *g = v->grid;
  const sharding *s = g->sharding;
  if (!v->layout && has_parts(s)) {
    BUF_LIT(out, "  \"tensor_map\": null,\n");
  } else {
    BUF_LIT(out, "  \"tensor_map\": [");
    if (v->layout)
      layout_map(out, v->layout);
    else
      sharding_map(out, s);
    BUF_LIT(out, "],\n");
  }
  BUF_LIT(out, "  \"strategy\": ");
  json_numbers(out, g->strategy, s->rank);
  BUF_LIT(out, ",\n  \"slice_shape\": ");
  if (v->has_shape) {
    i64 *shape = ARENA_ARRAY(a, i64, v->shape.len);
    slice_shape(g, v->shape, shape);
    json_numbers(out, shape, v->shape.len);
  } else {
    BUF_LIT(out, "null");
  }
  buf_printf(out, ",\n  \"num_slices\": %lld,\n  \"replicas\": %lld,\n  \"replica_groups\": ",
             (long long)g->num_slices, (long long)g->replicas);
  json_groups(a, out, v);
  BUF_LIT(out, ",\n  \"ranks\": ");
  json_ranks(a, out, v);
}

void describe_layout_json(arena *a, buf *out, const layout *l, const grid_view *v) {
  const mesh *m = layout_mesh(l);
  i64 *sizes = ARENA_ARRAY(a, i64, m->num_axes);
  for (u32 i = 0; i < m->num_axes; i++) sizes[i] = m->axes[i].size;
  BUF_LIT(out, "{\n  \"device_matrix\": ");
  json_numbers(out, sizes, m->num_axes);
  BUF_LIT(out, ",\n  \"alias_name\": [");
  for (u32 i = 0; i < m->num_axes; i++) {
    if (i) BUF_LIT(out, ", ");
    json_string(out, m->axes[i].name);
  }
  BUF_LIT(out, "],\n  \"rank_list\": ");
  if (m->device_ids.len)
    json_numbers(out, m->device_ids.data, m->device_ids.len);
  else
    BUF_LIT(out, "null");
  buf_printf(out, ",\n  \"interleaved_parallel\": %s,\n", l->interleaved ? "true" : "false");
  json_grid(a, out, v);
  BUF_LIT(out, "\n}\n");
}

/* ---- a placement ---- */

static void json_refs(buf *out, const mesh *m, axis_list l) {
  buf_char(out, '[');
  for (size_t i = 0; i < l.len; i++) {
    axis_ref r = l.data[i];
    if (i) BUF_LIT(out, ", ");
    if (axis_is_whole(m, r)) {
      json_string(out, m->axes[r.axis].name);
      continue;
    }
    BUF_LIT(out, "{\"axis\": ");
    json_string(out, m->axes[r.axis].name);
    buf_printf(out, ", \"pre\": %lld, \"size\": %lld}", (long long)r.pre, (long long)r.size);
  }
  buf_char(out, ']');
}

static void json_dims(buf *out, const sharding *s) {
  BUF_LIT(out, "  \"dims\": [");
  for (u32 d = 0; d < s->rank; d++) {
    const dim_sharding *x = &s->dims[d];
    buf_str(out, d ? STR(", {\"axes\": ") : STR("{\"axes\": "));
    json_refs(out, s->mesh, x->axes);
    buf_printf(out, ", \"open\": %s", x->closed ? "false" : "true");
    if (x->priority != PRIORITY_NONE)
      buf_printf(out, ", \"priority\": %lld", (long long)x->priority);
    buf_char(out, '}');
  }
  BUF_LIT(out, "],\n");
}

static void json_mesh(buf *out, const mesh *m) {
  BUF_LIT(out, "  \"mesh\": {");
  for (u32 k = 0; k < m->num_axes; k++) {
    if (k) BUF_LIT(out, ", ");
    json_string(out, m->axes[k].name);
    buf_printf(out, ": %lld", (long long)m->axes[k].size);
  }
  BUF_LIT(out, "},\n  \"device_ids\": ");
  if (m->device_ids.len)
    json_numbers(out, m->device_ids.data, m->device_ids.len);
  else
    BUF_LIT(out, "null");
  BUF_LIT(out, ",\n");
}

/* Slices and ranks are left out for meshes of more than MAX_LISTED devices. */
static void json_by_axes(arena *a, buf *out, const placement *p, const i64s *shape) {
  static const char *const kinds[] = {"sum", "max", "min", "mul", "and", "or"};
  const sharding *s = p->sharding;
  buf_printf(out, "{\n  \"kind\": \"%s\",\n", mesh_is_maximal(s->mesh) ? "maximal" : "axes");
  json_mesh(out, s->mesh);
  buf_printf(out, "  \"rank\": %u,\n", s->rank);
  json_dims(out, s);
  BUF_LIT(out, "  \"replicated\": ");
  json_refs(out, s->mesh, s->replicated);
  BUF_LIT(out, ",\n  \"unreduced\": ");
  json_refs(out, s->mesh, s->unreduced);
  if (s->unreduced.len)
    buf_printf(out, ",\n  \"unreduced_kind\": \"%s\"", kinds[s->unreduced_kind]);
  BUF_LIT(out, ",\n  \"manual\": ");
  json_refs(out, s->mesh, p->manual);
  if (s->mesh->size <= MAX_LISTED) {
    slice_grid g;
    slice_grid_make(a, s, &g);
    grid_view v = {.grid = &g};
    if (shape && shape->len == s->rank) v.has_shape = true, v.shape = *shape;
    BUF_LIT(out, ",\n");
    json_grid(a, out, &v);
  }
  BUF_LIT(out, "\n}");
}

void describe_placement_json(arena *a, buf *out, const placement *p, const i64s *shape) {
  static const char *const unnamed[] = {
      [PLACED_MANUAL] = "manual", [PLACED_UNREDUCED] = "unreduced", [PLACED_UNKNOWN] = "unknown"};
  if (p->kind == PLACED_BY_AXES) {
    json_by_axes(a, out, p, shape);
  } else if (p->kind == PLACED_TUPLE) {
    BUF_LIT(out, "{\n  \"kind\": \"tuple\",\n  \"elements\": [");
    for (size_t i = 0; i < p->num_elements; i++) {
      if (i) BUF_LIT(out, ", ");
      describe_placement_json(a, out, p->elements[i], shape);
    }
    BUF_LIT(out, "]\n}");
  } else {
    buf_printf(out, "{\n  \"kind\": \"%s\"\n}", unnamed[p->kind]);
  }
}

/* ---- a redistribution ---- */

static void json_slices(buf *out, const char *key, const redistribution *r, const layout *l) {
  buf_printf(out, "  \"%s\": [", key);
  for (i64 i = 0; i < r->num_ranks; i++)
    buf_printf(out, "%s%lld", i ? ", " : "",
               (long long)layout_slice_at(l, redistribute_position(r, l, i)));
  BUF_LIT(out, "],\n");
}

static void json_step(buf *out, const redistribute_step *s) {
  buf_printf(out, "\n    {\"op\": \"%s\", \"dim\": %u, \"to_dim\": %u, \"groups\": [",
             redistribute_names[s->op], s->dim, s->to_dim);
  for (i64 g = 0; g < s->groups.num_groups && buf_ok(out); g++) {
    if (g) BUF_LIT(out, ", ");
    json_numbers(out, s->groups.ids + g * s->groups.group_size, (size_t)s->groups.group_size);
  }
  BUF_LIT(out, "]}");
}

/* Elements that come from other devices; its own stay. */
i64 redistribute_received(const redistribute_pieces *p, i64 rank) {
  i64 n = 0;
  for (size_t i = 0; i < p->len; i++)
    if (p->data[i].source != rank) n += p->data[i].elements;
  return n;
}

void describe_move_json(arena *a, buf *out, const redistribution *r, i64s shape, i64 element_size) {
  BUF_LIT(out, "{\n");
  json_slices(out, "from_slices", r, r->from);
  json_slices(out, "to_slices", r, r->to);
  BUF_LIT(out, "  \"steps\": [");
  for (size_t i = 0; i < r->num_steps; i++) {
    if (i) buf_char(out, ',');
    json_step(out, &r->steps[i]);
  }
  BUF_LIT(out, "],\n  \"receives\": [");
  for (i64 i = 0; i < r->num_ranks && buf_ok(out); i++) {
    i64 rank = mesh_device_at(r->ranks, i);
    redistribute_pieces p = {0};
    redistribute_pieces_of(a, r, shape, i, &p);
    buf_printf(out, "%s\n    {\"rank\": %lld, \"bytes\": %lld, \"pieces\": [", i ? "," : "",
               (long long)rank, (long long)(redistribute_received(&p, rank) * element_size));
    for (size_t k = 0; k < p.len; k++) {
      buf_printf(out, "%s{\"from\": %lld, \"ranges\": ", k ? ", " : "",
                 (long long)p.data[k].source);
      json_ranges(out, p.data[k].ranges, shape.len);
      buf_char(out, '}');
    }
    BUF_LIT(out, "]}");
  }
  BUF_LIT(out, "]\n}\n");
}
