/* A copy of a parameter, for a program that writes over it before it has read all of it. */
#include "program/parts.h"

void prog_save_param(arena *out, arena *a, program *p, u32 q) {
  prog_slot *slots = ARENA_ARRAY(a, prog_slot, p->num_slots + 1);
  memcpy(slots, p->slots, p->num_slots * sizeof(prog_slot));
  slots[p->num_slots] = slots[q];
  slots[p->num_slots].kind = SLOT_WORK;
  p->slots = slots;
  u32 copy_slot = p->num_slots++;
  for (u32 i = 0; i < p->num_steps; i++) prog_step_rename(&p->steps[i], q, copy_slot);
  prog_copy *c = ARENA_NEW(out, prog_copy);
  c->rank = 1;
  c->dims[0] = (i64)slots[q].count;
  c->src = (prog_access){.slot = q, .stride = {1}};
  c->dst = (prog_access){.slot = copy_slot, .stride = {1}};
  prog_step *steps = ARENA_ARRAY(a, prog_step, p->num_steps + 1);
  memcpy(steps + 1, p->steps, p->num_steps * sizeof(prog_step));
  steps[0] = (prog_step){.kind = STEP_copy, .name = STR("save_donated"), .u.copy_ = c};
  p->steps = steps;
  p->num_steps++;
  for (u32 i = 1; i < p->num_steps; i++) {
    prog_jump *j = prog_step_jump(&steps[i]);
    for (u32 k = 0; j && k < j->n; k++) j->target[k]++;
  }
}
