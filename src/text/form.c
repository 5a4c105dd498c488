/* Compiles the form column of ir/ops into steps; form.h has the language.
 *
 * One pass over the text. A form is compiled when its op is first read or printed and kept by the
 * parser or printer, as a file has few kinds of ops. Both directions interpret the same steps, so
 * that what is printed can be read. */
#include "text/form.h"

#include "text/lexer.h"

static const char *const directive_names[DIR_COUNT] = {
#define DIRECTIVE(id) [DIR_##id] = #id,
#include "text/directives.def"
};

typedef struct compiler {
  arena *a;
  const op_info *info;
  const char *p, *end;
  VEC(form_step) steps;
  VEC(form_default) defaults;
  u64 mentioned;
  VEC(size_t) open; /* steps of <? not closed yet */
} compiler;

static bool is_word(char c) { return char_is_alpha(c) || char_is_digit(c) || c == '_'; }

static str word(compiler *c) {
  const char *begin = c->p;
  while (c->p < c->end && is_word(*c->p)) c->p++;
  return (str){begin, (size_t)(c->p - begin)};
}

static int group_of(const value_info *v, u32 n, str name) {
  for (u32 i = 0; i < n; i++)
    if (str_is(name, v[i].name)) return (int)i;
  return -1;
}

/* Sets slot or group; false: the op has neither. */
static bool resolve(compiler *c, str name, form_step *s) {
  s->slot = (i8)op_slot(c->info, name);
  s->group = s->slot >= 0 ? -1 : (i8)group_of(c->info->operands, c->info->num_operands, name);
  if (s->slot >= 0) c->mentioned |= 1ull << s->slot;
  return s->slot >= 0 || s->group >= 0;
}

static form_step step_of(form_kind kind) {
  return (form_step){.kind = (u8)kind, .group = -1, .slot = -1};
}

/* An argument: a slot, an operand group, or (after those) a result group. */
static bool argument(compiler *c, form_step *s, int i) {
  form_step found = step_of(FORM_DIRECTIVE);
  str name = word(c);
  if (resolve(c, name, &found)) {
    s->args[i] = found.slot >= 0 ? found.slot : found.group;
    return true;
  }
  int r = group_of(c->info->results, c->info->num_results, name);
  s->args[i] = (i8)(r + (int)c->info->num_operands);
  return r >= 0;
}

/* name=value after the name of %attrs */
static bool default_value(compiler *c) {
  int slot = op_slot(c->info, word(c));
  if (slot < 0 || c->p == c->end || *c->p++ != '=') return false;
  const char *begin = c->p;
  while (c->p < c->end && *c->p != ',' && *c->p != ')') c->p++;
  VEC_PUSH(c->a, c->defaults, (form_default){(u8)slot, {begin, (size_t)(c->p - begin)}});
  return true;
}

static bool directive_step(compiler *c) {
  str name = word(c);
  form_step s = step_of(FORM_DIRECTIVE);
  for (s.directive = 0; s.directive < DIR_COUNT; s.directive++)
    if (str_is(name, directive_names[s.directive])) break;
  if (s.directive == DIR_COUNT) return false;
  memset(s.args, -1, sizeof s.args);
  if (c->p < c->end && *c->p == '(') {
    int n = 0;
    do {
      c->p++;
      while (c->p < c->end && *c->p == ' ') c->p++;
      if (n == FORM_ARGS) return false;
      if (s.directive == DIR_attrs ? !default_value(c) : !argument(c, &s, n++)) return false;
    } while (c->p < c->end && *c->p == ',');
    if (c->p == c->end || *c->p++ != ')') return false;
  }
  VEC_PUSH(c->a, c->steps, s);
  return true;
}

static bool name_step(compiler *c) {
  form_step s = step_of(FORM_OPERANDS);
  if (!resolve(c, word(c), &s)) return false;
  if (s.slot >= 0) s.kind = FORM_ATTR;
  VEC_PUSH(c->a, c->steps, s);
  return true;
}

