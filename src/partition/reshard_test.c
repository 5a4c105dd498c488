/* Plans between random shardings: each step must do what its kind can, and the last one must
 * arrive. */
#include "partition/reshard.h"

#include <setjmp.h>
#include <stdlib.h>

#include "tests/unit.h"

static u64 rng_state = 1;
static u32 rng(u32 n) {
  rng_state = rng_state * 6364136223846793005u + 1442695040888963407u;
  return (u32)(rng_state >> 33) % n;
}

/* A random sharding of `rank` dimensions; what does not divide `shape` is rarer. */
static const sharding *random_sharding(arena *a, const mesh *m, u32 rank, const i64 *shape) {
  axis_vec *dims = arena_zalloc(a, rank * sizeof(*dims));
  axis_list *lists = ARENA_ARRAY(a, axis_list, rank);
  axis_vec parts = {0};
  for (u32 k = 0; k < m->num_axes; k++) {
    i64 full = m->axes[k].size, begin = 1;
    for (i64 end = 2; rng(3) == 0 && end < full; end++) /* cut anywhere, into up to all factors */
      if (end % begin == 0 && full % end == 0 && rng(2)) {
        VEC_PUSH(a, parts, ((axis_ref){k, begin, end / begin}));
        begin = end;
      }
    if (begin < full || full == 1) VEC_PUSH(a, parts, ((axis_ref){k, begin, full / begin}));
  }
  while (parts.len) {
    size_t i = rng((u32)parts.len);
    axis_ref r = parts.data[i];
    parts.data[i] = parts.data[--parts.len];
    u32 d = rng(rank + 1);
    if (d == rank) continue;
    if (shape[d] % (axes_size(axis_vec_list(&dims[d])) * r.size) == 0 || rng(8) == 0)
      axes_add_or_merge(a, &dims[d], r);
  }
  for (u32 d = 0; d < rank; d++) lists[d] = axis_vec_list(&dims[d]);
  return sharding_make_closed(a, m, lists, rank);
}

/* prev with `l` appended to dimension d equals now */
static bool appended(arena *a, axis_list prev, axis_list l, axis_list now) {
  return axes_eq(axes_merge(a, axes_concat(a, prev, l)), now);
}

static bool step_ok(arena *a, const sharding *prev, const reshard_step *s) {
  const axis_list none = {0};
  for (u32 d = 0; d < prev->rank; d++) {
    axis_list p = prev->dims[d].axes, n = s->out->dims[d].axes;
    switch (s->kind) {
    case STEP_ALL_SLICE:
      if (!appended(a, p, s->dim_axes[d], n)) return false;
      break;
    case STEP_ALL_GATHER:
      if (!appended(a, n, s->dim_axes[d], p)) return false;
      break;
    case STEP_PERMUTE:
      if (axes_size(p) != axes_size(n)) return false;
      break;
    case STEP_ALL_TO_ALL: {
      axis_list lost = none, got = none;
      for (u32 i = 0; i < s->num_moves; i++) {
        if (s->moves[i].src == d) lost = s->moves[i].axes;
        if (s->moves[i].dst == d) got = s->moves[i].axes;
      }
      if (lost.len && got.len) return false;
      if (!appended(a, lost.len ? n : p, lost.len ? lost : got, lost.len ? p : n)) return false;
      break;
    }
    }
  }
  axis_list used = sharding_used_axes(a, s->out);
  for (size_t i = 0; i < used.len; i++) /* no axis twice, and all from one factorisation */
    for (size_t k = 0; k < i; k++)
      if (axis_overlaps(used.data[i], used.data[k]) ||
          !axis_can_coexist(used.data[i], used.data[k]))
        return false;
  return true;
}

