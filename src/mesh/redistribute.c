/* The plan by axes, the comparison of plans, and what each rank needs.
 *
 * Both layouts are over the same ranks in row-major order, so an axis of either is a pair of
 * borders: positions between neighbours, below and above it. Borders of one that divide, or are
 * divided by, all borders of the other can be cut into it (refine); axes between common borders
 * exist in both and can be moved from dimension to dimension without sending anything that need not
 * be sent.  */
#include "mesh/redistribute_steps.h"

#include <stdlib.h>

#define NOWHERE ((diag_pos){0})

/* ---- matrices that both layouts can be seen over ---- */

typedef VEC(i64) i64_vec;

static int compare_down(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x < y) - (x > y);
}

/* Positions between neighbours along each axis, and the sizes of the whole. */
static i64_vec borders_of(arena *a, const layout *l, i64 ranks) {
  i64_vec out = {0};
  const mesh *m = layout_mesh(l);
  i64 stride = 1;
  VEC_PUSH(a, out, ranks);
  for (u32 k = m->num_axes; k-- > 0; stride *= m->axes[k].size) VEC_PUSH(a, out, stride);
  VEC_PUSH(a, out, stride);
  return out;
}

/* One divides the other, for every border there is. */
static bool fits(i64 border, const i64_vec *borders) {
  for (size_t i = 0; i < borders->len; i++) {
    i64 x = max_i64(border, borders->data[i]), y = min_i64(border, borders->data[i]);
    if (x % y) return false;
  }
  return true;
}

/* The axes between a layout's borders and those of the other one that fit them all. *all: every
 * border of the other one does. */
static const mesh *refine(arena *a, const layout *own, const layout *other, const mesh *ranks,
                          bool *all) {
  i64_vec cuts = borders_of(a, own, ranks->size), more = borders_of(a, other, ranks->size);
  i64_vec base = cuts;
  *all = true;
  for (size_t i = 0; i < more.len; i++)
    if (fits(more.data[i], &base))
      VEC_PUSH(a, cuts, more.data[i]);
    else
      *all = false;
  qsort(cuts.data, cuts.len, sizeof(i64), compare_down);
  mesh_axis *axes = ARENA_ARRAY(a, mesh_axis, cuts.len);
  size_t num = 0;
  for (size_t i = 1; i < cuts.len; i++) {
    if (cuts.data[i] == cuts.data[i - 1]) continue;
    axes[num] = (mesh_axis){arena_printf(a, "%zu", num), cuts.data[i - 1] / cuts.data[i]};
    num++;
  }
  return mesh_make(a, STR(""), axes, num, ranks->device_ids);
}

/* Axes of the refined mesh that split each dimension. */
static axis_vec *refined_dims(arena *a, const mesh *m, const layout *l) {
  axis_vec *dims = arena_zalloc(a, layout_rank(l) * sizeof *dims);
  for (size_t i = 0; i < l->grid.num_columns; i++) {
    const slice_column *c = &l->grid.columns[i];
    i64 above = m->size;
    for (u32 k = 0; k < m->num_axes; k++) {
      i64 below = above / m->axes[k].size;
      if (above <= c->stride * c->size && below >= c->stride)
        VEC_PUSH(a, dims[c->dim], axis_whole(m, k));
      above = below;
    }
  }
  return dims;
}

/* The same axis of another refined mesh; false: it has none. */
static bool same_axis(const mesh *m, axis_ref r, const mesh *other, axis_ref *out) {
  i64 above = m->size, there = other->size;
  for (u32 k = 0; k < r.axis; k++) above /= m->axes[k].size;
  for (u32 k = 0; k < other->num_axes; there /= other->axes[k++].size)
    if (there == above && other->axes[k].size == r.size) return *out = axis_whole(other, k), true;
  return false;
}

/* ---- steps ---- */

/* have is changed step by step until it equals want; both are lists of whole axes of `mesh`. */
typedef struct planner {
  arena *a;
  const mesh *mesh;
  u32 rank;
  axis_vec *have, *want; /* a dimension each */
  step_vec *steps;
} planner;

