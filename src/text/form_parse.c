/* Reading an op by its form: each step takes its part of the text, in order.
 *
 * There is one function a directive (dir_*), in a table made from directives.def, so that a new one
 * that lacks a reader does not compile. They fill the op's state (op_state): operands, types,
 * slots; types that the form leaves out are completed at the end. */
#include "text/parser.h"

typedef bool directive_fn(parser *p, op_state *st, const form_step *s);

static const slot_info *slot_at(const op_state *st, int slot) { return &st->info->slots[slot]; }

/* ---- $attributes in their plain spelling ---- */

static bool spelled_i64(parser *p, const attr **out) {
  i64 v;
  return parser_i64(p, &v) && (*out = attr_i64(p->ctx, v));
}

static bool spelled_i64s(parser *p, const attr **out) {
  i64 few[8];
  i64_vec v = {few, 0, COUNT(few)};
  bool open = at(p, '[');
  if (!parser_i64_list(p, &v)) /* the end of the list is missing as well */
    return open && !at(p, TOK_ERROR) ? parser_error(p, &p->tok, "expected ']'") : false;
  *out = attr_i64_array(p->ctx, (i64s){v.data, v.len});
  return true;
}

/* Without its #dialect.name, or written out. */
static const attr *body(parser *p, attr_id id) {
  token t = p->tok;
  if (!at(p, TOK_HASH) || attr_infos[id].cases) return parser_dialect_body(p, id);
  const attr *a = parser_attr(p, NULL);
  if (a && a->id != id) a = (parser_complain(p, &t, "invalid kind of attribute specified"), NULL);
  return a;
}

/* Of the kinds that have an attribute's syntax. */
static const attr *of_kind(parser *p, slot_kind kind) {
  token t = p->tok;
  const attr *a = parser_attr(p, NULL);
  const symbol_ref_attr *r = attr_as(symbol_ref, a);
  bool ok = kind == SLOT_sym ? r && !r->nested.len : kind == SLOT_str ? attr_is(string, a) : true;
  if (a && !ok) return parser_complain(p, &t, "invalid kind of attribute specified"), NULL;
  return a;
}

static bool attribute(parser *p, op_state *st, const form_step *s) {
  const slot_info *slot = slot_at(st, s->slot);
  const attr *a = NULL;
  if (slot->attr_id == ATTR_sharding_per_value)
    a = parser_sharding_list(p);
  else if (slot->attr_id >= 0)
    a = body(p, (attr_id)slot->attr_id);
  else if (slot->kind == SLOT_i64)
    spelled_i64(p, &a);
  else if (slot->kind == SLOT_i64s)
    spelled_i64s(p, &a);
  else if (slot->kind == SLOT_str && at(p, TOK_STRING)) {
    a = attr_string(p->ctx, parser_string(p, &p->tok)); /* a type that follows is the op's */
    parser_next(p);
  } else
    a = of_kind(p, slot->kind);
  st->slots[s->slot] = a;
  return a != NULL;
}

/* ---- types ---- */

static bool push(parser *p, type_vec *v, const type *t, size_t n) {
  for (size_t i = 0; i < n; i++) VEC_PUSH(p->scratch, *v, t);
  return true;
}

/* A function type says all operands' and results' types at once. */
static bool spread(parser *p, op_state *st, const type *f) {
  types in = type_inputs(f), out = type_results(f);
  for (size_t i = 0; i < in.len; i++) push(p, &st->operand_types, in.data[i], 1);
  for (size_t i = 0; i < out.len; i++) push(p, &st->result_types, out.data[i], 1);
  return st->has_results = true;
}

/* Operands and results from a function type already read: many forms take one in place of their
 * short list, where the types are not those that the short list stands for. */
static bool from_function(parser *p, op_state *st, const token *where, const type *f, bool single) {
  types in = type_inputs(f), out = type_results(f);
  if (in.len != st->operands.len)
    return parser_complain(p, where, "%zu operands present, but expected %zu", st->operands.len,
                           in.len);
  if (single && out.len != 1) return parser_complain(p, where, "expected single output");
  return spread(p, st, f);
}

