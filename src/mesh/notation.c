#include "mesh/notation.h"

#include "mesh/op_sharding.h"

#define NOWHERE ((diag_pos){0})
enum { MAX_RANK = 1024 };

/* ---- reading ---- */

typedef struct reader {
  arena *a;
  const mesh *mesh;
  str rest;
  diag_sink *sink;
  bool *used; /* an axis each */
  axis_vec dims[MAX_RANK];
  u32 rank;
} reader;

static void skip_blanks(reader *r) {
  while (r->rest.len && (*r->rest.data == ' ' || *r->rest.data == '\t'))
    r->rest = str_from(r->rest, 1);
}

static bool take(reader *r, const char *text) {
  skip_blanks(r);
  if (!str_starts(r->rest, str_of(text))) return false;
  r->rest = str_from(r->rest, strlen(text));
  return true;
}

static bool wrong(reader *r, const char *expected) {
  skip_blanks(r);
  if (r->rest.len == 0) return diag_error(r->sink, NOWHERE, "expected %s, found the end", expected);
  return diag_error(r->sink, NOWHERE, "expected %s, found '" STR_FMT "'", expected,
                    STR_ARG(r->rest));
}

static bool expect(reader *r, const char *text) {
  return take(r, text) || wrong(r, arena_printf(r->a, "'%s'", text).data);
}

/* 'x' or "x" */
static bool read_name(reader *r, str *out) {
  skip_blanks(r);
  char quote = r->rest.len ? *r->rest.data : 0;
  if (quote != '\'' && quote != '"') return wrong(r, "a name in quotes");
  const char *end = memchr(r->rest.data + 1, quote, r->rest.len - 1);
  if (!end) return wrong(r, "the end of a name");
  *out = (str){r->rest.data + 1, (size_t)(end - r->rest.data) - 1};
  r->rest = str_from(r->rest, out->len + 2);
  return true;
}

static bool use_axis(reader *r, u32 axis, u32 dim) {
  if (r->used[axis])
    return diag_error(r->sink, NOWHERE,
                      "dimension %u: expected each axis once, found \"" STR_FMT "\" again", dim,
                      STR_ARG(r->mesh->axes[axis].name));
  r->used[axis] = true;
  VEC_PUSH(r->a, r->dims[dim], axis_whole(r->mesh, axis));
  return true;
}

static bool use_name(reader *r, str name, u32 dim) {
  int axis = mesh_axis_find(r->mesh, name);
  if (axis < 0)
    return diag_error(r->sink, NOWHERE,
                      "dimension %u: expected an axis of the mesh, found \"" STR_FMT "\"", dim,
                      STR_ARG(name));
  return use_axis(r, (u32)axis, dim);
}

/* None, "None" in a layout, a name, or names in parentheses. */
static bool read_dim(reader *r, bool quoted_none) {
  u32 dim = r->rank;
  if (dim == MAX_RANK)
    return diag_error(r->sink, NOWHERE,
                      "expected at most %d dimensions, found "
                      "more",
                      MAX_RANK);
  r->rank++;
  str name;
  if (!quoted_none && take(r, "None")) return true;
  if (!take(r, "(")) {
    if (!read_name(r, &name)) return false;
    return (quoted_none && str_is(name, "None")) || use_name(r, name, dim);
  }
  while (!take(r, ")")) {
    if (!read_name(r, &name) || !use_name(r, name, dim)) return false;
    if (take(r, ")")) break;
    if (!expect(r, ",")) return false;
  }
  return true;
}

static reader *start(arena *a, const mesh *m, str text, diag_sink *sink) {
  reader *r = ARENA_NEW(a, reader);
  r->a = a;
  r->mesh = m;
  r->rest = text;
  r->sink = sink;
  r->used = arena_zalloc(a, m->num_axes);
  return r;
}

static sharding *finish(reader *r, u32 min_rank) {
  skip_blanks(r);
  if (r->rest.len) return wrong(r, "the end"), NULL;
  if (min_rank > MAX_RANK) {
    diag_error(r->sink, NOWHERE, "rank: expected at most %d, found %u", MAX_RANK, min_rank);
    return NULL;
  }
  if (r->rank < min_rank) r->rank = min_rank;
  axis_list *dims = ARENA_ARRAY(r->a, axis_list, r->rank);
  for (u32 d = 0; d < r->rank; d++) dims[d] = axis_vec_list(&r->dims[d]);
  sharding *s = ARENA_NEW(r->a, sharding);
  *s = *sharding_make_closed(r->a, r->mesh, dims, r->rank);
  return s;
}

static const sharding *read_dims(reader *r, bool quoted_none, u32 min_rank) {
  while (!take(r, ")")) {
    if (!read_dim(r, quoted_none)) return NULL;
    if (take(r, ")")) break;
    if (!expect(r, ",")) return NULL;
  }
  return finish(r, min_rank);
}

