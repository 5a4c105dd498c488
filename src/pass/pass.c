/* Finding, reading and running passes.
 *
 * A pipeline text is read into nodes (pass_parse) before anything runs, so that a wrong name at its
 * end is an error at once; MLIR's grammar, anchors and messages. Running a pass pushes a scratch
 * arena, calls the row's function and pops it; who asked for it verifies or dumps in between
 * (pass_tables). */
#include "pass/pass.h"

#include "base/spelling.h"
#include "dialect/dialect.h"

const pass_info *pass_find(const pass_tables *t, str name) {
  for (size_t i = 0; t && i < t->count; i++)
    for (const pass_info *p = t->tables[i]; p->name; p++)
      if (str_is(name, p->name)) return p;
  return NULL;
}

/* ---- options ---- */

str pass_option_get(const pass_args *args, str name, str otherwise) {
  for (size_t i = args ? args->num_options : 0; i-- > 0;) /* the last one counts */
    if (str_eq(args->options[i].name, name)) return args->options[i].value;
  return otherwise;
}

bool pass_read_flag(str v, bool *out) {
  static const char *const words[] = {"false", "False", "FALSE", "0", "",
                                      "true",  "True",  "TRUE",  "1"};
  size_t i = 0;
  while (i < COUNT(words) && !str_is(v, words[i])) i++;
  *out = i > 3;
  return i < COUNT(words);
}

static int digit_of(char c) {
  const char *all = "0123456789abcdefABCDEF", *at = c ? strchr(all, c) : NULL;
  return !at ? 16 : at - all < 16 ? (int)(at - all) : (int)(at - all) - 6;
}

/* As MLIR reads one: 0x, 0b, 0o and 0 say which base. */
static bool read_int(str v, i64 *out) {
  static const char *const bases[] = {"0x", "0b", "0o", "0"};
  static const u8 base_of[] = {16, 2, 8, 8, 10};
  bool negative = v.len && v.data[0] == '-';
  v = str_from(v, negative);
  size_t k = 0;
  while (k < COUNT(bases) && (v.len < 2 || !str_starts(v, str_of(bases[k])))) k++;
  if (k < COUNT(bases)) v = str_from(v, strlen(bases[k]));
  *out = 0;
  for (size_t i = 0; i < v.len; i++) {
    int digit = digit_of(v.data[i]);
    if (digit >= base_of[k] || !checked_mul(*out, base_of[k], out) ||
        !checked_sub(*out, digit, out))
      return false;
  }
  return v.len && (negative || checked_sub(0, *out, out));
}

bool pass_option_flag(const pass_args *args, str name, bool otherwise) {
  bool v;
  return pass_read_flag(pass_option_get(args, name, otherwise ? STR("true") : STR("false")), &v) &&
         v;
}

i64 pass_option_int(const pass_args *args, str name, i64 otherwise) {
  i64 v;
  return read_int(pass_option_get(args, name, STR("")), &v) ? v : otherwise;
}

/* ---- running ---- */

/* Names are looked up in the tables of the caller: a row may name passes of modules that this one
 * knows nothing of. */
static bool run_pipeline(ir_module *m, const pass_info *pass, const pass_args *args) {
  const pass_tables *t = args ? args->tables : NULL;
  for (const char *const *name = pass->pipeline; *name; name++) {
    const pass_info *p = pass_find(t, str_of(*name));
    if (!p) return loc_error(m->ctx, NULL, "'%s' names an unknown pass '%s'", pass->name, *name);
    if (!pass_run(m, p, args)) return false;
  }
  return true;
}

static bool run_function(ir_module *m, const pass_info *pass, const pass_args *args) {
  pass_args none = {0};
  bool ok = pass->fn(m, ir_scratch_push(m->ctx), args ? args : &none);
  ir_scratch_pop(m->ctx);
  const pass_tables *t = args ? args->tables : NULL;
  if (ok && t && t->verify_each && !pass->of_passes && !dialect_verify(m)) return false;
  return ok;
}

