/* Python's notations of axes by name: JAX's PartitionSpec and NamedSharding, MindSpore's Layout. */
#include "mesh/layout.h"
#include "mesh/notation_text.h"

/* ---- PartitionSpec ---- */

static bool take_unconstrained(reader *r) {
  return reader_take(r, "PartitionSpec.UNCONSTRAINED") || reader_take(r, "P.UNCONSTRAINED") ||
         reader_take(r, "UNCONSTRAINED");
}

static bool push_name(reader *r, u32 dim) {
  str name;
  u32 axis;
  const char *where = arena_printf(r->a, "dimension %u", dim).data;
  if (!reader_python_name(r, &name) || !reader_axis(r, name, where, &axis)) return false;
  VEC_PUSH(r->a, r->dims.data[dim].axes, axis_whole(r->mesh, axis));
  return true;
}

/* None, a name, names in parentheses, UNCONSTRAINED. */
static bool read_spec_entry(reader *r) {
  u32 dim;
  bool first = true, more;
  if (!reader_new_dim(r, &dim)) return false;
  if (reader_take(r, "None")) return true;
  if (take_unconstrained(r)) return r->dims.data[dim].open = true;
  if (!reader_take(r, "(")) return push_name(r, dim);
  for (;;) {
    if (!reader_item(r, ")", &first, &more)) return false;
    if (!more) return true;
    if (!push_name(r, dim)) return false;
  }
}

/* {'x', 'y'} or frozenset({'x'}) or set(): into mesh order. */
static bool read_unreduced_set(reader *r) {
  bool frozen = reader_take(r, "frozenset("), first = true, more;
  if (reader_take(r, "set()")) return true;
  if (frozen && reader_take(r, ")")) return true;
  if (!reader_expect(r, "{")) return false;
  for (;;) {
    str name;
    u32 axis;
    if (!reader_item(r, "}", &first, &more)) return false;
    if (!more) break;
    if (!reader_python_name(r, &name) || !reader_axis(r, name, "unreduced", &axis)) return false;
    VEC_PUSH(r->a, r->unreduced, axis_whole(r->mesh, axis));
  }
  axis_list sorted = axes_sort(r->a, axis_vec_list(&r->unreduced));
  if (sorted.len) memcpy(r->unreduced.data, sorted.data, sorted.len * sizeof *sorted.data);
  return !frozen || reader_expect(r, ")");
}

static bool read_spec(reader *r) {
  bool first = true, more;
  (void)reader_take(r, "jax.sharding.");
  if (!reader_take(r, "PartitionSpec(") && !reader_take(r, "P("))
    return reader_wrong(r, "P( or PartitionSpec(");
  for (;;) {
    if (!reader_item(r, ")", &first, &more)) return false;
    if (!more) return true;
    if (reader_take(r, "unreduced")) {
      if (!reader_expect(r, "=") || !read_unreduced_set(r)) return false;
    } else if (reader_at(r, "reduced")) {
      return reader_error(r, "reduced: expected none, as it says how to differentiate and not "
                             "where pieces are, found one");
    } else if (!read_spec_entry(r)) {
      return false;
    }
  }
}

static const placement *read_one_pspec(reader *r) {
  return read_spec(r) ? reader_finish(r, true) : NULL;
}

const placement *read_pspec(reader *r) {
  if (!reader_needs_mesh(r)) return NULL;
  if (reader_at(r, "(")) return reader_tuple(r, "(", ")", read_one_pspec);
  if (reader_at(r, "[")) return reader_tuple(r, "[", "]", read_one_pspec);
  return read_one_pspec(r);
}

static void write_names(writer *w, const mesh *m, axis_list l, char quote) {
  for (size_t i = 0; i < l.len; i++) {
    if (i) BUF_LIT(w->out, ", ");
    write_python_name(w->out, m->axes[l.data[i].axis].name, quote);
  }
}

static void write_spec(writer *w, const placement *p, const char *name) {
  const sharding *s = p->sharding;
  buf_str(w->out, str_of(name));
  for (u32 d = 0; d < s->rank; d++) {
    const dim_sharding *x = &s->dims[d];
    if (d) BUF_LIT(w->out, ", ");
    if (x->axes.len == 0) buf_str(w->out, x->closed ? STR("None") : STR("P.UNCONSTRAINED"));
    if (x->axes.len > 1) buf_char(w->out, '(');
    write_names(w, s->mesh, x->axes, '\'');
    if (x->axes.len > 1) buf_char(w->out, ')');
  }
  if (s->unreduced.len) {
    buf_str(w->out, s->rank ? STR(", unreduced={") : STR("unreduced={"));
    write_names(w, s->mesh, s->unreduced, '\'');
    buf_char(w->out, '}');
  }
  buf_char(w->out, ')');
}

