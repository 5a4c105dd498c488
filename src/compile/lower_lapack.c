/* Custom calls of LAPACK, as JAX makes them for the CPU: operands and results lie in memory as
 * their layouts say, so that what is not row-major is copied before and after the call. */
#include "compile/steps.h"

/* Dimensions from the outermost to the innermost, as a layout has them. */
static void order_of(attrs layouts, size_t i, u32 rank, u32 *order) {
  for (u32 d = 0; d < rank; d++)
    order[d] = i < layouts.len ? (u32)attr_dense_int(layouts.data[i], rank - 1 - d) : d;
}

static bool is_plain(const u32 *order, u32 rank) {
  for (u32 d = 0; d < rank; d++)
    if (order[d] != d) return false;
  return true;
}

/* The same elements in a slot of their own, in that order; *out: as it is shaped then. */
static void place(lower *L, const node *n, const u32 *order, prog_operand *out) {
  i64 *dims = ARENA_ARRAY(L->a, i64, n->rank + 1);
  for (u32 d = 0; d < n->rank; d++) dims[d] = n->dims[order[d]];
  bool plain = is_plain(order, n->rank);
  *out = (prog_operand){plain ? n->slot : prog_work(L->b, (dtype)n->type, (u64)n->count),
                        {dims, n->rank}};
}

static void move(lower *L, const node *n, const u32 *order, const prog_operand *as, bool back) {
  if (as->slot == n->slot) return;
  const i64 *strides = lower_dense_strides(L, n->rank, n->dims);
  i64 there[PROG_MAX_DIMS];
  for (u32 d = 0; d < n->rank; d++) there[d] = strides[order[d]];
  const i64 *here = lower_dense_strides(L, n->rank, as->dims.data);
  if (back)
    prog_add_copy(L->b, n->rank, as->dims.data, as->slot, 0, here, n->slot, 0, there, lower_name(L),
                  lower_loc(L));
  else
    prog_add_copy(L->b, n->rank, as->dims.data, n->slot, 0, there, as->slot, 0, here, lower_name(L),
                  lower_loc(L));
}

static attrs list_of(const op *o, str name) {
  const array_attr *a = attr_as(array, op_attr(o, name));
  return a ? a->elems : (attrs){0};
}

static i64 character(const attr *config, str name) {
  i64 v = 0;
  return attr_get_i64(attr_dict_get(config, name), &v) ? v : 0;
}

bool lower_lapack(lower *L, op *o, str target, const attr *config) {
  enum { MOST = 8 };
  u32 orders[MOST][PROG_MAX_DIMS], n_in = o->num_operands, n_out = o->num_results;
  if (n_in > MOST || n_out > MOST) return op_unimplemented(L->ctx, o, "with that many operands");
  const attr *own = op_attr(o, MHLO_BACKEND_CONFIG);
  if (own) config = own;
  i64 params[] = {character(config, STR("mode")), character(config, STR("uplo")),
                  character(config, STR("side")), character(config, STR("trans_x")),
                  character(config, STR("diag"))};
  prog_operand in[MOST], out[MOST];
  node *results[MOST];
  attrs layouts = list_of(o, SLOT_NAME(operand_layouts));
  for (u32 i = 0; i < n_in; i++) {
    node *n = lower_node(L, o, i);
    fuse_dense(L, n);
    order_of(layouts, i, n->rank, orders[i]);
    place(L, n, orders[i], &in[i]);
    move(L, n, orders[i], &in[i], false);
  }
  layouts = list_of(o, SLOT_NAME(result_layouts));
  for (u32 i = 0; i < n_out; i++) {
    results[i] = lower_new_mem(L, o, i);
    if (!results[i]) return false;
    order_of(layouts, i, results[i]->rank, orders[i]);
    place(L, results[i], orders[i], &out[i]);
  }
  prog_call c = {.target = target,
                 .num_in = n_in,
                 .num_out = n_out,
                 .in = in,
                 .out = out,
                 .params = {params, COUNT(params)}};
  prog_add_call(L->b, &c, lower_name(L), lower_loc(L));
  for (u32 i = 0; i < n_out; i++) move(L, results[i], orders[i], &out[i], true);
  for (u32 i = 0; i < n_in; i++) lower_used(lower_node(L, o, i));
  return true;
}
