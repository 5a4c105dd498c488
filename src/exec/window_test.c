/* Windows of planes on the pool, against plain C. */
#include "tests/exec.h"

/* Sums of integers over windows of a plane, which wrap and begin with a number once. */
static void check_planes(arena *a, i64 step, i64 low, i64 apart) {
  enum { ROWS = 23, COLUMNS = 37 };
  i64 span = 2 * apart,
      outs[] = {(ROWS + low - span - 1) / step + 1, (COLUMNS + low - span - 1) / step + 1};
  i32 x[ROWS * COLUMNS], z[(ROWS + 2) * (COLUMNS + 2)], first = 5;
  u32 seed = 3;
  for (int i = 0; i < ROWS * COLUMNS; i++) x[i] = (i32)(noise(&seed) * 2e9f);
  prog_builder *b = prog_begin(a, 1, 1);
  u32 p = prog_param(b, DTYPE_s32, ROWS * COLUMNS);
  u32 out = prog_result(b, DTYPE_s32, (u64)(outs[0] * outs[1]), -1);
  u32 init = prog_const(b, DTYPE_s32, 1, &first);
  prog_window w = {.n = 1,
                   .rank = 2,
                   .in = &p,
                   .init = &init,
                   .out = &out,
                   .dims = {ROWS, COLUMNS},
                   .out_dims = {outs[0], outs[1]},
                   .window = {3, 3},
                   .stride = {step, step},
                   .base_dilation = {1, 1},
                   .window_dilation = {apart, apart},
                   .pad_low = {low, low},
                   .body = {.kind = REDUCE_SUM}};
  prog_add_window(b, &w, S, L);
  CHECK(!*run(b, (void *[]){x}, (void *[]){z}));
  int bad = 0;
  for (i64 i = 0; i < outs[0] * outs[1]; i++) {
    u32 want = (u32)first;
    for (i64 k = 0; k < 9; k++) {
      i64 r = i / outs[1] * step - low + k / 3 * apart,
          c = i % outs[1] * step - low + k % 3 * apart;
      if (r >= 0 && c >= 0 && r < ROWS && c < COLUMNS) want += (u32)x[r * COLUMNS + c];
    }
    bad += (u32)z[i] != want;
  }
  CHECK(bad == 0);
}

static void run_tests(arena *a, const exec_options *options) {
  CHECK(!exec_create(options, &pool));
  for (i64 step = 1; step <= 3; step++)
    check_planes(a, step, 0, 1), check_planes(a, step, 1, 1), check_planes(a, step, 2, 3);
  executor_release(pool);
}

int main(void) { return exec_tests(run_tests); }
