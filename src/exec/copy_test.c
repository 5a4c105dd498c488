/* Copies of planes in any order, against one element after the other. */
#include "num/convert.h"
#include "tests/exec.h"

static u32 pick(u32 *seed, u32 n) {
  *seed = *seed * 1664525 + 1013904223;
  return (*seed >> 16) % n;
}

/* The destination is dense; the source is it turned, and back to front along some dims, of every
 * second element or so. */
static void check_copy(arena *a, u32 *seed, dtype t, const i64 *dims) {
  size_t size = dtype_size(t);
  u32 order[3] = {0, 1, 2};
  for (u32 d = 3; d > 1; d--) {
    u32 other = pick(seed, d), last = order[d - 1];
    order[d - 1] = order[other], order[other] = last;
  }
  i64 to[3] = {dims[1] * dims[2], dims[2], 1}, from[3], at = 0;
  i64 count = dims[0] * dims[1] * dims[2], n = pick(seed, 2) ? 1 : 1 + pick(seed, 5);
  for (u32 k = 3; k-- > 0; n *= dims[order[k]]) from[order[k]] = n;
  for (u32 d = 0; d < 3; d++)
    if (pick(seed, 3) == 0) at += (dims[d] - 1) * from[d], from[d] = -from[d];
  char *x = malloc((size_t)n * size), *y = calloc((size_t)count, size);
  for (size_t i = 0; i < (size_t)n * size; i++) x[i] = (char)pick(seed, 256);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, t, (u64)n), r = prog_result(b, t, (u64)count, -1);
  prog_add_copy(b, 3, dims, p, at, from, r, 0, to, S, L);
  CHECK(!*run(b, (void *[]){x}, (void *[]){y}));
  int bad = 0;
  for (i64 i = 0; i < count; i++) {
    i64 source = at + i / to[0] * from[0] + i / to[1] % dims[1] * from[1] + i % dims[2] * from[2];
    bad += memcmp(y + (size_t)i * size, x + (size_t)source * size, size) != 0;
  }
  CHECK(bad == 0);
  free(x), free(y);
}

static void check_copies(arena *a) {
  static const dtype types[] = {DTYPE_u8, DTYPE_s16, DTYPE_f32, DTYPE_f64, DTYPE_c128};
  u32 seed = 1;
  for (u32 i = 0; i < 1000; i++) {
    i64 dims[3] = {1 + pick(&seed, 3), 1 + pick(&seed, 90), 1 + pick(&seed, 90)};
    check_copy(a, &seed, types[pick(&seed, COUNT(types))], dims);
  }
  /* what goes past the caches, with lines that are whole and others */
  for (u32 i = 0; i < 12; i++)
    check_copy(a, &seed, i % 2 ? DTYPE_f32 : DTYPE_f64, (i64[]){2, 512 + i % 3 * 8, 272 + i % 4});
  for (u32 i = 0; i < 3; i++) check_copy(a, &seed, DTYPE_f32, (i64[]){3, 1201, 1200 + 16 * i});
  for (u32 i = 0; i < 9; i++) check_copy(a, &seed, DTYPE_f32, (i64[]){97, 450, 96 + i % 3 * 8});
  /* lines a power of two apart */
  for (u32 i = 0; i < 12; i++)
    check_copy(a, &seed, DTYPE_f64, (i64[]){1, 128 << i % 3, 256 << i / 3 % 3});
}

static void negate(prog_builder *b, i64 *dims, u32 from, i64 *at, u32 to, i64 first, i64 *stride) {
  prog_loop *l = prog_add_loop(b, 3, dims, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, from, 0, at));
  prog_loop_out(b, l, to, first, stride, vm_emit(b, &l->code, VM_neg, DTYPE_f32, v, 0, 0));
}

/* Rows that pieces make together, each of some columns of its own array, which are turned or back
 * to front, of an array of its own type, or all of one value, or negated; what was there before is
 * written over. Half of all f32 are work, which another loop negates. */
static void check_pieces(arena *a, u32 *seed) {
  static const dtype types[] = {DTYPE_u8, DTYPE_bf16, DTYPE_f32, DTYPE_s64};
  enum { MOST = 5 };
  dtype t = types[pick(seed, COUNT(types))];
  i64 dims[3] = {1 + pick(seed, 3), 1 + pick(seed, 300), 0}, at[MOST + 1] = {0}, size = 0;
  u32 n = 2 + pick(seed, MOST - 1);
  for (u32 k = 0; k < n; k++) at[k + 1] = at[k] + 1 + pick(seed, 5);
  i64 rows = dims[0] * dims[1], width = at[n], to[3] = {dims[1] * width, width, 1};
  size = (i64)dtype_size(t);
  char *in[MOST], *want = malloc((size_t)(rows * width * size)),
                  *y = malloc((size_t)(rows * width * size));
  void *params[MOST];
  prog_builder *b = prog_begin(a, 1, 1);
  u32 r = 0, p[MOST];
  for (u32 k = 0; k < n; k++) {
    i64 bytes = rows * (at[k + 1] - at[k]) * size;
    params[k] = in[k] = malloc((size_t)bytes);
    for (i64 i = 0; i < bytes; i++) in[k][i] = (char)pick(seed, 200);
    p[k] = prog_param(b, t, (u64)(bytes / size));
  }
  bool is_real = t == DTYPE_f32, again = is_real && pick(seed, 2);
  u32 out = r = prog_result(b, t, (u64)(rows * width), -1);
  if (again) r = prog_work(b, t, (u64)(rows * width));
  for (u32 k = 0; k < n; k++) {
    i64 c = at[k + 1] - at[k], how = pick(seed, is_real ? 6 : 4), first = how == 1 ? c - 1 : 0;
    i64 from[3] = {dims[1] * c, c, how == 1 ? -1 : 1};
    if (how == 2) from[0] = dims[1], from[1] = 1, from[2] = rows;
    dims[2] = c;
    if (how == 3) {
      prog_loop *l = prog_add_loop(b, 3, dims, S, L);
      prog_loop_out(b, l, r, at[k], to, vm_const_bits(b, &l->code, t, in[k]));
    } else if (how > 3) {
      negate(b, dims, p[k], from, r, at[k], to);
    } else {
      prog_add_copy(b, 3, dims, p[k], first, from, r, at[k], to, S, L);
    }
    for (i64 i = 0; i < rows * c; i++) {
      i64 j = i / c,
          source = first + j / dims[1] * from[0] + j % dims[1] * from[1] + i % c * from[2];
      memcpy(want + (j * width + at[k] + i % c) * size, in[k] + (how == 3 ? 0 : source * size),
             (size_t)size);
      if ((how > 3) != again) want[(j * width + at[k] + i % c) * size + size - 1] ^= (char)0x80;
    }
  }
  dims[2] = width;
  if (again) negate(b, dims, r, to, out, 0, to);
  CHECK(!*run(b, params, (void *[]){y}));
  CHECK(memcmp(y, want, (size_t)(rows * width * size)) == 0);
  for (u32 k = 0; k < n; k++) free(in[k]);
  free(want), free(y);
}

