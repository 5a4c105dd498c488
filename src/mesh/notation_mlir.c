/* MLIR's notations: Shardy's attribute, and the shard dialect.
 *
 * notation.c calls read_* and write_* by name of the notation; a reader gathers in `reader` (mesh,
 * dimensions, axes) what reader_finish makes a placement of, a writer refuses by writer_allows what
 * its notation cannot say. Grammar: shardy attrs.td and MLIR's Dialect/Shard. Unlike
 * text/sdy_parse.c this reads a string alone, without a module. */
#include "mesh/notation_text.h"

#include <stdlib.h>

static int compare_i64(const void *a, const void *b) {
  i64 x = *(const i64 *)a, y = *(const i64 *)b;
  return (x > y) - (x < y);
}

/* ---- meshes ---- */

/* NULL: said so. Ids are different and, for `size` of them, as many; ids that are the usual ones
 * are dropped, so that equal meshes are equal. */
static const mesh *checked_mesh(reader *r, str name, const mesh_axis *axes, size_t n, i64s ids) {
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < i; k++)
      if (str_eq(axes[i].name, axes[k].name))
        return reader_error(r, "mesh: expected different axes, found \"" STR_FMT "\" again",
                            STR_ARG(axes[i].name)),
               NULL;
  const mesh *m = mesh_make(r->a, name, axes, n, ids);
  if (!m)
    return reader_error(r, "mesh: expected sizes of at least 1 and fewer than 2^63 devices, "
                           "found others"),
           NULL;
  if (ids.len == 0) return m;
  if ((i64)ids.len != m->size)
    return reader_error(r, "device_ids: expected %lld, found %zu", (long long)m->size, ids.len),
           NULL;
  i64 *sorted = arena_copy(r->a, ids.data, ids.len * sizeof *sorted);
  qsort(sorted, ids.len, sizeof *sorted, compare_i64);
  for (size_t i = 1; i < ids.len; i++)
    if (sorted[i] == sorted[i - 1])
      return reader_error(r, "device_ids: expected different devices, found %lld again",
                          (long long)sorted[i]),
             NULL;
  bool plain = n > 0;
  for (size_t i = 0; i < ids.len && plain; i++) plain = ids.data[i] == (i64)i;
  return plain ? mesh_make(r->a, name, axes, n, (i64s){0}) : m;
}

/* ["x"=2, "y"=4] */
static bool read_axes_sizes(reader *r, mesh_axis **axes, size_t *n) {
  VEC(mesh_axis) v = {0};
  bool first = true, more;
  if (!reader_expect(r, "[")) return false;
  for (;;) {
    mesh_axis x;
    if (!reader_item(r, "]", &first, &more)) return false;
    if (!more) break;
    if (!reader_mlir_name(r, &x.name) || !reader_expect(r, "=") ||
        !reader_number(r, "a size", &x.size))
      return false;
    if (v.len == NOTATION_MAX_RANK)
      return reader_error(r, "mesh: expected at most %d axes, found more", NOTATION_MAX_RANK);
    VEC_PUSH(r->a, v, x);
  }
  *axes = v.data;
  *n = v.len;
  return true;
}

/* <["x"=2], device_ids=[...]> */
static bool read_mesh_body(reader *r, str name, const mesh **out) {
  mesh_axis *axes = NULL;
  size_t n = 0;
  i64s ids = {0};
  if (!reader_expect(r, "<") || !read_axes_sizes(r, &axes, &n)) return false;
  if (reader_take(r, ",") && (!reader_expect(r, "device_ids") || !reader_expect(r, "=") ||
                              !reader_expect(r, "[") || !reader_numbers(r, "]", &ids)))
    return false;
  return reader_expect(r, ">") && (*out = checked_mesh(r, name, axes, n, ids));
}

bool read_mlir_mesh(reader *r, const mesh **out) { return read_mesh_body(r, STR(""), out); }

