/* Meshes, shardings and sharding rules.
 *
 * Shardy's verifiers (shardy/dialect/sdy/ir/verifiers.cc) in their order and words; the terms are
 * those of sharding_representation.md. checker_enter_module is called for each module before its
 * ops, everything else for the ops that carry attributes. After these pass, later stages need not
 * check names, sizes or overlaps. */
#include <stdlib.h>

#include "dialect/mpmd.h"
#include "dialect/verify.h"

/* ---- meshes ---- */

/* In k->meshes under a hash of the name; names that collide are told apart when found. */
typedef struct named_mesh {
  str name;
  const mesh_attr *mesh;
} named_mesh;

static u64 hash_name(str name) { return hash_bytes(name.data, name.len, 0); }

static const mesh_attr *mesh_named(const checker *k, str name) {
  const named_mesh *n;
  u64 h = hash_name(name);
  for (size_t at = 0; (n = index_next(&k->meshes, h, &at));)
    if (str_eq(n->name, name)) return n->mesh;
  return NULL;
}

const mesh_attr *checker_mesh(const checker *k, const attr *mesh_or_ref) {
  if (!attr_is(symbol_ref, mesh_or_ref)) return attr_as(mesh, mesh_or_ref);
  return mesh_named(k, symbol_of(mesh_or_ref));
}

bool checker_enter_module(checker *k, const op *module) {
  k->meshes = (hash_index){0};
  for (const op *o = op_body(module, 0)->first; o; o = o->next) {
    struct sdy_mesh_attrs a;
    if (!op_is(o, sdy_mesh) || !view_sdy_mesh(o, &a)) continue;
    if (!check_mesh(k, o, a.mesh)) return false;
    if (mesh_named(k, a.sym_name)) continue; /* an error, which is said later */
    named_mesh *n = ARENA_NEW(k->scratch, named_mesh);
    *n = (named_mesh){a.sym_name, a.mesh};
    index_add(&k->meshes, k->scratch, hash_name(n->name), n);
  }
  return true;
}

static const mesh_axis_attr *axis_at(const mesh_attr *m, size_t i) {
  return attr_as(mesh_axis, m->axes.data[i]);
}

/* Up to as many, a loop is faster than a table, and meshes have two or three axes; beyond, looking
 * through the list for each reference would be quadratic in a text of any length. */
enum { FEW = 32 };

/* The first of that name. */
static const attr *const *indexed_axis(const checker *k, str name) {
  const attr *const *a;
  u64 h = hash_name(name);
  for (size_t at = 0; (a = index_next(&k->axes, h, &at));)
    if (str_eq(((const mesh_axis_attr *)*a)->name, name)) return a;
  return NULL;
}

static void index_axes(checker *k, const mesh_attr *m) {
  k->axes_of = m;
  k->axes = (hash_index){0};
  for (size_t i = 0; i < m->axes.len; i++) {
    const mesh_axis_attr *a = axis_at(m, i);
    if (!a || indexed_axis(k, a->name)) continue;
    index_add(&k->axes, k->scratch, hash_name(a->name), (void *)(uintptr_t)&m->axes.data[i]);
  }
}

static const mesh_axis_attr *axis_named(checker *k, const mesh_attr *m, str name, size_t *index) {
  if (m->axes.len <= FEW) {
    for (size_t i = 0; i < m->axes.len; i++)
      if (str_eq(axis_at(m, i)->name, name)) return *index = i, axis_at(m, i);
    return NULL;
  }
  if (k->axes_of != m) index_axes(k, m);
  const attr *const *a = indexed_axis(k, name);
  if (!a) return NULL;
  *index = (size_t)(a - m->axes.data);
  return axis_at(m, *index);
}

