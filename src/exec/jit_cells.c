/* Cells of code over single elements: which there are, and which are in registers. */
#include "exec/jit_cells.h"
#include "exec/scalar_build.h"

#include "exec/jit.h"

/* Fills in the memory of a cell whose slot is set. */
static void cell_find_memory(const program *p, cell *c) {
  u32 home = prog_slot_home(p, c->slot);
  c->memory = home != PROG_NONE ? home : 1ull << 32 | c->slot;
  c->size = (u32)dtype_size(p->slots[c->slot].type);
  c->address = c->at + prog_slot_begin(&p->slots[c->slot]);
}

static u32 add_cell(writer *w, const scalar_reg *r) {
  cell c = {.fixed = r->fixed,
            .slot = r->fixed ? PROG_NONE : r->slot,
            .at = r->at,
            .gpr = NO_REG,
            .real = NO_REG};
  if (c.slot != PROG_NONE) cell_find_memory(w->e->prog, &c);
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *k = &w->cells.data[i];
    bool same = c.slot != PROG_NONE && k->slot != PROG_NONE
                    ? k->memory == c.memory && k->address == c.address && k->size == c.size
                : c.fixed && k->fixed ? memcmp(c.fixed, k->fixed, 16) == 0
                                      : !c.fixed && !k->fixed && k->slot == c.slot && k->at == c.at;
    if (same) return i;
  }
  VEC_PUSH(w->e->a, w->cells, c);
  return (u32)w->cells.len - 1;
}

static void note_cell(cell *c, u32 width, bool is_real, bool write) {
  c->uses++;
  c->widths |= width;
  if (width > c->width) c->width = width;
  c->floats += is_real, c->integers += !is_real;
  c->written |= write;
}
static void note(const writer *w, u32 reg, u32 width, bool is_real, bool write) {
  note_cell(cell_at(w, reg), width, is_real, write);
}
/* Moves are neither: as the other uses. */
static void note_moved(const writer *w, u32 reg, u32 width, bool write) {
  note(w, reg, width, false, write);
  cell_at(w, reg)->integers--;
}
static void note_called(const writer *w, u32 reg, bool write) {
  if (reg == REG_NULL) return;
  cell *c = cell_at(w, reg);
  c->called = true;
  c->written |= write;
  const scalar_reg *r = &w->l->regs[reg]; /* of the cell's slots, the one that is meant */
  bool plain = r->fixed || r->slot == PROG_NONE;
  u32 width = plain ? 16 : (u32)dtype_size(w->e->prog->slots[r->slot].type);
  c->widths |= width;
  if (width > c->width) c->width = width;
}

/* A number that the kernel is known to take may be in a register until then; a constant is in the
 * code, or in its place in the frame. */
static void note_passed(const writer *w, const scalar_op *o, u32 reg, u32 operand) {
  bool known = operand < scalar_count_operands(o->is);
  if (known && w->l->regs[reg].fixed) return;
  if (known)
    note(w, reg, vm_rtype_size((vm_rtype)o->is.type), is_float(o->is.type), false);
  else
    note_called(w, reg, false);
}

u32 scalar_count_operands(scalar_is is) {
  return is.call > CALL_binary + 1 ? 1 : is.call ? vm_op_infos[is.of].operands : 0;
}
u32 scalar_result_type(scalar_is is) {
  if (is.kind == SCALAR_CONVERT || is.call == CALL_convert + 1) return is.of;
  if (is.call > CALL_binary + 1) return is.call == CALL_store + 1 ? R_u16 : R_f32;
  return vm_op_infos[is.of].result == VM_PRED ? R_pred : is.type;
}

bool find_immediate(const writer *w, const scalar_op *o, i32 *out) {
  u32 width = vm_rtype_size((vm_rtype)o->is.type);
  i64 wide = 0;
  if (o->is.kind != SCALAR_BINARY || is_float(o->is.type) || width < 4) return false;
  if (o->is.of == VM_max || o->is.of == VM_min) return false;
  const void *at = w->l->regs[o->b].fixed;
  if (!at) return false;
  memcpy(out, at, 4);
  memcpy(&wide, at, width);
  return width == 4 || wide == *out;
}

