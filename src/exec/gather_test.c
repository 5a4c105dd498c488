/* Gathers and scatters on the pool, against plain C. */
#include <math.h>

#include "num/convert.h"
#include "tests/exec.h"

/* Windows of a table by one index each, of rows (dim 0) or columns (dim 1). */
static prog_gather along(i64 *dim, u32 *operand, u32 *other, u32 indices) {
  static i64 dims[] = {0, 1};
  return (prog_gather){.n = 1,
                       .operand = operand,
                       .other = other,
                       .indices = indices,
                       .offset_dims = {&dims[1 - *dim], 1},
                       .collapsed = {dim, 1},
                       .start_index_map = {dim, 1},
                       .index_vector_dim = 1};
}
static i64 by_row = 0, by_column = 1;

/* The same the other way: added, or put where it came from. */
static void add_scatter(prog_builder *b, prog_gather g, u32 *operand, bool put) {
  g.scatter = true;
  g.operand = operand;
  g.body = (prog_body){.kind = put ? REDUCE_CODE : REDUCE_SUM};
  for (u32 i = 0; put && i < 2; i++) vm_load(b, &g.body.code, DTYPE_f32, i);
  if (put) vm_store(b, &g.body.code, 0, 1);
  prog_add_gather(b, &g, S, L);
}

static void test_gather(arena *a) {
  /* rows 1, 9 (clamped to 3), -2 (to 0) of a 4x5 table; then scatter-add of rows, 9 dropped */
  float table[20], got[15], sums[20];
  i32 rows[] = {1, 9, -2};
  for (int i = 0; i < 20; i++) table[i] = (float)i;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 t = prog_param(b, DTYPE_f32, 20), ix = prog_param(b, DTYPE_s32, 3);
  u32 r = prog_result(b, DTYPE_f32, 15, -1), s = prog_result(b, DTYPE_f32, 20, -1);
  u32 slots[] = {t, r, s};
  i64 td[] = {4, 5}, id[] = {3, 1}, od[] = {3, 5}, sizes[] = {1, 5};
  prog_gather g = along(&by_row, &slots[0], &slots[1], ix);
  g.operand_dims = (i64s){td, 2};
  g.indices_dims = (i64s){id, 2};
  g.other_dims = (i64s){od, 2};
  g.slice_sizes = (i64s){sizes, 2};
  prog_add_gather(b, &g, S, L);
  prog_add_move(b, t, s, S, L);
  add_scatter(b, g, &slots[2], false);
  CHECK(!*run(b, (void *[]){table, rows}, (void *[]){got, sums}));
  for (int j = 0; j < 5; j++) {
    CHECK(got[j] == table[5 + j] && got[5 + j] == table[15 + j] && got[10 + j] == table[j]);
    CHECK(sums[5 + j] == 2 * table[5 + j] && sums[j] == table[j] && sums[15 + j] == table[15 + j]);
  }
}

/* More rows than are found at once, of n elements: taken, then added or put where they came from,
 * though some of those are outside. */
static void check_rows(arena *a, i64 n, bool put) {
  enum { TABLE = 50, TAKEN = 300 };
  size_t size = (size_t)(TABLE * n), taken = (size_t)(TAKEN * n);
  float *x = malloc(size * 4), *got = malloc(taken * 4), *z = malloc(size * 4);
  i32 at[TAKEN];
  for (size_t i = 0; i < size; i++) x[i] = (float)i;
  for (int i = 0; i < TAKEN; i++) at[i] = i * 37 % (TABLE + 4) - 2;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 t = prog_param(b, DTYPE_f32, size), ix = prog_param(b, DTYPE_s32, TAKEN);
  u32 r = prog_result(b, DTYPE_f32, taken, -1), s = prog_result(b, DTYPE_f32, size, -1);
  i64 td[] = {TABLE, n}, id[] = {TAKEN}, od[] = {TAKEN, n}, sizes[] = {1, n};
  prog_gather g = along(&by_row, &t, &r, ix);
  g.operand_dims = (i64s){td, 2};
  g.indices_dims = (i64s){id, 1};
  g.other_dims = (i64s){od, 2};
  g.slice_sizes = (i64s){sizes, 2};
  prog_add_gather(b, &g, S, L);
  prog_add_move(b, t, s, S, L);
  add_scatter(b, g, &s, put);
  CHECK(!*run(b, (void *[]){x, at}, (void *[]){got, z}));
  int bad = 0;
  for (i64 i = 0; i < TAKEN; i++) {
    i64 row = at[i] < 0 ? 0 : at[i] >= TABLE ? TABLE - 1 : at[i];
    for (i64 k = 0; k < n; k++) bad += got[i * n + k] != (float)(row * n + k);
  }
  for (i64 row = 0; row < TABLE; row++) {
    int times = 1;
    for (int i = 0; i < TAKEN && !put; i++) times += at[i] == row;
    for (i64 k = 0; k < n; k++) bad += z[row * n + k] != (float)((row * n + k) * times);
  }
  CHECK(bad == 0);
  free(x), free(got), free(z);
}

