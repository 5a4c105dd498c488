#include "partition/concat_axes.h"

#include "partition/common_axes.h"

typedef struct candidate {
  u32 factor;
  axis_list axes;
  i64 source; /* elements of the tensors that have it */
  i64 parts;
} candidate;

typedef struct solver {
  arena *a;
  const concat_problem *p;
  const rule *r;
  VEC(candidate) list;
  axis_list *out;
} solver;

bool rule_has_factor(const rule *r, u32 t, u32 f) {
  for (u32 k = r->dim_begin[r->tensor_begin[t]]; k < r->dim_begin[r->tensor_begin[t + 1]]; k++)
    if (r->places[k] == f) return true;
  return false;
}

static axis_list axes_at(const solver *s, u32 t, u32 f) {
  return s->p->axes[(size_t)t * s->r->num_factors + f];
}

static bool in_all_tensors(const rule *r, u32 f) {
  for (u32 t = 0; t < rule_num_tensors(r); t++)
    if (rule_rank(r, t) && !rule_has_factor(r, t, f)) return false;
  return true;
}

/* ---- nothing to choose ---- */

static bool all_agree(solver *s) {
  axis_vec seen = {0};
  for (u32 f = 0; f < s->r->num_factors; f++) {
    bool first = true;
    for (u32 t = 0; t < rule_num_tensors(s->r); t++) {
      if (!rule_has_factor(s->r, t, f)) continue;
      if (!first && !axes_eq(s->out[f], axes_at(s, t, f))) return false;
      s->out[f] = axes_at(s, t, f);
      first = false;
    }
    bool replicate = s->r->factors[f].kind == FACTOR_REPLICATE;
    if (replicate && s->out[f].len) return false;
    if (axes_overlap(s->out[f], axis_vec_list(&seen))) return false;
    for (size_t i = 0; i < s->out[f].len; i++) VEC_PUSH(s->a, seen, s->out[f].data[i]);
  }
  return true;
}

/* ---- two tensors: one decides ---- */

static bool permutes(const solver *s, u32 t) {
  for (u32 f = 0; f < s->r->num_factors; f++)
    if (s->r->factors[f].kind == FACTOR_PERMUTATION && axes_at(s, t, f).len) return true;
  return false;
}

static i64 parts_of(const solver *s, u32 t) {
  i64 n = 1;
  for (u32 f = 0; f < s->r->num_factors; f++)
    if (!checked_mul(n, axes_size(axes_at(s, t, f)), &n)) return INT64_MAX;
  return n;
}

static bool preferred(const solver *s, u32 x, u32 y) {
  if (permutes(s, x) != permutes(s, y)) return !permutes(s, x);
  if (s->p->sizes[x] != s->p->sizes[y]) return s->p->sizes[x] > s->p->sizes[y];
  return parts_of(s, x) >= parts_of(s, y);
}

static bool solve_pair(solver *s) {
  u32 pair[2], n = 0;
  for (u32 t = 0; t < rule_num_tensors(s->r); t++)
    if (rule_rank(s->r, t)) {
      if (n == 2) return false;
      pair[n++] = t;
    }
  if (n != 2) return false;
  for (u32 f = 0; f < s->r->num_factors; f++)
    if (s->r->factors[f].kind == FACTOR_REPLICATE) return false;
  bool swap = !preferred(s, pair[0], pair[1]);
  u32 best = pair[swap], other = pair[!swap];
  axis_vec used = {0};
  for (u32 f = 0; f < s->r->num_factors; f++) {
    s->out[f] = axes_at(s, best, f);
    for (size_t i = 0; i < s->out[f].len; i++) VEC_PUSH(s->a, used, s->out[f].data[i]);
  }
  for (u32 f = 0; f < s->r->num_factors; f++)
    if (!rule_has_factor(s->r, best, f))
      s->out[f] = axes_truncate_overlaps(s->a, axes_at(s, other, f), axis_vec_list(&used));
  return true;
}

/* ---- more: the best candidate first ---- */

static int axes_cmp(const solver *s, axis_list x, axis_list y) {
  if (x.len != y.len) return x.len < y.len ? -1 : 1;
  for (size_t i = 0; i < x.len; i++) {
    axis_ref a = x.data[i], b = y.data[i];
    if (axis_eq(a, b)) continue;
    int c = str_cmp(s->p->mesh->axes[a.axis].name, s->p->mesh->axes[b.axis].name);
    if (c) return c;
    if (a.pre != b.pre) return a.pre < b.pre ? -1 : 1;
    return a.size < b.size ? -1 : 1;
  }
  return 0;
}

