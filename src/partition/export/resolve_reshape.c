/* Reshapes of dimensions that their shardings do not divide.
 *
 * Both shapes are cut into groups of dimensions with the same elements. Where the shards on both
 * sides are the same elements there is nothing to do; a dimension that is split into several, each
 * with axes of its own, takes elements of its neighbours; all else is replicated, group by group.
 */
#include "partition/export/resolve.h"

/* Dimensions of operand and result with the same elements. */
typedef struct group {
  u32 in, in_end, out, out_end;
  u32 num_in, num_out; /* of those, not of size 1 */
} group;

typedef struct reshape {
  resolver *r;
  op *o;
  i64s in, out;
  const sharding *from, *to;
  VEC(group) groups;
} reshape;

/* ---- groups ---- */

static u32 num_wider(i64s dims, u32 begin, u32 end) {
  u32 n = 0;
  for (u32 d = begin; d < end; d++) n += dims.data[d] != 1;
  return n;
}

static void find_groups(reshape *x) {
  u32 i = 0, o = 0;
  while (i < x->in.len || o < x->out.len) {
    group g = {.in = i, .out = o};
    i64 in = i < x->in.len ? x->in.data[i++] : 1, out = o < x->out.len ? x->out.data[o++] : 1;
    while (in != out) {
      if (in < out && i < x->in.len)
        in *= x->in.data[i++];
      else if (out < in && o < x->out.len)
        out *= x->out.data[o++];
      else
        break;
    }
    g.in_end = i;
    g.out_end = o;
    g.num_in = num_wider(x->in, g.in, i);
    g.num_out = num_wider(x->out, g.out, o);
    VEC_PUSH(x->r->e.a, x->groups, g);
  }
}

static bool passes_through(const group *g) { return g->num_in <= 1 && g->num_out <= 1; }

static bool is_uneven(const sharding *s, i64s dims, u32 begin, u32 end) {
  for (u32 d = begin; d < end; d++)
    if (dims.data[d] % sharding_dim_size(s, d)) return true;
  return false;
}
static bool group_is_uneven(const reshape *x, const group *g) {
  return is_uneven(x->from, x->in, g->in, g->in_end) ||
         is_uneven(x->to, x->out, g->out, g->out_end);
}

/* ---- whether both sides have the same shards ---- */

/* Along an axis: elements from one shard to the next, and how many pieces there are of all that is
 * major to it. */
typedef struct piece {
  axis_ref axis;
  double stride;
  u64 before;
  i64 dim;
} piece;
typedef VEC(piece) pieces;

static void add_sorted(arena *a, pieces *l, piece p) {
  VEC_PUSH(a, *l, p);
  for (size_t i = l->len - 1; i && p.stride < l->data[i - 1].stride; i--) {
    l->data[i] = l->data[i - 1];
    l->data[i - 1] = p;
  }
}

static bool near_to(double x, double y) { return x - y < 1e-6 && y - x < 1e-6; }

static bool follows(const piece *x, const piece *last, bool uneven) {
  if (x->axis.axis != last->axis.axis || axis_next_pre(x->axis) != last->axis.pre) return false;
  if (!uneven) return near_to(x->stride, last->stride * (double)last->axis.size);
  return last->before == x->before ||
         (last->before == x->before * (u64)x->dim && x->axis.size == x->dim);
}

/* In order of strides, parts of an axis that follow each other as one. */
static pieces pieces_of(arena *a, const sharding *s, i64s dims, bool uneven) {
  pieces all = {0}, out = {0};
  double below = 1;
  for (u32 d = s->rank; d-- > 0;) {
    axis_list axes = s->dims[d].axes;
    i64 parts = axes_size(axes), size = dims.data[d];
    double even = (double)size / (double)parts;
    double stride = below * (uneven ? even : (double)(size / parts + (size % parts > 0)));
    u64 before = (u64)parts;
    for (u32 k = 0; k < d; k++) before *= (u64)dims.data[k];
    for (size_t i = axes.len; i-- > 0;) {
      before /= (u64)axes.data[i].size;
      add_sorted(a, &all, (piece){axes.data[i], stride, before, size});
      stride *= (double)axes.data[i].size;
    }
    below *= (double)size;
  }
  for (size_t i = 0; i < all.len; i++) {
    piece *last = out.len ? &out.data[out.len - 1] : NULL;
    if (last && follows(&all.data[i], last, uneven)) {
      last->axis = axis_merge(all.data[i].axis, last->axis);
      last->before = last->before < all.data[i].before ? last->before : all.data[i].before;
    } else {
      VEC_PUSH(a, out, all.data[i]);
    }
  }
  return out;
}

