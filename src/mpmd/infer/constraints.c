/* mpmd-infer-mesh-assign-using-input-output-constraints: arguments and results that are to be on
 * one mesh. Source: openxla/shardy, infer_mesh_assignment.cc. */
#include "mpmd/infer/infer.h"

/* Result `out` is to be where argument `in` is. */
typedef struct constraint {
  i64 in, out;
} constraint;

typedef VEC(constraint) constraint_list;

/* ---- the option ---- */

static bool read_index(str s, i64 *out) {
  *out = 0;
  for (size_t i = 0; i < s.len; i++) {
    if (s.data[i] < '0' || s.data[i] > '9') return false;
    *out = *out * 10 + (s.data[i] - '0');
    if (*out > INT32_MAX) return false;
  }
  return s.len != 0;
}

static str cut_at(str *rest, char c) {
  const char *at = rest->len ? memchr(rest->data, c, rest->len) : NULL;
  str head = {rest->data, at ? (size_t)(at - rest->data) : rest->len};
  *rest = at ? str_from(*rest, head.len + 1) : (str){0};
  return head;
}

/* "0:1,2:0" */
static bool read_constraints(const infer *n, str text, constraint_list *out) {
  while (text.len) {
    str second = cut_at(&text, ','), first = cut_at(&second, ':');
    constraint c;
    if (!read_index(first, &c.in))
      return loc_error(n->ctx, n->m->root->loc, "Failed to parse input index: " STR_FMT,
                       STR_ARG(first));
    if (!read_index(second, &c.out))
      return loc_error(n->ctx, n->m->root->loc, "Failed to parse output index: " STR_FMT,
                       STR_ARG(second));
    VEC_PUSH(n->a, *out, c);
  }
  return true;
}

/* ---- choosing a mesh ---- */

/* Of an argument that nothing uses: that of the result, which will do for it as any. */
static bool choose_of_result(const infer *n, const value *out, str *mesh) {
  mesh_set use = use_of(n, value_op(out)), src = src_of_value(n, out);
  return set_pick(&use, NULL, mesh) || set_pick(&src, NULL, mesh);
}

/* What both may be on, and best what the result is used on. False: there is nothing. */
static bool choose(const infer *n, const op *func, const value *in, const value *out, str *mesh) {
  if (type_is_mesh_tensor(out->type)) {
    *mesh = out->type->text;
    return true;
  }
  mesh_set in_use = {0}, src = src_of_value(n, out), best = use_of(n, value_op(out));
  if (type_is_mesh_tensor(in->type))
    set_insert(n->a, &in_use, in->type->text, (attrs){0});
  else
    in_use = use_of_arg(n, func, in->index);
  if (set_is_empty(&in_use)) return choose_of_result(n, out, mesh);
  if (!set_is_empty(&best)) {
    set_meet(n->a, &best, &in_use);
    if (set_pick(&best, NULL, mesh)) return true;
  }
  set_meet(n->a, &in_use, &src);
  return set_pick(&in_use, NULL, mesh);
}

/* ---- assigning ---- */

static void place_result(infer *n, const op *func, op *ret, size_t i, str mesh) {
  value *v = op_operand(ret, i);
  if (!type_is_ranked(v->type)) return;
  const attr *loc = result_loc(n, func, i, v);
  op_set_operand(ret, i, mpmd_emit_assign(n->m, ret, loc, v, mesh, ORIGIN_CONSTRAINT_OUT));
}

static void place_arg(infer *n, const op *func, value *v, str mesh) {
  if (!type_is_ranked(v->type)) return;
  op *before = op_body(func, 0)->first;
  v->type = type_mesh_tensor(n->ctx, mesh, v->type, NULL, NULL);
  value *whole = mpmd_emit_unassign(n->m, before, value_loc(n, v), v, ORIGIN_CONSTRAINT_IN);
  value_replace_except(v, whole, value_op(whole));
}

static bool apply(infer *n, op *func, const constraint *c) {
  const block *b = op_body(func, 0);
  op *ret = op_terminator(b);
  str mesh;
  if (c->in >= b->num_args || c->out >= ret->num_operands)
    return op_error(n->ctx, func, "has no argument %lld or no result %lld", (long long)c->in,
                    (long long)c->out);
  value *in = b->args[c->in], *out = op_operand(ret, (size_t)c->out);
  const type *x = in->type, *y = out->type;
  if (type_is_mesh_tensor(x) && type_is_mesh_tensor(y) && !str_eq(x->text, y->text))
    return op_error(n->ctx, func,
                    "is to have argument %lld on the mesh of result %lld, but they are on " STR_FMT
                    " and " STR_FMT,
                    (long long)c->in, (long long)c->out, STR_ARG(x->text), STR_ARG(y->text));
  if (!choose(n, func, in, out, &mesh)) return true;
  place_result(n, func, ret, (size_t)c->out, mesh);
  place_arg(n, func, in, mesh);
  return true;
}

bool pass_infer_constraints(ir_module *m, arena *scratch, const pass_args *args) {
  infer n;
  constraint_list list = {0};
  if (!infer_begin(&n, m, scratch)) return false;
  if (!read_constraints(&n, pass_option_get(args, STR("constraints"), STR("")), &list))
    return false;
  for (size_t i = 0; i < n.funcs.len; i++) {
    op *f = n.funcs.data[i];
    if (!mpmd_is_entry_point(f)) continue;
    for (size_t k = 0; k < list.len; k++)
      if (!apply(&n, f, &list.data[k])) return false;
    mpmd_update_type(m, f);
  }
  return true;
}
