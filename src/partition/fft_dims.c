/* Transforms of several dimensions, one dimension after the other: each needs only that dimension
 * whole, and the others may be cut meanwhile. As one op, all of them would have to be whole, which
 * is as good where there is a large batch to cut. */
#include "partition/fft_dims.h"

#include "shard/traits.h"

enum { FFT, IFFT, RFFT, IRFFT }; /* of fft_type */

typedef struct transform {
  const part_env *e;
  cursor at;
  const sharding *in, *out;
  i64s first, last; /* dims of the operand and the result */
} transform;

/* Parts along the dimensions that are transformed. */
static i64 parts_of(const sharding *s, size_t transformed) {
  i64 parts = 1;
  if (!s || s->unreduced.len) return 1;
  for (size_t k = 0; k < transformed; k++) parts *= sharding_dim_size(s, s->rank - 1 - (u32)k);
  return parts;
}

/* So many more parts of a batch: its dimensions may take those axes, and all of them stay. */
static bool batch_takes(const sharding *s, i64s dims, size_t transformed, i64 parts) {
  i64 room = 1;
  for (u32 d = 0; d + transformed < dims.len; d++) {
    i64 have = sharding_dim_size(s, d);
    if (dims.data[d] % have == 0) room *= gcd_i64(parts, dims.data[d] / have);
  }
  return room % parts == 0;
}

/* Where a value of these dims is, with two of them swapped. */
static const sharding *place_of(const transform *t, i64s dims, u32 d, u32 with) {
  const sharding *s = i64s_eq(dims, t->last) ? t->out : t->in;
  dim_sharding *moved = arena_copy(t->e->a, s->dims, s->rank * sizeof *moved);
  sharding to = *s;
  moved[d] = s->dims[with];
  moved[with] = s->dims[d];
  to.dims = moved;
  return shard_intern(t->e->space, &to);
}

static value *swap(transform *t, value *v, u32 d, u32 with, bool back) {
  const part_env *e = t->e;
  i64s dims = v->type->dims;
  i64 *order = ARENA_ARRAY(e->a, i64, dims.len), *to = ARENA_ARRAY(e->a, i64, dims.len);
  if (d == with) return v;
  for (size_t k = 0; k < dims.len; k++) order[k] = (i64)(k == d ? with : k == with ? d : k);
  for (size_t k = 0; k < dims.len; k++) to[k] = dims.data[order[k]];
  i64s after = {to, dims.len};
  const sharding *s = back ? place_of(t, after, d, d) : place_of(t, dims, d, with);
  v = emit(&t->at, OP_transpose, &v, 1, type_with_dims(e->c, v->type, after));
  op_set(v->def.op, transpose, permutation, attr_i64_array(e->c, (i64s){order, dims.len}));
  return emit_sharded(e, v, s);
}

/* Along dimension d, of which `like` has as many elements as the result. */
static value *transform_dim(transform *t, value *v, u32 d, i64 length, i64 kind, const type *like) {
  const part_env *e = t->e;
  u32 end = (u32)v->type->dims.len - 1;
  v = swap(t, v, d, end, false);
  i64 *dims = arena_copy(e->a, v->type->dims.data, v->type->dims.len * sizeof *dims);
  dims[end] = like->dims.data[d];
  i64s to = {dims, v->type->dims.len};
  v = emit(&t->at, OP_fft, &v, 1, type_tensor(e->c, to, like->elem, like->encoding));
  op_set(v->def.op, fft, fft_type, attr_enum(e->c, ATTR_fft_type, kind));
  op_set(v->def.op, fft, fft_length, attr_i64_array(e->c, (i64s){&length, 1}));
  dims = arena_copy(e->a, dims, to.len * sizeof *dims);
  dims[end] = to.data[d];
  dims[d] = to.data[end];
  emit_sharded(e, v, place_of(t, (i64s){dims, to.len}, d, end));
  return swap(t, v, d, end, true);
}

void part_split_fft(const part_env *e, op *o) {
  struct fft_attrs a;
  value *v = op_operand(o, 0);
  const type *from = v->type, *to = op_result(o, 0)->type;
  if (!view_fft(o, &a) || a.fft_length.len < 2 || op_discardable(o, SDY_SHARDING_RULE)) return;
  size_t n = a.fft_length.len;
  transform t = {.e = e,
                 .at = cursor_before(e, o),
                 .in = part_sharding(e, v),
                 .out = part_sharding(e, op_result(o, 0)),
                 .first = from->dims,
                 .last = to->dims};
  i64 parts = parts_of(t.in, n);
  if (parts == 1 || parts_of(t.out, n) == 1 || !mesh_same(t.in->mesh, t.out->mesh, true) ||
      batch_takes(t.in, t.first, n, parts))
    return;
  i64 kind = a.fft_type->value, others = kind == FFT || kind == RFFT ? FFT : IFFT;
  u32 end = (u32)from->dims.len - 1;
  if (kind != IRFFT) v = transform_dim(&t, v, end, a.fft_length.data[n - 1], kind, to);
  for (size_t i = 2; i <= n; i++) { /* in the order of the whole's lowering */
    size_t k = kind == IRFFT ? n + 2 - i : i;
    v = transform_dim(&t, v, end + 1 - (u32)k, a.fft_length.data[n - k], others, v->type);
  }
  if (kind == IRFFT) v = transform_dim(&t, v, end, a.fft_length.data[n - 1], kind, to);
  value_replace(op_result(o, 0), v);
  op_erase(o);
}
