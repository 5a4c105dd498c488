#include "exec/accel.h"

#include <stdlib.h>

#include "base/os.h"

bool accel_load(exec_accelerator *out) {
  *out = (exec_accelerator){0};
  const char *wanted = getenv("TERRAZZO_ONEDNN");
  if (wanted && strcmp(wanted, "0") == 0) return false;
  void *lib = os_library("libdnnl.so.2");
  void *sgemm = lib ? os_symbol(lib, "dnnl_sgemm") : NULL;
  if (!sgemm) return false;
  memcpy(&out->sgemm, &sgemm, sizeof sgemm);
  void *omp = os_library("libgomp.so.1");
  void *set = omp ? os_symbol(omp, "omp_set_num_threads") : NULL;
  memcpy(&out->omp_set_num_threads, &set, sizeof set);
  return true;
}

void accel_begin_thread(const exec_accelerator *a) {
  if (a->omp_set_num_threads) a->omp_set_num_threads(1);
}
