/* Ops that only look at their operand in another way: their result is the operand's slot with
 * other strides. Also the ops that need no operand. No steps, unless a value has to be
 * computed before it can be looked at. */
#include "compile/steps.h"
#include "num/convert.h"

/* The result of a view of `in`: what is the same everywhere stays so, under other dims; other
 * EXPRs are computed first. The caller sets offset and stride. NULL: an error. */
static node *view_of(lower *L, op *o, node *in) {
  node *n = lower_new_node(L, o, op_result(o, 0));
  if (!n) return NULL;
  if (fuse_as_uniform(in, n)) {
    lower_used(in);
    return n;
  }
  fuse_settle(L, in);
  lower_used(in);
  n->kind = in->kind;
  n->element = in->element;
  n->slot = in->slot;
  n->slot_count = in->slot_count;
  n->offset = in->offset;
  n->stride = NULL;
  return n;
}

/* Sets the strides, and finds out whether that is simply the whole slot. */
static void set_view(node *n, i64 offset, const i64 *stride) {
  n->offset = offset;
  n->stride = stride;
  n->dense = false;
  if (n->kind != NODE_MEM) return;
  n->dense = n->offset == 0 && n->slot_count == (u64)n->count;
  i64 expect = 1;
  for (u32 d = n->rank; d-- > 0 && n->dense;) {
    if (n->dims[d] != 1 && stride[d] != expect) n->dense = n->count == 0;
    if (n->dims[d] > 1 && !checked_mul(expect, n->dims[d], &expect)) expect = 1;
  }
}

static bool has_strides(const node *n) { return n->kind == NODE_MEM || n->kind == NODE_INDEX; }

/* ---- from nothing ---- */

/* All the elements: zero where no index is, and where two are, the first one's, as in MLIR. */
static bool sparse_bytes(lower *L, op *o, const sparse_attr *s, str *out) {
  const dense_attr *in = attr_as(dense, s->indices), *values = attr_as(dense, s->values);
  size_t size = type_storage(s->type->elem), rank = s->type->dims.len, bytes;
  i64 n;
  if (!values || !type_num_elements(s->type, &n) || !checked_mul((size_t)n, size, &bytes) ||
      bytes > INT32_MAX)
    return op_unimplemented(L->ctx, o, "a sparse constant like this");
  char *all = arena_zalloc(L->a, bytes);
  for (size_t i = (size_t)values->type->dims.data[0]; i-- > 0;) {
    size_t at = 0;
    for (size_t k = 0; k < rank; k++)
      at = at * (size_t)s->type->dims.data[k] + (size_t)attr_dense_int(&in->base, i * rank + k);
    memcpy(all + at * size, values->data.data + (values->splat ? 0 : i * size), size);
  }
  return *out = (str){all, bytes}, true;
}

static bool constant_bytes(lower *L, op *o, const attr *value, str *out, bool *splat) {
  const dense_attr *d = attr_as(dense, value);
  const dense_resource_attr *r = attr_as(dense_resource, value);
  *splat = d && d->splat;
  if (attr_is(sparse, value)) return sparse_bytes(L, o, (const sparse_attr *)value, out);
  if (d)
    *out = d->data;
  else if (!r || !ir_resource_get(L->ctx, r->key, out))
    return op_unimplemented(L->ctx, o, "a value that is not given in the program");
  return true;
}

/* A program's constants are as results are: no stray bits above those of a narrow type. */
static const char *clean_bytes(lower *L, dtype t, const char *data, u64 count) {
  bool narrow = num_int_bits(t) && num_int_bits(t) < 8;
  if (!narrow) return data;
  char *copy = ARENA_ARRAY(L->a, char, count + 1);
  for (u64 i = 0; i < count; i++) num_convert(t, data + i, t, copy + i);
  return copy;
}

/* One element everywhere is a CONST, whatever its shape, and costs no memory; others lie in the
 * program. */
bool lower_constant(lower *L, op *o) {
  str data;
  bool splat;
  if (!constant_bytes(L, o, o->slots[0], &data, &splat)) return false;
  node *n = lower_new_node(L, o, op_result(o, 0));
  if (!n) return false;
  size_t size = dtype_size((dtype)n->type);
  u64 need = splat ? size : (u64)n->count * size;
  if (data.len < need)
    return op_error(L->ctx, o, "needs %llu bytes of data, has %zu", (unsigned long long)need,
                    data.len);
  const char *bytes = clean_bytes(L, (dtype)n->type, data.data, need / size);
  if (splat || n->count == 1) {
    n->kind = NODE_CONST;
    n->element = bytes;
    return true;
  }
  n->result = -1;
  lower_make_dense(L, n, prog_const(L->b, (dtype)n->type, (u64)n->count, bytes));
  return true;
}

