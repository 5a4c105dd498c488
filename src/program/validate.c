/* Proves that a program stays inside its slots and that its code is well typed: after this the
 * executor checks nothing but values (offsets, indices, branches), which it clamps. */
#include "program/parts.h"
#include "num/convert.h"

typedef struct checker {
  const program *p;
  const char *error; /* NULL: fine so far */
  bool in_strips;
  const prog_collective *grouped; /* the last whose groups were looked at; others share them */
  bool alike;                     /* all of one size */
} checker;

static bool fail(checker *c, const char *why) {
  if (!c->error) c->error = why;
  return false;
}

static bool check_slot(checker *c, u32 slot, bool write) {
  if (slot >= c->p->num_slots) return fail(c, "no such slot");
  if (write && !prog_may_write(c->p, slot))
    return fail(c, "writes to a constant, a parameter or a view");
  if (c->p->slots[slot].kind == SLOT_STRIP && !c->in_strips)
    return fail(c, "slot of strips elsewhere");
  return true;
}
static const prog_slot *slot_of(const checker *c, u32 slot) { return &c->p->slots[slot]; }

/* Product of non-negative dims; false when it does not fit. */
static bool volume(const i64 *dims, size_t rank, u64 *out) {
  u64 v = 1;
  for (size_t d = 0; d < rank; d++)
    if (dims[d] < 0 || !checked_mul(v, (u64)dims[d], &v) || v > INT64_MAX) return false;
  *out = v;
  return true;
}

static bool check_dims(checker *c, const i64 *dims, size_t rank) {
  u64 v;
  return volume(dims, rank, &v) || fail(c, "dimensions out of range");
}

/* All elements offset + sum index * stride lie in the slot. */
static bool check_strides(checker *c, const i64 *dims, const i64 *stride, u32 rank, i64 offset,
                          u64 count) {
  i64 low = offset, high = offset, reach;
  for (u32 d = 0; d < rank; d++)
    if (dims[d] == 0) return true;
  for (u32 d = 0; d < rank; d++) {
    if (!checked_mul(dims[d] - 1, stride[d], &reach) ||
        !(reach < 0 ? checked_add(low, reach, &low) : checked_add(high, reach, &high)))
      return fail(c, "strides out of range");
  }
  if (low < 0 || (u64)high >= count) return fail(c, "access outside its slot");
  return true;
}

static bool check_access(checker *c, const i64 *dims, u32 rank, const prog_access *a, bool write) {
  return check_slot(c, a->slot, write) &&
         check_strides(c, dims, a->stride, rank, a->offset, slot_of(c, a->slot)->count);
}

static bool check_count(checker *c, u32 slot, u64 count) {
  return slot_of(c, slot)->count >= count || fail(c, "slot smaller than its shape");
}
static bool check_scalar(checker *c, u32 slot) {
  return check_slot(c, slot, false) && check_count(c, slot, 1);
}
static bool is_int(dtype t) {
  return dtype_infos[t].kind == DTYPE_CLASS_SINT || dtype_infos[t].kind == DTYPE_CLASS_UINT;
}

/* ---- code ---- */

static u8 class_of(dtype t) {
  static const u8 classes[] = {[DTYPE_CLASS_BOOL] = VM_CLASS_B,    [DTYPE_CLASS_SINT] = VM_CLASS_I,
                               [DTYPE_CLASS_UINT] = VM_CLASS_I,    [DTYPE_CLASS_FLOAT] = VM_CLASS_F,
                               [DTYPE_CLASS_COMPLEX] = VM_CLASS_C, [DTYPE_CLASS_TOKEN] = 0};
  return classes[dtype_infos[t].kind];
}

bool vm_takes(vm_op op, dtype t) { return (class_of(t) & vm_op_infos[op].classes) != 0; }

static dtype real_of(dtype t) {
  return t == DTYPE_c64 ? DTYPE_f32 : t == DTYPE_c128 ? DTYPE_f64 : t;
}

static const char *check_result(const vm_instr *i, const vm_op_info *op, dtype t0) {
  switch (op->result) {
  case VM_SAME:
    return i->type == t0 ? NULL : "result type differs from the operand's";
  case VM_PRED:
    return i->type == DTYPE_pred ? NULL : "result must be pred";
  case VM_REAL:
    return i->type == real_of(t0) ? NULL : "result must be the real type";
  case VM_COMPLEX:
    if ((t0 == DTYPE_f32 && i->type == DTYPE_c64) || (t0 == DTYPE_f64 && i->type == DTYPE_c128))
      return NULL;
    return "result must be complex";
  case VM_ANY:
    break;
  }
  return NULL;
}

