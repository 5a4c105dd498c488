/* Writing an op by its form: the same steps as form_parse.c, in the other direction.
 *
 * Ops that do not verify are printed too, so nothing here relies on operands, slots or results
 * being there or being of the right kind. Where a short spelling does not say everything (types
 * that differ), the long one is printed. */
#include "text/printer.h"

typedef void directive_fn(printer *w, const op *o, const form *f, const form_step *s);

/* ---- groups and types ---- */

static void group_range(const op *o, int group, size_t *begin, size_t *count) {
  if (!op_operand_group(o, (size_t)group, begin, count)) *begin = *count = 0;
}

/* One result, and every operand of its type. */
static bool all_same(const op *o) {
  const type *t = o->num_results == 1 ? o->results[0].type : NULL;
  for (u32 i = 0; t && i < o->num_operands; i++)
    if (op_operand(o, i)->type != t) return false;
  return t != NULL;
}

static void dir_fn(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f, (void)s;
  printer_fn(w, o);
}

static void dir_same(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f, (void)s;
  if (all_same(o))
    printer_type(w, o->results[0].type);
  else
    printer_fn(w, o);
}

static void dir_select(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f, (void)s;
  const type *t = o->num_results == 1 && o->num_operands == 3 ? o->results[0].type : NULL;
  if (!t || op_operand(o, 1)->type != t || op_operand(o, 2)->type != t) {
    printer_fn(w, o);
    return;
  }
  printer_type(w, op_operand(o, 0)->type);
  PUT(w, ", ");
  printer_type(w, t);
}

/* The type of the parts of a complex tensor? */
static bool is_part(const type *part, const type *t) {
  return type_is_tensor(t) && t->elem->kind == TYPE_COMPLEX && part->kind == t->kind &&
         part->elem == t->elem->elem && i64s_eq(part->dims, t->dims) &&
         part->encoding == t->encoding;
}

static void dir_complex(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f, (void)s;
  bool parts = o->num_results == 1;
  for (u32 i = 0; parts && i < o->num_operands; i++)
    parts = is_part(op_operand(o, i)->type, o->results[0].type);
  if (parts)
    printer_type(w, o->results[0].type);
  else
    printer_fn(w, o);
}

static void dir_pairwise(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f, (void)s;
  printer_types(w, o, 0, o->num_operands);
}

static void dir_callee(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f, (void)s;
  if (o->num_operands) printer_type(w, op_operand(o, 0)->type);
}

static void dir_none(printer *w, const op *o, const form *f, const form_step *s) {
  size_t begin, n;
  (void)f;
  group_range(o, s->args[0], &begin, &n);
  if (n == 0) PUT(w, "()");
}

static void dir_tuple(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f, (void)s;
  if (o->num_results == 1) printer_type(w, o->results[0].type);
}

static void dir_type(printer *w, const op *o, const form *f, const form_step *s) {
  int result = s->args[0] - (int)o->info->num_operands;
  size_t begin, n;
  (void)f;
  if (result < 0) {
    group_range(o, s->args[0], &begin, &n);
    printer_types(w, o, begin, n);
    return;
  }
  if ((u32)result >= o->num_results) return;
  bool many = o->info->results[result].arity == MANY;
  printer_result_types(w, o, (size_t)result, many ? o->num_results - (u32)result : 1);
}

/* ---- attributes ---- */

/* Without what the form has said and without defaults. */
static void dir_attrs(printer *w, const op *o, const form *f, const form_step *s) {
  u64 hide = f->mentioned;
  (void)s;
  for (size_t i = 0; i < f->num_defaults; i++) {
    u8 slot = f->defaults[i].slot;
    if (o->slots[slot] && form_is_default(f, o->info, slot, o->slots[slot])) hide |= 1ull << slot;
  }
  printer_attr_dict(w, o, hide, false);
}

static i64s i64s_of(const attr *a) {
  const dense_array_attr *d = attr_as(dense_array, a);
  if (!d || d->elem->kind != TYPE_INT || d->elem->width != 64) return (i64s){0};
  return (i64s){(const i64 *)(const void *)d->data.data, d->data.len / sizeof(i64)};
}

