/* The entry points of reading: they make a parser on a scratch arena, set the functions that the
 * core of the grammar calls (parser_syntax), and read a whole text.
 *
 * The files of the parser lie in layers, so that none calls one above it: lexer; parser.c (tokens,
 * errors); parse_type, parse_attr, parse_dense, loc, ssa; parse_op; then forms, custom syntaxes and
 * dialects, which the core reaches through parser_syntax only. */
#include "text/parser.h"

static const parser_syntax syntax = {
    .dialect_attr = parser_dialect_attr,
    .quant = parser_quant,
    .mesh_tensor = parser_mesh_tensor,
    .form = parser_form,
    .custom = parser_custom,
};

static void start(parser *p, ir_ctx *c, str file, str source, arena *scratch,
                  const text_parse_options *options) {
  *p = (parser){.ctx = c, .scratch = scratch, .syntax = &syntax, .file = file};
  p->source = source;
  p->source_len = source.len;
  if (options) p->options = *options;
  p->forms.a = scratch;
  lexer_init(&p->lex, source);
  parser_next(p);
}

/* At the top an op `module`, or ops that a module is put around. Aliases between them. */
static bool top_level(parser *p) {
  block *body = op_body(p->module->root, 0);
  while (!at(p, TOK_EOF)) {
    bool ok = at(p, TOK_HASH) || at(p, TOK_EXCLAIM) ? parser_alias(p)
              : at(p, TOK_META_BEGIN)               ? parser_resources(p)
                                                    : parser_op(p, body);
    if (!ok) return false;
  }
  return ssa_pop(p, true) && parser_fix_locs(p);
}

/* A single module at the top is the root itself. */
static void unwrap(ir_module *m) {
  op *only = op_body(m->root, 0)->first;
  if (!only || only->next || !op_is(only, module)) return;
  op_unlink(only);
  m->root = only;
}

static void add_op_name(void *user, const op_info *info) {
  parser *p = user;
  *name_map_at(&p->op_names, p->scratch, info->name) = (void *)(uintptr_t)info;
}

static bool parse_module(parser *p) {
  p->module = ir_module_create(p->ctx);
  p->module->root->loc = loc_file(p->ctx, p->file, 0, 0); /* unless one is written */
  p->dialect = STR("builtin");
  ssa_init(p);
  for (int i = 0; i < OP_COUNT; i++)
    *name_map_at(&p->op_names, p->scratch, op_infos[i].name) = (void *)&op_infos[i];
  ir_foreign_ops(p->ctx, add_op_name, p);
  if (!top_level(p)) return false;
  unwrap(p->module);
  return true;
}

ir_module *text_parse(ir_ctx *c, str file_name, str source, const text_parse_options *options) {
  parser p;
  start(&p, c, file_name, source, ir_scratch_push(c), options);
  bool ok = parse_module(&p);
  ir_scratch_pop(c);
  if (!ok) ir_module_destroy(p.module);
  return ok ? p.module : NULL;
}

static bool at_end(parser *p) { return parser_expect(p, TOK_EOF, "unexpected text at the end"); }

const attr *text_parse_attr(ir_ctx *c, str source, const text_parse_options *options) {
  parser p;
  start(&p, c, STR("-"), source, ir_scratch_push(c), options);
  const attr *a = parser_attr(&p, NULL);
  if (a && !at_end(&p)) a = NULL;
  ir_scratch_pop(c);
  return a;
}

const type *text_parse_type(ir_ctx *c, str source, const text_parse_options *options) {
  parser p;
  start(&p, c, STR("-"), source, ir_scratch_push(c), options);
  const type *t = parser_type(&p);
  if (t && !at_end(&p)) t = NULL;
  ir_scratch_pop(c);
  return t;
}
