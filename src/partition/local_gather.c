/* Gather from an array that is sharded along indexed dimensions, as a vocabulary often is.
 *
 * Each device gathers what its shard has and zeros for the rest; the all-reduce that follows
 * (record.h: a gather's parts sum up) puts the pieces together:
 *
 *   local = clamp(0, index, size - 1) - begin of the shard
 *   result = 0 <= local < size of the shard ? gather(shard, local) : 0
 *
 * Indices have several components, of which some are masked so; for the others the bounds are
 * such that they always hold. */
#include "partition/local.h"

/* Per component of an index vector; n is 1 where indices are scalars. */
typedef struct masks {
  i64 n;
  bool any;
  i64 *first, *last;     /* clamp to these, globally */
  i64 *lowest, *highest; /* local indices from lowest to highest are here */
  value **begin;         /* of the shard; NULL: zero */
} masks;

dim_set local_gather_masks(const op *o, const struct gather_attrs *v) {
  const gather_dims_attr *g = v->dimension_numbers;
  const type *index = type_element(op_operand(o, 1)->type); /* masks count in i64 */
  const type *elem = type_element(op_result(o, 0)->type);   /* and leave zeros */
  bool wide = index->kind != TYPE_INT || (index->sign == UNSIGNED && index->width > 32);
  dim_set set = 0;
  if (wide || !part_has_no_addend(elem)) return set;
  for (size_t k = 0; k < g->start_index_map.len; k++) {
    i64 d = g->start_index_map.data[k];
    if (d < (i64)v->slice_sizes.len && v->slice_sizes.data[d] == 1) set |= dim_bit(d);
  }
  return set;
}

dim_set local_scatter_masks(const struct scatter_attrs *v) {
  const scatter_dims_attr *s = v->scatter_dimension_numbers;
  dim_set set = 0;
  for (size_t k = 0; k < s->scatter_dims_to_operand_dims.len; k++)
    if (i64s_contain(s->inserted_window_dims, s->scatter_dims_to_operand_dims.data[k]))
      set |= dim_bit(s->scatter_dims_to_operand_dims.data[k]);
  return set;
}

static masks find_masks(local *l, cursor *at, const op *o, i64s map, dim_set masked) {
  arena *a = l->e.a;
  const value *array = op_operand(o, 0);
  const sharding *s = local_sharding(l, array);
  masks m = {.n = (i64)map.len};
  i64 **lists[] = {&m.first, &m.last, &m.lowest, &m.highest};
  for (size_t i = 0; i < COUNT(lists); i++) *lists[i] = ARENA_ARRAY(a, i64, map.len);
  m.begin = arena_zalloc(a, map.len * sizeof(*m.begin));
  for (size_t k = 0; k < map.len; k++) {
    i64 d = map.data[k];
    m.first[k] = m.lowest[k] = INT64_MIN;
    m.last[k] = m.highest[k] = INT64_MAX;
    i64 parts = local_parts(l, array, (u32)d);
    if (parts == 1 || !(masked & dim_bit(d))) continue;
    i64 size = array->type->dims.data[d];
    m.any = true;
    m.first[k] = m.lowest[k] = 0;
    m.last[k] = l->from[array->num]->dims.data[d] - 1;
    m.highest[k] = size - 1;
    m.begin[k] = local_offset(l, at, s->mesh, s->dims[d].axes, size);
  }
  return m;
}

/* A value per component, spread over the shape of the indices. */
static value *spread(cursor *at, const masks *m, value *v, const type *t, i64 vector_dim) {
  const part_env *e = at->env;
  bool vectors = vector_dim < (i64)t->dims.len;
  if (!vectors && m->n == 1) v = emit_reshape(at, v, (i64s){0});
  v = emit(at, OP_broadcast_in_dim, &v, 1, t);
  op_set(v->def.op, broadcast_in_dim, broadcast_dimensions,
         attr_i64_array(e->c, (i64s){&vector_dim, vectors ? 1 : 0}));
  return v;
}

static value *spread_list(cursor *at, const masks *m, const i64 *list, const type *t,
                          i64 vector_dim) {
  ir_ctx *c = at->env->c;
  i64s dims = {&m->n, 1};
  value *v = emit(at, OP_constant, NULL, 0, type_tensor(c, dims, type_i64(c), NULL));
  op_set(v->def.op, constant, value, attr_dense_i64(c, dims, list));
  return spread(at, m, v, t, vector_dim);
}

static value *spread_begins(cursor *at, const masks *m, const type *t, i64 vector_dim) {
  const part_env *e = at->env;
  i64s one = {(i64[]){1}, 1}, all = {&m->n, 1};
  value **parts = ARENA_ARRAY(e->a, value *, m->n);
  for (i64 k = 0; k < m->n; k++)
    parts[k] = emit_reshape(at, m->begin[k] ? m->begin[k] : emit_int(at, 0), one);
  value *v = parts[0];
  if (m->n > 1) {
    v = emit(at, OP_concatenate, parts, (size_t)m->n, type_tensor(e->c, all, type_i64(e->c), NULL));
    op_set(v->def.op, concatenate, dimension, attr_i64(e->c, 0));
  }
  return spread(at, m, v, t, vector_dim);
}