static bool check_counts(parser *p, const token *where, size_t operands, size_t types) {
  return operands == types ||
         parser_complain(p, where,
                         "number of operands and types do not match: got %zu operands and %zu "
                         "types",
                         operands, types);
}

static const type *function_type(parser *p) {
  token where = p->tok;
  const type *t = parser_type(p);
  if (!t || t->kind == TYPE_FUNCTION) return t;
  parser_complain(p, &where,
                  "invalid kind of type specified: expected builtin.function, but found '%s'",
                  text_show_type(p->scratch, t));
  return NULL;
}

/* `(a, b) -> c` is read straight into the lists; an alias of a function type has to be looked
 * at. */
bool parser_signature(parser *p, op_state *st) {
  if (at(p, '(')) return parser_function_type(p, &st->operand_types, &st->result_types);
  const type *f = function_type(p);
  return f && spread(p, st, f);
}

static bool dir_callee(parser *p, op_state *st, const form_step *s) {
  const type *f = function_type(p);
  (void)s;
  if (!f) return false;
  push(p, &st->operand_types, f, 1);
  return check_counts(p, &st->operands_at, st->operands.len - 1, type_inputs(f).len) &&
         spread(p, st, f);
}

static bool dir_fn(parser *p, op_state *st, const form_step *s) {
  (void)s;
  if (!parser_signature(p, st)) return false;
  st->has_results = true;
  return check_counts(p, &st->function_at, st->operands.len, st->operand_types.len);
}

/* One type for all operands and the result. */
static bool dir_same(parser *p, op_state *st, const form_step *s) {
  token where = p->tok;
  const type *t = parser_type(p);
  (void)s;
  if (!t) return false;
  if (t->kind == TYPE_FUNCTION) return from_function(p, st, &where, t, true);
  push(p, &st->operand_types, t, st->operands.len);
  push(p, &st->result_types, t, 1);
  return st->has_results = true;
}

/* pred, value: the type of the predicate, then that of both values and the result. */
static bool dir_select(parser *p, op_state *st, const form_step *s) {
  token where = p->tok;
  const type *t = parser_type(p), *u;
  (void)s;
  if (!t) return false;
  if (t->kind == TYPE_FUNCTION) return from_function(p, st, &where, t, true);
  if (!parser_accept(p, ','))
    return parser_complain(p, &where, "expected functional type or list of two types");
  u = parser_type(p);
  if (!u) return false;
  if (at(p, ','))
    return parser_complain(p, &where, "expected functional type or list of two types");
  push(p, &st->operand_types, t, 1);
  push(p, &st->operand_types, u, 2);
  push(p, &st->result_types, u, 1);
  return st->has_results = true;
}

/* The result's type; operands have its element's. */
static bool dir_complex(parser *p, op_state *st, const form_step *s) {
  token where = p->tok;
  const type *t = parser_type(p);
  (void)s;
  if (!t) return false;
  if (t->kind == TYPE_FUNCTION) return from_function(p, st, &where, t, true);
  if (!type_is_tensor(t) || t->elem->kind != TYPE_COMPLEX)
    return parser_complain(p, &where, "expected tensor with complex element type");
  const type *part = t->kind == TYPE_TENSOR
                         ? type_tensor(p->ctx, t->dims, t->elem->elem, t->encoding)
                         : type_unranked(p->ctx, t->elem->elem);
  push(p, &st->operand_types, part, 2);
  push(p, &st->result_types, t, 1);
  return st->has_results = true;
}

/* A type an operand, which is the result's too. */
static bool dir_pairwise(parser *p, op_state *st, const form_step *s) {
  token where = p->tok;
  (void)s;
  if (!parser_type_list(p, &st->operand_types))
    return parser_complain(p, &where, "expected type list");
  for (size_t i = 0; i < st->operand_types.len; i++)
    VEC_PUSH(p->scratch, st->result_types, st->operand_types.data[i]);
  return st->has_results = true;
}

