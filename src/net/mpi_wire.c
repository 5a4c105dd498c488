/* Finds the library that speaks MPI. */
#include "net/mpi_wire.h"

#include <stdlib.h>

#include "base/os.h"

u32 mpi_num_processes(void) {
  static const char *const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"};
  for (size_t i = 0; i < COUNT(sizes); i++) {
    const char *n = getenv(sizes[i]);
    if (n && atoi(n) > 1) return (u32)atoi(n);
  }
  return 1;
}

static void *find(const char **out_name) {
  const char *name = getenv("TERRAZZO_MPI");
  if (!name || !*name) name = "libterrazzo_mpi.so";
  *out_name = name;
  void *library = os_library(name);
  return library ? os_symbol(library, "tz_mpi_join") : NULL;
}

bool mpi_is_there(void) {
  const char *name;
  return find(&name) != NULL;
}

status mpi_connect(const allocator *mem, u32 place, wire **out_wire, u32 *out_sharing) {
  const char *name;
  void *found = find(&name);
  status (*join)(const allocator *, u32, wire **, u32 *);
  *out_wire = NULL;
  if (!found) {
    const char *why = os_library_error();
    return status_make(STATUS_NOT_FOUND,
                       "started by MPI, but %s is not there; it is built where mpicc is "
                       "(TERRAZZO_MPI names it elsewhere): %s",
                       name, why ? why : "no such function in it");
  }
  memcpy(&join, &found, sizeof join);
  return join(mem ? mem : &mem_system, place, out_wire, out_sharing);
}
