/* Reshards as sequences of collectives.
 *
 * The state is, per dimension, the list of axes that must go (`in`), the list that must come
 * (`out`) and all axes at present (`cur`), each major to minor; axes that are in place already
 * are in `cur` only. Sub-axes are cut so that two references are either equal or disjoint.
 * Each step changes `cur` and shrinks `in` and `out`; when both are empty the work is done.
 *
 *   mesh x=2 y=2, from [{x}, {}] to [{y}, {x}]:
 *     slice dimension 1 by y -> [{x}, {y}], permute -> [{y}, {x}]: done.
 *
 * Sub-axes that no cut makes so, as x:(1)2 and x:(1)3 of x=6, go by way of a sharding that has
 * neither. Where all axis sizes divide each other two rounds are always enough. Elsewhere,
 * should a step not divide the shape or the rounds not suffice, the plan is to gather what
 * differs and slice again: correct at any size. */
#include "partition/reshard.h"

typedef struct dim_state {
  axis_vec in, out, cur;
  i64 room; /* how much further the dimension may be cut in the current step */
} dim_state;

typedef struct planner {
  arena *a;
  const mesh *mesh; /* of the shards at present */
  const mesh *out_mesh;
  const sharding *goal;
  const i64 *shape;
  u32 rank;
  dim_state *dims;
  reshard_steps *steps;
} planner;

/* ---- small things ---- */

static void vec_insert(arena *a, axis_vec *v, size_t at, axis_ref r) {
  VEC_PUSH(a, *v, r);
  memmove(v->data + at + 1, v->data + at, (v->len - 1 - at) * sizeof(*v->data));
  v->data[at] = r;
}

static void vec_erase(axis_vec *v, size_t at) {
  memmove(v->data + at, v->data + at + 1, (v->len - at - 1) * sizeof(*v->data));
  v->len--;
}

static bool in_has(const planner *p, axis_ref r) {
  for (u32 d = 0; d < p->rank; d++)
    if (axes_contain(axis_vec_list(&p->dims[d].in), r)) return true;
  return false;
}

static bool out_find(const planner *p, axis_ref r, u32 *dim, size_t *index) {
  for (u32 d = 0; d < p->rank; d++)
    for (size_t i = 0; i < p->dims[d].out.len; i++)
      if (axis_eq(p->dims[d].out.data[i], r)) return *dim = d, *index = i, true;
  return false;
}

static bool out_has(const planner *p, axis_ref r) {
  u32 dim;
  size_t index;
  return out_find(p, r, &dim, &index);
}

static bool divides(i64 x, i64 y) { return x % y == 0 || y % x == 0; }

/* What is whole is padded when it is cut, and cut to its size when it has been joined. */
bool reshard_dim_steps(i64 n, i64 from, i64 to) {
  if (from == to || from == 1 || to == 1 || n < 0) return true;
  return (n + from - 1) / from * from == (n + to - 1) / to * to;
}

bool sharding_steps(const sharding *from, const sharding *to, const i64 *shape) {
  for (u32 d = 0; d < to->rank; d++)
    if (from && !reshard_dim_steps(shape[d], sharding_dim_size(from, d), sharding_dim_size(to, d)))
      return false;
  return true;
}

static bool done(const planner *p) {
  for (u32 d = 0; d < p->rank; d++)
    if (p->dims[d].in.len || p->dims[d].out.len) return false;
  return true;
}