/* Groups are of ranks, not of positions: mesh_replica_groups maps them. */
static void add_step(planner *p, redistribute_op op, u32 dim, u32 to_dim, axis_list axes) {
  redistribute_step s = {.op = op, .dim = dim, .to_dim = to_dim};
  if (!mesh_replica_groups(p->a, p->mesh, axes, &s.groups)) arena_oom(p->a);
  VEC_PUSH(p->a, *p->steps, s);
}

static size_t common_prefix(const planner *p, u32 d) {
  size_t n = 0, most = min_size(p->have[d].len, p->want[d].len);
  while (n < most && axis_eq(p->have[d].data[n], p->want[d].data[n])) n++;
  return n;
}

/* All that it has is right, and there is more to come. */
static bool can_grow(const planner *p, u32 d) {
  return p->have[d].len < p->want[d].len && common_prefix(p, d) == p->have[d].len;
}

static bool axis_free(const planner *p, axis_ref x) {
  for (u32 d = 0; d < p->rank; d++)
    if (axes_contain(axis_vec_list(&p->have[d]), x)) return false;
  return true;
}

static bool try_slice(planner *p) {
  for (u32 d = 0; d < p->rank; d++) {
    size_t first = p->have[d].len;
    while (can_grow(p, d)) {
      axis_ref next = p->want[d].data[p->have[d].len];
      if (!axis_free(p, next)) break;
      VEC_PUSH(p->a, p->have[d], next);
    }
    size_t n = p->have[d].len - first;
    if (n == 0) continue;
    add_step(p, REDISTRIBUTE_SLICE, d, d, axes_slice(axis_vec_list(&p->want[d]), first, n));
    return true;
  }
  return false;
}

static bool try_all_to_all(planner *p) {
  for (u32 d = 0; d < p->rank; d++) {
    if (p->have[d].len <= common_prefix(p, d)) continue;
    axis_ref last = p->have[d].data[p->have[d].len - 1];
    for (u32 e = 0; e < p->rank; e++) {
      if (e == d || !can_grow(p, e) || !axis_eq(p->want[e].data[p->have[e].len], last)) continue;
      add_step(p, REDISTRIBUTE_ALL_TO_ALL, d, e, (axis_list){&last, 1});
      p->have[d].len--;
      VEC_PUSH(p->a, p->have[e], last);
      return true;
    }
  }
  return false;
}

/* An axis at a time as long as something else could use it; all at once otherwise. */
static bool try_gather(planner *p) {
  for (u32 d = 0; d < p->rank; d++) {
    size_t right = common_prefix(p, d), n = p->have[d].len;
    if (n <= right) continue;
    size_t first = n - 1;
    bool wanted = false;
    for (u32 e = 0; e < p->rank && !wanted; e++)
      for (size_t i = right; i < n && !wanted; i++)
        wanted = axes_contain(axis_vec_list(&p->want[e]), p->have[d].data[i]);
    if (!wanted) first = right;
    add_step(p, REDISTRIBUTE_ALL_GATHER, d, d,
             axes_slice(axis_vec_list(&p->have[d]), first, n - first));
    p->have[d].len = first;
    return true;
  }
  return false;
}

/* Slices first, as they make everything after them smaller; a gather only when nothing else goes.
 * Each step removes an axis that is in the way or adds one that stays, so it ends. */
static void plan_steps(planner *p) {
  while (try_slice(p) || try_all_to_all(p) || try_gather(p)) continue;
}

/* ---- the plan ---- */

static i64 *sorted_ids(arena *a, const mesh *m) {
  i64 *out = ARENA_ARRAY(a, i64, (size_t)m->size);
  for (i64 i = 0; i < m->size; i++) out[i] = mesh_device_at(m, i);
  qsort(out, (size_t)m->size, sizeof *out, compare_down);
  return out;
}

/* A list of ranks says which devices; without one on either side, sizes suffice. */
static bool check_ranks(arena *a, const mesh *x, const mesh *y, diag_sink *sink) {
  i64 large = max_i64(x->size, y->size), small = min_i64(x->size, y->size);
  bool lists = x->device_ids.len || y->device_ids.len;
  if (large % small || (large != small && lists))
    return diag_error(sink, NOWHERE,
                      "device_matrix: expected as many devices, %lld, as before, "
                      "or a multiple, found %lld",
                      (long long)x->size, (long long)y->size);
  if (lists && memcmp(sorted_ids(a, x), sorted_ids(a, y), (size_t)large * sizeof(i64)) != 0)
    return diag_error(sink, NOWHERE, "rank_list: expected the same ranks as before, found others");
  return true;
}

