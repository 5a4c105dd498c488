/* Names that are nearly right, and notation that was right once. */
#include "base/spelling.h"
#include "text/parser.h"

static void say(parser *p, const token *t, const spelling *s) {
  if (s->best.len) parser_note(p, t->line, t->col, "did you mean '" STR_FMT "'?", STR_ARG(s->best));
}

/* A word without a dialect has that of the region around; it may be the name of another's op. */
void parser_hint_op(parser *p, const token *t, str name) {
  spelling s = {.wanted = name};
  str word = str_from(name, parser_dialect_of(name).len + 1);
  bool bare = word.len == t->text.len;
  for (int i = 0; i < OP_COUNT; i++) spelling_try(&s, op_infos[i].name);
  for (int i = 0; i < OP_COUNT && bare && !s.best.len; i++) {
    str there = op_infos[i].name;
    if (str_eq(word, str_from(there, parser_dialect_of(there).len + 1))) s.best = there;
  }
  say(p, t, &s);
}

void parser_hint_dialect(parser *p, const token *t, str dialect) {
  spelling s = {.wanted = dialect};
  for (int i = 0; i < OP_COUNT; i++) spelling_try(&s, parser_dialect_of(op_infos[i].name));
  say(p, t, &s);
}

void parser_hint_form(parser *p, const op_state *st) {
  if (st->info->id == OP_sharding_group)
    parser_note(p, st->at.line, st->at.col,
                "a group is written 'sdy.sharding_group %%a group_id=0 : tensor<2xf32>', and has "
                "no result");
}

void parser_hint_token(parser *p, const token *t) {
  if (t->kind == TOK_AT)
    parser_note(p, t->line, t->col, "a mesh is written 'sdy.mesh " STR_FMT " = <[\"x\"=2]>'",
                STR_ARG(t->text));
  if (t->kind == '<')
    parser_note(p, t->line, t->col,
                "an attribute is written with its name, such as '#sdy.sharding<@mesh, [{}]>'");
}