static const char *check_operands(const vm_code *c, u32 at, const vm_op_info *op) {
  const vm_instr *i = &c->instrs[at];
  u32 args[] = {i->a, i->b, i->c};
  for (u32 k = 0; k < op->operands; k++)
    if (args[k] >= at || c->instrs[args[k]].op == VM_store)
      return "operand is not an earlier value";
  dtype t0 = c->instrs[i->a].type;
  if (!vm_takes((vm_op)i->op, t0)) return "operation on a type it does not take";
  if (i->op == VM_select) {
    if (c->instrs[i->b].type != i->type || c->instrs[i->c].type != i->type)
      return "select of other types than its result";
    return NULL;
  }
  for (u32 k = 1; k < op->operands; k++)
    if (c->instrs[args[k]].type != t0) return "operands differ in type";
  if (i->op == VM_bitcast && (dtype_size(t0) != dtype_size(i->type) || !class_of(i->type)))
    return "bitcast between widths";
  if (i->op == VM_convert && !class_of(i->type)) return "convert to no number";
  if (i->op == VM_reduce_precision && i->b == 0) return "reduce_precision without exponent";
  return check_result(i, op, t0);
}

const char *vm_code_check(const vm_code *c, u32 num_in, const dtype *in_types, u32 num_out,
                          const dtype *out_types, u32 rank) {
  u64 stored = 0;
  if (num_out > 64) return "more than 64 results in one kernel";
  for (u32 at = 0; at < c->len; at++) {
    const vm_instr *i = &c->instrs[at];
    if (i->op >= VM_OP_COUNT) return "no such operation";
    if (i->type >= DTYPE_COUNT) return "no such type";
    const vm_op_info *op = &vm_op_infos[i->op];
    const char *error = op->operands ? check_operands(c, at, op) : NULL;
    if (error) return error;
    if (!op->operands && !class_of(i->type)) return "value of no number type";
    if (i->op == VM_load && (i->a >= num_in || (in_types && in_types[i->a] != i->type)))
      return "load of no input, or of another type";
    if (i->op == VM_constant && i->a >= c->num_consts) return "no such constant";
    if (i->op == VM_iota && (i->a >= rank || i->type == DTYPE_pred)) return "iota of no dimension";
    if (i->op != VM_store) continue;
    if (i->b >= num_out || stored >> i->b & 1) return "store to no output, or twice";
    if (out_types && out_types[i->b] != i->type) return "store of another type";
    stored |= 1ull << i->b;
  }
  if (num_out && stored != ~0ull >> (64 - num_out)) return "an output is not stored";
  return NULL;
}

/* A body over n operands of the given types. */
static bool check_body(checker *c, const prog_body *body, u32 n, const dtype *types) {
  if (body->kind >= REDUCE_COUNT_) return fail(c, "no such reducer");
  if (body->kind != REDUCE_CODE) {
    vm_instr storage[4];
    if (n != 1) return fail(c, "a known reducer takes one operand");
    vm_code code = prog_body_code(body->kind, types[0], storage);
    const char *error = vm_code_check(&code, 2, NULL, 1, types, 0);
    return error ? fail(c, error) : true;
  }
  dtype in[64];
  if (n > 32) return fail(c, "more than 32 operands");
  for (u32 i = 0; i < n; i++) in[i] = in[n + i] = types[i];
  const char *error = vm_code_check(&body->code, 2 * n, in, n, types, 0);
  return error ? fail(c, error) : true;
}

/* ---- steps ---- */

static bool check_loop(checker *c, const prog_loop *l) {
  if (l->rank > PROG_MAX_DIMS || l->reduced > l->rank || l->num_in > 64 || l->num_out > 32 ||
      vm_count_iotas(&l->code) > 64)
    return fail(c, "too many dimensions, inputs, outputs or indices");
  if (!check_dims(c, l->dims, l->rank)) return false;
  dtype in[64], out[64];
  for (u32 i = 0; i < l->num_in; i++) {
    if (!check_access(c, l->dims, l->rank, &l->in[i], false)) return false;
    in[i] = slot_of(c, l->in[i].slot)->type;
  }
  for (u32 i = 0; i < l->num_out; i++) {
    /* outputs of a reduction do not move in the reduced dims, whatever their size */
    if (!check_slot(c, l->out[i].slot, true) ||
        !check_strides(c, l->dims, l->out[i].stride, l->rank - l->reduced, l->out[i].offset,
                       slot_of(c, l->out[i].slot)->count))
      return false;
    out[i] = slot_of(c, l->out[i].slot)->type;
    for (u32 d = l->rank - l->reduced; d < l->rank; d++)
      if (l->out[i].stride[d]) return fail(c, "output moves in a reduced dimension");
  }
  const char *error = vm_code_check(&l->code, l->num_in, in, l->num_out, out, l->rank);
  if (error) return fail(c, error);
  if (!l->reduced) return true;
  bool known = l->body.kind != REDUCE_CODE; /* each result by itself */
  for (u32 i = 0; i < l->num_out; i++)
    if (!check_scalar(c, l->init[i]) || slot_of(c, l->init[i])->type != out[i] ||
        (known && !check_body(c, &l->body, 1, &out[i])))
      return fail(c, "initial value of another type");
  return known || check_body(c, &l->body, l->num_out, out);
}