static bool if_step(compiler *c) {
  form_step s = step_of(FORM_IF);
  if (!resolve(c, word(c), &s)) return false;
  VEC_PUSH(c->a, c->open, c->steps.len);
  VEC_PUSH(c->a, c->steps, s);
  return true;
}

static bool starts_step(const compiler *c, const char *p) {
  return *p == '$' || *p == '%' || (*p == '<' && p + 1 < c->end && p[1] == '?') ||
         (*p == '?' && p + 1 < c->end && p[1] == '>');
}

static bool step(compiler *c) {
  char ch = *c->p, next = c->p + 1 < c->end ? c->p[1] : 0;
  if (ch == '$') return c->p++, name_step(c);
  if (ch == '%') return c->p++, directive_step(c);
  if (ch == '<' && next == '?') return c->p += 2, if_step(c);
  if (ch == '?' && next == '>') {
    if (c->open.len == 0) return false;
    size_t begin = c->open.data[--c->open.len];
    c->steps.data[begin].skip = (u16)(c->steps.len - begin - 1);
    return c->p += 2, true;
  }
  const char *begin = c->p;
  while (c->p < c->end && !starts_step(c, c->p)) c->p++;
  form_step s = step_of(FORM_TEXT);
  s.text = (str){begin, (size_t)(c->p - begin)};
  VEC_PUSH(c->a, c->steps, s);
  return true;
}

static const form *compile(arena *a, const op_info *info) {
  compiler c = {.a = a, .info = info, .p = info->form, .end = info->form + strlen(info->form)};
  while (c.p < c.end)
    if (!step(&c)) return NULL;
  form *f = ARENA_NEW(a, form);
  *f = (form){c.steps.data, c.steps.len, c.mentioned, c.defaults.data, c.defaults.len};
  return f;
}

typedef struct foreign_form {
  struct foreign_form *next;
  const op_info *info;
  const form *form; /* NULL: it is wrong */
} foreign_form;

static const form *foreign_get(form_cache *c, const op_info *info) {
  struct foreign_form *f = c->foreign;
  while (f && f->info != info) f = f->next;
  if (f) return f->form;
  f = ARENA_NEW(c->a, foreign_form);
  *f = (foreign_form){c->foreign, info, compile(c->a, info)};
  c->foreign = f;
  return f->form;
}

const form *form_get(form_cache *c, const op_info *info) {
  if (!info->form) return NULL;
  if (info->id >= OP_COUNT) return info->hooks ? foreign_get(c, info) : NULL;
  if (!c->of[info->id] && strcmp(info->form, "custom") != 0) c->of[info->id] = compile(c->a, info);
  return c->of[info->id];
}

static bool is_default_accuracy(const attr *a) {
  const result_accuracy_attr *r = attr_as(result_accuracy, a);
  const result_accuracy_mode_attr *mode = r ? attr_as(result_accuracy_mode, r->mode) : NULL;
  return mode && mode->value == 0 && r->atol_bits == 0 && r->rtol_bits == 0 && r->ulps == 0;
}

/* Values are compared as the form's text spells them, since a default may be of any kind. */
bool form_is_default(const form *f, const op_info *info, size_t slot, const attr *a) {
  for (size_t i = 0; i < f->num_defaults; i++) {
    str v = f->defaults[i].value;
    bool flag;
    if (f->defaults[i].slot != slot) continue;
    if (str_is(v, "[]")) return attr_is(array, a) && attr_as(array, a)->elems.len == 0;
    if (str_is(v, "{}")) return attr_is(dict, a) && attr_as(dict, a)->names.len == 0;
    if (str_is(v, "default")) return is_default_accuracy(a);
    if (str_is(v, "true") || str_is(v, "false"))
      return attr_get_bool(a, &flag) && flag == str_is(v, "true");
    i64 got = -1;
    if (!attr_get_i64(a, &got) && info->slots[slot].attr_id >= 0 &&
        a->id == info->slots[slot].attr_id && attr_infos[a->id].cases)
      return str_eq(attr_enum_name(a), v);
    return v.len == 1 && got == v.data[0] - '0';
  }
  return false;
}
