/* Dialects of others that programs may have ops of: those of the client's option `dialects`, else
 * of TERRAZZO_DIALECTS. */
#include <stdlib.h>

#include "api/api.h"
#include "pjrt/api.h"

#define DIALECTS "TERRAZZO_DIALECTS"

/* Paths with colons between, as in LD_LIBRARY_PATH. */
static bool load_dialects(void *user, ir_ctx *c) {
  const char *at = user;
  arena *a = ir_arena(c);
  VEC(const char *) paths = {0};
  while (*at) {
    size_t n = strcspn(at, ":");
    if (n) VEC_PUSH(a, paths, arena_printf(a, "%.*s", (int)n, at).data);
    at += n + (at[n] == ':');
  }
  VEC_PUSH(a, paths, NULL);
  return api_load_dialects(paths.data, c);
}

void api_set_dialects(const char *paths, compile_options *o) {
  if (!paths) paths = getenv(DIALECTS);
  if (!paths || !*paths) return;
  o->extend = load_dialects;
  o->extend_user = (void *)(uintptr_t)paths;
}