static bool check_dot(checker *c, const prog_dot *d) {
  u64 n = (u64)d->nb + d->nm + d->nn + d->nk;
  if (n > 4 * PROG_MAX_DIMS) return fail(c, "too many dimensions");
  u32 rank = (u32)n;
  if (!check_dims(c, d->dims, rank)) return false;
  if (!check_slot(c, d->lhs, false) || !check_slot(c, d->rhs, false) ||
      !check_slot(c, d->out, true) || (d->by_tiles && !check_slot(c, d->taps, false)))
    return false;
  const prog_slot *x = slot_of(c, d->lhs), *y = slot_of(c, d->rhs), *z = slot_of(c, d->out);
  if (!class_of(x->type) || !class_of(y->type) || !class_of(z->type))
    return fail(c, "product of no numbers");
  u32 out_rank = rank - d->nk;
  for (u32 k = 0; k < rank; k++) {
    bool in_m = k >= d->nb && k < d->nb + d->nm, in_n = k >= d->nb + d->nm && k < out_rank;
    if ((in_m && d->rhs_stride[k]) || (in_n && d->lhs_stride[k]) ||
        (k >= out_rank && d->out_stride[k]))
      return fail(c, "stride in a dimension the operand has not");
  }
  return check_strides(c, d->dims, d->lhs_stride, rank, d->lhs_offset, prog_dot_count(d, x)) &&
         check_strides(c, d->dims, d->rhs_stride, rank, d->rhs_offset, prog_dot_count(d, y)) &&
         check_strides(c, d->dims, d->out_stride, out_rank, d->out_offset, prog_dot_count(d, z));
}

static bool check_copy(checker *c, const prog_copy *k) {
  if (k->rank > PROG_MAX_DIMS) return fail(c, "too many dimensions");
  return check_dims(c, k->dims, k->rank) && check_access(c, k->dims, k->rank, &k->src, false) &&
         check_access(c, k->dims, k->rank, &k->dst, true) &&
         (dtype_size(slot_of(c, k->src.slot)->type) == dtype_size(slot_of(c, k->dst.slot)->type) ||
          fail(c, "copy between widths"));
}

static bool check_dynamic(checker *c, const prog_dynamic *d) {
  u64 big, small, most = d->update ? 0 : d->rank;
  if (d->rank > PROG_MAX_DIMS || d->turns > most || !volume(d->big_dims, d->rank, &big) ||
      !volume(d->small_dims, d->rank, &small))
    return fail(c, "dimensions out of range");
  if (!check_slot(c, d->big, d->update) || !check_slot(c, d->small, !d->update && !d->view) ||
      !check_count(c, d->big, big) || !check_count(c, d->small, small))
    return false;
  const prog_slot *of = slot_of(c, d->big), *to = slot_of(c, d->small);
  if (of == to || !prog_may_slice(of, to, d)) return fail(c, "slots of a slice");
  if (d->view && !prog_makes_view(c->p, d)) return fail(c, "slice that is no view");
  for (u32 i = 0; i < d->rank; i++) {
    i64 least = d->turns && i >= d->turns ? d->big_dims[i] : 0, n = d->small_dims[i];
    if (n < least || n > d->big_dims[i]) return fail(c, "slice larger or smaller than can be");
    if (!check_scalar(c, d->start[i])) return false;
    if (!is_int(slot_of(c, d->start[i])->type)) return fail(c, "offset is no integer");
  }
  return true;
}

/* Distinct dims below `rank`. */
static bool check_dim_list(checker *c, i64s list, size_t rank) {
  for (size_t i = 0; i < list.len; i++) {
    if (list.data[i] < 0 || list.data[i] >= (i64)rank) return fail(c, "no such dimension");
    for (size_t k = 0; k < i; k++)
      if (list.data[k] == list.data[i]) return fail(c, "dimension named twice");
  }
  return true;
}

