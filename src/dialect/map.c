/* map: its body over whole tensors where it is elementwise, element by element otherwise. And
 * reduce of a few tensors that are stacked, its body over one after the other. */
#include "dialect/expand.h"

static bool is_wide(const op *o) {
  static const bool wide[FAMILY_COUNT] = {
      [FAMILY_ew] = true, [FAMILY_cast] = true, [FAMILY_bcast] = true};
  return o->num_results == 1 && (wide[o->info->family] || op_is(o, reduce_precision));
}

static bool is_body_wide(const block *b) {
  for (const op *k = b->first; k != b->last; k = k->next)
    if (!is_wide(k) && !op_is(k, constant)) return false;
  return true;
}

/* Does it compute the same of tensors as of each of their elements? */
bool expand_map_is_elementwise(const op *o) {
  return !op_operand(o, 0)->type->dims.len || is_body_wide(op_body(o, 0));
}

static value *widen(expander *e, value *v, i64s dims) {
  if (!dims.len || v->type->dims.len) return v;
  const type *t = type_tensor(e->c, dims, type_element(v->type), NULL);
  return expand_broadcast(e, OP_broadcast_in_dim, v, NULL, t, 0);
}

/* What the body gives for these arguments. What depends on no element stays a scalar until it meets
 * what does. */
static void inline_body(expander *e, const block *b, value *const *in, i64s dims, value **out) {
  ir_map *map = ir_map_create(e->a);
  for (u32 i = 0; i < b->num_args; i++) ir_map_set(map, b->args[i], in[i]);
  for (op *k = b->first; k != b->last; k = k->next) {
    bool wide = false;
    op *copy = op_clone(e->m, k, map);
    op_insert(copy, e->block, e->at);
    for (u32 i = 0; i < copy->num_operands && dims.len; i++)
      wide |= op_operand(copy, i)->type->dims.len != 0;
    if (!wide) continue;
    expander before = expander_before(e->m, e->a, copy);
    for (u32 i = 0; i < copy->num_operands; i++)
      op_set_operand(copy, i, widen(&before, op_operand(copy, i), dims));
    copy->results[0].type = type_tensor(e->c, dims, type_element(copy->results[0].type), NULL);
  }
  for (u32 i = 0; i < b->last->num_operands; i++) out[i] = ir_map_get(map, op_operand(b->last, i));
}

static const attr *segments(ir_ctx *c, int32_t first, int32_t second) {
  int32_t sizes[] = {first, second};
  return attr_make(c, dense_array, .elem = type_i32(c),
                   .data = {(const char *)sizes, sizeof sizes});
}

/* A chlo.scan of all elements in one row, which carries nothing. */
static value *one_by_one(expander *e, op *o) {
  const type *t = o->results[0].type;
  i64 n;
  if (!type_num_elements(t, &n)) return NULL;
  value **in = ARENA_ARRAY(e->a, value *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) {
    value *x = op_operand(o, i);
    in[i] = expand_1(e, OP_reshape, x, expand_tensor(e, &n, 1, type_element(x->type)));
  }
  const type *row = expand_tensor(e, &n, 1, type_element(t));
  op *scan = expand_op(e, OP_chlo_scan, in, o->num_operands, &row, 1);
  op_set(scan, chlo_scan, dimension, attr_i64(e->c, 0));
  op_set(scan, chlo_scan, is_reverse, attr_bool(e->c, false));
  op_set(scan, chlo_scan, operandSegmentSizes, segments(e->c, (int32_t)o->num_operands, 0));
  op_set(scan, chlo_scan, resultSegmentSizes, segments(e->c, 1, 0));
  block *b = op_body(o, 0);
  block_unlink(b);
  region_append(&scan->regions[0], b);
  return expand_1(e, OP_reshape, op_result(scan, 0), t);
}

bool expand_map(expander *e, op *o, value **out) {
  const type *t = op_operand(o, 0)->type;
  if (!type_is_static(t) || o->results[0].type->kind != TYPE_TENSOR) return false;
  if (!expand_map_is_elementwise(o)) {
    out[0] = one_by_one(e, o);
    return true;
  }
  value **in = ARENA_ARRAY(e->a, value *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) in[i] = op_operand(o, i);
  inline_body(e, op_body(o, 0), in, t->dims, out);
  out[0] = widen(e, out[0], t->dims);
  return true;
}

/* ---- reduce of what is stacked ---- */

enum { MOST_STACKED = 8 };

static i64 reduced_dim(const op *o) {
  struct reduce_attrs a;
  view_reduce(o, &a);
  return a.dimensions.len == 1 ? a.dimensions.data[0] : -1;
}

/* Tensors side by side along d, one of each; or their numbers; or floats that are alone. Others
 * that are may stay what they are. */
