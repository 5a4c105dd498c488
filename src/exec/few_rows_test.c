/* Rows of a few bytes by indices, some of which are negative or outside, against plain C. */
#include "exec/few_rows.h"

#include <math.h>

#include "exec/kernels.h"
#include "num/convert.h"
#include "tests/unit.h"

enum { ROWS = 37, MOST = 200, BYTES = 256 };

static u32 seed = 1;
static u32 draw(u32 n) {
  seed = seed * 1664525 + 1013904223;
  return (seed >> 8) % n;
}

static void draw_elements(dtype t, char *to, size_t bytes) {
  static const float special[] = {0, -0.0f, 1e-40f, 3e38f, -3e38f, INFINITY, NAN};
  for (size_t i = 0; i < bytes; i += dtype_size(t)) {
    float f = draw(8) ? (float)draw(4000) / 7 - 200 : special[draw(COUNT(special))];
    i32 n = (i32)(draw(1u << 24) * 2654435761u);
    if (t == DTYPE_s32)
      memcpy(to + i, &n, 4);
    else
      num_convert(DTYPE_f32, &f, t, to + i);
  }
}

static float joined(few_how how, float x, float y) {
  volatile float sum = x + y;
  if (how == FEW_ADD || x != x || y != y) return sum;
  bool first = x == y ? !signbit(x) : x > y;
  return first == (how == FEW_MAX) ? x : y;
}

/* to = from, or what both are together. */
static void one_row(few_how how, dtype t, char *to, const char *from, size_t bytes) {
  for (size_t i = 0; i < bytes; i += dtype_size(t)) {
    if (how < FEW_ADD) {
      memcpy(to + i, from + i, dtype_size(t));
    } else if (t == DTYPE_s32) {
      u32 x, y;
      memcpy(&x, to + i, 4), memcpy(&y, from + i, 4);
      i32 a = (i32)x, b = (i32)y;
      u32 z = how == FEW_ADD ? x + y : (u32)((a > b) == (how == FEW_MAX) ? a : b);
      memcpy(to + i, &z, 4);
    } else {
      float x, y;
      num_convert(t, to + i, DTYPE_f32, &x), num_convert(t, from + i, DTYPE_f32, &y);
      x = joined(how, x, y);
      num_convert(DTYPE_f32, &x, t, to + i);
    }
  }
}

static bool same(dtype t, const char *x, const char *y, size_t bytes) {
  for (size_t i = 0; i < bytes; i += dtype_size(t)) {
    double a = num_to_f64(t, x + i), b = num_to_f64(t, y + i);
    if (memcmp(x + i, y + i, dtype_size(t)) != 0 && !(a != a && b != b)) return false;
  }
  return true;
}

static void check(few_how how, dtype t, size_t bytes, u64 n, i64 wrap) {
  static char operand[ROWS * BYTES], other[MOST * BYTES + 1], want_operand[ROWS * BYTES];
  static char want_other[MOST * BYTES + 1];
  i32 at[MOST];
  few_rows_fn *f = few_rows_find(how, t, bytes);
  CHECK(f != NULL);
  if (!f) return;
  draw_elements(t, operand, ROWS * bytes);
  draw_elements(t, other, MOST * bytes);
  other[n * bytes] = 77;
  memcpy(want_operand, operand, sizeof operand);
  memcpy(want_other, other, sizeof other);
  u32 mostly = draw(2);
  for (u64 i = 0; i < n; i++) at[i] = mostly ? (i32)draw(ROWS) : (i32)draw(3 * ROWS) - ROWS;
  if (!mostly && n > 2) at[0] = INT32_MIN, at[1] = INT32_MAX;
  few_rows z = {at, operand, other, bytes, how == FEW_TAKE, {ROWS - 1, wrap, NULL}};
  few_rows_run(f, &z, n);
  for (u64 i = 0; i < n; i++) {
    i64 place = at[i] + (at[i] < 0 ? wrap : 0);
    bool outside = place < 0 || place >= ROWS;
    if (how == FEW_TAKE)
      one_row(how, t, want_other + i * bytes,
              want_operand + (size_t)(place < 0 ? 0
                                      : outside ? ROWS - 1
                                                : place) *
                                 bytes,
              bytes);
    else if (!outside)
      one_row(how, t, want_operand + (size_t)place * bytes, want_other + i * bytes, bytes);
  }
  CHECK(same(t, operand, want_operand, ROWS * bytes) && same(t, other, want_other, n * bytes));
  CHECK(other[n * bytes] == 77);
}

int main(void) {
  static const dtype types[] = {DTYPE_f32, DTYPE_s32, DTYPE_bf16};
  if (strcmp(vm_kernels_get()->isa, "base") == 0) {
    printf("0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  for (u64 n = 1; n <= MOST; n += n < 4 ? 1 : 13)
    for (size_t bytes = 4; bytes <= 64; bytes *= 2)
      for (u32 t = 0; t < COUNT(types); t++)
        for (u32 how = FEW_TAKE; how <= FEW_ADD; how++)
          for (u32 k = 0; k < 4; k++)
            if (how != FEW_ADD || (types[t] == DTYPE_bf16 ? bytes < 64 : bytes > 4))
              check((few_how)how, types[t], bytes, n, k % 2 ? ROWS : 0);
  for (u64 n = 1; n <= MOST; n += 33) {
    check(FEW_TAKE, DTYPE_u8, 3, n, ROWS);
    for (size_t bytes = 5; bytes <= 64; bytes++)
      for (u32 how = FEW_TAKE; how <= FEW_PUT; how++) check((few_how)how, DTYPE_u8, bytes, n, ROWS);
    for (size_t bytes = 4; bytes <= BYTES; bytes += bytes < 64 ? 4 : 28)
      for (u32 how = FEW_ADD; how <= FEW_MIN; how++) {
        check((few_how)how, DTYPE_f32, bytes, n, ROWS);
        check((few_how)how, DTYPE_s32, bytes, n, 0);
      }
    for (size_t bytes = 2; bytes <= BYTES; bytes += bytes < 64 ? 2 : 14)
      for (u32 how = FEW_ADD; how <= FEW_MIN; how++)
        check((few_how)how, DTYPE_bf16, bytes, n, ROWS);
  }
  CHECK(!few_rows_find(FEW_PUT, DTYPE_f32, 68) && !few_rows_find(FEW_ADD, DTYPE_f16, 8));
  CHECK(!few_rows_find(FEW_MAX, DTYPE_u32, 8) && !few_rows_find(FEW_MAX, DTYPE_f16, 8));
  return UNIT_END();
}
