/* Matrix products, against sums one after the other. */
#include <math.h>

#include "num/convert.h"
#include "tests/exec.h"

/* The elements as doubles, which the sums take again and again. */
static double *numbers(dtype t, const char *x, size_t n) {
  double *out = malloc((n + 1) * sizeof *out);
  for (size_t i = 0; i < n; i++) out[i] = num_to_f64(t, x + i * dtype_size(t));
  return out;
}

static u32 pick(u32 *seed, u32 n) {
  *seed = *seed * 1664525 + 1013904223;
  return (*seed >> 16) % n;
}

static void check_dot(arena *a, i64 nb, i64 m, i64 n, i64 k, int layout, dtype t) {
  size_t size = dtype_size(t), na = (size_t)(nb * m * k), nn = (size_t)(nb * n * k);
  size_t nc = (size_t)(nb * m * n);
  dtype to = t == DTYPE_s8 || t == DTYPE_u8 ? DTYPE_s32 : t;
  enum { GUARD = 64 }; /* behind the result; behind operands is nothing */
  size_t made = nc * dtype_size(to);
  char *x = malloc(na * size + !na), *y = malloc(nn * size + !nn), *z = malloc(made + GUARD);
  u32 seed = 11;
  memset(z, 0x5a, made + GUARD);
  for (size_t i = 0; i < na; i++) num_from_f64(t, floorf(noise(&seed) * 8), x + i * size);
  for (size_t i = 0; i < nn; i++) num_from_f64(t, floorf(noise(&seed) * 8), y + i * size);
  prog_builder *b = prog_begin(a, 1, 1);
  prog_set_flush_denormals(b, layout & 4);
  u32 px = prog_param(b, t, na), py = prog_param(b, t, nn), r = prog_result(b, to, nc, -1);
  bool ta = layout & 1, tb = layout & 2; /* lhs is (b,k,m); rhs is (b,n,k); 4: flushes */
  i64 ls[] = {m * k, ta ? 1 : k, 0, ta ? m : 1}, rs[] = {n * k, 0, tb ? k : 1, tb ? 1 : n};
  i64 os[] = {m * n, n, 1, 0}, dims[] = {nb, m, n, k};
  prog_add_dot(b, &(prog_dot){px, py, r, 1, 1, 1, 1, dims, ls, rs, os}, S, L);
  CHECK(!*run(b, (void *[]){x, y}, (void *[]){z}));
  double *dx = numbers(t, x, na), *dy = numbers(t, y, nn);
  int bad = 0;
  for (i64 q = 0; q < nb; q++)
    for (i64 i = 0; i < m; i++)
      for (i64 j = 0; j < n; j++) {
        double sum = 0, got;
        for (i64 p = 0; p < k; p++)
          sum += dx[q * ls[0] + i * ls[1] + p * ls[3]] * dy[q * rs[0] + j * rs[2] + p * rs[3]];
        u64 rounded[2];
        num_from_f64(to, sum, rounded);
        got = num_to_f64(to, z + (size_t)((q * m + i) * n + j) * dtype_size(to));
        bad += got != num_to_f64(to, rounded);
      }
  for (size_t i = 0; i < GUARD; i++) bad += z[made + i] != 0x5a;
  CHECK(bad == 0);
  free(x), free(y), free(z), free(dx), free(dy);
}

static void test_dot(arena *a) {
  static const i64 shapes[][4] = {
      {1, 1, 1, 1},      {1, 5, 7, 3},     {3, 17, 33, 65},    {1, 1, 19, 23},    {1, 37, 1, 100},
      {1, 1, 48, 100},   {1, 32, 1, 128},  {1, 1, 64, 33},     {1, 1, 320, 20},   {1, 1, 232, 150},
      {1, 1, 66, 255},   {1, 33, 1, 8},    {1, 16, 1, 16},     {1, 4, 2, 300},    {1, 3, 20, 400},
      {1, 1, 300, 40},   {1, 300, 1, 40},  {1, 150, 600, 260}, {2, 4, 4, 0},      {1, 530, 20, 5},
      {2, 70, 130, 300}, {1, 13, 64, 40},  {3, 100, 48, 70},   {1, 500, 16, 9},   {1, 11, 1025, 4},
      {1, 64, 512, 513}, {2, 3, 130, 520}, {1, 5, 2600, 70},   {3, 1, 128, 1030}, {1, 2, 70, 9000},
      {1, 300, 3, 8},    {2, 70, 8, 64},   {20, 1, 9, 8},      {20, 9, 1, 30},    {40, 3, 1, 3},
      {17, 1, 64, 64},   {3, 7, 64, 64},   {2, 23, 96, 64},    {2, 14, 80, 64},   {1, 19, 112, 300},
      {1, 515, 64, 258}};
  static const dtype types[] = {DTYPE_f32, DTYPE_f64, DTYPE_bf16, DTYPE_f16,
                                DTYPE_s32, DTYPE_c64, DTYPE_s8,   DTYPE_u8};
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (size_t t = 0; t < COUNT(types); t++)
      for (int layout = 0; layout < (types[t] == DTYPE_bf16 ? 8 : 4); layout++)
        check_dot(a, shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3], layout, types[t]);
}

