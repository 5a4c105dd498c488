/* Ops that move data to where it was not: concatenate, pad, sort, bits of random numbers, bits seen
 * as other types. */
#include "compile/steps.h"
#include "dialect/expand.h"
#include "partition/partition.h"

/* The uses are served before their groups are closed: an operand that only we want is then not
 * stored but computed right into its part of the result. So is then the result not in pieces,
 * unless loops alone use it, which may as well compute it there, or one that pads it writes it. */
bool lower_concatenate(lower *L, op *o) {
  struct concatenate_attrs a;
  view_concatenate(o, &a);
  i64 at[PROG_MAX_DIMS] = {0};
  bool pays = pieces_pay(o), computed_on = pieces_computed_on(o);
  const value *v = op_result(o, 0);
  bool once = value_has_one_use(v) && pieces_padded_by(v->uses->owner, v);
  bool turns = pays && pieces_turn(o->results[0].uses->owner); /* which takes it from memory */
  pieces *boxes = ARENA_NEW(L->a, pieces);
  for (u32 i = 0; i < o->num_operands; i++) {
    node *in = lower_node(L, o, i);
    lower_used(in);
    fuse_close_of(L, in);
    if (turns) fuse_dense(L, in);
    if (in->kind == NODE_EXPR && !in->uniform) pays &= once || (computed_on && fuse_is_small(in));
  }
  for (u32 i = 0; i < o->num_operands; i++) {
    node *in = lower_node(L, o, i);
    pieces_add(L, boxes, in, at, op_result(o, 0)->type->dims.data);
    at[a.dimension] += in->dims[a.dimension];
  }
  return pieces_result(L, o, boxes, pays) != NULL;
}

enum { LARGE_PAD = 16 << 10 }; /* elements */

/* The part of a padded operand that is kept (negative padding cuts), as a view; returns where
 * its first element goes in the result. */
static i64 pad_window(const node *in, const node *out, const i64 *edge_low, const i64 *interior,
                      i64 *dims, i64 *offset, i64 *dst_stride) {
  i64 at = 0;
  for (u32 d = 0; d < in->rank; d++) {
    i64 step = interior[d] + 1, low = edge_low[d];
    i64 first = low < 0 ? (-low + step - 1) / step : 0;
    i64 room = out->dims[d] - 1 - low; /* last operand position that fits, times step */
    i64 last = room < 0 ? -1 : room / step;
    if (last > in->dims[d] - 1) last = in->dims[d] - 1;
    dims[d] = last >= first ? last - first + 1 : 0;
    *offset += first * in->stride[d];
    dst_stride[d] = out->stride[d] * step;
    at += (low + first * step) * out->stride[d];
  }
  return at;
}

/* A box of n's slot, in a loop. */
static void fill_box(lower *L, const node *n, node *with, const i64 *dims, i64 offset) {
  static const i64 none[PROG_MAX_DIMS];
  u32 scalar = with->element ? PROG_NONE : fuse_dense(L, with), v;
  for (u32 d = 0; d < n->rank; d++)
    if (dims[d] == 0) return;
  prog_loop *l = prog_add_loop(L->b, n->rank, dims, lower_name(L), lower_loc(L));
  if (with->element)
    v = vm_const_bits(L->b, &l->code, (dtype)n->type, with->element);
  else
    v = vm_load(L->b, &l->code, (dtype)n->type, prog_loop_in(L->b, l, scalar, 0, none));
  prog_loop_out(L->b, l, n->slot, offset, n->stride, v);
}

static void fill(lower *L, const node *n, node *with) {
  if (with->element)
    prog_add_fill(L->b, n->slot, with->element, lower_name(L), lower_loc(L));
  else
    fill_box(L, n, with, n->dims, 0);
}