static void random_plans(arena *a) {
  static const i64 sizes[][3] = {{2, 2, 2}, {4, 2, 8},  {8, 1, 2},  {2, 3, 4}, {6, 4, 2},
                                 {3, 3, 2}, {12, 2, 1}, {24, 3, 1}, {6, 1, 6}, {36, 2, 1}};
  size_t count = 0, steps_sum = 0;
  for (int i = 0; i < 20000; i++) {
    const i64 *size = sizes[rng(COUNT(sizes))];
    mesh_axis axes[3] = {{STR("x"), size[0]}, {STR("y"), size[1]}, {STR("z"), size[2]}};
    const mesh *m = mesh_make(a, STR("mesh"), axes, 3, (i64s){0});
    static const i64 lengths[] = {1, 2, 4, 5, 9, 12, 24, 36, 48, 50, 96};
    u32 rank = 1 + rng(3);
    i64 shape[3];
    for (u32 d = 0; d < rank; d++) shape[d] = lengths[rng(COUNT(lengths))];
    const sharding *in = random_sharding(a, m, rank, shape);
    const sharding *out = random_sharding(a, m, rank, shape);
    reshard_steps steps = {0};
    reshard_plan(a, in, out, shape, true, &steps);
    const sharding *cur = in;
    bool good = true;
    for (size_t k = 0; k < steps.len; k++) {
      good =
          good && step_ok(a, cur, &steps.data[k]) && sharding_steps(cur, steps.data[k].out, shape);
      cur = steps.data[k].out;
    }
    CHECK(good && sharding_equivalent(cur, out));
    if (sharding_equivalent(in, out)) CHECK(steps.len == 0);
    count++, steps_sum += steps.len;
  }
  CHECK(steps_sum < 3 * count);
}

static const sharding *dims2(arena *a, const mesh *m, const axis_ref *r0, size_t n0,
                             const axis_ref *r1, size_t n1) {
  axis_list l[2] = {{r0, n0}, {r1, n1}};
  return sharding_make_closed(a, m, l, 2);
}

static void known_plans(arena *a) {
  mesh_axis axes[2] = {{STR("x"), 4}, {STR("y"), 2}};
  const mesh *m = mesh_make(a, STR("mesh"), axes, 2, (i64s){0});
  axis_ref x = axis_whole(m, 0), y = axis_whole(m, 1);
  const i64 shape[2] = {8, 8};
  reshard_steps steps = {0};
  /* [{x}, {y}] -> [{y}, {x}]: a permutation, then half of x moves over */
  reshard_plan(a, dims2(a, m, &x, 1, &y, 1), dims2(a, m, &y, 1, &x, 1), shape, true, &steps);
  CHECK(steps.len == 2 && steps.data[0].kind == STEP_PERMUTE &&
        steps.data[1].kind == STEP_ALL_TO_ALL);
  /* [{x}, {}] -> [{}, {x}]: one all-to-all */
  steps.len = 0;
  reshard_plan(a, dims2(a, m, &x, 1, NULL, 0), dims2(a, m, NULL, 0, &x, 1), shape, true, &steps);
  CHECK(steps.len == 1 && steps.data[0].kind == STEP_ALL_TO_ALL && steps.data[0].moves[0].dst == 1);
  /* two device orders: one permutation; none for a replicated tensor */
  const i64 ids[] = {7, 6, 5, 4, 3, 2, 1, 0};
  const mesh *other = mesh_make(a, STR("other"), axes, 2, (i64s){ids, 8});
  steps.len = 0;
  reshard_plan(a, dims2(a, m, &x, 1, NULL, 0), dims2(a, other, &x, 1, NULL, 0), shape, true,
               &steps);
  CHECK(steps.len == 1 && steps.data[0].kind == STEP_PERMUTE);
  steps.len = 0;
  reshard_plan(a, dims2(a, m, NULL, 0, NULL, 0), dims2(a, other, &x, 1, NULL, 0), shape, true,
               &steps);
  CHECK(steps.len == 1 && steps.data[0].kind == STEP_ALL_SLICE);
  steps.len = 0;
  reshard_plan(a, dims2(a, m, &x, 1, NULL, 0), dims2(a, other, NULL, 0, NULL, 0), shape, true,
               &steps);
  CHECK(steps.len == 1 && steps.data[0].kind == STEP_ALL_GATHER);
}

/* Axes that neither sharding has cut shards on the way: a permutation of halves, and a gather. */
static void plans_by_others(arena *a) {
  mesh_axis axes[2] = {{STR("x"), 6}, {STR("y"), 4}};
  const mesh *m = mesh_make(a, STR("mesh"), axes, 2, (i64s){0});
  axis_ref two = {0, 1, 2}, three = {0, 2, 3};
  const i64 shape[2] = {2, 6};
  const sharding *in = dims2(a, m, NULL, 0, &two, 1), *out = dims2(a, m, &two, 1, &three, 1);
  reshard_steps steps = {0};
  reshard_plan(a, in, out, shape, true, &steps);
  CHECK(reshard_sent(in, shape, &steps) == 2);
  steps.len = 0; /* devices along y may have other values, as in manual computations */
  reshard_plan(a, in, out, shape, false, &steps);
  CHECK(reshard_sent(in, shape, &steps) == 3);
}

