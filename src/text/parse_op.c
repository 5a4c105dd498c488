/* Ops, blocks, regions.
 *
 * parser_op fills an op_state (names of results, operands by name, types, slots, regions) from the
 * generic or a custom form, and only then makes the op: operands are resolved against their types
 * at the end, since a custom form may give the types after everything else. Regions are parsed into
 * regions of their own, whose blocks move to the op once there is one. */
#include "text/parser.h"

/* ---- op states: one for each op around the cursor, reused ---- */

/* States keep the memory of their lists, so most ops allocate nothing here. */
static op_state *open_state(parser *p) {
  op_state *st = p->free_states;
  if (st)
    p->free_states = st->outer;
  else
    st = ARENA_NEW(p->scratch, op_state);
  st->operands.len = st->operand_types.len = st->result_types.len = 0;
  st->attrs.len = st->regions.len = st->successors.len = st->names.len = 0;
  st->has_results = false;
  st->info = NULL;
  st->loc = NULL;
  st->problem = NULL;
  return st;
}

static void close_state(parser *p, op_state *st) {
  st->outer = p->free_states;
  p->free_states = st;
}

/* Slots are NULL until the form fills them; the array is as long as the largest row so far. */
static void set_info(parser *p, op_state *st, const op_info *info) {
  st->info = info;
  if (st->cap_slots < info->num_slots) {
    st->cap_slots = max_size(info->num_slots, 16);
    st->slots = ARENA_ARRAY(p->scratch, const attr *, st->cap_slots);
  }
  if (info->num_slots) memset(st->slots, 0, info->num_slots * sizeof *st->slots);
}

/* ---- operands ---- */

/* The name only: what value it is may come later in the text, and its type later in the op. */
bool parser_operand(parser *p, operand_ref *out) {
  out->at = p->tok;
  out->number = 0;
  if (!parser_expect(p, TOK_PERCENT, "expected SSA operand")) return false;
  out->name = str_from(out->at.text, 1);
  /* `%0#1`: the lexer gives #1 as a hash name */
  if (at(p, TOK_HASH)) {
    u64 n = 0;
    str digits = str_from(p->tok.text, 1);
    for (size_t i = 0; i < digits.len; i++) {
      if (!char_is_digit(digits.data[i]) || n > UINT32_MAX)
        return parser_error(p, &p->tok, "invalid SSA value result number");
      n = n * 10 + (u64)(digits.data[i] - '0');
    }
    out->number = n > UINT32_MAX ? UINT32_MAX : (u32)n;
    parser_next(p);
  }
  return true;
}

bool parser_operand_item(parser *p, void *user) {
  op_state *st = user;
  operand_ref r;
  if (!parser_operand(p, &r)) return false;
  VEC_PUSH(p->scratch, st->operands, r);
  return true;
}

bool parser_operands(parser *p, op_state *st) {
  if (!at(p, TOK_PERCENT)) return true;
  do
    if (!parser_operand_item(p, st)) return false;
  while (parser_accept(p, ','));
  return true;
}

/* ---- blocks ---- */

typedef struct label {
  block *b;
  bool defined;
  token first; /* first mention */
} label;

struct labels {
  name_map names;
  VEC(label *) all;
};

/* A block may be named by a branch before it stands there; it exists from its first mention. */
static label *label_of(parser *p, str name) {
  if (!p->labels) p->labels = ARENA_NEW(p->scratch, struct labels);
  label **l = (label **)name_map_at(&p->labels->names, p->scratch, name);
  if (*l) return *l;
  *l = ARENA_NEW(p->scratch, label);
  (*l)->b = block_create(p->module);
  (*l)->first = p->tok;
  label *made = *l;
  VEC_PUSH(p->scratch, p->labels->all, made);
  return made;
}

static bool successor_item(parser *p, void *user) {
  op_state *st = user;
  if (!at(p, TOK_CARET)) return parser_expect(p, TOK_CARET, "expected block name");
  VEC_PUSH(p->scratch, st->successors, label_of(p, p->tok.text)->b);
  return parser_next(p);
}

bool parser_region_arg(parser *p, region_arg *out, bool typed, bool attrs) {
  bool bad;
  out->at = p->tok;
  out->type = NULL;
  out->attrs = out->loc = NULL;
  if (!parser_expect(p, TOK_PERCENT, "expected SSA operand")) return false;
  out->name = str_from(out->at.text, 1);
  if (!typed) return true;
  if (!parser_expect(p, ':', attrs ? "expected ':'" : "expected ':' and type for SSA operand") ||
      !(out->type = parser_type(p)))
    return false;
  if (attrs && at(p, '{') && !(out->attrs = parser_dict(p))) return false;
  out->loc = parser_optional_loc(p, &bad);
  return !bad;
}