/* What is around the elements that begin at `edge_low`, dim by dim: before them and behind. */
static void fill_around(lower *L, const node *n, node *with, const i64 *dims, const i64 *edge_low) {
  i64 box[PROG_MAX_DIMS], offset = 0;
  if (n->rank) memcpy(box, n->dims, n->rank * sizeof(i64));
  for (u32 d = 0; d < n->rank; d++) {
    i64 low = max_i64(edge_low[d], 0);
    box[d] = low;
    fill_box(L, n, with, box, offset);
    box[d] = n->dims[d] - low - dims[d];
    fill_box(L, n, with, box, offset + (low + dims[d]) * n->stride[d]);
    box[d] = dims[d];
    offset += low * n->stride[d];
  }
}

/* Large borders of what is not much larger: the elements inside are not written twice. */
static bool is_border(const node *n, const i64 *dims, const i64 *interior) {
  i64 inside = 1;
  for (u32 d = 0; d < n->rank; d++) {
    if (interior[d]) return false;
    inside *= dims[d];
  }
  return n->count >= LARGE_PAD && inside >= n->count / 2;
}

static bool is_any(u32 rank, const i64 *dims) {
  for (u32 d = 0; d < rank; d++)
    if (dims[d] <= 0) return false;
  return true;
}

void data_surround(lower *L, node *with, const node *out, const i64 *dims, const i64 *low,
                   const i64 *interior) {
  if (is_any(out->rank, dims) && is_border(out, dims, interior))
    fill_around(L, out, with, dims, low);
  else
    fill(L, out, with);
}

void data_pad(lower *L, node *in, node *with, const node *out, const i64 *low,
              const i64 *interior) {
  i64 dims[PROG_MAX_DIMS], dst_stride[PROG_MAX_DIMS], offset = in->offset;
  i64 at = pad_window(in, out, low, interior, dims, &offset, dst_stride);
  data_surround(L, with, out, dims, low, interior);
  if (is_any(in->rank, dims))
    prog_add_copy(L->b, in->rank, dims, in->slot, offset, in->stride, out->slot, at, dst_stride,
                  lower_name(L), lower_loc(L));
}

/* One element everywhere. */
static node *spread(lower *L, const node *with, u32 rank, const i64 *dims) {
  node *n = ARENA_NEW(L->a, node);
  *n = *with;
  n->rank = rank;
  n->dims = arena_copy(L->a, dims, rank * sizeof(i64));
  n->stride = arena_zalloc(L->a, (rank + 1) * sizeof(i64));
  n->count = 1;
  for (u32 d = 0; d < rank; d++) n->count *= dims[d];
  n->dense = false;
  n->result = -1;
  n->stamp = 0;
  return n;
}

/* The padded operand and what is around it, dim by dim: before it and behind. */
static void pad_pieces(lower *L, pieces *boxes, node *in, const node *with, const i64 *low,
                       const i64 *dims) {
  i64 at[PROG_MAX_DIMS] = {0}, box[PROG_MAX_DIMS];
  pieces_add(L, boxes, in, low, dims);
  if (in->rank) memcpy(box, dims, in->rank * sizeof(i64));
  for (u32 d = 0; d < in->rank; d++) {
    i64 first = max_i64(0, min_i64(low[d], dims[d]));
    i64 end = max_i64(first, min_i64(low[d] + in->dims[d], dims[d]));
    box[d] = first;
    pieces_add(L, boxes, spread(L, with, in->rank, box), at, dims);
    box[d] = dims[d] - end;
    at[d] = end;
    pieces_add(L, boxes, spread(L, with, in->rank, box), at, dims);
    box[d] = end - first;
    at[d] = first;
  }
}

static bool lower_pad_pieces(lower *L, op *o, node *in, node *with, const i64 *low, bool pays) {
  pieces *boxes = ARENA_NEW(L->a, pieces);
  if (with->kind != NODE_EXPR || !with->uniform) fuse_settle(L, with);
  pad_pieces(L, boxes, in, with, low, op_result(o, 0)->type->dims.data);
  lower_used(in);
  lower_used(with);
  return pieces_result(L, o, boxes, pays) != NULL;
}

