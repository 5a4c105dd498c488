/* Random code run by kernels and compiled, on all kinds of values: the same bits, but for which
 * NaN. How often each operation was drawn is printed. */
#include "exec/jit.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exec/denormals.h"
#include "exec/fold_order.h"
#include "num/convert.h"
#include "program/parts.h"
#include "tests/unit.h"

enum { INPUTS = 4, OUTPUTS = 3, MOST = 300, CODES = 3000, INSTRS = 24, MANY = 250 };
enum { MOST_SUMMED = 3000 };

static oom_trap trap;
static u64 seed = 1;
static u32 draw(u32 n) { /* splitmix64 */
  u64 z = seed += 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return (u32)((z ^ (z >> 31)) >> 32) % n;
}
static u64 draw_bits(void) {
  return (u64)draw(1u << 31) << 33 ^ (u64)draw(1u << 31) << 16 ^ draw(1u << 16);
}

static const dtype types[] = {
    DTYPE_f32,      DTYPE_f32,      DTYPE_f32,      DTYPE_f32,        DTYPE_u32,    DTYPE_s32,
    DTYPE_s32,      DTYPE_u32,      DTYPE_pred,     DTYPE_f16,        DTYPE_bf16,   DTYPE_bf16,
    DTYPE_s8,       DTYPE_u8,       DTYPE_s16,      DTYPE_u16,        DTYPE_s4,     DTYPE_u2,
    DTYPE_f64,      DTYPE_s64,      DTYPE_f8e4m3fn, DTYPE_f64,        DTYPE_f64,    DTYPE_f64,
    DTYPE_s64,      DTYPE_u64,      DTYPE_c64,      DTYPE_c64,        DTYPE_c64,    DTYPE_c128,
    DTYPE_c128,     DTYPE_c128,     DTYPE_f8e5m2,   DTYPE_f8e4m3fnuz, DTYPE_f8e3m4, DTYPE_f8e8m0fnu,
    DTYPE_f4e2m1fn, DTYPE_f6e2m3fn, DTYPE_f6e3m2fn};

/* Codes of these only have narrower lanes, as long as all operations have such. */
static const dtype narrow_types[] = {DTYPE_s8,  DTYPE_u8, DTYPE_pred, DTYPE_s4,
                                     DTYPE_s16, DTYPE_u2, DTYPE_u16};
static const vm_op narrow_ops[] = {
    VM_convert, VM_select, VM_clamp,     VM_eq,        VM_ne,    VM_lt,  VM_le,   VM_gt,
    VM_ge,      VM_add,    VM_sub,       VM_mul,       VM_max,   VM_min, VM_and,  VM_or,
    VM_xor,     VM_shl,    VM_shr_arith, VM_shr_logic, VM_neg,   VM_abs, VM_sign, VM_not,
    VM_clamp,   VM_select, VM_shl,       VM_shr_logic, VM_mulhi, VM_div, VM_rem,  VM_popcnt};
static u32 narrow; /* of so many of these types; 0: of any */
static dtype draw_type(void) {
  if (narrow == 1) return DTYPE_pred;
  return narrow ? narrow_types[draw(narrow)] : types[draw(COUNT(types))];
}

/* ---- values ---- */

static const u32 specials[] = {
    0,          0x80000000, 1,          0x807fffff, 0x00800000, 0x3f800000, 0xbf800000, 0x3f000000,
    0xbf000000, 0x7f800000, 0xff800000, 0x7fc00000, 0xffc12345, 0x7f812345, 0x7f7fffff, 0x4b000000,
    0xcb000001, 0x4effffff, 0x4f000000, 0xcf000000, 0x4f7fffff, 0x4f800000, 0x42b17218, 0xc2cff1b5,
    0x42fe0000, 0x3fc00000, 0x40200000, 0xffffffff, 0x7fffffff, 32};

