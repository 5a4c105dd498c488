/* A wire over MPI, which is not linked: a small library built against the machine's own MPI, found
 * at run time, has the calls (shim/mpi_calls.c). */
#ifndef NET_MPI_WIRE_H
#define NET_MPI_WIRE_H

#include "net/wire.h"

/* How many processes mpirun, mpiexec or srun has started with this one; 1: it was not them. */
u32 mpi_num_processes(void);
/* Whether the library is there. */
bool mpi_is_there(void);
/* All of them call it. They are numbered in the order of their places, those that say the same in
 * MPI's. *out_sharing: how many have the processors of this one, itself among them. NOT_FOUND where
 * the library is not there. The process ends MPI when the wire is closed. */
status mpi_connect(const allocator *mem, u32 place, wire **out_wire, u32 *out_sharing) MUST_USE;

#endif
