/* LAPACK's routines that the executor calls itself, under the names that JAX gives them on the CPU:
 * "lapack_<type><routine>_ffi". exec/call_lapack.c has them. */
#ifndef PROGRAM_LAPACK_H
#define PROGRAM_LAPACK_H

#include "base/base.h"

/* What the routines are called, for each type; their operands and results. */
#define LAPACK_OF_ALL(X, routine, in, out)                                                         \
  X(s, routine, in, out)                                                                           \
  X(d, routine, in, out)                                                                           \
  X(c, routine, in, out)                                                                           \
  X(z, routine, in, out)
#define LAPACK_CALLS(X)                                                                            \
  LAPACK_OF_ALL(X, getrf, 1, 3)                                                                    \
  LAPACK_OF_ALL(X, geqrf, 1, 2)                                                                    \
  LAPACK_OF_ALL(X, geqp3, 2, 3)                                                                    \
  LAPACK_OF_ALL(X, gesvd, 1, 5)                                                                    \
  LAPACK_OF_ALL(X, gtsv, 4, 5)                                                                     \
  X(s, ormqr, 3, 1)                                                                                \
  X(d, ormqr, 3, 1)                                                                                \
  X(c, unmqr, 3, 1)                                                                                \
  X(z, unmqr, 3, 1)                                                                                \
  LAPACK_OF_ALL(X, potrf, 1, 2)                                                                    \
  LAPACK_OF_ALL(X, gesdd, 1, 5)                                                                    \
  LAPACK_OF_ALL(X, gehrd, 1, 3)                                                                    \
  X(s, sytrd, 1, 5)                                                                                \
  X(d, sytrd, 1, 5)                                                                                \
  X(c, hetrd, 1, 5)                                                                                \
  X(z, hetrd, 1, 5)                                                                                \
  X(s, geev, 1, 5)                                                                                 \
  X(d, geev, 1, 5)                                                                                 \
  X(c, geev, 1, 4)                                                                                 \
  X(z, geev, 1, 4)                                                                                 \
  X(s, gees, 1, 6)                                                                                 \
  X(d, gees, 1, 6)                                                                                 \
  X(c, gees, 1, 5)                                                                                 \
  X(z, gees, 1, 5)                                                                                 \
  LAPACK_OF_ALL(X, trsm, 2, 1)                                                                     \
  X(s, orgqr, 2, 1)                                                                                \
  X(d, orgqr, 2, 1)                                                                                \
  X(c, ungqr, 2, 1)                                                                                \
  X(z, ungqr, 2, 1)                                                                                \
  X(s, syevd, 1, 3)                                                                                \
  X(d, syevd, 1, 3)                                                                                \
  X(c, heevd, 1, 3)                                                                                \
  X(z, heevd, 1, 3)

/* Rows and columns of matrices whose squares an int of LAPACK's can count. */
enum { LAPACK_MAX_DIM = 1 << 15 };
/* One of these with as many operands and results, where the system's LAPACK has it. */
bool lapack_serves(str target, u32 num_in, u32 num_out);
/* Its results are determined up to phases only: Schur forms, eigenvectors. Who registers a handler
 * of that name expects the phases of the LAPACK behind it. */
bool lapack_has_phases(str target);
/* The operand that the first result may lie in the place of, since it is what the routine
 * overwrites; num_in: none. */
u32 lapack_overwritten(str target, u32 num_in);
/* "sgetrf_" of the library that TERRAZZO_LAPACK names, or else of the system's LAPACK; NULL: there
 * is none, or nothing of that name. */
void *lapack_symbol(const char *name);

#endif