enum { PSPEC_HAS = HAS_OPEN | HAS_UNREDUCED };

static bool write_one_pspec(writer *w, const placement *p) {
  if (!writer_allows(w, p, PSPEC_HAS | HAS_DEVICE_IDS)) return false;
  write_spec(w, p, "P(");
  return true;
}

/* A tuple of one ends in a comma in Python. */
static bool write_python_tuple(writer *w, const placement *p,
                               bool (*one)(writer *w, const placement *p)) {
  return p->kind == PLACED_TUPLE ? writer_tuple(w, p, "(", p->num_elements == 1 ? ",)" : ")", one)
                                 : one(w, p);
}

bool write_pspec(writer *w, const placement *p) {
  return write_python_tuple(w, p, write_one_pspec);
}

/* ---- NamedSharding ---- */

/* (Auto, Manual): true where Manual. */
static bool read_axis_types(reader *r, size_t num_axes, bool *manual) {
  bool first = true, more;
  size_t n = 0;
  if (!reader_expect(r, "(")) return false;
  for (;; n++) {
    if (!reader_item(r, ")", &first, &more)) return false;
    if (!more) break;
    (void)reader_take(r, "AxisType.");
    str word = reader_word(r);
    if (!str_is(word, "Auto") && !str_is(word, "Explicit") && !str_is(word, "Manual"))
      return reader_error(r, "axis_types: expected Auto, Explicit or Manual, found '" STR_FMT "'",
                          STR_ARG(word));
    if (n < num_axes) manual[n] = str_is(word, "Manual");
  }
  return n == num_axes ||
         reader_error(r, "axis_types: expected %zu, one for each axis, found %zu", num_axes, n);
}

static bool push_axis(reader *r, mesh_axis x, const mesh_axis *axes, size_t n) {
  if (n == NOTATION_MAX_RANK)
    return reader_error(r, "mesh: expected at most %d axes, found more", NOTATION_MAX_RANK);
  for (size_t i = 0; i < n; i++)
    if (str_eq(axes[i].name, x.name))
      return reader_error(r, "mesh: expected different axes, found \"" STR_FMT "\" again",
                          STR_ARG(x.name));
  return true;
}

/* Mesh('x': 2, 'y': 4, axis_types=(Auto, Auto)) */
static bool read_jax_mesh(reader *r) {
  VEC(mesh_axis) axes = {0};
  bool manual[NOTATION_MAX_RANK] = {0};
  bool first = true, more;
  if (!reader_take(r, "Mesh(") && !reader_take(r, "AbstractMesh("))
    return reader_wrong(r, "Mesh( or AbstractMesh(");
  for (;;) {
    mesh_axis x;
    if (!reader_item(r, ")", &first, &more)) return false;
    if (!more) break;
    if (reader_take(r, "axis_types")) {
      if (!reader_expect(r, "=") || !read_axis_types(r, axes.len, manual)) return false;
      continue;
    }
    if (!reader_python_name(r, &x.name) || !reader_expect(r, ":") ||
        !reader_number(r, "the size of an axis", &x.size) || !push_axis(r, x, axes.data, axes.len))
      return false;
    VEC_PUSH(r->a, axes, x);
  }
  const mesh *m = mesh_make(r->a, STR(""), axes.data, axes.len, (i64s){0});
  if (!m)
    return reader_error(r, "mesh: expected sizes of at least 1 and fewer than 2^63 devices, found "
                           "others");
  if (!reader_own_mesh(r, m, true, false)) return false;
  for (u32 k = 0; k < m->num_axes; k++)
    if (manual[k]) VEC_PUSH(r->a, r->manual, axis_whole(m, k));
  return true;
}

/* mesh and spec with or without their names, in this order; memory_kind is read and dropped. */
static const placement *read_one_named(reader *r) {
  bool first = true, more, has_mesh = false, has_spec = false;
  (void)reader_take(r, "jax.sharding.");
  if (!reader_expect(r, "NamedSharding(")) return NULL;
  for (int at = 0;; at++) {
    if (!reader_item(r, ")", &first, &more)) return NULL;
    if (!more) break;
    if (!has_mesh && (reader_take(r, "mesh=") || at == 0)) {
      if (!read_jax_mesh(r)) return NULL;
      has_mesh = true;
    } else if (has_mesh && !has_spec && (reader_take(r, "spec=") || at == 1)) {
      if (!read_spec(r)) return NULL;
      has_spec = true;
    } else if (!reader_take(r, "memory_kind=") || !reader_word(r).len) {
      return reader_wrong(r, "mesh=, then spec=, then memory_kind="), NULL;
    }
  }
  if (has_spec) return reader_finish(r, true);
  reader_error(r, "%s: expected a spec, found none", r->what);
  return NULL;
}