/* Cuts the elements of `v` at the borders of the references in `at`. */
static void cut_at(arena *a, axis_vec *v, axis_list at) {
  axis_vec cut = {0};
  for (size_t i = 0; i < v->len; i++) {
    axis_ref left = v->data[i];
    for (;;) { /* split off the part up to the nearest border inside */
      i64 end = axis_next_pre(left), border = end;
      for (size_t k = 0; k < at.len; k++) {
        if (at.data[k].axis != left.axis) continue;
        i64 edges[2] = {at.data[k].pre, axis_next_pre(at.data[k])};
        for (int e = 0; e < 2; e++)
          if (edges[e] > left.pre && edges[e] < border && edges[e] % left.pre == 0 &&
              end % edges[e] == 0)
            border = edges[e];
      }
      VEC_PUSH(a, cut, ((axis_ref){left.axis, left.pre, border / left.pre}));
      if (border == end) break;
      left = (axis_ref){left.axis, border, end / border};
    }
  }
  *v = cut;
}

/* Takes the last element off a list in which neighbours may be merged. */
static void pop_back(axis_vec *cur, axis_ref r) {
  axis_ref rest;
  if (axis_prefix_without(cur->data[cur->len - 1], r, &rest))
    cur->data[cur->len - 1] = rest;
  else
    cur->len--;
}

static void pop_back_from(axis_vec *cur, const axis_vec *in, size_t begin) {
  for (size_t i = in->len; i > begin; i--) pop_back(cur, in->data[i - 1]);
}

/* The part of r that `room` takes, and what is left of it; false: none. */
static bool fit(axis_ref r, i64 *room, axis_ref *within, axis_ref *rest, bool *has_rest) {
  *has_rest = false;
  if (*room <= 1 || !divides(r.size, *room)) return false;
  if (*room >= r.size) {
    *room /= r.size;
    *within = r;
    return true;
  }
  *within = (axis_ref){r.axis, r.pre, *room};
  *rest = (axis_ref){r.axis, r.pre * *room, r.size / *room};
  *has_rest = true;
  *room = 1;
  return true;
}

static const sharding *current(const planner *p) {
  axis_list *lists = ARENA_ARRAY(p->a, axis_list, p->rank);
  for (u32 d = 0; d < p->rank; d++) lists[d] = axes_copy(p->a, axis_vec_list(&p->dims[d].cur));
  sharding *s = arena_copy(p->a, sharding_make_closed(p->a, p->mesh, lists, p->rank), sizeof(*s));
  s->unreduced = p->goal->unreduced;
  s->unreduced_kind = p->goal->unreduced_kind;
  return s;
}

static void add_step(planner *p, reshard_step step) {
  step.out = current(p);
  VEC_PUSH(p->a, *p->steps, step);
}

/* ---- all-slice ---- */

/* How many axes from the end of `in`, read backwards, equal out[0 .. end) read backwards. */
static size_t common_tail(const axis_vec *in, const axis_vec *out, size_t end, i64 *size) {
  size_t n = 0;
  *size = 1;
  while (n < in->len && n < end && axis_eq(in->data[in->len - 1 - n], out->data[end - 1 - n])) {
    *size *= in->data[in->len - 1 - n].size;
    n++;
  }
  return n;
}

/* Slicing at dimension `src` the axes that follow, in another dimension's goal, an axis that
 * is going to move there: one all-to-all then moves all of them and no permutation is needed.
 * Returns whether it applies, with the range of the other dimension's `out`. */
static bool slice_for_all_to_all(planner *p, u32 src, u32 *dst, size_t *begin, size_t *end) {
  dim_state *s = &p->dims[src];
  if (s->in.len == 0 || s->out.len != 0) return false;
  size_t at;
  if (!out_find(p, s->in.data[s->in.len - 1], dst, &at)) return false;
  dim_state *t = &p->dims[*dst];
  if (t->in.len != 0) return false;
  *begin = at + 1;
  if (*begin == t->out.len || in_has(p, t->out.data[*begin])) return false;
  i64 common;
  size_t n = common_tail(&s->in, &t->out, *begin, &common);
  for (size_t i = 0; i + n < s->in.len; i++) {
    u32 dim;
    if (out_find(p, s->in.data[i], &dim, &at) && dim == *dst) return false; /* out of order */
  }
  i64 added = 1;
  for (*end = *begin; *end < t->out.len && !in_has(p, t->out.data[*end]); (*end)++)
    added *= t->out.data[*end].size;
  i64 parts = axes_size(axis_vec_list(&s->cur)) * added;
  if (p->shape[src] >= 0 && p->shape[src] % parts != 0) return false;
  t->room /= common * added;
  return true;
}

