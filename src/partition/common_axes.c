#include "partition/common_axes.h"

typedef struct candidate {
  u32 factor;
  axis_list axes;
  i64 source_size; /* elements of the tensors that have it */
  i64 new_parts;   /* beyond what the factor is assigned already */
} candidate;

typedef VEC(candidate) candidates;

typedef struct solver {
  arena *a;
  const axes_problem *p;
  const rule *r;
  u32 num_tensors, num_factors;
  const axis_list *axes; /* of every tensor by factor: at [t * num_factors + f] */
  const bool *present;   /* where the tensor has it */
  axis_list *out;
  bool *full; /* factor is sharded to the end, or has nothing to shard */
} solver;

static bool as_shardy(const solver *s) { return s->p->policy == AXES_AS_SHARDY; }

static bool pads(const solver *s, u32 f) { return s->p->pads && s->p->pads[f]; }

static u8 kind_of(const solver *s, u32 f) {
  return s->p->kinds ? s->p->kinds[f] : s->r->factors[f].kind;
}

/* ---- projection ---- */

static const u32 *dim_places(const rule *r, u32 t, u32 d, u32 *count) {
  u32 at = r->tensor_begin[t] + d;
  *count = r->dim_begin[at + 1] - r->dim_begin[at];
  return r->places + r->dim_begin[at];
}

/* Hands the axes of one dimension to its factors, major first, cutting axes where a factor
 * ends. What fits nowhere is dropped. */
static void project_dim(const solver *s, u32 t, u32 d, axis_list axes, axis_list *out) {
  u32 count;
  const u32 *places = dim_places(s->r, t, d, &count);
  size_t i = 0;
  axis_ref rest = {0};
  bool has_rest = false;
  for (u32 k = 0; k < count; k++) {
    u32 f = places[k];
    i64 room = s->r->factors[f].size;
    axis_vec v = {0};
    while (pads(s, f) && i < axes.len) VEC_PUSH(s->a, v, axes.data[i++]);
    while (room > 1 && (has_rest || i < axes.len)) {
      axis_ref x = has_rest ? rest : axes.data[i++];
      has_rest = false;
      i64 g = gcd_i64(room, x.size);
      if (g == x.size) {
        VEC_PUSH(s->a, v, x);
        room /= g;
      } else if (g == room) {
        VEC_PUSH(s->a, v, ((axis_ref){x.axis, x.pre, g}));
        rest = (axis_ref){x.axis, x.pre * g, x.size / g};
        has_rest = true;
        room = 1;
      } else { /* neither divides the other: this and all after it stay out */
        i = axes.len;
        room = 0;
      }
    }
    out[f] = axis_vec_list(&v);
    if (room != 1) i = axes.len, has_rest = false;
  }
}

static const axis_list *project(const solver *s) {
  axis_list *all = arena_zalloc(s->a, (size_t)s->num_tensors * s->num_factors * sizeof *all);
  for (u32 t = 0; t < s->num_tensors; t++)
    for (u32 d = 0; d < rule_rank(s->r, t); d++) {
      const sharding *sh = s->p->tensors[t];
      axis_list axes = sh && d < sh->rank ? sh->dims[d].axes : (axis_list){0};
      project_dim(s, t, d, axes, all + (size_t)t * s->num_factors);
    }
  return all;
}

static const bool *find_present(const solver *s) {
  bool *all = arena_zalloc(s->a, (size_t)s->num_tensors * s->num_factors);
  for (u32 t = 0; t < s->num_tensors; t++)
    for (u32 k = s->r->dim_begin[s->r->tensor_begin[t]];
         k < s->r->dim_begin[s->r->tensor_begin[t + 1]]; k++)
      all[(size_t)t * s->num_factors + s->r->places[k]] = true;
  return all;
}

static bool present(const solver *s, u32 t, u32 f) { return s->present[t * s->num_factors + f]; }
static axis_list axes_of(const solver *s, u32 t, u32 f) { return s->axes[t * s->num_factors + f]; }

bool rule_has_factor(const rule *r, u32 t, u32 f) {
  for (u32 k = r->dim_begin[r->tensor_begin[t]]; k < r->dim_begin[r->tensor_begin[t + 1]]; k++)
    if (r->places[k] == f) return true;
  return false;
}

/* ---- all agree ---- */

