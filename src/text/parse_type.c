/* Types of the builtin dialect, and the ways to dialects' types.
 *
 * A type is checked where it is made, as MLIR's verifyInvariants does: what cannot be an element, a
 * negative size, bounds on a static dimension. Types of dialects that we have no rows of are kept
 * as their text. */
#include "text/parser.h"

/* After the digits of a dimension. */
static bool no_x(parser *p, const char *at) {
  token here = {.text = {at, 0},
                .line = p->lex.line,
                .col = (u32)(at - p->lex.line_start) + 1,
                .kind = at == p->lex.end ? TOK_EOF : TOK_ERROR + 100};
  return parser_error(p, &here, "expected 'x' in dimension list");
}

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
    } else if (q < l->end && *q == '*' && !dims->len) {
      *unranked = true;
      q++;
    } else {
      for (; q < l->end && char_is_digit(*q); q++)
        fits = fits && checked_mul(v, 10, &v) && checked_add(v, *q - '0', &v);
    }
    if (q == begin || (q < l->end && *q == '.')) break; /* 1.5 is one token, and none of ours */
    token here = {.line = l->line, .col = (u32)(begin - l->line_start) + 1};
    if (!fits) return parser_error(p, &here, "invalid dimension");
    if (q == l->end || *q != 'x') return no_x(p, q);
    l->p = q + 1;
    if (*unranked) break;
    VEC_PUSH(p->scratch, *dims, v);
  }
  return parser_next(p);
}

static const char *shown_without_bounds(ir_ctx *c, const type *t) {
  return text_show_type(ir_arena(c), type_tensor(c, t->dims, t->elem, NULL));
}

/* Shared with the bytecode reader, as both make tensor types from input. dialect/ checks that
 * bounds fit what ops do with them. */
const char *bounds_problem(ir_ctx *c, const type *t) {
  const bounds_attr *b = attr_as(bounds, t->encoding);
  if (!b) return NULL;
  if (b->bounds.len != t->dims.len)
    return arena_printf(ir_arena(c),
                        "Bounds length is %zu, expected to be equal to rank(%zu) of the tensor "
                        "'%s'",
                        b->bounds.len, t->dims.len, shown_without_bounds(c, t))
        .data;
  for (size_t i = 0; i < t->dims.len; i++)
    if (t->dims.data[i] != DYNAMIC && b->bounds.data[i] != DYNAMIC)
      return arena_printf(ir_arena(c),
                          "Static dimension %zu cannot have a bound, use ShapedType::kDynamic to "
                          "indicate a missing bound in tensor '%s'",
                          i, shown_without_bounds(c, t))
          .data;
  return NULL;
}

/* Positions of errors are MLIR's, which speaks of an element type where it stands but of bounds
 * where the type ends. */
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
  if (!type_is_element(elem)) return parser_error(p, &where, "invalid tensor element type"), NULL;
  if (parser_accept(p, ',') && parser_attr_begins(p)) {
    encoding = parser_attr(p, NULL);
    if (!encoding) return NULL;
    if (unranked) return parser_error(p, &p->tok, "cannot apply encoding to unranked tensor"), NULL;
  }
  if (unranked)
    return parser_expect(p, '>', "expected '>' in tensor type") ? type_unranked(p->ctx, elem)
                                                                : NULL;
  const type *t = type_tensor(p->ctx, (i64s){dims.data, dims.len}, elem, encoding);
  const char *problem = bounds_problem(p->ctx, t);
  if (problem) return parser_error(p, &p->tok, "%s", problem), NULL;
  return parser_expect(p, '>', "expected '>' in tensor type") ? t : NULL;
}

/* 2x[4]x where brackets mean scalable, from the cursor as parser_dims does. */
static bool vector_dims(parser *p, i64_vec *dims, u32 *scalable, const token *word) {
  lexer *l = &p->lex;
  *scalable = 0;
  for (;;) {
    lexer_skip_space(l);
    const char *q = l->p;
    i64 v = 0;
    bool brackets = q < l->end && *q == '[', fits = true;
    token here = {.line = l->line, .col = (u32)(q - l->line_start) + 1};
    if (brackets) q++;
    const char *digits = q;
    for (; q < l->end && char_is_digit(*q); q++)
      fits = fits && checked_mul(v, 10, &v) && checked_add(v, *q - '0', &v);
    if (q == digits && !brackets) return parser_next(p);
    if (!fits || q == digits || (brackets && (q == l->end || *q++ != ']')))
      return parser_error(p, &here, "invalid dimension");
    if (q == l->end || *q != 'x') return no_x(p, q);
    if (v <= 0)
      return parser_error(p, word, "vector types must have positive constant sizes but got %lld",
                          (long long)v);
    if (brackets && dims->len >= 32) return parser_error(p, &here, "too many dimensions");
    if (brackets) *scalable |= 1u << dims->len;
    l->p = q + 1;
    VEC_PUSH(p->scratch, *dims, v);
  }
}

