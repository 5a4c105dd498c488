/* Concatenations, pads and slices of one another: what only they and elementwise ops use is never
 * put together. Its boxes are views of what they come from; the last of these ops writes each of
 * them once, or a loop reads what it computes on from them (fuse.c). */
#include "compile/steps.h"

enum { LARGE = 4096 }; /* elements: smaller ones are not worth a loop a box */

/* Whether o is used by loops alone. */
bool pieces_computed_on(const op *o) {
  i64 count;
  const value *v = &o->results[0];
  if (!v->uses || !type_num_elements(v->type, &count) || count < LARGE) return false;
  for (const use *u = v->uses; u; u = u->next)
    if (u->owner->parent != o->parent || !select_is_elementwise(u->owner)) return false;
  return true;
}

bool pieces_turn(const op *o) {
  struct concatenate_attrs c;
  struct dynamic_slice_attrs a;
  if (!op_is(o, dynamic_slice)) return false;
  const value *v = op_operand(o, 0), *of;
  const op *joined = value_op(v);
  if (!joined || !op_is(joined, concatenate) || joined->num_operands != 2) return false;
  of = op_operand(joined, 0);
  if (of != op_operand(joined, 1)) return false;
  view_concatenate(joined, &c);
  view_dynamic_slice(o, &a);
  i64s dims = of->type->dims, sizes = a.slice_sizes;
  if (sizes.data[c.dimension] > dims.data[c.dimension]) return false;
  for (size_t d = (size_t)c.dimension + 1; d < dims.len; d++)
    if (sizes.data[d] != dims.data[d]) return false;
  return true;
}

bool pieces_padded_by(const op *o, const value *v) {
  struct convolution_attrs a;
  if (!op_is(o, convolution) || op_operand(o, 0) != v || op_operand(o, 1) == v) return false;
  view_convolution(o, &a);
  for (size_t s = 0; a.padding && s < 2 * a.dimension_numbers->input_spatial_dimensions.len; s++)
    if (attr_dense_int(&a.padding->base, s)) return true;
  return false;
}

/* What is taken of the value by a slice is otherwise read where it lies, which costs nothing: more
 * of it than the value has is not worth writing. */
static bool takes_apart(const op *user, const op *o, i64 *sliced) {
  i64 all;
  if (user->parent != o->parent) return false; /* a region that may not run */
  if (select_is_elementwise(user))
    return type_num_elements(o->results[0].type, &all) && all >= LARGE;
  if (op_is(user, concatenate) || pieces_turn(user) || pieces_padded_by(user, &o->results[0]))
    return true;
  if (op_is(user, pad)) {
    struct pad_attrs a;
    view_pad(user, &a);
    for (size_t d = 0; d < a.interior_padding.len; d++)
      if (a.interior_padding.data[d]) return false;
    return true;
  }
  if (!op_is(user, slice)) return false;
  struct slice_attrs a;
  i64 count = 1;
  view_slice(user, &a);
  for (size_t d = 0; d < a.strides.len; d++) {
    if (a.strides.data[d] != 1) return false;
    lower_times(&count, a.limit_indices.data[d] - a.start_indices.data[d]);
  }
  if (!pieces_computed_on(user)) *sliced += count;
  return true;
}

bool pieces_pay(const op *o) {
  i64 count, sliced = 0;
  const value *v = &o->results[0];
  if (!v->uses || !type_num_elements(v->type, &count)) return false;
  for (const use *u = v->uses; u; u = u->next)
    if (!takes_apart(u->owner, o, &sliced) || sliced > count) return false;
  return true;
}

