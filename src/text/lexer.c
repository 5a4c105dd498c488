/* The lexer: MLIR's tokens (mlir/lib/AsmParser/Lexer.cpp), made one at a time on demand.
 *
 * It keeps lines and columns for locations, which every op gets. Errors are tokens: the parser
 * reports them when it comes to them and not before, since MLIR does. Some syntax is not made of
 * tokens (4x8xf32, the text of dialect symbols), so the parser may read from the cursor itself. */
#include "text/lexer.h"

enum { SPACE = 1, BARE = 2, SUFFIX = 4, DIGIT = 8, HEX = 16, START = 32 };

/* Classes of a byte: what may continue a bare identifier, a name after a sigil, a number. */
static const u8 classes_of[256] = {
    [' '] = SPACE,
    ['\t'] = SPACE,
    ['\n'] = SPACE,
    ['\r'] = SPACE,
    ['0' ... '9'] = DIGIT | HEX | BARE | SUFFIX,
    ['a' ... 'f'] = BARE | SUFFIX | START | HEX,
    ['g' ... 'z'] = BARE | SUFFIX | START,
    ['A' ... 'F'] = BARE | SUFFIX | START | HEX,
    ['G' ... 'Z'] = BARE | SUFFIX | START,
    ['_'] = BARE | SUFFIX | START,
    ['$'] = BARE | SUFFIX,
    ['.'] = BARE | SUFFIX,
    ['-'] = SUFFIX,
};

static inline u8 class_of(char c) { return classes_of[(unsigned char)c]; }

static const char *run(const char *p, const char *end, u8 classes) {
  while (p < end && (class_of(*p) & classes)) p++;
  return p;
}

void lexer_init(lexer *l, str source) {
  *l = (lexer){source.data, source.data + source.len, source.data, 1, NULL};
}

/* Comments are // to the end of the line; MLIR has no others. */
void lexer_skip_space(lexer *l) {
  for (; l->p < l->end; l->p++) {
    char c = *l->p;
    if (c == '\n') {
      l->line++;
      l->line_start = l->p + 1;
    } else if (c == '/' && l->p + 1 < l->end && l->p[1] == '/') {
      const char *nl = memchr(l->p, '\n', (size_t)(l->end - l->p));
      l->p = (nl ? nl : l->end) - 1;
    } else if (c != ' ' && c != '\t' && c != '\r') {
      return;
    }
  }
}

/* Why and where, for the parser, which reports when it gets there. */
static u8 fail(lexer *l, const char *at, const char *why) {
  l->error = why;
  l->error_at = at;
  return TOK_ERROR;
}

/* After the opening quote. */
static u8 lex_string(lexer *l, u8 kind) {
  for (;;) {
    while (l->p < l->end && *l->p != '"' && *l->p != '\\' && *l->p != '\n') l->p++;
    if (l->p == l->end || *l->p == '\n') return fail(l, l->p, "expected '\"' in string literal");
    if (*l->p++ == '"') return kind;
    if (l->p == l->end) return fail(l, l->p, "expected '\"' in string literal");
    char c = *l->p;
    if (c == '"' || c == '\\' || c == 'n' || c == 't') {
      l->p++;
    } else if (l->end - l->p >= 2 && (class_of(c) & HEX) && (class_of(l->p[1]) & HEX)) {
      l->p += 2;
    } else {
      return fail(l, l->p - 1, "unknown escape in string literal");
    }
  }
}

/* After the first digit. A float needs a dot; `4x4` gives 4. */
static u8 lex_number(lexer *l) {
  const char *p = l->p, *end = l->end;
  if (p[-1] == '0' && p + 1 < end && *p == 'x' && (class_of(p[1]) & HEX)) {
    l->p = run(p + 1, end, HEX);
    return TOK_INT;
  }
  p = run(p, end, DIGIT);
  l->p = p;
  if (p == end || *p != '.') return TOK_INT;
  p = run(p + 1, end, DIGIT);
  l->p = p;
  if (p < end && (*p == 'e' || *p == 'E')) {
    const char *q = p + 1;
    if (q < end && (*q == '+' || *q == '-')) q++;
    if (q < end && char_is_digit(*q)) l->p = run(q, end, DIGIT);
  }
  return TOK_FLOAT;
}

/* After % ^ # or !: digits, or a name. */
static u8 lex_sigil(lexer *l, u8 kind) {
  const char *p = l->p;
  if (p < l->end && char_is_digit(*p)) {
    l->p = run(p, l->end, DIGIT);
    return kind;
  }
  l->p = run(p, l->end, SUFFIX);
  if (l->p > p) return kind;
  return fail(l, p - 1,
              kind == TOK_PERCENT ? "invalid SSA name"
              : kind == TOK_HASH  ? "invalid attribute name"
              : kind == TOK_CARET ? "invalid block name"
                                  : "invalid type identifier");
}