static const type *vector(parser *p, const token *word) {
  i64 few[8];
  i64_vec dims = {few, 0, COUNT(few)};
  u32 scalable;
  if (!at(p, '<')) return parser_expect(p, '<', "expected '<' in vector type"), NULL;
  if (!vector_dims(p, &dims, &scalable, word)) return NULL;
  const type *elem = parser_type(p);
  if (!elem) return NULL;
  if (!type_is_vector_element(elem))
    return parser_error(p, word,
                        "failed to verify 'elementType': VectorElementTypeInterface "
                        "instance"),
           NULL;
  if (!parser_expect(p, '>', "expected '>' in vector type")) return NULL;
  return type_scalable_vector(p->ctx, (i64s){dims.data, dims.len}, scalable, elem);
}

/* Layouts, and a memory space behind them. */
static bool memref_part(parser *p, bool unranked, const attr **layout, const attr **space) {
  const attr *a = parser_attr(p, NULL);
  if (!a) return false;
  bool is_layout = attr_is(affine_map, a) || attr_is(strided, a);
  if (is_layout && unranked)
    return parser_error(p, &p->tok, "cannot have affine map for unranked memref type");
  if (*space)
    return parser_error(p, &p->tok,
                        is_layout ? "expected memory space to be last in memref type"
                                  : "multiple memory spaces specified in memref type");
  *(is_layout ? layout : space) = a;
  return true;
}

/* An identity layout is what a memref without one has, so the two are one type. By text: the map is
 * simplified already. */
static bool is_identity(const attr *layout, size_t rank) {
  const affine_map_attr *m = attr_as(affine_map, layout);
  if (!m) return false;
  const char *p = m->text.data, *end = p + m->text.len;
  size_t n = (m->text.len - 4) / 2; /* (X) -> (X) */
  return p < end && m->text.len % 2 == 0 && memcmp(p, p + n + 4, n) == 0 &&
         (rank == 0 || !memchr(p, '[', n));
}

static const type *memref(parser *p, const token *word) {
  i64 few[8];
  i64_vec dims = {few, 0, COUNT(few)};
  bool unranked;
  const attr *layout = NULL, *space = NULL;
  if (!at(p, '<')) return parser_expect(p, '<', "expected '<' in memref type"), NULL;
  if (!parser_dims(p, &dims, &unranked)) return NULL;
  token where = p->tok;
  const type *elem = parser_type(p);
  if (!elem) return NULL;
  if (!type_is_memref_element(elem))
    return parser_error(p, &where, "invalid memref element type"), NULL;
  while (parser_accept(p, ','))
    if (!memref_part(p, unranked, &layout, &space)) return NULL;
  if (!parser_expect(p, '>', "expected '>'")) return NULL;
  i64 v;
  if (space && !attr_is_memory_space(space))
    return parser_error(p, word, "unsupported memory space Attribute"), NULL;
  if (space && attr_get_i64(space, &v) && v == 0) space = NULL; /* the default, as in MLIR */
  if (unranked) return type_unranked_memref(p->ctx, elem, space);
  if (layout && is_identity(layout, dims.len)) layout = NULL;
  return type_memref(p->ctx, (i64s){dims.data, dims.len}, elem, layout, space);
}

static const type *complex(parser *p, const token *word) {
  (void)word;
  if (!parser_expect(p, '<', "expected '<' in complex type")) return NULL;
  token where = p->tok;
  const type *elem = parser_type(p);
  if (!elem) return NULL;
  if (elem->kind != TYPE_FLOAT && elem->kind != TYPE_INT)
    return parser_error(p, &where, "invalid element type for complex"), NULL;
  if (!parser_expect(p, '>', "expected '>' in complex type")) return NULL;
  return type_complex(p->ctx, elem);
}

