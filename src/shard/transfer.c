/* One step: shardings of an op's tensors by factor, made to agree.
 *
 * Shardings are projected: each dimension's axes are dealt to its factors, major first. Then each
 * factor is looked at over all tensors, by the basic strategy (what all have in common and none
 * forbids) or the aggressive one (conflicts between factors are settled by size), and the result is
 * projected back. A pure function of interned values, which is why the engine may remember it.
 * Sources: shardy/dialect/sdy/transforms/propagation: sharding_projection.cc, basic_ and
 * aggressive_factor_propagation.cc. */
#include "shard/transfer.h"

/* The sharding of one factor in one tensor. */
typedef struct cell {
  axis_vec axes;
  axis_vec overflow; /* axes that don't divide the factor and shut out the minor ones */
  bool present, closed, minor_most;
} cell;

struct projection {
  arena *a;
  shard_space *space;
  const rule *rule;
  const mesh *mesh;
  transfer_mode mode;
  const sharding *const *in;
  cell *cells; /* [tensor][factor] */
};

static cell *cell_at(const projection *p, u32 t, u32 f) {
  return &p->cells[(size_t)t * p->rule->num_factors + f];
}

/* Empty meshes fit any; NULL where two differ, in which case the op propagates nothing. */
const mesh *shardings_common_mesh(const sharding *const *list, size_t n) {
  const mesh *m = NULL;
  for (size_t i = 0; i < n; i++) {
    const mesh *other = list[i] ? list[i]->mesh : NULL;
    if (!other || other == m) continue;
    if (!m || mesh_is_empty(m))
      m = other;
    else if (!mesh_is_empty(other) && !mesh_same(m, other, false))
      return NULL;
  }
  return m;
}

/* ---- to factors ---- */

/* What is left of a dimension's axes. */
typedef struct rest {
  axis_list axes;
  size_t i;
  axis_ref cur; /* the part of axes.data[i] not used yet */
} rest;

static bool rest_any(const rest *r) { return r->i < r->axes.len; }
static void rest_next(rest *r) {
  if (++r->i < r->axes.len) r->cur = r->axes.data[r->i];
}
static void take_all(projection *p, axis_vec *v, rest *r) {
  for (; rest_any(r); rest_next(r)) axes_add_or_merge(p->a, v, r->cur);
}

/* Fills a factor that isn't the minor-most with whatever divides it. True: axes that don't are
 * left over. */
static bool fill_factor(projection *p, cell *c, rest *r, i64 size) {
  i64 g = 1;
  while (rest_any(r) && (r->cur.size == 1 || (g = gcd_i64(size, r->cur.size)) > 1)) {
    if (r->cur.size > g) {
      VEC_PUSH(p->a, c->axes, ((axis_ref){r->cur.axis, r->cur.pre, g}));
      r->cur.pre *= g;
      r->cur.size /= g;
      size /= g;
    } else {
      VEC_PUSH(p->a, c->axes, r->cur);
      size /= r->cur.size;
      rest_next(r);
    }
  }
  if (size <= 1 || !rest_any(r)) return false;
  take_all(p, &c->overflow, r);
  return true;
}

static void project_dim(projection *p, u32 t, u32 d) {
  const rule *r = p->rule;
  u32 at = r->dim_begin[r->tensor_begin[t] + d], end = r->dim_begin[r->tensor_begin[t] + d + 1];
  const dim_sharding *s = p->in[t] ? &p->in[t]->dims[d] : NULL;
  rest left = {s ? s->axes : (axis_list){0}, 0, {0}};
  if (left.axes.len) left.cur = left.axes.data[0];
  bool overflow = false;
  for (; at < end; at++) {
    cell *c = cell_at(p, t, r->places[at]);
    c->present = true;
    c->minor_most = at + 1 == end;
    c->closed = overflow || (s && s->closed);
    if (overflow) return; /* minor ones are out of reach: they don't take part */
    if (c->minor_most)
      take_all(p, &c->axes, &left);
    else
      overflow = fill_factor(p, c, &left, r->factors[r->places[at]].size);
  }
}

/* ---- and back ---- */