static void add_permutation(arena *a, const mesh *from, const mesh *to, step_vec *steps) {
  i64 *pairs = ARENA_ARRAY(a, i64, (size_t)from->size * 2);
  for (i64 i = 0; i < from->size; i++) {
    pairs[2 * i] = mesh_device_at(from, i);
    pairs[2 * i + 1] = mesh_device_at(to, i);
  }
  redistribute_step s = {.op = REDISTRIBUTE_PERMUTE, .groups = {from->size, 2, pairs}};
  VEC_PUSH(a, *steps, s);
}

/* ---- what a plan costs ---- */

/* Elements that the busiest rank receives, as a part of the tensor. */
static double cost_of(const layout *from, const step_vec *steps) {
  double held = 1.0 / (double)from->grid.num_slices, received = 0;
  for (size_t i = 0; i < steps->len; i++) {
    const redistribute_step *s = &steps->data[i];
    double n = (double)s->groups.group_size;
    if (s->op == REDISTRIBUTE_SLICE) held /= n;
    if (s->op == REDISTRIBUTE_ALL_GATHER) received += held * (n - 1), held *= n;
    if (s->op == REDISTRIBUTE_ALL_TO_ALL) received += held * (n - 1) / n;
    if (s->op == REDISTRIBUTE_PERMUTE) received += held;
  }
  return received;
}

/* Of equal cost, the one of fewer steps; where that is equal too, b stays. */
static bool is_cheaper(const layout *from, const step_vec *a, const step_vec *b) {
  const double rounding = 1e-9;
  double x = cost_of(from, a), y = cost_of(from, b);
  return x < y - rounding || (x < y + rounding && a->len < b->len);
}

/* ---- by axes ---- */

/* Through what both matrices can say: what of the target's splits the source's matrix has too is
 * reached first, gathering the rest; then the target's own axes slice. */
static step_vec plan_by_axes(arena *a, const layout *from, const layout *to, const mesh *ranks) {
  step_vec steps = {0};
  u32 rank = layout_rank(from);
  bool same, also, empty = true;
  const mesh *x = layout_mesh(from), *y = layout_mesh(to);
  const mesh *before = refine(a, from, to, x->size >= y->size ? x : ranks, &same);
  const mesh *after = refine(a, to, from, x->size >= y->size ? x : ranks, &also);
  axis_vec *want = refined_dims(a, after, to), *middle = arena_zalloc(a, rank * sizeof *middle);
  axis_vec *have = arena_zalloc(a, rank * sizeof *have);
  for (u32 d = 0; d < rank; d++)
    for (size_t i = 0; i < want[d].len; i++) {
      axis_ref there;
      if (!same_axis(after, want[d].data[i], before, &there)) break;
      VEC_PUSH(a, middle[d], there);
      VEC_PUSH(a, have[d], want[d].data[i]);
      empty = false;
    }
  planner p = {a, before, rank, refined_dims(a, before, from), middle, &steps};
  plan_steps(&p);
  bool moved = !i64s_eq(x->device_ids, y->device_ids);
  /* a rank that holds everything may slice in the target's order at once */
  if (empty && moved) after = refine(a, to, from, y->size >= x->size ? y : ranks, &also);
  planner q = {a, after, rank, have, want, &steps};
  plan_steps(&q);
  if (moved && !empty) add_permutation(a, x, y, &steps);
  return steps;
}

/* ---- the plan ---- */

