/* Plans done on numbered elements: every rank ends with its slice of the target, and no plan moves
 * more than it must where that is known. */
#include "mesh/redistribute_steps.h"

#include "tests/unit.h"

enum { SIZE = 12, CELLS = SIZE * SIZE, MAX_RANKS = 24 };

typedef struct fixture {
  arena a;
  diag_sink sink;
} fixture;

/* A piece of the SIZE x SIZE tensor: which cells, row-major in the shape it has now. */
typedef struct held {
  i64 dims[2];
  i64 cells[CELLS];
} held;

/* "2,3" "x,y" over dimensions: a letter an axis, '-' for none. */
static const layout *make(fixture *f, i64s matrix, const char *first, const char *second) {
  static const char letters[] = "abcdef";
  str names[6], used[12];
  layout_entry entries[2];
  size_t at = 0;
  for (size_t i = 0; i < matrix.len; i++) names[i] = (str){letters + i, 1};
  const char *const dims[] = {first, second};
  for (int d = 0; d < 2; d++) {
    entries[d] = (layout_entry){used + at, strlen(dims[d]), strlen(dims[d]) > 1};
    for (const char *c = dims[d]; *c; c++) used[at++] = *c == '-' ? STR("None") : (str){c, 1};
  }
  layout_spec s = {matrix, names, matrix.len, {0}, entries, 2};
  return layout_make(&f->a, &s, &f->sink);
}

static void fill(const layout *l, i64 position, held *out) {
  index_range r[2];
  slice_ranges(&l->grid, (i64s){(const i64[]){SIZE, SIZE}, 2}, layout_slice_at(l, position), r);
  for (int d = 0; d < 2; d++) out->dims[d] = r[d].end - r[d].begin;
  i64 n = 0;
  for (i64 i = r[0].begin; i < r[0].end; i++)
    for (i64 k = r[1].begin; k < r[1].end; k++) out->cells[n++] = i * SIZE + k;
}

/* Part k of n along a dimension, put at part `at` of a result of `parts` parts. */
static void place(const held *from, u32 cut, i64 k, i64 n, u32 join, i64 at, i64 parts, held *to) {
  i64 size[2] = {from->dims[0], from->dims[1]}, begin[2] = {0}, put[2] = {0};
  size[cut] /= n;
  begin[cut] = k * size[cut];
  to->dims[0] = size[0];
  to->dims[1] = size[1];
  to->dims[join] *= parts;
  put[join] = at * size[join];
  for (i64 i = 0; i < size[0]; i++)
    for (i64 j = 0; j < size[1]; j++)
      to->cells[(put[0] + i) * to->dims[1] + put[1] + j] =
          from->cells[(begin[0] + i) * from->dims[1] + begin[1] + j];
}

static void do_step(const redistribute_step *s, const held *before, held *after) {
  i64 n = s->groups.group_size;
  for (i64 g = 0; g < s->groups.num_groups; g++) {
    const i64 *group = s->groups.ids + g * n;
    if (s->op == REDISTRIBUTE_PERMUTE) {
      after[group[1]] = before[group[0]];
      continue;
    }
    for (i64 k = 0; k < n; k++) {
      if (s->op == REDISTRIBUTE_SLICE)
        place(&before[group[k]], s->dim, k, n, s->dim, 0, 1, &after[group[k]]);
      for (i64 j = 0; j < n && s->op == REDISTRIBUTE_ALL_GATHER; j++)
        place(&before[group[j]], s->dim, 0, 1, s->dim, j, n, &after[group[k]]);
      for (i64 j = 0; j < n && s->op == REDISTRIBUTE_ALL_TO_ALL; j++)
        place(&before[group[j]], s->to_dim, k, n, s->dim, j, n, &after[group[k]]);
    }
  }
}

/* Elements that the busiest rank receives in a plan, which is done. */
static i64 check_plan(const redistribution *r) {
  static held now[MAX_RANKS], next[MAX_RANKS];
  const layout *from = r->from, *to = r->to;
  i64 received = 0;
  for (i64 k = 0; k < r->num_ranks; k++) fill(from, redistribute_position(r, from, k), &now[k]);
  for (size_t i = 0; i < r->num_steps; i++) {
    i64 had = now[0].dims[0] * now[0].dims[1], n = r->steps[i].groups.group_size;
    if (r->steps[i].op == REDISTRIBUTE_ALL_GATHER) received += had * (n - 1);
    if (r->steps[i].op == REDISTRIBUTE_ALL_TO_ALL) received += had / n * (n - 1);
    if (r->steps[i].op == REDISTRIBUTE_PERMUTE) received += had;
    do_step(&r->steps[i], now, next);
    memcpy(now, next, sizeof now);
  }
  for (i64 k = 0; k < r->num_ranks; k++) {
    static held want;
    fill(to, redistribute_position(r, to, k), &want);
    size_t cells = (size_t)(want.dims[0] * want.dims[1]);
    CHECK(now[k].dims[0] == want.dims[0] && now[k].dims[1] == want.dims[1]);
    CHECK(!memcmp(now[k].cells, want.cells, cells * sizeof(i64)));
  }
  return received;
}

static i64 check(fixture *f, const layout *from, const layout *to) {
  const redistribution *r = redistribute_plan(&f->a, from, to, &f->sink);
  CHECK(r);
  return r ? check_plan(r) : -1;
}

