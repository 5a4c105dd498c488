#include "text/parser.h"

/* `tensor<` and `vector<`: dimensions are not tokens (4x0x8xf32), so they are read from the
 * cursor, which stands after `<`; p->tok is that `<`. On return the next token is read. */
bool parser_dims(parser *p, i64_vec *dims, bool *unranked) {
  lexer *l = &p->lex;
  *unranked = false;
  dims->len = 0;
  for (;;) {
    lexer_skip_space(l);
    const char *begin = l->p, *q = begin;
    i64 v = 0;
    bool fits = true;
    if (q < l->end && *q == '?') {
      v = DYNAMIC;
      q++;
    } else if (q < l->end && *q == '*') {
      *unranked = true;
      q++;
    } else {
      for (; q < l->end && char_is_digit(*q); q++)
        fits = fits && checked_mul(v, 10, &v) && checked_add(v, *q - '0', &v);
    }
    if (q == begin) break;
    token here = {.line = l->line, .col = (u32)(begin - l->line_start) + 1};
    if (!fits) return parser_error(p, &here, "invalid dimension");
    here.col += (u32)(q - begin);
    if (q == l->end || *q != 'x') return parser_error(p, &here, "expected 'x' in dimension list");
    l->p = q + 1;
    if (*unranked) break;
    VEC_PUSH(p->scratch, *dims, v);
  }
  return parser_next(p);
}

static bool valid_element(const type *t) {
  return t->kind == TYPE_INDEX || t->kind == TYPE_INT || t->kind == TYPE_FLOAT ||
         t->kind == TYPE_COMPLEX || t->kind == TYPE_OPAQUE || t->kind == TYPE_VECTOR;
}

static const type *tensor(parser *p) {
  i64 few[8];
  i64_vec dims = {few, 0, COUNT(few)};
  bool unranked;
  const attr *encoding = NULL;
  if (!at(p, '<')) return parser_expect(p, '<', "expected '<' in tensor type"), NULL;
  if (!parser_dims(p, &dims, &unranked)) return NULL;
  token where = p->tok;
  const type *elem = parser_type(p);
  if (!elem) return NULL;
  if (!valid_element(elem)) return parser_error(p, &where, "invalid tensor element type"), NULL;
  if (parser_accept(p, ',')) {
    encoding = parser_attr(p, NULL);
    if (!encoding) return NULL;
    if (unranked) return parser_error(p, &where, "cannot apply encoding to unranked tensor"), NULL;
  }
  if (!parser_expect(p, '>', "expected '>' in tensor type")) return NULL;
  if (unranked) return type_unranked(p->ctx, elem);
  return type_tensor(p->ctx, (i64s){dims.data, dims.len}, elem, encoding);
}

static const type *vector(parser *p) {
  i64 few[8];
  i64_vec dims = {few, 0, COUNT(few)};
  bool unranked;
  if (!at(p, '<')) return parser_expect(p, '<', "expected '<' in vector type"), NULL;
  if (!parser_dims(p, &dims, &unranked)) return NULL;
  const type *elem = parser_type(p);
  if (!elem || !parser_expect(p, '>', "expected '>' in vector type")) return NULL;
  return type_vector(p->ctx, (i64s){dims.data, dims.len}, elem);
}

static const type *complex(parser *p) {
  if (!parser_expect(p, '<', "expected '<' in complex type")) return NULL;
  token where = p->tok;
  const type *elem = parser_type(p);
  if (!elem) return NULL;
  if (elem->kind != TYPE_FLOAT && elem->kind != TYPE_INT)
    return parser_error(p, &where, "invalid element type for complex"), NULL;
  if (!parser_expect(p, '>', "expected '>' in complex type")) return NULL;
  return type_complex(p->ctx, elem);
}

static bool type_item(parser *p, void *user) {
  type_vec *v = user;
  const type *t = parser_type(p);
  if (!t) return false;
  VEC_PUSH(p->scratch, *v, t);
  return true;
}

bool parser_type_list(parser *p, type_vec *out) {
  do {
    if (!type_item(p, out)) return false;
  } while (parser_accept(p, ','));
  return true;
}

static const type *tuple(parser *p) {
  type_vec elems = {0};
  if (!parser_list(p, '<', '>', type_item, &elems)) return NULL;
  return type_tuple(p->ctx, (types){elems.data, elems.len});
}

/* (a, b) -> c or (a, b) -> (c, d) */
bool parser_function_type(parser *p, type_vec *inputs, type_vec *results) {
  if (!parser_list(p, '(', ')', type_item, inputs)) return false;
  if (!parser_expect(p, TOK_ARROW, "expected '->' in function type")) return false;
  if (at(p, '(')) return parser_list(p, '(', ')', type_item, results);
  return type_item(p, results);
}