static const pass_option_info *find_option(const pass_info *pass, str name) {
  const pass_option_info *i = pass->options;
  while (i && i->name && !str_is(name, i->name)) i++;
  return i && i->name ? i : NULL;
}

/* Pipelines hand options down, and none may get lost. */
static bool knows_options(ir_module *m, const pass_info *pass, const pass_args *args) {
  for (size_t i = 0; args && i < args->num_options; i++)
    if (!find_option(pass, args->options[i].name))
      return loc_error(m->ctx, NULL, "'%s' has no option '" STR_FMT "'", pass->name,
                       STR_ARG(args->options[i].name));
  return true;
}

bool pass_run(ir_module *m, const pass_info *pass, const pass_args *args) {
  const pass_tables *t = args ? args->tables : NULL;
  if (!knows_options(m, pass, args)) return false;
  if (t && t->before) t->before(t->user, pass, m);
  bool ok = pass->fn ? run_function(m, pass, args) : run_pipeline(m, pass, args);
  if (ok && t && t->after) t->after(t->user, pass, m);
  if (!ok && t && t->failed) t->failed(t->user, pass, m);
  return ok;
}

bool pass_run_named(ir_module *m, const pass_tables *t, const char *name,
                    const pass_option *options, size_t n) {
  const pass_info *p = pass_find(t, str_of(name));
  pass_args args = {.options = options, .num_options = n, .tables = t};
  return p ? pass_run(m, p, &args) : loc_error(m->ctx, m->root->loc, "there is no pass '%s'", name);
}

/* Passes about shardings take modules that can run; generic ones take any. */
static bool takes_any(const pass_info *pass) {
  const pass_info *const any[] = {pass_generic, pass_tests};
  for (size_t i = 0; i < COUNT(any); i++)
    for (const pass_info *p = any[i]; p->name; p++)
      if (p == pass) return true;
  return pass->any_module;
}

enum { MAX_OPTIONS = 32, MAX_DEPTH = 16 };

/* The ops that passes are anchored on, from the outermost in; none: the module. */
typedef struct anchors {
  str names[MAX_DEPTH];
  int count;
} anchors;

static bool run_below(ir_module *m, op *root, const anchors *on, int depth, const pass_info *pass,
                      pass_args *args) {
  if (depth == on->count) return args->root = root, pass_run(m, pass, args);
  str name = on->names[depth];
  bool any = str_is(name, "any");
  for (u32 i = 0; i < root->num_regions; i++)
    for (block *b = root->regions[i].first; b; b = b->next)
      for (op *o = b->first, *next; o; o = next) {
        next = o->next;
        if (any ? !op_has(o, ISOLATED) : !str_eq(o->info->name, name)) continue;
        if (!op_has(o, ISOLATED))
          return op_error(m->ctx, o,
                          "trying to schedule a pass on an operation not marked as "
                          "'IsolatedFromAbove'");
        if (!run_below(m, o, on, depth + 1, pass, args)) return false;
      }
  return true;
}

static bool run_node(ir_module *m, op *root, const pass_node *n, const pass_tables *t,
                     const anchors *on) {
  pass_args args = {n->options, n->num_options, t, NULL};
  if (!takes_any(n->pass) && !dialect_check_runnable(m)) return false;
  return n->pass->nested && root ? run_below(m, root, on, 0, n->pass, &args)
                                 : pass_run(m, n->pass, &args);
}

static bool run_list(ir_module *m, op *root, const pass_node *n, const pass_tables *t,
                     anchors *on) {
  for (bool ok; n; n = n->next) {
    if (n->pass) {
      ok = run_node(m, root, n, t, on);
    } else {
      on->names[on->count++] = n->name;
      ok = run_list(m, root ? root : m->root, n->first, t, on);
      on->count--;
    }
    if (!ok) return false;
  }
  return true;
}

bool pass_run_nodes(ir_module *m, op *on, const pass_node *root, const pass_tables *t) {
  return run_list(m, on, root->first, t, &(anchors){0});
}

