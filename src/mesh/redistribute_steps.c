/* Two plans that see only numbers of pieces: by pieces and by primes; redistribute_steps.h says
 * what each is for. Both end with the same two moves: ranks exchange whole pieces (permute_pieces),
 * then gather along axes that only the target's cut has.  */
#include "mesh/redistribute_steps.h"

#include <stdlib.h>

static int compare_down(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x < y) - (x > y);
}

/* ---- by pieces ---- */

/* A layout cut into finer pieces by axes that it doesn't use. */
typedef struct cut {
  const mesh *mesh;
  axis_list *extra; /* a dimension each */
  slice_grid grid;  /* of the finer pieces */
} cut;

/* The first part of size p of an axis that nothing uses yet. */
static bool take_part(arena *a, axis_vec *unused, i64 p, axis_vec *out) {
  for (size_t i = 0; i < unused->len; i++) {
    axis_ref *r = &unused->data[i];
    if (r->size % p) continue;
    axes_add_or_merge(a, out, (axis_ref){r->axis, r->pre, p});
    *r = (axis_ref){r->axis, r->pre * p, r->size / p};
    return true;
  }
  return false;
}

/* false: the unused axes don't have these factors. */
static bool cut_finer(arena *a, const layout *l, const mesh *ranks, const i64 *pieces, cut *out) {
  const sharding *s = l->sharding;
  u32 rank = s->rank;
  sharding *fine = arena_copy(a, s, sizeof *fine);
  if (s->mesh->size != ranks->size) {
    /* a smaller layout repeats: an axis more, the major one */
    mesh_axis *axes = ARENA_ARRAY(a, mesh_axis, s->mesh->num_axes + 1);
    axes[0] = (mesh_axis){STR("repeat"), ranks->size / s->mesh->size};
    memcpy(axes + 1, s->mesh->axes, s->mesh->num_axes * sizeof *axes);
    fine->mesh = mesh_make(a, STR(""), axes, s->mesh->num_axes + 1, ranks->device_ids);
  }
  u32 shift = fine->mesh->num_axes - s->mesh->num_axes;
  axis_list *dims = ARENA_ARRAY(a, axis_list, rank);
  for (u32 d = 0; d < rank; d++) {
    axis_ref *moved = arena_copy(a, s->dims[d].axes.data, s->dims[d].axes.len * sizeof *moved);
    for (size_t i = 0; i < s->dims[d].axes.len; i++) moved[i].axis += shift;
    dims[d] = (axis_list){moved, s->dims[d].axes.len};
  }
  *fine = *sharding_make_closed(a, fine->mesh, dims, rank);
  axis_list rest = axes_copy(a, sharding_unused_axes(a, fine));
  axis_vec unused = {(axis_ref *)(uintptr_t)rest.data, rest.len, rest.len};
  out->extra = ARENA_ARRAY(a, axis_list, rank);
  for (u32 d = 0; d < rank; d++) {
    axis_vec extra = {0};
    i64 factor = pieces[d] / l->grid.strategy[d];
    for (i64 p = 2; factor > 1; p++)
      for (; factor % p == 0; factor /= p)
        if (!take_part(a, &unused, p, &extra)) return false;
    out->extra[d] = axis_vec_list(&extra);
    dims[d] = axes_concat(a, dims[d], out->extra[d]);
  }
  out->mesh = fine->mesh;
  slice_grid_make(a, sharding_make_closed(a, fine->mesh, dims, rank), &out->grid);
  return true;
}

static void step_along(arena *a, step_vec *steps, redistribute_op op, const cut *c, u32 dim) {
  redistribute_step s = {.op = op, .dim = dim, .to_dim = dim};
  if (!c->extra[dim].len) return;
  if (!mesh_replica_groups(a, c->mesh, c->extra[dim], &s.groups)) arena_oom(a);
  VEC_PUSH(a, *steps, s);
}