static i64 add_axes(projection *p, axis_vec *dim, const axis_vec *axes) {
  i64 size = 1;
  for (size_t i = 0; i < axes->len; i++) {
    if (i == 0)
      axes_add_or_merge(p->a, dim, axes->data[i]);
    else
      VEC_PUSH(p->a, *dim, axes->data[i]);
    if (!checked_mul(size, axes->data[i].size, &size)) size = INT64_MAX;
  }
  return size;
}

/* Stops at a factor that is not full: axes on a minor factor would then shard with a stride, which
 * a dimension's list cannot say. */
static dim_sharding unproject_dim(projection *p, u32 t, u32 d) {
  const rule *r = p->rule;
  u32 at = r->dim_begin[r->tensor_begin[t] + d], end = r->dim_begin[r->tensor_begin[t] + d + 1];
  dim_sharding out = {.priority = PRIORITY_NONE};
  axis_vec axes = {0};
  for (; at < end; at++) {
    const cell *c = cell_at(p, t, r->places[at]);
    out.closed |= c->closed;
    i64 size = add_axes(p, &axes, &c->axes);
    if (c->overflow.len) {
      add_axes(p, &axes, &c->overflow);
      break;
    }
    if (size < r->factors[r->places[at]].size) break; /* the rest would be strided */
  }
  out.axes = axis_vec_list(&axes);
  return out;
}

static const sharding *unproject(projection *p, u32 t) {
  sharding s = {.mesh = p->mesh, .rank = rule_rank(p->rule, t)};
  dim_sharding *dims = ARENA_ARRAY(p->a, dim_sharding, s.rank);
  for (u32 d = 0; d < s.rank; d++) dims[d] = unproject_dim(p, t, d);
  s.dims = dims;
  if (p->in[t]) {
    s.replicated = p->in[t]->replicated;
    s.unreduced = p->in[t]->unreduced;
    s.unreduced_kind = p->in[t]->unreduced_kind;
  }
  return shard_intern(p->space, &s);
}

/* Only ever adds axes: a sharding that is there is never taken back. */
static bool expand(projection *p, u32 t, u32 f, axis_list axes) {
  cell *c = cell_at(p, t, f);
  if (!c->present || axes_prefix_of(axis_vec_list(&c->axes), axes) != AXES_STRICT_PREFIX)
    return false;
  axis_list copy = axes_copy(p->a, axes);
  c->axes.data = (axis_ref *)copy.data;
  c->axes.len = c->axes.cap = copy.len;
  return true;
}

/* ---- what tensors have in common ---- */

/* The major axes that `old` and `new` share, with what either adds; *grow says whether more may
 * be added (it stays false once the lists disagree). */
static axis_list common_major(projection *p, axis_list old, axis_list new, bool *grow) {
  axis_vec out = {0};
  size_t n = min_size(old.len, new.len);
  for (size_t i = 0; i < n; i++) {
    axis_ref a = old.data[i], b = new.data[i];
    if (axis_eq(a, b)) {
      VEC_PUSH(p->a, out, b);
    } else if (a.axis == b.axis && axis_prefix_of(b, a)) {
      /* the new list ends with a part of the old axis, or goes on otherwise */
      bool last = i + 1 == new.len;
      VEC_PUSH(p->a, out, last ? a : b);
      if (!last) return *grow = false, axis_vec_list(&out);
    } else if (a.axis == b.axis && axis_prefix_of(a, b)) {
      bool may = *grow && i + 1 == old.len;
      VEC_PUSH(p->a, out, may ? b : a);
      if (!may) return *grow = false, axis_vec_list(&out);
    } else {
      return *grow = false, axis_vec_list(&out);
    }
  }
  for (size_t i = n; i < old.len; i++) VEC_PUSH(p->a, out, old.data[i]);
  for (size_t i = n; *grow && i < new.len; i++) VEC_PUSH(p->a, out, new.data[i]);
  return axis_vec_list(&out);
}

/* Ignores conflicts with other factors. Tensors of the side that shardings come from may add
 * axes, the others only take away. */
