/* Options that say on which mesh something goes; assignment.h has them. */
#include "mpmd/assignment.h"

/* What stands before the next `by`, or all; *rest is what stands behind it. */
static str cut(str text, char by, str *rest, bool *found) {
  const char *at = text.len ? memchr(text.data, by, text.len) : NULL;
  size_t n = at ? (size_t)(at - text.data) : text.len;
  *found = at != NULL;
  *rest = at ? str_from(text, n + 1) : (str){0};
  return (str){text.data, n};
}

static str trim(str s) {
  while (s.len && (s.data[0] == ' ' || s.data[0] == '\t')) s = str_from(s, 1);
  while (s.len && (s.data[s.len - 1] == ' ' || s.data[s.len - 1] == '\t')) s.len--;
  return s;
}

static bool read_i64(str s, i64 *out) {
  bool minus = s.len && s.data[0] == '-';
  i64 v = 0;
  if (minus) s = str_from(s, 1);
  for (size_t i = 0; i < s.len; i++) {
    bool digit = s.data[i] >= '0' && s.data[i] <= '9';
    if (!digit || !checked_mul(v, 10, &v) || !checked_add(v, s.data[i] - '0', &v)) return false;
  }
  *out = minus ? -v : v;
  return s.len != 0;
}

static bool bad(ir_module *m, const char *what, str got) {
  return loc_error(m->ctx, m->root->loc, "%s: " STR_FMT, what, STR_ARG(got));
}

static void put(arena *a, assignment_list *l, assignment x, bool by_index) {
  size_t i = 0;
  while (i < l->len && (by_index ? l->data[i].index != x.index : !str_eq(l->data[i].name, x.name)))
    i++;
  if (i == l->len) VEC_PUSH(a, *l, x);
  l->data[i] = x;
}

/* A comma may follow the last. */
static bool read_all(ir_module *m, arena *a, str text, bool by_index, assignment_list *out) {
  while (text.len) {
    bool found;
    assignment x = {.stage = -1};
    str one = trim(cut(text, ',', &text, &found));
    x.name = cut(one, '@', &x.mesh, &found);
    if (!found) {
      const char *what =
          by_index ? "Assignment must contain '@' denoting a name assigned to a mesh, got"
                   : "Assignment must contain '@' denoting a name assigned to a mesh (and "
                     "stage), got";
      return bad(m, what, one);
    }
    if (by_index && !read_i64(x.name, &x.index)) return bad(m, "Failed to parse index", x.name);
    str stage;
    str mesh = cut(x.mesh, '/', &stage, &found);
    if (!by_index && found) {
      x.mesh = mesh;
      if (!read_i64(stage, &x.stage) || x.stage < 0)
        return bad(m, "Failed to parse stage number", stage);
    }
    put(a, out, x, by_index);
  }
  return true;
}

bool assignments_named(ir_module *m, arena *a, str text, assignment_list *out) {
  return read_all(m, a, text, false, out);
}

bool assignments_indexed(ir_module *m, arena *a, str text, assignment_list *out) {
  if (!read_all(m, a, text, true, out)) return false;
  for (size_t i = 1; i < out->len; i++)
    for (size_t k = i; k && out->data[k].index < out->data[k - 1].index; k--) {
      assignment t = out->data[k];
      out->data[k] = out->data[k - 1];
      out->data[k - 1] = t;
    }
  return true;
}

const assignment *assignment_of(const assignment_list *l, str name) {
  for (size_t i = 0; i < l->len; i++)
    if (str_eq(l->data[i].name, name)) return &l->data[i];
  return NULL;
}

bool equishardings_read(ir_module *m, arena *a, str text, equisharding_list *out) {
  while (text.len) {
    bool found;
    equisharding x;
    str one = trim(cut(text, ',', &text, &found)), output;
    str input = cut(one, ':', &output, &found);
    if (!read_i64(input, &x.input)) return bad(m, "Failed to parse input index", input);
    if (!read_i64(output, &x.output)) return bad(m, "Failed to parse output index", output);
    VEC_PUSH(a, *out, x);
  }
  return true;
}