static bool check_gather_dims(checker *c, const prog_gather *g) {
  size_t rank = g->operand_dims.len, irank = g->indices_dims.len, orank = g->other_dims.len;
  if (rank > PROG_MAX_DIMS || irank > PROG_MAX_DIMS || orank > PROG_MAX_DIMS)
    return fail(c, "too many dimensions");
  if (g->index_vector_dim < 0 || g->index_vector_dim > (i64)irank)
    return fail(c, "index_vector_dim out of range");
  bool scalar_index = g->index_vector_dim == (i64)irank;
  size_t batch = irank - !scalar_index;
  if (g->start_index_map.len != (scalar_index ? 1 : (u64)g->indices_dims.data[g->index_vector_dim]))
    return fail(c, "start_index_map does not match the indices");
  if (!check_dim_list(c, g->offset_dims, orank) || !check_dim_list(c, g->collapsed, rank) ||
      !check_dim_list(c, g->operand_batching, rank) ||
      !check_dim_list(c, g->indices_batching, irank) ||
      !check_dim_list(c, g->start_index_map, rank))
    return false;
  if (g->operand_batching.len != g->indices_batching.len) return fail(c, "batching dims differ");
  if (g->offset_dims.len + batch != orank ||
      g->offset_dims.len + g->collapsed.len + g->operand_batching.len != rank)
    return fail(c, "ranks do not add up");
  for (size_t i = 0; i < g->collapsed.len; i++)
    if (i64s_contain(g->operand_batching, g->collapsed.data[i]))
      return fail(c, "dimension both collapsed and batched");
  for (size_t i = 0; i < g->indices_batching.len; i++) {
    i64 d = g->indices_batching.data[i];
    if (d == g->index_vector_dim ||
        g->indices_dims.data[d] != g->operand_dims.data[g->operand_batching.data[i]])
      return fail(c, "batching dims differ");
  }
  for (size_t i = 1; i < g->offset_dims.len; i++)
    if (g->offset_dims.data[i] <= g->offset_dims.data[i - 1])
      return fail(c, "offset_dims unsorted");
  return true;
}

/* Sizes of the other tensor against the indices' batch dims and the slices. */
static bool check_gather_sizes(checker *c, const prog_gather *g) {
  if (!g->scatter && g->slice_sizes.len != g->operand_dims.len)
    return fail(c, "slice_sizes of another rank");
  size_t window = 0, batch = 0;
  for (size_t d = 0; d < g->operand_dims.len; d++) {
    bool hidden = i64s_contain(g->collapsed, (i64)d) || i64s_contain(g->operand_batching, (i64)d);
    i64 size = g->operand_dims.data[d];
    if (!g->scatter) {
      i64 slice = g->slice_sizes.data[d];
      if (slice < 0 || slice > size || (hidden && slice > 1))
        return fail(c, "slice size out of range");
      if (hidden) continue;
      if (g->other_dims.data[g->offset_dims.data[window++]] != slice)
        return fail(c, "result does not match the slice sizes");
    } else if (!hidden) {
      if (g->other_dims.data[g->offset_dims.data[window++]] > size)
        return fail(c, "update window larger than the operand");
    }
  }
  for (size_t d = 0; d < g->other_dims.len; d++) {
    if (i64s_contain(g->offset_dims, (i64)d)) continue;
    if ((i64)batch == g->index_vector_dim) batch++;
    if (g->indices_dims.data[batch++] != g->other_dims.data[d])
      return fail(c, "batch dimensions differ");
  }
  bool one = g->start_index_map.len == 1, takes = one && !g->scatter;
  return (g->wrap >= 0 && (one || !g->wrap) && (takes || !g->fills)) ||
         fail(c, "place of an index");
}

static bool check_gather(checker *c, const prog_gather *g) {
  u64 operand, indices, other;
  if (g->n == 0 || g->n > 32 || (!g->scatter && g->n != 1)) return fail(c, "number of operands");
  if (!volume(g->operand_dims.data, g->operand_dims.len, &operand) ||
      !volume(g->indices_dims.data, g->indices_dims.len, &indices) ||
      !volume(g->other_dims.data, g->other_dims.len, &other))
    return fail(c, "dimensions out of range");
  if (!check_slot(c, g->indices, false) || !check_count(c, g->indices, indices)) return false;
  if (!is_int(slot_of(c, g->indices)->type)) return fail(c, "indices are no integers");
  dtype types[32];
  for (u32 i = 0; i < g->n; i++) {
    if (!check_slot(c, g->operand[i], g->scatter) || !check_slot(c, g->other[i], !g->scatter) ||
        !check_count(c, g->operand[i], operand) || !check_count(c, g->other[i], other))
      return false;
    types[i] = slot_of(c, g->operand[i])->type;
    if (types[i] != slot_of(c, g->other[i])->type) return fail(c, "operands differ in type");
    if (g->operand[i] == g->other[i]) return fail(c, "gather onto itself");
  }
  return check_gather_dims(c, g) && check_gather_sizes(c, g) &&
         (!g->scatter || check_body(c, &g->body, g->n, types));
}

