/* terrazzo layout --to-...: from one layout to another. */
#include "layout.h"
#include "mesh/redistribute.h"

static const char *const names[] = {"slice", "all_gather", "all_to_all", "collective_permute"};

static void print_ids(buf *out, const i64 *ids, i64 n) {
  buf_char(out, '[');
  for (i64 i = 0; i < n; i++) buf_printf(out, "%s%lld", i ? ", " : "", (long long)ids[i]);
  buf_char(out, ']');
}

static void print_groups(buf *out, const replica_groups *g) {
  buf_char(out, '[');
  for (i64 i = 0; i < g->num_groups && buf_ok(out); i++) {
    if (i) BUF_LIT(out, ", ");
    print_ids(out, g->ids + i * g->group_size, g->group_size);
  }
  buf_char(out, ']');
}

static void print_ranges(buf *out, const index_range *r, size_t n, const char *colon) {
  for (size_t d = 0; d < n; d++) {
    buf_printf(out, "%s", d ? ", " : "");
    buf_printf(out, *colon == ',' ? "[%lld, %lld]" : "%lld:%lld", (long long)r[d].begin,
               (long long)r[d].end);
  }
}

static void slices_json(buf *out, const char *key, const redistribution *r, const layout *l) {
  const mesh *m = layout_mesh(l);
  buf_printf(out, "  \"%s\": [", key);
  for (i64 i = 0; i < r->num_ranks; i++) {
    i64 rank = mesh_device_at(r->ranks, i);
    i64 position = m->device_ids.len ? mesh_position_of(m, rank) : rank % m->size;
    buf_printf(out, "%s%lld", i ? ", " : "", (long long)layout_slice_at(l, position));
  }
  BUF_LIT(out, "],\n");
}

static i64 received(const redistribute_pieces *p, i64 rank) {
  i64 n = 0;
  for (size_t i = 0; i < p->len; i++)
    if (p->data[i].source != rank) n += p->data[i].elements;
  return n;
}

static void move_json(arena *a, buf *out, const redistribution *r, i64s shape, i64 element_size) {
  BUF_LIT(out, "{\n");
  slices_json(out, "from_slices", r, r->from);
  slices_json(out, "to_slices", r, r->to);
  BUF_LIT(out, "  \"steps\": [");
  for (size_t i = 0; i < r->num_steps; i++) {
    const redistribute_step *s = &r->steps[i];
    buf_printf(out,
               "%s\n    {\"op\": \"%s\", \"dim\": %u, \"to_dim\": %u, \"groups\": ", i ? "," : "",
               names[s->op], s->dim, s->to_dim);
    print_groups(out, &s->groups);
    buf_char(out, '}');
  }
  BUF_LIT(out, "],\n  \"receives\": [");
  for (i64 i = 0; i < r->num_ranks && buf_ok(out); i++) {
    i64 rank = mesh_device_at(r->ranks, i);
    redistribute_pieces p = {0};
    redistribute_pieces_of(a, r, shape, i, &p);
    buf_printf(out, "%s\n    {\"rank\": %lld, \"bytes\": %lld, \"pieces\": [", i ? "," : "",
               (long long)rank, (long long)(received(&p, rank) * element_size));
    for (size_t k = 0; k < p.len; k++) {
      buf_printf(out, "%s{\"from\": %lld, \"ranges\": [", k ? ", " : "",
                 (long long)p.data[k].source);
      print_ranges(out, p.data[k].ranges, shape.len, ",");
      BUF_LIT(out, "]}");
    }
    BUF_LIT(out, "]}");
  }
  BUF_LIT(out, "]\n}\n");
}

static void move_text(arena *a, buf *out, const redistribution *r, i64s shape, i64 element_size) {
  if (r->num_steps == 0) BUF_LIT(out, "nothing to do: every rank has its slice\n");
  for (size_t i = 0; i < r->num_steps; i++) {
    const redistribute_step *s = &r->steps[i];
    buf_printf(out, "%zu. %s", i + 1, names[s->op]);
    if (s->op == REDISTRIBUTE_ALL_TO_ALL)
      buf_printf(out, " from dimension %u to dimension %u", s->dim, s->to_dim);
    else if (s->op != REDISTRIBUTE_PERMUTE)
      buf_printf(out, " dimension %u", s->dim);
    BUF_LIT(out, ", groups ");
    print_groups(out, &s->groups);
    buf_char(out, '\n');
  }
  BUF_LIT(out, "\nWhat each rank must receive\n");
  for (i64 i = 0; i < r->num_ranks && buf_ok(out); i++) {
    i64 rank = mesh_device_at(r->ranks, i);
    redistribute_pieces p = {0};
    redistribute_pieces_of(a, r, shape, i, &p);
    buf_printf(out, "  rank %lld: %lld bytes", (long long)rank,
               (long long)(received(&p, rank) * element_size));
    for (size_t k = 0; k < p.len; k++) {
      if (p.data[k].source == rank) continue;
      buf_printf(out, "; [");
      print_ranges(out, p.data[k].ranges, shape.len, ":");
      buf_printf(out, "] from %lld", (long long)p.data[k].source);
    }
    buf_char(out, '\n');
  }
}

bool layout_show_move(arena *a, buf *out, const layout_view *v, const layout *to, i64 element_size,
                      bool json, diag_sink *sink) {
  i64 bytes = element_size;
  const redistribution *r = NULL;
  if (element_size < 1 || element_size > 4096)
    return say_error("element_size: expected 1 to 4096, found %lld", (long long)element_size),
           false;
  for (size_t d = 0; d < v->shape.len; d++)
    if (v->shape.data[d] && !checked_mul(bytes, v->shape.data[d], &bytes))
      return say_error("tensor[%zu]: expected fewer than 2^63 bytes in all, found more", d), false;
  if (!layout_check_shape(to, v->shape, sink)) return false;
  if (!(r = redistribute_plan(a, v->layout, to, sink))) return false;
  (json ? move_json : move_text)(a, out, r, v->shape, element_size);
  return true;
}