/* Of what computes: operands and the result. */
static void note_computed(const writer *w, const scalar_op *o) {
  u32 from = vm_rtype_size((vm_rtype)o->is.type), to = scalar_result_type(o->is);
  note(w, o->a, from, is_float(o->is.type), false);
  i32 immediate;
  if (o->is.kind == SCALAR_FMA ||
      (o->is.kind == SCALAR_BINARY && !find_immediate(w, o, &immediate)))
    note(w, o->b, from, is_float(o->is.type), false);
  note(w, o->d, vm_rtype_size((vm_rtype)to), is_float(to), true);
}

static void note_result(const writer *w, const scalar_op *o) {
  u32 to = scalar_result_type(o->is);
  if (o->is.call)
    note(w, o->d, vm_rtype_size((vm_rtype)to), is_float(to), true);
  else
    note_called(w, o->d, true);
}

static void note_uses(const writer *w, const scalar_op *o) {
  u32 width = 1u << (o->is.of & 7);
  switch ((scalar_kind)o->is.kind) {
  case SCALAR_BINARY:
  case SCALAR_UNARY:
  case SCALAR_CONVERT:
    note_computed(w, o);
    break;
  case SCALAR_FMA:
    note_computed(w, o);
    note(w, o->c, vm_rtype_size((vm_rtype)o->is.type), true, false);
    break;
  case SCALAR_SELECT:
    note(w, o->a, 1, false, false);
    note_moved(w, o->c, width, false);
    note_moved(w, o->b, width, false);
    note_moved(w, o->d, width, true);
    break;
  case SCALAR_COPY:
    note_moved(w, o->a, width, false);
    note_moved(w, o->d, width, true);
    break;
  case SCALAR_UNLESS:
    note(w, o->a, 1, false, false);
    break;
  case SCALAR_KERNEL:
    note_passed(w, o, o->a, 0), note_passed(w, o, o->b, 1), note_passed(w, o, o->c, 2);
    note_result(w, o);
    break;
  case SCALAR_JUMP:
  case SCALAR_BACK:
  case SCALAR_LEAVE:
  case SCALAR_STEP:
    break;
  }
}

/* ---- calls ---- */

static bool is_in(const writer *w, u32 reg, const cell *c) {
  return reg >= REG_FIRST && cell_at(w, reg) == c;
}
static bool reads_cell(const writer *w, const scalar_op *o, const cell *c) {
  return is_in(w, o->a, c) || is_in(w, o->b, c) || is_in(w, o->c, c);
}

static bool is_live(const writer *w, const scalar_op *o, const cell *c) {
  return c->fixed || cells_have(w, w->live, o, (u32)(c - w->cells.data));
}

bool cells_pass(const writer *w, const scalar_op *o, const cell *c, bool clobbered, bool back) {
  if (o->is.kind == SCALAR_KERNEL && (back ? is_in(w, o->d, c) : reads_cell(w, o, c))) return true;
  bool fetched = cells_have(w, w->fetch, o, (u32)(c - w->cells.data));
  return clobbered && (back || !c->fixed) && !fetched && is_live(w, o, c);
}

/* What it computes is for nobody. */
static bool is_idle(const writer *w, const scalar_op *o) {
  if (o->is.kind >= SCALAR_JUMP && o->is.kind != SCALAR_FMA) return false;
  return o->d >= REG_FIRST && !is_live(w, o, cell_at(w, o->d));
}

/* ---- dynamic steps ---- */

/* How many bytes of it lie together. */
static void find_runs(part *x, u64 width) {
  const prog_dynamic *d = x->d;
  bool together = true;
  x->run = width, x->runs = 1;
  for (u32 k = d->rank; k-- > 0;) {
    *(together ? &x->run : &x->runs) *= (u64)d->small_dims[k];
    together &= d->small_dims[k] == d->big_dims[k];
  }
}