static void test_rows(arena *a) {
  for (i64 n = 1; n < 80; n += n < 20 ? 1 : 7) check_rows(a, n, false), check_rows(a, n, true);
  check_rows(a, 1500, false), check_rows(a, 1500, true);
}

/* Of two operands each gets what the other has, at two of three places. */
static void test_scatter_swap(arena *a) {
  u32 x[3] = {1, 2, 3}, y[3] = {4, 5, 6}, u[2] = {0}, ix[2] = {2, 0}, z[2][3];
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p[] = {prog_param(b, DTYPE_u32, 3), prog_param(b, DTYPE_u32, 3)};
  u32 index = prog_param(b, DTYPE_u32, 2), update = prog_param(b, DTYPE_u32, 2);
  u32 r[] = {prog_result(b, DTYPE_u32, 3, -1), prog_result(b, DTYPE_u32, 3, -1)};
  i64 three = 3, two[] = {2, 1}, zero = 0;
  prog_gather g = {.scatter = true,
                   .n = 2,
                   .operand = r,
                   .other = (u32[]){update, update},
                   .indices = index,
                   .operand_dims = {&three, 1},
                   .indices_dims = {two, 2},
                   .other_dims = {two, 1},
                   .collapsed = {&zero, 1},
                   .start_index_map = {&zero, 1},
                   .index_vector_dim = 1};
  for (u32 i = 0; i < 2; i++) prog_add_move(b, p[i], r[i], S, L);
  for (u32 i = 0; i < 4; i++) vm_load(b, &g.body.code, DTYPE_u32, i);
  for (u32 i = 0; i < 2; i++) vm_store(b, &g.body.code, i, 1 - i);
  prog_add_gather(b, &g, S, L);
  CHECK(!*run(b, (void *[]){x, y, ix, u}, (void *[]){z[0], z[1]}));
  CHECK(z[0][0] == 4 && z[0][1] == 2 && z[0][2] == 6);
  CHECK(z[1][0] == 1 && z[1][1] == 5 && z[1][2] == 3);
}

/* Short rows of planes by indices that are part of the program, some of them outside. */
static void check_known(arena *a, i64 row, i64 count) {
  enum { PLANES = 17, ROWS = 9, MOST = 20, WIDE = 5 };
  float x[PLANES * ROWS * WIDE], got[PLANES * MOST * WIDE];
  i32 at[MOST];
  u32 seed = 6;
  u64 all = (u64)(PLANES * ROWS * row), taken = (u64)(PLANES * count * row);
  for (u64 i = 0; i < all; i++) x[i] = noise(&seed);
  for (int i = 0; i < count; i++) at[i] = i * 5 % (ROWS + 4) - 2;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 t = prog_param(b, DTYPE_f32, all), r = prog_result(b, DTYPE_f32, taken, -1);
  i64 td[] = {PLANES, ROWS, row}, od[] = {PLANES, count, row}, sizes[] = {PLANES, 1, row};
  i64 offset[] = {0, 2};
  prog_gather g = along(&by_column, &t, &r, prog_const(b, DTYPE_s32, (u64)count, at));
  g.offset_dims = (i64s){offset, 2};
  g.operand_dims = (i64s){td, 3};
  g.indices_dims = (i64s){&count, 1};
  g.other_dims = (i64s){od, 3};
  g.slice_sizes = (i64s){sizes, 3};
  prog_add_gather(b, &g, S, L);
  CHECK(!*run(b, (void *[]){x}, (void *[]){got}));
  int bad = 0;
  for (i64 i = 0; i < PLANES * count * row; i++) {
    i64 k = at[i / row % count], near = k < 0 ? 0 : k >= ROWS ? ROWS - 1 : k;
    bad += got[i] != x[(i / row / count * ROWS + near) * row + i % row];
  }
  CHECK(bad == 0);
}