/* A permutation of all devices of the mesh, other than the usual order, which is left out. */
static bool check_device_ids(checker *k, const op *o, i64s ids, i64 size) {
  if ((i64)ids.len != size)
    return op_error(k->c, o,
                    "total product of axis sizes must match total number of device ids, got: %lld "
                    "!= %zu",
                    (long long)size, ids.len);
  u64 *seen = arena_zalloc(k->scratch, (ids.len / 64 + 1) * 8);
  bool sorted = true;
  for (size_t i = 0; i < ids.len; i++) {
    i64 id = ids.data[i];
    sorted = sorted && id == (i64)i;
    if (id >= size || seen[id / 64] >> (id % 64) & 1)
      return op_error(k->c, o, "sorted device ids must be iota(product(axes)), got: %s",
                      show_dims(k, ids));
    seen[id / 64] |= 1ull << (id % 64);
  }
  if (!sorted) return true;
  return op_error(k->c, o,
                  "if the ordered device ids are the same as iota(product(axes)), no need to "
                  "specify them for simplicity");
}

bool check_mesh(checker *k, const op *o, const mesh_attr *m) {
  i64 size = 1;
  for (size_t i = 0; i < m->device_ids.len; i++)
    if (m->device_ids.data[i] < 0)
      return op_error(k->c, o, "device id must be non-negative, got: %lld",
                      (long long)m->device_ids.data[i]);
  for (size_t i = 0; i < m->axes.len; i++) {
    const mesh_axis_attr *a = axis_at(m, i);
    size_t first = i;
    if (!a) return op_error(k->c, o, "a mesh has something else than axes");
    if (a->size < 1)
      return op_error(k->c, o, "axis size must be at least 1, got: %lld", (long long)a->size);
    axis_named(k, m, a->name, &first);
    if (first != i)
      return op_error(k->c, o, "duplicate axis name: \"" STR_FMT "\"", STR_ARG(a->name));
    if (!checked_mul(size, a->size, &size))
      return op_error(k->c, o, "the mesh has more than 2^63 devices");
  }
  if (m->axes.len == 0) {
    if (m->device_ids.len <= 1) return true;
    return op_error(k->c, o, "axes is empty and device_ids has more than one element");
  }
  return m->device_ids.len == 0 || check_device_ids(k, o, m->device_ids, size);
}

/* ---- axis references ---- */

const char *show_axis(checker *k, const axis_ref_attr *a) {
  if (!a->size) return arena_printf(k->scratch, "\"" STR_FMT "\"", STR_ARG(a->name)).data;
  return arena_printf(k->scratch, "\"" STR_FMT "\":(%lld)%lld", STR_ARG(a->name),
                      (long long)a->pre_size, (long long)a->size)
      .data;
}

/* A sub-axis: pre >= 1, size > 1, pre * size divides the axis, not all of it. */
static bool check_sub_axis(checker *k, const op *o, const axis_use *u, const axis_part *p,
                           i64 full) {
  i64 next;
  if (p->pre < 1)
    return op_error(k->c, o, "%ssub-axis pre-size must be at least 1: %s", u->where,
                    show_axis(k, p->ref));
  if (p->size <= 1)
    return op_error(k->c, o, "%ssub-axis sizes must be greater than 1: %s", u->where,
                    show_axis(k, p->ref));
  if (!checked_mul(p->pre, p->size, &next) || full % next)
    return op_error(
        k->c, o, "%ssub-axis next pre-size %lld doesn't divide the size of the full axis %lld: %s",
        u->where, (long long)(p->pre > full ? p->pre : next), (long long)full,
        show_axis(k, p->ref));
  if (p->size == full)
    return op_error(k->c, o, "%ssub-axis size is equal to the full axis size: %s", u->where,
                    show_axis(k, p->ref));
  return true;
}

static bool same_part(const axis_part *a, const axis_part *b) {
  return a->axis == b->axis && a->pre == b->pre && a->size == b->size && a->whole == b->whole;
}

static u64 hash_part(const axis_part *p) {
  return hash_u64(p->axis * 2 + p->whole, hash_u64((u64)p->pre, hash_u64((u64)p->size, 0)));
}

static bool is_seen(const axis_use *u, const axis_part *p) {
  void *number;
  if (u->parts.len <= FEW) {
    for (size_t i = 0; i < u->parts.len; i++)
      if (same_part(&u->parts.data[i], p)) return true;
    return false;
  }
  for (size_t at = 0; (number = index_next(&u->seen, hash_part(p), &at));)
    if (same_part(&u->parts.data[(uintptr_t)number - 1], p)) return true;
  return false;
}

