/* From calls on virtual registers to a unit: one pass lets outputs be computed in place, one gives
 * scratch slots by last use. What the calls are, vm_legalize.c says. */
#include "exec/vm.h"

#include "exec/jit.h"
#include "exec/jit_complex.h"
#include "exec/vm_legalize.h"

/* ---- outputs in place ---- */

static bool reads(const vm_call *c, u32 reg) { return c->a == reg || c->b == reg || c->c == reg; }

/* Bytes an element of input `in` as it lies in memory. */
static u32 input_width(const vm_calls *l, u32 in) {
  const vm_code *c = l->spec->code;
  for (u32 i = 0; i < c->len; i++)
    if (c->instrs[i].op == VM_load && c->instrs[i].a == in)
      return l->spec->registers ? vm_width_of((dtype)c->instrs[i].type)
                                : (u32)dtype_size((dtype)c->instrs[i].type);
  return 0;
}

/* An output that is an input as it came is copied if that lies where another output goes: outputs
 * are written one after the other. */
static void keep_apart(vm_calls *l, u32 o) {
  static const i64 one = 1;
  vm_output *out = &l->outputs[o];
  bool overwritten = false;
  if (!l->spec->out_overlaps || out->reg >= l->spec->num_in) return;
  for (u32 other = 0; other < l->spec->num_out; other++)
    overwritten |= other != o && l->spec->out_overlaps[other] >> out->reg & 1;
  if (overwritten)
    out->reg = vm_add_call(l, (vm_what){CALL_copy, (u8)vm_log2_width(out->width), 0, 0}, out->width,
                           out->scalar, out->reg, vm_add_const(l, &one, sizeof one));
}