const placement *read_named(reader *r) {
  if (reader_at(r, "(")) return reader_tuple(r, "(", ")", read_one_named);
  if (reader_at(r, "[")) return reader_tuple(r, "[", "]", read_one_named);
  return read_one_named(r);
}

static bool write_one_named(writer *w, const placement *p) {
  if (!writer_allows(w, p, PSPEC_HAS | HAS_MANUAL)) return false;
  const mesh *m = p->sharding->mesh;
  /* JAX takes unreduced axes only if they are Explicit. */
  const char *other = p->sharding->unreduced.len ? "Explicit" : "Auto";
  BUF_LIT(w->out, "NamedSharding(mesh=Mesh(");
  for (u32 k = 0; k < m->num_axes; k++) {
    if (k) BUF_LIT(w->out, ", ");
    write_python_name(w->out, m->axes[k].name, '\'');
    buf_printf(w->out, ": %lld", (long long)m->axes[k].size);
  }
  if (m->num_axes) BUF_LIT(w->out, ", axis_types=(");
  for (u32 k = 0; k < m->num_axes; k++)
    buf_printf(w->out, "%s%s", k ? ", " : "",
               axes_contain(p->manual, axis_whole(m, k)) ? "Manual" : other);
  if (m->num_axes) buf_str(w->out, m->num_axes == 1 ? STR(",)") : STR(")"));
  BUF_LIT(w->out, "), spec=");
  write_spec(w, p, "PartitionSpec(");
  buf_char(w->out, ')');
  return true;
}

bool write_named(writer *w, const placement *p) {
  return write_python_tuple(w, p, write_one_named);
}

/* ---- Layout ---- */

typedef struct layout_draft {
  layout_spec spec;
  VEC(str) names;
  VEC(layout_entry) entries;
} layout_draft;

/* (2, 4) or [2, 4] */
static bool read_ints(reader *r, i64s *out) {
  if (reader_take(r, "[")) return reader_numbers(r, "]", out);
  return reader_expect(r, "(") && reader_numbers(r, ")", out);
}

/* ("x", "y") */
static bool read_names(reader *r, layout_draft *l) {
  bool first = true, more;
  if (!reader_expect(r, "(")) return false;
  for (;;) {
    str name;
    if (!reader_item(r, ")", &first, &more)) return false;
    if (!more) break;
    if (!reader_python_name(r, &name)) return false;
    VEC_PUSH(r->a, l->names, name);
  }
  l->spec.alias_name = l->names.data;
  l->spec.num_alias_names = l->names.len;
  return true;
}

/* A name, or names in parentheses. */
static bool read_entry(reader *r, layout_entry *out) {
  VEC(str) names = {0};
  bool first = true, more;
  str name;
  out->tuple = reader_take(r, "(");
  for (;;) {
    if (out->tuple) {
      if (!reader_item(r, ")", &first, &more)) return false;
      if (!more) break;
    }
    if (!reader_python_name(r, &name)) return false;
    VEC_PUSH(r->a, names, name);
    if (!out->tuple) break;
  }
  out->names = names.data;
  out->num_names = names.len;
  return true;
}

/* ("x", ("y", "z"), "None") */
static bool read_entries(reader *r, layout_draft *l) {
  bool first = true, more;
  if (!reader_expect(r, "(")) return false;
  for (;;) {
    layout_entry e;
    if (!reader_item(r, ")", &first, &more)) return false;
    if (!more) return true;
    if (!read_entry(r, &e)) return false;
    VEC_PUSH(r->a, l->entries, e);
  }
}

/* (2, 4), ("x", "y"), [0, 1, ...] behind the parenthesis. */
static bool read_construction(reader *r, layout_draft *l) {
  (void)reader_take(r, "device_matrix=");
  if (!read_ints(r, &l->spec.device_matrix) || !reader_expect(r, ",")) return false;
  (void)reader_take(r, "alias_name=");
  if (!read_names(r, l)) return false;
  if (reader_take(r, ")")) return true;
  if (!reader_expect(r, ",")) return false;
  if (reader_take(r, ")")) return true;
  (void)reader_take(r, "rank_list=");
  return (reader_take(r, "None") || read_ints(r, &l->spec.rank_list)) && reader_expect(r, ")");
}