/* NULL: it is none that code could move. */
static part *find_part(writer *w, const prog_step *s) {
  enum { MOST_BYTES = 1 << 30 };
  const program *p = w->e->prog;
  const prog_dynamic *d = s->u.dynamic_;
  if (s->kind != STEP_dynamic || d->turns || scalar_sees_views(p, s)) return NULL;
  u64 width = dtype_size(p->slots[d->big].type), bytes = width;
  if (dtype_size(p->slots[d->small].type) != width) return NULL;
  part x = {.d = d};
  for (u32 k = d->rank; k-- > 0;) {
    dtype t = p->slots[d->start[k]].type;
    x.most[k] = d->big_dims[k] - d->small_dims[k];
    x.stride[k] = (i64)bytes;
    bool known = t == DTYPE_s32 || t == DTYPE_s64 || t == DTYPE_u32;
    if (d->small_dims[k] == 0 || (x.most[k] > 0 && !known)) return NULL;
    bytes *= (u64)d->big_dims[k];
    if (bytes > MOST_BYTES) return NULL;
  }
  if (width == 0 || width > 8 || bytes == 0) return NULL;
  find_runs(&x, width);
  for (u32 k = 0; k < d->rank; k++) {
    if (x.most[k] == 0) continue;
    x.index[k] = add_cell(w, &(scalar_reg){.slot = d->start[k]});
    u32 size = (u32)dtype_size(p->slots[d->start[k]].type);
    note_cell(&w->cells.data[x.index[k]], size, false, false);
  }
  return arena_copy(w->e->a, &x, sizeof x);
}

i64 part_run_at(const writer *w, const part *x, u64 which) {
  const prog_dynamic *d = x->d;
  u64 left = which * (x->run / dtype_size(w->e->prog->slots[d->big].type));
  i64 at = 0;
  for (u32 k = d->rank; k-- > 0; left /= (u64)d->small_dims[k])
    at += (i64)(left % (u64)d->small_dims[k]) * x->stride[k];
  return at;
}

/* Whether an element that others have as a cell is one of the part's. */
static bool has_cells(const writer *w, const part *x, u32 width) {
  const program *p = w->e->prog;
  cell small = {.slot = x->d->small};
  cell_find_memory(p, &small);
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *k = &w->cells.data[i];
    u64 at = k->address - small.address;
    if (k->slot != PROG_NONE && k->memory == small.memory && k->width == width &&
        at < x->runs * x->run && at % width == 0)
      return true;
  }
  return false;
}

static void find_part_cells(writer *w, part *x) {
  const prog_slot *slots = w->e->prog->slots;
  u32 width = (u32)dtype_size(slots[x->d->big].type);
  u64 n = x->runs * (x->run / width), each = x->run / width;
  dtype t = slots[x->d->small].type;
  bool real = dtype_infos[t].kind == DTYPE_CLASS_FLOAT && width >= 4;
  if (n > MOST_PART || (n > 1 && !has_cells(w, x, width))) return;
  for (u64 i = 0; i < n; i++) {
    x->small[i] = add_cell(w, &(scalar_reg){.slot = x->d->small, .at = i * width});
    x->at[i] = part_run_at(w, x, i / each) + (i64)(i % each * width);
    note_cell(&w->cells.data[x->small[i]], width, real, !x->d->update);
  }
  x->num = (u32)n;
}

bool cells_find_copy(const writer *w, const scalar_op *o, byte_copy *out) {
  const prog_step *s = &w->e->prog->steps[o->d];
  const prog_copy *c = s->u.copy_;
  if (s->kind != STEP_copy) return false;
  u64 width = dtype_size(w->e->prog->slots[c->src.slot].type), n = 1;
  for (u32 d = c->rank; d-- > 0; n *= (u64)c->dims[d])
    if (c->dims[d] != 1 && (c->src.stride[d] != (i64)n || c->dst.stride[d] != (i64)n)) return false;
  *out = (byte_copy){c->src.slot, c->dst.slot, (u64)c->src.offset * width,
                     (u64)c->dst.offset * width, n * width};
  return out->bytes > 0 && out->from_at <= INT32_MAX && out->to_at <= INT32_MAX;
}

