/* The block VM on integers of up to a byte and on pred: every operation on every pair of
 * values, with any upper bits in memory, against arithmetic on wide integers. */
#include "exec/vm.h"

#include <math.h>

#include "exec/image.h"
#include "num/convert.h"
#include "num/special.h"
#include "tests/unit.h"

static oom_trap trap;

typedef struct narrow {
  dtype type;
  u32 bits;
  bool sign;
} narrow;
static const narrow types[] = {{DTYPE_s4, 4, true},   {DTYPE_u4, 4, false}, {DTYPE_s2, 2, true},
                               {DTYPE_u2, 2, false},  {DTYPE_s8, 8, true},  {DTYPE_u8, 8, false},
                               {DTYPE_pred, 1, false}};

static i64 wrap(const narrow *t, i64 v) {
  u32 unused = 64 - t->bits;
  u64 top = (u64)v << unused;
  return t->sign ? (i64)top >> unused : (i64)(top >> unused);
}
/* Of what lies in memory. */
static i64 value_of(const narrow *t, u8 byte) {
  return t->type == DTYPE_pred ? byte != 0 : wrap(t, byte);
}
static u64 own_bits(const narrow *t, i64 v) { return (u64)v & ((1u << t->bits) - 1); }

/* ---- what each operation means; x and y in range ---- */

typedef i64 meaning(const narrow *t, i64 x, i64 y);

#define MEANS(op, expr)                                                                            \
  static i64 means_##op(const narrow *t, i64 x, i64 y) {                                           \
    (void)t, (void)y;                                                                              \
    return expr;                                                                                   \
  }
#define AMOUNT own_bits(t, y)
#define TOO_FAR (AMOUNT >= t->bits)
MEANS(add, t->type == DTYPE_pred ? x | y : x + y)
MEANS(sub, x - y)
MEANS(mul, x *y)
MEANS(div, y == 0 ? -1 : x / y)
MEANS(rem, y == 0 ? x : x % y)
MEANS(max, x > y ? x : y)
MEANS(min, x < y ? x : y)
MEANS(pow, t->sign ? num_ipow_s64(x, y) : (i64)num_ipow_u64((u64)x, (u64)y))
MEANS(and, x &y)
MEANS(or, x | y)
MEANS(xor, x ^ y)
MEANS(shl, TOO_FAR ? 0 : (i64)((u64)x << AMOUNT))
MEANS(shr_logic, TOO_FAR ? 0 : (i64)(own_bits(t, x) >> AMOUNT))
MEANS(shr_arith, wrap(&(narrow){t->type, t->bits, true}, x) >> (TOO_FAR ? t->bits - 1 : AMOUNT))
MEANS(eq, x == y)
MEANS(ne, x != y)
MEANS(lt, x < y)
MEANS(le, x <= y)
MEANS(gt, x > y)
MEANS(ge, x >= y)
MEANS(abs, x < 0 ? -x : x)
MEANS(neg, -x)
MEANS(sign, (x > 0) - (x < 0))
MEANS(not, ~x)
MEANS(popcnt, __builtin_popcountll(own_bits(t, x)))
MEANS(clz, own_bits(t, x) ? __builtin_clzll(own_bits(t, x)) - 64 + (i64)t->bits : (i64)t->bits)

static meaning *const means[VM_OP_COUNT] = {
#define HAS(op) [VM_##op] = means_##op,
    HAS(add) HAS(sub) HAS(mul) HAS(div) HAS(rem) HAS(max) HAS(min) HAS(pow) HAS(and) HAS(or)
        HAS(xor) HAS(shl) HAS(shr_logic) HAS(shr_arith) HAS(eq) HAS(ne) HAS(lt) HAS(le) HAS(gt)
            HAS(ge) HAS(abs) HAS(neg) HAS(sign) HAS(not ) HAS(popcnt) HAS(clz)};

/* ---- running one operation ---- */

static lower_fault fault;

static vm_unit *lower(arena *a, const vm_spec *spec) {
  fault = (lower_fault){0};
  lower_env e = {.a = a, .k = vm_kernels_get(), .fault = &fault};
  return vm_lower(&e, spec);
}

typedef enum form { VECTORS, SCALAR_RIGHT, CONSTANT_RIGHT, CONSTANTS, FORM_END } form;

