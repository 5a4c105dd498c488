/* The derivations of MindSpore's guide, step by step, and what layouts refuse. */
#include "mesh/layout.h"

#include "tests/unit.h"

#define INTS(...) ((i64s){(const i64[]){__VA_ARGS__}, COUNT(((const i64[]){__VA_ARGS__}))})

typedef struct guide {
  i64s matrix;
  const char *alias, *map; /* a letter a name */
  const i64 slices[8];
} guide;

/* One letter a name. */
static const layout *make(arena *a, i64s matrix, const char *alias, const char *map, i64s ranks,
                          diag_sink *sink) {
  str names[8];
  layout_entry entries[8];
  size_t n = strlen(alias), k = strlen(map);
  for (size_t i = 0; i < n; i++) names[i] = (str){alias + i, 1};
  str used[8];
  for (size_t i = 0; i < k; i++) {
    used[i] = map[i] == '-' ? STR("None") : (str){map + i, 1};
    entries[i] = (layout_entry){&used[i], 1, false};
  }
  layout_spec s = {matrix, names, n, ranks, entries, k};
  return layout_make(a, &s, sink);
}

/* What a rank holds of a tensor with an element a slice, in rising order. */
static i64 value_held(const layout *l, i64 rank) {
  index_range r[8];
  i64s shape = {l->grid.strategy, layout_rank(l)};
  i64 value = 0;
  slice_ranges(&l->grid, shape, layout_slice_at(l, rank), r);
  for (size_t d = 0; d < shape.len; d++) {
    CHECK(r[d].end == r[d].begin + 1);
    value = value * shape.data[d] + r[d].begin;
  }
  return value;
}

/* Numbering, reordering, weighing by hand, with nothing of the layout but its columns. */
static void derive(const layout *l, const char *what, const i64 *slices) {
  const mesh *m = layout_mesh(l);
  printf("%s\n", what);
  for (i64 rank = 0; rank < m->size; rank++) {
    i64 digits[8], sum = 0;
    mesh_coordinates(m, rank, digits);
    printf("  rank %lld: numbered", (long long)rank);
    for (u32 i = 0; i < m->num_axes; i++) printf(" %lld", (long long)digits[i]);
    printf("; reordered");
    for (size_t i = 0; i < l->grid.num_columns; i++)
      printf(" %lld", (long long)digits[l->grid.columns[i].axis]);
    printf("; weighed");
    for (size_t i = 0; i < l->grid.num_columns; i++) {
      const slice_column *c = &l->grid.columns[i];
      printf("%s%lld*%lld", i ? " + " : " ", (long long)digits[c->axis], (long long)c->weight);
      sum += digits[c->axis] * c->weight;
    }
    printf(" = slice %lld; holds %lld\n", (long long)sum, (long long)value_held(l, rank));
    CHECK(sum == slices[rank]);
    CHECK(value_held(l, rank) == slices[rank]);
    CHECK(layout_slice_at(l, rank) == slices[rank]);
  }
}

static void test_guide(arena *a, diag_sink *sink) {
  const guide cases[] = {
      {INTS(2, 1, 2, 2, 1), "abcde", "bdeca", {0, 4, 2, 6, 1, 5, 3, 7}},
      {INTS(4, 1, 1, 2, 1), "abcde", "bdea", {0, 4, 1, 5, 2, 6, 3, 7}},
      {INTS(2, 1, 2, 2, 1), "abcde", "beca", {0, 0, 2, 2, 1, 1, 3, 3}},
  };
  for (size_t i = 0; i < COUNT(cases); i++) {
    const layout *l = make(a, cases[i].matrix, cases[i].alias, cases[i].map, (i64s){0}, sink);
    CHECK(l);
    if (l) derive(l, cases[i].map, cases[i].slices);
  }
  /* (1,2,1,2,2) holding 0 to 7: a rank holds the value of its slice number */
  const layout *l = make(a, cases[0].matrix, "abcde", "bdeca", (i64s){0}, sink);
  i64s shape = INTS(1, 2, 1, 2, 2);
  CHECK(layout_check_shape(l, shape, sink));
  for (i64 rank = 0; rank < 8; rank++) {
    index_range r[5];
    slice_ranges(&l->grid, shape, layout_slice_at(l, rank), r);
    CHECK(r[1].begin * 4 + r[3].begin * 2 + r[4].begin == cases[0].slices[rank]);
  }
}