/* On more devices too, where their number has few factors: z moves, then x is gathered again. */
static void plans_by_few_others(arena *a) {
  mesh_axis axes[3] = {{STR("x"), 4}, {STR("y"), 3}, {STR("z"), 3}};
  const mesh *m = mesh_make(a, STR("mesh"), axes, 3, (i64s){0});
  axis_ref x = axis_whole(m, 0), z = axis_whole(m, 2);
  const i64 shape[2] = {12, 3};
  const sharding *in = dims2(a, m, &z, 1, NULL, 0), *out = dims2(a, m, &x, 1, &z, 1);
  reshard_steps steps = {0};
  reshard_plan(a, in, out, shape, true, &steps);
  CHECK(reshard_sent(in, shape, &steps) == 3);
}

/* Of cuttings in between, too: of x=24, 1 2 8 24 and 1 2 4 12 24. What is to be gathered is
 * permuted first, so that all but three shards of it are in one dimension. */
static void plans_by_other_cuttings(arena *a) {
  mesh_axis axes[1] = {{STR("x"), 24}};
  const mesh *m = mesh_make(a, STR("mesh"), axes, 1, (i64s){0});
  axis_ref three = {0, 8, 3}, eight = {0, 1, 8}, two = {0, 4, 2};
  const i64 shape[2] = {6, 10};
  const sharding *in = dims2(a, m, &three, 1, &eight, 1), *out = dims2(a, m, &two, 1, NULL, 0);
  reshard_steps steps = {0};
  reshard_plan(a, in, out, shape, true, &steps);
  CHECK(reshard_sent(in, shape, &steps) == 52);
}

/* Parts of one axis that no one way to cut it has: sliced further, a shard is permuted to its
 * place. */
static void plans_between_unlike_parts(arena *a) {
  mesh_axis axes[2] = {{STR("x"), 24}, {STR("y"), 2}};
  const mesh *m = mesh_make(a, STR("mesh"), axes, 2, (i64s){0});
  axis_ref from[] = {{0, 8, 3}, axis_whole(m, 1)}, to[] = {{0, 1, 12}, axis_whole(m, 1)};
  const i64 shape[2] = {48, 2};
  const sharding *in = dims2(a, m, from, 2, NULL, 0), *out = dims2(a, m, to, 2, NULL, 0);
  reshard_steps steps = {0};
  reshard_plan(a, in, out, shape, true, &steps);
  CHECK(reshard_sent(in, shape, &steps) == 4);
}

/* Shards along an axis that is not summed up yet are no copies. */
static void unreduced_plans(arena *a) {
  mesh_axis axes[3] = {{STR("x"), 3}, {STR("y"), 4}, {STR("z"), 2}};
  const mesh *m = mesh_make(a, STR("mesh"), axes, 3, (i64s){0});
  axis_ref x = axis_whole(m, 0), y = axis_whole(m, 1), z = axis_whole(m, 2);
  for (i64 i = 1; i < 12; i++)
    for (i64 k = 1; k < 12; k++) {
      const i64 shape[2] = {i, k};
      reshard_steps steps = {0};
      sharding in = *dims2(a, m, &x, 1, &y, 1), out = *dims2(a, m, NULL, 0, &x, 1);
      in.unreduced = out.unreduced = (axis_list){&z, 1};
      reshard_plan(a, &in, &out, shape, true, &steps);
      for (size_t s = 0; s < steps.len; s++)
        CHECK(!axes_overlap(sharding_used_axes(a, steps.data[s].out), in.unreduced));
    }
}

int main(void) {
  oom_trap trap;
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  known_plans(&a);
  plans_by_others(&a);
  plans_by_few_others(&a);
  plans_by_other_cuttings(&a);
  plans_between_unlike_parts(&a);
  unreduced_plans(&a);
  random_plans(&a);
  arena_deinit(&a);
  return UNIT_END();
}