/* Columns of a table, of which some are outside: taken, then put or added where they came from,
 * one after the other. */
static void check_columns(arena *a, i64 count, bool put) {
  enum { ROWS = 13, COLUMNS = 21, MOST = 40 };
  float x[ROWS][COLUMNS], got[ROWS * MOST], z[ROWS][COLUMNS], want[ROWS][COLUMNS], u[ROWS * MOST];
  i32 at[MOST];
  u32 seed = 5;
  for (int i = 0; i < ROWS; i++)
    for (int j = 0; j < COLUMNS; j++) want[i][j] = x[i][j] = noise(&seed);
  for (int i = 0; i < ROWS * count; i++) u[i] = noise(&seed);
  for (int i = 0; i < count; i++) at[i] = i * 7 % (COLUMNS + 6) - 3;
  u64 elements = (u64)(ROWS * count), all = ROWS * COLUMNS;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 t = prog_param(b, DTYPE_f32, all), ix = prog_param(b, DTYPE_s32, (u64)count);
  u32 up = prog_param(b, DTYPE_f32, elements);
  u32 r = prog_result(b, DTYPE_f32, elements, -1), s = prog_result(b, DTYPE_f32, all, -1);
  i64 td[] = {ROWS, COLUMNS}, od[] = {ROWS, count}, sizes[] = {ROWS, 1};
  prog_gather g = along(&by_column, &t, &r, ix);
  g.operand_dims = (i64s){td, 2};
  g.indices_dims = (i64s){&count, 1};
  g.other_dims = (i64s){od, 2};
  g.slice_sizes = (i64s){sizes, 2};
  prog_add_gather(b, &g, S, L);
  prog_add_move(b, t, s, S, L);
  g.other = &up;
  add_scatter(b, g, &s, put);
  CHECK(!*run(b, (void *[]){x, at, u}, (void *[]){got, z}));
  int bad = 0;
  for (i64 k = 0; k < count; k++)
    for (int i = 0; i < ROWS; i++) {
      i64 near = at[k] < 0 ? 0 : at[k] >= COLUMNS ? COLUMNS - 1 : at[k];
      bad += got[i * count + k] != x[i][near];
      if (near == at[k]) want[i][near] = u[i * count + k] + (put ? 0 : want[i][near]);
    }
  CHECK(bad == 0 && memcmp(z, want, sizeof z) == 0);
}

/* Elements by pairs of indices, of which some are outside; pairs side by side, or all of one kind
 * first. */
static void check_pairs(arena *a, i64 count, bool apart) {
  enum { ROWS = 13, COLUMNS = 21, MOST = 700 };
  float x[ROWS][COLUMNS], got[MOST];
  i32 at[2 * MOST];
  for (int i = 0; i < ROWS * COLUMNS; i++) x[i / COLUMNS][i % COLUMNS] = (float)i;
  i64 step = apart ? 1 : 2, next = apart ? count : 1;
  for (i64 i = 0; i < count; i++) {
    at[i * step] = (i32)(i * 7 % (ROWS + 4) - 2);
    at[i * step + next] = (i32)(i * 11 % (COLUMNS + 4) - 2);
  }
  prog_builder *b = prog_begin(a, 1, 1);
  u32 t = prog_param(b, DTYPE_f32, ROWS * COLUMNS);
  u32 ix = prog_param(b, DTYPE_s32, 2 * (u64)count);
  u32 r = prog_result(b, DTYPE_f32, (u64)count, -1);
  i64 td[] = {ROWS, COLUMNS}, id[] = {apart ? 2 : count, apart ? count : 2}, both[] = {0, 1},
      sizes[] = {1, 1};
  prog_gather g = {.n = 1,
                   .operand = &t,
                   .other = &r,
                   .indices = ix,
                   .operand_dims = {td, 2},
                   .indices_dims = {id, 2},
                   .other_dims = {&count, 1},
                   .collapsed = {both, 2},
                   .start_index_map = {both, 2},
                   .index_vector_dim = !apart,
                   .slice_sizes = {sizes, 2}};
  prog_add_gather(b, &g, S, L);
  CHECK(!*run(b, (void *[]){x, at}, (void *[]){got}));
  int bad = 0;
  for (i64 i = 0; i < count; i++) {
    i32 row = at[i * step], column = at[i * step + next];
    row = row < 0 ? 0 : row >= ROWS ? ROWS - 1 : row;
    column = column < 0 ? 0 : column >= COLUMNS ? COLUMNS - 1 : column;
    bad += got[i] != x[row][column];
  }
  CHECK(bad == 0);
}