/* out = op(x, y) over n elements as they lie in memory; y: one element unless VECTORS. */
static bool run_op(arena *a, const narrow *t, vm_op op, form f, size_t n, u8 *x, u8 *y, u8 *out) {
  prog_builder *b = prog_begin(a, 1, 1);
  vm_code c = {0};
  dtype to = vm_op_infos[op].result == VM_PRED ? DTYPE_pred : t->type;
  u32 u = f == CONSTANTS ? vm_const_bits(b, &c, t->type, x) : vm_load(b, &c, t->type, 0);
  u32 v = f >= CONSTANT_RIGHT ? vm_const_bits(b, &c, t->type, y) : vm_load(b, &c, t->type, 1);
  vm_store(b, &c, 0, vm_emit(b, &c, op, to, u, v, 0));
  if (vm_code_check(&c, 2, NULL, 1, &to, 0)) return false;
  bool scalar[2] = {f == CONSTANTS, f != VECTORS};
  vm_spec spec = {.code = &c, .num_in = 2, .num_out = 1, .in_scalar = scalar};
  vm_unit *unit = lower(a, &spec);
  void **reg = vm_begin(unit, arena_alloc_aligned(a, vm_scratch_bytes(unit, n), 64), n);
  reg[0] = x;
  reg[1] = y;
  reg[2] = out;
  vm_run(unit, reg, n);
  const vm_output *o = &unit->outputs[0];
  for (size_t i = 0; i < n; i++) out[i] = ((u8 *)reg[o->reg])[o->scalar ? 0 : i];
  return true;
}

static int compare(const narrow *t, vm_op op, size_t n, const u8 *x, const u8 *y, bool one_y,
                   const u8 *out) {
  int bad = 0;
  bool is_pred = vm_op_infos[op].result == VM_PRED;
  for (size_t i = 0; i < n; i++) {
    i64 l = value_of(t, x[i]), r = value_of(t, y[one_y ? 0 : i]), want = means[op](t, l, r);
    if (!is_pred) want = wrap(t, want);
    if (out[i] == (u8)want) continue;
    if (bad++ == 0)
      fprintf(stderr, "%s of %s: %d, %d: got %02x, want %02x\n", vm_op_name(op),
              dtype_infos[t->type].name, (int)l, (int)r, out[i], (u8)want);
  }
  return bad;
}

/* x has every value with every upper bits; y one value, its upper bits varied too. */
static int check_op(arena *a, const narrow *t, vm_op op) {
  u8 x[256], y[256], out[256];
  int bad = 0;
  for (u32 i = 0; i < 256; i++) x[i] = (u8)i;
  for (u32 f = 0; f < (t->bits == 8 ? CONSTANTS : FORM_END); f++) /* all pairs of 8 bits: slow */
    for (u32 r = 0; r < 1u << t->bits; r++) {
      size_t n = f == CONSTANTS ? 1 : 256;
      for (u32 i = 0; i < 256; i++) y[i] = (u8)(r | (f == VECTORS ? i : r * 7) << t->bits);
      for (u32 l = 0; l < (n == 1 ? 256 : 1); l++) {
        bad += !run_op(a, t, op, (form)f, n, x + l, y, out);
        bad += compare(t, op, n, x + l, y, f != VECTORS, out);
      }
    }
  return bad;
}

static bool takes(const narrow *t, vm_op op) {
  u8 class = t->type == DTYPE_pred ? VM_CLASS_B : VM_CLASS_I;
  return means[op] && (vm_op_infos[op].classes & class);
}

/* ---- others: converting, reinterpreting ---- */

static void check_moves(arena *a, const narrow *from, const narrow *to, vm_op op) {
  u8 x[256], out[256];
  prog_builder *b = prog_begin(a, 1, 1);
  vm_code c = {0};
  u32 u = vm_load(b, &c, from->type, 0);
  vm_store(b, &c, 0, vm_emit(b, &c, op, to->type, u, 0, 0));
  vm_spec spec = {.code = &c, .num_in = 1, .num_out = 1};
  vm_unit *unit = lower(a, &spec);
  void **reg = vm_begin(unit, arena_alloc_aligned(a, vm_scratch_bytes(unit, 256), 64), 256);
  for (u32 i = 0; i < 256; i++) x[i] = (u8)i;
  reg[0] = x;
  reg[1] = out;
  vm_run(unit, reg, 256);
  memcpy(out, reg[unit->outputs[0].reg], 256);
  int bad = 0;
  for (u32 i = 0; i < 256; i++) bad += out[i] != (u8)wrap(to, value_of(from, x[i]));
  CHECK(bad == 0);
}

/* ---- small floats ---- */

/* out = op(x), where there is one, converted, over all 256 elements. */
static void run_float(arena *a, dtype from, vm_op op, dtype to, const void *x, void *out) {
  prog_builder *b = prog_begin(a, 1, 1);
  vm_code c = {0};
  u32 u = vm_load(b, &c, from, 0);
  if (op) u = vm_emit(b, &c, op, from, u, 0, 0);
  vm_store(b, &c, 0, from == to ? u : vm_emit(b, &c, VM_convert, to, u, 0, 0));
  vm_unit *unit = lower(a, &(vm_spec){.code = &c, .num_in = 1, .num_out = 1});
  void **reg = vm_begin(unit, arena_alloc_aligned(a, vm_scratch_bytes(unit, 256), 64), 256);
  reg[0] = (void *)x;
  reg[1] = out;
  vm_run(unit, reg, 256);
  memcpy(out, reg[unit->outputs[0].reg], 256 * dtype_size(to));
}

