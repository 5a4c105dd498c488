/* A layout is a transpose at the border: a parameter in memory is a row-major array of its
 * dimensions from the major one to the minor one, and what the program sees is a view of that. */
#include "compile/layout.h"

#include "base/index.h"
#include "compile/lower.h"
#include "compile/signature.h"
#include "dialect/expand.h"

typedef struct layouts {
  ir_module *m;
  arena *scratch, *out;
  op *main;
} layouts;

typedef enum mode { MODE_DEFAULT, MODE_AUTO, MODE_GIVEN } mode;

enum { MAX_STEPS = 256 }; /* that a result is followed back */

static bool is_row_major(i64s minor_to_major) {
  for (size_t i = 0; i < minor_to_major.len; i++)
    if (minor_to_major.data[i] != (i64)(minor_to_major.len - 1 - i)) return false;
  return true;
}

/* "{1,0}"; tiles and whatever else may follow the numbers we do not have. */
static bool read_order(const layouts *l, str text, size_t rank, i64s *order) {
  i64 *out = ARENA_ARRAY(l->out, i64, rank + 1);
  bool *seen = arena_zalloc(l->scratch, rank + 1);
  size_t at = 1;
  for (size_t i = 0; i < rank; i++) {
    i64 n = 0;
    size_t digits = 0;
    for (; at < text.len && text.data[at] >= '0' && text.data[at] <= '9' && digits < 3; digits++)
      n = n * 10 + (text.data[at++] - '0');
    if (!digits || n >= (i64)rank || seen[n]) return false;
    seen[n] = true;
    out[i] = n;
    if (i + 1 < rank && (at >= text.len || text.data[at++] != ',')) return false;
  }
  *order = (i64s){out, rank};
  return text.len == at + 1 && text.data[0] == '{' && text.data[at] == '}';
}

static bool read_mode(const layouts *l, bool results, size_t i, size_t rank, mode *out,
                      i64s *order) {
  const attr *attrs = signature_attrs(l->main, results, i);
  str text = {0};
  *out = MODE_DEFAULT;
  *order = (i64s){0};
  if (!attr_get_str(attr_dict_get(attrs, STR("mhlo.layout_mode")), &text)) return true;
  if (str_is(text, "default")) return true;
  *out = str_is(text, "auto") ? MODE_AUTO : MODE_GIVEN;
  if (*out == MODE_AUTO || read_order(l, text, rank, order)) return true;
  return op_unimplemented(l->m->ctx, l->main,
                          "%s %zu in the layout '" STR_FMT "' of %zu dimensions",
                          results ? "result" : "argument", i, STR_ARG(text), rank);
}

/* Result dimension d is dimension permutation[d] of v. */
static value *transposed(const layouts *l, op *before, value *v, i64s permutation) {
  expander e = expander_before(l->m, l->scratch, before);
  i64 *dims = ARENA_ARRAY(l->scratch, i64, permutation.len + 1);
  for (size_t d = 0; d < permutation.len; d++) dims[d] = v->type->dims.data[permutation.data[d]];
  value *r = expand_1(&e, OP_transpose, v,
                      expand_tensor(&e, dims, permutation.len, type_element(v->type)));
  op_set(r->def.op, transpose, permutation, attr_i64_array(e.c, permutation));
  return r;
}

/* Where each dimension stands when they are ordered from major to minor. */
static i64s places(const layouts *l, i64s minor_to_major) {
  size_t n = minor_to_major.len;
  i64 *at = ARENA_ARRAY(l->scratch, i64, n + 1);
  for (size_t i = 0; i < n; i++) at[minor_to_major.data[i]] = (i64)(n - 1 - i);
  return (i64s){at, n};
}

static i64s major_to_minor(const layouts *l, i64s minor_to_major) {
  size_t n = minor_to_major.len;
  i64 *order = ARENA_ARRAY(l->scratch, i64, n + 1);
  for (size_t i = 0; i < n; i++) order[i] = minor_to_major.data[n - 1 - i];
  return (i64s){order, n};
}

static void lay_out_argument(const layouts *l, size_t i, i64s order) {
  block *body = op_body(l->main, 0);
  value *arg = body->args[i];
  i64s outwards = major_to_minor(l, order);
  i64 *dims = ARENA_ARRAY(l->scratch, i64, order.len + 1);
  for (size_t k = 0; k < order.len; k++) dims[k] = arg->type->dims.data[outwards.data[k]];
  expander e = expander_before(l->m, l->scratch, body->first);
  arg->type = expand_tensor(&e, dims, order.len, type_element(arg->type));
  value *seen = transposed(l, body->first, arg, places(l, order));
  value_replace_except(arg, seen, seen->def.op);
}

/* ---- a result that is computed as it is to lie ---- */

/* What is elementwise computes transposed operands as well, and where those lie transposed already
 * nothing is left to transpose. */
typedef struct turning {
  const layouts *l;
  op *before;
  i64s permutation;
  ir_map *turned;
  hash_index counted; /* values */
  u32 fits, others, steps;
} turning;

static bool goes_through(const turning *t, const value *v) {
  const op *o = value_op(v);
  return o && o->num_results == 1 && !o->num_regions && select_is_elementwise(o) &&
         t->steps < MAX_STEPS;
}