static void add_part(checker *k, axis_use *u, axis_part p) {
  VEC_PUSH(k->scratch, u->parts, p);
  size_t n = u->parts.len;
  for (size_t i = n == FEW + 1 ? 0 : n - 1; n > FEW && i < n; i++)
    index_add(&u->seen, k->scratch, hash_part(&u->parts.data[i]), (void *)(uintptr_t)(i + 1));
}

/* A list of references, major to minor; remembers them in `u`. Sub-axes of one axis that follow one
 * another must be written as one ("a":(1)2, "a":(2)2 is "a":(1)4): the form is canonical so that
 * equal shardings are equal attributes. */
bool check_axes(checker *k, const op *o, axis_use *u, attrs list) {
  const axis_part *last = NULL;
  for (size_t i = 0; i < list.len; i++) {
    const axis_ref_attr *a = attr_as(axis_ref, list.data[i]);
    if (!a) return op_error(k->c, o, "%sexpected axis references", u->where);
    axis_part p = {.whole = a->size == 0, .ref = a, .pre = a->size ? a->pre_size : 1};
    const mesh_axis_attr *axis = axis_named(k, u->mesh, a->name, &p.axis);
    i64 next;
    if (!axis)
      return op_error(k->c, o, "%sunknown axis name: \"" STR_FMT "\"", u->where, STR_ARG(a->name));
    p.size = p.whole ? axis->size : a->size;
    if (is_seen(u, &p))
      return op_error(k->c, o, "%sduplicate axis ref: %s", u->where, show_axis(k, a));
    if (last && !last->whole && !p.whole && last->axis == p.axis &&
        checked_mul(last->pre, last->size, &next) && next == p.pre)
      return op_error(k->c, o, "%stwo consecutive sub-axes can be merged: %s, %s", u->where,
                      show_axis(k, last->ref), show_axis(k, a));
    add_part(k, u, p);
    last = &u->parts.data[u->parts.len - 1];
  }
  return true;
}

static int by_place(const void *x, const void *y) {
  const axis_part *a = x, *b = y;
  if (a->axis != b->axis) return a->axis < b->axis ? -1 : 1;
  if (a->whole != b->whole) return a->whole ? -1 : 1;
  if (a->pre != b->pre) return a->pre < b->pre ? -1 : 1;
  return (a->size > b->size) - (a->size < b->size);
}

/* The parts of each axis fit it and one another. Sorted by axis and pre-size, so that only
 * neighbours can overlap; a whole axis comes first and overlaps with any part. */
bool check_sub_axes(checker *k, const op *o, const axis_use *u) {
  size_t n = u->parts.len;
  axis_part *parts = arena_copy(k->scratch, u->parts.data, n * sizeof *parts);
  qsort(parts, n, sizeof *parts, by_place);
  for (size_t i = 0; i < n; i++) {
    const axis_part *p = &parts[i];
    const axis_part *q = i && parts[i - 1].axis == p->axis ? p - 1 : NULL;
    if (p->whole) continue;
    if (q && q->whole)
      return op_error(k->c, o,
                      "%sboth sub-axis and full-axis are used for axis name: \"" STR_FMT "\"",
                      u->where, STR_ARG(p->ref->name));
    if (!check_sub_axis(k, o, u, p, axis_at(u->mesh, p->axis)->size)) return false;
    if (q && q->pre * q->size > p->pre)
      return op_error(k->c, o, "%soverlapping sub-axes: %s, %s", u->where, show_axis(k, q->ref),
                      show_axis(k, p->ref));
  }
  return true;
}

