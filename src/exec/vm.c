/* From calls on virtual registers to a unit: one pass lets outputs be computed in place, one gives
 * scratch slots by last use. What the calls are, vm_legalize.c says. */
#include "exec/vm.h"

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
    out->reg = vm_add_call(l, l->k->stride[vm_log2_width(out->width)], out->width, out->scalar,
                           out->reg, vm_add_const(l, &one, sizeof one));
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
 * the end where an output is taken from them. A result never shares the slot of an operand of the
 * same call, which is freed only after it: a kernel may not write over one of another width. */
static slots assign_slots(vm_calls *l) {
  slots s = {.last = arena_zalloc(l->a, (l->width.len + 1) * sizeof(u32)),
             .slot = arena_zalloc(l->a, (l->width.len + 1) * sizeof(u32))};
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

/* The order of the passes matters: keep_apart adds calls, which place_output may then put into
 * outputs, and only what is still a temporary after both needs a slot. */
vm_unit *vm_lower(const lower_env *e, const vm_spec *spec) {
  vm_calls l = {.a = e->a, .k = e->k, .spec = spec, .fault = e->fault};
  vm_legalize(&l);
  for (u32 o = 0; o < spec->num_out; o++) keep_apart(&l, o);
  for (u32 o = 0; o < spec->num_out; o++) place_output(&l, o);
  slots s = assign_slots(&l);
  vm_unit *u = ARENA_NEW(e->a, vm_unit);
  u->num_in = spec->num_in;
  u->num_out = spec->num_out;
  u->first_const = u->num_in + u->num_out;
  u->num_consts = (u32)l.consts.len;
  u->consts = l.consts.data;
  u->first_slot = u->first_const + u->num_consts;
  u->num_slots = s.count;
  u->num_regs = u->first_slot + u->num_slots + 1; /* the last is NULL */
  u->width = 1;
  for (u32 i = 0; i < l.width.len; i++)
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

/* Constants are only read; the cast drops their const for the table's sake. */
void **vm_begin(const vm_unit *u, char *scratch, size_t n) {
  void **reg = (void **)scratch;
  char *slot = scratch + align_up(u->num_regs * sizeof(void *), 64);
  for (u32 i = 0; i < u->num_consts; i++) reg[u->first_const + i] = (void *)(uintptr_t)u->consts[i];
  for (u32 i = 0; i < u->num_slots; i++) reg[u->first_slot + i] = slot + i * slot_bytes(u, n);
  reg[u->num_regs - 1] = NULL;
  return reg;
}
