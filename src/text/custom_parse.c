/* Ops whose custom syntax no form can say, by op id. custom_print.c holds the other direction.
 *
 * parse_op.c calls parser_custom behind the op's name; a function fills the op_state as a form
 * would, and the op is made afterwards. Syntax and messages are those of the ops' C++ parsers
 * (func, StableHLO's AssemblyFormat.cpp, chlo). */
#include "text/parser.h"

typedef bool custom_fn(parser *p, op_state *st);

/* The dictionary of an op with a region begins with a word, or it would be taken for the region. */
static bool with_keyword(parser *p, op_state *st) {
  if (!parser_accept_word(p, "attributes")) return true;
  if (!at(p, '{')) return parser_missing(p, "expected '{' in attribute dictionary");
  return parser_optional_dict(p, st);
}

/* ---- builtin.module, func.func ---- */

/* A module has a block even where the text has nothing in it. */
static bool parse_module(parser *p, op_state *st) {
  if (at(p, TOK_AT)) {
    parser_set_attr(p, st, SLOT_NAME(sym_name), attr_string(p->ctx, parser_string(p, &p->tok)));
    parser_next(p);
  }
  if (!with_keyword(p, st) || !parser_region(p, st, NULL)) return false;
  region *r = st->regions.data[0];
  if (!r->first) region_append(r, block_create(p->module));
  return true;
}

/* A function's arguments and results as they are read. Named and unnamed arguments exclude each
 * other: a body needs names, a declaration has none. */
typedef struct signature {
  region_args args;
  type_vec inputs, results;
  attr_vec arg_attrs, res_attrs;
  bool named, unnamed, any_arg_attrs, any_res_attrs;
} signature;

/* Lists of dictionaries have one for each argument; they are left out if all are empty. */
static const attr *dict_or_empty(parser *p, const attr *d) {
  return d ? d : attr_dict(p->ctx, NULL, 0);
}

/* %name: type {attributes} loc(...), or type {attributes} in a declaration */
static bool argument_item(parser *p, void *user) {
  signature *s = user;
  region_arg a = {.at = p->tok};
  bool bad;
  if (at(p, TOK_PERCENT)) {
    if (!parser_region_arg(p, &a, true, true)) return false;
    if (s->unnamed) return parser_complain(p, &a.at, "expected type instead of SSA identifier");
    s->named = true;
  } else {
    if (s->named) return parser_complain(p, &a.at, "expected SSA identifier");
    s->unnamed = true;
    a.type = parser_type(p);
    if (!a.type || (at(p, '{') && !(a.attrs = parser_dict(p)))) return false;
    parser_optional_loc(p, &bad);
    if (bad) return false;
  }
  VEC_PUSH(p->scratch, s->args, a);
  VEC_PUSH(p->scratch, s->inputs, a.type);
  VEC_PUSH(p->scratch, s->arg_attrs, dict_or_empty(p, a.attrs));
  s->any_arg_attrs |= a.attrs && attr_as(dict, a.attrs)->names.len;
  return true;
}

static bool result_item(parser *p, void *user) {
  signature *s = user;
  const attr *d = NULL;
  const type *t = parser_type(p);
  if (!t || (at(p, '{') && !(d = parser_dict(p)))) return false;
  VEC_PUSH(p->scratch, s->results, t);
  VEC_PUSH(p->scratch, s->res_attrs, dict_or_empty(p, d));
  s->any_res_attrs |= d && attr_as(dict, d)->names.len;
  return true;
}

/* Without parentheses a result cannot have attributes. */
static bool parse_signature(parser *p, signature *s) {
  if (!parser_list(p, '(', ')', argument_item, s)) return false;
  if (!parser_accept(p, TOK_ARROW)) return true;
  if (at(p, '(')) return parser_list(p, '(', ')', result_item, s);
  const type *t = parser_type(p);
  if (!t) return false;
  VEC_PUSH(p->scratch, s->results, t);
  return true;
}

