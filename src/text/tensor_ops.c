/* The custom syntax of tensor.* and arith.* ops that no form says: operands, then one type that the
 * types of all follow from.
 *
 *   tensor.dim %t, %i : type of %t              tensor.extract %t[%i, ..] : type of %t
 *   tensor.from_elements %a, .. : type of it    arith.cmpi slt, %a, %b : type of %a
 *   arith.select %c, %a, %b : type of %a */
#include "text/lexer.h"
#include "text/parser.h"
#include "text/printer.h"

static const char *const predicates[] = {"eq",  "ne",  "slt", "sle", "sgt",
                                         "sge", "ult", "ule", "ugt", "uge"};

static bool operand(parser *p, op_state *st) {
  operand_ref r;
  if (!parser_operand(p, &r)) return false;
  VEC_PUSH(p->scratch, st->operands, r);
  return true;
}

static bool predicate(parser *p, op_state *st) {
  for (size_t i = 0; i < COUNT(predicates); i++)
    if (parser_accept_word(p, predicates[i])) {
      parser_set_attr(p, st, STR("predicate"), attr_i64(p->ctx, (i64)i));
      return parser_expect(p, ',', "expected ','");
    }
  return parser_complain(p, &p->tok, "expected valid keyword");
}

static void set_types(parser *p, op_state *st, const type *t) {
  const type *index = type_index(p->ctx), *flag = type_i1(p->ctx), *elem = type_element(t);
  op_id id = st->info->id;
  const type *first = id == OP_arith_select ? flag : id == OP_from_elements ? elem : t;
  const type *rest = id == OP_tensor_dim || id == OP_tensor_extract ? index
                     : id == OP_from_elements                       ? elem
                                                                    : t;
  for (size_t i = 0; i < st->operands.len; i++)
    VEC_PUSH(p->scratch, st->operand_types, i ? rest : first);
  VEC_PUSH(p->scratch, st->result_types,
           id == OP_tensor_dim       ? index
           : id == OP_tensor_extract ? elem
           : id == OP_cmpi           ? flag
                                     : t);
  st->has_results = true;
}

bool parser_tensor_op(parser *p, op_state *st) {
  if (st->info->id == OP_cmpi && !predicate(p, st)) return false;
  if (st->info->id == OP_tensor_extract) {
    if (!operand(p, st) || !parser_expect(p, '[', "expected '['")) return false;
    if (!at(p, ']') && !parser_operands(p, st)) return false;
    if (!parser_expect(p, ']', "expected ']'")) return false;
  } else if (!parser_operands(p, st)) {
    return false;
  }
  if (!parser_optional_dict(p, st) || !parser_expect(p, ':', "expected ':'")) return false;
  const type *t = parser_type(p);
  if (!t) return false;
  set_types(p, st, t);
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
  printer_type(w, source ? op_operand(o, 0)->type : o->results[0].type);
  return true;
}