/* A number of tensor_map, counted from the right; -1 is "None". */
static bool map_name(reader *r, const layout_draft *l, str *out) {
  i64 n;
  if (reader_take(r, "-1")) return *out = STR("None"), true;
  if (!reader_number(r, "a number of an axis", &n)) return false;
  if ((u64)n >= l->names.len)
    return reader_error(r, "tensor_map: expected -1 to %lld, found %lld",
                        (long long)l->names.len - 1, (long long)n);
  *out = l->names.data[l->names.len - 1 - (size_t)n];
  return true;
}

static bool read_map_entry(reader *r, layout_draft *l) {
  VEC(str) names = {0};
  bool first = true, more, tuple = reader_take(r, "(");
  str name;
  for (;;) {
    if (tuple) {
      if (!reader_item(r, ")", &first, &more)) return false;
      if (!more) break;
    }
    if (!map_name(r, l, &name)) return false;
    VEC_PUSH(r->a, names, name);
    if (!tuple) break;
  }
  VEC_PUSH(r->a, l->entries, ((layout_entry){names.data, names.len, tuple}));
  return true;
}

/* The values of Layout.to_dict(), with the map last as it counts the names. */
typedef struct dict_text {
  str map;
  bool interleaved;
} dict_text;

/* Moves over a bracketed value and returns its text. */
static bool skip_value(reader *r, str *out) {
  int depth = 0;
  (void)reader_at(r, "");
  str from = r->rest;
  do {
    if (!r->rest.len) return reader_wrong(r, "the end of tensor_map");
    char c = *r->rest.data;
    depth += (c == '(') - (c == ')');
    r->rest = str_from(r->rest, 1);
  } while (depth > 0);
  *out = (str){from.data, from.len - r->rest.len};
  return true;
}

static bool read_dict_item(reader *r, layout_draft *l, dict_text *d) {
  str key;
  if (!reader_python_name(r, &key) || !reader_expect(r, ":")) return false;
  if (str_is(key, "device_matrix")) return read_ints(r, &l->spec.device_matrix);
  if (str_is(key, "alias_name")) return read_names(r, l);
  if (str_is(key, "rank_list")) return reader_take(r, "None") || read_ints(r, &l->spec.rank_list);
  if (str_is(key, "tensor_map")) return skip_value(r, &d->map);
  if (str_is(key, "interleaved_parallel"))
    return (d->interleaved = reader_take(r, "True")) || reader_take(r, "False") ||
           reader_wrong(r, "True or False");
  return reader_error(r, "layout: expected a key of Layout.to_dict(), found '" STR_FMT "'",
                      STR_ARG(key));
}

/* tensor_map is read last, wherever it stands: its numbers mean names. */
static bool read_dict(reader *r, layout_draft *l) {
  bool first = true, more;
  dict_text d = {0};
  for (;;) {
    if (!reader_item(r, "}", &first, &more)) return false;
    if (!more) break;
    if (!read_dict_item(r, l, &d)) return false;
  }
  reader map = *r;
  map.rest = map.text = d.map;
  if (!reader_expect(&map, "(")) return false;
  for (first = true;;) {
    if (!reader_item(&map, ")", &first, &more)) return false;
    if (!more) break;
    if (!read_map_entry(&map, l)) return false;
  }
  bool named = l->names.len && str_is(l->names.data[l->names.len - 1], "interleaved_parallel");
  if (named != d.interleaved)
    return reader_error(r, "interleaved_parallel: expected %s, as alias_name says, found %s",
                        named ? "True" : "False", d.interleaved ? "True" : "False");
  return reader_end(&map);
}

/* Entries over the mesh that was given. */
static bool borrow_mesh(reader *r, layout_draft *l) {
  if (!reader_needs_mesh(r)) return false;
  const mesh *m = r->mesh;
  i64 *sizes = ARENA_ARRAY(r->a, i64, m->num_axes);
  for (u32 k = 0; k < m->num_axes; k++) {
    sizes[k] = m->axes[k].size;
    VEC_PUSH(r->a, l->names, m->axes[k].name);
  }
  l->spec.device_matrix = (i64s){sizes, m->num_axes};
  l->spec.alias_name = l->names.data;
  l->spec.num_alias_names = l->names.len;
  l->spec.rank_list = m->device_ids;
  return true;
}

/* Layout(...)(...), a dict, or entries alone over the mesh that was given. What layout_make checks
 * is said in its words. */