void write_mlir_mesh(buf *out, const mesh *m) {
  BUF_LIT(out, "<[");
  for (u32 k = 0; k < m->num_axes; k++) {
    if (k) BUF_LIT(out, ", ");
    write_mlir_name(out, m->axes[k].name);
    buf_printf(out, "=%lld", (long long)m->axes[k].size);
  }
  buf_char(out, ']');
  if (m->device_ids.len) {
    BUF_LIT(out, ", device_ids=[");
    write_numbers(out, m->device_ids.data, m->device_ids.len, ", ");
    buf_char(out, ']');
  }
  buf_char(out, '>');
}

/* x=2,y=4 */
static bool read_plain_axes(reader *r, mesh_axis **axes, size_t *n) {
  VEC(mesh_axis) v = {0};
  do {
    mesh_axis x = {.name = reader_word(r)};
    if (!reader_take(r, "=")) {
      i64 size;
      str digits = x.name;
      reader number = *r;
      number.rest = number.text = digits;
      /* sizes alone: axes without names */
      if (!digits.len) return reader_wrong(r, "an axis such as x=2");
      if (!reader_number(&number, "an axis such as x=2", &size)) return false;
      if (number.rest.len) return reader_wrong(&number, "an axis such as x=2");
      x = (mesh_axis){arena_printf(r->a, "_axis_%zu", v.len), size};
    } else if (!x.name.len || !reader_number(r, "the size of an axis", &x.size)) {
      return x.name.len ? false : reader_wrong(r, "an axis such as x=2");
    }
    if (v.len == NOTATION_MAX_RANK)
      return reader_error(r, "mesh: expected at most %d axes, found more", NOTATION_MAX_RANK);
    VEC_PUSH(r->a, v, x);
  } while (reader_take(r, ","));
  *axes = v.data;
  *n = v.len;
  return true;
}

const mesh *notation_read_mesh(arena *a, str text, diag_sink *sink) {
  reader r = {.a = a, .sink = sink, .what = "mesh", .text = text, .rest = text};
  const mesh *m = NULL;
  if (reader_take(&r, "mesh<") || reader_take(&r, "<")) {
    r.rest = (str){r.rest.data - 1, r.rest.len + 1};
    return read_mlir_mesh(&r, &m) && reader_end(&r) ? m : NULL;
  }
  mesh_axis *axes = NULL;
  size_t n = 0;
  i64s ids = {0};
  if (!read_plain_axes(&r, &axes, &n)) return NULL;
  if (reader_take(&r, "device_ids") &&
      (!reader_expect(&r, "=") || !reader_expect(&r, "[") || !reader_numbers(&r, "]", &ids)))
    return NULL;
  return reader_end(&r) ? checked_mesh(&r, STR(""), axes, n, ids) : NULL;
}

static bool is_plain_name(str name) {
  reader r = {.text = name, .rest = name};
  return reader_word(&r).len == name.len && name.len > 0;
}

/* The short form where all names are words, which notation_read_mesh reads back. */
void notation_write_mesh(buf *out, const mesh *m) {
  bool plain = m->num_axes > 0;
  for (u32 k = 0; k < m->num_axes && plain; k++) plain = is_plain_name(m->axes[k].name);
  if (!plain) {
    write_mlir_mesh(out, m);
    return;
  }
  for (u32 k = 0; k < m->num_axes; k++)
    buf_printf(out, "%s" STR_FMT "=%lld", k ? "," : "", STR_ARG(m->axes[k].name),
               (long long)m->axes[k].size);
  if (m->device_ids.len) {
    BUF_LIT(out, " device_ids=[");
    write_numbers(out, m->device_ids.data, m->device_ids.len, ",");
    buf_char(out, ']');
  }
}

/* mesh or "odd mesh", behind an @ */
static bool read_symbol(reader *r, str *out) {
  if (reader_at(r, "\"")) return reader_mlir_name(r, out);
  *out = reader_word(r);
  return out->len || reader_wrong(r, "a name");
}

/* ---- #sdy.sharding ---- */

static const char *const reductions[] = {"sum", "max", "min", "mul", "and", "or"};

