/* Numbers of slices and positions that hold them, by arithmetic on digits: a slice's columns
 * (slice_column) convert a position's digits to its number, and the other way round. */
#include "mesh/slices.h"

/* Positions between neighbours along a reference. */
static i64 stride_of(const mesh *m, axis_ref r) {
  i64 stride = m->axes[r.axis].size / axis_next_pre(r);
  for (u32 k = r.axis + 1; k < m->num_axes; k++) stride *= m->axes[k].size;
  return stride;
}

/* From the minor end, so that the weight of a column is the product of those behind it. */
void slice_grid_make(arena *a, const sharding *s, slice_grid *out) {
  size_t n = 0;
  for (u32 d = 0; d < s->rank; d++) n += s->dims[d].axes.len;
  slice_column *columns = ARENA_ARRAY(a, slice_column, n);
  size_t k = n;
  i64 weight = 1;
  for (u32 d = s->rank; d-- > 0;)
    for (size_t i = s->dims[d].axes.len; i-- > 0;) {
      axis_ref r = s->dims[d].axes.data[i];
      columns[--k] = (slice_column){r.axis, d, r.size, stride_of(s->mesh, r), weight};
      weight *= r.size;
    }
  i64 *strategy = ARENA_ARRAY(a, i64, s->rank);
  for (u32 d = 0; d < s->rank; d++) strategy[d] = sharding_dim_size(s, d);
  *out = (slice_grid){s, columns, n, strategy, weight, s->mesh->size / weight};
}

/* Each column's positions double what is there, from the minor end; gaps between columns, along
 * which the slice stays, are copies. */
void slice_fill(arena *a, const slice_grid *g, i64 *out) {
  size_t n = 0;
  const slice_column **order = ARENA_ARRAY(a, const slice_column *, g->num_columns);
  for (size_t i = 0; i < g->num_columns; i++) {
    const slice_column *c = &g->columns[i];
    if (c->size == 1) continue;
    size_t k = n++;
    for (; k > 0 && order[k - 1]->stride > c->stride; k--) order[k] = order[k - 1];
    order[k] = c;
  }
  out[0] = 0;
  for (size_t c = 0; c <= n; c++) {
    i64 block = c ? order[c - 1]->stride * order[c - 1]->size : 1; /* filled so far */
    i64 stride = c < n ? order[c]->stride : g->sharding->mesh->size;
    for (i64 i = block; i < stride; i++) out[i] = out[i - block];
    if (c == n) break;
    for (i64 k = 1; k < order[c]->size; k++)
      for (i64 i = 0; i < stride; i++) out[k * stride + i] = out[i] + k * order[c]->weight;
  }
}

void slice_shape(const slice_grid *g, i64s shape, i64 *out) {
  for (size_t d = 0; d < shape.len; d++)
    out[d] = shape.data[d] / g->strategy[d] + (shape.data[d] % g->strategy[d] != 0);
}

void slice_ranges(const slice_grid *g, i64s shape, i64 slice, index_range *out) {
  for (size_t d = shape.len; d-- > 0; slice /= g->strategy[d]) {
    i64 size = shape.data[d] / g->strategy[d] + (shape.data[d] % g->strategy[d] != 0);
    i64 k = slice % g->strategy[d], begin, end;
    /* past the end there is nothing, and what lies beyond may not fit a number */
    if (!checked_mul(k, size, &begin)) begin = shape.data[d];
    if (!checked_add(begin, size, &end)) end = shape.data[d];
    out[d] = (index_range){min_i64(begin, shape.data[d]), min_i64(end, shape.data[d])};
  }
}

i64s slice_positions(arena *a, const slice_grid *g, i64 slice) {
  const sharding *s = g->sharding;
  i64 base = 0, bytes;
  for (size_t i = 0; i < g->num_columns; i++) {
    const slice_column *c = &g->columns[i];
    base += slice / c->weight % c->size * c->stride;
  }
  if (!checked_mul(g->replicas, (i64)sizeof(i64), &bytes)) arena_oom(a);
  axis_vec all = {0};
  for (u32 k = 0; k < s->mesh->num_axes; k++) VEC_PUSH(a, all, axis_whole(s->mesh, k));
  axis_list rest = axes_difference(a, axis_vec_list(&all), sharding_used_axes(a, s));
  i64 *out = ARENA_ARRAY(a, i64, (size_t)g->replicas);
  i64 n = 1;
  out[0] = base;
  for (size_t i = rest.len; i-- > 0; n *= rest.data[i].size) {
    i64 stride = stride_of(s->mesh, rest.data[i]);
    for (i64 k = 1; k < rest.data[i].size; k++)
      for (i64 j = 0; j < n; j++) out[k * n + j] = out[j] + k * stride;
  }
  return (i64s){out, (size_t)g->replicas};
}

/* Each slice's positions come out in rising order, as positions are visited in theirs. */
void slice_groups(arena *a, const slice_grid *g, i64 *out) {
  const mesh *m = g->sharding->mesh;
  i64 *slices = ARENA_ARRAY(a, i64, (size_t)m->size);
  i64 *filled = arena_zalloc(a, (size_t)g->num_slices * sizeof(i64));
  slice_fill(a, g, slices);
  for (i64 p = 0; p < m->size; p++) out[slices[p] * g->replicas + filled[slices[p]]++] = p;
}