static const sharding *read_pspec(arena *a, const mesh *m, str text, u32 min_rank,
                                  diag_sink *sink) {
  reader *r = start(a, m, text, sink);
  if (!take(r, "PartitionSpec(") && !expect(r, "P(")) return NULL;
  return read_dims(r, false, min_rank);
}

static const sharding *read_layout(arena *a, const mesh *m, str text, u32 min_rank,
                                   diag_sink *sink) {
  reader *r = start(a, m, text, sink);
  return expect(r, "(") ? read_dims(r, true, min_rank) : NULL;
}

static bool read_placement(reader *r, u32 axis, axis_vec *unreduced) {
  if (take(r, "Replicate()")) return true;
  if (take(r, "Partial()") || take(r, "Partial(sum)")) {
    VEC_PUSH(r->a, *unreduced, axis_whole(r->mesh, axis));
    return true;
  }
  if (!take(r, "Shard(dim=") && !take(r, "Shard("))
    return wrong(r, "Shard(), Replicate() or Partial()");
  u32 dim = 0, digits = 0;
  for (; r->rest.len && *r->rest.data >= '0' && *r->rest.data <= '9' && dim < MAX_RANK; digits++) {
    dim = dim * 10 + (u32)(*r->rest.data - '0');
    r->rest = str_from(r->rest, 1);
  }
  if (digits == 0 || dim >= MAX_RANK) return wrong(r, "a dimension");
  if (r->rank <= dim) r->rank = dim + 1;
  return use_axis(r, axis, dim) && expect(r, ")");
}

static const sharding *read_dtensor(arena *a, const mesh *m, str text, u32 min_rank,
                                    diag_sink *sink) {
  reader *r = start(a, m, text, sink);
  axis_vec unreduced = {0};
  if (!take(r, "(") && !expect(r, "[")) return NULL;
  for (u32 k = 0; k < m->num_axes; k++) {
    if (k && !expect(r, ",")) return NULL;
    if (!read_placement(r, k, &unreduced)) return NULL;
  }
  (void)take(r, ",");
  if (!take(r, ")") && !expect(r, "]")) return NULL;
  sharding *s = finish(r, min_rank);
  if (s) s->unreduced = axis_vec_list(&unreduced);
  return s;
}

/* ---- writing ---- */

static str axis_name(const sharding *s, axis_ref r) { return s->mesh->axes[r.axis].name; }

/* Most notations have words for whole axes only. */
static bool whole_axes(const sharding *s, diag_sink *sink) {
  for (u32 d = 0; d < s->rank; d++)
    for (size_t i = 0; i < s->dims[d].axes.len; i++)
      if (!axis_is_whole(s->mesh, s->dims[d].axes.data[i]))
        return diag_error(sink, NOWHERE,
                          "not expressible: dimension %u has a part of axis \"" STR_FMT "\"", d,
                          STR_ARG(axis_name(s, s->dims[d].axes.data[i])));
  return true;
}

static bool no_unreduced(const sharding *s, diag_sink *sink) {
  if (s->unreduced.len == 0) return true;
  return diag_error(sink, NOWHERE, "not expressible: axis \"" STR_FMT "\" is unreduced",
                    STR_ARG(axis_name(s, s->unreduced.data[0])));
}

static void write_tuples(buf *out, const sharding *s, const char *none, char quote) {
  for (u32 d = 0; d < s->rank; d++) {
    axis_list l = s->dims[d].axes;
    if (d) BUF_LIT(out, ", ");
    if (l.len == 0) buf_str(out, str_of(none));
    if (l.len > 1) buf_char(out, '(');
    for (size_t i = 0; i < l.len; i++)
      buf_printf(out, "%s%c" STR_FMT "%c", i ? ", " : "", quote, STR_ARG(axis_name(s, l.data[i])),
                 quote);
    if (l.len > 1) buf_char(out, ')');
  }
}

static bool write_pspec(arena *a, buf *out, const sharding *s, diag_sink *sink) {
  (void)a;
  if (!whole_axes(s, sink) || !no_unreduced(s, sink)) return false;
  BUF_LIT(out, "P(");
  write_tuples(out, s, "None", '\'');
  buf_char(out, ')');
  return true;
}

static bool write_layout(arena *a, buf *out, const sharding *s, diag_sink *sink) {
  (void)a;
  if (!whole_axes(s, sink) || !no_unreduced(s, sink)) return false;
  if (s->rank == 0)
    return diag_error(sink, NOWHERE, "not expressible: a layout has at least one dimension");
  buf_char(out, '(');
  write_tuples(out, s, "\"None\"", '"');
  buf_str(out, s->rank == 1 ? STR(",)") : STR(")"));
  return true;
}

