/* Ops that read or write parts of a tensor at places known at run time only: dynamic slices,
 * gather, scatter. */
#include "compile/steps.h"

/* ---- dynamic slices ---- */

/* The start indices as slots, or, when all are known, as numbers: constants, and zero where
 * nothing else is inside. */
static bool known_starts(lower *L, op *o, u32 first, const i64 *big, const i64 *small, i64 *start) {
  for (u32 d = 0; first + d < o->num_operands; d++) {
    start[d] = 0;
    if (big[d] != small[d] && !lower_const_int(lower_node(L, o, first + d), &start[d]))
      return false;
    start[d] = max_i64(0, min_i64(start[d], big[d] - small[d]));
  }
  return true;
}

static void start_slots(lower *L, op *o, u32 first, u32 *out) {
  for (u32 d = 0; first + d < o->num_operands; d++) {
    node *n = lower_node(L, o, first + d);
    out[d] = fuse_dense(L, n);
    lower_used(n);
  }
}

/* A slice whose place is known after all: a view. The starts are clamped (StableHLO,
 * dynamic_slice), so that it lies inside of `in`. */
static bool static_slice(lower *L, op *o, node *in, const i64 *start) {
  node *n = lower_new_node(L, o, op_result(o, 0));
  if (!n) return false;
  fuse_settle(L, in);
  i64 offset = in->offset;
  n->kind = in->kind;
  n->element = in->element;
  n->slot = in->slot;
  n->slot_count = in->slot_count;
  n->stride = in->stride;
  for (u32 d = 0; d < in->rank && in->kind != NODE_CONST; d++) offset += start[d] * in->stride[d];
  n->offset = n->count ? offset : 0;
  n->dense = in->dense && n->count == in->count;
  for (u32 i = 0; i < o->num_operands; i++) lower_used(lower_node(L, o, i));
  return true;
}

/* ---- slices of what is seen transposed ---- */

/* Whether n is the whole of its slot with dims in another order: order[i] is the dim of n that lies
 * there as the i-th. */
static bool lies_turned(const node *n, u32 *order) {
  for (u32 d = 0; d < n->rank; d++) order[d] = d;
  if (n->kind != NODE_MEM || n->dense || !n->count || n->offset || n->slot_count != (u64)n->count)
    return false;
  for (u32 i = 1; i < n->rank; i++)
    for (u32 k = i; k > 0 && n->stride[order[k]] > n->stride[order[k - 1]]; k--) {
      u32 d = order[k];
      order[k] = order[k - 1], order[k - 1] = d;
    }
  i64 expect = 1;
  for (u32 i = n->rank; i-- > 0;) {
    if (n->dims[order[i]] == 1) continue;
    if (n->stride[order[i]] != expect) return false;
    lower_times(&expect, n->dims[order[i]]);
  }
  return true;
}

/* The slot of `in`, to take slices of these sizes from; order[i] is the dim of `in` that lies there
 * as the i-th. Transposed only where its slices would be read element by element, and it is not
 * much more than they are. */
static u32 as_it_lies(lower *L, op *o, node *in, i64s sizes, u32 *order) {
  enum { RUN = 64, FEW = 8 };
  i64 taken;
  fuse_settle(L, in);
  if (lies_turned(in, order) && type_num_elements(op_result(o, 0)->type, &taken)) {
    u32 last = in->rank - 1;
    while (in->dims[order[last]] == 1) last--;
    i64 run = sizes.data[order[last]] * (i64)dtype_size((dtype)in->type);
    if (taken <= in->count / FEW || (run >= RUN && taken <= in->count)) return in->slot;
  }
  for (u32 d = 0; d < in->rank; d++) order[d] = d;
  return fuse_dense(L, in);
}

/* Whether the body of a loop takes parts of v, in each of its rounds anew. */
static bool takes_of(const value *v) {
  for (const use *u = v->uses; u; u = u->next) {
    const op *o = u->owner;
    u32 i = (u32)(u - o->operands);
    if (i == 0 && (op_is(o, dynamic_slice) || op_is(o, gather))) return true;
    if (!op_is(o, while)) continue;
    const value *inner = op_body(o, 1)->args[i];
    if (op_operand(op_terminator(op_body(o, 1)), i) == inner && takes_of(inner)) return true;
  }
  return false;
}