/* `entry`: named in the op's own syntax (func), where a name that is in use is an error of its
 * own. */
static bool define_arg(parser *p, block *b, const region_arg *a, bool entry) {
  if (entry && !ssa_check_new(p, &a->at, a->name)) return false;
  value *v = block_add_arg(p->module, b, a->type);
  const attr *loc = a->loc ? a->loc : loc_file(p->ctx, p->file, a->at.line, a->at.col);
  block_set_arg_loc(p->module, b, v->index, loc);
  return ssa_define(p, &a->at, a->name, v, 1);
}

static bool block_arg_item(parser *p, void *user) {
  region_arg a;
  return parser_region_arg(p, &a, true, false) && define_arg(p, user, &a, false);
}

static bool block_ops(parser *p, block *b) {
  while (!at(p, '}') && !at(p, TOK_CARET))
    if (!parser_op(p, b)) return false;
  return true;
}

/* ^bb0(%a: type): ops */
static bool labelled_block(parser *p, region *r) {
  token t = p->tok;
  label *l = label_of(p, t.text);
  if (l->defined) {
    parser_error(p, &t, "redefinition of block '" STR_FMT "'", STR_ARG(t.text));
    return false;
  }
  l->defined = true;
  parser_next(p);
  region_append(r, l->b);
  if (at(p, '(') && !parser_list(p, '(', ')', block_arg_item, l->b)) return false;
  return parser_expect(p, ':', "expected ':' after block name") && block_ops(p, l->b);
}

static bool check_labels(parser *p) {
  for (size_t i = 0; p->labels && i < p->labels->all.len; i++) {
    const label *l = p->labels->all.data[i];
    if (!l->defined)
      return parser_error(p, &l->first, "reference to an undefined block '" STR_FMT "'",
                          STR_ARG(l->first.text));
  }
  return true;
}

/* ---- regions ---- */

region *parser_new_region(parser *p, op_state *st) {
  region *r = ARENA_NEW(p->scratch, region);
  VEC_PUSH(p->scratch, st->regions, r);
  return r;
}

/* The entry block may have its label, no label, or its arguments in front of the region. */
static bool region_blocks(parser *p, region *r, const region_args *args) {
  bool has_args = args && args->len > 0;
  if (!has_args && at(p, '}')) return true; /* no block at all */
  if (has_args || !at(p, TOK_CARET)) {
    block *entry = block_create(p->module);
    region_append(r, entry);
    for (size_t i = 0; has_args && i < args->len; i++)
      if (!define_arg(p, entry, &args->data[i], true)) return false;
    if (has_args && at(p, TOK_CARET))
      return parser_error(p, &p->tok, "invalid block name in region with named arguments");
    if (!block_ops(p, entry)) return false;
  }
  while (at(p, TOK_CARET))
    if (!labelled_block(p, r)) return false;
  return true;
}

bool parser_region(parser *p, op_state *st, const region_args *args) {
  region *r = parser_new_region(p, st);
  struct labels *labels = p->labels;
  str dialect = p->dialect;
  /* names of values cannot pass the border of a function; others see those around */
  bool isolated = st->info->id == OP_func || st->info->id == OP_module;
  if (!parser_expect(p, '{', "expected '{' to begin a region") || !parser_enter(p)) return false;
  p->labels = NULL;
  p->dialect = st->info->id == OP_func     ? STR("func")
               : st->info->id == OP_module ? STR("builtin")
                                           : STR("");
  ssa_push(p, isolated);
  if (!region_blocks(p, r, args) || !check_labels(p) || !ssa_pop(p, isolated)) return false;
  p->labels = labels;
  p->dialect = dialect;
  parser_leave(p);
  return parser_expect(p, '}', "expected '}' to end a region");
}

/* ---- generic form ---- */

/* Names of dialects that nobody registered are refused unless the option allows them, as in
 * MLIR. */
static const op_info *info_of(parser *p, const token *t, str name) {
  const op_info *info = name_map_get(&p->op_names, name);
  if (info) return info;
  if (!p->options.allow_unregistered && !op_dialect_known(name)) {
    parser_error(p, t,
                 "operation being parsed with an unregistered dialect. If this is intended, please "
                 "use -allow-unregistered-dialect with the MLIR tool used");
    parser_hint_dialect(p, t, parser_dialect_of(name));
    return NULL;
  }
  return ir_op_info_unregistered(p->ctx, name);
}

