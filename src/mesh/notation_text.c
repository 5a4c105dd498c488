/* The cursor, the draft of a sharding, and the checks before writing, for all notations.
 *
 * Blanks are skipped in front of every token. Messages name the notation, what was expected, and
 * the text at hand with its place, so that a long sharding need not be searched. */
#include "mesh/notation_text.h"

#define NOWHERE ((diag_pos){0})

/* ---- the cursor ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }

static void skip_blanks(reader *r) {
  while (r->rest.len && is_blank(*r->rest.data)) r->rest = str_from(r->rest, 1);
}

bool reader_at(reader *r, const char *text) {
  skip_blanks(r);
  return str_starts(r->rest, str_of(text));
}

bool reader_take(reader *r, const char *text) {
  if (!reader_at(r, text)) return false;
  r->rest = str_from(r->rest, strlen(text));
  return true;
}

static bool say(diag_sink *sink, const char *what, const char *fmt, va_list ap) {
  buf b;
  buf_init(&b, &mem_system);
  buf_vprintf(&b, fmt, ap);
  diag_error(sink, NOWHERE, "%s" STR_FMT, what, STR_ARG(buf_view(&b)));
  buf_deinit(&b);
  return false;
}

bool reader_error(reader *r, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  say(r->sink, "", fmt, ap);
  va_end(ap);
  return false;
}

/* At most 40 characters of the rest are shown. */
bool reader_wrong(reader *r, const char *expected) {
  enum { SHOWN = 40 };
  skip_blanks(r);
  size_t at = r->text.len - r->rest.len + 1;
  if (r->rest.len == 0) return reader_error(r, "%s: expected %s, found the end", r->what, expected);
  bool cut = r->rest.len > SHOWN;
  return reader_error(r, "%s: expected %s, found '%.*s%s' (character %zu)", r->what, expected,
                      (int)min_size(r->rest.len, SHOWN), r->rest.data, cut ? "..." : "", at);
}

bool reader_expect(reader *r, const char *text) {
  return reader_take(r, text) || reader_wrong(r, arena_printf(r->a, "'%s'", text).data);
}

bool reader_end(reader *r) {
  skip_blanks(r);
  return r->rest.len == 0 || reader_wrong(r, "the end");
}

/* Decimal digits, at least one, without a sign; `expected` is for the message. */
bool reader_number(reader *r, const char *expected, i64 *out) {
  i64 n = 0;
  size_t digits = 0;
  skip_blanks(r);
  for (; digits < r->rest.len; digits++) {
    char c = r->rest.data[digits];
    if (c < '0' || c > '9') break;
    if (!checked_mul(n, 10, &n) || !checked_add(n, c - '0', &n)) return reader_wrong(r, expected);
  }
  if (digits == 0) return reader_wrong(r, expected);
  r->rest = str_from(r->rest, digits);
  *out = n;
  return true;
}

/* The loop over a list: `for (;;) { if (!reader_item(...)) return false; if (!more) break; ...
 * }`. */
bool reader_item(reader *r, const char *close, bool *first, bool *more) {
  *more = false;
  if (reader_take(r, close)) return true;
  if (!*first) {
    if (!reader_expect(r, ",")) return false;
    if (reader_take(r, close)) return true;
  }
  *first = false;
  *more = true;
  return true;
}

bool reader_numbers(reader *r, const char *close, i64s *out) {
  VEC(i64) v = {0};
  bool first = true, more;
  for (;;) {
    i64 n;
    if (!reader_item(r, close, &first, &more)) return false;
    if (!more) break;
    if (!reader_number(r, "a number", &n)) return false;
    VEC_PUSH(r->a, v, n);
  }
  *out = (i64s){v.data, v.len};
  return true;
}

static int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Behind a backslash: characters used, 0 where it is no escape. */
static size_t read_escape(str rest, bool hex, char *out) {
  static const char from[] = "\\'\"nt", to[] = "\\'\"\n\t";
  if (rest.len == 0) return 0;
  const char *at = memchr(from, *rest.data, sizeof from - 1);
  if (at) return *out = to[at - from], 1;
  if (!hex || rest.len < 2) return 0;
  int high = hex_digit(rest.data[0]), low = hex_digit(rest.data[1]);
  if (high < 0 || low < 0) return 0;
  *out = (char)(high << 4 | low);
  return 2;
}