/* What small_kernel.h has: every number of lanes and registers, whole and not. */
static void test_small(arena *a) {
  static const i64 sizes[] = {1, 2, 3, 4, 5, 8, 9, 12, 17};
  static const i64 shapes[][4] = {
      {1, 331, 2, 40}, {1, 331, 3, 33},  {1, 67, 4, 256}, {1, 333, 8, 64},  {1, 131, 16, 5},
      {1, 2, 333, 4},  {1, 7, 333, 100}, {1, 333, 1, 7},  {1, 1, 333, 200}, {3, 1, 100, 70},
      {2, 64, 64, 64}, {3, 65, 2, 32},   {2, 90, 12, 64}, {5, 6, 70, 32},   {300, 1, 8, 8}};
  u32 seed = 5;
  for (size_t m = 0; m < COUNT(sizes); m++)
    for (size_t n = 0; n < COUNT(sizes); n++)
      for (size_t k = 0; k < COUNT(sizes); k++)
        for (int t = 0; t < 2; t++)
          check_dot(a, 1 + pick(&seed, 40), sizes[m], sizes[n], sizes[k], (int)pick(&seed, 4),
                    t ? DTYPE_f64 : DTYPE_f32);
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (int layout = 0; layout < 4; layout++)
      for (int t = 0; t < 2; t++)
        check_dot(a, shapes[i][0], shapes[i][1], shapes[i][2], shapes[i][3], layout,
                  t ? DTYPE_f64 : DTYPE_f32);
}

/* Every group of dims of up to three, each operand with its dims in any order in memory. */
enum { GROUPS = 4, MOST = 3 * GROUPS };

typedef struct layout {
  i64 dims[MOST], stride[3][MOST]; /* lhs, rhs, out */
  u32 count[GROUPS], n;            /* batch, m, n, k */
  size_t volume[3];
} layout;

static layout random_layout(u32 *seed) {
  static const bool has[3][GROUPS] = {{1, 1, 0, 1}, {1, 0, 1, 1}, {1, 1, 1, 0}};
  layout l = {.n = 0};
  u32 group[MOST];
  for (u32 g = 0; g < GROUPS; g++) {
    l.count[g] = pick(seed, 4);
    for (u32 i = 0; i < l.count[g]; i++) {
      group[l.n] = g;
      l.dims[l.n++] = 1 + pick(seed, g == 3 ? 5 : 3);
    }
  }
  for (u32 x = 0; x < 3; x++) {
    u32 order[MOST], n = 0;
    for (u32 d = 0; d < l.n; d++)
      if (has[x][group[d]]) order[n++] = d;
    for (u32 d = n; d > 1; d--) {
      u32 other = pick(seed, d), t = order[d - 1];
      order[d - 1] = order[other], order[other] = t;
    }
    l.volume[x] = 1;
    for (u32 d = 0; d < n; d++) {
      l.stride[x][order[d]] = (i64)l.volume[x];
      l.volume[x] *= (size_t)l.dims[order[d]];
    }
  }
  return l;
}

/* The sums over all indices, one after the other, of small whole numbers: they are exact. */
static void plain_product(const layout *l, const double *x, const double *y, double *z) {
  i64 index[MOST] = {0}, at[3] = {0};
  for (bool more = true; more;) {
    z[at[2]] += x[at[0]] * y[at[1]];
    more = false;
    for (u32 d = l->n; d-- > 0 && !more;) {
      more = ++index[d] < l->dims[d];
      for (u32 o = 0; o < 3; o++)
        at[o] += more ? l->stride[o][d] : -(index[d] - 1) * l->stride[o][d];
      if (!more) index[d] = 0;
    }
  }
}