/* Why these cannot be the op's properties; NULL: they can. Values are for the verifier. */
static const char *properties_problem(parser *p, const op_state *st, const attr *all) {
  const op_info *info = st->info;
  const slot_info *wrong = NULL;
  size_t at = 0;
  if (info->num_slots == 0) return "this operation has empty properties";
  if (!attr_is(dict, all)) return "expected DictionaryAttr to set properties";
  for (u32 i = 0; i < info->num_slots; i++) {
    const slot_info *s = &info->slots[i];
    if (!st->slots[i] || slot_stores(s, st->slots[i])) continue;
    if (wrong && strcmp(s->name, wrong->name) > 0) continue;
    wrong = s;
    at = i;
  }
  if (!wrong) return NULL;
  return arena_printf(p->scratch, "Invalid attribute `%s` in property conversion: %s", wrong->name,
                      text_show_attr(p->scratch, st->slots[at]))
      .data;
}

/* <{properties}>; of an unregistered op, any attribute */
static bool properties(parser *p, op_state *st) {
  if (!parser_accept(p, '<')) return true;
  const attr *all = parser_attr(p, NULL);
  if (!all || !parser_expect(p, '>', "expected '>' to close properties")) return false;
  if (st->info->id == OP_unregistered && !st->info->hooks) {
    st->slots[0] = all;
    return true;
  }
  const dict_attr *d = attr_as(dict, all);
  for (size_t i = 0; d && i < d->names.len; i++)
    parser_set_attr(p, st, ((const string_attr *)d->names.data[i])->value, d->values.data[i]);
  if (st->info->id == OP_unregistered) return true;
  const char *problem = properties_problem(p, st, all);
  if (problem)
    st->problem = arena_printf(p->scratch, "invalid properties %s for op " STR_FMT ": %s",
                               text_show_attr(p->scratch, all), STR_ARG(st->info->name), problem)
                      .data;
  return true;
}

/* Without properties, the attributes may hold them. */
static bool generic_attrs(parser *p, op_state *st, bool has_properties) {
  const char *problem;
  if (!parser_optional_dict(p, st)) return false;
  const slot_info *s =
      has_properties ? NULL : slot_first_problem(p->ctx, st->info, st->slots, &problem);
  if (s)
    st->problem = arena_printf(p->scratch,
                               "'" STR_FMT "' op attribute '%s' failed to satisfy "
                               "constraint: %s",
                               STR_ARG(st->info->name), s->name, problem)
                      .data;
  return true;
}

static bool generic_regions(parser *p, op_state *st) {
  if (!parser_accept(p, '(')) return true;
  if (parser_accept(p, ')')) return true;
  do {
    if (!parser_region(p, st, NULL)) return false;
  } while (parser_accept(p, ','));
  return parser_expect(p, ')', "expected ')' to end region list");
}

static bool check_count(parser *p, const op_state *st, const token *where) {
  size_t n = st->operands.len;
  if (n == st->operand_types.len) return true;
  return parser_error(p, where, "expected %zu operand type%s but had %zu", n, n == 1 ? "" : "s",
                      st->operand_types.len);
}

static bool generic_form(parser *p, op_state *st) {
  str name = parser_string(p, &p->tok);
  if (name.len == 0) return parser_error(p, &p->tok, "empty operation name is invalid");
  parser_next(p);
  const op_info *info = info_of(p, &p->tok, name);
  if (!info) return false;
  set_info(p, st, info);
  if (!parser_expect(p, '(', "expected '(' to start operand list") || !parser_operands(p, st) ||
      !parser_expect(p, ')', "expected ')' to end operand list"))
    return false;
  if (at(p, '[') && !parser_list(p, '[', ']', successor_item, st)) return false;
  bool has_properties = at(p, '<');
  if (!properties(p, st) || !generic_regions(p, st) || !generic_attrs(p, st, has_properties))
    return false;
  if (!parser_expect(p, ':', "expected ':' followed by operation type")) return false;
  token types = p->tok;
  if (!at(p, '(')) return parser_type(p) && parser_error(p, &types, "expected function type");
  return parser_function_type(p, &st->operand_types, &st->result_types) &&
         check_count(p, st, &types);
}

