/* Programs run on the pool, against plain C. */
#include <math.h>
#include <stdatomic.h>

#include "base/os.h"
#include "num/convert.h"
#include "num/special.h"
#include "tests/exec.h"

/* ---- elementwise ---- */

static void test_add(arena *a) {
  enum { N = 5000 };
  float x[N], y[N], z[N];
  for (int i = 0; i < N; i++) x[i] = (float)i, y[i] = (float)(2 * i) + 0.5f;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f32, N), py = prog_param(b, DTYPE_f32, N);
  u32 r = prog_result(b, DTYPE_f32, N, -1);
  prog_loop *l = prog_add_loop(b, 1, (i64[]){N}, S, L);
  u32 i0 = prog_loop_in(b, l, px, 0, (i64[]){1}), i1 = prog_loop_in(b, l, py, 0, (i64[]){1});
  u32 v0 = vm_load(b, &l->code, DTYPE_f32, i0), v1 = vm_load(b, &l->code, DTYPE_f32, i1);
  u32 c = vm_const_f64(b, &l->code, DTYPE_f32, 3.0);
  u32 s = vm_emit(b, &l->code, VM_add, DTYPE_f32, v0, v1, 0);
  s = vm_emit(b, &l->code, VM_mul, DTYPE_f32, s, c, 0);
  prog_loop_out(b, l, r, 0, (i64[]){1}, s);
  CHECK(!*run(b, (void *[]){x, y}, (void *[]){z}));
  int bad = 0;
  for (int i = 0; i < N; i++) bad += z[i] != (x[i] + y[i]) * 3;
  CHECK(bad == 0);
}

/* out[i][j] = x[j][i] + row[j] * col[i] + i - j, all kinds of access at once */
static void test_strides(arena *a) {
  enum { M = 37, N = 53 };
  static float x[N][M], row[N], col[M], z[M][N];
  u32 seed = 1;
  for (int i = 0; i < N; i++) {
    row[i] = noise(&seed);
    for (int j = 0; j < M; j++) x[i][j] = noise(&seed);
  }
  for (int i = 0; i < M; i++) col[i] = noise(&seed);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f32, M * N), pr = prog_param(b, DTYPE_f32, N);
  u32 pc = prog_param(b, DTYPE_f32, M), r = prog_result(b, DTYPE_f32, M * N, -1);
  prog_loop *l = prog_add_loop(b, 2, (i64[]){M, N}, S, L);
  vm_code *c = &l->code;
  u32 vx = vm_load(b, c, DTYPE_f32, prog_loop_in(b, l, px, 0, (i64[]){1, M}));
  u32 vr = vm_load(b, c, DTYPE_f32, prog_loop_in(b, l, pr, 0, (i64[]){0, 1}));
  u32 vc = vm_load(b, c, DTYPE_f32, prog_loop_in(b, l, pc, M - 1, (i64[]){-1, 0}));
  u32 v = vm_emit(b, c, VM_mul, DTYPE_f32, vr, vc, 0);
  v = vm_emit(b, c, VM_add, DTYPE_f32, vx, v, 0);
  v = vm_emit(b, c, VM_add, DTYPE_f32, v, vm_iota(b, c, DTYPE_f32, 0), 0);
  v = vm_emit(b, c, VM_sub, DTYPE_f32, v, vm_iota(b, c, DTYPE_f32, 1), 0);
  prog_loop_out(b, l, r, 0, (i64[]){N, 1}, v);
  CHECK(!*run(b, (void *[]){x, row, col}, (void *[]){z}));
  int bad = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) {
      float want = x[j][i] + row[j] * col[M - 1 - i] + (float)i - (float)j;
      bad += z[i][j] != want;
    }
  CHECK(bad == 0);
}