/* What uses a slot, and what writes where another one lies. */
typedef struct slot_search {
  const program *p;
  u32 slot, big;
  u32 uses;
  bool written;
} slot_search;
static void search_slot(void *user, u32 *slot, slot_use use) {
  slot_search *s = user;
  s->uses += *slot == s->slot;
  s->written |= use != USE_READ && (prog_slots_overlap(s->p, *slot, s->big) || *slot == s->slot);
}

/* What the step reads stays as it is as long as the code runs, and nobody but steps that the code
 * calls asks for its result. */
static bool is_view(const writer *w, const part *x) {
  const program *p = w->e->prog;
  const prog_slot *small = &p->slots[x->d->small];
  slot_search all = {.p = p, .slot = x->d->small, .big = x->d->big}, here = all;
  if (x->num || x->d->update || x->runs > 1 || cells_touch_slot(w, x->d->big) ||
      small->kind != SLOT_WORK || small->alias >= 0 || x->run != prog_slot_bytes(small))
    return false;
  for (u32 i = 0; i < p->num_steps; i++) prog_step_slots(&p->steps[i], search_slot, &all);
  for (u32 i = 0; i < w->l->num_ops; i++) {
    const scalar_op *o = &w->l->ops[i];
    if (o->is.kind != SCALAR_STEP) continue;
    prog_step *s = &p->steps[o->d];
    bool itself = s->kind == STEP_dynamic && s->u.dynamic_ == x->d;
    if (itself)
      here.uses++;
    else
      prog_step_slots(s, search_slot, &here);
  }
  return here.uses == all.uses && !here.written;
}

/* The cell that is used most of those that may have such a register. */
static cell *find_best(const writer *w, bool real) {
  cell *best = NULL;
  for (u32 i = 0; i < w->cells.len; i++) {
    cell *c = &w->cells.data[i];
    u32 wide = c->widths & ~1u;
    bool uniform = wide == 4 || wide == 8 || (wide <= 2 && !real);
    bool fits = real ? c->floats && !c->integers && !(c->widths & 1) : !(c->floats && !c->integers);
    if (!c->called && c->uses && uniform && fits && c->gpr == NO_REG && c->real == NO_REG &&
        (!best || c->uses > best->uses))
      best = c;
  }
  return best;
}
/* With AVX2 code in a kernel's place has the same registers: it takes so many at least. */
static u32 count_floats(const writer *w, const cell_registers *r) {
  enum { OF_KERNELS = 8 };
  bool few = strcmp(w->e->k->isa, "v3") == 0;
  for (u32 i = 0; few && i < w->l->num_ops; i++)
    if (w->l->ops[i].is.call) return r->num_floats - OF_KERNELS;
  return r->num_floats;
}
static void give_registers(const writer *w, const cell_registers *r) {
  cell *c;
  for (u32 i = 0; i < r->num_gprs && (c = find_best(w, false)); i++) c->gpr = r->gprs[i];
  for (u32 i = 0; i < count_floats(w, r) && (c = find_best(w, true)); i++) c->real = r->floats[i];
}