/* Pairs of ranks between two placements of the same pieces, from themselves where it can be. */
static void permute_pieces(arena *a, const cut *x, const cut *y, step_vec *steps) {
  i64 n = x->mesh->size, replicas = x->grid.replicas;
  i64 *holders = ARENA_ARRAY(a, i64, (size_t)n), *takers = ARENA_ARRAY(a, i64, (size_t)n);
  i64 *pairs = ARENA_ARRAY(a, i64, (size_t)n * 2), at = 0;
  bool moves = false;
  slice_groups(a, &x->grid, holders);
  slice_groups(a, &y->grid, takers);
  for (i64 i = 0; i < n; i++) {
    holders[i] = mesh_device_at(x->mesh, holders[i]);
    takers[i] = mesh_device_at(y->mesh, takers[i]);
  }
  for (i64 first = 0; first < n; first += replicas) {
    i64 *h = holders + first, *t = takers + first;
    qsort(h, (size_t)replicas, sizeof *h, compare_down);
    qsort(t, (size_t)replicas, sizeof *t, compare_down);
    /* both fall: those in both pair with themselves, the rest in order */
    i64 lone_h = 0, lone_t = 0, i = 0, k = 0;
    while (i < replicas || k < replicas) {
      if (i < replicas && k < replicas && h[i] == t[k]) {
        pairs[at++] = h[i++];
        pairs[at++] = t[k++];
      } else if (k == replicas || (i < replicas && h[i] > t[k])) {
        h[lone_h++] = h[i++];
      } else {
        t[lone_t++] = t[k++];
      }
    }
    for (i = 0; i < lone_h; i++) {
      pairs[at++] = h[i];
      pairs[at++] = t[i];
      moves = true;
    }
  }
  redistribute_step s = {.op = REDISTRIBUTE_PERMUTE, .groups = {n, 2, pairs}};
  if (moves) VEC_PUSH(a, *steps, s);
}

/* Cut both layouts into pieces that each of their slices is made of (least common multiples):
 * slicing goes from the source's pieces to these, gathering from these to the target's, and between
 * is one permutation. false: not every dimension can be cut so with the axes that are unused. */
bool plan_by_pieces(arena *a, const layout *from, const layout *to, const mesh *ranks,
                    step_vec *out) {
  u32 rank = layout_rank(from);
  i64 *pieces = ARENA_ARRAY(a, i64, rank), total = 1;
  for (u32 d = 0; d < rank; d++) {
    i64 x = from->grid.strategy[d], y = to->grid.strategy[d];
    if (!checked_mul(x / gcd_i64(x, y), y, &pieces[d]) || !checked_mul(total, pieces[d], &total) ||
        total > ranks->size)
      return false;
  }
  cut x, y;
  if (!cut_finer(a, from, ranks, pieces, &x) || !cut_finer(a, to, ranks, pieces, &y)) return false;
  for (u32 d = 0; d < rank; d++) step_along(a, out, REDISTRIBUTE_SLICE, &x, d);
  permute_pieces(a, &x, &y, out);
  for (u32 d = 0; d < rank; d++) step_along(a, out, REDISTRIBUTE_ALL_GATHER, &y, d);
  return true;
}

/* ---- by primes ---- */

/* Splits of each dimension into parts of prime sizes, and those that nothing uses. */
typedef struct shifter {
  arena *a;
  const mesh *mesh;
  u32 rank;
  axis_vec *have; /* a dimension each, major to minor */
  i64 *goal;      /* pieces that each dimension shall have */
  axis_vec unused;
  step_vec *steps;
} shifter;

/* How often p divides n. */
static int power_of(i64 n, i64 p) {
  int k = 0;
  for (; n % p == 0; n /= p) k++;
  return k;
}

static i64 pieces_of(const axis_vec *v) { return axes_size(axis_vec_list(v)); }

/* Primes p that the dimension has too many of; negative: too few. */
static int excess(const shifter *s, u32 d, i64 p) {
  return power_of(pieces_of(&s->have[d]), p) - power_of(s->goal[d], p);
}

static i64 smallest_prime(i64 n) {
  i64 p = 2;
  while (n % p && p * p <= n) p++;
  return n % p ? n : p;
}