/* ---- textual pipelines ---- */

typedef struct reader {
  ir_ctx *c;
  arena *a;
  const pass_tables *tables;
  str text;
  size_t at;
  int depth;
  bool in_module; /* inside the anchor that is the module itself, if one is written */
} reader;

static char peek(const reader *r) { return r->at < r->text.len ? r->text.data[r->at] : 0; }
static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
static void skip_space(reader *r) {
  while (is_space(peek(r))) r->at++;
}

/* With the line and a caret below it, as MLIR has it. */
PRINTF_LIKE(3, 4) static bool complain(const reader *r, size_t at, const char *fmt, ...) {
  size_t begin = at, end = at;
  while (begin && r->text.data[begin - 1] != '\n') begin--;
  while (end < r->text.len && r->text.data[end] != '\n') end++;
  diag_pos pos = {STR("MLIR Textual PassPipeline Parser"), 1, (u32)(at - begin + 1)};
  for (size_t i = 0; i < begin; i++) pos.line += r->text.data[i] == '\n';
  va_list ap;
  va_start(ap, fmt);
  buf what;
  buf_init(&what, &mem_system);
  buf_vprintf(&what, fmt, ap);
  va_end(ap);
  diag_error(ir_sink(r->c), pos, STR_FMT "\n" STR_FMT "\n%*s^", STR_ARG(buf_view(&what)),
             STR_ARG(((str){r->text.data + begin, end - begin})), (int)(at - begin), "");
  buf_deinit(&what);
  return false;
}

/* Past what is quoted or between braces at the start, to the first of `stop` or the end. false: it
 * is not closed. */
static bool skip_value(reader *r, const char *stop) {
  int braces = 0;
  for (char quote = 0, c; (c = peek(r)) != 0 && (braces || quote || !strchr(stop, c)); r->at++) {
    if (quote) {
      quote = c == quote ? 0 : quote;
    } else if (c == '\'' || c == '"') {
      quote = c;
    } else {
      braces += (c == '{') - (c == '}');
    }
  }
  return peek(r) != 0;
}

static str unwrap(str v) {
  bool wrapped =
      v.len > 1 && ((v.data[0] == '{' && v.data[v.len - 1] == '}') ||
                    ((v.data[0] == '\'' || v.data[0] == '"') && v.data[v.len - 1] == v.data[0]));
  return wrapped ? (str){v.data + 1, v.len - 2} : v;
}

static bool is_one_of(str v, const char *words) {
  for (size_t n; *words; words += n + (words[n] == ','))
    if (n = strcspn(words, ","), str_eq(v, (str){words, n})) return true;
  return false;
}

static bool no_option(const reader *r, size_t at, const pass_info *p, str name) {
  spelling s = {.wanted = name};
  for (const pass_option_info *i = p->options; i && i->name; i++)
    if (i->help) spelling_try(&s, str_of(i->name));
  return complain(r, at, "no such option " STR_FMT "%s", STR_ARG(name), spelling_say(&s).text);
}

static bool no_pass(const reader *r, size_t at, str name) {
  spelling s = {.wanted = name};
  for (size_t i = 0; i < r->tables->count; i++)
    for (const pass_info *p = r->tables->tables[i]; p->name; p++) spelling_try(&s, str_of(p->name));
  return complain(r, at, "'" STR_FMT "' does not refer to a registered pass or pass pipeline%s",
                  STR_ARG(name), spelling_say(&s).text);
}