void data_before_loop(lower *L, const value *v, node *n) {
  u32 order[PROG_MAX_DIMS];
  bool scattered =
      n->kind == NODE_PIECES || n->kind == NODE_INDEX || (n->kind == NODE_MEM && !n->dense);
  if (scattered && takes_of(v) && !lies_turned(n, order)) fuse_dense(L, n);
}

/* A result in a slot of its own, whose dims lie there in this order; *lying: as they do. */
static node *new_turned(lower *L, op *o, const u32 *order, i64s *lying) {
  node *n = lower_new_node(L, o, op_result(o, 0));
  if (!n) return NULL;
  i64 *dims = ARENA_ARRAY(L->a, i64, n->rank), *stride = ARENA_ARRAY(L->a, i64, n->rank);
  bool turned = false;
  for (u32 i = 0; i < n->rank; i++) {
    dims[i] = n->dims[order[i]];
    turned |= order[i] != i;
  }
  /* What is the program's is row-major, and may be made so from here. */
  u32 slot = turned ? prog_work(L->b, (dtype)n->type, (u64)n->count) : lower_new_slot(L, n);
  lower_make_dense(L, n, slot);
  *lying = (i64s){dims, n->rank};
  if (!turned) return n;
  const i64 *dense = lower_dense_strides(L, n->rank, dims);
  for (u32 i = 0; i < n->rank; i++) stride[order[i]] = dense[i];
  n->stride = stride;
  n->dense = false;
  return n;
}

/* What `in` is twice, where that is not put together (pieces_turn). */
static const node *turned(const op *o, const node *in) {
  if (in->kind != NODE_PIECES || in->boxes->len != 2 || !pieces_turn(o)) return NULL;
  const piece *b = in->boxes->data;
  return b[0].of == b[1].of ? b[0].of : NULL;
}

/* The executor clamps starts that are only known at run time. */
bool lower_dynamic_slice(lower *L, op *o) {
  struct dynamic_slice_attrs a;
  view_dynamic_slice(o, &a);
  node *in = lower_node(L, o, 0);
  i64 start[PROG_MAX_DIMS];
  bool known = known_starts(L, o, 1, in->dims, a.slice_sizes.data, start);
  const node *of = known ? NULL : turned(o, in);
  if (in->kind == NODE_PIECES && !of) pieces_write(L, in);
  if (known) return static_slice(L, o, in, start);
  prog_dynamic d = {.update = false, .rank = in->rank};
  u32 order[PROG_MAX_DIMS], starts[PROG_MAX_DIMS];
  if (of) {
    for (u32 i = 0; i < in->rank; i++) order[i] = i;
    while (of->dims[d.turns] == in->dims[d.turns]) d.turns++;
    d.big = fuse_dense(L, in->boxes->data[0].of);
    d.turns++;
  } else {
    d.big = as_it_lies(L, o, in, a.slice_sizes, order);
  }
  start_slots(L, o, 1, starts);
  for (u32 i = 0; i < in->rank; i++) {
    d.start[i] = starts[order[i]];
    d.big_dims[i] = (of ? of : in)->dims[order[i]];
  }
  i64s dims;
  node *n = new_turned(L, o, order, &dims);
  if (!n) return false;
  d.small = n->slot;
  if (n->rank) memcpy(d.small_dims, dims.data, n->rank * sizeof(i64));
  prog_add_dynamic(L->b, &d, lower_name(L), lower_loc(L));
  lower_used(in);
  return true;
}

void data_start_from(lower *L, const node *n, node *in) {
  fuse_close_of(L, in);
  if (in->element)
    prog_add_fill(L->b, n->slot, in->element, lower_name(L), lower_loc(L));
  else if (in->kind == NODE_MEM && in->dense)
    prog_add_move(L->b, in->slot, n->slot, lower_name(L), lower_loc(L));
  else
    fuse_store(L, in, n->slot, 0, n->stride);
}

/* A move of the whole and a write over a part of it, or of all of it. That the move costs nothing
 * in a loop is what the order below is for: it can vanish only if nobody reads `big` after it. */
/* Whether n reads of `of`, the whole of a slot, only those elements that it has itself where it
 * lies at `offset` there. */
