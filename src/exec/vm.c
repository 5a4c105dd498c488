/* From SSA to kernel calls: one pass that emits calls on virtual registers, one that lets
 * outputs be computed in place, one that gives scratch slots by last use. */
#include "exec/vm.h"

#include "num/convert.h"

typedef struct value {
  u32 reg;
  bool scalar;
  bool stored; /* a small float as it lies in memory: what only moves keeps every bit of a NaN */
} value;

typedef struct lowering {
  arena *a;
  const vm_kernels *k;
  const vm_spec *spec;
  const vm_instr *at; /* being lowered */
  lower_fault *fault;
  value *values; /* by SSA index */
  VEC(vm_call) calls;
  VEC(const void *) consts;
  VEC(vm_iota_use) iotas;
  VEC(u8) width; /* of virtual register i */
  vm_output *outputs;
  u32 num_temps;
} lowering;

/* Registers while lowering: inputs, then outputs; constants and temporaries are in these
 * ranges until they are numbered for good. */
enum { CONST_BASE = 1u << 28, TEMP_BASE = 1u << 29 };

static u32 add_const(lowering *l, const void *data, size_t n) {
  void *copy = arena_alloc_aligned(l->a, n < 16 ? 16 : n, 16);
  memset(copy, 0, 16);
  memcpy(copy, data, n);
  VEC_PUSH(l->a, l->consts, (const void *)copy);
  return CONST_BASE + (u32)l->consts.len - 1;
}
static u32 add_temp(lowering *l, u32 width) {
  VEC_PUSH(l->a, l->width, (u8)width);
  return TEMP_BASE + l->num_temps++;
}

static void note_fault(lowering *l) {
  const vm_op_info *op = &vm_op_infos[l->at->op];
  const vm_instr *typed = op->operands ? &l->spec->code->instrs[l->at->a] : l->at;
  *l->fault = (lower_fault){op->name, (dtype)typed->type};
}

static value call(lowering *l, kern_fn *fn, u32 width, bool scalar, u32 a, u32 b, u32 c) {
  u32 d = add_temp(l, width);
  if (!fn && !l->fault->op) note_fault(l);
  VEC_PUSH(l->a, l->calls, (vm_call){.fn = fn, .d = d, .a = a, .b = b, .c = c, .scalar = scalar});
  return (value){d, scalar, false};
}

static u32 dtype_width(dtype t) { return vm_rtype_size(vm_rtype_of(t)); }

static value splat(lowering *l, value v, u32 width) {
  if (!v.scalar) return v;
  return call(l, l->k->splat[vm_log2_width(width)], width, false, v.reg, PROG_NONE, PROG_NONE);
}

/* ---- one function per shape of operation ---- */

static value wrap(lowering *l, dtype t, value v) {
  if (!l->k->wrap[t]) return v;
  return call(l, l->k->wrap[t], 1, v.scalar, v.reg, PROG_NONE, PROG_NONE);
}

/* Whether values of the type stay as they are stored until something computes with them. */
static bool stays_stored(dtype t) { return num_is_small_float(t) && t != DTYPE_f4e2m1fn; }

static value lower_load(lowering *l, const vm_instr *i) {
  bool scalar = l->spec->in_scalar && l->spec->in_scalar[i->a];
  value v = {i->a, scalar, !l->spec->registers && stays_stored((dtype)i->type)};
  kern_fn *fn = l->k->load[i->type] ? l->k->load[i->type] : l->k->clean[i->type];
  if (l->spec->registers || v.stored || !fn) return v;
  return call(l, fn, dtype_width((dtype)i->type), scalar, v.reg, PROG_NONE, PROG_NONE);
}

/* The value of instruction `at` in a register, where computations take it. */
static value loaded(lowering *l, u32 at) {
  value *v = &l->values[at];
  const vm_instr *i = &l->spec->code->instrs[at];
  if (v->stored && i->op == VM_constant) {
    float f = (float)num_to_f64((dtype)i->type, &l->spec->code->consts[i->a]);
    *v = (value){add_const(l, &f, 4), true, false};
  }
  if (v->stored) *v = call(l, l->k->load[i->type], 4, v->scalar, v->reg, PROG_NONE, PROG_NONE);
  return *v;
}