/* out[i][j] = x[j][i] + y[i][j], more than caches keep, off the borders of lines */
static void test_transposed_sum(arena *a) {
  enum { M = 2100, N = 2048, AT = 3 };
  float *x = malloc(sizeof(float) * M * N), *y = malloc(sizeof(float) * M * N);
  float *z = malloc(sizeof(float) * (M * N + AT));
  for (int i = 0; i < M * N; i++) x[i] = (float)i, y[i] = (float)(i % 7919);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f32, M * N), py = prog_param(b, DTYPE_f32, M * N);
  u32 r = prog_result(b, DTYPE_f32, M * N + AT, -1);
  prog_loop *l = prog_add_loop(b, 1, (i64[]){AT}, S, L);
  u32 vx = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, px, 0, (i64[]){1}));
  prog_loop_out(b, l, r, 0, (i64[]){1}, vx);
  l = prog_add_loop(b, 2, (i64[]){M, N}, S, L);
  vx = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, px, 0, (i64[]){1, M}));
  u32 vy = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, py, 0, (i64[]){N, 1}));
  vx = vm_emit(b, &l->code, VM_add, DTYPE_f32, vx, vy, 0);
  prog_loop_out(b, l, r, AT, (i64[]){N, 1}, vx);
  CHECK(!*run(b, (void *[]){x, y}, (void *[]){z}));
  int bad = 0;
  for (int i = 0; i < M; i++)
    for (int j = 0; j < N; j++) bad += z[AT + i * N + j] != x[j * M + i] + y[i * N + j];
  CHECK(bad == 0);
  free(x), free(y), free(z);
}

/* every operation on every type it takes runs, with vectors and scalars mixed */
static void test_all_ops(arena *a) {
  enum { N = 70 };
  static u64 in[3][2 * N], out[2 * N];
  for (int op = VM_convert; op < VM_OP_COUNT; op++)
    for (int t = 0; t < DTYPE_COUNT; t++) {
      if (op == VM_bitcast || t == DTYPE_c64 || t == DTYPE_c128 || t == DTYPE_token) continue;
      for (int form = 0; form < 4; form++) {
        prog_builder *b = prog_begin(a, 1, 1);
        u32 slots[3], v[3];
        for (int k = 0; k < 3; k++) {
          dtype kt = op == VM_select && k == 0 ? DTYPE_pred : (dtype)t;
          slots[k] = prog_param(b, kt, N);
          for (int i = 0; i < N; i++)
            num_from_f64(kt, kt == DTYPE_pred ? i % 2 : (i * 7 % 11) * 0.5,
                         (char *)in[k] + (size_t)i * dtype_size(kt));
        }
        dtype rt = (dtype)t;
        if ((op >= VM_eq && op <= VM_total_ge) || (op >= VM_is_finite && op <= VM_is_neg_inf))
          rt = DTYPE_pred;
        if (op == VM_complex) rt = t == DTYPE_f64 ? DTYPE_c128 : DTYPE_c64;
        u32 r = prog_result(b, rt, N, -1);
        prog_loop *l = prog_add_loop(b, 1, (i64[]){N}, S, L);
        for (int k = 0; k < 3; k++) {
          i64 stride = k == 2 ? form == 3 : !(form >> k & 1);
          v[k] = vm_load(b, &l->code, prog_slot_type(b, slots[k]),
                         prog_loop_in(b, l, slots[k], 0, &stride));
        }
        if (op == VM_reduce_precision) v[1] = 5, v[2] = 2;
        i64 one = 1;
        prog_loop_out(b, l, r, 0, &one, vm_emit(b, &l->code, (vm_op)op, rt, v[0], v[1], v[2]));
        const program *p = NULL;
        status s = prog_finish(b, &p);
        if (s) { /* not for this type */
          status_free(s);
          break;
        }
        executor_image *im = make_image(p);
        CHECK(!*run_image(pool, im, (void *[]){in[0], in[1], in[2]}, (void *[]){out}));
        exec_image_release(im);
      }
    }
}

/* Next to what has few bits and lies in the middle between two numbers of a narrower type. */
static void fill_near_middle(dtype t, u32 i, u32 *seed, char *e) {
  u64 bits = 0;
  for (u32 k = 0; k < 8; k++) bits = bits << 8 | (u8)(int)(noise(seed) * 128);
  bits &= ~(~0ull >> (12 + i % 14));
  bool whole = dtype_infos[t].kind != DTYPE_CLASS_FLOAT;
  bits >>= (dtype_size(t) == 4 ? 32 : 0) + (whole ? i % 31 : 0);
  bits += i % 3 - 1ull;
  memcpy(e, &bits, dtype_size(t)); /* little endian */
}

