/* A plugin that does no work: what a framework takes by itself for a call of a program.
 *
 * It is the plugin that the environment's NOOP_OF names, but for Execute: that runs a program once
 * and gives out the results of that time again whenever it is called later. So they must not be
 * donated. One thread at a time. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "base/base.h"
#include "pjrt/abi.h"

API const PJRT_Api *GetPjrtApi(void);

enum { PROGRAMS = 64, DEVICES = 64, RESULTS = 8 };

static const PJRT_Api *real;
static PJRT_Api table;
static PJRT_Event *done; /* set; of whoever wants one */

static struct prepared {
  PJRT_LoadedExecutable *program;
  PJRT_Buffer *results[DEVICES][RESULTS];
  size_t num_results;
} prepared[PROGRAMS];
static size_t num_prepared;

static PJRT_Error *prepare(struct prepared *p, PJRT_LoadedExecutable_Execute_Args *a) {
  PJRT_LoadedExecutable_GetExecutable_Args x = {.struct_size =
                                                    PJRT_LoadedExecutable_GetExecutable_Args_END,
                                                .loaded_executable = a->executable};
  PJRT_Error *e = real->PJRT_LoadedExecutable_GetExecutable(&x);
  if (e) return e;
  PJRT_Executable_NumOutputs_Args n = {.struct_size = PJRT_Executable_NumOutputs_Args_END,
                                       .executable = x.executable};
  e = real->PJRT_Executable_NumOutputs(&n);
  PJRT_Executable_Destroy_Args end = {.struct_size = PJRT_Executable_Destroy_Args_END,
                                      .executable = x.executable};
  real->PJRT_Executable_Destroy(&end);
  if (!e) e = real->PJRT_LoadedExecutable_Execute(a);
  if (e) return e;
  if (n.num_outputs > RESULTS || a->num_devices > DEVICES) abort();
  p->program = a->executable;
  p->num_results = n.num_outputs;
  for (size_t i = 0; i < a->num_devices; i++)
    memcpy(p->results[i], a->output_lists[i], p->num_results * sizeof(PJRT_Buffer *));
  return NULL;
}

static PJRT_Error *execute(PJRT_LoadedExecutable_Execute_Args *a) {
  size_t k = 0;
  while (k < num_prepared && prepared[k].program != a->executable) k++;
  struct prepared *p = &prepared[k];
  if (k == num_prepared) {
    if (k == PROGRAMS) abort();
    PJRT_Error *e = prepare(p, a);
    num_prepared += !e;
    return e;
  }
  for (size_t i = 0; i < a->num_devices; i++) {
    for (size_t r = 0; r < p->num_results; r++) a->output_lists[i][r] = p->results[i][r];
    if (a->device_complete_events) a->device_complete_events[i] = done;
  }
  return NULL;
}

static PJRT_Error *destroy_loaded(PJRT_LoadedExecutable_Destroy_Args *a) {
  for (size_t k = 0; k < num_prepared; k++)
    if (prepared[k].program == a->executable) prepared[k].program = NULL;
  return real->PJRT_LoadedExecutable_Destroy(a);
}

static PJRT_Error *destroy_event(PJRT_Event_Destroy_Args *a) {
  return a->event == done ? NULL : real->PJRT_Event_Destroy(a);
}

static PJRT_Error *destroy_buffer(PJRT_Buffer_Destroy_Args *a) {
  for (size_t k = 0; k < num_prepared; k++)
    for (size_t i = 0; i < DEVICES && prepared[k].results[i][0]; i++)
      for (size_t r = 0; r < prepared[k].num_results; r++)
        if (prepared[k].results[i][r] == a->buffer) return NULL;
  return real->PJRT_Buffer_Destroy(a);
}

const PJRT_Api *GetPjrtApi(void) {
  if (real) return &table;
  const char *path = getenv("NOOP_OF");
  void *library = path ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
  const PJRT_Api *(*get)(void) = NULL;
  void *symbol = library ? dlsym(library, "GetPjrtApi") : NULL;
  memcpy(&get, &symbol, sizeof get);
  if (!get) return NULL;
  real = get();
  table = *real;
  table.PJRT_LoadedExecutable_Execute = execute;
  table.PJRT_LoadedExecutable_Destroy = destroy_loaded;
  table.PJRT_Event_Destroy = destroy_event;
  table.PJRT_Buffer_Destroy = destroy_buffer;
  PJRT_Event_Create_Args made = {.struct_size = PJRT_Event_Create_Args_END};
  PJRT_Event_Set_Args set = {.struct_size = PJRT_Event_Set_Args_END};
  if (real->PJRT_Event_Create(&made)) return NULL;
  set.event = done = made.event;
  return real->PJRT_Event_Set(&set) ? NULL : &table;
}