/* What is read is never longer than the text, which bounds the copy. */
static bool read_quoted(reader *r, bool hex, str *out) {
  char quote = *r->rest.data;
  char *name = arena_alloc(r->a, r->rest.len);
  size_t n = 0;
  str rest = str_from(r->rest, 1);
  for (; rest.len && *rest.data != quote; rest = str_from(rest, 1)) {
    char c = *rest.data;
    if (c == '\n' || c == 0) return reader_wrong(r, "a name in quotes");
    if (c == '\\') {
      size_t used = read_escape(str_from(rest, 1), hex, &c);
      if (!used) return reader_wrong(r, "a name in quotes");
      rest = str_from(rest, used);
    }
    name[n++] = c;
  }
  if (!rest.len) return reader_wrong(r, "a name in quotes");
  if (n == 0) return reader_wrong(r, "a name that is not empty");
  r->rest = str_from(rest, 1);
  *out = (str){name, n};
  return true;
}

bool reader_python_name(reader *r, str *out) {
  if (!reader_at(r, "'") && !reader_at(r, "\"")) return reader_wrong(r, "a name in quotes");
  return read_quoted(r, false, out);
}

bool reader_mlir_name(reader *r, str *out) {
  if (!reader_at(r, "\"")) return reader_wrong(r, "a name in double quotes");
  return read_quoted(r, true, out);
}

/* Letters, digits and _.$-; empty: none is here. */
str reader_word(reader *r) {
  size_t n = 0;
  skip_blanks(r);
  for (; n < r->rest.len; n++) {
    char c = r->rest.data[n];
    bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (!letter && (c == 0 || !strchr("_.$-", c))) break;
  }
  str word = {r->rest.data, n};
  r->rest = str_from(r->rest, n);
  return word;
}

/* ---- the draft ---- */

static bool same_axes(const mesh *a, const mesh *b, bool names) {
  if (a->num_axes != b->num_axes) return false;
  for (u32 k = 0; k < a->num_axes; k++)
    if (a->axes[k].size != b->axes[k].size || (names && !str_eq(a->axes[k].name, b->axes[k].name)))
      return false;
  return true;
}

/* A text that carries its mesh must agree with the one given, where it says as much: XLA has no
 * names, JAX no device ids. */
bool reader_own_mesh(reader *r, const mesh *m, bool has_names, bool has_device_ids) {
  const mesh *given = r->mesh;
  if (!r->mesh_given) return r->mesh = m, true;
  if (same_axes(given, m, has_names) &&
      (!has_device_ids || i64s_eq(given->device_ids, m->device_ids)) &&
      mesh_is_maximal(given) == mesh_is_maximal(m))
    return true;
  buf b;
  buf_init(&b, &mem_system);
  notation_write_mesh(&b, given);
  BUF_LIT(&b, " as it was given, found ");
  notation_write_mesh(&b, m);
  reader_error(r, "mesh: expected " STR_FMT, STR_ARG(buf_view(&b)));
  buf_deinit(&b);
  return false;
}

bool reader_needs_mesh(reader *r) {
  return r->mesh || reader_error(r,
                                 "mesh: expected one beside the text, as %s does not carry it, "
                                 "found none",
                                 r->what);
}

/* By name in the mesh, which must be there already. */
bool reader_axis(reader *r, str name, const char *where, u32 *out) {
  int axis = mesh_axis_find(r->mesh, name);
  *out = (u32)axis;
  return axis >= 0 || reader_error(r, "%s: expected an axis of the mesh, found \"" STR_FMT "\"",
                                   where, STR_ARG(name));
}

bool reader_new_dim(reader *r, u32 *out) {
  if (r->dims.len == NOTATION_MAX_RANK)
    return reader_error(r, "rank: expected at most %d dimensions, found more", NOTATION_MAX_RANK);
  *out = (u32)r->dims.len;
  VEC_PUSH(r->a, r->dims, (dim_draft){.priority = PRIORITY_NONE});
  return true;
}

/* The mesh stays: all shardings of a text are over one. */
void reader_reset(reader *r) {
  r->dims.data = NULL;
  r->dims.len = r->dims.cap = 0;
  r->replicated = r->unreduced = r->manual = (axis_vec){0};
  r->unreduced_kind = UNREDUCED_SUM;
}

/* `pads`: JAX, DTensor and MLIR's shard leave out trailing dimensions that nothing splits; Shardy
 * does not. */