/* "x" or "x":(1)2; `where` for messages. */
static bool read_ref(reader *r, const char *where, axis_ref *out) {
  str name;
  u32 axis;
  if (!reader_mlir_name(r, &name) || !reader_axis(r, name, where, &axis)) return false;
  *out = axis_whole(r->mesh, axis);
  if (!reader_take(r, ":")) return true;
  i64 full = out->size, next;
  if (!reader_expect(r, "(") || !reader_number(r, "a pre-size", &out->pre) ||
      !reader_expect(r, ")") || !reader_number(r, "a size", &out->size))
    return false;
  bool divides = out->pre >= 1 && out->size >= 2 && checked_mul(out->pre, out->size, &next) &&
                 full % next == 0;
  if (divides && out->size != full) return true;
  return reader_error(r,
                      "%s: expected a true part of axis \"" STR_FMT "\" of size %lld, found "
                      "(%lld)%lld",
                      where, STR_ARG(name), (long long)full, (long long)out->pre,
                      (long long)out->size);
}

/* Canonical forms only, as Shardy demands: parts that could be one must be one. */
static bool push_ref(reader *r, const char *where, axis_vec *v, axis_ref ref) {
  if (v->len && axis_can_merge(v->data[v->len - 1], ref) && !axis_is_whole(r->mesh, ref))
    return reader_error(r,
                        "%s: expected neighbouring parts of an axis as one, found \"" STR_FMT
                        "\":(%lld)%lld after its major part",
                        where, STR_ARG(r->mesh->axes[ref.axis].name), (long long)ref.pre,
                        (long long)ref.size);
  VEC_PUSH(r->a, *v, ref);
  return true;
}

/* {"x", "y":(1)2, ?}p0 */
static bool read_sdy_dim(reader *r) {
  u32 d;
  bool first = true, more;
  if (!reader_expect(r, "{") || !reader_new_dim(r, &d)) return false;
  const char *where = arena_printf(r->a, "dimension %u", d).data;
  for (;;) {
    axis_ref ref;
    if (!reader_item(r, "}", &first, &more)) return false;
    if (!more) break;
    if (reader_take(r, "?")) {
      r->dims.data[d].open = true;
      if (!reader_expect(r, "}")) return false;
      break;
    }
    if (!read_ref(r, where, &ref) || !push_ref(r, where, &r->dims.data[d].axes, ref)) return false;
  }
  if (!reader_take(r, "p")) return true;
  if (!r->dims.data[d].open && r->dims.data[d].axes.len == 0)
    return reader_error(r, "%s: expected axes or ? before a priority, found none", where);
  return reader_number(r, "a priority", &r->dims.data[d].priority);
}

static bool read_ref_list(reader *r, const char *where, axis_vec *out) {
  bool first = true, more;
  if (!reader_expect(r, "{")) return false;
  for (;;) {
    axis_ref ref;
    if (!reader_item(r, "}", &first, &more)) return false;
    if (!more) break;
    if (!read_ref(r, where, &ref) || !push_ref(r, where, out, ref)) return false;
    if (out->len > 1 && axis_cmp(out->data[out->len - 2], ref) > 0)
      return reader_error(
          r, "%s: expected axes in the order of the mesh, found \"" STR_FMT "\" behind a later one",
          where, STR_ARG(r->mesh->axes[ref.axis].name));
  }
  return true;
}

static bool read_unreduced(reader *r) {
  if (!reader_at(r, "{")) {
    str word = reader_word(r);
    size_t k = 0;
    while (k < COUNT(reductions) && !str_is(word, reductions[k])) k++;
    if (k == COUNT(reductions))
      return reader_error(r,
                          "unreduced: expected sum, max, min, mul, and or or, found '" STR_FMT "'",
                          STR_ARG(word));
    r->unreduced_kind = (unreduced_kind)k;
  }
  return read_ref_list(r, "unreduced", &r->unreduced);
}

