/* Which ops are elementwise to propagation: families of the rows, a few ops besides, and foreign
 * ops that say so. Also the warnings of the module. */
#include "shard/traits.h"

/* ops of their own that are elementwise all the same */
static const bool elementwise_own[OP_COUNT] = {
    [OP_reduce_precision] = true, [OP_sharding_constraint] = true,
    [OP_reshard] = true,          [OP_propagation_barrier] = true,
    [OP_uniform_quantize] = true, [OP_uniform_dequantize] = true,
};
static const bool elementwise_family[FAMILY_COUNT] = {
    [FAMILY_ew] = true,
    [FAMILY_cast] = true,
    [FAMILY_bcast] = true,
};

bool op_is_elementwise(const op *o) {
  if (op_kind(o) >= OP_COUNT) return op_has(o, ELEMENTWISE);
  if (op_is(o, bitcast_convert)) /* only between elements of one width */
    return i64s_eq(op_operand(o, 0)->type->dims, o->results[0].type->dims);
  return elementwise_family[o->info->family] || elementwise_own[op_kind(o)];
}

void op_warn(ir_ctx *c, const op *o, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_emit(ir_sink(c), DIAG_WARNING, loc_pos(o->loc), fmt, ap);
  va_end(ap);
}

void op_remark(ir_ctx *c, const op *o, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  diag_emit(ir_sink(c), DIAG_REMARK, loc_pos(o->loc), fmt, ap);
  va_end(ap);
}