static bool check_sort(checker *c, const prog_sort *s) {
  u64 n, kept;
  if (s->n == 0 || s->n > PROG_MAX_SORTED) return fail(c, "number of operands");
  if (!volume((i64[]){s->outer, s->size, s->inner}, 3, &n) || s->keep < 0 || s->keep > s->size ||
      s->runs < 0 || !volume((i64[]){s->outer, s->keep, s->inner}, 3, &kept))
    return fail(c, "dimensions out of range");
  if (s->size > UINT32_MAX) return fail(c, "more than 2^32 elements to sort");
  dtype in[2 * PROG_MAX_SORTED], pred = DTYPE_pred;
  for (u32 i = 0; i < s->n; i++) {
    bool place = s->in[i] == PROG_NONE;
    if ((!place && (!check_slot(c, s->in[i], false) || !check_count(c, s->in[i], n))) ||
        !check_slot(c, s->out[i], true) || !check_count(c, s->out[i], kept))
      return false;
    in[2 * i] = in[2 * i + 1] = place ? DTYPE_s32 : slot_of(c, s->in[i])->type;
    if (in[2 * i] != slot_of(c, s->out[i])->type) return fail(c, "operands differ in type");
  }
  const char *error = vm_code_check(&s->less, 2 * s->n, in, 1, &pred, 0);
  return error ? fail(c, error) : true;
}

/* Along one dim: no position that a window can name overflows. */
static bool check_reach(checker *c, i64 size, i64 out, i64 window, i64 stride, i64 base_dilation,
                        i64 dilation, i64 low) {
  i64 limit = (i64)1 << 40, reach, t;
  if (stride < 1 || base_dilation < 1 || dilation < 1 || stride > limit || base_dilation > limit ||
      dilation > limit || low > limit || low < -limit)
    return fail(c, "window out of range");
  if (!checked_mul(stride, out, &reach) || !checked_mul(dilation, window, &t) ||
      !checked_add(reach, t, &reach) || !checked_mul(base_dilation, size, &t) ||
      reach > limit << 20)
    return fail(c, "window out of range");
  return true;
}

static bool check_window(checker *c, const prog_window *w) {
  u64 in, out, size;
  if (w->n == 0 || w->n > 32 || w->rank > PROG_MAX_DIMS) return fail(c, "number of operands");
  if (!volume(w->dims, w->rank, &in) || !volume(w->out_dims, w->rank, &out) ||
      !volume(w->window, w->rank, &size))
    return fail(c, "dimensions out of range");
  for (u32 d = 0; d < w->rank; d++)
    if (!check_reach(c, w->dims[d], w->out_dims[d], w->window[d], w->stride[d], w->base_dilation[d],
                     w->window_dilation[d], w->pad_low[d]))
      return false;
  dtype types[32];
  for (u32 i = 0; i < w->n; i++) {
    if (!check_slot(c, w->in[i], false) || !check_scalar(c, w->init[i]) ||
        !check_slot(c, w->out[i], true) || !check_count(c, w->in[i], in) ||
        !check_count(c, w->out[i], out))
      return false;
    types[i] = slot_of(c, w->out[i])->type;
    if (types[i] != slot_of(c, w->in[i])->type || types[i] != slot_of(c, w->init[i])->type)
      return fail(c, "operands differ in type");
  }
  return check_body(c, &w->body, w->n, types);
}

static bool check_select_scatter(checker *c, const prog_select_scatter *s) {
  u64 in, from, size;
  if (s->rank > PROG_MAX_DIMS) return fail(c, "too many dimensions");
  if (!volume(s->dims, s->rank, &in) || !volume(s->source_dims, s->rank, &from) ||
      !volume(s->window, s->rank, &size))
    return fail(c, "dimensions out of range");
  for (u32 d = 0; d < s->rank; d++) {
    i64 reach;
    if (!check_reach(c, s->dims[d], s->source_dims[d], s->window[d], s->stride[d], 1, 1,
                     s->pad_low[d]))
      return false;
    if (!checked_mul(s->stride[d] * s->source_dims[d] + s->window[d], (i64)in, &reach))
      return fail(c, "window out of range");
  }
  if (!check_slot(c, s->operand, false) || !check_count(c, s->operand, in) ||
      !check_slot(c, s->source, false) || !check_count(c, s->source, from) ||
      !check_scalar(c, s->init) || !check_slot(c, s->out, true) || !check_count(c, s->out, in))
    return false;
  dtype type = slot_of(c, s->out)->type, pred = DTYPE_pred, of = slot_of(c, s->operand)->type;
  if (type != slot_of(c, s->source)->type || type != slot_of(c, s->init)->type)
    return fail(c, "operands differ in type");
  const char *error = vm_code_check(&s->select, 2, (dtype[]){of, of}, 1, &pred, 0);
  return error ? fail(c, error) : check_body(c, &s->scatter, 1, &type);
}

