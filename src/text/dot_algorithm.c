/* What may be wrong with the algorithm of a product; who reads one and who verifies one ask. */
#include "text/text.h"

/* The algorithms that some hardware has: operands, accumulation, operations. */
static const struct algorithm {
  u8 lhs, rhs, accumulation, operations;
} algorithms[] = {
    {FLOAT_f16, FLOAT_f16, FLOAT_f16, 1},    {FLOAT_f16, FLOAT_f16, FLOAT_f32, 1},
    {FLOAT_bf16, FLOAT_bf16, FLOAT_bf16, 1}, {FLOAT_bf16, FLOAT_bf16, FLOAT_f32, 1},
    {FLOAT_bf16, FLOAT_bf16, FLOAT_f32, 3},  {FLOAT_bf16, FLOAT_bf16, FLOAT_f32, 6},
    {FLOAT_bf16, FLOAT_bf16, FLOAT_f32, 9},  {FLOAT_tf32, FLOAT_tf32, FLOAT_f32, 1},
    {FLOAT_tf32, FLOAT_tf32, FLOAT_f32, 3},  {FLOAT_f32, FLOAT_f32, FLOAT_f32, 1},
    {FLOAT_f64, FLOAT_f64, FLOAT_f64, 1},
};

static bool is_f8(const type *t) {
  return t->kind == TYPE_FLOAT && t->width == 8 && t->flt != FLOAT_f8E8M0FNU;
}

static bool is_known(const dot_algorithm_attr *a) {
  const type *l = a->lhs_precision_type, *r = a->rhs_precision_type, *t = a->accumulation_type;
  if (a->lhs_component_count != 1 || a->rhs_component_count != 1) return false;
  if (l->kind != TYPE_FLOAT || r->kind != TYPE_FLOAT || t->kind != TYPE_FLOAT) return false;
  if (is_f8(l) && is_f8(r) && t->flt == FLOAT_f32 && a->num_primitive_operations == 1) return true;
  for (size_t i = 0; i < COUNT(algorithms) && !a->allow_imprecise_accumulation; i++)
    if (l->flt == algorithms[i].lhs && r->flt == algorithms[i].rhs &&
        t->flt == algorithms[i].accumulation &&
        a->num_primitive_operations == algorithms[i].operations)
      return true;
  return false;
}

const char *dot_algorithm_problem(ir_ctx *c, const dot_algorithm_attr *a) {
  if (a->lhs_component_count < 1) return "lhs component count must be positive"; /* c22 */
  if (a->rhs_component_count < 1) return "rhs component count must be positive"; /* c23 */
  if (a->num_primitive_operations < 1)
    return "num primitive operations must be positive"; /* dot_general_c24 */
  if (is_known(a)) return NULL;                         /* dot_general_i8 to i10 */
  arena *to = ir_arena(c);
  return arena_printf(to,
                      "dot algorithm not known to be supported on any hardware: {lhs:'%s', "
                      "rhs:'%s', accum:'%s', lhs_components:%lld, rhs_components:%lld, "
                      "primitive_ops:%lld, imprecise:%d}",
                      text_show_type(to, a->lhs_precision_type),
                      text_show_type(to, a->rhs_precision_type),
                      text_show_type(to, a->accumulation_type), (long long)a->lhs_component_count,
                      (long long)a->rhs_component_count, (long long)a->num_primitive_operations,
                      a->allow_imprecise_accumulation)
      .data;
}