/* By pairs of indices of three dims' first two, or last two. */
static void gather_pairs(arena *a, dtype type, bool last, i64 count, const i64 *dims,
                         const i64 *out_dims, void *x, void *at, void *got) {
  i64 id[] = {count, 2}, offset = !last, both[] = {last, 1 + last};
  i64 sizes[] = {last ? dims[0] : 1, 1, last ? 1 : dims[2]};
  i64s td = {(i64 *)(uintptr_t)dims, 3}, od = {(i64 *)(uintptr_t)out_dims, 2};
  prog_builder *b = prog_begin(a, 1, 1);
  u32 t = prog_param(b, type, prog_volume(dims, 3));
  u32 ix = prog_param(b, DTYPE_s32, 2 * (u64)count);
  u32 r = prog_result(b, type, prog_volume(out_dims, 2), -1);
  prog_gather g = {.n = 1,
                   .operand = &t,
                   .other = &r,
                   .indices = ix,
                   .operand_dims = td,
                   .indices_dims = {id, 2},
                   .other_dims = od,
                   .offset_dims = {&offset, 1},
                   .collapsed = {both, 2},
                   .start_index_map = {both, 2},
                   .index_vector_dim = 1,
                   .slice_sizes = {sizes, 3}};
  prog_add_gather(b, &g, S, L);
  CHECK(!*run(b, (void *[]){x, at}, (void *[]){got}));
}

/* Rows of n elements by pairs of indices, of which some are outside. */
static void check_rows_by_pairs(arena *a, i64 n) {
  enum { PAGES = 5, ROWS = 6, TAKEN = 300, MOST = 70 };
  float x[PAGES][ROWS][MOST], got[TAKEN * MOST];
  i32 at[TAKEN][2];
  for (int i = 0; i < PAGES * ROWS * n; i++) (&x[0][0][0])[i] = (float)i;
  for (int i = 0; i < TAKEN; i++) at[i][0] = i * 7 % 9 - 2, at[i][1] = i * 11 % 10 - 2;
  i64 dims[] = {PAGES, ROWS, n}, out[] = {TAKEN, n};
  gather_pairs(a, DTYPE_f32, false, TAKEN, dims, out, x, at, got);
  int bad = 0;
  for (int i = 0; i < TAKEN; i++) {
    int page = at[i][0] < 0 ? 0 : at[i][0] >= PAGES ? PAGES - 1 : at[i][0];
    int row = at[i][1] < 0 ? 0 : at[i][1] >= ROWS ? ROWS - 1 : at[i][1];
    for (i64 k = 0; k < n; k++) bad += got[i * n + k] != (float)((page * ROWS + row) * n + k);
  }
  CHECK(bad == 0);
}

/* Elements of many tables, all by the same pairs; of every width. */
static void check_tables(arena *a, i64 count, dtype type) {
  enum { TABLES = 600, ROWS = 3, COLUMNS = 7, TABLE = ROWS * COLUMNS, MOST = 300 };
  size_t width = dtype_size(type), all = (size_t)TABLES * TABLE, taken = (size_t)(TABLES * count);
  char *x = malloc(all * width), *got = malloc(taken * width);
  i32 at[2 * MOST];
  for (size_t i = 0; i < all * width; i++) x[i] = (char)(i * 31 ^ i >> 7);
  for (int i = 0; i < count * 2; i++) at[i] = i * 5 % (COLUMNS + 4) - 2;
  i64 dims[] = {TABLES, ROWS, COLUMNS}, out[] = {TABLES, count};
  gather_pairs(a, type, true, count, dims, out, x, at, got);
  int bad = 0;
  for (size_t i = 0; i < taken; i++) {
    size_t k = i % (size_t)count;
    i32 row = at[2 * k], column = at[2 * k + 1];
    row = row < 0 ? 0 : row >= ROWS ? ROWS - 1 : row;
    column = column < 0 ? 0 : column >= COLUMNS ? COLUMNS - 1 : column;
    size_t from = i / (size_t)count * TABLE + (size_t)(row * COLUMNS + column);
    bad += memcmp(got + i * width, x + from * width, width) != 0;
  }
  CHECK(bad == 0);
  free(x), free(got);
}

