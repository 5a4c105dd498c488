/* Locations: parsed wherever MLIR allows one, which is behind every op and block argument.
 *
 * `loc(#loc3)` may name an alias that the end of the file defines: the op gets it then. So ops
 * whose location is not known yet are kept in p->loc_fixes, which parser_fix_locs goes through when
 * the file has been read; until then they have the location that they were made with. */
#include "text/parser.h"

/* In the parser's scratch; `at` is the token of the alias, for its name and for errors. */
typedef struct loc_fix {
  op *o;
  block *b; /* whose arguments get it as well, or NULL */
  token at;
  struct loc_fix *next;
} loc_fix;

static const attr *callsite(parser *p) {
  if (!parser_expect(p, '(', "expected '(' in callsite location")) return NULL;
  const attr *callee = parser_loc_body(p);
  if (!callee || !parser_expect_word(p, "at")) return NULL;
  const attr *caller = parser_loc_body(p);
  if (!caller || !parser_expect(p, ')', "expected ')' in callsite location")) return NULL;
  return attr_make(p->ctx, loc_callsite, .callee = callee, .caller = caller);
}

static bool loc_item(parser *p, void *user) {
  attr_vec *v = user;
  const attr *a = parser_loc_body(p);
  if (!a) return false;
  VEC_PUSH(p->scratch, *v, a);
  return true;
}

/* loc_fuse_all drops repetitions and flattens, as MLIR's FusedLoc::get does, so what is read may be
 * another kind of location. */
static const attr *fused(parser *p) {
  const attr *metadata = NULL;
  attr_vec v = {0};
  if (parser_accept(p, '<')) {
    metadata = parser_attr(p, NULL);
    if (!metadata || !parser_expect(p, '>', "expected '>' after fused location metadata"))
      return NULL;
  }
  if (!parser_list(p, '[', ']', loc_item, &v)) return NULL;
  return loc_fuse_all(p->ctx, (attrs){v.data, v.len}, metadata);
}

static bool line_or_column(parser *p, const char *which, u32 *out) {
  u64 v;
  if (!at(p, TOK_INT) || !parser_u64(p->tok.text, &v) || v > UINT32_MAX)
    return parser_error(p, &p->tok, "expected integer %s number in FileLineColRange", which);
  *out = (u32)v;
  return parser_next(p);
}

/* "name"(child), "file":1, "file":1:2, "file":1:2 to 3:4, "file":1:2 to :4 */
static const attr *name_or_file(parser *p) {
  str s = parser_string(p, &p->tok);
  u32 line = 0, col = 0, end_line = 0, end_col = 0;
  parser_next(p);
  if (!parser_accept(p, ':')) {
    const attr *child = loc_unknown(p->ctx);
    if (parser_accept(p, '(')) {
      child = parser_loc_body(p);
      if (!child || !parser_expect(p, ')', "expected ')' after child location of NameLoc"))
        return NULL;
    }
    return attr_make(p->ctx, loc_name, .name = s, .child = child);
  }
  if (!line_or_column(p, "line", &line)) return NULL;
  if (parser_accept(p, ':') && !line_or_column(p, "column", &col)) return NULL;
  bool range = parser_accept_word(p, "to");
  if (range) {
    end_line = line;
    if (at(p, TOK_INT) && !line_or_column(p, "line", &end_line)) return NULL;
    if (!parser_accept(p, ':'))
      return parser_error(p, &p->tok,
                          "expected either integer or `:` post `to` in FileLineColRange"),
             NULL;
    if (!line_or_column(p, "column", &end_col)) return NULL;
  }
  if (s.len == 0 && !range) s = STR("-"); /* as in MLIR */
  return attr_make(p->ctx, loc_file, .file = attr_string(p->ctx, s), .line = line, .col = col,
                   .end_line = end_line, .end_col = end_col);
}

/* An attribute alias that is defined already is taken by its value. */
static const attr *body(parser *p) {
  if (at(p, TOK_STRING)) return name_or_file(p);
  if (parser_accept_word(p, "callsite")) return callsite(p);
  if (parser_accept_word(p, "fused")) return fused(p);
  if (at(p, '?') || at_word(p, "unknown")) return parser_next(p), loc_unknown(p->ctx);
  token t = p->tok;
  if (!at(p, TOK_HASH)) return parser_expect(p, TOK_ID + 100, "expected location instance"), NULL;
  const attr *a = p->syntax->dialect_attr(p);
  if (a && !attr_is_loc(a)) return parser_error(p, &t, "expected location attribute"), NULL;
  return a;
}

const attr *parser_loc_body(parser *p) {
  if (!parser_enter(p)) return NULL;
  const attr *a = body(p);
  parser_leave(p);
  return a;
}

const attr *parser_loc(parser *p) {
  parser_next(p);
  if (!parser_expect(p, '(', "expected '(' in location")) return NULL;
  const attr *a = parser_loc_body(p);
  return a && parser_expect(p, ')', "expected ')' in location") ? a : NULL;
}

const attr *parser_optional_loc(parser *p, bool *bad) {
  *bad = false;
  if (!at_word(p, "loc")) return NULL;
  const attr *a = parser_loc(p);
  *bad = !a;
  return a;
}

/* `loc(#name)` with a name not defined so far. Looks ahead with a copy of the lexer; names with a
 * dot are dialect attributes and no aliases. */
static bool is_later(const parser *p) {
  lexer l = p->lex;
  token open = lexer_next(&l), name = lexer_next(&l);
  return open.kind == '(' && name.kind == TOK_HASH && !memchr(name.text.data, '.', name.text.len) &&
         !name_map_get(&p->attr_aliases, str_from(name.text, 1));
}

static void set_loc(parser *p, op *o, block *b, const attr *loc) {
  o->loc = loc;
  for (u32 i = 0; b && i < b->num_args; i++) block_set_arg_loc(p->module, b, i, loc);
}

bool parser_op_loc(parser *p, op *o, block *args) {
  if (!at_word(p, "loc")) return true;
  if (!is_later(p)) {
    const attr *loc = parser_loc(p);
    if (loc) set_loc(p, o, args, loc);
    return loc != NULL;
  }
  parser_next(p);
  parser_next(p);
  loc_fix *f = ARENA_NEW(p->scratch, loc_fix);
  *f = (loc_fix){o, args, p->tok, p->loc_fixes};
  p->loc_fixes = f;
  parser_next(p);
  return parser_expect(p, ')', "expected ')' in location");
}

bool parser_fix_locs(parser *p) {
  for (loc_fix *f = p->loc_fixes; f; f = f->next) {
    const attr *a = name_map_get(&p->attr_aliases, str_from(f->at.text, 1));
    if (!a) return parser_error(p, &f->at, "operation location alias was never defined");
    if (!attr_is_loc(a)) return parser_error(p, &f->at, "expected location");
    set_loc(p, f->o, f->b, a);
  }
  return true;
}