/* Planes and rows of a few bytes. */
static void check_narrow(arena *a) {
  static const dtype types[] = {DTYPE_u8, DTYPE_s16, DTYPE_f32, DTYPE_f64, DTYPE_c128};
  u32 seed = 3;
  for (u32 i = 0; i < 3000; i++) {
    i64 dims[3] = {1 + pick(&seed, 200), 1 + pick(&seed, 9), 1 + pick(&seed, 9)};
    check_copy(a, &seed, types[pick(&seed, COUNT(types))], dims);
  }
  /* between planes and rows, of as many as are tiles of whole lines */
  for (u32 i = 0; i < 60; i++)
    check_copy(a, &seed, i % 2 ? DTYPE_u8 : DTYPE_s16,
               (i64[]){1 + i % 3, 64 * (1 + pick(&seed, 30)), 4 + pick(&seed, 6)});
  for (u32 i = 0; i < 2000; i++) check_pieces(a, &seed);
}

/* One element again and again. */
static void check_fill(arena *a, dtype t, i64 n) {
  static const char x[16] = "abcdefghijklmno";
  size_t size = dtype_size(t), bad = 0;
  char *y = calloc((size_t)n, size);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, t, 1), r = prog_result(b, t, (u64)n, -1);
  prog_add_copy(b, 1, &n, p, 0, (i64[]){0}, r, 0, (i64[]){1}, S, L);
  CHECK(!*run(b, (void *[]){(void *)(uintptr_t)x}, (void *[]){y}));
  for (size_t i = 0; i < (size_t)n; i++) bad += memcmp(y + i * size, x, size) != 0;
  CHECK(bad == 0);
  free(y);
}
static void check_fills(arena *a) {
  static const dtype types[] = {DTYPE_u8, DTYPE_s16, DTYPE_f32, DTYPE_f64, DTYPE_c128};
  static const i64 counts[] = {1, 7, 100, 4099, 65536 + 3, (1 << 20) + 64, (1 << 20) + 1};
  for (u32 t = 0; t < COUNT(types); t++)
    for (u32 k = 0; k < COUNT(counts); k++) check_fill(a, types[t], counts[k]);
}

/* Elements by index; every other run has some that are outside. Some count from the end, or have
 * something else outside. */
static void check_takes(void) {
  static const dtype types[TAKE_INDICES] = {DTYPE_s32, DTYPE_u32, DTYPE_s64};
  enum { MOST = 300, TABLE = 500 };
  u32 seed = 5;
  for (u32 round = 0; round < 2000; round++) {
    u32 of = round % TAKE_INDICES, log = round / TAKE_INDICES % 4, n = pick(&seed, MOST);
    u32 size = 1u << log, table = 1 + pick(&seed, TABLE), bad = 0;
    char x[TABLE * 8], y[MOST * 8 + 1], at[MOST * 8];
    i64 index[MOST];
    for (u32 i = 0; i < TABLE * 8; i++) x[i] = (char)pick(&seed, 256);
    for (u32 i = 0; i < n; i++) {
      bool outside = round % 2 && pick(&seed, 50) == 0;
      index[i] =
          (i64)pick(&seed, outside ? 60000 : table) - (outside && of != TAKE_U32 ? 30000 : 0);
      if (round % 5 == 0 && of != TAKE_U32 && pick(&seed, 9) == 0) index[i] -= table;
      num_from_f64(types[of], (double)index[i], at + i * dtype_size(types[of]));
    }
    y[n * size] = 77;
    const take_rule rule = {table - 1, round % 5 ? 0 : table, round % 7 ? NULL : "abcdefgh"};
    vm_kernels_get()->move->take[of][log](n, y, x, at, &rule);
    for (u32 i = 0; i < n; i++) {
      i64 to = index[i] < 0 ? index[i] + rule.wrap : index[i];
      i64 k = to < 0 ? 0 : to >= table ? table - 1 : to;
      const char *want = k != to && rule.fill ? rule.fill : x + k * size;
      bad += memcmp(y + i * size, want, size) != 0;
    }
    CHECK(bad == 0 && y[n * size] == 77);
  }
}

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  check_copies(a);
  check_narrow(a);
  check_fills(a);
  check_takes();
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