static u32 draw_word(void) {
  switch (draw(5)) {
  case 0:
    return specials[draw(COUNT(specials))];
  case 1:
    return (u32)draw_bits();
  case 2:
    return draw(40);
  default: /* numbers near 1, either sign */
    return (draw(2) << 31) | ((draw(24) + 115) << 23) | draw(1u << 23);
  }
}
/* Numbers of f32, their neighbours, ends of integers' ranges, and small and large ones. */
static double draw_real(u32 w) {
  static const double ends[] = {0x1p63,
                                -0x1p63,
                                0x1p64,
                                0x1p32,
                                0x1p31 - 0.5,
                                -0x1p31 - 1,
                                0x1p-1022,
                                0x1p-1074,
                                -0x1.8p-1023,
                                0x1p1020,
                                0x1p-1021,
                                127.5,
                                0x1.fffffffffffffp-2,
                                0x1.fffffffffffffp51,
                                0x1p-126,
                                -0x1p-140};
  double d = (double)num_f32_from_bits(w);
  switch (draw(4)) {
  case 0:
    return ends[draw(COUNT(ends))];
  case 1:
    return d * (1 + 0x1p-52 * (double)draw(9));
  default:
    return d;
  }
}
static void draw_element(dtype t, void *at) {
  u32 w = draw_word();
  double d = (double)num_f32_from_bits(w);
  u64 bits = draw(2) ? draw_bits() : w;
  if (num_is_small_float(t) && draw(2))
    num_from_f64(t, d, at);
  else if (t == DTYPE_f64 && draw(8))
    d = draw_real(w), memcpy(at, &d, 8);
  else if (dtype_size(t) == 4)
    memcpy(at, &w, 4);
  else if (t == DTYPE_c64)
    memcpy(at, (u32[]){w, draw_word()}, 8);
  else if (t == DTYPE_c128)
    memcpy(at, (double[]){draw_real(w), draw_real(draw_word())}, 16);
  else
    memcpy(at, &bits, dtype_size(t));
}

/* ---- code ---- */

static u32 drawn[VM_OP_COUNT];

/* An earlier value of the type; `loads`: as it came, with the NaN that it is. */
static u32 find_value(const vm_code *c, dtype t, bool loads) {
  u32 at = draw(c->len);
  for (u32 i = 0; i < c->len; i++, at = (at + 1) % c->len) {
    const vm_instr *v = &c->instrs[at];
    if (v->op != VM_store && v->type == t && (!loads || v->op == VM_load)) return at;
  }
  return PROG_NONE;
}

static u8 class_of(dtype t) {
  static const u8 classes[] = {
      [DTYPE_CLASS_FLOAT] = VM_CLASS_F, [DTYPE_CLASS_COMPLEX] = VM_CLASS_C};
  if (t == DTYPE_pred) return VM_CLASS_B;
  return num_int_bits(t) ? VM_CLASS_I : classes[dtype_infos[t].kind];
}

static bool looks_at_nan(vm_op op) {
  return (op >= VM_total_eq && op <= VM_total_ge) || op == VM_bitcast || op == VM_next_after ||
         op == VM_reduce_precision;
}

static void add_instr(prog_builder *b, vm_code *c, vm_op op) {
  dtype t = draw_type(), to = t;
  const vm_op_info *info = &vm_op_infos[op];
  if (op <= VM_iota || op == VM_store || op == VM_reduce_precision) return;
  if (op == VM_complex && t != DTYPE_f32 && t != DTYPE_f64) return;
  if (!(info->classes & class_of(t))) return;
  u32 x = find_value(c, t, looks_at_nan(op)), y = find_value(c, t, looks_at_nan(op)), z = y;
  if (x == PROG_NONE || y == PROG_NONE) return;
  if (info->result == VM_PRED) to = DTYPE_pred;
  if (info->result == VM_COMPLEX) to = t == DTYPE_f64 ? DTYPE_c128 : DTYPE_c64;
  if (info->result == VM_REAL && t == DTYPE_c64) to = DTYPE_f32;
  if (info->result == VM_REAL && t == DTYPE_c128) to = DTYPE_f64;
  if (op == VM_convert) to = draw_type();
  if (op == VM_bitcast) to = t == DTYPE_f32 ? DTYPE_u32 : t == DTYPE_u32 ? DTYPE_f32 : t;
  if (op == VM_bitcast && t == DTYPE_bf16) to = DTYPE_u16;
  if (op == VM_bitcast && t == DTYPE_f64) to = DTYPE_s64;
  if (op == VM_bitcast && t == DTYPE_u64) to = DTYPE_f64;
  if (op == VM_clamp) z = find_value(c, t, false);
  if (op == VM_select) {
    z = y, y = find_value(c, t, false), x = find_value(c, DTYPE_pred, false);
    if (x == PROG_NONE) return;
  }
  if (info->operands < 2) y = 0;
  if (info->operands < 3) z = 0;
  vm_emit(b, c, op, to, x, y, z);
  drawn[op]++;
}