/* Every pattern of one or two bytes; of wider types values of all sizes, and any bits. */
static u32 fill_converted(dtype t, char *in) {
  u32 n = dtype_size(t) == 1 ? 256 : dtype_size(t) == 2 ? 65536 : 4096, seed = 7;
  for (u32 i = 0; i < n; i++) {
    char *e = in + i * dtype_size(t);
    double v = ((double)i - 500) * (i % 3 ? 0.37 : 1e5) * (i % 7 ? 1 : 1e12);
    u16 pattern = (u16)i;
    if (dtype_size(t) <= 2) {
      memcpy(e, &pattern, dtype_size(t));
    } else if (i < 1000 || dtype_infos[t].kind == DTYPE_CLASS_COMPLEX) {
      num_from_f64(t, i == 5 ? (double)NAN : v, e);
    } else if (i < 2048) {
      for (size_t k = 0; k < dtype_size(t); k++) e[k] = (char)(int)(noise(&seed) * 128);
    } else {
      fill_near_middle(t, i, &seed, e);
    }
  }
  return n;
}

static int check_convert(arena *a, dtype from, dtype to, void *in, void *out, u32 n) {
  int bad = 0;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, from, n), r = prog_result(b, to, n, -1);
  i64 one = 1, count = n;
  prog_loop *l = prog_add_loop(b, 1, &count, S, L);
  u32 v = vm_load(b, &l->code, from, prog_loop_in(b, l, p, 0, &one));
  v = vm_emit(b, &l->code, VM_convert, to, v, 0, 0);
  prog_loop_out(b, l, r, 0, &one, v);
  CHECK(!*run(b, (void *[]){in}, (void *[]){out}));
  for (u32 i = 0; i < n; i++) {
    u64 want[2];
    size_t size = dtype_size(to);
    num_convert(from, (char *)in + i * dtype_size(from), to, want);
    const char *got = (char *)out + i * size;
    double g = num_to_f64(to, got), w = num_to_f64(to, want);
    if (memcmp(got, want, size) == 0 || (isnan(g) && isnan(w))) continue;
    if (bad++ < 5)
      fprintf(stderr, "convert %s to %s, element %u: got %g, want %g\n", dtype_infos[from].name,
              dtype_infos[to].name, i, g, w);
  }
  return bad;
}

/* each type to each other, against num_convert */
static void test_converts(arena *a) {
  char *in = malloc(65536 * 16), *out = malloc(65536 * 16);
  for (u32 from = 0; from < DTYPE_COUNT; from++)
    for (u32 to = 0; to < DTYPE_COUNT; to++)
      if (from != DTYPE_token && to != DTYPE_token) {
        u32 n = fill_converted((dtype)from, in);
        CHECK(check_convert(a, (dtype)from, (dtype)to, in, out, n) == 0);
      }
  free(in);
  free(out);
}

/* ---- data movement ---- */

static void test_copies(arena *a) {
  enum { M = 70, N = 90 };
  static u32 x[M][N], t[N][M], d[8];
  static u8 x8[M][N], t8[N][M];
  for (u32 i = 0; i < M * N; i++) (&x[0][0])[i] = i, (&x8[0][0])[i] = (u8)i;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, DTYPE_u32, M * N), r = prog_result(b, DTYPE_u32, M * N, -1);
  u32 p8 = prog_param(b, DTYPE_u8, M * N), r8 = prog_result(b, DTYPE_u8, M * N, -1);
  u32 rd = prog_result(b, DTYPE_u32, 8, -1);
  prog_add_copy(b, 2, (i64[]){N, M}, p, 0, (i64[]){1, N}, r, 0, (i64[]){M, 1}, S, L);
  prog_add_copy(b, 2, (i64[]){N, M}, p8, 0, (i64[]){1, N}, r8, 0, (i64[]){M, 1}, S, L);
  i32 at[] = {-5, 1000};
  u32 s0 = prog_const(b, DTYPE_s32, 1, &at[0]), s1 = prog_const(b, DTYPE_s32, 1, &at[1]);
  prog_dynamic sl = {.big = p,
                     .small = rd,
                     .rank = 2,
                     .big_dims = {M, N},
                     .small_dims = {2, 4},
                     .start = {s0, s1}};
  prog_add_dynamic(b, &sl, S, L);
  CHECK(!*run(b, (void *[]){x, x8}, (void *[]){t, t8, d}));
  int bad = 0;
  for (int i = 0; i < N; i++)
    for (int j = 0; j < M; j++) bad += t[i][j] != x[j][i] || t8[i][j] != x8[j][i];
  CHECK(bad == 0);
  for (int i = 0; i < 8; i++) CHECK(d[i] == x[i / 4][N - 4 + i % 4]);
}