/* Inside the generic form errors are not of a custom parser, which prefixes its op's name. */
static bool generic(parser *p, op_state *st) {
  str outer = p->custom_op;
  p->custom_op = STR("");
  bool ok = generic_form(p, st);
  p->custom_op = outer;
  return ok;
}

/* ---- custom form ---- */

static bool no_dialect(parser *p, const token *t, str dialect, str full) {
  bool same = str_eq(full, t->text);
  parser_error(p, t, "Dialect `" STR_FMT "' not found for custom op '" STR_FMT "' %s" STR_FMT "%s",
               STR_ARG(dialect), STR_ARG(t->text), same ? "" : " (tried '",
               STR_ARG(same ? STR("") : full), same ? "" : "' as well)");
  parser_note(p, t->line, t->col,
              "Available dialects: builtin, chlo, func, sdy, stablehlo ; for more info on dialect "
              "registration see "
              "https://mlir.llvm.org/getting_started/Faq/"
              "#registered-loaded-dependent-dialects-management");
  if (dialect.len)
    parser_hint_dialect(p, t, dialect);
  else
    parser_note(p, t->line, t->col,
                "names have no default dialect here: in sdy's regions it is 'sdy." STR_FMT "'",
                STR_ARG(t->text));
  return false;
}

/* A name without a dialect is looked up as it is, then in the default dialect of the region
 * around. */
static const op_info *custom_info(parser *p) {
  token t = p->tok;
  const op_info *info = name_map_get(&p->op_names, t.text);
  const char *dot = memchr(t.text.data, '.', t.text.len);
  str full = t.text, dialect = dot ? parser_dialect_of(full) : p->dialect;
  if (info) return info;
  if (!dot) {
    full = arena_printf(p->scratch, STR_FMT "." STR_FMT, STR_ARG(p->dialect), STR_ARG(t.text));
    info = name_map_get(&p->op_names, full);
    if (info) return info;
  }
  const char *bad = NULL;
  if (parser_int_type(p->ctx, t.text, &bad) || bad) /* no word to MLIR */
    return parser_missing(p, "expected operation name in quotes"), NULL;
  parser_next(p); /* what is wrong with the next token is said first */
  str prefix = arena_printf(p->scratch, STR_FMT ".", STR_ARG(dialect));
  if (!op_dialect_known(prefix)) return no_dialect(p, &t, dialect, full), NULL;
  if (dot)
    parser_error(p, &t, "custom op '" STR_FMT "' is unknown", STR_ARG(full));
  else
    parser_error(p, &t, "custom op '" STR_FMT "' is unknown (tried '" STR_FMT "' as well)",
                 STR_ARG(t.text), STR_ARG(full));
  parser_hint_op(p, &t, full);
  return NULL;
}

static bool custom(parser *p, op_state *st) {
  const op_info *info = custom_info(p);
  if (!info) return false;
  set_info(p, st, info);
  parser_next(p);
  st->operands_at = st->function_at = p->tok;
  str outer = p->custom_op;
  p->custom_op = info->name;
  bool known = form_get(&p->forms, info) != NULL;
  bool ok = known ? p->syntax->form(p, st) : p->syntax->custom(p, st, &known);
  if (known) {
    p->custom_op = outer;
    if (!ok) parser_hint_form(p, st);
    return ok;
  }
  return parser_error(p, &st->at, "custom op '" STR_FMT "' has no custom assembly form",
                      STR_ARG(info->name));
}

/* ---- ops ---- */

enum { MAX_NAMED_RESULTS = 1 << 24 };

/* %a, %b:2 = */
static bool results(parser *p, op_state *st, size_t *total) {
  do {
    result_name r = {p->tok, 1};
    i64 n;
    if (!parser_expect(p, TOK_PERCENT, "expected valid ssa identifier")) return false;
    if (parser_accept(p, ':')) {
      token t = p->tok;
      if (!at(p, TOK_INT)) return parser_expect(p, TOK_INT, "expected integer number of results");
      if (!parser_i64(p, &n)) return false;
      if (n < 1 || n > MAX_NAMED_RESULTS)
        return parser_error(p, &t, "expected named operation to have at least 1 result");
      r.count = (u32)n;
    }
    *total += r.count;
    VEC_PUSH(p->scratch, st->names, r);
  } while (parser_accept(p, ','));
  return parser_expect(p, '=', "expected '=' after SSA name");
}