/* An INDEX: its element is its address in a view whose stride is 1 along one dim, so that slices
 * and transposes of it are again only other strides. */
bool lower_iota(lower *L, op *o) {
  struct iota_attrs a;
  view_iota(o, &a);
  node *n = lower_new_node(L, o, op_result(o, 0));
  if (!n) return false;
  i64 *stride = arena_zalloc(L->a, (n->rank + 1) * sizeof(i64));
  if (a.iota_dimension >= 0 && a.iota_dimension < (i64)n->rank) stride[a.iota_dimension] = 1;
  n->kind = NODE_INDEX;
  set_view(n, 0, stride);
  return true;
}

/* ---- other strides ---- */

/* Whether o's result, its operand with more dims of 1, is only there to be put together with others
 * along one of these; behind: they are behind its own. */
static bool is_to_be_joined(const op *o, bool *behind) {
  const type *in = op_operand(o, 0)->type, *out = op_result(o, 0)->type;
  const use *u = o->results[0].uses;
  size_t rank = in->dims.len, own = 0;
  if (out->dims.len <= rank || !u || u->next || !op_is(u->owner, concatenate)) return false;
  if (u->owner->parent != o->parent) return false;
  *behind = true;
  for (size_t d = 0; d < out->dims.len; d++)
    if (own < rank && out->dims.data[d] == in->dims.data[own])
      own++;
    else if (out->dims.data[d] == 1)
      *behind &= own == rank;
    else
      return false;
  return own == rank;
}

/* Then it need not be computed before. NULL: it has to. */
static node *joined_view(lower *L, op *o, node *in) {
  bool behind;
  if (in->kind != NODE_EXPR || in->apart || in->uniform || in->pending != 1 ||
      !is_to_be_joined(o, &behind))
    return NULL;
  node *n = lower_new_node(L, o, op_result(o, 0));
  if (!n) return NULL;
  turned_how how = {.to = arena_copy(L->a, n, sizeof *n), .stored = true};
  if (!behind) return fuse_turned(L, in, n, &how) ? n : NULL;
  lower_used(in);
  return fuse_with_ones(L, in, n) ? n : NULL;
}

/* The order of its dims. */
static bool keeps_order(i64s dims) {
  for (size_t d = 1; d < dims.len; d++)
    if (dims.data[d] < dims.data[d - 1]) return false;
  return true;
}

/* Whether all who use it go through it in order. */
static bool is_gone_through(const value *v) {
  for (const use *u = v->uses; u; u = u->next)
    if (!select_is_elementwise(u->owner) && !op_is(u->owner, func_return)) return false;
  return v->uses != NULL;
}

/* Where all who use it go through it in order, it is computed so. NULL: it is not. */
static node *reshaped_view(lower *L, op *o, node *in) {
  if (in->kind != NODE_EXPR || in->count == 0 || !is_gone_through(op_result(o, 0))) return NULL;
  node *n = lower_new_node(L, o, op_result(o, 0));
  turned_how how = {.to = n ? arena_copy(L->a, n, sizeof *n) : NULL};
  return n && fuse_turned(L, in, n, &how) ? n : NULL;
}

/* Dims that are new or stretched have stride 0. */
bool lower_broadcast_in_dim(lower *L, op *o) {
  struct broadcast_in_dim_attrs a;
  view_broadcast_in_dim(o, &a);
  node *in = lower_node(L, o, 0);
  i64 count;
  bool same = type_num_elements(op_result(o, 0)->type, &count) && count == in->count;
  if (keeps_order(a.broadcast_dimensions) &&
      (joined_view(L, o, in) || (same && reshaped_view(L, o, in))))
    return true;
  node *n = view_of(L, o, in);
  if (!n) return false;
  if (!has_strides(n)) return true;
  i64 *stride = arena_zalloc(L->a, (n->rank + 1) * sizeof(i64));
  for (u32 d = 0; d < in->rank; d++)
    if (in->dims[d] != 1) stride[a.broadcast_dimensions.data[d]] = in->stride[d];
  set_view(n, in->offset, stride);
  return true;
}

bool lower_sums_up(const op *o, const value *v) {
  i64 of[3] = {0};
  if (!op_is(o, dot_general)) return false;
  const value *all[] = {v, op_operand(o, op_operand(o, 0) == v), op_result(o, 0)};
  for (u32 i = 0; i < COUNT(all); i++)
    if (!type_num_elements(all[i]->type, &of[i])) return false;
  return of[1] && of[0] / of[1] == of[2];
}

/* Bytes of an element of the widest that n reads, but for what is in a cache all the time, as one
 * number a channel is. */
