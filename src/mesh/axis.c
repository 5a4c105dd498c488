/* Axis references and lists of them: Shardy's AxisRefAttr and AxisListRef algebra.
 *
 * A reference is an interval [pre, pre * size) of its axis on a multiplicative scale: the next one
 * begins where it ends. Two parts of one axis fit into one program if all borders divide each other
 * in their order ("x":(1)2 and "x":(2)2 do, (1)2 and (1)3 do not). Everything below compares
 * borders; which answer is Shardy's where parts cannot coexist, mesh.h says. Source:
 * shardy/dialect/sdy/ir/dialect.cc and transforms/common.
 *
 * Lists are short (a mesh has a handful of axes), so everything is a double loop without a
 * table. */
#include "mesh/mesh.h"

int axis_cmp(axis_ref a, axis_ref b) {
  if (a.axis != b.axis) return a.axis < b.axis ? -1 : 1;
  if (a.pre != b.pre) return a.pre < b.pre ? -1 : 1;
  return (a.size > b.size) - (a.size < b.size);
}

/* Of intervals, not of factorisations: see mesh.h. */
bool axis_contains(axis_ref a, axis_ref b) {
  return a.axis == b.axis && a.pre <= b.pre && axis_next_pre(a) >= axis_next_pre(b);
}

bool axis_prefix_of(axis_ref a, axis_ref b) { return a.pre == b.pre && axis_contains(b, a); }

bool axis_suffix_of(axis_ref a, axis_ref b) {
  return axis_next_pre(a) == axis_next_pre(b) && axis_contains(b, a);
}

bool axis_overlaps(axis_ref a, axis_ref b) {
  if (a.axis != b.axis) return false;
  /* an axis of size 1 covers no range, yet overlaps itself */
  return axis_eq(a, b) || (a.pre < axis_next_pre(b) && b.pre < axis_next_pre(a));
}

/* With the borders sorted, each must divide the next. Overlapping: lo, hi, lo_next, hi_next. Apart:
 * what lies between them must be a whole number of positions. */
bool axis_can_coexist(axis_ref a, axis_ref b) {
  if (a.axis != b.axis) return true;
  i64 lo = min_i64(a.pre, b.pre), hi = max_i64(a.pre, b.pre);
  i64 lo_next = min_i64(axis_next_pre(a), axis_next_pre(b));
  i64 hi_next = max_i64(axis_next_pre(a), axis_next_pre(b));
  if (lo_next > hi) return lo_next % hi == 0 && hi % lo == 0 && hi_next % lo_next == 0;
  return hi % lo_next == 0;
}

/* The common part begins at the later border and ends at the earlier. */
bool axis_overlap(axis_ref a, axis_ref b, axis_ref *out) {
  if (!axis_overlaps(a, b) || !axis_can_coexist(a, b)) return false;
  i64 pre = max_i64(a.pre, b.pre);
  *out = (axis_ref){a.axis, pre, min_i64(axis_next_pre(a), axis_next_pre(b)) / pre};
  return true;
}

bool axis_prefix_without(axis_ref a, axis_ref b, axis_ref *out) {
  if (!axis_can_coexist(a, b)) return false;
  if (axis_overlaps(a, b)) {
    if (a.pre >= b.pre) return false;
    *out = (axis_ref){a.axis, a.pre, b.pre / a.pre};
  } else {
    *out = a;
  }
  return true;
}

bool axis_suffix_without(axis_ref a, axis_ref b, axis_ref *out) {
  if (!axis_can_coexist(a, b)) return false;
  if (axis_overlaps(a, b)) {
    i64 next = axis_next_pre(b);
    if (axis_next_pre(a) <= next) return false;
    *out = (axis_ref){a.axis, next, axis_next_pre(a) / next};
  } else {
    *out = a;
  }
  return true;
}

bool axis_common_prefix(axis_ref a, axis_ref b, axis_ref *out) {
  if (!axis_can_coexist(a, b)) return false;
  *out = axis_prefix_of(a, b) ? a : b;
  return axis_prefix_of(a, b) || axis_prefix_of(b, a);
}