/* @mesh, of a line before or of the mesh that was given; or mesh<...> */
static bool read_mesh_use(reader *r) {
  const mesh *m = NULL;
  if (!reader_take(r, "@")) {
    if (!reader_expect(r, "mesh")) return false;
    return read_mlir_mesh(r, &m) && reader_own_mesh(r, m, true, true);
  }
  str name;
  if (!read_symbol(r, &name)) return false;
  if (r->mesh && (r->mesh_given || str_eq(r->mesh->name, name))) return true;
  return reader_error(r,
                      "mesh: expected a line that defines @" STR_FMT ", or a mesh beside the "
                      "text, found none",
                      STR_ARG(name));
}

/* <@mesh, [...], ...> */
static const placement *read_sdy_body(reader *r) {
  bool first = true, more;
  if (!reader_expect(r, "<") || !read_mesh_use(r) || !reader_expect(r, ",") ||
      !reader_expect(r, "["))
    return NULL;
  for (;;) {
    if (!reader_item(r, "]", &first, &more)) return NULL;
    if (!more) break;
    if (!read_sdy_dim(r)) return NULL;
  }
  while (reader_take(r, ",")) {
    if (reader_take(r, "replicated")) {
      if (!reader_expect(r, "=") || !read_ref_list(r, "replicated", &r->replicated)) return NULL;
    } else if (!reader_expect(r, "unreduced") || !reader_expect(r, "=") || !read_unreduced(r)) {
      return NULL;
    }
  }
  if (!reader_expect(r, ">")) return NULL;
  if (mesh_is_maximal(r->mesh)) r->rank = NOTATION_ANY_RANK; /* one device: of any rank */
  const placement *p = reader_finish(r, false);
  if (p && mesh_is_maximal(r->mesh) && p->sharding->rank)
    return reader_error(r, "rank: expected no dimensions with a maximal mesh, found %u",
                        p->sharding->rank),
           NULL;
  return p;
}

/* sdy.mesh @mesh = <...> */
static bool read_mesh_lines(reader *r) {
  while (reader_take(r, "sdy.mesh")) {
    const mesh *m = NULL;
    str name = {0};
    if (!reader_expect(r, "@") || !read_symbol(r, &name) || !reader_expect(r, "=") ||
        !read_mesh_body(r, name, &m) || !reader_own_mesh(r, m, true, true))
      return false;
  }
  return true;
}

/* An attribute as in a module: with or without `sdy.sharding =`, of one value or per value, behind
 * the lines that define its meshes. */
const placement *read_sdy(reader *r) {
  const placement *p;
  if (!read_mesh_lines(r)) return NULL;
  (void)reader_take(r, "sdy.sharding = ");
  if (reader_take(r, "#sdy.sharding_per_value"))
    p = reader_expect(r, "<") ? reader_tuple(r, "[", "]", read_sdy_body) : NULL;
  else
    return reader_take(r, "#sdy.sharding") || reader_at(r, "<")
               ? read_sdy_body(r)
               : (reader_wrong(r, "#sdy.sharding<"), NULL);
  return p && reader_expect(r, ">") ? p : NULL;
}

static void write_refs(writer *w, const mesh *m, axis_list l, bool open) {
  buf_char(w->out, '{');
  for (size_t i = 0; i < l.len; i++) {
    axis_ref r = l.data[i];
    if (i) BUF_LIT(w->out, ", ");
    write_mlir_name(w->out, m->axes[r.axis].name);
    if (!axis_is_whole(m, r))
      buf_printf(w->out, ":(%lld)%lld", (long long)r.pre, (long long)r.size);
  }
  if (open) buf_str(w->out, l.len ? STR(", ?") : STR("?"));
  buf_char(w->out, '}');
}