bool cells_find(writer *w, const cell_registers *r) {
  const scalar_list *l = w->l;
  w->cell_of = arena_zalloc(w->e->a, (l->num_regs + 1) * sizeof(u32));
  for (u32 i = REG_FIRST; i < l->num_regs; i++) {
    const scalar_reg *reg = &l->regs[i];
    if (!reg->fixed && reg->slot != PROG_NONE &&
        (w->e->prog->slots[reg->slot].kind == SLOT_STRIP || reg->at > INT32_MAX - 16))
      return false;
    w->cell_of[i] = add_cell(w, reg);
    if (w->cells.len > MAX_CELLS) return false;
  }
  w->part_of = arena_zalloc(w->e->a, (l->num_ops + 1) * sizeof *w->part_of);
  for (u32 i = 0; i < l->num_ops; i++)
    if (l->ops[i].is.kind == SCALAR_STEP)
      w->part_of[i] = find_part(w, &w->e->prog->steps[l->ops[i].d]);
    else
      note_uses(w, &l->ops[i]);
  for (u32 i = 0; i < l->num_ops; i++)
    if (w->part_of[i]) find_part_cells(w, w->part_of[i]);
  for (u32 i = 0; i < l->num_ops; i++) {
    part *x = w->part_of[i];
    if (x) x->view = is_view(w, x);
    if (x && !cells_machine.has_part(w, x)) w->part_of[i] = NULL;
  }
  if (w->cells.len > MAX_CELLS) return false;
  for (u32 i = 0; i < w->cells.len; i++) /* no operation asks for it: neither read nor put back */
    if (!w->cells.data[i].width) w->cells.data[i].slot = PROG_NONE;
  give_registers(w, r);
  return true;
}

/* ---- what moves between cells and memory ---- */

/* By cell: whether it lies in what a step touches, and in what it writes. */
typedef struct touched {
  const writer *w;
  u64 *any, *written;
} touched;
static void add_to(u64 *set, u32 cell) { set[cell / 64] |= 1ull << cell % 64; }

static bool lies_in(const cell *k, u64 memory, u64 begin, u64 end) {
  u32 width = k->width > k->size ? k->width : k->size;
  return k->slot != PROG_NONE && k->memory == memory && k->address < end &&
         begin < k->address + width;
}
static void touch_cells(void *user, u32 *slot, slot_use use) {
  touched *t = user;
  const program *p = t->w->e->prog;
  cell whole = {.slot = *slot};
  cell_find_memory(p, &whole);
  u64 end = whole.address + prog_slot_bytes(&p->slots[*slot]);
  for (u32 i = 0; i < t->w->cells.len; i++) {
    if (!lies_in(&t->w->cells.data[i], whole.memory, whole.address, end)) continue;
    add_to(t->any, i);
    if (use != USE_READ) add_to(t->written, i);
  }
}
static u64 *make_sets(const writer *w, size_t n) {
  return arena_zalloc(w->e->a, (n * w->words + 1) * sizeof(u64));
}
bool cells_touch_slot(const writer *w, u32 slot) {
  const program *p = w->e->prog;
  cell whole = {.slot = slot};
  cell_find_memory(p, &whole);
  for (u32 i = 0; i < w->cells.len; i++)
    if (lies_in(&w->cells.data[i], whole.memory, whole.address,
                whole.address + prog_slot_bytes(&p->slots[slot])))
      return true;
  return false;
}

/* Sets, by operation: what it touches and writes in memory; what it reads and writes of cells. */
typedef struct effects {
  u64 *any, *written, *reads, *writes;
} effects;

