/* What operands, results and attributes may be: the rows of ir/constraints.def and of the slots, in
 * the words of ODS.
 *
 * MLIR generates a predicate and a description from each type constraint; here both come from one
 * row: which shapes (HLO_Tensor, HLO_ScalarTensor, ...), of which elements. Messages are put
 * together only when a check has failed. */
#include "dialect/verify.h"

/* ---- elements ---- */

/* Sets of element types. 0 is none of them, so that lists in rows can end with it. */
typedef enum elements {
  NO_ELEMENTS,
#define ELEMENTS(id, ...) ELEMENTS_##id,
#include "ir/constraints.def"
} elements;

static const char *const element_words[] = {
#define ELEMENTS(id, words) [ELEMENTS_##id] = words,
#include "ir/constraints.def"
};

/* HLO_Float has no tf32, f80 or f128. */
static bool is_small_float(const type *e) {
  return e->kind == TYPE_FLOAT && e->flt != FLOAT_tf32 && e->flt != FLOAT_f80 &&
         e->flt != FLOAT_f128;
}
static bool is_wide_float(const type *e) {
  return e->kind == TYPE_FLOAT && (e->flt == FLOAT_f32 || e->flt == FLOAT_f64);
}
static bool is_hlo_int(const type *e, bool any_sign) {
  if (e->kind != TYPE_INT || (e->sign != SIGNLESS && (!any_sign || e->sign != UNSIGNED)))
    return false;
  return e->width >= 2 && e->width <= 64 && (e->width & (e->width - 1)) == 0;
}

static bool in_elements(elements set, const type *e) {
  switch (set) {
  case NO_ELEMENTS:
    return false;
  case ELEMENTS_ANY:
  case ELEMENTS_VALUE:
    return true;
  case ELEMENTS_FLOAT:
    return is_small_float(e);
  case ELEMENTS_WIDE:
    return is_wide_float(e);
  case ELEMENTS_BOOL:
    return e->kind == TYPE_INT && e->width == 1 && e->sign == SIGNLESS;
  case ELEMENTS_SINT:
    return is_hlo_int(e, false);
  case ELEMENTS_INT:
    return is_hlo_int(e, true);
  case ELEMENTS_COMPLEX:
    return e->kind == TYPE_COMPLEX && is_wide_float(e->elem);
  case ELEMENTS_QUANT:
    return quant_class(e) == QUANT_TENSOR;
  case ELEMENTS_QUANT_AXIS:
    return quant_class(e) == QUANT_AXIS;
  case ELEMENTS_INDEX:
    return e->kind == TYPE_INDEX;
  case ELEMENTS_DIMENSION:
    return e->kind == TYPE_INDEX || is_hlo_int(e, true);
  case ELEMENTS_ANY_INT:
    return e->kind == TYPE_INT;
  case ELEMENTS_ANY_FLOAT:
    return e->kind == TYPE_FLOAT;
  case ELEMENTS_ANY_COMPLEX:
    return e->kind == TYPE_COMPLEX;
  case ELEMENTS_SIGNLESS:
    return e->kind == TYPE_INDEX || (e->kind == TYPE_INT && e->sign == SIGNLESS && e->width);
  case ELEMENTS_I32:
    return e->kind == TYPE_INT && e->width == 32 && e->sign == SIGNLESS;
  case ELEMENTS_UI32:
    return e->kind == TYPE_INT && e->width == 32 && e->sign == UNSIGNED;
  }
  return false;
}

/* ---- shapes ---- */

typedef enum shape_set {
#define SHAPE(id, ...) SHAPE_##id,
#include "ir/constraints.def"
} shape_set;

static const char *const shape_words[] = {
#define SHAPE(id, words) [SHAPE_##id] = words,
#include "ir/constraints.def"
};

/* At most one dimension is not static, and that has a bound. */
static bool is_bounded(const type *t) {
  const bounds_attr *b = attr_as(bounds, t->encoding);
  size_t dynamic = 0;
  for (size_t i = 0; i < t->dims.len; i++) {
    if (t->dims.data[i] != DYNAMIC) continue;
    dynamic++;
    if (!b || i >= b->bounds.len || b->bounds.data[i] == DYNAMIC) return false;
  }
  return dynamic <= 1;
}