/* The same, in the order of the mesh. */
bool check_sorted_axes(checker *k, const op *o, axis_use *u, attrs list, const char *what) {
  axis_part last = {0};
  for (size_t i = 0; i < list.len; i++) {
    const axis_ref_attr *a = attr_as(axis_ref, list.data[i]);
    axis_part p = {.whole = a && a->size == 0, .ref = a, .pre = a && a->size ? a->pre_size : 1};
    if (!a || !axis_named(k, u->mesh, a->name, &p.axis)) break; /* said below */
    p.size = a->size;
    bool before = i && (last.axis > p.axis || (last.axis == p.axis && last.pre > p.pre));
    if (before) return op_error(k->c, o, "%s%s axes are not ordered w.r.t. mesh", u->where, what);
    last = p;
  }
  return check_axes(k, o, u, list);
}

/* An axis that a computation around makes manual is not free for shardings inside. */
static bool check_not_manual(checker *k, const op *o, const axis_use *u) {
  for (const op *p = op_parent(o); p; p = op_parent(p)) {
    struct manual_computation_attrs a;
    if (!op_is(p, manual_computation) || !view_manual_computation(p, &a)) continue;
    for (size_t i = 0; i < u->parts.len; i++)
      for (size_t j = 0; j < a.manual_axes->axes.len; j++)
        if (str_eq(u->parts.data[i].ref->name,
                   ((const string_attr *)a.manual_axes->axes.data[j])->value)) {
          op_error(k->c, o,
                   "%soperates on axis \"" STR_FMT "\" which is already bound by a parent "
                   "sdy.manual_computation op",
                   u->where, STR_ARG(u->parts.data[i].ref->name));
          loc_note(k->c, p->loc, "parent bounding this axis as manual");
          return false;
        }
  }
  return true;
}

/* ---- shardings ---- */

/* All that a token, or a tensor on one device alone, may say. */
static bool has_rank_zero(const tensor_sharding_attr *s) {
  return s->dims.len == 0 && s->replicated.len == 0 && s->unreduced.len == 0;
}

static bool check_dim(checker *k, const op *o, axis_use *u, const attr *a, size_t dim) {
  const dim_sharding_attr *d = attr_as(dim_sharding, a);
  if (!d) return op_error(k->c, o, "%sexpected dimension shardings", u->where);
  if (d->priority < -1)
    return op_error(k->c, o, "%sdim %zu has a negative priority", u->where, dim);
  if (d->priority >= 0 && d->closed && d->axes.len == 0)
    return op_error(k->c, o, "%sdim %zu is empty and closed but has a priority", u->where, dim);
  return check_axes(k, o, u, d->axes);
}

/* Names first, then sizes and overlaps of all lists together, as an axis may be in one place only:
 * a dimension, or replicated, or unreduced. */
bool check_sharding(checker *k, const op *o, const tensor_sharding_attr *s, const type *t,
                    const char *where) {
  const mesh_attr *m = checker_mesh(k, s->mesh);
  if (!m) return op_error(k->c, o, "%sunknown mesh: @" STR_FMT, where, STR_ARG(symbol_of(s->mesh)));
  if (attr_is(mesh, s->mesh) && !check_mesh(k, o, m)) return false;
  return check_sharding_on(k, o, m, s, t, where);
}

bool check_sharding_on(checker *k, const op *o, const mesh_attr *m, const tensor_sharding_attr *s,
                       const type *t, const char *where) {
  axis_use u = {.mesh = m, .where = where};
  if (u.mesh->axes.len == 0 && u.mesh->device_ids.len == 1) {
    if (has_rank_zero(s)) return true;
    return op_error(
        k->c, o,
        "%sa maximal sharding can only have a sharding with rank 0 and no replicated or "
        "unreduced axes.",
        where);
  }
  if (t->kind == TYPE_TUPLE && t->types.len == 1) t = t->types.data[0];
  t = mpmd_whole(t);
  if (t->kind == TYPE_TUPLE)
    return op_error(k->c, o, "%sops can only have a sharding for a tuple of size 1: '%s'", where,
                    show(k, t));
  if (t->kind == TYPE_UNRANKED)
    return op_error(k->c, o, "%sonly ranked tensors can have a sharding. type: '%s'", where,
                    show(k, t));
  if (t->kind != TYPE_TENSOR) {
    if (has_rank_zero(s)) return true;
    return op_error(
        k->c, o,
        "%snon-shaped tensors can only have a sharding with rank 0 and no replicated or "
        "unreduced axes. type: '%s'",
        where, show(k, t));
  }
  if (s->dims.len != t->dims.len)
    return op_error(k->c, o, "%ssharding doesn't match tensor rank: %zu != %zu", where, s->dims.len,
                    t->dims.len);
  for (size_t i = 0; i < s->dims.len; i++)
    if (!check_dim(k, o, &u, s->dims.data[i], i)) return false;
  if (s->unreduced_kind && !attr_is(reduction_op, s->unreduced_kind))
    return op_error(k->c, o, "%sexpected a reduction kind", where);
  return check_sorted_axes(k, o, &u, s->replicated, "replicated") &&
         check_sorted_axes(k, o, &u, s->unreduced, "unreduced") && check_sub_axes(k, o, &u) &&
         check_not_manual(k, o, &u);
}