/* Offers the axes of `from` to the dimensions in turn, as far as their room goes; at the front
 * or the end of `in`. `each`: from[d] for dimension d, else from[0] for all. */
static void distribute(planner *p, axis_vec *from, bool each, bool front, axis_vec *sliced) {
  axis_vec cuts = {0};
  for (u32 d = 0; d < p->rank; d++) {
    dim_state *s = &p->dims[d];
    axis_vec *avail = each ? &from[d] : &from[0];
    size_t at = front ? 0 : s->in.len;
    for (size_t i = 0; i < avail->len && s->room > 1;) {
      axis_ref within, rest;
      bool has_rest;
      if (!fit(avail->data[i], &s->room, &within, &rest, &has_rest)) {
        i++;
        continue;
      }
      vec_erase(avail, i);
      vec_insert(p->a, &s->in, at++, within);
      if (sliced) {
        axes_add_or_merge(p->a, &sliced[d], within);
        axes_add_or_merge(p->a, &s->cur, within);
      }
      if (has_rest) {
        VEC_PUSH(p->a, cuts, within);
        vec_insert(p->a, avail, 0, rest);
      }
    }
  }
  for (u32 d = 0; d < p->rank; d++) cut_at(p->a, &p->dims[d].out, axis_vec_list(&cuts));
}

/* Slices dimension d by its own coming axes; what finds no room goes to `avail`. */
static bool slice_own(planner *p, u32 d, axis_vec *sliced, axis_vec *avail) {
  dim_state *s = &p->dims[d];
  bool any = false;
  for (size_t i = 0; i < s->out.len;) {
    axis_ref r = s->out.data[i], within, rest;
    bool has_rest;
    if (in_has(p, r)) {
      i++;
      continue;
    }
    if (!fit(r, &s->room, &within, &rest, &has_rest)) {
      VEC_PUSH(p->a, *avail, r);
      i++;
      continue;
    }
    any = true;
    axes_add_or_merge(p->a, sliced, within);
    axes_add_or_merge(p->a, &s->cur, within);
    if (s->in.len == 0 && i == 0) {
      vec_erase(&s->out, 0);
    } else {
      VEC_PUSH(p->a, s->in, within);
      s->out.data[i++] = within;
    }
    if (has_rest) {
      /* as the rest finds no room here it is on offer; step over it */
      vec_insert(p->a, &s->out, i++, rest);
      VEC_PUSH(p->a, *avail, rest);
    }
  }
  return any;
}

static void try_all_slice(planner *p) {
  axis_vec *sliced = arena_zalloc(p->a, p->rank * sizeof(*sliced)), avail = {0};
  bool any = false;
  for (u32 d = 0; d < p->rank; d++) {
    dim_state *s = &p->dims[d];
    i64 in = axes_size(axis_vec_list(&s->in)), out = axes_size(axis_vec_list(&s->out));
    s->room = out / gcd_i64(in, out);
  }
  for (u32 src = 0; src < p->rank; src++) {
    u32 dst;
    size_t begin, end;
    if (!slice_for_all_to_all(p, src, &dst, &begin, &end)) continue;
    any = true;
    for (size_t i = begin; i < end; i++) {
      axis_ref r = p->dims[dst].out.data[i];
      VEC_PUSH(p->a, p->dims[src].in, r);
      axes_add_or_merge(p->a, &sliced[src], r);
      axes_add_or_merge(p->a, &p->dims[src].cur, r);
    }
  }
  for (u32 d = 0; d < p->rank; d++) any |= slice_own(p, d, &sliced[d], &avail);
  distribute(p, &avail, false, false, sliced);
  axis_list *lists = ARENA_ARRAY(p->a, axis_list, p->rank);
  for (u32 d = 0; d < p->rank; d++) {
    lists[d] = axis_vec_list(&sliced[d]);
    any |= sliced[d].len != 0;
  }
  if (any) add_step(p, (reshard_step){.kind = STEP_ALL_SLICE, .dim_axes = lists});
}