static size_t widest_read(lower *L, node *n) {
  enum { MANY = 64 };
  size_t most = 0;
  if (n->element || n->stamp == L->stamp) return 0;
  n->stamp = L->stamp;
  if (n->kind == NODE_MEM && n->slot_count <= (u64)n->count / MANY) return 0;
  if (n->kind != NODE_EXPR) return dtype_size((dtype)n->type);
  for (u32 i = 0; i < n->num_in && !n->uniform; i++) {
    size_t width = widest_read(L, n->in[i]);
    most = width > most ? width : most;
  }
  return most;
}
/* Whether its operand is better read across as it is computed than stored, and moved by a kernel
 * that does no more: if it is narrower, or small, or its rows stay rows. */
static bool reads_across(lower *L, node *in, i64s permutation) {
  enum { SMALL = 1 << 20 };
  lower_new_stamp(L);
  size_t width = dtype_size((dtype)in->type), read = widest_read(L, in);
  bool rows = in->rank == 0 || permutation.data[in->rank - 1] == in->rank - 1;
  return read < width || (read == width && (rows || in->count * (i64)width <= SMALL));
}

/* Then it is computed so. NULL: it is not. */
static node *transposed_view(lower *L, op *o, node *in, i64s permutation) {
  const value *v = op_result(o, 0);
  if (in->kind != NODE_EXPR) return NULL;
  bool pays = v->uses && lower_sums_up(v->uses->owner, v);
  pays = pays || (reads_across(L, in, permutation) && is_gone_through(v));
  node *n = pays ? lower_new_node(L, o, op_result(o, 0)) : NULL;
  return n && fuse_turned(L, in, n, &(turned_how){.order = permutation}) ? n : NULL;
}

bool lower_transpose(lower *L, op *o) {
  struct transpose_attrs a;
  view_transpose(o, &a);
  node *in = lower_node(L, o, 0);
  if (transposed_view(L, o, in, a.permutation)) return true;
  node *n = view_of(L, o, in);
  if (!n) return false;
  if (!has_strides(n)) return true;
  i64 *stride = ARENA_ARRAY(L->a, i64, n->rank);
  for (u32 d = 0; d < n->rank; d++) stride[d] = in->stride[a.permutation.data[d]];
  set_view(n, in->offset, stride);
  return true;
}

static bool slice_pieces(lower *L, op *o, node *in, const i64 *start) {
  pieces *boxes = ARENA_NEW(L->a, pieces);
  i64 at[PROG_MAX_DIMS];
  for (u32 d = 0; d < in->rank; d++) at[d] = -start[d];
  lower_used(in);
  pieces_add(L, boxes, in, at, op_result(o, 0)->type->dims.data);
  return pieces_result(L, o, boxes, pieces_pay(o)) != NULL;
}

/* An empty slice may start behind the end; its offset is 0, so that no view points out of its
 * slot. */
static void see_sliced(lower *L, node *n, const node *in, const i64 *start, const i64 *step) {
  i64 *stride = ARENA_ARRAY(L->a, i64, n->rank), offset = in->offset;
  for (u32 d = 0; d < n->rank; d++) {
    if (n->dims[d] > 0) offset += start[d] * in->stride[d];
    stride[d] = n->dims[d] > 1 ? in->stride[d] * step[d] : in->stride[d];
  }
  set_view(n, n->count ? offset : 0, stride);
}

/* Of something narrower made wider: that of a slice of it, which is less to read, as long as it is
 * rows. */
static bool slice_before(lower *L, op *o, node *in, const i64 *start, const i64 *step) {
  enum { ROW = 16 };
  if (in->kind != NODE_EXPR || in->uniform || !op_is(in->op, convert)) return false;
  const node *of = in->in[0];
  i64s dims = op_result(o, 0)->type->dims;
  size_t last = dims.len - 1;
  if (of->kind != NODE_MEM || dtype_size((dtype)of->type) >= dtype_size((dtype)in->type))
    return false;
  if (!dims.len || dims.data[last] < ROW || step[last] * of->stride[last] != 1) return false;
  node *n = lower_new_node(L, o, op_result(o, 0)), *sliced = arena_copy(L->a, of, sizeof *of);
  if (!n) return false;
  sliced->dims = n->dims, sliced->count = n->count;
  sliced->pending = sliced->stamp = 0;
  sliced->result = NOWHERE;
  sliced->padded = NULL;
  see_sliced(L, sliced, of, start, step);
  fuse_computed_of(L, in, n, sliced);
  return true;
}