/* Small ones are soonest made by filling all of them first. */
static bool pad_pays(const op *o, const struct pad_attrs *a) {
  i64 count;
  for (size_t d = 0; d < a->interior_padding.len; d++)
    if (a->interior_padding.data[d]) return false;
  return type_num_elements(o->results[0].type, &count) && count >= LARGE_PAD && pieces_pay(o);
}

/* One that adds nothing, as JAX writes before the gradient of a pooling, is a slice. */
static bool lower_pad_less(lower *L, op *o, const struct pad_attrs *a) {
  i64 start[PROG_MAX_DIMS], step[PROG_MAX_DIMS];
  for (size_t d = 0; d < a->edge_padding_low.len; d++)
    start[d] = -a->edge_padding_low.data[d], step[d] = 1;
  lower_used(lower_node(L, o, 1));
  return lower_sliced(L, o, lower_node(L, o, 0), start, step);
}
static bool adds_nothing(const struct pad_attrs *a) {
  for (size_t d = 0; d < a->edge_padding_low.len; d++)
    if (a->edge_padding_low.data[d] > 0 || a->edge_padding_high.data[d] > 0 ||
        a->interior_padding.data[d])
      return false;
  return true;
}

bool lower_pad(lower *L, op *o) {
  struct pad_attrs a;
  view_pad(o, &a);
  if (adds_nothing(&a)) return lower_pad_less(L, o, &a);
  node *in = lower_node(L, o, 0), *with = lower_node(L, o, 1);
  bool pays = pad_pays(o, &a);
  fuse_settle(L, in);
  if (in->kind == NODE_PIECES || pays)
    return lower_pad_pieces(L, o, in, with, a.edge_padding_low.data, pays);
  fuse_settle(L, with);
  if (in->kind != NODE_MEM) fuse_dense(L, in);
  node *n = lower_new_mem(L, o, 0);
  if (!n) return false;
  data_pad(L, in, with, n, a.edge_padding_low.data, a.interior_padding.data);
  lower_used(in);
  lower_used(with);
  return true;
}

/* ---- sort ---- */

static void split_at(const node *n, i64 dim, i64 *outer, i64 *size, i64 *inner) {
  *outer = *inner = 1;
  *size = n->rank ? n->dims[dim] : 1;
  for (u32 d = 0; d < n->rank; d++)
    if ((i64)d != dim) lower_times((i64)d < dim ? outer : inner, n->dims[d]);
}

/* The executor's sort counts positions in 32 bits. */
static bool can_sort(lower *L, op *o, const prog_sort *step) {
  if (step->size <= UINT32_MAX) return true;
  return op_unimplemented(L->ctx, o, "a sort of %lld elements", (long long)step->size);
}

/* How much of each line anybody looks at: what uses the results takes the first of them only. */
static i64 looked_at(const op *o, i64 dim, i64 size) {
  i64 most = 1;
  for (u32 i = 0; i < o->num_results; i++)
    for (const use *u = o->results[i].uses; u; u = u->next) {
      if (!op_is(u->owner, slice)) return size;
      struct slice_attrs a;
      view_slice(u->owner, &a);
      if (a.start_indices.data[dim] || a.strides.data[dim] != 1) return size;
      most = max_i64(most, a.limit_indices.data[dim]);
    }
  return most;
}

/* Each element's place along dim? */
static bool is_place(const value *v, i64 dim) {
  struct iota_attrs a;
  return !v->is_arg && op_is(v->def.op, iota) && view_iota(v->def.op, &a) &&
         a.iota_dimension == dim;
}

