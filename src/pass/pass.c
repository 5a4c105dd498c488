/* Finding, reading and running passes. */
#include "pass/pass.h"

#include "dialect/dialect.h"

const pass_info *pass_find(const pass_tables *t, str name) {
  for (size_t i = 0; t && i < t->count; i++)
    for (const pass_info *p = t->tables[i]; p->name; p++)
      if (str_is(name, p->name)) return p;
  return NULL;
}

/* ---- options ---- */

str pass_option_get(const pass_args *args, str name, str otherwise) {
  for (size_t i = 0; args && i < args->num_options; i++)
    if (str_eq(args->options[i].name, name)) return args->options[i].value;
  return otherwise;
}

static bool read_flag(str v, bool *out) {
  *out = v.len == 0 || str_is(v, "true") || str_is(v, "1");
  return *out || str_is(v, "false") || str_is(v, "0");
}

static bool read_int(str v, i64 *out) {
  bool negative = v.len && v.data[0] == '-';
  *out = 0;
  if (v.len == (size_t)negative) return false;
  for (size_t i = negative; i < v.len; i++) {
    if (v.data[i] < '0' || v.data[i] > '9' || !checked_mul(*out, 10, out) ||
        !checked_sub(*out, v.data[i] - '0', out))
      return false;
  }
  return negative || checked_sub(0, *out, out);
}

bool pass_option_flag(const pass_args *args, str name, bool otherwise) {
  bool v;
  return read_flag(pass_option_get(args, name, otherwise ? STR("true") : STR("false")), &v) && v;
}

i64 pass_option_int(const pass_args *args, str name, i64 otherwise) {
  i64 v;
  return read_int(pass_option_get(args, name, STR("")), &v) ? v : otherwise;
}

/* Options that the pass declares, with values of their kind; a pass that declares none takes all.
 */
static bool check_option(ir_ctx *c, const pass_info *p, const pass_option *o) {
  if (!p->options) return true;
  const pass_option_info *i = p->options;
  while (i->name && !str_is(o->name, i->name)) i++;
  bool flag;
  i64 number;
  if (!i->name)
    return loc_error(c, NULL, "'%s' has no option '" STR_FMT "'", p->name, STR_ARG(o->name));
  if (i->kind == PASS_FLAG && !read_flag(o->value, &flag))
    return loc_error(c, NULL, "option '%s' of '%s' wants true or false, not '" STR_FMT "'", i->name,
                     p->name, STR_ARG(o->value));
  if (i->kind == PASS_INT && !read_int(o->value, &number))
    return loc_error(c, NULL, "option '%s' of '%s' wants a number, not '" STR_FMT "'", i->name,
                     p->name, STR_ARG(o->value));
  return true;
}

/* ---- running ---- */

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
  if (ok && t && t->verify_each && !dialect_verify(m)) return false;
  return ok;
}

bool pass_run(ir_module *m, const pass_info *pass, const pass_args *args) {
  const pass_tables *t = args ? args->tables : NULL;
  if (t && t->before) t->before(t->user, pass, m);
  bool ok = pass->fn ? run_function(m, pass, args) : run_pipeline(m, pass, args);
  if (ok && t && t->after) t->after(t->user, pass, m);
  if (!ok && t && t->failed) t->failed(t->user, pass, m);
  return ok;
}

/* On each function inside an anchor of functions, where the pass can do that. */
/* Passes about shardings take modules that can run; generic ones take any. */
static bool takes_any(const pass_info *pass) {
  const pass_info *const any[] = {pass_generic, pass_tests};
  for (size_t i = 0; i < COUNT(any); i++)
    for (const pass_info *p = any[i]; p->name; p++)
      if (p == pass) return true;
  return pass->any_module;
}

static bool run_node(ir_module *m, const pass_node *n, const pass_tables *t, str anchor) {
  pass_args args = {n->options, n->num_options, t, NULL};
  if (!takes_any(n->pass) && !dialect_check_runnable(m)) return false;
  if (!n->pass->nested || !str_is(anchor, "func.func")) return pass_run(m, n->pass, &args);
  for (op *o = op_body(m->root, 0)->first, *next; o; o = next) {
    next = o->next;
    args.root = o;
    if (op_is(o, func) && !pass_run(m, n->pass, &args)) return false;
  }
  return true;
}

static bool run_nodes(ir_module *m, const pass_node *n, const pass_tables *t, str anchor) {
  for (; n; n = n->next)
    if (n->pass ? !run_node(m, n, t, anchor) : !run_nodes(m, n->first, t, n->name)) return false;
  return true;
}

bool pass_run_nodes(ir_module *m, const pass_node *n, const pass_tables *t) {
  return run_nodes(m, n, t, STR("builtin.module"));
}

/* ---- textual pipelines ---- */

