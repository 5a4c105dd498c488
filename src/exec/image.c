/* From a program to an image, once a program and executor: each step's lowering is called, and what
 * cannot run is refused here. An image is immutable and counted; launches of any thread share it.
 * It points into the program, which `release` gives back with the last reference. */
#include "exec/image.h"

#include <stdlib.h>

#include "device/heap.h"
#include "exec/scalars.h"

static status cannot_run(const prog_step *s, const char *what, const char *of) {
  return status_make(STATUS_UNIMPLEMENTED, STR_FMT ": " STR_FMT ": cannot run %s%s%s",
                     STR_ARG(s->loc), STR_ARG(s->name), what, of ? " of " : "", of ? of : "");
}

/* Takes `why`. */
static status because(const prog_step *s, status why) {
  str words = status_message(why);
  status said = status_make(status_get_code(why), STR_FMT ": " STR_FMT ": " STR_FMT,
                            STR_ARG(s->loc), STR_ARG(s->name), STR_ARG(words));
  status_free(why);
  return said;
}

/* ---- prepare_<kind>: what step i of each kind of program/program.h needs to run ---- */

#define PREPARE(name, type)                                                                        \
  static void prepare_##name(executor_image *im, const lower_env *e, const type *payload, u32 i) { \
    name##_lower(e, payload, &im->steps[i]);                                                       \
  }
PREPARE(loop, prog_loop)
PREPARE(dot, prog_dot)
PREPARE(copy, prog_copy)
PREPARE(dynamic, prog_dynamic)
PREPARE(gather, prog_gather)
PREPARE(sort, prog_sort)
PREPARE(window, prog_window)
PREPARE(select_scatter, prog_select_scatter)
PREPARE(rng, prog_rng)
PREPARE(call, prog_call)
PREPARE(strips, prog_strips)

static void prepare_collective(executor_image *im, const lower_env *e, const prog_collective *c,
                               u32 i) {
  exec_collective *x = ARENA_NEW(&im->a, exec_collective);
  coll_lower(e, c, x);
  x->first_group = im->num_groups;
  im->num_groups += x->num_groups;
  im->collectives[i] = x;
  if (x->scratch > im->scratch) im->scratch = x->scratch;
}

static void prepare_nothing(executor_image *im, const lower_env *e, const void *payload, u32 i) {
  (void)im, (void)e, (void)payload, (void)i;
}

enum { A_STEP = 50 }; /* ns */

/* One position's share of a meeting. */
static u64 cost_of_meeting(const executor_image *im, const prog_collective *c) {
  enum { MEETING = 100, SPEED = 50 }; /* ns, bytes a ns */
  u64 bytes = 0;
  for (u32 i = 0; i < c->n; i++)
    bytes +=
        prog_slot_bytes(&im->prog->slots[c->in[i]]) + prog_slot_bytes(&im->prog->slots[c->out[i]]);
  return MEETING + bytes / SPEED;
}

/* Back: what lies between is done who knows how often. */
static void prepare_jump(executor_image *im, const lower_env *e, const prog_jump *j, u32 i) {
  (void)e;
  exec_step *jump = &im->steps[i];
  u32 first = i;
  for (u32 k = 0; k < j->n; k++)
    if (j->target[k] < first) first = j->target[k];
  for (u32 k = first; k < i; k++) {
    const exec_step *x = &im->steps[k];
    u64 work, meeting = im->collectives[k] ? cost_of_meeting(im, im->collectives[k]->c) : 0;
    if (__builtin_mul_overflow(x->units, x->cost, &work) ||
        __builtin_add_overflow(jump->cost, work + A_STEP + meeting, &jump->cost))
      jump->cost = UINT64_MAX / 2;
  }
}
#define prepare_jump_unless prepare_jump
#define prepare_case prepare_jump
#define prepare_partition_id prepare_nothing
#define prepare_replica_id prepare_nothing

/* From the same list as run_step of place.c: a kind of step without a prepare_<kind> does not
 * compile. */
static void prepare_step(executor_image *im, const lower_env *e, const prog_step *s, u32 i) {
  switch (s->kind) {
#define STEP(name, ...)                                                                            \
  case STEP_##name:                                                                                \
    prepare_##name(im, e, s->u.name##_, i);                                                        \
    break;
    PROG_STEPS(STEP)
#undef STEP
  case STEP_COUNT_:
    break;
  }
}

/* How long a step takes is known where nothing outside takes part. What is not known stays
 * so, as the sum overflows. */
static void count_cost(executor_image *im, u32 i) {
  const prog_step *s = &im->prog->steps[i];
  const exec_step *x = &im->steps[i];
  u64 work;
  if (x->start || __builtin_mul_overflow(x->units, x->cost, &work) ||
      __builtin_add_overflow(im->cost, work + A_STEP, &im->cost))
    im->cost = UINT64_MAX;
  if (s->kind == STEP_collective) im->meetings += cost_of_meeting(im, s->u.collective_);
}

static bool *find_targets(arena *a, const program *p) {
  bool *is = arena_zalloc(a, p->num_steps + 1);
  for (u32 i = 0; i < p->num_steps; i++) {
    const prog_jump *j = prog_step_jump(&p->steps[i]);
    for (u32 k = 0; j && k < j->n; k++) is[j->target[k]] = true;
  }
  return is;
}

/* Steps from i on that are one; those behind the first have nothing left to do. */
static u32 join_steps(executor_image *im, const lower_env *e, u32 i, const bool *targets) {
  const program *p = im->prog;
  u32 most = 1;
  while (most < SHUFFLE_PIECES && i + most < p->num_steps && !targets[i + most]) most++;
  return most > 1 ? shuffle_steps(e, &p->steps[i], most, &im->steps[i]) : 0;
}