/* One that the pass has, with a value of its kind. */
static bool check_option(const reader *r, size_t at, const pass_info *p, const pass_option *o) {
  const pass_option_info *i = find_option(p, o->name);
  bool flag;
  i64 number = 0;
  if (!i || !i->help) return no_option(r, at, p, o->name);
  str v = o->value;
  const char *what = i->kind == PASS_INT ? "long" : i->kind == PASS_UINT ? "uint" : NULL;
  if (i->kind != PASS_FLAG && !v.data)
    return complain(r, at, "for the --%s option: requires a value!", i->name);
  if (i->kind == PASS_FLAG && !pass_read_flag(v, &flag))
    return complain(r, at,
                    "for the --%s option: '" STR_FMT
                    "' is invalid value for boolean argument! Try 0 or 1",
                    i->name, STR_ARG(v));
  if (what &&
      (!read_int(v, &number) || (i->kind == PASS_UINT && (number < 0 || number > UINT32_MAX))))
    return complain(r, at, "for the --%s option: '" STR_FMT "' value invalid for %s argument!",
                    i->name, STR_ARG(v), what);
  if (i->words && !is_one_of(v, i->words))
    return complain(r, at, "for the --%s option: Cannot find option named '" STR_FMT "'!", i->name,
                    STR_ARG(v));
  if (i->kind == PASS_PIPELINE || i->kind == PASS_PIPELINES)
    return pass_parse(r->c, r->a, i->kind == PASS_PIPELINE ? "func.func" : "", v, r->tables);
  return true;
}

/* `{a=1 b}` behind a name, or nothing. */
static bool read_options(reader *r, pass_node *n) {
  pass_option *options = ARENA_ARRAY(r->a, pass_option, MAX_OPTIONS);
  n->options = options;
  if (peek(r) != '{') return true;
  size_t open = r->at++;
  for (;;) {
    skip_space(r);
    if (peek(r) == '}') return r->at++, true;
    size_t at = r->at;
    if (!skip_value(r, " \n\t\r}"))
      return complain(r, open, "missing closing '}' while processing pass options");
    str item = {r->text.data + at, r->at - at};
    const char *eq = memchr(item.data, '=', item.len);
    size_t len = eq ? (size_t)(eq - item.data) : item.len;
    pass_option o = {{item.data, len}, eq ? unwrap(str_from(item, len + 1)) : (str){0}};
    if (n->num_options == MAX_OPTIONS) return complain(r, at, "too many options");
    if (!check_option(r, at, n->pass, &o)) return false;
    options[n->num_options++] = o;
  }
}

/* Can the pass be inside this anchor? */
static bool check_scope(const reader *r, size_t at, const pass_info *p, str anchor) {
  static const char *const names[] = {"builtin.module", "func.func"};
  pass_scope scope = p->scope;
  if (scope == PASS_ON_ANY || !r->depth || (scope == PASS_ON_FUNCS && str_is(anchor, "func.func")))
    return true;
  if (str_is(anchor, names[scope]))
    return complain(r, at, "'%s' runs on the outermost '%s' only", p->name, names[scope]);
  return complain(
      r, at,
      "Can't add pass '%s' restricted to '%s' on a PassManager intended to run on '" STR_FMT
      "', did you intend to nest?",
      p->name, names[scope], STR_ARG(anchor));
}

static bool read_list(reader *r, str anchor, pass_node ***link);

/* `name(...)`; the outermost that can be the module is no node. */
static bool read_anchor(reader *r, str name, pass_node ***link) {
  bool outermost = !r->in_module && (str_is(name, "builtin.module") || str_is(name, "any"));
  bool was = r->in_module;
  pass_node *n = ARENA_NEW(r->a, pass_node), **inner = &n->first;
  n->name = name;
  if (!outermost && ++r->depth > MAX_DEPTH) return complain(r, r->at, "nested too deep");
  r->at++, r->in_module = true;
  if (!read_list(r, name, outermost ? link : &inner)) return false;
  if (peek(r) != ')')
    return complain(r, r->at,
                    peek(r) ? "expected ',' after parsing pipeline"
                            : "encountered unbalanced parentheses while parsing pipeline");
  r->at++, r->in_module = was;
  if (outermost) return true;
  r->depth--;
  **link = n, *link = &n->next;
  return true;
}

