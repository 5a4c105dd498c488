/* What `terrazzo layout` prints for people: the steps of the derivation as tables. */
#include "layout.h"

enum { MAX_ROWS = 64 };

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

static void show_numbering(buf *out, const grid_view *v, i64 rows, i64 *digits) {
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

static void show_reordering(buf *out, const grid_view *v, i64 rows, i64 *digits) {
  const layout *l = v->layout;
  const mesh *m = layout_mesh(l);
  int w = rank_width(m);
  BUF_LIT(out, "\nReordering: the digits of the axes that split the tensor, in its order\n");
  buf_printf(out, "  %*s ", w, "rank");
  for (size_t k = 0; k < l->grid.num_columns; k++) {
    const mesh_axis *x = &m->axes[l->grid.columns[k].axis];
    buf_printf(out, "  %*.*s", axis_width(x), STR_ARG(x->name));
  }
  for (i64 i = 0; i < rows; i++) {
    i64 position = view_position(v, i);
    mesh_coordinates(m, position, digits);
    buf_printf(out, "\n  %*lld ", w, (long long)mesh_device_at(m, position));
    for (size_t k = 0; k < l->grid.num_columns; k++)
      buf_printf(out, "  %*lld", axis_width(&m->axes[l->grid.columns[k].axis]),
                 (long long)digits[l->grid.columns[k].axis]);
  }
  buf_char(out, '\n');
}

/* Elements of a slice, numbered row-major over the tensor, where they are few. */
static void show_held(buf *out, i64s shape, const index_range *ranges) {
  enum { SHOWN = 8 };
  i64 elements = 1, most = 1;
  for (size_t d = 0; d < shape.len; d++)
    if (!checked_mul(elements, ranges[d].end - ranges[d].begin, &elements) || elements > SHOWN ||
        !checked_mul(most, shape.data[d], &most))
      return;
  if (elements == 0) return;
  BUF_LIT(out, "   holds");
  for (i64 i = 0; i < elements; i++) {
    i64 rest = i, number = 0, weight = 1;
    for (size_t d = shape.len; d-- > 0; weight *= shape.data[d]) {
      i64 size = ranges[d].end - ranges[d].begin;
      number += (ranges[d].begin + rest % size) * weight;
      rest /= size;
    }
    buf_printf(out, " %lld", (long long)number);
  }
}

static void show_weighing(buf *out, const grid_view *v, i64 rows, i64 *digits,
                          index_range *ranges) {
  const layout *l = v->layout;
  const mesh *m = layout_mesh(l);
  int w = rank_width(m);
  BUF_LIT(out, "\nWeighing: each digit times the slices that one step along its axis is worth\n");
  for (i64 i = 0; i < rows; i++) {
    i64 position = view_position(v, i), slice = layout_slice_at(l, position);
    mesh_coordinates(m, position, digits);
    buf_printf(out, "  %*lld   ", w, (long long)mesh_device_at(m, position));
    for (size_t k = 0; k < l->grid.num_columns; k++)
      buf_printf(out, "%s%lld*%lld", k ? " + " : "", (long long)digits[l->grid.columns[k].axis],
                 (long long)l->grid.columns[k].weight);
    buf_printf(out, "%sslice %lld", l->grid.num_columns ? " = " : "", (long long)slice);
    if (v->has_shape) {
      BUF_LIT(out, "   [");
      slice_ranges(&l->grid, v->shape, slice, ranges);
      for (size_t d = 0; d < v->shape.len; d++)
        buf_printf(out, "%s%lld:%lld", d ? ", " : "", (long long)ranges[d].begin,
                   (long long)ranges[d].end);
      buf_char(out, ']');
      show_held(out, v->shape, ranges);
    }
    if (l->interleaved)
      buf_printf(out, "   device %lld",
                 (long long)mesh_device_at(m, position) / (long long)l->interleaved);
    buf_char(out, '\n');
  }
}

void layout_show(arena *a, buf *out, const grid_view *v, bool color) {
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
  print_by(out, l->grid.strategy, layout_rank(l));
  if (v->has_shape) {
    i64 *shape = ARENA_ARRAY(a, i64, v->shape.len);
    slice_shape(&l->grid, v->shape, shape);
    BUF_LIT(out, ", slice shape ");
    print_by(out, shape, v->shape.len);
  }
  buf_printf(out, ", %lld slices on %lld ranks, each %lld times\n", (long long)l->grid.num_slices,
             (long long)m->size, (long long)l->grid.replicas);
  i64 n = view_num_positions(v), rows = n < MAX_ROWS ? n : MAX_ROWS;
  i64 *digits = ARENA_ARRAY(a, i64, m->num_axes);
  show_numbering(out, v, rows, digits);
  show_reordering(out, v, rows, digits);
  show_weighing(out, v, rows, digits, ARENA_ARRAY(a, index_range, layout_rank(l)));
  if (rows < n)
    buf_printf(out, "  ... and %lld more (--rank, --slice or --json)\n", (long long)(n - rows));
  if (v->positions.data) return;
  size_t start = out->len;
  buf_char(out, '\n');
  if (!picture_text(a, out, &l->grid, "rank", color)) out->len = start;
}
