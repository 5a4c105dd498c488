/* oneDNN, if the machine has it, else OpenBLAS: loaded at run time, never linked, when the first
 * product asks.
 *
 * It and the OpenMP runtime under it allocate when they are loaded, when a thread first uses them
 * and when they write their kernels, and end the process if that fails. So each of these is
 * preceded by a look whether there is far more memory than they take; without it the caller has
 * its own kernel. After that a product allocates only what is checked. */
#ifndef EXEC_ACCEL_H
#define EXEC_ACCEL_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/base.h"

typedef struct exec_accelerator {
  pthread_mutex_t lock;
  atomic_int state; /* accel_state; written under lock */
  /* dnnl_sgemm; 0 is success */
  int (*sgemm)(char transa, char transb, i64 m, i64 n, i64 k, float alpha, const float *a, i64 lda,
               const float *b, i64 ldb, float beta, float *c, i64 ldc);
  /* OpenBLAS instead */
  void (*cblas_sgemm)(int order, int transa, int transb, int m, int n, int k, float alpha,
                      const float *a, int lda, const float *b, int ldb, float beta, float *c,
                      int ldc);
  void (*omp_set_num_threads)(int n); /* of the calling thread; NULL: no OpenMP inside */
  int (*omp_get_max_threads)(void);   /* likewise */
} exec_accelerator;

/* Nothing is loaded yet. TERRAZZO_ONEDNN=0: nothing will be; a path: that library, of either. */
void accel_init(exec_accelerator *a);
void accel_deinit(exec_accelerator *a);

/* A thread that may use it: to be used by no other. */
typedef struct accel_thread {
  exec_accelerator *lib; /* NULL: none */
  bool begun;
  int threads; /* OpenMP's of the thread, as they were before */
} accel_thread;

typedef struct accel_matrix {
  const float *data;
  i64 ld;
  bool transposed;
} accel_matrix;

/* To be asked before each product; false: there is none, or no room for a first one just now. */
bool accel_begin(accel_thread *t);
/* By a thread that others use OpenMP on as well, when its products are done. */
void accel_end(accel_thread *t);
/* Row-major C = op(A) op(B) of m x n, added to what is in C if `more`, on the calling thread alone.
 * False: not done. */
bool accel_multiply(const accel_thread *t, i64 m, i64 n, i64 k, accel_matrix a, accel_matrix b,
                    bool more, float *c, i64 ldc);

#endif
