/* Types in checks and messages. */
#include "dialect/verify.h"
#include "text/text.h"

bool shapes_agree(const type *a, const type *b) {
  if ((a->kind == TYPE_UNRANKED && type_is_tensor(b)) ||
      (b->kind == TYPE_UNRANKED && type_is_tensor(a)))
    return true;
  if (a->kind != TYPE_TENSOR || b->kind != TYPE_TENSOR || a->dims.len != b->dims.len) return false;
  for (size_t i = 0; i < a->dims.len; i++)
    if (!dims_agree(a->dims.data[i], b->dims.data[i])) return false;
  return true;
}

bool elements_agree(const type *a, const type *b) {
  const quant *x = a->quant, *y = b->quant;
  if (a == b) return true;
  return x && y && x->storage == y->storage && x->min == y->min && x->max == y->max &&
         x->expressed == y->expressed && (x->form == QUANT_PER_AXIS) == (y->form == QUANT_PER_AXIS);
}

bool types_agree(const type *a, const type *b) {
  return a == b || (shapes_agree(a, b) && elements_agree(a->elem, b->elem));
}

bool is_scalar_of(const type *t, const type *elem) {
  return t->kind == TYPE_TENSOR && t->dims.len == 0 && t->elem == elem;
}

/* ---- text ---- */

static const char *finish(ir_ctx *c, buf *b) {
  const char *s = arena_str(ir_arena(c), buf_view(b)).data;
  buf_deinit(b);
  return s;
}

const char *dialect_show_type(ir_ctx *c, const type *t) {
  buf b;
  buf_init(&b, ir_mem(c));
  text_print_type(&b, t);
  return finish(c, &b);
}

const char *show(checker *k, const type *t) { return dialect_show_type(k->c, t); }

const char *show_dims(checker *k, i64s dims) {
  buf b;
  buf_init(&b, ir_mem(k->c));
  for (size_t i = 0; i < dims.len; i++) {
    if (dims.data[i] == DYNAMIC)
      buf_printf(&b, "%s?", i ? ", " : "");
    else
      buf_printf(&b, "%s%lld", i ? ", " : "", (long long)dims.data[i]);
  }
  return finish(k->c, &b);
}

const char *show_types(checker *k, const type *const *t, size_t n) {
  buf b;
  buf_init(&b, ir_mem(k->c));
  for (size_t i = 0; i < n; i++) {
    buf_printf(&b, "%s'", i ? ", " : "");
    text_print_type(&b, t[i]);
    BUF_LIT(&b, "'");
  }
  return finish(k->c, &b);
}

/* ---- elements ---- */

int element_kind(const type *e) {
  if (e->kind == TYPE_FLOAT) return EL_FLOAT;
  if (e->kind == TYPE_COMPLEX) return EL_COMPLEX;
  if (e->kind != TYPE_INT) return 0;
  if (e->width == 1) return EL_BOOL;
  return e->sign == UNSIGNED ? EL_UINT : EL_SINT;
}

/* Storage of 2 to 32 bits, and zero points in its range. */
quant_kind quant_class(const type *e) {
  const quant *q = e->quant;
  if (!q || (q->form != QUANT_UNIFORM && q->form != QUANT_PER_AXIS)) return NOT_QUANT;
  const type *s = q->storage;
  if (s->kind != TYPE_INT || s->width < 2 || (s->width & (s->width - 1)) != 0) return NOT_QUANT;
  if (q->is_signed && s->sign != SIGNLESS) return NOT_QUANT;
  for (size_t i = 0; i < q->zero_points.len; i++)
    if (q->zero_points.data[i] < q->min || q->zero_points.data[i] > q->max) return NOT_QUANT;
  return q->form == QUANT_UNIFORM ? QUANT_TENSOR : QUANT_AXIS;
}

bool quant_axis_fits(const type *t) {
  const quant *q = t->elem->quant;
  if (t->kind != TYPE_TENSOR || !q || q->form != QUANT_PER_AXIS) return true;
  i64 d = q->dims.data[0];
  if (d >= rank_of(t)) return false;
  return t->dims.data[d] == DYNAMIC || t->dims.data[d] == (i64)q->scales.len;
}

bool check_result(checker *k, const op *o, size_t i, i64s dims, const type *elem) {
  const type *t = out_type(o, i);
  const type *want = type_tensor(k->c, dims, elem, NULL);
  if (shapes_agree(t, want) && t->elem == elem) return true;
  return op_error(k->c, o,
                  "inferred type(s) '%s' are incompatible with return type(s) of operation '%s'",
                  show(k, want), show(k, t));
}

/* ---- lists of dimensions ---- */

bool check_dims(checker *k, const op *o, i64s dims, i64 bound, const char *what, dim_set *out) {
  dim_set seen = 0;
  for (size_t i = 0; i < dims.len; i++) {
    i64 d = dims.data[i];
    if (d < 0 || d >= bound)
      return op_error(k->c, o, "%s value: %lld is out of range: [0, %lld)", what, (long long)d,
                      (long long)bound);
    if (dim_in(seen, d))
      return op_error(k->c, o, "expects %s to not repeat, got: [%s]", what, show_dims(k, dims));
    seen |= 1ull << d;
  }
  if (out) *out = seen;
  return true;
}

bool check_bounds(checker *k, const op *o, i64s dims, i64 bound, const char *what,
                  const char *bound_name, dim_set *out) {
  dim_set seen = 0;
  for (size_t i = 0; i < dims.len; i++) {
    i64 d = dims.data[i];
    if (d < 0 || d >= bound)
      return op_error(
          k->c, o, "Expects each element of %s to be in range [0, %s) i.e. [0, %lld). got: %lld.",
          what, bound_name, (long long)bound, (long long)d);
    seen |= 1ull << d;
  }
  if (out) *out = seen;
  return true;
}

bool check_ordered(checker *k, const op *o, i64s dims, const char *what, bool repeats) {
  /* the two ops that ask for it have their own style */
  const char *expects = op_is(o, scatter) ? "Expects" : "expects";
  const char *got = op_is(o, scatter) ? "; got" : ", got", *end = op_is(o, scatter) ? "." : "";
  for (size_t i = 1; i < dims.len; i++)
    if (dims.data[i - 1] > dims.data[i])
      return op_error(k->c, o, "%s %s to be sorted%s: [%s]%s", expects, what, got,
                      show_dims(k, dims), end);
  return repeats || check_unique(k, o, dims, what);
}

bool check_unique(checker *k, const op *o, i64s dims, const char *what) {
  const char *expects = op_is(o, scatter) ? "Expects" : "expects";
  const char *got = op_is(o, scatter) ? "; got" : ", got", *end = op_is(o, scatter) ? "." : "";
  for (size_t i = 0; i < dims.len; i++)
    for (size_t j = i + 1; j < dims.len; j++)
      if (dims.data[i] == dims.data[j])
        return op_error(k->c, o, "%s %s to not repeat%s: [%s]%s", expects, what, got,
                        show_dims(k, dims), end);
  return true;
}

bool check_disjoint(checker *k, const op *o, i64s a, i64s b, const char *what_a,
                    const char *what_b) {
  for (size_t i = 0; i < a.len + b.len; i++) {
    i64 d = i < a.len ? a.data[i] : b.data[i - a.len];
    for (size_t j = 0; j < i; j++)
      if (d == (j < a.len ? a.data[j] : b.data[j - a.len]))
        return op_error(k->c, o, "has duplicated dimension from %s and %s: %lld", what_a, what_b,
                        (long long)d);
  }
  return true;
}