/* () where there is no operand. */
static bool dir_none(parser *p, op_state *st, const form_step *s) {
  (void)s;
  st->has_results |= st->operands.len == 0;
  return !parser_accept(p, '(') || parser_expect(p, ')', "expected ')'");
}

/* The result's type, whose elements are the operands'. */
static bool dir_tuple(parser *p, op_state *st, const form_step *s) {
  token where = p->tok;
  const type *t = parser_type(p);
  (void)s;
  if (!t) return false;
  if (t->kind != TYPE_TUPLE) return parser_complain(p, &where, "expected tuple type");
  for (size_t i = 0; i < t->types.len; i++)
    VEC_PUSH(p->scratch, st->operand_types, t->types.data[i]);
  push(p, &st->result_types, t, 1);
  return st->has_results = true;
}

/* Operand groups come in the order of the row, so a group's types follow those before it. */
static bool dir_type(parser *p, op_state *st, const form_step *s) {
  bool of_result = s->args[0] >= (int)st->info->num_operands;
  const value_info *v = of_result ? &st->info->results[s->args[0] - (int)st->info->num_operands]
                                  : &st->info->operands[s->args[0]];
  type_vec *to = of_result ? &st->result_types : &st->operand_types;
  if (of_result) st->has_results = true;
  if (v->arity == MANY) return parser_type_list(p, to);
  const type *t = parser_type(p);
  return t && push(p, to, t, 1);
}

/* ---- others ---- */

/* Inherent attributes that the dictionary has are looked at before the op is made. */
static bool dir_attrs(parser *p, op_state *st, const form_step *s) {
  token where = p->tok;
  u32 n = st->info->num_slots;
  const attr **read = ARENA_ARRAY(p->scratch, const attr *, n);
  const char *problem;
  (void)s;
  for (u32 i = 0; i < n; i++) read[i] = st->slots[i];
  if (!parser_optional_dict(p, st)) return false;
  for (u32 i = 0; i < n; i++) read[i] = read[i] == st->slots[i] ? NULL : st->slots[i];
  const slot_info *slot = slot_first_problem(p->ctx, st->info, read, &problem);
  return !slot || parser_complain(
                      p, &where, "'" STR_FMT "' op attribute '%s' failed to satisfy constraint: %s",
                      STR_ARG(st->info->name), slot->name, problem);
}

static bool dir_operands(parser *p, op_state *st, const form_step *s) {
  (void)s;
  st->operands_at = st->function_at = p->tok;
  return parser_operands(p, st);
}

static bool dir_list(parser *p, op_state *st, const form_step *s) {
  (void)s;
  st->operands_at = st->function_at = st->at;
  if (!at(p, TOK_PERCENT)) parser_accept(p, ','); /* MLIR prints it of no operands, too */
  while (at(p, TOK_PERCENT))
    if (!parser_operand_item(p, st) || !parser_expect(p, ',', "expected ','")) return false;
  return true;
}

static bool dir_symbol(parser *p, op_state *st, const form_step *s) {
  token t = p->tok;
  if (!parser_accept(p, TOK_AT))
    return parser_complain(p, &t, "expected valid '@'-identifier for symbol name");
  st->slots[s->args[0]] = attr_string(p->ctx, parser_string(p, &t));
  return true;
}

static bool arg_item(parser *p, void *user) {
  region_args *v = user;
  region_arg a;
  if (!parser_region_arg(p, &a, true, true)) return false;
  VEC_PUSH(p->scratch, *v, a);
  return true;
}

static bool dir_region(parser *p, op_state *st, const form_step *s) {
  region_args args = {0};
  (void)s;
  return parser_list_in(p, '(', ')', arg_item, &args, " in argument list") &&
         parser_region(p, st, &args);
}

static bool dir_regions(parser *p, op_state *st, const form_step *s) {
  (void)s;
  if (!parser_accept(p, '(')) return true;
  do {
    if (!parser_region(p, st, NULL)) return false;
  } while (parser_accept(p, ','));
  return parser_expect(p, ')', "expected ')'");
}