static bool name_results(parser *p, const op_state *st, size_t total, op *o) {
  if (st->names.len == 0) return true;
  const token *at = &st->names.data[0].at;
  if (o->num_results == 0) return parser_error(p, at, "cannot name an operation with no results");
  if (o->num_results != total)
    return parser_error(p, at, "operation defines %u results but was provided %zu to bind",
                        o->num_results, total);
  u32 first = 0;
  for (size_t i = 0; i < st->names.len; i++) {
    const result_name *r = &st->names.data[i];
    if (!ssa_define(p, &r->at, str_from(r->at.text, 1), op_result(o, first), r->count))
      return false;
    first += r->count;
  }
  return true;
}

static void move_region(region *from, region *to) {
  while (from->first) {
    block *b = from->first;
    block_unlink(b);
    region_append(to, b);
  }
}

static str key_of(const named_attr *n) { return ((const string_attr *)n->name)->value; }

/* Properties that an op has even where the text leaves them out. */
static void set_blanks(parser *p, op_state *st) {
  static const struct {
    op_id op;
    u8 slot;
  } blanks[] = {{OP_infeed, 0}, {OP_outfeed, 0}};
  for (size_t i = 0; i < COUNT(blanks); i++)
    if (st->info->id == blanks[i].op && !st->slots[blanks[i].slot])
      st->slots[blanks[i].slot] = attr_string(p->ctx, STR(""));
}

/* Each dictionary came sorted; the properties of an op without slots and its attributes are two,
 * of which the second wins. */
static void set_attrs(parser *p, const op_state *st, op *o) {
  size_t n = st->attrs.len, half = 1, i = 0, len = 0;
  const named_attr *v = st->attrs.data;
  if (n == 0) return;
  while (half < n && str_cmp(key_of(&v[half - 1]), key_of(&v[half])) < 0) half++;
  o->attrs = ARENA_ARRAY(&p->module->arena, named_attr, n);
  for (size_t j = half; i < half || j < n;) {
    int order = i == half ? 1 : j == n ? -1 : str_cmp(key_of(&v[i]), key_of(&v[j]));
    o->attrs[len++] = order < 0 ? v[i] : v[j];
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  o->num_attrs = (u32)len;
  o->cap_attrs = (u32)n;
}

/* Each operand is looked up with the type that its use has, which is what tells a placeholder's. */
static op *make(parser *p, op_state *st) {
  size_t n = st->operands.len;
  value *few[16], **values = n > 16 ? ARENA_ARRAY(p->scratch, value *, n) : few;
  for (size_t i = 0; i < n; i++) {
    values[i] = ssa_use(p, &st->operands.data[i], st->operand_types.data[i]);
    if (!values[i]) return NULL;
  }
  if (st->problem) {
    parser_error(p, &st->at, "%s", st->problem);
    return NULL;
  }
  if (st->regions.len > UINT16_MAX || st->successors.len > UINT16_MAX) {
    parser_error(p, &st->at, "too many regions or successors");
    return NULL;
  }
  const attr *loc = st->loc ? st->loc : loc_file(p->ctx, p->file, st->at.line, st->at.col);
  op *o = op_create(p->module, st->info, loc, values, n, st->result_types.data,
                    st->result_types.len, st->regions.len);
  set_blanks(p, st);
  if (st->info->num_slots) memcpy(o->slots, st->slots, st->info->num_slots * sizeof *o->slots);
  set_attrs(p, st, o);
  for (size_t i = 0; i < st->regions.len; i++) move_region(st->regions.data[i], &o->regions[i]);
  if (st->successors.len) {
    o->successors = arena_copy(&p->module->arena, st->successors.data,
                               st->successors.len * sizeof *o->successors);
    o->num_successors = (u16)st->successors.len;
  }
  return o;
}

/* Neither a name nor a string. */
static bool no_op(parser *p) {
  token t = p->tok;
  parser_expect(p, TOK_ID, "expected operation name in quotes");
  parser_hint_token(p, &t);
  return false;
}

/* The state is given back only where the op was read: after an error the parse ends. */
bool parser_op(parser *p, block *into) {
  op_state *st = open_state(p);
  size_t total = 0;
  if (at(p, TOK_PERCENT) && !results(p, st, &total)) return false;
  st->at = p->tok;
  bool ok = at(p, TOK_STRING) ? generic(p, st) : at(p, TOK_ID) ? custom(p, st) : no_op(p);
  if (!ok) return false;
  op *o = make(p, st);
  if (!o) return false;
  op_insert(o, into, NULL);
  if (!parser_op_loc(p, o, NULL) || !name_results(p, st, total, o)) return false;
  close_state(p, st);
  return true;
}