const redistribution *redistribute_plan(arena *a, const layout *from, const layout *to,
                                        diag_sink *sink) {
  const mesh *x = layout_mesh(from), *y = layout_mesh(to);
  if (layout_rank(from) != layout_rank(to)) {
    diag_error(sink, NOWHERE, "entries: expected %u dimensions as before, found %u",
               layout_rank(from), layout_rank(to));
    return NULL;
  }
  if (!check_ranks(a, x, y, sink)) return NULL;
  const mesh *ranks = x->size >= y->size ? x : y;
  step_vec steps = plan_by_axes(a, from, to, ranks), pieces = {0}, primes = {0};
  if (plan_by_pieces(a, from, to, ranks, &pieces) && is_cheaper(from, &pieces, &steps))
    steps = pieces;
  if (plan_by_primes(a, from, to, ranks, &primes) && is_cheaper(from, &primes, &steps))
    steps = primes;
  redistribution *r = ARENA_NEW(a, redistribution);
  *r = (redistribution){from, to, ranks->size, ranks, steps.data, steps.len};
  return r;
}

enum { MAX_ELEMENT_SIZE = 4096 };

bool redistribute_check_shape(const layout *from, const layout *to, i64s shape, i64 element_size,
                              diag_sink *sink) {
  i64 bytes = element_size;
  if (element_size < 1 || element_size > MAX_ELEMENT_SIZE)
    return diag_error(sink, NOWHERE, "element_size: expected 1 to %d, found %lld", MAX_ELEMENT_SIZE,
                      (long long)element_size);
  for (size_t d = 0; d < shape.len; d++)
    if (shape.data[d] > 0 && !checked_mul(bytes, shape.data[d], &bytes))
      return diag_error(sink, NOWHERE,
                        "tensor[%zu]: expected fewer than 2^63 bytes in all, found more", d);
  return layout_check_shape(from, shape, sink) && layout_check_shape(to, shape, sink);
}

/* ---- what a rank needs ---- */

/* Position of the same rank in the other layout; a smaller one repeats. */
static i64 position_in(const mesh *m, i64 rank) {
  return m->device_ids.len ? mesh_position_of(m, rank) : rank % m->size;
}

i64 redistribute_position(const redistribution *r, const layout *l, i64 position) {
  return position_in(layout_mesh(l), mesh_device_at(r->ranks, position));
}

static void add_piece(arena *a, const redistribution *r, i64s shape, i64 rank, i64 slice,
                      const index_range *target, redistribute_pieces *out) {
  const layout *l = r->from;
  index_range *ranges = ARENA_ARRAY(a, index_range, shape.len);
  slice_ranges(&l->grid, shape, slice, ranges);
  i64 elements = 1;
  for (size_t d = 0; d < shape.len; d++) {
    ranges[d].begin = max_i64(ranges[d].begin, target[d].begin);
    ranges[d].end = min_i64(ranges[d].end, target[d].end);
    elements *= ranges[d].end - ranges[d].begin;
  }
  i64 position = position_in(layout_mesh(l), rank), source = rank;
  if (layout_slice_at(l, position) != slice) {
    /* of the copies, not always the first */
    diag_sink nobody = {0};
    i64s holders;
    if (!layout_slice_ranks(a, l, slice, &holders, &nobody)) return;
    source = holders.data[position % l->grid.replicas];
  }
  VEC_PUSH(a, *out, (redistribute_piece){source, ranges, elements});
}

void redistribute_pieces_of(arena *a, const redistribution *r, i64s shape, i64 position,
                            redistribute_pieces *out) {
  i64 rank = mesh_device_at(r->ranks, position);
  index_range *target = ARENA_ARRAY(a, index_range, shape.len);
  i64 slice = layout_slice_at(r->to, position_in(layout_mesh(r->to), rank));
  slice_ranges(&r->to->grid, shape, slice, target);
  i64 *first = ARENA_ARRAY(a, i64, shape.len), *count = ARENA_ARRAY(a, i64, shape.len);
  i64 total = 1;
  for (size_t d = 0; d < shape.len; d++) {
    if (target[d].begin == target[d].end) return; /* nothing to hold */
    i64 size = shape.data[d] / r->from->grid.strategy[d];
    first[d] = target[d].begin / size;
    count[d] = (target[d].end - 1) / size - first[d] + 1;
    total *= count[d];
  }
  for (i64 i = 0; i < total; i++) {
    i64 rest = i, source = 0, weight = 1;
    for (size_t d = shape.len; d-- > 0; weight *= r->from->grid.strategy[d]) {
      source += (first[d] + rest % count[d]) * weight;
      rest /= count[d];
    }
    add_piece(a, r, shape, rank, source, target, out);
  }
}