/* What follows an operation sees what memory would hold: no -0, no 16 where the type has none. */
static void check_between(arena *a, dtype t, vm_op op) {
  u8 x[256], stored[256];
  float want[256], got[256];
  for (u32 i = 0; i < 256; i++) x[i] = (u8)i;
  run_float(a, t, op, t, x, stored);
  run_float(a, t, (vm_op)0, DTYPE_f32, stored, want);
  run_float(a, t, op, DTYPE_f32, x, got);
  int bad = 0;
  for (u32 i = 0; i < 256; i++)
    bad += memcmp(&want[i], &got[i], 4) != 0 && (want[i] == want[i] || got[i] == got[i]);
  CHECK(bad == 0);
}

static void check_floats(arena *a) {
  static const dtype of[] = {DTYPE_f8e4m3fn,   DTYPE_f8e5m2,     DTYPE_f8e4m3,       DTYPE_f8e3m4,
                             DTYPE_f8e4m3fnuz, DTYPE_f8e5m2fnuz, DTYPE_f8e4m3b11fnuz};
  static const vm_op ops[] = {VM_neg,  VM_abs,        VM_sign,      VM_floor,
                              VM_ceil, VM_round_even, VM_round_afz, VM_sqrt};
  for (size_t t = 0; t < COUNT(of); t++)
    for (size_t o = 0; o < COUNT(ops); o++) check_between(a, of[t], ops[o]);
}

/* By a constant, which a power of two from 1 on has made products: bit for bit fmod's. */
static void check_remainders(arena *a) {
  enum { N = 64 };
  static const double by[] = {1, -1, 2, -8, 0x1p60, 0.5, 3, INFINITY, 0};
  double x[N] = {0, -0.0, 1, -1, 0.5, -3, 7.75, -1e300, 1e19, INFINITY, -INFINITY, NAN, 0x1p60};
  for (u32 i = 13; i < N; i++) x[i] = ldexp((double)i - 40, (int)(i * 7 % 90) - 40) * 1.7;
  for (u32 q = 0; q < 2 * COUNT(by); q++) {
    bool wide = q % 2;
    dtype t = wide ? DTYPE_f64 : DTYPE_f32;
    float narrow[N], out32[N];
    double out[N];
    for (u32 i = 0; i < N; i++) narrow[i] = (float)x[i];
    prog_builder *b = prog_begin(a, 1, 1);
    vm_code c = {0};
    u32 u = vm_load(b, &c, t, 0), k = vm_const_f64(b, &c, t, by[q / 2]);
    vm_store(b, &c, 0, vm_emit(b, &c, VM_rem, t, u, k, 0));
    vm_unit *unit = lower(a, &(vm_spec){.code = &c, .num_in = 1, .num_out = 1});
    void **reg = vm_begin(unit, arena_alloc_aligned(a, vm_scratch_bytes(unit, N), 64), N);
    reg[0] = wide ? (void *)x : (void *)narrow;
    reg[1] = wide ? (void *)out : (void *)out32;
    vm_run(unit, reg, N);
    memcpy(reg[1], reg[unit->outputs[0].reg], N * dtype_size(t));
    for (u32 i = 0; i < N; i++) {
      double want = wide ? fmod(x[i], by[q / 2]) : (double)fmodf(narrow[i], (float)by[q / 2]);
      double got = wide ? out[i] : (double)out32[i];
      CHECK(isnan(want) ? isnan(got) : num_f64_bits(got) == num_f64_bits(want));
    }
  }
}

/* ---- reduce_precision ---- */