static void add_part(touched t, u64 *reads, u64 *writes, const part *x) {
  const prog_dynamic *d = x->d;
  u32 big = d->big, small = d->small;
  touch_cells(&t, &big, d->update ? USE_UPDATE : USE_READ);
  if (!x->num && !x->view) touch_cells(&t, &small, d->update ? USE_READ : USE_WRITE);
  for (u32 k = 0; k < d->rank; k++)
    if (x->most[k]) add_to(reads, x->index[k]);
  for (u32 i = 0; i < x->num; i++) add_to(d->update ? reads : writes, x->small[i]);
}
static bool computes(const scalar_op *o) {
  return o->is.kind < SCALAR_JUMP || o->is.kind == SCALAR_FMA;
}
static effects find_effects(writer *w) {
  u32 n = w->l->num_ops;
  effects f = {make_sets(w, n), make_sets(w, n), make_sets(w, n), make_sets(w, n)};
  for (u32 i = 0; i < n; i++) {
    const scalar_op *o = &w->l->ops[i];
    size_t at = (size_t)i * w->words;
    touched t = {w, f.any + at, f.written + at};
    u32 read[] = {o->a, computes(o) ? o->b : REG_NULL, computes(o) ? o->c : REG_NULL};
    if (w->part_of[i])
      add_part(t, f.reads + at, f.writes + at, w->part_of[i]);
    else if (o->is.kind == SCALAR_STEP)
      prog_step_slots((prog_step *)(uintptr_t)&w->e->prog->steps[o->d], touch_cells, &t);
    if (!computes(o) && o->is.kind != SCALAR_UNLESS) continue;
    for (u32 k = 0; k < COUNT(read); k++)
      if (read[k] >= REG_FIRST) add_to(f.reads + at, w->cell_of[read[k]]);
    if (computes(o) && o->d >= REG_FIRST) add_to(f.writes + at, w->cell_of[o->d]);
  }
  return f;
}

/* Which operations may follow one. */
static u32 find_next(const writer *w, u32 i, u32 next[2]) {
  const scalar_op *o = &w->l->ops[i];
  u32 kind = o->is.kind, n = 0;
  if (kind == SCALAR_JUMP || kind == SCALAR_UNLESS || kind == SCALAR_BACK)
    next[n++] = (u32)(o->u.to - w->l->ops);
  if (kind != SCALAR_JUMP && kind != SCALAR_LEAVE && i + 1 < w->l->num_ops) next[n++] = i + 1;
  return n;
}

/* By cell the others that lie in part where it does, in the memory of slots that take turns there:
 * while one has a value, they have none. NULL: there are none. */
static u64 **find_overlaps(const writer *w) {
  u64 **of = arena_zalloc(w->e->a, (w->cells.len + 1) * sizeof *of);
  for (u32 i = 0; i < w->cells.len; i++) {
    const cell *c = &w->cells.data[i];
    u64 end = c->address + (c->width > c->size ? c->width : c->size);
    for (u32 k = 0; k < w->cells.len && c->slot != PROG_NONE; k++) {
      if (k == i || !lies_in(&w->cells.data[k], c->memory, c->address, end)) continue;
      if (!of[i]) of[i] = make_sets(w, 1);
      add_to(of[i], k);
    }
  }
  return of;
}

/* What code has written since memory had it, on any way: `fresh` becomes what is so behind the
 * operation of what was before it. */
static void note_fresh(const writer *w, u64 *const *overlaps, const u64 *any, const u64 *writes,
                       u64 *fresh) {
  for (u32 k = 0; k < w->words; k++) fresh[k] &= ~any[k];
  for (u32 i = 0; i < w->cells.len; i++) {
    if (!(writes[i / 64] >> i % 64 & 1) || w->cells.data[i].slot == PROG_NONE) continue;
    for (u32 k = 0; k < w->words && overlaps[i]; k++) fresh[k] &= ~overlaps[i][k];
    add_to(fresh, i);
  }
}
static void find_put(writer *w, const effects *f) {
  u64 *in = make_sets(w, w->l->num_ops), *fresh = make_sets(w, 1), **overlaps = find_overlaps(w);
  for (bool changed = true; changed;) {
    changed = false;
    for (u32 i = 0; i < w->l->num_ops; i++) {
      size_t at = (size_t)i * w->words;
      u32 next[2], n = find_next(w, i, next);
      memcpy(fresh, in + at, w->words * sizeof *fresh);
      note_fresh(w, overlaps, f->any + at, f->writes + at, fresh);
      for (u32 k = 0; k < n * w->words; k++) {
        u64 *to = &in[(size_t)next[k / w->words] * w->words + k % w->words];
        changed |= next[k / w->words] <= i && (fresh[k % w->words] & ~*to);
        *to |= fresh[k % w->words];
      }
    }
  }
  for (u32 i = 0; i < w->l->num_ops; i++)
    for (u32 k = 0; k < w->words; k++) {
      size_t at = (size_t)i * w->words + k;
      w->put[at] = w->l->ops[i].is.kind == SCALAR_LEAVE ? in[at] : in[at] & f->any[at];
    }
}

