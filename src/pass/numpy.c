/* NumPy's broadcasting as StableHLO ops, dimensions with bounds included.
 *
 * Source: openxla/stablehlo transforms/StablehloBroadcastLowering.h. */
#include "pass/numpy.h"
#include "dialect/dialect.h"

/* A size, or the bound of the open dimension `dim` of `of`. */
typedef struct extent {
  i64 size;
  const value *of; /* NULL: known */
  i64 dim;
} extent;

typedef struct shape {
  extent at[DIALECT_MAX_RANK];
  size_t rank;
} shape;

static extent extent_of(const value *v, size_t d) {
  const bounds_attr *b = attr_as(bounds, v->type->encoding);
  if (!b || v->type->dims.data[d] != DYNAMIC) return (extent){v->type->dims.data[d], NULL, 0};
  return (extent){b->bounds.data[d], v, (i64)d};
}

static bool meet(ir_ctx *c, const value *v, extent a, extent b, extent *out) {
  const attr *loc = v->is_arg ? NULL : v->def.op->loc;
  *out = a.size == 1 ? b : a;
  if (a.size == 1 || b.size == 1) return true;
  if (a.size != b.size)
    return loc_error(c, loc ? loc : loc_unknown(c),
                     "incompatible shapes for broadcasting %lld and %lld", (long long)a.size,
                     (long long)b.size);
  return !a.of == !b.of || loc_error(c, loc ? loc : loc_unknown(c),
                                     "cannot mix bounded and static dimensions in broadcast");
}

static bool shape_of_all(ir_ctx *c, value *const *v, size_t n, shape *out) {
  out->rank = 0;
  for (size_t i = 0; i < n; i++) {
    if (v[i]->type->kind != TYPE_TENSOR || v[i]->type->dims.len > DIALECT_MAX_RANK)
      return loc_error(c, loc_unknown(c), "expected ranked tensor type for broadcast inputs");
    if (v[i]->type->dims.len > out->rank) out->rank = v[i]->type->dims.len;
  }
  for (size_t d = 0; d < out->rank; d++) {
    out->at[d] = (extent){1, NULL, 0};
    for (size_t i = 0; i < n; i++) {
      size_t skip = out->rank - v[i]->type->dims.len;
      if (d >= skip && !meet(c, v[i], out->at[d], extent_of(v[i], d - skip), &out->at[d]))
        return false;
    }
  }
  return true;
}

static const type *type_of(ir_ctx *c, const shape *s, const type *elem) {
  i64 dims[DIALECT_MAX_RANK], bounds[DIALECT_MAX_RANK];
  bool any = false;
  for (size_t d = 0; d < s->rank; d++) {
    dims[d] = s->at[d].of ? DYNAMIC : s->at[d].size;
    bounds[d] = s->at[d].of ? s->at[d].size : DYNAMIC;
    any |= s->at[d].of != NULL;
  }
  return type_tensor(c, (i64s){dims, s->rank}, elem,
                     any ? attr_make(c, bounds, .bounds = {bounds, s->rank}) : NULL);
}

static op *make(ir_module *m, op *before, op_id id, value *const *in, size_t n, const type *t) {
  op *o = op_create(m, &op_infos[id], before->loc, in, n, &t, 1, 0);
  op_insert(o, before->parent, before);
  return o;
}

/* The dimension gets the size that `e` has at run time. */
static value *resize(ir_module *m, op *before, value *v, extent e, size_t d) {
  value *of = (value *)(uintptr_t)e.of, *in[2] = {v};
  const type *size = type_tensor(m->ctx, (i64s){0}, type_i32(m->ctx), NULL);
  op *get = make(m, before, OP_get_dimension_size, &of, 1, size);
  op_set_attr(m, get, STR("dimension"), attr_i64(m->ctx, e.dim));
  in[1] = op_result(get, 0);
  size_t n = v->type->dims.len;
  i64 *dims = arena_copy(&m->arena, v->type->dims.data, n * sizeof *dims);
  i64 *bounds = ARENA_ARRAY(&m->arena, i64, n);
  const bounds_attr *b = attr_as(bounds, v->type->encoding);
  for (size_t i = 0; i < n; i++) bounds[i] = b ? b->bounds.data[i] : DYNAMIC;
  dims[d] = DYNAMIC;
  bounds[d] = e.size;
  op *set = make(m, before, OP_set_dimension_size, in, 2,
                 type_tensor(m->ctx, (i64s){dims, n}, v->type->elem,
                             attr_make(m->ctx, bounds, .bounds = {bounds, n})));
  op_set_attr(m, set, STR("dimension"), attr_i64(m->ctx, (i64)d));
  return op_result(set, 0);
}

static value *broadcast(ir_module *m, op *before, value *v, const shape *to) {
  const type *want = type_of(m->ctx, to, v->type->elem);
  if (v->type == want) return v;
  size_t skip = to->rank - v->type->dims.len;
  i64 map[DIALECT_MAX_RANK];
  shape padded = *to;
  for (size_t d = 0; d < to->rank; d++)
    if (d < skip || !extent_of(v, d - skip).of) padded.at[d].of = NULL;
  for (size_t d = skip; d < to->rank; d++) map[d - skip] = (i64)d;
  op *o = make(m, before, OP_broadcast_in_dim, &v, 1, type_of(m->ctx, &padded, v->type->elem));
  op_set_attr(m, o, STR("broadcast_dimensions"),
              attr_i64_array(m->ctx, (i64s){map, v->type->dims.len}));
  v = op_result(o, 0);
  for (size_t d = 0; d < to->rank; d++)
    if (to->at[d].of && !padded.at[d].of) v = resize(m, before, v, to->at[d], d);
  return v;
}

bool numpy_broadcast(ir_module *m, op *before, value **values, size_t n) {
  shape all;
  if (!shape_of_all(m->ctx, values, n, &all)) return false;
  for (size_t i = 0; i < n; i++) values[i] = broadcast(m, before, values[i], &all);
  return true;
}