static bool dir_i32(parser *p, op_state *st, const form_step *s) {
  i64 v;
  token t = p->tok;
  if (!parser_i64(p, &v)) return false;
  if (v < INT32_MIN || v > INT32_MAX) return parser_complain(p, &t, "integer value too large");
  st->slots[s->args[0]] = attr_int(p->ctx, type_i32(p->ctx), v);
  return true;
}

typedef struct slices {
  i64_vec begin, end, stride;
} slices;

static bool slice_item(parser *p, void *user) {
  slices *v = user;
  i64 b, e, s = 1;
  if (!parser_i64(p, &b) || !parser_expect(p, ':', "expected ':'") || !parser_i64(p, &e) ||
      (parser_accept(p, ':') && !parser_i64(p, &s)))
    return false;
  VEC_PUSH(p->scratch, v->begin, b);
  VEC_PUSH(p->scratch, v->end, e);
  VEC_PUSH(p->scratch, v->stride, s);
  return true;
}

static const attr *i64s_attr(parser *p, const i64_vec *v) {
  return attr_i64_array(p->ctx, (i64s){v->data, v->len});
}

/* [begin:end:stride, ...], the stride being 1 where it is not said. */
static bool dir_slices(parser *p, op_state *st, const form_step *s) {
  slices v = {0};
  if (!parser_list(p, '[', ']', slice_item, &v)) return false;
  st->slots[s->args[0]] = i64s_attr(p, &v.begin);
  st->slots[s->args[1]] = i64s_attr(p, &v.end);
  st->slots[s->args[2]] = i64s_attr(p, &v.stride);
  return true;
}

static bool two_lists(parser *p, const char *word, i64_vec *a, i64_vec *b) {
  return parser_expect_word(p, word) && parser_expect(p, '=', "expected '='") &&
         parser_i64_list(p, a) && parser_expect_word(p, "x") && parser_i64_list(p, b);
}

/* batching_dims = [0] x [0], contracting_dims = [1] x [0] */
static bool dir_dot(parser *p, op_state *st, const form_step *s) {
  i64_vec lb = {0}, rb = {0}, lc = {0}, rc = {0};
  if (at_word(p, "batching_dims") &&
      (!two_lists(p, "batching_dims", &lb, &rb) || !parser_expect(p, ',', "expected ','")))
    return false;
  if (!two_lists(p, "contracting_dims", &lc, &rc)) return false;
  st->slots[s->args[0]] = attr_make(p->ctx, dot, .lhs_batching_dimensions = {lb.data, lb.len},
                                    .rhs_batching_dimensions = {rb.data, rb.len},
                                    .lhs_contracting_dimensions = {lc.data, lc.len},
                                    .rhs_contracting_dimensions = {rc.data, rc.len});
  return true;
}

static bool precision_item(parser *p, void *user) {
  attr_vec *v = user;
  const attr *a = parser_dialect_body(p, ATTR_precision);
  if (!a) return false;
  VEC_PUSH(p->scratch, *v, a);
  return true;
}

/* , precision = [..] and/or , algorithm = <..>; the second argument may be missing */
static bool dir_precision(parser *p, op_state *st, const form_step *s) {
  attr_vec v = {0};
  if (!parser_accept(p, ',')) return true;
  if (parser_accept_word(p, "precision")) {
    if (!parser_expect(p, '=', "expected '='") || !parser_list(p, '[', ']', precision_item, &v))
      return false;
    st->slots[s->args[0]] = attr_array(p->ctx, (attrs){v.data, v.len});
    if (s->args[1] < 0 || !parser_accept(p, ',')) return true;
    if (!parser_expect_word(p, "algorithm")) return false;
  } else if (s->args[1] < 0 || !parser_accept_word(p, "algorithm")) {
    return parser_expect_word(p, "precision");
  }
  if (!parser_expect(p, '=', "expected '='")) return false;
  return (st->slots[s->args[1]] = parser_dialect_body(p, ATTR_dot_algorithm)) != NULL;
}

