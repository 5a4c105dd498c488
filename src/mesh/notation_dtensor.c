/* PyTorch's DTensor placements: an entry a mesh axis.
 *
 * A dimension that several mesh axes shard is split by the first axis of the mesh first, so that
 * it is the major one. Any other order is said with strides: _StridedShard(dim, split_factor=f) on
 * an axis means that f pieces, made by later axes of the mesh, are outside of it. */
#include "mesh/notation_text.h"

typedef struct entry {
  i64 dim; /* -1: none */
  i64 factor;
} entry;

static const char *const reductions[] = {
    [UNREDUCED_SUM] = "sum",     [UNREDUCED_MAX] = "max",  [UNREDUCED_MIN] = "min",
    [UNREDUCED_MUL] = "product", [UNREDUCED_AND] = "band", [UNREDUCED_OR] = "bor"};

static const char *axis_where(reader *r, u32 axis) {
  return arena_printf(r->a, "axis \"" STR_FMT "\"", STR_ARG(r->mesh->axes[axis].name)).data;
}

static bool read_partial_kind(reader *r, u32 axis) {
  unreduced_kind kind = UNREDUCED_SUM;
  if (!reader_take(r, ")")) {
    str word;
    size_t k = 0;
    (void)reader_take(r, "reduce_op=");
    bool quoted = reader_at(r, "'") || reader_at(r, "\"");
    if (quoted && !reader_python_name(r, &word)) return false;
    if (!quoted) word = reader_word(r);
    while (k < COUNT(reductions) && !str_is(word, reductions[k])) k++;
    if (k == COUNT(reductions))
      return reader_error(r,
                          "%s: expected sum, max, min, product, band or bor, found '" STR_FMT "'",
                          axis_where(r, axis), STR_ARG(word));
    kind = (unreduced_kind)k;
    if (!reader_expect(r, ")")) return false;
  }
  if (r->unreduced.len && kind != r->unreduced_kind)
    return reader_error(r, "%s: expected Partial('%s') as on the axis before, found Partial('%s')",
                        axis_where(r, axis), reductions[r->unreduced_kind], reductions[kind]);
  r->unreduced_kind = kind;
  VEC_PUSH(r->a, r->unreduced, axis_whole(r->mesh, axis));
  return true;
}

static bool read_shard_dim(reader *r, u32 axis, i64 *out) {
  (void)reader_take(r, "dim=");
  bool negative = reader_take(r, "-");
  if (!reader_number(r, "a dimension", out)) return false;
  if (negative && r->rank < 0)
    return reader_error(r,
                        "%s: expected a dimension counted from the front where the rank is not "
                        "given, found -%lld",
                        axis_where(r, axis), (long long)*out);
  i64 most = r->rank >= 0 ? r->rank : NOTATION_MAX_RANK;
  i64 dim = negative ? most - *out : *out;
  if (dim < 0 || dim >= most)
    return reader_error(r, "%s: expected a dimension below %lld, found %s%lld", axis_where(r, axis),
                        (long long)most, negative ? "-" : "", (long long)*out);
  *out = dim;
  return true;
}

/* Spellings of PyTorch's repr, with or without the names of the parameters. */
static bool read_entry(reader *r, u32 axis, entry *e) {
  *e = (entry){-1, 1};
  if (reader_take(r, "Replicate()")) return true;
  if (reader_take(r, "Partial(")) return read_partial_kind(r, axis);
  if (reader_take(r, "Shard(")) return read_shard_dim(r, axis, &e->dim) && reader_expect(r, ")");
  if (!reader_take(r, "_StridedShard("))
    return reader_wrong(r, "Shard(, _StridedShard(, Replicate() or Partial(");
  if (!read_shard_dim(r, axis, &e->dim) || !reader_expect(r, ",")) return false;
  if (!reader_take(r, "split_factor=")) (void)reader_take(r, "sf=");
  if (!reader_number(r, "a split factor", &e->factor) || !reader_expect(r, ")")) return false;
  return e->factor >= 1 ||
         reader_error(r, "%s: expected a split factor of at least 1, found 0", axis_where(r, axis));
}