typedef struct code {
  vm_code c;
  dtype in[INPUTS], out[OUTPUTS];
} code;

static code draw_code(arena *a) {
  prog_builder *b = prog_begin(a, 1, 1);
  code r = {0};
  for (u32 i = 0; i < INPUTS; i++) {
    r.in[i] = draw_type();
    vm_load(b, &r.c, r.in[i], i);
  }
  for (u32 i = draw(4); i > 0; i--) {
    u64 bits[2] = {0};
    dtype t = draw_type();
    draw_element(t, bits);
    if (t == DTYPE_f32 && draw(2)) bits[0] &= 0xff800000; /* a power of two */
    vm_const_bits(b, &r.c, t, bits);
  }
  bool many = draw(8) == 0 && !narrow; /* of one or two types, more than there are registers */
  u32 most = many ? MANY : INSTRS;
  static const dtype two[2][2] = {{DTYPE_u32, DTYPE_f32}, {DTYPE_s64, DTYPE_f64}};
  u32 wide = draw(2);
  for (u32 i = 0; many && i < INPUTS; i++) r.c.instrs[i].type = r.in[i] = two[wide][i >> 1];
  for (u32 i = 0; i < 8 * most && r.c.len < most; i++) {
    vm_op op = draw(8) ? (vm_op)draw(VM_OP_COUNT) : VM_convert;
    if (narrow && i % 64) op = narrow_ops[draw(COUNT(narrow_ops))];
    if (!many || !vm_is_heavy(op) || draw(16) == 0) add_instr(b, &r.c, op);
  }
  static const struct {
    dtype t;
    vm_op op;
  } folds[] = {{DTYPE_u32, VM_xor},
               {DTYPE_pred, VM_xor},
               {DTYPE_f32, VM_max},
               {DTYPE_s64, VM_xor},
               {DTYPE_f64, VM_min}};
  u32 values = r.c.len;
  for (u32 f = 0; many && f < COUNT(folds); f++) /* all of them are needed to the end */
    for (u32 v = 0, last = PROG_NONE; v < values; v++)
      if (r.c.instrs[v].type == folds[f].t)
        last = last == PROG_NONE ? v : vm_emit(b, &r.c, folds[f].op, folds[f].t, last, v, 0);
  values = r.c.len;
  for (u32 o = 0; o < OUTPUTS; o++) {
    u32 v = values - 1 - draw(o == 0 ? 1 : values);
    r.out[o] = (dtype)r.c.instrs[v].type;
    vm_store(b, &r.c, o, v);
  }
  return r;
}

/* ---- runs ---- */

typedef struct memory {
  char in[INPUTS][MOST * 16], out[OUTPUTS][MOST * 16];
} memory;

/* Ends of pages, behind which nothing may be read or written. */
static char *ends[INPUTS + OUTPUTS];
static void find_ends(void) {
  size_t page = (size_t)sysconf(_SC_PAGESIZE), size = (MOST * 16 + page - 1) / page * page;
  for (u32 i = 0; i < COUNT(ends); i++) {
    char *p = mmap(NULL, size + page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED || mprotect(p, size, PROT_READ | PROT_WRITE) != 0) exit(1);
    ends[i] = p + size;
  }
}