/* A kernel that is missing is found here and not when it is called. Scratch is the largest of
 * all steps': a worker has one piece of memory, and no step fails for want of it. */
static status lower_steps(executor_image *im, const lower_env *e) {
  const program *p = im->prog;
  im->steps = arena_zalloc(&im->a, (p->num_steps + 1) * sizeof(exec_step));
  im->collectives = arena_zalloc(&im->a, (p->num_steps + 1) * sizeof(exec_collective *));
  const bool *targets = find_targets(&im->a, p);
  for (u32 i = 0, joined = 0; i < p->num_steps; i++) {
    const prog_step *s = &p->steps[i];
    if (s->kind >= STEP_COUNT_) return cannot_run(s, "a step of this kind", NULL);
    joined -= joined > 0;
    if (joined == 0) joined = join_steps(im, e, i, targets);
    if (joined == 0) prepare_step(im, e, s, i);
    if (e->fault->words) return because(s, e->fault->words);
    if (e->fault->op) return cannot_run(s, e->fault->op, dtype_infos[e->fault->type].name);
    count_cost(im, i);
    if (im->steps[i].scratch > im->scratch) im->scratch = im->steps[i].scratch;
  }
  im->scalars = dev_poison_wanted() ? NULL : scalars_lower(e, im->steps);
  for (u32 i = 0; im->scalars && i < p->num_steps; i++)
    if (im->scalars[i].scratch > im->scratch) im->scratch = im->scalars[i].scratch;
  return NULL;
}

static bool marks_each_once(arena *a, const u32 *list, u32 n, u32 step, u32 devices) {
  bool *seen = arena_zalloc(a, devices);
  for (u32 i = 0; i < n; i++) {
    if (seen[list[i * step]]) return false;
    seen[list[i * step]] = true;
  }
  return true;
}

/* What program_validate leaves to us: each device in one group, one source, one target. */
static status check_members(executor_image *im) {
  const program *p = im->prog;
  u32 devices = program_num_devices(p);
  for (u32 i = 0; i < p->num_steps; i++) {
    const prog_step *s = &p->steps[i];
    if (s->kind != STEP_collective) continue;
    const prog_collective *c = s->u.collective_;
    u32 n = c->num_groups ? c->begin[c->num_groups] : 0;
    if (!marks_each_once(&im->a, c->members, n, 1, devices) ||
        !marks_each_once(&im->a, c->pairs + 1, c->num_pairs, 2, devices) ||
        !marks_each_once(&im->a, c->pairs, c->num_pairs, 2, devices))
      return status_make(STATUS_INVALID_ARGUMENT, STR_FMT ": " STR_FMT ": a device named twice",
                         STR_ARG(s->loc), STR_ARG(s->name));
  }
  return NULL;
}

/* Everything that may run out of memory; apart, so that no local lives across the jump. */
static status fill_image(executor_image *im, arena *scratch) {
  RETURN_IF_ERROR(check_members(im));
  im->k = vm_kernels_get();
  lower_fault fault = {0};
  im->jit = jit_begin(im->mem, im->k, im->prog->flush_denormals);
  offset_table *tables = NULL;
  lower_env e = {.a = &im->a,
                 .scratch = scratch,
                 .tables = &tables,
                 .prog = im->prog,
                 .k = im->k,
                 .fault = &fault,
                 .jit = im->jit};
  RETURN_IF_ERROR(lower_steps(im, &e));
  if (im->jit && !jit_seal(im->jit)) { /* once more, without */
    jit_end(im->jit);
    im->jit = e.jit = NULL;
    im->num_groups = 0;
    im->cost = im->meetings = im->scratch = 0;
    RETURN_IF_ERROR(lower_steps(im, &e));
  }
  if (dev_poison_wanted()) im->deaths = prog_find_deaths(&im->a, im->prog);
  return NULL;
}
static status try_fill_image(executor_image *im, arena *scratch) {
  oom_trap trap;
  arena_init(&im->a, im->mem, &trap);
  arena_init(scratch, im->mem, &trap);
  if (setjmp(trap.at)) return status_oom();
  status s = fill_image(im, scratch);
  im->a.trap = NULL; /* nothing is allocated after this */
  return s;
}

status exec_image_create(const allocator *mem, const program *prog, void (*release)(void *user),
                         void *user, executor_image **out_image) {
  *out_image = NULL;
  if (!mem) mem = &mem_system;
  executor_image *im = mem_zalloc(mem, sizeof *im);
  if (!im) return status_oom();
  im->mem = mem;
  im->prog = prog;
  arena scratch;
  status s = try_fill_image(im, &scratch);
  arena_deinit(&scratch);
  if (s) {
    jit_end(im->jit);
    arena_deinit(&im->a);
    mem_free(mem, im, sizeof *im);
    return s;
  }
  im->release = release;
  im->user = user;
  atomic_init(&im->refs, 1);
  *out_image = im;
  return NULL;
}

executor_image *exec_image_retain(executor_image *image) {
  atomic_fetch_add_explicit(&image->refs, 1, memory_order_relaxed);
  return image;
}

void exec_image_release(executor_image *image) {
  if (!image || atomic_fetch_sub_explicit(&image->refs, 1, memory_order_acq_rel) != 1) return;
  if (image->release) image->release(image->user);
  const allocator *mem = image->mem;
  jit_end(image->jit);
  arena_deinit(&image->a);
  mem_free(mem, image, sizeof *image);
}