static bool read_item(reader *r, str anchor, pass_node ***link) {
  skip_space(r);
  size_t at = r->at;
  while (peek(r) && !strchr(",(){", peek(r))) r->at++;
  str name = {r->text.data + at, r->at - at};
  while (name.len && is_space(name.data[name.len - 1])) name.len--;
  if (peek(r) == '(') return read_anchor(r, name, link);
  if (!anchor.len)
    return complain(r, at,
                    "expected pass pipeline to be wrapped with the anchor operation type, e.g. "
                    "'builtin.module(...)'");
  pass_node *n = ARENA_NEW(r->a, pass_node);
  n->name = name;
  n->pass = pass_find(r->tables, name);
  if (!n->pass) return no_pass(r, at, name);
  **link = n, *link = &n->next;
  return check_scope(r, at, n->pass, anchor) && read_options(r, n);
}

/* An empty list is one too: `builtin.module()`. */
static bool read_list(reader *r, str anchor, pass_node ***link) {
  skip_space(r);
  if (peek(r) == ')' || !peek(r)) return true;
  for (;;) {
    if (!read_item(r, anchor, link)) return false;
    skip_space(r);
    if (peek(r) != ',') return true;
    r->at++;
  }
}

const pass_node *pass_parse(ir_ctx *c, arena *a, const char *anchor, str text,
                            const pass_tables *t) {
  bool nested = strcmp(anchor, "builtin.module") != 0;
  reader r = {.c = c, .a = a, .tables = t, .text = text, .depth = nested, .in_module = nested};
  pass_node *root = ARENA_NEW(a, pass_node), **link = &root->first;
  root->name = str_of(anchor);
  if (!read_list(&r, root->name, &link)) return NULL;
  if (r.at == text.len) return root;
  complain(&r, r.at,
           peek(&r) == ')' ? "encountered extra closing ')' creating unbalanced parentheses while "
                             "parsing pipeline"
                           : "expected ',' after parsing pipeline");
  return NULL;
}

bool pass_run_text(ir_module *m, str pipeline, const pass_tables *t) {
  const pass_node *n = pass_parse(m->ctx, ir_scratch_push(m->ctx), "builtin.module", pipeline, t);
  bool ok = n && pass_run_nodes(m, NULL, n, t);
  ir_scratch_pop(m->ctx);
  return ok;
}

/* The first behind `last` by name. */
static const pass_option_info *next_option(const pass_option_info *i, const char *last) {
  const pass_option_info *next = NULL;
  for (; i && i->name; i++)
    if (i->help && strcmp(i->name, last) > 0 && (!next || strcmp(i->name, next->name) < 0))
      next = i;
  return next;
}

/* By name; of a list without values only the blank before it is left, as in MLIR. */
static void print_options(buf *b, const pass_node *n) {
  pass_args args = {n->options, n->num_options, NULL, NULL};
  const pass_option_info *first = next_option(n->pass->options, "");
  for (const pass_option_info *i = first; i; i = next_option(n->pass->options, i->name)) {
    str v = pass_option_get(&args, str_of(i->name), str_of(i->otherwise));
    bool on, list = i->kind == PASS_LIST || i->kind == PASS_PIPELINES;
    i64 number;
    buf_char(b, i == first ? '{' : ' ');
    if (i->kind == PASS_FLAG && pass_read_flag(v, &on))
      buf_printf(b, "%s=%s", i->name, on ? "true" : "false");
    else if ((i->kind == PASS_INT || i->kind == PASS_UINT) && read_int(v, &number))
      buf_printf(b, "%s=%lld", i->name, (long long)number);
    else if (!list || v.len)
      buf_printf(b, list || memchr(v.data, ' ', v.len) ? "%s={" STR_FMT "}" : "%s=" STR_FMT,
                 i->name, STR_ARG(v));
  }
  if (first) buf_char(b, '}');
}

void pass_print(buf *b, const pass_node *n) {
  buf_str(b, n->name);
  if (n->pass) {
    print_options(b, n);
    return;
  }
  buf_char(b, '(');
  for (const pass_node *i = n->first; i; i = i->next) {
    if (i != n->first) buf_char(b, ',');
    pass_print(b, i);
  }
  buf_char(b, ')');
}