/* Maxima of 3x3 windows of several images, two apart, of which the padding leaves out what is
 * before and has what is behind; lines of `wide` elements. */
static void test_max_of_rows(arena *a, i64 wide) {
  enum { IMAGES = 3, HIGH = 7 };
  i64 out_high = 4, out_wide = wide / 2 + 1, n = IMAGES * HIGH * wide,
      m = IMAGES * out_high * out_wide;
  i32 *x = malloc((size_t)n * 4), *y = malloc((size_t)m * 4), low = -100, bad = 0;
  for (i64 i = 0; i < n; i++) x[i] = (i32)(i * 7919 % 1009) - 500;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 in = prog_param(b, DTYPE_s32, (u64)n), out = prog_result(b, DTYPE_s32, (u64)m, -1);
  u32 init = prog_const(b, DTYPE_s32, 1, &low);
  prog_window w = {.n = 1,
                   .rank = 3,
                   .in = &in,
                   .init = &init,
                   .out = &out,
                   .dims = {IMAGES, HIGH, wide},
                   .out_dims = {IMAGES, out_high, out_wide},
                   .window = {1, 3, 3},
                   .stride = {1, 2, 2},
                   .base_dilation = {1, 1, 1},
                   .window_dilation = {1, 1, 1},
                   .pad_low = {0, 1, -1},
                   .body = {.kind = REDUCE_MAX}};
  prog_add_window(b, &w, S, L);
  CHECK(!*run(b, (void *[]){x}, (void *[]){y}));
  for (i64 k = 0; k < m; k++) {
    i64 row = k / out_wide % out_high * 2 - 1, column = k % out_wide * 2 + 1;
    i32 most = low;
    for (i64 r = row; r < row + 3; r++)
      for (i64 c = column; c < column + 3; c++)
        if (r >= 0 && r < HIGH && c < wide &&
            x[(k / out_wide / out_high * HIGH + r) * wide + c] > most)
          most = x[(k / out_wide / out_high * HIGH + r) * wide + c];
    bad += y[k] != most;
  }
  CHECK(bad == 0);
  free(x), free(y);
}

/* y = cumulative sum; pooled = max over windows of 3, stride 2 */
static void test_window(arena *a) {
  enum { N = 9 };
  i32 x[N], sum[N], pooled[4], zero = 0, low = INT32_MIN;
  for (int i = 0; i < N; i++) x[i] = i * i % 7;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, DTYPE_s32, N), r = prog_result(b, DTYPE_s32, N, -1);
  u32 q = prog_result(b, DTYPE_s32, 4, -1);
  u32 z = prog_const(b, DTYPE_s32, 1, &zero), m = prog_const(b, DTYPE_s32, 1, &low);
  prog_window w = {.n = 1,
                   .rank = 1,
                   .in = &p,
                   .init = &z,
                   .out = &r,
                   .dims = {N},
                   .out_dims = {N},
                   .window = {N},
                   .stride = {1},
                   .base_dilation = {1},
                   .window_dilation = {1},
                   .pad_low = {N - 1},
                   .body = {.kind = REDUCE_SUM}};
  prog_add_window(b, &w, S, L);
  w = (prog_window){.n = 1,
                    .rank = 1,
                    .in = &p,
                    .init = &m,
                    .out = &q,
                    .dims = {N},
                    .out_dims = {4},
                    .window = {3},
                    .stride = {2},
                    .base_dilation = {1},
                    .window_dilation = {1},
                    .body = {.kind = REDUCE_MAX}};
  prog_add_window(b, &w, S, L);
  CHECK(!*run(b, (void *[]){x}, (void *[]){sum, pooled}));
  i32 running = 0;
  for (int i = 0; i < N; i++) CHECK(sum[i] == (running += x[i]));
  for (int i = 0; i < 4; i++) {
    i32 best = x[2 * i];
    for (int k = 1; k < 3; k++) best = x[2 * i + k] > best ? x[2 * i + k] : best;
    CHECK(pooled[i] == best);
  }
}

