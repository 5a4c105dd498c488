#define _GNU_SOURCE
#include "expect.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

static const char *const kinds[] = {"error", "warning", "remark", "note"};

static bool eat(str *s, const char *word) {
  if (!str_starts(*s, str_of(word))) return false;
  *s = str_from(*s, strlen(word));
  return true;
}

static u32 eat_number(str *s) {
  u32 n = 0;
  while (s->len && *s->data >= '0' && *s->data <= '9' && n < 1000000) {
    n = n * 10 + (u32)(*s->data - '0');
    *s = str_from(*s, 1);
  }
  return n;
}

/* The line that `@...` behind the kind speaks of. `above` and `below` skip lines that only
 * hold expectations, as MLIR's do: they mean the nearest other line. */
static u32 eat_place(str *s, u32 line, u32 above, u32 below) {
  while (eat(s, " ")) {
  }
  if (!eat(s, "@")) return line;
  if (eat(s, "+")) return line + eat_number(s);
  if (eat(s, "-")) {
    u32 n = eat_number(s);
    return n < line ? line - n : 0;
  }
  if (eat(s, "above")) return above;
  if (eat(s, "below")) return below;
  eat(s, "unknown");
  return 0;
}

static const char *find(str s, const char *word) {
  return s.len ? memmem(s.data, s.len, word, strlen(word)) : NULL;
}

static bool is_expectation(str line) { return find(line, "expected-") != NULL; }

static str take_line(str *rest) {
  const char *end = memchr(rest->data, '\n', rest->len);
  size_t n = end ? (size_t)(end - rest->data) : rest->len;
  str line = {rest->data, n};
  *rest = str_from(*rest, end ? n + 1 : n);
  return line;
}

/* The first line after number `line` that holds no expectation. */
static u32 line_below(str rest, u32 line) {
  do {
    line++;
  } while (rest.len && is_expectation(take_line(&rest)));
  return line;
}

static void read_one(expectations *e, str s, u32 line, u32 above, u32 below) {
  expected x = {.at = line};
  size_t k = 0;
  while (k < COUNT(kinds) && !eat(&s, kinds[k])) k++;
  if (k == COUNT(kinds)) return;
  x.kind = (diag_kind)k;
  x.pattern = eat(&s, "-re");
  x.line = eat_place(&s, line, above, below);
  while (eat(&s, " ")) {
  }
  u32 count = s.len && *s.data >= '0' && *s.data <= '9' ? eat_number(&s) : 1;
  while (eat(&s, " ")) {
  }
  if (!eat(&s, "{{")) return;
  /* a pattern holds {{...}} of its own; the text ends with the last }} of the line */
  const char *end = NULL;
  for (str t = s; find(t, "}}"); t = str_from(s, (size_t)(end + 2 - s.data))) {
    end = find(t, "}}");
    if (!x.pattern) break;
  }
  if (!end) return;
  x.text = (str){s.data, (size_t)(end - s.data)};
  for (u32 i = 0; i < count && i < 100; i++) VEC_PUSH(&e->arena, e->list, x);
}

static int by_line(const void *a, const void *b) {
  const expected *x = *(expected *const *)a, *y = *(expected *const *)b;
  return x->line != y->line ? (x->line > y->line) - (x->line < y->line) : (x > y) - (x < y);
}

void expect_read(expectations *e, str file, str source, u32 lines, oom_trap *trap) {
  *e = (expectations){.file = file};
  arena_init(&e->arena, &mem_system, trap);
  u32 above = 0, below = 0;
  for (u32 line = lines + 1; source.len; line++) {
    str s = take_line(&source);
    const char *at = find(s, "expected-");
    if (!at) {
      above = line;
      continue;
    }
    if (below <= line) below = line_below(source, line);
    /* behind code on its line, a comment still speaks of it */
    for (str t = s; (at = find(t, "expected-")); t = str_from(t, (size_t)(at + 9 - t.data)))
      read_one(e, str_from(s, (size_t)(at + 9 - s.data)), line, above, below);
  }
  e->by_line = ARENA_ARRAY(&e->arena, expected *, e->list.len);
  for (size_t i = 0; i < e->list.len; i++) e->by_line[i] = &e->list.data[i];
  if (e->list.len) qsort(e->by_line, e->list.len, sizeof *e->by_line, by_line);
}

/* POSIX pattern of `text` with {{regex}} parts. */
static bool matches_pattern(str pattern, str text) {
  char re[4096], subject[8192];
  size_t n = 0;
  while (pattern.len && n + 8 < sizeof re) {
    const char *end;
    if (eat(&pattern, "{{") && (end = find(pattern, "}}"))) {
      size_t len = (size_t)(end - pattern.data);
      if (n + len + 8 >= sizeof re) return false;
      re[n++] = '(';
      memcpy(re + n, pattern.data, len);
      n += len;
      re[n++] = ')';
      pattern = str_from(pattern, len + 2);
      continue;
    }
    if (strchr("\\^$.|?*+()[]{}", *pattern.data)) re[n++] = '\\';
    re[n++] = *pattern.data;
    pattern = str_from(pattern, 1);
  }
  re[n] = 0;
  size_t len = min_size(text.len, sizeof subject - 1);
  memcpy(subject, text.data, len);
  subject[len] = 0;
  regex_t r;
  if (regcomp(&r, re, REG_EXTENDED | REG_NOSUB) != 0) return false;
  bool ok = regexec(&r, subject, 0, NULL, 0) == 0;
  regfree(&r);
  return ok;
}

static bool matches(const expected *x, diag_kind kind, str text) {
  if (x->kind != kind) return false;
  if (x->pattern) return matches_pattern(x->text, text);
  return x->text.len == 0 || (text.len && memmem(text.data, text.len, x->text.data, x->text.len));
}

void expect_sink(void *user, diag_kind kind, diag_pos pos, str text) {
  expectations *e = user;
  size_t at = 0;
  for (size_t end = e->list.len; at < end;) { /* to the first of the line */
    size_t mid = at + (end - at) / 2;
    if (e->by_line[mid]->line < pos.line)
      at = mid + 1;
    else
      end = mid;
  }
  for (; at < e->list.len && e->by_line[at]->line == pos.line; at++) {
    if (!matches(e->by_line[at], kind, text)) continue;
    e->by_line[at]->met = true; /* and may be again, as in MLIR */
    return;
  }
  if (e->only) return;
  e->wrong++;
  fprintf(stderr, STR_FMT ":%u:%u: error: unexpected %s: " STR_FMT "\n", STR_ARG(e->file), pos.line,
          pos.col, kinds[kind], STR_ARG(text));
}

bool expect_finish(expectations *e) {
  for (size_t i = 0; i < e->list.len; i++) {
    const expected *x = &e->list.data[i];
    if (x->met) continue;
    e->wrong++;
    fprintf(stderr, STR_FMT ":%u: error: expected %s \"" STR_FMT "\" was not produced\n",
            STR_ARG(e->file), x->at, kinds[x->kind], STR_ARG(x->text));
  }
  arena_deinit(&e->arena);
  return e->wrong == 0;
}
