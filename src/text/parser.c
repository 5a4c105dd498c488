/* Tokens, errors and small lists.
 *
 * Where and in which words MLIR reports an error is part of what the peers' tests compare, so it is
 * decided here in one place: one error is reported, at the token at hand or behind the one before
 * (parser_missing), with the op's name in front where MLIR's dialect code speaks (parser_complain),
 * and not at all once something has been said (muted). */
#include "text/parser.h"

#include <stdarg.h>

/* ---- errors ---- */

/* Counts lines from the start: done for one error only. */
static diag_pos locate(const parser *p, const char *at) {
  diag_pos pos = {p->file, 1, 1};
  for (const char *c = p->source.data; c < at; c++) {
    pos.line += *c == '\n';
    pos.col = *c == '\n' ? 1 : pos.col + 1;
  }
  return pos;
}

static void emit_at(parser *p, const char *at, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_emit(ir_sink(p->ctx), DIAG_ERROR, locate(p, at), fmt, ap);
  va_end(ap);
  p->muted = true;
}

static void lexer_error(parser *p, const lexer *l) { emit_at(p, l->error_at, "%s", l->error); }

/* Past the bracket that closes the one at `at`. NULL: there is none, reported. */
static const char *symbol_end(parser *p, const char *at) {
  char open[IR_MAX_NESTING];
  size_t depth = 0;
  const char *token = at, *end = p->source.data + p->source.len;
  do {
    char c = at < end ? *at++ : 0;
    const char *pair = c ? strchr("<>[](){}", c) : NULL;
    bool closes = pair && strchr(">])}", c);
    if (c == '-' && at < end && *at == '>') {
      at++;
    } else if (c == '"') {
      lexer l = {.p = at - 1, .end = end, .line_start = at, .line = 1};
      token = at - 1;
      if (lexer_next(&l).kind != TOK_STRING) return lexer_error(p, &l), NULL;
      at = l.p;
    } else if (c == 0 || (closes && open[depth - 1] != pair[-1])) {
      emit_at(p, token, "unbalanced '%c' character in pretty dialect name", open[depth - 1]);
      return NULL;
    } else if (closes) {
      depth--;
    } else if (pair) {
      if (depth == IR_MAX_NESTING)
        return emit_at(p, at - 1, "nested more than %d levels deep", (int)IR_MAX_NESTING), NULL;
      open[depth++] = c;
    }
  } while (depth);
  return at;
}

/* MLIR looks for the end of a #dialect.name<...> before it reads what is inside. false: there is
 * none, reported. Done only when there is something to report anyway. */
static bool check_symbol(parser *p) {
  const char *begin = p->symbol;
  p->symbol = NULL;
  return symbol_end(p, begin) != NULL;
}

bool parser_skip_symbol(parser *p) {
  if (p->symbol && p->symbol != p->lex.p && !check_symbol(p)) return false;
  const char *end = symbol_end(p, p->lex.p);
  if (end) lexer_skip_to(&p->lex, end);
  return end != NULL;
}

/* Whether an error is to be reported; false also if another was instead. */
static bool may_report(parser *p) {
  if (p->muted || (p->symbol && !check_symbol(p))) return false;
  if (at(p, TOK_ERROR)) lexer_error(p, &p->lex);
  return !p->muted;
}

/* As in MLIR, at the end of the text its last character stands for what is missing. */
static diag_pos place(const parser *p, const token *where) {
  if (where->kind == TOK_EOF && p->source.len) return locate(p, where->text.data - 1);
  return (diag_pos){p->file, where->line, where->col};
}

bool parser_error(parser *p, const token *where, const char *fmt, ...) {
  va_list ap;
  if (!may_report(p)) return false;
  va_start(ap, fmt);
  diag_emit(ir_sink(p->ctx), DIAG_ERROR, place(p, where), fmt, ap);
  va_end(ap);
  return false;
}

