/* Which ops propagate in which round, from a text that the user gives (op_priorities.h).
 *
 * A line is a group: names of ops with directions, comments from # on. Read once when set and then
 * asked for each op and round by propagation. Kept in the context's arena; what an earlier text
 * left is not freed before the context. */
#include "shard/op_priorities.h"

typedef struct entry {
  str name; /* "elementwise", "stablehlo.add", "mine.*" */
  u8 direction;
} entry;

typedef struct group {
  VEC(entry) entries;
} group;

struct op_priorities {
  VEC(group) groups;
};

typedef struct reader {
  ir_ctx *c;
  arena *a;
  str file, text;
  size_t at;
  u32 line, col;
} reader;

static bool complain(reader *r, u32 col, const char *fmt, str word) {
  diag_pos pos = {r->file, r->line, col};
  return diag_error(ir_sink(r->c), pos, fmt, STR_ARG(word));
}

/* dialect.op or dialect.*; further dots may be in the op's name. */
static bool is_name(str s) {
  static const char *const letters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_$-";
  const char *dot = memchr(s.data, '.', s.len);
  if (!dot || dot == s.data || dot == s.data + s.len - 1) return false;
  for (size_t i = 0; i < s.len; i++) {
    char c = s.data[i];
    bool star = c == '*' && i + 1 == s.len && s.data[i - 1] == '.';
    if (c != '.' && !star && !memchr(letters, c, strlen(letters))) return false;
  }
  return true;
}

/* A pattern may be for a dialect that is not loaded; a name must exist, since it is likely a
 * slip. */
static bool known(reader *r, str name) {
  if (name.data[name.len - 1] == '*') return true;
  return ir_op_info_find(r->c, name) != NULL;
}

static bool read_entry(reader *r, str word, u32 col, entry *out) {
  const char *colon = memchr(word.data, ':', word.len);
  str name = colon ? (str){word.data, (size_t)(colon - word.data)} : word;
  str direction = colon ? str_from(word, name.len + 1) : STR("both");
  u32 at = col + (u32)name.len + 1;
  *out = (entry){arena_str(r->a, name), DIR_BOTH};
  if (str_is(direction, "forward"))
    out->direction = DIR_FORWARD;
  else if (str_is(direction, "backward"))
    out->direction = DIR_BACKWARD;
  else if (!str_is(direction, "both"))
    return complain(r, at, "expected forward, backward or both behind ':', found '" STR_FMT "'",
                    direction);
  if (str_is(name, "elementwise")) return true;
  if (!is_name(name))
    return complain(r, col, "expected dialect.op, dialect.* or elementwise, found '" STR_FMT "'",
                    name);
  return known(r, name) ||
         complain(r, col, "there is no op '" STR_FMT "'; its dialect may not be loaded", name);
}

static bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

static bool read_line(reader *r, str line, group *g) {
  for (size_t i = 0; i < line.len;) {
    if (is_space(line.data[i])) {
      i++;
      continue;
    }
    if (line.data[i] == '#') break;
    size_t begin = i;
    while (i < line.len && !is_space(line.data[i]) && line.data[i] != '#') i++;
    entry e;
    if (!read_entry(r, (str){line.data + begin, i - begin}, (u32)begin + 1, &e)) return false;
    VEC_PUSH(r->a, g->entries, e);
  }
  return true;
}

/* On failure the groups stay as they were: the list is set last. */
bool op_priorities_set(ir_ctx *c, str file, str text) {
  enum { MAX_GROUPS = 64 }; /* a round costs a visit of all ops */
  reader r = {.c = c, .a = ir_arena(c), .file = file, .text = text};
  op_priorities *p = ARENA_NEW(r.a, op_priorities);
  while (r.at < text.len) {
    str rest = str_from(text, r.at);
    const char *eol = memchr(rest.data, '\n', rest.len);
    str line = {rest.data, eol ? (size_t)(eol - rest.data) : rest.len};
    group g = {0};
    r.line++;
    r.at += line.len + 1;
    if (!read_line(&r, line, &g)) return false;
    if (g.entries.len && p->groups.len == MAX_GROUPS)
      return complain(&r, 1, "there are more groups than 64" STR_FMT, STR(""));
    if (g.entries.len) VEC_PUSH(r.a, p->groups, g);
  }
  ir_set_op_priorities(c, p->groups.len ? p : NULL);
  return true;
}

const op_priorities *op_priorities_of(const ir_ctx *c) { return ir_op_priorities(c); }

int op_priorities_rounds(const op_priorities *p) { return (int)p->groups.len + 1; }

static bool matches(str pattern, str name, bool elementwise) {
  if (str_is(pattern, "elementwise")) return elementwise;
  if (pattern.data[pattern.len - 1] != '*') return str_eq(pattern, name);
  return str_starts(name, (str){pattern.data, pattern.len - 1});
}

/* Rounds add up, as in Shardy; the last has every op. */
direction op_priorities_direction(const op_priorities *p, const op *o, bool elementwise,
                                  int round) {
  direction d = DIR_NONE;
  if (round >= (int)p->groups.len) return DIR_BOTH;
  for (int i = 0; i <= round; i++) {
    const group *g = &p->groups.data[i];
    for (size_t k = 0; k < g->entries.len; k++)
      if (matches(g->entries.data[k].name, o->info->name, elementwise))
        d = direction_union(d, (direction)g->entries.data[k].direction);
  }
  return d;
}