/* What is there by default but not hidden, such as the <none> of mpmd.reduce. */
static void absent(printer *w, const form *f, int slot) {
  for (size_t i = 0; i < f->num_defaults; i++) {
    if (f->defaults[i].slot != slot) continue;
    PUT(w, "<");
    put(w, f->defaults[i].value);
    PUT(w, ">");
    return;
  }
  PUT(w, "<<NULL ATTRIBUTE>>");
}

static void attribute(printer *w, const op *o, const form *f, const form_step *s) {
  const slot_info *slot = &o->info->slots[s->slot];
  const attr *a = o->slots[s->slot];
  if (!a)
    absent(w, f, s->slot);
  else if (slot->attr_id >= 0)
    printer_dialect_body(w, a, true);
  else if (o->info->hooks) /* any attribute, so with its type */
    printer_attr(w, a, true);
  else
    printer_attr_bare(w, a);
}

static void dir_symbol(printer *w, const op *o, const form *f, const form_step *s) {
  const string_attr *a = attr_as(string, o->slots[s->args[0]]);
  (void)f;
  printer_symbol(w, a ? a->value : STR(""));
}

static void dir_i32(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f;
  if (o->slots[s->args[0]]) printer_attr_bare(w, o->slots[s->args[0]]);
}

/* Lists of different lengths have no such notation: what is invalid is printed field by field. */
static void dir_slices(printer *w, const op *o, const form *f, const form_step *s) {
  i64s v[3];
  (void)f;
  for (int k = 0; k < 3; k++) v[k] = i64s_of(o->slots[s->args[k]]);
  put_char(w, '[');
  if (v[0].len != v[1].len || v[0].len != v[2].len) {
    static const char *const names[] = {"start_indices: ", ", limit_indices: ", ", strides: "};
    for (int k = 0; k < 3; k++) {
      put(w, str_of(names[k]));
      printer_i64s(w, v[k], false);
    }
  }
  for (size_t i = 0; v[0].len == v[1].len && v[0].len == v[2].len && i < v[0].len; i++) {
    if (i) PUT(w, ", ");
    for (int k = 0; k < (v[2].data[i] == 1 ? 2 : 3); k++) {
      if (k) put_char(w, ':');
      printer_i64(w, v[k].data[i]);
    }
  }
  put_char(w, ']');
}

static void two_lists(printer *w, i64s a, i64s b) {
  printer_i64s(w, a, true);
  PUT(w, " x ");
  printer_i64s(w, b, true);
}

static void dir_dot(printer *w, const op *o, const form *f, const form_step *s) {
  const dot_attr *d = attr_as(dot, o->slots[s->args[0]]);
  (void)f;
  if (!d) return;
  if (d->lhs_batching_dimensions.len || d->rhs_batching_dimensions.len) {
    PUT(w, "batching_dims = ");
    two_lists(w, d->lhs_batching_dimensions, d->rhs_batching_dimensions);
    PUT(w, ", ");
  }
  PUT(w, "contracting_dims = ");
  two_lists(w, d->lhs_contracting_dimensions, d->rhs_contracting_dimensions);
}

static void dir_precision(printer *w, const op *o, const form *f, const form_step *s) {
  const array_attr *config = attr_as(array, o->slots[s->args[0]]);
  const attr *algorithm = s->args[1] < 0 ? NULL : o->slots[s->args[1]];
  (void)f;
  if (config) {
    PUT(w, ", precision = [");
    for (size_t i = 0; i < config->elems.len; i++) {
      if (i) PUT(w, ", ");
      printer_dialect_body(w, config->elems.data[i], true);
    }
    put_char(w, ']');
  }
  if (!algorithm) return;
  PUT(w, ", algorithm = ");
  printer_dialect_body(w, algorithm, true);
}

static void dir_exponents(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f;
  for (int k = 0; k < 2; k++) {
    put_char(w, "em"[k]);
    if (o->slots[s->args[k]]) printer_attr_bare(w, o->slots[s->args[k]]);
  }
}

static void dir_conv(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f;
  if (o->slots[s->args[0]]) printer_dialect_body(w, o->slots[s->args[0]], true);
}

/* An op that is printed before it is verified may have one number for more elements than anybody
 * waits for. */
bool printer_is_long(const attr *a) {
  enum { MOST = 1 << 16 };
  const dense_attr *d = attr_as(dense, a);
  i64 n = 0;
  return d && d->splat && (!type_num_elements(d->type, &n) || n > MOST);
}