static u8 lex_at(lexer *l) {
  if (l->p < l->end && *l->p == '"') {
    l->p++;
    return lex_string(l, TOK_AT);
  }
  const char *p = l->p;
  if (p == l->end || !(class_of(*p) & START))
    return fail(l, p, "@ identifier expected to start with letter or '_'");
  l->p = run(p, l->end, BARE);
  return TOK_AT;
}

/* Does the rest begin with these n bytes? */
static bool ahead(const lexer *l, const char *text, size_t n) {
  return (size_t)(l->end - l->p) >= n && memcmp(l->p, text, n) == 0;
}

static u8 lex_punctuation(lexer *l, char c) {
  if (c == '-' && ahead(l, ">", 1)) return l->p++, TOK_ARROW;
  if (c == '.' && ahead(l, "..", 2)) return l->p += 2, TOK_ELLIPSIS;
  if (c == '{' && ahead(l, "-#", 2)) return l->p += 2, TOK_META_BEGIN;
  if (c != 0 && strchr("(){}[]<>,:=-+*?|/", c)) return (u8)c;
  if (c == '.') return fail(l, l->p, "expected three consecutive dots for an ellipsis");
  return fail(l, l->p - 1, "unexpected character");
}

/* One switch by the first byte. A token's text is a part of the source, quotes and sigils included;
 * columns count bytes from 1. */
token lexer_next(lexer *l) {
  lexer_skip_space(l);
  token t = {.text = {l->p, 0}, .line = l->line, .col = (u32)(l->p - l->line_start) + 1};
  if (l->p == l->end) return t.kind = TOK_EOF, t;
  char c = *l->p++;
  u8 k = class_of(c);
  if (k & START) {
    l->p = run(l->p, l->end, BARE);
    t.kind = TOK_ID;
  } else if (c == '%') {
    t.kind = lex_sigil(l, TOK_PERCENT);
  } else if (k & DIGIT) {
    t.kind = lex_number(l);
  } else if (c == '"') {
    t.kind = lex_string(l, TOK_STRING);
  } else if (c == '@') {
    t.kind = lex_at(l);
  } else if (c == '#' && ahead(l, "-}", 2)) {
    l->p += 2;
    t.kind = TOK_META_END;
  } else if (c == '#') {
    t.kind = lex_sigil(l, TOK_HASH);
  } else if (c == '!') {
    t.kind = lex_sigil(l, TOK_EXCLAIM);
  } else if (c == '^') {
    t.kind = lex_sigil(l, TOK_CARET);
  } else {
    t.kind = lex_punctuation(l, c);
  }
  t.text.len = (size_t)(l->p - t.text.data);
  return t;
}

void lexer_skip_to(lexer *l, const char *p) {
  for (; l->p < p; l->p++)
    if (*l->p == '\n') {
      l->line++;
      l->line_start = l->p + 1;
    }
}

bool lexer_skip_nested(lexer *l) {
  size_t depth = 0;
  while (l->p < l->end) {
    char c = *l->p;
    if (c == '"') {
      l->p++;
      if (lex_string(l, TOK_STRING) == TOK_ERROR) return false;
      continue;
    }
    if (c == '\n' || (c == '/' && l->p + 1 < l->end && l->p[1] == '/')) {
      lexer_skip_space(l);
      continue;
    }
    if (c == '-' && l->p + 1 < l->end && l->p[1] == '>') {
      l->p += 2;
      continue;
    }
    if (c == '<' || c == '[' || c == '{' || c == '(') depth++;
    if (c == '>' || c == ']' || c == '}' || c == ')') {
      if (depth == 0) return true;
      depth--;
    }
    l->p++;
  }
  return false;
}

/* MLIR's rule for keywords: a letter or _, then letters, digits, _, $ and points. */
bool str_is_bare(str s) {
  if (s.len == 0 || !(class_of(s.data[0]) & START)) return false;
  return run(s.data, s.data + s.len, BARE) == s.data + s.len;
}

bool str_is_pretty_symbol(str body) {
  size_t i = 0;
  if (body.len && body.data[body.len - 1] == '-') return true; /* an arrow would not close it */
  if (body.len == 0 || !char_is_alpha(body.data[0])) return false;
  while (i < body.len && (char_is_alpha(body.data[i]) || char_is_digit(body.data[i]) ||
                          body.data[i] == '.' || body.data[i] == '_'))
    i++;
  return i == body.len || (body.data[i] == '<' && body.data[body.len - 1] == '>');
}