static float combined(prog_reducer kind, float x, float y) {
  if (kind == REDUCE_PROD) return x * y;
  if (x != x || y != y) return x + y;
  if (x == y) return signbit(x) == (kind == REDUCE_MAX) ? y : x;
  return (x > y) == (kind == REDUCE_MAX) ? x : y;
}

/* Elements by one index each, of which some are outside and many the same: combined in order. */
static void check_combined(arena *a, prog_reducer kind, dtype t) {
  enum { TABLE = 37, N = 700 };
  static const float some[] = {1.5f, -0.0f, 0.0f, NAN, -2, 3, INFINITY};
  float x[TABLE], u[N], want[TABLE], got[TABLE];
  i32 at[N], ix[TABLE], iu[N], iwant[TABLE], igot[TABLE];
  u32 seed = 5;
  for (int i = 0; i < TABLE; i++) want[i] = x[i] = noise(&seed), iwant[i] = ix[i] = i - 20;
  for (int i = 0; i < N; i++) {
    at[i] = i * 7 % (TABLE + 6) - 3;
    u[i] = i % 5 ? noise(&seed) : some[i % (int)COUNT(some)], iu[i] = i * 31 % 61 - 30;
    if (at[i] < 0 || at[i] >= TABLE) continue;
    float *w = &want[at[i]];
    i32 *k = &iwant[at[i]];
    *w = combined(kind, *w, u[i]);
    *k = kind == REDUCE_PROD                    ? (i32)((u32)*k * (u32)iu[i])
         : (*k > iu[i]) == (kind == REDUCE_MAX) ? *k
                                                : iu[i];
  }
  bool floats = t == DTYPE_f32;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, t, TABLE), i = prog_param(b, DTYPE_s32, N), up = prog_param(b, t, N);
  u32 r = prog_result(b, t, TABLE, -1);
  i64 td[] = {TABLE}, id[] = {N, 1}, od[] = {N}, zero = 0;
  prog_gather g = {.scatter = true,
                   .n = 1,
                   .operand = &r,
                   .other = &up,
                   .indices = i,
                   .operand_dims = {td, 1},
                   .indices_dims = {id, 2},
                   .other_dims = {od, 1},
                   .collapsed = {&zero, 1},
                   .start_index_map = {&zero, 1},
                   .index_vector_dim = 1,
                   .body = {.kind = kind}};
  prog_add_move(b, p, r, S, L);
  prog_add_gather(b, &g, S, L);
  CHECK(!*run(b, (void *[]){floats ? (void *)x : ix, at, floats ? (void *)u : iu},
              (void *[]){floats ? (void *)got : igot}));
  int bad = 0;
  for (int k = 0; k < TABLE; k++)
    bad += floats ? !(got[k] != got[k] && want[k] != want[k]) && memcmp(&got[k], &want[k], 4)
                  : igot[k] != iwant[k];
  CHECK(bad == 0);
}

/* Sums of bf16 are rounded one by one; rows are combined as single elements are. */
static void check_small(arena *a, i64 n) {
  enum { TABLE = 11, N = 90 };
  u16 *x = malloc(TABLE * n * 2), *u = malloc(N * n * 2), *got = malloc(TABLE * n * 2);
  i32 at[N];
  u32 seed = 9;
  for (i64 i = 0; i < TABLE * n; i++) x[i] = num_f32_to_bf16(noise(&seed));
  for (i64 i = 0; i < N * n; i++) u[i] = num_f32_to_bf16(noise(&seed));
  for (int i = 0; i < N; i++) at[i] = i * 7 % (TABLE + 2) - 1;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, DTYPE_bf16, (u64)(TABLE * n)), ix = prog_param(b, DTYPE_s32, N);
  u32 up = prog_param(b, DTYPE_bf16, (u64)(N * n)), r;
  r = prog_result(b, DTYPE_bf16, (u64)(TABLE * n), -1);
  i64 td[] = {TABLE, n}, id[] = {N}, od[] = {N, n}, sizes[] = {1, n};
  prog_gather g = along(&by_row, &r, &up, ix);
  g.operand_dims = (i64s){td, 2};
  g.indices_dims = (i64s){id, 1};
  g.other_dims = (i64s){od, 2};
  g.slice_sizes = (i64s){sizes, 2};
  prog_add_move(b, p, r, S, L);
  add_scatter(b, g, &r, false);
  CHECK(!*run(b, (void *[]){x, at, u}, (void *[]){got}));
  for (i64 i = 0; i < N; i++)
    for (i64 k = 0; k < n && at[i] >= 0 && at[i] < TABLE; k++) {
      u16 *w = &x[at[i] * n + k];
      *w = num_f32_to_bf16(num_bf16_to_f32(*w) + num_bf16_to_f32(u[i * n + k]));
    }
  CHECK(!memcmp(x, got, (size_t)(TABLE * n * 2)));
  free(x), free(u), free(got);
}