static axis_list compatible_major(projection *p, u32 f, direction dir) {
  axis_list out = {0};
  if (dir == DIR_NONE) return out;
  const rule *r = p->rule;
  bool grow = true;
  for (u32 side = 0; side < 2; side++) {
    bool results = (side == 1) != (dir == DIR_BACKWARD);
    if (side == 1 && dir != DIR_BOTH) grow = false;
    u32 t = results ? r->num_operands : 0, end = results ? rule_num_tensors(r) : r->num_operands;
    for (; t < end; t++) {
      const cell *c = cell_at(p, t, f);
      if (c->present) out = common_major(p, out, axis_vec_list(&c->axes), &grow);
    }
  }
  return out;
}

static direction direction_along(const projection *p, u32 f) {
  const factor *fa = &p->rule->factors[f];
  if (fa->blocked) return DIR_NONE;
  return fa->kind == FACTOR_PASS ? p->mode.pass : p->mode.other;
}

/* ---- conflicts ---- */

/* The major part of `axis` that no other factor of the tensor uses. */
static bool beside_other_factors(const projection *p, u32 t, u32 f, axis_ref *axis) {
  for (u32 other = 0; other < p->rule->num_factors; other++) {
    const cell *c = cell_at(p, t, other);
    if (other == f || !c->present) continue;
    if (!axes_prefix_without(*axis, axis_vec_list(&c->overflow), axis)) return false;
    if (!axes_prefix_without(*axis, axis_vec_list(&c->axes), axis)) return false;
  }
  return true;
}

/* The major part of `axis` that factor f of the tensor has or can take, after axes that shard it
 * in `before` parts. */
static bool within_factor(const projection *p, u32 t, u32 f, i64 before, axis_ref *axis) {
  const sharding *s = p->in[t];
  if (s && !axes_prefix_without(*axis, s->replicated, axis)) return false;
  if (s && !axes_prefix_without(*axis, s->unreduced, axis)) return false;
  const cell *c = cell_at(p, t, f);
  for (size_t i = 0; i < c->axes.len; i++)
    if (axis_contains(c->axes.data[i], *axis)) return true;
  if (!c->closed && !c->overflow.len) {
    if (c->minor_most) return true;
    i64 size = p->rule->factors[f].size;
    if (size % before == 0) {
      i64 g = gcd_i64(size / before, axis->size);
      if (g == axis->size) return true;
      if (g != 1) {
        axis->size = g;
        return true;
      }
    }
  }
  if (!c->axes.len || !axis_prefix_of(c->axes.data[c->axes.len - 1], *axis)) return false;
  *axis = c->axes.data[c->axes.len - 1];
  return true;
}

/* Asks every tensor, and gives what all of them allow. */
static bool in_all_tensors(const projection *p, u32 t, u32 f, i64 before, axis_ref *axis) {
  (void)t;
  for (u32 i = 0; i < rule_num_tensors(p->rule); i++) {
    if (!beside_other_factors(p, i, f, axis)) return false;
    if (cell_at(p, i, f)->present && !within_factor(p, i, f, before, axis)) return false;
  }
  return true;
}

static bool in_tensor_beside(const projection *p, u32 t, u32 f, i64 before, axis_ref *axis) {
  (void)before;
  return beside_other_factors(p, t, f, axis);
}

typedef bool allow_fn(const projection *p, u32 t, u32 f, i64 before, axis_ref *axis);

/* Cuts the list at the first axis that isn't allowed whole, keeping the part that is. */
static axis_list allowed(projection *p, axis_list axes, u32 t, u32 f, allow_fn *fn) {
  i64 before = 1;
  for (size_t i = 0; i < axes.len; i++) {
    axis_ref part = axes.data[i];
    if (!fn(p, t, f, before, &part) || (p->mode.conservative && !axis_is_whole(p->mesh, part)))
      return axes_slice(axes, 0, i);
    if (!axis_eq(part, axes.data[i])) {
      axis_ref *out = arena_copy(p->a, axes.data, (i + 1) * sizeof *out);
      out[i] = part;
      return (axis_list){out, i + 1};
    }
    if (!checked_mul(before, part.size, &before)) return axes_slice(axes, 0, i);
  }
  return axes;
}

/* ---- the strategies: mark which tensors change ---- */