const placement *reader_finish(reader *r, bool pads) {
  u32 dim;
  if (r->rank >= 0 && ((i64)r->dims.len > r->rank || (!pads && (i64)r->dims.len < r->rank))) {
    reader_error(r, "rank: expected %lld dimensions, found %zu", (long long)r->rank, r->dims.len);
    return NULL;
  }
  while ((i64)r->dims.len < r->rank)
    if (!reader_new_dim(r, &dim)) return NULL;
  dim_sharding *dims = ARENA_ARRAY(r->a, dim_sharding, r->dims.len);
  for (size_t d = 0; d < r->dims.len; d++) {
    const dim_draft *from = &r->dims.data[d];
    dims[d] = (dim_sharding){{from->axes.data, from->axes.len}, !from->open, from->priority};
  }
  sharding *s = ARENA_NEW(r->a, sharding);
  *s = (sharding){.mesh = r->mesh,
                  .rank = (u32)r->dims.len,
                  .dims = dims,
                  .replicated = axis_vec_list(&r->replicated),
                  .unreduced = axis_vec_list(&r->unreduced),
                  .unreduced_kind = r->unreduced_kind};
  placement *p = ARENA_NEW(r->a, placement);
  p->sharding = s;
  p->manual = axis_vec_list(&r->manual);
  p->interleaved = r->interleaved;
  return placement_check(p, r->sink) ? p : NULL;
}

/* Tuples do not nest, as in XLA's HLO text, so there is no recursion on input. */
const placement *reader_tuple(reader *r, const char *open, const char *close,
                              const placement *(*one)(reader *r)) {
  VEC(const placement *) v = {0};
  bool first = true, more;
  if (!reader_expect(r, open)) return NULL;
  for (;;) {
    if (!reader_item(r, close, &first, &more)) return NULL;
    if (!more) break;
    reader_reset(r);
    const placement *p = one(r);
    if (!p) return NULL;
    if (p->kind == PLACED_TUPLE) {
      reader_error(r, "%s: expected shardings in the tuple, found a tuple", r->what);
      return NULL;
    }
    VEC_PUSH(r->a, v, p);
  }
  placement *p = ARENA_NEW(r->a, placement);
  *p = (placement){.kind = PLACED_TUPLE, .elements = v.data, .num_elements = v.len};
  return p;
}

/* ---- writing ---- */

bool writer_error(writer *w, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  say(w->sink, "not expressible: ", fmt, ap);
  va_end(ap);
  return false;
}

str writer_axis(writer *w, const placement *p, axis_ref r) {
  const mesh *m = p->sharding->mesh;
  str name = m->axes[r.axis].name;
  if (axis_is_whole(m, r)) return arena_printf(w->a, "\"" STR_FMT "\"", STR_ARG(name));
  return arena_printf(w->a, "\"" STR_FMT "\":(%lld)%lld", STR_ARG(name), (long long)r.pre,
                      (long long)r.size);
}

static bool allows_list(writer *w, const placement *p, axis_list l, const char *where) {
  for (size_t i = 0; i < l.len; i++)
    if (!axis_is_whole(p->sharding->mesh, l.data[i]))
      return writer_error(w, "%s has a part of an axis, " STR_FMT, where,
                          STR_ARG(writer_axis(w, p, l.data[i])));
  return true;
}

/* Notations without parts of axes. */
static bool allows_whole_only(writer *w, const placement *p) {
  const sharding *s = p->sharding;
  for (u32 d = 0; d < s->rank; d++)
    if (s->dims[d].axes.len &&
        !allows_list(w, p, s->dims[d].axes, arena_printf(w->a, "dimension %u", d).data))
      return false;
  return allows_list(w, p, s->replicated, "replicated") &&
         allows_list(w, p, s->unreduced, "unreduced") && allows_list(w, p, p->manual, "manual");
}

static bool allows_open(writer *w, const placement *p, unsigned allowed) {
  const sharding *s = p->sharding;
  bool any = false;
  for (u32 d = 0; d < s->rank; d++) {
    const dim_sharding *x = &s->dims[d];
    any |= !x->closed;
    if (!x->closed && x->axes.len && !(allowed & HAS_OPEN_AXES))
      return writer_error(w, "dimension %u is open, with axes", d);
    if (!x->closed && !(allowed & (HAS_OPEN | HAS_OPEN_AXES)))
      return writer_error(w, "dimension %u is open", d);
    if (x->priority != PRIORITY_NONE && !(allowed & HAS_OPEN_AXES))
      return writer_error(w, "dimension %u has a priority", d);
  }
  /* between closed dimensions nothing could take the axis anyway */
  if (s->replicated.len && any && !(allowed & HAS_OPEN_AXES))
    return writer_error(w, "axis " STR_FMT " is kept replicated while a dimension is open",
                        STR_ARG(writer_axis(w, p, s->replicated.data[0])));
  return true;
}

