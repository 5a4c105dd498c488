/* Finding and running passes. */
#include "pass/pass.h"

const pass_info *pass_find(const pass_tables *t, str name) {
  for (size_t i = 0; t && i < t->count; i++)
    for (const pass_info *p = t->tables[i]; p->name; p++)
      if (str_is(name, p->name)) return p;
  return NULL;
}

str pass_option_get(const pass_args *args, str name, str otherwise) {
  for (size_t i = 0; args && i < args->num_options; i++)
    if (str_eq(args->options[i].name, name)) return args->options[i].value;
  return otherwise;
}

bool pass_option_flag(const pass_args *args, str name, bool otherwise) {
  str v = pass_option_get(args, name, otherwise ? STR("true") : STR("false"));
  return v.len == 0 || str_is(v, "true") || str_is(v, "1");
}

bool pass_run(ir_module *m, const pass_info *pass, const pass_args *args) {
  const pass_tables *t = args ? args->tables : NULL;
  if (!pass->fn) {
    for (const char *const *name = pass->pipeline; *name; name++) {
      const pass_info *p = pass_find(t, str_of(*name));
      if (!p) return loc_error(m->ctx, NULL, "'%s' names an unknown pass '%s'", pass->name, *name);
      if (!pass_run(m, p, args)) return false;
    }
    return true;
  }
  pass_args none = {0};
  bool ok = pass->fn(m, ir_scratch_push(m->ctx), args ? args : &none);
  ir_scratch_pop(m->ctx);
  if (ok && t && t->after) t->after(t->user, pass, m);
  return ok;
}

/* ---- textual pipelines ---- */

typedef struct reader {
  ir_module *m;
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
  return loc_error(r->m->ctx, NULL, "pass pipeline, at character %zu: %s", r->at + 1, what);
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
static bool read_options(reader *r, pass_option *options, size_t *n) {
  *n = 0;
  if (peek(r) != '{') return true;
  for (r->at++;;) {
    skip_space(r);
    if (peek(r) == '}') return r->at++, true;
    if (peek(r) == 0) return complain(r, "expected '}'");
    if (*n == MAX_OPTIONS) return complain(r, "too many options");
    str item = word(r, " }");
    const char *eq = memchr(item.data, '=', item.len);
    size_t len = eq ? (size_t)(eq - item.data) : item.len;
    options[(*n)++] = (pass_option){{item.data, len}, eq ? str_from(item, len + 1) : STR("")};
  }
}

static bool run_list(reader *r);

static bool run_item(reader *r) {
  pass_option options[MAX_OPTIONS];
  size_t n;
  skip_space(r);
  str name = word(r, ",(){ ");
  if (peek(r) == '(') { /* an anchor: passes find the ops they want by themselves */
    if (++r->depth > MAX_DEPTH) return complain(r, "nested too deep");
    r->at++;
    if (!run_list(r)) return false;
    if (peek(r) != ')') return complain(r, "expected ')'");
    r->at++, r->depth--;
    return true;
  }
  if (!read_options(r, options, &n)) return false;
  const pass_info *p = pass_find(r->tables, name);
  if (!p)
    return loc_error(r->m->ctx, NULL,
                     "'" STR_FMT "' does not refer to a registered pass or pass pipeline",
                     STR_ARG(name));
  return pass_run(r->m, p, &(pass_args){options, n, r->tables});
}

static bool run_list(reader *r) {
  for (;;) {
    if (!run_item(r)) return false;
    skip_space(r);
    if (peek(r) != ',') return true;
    r->at++;
  }
}

bool pass_run_text(ir_module *m, str pipeline, const pass_tables *t) {
  reader r = {m, t, pipeline, 0, 0};
  return run_list(&r) && (r.at == pipeline.len || complain(&r, "expected ',' or the end"));
}
