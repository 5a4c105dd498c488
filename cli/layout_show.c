/* What `terrazzo layout` prints: tables and a picture for people, JSON for programs. */
#include "layout.h"

enum { MAX_ROWS = 64, MAX_CELLS = 256, MAX_COLUMNS_DRAWN = 16 };

/* ---- JSON ---- */

static void json_numbers(buf *out, const i64 *data, size_t n) {
  buf_char(out, '[');
  for (size_t i = 0; i < n; i++) buf_printf(out, "%s%lld", i ? ", " : "", (long long)data[i]);
  buf_char(out, ']');
}

static void json_string(buf *out, str s) {
  buf_char(out, '"');
  for (size_t i = 0; i < s.len; i++) {
    char c = s.data[i];
    if (c == '"' || c == '\\')
      buf_printf(out, "\\%c", c);
    else if ((unsigned char)c < 0x20)
      buf_printf(out, "\\u%04x", c);
    else
      buf_char(out, c);
  }
  buf_char(out, '"');
}

static void json_map(buf *out, const layout *l) {
  BUF_LIT(out, "  \"tensor_map\": [");
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
  BUF_LIT(out, "],\n");
}

static void json_layout(arena *a, buf *out, const layout *l) {
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
  json_map(out, l);
}

static void slice_shape(const layout_view *v, i64 *out) {
  for (size_t d = 0; d < v->shape.len; d++) out[d] = v->shape.data[d] / v->layout->strategy[d];
}

static void json_rank(buf *out, const layout_view *v, i64 position, index_range *ranges) {
  const layout *l = v->layout;
  i64 slice = layout_slice_at(l, position);
  buf_printf(out, "    {\"rank\": %lld, \"slice\": %lld",
             (long long)mesh_device_at(layout_mesh(l), position), (long long)slice);
  if (v->has_shape) {
    layout_slice_ranges(l, v->shape, slice, ranges);
    BUF_LIT(out, ", \"ranges\": [");
    for (size_t d = 0; d < v->shape.len; d++)
      buf_printf(out, "%s[%lld, %lld]", d ? ", " : "", (long long)ranges[d].begin,
                 (long long)ranges[d].end);
    buf_char(out, ']');
  }
  buf_char(out, '}');
}

/* Ranks of every slice at once: counted, then filled, linear in devices. */
static i64 *ranks_by_slice(arena *a, const layout *l) {
  const mesh *m = layout_mesh(l);
  i64 *ranks = ARENA_ARRAY(a, i64, (size_t)m->size);
  i64 *filled = arena_zalloc(a, (size_t)l->num_slices * sizeof(i64));
  for (i64 p = 0; p < m->size; p++) {
    i64 slice = layout_slice_at(l, p);
    ranks[slice * l->replicas + filled[slice]++] = mesh_device_at(m, p);
  }
  return ranks;
}

void layout_show_json(arena *a, buf *out, const layout_view *v, diag_sink *sink) {
  const layout *l = v->layout;
  json_layout(a, out, l);
  BUF_LIT(out, "  \"strategy\": ");
  json_numbers(out, l->strategy, layout_rank(l));
  BUF_LIT(out, ",\n  \"slice_shape\": ");
  if (v->has_shape) {
    i64 *shape = ARENA_ARRAY(a, i64, v->shape.len);
    slice_shape(v, shape);
    json_numbers(out, shape, v->shape.len);
  } else {
    BUF_LIT(out, "null");
  }
  buf_printf(out, ",\n  \"num_slices\": %lld,\n  \"replicas\": %lld,\n  \"replica_groups\": [",
             (long long)l->num_slices, (long long)l->replicas);
  i64s ranks = {0};
  if (v->slices.data) {
    if (layout_slice_ranks(a, l, v->slices.data[0], &ranks, sink))
      json_numbers(out, ranks.data, ranks.len);
  } else {
    i64 *all = ranks_by_slice(a, l);
    for (i64 s = 0; s < l->num_slices; s++) {
      if (s) BUF_LIT(out, ", ");
      json_numbers(out, all + s * l->replicas, (size_t)l->replicas);
    }
  }
  BUF_LIT(out, "],\n  \"ranks\": [\n");
  index_range *ranges = ARENA_ARRAY(a, index_range, v->shape.len);
  for (i64 i = 0, n = view_num_positions(v); i < n && buf_ok(out); i++) {
    json_rank(out, v, view_position(v, i), ranges);
    buf_printf(out, i + 1 < n ? ",\n" : "\n");
  }
  BUF_LIT(out, "  ]\n}\n");
}

/* ---- tables ---- */

static void print_by(buf *out, const i64 *data, size_t n) {
  for (size_t i = 0; i < n; i++) buf_printf(out, "%s%lld", i ? "x" : "", (long long)data[i]);
}

