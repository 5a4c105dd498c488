/* Names of values in scopes.
 *
 * A name has one entry for the whole parse. Opening a region notes a mark; each definition puts
 * the entry's earlier content on a log, and closing the region writes it back. An isolated
 * region sees only entries of its own number. A use before its definition makes a placeholder,
 * which lives until the definition or the end of the isolated region around it. */
#include "text/parser.h"

typedef struct forward {
  u32 number;
  value *placeholder;
  token at;
  struct forward *next;
} forward;

typedef struct content {
  u32 scope; /* number of the isolated region that sees it; 0: none */
  u32 count;
  value *first; /* of `count` values in a row; NULL: used but not defined so far */
  forward *forwards;
  u32 line, col;
} content;

typedef struct entry {
  str name;
  content now;
} entry;

typedef struct undo {
  entry *e;
  content before;
} undo;

typedef struct scope {
  size_t log_begin;
  u32 number; /* of the isolated region around */
  bool isolated;
} scope;

struct ssa {
  name_map names;
  VEC(undo) log;
  VEC(scope) scopes;
  u32 current, last;
  entry **numbered; /* %0, %1, ...: quicker than the table */
  size_t num_numbered;
};

void ssa_init(parser *p) {
  p->ssa = ARENA_NEW(p->scratch, struct ssa);
  ssa_push(p, true);
}

static entry *new_entry(parser *p, str name) {
  entry *e = ARENA_NEW(p->scratch, entry);
  e->name = name;
  return e;
}

/* -1: not a plain number, or one that is higher than the text is long (a lone %4000000 shall not
 * make a big table) */
static i64 number_of(const parser *p, str name) {
  i64 v = 0;
  if (name.len > 9 || (name.len > 1 && name.data[0] == '0')) return -1;
  for (size_t i = 0; i < name.len; i++) {
    if (!char_is_digit(name.data[i])) return -1;
    v = v * 10 + (name.data[i] - '0');
  }
  return v < (i64)p->source_len ? v : -1;
}

static entry *entry_of(parser *p, str name) {
  struct ssa *s = p->ssa;
  i64 n = number_of(p, name);
  if (n < 0) {
    entry **at = (entry **)name_map_at(&s->names, p->scratch, name);
    if (!*at) *at = new_entry(p, name);
    return *at;
  }
  if ((size_t)n >= s->num_numbered) {
    size_t cap = max_size((size_t)n + 1, s->num_numbered * 2);
    entry **grown = arena_zalloc(p->scratch, cap * sizeof *grown);
    if (s->num_numbered) memcpy(grown, s->numbered, s->num_numbered * sizeof *grown);
    s->numbered = grown;
    s->num_numbered = cap;
  }
  if (!s->numbered[n]) s->numbered[n] = new_entry(p, name);
  return s->numbered[n];
}

/* A name's first definition right inside an isolated region needs no log: outside, its number
 * already tells that it is not seen. That is nearly every name. */
static void change(parser *p, entry *e, content now) {
  struct ssa *s = p->ssa;
  bool first = e->now.scope == 0 && s->scopes.data[s->scopes.len - 1].isolated;
  if (!first || !now.first) VEC_PUSH(p->scratch, s->log, (undo){e, e->now});
  e->now = now;
}

void ssa_push(parser *p, bool isolated) {
  struct ssa *s = p->ssa;
  VEC_PUSH(p->scratch, s->scopes, (scope){s->log.len, s->current, isolated});
  if (isolated) s->current = ++s->last;
}

static bool undeclared(parser *p, const entry *e) {
  const forward *f = e->now.forwards;
  return parser_error(p, &f->at, "use of undeclared SSA value name");
}