/* ---- control flow, aliasing ---- */

/* while (i < n) { x[i] += i; i += 1 } by dynamic slices, in place on a donated parameter */
static void test_while(arena *a) {
  enum { N = 100 };
  float x[N];
  for (int i = 0; i < N; i++) x[i] = 1;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, DTYPE_f32, N), r = prog_result(b, DTYPE_f32, N, 0);
  u32 i = prog_work(b, DTYPE_s32, 1), next = prog_work(b, DTYPE_s32, 1);
  u32 c = prog_work(b, DTYPE_f32, N), c2 = prog_work(b, DTYPE_f32, N);
  u32 one = prog_work(b, DTYPE_f32, 1), sum = prog_work(b, DTYPE_f32, 1);
  u32 cond = prog_work(b, DTYPE_pred, 1);
  i32 zero = 0, first[] = {0};
  (void)first;
  prog_add_fill(b, i, &zero, S, L);
  prog_add_move(b, p, c, S, L);
  u32 top = prog_label(b), end = prog_label(b);
  prog_place(b, top);
  prog_loop *l = prog_add_loop(b, 0, NULL, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, i, 0, NULL));
  v = vm_emit(b, &l->code, VM_lt, DTYPE_pred, v, vm_const_f64(b, &l->code, DTYPE_s32, N), 0);
  prog_loop_out(b, l, cond, 0, NULL, v);
  prog_add_jump_unless(b, cond, end, S, L);
  prog_dynamic d = {
      .big = c, .small = one, .rank = 1, .big_dims = {N}, .small_dims = {1}, .start = {i}};
  prog_add_dynamic(b, &d, S, L);
  l = prog_add_loop(b, 0, NULL, S, L);
  v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, one, 0, NULL));
  u32 vi = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, i, 0, NULL));
  vi = vm_emit(b, &l->code, VM_convert, DTYPE_f32, vi, 0, 0);
  prog_loop_out(b, l, sum, 0, NULL, vm_emit(b, &l->code, VM_add, DTYPE_f32, v, vi, 0));
  prog_add_move(b, c, c2, S, L);
  d = (prog_dynamic){.update = true,
                     .big = c2,
                     .small = sum,
                     .rank = 1,
                     .big_dims = {N},
                     .small_dims = {1},
                     .start = {i}};
  prog_add_dynamic(b, &d, S, L);
  l = prog_add_loop(b, 0, NULL, S, L);
  v = vm_load(b, &l->code, DTYPE_s32, prog_loop_in(b, l, i, 0, NULL));
  v = vm_emit(b, &l->code, VM_add, DTYPE_s32, v, vm_const_f64(b, &l->code, DTYPE_s32, 1), 0);
  prog_loop_out(b, l, next, 0, NULL, v);
  prog_add_move(b, next, i, S, L);
  prog_add_move(b, c2, c, S, L);
  prog_add_jump(b, top, S, L);
  prog_place(b, end);
  prog_add_move(b, c, r, S, L);
  const program *p0 = finish(b);
  CHECK(p0 && p0->workspace <= 5 * 64); /* the arrays are all the donated buffer */
  executor_image *im = make_image(p0);
  CHECK(!*run_image(pool, im, (void *[]){x}, (void *[]){x}));
  exec_image_release(im);
  int bad = 0;
  for (int k = 0; k < N; k++) bad += x[k] != (float)(k + 1);
  CHECK(bad == 0);
}

