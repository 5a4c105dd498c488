/* A program lowered: one exec_step a step, collectives with their groups by device.
 *
 * Made once (exec_image_create, by the table's image_create), then only read: any number of
 * launches may run it at the same time, on any threads, and each holds a reference (launch.c). It
 * borrows the program until `release`, which the last reference calls; what changes is in `launch`
 * and `place`, and all that is kept of a launch is that it took long. */
#ifndef EXEC_IMAGE_H
#define EXEC_IMAGE_H

#include <stdatomic.h>

#include "device/executor.h"
#include "exec/jit.h"
#include "exec/step.h"
#include "exec/vm.h"

/* How operands of members are combined, `fan` in a pass at most: as many as compiled code keeps
 * pointers for, where they lie as registers have them. */
enum { COLL_FAN = 8 };
typedef struct coll_passes {
  u32 fan;
  vm_unit *of[COLL_FAN + 1]; /* by operands; NULL: none is needed */
} coll_passes;

/* A collective as the rendezvous sees it. Groups are numbered through the whole program. */
typedef struct exec_collective {
  const prog_collective *c;
  u32 num_groups, first_group;
  const u32 *begin, *members; /* groups; a permute has one, of all that occur in its pairs */
  u32 *group_of, *rank_of;    /* by device; group PROG_NONE: in none */
  u32 *source_of, *target_of; /* permute: by device, who sends to it, and it to; or PROG_NONE */
  coll_passes *passes;        /* reductions: by operand, on registers */
  dtype *types;               /* by operand */
  u64 *counts;
  u64 written; /* bytes a member gets */
  const vm_kernels *k;
  size_t scratch;
} exec_collective;

struct executor_image {
  atomic_uint refs;
  const allocator *mem;
  arena a;
  const program *prog;
  void (*release)(void *user);
  void *user;
  const vm_kernels *k;
  exec_step *steps;
  const exec_step *scalars;      /* scalars.h; NULL: none */
  exec_collective **collectives; /* by step; NULL elsewhere */
  u32 num_groups;
  jit *jit;           /* the code of its units; NULL: none */
  size_t scratch;     /* the most any step needs */
  u64 cost;           /* of a run at one position where nothing jumps back, about nanoseconds;
                         UINT64_MAX: not known */
  u64 meetings;       /* a position's share of those, in the same way */
  atomic_bool lasts;  /* one that jumped back took longer than a launching thread has */
  prog_deaths deaths; /* begin NULL: memory is not poisoned */
};

/* A program made ready to run: kernels chosen, loops flattened. As executor_ops has it; mem NULL:
 * mem_system. */
status exec_image_create(const allocator *mem, const program *prog, void (*release)(void *user),
                         void *user, executor_image **out_image) MUST_USE;
executor_image *exec_image_retain(executor_image *image);
void exec_image_release(executor_image *image);

/* Does the work of one meeting: all members of `group` have arrived at collective x; slots[d] are
 * the slots of device first + d. Results are those of the `count` devices that are here; members
 * elsewhere have handed in parts. Work is cut into units as in step.h.
 *
 * A large all-reduce with members elsewhere goes in two phases, with a meeting each: each member
 * has a share of the result, which is made where the member is, and then handed to all. */
typedef enum coll_phase { COLL_WHOLE, COLL_OWN_SHARES, COLL_OTHER_SHARES } coll_phase;
typedef struct coll_work {
  const exec_collective *x;
  u32 group, first, count;
  const u32 *numbers; /* by device: what first counts; NULL: itself */
  void *const *const *slots;
  void *const *parts; /* operands, [rank * n + i]; NULL: all members are here */
  coll_phase phase;   /* of COLL_OTHER_SHARES operands are results, as far as they are there */
} coll_work;
void coll_lower(const lower_env *e, const prog_collective *c, exec_collective *out);
u64 coll_units(const coll_work *w, const program *p, u64 *out_cost);
/* What members [first, first + count) look at of operand i of member `from`, by ranks. */
executor_range coll_needs(const coll_work *w, u32 from, u32 i, u32 first, u32 count);
bool coll_has_shares(const exec_collective *x);
void coll_run(const void *work, const exec_env *env, u64 begin, u64 end);

#endif
