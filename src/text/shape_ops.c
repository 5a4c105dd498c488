/* The custom syntax of shape.* ops that no form says.
 *
 *   shape.cstr_broadcastable %a, %b : type, type        the result is a !shape.witness
 *   shape.const_shape [1, 2] : tensor<2xindex>
 *   shape.assuming %w -> (type) { ... } */
#include "text/parser.h"
#include "text/printer.h"

static bool types_after(parser *p, op_state *st, type_vec *types) {
  return parser_optional_dict(p, st) && parser_expect(p, ':', "expected ':'") &&
         parser_type_list(p, types);
}

static bool parse_broadcastable(parser *p, op_state *st) {
  do
    if (!parser_operand_item(p, st)) return false;
  while (parser_accept(p, ','));
  VEC_PUSH(p->scratch, st->result_types, type_opaque(p->ctx, STR("shape.witness")));
  st->has_results = true;
  return types_after(p, st, &st->operand_types);
}

static bool parse_const_shape(parser *p, op_state *st) {
  i64_vec extents = {0};
  if (!parser_i64_list(p, &extents)) return false;
  i64 n = (i64)extents.len;
  const type *t = type_tensor(p->ctx, (i64s){&n, 1}, type_index(p->ctx), NULL);
  str bytes = {(const char *)extents.data, extents.len * sizeof(i64)};
  parser_set_attr(p, st, SLOT_NAME(shape), attr_dense(p->ctx, t, bytes, false, false));
  st->has_results = true;
  return types_after(p, st, &st->result_types);
}

static bool parse_assuming(parser *p, op_state *st) {
  if (!parser_operand_item(p, st)) return false;
  VEC_PUSH(p->scratch, st->operand_types, type_opaque(p->ctx, STR("shape.witness")));
  st->has_results = true;
  if (parser_accept(p, TOK_ARROW) && !parser_list(p, '(', ')', parser_type_item, &st->result_types))
    return false;
  return parser_region(p, st, NULL) && parser_optional_dict(p, st);
}

bool parser_shape(parser *p, op_state *st) {
  switch (st->info->num_regions + st->info->num_slots * 2) {
  case 0:
    return parse_broadcastable(p, st);
  case 1:
    return parse_assuming(p, st);
  default:
    return parse_const_shape(p, st);
  }
}

static bool print_const_shape(printer *w, const op *o) {
  const dense_attr *d = attr_as(dense, o->slots[0]);
  i64 n;
  if (!d || !type_num_elements(d->type, &n) || o->num_results != 1) return false;
  if (printer_is_long(&d->base)) return false;
  PUT(w, " [");
  for (i64 i = 0; i < n; i++) {
    if (i) PUT(w, ", ");
    printer_i64(w, attr_dense_int(&d->base, (size_t)i));
  }
  put_char(w, ']');
  printer_attr_dict(w, o, 1, false);
  PUT(w, " : ");
  printer_result_types(w, o, 0, o->num_results);
  return true;
}

bool printer_shape(printer *w, const op *o) {
  if (o->info->num_slots) return print_const_shape(w, o);
  put_char(w, ' ');
  printer_operands(w, o, 0, o->num_operands);
  if (!o->num_regions) {
    printer_attr_dict(w, o, 0, false);
    PUT(w, " : ");
    printer_types(w, o, 0, o->num_operands);
    return true;
  }
  if (o->num_regions != 1 || o->num_operands != 1) return false;
  if (o->num_results) {
    PUT(w, " -> (");
    printer_result_types(w, o, 0, o->num_results);
    put_char(w, ')');
  }
  put_char(w, ' ');
  printer_region(w, &o->regions[0], true, false);
  printer_attr_dict(w, o, 0, false);
  return true;
}