static bool all_agree(solver *s) {
  axis_vec seen = {0};
  for (u32 f = 0; f < s->num_factors; f++) {
    bool any = false;
    axis_list l = {0};
    for (u32 t = 0; t < s->num_tensors; t++) {
      if (!present(s, t, f)) continue;
      if (any && !axes_eq(l, axes_of(s, t, f))) return false;
      l = axes_of(s, t, f);
      any = true;
    }
    if (kind_of(s, f) == FACTOR_REPLICATE && l.len) return false;
    if ((as_shardy(s) ? axes_overlap : axes_clash)(l, axis_vec_list(&seen))) return false;
    for (size_t i = 0; i < l.len; i++) VEC_PUSH(s->a, seen, l.data[i]);
    s->out[f] = l;
  }
  return true;
}

/* ---- two tensors: the larger decides ---- */

static i64 total_parts(const solver *s, u32 t) {
  i64 n = 1;
  if (as_shardy(s)) {
    for (u32 f = 0; f < s->num_factors; f++)
      if (!checked_mul(n, axes_size(axes_of(s, t, f)), &n)) return INT64_MAX;
    return n;
  }
  const sharding *sh = s->p->tensors[t];
  for (u32 d = 0; sh && d < sh->rank; d++) n *= sharding_dim_size(sh, d);
  return n;
}

/* The two tensors that aren't scalars; false: there are more or fewer, or factors that only
 * the general method treats. */
static bool is_unary(const solver *s, u32 pair[2]) {
  u32 n = 0;
  for (u32 t = 0; t < s->num_tensors; t++) {
    if (rule_rank(s->r, t) == 0) continue;
    if (n == 2) return false;
    pair[n++] = t;
    for (u32 d = 0; d < rule_rank(s->r, t); d++) {
      u32 count;
      dim_places(s->r, t, d, &count);
      if (count > 1) return false;
    }
  }
  for (u32 f = 0; f < s->num_factors; f++)
    if (kind_of(s, f) == FACTOR_REPLICATE) return false;
  return n == 2;
}

static bool permutes(const solver *s, u32 t) {
  for (u32 f = 0; f < s->num_factors; f++)
    if (kind_of(s, f) == FACTOR_PERMUTATION && axes_of(s, t, f).len) return true;
  return false;
}

/* Whatever the sizes are. */
static bool may_decide(const solver *s, u32 t) {
  return as_shardy(s) ? !permutes(s, t) : s->p->tensors[t] != NULL;
}

static bool decides(const solver *s, u32 y, u32 x) {
  bool may = may_decide(s, y);
  if (may != may_decide(s, x)) return may;
  if (s->p->sizes[y] != s->p->sizes[x]) return s->p->sizes[y] > s->p->sizes[x];
  return total_parts(s, y) > total_parts(s, x);
}

static void solve_unary(solver *s, u32 x, u32 y) {
  if (decides(s, y, x)) {
    u32 t = x;
    x = y, y = t;
  }
  axis_vec used = {0};
  for (u32 f = 0; f < s->num_factors; f++) {
    if (!present(s, x, f)) continue;
    s->out[f] = axes_of(s, x, f);
    for (size_t i = 0; i < s->out[f].len; i++) VEC_PUSH(s->a, used, s->out[f].data[i]);
  }
  for (u32 f = 0; f < s->num_factors; f++)
    if (present(s, y, f) && !present(s, x, f))
      s->out[f] = axes_truncate_overlaps(s->a, axes_of(s, y, f), axis_vec_list(&used));
}

/* ---- the general method ---- */

/* A factor waits until the ones directly major to it, in any tensor, are sharded to the end:
 * otherwise shards would not be contiguous. */
static bool is_ready(const solver *s, u32 f) {
  for (u32 t = 0; t < s->num_tensors; t++)
    for (u32 d = 0; d < rule_rank(s->r, t); d++) {
      u32 count;
      const u32 *places = dim_places(s->r, t, d, &count);
      for (u32 k = 1; k < count; k++)
        if (places[k] == f && !s->full[places[k - 1]]) return false;
    }
  return true;
}

static void collect(solver *s, candidates *c) {
  for (u32 t = 0; t < s->num_tensors; t++)
    for (u32 f = 0; f < s->num_factors; f++) {
      axis_list l = axes_of(s, t, f);
      for (; l.len; l.len--) {
        bool known = false;
        for (size_t i = 0; i < c->len; i++)
          known |= c->data[i].factor == f && axes_eq(c->data[i].axes, l);
        if (!known) VEC_PUSH(s->a, *c, ((candidate){f, l, 0, axes_size(l)}));
      }
    }
  for (size_t i = 0; i < c->len; i++) {
    candidate *x = &c->data[i];
    for (u32 t = 0; t < s->num_tensors; t++)
      if (axes_of(s, t, x->factor).len &&
          axes_prefix_of(x->axes, axes_of(s, t, x->factor)) != AXES_NOT_PREFIX)
        if (!checked_add(x->source_size, s->p->sizes[t], &x->source_size))
          x->source_size = INT64_MAX;
  }
}

