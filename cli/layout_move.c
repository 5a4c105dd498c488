/* terrazzo layout --to-...: from one layout to another. */
#include "layout.h"

static void print_groups(buf *out, const replica_groups *g) {
  buf_char(out, '[');
  for (i64 i = 0; i < g->num_groups && buf_ok(out); i++) {
    if (i) BUF_LIT(out, ", ");
    json_numbers(out, g->ids + i * g->group_size, (size_t)g->group_size);
  }
  buf_char(out, ']');
}

static void print_ranges(buf *out, const index_range *r, size_t n) {
  for (size_t d = 0; d < n; d++)
    buf_printf(out, "%s%lld:%lld", d ? ", " : "", (long long)r[d].begin, (long long)r[d].end);
}

static void move_text(arena *a, buf *out, const redistribution *r, i64s shape, i64 element_size) {
  if (r->num_steps == 0) BUF_LIT(out, "nothing to do: every rank has its slice\n");
  for (size_t i = 0; i < r->num_steps; i++) {
    const redistribute_step *s = &r->steps[i];
    buf_printf(out, "%zu. %s", i + 1, redistribute_names[s->op]);
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
               (long long)(redistribute_received(&p, rank) * element_size));
    for (size_t k = 0; k < p.len; k++) {
      if (p.data[k].source == rank) continue;
      buf_printf(out, "; [");
      print_ranges(out, p.data[k].ranges, shape.len);
      buf_printf(out, "] from %lld", (long long)p.data[k].source);
    }
    buf_char(out, '\n');
  }
}

bool layout_show_move(arena *a, buf *out, const grid_view *v, const layout *to, i64 element_size,
                      bool json, diag_sink *sink) {
  if (!redistribute_check_shape(v->layout, to, v->shape, element_size, sink)) return false;
  const redistribution *r = redistribute_plan(a, v->layout, to, sink);
  if (!r) return false;
  (json ? describe_move_json : move_text)(a, out, r, v->shape, element_size);
  return true;
}
