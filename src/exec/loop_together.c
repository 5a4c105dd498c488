/* Accesses of a loop whose elements lie between one another's, and are moved together (loop.h). */
#include "exec/loop.h"

/* How many accesses from `first` on have their elements one behind the other, again and again; 0:
 * not even two, or in pairs (loop_find_pairs). */
static u32 find_family(const lower_env *e, const plan *p, const prog_access *list, u32 num,
                       u32 first_walk, u32 first) {
  const pattern *pt = &p->patterns[first_walk + first];
  i64 step = pt->stride[pt->rank - 1];
  u32 n = 1, width = (u32)dtype_size(e->prog->slots[list[first].slot].type);
  if (pt->mode != MODE_STRIDED || width > 8 || loop_stays(p, first_walk + first)) return 0;
  while (first + n < num && n < step && list[first + n].slot == list[first].slot &&
         list[first + n].offset == list[first].offset + n &&
         memcmp(&p->walks[first_walk + first], &p->walks[first_walk + first + n], sizeof(walk)) ==
             0)
    n++;
  return n < 2 || step == 2 || step > 4 * n ? 0 : n;
}
void loop_mark_families(const lower_env *e, kernel *kn, const prog_access *accesses, input *list,
                        u32 num, u32 first_walk) {
  for (u32 i = 0, n; i < num; i += n ? n : 1) {
    n = list[i].family = find_family(e, &kn->p, accesses, num, first_walk, i);
    for (u32 k = 1; k < n; k++) list[i + k].paired = true;
  }
}

void loop_find_places(const lower_env *e, const plan *p, const prog_loop *l, bool families,
                      bool *out) {
  for (u32 o = 0; o < l->num_out; o++) out[o] = p->patterns[l->num_in + o].mode == MODE_CONTIGUOUS;
  for (u32 o = 0, n; families && o < l->num_out; o += n ? n : 1) {
    n = find_family(e, p, l->out, l->num_out, l->num_in, o);
    for (u32 k = 0; k < n; k++) out[o + k] = true;
  }
}

void loop_find_pairs(const kernel *kn, input *list, u32 num, u32 first_walk, bool outputs) {
  const plan *p = &kn->p;
  for (u32 i = 0; i < num; i++)
    for (u32 k = 0; k < num; k++) {
      const pattern *pt = &p->patterns[first_walk + i];
      input *a = &list[i], *b = &list[k];
      bool scalar = outputs && (kn->unit->outputs[i].scalar || kn->unit->outputs[k].scalar);
      if (a->family || a->paired || b->family || b->paired) continue;
      if (a->slot != b->slot || b->offset != a->offset + 1 || scalar) continue;
      if (pt->mode != MODE_STRIDED || pt->stride[pt->rank - 1] != 2) continue;
      if (a->still || a->pair || b->pair || a->paired || b->paired) continue;
      if (memcmp(&p->walks[first_walk + i], &p->walks[first_walk + k], sizeof(walk)) != 0) continue;
      a->pair = k + 1, b->paired = true;
    }
}
