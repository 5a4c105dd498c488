/* Elementwise loops over rows, against plain C. */
#include "num/convert.h"
#include "tests/exec.h"

/* Halves of rows, or every second element and the others, by factors that several rows share, into
 * the same of other rows, in one loop. Of halves: z[i][j][k] = x[i][j][k] * f[i][k] - x[i][j][n +
 * k], z[i][j][n + k] = x[i][j][n + k] * f[i][k] + x[i][j][k] */
static void check_halves(arena *a, i64 n, bool in_turn) {
  enum { I = 29, J = 5, MOST = 40 };
  static float x[I * J * 2 * MOST], f[I * MOST], z[I * J * 2 * MOST];
  u32 seed = 7, in[3];
  for (int i = 0; i < I * J * 2 * n; i++) x[i] = noise(&seed), z[i] = -1;
  for (int i = 0; i < I * n; i++) f[i] = noise(&seed);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f32, (u64)(I * J * 2 * n));
  u32 pf = prog_param(b, DTYPE_f32, (u64)(I * n));
  u32 r = prog_result(b, DTYPE_f32, (u64)(I * J * 2 * n), -1);
  i64 step = in_turn ? 2 : 1, other = in_turn ? 1 : n, rows[] = {J * 2 * n, 2 * n, step};
  prog_loop *l = prog_add_loop(b, 3, (i64[]){I, J, n}, S, L);
  vm_code *c = &l->code;
  in[0] = vm_load(b, c, DTYPE_f32, prog_loop_in(b, l, px, 0, rows));
  in[1] = vm_load(b, c, DTYPE_f32, prog_loop_in(b, l, px, other, rows));
  in[2] = vm_load(b, c, DTYPE_f32, prog_loop_in(b, l, pf, 0, (i64[]){n, 0, 1}));
  for (u32 h = 0; h < 2; h++) {
    u32 v = vm_emit(b, c, VM_mul, DTYPE_f32, in[h], in[2], 0);
    v = vm_emit(b, c, h ? VM_add : VM_sub, DTYPE_f32, v, in[1 - h], 0);
    prog_loop_out(b, l, r, h * other, rows, v);
  }
  CHECK(!*run(b, (void *[]){x, f}, (void *[]){z}));
  int bad = 0;
  for (i64 i = 0; i < I * J; i++)
    for (i64 j = 0; j < n; j++) {
      const float *p = x + i * 2 * n + j * step, *q = z + i * 2 * n + j * step;
      volatile float by = f[i / J * n + j], low = p[0] * by, high = p[other] * by;
      bad += q[0] != low - p[other] || q[other] != high + p[0];
    }
  CHECK(bad == 0);
}

/* Rows with an element of their own each, and all of them with a row: z[i][k] = x[i][k] * f[i] +
 * g[k], where f is of bytes, and y[i][k] = f[i], or twice that. */
static void check_columns(arena *a, i64 rows, i64 n, bool twice) {
  enum { MOST = 1 << 13 };
  static float x[MOST], g[MOST], z[MOST];
  static i8 f[MOST], y[MOST];
  u32 seed = (u32)(rows * n), in[3];
  for (int i = 0; i < MOST; i++) x[i] = noise(&seed), g[i] = noise(&seed), z[i] = -1;
  for (int i = 0; i < MOST; i++) f[i] = (i8)(i * 7), y[i] = -1;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f32, (u64)(rows * n)), pf = prog_param(b, DTYPE_s8, (u64)rows);
  u32 pg = prog_param(b, DTYPE_f32, (u64)n);
  u32 rz = prog_result(b, DTYPE_f32, (u64)(rows * n), -1);
  u32 ry = prog_result(b, DTYPE_s8, (u64)(rows * n), -1);
  i64 all[] = {n, 1};
  prog_loop *l = prog_add_loop(b, 2, (i64[]){rows, n}, S, L);
  vm_code *c = &l->code;
  in[0] = vm_load(b, c, DTYPE_f32, prog_loop_in(b, l, px, 0, all));
  in[1] = vm_load(b, c, DTYPE_s8, prog_loop_in(b, l, pf, 0, (i64[]){1, 0}));
  in[2] = vm_load(b, c, DTYPE_f32, prog_loop_in(b, l, pg, 0, (i64[]){0, 1}));
  u32 v = vm_emit(b, c, VM_convert, DTYPE_f32, in[1], 0, 0);
  v = vm_emit(b, c, VM_mul, DTYPE_f32, in[0], v, 0);
  v = vm_emit(b, c, VM_add, DTYPE_f32, v, in[2], 0);
  prog_loop_out(b, l, rz, 0, all, v);
  u32 w = twice ? vm_emit(b, c, VM_add, DTYPE_s8, in[1], in[1], 0) : in[1];
  prog_loop_out(b, l, ry, 0, all, w);
  CHECK(!*run(b, (void *[]){x, f, g}, (void *[]){z, y}));
  int bad = 0;
  for (i64 i = 0; i < rows; i++)
    for (i64 k = 0; k < n; k++) {
      volatile float by = x[i * n + k] * (float)f[i];
      bad += z[i * n + k] != by + g[k] || y[i * n + k] != (i8)(f[i] * (twice ? 2 : 1));
    }
  CHECK(bad == 0);
}

