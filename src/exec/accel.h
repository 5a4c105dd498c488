/* oneDNN, if the machine has it: loaded at run time, never linked. */
#ifndef EXEC_ACCEL_H
#define EXEC_ACCEL_H

#include "base/base.h"

typedef struct exec_accelerator {
  /* dnnl_sgemm: row-major C = alpha op(A) op(B) + beta C; 0 is success */
  int (*sgemm)(char transa, char transb, i64 m, i64 n, i64 k, float alpha, const float *a, i64 lda,
               const float *b, i64 ldb, float beta, float *c, i64 ldc);
  void (*omp_set_num_threads)(int n); /* of the calling thread; NULL: no OpenMP inside */
} exec_accelerator;

/* False: not there, or switched off by TERRAZZO_ONEDNN=0. */
bool accel_load(exec_accelerator *out);
/* To be called on each thread that will use it: one thread an operation, ours. */
void accel_begin_thread(const exec_accelerator *a);

#endif