static void check_layout(arena *a, const layout *l, dtype t, u32 *seed) {
  bool byte = t == DTYPE_s8 || t == DTYPE_u8, half = t == DTYPE_f16 || t == DTYPE_bf16;
  dtype types[] = {t, byte && pick(seed, 2) ? DTYPE_s8 : t, byte ? DTYPE_s32 : t};
  if (half && !pick(seed, 4)) types[1 + pick(seed, 2)] = DTYPE_f32;
  char *mem[3];
  double *plain[3];
  for (u32 o = 0; o < 3; o++) {
    size_t size = dtype_size(types[o]);
    mem[o] = calloc(l->volume[o], size);
    plain[o] = calloc(l->volume[o], sizeof(double));
    for (size_t i = 0; o < 2 && i < l->volume[o]; i++) {
      plain[o][i] = (double)pick(seed, byte ? 256 : 3) - (types[o] == DTYPE_s8 ? 128 : 0);
      num_from_f64(types[o], plain[o][i], mem[o] + i * size);
    }
  }
  plain_product(l, plain[0], plain[1], plain[2]);
  prog_builder *b = prog_begin(a, 1, 1);
  prog_set_flush_denormals(b, pick(seed, 2));
  prog_dot dot = {.nb = l->count[0],
                  .nm = l->count[1],
                  .nn = l->count[2],
                  .nk = l->count[3],
                  .dims = (i64 *)l->dims,
                  .lhs_stride = (i64 *)l->stride[0],
                  .rhs_stride = (i64 *)l->stride[1],
                  .out_stride = (i64 *)l->stride[2]};
  dot.lhs = prog_param(b, t, l->volume[0]);
  dot.rhs = prog_param(b, types[1], l->volume[1]);
  dot.out = prog_result(b, types[2], l->volume[2], -1);
  prog_add_dot(b, &dot, S, L);
  CHECK(!*run(b, (void *[]){mem[0], mem[1]}, (void *[]){mem[2]}));
  int bad = 0;
  for (size_t i = 0; i < l->volume[2]; i++) {
    u64 rounded[2];
    num_from_f64(types[2], plain[2][i], rounded);
    bad += num_to_f64(types[2], mem[2] + i * dtype_size(types[2])) != num_to_f64(types[2], rounded);
  }
  CHECK(bad == 0);
  for (u32 o = 0; o < 3; o++) free(mem[o]), free(plain[o]);
}

static void put_dim(layout *l, u32 group, i64 size, i64 lhs, i64 rhs, i64 out) {
  l->dims[l->n] = size;
  l->stride[0][l->n] = lhs;
  l->stride[1][l->n] = rhs;
  l->stride[2][l->n++] = out;
  l->count[group]++;
}

/* A convolution: windows that overlap, strides and dilations, features first or last. */
static layout random_windows(u32 *seed) {
  layout l = {.n = 0};
  i64 n = 1 + pick(seed, 2), f = 1 + pick(seed, 70);
  i64 c =
      pick(seed, 50) ? 1 + pick(seed, 20) : 160 + 4 * pick(seed, 4); /* more terms than at once */
  i64 o[2], k[2], s[2], d[2], in[2], x[4], y[4], z[4]; /* strides of images, features, h, w */
  for (u32 i = 0; i < 2; i++) {
    o[i] = 1 + pick(seed, 9), k[i] = 1 + pick(seed, 3), s[i] = 1 + pick(seed, 2);
    d[i] = 1 + pick(seed, 2), in[i] = (o[i] - 1) * s[i] + (k[i] - 1) * d[i] + 1;
  }
  bool last = pick(seed, 2), weights_last = pick(seed, 2), out_last = pick(seed, 2);
  x[0] = c * in[0] * in[1], x[1] = last ? 1 : in[0] * in[1], x[3] = last ? c : 1;
  x[2] = x[3] * in[1];
  z[0] = f * o[0] * o[1], z[1] = out_last ? 1 : o[0] * o[1], z[3] = out_last ? f : 1;
  z[2] = z[3] * o[1];
  y[0] = weights_last ? 1 : c * k[0] * k[1]; /* of output and input features */
  y[1] = weights_last ? f : k[0] * k[1], y[3] = weights_last ? c * f : 1, y[2] = y[3] * k[1];
  put_dim(&l, 1, n, x[0], 0, z[0]);
  for (u32 i = 0; i < 2; i++) put_dim(&l, 1, o[i], x[2 + i] * s[i], 0, z[2 + i]);
  put_dim(&l, 2, f, 0, y[0], z[1]);
  for (u32 i = 0; i < 2; i++) put_dim(&l, 3, k[i], x[2 + i] * d[i], y[2 + i], 0);
  put_dim(&l, 3, c, x[1], y[1], 0);
  l.volume[0] = (size_t)(n * x[0]);
  l.volume[1] = (size_t)(f * c * k[0] * k[1]);
  l.volume[2] = (size_t)(n * z[0]);
  return l;
}