/* a donated parameter that is read (reversed) after its result began to be written */
static void test_alias_saved(arena *a) {
  enum { N = 3000 };
  static float x[N];
  for (int i = 0; i < N; i++) x[i] = (float)i;
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, DTYPE_f32, N), r = prog_result(b, DTYPE_f32, N, 0);
  i64 back = -1, one = 1;
  prog_loop *l = prog_add_loop(b, 1, (i64[]){N}, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, p, N - 1, &back));
  prog_loop_out(b, l, r, 0, &one, v);
  CHECK(!*run(b, (void *[]){x}, (void *[]){x}));
  int bad = 0;
  for (int i = 0; i < N; i++) bad += x[i] != (float)(N - 1 - i);
  CHECK(bad == 0);
}

/* ---- the same bits, whatever the number of threads ---- */

static void test_deterministic(arena *a) {
  enum { M = 700, N = 900, K = 300 };
  float *x = malloc(M * K * 4), *y = malloc(K * N * 4), *first = NULL;
  u32 seed = 9;
  for (int i = 0; i < M * K; i++) x[i] = noise(&seed);
  for (int i = 0; i < K * N; i++) y[i] = noise(&seed);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 px = prog_param(b, DTYPE_f32, M * K), py = prog_param(b, DTYPE_f32, K * N);
  u32 z = prog_work(b, DTYPE_f32, M * N), r = prog_result(b, DTYPE_f32, M * N, -1);
  u32 sums = prog_result(b, DTYPE_f32, N, -1), zero = prog_const(b, DTYPE_f32, 1, &(float){0});
  i64 dims[] = {M, N, K}, ls[] = {K, 0, 1}, rs[] = {0, 1, N}, os[] = {N, 1, 0};
  prog_add_dot(b, &(prog_dot){px, py, z, 0, 1, 1, 1, dims, ls, rs, os}, S, L);
  prog_loop *l = prog_add_loop(b, 1, (i64[]){M * N}, S, L);
  u32 v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, z, 0, (i64[]){1}));
  v = vm_emit(b, &l->code, VM_tanh, DTYPE_f32, v, 0, 0);
  prog_loop_out(b, l, r, 0, (i64[]){1}, v);
  l = prog_add_loop(b, 2, (i64[]){N, M}, S, L);
  v = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, r, 0, (i64[]){1, N}));
  prog_loop_out(b, l, sums, 0, (i64[]){1, 0}, v);
  prog_loop_reduce(b, l, 1, &zero, (prog_body){.kind = REDUCE_SUM});
  executor_image *im = make_image(finish(b));
  for (u32 threads = 1; threads <= 4; threads++) {
    executor *on = NULL;
    float *got = malloc((M + 1) * N * 4);
    status s = exec_create(&(exec_options){.threads = threads}, &on);
    CHECK(!s);
    CHECK(!*run_image(on, im, (void *[]){x, y}, (void *[]){got, got + M * N}));
    executor_release(on);
    if (first) CHECK(memcmp(first, got, (M + 1) * N * 4) == 0);
    if (first)
      free(got);
    else
      first = got;
  }
  exec_image_release(im);
  free(first), free(x), free(y);
}

/* ---- memory running out ---- */

/* Workers still free while the main thread does. */
typedef struct failing {
  atomic_int left; /* allocations until one fails; negative: never */
  _Atomic i64 live;
} failing;
static void *failing_fn(void *user, void *p, size_t old_size, size_t new_size) {
  failing *f = user;
  if (new_size && atomic_load(&f->left) == 0) return NULL;
  if (new_size && atomic_load(&f->left) > 0) atomic_fetch_sub(&f->left, 1);
  void *r = mem_system.fn(mem_system.user, p, old_size, new_size);
  f->live += (i64)new_size - (i64)old_size;
  return r;
}

