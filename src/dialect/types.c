/* What the checks stand on: types, lists of dimensions, symbols, and their words in messages.
 *
 * Used by every verify_*.c and by inference; nothing here keeps state but the checker's caches.
 * "Agree" is HLO's compatibility, not equality: a dynamic dimension agrees with any size, since
 * only the run knows. The words are those of MLIR and StableHLO letter for letter, because people
 * search for them and tests compare them. */
#include <stdlib.h>

#include "dialect/verify.h"
#include "text/text.h"

static bool is_shaped(const type *t) {
  return type_is_tensor(t) || t->kind == TYPE_MEMREF || t->kind == TYPE_VECTOR;
}

bool shapes_agree(const type *a, const type *b) {
  if (!is_shaped(a) || !is_shaped(b)) return is_shaped(a) == is_shaped(b);
  if (a->kind == TYPE_UNRANKED || b->kind == TYPE_UNRANKED) return true;
  if (a->dims.len != b->dims.len) return false;
  for (size_t i = 0; i < a->dims.len; i++)
    if (!dims_agree(a->dims.data[i], b->dims.data[i])) return false;
  return true;
}

/* Static sizes of t within the bounds of the other, where both say something of a dimension. A
 * bound against a bound says nothing: the sizes at run time may still agree. */
static bool in_bounds(const type *t, const type *bounded) {
  i64s bounds = bounds_of(bounded);
  for (size_t i = 0; i < bounds.len && i < t->dims.len; i++)
    if (bounds.data[i] != DYNAMIC && bounds.data[i] < t->dims.data[i]) return false;
  return true;
}

bool elements_agree(const type *a, const type *b) {
  const quant *p = a->quant, *q = b->quant;
  if (a == b) return true;
  return p && q && p->storage == q->storage && p->min == q->min && p->max == q->max &&
         p->expressed == q->expressed && (p->form == QUANT_PER_AXIS) == (q->form == QUANT_PER_AXIS);
}

bool types_agree(const type *a, const type *b) {
  if (a == b) return true;
  if (!is_shaped(a) || !is_shaped(b)) return false;
  return shapes_agree(a, b) && in_bounds(a, b) && in_bounds(b, a) &&
         elements_agree(a->elem, b->elem);
}

bool is_scalar_of(const type *t, const type *elem) {
  return t->kind == TYPE_TENSOR && t->dims.len == 0 && t->elem == elem;
}

/* ---- text ---- */

const char *dialect_show_type(ir_ctx *c, const type *t) { return text_show_type(ir_arena(c), t); }

const char *show(checker *k, const type *t) { return text_show_type(k->scratch, t); }
const char *show_attr(checker *k, const attr *a) { return text_show_attr(k->scratch, a); }
const char *show_ints(checker *k, i64s list) { return text_show_i64s(k->scratch, list); }

/* Temporary text lives in the checker's scratch: the error is formatted into the sink's own memory
 * before the check returns. */
const char *show_dims(checker *k, i64s dims) {
  buf b;
  buf_init(&b, ir_mem(k->c));
  for (size_t i = 0; i < dims.len; i++) {
    if (dims.data[i] == DYNAMIC)
      buf_printf(&b, "%s?", i ? ", " : "");
    else
      buf_printf(&b, "%s%lld", i ? ", " : "", (long long)dims.data[i]);
  }
  return buf_take(&b, k->scratch).data;
}

const char *show_operands(checker *k, const op *o) {
  const type **t = ARENA_ARRAY(k->scratch, const type *, o->num_operands);
  for (u32 i = 0; i < o->num_operands; i++) t[i] = in_type(o, i);
  return show_types(k, t, o->num_operands);
}

const char *show_results(checker *k, const op *o) {
  const type **t = ARENA_ARRAY(k->scratch, const type *, o->num_results);
  for (u32 i = 0; i < o->num_results; i++) t[i] = out_type(o, i);
  return show_types(k, t, o->num_results);
}

const char *show_args(checker *k, const block *b) {
  const type **t = ARENA_ARRAY(k->scratch, const type *, b->num_args);
  for (u32 i = 0; i < b->num_args; i++) t[i] = b->args[i]->type;
  return show_types(k, t, b->num_args);
}

const char *show_types(checker *k, const type *const *t, size_t n) {
  buf b;
  buf_init(&b, ir_mem(k->c));
  for (size_t i = 0; i < n; i++) {
    buf_printf(&b, "%s'", i ? ", " : "");
    text_print_type(&b, t[i]);
    BUF_LIT(&b, "'");
  }
  return buf_take(&b, k->scratch).data;
}

/* ---- elements ---- */

/* Storage of 2 to 32 bits in powers of two, and zero points in its range: the quantized types of
 * spec.md ("Quantization types"). What quant itself can say besides (other widths, sub-channel
 * blocks) is no StableHLO type, though it parses. */
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

