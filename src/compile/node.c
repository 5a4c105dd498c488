/* What is known of a value: nodes and the slots behind them. */
#include "compile/lower.h"
#include "num/convert.h"

static const u8 dtype_of_float[FLOAT_COUNT] = {
    [FLOAT_f4E2M1FN] = DTYPE_f4e2m1fn,
    [FLOAT_f6E2M3FN] = DTYPE_f6e2m3fn,
    [FLOAT_f6E3M2FN] = DTYPE_f6e3m2fn,
    [FLOAT_f8E3M4] = DTYPE_f8e3m4,
    [FLOAT_f8E4M3] = DTYPE_f8e4m3,
    [FLOAT_f8E4M3B11FNUZ] = DTYPE_f8e4m3b11fnuz,
    [FLOAT_f8E4M3FN] = DTYPE_f8e4m3fn,
    [FLOAT_f8E4M3FNUZ] = DTYPE_f8e4m3fnuz,
    [FLOAT_f8E5M2] = DTYPE_f8e5m2,
    [FLOAT_f8E5M2FNUZ] = DTYPE_f8e5m2fnuz,
    [FLOAT_f8E8M0FNU] = DTYPE_f8e8m0fnu,
    [FLOAT_bf16] = DTYPE_bf16,
    [FLOAT_f16] = DTYPE_f16,
    [FLOAT_f32] = DTYPE_f32,
    [FLOAT_f64] = DTYPE_f64,
};

static bool dtype_of_int(const type *t, dtype *out) {
  bool is_unsigned = t->sign == UNSIGNED;
  *out = DTYPE_pred; /* no other type maps to it */
  if (t->width == 1) return !is_unsigned;
  if (t->width == 2) *out = is_unsigned ? DTYPE_u2 : DTYPE_s2;
  if (t->width == 4) *out = is_unsigned ? DTYPE_u4 : DTYPE_s4;
  if (t->width == 8) *out = is_unsigned ? DTYPE_u8 : DTYPE_s8;
  if (t->width == 16) *out = is_unsigned ? DTYPE_u16 : DTYPE_s16;
  if (t->width == 32) *out = is_unsigned ? DTYPE_u32 : DTYPE_s32;
  if (t->width == 64) *out = is_unsigned ? DTYPE_u64 : DTYPE_s64;
  return *out != DTYPE_pred;
}

bool lower_dtype(const type *t, dtype *out) {
  if (t->kind == TYPE_INT) return dtype_of_int(t, out);
  if (t->kind == TYPE_FLOAT) {
    *out = (dtype)dtype_of_float[t->flt];
    return *out != DTYPE_pred; /* the table's zero */
  }
  if (t->kind != TYPE_COMPLEX || t->elem->kind != TYPE_FLOAT) return false;
  *out = t->elem->flt == FLOAT_f64 ? DTYPE_c128 : DTYPE_c64;
  return t->elem->flt == FLOAT_f64 || t->elem->flt == FLOAT_f32;
}

/* Every use is one lower_used to come, from the function that lowers the user. */
static u32 count_uses(const value *v) {
  u32 n = 0;
  for (const use *u = v->uses; u; u = u->next) n++;
  return n;
}

/* Here is where a type or size that cannot be run is found: whoever has a node need not look
 * again. Sizes are checked in bytes, so that offsets and strides of a dense view cannot overflow
 * later. */
node *lower_new_node(lower *L, const op *o, value *v) {
  const type *t = v->type;
  dtype dt;
  i64 count, bytes;
  if (!type_is_ranked(t) || !type_is_static(t) || !lower_dtype(t->elem, &dt)) {
    op_unimplemented(L->ctx, o, "a value of a type that cannot be run");
    return NULL;
  }
  if (t->dims.len > PROG_MAX_DIMS) {
    op_unimplemented(L->ctx, o, "a value of more than %u dimensions", PROG_MAX_DIMS);
    return NULL;
  }
  if (!type_num_elements(t, &count) || !checked_mul(count, (i64)dtype_size(dt), &bytes)) {
    op_error(L->ctx, o, "has a value of more bytes than memory can have");
    return NULL;
  }
  node *n = ARENA_NEW(L->a, node);
  n->type = (u8)dt;
  n->rank = (u32)t->dims.len;
  n->dims = t->dims.data;
  n->count = count;
  n->pending = count_uses(v);
  n->result = L->result_of[v->num];
  L->node_of[v->num] = n;
  return n;
}

/* For a second name of what n is. A MEM has its slot already, so that it is too late to compute
 * it right into a result; finish_results moves it there. */
void lower_bind(lower *L, value *v, node *n) {
  n->pending += count_uses(v);
  if (n->result < 0 && n->kind != NODE_MEM) n->result = L->result_of[v->num];
  L->node_of[v->num] = n;
}

void lower_used(node *n) {
  assert(n->pending > 0); /* a use that was not counted, or served twice */
  n->pending--;
}

/* A result's slot is handed out once: a second slot for the same node is working memory. */
u32 lower_new_slot(lower *L, node *n) {
  if (n->result >= 0) {
    u32 slot = L->result_slot[n->result];
    n->result = -1;
    return slot;
  }
  return prog_work(L->b, (dtype)n->type, (u64)n->count);
}

bool lower_fills(const node *n, const i64 *stride) {
  if (n->kind != NODE_MEM || n->offset || n->slot_count != (u64)n->count) return false;
  for (u32 d = 0; d < n->rank; d++)
    if (n->dims[d] != 1 && n->stride[d] != stride[d]) return false;
  return true;
}
const i64 *lower_dense_strides(lower *L, u32 rank, const i64 *dims) {
  i64 *s = ARENA_ARRAY(L->a, i64, rank);
  i64 n = 1;
  for (u32 d = rank; d-- > 0;) {
    s[d] = n;
    /* overflows only beside a 0: then there are no elements to find */
    if (dims[d] > 1 && !checked_mul(n, dims[d], &n)) n = 1;
  }
  return s;
}

