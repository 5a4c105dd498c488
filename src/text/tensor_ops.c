/* The custom syntax of tensor.* and arith.* ops that no form says: operands, then one type that the
 * types of all follow from.
 *
 *   tensor.dim %t, %i : type of %t              tensor.extract %t[%i, ..] : type of %t
 *   tensor.from_elements %a, .. : type of it    arith.cmpi slt, %a, %b : type of %a
 *   arith.select %c, %a, %b : type of %a, or of %c and of %a where %c is no single flag
 *
 * And the flags of arith's ops in front of the dictionary: overflow<nsw, nuw>, fastmath<nnan,ninf>,
 * exact. Those in angles are kept as text, sorted as MLIR prints them. */
#include "text/lexer.h"
#include "text/parser.h"
#include "text/printer.h"

static const char *const predicates[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                         "sge", "ult", "ule", "ugt", "uge"};

static bool predicate(parser *p, op_state *st) {
  for (size_t i = 0; i < COUNT(predicates); i++)
    if (parser_accept_word(p, predicates[i])) {
      parser_set_attr(p, st, SLOT_NAME(predicate), attr_i64(p->ctx, (i64)i));
      return parser_expect(p, ',', "expected ','");
    }
  return parser_complain(p, &p->tok, "expected valid keyword");
}

/* Bit i of a set is names[i]; all: the name of all of them. */
typedef struct flag_words {
  const char *slot, *word, *kind, *comma, *all;
  const char *names[8];
} flag_words;
static const flag_words words_of_flags[] = {
    {"overflowFlags", "overflow", "IntegerOverflowFlags", ", ", NULL, {"nsw", "nuw"}},
    {"fastmath",
     "fastmath",
     "FastMathFlags",
     ",",
     "fast",
     {"reassoc", "nnan", "ninf", "nsz", "arcp", "contract", "afn"}},
    {.slot = "isExact", .word = "exact"},
};

/* Called for slots that a form has %flags for, so there is a row. */
static const flag_words *flags_of(const op_info *info, int slot) {
  const flag_words *f = words_of_flags;
  while (strcmp(f->slot, info->slots[slot].name) != 0) f++;
  return f;
}

static bool flag_name(parser *p, const flag_words *f, u32 *set) {
  u32 i = 0;
  while (f->names[i] && !at_word(p, f->names[i])) i++;
  if (f->names[i]) {
    *set |= 1u << i;
  } else if (f->all && at_word(p, f->all)) {
    *set |= (1u << i) - 1;
  } else if (!at_word(p, "none")) {
    str known = STR("none");
    for (i = 0; f->names[i]; i++)
      known = arena_printf(p->scratch, STR_FMT ", %s", STR_ARG(known), f->names[i]);
    if (f->all) known = arena_printf(p->scratch, STR_FMT ", %s", STR_ARG(known), f->all);
    return parser_complain(p, &p->tok, "expected ::mlir::arith::%s to be one of: " STR_FMT, f->kind,
                           STR_ARG(known));
  }
  return parser_next(p);
}

static const attr *flags_attr(parser *p, const flag_words *f, u32 set) {
  str text = STR("");
  u32 n = 0;
  for (; f->names[n]; n++)
    if (set >> n & 1)
      text = arena_printf(p->scratch, STR_FMT "%s%s", STR_ARG(text), text.len ? f->comma : "",
                          f->names[n]);
  if (f->all && set == (1u << n) - 1) text = str_of(f->all);
  if (!set) text = STR("none");
  text = arena_printf(p->scratch, "%s<" STR_FMT ">", f->word, STR_ARG(text));
  return attr_make(p->ctx, opaque, .dialect = STR("arith"), .text = text);
}

bool parser_flags(parser *p, op_state *st, int slot) {
  const flag_words *f = flags_of(st->info, slot);
  u32 set = 0;
  bool given = parser_accept_word(p, f->word);
  if (!f->kind) {
    if (given) st->slots[slot] = attr_unit(p->ctx);
    return true;
  }
  if (given && !parser_expect(p, '<', "expected '<'")) return false;
  if (given) do
      if (!flag_name(p, f, &set)) return false;
    while (parser_accept(p, ','));
  if (given && !parser_expect(p, '>', "expected '>'")) return false;
  st->slots[slot] = flags_attr(p, f, set);
  return true;
}