typedef struct reader {
  ir_ctx *c;
  arena *a;
  const pass_tables *tables;
  str text;
  size_t at;
  int depth;
} reader;

static char peek(const reader *r) { return r->at < r->text.len ? r->text.data[r->at] : 0; }
static void skip_space(reader *r) {
  while (peek(r) == ' ' || peek(r) == '\n' || peek(r) == '\t') r->at++;
}

static bool complain(reader *r, const char *what) {
  return loc_error(r->c, NULL, "pass pipeline, at character %zu: %s", r->at + 1, what);
}

static str word(reader *r, const char *stop) {
  size_t begin = r->at;
  int braces = 0;
  for (; r->at < r->text.len; r->at++) {
    char c = peek(r);
    if (braces == 0 && strchr(stop, c)) break;
    if (c == '{') braces++;
    if (c == '}') braces--;
  }
  return (str){r->text.data + begin, r->at - begin};
}

enum { MAX_OPTIONS = 32, MAX_DEPTH = 16 };

/* `{a=1 b}` behind a name, or nothing. */
static bool read_options(reader *r, pass_node *n) {
  pass_option *options = ARENA_ARRAY(r->a, pass_option, MAX_OPTIONS);
  n->options = options;
  if (peek(r) != '{') return true;
  for (r->at++;;) {
    skip_space(r);
    if (peek(r) == '}') return r->at++, true;
    if (peek(r) == 0) return complain(r, "expected '}'");
    if (n->num_options == MAX_OPTIONS) return complain(r, "too many options");
    str item = word(r, " }");
    const char *eq = memchr(item.data, '=', item.len);
    size_t len = eq ? (size_t)(eq - item.data) : item.len;
    pass_option o = {{item.data, len}, eq ? str_from(item, len + 1) : STR("")};
    if (!check_option(r->c, n->pass, &o)) return false;
    options[n->num_options++] = o;
  }
}

static bool read_list(reader *r, pass_node **out);

static bool read_item(reader *r, pass_node **out) {
  skip_space(r);
  pass_node *n = *out = ARENA_NEW(r->a, pass_node);
  n->name = word(r, ",(){ ");
  if (peek(r) == '(') { /* an anchor */
    if (++r->depth > MAX_DEPTH) return complain(r, "nested too deep");
    r->at++;
    if (!read_list(r, &n->first)) return false;
    if (peek(r) != ')') return complain(r, "expected ')'");
    r->at++, r->depth--;
    return true;
  }
  n->pass = pass_find(r->tables, n->name);
  if (!n->pass)
    return loc_error(r->c, NULL,
                     "'" STR_FMT "' does not refer to a registered pass or pass pipeline",
                     STR_ARG(n->name));
  return read_options(r, n);
}

/* An empty list is one too: `builtin.module()`. */
static bool read_list(reader *r, pass_node **out) {
  *out = NULL;
  skip_space(r);
  if (peek(r) == ')' || !peek(r)) return true;
  for (;; out = &(*out)->next) {
    if (!read_item(r, out)) return false;
    skip_space(r);
    if (peek(r) != ',') return true;
    r->at++;
  }
}

const pass_node *pass_parse(ir_ctx *c, arena *a, str text, const pass_tables *t) {
  reader r = {.c = c, .a = a, .tables = t, .text = text};
  pass_node *root = ARENA_NEW(a, pass_node);
  root->name = STR("builtin.module");
  if (!read_list(&r, &root->first)) return NULL;
  if (r.at != text.len) return complain(&r, "expected ',' or the end"), NULL;
  pass_node *only = root->first;
  return only && !only->next && !only->pass ? only : root;
}

bool pass_run_text(ir_module *m, str pipeline, const pass_tables *t) {
  const pass_node *n = pass_parse(m->ctx, ir_scratch_push(m->ctx), pipeline, t);
  bool ok = n && pass_run_nodes(m, n, t);
  ir_scratch_pop(m->ctx);
  return ok;
}

static void print_options(buf *b, const pass_node *n) {
  const pass_option_info *i = n->pass->options;
  pass_args args = {n->options, n->num_options, NULL, NULL};
  bool any = false;
  for (; i && i->name; i++) {
    str v = pass_option_get(&args, str_of(i->name), str_of(i->otherwise));
    if (!v.len && i->kind == PASS_FLAG) v = STR("true");
    if (!v.len) continue;
    buf_printf(b, "%s%s=" STR_FMT, any ? " " : "{", i->name, STR_ARG(v));
    any = true;
  }
  for (size_t k = 0; !n->pass->options && k < n->num_options; k++) {
    buf_printf(b, "%s" STR_FMT, any ? " " : "{", STR_ARG(n->options[k].name));
    if (n->options[k].value.len) buf_printf(b, "=" STR_FMT, STR_ARG(n->options[k].value));
    any = true;
  }
  if (any) buf_char(b, '}');
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