/* A mesh of its own name is written as a line before, else inline. */
static bool write_sdy_body(writer *w, const placement *p) {
  const unsigned all = HAS_OPEN | HAS_OPEN_AXES | HAS_SUB_AXES | HAS_UNREDUCED |
                       HAS_UNREDUCED_KIND | HAS_DEVICE_IDS | HAS_MAXIMAL;
  if (!writer_allows(w, p, all)) return false;
  const sharding *s = p->sharding;
  i64s ids = s->mesh->device_ids;
  for (size_t i = 0; i < ids.len && s->mesh->num_axes; i++)
    if (ids.data[i] >= s->mesh->size)
      return writer_error(w, "device %lld of a mesh of %lld", (long long)ids.data[i],
                          (long long)s->mesh->size);
  BUF_LIT(w->out, "<");
  if (s->mesh->name.len) {
    buf_printf(w->out, "@" STR_FMT, STR_ARG(s->mesh->name));
  } else {
    BUF_LIT(w->out, "mesh");
    write_mlir_mesh(w->out, s->mesh);
  }
  BUF_LIT(w->out, ", [");
  for (u32 d = 0; d < s->rank; d++) {
    if (d) BUF_LIT(w->out, ", ");
    write_refs(w, s->mesh, s->dims[d].axes, !s->dims[d].closed);
    if (s->dims[d].priority != PRIORITY_NONE)
      buf_printf(w->out, "p%lld", (long long)s->dims[d].priority);
  }
  buf_char(w->out, ']');
  if (s->replicated.len) {
    BUF_LIT(w->out, ", replicated=");
    write_refs(w, s->mesh, s->replicated, false);
  }
  if (s->unreduced.len) {
    BUF_LIT(w->out, ", unreduced=");
    if (s->unreduced_kind != UNREDUCED_SUM) buf_str(w->out, str_of(reductions[s->unreduced_kind]));
    write_refs(w, s->mesh, s->unreduced, false);
  }
  buf_char(w->out, '>');
  return true;
}

bool write_sdy(writer *w, const placement *p) {
  const placement *first = p->kind != PLACED_TUPLE ? p : p->num_elements ? p->elements[0] : NULL;
  if (first && first->sharding && first->sharding->mesh->name.len) {
    buf_printf(w->out, "sdy.mesh @" STR_FMT " = ", STR_ARG(first->sharding->mesh->name));
    write_mlir_mesh(w->out, first->sharding->mesh);
    buf_char(w->out, '\n');
  }
  if (p->kind == PLACED_TUPLE)
    return writer_tuple(w, p, "#sdy.sharding_per_value<[", "]>", write_sdy_body);
  BUF_LIT(w->out, "#sdy.sharding");
  return write_sdy_body(w, p);
}

/* ---- the shard dialect ---- */

/* 2x4 */
static bool read_grid_shape(reader *r, const mesh **out) {
  VEC(mesh_axis) axes = {0};
  for (;;) {
    mesh_axis x;
    if (reader_at(r, "?")) return reader_wrong(r, "a size that is known");
    if (!reader_number(r, "a size", &x.size)) return false;
    if (axes.len == NOTATION_MAX_RANK)
      return reader_error(r, "mesh: expected at most %d axes, found more", NOTATION_MAX_RANK);
    x.name = arena_printf(r->a, "_axis_%zu", axes.len);
    VEC_PUSH(r->a, axes, x);
    if (!reader_take(r, "x")) break;
  }
  return (*out = checked_mesh(r, STR(""), axes.data, axes.len, (i64s){0})) != NULL;
}

static bool read_grid_line(reader *r) {
  const mesh *m = NULL;
  if (!reader_take(r, "shard.grid") && !reader_take(r, "mesh.mesh")) return true;
  (void)reader_take(r, "\"private\"");
  str name;
  if (!reader_expect(r, "@") || !read_symbol(r, &name) || !reader_expect(r, "(") ||
      !reader_expect(r, "shape") || !reader_expect(r, "=") || !read_grid_shape(r, &m) ||
      !reader_expect(r, ")"))
    return false;
  return reader_own_mesh(r, m, false, false);
}

static bool push_grid_axis(reader *r, const char *where, i64 axis, axis_vec *out) {
  if (axis >= r->mesh->num_axes)
    return reader_error(r, "%s: expected an axis of the grid, 0 to %lld, found %lld", where,
                        (long long)r->mesh->num_axes - 1, (long long)axis);
  VEC_PUSH(r->a, *out, axis_whole(r->mesh, (u32)axis));
  return true;
}