/* All components of an index are here: the vector dimension is and-ed away. */
static value *and_components(cursor *at, value *v, i64 vector_dim) {
  const part_env *e = at->env;
  i64s dims = v->type->dims;
  if (vector_dim >= (i64)dims.len) return v;
  const type *i1 = type_i1(e->c), *scalar = type_tensor(e->c, (i64s){0}, i1, NULL);
  value *yes = emit(at, OP_constant, NULL, 0, scalar);
  op_set(yes->def.op, constant, value, attr_dense(e->c, scalar, STR("\1"), true, true));
  i64 *rest = ARENA_ARRAY(e->a, i64, dims.len);
  size_t n = 0;
  for (size_t d = 0; d < dims.len; d++)
    if ((i64)d != vector_dim) rest[n++] = dims.data[d];
  const type *t = type_tensor(e->c, (i64s){rest, n}, i1, NULL);
  op *o = emit_op(at, OP_reduce, (value *[]){v, yes}, 2, &t, 1, 1);
  op_set(o, reduce, dimensions, attr_i64_array(e->c, (i64s){&vector_dim, 1}));
  emit_reducer(at, o, OP_and, i1);
  return op_result(o, 0);
}

enum { GE = 2, LE = 4 }; /* of #stablehlo<comparison_direction> */

/* Gives the gather local indices; returns where, in the shape of the indices' batch, they are. */
static value *localize(cursor *at, op *o, const masks *m, i64 vector_dim) {
  ir_ctx *c = at->env->c;
  value *index = op_operand(o, 1);
  const type *t = type_tensor(c, index->type->dims, type_i64(c), NULL);
  if (index->type != t) index = emit(at, OP_convert, &index, 1, t);
  value *bounds[] = {spread_list(at, m, m->first, t, vector_dim), index,
                     spread_list(at, m, m->last, t, vector_dim)};
  index = emit(at, OP_clamp, bounds, 3, t);
  index = emit_binary(at, OP_subtract, index, spread_begins(at, m, t, vector_dim));
  op_set_operand(o, 1, index);
  value *ge = emit_compare(at, index, spread_list(at, m, m->lowest, t, vector_dim), GE);
  value *le = emit_compare(at, index, spread_list(at, m, m->highest, t, vector_dim), LE);
  return and_components(at, emit_binary(at, OP_and, ge, le), vector_dim);
}

static void mask_result(local *l, op *o, value *here, i64s offset_dims) {
  value *v = op_result(o, 0);
  const type *t = v->type;
  cursor at = cursor_after(&l->e, o);
  i64 *batch = ARENA_ARRAY(l->e.a, i64, t->dims.len);
  size_t n = 0;
  for (size_t d = 0; d < t->dims.len; d++)
    if (!i64s_contain(offset_dims, (i64)d)) batch[n++] = (i64)d;
  value *mask =
      emit(&at, OP_broadcast_in_dim, &here, 1, type_tensor(l->e.c, t->dims, type_i1(l->e.c), NULL));
  op_set(mask->def.op, broadcast_in_dim, broadcast_dimensions,
         attr_i64_array(l->e.c, (i64s){batch, n}));
  value *r = emit(&at, OP_select, (value *[]){mask, v, emit_no_addend(&at, t)}, 3, t);
  r->num = v->num;
  value_replace_except(v, r, r->def.op);
}

/* Of batching and masked dimensions one element is taken, of others that are sharded all. */
bool local_gather(local *l, op *o) {
  struct gather_attrs a;
  if (!view_gather(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  const gather_dims_attr *g = a.dimension_numbers;
  i64s sizes = local_sizes(l, op_operand(o, 0), a.slice_sizes);
  dim_set masked = local_gather_masks(o, &a);
  i64 *out = arena_copy(l->e.a, sizes.data, sizes.len * sizeof(*out));
  for (size_t d = 0; d < sizes.len; d++)
    if (i64s_contain(g->operand_batching_dims, (i64)d) ||
        i64s_contain(g->collapsed_slice_dims, (i64)d) || (masked & dim_bit((i64)d)))
      out[d] = a.slice_sizes.data[d];
  op_set(o, gather, slice_sizes, attr_i64_array(l->e.c, (i64s){out, sizes.len}));
  local_types(l, o);
  cursor at = cursor_before(&l->e, o);
  masks m = find_masks(l, &at, o, g->start_index_map, masked);
  if (m.any) mask_result(l, o, localize(&at, o, &m, g->index_vector_dim), g->offset_dims);
  return true;
}

/* What falls outside of an array is left out: so it is with what falls into another shard. */
bool local_scatter(local *l, op *o) {
  struct scatter_attrs a;
  u32 n = (o->num_operands - 1) / 2;
  if (!view_scatter(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  const scatter_dims_attr *s = a.scatter_dimension_numbers;
  cursor at = cursor_before(&l->e, o);
  masks m = find_masks(l, &at, o, s->scatter_dims_to_operand_dims, local_scatter_masks(&a));
  local_types(l, o);
  if (!m.any) return true;
  ir_ctx *c = l->e.c;
  value *index = op_operand(o, n);
  const type *t = type_tensor(c, index->type->dims, type_i64(c), NULL);
  if (index->type != t) index = emit(&at, OP_convert, &index, 1, t);
  value *begins = spread_begins(&at, &m, t, s->index_vector_dim);
  op_set_operand(o, n, emit_binary(&at, OP_subtract, index, begins));
  return true;
}