/* ---- collective permute ---- */

/* Whether the leaving axes of dimension d are in an order that only a permutation mends. */
static bool needs_permute(const planner *p, u32 d, axis_ref *spare, bool *has_spare) {
  const dim_state *s = &p->dims[d];
  bool *seen = arena_zalloc(p->a, p->rank);
  bool has_last = false;
  u32 last_dim = 0;
  size_t last_index = 0;
  for (size_t i = 0; i < s->in.len; i++) {
    u32 dim;
    size_t index;
    if (out_find(p, s->in.data[i], &dim, &index)) {
      bool follows = has_last && last_dim == dim && index == last_index + 1;
      if ((dim == d || seen[dim]) && !follows) return true;
      seen[dim] = true;
      last_index = index;
      last_dim = dim;
      has_last = true;
    } else {
      if (has_last && s->out.len == 0) return true;
      *spare = s->in.data[i];
      *has_spare = true;
      has_last = false;
    }
  }
  return false;
}

static bool should_permute(const planner *p) {
  axis_ref in = {0}, out = {0};
  bool has_in = false, has_out = false;
  for (u32 d = 0; d < p->rank; d++) {
    const dim_state *s = &p->dims[d];
    if (s->in.len && s->out.len && divides(s->in.data[0].size, s->out.data[0].size)) return true;
    for (size_t i = 0; i < s->out.len; i++)
      if (!in_has(p, s->out.data[i])) out = s->out.data[i], has_out = true;
    if (needs_permute(p, d, &in, &has_in)) return true;
  }
  return has_in && has_out && divides(in.size, out.size);
}

/* Replaces dimension d's leaving axes by coming ones while they fit; *free_in takes the
 * leaving axes that no dimension wants, cut to the room that is left. */
static void permute_dim(planner *p, u32 d, const axis_vec *wanted, axis_vec *avail_out,
                        axis_vec *free_in) {
  dim_state *s = &p->dims[d];
  s->room = axes_size(axis_vec_list(&s->in));
  i64 used = s->room;
  pop_back_from(&s->cur, &s->in, 0);
  axis_ref within, rest;
  bool has_rest;
  while (s->room > 1 && s->out.len) {
    if (!fit(s->out.data[0], &s->room, &within, &rest, &has_rest)) break;
    vec_erase(&s->out, 0);
    axes_add_or_merge(p->a, &s->cur, within);
    if (has_rest) vec_insert(p->a, &s->out, 0, rest);
  }
  for (size_t i = 0; i < s->out.len; i++) VEC_PUSH(p->a, *avail_out, s->out.data[i]);

  used /= s->room;
  axis_vec left = {0};
  for (size_t i = 0; i < s->in.len; i++)
    if (!axes_contain(axis_vec_list(wanted), s->in.data[i])) VEC_PUSH(p->a, left, s->in.data[i]);
  axis_vec taken = {0};
  while (used > 1 && left.len) {
    if (!fit(left.data[0], &used, &within, &rest, &has_rest)) break;
    vec_erase(&left, 0);
    VEC_PUSH(p->a, taken, within);
    if (has_rest) vec_insert(p->a, &left, 0, rest);
  }
  /* what wasn't displaced is offered first, so that it stays where it is */
  for (size_t i = 0; i < left.len; i++) VEC_PUSH(p->a, *free_in, left.data[i]);
  for (size_t i = 0; i < taken.len; i++) VEC_PUSH(p->a, *free_in, taken.data[i]);
  s->in.len = 0;
}

