/* Maps from words to words (loop.h) over so many that there are only 65,536 different ones among
 * them: each of those is computed once, and then looked up: less than a cycle an element, where the
 * loop is unrolled. */
#include "exec/loop.h"

enum { WORDS = 1 << 16, BLOCK = 1024 };

size_t loop_table_bytes(const kernel *kn) {
  enum { HEAVY = 8, WORTH = 22 };
  const plan *p = &kn->p;
  if (p->rank != 1 || kn->num_in != 1 || kn->num_out != 1 || kn->num_iota) return 0;
  if (kn->in[0].width != 2 || kn->out[0].width != 2 || p->max_elements < BLOCK) return 0;
  if (p->walks[0].stride[0] != 1 || p->walks[1].stride[0] != 1) return 0;
  bool worth = kn->unit->work + HEAVY * kn->num_heavy >= WORTH;
  return worth && p->dims[0] >= LOOP_TABLE ? (WORDS + BLOCK) * sizeof(u16) : 0;
}

void loop_run_table(const kernel *kn, const exec_env *env, u64 begin, u64 end) {
  const plan *p = &kn->p;
  void **reg = vm_begin(kn->unit, env->scratch, p->max_elements);
  u16 *table = (u16 *)(void *)(env->scratch + kn->table_at), *in = table + WORDS;
  for (u32 w = 0; w < WORDS; w += BLOCK) {
    for (u32 i = 0; i < BLOCK; i++) in[i] = (u16)(w + i);
    reg[0] = in, reg[1] = table + w;
    vm_run(kn->unit, reg, BLOCK);
  }
  u64 first = begin * p->piece, last = end * p->piece;
  if (last > (u64)p->dims[0]) last = (u64)p->dims[0];
  const u16 *from = (const u16 *)env->slots[kn->in[0].slot] + kn->in[0].offset;
  u16 *to = (u16 *)env->slots[kn->out[0].slot] + kn->out[0].offset;
#pragma GCC unroll 8
  for (u64 i = first; i < last; i++) to[i] = table[from[i]];
}
