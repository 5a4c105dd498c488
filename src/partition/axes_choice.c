#include "partition/axes_choice.h"

#include "partition/env.h"
#include "partition/reshard.h"

/* Of latency, in bytes: little beside what programs of real size send, so that bytes decide there.
 */
enum { BYTES_A_CALL = 512, MAX_TENSORS = 4 };

axis_list axes_reduced(arena *a, const axes_problem *prob, const axis_list *axes) {
  axis_vec v = {0};
  for (u32 f = 0; f < prob->rule->num_factors; f++)
    if (prob->kinds[f] == FACTOR_REDUCTION)
      for (size_t i = 0; i < axes[f].len; i++) VEC_PUSH(a, v, axes[f].data[i]);
  return axis_vec_list(&v);
}

uintptr_t axes_own_operands(const op *o) {
  uintptr_t bits = 0;
  for (u32 i = 0; i < o->num_operands; i++)
    if (value_has_one_use(op_operand(o, i))) bits |= (uintptr_t)1 << (i < 31 ? i : 31);
  return bits;
}

static i64 parts_of(const axes_problem *prob, const axis_list *axes) {
  i64 parts = 1;
  for (u32 f = 0; f < prob->rule->num_factors; f++) parts *= axes_size(axes[f]);
  return parts;
}

/* ---- bytes ---- */

/* Bytes that a device sends to bring a tensor from one sharding to another of the same mesh. */
static double bytes_between(arena *a, const op *o, const sharding *from, const sharding *to,
                            const type *t, reshard_steps *steps) {
  if (!from || !to) return 0;
  reshard_plan(a, from, to, t->dims.data, part_axes_are_free(o), steps);
  return reshard_sent(from, t->dims.data, steps) * (double)type_storage(t->elem);
}

/* Of all tensors; operands that others use too count only where `shared` is set. */
static double bytes_under(arena *a, const op *o, const axes_problem *prob,
                          const sharding *const *now, const axis_list *axes, bool shared) {
  double bytes = 0;
  for (u32 t = 0; t <= o->num_operands; t++) {
    const sharding *s = common_sharding(a, prob, t, axes);
    bool result = t == o->num_operands;
    if (result || shared || value_has_one_use(op_operand(o, t)))
      bytes += bytes_between(a, o, result ? s : now[t], result ? now[t] : s, prob->types[t],
                             &(reshard_steps){0});
  }
  return bytes;
}

void axes_heed_result(arena *a, const op *o, const axes_problem *prob, const sharding *const *sh,
                      axis_list *axes) {
  u32 last = o->num_operands, n = prob->rule->num_factors;
  if (o->num_results != 1 || !sh[last] || prob->tensors[last]) return;
  const sharding *want = sharding_on_mesh(a, sh[last], prob->mesh);
  if (!want || sh[last]->unreduced.len) return;
  const sharding **now = ARENA_ARRAY(a, const sharding *, last + 1);
  for (u32 t = 0; t < last; t++) {
    if (sh[t] && (!prob->tensors[t] || sh[t]->unreduced.len)) return;
    now[t] = prob->tensors[t];
  }
  now[last] = want;
  const sharding **its = arena_zalloc(a, (last + 1) * sizeof(const sharding *));
  its[last] = want;
  axes_problem other = *prob;
  other.tensors = its;
  axis_list *found = ARENA_ARRAY(a, axis_list, n);
  common_axes(a, &other, found);
  if (parts_of(prob, found) < parts_of(prob, axes) || axes_reduced(a, prob, axes).len ||
      axes_reduced(a, prob, found).len)
    return;
  if (bytes_under(a, o, prob, now, found, true) < bytes_under(a, o, prob, now, axes, false))
    memcpy(axes, found, n * sizeof *found);
}

/* ---- and collectives ---- */

static double calls_of(const reshard_steps *steps) {
  double n = 0;
  for (size_t i = 0; i < steps->len; i++) n += steps->data[i].kind != STEP_ALL_SLICE;
  return n * BYTES_A_CALL;
}

/* What becomes of parts of a sum: scattered, where all of it is sliced then. */
static double cost_of_sum(arena *a, const axes_problem *prob, u32 t, const axis_list *axes,
                          const sharding *s, const reshard_steps *steps) {
  axis_list sum = axes_reduced(a, prob, axes), sliced = {0};
  const type *type = prob->types[t];
  double n = sharding_elements(s, type->dims.data) * (double)type_storage(type->elem);
  double parts = (double)axes_size(sum);
  if (!sum.len) return 0;
  for (u32 d = 0; steps->len && steps->data[0].kind == STEP_ALL_SLICE && d < s->rank; d++)
    sliced = axes_concat(a, sliced, steps->data[0].dim_axes[d]);
  bool scattered = axes_difference(a, sum, sliced).len == 0;
  return (scattered ? 1 : 2) * n * (parts - 1) / parts + BYTES_A_CALL;
}

static double cost_under(arena *a, const op *o, const axes_problem *prob, const axis_list *axes,
                         bool shared) {
  double cost = 0;
  for (u32 t = 0; t <= o->num_operands; t++) {
    const sharding *s = common_sharding(a, prob, t, axes), *now = prob->tensors[t];
    reshard_steps steps = {0};
    bool result = t == o->num_operands;
    if (!result && !shared && !value_has_one_use(op_operand(o, t))) continue;
    cost += bytes_between(a, o, result ? s : now, result ? now : s, prob->types[t], &steps);
    cost += calls_of(&steps);
    if (result) cost += cost_of_sum(a, prob, t, axes, s, &steps);
  }
  return cost;
}

static bool may_choose(const op *o, const axes_problem *prob, const sharding *const *sh) {
  bool sums = false;
  for (u32 f = 0; f < prob->rule->num_factors; f++) sums |= prob->kinds[f] == FACTOR_REDUCTION;
  if (!sums || o->num_results != 1 || o->num_operands + 1 > MAX_TENSORS) return false;
  for (u32 t = 0; t <= o->num_operands; t++) {
    const sharding *s = prob->tensors[t];
    const type *type = prob->types[t];
    i64 elements;
    if (!type_is_ranked(type) || !type_num_elements(type, &elements) || !elements ||
        (sh[t] && !s) || (s && s->unreduced.len))
      return false;
  }
  return true;
}

void axes_take_cheapest(arena *a, const op *o, const axes_problem *prob, const sharding *const *sh,
                        axis_list *axes) {
  u32 num_tensors = o->num_operands + 1, n = prob->rule->num_factors;
  if (!may_choose(o, prob, sh)) return;
  double best = cost_under(a, o, prob, axes, false);
  axis_list *found = ARENA_ARRAY(a, axis_list, n), *least = ARENA_ARRAY(a, axis_list, n);
  memcpy(least, axes, n * sizeof *axes);
  for (u32 t = 0; t < num_tensors && best > 0; t++) {
    i64 *sizes = arena_copy(a, prob->sizes, num_tensors * sizeof *sizes);
    axes_problem other = *prob;
    if (!prob->tensors[t]) continue;
    sizes[t] = INT64_MAX;
    other.sizes = sizes;
    common_axes(a, &other, found);
    if (parts_of(prob, found) < parts_of(prob, axes)) continue;
    double cost = cost_under(a, o, prob, found, true);
    if (cost >= best) continue;
    best = cost;
    memcpy(least, found, n * sizeof *found);
  }
  memcpy(axes, least, n * sizeof *axes);
}