static void permute(planner *p) {
  axis_vec wanted = {0}, avail_out = {0}, rest = {0};
  axis_vec *free_in = arena_zalloc(p->a, p->rank * sizeof(*free_in));
  for (u32 d = 0; d < p->rank; d++)
    for (size_t i = 0; i < p->dims[d].out.len; i++) VEC_PUSH(p->a, wanted, p->dims[d].out.data[i]);
  for (u32 d = 0; d < p->rank; d++) permute_dim(p, d, &wanted, &avail_out, &free_in[d]);
  distribute(p, &avail_out, false, false, NULL);
  distribute(p, free_in, true, true, NULL);
  for (u32 d = 0; d < p->rank; d++)
    for (size_t i = 0; i < free_in[d].len; i++) VEC_PUSH(p->a, rest, free_in[d].data[i]);
  distribute(p, &rest, false, true, NULL);
  for (u32 d = 0; d < p->rank; d++)
    for (size_t i = 0; i < p->dims[d].in.len; i++)
      axes_add_or_merge(p->a, &p->dims[d].cur, p->dims[d].in.data[i]);
}

static void try_permute(planner *p) {
  if (should_permute(p))
    permute(p);
  else if (mesh_same(p->mesh, p->out_mesh, false))
    return;
  p->mesh = p->out_mesh;
  add_step(p, (reshard_step){.kind = STEP_PERMUTE});
}

/* ---- all-to-all, all-gather ---- */

/* Moves the longest tail of dimension src's axes that is wanted in one other dimension. */
static bool all_to_all(planner *p, u32 src, bool any_order) {
  dim_state *s = &p->dims[src];
  size_t begin = s->in.len, index;
  u32 dst = 0, dim;
  while (begin > 0 && out_find(p, s->in.data[begin - 1], &dim, &index)) {
    if (dim == src || (begin < s->in.len && dim != dst)) break;
    dst = dim;
    begin--;
  }
  if (begin == s->in.len) return false;
  dim_state *t = &p->dims[dst];
  size_t n = s->in.len - begin;
  if (!any_order) {
    if (n > t->out.len) return false;
    for (size_t i = 0; i < n; i++)
      if (!axis_eq(s->in.data[begin + i], t->out.data[i])) return false;
  }
  axis_vec moved = {0};
  pop_back_from(&s->cur, &s->in, begin);
  for (size_t i = begin; i < begin + n; i++) {
    axis_ref r = s->in.data[i];
    axes_add_or_merge(p->a, &moved, r);
    axes_add_or_merge(p->a, &t->cur, r);
    if (t->in.len == 0 && axis_eq(t->out.data[0], r))
      vec_erase(&t->out, 0);
    else
      VEC_PUSH(p->a, t->in, r);
  }
  s->in.len = begin;
  const reshard_move m = {axis_vec_list(&moved), src, dst};
  add_step(p, (reshard_step){.kind = STEP_ALL_TO_ALL,
                             .moves = arena_copy(p->a, &m, sizeof m),
                             .num_moves = 1});
  return true;
}

static void try_all_to_alls(planner *p, bool any_order) {
  /* an axis moved out of order stays wanted where it is, so each moves once a round */
  for (u32 src = 0; src < p->rank; src++)
    while (all_to_all(p, src, any_order)) {
    }
}

static void try_all_gather(planner *p) {
  axis_list *lists = ARENA_ARRAY(p->a, axis_list, p->rank);
  bool any = false;
  for (u32 d = 0; d < p->rank; d++) {
    dim_state *s = &p->dims[d];
    size_t begin = s->in.len;
    while (begin > 0 && !out_has(p, s->in.data[begin - 1])) begin--;
    axis_vec gathered = {0};
    for (size_t i = begin; i < s->in.len; i++) axes_add_or_merge(p->a, &gathered, s->in.data[i]);
    pop_back_from(&s->cur, &s->in, begin);
    s->in.len = begin;
    lists[d] = axis_vec_list(&gathered);
    any |= gathered.len != 0;
  }
  if (any) add_step(p, (reshard_step){.kind = STEP_ALL_GATHER, .dim_axes = lists});
}