static bool in_shape(shape_set set, const type *t) {
  bool any = set == SHAPE_SHAPED;
  if (t->kind == TYPE_UNRANKED) return any || set == SHAPE_UNRANKED;
  if (t->kind == TYPE_MEMREF) return any || set == SHAPE_MEMREF;
  if (any) return type_is_shaped(t) || type_is_mesh_tensor(t);
  if (t->kind != TYPE_TENSOR) return false;
  switch (set) {
  case SHAPE_RANKED:
  case SHAPE_UNRANKED:
  case SHAPE_SHAPED:
    return true;
  case SHAPE_MEMREF:
    return false;
  case SHAPE_D0:
    return t->dims.len == 0;
  case SHAPE_D1:
    return t->dims.len == 1;
  case SHAPE_STATIC:
    return type_is_static(t);
  case SHAPE_BOUNDED:
    return is_bounded(t);
  case SHAPE_STATIC_1D:
  case SHAPE_STATIC_1D_INT:
    return t->dims.len == 1 && type_is_static(t);
  case SHAPE_STATIC_2D_INT:
    return t->dims.len == 2 && type_is_static(t);
  }
  return false;
}

/* ---- rows ---- */

/* TENSORS: of a shape, of some elements. ONE_OF: some other row holds. TUPLE_OF: tuples of those
 * rows, nested. KIND: a kind of type. LIKE: the type or its elements. */
typedef enum row_form { TENSORS, ONE_OF, TUPLE_OF, KIND, LIKE } row_form;
typedef struct row {
  u8 form;
  u8 set;   /* shape_set, type_kind, elements */
  u8 of[7]; /* elements, other rows; ends with a 0 */
  const char *words;
} row;

/* EACH(p, a, b): pa, pb. The rows name sets and rows without their prefixes, up to six of them. */
#define EACH1(m, a) m##a
#define EACH2(m, a, ...) m##a, EACH1(m, __VA_ARGS__)
#define EACH3(m, a, ...) m##a, EACH2(m, __VA_ARGS__)
#define EACH4(m, a, ...) m##a, EACH3(m, __VA_ARGS__)
#define EACH5(m, a, ...) m##a, EACH4(m, __VA_ARGS__)
#define EACH6(m, a, ...) m##a, EACH5(m, __VA_ARGS__)
#define PICK(a, b, c, d, e, f, each, ...) each
#define EACH(m, ...) PICK(__VA_ARGS__, EACH6, EACH5, EACH4, EACH3, EACH2, EACH1, )(m, __VA_ARGS__)

