/* The custom syntax of check.* ops: two operands, or one and a constant, then options.
 *
 *   check.expect_eq %a, %b : type             check.expect_eq_const %a, dense<..> : type
 *   ..., tolerance = 0.1                      ..., max_ulp_difference = 3, min_ulp_difference = 0
 *   check.expect_serialized_eq %a, probe_id = "x", iter = 1 : type
 */
#include "text/float.h"
#include "text/parser.h"
#include "text/printer.h"

/* An option: its word, the attribute it sets, the type of its number, and what it is if absent. */
typedef struct check_option {
  const char *word, *name;
  u8 kind; /* 'f' f64, 'u' ui64, 'v' ui32, 's' string */
  u64 absent;
} check_option;

static const check_option options[] = {
    {"tolerance", SLOT_TEXT(tolerance), 'f', 0x3F1A36E2EB1C432D}, /* 1e-4 */
    {"max_ulp_difference", SLOT_TEXT(max_ulp_difference), 'u', 0},
    {"min_ulp_difference", SLOT_TEXT(min_ulp_difference), 'u', 0},
    {"probe_id", SLOT_TEXT(probe_id), 's', 0},
    {"iter", SLOT_TEXT(iteration), 'v', 0},
};

/* ---- reading ---- */

/* The type of the number is the option's, so the text does not say it. */
static bool option_value(parser *p, op_state *st, const check_option *o) {
  const type *t = NULL;
  if (o->kind == 'f') t = type_float(p->ctx, FLOAT_f64);
  if (o->kind == 'u') t = type_int(p->ctx, 64, UNSIGNED);
  if (o->kind == 'v') t = type_int(p->ctx, 32, UNSIGNED);
  token text = p->tok;
  const attr *a = NULL;
  if (o->kind == 's' && parser_expect(p, TOK_STRING, "expected string"))
    a = attr_string(p->ctx, parser_string(p, &text));
  if (o->kind != 's') a = parser_attr(p, t);
  if (a) parser_set_attr(p, st, str_of(o->name), a);
  return a != NULL;
}

static bool one_option(parser *p, op_state *st) {
  for (size_t i = 0; i < COUNT(options); i++) {
    if (op_slot(st->info, str_of(options[i].name)) < 0) continue;
    if (!parser_accept_word(p, options[i].word)) continue;
    return parser_expect(p, '=', "expected '='") && option_value(p, st, &options[i]);
  }
  return parser_error(p, &p->tok, "expected an option of this check");
}

static bool constant(parser *p, op_state *st) {
  token t = p->tok;
  const attr *a = parser_attr(p, NULL);
  if (!a) return false;
  const dense_attr *d = attr_as(dense, a);
  const dense_resource_attr *r = attr_as(dense_resource, a);
  if (!d && !r) return parser_error(p, &t, "invalid kind of attribute specified");
  parser_set_attr(p, st, SLOT_NAME(value), a);
  VEC_PUSH(p->scratch, st->operand_types, d ? d->type : r->type);
  return true;
}

/* : type, or : type, type; expect_close has its attributes after the colon */
static bool types_after(parser *p, op_state *st) {
  bool close = op_slot(st->info, SLOT_NAME(max_ulp_difference)) >= 0;
  if (!close && !parser_optional_dict(p, st)) return false;
  if (!parser_expect(p, ':', "expected ':'")) return false;
  if (close && !parser_optional_dict(p, st)) return false;
  const type *t = parser_type(p), *u = t;
  if (!t || (close && (!parser_expect(p, ',', "expected ','") || !(u = parser_type(p)))))
    return false;
  VEC_PUSH(p->scratch, st->operand_types, t);
  if (st->operands.len == 2) VEC_PUSH(p->scratch, st->operand_types, u);
  return true;
}

bool parser_check(parser *p, op_state *st) {
  bool constants = op_slot(st->info, SLOT_NAME(value)) >= 0;
  for (u32 i = 0; i < st->info->num_operands; i++)
    if ((i && !parser_expect(p, ',', "expected ','")) || !parser_operand_item(p, st)) return false;
  if (constants && (!parser_expect(p, ',', "expected ','") || !constant(p, st))) return false;
  while (parser_accept(p, ','))
    if (!one_option(p, st)) return false;
  st->has_results = true;
  return constants ? parser_optional_dict(p, st) : types_after(p, st);
}

/* ---- writing ---- */

static bool is_absent(const attr *a, const check_option *o, attr_need need) {
  const integer_attr *i = attr_as(integer, a);
  const float_attr *f = attr_as(float, a);
  if (need & REQUIRED) return !a;
  return !a || (i && (u64)i->value == o->absent) || (f && (u64)f->bits == o->absent);
}

bool printer_check(printer *w, const op *o) {
  const attr *value = op_attr(o, SLOT_NAME(value));
  bool close = op_slot(o->info, SLOT_NAME(max_ulp_difference)) >= 0;
  u64 hide = 0;
  if (o->num_operands != o->info->num_operands) return false;
  put_char(w, ' ');
  printer_operands(w, o, 0, o->num_operands);
  if (value) {
    PUT(w, ", ");
    printer_attr(w, value, false);
    hide |= 1ull << op_slot(o->info, SLOT_NAME(value));
  }
  for (size_t i = 0; i < COUNT(options); i++) {
    int slot = op_slot(o->info, str_of(options[i].name));
    if (slot < 0) continue;
    hide |= 1ull << slot;
    if (is_absent(o->slots[slot], &options[i], o->info->slots[slot].need)) continue;
    PUT(w, ", ");
    put(w, str_of(options[i].word));
    PUT(w, " = ");
    printer_attr_bare(w, o->slots[slot]);
  }
  if (!close) printer_attr_dict(w, o, hide, false);
  if (op_slot(o->info, SLOT_NAME(value)) >= 0) return true;
  PUT(w, " :");
  if (close) printer_attr_dict(w, o, hide, false);
  put_char(w, ' ');
  printer_types(w, o, 0, close ? 2 : 1);
  return true;
}