/* Elements [at, at + dims) of n, which is no EXPR unless it is uniform or whole. */
static node *box_of(lower *L, node *n, const i64 *at, const i64 *dims) {
  if (n->rank == 0 || memcmp(n->dims, dims, n->rank * sizeof(i64)) == 0) return n;
  node *box = ARENA_NEW(L->a, node);
  *box = *n;
  box->dims = arena_copy(L->a, dims, n->rank * sizeof(i64));
  box->dense = false;
  box->result = -1;
  box->padded = NULL;
  box->pending = box->stamp = 0;
  box->group = NULL;
  box->count = 1;
  for (u32 d = 0; d < n->rank; d++) {
    box->count *= dims[d];
    if (n->kind == NODE_MEM || n->kind == NODE_INDEX) box->offset += at[d] * n->stride[d];
  }
  return box;
}

void pieces_add(lower *L, pieces *to, node *in, const i64 *at, const i64 *dims) {
  piece p = {0};
  i64 from[PROG_MAX_DIMS], size[PROG_MAX_DIMS];
  for (size_t i = 0; in->kind == NODE_PIECES && i < in->boxes->len; i++) {
    const piece *b = &in->boxes->data[i];
    for (u32 d = 0; d < in->rank; d++) p.at[d] = at[d] + b->at[d];
    pieces_add(L, to, b->of, p.at, dims);
  }
  if (in->kind == NODE_PIECES) return;
  for (u32 d = 0; d < in->rank; d++) {
    p.at[d] = max_i64(at[d], 0);
    size[d] = min_i64(at[d] + in->dims[d], dims[d]) - p.at[d];
    if (size[d] <= 0) return;
    from[d] = p.at[d] - at[d];
  }
  p.of = box_of(L, in, from, size);
  VEC_PUSH(L->a, *to, p);
}

/* What the only box is of, under the name of the result. */
static node *as_box(node *n, const node *of) {
  node as = *of;
  as.pending = n->pending, as.result = n->result;
  as.stamp = 0;
  *n = as;
  return n;
}

bool pieces_cut(const node *n, cuts *c) {
  for (size_t i = 0; i < n->boxes->len; i++) {
    const piece *b = &n->boxes->data[i];
    for (u32 k = 0; k < 2 * n->rank; k++) {
      u32 d = k / 2, at = 0;
      i64 cut = b->at[d] + (k % 2 ? b->of->dims[d] : 0);
      while (c->at[d][at] < cut) at++;
      if (c->at[d][at] == cut) continue;
      if (c->n[d] == PIECES_CUTS) return false;
      memmove(&c->at[d][at + 1], &c->at[d][at], (++c->n[d] - at) * sizeof(i64));
      c->at[d][at] = cut;
    }
  }
  return true;
}

const piece *pieces_find(const node *n, const i64 *at) {
  const piece *b = n->boxes->data;
  for (u32 d = 0; d < n->rank;)
    if (b->at[d] <= at[d] && at[d] < b->at[d] + b->of->dims[d])
      d++;
    else
      b++, d = 0;
  return b;
}

/* Whether it is computed of elements between which there are others, as of vectors' components. */
static bool reads_between(lower *L, node *n) {
  if (n->stamp == L->stamp) return false;
  n->stamp = L->stamp;
  if (n->kind == NODE_MEM) return n->rank && n->stride[n->rank - 1] > 1;
  for (u32 i = 0; n->kind == NODE_EXPR && i < n->num_in; i++)
    if (reads_between(L, n->in[i])) return true;
  return false;
}

/* From box `at` on, how many are computed and alike, and lie next to each other in rows: one loop
 * that writes them all goes through the memory of the value, and of what they are of, once. Long
 * rows do not lie next to each other, but what they are of may. */
static u32 count_alike(lower *L, const node *n, u32 at, node **out) {
  enum { MOST = 8, ROW = 2048 };
  const piece *b = &n->boxes->data[at];
  i64 row = 1;
  u32 d = n->rank, num = 0;
  while (d > 0 && b->of->dims[d - 1] == n->dims[d - 1]) row *= n->dims[--d];
  if (d > 0) row *= b->of->dims[d - 1];
  for (size_t i = at; i < n->boxes->len && num < MOST; i++) {
    node *of = n->boxes->data[i].of;
    if (of->kind != NODE_EXPR || of->apart) break;
    lower_new_stamp(L);
    if (row > ROW && !reads_between(L, of)) break;
    if (memcmp(of->dims, b->of->dims, n->rank * sizeof(i64)) != 0) break;
    out[num++] = of;
    if (!fuse_store_together(out, num, 1)) return num - 1;
  }
  return num;
}