static bool read_split_axes(reader *r) {
  bool first = true, more;
  if (!reader_expect(r, "[")) return false;
  for (;;) {
    u32 d;
    i64s axes;
    if (!reader_item(r, "]", &first, &more)) return false;
    if (!more) return true;
    if (!reader_new_dim(r, &d) || !reader_expect(r, "[") || !reader_numbers(r, "]", &axes))
      return false;
    const char *where = arena_printf(r->a, "dimension %u", d).data;
    for (size_t i = 0; i < axes.len; i++)
      if (!push_grid_axis(r, where, axes.data[i], &r->dims.data[d].axes)) return false;
  }
}

/* partial = max [0], as the dialect had it under the name of mesh. */
static bool read_partial(reader *r) {
  static const char *const kinds[] = {"sum", "max", "min", "product", "bitwise_and", "bitwise_or"};
  i64s axes;
  size_t k = 0;
  if (!reader_take(r, "partial")) return true;
  if (!reader_expect(r, "=")) return false;
  str word = reader_word(r);
  while (k < COUNT(kinds) && !str_is(word, kinds[k])) k++;
  if (k == COUNT(kinds))
    return reader_error(r,
                        "partial: expected sum, max, min, product, bitwise_and or bitwise_or, "
                        "found '" STR_FMT "'",
                        STR_ARG(word));
  r->unreduced_kind = (unreduced_kind)k;
  if (!reader_expect(r, "[") || !reader_numbers(r, "]", &axes)) return false;
  for (size_t i = 0; i < axes.len; i++)
    if (!push_grid_axis(r, "partial", axes.data[i], &r->unreduced)) return false;
  axis_list sorted = axes_sort(r->a, axis_vec_list(&r->unreduced));
  r->unreduced = (axis_vec){(axis_ref *)(uintptr_t)sorted.data, sorted.len, sorted.len};
  return true;
}

const placement *read_shard(reader *r) {
  if (!read_grid_line(r)) return NULL;
  str name;
  if (reader_take(r, "%") && (!read_symbol(r, &name) || !reader_expect(r, "="))) return NULL;
  bool old = reader_take(r, "mesh.sharding");
  if (!old && !reader_expect(r, "shard.sharding")) return NULL;
  if (!reader_expect(r, "@") || !read_symbol(r, &name) || !reader_needs_mesh(r) ||
      !reader_expect(r, "split_axes") || !reader_expect(r, "=") || !read_split_axes(r) ||
      (old && !read_partial(r)))
    return NULL;
  if (reader_at(r, "halo_sizes") || reader_at(r, "sharded_dims_offsets")) {
    bool halo = reader_at(r, "halo");
    return reader_error(r, "%s: expected even pieces without overlap, found others",
                        halo ? "halo_sizes" : "sharded_dims_offsets"),
           NULL;
  }
  if (reader_take(r, ":") && !reader_take(r, "!shard.sharding") &&
      !reader_expect(r, "!mesh.sharding"))
    return NULL;
  return reader_finish(r, true);
}

/* Whole axes only, by their numbers; names are lost, as the dialect has none. */
bool write_shard(writer *w, const placement *p) {
  if (!writer_allows(w, p, 0)) return false;
  const sharding *s = p->sharding;
  if (s->mesh->num_axes == 0) return writer_error(w, "a grid has at least one axis, found none");
  if (s->mesh->num_axes > INT16_MAX)
    return writer_error(w, "a grid has at most %d axes, found %u", INT16_MAX, s->mesh->num_axes);
  BUF_LIT(w->out, "shard.grid @grid(shape = ");
  for (u32 k = 0; k < s->mesh->num_axes; k++)
    buf_printf(w->out, "%s%lld", k ? "x" : "", (long long)s->mesh->axes[k].size);
  BUF_LIT(w->out, ")\nshard.sharding @grid split_axes = [");
  for (u32 d = 0; d < s->rank; d++) {
    axis_list l = s->dims[d].axes;
    buf_str(w->out, d ? STR(", [") : STR("["));
    for (size_t i = 0; i < l.len; i++) buf_printf(w->out, "%s%u", i ? ", " : "", l.data[i].axis);
    buf_char(w->out, ']');
  }
  BUF_LIT(w->out, "] : !shard.sharding");
  return true;
}
