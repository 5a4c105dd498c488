/* Loops over some columns of their rows only (loop.h). */
#include "exec/loop.h"

u64 loop_narrows(const kernel *kn) {
  const plan *p = &kn->p;
  if (p->rank != 2 || (p->cut == 1 && p->pieces > 1) || kn->num_iota) return 0;
  for (u32 w = 0; w < p->num_walks; w++)
    if (p->walks[w].stride[1] >> 1) return 0;
  return (u64)p->dims[1];
}

void loop_run_narrow(const kernel *kn, const exec_env *env) {
  const plan *p = &kn->p;
  size_t n = env->columns[1] - env->columns[0];
  void **reg = vm_begin(kn->unit, env->scratch, p->max_elements);
  i64 step[160], rows = p->dims[0];
  for (u32 w = 0; w < kn->num_in + kn->num_out; w++) {
    const input *x = w < kn->num_in ? &kn->in[w] : &kn->out[w - kn->num_in];
    const i64 *stride = p->walks[w].stride;
    reg[w] = (char *)env->slots[x->slot] +
             (x->offset + (i64)env->columns[0] * stride[1]) * (i64)x->width;
    step[w] = stride[0] * (i64)x->width;
  }
  if (kn->unit->rows) {
    kn->unit->rows(n, reg, (size_t)rows, step);
    return;
  }
  for (i64 i = 0; i < rows; i++) {
    vm_run(kn->unit, reg, n);
    for (u32 w = 0; w < kn->num_in + kn->num_out; w++) reg[w] = (char *)reg[w] + step[w];
  }
}