static bool reads_no_others(lower *L, node *n, const node *of, i64 offset) {
  if (n->element || n->stamp == L->stamp) return true;
  n->stamp = L->stamp;
  if (n->kind == NODE_MEM && n->slot == of->slot)
    return n->offset == offset && n->rank == of->rank &&
           memcmp(n->stride, of->stride, n->rank * sizeof(i64)) == 0;
  bool only = n->kind != NODE_PIECES;
  for (u32 i = 0; n->kind == NODE_EXPR && only && i < n->num_in; i++)
    only = reads_no_others(L, n->in[i], of, offset);
  return only;
}
static bool reads_only(lower *L, node *n, const node *of, i64 offset) {
  lower_new_stamp(L);
  return n->kind == NODE_EXPR && of->kind == NODE_MEM && of->dense &&
         reads_no_others(L, n, of, offset);
}

bool lower_dynamic_update_slice(lower *L, op *o) {
  node *big = lower_node(L, o, 0), *small = lower_node(L, o, 1);
  i64 start[PROG_MAX_DIMS];
  prog_dynamic d = {.update = true, .rank = big->rank};
  bool fixed = known_starts(L, o, 2, big->dims, small->dims, start);
  lower_used(big);
  lower_used(small);
  fuse_close_of(L, big);
  fuse_close_of(L, small);
  i64 at = 0;
  for (u32 k = 0; fixed && big->kind == NODE_MEM && k < big->rank; k++)
    at += start[k] * big->stride[k];
  bool in_place = fixed && small->count < big->count && reads_only(L, small, big, at);
  /* What reads `big` is computed before, or `big` would have to be kept; but for what is written
   * over where it is read. */
  if (small->kind == NODE_EXPR && !small->uniform && !in_place) fuse_settle(L, small);
  if (small->kind == NODE_MEM && big->kind == NODE_MEM && small->slot == big->slot)
    fuse_dense(L, small);
  if (!fixed) {
    d.small = fuse_dense(L, small);
    start_slots(L, o, 2, d.start);
  }
  for (u32 i = 2; fixed && i < o->num_operands; i++) lower_used(lower_node(L, o, i));
  node *n = lower_new_mem(L, o, 0);
  if (!n) return false;
  if (small->count < n->count) data_start_from(L, n, big);
  if (fixed) {
    at = 0;
    for (u32 k = 0; k < n->rank; k++) at += start[k] * n->stride[k];
    if (in_place) L->moved_from = big->slot, L->moved_to = n->slot;
    if (small->count) fuse_store(L, small, n->slot, at, n->stride);
    L->moved_from = PROG_NONE;
  } else {
    d.big = n->slot;
    if (big->rank) memcpy(d.big_dims, big->dims, big->rank * sizeof(i64));
    if (small->rank) memcpy(d.small_dims, small->dims, small->rank * sizeof(i64));
    prog_add_dynamic(L->b, &d, lower_name(L), lower_loc(L));
  }
  return true;
}

/* ---- gather, scatter ---- */

static i64s dims_as_they_lie(lower *L, i64s dims, const u32 *order, u32 rank) {
  i64 *to = ARENA_ARRAY(L->a, i64, dims.len);
  for (u32 i = 0; i < dims.len; i++)
    for (u32 k = 0; k < rank; k++)
      if (order[k] == dims.data[i]) to[i] = k;
  return (i64s){to, dims.len};
}

/* The gather from an operand whose dims lie in this order, into a result whose batches come first
 * and then the windows' dims in the operand's order; out[i] is the result's dim that lies i-th. */
static void turn_gather(lower *L, prog_gather *g, const u32 *order, u32 *out) {
  u32 rank = (u32)g->operand_dims.len, n = 0;
  i64 *dims = ARENA_ARRAY(L->a, i64, rank), *sizes = ARENA_ARRAY(L->a, i64, rank);
  for (u32 d = 0; d < g->other_dims.len; d++)
    if (!i64s_contain(g->offset_dims, d)) out[n++] = d;
  i64 *offset_dims = ARENA_ARRAY(L->a, i64, g->offset_dims.len);
  for (u32 i = 0; i < g->offset_dims.len; i++) offset_dims[i] = n + i;
  for (u32 i = 0; i < rank; i++) {
    dims[i] = g->operand_dims.data[order[i]];
    sizes[i] = g->slice_sizes.data[order[i]];
    u32 before = 0;
    bool hidden = false;
    for (u32 d = 0; d <= order[i]; d++) {
      hidden = i64s_contain(g->collapsed, d) || i64s_contain(g->operand_batching, d);
      before += !hidden;
    }
    if (!hidden) out[n++] = (u32)g->offset_dims.data[before - 1];
  }
  g->operand_dims.data = dims;
  g->slice_sizes.data = sizes;
  g->offset_dims.data = offset_dims;
  g->collapsed = dims_as_they_lie(L, g->collapsed, order, rank);
  g->operand_batching = dims_as_they_lie(L, g->operand_batching, order, rank);
  g->start_index_map = dims_as_they_lie(L, g->start_index_map, order, rank);
}

