#include "program/lapack.h"

#include "base/os.h"

void *lapack_symbol(const char *name) {
  static const char *const libraries[] = {"liblapack.so.3", "libopenblas.so.0"};
  void *symbol = NULL;
  for (size_t i = 0; i < COUNT(libraries) && !symbol; i++) {
    void *library = os_library(libraries[i]);
    if (library) symbol = os_symbol(library, name);
  }
  return symbol;
}

bool lapack_serves(str target) {
  static const struct {
    const char *target, *symbol;
  } all[] = {
#define X(letter, routine) {"lapack_" #letter #routine "_ffi", #letter #routine "_"},
      LAPACK_CALLS(X)
#undef X
  };
  for (size_t i = 0; i < COUNT(all); i++)
    if (str_is(target, all[i].target)) return lapack_symbol(all[i].symbol) != NULL;
  return false;
}