/* [l, h], [l, h]: the attribute has them row by row. */
static void pad_pairs(printer *w, const attr *a) {
  const dense_attr *d = attr_as(dense, a);
  i64 n = 0;
  if (!d || !type_num_elements(d->type, &n)) return;
  for (i64 i = 0; i + 1 < n; i += 2) {
    if (i) PUT(w, ", ");
    i64 pair[] = {attr_dense_int(a, (size_t)i), attr_dense_int(a, (size_t)i + 1)};
    printer_i64s(w, (i64s){pair, 2}, true);
  }
}

static void dir_window(printer *w, const op *o, const form *f, const form_step *s) {
  static const char *const words[FORM_ARGS] = {"stride", "pad", "lhs_dilate", "rhs_dilate",
                                               "reverse"};
  bool first = true;
  (void)f;
  for (int k = 0; k < FORM_ARGS; k++) {
    const attr *a = o->slots[s->args[k]];
    if (!a) continue;
    if (!first) PUT(w, ", ");
    first = false;
    put(w, str_of(words[k]));
    PUT(w, " = ");
    if (!attr_is(dense, a)) {
      printer_attr_bare(w, a);
      continue;
    }
    if (printer_is_long(a)) {
      printer_attr(w, a, false);
      continue;
    }
    put_char(w, '[');
    pad_pairs(w, a);
    put_char(w, ']');
  }
}

/* ---- operands and regions ---- */

static void dir_operands(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f, (void)s;
  printer_operands(w, o, 0, o->num_operands);
}

/* A comma even after no operands, as MLIR prints it. */
static void dir_list(printer *w, const op *o, const form *f, const form_step *s) {
  size_t begin, n;
  (void)f;
  group_range(o, s->args[0], &begin, &n);
  printer_operands(w, o, begin, n);
  put_char(w, ',');
}

static void dir_region(printer *w, const op *o, const form *f, const form_step *s) {
  const block *b = o->num_regions ? o->regions[0].first : NULL;
  (void)f, (void)s;
  put_char(w, '(');
  for (u32 i = 0; b && i < b->num_args; i++) {
    if (i) PUT(w, ", ");
    printer_region_arg(w, b->args[i], NULL);
  }
  PUT(w, ") ");
  if (o->num_regions) printer_region(w, &o->regions[0], false, false);
}

static void dir_regions(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f, (void)s;
  for (u32 i = 0; i < o->num_regions; i++) {
    put(w, i ? STR(", ") : STR(" ("));
    printer_region(w, &o->regions[i], true, false);
  }
  if (o->num_regions) put_char(w, ')');
}

static void dir_flags(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f;
  printer_flags(w, o, s->args[0]);
}

static void dir_placed(printer *w, const op *o, const form *f, const form_step *s) {
  (void)f;
  printer_placed(w, o, s->args);
}

static directive_fn *const directive_of[DIR_COUNT] = {
#define DIRECTIVE(id) [DIR_##id] = dir_##id,
#include "text/directives.def"
};

/* ---- the steps ---- */

/* What has its default counts as absent, as MLIR prints it. */
static bool is_present(const op *o, const form *f, const form_step *s) {
  size_t begin, n;
  const attr *a = s->slot >= 0 ? o->slots[s->slot] : NULL;
  if (s->slot >= 0) return a && !form_is_default(f, o->info, (size_t)s->slot, a);
  group_range(o, s->group, &begin, &n);
  return n > 0;
}

/* A step a piece of text, in order; FORM_IF jumps over as many as belong to what is absent. */
void printer_form(printer *w, const op *o, const form *f) {
  for (size_t i = 0; i < f->num_steps; i++) {
    const form_step *s = &f->steps[i];
    size_t begin, n;
    switch ((form_kind)s->kind) {
    case FORM_TEXT:
      put(w, s->text);
      break;
    case FORM_ATTR:
      attribute(w, o, f, s);
      break;
    case FORM_DIRECTIVE:
      directive_of[s->directive](w, o, f, s);
      break;
    case FORM_OPERANDS:
      group_range(o, s->group, &begin, &n);
      printer_operands(w, o, begin, n);
      break;
    case FORM_IF:
      if (!is_present(o, f, s)) i += s->skip;
      break;
    }
  }
}