bool parser_complain(parser *p, const token *where, const char *fmt, ...) {
  va_list ap;
  if (!may_report(p)) return false;
  str prefix = p->custom_op.len ? arena_printf(p->scratch, "custom op '" STR_FMT "' %s",
                                               STR_ARG(p->custom_op), fmt)
                                : str_of(fmt);
  va_start(ap, fmt);
  diag_emit(ir_sink(p->ctx), DIAG_ERROR, (diag_pos){p->file, where->line, where->col}, prefix.data,
            ap);
  va_end(ap);
  return false;
}

void parser_note(parser *p, u32 line, u32 col, const char *fmt, ...) {
  va_list ap;
  if (p->muted) return;
  va_start(ap, fmt);
  diag_emit(ir_sink(p->ctx), DIAG_NOTE, (diag_pos){p->file, line, col}, fmt, ap);
  va_end(ap);
}

bool parser_enter(parser *p) {
  p->depth++;
  return parser_room(p, 0);
}

bool parser_room(parser *p, u32 depth) {
  if (p->depth + depth <= IR_MAX_NESTING) return true;
  return parser_error(p, &p->tok, "nested more than %d levels deep", (int)IR_MAX_NESTING);
}

/* ---- tokens ---- */

bool parser_next(parser *p) {
  p->tok = lexer_next(&p->lex);
  return true;
}

bool parser_accept(parser *p, int kind) { return at(p, kind) && parser_next(p); }

bool parser_accept_word(parser *p, const char *word) { return at_word(p, word) && parser_next(p); }

/* As in MLIR, what is missing is missing right after what came before: back over spaces, blank
 * lines and comments at the end of lines. */
bool parser_missing(parser *p, const char *fmt, ...) {
  const char *begin = p->source.data, *from = p->tok.text.data;
  if (!may_report(p)) return false;
  if (at(p, TOK_EOF) && from > begin) from--;
  const char *at = from;
  for (;;) {
    while (at > begin && (at[-1] == ' ' || at[-1] == '\t')) at--;
    if (at == begin) {
      at = from;
      break;
    }
    if (at[-1] != '\n' && at[-1] != '\r') break;
    const char *line = --at;
    while (line > begin && line[-1] != '\n' && line[-1] != '\r') line--;
    for (const char *c = line; c + 1 < at; c++)
      if (c[0] == '/' && c[1] == '/') at = c;
  }
  va_list ap;
  va_start(ap, fmt);
  diag_emit(ir_sink(p->ctx), DIAG_ERROR, locate(p, at), fmt, ap);
  va_end(ap);
  return false;
}

bool parser_expect(parser *p, int kind, const char *message) {
  return parser_accept(p, kind) || parser_missing(p, "%s", message);
}

bool parser_expect_word(parser *p, const char *word) {
  return parser_accept_word(p, word) || parser_complain(p, &p->tok, "expected '%s'", word);
}

/* -1: no digit */
static inline int hex_value(char c) {
  static const u8 above[256] = {['0'] = 1, 2,  3,  4,  5,  6,          7,  8,  9,  10, ['A'] = 11,
                                12,        13, 14, 15, 16, ['a'] = 11, 12, 13, 14, 15, 16};
  return above[(unsigned char)c] - 1;
}

bool parser_hex(parser *p, const token *t, str *out, bool keep) {
  str s = {t->text.data + 1, t->text.len - 2};
  if (s.len < 2 || s.data[0] != '0' || s.data[1] != 'x' || s.len % 2) return false;
  s = str_from(s, 2);
  char *bytes = arena_alloc_aligned(keep ? ir_arena(p->ctx) : p->scratch, s.len / 2 + 1, 16);
  for (size_t i = 0; i < s.len / 2; i++) {
    int high = hex_value(s.data[2 * i]), low = hex_value(s.data[2 * i + 1]);
    if (high < 0 || low < 0) return false;
    bytes[i] = (char)(high << 4 | low);
  }
  *out = (str){bytes, s.len / 2};
  return true;
}