static bool check_rng(checker *c, const prog_rng *r) {
  if (!check_slot(c, r->state, false) || !check_slot(c, r->new_state, true) ||
      !check_slot(c, r->out, true))
    return false;
  u64 words = r->kind == RNG_THREEFRY ? 2 : slot_of(c, r->state)->count;
  if (r->kind > RNG_PHILOX || words < 2 || words > 3) return fail(c, "no such generator");
  if (slot_of(c, r->state)->type != DTYPE_u64 || slot_of(c, r->new_state)->type != DTYPE_u64)
    return fail(c, "state is not u64");
  dtype_class kind = dtype_infos[slot_of(c, r->out)->type].kind;
  if (kind == DTYPE_CLASS_TOKEN || kind == DTYPE_CLASS_COMPLEX) return fail(c, "bits of no number");
  u64 n;
  if (!volume((i64[]){r->outer, r->size, r->inner}, 3, &n))
    return fail(c, "dimensions out of range");
  return check_count(c, r->state, words) && check_count(c, r->new_state, words) &&
         check_count(c, r->out, n);
}

static bool check_call_operands(checker *c, const prog_operand *o, u32 n, bool write) {
  for (u32 i = 0; i < n; i++) {
    u64 count;
    if (!check_slot(c, o[i].slot, write)) return false;
    if (!volume(o[i].dims.data, o[i].dims.len, &count)) return fail(c, "dimensions out of range");
    if (count != slot_of(c, o[i].slot)->count) return fail(c, "a slot of another size");
  }
  return true;
}
static bool check_call(checker *c, const prog_call *k) {
  if (!k->target.len) return fail(c, "a call of nothing");
  return check_call_operands(c, k->in, k->num_in, false) &&
         check_call_operands(c, k->out, k->num_out, true);
}

static bool read_groups(checker *c, const prog_collective *k) {
  u32 devices = program_num_devices(c->p);
  u32 end = k->num_groups ? k->begin[k->num_groups] : 0;
  if (k->num_groups > devices || end > devices) return fail(c, "more members than devices");
  if (k->num_groups && k->begin[0] != 0) return fail(c, "groups do not begin at 0");
  c->alike = true;
  for (u32 g = 0; g < k->num_groups; g++) {
    if (k->begin[g + 1] <= k->begin[g]) return fail(c, "empty group");
    c->alike &= k->begin[g + 1] - k->begin[g] == k->begin[1];
  }
  for (u32 i = 0; i < end; i++)
    if (k->members[i] >= devices) return fail(c, "no such device");
  c->grouped = k;
  return true;
}

static bool check_groups(checker *c, const prog_collective *k) {
  static const bool may_differ[COLL_COUNT_] = {
#define COLL(id, name, reduces, differ) [COLL_##id] = (differ),
      PROG_COLLECTIVES(COLL)
#undef COLL
  };
  const prog_collective *last = c->grouped;
  bool known = last && last->num_groups == k->num_groups && last->begin == k->begin &&
               last->members == k->members;
  return (known || read_groups(c, k)) &&
         (c->alike || may_differ[k->kind] || fail(c, "groups differ in size"));
}

static bool check_pairs(checker *c, const prog_collective *k) {
  u32 devices = program_num_devices(c->p);
  if (k->num_pairs > devices) return fail(c, "more pairs than devices");
  for (u32 i = 0; i < 2 * k->num_pairs; i++)
    if (k->pairs[i] >= devices) return fail(c, "no such device");
  return true;
}

/* Each device at most once in the groups, as a source, as a target. Needs memory, so it is the
 * image that calls it; see image.c. */

/* ---- check_<id>: the sizes of operand and result i of each kind of collective ---- */

static bool check_alike(checker *c, const prog_collective *k, u32 i) {
  return slot_of(c, k->in[i])->count == slot_of(c, k->out[i])->count ||
         fail(c, "operand and result differ in size");
}
#define check_ALL_REDUCE check_alike
#define check_PERMUTE check_alike
#define check_BROADCAST check_alike