static int compare_named(const mesh *m, axis_ref x, axis_ref y) {
  int c = x.axis == y.axis ? 0 : str_cmp(m->axes[x.axis].name, m->axes[y.axis].name);
  if (c) return c;
  return x.pre != y.pre ? (x.pre > y.pre) - (x.pre < y.pre) : (x.size > y.size) - (x.size < y.size);
}

static int compare_axes(const solver *s, axis_list x, axis_list y) {
  int longer = (x.len > y.len) - (x.len < y.len);
  if (as_shardy(s) && longer) return longer;
  for (size_t i = 0; i < x.len && i < y.len; i++) {
    int c = as_shardy(s) ? compare_named(s->p->mesh, x.data[i], y.data[i])
                         : axis_cmp(x.data[i], y.data[i]);
    if (c) return c;
  }
  return longer;
}

/* Of two candidates that save as much: passed through before reduced, permuted, replicated. */
static int factor_precedence(u8 kind) {
  static const int of[] = {
      [FACTOR_PASS] = 3, [FACTOR_REDUCTION] = 2, [FACTOR_PERMUTATION] = 1, [FACTOR_REPLICATE] = 0};
  return of[kind];
}

static bool better(const solver *s, const candidate *x, const candidate *y) {
  if (x->source_size != y->source_size) return x->source_size > y->source_size;
  int px = factor_precedence(kind_of(s, x->factor)), py = factor_precedence(kind_of(s, y->factor));
  if (px != py) return px > py;
  if (x->new_parts != y->new_parts) return x->new_parts > y->new_parts;
  if (x->factor != y->factor) return x->factor > y->factor;
  return compare_axes(s, x->axes, y->axes) > 0;
}

static bool pick(const solver *s, const candidates *c, candidate *best) {
  bool found = false;
  for (size_t i = 0; i < c->len; i++) {
    if (!is_ready(s, c->data[i].factor)) continue;
    if (!found || better(s, &c->data[i], best)) *best = c->data[i];
    found = true;
  }
  return found;
}

/* Trims a candidate after a pick; false: it adds nothing to its factor any more. */
static bool narrow(const solver *s, candidate *x, const candidate *best) {
  i64 have = axes_size(s->out[x->factor]);
  if (x->factor == best->factor) {
    if (axes_prefix_of(best->axes, x->axes) != AXES_STRICT_PREFIX) return false;
  } else if (as_shardy(s) || axes_clash(x->axes, best->axes)) {
    axis_list cut = axes_truncate_overlaps(s->a, x->axes, best->axes);
    if (as_shardy(s) && axes_eq(cut, x->axes)) {
      have = 1;
    } else {
      x->axes = cut;
      if (axes_eq(cut, s->out[x->factor]) || (cut.len == 0 && !as_shardy(s))) return false;
    }
  }
  x->new_parts = axes_size(x->axes) / have;
  return true;
}

static void solve_general(solver *s) {
  candidates c = {0};
  candidate best = {0};
  for (u32 f = 0; f < s->num_factors; f++) s->full[f] = !as_shardy(s) && s->r->factors[f].size <= 1;
  collect(s, &c);
  while (c.len && pick(s, &c, &best)) {
    s->out[best.factor] = best.axes;
    if (axes_size(best.axes) == s->r->factors[best.factor].size) s->full[best.factor] = true;
    size_t kept = 0;
    for (size_t i = 0; i < c.len; i++)
      if (narrow(s, &c.data[i], &best)) c.data[kept++] = c.data[i];
    c.len = kept;
  }
}

static bool in_all_tensors(const solver *s, u32 f) {
  for (u32 t = 0; t < s->num_tensors; t++)
    if (rule_rank(s->r, t) && !present(s, t, f)) return false;
  return true;
}

