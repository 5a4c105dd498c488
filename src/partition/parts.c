/* How parts of a result combine, where a reduction factor of an op is cut. */
#include "dialect/expand.h"
#include "partition/record.h"

static const struct {
  op_id op;
  unreduced_kind kind;
} reducers[] = {{OP_add, UNREDUCED_SUM},     {OP_maximum, UNREDUCED_MAX},
                {OP_minimum, UNREDUCED_MIN}, {OP_multiply, UNREDUCED_MUL},
                {OP_and, UNREDUCED_AND},     {OP_or, UNREDUCED_OR}};

bool part_body_kind(const block *b, u32 i, u32 n, unreduced_kind *out) {
  const op *ret = op_terminator(b);
  if (!ret || ret->num_operands != n || b->num_args != 2 * n) return false;
  const op *o = value_op(op_operand(ret, i));
  if (!o || o->num_operands != 2) return false;
  const value *x = op_operand(o, 0), *y = op_operand(o, 1);
  if (!(x == b->args[i] && y == b->args[n + i]) && !(y == b->args[i] && x == b->args[n + i]))
    return false;
  for (size_t k = 0; k < COUNT(reducers); k++)
    if (op_kind(o) == reducers[k].op) return *out = reducers[k].kind, true;
  return false;
}

/* All devices have what they had: no part of a sum is left to others. */
static bool only_moves(const op *o) {
  const tensor_sharding_attr *s =
      op_is(o, reshard) ? attr_as(tensor_sharding, op_attr(o, SLOT_NAME(sharding))) : NULL;
  return (s && !s->unreduced.len) || op_is(o, sdy_all_gather) || op_is(o, sdy_all_slice) ||
         op_is(o, sdy_all_to_all) || op_is(o, sdy_collective_permute);
}

const attr *part_scalar_constant(const value *v) {
  for (int depth = 0; depth < 8; depth++) {
    const op *o = value_op(v);
    if (!o) return NULL;
    if (op_has(o, CONSTANT)) return op_attr(o, SLOT_NAME(value));
    if (!op_is(o, convert) && !op_is(o, reshape) && !op_is(o, broadcast_in_dim) && !only_moves(o))
      return NULL;
    v = op_operand(o, 0);
  }
  return NULL;
}

/* Every device starts from the initial value; that must not count more than once. */
bool part_starts_neutral(const value *init, unreduced_kind kind) {
  if (kind != UNREDUCED_SUM && kind != UNREDUCED_MUL) return true;
  return splat_is(part_scalar_constant(init), kind == UNREDUCED_MUL);
}

/* n pairs combine in one way, and start from the operands from `init` on. */
static bool pairs_combine(const op *o, u32 n, u32 init, unreduced_kind *out) {
  const block *b = o->num_regions ? op_body(o, 0) : NULL;
  if (n == 0 || !b) return false;
  for (u32 i = 0; i < n; i++) {
    unreduced_kind kind;
    if (!part_body_kind(b, i, n, &kind) || (i && kind != *out)) return false;
    *out = kind;
    if (!part_starts_neutral(op_operand(o, init + i), kind)) return false;
  }
  return true;
}

/* As its body says: inputs, then initial values. */
bool combines_as_body(const op *o, unreduced_kind *out) {
  u32 n = o->num_operands / 2;
  return o->num_operands % 2 == 0 && pairs_combine(o, n, n, out);
}

/* As its body says: arrays, indices, updates. Each device starts from the arrays. */
bool combines_as_update(const op *o, unreduced_kind *out) {
  return o->num_operands % 2 && pairs_combine(o, o->num_operands / 2, 0, out);
}

bool combines_as_sum(const op *o, unreduced_kind *out) {
  (void)o;
  *out = UNREDUCED_SUM;
  return true;
}
