/* Axes of a matrix product, a reduction and a reshape under agreeing and conflicting shardings. */
#include "partition/common_axes.h"

#include "tests/unit.h"

/* C[i, j] = A[i, k] B[k, j]: factors 0 i, 1 j, 2 k */
static const factor dot_factors[] = {
    {8, FACTOR_PASS, false}, {16, FACTOR_PASS, false}, {32, FACTOR_REDUCTION, false}};
static const u32 dot_tensors[] = {0, 2, 4, 6}, dot_dims[] = {0, 1, 2, 3, 4, 5, 6};
static const u32 dot_places[] = {0, 2, 2, 1, 0, 1};
static const rule dot = {.num_factors = 3,
                         .num_operands = 2,
                         .num_results = 1,
                         .factors = dot_factors,
                         .tensor_begin = dot_tensors,
                         .dim_begin = dot_dims,
                         .places = dot_places};

/* R[i * j] = X[i, j] as a reshape: factors 0 i, 1 j */
static const factor merge_factors[] = {{4, FACTOR_PASS, false}, {6, FACTOR_PASS, false}};
static const u32 merge_tensors[] = {0, 2, 3}, merge_dims[] = {0, 1, 2, 4};
static const u32 merge_places[] = {0, 1, 0, 1};
static const rule merge = {.num_factors = 2,
                           .num_operands = 1,
                           .num_results = 1,
                           .factors = merge_factors,
                           .tensor_begin = merge_tensors,
                           .dim_begin = merge_dims,
                           .places = merge_places};

static const u8 kinds[] = {FACTOR_PASS, FACTOR_PASS, FACTOR_REDUCTION};

static type tensor(const i64 *dims, size_t rank) {
  return (type){.kind = TYPE_TENSOR, .dims = {dims, rank}};
}

static const sharding *two(arena *a, const mesh *m, const char *x, const char *y) {
  axis_list l[2] = {{0}, {0}};
  for (int d = 0; d < 2; d++) {
    const char *names = d ? y : x;
    axis_vec v = {0};
    for (; *names; names++) VEC_PUSH(a, v, axis_whole(m, (u32)mesh_axis_find(m, (str){names, 1})));
    l[d] = axis_vec_list(&v);
  }
  return sharding_make_closed(a, m, l, 2);
}

static bool is(const mesh *m, axis_list l, const char *names) {
  if (l.len != strlen(names)) return false;
  for (size_t i = 0; i < l.len; i++)
    if (!str_eq(m->axes[l.data[i].axis].name, (str){names + i, 1})) return false;
  return true;
}

static void products(arena *a, const mesh *m) {
  const i64 shapes[3][2] = {{8, 32}, {32, 16}, {8, 16}}, sizes[] = {256, 512, 128};
  type t[3] = {tensor(shapes[0], 2), tensor(shapes[1], 2), tensor(shapes[2], 2)};
  const type *types[] = {&t[0], &t[1], &t[2]};
  axis_list out[3];
  /* both contracting dimensions sharded: stays, and will be summed up */
  const sharding *agree[] = {two(a, m, "", "x"), two(a, m, "x", ""), two(a, m, "", "")};
  axes_problem p = {
      .rule = &dot, .mesh = m, .sizes = sizes, .kinds = kinds, .tensors = agree, .types = types};
  common_axes(a, &p, out);
  CHECK(is(m, out[0], "") && is(m, out[1], "") && is(m, out[2], "x"));
  /* x wanted by i of A and C, and by k of B, which is larger than both */
  const sharding *conflict[] = {two(a, m, "x", ""), two(a, m, "x", "y"), two(a, m, "x", "y")};
  p.tensors = conflict;
  common_axes(a, &p, out);
  CHECK(is(m, out[0], "") && is(m, out[1], "y") && is(m, out[2], "x"));
  CHECK(sharding_equivalent(common_sharding(a, &p, 0, out), two(a, m, "", "x")));
  CHECK(sharding_equivalent(common_sharding(a, &p, 2, out), two(a, m, "", "y")));
  /* a factor that must be replicated gets none */
  const u8 whole[] = {FACTOR_PASS, FACTOR_PASS, FACTOR_REPLICATE};
  p.kinds = whole;
  p.tensors = agree;
  common_axes(a, &p, out);
  CHECK(out[0].len + out[1].len + out[2].len == 0);
}

/* Parts of one axis that do not overlap, and still no sharding of the result has both. */
static void unlike_parts(arena *a) {
  mesh_axis x = {STR("x"), 6};
  const mesh *m = mesh_make(a, STR("m"), &x, 1, (i64s){0});
  const i64 shapes[3][2] = {{8, 32}, {32, 16}, {8, 16}}, sizes[] = {256, 512, 128};
  type t[3] = {tensor(shapes[0], 2), tensor(shapes[1], 2), tensor(shapes[2], 2)};
  const type *types[] = {&t[0], &t[1], &t[2]};
  const axis_ref major = {0, 1, 2}, minor = {0, 3, 2};
  const axis_list left[] = {{&major, 1}, {0}}, right[] = {{0}, {&minor, 1}};
  const sharding *s[] = {sharding_make_closed(a, m, left, 2), sharding_make_closed(a, m, right, 2),
                         NULL};
  axes_problem p = {
      .rule = &dot, .mesh = m, .sizes = sizes, .kinds = kinds, .tensors = s, .types = types};
  axis_list out[3];
  common_axes(a, &p, out);
  CHECK(out[0].len == 0 && axes_eq(out[1], right[1]) && out[2].len == 0);
}

static void reshapes(arena *a) {
  mesh_axis axes[] = {{STR("x"), 2}, {STR("y"), 2}};
  const mesh *m = mesh_make(a, STR("m"), axes, 2, (i64s){0});
  const i64 in[] = {4, 6}, flat[] = {24}, sizes[] = {24, 24};
  type t[2] = {tensor(in, 2), tensor(flat, 1)};
  const type *types[] = {&t[0], &t[1]};
  axis_list out[2];
  /* the major factor is not sharded to the end, so the minor one may not be at all */
  const sharding *s[] = {two(a, m, "x", "y"), NULL};
  axes_problem p = {
      .rule = &merge, .mesh = m, .sizes = sizes, .kinds = kinds, .tensors = s, .types = types};
  common_axes(a, &p, out);
  CHECK(is(m, out[0], "x") && is(m, out[1], ""));
  const sharding *full[] = {two(a, m, "xy", ""), NULL};
  p.tensors = full;
  common_axes(a, &p, out);
  CHECK(is(m, out[0], "xy") && axes_size(common_sharding(a, &p, 1, out)->dims[0].axes) == 4);
}

int main(void) {
  oom_trap trap;
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  mesh_axis axes[] = {{STR("x"), 4}, {STR("y"), 2}};
  const mesh *m = mesh_make(&a, STR("mesh"), axes, 2, (i64s){0});
  products(&a, m);
  unlike_parts(&a);
  reshapes(&a);
  arena_deinit(&a);
  return UNIT_END();
}