/* "result - ", or "result 1 - " of several. */
static const char *nth_value(checker *k, const char *what, size_t i, size_t n) {
  if (n == 1) return arena_printf(k->scratch, "%s - ", what).data;
  return arena_printf(k->scratch, "%s %zu - ", what, i).data;
}

bool check_shardings(checker *k, const op *o, const sharding_per_value_attr *s,
                     const type *const *t, size_t n, const char *what) {
  for (size_t i = 0; i < s->shardings.len; i++)
    if (!attr_is(tensor_sharding, s->shardings.data[i]))
      return op_error(k->c, o, "%s expected shardings", what);
  if (n == 0 && s->shardings.len == 1) { /* of an op without results: where it runs */
    const tensor_sharding_attr *one = attr_as(tensor_sharding, s->shardings.data[0]);
    const mesh_attr *m = checker_mesh(k, one->mesh);
    if (has_rank_zero(one) && m) return true;
    if (m && m->axes.len == 0 && m->device_ids.len == 1)
      return op_error(k->c, o,
                      "%s 0 - a maximal sharding can only have a sharding with rank 0 and no "
                      "replicated or unreduced axes.",
                      what);
  }
  if (s->shardings.len != n)
    return op_error(k->c, o,
                    "%s shardings don't match number of values: %zu shardings vs %zu values", what,
                    s->shardings.len, n);
  for (size_t i = 0; i < n; i++) {
    const tensor_sharding_attr *one = attr_as(tensor_sharding, s->shardings.data[i]);
    const char *where = nth_value(k, what, i, n);
    if (!check_sharding(k, o, one, t[i], where)) return false;
  }
  return true;
}

/* ---- sharding rules ---- */

/* Maps the dimensions of one value; marks the factors it uses. The product of a dimension's factors
 * is not compared with its size: Shardy does not either. */
static bool check_mapping(checker *k, const op *o, const attr *a, const type *t, i64s sizes,
                          u8 *seen, const char *where) {
  const tensor_mapping_attr *m = attr_as(tensor_mapping, a);
  if (!m) return op_error(k->c, o, "%sexpected a tensor mapping", where);
  if (!type_is_static(mpmd_whole(t)))
    return op_error(k->c, o, "%sexpected a ranked tensor with a static shape. type: '%s'", where,
                    show(k, t));
  if (m->dims.len != t->dims.len)
    return op_error(k->c, o, "%smapping rank must match: %zu != %zu", where, m->dims.len,
                    t->dims.len);
  u8 *own = arena_zalloc(k->scratch, sizes.len);
  for (size_t d = 0; d < m->dims.len; d++) {
    const dim_mapping_attr *dim = attr_as(dim_mapping, m->dims.data[d]);
    if (!dim || dim->factors.len == 0)
      return op_error(k->c, o, "%sdim mapping must have at least one factor", where);
    for (size_t i = 0; i < dim->factors.len; i++) {
      i64 f = dim->factors.data[i];
      if (f < 0 || f >= (i64)sizes.len)
        return op_error(k->c, o,
                        "%sexpecting factor indices to be within 0<=...<num_factors; received: "
                        "%lld, num_factors: %zu",
                        where, (long long)f, sizes.len);
      if (own[f])
        return op_error(k->c, o, "%scannot reuse factors for the same tensor value", where);
      if (sizes.data[f] == 1 && dim->factors.len > 1)
        return op_error(k->c, o,
                        "%sdim mapping can't have a factor of size 1 if there are multiple factors",
                        where);
      own[f] = seen[f] = 1;
    }
  }
  return true;
}