/* A result of which memory has the first along dim only. */
static u32 kept_result(lower *L, op *o, u32 i, i64 dim, i64 keep) {
  node *n = lower_new_node(L, o, op_result(o, i));
  if (!n) return PROG_NONE;
  i64 *dims = arena_copy(L->a, n->dims, n->rank * sizeof *dims);
  dims[dim] = keep;
  n->kind = NODE_MEM;
  n->stride = lower_dense_strides(L, n->rank, dims);
  n->slot_count = (u64)(n->count / n->dims[dim] * keep);
  return n->slot = prog_work(L->b, (dtype)n->type, n->slot_count);
}

/* Operands are sorted together by one comparator, stable or not: the executor's sort always is. */
bool lower_sort(lower *L, op *o) {
  struct sort_attrs a;
  view_sort(o, &a);
  u32 n = o->num_operands;
  prog_sort step = {.n = n, .in = ARENA_ARRAY(L->a, u32, n), .out = ARENA_ARRAY(L->a, u32, n)};
  const node *first = lower_node(L, o, 0);
  i64 dim = a.present & 1 ? a.dimension : -1;
  if (dim < 0) dim += first->rank;
  split_at(first, dim, &step.outer, &step.size, &step.inner);
  step.keep = first->rank && first->count ? looked_at(o, dim, step.size) : step.size;
  const integer_attr *runs = attr_as(integer, op_discardable(o, STR(PARTITION_RUNS)));
  step.runs = runs ? runs->value : 0;
  if (!can_sort(L, o, &step)) return false;
  for (u32 i = 0; i < n; i++) {
    node *in = lower_node(L, o, i);
    bool place = in->type == DTYPE_s32 && is_place(op_operand(o, i), dim);
    step.in[i] = place ? PROG_NONE : fuse_dense(L, in);
    lower_used(lower_node(L, o, i));
  }
  for (u32 i = 0; i < n; i++) {
    node *r = step.keep == step.size ? lower_new_mem(L, o, i) : NULL;
    step.out[i] = r ? r->slot : kept_result(L, o, i, dim, step.keep);
    if (step.out[i] == PROG_NONE) return false;
  }
  if (!select_code(L, o, op_body(o, 0), &step.less)) return false;
  prog_add_sort(L->b, &step, lower_name(L), lower_loc(L));
  return true;
}

/* The largest k along the last dimension, and where they were. */
bool lower_chlo_top_k(lower *L, op *o) {
  node *in = lower_node(L, o, 0);
  u32 slots[] = {fuse_dense(L, in), PROG_NONE}, kept[2];
  prog_sort step = {.n = 2, .in = slots, .out = kept};
  split_at(in, in->rank - 1, &step.outer, &step.size, &step.inner);
  if (!can_sort(L, o, &step)) return false;
  for (u32 i = 0; i < 2; i++) {
    node *n = lower_new_mem(L, o, i);
    if (!n) return false;
    kept[i] = n->slot;
    step.keep = n->dims[n->rank - 1];
    if (i && n->type != DTYPE_s32) return op_unimplemented(L->ctx, o, "indices of this type");
  }
  bool is_float = dtype_infos[in->type].kind == DTYPE_CLASS_FLOAT;
  u32 left = vm_load(L->b, &step.less, (dtype)in->type, 0);
  u32 right = vm_load(L->b, &step.less, (dtype)in->type, 1);
  u32 less = vm_emit(L->b, &step.less, is_float ? VM_total_gt : VM_gt, DTYPE_pred, left, right, 0);
  vm_store(L->b, &step.less, 0, less);
  prog_add_sort(L->b, &step, lower_name(L), lower_loc(L));
  lower_used(in);
  return true;
}

/* ---- bits ---- */

/* The specification leaves the algorithms' bits to the implementation; ours are XLA:CPU's, down
 * to the order in which a shape is filled. */