/* ---- the plan ---- */

static void init_dims(planner *p, const sharding *in, const sharding *out) {
  axis_vec all = {0};
  p->dims = arena_zalloc(p->a, p->rank * sizeof(*p->dims));
  for (u32 d = 0; d < p->rank; d++) {
    for (size_t i = 0; i < in->dims[d].axes.len; i++) {
      VEC_PUSH(p->a, all, in->dims[d].axes.data[i]);
      VEC_PUSH(p->a, p->dims[d].in, in->dims[d].axes.data[i]);
      axes_add_or_merge(p->a, &p->dims[d].cur, in->dims[d].axes.data[i]);
    }
    for (size_t i = 0; i < out->dims[d].axes.len; i++) {
      VEC_PUSH(p->a, all, out->dims[d].axes.data[i]);
      VEC_PUSH(p->a, p->dims[d].out, out->dims[d].axes.data[i]);
    }
  }
  for (u32 d = 0; d < p->rank; d++) {
    dim_state *s = &p->dims[d];
    cut_at(p->a, &s->in, axis_vec_list(&all));
    cut_at(p->a, &s->out, axis_vec_list(&all));
    while (s->in.len && s->out.len && axis_eq(s->in.data[0], s->out.data[0])) {
      vec_erase(&s->in, 0);
      vec_erase(&s->out, 0);
    }
  }
}

static void add_primes(arena *a, axis_vec *v, axis_ref r) {
  if (r.size == 1) VEC_PUSH(a, *v, r);
  for (i64 p = 2, left = r.size; left > 1; p++) {
    if (p * p > left) p = left;
    for (; left % p == 0; left /= p) {
      VEC_PUSH(a, *v, ((axis_ref){r.axis, r.pre, p}));
      r.pre *= p;
    }
  }
}

/* What both begin with; nothing where its shards are not made of the others. */
static axis_list common_front(arena *a, axis_list in, axis_list out, i64 n) {
  axis_vec x = {0}, y = {0}, front = {0};
  for (size_t i = 0; i < in.len; i++) add_primes(a, &x, in.data[i]);
  for (size_t i = 0; i < out.len; i++) add_primes(a, &y, out.data[i]);
  for (size_t i = 0; i < x.len && i < y.len && axis_eq(x.data[i], y.data[i]); i++)
    axes_add_or_merge(a, &front, x.data[i]);
  i64 parts = axes_size(axis_vec_list(&front));
  bool made =
      reshard_dim_steps(n, axes_size(in), parts) && reshard_dim_steps(n, parts, axes_size(out));
  return made ? axis_vec_list(&front) : (axis_list){0};
}

/* Gather all that isn't common, move to the other device order, slice again. */
static void plan_by_gather(arena *a, const sharding *in, const sharding *out, const i64 *shape,
                           reshard_steps *steps) {
  axis_list *gathered = ARENA_ARRAY(a, axis_list, in->rank);
  axis_list *sliced = ARENA_ARRAY(a, axis_list, in->rank);
  axis_list *front = ARENA_ARRAY(a, axis_list, in->rank);
  bool any_gathered = false, any_sliced = false;
  for (u32 d = 0; d < in->rank; d++) {
    front[d] = common_front(a, in->dims[d].axes, out->dims[d].axes, shape[d]);
    gathered[d] = axes_merge(a, axes_difference(a, in->dims[d].axes, front[d]));
    sliced[d] = axes_merge(a, axes_difference(a, out->dims[d].axes, front[d]));
    any_gathered |= gathered[d].len != 0;
    any_sliced |= sliced[d].len != 0;
  }
  sharding *mid = arena_copy(a, sharding_make_closed(a, in->mesh, front, in->rank), sizeof *mid);
  mid->unreduced = out->unreduced;
  mid->unreduced_kind = out->unreduced_kind;
  if (any_gathered)
    VEC_PUSH(a, *steps,
             ((reshard_step){.kind = STEP_ALL_GATHER, .dim_axes = gathered, .out = mid}));
  if (!mesh_same(in->mesh, out->mesh, false)) {
    mid = arena_copy(a, mid, sizeof *mid);
    mid->mesh = out->mesh;
    VEC_PUSH(a, *steps, ((reshard_step){.kind = STEP_PERMUTE, .out = mid}));
  }
  if (any_sliced)
    VEC_PUSH(a, *steps,
             ((reshard_step){
                 .kind = STEP_ALL_SLICE, .dim_axes = sliced, .out = sharding_closed_like(a, out)}));
}