static bool check_mappings(checker *k, const op *o, attrs list, size_t n, bool results, i64s sizes,
                           u8 *seen) {
  const char *kind = results ? "result" : "operand";
  if (list.len != n)
    return op_error(k->c, o, "number of %ss and mappings must match: %zu != %zu", kind, n,
                    list.len);
  if (n == 0)
    return op_error(k->c, o,
                    "number of %ss mappings cannot be 0. Op sharding rules can only be defined on "
                    "operations with at least one operand and result.",
                    kind);
  for (size_t i = 0; i < n; i++)
    if (!check_mapping(k, o, list.data[i], results ? out_type(o, i) : in_type(o, i), sizes, seen,
                       nth_value(k, kind, i, n)))
      return false;
  return true;
}

/* Sorted, distinct, in range; `special` counts in how many lists a factor is. */
static bool check_factors(checker *k, const op *o, i64s l, size_t n, u8 *special) {
  for (size_t i = 0; i < l.len; i++) {
    if (i && l.data[i] < l.data[i - 1])
      return op_error(k->c, o, "indices of special factors must be sorted");
    if (i && l.data[i] == l.data[i - 1])
      return op_error(k->c, o, "indices of special factors must be unique");
    if (l.data[i] < 0) return op_error(k->c, o, "index must be non-negative");
    if (l.data[i] >= (i64)n)
      return op_error(k->c, o, "index must be less than %zu, got: %lld", n, (long long)l.data[i]);
    if (special && special[l.data[i]]++)
      return op_error(k->c, o,
                      "a factor can only be in one of the reduction, need replication, or "
                      "permutation factor sets");
  }
  return true;
}

/* i to z, then z_1, z_2, ... */
static const char *factor_name(checker *k, size_t i) {
  if (i < 18) return arena_printf(k->scratch, "%c", (char)('i' + i)).data;
  return arena_printf(k->scratch, "z_%zu", i - 17).data;
}

/* Every factor is used, a reduction factor is in no result, and the special sets are disjoint;
 * blocked factors may be in any of them (sdy op_sharding_rule in attrs.md). */
bool check_sharding_rule(checker *k, const op *o, const op_sharding_rule_attr *r) {
  size_t n = r->factor_sizes.len;
  u8 *in = arena_zalloc(k->scratch, n), *out = arena_zalloc(k->scratch, n);
  u8 *special = arena_zalloc(k->scratch, n);
  for (size_t i = 0; i < n; i++)
    if (r->factor_sizes.data[i] < 0) /* 0 is the size of an empty dimension */
      return op_error(k->c, o, "factor sizes must be at least 0, got: %lld",
                      (long long)r->factor_sizes.data[i]);
  if (!check_mappings(k, o, r->operands, o->num_operands, false, r->factor_sizes, in) ||
      !check_mappings(k, o, r->results, o->num_results, true, r->factor_sizes, out))
    return false;
  for (size_t i = 0; i < n; i++)
    if (!in[i] && !out[i])
      return op_error(k->c, o, "has factor %s=%lld that isn't used in operand and result mappings",
                      factor_name(k, i), (long long)r->factor_sizes.data[i]);
  if (!check_factors(k, o, r->reduction, n, special) ||
      !check_factors(k, o, r->need_replication, n, special) ||
      !check_factors(k, o, r->permutation, n, special) ||
      !check_factors(k, o, r->blocked_propagation, n, NULL))
    return false;
  for (size_t i = 0; i < r->reduction.len; i++)
    if (out[r->reduction.data[i]])
      return op_error(k->c, o, "reduction factor cannot be in result mappings");
  return true;
}