/* Where they are entered, all cells come from memory. */
static void find_moves(writer *w) {
  u32 n = w->l->num_ops;
  effects f = find_effects(w);
  w->put = make_sets(w, n), w->fetch = make_sets(w, n), w->live = make_sets(w, n);
  find_put(w, &f);
  for (bool changed = true; changed;) {
    changed = false;
    for (u32 i = n; i-- > 0;) {
      u32 next[2], num = find_next(w, i, next);
      for (u32 k = 0; k < num * w->words; k++) {
        size_t from = (size_t)next[k / w->words] * w->words + k % w->words;
        u64 *to = &w->live[(size_t)i * w->words + k % w->words];
        u64 kept = w->live[from] & ~f.writes[from] & ~f.written[from];
        u64 in = kept | f.reads[from] | w->put[from];
        changed |= (in & ~*to) != 0;
        *to |= in;
      }
    }
  }
  for (size_t i = 0; i < (size_t)n * w->words; i++) w->fetch[i] = f.written[i] & w->live[i];
}

/* Which has another address each time. */
static bool reads_view(const program *p, const exec_direct *d) {
  for (u32 k = 0; k < d->num; k++)
    if (p->slots[d->slot[k]].kind == SLOT_VIEW) return true;
  return false;
}

void cells_find_direct(writer *w) {
  const scalar_list *l = w->l;
  w->direct = arena_zalloc(w->e->a, (l->num_ops + 1) * sizeof *w->direct);
  w->direct_at = arena_zalloc(w->e->a, (l->num_ops + 1) * sizeof(u32));
  for (u32 i = 0; i < l->num_ops; i++) {
    const exec_direct *d = l->ops[i].is.kind == SCALAR_STEP ? l->ops[i].u.step->direct : NULL;
    if (!d || d->num > MAX_DIRECT - w->num_direct || reads_view(w->e->prog, d)) continue;
    w->direct[i] = d;
    w->direct_at[i] = w->num_direct;
    w->num_direct += d->num;
  }
}

/* ---- all of it ---- */

scalar_run_fn *jit_scalars(const lower_env *e, const scalar_list *l, const void ***out_entries) {
  const cell_machine *m = &cells_machine;
  writer w = {.e = e, .l = l, .code.a = e->a};
  scalar_run_fn *run;
  if (!e->jit || !cells_find(&w, &m->registers)) return NULL;
  cells_find_direct(&w);
  w.words = (u32)w.cells.len / 64 + 1;
  find_moves(&w);
  m->begin(&w);
  w.at = ARENA_ARRAY(e->a, u32, l->num_ops + 1);
  w.joined = arena_zalloc(e->a, l->num_ops + 1);
  for (u32 i = 0; i < l->num_ops; i++) {
    w.at[i] = (u32)w.code.bytes.len;
    if (is_idle(&w, &l->ops[i])) continue;
    if (!m->write[l->ops[i].is.kind](&w, &l->ops[i])) return NULL;
  }
  m->write_entries(&w);
  for (u32 i = 0; i < w.jumps.len; i += 2)
    m->aim(&w.code, w.jumps.data[i], w.at[w.jumps.data[i + 1]]);
  if (!m->finish(&w.code)) return NULL;
  const char *base =
      jit_place(e->jit, e->a, (str){(const char *)w.code.bytes.data, w.code.bytes.len});
  if (!base) return NULL;
  *out_entries = ARENA_ARRAY(e->a, const void *, l->num_ops + 1);
  for (u32 i = 0; i < l->num_ops; i++) (*out_entries)[i] = base + w.at[i];
  memcpy(&run, &base, sizeof run);
  return run;
}