/* Shards can be made of those before, unless any will do, and a permutation keeps their shape. */
static bool step_holds(const sharding *before, const reshard_step *step, const i64 *shape,
                       bool anyhow) {
  if (!anyhow && !sharding_steps(before, step->out, shape)) return false;
  for (u32 d = 0; step->kind == STEP_PERMUTE && d < before->rank; d++)
    if (sharding_dim_size(before, d) != sharding_dim_size(step->out, d)) return false;
  return true;
}

/* Between shardings whose axes have cuts in common. */
static void plan_alike(arena *a, const sharding *in, const sharding *out, const i64 *shape,
                       reshard_steps *steps, bool anyhow) {
  planner p = {.a = a,
               .mesh = in->mesh,
               .out_mesh = out->mesh,
               .goal = out,
               .shape = shape,
               .rank = in->rank,
               .steps = steps};
  if (sharding_is_replicated(in) && sharding_is_replicated(out)) return;
  /* replicated tensors are alike in any device order */
  if (!anyhow && sharding_is_replicated(out)) p.out_mesh = in->mesh;
  if (!anyhow && sharding_is_replicated(in)) p.mesh = out->mesh;
  const mesh *first = p.mesh, *last = p.out_mesh;
  size_t begin = steps->len;
  init_dims(&p, in, out);
  for (int round = 0; round < 2 && !done(&p); round++) {
    try_all_slice(&p);
    try_permute(&p);
    try_all_to_alls(&p, false);
    try_all_to_alls(&p, true);
    try_all_gather(&p);
  }
  bool good = done(&p);
  if (good && !mesh_same(p.mesh, last, false)) try_permute(&p);
  for (size_t i = begin; i < steps->len; i++)
    good = good &&
           step_holds(i == begin ? in : steps->data[i - 1].out, &steps->data[i], shape, anyhow);
  if (good) return;
  steps->len = begin;
  sharding from = *in, to = *out;
  from.mesh = first;
  to.mesh = last;
  plan_by_gather(a, &from, &to, shape, steps);
}

/* ---- axes cut in unlike ways ---- */

static bool can_coexist_with(const sharding *s, axis_ref r) {
  for (u32 d = 0; d < s->rank; d++)
    for (size_t i = 0; i < s->dims[d].axes.len; i++)
      if (!axis_can_coexist(s->dims[d].axes.data[i], r)) return false;
  return true;
}

/* `out` without what cannot stand in one program with `in`; NULL: there is no such thing. */
static const sharding *without_unlike(arena *a, const sharding *in, const sharding *out) {
  dim_sharding *dims = arena_copy(a, out->dims, out->rank * sizeof(*dims));
  bool any = false;
  for (u32 d = 0; d < out->rank; d++) {
    axis_vec keep = {0};
    for (size_t i = 0; i < dims[d].axes.len; i++)
      if (can_coexist_with(in, dims[d].axes.data[i])) VEC_PUSH(a, keep, dims[d].axes.data[i]);
    any |= keep.len != dims[d].axes.len;
    dims[d].axes = axis_vec_list(&keep);
  }
  if (!any) return NULL;
  sharding *s = arena_copy(a, out, sizeof(*s));
  s->dims = dims;
  return s;
}