/* `uneven`: but for what is cut off at their ends. */
static bool same_shards(const reshape *x, bool uneven) {
  arena *a = x->r->e.a;
  if (x->from == x->to && i64s_eq(x->in, x->out)) return true;
  if (x->from->mesh != x->to->mesh || !axes_eq(x->from->replicated, x->to->replicated))
    return false;
  if (op_operand(x->o, 0)->type->encoding || op_result(x->o, 0)->type->encoding) return false;
  pieces p = pieces_of(a, x->from, x->in, uneven), q = pieces_of(a, x->to, x->out, uneven);
  if (p.len != q.len) return false;
  for (size_t i = 0; i < p.len; i++) {
    const piece *m = &p.data[i], *n = &q.data[i];
    if (!axis_eq(m->axis, n->axis)) return false;
    if (uneven ? m->before != n->before : !near_to(m->stride, n->stride)) return false;
  }
  return true;
}

static bool all_pass_through(const reshape *x) {
  for (size_t i = 0; i < x->groups.len; i++)
    if (!passes_through(&x->groups.data[i])) return false;
  return true;
}

/* ---- replication ---- */

static const sharding *without_axes(const reshape *x, const sharding *s, axis_list axes) {
  sharding *out = arena_copy(x->r->e.a, s, sizeof(*s));
  dim_sharding *dims = arena_copy(x->r->e.a, s->dims, s->rank * sizeof(*dims));
  for (u32 d = 0; d < s->rank; d++) dims[d].axes = axes_difference(x->r->e.a, dims[d].axes, axes);
  out->dims = dims;
  return out;
}

static void replicate(const reshape *x) {
  arena *a = x->r->e.a;
  axis_list axes = {0};
  for (size_t i = 0; i < x->groups.len; i++) {
    const group *g = &x->groups.data[i];
    if (passes_through(g) || !group_is_uneven(x, g)) continue;
    for (u32 d = g->in; d < g->in_end; d++) axes = axes_concat(a, axes, x->from->dims[d].axes);
    for (u32 d = g->out; d < g->out_end; d++) axes = axes_concat(a, axes, x->to->dims[d].axes);
  }
  cursor before = cursor_before(&x->r->e, x->o), after = cursor_after(&x->r->e, x->o);
  value *v = op_result(x->o, 0);
  op_set_operand(x->o, 0,
                 emit_reshard(&before, op_operand(x->o, 0), without_axes(x, x->from, axes)));
  part_set_sharding(&x->r->e, x->o, 0, without_axes(x, x->to, axes));
  value *back = emit_reshard(&after, v, x->to);
  value_replace_except(v, back, back->def.op);
}

/* ---- exchange ---- */

/* Uneven dimensions are padded, and all axes of their groups become manual. */
static void pad_side(exchange *x, const sharding *s, i64 *shape, u32 begin, u32 end, bool uneven) {
  for (u32 d = begin; d < end; d++) {
    shape[d] = exchange_shard(shape[d], sharding_dim_size(s, d)) * sharding_dim_size(s, d);
    for (size_t i = 0; i < s->dims[d].axes.len && uneven; i++)
      x->manual[s->dims[d].axes.data[i].axis] = true;
  }
}

static i64 volume(i64s shape, u32 begin, u32 end) {
  i64 n = 1;
  for (u32 d = begin; d < end; d++) n *= shape.data[d];
  return n;
}

/* One dimension becomes several, of none of size 1, with no more padding than before. */
static bool can_split(const reshape *x, const exchange *e, const group *g) {
  if (g->num_in > 1 || g->num_out <= 1 || g->in_end - g->in != 1) return false;
  if (g->num_in != 1 || g->num_out != g->out_end - g->out) return false;
  i64 in = x->in.data[g->in], out = x->out.data[g->out];
  return (in % out == 0 || out % in == 0) &&
         volume(e->shape, g->in, g->in_end) == volume(e->result, g->out, g->out_end);
}

/* The first element of shard k of the result's dimensions. */
static i64 first_element(const reshape *x, const group *g, i64 k) {
  i64 first = 0, stride = 1;
  for (u32 d = g->out_end; d-- > g->out;) {
    i64 parts = sharding_dim_size(x->to, d), size = x->out.data[d];
    first += k % parts * exchange_shard(size, parts) * stride;
    k /= parts;
    stride *= size;
  }
  return first;
}

