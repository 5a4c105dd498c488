/* The vector kernels of every instruction set that this machine has: accuracy of the f32
 * functions over a sample of all bit patterns, conversions against num/convert.h. */
#include "exec/kernels.h"

#include <math.h>
#include <stdlib.h>

#include "num/convert.h"
#include "num/special.h"
#include "tests/unit.h"

enum { BLOCK = 1024, STEP = 1021 };

static double logistic(double x) { return 1 / (1 + exp(-x)); }
static double inv_sqrt(double x) { return 1 / sqrt(x); }

/* In units of the last place of the correctly rounded result; 0 for two NaNs or equal values. */
static double ulps(float got, double want) {
  float rounded = (float)want;
  if ((isnan(got) && isnan(rounded)) || got == rounded) return 0;
  if (!isfinite(got) || !isfinite(rounded)) return 1e9;
  double unit = (double)nextafterf(fabsf(rounded), INFINITY) - (double)fabsf(rounded);
  return fabs((double)got - want) / unit;
}

static void check_function(const vm_kernels *k, vm_op op, double (*exact)(double), double most) {
  kern_fn *fn = k->unary[op][R_f32];
  double worst = 0;
  float at = 0;
  for (u64 base = 0; base < 1ull << 32; base += (u64)BLOCK * STEP) {
    float x[BLOCK], y[BLOCK];
    for (u32 i = 0; i < BLOCK; i++) x[i] = num_f32_from_bits((u32)(base + (u64)i * STEP));
    fn(BLOCK, y, x, NULL, NULL);
    for (u32 i = 0; i < BLOCK; i++) {
      double e = ulps(y[i], exact(x[i]));
      if (e > worst) worst = e, at = x[i];
    }
  }
  if (worst > most || getenv("KERNELS_TEST_REPORT"))
    fprintf(stderr, "%s %s: %.3f ulp at %a\n", k->isa, vm_op_name(op), worst, (double)at);
  CHECK(worst <= most);
}

static void check_functions(const vm_kernels *k) {
  check_function(k, VM_exp, exp, 1.5);
  check_function(k, VM_log, log, 1.5);
  check_function(k, VM_expm1, expm1, 2.5);
  check_function(k, VM_log1p, log1p, 2.5);
  check_function(k, VM_tanh, tanh, 2.5);
  check_function(k, VM_logistic, logistic, 3);
  check_function(k, VM_erf, erf, 2.5);
  check_function(k, VM_sin, sin, 2);
  check_function(k, VM_cos, cos, 2);
  check_function(k, VM_sqrt, sqrt, 0.51);
  check_function(k, VM_rsqrt, inv_sqrt, 1.5);
  check_function(k, VM_floor, floor, 0);
  check_function(k, VM_ceil, ceil, 0);
  check_function(k, VM_round_even, rint, 0);
  check_function(k, VM_round_afz, round, 0);
}

static void check_special_values(const vm_kernels *k) {
  float x[] = {0.0f, -0.0f, INFINITY, -INFINITY, NAN, 1.0f, -1.0f, 1e-40f}, y[8];
  k->unary[VM_tanh][R_f32](8, y, x, NULL, NULL);
  CHECK(signbit(y[1]) && y[2] == 1 && y[3] == -1 && isnan(y[4]));
  k->unary[VM_expm1][R_f32](8, y, x, NULL, NULL);
  CHECK(signbit(y[1]) && y[2] == INFINITY && y[3] == -1 && isnan(y[4]));
  k->unary[VM_log1p][R_f32](8, y, x, NULL, NULL);
  CHECK(signbit(y[1]) && y[2] == INFINITY && isnan(y[3]) && y[6] == -INFINITY);
  k->unary[VM_sign][R_f32](8, y, x, NULL, NULL);
  CHECK(signbit(y[1]) && y[2] == 1 && isnan(y[4]) && y[7] == 1);
  float zero[] = {-0.0f, 0.0f, NAN, 1, 1, NAN, 2, 3};
  k->binary[VM_max][R_f32][FORM_VV](8, y, x, zero, NULL);
  CHECK(!signbit(y[0]) && !signbit(y[1]) && isnan(y[2]) && isnan(y[4]) && isnan(y[5]) && y[6] == 2);
  k->binary[VM_min][R_f32][FORM_VV](8, y, x, zero, NULL);
  CHECK(signbit(y[0]) && signbit(y[1]) && isnan(y[2]) && isnan(y[5]) && y[6] == -1);
}