static bool check_ALL_TO_ALL(checker *c, const prog_collective *k, u32 i) {
  u64 small;
  if (!volume(k->dims, k->rank, &small)) return fail(c, "dimensions out of range");
  return check_count(c, k->in[i], small) && check_count(c, k->out[i], small);
}

/* One of the slots has what a member has, the other what all of a group have. */
static bool check_parts(checker *c, const prog_collective *k, u32 i, u32 part, u32 all) {
  u64 group = k->num_groups ? k->begin[1] : 1, small = 0, whole = 0;
  if (!k->outer || !k->size || !k->inner) return fail(c, "collective without its shape");
  if (!volume((i64[]){k->outer[i], k->size[i], k->inner[i]}, 3, &small) ||
      !checked_mul(small, group, &whole) || whole > INT64_MAX)
    return fail(c, "dimensions out of range");
  return check_count(c, part, small) && check_count(c, all, whole);
}
static bool check_ALL_GATHER(checker *c, const prog_collective *k, u32 i) {
  return check_parts(c, k, i, k->in[i], k->out[i]);
}
static bool check_REDUCE_SCATTER(checker *c, const prog_collective *k, u32 i) {
  return check_parts(c, k, i, k->out[i], k->in[i]);
}

static bool check_collective_operand(checker *c, const prog_collective *k, u32 i) {
  if (!check_slot(c, k->in[i], false) || !check_slot(c, k->out[i], true)) return false;
  if (slot_of(c, k->in[i])->type != slot_of(c, k->out[i])->type)
    return fail(c, "operand and result differ in type");
  switch (k->kind) {
#define COLL(id, ...)                                                                              \
  case COLL_##id:                                                                                  \
    return check_##id(c, k, i);
    PROG_COLLECTIVES(COLL)
#undef COLL
  case COLL_COUNT_:
    break;
  }
  return false;
}

static bool check_collective(checker *c, const prog_collective *k) {
  if (k->kind >= COLL_COUNT_) return fail(c, "no such collective");
  if (k->rank > PROG_MAX_DIMS || k->n > 4096) return fail(c, "too many dimensions or operands");
  if (!check_groups(c, k) || !check_pairs(c, k)) return false;
  if (k->kind == COLL_ALL_TO_ALL &&
      (k->split_dim >= k->rank || k->concat_dim >= k->rank || k->dims[k->split_dim] < 0 ||
       (k->num_groups && k->dims[k->split_dim] % k->begin[1] != 0)))
    return fail(c, "split does not match the group");
  for (u32 i = 0; i < k->n; i++) {
    if (!check_collective_operand(c, k, i)) return false;
    for (u32 j = 0; j < k->n; j++)
      if (k->in[i] == k->out[j] && (i != j || k->kind != COLL_ALL_REDUCE))
        return fail(c, "collective onto its own operand");
    if (prog_collective_reduces(k->kind) &&
        !check_body(c, &k->body, 1, &slot_of(c, k->in[i])->type))
      return false;
  }
  return true;
}

static bool check_targets(checker *c, const prog_jump *j) {
  if (j->n == 0) return fail(c, "jump to nowhere");
  for (u32 i = 0; i < j->n; i++)
    if (j->target[i] > c->p->num_steps) return fail(c, "jump outside the program");
  return true;
}
static bool check_jump(checker *c, const prog_jump *j) { return check_targets(c, j); }
static bool check_jump_unless(checker *c, const prog_jump *j) {
  return check_targets(c, j) && check_scalar(c, j->slot) &&
         (slot_of(c, j->slot)->type == DTYPE_pred || fail(c, "condition is not pred"));
}
static bool check_case(checker *c, const prog_jump *j) {
  return check_targets(c, j) && check_scalar(c, j->slot) &&
         (slot_of(c, j->slot)->type == DTYPE_s32 || fail(c, "branch index is not s32"));
}
static bool check_partition_id(checker *c, const prog_id *k) {
  return check_slot(c, k->out, true) && check_count(c, k->out, 1) &&
         (slot_of(c, k->out)->type == DTYPE_u32 || fail(c, "id is not u32"));
}
static bool check_replica_id(checker *c, const prog_id *k) { return check_partition_id(c, k); }

