#include "args.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

#include "base/spelling.h"

/* One call of read_options. */
typedef struct reading {
  const char *command;
  const option_row *rows;
  size_t num_rows;
  char *options;
  int argc, at;
  char **argv;
} reading;

/* `-` is standard input or output, and numbers may be negative. */
static bool is_option(const char *a) {
  return a[0] == '-' && (a[1] == '-' || isalpha((unsigned char)a[1]));
}

static bool is_named(const option_row *row, str name) {
  return row->name && str_eq(str_of(row->name), name);
}

static bool unknown(const reading *r, str name) {
  spelling s = {.wanted = name};
  for (size_t k = 0; k < r->num_rows; k++)
    if (r->rows[k].name) spelling_try(&s, str_of(r->rows[k].name));
  return say_error("%s: unknown option '" STR_FMT "'%s (terrazzo %s --help lists them)", r->command,
                   STR_ARG(name), spelling_say(&s).text, r->command),
         false;
}

static bool add_text(const reading *r, option_texts *to, const char *text) {
  if (!to->data) to->data = calloc((size_t)r->argc + 1, sizeof *to->data);
  if (!to->data) return say_error("out of memory"), false;
  to->data[to->len++] = text;
  return true;
}

static bool set_flag(const reading *r, const option_row *row, const char *value) {
  bool on = !value || strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
  if (!on && strcmp(value, "false") != 0 && strcmp(value, "0") != 0)
    return say_error("%s: %s: expected true or false, found '%s'", r->command, row->name, value),
           false;
  *(bool *)(void *)(r->options + row->field) = on;
  return true;
}

static bool set_number(const reading *r, const option_row *row, const char *value) {
  char *end;
  errno = 0;
  unsigned long v = strtoul(value, &end, 10);
  if (!isdigit((unsigned char)*value) || *end || errno || v < row->least || v > row->most)
    return say_error("%s: %s: expected a number from %u to %u, found '%s'", r->command, row->name,
                     row->least, row->most, value),
           false;
  *(u32 *)(void *)(r->options + row->field) = (u32)v;
  return true;
}

/* `value` is what is behind the `=`, or NULL. */
static bool set_option(reading *r, const option_row *row, const char *value) {
  void *field = r->options + row->field;
  if (row->kind == OPTION_FLAG) return set_flag(r, row, value);
  if (row->kind == OPTION_MANY && !value) {
    while (r->at + 1 < r->argc && !is_option(r->argv[r->at + 1]))
      if (!add_text(r, field, r->argv[++r->at])) return false;
    return true;
  }
  if (!value && r->at + 1 == r->argc)
    return say_error("%s: %s wants a value", r->command, row->name), false;
  if (!value) value = r->argv[++r->at];
  if (row->kind == OPTION_NUMBER) return set_number(r, row, value);
  if (row->kind == OPTION_TEXTS || row->kind == OPTION_MANY) return add_text(r, field, value);
  *(const char **)field = value;
  return true;
}

static bool take_rest(const reading *r, const char **rest) {
  const char *a = r->argv[r->at];
  for (size_t k = 0; k < r->num_rows; k++)
    if (!r->rows[k].name)
      return add_text(r, (option_texts *)(void *)(r->options + r->rows[k].field), a);
  if (!rest) return say_error("%s: unknown argument '%s'", r->command, a), false;
  if (*rest)
    return say_error("%s: expected one argument, found '%s' and '%s'", r->command, *rest, a), false;
  return *rest = a, true;
}

bool read_options(const char *command, const option_row *rows, size_t num_rows, void *options,
                  const char **rest, int argc, char **argv) {
  reading r = {command, rows, num_rows, options, argc, 1, argv};
  for (; r.at < argc; r.at++) {
    str name = str_of(argv[r.at]);
    const char *eq = memchr(name.data, '=', name.len);
    size_t k = 0;
    if (!is_option(name.data)) {
      if (!take_rest(&r, rest)) return false;
      continue;
    }
    if (eq) name.len = (size_t)(eq - name.data);
    while (k < num_rows && !is_named(&rows[k], name)) k++;
    if (k == num_rows) return unknown(&r, name);
    if (!set_option(&r, &rows[k], eq ? eq + 1 : NULL)) return false;
  }
  return true;
}

void release_options(const option_row *rows, size_t num_rows, void *options) {
  for (size_t k = 0; k < num_rows; k++)
    if (rows[k].kind == OPTION_TEXTS || rows[k].kind == OPTION_MANY)
      free(((option_texts *)(void *)((char *)options + rows[k].field))->data);
}

bool wants_help(int argc, char **argv) {
  for (int i = 1; i < argc; i++)
    if (strcmp(argv[i], "--help") == 0 || strcmp(argv[i], "-h") == 0) return true;
  return false;
}
