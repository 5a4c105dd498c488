/* A run of a program that takes nothing, by whoever compiles: on an executor of its own, so that it
 * waits for nobody's launches. */
#include "exec/exec.h"

static void took(void *user, status error) {
  status *result = user;
  if (error) *result = status_copy(error);
}

static status launch(executor *x, const program *p, executor_memory **memory) {
  const u32 device = 0;
  status result = NULL;
  executor_image *image;
  RETURN_IF_ERROR(executor_image_create(x, p, NULL, NULL, &image));
  executor_launch_args args = {
      .image = image, .devices = &device, .results = memory, .done = took, .user = &result};
  status refused = executor_launch(x, &args);
  executor_stop(x); /* when it is done */
  executor_image_release(x, image);
  return refused ? refused : result;
}

status exec_evaluate(const program *p, void *const *results) {
  executor *x;
  u32 n = 0;
  if (p->num_params || program_num_devices(p) != 1)
    return status_make(STATUS_INVALID_ARGUMENT, "takes parameters, or several devices");
  RETURN_IF_ERROR(exec_create(&(exec_options){.kind = "plain"}, &x));
  executor_memory **memory = mem_zalloc(&mem_system, (p->num_results + 1) * sizeof *memory);
  status s = memory ? NULL : status_oom();
  for (; !s && n < p->num_results; n++) {
    memory[n] = executor_alloc(x, 0, prog_slot_bytes(&p->slots[p->result_slot[n]]));
    if (!memory[n]) s = status_oom();
  }
  if (!s) s = launch(x, p, memory);
  for (u32 i = 0; i < n && memory[i]; i++) {
    size_t bytes = prog_slot_bytes(&p->slots[p->result_slot[i]]);
    if (!s) memcpy(results[i], executor_map(x, memory[i]), bytes);
    executor_free(x, memory[i], bytes);
  }
  mem_free(&mem_system, memory, (p->num_results + 1) * sizeof *memory);
  executor_release(x);
  return s;
}