static int width_of(i64 number) {
  int w = 1;
  for (; number > 9; number /= 10) w++;
  return w;
}

static int axis_width(const mesh_axis *x) {
  int w = width_of(x->size - 1);
  return x->name.len > (size_t)w ? (int)min_size(x->name.len, 40) : w;
}

static int rank_width(const mesh *m) {
  i64 most = m->size - 1;
  for (size_t i = 0; i < m->device_ids.len; i++) most = max_i64(most, m->device_ids.data[i]);
  int w = width_of(most);
  return w > 4 ? w : 4;
}

static void show_numbering(buf *out, const layout_view *v, i64 rows, i64 *digits) {
  const mesh *m = layout_mesh(v->layout);
  int w = rank_width(m);
  BUF_LIT(out, "\nNumbering: the position of each rank as digits, an axis each\n");
  buf_printf(out, "  %*s ", w, "rank");
  for (u32 k = 0; k < m->num_axes; k++)
    buf_printf(out, "  %*.*s", axis_width(&m->axes[k]), STR_ARG(m->axes[k].name));
  for (i64 i = 0; i < rows; i++) {
    i64 position = view_position(v, i);
    mesh_coordinates(m, position, digits);
    buf_printf(out, "\n  %*lld ", w, (long long)mesh_device_at(m, position));
    for (u32 k = 0; k < m->num_axes; k++)
      buf_printf(out, "  %*lld", axis_width(&m->axes[k]), (long long)digits[k]);
  }
  buf_char(out, '\n');
}

static void show_reordering(buf *out, const layout_view *v, i64 rows, i64 *digits) {
  const layout *l = v->layout;
  const mesh *m = layout_mesh(l);
  int w = rank_width(m);
  BUF_LIT(out, "\nReordering: the digits of the axes that split the tensor, in its order\n");
  buf_printf(out, "  %*s ", w, "rank");
  for (size_t k = 0; k < l->num_columns; k++) {
    const mesh_axis *x = &m->axes[l->columns[k].axis];
    buf_printf(out, "  %*.*s", axis_width(x), STR_ARG(x->name));
  }
  for (i64 i = 0; i < rows; i++) {
    i64 position = view_position(v, i);
    mesh_coordinates(m, position, digits);
    buf_printf(out, "\n  %*lld ", w, (long long)mesh_device_at(m, position));
    for (size_t k = 0; k < l->num_columns; k++)
      buf_printf(out, "  %*lld", axis_width(&m->axes[l->columns[k].axis]),
                 (long long)digits[l->columns[k].axis]);
  }
  buf_char(out, '\n');
}

static void show_weighing(buf *out, const layout_view *v, i64 rows, i64 *digits,
                          index_range *ranges) {
  const layout *l = v->layout;
  const mesh *m = layout_mesh(l);
  int w = rank_width(m);
  BUF_LIT(out, "\nWeighing: each digit times the slices that one step along its axis is worth\n");
  for (i64 i = 0; i < rows; i++) {
    i64 position = view_position(v, i), slice = layout_slice_at(l, position);
    mesh_coordinates(m, position, digits);
    buf_printf(out, "  %*lld   ", w, (long long)mesh_device_at(m, position));
    for (size_t k = 0; k < l->num_columns; k++)
      buf_printf(out, "%s%lld*%lld", k ? " + " : "", (long long)digits[l->columns[k].axis],
                 (long long)l->columns[k].weight);
    buf_printf(out, "%sslice %lld", l->num_columns ? " = " : "", (long long)slice);
    if (v->has_shape) {
      BUF_LIT(out, "   [");
      layout_slice_ranges(l, v->shape, slice, ranges);
      for (size_t d = 0; d < v->shape.len; d++)
        buf_printf(out, "%s%lld:%lld", d ? ", " : "", (long long)ranges[d].begin,
                   (long long)ranges[d].end);
      buf_char(out, ']');
    }
    if (l->interleaved)
      buf_printf(out, "   device %lld",
                 (long long)mesh_device_at(m, position) / (long long)l->interleaved);
    buf_char(out, '\n');
  }
}

/* ---- picture ---- */

/* The last two dimensions that are split, as rows and columns; the ones before stack sheets. */
static void picture_dims(const layout *l, u32 *row, u32 *column) {
  u32 found[2] = {UINT32_MAX, UINT32_MAX}, n = 0;
  for (u32 d = layout_rank(l); d-- > 0 && n < 2;)
    if (l->strategy[d] > 1) found[n++] = d;
  *column = found[0];
  *row = found[1];
}

static void draw_line(buf *out, const char *left, const char *cross, const char *right, i64 columns,
                      int width) {
  buf_printf(out, "  %s", left);
  for (i64 c = 0; c < columns; c++) {
    for (int i = 0; i < width + 2; i++) BUF_LIT(out, "─");
    buf_printf(out, "%s", c + 1 < columns ? cross : right);
  }
  buf_char(out, '\n');
}

