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
                                      : !c.fixed && !k->fixed && !k->place && k->slot == c.slot &&
                                            k->at == c.at;
    if (same) return i;
  }
  VEC_PUSH(w->e->a, w->cells, c);
  return (u32)w->cells.len - 1;
}

static void note_cell(const writer *w, u32 at, u32 width, bool is_real, bool write) {
  cell *c = &w->cells.data[at];
  c->uses += w->weight;
  c->widths |= width;
  if (width > c->width) c->width = width;
  c->floats += is_real, c->integers += !is_real;
  c->written |= write;
}
static void note(const writer *w, u32 reg, u32 width, bool is_real, bool write) {
  note_cell(w, w->cell_of[reg], width, is_real, write);
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
  if (!w->later || !w->later[o - w->l->ops])
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
  bool asks = w->asks && w->asks[o - w->l->ops];
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
    if (!asks) note(w, o->a, 1, false, false);
    note_moved(w, o->c, width, false);
    note_moved(w, o->b, width, false);
    note_moved(w, o->d, width, true);
    break;
  case SCALAR_COPY:
    note_moved(w, o->a, width, false);
    note_moved(w, o->d, width, true);
    break;
  case SCALAR_UNLESS:
    if (!asks) note(w, o->a, 1, false, false);
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

/* It stays as it is in the frame. */
static bool is_kept(const cell *c) { return c->fixed || c->place; }
static bool is_live(const writer *w, const scalar_op *o, const cell *c) {
  return is_kept(c) || cells_have(w, w->live, o, (u32)(c - w->cells.data));
}

bool cells_pass(const writer *w, const scalar_op *o, const cell *c, bool clobbered, bool back) {
  if (o->is.kind == SCALAR_KERNEL && (back ? is_in(w, o->d, c) : reads_cell(w, o, c))) return true;
  bool fetched = cells_have(w, w->fetch, o, (u32)(c - w->cells.data));
  return clobbered && (back || !is_kept(c)) && !fetched && is_live(w, o, c);
}

bool cells_idle(const writer *w, const scalar_op *o) {
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

static void note_indices(const writer *w, const part *x) {
  const prog_slot *slots = w->e->prog->slots;
  for (u32 k = 0; k < x->d->rank; k++)
    if (x->most[k])
      note_cell(w, x->index[k], (u32)dtype_size(slots[x->d->start[k]].type), false, false);
}
static void note_elements(const writer *w, const part *x) {
  dtype t = w->e->prog->slots[x->d->small].type;
  u32 width = (u32)dtype_size(t);
  bool real = dtype_infos[t].kind == DTYPE_CLASS_FLOAT && width >= 4;
  for (u32 i = 0; i < x->num; i++) note_cell(w, x->small[i], width, real, !x->d->update);
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
  }
  note_indices(w, &x);
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

/* Whether an element of the part is a cell that others have, and not of what lies there in turn. */
static bool has_cells(const writer *w, const part *x, u32 width) {
  for (u32 i = REG_FIRST; i < w->l->num_regs; i++) {
    const scalar_reg *r = &w->l->regs[i];
    if (!r->fixed && r->slot == x->d->small && r->at < x->runs * x->run && r->at % width == 0 &&
        cell_at(w, i)->width == width)
      return true;
  }
  return false;
}

static void find_part_cells(writer *w, part *x) {
  const prog_slot *slots = w->e->prog->slots;
  u32 width = (u32)dtype_size(slots[x->d->big].type);
  u64 n = x->runs * (x->run / width), each = x->run / width;
  if (n > MOST_PART || (n > 1 && !has_cells(w, x, width))) return;
  for (u64 i = 0; i < n; i++) {
    x->small[i] = add_cell(w, &(scalar_reg){.slot = x->d->small, .at = i * width});
    x->at[i] = part_run_at(w, x, i / each) + (i64)(i % each * width);
  }
  x->num = (u32)n;
  note_elements(w, x);
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

/* By operation: in a loop, of which jumps back tell, what it uses counts as so many. */
static u32 *find_weights(const writer *w) {
  enum { TIMES = 8, MOST = TIMES * TIMES * TIMES * TIMES };
  const scalar_list *l = w->l;
  u32 *weight = ARENA_ARRAY(w->e->a, u32, l->num_ops + 1);
  for (u32 i = 0; i <= l->num_ops; i++) weight[i] = 1;
  for (u32 i = 0; i < l->num_ops; i++)
    if (l->ops[i].is.kind == SCALAR_BACK)
      for (size_t k = (size_t)(l->ops[i].u.to - l->ops); k <= i; k++)
        if (weight[k] < MOST) weight[k] *= TIMES;
  return weight;
}

void cells_count_uses(writer *w) {
  const u32 *weight = find_weights(w);
  for (u32 i = 0; i < w->cells.len; i++)
    w->cells.data[i].uses = w->cells.data[i].floats = w->cells.data[i].integers = 0;
  for (u32 i = 0; i < w->l->num_ops; i++) {
    const part *x = w->part_of[i];
    w->weight = weight[i];
    if (x) note_indices(w, x), note_elements(w, x);
    if (x && x->place) note_cell(w, x->place, sizeof(void *), false, false);
    if (w->l->ops[i].is.kind != SCALAR_STEP && !cells_idle(w, &w->l->ops[i]))
      note_uses(w, &w->l->ops[i]);
  }
}

/* A cell for where the slot lies, unless that changes. */
static u32 find_slot_place(writer *w, u32 slot) {
  for (u32 i = 0; i < w->l->num_ops; i++)
    if (w->part_of[i] && w->part_of[i]->view && w->part_of[i]->d->small == slot) return 0;
  for (u32 i = 0; i < w->cells.len; i++)
    if (w->cells.data[i].place == slot + 1) return i;
  cell c = {.slot = PROG_NONE, .gpr = NO_REG, .real = NO_REG, .place = slot + 1};
  c.widths = c.width = sizeof(void *);
  VEC_PUSH(w->e->a, w->cells, c);
  return (u32)w->cells.len - 1;
}

bool cells_find(writer *w) {
  const scalar_list *l = w->l;
  w->weight = 1;
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
  for (u32 i = 0; i < w->cells.len; i++) /* no operation asks for it: neither read nor put back */
    if (!w->cells.data[i].width) w->cells.data[i].slot = PROG_NONE;
  for (u32 i = 0; i < l->num_ops && cells_machine.waits; i++)
    if (w->part_of[i]) w->part_of[i]->place = find_slot_place(w, w->part_of[i]->d->big);
  return w->cells.len <= MAX_CELLS;
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

/* What is touched elsewhere, or no work of the program's. */
static void touch_lent(void *user, u32 *slot, slot_use use) {
  const touched *t = user;
  const prog_slot *s = &t->w->e->prog->slots[*slot];
  u32 whole = s->kind == SLOT_VIEW ? s->index : *slot;
  touch_cells(user, &whole, use);
}
static u64 *find_outside(const writer *w) {
  const program *p = w->e->prog;
  touched t = {w, make_sets(w, 1), make_sets(w, 1)};
  for (u32 i = 0; i < p->num_steps; i++)
    if (i < w->l->first || i >= w->l->end) prog_step_slots(&p->steps[i], touch_lent, &t);
  for (u32 i = 0; i < w->cells.len; i++)
    if (w->cells.data[i].memory != 0) add_to(t.any, i);
  return t.any;
}

/* Word k of what has to be there for an operation. Where it leaves, others may want it, or who
 * enters again. */
static u64 find_wanted(const writer *w, const effects *f, const u64 *outside, u32 i, u32 k) {
  size_t at = (size_t)i * w->words + k;
  if (w->l->ops[i].is.kind == SCALAR_LEAVE) return w->put[at] & (outside[k] | w->enters[k]);
  return (w->live[at] & ~f->writes[at] & ~f->written[at]) | f->reads[at] | w->put[at];
}
static bool add_wanted(u64 *to, u64 in) {
  bool more = in & ~*to;
  *to |= in;
  return more;
}

/* Where they are entered, all cells come from memory. */
static void find_moves(writer *w) {
  u32 n = w->l->num_ops;
  effects f = find_effects(w);
  const u64 *outside = find_outside(w);
  w->put = make_sets(w, n), w->fetch = make_sets(w, n), w->live = make_sets(w, n);
  w->enters = make_sets(w, 1);
  find_put(w, &f);
  for (bool changed = true; changed;) {
    changed = false;
    for (u32 i = n; i-- > 0;) {
      u32 next[2], num = find_next(w, i, next);
      for (u32 k = 0; k < num * w->words; k++)
        changed |= add_wanted(&w->live[(size_t)i * w->words + k % w->words],
                              find_wanted(w, &f, outside, next[k / w->words], k % w->words));
    }
    for (u32 i = 0; i < w->entries.len; i++)
      for (u32 k = 0; k < w->words; k++)
        changed |= add_wanted(&w->enters[k], find_wanted(w, &f, outside, w->entries.data[i], k));
  }
  for (u32 i = 0; i < n; i++)
    for (u32 k = 0; k < w->words; k++) {
      size_t at = (size_t)i * w->words + k;
      w->fetch[at] = f.written[at] & w->live[at];
      if (w->l->ops[i].is.kind == SCALAR_LEAVE) w->put[at] = find_wanted(w, &f, outside, i, k);
      f.writes[at] |= f.written[at];
    }
  w->reads = f.reads, w->writes = f.writes;
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
  if (!e->jit || !cells_find(&w)) return NULL;
  cells_find_direct(&w);
  w.words = (u32)w.cells.len / 64 + 1;
  cells_find_labels(&w);
  find_moves(&w);
  cells_find_asks(&w);
  cells_count_uses(&w);
  cells_give_registers(&w, &m->registers);
  m->begin(&w);
  w.at = ARENA_ARRAY(e->a, u32, l->num_ops + 1);
  w.joined = arena_zalloc(e->a, l->num_ops + 1);
  for (u32 i = 0; i < l->num_ops; i++) {
    w.at[i] = (u32)w.code.bytes.len;
    if ((cells_idle(&w, &l->ops[i]) || w.later[i])) continue;
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