/* Indices in blocks that do not begin with 0: z[i][k] = k, y[i][k] = k + i, as numbers of the type.
 */
static void check_indices(arena *a, i64 rows, i64 n, dtype t) {
  size_t size = dtype_size(t), count = (size_t)(rows * n);
  char *z = malloc(count * size), *y = malloc(count * size);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 rz = prog_result(b, t, count, -1), ry = prog_result(b, t, count, -1);
  prog_loop *l = prog_add_loop(b, 2, (i64[]){rows, n}, S, L);
  u32 v = vm_iota(b, &l->code, t, 1), w = vm_iota(b, &l->code, t, 0);
  prog_loop_out(b, l, rz, 0, (i64[]){n, 1}, v);
  prog_loop_out(b, l, ry, 0, (i64[]){n, 1}, vm_emit(b, &l->code, VM_add, t, v, w, 0));
  CHECK(!*run(b, NULL, (void *[]){z, y}));
  int bad = 0;
  for (i64 i = 0; i < (i64)count; i++) {
    u64 k[2] = {0}, j[2] = {0}, sum[2] = {0};
    num_from_f64(t, (double)(i % n % (t == DTYPE_u8 ? 256 : INT32_MAX)), k);
    num_from_f64(t, (double)(i / n), j);
    num_from_f64(t, num_to_f64(t, k) + num_to_f64(t, j), sum);
    if (t == DTYPE_u8) sum[0] = (u8)(i % n + i / n);
    bad += memcmp(z + i * (i64)size, k, size) != 0 || memcmp(y + i * (i64)size, sum, size) != 0;
  }
  CHECK(bad == 0);
  free(z), free(y);
}

/* One value of so many bytes all over n elements, and nothing behind them. */
static void check_fill(arena *a, u64 n, dtype t) {
  size_t size = dtype_size(t), bad = 0;
  char *z = malloc((n + 1) * size), value[16] = "fill this memory";
  prog_builder *b = prog_begin(a, 1, 1);
  u32 r = prog_result(b, t, n, -1);
  prog_loop *l = prog_add_loop(b, 1, (i64[]){(i64)n}, S, L);
  prog_loop_out(b, l, r, 0, (i64[]){1}, vm_const_bits(b, &l->code, t, value));
  memset(z, 7, (n + 1) * size);
  CHECK(!*run(b, NULL, (void *[]){z}));
  for (u64 i = 0; i < n; i++) bad += memcmp(z + i * size, value, size) != 0;
  for (u64 i = 0; i < size; i++) bad += z[n * size + i] != 7;
  CHECK(bad == 0);
  free(z);
}