/* The value as it lies in memory. */
static value as_stored(lowering *l, dtype t, value v) {
  if (v.stored || !num_is_small_float(t)) return v;
  v = call(l, l->k->store[t], (u32)dtype_size(t), v.scalar, v.reg, PROG_NONE, PROG_NONE);
  v.stored = true;
  return v;
}

static value lower_constant(lowering *l, const vm_instr *i) {
  vm_const c = l->spec->code->consts[i->a], clean = c;
  if (num_is_small_float((dtype)i->type)) return (value){add_const(l, &c, 16), true, true};
  if (dtype_size((dtype)i->type) == 1) num_convert((dtype)i->type, &c, (dtype)i->type, &clean);
  return (value){add_const(l, &clean, 16), true, false};
}

/* Rounds an f32 register to a small format. */
static value round_small(lowering *l, dtype t, value v) {
  if (l->k->round[t]) return call(l, l->k->round[t], 4, v.scalar, v.reg, PROG_NONE, PROG_NONE);
  value stored = call(l, l->k->store[t], (u32)dtype_size(t), v.scalar, v.reg, PROG_NONE, PROG_NONE);
  return call(l, l->k->load[t], 4, v.scalar, stored.reg, PROG_NONE, PROG_NONE);
}
static value lower_iota(lowering *l, const vm_instr *i) {
  dtype t = (dtype)i->type;
  bool scalar = l->spec->dim_scalar && l->spec->dim_scalar[i->a];
  vm_rtype r = vm_rtype_of(t);
  bool is_complex = r == R_c64 || r == R_c128;
  if (is_complex) r = r == R_c64 ? R_f32 : R_f64;
  u32 reg = add_temp(l, vm_rtype_size(r));
  VEC_PUSH(l->a, l->iotas, (vm_iota_use){.dim = i->a, .reg = reg, .type = r, .scalar = scalar});
  value v = {reg, scalar};
  if (is_complex) {
    vm_rtype to = vm_rtype_of(t);
    return call(l, l->k->convert[to][r], vm_rtype_size(to), scalar, reg, PROG_NONE, PROG_NONE);
  }
  return num_is_small_float(t) ? round_small(l, t, v) : wrap(l, t, v);
}

/* The type an element has in a register. */
static dtype register_dtype(dtype t) {
  if (num_is_small_float(t)) return DTYPE_f32;
  if (t == DTYPE_s4 || t == DTYPE_s2) return DTYPE_s8;
  return t == DTYPE_u4 || t == DTYPE_u2 ? DTYPE_u8 : t;
}

static value convert_any(lowering *l, dtype from, dtype to, value v) {
  u8 types[2] = {(u8)register_dtype(from), (u8)to};
  return call(l, l->k->any, (u32)dtype_size(to), v.scalar, v.reg, add_const(l, types, 2),
              PROG_NONE);
}

static value lower_convert(lowering *l, dtype from, dtype to, value v) {
  vm_rtype rf = vm_rtype_of(from), rt = vm_rtype_of(to);
  bool exact_in_f32 = rf == R_f32 || (num_int_bits(from) && num_int_bits(from) <= 16);
  if (from == to) return v;
  if (num_is_small_float(to)) {
    if (!exact_in_f32) {
      value stored = convert_any(l, from, to, v);
      return call(l, l->k->load[to], 4, v.scalar, stored.reg, PROG_NONE, PROG_NONE);
    }
    if (rf != R_f32)
      v = call(l, l->k->convert[R_f32][rf], 4, v.scalar, v.reg, PROG_NONE, PROG_NONE);
    return round_small(l, to, v);
  }
  bool to_subbyte = l->k->wrap[to] != NULL;
  if (to_subbyte && !num_int_bits(from)) return convert_any(l, from, to, v);
  if (rf == rt) return wrap(l, to, v);
  v = call(l, l->k->convert[rt][rf], vm_rtype_size(rt), v.scalar, v.reg, PROG_NONE, PROG_NONE);
  return wrap(l, to, v);
}

static value lower_bitcast(lowering *l, dtype from, dtype to, value v) {
  v = as_stored(l, from, v);
  v.stored = stays_stored(to);
  if (to == DTYPE_f4e2m1fn)
    return call(l, l->k->load[to], 4, v.scalar, v.reg, PROG_NONE, PROG_NONE);
  return v.stored ? v : wrap(l, to, v);
}