/* [visibility] @name(arguments) -> results [attributes {..}] [body] */
static bool parse_func(parser *p, op_state *st) {
  static const char *const visibilities[] = {"public", "private", "nested"};
  signature s = {0};
  for (size_t i = 0; i < COUNT(visibilities); i++)
    if (parser_accept_word(p, visibilities[i])) {
      parser_set_attr(p, st, SLOT_NAME(sym_visibility),
                      attr_string(p->ctx, str_of(visibilities[i])));
      break;
    }
  token name = p->tok;
  if (!parser_accept(p, TOK_AT))
    return parser_complain(p, &name, "expected valid '@'-identifier for symbol name");
  parser_set_attr(p, st, SLOT_NAME(sym_name), attr_string(p->ctx, parser_string(p, &name)));
  if (!parse_signature(p, &s)) return false;
  const type *t = type_function(p->ctx, (types){s.inputs.data, s.inputs.len},
                                (types){s.results.data, s.results.len});
  parser_set_attr(p, st, SLOT_NAME(function_type), attr_type(p->ctx, t));
  if (!with_keyword(p, st)) return false;
  if (s.any_arg_attrs)
    parser_set_attr(p, st, SLOT_NAME(arg_attrs),
                    attr_array(p->ctx, (attrs){s.arg_attrs.data, s.arg_attrs.len}));
  if (s.any_res_attrs)
    parser_set_attr(p, st, SLOT_NAME(res_attrs),
                    attr_array(p->ctx, (attrs){s.res_attrs.data, s.res_attrs.len}));
  if (!at(p, '{')) {
    parser_new_region(p, st);
    return true;
  }
  if (s.unnamed) return parser_error(p, &name, "expected SSA identifier in a function with a body");
  token body = p->tok;
  if (!parser_region(p, st, &s.args)) return false;
  if (!st->regions.data[0]->first)
    return parser_complain(p, &body, "expected non-empty function body");
  return true;
}

/* ---- constants ---- */

static const type *type_of_elements(const attr *a) {
  return attr_is(sparse, a) || attr_is(dense_resource, a) ? attr_type_of(a) : attr_dense_type(a);
}

/* {attributes} dense<..> : type, or the generic form after the name where the types differ */
static bool parse_constant(parser *p, op_state *st) {
  if (parser_accept(p, '(')) {
    if (!parser_expect(p, ')', "expected ')'")) return false;
    if (parser_accept(p, '<') &&
        (!parser_optional_dict(p, st) || !parser_expect(p, '>', "expected '>'")))
      return false;
    if (!parser_optional_dict(p, st) || !parser_expect(p, ':', "expected ':'")) return false;
    return parser_function_type(p, &st->operand_types, &st->result_types);
  }
  if (!parser_optional_dict(p, st)) return false;
  token t = p->tok;
  const attr *a = parser_attr(p, NULL);
  if (!a) return false;
  const type *type = type_of_elements(a);
  if (st->info->id == OP_arith_constant && attr_is(integer, a))
    type = ((const integer_attr *)a)->type;
  if (st->info->id == OP_arith_constant && attr_is(float, a)) type = ((const float_attr *)a)->type;
  if (!type) return parser_complain(p, &t, "invalid kind of attribute specified");
  parser_set_attr(p, st, SLOT_NAME(value), a);
  VEC_PUSH(p->scratch, st->result_types, type);
  return true;
}

/* ---- stablehlo.reduce ---- */

typedef VEC(operand_ref) ref_vec;

/* (%a init: %b), (%c init: %d) */
static bool reduce_operands(parser *p, op_state *st) {
  ref_vec inits = {0};
  if (!at(p, '(')) return parser_expect(p, '(', "expected '('");
  do {
    operand_ref a, b;
    if (!parser_expect(p, '(', "expected '('") || !parser_operand(p, &a) ||
        !parser_expect_word(p, "init") || !parser_expect(p, ':', "expected ':'") ||
        !parser_operand(p, &b) || !parser_expect(p, ')', "expected ')'"))
      return false;
    VEC_PUSH(p->scratch, st->operands, a);
    VEC_PUSH(p->scratch, inits, b);
  } while (parser_accept(p, ','));
  for (size_t i = 0; i < inits.len; i++) VEC_PUSH(p->scratch, st->operands, inits.data[i]);
  return true;
}

/* across dimensions = [..] {attributes} : type */
static bool reduce_tail(parser *p, op_state *st) {
  i64_vec dims = {0};
  if (!parser_expect_word(p, "across") || !parser_expect_word(p, "dimensions") ||
      !parser_expect(p, '=', "expected '='") || !parser_i64_list(p, &dims) ||
      !parser_optional_dict(p, st) || !parser_expect(p, ':', "expected ':'"))
    return false;
  parser_set_attr(p, st, SLOT_NAME(dimensions),
                  attr_i64_array(p->ctx, (i64s){dims.data, dims.len}));
  token where = p->tok;
  if (!parser_signature(p, st)) return false;
  if (st->operand_types.len == 0)
    return parser_error(p, &where, "input types missing in reduce-op function type");
  if (st->operand_types.len == st->operands.len) return true;
  return parser_complain(
      p, &st->operands_at,
      "number of operands and types do not match: got %zu operands and %zu types", st->operands.len,
      st->operand_types.len);
}