/* Which of the arrays that v is computed from lie as they should, and how many do not. What is
 * broadcast has no order. */
static void count_leaves(turning *t, value *v) {
  struct transpose_attrs a;
  const op *o = value_op(v);
  if (index_get(&t->counted, v) || v->type->dims.len != t->permutation.len) return;
  index_set(&t->counted, t->l->scratch, v, v);
  if (goes_through(t, v)) {
    t->steps++;
    for (u32 i = 0; i < o->num_operands; i++) count_leaves(t, op_operand(o, i));
  } else if (o && op_is(o, transpose) && view_transpose(o, &a)) {
    bool back = true;
    for (size_t d = 0; d < t->permutation.len; d++)
      back &= a.permutation.data[t->permutation.data[d]] == (i64)d;
    *(back ? &t->fits : &t->others) += 1;
  } else if (!o || (!op_is(o, constant) && !op_is(o, broadcast_in_dim))) {
    t->others++;
  }
}

static value *turn(turning *t, value *v) {
  value *known = ir_map_get(t->turned, v);
  if (known != v) return known;
  if (v->type->dims.len != t->permutation.len) return v;
  if (!goes_through(t, v)) {
    known = transposed(t->l, t->before, v, t->permutation);
  } else {
    const op *o = value_op(v);
    t->steps++;
    for (u32 i = 0; i < o->num_operands; i++) turn(t, op_operand(o, i));
    op *c = op_clone(t->l->m, o, t->turned);
    expander e = expander_before(t->l->m, t->l->scratch, t->before);
    i64 *dims = ARENA_ARRAY(t->l->scratch, i64, t->permutation.len + 1);
    for (size_t d = 0; d < t->permutation.len; d++)
      dims[d] = v->type->dims.data[t->permutation.data[d]];
    known = op_result(c, 0);
    known->type = expand_tensor(&e, dims, t->permutation.len, type_element(v->type));
    op_insert(c, t->before->parent, t->before);
  }
  ir_map_set(t->turned, v, known);
  return known;
}

static void lay_out_result(const layouts *l, size_t i, i64s order) {
  op *end = op_terminator(op_body(l->main, 0));
  value *v = op_operand(end, i);
  turning t = {.l = l,
               .before = end,
               .permutation = major_to_minor(l, order),
               .turned = ir_map_create(l->scratch)};
  count_leaves(&t, v);
  t.steps = t.fits && t.fits >= t.others ? 0 : MAX_STEPS;
  op_set_operand(end, i, turn(&t, v));
}

/* The operand that decides how an elementwise op's result lies; NULL: none does. */
static const value *deciding_operand(const op *o) {
  for (size_t i = 0; i < o->num_operands; i++) {
    const value *v = op_operand(o, i);
    const op *by = value_op(v);
    if (!type_is_ranked(v->type) || !i64s_eq(v->type->dims, op_result(o, 0)->type->dims)) continue;
    if (!by || (!op_is(by, constant) && !op_is(by, broadcast_in_dim) && !op_is(by, iota))) return v;
  }
  return NULL;
}

/* What is computed is row-major, and so are arguments by now: only transposes lead away from it,
 * with what is elementwise in between. */
static i64s natural_order(const layouts *l, const value *v) {
  size_t n = v->type->dims.len;
  i64 *from = ARENA_ARRAY(l->scratch, i64, n + 1); /* dimension d is v's from[d] */
  for (size_t d = 0; d < n; d++) from[d] = (i64)d;
  for (u32 steps = 0; v && !v->is_arg && steps < MAX_STEPS; steps++) {
    const op *o = value_op(v);
    struct transpose_attrs a;
    if (op_is(o, transpose) && view_transpose(o, &a)) {
      for (size_t d = 0; d < n; d++) from[d] = a.permutation.data[from[d]];
      v = op_operand(o, 0);
    } else {
      v = select_is_elementwise(o) ? deciding_operand(o) : NULL;
    }
  }
  i64 *order = ARENA_ARRAY(l->out, i64, n + 1);
  for (size_t d = 0; d < n; d++) order[n - 1 - (size_t)from[d]] = (i64)d;
  return (i64s){order, n};
}

/* One side of the signature. */
static bool lay_out(const layouts *l, bool results, compile_tensor *list) {
  block *body = op_body(l->main, 0);
  op *end = op_terminator(body);
  size_t n = results ? end->num_operands : body->num_args;
  for (size_t i = 0; i < n; i++) {
    mode how;
    i64s order;
    const value *v = results ? op_operand(end, i) : body->args[i];
    if (!type_is_ranked(v->type)) continue;
    if (!read_mode(l, results, i, v->type->dims.len, &how, &order)) return false;
    if (how == MODE_AUTO && results) order = natural_order(l, v);
    if (is_row_major(order)) continue;
    list[i].minor_to_major = order;
    if (results)
      lay_out_result(l, i, order);
    else
      lay_out_argument(l, i, order);
  }
  return true;
}

bool layout_apply(ir_module *m, arena *scratch, arena *out, op *main, compile_tensor *params,
                  compile_tensor *results) {
  layouts l = {m, scratch, out, main};
  return lay_out(&l, false, params) && lay_out(&l, true, results);
}