/* Integers, not more than a list of dimensions can be long. */
bool constant_ints(checker *k, const value *v, i64s *out) {
  enum { MOST = 4 * DIALECT_MAX_RANK };
  const op *o = value_op(v);
  const dense_attr *d = o && op_has(o, CONSTANT) ? attr_as(dense, o->slots[0]) : NULL;
  i64 n;
  if (!d || !type_num_elements(d->type, &n) || n > MOST) return false;
  if (d->type->elem->kind != TYPE_INT && d->type->elem->kind != TYPE_INDEX) return false;
  i64 *list = ARENA_ARRAY(k->scratch, i64, (size_t)n);
  for (i64 i = 0; i < n; i++) list[i] = attr_dense_int(&d->base, (size_t)i);
  *out = (i64s){list, (size_t)n};
  return true;
}

/* ---- lists of dimensions ---- */

bool check_range(checker *k, const op *o, i64s dims, i64 bound, const char *what) {
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] < 0 || dims.data[i] >= bound)
      return plain_error(k, o, "%s value: %lld is out of range: [0, %lld)", what,
                         (long long)dims.data[i], (long long)bound);
  return true;
}

bool check_bounds(checker *k, const op *o, i64s dims, i64 bound, const char *what,
                  const char *bound_name) {
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] < 0 || dims.data[i] >= bound)
      return plain_error(
          k, o, "Expects each element of %s to be in range [0, %s) i.e. [0, %lld). got: %lld.",
          what, bound_name, (long long)bound, (long long)dims.data[i]);
  return true;
}

bool is_sorted(i64s dims) {
  for (size_t i = 1; i < dims.len; i++)
    if (dims.data[i - 1] > dims.data[i]) return false;
  return true;
}

static int by_value(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x > y) - (x < y);
}

bool is_unique(checker *k, i64s dims) {
  i64 *sorted = ARENA_ARRAY(k->scratch, i64, dims.len);
  for (size_t i = 0; i < dims.len; i++) sorted[i] = dims.data[i];
  if (dims.len) qsort(sorted, dims.len, sizeof *sorted, by_value);
  for (size_t i = 1; i < dims.len; i++)
    if (sorted[i - 1] == sorted[i]) return false;
  return true;
}

bool contains(i64s dims, i64 d) {
  for (size_t i = 0; i < dims.len; i++)
    if (dims.data[i] == d) return true;
  return false;
}

/* The first repetition in the order of the lists, not of the values, is what the message names; so
 * sorting finds that there is one and a second look which. The second look is quadratic but runs
 * once, before an error. */
bool check_disjoint(checker *k, const op *o, i64s a, i64s b, const char *what_a,
                    const char *what_b) {
  i64 *all = ARENA_ARRAY(k->scratch, i64, a.len + b.len);
  for (size_t i = 0; i < a.len + b.len; i++) all[i] = i < a.len ? a.data[i] : b.data[i - a.len];
  if (is_unique(k, (i64s){all, a.len + b.len})) return true;
  size_t j = 1; /* the first that comes again */
  while (!contains((i64s){all, j}, all[j])) j++;
  return plain_error(k, o, "has duplicated dimension from %s and %s: %lld", what_a, what_b,
                     (long long)all[j]);
}

/* The bounds of a type; empty: it has none. */
i64s bounds_of(const type *t) {
  const bounds_attr *b = t->kind == TYPE_TENSOR ? attr_as(bounds, t->encoding) : NULL;
  return b && b->bounds.len == t->dims.len ? b->bounds : (i64s){0};
}

/* ---- what traits of several ops ask ---- */

bool check_same_shape(checker *k, const op *o) {
  if (!o->num_operands) return op_error(k->c, o, "expected 1 or more operands, but found 0");
  const type *first = value_type(o, 0);
  for (u32 i = 0; i < o->num_operands + o->num_results; i++)
    if (!shapes_agree(first, value_type(o, i)))
      return op_error(k->c, o, "requires the same shape for all operands and results");
  return true;
}

bool check_same_type(checker *k, const op *o) {
  if (!o->num_operands && !o->num_results) return true;
  const type *first = value_type(o, 0);
  for (u32 i = 0; i < o->num_operands + o->num_results; i++)
    if (!types_agree(first, value_type(o, i)))
      return op_error(k->c, o, "requires compatible types for all operands and results");
  return true;
}

/* Elementwise: the first trait of some */
bool check_elementwise(checker *k, const op *o) {
  for (u32 i = 1; i < o->num_operands + o->num_results; i++)
    if (value_type(o, 0)->kind != value_type(o, i)->kind ||
        !shapes_agree(value_type(o, 0), value_type(o, i)))
      return op_error(k->c, o,
                      "all non-scalar operands/results must have the same shape and base type");
  return true;
}

/* ---- symbols ---- */

/* The map of one table at a time: uses are checked table by table, so the cache misses once
 * each. */
const op *checker_symbol(checker *k, const op *table, str name) {
  if (k->symbols_of != table) {
    k->symbols = symbol_map_build(table, k->scratch);
    k->symbols_of = table;
  }
  return symbol_map_find(k->symbols, name);
}