/* Moves the first of `from` behind those of `to`, a factor of this size, while they divide it. */
static void axes_fill(arena *a, axis_list *to, i64 size, axis_list *from) {
  i64 parts = axes_size(*to);
  if (!size || size % parts) return;
  axis_vec v = {0};
  for (size_t i = 0; i < to->len; i++) VEC_PUSH(a, v, to->data[i]);
  for (i64 room = size / parts; from->len && room % from->data[0].size == 0;
       *from = axes_slice(*from, 1, from->len - 1)) {
    room /= from->data[0].size;
    axes_add_or_merge(a, &v, from->data[0]);
  }
  *to = axis_vec_list(&v);
}

/* Axes that a factor must not have keep their devices busy along batching factors. */
static void move_to_batching(solver *s, u32 from) {
  axis_list l = s->out[from];
  s->out[from] = (axis_list){0};
  if (!in_all_tensors(s, from)) return;
  for (u32 f = 0; f < s->num_factors && l.len; f++) {
    if (kind_of(s, f) == FACTOR_PASS && in_all_tensors(s, f))
      axes_fill(s->a, &s->out[f], s->r->factors[f].size, &l);
  }
}

/* ---- what the answer must keep to ---- */

/* The longest beginning of `l` whose parts divide n. */
static axis_list dividing(axis_list l, i64 n) {
  size_t len = 0;
  for (i64 parts = 1; len < l.len; len++) {
    if (!checked_mul(parts, l.data[len].size, &parts) || n % parts) break;
  }
  return axes_slice(l, 0, len);
}

static bool keep_dim(solver *s, u32 t, u32 d) {
  u32 count;
  const u32 *places = dim_places(s->r, t, d, &count);
  i64 size = s->p->types[t]->dims.data[d], parts = 1;
  bool open = true, changed = false; /* open: all factors so far are sharded to the end */
  for (u32 k = 0; k < count && !pads(s, places[k]); k++) {
    axis_list *l = &s->out[places[k]];
    axis_list keep = open && size > 0 ? dividing(*l, size / parts) : (axis_list){0};
    if (size > 0 && size % parts) keep.len = 0;
    changed |= keep.len != l->len;
    *l = keep;
    parts *= axes_size(keep);
    open = open && axes_size(keep) == s->r->factors[places[k]].size;
  }
  return changed;
}

static void keep_rules(solver *s) {
  for (u32 f = 0; f < s->num_factors; f++) {
    if (kind_of(s, f) == FACTOR_REPLICATE) s->out[f].len = 0;
    i64 size = s->r->factors[f].size;
    if (!pads(s, f)) s->out[f] = size > 0 ? dividing(s->out[f], size) : (axis_list){0};
    if (s->p->unreduced.len && kind_of(s, f) != FACTOR_REDUCTION)
      s->out[f] = axes_truncate_overlaps(s->a, s->out[f], s->p->unreduced);
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (u32 t = 0; t < s->num_tensors; t++)
      for (u32 d = 0; d < rule_rank(s->r, t); d++) changed |= keep_dim(s, t, d);
  }
}

void common_axes(arena *a, const axes_problem *p, axis_list *out) {
  solver s = {.a = a,
              .p = p,
              .r = p->rule,
              .num_tensors = rule_num_tensors(p->rule),
              .num_factors = p->rule->num_factors,
              .out = out};
  s.full = arena_zalloc(a, s.num_factors);
  s.present = p->present ? p->present : find_present(&s);
  s.axes = p->factors ? p->factors : project(&s);
  memset(out, 0, s.num_factors * sizeof(*out));
  u32 pair[2];
  if (!all_agree(&s)) {
    memset(out, 0, s.num_factors * sizeof(*out));
    if (is_unary(&s, pair)) {
      solve_unary(&s, pair[0], pair[1]);
    } else {
      solve_general(&s);
      for (u32 f = 0; f < s.num_factors; f++)
        if (kind_of(&s, f) == FACTOR_REPLICATE) move_to_batching(&s, f);
    }
  }
  if (!as_shardy(&s)) keep_rules(&s);
}

const sharding *common_sharding(arena *a, const axes_problem *p, u32 t, const axis_list *axes) {
  const rule *r = p->rule;
  u32 rank = rule_rank(r, t);
  axis_list *dims = ARENA_ARRAY(a, axis_list, rank);
  for (u32 d = 0; d < rank; d++) {
    u32 count;
    const u32 *places = dim_places(r, t, d, &count);
    axis_vec v = {0};
    for (u32 k = 0; k < count; k++)
      for (size_t i = 0; i < axes[places[k]].len; i++)
        axes_add_or_merge(a, &v, axes[places[k]].data[i]);
    dims[d] = axis_vec_list(&v);
  }
  return sharding_make_closed(a, p->mesh, dims, rank);
}