static bool propagate_basic(projection *p, bool *changed) {
  bool any = false;
  for (u32 f = 0; f < p->rule->num_factors; f++) {
    axis_list axes = compatible_major(p, f, direction_along(p, f));
    axes = allowed(p, axes, 0, f, in_all_tensors);
    for (u32 t = 0; t < rule_num_tensors(p->rule); t++)
      if (expand(p, t, f, axes)) changed[t] = any = true;
  }
  return any;
}

/* Which factor goes first: that of the larger source tensor, then (elementwise ops) the one that
 * is sharded more, then that of the earlier tensor, then the earlier factor. */
typedef struct rank_key {
  i64 size, shards, tensor;
  u32 factor;
} rank_key;

static bool ranks_before(const rank_key *a, const rank_key *b) {
  if (a->size != b->size) return a->size > b->size;
  if (a->shards != b->shards) return a->shards > b->shards;
  if (a->tensor != b->tensor) return a->tensor < b->tensor;
  return a->factor < b->factor;
}

static void rank_factors(const projection *p, const axis_list *axes, rank_key *keys) {
  const rule *r = p->rule;
  for (u32 f = 0; f < r->num_factors; f++)
    keys[f] = (rank_key){-1, p->mode.elementwise ? axes_size(axes[f]) : 0, -1, f};
  for (u32 t = 0; t < rule_num_tensors(r); t++) {
    u64 size = 1; /* wraps like the tensor's element count would */
    for (u32 f = 0; f < r->num_factors; f++)
      if (cell_at(p, t, f)->present) size *= (u64)r->factors[f].size;
    for (u32 f = 0; f < r->num_factors; f++) {
      const cell *c = cell_at(p, t, f);
      bool source = c->present && axes[f].len &&
                    axes_prefix_of(axes[f], axis_vec_list(&c->axes)) != AXES_NOT_PREFIX;
      if (source && (i64)size > keys[f].size) {
        keys[f].size = (i64)size;
        keys[f].tensor = t;
      }
    }
  }
  for (u32 i = 1; i < r->num_factors; i++) { /* few factors */
    rank_key k = keys[i];
    u32 at = i;
    for (; at > 0 && ranks_before(&k, &keys[at - 1]); at--) keys[at] = keys[at - 1];
    keys[at] = k;
  }
}

/* Elementwise: an operand gets no more of a factor than a result has, if a result has some. */
static axis_list clip_to_results(const projection *p, u32 f, axis_list axes) {
  for (u32 t = p->rule->num_operands; t < rule_num_tensors(p->rule); t++) {
    const cell *c = cell_at(p, t, f);
    axis_list l = axis_vec_list(&c->axes);
    if (c->present && axes_prefix_of(l, axes) == AXES_STRICT_PREFIX) axes = l;
  }
  return axes;
}

static bool spread(projection *p, const axis_list *axes, const rank_key *order, u32 t) {
  bool any = false;
  for (u32 i = 0; i < p->rule->num_factors; i++) {
    u32 f = order[i].factor;
    const cell *c = cell_at(p, t, f);
    if (!c->present || !axes[f].len) continue;
    axis_list l = allowed(p, axes[f], t, f, within_factor);
    if (axes_prefix_of(axis_vec_list(&c->axes), l) != AXES_STRICT_PREFIX) continue;
    l = allowed(p, l, t, f, in_tensor_beside);
    if (!l.len) continue;
    if (p->mode.elementwise && t < p->rule->num_operands) l = clip_to_results(p, f, l);
    any |= expand(p, t, f, l);
  }
  return any;
}

/* Results before operands, so that operands of elementwise ops can be clipped to what results
 * got. */
static bool propagate_aggressive(projection *p, bool *changed) {
  const rule *r = p->rule;
  axis_list *axes = ARENA_ARRAY(p->a, axis_list, r->num_factors);
  bool any = false;
  for (u32 f = 0; f < r->num_factors; f++) {
    axes[f] = compatible_major(p, f, direction_along(p, f));
    any |= axes[f].len > 0;
  }
  if (!any) return false;
  rank_key *order = ARENA_ARRAY(p->a, rank_key, r->num_factors);
  rank_factors(p, axes, order);
  any = false;
  for (u32 t = r->num_operands; t < rule_num_tensors(r); t++)
    any |= changed[t] = spread(p, axes, order, t);
  for (u32 t = 0; t < r->num_operands; t++) any |= changed[t] = spread(p, axes, order, t);
  return any;
}

