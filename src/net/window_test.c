/* Places in memory that processes share: here both sides are one process. */
#include "net/window.h"

#include "tests/unit.h"

enum { LARGE = 100 << 20 };

static void test_places(window *w, const os_shared *theirs) {
  u64 at[3];
  atomic_uint *readers;
  char *to = window_take(w, 5000, &at[0]), *from = window_find(theirs, at[0], 5000, &readers);
  CHECK(to && from);
  memset(to, 7, 5000);
  CHECK(from[0] == 7 && from[4999] == 7);
  window_add_reader(w, at[0]);
  window_done(readers);
  CHECK(window_take(w, 5000, &at[1]) && at[1] != at[0]); /* one still reads */
  window_done(readers);
  CHECK(window_take(w, 4000, &at[2]) == to && at[2] == at[0]);
  CHECK(window_take(w, 100, &at[0]) && at[0] != at[1] && at[0] != at[2]);
}

static void test_full(window *w, const os_shared *theirs) {
  u64 at[3];
  atomic_uint *readers;
  CHECK(!window_take(w, (u64)1 << 40, &at[0]));
  CHECK(window_take(w, LARGE, &at[0]) && window_take(w, LARGE, &at[1]));
  CHECK(!window_take(w, LARGE, &at[2]));
  CHECK(window_find(theirs, at[1], LARGE, &readers));
  window_done(readers);
  CHECK(window_take(w, LARGE, &at[2]) && at[2] == at[1]);
}

/* What another process says may be wrong. */
static void test_wrong(window *w, const os_shared *theirs) {
  const u64 places[][2] = {{0, 1},  {1, 1},          {64, UINT64_MAX}, {UINT64_MAX & ~63ull, 64},
                           {96, 8}, {(1 << 28), 64}, {64, 1 << 28}};
  atomic_uint *readers;
  os_shared other;
  for (size_t i = 0; i < COUNT(places); i++)
    CHECK(!window_find(theirs, places[i][0], places[i][1], &readers));
  CHECK(!window_find(&(os_shared){.fd = -1}, 64, 8, &readers));
  char name[OS_SHARED_NAME];
  snprintf(name, sizeof name, "%s", window_name(w));
  name[strlen(name) - 1] ^= 1;
  const char *names[] = {"", "1/2", "a/b/c/d", "0/0/0/0", name};
  for (size_t i = 0; i < COUNT(names); i++) CHECK(!window_open(names[i], &other) && !other.at);
}

int main(void) {
  window *w = window_create(&mem_system);
  os_shared theirs;
  CHECK(w && window_open(window_name(w), &theirs));
  test_places(w, &theirs);
  test_full(w, &theirs);
  test_wrong(w, &theirs);
  os_shared_close(&theirs);
  os_shared_close(&theirs);
  window_destroy(w);
  return UNIT_END();
}