/* reducer(%a: t, %b: t) (%c: t, %d: t) { ... }: the second of each pair comes after all firsts */
static bool reducer(parser *p, op_state *st) {
  region_args args = {0}, seconds = {0};
  while (parser_accept(p, '(')) {
    region_arg a, b;
    if (!parser_region_arg(p, &a, true, false) || !parser_expect(p, ',', "expected ','") ||
        !parser_region_arg(p, &b, true, false) || !parser_expect(p, ')', "expected ')'"))
      return false;
    VEC_PUSH(p->scratch, args, a);
    VEC_PUSH(p->scratch, seconds, b);
  }
  for (size_t i = 0; i < seconds.len; i++) VEC_PUSH(p->scratch, args, seconds.data[i]);
  return parser_region(p, st, &args);
}

/* The region that `applies stablehlo.add` stands for. It has the location that follows, which is
 * read here for each of the ops in it and then again for the reduction. */
static bool implied_reducer(parser *p, op_state *st, const op_info *inner) {
  const type *elem = type_element(st->operand_types.data[0]);
  const type *t = type_tensor(p->ctx, (i64s){NULL, 0}, elem, NULL);
  lexer lex = p->lex;
  token tok = p->tok;
  block *b = block_create(p->module);
  region_append(parser_new_region(p, st), b);
  value *args[2];
  for (u32 i = 0; i < 2; i++) {
    args[i] = block_add_arg(p->module, b, t);
    block_set_arg_loc(p->module, b, i, st->loc);
  }
  op *o = op_create(p->module, inner, st->loc, args, 2, &t, 1, 0);
  value *v = op_result(o, 0);
  op *ret = op_create(p->module, &op_infos[OP_return], st->loc, &v, 1, NULL, 0, 0);
  op_insert(o, b, NULL);
  op_insert(ret, b, NULL);
  if (!parser_op_loc(p, o, b)) return false;
  p->lex = lex;
  p->tok = tok;
  if (!parser_op_loc(p, ret, NULL)) return false;
  p->lex = lex;
  p->tok = tok;
  return true;
}

static bool parse_reduce(parser *p, op_state *st) {
  st->loc = loc_file(p->ctx, p->file, p->tok.line, p->tok.col); /* not at the name, as in MLIR */
  if (!reduce_operands(p, st)) return false;
  if (!parser_accept_word(p, "applies"))
    return reduce_tail(p, st) && parser_expect_word(p, "reducer") && reducer(p, st);
  str name;
  if (!parser_word_or_string(p, &name)) return false;
  const op_info *inner = name_map_get(&p->op_names, name);
  if (!inner || !(inner->traits & COMMUTES) || !str_starts(name, STR("stablehlo.")) ||
      inner->num_operands != 2)
    return parser_complain(p, &st->operands_at,
                           "expected the inner-op to be a commutative binary-op from the stablehlo "
                           "dialect, with zero region, producing single result");
  return reduce_tail(p, st) && implied_reducer(p, st, inner);
}

/* ---- stablehlo.while ---- */

typedef struct while_args {
  op_state *st;
  region_args args;
} while_args;

/* %iterArg = %init */
static bool while_item(parser *p, while_args *w) {
  region_arg a;
  operand_ref r;
  if (!parser_region_arg(p, &a, false, false) || !parser_expect(p, '=', "expected '='") ||
      !parser_operand(p, &r))
    return false;
  VEC_PUSH(p->scratch, w->args, a);
  VEC_PUSH(p->scratch, w->st->operands, r);
  return true;
}

