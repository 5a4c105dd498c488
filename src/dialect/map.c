/* map: its body over whole tensors where it is elementwise, element by element otherwise. */
#include "dialect/expand.h"

static bool is_wide(const op *o) {
  static const bool wide[FAMILY_COUNT] = {
      [FAMILY_ew] = true, [FAMILY_cast] = true, [FAMILY_bcast] = true};
  return o->num_results == 1 && (wide[o->info->family] || op_is(o, reduce_precision));
}

/* Does it compute the same of tensors as of each of their elements? */
bool expand_map_is_elementwise(const op *o) {
  const block *b = op_body(o, 0);
  if (!op_operand(o, 0)->type->dims.len) return true;
  for (const op *k = b->first; k != b->last; k = k->next)
    if (!is_wide(k) && !op_is(k, constant)) return false;
  return true;
}

static value *widen(expander *e, value *v, i64s dims) {
  if (!dims.len || v->type->dims.len) return v;
  const type *t = type_tensor(e->c, dims, type_element(v->type), NULL);
  return expand_broadcast(e, OP_broadcast_in_dim, v, NULL, t, 0);
}

/* What depends on no element stays a scalar until it meets what does. */
static value *inline_body(expander *e, op *o, i64s dims) {
  block *b = op_body(o, 0);
  ir_map *map = ir_map_create(e->a);
  for (u32 i = 0; i < b->num_args; i++) ir_map_set(map, b->args[i], op_operand(o, i));
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
  return widen(e, ir_map_get(map, op_operand(b->last, 0)), dims);
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
  out[0] = expand_map_is_elementwise(o) ? inline_body(e, o, t->dims) : one_by_one(e, o);
  return out[0] != NULL;
}
