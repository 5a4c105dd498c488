/* What an arena keeps when it is reset, and what texts take in it. */
#include <stdlib.h>

#include "base/arena.h"

#include "tests/unit.h"

#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define HIDDEN(p) __asan_address_is_poisoned(p)
#else
#define HIDDEN(p) true
#endif

typedef struct counted {
  size_t held, taken; /* bytes, blocks ever */
} counted;

static void *count_fn(void *user, void *p, size_t old_size, size_t new_size) {
  counted *c = user;
  c->held += new_size - old_size;
  c->taken += p == NULL;
  return mem_resize(&mem_system, p, old_size, new_size);
}

/* A short text takes the room that it needs. */
static void test_printf(void) {
  oom_trap trap;
  arena a;
  arena_init(&a, &mem_system, &trap);
  if (setjmp(trap.at)) exit(1);
  str one = arena_printf(&a, "%d", 7), two = arena_printf(&a, "%0100d", 7);
  str three = arena_printf(&a, "x");
  CHECK(str_eq(one, STR("7")) && two.len == 100 && two.data[99] == '7' && str_eq(three, STR("x")));
  CHECK(one.data[1] == 0 && two.data[100] == 0 && three.data > two.data + 100);
  CHECK(two.data < one.data + 128 && three.data < two.data + 128); /* one try came to nothing */
  arena_deinit(&a);
}

int main(void) {
  counted c = {0};
  const allocator mem = {count_fn, &c};
  oom_trap trap;
  arena a;
  if (setjmp(trap.at)) return 1;
  arena_init(&a, &mem, &trap);
  arena_reset(&a);
  CHECK(c.taken == 0);
  const void *first = arena_alloc(&a, 100);
  arena_reset(&a);
  CHECK(arena_alloc(&a, 100) == first && c.taken == 1 && a.used == 100);
  for (int i = 0; i < 100; i++) arena_alloc(&a, 1000); /* several blocks, each larger */
  arena_alloc(&a, 1 << 20);                            /* one of its own, which goes */
  size_t before = c.held, taken = c.taken;
  arena_reset(&a);
  CHECK(a.used == 0 && c.held < before / 2);
  char *p = arena_zalloc(&a, 10000);
  memset(p, 1, 10000);
  CHECK(c.taken == taken && arena_owns(&a, p));
  CHECK(HIDDEN(p + 10000));
  arena_reset(&a);
  CHECK(HIDDEN(p));
  arena_deinit(&a);
  CHECK(c.held == 0);
  test_printf();
  return UNIT_END();
}
