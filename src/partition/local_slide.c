/* Windows that slide over sharded dimensions: convolution and its like. What is left of their
 * padding once a window was read lies between its elements. */
#include "partition/local.h"

static const attr *padding_attr(local *l, const i64 *padding, size_t n) {
  return attr_dense_i64(l->e.c, (i64s){(i64[]){(i64)n, 2}, 2}, padding);
}

static i64 *given_padding(local *l, const dense_attr *p, size_t n) {
  i64 *padding = arena_zalloc(l->e.a, 2 * n * sizeof *padding);
  for (size_t i = 0; p && i < 2 * n; i++) padding[i] = attr_dense_int(&p->base, i);
  return padding;
}

bool local_convolution(local *l, op *o) {
  struct convolution_attrs a;
  if (!view_convolution(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  i64s spatial = a.dimension_numbers->input_spatial_dimensions;
  const type **types = local_whole_types(l, o);
  i64 *padding = given_padding(l, a.present & 2 ? a.padding : NULL, spatial.len);
  bool cut = false;
  for (u32 i = 0; i < spatial.len; i++) {
    padded_read r;
    i64 parts = local_parts(l, op_operand(o, 0), (u32)spatial.data[i]);
    if (parts == 1 || !convolution_read(o, types, i, parts, &r)) continue;
    padding[2 * i] = r.low;
    padding[2 * i + 1] = r.high;
    cut = true;
  }
  if (!cut) return local_types(l, o);
  cursor at = cursor_before(&l->e, o);
  const type *element = type_element(op_operand(o, 0)->type);
  value *zero = emit_zeros(&at, type_tensor(l->e.c, (i64s){0}, element, NULL));
  if (!local_read(l, o, types, windows_convolution, 0, zero)) return false;
  op_set(o, convolution, padding, padding_attr(l, padding, spatial.len));
  return local_types(l, o);
}

/* What takes no part in windows that start from `init` (windows.c). */
static value *no_part(cursor *at, const op *o, u32 i) {
  value *init = op_operand(o, o->num_operands / 2 + i);
  unreduced_kind kind;
  bool sum = part_body_kind(op_body(o, 0), i, o->num_operands / 2, &kind) && kind == UNREDUCED_SUM;
  return sum && !local_is_zero(init) ? emit_no_addend(at, init->type) : init;
}

bool local_reduce_window(local *l, op *o) {
  struct reduce_window_attrs a;
  if (!view_reduce_window(o, &a)) return op_error(l->e.c, o, "has malformed attributes");
  u32 rank = (u32)a.window_dimensions.len, n = o->num_operands / 2;
  const type **types = local_whole_types(l, o);
  i64 *padding = given_padding(l, a.present & 1u << 4 ? a.padding : NULL, rank);
  bool cut = false;
  for (u32 d = 0; d < rank; d++) {
    padded_read r;
    i64 parts = local_parts(l, op_operand(o, 0), d);
    if (parts == 1 || !reduce_window_read(o, types, d, parts, &r)) continue;
    padding[2 * d] = r.low;
    padding[2 * d + 1] = r.high;
    cut = true;
  }
  if (!cut) return local_types(l, o);
  cursor at = cursor_before(&l->e, o);
  for (u32 i = 0; i < n; i++)
    if (!local_read(l, o, types, windows_reduce_window, i, no_part(&at, o, i))) return false;
  op_set(o, reduce_window, padding, padding_attr(l, padding, rank));
  return local_types(l, o);
}