static void add_split(const reshape *x, exchange *e, const group *g) {
  arena *a = x->r->e.a;
  u32 d = g->in;
  dim_exchange y = {.dim = d, .dilation = 1, .count = sharding_dim_size(x->from, d)};
  y.in = y.out = e->shape.data[d] / y.count;
  for (u32 k = g->out; k < g->out_end; k++) y.axes = axes_concat(a, y.axes, x->to->dims[k].axes);
  i64 size = x->in.data[d], *begins = ARENA_ARRAY(a, i64, (size_t)y.count);
  for (i64 k = 0; k < y.count; k++) {
    i64 first = first_element(x, g, k), last = first + y.out - 1;
    i64 from = first < size ? first / y.in : k, to = last < size ? last / y.in : k;
    begins[k] = y.out + (from - k) * y.in + (first < size ? first % y.in : 0);
    y.moves = y.moves || from != k || to != k;
    y.left = max_i64(y.left, k - from);
    y.right = max_i64(y.right, to - k);
  }
  for (i64 k = 0; k < y.count; k++) begins[k] += y.left * y.in;
  y.begins = begins;
  e->near = e->near && y.left <= 1 && y.right <= 1;
  if (y.moves) VEC_PUSH(a, e->dims, y);
  e->moves = true;
}

static exchange exchange_of_reshape(const reshape *x) {
  arena *a = x->r->e.a;
  const mesh *m = x->from->mesh;
  exchange e = {.from = x->from, .to = x->to, .near = m->size <= EXCHANGE_MAX_DEVICES};
  e.manual = arena_zalloc(a, m->num_axes);
  i64 *shape = arena_copy(a, x->in.data, x->in.len * sizeof(*shape));
  i64 *result = arena_copy(a, x->out.data, x->out.len * sizeof(*result));
  e.shape = (i64s){shape, x->in.len};
  e.result = (i64s){result, x->out.len};
  for (size_t i = 0; i < x->groups.len && e.near; i++) {
    const group *g = &x->groups.data[i];
    bool uneven = group_is_uneven(x, g);
    pad_side(&e, x->from, shape, g->in, g->in_end, uneven);
    pad_side(&e, x->to, result, g->out, g->out_end, uneven);
    if (!uneven || passes_through(g)) continue;
    e.near = can_split(x, &e, g);
    if (e.near) add_split(x, &e, g);
  }
  return e;
}

static value *finish_reshape(const void *user, cursor *at, const exchange *x, value *v,
                             value *fill) {
  (void)user, (void)fill;
  arena *a = at->env->a;
  i64 *dims = arena_copy(a, x->result.data, x->result.len * sizeof(*dims));
  for (u32 d = 0; d < x->to->rank; d++) dims[d] /= exchange_parts(x, x->to, d);
  v = emit_reshape(at, v, (i64s){dims, x->result.len});
  return emit_sharded(at->env, v, exchange_inside(a, x, x->to));
}

static void emit_split(const reshape *x, const exchange *e) {
  resolver *r = x->r;
  cursor at = cursor_before(&r->e, x->o);
  value *v = op_operand(x->o, 0);
  value *zero = emit_zeros(&at, type_tensor(r->e.c, (i64s){0}, v->type->elem, NULL));
  v = emit_padded(&at, v, e->shape, x->from, NULL);
  v = emit_exchange(r, &at, e, v, zero, finish_reshape, NULL);
  value_replace(op_result(x->o, 0), emit_cut(&at, v, x->out, x->to));
  op_erase(x->o);
}

/* ---- the op ---- */

static axis_list all_axes(arena *a, const sharding *s) {
  axis_vec v = {0};
  for (u32 d = 0; s && d < s->rank; d++)
    for (size_t i = 0; i < s->dims[d].axes.len; i++)
      axes_add_or_merge(a, &v, s->dims[d].axes.data[i]);
  return axis_vec_list(&v);
}

bool resolve_reshape(resolver *r, op *o) {
  const type *in = op_operand(o, 0)->type, *out = op_result(o, 0)->type;
  reshape x = {r, o, in->dims, out->dims, .from = part_sharding(&r->e, op_operand(o, 0))};
  x.to = part_sharding(&r->e, op_result(o, 0));
  if ((!x.from && !x.to) || !type_is_static(in) || !type_is_static(out)) return true;
  if (!x.from || !x.to || !axes_eq(all_axes(r->e.a, x.from), all_axes(r->e.a, x.to)))
    return op_error(r->e.c, o, "has operand and result that are sharded along different axes");
  if (x.from->rank != x.in.len || x.to->rank != x.out.len) return true;
  if (same_shards(&x, false)) return true;
  find_groups(&x);
  bool same = same_shards(&x, true);
  if (same && all_pass_through(&x)) return true;
  exchange e = {0};
  if (same && r->exchanges) e = exchange_of_reshape(&x);
  if (e.near && e.moves)
    emit_split(&x, &e);
  else
    replicate(&x);
  return true;
}