static const type *function(parser *p) {
  const type *few[8], *more[4];
  type_vec in = {few, 0, COUNT(few)}, out = {more, 0, COUNT(more)};
  if (!parser_function_type(p, &in, &out)) return NULL;
  return type_function(p->ctx, (types){in.data, in.len}, (types){out.data, out.len});
}

/* i32, si8, ui4; NULL: not one. `bad`: the width is out of range. */
static const type *integer(ir_ctx *c, str s, bool *bad) {
  signedness sign = SIGNLESS;
  if (s.len > 2 && s.data[1] == 'i') {
    if (s.data[0] != 's' && s.data[0] != 'u') return NULL;
    sign = s.data[0] == 's' ? SIGNED : UNSIGNED;
    s = str_from(s, 1);
  }
  if (s.len < 2 || s.data[0] != 'i') return NULL;
  u32 width = 0;
  for (size_t i = 1; i < s.len; i++) {
    if (!char_is_digit(s.data[i])) return NULL;
    width = width > 1u << 24 ? width : width * 10 + (u32)(s.data[i] - '0');
  }
  *bad = width >= 1u << 24;
  return *bad ? NULL : type_int(c, width, sign);
}

/* Most types of a file are a few tensors written again and again, so `tensor<...>` without
 * brackets inside is looked up by its text first. */
static const type *tensor_cached(parser *p) {
  const char *begin = p->lex.p, *q = begin;
  u64 h = 0;
  if (!at(p, '<')) return tensor(p);
  while (q < p->lex.end && (char_is_alpha(*q) || char_is_digit(*q) || *q == '?'))
    h = (h ^ (u8)*q++) * 0x9e3779b97f4a7c15u;
  if (q == p->lex.end || *q != '>') return tensor(p);
  str text = {begin, (size_t)(q - begin)};
  type_memo *m = &p->type_memos[h >> (64 - TYPE_MEMO_BITS)];
  if (m->type && str_eq(m->text, text)) {
    p->lex.p = q + 1;
    parser_next(p);
    return m->type;
  }
  const type *t = tensor(p);
  if (t) *m = (type_memo){text, t};
  return t;
}

static const struct {
  const char *word;
  const type *(*parse)(parser *p);
} shaped[] = {
    {"tensor", tensor_cached}, {"vector", vector}, {"complex", complex}, {"tuple", tuple}};

static const type *keyword(parser *p) {
  token t = p->tok;
  bool bad = false;
  for (size_t i = 0; i < COUNT(shaped); i++)
    if (str_is(t.text, shaped[i].word)) return parser_next(p), shaped[i].parse(p);
  const type *found = integer(p->ctx, t.text, &bad);
  if (bad) return parser_error(p, &t, "integer bitwidth is limited to 16777215 bits"), NULL;
  for (int k = 0; !found && k < FLOAT_COUNT; k++)
    if (str_is(t.text, float_names[k])) found = type_float(p->ctx, (float_kind)k);
  if (!found && str_is(t.text, "index")) found = type_index(p->ctx);
  if (!found && str_is(t.text, "none")) found = type_none(p->ctx);
  if (found) parser_next(p);
  return found;
}

/* !alias, !dialect.name<...>, !dialect<...> */
static const type *dialect(parser *p) {
  token t = p->tok;
  str name = str_from(t.text, 1);
  const type *alias = name_map_get(&p->type_aliases, name);
  if (alias) return parser_next(p), alias;
  if (!memchr(name.data, '.', name.len) && !(p->lex.p < p->lex.end && *p->lex.p == '<'))
    return parser_error(p, &t, "undefined symbol alias id '" STR_FMT "'", STR_ARG(name)), NULL;
  if (p->lex.p < p->lex.end && *p->lex.p == '<') {
    p->lex.p++;
    if (!lexer_skip_nested(&p->lex) || *p->lex.p != '>')
      return parser_error(p, &t, "expected '>' at the end of a dialect type"), NULL;
    p->lex.p++;
  }
  str text = {name.data, (size_t)(p->lex.p - name.data)};
  parser_next(p);
  if (str_is(text, "stablehlo.token") || str_is(text, "stablehlo<token>"))
    return type_token(p->ctx);
  return type_opaque(p->ctx, text);
}

const type *parser_optional_type(parser *p, bool *bad) {
  const type *t = NULL;
  *bad = false;
  if (!at(p, TOK_ID) && !at(p, '(') && !at(p, TOK_EXCLAIM)) return NULL;
  u32 errors = ir_sink(p->ctx)->errors;
  if (!parser_enter(p)) return *bad = true, NULL;
  if (at(p, TOK_ID))
    t = keyword(p);
  else
    t = at(p, '(') ? function(p) : dialect(p);
  parser_leave(p);
  *bad = !t && ir_sink(p->ctx)->errors != errors;
  return t;
}

const type *parser_type(parser *p) {
  bool bad;
  const type *t = parser_optional_type(p, &bad);
  if (!t && !bad) parser_expect(p, TOK_EOF + 100, "expected non-function type");
  return t;
}