static bool write_dtensor(arena *a, buf *out, const sharding *s, diag_sink *sink) {
  if (!whole_axes(s, sink)) return false;
  const mesh *m = s->mesh;
  str *words = ARENA_ARRAY(a, str, m->num_axes);
  for (u32 k = 0; k < m->num_axes; k++) words[k] = STR("Replicate()");
  for (u32 d = 0; d < s->rank; d++) {
    axis_list l = s->dims[d].axes;
    for (size_t i = 0; i < l.len; i++) {
      if (i && l.data[i].axis < l.data[i - 1].axis)
        return diag_error(sink, NOWHERE,
                          "not expressible: dimension %u has axis \"" STR_FMT
                          "\" behind a later one of the mesh",
                          d, STR_ARG(axis_name(s, l.data[i])));
      words[l.data[i].axis] = arena_printf(a, "Shard(%u)", d);
    }
  }
  for (size_t i = 0; i < s->unreduced.len; i++) words[s->unreduced.data[i].axis] = STR("Partial()");
  buf_char(out, '[');
  for (u32 k = 0; k < m->num_axes; k++)
    buf_printf(out, "%s" STR_FMT, k ? ", " : "", STR_ARG(words[k]));
  buf_char(out, ']');
  return true;
}

static void write_axes(buf *out, const sharding *s, axis_list l) {
  buf_char(out, '{');
  for (size_t i = 0; i < l.len; i++) {
    axis_ref r = l.data[i];
    buf_printf(out, "%s\"" STR_FMT "\"", i ? ", " : "", STR_ARG(axis_name(s, r)));
    if (!axis_is_whole(s->mesh, r))
      buf_printf(out, ":(%lld)%lld", (long long)r.pre, (long long)r.size);
  }
  buf_char(out, '}');
}

static bool write_sdy(arena *a, buf *out, const sharding *s, diag_sink *sink) {
  (void)a, (void)sink;
  const mesh *m = s->mesh;
  BUF_LIT(out, "#sdy.sharding<mesh<[");
  for (u32 k = 0; k < m->num_axes; k++)
    buf_printf(out, "%s\"" STR_FMT "\"=%lld", k ? ", " : "", STR_ARG(m->axes[k].name),
               (long long)m->axes[k].size);
  BUF_LIT(out, "]>, [");
  for (u32 d = 0; d < s->rank; d++) {
    if (d) BUF_LIT(out, ", ");
    write_axes(out, s, s->dims[d].axes);
  }
  buf_char(out, ']');
  if (s->unreduced.len) {
    BUF_LIT(out, ", unreduced=");
    write_axes(out, s, s->unreduced);
  }
  buf_char(out, '>');
  return true;
}

static bool write_xla(arena *a, buf *out, const sharding *s, diag_sink *sink) {
  (void)sink;
  tile_assignment t;
  /* axes of size 1 split nothing, which XLA has a word for */
  bool plain = sharding_num_shards(s) == 1 && s->unreduced.len == 0;
  sharding_tile(a, plain ? NULL : s, &t);
  op_sharding_print(out, &t);
  return true;
}

/* ---- the table ---- */

const notation notations[] = {
    {"pspec", read_pspec, write_pspec},
    {"dtensor", read_dtensor, write_dtensor},
    {"layout", read_layout, write_layout},
    {"sdy", NULL, write_sdy},
    {"xla", NULL, write_xla},
};
const size_t num_notations = COUNT(notations);

const notation *notation_find(str name) {
  for (size_t i = 0; i < COUNT(notations); i++)
    if (str_is(name, notations[i].name)) return &notations[i];
  return NULL;
}

/* The size of an axis; 0: none. */
static i64 read_size(str text) {
  i64 size = 0;
  for (size_t i = 0; i < text.len; i++) {
    char c = text.data[i];
    if (c < '0' || c > '9' || !checked_mul(size, 10, &size) || !checked_add(size, c - '0', &size))
      return 0;
  }
  return size;
}

const mesh *notation_read_mesh(arena *a, str text, diag_sink *sink) {
  VEC(mesh_axis) axes = {0};
  for (str rest = text; rest.len;) {
    const char *comma = memchr(rest.data, ',', rest.len);
    str item = {rest.data, comma ? (size_t)(comma - rest.data) : rest.len};
    rest = str_from(rest, item.len + (comma != NULL));
    const char *eq = memchr(item.data, '=', item.len);
    str name = {item.data, eq ? (size_t)(eq - item.data) : 0};
    i64 size = eq ? read_size(str_from(item, name.len + 1)) : 0;
    bool again = axes.len >= MAX_RANK;
    for (size_t i = 0; i < axes.len; i++) again = again || str_eq(axes.data[i].name, name);
    if (name.len == 0 || size < 1 || again) {
      diag_error(sink, NOWHERE, "mesh: expected different axes such as x=2, found '" STR_FMT "'",
                 STR_ARG(item));
      return NULL;
    }
    VEC_PUSH(a, axes, (mesh_axis){name, size});
  }
  const mesh *m = mesh_make(a, STR(""), axes.data, axes.len, (i64s){0});
  if (!m) diag_error(sink, NOWHERE, "mesh: expected fewer than 2^63 devices, found more");
  return m;
}