static bool is_alone(const value *v, i64 d) {
  return v->type->dims.data[d] == 1 && type_element(v->type)->kind == TYPE_FLOAT;
}
static bool is_stack(const value *v, i64 d, bool *any) {
  const op *o = value_op(v);
  struct iota_attrs numbers;
  struct concatenate_attrs joined;
  if (is_alone(v, d)) return *any = true;
  if (!o || v->type->dims.data[d] > MOST_STACKED) return false;
  if (op_is(o, iota)) {
    view_iota(o, &numbers);
    return numbers.iota_dimension == d;
  }
  if (!op_is(o, concatenate)) return false;
  view_concatenate(o, &joined);
  *any = true;
  return joined.dimension == d && (i64)o->num_operands == v->type->dims.data[d];
}

/* ---- which of some truth values is the first that is true ---- */

/* What JAX's argmax does of two values and their places: the operands of each op, by the number of
 * an argument, or by 4 more than that of an op before. */
static const struct {
  op_id id;
  i8 direction;
  u8 operands[3];
} argmax[] = {
    {OP_compare, COMPARE_GT, {0, 2}},
    {OP_compare, COMPARE_NE, {0, 0}},
    {OP_or, 0, {4, 5}},
    {OP_compare, COMPARE_EQ, {0, 2}},
    {OP_compare, COMPARE_LT, {1, 3}},
    {OP_and, 0, {7, 8}},
    {OP_or, 0, {6, 9}},
    {OP_select, 0, {6, 0, 2}},
    {OP_select, 0, {10, 1, 3}},
    {OP_return, 0, {11, 12}},
};
static bool is_argmax(const block *b) {
  const value *known[4 + COUNT(argmax)];
  const op *o = b->first;
  for (u32 i = 0; i < 4; i++) known[i] = b->args[i];
  for (u32 k = 0; k < COUNT(argmax); k++, o = o->next) {
    struct compare_attrs a;
    if (!o || op_kind(o) != argmax[k].id) return false;
    if (op_is(o, compare) &&
        (!view_compare(o, &a) || a.comparison_direction->value != argmax[k].direction))
      return false;
    for (u32 i = 0; i < o->num_operands; i++)
      if (op_operand(o, i) != known[argmax[k].operands[i]]) return false;
    if (o != b->last) known[4 + k] = op_result(o, 0);
  }
  return true;
}

static bool finds_first(const op *o) {
  const block *b = op_body(o, 0);
  if (o->num_results != 2 || type_element(op_operand(o, 0)->type)->width != 1 ||
      !op_is(value_op(op_operand(o, 0)), concatenate) || !op_is(value_op(op_operand(o, 1)), iota))
    return false;
  for (u32 i = 2; i < 4; i++) {
    const op *begin = value_op(op_operand(o, i));
    if (!begin || !op_is(begin, constant) || !splat_is(op_attr(begin, SLOT_NAME(value)), 0))
      return false;
  }
  return is_argmax(b);
}

static void find_first(expander *e, op *o, value **out) {
  const op *stack = value_op(op_operand(o, 0));
  const type *t = o->results[0].type, *index = o->results[1].type;
  out[0] = expand_constant(e, t, number_int(0));
  out[1] = expand_constant(e, index, number_int(0));
  for (u32 k = stack->num_operands; k-- > 0;) {
    value *is = expand_reshaped(e, op_operand(stack, k), t);
    out[0] = expand_2(e, OP_or, is, out[0], t);
    out[1] = expand_select(e, is, expand_constant(e, index, number_int(k)), out[1]);
  }
}

/* Not of floats of which sums are kept wider than they are. */
bool expand_is_stacked(const op *o) {
  i64 d = reduced_dim(o);
  bool any = false;
  if (d < 0 || !is_body_wide(op_body(o, 0))) return false;
  for (u32 i = 0; i < o->num_results; i++) {
    const type *t = op_operand(o, i)->type, *element = type_element(t);
    if (!type_is_static(t) || (element->kind == TYPE_FLOAT && element->width < 32) ||
        !is_stack(op_operand(o, i), d, &any))
      return false;
  }
  return any;
}

bool expand_stacked(expander *e, op *o, value **out) {
  u32 n = o->num_results;
  if (finds_first(o)) {
    find_first(e, o, out);
    return true;
  }
  value **in = ARENA_ARRAY(e->a, value *, 2 * n);
  i64s dims = o->results[0].type->dims;
  i64 d = reduced_dim(o), stacked = op_operand(o, 0)->type->dims.data[d];
  for (u32 i = 0; i < n; i++) out[i] = op_operand(o, n + i);
  for (i64 k = 0; k < stacked; k++) {
    for (u32 i = 0; i < n; i++) {
      value *v = op_operand(o, i);
      const op *stack = is_alone(v, d) ? NULL : value_op(v);
      in[i] = out[i];
      in[n + i] = !stack ? expand_reshaped(e, v, o->results[i].type)
                  : op_is(stack, iota)
                      ? expand_constant(e, op_operand(o, n + i)->type, number_int(k))
                      : expand_reshaped(e, op_operand(stack, (u32)k), o->results[i].type);
    }
    inline_body(e, op_body(o, 0), in, dims, out);
  }
  for (u32 i = 0; i < n; i++) out[i] = widen(e, out[i], dims);
  return true;
}