static void check_step(checker *c, const prog_step *s);
static bool check_strips(checker *c, const prog_strips *r) {
  u64 rows;
  if (r->rank == 0 || r->rank > PROG_MAX_DIMS || c->in_strips)
    return fail(c, "strips without rows, or in strips");
  if (!volume(r->dims, r->rank, &rows) || rows == 0) return fail(c, "dimensions out of range");
  c->in_strips = true;
  for (u32 i = 0; i < r->n && !c->error; i++) {
    const i64 *dims;
    if (prog_step_row_dims(&r->steps[i], NULL) == 0)
      fail(c, "step that has no rows");
    else
      check_step(c, &r->steps[i]);
    if (c->error) break;
    if (prog_step_row_dims(&r->steps[i], &dims) < r->rank ||
        memcmp(dims, r->dims, r->rank * sizeof(i64)) != 0)
      fail(c, "step of other rows");
  }
  c->in_strips = false;
  if (c->error) return false;
  const char *error = prog_strips_check(c->p, r, NULL);
  return error ? fail(c, error) : true;
}

static void check_step(checker *c, const prog_step *s) {
  if (s->kind >= STEP_COUNT_) fail(c, "no such step");
  switch (s->kind) {
#define STEP(name, ...)                                                                            \
  case STEP_##name:                                                                                \
    check_##name(c, s->u.name##_);                                                                 \
    break;
    PROG_STEPS(STEP)
#undef STEP
  case STEP_COUNT_:
    break;
  }
}

static void check_one_slot(checker *c, const prog_slot *s) {
  u64 bytes;
  if (s->type >= DTYPE_COUNT || s->kind > SLOT_VIEW || !prog_lies_somewhere(c->p, s)) {
    fail(c, "no such type of slot");
    return;
  }
  if (!checked_mul(s->count, (u64)dtype_size(s->type), &bytes) || bytes > INT64_MAX / 2)
    fail(c, "slot too large");
  else if (s->kind == SLOT_CONST && bytes && !s->data)
    fail(c, "constant without a value");
}

/* A temporary, in the workspace or a result's buffer. */
static void check_temporary(checker *c, const prog_slot *s) {
  const program *p = c->p;
  u64 end, room = p->workspace;
  if (s->alias >= (i32)p->num_results || s->alias < -1) {
    fail(c, "slot in no result");
    return;
  }
  if (s->alias >= 0) room = prog_slot_bytes(&p->slots[p->result_slot[s->alias]]);
  if (!checked_add(prog_slot_bytes(s), s->offset, &end) || end > room || s->offset % 64)
    fail(c, "slot outside the workspace");
}

static void check_interface(checker *c, bool planned) {
  const program *p = c->p;
  for (u32 i = 0; i < p->num_params; i++)
    if (!check_slot(c, p->param_slot[i], false) || p->slots[p->param_slot[i]].kind != SLOT_PARAM ||
        p->slots[p->param_slot[i]].index != i)
      fail(c, "parameter without its slot");
  for (u32 i = 0; i < p->num_results; i++) {
    if (!check_slot(c, p->result_slot[i], true)) return;
    const prog_slot *s = &p->slots[p->result_slot[i]];
    if (s->kind != SLOT_RESULT || s->index != i)
      fail(c, "result without its slot");
    else if (s->alias < -1 || s->alias >= (i32)p->num_params)
      fail(c, "alias of no parameter");
    else if (s->alias >= 0 &&
             prog_slot_bytes(&p->slots[p->param_slot[s->alias]]) < prog_slot_bytes(s))
      fail(c, "alias of a smaller parameter");
  }
  for (u32 i = 0; i < p->num_slots; i++) {
    const prog_slot *s = &p->slots[i];
    if ((s->kind == SLOT_PARAM && (s->index >= p->num_params || p->param_slot[s->index] != i)) ||
        (s->kind == SLOT_RESULT && (s->index >= p->num_results || p->result_slot[s->index] != i)))
      fail(c, "slot of no parameter or result");
    if (s->kind == SLOT_WORK && planned) check_temporary(c, s);
  }
}

status prog_check(const program *p, bool planned) {
  checker c = {.p = p};
  u64 devices = (u64)p->num_replicas * p->num_partitions;
  if (devices == 0 || devices > 1u << 20) fail(&c, "number of devices out of range");
  for (u32 i = 0; i < p->num_slots && !c.error; i++) check_one_slot(&c, &p->slots[i]);
  if (!c.error) check_interface(&c, planned);
  if (c.error) return status_make(STATUS_INVALID_ARGUMENT, "program: %s", c.error);
  for (u32 i = 0; i < p->num_steps; i++) {
    const prog_step *s = &p->steps[i];
    check_step(&c, s);
    if (c.error)
      return status_make(STATUS_INVALID_ARGUMENT, STR_FMT ": program step %u (" STR_FMT "): %s",
                         STR_ARG(s->loc), i, STR_ARG(s->name), c.error);
  }
  return NULL;
}

status program_validate(const program *p) { return prog_check(p, true); }