/* From box `at` on, how many are in memory, alike, and one element wide along the last dim, so that
 * one's elements lie between the others': a loop writes those of all side by side. */
static u32 count_between(const node *n, u32 at, node **out) {
  enum { MOST = 8 };
  u32 num = 0;
  dtype t = (dtype)n->type;
  bool as_is = t == DTYPE_f32 || t == DTYPE_f64 || (t >= DTYPE_s8 && t <= DTYPE_u64);
  if (!n->rank || !as_is || n->dims[n->rank - 1] < 2) return 0;
  for (size_t i = at; i < n->boxes->len && num < MOST; i++, num++) {
    node *of = n->boxes->data[i].of;
    bool moves = of->kind == NODE_MEM && of->dims[n->rank - 1] == 1;
    for (u32 d = 0; moves && d < n->rank; d++) moves = of->dims[d] == 1 || of->stride[d];
    if (!moves) break;
    if (num && memcmp(of->dims, out[0]->dims, n->rank * sizeof(i64)) != 0) break;
    out[num] = of;
  }
  return num < 2 ? 0 : num;
}

static void write_between(lower *L, node *const *of, const prog_access *to, u32 num) {
  prog_loop *l = prog_add_loop(L->b, of[0]->rank, of[0]->dims, lower_name(L), lower_loc(L));
  u32 value[8];
  for (u32 k = 0; k < num; k++) {
    u32 in = prog_loop_in(L->b, l, of[k]->slot, of[k]->offset, of[k]->stride);
    value[k] = vm_load(L->b, &l->code, (dtype)of[k]->type, in);
  }
  for (u32 k = 0; k < num; k++)
    prog_loop_out(L->b, l, to[k].slot, to[k].offset, to[k].stride, value[k]);
}

void pieces_put(lower *L, node *n) {
  const pieces *boxes = n->boxes;
  for (size_t i = 0; i < boxes->len;) {
    node *of[8];
    prog_access to[8] = {0};
    u32 between = count_between(n, (u32)i, of), num = between;
    if (!between) num = count_alike(L, n, (u32)i, of);
    if (num == 0) of[num++] = boxes->data[i].of;
    for (u32 k = 0; k < num; k++, i++) {
      to[k] = (prog_access){.slot = n->slot, .offset = n->offset};
      if (n->rank) memcpy(to[k].stride, n->stride, n->rank * sizeof(i64));
      for (u32 d = 0; d < n->rank; d++) to[k].offset += boxes->data[i].at[d] * n->stride[d];
    }
    if (between)
      write_between(L, of, to, num);
    else if (num > 1)
      fuse_store_all(L, of, to, num);
    else
      fuse_store(L, of[0], n->slot, to[0].offset, n->stride);
  }
}

void pieces_write(lower *L, node *n) {
  lower_make_dense(L, n, lower_new_slot(L, n));
  pieces_put(L, n);
}

node *pieces_result(lower *L, op *o, const pieces *boxes, bool pays) {
  enum { MOST = 64 };
  node *n = lower_new_node(L, o, op_result(o, 0));
  if (!n) return NULL;
  const node *only = boxes->len == 1 ? boxes->data[0].of : NULL;
  if (only && only->count == n->count && (only->kind != NODE_EXPR || only->uniform))
    return as_box(n, only);
  n->kind = NODE_PIECES;
  n->boxes = boxes;
  if (!pays || boxes->len > MOST) pieces_write(L, n);
  return n;
}