static const placement *read_one_layout(reader *r) {
  layout_draft draft = {0};
  bool own = true;
  (void)reader_take(r, "mindspore.");
  if (reader_take(r, "Layout(")) {
    if (!read_construction(r, &draft) || !read_entries(r, &draft)) return NULL;
  } else if (reader_take(r, "{")) {
    if (!read_dict(r, &draft)) return NULL;
  } else if (reader_at(r, "(")) {
    own = false;
    if (!borrow_mesh(r, &draft) || !read_entries(r, &draft)) return NULL;
  } else {
    return reader_wrong(r, "Layout(, to_dict's { or entries in parentheses"), NULL;
  }
  draft.spec.entries = draft.entries.data;
  draft.spec.num_entries = draft.entries.len;
  const layout *l = layout_make(r->a, &draft.spec, r->sink);
  if (!l) return NULL;
  for (u32 d = 0; d < layout_rank(l); d++)
    if (l->entries[d].num_names == 0)
      return reader_error(r, "entries[%u]: expected a name or \"None\", found an empty tuple", d),
             NULL;
  if (own && !reader_own_mesh(r, layout_mesh(l), true, true)) return NULL;
  if (r->rank >= 0 && r->rank != layout_rank(l))
    return reader_error(r, "rank: expected %lld dimensions, found %u", (long long)r->rank,
                        layout_rank(l)),
           NULL;
  placement *p = ARENA_NEW(r->a, placement);
  p->sharding = l->sharding;
  p->interleaved = l->interleaved != 0;
  return p;
}

/* Is there a list of layouts, and not the entries of one? */
static bool at_layouts(const reader *at, const char *open) {
  reader r = *at;
  return reader_take(&r, open) && (reader_at(&r, "Layout(") || reader_at(&r, "{"));
}

const placement *read_layout(reader *r) {
  if (at_layouts(r, "(")) return reader_tuple(r, "(", ")", read_one_layout);
  if (at_layouts(r, "[")) return reader_tuple(r, "[", "]", read_one_layout);
  return read_one_layout(r);
}

/* Layout((2, 4), ("x", "y"), rank_list=[...]) */
static bool write_matrix(writer *w, const placement *p) {
  const mesh *m = p->sharding->mesh;
  const char *end = m->num_axes == 1 ? ",)" : ")";
  for (u32 k = 0; k < m->num_axes; k++) {
    str name = m->axes[k].name;
    bool reserved = str_is(name, "interleaved_parallel") && !p->interleaved;
    if (reserved || str_is(name, "None"))
      return writer_error(w, "axis \"" STR_FMT "\" has a name that means something else here",
                          STR_ARG(name));
  }
  BUF_LIT(w->out, "Layout((");
  for (u32 k = 0; k < m->num_axes; k++)
    buf_printf(w->out, "%s%lld", k ? ", " : "", (long long)m->axes[k].size);
  buf_printf(w->out, "%s, (", end);
  for (u32 k = 0; k < m->num_axes; k++) {
    if (k) BUF_LIT(w->out, ", ");
    write_python_name(w->out, m->axes[k].name, '"');
  }
  buf_str(w->out, str_of(end));
  if (m->device_ids.len) {
    BUF_LIT(w->out, ", rank_list=[");
    write_numbers(w->out, m->device_ids.data, m->device_ids.len, ", ");
    buf_char(w->out, ']');
  }
  buf_char(w->out, ')');
  return true;
}

static bool write_one_layout(writer *w, const placement *p) {
  if (!writer_allows(w, p, HAS_DEVICE_IDS | HAS_INTERLEAVED)) return false;
  const sharding *s = p->sharding;
  if (s->mesh->num_axes == 0)
    return writer_error(w, "a layout's device matrix has at least one axis, found none");
  if (s->rank == 0) return writer_error(w, "a layout has at least one dimension, found none");
  if (!write_matrix(w, p)) return false;
  buf_char(w->out, '(');
  for (u32 d = 0; d < s->rank; d++) {
    axis_list l = s->dims[d].axes;
    if (d) BUF_LIT(w->out, ", ");
    if (l.len == 0) BUF_LIT(w->out, "\"None\"");
    if (l.len > 1) buf_char(w->out, '(');
    write_names(w, s->mesh, l, '"');
    if (l.len > 1) buf_char(w->out, ')');
  }
  buf_char(w->out, ')');
  return true;
}

bool write_layout(writer *w, const placement *p) {
  return write_python_tuple(w, p, write_one_layout);
}