bool lower_rng_bit_generator(lower *L, op *o) {
  enum { THREE_FRY = 1 };
  struct rng_bit_generator_attrs a;
  view_rng_bit_generator(o, &a);
  node *state = lower_node(L, o, 0);
  prog_rng step = {.state = fuse_dense(L, state)};
  /* XLA:CPU takes philox where it may choose. */
  step.kind = a.rng_algorithm->value == THREE_FRY ? RNG_THREEFRY : RNG_PHILOX;
  node *next = lower_new_mem(L, o, 0), *out = lower_new_mem(L, o, 1);
  if (!next || !out) return false;
  step.new_state = next->slot;
  step.out = out->slot;
  split_at(out, rng_halved_dim((i64s){out->dims, out->rank}), &step.outer, &step.size, &step.inner);
  prog_add_rng(L->b, &step, lower_name(L), lower_loc(L));
  lower_used(state);
  return true;
}

static dtype unsigned_of(u32 bits) {
  return bits <= 8 ? DTYPE_u8 : bits == 16 ? DTYPE_u16 : bits == 32 ? DTYPE_u32 : DTYPE_u64;
}

/* An element's type, how many bits of it count, and an integer that holds them. */
typedef struct bit_type {
  dtype type, bits_as;
  u32 bits;
} bit_type;

static bit_type bits_of(const node *n, const type *tensor) {
  const type *e = type_element(tensor);
  bool is_packed = e->width && e->width < 8; /* i1 too: the specification counts one bit */
  u32 bits = is_packed ? e->width : (u32)dtype_size((dtype)n->type) * 8;
  return (bit_type){(dtype)n->type, unsigned_of(bits), bits};
}

static u32 constant(lower *L, vm_code *c, dtype t, u64 v) { return vm_const_bits(L->b, c, t, &v); }

/* Elements of less than a byte have a byte of their own, whose upper bits are not theirs. */
static u32 to_bits(lower *L, vm_code *c, bit_type t, u32 v) {
  if (t.type == DTYPE_pred) return vm_emit(L->b, c, VM_convert, t.bits_as, v, 0, 0);
  if (t.type != t.bits_as) v = vm_emit(L->b, c, VM_bitcast, t.bits_as, v, 0, 0);
  if (t.bits >= 8) return v;
  return vm_emit(L->b, c, VM_and, t.bits_as, v, constant(L, c, t.bits_as, (1u << t.bits) - 1), 0);
}

/* From the low bits of v. A signed element smaller than its byte fills it with its sign. */
static u32 from_bits(lower *L, vm_code *c, bit_type t, u32 v) {
  if (t.type == DTYPE_pred)
    return vm_emit(L->b, c, VM_ne, DTYPE_pred, v, constant(L, c, t.bits_as, 0), 0);
  if (t.bits < 8 && dtype_infos[t.type].kind == DTYPE_CLASS_SINT) {
    u32 by = constant(L, c, DTYPE_s8, 8 - t.bits);
    v = vm_emit(L->b, c, VM_bitcast, DTYPE_s8, v, 0, 0);
    v = vm_emit(L->b, c, VM_shl, DTYPE_s8, v, by, 0);
    v = vm_emit(L->b, c, VM_shr_arith, DTYPE_s8, v, by, 0);
    return vm_emit(L->b, c, VM_bitcast, t.type, v, 0, 0);
  }
  return t.type == t.bits_as ? v : vm_emit(L->b, c, VM_bitcast, t.type, v, 0, 0);
}

static u32 convert_bits(lower *L, vm_code *c, dtype from, dtype to, u32 v) {
  return from == to ? v : vm_emit(L->b, c, VM_convert, to, v, 0, 0);
}