/* Puts an axis behind so many later ones that their sizes make its split factor. */
static bool place_axis(reader *r, u32 axis, const entry *e) {
  u32 dim;
  while ((i64)r->dims.len <= e->dim)
    if (!reader_new_dim(r, &dim)) return false;
  axis_vec *v = &r->dims.data[e->dim].axes;
  size_t at = 0;
  i64 before = 1;
  while (at < v->len && before < e->factor)
    if (!checked_mul(before, v->data[at++].size, &before)) break;
  if (before != e->factor)
    return reader_error(r,
                        "%s: expected a split factor that later axes of dimension %lld make, "
                        "found %lld",
                        axis_where(r, axis), (long long)e->dim, (long long)e->factor);
  VEC_PUSH(r->a, *v, axis_whole(r->mesh, axis));
  for (size_t i = v->len - 1; i > at; i--) v->data[i] = v->data[i - 1];
  v->data[at] = axis_whole(r->mesh, axis);
  return true;
}

static const placement *read_one(reader *r) {
  const mesh *m = r->mesh;
  bool first = true, more, round = reader_take(r, "(");
  entry *entries = ARENA_ARRAY(r->a, entry, m->num_axes);
  if (!round && !reader_expect(r, "[")) return NULL;
  u32 n = 0;
  for (;; n++) {
    if (!reader_item(r, round ? ")" : "]", &first, &more)) return NULL;
    if (!more) break;
    if (n == m->num_axes) {
      reader_error(r, "dtensor: expected %u placements, one for each axis of the mesh, found more",
                   m->num_axes);
      return NULL;
    }
    if (!read_entry(r, n, &entries[n])) return NULL;
  }
  if (n != m->num_axes) {
    reader_error(r, "dtensor: expected %u placements, one for each axis of the mesh, found %u",
                 m->num_axes, n);
    return NULL;
  }
  for (u32 k = n; k-- > 0;)
    if (entries[k].dim >= 0 && !place_axis(r, k, &entries[k])) return NULL;
  return reader_finish(r, true);
}

static bool at_nested(const reader *at, const char *open) {
  reader r = *at;
  return reader_take(&r, open) && (reader_at(&r, "(") || reader_at(&r, "["));
}

const placement *read_dtensor(reader *r) {
  if (!reader_needs_mesh(r)) return NULL;
  if (at_nested(r, "(")) return reader_tuple(r, "(", ")", read_one);
  if (at_nested(r, "[")) return reader_tuple(r, "[", "]", read_one);
  return read_one(r);
}

/* The factor is the product of later mesh axes that are major to this one in its dimension. */
static bool write_one(writer *w, const placement *p) {
  if (!writer_allows(w, p, HAS_UNREDUCED | HAS_UNREDUCED_KIND | HAS_DEVICE_IDS)) return false;
  const sharding *s = p->sharding;
  const mesh *m = s->mesh;
  str *words = ARENA_ARRAY(w->a, str, m->num_axes);
  for (u32 k = 0; k < m->num_axes; k++) words[k] = STR("Replicate()");
  for (u32 d = 0; d < s->rank; d++) {
    axis_list l = s->dims[d].axes;
    for (size_t i = 0; i < l.len; i++) {
      i64 factor = 1;
      for (size_t j = 0; j < i; j++)
        if (l.data[j].axis > l.data[i].axis) factor *= l.data[j].size;
      words[l.data[i].axis] =
          factor == 1
              ? arena_printf(w->a, "Shard(%u)", d)
              : arena_printf(w->a, "_StridedShard(%u, split_factor=%lld)", d, (long long)factor);
    }
  }
  for (size_t i = 0; i < s->unreduced.len; i++)
    words[s->unreduced.data[i].axis] =
        s->unreduced_kind == UNREDUCED_SUM
            ? STR("Partial()")
            : arena_printf(w->a, "Partial('%s')", reductions[s->unreduced_kind]);
  buf_char(w->out, '[');
  for (u32 k = 0; k < m->num_axes; k++)
    buf_printf(w->out, "%s" STR_FMT, k ? ", " : "", STR_ARG(words[k]));
  buf_char(w->out, ']');
  return true;
}

bool write_dtensor(writer *w, const placement *p) {
  return p->kind == PLACED_TUPLE
             ? writer_tuple(w, p, "(", p->num_elements == 1 ? ",)" : ")", write_one)
             : write_one(w, p);
}