bool lower_gather(lower *L, op *o) {
  struct gather_attrs a;
  view_gather(o, &a);
  const gather_dims_attr *g = a.dimension_numbers;
  node *in = lower_node(L, o, 0), *at = lower_node(L, o, 1);
  u32 order[PROG_MAX_DIMS], out[PROG_MAX_DIMS];
  i64 start, each[PROG_MAX_DIMS];
  u32 first;
  if (affine_gather(o, &first, &start, out, each)) {
    if (in->kind == NODE_PIECES) pieces_write(L, in);
    lower_used(at);
    return lower_seen(L, o, in, first, start, out, each);
  }
  bool turned = false;
  u32 operand = as_it_lies(L, o, in, a.slice_sizes, order), indices = fuse_dense(L, at), other;
  i64s result = op_result(o, 0)->type->dims;
  prog_gather step = {.n = 1,
                      .operand = &operand,
                      .other = &other,
                      .indices = indices,
                      .operand_dims = {in->dims, in->rank},
                      .indices_dims = {at->dims, at->rank},
                      .other_dims = result,
                      .offset_dims = g->offset_dims,
                      .collapsed = g->collapsed_slice_dims,
                      .operand_batching = g->operand_batching_dims,
                      .indices_batching = g->start_indices_batching_dims,
                      .start_index_map = g->start_index_map,
                      .index_vector_dim = g->index_vector_dim,
                      .slice_sizes = a.slice_sizes};
  for (u32 d = 0; d < result.len; d++) out[d] = d;
  for (u32 d = 0; d < in->rank; d++) turned |= order[d] != d;
  if (turned) turn_gather(L, &step, order, out);
  node *n = new_turned(L, o, out, &step.other_dims);
  if (!n) return false;
  other = n->slot;
  prog_add_gather(L->b, &step, lower_name(L), lower_loc(L));
  lower_used(in);
  lower_used(at);
  return true;
}

/* The operands are moved into the results' slots, where the updates are then combined in place. All
 * that is read is in memory before the first such move. */
bool lower_scatter(lower *L, op *o) {
  struct scatter_attrs a;
  view_scatter(o, &a);
  const scatter_dims_attr *g = a.scatter_dimension_numbers;
  u32 k = o->num_results;
  u32 *operand = ARENA_ARRAY(L->a, u32, k), *other = ARENA_ARRAY(L->a, u32, k);
  node *at = lower_node(L, o, k), *in = lower_node(L, o, 0), *update = lower_node(L, o, k + 1);
  prog_gather step = {.scatter = true, .n = k, .operand = operand, .other = other};
  step.indices = fuse_dense(L, at);
  for (u32 i = 0; i < k; i++) {
    fuse_settle(L, lower_node(L, o, i));
    other[i] = fuse_dense(L, lower_node(L, o, k + 1 + i));
  }
  for (u32 i = 0; i < k; i++) {
    node *n = lower_new_mem(L, o, i);
    if (!n) return false;
    data_start_from(L, n, lower_node(L, o, i));
    operand[i] = n->slot;
  }
  step.operand_dims = (i64s){in->dims, in->rank};
  step.indices_dims = (i64s){at->dims, at->rank};
  step.other_dims = (i64s){update->dims, update->rank};
  step.offset_dims = g->update_window_dims;
  step.collapsed = g->inserted_window_dims;
  step.operand_batching = g->input_batching_dims;
  step.indices_batching = g->scatter_indices_batching_dims;
  step.start_index_map = g->scatter_dims_to_operand_dims;
  step.index_vector_dim = g->index_vector_dim;
  if (!select_body(L, o, op_body(o, 0), &step.body)) return false;
  prog_add_gather(L->b, &step, lower_name(L), lower_loc(L));
  for (u32 i = 0; i < o->num_operands; i++) lower_used(lower_node(L, o, i));
  return true;
}