/* Both regions have the same arguments, named once in front. */
static bool parse_while(parser *p, op_state *st) {
  while_args w = {.st = st};
  if (!parser_expect(p, '(', "expected '('")) return false;
  while (!parser_accept(p, ')'))
    if ((st->operands.len && !parser_expect(p, ',', "expected ','")) || !while_item(p, &w))
      return false;
  size_t n = st->operands.len;
  if (n && (!parser_expect(p, ':', "expected ':'") || !parser_type_list(p, &st->result_types)))
    return false;
  if (st->result_types.len != n)
    return parser_complain(
        p, &st->operands_at,
        "number of operands and types do not match: got %zu operands and %zu types", n,
        st->result_types.len);
  for (size_t i = 0; i < n; i++) {
    w.args.data[i].type = st->result_types.data[i];
    VEC_PUSH(p->scratch, st->operand_types, st->result_types.data[i]);
  }
  return with_keyword(p, st) && parser_expect_word(p, "cond") && parser_region(p, st, &w.args) &&
         parser_expect_word(p, "do") && parser_region(p, st, &w.args);
}

/* ---- chlo.constant, chlo.scan ---- */

/* {attributes} dense<..> : type */
static bool parse_chlo_constant(parser *p, op_state *st) {
  if (!parser_optional_dict(p, st)) return false;
  token t = p->tok;
  const attr *a = parser_attr(p, NULL);
  if (!a) return false;
  const type *type = type_of_elements(a);
  if (!type) return parser_complain(p, &t, "invalid kind of attribute specified");
  parser_set_attr(p, st, SLOT_NAME(value), a);
  VEC_PUSH(p->scratch, st->result_types, type);
  return true;
}

/* scan has two lists of free length on either side, so how long they are is an attribute. */
static void set_segments(parser *p, op_state *st, str name, size_t first, size_t second) {
  int32_t sizes[] = {(int32_t)first, (int32_t)second};
  parser_set_attr(p, st, name,
                  attr_make(p->ctx, dense_array, .elem = type_i32(p->ctx),
                            .data = {(const char *)sizes, sizeof sizes}));
}

/* (inputs) inits (inits) dimension=0 attributes {..} { region } : type */
static bool parse_scan(parser *p, op_state *st) {
  i64 dimension;
  if (!parser_list(p, '(', ')', parser_operand_item, st)) return false;
  size_t inputs = st->operands.len;
  if (!parser_expect_word(p, "inits") || !parser_list(p, '(', ')', parser_operand_item, st) ||
      !parser_expect_word(p, "dimension") || !parser_expect(p, '=', "expected '='") ||
      !parser_i64(p, &dimension) || !with_keyword(p, st) || !parser_region(p, st, NULL) ||
      !parser_expect(p, ':', "expected ':'") ||
      !parser_function_type(p, &st->operand_types, &st->result_types))
    return false;
  size_t inits = st->operands.len - inputs;
  if (st->operand_types.len != st->operands.len)
    return parser_complain(p, &st->operands_at,
                           "operand types must match the number of inputs and inits");
  if (st->result_types.len < inits)
    return parser_complain(p, &st->operands_at,
                           "not enough result types to cover the required carries");
  parser_set_attr(p, st, SLOT_NAME(dimension), attr_i64(p->ctx, dimension));
  set_segments(p, st, SLOT_NAME(operandSegmentSizes), inputs, inits);
  set_segments(p, st, SLOT_NAME(resultSegmentSizes), st->result_types.len - inits, inits);
  return true;
}

/* ---- by op ---- */

static custom_fn *const custom_of[OP_COUNT] = {
    [OP_module] = parse_module,
    [OP_func] = parse_func,
    [OP_constant] = parse_constant,
    [OP_sdy_constant] = parse_constant,
    [OP_tensor_dim] = parser_tensor_op,
    [OP_from_elements] = parser_tensor_op,
    [OP_tensor_extract] = parser_tensor_op,
    [OP_cmpi] = parser_tensor_op,
    [OP_arith_select] = parser_tensor_op,
    [OP_arith_constant] = parse_constant,
    [OP_reduce] = parse_reduce,
    [OP_while] = parse_while,
    [OP_chlo_constant] = parse_chlo_constant,
    [OP_chlo_scan] = parse_scan,
    [OP_const_shape] = parser_shape,
    [OP_cstr_broadcastable] = parser_shape,
    [OP_assuming] = parser_shape,
    [OP_expect_almost_eq_const] = parser_check,
    [OP_expect_almost_eq] = parser_check,
    [OP_expect_eq_const] = parser_check,
    [OP_expect_eq] = parser_check,
    [OP_expect_close] = parser_check,
    [OP_expect_serialized_eq] = parser_check,
};

bool parser_custom(parser *p, op_state *st, bool *known) {
  *known = custom_of[st->info->id] != NULL;
  return *known && custom_of[st->info->id](p, st);
}