/* In the order in which the notations differ most; the first thing that cannot be said is the
 * message. */
bool writer_allows(writer *w, const placement *p, unsigned allowed) {
  static const char *const unnamed[] = {
      [PLACED_MANUAL] = "manual", [PLACED_UNREDUCED] = "unreduced", [PLACED_UNKNOWN] = "unknown"};
  static const char *const kinds[] = {"sum", "max", "min", "mul", "and", "or"};
  if (p->kind == PLACED_TUPLE)
    return (allowed & HAS_TUPLE) || writer_error(w, "a tuple of %zu shardings", p->num_elements);
  if (p->kind != PLACED_BY_AXES)
    return (allowed & HAS_UNNAMED) ||
           writer_error(w, "%s over devices that no mesh names", unnamed[p->kind]);
  const sharding *s = p->sharding;
  if (mesh_is_maximal(s->mesh) && !(allowed & HAS_MAXIMAL))
    return writer_error(w, "device %lld alone holds the tensor",
                        (long long)s->mesh->device_ids.data[0]);
  if (s->mesh->device_ids.len && !mesh_is_maximal(s->mesh) && !(allowed & HAS_DEVICE_IDS))
    return writer_error(w, "the mesh has an order of devices of its own, device_ids");
  if (p->interleaved && !(allowed & HAS_INTERLEAVED))
    return writer_error(w, "axis \"interleaved_parallel\" is pieces of one device");
  if (s->unreduced.len && !(allowed & (HAS_UNREDUCED | HAS_UNREDUCED_KIND)))
    return writer_error(w, "axis " STR_FMT " is unreduced",
                        STR_ARG(writer_axis(w, p, s->unreduced.data[0])));
  if (s->unreduced.len && s->unreduced_kind != UNREDUCED_SUM && !(allowed & HAS_UNREDUCED_KIND))
    return writer_error(w, "axis " STR_FMT " is unreduced with %s",
                        STR_ARG(writer_axis(w, p, s->unreduced.data[0])), kinds[s->unreduced_kind]);
  if (p->manual.len && !(allowed & HAS_MANUAL))
    return writer_error(w, "axis " STR_FMT " is manual",
                        STR_ARG(writer_axis(w, p, p->manual.data[0])));
  if (!allows_open(w, p, allowed)) return false;
  return (allowed & HAS_SUB_AXES) || allows_whole_only(w, p);
}

bool writer_tuple(writer *w, const placement *p, const char *open, const char *close,
                  bool (*one)(writer *w, const placement *p)) {
  buf_str(w->out, str_of(open));
  for (size_t i = 0; i < p->num_elements; i++) {
    if (i) BUF_LIT(w->out, ", ");
    if (!one(w, p->elements[i])) return false;
  }
  buf_str(w->out, str_of(close));
  return true;
}

/* Escapes what read_quoted undoes. */
void write_python_name(buf *out, str name, char quote) {
  buf_char(out, quote);
  for (size_t i = 0; i < name.len; i++) {
    char c = name.data[i];
    if (c == quote || c == '\\') buf_char(out, '\\');
    if (c == '\n')
      BUF_LIT(out, "\\n");
    else
      buf_char(out, c);
  }
  buf_char(out, quote);
}

void write_mlir_name(buf *out, str name) {
  buf_char(out, '"');
  for (size_t i = 0; i < name.len; i++) {
    u8 c = (u8)name.data[i];
    if (c == '\\')
      BUF_LIT(out, "\\\\");
    else if (c < 32 || c > 126 || c == '"')
      buf_printf(out, "\\%02X", c);
    else
      buf_char(out, (char)c);
  }
  buf_char(out, '"');
}

void write_numbers(buf *out, const i64 *data, size_t n, const char *between) {
  for (size_t i = 0; i < n && buf_ok(out); i++)
    buf_printf(out, "%s%lld", i ? between : "", (long long)data[i]);
}