/* False: what is spread is read by kernels too. */
static bool run_unit(arena *a, const code *c, const vm_spec *spec, jit *j, size_t n, memory *m) {
  lower_fault fault = {0};
  lower_env e = {.a = a, .k = vm_kernels_get(), .fault = &fault, .jit = j};
  const vm_unit *u = vm_lower(&e, spec);
  if (!u) return false;
  CHECK(!fault.op && (!j || jit_seal(j)));
  if (fault.op) fprintf(stderr, "%s\n", fault.op);
  void **reg = vm_begin(u, arena_alloc_aligned(a, vm_scratch_bytes(u, n), 64), n);
  for (u32 i = 0; i < INPUTS; i++) {
    size_t bytes = (n >> (spec->in_spread ? spec->in_spread[i] : 0)) * dtype_size(c->in[i]);
    reg[i] = memcpy(ends[i] - bytes, m->in[i], bytes);
  }
  for (u32 o = 0; o < OUTPUTS; o++) reg[INPUTS + o] = ends[INPUTS + o] - n * dtype_size(c->out[o]);
  if (!fault.op) vm_run(u, reg, n);
  for (u32 o = 0; o < OUTPUTS; o++) {
    size_t width = dtype_size(c->out[o]);
    const vm_output *v = &u->outputs[o];
    const char *from = reg[v->in_place ? INPUTS + o : v->reg];
    for (size_t i = 0; i < n; i++)
      memcpy(m->out[o] + i * width, from + (v->scalar && !v->in_place ? 0 : i * width), width);
  }
  return true;
}

static bool same_element(dtype t, const void *x, const void *y) {
  if (memcmp(x, y, dtype_size(t)) == 0) return true;
  if (t == DTYPE_c64)
    return same_element(DTYPE_f32, x, y) &&
           same_element(DTYPE_f32, (const char *)x + 4, (const char *)y + 4);
  if (t == DTYPE_c128)
    return same_element(DTYPE_f64, x, y) &&
           same_element(DTYPE_f64, (const char *)x + 8, (const char *)y + 8);
  double f = class_of(t) == VM_CLASS_F ? num_to_f64(t, x) : 0;
  return f != f && num_to_f64(t, y) != num_to_f64(t, y);
}

static void print_code(const code *c) {
  for (u32 i = 0; i < c->c.len; i++) {
    const vm_instr *v = &c->c.instrs[i];
    fprintf(stderr, "  v%u:%s = %s %u %u %u\n", i, dtype_infos[v->type].name,
            vm_op_name((vm_op)v->op), v->a, v->b, v->c);
  }
}

static bool compare(const code *c, size_t n, const memory *x, const memory *y) {
  for (u32 o = 0; o < OUTPUTS; o++) {
    size_t width = dtype_size(c->out[o]);
    for (size_t i = 0; i < n; i++) {
      const char *p = x->out[o] + i * width, *q = y->out[o] + i * width;
      if (same_element(c->out[o], p, q)) continue;
      u64 want = 0, got = 0;
      size_t some = width < sizeof want ? width : sizeof want;
      memcpy(&want, p, some), memcpy(&got, q, some);
      fprintf(stderr, "output %u element %zu of %zu: %llx, kernels %llx; inputs", o, i, n,
              (unsigned long long)got, (unsigned long long)want);
      for (u32 k = 0; k < INPUTS; k++) {
        u64 bits = 0;
        memcpy(&bits, x->in[k] + i * dtype_size(c->in[k]), dtype_size(c->in[k]));
        fprintf(stderr, " %llx", (unsigned long long)bits);
      }
      fprintf(stderr, "\n");
      print_code(c);
      return false;
    }
  }
  return true;
}

static memory plain, compiled;
static u32 spread_runs;

/* The same where some inputs have an element for rows of several: with kernels these are laid out.
 */