/* Inside a region the node's former state is kept: the region may not have run, and what follows
 * it must not read a slot that only the region fills (lower_flow.c puts it back). */
void lower_make_dense(lower *L, node *n, u32 slot) {
  if (L->in_region) VEC_PUSH(L->a, L->undo, (saved_node){n, *n});
  n->kind = NODE_MEM;
  n->slot = slot;
  n->offset = 0;
  n->stride = lower_dense_strides(L, n->rank, n->dims);
  n->slot_count = (u64)n->count;
  n->dense = true;
  n->group = NULL;
}

node *lower_new_mem(lower *L, op *o, size_t result) {
  node *n = lower_new_node(L, o, op_result(o, result));
  if (!n) return NULL;
  u32 slot = lower_new_slot(L, n);
  lower_make_dense(L, n, slot);
  return n;
}

/* For start indices of dynamic slices. False: not a constant, not an integer, or an unsigned
 * number that i64 cannot have. */
bool lower_const_int(const node *n, i64 *out) {
  if (!n->element) return false;
  u64 bits = 0;
  size_t size = dtype_size((dtype)n->type);
  dtype_class kind = dtype_infos[n->type].kind;
  if (kind != DTYPE_CLASS_SINT && kind != DTYPE_CLASS_UINT) return false;
  memcpy(&bits, n->element, size);
  u32 unused = 64 - (u32)size * 8;
  *out = kind == DTYPE_CLASS_SINT ? (i64)(bits << unused) >> unused : (i64)bits;
  return kind == DTYPE_CLASS_SINT || *out >= 0;
}

str lower_name(lower *L) { return L->at->info->name; }

/* The text lives as long as the program; steps of one op share it. */
str lower_loc(lower *L) {
  if (L->at_loc_of == L->at) return L->at_loc;
  diag_pos p = loc_pos(L->at->loc);
  L->at_loc_of = L->at;
  L->at_loc = p.file.len
                  ? arena_printf(prog_arena(L->b), STR_FMT ":%u:%u", STR_ARG(p.file), p.line, p.col)
                  : (str){0};
  prog_set_op_name(L->b, arena_str(prog_arena(L->b), loc_outer_name(L->at->loc)));
  return L->at_loc;
}

bool lower_none(lower *L, op *o) {
  return op_unimplemented(L->ctx, o, "there is no step that computes it");
}

/* ---- the same seen otherwise ---- */

/* `seen` has those of an expression that there are. */
typedef struct turned {
  const node *of;
  node *is;
} turned;
typedef struct turning {
  turned_how how;
  VEC(turned) seen;
} turning;
static bool turn_strides(lower *L, const node *n, const turned_how *how, node *out) {
  i64 *dims = ARENA_ARRAY(L->a, i64, n->rank), *stride = ARENA_ARRAY(L->a, i64, n->rank);
  if (how->to) {
    out->rank = how->to->rank, out->dims = how->to->dims;
    out->stride = stride = ARENA_ARRAY(L->a, i64, how->to->rank);
    return n->kind == NODE_EXPR || lower_reshape_strides(n, how->to, stride);
  }
  for (u32 d = 0; d < n->rank; d++) {
    /* the last, of 1, may have gone or come (fuse_without_ones) */
    u32 of = d < how->order.len ? (u32)how->order.data[d] : d;
    if (of >= n->rank) return false;
    dims[d] = n->dims[of];
    if (n->kind != NODE_EXPR) stride[d] = n->stride[of];
  }
  for (size_t k = 0; k < how->back.len; k++) {
    i64 d = how->back.data[k];
    if (d >= n->rank) return false;
    if (n->kind == NODE_EXPR) continue;
    if (dims[d] > 1) out->offset += (dims[d] - 1) * stride[d];
    stride[d] = -stride[d];
  }
  out->dims = dims, out->stride = stride;
  return true;
}
static node *turn(lower *L, node *n, turning *how) {
  if (n->element || (n->kind == NODE_EXPR && n->uniform)) return n;
  for (size_t i = 0; i < how->seen.len; i++)
    if (how->seen.data[i].of == n) return how->seen.data[i].is;
  node *t = arena_copy(L->a, n, sizeof *n);
  if (!turn_strides(L, n, &how->how, t)) return NULL;
  t->dense = false;
  t->group = NULL, t->next = NULL;
  t->pending = t->stamp = 0;
  t->result = NOWHERE;
  for (u32 i = 0; n->kind == NODE_EXPR && i < n->num_in; i++)
    if (!(t->in[i] = turn(L, n->in[i], how))) return NULL;
  VEC_PUSH(L->a, how->seen, ((turned){n, t}));
  return t;
}

node *lower_turned(lower *L, node *n, const turned_how *how) {
  return turn(L, n, &(turning){.how = *how});
}

dtype lower_index_type(dtype t, u32 rank, const i64 *dims, const i64 *stride, i64 first) {
  i64 most = abs_i64(first), reach;
  for (u32 d = 0; d < rank; d++)
    if (!checked_mul(dims[d], stride[d], &reach) || !checked_add(most, abs_i64(reach), &most))
      return DTYPE_s64;
  return most <= INT32_MAX && num_int_bits(t) < 64 ? DTYPE_s32 : DTYPE_s64;
}