/* An operand whose dims lie in any order, one that lies as the result does, and an index. */
static void check_across(arena *a, const i64 *dims, const u32 *order, dtype t) {
  size_t size = dtype_size(t), count = (size_t)(dims[0] * dims[1] * dims[2]);
  u8 *x = malloc(count * size), *y = malloc(count * size), *z = malloc(count * size);
  i64 lies[] = {dims[1] * dims[2], dims[2], 1}, across[3], step = 1;
  for (u32 k = 3; k-- > 0; step *= dims[order[k]]) across[order[k]] = step;
  for (size_t i = 0; i < count * size; i++) x[i] = (u8)(i * 37), y[i] = (u8)(i >> 3);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, count), py = prog_param(b, t, count), r = prog_result(b, t, count, -1);
  prog_loop *l = prog_add_loop(b, 3, dims, S, L);
  u32 v = vm_load(b, &l->code, t, prog_loop_in(b, l, px, 0, across));
  u32 w = vm_load(b, &l->code, t, prog_loop_in(b, l, py, 0, lies));
  v = vm_emit(b, &l->code, VM_add, t, v, w, 0);
  v = vm_emit(b, &l->code, VM_add, t, v, vm_iota(b, &l->code, t, 0), 0);
  prog_loop_out(b, l, r, 0, lies, v);
  CHECK(!*run(b, (void *[]){x, y}, (void *[]){z}));
  int bad = 0;
  for (i64 i = 0; i < (i64)count; i++) {
    i64 first = i / lies[0], from = first * across[0] + i / lies[1] % dims[1] * across[1];
    from += i % dims[2] * across[2];
    u64 p = 0, q = 0, sum;
    memcpy(&p, x + from * (i64)size, size), memcpy(&q, y + i * (i64)size, size);
    sum = p + q + (u64)first;
    bad += memcmp(&sum, z + i * (i64)size, size) != 0;
  }
  CHECK(bad == 0);
  free(x), free(y), free(z);
}

static void check_orders(arena *a) {
  static const i64 dims[][3] = {{64, 64, 64},  {70, 9, 130},   {3, 301, 257},
                                {17, 5, 5000}, {1, 200, 4100}, {40, 66, 100}};
  static const u32 orders[][3] = {{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}};
  static const dtype types[] = {DTYPE_u8, DTYPE_u16, DTYPE_u32, DTYPE_u64};
  for (u32 d = 0; d < COUNT(dims); d++)
    for (u32 o = 0; o < COUNT(orders); o++)
      for (u32 t = 0; t < COUNT(types); t++) check_across(a, dims[d], orders[o], types[t]);
}

/* Rows of a large array, the first `odd` left out, in another order: z[j][i][k] = x[i][j][k] + 1 */
static void check_rows(arena *a, i64 n, i64 odd) {
  enum { I = 70, J = 500 };
  i64 count = I * J * n;
  i32 *x = malloc((size_t)(count + odd) * sizeof *x), *z = calloc((size_t)count, sizeof *z);
  for (i64 i = 0; i < count + odd; i++) x[i] = (i32)(i * 7);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, DTYPE_s32, (u64)(count + odd));
  u32 r = prog_result(b, DTYPE_s32, (u64)count, -1);
  prog_loop *l = prog_add_loop(b, 3, (i64[]){J, I, n}, S, L);
  vm_code *c = &l->code;
  u32 v = vm_load(b, c, DTYPE_s32, prog_loop_in(b, l, p, odd, (i64[]){n, J * n, 1}));
  v = vm_emit(b, c, VM_add, DTYPE_s32, v, vm_const_f64(b, c, DTYPE_s32, 1), 0);
  prog_loop_out(b, l, r, 0, (i64[]){I * n, n, 1}, v);
  CHECK(!*run(b, (void *[]){x}, (void *[]){z}));
  int bad = 0;
  for (i64 i = 0; i < count; i++)
    bad += z[i] != x[odd + (i / n % I * J + i / n / I) * n + i % n] + 1;
  CHECK(bad == 0);
  free(x), free(z);
}

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  for (i64 n = 1; n <= 40; n += 3) check_halves(a, n, false), check_halves(a, n, true);
  for (i64 n = 1; n <= 256; n = n < 16 ? n + 1 : 2 * n)
    for (i64 rows = 3; rows * n <= 8192 && rows < 3000; rows = 5 * rows / 2)
      check_columns(a, rows, n, false), check_columns(a, rows, n, true);
  static const dtype types[] = {DTYPE_f32, DTYPE_s32, DTYPE_u8, DTYPE_bf16, DTYPE_s64};
  for (u32 t = 0; t < COUNT(types); t++)
    for (i64 n = 100; n < 30000; n = n * 7 / 2)
      check_indices(a, 1, n, types[t]), check_indices(a, 3, n, types[t]);
  check_orders(a);
  for (i64 n = 128; n < 160; n += 8) check_rows(a, n, n % 3);
  static const dtype filled[] = {DTYPE_u8, DTYPE_bf16, DTYPE_f32, DTYPE_f64, DTYPE_c128};
  for (u32 t = 0; t < COUNT(filled); t++)
    for (u64 n = 1 << 20; n < 3 << 20; n += 987654)
      check_fill(a, n / dtype_size(filled[t]) + n % 5, filled[t]);
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