/* e5m10 */
static bool dir_exponents(parser *p, op_state *st, const form_step *s) {
  static const char *const names[] = {"exponent", "mantissa"};
  token t = p->tok;
  str digits[2];
  size_t i = 0;
  if (!parser_accept(p, TOK_ID)) return parser_complain(p, &t, "expected valid keyword");
  for (int k = 0; k < 2; k++) {
    if (i == t.text.len || t.text.data[i++] != "em"[k]) break;
    digits[k] = (str){t.text.data + i, 0};
    for (; i < t.text.len && char_is_digit(t.text.data[i]); i++) digits[k].len++;
    if (digits[k].len == 0) break;
    if (k == 1 && i == t.text.len) i = SIZE_MAX; /* all of it */
  }
  if (i != SIZE_MAX)
    return parser_complain(p, &t, "expected exponent mantissa in format e#m#, saw " STR_FMT,
                           STR_ARG(t.text));
  for (int k = 0; k < 2; k++) {
    i64 v = 0;
    for (size_t j = 0; j < digits[k].len && v <= INT32_MAX; j++)
      v = v * 10 + (digits[k].data[j] - '0');
    if (v > INT32_MAX)
      return parser_complain(p, &t, "unable to parse %s '" STR_FMT "'", names[k],
                             STR_ARG(digits[k]));
    st->slots[s->args[k]] = attr_int(p->ctx, type_i32(p->ctx), v);
  }
  return true;
}

static bool dir_conv(parser *p, op_state *st, const form_step *s) {
  return (st->slots[s->args[0]] = at(p, TOK_HASH) ? parser_attr(p, NULL) : parser_conv_dims(p)) !=
         NULL;
}

static bool pad_item(parser *p, void *user) {
  i64_vec *v = user, pair = {0};
  if (!parser_i64_list(p, &pair)) return false;
  if (pair.len != 2)
    return parser_complain(p, &p->tok, "Expected array with 2 elements, got %zu elements instead",
                           pair.len);
  VEC_PUSH(p->scratch, *v, pair.data[0]);
  VEC_PUSH(p->scratch, *v, pair.data[1]);
  return true;
}

typedef VEC(char) char_vec;

static bool flag_item(parser *p, void *user) {
  char_vec *v = user;
  i64 x = at_word(p, "true");
  if (at_word(p, "true") || at_word(p, "false"))
    parser_next(p);
  else if (!parser_i64(p, &x))
    return false;
  VEC_PUSH(p->scratch, *v, (char)(x != 0));
  return true;
}

static const attr *window_value(parser *p, int which) {
  i64_vec v = {0};
  char_vec flags = {0};
  if (which == 4) {
    if (!parser_list(p, '[', ']', flag_item, &flags)) return NULL;
    return attr_make(p->ctx, dense_array, .elem = type_i1(p->ctx), .data = {flags.data, flags.len});
  }
  if (which == 1) {
    if (!parser_list(p, '[', ']', pad_item, &v)) return NULL;
    i64 dims[] = {(i64)v.len / 2, 2};
    return attr_dense_i64(p->ctx, (i64s){dims, 2}, v.data);
  }
  return parser_i64_list(p, &v) ? i64s_attr(p, &v) : NULL;
}

static bool dir_window(parser *p, op_state *st, const form_step *s) {
  static const char *const words[FORM_ARGS] = {"stride", "pad", "lhs_dilate", "rhs_dilate",
                                               "reverse"};
  while (at(p, TOK_ID)) {
    int k = 0;
    str word = p->tok.text;
    while (k < FORM_ARGS && !at_word(p, words[k])) k++;
    parser_next(p);
    if (k == FORM_ARGS || st->slots[s->args[k]])
      return parser_complain(p, &p->tok, "Unexpected keyword " STR_FMT, STR_ARG(word));
    if (!parser_expect(p, '=', "expected '='")) return false;
    st->slots[s->args[k]] = window_value(p, k);
    if (!st->slots[s->args[k]]) return false;
    if (!parser_accept(p, ',')) break;
  }
  return true;
}

