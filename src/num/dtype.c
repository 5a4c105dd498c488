/* The table of element types and its lookups; the list itself is in dtype.h. */
#include "num/dtype.h"

const dtype_info dtype_infos[DTYPE_COUNT] = {
#define DT(id, name, bits, pjrt, kind)                                                             \
  [DTYPE_##id] = {name, sizeof(name) - 1, (bits) / 8, pjrt, DTYPE_CLASS_##kind},
    DTYPES(DT)
#undef DT
};

bool dtype_from_name(str mlir_name, dtype *out) {
  for (int i = 0; i < DTYPE_COUNT; i++)
    if (str_eq(mlir_name, (str){dtype_infos[i].name, dtype_infos[i].length}))
      return *out = (dtype)i, true;
  return false;
}

bool dtype_from_pjrt(int pjrt, dtype *out) {
  for (int i = 0; i < DTYPE_COUNT; i++)
    if (pjrt && dtype_infos[i].pjrt == pjrt) return *out = (dtype)i, true;
  return false;
}
