#include "program/lapack.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/os.h"

/* SciPy's OpenBLAS, which terrazzo_jax names, has its names behind one of its own. */
void *lapack_symbol(const char *name) {
  const char *libraries[] = {getenv("TERRAZZO_LAPACK"), "liblapack.so.3", "libopenblas.so.0"};
  char scipy[32];
  void *symbol = NULL;
  snprintf(scipy, sizeof scipy, "scipy_%s", name);
  for (size_t i = 0; i < COUNT(libraries) && !symbol; i++) {
    void *library = libraries[i] ? os_library(libraries[i]) : NULL;
    if (library) symbol = os_symbol(library, name);
    if (library && !symbol) symbol = os_symbol(library, scipy);
  }
  return symbol;
}

bool lapack_serves(str target, u32 num_in, u32 num_out) {
  static const struct {
    const char *target, *symbol;
    u32 num_in, num_out;
  } all[] = {
#define X(letter, routine, in, out)                                                                \
  {"lapack_" #letter #routine "_ffi", #letter #routine "_", in, out},
      LAPACK_CALLS(X)
#undef X
  };
  for (size_t i = 0; i < COUNT(all); i++)
    if (str_is(target, all[i].target) && all[i].num_in == num_in && all[i].num_out == num_out)
      return lapack_symbol(all[i].symbol) != NULL;
  return false;
}

/* Behind the type's letter; empty: it is none of LAPACK's. */
static str routine_of(str target) {
  size_t letter = strlen("lapack_");
  if (!str_starts(target, STR("lapack_")) || target.len < letter + 1) return STR("");
  return (str){target.data + letter + 1, target.len - letter - 1};
}

bool lapack_has_phases(str target) {
  str routine = routine_of(target);
  return str_is(routine, "gees_ffi") || str_is(routine, "geev_ffi");
}

u32 lapack_overwritten(str target, u32 num_in) {
  str routine = routine_of(target);
  if (routine.len == 0 || num_in == 0 || lapack_has_phases(target)) return num_in;
  bool last =
      str_is(routine, "trsm_ffi") || str_is(routine, "ormqr_ffi") || str_is(routine, "unmqr_ffi");
  return last ? num_in - 1 : 0;
}