static value lower_binary_on(lowering *l, u32 op, vm_rtype r, u32 width, value x, value y, u32 c) {
  kern_fn *const *forms = l->k->binary[op][r];
  bool scalar = x.scalar && y.scalar;
  if (!scalar && x.scalar && !forms[FORM_SV]) x = splat(l, x, vm_rtype_size(r));
  if (!scalar && y.scalar && !forms[FORM_VS]) y = splat(l, y, vm_rtype_size(r));
  u32 form = x.scalar == y.scalar ? FORM_VV : x.scalar ? FORM_SV : FORM_VS;
  return call(l, forms[form], width, scalar, x.reg, y.reg, c);
}

/* Brings a result into its type: sub-byte integers wrap, small floats round after every
 * operation, as XLA:CPU and StableHLO have it. (Reductions may keep f32: vm_reduces_wide.)
 * Where there is no -0, or the largest number is no integer, what is exact elsewhere rounds too. */
static value settle(lowering *l, const vm_instr *i, value v) {
  static const bool exact[VM_OP_COUNT] = {
      [VM_max] = true,        [VM_min] = true,       [VM_neg] = true,       [VM_abs] = true,
      [VM_sign] = true,       [VM_real] = true,      [VM_floor] = true,     [VM_ceil] = true,
      [VM_round_even] = true, [VM_round_afz] = true, [VM_next_after] = true};
  static const bool never_exact[DTYPE_COUNT] = {[DTYPE_f8e4m3fnuz] = true,
                                                [DTYPE_f8e5m2fnuz] = true,
                                                [DTYPE_f8e4m3b11fnuz] = true,
                                                [DTYPE_f8e3m4] = true};
  dtype t = (dtype)i->type;
  bool wide = l->spec->registers && vm_reduces_wide(t);
  if (num_is_small_float(t) && !wide && (!exact[i->op] || never_exact[t]))
    return round_small(l, t, v);
  return wrap(l, t, v);
}

/* The operand of an operation that looks at bits above its type's: as the type of the same width
 * whose values have there what the operation expects. */
static value spread(lowering *l, u32 op, dtype t, value x) {
  static const dtype with_sign[DTYPE_COUNT] = {[DTYPE_u4] = DTYPE_s4, [DTYPE_u2] = DTYPE_s2};
  static const dtype with_zeros[DTYPE_COUNT] = {[DTYPE_s4] = DTYPE_u4, [DTYPE_s2] = DTYPE_u2};
  static const dtype *const wanted[VM_OP_COUNT] = {[VM_shr_arith] = with_sign,
                                                   [VM_shr_logic] = with_zeros,
                                                   [VM_popcnt] = with_zeros,
                                                   [VM_clz] = with_zeros};
  dtype as = wanted[op] ? wanted[op][t] : DTYPE_pred;
  return as == DTYPE_pred ? x : wrap(l, as, x);
}

/* Leading zeros were counted in a byte. */
static value fewer_zeros(lowering *l, dtype t, value x) {
  u8 above = (u8)(8 - num_int_bits(t));
  value n = {add_const(l, &above, 1), true};
  return lower_binary_on(l, VM_sub, vm_rtype_of(t), 1, x, n, PROG_NONE);
}

static value lower_binary(lowering *l, const vm_instr *i, dtype t0, value x, value y) {
  u32 c = PROG_NONE;
  x = spread(l, i->op, t0, x);
  if (i->op == VM_next_after) c = add_const(l, &t0, sizeof t0);
  value v = lower_binary_on(l, i->op, vm_rtype_of(t0), dtype_width((dtype)i->type), x, y, c);
  return settle(l, i, v);
}

static value lower_select(lowering *l, const vm_instr *i) {
  value p = loaded(l, i->a), x = l->values[i->b], y = l->values[i->c];
  dtype t = (dtype)i->type;
  bool stored = (x.stored || y.stored) && (x.stored || x.scalar) && (y.stored || y.scalar);
  x = stored ? as_stored(l, t, x) : loaded(l, i->b);
  y = stored ? as_stored(l, t, y) : loaded(l, i->c);
  u32 width = stored ? (u32)dtype_size(t) : dtype_width(t);
  bool scalar = p.scalar && x.scalar && y.scalar;
  if (!scalar) p = splat(l, p, 1);
  u32 form = scalar ? 0 : (u32)x.scalar * 2 + y.scalar;
  value v = call(l, l->k->select[vm_log2_width(width)][form], width, scalar, p.reg, x.reg, y.reg);
  v.stored = stored;
  return v;
}