/* An axis as primes, those that dimension d has too many of at the minor end. */
static void split_axis(shifter *s, u32 d, axis_ref r, axis_vec *out) {
  i64 minor = 1, rest = r.size;
  for (i64 n = r.size; n > 1;) {
    i64 p = smallest_prime(n);
    int leave = min_i64(max_i64(excess(s, d, p), 0), power_of(n, p));
    for (int k = 0; k < leave; k++) minor *= p;
    while (n % p == 0) n /= p;
  }
  rest = r.size / minor;
  for (i64 part = rest; part > 1 || minor > 1;) {
    if (part == 1) part = minor, minor = 1;
    i64 p = smallest_prime(part);
    VEC_PUSH(s->a, *out, (axis_ref){r.axis, r.pre, p});
    r.pre *= p;
    part /= p;
  }
}

static axis_vec *copy_lists(const shifter *s) {
  axis_vec *out = ARENA_ARRAY(s->a, axis_vec, s->rank);
  for (u32 d = 0; d < s->rank; d++) {
    axis_list l = axes_copy(s->a, axis_vec_list(&s->have[d]));
    out[d] = (axis_vec){(axis_ref *)(uintptr_t)l.data, l.len, l.len};
  }
  return out;
}

static void cut_of(const shifter *s, const axis_vec *lists, cut *out) {
  axis_list *dims = ARENA_ARRAY(s->a, axis_list, s->rank);
  for (u32 d = 0; d < s->rank; d++) dims[d] = axis_vec_list(&lists[d]);
  *out = (cut){.mesh = s->mesh};
  slice_grid_make(s->a, sharding_make_closed(s->a, s->mesh, dims, s->rank), &out->grid);
}

static void shift_step(shifter *s, redistribute_op op, u32 dim, u32 to_dim, axis_list axes) {
  redistribute_step step = {.op = op, .dim = dim, .to_dim = to_dim};
  if (!mesh_replica_groups(s->a, s->mesh, axes, &step.groups)) arena_oom(s->a);
  VEC_PUSH(s->a, *s->steps, step);
}

/* Primes that are too few in all dimensions together come from ranks that hold the same. */
static void slice_missing(shifter *s) {
  for (u32 e = 0; e < s->rank; e++) {
    size_t first = s->have[e].len;
    for (size_t i = 0; i < s->unused.len; i++) {
      axis_ref r = s->unused.data[i];
      int all = 0;
      if (r.size == 1 || excess(s, e, r.size) >= 0) continue;
      for (u32 d = 0; d < s->rank; d++) all += excess(s, d, r.size);
      if (all >= 0) continue;
      VEC_PUSH(s->a, s->have[e], r);
      s->unused.data[i].size = 1;
    }
    axis_list all = axis_vec_list(&s->have[e]);
    if (all.len > first)
      shift_step(s, REDISTRIBUTE_SLICE, e, e, axes_slice(all, first, all.len - first));
  }
}

/* As many parts as go from one dimension to another at once; false: none at a minor end. */
static bool shift_parts(shifter *s) {
  for (u32 d = 0; d < s->rank; d++)
    for (u32 e = 0; e < s->rank; e++) {
      axis_vec *x = &s->have[d], *y = &s->have[e];
      size_t had = x->len, n = 0;
      axis_list from = axes_copy(s->a, axis_vec_list(x));
      if (d == e) continue;
      while (x->len && excess(s, d, from.data[x->len - 1].size) > 0 &&
             excess(s, e, from.data[x->len - 1].size) < 0) {
        VEC_PUSH(s->a, *y, from.data[--x->len]);
        n++;
      }
      if (n == 0) continue;
      axis_list moved = axes_slice(from, had - n, n);
      memcpy(y->data + y->len - n, moved.data, n * sizeof *moved.data);
      shift_step(s, REDISTRIBUTE_ALL_TO_ALL, d, e, moved);
      return true;
    }
  return false;
}

