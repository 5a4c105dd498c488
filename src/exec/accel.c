/* oneDNN's sgemm behind two questions: is the library there, and is there room for it. cpu.c loads
 * it once an executor, before its workers; dot.c multiplies with it. */
#include "exec/accel.h"

#include <stdlib.h>

#include "base/arena.h"
#include "base/os.h"

/* Of address space: the libraries with their dependencies take 40 MiB, a thread's first product
 * 3 MiB and, for malloc, an arena of 64 MiB. */
#define ROOM_TO_LOAD ((size_t)192 << 20)
#define ROOM_TO_BEGIN ((size_t)96 << 20)

static bool has_room(size_t bytes) {
  void *p = mem_alloc(&mem_system, bytes);
  mem_free(&mem_system, p, bytes);
  return p != NULL;
}

bool accel_load(exec_accelerator *out) {
  *out = (exec_accelerator){0};
  const char *wanted = getenv("TERRAZZO_ONEDNN");
  if ((wanted && strcmp(wanted, "0") == 0) || !has_room(ROOM_TO_LOAD)) return false;
  void *lib = os_library("libdnnl.so.2");
  void *sgemm = lib ? os_symbol(lib, "dnnl_sgemm") : NULL;
  if (!sgemm) return false;
  memcpy(&out->sgemm, &sgemm, sizeof sgemm);
  void *omp = os_library("libgomp.so.1");
  void *set = omp ? os_symbol(omp, "omp_set_num_threads") : NULL;
  memcpy(&out->omp_set_num_threads, &set, sizeof set);
  return true;
}

/* One thread a product: steps are shared out by the pool, and OpenMP's threads would come on
 * top. */
bool accel_begin(accel_thread *t) {
  if (t->begun) return true;
  if (!t->lib || !has_room(ROOM_TO_BEGIN)) return false;
  if (t->lib->omp_set_num_threads) t->lib->omp_set_num_threads(1);
  return t->begun = true;
}

bool accel_multiply(const accel_thread *t, i64 m, i64 n, i64 k, accel_matrix a, accel_matrix b,
                    bool more, float *c, i64 ldc) {
  return t->lib->sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, 1, a.data, a.ld,
                       b.data, b.ld, more ? 1 : 0, c, ldc) == 0;
}