str parser_string(parser *p, const token *t) {
  str s = t->text;
  if (t->kind == TOK_AT) s = str_from(s, 1);
  if (s.len < 2 || s.data[0] != '"') return s;
  s = (str){s.data + 1, s.len - 2};
  if (!memchr(s.data, '\\', s.len)) return s;
  char *out = arena_alloc(p->scratch, s.len);
  size_t n = 0;
  for (size_t i = 0; i < s.len; i++) {
    char c = s.data[i];
    if (c == '\\') {
      c = s.data[++i];
      if (c == 'n')
        c = '\n';
      else if (c == 't')
        c = '\t';
      else if (c != '"' && c != '\\') {
        c = (char)(hex_value(c) * 16 + hex_value(s.data[i + 1]));
        i++;
      }
    }
    out[n++] = c;
  }
  return (str){out, n};
}

/* Hex digits may be as many as they like if the value fits. */
bool parser_u64(str s, u64 *out) {
  u64 v = 0, base = 10;
  size_t i = 0;
  if (s.len > 2 && s.data[1] == 'x') {
    base = 16;
    i = 2;
  }
  for (; i < s.len; i++)
    if (!checked_mul(v, base, &v) || !checked_add(v, (u64)hex_value(s.data[i]), &v)) return false;
  *out = v;
  return true;
}

bool parser_i64(parser *p, i64 *out) {
  token start = p->tok;
  bool minus = parser_accept(p, '-');
  u64 v;
  token t = p->tok;
  if (!minus && !at(p, TOK_INT)) return parser_complain(p, &t, "expected integer value");
  if (!parser_expect(p, TOK_INT, "expected integer value")) return false;
  if (!parser_u64(t.text, &v) || v > (u64)INT64_MAX + minus)
    return parser_complain(p, &start, "integer value too large");
  *out = minus ? (i64)(0 - v) : (i64)v;
  return true;
}

bool parser_string_value(parser *p, str *out) {
  token t = p->tok;
  if (!parser_accept(p, TOK_STRING)) return parser_complain(p, &t, "expected string");
  *out = parser_string(p, &t);
  return true;
}

bool parser_word_or_string(parser *p, str *out) {
  if (at(p, TOK_ID))
    *out = p->tok.text;
  else if (at(p, TOK_STRING))
    *out = parser_string(p, &p->tok);
  else
    return parser_complain(p, &p->tok, "expected valid keyword or string");
  return parser_next(p);
}

bool parser_list_in(parser *p, int open, int close, parser_item *item, void *user,
                    const char *where) {
  if (!parser_accept(p, open)) return parser_missing(p, "expected '%c'%s", open, where);
  if (parser_accept(p, close)) return true;
  do {
    if (!item(p, user)) return false;
  } while (parser_accept(p, ','));
  return parser_accept(p, close) || parser_missing(p, "expected '%c'%s", close, where);
}

bool parser_list(parser *p, int open, int close, parser_item *item, void *user) {
  return parser_list_in(p, open, close, item, user, "");
}

static bool i64_item(parser *p, void *user) {
  i64_vec *v = user;
  i64 x = 0;
  if (!parser_i64(p, &x)) return false;
  VEC_PUSH(p->scratch, *v, x);
  return true;
}

bool parser_i64_list(parser *p, i64_vec *out) {
  out->len = 0;
  return parser_list(p, '[', ']', i64_item, out);
}

/* Two colons are two tokens: the lexer looks ahead, and goes back where they are something else. */
const attr *parser_symbol(parser *p) {
  token t = p->tok;
  VEC(const attr *) nested = {0};
  if (!parser_expect(p, TOK_AT, "expected symbol reference")) return NULL;
  while (at(p, ':')) {
    lexer after = p->lex;
    token second = lexer_next(&after);
    if (second.kind != ':') break;
    p->lex = after;
    parser_next(p);
    token inner = p->tok;
    if (!parser_expect(p, TOK_AT, "expected nested symbol reference identifier")) return NULL;
    VEC_PUSH(p->scratch, nested, attr_symbol(p->ctx, parser_string(p, &inner)));
  }
  return attr_make(p->ctx, symbol_ref, .root = parser_string(p, &t),
                   .nested = {nested.data, nested.len});
}
