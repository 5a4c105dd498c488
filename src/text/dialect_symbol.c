/* Types and attributes of dialects that are kept as text: !dialect.body, #dialect<body>. */
#include "text/parser.h"

/* Dialects of which the peers' programs know what symbols they have. Some dialects are kept as text
 * though they are not ours: MLIR's own tools accept them without -allow-unregistered-dialect. */
typedef struct known {
  const char *name;
  bool types, attrs;
} known;
static const known dialects[] = {
    {"affine", false, false},  {"arith", false, true},        {"async", true, true},
    {"builtin", false, false}, {"cf", false, false},          {"chlo", false, true},
    {"complex", false, true},  {"emitc", true, true},         {"func", false, false},
    {"gpu", true, true},       {"llvm", true, true},          {"math", false, false},
    {"memref", false, false},  {"mhlo", true, true},          {"mpmd", true, true},
    {"nvgpu", true, true},     {"pdl", true, true},           {"quant", true, false},
    {"scf", false, false},     {"sdy", false, true},          {"shape", true, false},
    {"stablehlo", true, true}, {"sparse_tensor", true, true}, {"tensor", false, false},
    {"tosa", true, true},      {"transform", true, true},     {"ub", false, true},
    {"vector", false, true},   {"vhlo", true, true},
};

static const known *find(str dialect) {
  for (size_t i = 0; i < COUNT(dialects); i++)
    if (str_is(dialect, dialects[i].name)) return &dialects[i];
  return NULL;
}

bool parser_symbol_text(parser *p, dialect_symbol *s) {
  str name = str_from(p->tok.text, 1);
  const char *dot = memchr(name.data, '.', name.len);
  bool angle = p->lex.p < p->lex.end && *p->lex.p == '<';
  s->at = s->inside = p->tok;
  s->dialect = (str){name.data, dot ? (size_t)(dot - name.data) : name.len};
  if (angle && !parser_skip_symbol(p)) return false;
  const char *begin = s->dialect.data + s->dialect.len + 1;
  s->body = (str){begin, (size_t)(p->lex.p - begin) - !dot};
  s->inside.col += (u32)s->dialect.len + 2;
  if (dot) s->at = s->inside;
  return parser_next(p);
}

/* NULL: its dialect has registered no such symbol. */
static const ir_symbol *find_foreign(const parser *p, const dialect_symbol *s, bool is_type,
                                     str *out_body) {
  str mnemonic;
  ir_symbol_cut(s->body, &mnemonic, out_body);
  return ir_symbol_find(p->ctx, is_type, s->dialect, mnemonic);
}

static bool check_foreign(parser *p, const dialect_symbol *s, const ir_symbol *foreign, str body) {
  buf why;
  buf_init(&why, ir_mem(p->ctx));
  bool ok = !foreign->check || foreign->check(foreign->user, body, &why);
  if (!ok)
    parser_error(p, &s->at, "%s '" STR_FMT "': %s", foreign->is_type ? "type" : "attribute",
                 STR_ARG(foreign->name), buf_cstr(&why));
  buf_deinit(&why);
  return ok;
}

bool parser_keep_symbol(parser *p, const dialect_symbol *s, bool is_type, const type *t) {
  const known *k = find(s->dialect);
  const char *what = is_type ? "type" : "attribute";
  str body;
  const ir_symbol *foreign = find_foreign(p, s, is_type, &body);
  if (foreign) return check_foreign(p, s, foreign, body);
  if (k && (is_type ? k->types : k->attrs)) return true;
  if (k)
    return parser_error(p, &s->inside, "dialect '%s' provides no %s parsing hook", k->name, what);
  if (!str_is_bare(s->dialect)) /* it has no '.', which the token was cut at */
    return parser_error(p, &s->at, "invalid dialect namespace '\"" STR_FMT "\"'",
                        STR_ARG(s->dialect));
  if (p->options.allow_unregistered) return true;
  buf b;
  buf_init(&b, ir_mem(p->ctx));
  buf_printf(&b, "%s\"" STR_FMT "\"<\"", is_type ? "`!" : "#", STR_ARG(s->dialect));
  buf_str(&b, s->body);
  buf_printf(&b, "\">%s", is_type ? "`" : " : '");
  if (!is_type && t) text_print_type(&b, t);
  if (!is_type) buf_printf(&b, "%s'", t ? "" : "none");
  parser_error(p, &s->at,
               "%s %s created with unregistered dialect. If this is intended, please call "
               "allowUnregisteredDialects() on the MLIRContext, or use "
               "-allow-unregistered-dialect with the MLIR opt tool used",
               buf_cstr(&b), what);
  buf_deinit(&b);
  parser_hint_dialect(p, &s->at, s->dialect);
  return false;
}