/* Ranks change pieces so that what must leave a dimension is at its minor end. */
static void bring_out(shifter *s) {
  cut before, after;
  cut_of(s, copy_lists(s), &before);
  for (u32 d = 0; d < s->rank; d++) {
    axis_vec *v = &s->have[d];
    axis_list all = axes_copy(s->a, axis_vec_list(v));
    axis_vec leave = {0};
    /* the last ones that are too many */
    v->len = 0;
    for (size_t i = 0; i < all.len; i++) {
      i64 p = all.data[i].size;
      int behind = 0, spare = power_of(axes_size(all), p) - power_of(s->goal[d], p);
      for (size_t k = i + 1; k < all.len; k++) behind += all.data[k].size == p;
      if (behind < spare)
        VEC_PUSH(s->a, leave, all.data[i]);
      else
        v->data[v->len++] = all.data[i];
    }
    for (size_t i = 0; i < leave.len; i++) v->data[v->len++] = leave.data[i];
  }
  cut_of(s, s->have, &after);
  permute_pieces(s->a, &before, &after, s->steps);
}

static bool is_done(const shifter *s) {
  for (u32 d = 0; d < s->rank; d++)
    if (pieces_of(&s->have[d]) != s->goal[d]) return false;
  return true;
}

/* The target's pieces, and where it has fewer of a prime in all, as many as stay over. */
static bool set_goal(shifter *s, const layout *from, const layout *to) {
  i64 total = 1;
  s->goal = ARENA_ARRAY(s->a, i64, s->rank);
  memcpy(s->goal, to->grid.strategy, s->rank * sizeof *s->goal);
  for (i64 n = from->grid.num_slices, p; n > 1;) {
    p = smallest_prime(n);
    while (n % p == 0) n /= p;
    int over = power_of(from->grid.num_slices, p) - power_of(to->grid.num_slices, p);
    for (u32 d = 0; d < s->rank; d++) {
      int spare = power_of(from->grid.strategy[d], p) - power_of(to->grid.strategy[d], p);
      for (; spare > 0 && over > 0; spare--, over--) s->goal[d] *= p;
    }
  }
  for (u32 d = 0; d < s->rank; d++)
    if (!checked_mul(total, s->goal[d], &total)) return false;
  return true;
}

/* All-to-alls move a prime from one dimension to another as long as one that must leave is at the
 * minor end; where none is, a permutation brings one there. What is left over in the end is the
 * same pieces on other ranks. false: no step makes progress. */
bool plan_by_primes(arena *a, const layout *from, const layout *to, const mesh *ranks,
                    step_vec *out) {
  u32 rank = layout_rank(from);
  shifter s = {.a = a, .rank = rank, .steps = out};
  cut x, y;
  if (!set_goal(&s, from, to) || !cut_finer(a, from, ranks, from->grid.strategy, &x)) return false;
  if (!cut_finer(a, to, ranks, s.goal, &y)) return false;
  s.mesh = x.mesh;
  /* whole axes first, so that what is too many is known as they are split */
  const sharding *own = x.grid.sharding;
  s.have = ARENA_ARRAY(a, axis_vec, rank);
  for (u32 d = 0; d < rank; d++) {
    axis_list l = axes_copy(a, own->dims[d].axes);
    s.have[d] = (axis_vec){(axis_ref *)(uintptr_t)l.data, l.len, l.len};
  }
  for (u32 d = 0; d < rank; d++) {
    axis_vec split = {0};
    for (size_t i = 0; i < own->dims[d].axes.len; i++)
      split_axis(&s, d, own->dims[d].axes.data[i], &split);
    s.have[d] = split;
  }
  axis_list rest = sharding_unused_axes(a, own);
  for (size_t i = 0; i < rest.len; i++)
    for (axis_ref r = rest.data[i]; r.size > 1;) {
      i64 p = smallest_prime(r.size);
      VEC_PUSH(a, s.unused, (axis_ref){r.axis, r.pre, p});
      r = (axis_ref){r.axis, r.pre * p, r.size / p};
    }
  slice_missing(&s);
  while (!is_done(&s))
    if (!shift_parts(&s)) {
      size_t before = out->len;
      bring_out(&s);
      if (out->len == before) return false;
    }
  cut_of(&s, s.have, &x);
  permute_pieces(a, &x, &y, out);
  for (u32 d = 0; d < rank; d++) step_along(a, out, REDISTRIBUTE_ALL_GATHER, &y, d);
  return true;
}
