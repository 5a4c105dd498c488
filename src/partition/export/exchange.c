/* What shards of a result need of the shards of an operand: sizes, offsets, neighbours. */
#include "partition/export/resolve.h"

i64 exchange_shard(i64 size, i64 parts) { return size / parts + (size % parts > 0); }

i64 exchange_parts(const exchange *x, const sharding *s, u32 d) {
  i64 n = 1;
  for (size_t i = 0; i < s->dims[d].axes.len; i++)
    if (x->manual[s->dims[d].axes.data[i].axis]) n *= s->dims[d].axes.data[i].size;
  return n;
}

const sharding *exchange_inside(arena *a, const exchange *x, const sharding *s) {
  sharding *in = arena_copy(a, s, sizeof(*s));
  dim_sharding *dims = arena_copy(a, s->dims, s->rank * sizeof(*dims));
  for (u32 d = 0; d < s->rank; d++) {
    axis_vec v = {0};
    for (size_t i = 0; i < dims[d].axes.len; i++)
      if (!x->manual[dims[d].axes.data[i].axis]) VEC_PUSH(a, v, dims[d].axes.data[i]);
    dims[d].axes = axis_vec_list(&v);
  }
  in->dims = dims;
  return in;
}

/* Sizes whose products with each other fit; larger ones are not exchanged. */
static bool is_small(i64 n) { return n > -((i64)1 << 30) && n < (i64)1 << 30; }

/* Which shards of an operand of `size` elements each shard of the result takes. */
static void find_neighbours(dim_exchange *x, i64 size) {
  for (i64 k = 0; k < x->count; k++) {
    i64 begin = (k * x->out - x->low) / x->dilation;
    i64 first = max_i64(0, begin), end = min_i64(size, begin + x->out);
    if (first >= end) {
      x->moves = true;
      continue;
    }
    i64 from = first / x->in, to = (end - 1) / x->in;
    x->moves = x->moves || from != k || to != k;
    x->left = max_i64(x->left, k - from);
    x->right = max_i64(x->right, to - k);
  }
  x->near = x->left + x->right + 1 < x->count || (x->left <= 1 && x->right <= 1);
}

exchange exchange_of_window(arena *a, const sharding *s, i64s in, i64s out, const i64 *low,
                            const i64 *inside) {
  exchange x = {.from = s, .to = s, .near = s->mesh->size <= EXCHANGE_MAX_DEVICES};
  x.manual = arena_zalloc(a, s->mesh->num_axes);
  i64 *shape = arena_copy(a, in.data, in.len * sizeof(*shape));
  i64 *result = arena_copy(a, out.data, out.len * sizeof(*result));
  x.shape = (i64s){shape, in.len};
  x.result = (i64s){result, out.len};
  for (u32 d = 0; d < s->rank && x.near; d++) {
    dim_exchange y = {.dim = d, .axes = s->dims[d].axes, .count = sharding_dim_size(s, d)};
    if (y.count == 1) continue;
    y.low = low[d];
    i64 between = inside ? inside[d] : 0;
    x.near = shape[d] > 0 && is_small(shape[d]) && is_small(result[d]) && is_small(y.low) &&
             is_small(between);
    if (!x.near) break;
    y.dilation = between + 1;
    y.in = exchange_shard(shape[d], y.count);
    y.out = exchange_shard(result[d], y.count);
    shape[d] = y.in * y.count;
    result[d] = y.out * y.count;
    find_neighbours(&y, in.data[d]);
    /* what later passes cannot do on shards alone */
    y.moves = y.moves || (inside ? y.dilation > 1 : y.low || y.in != y.out);
    x.near = y.near;
    x.moves = x.moves || y.moves;
    if (y.moves || y.in != y.out) VEC_PUSH(a, x.dims, y);
    for (size_t i = 0; i < y.axes.len; i++) x.manual[y.axes.data[i].axis] = true;
  }
  x.moves = x.moves || !x.near;
  return x;
}