static str cell_text(arena *a, const layout *l, const i64 *ranks, i64 slice) {
  str s = arena_printf(a, "slice %lld: rank", (long long)slice);
  i64 shown = l->replicas < 8 ? l->replicas : 8;
  for (i64 i = 0; i < shown; i++)
    s = arena_printf(a, STR_FMT "%s%lld", STR_ARG(s), i ? "," : " ",
                     (long long)ranks[slice * l->replicas + i]);
  return shown < l->replicas ? arena_printf(a, STR_FMT ",...", STR_ARG(s)) : s;
}

static void draw_sheet(arena *a, buf *out, const layout *l, const i64 *ranks, i64 first, i64 rows,
                       i64 columns) {
  int width = 0;
  str *cells = ARENA_ARRAY(a, str, (size_t)(rows * columns));
  for (i64 i = 0; i < rows * columns; i++) {
    cells[i] = cell_text(a, l, ranks, first + i);
    if ((int)cells[i].len > width) width = (int)cells[i].len;
  }
  draw_line(out, "┌", "┬", "┐", columns, width);
  for (i64 r = 0; r < rows; r++) {
    if (r) draw_line(out, "├", "┼", "┤", columns, width);
    BUF_LIT(out, "  │");
    for (i64 c = 0; c < columns; c++)
      buf_printf(out, " %-*.*s │", width, STR_ARG(cells[r * columns + c]));
    buf_char(out, '\n');
  }
  draw_line(out, "└", "┴", "┘", columns, width);
}

/* Slices are numbered row-major, so a sheet is a run of them. */
static void show_picture(arena *a, buf *out, const layout *l) {
  u32 row, column;
  picture_dims(l, &row, &column);
  i64 rows = row == UINT32_MAX ? 1 : l->strategy[row];
  i64 columns = column == UINT32_MAX ? 1 : l->strategy[column];
  if (l->num_slices > MAX_CELLS || columns > MAX_COLUMNS_DRAWN) return;
  const i64 *ranks = ranks_by_slice(a, l);
  BUF_LIT(out, "\nWhich rank holds which piece");
  if (column != UINT32_MAX) {
    BUF_LIT(out, " (");
    if (row != UINT32_MAX) buf_printf(out, "dimension %u down, ", row);
    buf_printf(out, "dimension %u across)", column);
  }
  buf_char(out, '\n');
  i64 sheet = rows * columns;
  for (i64 first = 0; first < l->num_slices; first += sheet) {
    if (l->num_slices > sheet) {
      BUF_LIT(out, " ");
      for (u32 d = 0, at = 0; d < layout_rank(l); d++) {
        if (l->strategy[d] == 1 || d == row || d == column) continue;
        i64 weight = 1;
        for (u32 k = d + 1; k < layout_rank(l); k++) weight *= l->strategy[k];
        buf_printf(out, "%s dimension %u: piece %lld", at++ ? "," : "", d,
                   (long long)(first / weight % l->strategy[d]));
      }
      buf_char(out, '\n');
    }
    draw_sheet(a, out, l, ranks, first, rows, columns);
  }
}

void layout_show(arena *a, buf *out, const layout_view *v, diag_sink *sink) {
  const layout *l = v->layout;
  const mesh *m = layout_mesh(l);
  if (m->size <= MAX_ROWS) {
    layout_print_dict(out, l);
    buf_char(out, '\n');
  } else {
    BUF_LIT(out, "tensor_map ");
    layout_print_tensor_map(out, l);
    buf_char(out, '\n');
  }
  BUF_LIT(out, "strategy ");
  print_by(out, l->strategy, layout_rank(l));
  if (v->has_shape) {
    i64 *shape = ARENA_ARRAY(a, i64, v->shape.len);
    slice_shape(v, shape);
    BUF_LIT(out, ", slice shape ");
    print_by(out, shape, v->shape.len);
  }
  buf_printf(out, ", %lld slices on %lld ranks, each %lld times\n", (long long)l->num_slices,
             (long long)m->size, (long long)l->replicas);
  i64 n = view_num_positions(v), rows = n < MAX_ROWS ? n : MAX_ROWS;
  i64 *digits = ARENA_ARRAY(a, i64, m->num_axes);
  show_numbering(out, v, rows, digits);
  show_reordering(out, v, rows, digits);
  show_weighing(out, v, rows, digits, ARENA_ARRAY(a, index_range, layout_rank(l)));
  if (rows < n)
    buf_printf(out, "  ... and %lld more (--rank, --slice or --json)\n", (long long)(n - rows));
  if (!v->positions.data) show_picture(a, out, l);
  (void)sink;
}