bool parser_type_item(parser *p, void *type_list) {
  type_vec *v = type_list;
  const type *t = parser_type(p);
  if (!t) return false;
  VEC_PUSH(p->scratch, *v, t);
  return true;
}

bool parser_type_list(parser *p, type_vec *out) {
  do {
    if (!parser_type_item(p, out)) return false;
  } while (parser_accept(p, ','));
  return true;
}

static const type *tuple(parser *p, const token *word) {
  (void)word;
  type_vec elems = {0};
  if (!parser_list_in(p, '<', '>', parser_type_item, &elems, " in tuple type")) return NULL;
  return type_tuple(p->ctx, (types){elems.data, elems.len});
}

/* Like stablehlo.future's own verifier: at least one type, ranked tensors only. */
static const type *future(parser *p) {
  type_vec elems = {0};
  token where = p->tok;
  if (!parser_list(p, '<', '>', parser_type_item, &elems)) return NULL;
  if (!elems.len) return parser_error(p, &where, "expected non-function type"), NULL;
  for (size_t i = 0; i < elems.len; i++)
    if (elems.data[i]->kind != TYPE_TENSOR)
      return parser_error(p, &where, "future element type must be a ranked tensor, but got '%s'",
                          text_show_type(p->scratch, elems.data[i])),
             NULL;
  return type_future(p->ctx, (types){elems.data, elems.len});
}

/* (a, b) -> c or (a, b) -> (c, d) */
bool parser_function_type(parser *p, type_vec *inputs, type_vec *results) {
  if (!parser_list(p, '(', ')', parser_type_item, inputs)) return false;
  if (!parser_expect(p, TOK_ARROW, "expected '->' in function type")) return false;
  if (at(p, '(')) return parser_list(p, '(', ')', parser_type_item, results);
  return parser_type_item(p, results);
}

static const type *function(parser *p) {
  const type *few[8], *more[4];
  type_vec in = {few, 0, COUNT(few)}, out = {more, 0, COUNT(more)};
  if (!parser_function_type(p, &in, &out)) return NULL;
  return type_function(p->ctx, (types){in.data, in.len}, (types){out.data, out.len});
}

/* i32, si8, ui4; NULL: not one. `bad`: what is wrong with the width. */
const type *parser_int_type(ir_ctx *c, str s, const char **bad) {
  signedness sign = SIGNLESS;
  if (s.len > 2 && s.data[1] == 'i') {
    if (s.data[0] != 's' && s.data[0] != 'u') return NULL;
    sign = s.data[0] == 's' ? SIGNED : UNSIGNED;
    s = str_from(s, 1);
  }
  if (s.len < 2 || s.data[0] != 'i') return NULL;
  u64 width = 0;
  for (size_t i = 1; i < s.len; i++) {
    if (!char_is_digit(s.data[i])) return NULL;
    width = width > UINT32_MAX ? width : width * 10 + (u64)(s.data[i] - '0');
  }
  *bad = width > UINT32_MAX         ? "invalid integer width"
         : width > IR_MAX_INT_WIDTH ? "integer bitwidth is limited to 16777215 bits"
                                    : NULL;
  return *bad ? NULL : type_int(c, (u32)width, sign);
}

/* Most types of a file are a few tensors written again and again, so `tensor<...>` without
 * brackets inside is looked up by its text first. */
static const type *tensor_cached(parser *p, const token *word) {
  (void)word;
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
  const type *(*parse)(parser *p, const token *word);
} shaped[] = {{"tensor", tensor_cached},
              {"vector", vector},
              {"complex", complex},
              {"tuple", tuple},
              {"memref", memref}};

/* NULL and no error: not a type at all, which the caller may have expected. */
static const type *keyword(parser *p) {
  token t = p->tok;
  const char *bad = NULL;
  for (size_t i = 0; i < COUNT(shaped); i++)
    if (str_is(t.text, shaped[i].word)) return parser_next(p), shaped[i].parse(p, &t);
  const type *found = parser_int_type(p->ctx, t.text, &bad);
  if (bad) return parser_error(p, &t, "%s", bad), NULL;
  for (int k = 0; !found && k < FLOAT_COUNT; k++)
    if (str_is(t.text, float_names[k])) found = type_float(p->ctx, (float_kind)k);
  if (!found && str_is(t.text, "index")) found = type_index(p->ctx);
  if (!found && str_is(t.text, "none")) found = type_none(p->ctx);
  if (found) parser_next(p);
  return found;
}