static bool check_spread(arena *a, const code *c, const vm_spec *spec, bool flushes, size_t n) {
  jit *j = jit_begin(&mem_system, vm_kernels_get(), flushes);
  u8 shifts[INPUTS], most = 0;
  if (!j || !jit_can_spread(j)) {
    jit_end(j);
    return true;
  }
  for (u32 i = 0; i < INPUTS; i++) {
    shifts[i] = spec->in_scalar[i] ? 0 : (u8)draw(8);
    while (n >> shifts[i] == 0) shifts[i]--;
    most = shifts[i] > most ? shifts[i] : most;
  }
  n = n >> most << most;
  compiled = plain;
  for (u32 i = 0; i < INPUTS; i++)
    for (size_t k = n; k-- > 0;) {
      size_t w = dtype_size(c->in[i]);
      memcpy(plain.in[i] + k * w, plain.in[i] + (k >> shifts[i]) * w, w);
    }
  vm_spec of_code = *spec;
  of_code.in_spread = shifts;
  bool ran = run_unit(a, c, &of_code, j, n, &compiled);
  jit_end(j);
  if (!ran) return true;
  spread_runs++;
  run_unit(a, c, spec, NULL, n, &plain);
  return compare(c, n, &plain, &compiled);
}

static bool check_code(arena *a, const code *c, size_t n) {
  bool scalar[INPUTS], direct[OUTPUTS];
  for (u32 i = 0; i < INPUTS; i++) scalar[i] = draw(4) == 0;
  for (u32 o = 0; o < OUTPUTS; o++) direct[o] = draw(2);
  vm_spec spec = {.code = &c->c,
                  .num_in = INPUTS,
                  .num_out = OUTPUTS,
                  .in_scalar = scalar,
                  .out_direct = direct,
                  .elements = draw(2) ? n : 0};
  memset(&plain, 0x5a, sizeof plain);
  for (u32 i = 0; i < INPUTS; i++)
    for (size_t k = 0; k < n; k++) draw_element(c->in[i], plain.in[i] + k * dtype_size(c->in[i]));
  compiled = plain;
  bool flushes = draw(2);
  denormals_flush(flushes);
  run_unit(a, c, &spec, NULL, n, &plain);
  jit *j = jit_begin(&mem_system, vm_kernels_get(), flushes);
  run_unit(a, c, &spec, j, n, &compiled);
  jit_end(j);
  bool fine = compare(c, n, &plain, &compiled) && check_spread(a, c, &spec, flushes, n);
  denormals_flush(false);
  return fine;
}

static void check_random_code(void) {
  /* What is the same for all lanes was read by instructions for lanes of another width. */
  static const u32 once_wrong[] = {7690, 9557, 11961, 30115};
  const char *many = getenv("JIT_TEST_CODES");
  u32 codes = many ? (u32)atoi(many) : CODES;
  arena a;
  if (setjmp(trap.at)) exit(1);
  for (u32 i = 0; i < codes + COUNT(once_wrong); i++) {
    arena_init(&a, &mem_system, &trap);
    static const u32 narrow_codes[] = {1, 3, 4, COUNT(narrow_types)};
    seed = i < codes ? i : once_wrong[i - codes];
    narrow = i < codes && i % 3 == 2 ? narrow_codes[i / 3 % COUNT(narrow_codes)] : 0;
    code c = draw_code(&a);
    const char *why = vm_code_check(&c.c, INPUTS, c.in, OUTPUTS, c.out, 0);
    bool valid = !why, fine = true;
    for (u32 k = 0; k < 3 && valid && fine; k++) fine = check_code(&a, &c, 1 + draw(k ? MOST : 20));
    CHECK(valid && fine);
    if (!fine || !valid)
      fprintf(stderr, "code %u: %s\n", i < codes ? i : once_wrong[i - codes],
              why ? why : "differs");
    arena_deinit(&a);
    if (unit_failed > 3) break;
  }
}

/* A few operations on f32 or f64 whose results are summed up: in the code, and by kernels. */
enum { MOST_SUMS = 256 };
typedef struct summed {
  vm_sums how;
  dtype type;
  size_t n, length;
  double sums[2][MOST_SUMS]; /* of the type: of the result, and of what one operand was */
} summed;

