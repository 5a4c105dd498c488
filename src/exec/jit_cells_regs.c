/* Registers of cells (jit_cells.h): one has several that are not wanted at the same time. */
#include "exec/jit_cells.h"

/* By cell, a set: others that have values while one is written, or are read for it. */
static void add_set(u64 *to, const u64 *set, u32 words) {
  for (u32 k = 0; k < words; k++) to[k] |= set[k];
}
static u64 *find_conflicts(const writer *w) {
  u32 words = w->words, cells = (u32)w->cells.len;
  u64 *of = arena_zalloc(w->e->a, ((size_t)cells * words + 1) * sizeof(u64));
  for (u32 i = 0; i < w->l->num_ops; i++) {
    size_t at = (size_t)i * words;
    for (u32 c = 0; c < cells; c++) {
      if (!(w->writes[at + c / 64] >> c % 64 & 1)) continue;
      add_set(of + (size_t)c * words, w->live + at, words);
      add_set(of + (size_t)c * words, w->reads + at, words);
    }
  }
  for (u32 c = 0; c < cells; c++)
    if (cells_enter(w, c)) add_set(of + (size_t)c * words, w->enters, words);
  return of;
}

static bool conflict(const writer *w, const u64 *of, u32 a, u32 b) {
  const cell *x = &w->cells.data[a], *y = &w->cells.data[b];
  return x->fixed || x->place || y->fixed || y->place ||
         (of[(size_t)a * w->words + b / 64] >> b % 64 & 1) ||
         (of[(size_t)b * w->words + a / 64] >> a % 64 & 1);
}

static bool may_have(const cell *c, bool real) {
  u32 wide = c->widths & ~1u;
  bool uniform = wide == 4 || wide == 8 || (wide <= 2 && !real);
  bool fits = real ? c->floats && !c->integers && !(c->widths & 1) : !(c->floats && !c->integers);
  return !c->called && c->uses && uniform && fits && c->gpr == NO_REG && c->real == NO_REG;
}

/* With AVX2 code in a kernel's place has the same registers: it takes so many at least. */
static u32 count_floats(const writer *w, const cell_registers *r) {
  enum { OF_KERNELS = 8 };
  bool few = strcmp(w->e->k->isa, "v3") == 0;
  for (u32 i = 0; few && i < w->l->num_ops; i++)
    if (w->l->ops[i].is.call) return r->num_floats - OF_KERNELS;
  return r->num_floats;
}

/* The first register that no other cell has which is in its way. */
static void give_one(const writer *w, const u64 *of, u32 at, bool real, const u8 *regs, u32 n) {
  cell *c = &w->cells.data[at];
  u32 taken = 0;
  for (u32 k = 0; k < w->cells.len; k++) {
    const cell *other = &w->cells.data[k];
    u8 reg = real ? other->real : other->gpr;
    if (k != at && reg != NO_REG && conflict(w, of, at, k)) taken |= 1u << reg;
  }
  for (u32 i = 0; i < n; i++) {
    if (taken >> regs[i] & 1) continue;
    *(real ? &c->real : &c->gpr) = regs[i];
    return;
  }
}

/* What is used most comes first. */
void cells_give_registers(writer *w, const cell_registers *r) {
  const u64 *of = find_conflicts(w);
  bool *seen = arena_zalloc(w->e->a, w->cells.len + 1);
  for (;;) {
    u32 best = PROG_NONE;
    for (u32 i = 0; i < w->cells.len; i++) {
      const cell *c = &w->cells.data[i];
      bool more = best == PROG_NONE || c->uses > w->cells.data[best].uses;
      if (!seen[i] && c->uses && more) best = i;
    }
    if (best == PROG_NONE) return;
    const cell *c = &w->cells.data[best];
    seen[best] = true;
    if (may_have(c, false)) give_one(w, of, best, false, r->gprs, r->num_gprs);
    if (may_have(c, true)) give_one(w, of, best, true, r->floats, count_floats(w, r));
  }
}