static bool better(const solver *s, const candidate *x, const candidate *y) {
  if (x->source != y->source) return x->source > y->source;
  int px = factor_precedence(s->r->factors[x->factor].kind),
      py = factor_precedence(s->r->factors[y->factor].kind);
  if (px != py) return px > py;
  if (x->parts != y->parts) return x->parts > y->parts;
  if (x->factor != y->factor) return x->factor > y->factor;
  return axes_cmp(s, x->axes, y->axes) > 0;
}

static void add(solver *s, u32 f, axis_list axes) {
  for (size_t i = 0; i < s->list.len; i++)
    if (s->list.data[i].factor == f && axes_eq(s->list.data[i].axes, axes)) return;
  VEC_PUSH(s->a, s->list, ((candidate){f, axes, 0, axes_size(axes)}));
}

static void collect(solver *s) {
  u32 n = rule_num_tensors(s->r);
  for (u32 t = 0; t < n; t++)
    for (u32 f = 0; f < s->r->num_factors; f++) {
      axis_list l = axes_at(s, t, f);
      for (size_t len = l.len; rule_has_factor(s->r, t, f) && len; len--)
        add(s, f, axes_slice(l, 0, len));
    }
  for (size_t i = 0; i < s->list.len; i++) {
    candidate *c = &s->list.data[i];
    for (u32 t = 0; t < n; t++)
      if (rule_has_factor(s->r, t, c->factor) &&
          axes_prefix_of(c->axes, axes_at(s, t, c->factor)) != AXES_NOT_PREFIX &&
          !checked_add(c->source, s->p->sizes[t], &c->source))
        c->source = INT64_MAX;
  }
}

/* Of one candidate once `best` is taken; false: it adds nothing any more. */
static bool narrow(solver *s, candidate *c, const candidate *best) {
  if (c->factor == best->factor) {
    if (axes_prefix_of(best->axes, c->axes) != AXES_STRICT_PREFIX) return false;
    c->parts = axes_size(c->axes) / axes_size(best->axes);
    return true;
  }
  axis_list cut = axes_truncate_overlaps(s->a, c->axes, best->axes);
  if (axes_eq(cut, c->axes)) {
    c->parts = axes_size(c->axes);
    return true;
  }
  c->axes = cut;
  if (axes_eq(cut, s->out[c->factor])) return false;
  c->parts = axes_size(cut) / axes_size(s->out[c->factor]);
  return true;
}

static void solve_greedily(solver *s) {
  collect(s);
  while (s->list.len) {
    candidate best = s->list.data[0];
    for (size_t i = 1; i < s->list.len; i++)
      if (better(s, &s->list.data[i], &best)) best = s->list.data[i];
    s->out[best.factor] = best.axes;
    size_t kept = 0;
    for (size_t i = 0; i < s->list.len; i++) {
      candidate c = s->list.data[i];
      if (narrow(s, &c, &best)) s->list.data[kept++] = c;
    }
    s->list.len = kept;
  }
}

/* What a factor that must be replicated would have had goes to those that all tensors have. */
static void distribute(solver *s, u32 from) {
  axis_list l = s->out[from];
  s->out[from] = (axis_list){0};
  for (u32 f = 0; in_all_tensors(s->r, from) && f < s->r->num_factors && l.len; f++) {
    if (s->r->factors[f].kind == FACTOR_PASS && in_all_tensors(s->r, f))
      axes_fill(s->a, &s->out[f], s->r->factors[f].size, &l);
  }
}

void concat_axes(arena *a, const concat_problem *p, axis_list *out) {
  solver s = {.a = a, .p = p, .r = p->rule, .out = out};
  size_t size = s.r->num_factors * sizeof *out;
  if (s.r->num_factors) memset(out, 0, size);
  if (all_agree(&s)) return;
  if (s.r->num_factors) memset(out, 0, size);
  if (solve_pair(&s)) return;
  solve_greedily(&s);
  for (u32 f = 0; f < s.r->num_factors; f++)
    if (s.r->factors[f].kind == FACTOR_REPLICATE) distribute(&s, f);
}