/* Elements of a table that no near cache holds: added or put by indices of which some are negative,
 * which counts from the end, and some are outside either way. */
static void check_far(arena *a, i64 count, bool put) {
  enum { TABLE = 5 << 18 };
  float *x = malloc(TABLE * sizeof *x), *got = malloc(TABLE * sizeof *x);
  float *u = malloc((size_t)count * sizeof *u);
  i32 *at = malloc((size_t)count * sizeof *at);
  u32 seed = 3;
  for (int i = 0; i < TABLE; i++) x[i] = noise(&seed);
  for (i64 i = 0; i < count; i++) {
    u[i] = noise(&seed);
    at[i] = (i32)(((u32)i * 2654435761u >> (i % 9 ? 12 : 0)) - (i % 3 ? 0u : TABLE));
  }
  at[0] = INT32_MIN, at[1] = INT32_MAX, at[2] = TABLE, at[3] = -TABLE, at[4] = -TABLE - 1;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, DTYPE_f32, TABLE), ix = prog_param(b, DTYPE_s32, (u64)count);
  u32 up = prog_param(b, DTYPE_f32, (u64)count), r = prog_result(b, DTYPE_f32, TABLE, -1);
  i64 td[] = {TABLE}, od[] = {count}, zero = 0;
  prog_gather g = {.n = 1,
                   .operand = &r,
                   .other = &up,
                   .indices = ix,
                   .operand_dims = {td, 1},
                   .indices_dims = {od, 1},
                   .other_dims = {od, 1},
                   .collapsed = {&zero, 1},
                   .start_index_map = {&zero, 1},
                   .index_vector_dim = 1,
                   .wrap = TABLE};
  prog_add_move(b, p, r, S, L);
  add_scatter(b, g, &r, put);
  CHECK(!*run(b, (void *[]){x, at, u}, (void *[]){got}));
  for (i64 i = 0; i < count; i++) {
    i64 k = at[i] < 0 ? (i64)at[i] + TABLE : at[i];
    if (k >= 0 && k < TABLE) x[k] = put ? u[i] : x[k] + u[i];
  }
  CHECK(!memcmp(x, got, TABLE * sizeof *x));
  free(x), free(got), free(u), free(at);
}

static void run_tests(arena *a, const exec_options *options) {
  CHECK(!exec_create(options, &pool));
  test_gather(a);
  test_rows(a);
  test_scatter_swap(a);
  for (i64 row = 1; row <= 5; row++) check_known(a, row, 9), check_known(a, row, 20);
  for (i64 n = 5; n <= 40; n += 7) check_columns(a, n, false), check_columns(a, n, true);
  for (i64 n = 3; n <= 700; n += 231) check_pairs(a, n, false), check_pairs(a, n, true);
  for (i64 n = 2; n <= 70; n += 4) check_rows_by_pairs(a, n);
  for (i64 n = 7; n <= 300; n += n < 8 ? 1 : 146) {
    check_tables(a, n, DTYPE_u8), check_tables(a, n, DTYPE_bf16);
    check_tables(a, n, DTYPE_f32), check_tables(a, n, DTYPE_f64);
  }
  for (prog_reducer kind = REDUCE_PROD; kind <= REDUCE_MIN; kind++)
    check_combined(a, kind, DTYPE_f32), check_combined(a, kind, DTYPE_s32);
  check_small(a, 1), check_small(a, 3), check_small(a, 65);
  for (i64 n = 50; n <= 5000; n *= 10) check_far(a, n, false), check_far(a, n, true);
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
