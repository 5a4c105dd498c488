/* Parts of slots at indices of the run (dynamic steps), in code over single elements (jit_cells.h)
 * of x86-64. An index is mostly inside: one that is not is moved in apart from the code. */
#include "exec/jit_x86_cells.h"

/* The index, moved into its range, to RAX. */
static void load_index(writer *w, const cell *index, dtype t, i64 most) {
  bool wide = dtype_size(t) == 8;
  x86_load_cell(w, RAX, index, (u32)dtype_size(t));
  x86_immediate(&w->code, 7, wide, RAX, (i32)most);
  index_fix fix = {.is_signed = t != DTYPE_u32, .wide = wide, .most = (i32)most};
  fix.jump = x86_jump(&w->code, X86_ABOVE); /* or negative */
  fix.back = (u32)w->code.bytes.len;
  VEC_PUSH(w->e->a, w->fixes, fix);
}
void x86_write_fixes(writer *w) {
  jit_code *c = &w->code;
  for (u32 i = 0; i < w->fixes.len; i++) {
    const index_fix *fix = &w->fixes.data[i];
    x86_land(c, fix->jump);
    if (fix->is_signed) {
      x86_shift(c, 7, fix->wide, RAX, fix->wide ? 63 : 31);
      x86_pair(c, fix->wide, 0xf7, 2, RAX); /* not */
    } else {
      x86_pair(c, 0, 0xc7, 0, RAX); /* mov */
      x86_u32(c, UINT32_MAX);
    }
    x86_immediate(c, 4, fix->wide, RAX, fix->most); /* and */
    x86_aim(c, x86_jump_on(c), fix->back);
  }
}

/* Where a part begins: an address of RAX, RDX and the cell of the slot's place. */
static x86_rm find_place(writer *w, const part *x) {
  const prog_dynamic *d = x->d;
  jit_code *c = &w->code;
  const cell *place = x->place ? &w->cells.data[x->place] : NULL;
  x86_rm at = x86_mem(place && place->gpr != NO_REG ? place->gpr : RDX, 0);
  if (!place) x86_load(w, RDX, x86_kept(w, KEEP_SLOTS), 8);
  if (at.base == RDX)
    x86_load(w, RDX, place ? x86_home(w, place) : x86_mem(RDX, (i32)(d->big * sizeof(void *))), 8);
  for (u32 k = 0; k < d->rank; k++) {
    if (x->most[k] == 0) continue;
    if (at.index != GPR_NONE) { /* of the dim before */
      x86_plain(c, 0, 1, 0x8d, RDX, at); /* lea */
      at = x86_mem(RDX, 0);
    }
    load_index(w, &w->cells.data[x->index[k]], w->e->prog->slots[d->start[k]].type, x->most[k]);
    u64 step = (u64)x->stride[k];
    u32 scale = (u32)__builtin_ctzll(step);
    if (scale > 3) scale = 3;
    step >>= scale;
    at.index = RAX, at.scale = (u8)scale;
    if (step == 1) continue;
    if (step & (step - 1)) {
      x86_pair(c, 1, 0x69, RAX, RAX); /* imul */
      x86_u32(c, (u32)step);
    } else {
      x86_shift(c, 4, true, RAX, (u32)__builtin_ctzll(step));
    }
  }
  return at;
}
static void write_elements(writer *w, const part *x, x86_rm place) {
  u32 width = (u32)dtype_size(w->e->prog->slots[x->d->big].type);
  for (u32 i = 0; i < x->num; i++) {
    const cell *small = &w->cells.data[x->small[i]];
    x86_rm at = place;
    at.disp = (i32)x->at[i];
    if (small->real != NO_REG) {
      x86_vex(&w->code, x86_of_float(width, x->d->update ? 0x11 : 0x10), small->real, 0, at, -1);
    } else if (small->gpr != NO_REG && (width >= 4 || x->d->update)) {
      (x->d->update ? x86_store : x86_load)(w, small->gpr, at, width);
    } else if (x->d->update) {
      x86_load_cell(w, RCX, small, width);
      x86_store(w, RCX, at, width);
    } else {
      x86_load(w, small->gpr != NO_REG ? small->gpr : RCX, at, width);
      if (small->gpr == NO_REG) x86_store_cell(w, small, RCX, width);
    }
  }
}