static bool same_parts(const sharding *x, const sharding *y) {
  for (u32 d = 0; d < x->rank; d++)
    if (sharding_dim_size(x, d) != sharding_dim_size(y, d)) return false;
  return true;
}

static void plan(arena *a, const sharding *in, const sharding *out, const i64 *shape,
                 reshard_steps *steps, bool anyhow) {
  const sharding *mid = without_unlike(a, in, out);
  if (!mid) {
    plan_alike(a, in, out, shape, steps, anyhow);
  } else if (same_parts(in, out)) {
    VEC_PUSH(a, *steps,
             ((reshard_step){.kind = STEP_PERMUTE, .out = sharding_closed_like(a, out)}));
  } else {
    plan_alike(a, in, mid, shape, steps, anyhow);
    plan_alike(a, mid, out, shape, steps, anyhow);
  }
}

double sharding_elements(const sharding *s, const i64 *shape) {
  double n = 1;
  for (u32 d = 0; d < s->rank; d++) n *= (double)div_ceil_i64(shape[d], sharding_dim_size(s, d));
  return n;
}

/* Of the whole that the devices of an all-to-all exchange: dimensions are padded to be cut. */
static double exchanged(const sharding *in, const i64 *shape, const reshard_step *s) {
  double n = sharding_elements(in, shape), parts = 1;
  for (u32 i = 0; i < s->num_moves; i++) {
    u32 d = s->moves[i].dst;
    i64 k = axes_size(s->moves[i].axes);
    n *= (double)(div_ceil_i64(shape[d], sharding_dim_size(s->out, d)) * k) /
         (double)div_ceil_i64(shape[d], sharding_dim_size(in, d));
    parts *= (double)k;
  }
  return n * (parts - 1) / parts;
}

double reshard_sent(const sharding *in, const i64 *shape, const reshard_steps *steps) {
  double sent = 0;
  for (size_t i = 0; i < steps->len; i++) {
    const reshard_step *s = &steps->data[i];
    double n = sharding_elements(in, shape), parts = 1;
    for (u32 d = 0; d < in->rank && s->kind == STEP_ALL_GATHER; d++)
      parts *= (double)axes_size(s->dim_axes[d]);
    if (s->kind == STEP_PERMUTE) sent += n;
    if (s->kind == STEP_ALL_TO_ALL) sent += exchanged(in, shape, s);
    if (s->kind == STEP_ALL_GATHER) sent += n * (parts - 1);
    in = s->out;
  }
  return sent;
}

void reshard_plan(arena *a, const sharding *in, const sharding *out, const i64 *shape, bool others,
                  reshard_steps *steps) {
  size_t begin = steps->len;
  plan(a, in, out, shape, steps, false);
  reshard_steps known = {.data = steps->data + begin, .len = steps->len - begin};
  reshard_steps gather = {0}, least = {0}, *best = NULL;
  if (known.len < 1 || !mesh_same(in->mesh, out->mesh, false)) return;
  double sent = reshard_sent(in, shape, &known);
  plan_by_gather(a, in, out, shape, &gather);
  if (reshard_sent(in, shape, &gather) < sent) {
    sent = reshard_sent(in, shape, &gather);
    best = &gather;
  }
  if (reshard_plan_least(a, in, out, shape, others, sent, &least)) best = &least;
  if (!best) return;
  steps->len = begin;
  for (size_t i = 0; i < best->len; i++) VEC_PUSH(a, *steps, best->data[i]);
}

void reshard_plan_anyhow(arena *a, const sharding *in, const sharding *out, const i64 *shape,
                         reshard_steps *steps) {
  plan(a, in, out, shape, steps, true);
}