static void check_precision(arena *a, u32 exponent, u32 mantissa) {
  static const u32 special[] = {0,          0x80000000, 1,          0x007fffff, 0x00800000,
                                0x7f7fffff, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345,
                                0x7f7f8000, 0x477fefff, 0x477ff000, 0x387fffff, 0x38800000};
  enum { N = 512 };
  static float x[N], out[N];
  u32 seed = 1;
  for (u32 i = 0; i < N; i++) {
    seed = seed * 1664525 + 1013904223;
    u32 bits = i < COUNT(special) ? special[i] : i % 3 ? seed : (seed & 0x8fffffff) | 0x30000000;
    x[i] = num_f32_from_bits(bits);
  }
  prog_builder *b = prog_begin(a, 1, 1);
  vm_code c = {0};
  u32 v = vm_load(b, &c, DTYPE_f32, 0);
  vm_store(b, &c, 0, vm_emit(b, &c, VM_reduce_precision, DTYPE_f32, v, exponent, mantissa));
  vm_unit *unit = lower(a, &(vm_spec){.code = &c, .num_in = 1, .num_out = 1});
  void **reg = vm_begin(unit, arena_alloc_aligned(a, vm_scratch_bytes(unit, N), 64), N);
  reg[0] = x, reg[1] = out;
  vm_run(unit, reg, N);
  memcpy(out, reg[unit->outputs[0].reg], sizeof out);
  u32 bad = 0;
  for (u32 i = 0; i < N; i++)
    bad += num_f32_bits(out[i]) != num_f32_bits(num_reduce_precision_f32(x[i], exponent, mantissa));
  CHECK(bad == 0);
}

/* ---- kernels ---- */

/* Whatever the checks let through has its kernels. */
static void check_kernels(arena *a, vm_op op, dtype t, dtype to) {
  prog_builder *b = prog_begin(a, 1, 1);
  vm_code c = {0};
  u32 x = vm_load(b, &c, t, 0), p = vm_load(b, &c, DTYPE_pred, 1);
  u32 y = op == VM_reduce_precision ? 3 : x;
  vm_store(b, &c, 0, vm_emit(b, &c, op, to, op == VM_select ? p : x, y, x));
  if (vm_code_check(&c, 2, NULL, 1, &to, 0)) return;
  lower(a, &(vm_spec){.code = &c, .num_in = 2, .num_out = 1});
  CHECK(!fault.op);
  if (fault.op) fprintf(stderr, "%s of %s\n", fault.op, dtype_infos[fault.type].name);
}

static void expect_refused(const program *p, const char *why) {
  executor_image *im = NULL;
  status s = exec_image_create(NULL, p, NULL, NULL, &im);
  CHECK(s && !im && status_get_code(s) == STATUS_UNIMPLEMENTED);
  CHECK(str_is(status_message(s), why));
  status_free(s);
}

/* A program that somebody made without the checks is refused, not run into the void. */
static void check_refusals(arena *a) {
  prog_builder *b = prog_begin(a, 1, 1);
  u32 x = prog_param(b, DTYPE_pred, 4), y = prog_result(b, DTYPE_pred, 4, -1);
  i64 four = 4, one = 1;
  prog_loop *l = prog_add_loop(b, 1, &four, STR("a.b"), STR("f.mlir:1:2"));
  u32 v = vm_load(b, &l->code, DTYPE_pred, prog_loop_in(b, l, x, 0, &one));
  v = vm_emit(b, &l->code, VM_add, DTYPE_pred, v, v, 0);
  prog_loop_out(b, l, y, 0, &one, v);
  const program *p = NULL;
  CHECK(!prog_finish(b, &p));
  l->code.instrs[v].op = VM_shl;
  expect_refused(p, "f.mlir:1:2: a.b: cannot run shl of i1");
  l->code.instrs[v].op = VM_clz;
  expect_refused(p, "f.mlir:1:2: a.b: cannot run clz of i1");
  l->code.instrs[v].op = VM_add;
  p->steps[0].kind = STEP_COUNT_;
  expect_refused(p, "f.mlir:1:2: a.b: cannot run a step of this kind");
}

int main(void) {
  arena a;
  if (setjmp(trap.at)) return 1;
  for (size_t t = 0; t < COUNT(types); t++)
    for (u32 op = 0; op < VM_OP_COUNT; op++) {
      arena_init(&a, &mem_system, &trap);
      if (takes(&types[t], (vm_op)op)) CHECK(check_op(&a, &types[t], (vm_op)op) == 0);
      arena_deinit(&a);
    }
  arena_init(&a, &mem_system, &trap);
  for (size_t i = 0; i < COUNT(types); i++)
    for (size_t k = 0; k < COUNT(types); k++) {
      if (types[k].type != DTYPE_pred) check_moves(&a, &types[i], &types[k], VM_convert);
      if (types[i].bits == types[k].bits) check_moves(&a, &types[i], &types[k], VM_bitcast);
    }
  check_floats(&a);
  check_remainders(&a);
  for (u32 e = 1; e <= 9; e++)
    for (u32 m = 0; m <= 24; m++) check_precision(&a, e, m);
  for (u32 op = VM_store + 1; op < VM_OP_COUNT; op++)
    for (u32 t = 0; t < DTYPE_COUNT; t++)
      for (u32 to = 0; to < DTYPE_COUNT; to++) check_kernels(&a, (vm_op)op, (dtype)t, (dtype)to);
  check_refusals(&a);
  arena_deinit(&a);
  return UNIT_END();
}