/* The slot is from here on what it is to be a copy of. */
static void write_view(writer *w, const part *x) {
  u32 slot = x->d->small;
  x86_load(w, RAX, x86_kept(w, KEEP_SLOTS), 8);
  x86_store(w, RDX, x86_mem(RAX, (i32)(slot * sizeof(void *))), 8);
  for (u32 i = 0; i < w->l->num_ops; i++) {
    const exec_direct *d = w->direct[i];
    for (u32 k = 0; d && k < d->num; k++) {
      if (d->slot[k] != slot) continue;
      x86_plain(&w->code, 0, 1, 0x8d, RAX, x86_mem(RDX, (i32)d->at[k])); /* lea */
      x86_store(w, RAX, x86_direct(w, w->direct_at[i] + k), 8);
    }
  }
}

/* Vectors are as wide as those of who reads what was moved, or it would wait for the memory. */
static void move_vector(writer *w, x86_rm to, x86_rm from, u32 width) {
  jit_code *c = &w->code;
  x86_op op = {0, 1, 0, 0x10, (u8)(width / 32), 0, false};
  void (*const encode)(jit_code *, x86_op, u32, u32, x86_rm, i32) =
      width == 64 ? x86_evex : x86_vex;
  encode(c, op, 0, 0, from, -1);
  op.opcode = 0x11;
  encode(c, op, 0, 0, to, -1);
}
void x86_move_bytes(writer *w, x86_rm to, x86_rm from, u64 n) {
  u32 width = strcmp(w->e->k->isa, "v4") == 0 ? 64 : 32;
  while (width > n) width /= 2;
  for (u64 i = 0; i < n; i += width) {
    x86_rm t = to, f = from;
    while (width > 16 && i + width > n && n - i <= width / 2) width /= 2;
    u64 at = i + width <= n ? i : n - width;
    t.disp += (i32)at, f.disp += (i32)at;
    if (width >= 16) {
      move_vector(w, t, f, width);
    } else {
      x86_load(w, RAX, f, width);
      x86_store(w, RAX, t, width);
    }
  }
}
void x86_end_moves(writer *w, u64 run) {
  if (run < 32) return;
  x86_byte(&w->code, 0xc5), x86_byte(&w->code, 0xf8), x86_byte(&w->code, 0x77); /* vzeroupper */
}
enum { MOST_MOVES = 16 };
bool x86_is_moved(u64 runs, u64 run) { return runs * (run / 32 + 1) <= MOST_MOVES; }

static void write_runs(writer *w, const part *x) {
  x86_load(w, RCX, x86_kept(w, KEEP_SLOTS), 8);
  x86_load(w, RCX, x86_mem(RCX, (i32)(x->d->small * sizeof(void *))), 8);
  for (u64 i = 0; i < x->runs; i++) {
    x86_rm small = x86_mem(RCX, (i32)(i * x->run));
    x86_rm big = x86_mem(RDX, (i32)part_run_at(w, x, i));
    x86_move_bytes(w, x->d->update ? big : small, x->d->update ? small : big, x->run);
  }
  x86_end_moves(w, x->run);
}

bool x86_has_part(const writer *w, const part *x) {
  (void)w;
  return x->num || x->view || x86_is_moved(x->runs, x->run);
}
void x86_write_part(writer *w, const part *x) {
  x86_rm at = find_place(w, x);
  if (x->num) {
    write_elements(w, x, at);
    return;
  }
  x86_plain(&w->code, 0, 1, 0x8d, RDX, at); /* lea */
  (x->view ? write_view : write_runs)(w, x);
}
