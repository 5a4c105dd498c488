/* terrazzo run --processes: the command itself, once more for each process but the first. */
#include "processes.h"

#include <stdlib.h>

#include "net/job.h"
#include "net/mpi_wire.h"

static bool follow(const char *told, processes *p) {
  const char *address;
  os_spawned();
  if (!job_read(told, &p->rank, &p->size, &address)) {
    say_error(JOB_VARIABLE " is to be RANK/SIZE/ADDRESS, found '%s'", told);
    return false;
  }
  p->sharing = p->size;
  return !say_status(job_follow(NULL, p->rank, p->size, address, &p->w));
}

/* The command's own arguments, behind the name of the program. */
static char **whole_command(char **argv) {
  size_t n = 0;
  while (argv[n]) n++;
  char **all = calloc(n + 2, sizeof *all);
  if (!all) return NULL;
  all[0] = (char *)(uintptr_t) "terrazzo";
  memcpy(all + 1, argv, n * sizeof *all);
  return all;
}

static bool lead(u32 size, char **argv, const os_listener *l, processes *p) {
  p->children = calloc(size, sizeof *p->children);
  if (!p->children) return say_error("out of memory"), false;
  for (u32 r = 1; r < size; r++) {
    char told[OS_MAX_ADDRESS + 32];
    snprintf(told, sizeof told, "%u/%u/%s", r, size, l->address);
    if (say_status(os_spawn(argv, JOB_VARIABLE, told, &p->children[p->num_children]))) return false;
    p->num_children++;
  }
  return !say_status(job_lead(NULL, size, l, &p->w));
}

bool processes_begin(u32 size, char **argv, processes *out) {
  const char *told = getenv(JOB_VARIABLE);
  os_listener l;
  *out = (processes){.size = 1};
  if (told && *told) return follow(told, out);
  if (mpi_num_processes() > 1) {
    if (say_status(mpi_connect(NULL, 0, &out->w, &out->sharing))) return false;
    out->rank = out->w->rank;
    out->size = out->w->size;
    return true;
  }
  if (size < 2) return true;
  out->size = out->sharing = size;
  if (say_status(os_listen("localhost", &l))) return false;
  char **command = whole_command(argv);
  bool ok = command ? lead(size, command, &l, out) : (say_error("out of memory"), false);
  free(command);
  os_listener_close(&l);
  return ok;
}

bool processes_end(processes *p) {
  bool ok = true;
  wire_close(p->w);
  for (u32 i = 0; i < p->num_children; i++) {
    status s = os_await_process(p->children[i]);
    if (s) say_error("process %u of %u: %s", i + 1, p->size, status_message(s).data);
    ok &= !s;
    status_free(s);
  }
  free(p->children);
  return ok;
}