static value lower_clamp(lowering *l, const vm_instr *i, value low, value x, value high) {
  vm_rtype r = vm_rtype_of((dtype)i->type);
  u32 width = vm_rtype_size(r);
  value v = lower_binary_on(l, VM_max, r, width, x, low, PROG_NONE);
  return lower_binary_on(l, VM_min, r, width, v, high, PROG_NONE);
}

static value lower_unary(lowering *l, const vm_instr *i, dtype t0, value x) {
  u32 b = PROG_NONE, bits[3] = {i->b, i->c, t0};
  if (i->op == VM_reduce_precision) b = add_const(l, bits, sizeof bits);
  kern_fn *fn = l->k->unary[i->op][vm_rtype_of(t0)];
  x = spread(l, i->op, t0, x);
  value v = call(l, fn, dtype_width((dtype)i->type), x.scalar, x.reg, b, PROG_NONE);
  if (i->op == VM_clz && l->k->wrap[t0]) v = fewer_zeros(l, t0, v);
  return settle(l, i, v);
}

static void lower_store(lowering *l, const vm_instr *i) {
  dtype t = (dtype)i->type;
  bool keep = l->spec->keep_registers;
  value v = keep ? loaded(l, i->a) : as_stored(l, t, l->values[i->a]);
  u32 width = v.stored ? (u32)dtype_size(t) : dtype_width(t);
  if (keep && v.scalar) v = splat(l, v, width);
  l->outputs[i->b] = (vm_output){.reg = v.reg, .scalar = v.scalar, .width = width};
}

static value lower_instr(lowering *l, const vm_instr *i) {
  l->at = i;
  const vm_instr *all = l->spec->code->instrs;
  const vm_op_info *op = &vm_op_infos[i->op];
  dtype t0 = op->operands ? (dtype)all[i->a].type : DTYPE_token;
  bool moves = i->op == VM_bitcast || i->op == VM_select || i->op == VM_store ||
               (i->op == VM_real && i->type == t0);
  u32 args = moves ? 0 : op->operands;
  value x = args > 0 ? loaded(l, i->a) : (value){0};
  value y = args > 1 ? loaded(l, i->b) : (value){0};
  value z = args > 2 ? loaded(l, i->c) : (value){0};
  switch (i->op) {
  case VM_load:
    return lower_load(l, i);
  case VM_constant:
    return lower_constant(l, i);
  case VM_iota:
    return lower_iota(l, i);
  case VM_convert:
    return lower_convert(l, t0, (dtype)i->type, x);
  case VM_real:
    return moves ? l->values[i->a] : lower_unary(l, i, t0, x);
  case VM_bitcast:
    return lower_bitcast(l, t0, (dtype)i->type, l->values[i->a]);
  case VM_select:
    return lower_select(l, i);
  case VM_clamp:
    return lower_clamp(l, i, x, y, z);
  case VM_store:
    lower_store(l, i);
    return (value){0};
  default:
    return op->operands == 1 ? lower_unary(l, i, t0, x) : lower_binary(l, i, t0, x, y);
  }
}

/* ---- outputs in place ---- */

static bool reads(const vm_call *c, u32 reg) { return c->a == reg || c->b == reg || c->c == reg; }

/* Bytes an element of input `in` as it lies in memory. */
static u32 input_width(const lowering *l, u32 in) {
  const vm_code *c = l->spec->code;
  for (u32 i = 0; i < c->len; i++)
    if (c->instrs[i].op == VM_load && c->instrs[i].a == in)
      return l->spec->registers ? dtype_width((dtype)c->instrs[i].type)
                                : (u32)dtype_size((dtype)c->instrs[i].type);
  return 0;
}

/* An output that is an input as it came is copied if that lies where another output goes: outputs
 * are written one after the other. */
