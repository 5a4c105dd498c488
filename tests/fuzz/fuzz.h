/* What the fuzz targets share: memory that is counted, so that a small input that takes much is
 * found, and messages that go nowhere. */
#ifndef FUZZ_H
#define FUZZ_H

#include <stdio.h>
#include <stdlib.h>

#include "base/arena.h"
#include "base/diag.h"
#include "ir/attr.h"

int LLVMFuzzerTestOneInput(const u8 *data, size_t size);

typedef struct fuzz_memory {
  size_t used, limit;
} fuzz_memory;

/* More than this, whatever the input, is a failure. */
enum { FUZZ_BASE = 64 << 20, FUZZ_EACH = 4096 };

static inline void *fuzz_alloc(void *user, void *p, size_t old_size, size_t new_size) {
  fuzz_memory *m = user;
  m->used += new_size - old_size;
  if (m->used > m->limit && new_size > old_size) {
    fprintf(stderr, "%zu bytes of memory, with a limit of %zu\n", m->used, m->limit);
    abort();
  }
  return mem_system.fn(mem_system.user, p, old_size, new_size);
}

static inline void fuzz_silent(void *user, diag_kind kind, diag_pos pos, str text) {
  (void)user;
  (void)kind;
  (void)pos;
  (void)text;
}

#define FUZZ_CHECK(x) ((x) ? (void)0 : fuzz_failed(__FILE__, __LINE__, #x))
static inline void fuzz_failed(const char *file, int line, const char *what) {
  fprintf(stderr, "%s:%d: %s\n", file, line, what);
  abort();
}

/* The input to `check`, in a context whose memory is all given back. */
static inline int fuzz_in_context(const u8 *data, size_t size, void (*check)(ir_ctx *, str)) {
  fuzz_memory memory = {0, FUZZ_BASE + size * FUZZ_EACH};
  allocator mem = {fuzz_alloc, &memory};
  oom_trap trap;
  diag_sink sink = {.fn = fuzz_silent};
  ir_ctx *volatile c = ir_ctx_create(&mem, &trap, &sink);
  FUZZ_CHECK(c && !setjmp(trap.at));
  check(c, (str){(const char *)data, size});
  ir_ctx_destroy(c);
  FUZZ_CHECK(memory.used == 0);
  return 0;
}

#endif