/* Each of the plans for itself, also where another is cheaper. */
static void check_others(fixture *f, const layout *from, const layout *to) {
  const redistribution *best = redistribute_plan(&f->a, from, to, &f->sink);
  redistribution r = *best;
  step_vec pieces = {0}, primes = {0};
  if (plan_by_pieces(&f->a, from, to, r.ranks, &pieces)) {
    r.steps = pieces.data, r.num_steps = pieces.len;
    CHECK(check_plan(&r) >= check_plan(best));
  }
  CHECK(plan_by_primes(&f->a, from, to, r.ranks, &primes));
  r.steps = primes.data, r.num_steps = primes.len;
  CHECK(check_plan(&r) >= check_plan(best));
}

#define INTS(...) ((i64s){(const i64[]){__VA_ARGS__}, COUNT(((const i64[]){__VA_ARGS__}))})

static void test_known(fixture *f) {
  const layout *rows = make(f, INTS(2, 3), "a", "-"), *other = make(f, INTS(3, 2), "a", "-");
  /* halves to thirds: half of a third is all that anybody can lack */
  CHECK(check(f, rows, other) == CELLS / 6);
  CHECK(check(f, rows, rows) == 0);
  /* an axis from one dimension to the other is one all-to-all */
  const layout *left = make(f, INTS(2, 2), "a", "b"), *right = make(f, INTS(2, 2), "-", "ba");
  CHECK(check(f, left, right) == CELLS / 8);
  /* the same pieces in another order are one permutation */
  const layout *ab = make(f, INTS(2, 3), "ab", "-"), *ba = make(f, INTS(2, 3), "ba", "-");
  CHECK(check(f, ab, ba) == CELLS / 6);
  /* more of what is there is free */
  CHECK(check(f, make(f, INTS(2, 2), "a", "-"), make(f, INTS(2, 2), "a", "b")) == 0);
  /* to everything */
  CHECK(check(f, make(f, INTS(2, 2), "a", "b"), make(f, INTS(2, 2), "-", "-")) == CELLS / 4 * 3);
  /* over fewer ranks, which repeat */
  CHECK(check(f, make(f, INTS(2), "a", "-"), make(f, INTS(2, 2), "b", "-")) == 0);
  /* what both matrices can say stays: 4 x (2x3) to 4 x (3x2) moves nothing along the 4 */
  const layout *x = make(f, INTS(2, 2, 3), "a", "b"), *y = make(f, INTS(2, 3, 2), "a", "b");
  CHECK(check(f, x, y) <= CELLS / 6);
  /* both dimensions cut anew: two exchanges between them, and pieces to their places */
  const layout *both = make(f, INTS(2, 3), "a", "b"), *anew = make(f, INTS(3, 2), "a", "b");
  CHECK(check(f, both, anew) < CELLS / 6 * 5);
}

/* All placements of up to three axes on two dimensions, from each to each. */
static void test_all(fixture *f) {
  static const char *const maps[][2] = {{"-", "-"},  {"a", "-"},  {"-", "b"},
                                        {"a", "b"},  {"b", "a"},  {"ab", "-"},
                                        {"ba", "-"}, {"c", "ab"}, {"cb", "a"}};
  const i64s matrices[] = {INTS(2, 3, 2), INTS(3, 2, 2), INTS(2, 2, 3), INTS(12, 1, 1),
                           INTS(4, 3, 1)};
  const layout *all[COUNT(maps) * COUNT(matrices)];
  size_t n = 0;
  for (size_t m = 0; m < COUNT(matrices); m++)
    for (size_t k = 0; k < COUNT(maps); k++) {
      const layout *l = make(f, matrices[m], maps[k][0], maps[k][1]);
      if (layout_check_shape(l, INTS(SIZE, SIZE), &f->sink)) all[n++] = l;
    }
  for (size_t i = 0; i < n; i++)
    for (size_t k = 0; k < n; k++) {
      CHECK(check(f, all[i], all[k]) >= 0);
      check_others(f, all[i], all[k]);
    }
}

static void test_wrong(fixture *f) {
  const layout *six = make(f, INTS(2, 3), "a", "-"), *four = make(f, INTS(2, 2), "a", "-");
  u32 before = f->sink.errors;
  CHECK(!redistribute_plan(&f->a, six, four, &f->sink));
  CHECK(!redistribute_check_shape(six, six, INTS(7, 1), 4, &f->sink));
  CHECK(!redistribute_check_shape(six, six, INTS(6, 1), 0, &f->sink));
  CHECK(!redistribute_check_shape(six, six, INTS(INT64_MAX - 1, 4), 4, &f->sink));
  CHECK(f->sink.errors == before + 4);
}

int main(void) {
  fixture f = {0};
  oom_trap trap;
  buf errors;
  buf_init(&errors, &mem_system);
  arena_init(&f.a, &mem_system, &trap);
  if (setjmp(trap.at)) return 1;
  f.sink = (diag_sink){.fn = diag_to_buf, .user = &errors};
  test_known(&f);
  test_all(&f);
  CHECK(f.sink.errors == 0);
  test_wrong(&f);
  arena_deinit(&f.a);
  buf_deinit(&errors);
  return UNIT_END();
}