static const double zero = 0; /* of f32, too */
static void sum_values(const vm_kernels *k, const summed *x, const char *values, void *to) {
  vm_rtype t = vm_rtype_of(x->type);
  const fold_kernels *f = k->fold_rows[t];
  const void *rows[FOLD_ROWS];
  for (size_t i = 0; i < FOLD_ROWS; i++) rows[i] = values + i * x->length * dtype_size(x->type);
  if (x->how == SUMS_BLOCK) k->fold[REDUCE_SUM][t](x->n, to, NULL, values);
  if (x->how == SUMS_ROWS) f->sum_each(x->n / x->length, x->length, x->length, to, &zero, values);
  if (x->how == SUMS_COLUMNS) f->sum_rows(x->length, to, rows, false, 1, 0);
}
/* What code has left in the registers. */
static void take_sums(const vm_kernels *k, const vm_unit *u, void **reg, summed *x) {
  for (u32 o = 0; o < u->num_out; o++) {
    const char *out = reg[u->outputs[o].reg];
    if (!u->sums)
      sum_values(k, x, out, x->sums[o]);
    else if (x->how == SUMS_BLOCK)
      memcpy(x->sums[o], out, dtype_size(x->type));
    else if (x->how == SUMS_ROWS)
      k->fold_rows[vm_rtype_of(x->type)]->sum_each(x->n / x->length, 16, x->length, x->sums[o],
                                                   &zero, out);
  }
}

static vm_code draw_sums(prog_builder *b, const summed *s, char *const *in, u32 *num_out) {
  static const dtype from[] = {DTYPE_f32, DTYPE_bf16, DTYPE_f16, DTYPE_s32, DTYPE_f64};
  static const vm_op ops[] = {VM_add, VM_mul, VM_sub, VM_max, VM_exp, VM_neg, VM_tanh};
  bool wide = s->type == DTYPE_f64; /* whose functions are calls */
  vm_code c = {0};
  u32 x[2], many = draw(3) == 0 ? 60 : 1 + draw(4);
  for (u32 i = 0; i < 2; i++) {
    dtype t = from[draw(COUNT(from) - !wide)];
    x[i] = vm_load(b, &c, t, i);
    if (t != s->type) x[i] = vm_emit(b, &c, VM_convert, s->type, x[i], 0, 0);
    for (size_t k = 0; k < s->n; k++) draw_element(t, in[i] + k * dtype_size(t));
  }
  u32 last = vm_emit(b, &c, VM_mul, s->type, x[0], x[1], 0);
  for (u32 i = 0; i < many; i++) {
    vm_op op = ops[draw(COUNT(ops))];
    if (wide && vm_is_heavy(op)) op = VM_abs;
    u32 y = vm_op_infos[op].operands == 2 ? draw(2) ? x[draw(2)] : last : 0;
    last = vm_emit(b, &c, op, s->type, last, y, 0);
  }
  vm_store(b, &c, 0, last);
  *num_out = s->how == SUMS_BLOCK ? 1 : 2;
  if (*num_out > 1) vm_store(b, &c, 1, x[1]);
  return c;
}