static void test_no_memory(arena *a, const char *kind) {
  const program *p = finish(trips_program(a, 8, 2));
  bool through = false;
  for (int n = 0; !through && n < 1000; n++) {
    failing f = {n, 0};
    allocator mem = {failing_fn, &f};
    executor *on = NULL;
    executor_image *im = NULL;
    i32 trips[8];
    float out[8];
    void *params[8], *results[8];
    for (int i = 0; i < 8; i++) trips[i] = 2, params[i] = &trips[i], results[i] = &out[i];
    status s = exec_create(&(exec_options){kind, &mem, 1}, &on);
    if (!s) s = executor_image_create(on, p, NULL, NULL, &im);
    lent t = s ? (lent){0} : lend(on, p, params, results);
    waiting w = {.lock = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};
    executor_launch_args args = {.image = im,
                                 .devices = (u32[]){0, 1, 2, 3, 4, 5, 6, 7},
                                 .params = t.params,
                                 .results = t.results,
                                 .done = on_done,
                                 .user = &w};
    if (!s) s = executor_launch(on, &args);
    through = !s;
    if (s) CHECK(status_get_code(s) == STATUS_RESOURCE_EXHAUSTED);
    status_free(s);
    pthread_mutex_lock(&w.lock);
    while (through && !w.done) pthread_cond_wait(&w.cond, &w.lock);
    pthread_mutex_unlock(&w.lock);
    if (im) take_back(&t);
    exec_image_release(im);
    executor_release(on);
    CHECK(f.live == 0);
  }
  CHECK(through);
}

/* ---- serialized programs ---- */

static void test_serialize(arena *a) {
  const program *p = finish(trips_program(a, 4, 2)), *q = NULL;
  buf bytes, text, text2;
  buf_init(&bytes, &mem_system), buf_init(&text, &mem_system), buf_init(&text2, &mem_system);
  program_serialize(p, &bytes);
  CHECK(buf_ok(&bytes));
  status s = program_deserialize(a, buf_view(&bytes), &q);
  CHECK(!s && q);
  program_dump(p, &text);
  program_dump(q, &text2);
  CHECK(str_eq(buf_view(&text), buf_view(&text2)));
  u32 rejected = 0;
  for (size_t i = 0; i < bytes.len; i++) {
    str cut = {bytes.data, i};
    s = program_deserialize(a, cut, &q);
    CHECK(s && !q);
    status_free(s);
    for (int bit = 0; bit < 8; bit++) {
      bytes.data[i] ^= (char)(1 << bit);
      s = program_deserialize(a, buf_view(&bytes), &q);
      rejected += s != NULL;
      if (q) { /* if it is let in, it must be good enough to make ready */
        executor_image *im = NULL;
        status t = q->num_replicas * q->num_partitions <= 16
                       ? exec_image_create(NULL, q, NULL, NULL, &im)
                       : NULL;
        status_free(t);
        exec_image_release(im);
      }
      status_free(s);
      bytes.data[i] ^= (char)(1 << bit);
    }
  }
  CHECK(rejected > bytes.len);
  program small = *p;
  CHECK(p->workspace > 64);
  for (small.workspace = 0; small.workspace < p->workspace; small.workspace += 64) {
    bytes.len = 0;
    program_serialize(&small, &bytes);
    s = program_deserialize(a, buf_view(&bytes), &q);
    CHECK(s && !q);
    status_free(s);
  }
  buf_deinit(&bytes), buf_deinit(&text), buf_deinit(&text2);
}

static void run_tests(arena *a, const exec_options *options) {
  status s = exec_create(options, &pool);
  CHECK(!s);
  test_add(a);
  test_strides(a);
  test_transposed_sum(a);
  test_all_ops(a);
  test_converts(a);
  test_copies(a);
  test_max_of_rows(a, 9);
  test_max_of_rows(a, 1500);
  test_window(a);
  test_while(a);
  test_alias_saved(a);
  executor_release(pool);
}

int main(void) {
  arena a;
  if (setjmp(trap.at)) return 1;
  arena_init(&a, &mem_system, &trap);
  run_tests(&a, &(exec_options){.kind = "cpu", .threads = 2});
  test_deterministic(&a);
  setenv("TERRAZZO_ONEDNN", "0", 1);
  run_tests(&a, &(exec_options){.kind = "cpu", .threads = 1});
  run_tests(&a, &(exec_options){.kind = "plain"});
  test_deterministic(&a);
  test_no_memory(&a, "cpu");
  test_no_memory(&a, "plain");
  test_serialize(&a);
  arena_deinit(&a);
  return UNIT_END();
}
