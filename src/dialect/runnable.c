/* What a verified module must be besides for the stages behind the verifier, which take functions
 * of one block, ranked tensors of numbers that fit a machine, and calls that can be inlined.
 *
 * Called after dialect_verify and before propagation, partitioning or compiling; tools that only
 * read and write modules do not call it. What is refused here is valid StableHLO, so messages say
 * UNIMPLEMENTED, except for sizes that no machine has and calls that never end. Later stages rely
 * on it and do not ask again. */
#include "dialect/verify.h"

/* ---- types ---- */

/* Of a tensor, in all: padding, alignment and the sum of a few sizes then stay in range. */
static const i64 MAX_BYTES = 1ll << 60;

static bool check_type(checker *k, const op *o, const type *t) {
  for (size_t i = 0; t->kind == TYPE_TUPLE && i < t->types.len; i++)
    if (!check_type(k, o, t->types.data[i])) return false;
  if (t->kind == TYPE_UNRANKED || t->kind == TYPE_MEMREF)
    return op_unimplemented(k->c, o, "values of '%s'", show(k, t));
  if (t->kind != TYPE_TENSOR) return true;
  size_t size = type_storage(t->elem);
  if (t->elem->kind == TYPE_INDEX || t->elem->kind == TYPE_QUANT) return true; /* said later */
  u8 kind = t->elem->kind;
  if ((kind != TYPE_INT && kind != TYPE_FLOAT && kind != TYPE_COMPLEX) || size == 0)
    return op_unimplemented(k->c, o, "elements that are not numbers: '%s'", show(k, t));
  i64 bytes = (i64)size;
  for (size_t d = 0; d < t->dims.len; d++) {
    i64 n = t->dims.data[d]; /* a 0 elsewhere does not excuse the rest */
    if (n > 0 && (!checked_mul(bytes, n, &bytes) || bytes > MAX_BYTES))
      return op_error(k->c, o, "'%s' is too large", show(k, t));
  }
  return true;
}

static bool check_types(checker *k, const op *o) {
  for (u32 i = 0; i < o->num_results; i++)
    if (!check_type(k, o, out_type(o, i))) return false;
  for (u16 r = 0; r < o->num_regions; r++)
    for (const block *b = o->regions[r].first; b; b = b->next)
      for (u32 i = 0; i < b->num_args; i++)
        if (!check_type(k, o, b->args[i]->type)) return false;
  return true;
}

/* The op that ends a block may be another's where the dialect is foreign. */
static bool check_function(checker *k, const op *o) {
  const block *b = op_body(o, 0);
  if (!b) return op_unimplemented(k->c, o, "a function without a body");
  if (b->next) return op_unimplemented(k->c, o, "a function of several blocks");
  if (op_is(b->last, func_return)) return true;
  return op_unimplemented(k->c, b->last, "a function that ends so");
}

bool dialect_combines(const op *o) {
  static const bool combines[OP_COUNT] = {
      [OP_reduce] = true,     [OP_reduce_window] = true,  [OP_scatter] = true,
      [OP_all_reduce] = true, [OP_reduce_scatter] = true,
  };
  return op_kind(o) < OP_COUNT && combines[op_kind(o)];
}

/* Reducers over tensors, which the verifier allows. */
static bool check_scalars(checker *k, const op *o) {
  const block *b = dialect_combines(o) ? op_body(o, 0) : NULL;
  for (u32 i = 0; b && i < b->num_args; i++)
    if (b->args[i]->type->kind != TYPE_TENSOR || rank_of(b->args[i]->type))
      return op_unimplemented(k->c, o, "a reduction-region over '%s'; only scalars are",
                              show(k, b->args[i]->type));
  return true;
}

/* Two words of state, or three where there is a choice of algorithm. */
static bool check_generator(checker *k, const op *o) {
  enum { THREE_FRY = 1 };
  struct rng_bit_generator_attrs a;
  const type *in = in_type(o, 0), *out = out_type(o, 0);
  bool three_fry = view_rng_bit_generator(o, &a) && a.rng_algorithm->value == THREE_FRY;
  if (rank_of(in) == 1 && in->elem == type_int(k->c, 64, UNSIGNED) && in->elem == out->elem &&
      (in->dims.data[0] == 2 || (in->dims.data[0] == 3 && !three_fry)))
    return true;
  return op_unimplemented(k->c, o, "a state of '%s'", show(k, in->elem == out->elem ? in : out));
}

static bool needs_order(const op *o) {
  enum { EQ = 0, NE = 1 };
  struct compare_attrs a;
  if (op_is(o, compare) && view_compare(o, &a))
    return a.comparison_direction->value != EQ && a.comparison_direction->value != NE;
  return op_is(o, chlo_top_k);
}

/* Elements and shapes that the kernels do not have. */
static bool check_operands(checker *k, const op *o) {
  if (op_is(o, dot_general)) {
    bool l = in_type(o, 0)->elem->kind == TYPE_COMPLEX;
    if (l != (in_type(o, 1)->elem->kind == TYPE_COMPLEX) ||
        l != (out_type(o, 0)->elem->kind == TYPE_COMPLEX))
      return op_unimplemented(k->c, o, "a product of real and complex elements");
  }
  if (needs_order(o) && in_type(o, 0)->elem->kind == TYPE_COMPLEX)
    return op_unimplemented(k->c, o, "an order of complex numbers");
  if (op_is(o, rng_bit_generator) && !check_generator(k, o)) return false;
  return check_scalars(k, o);
}

/* Stops at the first error: these stand for limits of this implementation, of which one is as good
 * as ten. */
static walk_result check_op(void *user, op *o) {
  checker *k = user;
  if (!check_operands(k, o)) return WALK_STOP;
  int groups = op_slot(o->info, SLOT_NAME(replica_groups));
  if (groups >= 0 && attr_is(replica_group_mesh_axes, o->slots[groups]))
    return op_unimplemented(k->c, o, "replica groups as axes of a mesh"), WALK_STOP;
  if (op_is(o, func) && !check_function(k, o)) return WALK_STOP;
  if ((op_is(o, sharding_constraint) || op_is(o, reshard)) && out_type(o, 0)->kind != TYPE_TENSOR)
    return op_unimplemented(k->c, o, "shardings of '%s'", show(k, out_type(o, 0))), WALK_STOP;
  return check_types(k, o) && check_gathered_sizes(k, o) ? WALK_ON : WALK_STOP;
}

/* Deeper than anything people write by hand; bounds recursion in the stages that follow calls. */
enum { MAX_CALL_DEPTH = 256 };

bool dialect_check_runnable(ir_module *m) {
  checker k = {.m = m, .c = m->ctx};
  k.scratch = ir_scratch_push(k.c);
  bool ok = op_walk(m->root, check_op, &k) && dialect_check_calls(m, MAX_CALL_DEPTH);
  ir_scratch_pop(k.c);
  return ok;
}