static bool check_sum(arena *a, vm_sums how, dtype type, size_t n, size_t length) {
  static char in[2][MOST_SUMMED * 8];
  static double values[2][MOST_SUMMED];
  static summed x[2];
  bool scalar[2] = {draw(4) == 0, false}, flushes = draw(2);
  memset(x, 0, sizeof x);
  x[0].type = x[1].type = type;
  x[0].how = x[1].how = how, x[0].n = x[1].n = n, x[0].length = x[1].length = length;
  vm_spec spec = {.num_in = 2, .in_scalar = scalar, .keep_registers = true, .length = (u32)length};
  u32 pitch[2] = {scalar[0] ? 0 : (u32)length, (u32)length};
  spec.pitch = pitch;
  vm_code c = draw_sums(prog_begin(a, 1, 1), x, (char *[]){in[0], in[1]}, &spec.num_out);
  spec.code = &c;
  spec.elements = draw(2) ? n : 0;
  lower_fault fault = {0};
  lower_env e = {.a = a, .k = vm_kernels_get(), .fault = &fault};
  jit *j = jit_begin(&mem_system, e.k, flushes);
  bool rows = how == SUMS_ROWS && j && !jit_sums_rows(j, (u32)length, vm_rtype_of(type));
  bool sums = j && !rows && ((how == SUMS_BLOCK && type == DTYPE_f32) || jit_sums_parts(j));
  denormals_flush(flushes);
  for (u32 kind = 0; kind < 2; kind++) {
    spec.sums = kind ? how : SUMS_NONE;
    e.jit = kind ? j : NULL;
    const vm_unit *u = vm_lower(&e, &spec);
    CHECK(!fault.op && u->sums == (kind && sums ? how : SUMS_NONE) && (!e.jit || jit_seal(j)));
    void **reg = vm_begin(u, arena_alloc_aligned(a, vm_scratch_bytes(u, n), 64), n);
    bool columns = u->sums == SUMS_COLUMNS;
    reg[0] = in[0], reg[1] = in[1];
    for (u32 o = 0; o < spec.num_out; o++) reg[2 + o] = columns ? x[kind].sums[o] : values[o];
    vm_run(u, reg, columns ? length : n);
    take_sums(e.k, u, reg, &x[kind]);
  }
  denormals_flush(false);
  jit_end(j);
  size_t width = dtype_size(type);
  for (u32 i = 0; i < sizeof x[0].sums / width; i++) {
    const char *got = (char *)x[1].sums + i * width, *want = (char *)x[0].sums + i * width;
    if (same_element(type, want, got)) continue;
    fprintf(stderr, "sum %u of %zu, kind %u, %s: %a, kernels %a\n", i, n, how,
            dtype_infos[type].name, num_to_f64(type, got), num_to_f64(type, want));
    return false;
  }
  return true;
}

static void check_sums(void) {
  arena a;
  if (setjmp(trap.at)) exit(1);
  for (u32 i = 0; i < 1500 && unit_failed < 4; i++) {
    arena_init(&a, &mem_system, &trap);
    seed = i;
    u32 n = FOLD_RUNNING + draw(i % 3 ? 200 : MOST_SUMMED - FOLD_RUNNING);
    size_t row = 16 * (1 + draw(16));
    dtype type = draw(3) ? DTYPE_f32 : DTYPE_f64;
    CHECK(check_sum(&a, SUMS_BLOCK, type, n, 0));
    CHECK(check_sum(&a, SUMS_ROWS, type, row * (1 + draw(7)), row));
    row -= draw(2) ? 0 : draw(16);
    CHECK(check_sum(&a, SUMS_ROWS, type, row * (1 + draw(3000 / (u32)row - 1) % 100), row));
    CHECK(check_sum(&a, SUMS_COLUMNS, type, FOLD_ROWS * row, row));
    arena_deinit(&a);
  }
}

/* A quotient, or a remainder, rounded down, as Python has it: where x and y differ in sign and
 * something is left. Of a variant, the quotient's remainder is another's, and all is as it says. */
static u32 rounded_down(prog_builder *b, vm_code *c, dtype t, u32 x, u32 y, bool rem, u32 variant) {
  u32 zero = vm_const_f64(b, c, t, 0), one = vm_const_f64(b, c, t, 1);
  u32 r = vm_emit(b, c, VM_rem, t, x, y, 0), v = rem ? r : vm_emit(b, c, VM_div, t, x, y, 0);
  u32 left = variant == 1 ? vm_emit(b, c, VM_rem, t, x, vm_const_f64(b, c, t, 6), 0) : r, differ;
  if (rem) {
    u32 below = vm_emit(b, c, VM_lt, DTYPE_pred, variant == 2 ? x : r, zero, 0);
    differ = vm_emit(b, c, VM_ne, DTYPE_pred, below,
                     vm_emit(b, c, VM_lt, DTYPE_pred, y, variant == 3 ? one : zero, 0), 0);
  } else {
    u32 signs[] = {vm_emit(b, c, VM_sign, t, variant == 2 ? left : x, 0, 0),
                   vm_emit(b, c, VM_sign, t, y, 0, 0)};
    differ = vm_emit(b, c, VM_ne, DTYPE_pred, signs[0], signs[1], 0);
  }
  left = vm_emit(b, c, VM_ne, DTYPE_pred, left, zero, 0);
  u32 p = variant & 4 ? vm_emit(b, c, VM_and, DTYPE_pred, left, differ, 0)
                      : vm_emit(b, c, VM_and, DTYPE_pred, differ, left, 0);
  u32 other = vm_emit(b, c, rem ? VM_add : VM_sub, t, v, rem ? y : one, 0);
  return vm_emit(b, c, VM_select, t, p, other, v);
}