bool lower_sliced(lower *L, op *o, node *in, const i64 *start, const i64 *step) {
  if (in->kind == NODE_PIECES) return slice_pieces(L, o, in, start);
  if (slice_before(L, o, in, start, step)) return true;
  node *n = view_of(L, o, in);
  if (!n) return false;
  if (has_strides(n)) see_sliced(L, n, in, start, step);
  return true;
}

bool lower_slice(lower *L, op *o) {
  struct slice_attrs a;
  view_slice(o, &a);
  return lower_sliced(L, o, lower_node(L, o, 0), a.start_indices.data, a.strides.data);
}

bool lower_seen(lower *L, op *o, node *in, u32 first, i64 start, const u32 *of, const i64 *step) {
  node *n = view_of(L, o, in);
  if (!n) return false;
  if (!has_strides(n)) return true;
  i64 *stride = ARENA_ARRAY(L->a, i64, n->rank);
  for (u32 d = 0; d < n->rank; d++) stride[d] = step[d] * in->stride[of[d]];
  set_view(n, n->count ? in->offset + start * in->stride[first] : 0, stride);
  return true;
}

/* Where all who use it go through it in order, it is computed so. NULL: it is not. */
static node *reversed_view(lower *L, op *o, node *in, i64s back) {
  if (in->kind != NODE_EXPR || in->count == 0 || !is_gone_through(op_result(o, 0))) return NULL;
  node *n = lower_new_node(L, o, op_result(o, 0));
  return n && fuse_turned(L, in, n, &(turned_how){.back = back}) ? n : NULL;
}

/* From the last element backwards. */
bool lower_reverse(lower *L, op *o) {
  struct reverse_attrs a;
  view_reverse(o, &a);
  node *in = lower_node(L, o, 0), *n;
  if (reversed_view(L, o, in, a.dimensions)) return true;
  n = view_of(L, o, in);
  if (!n) return false;
  if (!has_strides(n)) return true;
  i64 *stride = ARENA_ARRAY(L->a, i64, n->rank), offset = in->offset;
  if (n->rank) memcpy(stride, in->stride, n->rank * sizeof(i64));
  for (size_t k = 0; k < a.dimensions.len; k++) {
    i64 d = a.dimensions.data[k];
    if (n->dims[d] > 1) offset += (n->dims[d] - 1) * stride[d];
    stride[d] = -stride[d];
  }
  set_view(n, n->count ? offset : 0, stride);
  return true;
}

/* Runs of dims with equal products correspond, and within a run the old dims must follow one
 * another densely. */
bool lower_reshape_strides(const node *in, const node *out, i64 *stride) {
  u32 i = 0, j = 0;
  while (i < in->rank || j < out->rank) {
    u32 i0 = i, j0 = j;
    i64 left = i < in->rank ? in->dims[i++] : 1, right = j < out->rank ? out->dims[j++] : 1;
    while (left != right) {
      if (left < right) {
        if (i == in->rank) return false;
        left *= in->dims[i++];
      } else {
        if (j == out->rank) return false;
        right *= out->dims[j++];
      }
    }
    i64 inner = 0, next = 0; /* stride of the run's last real dim; what the next must have */
    bool first = true;
    for (u32 d = i; d-- > i0;) {
      if (in->dims[d] == 1) continue;
      if (first)
        inner = in->stride[d];
      else if (in->stride[d] != next)
        return false;
      next = in->stride[d] * in->dims[d];
      first = false;
    }
    for (u32 d = j; d-- > j0;) {
      stride[d] = inner;
      inner *= out->dims[d];
    }
  }
  return true;
}

bool lower_reshape(lower *L, op *o) {
  node *in = lower_node(L, o, 0);
  if (joined_view(L, o, in) || reshaped_view(L, o, in)) return true;
  node *n = view_of(L, o, in);
  if (!n) return false;
  if (!has_strides(n)) return true;
  i64 *stride = ARENA_ARRAY(L->a, i64, n->rank);
  if (n->count == 0 || !lower_reshape_strides(in, n, stride)) {
    n->slot = fuse_dense(L, in);
    n->slot_count = (u64)in->count;
    n->kind = NODE_MEM;
    set_view(n, 0, lower_dense_strides(L, n->rank, n->dims));
    return true;
  }
  set_view(n, in->offset, stride);
  return true;
}

/* The result is the operand under a second name: their uses are counted together (lower_bind). */
bool lower_identity(lower *L, op *o) {
  for (u32 i = 0; i < o->num_results; i++) {
    node *in = lower_node(L, o, i);
    if (!types_eq((types){&op_operand(o, i)->type, 1}, (types){&op_result(o, i)->type, 1}))
      return op_unimplemented(L->ctx, o, "between different types");
    lower_used(in);
    lower_bind(L, op_result(o, i), in);
  }
  return true;
}