/* One element to several smaller ones, lowest bits first. */
static void split_bits(lower *L, const node *in, const node *n, bit_type wide, bit_type thin) {
  i64 stride[PROG_MAX_DIMS] = {0};
  if (in->rank) memcpy(stride, in->stride, in->rank * sizeof(i64));
  prog_loop *l = prog_add_loop(L->b, n->rank, n->dims, lower_name(L), lower_loc(L));
  vm_code *c = &l->code;
  dtype w = wide.bits_as;
  u32 v = vm_load(L->b, c, wide.type, prog_loop_in(L->b, l, in->slot, in->offset, stride));
  u32 by = vm_emit(L->b, c, VM_mul, w, vm_iota(L->b, c, w, n->rank - 1),
                   constant(L, c, w, thin.bits), 0);
  v = vm_emit(L->b, c, VM_shr_logic, w, to_bits(L, c, wide, v), by, 0);
  v = vm_emit(L->b, c, VM_and, w, v, constant(L, c, w, (1ull << thin.bits) - 1), 0);
  v = convert_bits(L, c, w, thin.bits_as, v);
  prog_loop_out(L->b, l, n->slot, 0, n->stride, from_bits(L, c, thin, v));
}

/* The elements along the last dimension to one. */
static void join_bits(lower *L, const node *in, const node *n, bit_type thin, bit_type wide) {
  i64 parts = in->dims[in->rank - 1], step = in->stride[in->rank - 1];
  prog_loop *l = prog_add_loop(L->b, n->rank, n->dims, lower_name(L), lower_loc(L));
  vm_code *c = &l->code;
  u32 all = PROG_NONE;
  for (i64 k = 0; k < parts; k++) {
    u32 part = prog_loop_in(L->b, l, in->slot, in->offset + k * step, in->stride);
    u32 v = to_bits(L, c, thin, vm_load(L->b, c, thin.type, part));
    v = convert_bits(L, c, thin.bits_as, wide.bits_as, v);
    u32 by = constant(L, c, wide.bits_as, (u64)k * thin.bits);
    v = vm_emit(L->b, c, VM_shl, wide.bits_as, v, by, 0);
    all = all == PROG_NONE ? v : vm_emit(L->b, c, VM_or, wide.bits_as, all, v, 0);
  }
  prog_loop_out(L->b, l, n->slot, 0, n->stride, from_bits(L, c, wide, all));
}

/* ---- c128 and pairs of c64 ---- */

/* The bits of an f64 as the parts of a c64. */
static u32 c64_of_f64(lower *L, vm_code *c, u32 v) {
  u32 bits = vm_emit(L->b, c, VM_bitcast, DTYPE_u64, v, 0, 0), half[2];
  u32 high = vm_emit(L->b, c, VM_shr_logic, DTYPE_u64, bits, constant(L, c, DTYPE_u64, 32), 0);
  for (u32 i = 0; i < 2; i++) {
    u32 part = vm_emit(L->b, c, VM_convert, DTYPE_u32, i ? high : bits, 0, 0);
    half[i] = vm_emit(L->b, c, VM_bitcast, DTYPE_f32, part, 0, 0);
  }
  return vm_emit(L->b, c, VM_complex, DTYPE_c64, half[0], half[1], 0);
}

static u32 f64_of_c64(lower *L, vm_code *c, u32 v) {
  u32 half[2];
  for (u32 i = 0; i < 2; i++) {
    u32 part = vm_emit(L->b, c, i ? VM_imag : VM_real, DTYPE_f32, v, 0, 0);
    part = vm_emit(L->b, c, VM_bitcast, DTYPE_u32, part, 0, 0);
    half[i] = vm_emit(L->b, c, VM_convert, DTYPE_u64, part, 0, 0);
  }
  u32 high = vm_emit(L->b, c, VM_shl, DTYPE_u64, half[1], constant(L, c, DTYPE_u64, 32), 0);
  u32 bits = vm_emit(L->b, c, VM_or, DTYPE_u64, half[0], high, 0);
  return vm_emit(L->b, c, VM_bitcast, DTYPE_f64, bits, 0, 0);
}