static bool project(projection *p) {
  u32 n = rule_num_tensors(p->rule);
  p->mesh = shardings_common_mesh(p->in, n);
  if (!p->mesh || mesh_is_maximal(p->mesh)) return false;
  p->cells = arena_zalloc(p->a, ((size_t)n * p->rule->num_factors + 1) * sizeof(cell));
  for (u32 t = 0; t < n; t++) {
    if (p->in[t] && p->in[t]->rank != rule_rank(p->rule, t)) return false;
    for (u32 d = 0; d < rule_rank(p->rule, t); d++) project_dim(p, t, d);
  }
  return true;
}

static bool run_strategy(projection *p, bool *changed) {
  return p->mode.aggressive ? propagate_aggressive(p, changed) : propagate_basic(p, changed);
}

static axis_list *copy_cells(const projection *p) {
  size_t n = (size_t)rule_num_tensors(p->rule) * p->rule->num_factors;
  axis_list *out = ARENA_ARRAY(p->a, axis_list, n + 1);
  for (size_t i = 0; i < n; i++) out[i] = axes_copy(p->a, axis_vec_list(&p->cells[i].axes));
  return out;
}

bool transfer_factors(shard_space *s, arena *scratch, const rule *r, transfer_mode mode,
                      const sharding *const *in, axis_list **before, axis_list **after) {
  projection p = {.a = scratch, .space = s, .rule = r, .mode = mode, .in = in};
  if (!project(&p)) return false;
  *before = copy_cells(&p);
  if (!after) return true;
  run_strategy(&p, arena_zalloc(scratch, rule_num_tensors(r) + 1));
  *after = copy_cells(&p);
  return true;
}

bool transfer(shard_space *s, arena *scratch, const rule *r, transfer_mode mode,
              const sharding *const *in, const sharding **out) {
  u32 n = rule_num_tensors(r);
  projection p = {.a = scratch, .space = s, .rule = r, .mode = mode, .in = in};
  if (!project(&p)) return false;
  bool *changed = arena_zalloc(scratch, n + 1);
  if (!run_strategy(&p, changed)) return false;
  bool any = false;
  for (u32 t = 0; t < n; t++) {
    out[t] = changed[t] ? unproject(&p, t) : NULL;
    if (out[t] == in[t] || (!in[t] && out[t] && sharding_has_no_axes(out[t]))) out[t] = NULL;
    any |= out[t] != NULL;
  }
  return any;
}

/* ---- for others ---- */

projection *projection_make(shard_space *s, arena *a, const rule *r, const sharding *const *in) {
  projection *p = ARENA_NEW(a, projection);
  *p = (projection){.a = a, .space = s, .rule = r, .in = in};
  if (!project(p)) return NULL;
  for (u32 t = 0; t < rule_num_tensors(r); t++)
    for (u32 f = 0; !in[t] && f < r->num_factors; f++) cell_at(p, t, f)->closed = true;
  return p;
}

projected projection_get(const projection *p, u32 t, u32 f) {
  const cell *c = cell_at(p, t, f);
  return (projected){axis_vec_list(&c->axes), axis_vec_list(&c->overflow), c->present};
}

static void cell_set(projection *p, axis_vec *v, axis_list l) {
  *v = (axis_vec){0};
  for (size_t i = 0; i < l.len; i++) VEC_PUSH(p->a, *v, l.data[i]);
}

bool projection_set(projection *p, u32 t, u32 f, axis_list axes, axis_list overflow) {
  cell *c = cell_at(p, t, f);
  bool same =
      axes_eq(axis_vec_list(&c->axes), axes) && axes_eq(axis_vec_list(&c->overflow), overflow);
  if (!c->present || same) return false;
  cell_set(p, &c->axes, axes);
  cell_set(p, &c->overflow, overflow);
  return true;
}

const sharding *projection_sharding(projection *p, u32 t) { return unproject(p, t); }