/* A convolution with few features of whole registers of channels, features last; or the gradient of
 * its weights, whose terms are pixels. */
static layout random_few(u32 *seed, bool gradient) {
  layout l = {.n = 0};
  i64 f = 1 + pick(seed, 4), c = 16 * (1 + pick(seed, 4)), o[2], k[2];
  for (u32 i = 0; i < 2; i++) o[i] = 4 + pick(seed, 20), k[i] = 1 + pick(seed, 3);
  i64 row = (o[1] + k[1] - 1 + pick(seed, 2)) * c, rows = o[0] + k[0] - 1;
  i64 x[] = {row, c}, y[] = {k[1] * c * f, c * f}, z[] = {o[1] * f, f};
  u32 pixels = gradient ? 3 : 1, windows = gradient ? 1 : 3;
  for (u32 g = 1; g <= 3; g++) {
    for (u32 i = 0; i < 2 && g == pixels; i++)
      put_dim(&l, g, o[i], x[i], gradient ? z[i] : 0, gradient ? 0 : z[i]);
    for (u32 i = 0; i < 2 && g == windows; i++)
      put_dim(&l, g, k[i], x[i], gradient ? 0 : y[i], gradient ? y[i] : 0);
    if (g == windows) put_dim(&l, g, c, 1, gradient ? 0 : f, gradient ? f : 0);
    if (g == 2) put_dim(&l, g, f, 0, 1, 1);
  }
  size_t weights = (size_t)(f * c * k[0] * k[1]), made = (size_t)(f * o[0] * o[1]);
  l.volume[0] = (size_t)(rows * row);
  l.volume[1] = gradient ? made : weights;
  l.volume[2] = gradient ? weights : made;
  return l;
}

/* As many groups as features, features last. */
static layout random_depthwise(u32 *seed, u32 most) {
  layout l = {.n = 0};
  i64 c = 1 + pick(seed, 70), o[2], k[2], in = 1 + pick(seed, 3), s = 1 + pick(seed, 2);
  for (u32 i = 0; i < 2; i++)
    o[i] = 1 + pick(seed, most > 20 ? 2 : 9), k[i] = most - pick(seed, 20);
  i64 width = (o[1] - 1) * s + k[1] + in, height = (o[0] - 1) * s + k[0];
  put_dim(&l, 0, c, 1, 1, 1);
  put_dim(&l, 1, o[0], width * c * s, 0, o[1] * c);
  put_dim(&l, 1, o[1], c * s, 0, c);
  put_dim(&l, 3, k[0], width * c, k[1] * c, 0);
  put_dim(&l, 3, k[1], c, c, 0);
  l.volume[0] = (size_t)(height * width * c);
  l.volume[1] = (size_t)(k[0] * k[1] * c);
  l.volume[2] = (size_t)(o[0] * o[1] * c);
  return l;
}

static void test_layouts(arena *a) {
  static const dtype types[] = {DTYPE_s32, DTYPE_f32, DTYPE_bf16, DTYPE_c64,
                                DTYPE_f64, DTYPE_f16, DTYPE_s8,   DTYPE_u8};
  u32 seed = 1;
  for (u32 i = 0; i < 500; i++) {
    layout l = random_layout(&seed);
    check_layout(a, &l, types[i % COUNT(types)], &seed);
    l = random_windows(&seed);
    check_layout(a, &l, types[i % COUNT(types)], &seed);
    l = random_depthwise(&seed, i % 99 ? 20 : 150);
    check_layout(a, &l, types[i % COUNT(types)], &seed);
    l = random_few(&seed, i % 2);
    check_layout(a, &l, types[i % COUNT(types)], &seed);
  }
}