bool axis_can_merge(axis_ref a, axis_ref b) {
  return a.axis == b.axis && !axis_eq(a, b) && axis_next_pre(a) == b.pre;
}

bool axes_eq(axis_list a, axis_list b) {
  if (a.len != b.len) return false;
  if (a.data == b.data) return true;
  for (size_t i = 0; i < a.len; i++)
    if (!axis_eq(a.data[i], b.data[i])) return false;
  return true;
}

i64 axes_size(axis_list l) {
  i64 n = 1;
  for (size_t i = 0; i < l.len; i++)
    if (!checked_mul(n, l.data[i].size, &n)) return INT64_MAX;
  return n;
}

bool axes_contain(axis_list l, axis_ref r) {
  for (size_t i = 0; i < l.len; i++)
    if (axis_eq(l.data[i], r)) return true;
  return false;
}

bool axes_overlap_ref(axis_list l, axis_ref r) {
  for (size_t i = 0; i < l.len; i++)
    if (axis_overlaps(l.data[i], r)) return true;
  return false;
}

bool axes_overlap(axis_list a, axis_list b) {
  for (size_t i = 0; i < a.len; i++)
    if (axes_overlap_ref(b, a.data[i])) return true;
  return false;
}

bool axes_clash(axis_list a, axis_list b) {
  for (size_t i = 0; i < a.len; i++)
    for (size_t k = 0; k < b.len; k++)
      if (axis_overlaps(a.data[i], b.data[k]) || !axis_can_coexist(a.data[i], b.data[k]))
        return true;
  return false;
}

/* Only the last element of a may be a part of its counterpart: after a part nothing else can
 * follow. */
axes_prefix axes_prefix_of(axis_list a, axis_list b) {
  if (a.len > b.len) return AXES_NOT_PREFIX;
  for (size_t i = 0; i < a.len; i++) {
    if (axis_eq(a.data[i], b.data[i])) continue;
    bool last = i + 1 == a.len;
    return last && axis_prefix_of(a.data[i], b.data[i]) ? AXES_STRICT_PREFIX : AXES_NOT_PREFIX;
  }
  return a.len == b.len ? AXES_SAME : AXES_STRICT_PREFIX;
}

bool axes_prefix_without(axis_ref r, axis_list l, axis_ref *out) {
  for (size_t i = 0; i < l.len; i++)
    if (!axis_prefix_without(r, l.data[i], &r)) return false;
  *out = r;
  return true;
}

axis_list axes_common_prefix(arena *a, axis_list x, axis_list y) {
  size_t n = min_size(x.len, y.len), i = 0;
  while (i < n && axis_eq(x.data[i], y.data[i])) i++;
  axis_ref part;
  if (i == n || !axis_common_prefix(x.data[i], y.data[i], &part)) return axes_slice(x, 0, i);
  axis_ref *out = ARENA_ARRAY(a, axis_ref, i + 1);
  if (i) memcpy(out, x.data, i * sizeof(*out));
  out[i] = part;
  return (axis_list){out, i + 1};
}

/* The list itself where nothing is cut, else a copy: lists are never changed in place. */
axis_list axes_truncate_overlaps(arena *a, axis_list l, axis_list other) {
  for (size_t i = 0; i < l.len; i++) {
    axis_ref part;
    if (!axes_prefix_without(l.data[i], other, &part)) return axes_slice(l, 0, i);
    if (axis_eq(part, l.data[i])) continue;
    axis_ref *out = arena_copy(a, l.data, (i + 1) * sizeof(*out));
    out[i] = part;
    return (axis_list){out, i + 1};
  }
  return l;
}

/* Insertion sort: lists are short, at most the axes of a mesh. */
static void sort_axes(axis_ref *v, size_t n) {
  for (size_t i = 1; i < n; i++) {
    axis_ref r = v[i];
    size_t k = i;
    for (; k > 0 && axis_cmp(r, v[k - 1]) < 0; k--) v[k] = v[k - 1];
    v[k] = r;
  }
}