static void keep_apart(lowering *l, u32 o) {
  static const i64 one = 1;
  vm_output *out = &l->outputs[o];
  bool overwritten = false;
  if (!l->spec->out_overlaps || out->reg >= l->spec->num_in) return;
  for (u32 other = 0; other < l->spec->num_out; other++)
    overwritten |= other != o && l->spec->out_overlaps[other] >> out->reg & 1;
  if (overwritten)
    out->reg = call(l, l->k->stride[vm_log2_width(out->width)], out->width, out->scalar, out->reg,
                    add_const(l, &one, sizeof one), PROG_NONE)
                   .reg;
}

/* Lets the call that makes output o write to its memory, if nobody still needs what is there. */
static void place_output(lowering *l, u32 o) {
  const vm_spec *s = l->spec;
  vm_output *out = &l->outputs[o];
  if (!s->out_direct || !s->out_direct[o] || out->scalar || out->reg < TEMP_BASE) return;
  size_t def = l->calls.len;
  for (size_t i = 0; i < l->calls.len; i++)
    if (l->calls.data[i].d == out->reg) def = i;
  if (def == l->calls.len) return; /* an iota */
  u64 overlaps = s->out_overlaps ? s->out_overlaps[o] : 0;
  for (size_t i = def; i < l->calls.len; i++)
    for (u32 in = 0; in < s->num_in; in++) {
      if (!(overlaps >> in & 1) || !reads(&l->calls.data[i], in)) continue;
      /* the defining call itself may read it: element by element, of equal width */
      if (i > def || out->width != input_width(l, in)) return;
    }
  for (u32 other = 0; other < s->num_out; other++)
    if (l->outputs[other].reg < s->num_in && (overlaps >> l->outputs[other].reg & 1)) return;
  u32 from = out->reg, to = s->num_in + o;
  for (size_t i = 0; i < l->calls.len; i++) {
    vm_call *c = &l->calls.data[i];
    if (c->d == from) c->d = to;
    if (c->a == from) c->a = to;
    if (c->b == from) c->b = to;
    if (c->c == from) c->c = to;
  }
  for (u32 other = 0; other < s->num_out; other++)
    if (l->outputs[other].reg == from) l->outputs[other].reg = to;
  out->in_place = true;
}

/* ---- scratch slots ---- */

typedef struct slots {
  u32 *last, *slot; /* by temp */
  VEC(u32) free;
  u32 count;
} slots;

static void note_use(slots *s, u32 reg, u32 at) {
  if (reg != PROG_NONE && reg >= TEMP_BASE) s->last[reg - TEMP_BASE] = at;
}
static u32 take_slot(slots *s, u32 temp) {
  if (s->free.len)
    s->slot[temp] = s->free.data[--s->free.len];
  else
    s->slot[temp] = s->count++;
  return s->slot[temp];
}

/* Slots live from their call (an iota: from the start) to the last call that reads them, or to
 * the end where an output is taken from them. */
static slots assign_slots(lowering *l) {
  slots s = {.last = arena_zalloc(l->a, (l->num_temps + 1) * sizeof(u32)),
             .slot = arena_zalloc(l->a, (l->num_temps + 1) * sizeof(u32))};
  u32 n = (u32)l->calls.len;
  for (u32 i = 0; i < n; i++) {
    note_use(&s, l->calls.data[i].a, i);
    note_use(&s, l->calls.data[i].b, i);
    note_use(&s, l->calls.data[i].c, i);
  }
  for (u32 o = 0; o < l->spec->num_out; o++) note_use(&s, l->outputs[o].reg, n);
  for (size_t i = 0; i < l->iotas.len; i++) {
    take_slot(&s, l->iotas.data[i].reg - TEMP_BASE);
    s.last[l->iotas.data[i].reg - TEMP_BASE] = n; /* filled before the calls; kept */
  }
  for (u32 i = 0; i < n; i++) {
    const vm_call *c = &l->calls.data[i];
    if (c->d != PROG_NONE && c->d >= TEMP_BASE) take_slot(&s, c->d - TEMP_BASE);
    u32 args[3] = {c->a, c->b, c->c};
    for (u32 k = 0; k < 3; k++) {
      bool repeated = (k > 0 && args[k] == args[0]) || (k > 1 && args[k] == args[1]);
      if (args[k] == PROG_NONE || args[k] < TEMP_BASE || repeated) continue;
      if (s.last[args[k] - TEMP_BASE] == i) VEC_PUSH(l->a, s.free, s.slot[args[k] - TEMP_BASE]);
    }
  }
  return s;
}