static const row rows[] = {
#define TENSORS(id, shape, ...)                                                                    \
  [IS_##id] = {TENSORS, SHAPE_##shape, {EACH(ELEMENTS_, __VA_ARGS__)}, NULL},
#define CHOICE(id, form, ...) [IS_##id] = {form, 0, {EACH(IS_, __VA_ARGS__)}, NULL},
#define KIND(id, kind, words) [IS_##id] = {KIND, kind, {0}, words},
#define LIKE(id, set, words) [IS_##id] = {LIKE, ELEMENTS_##set, {0}, words},
#include "ir/constraints.def"
};

/* Recursive only through rows of rows and tuples; the element types of a row are tried in turn. */
bool constraint_holds(constraint_id id, const type *t) {
  const row *r = &rows[id];
  bool ok = false;
  if (id == IS_any) return true;
  if (r->form == KIND) return r->set != TYPE_NONE && t->kind == r->set;
  if (r->form == LIKE) return in_elements((elements)r->set, type_element(t));
  if (r->form == TENSORS) {
    if (!in_shape((shape_set)r->set, t)) return false;
    for (const u8 *e = r->of; *e && !ok; e++) ok = in_elements((elements)*e, t->elem);
    return ok && quant_axis_fits(t);
  }
  if (r->form == ONE_OF) {
    for (const u8 *e = r->of; *e && !ok; e++) ok = constraint_holds((constraint_id)*e, t);
    return ok;
  }
  if (t->kind != TYPE_TUPLE) return false;
  for (size_t i = 0; i < t->types.len; i++) { /* tuples nest: the same row for inner ones */
    ok = constraint_holds(id, t->types.data[i]);
    for (const u8 *e = r->of; *e && !ok; e++)
      ok = constraint_holds((constraint_id)*e, t->types.data[i]);
    if (!ok) return false;
  }
  return true;
}

static void put_constraint(buf *b, constraint_id id) {
  const row *r = &rows[id];
  if (r->words) buf_printf(b, "%s", r->words);
  if (r->form == TENSORS) buf_printf(b, "%s of ", shape_words[r->set]);
  if (r->form == TUPLE_OF) BUF_LIT(b, "nested tuple with any combination of ");
  for (const u8 *e = r->of; *e; e++) {
    if (e != r->of) BUF_LIT(b, " or ");
    if (r->form == TENSORS)
      buf_printf(b, "%s", element_words[*e]);
    else
      put_constraint(b, (constraint_id)*e);
  }
  if (r->form == TENSORS || r->form == TUPLE_OF) BUF_LIT(b, " values");
}

void dialect_describe_value(buf *out, const value_info *info) {
  if (info->arity != ONE) buf_printf(out, "variadic of ");
  put_constraint(out, info->is);
}

static bool check_one(checker *k, const op *o, const value_info *info, const type *t,
                      const char *what, size_t i) {
  if (constraint_holds(info->is, t)) return true;
  buf b;
  buf_init(&b, ir_mem(k->c));
  dialect_describe_value(&b, info);
  str words = buf_take(&b, k->scratch);
  return op_error(k->c, o, "%s #%zu must be " STR_FMT ", but got '%s'", what, i, STR_ARG(words),
                  show(k, t));
}

/* Operands that do not divide into the row's lists pass: check_segments says so later. */
bool check_operand_constraints(checker *k, const op *o) {
  const op_info *info = o->info;
  for (u32 g = 0; g < info->num_operands; g++) {
    size_t begin, count;
    if (info->operands[g].is == IS_any || !op_operand_group(o, g, &begin, &count)) continue;
    for (size_t i = begin; i < begin + count; i++)
      if (!check_one(k, o, &info->operands[g], in_type(o, i), "operand", i)) return false;
  }
  return true;
}

/* Results have one list of several values at most. */
bool check_constraints(checker *k, const op *o) {
  const op_info *info = o->info;
  if (!check_operand_constraints(k, o)) return false;
  for (u32 i = 0, g = 0; i < o->num_results && g < info->num_results; i++) {
    if (!check_one(k, o, &info->results[g], out_type(o, i), "result", i)) return false;
    if (info->results[g].arity == ONE) g++;
  }
  return true;
}

/* ---- attributes ---- */

/* Constants hold as many bytes as their type says. */
static bool check_dense(checker *k, const op *o, const char *name, const attr *a) {
  const dense_attr *d = attr_as(dense, a);
  i64 n = 0, bytes = 0;
  if (!d) return true;
  size_t size = type_storage(type_element(d->type));
  bool ok = size && type_num_elements(d->type, &n) && checked_mul(n, (i64)size, &bytes);
  ok = ok && (d->splat ? d->data.len == size || n == 0 : (i64)d->data.len == bytes);
  return ok || op_error(k->c, o, "attribute '%s' has contents that do not fit '%s'", name,
                        show(k, d->type));
}

/* Of several that are missing, the first by name, as in MLIR. */
static const slot_info *first_missing(const op *o) {
  const slot_info *found = NULL;
  for (u32 i = 0; i < o->info->num_slots; i++) {
    const slot_info *s = &o->info->slots[i];
    bool missing = !o->slots[i] && (s->need & REQUIRED);
    if (missing && (!found || strcmp(s->name, found->name) < 0)) found = s;
  }
  return found;
}

/* Attributes that are missing come before those that are wrong, whatever their order in the row, as
 * in MLIR's generated verifiers. Afterwards views decode every attribute of a row. */
bool check_slots(checker *k, const op *o) {
  const char *problem;
  const slot_info *s = first_missing(o);
  if (s) return op_error(k->c, o, "requires attribute '%s'", s->name);
  s = slot_first_problem(k->c, o->info, o->slots, &problem);
  if (s)
    return op_error(k->c, o, "attribute '%s' failed to satisfy constraint: %s", s->name, problem);
  for (u32 i = 0; i < o->info->num_slots; i++)
    if (o->slots[i] && !check_dense(k, o, o->info->slots[i].name, o->slots[i])) return false;
  return true;
}