static void test_strategy(arena *a, diag_sink *sink) {
  const layout *all = layout_from_strategy(a, INTS(2, 1, 2, 2, 1), 8, false, sink);
  derive(all, ".shard() (2,1,2,2,1)", INTS(0, 1, 2, 3, 4, 5, 6, 7).data);
  const layout *right = layout_from_strategy(a, INTS(2, 1, 1, 2, 1), 8, false, sink);
  derive(right, ".shard() (2,1,1,2,1), right", INTS(0, 0, 1, 1, 2, 2, 3, 3).data);
  const layout *left = layout_from_strategy(a, INTS(2, 1, 1, 2, 1), 8, true, sink);
  derive(left, ".shard() (2,1,1,2,1), left", INTS(0, 1, 2, 3, 0, 1, 2, 3).data);
  CHECK(!layout_from_strategy(a, INTS(2, 3), 8, false, sink));
  CHECK(!layout_from_strategy(a, INTS(2, 0), 8, false, sink));
}

static void test_ranks(arena *a, diag_sink *sink) {
  const layout *l = make(a, INTS(2, 2), "xy", "y-", INTS(7, 3, 5, 9), sink);
  i64s ranks;
  CHECK(layout_slice_ranks(a, l, 1, &ranks, sink) && i64s_eq(ranks, INTS(3, 9)));
  i64 position;
  CHECK(layout_find_rank(l, 5, &position, sink) && layout_slice_at(l, position) == 0);
  u32 before = sink->errors;
  CHECK(!layout_find_rank(l, 0, &position, sink));
  CHECK(!layout_slice_ranks(a, l, 2, &ranks, sink));
  CHECK(!layout_check_shape(l, INTS(3, 1), sink));
  CHECK(!layout_check_shape(l, INTS(4), sink));
  CHECK(sink->errors == before + 4);
}

static void test_refused(arena *a, diag_sink *sink) {
  CHECK(!make(a, INTS(2, 0), "xy", "x", (i64s){0}, sink));
  CHECK(!make(a, INTS(2), "xy", "x", (i64s){0}, sink));
  CHECK(!make(a, INTS(2, 2), "xx", "x", (i64s){0}, sink));
  CHECK(!make(a, INTS(2, 2), "xy", "z", (i64s){0}, sink));
  CHECK(!make(a, INTS(2, 2), "xy", "xx", (i64s){0}, sink));
  CHECK(!make(a, INTS(2, 2), "xy", "", (i64s){0}, sink));
  CHECK(!make(a, INTS(2, 2), "xy", "x", INTS(0, 1, 2), sink));
  CHECK(!make(a, INTS(2, 2), "xy", "x", INTS(0, 1, 2, 2), sink));
  CHECK(!make(a, INTS(2, 2), "xy", "x", INTS(0, 1, 2, -1), sink));
  CHECK(!make(a, INTS(INT64_MAX, 2), "xy", "x", (i64s){0}, sink));
}

int main(void) {
  oom_trap trap;
  arena a;
  buf errors;
  buf_init(&errors, &mem_system);
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  diag_sink sink = {.fn = diag_to_buf, .user = &errors};
  test_guide(&a, &sink);
  test_strategy(&a, &sink);
  CHECK(sink.errors == 2);
  test_ranks(&a, &sink);
  u32 before = sink.errors;
  test_refused(&a, &sink);
  CHECK(sink.errors == before + 10);
  arena_deinit(&a);
  buf_deinit(&errors);
  return UNIT_END();
}