bool ssa_pop(parser *p, bool isolated) {
  struct ssa *s = p->ssa;
  scope sc = s->scopes.data[--s->scopes.len];
  size_t kept = sc.log_begin;
  bool ok = true;
  /* The earliest open use is the one to report. */
  for (size_t i = sc.log_begin; isolated && ok && i < s->log.len; i++) {
    const entry *e = s->log.data[i].e;
    if (e->now.scope == s->current && e->now.forwards) ok = undeclared(p, e);
  }
  if (!ok) return false;
  if (isolated) {
    for (size_t i = s->log.len; i-- > sc.log_begin;) s->log.data[i].e->now = s->log.data[i].before;
    s->log.len = sc.log_begin;
    s->current = sc.number;
    return true;
  }
  /* Names that still wait for their definition pass to the region around. */
  for (size_t i = sc.log_begin; i < s->log.len; i++)
    if (s->log.data[i].e->now.forwards) s->log.data[kept++] = s->log.data[i];
  for (size_t i = s->log.len; i-- > kept;) {
    undo u = s->log.data[i];
    if (!u.e->now.forwards) u.e->now = u.before;
  }
  s->log.len = kept;
  return true;
}

bool ssa_check_new(parser *p, const token *at, str name) {
  const content *now = &entry_of(p, name)->now;
  if (now->scope != p->ssa->current || (!now->first && !now->forwards)) return true;
  parser_error(p, at, "region entry argument '%%" STR_FMT "' is already in use", STR_ARG(name));
  parser_note(p, now->first ? now->line : now->forwards->at.line,
              now->first ? now->col : now->forwards->at.col, "previously referenced here");
  return false;
}

/* Placeholders of the same scope are replaced by the value, whose type must be the one that they
 * were used with. */
bool ssa_define(parser *p, const token *at, str name, value *first, u32 count) {
  entry *e = entry_of(p, name);
  content now = {p->ssa->current, count, first, NULL, at->line, at->col};
  if (e->now.scope == now.scope && e->now.first) {
    parser_error(p, at, "redefinition of SSA value '%%" STR_FMT "'", STR_ARG(name));
    parser_note(p, e->now.line, e->now.col, "previously defined here");
    return false;
  }
  const forward *waiting = e->now.scope == now.scope ? e->now.forwards : NULL;
  content none = {now.scope, 0, NULL, NULL, 0, 0};
  if (waiting) e->now = none;
  change(p, e, now);
  for (const forward *f = waiting; f; f = f->next) {
    if (f->number >= count) return parser_error(p, &f->at, "reference to invalid result number");
    value *v = first + f->number;
    if (f->placeholder->type != v->type) {
      parser_error(p, at, "definition of SSA value '%%" STR_FMT "#%u' has type '%s'", STR_ARG(name),
                   f->number, text_show_type(p->scratch, v->type));
      parser_note(p, f->at.line, f->at.col, "previously used here with type '%s'",
                  text_show_type(p->scratch, f->placeholder->type));
      return false;
    }
    value_replace(f->placeholder, v);
  }
  return true;
}

/* The result of a cast that stands in no block: uses are linked as those of any value, so replacing
 * it is value_replace. */
static value *placeholder(parser *p, entry *e, const operand_ref *ref, const type *t) {
  forward *f;
  if (e->now.scope != p->ssa->current) change(p, e, (content){.scope = p->ssa->current});
  for (f = e->now.forwards; f; f = f->next)
    if (f->number == ref->number) return f->placeholder;
  f = ARENA_NEW(p->scratch, forward);
  op *o = op_create(p->module, &op_infos[OP_cast], loc_unknown(p->ctx), NULL, 0, &t, 1, 0);
  *f = (forward){ref->number, op_result(o, 0), ref->at, e->now.forwards};
  e->now.forwards = f;
  return f->placeholder;
}

static value *wrong_type(parser *p, const entry *e, const operand_ref *ref, const type *t,
                         const type *have) {
  parser_error(p, &ref->at,
               "use of value '" STR_FMT "' expects different type than prior uses: '%s' vs '%s'",
               STR_ARG(ref->at.text), text_show_type(p->scratch, t),
               text_show_type(p->scratch, have));
  if (e->now.line) parser_note(p, e->now.line, e->now.col, "prior use here");
  return NULL;
}

value *ssa_use(parser *p, const operand_ref *ref, const type *t) {
  entry *e = entry_of(p, ref->name);
  value *v;
  if (e->now.scope == p->ssa->current && e->now.first) {
    if (ref->number >= e->now.count) {
      parser_error(p, &ref->at, "reference to invalid result number");
      return NULL;
    }
    v = e->now.first + ref->number;
  } else {
    v = placeholder(p, e, ref, t);
  }
  return v->type == t ? v : wrong_type(p, e, ref, t, v->type);
}