static void split_complex(lower *L, const node *in, const node *n) {
  i64 stride[PROG_MAX_DIMS] = {0};
  if (in->rank) memcpy(stride, in->stride, in->rank * sizeof(i64));
  prog_loop *l = prog_add_loop(L->b, n->rank, n->dims, lower_name(L), lower_loc(L));
  vm_code *c = &l->code;
  u32 v = vm_load(L->b, c, DTYPE_c128, prog_loop_in(L->b, l, in->slot, in->offset, stride));
  u32 second = vm_emit(L->b, c, VM_ne, DTYPE_pred, vm_iota(L->b, c, DTYPE_s32, n->rank - 1),
                       constant(L, c, DTYPE_s32, 0), 0);
  u32 re = vm_emit(L->b, c, VM_real, DTYPE_f64, v, 0, 0);
  u32 im = vm_emit(L->b, c, VM_imag, DTYPE_f64, v, 0, 0);
  u32 part = vm_emit(L->b, c, VM_select, DTYPE_f64, second, im, re);
  prog_loop_out(L->b, l, n->slot, 0, n->stride, c64_of_f64(L, c, part));
}

static void join_complex(lower *L, const node *in, const node *n) {
  i64 step = in->stride[in->rank - 1];
  prog_loop *l = prog_add_loop(L->b, n->rank, n->dims, lower_name(L), lower_loc(L));
  vm_code *c = &l->code;
  u32 part[2];
  for (i64 k = 0; k < 2; k++) {
    u32 at = prog_loop_in(L->b, l, in->slot, in->offset + k * step, in->stride);
    part[k] = f64_of_c64(L, c, vm_load(L->b, c, DTYPE_c64, at));
  }
  u32 v = vm_emit(L->b, c, VM_complex, DTYPE_c128, part[0], part[1], 0);
  prog_loop_out(L->b, l, n->slot, 0, n->stride, v);
}

/* Large ones are the same memory, of which elements of other whole bytes are seen. */
static bool see_bits(lower *L, op *o, node *in, u32 bits) {
  enum { LARGE = 16 << 10 }; /* bytes: what may be a view */
  if (bits < 8 || in->count * (i64)dtype_size((dtype)in->type) < LARGE) return false;
  prog_dynamic whole = {.big = fuse_dense(L, in)};
  node *n = lower_new_mem(L, o, 0);
  if (!n) return false;
  whole.small = n->slot;
  prog_add_dynamic(L->b, &whole, lower_name(L), lower_loc(L));
  return true;
}

/* Equal widths are an instruction. Else the narrower side has one dimension more, the last, along
 * which the parts lie, lowest bits first. Complex numbers come as c128 and two c64 only; no integer
 * register holds a c128, so that its parts are taken one by one. */
bool lower_bitcast_convert(lower *L, op *o) {
  node *in = lower_node(L, o, 0), probe = *in;
  const type *to_type = op_result(o, 0)->type;
  dtype t;
  if (!lower_dtype(type_element(to_type), &t)) return lower_none(L, o);
  probe.type = (u8)t;
  bit_type from = bits_of(in, op_operand(o, 0)->type), to = bits_of(&probe, to_type);
  if (from.bits == to.bits) return fuse_add(L, o) != NULL;
  bool is_complex = dtype_infos[from.type].kind == DTYPE_CLASS_COMPLEX;
  if (from.bits < to.bits && in->rank == 0) return lower_none(L, o);
  if (see_bits(L, o, in, from.bits < to.bits ? from.bits : to.bits)) {
    lower_used(in);
    return true;
  }
  fuse_settle(L, in);
  if (in->kind != NODE_MEM) fuse_dense(L, in);
  node *n = lower_new_mem(L, o, 0);
  if (!n) return false;
  if (is_complex)
    (from.bits > to.bits ? split_complex : join_complex)(L, in, n);
  else if (from.bits > to.bits)
    split_bits(L, in, n, from, to);
  else
    join_bits(L, in, n, from, to);
  lower_used(in);
  return true;
}