/* ---- the ops of sdy ---- */

/* Those of the module were checked before anything else. */
bool verify_sdy_mesh(checker *k, const op *o) {
  struct sdy_mesh_attrs a;
  if (op_parent(o) == k->m->root) return true;
  return view_sdy_mesh(o, &a) && check_mesh(k, o, a.mesh);
}

/* These speak of meshes, so they wait for the symbol table. */
bool verify_sharding_constraint(checker *k, const op *o) { return (void)k, (void)o, true; }
bool verify_reshard(checker *k, const op *o) { return (void)k, (void)o, true; }
bool verify_sharding_group(checker *k, const op *o) { return (void)k, (void)o, true; }
bool verify_data_flow_edge(checker *k, const op *o) { return (void)k, (void)o, true; }
bool verify_func_data_flow_edge(checker *k, const op *o) { return (void)k, (void)o, true; }

bool use_sharding_constraint(checker *k, const op *o) {
  struct sharding_constraint_attrs a;
  return view_sharding_constraint(o, &a) && check_sharding(k, o, a.sharding, out_type(o, 0), "") &&
         check_reshard(k, o, a.sharding);
}

bool use_reshard(checker *k, const op *o) {
  struct reshard_attrs a;
  return view_reshard(o, &a) && check_sharding(k, o, a.sharding, out_type(o, 0), "") &&
         check_reshard(k, o, a.sharding);
}

/* Edges are put in by propagation and taken out behind it; in a text they are what a pass pipeline
 * was stopped at. */
bool use_data_flow_edge(checker *k, const op *o) {
  struct data_flow_edge_attrs a;
  if (!view_data_flow_edge(o, &a)) return false;
  if (!type_is_static(mpmd_whole(out_type(o, 0))))
    return op_error(k->c, o,
                    "expected sdy.data_flow_edge to have a static-shaped result. type: '%s'",
                    show(k, out_type(o, 0)));
  if (!value_has_one_use(op_operand(o, 0)))
    return op_error(k->c, o, "expected input of sdy.data_flow_edge to have a single user");
  const op *from = value_op(op_operand(o, 0));
  if (from && str_starts(from->info->name, STR("sdy.")) && from->info->family != FAMILY_region) {
    op_error(k->c, o,
             "expected input of sdy.data_flow_edge to not be defined by an SdyDialect op (other "
             "than an sdy.named_computation).");
    loc_note(k->c, from->loc, "sdy op defining the input of the sdy.data_flow_edge");
    return false;
  }
  return !a.sharding || check_sharding(k, o, a.sharding, out_type(o, 0), "");
}

/* Between a caller's argument and the function's, or the function's result and the call's. */
bool use_func_data_flow_edge(checker *k, const op *o) {
  const value *v = op_operand(o, 0);
  const type *t = out_type(o, 0);
  if (!type_is_static(t))
    return op_error(k->c, o,
                    "expected sdy.func_data_flow_edge to have a static-shaped result. type: '%s'",
                    show(k, t));
  if (!value_has_one_use(v))
    return op_error(k->c, o, "expected operand of sdy.func_data_flow_edge to have a single user");
  if (v->is_arg && !op_is(block_op(v->def.block), func))
    return op_error(k->c, o,
                    "expected operand of sdy.func_data_flow_edge to be a block argument of a func "
                    "op.");
  if (!v->is_arg && !op_is(v->def.op, call))
    return op_error(k->c, o,
                    "expected operand of sdy.func_data_flow_edge to be a result of call op.");
  return true;
}

bool verify_propagation_barrier(checker *k, const op *o) {
  struct propagation_barrier_attrs a;
  i64 both;
  if (!view_propagation_barrier(o, &a) ||
      !attr_enum_case(ATTR_propagation_direction, STR("BOTH"), &both))
    return false;
  if (a.allowed_direction->value != both) return true;
  return op_error(
      k->c, o,
      "cannot specify `BOTH` as the direction. Not blocking propagation direction makes "
      "the op redundant.");
}