static bool dir_flags(parser *p, op_state *st, const form_step *s) {
  return parser_flags(p, st, s->args[0]);
}

static bool dir_placed(parser *p, op_state *st, const form_step *s) {
  return parser_placed(p, st, s->args);
}

static directive_fn *const directive_of[DIR_COUNT] = {
#define DIRECTIVE(id) [DIR_##id] = dir_##id,
#include "text/directives.def"
};

/* ---- the steps ---- */

/* Literal text: words and punctuation, spaces left out. */
static bool literal(parser *p, str s) {
  const char *c = s.data, *end = c + s.len;
  while (c < end) {
    if (*c == ' ') {
      c++;
      continue;
    }
    const char *begin = c;
    while (c < end && (char_is_alpha(*c) || *c == '_')) c++;
    if (c > begin) {
      str word = {begin, (size_t)(c - begin)};
      if (!at(p, TOK_ID) || !str_eq(p->tok.text, word))
        return parser_complain(p, &p->tok, "expected '" STR_FMT "'", STR_ARG(word));
      parser_next(p);
      continue;
    }
    char message[16] = "expected 'x'";
    int kind = *c == '-' && c + 1 < end && c[1] == '>' ? TOK_ARROW : (u8)*c;
    message[10] = *c;
    if (!parser_expect(p, kind, kind == TOK_ARROW ? "expected '->'" : message)) return false;
    c += kind == TOK_ARROW ? 2 : 1;
  }
  return true;
}

/* Whether the next token begins the optional part whose first step this is. */
static bool begins(parser *p, const op_state *st, const form_step *s) {
  if (s->kind == FORM_OPERANDS) return at(p, TOK_PERCENT);
  if (s->kind == FORM_ATTR) {
    int id = slot_at(st, s->slot)->attr_id;
    i64 v;
    return id >= 0 && attr_infos[id].cases
               ? at(p, TOK_ID) && attr_enum_case((attr_id)id, p->tok.text, &v)
               : true;
  }
  const char *c = s->text.data, *end = c + s->text.len;
  while (c < end && *c == ' ') c++;
  if (c == end) return begins(p, st, s + 1);
  if (!char_is_alpha(*c)) return at(p, (u8)*c);
  const char *begin = c;
  while (c < end && (char_is_alpha(*c) || *c == '_')) c++;
  return at(p, TOK_ID) && str_eq(p->tok.text, (str){begin, (size_t)(c - begin)});
}

static bool run_step(parser *p, op_state *st, const form_step *s) {
  switch ((form_kind)s->kind) {
  case FORM_TEXT:
    return literal(p, s->text);
  case FORM_ATTR:
    return attribute(p, st, s);
  case FORM_DIRECTIVE:
    return directive_of[s->directive](p, st, s);
  case FORM_OPERANDS:
    st->operands_at = st->function_at = st->at;
    if (st->info->operands[s->group].arity == MANY) {
      st->operands_at = p->tok;
      return parser_operands(p, st);
    }
    return parser_operand_item(p, st);
  case FORM_IF:
    break;
  }
  return true;
}

/* Types that the form does not say: operands have the result's, or the other way round. */
static bool complete_types(parser *p, op_state *st) {
  bool one_result = st->info->num_results == 1 && st->info->results[0].arity == ONE;
  if (st->has_results && st->operand_types.len == 0 && st->result_types.len == 1)
    push(p, &st->operand_types, st->result_types.data[0], st->operands.len);
  else if (!st->has_results && one_result && st->operand_types.len)
    push(p, &st->result_types, st->operand_types.data[0], 1);
  return check_counts(p, &st->operands_at, st->operands.len, st->operand_types.len);
}

bool parser_form(parser *p, op_state *st) {
  const form *f = form_get(&p->forms, st->info);
  for (size_t i = 0; i < f->num_steps; i++) {
    const form_step *s = &f->steps[i];
    if (s->kind == FORM_IF && !begins(p, st, s + 1))
      i += s->skip;
    else if (!run_step(p, st, s))
      return false;
  }
  return complete_types(p, st);
}
