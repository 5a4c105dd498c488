/* Where the memory of results is free for a while: between the last step that reads what is there
 * and the one that writes all of it anew, as in a loop that carries it. */
#include "program/parts.h"

/* Runs of steps without a jump, by step. */
static u32 *find_runs(arena *a, const program *p) {
  u32 *run = arena_zalloc(a, ((size_t)p->num_steps + 2) * sizeof(u32));
  for (u32 t = 0; t < p->num_steps; t++) {
    const prog_jump *j = prog_step_jump(&p->steps[t]);
    for (u32 k = 0; j && k < j->n; k++) run[j->target[k]] = 1;
    if (j) run[t + 1] = 1;
  }
  for (u32 t = 1; t <= p->num_steps; t++) run[t] += run[t - 1];
  return run;
}

prog_gaps prog_find_gaps(arena *a, const program *p) {
  prog_gaps gaps = {0};
  prog_touches x = prog_find_touches(a, p);
  const u32 *run = find_runs(a, p);
  for (u32 i = 0; i < p->num_results; i++) {
    u32 slot = p->result_slot[i], owner = prog_slot_owner(p, slot), end = x.begin[owner + 1];
    for (u32 k = x.begin[owner] + 1; k < end; k++) {
      u32 from = x.list[k - 1].step + 1, until = x.list[k].step;
      bool alone = k + 1 == end || x.list[k + 1].step > until;
      if (until > from && alone && x.list[k].use == USE_WRITE && run[from - 1] == run[until] &&
          prog_step_writes(p, &p->steps[until], slot) == p->slots[slot].count)
        VEC_PUSH(a, gaps, ((prog_gap){slot, from, until}));
    }
  }
  return gaps;
}
