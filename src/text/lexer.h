/* Tokens of MLIR text. The lexer is a cursor over borrowed bytes; it makes one token at a time and
 * can be set back by copying the struct. */
#ifndef TEXT_LEXER_H
#define TEXT_LEXER_H

#include "base/base.h"

/* A token's kind is its character for punctuation, or one of these. */
enum {
  TOK_EOF = 128,
  TOK_ERROR,      /* lexer.error says what is wrong */
  TOK_ID,         /* bare identifier: add, stablehlo.add, i32, tensor */
  TOK_AT,         /* @name, @"name" */
  TOK_HASH,       /* #name, #dialect.name */
  TOK_PERCENT,    /* %name */
  TOK_CARET,      /* ^name */
  TOK_EXCLAIM,    /* !name, !dialect.name */
  TOK_INT,        /* 12, 0x1F */
  TOK_FLOAT,      /* 1.5e3 */
  TOK_STRING,     /* with its quotes */
  TOK_ARROW,      /* -> */
  TOK_ELLIPSIS,   /* ... */
  TOK_META_BEGIN, /* {-# */
  TOK_META_END,   /* #-} */
};

/* The text is borrowed from the source, which lives as long as the parse. */
typedef struct token {
  str text;
  u32 line, col; /* from 1 */
  u8 kind;
} token;

typedef struct lexer {
  const char *p, *end;
  const char *line_start;
  u32 line;
  const char *error;
  const char *error_at;
} lexer;

/* Never fails: what is no token is one of kind TOK_ERROR, and l->error says why. */
void lexer_init(lexer *l, str source);
token lexer_next(lexer *l);

/* The cursor itself, for syntax that is not made of tokens: spaces and comments first. */
void lexer_skip_space(lexer *l);
/* Skips to the bracket that closes one already opened, over nested brackets, strings and comments;
 * p is then at it. false: there is none. */
bool lexer_skip_nested(lexer *l);
void lexer_skip_to(lexer *l, const char *p); /* counts the lines */

static inline bool char_is_digit(char c) { return c >= '0' && c <= '9'; }
static inline bool char_is_alpha(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}
bool str_is_bare(str s); /* prints without quotes where a keyword or a string may stand */
/* Whether a dialect's symbol prints as dialect.body rather than dialect<body>. As in MLIR but for
 * `!a.b-`, of which it makes `!a<b->`, which neither reads. */
bool str_is_pretty_symbol(str body);

#endif