static u32 final_reg(const vm_unit *u, const slots *s, u32 reg) {
  if (reg == PROG_NONE) return u->num_regs - 1;
  if (reg >= TEMP_BASE) return u->first_slot + s->slot[reg - TEMP_BASE];
  if (reg >= CONST_BASE) return u->first_const + reg - CONST_BASE;
  return reg;
}

/* Which instructions a store depends on. */
static const bool *find_needed(arena *a, const vm_code *code) {
  bool *needed = arena_zalloc(a, code->len + 1);
  for (u32 i = code->len; i-- > 0;) {
    const vm_instr *v = &code->instrs[i];
    u32 args[] = {v->a, v->b, v->c};
    /* an iota is kept: the caller counts them */
    needed[i] |= v->op == VM_store || v->op == VM_iota;
    for (u32 k = 0; needed[i] && k < vm_op_infos[v->op].operands; k++) needed[args[k]] = true;
  }
  return needed;
}

vm_unit *vm_lower(const lower_env *e, const vm_spec *spec) {
  const vm_code *code = spec->code;
  arena *a = e->a;
  lowering l = {.a = a, .k = e->k, .spec = spec, .fault = e->fault};
  l.values = ARENA_ARRAY(a, value, code->len + 1);
  l.outputs = arena_zalloc(a, (spec->num_out + 1) * sizeof(vm_output));
  const bool *needed = find_needed(a, code);
  for (u32 i = 0; i < code->len; i++)
    if (needed[i]) l.values[i] = lower_instr(&l, &code->instrs[i]);
  for (u32 o = 0; o < spec->num_out; o++) keep_apart(&l, o);
  for (u32 o = 0; o < spec->num_out; o++) place_output(&l, o);
  slots s = assign_slots(&l);
  vm_unit *u = ARENA_NEW(a, vm_unit);
  u->num_in = spec->num_in;
  u->num_out = spec->num_out;
  u->first_const = u->num_in + u->num_out;
  u->num_consts = (u32)l.consts.len;
  u->consts = l.consts.data;
  u->first_slot = u->first_const + u->num_consts;
  u->num_slots = s.count;
  u->num_regs = u->first_slot + u->num_slots + 1; /* the last is NULL */
  u->width = 1;
  for (u32 i = 0; i < l.num_temps; i++)
    if (l.width.data[i] > u->width) u->width = l.width.data[i];
  u->calls = l.calls.data;
  u->num_calls = (u32)l.calls.len;
  for (u32 i = 0; i < u->num_calls; i++) {
    vm_call *c = &u->calls[i];
    c->d = final_reg(u, &s, c->d);
    c->a = final_reg(u, &s, c->a);
    c->b = final_reg(u, &s, c->b);
    c->c = final_reg(u, &s, c->c);
  }
  u->iotas = l.iotas.data;
  u->num_iotas = (u32)l.iotas.len;
  for (u32 i = 0; i < u->num_iotas; i++) u->iotas[i].reg = final_reg(u, &s, u->iotas[i].reg);
  u->outputs = l.outputs;
  for (u32 o = 0; o < u->num_out; o++) u->outputs[o].reg = final_reg(u, &s, u->outputs[o].reg);
  return u;
}

static size_t slot_bytes(const vm_unit *u, size_t n) { return align_up(n * u->width, 64) + 64; }

size_t vm_scratch_bytes(const vm_unit *u, size_t n) {
  return align_up(u->num_regs * sizeof(void *), 64) + u->num_slots * slot_bytes(u, n) + 64;
}

size_t vm_block_size(const vm_unit *u) {
  size_t per_element = (size_t)(u->num_slots + 2) * u->width, n = 32768 / per_element;
  n = n > 2048 ? 2048 : n < 256 ? 256 : n;
  return n & ~(size_t)63;
}

void **vm_begin(const vm_unit *u, char *scratch, size_t n) {
  void **reg = (void **)scratch;
  char *slot = scratch + align_up(u->num_regs * sizeof(void *), 64);
  for (u32 i = 0; i < u->num_consts; i++) reg[u->first_const + i] = (void *)(uintptr_t)u->consts[i];
  for (u32 i = 0; i < u->num_slots; i++) reg[u->first_slot + i] = slot + i * slot_bytes(u, n);
  reg[u->num_regs - 1] = NULL;
  return reg;
}
