/* mpmd-infer-mesh-convert-reduce-ops: ops that could be reductions across meshes become
 * mpmd.reduce. Source: openxla/shardy, infer_mesh_assignment.cc. */
#include "mpmd/infer/infer.h"

/* ---- what the user wants to be one: mpmd.reduce<none> ---- */

static i64 reduction_of(const op *o) {
  const mpmd_reduction_attr *a = attr_as(mpmd_reduction, op_get(o, mpmd_reduce, reduction));
  return a ? a->value : 0;
}

/* The op and what makes its operands, as far as all reduce in the same way. */
static void mark_tree(infer *n, op *root) {
  op_list work = {0};
  VEC_PUSH(n->a, work, root);
  while (work.len) {
    op *o = work.data[--work.len];
    if (op_discardable(o, MPMD_CAN_CONVERT)) continue;
    op_set_attr(n->m, o, MPMD_CAN_CONVERT, attr_unit(n->ctx));
    for (u32 i = 0; i < o->num_operands; i++) {
      op *by = value_op(op_operand(o, i));
      if (mpmd_reduction_of(by) == mpmd_reduction_of(root)) VEC_PUSH(n->a, work, by);
    }
  }
}

static void mark_producer(infer *n, const op *none) {
  op *o = none->num_operands ? value_op(op_operand(none, 0)) : NULL;
  while (o && o->num_operands == 1 && o->num_results == 1) o = value_op(op_operand(o, 0));
  if (!o) return;
  if (mpmd_reduction_of(o)) {
    mark_tree(n, o);
    return;
  }
  const op *concat = op_is(o, reduce) && o->num_operands ? value_op(op_operand(o, 0)) : NULL;
  const op *pair = concat ? infer_reduce_of_concat(concat) : NULL;
  if (pair && mpmd_reduction_of_body(op_body(pair, 0)))
    op_set_attr(n->m, o, MPMD_CAN_CONVERT, attr_unit(n->ctx));
}

/* ---- mpmd.reduce ---- */

/* In front of o, which it replaces. */
static void replace_by_reduce(infer *n, op *o, const value_list *in) {
  value *result = op_result(o, 0);
  mesh_set src = src_of(n, o);
  op *r = mpmd_emit(n->m, o, OP_mpmd_reduce, o->loc, in->data, in->len, &result->type, 1);
  op_set(r, mpmd_reduce, reduction, op_discardable(o, MPMD_REDUCE));
  if (src.known) put_src(n, r, &src);
  value_replace(result, op_result(r, 0));
  op_erase(o);
}

/* Operands that are such reductions are one with it. */
static void convert_op(infer *n, op *o) {
  const attr *kind = op_discardable(o, MPMD_REDUCE);
  value_list in = {0};
  op_list merged = {0};
  for (u32 i = 0; i < o->num_operands; i++) {
    value *v = op_operand(o, i);
    op *by = value_op(v);
    if (!by || !op_is(by, mpmd_reduce) || op_get(by, mpmd_reduce, reduction) != kind) {
      VEC_PUSH(n->a, in, v);
      continue;
    }
    for (u32 k = 0; k < by->num_operands; k++) VEC_PUSH(n->a, in, op_operand(by, k));
    if (value_has_one_use(v)) VEC_PUSH(n->a, merged, by);
  }
  replace_by_reduce(n, o, &in);
  for (size_t i = 0; i < merged.len; i++) op_erase(merged.data[i]);
}

/* What is concatenated, each without the dimension that is reduced. */
static void convert_pair(infer *n, op *o) {
  op *concat = o->num_operands ? value_op(op_operand(o, 0)) : NULL;
  if (!concat || !op_is(concat, concatenate) || infer_reduce_of_concat(concat) != o) return;
  value_list in = {0};
  for (u32 i = 0; i < concat->num_operands; i++) {
    value *v = op_operand(concat, i);
    op *r = mpmd_emit(n->m, o, OP_reshape, value_loc(n, v), &v, 1, &o->results[0].type, 1);
    if (!v->is_arg) mpmd_copy_attrs(n->m, value_op(v), r);
    VEC_PUSH(n->a, in, op_result(r, 0));
  }
  replace_by_reduce(n, o, &in);
  op_erase(concat);
}

typedef struct conversion {
  infer n;
  bool all; /* not only those that the user wants */
} conversion;

static void convert(conversion *c, op *o) {
  if (op_is(o, reduce))
    convert_pair(&c->n, o);
  else if (mpmd_reduction_of(o))
    convert_op(&c->n, o);
}

/* The concatenation of a pair goes with the reduction. */
static void convert_block(conversion *c, block *b) {
  FOR_OPS(o, b) {
    if (op_is(o, mpmd_fragment)) continue;
    const attr *kind = is_meshless(o) ? op_discardable(o, MPMD_REDUCE) : NULL;
    if (attr_is(mpmd_reduction, kind) && (c->all || op_discardable(o, MPMD_CAN_CONVERT))) {
      convert(c, o);
      continue;
    }
    for (size_t r = 0; r < o->num_regions; r++)
      for (block *in = o->regions[r].first; in; in = in->next) convert_block(c, in);
  }
}

static walk_result unmark(void *user, op *o) {
  (void)user;
  op_drop_attr(o, MPMD_CAN_CONVERT);
  return WALK_ON;
}

static void convert_func(conversion *c, op *func) {
  op_list none = {0};
  ops_of_kind(c->n.a, func, OP_mpmd_reduce, &none);
  for (size_t i = 0; i < none.len; i++)
    if (!reduction_of(none.data[i])) mark_producer(&c->n, none.data[i]);
  for (block *b = func->regions[0].first; b; b = b->next) convert_block(c, b);
  op_walk(func, unmark, NULL);
}

bool pass_infer_convert_reduces(ir_module *m, arena *scratch, const pass_args *args) {
  conversion c = {{.m = m, .ctx = m->ctx, .a = scratch},
                  pass_option_flag(args, STR("infer-cross-mesh-reductions"), false)};
  op *root = pass_root(m, args);
  if (op_is(root, func)) {
    convert_func(&c, root);
    return true;
  }
  for (op *o = op_body(m->root, 0)->first; o; o = o->next)
    if (op_is(o, func)) convert_func(&c, o);
  return true;
}
