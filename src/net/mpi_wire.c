/* Finds the library that speaks MPI. */
#include "net/mpi_wire.h"

#include <stdlib.h>

#include "base/os.h"

bool mpi_is_wanted(void) {
  static const char *const sizes[] = {"PMI_SIZE", "OMPI_COMM_WORLD_SIZE", "MPI_LOCALNRANKS"};
  for (size_t i = 0; i < COUNT(sizes); i++) {
    const char *n = getenv(sizes[i]);
    if (n && atoi(n) > 1) return true;
  }
  return false;
}

status mpi_connect(const allocator *mem, wire **out_wire) {
  const char *name = getenv("TERRAZZO_MPI");
  if (!name || !*name) name = "libterrazzo_mpi.so";
  void *library = os_library(name), *found = library ? os_symbol(library, "tz_mpi_wire") : NULL;
  status (*make)(const allocator *, wire **);
  *out_wire = NULL;
  if (!found) {
    const char *why = os_library_error();
    return status_make(STATUS_NOT_FOUND,
                       "started by MPI, but %s is not there; it is built where mpicc is "
                       "(TERRAZZO_MPI names it elsewhere): %s",
                       name, why ? why : "no such function in it");
  }
  memcpy(&make, &found, sizeof make);
  return make(mem ? mem : &mem_system, out_wire);
}