/* Lets the call that makes output o write to its memory, if nobody still needs what is there. */
static void place_output(vm_calls *l, u32 o) {
  const vm_spec *s = l->spec;
  vm_output *out = &l->outputs[o];
  if (!s->out_direct || !s->out_direct[o] || out->scalar || out->reg < TEMP_BASE) return;
  size_t def = l->calls.len;
  for (size_t i = 0; i < l->calls.len; i++)
    if (l->calls.data[i].d == out->reg) def = i;
  if (def == l->calls.len) return; /* an iota */
  u64 overlaps = s->out_overlaps ? s->out_overlaps[o] : 0;
  for (size_t i = 0; i < l->calls.len; i++)
    for (u32 in = 0; in < s->num_in; in++) {
      if (!(overlaps >> in & 1) || !reads(&l->calls.data[i], in)) continue;
      /* the defining call and what is compiled with it may read it: element by element, of equal
       * width */
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

/* ---- runs of calls that are compiled ---- */

/* What one element is to all of a block comes first, so that it does not part the others. */
static void scalars_first(vm_calls *l) {
  vm_call *calls = ARENA_ARRAY(l->a, vm_call, l->calls.len + 1);
  size_t n = 0;
  for (u32 vector = 0; vector < 2; vector++)
    for (size_t i = 0; i < l->calls.len; i++)
      if (l->calls.data[i].scalar == !vector) calls[n++] = l->calls.data[i];
  l->calls.data = calls;
  l->calls.cap = n + 1;
}

/* Groups of calls, in order: one that is not compiled is a group of its own. */
typedef struct groups {
  u32 *begin, n; /* group g: calls begin[g] to begin[g + 1] */
  bool *compiled;
} groups;

static bool knows(const vm_calls *l, const jit *j, const vm_call *c) {
  bool is_const = c->b >= CONST_BASE && c->b < TEMP_BASE;
  return jit_knows(j, c, is_const ? l->consts.data[c->b - CONST_BASE] : NULL);
}
static groups group_calls(const vm_calls *l, const jit *j) {
  u32 n = (u32)l->calls.len, end;
  groups g = {.begin = ARENA_ARRAY(l->a, u32, n + 1), .compiled = arena_zalloc(l->a, n + 1)};
  for (u32 i = 0; i < n; i = end) {
    const vm_call *c = &l->calls.data[i];
    for (end = i; j && end < n && c[end - i].scalar == c->scalar && knows(l, j, &c[end - i]);)
      end++;
    g.compiled[g.n] = end > i && jit_pays(j, c, end - i);
    if (!g.compiled[g.n]) end = i + 1;
    g.begin[g.n++] = i;
  }
  g.begin[g.n] = n;
  return g;
}

/* Sums are the last calls, one an output. */
static void remove_sums(vm_calls *l) {
  for (u32 o = l->spec->num_out; o-- > 0;) l->outputs[o].reg = l->calls.data[--l->calls.len].a;
}

/* Makes outputs their sums, if what computes them is compiled with that: for all but whole blocks
 * inputs may be among them. For columns it must be all that is computed: kernels would do the first
 * of its rows only. */
static bool add_sums(vm_calls *l, const jit *j) {
  const vm_spec *s = l->spec;
  size_t before = l->calls.len;
  vm_rtype t = l->outputs[0].width == 8 ? R_f64 : R_f32;
  bool parts = s->sums != SUMS_BLOCK || t == R_f64;
  if (!s->sums || (parts && !jit_sums_parts(j))) return false;
  if (s->sums == SUMS_ROWS && !jit_sums_rows(j, s->length, t)) return false;
  for (u32 o = 0; o < s->num_out; o++) {
    u32 width = l->outputs[o].width;
    vm_what is = {CALL_sum, 0, width == 8 ? R_f64 : R_f32, 0};
    u32 to = vm_add_call(l, is, width, false, l->outputs[o].reg, PROG_NONE);
    if (s->sums != SUMS_ROWS) to = l->calls.data[l->calls.len - 1].d = s->num_in + o;
    l->outputs[o].reg = to;
  }
  groups g = group_calls(l, j);
  u32 first = g.begin[g.n - 1];
  bool ok = g.compiled[g.n - 1] && first < before;
  for (u32 i = 0; s->sums == SUMS_COLUMNS && i < first; i++) ok &= l->calls.data[i].scalar;
  for (u32 o = 0; o < s->num_out; o++) {
    u32 from = l->calls.data[before + o].a;
    bool found = from < s->num_in && s->sums != SUMS_BLOCK;
    for (size_t i = first; i < before; i++) found |= l->calls.data[i].d == from;
    ok &= found && !l->outputs[o].scalar;
  }
  if (!ok) remove_sums(l);
  return ok;
}

/* ---- scratch slots ---- */

typedef struct slots {
  const groups *g;
  u32 *last, *slot; /* by temp; slot PROG_NONE: inside one compiled group only */
  VEC(u32) free;
  u32 count;
} slots;

static bool is_temp(u32 reg) { return reg != PROG_NONE && reg >= TEMP_BASE; }

static void note_use(slots *s, u32 reg, u32 group) {
  if (is_temp(reg)) s->last[reg - TEMP_BASE] = group;
}
static void take_slot(slots *s, u32 temp) {
  s->slot[temp] = s->free.len ? s->free.data[--s->free.len] : s->count++;
}
static void free_slot(vm_calls *l, slots *s, u32 reg, u32 group) {
  if (!is_temp(reg) || s->last[reg - TEMP_BASE] != group) return;
  s->last[reg - TEMP_BASE] = PROG_NONE; /* an operand that comes twice is freed once */
  if (s->slot[reg - TEMP_BASE] != PROG_NONE) VEC_PUSH(l->a, s->free, s->slot[reg - TEMP_BASE]);
}

/* Slots live from their group (an iota: from the start) to the last group that reads them, or to
 * the end where an output is taken from them. A result never shares the slot of an operand of the
 * same group, which is freed only after it: a kernel may not write over one of another width. */
static slots assign_slots(vm_calls *l, const groups *g) {
  size_t bytes = (l->width.len + 1) * sizeof(u32);
  slots s = {.g = g, .last = arena_zalloc(l->a, bytes), .slot = arena_zalloc(l->a, bytes)};
  const vm_call *calls = l->calls.data;
  memset(s.last, 0xff, bytes);
  memset(s.slot, 0xff, bytes);
  for (u32 k = 0; k < g->n; k++)
    for (u32 i = g->begin[k]; i < g->begin[k + 1]; i++) {
      note_use(&s, calls[i].d, k);
      note_use(&s, calls[i].a, k);
      note_use(&s, calls[i].b, k);
      note_use(&s, calls[i].c, k);
    }
  for (u32 o = 0; o < l->spec->num_out; o++) note_use(&s, l->outputs[o].reg, g->n);
  for (size_t i = 0; i < l->iotas.len; i++) { /* filled before the calls; kept */
    take_slot(&s, l->iotas.data[i].reg - TEMP_BASE);
    s.last[l->iotas.data[i].reg - TEMP_BASE] = g->n;
  }
  for (u32 k = 0; k < g->n; k++) {
    for (u32 i = g->begin[k]; i < g->begin[k + 1]; i++)
      if (is_temp(calls[i].d) && !(g->compiled[k] && s.last[calls[i].d - TEMP_BASE] == k))
        take_slot(&s, calls[i].d - TEMP_BASE);
    for (u32 i = g->begin[k]; i < g->begin[k + 1]; i++) {
      free_slot(l, &s, calls[i].a, k);
      free_slot(l, &s, calls[i].b, k);
      free_slot(l, &s, calls[i].c, k);
      free_slot(l, &s, calls[i].d, k);
    }
  }
  return s;
}

/* What stays inside a compiled group keeps its number. */
static u32 final_reg(const vm_unit *u, const slots *s, u32 reg) {
  if (reg == PROG_NONE) return u->num_regs - 1;
  if (reg >= TEMP_BASE)
    return s->slot[reg - TEMP_BASE] == PROG_NONE ? reg : u->first_slot + s->slot[reg - TEMP_BASE];
  if (reg >= CONST_BASE) return u->first_const + reg - CONST_BASE;
  return reg;
}

static void number_registers(vm_unit *u, const vm_calls *l, const slots *s) {
  u->first_slot = u->first_const + u->num_consts;
  u->num_slots = s->count;
  u->num_regs = u->first_slot + u->num_slots + 1; /* the last is NULL */
  u->num_calls = (u32)l->calls.len;
  u->calls = arena_copy(l->kept, l->calls.data, u->num_calls * sizeof(vm_call));
  for (u32 i = 0; i < u->num_calls; i++) {
    vm_call *c = &u->calls[i];
    c->d = final_reg(u, s, c->d);
    c->a = final_reg(u, s, c->a);
    c->b = final_reg(u, s, c->b);
    c->c = final_reg(u, s, c->c);
  }
  for (u32 i = 0; i < u->num_iotas; i++) u->iotas[i].reg = final_reg(u, s, l->iotas.data[i].reg);
  for (u32 o = 0; o < u->num_out; o++) u->outputs[o].reg = final_reg(u, s, l->outputs[o].reg);
}

/* False: the compiler could not; the calls are to be numbered for the kernels. */
static bool compile_groups(vm_unit *u, const vm_calls *l, const groups *g, jit *j) {
  u32 n = 0;
  u8 *spread = NULL;
  if (l->spec->in_spread) {
    spread = arena_zalloc(l->a, u->num_regs);
    memcpy(spread, l->spec->in_spread, u->num_in);
  }
  for (u32 k = 0; k < g->n; k++) {
    const vm_call *first = &u->calls[g->begin[k]];
    vm_call c = *first;
    jit_piece piece = {.calls = first,
                       .num_calls = g->begin[k + 1] - g->begin[k],
                       .num_temps = (u32)l->width.len,
                       .num_regs = u->num_regs,
                       .first_const = u->first_const,
                       .num_consts = u->num_consts,
                       .consts = u->consts,
                       .vectors = jit_vectors(l->spec->elements),
                       .spread = spread,
                       .sums = k + 1 == g->n ? u->sums : SUMS_NONE,
                       .length = l->spec->length,
                       .pitch = l->spec->pitch,
                       .num_in = u->num_in,
                       .scalar = first->scalar};
    if (g->compiled[k] && !(c.run = jit_compile(j, l->a, &piece))) return false;
    if (l->spec->rows && g->n == 1 && c.run && !c.scalar && jit_has_rows(j)) {
      piece.walks = u->num_in + u->num_out;
      vm_run_fn *rows = jit_compile(j, l->a, &piece);
      memcpy(&u->rows, &rows, sizeof rows);
    }
    u->calls[n++] = c;
  }
  u->num_calls = n;
  return true;
}

static bool is_spread(const vm_spec *s, u32 reg) { return reg < s->num_in && s->in_spread[reg]; }
/* Whether nothing but code reads what is spread. */
static bool spreads_in_code(const vm_calls *l, const groups *g) {
  const vm_spec *s = l->spec;
  for (u32 o = 0; o < s->num_out; o++)
    if (is_spread(s, l->outputs[o].reg)) return false;
  for (u32 k = 0; k < g->n; k++)
    for (u32 i = g->begin[k]; i < g->begin[k + 1]; i++) {
      const vm_call *c = &l->calls.data[i];
      if (!g->compiled[k] && (is_spread(s, c->a) || is_spread(s, c->b) || is_spread(s, c->c)))
        return false;
    }
  return true;
}

/* Blocks that stay in the first-level cache. */
static u32 block_size(u32 num_slots, u32 width) {
  u32 n = 32768 / ((num_slots + 2) * width);
  n = n > 2048 ? 2048 : n < 256 ? 256 : n;
  return n & ~63u;
}

/* The order of the passes matters: keep_apart adds calls, which place_output may then put into
 * outputs, and only what is still a temporary after both needs a slot. How long a block of
 * values to be reduced is does not depend on what is compiled: with it, sums would. */
vm_unit *vm_lower(const lower_env *e, const vm_spec *spec) {
  if (e->scratch) arena_reset(e->scratch);
  vm_calls l = {.a = e->scratch ? e->scratch : e->a,
                .kept = e->a,
                .k = e->k,
                .spec = spec,
                .fault = e->fault};
  l.parts = e->jit && jit_has_pairs() && !spec->keep_registers;
  vm_legalize(&l);
  for (u32 o = 0; o < spec->num_out; o++) keep_apart(&l, o);
  scalars_first(&l);
  for (u32 o = 0; o < spec->num_out; o++) place_output(&l, o);
  vm_unit *u = ARENA_NEW(e->a, vm_unit);
  u->num_in = spec->num_in;
  u->num_out = spec->num_out;
  u->first_const = u->num_in + u->num_out;
  u->num_consts = (u32)l.consts.len;
  u->consts = arena_copy(e->a, l.consts.data, u->num_consts * sizeof *u->consts);
  u->width = 1;
  for (u32 i = 0; i < l.width.len; i++)
    if (l.width.data[i] > u->width) u->width = l.width.data[i];
  u->num_iotas = (u32)l.iotas.len;
  u->iotas = arena_copy(e->a, l.iotas.data, u->num_iotas * sizeof(vm_iota_use));
  u->outputs = arena_copy(e->a, l.outputs, u->num_out * sizeof(vm_output));
  groups g = group_calls(&l, NULL);
  slots s = assign_slots(&l, &g);
  u->work = (u32)l.calls.len;
  u->block = block_size(s.count, u->width);
  if (e->jit && !e->fault->op) {
    u->sums = add_sums(&l, e->jit) ? spec->sums : SUMS_NONE;
    groups runs = group_calls(&l, e->jit);
    slots rest = assign_slots(&l, &runs);
    number_registers(u, &l, &rest);
    if (spec->in_spread && !spreads_in_code(&l, &runs)) return NULL;
    if (compile_groups(u, &l, &runs, e->jit)) {
      if (!spec->keep_registers) u->block = block_size(rest.count, u->width);
      return u;
    }
    if (u->sums) remove_sums(&l);
    u->sums = SUMS_NONE;
  }
  if (spec->in_spread) return NULL;
  number_registers(u, &l, &s);
  return u;
}

static size_t slot_bytes(const vm_unit *u, size_t n) { return align_up(n * u->width, 64) + 64; }

size_t vm_scratch_bytes(const vm_unit *u, size_t n) {
  return align_up(u->num_regs * sizeof(void *), 64) + u->num_slots * slot_bytes(u, n) + 64;
}

size_t vm_block_size(const vm_unit *u) { return u->block; }

/* Constants are only read; the cast drops their const for the table's sake. */
void **vm_begin(const vm_unit *u, char *scratch, size_t n) {
  void **reg = (void **)scratch;
  char *slot = scratch + align_up(u->num_regs * sizeof(void *), 64);
  for (u32 i = 0; i < u->num_consts; i++) reg[u->first_const + i] = (void *)(uintptr_t)u->consts[i];
  for (u32 i = 0; i < u->num_slots; i++) reg[u->first_slot + i] = slot + i * slot_bytes(u, n);
  reg[u->num_regs - 1] = NULL;
  return reg;
}