/* Long sums: of ones they are exact, of others as near as sums of a tree are. The operands are
 * rows of k or columns, or hold one number for all. */
static void check_long(arena *a, i64 m, i64 n, i64 k, dtype t, bool columns, bool ones) {
  size_t size = dtype_size(t), na = ones ? 1 : (size_t)(m * k), nb = ones ? 1 : (size_t)(n * k);
  char *x = calloc(na, size), *y = calloc(nb, size), *z = calloc((size_t)(m * n), size);
  u32 seed = 3;
  for (size_t i = 0; i < na; i++) num_from_f64(t, ones ? 1 : fabs(noise(&seed)), x + i * size);
  for (size_t i = 0; i < nb; i++) num_from_f64(t, ones ? 1 : fabs(noise(&seed)), y + i * size);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, t, na), py = prog_param(b, t, nb);
  u32 r = prog_result(b, t, (u64)(m * n), -1);
  i64 dims[] = {m, n, k}, os[] = {n, 1, 0}, none[] = {0, 0, 0};
  i64 ls[] = {columns ? 1 : k, 0, columns ? m : 1}, rs[] = {0, columns ? 1 : k, columns ? n : 1};
  prog_dot dot = {px, py, r, 0, 1, 1, 1, dims, ones ? none : ls, ones ? none : rs, os};
  prog_add_dot(b, &dot, S, L);
  CHECK(!*run(b, (void *[]){x, y}, (void *[]){z}));
  double most = 0, *dx = numbers(t, x, na), *dy = numbers(t, y, nb);
  for (i64 i = 0; i < m; i++)
    for (i64 j = 0; j < n; j++) {
      double want = ones ? (double)k : 0;
      for (i64 p = 0; !ones && p < k; p++)
        want += dx[i * ls[0] + p * ls[2]] * dy[j * rs[1] + p * rs[2]];
      most = fmax(most, fabs(num_to_f64(t, z + (size_t)(i * n + j) * size) - want) / want);
    }
  CHECK(most <= (ones ? 0 : t == DTYPE_bf16 ? 4e-3 : 4e-6));
  free(x), free(y), free(z), free(dx), free(dy);
}

static void test_long(arena *a) {
  static const i64 shapes[][3] = {{1, 1, 3000000}, {1, 5, 300000}, {5, 1, 300000}, {3, 4, 300000}};
  check_long(a, 1, 1, 40000000, DTYPE_f32, false, true);
  check_long(a, 2, 3, 17000000, DTYPE_f32, false, true);
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (int columns = 0; columns < 2; columns++) {
      const i64 *s = shapes[i];
      check_long(a, s[0], s[1], s[2], DTYPE_f32, columns, false);
      check_long(a, s[0], s[1], s[2], DTYPE_bf16, columns, false);
    }
}

/* Denormals of bf16 are numbers, or zeros where they are flushed. */
static void test_denormals(arena *a) {
  enum { M = 20, K = 9 };
  for (int flushes = 0; flushes < 2; flushes++) {
    char x[M * K * 2], y[M * K * 2], z[M * M * 2];
    for (size_t i = 0; i < M * K; i++) {
      num_from_f64(DTYPE_bf16, i % K == 3 ? 0x1p-130 : 0, x + 2 * i);
      num_from_f64(DTYPE_bf16, 0x1p+100, y + 2 * i);
    }
    prog_builder *b = prog_begin(a, 1, 1);
    prog_set_flush_denormals(b, flushes);
    u32 px = prog_param(b, DTYPE_bf16, M * K), py = prog_param(b, DTYPE_bf16, M * K);
    i64 dims[] = {M, M, K}, ls[] = {K, 0, 1}, rs[] = {0, K, 1}, os[] = {M, 1, 0};
    u32 r = prog_result(b, DTYPE_bf16, M * M, -1);
    prog_add_dot(b, &(prog_dot){px, py, r, 0, 1, 1, 1, dims, ls, rs, os}, S, L);
    CHECK(!*run(b, (void *[]){x, y}, (void *[]){z}));
    for (size_t i = 0; i < M * M; i++)
      CHECK(num_to_f64(DTYPE_bf16, z + 2 * i) == (flushes ? 0 : 0x1p-30));
  }
}