/* Quotients and remainders by one constant. */
static void check_divisor(arena *a, dtype t, u64 by, u32 variant) {
  prog_builder *b = prog_begin(a, 1, 1);
  code r = {0};
  u32 x = 0;
  for (u32 i = 0; i < INPUTS; i++) {
    r.in[i] = t;
    x = vm_load(b, &r.c, t, i);
  }
  u64 bits[2] = {by};
  u32 y = vm_const_bits(b, &r.c, t, bits);
  u32 values[] = {vm_emit(b, &r.c, VM_div, t, x, y, 0), vm_emit(b, &r.c, VM_rem, t, x, y, 0)};
  for (u32 i = 0; i < 2 && variant; i++) values[i] = rounded_down(b, &r.c, t, x, y, i, variant - 1);
  for (u32 o = 0; o < OUTPUTS; o++) {
    r.out[o] = t;
    vm_store(b, &r.c, o, values[o % 2]);
  }
  bool fine = check_code(a, &r, MOST);
  CHECK(fine);
  if (!fine)
    fprintf(stderr, "%s by %llu, %u\n", dtype_infos[t].name, (unsigned long long)by, variant);
}

static void check_divisions(void) {
  static const dtype integers[] = {DTYPE_s32, DTYPE_u32, DTYPE_s8,  DTYPE_u8,
                                   DTYPE_s16, DTYPE_u16, DTYPE_s64, DTYPE_u64};
  arena a;
  if (setjmp(trap.at)) exit(1);
  for (u32 t = 0; t < COUNT(integers); t++)
    for (u32 i = 0; i < 300; i++) {
      bool wide = dtype_size(integers[t]) == 8;
      u64 power = 1ull << i % (wide ? 64 : 32);
      u64 by = i < 40    ? (u64)i - 4
               : i < 140 ? power - 1 + i % 3
                         : draw_bits() >> draw(wide ? 64 : 1);
      if (!wide) by = (u32)by;
      arena_init(&a, &mem_system, &trap);
      check_divisor(&a, integers[t], by, t == 0 || i % 8 == 0 ? draw(7) : 0);
      arena_deinit(&a);
    }
}

/* False: nothing is compiled. */
static bool check_all(void) {
  jit *j = jit_begin(&mem_system, vm_kernels_get(), false);
  if (!j) return false;
  jit_end(j);
  check_random_code();
  check_sums();
  check_divisions();
  return true;
}

#if defined(__x86_64__)
/* Beside the processor's best instructions AVX2, in a process that has only that. */
static void check_avx2(void) {
  pid_t child = getenv("TERRAZZO_KERNELS") ? -1 : fork();
  int how = 0;
  if (child == 0) {
    setenv("TERRAZZO_KERNELS", "v3", 1);
    check_all();
    _exit(unit_failed != 0);
  }
  if (child > 0) CHECK(waitpid(child, &how, 0) == child && how == 0);
}
#endif

int main(void) {
  find_ends();
#if defined(__x86_64__)
  check_avx2();
#endif
  if (!check_all()) {
    printf("nothing is compiled for this processor, or TERRAZZO_JIT=0\n");
    printf("0 passed, 0 failed, 1 skipped\n");
    return 0;
  }
  for (u32 op = 0; op < VM_OP_COUNT; op++)
    if (drawn[op]) printf("%s %u, ", vm_op_name((vm_op)op), drawn[op]);
  printf("%u with rows of one element\n", spread_runs);
  return UNIT_END();
}
