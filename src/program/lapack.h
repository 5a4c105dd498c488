/* LAPACK's routines that the executor calls itself, under the names that JAX gives them on the CPU:
 * "lapack_<type><routine>_ffi". exec/call_lapack.c has them. */
#ifndef PROGRAM_LAPACK_H
#define PROGRAM_LAPACK_H

#include "base/base.h"

/* What the routines are called, for each type. */
#define LAPACK_OF_ALL(X, routine) X(s, routine) X(d, routine) X(c, routine) X(z, routine)
#define LAPACK_CALLS(X)                                                                            \
  LAPACK_OF_ALL(X, getrf)                                                                          \
  LAPACK_OF_ALL(X, geqrf) LAPACK_OF_ALL(X, potrf) LAPACK_OF_ALL(X, gesdd) LAPACK_OF_ALL(X, trsm)   \
      X(s, orgqr) X(d, orgqr) X(c, ungqr) X(z, ungqr) X(s, syevd) X(d, syevd) X(c, heevd)          \
          X(z, heevd)

/* One of these, where the system's LAPACK has it. */
bool lapack_serves(str target);
/* "sgetrf_" of the system's LAPACK; NULL: there is none, or nothing of that name. */
void *lapack_symbol(const char *name);

#endif
