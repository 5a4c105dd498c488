/* Convolutions by Winograd's minimal filtering F(2x2, 3x3) (Lavin and Gray, Fast Algorithms for
 * Convolutional Neural Networks, 2015): 16 products make four results that take 36 one by one.
 *
 * Per pair of features, with tiles d of 4x4 pixels and kernels g of 3x3,
 *   results = A' ((G g G') * (B' d B)) A     (*: element by element, then summed over features)
 *
 *        |1  0 -1  0|        |1  0  0|         |1 1/2  1/2  0|
 *   B' = |0  1  1  0|    G = |1  1  1|    A' = |0 1/2 -1/2 -1|
 *        |0 -1  1  0|        |1 -1  1|
 *        |0  1  0 -1|        |0  0  1|
 *
 * whose halves stand with the results and not with the kernel, where they might be denormal. The
 * kernel's gradient by that of the results, r, is the transpose of this: summed over tiles,
 *   gradient = G' ((A r A') * (B' d B)) G */
#include "program/parts.h"

/* The dims of the result's pixels and features, and of what is summed up, by what they are. */
static bool find_dims(const prog_dot *d, prog_tiles *t) {
  const i64 *n = d->dims, *l = d->lhs_stride, *r = d->rhs_stride, *o = d->out_stride;
  if (d->nb || d->nm != 3 || d->nn != 1 || d->nk != 3 || l[4] != l[1] || l[5] != l[2]) return false;
  t->gradient = n[1] == 3 && n[2] == 3;
  t->k = n[3];
  if (t->gradient) {
    t->n = n[6], t->h = n[4], t->w = n[5], t->c = n[0];
    memcpy(t->from, (i64[]){l[6], l[1], l[2], l[0]}, sizeof t->from);
    memcpy(t->to, (i64[]){r[6], r[4], r[5], r[3]}, sizeof t->to);
    i64 least = o[1] < o[2] ? o[1] : o[2], most = o[1] < o[2] ? o[2] : o[1];
    return o[0] < least || o[0] > most;
  }
  t->n = n[0], t->h = n[1], t->w = n[2], t->c = n[6];
  memcpy(t->from, (i64[]){l[0], l[1], l[2], l[6]}, sizeof t->from);
  memcpy(t->to, (i64[]){o[0], o[1], o[2], o[3]}, sizeof t->to);
  bool in_order = o[1] >= o[2] && o[2] >= 1 && (t->n == 1 || o[0] >= o[1]);
  return n[4] == 3 && n[5] == 3 && in_order;
}

bool prog_find_tiles(const prog_dot *d, prog_tiles *t) {
  enum { LEAST = 24, LEAST_SUMS = 64, MOST = 1 << 12 };
  *t = (prog_tiles){.panel = 64};
  if (!find_dims(d, t) || t->h < 2 || t->w < 2) return false;
  if (t->c < 16 || t->c > MOST || t->c % 16 || t->k < 16 || t->k > MOST || t->k % 16) return false;
  if ((t->from[3] != 1 && t->from[2] != 1) || (t->to[3] != 1 && t->to[2] != 1)) return false;
  while (t->k % t->panel) t->panel -= 16;
  t->high = t->h / 2 + t->h % 2;
  t->wide = t->w / 2 + t->w % 2;
  return checked_mul(t->high, t->wide, &t->all) && checked_mul(t->all, t->n, &t->all) &&
         t->all >= (t->gradient ? LEAST_SUMS : LEAST);
}

/* Three values become four, those of G. */
static void make_four(prog_builder *b, vm_code *c, u32 *x, u32 step) {
  u32 first = x[0], last = x[2 * step];
  u32 sum = vm_emit(b, c, VM_add, DTYPE_f32, first, last, 0), middle = x[step];
  x[step] = vm_emit(b, c, VM_add, DTYPE_f32, sum, middle, 0);
  x[2 * step] = vm_emit(b, c, VM_sub, DTYPE_f32, sum, middle, 0);
  x[3 * step] = last;
}

void prog_add_tiles(prog_builder *b, prog_dot *d, str name, str loc) {
  prog_tiles t;
  bool f32 = prog_slot_type(b, d->lhs) == DTYPE_f32 && prog_slot_type(b, d->rhs) == DTYPE_f32 &&
             prog_slot_type(b, d->out) == DTYPE_f32;
  if (!f32 || !prog_find_tiles(d, &t)) return;
  d->by_tiles = true;
  d->taps = d->rhs;
  if (t.gradient) return;
  const i64 *in = d->rhs_stride;
  i64 dims[] = {t.k / t.panel, t.c, t.panel}, from[] = {t.panel * in[3], in[6], in[3]};
  i64 to[] = {t.c * t.panel, t.panel, 1};
  d->taps = prog_work(b, DTYPE_f32, (u64)(16 * t.c * t.k));
  prog_loop *l = prog_add_loop(b, 3, dims, name, loc);
  u32 x[16];
  for (u32 i = 0; i < 9; i++) {
    i64 at = d->rhs_offset + i / 3 * in[4] + i % 3 * in[5];
    x[i / 3 * 4 + i % 3] = vm_load(b, &l->code, DTYPE_f32, prog_loop_in(b, l, d->rhs, at, from));
  }
  for (u32 i = 0; i < 3; i++) make_four(b, &l->code, x + i, 4);
  for (u32 i = 0; i < 4; i++) make_four(b, &l->code, x + 4 * i, 1);
  for (u32 i = 0; i < 16; i++) prog_loop_out(b, l, d->taps, i * t.c * t.k, to, x[i]);
}