axis_list axes_difference(arena *a, axis_list x, axis_list y) {
  if (x.len == 0 || y.len == 0) return x;
  axis_ref *cut = arena_copy(a, y.data, y.len * sizeof(*cut));
  sort_axes(cut, y.len);
  axis_vec out = {0};
  for (size_t i = 0; i < x.len; i++) {
    axis_ref r = x.data[i], part;
    bool left = true;
    /* references of one axis in y are sorted by position, so what is left moves on */
    for (size_t k = 0; k < y.len && left; k++) {
      if (!axis_overlaps(r, cut[k]) || !axis_can_coexist(r, cut[k])) continue;
      if (axis_prefix_without(r, cut[k], &part)) VEC_PUSH(a, out, part);
      left = axis_suffix_without(r, cut[k], &r);
    }
    if (left) VEC_PUSH(a, out, r);
  }
  return axis_vec_list(&out);
}

/* Keeps the one form that a list has: neighbours that make a larger part are one reference. */
void axes_add_or_merge(arena *a, axis_vec *v, axis_ref r) {
  if (v->len && axis_can_merge(v->data[v->len - 1], r))
    v->data[v->len - 1] = axis_merge(v->data[v->len - 1], r);
  else
    VEC_PUSH(a, *v, r);
}

axis_list axes_merge(arena *a, axis_list l) {
  axis_vec v = {0};
  for (size_t i = 0; i < l.len; i++) axes_add_or_merge(a, &v, l.data[i]);
  return axis_vec_list(&v);
}

axis_list axes_sort(arena *a, axis_list l) {
  axis_list sorted = axes_copy(a, l);
  sort_axes((axis_ref *)sorted.data, sorted.len);
  return sorted;
}

axis_list axes_sort_merge(arena *a, axis_list l) { return axes_merge(a, axes_sort(a, l)); }

axis_list axes_concat(arena *a, axis_list x, axis_list y) {
  if (y.len == 0) return x;
  if (x.len == 0) return y;
  axis_ref *out = ARENA_ARRAY(a, axis_ref, x.len + y.len);
  memcpy(out, x.data, x.len * sizeof(*out));
  memcpy(out + x.len, y.data, y.len * sizeof(*out));
  return (axis_list){out, x.len + y.len};
}

axis_list axes_copy(arena *a, axis_list l) {
  return (axis_list){l.len ? arena_copy(a, l.data, l.len * sizeof(*l.data)) : NULL, l.len};
}

axis_list axes_ordered(arena *a, const mesh *m, axis_list l) {
  axis_vec out = {0};
  for (u32 k = 0; k < m->num_axes; k++) {
    /* walk from border to border: the next one is the smallest above the last */
    i64 pre = 1, full = m->axes[k].size;
    if (full == 1) VEC_PUSH(a, out, axis_whole(m, k));
    while (pre < full) {
      i64 next = full;
      for (size_t i = 0; i < l.len; i++) {
        axis_ref r = l.data[i];
        if (r.axis != k) continue;
        if (r.pre > pre && r.pre < next) next = r.pre;
        if (axis_next_pre(r) > pre && axis_next_pre(r) < next) next = axis_next_pre(r);
      }
      VEC_PUSH(a, out, ((axis_ref){k, pre, next / pre}));
      pre = next;
    }
  }
  return axis_vec_list(&out);
}

/* No list of devices is looked at: a position's digits are divisions. */
i64 mesh_stride(const mesh *m, axis_ref r) {
  i64 stride = m->axes[r.axis].size / axis_next_pre(r);
  for (u32 k = r.axis + 1; k < m->num_axes; k++) stride *= m->axes[k].size;
  return stride;
}

i64 axes_index_at(const mesh *m, axis_list l, i64 position) {
  i64 index = 0;
  for (size_t i = 0; i < l.len; i++)
    index = index * l.data[i].size + position / mesh_stride(m, l.data[i]) % l.data[i].size;
  return index;
}

i64 axes_position_at(const mesh *m, axis_list l, i64 position, i64 index) {
  for (size_t i = l.len; i-- > 0; index /= l.data[i].size) {
    i64 stride = mesh_stride(m, l.data[i]), size = l.data[i].size;
    position += (index % size - position / stride % size) * stride;
  }
  return position;
}
