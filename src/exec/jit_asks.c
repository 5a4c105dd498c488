/* Comparisons of code over single elements (jit_cells.h) that only a choice or a jump asks for, a
 * few operations on: done there they leave flags, and nobody has to keep the answer. */
#include "exec/jit_cells.h"

#include "exec/scalar_build.h"

/* Where others may come to: by jumps, or from elsewhere. */
static void note_entry(writer *w, bool *labels, u32 i) {
  labels[i] = true;
  VEC_PUSH(w->e->a, w->entries, i);
}
void cells_find_labels(writer *w) {
  const scalar_list *l = w->l;
  const program *p = w->e->prog;
  bool *labels = arena_zalloc(w->e->a, l->num_ops + 1);
  for (u32 i = 0; i < l->num_ops; i++) {
    u32 kind = l->ops[i].is.kind;
    if (kind == SCALAR_BACK) note_entry(w, labels, i);
    if (kind == SCALAR_JUMP || kind == SCALAR_UNLESS || kind == SCALAR_BACK)
      labels[l->ops[i].u.to - l->ops] = true;
  }
  note_entry(w, labels, l->start[l->first]);
  for (u32 i = 0; i < p->num_steps; i++) {
    const prog_jump *j = i < l->first || i >= l->end ? prog_step_jump(&p->steps[i]) : NULL;
    for (u32 k = 0; j && k < j->n; k++)
      if (j->target[k] >= l->first && j->target[k] < l->end)
        note_entry(w, labels, l->start[j->target[k]]);
  }
  w->labels = labels;
}

static bool is_in(const writer *w, const u64 *set, u32 op, u32 cell) {
  return cells_have(w, set, &w->l->ops[op], cell);
}

static bool is_cleaned(const scalar_op *o) { /* it is a bit already */
  return o->is.kind == SCALAR_CONVERT && o->is.of == R_pred && o->is.type == R_pred;
}

/* Who asks for the answer of comparison `at`, alone; 0: nobody may. What only hands it on is done
 * later, too. */
static u32 find_asker(const writer *w, u32 at) {
  enum { FAR = 24 };
  const scalar_op *ops = w->l->ops, *o = &ops[at];
  u32 x = w->cell_of[o->a], y = w->cell_of[o->b], d = w->cell_of[o->d], between = 0;
  for (u32 i = at + 1; i < w->l->num_ops && i <= at + FAR && !w->labels[i]; i++) {
    u32 kind = ops[i].is.kind;
    bool asks = is_in(w, w->reads, i, d), gone = !is_in(w, w->live, i, d);
    bool calls = kind == SCALAR_KERNEL || (kind == SCALAR_STEP && !w->part_of[i]);
    if (calls || is_in(w, w->put, i, d)) return 0;
    if (asks && is_cleaned(&ops[i]) && (gone || w->cell_of[ops[i].d] == d) && !between) {
      d = w->cell_of[ops[i].d], between = i;
    } else if (asks) {
      bool chooses = kind == SCALAR_SELECT && ops[i].is.of <= 3;
      bool known = (chooses && w->cell_of[ops[i].b] != d && w->cell_of[ops[i].c] != d) ||
                   kind == SCALAR_UNLESS;
      if (!known || w->cell_of[ops[i].a] != d || (!gone && !is_in(w, w->writes, i, d))) return 0;
      if (between) w->later[between] = true;
      return i;
    } else if (is_in(w, w->writes, i, d)) {
      return 0;
    }
    if (kind >= SCALAR_JUMP && kind <= SCALAR_LEAVE) return 0;
    if (is_in(w, w->writes, i, x) || is_in(w, w->writes, i, y)) return 0;
  }
  return 0;
}

static void keep_live(const writer *w, u32 op, u32 reg) {
  u32 cell = w->cell_of[reg];
  w->live[(size_t)op * w->words + cell / 64] |= 1ull << cell % 64;
}

void cells_find_asks(writer *w) {
  const scalar_op *ops = w->l->ops;
  w->asks = arena_zalloc(w->e->a, (w->l->num_ops + 1) * sizeof(u32));
  w->later = arena_zalloc(w->e->a, w->l->num_ops + 1);
  for (u32 i = 0; i < w->l->num_ops && cells_machine.waits; i++) {
    if (ops[i].is.kind != SCALAR_BINARY || !is_comparison(ops[i].is.of)) continue;
    u32 by = find_asker(w, i);
    if (!by || w->asks[by]) continue;
    w->asks[by] = i + 1;
    w->later[i] = true;
    for (u32 k = i; k < by; k++) keep_live(w, k, ops[i].a), keep_live(w, k, ops[i].b);
  }
}