void printer_flags(printer *w, const op *o, int slot) {
  const flag_words *f = flags_of(o->info, slot);
  const opaque_attr *a = attr_as(opaque, o->slots[slot]);
  str none = arena_printf(w->forms.a, "%s<none>", f->word);
  if (!o->slots[slot] || (a && str_eq(a->text, none))) return;
  put_char(w, ' ');
  put(w, a ? a->text : str_of(f->word));
}

static const type *flags_like(parser *p, const type *t) {
  const type *flag = type_i1(p->ctx);
  if (t->kind == TYPE_TENSOR) return type_tensor(p->ctx, t->dims, flag, t->encoding);
  if (t->kind == TYPE_UNRANKED) return type_unranked(p->ctx, flag);
  return t->kind == TYPE_VECTOR ? type_vector(p->ctx, t->dims, flag) : flag;
}

/* condition: of a select, if it is given. */
static void set_types(parser *p, op_state *st, const type *condition, const type *t) {
  const type *index = type_index(p->ctx), *elem = type_element(t);
  op_id id = st->info->id;
  if (!condition) condition = type_i1(p->ctx);
  const type *first = id == OP_arith_select ? condition : id == OP_from_elements ? elem : t;
  const type *rest = id == OP_tensor_dim || id == OP_tensor_extract ? index
                     : id == OP_from_elements                       ? elem
                                                                    : t;
  for (size_t i = 0; i < st->operands.len; i++)
    VEC_PUSH(p->scratch, st->operand_types, i ? rest : first);
  VEC_PUSH(p->scratch, st->result_types,
           id == OP_tensor_dim       ? index
           : id == OP_tensor_extract ? elem
           : id == OP_cmpi           ? flags_like(p, t)
                                     : t);
  st->has_results = true;
}

bool parser_tensor_op(parser *p, op_state *st) {
  if (st->info->id == OP_cmpi && !predicate(p, st)) return false;
  if (st->info->id == OP_tensor_extract) {
    if (!parser_operand_item(p, st) || !parser_expect(p, '[', "expected '['")) return false;
    if (!at(p, ']') && !parser_operands(p, st)) return false;
    if (!parser_expect(p, ']', "expected ']'")) return false;
  } else if (!parser_operands(p, st)) {
    return false;
  }
  if (!parser_optional_dict(p, st) || !parser_expect(p, ':', "expected ':'")) return false;
  const type *t = parser_type(p), *condition = NULL;
  if (t && st->info->id == OP_arith_select && parser_accept(p, ',')) {
    condition = t;
    t = parser_type(p);
  }
  if (!t) return false;
  set_types(p, st, condition, t);
  return true;
}

bool printer_tensor_op(printer *w, const op *o) {
  i64 which;
  u64 hide = 0;
  if (o->num_results != 1 || (o->num_operands == 0 && !op_is(o, from_elements))) return false;
  put_char(w, ' ');
  if (op_is(o, cmpi)) {
    if (!attr_get_i64(o->slots[0], &which) || which < 0 || which >= (i64)COUNT(predicates))
      return false;
    put(w, str_of(predicates[which]));
    PUT(w, ", ");
    hide = 1;
  }
  if (op_is(o, tensor_extract)) {
    printer_operands(w, o, 0, 1);
    put_char(w, '[');
    printer_operands(w, o, 1, o->num_operands - 1);
    put_char(w, ']');
  } else {
    printer_operands(w, o, 0, o->num_operands);
  }
  printer_attr_dict(w, o, hide, false);
  PUT(w, " : ");
  bool source = op_is(o, tensor_dim) || op_is(o, tensor_extract) || op_is(o, cmpi);
  if (op_is(o, arith_select) && op_operand(o, 0)->type->kind != TYPE_INT) {
    printer_type(w, op_operand(o, 0)->type);
    PUT(w, ", ");
  }
  printer_type(w, source ? op_operand(o, 0)->type : o->results[0].type);
  return true;
}