/* What an element gives does not depend on those beside it. */
static void check_neighbours(const vm_kernels *k) {
  static const vm_op ops[] = {VM_sin, VM_cos, VM_exp, VM_log, VM_tanh, VM_erf, VM_log1p};
  float x[BLOCK], alone[BLOCK], y[BLOCK];
  for (size_t o = 0; o < COUNT(ops); o++) {
    kern_fn *fn = k->unary[ops[o]][R_f32];
    for (u32 i = 0; i < BLOCK; i++) x[i] = 0.01f * (float)i;
    fn(BLOCK, alone, x, NULL, NULL);
    x[7] = INFINITY, x[8] = NAN, x[900] = 1e30f;
    fn(BLOCK, y, x, NULL, NULL);
    y[7] = alone[7], y[8] = alone[8], y[900] = alone[900];
    CHECK(memcmp(y, alone, sizeof y) == 0);
    fn(3, y, x + 20, NULL, NULL);
    CHECK(memcmp(y, alone + 20, 3 * sizeof *y) == 0);
  }
}

static void check_ints(const vm_kernels *k) {
  i32 x[] = {7, -7, INT32_MIN, INT32_MIN, 5, -1, 1, 3}, y[] = {0, 0, -1, 2, -3, 40, 31, -1}, z[8];
  k->binary[VM_div][R_s32][FORM_VV](8, z, x, y, NULL);
  CHECK(z[0] == -1 && z[1] == -1 && z[2] == INT32_MIN && z[4] == -1);
  k->binary[VM_rem][R_s32][FORM_VV](8, z, x, y, NULL);
  CHECK(z[0] == 7 && z[1] == -7 && z[2] == 0 && z[4] == 2);
  k->binary[VM_shl][R_s32][FORM_VV](8, z, x, y, NULL);
  CHECK(z[5] == 0 && z[6] == INT32_MIN && z[7] == 0 && z[3] == 0);
  k->binary[VM_shr_arith][R_s32][FORM_VV](8, z, x, y, NULL);
  CHECK(z[5] == -1 && z[6] == 0 && z[2] == -1);
  k->binary[VM_pow][R_s32][FORM_VV](8, z, x, y, NULL);
  CHECK(z[0] == 1 && z[4] == 0 && z[5] == 1 && z[6] == 1 && z[7] == 0);
  k->unary[VM_clz][R_s32](8, z, x, NULL, NULL);
  CHECK(z[0] == 29 && z[1] == 0 && z[6] == 31);
}

/* bf16 and f16 to and from f32: all patterns */
static void check_halves(const vm_kernels *k) {
  static const dtype types[] = {DTYPE_bf16, DTYPE_f16};
  for (size_t t = 0; t < COUNT(types); t++) {
    int bad = 0;
    for (u32 base = 0; base < 65536; base += BLOCK) {
      u16 in[BLOCK], back[BLOCK];
      float f[BLOCK];
      for (u32 i = 0; i < BLOCK; i++) in[i] = (u16)(base + i);
      k->load[types[t]](BLOCK, f, in, NULL, NULL);
      k->store[types[t]](BLOCK, back, f, NULL, NULL);
      for (u32 i = 0; i < BLOCK; i++) {
        double want = num_decode_small(types[t], in[i]);
        bad += isnan(want) ? !isnan(f[i]) : f[i] != want || back[i] != in[i];
      }
    }
    for (u64 x = 0; x < 1ull << 32; x += 3001) { /* rounding */
      float f = num_f32_from_bits((u32)x);
      u16 got;
      k->store[types[t]](1, &got, &f, NULL, NULL);
      bad += !isnan(f) && got != num_encode_small(types[t], f);
    }
    CHECK(bad == 0);
  }
}

static void check_table(void (*fill)(vm_kernels *)) {
  static vm_kernels k;
  k = (vm_kernels){0};
  vm_kernels_add_math(&k);
  fill(&k);
  check_functions(&k);
  check_neighbours(&k);
  check_special_values(&k);
  check_ints(&k);
  check_halves(&k);
}

int main(void) {
  check_table(vm_kernels_fill_base);
#if defined(__x86_64__)
  __builtin_cpu_init();
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    check_table(vm_kernels_fill_v3);
  if (__builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq"))
    check_table(vm_kernels_fill_v4);
#endif
  return UNIT_END();
}
