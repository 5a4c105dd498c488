/* A wire over MPI, which is not linked: a small library built against the machine's own MPI, found
 * at run time, has the calls (shim/mpi_calls.c). */
#ifndef NET_MPI_WIRE_H
#define NET_MPI_WIRE_H

#include "net/wire.h"

/* This process was started by mpirun, mpiexec or srun, as one of several. */
bool mpi_is_wanted(void);
/* NOT_FOUND where the library is not there. The process ends MPI when the wire is closed. */
status mpi_connect(const allocator *mem, wire **out_wire) MUST_USE;

#endif