/* !dialect.name<...> or !dialect<...> as text, in the spelling that MLIR prefers */
static const type *opaque(parser *p) {
  dialect_symbol s;
  buf b;
  if (!parser_symbol_text(p, &s) || !parser_keep_symbol(p, &s, true, NULL)) return NULL;
  bool pretty = str_is_pretty_symbol(s.body);
  buf_init(&b, ir_mem(p->ctx));
  buf_str(&b, s.dialect);
  buf_char(&b, pretty ? '.' : '<');
  buf_str(&b, s.body);
  if (!pretty) buf_char(&b, '>');
  const type *t = str_is(buf_view(&b), "stablehlo.token") ? type_token(p->ctx)
                  : str_is(s.dialect, "stablehlo")        ? NULL
                                                          : type_opaque(p->ctx, buf_view(&b));
  buf_deinit(&b);
  const char *angle = memchr(s.body.data, '<', s.body.len);
  if (angle) s.body.len = (size_t)(angle - s.body.data);
  if (!t) parser_error(p, &s.inside, "unknown stablehlo type: " STR_FMT, STR_ARG(s.body));
  return t;
}

/* !quant.name<...> or !quant<name<...>> */
static const type *quantized(parser *p, const token *t, bool dotted) {
  token name = *t;
  const type *q;
  if (dotted) {
    name.text = str_from(t->text, sizeof "!quant." - 1);
    name.col += sizeof "!quant." - 1;
    parser_next(p);
    return p->syntax->quant(p, &name, name.text);
  }
  parser_next(p);
  parser_next(p);
  name = p->tok;
  if (!parser_expect(p, TOK_ID, "expected valid keyword")) return NULL;
  q = p->syntax->quant(p, &name, name.text);
  return q && parser_expect(p, '>', "expected '>'") ? q : NULL;
}

/* An alias's type is deep already, so the room for it is asked for (parser_room). */
static const type *written_out(parser *p) {
  token t = p->tok;
  str name = str_from(t.text, 1);
  const char *dot = memchr(name.data, '.', name.len);
  const type *alias = name_map_get(&p->type_aliases, name);
  if (alias) return parser_room(p, alias->depth) && parser_next(p) ? alias : NULL;
  if (!dot && !(p->lex.p < p->lex.end && *p->lex.p == '<')) {
    parser_next(p);
    return parser_missing(p, "undefined symbol alias id '" STR_FMT "'", STR_ARG(name)), NULL;
  }
  if (str_is(name, "stablehlo.future")) {
    parser_next(p);
    return future(p);
  }
  if (str_is(name, "mpmd.mesh_tensor")) {
    parser_next(p);
    return p->syntax->mesh_tensor(p);
  }
  str dialect = {name.data, dot ? (size_t)(dot - name.data) : name.len};
  if (str_is(dialect, "quant")) return quantized(p, &t, dot != NULL);
  return opaque(p);
}

/* !alias, !dialect.name<...>, !dialect<...> */
static const type *dialect(parser *p) {
  str outer = p->custom_op;
  p->custom_op = STR(""); /* no more the op's own code that reads */
  bool outermost = !p->symbol && p->lex.p < p->lex.end && *p->lex.p == '<';
  if (outermost) p->symbol = p->lex.p;
  const type *t = written_out(p);
  if (outermost) p->symbol = NULL;
  p->custom_op = outer;
  return t;
}

/* Without an error where no type begins. *bad: one began and was wrong, which was reported. */
const type *parser_optional_type(parser *p, bool *bad) {
  const type *t = NULL;
  *bad = false;
  if (!at(p, TOK_ID) && !at(p, '(') && !at(p, TOK_EXCLAIM)) return NULL;
  u32 errors = ir_sink(p->ctx)->errors;
  str outer = p->custom_op;
  if (!parser_enter(p)) return *bad = true, NULL;
  p->custom_op = STR("");
  if (at(p, TOK_ID))
    t = keyword(p);
  else
    t = at(p, '(') ? function(p) : dialect(p);
  p->custom_op = outer;
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