/* Windows of bf16 whose terms are pairs in memory, at odd places too, and some that are none. */
static void test_pairs(arena *a) {
  enum { M = 29, N = 21, STEP = 3, AWAY = 40, ALL = (M - 1) * STEP + 2 * AWAY + 5, MOST = 3 * 5 };
  for (i64 run_of = 3; run_of < 6; run_of++) {
    char x[ALL * 2], y[MOST * N * 2];
    float z[M * N], of_x[ALL], of_y[MOST * N];
    for (i64 i = 0; i < ALL; i++) num_from_f64(DTYPE_bf16, of_x[i] = (float)(i % 7 - 3), x + 2 * i);
    for (i64 i = 0; i < MOST * N; i++)
      num_from_f64(DTYPE_bf16, of_y[i] = (float)(i % 5 - 2), y + 2 * i);
    prog_builder *b = prog_begin(a, 1, 1);
    prog_set_flush_denormals(b, true);
    u32 px = prog_param(b, DTYPE_bf16, ALL), py = prog_param(b, DTYPE_bf16, MOST * N);
    i64 dims[] = {M, N, 3, run_of}, ls[] = {STEP, 0, AWAY, 1}, rs[] = {0, 1, run_of * N, N};
    u32 r = prog_result(b, DTYPE_f32, M * N, -1);
    prog_add_dot(b, &(prog_dot){px, py, r, 0, 1, 1, 2, dims, ls, rs, (i64[]){N, 1, 0, 0}}, S, L);
    CHECK(!*run(b, (void *[]){x, y}, (void *[]){z}));
    for (i64 i = 0; i < M * N; i++) {
      float sum = 0;
      for (i64 k = 0; k < 3 * run_of; k++)
        sum += of_x[i / N * STEP + k / run_of * AWAY + k % run_of] * of_y[k * N + i % N];
      CHECK(z[i] == sum);
    }
  }
}

/* Of products whose batches, rows or columns threads share: the same bits as of one thread. */
static void check_shared(arena *a, i64 dims[4], bool turned) {
  i64 m = dims[1], n = dims[2], k = dims[3];
  size_t nx = (size_t)(dims[0] * m * k), ny = (size_t)(dims[0] * n * k);
  size_t nz = (size_t)(dims[0] * m * n);
  float *x = malloc(nx * 4), *y = malloc(ny * 4), *z[2];
  u32 seed = 4;
  for (size_t i = 0; i < nx; i++) x[i] = noise(&seed);
  for (size_t i = 0; i < ny; i++) y[i] = noise(&seed);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f32, nx), py = prog_param(b, DTYPE_f32, ny);
  u32 r = prog_result(b, DTYPE_f32, nz, -1);
  i64 ls[] = {m * k, k, 0, 1}, rs[] = {n * k, 0, turned ? k : 1, turned ? 1 : n};
  i64 os[] = {m * n, n, 1, 0};
  prog_add_dot(b, &(prog_dot){px, py, r, 1, 1, 1, 1, dims, ls, rs, os}, S, L);
  executor_image *im = make_image(finish(b));
  for (u32 i = 0; i < 2; i++) {
    executor *on = NULL;
    z[i] = malloc(nz * 4);
    status s = exec_create(&(exec_options){.threads = 1 + 2 * i}, &on);
    CHECK(!s);
    CHECK(!*run_image(on, im, (void *[]){x, y}, (void *[]){z[i]}));
    executor_release(on);
  }
  CHECK(memcmp(z[0], z[1], nz * 4) == 0);
  exec_image_release(im);
  free(x), free(y), free(z[0]), free(z[1]);
}

static void test_shared(arena *a) {
  static i64 shapes[][4] = {{50001, 1, 3, 3},  {20001, 3, 3, 3},   {9001, 1, 8, 8},
                            {3001, 9, 9, 9},   {1, 90001, 2, 4},   {1, 30001, 4, 40},
                            {1, 20001, 8, 64}, {1, 4, 100001, 10}, {1, 1, 90001, 12}};
  for (size_t i = 0; i < COUNT(shapes); i++)
    for (int turned = 0; turned < 2; turned++) check_shared(a, shapes[i], turned);
}

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  test_dot(a);
  test_small(a);
  test_layouts(a);
  test_long(a);
  test_denormals(a);
  test_pairs(a);
  test_shared(a);
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
