/* A layout is a transpose at the border: a parameter in memory is a row-major array of its
 * dimensions from the major one to the minor one, and what the program sees is a view of that. */
#include "compile/layout.h"

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

static void lay_out_result(const layouts *l, size_t i, i64s order) {
  op *end = op_terminator(op_body(l->main, 0));
  op_set_operand(end, i, transposed(l, end, op_operand(end, i), major_to_minor(l, order)));
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
